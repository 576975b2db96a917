"""What learners ask of a device, counted on one that is not there: decisions, launches, reads, and shapes of rounds."""

import numpy as np
import pytest
import torch
from pretend import DEVICE, Pretend
from small import OPTIMUM, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r.learners import LEARNERS
from ol2r.random import Stream, Streams
from ol2r.simulation import simulate

LAUNCHES = {
    "PDGD": 150,
    "SGD RankNet": 150,
    "epsilon-greedy": 180,
    "DBGD": 250,
    "DP-DBGD": 250,
    "MGD": 500,
    "NSGD": 800,
    "CPS": 900,
    "PairRank": 450,
}
"""Most operations that a round may ask of a device, all that `simulate` does included."""

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
    np.testing.assert_allclose(there.table.ndcg, cpu.table.ndcg, atol=1e-5)


def rounds_of(name, n_rounds):
    """What each round from one act of showing to the next asked for: its launches' tape, reads and sends."""
    dataset, replicas = small_dataset(), replicas_of("informational", seeds=range(4))
    marks = []
    with Pretend() as seen:
        learner = make_learner(name, dataset, replicas, device=THERE)

        def mark(*shown):
            marks.append((len(seen.tape), seen.reads, seen.sends))

        simulate(dataset, replicas, learner, evaluation(n_rounds), observe=mark)
    return marks, seen


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_a_round_asks_for_no_more_launches_than_declared_and_for_no_value(name):
    marks, _ = rounds_of(name, 330)
    first, last = marks[64], marks[64 + 256]  # as many rounds as random numbers are drawn for at once
    assert (last[0] - first[0]) / 256 <= LAUNCHES[name]
    assert last[1:] == first[1:]


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_rounds_ask_for_the_same_operations_on_the_same_shapes(name):
    marks, seen = rounds_of(name, 104)
    one, other = (seen.tape[marks[i][0] : marks[i + 1][0]] for i in (100, 101))
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
