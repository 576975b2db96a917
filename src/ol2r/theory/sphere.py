"""Random directions: the distribution of the cosine between a uniformly random unit vector and a fixed one; samplers.

It has constants, quantiles and order statistics of cosines, and the samplers that audits use. Nothing here knows how
directions are used.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special


def unit_vectors(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Independent uniform unit vectors: normalised standard normals.

    Args:
        rng: source of randomness.
        shape: leading axes, then the dimension d.

    Returns:
        Float64[*shape], each of norm 1 along the last axis.
    """
    vectors = rng.standard_normal(shape)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def ball_vectors(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Independent uniform points of the unit ball: a uniform direction times U^(1/d).

    Args:
        rng: source of randomness.
        shape: leading axes, then the dimension d.

    Returns:
        Float64[*shape], each of norm at most 1 along the last axis.
    """
    return unit_vectors(rng, *shape) * rng.random((*shape[:-1], 1)) ** (1 / shape[-1])


def random_basis(rng: np.random.Generator, size: int, dimension: int) -> np.ndarray:
    """Orthonormal basis of a uniformly random subspace, one vector a row: Float64[size, dimension]."""
    q, r = np.linalg.qr(rng.standard_normal((dimension, size)))
    return (q * np.sign(np.diag(r))).T


def basis_vectors(rng: np.random.Generator, samples: int, basis: np.ndarray, m: int) -> np.ndarray:
    """Vectors of an orthonormal basis drawn without replacement, each with a random sign.

    Args:
        rng: source of randomness.
        samples: number of independent draws.
        basis: Float64[d', d], orthonormal rows.
        m: vectors a draw, at most d'.

    Returns:
        Float64[samples, m, d].
    """
    chosen = rng.random((samples, len(basis))).argsort(axis=1)[:, :m]
    return basis[chosen] * rng.choice([-1.0, 1.0], (samples, m, 1))


def cosine_quantile(p, dimension: int) -> np.ndarray:
    """Quantile of ⟨u, e⟩ for u uniform on the unit sphere: (1 + cos)/2 ~ Beta((d − 1)/2, (d − 1)/2), d ≥ 2."""
    return 2 * special.betaincinv((dimension - 1) / 2, (dimension - 1) / 2, p) - 1


def squared_cosine_quantile(p, dimension: int) -> np.ndarray:
    """Quantile of ⟨u, e⟩² for u uniform on the unit sphere: Beta(1/2, (d − 1)/2), of mean 1/d; d ≥ 2."""
    return special.betaincinv(0.5, (dimension - 1) / 2, p)


def squared_cotangent_quantile(p, dimension: int) -> np.ndarray:
    """Quantile of cos²/(1 − cos²), the odds of a direction's energy along e: of mean 1/(d − 3), d ≥ 4."""
    return squared_cosine_quantile(p, dimension) / special.betainccinv((dimension - 1) / 2, 0.5, p)


def ball_marginal_density(x: float, dimension: int) -> float:
    """Density of ⟨v, e⟩ at x for v uniform in the unit ball: (1 + x)/2 ~ Beta((d + 1)/2, (d + 1)/2)."""
    from scipy import stats  # here, because it takes long to load, and every command declares the audits

    return float(stats.beta.pdf(x, (dimension + 1) / 2, (dimension + 1) / 2, loc=-1, scale=2))


def mean_absolute_cosine(dimension: int) -> float:
    """E |⟨u, e⟩| = Γ(d/2) / (√π Γ((d + 1)/2)), about √(2/(π d)), for u uniform on the unit sphere of ℝᵈ."""
    return float(np.exp(special.gammaln(dimension / 2) - special.gammaln((dimension + 1) / 2)) / np.sqrt(np.pi))


def expectation(function: Callable[[float], Any]) -> float:
    """E function(U) for U uniform on [0, 1], by quadrature; the function may be steep at both ends and bend at 1/2."""
    from scipy import integrate  # here, as above

    def density(theta: float) -> float:  # p = sin²(θ) spreads out both ends
        return function(np.sin(theta) ** 2) * np.sin(2 * theta)

    return sum(integrate.quad(density, *ends, limit=200)[0] for ends in ((0, np.pi / 4), (np.pi / 4, np.pi / 2)))


def mean_of_top(quantile: Callable[[float], Any], n: int, m: int) -> float:
    """Expected mean of the m largest of n independent draws.

    (n/m) ∫₀¹ Q(p) P(Bin(n − 1, 1 − p) ≤ m − 1) dp: a draw at level p is kept if fewer than m of the others beat it.

    Args:
        quantile: Q, the quantile function of one draw.
        n: number of draws.
        m: number kept, 1 ≤ m ≤ n.

    Raises:
        ValueError: m is not in 1 … n.
    """
    if not 1 <= m <= n:
        raise ValueError(f"cannot keep the {m} largest of {n} draws")
    return n / m * expectation(lambda p: quantile(p) * special.bdtr(m - 1, n - 1, 1 - p))
