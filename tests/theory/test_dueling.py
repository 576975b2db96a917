import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special

from ol2r.random import generator
from ol2r.theory import dueling, sphere

SHARES = st.floats(0.0, 0.999)


@st.composite
def spaces(draw):
    """d and d' < d."""
    d = draw(st.integers(3, 100))
    return d, draw(st.integers(2, d - 1))


def test_smoothing_over_the_null_space_moves_a_cubic_as_its_polynomial_says():
    # f(w) = x² y in the plane, N the y axis: smoothed over N it stays x² y; smoothed over the disc it gains δ² y / 4
    third = np.zeros((2, 2, 2))
    third[0, 0, 1] = third[0, 1, 0] = third[1, 0, 0] = 2
    gap = dueling.smoothing_gap(third, np.array([[0.0, 1.0]]), delta=0.5)
    np.testing.assert_allclose(gap, [0.0, 0 - 0.5**2 / 4])


@given(st.integers(0, 1000), st.integers(2, 8), st.floats(0.01, 2.0))
def test_the_smoothing_gap_of_a_cubic_stays_below_its_bound(seed, d, delta):
    rng = generator("gap", seed)
    basis = sphere.random_basis(rng, rng.integers(1, d + 1), d)
    a = rng.standard_normal(d)
    gap = dueling.smoothing_gap(np.einsum("i,j,k->ijk", a, a, a), basis, delta)
    bound = dueling.smoothing_gap_bound(np.linalg.norm(a) ** 3, d, len(basis), delta)
    assert np.linalg.norm(gap) <= bound
    np.testing.assert_allclose(basis.T @ (basis @ gap), gap, atol=1e-10)


def test_the_whole_space_has_no_smoothing_gap():
    rng = generator("gap", 0)
    gap = dueling.smoothing_gap(rng.standard_normal((5, 5, 5)), sphere.random_basis(rng, 5, 5), 1.0)
    np.testing.assert_allclose(gap, 0.0, atol=1e-12)


def test_a_full_set_of_orthogonal_directions_recovers_the_gradient_exactly():
    assert dueling.spread(12, 12, orthogonal=True) == 0
    basis = sphere.random_basis(generator("full", 0), 12, 12)
    gradient = np.arange(12.0)
    u = sphere.basis_vectors(generator("full", 1), 1, basis, 12)[0]
    np.testing.assert_allclose(12 * (u @ gradient) @ u / 12, gradient, atol=1e-12)


@given(spaces(), st.integers(2, 40))
def test_orthogonal_directions_cut_the_spread_by_one_less_m_minus_one_over_d_minus_one(space, m):
    d, _ = space
    assume(m <= d)
    factor = 1 - (m - 1) / (d - 1)
    assert dueling.spread(d, m, orthogonal=True) == pytest.approx(factor * dueling.spread(d, m))


def test_more_orthogonal_directions_than_dimensions_is_an_error():
    with pytest.raises(ValueError, match="orthogonal"):
        dueling.spread(4, 5, orthogonal=True)


@given(spaces(), st.integers(1, 50))
def test_the_threshold_is_where_both_errors_meet(space, m):
    d, null = space
    phi = dueling.energy_threshold(d, null, m)
    assert phi == pytest.approx((d - null) / (m + d - 1))
    meeting = dueling.best_scaled_error(phi, null, m)
    assert meeting == pytest.approx(dueling.best_scaled_error(0.0, d, m))
    assert dueling.best_scaled_error(phi * 0.9, null, m) < meeting < dueling.best_scaled_error(phi * 1.1, null, m)


@given(spaces())
def test_one_direction_gains_nothing_from_a_random_null_space(space):
    d, null = space
    assert dueling.energy_threshold(d, null, 1) == pytest.approx((d - null) / d)  # the mean energy of random G


@given(spaces(), SHARES, st.integers(1, 20))
def test_scaling_never_hurts_and_never_beats_the_bias(space, phi, m):
    _, null = space
    best = dueling.best_scaled_error(phi, null, m)
    assert phi - 1e-12 <= best <= min(1.0, dueling.squared_error(phi, null, m)) + 1e-12


@given(st.integers(6, 80), st.data())
def test_chance_alignment_gives_the_odds_of_a_beta_variable(d, data):
    k = data.draw(st.integers(1, d - 3))
    odds = dueling.energy_odds(dueling.loser_alignment(d), d, k)
    assert odds == pytest.approx((k / 2) / ((d - k) / 2 - 1))  # E X/(1 − X), X ~ Beta(k/2, (d − k)/2)


def test_infinite_odds_are_an_error():
    with pytest.raises(ValueError, match="infinite"):
        dueling.energy_odds(0.1, 10, 8)


@given(st.integers(5, 80), st.floats(0.001, 0.9))
def test_losing_by_a_margin_takes_energy_and_not_winning_by_one_leaves_it(d, margin):
    chance = 1 / (d - 3)
    assert dueling.loser_alignment(d, -margin) > chance
    assert dueling.loser_alignment(d, margin) < chance * (1 + 1e-9)


def test_the_margin_formula_is_the_integral_it_stands_for():
    d, margin = 12, 0.25
    p = (np.arange(200_000) + 0.5) / 200_000
    cosine = sphere.cosine_quantile(p, d)
    lost = cosine[cosine < margin] ** 2
    assert dueling.loser_alignment(d, margin) == pytest.approx((lost / (1 - lost)).mean(), rel=1e-4)


