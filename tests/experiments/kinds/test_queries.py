import numpy as np
import pytest

from ol2r.bandits import simulate_bandit
from ol2r.clicks import ItemClicks
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds.populations import Declared
from ol2r.experiments.kinds.queries import Queries, Rewards
from ol2r.papers.bubblerank import grid as bubblerank
from ol2r.papers.bubblerank.worlds import small
from ol2r.random import replica_key


def run(cell):
    (table,) = Queries.run_group([Job(cell, (Row(1, 0),))], Context())
    (line,) = table.to_dict("records")
    return line


def test_a_best_list_that_is_not_by_attraction_is_counted_with_what_sorting_loses():
    rising = ItemClicks("position", (0.6, 0.4, 0.2), (0.5, 1.0, 0.25))
    falling = ItemClicks("position", (0.6, 0.4, 0.4), (1.0, 0.5, 0.25))
    line = run(Queries(Declared("two", "PBM", ((rising, (0, 1, 2)), (falling, (2, 0, 1)))), cut=2))
    assert (line["queries"], line["unsorted"], line["tied"]) == (2, 1, 1)
    lost = (0.6 * 1.0 + 0.4 * 0.5) - (0.6 * 0.5 + 0.4 * 1.0)
    assert line["sorted_loss"] == pytest.approx(lost / 2)
    assert line["optimum"] == pytest.approx((0.6 + 0.4 * 0.5 + 0.6 + 0.4 * 0.5) / 2)
    assert line["inversions"] == (0 + 1) / 2  # 0.6 below 0.4 once


def test_hidden_items_count_below_the_list():
    users = ItemClicks("cascade", (0.6, 0.4, 0.2, 0.9))
    line = run(Queries(Declared("one", "CM", ((users, (2, 1)),)), cut=2))
    assert (line["items"], line["most_items"]) == (4, 4)
    assert line["inversions"] == 3 + 2  # .2 is above .4, .6, .9; .4 above .6, .9


@pytest.mark.parametrize("model", bubblerank.MODELS)
def test_inversions_and_optimum_are_those_the_bandits_are_judged_by(model):
    queries = small(model).queries()
    keys = [replica_key("queries", fold, 0) for fold in (1, 2)]
    trace = simulate_bandit(
        "Baseline", {}, [q.users for q in queries], [q.initial for q in queries], keys, 1, [1], bubblerank.CUT
    )
    line = run(Queries(small(model), bubblerank.CUT))
    assert line["inversions"] == np.mean(trace.initial_inversions)
    assert line["optimum"] == pytest.approx(np.mean(trace.optimum))


def test_a_population_is_one_row_whatever_folds_and_seeds_are_asked_for():
    assert Queries(small("CM"), 5).rows(None, range(10)) == (Row(1, 0),)


def test_the_rewards_of_queries_are_those_that_their_summary_has_the_mean_of():
    population = small("PBM")
    cell = Rewards(population, bubblerank.CUT)
    job = Job(cell, cell.rows(None, range(3)))
    assert job.rows == (Row(1, 0), Row(2, 0))
    (table,) = Rewards.run_group([job], Context())
    line = run(Queries(population, bubblerank.CUT))
    assert table[["fold", "seed"]].to_numpy().tolist() == [[1, 0], [2, 0]]
    assert table["optimum"].mean() == pytest.approx(line["optimum"])
    assert (table["optimum"] - table["sorted_reward"]).mean() == pytest.approx(line["sorted_loss"])
