"""Readings of NSGD on a pretended device, and memories of rounds whose places must stand on the device."""

import pytest
import torch
from pretend import DEVICE, Pretend
from small import SETTINGS, evaluation, make_learner, replicas_of, small_dataset

from ol2r.simulation import simulate

READINGS = [
    {"sampling": "row_echelon", "winners": "better", "losers": "fourth_smallest", "hybrid": "never"},
    {"tie_break": "early", "queue": "rounds", "n_uniform": 1},
    {"tie_break": "mean", "hybrid": "literal", "click_free": "literal"},
    {"k_g": 0, "n": 4},
]


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: " ".join(map(str, reading.values())))
def test_no_reading_of_nsgd_asks_for_a_value_or_for_other_operations_in_another_round(reading):
    dataset, replicas, marks = small_dataset(), replicas_of("informational"), []
    with Pretend() as seen:
        learner = make_learner("NSGD", dataset, replicas, device=str(DEVICE), **reading)

        def mark(*shown):
            marks.append((len(seen.tape), seen.reads, seen.sends))

        simulate(dataset, replicas, learner, evaluation(24), observe=mark)
    (first, *before), (second, *_), (third, *after) = marks[20:23]
    assert seen.tape[first:second] == seen.tape[second:third]
    assert before == after


@pytest.mark.parametrize(("name", "memory", "length"), [("NSGD", "past_weights", "lag"), ("CPS", "queries", "history")])
def test_a_round_that_is_replayed_writes_to_a_place_of_its_own(name, memory, length):
    dataset, replicas, rounds = small_dataset(), replicas_of("informational"), 8
    with Pretend() as seen:
        learner = make_learner(name, dataset, replicas, device=str(DEVICE))
        shares, told = learner._shares, []

        def listening(*arguments):
            told[:] = arguments
            return shares(*arguments)

        learner._shares = listening
        simulate(dataset, replicas, learner, evaluation(rounds))
        candidates, places = told[0], SETTINGS[name][length]
        with seen.record() as recording:
            shares(*told)
        written = learner.state["weights"] if name == "NSGD" else candidates.query
        value = torch.full_like(written, 7)
        written.copy_(value)
        before = learner.state[memory].cpu()
        recording.replay()
        after = learner.state[memory].cpu()
    place = (rounds + 1) % places
    assert torch.equal(after[:, place], value.here) and not torch.equal(before[:, place], value.here)
    kept = torch.arange(places) != place
    assert torch.equal(after[:, kept], before[:, kept])
