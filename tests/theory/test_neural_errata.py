"""Where olRankNet's paper slips: each slip has a check that would fail were the paper right."""

import numpy as np
import pytest
import torch
from scipy import special

from ol2r.networks import Network
from ol2r.random import Streams, generator
from ol2r.theory import confidence, neural


def test_definition_3_4_makes_a_wrong_order_certain_where_lemma_3_3_holds():
    width, error, truth = 0.1, 0.02, 0.49  # α ‖w‖, ε(m), and j is the better one
    estimate = truth + width + error  # as far off as Eq. 3.3 allows
    assert abs(estimate - truth) <= width + error
    assert estimate - (width - error) > 0.5  # CB as Definition 3.4 has it: i above j is certain
    assert not estimate - (width + error) > 0.5


def drifted():
    """A and Ā of a small network, with λ = .1, the pairs' gradients at θ₀ and at a θ near it."""
    network, lam = Network(3, 6, 2, "symmetric"), 0.1
    rng = generator("drifted", 0)
    start = network.initial(Streams(np.array([1], dtype=np.uint64))).double()
    theta = start + 0.2 * torch.from_numpy(rng.standard_normal(start.shape))
    x = network.inputs(torch.from_numpy(rng.standard_normal((16, 3))))[None]
    gradients = [network.tangent(t, network.forward(t, x).activations).explicit()[0].numpy() for t in (start, theta)]
    pairs = [g[::2] - g[1::2] for g in gradients]
    first, now = (w.T @ w + lam * np.eye(network.n_parameters) for w in pairs)
    return now, first, lam


def test_the_least_eigenvalue_falls_by_up_to_the_drift_and_does_not_rise_by_it():
    now, start, _ = drifted()
    least, first = np.linalg.eigvalsh(now)[0], np.linalg.eigvalsh(start)[0]
    drift = np.linalg.norm(now - start, 2)
    assert least < first + drift  # C.1 has ≥
    assert least >= first - drift


def test_the_drift_counts_in_units_of_lambda():
    now, start, lam = drifted()
    # ‖z‖_A ≤ √(1 + ‖A − Ā‖/λ) ‖z‖_Ā; the proof of Lemma 3.3 drops λ on its way
    worst = np.sqrt(neural.excess(now, start))
    drift = np.linalg.norm(now - start, 2)
    assert worst > np.sqrt(1 + drift)
    assert worst <= np.sqrt(1 + drift / lam)


def test_vershynins_deficit_grows_with_the_root_of_p_n_and_not_with_n():
    p, deficits = 20, []
    for n in (400, 1600, 6400):
        z = generator("isotropic", n).standard_normal((n, p))
        deficits.append(n - np.linalg.eigvalsh(z.T @ z)[0])
    over_root = np.array(deficits) / np.sqrt(p * np.array([400, 1600, 6400]))
    over_n = np.array(deficits) / np.array([400, 1600, 6400])
    np.testing.assert_allclose(over_root, 2.0, rtol=0.2)  # C₁√(pn)
    assert over_n[2] < 0.4 * over_n[0]  # C.1 has C₁n


def test_squares_of_a_difference_lose_the_product():
    a, b, beta = 10.0, 9.5, 0.25
    assert a >= b and not (a - b) ** 2 >= a**2 + b**2  # the step before C_u
    assert not (a - b) ** 2 >= (1 - 2 * beta) * a**2 + b**2  # nor with PairRank's factor, unless b ≤ βa
    b = beta * a
    assert (a - b) ** 2 >= (1 - 2 * beta) * a**2 + b**2
    # so C_u = 8ν²k_μ²/c_μ² lacks 1/(1 − 2β)
    ours, printed = (confidence.printed_uncertain_probability(1.0, 0.1, 0.1, each, 0.1, 0.5) for each in (beta, 0.0))
    assert ours == pytest.approx(2 * printed)


