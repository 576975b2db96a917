"""Data larger than memory: a run, and the reading of text, that have less private memory than the features need."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ol2r.data import Fold, RankingDataset
from ol2r.data.cache import cached

LIMIT = """
import resource, sys
from pathlib import Path

import numpy as np


def limit(more):
    lines = Path("/proc/self/status").read_text().splitlines()
    used = next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used + more, used + more))
    try:
        np.empty(2 * more, dtype=np.uint8)
        sys.exit("not enforced")
    except MemoryError:
        pass
"""

RUN = """
from ol2r import data, simulation
from ol2r.clicks import users
from ol2r.data import cache
from ol2r.learners import LEARNERS
from ol2r.simulation import Evaluation, Replica, make_streams, simulate


def run(dataset):
    replicas = [Replica(1, seed, users("perfect", dataset.n_grades)) for seed in range(2)]
    learner = LEARNERS["PDGD"](dataset.n_features, {"alpha": 0.1, "decay": 1.0}, make_streams(dataset, replicas))
    conventions = {"k": 10, "split": "test", "gain": "exponential", "empty": "zero", "ties": "expected", "gamma": 0.9}
    return simulate(dataset, replicas, learner, Evaluation(**conventions, checkpoints=(50,)))


run(data.load("synthetic-tiny"))  # now everything is compiled
limit(80 << 20)
cache._MOST_WRITABLE = simulation._MOST_COPIED = 0
dataset = cache.cached("larger", "", {}, lambda: sys.exit("not found in the cache"))
assert dataset.features.nbytes > 190_000_000
print(run(dataset)["ndcg"].mean())
"""


def large() -> RankingDataset:
    """200 MB of features in 2,960 queries; half of them are test queries."""
    n_queries, n_features = 2960, 136
    rng = np.random.default_rng(0)
    offsets = np.arange(n_queries + 1) * 125
    features = rng.random((offsets[-1], n_features), dtype=np.float32)
    halves = np.split(np.arange(n_queries), [n_queries // 2, n_queries // 2])
    relevance = (3 * features[:, 0]).astype(np.int8)
    ids = tuple(map(str, range(n_queries)))
    return RankingDataset("larger", features, relevance, offsets, ids, None, (Fold(*halves),), 3, "", False, "", "none")


READ = """
import dataclasses

import ol2r
from ol2r.data import CATALOGUE, cache, catalogue, entry, letor, load

root = Path(sys.argv[1])
stems = ["warm", "large"]
for stem in stems:
    queries = sum(1 for _ in (root / "text" / f"{stem}.txt").open()) // 100
    CATALOGUE[stem] = dataclasses.replace(
        entry("MQ2008"), name=stem, folders=("text",), n_features=136, n_queries=queries + 1,
        n_documents=100 * queries + 100, checksum=None, n_folds=1, splits=(catalogue.Split(stem, None, "test"),),
    )


def read(stem):
    return [load(stem), ol2r.from_letor(root / "text" / f"{stem}.txt", name=stem)]


read("warm")  # now everything is compiled
limit(56 << 20)
letor._BLOCK_BYTES, letor._BLOCK_VALUES, cache._MOST_HELD, cache._MOST_WRITABLE = 1 << 21, 1 << 19, 1 << 22, 0
for dataset in read("large"):
    assert dataset.features.nbytes > 60 << 20
    print(dataset.features[-200:].mean())
"""


def limited(script: str, *arguments: str) -> str:
    """What a script prints that may limit its private memory."""
    command = [sys.executable, "-c", LIMIT + script, *arguments]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True)
    if done.stderr.strip() == "not enforced":
        pytest.skip("this system does not enforce a limit of private memory")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits private memory")
def test_a_run_needs_less_memory_than_the_features(tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path))
    cached("larger", "", {}, large)
    assert 0 < float(limited(RUN)) < 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits private memory")
def test_text_is_read_with_less_memory_than_it_and_its_features_need(tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    values = np.random.default_rng(0).integers(0, 10, (100, 136))
    rows = [" ".join(f"{j}:{x}" for j, x in enumerate(row, start=1)) for row in values]
    (tmp_path / "text").mkdir()
    for stem, queries in (("warm", range(5)), ("test", [5]), ("large", range(6, 1206))):
        with (tmp_path / "text" / f"{stem}.txt").open("w") as file:
            for query in queries:
                file.writelines(f"{i % 3} qid:{query} {row}\n" for i, row in enumerate(rows))
    assert (tmp_path / "text" / "large.txt").stat().st_size > 70_000_000
    from_catalogue, own = map(float, limited(READ, str(tmp_path)).split())
    assert 0 < from_catalogue == own < 1
