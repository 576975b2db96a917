"""Click probabilities, log-likelihood and perplexity against enumeration and by hand."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ol2r
from ol2r.clicks.fitting import fit_position
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


# two logs of the same queries, whose rows come in other orders


def log(shift: int, queries=("shoes", "tents"), seed=0) -> pd.DataFrame:
    """Sessions of a log: the same users, but items and queries are met in another order."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in np.roll(queries, shift):
        for session in range(400):
            shown = np.roll(["a", "b", "c"], shift + session)
            for position, item in enumerate(shown, start=1):
                chance = {"a": 0.9, "b": 0.5, "c": 0.1}[item] / position * (1 if query == "shoes" else 0.5)
                rows.append((query, f"{query}{session}", position, item, int(rng.random() < chance)))
    return pd.DataFrame(rows, columns=["query", "session", "position", "item", "clicked"])


def test_the_order_in_which_a_log_meets_items_and_queries_changes_no_score():
    fits = fit_position(list(ol2r.sessions(log(0)).values()))
    assert [(it.query, it.items) for it in fits] == [("shoes", ("a", "b", "c")), ("tents", ("a", "b", "c"))]
    rows = log(1, seed=1)
    other = list(ol2r.sessions(rows).values())
    assert [it.query for it in other] == ["tents", "shoes"] and other[0].items == ("c", "a", "b")
    ordered = rows.sort_values(["query", "session", "item"], kind="stable")  # names as the first log met them
    again = list(ol2r.sessions(ordered).values())
    assert again[0].items == ("a", "b", "c")
    np.testing.assert_allclose(perplexity(fits, other), perplexity(fits, again), rtol=1e-12)
    np.testing.assert_allclose(perplexity(fits, other), [1.6, 1.5, 1.3], atol=0.15)
    assert math.isclose(log_likelihood(fits, other), log_likelihood(fits, again), rel_tol=1e-12)


def test_renaming_every_item_and_query_in_both_logs_changes_nothing():
    first, second = log(0), log(1, seed=1)
    scores = perplexity(fit_position(list(ol2r.sessions(first).values())), list(ol2r.sessions(second).values()))
    for table in (first, second):
        for column in ("query", "item"):
            table[column] = table[column].map(lambda name: f"{name[::-1]}!")
    renamed = perplexity(fit_position(list(ol2r.sessions(first).values())), list(ol2r.sessions(second).values()))
    np.testing.assert_array_equal(scores, renamed)


def test_an_item_that_training_never_saw_is_refused_by_name_or_has_the_attraction_that_is_given():
    fits = fit_position(list(ol2r.sessions(log(0)).values()))
    rows = log(0, seed=1)
    rows.loc[rows["item"] == "c", "item"] = "z"
    queries = list(ol2r.sessions(rows).values())
    with pytest.raises(ValueError, match=r"query shoes: 1 of its items, such as z, are not the model's; give"):
        perplexity(fits, queries)
    known = [ItemClicks(it.kind, (*it.attraction, 0.3), it.position, it.query, (*it.items, "z")) for it in fits]
    np.testing.assert_array_equal(perplexity(fits, queries, unseen=0.3), perplexity(known, queries))


def test_queries_without_a_model_are_named():
    fits = fit_position(list(ol2r.sessions(log(0)).values()))
    extra = list(ol2r.sessions(log(0, ("shoes", "boats"))).values())
    with pytest.raises(ValueError, match="there is no model for 1 of 2 queries, such as boats"):
        perplexity(fits, extra)
    assert np.isfinite(perplexity(fits, extra[:1])).all(), "models of other queries do no harm"
    with pytest.raises(ValueError, match="found two for query shoes"):
        perplexity([*fits, fits[0]], extra[:1])
    with pytest.raises(ValueError, match="expected a model for each of 2 queries, found 1"):
        perplexity([ItemClicks("cascade", (0.5,))], extra)


def test_a_model_keeps_the_names_of_the_items_that_are_left():
    it = ItemClicks("cascade", (0.1, 0.2, 0.3), query="q", items=("a", "b", "c")).restricted([2, 0])
    assert (it.attraction, it.items) == ((0.3, 0.1), ("c", "a"))
    assert it == ItemClicks("cascade", (0.3, 0.1)), "names are no part of what a model is"
    with pytest.raises(ValueError, match="a different name for each of 2 items"):
        ItemClicks("cascade", (0.3, 0.1), items=("a", "a"))
