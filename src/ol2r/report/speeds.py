"""How fast the library runs beside the public code of the field, from the figures that its benchmark stored.

The benchmark writes `speed.json`: by figure, our speed, that of public code and what the project aims at where there is
one, and how ours was measured. Another writes `pages.json`: how soon each page of the book opens. This module shows the
stored figures; it must not measure.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.provenance import code_digest
from ol2r.report import alt
from ol2r.report.style import INK, LEARNERS, Drawing, panels, styled

Stored = Mapping[str, Mapping]

ROUNDS, NETWORKS, STEPS = "rounds a second", "rounds a second (networks)", "steps a second and core"
ALONE, MANY, PUBLIC = "one run", "many runs at once", "public code"
MARKS = {PUBLIC: "s", ALONE: "D", MANY: "o"}
SHOWN = {
    ROUNDS: {
        "dbgd": "DBGD",
        "mgd": "MGD",
        "nsgd": "NSGD",
        "pdgd": "PDGD",
        "pairrank": "PairRank",
    },
    NETWORKS: {"neuralpdgd": "neural PDGD", "olranknet_mslr": "olRankNet"},
    STEPS: {
        "cascadeklucb": "CascadeKL-UCB",
        "batchrank": "BatchRank",
        "toprank": "TopRank",
        "bubblerank": "BubbleRank",
    },
}
"""What is shown in each unit: by the figures' first word, the learner."""


def speeds(stored: Stored) -> pd.DataFrame:
    """Speeds of learners here and in public code.

    Returns:
        unit, learner, how (`PUBLIC`, `ALONE` or `MANY`), speed; only figures that are stored.
    """
    lines = []
    for unit, names in SHOWN.items():
        for word, learner in names.items():
            whole = f"{word}.{'steps' if unit == STEPS else 'rounds'}_per_s"
            found = [(MANY, stored[whole]["ours"]), (PUBLIC, stored[whole]["public"])] if whole in stored else []
            found += [(ALONE, stored[f"{whole}_1"]["ours"])] if f"{whole}_1" in stored else []
            lines += [(unit, learner, how, float(speed)) for how, speed in found]
    return pd.DataFrame(lines, columns=["unit", "learner", "how", "speed"])


def times(table: pd.DataFrame) -> pd.DataFrame:
    """How many times as fast as public code many runs at once are.

    Returns:
        unit, learner, times; a line for each learner that has both speeds.
    """
    by_how = table.pivot_table("speed", ["unit", "learner"], "how", sort=False)
    return (by_how[MANY] / by_how[PUBLIC]).dropna().rename("times").reset_index()


