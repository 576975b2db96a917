"""Pages are rendered faster than Sphinx alone would, and come out the same."""

from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
import rendering
from sphinx.application import Sphinx
from sphinx.builders import Builder
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
            app.parallel = 1  # as we count
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


def test_pages_that_several_processes_read_and_write_come_out_the_same(tmp_path, monkeypatch):
    """Theorems too, which sphinx-proof collects from all pages."""
    source = tmp_path / "source"
    source.mkdir()
    numbers = range(8)
    listed = "".join(f"   page{n}\n" for n in numbers)
    (source / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{listed}")
    for n in numbers:
        theorem = f".. prf:theorem:: Number {n}\n   :label: theorem-{n}\n\n   True.\n\n"
        (source / f"page{n}.rst").write_text(f"Page {n}\n======\n\n{theorem}:prf:ref:`theorem-{(n + 3) % 8}`\n")
    (source / "conf.py").write_text("extensions = ['sphinx_proof', 'rendering', 'sphinx_multitoc_numbering']\n")
    readers: list[int] = []
    original = Builder._read_parallel

    def several(builder: Builder, docnames, nproc: int) -> None:
        readers.append(nproc)
        original(builder, docnames, nproc)

    monkeypatch.setattr(Builder, "_read_parallel", several)
    pages = []
    for cores in (1, 2):
        monkeypatch.setattr(rendering.cores, "count", lambda cores=cores: cores)
        out, warned = tmp_path / f"html-{cores}", StringIO()
        with docutils_namespace():
            Sphinx(source, source, out, out / "doctrees", "html", {}, None, warned, True, parallel=cores).build()
        assert not warned.getvalue()
        pages.append({page.name: page.read_text() for page in out.glob("page*.html")})
    assert readers == [2]
    assert len(pages[0]) == 8 and 'href="page3.html#theorem-3"' in pages[0]["page0.html"]
    assert pages[0] == pages[1]
