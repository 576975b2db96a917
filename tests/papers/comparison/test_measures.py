"""Numbers of runs, average ranks, and the rule of the table of decisions."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ol2r.papers.comparison import decisions, measures, ranks
from ol2r.papers.comparison.decisions import Situation


def test_a_run_has_a_score_at_the_end_and_early_and_the_mean_of_its_lists(frame):
    runs = measures.of_runs(frame)
    one = runs[(runs["variant"] == "PairRank") & (runs["users"] == "perfect")].set_index(["fold", "seed"])
    assert one.loc[(2, 1), "offline"] == pytest.approx(0.53)
    assert one.loc[(1, 0), "early"] == pytest.approx(0.05)  # after ten of a hundred rounds
    assert one.loc[(1, 0), "lists"] == pytest.approx(0.4)
    assert one.loc[(1, 0), "regret"] == pytest.approx(5.0)
    assert measures.of_runs(frame[:0]).empty


def test_a_run_is_near_the_offline_ranker_of_its_own_fold_or_never(frame, reference):
    runs = measures.of_runs(frame, reference).set_index(["variant", "users", "fold", "seed"])["near"]
    assert runs["olRankNet", "perfect", 1, 0] == 100 and runs["PairRank", "perfect", 1, 0] == 100
    assert np.isnan(runs["PairRank", "perfect", 2, 0])
    assert measures.of_runs(frame, reference.assign(test_ndcg=0.3))["near"].min() == 50
    assert measures.of_runs(frame, reference[:0])["near"].isna().all()


def test_users_are_averaged_within_a_run(frame):
    runs = measures.of_runs(frame)
    runs.loc[runs["users"] == "perfect", "offline"] += 0.3
    wide = measures.over_users(runs, "offline")
    assert wide.loc[(1, 0), "PDGD"] == pytest.approx(0.45 + 0.1)
    assert measures.over_users(runs, "offline", ("perfect",)).loc[(1, 0), "PDGD"] == pytest.approx(0.75)
    lacking = runs.drop(runs[(runs["variant"] == "PDGD") & (runs["seed"] == 1) & (runs["users"] == "perfect")].index)
    assert np.isnan(measures.over_users(lacking, "offline").loc[(1, 1), "PDGD"])


def test_learners_are_compared_with_the_best_baseline_of_each_score_on_the_same_runs(frame):
    runs = measures.of_runs(frame)
    table = measures.over_baseline(runs, ("PairRank", "never run"), ("DBGD", "PDGD")).set_index("score")
    means = runs.groupby("variant")[["offline", "lists"]].mean().loc[lambda own: own.index.isin(["DBGD", "PDGD"])]
    assert set(table["learner"]) == {"PairRank"}
    for score in ("offline", "lists"):
        assert table.loc[score, "baseline"] == means[score].idxmax()
        own = runs.loc[runs["variant"] == "PairRank", score].mean()
        assert table.loc[score, "mean"] == pytest.approx(own - means[score].max())


def test_costs_are_of_a_round_and_of_its_first_and_last_window(timed):
    table = measures.costs(timed).set_index("variant")
    assert table.loc["olRankNet"].tolist() == pytest.approx([30.0, 10.0, 50.0, 2e9])
    assert measures.costs(timed[:0]).empty


def test_violations_are_of_a_hundred_rounds(judged):
    table = measures.unsafe(judged).groupby(["variant", "users"])["violations"].mean()
    assert table["BubbleRank", "perfect"] == 0 and table["PairRank", "navigational"] == 30.5


def test_the_worst_luck_is_the_worse_of_both_choices(frame):
    luck = pd.concat([
        frame.assign(luck="as tuned"), frame.assign(luck="twice", ndcg=frame["ndcg"] - 0.1),
        frame.assign(luck="a tenth", ndcg=frame["ndcg"] - 0.05 * (frame["variant"] == "PDGD")),
    ])  # fmt: skip
    table = measures.worst_luck(luck, "as tuned")
    assert table["lacks"].to_numpy() == pytest.approx(0.1)
    assert len(table) == 4 * 3 * 4
    # where each choice is worse in some runs, the one that is worse on average counts in all of them
    moved = luck["ndcg"].where(luck["seed"] == 0, luck["ndcg"] + 0.09 * (luck["luck"] == "twice"))
    lacks = measures.worst_luck(luck.assign(ndcg=moved), "as tuned").set_index(["variant", "seed"])["lacks"]
    assert lacks["PairRank", 0].to_numpy() == pytest.approx(0.1)
    assert lacks["PairRank", 1].to_numpy() == pytest.approx(0.01)


def test_the_critical_difference_is_that_of_the_table_of_demsar():
    """Table 5 (a) of Demšar (2006): q = 2.343 for three and 3.164 for ten classifiers at 5 %."""
    for k, q in ((2, 1.960), (3, 2.343), (10, 3.164)):
        assert ranks.critical_difference(k, 12) == pytest.approx(q * (k * (k + 1) / 72) ** 0.5, abs=1e-3)


def test_average_ranks_are_over_users_and_folds(frame):
    found = ranks.ranks(measures.of_runs(frame), "offline")
    assert list(found.table["variant"]) == ["olRankNet", "PairRank", "PDGD", "DBGD"]
    assert found.table["rank"].tolist() == [1, 2, 3, 4] and found.blocks == 6
    assert found.p == pytest.approx(stats.friedmanchisquare(*np.tile(np.arange(4.0)[:, None], 6)).pvalue)
    assert found.critical == pytest.approx(2.569 * (20 / 36) ** 0.5, abs=2e-3)
    assert found.apart() == 3 and found.with_first() == ["olRankNet", "PairRank"]
    assert ranks.ranks(measures.of_runs(frame), "regret", least=True).table["variant"].iloc[0] == "olRankNet"
    with pytest.raises(ValueError, match="at least 3 learners and 2 blocks"):
        ranks.ranks(measures.of_runs(frame[frame["variant"] == "PDGD"]), "offline")


OFFLINE = Situation("end", "offline", "quality", "offline")


def wide(**means):
    """Two runs of two folds: each learner's mean with what its runs have more or less."""
    index = pd.MultiIndex.from_product([(1, 2), (0, 1)], names=["fold", "seed"])
    return pd.DataFrame({name: mean + np.array(noise) for name, (mean, noise) in means.items()}, index=index)


