"""Certain orders: of which two documents a learner knows the better one, by its intervals or by the votes of many.

All rankers that explore where an order is open share them: what makes an order certain is the learner's own, and
`arrange` of either engine makes a list of any certain orders. Both functions compare entry with entry, on any device
and in any precision, so one body serves both engines. Entries of documents beyond a query's list mean nothing.
"""

import torch


def interval_orders(scores: torch.Tensor, gram: torch.Tensor, width: torch.Tensor) -> torch.Tensor:
    """Orders that one model's confidence intervals leave no doubt about: σ(s_i − s_j) − α ‖g_i − g_j‖_{M⁻¹} > ½.

    With C = G M⁻¹ Gᵀ of the documents' features (of a network: its gradients) g, ‖g_i − g_j‖² = C_ii + C_jj − 2 C_ij.

    Args:
        scores: s, Float[R, V], at least as wide as the longest list.
        gram: C, Float[R, V, V] (`Covariance.gram`).
        width: α, Float[R]; 0 makes every order of unequal scores certain, ∞ none.

    Returns:
        Bool[R, V, V]: whether the document in the row is certainly better than the one in the column. Certain orders
        follow the scores, so they never form a cycle.
    """
    square = gram.diagonal(dim1=1, dim2=2)
    norm = (square[:, :, None] + square[:, None] - 2 * gram).clamp_min(0.0).sqrt()
    gap = 0.5 * torch.tanh(0.5 * (scores[:, :, None] - scores[:, None]))
    return gap > width[:, None, None] * norm


def unanimous_orders(scores: torch.Tensor) -> torch.Tensor:
    """Orders in which all rankers of an ensemble agree: s_i > s_j for each of them.

    Args:
        scores: Float[R, N, V], of N rankers, at least as wide as the longest list.

    Returns:
        Bool[R, V, V]: whether the document in the row is better than the one in the column, to all. Unanimous orders
        follow the scores of each ranker.
    """
    certain = scores[:, 0, :, None] > scores[:, 0, None]
    for n in range(1, scores.shape[1]):
        certain &= scores[:, n, :, None] > scores[:, n, None]
    return certain
