import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from ol2r.random import generator
from ol2r.theory import sphere

DIMENSIONS = st.integers(2, 200)


def within(draws: np.ndarray, expected: float, standard_errors: float = 4.5) -> bool:
    return abs(draws.mean() - expected) < standard_errors * draws.std() / np.sqrt(len(draws))


def test_unit_vectors_have_norm_one_and_no_preferred_axis():
    u = sphere.unit_vectors(generator("unit vectors", 0), 40_000, 5)
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1.0)
    assert all(within(u[:, j], 0.0) and within(u[:, j] ** 2, 1 / 5) for j in range(5))


def test_a_ball_of_half_the_radius_holds_two_to_the_minus_d_of_the_points():
    inside = np.linalg.norm(sphere.ball_vectors(generator("ball", 0), 40_000, 3), axis=1) < 0.5
    assert within(inside, 2.0**-3)


def test_a_random_basis_is_orthonormal():
    basis = sphere.random_basis(generator("basis", 0), 4, 7)
    np.testing.assert_allclose(basis @ basis.T, np.eye(4), atol=1e-12)


def test_basis_vectors_are_distinct_rows_up_to_sign_and_have_second_moment_p_over_d():
    basis = sphere.random_basis(generator("basis", 1), 4, 7)
    u = sphere.basis_vectors(generator("basis vectors", 0), 20_000, basis, 3)
    np.testing.assert_allclose(np.einsum("sid,sjd->sij", u, u), np.broadcast_to(np.eye(3), (20_000, 3, 3)), atol=1e-12)
    axis = np.arange(1, 5) @ basis
    assert within((u[:, 0] @ axis) ** 2, (1 + 4 + 9 + 16) / 4)
    assert within(u[:, 0] @ axis, 0.0)


@given(DIMENSIONS)
def test_mean_squared_cosine_is_one_over_d(d):
    assert sphere.expectation(lambda p: sphere.squared_cosine_quantile(p, d)) == pytest.approx(1 / d)


@given(DIMENSIONS)
def test_cosine_quantiles_square_to_those_of_the_squared_cosine(d):
    p = np.linspace(0.5, 0.999, 7)
    squares = sphere.squared_cosine_quantile(2 * p - 1, d)
    np.testing.assert_allclose(sphere.cosine_quantile(p, d) ** 2, squares, atol=1e-9)


@given(st.integers(4, 200))
def test_squared_cotangents_are_the_odds_of_squared_cosines(d):
    share = sphere.squared_cosine_quantile(0.7, d)
    assert sphere.squared_cotangent_quantile(0.7, d) == pytest.approx(share / (1 - share))


@given(st.integers(5, 200))
def test_mean_squared_cotangent_is_one_over_d_minus_three(d):
    assert sphere.expectation(lambda p: sphere.squared_cotangent_quantile(p, d)) == pytest.approx(1 / (d - 3), rel=1e-5)


def test_mean_absolute_cosine_on_the_circle_and_the_ordinary_sphere():
    assert sphere.mean_absolute_cosine(2) == pytest.approx(2 / np.pi)
    assert sphere.mean_absolute_cosine(3) == pytest.approx(1 / 2)  # Archimedes: a coordinate is uniform on [−1, 1]


@given(DIMENSIONS)
def test_mean_absolute_cosine_is_the_integral_of_the_quantile(d):
    mean = sphere.expectation(lambda p: abs(sphere.cosine_quantile(p, d)))
    assert mean == pytest.approx(sphere.mean_absolute_cosine(d), rel=1e-7)


@given(st.integers(1, 30), st.data())
def test_the_top_m_of_n_uniforms_average_their_expected_ranks(n, data):
    m = data.draw(st.integers(1, n))
    ranks = np.arange(n - m + 1, n + 1) / (n + 1)  # E of the j-th smallest of n uniforms is j/(n + 1)
    assert sphere.mean_of_top(lambda p: p, n, m) == pytest.approx(ranks.mean(), rel=1e-7)


@pytest.mark.parametrize("m", [0, 6])
def test_keeping_none_or_more_than_there_are_is_an_error(m):
    with pytest.raises(ValueError, match="of 5 draws"):
        sphere.mean_of_top(lambda p: p, 5, m)


def test_a_ball_seen_along_a_line_has_variance_one_over_d_plus_two():
    assert within(sphere.ball_vectors(generator("marginal", 0), 20_000, 7)[:, 0] ** 2, 1 / 9)
    variance = integrate.quad(lambda x: x**2 * sphere.ball_marginal_density(x, 7), -1, 1)[0]
    assert variance == pytest.approx(1 / 9)
