"""Processes that die at a point of their own choosing, without the seconds that starting Python takes.

They are forks of this one, which must not have read or written a table itself: the threads that do so are not forked,
and whatever waits for them would wait forever.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable

TOUCHES = ("open", "os.", "shutil.", "tempfile.")
"""Audit events of Python that touch files begin so."""


LONGEST = 120
"""Seconds after which a process that still runs is ended by an alarm: something waits forever in it."""


def forked(work: Callable[[], object], *, dies_at: int | None = None, counted: int | None = None) -> int:
    """Run work in a process of its own; its exit code is 0, or what the work returns if that is a number, or 3 if it
    raises.

    Args:
        work: what to do.
        dies_at: the process kills itself just before its file operation of this number.
        counted: a pipe to which the process writes how many file operations it made.

    Returns:
        The process's number.
    """
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    code = 3
    try:
        signal.alarm(LONGEST)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        n = 0

        def touch(event: str, _: object) -> None:
            nonlocal n
            if event.startswith(TOUCHES):
                n += 1
                if n == dies_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(touch)
        found = work()
        code = found if isinstance(found, int) and not isinstance(found, bool) else 0
        if counted is not None:
            os.write(counted, str(n).encode())
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    """How a process ended: its exit code, or the number of the signal that killed it, below zero."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def two_killed(
    work: Callable[[], object], draw: random.Random, most: int, operations: int, seconds: float
) -> list[int]:
    """Run work in two processes at once and kill one of them, or half of the times both; how they ended.

    Args:
        most: how many may be killed.
        operations, seconds: file operations that undisturbed work makes, before one of which a process dies half of the
            times, and seconds that it takes, at a moment of twice which it is killed otherwise.
    """
    by_operation, both = draw.random() < 0.5, most > 1 and draw.random() < 0.5
    doomed = [True, both]
    at = [draw.randint(1, operations) if by_operation and each else None for each in doomed]
    pids = [forked(work, dies_at=each) for each in at]
    if not by_operation:
        time.sleep(draw.uniform(0, 2 * seconds))
        for pid, each in zip(pids, doomed, strict=True):
            if each:
                os.kill(pid, signal.SIGKILL)  # a child that has ended is still ours
    return [ended(pid) for pid in pids]


def answer(work: Callable[[], object]) -> list:
    """What work returns in a process of its own: a list that JSON can hold, or one with an outcome where it fails."""
    read, write = os.pipe()
    pid = forked(lambda: os.write(write, json.dumps(work()).encode()) and 0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    code = ended(pid)
    return json.loads(text) if text else ["unclear", f"the process that looks at the store ended with {code}"]
