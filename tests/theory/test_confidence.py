import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from ol2r.random import generator
from ol2r.theory import confidence

SEEDS = st.integers(0, 10_000)
COMMON = {"norm": 1.0, "bound": 0.5, "regularization": 1.0, "delta": 0.1}


def history(seed: int, n: int = 12, d: int = 3, most: int = 9):
    """Distinct pairs with labels of a random model: x, wins, losses."""
    rng = generator("history", seed)
    x = rng.uniform(-1, 1, (n, d))
    counts = rng.integers(1, most, n)
    wins = rng.binomial(counts, special.expit(x @ rng.standard_normal(d))).astype(float)
    return x, wins, counts - wins


def stream(seed: int, n: int, d: int = 4, norm: float = 1.0):
    """n pairs of documents no longer than `norm`, one after another."""
    rng = generator("stream", seed)
    documents = rng.standard_normal((n, 2, d))
    documents *= norm * rng.random((n, 2, 1)) / np.linalg.norm(documents, axis=-1, keepdims=True)
    return documents[:, 0] - documents[:, 1]


def grown(x, regularization, at_once=1):
    """log_det after all of x, and ‖x_s‖² in the norm of M⁻¹ from before the batch of s."""
    matrix = regularization * np.eye(x.shape[1])
    squares = []
    for start in range(0, len(x), at_once):
        batch = x[start : start + at_once]
        squares.append(np.einsum("nd,de,ne->n", batch, np.linalg.inv(matrix), batch))
        matrix = matrix + batch.T @ batch
    return np.linalg.slogdet(matrix)[1] - x.shape[1] * np.log(regularization), squares


def inverse_norm(vector, matrix):
    return float(np.sqrt(vector @ np.linalg.solve(matrix, vector)))


@given(st.floats(-30, 30), st.floats(-30, 30))
def test_the_logistic_function_is_a_quarter_lipschitz(a, b):
    assert abs(special.expit(a) - special.expit(b)) <= confidence.STEEPEST * abs(a - b) + 1e-12


@given(SEEDS, st.floats(0.1, 3.0), st.floats(0.1, 3.0))
def test_the_least_slope_bounds_every_slope_between_two_documents_and_is_reached(seed, norm, bound):
    rng = generator("slope", seed)
    x = stream(seed, 20, norm=norm)
    theta = rng.standard_normal(4)
    theta *= bound * rng.random() / np.linalg.norm(theta)
    least = confidence.least_slope(norm, bound)
    assert (confidence.slope(x @ theta) >= least - 1e-15).all()
    assert confidence.slope(2 * norm * bound) == least  # x_i = uθ/Q, x_j = −x_i


def test_the_printed_slope_of_single_documents_is_too_large_for_pairs():
    documents = np.array([[1.0, 0.0], [-1.0, 0.0]])
    theta = np.array([1.0, 0.0])
    single = confidence.slope(1.0)  # inf σ̇(xᵀθ) over ‖x‖ ≤ u = 1, ‖θ‖ ≤ Q = 1
    assert confidence.slope((documents[0] - documents[1]) @ theta) < single
    assert confidence.slope((documents[0] - documents[1]) @ theta) == confidence.least_slope(1.0, 1.0)


@given(SEEDS, st.integers(1, 60), st.floats(0.05, 20.0))
def test_log_det_never_passes_its_bound(seed, n, regularization):
    log_det, _ = grown(stream(seed, n), regularization)
    assert log_det <= confidence.log_det_bound(4, n, 1.0, regularization) + 1e-9


def test_log_det_reaches_its_bound_where_pairs_are_as_long_as_they_can_be_and_fill_the_space_evenly():
    x = np.concatenate([2 * np.eye(3)] * 5)
    assert grown(x, 0.7)[0] == pytest.approx(confidence.log_det_bound(3, 15, 1.0, 0.7))


def test_the_martingale_radius_is_that_of_its_source():
    matrix, delta, noise = np.diag([4.0, 9.0, 2.5]), 0.05, 0.5
    log_det = np.log(np.linalg.det(matrix)) - np.log(np.linalg.det(2.0 * np.eye(3)))
    squared = 2 * noise**2 * np.log(np.linalg.det(matrix) ** 0.5 / (delta * np.linalg.det(2.0 * np.eye(3)) ** 0.5))
    assert confidence.martingale_radius(log_det, delta) == pytest.approx(np.sqrt(squared))


