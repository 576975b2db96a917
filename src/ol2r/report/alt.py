"""What a drawing shows, in sentences for those who cannot see it: its result, computed from its table.

Each function takes a table as `ol2r.report.figures` aggregates them, with mean, low and high. This module knows no
learner.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.report.style import CLICK_MODELS, USERS, spelled

COUNTED = "In brackets: under how many kinds of users."
"""What the brackets of `sides` count, where a row has a value for each kind of user."""
ABOVE, BELOW, OPEN = "above {zero:g}", "below {zero:g}", "undecided"


def number(value: float) -> str:
    """Three significant digits, and no fewer than the whole part has."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def place(column: str, value: object) -> str:
    """Where a panel is, in words: a data set, a kind of user, or the value itself."""
    if column == "dataset":
        return f"on {label(str(value))}"
    return f"under {value} users" if column == "users" and value in set(USERS) else spelled(str(value))


def ends(table: pd.DataFrame, by: str, what: str, within: Sequence[str], x: str = "round", y: str = "mean") -> str:
    """Which line ends highest and which lowest in each panel, with both values.

    Args:
        table: by, x, y and the columns `within`.
        by: the column that tells lines apart.
        what: what is drawn against x.
        within: the columns that tell panels apart.
        x: the column along the axis; lines without it, such as levels, are left out.
        y: the column that is drawn.
    """
    told = []
    shown = table.dropna(subset=[x, y])
    order = {column: list(dict.fromkeys([*USERS, *CLICK_MODELS.values(), *shown[column]])) for column in within}
    cases = list(frames.groups(shown, list(within))) if within else [((), shown)]
    cases.sort(key=lambda case: [order[column].index(value) for column, value in zip(within, case[0], strict=True)])
    for key, own in cases:
        last = own.sort_values(x, kind="stable").groupby(by, sort=False).tail(1).sort_values(y, kind="stable")
        low, high = (f"{spelled(str(line[by]))} ({number(line[y])})" for _, line in last.iloc[[0, -1]].iterrows())
        where = ", ".join(place(*each) for each in zip(within, key, strict=True))
        told.append(f"{f'highest for {high}, lowest for {low}' if len(last) > 1 else high} {where}".strip())
    return f"At the end, {what}: {'; '.join(told)}."


def sides(table: pd.DataFrame, what: str, zero: float = 0.0, by: str = "users") -> str:
    """What is clearly above a line, what below, and what is undecided, by their 95 % intervals.

    Args:
        table: row, `by`, mean, low and high.
        what: what the mean is of.
        zero: where the line stands.
        by: the column of which a row has several values.
    """
    side = pd.Series(OPEN, table.index).mask(table["low"] > zero, ABOVE).mask(table["high"] < zero, BELOW)
    of = table.groupby("row", sort=False)[by].nunique()
    told = []
    for name in (ABOVE, BELOW, OPEN):
        rows = table[side == name].groupby("row", sort=False)[by].nunique()
        if len(rows):
            parts = (f"{spelled(str(row))} ({n} of {of[row]})" for row, n in rows.items())
            told.append(f"{name.format(zero=zero)} {', '.join(parts)}")
    return f"{what}: {'; '.join(told)}." if told else f"{what}: nothing was measured."


def plain(label: str) -> str:
    """What an axis is called, on one line and without what stands in brackets on a line of its own."""
    return " ".join(label.split("\n(")[0].split())


def beside(comparison: pd.DataFrame, what: str) -> str:
    """In how many cases our mean is clearly above or below the printed one, and where the two are farthest apart.

    Args:
        comparison: users, learner, published_mean, published_error, mean and error, and data, what is at hand.
        what: what the mean is of.
    """
    own = comparison.dropna(subset=["mean", "published_mean"])
    if own.empty:
        return f"{what}: nothing is printed."
    gap = own["mean"] - own["published_mean"]
    clear = gap.abs() > 1.96 * np.hypot(own["error"], own["published_error"].fillna(0))
    above, below = (clear & (gap > 0)).sum(), (clear & (gap < 0)).sum()
    far = own.loc[gap.abs().idxmax()]
    return (
        f"{what}: of {len(own)} means ours is clearly above the printed one in {above} and clearly below in {below}. "
        f"Farthest apart: {far['learner']}, {far['users']}, on {label(str(far['data']))}: "
        f"{number(far['published_mean'])} printed, {number(far['mean'])} ours."
    )
