"""Publishers that are killed, work two at once or meet a bad disk, and bits flipped in what was published.

Who reads `results/` must find all of it as it was before or all of it as it is after, and must write nothing there.
Published once more, it must have the bytes that an undisturbed publisher gives.
"""

import os
import random
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from fakes import Fake
from faults import work
from faults.disks import FULL, failing, limited
from faults.flips import flipped
from faults.full import STAND_IN, little_room, tmpfs, used
from faults.processes import answer, ended, forked, two_killed
from faults.tally import Tally, in_one_line

from ol2r.experiments.blocks import StoreWarning
from ol2r.experiments.cells import Job
from ol2r.experiments.publication import SUMS, publish
from ol2r.experiments.store import Store
from ol2r.experiments.verify import inspect

GONE, *KEPT = (Fake(name=f"before{i}", data=f"set-{i}", offset=1000.0 * i, n_folds=2) for i in range(3))
NEW = tuple(Fake(name=f"after{i}", data=f"set-{i}", offset=500.0 * i, n_folds=2) for i in range(2, 4))
"""`GONE` is no longer declared when `NEW` is published: one table is dropped, one stays, one grows, one is new."""
TUNING = frozenset(cell.key for cell in (GONE, *KEPT, NEW[0]))
"""They have a table for each data set; the other new one has that of its kind."""
LARGEST = 20_000
"""Bytes beyond which no file of theirs grows."""
TOLD = 9
"""Exit code of a publisher that told in one line why it ended."""

Standing = dict[str, list[float] | None]


def jobs(*cells: Fake) -> list[Job]:
    """Ten rows of each cell."""
    return [Job(cell, cell.rows(None, range(5))) for cell in cells]


BEFORE, AFTER = jobs(GONE, *KEPT), jobs(*KEPT, *NEW)


def store_of(folder: Path) -> Store:
    return Store(folder / "results", folder / "store")


def standing(folder: Path) -> Standing:
    """By key, the values that a reader of `results/` finds; a warning is an error."""
    store = Store(folder / "results", folder / "nowhere")
    with warnings.catch_warnings():
        warnings.simplefilter("error", StoreWarning)
        found = {cell.key: store.read(cell, rows).frame for cell, rows in {*BEFORE, *AFTER}}
    return {key: None if frame is None else frame["value"].tolist() for key, frame in found.items()}


def expected(declared: list[Job]) -> Standing:
    """What a reader must find when these jobs are published, worked out without the store."""
    return dict.fromkeys(job.cell.key for job in (*BEFORE, *AFTER)) | {
        cell.key: work.values(cell, rows) for cell, rows in declared
    }


def content(folder: Path) -> dict[str, bytes]:
    """Every file of `results/`, by its path there."""
    results = folder / "results"
    return {str(path.relative_to(results)): path.read_bytes() for path in results.rglob("*") if path.is_file()}


def _write(store: Store, *cells: Fake) -> None:
    for cell, rows in jobs(*cells):
        store.write(cell, rows, work.table(cell, rows), work.record(cell, rows))


def _first(folder: Path) -> None:
    """Publish what is there before, and leave what is new in the scratch folder."""
    (folder / "results").mkdir(parents=True)
    store = store_of(folder)
    _write(store, GONE, *KEPT)
    publish(store, BEFORE, TUNING, work.any_code)
    shutil.rmtree(store.scratch)
    _write(store, *NEW)


def _publish(folder: Path) -> int:
    """Publish what is new; an error in one line is told by the exit code."""
    try:
        publish(store_of(folder), AFTER, TUNING, work.any_code, drop=True)
    except Exception as error:
        if in_one_line(error):
            return TOLD
        raise
    return 0


@contextmanager
def prepared() -> Iterator[tuple[Path, dict[str, bytes]]]:
    """A folder to copy in which nothing new is published yet, and the files of `results/` when it is."""
    work.warm()
    with tempfile.TemporaryDirectory() as there:
        before, after = Path(there, "before"), Path(there, "after")
        assert ended(forked(lambda: _first(before))) == 0
        shutil.copytree(before, after)
        assert ended(forked(lambda: _publish(after))) == 0
        yield before, content(after)


def after(folder: Path, right: dict[str, bytes]) -> tuple[str, str]:
    """The outcome of a disturbed publisher: all or nothing is there to read, and published again all is as it must be.

    Args:
        folder: where it published.
        right: the files of `results/` when all is published.
    """
    left = content(folder)
    found = answer(lambda: [standing(folder)])
    if len(found) != 1:
        return "unclear", str(found)
    if found[0] not in (expected(BEFORE), expected(AFTER)):
        return "wrong", f"neither what was before nor what is after: {found[0]}"
    if content(folder) != left:
        return "unclear", "a reader wrote into results/"
    if (code := ended(forked(lambda: _publish(folder)))) != 0:
        return "lost", f"a publisher after it ended with {code}"
    again = content(folder)
    if again != right:
        strange = sorted(name for name in {*again, *right} if again.get(name) != right.get(name))
        return "lost", f"published again, {strange} are not what they must be"
    return "harmless", ""


def kills(n: int, seed: int) -> list[Tally]:
    """Kill publishers n times: every second time before a file operation drawn at random, else at a random moment.

    Two publishers work at once. Half of the times both are killed, else one; the other must end well or be refused.
    """
    tally, draw, left = Tally("kills: publishers", seed), random.Random(f"publishers {seed}"), n
    with prepared() as (before, right), tempfile.TemporaryDirectory() as there:
        operations, seconds = _operations(before, Path(there, "counted"))
        while left > 0:
            folder = Path(there, str(left))
            shutil.copytree(before, folder)
            codes = two_killed(lambda: _publish(folder), draw, left, operations, seconds)  # noqa: B023 - they run at once
            killed = codes.count(-signal.SIGKILL)
            left -= killed
            outcome, told = after(folder, right)
            if any(code not in (0, TOLD, -signal.SIGKILL) for code in codes):
                outcome, told = "unclear", f"a publisher ended with {codes}"
            for _ in range(killed):
                tally.add(outcome, told)
            shutil.rmtree(folder)
    return [tally]


