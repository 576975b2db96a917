"""The commands that a strip prints: they make its figure again, write out its rows, and compute one of its cells again.

A command says which of a paper's results are meant where they are not those that the book shows. The command line reads
what this module writes; a test holds the two together.
"""

from collections.abc import Iterable

from ol2r.experiments.cells import Cell
from ol2r.experiments.chapter import Chapter, options
from ol2r.experiments.verify import comparable
from ol2r.report.keys import SHORT

BOOK_TIER = "paper"
"""The tier of the published book, which commands take for granted."""


def draw(chapter: Chapter, anchor: str, *, is_table: bool) -> str:
    """The command that makes a figure or table and its data again from what is stored."""
    file = f"{anchor}.{'html' if is_table else 'svg'}"
    return f"ol2r draw {chapter.name} {anchor} -o {file} --csv {anchor}.csv{options(chapter, BOOK_TIER)}"


def export(chapter: Chapter, item: str) -> str:
    """The command that writes all rows of an item."""
    return f"ol2r export {chapter.name} {item} -o {item}-rows.csv{options(chapter, BOOK_TIER)}"


def verify(chapter: Chapter, cells: Iterable[Cell]) -> list[str]:
    """The command that computes a cell again and prints its numbers, stored and recomputed.

    Returns:
        The command for the cell that is verified soonest, those first that repeat bit for bit; nothing where no second
        run can be compared with any of the cells.
    """

    def effort(cell: Cell) -> tuple[bool, float]:
        return cell.repeats != "bits", cell.cost(cell.rows(None, [0])[:1]).whole

    able = [cell for cell in cells if comparable(cell, chapter.store)]
    return [f"ol2r verify {chapter.name} --cell {min(able, key=effort).key[:SHORT]}"] if able else []
