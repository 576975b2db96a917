"""Rounds that a device records once and then replays, so that the host asks for one thing instead of hundreds.

On CUDA a recording is a CUDA graph. It asks for the same operations on the same memory again; nothing that Python
decided while it was made is decided again. So a round can be replayed as long as its operations and shapes stay the
same, and what moves on from round to round must stand in memory: the learner's state, and the place of the round's
random numbers and queries in what was drawn ahead.
"""

from collections.abc import Callable, Hashable
from typing import Protocol

import torch

from ol2r.learners import Learner

_EAGER_ROUNDS = 2
"""Rounds of a form that run as they are asked for before one is recorded: whatever is made at first use exists then."""


class Recording(Protocol):
    """One round as a device keeps it."""

    def record(self, body: Callable[[], None]) -> None:
        """Run the body once, and keep what it asked of the device."""
        ...

    def replay(self) -> None:
        """Do on the device what the body asked for."""
        ...


class CudaGraph:
    """A recording on CUDA. While it is made, CUDA only takes notes, so that the first replay is the body's own run."""

    def __init__(self):
        self._graph = torch.cuda.CUDAGraph()

    def record(self, body: Callable[[], None]) -> None:
        with torch.cuda.graph(self._graph):
            body()
        self._graph.replay()

    def replay(self) -> None:
        self._graph.replay()


RECORDINGS: dict[str, type[Recording]] = {"cuda": CudaGraph}
"""How a type of device records; on others, rounds run as they are asked for."""


class ReplayedRounds:
    """Runs the rounds of a learner: eagerly at first, and by replay while their form stays the same (`Learner.form`).

    Args:
        body: runs the round of this number, from its queries to the learner's update, without a value read by the host.
        seek: makes ready on the device what the round of this number will draw.
        learner: its state is kept where the recording finds it.

    Attributes:
        recorded, replayed: how many rounds were recorded and how many replayed.
    """

    def __init__(self, body: Callable[[int], None], seek: Callable[[int], None], learner: Learner):
        self._body, self._seek, self._learner = body, seek, learner
        self._recording: Recording | None = None
        self._form: Hashable = None
        self._eager = 0  # rounds of this form so far
        self.recorded = self.replayed = 0

    def run(self, round_: int) -> None:
        """Run one round; rounds are run in order."""
        make = RECORDINGS.get(self._learner.device.type)
        if make is None:
            self._body(round_)
            return
        form = self._learner.form()
        if form != self._form:
            self._form, self._recording, self._eager = form, None, 0
        if self._recording is not None:
            self._seek(round_)
            self._recording.replay()
            self._learner.count_round()
            self.replayed += 1
        elif self._eager < _EAGER_ROUNDS:
            self._body(round_)
            self._eager += 1
        else:
            self._seek(round_)
            self._recording = make()
            self._recording.record(lambda: self._in_place(round_))
            self.recorded += 1

    def _in_place(self, round_: int) -> None:
        """Run a round, and write the learner's new state where its old state stood."""
        before = [(owner, name, owner[name]) for owner, name in self._learner.state_places()]
        self._body(round_)
        for owner, name, old in before:
            if owner[name] is not old:
                old.copy_(owner[name])
                owner[name] = old