def crossings(scale: float, worlds: int = 400, n: int = 300) -> int:
    """Worlds of fair coins in which ‖S_t‖ ever passed the radius times `scale`."""
    rng = generator("crossings", 0)
    x = rng.standard_normal((worlds, n, 2))
    noise = rng.integers(0, 2, (worlds, n)) - 0.5
    matrices = np.eye(2) + np.cumsum(np.einsum("wnd,wne->wnde", x, x), axis=1)
    sums = np.cumsum(noise[..., None] * x, axis=1)
    norms = np.sqrt(np.einsum("wnd,wnd->wn", sums, np.linalg.solve(matrices, sums[..., None])[..., 0]))
    radius = confidence.martingale_radius(np.linalg.slogdet(matrices)[1], 0.1)
    return int((norms > scale * radius).any(axis=1).sum())


def test_the_martingale_radius_covers_in_all_rounds_at_once_and_half_of_it_does_not():
    assert crossings(1.0) <= 0.1 * 400
    assert crossings(0.5) > 0.3 * 400


@given(SEEDS, st.floats(0.05, 20.0), st.integers(1, 4))
def test_the_elliptical_potential_holds_for_any_regularization_only_with_the_minimum(seed, regularization, at_once):
    log_det, squares = grown(stream(seed, 40), regularization, at_once)
    terms = np.array([square.sum() for square in squares])
    assert np.minimum(1, terms).sum() <= confidence.potential_bound(log_det) + 1e-9
    largest = 4 * at_once / regularization
    assert terms.sum() <= confidence.potential_bound(log_det, largest) + 1e-9


def test_without_the_minimum_the_potential_lemma_fails_below_its_condition():
    log_det, squares = grown(2 * np.eye(1), regularization=0.01)  # one pair, 4u²/λ = 400
    assert squares[0].sum() > 2 * log_det  # as the paper uses it
    assert squares[0].sum() == pytest.approx(confidence.potential_bound(log_det, 400.0))  # sharp


@given(SEEDS, st.floats(0.01, 5.0), st.floats(0.05, 2.0), st.integers(1, 4))
def test_wide_pairs_are_as_few_as_log_det_allows(seed, regularization, threshold, at_once):
    log_det, squares = grown(stream(seed, 40), regularization, at_once)
    wide = (np.concatenate(squares) >= threshold**2).sum()
    assert wide <= confidence.wide_pairs(log_det, threshold, at_once) + 1e-9


@given(SEEDS)
def test_the_fit_solves_its_estimating_equation(seed):
    x, wins, losses = history(seed)
    theta = confidence.fitted(x, wins, losses, 0.3)
    np.testing.assert_allclose(confidence.estimating_function(theta, x, wins + losses, 0.3), wins @ x, atol=1e-8)


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.floats(0.05, 0.95))
def test_the_projection_is_the_nearest_point_that_a_general_solver_finds(seed, share):
    x, wins, losses = history(seed)
    counts = wins + losses
    theta = confidence.fitted(x, wins, losses, 0.3)
    bound = share * float(np.linalg.norm(theta)) + 1e-3
    matrix = x.T @ (counts[:, None] * x) + 0.3 * np.eye(3)
    goal = confidence.estimating_function(theta, x, counts, 0.3)

    def distance(point):
        return inverse_norm(confidence.estimating_function(point, x, counts, 0.3) - goal, matrix)

    estimate = confidence.project(theta, x, counts, 0.3, bound)
    assert np.linalg.norm(estimate) <= bound * (1 + 1e-9)
    rng = generator("starts", seed)
    ball = {"type": "ineq", "fun": lambda point: bound**2 - point @ point}
    for _ in range(3):
        start = rng.standard_normal(3)
        start *= 0.9 * bound / np.linalg.norm(start)
        other = optimize.minimize(lambda p: distance(p) ** 2, start, method="SLSQP", constraints=ball)
        inside = other.x * min(1.0, bound / np.linalg.norm(other.x))
        assert distance(estimate) <= distance(inside) * (1 + 1e-5) + 1e-7


