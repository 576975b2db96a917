"""PairRank's theory: how far an estimated preference is from the true one, how long orders stay uncertain because of
it, and how much regret uncertain orders cause.

Throughout, a *pair* is a vector x = x_i − x_j of two documents with ‖x_i‖ ≤ u, so ‖x‖ ≤ 2u. It is labelled 1 with
probability σ(x·θ*), ‖θ*‖ ≤ Q. M = λI + Σ x xᵀ over the pairs seen, θ̃ is the maximiser of the likelihood penalised by
λ/2 ‖θ‖², S = Σ (y − σ(x·θ*)) x, and log_det stands for log(det M / det λI). Nothing here knows rankings or clicks.
Functions named `printed_…` are the paper's statements to the letter, for comparison; the others are proved in the
chapter `pairrank`, which has the statements, the proofs and the list of errata.
"""

from typing import TypeVar, cast

import numpy as np
from scipy import linalg, special

STEEPEST = 0.25
"""k_μ, the Lipschitz constant of the logistic function."""

LABEL_NOISE = 0.5
"""R of a label: a centred variable in an interval of length one is ½-sub-Gaussian (Hoeffding)."""

# numpy returns floats for floats, but its type annotations do not say so: hence the casts
FloatOrArray = TypeVar("FloatOrArray", float, np.ndarray)
Numbers = float | np.ndarray


def slope(margin: FloatOrArray) -> FloatOrArray:
    """σ̇(z) = σ(z) σ(−z)."""
    return special.expit(margin) * special.expit(-margin)


def least_slope(norm: float, bound: float) -> float:
    """c_μ = σ̇(2uQ), the least slope over ‖θ‖ ≤ Q and all pairs.

    The paper takes the infimum over σ̇(xᵀθ) and bounds documents, ‖x_i‖ ≤ u; their differences reach 2u.

    Args:
        norm: u, bound on a document.
        bound: Q, bound on the weights.
    """
    return float(slope(2 * norm * bound))


def log_det_bound(dimension: int, pairs: float, norm: float, regularization: float) -> float:
    """The largest log_det after n pairs: d log(1 + 4u² n/(dλ)) (pairrank-lem-potential; trace against determinant)."""
    return dimension * float(np.log1p(4 * norm**2 * pairs / (dimension * regularization)))


def martingale_radius(log_det: FloatOrArray, delta: Numbers, noise: float = LABEL_NOISE) -> FloatOrArray:
    """R √(log_det + 2 log(1/δ)): with probability 1 − δ, ‖S_t‖ in the norm of M_t⁻¹ stays below it for all t at once.

    This is Theorem 1 of Abbasi-Yadkori et al. (2011), ‖S‖² ≤ 2R² log(det(M)^½/(δ det(λI)^½)) (pairrank-thm-martingale).
    δ must be fixed in advance.

    Args:
        log_det: log(det M_t/det λI), any shape.
        delta: δ.
        noise: R, the sub-Gaussian parameter of y − σ(x·θ*).
    """
    return cast(FloatOrArray, noise * np.sqrt(log_det + 2 * np.log(1 / delta)))


def estimation_radius(
    log_det: FloatOrArray, regularization: Numbers, bound: Numbers, delta: Numbers, noise: float = LABEL_NOISE
) -> FloatOrArray:
    """ρ = R √(log_det + 2 log(1/δ)) + √λ Q, which bounds ‖g(θ*) − g(θ̃)‖ in the norm of M⁻¹ (pairrank-thm-interval)."""
    return cast(FloatOrArray, martingale_radius(log_det, delta, noise) + np.sqrt(regularization) * bound)


