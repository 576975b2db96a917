"""Expectations that were declared before their results, and how each is judged: by the interval of a difference paired
by run.

A table of differences has one line for each, with mean, low and high; its other columns say of what the difference is.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import pandas as pd

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.papers import texts
from ol2r.papers.comparison.memory import LARGE, SMALL
from ol2r.report.leads import in_range
from ol2r.report.style import spelled
from ol2r.report.tables import interval, myst, plain, signed

MARGIN = 0.005
"""Differences of offline NDCG@10 below this count as none, as in the papers' chapters."""

Side = Literal["near", "lower", "higher"]
"""What is expected of a difference: less than `MARGIN` to either side, or more than `MARGIN` below or above."""

AS_EXPECTED, OPEN, AGAINST = "✔", "○", "✘"
SIDES: dict[Side, str] = {"near": f"± {MARGIN:g}", "lower": f"< −{MARGIN:g}", "higher": f"> +{MARGIN:g}"}
COLUMNS = {"variant": "learner", "began": "start", "measure": "what", "form": "labels kept", "seen": "belief"}
"""What tables call a column, if not by its name."""


class Expected(NamedTuple):
    """What is expected of some differences, and why.

    Args:
        of: by column, the values in the differences' lines; no values where any will do.
    """

    of: Mapping[str, tuple[str, ...]]
    side: Side
    because: str

    def among(self, table: pd.DataFrame) -> pd.DataFrame:
        """The lines of a table of differences that this is expected of."""
        for column, values in self.of.items() if len(table) else ():
            table = table[table[column].isin(values)] if values else table
        return table


def _read() -> tuple[str, dict[str, tuple[Expected, ...]]]:
    read = texts.read("comparison", "expected", margin=MARGIN, small=SMALL, large=LARGE)
    explained = read.pop("explained")
    return explained, {
        section: tuple(
            Expected(dict(zip(own["columns"], of, strict=True)), side, because) for *of, side, because in own["lines"]
        )
        for section, own in read.items()
    }


EXPLAINED, EXPECTED = _read()
"""What the marks mean; and by section of the pages, what was expected."""


def outcome(side: Side, low: float, high: float) -> str:
    """Whether an interval of the difference is as expected, against it, or neither."""
    if side == "higher":
        return outcome("lower", -high, -low)
    if side == "lower":
        return AS_EXPECTED if high < -MARGIN else AGAINST if low > -MARGIN else OPEN
    return AS_EXPECTED if -MARGIN < low and high < MARGIN else AGAINST if high < -MARGIN or low > MARGIN else OPEN


def judged(table: pd.DataFrame, section: str) -> pd.DataFrame:
    """A table of differences with the column outcome, which is empty where nothing was expected."""
    table = table.assign(outcome="")
    for each in EXPECTED[section]:
        own = each.among(table)
        table.loc[own.index, "outcome"] = [outcome(each.side, line.low, line.high) for line in frames.rows(own)]
    return table


def told(section: str, found: Mapping[str, pd.DataFrame], *, name: str, caption: str) -> str:
    """What was expected, why, and how many differences came out how, with their range, as a numbered MyST table.

    Args:
        found: judged differences, by what the column of their outcomes is called.
    """
    expected = EXPECTED[section]
    rows = [
        [*map(_values, each.of.values()), plain(SIDES[each.side]), each.because]
        + [_outcomes(each.among(table)) for table in found.values()]
        for each in expected
    ]
    header = [COLUMNS.get(column, column) for column in expected[0].of]
    return myst([*header, "expected", "because", *found], rows, name=name, caption=caption)


def _values(values: tuple[str, ...]) -> str:
    return "; ".join(plain(spelled(label(each))) for each in values) or "all"


def _outcomes(table: pd.DataFrame) -> str:
    """As "2 ✔ 4 ○ 0 ✘, −0.011 to +0.002"."""
    if table.empty:
        return "–"
    marks = (AS_EXPECTED, OPEN, AGAINST)
    counts = " ".join(f"{(table['outcome'] == mark).sum()}\N{NO-BREAK SPACE}{mark}" for mark in marks)
    return f"{counts}, {in_range(table['mean'], signed)}"


def entry(line: frames.Row) -> str:
    """A difference with its interval and mark."""
    return f"{signed(line.mean)} {interval(line.low, line.high)} {line.outcome}".strip()


def across(table: pd.DataFrame, by: list[str], column: str, told: Callable[[frames.Row], str] = entry) -> pd.DataFrame:
    """A line for each group of the table's lines, with what is told of its line at every value of a column."""
    entries = table.assign(entry=list(map(told, frames.rows(table))))
    wide = entries.pivot_table("entry", by, column, aggfunc="first", sort=False).fillna("–")
    return wide.reindex(pd.MultiIndex.from_frame(table[by].drop_duplicates())).reset_index()
