"""The book as one PDF with bookmarks: Sphinx makes one long page of the staged book, and Chromium prints it.

The pages for those who use or change the library are left out, and so is the code of figures; folds are open, strips
are one line. How print differs from the screen is in the style sheet. `nox -s book` must have staged and built the book
before.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import build
import yaml

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PART_LEFT_OUT = "API reference"
"""The part of the table of contents that the PDF does not have."""
PAGES_LEFT_OUT = {
    "install", "library", "teach", "archive", "changelog", "contribute", "faults", "gpu", "scale", "scaling",
}  # fmt: skip
"""Pages of other parts that it does not have: they are for those who use or change the library."""
NAME = "online-learning-to-rank.pdf"
PLACE = "<!-- the link to the PDF -->"
"""What stands in the front page's HTML until there is a PDF."""
LINK = f'<p><a class="reference external" href="{NAME}">This book as one PDF</a></p>'
SCALE = 0.575
MARGINS = {"top": "10mm", "bottom": "12mm", "left": "11mm", "right": "11mm"}
FOOTER = '<div style="font-size: 8px; width: 100%; text-align: center"><span class="pageNumber"></span></div>'
UNFOLD = """() => {
  for (const fold of document.querySelectorAll("details"))
    if (fold.classList.contains("hide") || fold.closest(".provenance")) fold.remove();
    else fold.open = true;
  for (const link of document.querySelectorAll("a.headerlink")) link.remove();
}"""


def chromium() -> str | None:
    """The path of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def on_paper(contents: dict) -> dict:
    """A table of contents without the pages that the PDF does not have."""
    parts = [
        part | {"chapters": [each for each in part["chapters"] if each["file"] not in PAGES_LEFT_OUT]}
        for part in contents["parts"]
        if part["caption"] != PART_LEFT_OUT
    ]
    return contents | {"parts": parts}


def one_page(staged: Path, out: Path) -> Path:
    """Make one HTML page of a staged book, in a copy of it under `out`, and return its path."""
    copy = out / "book"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(staged, copy, ignore=shutil.ignore_patterns("_build"))
    contents = yaml.safe_load((staged / "_toc.yml").read_text(encoding="utf-8"))
    (copy / "_toc.yml").write_text(yaml.safe_dump(on_paper(contents), sort_keys=False), encoding="utf-8")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", copy, "--config", build.ROOT / "_config.yml"]
    command += ["--path-output", out, "--builder", "custom", "--custom-builder", "singlehtml"]
    subprocess.run([str(word) for word in command], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    return out / "_build" / "singlehtml" / "index.html"


def printed(page: Path, out: Path, browser: "Browser") -> None:
    """Print an HTML page to a PDF file."""
    tab = browser.new_page()
    tab.set_default_timeout(900_000)
    tab.goto(page.as_uri())
    tab.evaluate("async () => { if (window.MathJax) await MathJax.startup.promise }")
    tab.evaluate(UNFOLD)
    tab.pdf(
        path=out, format="A4", scale=SCALE, margin=MARGINS, print_background=True, outline=True, tagged=True,
        display_header_footer=True, header_template="<span></span>", footer_template=FOOTER,
    )  # fmt: skip
    tab.close()


def linked(front: Path) -> None:
    """Put the link to the PDF into the front page."""
    text = front.read_text(encoding="utf-8")
    if PLACE not in text and LINK not in text:
        raise SystemExit(f"{front} has no place for the link to the PDF")
    front.write_text(text.replace(PLACE, LINK), encoding="utf-8")


def main() -> None:
    from playwright.sync_api import sync_playwright  # here, because only printing needs it

    staged, html = build.ROOT / "_build" / "book", build.ROOT / "_build" / "html"
    if not (html / "index.html").is_file() or not (staged / "_toc.yml").is_file():
        raise SystemExit("there is no book to print yet: run `nox -s book` first")
    executable = chromium()
    if executable is None:
        raise SystemExit("there is no Chromium on this machine to print the book with")
    page = one_page(staged, build.ROOT / "_build" / "pdf")
    with sync_playwright() as driver:
        printed(page, html / NAME, driver.chromium.launch(executable_path=executable, args=["--no-sandbox"]))
    linked(html / "index.html")
    print(f"the book as one PDF: {html / NAME}")


if __name__ == "__main__":
    main()
