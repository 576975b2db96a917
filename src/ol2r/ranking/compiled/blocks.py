"""Divide and conquer (PairRank), compiled: certain orders, blocks by a running maximum, and the shuffled list."""

import numpy as np
import torch
from numba import njit, prange

from ol2r.random import Stream, Streams, integer_below, word
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.scalars import arrays, top

_ROWS = 4  # documents that share one reading of the inverse covariance


@njit(fastmath={"reassoc", "contract", "nsz"})
def dot64(a, b):
    """Σ a_i b_i in double precision, whatever the precision of a and b."""
    result = 0.0
    for i in range(a.shape[0]):
        result += np.float64(a[i]) * np.float64(b[i])
    return result


@njit(fastmath={"reassoc", "contract", "nsz"})
def _four_products(a, x, out):
    """out[i] = a · x_i for four rows x_i, which reads `a` once."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for f in range(a.shape[0]):
        s0 += a[f] * x0[f]
        s1 += a[f] * x1[f]
        s2 += a[f] * x2[f]
        s3 += a[f] * x3[f]
    out[0], out[1], out[2], out[3] = s0, s1, s2, s3


@njit
def _apply(x, inverse, out):
    """out_i = M⁻¹ x_i for every row; M⁻¹ is d × d and symmetric, or one row with its diagonal."""
    n, d = x.shape
    if inverse.shape[0] == 1:
        out[:] = x * inverse[0]
        return
    whole = n - n % _ROWS
    four = np.empty(_ROWS)
    for start in range(0, whole, _ROWS):
        rows = x[start : start + _ROWS]
        for f in range(d):
            _four_products(inverse[f], rows, four)
            for i in range(_ROWS):
                out[start + i, f] = four[i]
    for i in range(whole, n):
        for f in range(d):
            out[i, f] = dot64(inverse[f], x[i])


@njit
def _uncertain(p, q, score, square, x, y, width):
    """Whether documents p, q (score[p] ≥ score[q]) are in an uncertain order: not σ(s_p − s_q) − ½ > α ‖x_p − x_q‖."""
    norm = np.sqrt(max(square[p] + square[q] - 2.0 * dot64(y[p], x[q]), 0.0))
    return not 0.5 * np.tanh(0.5 * (score[p] - score[q])) > width * norm


@njit
def _shuffle(order, start, stop, key, round_):
    """Put order[start:stop] into random order, by a word for each document."""
    words = np.empty(stop - start, dtype=np.uint32)
    for i in range(stop - start):
        words[i] = word(key, Stream.SHUFFLE, round_, order[start + i])
    order[start:stop] = order[start:stop][np.argsort(words, kind="mergesort")]


@njit
def _topological(order, start, stop, depth, score, square, x, y, width, key, round_):
    """Put order[start:min(stop, depth)] into a random topological order of the block's certain orders: each slot goes
    to one of the documents that have no certain superior left, drawn uniformly."""
    n = stop - start
    certain = np.zeros((n, n), dtype=np.bool_)
    superiors = np.zeros(n, dtype=np.int64)
    for p in range(n):
        for q in range(p + 1, n):
            if not _uncertain(start + p, start + q, score, square, x, y, width):
                certain[p, q] = True
                superiors[q] += 1
    document = order[start:stop].copy()
    for slot in range(start, min(stop, depth)):
        free = 0
        for p in range(n):
            free += superiors[p] == 0
        nth = integer_below(key, Stream.SHUFFLE, round_, slot, free)
        chosen = -1
        while nth >= 0:
            chosen += 1
            nth -= superiors[chosen] == 0
        order[slot] = document[chosen]
        superiors[chosen] = -1
        for q in range(chosen + 1, n):
            superiors[q] -= certain[chosen, q]


@njit(parallel=True, cache=True)
def _divide_and_conquer(
    features, offsets, query, theta, inverse, width, conservative, ranks, keys, round_, ranking, blocks, sizes
):
    replicas, depth = ranking.shape
    for r in prange(replicas):
        first = offsets[query[r]]
        n = offsets[query[r] + 1] - first
        unsorted = np.empty(n)
        for j in range(n):
            unsorted[j] = dot64(features[first + j], theta[r])
        order = np.empty(n, dtype=np.int64)
        top(unsorted, order, keys[r], round_, 0)
        x = np.empty((n, features.shape[1]))
        for p in range(n):
            x[p] = features[first + order[p]]
        score = unsorted[order]
        y = np.empty_like(x)
        _apply(x, inverse[r], y)
        square = np.empty(n)
        for p in range(n):
            square[p] = dot64(x[p], y[p])

        start, reach = 0, 0
        blocks[r] = 0
        for p in range(n):
            q = n - 1
            while q > max(reach, p) and not _uncertain(p, q, score, square, x, y, width[r]):
                q -= 1
            reach = max(reach, q)
            if reach > p:
                continue
            stop = p + 1  # every pair across this cut is certain
            blocks[r] += 1
            for i in range(ranks.shape[0]):
                if start < ranks[i] <= stop:
                    sizes[r, i] = stop - start
            if start < depth and stop - start > 1:
                if conservative:
                    _topological(order, start, stop, depth, score, square, x, y, width[r], keys[r], round_)
                else:
                    _shuffle(order, start, stop, keys[r], round_)
            start = stop
        shown = min(n, depth)
        ranking[r, :shown] = order[:shown]
        ranking[r, shown:] = -1


def divide_and_conquer(
    candidates: Candidates,
    theta: torch.Tensor,
    inverse: torch.Tensor,
    width: torch.Tensor,
    conservative: bool,
    depth: int,
    ranks: tuple[int, ...],
    streams: Streams,
    round_: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """PairRank's list: documents sorted by score, cut into blocks, and explored within them.

    The order of i before j is certain when σ(x_ijᵀθ) − α ‖x_ij‖_{M⁻¹} > ½. On documents sorted by score a block ends
    after place p exactly when all pairs across p are certain: one running maximum of the furthest uncertain partner.

    Args:
        theta: Float64[R, features].
        inverse: M⁻¹, Float64[R, features, features], or its diagonal's, Float64[R, 1, features].
        width: α, Float64[R]; 0 sorts by score (ties at random), ∞ shuffles everything.
        conservative: within a block a random topological order of its certain orders instead of a random order.
        depth: slots to fill.
        ranks: places, from 1, of which to tell the size of the block.

    Returns:
        ranking Int64[R, depth], padded with −1; number of blocks Int64[R]; size of the block that holds each of `ranks`
        Int64[R, ranks], 0 where the list is shorter.
    """
    ranking = np.empty((len(theta), depth), dtype=np.int64)
    blocks = np.empty(len(theta), dtype=np.int64)
    sizes = np.zeros((len(theta), len(ranks)), dtype=np.int64)
    _divide_and_conquer(
        *arrays(candidates),
        theta.numpy(),
        inverse.numpy(),
        width.numpy(),
        conservative,
        np.asarray(ranks, dtype=np.int64),
        streams.keys,
        round_,
        ranking,
        blocks,
        sizes,
    )
    return torch.from_numpy(ranking), torch.from_numpy(blocks), torch.from_numpy(sizes)
