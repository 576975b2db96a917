"""Two runners on one store, killed at random points: what was stored is whole, and a third run finishes the rest."""

import os
import random
import signal
import tempfile
import time
from pathlib import Path

from faults import work
from faults.processes import answer, ended, forked
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
            by_operation, both = draw.random() < 0.5, left > 1 and draw.random() < 0.5
            doomed = [True, both]
            at = [draw.randint(1, operations) if by_operation and each else None for each in doomed]
            pids = [forked(lambda: work.compute(store), dies_at=each) for each in at]  # noqa: B023 - they run at once
            if not by_operation:
                time.sleep(draw.uniform(0, 2 * seconds))
                for pid, each in zip(pids, doomed, strict=True):
                    if each:
                        os.kill(pid, signal.SIGKILL)  # a child that has ended is still ours
            codes = [ended(pid) for pid in pids]
            killed = codes.count(-signal.SIGKILL)
            left -= killed
            before = work.whole_files(store)
            outcome, told = answer(lambda: work.after(store, before))  # noqa: B023
            if any(code not in (0, -signal.SIGKILL) for code in codes):
                outcome, told = "unclear", f"a runner ended with {codes}"
            for _ in range(killed):
                tally.add(outcome, told)
    return [tally]
