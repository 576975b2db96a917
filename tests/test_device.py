"""What learners ask of a device, counted on one that is not there: decisions, launches, reads, and shapes of rounds."""

import json
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from pretend import DEVICE, Pretend, PretendGraph, rounds_counted
from small import OPTIMUM, OTHERWISE, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r import random, simulation
from ol2r.learners import LEARNERS
from ol2r.random import MOST_ROUNDS, Stream, Streams
from ol2r.ranking.batched import estimate
from ol2r.replay import RECORDINGS, ReplayedRounds
from ol2r.simulation import simulate

THERE = str(DEVICE)


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_learner_decides_on_a_device_as_on_the_cpu(name):
    dataset, replicas = small_dataset(), replicas_of("perfect", "informational")
    cpu = play(name, dataset, replicas, 10)
    with Pretend():
        there = play(name, dataset, replicas, 10, device=THERE)
    np.testing.assert_array_equal(there.rankings, cpu.rankings)
    np.testing.assert_array_equal(there.clicks, cpu.clicks)
    np.testing.assert_allclose(there.weights, cpu.weights, atol=OPTIMUM.get(name, 1e-4))
    np.testing.assert_allclose(there.table.ndcg, cpu.table.ndcg, atol=0.2 * OPTIMUM.get(name, 5e-5))


BLOCK = 64
"""Rounds whose random numbers are drawn at once here, in place of `MOST_ROUNDS`, so that a test needs few rounds."""


@cache
def rounds_of(name):
    """Counts before each round, and the tape of all launches; refits take as few steps as those of a long history."""
    dataset, replicas = small_dataset(), replicas_of("informational", seeds=range(4))
    make = partial(make_learner, name, dataset, replicas, device=THERE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "MOST_ROUNDS", BLOCK)
        patch.setattr(simulation, "MOST_ROUNDS", BLOCK)
        patch.setattr(estimate, "_SHORT", 0)
        return rounds_counted(dataset, replicas, make, evaluation(BLOCK + 2))


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_round_asks_for_no_more_launches_than_declared_and_for_no_value(name):
    counts, _ = rounds_of(name)
    ordinary = counts[BLOCK - 3].launches - counts[BLOCK - 4].launches
    drawing = counts[BLOCK - 1].launches - counts[BLOCK - 2].launches - ordinary  # round BLOCK begins a block
    assert drawing > 0
    assert ordinary + drawing / MOST_ROUNDS <= LEARNERS[name].launches
    assert counts[-1].reads == counts[10].reads and counts[BLOCK - 2].sends == counts[10].sends


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_rounds_ask_for_the_same_operations_on_the_same_shapes(name):
    counts, tape = rounds_of(name)
    one, other = (tape[counts[i].launches : counts[i + 1].launches] for i in (BLOCK - 5, BLOCK - 4))
    assert one == other and one


