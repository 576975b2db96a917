"""Books to test: a small one made from sample.md by the real machinery, and the published one if it is built."""

import os
import shutil
from pathlib import Path

import build
import pdf
import pytest

ROOT = Path(__file__).resolve().parents[2]


def sample_source(folder: Path) -> Path:
    """A book of one chapter with everything else as in the real book."""
    for name in ("_offline", "_static", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / name)
    shutil.copy(ROOT / "book" / "references.bib", folder)
    shutil.copy(ROOT / "tests" / "book" / "sample.md", folder / "index.md")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    return folder


@pytest.fixture(scope="session")
def sample_html(tmp_path_factory) -> Path:
    """Folder of the sample book's pages."""
    folder = tmp_path_factory.mktemp("sample")
    build.stage(sample_source(folder / "book"), folder / "staged", {"tier": "paper"})
    build.render(folder / "staged", ROOT / "_config.yml", folder)
    return folder / "_build" / "html"


@pytest.fixture(scope="session")
def published_html() -> Path:
    """Folder of the published book's pages; without one the tests that read it are skipped."""
    html = ROOT / "_build" / "html"
    if not (html / "index.html").is_file():
        unavailable("the book is not built: nox -s book")
    return html


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium that reports every request it makes."""
    playwright = pytest.importorskip("playwright.sync_api")
    executable = pdf.chromium()
    if executable is None:
        unavailable("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def unavailable(reason: str) -> None:
    if os.environ.get("OL2R_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