@given(SEEDS)
def test_an_estimate_inside_the_ball_is_its_own_projection(seed):
    x, wins, losses = history(seed)
    theta = confidence.fitted(x, wins, losses, 0.3)
    bound = float(np.linalg.norm(theta)) * 1.01 + 1e-6
    np.testing.assert_array_equal(confidence.project(theta, x, wins + losses, 0.3, bound), theta)


def test_a_batch_of_projections_is_each_of_them():
    parts = [history(seed) for seed in range(5)]
    theta = np.stack([confidence.fitted(*part, 0.3) for part in parts])
    x, counts = np.stack([part[0] for part in parts]), np.stack([part[1] + part[2] for part in parts])
    together = confidence.project(theta, x, counts, 0.3, 0.6)
    alone = [confidence.project(*each, 0.3, 0.6) for each in zip(theta, x, counts, strict=True)]
    np.testing.assert_allclose(together, alone, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.floats(0.2, 2.0))
def test_the_chain_of_lemma_2_holds_for_every_history_and_truth(seed, bound):
    # |σ̂ − σ*| ≤ 2 (k_μ/c_μ) ‖x‖ ‖g(θ*) − g(θ̃)‖, whatever the labels: all randomness is in the last factor
    x, wins, losses = history(seed)
    norm = float(np.linalg.norm(x, axis=1).max()) / 2
    rng = generator("truth", seed)
    truth = rng.standard_normal(3)
    truth *= bound * rng.random() / np.linalg.norm(truth)
    counts = wins + losses
    matrix = x.T @ (counts[:, None] * x) + 0.3 * np.eye(3)
    raw = confidence.fitted(x, wins, losses, 0.3)
    goal, reached = (confidence.estimating_function(each, x, counts, 0.3) for each in (truth, raw))
    radius = inverse_norm(goal - reached, matrix)
    estimate = confidence.project(raw, x, counts, 0.3, bound)
    factor = (1 if np.linalg.norm(raw) <= bound else 2) * 0.25 / confidence.least_slope(norm, bound)
    for pair in x:
        error = abs(special.expit(pair @ estimate) - special.expit(pair @ truth))
        assert error <= factor * radius * inverse_norm(pair, matrix) * (1 + 1e-4) + 1e-6


def test_an_estimate_outside_the_ball_can_break_the_slope_that_lemma_2_divides_by():
    x = np.array([[2.0]])  # u = 1, one pair won fifty times, and Q = 1
    raw = confidence.fitted(x, np.array([50.0]), np.array([0.0]), 0.01)
    assert np.abs(raw) > 1
    truth, counts = np.array([1.0]), np.array([50.0])
    matrix = 50 * x.T @ x + 0.01 * np.eye(1)
    between = confidence.estimating_function(truth, x, counts, 0.01) - confidence.estimating_function(
        raw, x, counts, 0.01
    )
    mean_slope = between / (truth - raw)  # G_t of the proof
    assert mean_slope[0] < confidence.least_slope(1.0, 1.0) * matrix[0, 0]  # G ⪰ c_μ M fails


@given(st.floats(0.0, 100.0), st.floats(0.01, 5.0), st.floats(0.1, 2.0), st.floats(0.001, 0.5))
def test_the_width_is_lemma_2_to_the_letter_and_halves_without_the_projection(log_det, regularization, bound, delta):
    least = confidence.least_slope(1.0, bound)
    printed = (
        2 * 0.25 / least * (np.sqrt(0.5**2 * np.log(np.exp(log_det) / delta**2)) + np.sqrt(regularization) * bound)
    )
    alpha = confidence.width(log_det, regularization, bound, delta, least)
    assert alpha == pytest.approx(printed)
    assert confidence.width(log_det, regularization, bound, delta, least, projected=False) == pytest.approx(alpha / 2)
    assert 2 * alpha >= confidence.STEEPEST / least >= 1  # so that Δ/(2α) < 1, as the regret bound assumes