def test_the_best_mean_is_chosen_and_who_is_not_clearly_behind_fits_as_well():
    runs = wide(A=(0.5, [0, 0.1, 0, 0.1]), B=(0.49, [0.1, 0, 0.1, 0]), C=(0.3, [0, 0.1, 0.01, 0.1]))
    choice = decisions.choose(runs)
    assert choice.best == "A" and choice.next == "B" and choice.fitting == ("B",) and not choice.clear
    assert choice.behind == ("C",) and choice.means["C"] == pytest.approx(0.3525)
    assert choice.lead == pytest.approx(0.01) and choice.low < 0 < choice.high
    alone = decisions.choose(runs[["A", "C"]])
    assert alone.clear and alone.fitting == () and alone.lead == pytest.approx(0.1975)
    fewest = decisions.choose(runs, least=True)
    assert fewest.best == "C" and fewest.lead > 0 and fewest.means["A"] == pytest.approx(0.55)
    assert decisions.choose(runs[["A"]]).next is None and decisions.choose(runs[:0]) is None


def test_quick_learners_take_at_most_so_many_times_as_long_as_the_fastest(timed):
    costs = measures.costs(timed)
    assert decisions.quick(costs) == ["PDGD", "PairRank"] and decisions.quick(costs, 100) == list(costs["variant"])
    assert decisions.quick(costs[:0]) == []


def test_decisions_follow_from_numbers_users_and_compute(frame):
    runs = measures.of_runs(frame)
    runs.loc[(runs["users"] == "informational") & (runs["variant"] == "DBGD"), "offline"] += 0.5
    situations = (
        OFFLINE, Situation("quick", "offline", "quality", "offline", quick=True),
        Situation("noisy", "offline", "quality", "offline", ("informational",)),
        Situation("regret", "regret", "quality", "regret", least=True), Situation("none", "x", "absent", "offline"),
    )  # fmt: skip
    made = decisions.decide(situations, {"quality": runs}, set(runs["variant"]), ["PDGD", "PairRank"])
    assert [one.situation.name for one in made] == ["end", "quick", "noisy", "regret"]
    assert [one.choice.best for one in made] == ["olRankNet", "PairRank", "DBGD", "olRankNet"]
    assert made[0].by_users == {"informational": "DBGD"} and made[0].at_any_cost == ""
    assert made[1].at_any_cost == "olRankNet" and made[2].by_users == {}
    assert list(decisions.frame_of(made)["variant"]) == [one.choice.best for one in made]
    without = decisions.decide((OFFLINE,), {"quality": runs}, ["PDGD"], [])
    assert without[0].choice.best == "PDGD"


def test_every_situation_reads_a_number_that_runs_have(frame, judged):
    luck = measures.worst_luck(pd.concat([frame.assign(luck="as tuned"), frame.assign(luck="twice")]), "as tuned")
    runs = measures.of_runs(frame)
    tables = {"quality": runs, "unlucky": luck}
    tables["other users"] = runs[runs["users"] == "perfect"].assign(users="by position")
    tables["safety"] = measures.unsafe(judged)
    made = decisions.decide(decisions.SITUATIONS, tables, {*frame["variant"], "BubbleRank"}, ["PDGD"])
    chosen = {one.situation.name: one.choice.best for one in made}
    assert list(chosen) == [each.name for each in decisions.SITUATIONS]
    assert chosen["safety first, clean clicks"] == "BubbleRank" and chosen["safety first, noisy clicks"] == "DBGD"
    assert chosen["no compute to spare"] == "PDGD" and chosen["noisy users"] == "olRankNet"
