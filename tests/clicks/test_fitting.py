"""Fits against counts by hand, known parameters, the likelihood's own maximum and the published models."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from ol2r.clicks.fitting import (
    PYCLICK_COUNTS,
    PYCLICK_EM_BEFORE_2017,
    fit_cascade,
    fit_dependent,
    fit_position,
    published_models,
)
from ol2r.clicks.items import ItemClicks, simulate_clicks
from ol2r.clicks.likelihood import log_likelihood
from ol2r.data.sessions import QuerySessions, load_sessions
from ol2r.random import generator

ATTRACTION = (0.6, 0.1, 0.35, 0.25, 0.5, 0.05)
POSITION = {"cascade": (), "dependent": (0.7, 0.4, 0.3, 0.2), "position": (1.0, 0.8, 0.5, 0.3)}
OTHER = (0.3, 0.2, 0.7, 0.15, 0.4, 0.55)
FITS = {
    "cascade": fit_cascade,
    "dependent": lambda queries, **how: fit_dependent(queries, leaving="hidden", **how),
    "position": fit_position,
}


def sessions(lists, clicks, n_items=3, query="q"):
    return QuerySessions(query, tuple("abcdef"[:n_items]), np.array(lists), np.array(clicks, dtype=np.bool_))


def simulated(model, n, key=1):
    """Sessions on random lists of four."""
    lists = generator("lists", key).permuted(np.tile(np.arange(model.n_items), (n, 1)), axis=1)[:, :4]
    return sessions(lists, simulate_clicks(model, lists, np.uint64(key)), model.n_items, f"q{key}")


HAND = [
    sessions(
        [[0, 1, 2], [1, 0, 2], [2, 0, -1], [0, 2, 1]],
        [[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, 1]],
    )
]


def test_cascade_counts_down_to_the_first_click():
    # examined: 0 1 | 1 | 2 0 | 0
    (it,) = fit_cascade(HAND)
    assert it.attraction == (1 / 3, 2 / 2, 0 / 1)
    (it,) = fit_cascade(HAND, PYCLICK_COUNTS)
    assert it.attraction == (2 / 5, 3 / 4, 1 / 3)


def test_dependent_counts_down_to_the_last_click_where_every_user_is_taken_to_leave():
    # examined: 0 1 2 | 1 | 2 0 | 0 2 1
    (it,) = fit_dependent(HAND, leaving="last click")
    assert it.attraction == (1 / 3, 3 / 3, 1 / 3)
    assert it.position == (1 / 2, 0 / 1, 2 / 2)
    (it,) = fit_dependent(HAND, PYCLICK_COUNTS, leaving="last click")
    assert it.attraction == (2 / 5, 4 / 5, 2 / 5)
    assert it.position == (2 / 4, 1 / 3, 3 / 4)


def plain_step(kind, queries, attraction, position, prior):
    """One step of expectation-maximisation, session by session and slot by slot."""
    a, n = prior
    clicks_i, views_i = [[a] * len(row) for row in attraction], [[n] * len(row) for row in attraction]
    clicks_k, views_k = [a] * len(position), [n] * len(position)
    for q, it in enumerate(queries):
        for ranking, clicked in zip(it.lists.tolist(), it.clicks.tolist(), strict=True):
            shown = [(k, i, c) for k, (i, c) in enumerate(zip(ranking, clicked, strict=True)) if i >= 0]
            last = max((k for k, _, c in shown if c), default=None)
            left = 0.0
            if kind == "dependent" and last is not None:
                silence = math.prod(1 - attraction[q][i] for k, i, _ in shown if k > last)
                left = position[last] / (position[last] + (1 - position[last]) * silence)
            for k, i, c in shown:
                alpha, chi = attraction[q][i], position[k]
                if kind == "position":
                    clicks_i[q][i] += 1 if c else alpha * (1 - chi) / (1 - alpha * chi)
                    clicks_k[k] += 1 if c else chi * (1 - alpha) / (1 - alpha * chi)
                    views_i[q][i] += 1
                    views_k[k] += 1
                else:
                    clicks_i[q][i] += c
                    views_i[q][i] += 1 if last is None or k <= last else 1 - left
                    if k < shown[-1][0]:  # something below tells whether the user left
                        clicks_k[k] += left if k == last else 0
                        views_k[k] += c
    new = [[c / v for c, v in zip(*rows, strict=True)] for rows in zip(clicks_i, views_i, strict=True)]
    return new, [c / v for c, v in zip(clicks_k, views_k, strict=True)]


@pytest.mark.parametrize("kind", ["dependent", "position"])
@pytest.mark.parametrize("prior", [(0.5, 1.5), PYCLICK_EM_BEFORE_2017])
def test_expectation_maximisation_takes_the_steps_of_a_plain_one(kind, prior):
    models = [ItemClicks(kind, row, POSITION[kind]) for row in (ATTRACTION, OTHER)]
    queries = [simulated(it, 200, key) for key, it in enumerate(models)]
    queries[1].lists[::3, 3], queries[1].clicks[::3, 3] = -1, False  # some lists are shorter
    if kind == "position":
        attraction, position = [[0.5] * 6] * 2, [0.5] * 4
    else:
        attraction = [it.attraction for it in fit_dependent(queries, prior, leaving="last click")]
        position = [0.5] * 4
    for steps in range(1, 4):
        attraction, position = plain_step(kind, queries, attraction, position, prior)
        with pytest.warns(UserWarning, match=f"still moves by .* after {steps} steps"):
            fitted = FITS[kind](queries, prior=prior, max_steps=steps)
        np.testing.assert_allclose([it.attraction for it in fitted], attraction, rtol=1e-12)
        influential = 3 if kind == "dependent" else 4
        np.testing.assert_allclose(fitted[0].position[:influential], position[:influential], rtol=1e-12)


def test_expectation_maximisation_that_is_told_when_to_stop_stops_there():
    queries = [simulated(ItemClicks("position", ATTRACTION, POSITION["position"]), 200)]
    attraction, position = [[0.2] * 6], [0.2] * 4
    for _ in range(7):
        attraction, position = plain_step("position", queries, attraction, position, PYCLICK_EM_BEFORE_2017)
    (it,) = fit_position(queries, PYCLICK_EM_BEFORE_2017, start=0.2, stop_after=7)
    np.testing.assert_allclose(it.attraction, attraction[0], rtol=1e-12)
    np.testing.assert_allclose(it.position, position, rtol=1e-12)


@pytest.mark.parametrize("kind", POSITION)
def test_known_parameters_are_recovered(kind):
    n = 40_000
    truth = [ItemClicks(kind, row, POSITION[kind]) for row in (ATTRACTION, OTHER)]
    fitted = FITS[kind]([simulated(it, n, key) for key, it in enumerate(truth)])
    for a, b in zip(fitted, truth, strict=True):
        # a few thousand effective views of each item, the binomial error of which is below 1 / sqrt(4 · views)
        np.testing.assert_allclose(a.attraction, b.attraction, atol=0.025)
    influential = 3 if kind == "dependent" else 4
    np.testing.assert_allclose(fitted[0].position[:influential], POSITION[kind][:influential], atol=0.03)


def test_counting_to_the_last_click_overestimates_attraction_and_leaving():
    truth = [ItemClicks("dependent", row, POSITION["dependent"]) for row in (ATTRACTION, OTHER)]
    queries = [simulated(it, 40_000, key) for key, it in enumerate(truth)]
    counted = fit_dependent(queries, leaving="last click")
    hidden = fit_dependent(queries, leaving="hidden")
    for a, b in zip(counted, truth, strict=True):
        assert (np.array(a.attraction) > b.attraction).all()
    v = counted[0].position
    assert (np.array(v) > POSITION["dependent"]).all() and v[-1] == 1 and v[-2] > POSITION["dependent"][-2] + 0.2
    assert log_likelihood(hidden, queries) > log_likelihood(counted, queries)


def test_leaving_is_learned_from_clicks_with_something_below_them():
    # nobody leaves after the first position, and clicks at the end of the short lists tell nothing of the second
    rows = [[0, 1, 2]] * 4 + [[1, 0, -1]] * 2
    clicks = [[1, 1, 1], [1, 1, 1], [1, 0, 1], [0, 1, 1]] + [[0, 1, 0]] * 2
    v = fit_dependent([sessions(rows, clicks)], leaving="hidden")[0].position
    np.testing.assert_allclose(v, [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize("kind", ["dependent", "position"])
def test_a_fit_is_a_maximum_of_the_likelihood(kind):
    truth = ItemClicks(kind, ATTRACTION, POSITION[kind])
    queries = [simulated(truth, 2000)]
    (it,) = FITS[kind](queries)
    best = log_likelihood([it], queries)
    assert best >= log_likelihood([truth], queries)
    draws = generator("nearby", 0)
    for _ in range(40):
        moved = [np.clip(np.array(row) + draws.normal(0, 0.01, len(row)), 0, 1) for row in (it.attraction, it.position)]
        other = ItemClicks(kind, *(tuple(row.tolist()) for row in moved))
        assert log_likelihood([other], queries) <= best + 1e-12


@pytest.mark.parametrize("kind", ["dependent", "position"])
def test_every_step_raises_the_likelihood(kind):
    queries = [simulated(ItemClicks(kind, ATTRACTION, POSITION[kind]), 300)]
    reached = []
    for steps in (1, 2, 4, 8, 16):
        with pytest.warns(UserWarning, match="still moves"):
            reached.append(log_likelihood(FITS[kind](queries, max_steps=steps), queries))
    assert reached == sorted(reached)


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(12)))
def test_a_fit_does_not_depend_on_the_order_of_sessions(order):
    it = simulated(ItemClicks("dependent", OTHER, POSITION["dependent"]), 12)
    shuffled = QuerySessions(it.query, it.items, it.lists[order], it.clicks[order])
    for fit in (
        lambda queries: fit_cascade(queries, PYCLICK_COUNTS),
        lambda queries: fit_dependent(queries, PYCLICK_COUNTS, leaving="hidden", tolerance=1e-3),
        lambda queries: fit_position(queries, PYCLICK_COUNTS, tolerance=1e-3),
    ):
        (a,), (b,) = fit([it]), fit([shuffled])
        np.testing.assert_allclose(a.attraction + a.position, b.attraction + b.position, rtol=1e-9)


def test_what_users_never_saw_needs_pseudo_counts():
    queries = [sessions([[0, 1, 2]], [[1, 0, 0]], n_items=4)]
    for fit, missing in (
        (fit_cascade, r"item b of query q \(3"),
        (FITS["dependent"], r"item b of query q \(3"),
        (fit_position, r"item d of query q \(1"),
    ):
        with pytest.raises(ValueError, match=rf"the sessions say nothing of {missing} such"):
            fit(queries)
    with pytest.raises(ValueError, match="say nothing of a click at position 2"):
        fit_dependent([sessions([[0, 1], [1, 0]], [[1, 0], [1, 0]], n_items=2)], leaving="last click")
    with pytest.raises(ValueError, match=r"say nothing of position 3"):
        fit_position([sessions([[0, 1, -1]], [[0, 0, 0]], n_items=2)])
    assert fit_cascade(queries, PYCLICK_COUNTS)[0].attraction == (2 / 3, 1 / 2, 1 / 2, 1 / 2)


def test_queries_with_few_items_are_fitted_beside_others():
    few = sessions([[0, 1, -1], [1, 0, -1]], [[1, 0, 0], [0, 0, 0]], n_items=2)
    for kind, fit in FITS.items():
        alone, together = fit([few, few], prior=PYCLICK_COUNTS)[0], fit([few, *HAND], prior=PYCLICK_COUNTS)[0]
        assert together.n_items == 2
        if kind == "cascade":
            assert together == alone


def test_positions_that_nobody_examines_and_certain_clicks_are_fitted_as_what_they_are():
    truth = ItemClicks("position", (1.0, 0.0, 0.35, 0.25, 0.5, 0.05), (1.0, 0.8, 0.0, 0.3))
    (it,) = fit_position([simulated(truth, 20_000)])
    assert [*it.attraction[:2], it.position[2]] == pytest.approx([1, 0, 0], abs=1e-6)
    np.testing.assert_allclose(it.attraction, truth.attraction, atol=0.03)
    np.testing.assert_allclose(it.position, truth.position, atol=0.03)


def test_a_query_of_one_item_is_fitted():
    queries = [sessions([[0]] * 4, [[1], [0], [1], [1]], n_items=1)]
    for kind, fit in FITS.items():
        (it,) = fit(queries)
        assert it.attraction == pytest.approx((3 / 4,))
        assert it.position == (() if kind == "cascade" else (1.0,))


def test_nobody_to_fit_to_and_unknown_ways_are_errors():
    empty = sessions(np.empty((0, 3), dtype=np.int64), np.empty((0, 3)))
    for fit in FITS.values():
        with pytest.raises(ValueError, match="there are no sessions to fit to"):
            fit([empty])
        for prior in ((2, 1), (-1, 1), (math.nan, 1)):
            with pytest.raises(ValueError, match=r"prior must be pseudo-counts"):
                fit(HAND, prior=prior)
    with pytest.raises(ValueError, match=r"leaving must be 'last click' or 'hidden', not 'first'"):
        fit_dependent(HAND, leaving="first")
    with pytest.raises(ValueError, match=r"kind must be one of .* not 'PBM'"):
        published_models("PBM")


@pytest.mark.real_data("Yandex_60Q_click_models")
@pytest.mark.parametrize("kind", POSITION)
def test_published_models_are_recovered_from_their_own_users(kind):
    published = list(published_models(kind).values())[:6]
    queries = []
    for key, it in enumerate(published):
        lists = generator("orders", key).permuted(np.tile(np.arange(10), (10_000, 1)), axis=1)
        names = tuple(map(str, range(10)))
        queries.append(QuerySessions(str(key), names, lists, simulate_clicks(it, lists, np.uint64(key))))
    for a, b in zip(FITS[kind](queries), published, strict=True):
        np.testing.assert_allclose(a.attraction, b.attraction, atol=0.035)
        if kind == "position":
            np.testing.assert_allclose(a.position, b.position, atol=0.03)


@pytest.mark.real_data("Yandex_60Q_click_models", "Yandex_WSCD_sample")
def test_other_queries_of_the_same_log_have_the_published_examination():
    train, test = load_sessions(unshown="ignore")
    fitted = fit_position(list(train.queries.values()), PYCLICK_EM_BEFORE_2017)  # as the published ones were
    published = next(iter(published_models("position").values()))
    assert spearmanr(fitted[0].position, published.position).statistic > 0.95
    np.testing.assert_allclose(fitted[0].position, published.position, atol=0.2)
    held_out = [test.queries[query] for query in train.queries]
    assert log_likelihood(fitted, held_out) > log_likelihood(
        fit_cascade(list(train.queries.values()), PYCLICK_COUNTS), held_out, floor=1e-6
    )


@pytest.mark.real_data("Yandex_60Q_click_models")
def test_published_leaving_rises_to_one_at_the_last_position_as_counting_to_the_last_click_makes_it():
    v = next(iter(published_models("dependent").values())).position
    assert v[-1] > 0.9999 and list(v[6:]) == sorted(v[6:])


def test_counts_are_all_that_the_position_based_model_needs():
    log = [simulated(ItemClicks("position", ATTRACTION, POSITION["position"]), 2000)]
    assert fit_position([it.counts() for it in log]) == fit_position(log)


def test_counts_of_no_view_are_no_sessions():
    none = QuerySessions("q", ("a",), np.empty((0, 1), dtype=np.int64), np.empty((0, 1), dtype=bool))
    with pytest.raises(ValueError, match="there are no sessions"):
        fit_position([none.counts()])
