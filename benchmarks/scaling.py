"""How rounds per second grow with replicas and with cores, beside what memory allows and beside public code.

    python benchmarks/scaling.py [--store]

measures learners through `simulate()` as `run.py` does, with 1, 2, 4, … 128 replicas on 1, 2, 4, … and all cores,
within eight minutes on two cores. `--store` keeps the speeds in benchmarks/scaling.json for the page "Scaling".

What memory allows: to rank a query, a learner reads the features of its documents at least once, which are documents ×
features × 4 bytes. The bandwidth divided by these bytes is a number of rounds per second, the roofline of a learner
that takes features from memory. It is

- no limit of arithmetic: a learner that computes much stays far below;
- no limit of what caches hold: a list of a data set, or of the part of it, that fits into the last cache is read
  faster, so the sizes of both are stored;
- the limit of one reading of one list: a learner that reads further lists, as NSGD does to break ties, has a lower one.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import run
import torch
from families import DATASET, LEARNER

from ol2r import data
from ol2r.cores import count
from ol2r.ranking.compiled import use_threads

STORED = Path(__file__).with_name("scaling.json")
REPLICAS = tuple(2**i for i in range(8))
ROUNDS = {name: run.ROUNDS[name] for name in ("dbgd", "nsgd", "pdgd")} | {"pairrank": 200}
"""How many first rounds measure each learner; PairRank's rounds take the longer, the more there were before."""
BESIDE = {name: {"public code": run.PUBLIC[f"{name}.rounds_per_s"]} for name in ("dbgd", "nsgd", "pdgd")} | {
    "pairrank": {"public code": 17.0, "public code, bounds vectorised": 467.0}  # of 200 rounds as well; of 5000: 9, 37
}
"""Rounds per second of public code, as of `run.PUBLIC`."""
BUDGET = 3.0
"""Seconds for each speed."""
ARRAY = 1 << 30
"""Bytes of the array that measures the bandwidth: many times what caches hold."""


def counts(most: int) -> Iterator[int]:
    """The numbers of cores to measure, from the most: all of them, and the powers of two below."""
    yield most
    yield from (2**i for i in reversed(range(most.bit_length())) if 2**i < most)


def bandwidth(threads: int) -> float:
    """Bytes per second that so many threads read from memory together, each a part of one array from its start to its
    end; the fastest of many readings counts."""
    parts = np.array_split(np.ones(ARRAY // 8), threads)
    spent, end = [], time.perf_counter() + BUDGET
    with ThreadPoolExecutor(threads) as pool:
        while time.perf_counter() < end:
            start = time.perf_counter()
            list(pool.map(np.max, parts))
            spent.append(time.perf_counter() - start)
    return ARRAY / min(spent)


def last_cache() -> int | None:
    """Bytes of the processor's largest cache, as Linux tells them; None where it does not."""
    sizes = [file.read_text() for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((int(size.strip().removesuffix("K")) << 10 for size in sizes), default=None)


def measured_on() -> dict[str, object]:
    """The data set whose queries are drawn: the mean number of their documents, and the bytes of their features."""
    dataset = data.load(DATASET)
    documents = np.diff(dataset.offsets)[dataset.fold(1).train]
    return {
        "name": DATASET,
        "documents": float(documents.mean()),
        "features": dataset.n_features,
        "bytes": int(documents.sum()) * dataset.n_features * dataset.features.itemsize,
    }


def measure() -> dict[str, object]:
    """The speeds of all learners by cores and replicas, and what they stand beside."""
    for family in ROUNDS:
        run.seconds(LEARNER[family], 2, (3,))  # compiles
    read: dict[int, float] = {}
    speeds: dict[str, dict[int, dict[int, float]]] = {family: {} for family in ROUNDS}
    for cores in counts(count()):  # from the most, because the limit can only be lowered
        use_threads(cores)
        torch.set_num_threads(cores)
        for family, rounds in ROUNDS.items():
            read[cores] = max(read.get(cores, 0.0), float(f"{bandwidth(cores):.4g}"))
            speeds[family][cores] = {
                n: float(f"{n / run.round_seconds(LEARNER[family], n, (rounds,), BUDGET):.4g}") for n in REPLICAS
            }
            print(f"{cores} cores, {LEARNER[family]}: {speeds[family][cores]}", file=sys.stderr, flush=True)
    learners = {
        LEARNER[family]: {"rounds": rounds, "public": BESIDE[family], "rounds_per_s": speeds[family]}
        for family, rounds in ROUNDS.items()
    }
    return {"dataset": measured_on(), "cache": last_cache(), "bandwidth": read, "learners": learners} | run.about()


def main() -> None:
    """Measure, and print or keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="keep it in benchmarks/scaling.json")
    arguments = parser.parse_args()
    text = json.dumps(measure(), indent=1) + "\n"
    if arguments.store:
        STORED.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
