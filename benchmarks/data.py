"""How fast LETOR text is read and a cached data set is opened, for benchmarks/run.py."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ol2r.data import load
from ol2r.data.letor import read_letor

_MEGABYTES = 200
FEATURES = 136


def measure(quick: bool) -> dict[str, float]:
    """Megabytes of MSLR-like text read in a second, and seconds to open the cached arrays of a set of that size.

    Both are medians, of 3 measurements when quick and of 9 otherwise, after a first call whose time beyond the median
    is reported as compilation (near 0 where compiled code was found on disk).
    """
    repeats = 3 if quick else 9
    with tempfile.TemporaryDirectory() as folder, _environment("OL2R_CACHE", folder):
        path = Path(folder) / "mslr.txt"
        path.write_bytes(_text(_MEGABYTES * 1_000_000))
        read, read_compile = _median(lambda: read_letor(path, 5, FEATURES), repeats)
        load("synthetic-mslr")
        opened, open_compile = _median(lambda: load("synthetic-mslr"), repeats)
    return {
        "letor.mb_per_s": _MEGABYTES / read,
        "letor.compile_s": read_compile,
        "cache.open_s": opened,
        "cache.compile_s": open_compile,
    }


def _text(n_bytes: int) -> bytes:
    """Text of whole lines; every 120 documents another query."""
    lines, size, rows = [], 0, feature_texts()
    while size < n_bytes:
        lines.append(f"{len(lines) % 5} qid:{len(lines) // 120} {rows[len(lines) % len(rows)]}\n")
        size += len(lines[-1])
    return "".join(lines).encode()[:n_bytes].rpartition(b"\n")[0] + b"\n"


def feature_texts() -> list[str]:
    """The features of 500 documents, with MSLR's mix of zeros, counts and real numbers."""
    rng = np.random.default_rng(1)
    values = np.where(rng.random((500, FEATURES)) < 0.4, 0.0, rng.gamma(0.5, 30.0, (500, FEATURES)))
    values[:, ::3] = np.floor(values[:, ::3])
    return [" ".join(f"{j}:{x:.6g}" for j, x in enumerate(row, start=1)) for row in values]


def _median(run: Callable[[], object], repeats: int) -> tuple[float, float]:
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds[1:])
    return median, max(seconds[0] - median, 0.0)


class _environment:
    """Set a variable for a while."""

    def __init__(self, name: str, value: str):
        self.name, self.value = name, value

    def __enter__(self):
        self.before = os.environ.get(self.name)
        os.environ[self.name] = self.value

    def __exit__(self, *_):
        if self.before is None:
            del os.environ[self.name]
        else:
            os.environ[self.name] = self.before
