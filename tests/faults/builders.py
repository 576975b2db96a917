"""Several processes that build and read the cache of one data set at once, while its source changes, files of the cache
are damaged and builders are killed.

None may get other data than the source had, and afterwards the cache must have what the source has.
"""

import os
import random
import signal
import tempfile
import warnings
from pathlib import Path

from faults.flips import flipped, same_dataset
from faults.full import data
from faults.processes import answer, ended, forked
from faults.tally import Tally

from ol2r.data.cache import cached
from ol2r.data.dataset import RankingDataset
from ol2r.errors import DataError

BUILDERS = 4
READ_WRONG = 7
"""Exit code of a process that got other data than the source ever had."""


def opened(folder: Path) -> RankingDataset:
    """The data that the source names by its number, from the cache or made anew."""
    source = folder / "source.txt"
    return cached("toy", "1", {"source.txt": source}, lambda: data(int(source.read_text())))


def build(folder: Path, seed: str, damages: bool) -> int:
    """Open the data, change its source and damage its cache in an order drawn at random."""
    warnings.simplefilter("ignore")
    draw = random.Random(seed)
    right = [data(1), data(2)]
    for _ in range(6):
        what = draw.choice(("open", "open", "open", "change", "damage"))
        if what == "change":
            changed = folder / f"changed-{seed}"
            changed.write_text(draw.choice("12"))
            changed.replace(folder / "source.txt")
        elif what == "damage" and damages:
            for path in sorted((folder / "cache" / "toy").glob("*.*")):
                if draw.random() < 0.3:
                    _damage(path, draw, folder / f"damaged-{seed}")
        else:
            try:
                found = opened(folder)
            except DataError:
                continue  # the source changed while it was read
            if not any(same_dataset(found, each) for each in right):
                return READ_WRONG
    return 0


def _damage(path: Path, draw: random.Random, beside: Path) -> None:
    try:
        content = path.read_bytes()
        cut = content[: draw.randrange(len(content) + 1)]
        beside.write_bytes(flipped(content, draw) if content and draw.random() < 0.5 else cut)
        beside.replace(path)
    except FileNotFoundError:
        pass  # another process was first


def _end(folder: Path) -> list:
    """What is left when nobody disturbs any more: the source's data, from a cache that takes no room in vain."""
    right = data(int((folder / "source.txt").read_text()))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if not same_dataset(opened(folder), right):
            return ["wrong", "the cache has other data than the source"]
    if any(len(str(each.message).splitlines()) != 1 for each in told):
        return ["unclear", str(told[0].message)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if not same_dataset(opened(folder), right):
            return ["wrong", "the cache that was made last has other data than the source"]
    return ["detected", str(told[0].message)] if told else ["harmless", ""]


def file_operations(folder: Path) -> int:
    """How many file operations it takes to make a cache."""
    read, write = os.pipe()
    assert ended(forked(lambda: opened(folder) and 0, counted=write)) == 0
    os.close(write)
    with os.fdopen(read) as pipe:
        return int(pipe.read())


def builders(n: int, seed: int) -> list[Tally]:
    """Let processes build one cache n times: every second time one of them is killed at a file operation drawn at
    random, and of each two times one with damage to the cache's files."""
    tallies = [Tally(f"cache: {what}", seed) for what in ("builders at once", "a builder is killed")]
    draw = random.Random(f"builders {seed}")
    before = os.environ.get("OL2R_CACHE")
    operations = 0
    try:
        for number in range(n):
            with tempfile.TemporaryDirectory() as there:
                folder = Path(there)
                os.environ["OL2R_CACHE"] = str(folder / "cache")
                (folder / "source.txt").write_text("1")
                if not operations:
                    operations = file_operations(folder)
                killed, damages = number % 2, number // 2 % 2 == 1
                dies = [draw.randint(1, 3 * operations) if killed and not i else None for i in range(BUILDERS)]
                pids = [
                    forked(lambda i=i: build(folder, f"{seed}-{number}-{i}", damages), dies_at=at)  # noqa: B023
                    for i, at in enumerate(dies)
                ]
                codes = {ended(pid) for pid in pids}
                if READ_WRONG in codes:
                    tallies[killed].add("wrong", "a process got data that the source never had")
                elif not codes <= {0, -signal.SIGKILL}:
                    tallies[killed].add("unclear", f"processes ended with {codes}")
                else:
                    tallies[killed].add(*answer(lambda: _end(folder)))  # noqa: B023
    finally:
        os.environ.pop("OL2R_CACHE", None)
        os.environ.update({} if before is None else {"OL2R_CACHE": before})
    return tallies
