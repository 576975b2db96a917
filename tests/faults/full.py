"""Disks without room: a small tmpfs on which some random room is left, for the store, for the cache of data sets and in
the place of the shared memory of worker processes.

What was stored must be untouched, errors must have one line, and on a disk with room the work must go on. Where no
tmpfs may be mounted, files that cannot grow take its place, under a name that says so.
"""

import os
import random
import resource
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from faults import signals, work
from faults.disks import disturbed, limited
from faults.flips import same_dataset
from faults.processes import answer
from faults.tally import Tally, in_one_line

from ol2r.data.cache import cached
from ol2r.data.dataset import RankingDataset
from ol2r.data.own import from_arrays
from ol2r.experiments.store import Store

SIZE = 4 << 20
INODES = 400
"""Bytes and files that the small tmpfs can hold."""
STAND_IN = " (files cannot grow)"
"""What the name of a fault ends with where no tmpfs may be mounted."""


@contextmanager
def tmpfs(folder: Path) -> Iterator[str]:
    """Mount a small tmpfs on a folder; gives the reason if this is not possible, else an empty text."""
    options = f"size={SIZE},nr_inodes={INODES}"
    try:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True
        )
        refused = made.stderr.strip() if made.returncode else ""
    except OSError as error:
        refused = str(error)
    try:
        yield refused
    finally:
        if not refused:
            subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def little_room(disk: Path, pages: int | None, files: int | None) -> Iterator[None]:
    """Leave room for so many pages of memory, or for so many files, on a disk."""
    ballast = disk / "ballast"
    ballast.mkdir()
    there = os.statvfs(disk)
    try:
        if pages is not None:
            with (ballast / "pages").open("wb") as file:
                file.write(bytes(max(0, there.f_bavail - pages) * there.f_frsize))
        if files is not None:
            for number in range(max(0, there.f_favail - files)):
                (ballast / str(number)).touch()
        yield
    finally:
        for each in ballast.iterdir():
            each.unlink()
        ballast.rmdir()


def used(disk: Path, work_there: Callable[[], object]) -> tuple[int, int]:
    """How many pages and files some work takes on a disk."""
    before = os.statvfs(disk)
    work_there()
    after = os.statvfs(disk)
    return before.f_bavail - after.f_bavail, before.f_favail - after.f_favail


def full(n: int, seed: int) -> list[Tally]:
    """Disturb n runs and readers of data, every second time each, by a disk with little room."""
    work.warm()
    draw = random.Random(f"full {seed}")
    with tempfile.TemporaryDirectory() as folder, tmpfs(Path(folder)) as refused:
        disk = Path(folder)
        if refused:
            print(f"no tmpfs can be mounted ({refused}): files that cannot grow take its place", flush=True)
        tallies = [Tally(f"full: {what}{STAND_IN if refused else ''}", seed) for what in ("store", "cache")]
        taken = []
        for disturb in (_stored, _cached):
            with tempfile.TemporaryDirectory(dir=disk) as there:
                taken.append(used(disk, lambda: answer(lambda: disturb(Path(there), nullcontext()))))  # noqa: B023
        for number in range(n):
            which = number % 2
            room: list[int | None] = [None, None]
            limit = draw.randrange(2)
            share = (1, 4)[which]  # what a cache needs is in part there before
            room[limit] = draw.randint(0, max(1, taken[which][limit] // share))
            trouble = limited(draw.randint(0, 6000)) if refused else little_room(disk, *room)
            with tempfile.TemporaryDirectory(dir=disk) as there:
                tallies[which].add(*answer(lambda: (_stored, _cached)[which](Path(there), trouble)))  # noqa: B023
    return tallies


def _stored(folder: Path, trouble) -> list:
    return disturbed(Store(None, folder / "store"), trouble)


def data(seed: int) -> RankingDataset:
    """A small data set; its cache takes several files of several pages."""
    draw = np.random.default_rng(seed)
    query = np.repeat(np.arange(40), 20)
    return from_arrays(draw.random((len(query), 6)), draw.integers(0, 3, len(query)), query, name="small")


def _cached(folder: Path, trouble) -> list:
    """Disturb the making of a cache, or its making anew after the source has changed; the data must be right."""
    os.environ["OL2R_CACHE"] = str(folder / "cache")
    source = folder / "source.txt"
    first, second = data(1), data(2)

    def opened(right: RankingDataset) -> RankingDataset:
        return cached("toy", "1", {"source.txt": source}, lambda: right)

    source.write_text("first")
    opened(first)
    source.write_text("second")
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with trouble:
                found = opened(second)
            if not same_dataset(found, second):
                return ["wrong", "other data was read on the full disk"]
        except Exception as error:
            if not in_one_line(error):
                return ["unclear", repr(error)]
            told.append(str(error))
    told += [str(each.message) for each in caught]
    if any(len(each.splitlines()) != 1 for each in told):
        return ["unclear", told[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if not same_dataset(opened(second), second):
            return ["wrong", "other data was read with room again"]
    left = [each.name for each in (folder / "cache" / "toy").iterdir() if each.is_dir()]
    if left:
        return ["lost", f"{left} takes room and is never used"]
    return ["detected", told[0]] if told else ["harmless", ""]


def shared_memory(n: int, seed: int) -> list[Tally]:
    """Run n commands whose worker processes have little shared memory, and then once more with enough."""
    work.warm()
    draw = random.Random(f"shared memory {seed}")
    mount = "mount -t tmpfs -o size=$0,nr_inodes=$1 tmpfs /dev/shm && shift && exec \"$@\""
    private = ["unshare", "--mount", "--propagation", "private"]
    try:
        tried = subprocess.run([*private, "sh", "-c", mount, "4096", "2", "true"], capture_output=True, text=True)
        refused = tried.stderr.strip() if tried.returncode else ""
    except OSError as error:
        refused = str(error)
    if refused:
        print(f"/dev/shm cannot be replaced ({refused}): files that cannot grow take its place", flush=True)
    tally = Tally(f"full: shared memory{STAND_IN if refused else ''}", seed)
    for number in range(n):
        pages, files, size = draw.randint(1, 60), draw.randint(2, 60), draw.randint(0, 6000)
        if number % 2:
            pages = 1000
        else:
            files = INODES
        before = [] if refused else [*private, "sh", "-c", mount, str(4096 * pages), str(files)]
        with tempfile.TemporaryDirectory() as folder:
            tally.add(*_with_little_shared_memory(Path(folder), before, size if refused else None))
    return [tally]


def _with_little_shared_memory(folder: Path, before: list[str], size: int | None) -> tuple[str, str]:
    """The outcome of a command with little shared memory, or with files that cannot grow beyond a size."""

    def heed() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    options = ("--jobs", "2")
    shared = {"JOBLIB_TEMP_FOLDER": "/dev/shm"} if before else {}
    store = Store(None, folder / "store")
    process = signals.command(folder, *options, before=before, heed=heed, SMALLEST_SHARED="1", **shared)
    _, err = process.communicate()
    told = [line for line in err.splitlines() if line.startswith("ol2r: ")]  # joblib adds warnings of its own
    if process.returncode not in (0, 1, 2) or "Traceback" in err or len(told) != (process.returncode > 0):
        return "unclear", f"{process.returncode}: {err[-1000:]}"
    stored = work.whole_files(store)
    again = signals.command(folder, *options)
    _, err = again.communicate()
    if again.returncode:
        return "lost", f"run again, it ended with {again.returncode}: {err[-400:]}"
    outcome, why = answer(lambda: work.after(store, stored, again=False))
    return ("detected" if process.returncode and outcome == "harmless" else outcome), why
