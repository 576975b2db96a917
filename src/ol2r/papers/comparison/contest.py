"""Who is within `WITHIN` of the best, and who is not: a contest in which learners get more seeds until that is decided.

The rule was declared before any run beyond those of the main comparison. For every situation and data set the learner
with the best mean is held against each other one by the difference paired by run. The difference is looked at when both
have the seeds of `LOOKS`. A learner is *apart* once the interval of its difference lies above 0, *equivalent* once the
interval lies within ± `WITHIN`, and *open* until then; what was decided at a look stands. Of a data set, the learners
that are open in a situation and the best one of that situation get the seeds of the next look, as far as `MOST_HOURS`
allow, linear rankers first: a network that is open waits for a machine, and the seeds that it would take are told.

Each difference is looked at up to four times, and each look could err. So the level of 5 % is spent on the looks in
proportion to the seeds that they add (Lan and DeMets, 1983, with a linear spending function): the looks' own levels add
up to 5 %, and by the union bound no difference errs more often over all its looks, whatever the looks' dependence. No
level is shared among the learners of a situation, so of twenty differences one may err.

    ol2r run comparison --tier paper --item contest
    python -m ol2r.papers.comparison.contest

by turns let the seeds of the next look run, and write `contest.csv` with those of the look after; the file is never
edited by hand.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import nan
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from ol2r import frames
from ol2r.experiments.effects import effect_over_runs
from ol2r.papers.comparison.decisions import ON_OTHER_DATA, Situation
from ol2r.papers.comparison.measures import over_users
from ol2r.report.style import spelled
from ol2r.report.tables import myst, named, plain

WITHIN = 0.005
"""NDCG@10: who is nearer to the best is as good."""
LEVEL = 0.05
"""How often a difference may err over all its looks."""
LOOKS: dict[bool, tuple[int, ...]] = {False: (3, 5, 10, 20), True: (5, 10, 20, 40)}
"""Seeds of each fold at which differences are looked at, by whether a data set has one fold; the first are those of the
main comparison."""
MOST_HOURS = 4.0
"""Core-hours that all looks together may take, by the cost that was computed before they ran."""
TABLE = "contest.csv"

State = Literal["apart", "equivalent", "open"]


def levels(looks: Sequence[int], level: float = LEVEL) -> list[float]:
    """The level of each look, in proportion to the seeds that it adds; they add up to `level`.

    Args:
        looks: seeds of each fold at the looks, rising.
    """
    return [level * (now - before) / looks[-1] for before, now in zip((0, *looks), looks, strict=False)]


class Standing(NamedTuple):
    """How a learner stands to the best one.

    Args:
        state: what the looks so far decided.
        lead: how much better the best is at the last look, with its interval low to high at that look's level.
        seeds: of each fold at the last look.
        needed: seeds of each fold after which a difference of this size and spread would be decided (NaN where it is).
    """

    state: State
    lead: float
    low: float
    high: float
    seeds: int
    needed: float


NOT_RUN = Standing("open", nan, nan, nan, 0, nan)
"""A learner that did not run: its numbers meet no condition."""


def standing(differences: pd.Series, looks: Sequence[int]) -> Standing | None:
    """How a learner stands to the best one; None before the first look. A look is taken once every fold has its seeds.

    Args:
        differences: the best less the learner, indexed by (fold, seed).
    """
    state: State = "open"
    found = None
    seeds = differences.index.get_level_values("seed")
    of_folds = [{*own.index.get_level_values("seed")} for _, own in differences.groupby(level="fold")]
    counts = [n for n in looks if of_folds and all({*range(n)} <= own for own in of_folds)]
    for n, spent in zip(looks[: len(counts)], levels(looks), strict=False):
        effect = effect_over_runs(differences[seeds < n])
        if effect is None:
            return None
        low, high = effect.interval(1 - spent)
        if state == "open":
            state = "apart" if low > 0 else "equivalent" if -WITHIN < low and high < WITHIN else "open"
        found = effect, low, high, n
    if found is None:
        return None
    effect, low, high, n = found
    needed = float("nan") if state != "open" else _needed(effect.estimate, (high - low) / 2, n)
    return Standing(state, effect.estimate, low, high, n, needed)


def _needed(lead: float, half: float, seeds: int) -> float:
    """Seeds after which an interval around the same lead, narrower as the root of their number, decides."""
    return seeds * (half / max(abs(lead), WITHIN - abs(lead))) ** 2


class Contest(NamedTuple):
    """A situation on a data set: who is best, its mean, how every other one stands to it, and everybody's mean."""

    situation: Situation
    dataset: str
    best: str
    others: Mapping[str, Standing]
    means: Mapping[str, float]

    def of(self, state: State) -> list[str]:
        """The other learners that stand so, the best first."""
        return [name for name, each in self.others.items() if each.state == state]

    def to(self, variant: str) -> Standing:
        """How a learner stands to the best one; `NOT_RUN` where it did not run here, or is the best."""
        return self.others.get(variant, NOT_RUN)

    @property
    def nearest(self) -> str:
        """The learner of the least lead over it; empty where there is none."""
        return min(self.others, key=lambda name: self.others[name].lead, default="")


