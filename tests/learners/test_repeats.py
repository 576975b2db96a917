"""What is asked of a learner that repeats in its means only, as networks do."""

import pytest
import torch
from small import SETTINGS, assert_same, play, replicas_of, small_dataset

from ol2r.learners import LEARNERS, PDGD


@pytest.fixture
def loose(monkeypatch):
    """A learner whose weights are shaken by numbers that belong to the process and to no replica."""

    class Loose(PDGD):
        name = "loose"
        revision = 1
        repeats = "means"

        def update(self, candidates, ranking, clicks):
            super().update(candidates, ranking, clicks)
            self.state["weights"] = self.state["weights"] + 1e-3 * torch.randn_like(self.state["weights"])

    monkeypatch.setitem(SETTINGS, "loose", SETTINGS["PDGD"])
    yield Loose
    del LEARNERS["loose"]


def played(seed, **changed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return play("loose", small_dataset(), replicas_of("informational", seeds=range(8)), 30, **changed)[:]


def test_its_means_are_compared_and_nothing_else(loose, monkeypatch):
    one, other = played(1), played(2)
    assert_same("loose", one, other)
    monkeypatch.setattr(loose, "repeats", "bits")
    with pytest.raises(AssertionError):
        assert_same("loose", one, other)


def test_other_means_are_found_out(loose):
    with pytest.raises(AssertionError, match=r"deviation .* standard errors"):
        assert_same("loose", played(1), played(2, alpha=1.0))
