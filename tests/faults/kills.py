"""Two runners on one store, killed at random points: what was stored is whole, and a third run finishes the rest."""

import os
import random
import signal
import tempfile
import time
from pathlib import Path

from faults import work
from faults.processes import answer, ended, forked, two_killed
from faults.tally import Tally

from ol2r.experiments.store import Store


def file_operations() -> tuple[int, float]:
    """How many file operations an undisturbed run makes, and how many seconds it takes."""
    with tempfile.TemporaryDirectory() as folder:
        read, write = os.pipe()
        start = time.perf_counter()
        code = ended(forked(lambda: work.compute(Store(None, Path(folder))), counted=write))
        seconds = time.perf_counter() - start
        os.close(write)
        with os.fdopen(read) as pipe:
            n = pipe.read()
    assert code == 0
    return int(n), seconds


def kills(n: int, seed: int) -> list[Tally]:
    """Kill runners n times: every second time before a file operation drawn at random, else at a random moment.

    Two runners work on one store. Half of the times both are killed, else one; the other must end well.
    """
    work.warm()
    tally, draw = Tally("kills", seed), random.Random(f"kills {seed}")
    operations, seconds = file_operations()
    left = n
    while left > 0:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(None, Path(folder, "store"))
            codes = two_killed(lambda: work.compute(store), draw, left, operations, seconds)  # noqa: B023 - they run at once
            killed = codes.count(-signal.SIGKILL)
            left -= killed
            before = work.whole_files(store)
            outcome, told = answer(lambda: work.after(store, before))  # noqa: B023
            if any(code not in (0, -signal.SIGKILL) for code in codes):
                outcome, told = "unclear", f"a runner ended with {codes}"
            for _ in range(killed):
                tally.add(outcome, told)
    return [tally]
