"""PairRank with bounded memory: what was found of what was expected, and what a form's rounds cost."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.experiments.effects import at_own_end, summarize
from ol2r.papers.comparison import measures
from ol2r.papers.comparison.expected import FROM, counted, outcome
from ol2r.papers.comparison.memory import EXPECTED, FORMS, FULL, RECURSIVE, Expected
from ol2r.papers.olranknet.figures import OFFLINE
from ol2r.report import alt, figures
from ol2r.report.leads import in_range, joined
from ol2r.report.style import (
    BLUE,
    GREEN,
    INK,
    MAUVE,
    ORANGE,
    PLUM,
    RED,
    SKY,
    USERS,
    Drawing,
    Look,
    Looks,
    legend,
    panels,
    styled,
)  # fmt: skip
from ol2r.report.tables import interval, myst, named, plain, rounded, signed

LOOKS = Looks()
for _form, _look in zip(
    FORMS,
    (
        Look(INK, "o", "-"),
        Look(SKY, "v", (0, (1.5, 1.2))),
        Look(BLUE, "s", (0, (5, 1.5))),
        Look(ORANGE, "^", (0, (3, 1.2))),
        Look(RED, "D", (0, (8, 1))),
        Look(PLUM, "P", (0, (4, 1, 1, 1))),
        Look(MAUVE, "X", (0, (6, 1, 1, 1))),
        Look(GREEN, "h", (0, (10, 1.5))),
    ),
    strict=True,
):
    LOOKS.register(_form, _look)
DRAWN = tuple(each for each in FORMS if "intervals" not in each)
"""Forms that have curves; the others are in the table."""


def expectations() -> str:
    """What is expected, as a list."""
    return "\n".join(
        f"- *{each.form}*, {joined(each.users)} users: {FROM[each.side]} *{each.beside}*, because {each.because}."
        for each in EXPECTED
    )


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    """NDCG@10 of the ranker after the last round less that of the form beside it, paired by run.

    Args:
        frame: runs with dataset, `form`, users, ndcg.

    Returns:
        dataset, form, beside, users, mean with low and high, outcome; empty without runs.
    """
    lines = []
    last = at_own_end(frame, "dataset").set_index(["fold", "seed"]) if len(frame) else frame
    for dataset, own in last.groupby("dataset", sort=False) if len(last) else ():
        for expected in EXPECTED:
            for kind in (each for each in expected.users if each in set(own["users"])):
                by_form = own[own["users"] == kind].groupby("form")["ndcg"]
                mine, other = by_form.get_group(expected.form), by_form.get_group(expected.beside)
                found = measures.interval_of((mine - other).dropna())
                lines.append(
                    (dataset, expected.form, expected.beside, kind, *found, outcome(expected.side, *found[1:]))
                )
    columns = ["dataset", "form", "beside", "users", "mean", "low", "high", "outcome"]
    return pd.DataFrame(lines, columns=columns)


def _of(table: pd.DataFrame, expected: Expected) -> pd.DataFrame:
    return table[
        (table["form"] == expected.form)
        & (table["beside"] == expected.beside)
        & table["users"].isin(expected.users)
    ]


def in_words(table: pd.DataFrame) -> str:
    """How many differences are as expected and how many against it, as a list; empty without runs."""
    lines = []
    for expected in EXPECTED:
        own = _of(table, expected)
        if len(own):
            lines.append(
                f"- *{expected.form}* beside *{expected.beside}*, {joined(expected.users)} users: "
                f"{counted(list(own['outcome']))}; differences {in_range(own['mean'], signed)}."
            )
    return "\n".join(lines)


def short_answer(frame: pd.DataFrame, costs: pd.DataFrame) -> str:
    """What bounded memory costs in ranking and saves in time, in two sentences; empty without runs.

    Args:
        frame: as for `differences`; costs: from `costs`.
    """
    if frame.empty:
        return ""
    table = against_full(frame)
    own = {form: table[table["form"] == form]["mean"] for form in DRAWN if form != FULL}
    kept = {form: values for form, values in own.items() if form != RECURSIVE}
    told = f"A ranker that takes {RECURSIVE} and keeps none differs at the end from one that is refitted to {FULL} by "
    told += f"{in_range(own[RECURSIVE], signed)} of NDCG@10. Of refits to some labels it is "
    told += joined([f"{in_range(values, signed)} ({form})" for form, values in kept.items()]) + "."
    if len(costs):
        late = costs.groupby("form", sort=False)["last"].mean()
        told += (
            f" At the end of {int(costs['rounds'].iloc[0]):,} rounds, a round with {FULL} takes "
            f"{late[FULL] / late[RECURSIVE]:.1f} times as long as one with {RECURSIVE}."
        )
    return told


def against_full(frame: pd.DataFrame) -> pd.DataFrame:
    """NDCG@10 of every form after the last round less that of all labels, paired by run.

    Returns:
        dataset, users, form, level (the form's own mean), mean (of the difference) with low and high.
    """
    last = at_own_end(frame, "dataset").set_index(["fold", "seed"])
    lines = []
    for (dataset, kind), own in frames.groups(last, ["dataset", "users"]):
        by_form = own.groupby("form")["ndcg"]
        for form in (each for each in FORMS if each in by_form.groups):
            mine = by_form.get_group(form)
            found = measures.interval_of((mine - by_form.get_group(FULL)).dropna())
            lines.append((dataset, kind, form, mine.mean(), *found))
    return pd.DataFrame(lines, columns=["dataset", "users", "form", "level", "mean", "low", "high"])


def costs(frame: pd.DataFrame) -> pd.DataFrame:
    """What a round of each form costs.

    Args:
        frame: of `Timing` and `Footprint` cells of one data set, with `form` and users.

    Returns:
        users, form, rounds, first and last (milliseconds of a round in the first and in the last window between
        checkpoints), kept (bytes that are kept after the last round).
    """
    lines = []
    for (kind, form), own in frames.groups(frame, ["users", "form"]) if len(frame) else ():
        one = measures.costs(own.assign(variant=form)).iloc[0]
        lines.append((kind, form, int(own["round"].max()), one["first"], one["last"], one["kept"]))
    return pd.DataFrame(lines, columns=["users", "form", "rounds", "first", "last", "kept"])


def table(frame: pd.DataFrame, costs: pd.DataFrame, *, name: str, caption: str) -> str:
    """What every form's ranker comes to and what its rounds cost, as a numbered MyST table; costs are means over users.

    Args:
        frame: as for `differences`; costs: from `costs`, of the first data set.
    """
    found = against_full(frame)
    users = USERS.ordered(found["users"])
    rows: list[Sequence[str]] = []
    for number, (dataset, own) in enumerate(found.groupby("dataset", sort=False)):
        for form in (each for each in FORMS if each in set(own["form"])):
            entries = []
            for kind in users:
                one = own[(own["form"] == form) & (own["users"] == kind)].iloc[0]
                apart = f"{signed(one['mean'])} {interval(one['low'], one['high'])}"
                entries.append(f"{one['level']:.3f}" if form == FULL else apart)
            spent = costs[costs["form"] == form] if number == 0 else costs[:0]
            first, late, kept = (spent[column].mean() for column in ("first", "last", "kept"))
            told = rounded(first, 3), rounded(late, 3), rounded(kept / 1e6, 2)
            rows.append([named(str(dataset)), plain(form), *entries, *told])
    header = ["data", "labels kept", *users, "ms a round, first", "last", "MB kept"]
    return myst(header, rows, name=name, caption=caption)


def spent(frame: pd.DataFrame, timed: pd.DataFrame) -> pd.DataFrame:
    """What a form's ranker is worth once it has computed for so long.

    Args:
        frame: runs of one data set; timed: its `Timing` cells, with `form` and users.

    Returns:
        users, form, round, seconds (of one core, so far), mean (offline NDCG@10) with low and high.
    """
    scores = summarize(frame[frame["round"] > 0], "ndcg", ["users", "form", "round"])
    lines = []
    for (kind, form), own in frames.groups(scores, ["users", "form"]):
        clock = timed[(timed["users"] == kind) & (timed["form"] == form)].dropna(subset="rank_seconds")
        if clock.empty:
            continue
        clock = clock.sort_values("round")
        taken = (clock["rank_seconds"] + clock["update_seconds"]) / clock["replicas"]
        seconds = np.interp(own["round"], [0, *clock["round"]], [0.0, *taken])
        lines.append(own.assign(seconds=seconds))
    columns = ["users", "form", "round", "seconds", "mean", "low", "high"]
    return pd.concat(lines, ignore_index=True)[columns] if lines else pd.DataFrame(columns=columns)


@styled
def spent_curves(table: pd.DataFrame) -> Drawing:
    """Offline NDCG@10 against seconds of one core, a panel for each kind of users."""
    users = USERS.ordered(table["users"])
    fig, axes = panels(users, table, height=3.4)
    for ax, kind in zip(axes, users, strict=True):
        for form in (each for each in DRAWN if each in set(table["form"])):
            own = table[(table["users"] == kind) & (table["form"] == form)].sort_values("seconds")
            figures.band(ax, own[own["seconds"] > 0], LOOKS[form], form, x="seconds")
        ax.set(xscale="log", xlabel="seconds of one core")
    axes[0].set_ylabel(f"{OFFLINE}\n({figures.INTERVAL})")
    legend(fig, axes)
    fig.alt = _spent_in_words(table)
    return fig


def _spent_in_words(table: pd.DataFrame) -> str:
    told = []
    for kind in USERS.ordered(table["users"]):
        last = table[table["users"] == kind].sort_values("round").groupby("form", sort=False).last()
        each = (f"{form} {alt.number(one['mean'])} in {one['seconds']:.1f} s" for form, one in last.iterrows())
        told.append(f"{alt.place('users', kind)} {', '.join(each)}")
    return f"Offline NDCG@10 after the last round and the seconds until then: {'; '.join(told)}."
