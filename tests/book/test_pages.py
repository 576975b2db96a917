"""The book keeps up with the library: each room and module has its place on the pages, and no page is forgotten."""

import re
import tomllib

import build
import jupytext
import pytest
from bs4 import BeautifulSoup

from ol2r.cli import parser
from ol2r.papers import PAPERS

BOOK = build.ROOT / "book"
SOURCE = build.ROOT / "src" / "ol2r"
CLI = (BOOK / "api" / "cli.md").read_text()


def rooms() -> list[str]:
    """Rooms from the ground up, as the import contract has them."""
    contracts = tomllib.loads((build.ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return layers[::-1]


def test_every_page_is_in_the_table_of_contents():
    pages = {path.relative_to(BOOK).with_suffix("").as_posix() for path in BOOK.rglob("*.md")}
    listed = build.pages(BOOK / "_toc.yml")
    assert sorted(pages) == sorted(listed)


def test_the_import_contract_names_every_room():
    there = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(rooms()) == sorted(there - {"__init__"})


def test_every_room_has_its_page_and_its_line_in_the_guide():
    contribute = re.findall(r"^\| \{doc\}`(\w+) <api/\1>`", (BOOK / "contribute.md").read_text(), re.MULTILINE)
    listed = [page.removeprefix("api/") for page in build.pages(BOOK / "_toc.yml") if page.startswith("api/")]
    assert contribute == rooms()
    assert sorted(listed) == sorted(["index", "internals", *rooms()])


def test_every_module_is_described_on_the_page_of_its_room():
    for room in rooms():
        described = re.findall(r"automodule:: (\S+)", (BOOK / "api" / f"{room}.md").read_text())
        folder = SOURCE / room
        files = [SOURCE / f"{room}.py"] if not folder.is_dir() else folder.rglob("*.py")
        modules = {
            ".".join(["ol2r", *file.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
            for file in files
            if file.stem != "__main__"
        }
        assert sorted(described) == sorted(modules), room


def test_every_command_says_on_its_page_what_it_takes():
    (commands,) = [each.choices for each in parser()._actions if each.choices]
    assert sorted(commands) == sorted(re.findall(r"^```{program-output} ol2r (\w+) --help$", CLI, re.MULTILINE))


def test_a_work_stands_once_in_the_bibliography():
    text = (BOOK / "references.bib").read_text()
    for field in (r"^@\w+\{(.*),$", r"^  title = \{(.*)\},$"):
        found = re.findall(field, text, re.MULTILINE)
        assert len(found) == text.count("\n@") and len(set(found)) == len(found)


CHAPTERS = [path for path in sorted(BOOK.glob("*.md")) if build.is_chapter(path)]


@pytest.mark.parametrize("source", CHAPTERS, ids=[path.stem for path in CHAPTERS])
def test_a_chapter_names_its_language_so_that_papermill_runs_it_as_it_is(source):
    assert jupytext.read(source).metadata.kernelspec.language == "python"


@pytest.mark.parametrize("page", ["machine", "gpu", "scaling"])
def test_a_page_of_speeds_writes_its_numbers_out_in_full(page, published_html):
    html = (published_html / f"{page}.html").read_text()
    text = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    powers = re.findall(r"\S*(?<![0-9a-f])\d(?:\.\d+)?e[+-]?\d+\b", text)  # 1e-05; but a commit may be 2728e715
    assert re.findall(r"\S*\d,\d{3}\b", text) and powers == []


def words(html: str) -> int:
    """How many words a reader meets before unfolding anything, but for tables, drawings, code and strips."""
    article = BeautifulSoup(html, "html.parser").find("article")
    for each in article.select("script, style, svg, table, pre, nav, .provenance, details > :not(summary)"):
        each.decompose()
    return len(article.get_text(" ").split())


def test_words_are_those_that_are_in_sight():
    shown = "<p>One two</p><details><summary>three</summary><p>hidden</p></details><table><td>x</td></table>"
    assert words(f'<nav>no</nav><article>{shown}<div class="provenance">tier</div><svg>y</svg></article>') == 3


MOST_WORDS = dict.fromkeys([*PAPERS, "comparison", "comparison-open"], 3000)
MOST_WORDS |= {"pairrank": 3500, "olranknet": 3500, "p2neurrank": 4000}


@pytest.mark.parametrize("page", MOST_WORDS)
def test_findings_are_short(page, published_html):
    assert words((published_html / f"{page}.html").read_text()) < MOST_WORDS[page]
