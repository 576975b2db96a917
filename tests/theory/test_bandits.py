"""Thresholds and bounds of the click bandits against their formulas, and KL bounds against what defines them."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
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
@example(p=1e-16, budget=1.0)
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