@given(st.integers(5, 60), st.integers(2, 60), st.data())
def test_the_worst_losers_hold_more_than_losers_taken_as_they_come(d, lost, data):
    k = data.draw(st.integers(1, lost - 1))
    worst = dueling.worst_loser_alignment(d, lost, k)
    assert worst > dueling.worst_loser_alignment(d, lost, lost) * (1 + 1e-6)
    assert dueling.worst_loser_alignment(d, lost, lost) == pytest.approx(1 / (d - 3), rel=1e-5)


@given(st.integers(2, 100), st.integers(1, 50))
def test_the_sign_of_losers_is_worth_more_than_a_random_direction(d, k):
    efficiency = dueling.mean_loser_efficiency(d, k)
    assert efficiency <= 1
    assert efficiency >= (1 / d) * 2 / np.pi  # one loser is a random direction whose length is not adapted
    if k > 1:
        assert efficiency > dueling.mean_loser_efficiency(d, k - 1)


@given(spaces())
def test_a_random_null_space_leaves_the_mean_duel_as_it_was(space):
    d, null = space
    # E √(1 − φ) for 1 − φ ~ Beta(d'/2, (d − d')/2)
    kept = np.exp(special.betaln(null / 2 + 0.5, (d - null) / 2) - special.betaln(null / 2, (d - null) / 2))
    assert kept * dueling.win_constant(null) == pytest.approx(dueling.win_constant(d))


@given(st.integers(2, 100))
def test_one_candidate_advances_by_the_duel_constant(d):
    assert dueling.expected_progress(d, 1) == pytest.approx(dueling.win_constant(d), rel=1e-7)


@given(st.integers(2, 100), st.integers(1, 12))
def test_more_candidates_advance_further_and_more_dimensions_less(d, m):
    assert dueling.expected_progress(d, m) < dueling.expected_progress(d, m + 1)
    assert dueling.expected_progress(d + 1, m) < dueling.expected_progress(d, m)


def test_on_the_ordinary_sphere_the_best_of_m_is_an_order_statistic_of_the_uniform():
    # cos is uniform on [−1, 1] in three dimensions: E max(0, max) = ∫₀¹ 1 − ((1 + x)/2)ᵐ dx
    m = 4
    expected = 1 - 2 / (m + 1) * (1 - 0.5 ** (m + 1))
    assert dueling.expected_progress(3, m) == pytest.approx(expected)


@given(st.integers(2, 60), st.floats(0.01, 50))
def test_a_noisy_link_shrinks_the_duel_and_never_turns_it(d, sharpness):
    linked = dueling.linked_win_constant(d, special.expit, sharpness)
    assert 0 < linked < dueling.win_constant(d)


def test_a_weak_link_has_the_slope_of_the_link_over_d():
    sharpness = 1e-3
    assert dueling.linked_win_constant(9, special.expit, sharpness) == pytest.approx(sharpness / 4 / 9, rel=1e-4)


def test_the_progress_threshold_is_where_both_advances_meet():
    phi = dueling.progress_threshold(46, 21, 4)
    assert np.sqrt(1 - phi) * dueling.expected_progress(21, 4) == pytest.approx(dueling.expected_progress(46, 4))


@given(st.integers(2, 60), st.integers(1, 20), st.data())
def test_preselection_keeps_at_least_the_mean_energy(null, n, data):
    m = data.draw(st.integers(1, n))
    energy = dueling.preselected_energy(null, n, m)
    assert 1 / null * (1 - 1e-7) <= energy <= 1
    assert dueling.preselected_energy(null, n, n) == pytest.approx(1 / null)


def test_the_preselection_matrix_has_the_trace_of_the_projector_and_nothing_outside_it():
    basis = sphere.random_basis(generator("preselection", 0), 5, 9)
    aggregate = np.arange(9.0)
    matrix = dueling.preselection_matrix(basis, aggregate, 20, 4)
    assert np.trace(matrix) == pytest.approx(5)
    np.testing.assert_allclose(basis.T @ basis @ matrix, matrix, atol=1e-12)
    np.testing.assert_allclose(dueling.preselection_matrix(basis, aggregate, 4, 4), basis.T @ basis, atol=1e-6)


def test_repeated_directions_leave_more_than_d_minus_k_dimensions():
    directions = sphere.unit_vectors(generator("rank", 0), 3, 8)
    assert dueling.null_dimension(directions) == 8 - 3
    assert dueling.null_dimension(np.concatenate([directions, -directions])) == 8 - 3 > 8 - 6
    assert dueling.null_dimension(np.zeros((0, 8))) == 8


@given(st.integers(0, 1000), st.floats(0.02, 0.5), st.floats(0.0, 0.5))
def test_the_printed_switch_cannot_fail_within_the_idle_lag(seed, alpha, epsilon):
    lag = dueling.idle_lag(alpha, epsilon)
    steps = sphere.unit_vectors(generator("switch", seed), lag, 6)
    assert np.linalg.norm(alpha * steps.sum(axis=0)) < 1 - epsilon
    assert alpha * (lag + 1) >= 1 - epsilon - 1e-9  # one step more, all in one direction, and it can


def test_the_printed_rate_makes_nine_steps_idle():
    assert dueling.idle_lag(alpha=0.1, epsilon=0.0) == 10 - 1