def width(
    log_det: FloatOrArray,
    regularization: Numbers,
    bound: Numbers,
    delta: Numbers,
    least: Numbers,
    projected: bool = True,
    noise: float = LABEL_NOISE,
) -> FloatOrArray:
    """α_t of Lemma 2: with probability 1 − δ, |σ(x·θ̂_t) − σ(x·θ*)| ≤ α_t ‖x‖_{M_t⁻¹} for all t and pairs at once.

    α_t = 2 (k_μ/c_μ) ρ_t, for θ̂ projected by Eq. (4) (`project`). If ‖θ̃‖ ≤ Q already, θ̂ = θ̃ and the factor 2 drops.
    Neither is proved for a θ̃ outside the ball, although Algorithm 1 ranks by such θ̃ too.

    Args:
        log_det: log(det M_t/det λI), any shape.
        regularization: λ.
        bound: Q.
        delta: δ₁.
        least: c_μ, see `least_slope`.
        projected: whether the estimate is a projection; False for a θ̃ inside the ball.
        noise: R.
    """
    factor = (2 if projected else 1) * STEEPEST / least
    return cast(FloatOrArray, factor * estimation_radius(log_det, regularization, bound, delta, noise))


def estimating_function(theta: np.ndarray, x: np.ndarray, counts: np.ndarray, regularization: float) -> np.ndarray:
    """g(θ) = Σ counts σ(x·θ) x + λθ; at θ̃ it equals Σ y x.

    Args:
        theta: Float64[..., d].
        x: Float64[..., n, d], distinct pairs.
        counts: Float64[..., n], how often each was labelled.
        regularization: λ.

    Returns:
        Float64[..., d].
    """
    weight = counts * special.expit(np.einsum("...nd,...d->...n", x, theta))
    return np.einsum("...n,...nd->...d", weight, x) + regularization * theta


def _gram(weight: np.ndarray, x: np.ndarray, regularization: float) -> np.ndarray:
    return np.einsum("...n,...nd,...ne->...de", weight, x, x) + regularization * np.eye(x.shape[-1])


def _within_ball(matrix: np.ndarray, target: np.ndarray, bound: float) -> np.ndarray:
    """argmin over ‖θ‖ ≤ bound of ‖A θ − v‖, by Newton's method on the secular equation; from below, it is monotone."""
    eigenvalues, vectors = np.linalg.eigh(np.swapaxes(matrix, -1, -2) @ matrix)
    along = np.einsum("...ji,...kj,...k->...i", vectors, matrix, target)
    multiplier = np.zeros(along.shape[:-1])
    for _ in range(30):
        theta = along / (eigenvalues + multiplier[..., None])
        norm = np.linalg.norm(theta, axis=-1)
        curvature = (theta**2 / (eigenvalues + multiplier[..., None])).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            multiplier = np.maximum(multiplier + np.nan_to_num(norm**2 / curvature * (norm - bound) / bound), 0)
    theta = along / (eigenvalues + multiplier[..., None])
    return np.einsum("...ij,...j->...i", vectors, theta)


def project(theta: np.ndarray, x: np.ndarray, counts: np.ndarray, regularization: float, bound: float) -> np.ndarray:
    """θ̂ of Eq. (4): argmin over ‖θ‖ ≤ Q of ‖g(θ) − g(θ̃)‖_{M⁻¹}.

    θ̂ is θ̃ itself if that is inside the ball. Otherwise it is on the sphere: ∇g is invertible, so no other point inside
    is stationary. The method is Gauss-Newton with a linearised g, solved exactly in the ball, and halved steps.

    Args:
        theta: θ̃, Float64[..., d].
        x: Float64[..., n, d], distinct pairs.
        counts: Float64[..., n], how often each was labelled.
        regularization: λ.
        bound: Q.

    Returns:
        Float64[..., d].
    """
    norm = np.linalg.norm(theta, axis=-1, keepdims=True)
    outside = norm > bound
    estimate = np.where(outside, theta * (bound / np.maximum(norm, bound)), theta)
    if not outside.any():
        return estimate
    whiten = np.linalg.inv(np.linalg.cholesky(_gram(counts, x, regularization)))
    goal = estimating_function(theta, x, counts, regularization)

    def residual(point: np.ndarray) -> np.ndarray:
        difference = estimating_function(point, x, counts, regularization) - goal
        return np.einsum("...ij,...j->...i", whiten, difference)

    best = np.linalg.norm(residual(estimate), axis=-1)
    for _ in range(50):
        slopes = counts * slope(np.einsum("...nd,...d->...n", x, estimate))
        linear = whiten @ _gram(slopes, x, regularization)
        target = np.einsum("...ij,...j->...i", linear, estimate) - residual(estimate)
        step = np.where(outside, _within_ball(linear, target, bound) - estimate, 0.0)
        for _ in range(12):
            value = np.linalg.norm(residual(estimate + step), axis=-1)
            worse = value > best
            if not worse.any():
                break
            step = np.where(worse[..., None], step / 2, step)
        better = value <= best
        estimate = np.where(better[..., None], estimate + step, estimate)
        best = np.minimum(value, best)
        if np.abs(step).max() < 1e-10 * bound:
            break
    return estimate


