"""Lists from certain orders, compiled: a running maximum finds blocks, and each is shuffled, or neighbours exchange
their places; linear learners."""

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel, part
from ol2r.random import Stream, Streams, integer_below, word
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.scalars import arrays, fill, put, top
from ol2r.ranking.orders import DECIMALS

_ONE = 10.0**DECIMALS  # a score of 1 in units of its last decimal
_ROWS = 4  # documents that are multiplied by the inverse covariance in one pass over it


@part(fastmath={"reassoc", "contract", "nsz"})
def dot64(a, b):
    """Σ a_i b_i in double precision, whatever the precision of a and b."""
    result = 0.0
    for i in range(a.shape[0]):
        result += np.float64(a[i]) * np.float64(b[i])
    return result


@part(fastmath={"reassoc", "contract", "nsz"})
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


@part
def _apply(x, inverse, out):
    """out_i = M⁻¹ x_i for every row; M⁻¹ is d × d and symmetric, or one row with its diagonal."""
    n, d = x.shape
    if inverse.shape[0] == 1:
        for i in range(n):
            for f in range(d):
                out[i, f] = x[i, f] * inverse[0, f]
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


@part
def _given(p, q, known):
    """Whether the given matrix says that the order of the documents at places p < q is certain."""
    certain, document = known
    return certain[document[p], document[q]]


@part
def _by_interval(p, q, known):
    """Whether σ(s_p − s_q) − ½ > α ‖x_p − x_q‖ for the documents at places p < q."""
    score, square, x, y, width = known
    norm = np.sqrt(max(square[p] + square[q] - 2.0 * dot64(y[p], x[q]), 0.0))
    return 0.5 * np.tanh(0.5 * (score[p] - score[q])) > width * norm


@part
def _by_all(p, q, scores):
    """Whether each ranker scores the document at place p above the one at place q."""
    for n in range(scores.shape[0]):
        if not scores[n, p] > scores[n, q]:
            return False
    return True


@part
def _shuffle(order, start, stop, key, round_):
    """Put order[start:stop] into random order, by a word for each document."""
    words = np.empty(stop - start, dtype=np.uint32)
    for i in range(stop - start):
        document = order[start + i]
        drawn = word(key, Stream.SHUFFLE, round_, document)
        place = i
        while place > 0 and words[place - 1] > drawn:
            words[place], order[start + place] = words[place - 1], order[start + place - 1]
            place -= 1
        words[place], order[start + place] = drawn, document


@part
def _topological(order, start, above, depth, key, round_):
    """Put the documents order[start:] of a block, as far as they are shown, into a random topological order of the
    certain orders above[p, q], p < q: each slot goes to a document drawn uniformly from those that have no certain
    superior left."""
    n = above.shape[0]
    superiors, document = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    fill(superiors, 0)
    put(document, order[start : start + n])
    for p in range(n):
        for q in range(p + 1, n):
            superiors[q] += above[p, q]
    for slot in range(start, min(start + n, depth)):
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
            superiors[q] -= above[chosen, q]


def _arranged_by(certain):
    """Compile the function that arranges documents sorted by score, for one test of which orders are certain.

    certain(p, q, known) tells whether the order of the documents at places p < q is certain; it is called for no more
    pairs than the list needs.
    """

    @part
    def arranged(order, known, conservative, ranks, key, round_, ranking, sizes):
        """Fills ranking and sizes, and returns the number of blocks."""
        n, depth = order.shape[0], ranking.shape[0]
        start, reach, blocks = 0, 0, 0
        for p in range(n):
            q = n - 1
            while q > max(reach, p) and certain(p, q, known):
                q -= 1
            reach = max(reach, q)
            if reach > p:
                continue
            stop = p + 1  # every pair across this cut is certain
            blocks += 1
            for i in range(ranks.shape[0]):
                if start < ranks[i] <= stop:
                    sizes[i] = stop - start
            if start < depth and stop - start > 1:
                if conservative:
                    above = np.empty((stop - start, stop - start), dtype=np.bool_)
                    for i in range(start, stop):
                        fill(above[i - start], False)
                        for j in range(i + 1, stop):
                            above[i - start, j - start] = certain(i, j, known)
                    _topological(order, start, above, depth, key, round_)
                else:
                    _shuffle(order, start, stop, key, round_)
            start = stop
        shown = min(n, depth)
        put(ranking[:shown], order)
        fill(ranking[shown:], -1)
        return blocks

    return arranged


_by_matrix, _by_intervals, _by_unanimity = map(_arranged_by, (_given, _by_interval, _by_all))


