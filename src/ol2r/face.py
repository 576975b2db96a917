"""What `import ol2r` offers: learning curves of any learners on any data in a few lines.

It adds nothing to the packages below, which offer more control to those who need it.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from ol2r.clicks import GradedCascade, users_of_grades
from ol2r.clicks.cascade import USERS
from ol2r.compiling import told
from ol2r.data import RankingDataset
from ol2r.errors import ExperimentError, one_of, printable
from ol2r.experiments.blocks import in_order
from ol2r.experiments.cells import Cell, Job
from ol2r.experiments.effects import at_end, summarize
from ol2r.experiments.grid import Grid
from ol2r.experiments.kinds.given import Given, travels
from ol2r.experiments.runner import Failure, compute
from ol2r.learners import LEARNERS
from ol2r.papers import NAMES, paper
from ol2r.parameters import AT_LEAST_ONE, Value, require
from ol2r.simulation import Evaluation

if TYPE_CHECKING:
    from ol2r.report.style import Drawing, Looks

SCORES = {"ndcg": "offline NDCG", "cndcg": "online score"}


class Setting(NamedTuple):
    """The variant, learner and hyper-parameters that a learner's name stands for."""

    variant: str  # of a paper, or the learner's name
    learner: str
    hyperparameters: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Learning curves of several learners, side by side on the same queries and with the same users.

    Attributes:
        frame: one row for each run and checkpoint: dataset, users, learner, fold, seed, round, ndcg (held-out NDCG@k of
            the learned ranker), cndcg (discounted sum of the NDCG@k of the lists that users were shown), and the other
            columns that `simulate` records.
        label: the name of the data set in figures.
        conventions: what was measured and how, in words.
        variants: for each learner of the frame, the paper's variant whose colour and line it has in figures.
    """

    frame: pd.DataFrame
    label: str
    conventions: Mapping[str, str]
    variants: Mapping[str, str]

    def final(self) -> pd.DataFrame:
        """Both scores after the last round: users, learner, score, mean, deviation, n (runs), low and high (95 %), and
        diverged (runs whose weights diverged; they count with the last ranker that they had)."""
        last = at_end(self.frame)
        parts = [summarize(last, column, ["users", "learner"]).assign(score=told) for column, told in SCORES.items()]
        table = pd.concat(parts, ignore_index=True)
        return table[["users", "learner", "score", "mean", "deviation", "n", "low", "high", "diverged"]]

    def plot(self, score: str = "ndcg") -> "Drawing":
        """Draw learning curves, one panel for each user model: mean over runs with its 95 % interval.

        Args:
            score: "ndcg" (of the learned ranker) or "cndcg" (of what users were shown).
        """

        from ol2r.report import figures  # here, because it takes a second to load

        one_of(score, SCORES, "score")
        draw = figures.learning_curves if score == "ndcg" else figures.cumulative_curves
        frame = self.frame.assign(dataset=_in_figure(self.label), users=self.frame["users"].map(_in_figure))
        return draw(frame, looks=_looks(self.variants), named=True)

    def __repr__(self) -> str:
        told = "\n".join(f"  {name}: {value}" for name, value in self.conventions.items())
        return f"Comparison on {self.label}\n{told}\n\n{self.final().to_string(index=False)}"


def compare(
    dataset: RankingDataset,
    learners: str | Sequence[str] | Mapping[str, Mapping[str, Value]],
    *,
    users: str | GradedCascade | Sequence[str | GradedCascade] = "navigational",
    rounds: int = 1000,
    seeds: int = 5,
    conventions: str = "pairrank",
    engine: str | None = None,
    jobs: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Run learners online on a data set, with simulated users, and score what they learn.

    A comparison that is expected to take more than some seconds runs in worker processes. Their number changes no
    result.

    Args:
        dataset: from `ol2r.load`, `ol2r.from_letor` or `ol2r.from_arrays`.
        learners: names of learners or of a paper's variants, such as "PDGD" or "PairRank_C"; a mapping from such names
            to hyper-parameters changes these. All others are those of the main results of the paper in `conventions`,
            or of another paper if that one lacks the learner; tuned ones are those of this data set, else of MQ2008.
        users: "perfect", "navigational", "informational", or users of your own.
        rounds: number of queries that are answered.
        seeds: number of runs in each fold.
        conventions: the paper whose measurement and settings are used: "nsgd", "pairrank" or "olranknet".
        engine: "numba" or "torch"; None uses the default on the CPU.
        jobs: number of worker processes; None uses one per core.
        progress: whether to show a bar once it has taken more than three seconds.

    Raises:
        ExperimentError: an unknown name; the message offers the nearest one.
        ValueError: numbers out of range, hyper-parameters that a learner does not have, users for another number of
            grades, two users with the same name, or no learner.
    """
    require("rounds", AT_LEAST_ONE, rounds)
    require("seeds", AT_LEAST_ONE, seeds)
    if jobs is not None:
        require("jobs", AT_LEAST_ONE, jobs)
    grid = _grid(conventions)
    names = [learners] if isinstance(learners, str) else learners
    changes = names if isinstance(names, Mapping) else {name: {} for name in names}
    settings = {name: setting(name, dataset.name, conventions, own) for name, own in changes.items()}
    kinds = _users(users, dataset)
    if not settings or not kinds:
        raise ValueError("a comparison needs a learner and a kind of users")
    evaluation = _evaluation(grid, rounds)
    cells = [
        (name, user, _cell(dataset, chosen, user, evaluation)) for name, chosen in settings.items() for user in kinds
    ]
    say = partial(tqdm.write, file=sys.stderr) if progress else None
    with told(say):
        found = _computed(
            [Job(cell, cell.rows(None, range(seeds))) for *_, cell in cells],
            jobs if travels(dataset) else 1,
            engine,
            progress,
        )
    tables = [
        table.assign(dataset=dataset.name, users=user.name, learner=name)
        for (name, user, _), table in zip(cells, found, strict=True)
    ]
    frame = pd.concat(tables, ignore_index=True)
    first = ["dataset", "users", "learner", "fold", "seed", "round"]
    return Comparison(
        frame=frame[[*first, *(column for column in frame if column not in first)]],
        label=dataset.label,
        conventions=_told(dataset, evaluation, kinds, settings, conventions, seeds),
        variants={name: chosen.variant for name, chosen in settings.items()},
    )


