"""Tables of the comparison, all from results: decisions, robustness, cost, conventions and what waits."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.experiments.cells import Job
from ol2r.experiments.effects import at_own_end
from ol2r.papers import texts
from ol2r.papers.comparison.decisions import Decision
from ol2r.papers.comparison.expected import entry
from ol2r.papers.comparison.grid import (
    AS_TUNED,
    COMPARED,
    MOST_PLACES,
    NSGD,
    ROUNDS,
    SEEDS,
    SETTINGS,
    SKYLINE,
    UNLUCKY,
    UNLUCKY_USERS,
    K,
    setting,
    tuned,
    unlucky_name,
)
from ol2r.papers.comparison.measures import EARLY, NEAR, interval_of, over_users
from ol2r.papers.comparison.ranks import LEVEL
from ol2r.papers.comparison.tuning import ROUNDS_FIRST, ROUNDS_LONGER
from ol2r.papers.olranknet.claims import GAMMA
from ol2r.papers.queue import Queued
from ol2r.report.style import spelled
from ol2r.report.tables import interval, myst, named, number, plain, share, signed

SYMBOLS = {"alpha": "α", "regularization": "λ", "rate": "η", "noise": "ν²", "epsilon": "ε"}
"""What tables call hyper-parameters that are tuned."""


def times(value: float) -> str:
    """A ratio or a time with two significant digits, and no fewer than its whole part has."""
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def size(value: float) -> str:
    """Bytes in words."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{times(value / scale)} {unit}"
    return f"{value:.0f} B"


def _name(variant: str) -> str:
    """A learner's name with what comes after a comma in brackets."""
    name, _, rest = spelled(variant).partition(", ")
    return f"{name} ({rest})" if rest else name


def decision_table(decisions: Sequence[Decision], *, name: str, caption: str) -> str:
    """The table of decisions: a line for each situation."""
    rows = []
    for one in decisions:
        choice, digits = one.choice, one.situation.digits
        scored = {each: f"{plain(_name(each))} {mean:.{digits}f}" for each, mean in choice.means.items()}
        lead = f"{signed(choice.lead, digits)} {interval(choice.low, choice.high, digits)} over "
        first = {f"{kind} users": each for kind, each in one.by_users.items()}
        first |= {"compute without limit": one.at_any_cost} if one.at_any_cost else {}
        rows.append([
            f"{one.situation.name} ({one.situation.criterion})",
            f"**{plain(spelled(choice.best))}**",
            f"{choice.score:.{digits}f}",
            lead + plain(_name(choice.next)) if choice.next else "–",
            ", ".join(scored[each] for each in choice.fitting) or "–",
            ", ".join(scored[each] for each in choice.behind) or "–",
            ", ".join(f"{where}: {plain(_name(each))}" for where, each in first.items()) or "–",
        ])  # fmt: skip
    header = ["when (what is compared)", "take", "its score", "ahead of the next by [95 %]", "not clearly behind"]
    return myst([*header, "clearly behind", "another one is first"], rows, name=name, caption=caption)


def scores(runs: pd.DataFrame, *, name: str, caption: str) -> str:
    """Every learner's numbers, averaged over users, with 95 % intervals over runs.

    Args:
        runs: from `measures.of_runs`, of one data set.
    """
    wide = {column: over_users(runs, column) for column in ("offline", "early", "lists", "regret")}
    rows = []
    for each in _compared(runs):
        own = runs[runs["variant"] == each]["near"]
        soon = own.fillna(np.inf).median()
        entries = [
            _with_interval(wide[column][each].dropna(), digits)
            for column, digits in (("offline", 3), ("early", 3), ("lists", 3), ("regret", 2))
        ]
        near = f"{soon:,.0f}" if np.isfinite(soon) else "–"
        rows.append([plain(spelled(each)), *entries, f"{near} ({100 * own.notna().mean():.0f} %)"])
    header = ["learner", "offline", "offline, early", "shown lists", "regret a round", f"rounds to {100 * NEAR:.0f} %"]
    return myst(header, rows, name=name, caption=caption)


def _compared(table: pd.DataFrame) -> list[str]:
    """The learners of a table in the order of `COMPARED`."""
    return [each for each in COMPARED if each in set(table["variant"])]


def _with_interval(values: pd.Series, digits: int) -> str:
    mean, low, high = interval_of(values)
    return f"{mean:.{digits}f}" if np.isnan(low) else f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def resampled_table(leads: pd.DataFrame, *, name: str, caption: str) -> str:
    """The chosen learners minus each other one, with both intervals."""
    best = leads.groupby("score")["best"].first()
    scores = {"offline": "offline", "lists": "shown lists"}
    rows = []
    for variant in _compared(leads):
        row = [plain(spelled(variant))]
        for score in scores:
            own = leads[(leads["score"] == score) & (leads["variant"] == variant)].assign(outcome="")
            told = ((entry(line), interval(line.fold_low, line.fold_high)) for line in frames.rows(own))
            row += next(told, ("–", "–"))
        rows.append(row)
    columns = (text for score, told in scores.items() for text in (
        f"{told}, {plain(_name(str(best[score])))} minus it: seeds", "folds too"))  # fmt: skip
    return myst(["learner", *columns], rows, name=name, caption=caption)