def potential_bound(log_det: FloatOrArray, largest: float | None = None) -> FloatOrArray:
    """Elliptical potential: a bound on Σ ‖x_s‖²_{M_s⁻¹}, where M_s does not include x_s yet.

    Without `largest`, a bound on Σ min(1, ‖x_s‖²): log_det/log 2. With it, a bound on Σ ‖x_s‖² itself where no term
    exceeds B: log_det · B/log(1 + B) (pairrank-lem-potential). Both are sharp, and below the 2 log_det of Lemma 11 of
    Abbasi-Yadkori et al. (2011), which the paper uses without its condition λ ≥ max(1, max ‖x‖²), here λ ≥ 4u².

    If several pairs are added at once, with the same M, a term is the sum over these pairs.

    Args:
        log_det: log(det M/det λI) after the last pair.
        largest: B, such as 4u²/λ for one pair at a time and 4u² P/λ for P pairs at once.
    """
    if largest is None:
        return log_det / np.log(2)
    return log_det * largest / np.log1p(largest)


def wide_pairs(log_det: FloatOrArray, threshold: FloatOrArray, at_once: int = 1) -> FloatOrArray:
    """The most pairs that can have had ‖x‖_{M⁻¹} ≥ η when added to M, P at once: P log_det/log(1 + P η²).

    It follows from log(1 + w²) ≥ log(1 + η²) for each pair (pairrank-cor-wide) and needs no condition on λ.
    """
    return cast(FloatOrArray, at_once * log_det / np.log1p(at_once * threshold**2))


def open_width(gap: FloatOrArray, alpha: FloatOrArray) -> FloatOrArray:
    """Δ/(2α), the least ‖x‖_{M⁻¹} of a pair in uncertain order, if all intervals hold (pairrank-lem-open).

    Args:
        gap: Δ = |σ(x·θ*) − ½| of the pair, or the least over all pairs, Δ_min.
        alpha: α_t.
    """
    return gap / (2 * alpha)


def least_eigenvalue_needed(
    log_det: float,
    gap: float,
    norm: float,
    bound: float,
    regularization: float,
    delta: float,
    beta: float,
    least: float,
    noise: float = LABEL_NOISE,
) -> float:
    """The ℓ for which λ_min(M) ≥ ℓ makes every order certain if the intervals hold (pairrank-thm-uncertain).

    ℓ = a (R √(log_det + 2 log(1/δ₁)) + 2 √λ Q)² with a = 16 k_μ² u²/(β² c_μ² Δ²). The paper's a, in Lemma 7, has 4 in
    place of 16, but documents of norm u have pairs of norm up to 2u.

    Args:
        log_det: log(det M/det λI), or `log_det_bound`.
        gap: Δ_min.
        norm: u.
        bound: Q.
        regularization: λ.
        delta: δ₁ < ½.
        beta: β in (0, ½].
        least: c_μ.
        noise: R.
    """
    a = 16 * STEEPEST**2 * norm**2 / (beta * least * gap) ** 2
    return a * (martingale_radius(log_det, delta, noise) + 2 * np.sqrt(regularization) * bound) ** 2