def _cell(dataset: RankingDataset, chosen: Setting, user: GradedCascade, evaluation: Evaluation) -> Given:
    return Given(
        dataset=dataset.name,
        checksum=dataset.checksum,
        learner=chosen.learner,
        revision=LEARNERS[chosen.learner].revision,
        hyperparameters=tuple(sorted(chosen.hyperparameters.items())),
        users=user,
        evaluation=evaluation,
        given=dataset,
    )


def _computed(jobs: Sequence[Job], n_jobs: int | None, engine: str | None, progress: bool) -> list[pd.DataFrame]:
    """The table of each job; what a learner raises is raised here, and worker processes end at an interruption."""
    parts: dict[Cell, list[pd.DataFrame]] = {job.cell: [] for job in jobs}
    n_rows = 0
    outcomes = compute(jobs, {}, engine=engine, n_jobs=n_jobs, progress=progress)
    try:
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                error = outcome.raised or ExperimentError(str(outcome))
                error.add_note(outcome.trace)
                raise error
            parts[outcome.job.cell].append(outcome.frame)
            n_rows += len(outcome.job.rows)
    except KeyboardInterrupt:
        done = f"{n_rows} of {sum(len(job.rows) for job in jobs)} runs were done"
        raise KeyboardInterrupt(f"the comparison was interrupted; {done}, and nothing is kept") from None
    finally:
        outcomes.close()  # processes that still compute end now
    return [in_order(pd.concat(parts[job.cell], ignore_index=True)) for job in jobs]


def _in_figure(name: str) -> str:
    """A name as a figure shows it as text: in one line, without signs that cannot be seen, and without mathematics."""
    return printable(" ".join(name.split())).replace("$", r"\$")


def _users(
    users: str | GradedCascade | Sequence[str | GradedCascade], dataset: RankingDataset
) -> list[GradedCascade]:
    given = [users] if isinstance(users, str | GradedCascade) else list(users)
    kinds = [
        users_of_grades(one_of(each, USERS, "kind of users"), dataset.n_grades) if isinstance(each, str) else each
        for each in given
    ]
    for kind in kinds:
        if len(kind.click) != dataset.n_grades:
            raise ValueError(
                f"{dataset.label} has {dataset.n_grades} grades, the users {kind.name!r} know {len(kind.click)}"
            )
    if len({kind.name for kind in kinds}) < len(kinds):
        raise ValueError("two kinds of users have the same name")
    return kinds


