"""Click probabilities, log-likelihood and perplexity against enumeration and by hand."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ol2r.clicks.items import CODES, ItemClicks
from ol2r.clicks.likelihood import click_probabilities, conditional_probabilities, log_likelihood, perplexity
from ol2r.data.sessions import QuerySessions

probability = st.sampled_from([0.0, 0.25, 1.0]) | st.floats(0, 1)


def model(kind, attraction, position):
    return ItemClicks(kind, tuple(attraction), () if kind == "cascade" else tuple(position))


def sessions(lists, clicks, n_items=3):
    return QuerySessions("q", tuple(map(str, range(n_items))), np.array(lists), np.array(clicks, dtype=np.bool_))


def probability_of(it, ranking, clicks):
    """P(clicks) by following every way in which a user may stay or leave."""
    if it.kind == "position":
        p = [it.position[k] * it.attraction[item] for k, item in enumerate(ranking)]
        return math.prod(q if c else 1 - q for q, c in zip(p, clicks, strict=True))

    def follow(k):
        if k == len(ranking):
            return 1.0
        alpha = it.attraction[ranking[k]]
        if not clicks[k]:
            return (1 - alpha) * follow(k + 1)
        leave = 1.0 if it.kind == "cascade" else it.position[k]
        return alpha * (leave * (not any(clicks[k + 1 :])) + (1 - leave) * follow(k + 1))

    return follow(0)


@st.composite
def cases(draw):
    n = draw(st.integers(1, 4))
    rows = [draw(st.lists(probability, min_size=n, max_size=n)) for _ in range(2)]
    return model(draw(st.sampled_from(list(CODES))), *rows), draw(st.permutations(range(n)))


@settings(deadline=None)
@given(cases())
def test_probabilities_are_those_of_enumeration(case):
    it, ranking = case
    n = len(ranking)
    clicks = np.array(list(product([False, True], repeat=n)))
    lists = np.tile(ranking, (len(clicks), 1))
    exact = np.array([probability_of(it, ranking, row) for row in clicks])
    conditional = conditional_probabilities(it, lists, clicks)
    found = np.where(clicks, conditional, 1 - conditional).prod(axis=1)
    np.testing.assert_allclose(found, exact, atol=1e-9)
    assert math.isclose(found.sum(), 1, abs_tol=1e-9)
    np.testing.assert_allclose(click_probabilities(it, lists)[0], exact @ clicks, atol=1e-9)


def test_log_likelihood_is_the_mean_over_all_sessions():
    queries = [sessions([[0, 1]], [[1, 0]]), sessions([[1, 0], [0, -1]], [[0, 1], [0, 0]])]
    models = [ItemClicks("cascade", (0.5, 0.2, 0.1)), ItemClicks("position", (0.5, 0.2, 0.1), (1.0, 0.5))]
    by_hand = [math.log(0.5), math.log(1 - 0.2) + math.log(0.5 * 0.5), math.log(1 - 0.5)]
    assert math.isclose(log_likelihood(models, queries), sum(by_hand) / 3)


def test_a_second_click_is_impossible_in_the_cascade_model_unless_a_floor_is_put_under_it():
    queries, models = [sessions([[0, 1, 2]], [[1, 0, 1]])], [ItemClicks("cascade", (0.5, 0.2, 0.1))]
    assert log_likelihood(models, queries) == -math.inf
    assert math.isclose(log_likelihood(models, queries, floor=1e-6), math.log(0.5) + math.log(1e-6))


def test_perplexity_is_2_for_a_fair_coin_and_1_for_foresight():
    queries = [sessions([[0, 1]] * 4, [[1, 0], [1, 1], [1, 0], [1, 1]])]
    assert perplexity([ItemClicks("position", (1.0, 1.0, 0.0), (1.0, 0.5))], queries).tolist() == [1.0, 2.0]
    skewed = perplexity([ItemClicks("position", (1.0, 1.0, 0.0), (1.0, 0.2))], queries)[1]
    assert math.isclose(skewed, 1 / math.sqrt(0.2 * 0.8))


def test_perplexity_counts_only_positions_that_show_something():
    it = ItemClicks("cascade", (0.5, 0.0, 0.0))
    queries = [sessions([[0, -1, -1], [0, 1, -1]], [[0, 0, 0], [0, 0, 0]]), sessions([[0]], [[1]])]
    assert perplexity([it, it], queries)[:2].tolist() == [2.0, 1.0]
    assert math.isnan(perplexity([it, it], queries)[2])


def test_models_must_know_what_the_sessions_show():
    queries = [sessions([[0, 1, 2]], [[0, 0, 0]])]
    for it in (ItemClicks("cascade", (0.5, 0.5)), ItemClicks("position", (0.5,) * 3, (0.5,) * 2)):
        with pytest.raises(ValueError, match=r"the model knows . items and . positions; the lists show others"):
            log_likelihood([it], queries)
    with pytest.raises(ValueError, match="there are no sessions"):
        perplexity([ItemClicks("cascade", (0.5,) * 3)], [sessions(np.empty((0, 3), int), np.empty((0, 3)))])