def cost_table(costs: pd.DataFrame, *, name: str, caption: str) -> str:
    """What a round costs, and what is kept."""
    rows = [
        [plain(spelled(str(line.variant))), times(line.milliseconds), f"{times(line.first)} → {times(line.last)}",
         size(line.kept) if np.isfinite(line.kept) else "–"]
        for line in frames.rows(costs.sort_values("milliseconds", kind="stable"))
    ]  # fmt: skip
    return myst(["learner", "ms a round", "first → last window", "memory kept"], rows, name=name, caption=caption)


def met_again(met: Mapping[str, pd.DataFrame], main: pd.DataFrame, *, where: str, name: str, caption: str) -> str:
    """Offline NDCG@10, with each learner's place, and shown lists in other circumstances, beside its place in the main
    comparison.

    Args:
        met: by circumstance, such as a kind of users, runs from `measures.of_runs`; main: those of the main comparison.
        where: the main comparison in the header.
    """
    present = {name for own in met.values() for name in own["variant"]}
    places = _places(over_users(main[main["variant"].isin(present)], "offline"))
    wide = {called: {column: over_users(own, column) for column in ("offline", "lists")} for called, own in met.items()}
    ranked = {called: _places(own["offline"]) for called, own in wide.items()}
    rows = []
    for each in (each for each in COMPARED if each in present):
        row = [plain(spelled(each)), str(places.get(each, "–"))]
        for called, own in wide.items():
            here = each in own["offline"]
            row.append(f"{_with_interval(own['offline'][each].dropna(), 3)}, {ranked[called][each]}" if here else "–")
            row.append(_with_interval(own["lists"][each].dropna(), 3) if here else "–")
        rows.append(row)
    columns = (text for called in met for text in (f"{called}: offline, place", f"{called}: lists"))
    return myst(["learner", f"place, {where}", *columns], rows, name=name, caption=caption)


def _places(wide: pd.DataFrame) -> dict[str, int]:
    """The place of each learner by its mean, from 1."""
    order = wide.dropna().mean().sort_values(ascending=False, kind="stable").index
    return {str(name): place for place, name in enumerate(order, start=1)}


def by_circumstance(runs: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """Runs by the value of a column, such as users or dataset, in the order in which they come."""
    return {str(value): own for value, own in runs.groupby(column, sort=False)} if len(runs) else {}


def unlucky(frame: pd.DataFrame) -> pd.DataFrame:
    """What an unlucky λ or step changes in each learner's ranker after the last round, paired by run.

    Args:
        frame: runs of one data set with `luck`.

    Returns:
        variant, tuned (the tuned value), score (as tuned, with its interval), luck, mean with low and high, outcome
        (empty).
    """
    last, lines = at_own_end(frame).set_index(["fold", "seed"]), []
    for each, called in product(_compared(frame), UNLUCKY):
        own, what = last[last["variant"] == each].groupby("luck")["ndcg"], unlucky_name(each)
        as_tuned = own.get_group(AS_TUNED)
        value = f"{SYMBOLS[what]} = {number(float(setting(str(frame['dataset'].iloc[0]), each)[what]))}"
        change = interval_of((own.get_group(called) - as_tuned).dropna())
        lines.append((each, value, _with_interval(as_tuned, 3), called, *change, ""))
    return pd.DataFrame(lines, columns=["variant", "tuned", "score", "luck", "mean", "low", "high", "outcome"])


def queue_table(waiting: Sequence[tuple[Queued, Sequence[Job]]], *, name: str, caption: str) -> str:
    """What waits for a machine, in order of worth, with its computed cost; entries of which nothing is missing are left
    out.
    """
    rows = [
        [
            f"{one.paper}, {one.item}",
            ", ".join(map(named, one.datasets)) if one.datasets else "all",
            one.because,
            f"{sum(len(job.rows) for job in jobs):,}",
            times(sum(job.cost().whole for job in jobs) / 3600),
        ]
        for one, jobs in waiting
        if jobs
    ]
    return myst(["item", "data", "what it decides", "rows", "core-hours"], rows, name=name, caption=caption)


CONVENTIONS: tuple[tuple[str, str], ...] = texts.read(
    "comparison",
    "texts",
    rounds=ROUNDS,
    seeds=SEEDS,
    k=K,
    gamma=GAMMA,
    most_places=MOST_PLACES,
    rounds_first=ROUNDS_FIRST,
    rounds_longer=ROUNDS_LONGER,
    early=share(EARLY),
    near=share(NEAR),
    unlucky_users=UNLUCKY_USERS,
    level=share(LEVEL),
)["conventions"]
"""(convention, what is done)."""


def settings_table(datasets: Sequence[str], *, name: str, caption: str) -> str:
    """The tuned hyper-parameters of every learner on some data sets, and where they come from."""
    origin = {NSGD: "here", "epsilon-greedy": "{doc}`pairrank-extras`"}
    origin |= {each: "{doc}`pairrank-extras`" for each in ("PairRank", "PDGD", "DBGD")}
    rows = []
    for each in (*COMPARED, SKYLINE):
        told = []
        for dataset in datasets:
            own = tuned(dataset, each) or {"alpha": setting(dataset, each)["alpha"]}
            values = (f"{symbol} = {number(float(own[key]))}" for key, symbol in SYMBOLS.items() if key in own)
            told.append(", ".join(values))
        default = "{doc}`p2neurrank-extras`" if "rankers" in SETTINGS[each][1] else "{doc}`olranknet-extras`"
        rows.append([plain(spelled(each)), *told, origin.get(each, default)])
    return myst(["learner", *map(named, datasets), "tuned in"], rows, name=name, caption=caption)
