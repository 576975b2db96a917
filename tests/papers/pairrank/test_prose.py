"""Numbers of the sentences on the PairRank pages."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from ol2r.papers.pairrank import prose
from ol2r.papers.pairrank.claims import BASELINES


def test_two_widths_are_apart_by_the_largest_difference_of_a_run():
    columns = {"dataset": "a", "users": "perfect", "fold": 1, "seed": [0, 0, 1, 1], "round": [1, 2, 1, 2]}
    one = pd.DataFrame(columns | {"ndcg": [0.1, 0.2, 0.3, 0.4], "width": "one"})
    other = one.assign(width="other", ndcg=[0.1, 0.2, 0.35, 0.38])
    assert prose.apart(pd.concat([one, other]), "one", "other").tolist() == pytest.approx([0, 0.05])
    assert prose.apart(one, "one", "other").empty


def test_blocks_of_a_list_are_means_over_rounds_and_runs_at_the_end():
    columns = {"dataset": "a", "cell": "c", "fold": 1, "seed": [0, 0, 1], "round": [5, 10, 10], "rounds": [5, 10, 10]}
    assert prose.blocks_of_a_list(pd.DataFrame(columns | {"blocks": [5, 80, 100]}), ["dataset"])["a"] == 9.0


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
