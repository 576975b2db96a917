"""What learners have more than another one after the last round: as a table and as a figure.

All differences are paired by run. In all functions that take a table of leads, it is from `leads` or `leads_of`, and
`told` is what the difference is called. This module knows no learner.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import wrap

import pandas as pd

from ol2r import frames
from ol2r.experiments.effects import final_effects, minus
from ol2r.report import alt, figures
from ol2r.report.style import USERS, Drawing, legend, stacked, styled
from ol2r.report.tables import named

Scores = Mapping[str, tuple[pd.DataFrame, str]]
"""By what a score is called: runs with dataset, users, fold, seed and round, and the column of the score."""

_COLUMNS = dict.fromkeys(("dataset", "users", "row", "panel"), object) | dict.fromkeys(("mean", "low", "high"), float)
NO_LEADS = pd.DataFrame(columns=[*_COLUMNS, "n"]).astype(_COLUMNS | {"n": int})
"""The table of `leads` where nothing was run."""


def leads(scores: Scores, baseline: str, by: str = "variant", variants: Sequence[str] | None = None) -> pd.DataFrame:
    """What every other variant has more than a baseline at the end.

    Args:
        baseline: the value of `by` that the others are compared with.
        by: the column of the runs that tells variants apart.
        variants: the values of `by` to show, in their order (None: all, in the order of the first score's runs).

    Returns:
        dataset, users, row (the value of `by`), panel (what the score is called), mean, low, high (its 95 % interval),
        n (number of runs); `NO_LEADS` if there are no runs.
    """
    if all(runs.empty for runs, _ in scores.values()):
        return NO_LEADS
    shown = list(variants or dict.fromkeys(next(iter(scores.values()))[0][by]))
    parts = [
        final_effects(minus(runs, column, baseline, by), column, ["dataset", "users", by]).assign(panel=panel)
        for panel, (runs, column) in scores.items()
    ]
    table = pd.concat(parts, ignore_index=True).rename(columns={by: "row"})
    table = table[table["row"].isin(shown)]
    return table.sort_values("row", key=lambda rows: rows.map(shown.index), kind="stable").reset_index(drop=True)


def leads_of(learner: str, scores: Scores, by: str = "variant", others: Sequence[str] | None = None) -> pd.DataFrame:
    """What one variant has more than each of the others at the end; returns as `leads`, `row` is the other variant."""
    table = leads(scores, learner, by, others)
    return table.assign(mean=-table["mean"], low=-table["high"], high=-table["low"])


def lead_dots(table: pd.DataFrame, told: str) -> Drawing:
    """Leads at the end, with 95 % intervals: a panel for each score, a row for each variant, a mark for each kind of
    users.

    Args:
        table: from `leads` or `leads_of`, of one data set.
    """
    panels = dict.fromkeys(figures.one_dataset(table)["panel"])
    return figures.dots(table, {each: f"{each},\n{told}" for each in panels})


@styled
def leads_by_data(table: pd.DataFrame, told: str) -> Drawing:
    """As `lead_dots`, with a row of panels for each data set, and a column for each score."""
    rows, scores = list(dict.fromkeys(table["row"])), list(dict.fromkeys(table["panel"]))
    datasets, users = list(dict.fromkeys(table["dataset"])), USERS.ordered(table["users"])
    fig, grid = stacked(datasets, scores, table, height=0.7 + 0.28 * len(rows))
    for dataset, axes in zip(datasets, grid, strict=True):
        for ax, score in zip(axes, scores, strict=True):
            figures.dots_on(ax, table[(table["dataset"] == dataset) & (table["panel"] == score)], rows, users)
        axes[0].invert_yaxis()
        axes[0].set_ylabel("\n".join(wrap(named(str(dataset)), 16)))
    for ax in grid[-1]:
        ax.set_xlabel(told)
    legend(fig, [ax for axes in grid for ax in axes])
    cases = frames.groups(table, ["dataset", "panel"])
    sides = (alt.sides(own, f"{score} on {named(str(dataset))}, {told}") for (dataset, score), own in cases)
    fig.alt = " ".join([*sides, alt.COUNTED])
    return fig


def in_range(values: Iterable[float], told: Callable[[float], str]) -> str:
    """The least and the largest value, or the one that both are."""
    ends = list(dict.fromkeys(told(float(value)) for value in (min(values), max(values))))
    return " to ".join(ends)


def joined(words: Sequence[str]) -> str:
    """Words with commas between them, and an "and" before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
