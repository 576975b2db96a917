"""BubbleRank's bounds against their formulas; that they are true is tested in `test_bubblerank_lemmas`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ol2r.theory import bubblerank

shares = st.floats(0.0, 1.0)


def test_the_gap_of_a_list_adds_what_attraction_rises_by_and_its_open_range_counts_no_level_twice():
    shown = np.array([0.2, 0.5, 0.1, 0.4, 0.3, 0.9])
    assert bubblerank.attraction_gap(shown) == pytest.approx((0.5 - 0.2) + (0.4 - 0.1) + (0.9 - 0.3))
    assert bubblerank.open_range(shown) == pytest.approx(0.9 - 0.1)
    apart = np.array([0.6, 0.9, 0.1, 0.2])
    assert bubblerank.open_range(apart) == pytest.approx(bubblerank.attraction_gap(apart)) == pytest.approx(0.3 + 0.1)


@given(st.lists(shares, min_size=1, max_size=8))
def test_a_list_in_order_has_no_gap(attraction):
    shown = np.sort(attraction)[::-1]
    assert bubblerank.attraction_gap(shown) == bubblerank.open_range(shown) == 0.0


def test_displacement_weighs_the_places_where_earnings_fall_by_how_many_items_can_pass_them():
    assert bubblerank.displacement(np.array([0.9, 0.8, 0.5, 0.5]), 4) == pytest.approx(0.1 * 1 + 0.3 * 2 + 0.0 * 1)
    assert bubblerank.displacement(np.array([0.9, 0.8]), 5) == pytest.approx(0.1 * 1 + 0.8 * 2)
    assert bubblerank.displacement(np.full(6, 0.7), 6) == pytest.approx(0.0)


def test_examination_in_the_cascade_and_its_extremes():
    chi = bubblerank.examination_in_cascade(np.array([0.5, 0.4, 0.9]))
    np.testing.assert_allclose(chi, [1.0, 0.5, 0.5 * 0.6])
    assert bubblerank.examination_extremes(chi) == (1.0, pytest.approx(0.3))
    chi = bubblerank.examination_in_cascade(np.array([0.5, 0.4, 0.9]), np.array([0.2, 1.0, 0.0]))
    np.testing.assert_allclose(chi, [1.0, 1 - 0.2 * 0.5, (1 - 0.2 * 0.5) * (1 - 0.4)])


def test_lemmas_2_3_6_and_7_are_their_formulas():
    assert bubblerank.safe_inversions(7, 5) == 7 + 5 / 2
    assert bubblerank.printed_list_regret(0.3, 5, 0.9) == pytest.approx(5 * 0.9 * 0.3)
    assert bubblerank.randomized_pairs(5, 7) == 5 - 1 + 2 * 7
    assert bubblerank.printed_net_clicks(0.25, 8.0) == pytest.approx(15 * 8.0 / 0.25)
    assert bubblerank.net_clicks(0.25, 8.0, True) == pytest.approx(8 * 8.0 / 0.25 + 1)
    assert bubblerank.net_clicks(0.25, 8.0, False) == pytest.approx(16 * 8.0 / 0.25 + 1)


def test_lemma_9_is_its_formula_and_delta_squared_the_other():
    n, steps = 6, 1001
    level = 4 * math.log(steps)
    assert bubblerank.printed_event_failure(n, steps, level) == pytest.approx(steps**-2 * n**2 * steps)
    assert bubblerank.event_failure(n, steps, level) == pytest.approx(steps**-8 * 15 * 501)


@given(n=st.integers(2, 20), steps=st.integers(1, 10**6), level=st.floats(1e-3, 100.0))
def test_what_is_proved_of_the_event_is_never_less_than_lemma_9(n, steps, level):
    assert bubblerank.event_failure(n, steps, level) <= bubblerank.printed_event_failure(n, steps, level)


def test_theorem_1_is_its_formula_and_no_more_than_all_there_is_to_lose():
    n, k, inversions, gap, largest, least = 10_000, 5, 3, 0.1, 0.9, 0.3
    bound = bubblerank.printed_regret_bound(k, inversions, gap, largest, least, 4 * math.log(n), n)
    assert bound.leading == pytest.approx(
        180 * k * (largest / least) * (k - 1 + 2 * inversions) / gap * 4 * math.log(n)
    )
    assert bound.failure == pytest.approx(n**-2 * k**3 * n**2)
    assert bound.within(1e12) == pytest.approx(bound.leading + bound.failure)
    assert bound.within(k * n) == k * n


@pytest.mark.parametrize(("gap", "least"), [(0.0, 0.3), (0.1, 0.0)])
def test_theorem_1_says_nothing_of_ties_and_of_positions_that_nobody_examines(gap, least):
    bound = bubblerank.printed_regret_bound(5, 3, gap, 0.9, least, 30.0, 1000)
    assert bound.leading == math.inf and bound.within(5000.0) == 5000.0
    shown = np.array([0.5, 0.5 - gap, 0.2])
    assert bubblerank.regret_bound(shown, np.array([0.9, 0.5, 0.3]), least, 30.0, 1000, True).leading == math.inf


def test_the_bound_by_pair_counts_wrong_pairs_four_times_as_much_as_others():
    level, steps, chi = 20.0, 1000, np.array([0.9, 0.6, 0.4])
    shown = np.array([0.3, 0.8, 0.1])  # the first pair is wrong
    told = {pair: 8 * level * sum(pair) / abs(pair[0] - pair[1]) + 1 for pair in ((0.3, 0.8), (0.3, 0.1), (0.8, 0.1))}
    moved = (0.9 - 0.6) + (0.6 - 0.4)
    bound = bubblerank.regret_bound(shown, chi, chi[-1], level, steps, True)
    expected = 2 * told[0.3, 0.8] + (told[0.3, 0.1] + told[0.8, 0.1]) / 2  # K − 1 + 1 = 3 others would count
    assert bound.leading == pytest.approx(moved / 0.4 * expected)
    best = 0.9 * 0.8 + 0.6 * 0.3 + 0.4 * 0.1
    assert bound.failure == pytest.approx(best * (1 + steps * 3 * 500 * math.exp(-40.0)))


def test_of_a_list_in_order_only_as_many_pairs_count_as_have_neighbours():
    shown, chi = np.array([0.8, 0.6, 0.3, 0.1]), np.array([0.9, 0.6, 0.4, 0.2])
    bound = bubblerank.regret_bound(shown, chi, 0.2, 20.0, 1000, False)
    told = sorted(
        (16 * 20.0 * (a + b) / (a - b) + 1 for i, a in enumerate(shown) for b in shown[i + 1 :]), reverse=True
    )
    assert bound.leading == pytest.approx(bubblerank.displacement(chi, 4) / 0.2 * sum(told[:3]) / 2)


@given(
    attraction=st.lists(st.integers(1, 99), min_size=2, max_size=8, unique=True),
    chi=st.lists(st.floats(0.05, 1.0), min_size=8, max_size=8),
    level=st.floats(1.0, 80.0),
    steps=st.integers(1, 10**6),
    frozen=st.booleans(),
)
def test_theorem_1_follows_from_what_is_proved_whether_statistics_are_frozen_or_go_on(
    attraction, chi, level, steps, frozen
):
    shown = np.array(attraction) / 100
    k = len(shown)
    examination = np.sort(chi[:k])[::-1]
    inversions = sum(shown[i] < shown[j] for i in range(k) for j in range(i + 1, k))
    proved = bubblerank.regret_bound(shown, examination, examination[-1], level, steps, frozen)
    gap = float(np.diff(np.sort(shown)).min())
    printed = bubblerank.printed_regret_bound(
        k, inversions, gap, float(examination[0]), float(examination[-1]), level, steps
    )
    assert sum(proved) <= sum(printed)