def uncertain_probability(
    eigenvalue: float, gap: float, norm: float, delta: float, beta: float, least: float, noise: float = LABEL_NOISE
) -> float:
    """Lemma 7, corrected: P(some order uncertain, λ_min(M_t) ≥ ℓ) ≤ δ₁ exp(−(1 − 2β) c_μ² Δ² ℓ/(32 R² k_μ² u²)).

    It holds for a fixed t and a number ℓ of at least `least_eigenvalue_needed` at the largest possible log_det, whether
    or not the intervals hold (pairrank-thm-uncertain). The paper's bound depends on the random variable ‖x_ij‖_{M⁻¹},
    although the martingale bound needs a fixed δ.

    Args:
        eigenvalue: ℓ.
        gap: Δ_min.
        norm: u.
        delta: δ₁.
        beta: β < ½.
        least: c_μ.
        noise: R.
    """
    exponent = (1 - 2 * beta) * (least * gap) ** 2 * eigenvalue / (32 * (noise * STEEPEST * norm) ** 2)
    return delta * float(np.exp(-exponent))


def printed_uncertain_probability(
    squared_norm: FloatOrArray, gap: Numbers, delta: float, beta: float, least: float, noise: float | None = None
) -> FloatOrArray:
    """Lemma 7 as printed: 8 k_μ² ‖x‖²_{M⁻¹} log(1/δ₁)/((1 − 2β) c_μ² Δ²); with `noise`, R² times that, as in its proof.

    Args:
        squared_norm: ‖x_ij‖² in the norm of M_t⁻¹.
        gap: Δ_min.
        delta: δ₁.
        beta: β.
        least: c_μ.
        noise: R, or None to leave it out as the statement does.
    """
    factor = 8 * STEEPEST**2 * (1.0 if noise is None else noise**2) * np.log(1 / delta)
    return factor * squared_norm / ((1 - 2 * beta) * (least * gap) ** 2)


def printed_settling_time(
    dimension: int,
    gap: float,
    norm: float,
    bound: float,
    regularization: float,
    delta: float,
    delta_matrix: float,
    beta: float,
    least: float,
    eigenvalue: float,
    examined: int,
    c1: float,
    c2: float,
    noise: float = LABEL_NOISE,
) -> float:
    """t′ of Lemma 7 as printed, with its hidden universal constants c₁, c₂ as arguments.

    ((c₁√d + c₂√log(1/δ₂) + a b d √(o u²/(dλ)))/λ_Σ)² + (2ab log(1/δ₁²) + 8aλQ² − λ)/λ_Σ with
    a = 4k_μ²u²/(β²c_μ²Δ²), b = R² + 4√λ Q R.

    Args:
        dimension: d.
        gap: Δ_min.
        norm: u.
        bound: Q.
        regularization: λ.
        delta: δ₁.
        delta_matrix: δ₂.
        beta: β.
        least: c_μ.
        eigenvalue: λ_Σ, the least eigenvalue of E[x xᵀ].
        examined: o_max.
        c1: first universal constant.
        c2: second universal constant.
        noise: R.
    """
    a = 4 * STEEPEST**2 * norm**2 / (beta * least * gap) ** 2
    b = noise**2 + 4 * np.sqrt(regularization) * bound * noise
    root = c1 * np.sqrt(dimension) + c2 * np.sqrt(np.log(1 / delta_matrix))
    root += a * b * dimension * np.sqrt(examined * norm**2 / (dimension * regularization))
    rest = 2 * a * b * np.log(1 / delta**2) + 8 * a * regularization * bound**2 - regularization
    return float((root / eigenvalue) ** 2 + rest / eigenvalue)


