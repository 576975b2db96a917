"""What Theorem 1 says of queries: by hand for small worlds, and for the published ones."""

import math

import numpy as np
import pytest

from ol2r.clicks import ItemClicks
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds.populations import ClickQuery, Declared
from ol2r.experiments.kinds.query_bounds import QueryBounds, bounds_of_queries, complexity
from ol2r.papers.bubblerank import grid as bubblerank
from ol2r.papers.bubblerank.worlds import drawn
from ol2r.theory import bubblerank as theory

STEPS = 5_000_000
FALLING = ItemClicks("position", (0.6, 0.1, 0.4, 0.3), (1.0, 0.8, 0.5, 0.4))


def cell(*worlds, model="PBM", cut=2, steps=STEPS):
    return QueryBounds(Declared("worlds", model, worlds), cut, steps, 4.0)


def together(one):
    job = Job(one, one.rows(None, range(3)))
    told = []
    (table,) = QueryBounds.run_group([job], Context(progress=told.append))
    check_table(one, job.rows, table)
    assert job.rows == (Row(1, 0),) and told == [1.0]
    assert not set(one.labels()) & set(table.columns)
    (line,) = table.to_dict("records")
    return line


def test_the_complexity_of_a_query_is_that_of_its_listed_items():
    world = complexity(ClickQuery(FALLING, (1, 0, 2)), cut=2)
    assert world.shown.tolist() == [0.1, 0.6, 0.4]
    assert (world.positions, world.inversions) == (3, 2)
    assert world.gap == pytest.approx(0.2) and world.even_gap == pytest.approx(0.25)
    assert world.examination.tolist() == [1.0, 0.8, 0.5] and world.earned.tolist() == [1.0, 0.8]
    assert world.best == pytest.approx(0.6 + 0.8 * 0.4) and world.falls and world.assumed


def test_examination_of_the_best_list_in_the_cascade_and_the_dependent_click_model():
    attraction, leaving = (0.2, 0.5, 0.4), (0.9, 0.6, 0.3)
    cascade = complexity(ClickQuery(ItemClicks("cascade", attraction), (0, 1, 2)), cut=3)
    np.testing.assert_allclose(cascade.examination, [1, 0.5, 0.5 * 0.6])
    np.testing.assert_allclose(cascade.earned, cascade.examination)
    dependent = complexity(ClickQuery(ItemClicks("dependent", attraction, leaving), (0, 1, 2)), cut=3)
    np.testing.assert_allclose(dependent.examination, [1, 1 - 0.45, (1 - 0.45) * (1 - 0.24)])
    np.testing.assert_allclose(dependent.earned, dependent.examination * leaving)
    assert cascade.best == pytest.approx(1 - 0.8 * 0.5 * 0.6)
    assert dependent.best == pytest.approx(1 - (1 - 0.45) * (1 - 0.24) * (1 - 0.06))


def test_a_querys_bound_is_the_theorems_with_what_stands_in_the_way_taken_away():
    one = cell((FALLING, (1, 0, 2, 3)), steps=3_000_000)
    (line,) = bounds_of_queries(one).to_dict("records")
    level, most = 4 * math.log(3_000_000), 4 * 3_000_000
    expected = {
        "share": theory.printed_regret_bound(4, 3, 0.1, 1.0, 0.4, level, 3_000_000),
        "share_apart": theory.printed_regret_bound(4, 3, 0.5 / 3, 1.0, 0.4, level, 3_000_000),
        "share_examined": theory.printed_regret_bound(4, 3, 0.1, 1.0, 1.0, level, 3_000_000),
        "share_both": theory.printed_regret_bound(4, 3, 0.5 / 3, 1.0, 1.0, level, 3_000_000),
    }
    for name, bound in expected.items():
        assert line[name] == pytest.approx(min(1.0, sum(bound) / most))
    assert line["share_both"] < line["share_apart"] < 1.0
    shown, chi = np.array([0.1, 0.6, 0.4, 0.3]), np.array([1.0, 0.8])
    proved = sum(theory.regret_bound(shown, chi, 0.4, level, 3_000_000, False))
    assert line["proved_share"] == pytest.approx(proved / (3_000_000 * (0.6 + 0.8 * 0.4)))


def test_from_the_first_step_on_the_bound_is_below_all_that_can_be_lost():
    (line,) = bounds_of_queries(cell((FALLING, (1, 0, 2, 3)))).to_dict("records")
    n = round(line["first_step"])
    for steps, below in ((n - 2, False), (n + 2, True), (10 * n, True)):
        (found,) = bounds_of_queries(cell((FALLING, (1, 0, 2, 3)), steps=steps)).to_dict("records")
        assert (found["share"] < 1) == below


def test_a_population_is_counted():
    equal = ItemClicks("position", (0.5, 0.5, 0.2), (0.9, 0.8, 0.7))
    rising = ItemClicks("position", (0.6, 0.4, 0.2), (0.7, 0.9, 0.8))
    line = together(cell((FALLING, (0, 2, 3, 1)), (equal, (0, 1, 2)), (rising, (2, 1, 0))))
    assert line["queries"] == 3
    assert (line["differ"], line["falls"], line["sorted_best"], line["assumed"]) == (2, 2, 2, 1)
    assert line["says_both"] == 3 and line["proved_says"] == 1
    assert line["gap"] == pytest.approx(0.1) and line["least"] == 0.7 and line["inversions"] == 0
    assert line["first_step"] < line["half_step"] < math.inf
    alone = together(cell((equal, (0, 1, 2))))
    assert alone["says"] == 0 and alone["first_step"] == math.inf and math.isnan(alone["proved_share"])


def test_falling_leaving_is_what_the_dependent_click_model_needs():
    attraction = (0.6, 0.4, 0.2)
    falling = ItemClicks("dependent", attraction, (0.9, 0.5, 0.5))
    rising = ItemClicks("dependent", attraction, (0.5, 0.6, 0.9))
    line = together(cell((falling, (0, 1, 2)), (rising, (0, 1, 2)), model="DCM", cut=3))
    assert (line["falls"], line["sorted_best"], line["assumed"]) == (1, 1, 1)


def test_the_cascade_model_needs_nothing_but_different_attractions():
    line = together(QueryBounds(drawn("CM", "worlds", 5, 6), 2, STEPS, 4.0))
    assert line["falls"] == line["sorted_best"] == line["assumed"] == line["differ"] == 6


def test_one_item_has_nothing_to_lose():
    line = together(cell((ItemClicks("position", (0.5,), (0.9,)), (0,)), cut=1))
    assert line["assumed"] == 1 and line["first_step"] <= 1 and line["proved_share"] < 1e-6


def test_a_position_that_nobody_examines_leaves_the_bound_without_a_word():
    unseen = ItemClicks("position", (0.6, 0.4, 0.2), (0.9, 0.8, 0.0))
    line = together(cell((unseen, (0, 1, 2))))
    assert line["says"] == line["says_apart"] == line["assumed"] == 0 and line["says_examined"] == 1


@pytest.mark.real_data("Yandex_60Q_click_models")
@pytest.mark.parametrize("model", bubblerank.MODELS)
def test_theorem_1_says_nothing_of_any_published_query_in_five_million_steps(model):
    line = together(QueryBounds(bubblerank.published(model), bubblerank.CUT, STEPS, 4.0))
    assert line["says"] == 0 and line["first_step"] > STEPS
