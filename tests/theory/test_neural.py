"""olRankNet's theory against slow references, and against the gradients of real networks."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from ol2r.networks import Dual, Explicit, Network
from ol2r.random import Streams, generator
from ol2r.theory import confidence, neural

SEEDS = st.integers(0, 10_000)
KEY = np.array([3], dtype=np.uint64)


def tangent_of(network, x, theta=None):
    """Tangents of some documents, in double precision, by default at θ₀."""
    theta = network.initial(Streams(KEY)).double() if theta is None else theta
    inputs = network.inputs(torch.from_numpy(x))[None]
    return network.tangent(theta, network.forward(theta, inputs).activations)


def gradients_of(network, x, theta=None):
    """g/√m of some documents: Float64[V, p]."""
    return tangent_of(network, x, theta).explicit()[0].numpy()


def documents(n, d, seed=0):
    return generator("documents of a network", seed).standard_normal((n, d))


def semidefinite(rng, n, rank):
    factor = rng.standard_normal((n, rank))
    return factor @ factor.T


def arc_means(angle):
    """2 E φ(u)φ(v) and 2 E φ̇(u)φ̇(v) of standard normals with correlation cos ω, by integrals over the circle."""

    def both(t, power):
        first, second = np.cos(t), np.cos(t - angle)
        return max(first, 0.0) ** power * max(second, 0.0) ** power if min(first, second) > 0 else 0.0

    kinks = [-np.pi / 2 + angle, np.pi / 2]
    values = [integrate.quad(both, -np.pi, np.pi, args=(power,), points=kinks)[0] for power in (1, 0)]
    return 2 * values[0] / np.pi, values[1] / np.pi  # ∫ r³ e^{−r²/2} dr = 2 and ∫ r e^{−r²/2} dr = 1, over 2π


def slow_kernel(x, y, depth, gain=1.0):
    """Σ^(L) and H̃^(L) of two inputs, by Definition B.1 line by line."""
    sigma = {(a, b): gain * float(p @ q) for a, p in enumerate((x, y)) for b, q in enumerate((x, y))}
    tangent = float(x @ y)
    for _ in range(depth - 1):
        scale = np.sqrt(sigma[0, 0] * sigma[1, 1])
        angle = np.arccos(np.clip(sigma[0, 1] / scale, -1, 1))
        active, derivative = arc_means(angle)
        tangent = tangent * derivative + scale * active
        # of one input with itself, 2 E φ(u)² is the variance
        sigma[0, 1] = sigma[1, 0] = scale * active
    return sigma[0, 1], tangent


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("gain", [1.0, 7.0])
def test_the_kernels_are_the_recursion_of_definition_b1_with_its_gaussian_means(depth, gain):
    x = documents(4, 3)
    kernels = neural.tangent_kernel(x, depth, gain)
    for i in range(4):
        for j in range(4):
            if i != j:
                sigma, tangent = slow_kernel(x[i], x[j], depth, gain)
                assert kernels.activations[i, j] == pytest.approx(sigma, rel=1e-7, abs=1e-7)
                assert kernels.tangent[i, j] == pytest.approx(tangent, rel=1e-7, abs=1e-7)


@given(SEEDS, st.integers(1, 5))
def test_a_document_of_unit_norm_has_kernels_one_and_depth_with_itself(seed, depth):
    x = documents(5, 3, seed)
    kernels = neural.tangent_kernel(x / np.linalg.norm(x, axis=1, keepdims=True), depth)
    np.testing.assert_allclose(np.diag(kernels.activations), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.diag(kernels.tangent), depth, atol=1e-12)


def test_documents_that_are_the_same_parallel_opposite_or_zero_have_finite_kernels():
    x = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 4.0], [-1.0, -2.0], [0.0, 0.0]])
    kernels = neural.tangent_kernel(x, 3)
    assert np.isfinite(kernels.tangent).all()
    assert kernels.tangent[0, 1] == pytest.approx(kernels.tangent[0, 0], rel=1e-6)
    assert kernels.tangent[0, 2] == pytest.approx(2 * kernels.tangent[0, 0], rel=1e-6)
    assert not kernels.tangent[4].any()


def test_a_batch_of_kernels_is_each_of_them():
    x = generator("batch", 0).standard_normal((3, 4, 2))
    together = neural.tangent_kernel(x, 3).tangent
    np.testing.assert_allclose(together, np.stack([neural.tangent_kernel(each, 3).tangent for each in x]))


@pytest.mark.parametrize(("depth", "width", "near"), [(2, 8192, 0.02), (3, 512, 0.08), (4, 512, 0.12)])
@pytest.mark.parametrize("init", ["symmetric", "he"])
def test_gradients_at_theta_0_have_the_kernel_of_all_parameters_in_the_limit(depth, width, near, init):
    width, d = (width, 4) if init == "symmetric" else (512, 128)  # with m/d at 4 all layers still count
    network, draws = Network(d, width, depth, init), 12
    inputs = network.inputs(torch.from_numpy(documents(5, d)))
    kernel = np.zeros((5, 5))
    for key in range(draws):
        theta = network.initial(Streams(np.array([key], dtype=np.uint64))).double()
        tangent = network.tangent(theta, network.forward(theta, inputs[None]).activations)
        kernel += tangent.kernel(tangent)[0].numpy() / draws
    kernels = neural.tangent_kernel(inputs.numpy(), depth, 1.0 if init == "symmetric" else width / d)
    near *= np.linalg.norm(kernels.tangent) * (1 if init == "symmetric" else 2)
    assert np.linalg.norm(kernel - kernels.tangent) < near
    assert np.linalg.norm(kernel - kernels.printed) > near  # Lemma D.1 says that this is small


# the span of the gradients


@pytest.mark.parametrize(
    ("network", "parameters", "rank"),
    [(Network(3, 8, 2, "symmetric"), 56, 12), (Network(3, 8, 2), 32, 24), (Network(3, 6, 3), 60, 48)],
)
def test_gradients_of_a_network_without_biases_do_not_span_all_parameters(network, parameters, rank):
    g = gradients_of(network, documents(4000 if network.depth == 3 else 400, 3))
    assert network.n_parameters == parameters
    assert np.linalg.matrix_rank(g) == rank
    assert np.linalg.matrix_rank(g[::2] - g[1::2]) == rank  # Σ = E g_ij g_ijᵀ is as singular
    assert rank <= parameters - (network.depth - 1) * network.width


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_each_hidden_unit_has_a_direction_that_no_gradient_touches(depth):
    network = Network(3, 5, depth)
    theta = network.initial(Streams(KEY)).double()
    g = gradients_of(network, documents(30, 3), theta)
    for layer in range(depth - 1):
        for unit in range(5):
            direction = torch.zeros_like(theta)
            blocks, values = network.layers(direction), network.layers(theta)
            blocks[layer][0, unit] = values[layer][0, unit]
            blocks[layer + 1][0, :, unit] = -values[layer + 1][0, :, unit]
            away = direction[0].numpy()
            assert np.abs(g @ away).max() < 1e-12 * np.linalg.norm(away) * np.linalg.norm(g, axis=1).max()


@given(SEEDS, st.integers(1, 6))
def test_coordinates_have_the_kernel_for_products_and_as_many_columns_as_its_rank(seed, rank):
    kernel = semidefinite(generator("kernel", seed), 6, rank)
    x = neural.coordinates(kernel)
    assert x.shape == (6, rank)
    np.testing.assert_allclose(x @ x.T, kernel, atol=1e-9 * np.abs(kernel).max())


def test_widths_and_log_det_in_the_coordinates_are_those_of_all_parameters_and_of_the_covariances():
    network, lam = Network(3, 12, 2, "symmetric"), 0.3
    x = documents(6, 3)
    tangent = tangent_of(network, x)
    g = tangent.explicit()[0].numpy()
    pairs = np.array([[0, 1], [2, 3], [0, 1], [4, 1]])
    w = g[pairs[:, 0]] - g[pairs[:, 1]]
    matrix = w.T @ w + lam * np.eye(network.n_parameters)
    wanted = (g @ np.linalg.solve(matrix, g.T), np.linalg.slogdet(matrix)[1] - len(matrix) * np.log(lam))

    own = neural.coordinates(g @ g.T)
    z = own[pairs[:, 0]] - own[pairs[:, 1]]
    small = z.T @ z + lam * np.eye(own.shape[1])
    np.testing.assert_allclose(own @ np.linalg.solve(small, own.T), wanted[0], atol=1e-9)
    assert np.linalg.slogdet(small)[1] - len(small) * np.log(lam) == pytest.approx(wanted[1])

    one = torch.tensor([lam], dtype=torch.float64)
    for covariance in (Dual(network, one), Explicit(network, one, full=True)):
        covariance.add(tangent, torch.from_numpy(pairs)[None])
        np.testing.assert_allclose(covariance.gram(tangent)[0].numpy(), wanted[0], atol=1e-6)
        assert float(covariance.log_det[0]) == pytest.approx(wanted[1], rel=1e-6)


def test_in_the_span_there_is_a_time_from_which_orders_are_settled_and_in_all_parameters_there_is_none():
    network = Network(3, 8, 2, "symmetric")
    g = gradients_of(network, documents(300, 3))
    w = g[::2] - g[1::2]
    everywhere = np.linalg.eigvalsh(w.T @ w / len(w))
    own = neural.coordinates(w @ w.T)
    within = np.linalg.eigvalsh(own.T @ own / len(w))
    assert everywhere[0] < 1e-10 < within[0] and own.shape[1] == 12
    common = {"gap": 0.05, "norm": 1.5, "bound": 1.0, "regularization": 1.0, "delta": 0.1, "delta_matrix": 0.1}
    least = confidence.least_slope(1.5, 1.0)
    pairs = confidence.settling_pairs_explicit(12, **common, least=least, eigenvalue=float(within[0]))
    log_det = confidence.log_det_bound(12, pairs, 1.5, 1.0)
    needed = confidence.least_eigenvalue_needed(log_det, 0.05, 1.5, 1.0, 1.0, 0.1, 0.5, least)
    assert pairs * within[0] / 2 + 1 >= needed * (1 - 1e-6)


# S of Lemma B.3


@given(SEEDS)
def test_the_least_norm_is_that_of_the_shortest_parameters_with_these_scores(seed):
    rng = generator("least norm", seed)
    g = rng.standard_normal((4, 9))
    scores = rng.standard_normal(4)
    shortest = np.linalg.pinv(g) @ scores
    np.testing.assert_allclose(g @ shortest, scores)
    assert neural.least_norm(scores, g @ g.T) == pytest.approx(float(np.linalg.norm(shortest)))


def test_scores_that_no_parameters_make_are_an_error():
    with pytest.raises(ValueError, match="no linear function"):
        neural.least_norm(np.array([0.0, 1.0]), np.ones((2, 2)))


def test_the_norm_of_lemma_b3_covers_that_of_a_wide_network():
    network, x = Network(4, 4096, 2, "symmetric"), documents(6, 4)
    g = tangent_of(network, x)
    inputs = network.inputs(torch.from_numpy(x)).numpy()
    limit = neural.tangent_kernel(inputs, 2).printed  # H as printed, which is below H̃
    scores = documents(6, 1, seed=3)[:, 0]
    assert neural.least_norm(scores, g.kernel(g)[0].numpy()) <= np.sqrt(2 * scores @ np.linalg.solve(limit, scores))


# the fit and the interval


def fitted_history(seed, n=8, d=4, lam=0.3, flip=False):
    rng = generator("a linear model's history", seed)
    x = rng.standard_normal((n, d)) * rng.uniform(0.2, 2.0)
    counts = rng.integers(1, 6, n).astype(float)
    chance = np.full(n, 0.5) if flip else special.expit(x @ rng.standard_normal(d))
    wins = rng.binomial(counts.astype(int), chance).astype(float)
    return x, counts, confidence.fitted(x, wins, counts - wins, lam)


@settings(max_examples=50)
@given(SEEDS, st.booleans(), st.floats(0.05, 5.0))
def test_no_labels_take_the_fit_beyond_its_radius(seed, flip, lam):
    _, counts, theta = fitted_history(seed, lam=lam, flip=flip)
    assert np.linalg.norm(theta) <= neural.fit_radius(counts.sum(), lam) * (1 + 1e-9)


def test_the_radius_of_the_fit_is_reached_and_below_the_printed_one():
    z = 1 + neural.REACH
    assert z * special.expit(z) == pytest.approx(1.0)
    length, lam = 1.7, 0.2
    # λẑ = w σ(−wẑ) with wẑ = z
    copies = lam * z / (length**2 * special.expit(-z))
    theta = confidence.fitted(np.array([[length]]), np.array([copies]), np.array([0.0]), lam)
    assert float(theta[0]) == pytest.approx(neural.fit_radius(copies, lam))
    assert neural.fit_radius(7.0, lam) < np.sqrt(7 / (2 * lam)) < np.sqrt(2 * 7 / lam)


@settings(max_examples=40)
@given(SEEDS, st.floats(0.05, 2.0), st.floats(0.05, 0.44))
def test_descent_in_short_steps_stays_where_the_end_of_the_proof_of_lemma_b9_needs_it(seed, lam, share):
    rng = generator("descent", seed)
    x = rng.standard_normal((10, 3)) * rng.uniform(0.3, 3.0)
    labels = rng.integers(0, 2, 10)
    step = min(share / np.linalg.norm(x, 2) ** 2, 1 / (2 * lam))
    z, fit = np.zeros(3), confidence.fitted(x, labels.astype(float), 1.0 - labels, lam)
    for j in range(1, 201):
        z = z - step * (x.T @ (special.expit(x @ z) - labels) + lam * z)
        assert np.linalg.norm(z) <= np.sqrt(10 / (2 * lam))
        # and nears the fit as fast as Lemma D.4 says, or faster
        assert np.linalg.norm(z - fit) <= (1 - step * lam) ** j * neural.fit_radius(10.0, lam) + 1e-9


@settings(max_examples=60)
@given(SEEDS, st.floats(0.1, 3.0), st.floats(0.02, 2.0))
def test_the_reached_slope_bounds_the_mean_hessian_wherever_the_fit_lies(seed, bound, lam):
    x, counts, theta = fitted_history(seed, lam=lam)
    rng = generator("truth", seed)
    truth = rng.standard_normal(4)
    truth *= bound * rng.random() / np.linalg.norm(truth)
    slope = neural.reached_slope(x, theta, bound)
    mean = np.mean([confidence.slope(x @ (truth + s * (theta - truth))) for s in np.linspace(0, 1, 400)], axis=0)
    hessian = x.T @ ((counts * mean)[:, None] * x) + lam * np.eye(4)
    matrix = x.T @ (counts[:, None] * x) + lam * np.eye(4)
    assert np.linalg.eigvalsh(hessian - slope * matrix)[0] > -1e-9 * np.trace(matrix)
    # hence the chain of Lemma B.8, with c⁻¹ and not c⁻²
    reached, wanted = (confidence.estimating_function(z, x, counts, lam) for z in (theta, truth))
    away, gap = theta - truth, reached - wanted
    assert np.sqrt(away @ matrix @ away) <= np.sqrt(gap @ np.linalg.solve(matrix, gap)) / slope * (1 + 1e-6)


def test_the_slope_without_any_pair_is_the_steepest():
    assert neural.reached_slope(np.zeros((0, 3)), np.zeros(3), 5.0) == confidence.STEEPEST


def test_the_width_is_the_printed_one_with_the_constants_of_the_proof():
    log_det, lam, bound, delta, slope, drift = 3.1, 0.2, 1.5, 0.05, 0.08, 0.7
    first = confidence.STEEPEST / slope * np.sqrt(1 + drift / lam)
    assert neural.width(log_det, lam, bound, delta, slope, drift) == pytest.approx(
        neural.printed_width(log_det, lam, delta, first, bound)
    )
    assert neural.printed_width(log_det, lam, delta, 1.0, bound) == pytest.approx(
        np.sqrt(0.25 * np.log(np.exp(log_det) / delta**2)) + np.sqrt(lam) * bound
    )
    assert neural.width(log_det, lam, bound, delta, slope) == confidence.width(
        log_det, lam, bound, delta, slope, projected=False
    )


@given(SEEDS, st.floats(0.01, 5.0))
def test_the_drift_stretches_a_norm_by_no_more_than_its_factor(seed, lam):
    rng = generator("drift", seed)
    start = semidefinite(rng, 4, 3) + lam * np.eye(4)
    now = semidefinite(rng, 4, 3) + lam * np.eye(4)
    z = rng.standard_normal(4)
    factor = np.sqrt(1 + np.linalg.norm(now - start, 2) / lam)
    assert np.sqrt(z @ now @ z) <= factor * np.sqrt(z @ start @ z) * (1 + 1e-9)


@settings(max_examples=25)
@given(SEEDS, st.floats(0.0, 0.5), st.integers(2, 3))
def test_scores_differ_from_the_truth_by_no_more_than_the_interval_and_the_measured_error(seed, moved, depth):
    # whatever θ, ẑ and z* are: f − h = w′·(ẑ − z*) + (f − w′·ẑ) + (w′ − w)·z*
    network = Network(3, 8, depth, "symmetric")
    rng = generator("decomposition", seed)
    start = network.initial(Streams(KEY)).double()
    theta = start + moved * torch.from_numpy(rng.standard_normal(start.shape))
    x = documents(2, 3, seed)
    first, now = gradients_of(network, x, start), gradients_of(network, x, theta)
    w, v = first[0] - first[1], now[0] - now[1]
    fit, truth = rng.standard_normal((2, network.n_parameters))
    scores = network.forward(theta, network.inputs(torch.from_numpy(x))[None]).scores[0].numpy()
    f, h, bound = float(scores[0] - scores[1]), float(w @ truth), float(np.linalg.norm(truth))
    error = abs(float(special.expit(f) - special.expit(h)))
    at_start = neural.measured_error(np.array(f), np.array(w @ fit))
    assert error <= confidence.STEEPEST * abs(w @ (fit - truth)) + at_start + 1e-12
    later = neural.measured_error(np.array(f), np.array(v @ fit), float(np.linalg.norm(v - w)), bound)
    assert error <= confidence.STEEPEST * abs(v @ (fit - truth)) + later + 1e-12


def test_the_error_of_the_proof_falls_with_the_width_but_only_where_the_width_is_astronomic():
    common = {"pairs": 1e4, "depth": 2, "regularization": 0.1, "bound": 1.0, "passes": np.inf}
    errors = [neural.approximation(units=m, step=1 / (1.0 * m), **common) for m in (1e2, 1e20, 1e60, 1e80)]
    assert errors[0] > 1e9 > 1 > errors[-1]
    assert neural.approximation(1.0, 1e60, 2, 1.0, 1.0, 1e-60, np.inf) < 1e-6


def test_the_error_of_the_proof_is_the_sum_that_its_docstring_says():
    n, m, depth, lam, bound = 9.0, 50.0, 3, 2.0, 1.5
    tau = np.sqrt(2 * n / (m * lam))
    away = (1 - 0.001 * m * lam) ** 5 * tau
    away += m ** (-2 / 3) * np.sqrt(np.log(m)) * 3**3.5 * (n / lam) ** (7 / 6) * (0.5 + 0.6 * np.sqrt(n / lam))
    wanted = 2 * 0.2 * tau ** (4 / 3) * 27 * np.sqrt(m * np.log(m))
    wanted += 2 * 0.3 * 0.4 * tau ** (1 / 3) * 3**3.5 * np.sqrt(np.log(m)) * bound + 2 * 0.4 * np.sqrt(m * 3) * away
    constants = {"linear": 0.2, "turning": 0.3, "gradient": 0.4, "descent": (0.5, 0.6)}
    got = neural.approximation(n, m, depth, lam, bound, 0.001, 10, **constants)
    assert got == pytest.approx(wanted / 4)


@given(st.floats(10, 1e5), st.integers(2, 6), st.floats(1e-4, 1.0))
def test_the_least_width_solves_its_condition(pairs, depth, lam):
    for printed in (True, False):
        log = neural.least_log_width(pairs, depth, lam, printed)
        common = 21 * np.log(depth) + 6 * np.log1p(np.sqrt(pairs / lam)) + 3 * np.log(log)
        assert log == pytest.approx((7 if printed else 4) * np.log(pairs / lam) + common, rel=1e-9)
    assert neural.least_log_width(pairs, depth, lam) < neural.least_log_width(pairs, depth, lam, printed=True)


# effective dimension and log det


def pairwise(kernel):
    """Ĥ, written out: the kernel over documents and all pairs of them."""
    n = len(kernel)
    pairs = np.array([[i, j] for i in range(n) for j in range(i + 1, n)])
    rows = np.concatenate([np.eye(n), np.eye(n)[pairs[:, 0]] - np.eye(n)[pairs[:, 1]]])
    return rows @ kernel @ rows.T


@given(SEEDS, st.floats(0.05, 5.0))
def test_the_log_determinant_over_all_pairs_is_that_of_the_matrix_written_out(seed, lam):
    rng = generator("effective", seed)
    kernel = semidefinite(rng, 5, int(rng.integers(1, 6)))
    whole = pairwise(kernel)
    wanted = np.linalg.slogdet(np.eye(len(whole)) + whole / lam)[1]
    assert neural.effective_log_det(kernel, lam) == pytest.approx(wanted, abs=1e-8)
    counts = rng.integers(1, 4, 5)
    rows = np.repeat(np.arange(5), counts)
    merged = neural.effective_log_det(kernel, lam, counts.astype(float))
    assert merged == pytest.approx(neural.effective_log_det(kernel[np.ix_(rows, rows)], lam), abs=1e-8)
    n = counts.sum()
    scale = np.log(1 + (n + n**2 / 2) / lam)
    assert neural.effective_dimension(kernel, lam, counts.astype(float)) * scale == pytest.approx(merged)


@given(SEEDS, st.floats(0.05, 5.0), st.integers(2, 12))
def test_a_kernel_as_assumption_b2_has_it_has_an_effective_dimension_above_its_least(seed, lam, n):
    rng = generator("least", seed)
    eigenvalue = float(rng.uniform(0.01, 1.0))
    kernel = semidefinite(rng, n, n) + eigenvalue * np.eye(n)
    assert neural.effective_dimension(kernel, lam) >= neural.least_effective_dimension(n, eigenvalue, lam) * (1 - 1e-9)
    assert neural.effective_dimension(eigenvalue * np.eye(n), lam) == pytest.approx(
        neural.least_effective_dimension(n, eigenvalue, lam)
    )


def test_the_least_effective_dimension_tends_to_half_of_the_documents():
    for n in (1e6, 1e12, 1e24):
        assert neural.least_effective_dimension(n, 0.01, 1.0) / n == pytest.approx(0.5, abs=6 / np.log(n))


@pytest.mark.parametrize("rounds", [10, 1_000, 10**6, 10**9])
@pytest.mark.parametrize("documents_", [2, 10, 100])
@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
def test_under_its_own_assumption_the_printed_regret_bound_is_above_the_number_of_all_pairs(rounds, documents_, lam):
    # at its best: the largest gap and slope, all examined, no t′, no cross terms, no ε, λ₀ = .01
    dimension = neural.least_effective_dimension(rounds * documents_, 0.01, lam)
    bound = neural.printed_regret_bound(rounds, documents_, dimension, 0.5, 0.0, lam, 1 / rounds, 1 / rounds, 0.25, 1.0)
    assert bound > rounds * documents_ * (documents_ - 1) / 2


def grown(kernel, lam, pairs):
    """log(det Ā/det λI) after some pairs of documents with this kernel."""
    x = neural.coordinates(kernel)
    w = x[pairs[:, 0]] - x[pairs[:, 1]]
    return np.linalg.slogdet(np.eye(x.shape[1]) + w.T @ w / lam)[1]


@given(SEEDS, st.floats(-3.0, 1.0), st.integers(2, 8), st.integers(1, 12), st.integers(2, 4))
def test_pairs_that_share_no_document_stay_below_lemma_c3_with_h_as_printed(seed, log, listed, rounds, depth):
    """Random worlds: some queries that may come again, in each round some disjoint pairs of its documents."""
    rng, lam = generator("disjoint", seed), 10.0**log
    queries = int(rng.integers(1, rounds + 1))
    x = rng.standard_normal((queries * listed, int(rng.integers(2, 7))))
    limit = neural.tangent_kernel(x / np.linalg.norm(x, axis=1, keepdims=True), depth)
    kernel = limit.tangent * (1 + 0.1 * semidefinite(rng, len(x), 2))  # of some network: not its limit
    spread = max(1.0, neural.excess(kernel, limit.tangent))
    counts, pairs = np.zeros(len(x)), []
    for query in rng.integers(queries, size=rounds):
        own = query * listed + rng.permutation(listed)
        counts[query * listed : (query + 1) * listed] += 1
        pairs += own[: 2 * int(rng.integers(1, listed // 2 + 1))].reshape(-1, 2).tolist()
    seen = np.flatnonzero(counts)
    place = {document: i for i, document in enumerate(seen)}
    pairs = np.array([[place[i] for i in pair] for pair in pairs])
    kernel, tangent, printed = (each[np.ix_(seen, seen)] for each in (kernel, limit.tangent, limit.printed))
    observed, n = grown(kernel, lam, pairs), counts.sum()
    assert observed <= neural.disjoint_log_det_bound(tangent, lam, spread, counts[seen]) + 1e-6
    assert observed <= neural.disjoint_log_det_bound(printed, lam, 2 * spread, counts[seen]) + 1e-6
    if n + 1 >= 4 * spread:
        assert observed <= neural.effective_log_det(printed, lam, counts[seen]) + 1e-6


def test_the_bound_of_disjoint_pairs_is_reached_up_to_its_documents():
    """Two documents, one pair, K = H = I: log det(1 + 2/λ) against log det(I + (2/3) Ĥ/λ) with Ĥ's eigenvalues 3 and 1
    but for zeros."""
    assert grown(np.eye(2), 0.5, np.array([[0, 1]])) == pytest.approx(np.log(5))
    assert neural.disjoint_log_det_bound(np.eye(2), 0.5, 1.0) == pytest.approx(np.log(5) + np.log(1 + 2 / 3 / 0.5))


@given(SEEDS, st.floats(0.02, 5.0), st.integers(1, 30))
def test_log_det_stays_below_its_bound_for_every_regularization_and_width(seed, lam, rounds):
    rng = generator("log det", seed)
    limit = semidefinite(rng, 8, 8) + 0.05 * np.eye(8)
    kernel = limit + 0.3 * semidefinite(rng, 8, 8)
    pairs, counts = [], np.zeros(8)
    for _ in range(rounds):
        shown = rng.permutation(8)[:4]
        counts[shown] += 1
        pairs += [shown[:2], shown[2:]]
    log_det = grown(kernel, lam, np.array(pairs))
    here = counts > 0
    limit, kernel, counts = limit[np.ix_(here, here)], kernel[np.ix_(here, here)], counts[here]
    assert log_det <= neural.log_det_bound(kernel, limit, lam, counts) + 1e-9
    # of a kernel that is the limit the paper's bound holds as well, for all λ, with one count a round
    at_limit = neural.log_det_bound(limit, limit, lam, counts)
    assert at_limit + 1 == pytest.approx(neural.printed_log_det_bound(limit, lam, counts))


# the diagonal form


@given(SEEDS, st.floats(0.05, 3.0), st.integers(2, 7))
def test_the_full_norm_is_at_most_root_kappa_times_the_diagonal_one_and_reaches_it(seed, lam, p):
    rng = generator("diagonal", seed)
    g = rng.standard_normal((5, p))
    matrix = g.T @ g + lam * np.eye(p)
    diagonal = np.diag(matrix)
    full, narrow = np.linalg.inv(matrix), np.diag(1 / diagonal)
    kappa = neural.excess(full, narrow)
    whitened = matrix / np.sqrt(np.outer(diagonal, diagonal))
    assert kappa == pytest.approx(1 / np.linalg.eigvalsh(whitened)[0])
    assert 1 < kappa <= neural.diagonal_excess_bound(diagonal, lam) * (1 + 1e-9)
    for v in rng.standard_normal((20, p)):
        assert v @ full @ v <= kappa * (v @ narrow @ v) * (1 + 1e-9)
        assert v @ narrow @ v <= p * (v @ full @ v) * (1 + 1e-9)  # the largest eigenvalue is at most the trace
    worst = np.sqrt(diagonal) * np.linalg.eigh(whitened)[1][:, 0]
    assert worst @ full @ worst == pytest.approx(kappa * (worst @ narrow @ worst))
    log_det = np.linalg.slogdet(matrix)[1]
    assert np.log(diagonal).sum() >= log_det - 1e-9  # Hadamard: the diagonal's α_t is no smaller


def test_a_diagonal_matrix_is_its_own_diagonal_form():
    inverse = np.diag([1.0, 0.5, 4.0])
    assert neural.excess(inverse, inverse) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [1, 100, 10**6])
def test_a_direction_never_seen_has_a_diagonal_norm_as_small_as_one_likes_and_one_seen_often_too_large_a_one(n):
    lam, seen, unseen = 0.5, np.array([1.0, 1.0]), np.array([1.0, -1.0])
    matrix = lam * np.eye(2) + n * np.outer(seen, seen)
    full, narrow = np.linalg.inv(matrix), np.diag(1 / np.diag(matrix))
    assert unseen @ full @ unseen == pytest.approx(2 / lam, rel=1e-6)
    assert unseen @ narrow @ unseen == pytest.approx(2 / (lam + n))
    assert neural.diagonal_excess_bound(np.diag(matrix), lam) == pytest.approx((lam + n) / lam)  # sharp here
    assert neural.excess(full, narrow) == pytest.approx((lam + n) / lam, rel=1e-6)
    assert seen @ narrow @ seen <= 2 * (seen @ full @ seen)
    assert seen @ narrow @ seen == pytest.approx((2 * n + lam) / (n + lam) * (seen @ full @ seen))


@given(SEEDS, st.integers(1, 3))
def test_the_excess_over_a_span_needs_only_the_gram_matrices_of_vectors_in_it(seed, rank):
    rng = generator("span", seed)
    g = rng.standard_normal((6, 5))
    matrix = g.T @ g + 0.4 * np.eye(5)
    narrow = np.diag(1 / np.diag(matrix))
    basis = rng.standard_normal((rank, 5))
    vectors = rng.standard_normal((rank + 2, rank)) @ basis
    got = neural.excess(vectors @ np.linalg.inv(matrix) @ vectors.T, vectors @ narrow @ vectors.T)
    wanted = neural.excess(basis @ np.linalg.inv(matrix) @ basis.T, basis @ narrow @ basis.T)
    assert got == pytest.approx(wanted, rel=1e-5)


# regret


def test_the_regret_bound_is_pairranks_in_the_span_and_infinite_where_the_error_takes_half_of_the_gap():
    common = {"rounds": 1000, "documents": 4, "norm": 1.5, "bound": 1.0, "regularization": 1.0, "delta": 1e-3}
    least = confidence.least_slope(1.5, 1.0)
    wanted = confidence.regret_bound(**common, dimension=12, gap=0.08, least=least, compared=0.2, conservative=True)
    got = neural.regret_bound(**common, rank=12, gap=0.1, approximation=0.01, compared=0.2)
    assert got == pytest.approx(wanted)
    assert neural.regret_bound(**common, rank=12, gap=0.1, approximation=0.05, compared=0.2) == np.inf
    assert neural.regret_bound(**common, rank=12, gap=0.1, approximation=0.0, compared=0.0) == np.inf


def test_in_a_fixed_pool_the_corrected_bound_grows_slower_than_the_rounds_and_ends_below_all_pairs():
    common = {"documents": 4, "rank": 12, "gap": 0.1, "approximation": 0.0, "norm": 1.0, "bound": 0.5}
    shares = [
        neural.regret_bound(T, **common, regularization=1.0, delta=1 / T, compared=1 / 3) / (6 * T)
        for T in (1e4, 1e6, 1e8, 1e10)
    ]
    assert shares[0] > 1 > shares[-1] and (np.diff(shares) < 0).all()


def test_the_printed_regret_bound_is_the_last_line_of_its_proof():
    T, V, d, gap, lam, d1, d2, c, p, t, w = 500, 5, 7.0, 0.2, 2.0, 0.01, 0.02, 0.1, 0.5, 30.0, 4.0
    price = 8 * 0.25 * 0.25**2 / c**2 * np.log(1 / d1) / (gap - 0.02) ** 2
    wanted = t * V**2 + (T - t) * d2 * V**2
    wanted += (1 - d2) * price * (w + V * (d * np.log(1 + T * V**2 / lam) + 1)) / p
    assert neural.printed_regret_bound(T, V, d, gap, 0.01, lam, d1, d2, c, p, t, w) == pytest.approx(wanted)
    assert neural.printed_regret_bound(T, V, d, gap, 0.01, lam, d1, d2, c, 0.0) == np.inf  # a list cut at k < V