def settling_pairs(
    dimension: int,
    gap: float,
    norm: float,
    bound: float,
    regularization: float,
    delta: float,
    delta_matrix: float,
    beta: float,
    least: float,
    eigenvalue: float,
    c1: float,
    c2: float,
    noise: float = LABEL_NOISE,
) -> float:
    """t′ of Lemma 7, corrected, as a number of *pairs*: a round may bring none, so n ≥ t does not always hold.

    ((4u²(c₁√d + c₂√log(2/δ₂)) + a b d √(4u²/(dλ)))/λ_Σ)² + 2 max(0, ab log(1/δ₁²) + 4aλQ² − λ)/λ_Σ with
    a = 16k_μ²u²/(β²c_μ²Δ²), b = R² + 4√λ Q R (pairrank-cor-settled). It holds for independent pairs with
    E[x xᵀ] ⪰ λ_Σ I; the pairs of a learner that chooses what it shows are not independent.

    Args: as in `printed_settling_time`.
    """
    a = 16 * STEEPEST**2 * norm**2 / (beta * least * gap) ** 2
    b = noise**2 + 4 * np.sqrt(regularization) * bound * noise
    root = 4 * norm**2 * (c1 * np.sqrt(dimension) + c2 * np.sqrt(np.log(2 / delta_matrix)))
    root += a * b * dimension * np.sqrt(4 * norm**2 / (dimension * regularization))
    rest = a * b * np.log(1 / delta**2) + 4 * a * regularization * bound**2 - regularization
    return float((root / eigenvalue) ** 2 + 2 * max(0.0, rest) / eigenvalue)


def settling_pairs_explicit(
    dimension: int,
    gap: float,
    norm: float,
    bound: float,
    regularization: float,
    delta: float,
    delta_matrix: float,
    least: float,
    eigenvalue: float,
    noise: float = LABEL_NOISE,
) -> float:
    """`settling_pairs` without universal constants: with this many pairs or more, every order is certain with
    probability 1 − δ₁ − δ₂.

    It is the least n with n λ_Σ/2 + λ ≥ `least_eigenvalue_needed` at n pairs and β = ½, and n ≥ (32u²/λ_Σ) log(d/δ₂),
    by the matrix Chernoff bound (Tropp, 2012), which needs pairs bounded by 2u and no unknown constant
    (pairrank-cor-settled).

    Args: as in `printed_settling_time`.
    """

    from scipy import optimize  # here, because it takes long to load, and every command declares the audits

    def lack(log_pairs: float) -> float:
        pairs = np.exp(log_pairs)
        log_det = log_det_bound(dimension, pairs, norm, regularization)
        needed = least_eigenvalue_needed(log_det, gap, norm, bound, regularization, delta, 0.5, least, noise)
        return needed - regularization - pairs * eigenvalue / 2

    sampled = 32 * norm**2 / eigenvalue * np.log(dimension / delta_matrix)
    low, high = np.log(sampled), np.log(sampled) + 1
    if lack(low) <= 0:
        return float(sampled)
    while lack(high) > 0:
        high += 1
    return float(np.exp(cast(float, optimize.brentq(lack, low, high))))  # a root alone, because no report is asked for


def comparison_probability(documents: int, rarest: float, commonest: float) -> float:
    """q: the least probability that a given pair of a wholly examined list of V documents is matched.

    q = κ/(V − 1), where κ = 2 min(p₋(1 − p₋), p₊(1 − p₊)) is the least probability that two clicks differ. It holds for
    independent clicks with probabilities in [p₋, p₊] and `pairs="matched"` (pairrank-lem-bernoulli).

    Args:
        documents: V ≥ 2.
        rarest: p₋.
        commonest: p₊.
    """
    return 2 * min(p * (1 - p) for p in (rarest, commonest)) / (documents - 1)


def regret_bound(
    rounds: float,
    documents: int,
    dimension: int,
    gap: float,
    norm: float,
    bound: float,
    regularization: float,
    delta: float,
    least: float,
    compared: float,
    conservative: bool,
    noise: float = LABEL_NOISE,
) -> float:
    """Theorem 8, corrected: an upper bound on the expected number of mis-ordered pairs in T rounds.

    δ₁ T V(V−1)/2 + C/q · P Λ/log(1 + P Δ²/(4ᾱ²)), with P = ⌊V/2⌋ pairs a round at most, Λ = `log_det_bound` after P T
    pairs, ᾱ = α at Λ, and C = 1 for PairRank_C, whose regret is at most N_t, and V(V−1)/4 for PairRank_R
    (pairrank-thm-regret). It grows as log² T at δ₁ = 1/T.

    Args:
        rounds: T.
        documents: V, most documents of a query.
        dimension: d.
        gap: Δ_min.
        norm: u.
        bound: Q.
        regularization: λ.
        delta: δ₁.
        least: c_μ.
        compared: q, the least conditional probability that an uncertain pair is labelled; 0 makes the bound infinite.
        conservative: whether the learner is PairRank_C; otherwise it is PairRank_R.
        noise: R.
    """
    everything = documents * (documents - 1) / 2
    if compared <= 0:
        return float("inf")
    at_once = documents // 2
    log_det = log_det_bound(dimension, at_once * rounds, norm, regularization)
    threshold = open_width(gap, width(log_det, regularization, bound, delta, least, noise=noise))
    price = 1.0 if conservative else everything / 2
    return float(delta * rounds * everything + price / compared * wide_pairs(log_det, threshold, at_once))


