"""Certain orders: the pairs of documents of which a learner is sure which is better, by intervals or by an ensemble.

Learners that explore only uncertain orders share this step: each has its own test of which orders are certain, and
`arrange` of either engine makes a list from any certain orders. Both functions work entry by entry, on any device and
in any precision, so both engines use the same code. Entries of documents beyond a query's list mean nothing.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

DECIMALS = 10
"""Of the scores by which an ensemble or a network makes lists. Double precision has some more, in which machines and
engines differ: where scores are the same, their rounding must not break the tie."""


def interval_orders(
    scores: Float[Tensor, "R V"], gram: Float[Tensor, "R V V"], width: Float[Tensor, " R"]
) -> Bool[Tensor, "R V V"]:
    """Orders that are certain by one model's confidence intervals: σ(s_i − s_j) − α ‖g_i − g_j‖_{M⁻¹} > ½.

    With g a document's features (for a network, its gradient) and C = G M⁻¹ Gᵀ, ‖g_i − g_j‖² = C_ii + C_jj − 2 C_ij.

    Args:
        scores: s, Float[R, V], at least as wide as the longest list.
        gram: C, Float[R, V, V] (`ol2r.ranking.covariance.gram` of the documents).
        width: α, Float[R]; with 0 every order of unequal scores is certain, with ∞ none is.

    Returns:
        Bool[R, V, V]: whether the document in the row is certainly better than the one in the column. Certain orders
        follow the scores, so they never form a cycle.
    """
    square = gram.diagonal(dim1=1, dim2=2)
    norm = (square[:, :, None] + square[:, None] - 2 * gram).clamp_min(0.0).sqrt()
    gap = 0.5 * torch.tanh(0.5 * (scores[:, :, None] - scores[:, None]))
    return gap > width[:, None, None] * norm


def unanimous_orders(scores: Float[Tensor, "R N V"]) -> Bool[Tensor, "R V V"]:
    """Orders in which all rankers of an ensemble agree: s_i > s_j for each of them.

    Args:
        scores: Float[R, N, V], of N rankers, at least as wide as the longest list.

    Returns:
        Bool[R, V, V]: whether all rankers score the document in the row above the one in the column. Unanimous orders
        follow the scores of each ranker.
    """
    return (scores[..., None] > scores[:, :, None]).all(dim=1)