@given(st.floats(0.01, 0.25), st.floats(0.1, 30.0), st.floats(0.0, 1.0))
def test_an_order_left_open_by_intervals_that_hold_is_wide(gap, alpha, share):
    # |σ̂ − ½| ≤ α w and |σ̂ − σ*| ≤ α w leave no room for |σ* − ½| ≥ Δ unless 2 α w ≥ Δ
    w = confidence.open_width(gap, alpha) * share
    assert gap - alpha * w >= alpha * w - 1e-12


@given(st.floats(0.01, 0.25), st.floats(0.01, 0.499), st.floats(0.1, 60.0))
def test_above_the_eigenvalue_needed_no_order_can_be_open_where_intervals_hold(gap, beta, log_det):
    least = confidence.least_slope(1.0, 0.5)
    needed = confidence.least_eigenvalue_needed(log_det, gap, **COMMON, beta=beta, least=least)
    widest = 2 / np.sqrt(needed)  # ‖x‖_{M⁻¹} ≤ 2u/√λ_min
    alpha = confidence.width(log_det, 1.0, 0.5, 0.1, least)
    assert widest <= confidence.open_width(gap, alpha)


@given(st.floats(0.01, 0.25), st.floats(0.01, 0.45))
def test_the_corrected_lemma_7_is_no_more_than_delta_and_falls_with_information(gap, beta):
    least = confidence.least_slope(1.0, 0.5)
    needed = confidence.least_eigenvalue_needed(30.0, gap, **COMMON, beta=beta, least=least)
    chances = [confidence.uncertain_probability(f * needed, gap, 1.0, 0.1, beta, least) for f in (1, 1.01, 1.1)]
    assert 0.1 >= chances[0] >= chances[1] >= chances[2]
    assert confidence.uncertain_probability(needed, gap, 1.0, 0.1, 0.5, least) == pytest.approx(0.1)


def test_the_settling_time_needs_the_root_of_t_that_equation_5_drops():
    printed = {
        "dimension": 5,
        "gap": 0.05,
        **COMMON,
        "delta_matrix": 0.1,
        "beta": 0.25,
        "least": 0.19,
        "eigenvalue": 0.4,
    }
    t = confidence.printed_settling_time(**printed, examined=10, c1=1.0, c2=1.0)
    a = 4 * 0.25**2 / (0.25 * 0.19 * 0.05) ** 2
    b = 0.5**2 + 4 * 0.5 * 0.5
    log_det = a * b * 5 * np.log1p(10 * t / 5)
    needed = a * b * np.log(100) + 4 * a * 0.5**2 + log_det
    supplied = 0.4 * t + 1 - (np.sqrt(5) + np.sqrt(np.log(10))) * np.sqrt(t)
    assert supplied >= needed  # t′ is right for the inequality with √t …
    assert a * b * 5 * np.sqrt(10 / 5) < log_det  # … and Eq. (5) as printed promises less than is needed


def test_the_corrected_settling_number_of_pairs_meets_its_condition():
    common = {"dimension": 5, "gap": 0.05, **COMMON, "delta_matrix": 0.1, "least": 0.19, "eigenvalue": 0.4}
    for beta in (0.1, 0.25, 0.5):
        n = confidence.settling_pairs(**common, beta=beta, c1=1.0, c2=1.0)
        log_det = confidence.log_det_bound(5, n, 1.0, 1.0)
        needed = confidence.least_eigenvalue_needed(log_det, 0.05, **COMMON, beta=beta, least=0.19)
        sampled = 0.4 * n - 4 * (np.sqrt(5) + np.sqrt(np.log(20))) * np.sqrt(n) + 1
        assert sampled >= needed
    explicit = confidence.settling_pairs_explicit(**common)
    log_det = confidence.log_det_bound(5, explicit, 1.0, 1.0)
    needed = confidence.least_eigenvalue_needed(log_det, 0.05, **COMMON, beta=0.5, least=0.19)
    assert 0.4 * explicit / 2 + 1 == pytest.approx(needed, rel=1e-6)
    assert explicit < n  # log(1 + z) beats √z


