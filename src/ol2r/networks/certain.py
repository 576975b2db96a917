"""Certain orders of a query's documents, from bounds of widths first and from widths where these decide: compiled, for
the CPU. The test is that of `ranking.interval_orders`."""

import numpy as np
import torch

from ol2r.compiling import kernel, part


def by_bound(
    scores: torch.Tensor,
    kernel: torch.Tensor,
    regularization: torch.Tensor,
    width: torch.Tensor,
    present: torch.Tensor,
    depth: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Orders that are certain with λI in place of A, and the documents of the other orders that a list depends on.

    Args:
        scores: Float64[R, V]. kernel: ⟨g, g′⟩/m of these documents, Float64[R, V, V]. regularization: λ, Float64[R].
        width: α, Float64[R]. present: Bool[R, V], where a document is.
        depth: of the list; a document below as many certain superiors is not shown.

    Returns:
        Bool[R, V, V], and Int64[R, n] with the n documents of the replica that has the most; of other replicas further
        documents stand behind their own.
    """
    certain, places = torch.zeros(kernel.shape, dtype=torch.bool), torch.empty(scores.shape, dtype=torch.int64)
    told = scores, kernel, regularization, width, present
    most = _by_bound(*(each.contiguous().numpy() for each in told), depth, certain.numpy(), places.numpy())
    return certain, places[:, :most].contiguous()


def by_width(
    scores: torch.Tensor, gram: torch.Tensor, width: torch.Tensor, places: torch.Tensor, certain: torch.Tensor
) -> None:
    """Write anew which orders of some documents are certain.

    Args:
        scores: Float64[R, V], of all documents. gram: C of some, Float64[R, n, n]. width: α, Float64[R].
        places: which these are, Int64[R, n]. certain: Bool[R, V, V], written to.
    """
    told = scores, gram, width, places, certain
    _by_width(*(each.numpy() for each in told))


@part
def _apart(one, other, square, width):
    """Whether the first of two documents with these scores, which is above the other, is certainly better."""
    return 0.5 * np.tanh(0.5 * (one - other)) > width * np.sqrt(max(square, 0.0))


@kernel(error_model="numpy")
def _by_bound(scores, kernel, regularization, width, present, depth, certain, places):
    most, n = 0, scores.shape[1]
    for r in range(scores.shape[0]):
        superiors, is_open = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
        for i in range(n):
            for j in range(n):
                if present[r, i] and present[r, j] and scores[r, i] > scores[r, j]:
                    square = (kernel[r, i, i] + kernel[r, j, j] - 2 * kernel[r, i, j]) / regularization[r]
                    if _apart(scores[r, i], scores[r, j], square, width[r]):
                        certain[r, i, j] = True
                        superiors[j] += 1
        for j in range(n):
            if present[r, j] and superiors[j] < depth:
                for i in range(n):
                    if present[r, i] and scores[r, i] > scores[r, j] and not certain[r, i, j]:
                        is_open[i] = is_open[j] = True
        first, rest = 0, is_open.sum()
        most = max(most, rest)
        for i in range(n):
            if is_open[i]:
                places[r, first] = i
                first += 1
            else:
                places[r, rest] = i
                rest += 1
    return most


@kernel(error_model="numpy")
def _by_width(scores, gram, width, places, certain):
    for r in range(scores.shape[0]):
        for a in range(places.shape[1]):
            i = places[r, a]
            for b in range(places.shape[1]):
                j = places[r, b]
                square = gram[r, a, a] + gram[r, b, b] - 2 * gram[r, a, b]
                above = scores[r, i] > scores[r, j]
                certain[r, i, j] = above and _apart(scores[r, i], scores[r, j], square, width[r])
