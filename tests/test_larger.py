"""Data larger than memory: a run that has less private memory than the features need."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ol2r.data import Fold, RankingDataset
from ol2r.data.cache import cached

RUN = """
import resource, sys
from pathlib import Path

import numpy as np

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
lines = Path("/proc/self/status").read_text().splitlines()
used = next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (used + (80 << 20), used + (80 << 20)))
try:
    np.empty(150 << 20, dtype=np.uint8)
    sys.exit("not enforced")
except MemoryError:
    pass
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits private memory")
def test_a_run_needs_less_memory_than_the_features(tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path))
    cached("larger", "", {}, large)
    done = subprocess.run([sys.executable, "-c", RUN], env=dict(os.environ), capture_output=True, text=True)
    if done.stderr.strip() == "not enforced":
        pytest.skip("this system does not enforce a limit of private memory")
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 1 and not done.stderr
