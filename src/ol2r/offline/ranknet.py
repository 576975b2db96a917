"""RankNet without a hidden layer (Burges, 2010) on true labels: the offline RankNet of PairRank's paper.

It minimises PairRank's objective, but over every pair of documents with different labels instead of pairs inferred from
clicks. This module must not know clicks or online learners.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ol2r.compiling import kernel
from ol2r.data import RankingDataset
from ol2r.offline.labelled import LabelledQueries

_DOCUMENTS = 8192  # documents that are converted to double precision at a time, about
_MOST_STEPS = 100


class Expansion(NamedTuple):
    """The objective, its gradient Float64[f], and its Hessian Float64[f, f] or None, at some weights."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None


def fit_ranknet(dataset: RankingDataset, fold: int, *, regularization: float) -> np.ndarray:
    """The weights that minimise `ranknet_loss` over the fold's training queries, by Newton's method from w = 0.

    Deterministic. The objective is strictly convex, so there is one minimum. Each step is halved until the objective
    falls; the iteration ends when a step promises to lower the objective by less than 1e-10 of it.

    Args:
        fold: number of the fold, from 1; only its training queries are read.
        regularization: λ > 0.

    Returns:
        float64[features].

    Raises:
        ValueError: no such fold, λ ≤ 0, or no training query has documents of different grades.
    """
    if not regularization > 0:
        raise ValueError(
            f"regularization must be above 0, not {regularization}: without it separable grades have no optimum, "
            "and features that no pair tells apart no weight"
        )
    train = LabelledQueries(dataset, dataset.fold(fold).train)
    weights = np.zeros(dataset.n_features)
    at = ranknet_loss(train, weights, regularization, hessian=True)
    if at.value == 0.0:
        raise ValueError(f"{dataset.label}, fold {fold}: no training query has documents of different grades")
    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(at.hessian, -at.gradient)  # pyright: ignore[reportArgumentType, reportCallIssue]
        promised = -float(at.gradient @ step) / 2
        last = promised <= 1e-10 * at.value
        scale = 1.0
        while not last and ranknet_loss(train, weights + scale * step, regularization).value >= at.value:
            scale /= 2
        weights = weights + scale * step
        if last:
            return weights
        at = ranknet_loss(train, weights, regularization, hessian=True)
    raise RuntimeError(f"{dataset.label}, fold {fold}: RankNet has not converged after {_MOST_STEPS} steps")


def ranknet_loss(
    queries: LabelledQueries, weights: np.ndarray, regularization: float, *, hessian: bool = False
) -> Expansion:
    """PairRank's Eq. (1) with grades in place of clicks; a sum over pairs, as printed, not a mean:

        Σ over pairs of a query with grade i > grade j of −log σ(x_ij·w)  +  λ/2 ‖w‖²

    The pairs are never listed. Their terms are summed by document, which gives Xᵀ f for the gradient and Xᵀ L X for the
    Hessian, with f and L (the Laplacian of the weights σ̇(x_ij·w)) computed for one query at a time.

    Args:
        weights: float64[features].
        regularization: λ.
        hessian: whether to compute the Hessian too, which needs an L for each query.
    """
    n_features = len(weights)
    value = regularization / 2 * float(weights @ weights)
    gradient = regularization * weights
    curvature = regularization * np.eye(n_features) if hessian else None
    offsets, start = queries.offsets, 0
    while start < len(offsets) - 1:
        stop = max(start + 1, int(np.searchsorted(offsets, offsets[start] + _DOCUMENTS, side="right")) - 1)
        rows = slice(int(offsets[start]), int(offsets[stop]))
        features = queries.features[rows].astype(np.float64)
        own, grades = offsets[start : stop + 1] - offsets[start], queries.relevance[rows]
        scores, force = features @ weights, np.zeros(len(features))
        value += _forces(scores, grades, own, force)
        gradient = gradient + features.T @ force
        if curvature is not None:
            bent = np.empty_like(features)  # L X
            for a, b in pairwise(own):
                np.matmul(_laplacian(scores[a:b], grades[a:b]), features[a:b], out=bent[a:b])
            curvature += features.T @ bent
        start = stop
    return Expansion(value, gradient, curvature)


@kernel
def _forces(scores, grades, offsets, force):
    """Add ∂/∂s of every query's loss to `force`, and return the loss."""
    total = 0.0
    for q in range(offsets.shape[0] - 1):
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if grades[i] > grades[j]:
                    margin = scores[i] - scores[j]
                    small = np.exp(-abs(margin))
                    total += np.log1p(small) + max(-margin, 0.0)
                    push = (small if margin > 0 else 1.0) / (1.0 + small)  # σ(−margin)
                    force[i] -= push
                    force[j] += push
    return total


@kernel
def _laplacian(scores, grades):
    """L: its entry (i, j) is −σ̇(s_i − s_j) where the grades of i and j differ, and its rows sum to zero."""
    n = scores.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            if grades[i] != grades[j]:
                small = np.exp(-abs(scores[i] - scores[j]))
                bend = small / (1.0 + small) ** 2
                out[i, j] = out[j, i] = -bend
                out[i, i] += bend
                out[j, j] += bend
    return out
