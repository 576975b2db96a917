"""The memory that a learner keeps between rounds: cells of kind "footprint".

What a learner keeps is what a run needs to go on after it was stopped. Working memory within a round is not counted. A
second run keeps the same number of bytes, but for networks whose history may differ in what users clicked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from ol2r import data
from ol2r.clicks import GradedCascade
from ol2r.cost import Cost, in_turn
from ol2r.experiments.cells import Level, OneByOne, Row
from ol2r.experiments.kinds.on_dataset import OnDataset
from ol2r.experiments.kinds.timing import Timing
from ol2r.learners import LEARNERS
from ol2r.parameters import Value
from ol2r.simulation import Evaluation, Replica, make_streams, simulate


@dataclass(frozen=True)
class Footprint(OnDataset, OneByOne):
    """Bytes that one replica of a learner keeps after some rounds.

    Its table has one line: `round` and `kept`, the bytes of the learner's state.

    Args:
        dataset: name in the catalogue; checksum: of its content (`data.checksum`).
        learner: name in `LEARNERS`; revision: of its trajectories; hyperparameters: all, in the order of their names.
        rounds: after how many rounds.
    """

    learner: str
    revision: int
    hyperparameters: tuple[tuple[str, Value], ...]
    users: GradedCascade
    rounds: int

    kind: ClassVar[str] = "footprint"
    seeded = False
    code: ClassVar[tuple[str, ...]] = (*Timing.code[:-1], "ol2r.papers.comparison.footprint")

    def __post_init__(self):
        LEARNERS[self.learner].check(dict(self.hyperparameters))

    @property
    def folds(self) -> tuple[int, ...]:
        """The first fold only, as where times are taken."""
        return (1,)

    @property
    def repeats(self) -> Level:
        """How exactly the learner repeats its trajectories, on which the number of kept pairs depends."""
        return LEARNERS[self.learner].repeats

    def labels(self) -> dict[str, str | float | int]:
        """Data set, users, learner, hyper-parameters."""
        named = {"dataset": self.dataset, "users": self.users.name, "learner": self.learner}
        return named | dict(self.hyperparameters)

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The learner's own estimate, and the cost of one scoring."""
        size = self.size
        learning = LEARNERS[self.learner].cost(dict(self.hyperparameters), size.shape, self.rounds, device)
        return in_turn([learning, size.measured(1, device)]).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """One line for each row."""
        return pd.DataFrame([self._line(row) for row in rows])

    def _line(self, row: Row) -> dict[str, int]:
        dataset = data.load(self.dataset, self.checksum)
        replicas = [Replica(row.fold, row.seed, self.users)]
        streams = make_streams(dataset, replicas)
        learner = LEARNERS[self.learner].batch(dataset.n_features, [dict(self.hyperparameters)], streams, None)
        evaluation = Evaluation(
            k=10, split="test", gain="exponential", empty="zero", ties="expected", gamma=1.0, checkpoints=(self.rounds,)
        )
        simulate(dataset, replicas, learner, evaluation)
        kept = sum(each.numel() * each.element_size() for each in learner.state_dict().values())
        return {"fold": row.fold, "seed": row.seed, "round": self.rounds, "kept": kept}
