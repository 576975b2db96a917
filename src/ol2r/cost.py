"""Estimates of the time and memory of a computation, by which it is announced, cut into shards and fitted into memory.

Estimates are made before anything runs, from sizes alone: this module must not know what is computed.
"""

from collections.abc import Iterable
from typing import NamedTuple

LARGEST_BATCH = 512
"""The most replicas in one batch on the CPU; a larger batch is no faster and takes more memory."""

BATCH_BYTES = 3 << 30
"""The most bytes that the replicas of one batch may hold on the CPU."""

LAUNCH_SECONDS = 1.6e-5
"""Seconds from one GPU operation to the next that Python asks for, even for few numbers: with few replicas launches
take all the time. As measured on an H100; see the page "On a GPU"."""

REPLAY_SECONDS = 3.8e-6
"""Seconds from one operation to the next in a CUDA graph that is replayed, as measured likewise."""

BANDWIDTH = 2.95e12
"""Bytes that the memory of an H100 moves in a second, as measured by a copy."""

DEVICE_CORES = 50
"""How many CPU cores a GPU is worth where launches do not take all the time. Among round numbers this one, with
`REPLAY_SECONDS`, comes nearest to the seconds of the stored runs that were repeated on an H100."""


class Shape(NamedTuple):
    """The size of a ranking problem.

    Args:
        features: number of features.
        documents: mean number of documents of a query.
        labels: how many times as many labels a round gives as under users who click on relevant documents alone.
    """

    features: int
    documents: float
    labels: float = 1.0


class Cost(NamedTuple):
    """Rough estimate of the time and memory that some rows of results take.

    Args:
        seconds: time that grows with the number of rows, of one core on the CPU or of the whole device on CUDA.
        bytes: the device's memory, which grows with the number of rows.
        once: further seconds that a batch takes once, however many rows it computes side by side.
        alone: whether a row on the CPU had better be a batch of its own, because nothing is gained side by side.
    """

    seconds: float
    bytes: int = 0
    once: float = 0.0
    alone: bool = False

    @property
    def whole(self) -> float:
        """Total seconds if these rows are a batch of their own."""
        return self.once + self.seconds

    def of(self, n: int) -> "Cost":
        """Cost of n such rows computed side by side."""
        return Cost(n * self.seconds, n * self.bytes, n * self.once if self.alone else self.once, self.alone)


def together(costs: Iterable[Cost]) -> Cost:
    """Cost of several rows of one batch, computed side by side."""
    costs = list(costs)
    return Cost(
        sum(cost.seconds for cost in costs),
        sum(cost.bytes for cost in costs),
        max((cost.once for cost in costs), default=0.0),
        any(cost.alone for cost in costs),
    )


def in_turn(costs: Iterable[Cost]) -> Cost:
    """Cost of a row that does several things one after another and keeps the memory of all of them."""
    seconds, memory, once, alone = zip(*costs, strict=True)
    return Cost(sum(seconds), sum(memory), sum(once), any(alone))


def batch_size(replica: Cost, n_replicas: int, device: str) -> int:
    """How many of `n_replicas` go into one batch. On CUDA all do, since shards there are cut by available memory."""
    if device != "cpu":
        return n_replicas
    if replica.alone:
        return 1
    return max(1, min(LARGEST_BATCH, BATCH_BYTES // max(1, replica.bytes)))


def device_round_seconds(launches: float, moved: float, replicas: int, replayed: bool) -> float:
    """Seconds that a round of a batch takes on an H100 as predicted: each operation waits for the host or for memory.

    Args:
        launches: operations of a round.
        moved: bytes that they read and write for each replica, all operations together.
        replicas: R, of the batch.
        replayed: whether the round is replayed from a CUDA graph.
    """
    return max(launches * (REPLAY_SECONDS if replayed else LAUNCH_SECONDS), replicas * moved / BANDWIDTH)
