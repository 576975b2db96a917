"""PairRank with bounded memory: what was found of what was expected, and what a form's rounds cost."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.experiments.effects import at_own_end, summarize
from ol2r.papers.comparison import measures, memory
from ol2r.papers.comparison.expected import EXPECTED, across, entry, judged
from ol2r.papers.comparison.memory import FORMS, FULL, LARGE, SMALL
from ol2r.papers.olranknet.figures import OFFLINE
from ol2r.report import alt, figures
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
from ol2r.report.tables import Column, columns, named

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
BESIDE = tuple(
    dict.fromkeys(pair for each in EXPECTED["memory"] for pair in product(each.of["form"], each.of["beside"]))
)
"""The pairs of forms of which something was expected."""
REFITS = {room: tuple(memory.named(history, room) for history in ("window", "reservoir")) for room in (SMALL, LARGE)}
"""The forms that are refitted to so many labels, with intervals of these."""
TO_FULL = tuple((form, FULL) for form in FORMS)
"""Every form and the one of all labels."""


def differences(frame: pd.DataFrame, beside: Sequence[tuple[str, str]] = BESIDE) -> pd.DataFrame:
    """NDCG@10 of forms' rankers after the last round less that of other forms', paired by run.

    Args:
        frame: runs with dataset, `form`, users, ndcg.
        beside: pairs of forms, the second of which is subtracted.

    Returns:
        dataset, users, form, beside, level (the first form's own mean), mean (of the difference) with low and high,
        outcome; empty without runs.
    """
    last = at_own_end(frame, "dataset").set_index(["fold", "seed"]) if len(frame) else frame
    lines = []
    for (dataset, kind), own in frames.groups(last, ["dataset", "users"]) if len(last) else ():
        by_form = own.groupby("form")["ndcg"]
        for pair in beside:
            mine, other = map(by_form.get_group, pair)
            lines.append((dataset, kind, *pair, mine.mean(), *measures.interval_of((mine - other).dropna())))
    columns = ["dataset", "users", "form", "beside", "level", "mean", "low", "high"]
    return judged(pd.DataFrame(lines, columns=columns), "memory")


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
    found = differences(frame, TO_FULL).assign(outcome="")
    told = across(
        found, ["dataset", "form"], "users", lambda line: f"{line.level:.3f}" if line.form == FULL else entry(line)
    )
    spent = costs.groupby("form")[["first", "last", "kept"]].mean().reset_index()
    spent = spent.assign(dataset=told["dataset"].iloc[0], kept=spent["kept"] / 1e6)
    given: dict[str, Column] = {
        "data": lambda line: named(line.dataset),
        "labels kept": "{form}",
        **{kind: f"{{{kind}}}" for kind in USERS.ordered(found["users"])},
        "ms a round, first": "{first:rounded 3}",
        "last": "{last:rounded 3}",
        "MB kept": "{kept:rounded 2}",
    }
    return columns(told.merge(spent, "left", ["dataset", "form"]), given, name=name, caption=caption)


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
