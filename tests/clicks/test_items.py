"""Click models by item: the compiled user against a plain one, rewards against their definition and all lists."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ol2r.clicks.items import CODES, ItemClicks, best_ranking, expected_reward, item_clicks, simulate_clicks
from ol2r.random import Stream, uniform

KINDS = list(CODES)
KEY = np.uint64(0x1234_5678_9ABC_DEF0)
# near the ends too, and equal to one another often
probability = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]) | st.floats(0, 1)


def model(kind, attraction, position):
    return ItemClicks(kind, tuple(attraction), () if kind == "cascade" else tuple(position))


def clicks_on(it, ranking, key=KEY, step=7):
    out = np.ones(len(ranking), dtype=np.bool_)
    item_clicks(it.code, *it.rows(), np.asarray(ranking, dtype=np.int64), key, step, out)
    return out.tolist()


def reward(it, ranking, cut):
    return expected_reward(it.code, *it.rows(), np.asarray(ranking, dtype=np.int64), cut)


def plain_clicks(it, ranking, key=KEY, step=7):
    """The same user, one slot at a time, as the papers tell it."""
    out = [False] * len(ranking)
    for k, item in enumerate(ranking):
        examined = it.position[k] if it.kind == "position" else 1.0
        out[k] = bool(uniform(key, Stream.CLICK, step, k) < examined * it.attraction[item])
        if out[k] and it.kind == "cascade":
            break
        if out[k] and it.kind == "dependent" and uniform(key, Stream.STOP, step, k) < it.position[k]:
            break
    return out


def printed_reward(it, ranking, cut):
    """Σ χ(R, k) v(k) α(R(k)) with the examination probabilities of the paper (its product read as ∏(1 − v α))."""
    total, examined = 0.0, 1.0
    for k, item in enumerate(ranking[:cut]):
        if it.kind == "position":
            total += it.position[k] * it.attraction[item]
        else:
            v = it.position[k] if it.kind == "dependent" else 1.0
            total += examined * v * it.attraction[item]
            examined *= 1 - v * it.attraction[item]
    return total


@st.composite
def models_and_lists(draw, most=11):
    n_items = draw(st.integers(1, most))
    slots = draw(st.integers(1, n_items))
    rows = [draw(st.lists(probability, min_size=n, max_size=n)) for n in (n_items, slots)]
    return model(draw(st.sampled_from(KINDS)), *rows), draw(st.permutations(range(n_items)))[:slots]


@settings(deadline=None)
@given(models_and_lists(), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
def test_the_compiled_user_clicks_as_a_plain_one_on_the_same_coins(case, key, step):
    it, ranking = case
    assert clicks_on(it, ranking, np.uint64(key), step) == plain_clicks(it, ranking, np.uint64(key), step)


@settings(deadline=None)
@given(models_and_lists(), st.integers(1, 12))
def test_the_reward_is_the_papers_sum_over_positions(case, cut):
    it, ranking = case
    assert math.isclose(reward(it, ranking, cut), printed_reward(it, ranking, cut), abs_tol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_users_click_and_leave_as_often_as_the_reward_says(kind):
    it, ranking, cut, n = model(kind, [0.2, 0.7, 0.4, 0.5], [0.9, 0.3, 0.6]), [1, 3, 0], 2, 20_000
    observed = 0.0
    for step in range(n):
        clicks = clicks_on(it, ranking, step=step)[:cut]
        if kind == "dependent":  # the click after which the user left
            observed += any(c and uniform(KEY, Stream.STOP, step, k) < it.position[k] for k, c in enumerate(clicks))
        else:
            observed += sum(clicks)
    assert abs(observed / n - reward(it, ranking, cut)) < 5 * math.sqrt(0.5 / n)


@settings(max_examples=150, deadline=None)
@given(models_and_lists(most=5), st.integers(1, 6))
def test_no_list_has_a_higher_reward_than_the_best_ranking(case, cut):
    it, ranking = case
    slots = len(ranking)
    best = best_ranking(it.code, *it.rows(), slots, cut)
    assert len(set(best.tolist())) == slots
    highest = max(reward(it, other, cut) for other in permutations(range(it.n_items), slots))
    assert math.isclose(reward(it, best, cut), highest, abs_tol=1e-12)


@settings(deadline=None)
@given(models_and_lists(), st.integers(1, 12))
def test_the_best_ranking_is_by_attraction_when_positions_descend_and_ties_keep_their_order(case, cut):
    it, ranking = case
    it = model(it.kind, it.attraction, sorted(it.position[:cut], reverse=True) + list(it.position[cut:]))
    by_attraction = sorted(range(it.n_items), key=lambda i: (-it.attraction[i], i))
    assert best_ranking(it.code, *it.rows(), len(ranking), cut).tolist() == by_attraction[: len(ranking)]


def test_descending_attraction_is_not_best_where_a_lower_position_is_examined_more():
    it = ItemClicks("position", (0.9, 0.5, 0.1), (0.2, 0.8, 0.5))
    assert best_ranking(it.code, *it.rows(), 3, 3).tolist() == [2, 0, 1]
    assert best_ranking(it.code, *it.rows(), 3, 2).tolist() == [1, 0, 2]


def test_one_item_is_a_list_and_an_unexamined_position_is_never_clicked():
    for kind in KINDS:
        assert clicks_on(model(kind, [1.0], [1.0]), [0]) == [True]
    assert clicks_on(ItemClicks("position", (1.0, 1.0), (0.0, 1.0)), [0, 1]) == [False, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cascades", (0.5,)), r"kind must be one of \('cascade', 'dependent', 'position'\), not 'cascades'"),
        (("cascade", ()), "a cascade model needs the attraction of at least one item"),
        (("cascade", (0.5, 1.5)), r"attraction\[1\] must lie in \[0, 1\], not 1.5"),
        (("position", (0.5,), (0.1, -0.1)), r"position\[1\] must lie in \[0, 1\], not -0.1"),
        (("position", (math.nan,), (0.1,)), r"attraction\[0\] must lie in \[0, 1\], not nan"),
        (("cascade", (0.5,), (0.5,)), "a cascade model has no probabilities by position, not 1"),
        (("dependent", (0.5,)), "a dependent model has some probabilities by position, not 0"),
    ],
)
def test_a_model_that_cannot_be_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        ItemClicks(*arguments)


def test_lists_longer_than_items_or_known_positions_are_refused():
    ItemClicks("cascade", (0.5,) * 3).check_slots(3)
    ItemClicks("position", (0.5,) * 3, (0.5,) * 2).check_slots(2)
    for it, slots in (
        (ItemClicks("cascade", (0.5,) * 3), 4),
        (ItemClicks("position", (0.5,) * 3, (0.5,) * 2), 3),
        (ItemClicks("dependent", (0.5,) * 3, (0.5,) * 5), 4),
        (ItemClicks("dependent", (0.5,) * 3, (0.5,) * 5), 0),
    ):
        with pytest.raises(ValueError, match=f"a list has 1 to {it.longest} slots .* not {slots}"):
            it.check_slots(slots)


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_sessions_are_users_one_step_after_another(kind):
    it = model(kind, [0.2, 0.7, 0.4, 0.5], [0.9, 0.3, 0.6])
    lists = np.array([[1, 3, 0], [0, 1, 2], [2, 1, 3]])
    found = simulate_clicks(it, lists, KEY).tolist()
    assert found == [plain_clicks(it, row, step=step) for step, row in enumerate(lists.tolist())]
    for wrong in (lists + 2, lists - 1):
        with pytest.raises(ValueError, match="lists: expected values from 0 to 3"):
            simulate_clicks(it, wrong, KEY)
    with pytest.raises(ValueError, match="a list has 1 to"):
        simulate_clicks(it, np.zeros((1, 5), dtype=np.int64), KEY)


def test_a_restricted_model_has_the_chosen_items_in_their_order():
    it = ItemClicks("position", (0.1, 0.2, 0.3), (1.0, 0.5))
    assert it.restricted([2, 0]) == ItemClicks("position", (0.3, 0.1), (1.0, 0.5))
