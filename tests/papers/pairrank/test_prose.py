"""Sentences of the PairRank page: every number and name in them is read from what they tell of."""

from types import SimpleNamespace

import pandas as pd
import pytest

from ol2r.papers.pairrank import prose, tuning


@pytest.fixture
def scores():
    """Two cells of two grids on one data set, of which one each was chosen."""
    lines = [
        (tuning.SUM, 0.01, 10.0, None, False),
        (tuning.SUM, 0.1, 10.0, None, True),
        ("epsilon-greedy", 0.1, None, 0.25, True),
        ("epsilon-greedy", 0.1, None, 0.05, False),
    ]
    frame = pd.DataFrame(lines, columns=["grid", "alpha", "regularization", "epsilon", "best"])
    return frame.assign(dataset="MQ2008")


def test_only_widths_that_may_be_chosen_are_told_as_such_beside_the_one_that_was(scores):
    said = prose.widths_in_words(scores)
    assert "Of the 5 widths α in PairRank's grids 2 may be chosen, 0.01 and 0.1." in said
    assert "With the summed loss: 0.1 on MQ2008. Nothing" in said


def test_the_chosen_share_of_random_slots_is_told(scores):
    assert "from 0.05, 0.1, 0.25 and 0.5: 0.25 on MQ2008." in prose.randomness_in_words(scores)


def test_where_nothing_was_tuned_only_what_may_be_chosen_is_told(scores):
    assert "2 may be chosen, 0.01 and 0.1. Nothing between" in prose.widths_in_words(scores[:0])
    assert "0.25 and 0.5. ε is the share" in prose.randomness_in_words(scores[:0])


def test_epsilon_is_told_with_the_verdict_of_its_data_set_and_of_data_with_borrowed_values_too():
    place = SimpleNamespace(dataset="ClueWeb09_webis", verdict="undecided")
    said = prose.epsilon_in_words(["MQ2008", "ClueWeb09_webis"], SimpleNamespace(id="PR13", elsewhere=(place,)))
    value = tuning.TUNED.chosen("MQ2008", "epsilon-greedy")["epsilon"]
    assert f"MQ2008 {value:g}; ClueWeb09 (Webis) {value:g} (PR13: undecided)." in said
    assert f"{value:g} on MQ2008, ClueWeb09 (Webis), {100 * value:g} % of all slots" in said
    assert prose.epsilon_in_words([], SimpleNamespace(id="PR13", elsewhere=())) == ""


def test_learners_above_the_offline_ranker_are_found_by_data_set():
    lines = [("a", "perfect", "PDGD", 0.5), ("a", "perfect", "MGD", 0.52), ("b", "perfect", "PDGD", 0.3)]
    final = pd.DataFrame(lines, columns=["dataset", "users", "variant", "mean"])
    said = prose.reference_in_words(final, {"a": 0.49, "b": 0.3})
    assert "on a (by at most 0.030: MGD, perfect users): there it is no upper bound." in said
    assert prose.reference_in_words(final, {"a": 0.6, "b": 0.6}).endswith("No online learner ends above it.")


def test_blocks_of_a_list_are_means_over_rounds_and_runs_at_the_end():
    def runs(alpha, *blocks):
        columns = {"dataset": "a", "alpha": alpha, "cell": str(alpha), "fold": 1, "seed": range(len(blocks))}
        return pd.DataFrame(columns | {"round": 10, "rounds": 10, "blocks": blocks})

    extremes = pd.concat([runs(10.0, 10, 10), runs(0.0, 80, 100)], ignore_index=True)
    said = prose.blocks_in_words(extremes, runs(0.1, 50, 60))
    assert said.endswith("a 9.0 with α = 0, 5.5 at the chosen one, 1.0 with α = 10.")
    assert prose.blocks_in_words(extremes[:0], runs(0.1, 50)) == ""


def test_short_steps_stand_beside_the_ones_that_were_chosen():
    assert "0.0001 in place of 0.01 for MGD on MQ2008" in prose.short_steps_in_words()