def at(found: Sequence[Contest], situation: Situation, dataset: str) -> Contest:
    """The contest of a situation on a data set; one without learners where it was not run."""
    own = (one for one in found if (one.situation, one.dataset) == (situation, dataset))
    return next(own, Contest(situation, dataset, "", {}, {}))


def contests(runs: pd.DataFrame, folds: Mapping[str, int]) -> list[Contest]:
    """All situations on all data sets.

    Args:
        runs: from `measures.of_runs`, of any data sets, with as many seeds of each learner as were run.
        folds: the number of folds of each data set.
    """
    made = []
    for situation in ON_OTHER_DATA:
        for (dataset,), own in frames.groups(runs, ["dataset"]) if len(runs) else ():
            wide = over_users(own, situation.column, situation.users)
            looks = LOOKS[folds[str(dataset)] == 1]
            first = wide[wide.index.get_level_values("seed") < looks[0]]
            order = first.loc[:, first.notna().all()].mean().sort_values(ascending=False, kind="stable")
            if order.empty:
                continue
            names = [str(name) for name in order.index]
            best = _best(wide, names)
            others = {
                name: found
                for name in names
                if name != best and (found := standing((wide[best] - wide[name]).dropna(), looks)) is not None
            }
            made.append(Contest(situation, str(dataset), best, others, {name: float(order[name]) for name in names}))
    return made


def told(found: Sequence[Contest], *, name: str, caption: str) -> str:
    """Who is best in each situation on each data set, who is equivalent, and who is open with the seeds of each fold
    that a decision would take, as a numbered MyST table; whoever is not named is apart.
    """
    datasets = list(dict.fromkeys(one.dataset for one in found))
    by_place = {(one.situation.name, one.dataset): one for one in found}
    situations = dict.fromkeys((one.situation.name, one.situation.criterion) for one in found)
    rows = [
        [f"{called} ({criterion})", *(_place(by_place.get((called, dataset))) for dataset in datasets)]
        for called, criterion in situations
    ]
    return myst(["when (what is compared)", *map(named, datasets)], rows, name=name, caption=caption)


def _place(one: Contest | None) -> str:
    if one is None:
        return "–"
    parts = [f"**{_called(one.best)}** {one.means[one.best]:.3f}"]
    if same := one.of("equivalent"):
        parts.append(f"as good: {', '.join(map(_called, same))}")
    if still := one.of("open"):
        parts.append(f"open: {', '.join(f'{_called(name)} ({one.others[name].needed:,.0f})' for name in still)}")
    return "; ".join(parts)


def _called(variant: str) -> str:
    return plain(spelled(variant))


def counts(found: Sequence[Contest]) -> dict[State, int]:
    """How many differences to the best stand in each state."""
    return {state: sum(len(one.of(state)) for one in found) for state in ("apart", "equivalent", "open")}


def frame_of(found: Sequence[Contest]) -> pd.DataFrame:
    """Every difference to the best: situation, dataset, best, variant, state, lead with low and high at the level of
    the last look, seeds (of each fold at that look), needed (NaN where it is decided)."""
    lines = [
        (one.situation.name, one.dataset, one.best, name, *each) for one in found for name, each in one.others.items()
    ]
    columns = ["situation", "dataset", "best", "variant", "state", "lead", "low", "high", "seeds", "needed"]
    return pd.DataFrame(lines, columns=columns)


