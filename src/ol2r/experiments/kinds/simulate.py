"""The `simulate` kind of cell: one learner with one setting of its hyper-parameters, meeting one kind of user.

This module connects a declaration with data, users, learner and simulation loop; which cells a paper needs is declared
elsewhere.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
import pandas as pd
import torch
from numba import get_num_threads, set_num_threads

from ol2r import data
from ol2r.clicks import GradedUser
from ol2r.cost import Cost, batch_size, in_turn
from ol2r.experiments.cells import Cell, Context, Job, Kept, Level, Row
from ol2r.experiments.kinds.on_dataset import OnDataset, compiling, fitted_weights, labels_of
from ol2r.learners import LEARNERS, Learner
from ol2r.parameters import Value
from ol2r.random import Streams
from ol2r.ranking import engine as hot_operations
from ol2r.simulation import Evaluation, Replica, make_streams, simulate


@dataclass(frozen=True)
class Simulate(OnDataset):
    """One learner, one setting, one kind of user, one data set.

    Args:
        dataset: name in the catalogue; checksum: of its content (`data.checksum`), so that other data gets another key.
        learner: name in `LEARNERS`; revision: of its trajectories.
        hyperparameters: all hyper-parameters, as (name, value) pairs in the order of their names.
        evaluation: the conventions of the measurement, and the number of rounds.
        features: `"all"`, or `"varying"` to drop those constant over a fold's training documents, as public code does.
        reference: a fit with whose weights w* the learner's weights are compared, or None.
    """

    learner: str
    revision: int
    hyperparameters: tuple[tuple[str, Value], ...]
    users: GradedUser
    evaluation: Evaluation
    features: str = "all"
    reference: Cell | None = None

    kind: ClassVar[str] = "simulate"
    on_device = True
    undefined: ClassVar[tuple[str, ...]] = ("cosine", "online_ndcg")
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.networks",
        "ol2r.theory.confidence",
        "ol2r.data",
        "ol2r.clicks",
        "ol2r.rankers",
        "ol2r.learners",
        "ol2r.replay",
        "ol2r.simulation",
        "ol2r.experiments.kinds.simulate",
    )

    def __post_init__(self):
        self.family.check(dict(self.hyperparameters))
        if self.features not in ("all", "varying"):
            raise ValueError(f'features must be "all" or "varying", not {self.features!r}')

    @property
    def family(self) -> type[Learner]:
        """The class of the learner."""
        return LEARNERS[self.learner]

    def ranking_data(self) -> data.RankingDataset:
        """The data set that the cell names."""
        return data.load(self.dataset, self.checksum)

    def batch(
        self,
        dataset: data.RankingDataset,
        settings: Sequence[Mapping[str, Value]],
        streams: Streams,
        engine: str | None,
    ) -> Learner:
        """Fresh replicas of the learner, one for each of these settings."""
        return self.family.batch(dataset.n_features, settings, streams, engine)

    @classmethod
    def begin(
        cls, learner: Learner, replicas: "Sequence[tuple[Simulate, Row]]", inputs: Mapping[Cell, pd.DataFrame]
    ) -> None:
        """Prepare a batch's fresh learner; here it begins from its own start.

        Args:
            replicas: the cell, of this class, and the row of each replica.
            inputs: the tables of all cells that these need.
        """

    @property
    def exact(self) -> tuple[str, ...]:
        """The columns that the rounds themselves record."""
        return ("cndcg", "online_ndcg", "misordered", "status", *self.family.exact_diagnostics)

    @property
    def repeats(self) -> Level:
        """How exactly the learner repeats its trajectories."""
        return self.family.repeats

    @property
    def group(self) -> Hashable:
        """Replicas of one batch share everything but numeric hyper-parameters and their users' probabilities."""
        structural = tuple(p for p in self.hyperparameters if p[0] in self.family.structural)
        shared = (self.dataset, self.checksum, self.learner, structural, self.features, self.reference)
        return (*shared, self.evaluation, self.users.stop_rule)

    def labels(self) -> dict[str, str | float | int]:
        """Data set, users, learner, every hyper-parameter, and the conventions that the screen varies."""
        named = {"dataset": self.dataset, "users": self.users.name, "learner": self.learner}
        conventions = {"stop_rule": self.users.stop_rule, "features": self.features}
        conventions |= {name: getattr(self.evaluation, name) for name in ("gain", "empty", "ties")}
        return named | conventions | dict(self.hyperparameters)

    def needs(self, rows: Sequence[Row]) -> tuple[Job, ...]:
        """The reference of each fold, fitted once (seed 0)."""
        if self.reference is None:
            return ()
        return (Job(self.reference, tuple(Row(fold, 0) for fold in sorted({row.fold for row in rows}))),)

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The learner's own estimate at the data set's mean list length, and the cost of the scores."""
        rounds, size = self.evaluation.checkpoints[-1], self.size
        shape = size.shape._replace(labels=labels_of(self.users.click[0]))
        learning = self.family.cost(dict(self.hyperparameters), shape, rounds, device)
        one = in_turn([learning, size.measured(len(self.evaluation.checkpoints), device)])
        n_batches = len({row.fold for row in rows}) if self.features == "varying" else 1
        return one._replace(once=n_batches * one.once).of(len(rows))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling what the learner needs of the engine."""
        return compiling(self.learner, device)

    @classmethod
    def run_group(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        """Run all rows of all jobs as replicas side by side, one batch at a time; goes on from a state.

        The state is that of the simulation with the number of its batch; its lines are those of all batches so far.
        """
        first = cast(Simulate, jobs[0].cell)
        with _threads(context.engine, alone=context.device == "cpu" and not first.family.side_by_side):
            return first._run_jobs(jobs, context)

    @classmethod
    def _run_jobs(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        first = cast(Simulate, jobs[0].cell)
        dataset = first.ranking_data()
        replicas = [(number, job.cell, row) for number, job in enumerate(jobs) for row in job.rows]
        most = batch_size(first.cost([replicas[0][2]], context.device), len(replicas), context.device)
        tables = [] if context.kept is None else _filled([context.kept.recorded])
        begun = 0 if context.kept is None else int(context.kept.state["batch"])
        done = 0
        for number, part in enumerate(_batches(replicas, dataset, most, by_fold=first.features == "varying")):
            share = done / len(replicas), len(part) / len(replicas)
            if number >= begun:
                own = _of_batch(context, number, context.kept if number == begun else None, tables, share)
                tables.append(_run(dataset, part, own))
            done += len(part)
        whole = pd.concat(tables, ignore_index=True).sort_values(["fold", "seed", "round"], kind="stable")
        by_job = dict(list(whole.drop(columns="replica").groupby("job")))
        return [by_job[number].drop(columns="job").reset_index(drop=True) for number in range(len(jobs))]


@contextmanager
def _threads(engine: str, *, alone: bool) -> Iterator[None]:
    """Run the engine's operations on as many threads as torch has, or on one: networks that run alone take twice the
    time of cores on two threads and are hardly sooner done."""
    several, loops = torch.get_num_threads(), get_num_threads()
    torch.set_num_threads(1 if alone else several)
    try:
        hot_operations(engine).use_threads(torch.get_num_threads())
        yield
    finally:
        torch.set_num_threads(several)
        set_num_threads(loops)


def _batches(replicas: list, dataset: data.RankingDataset, most: int, by_fold: bool):
    """Cut replicas into batches of a limited size; a batch has a single fold when folds have different features."""
    folds = [[entry for entry in replicas if entry[2].fold == f] for f in range(1, len(dataset.folds) + 1)]
    for part in folds if by_fold else [replicas]:
        for start in range(0, len(part), most):
            yield part[start : start + most]


def _filled(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    return [table for table in tables if len(table)]  # an empty one has no columns either


def _of_batch(
    context: Context, number: int, kept: Kept | None, tables: Sequence[pd.DataFrame], share: tuple[float, float]
) -> Context:
    """The context of one batch: its progress counts for a share of the whole, after what is done, and its state is kept
    with its number and the lines before it."""
    done, of_whole = share

    def follow(fraction: float) -> None:
        context.progress(done + fraction * of_whole)

    def keep(own: Kept) -> None:
        lines = _filled([*tables, own.recorded])
        recorded = pd.concat(lines, ignore_index=True) if lines else own.recorded
        context.keep(Kept({**own.state, "batch": np.array(number)}, recorded))

    return replace(context, progress=follow, keep=keep, kept=kept)


def _run(dataset: data.RankingDataset, part: list, context: Context) -> pd.DataFrame:
    cells = [cell for _, cell, _ in part]
    replicas = [Replica(row.fold, row.seed, cell.users) for _, cell, row in part]
    job = np.array([number for number, _, _ in part])
    first = cells[0]
    if first.features == "varying":
        dataset = data.drop_constant_features(dataset, replicas[0].fold)
    settings = [dict(cell.hyperparameters) for cell in cells]
    learner = first.batch(dataset, settings, make_streams(dataset, replicas, context.device), context.engine)
    first.begin(learner, [(cell, row) for _, cell, row in part], context.inputs)

    def lines(table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(job=job[table["replica"]]) if len(table) else table

    def keep(state: Mapping[str, torch.Tensor], recorded: pd.DataFrame) -> None:
        context.keep(Kept({name: values.numpy() for name, values in state.items()}, lines(recorded)))

    kept = context.kept
    table = simulate(
        dataset,
        replicas,
        learner,
        first.evaluation,
        reference=_references(first, replicas, context.inputs),
        keep=keep,
        keep_after=lambda round_: context.due(),
        resume=None if kept is None else {name: torch.from_numpy(values) for name, values in kept.state.items()},
        graph=True,
        progress=context.progress,
    )
    return lines(table)


def _references(cell: Simulate, replicas: Sequence[Replica], inputs: Mapping[Cell, pd.DataFrame]) -> np.ndarray | None:
    """w* of each replica's fold: Float64[R, features]."""
    if cell.reference is None:
        return None
    weights = fitted_weights(inputs[cell.reference])
    return np.stack([weights[replica.fold] for replica in replicas])
