"""What it costs that a data set is larger than memory: a run on it within a few gibibytes, beside one on a small set.

    python benchmarks/larger.py [--gb 20] [--limit-gib 4] [--folder FOLDER] [--store]

A process whose private memory is limited writes a set of MSLR's shape block by block, keeps it in a cache, opens it
from there, and runs PDGD and PairRank on it. Then another process does the same with 0.1 GB. Pages of the large file
that the system holds are dropped before rounds are measured, so that a query that is met for the first time comes from
the disk, however much memory the machine has. FOLDER must have room for twice the set, which is removed in the end.

`--store` keeps the figures in benchmarks/larger.json for the page "Run on a cluster".
"""

import argparse
import json
import mmap
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from families import DATASET, SETTINGS, evaluation

from ol2r.clicks import users
from ol2r.cores import count
from ol2r.data import Fold, RankingDataset, load, normalize_per_query, synthetic
from ol2r.data.cache import cached
from ol2r.learners import LEARNERS
from ol2r.random import generator
from ol2r.simulation import Replica, make_streams, simulate

STORED = Path(__file__).with_name("larger.json")
SHAPE = synthetic.SHAPES[DATASET]
SMALL = 0.1
"""Gigabytes of the set that fits into memory."""
BLOCK = 200
"""Queries that are generated at once."""
REPEATS = 3
"""How often a run is repeated."""
RUNS = {"PDGD": {"replicas": 64, "rounds": 2000}, "PairRank": {"replicas": 16, "rounds": 2000}}