def test_the_infimum_of_the_slope_over_all_parameters_is_zero_and_the_fit_is_not_bounded_by_s():
    x, lam, bound = np.array([[2.0]]), 0.01, 1.0  # one pair, won fifty times
    fit = confidence.fitted(x, np.array([50.0]), np.array([0.0]), lam)
    assert abs(fit[0]) > bound
    matrix, truth = 50 * 4 + lam, np.array([bound])
    hessian = np.diff(confidence.estimating_function(np.array([[bound], fit]), x, np.array([50.0]), lam), axis=0)
    hessian /= fit - bound
    within = float(confidence.slope(2 * bound))  # c_μ over ‖z‖ ≤ S
    assert hessian.item() < within * matrix  # Q_t ⪰ c_μ Ā fails
    assert hessian.item() >= neural.reached_slope(x, fit, bound) * matrix
    assert truth[0] == bound


def test_lemma_b8_prints_a_square_that_its_proof_does_not_need():
    least = confidence.least_slope(1.0, 0.5)
    assert 1 / least**2 > 4 / least  # c_μ ≤ ¼, so the statement is at least four times the proof's


def test_labels_less_margins_are_no_noise():
    margin = 1.3
    chance = special.expit(margin)  # of label 1
    assert chance * (1 - chance) + (1 - chance) * (0 - chance) == pytest.approx(0)  # y − σ(⟨g, γ*⟩)
    assert abs(chance - margin) > 0.5  # the mean of y − ⟨g, γ*⟩, as D.2 has it


def repeated(n, square=2.0, lam=1.0):
    """‖w‖² by the A of before, and log(det A/det λI), of one pair seen n times."""
    return square / (lam + square * np.arange(n)), np.log1p(n * square / lam)


def test_the_sum_of_norms_needs_their_squares():
    squares, log_det = repeated(2000)
    assert np.sqrt(squares).sum() > 2 * log_det  # Lemma C.3 as printed
    assert np.minimum(1, squares).sum() <= confidence.potential_bound(log_det) <= 2 * log_det


def test_a_lambda_of_one_is_not_enough_to_leave_out_the_minimum():
    kernel = neural.tangent_kernel(np.array([[1.0, 0.0], [-1.0, 0.0]]), 2).tangent
    square = kernel[0, 0] + kernel[1, 1] - 2 * kernel[0, 1]
    assert square == pytest.approx(4.0)  # two opposite documents, L = 2
    squares, log_det = repeated(1, square)
    assert squares.sum() > 2 * log_det
    assert squares.sum() <= confidence.potential_bound(log_det, largest=square) * (1 + 1e-12)


def test_twice_log_det_is_above_what_bounds_log_det():
    rng = generator("all pairs", 0)
    limit = neural.tangent_kernel(rng.standard_normal((12, 4)), 2).tangent
    x = neural.coordinates(limit)
    i, j = np.triu_indices(12, 1)
    w = x[i] - x[j]  # every pair seen once
    log_det = np.linalg.slogdet(np.eye(x.shape[1]) + w.T @ w)[1]
    allowed = neural.printed_log_det_bound(limit, 1.0)
    assert log_det <= allowed < 2 * log_det  # Lemma C.3 claims 2 log det ≤ allowed


def test_the_logarithm_of_the_statement_is_not_the_one_that_d_is_defined_by():
    rng = generator("logarithms", 0)
    V, T, lam = 4, 12, 1.0
    limit = neural.tangent_kernel(rng.standard_normal((V * T, 6)), 2).tangent
    dimension, n = neural.effective_dimension(limit, lam), V * T
    assert dimension * np.log(1 + (n + n**2 / 2) / lam) == pytest.approx(neural.effective_log_det(limit, lam))
    assert dimension * np.log(1 + T * V**2 / lam) + 1 < neural.effective_log_det(limit, lam)  # Lemma C.3
    assert dimension * np.log(1 + T * V / lam) < dimension * np.log(1 + T * V**2 / lam)  # Theorem 4.4