def printed_regret_bound(
    rounds: float,
    documents: int,
    dimension: int,
    gap: float,
    norm: float,
    regularization: float,
    delta: float,
    delta_matrix: float,
    beta: float,
    least: float,
    examined: int,
    whole: float,
    settled: float,
    cross_terms: float,
    noise: float | None = None,
) -> float:
    """Theorem 8 as printed, with appendix C.2's a and the signs of its R′.

    R′ + (1 − δ₁)(1 − δ₂) p*⁻² (2 a d L log(1 + o T u²/(2dλ)) + a w)², R′ = t′L² + (T − t′)(δ₂ + (1 − δ₂)δ₁) L²,
    a = 4 k_μ² log(1/δ₁)/((1 − 2β) c_μ² Δ²).

    Args:
        rounds: T.
        documents: L_max.
        dimension: d.
        gap: Δ_min.
        norm: u.
        regularization: λ.
        delta: δ₁.
        delta_matrix: δ₂.
        beta: β.
        least: c_μ.
        examined: o_max.
        whole: p*, the least probability that a whole list is examined; 0 makes the bound infinite.
        settled: t′.
        cross_terms: w = Σ (L² − 2L) u²/λ_min(M_s) over the rounds s ≥ t′; 4u² in place of u² would be correct.
        noise: R, or None to leave it out of a, as the paper does.
    """
    if whole <= 0:
        return float("inf")
    settled = min(settled, rounds)
    a = (
        4
        * STEEPEST**2
        * (1.0 if noise is None else noise**2)
        * np.log(1 / delta)
        / ((1 - 2 * beta) * (least * gap) ** 2)
    )
    failed = settled * documents**2
    failed += (rounds - settled) * (delta_matrix + (1 - delta_matrix) * delta) * documents**2
    potential = dimension * documents * np.log1p(examined * rounds * norm**2 / (2 * dimension * regularization))
    open_orders = 2 * a * potential + a * cross_terms
    return float(failed + (1 - delta) * (1 - delta_matrix) / whole**2 * open_orders**2)


def fitted(x: np.ndarray, wins: np.ndarray, losses: np.ndarray, regularization: float) -> np.ndarray:
    """θ̃ = argmin of Σ −wins log σ(x·θ) − losses log σ(−x·θ) + λ/2 ‖θ‖², by Newton's method; simple but slow.

    Args:
        x: Float64[n, d], distinct pairs.
        wins: Float64[n], number of labels 1 of each pair.
        losses: Float64[n], number of labels 0 of each pair.
        regularization: λ > 0.

    Returns:
        Float64[d].
    """
    counts = wins + losses
    theta = np.zeros(x.shape[1])

    def objective(point: np.ndarray) -> float:
        margin = x @ point
        loss = wins @ np.logaddexp(0, -margin) + losses @ np.logaddexp(0, margin)
        return float(loss + regularization / 2 * point @ point)

    for _ in range(100):
        gradient = estimating_function(theta, x, counts, regularization) - wins @ x
        hessian = _gram(counts * slope(x @ theta), x, regularization)
        step = linalg.solve(hessian, gradient, assume_a="pos")
        size = 1.0
        while objective(theta - size * step) > objective(theta) and size > 1e-8:
            size /= 2
        theta = theta - size * step
        if np.abs(step).max() < 1e-12:
            break
    return theta