def _best(wide: pd.DataFrame, names: Sequence[str]) -> str:
    """The learner that nobody is ahead of on the seeds that both have; where there is none, one of those ahead.

    Args:
        wide: Float[runs, variants], NaN where a run is missing; names: the best of the first look come first.
    """
    best = names[0]
    for _ in names:
        ahead = {name: (wide[name] - wide[best]).dropna().mean() for name in names}
        first = max(ahead, key=ahead.__getitem__)
        if not ahead[first] > 0:
            break
        best = first
    return best


def granted(
    found: Sequence[Contest], had: Mapping[tuple[str, str], int], folds: Mapping[str, int]
) -> dict[tuple[str, str], int]:
    """The seeds of each fold that learners have at the next look, by data set and learner.

    Those that are open somewhere have more, and so has the best one where somebody is open.

    Args:
        found: from `contests`; had: the seeds that they have; folds: of each data set.
    """
    seeds = dict(had)
    for one in found:
        looks = LOOKS[folds[one.dataset] == 1]
        for name in one.of("open"):
            both = min(had[one.dataset, each] for each in (name, one.best))
            wanted = next((n for n in looks if n > both), looks[-1])
            for each in (name, one.best):
                seeds[one.dataset, each] = max(seeds[one.dataset, each], wanted)
    return seeds


def had_in(runs: pd.DataFrame) -> dict[tuple[str, str], int]:
    """The seeds of each fold that learners have of all kinds of users, by data set and learner."""
    counts = runs.groupby(["dataset", "variant", "users", "fold"])["seed"].nunique()
    least = counts.groupby(level=[0, 1]).min().reset_index()
    return {(str(line["dataset"]), str(line["variant"])): int(line["seed"]) for line in frames.records(least)}


@cache
def listed() -> dict[tuple[str, str], int]:
    """The seeds of each fold that `contest.csv` grants, by data set and learner."""
    with (files("ol2r.papers.comparison") / TABLE).open(encoding="utf-8") as file:
        return {(line["dataset"], line["variant"]): int(line["seeds"]) for line in csv.DictReader(file)}


def write(seeds: Mapping[tuple[str, str], int]) -> None:
    """Write `contest.csv`."""
    table = pd.DataFrame([(*key, n) for key, n in seeds.items()], columns=["dataset", "variant", "seeds"])
    path = Path(str(files("ol2r.papers.comparison") / TABLE))
    table.sort_values(["dataset", "variant"]).to_csv(path, index=False, lineterminator="\n")


def main() -> None:
    """Write `contest.csv` for the next look from what is stored, if the looks so far and the next one together do not
    take more than `MOST_HOURS`, and print how every contest stands."""
    from ol2r import data
    from ol2r.experiments.cells import Job, Row
    from ol2r.experiments.chapter import stored_results
    from ol2r.experiments.store import Store
    from ol2r.papers.comparison import grid
    from ol2r.papers.comparison.measures import of_runs

    read = stored_results(grid.PAPER, "paper", ("quality", "elsewhere"))
    runs = of_runs(grid.contested(Store.open(), *(each.frame for each in read.values())))
    folds = {name: data.entry(name).n_folds for name in runs["dataset"].unique()}
    found = contests(runs, folds)
    seeds = granted(found, had_in(runs), folds)
    jobs = [
        Job(grid.curve("paper", dataset, kind, variant), tuple(Row(1 + fold, seed) for fold in range(folds[dataset])
        for seed in range(LOOKS[folds[dataset] == 1][0], n)))
        for (dataset, variant), n in seeds.items() if variant in grid.LINEAR for kind in grid.USERS
    ]  # fmt: skip
    hours = sum(job.cost().whole for job in jobs if job.rows) / 3600
    for one in found:
        told = {state: len(one.of(state)) for state in ("apart", "equivalent", "open")}
        print(f"{one.dataset}, {one.situation.name}: {one.best}; {told}; open: {', '.join(one.of('open')) or 'nobody'}")
    print(f"all looks of linear rankers with the next one take {hours:.1f} core-hours of {MOST_HOURS:g}")
    if hours <= MOST_HOURS:
        write({key: n for key, n in seeds.items() if n > LOOKS[folds[key[0]] == 1][0]})


if __name__ == "__main__":
    main()
