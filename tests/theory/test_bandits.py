"""Thresholds and bounds of the click bandits against their formulas, and KL bounds against what defines them.

That BubbleRank's lemmas are true is tested in `test_bubblerank_lemmas`.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ol2r.random import generator
from ol2r.theory import bandits

counts = st.integers(0, 5_000_000)
shares = st.floats(0.0, 1.0)
unit = st.floats(1e-6, 1 - 1e-6)

compiled = settings(deadline=None)
"""The first call of a compiled function compiles it."""


@given(n=counts, share=st.floats(-1.0, 1.0), log_inverse_delta=st.floats(0.1, 70.0))
@compiled
def test_bubblerank_is_certain_above_twice_the_root(n, share, log_inverse_delta):
    s = int(share * n)
    assert bandits.bubblerank_certain(s, n, log_inverse_delta) == (s > 2 * math.sqrt(n * log_inverse_delta))


@given(n=counts, share=st.floats(-1.0, 1.0), drift=shares, log_inverse_delta=st.floats(0.1, 70.0))
@compiled
def test_event_e_is_lemma_9s_inequality_and_implies_its_other_half(n, share, drift, log_inverse_delta):
    s = int(share * n)
    radius = 2 * math.sqrt(n * log_inverse_delta)
    margin = s - (drift * n - radius)
    holds = bandits.bubblerank_event(s, n, drift, log_inverse_delta)
    if abs(margin) > 1e-6:
        assert holds == (margin >= 0)
    if holds:
        assert -s <= radius + 1e-6


@given(n=st.integers(1, 5_000_000), share=st.floats(-1.0, 1.0), delta=st.floats(1e-7, 1.0))
@compiled
def test_toprank_is_certain_above_its_threshold(n, share, delta):
    s = int(share * n)
    threshold = math.sqrt(2 * n * math.log(bandits.TOPRANK_C / delta * math.sqrt(n)))
    if abs(s - threshold) > 1e-6:
        assert bandits.toprank_certain(s, n, math.log(bandits.TOPRANK_C / delta)) == (s >= threshold)


def test_topranks_constant_is_on_the_safe_side_of_its_formula():
    assert 4 * math.sqrt(2 / math.pi) / math.erf(math.sqrt(2)) < bandits.TOPRANK_C
    assert not bandits.toprank_certain(0, 0, 0.0)


@pytest.mark.parametrize("t", [1, 2, 3, 10, 5_000_000])
def test_exploration_is_the_papers_or_the_logarithm_and_never_negative(t):
    assert bandits.exploration(t, False) == pytest.approx(math.log(t))
    paper = math.log(t) + 3 * math.log(math.log(t)) if t > 1 else -math.inf
    assert bandits.exploration(t, True) == pytest.approx(max(0.0, paper))


@given(p=unit, q=unit)
@compiled
def test_divergence_is_twice_the_squared_distance_or_more(p, q):
    assert bandits.divergence(p, q) >= 2 * (p - q) ** 2 - 1e-12  # Pinsker
    assert bandits.divergence(p, q) == pytest.approx(bandits.divergence(1 - p, 1 - q), abs=1e-9)


@given(p=shares, budget=st.floats(1e-6, 30.0))
@compiled
def test_bounds_spend_their_budget(p, budget):
    high, low = bandits.upper_bound(p, budget), bandits.lower_bound(p, budget)
    assert 0.0 <= low <= p <= high <= 1.0
    for q in (low, high):
        if 1e-9 < q < 1 - 1e-9:
            slope = abs(q - p) / (q * (1 - q))
            assert bandits.divergence(p, q) == pytest.approx(budget, abs=1e-9 + 1e-14 * slope)


def test_bounds_at_the_ends_are_closed_forms():
    assert bandits.upper_bound(0.0, 0.3) == pytest.approx(1 - math.exp(-0.3))
    assert bandits.lower_bound(1.0, 0.3) == pytest.approx(math.exp(-0.3))
    assert bandits.upper_bound(1.0, 0.3) == 1.0 and bandits.lower_bound(0.0, 0.3) == 0.0
    assert bandits.upper_bound(0.4, 0.0) == pytest.approx(0.4)


def test_lemma_8s_drift_is_what_clicks_show_in_a_fair_exchange():
    """E[z | z ≠ 0] of two items that are equally examined is (α(i) − α(j)) / (α(i) + α(j) − 2 α(i) α(j)) ≥ ρ."""
    rng = generator("lemma 8", 0)
    a, b = 0.5, 0.2
    z = (rng.random(200_000) < a).astype(int) - (rng.random(200_000) < b).astype(int)
    mean, spread = z[z != 0].mean(), z[z != 0].std() / math.sqrt(np.count_nonzero(z))
    assert mean == pytest.approx((a - b) / (a + b - 2 * a * b), abs=4 * spread)
    assert mean > (a - b) / (a + b)


def test_the_gap_of_a_list_adds_what_attraction_rises_by_and_its_open_range_counts_no_level_twice():
    shown = np.array([0.2, 0.5, 0.1, 0.4, 0.3, 0.9])
    assert bandits.attraction_gap(shown) == pytest.approx((0.5 - 0.2) + (0.4 - 0.1) + (0.9 - 0.3))
    assert bandits.open_range(shown) == pytest.approx(0.9 - 0.1)
    apart = np.array([0.6, 0.9, 0.1, 0.2])
    assert bandits.open_range(apart) == pytest.approx(bandits.attraction_gap(apart)) == pytest.approx(0.3 + 0.1)


@given(st.lists(shares, min_size=1, max_size=8))
def test_a_list_in_order_has_no_gap(attraction):
    shown = np.sort(attraction)[::-1]
    assert bandits.attraction_gap(shown) == bandits.open_range(shown) == 0.0


def test_displacement_weighs_the_places_where_earnings_fall_by_how_many_items_can_pass_them():
    assert bandits.displacement(np.array([0.9, 0.8, 0.5, 0.5]), 4) == pytest.approx(0.1 * 1 + 0.3 * 2 + 0.0 * 1)
    assert bandits.displacement(np.array([0.9, 0.8]), 5) == pytest.approx(0.1 * 1 + 0.8 * 2)
    assert bandits.displacement(np.full(6, 0.7), 6) == pytest.approx(0.0)


def test_examination_in_the_cascade_and_its_extremes():
    chi = bandits.examination_in_cascade(np.array([0.5, 0.4, 0.9]))
    np.testing.assert_allclose(chi, [1.0, 0.5, 0.5 * 0.6])
    assert bandits.examination_extremes(chi) == (1.0, pytest.approx(0.3))
    chi = bandits.examination_in_cascade(np.array([0.5, 0.4, 0.9]), np.array([0.2, 1.0, 0.0]))
    np.testing.assert_allclose(chi, [1.0, 1 - 0.2 * 0.5, (1 - 0.2 * 0.5) * (1 - 0.4)])


def test_lemmas_2_3_6_and_7_are_their_formulas():
    assert bandits.bubblerank_safe_inversions(7, 5) == 7 + 5 / 2
    assert bandits.printed_list_regret(0.3, 5, 0.9) == pytest.approx(5 * 0.9 * 0.3)
    assert bandits.bubblerank_pairs(5, 7) == 5 - 1 + 2 * 7
    assert bandits.printed_net_clicks(0.25, 8.0) == pytest.approx(15 * 8.0 / 0.25)
    assert bandits.net_clicks(0.25, 8.0, True) == pytest.approx(8 * 8.0 / 0.25 + 1)
    assert bandits.net_clicks(0.25, 8.0, False) == pytest.approx(16 * 8.0 / 0.25 + 1)


def test_lemma_9_is_its_formula_and_delta_squared_the_other():
    n, steps = 6, 1001
    level = 4 * math.log(steps)
    assert bandits.printed_event_failure(n, steps, level) == pytest.approx(steps**-2 * n**2 * steps)
    assert bandits.event_failure(n, steps, level) == pytest.approx(steps**-8 * 15 * 501)


@given(n=st.integers(2, 20), steps=st.integers(1, 10**6), level=st.floats(1e-3, 100.0))
def test_what_is_proved_of_the_event_is_never_less_than_lemma_9(n, steps, level):
    assert bandits.event_failure(n, steps, level) <= bandits.printed_event_failure(n, steps, level)


def test_theorem_1_is_its_formula_and_no_more_than_all_there_is_to_lose():
    n, k, inversions, gap, largest, least = 10_000, 5, 3, 0.1, 0.9, 0.3
    bound = bandits.printed_bubblerank_regret(k, inversions, gap, largest, least, 4 * math.log(n), n)
    assert bound.leading == pytest.approx(
        180 * k * (largest / least) * (k - 1 + 2 * inversions) / gap * 4 * math.log(n)
    )
    assert bound.failure == pytest.approx(n**-2 * k**3 * n**2)
    assert bound.within(1e12) == pytest.approx(bound.leading + bound.failure)
    assert bound.within(k * n) == k * n


@pytest.mark.parametrize(("gap", "least"), [(0.0, 0.3), (0.1, 0.0)])
def test_theorem_1_says_nothing_of_ties_and_of_positions_that_nobody_examines(gap, least):
    bound = bandits.printed_bubblerank_regret(5, 3, gap, 0.9, least, 30.0, 1000)
    assert bound.leading == math.inf and bound.within(5000.0) == 5000.0
    shown = np.array([0.5, 0.5 - gap, 0.2])
    assert bandits.bubblerank_regret(shown, np.array([0.9, 0.5, 0.3]), least, 30.0, 1000, True).leading == math.inf


def test_the_bound_by_pair_counts_wrong_pairs_four_times_as_much_as_others():
    level, steps, chi = 20.0, 1000, np.array([0.9, 0.6, 0.4])
    shown = np.array([0.3, 0.8, 0.1])  # the first pair is wrong
    told = {pair: 8 * level * sum(pair) / abs(pair[0] - pair[1]) + 1 for pair in ((0.3, 0.8), (0.3, 0.1), (0.8, 0.1))}
    moved = (0.9 - 0.6) + (0.6 - 0.4)
    bound = bandits.bubblerank_regret(shown, chi, chi[-1], level, steps, True)
    expected = 2 * told[0.3, 0.8] + (told[0.3, 0.1] + told[0.8, 0.1]) / 2  # K − 1 + 1 = 3 others would count
    assert bound.leading == pytest.approx(moved / 0.4 * expected)
    best = 0.9 * 0.8 + 0.6 * 0.3 + 0.4 * 0.1
    assert bound.failure == pytest.approx(best * (1 + steps * 3 * 500 * math.exp(-40.0)))


def test_of_a_list_in_order_only_as_many_pairs_count_as_have_neighbours():
    shown, chi = np.array([0.8, 0.6, 0.3, 0.1]), np.array([0.9, 0.6, 0.4, 0.2])
    bound = bandits.bubblerank_regret(shown, chi, 0.2, 20.0, 1000, False)
    told = sorted(
        (16 * 20.0 * (a + b) / (a - b) + 1 for i, a in enumerate(shown) for b in shown[i + 1 :]), reverse=True
    )
    assert bound.leading == pytest.approx(bandits.displacement(chi, 4) / 0.2 * sum(told[:3]) / 2)


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
    proved = bandits.bubblerank_regret(shown, examination, examination[-1], level, steps, frozen)
    gap = float(np.diff(np.sort(shown)).min())
    printed = bandits.printed_bubblerank_regret(
        k, inversions, gap, float(examination[0]), float(examination[-1]), level, steps
    )
    assert sum(proved) <= sum(printed)
