"""What needs a CUDA device: every learner on it decides as on the CPU at first, and a simulation there ends as well."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch
from fakes import Fake
from pandas.testing import assert_frame_equal
from small import OPTIMUM, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r.clicks import UserBatch, users
from ol2r.experiments.cells import Job
from ol2r.experiments.runner import Shard, run_shard
from ol2r.learners import LEARNERS
from ol2r.random import Stream, Streams
from ol2r.ranking import metrics
from ol2r.simulation import simulate

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(),
    reason="no CUDA device; tests/test_device.py checks decisions, reads, shapes and replay on a pretended one",
)


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_learner_decides_on_the_device_as_on_the_cpu(name):
    dataset, replicas = small_dataset(), replicas_of("perfect", "informational")
    cpu, cuda = (play(name, dataset, replicas, 10, device=device) for device in ("cpu", "cuda"))
    np.testing.assert_array_equal(cpu.rankings, cuda.rankings)
    np.testing.assert_array_equal(cpu.clicks, cuda.clicks)
    np.testing.assert_allclose(cpu.weights, cuda.weights, atol=OPTIMUM.get(name, 1e-4))
    np.testing.assert_allclose(cpu.table.ndcg, cuda.table.ndcg, atol=0.2 * OPTIMUM.get(name, 5e-5))


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_the_mean_of_many_replicas_agrees_with_the_cpu(name):
    dataset, replicas = small_dataset(), replicas_of("informational", seeds=range(64))
    means, errors = [], []
    for device in ("cpu", "cuda"):
        learner = make_learner(name, dataset, replicas, device=device)
        scores = simulate(dataset, replicas, learner, evaluation(200)).ndcg
        means.append(scores.mean())
        errors.append(scores.sem())
    assert abs(means[0] - means[1]) < 3 * np.hypot(*errors)


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_captured_round_gives_what_an_uncaptured_one_gives(name):
    """Networks drift apart, because a captured product of matrices may sum in another order."""
    dataset, replicas = small_dataset(), replicas_of("perfect", "informational")
    rounds, rtol = (100, 1e-5) if LEARNERS[name].repeats == "bits" else (20, 1e-3)
    tables = []
    for graph in (False, True):
        learner = make_learner(name, dataset, replicas, device="cuda")
        tables.append(simulate(dataset, replicas, learner, evaluation(rounds), graph=graph))
    assert_frame_equal(*tables, rtol=rtol)


@dataclass(frozen=True)
class Filling(Fake):
    """A fake whose rows take 64 MiB each of the device's memory."""

    kind: ClassVar[str] = "filling"

    @classmethod
    def run_group(cls, jobs, context):
        torch.empty(sum(len(job.rows) for job in jobs), 64 << 20, dtype=torch.uint8, device="cuda")
        return super().run_group(jobs, context)


def test_a_shard_beyond_the_memory_is_halved_until_it_fits():
    torch.cuda.set_per_process_memory_fraction((600 << 20) / torch.cuda.get_device_properties(0).total_memory)
    try:
        cell = Filling()
        outcomes = run_shard(Shard((Job(cell, cell.rows(None, range(5))),)), {}, "cuda", "torch")  # 25 rows, 1.6 GiB
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert sum(len(it.job.rows) for it in outcomes) == 25
    assert all(it.provenance["shard_rows"] < 10 and it.provenance["shard_halved"] >= 2 for it in outcomes)


def test_a_diverged_replica_freezes_on_the_device():
    alpha = torch.tensor([0.1, 1e38, 0.1, 0.1])
    tape = play("NSGD", small_dataset(), replicas_of("informational"), 40, device="cuda", alpha=alpha)
    assert tape.table.status.tolist() == ["ok", "diverged", "ok", "ok"]
    assert np.isfinite(tape.weights).all()


@pytest.mark.parametrize("n_grades", [2, 3, 5])
def test_users_click_alike(n_grades):
    grades = torch.arange(10).expand(300, -1) % n_grades
    shown = torch.arange(10).expand(300, -1) < 8
    keys = np.arange(300, dtype=np.uint64)
    batch = [users("navigational", n_grades)] * 300
    clicks = [
        UserBatch(batch, Streams(keys, device)).click(grades.to(device).contiguous(), shown.to(device), 5).cpu()
        for device in ("cpu", "cuda")
    ]
    assert torch.equal(*clicks)


def test_random_numbers_are_the_same():
    keys = np.arange(100, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    cpu, cuda = (Streams(keys, device) for device in ("cpu", "cuda"))
    assert torch.equal(cpu.uniforms(Stream.CLICK, 3, 11), cuda.uniforms(Stream.CLICK, 3, 11).cpu())
    a, b = cpu.gaussians(Stream.DIRECTION, 3, 11), cuda.gaussians(Stream.DIRECTION, 3, 11).cpu()
    torch.testing.assert_close(a, b, atol=1e-5, rtol=0)
    bounds = torch.arange(1, 101)
    a, b = cpu.integers_below(Stream.QUERY, 3, bounds), cuda.integers_below(Stream.QUERY, 3, bounds.cuda()).cpu()
    assert torch.equal(a, b)
    a, b = (s.integers_of_rounds(Stream.QUERY, 3, 5, bounds.to(s.device)).cpu() for s in (cpu, cuda))
    assert torch.equal(a, b)


def test_metrics_agree():
    dataset = small_dataset()
    offsets = torch.from_numpy(dataset.offsets)
    gain = metrics.gains(torch.from_numpy(dataset.relevance))
    ideal = torch.from_numpy(metrics.ideal_dcg(dataset.relevance, dataset.offsets, 10))
    scores = torch.from_numpy(dataset.features[:, :5].round(1))
    cpu = metrics.query_ndcg(scores.contiguous(), gain, offsets, ideal, 10)
    cuda = metrics.query_ndcg(scores.cuda(), gain.cuda(), offsets.cuda(), ideal.cuda(), 10)
    torch.testing.assert_close(cpu, cuda.cpu(), atol=1e-9, rtol=0)
