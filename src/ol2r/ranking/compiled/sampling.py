"""Stochastic lists, compiled: Plackett-Luce with the gradient of PDGD, and ε-greedy exploration."""

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel, part
from ol2r.random import Stream, Streams, block, integer_below, uniform
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.pairs import n_examined
from ol2r.ranking.compiled.scalars import arrays, dot, fill, put, top


@part
def _gumbel(word):
    """A standard Gumbel variable from a 32-bit word."""
    return -np.log(-np.log((word + 0.5) * 2.0**-32))


@part
def _words(key, stream, round_, n):
    """Words 0 … n − 1 of a stream in a round."""
    out = np.empty((n + 3) // 4 * 4, dtype=np.uint32)
    for i in range(0, n, 4):
        out[i], out[i + 1], out[i + 2], out[i + 3] = block(key, stream, round_, i >> 2)
    return out


@part
def _drawn(score, key, round_, ranking, scores):
    """Draw one list in place of `ranking` by its documents' scores, which it spends, and leave theirs in `scores`.
    Return the log of the mass that is not shown."""
    size, depth = score.shape[0], ranking.shape[0]
    words = _words(key, Stream.SAMPLE, round_, size)
    perturbed = np.empty(size)
    for j in range(size):
        perturbed[j] = score[j] + _gumbel(words[j])
    top(perturbed, ranking, key, round_, 0)
    for i in range(depth):
        scores[i] = -np.inf
        if ranking[i] >= 0:
            scores[i] = score[ranking[i]]
            score[ranking[i]] = -np.inf
    if size <= depth:
        return -np.inf
    highest = score[0]
    for j in range(size):
        highest = max(highest, score[j])
    mass = 0.0
    for j in range(size):
        mass += np.exp(score[j] - highest)
    return highest + np.log(mass)


@kernel
def _plackett_luce(features, offsets, query, weights, keys, round_, ranking, scores, rest):
    for r in prange(ranking.shape[0]):
        first = offsets[query[r]]
        score = np.empty(offsets[query[r] + 1] - first)
        for j in range(score.shape[0]):
            score[j] = dot(features[first + j], weights[r])
        rest[r] = _drawn(score, keys[r], round_, ranking[r], scores[r])


@kernel
def _sample(given, sizes, keys, round_, ranking, scores, rest):
    for r in range(ranking.shape[0]):
        score = np.empty(sizes[r])
        put(score, given[r, : sizes[r]])
        rest[r] = _drawn(score, keys[r], round_, ranking[r], scores[r])


def plackett_luce(
    candidates: Candidates, weights: torch.Tensor, depth: int, streams: Streams, round_: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A list drawn without replacement from p(d) ∝ exp(w · x_d): the order of the scores with Gumbel noise added.

    Args:
        weights: Float32[R, features].

    Returns:
        ranking Int64[R, depth], padded with −1; scores of its documents, Float64[R, depth], −∞ beyond the list; and
        log Σ exp(w · x_d) over the documents not shown, Float64[R], −∞ if there are none.
    """
    ranking, scores, rest = _lists(weights.shape[0], depth)
    _plackett_luce(*arrays(candidates), weights.numpy(), streams.keys, round_, ranking, scores, rest)
    return torch.from_numpy(ranking), torch.from_numpy(scores), torch.from_numpy(rest)


def sample(
    candidates: Candidates, scores: torch.Tensor, depth: int, streams: Streams, round_: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same for scores that are given, Float[R, V], at least as wide as the longest list; entries beyond a list are
    not read."""
    ranking, shown, rest = _lists(scores.shape[0], depth)
    _sample(scores.numpy(), candidates.sizes.numpy(), streams.keys, round_, ranking, shown, rest)
    return torch.from_numpy(ranking), torch.from_numpy(shown), torch.from_numpy(rest)


def _lists(replicas: int, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ranking = np.empty((replicas, depth), dtype=np.int64)
    return ranking, np.empty(ranking.shape), np.empty(replicas)


@part
def _log_sum(a, b):
    """log(eᵃ + eᵇ), b finite."""
    return max(a, b) + np.log1p(np.exp(-abs(a - b)))


@part
def _swap_coefficients(clicks, scores, rest, examined, shown, left, without, coefficient):
    """Coefficient of each shown document in PDGD's gradient; `left[t]` is the log of the mass left at slot t."""
    left[shown] = rest
    for t in range(shown - 1, -1, -1):
        left[t] = _log_sum(left[t + 1], scores[t])
    for lower in range(1, examined):
        without[lower] = left[lower + 1]  # log of the mass left at slot t, without the lower document
        for t in range(lower - 1, 0, -1):
            without[t] = _log_sum(without[t + 1], scores[t])
        for upper in range(lower):
            if clicks[upper] == clicks[lower]:
                continue
            log_ratio = 0.0  # log P(R*) − log P(R)
            for t in range(upper + 1, lower + 1):
                log_ratio += left[t] - _log_sum(without[t], scores[upper])
            swapped = 1.0 / (1.0 + np.exp(-log_ratio))
            e = np.exp(-abs(scores[upper] - scores[lower]))
            change = swapped * e / (1.0 + e) ** 2 * (1.0 if clicks[upper] else -1.0)
            coefficient[upper] += change
            coefficient[lower] -= change


@part
def _learn(ranking, clicks, scores, rest, coefficient):
    """Coefficients of one list's examined documents, 0 of the others, how many are examined, and whether there was a
    pair to learn from."""
    depth = ranking.shape[0]
    fill(coefficient, 0.0)
    examined = n_examined(ranking, clicks)
    clicked = 0
    for i in range(examined):
        clicked += clicks[i]
    learned = 0 < clicked < examined
    if learned:
        shown = depth
        while ranking[shown - 1] < 0:
            shown -= 1
        left, without = np.empty(depth + 1), np.empty(depth)
        _swap_coefficients(clicks, scores, rest, examined, shown, left, without, coefficient)
    return examined, learned


@kernel
def _plackett_luce_gradient(features, offsets, query, ranking, clicks, scores, rest, out, learned):
    for r in prange(ranking.shape[0]):
        fill(out[r], 0.0)
        coefficient = np.empty(ranking.shape[1])
        examined, learned[r] = _learn(ranking[r], clicks[r], scores[r], rest[r], coefficient)
        if not learned[r]:
            continue
        for i in range(examined):
            x = features[offsets[query[r]] + ranking[r, i]]
            c = np.float32(coefficient[i])
            for f in range(x.shape[0]):
                out[r, f] += c * x[f]


@kernel
def _learn_all(ranking, clicks, scores, rest, coefficient, learned):
    for r in range(ranking.shape[0]):
        learned[r] = _learn(ranking[r], clicks[r], scores[r], rest[r], coefficient[r])[1]


def plackett_luce_gradient(
    candidates: Candidates, ranking: torch.Tensor, clicks: torch.Tensor, scores: torch.Tensor, rest: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradient of pairwise differentiable gradient descent (Oosterhuis and de Rijke, 2018, Eq. 5-8) for linear scores:

    Σ ρ(a, b) · e^{s_a} e^{s_b} / (e^{s_a} + e^{s_b})² · (x_a − x_b) over clicked a and examined unclicked b, with
    ρ = P(R*) / (P(R) + P(R*)), R* being the list R with a and b swapped. P(R*)/P(R) depends only on the slots from the
    upper to the lower of the two; it is computed from logarithms of sums over all documents left at each slot.

    Args:
        ranking: Int64[R, k], scores: Float64[R, k] and rest: Float64[R], from `plackett_luce`.
        clicks: Bool[R, k].

    Returns:
        Float32[R, features]; and whether there was a pair to learn from, Bool[R].
    """
    out = np.empty((ranking.shape[0], candidates.features.shape[1]), dtype=np.float32)
    learned = np.empty(ranking.shape[0], dtype=np.bool_)
    _plackett_luce_gradient(
        *arrays(candidates), ranking.numpy(), clicks.numpy(), scores.numpy(), rest.numpy(), out, learned
    )
    return torch.from_numpy(out), torch.from_numpy(learned)


def swap_coefficients(
    ranking: torch.Tensor, clicks: torch.Tensor, scores: torch.Tensor, rest: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Coefficient c_d of each shown document in PDGD's gradient Σ_d c_d ∇s_d; see `plackett_luce_gradient`.

    Args:
        ranking: Int64[R, k], scores: Float64[R, k] and rest: Float64[R], from `sample` or `plackett_luce`.
        clicks: Bool[R, k].

    Returns:
        c, Float64[R, k], 0 beyond the list; and whether there was a pair to learn from, Bool[R].
    """
    coefficient, learned = np.empty(ranking.shape), np.empty(ranking.shape[0], dtype=np.bool_)
    _learn_all(ranking.numpy(), clicks.numpy(), scores.numpy(), rest.numpy(), coefficient, learned)
    return torch.from_numpy(coefficient), torch.from_numpy(learned)


@kernel
def _explore(lists, sizes, epsilon, keys, round_, out):
    depth = lists.shape[1]
    for r in range(lists.shape[0]):
        left = np.ones(sizes[r], dtype=np.bool_)
        best = 0
        for i in range(min(depth, sizes[r])):
            if uniform(keys[r], Stream.EXPLORE, round_, 2 * i) < epsilon[r]:
                nth = integer_below(keys[r], Stream.EXPLORE, round_, 2 * i + 1, sizes[r] - i)
                document = -1
                while nth >= 0:
                    document += 1
                    nth -= left[document]
            else:
                while not left[lists[r, best]]:
                    best += 1
                document = lists[r, best]
            left[document] = False
            out[r, i] = document
        fill(out[r, min(depth, sizes[r]) :], -1)


def explore(
    candidates: Candidates, lists: torch.Tensor, epsilon: torch.Tensor, streams: Streams, round_: int
) -> torch.Tensor:
    """ε-greedy lists (Hofmann et al., 2013): each slot shows, with probability ε, a document drawn uniformly from those
    not yet ranked, and otherwise the best of them.

    Args:
        lists: Int64[R, k], the best documents in order, padded with −1.
        epsilon: ε, Float32[R].

    Returns:
        Int64[R, k], padded with −1.
    """
    out = np.empty(lists.shape, dtype=np.int64)
    _explore(lists.numpy(), candidates.sizes.numpy(), epsilon.numpy(), streams.keys, round_, out)
    return torch.from_numpy(out)