def test_draws_on_a_device_are_those_of_the_cpu_in_any_order_of_rounds():
    keys = np.arange(9, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    cpu = Streams(keys)
    with Pretend():
        there = Streams(keys, THERE)
        for round_ in (0, 1, 2, 255, 256, 1000, 3):
            for n in (5, 11, 2):
                assert torch.equal(cpu.words(Stream.TIES, round_, n), there.words(Stream.TIES, round_, n).cpu())
                assert torch.equal(cpu.uniforms(Stream.CLICK, round_, n), there.uniforms(Stream.CLICK, round_, n).cpu())
            a, b = cpu.gaussians(Stream.DIRECTION, round_, 7), there.gaussians(Stream.DIRECTION, round_, 7).cpu()
            torch.testing.assert_close(a, b, atol=1e-5, rtol=0)


def test_what_mixes_devices_raises_and_what_the_host_reads_is_counted():
    with Pretend() as seen:
        there = torch.arange(4, device=DEVICE)
        with pytest.raises(RuntimeError, match="same device"):
            there + torch.arange(4)
        before = seen.reads, seen.sends
        assert int(there.sum()) == 6 and bool((there > 2).any())
        torch.tensor([1, 2], device=DEVICE)
        assert (seen.reads - before[0], seen.sends - before[1]) == (2, 1)


def test_a_recording_does_again_what_the_device_did_and_nothing_that_the_host_did():
    with Pretend() as seen:
        x, total = torch.ones(3, device=DEVICE), torch.zeros(3, device=DEVICE)
        step = 1
        with seen.record() as recording:
            doubled = x * 2
            total += doubled + step
        step = 100
        x.fill_(5.0)
        recording.replay()
        assert total.tolist() == [3.0 + 11.0] * 3 and doubled.tolist() == [10.0] * 3


REPLAYED = [
    *((name, {}) for name in sorted(LEARNERS)),
    ("olRankNet", OTHERWISE["olRankNet"]),
    ("olRankNet", {"refit": "lbfgs"}),
    ("olLambdaRank-ranked", {"start": "fresh"}),
]


@pytest.mark.parametrize(("name", "changed"), REPLAYED, ids=str)
def test_replayed_rounds_give_what_rounds_give_that_run_as_asked_for(name, changed, monkeypatch):
    """Bit for bit, so refits need not come to their optimum: they take few steps, whose number still changes."""
    monkeypatch.setattr(estimate, "_SHORT", 256)
    monkeypatch.setitem(RECORDINGS, DEVICE.type, PretendGraph)
    made = []
    monkeypatch.setattr(
        simulation, "ReplayedRounds", lambda *arguments: made.append(ReplayedRounds(*arguments)) or made[0]
    )
    dataset, replicas = small_dataset(), replicas_of("perfect", "informational")
    tables, states = [], []
    with Pretend():
        for graph in (False, True):
            learner = make_learner(name, dataset, replicas, device=THERE, **changed)
            tables.append(simulate(dataset, replicas, learner, evaluation(40), graph=graph))
            states.append({name: value.cpu() for name, value in learner.state_dict().items()})
    pd.testing.assert_frame_equal(*tables)
    assert states[0].keys() == states[1].keys()
    for key, value in states[0].items():
        torch.testing.assert_close(states[1][key], value, rtol=0, atol=0, equal_nan=True)
    assert made[0].recorded >= 1 and made[0].replayed >= 10


def test_a_round_is_recorded_again_when_its_form_changes(monkeypatch):
    monkeypatch.setitem(RECORDINGS, DEVICE.type, PretendGraph)
    ran = []

    class Learner:
        device, round, state = DEVICE, 1, {}

        def state_places(self):
            return []

        def form(self):
            return self.round // 8

        def count_round(self):
            self.round += 1

    learner = Learner()

    def body(round_):
        ran.append(round_)
        learner.count_round()

    with Pretend():
        rounds = ReplayedRounds(body, lambda round_: None, learner)
        for round_ in range(1, 25):
            assert learner.round == round_
            rounds.run(round_)
    assert ran == [1, 2, 3, 8, 9, 10, 16, 17, 18, 24]
    assert (rounds.recorded, rounds.replayed) == (3, 14)


def test_where_nothing_is_recorded_rounds_run_as_without():
    dataset, replicas = small_dataset(), replicas_of("perfect", "informational")
    tables = [
        simulate(dataset, replicas, make_learner("PairRank", dataset, replicas), evaluation(10), graph=graph)
        for graph in (False, True)
    ]
    pd.testing.assert_frame_equal(*tables)


def test_a_replayed_round_takes_no_observer_and_no_clock():
    dataset, replicas = small_dataset(), replicas_of("perfect")
    learner = make_learner("PDGD", dataset, replicas)
    with pytest.raises(ValueError, match="no observer"):
        simulate(dataset, replicas, learner, evaluation(10), graph=True, observe=lambda *shown: None)


def test_the_stored_counts_that_the_book_shows_are_within_what_learners_declare():
    counted = json.loads((Path(__file__).parents[1] / "benchmarks" / "device.json").read_text())["counted"]
    forms = {"PairRank-Lemma2", "SafePairRank", "BoundedPairRank", "RecursivePairRank"}  # counted at a small size alone
    assert set(counted["learners"].values()) | forms == set(LEARNERS)
    for family, name in counted["learners"].items():
        LEARNERS[name].check(counted["settings"][name])
        assert 0 < counted[f"launches.{family}"] <= LEARNERS[name].launches
        assert counted[f"reads.{family}"] == 0
