"""Disks that are full, read-only or broken: an error at any file operation, and files that may not grow any further.

Nothing stored before may change, the error must be one line, and the work must go on once the disk is well again.
"""

import errno
import os
import random
import resource
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from unittest import mock

from faults import work
from faults.processes import answer
from faults.tally import Tally, in_one_line

from ol2r.experiments.store import Store

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
CHANGES = ("mkdir", "open", "fsync", "chmod", "link", "rename", "replace", "unlink")
"""Functions of `os` through which every change of a file goes, but for writing into an open one."""


@contextmanager
def failing(at: int, code: int, forever: bool) -> Iterator[list[str]]:
    """Let the file operation of this number fail, or also all after it; gives the operations that were asked for."""
    asked: list[str] = []

    def wrapped(name: str, really):
        def operation(*arguments, **options):
            writes = name != "open" or arguments[1] & (os.O_WRONLY | os.O_RDWR)
            if writes:
                asked.append(name)
                if len(asked) == at or (forever and len(asked) > at):
                    raise OSError(code, os.strerror(code), str(arguments[0]))
            return really(*arguments, **options)

        return operation

    with mock.patch.multiple(os, **{name: wrapped(name, getattr(os, name)) for name in CHANGES}):
        yield asked


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def disturbed(store: Store, trouble: AbstractContextManager[object]) -> list:
    """The outcome of a run during some trouble, and what to tell of it."""
    first, *rest = work.jobs()
    work.compute(store, [first])
    before = work.whole_files(store)
    error = None
    try:
        with trouble:
            work.compute(store, rest)
    except Exception as found:
        error = found
    outcome, told = work.after(store, before)
    if outcome not in ("harmless", "detected"):
        return [outcome, told]
    if error is None:
        return ["harmless", ""]
    return ["detected" if in_one_line(error) else "unclear", repr(error)]


def disks(n: int, seed: int) -> list[Tally]:
    """Disturb n runs, a third each by one failing operation, by a disk on which from some operation on nothing can be
    written, and by files that may not grow."""
    work.warm()
    tallies = [Tally(f"disk: {what}", seed) for what in ("an operation fails", "read-only", "files cannot grow")]
    draw = random.Random(f"disks {seed}")
    for number in range(n):
        tally = tallies[number % 3]
        with tempfile.TemporaryDirectory() as folder:
            store = Store(None, Path(folder, "store"))
            at, size, code = draw.randint(1, 60), draw.randint(0, 6000), draw.choice(FULL)
            trouble = (failing(at, code, False), failing(at, errno.EROFS, True), limited(size))[number % 3]
            tally.add(*answer(lambda: disturbed(store, trouble)))  # noqa: B023 - it runs at once
    return tallies
