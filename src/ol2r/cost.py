"""What a computation is expected to take, so that it can be announced, cut into shards and fitted into memory.

Estimates are made before anything runs, from sizes alone: this module must not know what is computed.
"""

from collections.abc import Iterable
from typing import NamedTuple

LARGEST_BATCH = 512
"""Replicas side by side on the CPU; beyond this a batch gains nothing and takes memory."""

BATCH_BYTES = 3 << 30
"""What the replicas of a batch may remember on the CPU."""

LAUNCH_SECONDS = 1e-5
"""From one operation on a GPU to the next, however few numbers it works on: what a round of a few replicas takes."""

DEVICE_CORES = 50
"""How many of the CPU's cores a GPU with many replicas stands for: nobody has measured it, the launches dominate."""


class Shape(NamedTuple):
    """What a learner ranks: the width of a document's features, and the documents of a query in the mean."""

    features: int
    documents: float


class Cost(NamedTuple):
    """What some rows are expected to take, roughly.

    Args:
        seconds: that grow with the rows: of one core on the CPU, of the whole device on CUDA.
        bytes: of the device's memory, which grow with the rows.
        once: seconds besides that all rows of a batch share, however many stand side by side.
    """

    seconds: float
    bytes: int = 0
    once: float = 0.0

    @property
    def whole(self) -> float:
        """Seconds of the rows as a batch of their own."""
        return self.once + self.seconds

    def of(self, n: int) -> "Cost":
        """What n such rows take side by side."""
        return Cost(n * self.seconds, n * self.bytes, self.once)


def together(costs: Iterable[Cost]) -> Cost:
    """What rows of one group take side by side."""
    costs = list(costs)
    return Cost(
        sum(cost.seconds for cost in costs),
        sum(cost.bytes for cost in costs),
        max((cost.once for cost in costs), default=0.0),
    )


def in_turn(costs: Iterable[Cost]) -> Cost:
    """What a row takes that does one thing after another and keeps what it has."""
    return Cost(*(sum(column) for column in zip(*costs, strict=True)))


def batch_size(replica: Cost, n_replicas: int, device: str) -> int:
    """How many of so many replicas a batch takes: on CUDA all, since shards are cut there by what memory holds."""
    if device != "cpu":
        return n_replicas
    return max(1, min(LARGEST_BATCH, BATCH_BYTES // max(1, replica.bytes)))
