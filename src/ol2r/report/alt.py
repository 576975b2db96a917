"""What a drawing shows, in sentences for those who cannot see it: its result, computed from its table.

Each function takes a table as `ol2r.report.figures` aggregates them, with mean, low and high. In all of them `by` is
the column that tells lines apart, `within` has the columns that tell panels apart, `what` is what the column `y` has,
which is drawn against the column `x`, and `along` is what the x axis is called. This module knows no learner.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.report import tables
from ol2r.report.style import CLICK_MODELS, USERS, spelled

COUNTED = "In brackets: under how many kinds of users."
"""What the brackets of `sides` count, where a row has a value for each kind of user."""
ABOVE, BELOW, OPEN = "above {zero:g}", "below {zero:g}", "undecided"


def number(value: float) -> str:
    """Three significant digits, and no fewer than the whole part has."""
    return tables.signed(value, 0).lstrip("+") if abs(value) >= 1000 else tables.number(value, 3)


def place(column: str, value: object) -> str:
    """Where a panel is, in words: a data set, a kind of user, or the value itself, which must then be such words."""
    if column == "dataset":
        return f"on {label(str(value))}"
    return f"under {value} users" if column == "users" and value in set(USERS) else spelled(str(value))


def _panels(table: pd.DataFrame, within: Sequence[str]) -> Iterator[tuple[pd.DataFrame, str]]:
    """The part of each panel and where the panel is; by data set, and then in the order of users."""
    order = {column: list(dict.fromkeys([*USERS, *CLICK_MODELS.values(), *table[column]])) for column in within}
    cases = list(frames.groups(table, list(within))) if within else [((), table)]
    cases.sort(key=lambda case: [order[column].index(value) for column, value in zip(within, case[0], strict=True)])
    for key, own in cases:
        yield own, ", ".join(place(*each) for each in zip(within, key, strict=True))


def ends(
    table: pd.DataFrame,
    by: str,
    what: str,
    within: Sequence[str],
    x: str = "round",
    y: str = "mean",
    when: str = "At the end",
) -> str:
    """Which line ends highest and which lowest in each panel, with both values.

    Args:
        x: the column along the axis; lines without it, such as levels, are left out.
    """
    told = []
    for own, where in _panels(table.dropna(subset=[x, y]), within):
        last = own.sort_values(x, kind="stable").groupby(by, sort=False).tail(1).sort_values(y, kind="stable")
        low, high = (f"{spelled(str(line[by]))} ({number(line[y])})" for _, line in last.iloc[[0, -1]].iterrows())
        told.append(f"{f'highest for {high}, lowest for {low}' if len(last) > 1 else high} {where}".strip())
    return f"{when}, {what}: {'; '.join(told)}."


def ends_of_each(table: pd.DataFrame, by: str, of: str, within: Sequence[str], x: str = "round") -> str:
    """As `ends`, a sentence for each value of a column that tells what is drawn, as the titles of panels do.

    Args:
        of: the column whose values are what is drawn.
    """
    return " ".join(ends(own, by, str(what), within, x) for (what,), own in frames.groups(table, [of]))


def courses(table: pd.DataFrame, by: str, what: str, within: Sequence[str], x: str, along: str, y: str = "mean") -> str:
    """From which value to which each line goes, from its first x to its last one, in each panel.

    Args:
        x: the column along the axis; where lines have different first or last x, those of each are told in brackets.
    """
    shown = table.dropna(subset=[x, y]).sort_values(x, kind="stable")
    if shown.empty:
        return f"{what}: nothing was measured."
    spans = shown.groupby([*within, by], sort=False)[x].agg(["min", "max"]).drop_duplicates()
    alike, told = len(spans) == 1, []
    for own, where in _panels(shown, within):
        lines, verb = [], ""
        for (name,), line in frames.groups(own, [by]):
            values = list(dict.fromkeys(number(value) for value in line[y].iloc[[0, -1]]))
            before, verb = verb, "goes from" if len(values) > 1 else "stays at" if len(line) > 1 else "is"
            said = verb if verb != before else verb.removeprefix("goes ").removeprefix("stays ")
            span = "" if alike else f" ({' to '.join(dict.fromkeys(map(number, line[x].iloc[[0, -1]])))})"
            lines.append(f"{said} {' to '.join(values)} for {spelled(str(name))}{span}")
        told.append(" ".join([*([where] if where else []), ", ".join(lines)]))
    first, last = map(number, spans.iloc[0])
    begin = f"As {along} goes from {first} to {last}" if alike else f"Along {along}"
    return f"{begin}, {what} {'; that '.join(told)}."


def reaches(
    table: pd.DataFrame, by: str, what: str, within: Sequence[str], x: str, along: str, level: float, y: str = "mean"
) -> str:
    """At which x the first and the last line of each panel reach a level, and which lines never do."""
    shown, told = table.dropna(subset=[x, y]), []
    if shown.empty:
        return f"{what}: nothing was measured."
    for own, where in _panels(shown, within):
        least = own[own[y] >= level].groupby(by, sort=False)[x].min().sort_values(kind="stable")
        at = [(number(value), spelled(str(name))) for name, value in least.items()]
        found = [f"{value} ({name})" for value, name in (*at[:1], *at[1:][-1:])]
        if len(at) > 1 and at[0][0] == at[-1][0]:
            found = [at[0][0]]
        never = [spelled(str(name)) for name in dict.fromkeys(own[by]) if name not in least.index]
        parts = [f"at {along} {' to '.join(found)}"] if found else []
        parts += [f"never for {', '.join(never)}"] if never else []
        told.append(f"{', '.join(parts)} {where}".strip())
    return f"{what} reaches {level:g} {'; '.join(told)}."


def sides(table: pd.DataFrame, what: str, zero: float = 0.0, by: str = "users") -> str:
    """What is clearly above a line, what below, and what is undecided, by their 95 % intervals.

    Args:
        table: row, `by`, mean, low and high.
        what: what the mean is of.
        zero: where the line stands.
        by: the column of which a row has several values.
    """
    side = pd.Series(OPEN, table.index).mask(table["low"] > zero, ABOVE).mask(table["high"] < zero, BELOW)
    of = table.groupby("row", sort=False)[by].nunique().to_dict()
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
    far = own.iloc[gap.abs().to_numpy().argmax()]
    return (
        f"{what}: of {len(own)} means ours is clearly above the printed one in {above} and clearly below in {below}. "
        f"Farthest apart: {far['learner']}, {far['users']}, on {label(str(far['data']))}: "
        f"{number(far['published_mean'])} printed, {number(far['mean'])} ours."
    )