def _unfilled(replicas: int, depth: int, n_ranks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays for the results of `arrange`: ranking and number of blocks, uninitialised, and sizes, all 0."""
    ranking, blocks = np.empty((replicas, depth), dtype=np.int64), np.empty(replicas, dtype=np.int64)
    return ranking, blocks, np.zeros((replicas, n_ranks), dtype=np.int64)


@kernel
def _arrange(n_documents, scores, certain, conservative, ranks, keys, round_, ranking, blocks, sizes):
    for r in prange(ranking.shape[0]):
        n = n_documents[r]
        order = np.empty(n, dtype=np.int64)
        top(scores[r, :n], order, keys[r], round_, 0)
        document = np.empty(n, dtype=np.int64)
        put(document, order)
        known = (certain[r], document)
        blocks[r] = _by_matrix(order, known, conservative, ranks, keys[r], round_, ranking[r], sizes[r])


def arrange(
    candidates: Candidates,
    scores: torch.Tensor,
    certain: torch.Tensor,
    conservative: bool,
    depth: int,
    ranks: tuple[int, ...],
    streams: Streams,
    round_: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Make lists from scores and certain orders: sort documents by score, cut into blocks, shuffle within each block.

    A block ends after place p exactly when all pairs across p are certain; a running maximum of each place's furthest
    uncertain partner finds these places. An order against the scores counts as uncertain, so orders never form a cycle.

    Args:
        scores: Float[R, V], single or double, at least as wide as the longest list; ties are broken at random.
        certain: Bool[R, V, V], whether the document in the row is certainly better than the one in the column
            (`interval_orders`, `unanimous_orders`). Entries of scores and orders beyond a query's list are not read.
        conservative: whether a block is put into a random topological order of its certain orders, instead of into a
            uniformly random order.
        depth: number of slots to fill.
        ranks: places, from 1, for which to return the size of the block.

    Returns:
        ranking Int64[R, depth], padded with −1; number of blocks Int64[R]; size of the block that holds each of `ranks`
        Int64[R, ranks], 0 where the list is shorter.
    """
    ranking, blocks, sizes = _unfilled(len(scores), depth, len(ranks))
    _arrange(
        candidates.sizes.numpy(),
        np.ascontiguousarray(scores.numpy()),
        np.ascontiguousarray(certain.numpy()),
        conservative,
        np.asarray(ranks, dtype=np.int64),
        streams.keys,
        round_,
        ranking,
        blocks,
        sizes,
    )
    return torch.from_numpy(ranking), torch.from_numpy(blocks), torch.from_numpy(sizes)


@kernel
def _certain_shown(ranking, certain, counts, pairs):
    for r in range(ranking.shape[0]):
        shown = ranking[r][ranking[r] >= 0]
        pairs[r] = len(shown) * (len(shown) - 1) // 2
        for i in shown:
            for j in shown:
                counts[r] += certain[r, i, j]


def certain_shown(ranking: torch.Tensor, certain: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """How many pairs of shown documents have a certain order, and how many pairs there are.

    Args:
        ranking: Int64[R, k], padded with −1; certain: Bool[R, V, V], as of `arrange`.

    Returns:
        Int64[R] each.
    """
    counts, pairs = torch.zeros(2, len(ranking), dtype=torch.int64)
    _certain_shown(*(each.numpy() for each in (ranking, certain, counts, pairs)))
    return counts, pairs


@kernel
def _divide_and_conquer(
    features, offsets, query, theta, inverse, width, conservative, ranks, keys, round_, ranking, blocks, sizes
):
    for r in prange(ranking.shape[0]):
        first = offsets[query[r]]
        n = offsets[query[r] + 1] - first
        unsorted = np.empty(n)
        for j in range(n):
            unsorted[j] = dot64(features[first + j], theta[r])
        order = np.empty(n, dtype=np.int64)
        top(unsorted, order, keys[r], round_, 0)
        x, y = np.empty((n, features.shape[1])), np.empty((n, features.shape[1]))
        for p in range(n):
            put(x[p], features[first + order[p]])
        _apply(x, inverse[r], y)
        score, square = np.empty(n), np.empty(n)
        for p in range(n):
            score[p], square[p] = unsorted[order[p]], dot64(x[p], y[p])
        known = (score, square, x, y, width[r])
        blocks[r] = _by_intervals(order, known, conservative, ranks, keys[r], round_, ranking[r], sizes[r])


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
    """PairRank's list: `arrange` with the `interval_orders` of linear scores, computed for no more pairs than needed.

    The order of i before j is certain when σ(x_ijᵀθ) − α ‖x_ij‖_{M⁻¹} > ½.

    Args:
        theta: Float64[R, features].
        inverse: M⁻¹, Float64[R, features, features], or the inverse of M's diagonal, Float64[R, 1, features].
        width: α, Float64[R]; 0 sorts by score (ties at random), ∞ shuffles everything.
        conservative, depth, ranks: see `arrange`.

    Returns:
        See `arrange`.
    """
    ranking, blocks, sizes = _unfilled(len(theta), depth, len(ranks))
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


@kernel
def _list_by_unanimity(features, offsets, query, theta, ranks, keys, round_, ranking, blocks, sizes):
    for r in prange(ranking.shape[0]):
        first = offsets[query[r]]
        n, rankers = offsets[query[r] + 1] - first, theta.shape[1]
        unsorted, scores = np.empty((rankers, n)), np.empty((rankers, n))
        for j in range(n):
            for m in range(rankers):
                unsorted[m, j] = np.rint(dot64(features[first + j], theta[r, m]) * _ONE) / _ONE
        order = np.empty(n, dtype=np.int64)
        top(unsorted[0], order, keys[r], round_, 0)
        for p in range(n):
            for m in range(rankers):
                scores[m, p] = unsorted[m, order[p]]
        blocks[r] = _by_unanimity(order, scores, True, ranks, keys[r], round_, ranking[r], sizes[r])


def list_by_unanimity(
    candidates: Candidates,
    theta: torch.Tensor,
    depth: int,
    ranks: tuple[int, ...],
    streams: Streams,
    round_: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A random topological order of the orders in which N linear rankers agree: `arrange` with `unanimous_orders`.

    Scores are rounded to `DECIMALS`. Documents are sorted by the first ranker; unanimous orders follow each ranker, so
    another one's order gives other draws for the same distribution of lists.

    Args:
        theta: Float64[R, N, features].
        depth, ranks: see `arrange`.

    Returns:
        See `arrange`.
    """
    ranking, blocks, sizes = _unfilled(len(theta), depth, len(ranks))
    _list_by_unanimity(
        *arrays(candidates),
        theta.numpy(),
        np.asarray(ranks, dtype=np.int64),
        streams.keys,
        round_,
        ranking,
        blocks,
        sizes,
    )
    return torch.from_numpy(ranking), torch.from_numpy(blocks), torch.from_numpy(sizes)


@kernel
def _exchange_neighbours(features, offsets, query, theta, inverse, width, keys, round_, ranking):
    for r in prange(ranking.shape[0]):
        first = offsets[query[r]]
        n, depth = offsets[query[r] + 1] - first, ranking.shape[1]
        x, y = np.empty((n, features.shape[1])), np.empty((n, features.shape[1]))
        for j in range(n):
            put(x[j], features[first + j])
        _apply(x, inverse[r], y)
        score, square = np.empty(n), np.empty(n)
        for j in range(n):
            score[j], square[j] = dot64(x[j], theta[r]), dot64(x[j], y[j])
        known = (score, square, x, y, width[r])
        order = np.zeros(n, dtype=np.int64)
        for i in range(1, n):
            place = i
            while place > 0 and _by_interval(i, order[place - 1], known):
                order[place] = order[place - 1]
                place -= 1
            order[place] = i
        shown, offset = min(n, depth), integer_below(keys[r], Stream.SHUFFLE, round_, depth, 2)
        for upper in range(offset, shown - 1, 2):
            a, b = order[upper], order[upper + 1]
            if integer_below(keys[r], Stream.SHUFFLE, round_, upper, 2) and not _by_interval(a, b, known):
                order[upper], order[upper + 1] = b, a
        put(ranking[r, :shown], order)
        fill(ranking[r, shown:], -1)


def exchange_neighbours(
    candidates: Candidates,
    theta: torch.Tensor,
    inverse: torch.Tensor,
    width: torch.Tensor,
    depth: int,
    streams: Streams,
    round_: int,
) -> torch.Tensor:
    """SafePairRank's list: the order in which candidates come, but for exchanges of neighbours.

    First a sort by insertion: from the second on, each document changes places with the one above it while it is
    certainly better (`interval_orders` of linear scores). Then every second pair of neighbours in the list, from the
    first or the second place on at random, changes places with probability ½ if its order is uncertain.

    Args:
        theta: Float64[R, features]; inverse, width: see `divide_and_conquer`.
        depth: number of slots to fill.

    Returns:
        Int64[R, depth], padded with −1.
    """
    ranking = np.empty((len(theta), depth), dtype=np.int64)
    _exchange_neighbours(
        *arrays(candidates), theta.numpy(), inverse.numpy(), width.numpy(), streams.keys, round_, ranking
    )
    return torch.from_numpy(ranking)