def setting(name: str, dataset: str, conventions: str, changed: Mapping[str, Value]) -> Setting:
    """The setting that a name stands for: a paper's variant of that name, or else its first variant of that learner.

    The paper of the conventions is searched before the others. A learner that no chapter sets needs all of its
    hyper-parameters in `changed`.

    Raises:
        ExperimentError: no paper and no learner has this name; the message offers the nearest one.
        ValueError: the learner has no such hyper-parameter, does not allow the value, or lacks a value.
    """
    papers = [conventions, *(each for each in NAMES if each != conventions)]
    known: dict[str, Setting] = {}
    for each in papers:
        if name in known:
            break  # a paper takes long to load, so only those are that the name needs
        variants = [Setting(variant, *own) for variant, own in paper(each).settings(dataset).items()]
        for found in variants:
            known.setdefault(found.variant, found)
        for found in variants:
            known.setdefault(found.learner, found)
    known = {each: Setting(each, each, {}) for each in LEARNERS} | known  # of some, no chapter sets any value
    found = known[one_of(name, known, "learner")]
    whole = {**found.hyperparameters, **changed}
    LEARNERS[found.learner].check(whole)
    return found._replace(hyperparameters=whole)


def _grid(conventions: str) -> Grid:
    """The experiments of a paper that has conventions, without loading another one."""
    if conventions not in NAMES or paper(conventions).grid is None:
        one_of(conventions, [each for each in NAMES if paper(each).grid is not None], "paper with conventions")
    grid = paper(conventions).grid
    assert grid is not None
    return grid


def _looks(variants: Mapping[str, str]) -> "Looks":
    """Looks of learners in figures: that of the variant in the book, or a spare one if that is taken or missing."""
    from ol2r.report.style import LEARNERS as LOOKS
    from ol2r.report.style import Looks

    looks, taken = Looks(), set()
    for name, variant in variants.items():
        free = [each for each in LOOKS if each not in taken]
        if not free:
            raise ValueError(f"a figure can tell {len(taken)} learners apart, not {len(variants)}")
        look = variant if variant in free else next((each for each in free if each not in variants.values()), free[0])
        taken.add(look)
        looks.register(name, LOOKS[look])
    return looks


def _evaluation(grid: Grid, rounds: int) -> Evaluation:
    spread = {0, 1, 2, 5, 10, 20, 50, *np.linspace(0, rounds, 21).astype(int).tolist()}
    return Evaluation(
        k=grid.k,
        split="test",
        gain=str(grid.usual["gain"]),
        empty=str(grid.usual["empty"]),
        ties=str(grid.usual["ties"]),
        gamma=grid.gamma,
        checkpoints=tuple(sorted(each for each in spread if each <= rounds)),
    )


def _told(
    dataset: RankingDataset,
    evaluation: Evaluation,
    kinds: Sequence[GradedCascade],
    settings: Mapping[str, Setting],
    conventions: str,
    seeds: int,
) -> dict[str, str]:
    empty = {"zero": "count zero", "skip": "are left out"}[evaluation.empty]
    told = {
        "data": f"{dataset.label}: {dataset.n_queries:,} queries, {dataset.n_documents:,} documents, "
        f"{dataset.n_features} features ({dataset.normalization}), {dataset.n_grades} grades",
        "runs": f"{seeds} seeds in each of {len(dataset.folds)} folds, {evaluation.checkpoints[-1]:,} rounds",
        "conventions": f"those of {conventions}: NDCG@{evaluation.k}, {evaluation.gain} gain, {evaluation.ties} ties, "
        f"test queries without relevant documents {empty}, discount γ = {evaluation.gamma:g} of the online score",
    }
    for user in kinds:
        told[f"users {user.name}"] = f"click {_numbers(user.click)}, then stop {_numbers(user.stop)}, by grade"
    for name, chosen in settings.items():
        values = ", ".join(f"{key} {value}" for key, value in sorted(chosen.hyperparameters.items()))
        told[name] = f"{chosen.variant} of its paper, {values}"
    return told


def _numbers(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.3g}" for value in values)