def test_counting_documents_once_loses_pairs_that_are_seen_again_and_counting_rounds_makes_h_singular():
    limit = neural.tangent_kernel(np.eye(3)[:2], 2).tangent  # two documents at a right angle
    w = neural.coordinates(limit)[0] - neural.coordinates(limit)[1]
    log_det = np.log1p(1000 * float(w @ w))  # their pair, seen in each of 1000 rounds
    assert log_det > neural.printed_log_det_bound(limit, 1.0)  # "holds naively", with each document once
    assert log_det <= neural.printed_log_det_bound(limit, 1.0, np.array([1000.0, 1000.0]))
    twice = limit[np.ix_([0, 1, 0, 1], [0, 1, 0, 1])]  # H over the documents of two rounds
    assert np.linalg.eigvalsh(twice)[0] < 1e-12  # Assumption B.2 wants at least λ₀ > 0


def test_of_a_kernel_far_from_its_limit_the_remainder_of_lemma_c3_passes_one_and_ours_bounds_it():
    limit, lam = np.eye(12), 0.01
    kernel = 2 * limit
    i, j = np.triu_indices(12, 1)
    x = neural.coordinates(kernel)
    log_det = np.linalg.slogdet(np.eye(12) + (x[i] - x[j]).T @ (x[i] - x[j]) / lam)[1]
    seen = np.ones(12)
    assert log_det > neural.printed_log_det_bound(limit, lam)
    assert log_det <= neural.log_det_bound(kernel, limit, lam, seen)


def test_an_inner_product_is_not_bounded_by_root_n_times_a_spectral_norm():
    one, other = np.eye(9), 0.1 * np.eye(9)  # (I + Ĥ/λ)⁻¹ and (ĜᵀĜ − Ĥ)/λ of Lemma C.3
    assert (one * other).sum() > np.sqrt(9) * np.linalg.norm(other, 2)
    assert (one * other).sum() <= np.sqrt(9) * np.linalg.norm(other) * (1 + 1e-12)


def test_differences_of_pairs_multiply_a_frobenius_norm_by_no_more_than_n_plus_one():
    rng = generator("frobenius", 0)
    for n in (2, 5, 9):
        error = rng.standard_normal((n, n))
        error += error.T
        i, j = np.triu_indices(n, 1)
        rows = np.concatenate([np.eye(n), np.eye(n)[i] - np.eye(n)[j]])
        assert np.linalg.norm(rows @ error @ rows.T) <= (n + 1) * np.linalg.norm(error)
        assert n + 1 <= 4 * (n**2 / 2) / n + 1e-12 or n == 1  # the printed 4N/n is larger, if by another argument


def crossings(noise, scale, delta=0.1, worlds=1500, n=1500):
    """Share of worlds in which ‖S_t‖ ever passed the martingale radius of ν = ½ times a scale."""
    matrices = 1 + np.arange(1, n + 1)
    radius = confidence.martingale_radius(np.log(matrices), delta)
    return (np.abs(noise.cumsum(axis=1)) / np.sqrt(matrices) > scale * radius).any(axis=1).mean()


def test_the_convention_of_proposition_3_2_makes_the_interval_too_narrow():
    # E exp(βξ) ≤ exp(β²ν²) lets a fair coin have ν² = 1/8; the martingale bound means exp(β²ν²/2), ν² = 1/4
    beta = np.linspace(-8, 8, 81)
    assert (np.cosh(beta / 2) <= np.exp(beta**2 / 8) * (1 + 1e-12)).all()
    coins = generator("coins", 0).integers(0, 2, (1500, 1500)) - 0.5
    assert crossings(coins, 1.0) <= 0.1
    assert crossings(coins, np.sqrt(0.5)) > 0.3


