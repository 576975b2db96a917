"""What waits for a machine: every paper's waiting items are in the queue, and it runs on a device as on the CPU."""

import pandas as pd
import pytest
from pretend import DEVICE, Pretend, PretendGraph

from ol2r import papers
from ol2r.experiments import runner
from ol2r.experiments.cells import Job
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.runner import Clock, lacking, run
from ol2r.experiments.store import Store
from ol2r.papers.queue import QUEUE
from ol2r.replay import RECORDINGS


def test_what_waits_for_a_machine_is_queued_until_it_is_stored():
    store = Store.open()
    for paper in map(papers.paper, papers.PAPERS):
        queued = {each.item for each in QUEUE if each.paper == paper.name}
        assert queued <= set(paper.waiting)
        others = [job for item in set(paper.waiting) - queued for job in paper.items[item].jobs("paper")]
        assert not lacking(others, store)


ONE_STEP = ("PDGD", "neural PDGD")
"""Queued learners that take one step a round: the pretended device is slow, and refits take it minutes."""


def small_jobs() -> list[Job]:
    """One row of the first queued cell of each of these, at the smallest size."""
    jobs = [job for each in QUEUE for job in papers.paper(each.paper).items[each.item].jobs("smoke")]
    first = {job.cell.learner: job for job in reversed(jobs) if isinstance(job.cell, Simulate)}
    return [Job(job.cell, job.rows[:1]) for job in map(first.__getitem__, ONE_STEP)]


def test_the_queue_runs_on_a_device_in_the_time_that_is_left_and_stores_the_rows_of_the_cpu(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "check_device", lambda device: device)
    monkeypatch.setattr(runner, "free_memory", lambda device: 1e9)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda device: "pretended")
    monkeypatch.setitem(RECORDINGS, DEVICE.type, PretendGraph)
    jobs = small_jobs()
    here, there = (Store(None, tmp_path / name) for name in ("cpu", "device"))
    options = {"engine": "torch", "progress": False}
    run(jobs, here, n_jobs=1, **options)
    with Pretend() as seen:
        assert run(jobs, there, device=str(DEVICE), clock=Clock(0.0), **options) == 0 == seen.launches
        assert run(jobs, there, device=str(DEVICE), clock=Clock(3600.0), **options) == len(jobs)
        launched = seen.launches
        assert run(jobs, there, device=str(DEVICE), clock=Clock(3600.0), **options) == 0 and seen.launches == launched
    for job in jobs:
        cpu, device = (store.read(job.cell, job.rows).frame for store in (here, there))
        pd.testing.assert_frame_equal(cpu[["fold", "seed", "round"]], device[["fold", "seed", "round"]])
        assert device["ndcg"].iloc[0] == pytest.approx(cpu["ndcg"].iloc[0], abs=1e-4)
