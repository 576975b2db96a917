"""Sentences of the PairRank page: every number and name in them is read from what they tell of."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from ol2r.papers.pairrank import prose, tuning
from ol2r.papers.pairrank.claims import BASELINES


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


def test_the_slope_of_lemma_2_is_told_by_how_far_scores_are_apart_at_most():
    columns = {"dataset": "a", "users": "perfect", "fold": 1, "seed": [0, 0, 1, 1], "round": [1, 2, 1, 2]}
    runs = pd.DataFrame(columns | {"ndcg": [0.1, 0.2, 0.3, 0.4]})
    largest = runs.assign(width="Lemma 2, c = ¼")
    said = prose.slopes_in_words(pd.concat([runs.assign(width="Lemma 2"), largest]))
    assert said == "With the least slope all scores are the same in 2 of 2 runs; so the figure leaves it out."
    other = runs.assign(width="Lemma 2", ndcg=[0.1, 0.2, 0.35, 0.4])
    assert "in 1 of 2 runs, and in the others they are at most 0.05 apart" in prose.slopes_in_words(
        pd.concat([other, largest])
    )
    assert prose.slopes_in_words(runs[:0]) == prose.slopes_in_words(largest) == ""


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


def runs(*learners, datasets=("MQ2008",), users=("perfect", "informational")):
    """Runs at the end with both scores: a learner has the same lead over a common base in every run, but for noise."""
    lines = [
        (dataset, kind, 1, seed, 10, variant, alpha, "sum", seed + lead + noise, 100 * (seed + lead + noise))
        for dataset in datasets
        for kind in users
        for variant, alpha, lead in learners
        for seed, noise in enumerate((-0.001, 0.001, 0.0, 0.0))
    ]
    columns = ["dataset", "users", "fold", "seed", "round", "variant", "alpha", "loss", "ndcg", "cndcg"]
    return pd.DataFrame(lines, columns=columns).assign(cell="c")


def results_of(**frames):
    empty = runs()
    names = ("fig-3", "fig-4", "fig-3-mean", "fig-4-mean", "exploration")
    return {name: SimpleNamespace(frame=frames.get(name.replace("-", "_"), empty)) for name in names}


@pytest.fixture
def main():
    """PairRank_C above every baseline, PairRank_R between them; on a second data set, and on one with few queries."""
    flat = [(each, None, 0.1 * k) for k, each in enumerate(BASELINES)]
    datasets = ("MQ2008", "synthetic-mslr", prose.FEW_QUERIES)
    frame = runs(*flat, ("PairRank_R", None, 0.25), ("PairRank_C", None, 0.9), datasets=datasets)
    return results_of(fig_3=frame, fig_4=frame)


def test_leads_are_those_of_both_scores_on_the_data_sets_that_were_asked_for(main):
    table = prose.ahead(main, "PairRank_C", ("PDGD", "PairRank_R"), ("synthetic-mslr", "absent"))
    assert set(table["dataset"]) == {"synthetic-mslr"} and list(dict.fromkeys(table["row"])) == ["PDGD", "PairRank_R"]
    leads = table.groupby(["panel", "row"])["mean"].mean()
    assert leads[prose.OFFLINE, "PairRank_R"] == pytest.approx(0.65)
    assert leads[prose.ONLINE, "PDGD"] == pytest.approx(70)


def test_leads_without_runs_are_none():
    table = prose.ahead(results_of(), "PairRank_C", ("PDGD",), ("MQ2008",))
    assert table.empty and math.isnan(prose.mean_score(results_of(), "online", dataset="MQ2008"))
    assert prose.ahead(results_of(), "PairRank_C", ("PDGD",), ()).empty


def test_both_shuffles_are_compared_with_every_baseline_but_on_data_with_few_queries(main):
    table = prose.ahead_of_baselines(main)
    assert set(table["dataset"]) == {"MQ2008", "synthetic-mslr"} and len(table) == 2 * 2 * 2 * 5 * 2
    behind = table[table["high"] < 0]
    assert set(behind["shuffle"]) == {"PairRank_R"} and set(behind["row"]) == set(BASELINES[3:])


def test_a_mean_score_is_that_of_the_last_round_over_the_runs_asked_for(main):
    own = main["fig-3"].frame.query("dataset == 'MQ2008' and variant == 'PairRank_C'")
    last = own.loc[own["round"] == own["round"].max(), "ndcg"]
    assert prose.mean_score(main, "offline", dataset="MQ2008", variant="PairRank_C") == pytest.approx(last.mean())


def test_refitting_and_exploring_are_compared_apart():
    frame = runs(("SGD RankNet", None, 0.1), ("PairRank_C", None, 0.8))
    ends = runs(("PairRank_C", 0.0, 0.8), ("PairRank_C", 10.0, -1.0))
    groups = prose.exploration(results_of(fig_3=frame, fig_4=frame, exploration=ends))
    assert list(groups) == ["sum of the losses", "mean of the losses"]
    pairs = groups["sum of the losses"]
    assert list(pairs)[:2] == ["refitting, offline", "refitting, online"] and len(pairs) == 6
    one, other, score = pairs["exploring, online"]
    assert set(one["alpha"].isna()) == {True} and set(other["alpha"]) == {0.0} and score == "cndcg"


def test_claims_that_another_reading_changes_are_counted_among_those_it_concerns():
    def judged(name, verdict, **readings):
        place = SimpleNamespace(dataset="MQ2008", verdict=verdict)
        return SimpleNamespace(id=name, verdict="not testable", elsewhere=(place,), readings=readings)

    same, other = judged("A", "mixed"), judged("A", "undecided")
    said = prose.changed_in_words([judged("A", "mixed", x=same, y=other), judged("B", "mixed", x=same)])
    assert said.endswith("concerns: *x*, 0 of 2 claims; *y*, 1 of 1 claims (A).")
    assert prose.changed_in_words([same]) == ""
