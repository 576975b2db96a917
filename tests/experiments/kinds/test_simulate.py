"""The simulate kind of cell: what it says of itself. What it computes is in the tests of the loop and of the papers."""

import pytest

from ol2r import data
from ol2r.clicks import users
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.learners import PDGD
from ol2r.simulation import Evaluation


@pytest.mark.parametrize("level", ["bits", "means"])
def test_a_cell_repeats_as_its_learner_does(monkeypatch, level):
    it = data.entry("synthetic-tiny")
    cell = Simulate(
        it.name,
        it.checksum,
        "PDGD",
        1,
        (("alpha", 0.1), ("decay", 1.0)),
        users("perfect", it.n_grades),
        Evaluation(10, "test", "exponential", "zero", "expected", 0.995, (10,)),
    )
    monkeypatch.setattr(PDGD, "repeats", level)
    assert cell.repeats == level
