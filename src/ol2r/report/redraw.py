"""A figure or table of the book made again from the store: the page that shows it runs up to its strip, and no further.

A page's code cells are the only account of how its figures are drawn, so they are what runs, with the parameters asked
for, and nothing is computed that the page would not compute itself. This module must not know any paper.
"""

import contextlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ol2r.errors import ExperimentError, MissingRows, one_of
from ol2r.experiments.cells import merged
from ol2r.experiments.chapter import Chapter
from ol2r.experiments.chapter import command as command_of
from ol2r.experiments.origins import AtHand
from ol2r.experiments.provenance import checkout
from ol2r.report.choice import Choice
from ol2r.report.page import Audience, shown_to
from ol2r.report.strip import Strip

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ol2r.report.style import Drawing

FIGURES = (".svg", ".pdf", ".png")
TABLES = (".html", ".csv")
_FILLED_IN = r"\{[^}]*\}"
_ROLE = re.compile(r"\{[\w:]+\}`([^`<]*?)(?:\s*<[^>`]*>)?`")


class _Reached(BaseException):
    """The page has shown what was wanted; no cell of a page may catch it."""


@dataclass
class _Watching(Audience):
    """Takes in what a page shows, in silence, until the strip of one anchor."""

    anchor: str
    shown: list[str] = field(default_factory=list)
    found: Strip | None = None

    def texts(self, *texts: str) -> None:
        self.shown.extend(texts)

    def strip(self, strip: Strip) -> None:
        if strip.anchor == self.anchor:
            self.found = strip
            raise _Reached


class _Opening(Audience):
    """Takes in which items a page is about to read."""

    def __init__(self):
        self.chapter: Chapter | None = None
        self.items: list[str] = []

    def opened(self, chapter: Chapter, items: Iterable[str] | None) -> NoReturn:
        self.chapter, self.items = chapter, list(items or chapter.paper.shown)
        raise _Reached

    def texts(self, *texts: str) -> None:
        pass


