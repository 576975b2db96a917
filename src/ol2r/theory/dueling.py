"""Theory of linear dueling-bandit learners: gradients estimated from random directions, in the whole space or in a
null space, and how duels, losing directions, preselection and basis vectors change them.

Throughout, d is the dimension of the weights, G the stored losing directions, N their null space with projector P and
dimension d′ = d − rank G, g the gradient of the utility, and φ = ‖(I − P) g‖² / ‖g‖² the *energy* of the gradient that
the stored directions span. Nothing here knows rankings or clicks. Statements and proofs: the chapter `nsgd`.
"""

from collections.abc import Callable

import numpy as np
from scipy import special

from ol2r.theory import sphere


def one_point_excess(dimension: int, value: float, delta: float) -> float:
    """The term (d f(w)/δ)² of the second moment of the one-point estimate (d/δ) f(w + δu) u, for linear f.

    The estimate from the difference f(w + δu) − f(w) has the same mean without this term (nsgd-lem-difference).
    """
    return (dimension * value / delta) ** 2


def smoothing_gap(third: np.ndarray, basis: np.ndarray, delta: float) -> np.ndarray:
    """Gradient of the utility smoothed over the ball of N, less P times its gradient smoothed over the ball of ℝᵈ.

    It is (δ²/2) P ∇[tr(P ∇²f)/(d′ + 2) − tr(∇²f)/(d + 2)] exactly if third derivatives are constant, and otherwise this
    is its leading term (nsgd-thm-null-space).

    Args:
        third: Float64[d, d, d], third derivatives of f.
        basis: Float64[d', d], orthonormal rows that span N.
        delta: δ, the radius of exploration.

    Returns:
        Float64[d], a vector of N.
    """
    within = np.einsum("ljk,ij,ik->l", third, basis, basis) / (len(basis) + 2)
    everywhere = np.einsum("ljj->l", third) / (third.shape[0] + 2)
    return delta**2 / 2 * basis.T @ (basis @ (within - everywhere))


def smoothing_gap_bound(hessian_lipschitz: float, dimension: int, null_dimension: int, delta: float) -> float:
    """Bound on the norm of `smoothing_gap`: (ρ δ²/2) (d/(d + 2) + d′/(d′ + 2)), for a ρ-Lipschitz Hessian."""
    return hessian_lipschitz * delta**2 / 2 * sum(d / (d + 2) for d in (dimension, null_dimension))


def spread(dimension: int, directions: int, orthogonal: bool = False) -> float:
    """Variance of the mean of M estimates d ⟨g, u⟩ u, as a multiple of ‖g‖².

    (d − 1)/M for independent directions; (d − M)/M for orthogonal ones (basis vectors drawn without replacement), which
    is smaller by the factor 1 − (M − 1)/(d − 1) (nsgd-thm-basis).

    Args:
        dimension: dimension of the space sampled (d, or d′ with P g for g).
        directions: M ≥ 1.
        orthogonal: whether the M directions are orthogonal; then M ≤ d.

    Raises:
        ValueError: more orthogonal directions than dimensions.
    """
    if orthogonal and directions > dimension:
        raise ValueError(f"{directions} directions cannot be orthogonal in {dimension} dimensions")
    return (dimension - (directions if orthogonal else 1)) / directions


def squared_error(energy: float, null_dimension: int, directions: int, orthogonal: bool = False) -> float:
    """Mean squared error of the null-space estimate of g, over ‖g‖²: spread · (1 − φ) + φ (nsgd-thm-error)."""
    return (1 - energy) * spread(null_dimension, directions, orthogonal) + energy


def best_scaled_error(energy: float, null_dimension: int, directions: int, orthogonal: bool = False) -> float:
    """`squared_error` after the best scaling of the estimate: 1 − (1 − φ)/(1 + spread) (nsgd-thm-error).

    Learners step by α along a direction and never see the estimate's scale, so this error measures the direction alone.
    """
    return 1 - (1 - energy) / (1 + spread(null_dimension, directions, orthogonal))


def energy_threshold(dimension: int, null_dimension: int, directions: int, orthogonal: bool = False) -> float:
    """The φ below which the null space beats the whole space after best scaling (nsgd-thm-threshold).

    (d − d′)/(M + d − 1) for independent directions, (d − d′)/d for orthogonal ones or M = 1.
    """
    whole, null = (1 + spread(d, directions, orthogonal) for d in (dimension, null_dimension))
    return 1 - null / whole


def energy_odds(squared_cotangent: float, dimension: int, stored: int) -> float:
    """E φ/(1 − φ) for k independent stored directions: k b² (d − 3)/(d − k − 2) (nsgd-thm-losers).

    Args:
        squared_cotangent: b², the mean of cos²/(1 − cos²) over the stored directions; 1/(d − 3) by chance.
        dimension: d.
        stored: k < d − 2.

    Raises:
        ValueError: k ≥ d − 2, for which the expectation is infinite.
    """
    if stored >= dimension - 2:
        raise ValueError(f"the expected odds of {stored} directions in {dimension} dimensions are infinite")
    return stored * squared_cotangent * (dimension - 3) / (dimension - stored - 2)