def test_lemma_b9_asks_for_a_cube_more_units_than_its_proof_needs_and_lemma_33_does_not():
    n, lam, depth = 25_000.0, 0.1, 2  # five pairs in each of 5000 rounds

    def drifted(log_units):
        """What the proof needs to be at most τ/2, over τ/2, with C₂ = C₃ = 1: 1 at the least m."""
        units, per = np.exp(log_units), n / lam
        tau = np.sqrt(2 * per / units)
        both = per * tau ** (1 / 3) * units**-0.5 + per * tau ** (4 / 3)
        return 2 * both * depth**3.5 * np.sqrt(log_units) / tau

    proof, statement = (neural.least_log_width(n, depth, lam, printed) for printed in (False, True))
    assert 1 < drifted(proof) < 3 and drifted(proof + np.log(3.0**6)) < 1  # C₂ and C₃ apart
    assert drifted(statement) < 1e-2
    assert statement - proof > 3 * np.log(n / lam)
    # Lemma 3.3's T⁷ λ⁻⁷ L²¹ (log m)³ is at most 2⁶ smaller than what the proof needs
    lemma = 7 * np.log(n / lam) + 21 * np.log(depth) + 3 * np.log(proof)
    assert 0 < proof - lemma < 6 * np.log(2)
    assert proof / np.log(10) > 40  # the experiments have m = 100


def test_the_printed_error_lacks_a_logarithm_of_the_width():
    # the last term of ε(m): both fall as m^{−1/6}, but the proof's by √(log m) more slowly
    def ratio(units):
        proof = neural.approximation(1e4, units, 2, 1.0, 0.0, 1 / units, np.inf, linear=0.0, turning=0.0)
        return proof / neural.printed_approximation(1e4, units, 2, 1.0, 1 / units, np.inf)

    growth = ratio(1e60) / ratio(1e15)
    assert growth > 1.5


def test_algorithm_1_adds_another_gradient_than_the_one_whose_width_was_measured():
    # a unit that the refit switches off: its pair was wide when it was shown and adds nothing to A
    network = Network(1, 1, 2)
    x = torch.tensor([[[1.0], [0.0]]], dtype=torch.float64)
    before, after = torch.tensor([[0.5, 1.0]]).double(), torch.tensor([[-0.5, 1.0]]).double()
    tangents = [network.tangent(t, network.forward(t, x).activations) for t in (before, after)]
    shown, added = (tangent.explicit()[0].numpy() for tangent in tangents)
    assert np.linalg.norm(shown[0] - shown[1]) > 1
    assert np.linalg.norm(added[0] - added[1]) == 0  # so the potential lemma, which needs both to be one, says nothing


def test_noise_has_no_mean_zero_along_a_gradient_that_was_refitted_to_it():
    # one pair with h_i = h_j: its label is a fair coin; W_t of C.1 has g at θ_t, which has seen the label
    network, lam = Network(2, 8, 2, "symmetric"), 0.1
    start = network.initial(Streams(np.array([1], dtype=np.uint64))).double()
    x = network.inputs(torch.tensor([[[1.0, 0.2], [-0.3, 1.0]]], dtype=torch.float64))

    def pair(theta):
        g = network.tangent(theta, network.forward(theta, x).activations).explicit()[0].numpy()
        return g[0] - g[1]

    mean = {"start": 0.0, "refitted": 0.0}
    for label in (0, 1):
        theta = start.clone()
        for _ in range(300):
            scores, activations = network.forward(theta, x)
            push = torch.sigmoid(scores[:, :1] - scores[:, 1:]) - label
            away = network.gradient(theta, activations, torch.cat([push, -push], dim=1))
            theta = theta - 0.01 * (away + network.width * lam * (theta - start))
        noise = label - 0.5
        mean["start"] = mean["start"] + 0.5 * noise * pair(start)
        mean["refitted"] = mean["refitted"] + 0.5 * noise * pair(theta)
    assert np.linalg.norm(mean["start"]) < 1e-12  # as the proof of Lemma 3.3 has it
    assert np.linalg.norm(mean["refitted"]) > 0.01 * np.linalg.norm(pair(start))


def test_a_pair_can_be_longer_than_the_constant_of_lemma_b4_has_it():
    # ‖g‖ ≤ C^z √(mL) makes ‖g_ij/√m‖² ≤ 4 (C^z)² L; B.4 adds up 2 C^z L a pair; C^z = 1 for unit norms in the limit
    x = np.array([[1.0, 0.0], [np.cos(2.0), np.sin(2.0)]])
    kernel = neural.tangent_kernel(x, 2).tangent
    np.testing.assert_allclose(np.diag(kernel), 2.0)
    square = kernel[0, 0] + kernel[1, 1] - 2 * kernel[0, 1]
    assert 2 * 2 < square <= 4 * 2


