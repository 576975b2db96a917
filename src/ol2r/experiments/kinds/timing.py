"""The `timing` kind of cell: the time that a learner's rounds take as learning goes on, on the machine that ran it.

The numbers are shown with machine and date, and no second run repeats them. This module knows no paper.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import pandas as pd
import torch

from ol2r import data
from ol2r.clicks import GradedCascade
from ol2r.cost import Cost, in_turn
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds.on_dataset import OnDataset, compiling, labels_of
from ol2r.learners import LEARNERS
from ol2r.parameters import Value
from ol2r.ranking import engine as hot_operations
from ol2r.simulation import Evaluation, Replica, make_streams, simulate

_WARM_UP = 30  # rounds of a first batch that is thrown away: some code compiles after the first clicks alone


@dataclass(frozen=True)
class Timing(OnDataset):
    """Seconds that a batch of replicas spends in ranking and in learning, summed over rounds.

    Its table has a line for each checkpoint: `replicas`, `rank_seconds` and `update_seconds` (wall time of the whole
    batch up to the round), and the mean over replicas of each of the learner's diagnostics.

    Args:
        dataset: name in the catalogue; checksum: of its content (`data.checksum`).
        learner: name in `LEARNERS`; revision: of its trajectories; hyperparameters: all, in the order of their names.
        replicas: number of replicas side by side, with seeds from 0.
        checkpoints: rounds, ascending.
    """

    learner: str
    revision: int
    hyperparameters: tuple[tuple[str, Value], ...]
    users: GradedCascade
    replicas: int
    checkpoints: tuple[int, ...]

    kind: ClassVar[str] = "timing"
    on_device = True
    seeded = False  # the batch has its own seeds
    verifiable: ClassVar[bool] = False
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
        "ol2r.experiments.kinds.timing",
    )

    def __post_init__(self):
        LEARNERS[self.learner].check(dict(self.hyperparameters))
        if self.replicas < 1:
            raise ValueError(f"replicas must be at least 1, not {self.replicas}")

    @property
    def folds(self) -> tuple[int, ...]:
        """The first fold only: the cost of a round does not depend on the fold."""
        return (1,)

    def labels(self) -> dict[str, str | float | int]:
        """Data set, users, learner, hyper-parameters, batch."""
        named = {"dataset": self.dataset, "users": self.users.name, "learner": self.learner}
        return named | {"batch": self.replicas} | dict(self.hyperparameters)

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The learner's own estimate, and the cost of the scores."""
        setting, rounds, size = dict(self.hyperparameters), self.checkpoints[-1], self.size
        shape = size.shape._replace(labels=labels_of(self.users.click[0]))
        learning = LEARNERS[self.learner].cost(setting, shape, rounds, device)
        batch = in_turn([learning, size.measured(len(self.checkpoints), device)]).of(self.replicas)
        return Cost(len(rows) * batch.whole, batch.bytes)

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling what the learner needs of the engine."""
        return compiling(self.learner, device)

    @classmethod
    def run_group(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        """Run one batch after another, each alone."""
        hot_operations(context.engine).use_threads(torch.get_num_threads())
        tables = []
        for job in jobs:
            cell = cast(Timing, job.cell)
            cell._run(_WARM_UP, replace(context, progress=lambda fraction: None))
            lines = [cell._run(cell.checkpoints[-1], context).assign(fold=r.fold, seed=r.seed) for r in job.rows]
            tables.append(pd.concat(lines, ignore_index=True))
        return tables

    def _run(self, rounds: int, context: Context) -> pd.DataFrame:
        dataset = data.load(self.dataset, self.checksum)
        replicas = [Replica(1, seed, self.users) for seed in range(self.replicas)]
        streams = make_streams(dataset, replicas, context.device)
        learner = LEARNERS[self.learner](dataset.n_features, dict(self.hyperparameters), streams, context.engine)
        evaluation = Evaluation(
            k=10,
            split="test",
            gain="exponential",
            empty="zero",
            ties="expected",
            gamma=1.0,
            checkpoints=tuple(t for t in self.checkpoints if t <= rounds) or (rounds,),
        )
        stopwatch = _Stopwatch(learner.device)
        table = simulate(dataset, replicas, learner, evaluation, clock=stopwatch, progress=context.progress)
        shown = table.drop(
            columns=["replica", "fold", "seed", "status", "ndcg", "cndcg", "online_ndcg", "misordered", "cosine"]
        )
        means: pd.DataFrame = shown.groupby("round", as_index=False).mean()
        means.insert(0, "seed", 0)
        means.insert(0, "fold", 1)
        return means.assign(replicas=self.replicas)


class _Stopwatch:
    """Measures the seconds spent in each act (ranking, updating), with those of a device."""

    def __init__(self, device: torch.device):
        self.device = device
        self.spent = {"rank": 0.0, "update": 0.0}

    def timed(self, act: str, call: Callable) -> Callable:
        def measured(*arguments):
            start = self._now()
            result = call(*arguments)
            self.spent[act] += self._now() - start
            return result

        return measured

    def read(self) -> dict[str, float]:
        return {f"{act}_seconds": seconds for act, seconds in self.spent.items()}

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()