def test_the_explicit_settling_number_waits_at_least_for_the_sample():
    common = {"dimension": 5, "gap": 0.25, "bound": 0.0, "norm": 1.0, "regularization": 1e6, "delta": 0.4}
    n = confidence.settling_pairs_explicit(**common, delta_matrix=0.1, least=0.25, eigenvalue=0.4)
    assert n == pytest.approx(32 / 0.4 * np.log(5 / 0.1))


@given(st.integers(2, 8), st.floats(0.05, 0.5), st.floats(0.5, 0.95), SEEDS)
def test_two_clicks_differ_at_least_as_often_as_at_the_corners(documents, rarest, commonest, seed):
    p, q = generator("clicks", seed).uniform(rarest, commonest, 2)
    differ = p * (1 - q) + q * (1 - p)
    assert differ >= confidence.comparison_probability(documents, rarest, commonest) * (documents - 1) - 1e-12


BOUND = {"documents": 5, "dimension": 3, "gap": 0.05, **COMMON, "least": 0.19, "compared": 0.1}


def test_the_regret_bound_is_infinite_where_no_list_is_wholly_examined():
    assert confidence.regret_bound(1000, **{**BOUND, "compared": 0.0}, conservative=True) == np.inf
    printed = {"documents": 5, "dimension": 3, "gap": 0.05, "norm": 1.0, "regularization": 1.0, "delta": 0.1}
    rest = {"delta_matrix": 0.1, "beta": 0.25, "least": 0.19, "examined": 5, "settled": 10.0, "cross_terms": 3.0}
    assert confidence.printed_regret_bound(1000, **printed, **rest, whole=0.0) == np.inf
    assert np.isfinite(confidence.printed_regret_bound(1000, **printed, **rest, whole=0.5))


def test_shuffling_whole_blocks_costs_more_than_shuffling_what_is_open():
    bounds = [confidence.regret_bound(1000, **BOUND, conservative=c) for c in (True, False)]
    fixed = 0.1 * 1000 * 10
    assert (bounds[1] - fixed) / (bounds[0] - fixed) == pytest.approx(5 * 4 / 4)


def test_the_corrected_bound_grows_as_the_squared_logarithm_and_the_printed_one_as_its_fourth_power():
    def exponent(bound):
        low, high = 1e60, 1e120
        return np.log(bound(high) / bound(low)) / np.log(np.log(high) / np.log(low))

    def corrected(rounds):
        return confidence.regret_bound(rounds, **{**BOUND, "delta": 1 / rounds}, conservative=True)

    def printed(rounds):
        common = {"documents": 5, "dimension": 3, "gap": 0.05, "norm": 1.0, "regularization": 1.0}
        common |= {"delta": 1 / rounds, "delta_matrix": 1 / rounds, "beta": 0.25, "least": 0.19, "examined": 5}
        terms = 15 * 4 * np.log(rounds)  # λ_min(M_s) grows as s
        return confidence.printed_regret_bound(rounds, **common, whole=1.0, settled=0.0, cross_terms=terms)

    assert exponent(corrected) == pytest.approx(2, abs=0.1)
    assert exponent(printed) == pytest.approx(4, abs=0.1)


# --- errata that are statements about numbers


def test_squares_of_expectations_are_below_expectations_of_squares():
    values, chances = np.array([0.0, 2.0]), np.array([0.5, 0.5])
    assert (values**2) @ chances > (values @ chances) ** 2  # Σ E[N²] ≤ (E Σ N)² fails for one round


def test_the_inverse_root_of_a_matrix_has_the_inverse_root_of_its_least_eigenvalue_as_norm():
    matrix = np.diag([4.0, 0.25])
    root = np.diag(np.diag(matrix) ** -0.5)
    assert np.linalg.norm(root, 2) == pytest.approx(0.25**-0.5)
    assert np.linalg.norm(root, 2) != pytest.approx(0.25)


def test_compared_pairs_need_not_touch_every_document():
    documents = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    norms = {(i, j): ((documents[i] - documents[j]) ** 2).sum() for i in range(3) for j in range(3) if i != j}
    everything = sum(norms.values())
    for compared in ([], [(0, 1)]):  # no clicks that differ; positions (1, 2) of three
        split = sum(norms[m, n] + sum(norms[m, k] + norms[n, k] for k in {0, 1, 2} - {m, n}) for m, n in compared)
        assert split < everything