def test_with_h_as_printed_the_log_determinant_passes_its_bound_by_more_than_one():
    rng = generator("H as printed", 0)
    x = rng.standard_normal((16, 8))
    kernels = neural.tangent_kernel(x / np.linalg.norm(x, axis=1, keepdims=True), 2)
    i, j = np.triu_indices(16, 1)
    own = neural.coordinates(kernels.tangent)  # what the gradients of a wide network have
    w = own[i] - own[j]
    log_det = np.linalg.slogdet(np.eye(16) + w.T @ w)[1]
    assert log_det <= neural.printed_log_det_bound(kernels.tangent, 1.0)
    assert log_det > neural.printed_log_det_bound(kernels.printed, 1.0)
    assert 1 < neural.excess(kernels.tangent, kernels.printed) <= 2  # H̃ ⪯ 2H


def test_the_label_of_a_kept_pair_is_a_coin_with_the_difference_of_log_odds_and_no_sum_of_two_noises():
    p, q = 0.7, 0.4
    clicks = generator("kept pairs", 0).random((200_000, 2)) < (p, q)
    kept = clicks[clicks[:, 0] != clicks[:, 1]]
    margin = special.logit(p) - special.logit(q)
    assert kept[:, 0].mean() == pytest.approx(special.expit(margin), abs=0.005)
    assert abs(kept[:, 0].mean() - (0.5 + (p - q) / 2)) > 0.1  # the mean of (c_i − c_j)/2 + ½ over all pairs


def test_at_least_one_of_the_two_orders_of_a_pair_is_never_certain():
    estimates = generator("two orders", 0).random(1000)
    certain, reverse = estimates - 0.05 > 0.5, (1 - estimates) - 0.05 > 0.5
    assert certain.any() and not (certain & reverse).any()  # so Lemma 4.2 cannot bound both probabilities below ½


def test_a_step_of_descent_contracts_only_with_the_slopes_between_the_gradients():
    rng, decay = generator("contraction", 0), 0.1
    for p, n in ((6, 3), (3, 6)):
        jacobian = rng.standard_normal((p, n))
        step = 0.8 / np.linalg.norm(jacobian, 2) ** 2
        slopes = confidence.slope(3 * rng.standard_normal(n))
        matrix = (1 - decay) * np.eye(p) - step * (jacobian * slopes) @ jacobian.T
        assert np.linalg.norm(matrix, 2) <= 1 - decay + 1e-12
        apart = np.linalg.svd(jacobian)[0][:, 0]  # θ − θ̃, of length 1, where both fits predict ½
        moved = confidence.slope(0.0) * jacobian.T @ apart  # the predictions' difference
        assert (1 - decay) + step * np.linalg.norm(jacobian, 2) * np.linalg.norm(moved) > 1  # D.1: no contraction
        assert np.linalg.norm((1 - decay) * apart - step * jacobian @ moved) <= 1 - decay


def test_residuals_of_labels_are_never_longer_than_the_root_of_their_number():
    scores = 50 * generator("residuals", 1).standard_normal(300)
    for labels in (scores > 0, scores < 0):
        assert np.linalg.norm(special.expit(scores) - labels) <= np.sqrt(300)  # Lemma D.3 has 2 √n, with conditions


def test_the_printed_error_grows_faster_with_the_pairs_than_its_proof_has_it():
    def ratio(per):  # of the last terms
        proof = neural.approximation(per, 1e15, 2, 1.0, 0.0, 1e-15, np.inf, linear=0.0, turning=0.0)
        return neural.printed_approximation(per, 1e15, 2, 1.0, 1e-15, np.inf) / proof

    assert ratio(1e6) / ratio(1e4) == pytest.approx(100**0.5, rel=0.01)  # 5/3 against 7/6