def _operations(before: Path, folder: Path) -> tuple[int, float]:
    """How many file operations an undisturbed publisher makes, and how many seconds it takes."""
    shutil.copytree(before, folder)
    read, write = os.pipe()
    start = time.perf_counter()
    code = ended(forked(lambda: _publish(folder), counted=write))
    seconds = time.perf_counter() - start
    os.close(write)
    with os.fdopen(read) as pipe:
        n = pipe.read()
    assert code == 0
    return int(n), seconds


def _disturbed(folder: Path, right: dict[str, bytes], trouble: AbstractContextManager[object]) -> tuple[str, str]:
    """The outcome of a publisher during some trouble, and what to tell of it."""

    def published() -> int:
        with trouble:
            return _publish(folder)

    code = ended(forked(published))
    if code not in (0, TOLD):
        return "unclear", f"the publisher ended with {code}"
    outcome, told = after(folder, right)
    return ("detected" if code and outcome == "harmless" else outcome), told


def disks(n: int, seed: int) -> list[Tally]:
    """Disturb n publishers, a third each by one failing operation, by a disk on which from some operation on nothing
    can be written, and by files that may not grow."""
    kinds = ("an operation fails", "read-only", "files cannot grow")
    tallies, draw = [Tally(f"publishers: {what}", seed) for what in kinds], random.Random(f"publishers' disks {seed}")
    with prepared() as (before, right), tempfile.TemporaryDirectory() as there:
        changes = _changes(before, Path(there, "counted"))
        for number in range(n):
            folder = Path(there, str(number))
            shutil.copytree(before, folder)
            at, size, code = draw.randint(1, changes), draw.randint(0, LARGEST), draw.choice(FULL)
            trouble = (failing(at, code, False), failing(at, code, True), limited(size))[number % 3]
            tallies[number % 3].add(*_disturbed(folder, right, trouble))
            shutil.rmtree(folder)
    return tallies


def _changes(before: Path, folder: Path) -> int:
    """How many times an undisturbed publisher changes files."""

    def counted() -> list:
        with failing(0, 0, False) as asked:
            _publish(folder)
        return asked

    shutil.copytree(before, folder)
    return len(answer(counted))


def full(n: int, seed: int) -> list[Tally]:
    """Let n publishers work on a small tmpfs with little room."""
    draw = random.Random(f"full publishers {seed}")
    with prepared() as (before, right), tempfile.TemporaryDirectory() as there, tmpfs(Path(there)) as refused:
        disk = Path(there)
        tally = Tally(f"publishers: full{STAND_IN if refused else ''}", seed)
        shutil.copytree(before, disk / "first")
        needed = used(disk, lambda: ended(forked(lambda: _publish(disk / "first"))))
        shutil.rmtree(disk / "first")
        for number in range(n):
            folder = disk / str(number)
            shutil.copytree(before, folder)
            room: list[int | None] = [None, None]
            room[number % 2] = draw.randint(0, 2 * max(1, needed[number % 2]))
            trouble = limited(draw.randint(0, LARGEST)) if refused else little_room(disk, *room)
            tally.add(*_disturbed(folder, right, trouble))
            shutil.rmtree(folder)
    return [tally]


def flips(n: int, seed: int) -> list[Tally]:
    """Flip a bit of a published file and read all: what is not right must be missing, with a warning, and a quick
    verification must name the file, or where SHA256SUMS is changed the one that does not fit it. What other tables hold
    must be there."""
    tally, draw = Tally("flips: published results", seed), random.Random(f"published {seed}")
    with tempfile.TemporaryDirectory() as there:
        whole = Path(there, "whole")
        (whole / "results").mkdir(parents=True)
        _write(store_of(whole), *KEPT, *NEW)
        publish(store_of(whole), AFTER, TUNING, work.any_code)
        files = sorted(content(whole))
        for number in range(n):
            folder = Path(there, str(number))
            shutil.copytree(whole / "results", folder / "results")
            name = draw.choice(files)
            path = folder / "results" / name
            path.write_bytes(flipped(path.read_bytes(), draw))
            tally.add(*_read(folder, name))
            shutil.rmtree(folder)
    return [tally]


def _read(folder: Path, changed: str) -> tuple[str, str]:
    store = Store(folder / "results", folder / "nowhere")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = {cell: store.read(cell, rows).frame for cell, rows in AFTER}
            named = [name for name, damage in inspect(AFTER, store) if damage is not None]
        except Exception as error:
            return "unclear", repr(error)
    for cell, rows in AFTER:
        frame = found[cell]
        if frame is not None and frame["value"].tolist() != work.values(cell, rows):
            return "wrong", f"other values of {cell.describe()} were read after a change of {changed}"
        if frame is None and "/" in changed and cell.labels()["dataset"] not in changed:
            return "lost", f"{cell.describe()} is missing after a change of {changed}"
    if any(frame is None for frame in found.values()) and not told:
        return "lost", f"rows count as missing without a warning after a change of {changed}"
    if changed == SUMS and not named:
        return "harmless", ""
    if changed != SUMS and not any(changed in name for name in named):
        return "lost", f"a quick verification names {named} after a change of {changed}"
    return "detected", ""