def write(path: Path, gigabytes: float) -> RankingDataset:
    """Generate a set of MSLR's shape, its features in a file; each block of queries has its own thresholds of grades.

    A tenth of the queries, at most 2,000, are test queries, and as many are validation queries.
    """
    rng = generator("benchmarks.larger", 0)
    n_queries = round(gigabytes * 1e9 / (4 * SHAPE.n_features * SHAPE.mean_size))
    sizes = synthetic.draw_sizes(SHAPE, n_queries, rng)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    shape = int(offsets[-1]), SHAPE.n_features
    features = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    relevance = np.empty(len(features), dtype=np.int8)
    for first in range(0, n_queries, BLOCK):
        ends = offsets[first : first + BLOCK + 1]
        rows = slice(ends[0], ends[-1])
        drawn = synthetic.draw_features(SHAPE.n_features, int(ends[-1] - ends[0]), rng)
        features[rows] = block = normalize_per_query(drawn, ends - ends[0])
        score = synthetic.truth(DATASET).score(block)
        relevance[rows] = synthetic.draw_grades(SHAPE, score, sizes[first : first + BLOCK], rng)
    held_out = min(2000, n_queries // 10)
    return RankingDataset(
        name="larger",
        features=features,
        relevance=relevance,
        offsets=offsets,
        query_ids=tuple(map(str, range(n_queries))),
        document_ids=None,
        folds=(Fold(*np.split(np.arange(n_queries), [n_queries - 2 * held_out, n_queries - held_out])),),
        n_grades=len(SHAPE.grade_shares),
        checksum="",
        restricted=False,
        label="larger",
        normalization="query min-max",
    )


def drop_pages(folder: Path, dataset: RankingDataset) -> None:
    """Let the system forget what it holds of the features' file; does nothing where they are not mapped read-only."""
    if dataset._map is None:
        return
    dataset._map.madvise(mmap.MADV_DONTNEED)
    (path,) = folder.glob("larger/features-*.npy")
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run(folder: Path, dataset: RankingDataset, learner: str) -> tuple[float, float]:
    """Replicas × rounds per second without the first hundredth and the last, which holds the evaluation; and the
    seconds until the first hundredth has ended."""
    n_replicas, rounds = RUNS[learner]["replicas"], RUNS[learner]["rounds"]
    replicas = [Replica(1, seed, users("perfect", dataset.n_grades)) for seed in range(n_replicas)]
    batch = LEARNERS[learner](dataset.n_features, SETTINGS[learner], make_streams(dataset, replicas))
    ends = []

    def ended(fraction: float) -> None:
        ends.append((fraction, time.perf_counter()))
        if len(ends) == 1:
            drop_pages(folder, dataset)
            ends[0] = fraction, time.perf_counter()

    start = time.perf_counter()
    simulate(dataset, replicas, batch, evaluation(rounds), progress=ended)
    (before, at), (done, end) = ends[0], ends[-2]
    return n_replicas * rounds * (done - before) / (end - at), at - start


def short(value: float) -> float:
    """The value in four digits."""
    return float(f"{value:.4g}")


def measure(gigabytes: float, folder: Path, limit: int, to: Connection) -> None:
    """Write, keep, open and run a set within a limit of private memory in bytes, and send the figures."""
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    os.environ["OL2R_CACHE"] = str(folder)
    source = folder / "features.npy"
    start = time.perf_counter()
    cached("larger", "", {}, lambda: write(source, gigabytes))
    source.unlink()
    stored = time.perf_counter()
    dataset = cached("larger", "", {}, lambda: sys.exit("the cache was not found again"))
    found = {
        "bytes": dataset.features.nbytes,
        "queries": dataset.n_queries,
        "documents": dataset.n_documents,
        "features": dataset.n_features,
        "store_s": short(stored - start),
        "load_s": short(time.perf_counter() - stored),
        "learners": {},
    }
    for learner in RUNS:
        run(folder, load("synthetic-tiny"), learner)  # compiles
        rates, starts = zip(*(run(folder, dataset, learner) for _ in range(REPEATS)), strict=True)
        found["learners"][learner] = {"rounds_per_s": short(max(rates)), "start_s": short(starts[0])}
    to.send(found)


def alone(work: Callable[..., None], *arguments: object) -> dict:
    """What work sends to its last argument from a process of its own, with the most memory of two kinds that it had:
    `data_bytes`, which the limit is about, and `private_bytes`, of which there were pages."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*arguments, there))
    process.start()
    there.close()
    peaks = {"VmData": 0, "RssAnon": 0}
    while not here.poll(0.1):
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        for name, value in (line.split(":", 1) for line in lines):
            if name in peaks:
                peaks[name] = max(peaks[name], 1024 * int(value.split()[0]))
    found = here.recv()
    process.join()
    return found | {"data_bytes": peaks["VmData"], "private_bytes": peaks["RssAnon"]}


def store(found: dict, path: Path) -> None:
    """Keep the figures in a file, with how they were measured."""
    from device import commit

    from ol2r.experiments.provenance import cpu

    cores, (*_, load) = count(), os.getloadavg()
    about = {"processor": cpu(), "cores": cores, "load": round(load / cores, 1), "commit": commit()}
    path.write_text(json.dumps(found | about, indent=1, sort_keys=True) + "\n")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, default=20.0, help="gigabytes of features")
    parser.add_argument("--limit-gib", type=float, default=4.0, help="the most private memory, in GiB")
    parser.add_argument("--folder", type=Path, help="where the sets are written: on the disk to be measured")
    parser.add_argument("--keep", action="store_true", help="leave the sets there")
    parser.add_argument("--store", action="store_true", help="keep the figures in benchmarks/larger.json")
    arguments = parser.parse_args()
    limit = round(arguments.limit_gib * 2**30)
    found: dict = {"limit_bytes": limit, "runs": RUNS}
    for name, gigabytes in (("small", SMALL), ("large", arguments.gb)):
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=arguments.folder))
        try:
            found[name] = alone(measure, gigabytes, folder, limit)
        finally:
            if not arguments.keep:
                shutil.rmtree(folder)
    print(json.dumps(found, indent=1))
    if arguments.store:
        store(found, STORED)


if __name__ == "__main__":
    main()