def timings(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """When learners were timed.

    Args:
        records: provenance; only that of timings counts.

    Returns:
        day (as "2026-01-31", UTC), older (whether the code that was timed has changed since); a line for each timing.
    """
    now = code_digest(Timing.code)
    lines = [(each["time"][:10], each["code"] != now) for each in records if each["cell"]["type"] == Timing.kind]
    return pd.DataFrame(lines, columns=["day", "older"])


def measured(records: Iterable[Mapping[str, Any]]) -> str:
    """The line below a table of times: their days, and how many are older than the code; empty without any."""
    when = timings(records)
    older, n = when["older"].sum(), len(when)
    some = f" The library has changed since {older} of the {n} were measured."
    every = " The library has changed since all of these were measured, so times may be others today."
    changed = "" if not older else some if older < n else every
    return f"Times were measured on {' and '.join(sorted(set(when['day'])))} (UTC).{changed}" if n else ""


AIMED: dict[str, str] = {
    "dbgd.rounds_per_s": "DBGD, many runs at once",
    "mgd.rounds_per_s": "MGD, many runs at once",
    "nsgd.rounds_per_s": "NSGD, many runs at once",
    "pdgd.rounds_per_s": "PDGD, many runs at once",
    "egreedy.rounds_per_s": "ε-greedy, many runs at once",
    "sgdranknet.rounds_per_s": "SGD RankNet, many runs at once",
    "dbgd.rounds_per_s_1": "DBGD, one run",
    "mgd.rounds_per_s_1": "MGD, one run",
    "pdgd.rounds_per_s_1": "PDGD, one run",
    "pairrank.rounds_per_s": "PairRank, 5,000 rounds with a refit in each, all rounds of many runs at once",
    "p2linrank.rounds_per_s": "P²LinRank with two rankers, 5,000 rounds, all rounds of many runs at once",
    "p2linrank.rounds_per_s_of_5": "P²LinRank with five rankers, 5,000 rounds, all rounds of many runs at once",
    "p2neurrank.share_of_olranknet": "P²NeurRank, 2 rankers: share of olRankNet's speed (first rounds, untuned)",
    "p2neurrank.share_of_olranknet_of_10": "P²NeurRank, 10 rankers: share of olRankNet's speed (first rounds, untuned)",
    "olranknet.rounds_per_s": "olRankNet, MQ2008",
    "olranknet_full.rounds_per_s": "olRankNet with full covariance, MQ2008",
    "olranknet_mslr.rounds_per_s": "olRankNet, lists as long as MSLR-WEB10K's",
    "olranknet_full_mslr.rounds_per_s": "olRankNet with full covariance, lists as long as MSLR-WEB10K's",
    "compare.olranknet_share": "olRankNet by `ol2r.compare`, MQ2008: share of the speed of a run alone",
    "neuralpdgd.rounds_per_s": "neural PDGD, MQ2008",
    "bubblerank.steps_per_s": "BubbleRank, steps of a core",
    "toprank.steps_per_s": "TopRank, steps of a core",
    "batchrank.steps_per_s": "BatchRank, steps of a core",
    "cascadeklucb.steps_per_s": "CascadeKL-UCB, steps of a core",
    "olranknet_full.bytes": "memory that olRankNet with full covariance keeps of 12,000 pairs, 136 features, MiB",
    "evaluate.queries_per_s": "queries scored offline",
    "letor.mb_per_s": "reading LETOR text, megabytes",
}
"""What the project aims at: by figure, what is measured, a second where nothing else is said."""
LIMITS = {"olranknet_full.bytes": 2**20}
"""Of these the figures whose aim is the most that they should be; and how many bytes are one of what is shown."""


def against_targets(stored: Stored) -> pd.DataFrame:
    """The stored figures that have a target.

    Returns:
        what, public (the speed of public code, if known), ours, target, ratio (ours over the target, and the target
        over ours where it is a limit), elsewhere (the least ratio on the other processors where it was measured, if
        any), and bound, where one was measured: the speed of a run of nothing but its products of matrices. Lines are
        in the order of `AIMED`.
    """
    lines = []
    for key, name in AIMED.items():
        if "target" in (figure := stored.get(key, {})):
            ours, target = (figure[each] / LIMITS.get(key, 1) for each in ("ours", "target"))
            power = -1 if key in LIMITS else 1
            others = [(other / figure["target"]) ** power for other in figure.get("elsewhere", {}).values()]
            ratio, elsewhere = (ours / target) ** power, min(others, default=math.nan)
            public, bound = (figure.get(each, math.nan) for each in ("public", "bound"))
            lines.append((name, public, ours, target, ratio, elsewhere, bound))
    return pd.DataFrame(lines, columns=["what", "public", "ours", "target", "ratio", "elsewhere", "bound"])


REFITS = {"adam": "Adam, 20 passes", "lbfgs": "L-BFGS, 4 passes"}
"""What the refits that a speed was measured with are called."""


def by_refit(stored: Stored) -> pd.DataFrame:
    """The speeds of refitted networks, by refit.

    Returns:
        what, refit, rounds (a second), gap (what the last refit leaves of what it could win over θ₀), and counts:
        whether it is the speed in `against_targets`. Lines are in the order of `AIMED`.
    """
    lines = [
        (name, REFITS[refit], one["rounds_per_s"], one["gap"], one["rounds_per_s"] == stored[key]["ours"])
        for key, name in AIMED.items()
        for refit, one in stored.get(key, {}).get("refits", {}).items()
    ]
    return pd.DataFrame(lines, columns=["what", "refit", "rounds", "gap", "counts"])


PAGE_AIMS = {"paint_s": 1.0, "usable_s": 2.0, "bytes": 3e6}
"""What a page should stay below: seconds until its first text shows and until a reader can use it, and its weight."""


@styled
def beside_public_code(table: pd.DataFrame) -> Drawing:
    """Speeds on a logarithmic axis: a panel for each unit, a row for each learner, public code hollow."""
    units = list(dict.fromkeys(table["unit"]))
    fig, axes = panels([""] * len(units), table, height=2.6, sharey=False)
    for ax, unit in zip(axes, units, strict=True):
        own = table[table["unit"] == unit]
        rows = list(dict.fromkeys(own["learner"]))
        for how, marker in MARKS.items():
            for _, line in own[own["how"] == how].iterrows():
                color = LEARNERS[line["learner"]].color
                face = "white" if how == PUBLIC else color
                ax.plot(line["speed"], rows.index(line["learner"]), marker, color=color, markerfacecolor=face)
        ax.set(xscale="log", xlabel=unit, yticks=range(len(rows)), yticklabels=rows)
        ax.margins(y=0.15)
        ax.grid(True, axis="x")
        ax.invert_yaxis()
    shown = {how: marker for how, marker in MARKS.items() if how in set(table["how"])}
    faces = {how: "white" if how == PUBLIC else INK for how in shown}
    handles = [
        Line2D([], [], linestyle="", marker=marker, color=INK, markerfacecolor=faces[how], label=how)
        for how, marker in shown.items()
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    told = times(table).assign(unit=lambda gained: "in " + gained["unit"])
    what = "how many times as fast as public code many runs at once are"
    fig.alt = alt.ends(told, "learner", what, ["unit"], "times", "times", "Beside public code")
    return fig
