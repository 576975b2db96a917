"""Pages are rendered faster than Sphinx alone would, and come out the same."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import rendering
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import docutils_namespace

TARGET = "Target\n======\n\n.. table:: Numbers\n   :name: numbers\n\n   == ==\n   1  2\n   == ==\n"
READER = "Reader\n======\n\n.. toctree::\n\n   target\n\n" + ":numref:`numbers` and :numref:`numbers`\n" * 5
CONF = "numfig = True\nroot_doc = 'reader'\n"


@pytest.fixture
def build(tmp_path: Path, monkeypatch):
    """A function that builds two pages with some extensions; it returns the reader's HTML and what was loaded."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "target.rst").write_text(TARGET)
    (source / "reader.rst").write_text(READER)
    (source / "conf.py").write_text(CONF)
    loaded: Counter[str] = Counter()
    original = BuildEnvironment.get_doctree

    def counted(env: BuildEnvironment, name: str):
        loaded[name] += 1
        return original(env, name)

    monkeypatch.setattr(BuildEnvironment, "get_doctree", counted)

    def built(*extensions: str) -> tuple[str, Counter[str]]:
        loaded.clear()
        out = tmp_path / "-".join(["html", *extensions])
        with docutils_namespace():
            app = Sphinx(
                source, source, out, out / "doctrees", "html", {"extensions": list(extensions)}, None, None, True
            )
            app.connect("env-updated", lambda app, env: setattr(app, "parallel", 1) or [], priority=900)  # as we count
            app.build()
        return (out / "reader.html").read_text(), Counter(loaded)

    return built


def test_numbered_references_load_their_page_once_and_come_out_the_same(build):
    alone, often = build()
    ours, once = build("rendering")
    assert alone.count("Table 1") == 10
    assert ours == alone
    assert often["target"] >= 10
    assert once["target"] <= 2  # once for the references, once to be written


def test_pages_are_written_by_as_many_processes_as_there_are_cores_and_none_is_read_again(monkeypatch):
    monkeypatch.setattr(rendering.os, "cpu_count", lambda: 3)
    app = SimpleNamespace(parallel=1)
    assert rendering.write_side_by_side(app, None) == []  # pages that Sphinx would have to read again
    assert app.parallel == 3