@dataclass(frozen=True)
class Drawn:
    """A figure or table made again: its strip, and the MyST text of a table."""

    strip: Strip
    text: str = ""

    def write(self, path: Path) -> list[Path]:
        """Write the drawing: a figure as svg, pdf or png, a table as html or csv.

        Returns:
            The files written: where a figure has several drawings behind tabs, one for each, with the tab's name in it.

        Raises:
            ExperimentError: the file's name ends otherwise.
        """
        drawing = self.strip.drawing
        what, endings = ("table", TABLES) if drawing is None else ("figure", FIGURES)
        if path.suffix not in endings:
            raise ExperimentError(f"a {what} goes to a file that ends in {' or '.join(endings)}, not to {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(drawing, Choice):
            named = {path.with_stem(f"{path.stem}-{_slug(tab)}"): each for tab, each in drawing.drawings.items()}
        else:
            named = {path: drawing}
        for file, each in named.items():
            if each is not None:
                _save(each, file)
            elif file.suffix == ".html":
                file.write_text(page_of_table(self.text, self.strip.anchor), encoding="utf-8")
            else:
                self.strip.write(file)
        return list(named)


def _slug(tab: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", tab.lower()).strip("-")


def _save(drawing: "Drawing", path: Path) -> None:
    if path.suffix == ".svg":
        path.write_text(drawing._repr_svg_(), encoding="utf-8")  # the very bytes of the page
    else:
        drawing.savefig(path, metadata={"CreationDate": None} if path.suffix == ".pdf" else None)


def pages(paper: str) -> list[Path]:
    """The text notebooks of a paper's chapter.

    Raises:
        ExperimentError: the book is not there, because the library was installed without its repository.
    """
    home = checkout()
    found = sorted((home / "book").glob(f"{paper}*.md")) if home else []
    if not found:
        raise ExperimentError("pages that draw figures are in the repository: run this inside a clone of it")
    return found


def page_of(paper: str, anchor: str) -> Path:
    """The page of a paper's chapter whose cells name an anchor; nothing is run.

    Raises:
        ExperimentError: no page names it.
    """
    named = {name: page for page in pages(paper) for name in _named(page, paper)}
    fitting = [name for name in named if _fits(name, anchor)]
    if not fitting:
        one_of(anchor, sorted(name for name in named if "{" not in name), "figure or table", paper)
    return named[max(fitting, key=lambda name: len(re.sub(_FILLED_IN, "", name)))]


def _named(page: Path, paper: str) -> list[str]:
    """The anchors that the cells of a page name; what is filled in when a cell runs is in braces."""
    figures = [cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "") for cell in _cells(page)]
    return [*figures, *re.findall(rf"[\"']({paper}-[\w{{}}-]+)", "\n".join(cell.source for cell in _cells(page)))]


def _fits(name: str, anchor: str) -> bool:
    return re.fullmatch(re.sub(_FILLED_IN, "[a-z0-9-]+", name), anchor) is not None


@cache
def _cells(page: Path) -> list["NotebookNode"]:
    """The code cells of a page, in order."""
    try:
        import jupytext
    except ImportError as error:
        raise ExperimentError("jupytext reads the pages: pip install -c constraints.txt -e .[book]") from error
    return [cell for cell in jupytext.read(page).cells if cell.cell_type == "code"]


def draw(paper: str, anchor: str, parameters: Mapping[str, object]) -> Drawn:
    """Make a figure or table again from what is stored.

    Raises:
        ExperimentError: there is no such figure or table, or it is not shown with these parameters.
        MissingRows: results that its page shows are not stored.
    """
    page = page_of(paper, anchor)
    watching = _Watching(anchor)
    _run(page, parameters, watching)
    strip = watching.found
    if strip is None:
        raise ExperimentError(f"{page.name} shows no figure or table {anchor!r} with a strip for these parameters")
    if strip.drawing is not None:
        return Drawn(strip)
    texts = [text for shown in watching.shown for text in _tables(shown) if f"\n:name: {anchor}\n" in text]
    if not texts:
        raise ExperimentError(f"{page.name} shows a strip, but no table {anchor!r}")
    return Drawn(strip, texts[-1])


def said(page: Path, parameters: Mapping[str, object]) -> str:
    """All texts that a page shows, without its drawings and strips.

    Raises:
        MissingRows: results that it shows are not stored.
    """
    watching = _Watching("")
    _run(page, parameters, watching)
    return "\n\n".join(watching.shown) + "\n"


def _run(page: Path, parameters: Mapping[str, object], audience: Audience) -> None:
    """Run the cells of a page before an audience, to the end or until it has what it wants."""
    names: dict[str, object] = {"__name__": "__main__"}
    with shown_to(audience), _reading_only(), contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(_Reached):
            for number, cell in enumerate(_cells(page), start=1):
                exec(compile(cell.source, f"{page.name}, code cell {number}", "exec"), names)
                if "parameters" in cell.metadata.get("tags", []):  # as papermill does
                    names.update(parameters)


@contextlib.contextmanager
def _reading_only() -> Iterator[None]:
    """Missing results are an error meanwhile, as in the published build."""
    before = os.environ.get("OL2R_COMPUTE")
    os.environ["OL2R_COMPUTE"] = "never"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OL2R_COMPUTE"]
        else:
            os.environ["OL2R_COMPUTE"] = before


def stored(page: Path, parameters: Mapping[str, object]) -> int:
    """The number of stored rows that a page reads; only the names of files are read.

    Raises:
        MissingRows: some rows that it reads are not stored; the message says how to compute them.
    """
    opening = _Opening()
    _run(page, parameters, opening)
    chapter = opening.chapter
    if chapter is None:
        raise ExperimentError(f"{page.name} shows no results")
    declared = {
        item: chapter.paper.items[item].jobs(chapter.tier, chapter.seeds, chapter.datasets) for item in opening.items
    }
    at_hand, n_stored, lacking = AtHand(), 0, {}
    for job in merged(job for jobs in declared.values() for job in jobs):
        here = len(chapter.store.listed(job.cell).intersection(job.rows))
        n_stored += here
        if here < len(job.rows) and (here or at_hand.missing(job.cell) is None):
            lacking[job.cell] = len(job.rows) - here
    if lacking:
        items = [item for item, jobs in declared.items() if any(job.cell in lacking for job in jobs)]
        raise MissingRows(
            f"{sum(lacking.values())} rows of {', '.join(items)}, which {page.name} shows, are not stored. "
            f"Compute them with: {'; '.join(command_of(chapter, item) for item in items)}"
        )
    return n_stored


def _tables(text: str) -> list[str]:
    """The MyST tables in a text, folded ones too."""
    return re.findall(r"^:::\{table\}.*?^:::$", text, re.MULTILINE | re.DOTALL)


def page_of_table(text: str, title: str) -> str:
    """A MyST table as an HTML page of its own; references are plain words, formulae stay TeX in dollars."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    first, *lines = text.splitlines()[:-1]
    rows = [line for line in lines if line.startswith("|")]
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.use(dollarmath_plugin, renderer=lambda formula, _: f"${formula}$")
    caption = parser.renderInline(_ROLE.sub(r"\1", first.removeprefix(":::{table} ")))
    table = parser.render(_ROLE.sub(r"\1", "\n".join(rows)))
    table = table.replace("<table>", f"<table>\n<caption>{caption}</caption>", 1)
    return f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n{table}</html>\n'
