import numpy as np
import pytest

from ol2r.papers.nsgd.illustration import figure_1

SEEDS = range(20)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_null_direction_is_orthogonal_to_the_worst_loser_and_never_points_away_from_the_optimum(seed):
    drawn = figure_1(seed)
    assert drawn["lost"].any() and drawn["loser"] @ drawn["optimum"] < 0
    assert abs(drawn["null"] @ drawn["loser"]) < 1e-12
    assert drawn["null"] @ drawn["optimum"] >= 0


@pytest.mark.parametrize("seed", SEEDS)
def test_orders_are_by_falling_score_and_a_reordering_candidate_changes_a_score_difference(seed):
    drawn = figure_1(seed)
    rankers = np.concatenate([drawn["current"][None], drawn["current"] + drawn["candidates"]])
    for ranker, order in zip(rankers, drawn["orders"], strict=True):
        assert (np.diff(drawn["documents"][order] @ ranker) <= 0).all()
    for candidate, reorders, order in zip(drawn["candidates"], drawn["reorders"], drawn["orders"][1:], strict=True):
        assert reorders == (order != drawn["orders"][0]).any()
        if reorders:
            assert np.ptp(drawn["documents"] @ candidate) > 0


def test_the_winner_has_the_larger_sum_over_the_three_hardest_recorded_queries():
    drawn = figure_1(8)
    hardest, rest = drawn["recorded_ndcg"][drawn["hardest"]], np.delete(drawn["recorded_ndcg"], drawn["hardest"])
    assert hardest.max() <= rest.min()
    assert drawn["tied_ndcg"].sum(axis=0)[drawn["winner"]] == drawn["tied_ndcg"].sum(axis=0).max()


def test_the_figure_is_the_same_each_time():
    first, second = figure_1(3), figure_1(3)
    assert all(np.array_equal(first[name], second[name]) for name in first)
