"""What rounds ask of a GPU. Without one, launches, reads and bytes are counted on a pretended device; on CUDA, rounds
per second are measured, run as they are asked for and replayed from a CUDA graph.

`store` keeps both in benchmarks/device.json, from which the book's page "On a GPU" is drawn.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from families import DATASET, LEARNER, SETTINGS, evaluation
from pretend import DEVICE, rounds_counted

from ol2r import data
from ol2r.clicks import users
from ol2r.learners import LEARNERS, Learner
from ol2r.random import MOST_ROUNDS
from ol2r.simulation import Replica, make_streams, simulate

STORED = Path(__file__).with_name("device.json")
COUNTED = 8
"""Replicas of the counts; the number of launches hardly depends on it, and bytes are given for each replica."""
SETTLED = 160
"""A round from which on a refit's history is long, so that its number of steps stays the same."""


def _asked(dataset: str, learner: str, rounds: int):
    """Counts before each round of a learner as the chapters set it."""
    loaded = data.load(dataset)
    replicas = [Replica(1, seed, users("informational", loaded.n_grades)) for seed in range(COUNTED)]

    def make() -> Learner:
        streams = make_streams(loaded, replicas, str(DEVICE))
        return LEARNERS[learner](loaded.n_features, SETTINGS[learner], streams)

    return rounds_counted(loaded, replicas, make, evaluation(rounds))[0]


def counts(family: str) -> dict[str, float]:
    """Launches and host reads a round in the mean of as many rounds as random numbers are drawn for at once, on short
    lists; and bytes moved for each replica in an early round on DATASET."""
    learner = LEARNER[family]
    found = _asked("synthetic-tiny", learner, SETTLED + MOST_ROUNDS + 2)
    first, last = found[SETTLED], found[SETTLED + MOST_ROUNDS]
    wide = _asked(DATASET, learner, 8)
    return {
        f"launches.{family}": (last.launches - first.launches) / MOST_ROUNDS,
        f"reads.{family}": (last.reads - first.reads) / MOST_ROUNDS,
        f"bytes.{family}": (wide[7].bytes - wide[4].bytes) / 3 / COUNTED,
    }


def speeds(family: str, device: str = "cuda", replicas: tuple[int, ...] = (64, 512, 4096)) -> dict[str, float]:
    """Replicas × rounds per second on a device, run as asked for (`eager`) and replayed (`graph`), by replicas."""
    learner, loaded = LEARNER[family], data.load(DATASET)
    found = {}
    for n in replicas:
        runs = [Replica(1, seed, users("perfect", loaded.n_grades)) for seed in range(n)]

        def seconds(rounds: int, graph: bool, runs=runs) -> float:
            batch = LEARNERS[learner](loaded.n_features, SETTINGS[learner], make_streams(loaded, runs, device))
            start = time.perf_counter()
            simulate(loaded, runs, batch, evaluation(rounds), graph=graph)
            return time.perf_counter() - start

        for how, graph in (("eager", False), ("graph", True)):
            try:
                seconds(8, graph)
                spent = statistics.median(seconds(220, graph) - seconds(20, graph) for _ in range(3))
            except torch.OutOfMemoryError:
                break
            found[f"{device}.{family}.{how}.rounds_per_s_{n}"] = n * 200 / spent
    return found


def families(device: str) -> dict[str, Callable[[bool], dict[str, float]]]:
    """The families of figures of a device: counts without one, or speeds on it."""
    measure = counts if device == "cpu" else partial(speeds, device=device)
    return {family: lambda quick, family=family: measure(family) for family in LEARNER}


def commit() -> str:
    """The commit of the code that is measured."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=STORED.parent, check=True)
    return asked.stdout.strip()


def store(found: dict[str, float], device: str) -> None:
    """Keep figures in `STORED`: counts by their names, speeds under the name of the device that gave them."""
    kept = json.loads(STORED.read_text()) if STORED.is_file() else {}
    about = {"commit": commit(), "torch": torch.__version__, "numpy": np.__version__}
    name = "counted" if device == "cpu" else torch.cuda.get_device_name()
    about |= {"learners": LEARNER, "settings": SETTINGS}
    kept[name] = kept.get(name, {}) | about | {key: round(value, 2) for key, value in found.items()}
    STORED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