def loser_alignment(dimension: int, margin: float = 0.0) -> float:
    """b² of directions whose cosine with g is below a margin τ (nsgd-cor-margin).

    (1/(d − 3)) (1 + s I(τ²; 3/2, (d − 3)/2)) / (1 + s I(τ²; 1/2, (d − 1)/2)), s = sign τ. This is the value by chance
    at τ = 0, less for τ > 0 (a challenger loses unless it is better by a margin), and more for τ < 0 (it loses only if
    it is worse by a margin).
    """

    def below(a: float, b: float) -> float:  # 1 + s I(τ²; a, b) without the cancellation at s = −1
        return 1 + special.betainc(a, b, margin**2) if margin >= 0 else special.betaincc(a, b, margin**2)

    return float(below(1.5, (dimension - 3) / 2) / below(0.5, (dimension - 1) / 2) / (dimension - 3))


def worst_loser_alignment(dimension: int, losers: int, stored: int) -> float:
    """b² of the `stored` worst of `losers` directions that lost to a linear utility without noise (nsgd-cor-worst)."""
    return sphere.mean_of_top(lambda p: sphere.squared_cotangent_quantile(p, dimension), losers, stored)


def mean_loser_efficiency(dimension: int, losers: int) -> float:
    """1 − the best-scaled squared error of v, the negative mean of k losers, as an estimate of g (nsgd-cor-sign).

    (E⟨g, v⟩)²/(‖g‖² E‖v‖²) = (2c)²/(1/k + (1 − 1/k)(2c)²), with c = `win_constant`. The mean squared cosine of v with g
    is at least this (Cauchy-Schwarz).
    """
    pull = (2 * win_constant(dimension)) ** 2
    return pull / (1 / losers + (1 - 1 / losers) * pull)


def win_constant(dimension: int) -> float:
    """c in E[u 1{⟨g, u⟩ > 0}] = c g/‖g‖: Γ(d/2)/(2 √π Γ((d + 1)/2)) (nsgd-thm-duel)."""
    return sphere.mean_absolute_cosine(dimension) / 2


def linked_win_constant(dimension: int, link: Callable[[float], float], sharpness: float) -> float:
    """c in E[u 1{win}] = c g/‖g‖ when the challenger wins with probability F(κ cos(u, g)) (nsgd-thm-duel).

    Args:
        dimension: d.
        link: F, nondecreasing.
        sharpness: κ = δ ‖g‖/σ, the exploration's gain over the noise.
    """

    def pulled(p: float) -> float:
        cosine = float(sphere.cosine_quantile(p, dimension))
        return cosine * link(sharpness * cosine)

    return sphere.expectation(pulled)


def expected_progress(dimension: int, candidates: int) -> float:
    """E max(0, cos₁, …, cos_m): expected advance along g in a round that follows the best of m directions if it wins.

    At m = 1 it equals `win_constant` (nsgd-thm-best).
    """
    return sphere.mean_of_top(lambda p: max(0.0, sphere.cosine_quantile(p, dimension)), candidates, 1)


def progress_threshold(dimension: int, null_dimension: int, candidates: int) -> float:
    """The φ below which the best of m null-space directions advances further than the best of m uniform ones."""
    whole, null = (expected_progress(d, candidates) for d in (dimension, null_dimension))
    return 1 - (whole / null) ** 2


def preselected_energy(null_dimension: int, proposals: int, kept: int) -> float:
    """Mean cos² with P x̄ of the m directions with the largest |⟨x̄, u⟩| among n; without selection it is 1/d′."""
    return sphere.mean_of_top(lambda p: sphere.squared_cosine_quantile(p, null_dimension), proposals, kept)


def preselection_matrix(basis: np.ndarray, aggregate: np.ndarray, proposals: int, kept: int) -> np.ndarray:
    """A = d′ E[u uᵀ] of preselected directions: the estimate d′ ⟨g, u⟩ u has mean A g instead of P g (nsgd-thm-cdp).

    A = d′ (τ e eᵀ + (1 − τ)/(d′ − 1) (P − e eᵀ)), with e = P x̄/‖P x̄‖ and τ = `preselected_energy`.

    Args:
        basis: Float64[d', d], orthonormal rows that span N, d′ ≥ 2.
        aggregate: Float64[d], x̄, the sum of the query's documents.
        proposals: n; kept: m.

    Returns:
        Float64[d, d].
    """
    null_dimension = len(basis)
    along = basis.T @ (basis @ aggregate)
    along /= np.linalg.norm(along)
    energy = preselected_energy(null_dimension, proposals, kept)
    aside = (1 - energy) / (null_dimension - 1)
    return null_dimension * ((energy - aside) * np.outer(along, along) + aside * basis.T @ basis)


def null_dimension(directions: np.ndarray) -> int:
    """d′ = d − rank G for G: Float64[k, d]; at least d − k, and equal to it for independent rows (nsgd-lem-rank)."""
    return directions.shape[1] - int(np.linalg.matrix_rank(directions))


def idle_lag(alpha: float, epsilon: float) -> int:
    """The largest lag k at which the printed condition ‖w_t − w_{t−k}‖ < 1 − ε always holds: largest k < (1 − ε)/α."""
    return int(np.ceil(np.round((1 - epsilon) / alpha, 9))) - 1
