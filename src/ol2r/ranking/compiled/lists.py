"""Lists of linear rankers, interleaving, null spaces and scores, compiled."""

import numpy as np
import torch
from numba import prange

from ol2r import random
from ol2r.compiling import kernel, part
from ol2r.random import Stream, Streams, integer_below, uniform
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.scalars import arrays, before, dot, fill, put, top, total

_QUIET = 1e-6  # relative length below which a vector counts as lying in the span of the ones before it


@part
def _mirror(v, x):
    """x ← (I − 2 v vᵀ) x in place."""
    twice = np.float32(2.0) * dot(v, x)
    for i in range(x.shape[0]):
        x[i] -= twice * v[i]


@part
def _lists(features, offsets, query, weights, key, round_, out):
    rankers = out.shape[0]
    first = offsets[query]
    size = offsets[query + 1] - first
    scores = np.empty((rankers, size), dtype=np.float32)
    for j in range(size):
        x = features[first + j]
        for m in range(rankers):
            scores[m, j] = dot(x, weights[m])
    for m in range(rankers):
        top(scores[m], out[m], key, round_, m * size)


@kernel
def _rank(features, offsets, query, weights, keys, round_, out):
    for r in prange(out.shape[0]):
        _lists(features, offsets, query[r], weights[r], keys[r], round_, out[r])


def rank(candidates: Candidates, weights: torch.Tensor, depth: int, streams: Streams, round_: int) -> torch.Tensor:
    """The top `depth` documents of each linear ranker; each ranker breaks ties in a random order of its own.

    Args:
        weights: Float32[R, M, features].

    Returns:
        Int64[R, M, depth], padded with −1.
    """
    out = np.empty((*weights.shape[:2], depth), dtype=np.int64)
    _rank(*arrays(candidates), weights.numpy(), streams.keys, round_, out)
    return torch.from_numpy(out)


@part
def _common_prefix(lists):
    rankers, depth = lists.shape
    for i in range(depth):
        for m in range(1, rankers):
            if lists[m, i] != lists[0, i]:
                return i
        if lists[0, i] < 0:
            return i
    return depth


@part
def _draft(lists, first, prefix_credit, key, round_, ranking, team):
    rankers, depth = lists.shape
    order = np.empty(rankers, dtype=np.int64)
    placed = 0
    if not prefix_credit:
        placed = _common_prefix(lists)
        put(ranking[:placed], lists[0])
        fill(team[:placed], -1)
    next_of = np.empty(rankers, dtype=np.int64)
    fill(next_of, placed)
    number = 0
    while placed < depth and lists[0, placed] >= 0:
        for m in range(rankers):
            order[m] = m
        for m in range(rankers - 1, 0, -1):  # Fisher and Yates; a turn of the draft uses words turn·M + m
            other = integer_below(key, Stream.INTERLEAVE, round_, number * rankers + m, m + 1)
            order[m], order[other] = order[other], order[m]
        if first >= 0:
            for m in range(rankers):
                if order[m] == first:
                    for i in range(m, 0, -1):
                        order[i] = order[i - 1]
                    order[0] = first
                    break
        for turn in range(rankers):
            if placed == depth or lists[0, placed] < 0:
                break
            ranker = order[turn]
            while True:
                document = lists[ranker, next_of[ranker]]
                next_of[ranker] += 1
                taken = False
                for i in range(placed):
                    if ranking[i] == document:
                        taken = True
                        break
                if not taken:
                    break
            ranking[placed] = document
            team[placed] = ranker
            placed += 1
        number += 1
    fill(ranking[placed:], -1)
    fill(team[placed:], -1)


@kernel
def _team_draft(lists, first, prefix_credit, keys, round_, ranking, team):
    for r in prange(lists.shape[0]):
        _draft(lists[r], first[r], prefix_credit, keys[r], round_, ranking[r], team[r])


def team_draft(
    lists: torch.Tensor, first: torch.Tensor, prefix_credit: bool, streams: Streams, round_: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Team-draft multileaving (Radlinski et al., 2008; Schuth et al., 2014): in each turn the rankers take part in a
    random order, and each drafts its best document that is not yet taken.

    Args:
        lists: Int64[R, M, k], each ranker's top k.
        first: Int64[R], the ranker that drafts first in every turn (contextual interleaving), or −1 for none.
        prefix_credit: whether a document of the prefix that all lists share belongs to a team.

    Returns:
        ranking Int64[R, k] and team Int64[R, k], the ranker that drafted each document; both padded with −1.
    """
    ranking = np.empty((lists.shape[0], lists.shape[2]), dtype=np.int64)
    team = np.empty_like(ranking)
    _team_draft(lists.numpy(), first.numpy(), prefix_credit, streams.keys, round_, ranking, team)
    return torch.from_numpy(ranking), torch.from_numpy(team)


@kernel
def _multileave(features, offsets, query, weights, first, prefix_credit, keys, round_, ranking, team):
    replicas, depth = ranking.shape
    for r in prange(replicas):
        lists = np.empty((weights.shape[1], depth), dtype=np.int64)
        _lists(features, offsets, query[r], weights[r], keys[r], round_, lists)
        _draft(lists, first[r], prefix_credit, keys[r], round_, ranking[r], team[r])


def multileave(
    candidates: Candidates,
    weights: torch.Tensor,
    depth: int,
    first: torch.Tensor,
    prefix_credit: bool,
    streams: Streams,
    round_: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """`team_draft` of the lists that `rank` gives for these linear rankers.

    Args:
        weights: Float32[R, M, features].
        first, prefix_credit: as for `team_draft`.

    Returns:
        ranking Int64[R, depth] and team Int64[R, depth], as of `team_draft`.
    """
    ranking = np.empty((weights.shape[0], depth), dtype=np.int64)
    team = np.empty_like(ranking)
    _multileave(*arrays(candidates), weights.numpy(), first.numpy(), prefix_credit, streams.keys, round_, ranking, team)
    return torch.from_numpy(ranking), torch.from_numpy(team)


@part
def _positions(scores, key, round_, salt, position):
    """position[j] = place of document j in the whole ranking by scores."""
    size = scores.shape[0]
    order = np.empty(size, dtype=np.int64)
    top(scores, order, key, round_, salt)
    for i in range(size):
        position[order[i]] = i


@part
def _softened(size, decay):
    """1 / position^τ of every place. The weights of the documents left are always summed in order of place, so that
    rankings with the same documents at the same places give equal bits and exact ties."""
    mass = np.empty(size, dtype=np.float64)
    for place in range(size):
        mass[place] = 1.0 / float(place + 1) ** decay
    return mass


@kernel
def _probabilistic(features, offsets, query, weights, decay, keys, round_, ranking, share, probability):
    replicas, depth = ranking.shape
    for r in prange(replicas):
        first = offsets[query[r]]
        size = offsets[query[r] + 1] - first
        scores = np.empty(size, dtype=np.float32)
        position = np.empty((2, size), dtype=np.int64)
        left = np.empty((2, size), dtype=np.float64)
        for m in range(2):
            for j in range(size):
                scores[j] = dot(features[first + j], weights[r, m])
            _positions(scores, keys[r], round_, m * size, position[m])
            put(left[m], _softened(size, decay))
        shown = min(depth, size)
        for i in range(shown):
            m = integer_below(keys[r], Stream.INTERLEAVE, round_, 2 * i, 2)
            level = uniform(keys[r], Stream.INTERLEAVE, round_, 2 * i + 1) * total(left[m])
            chosen = -1
            for j in range(size):
                mass = left[m, position[m, j]]
                if mass > 0.0:
                    chosen = j
                    level -= mass
                    if level < 0.0:
                        break
            p0 = left[0, position[0, chosen]] / total(left[0])
            p1 = left[1, position[1, chosen]] / total(left[1])
            ranking[r, i] = chosen
            share[r, i] = p1 / (p0 + p1)
            probability[r, i] = 0.5 * (p0 + p1)
            for n in range(2):
                left[n, position[n, chosen]] = 0.0
        fill(ranking[r, shown:], -1)
        fill(share[r, shown:], 0.5)
        fill(probability[r, shown:], 1.0)


def probabilistic_interleave(
    candidates: Candidates, weights: torch.Tensor, depth: int, decay: float, streams: Streams, round_: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Probabilistic interleaving of two rankers (Hofmann et al., 2011): for each slot a fair coin chooses a ranker,
    whose softened ranking p(d) ∝ 1/position(d)^τ gives a document, without replacement.

    Args:
        weights: Float32[R, 2, features].
        decay: τ, the decay of the softened rankings.

    Returns:
        ranking Int64[R, k]; share Float64[R, k], the probability that ranker 1 contributed the slot, given the shown
        list (½ beyond its end); probability of each slot given those above it, Float64[R, k] (1 beyond the end).
    """
    ranking = np.empty((len(weights), depth), dtype=np.int64)
    share, probability = np.empty((2, *ranking.shape), dtype=np.float64)
    _probabilistic(
        *arrays(candidates), weights.numpy(), float(decay), streams.keys, round_, ranking, share, probability
    )
    return torch.from_numpy(ranking), torch.from_numpy(share), torch.from_numpy(probability)


@kernel
def _replayed(features, offsets, queries, lists, weights, decay, keys, round_, out):
    replicas, rankers, items, depth = out.shape
    for r in prange(replicas):
        for h in range(items):
            if queries[r, h] < 0:
                for m in range(rankers):
                    fill(out[r, m, h], 1.0)
                continue
            first = offsets[queries[r, h]]
            size = offsets[queries[r, h] + 1] - first
            scores = np.empty(size, dtype=np.float32)
            mass, left = _softened(size, decay), np.empty(size, dtype=np.float64)
            for m in range(rankers):
                for j in range(size):
                    scores[j] = dot(features[first + j], weights[r, m])
                salt = (h * rankers + m + 2) * size
                put(left, mass)
                for i in range(depth):
                    document = lists[r, h, i]
                    if document < 0:
                        out[r, m, h, i] = 1.0
                        continue
                    position = 0
                    for j in range(size):
                        if scores[j] > scores[document]:
                            position += 1
                        elif scores[j] == scores[document] and j != document:
                            position += before(scores[j], scores[document], j, document, keys[r], round_, salt)
                    out[r, m, h, i] = left[position] / total(left)
                    left[position] = 0.0


def replayed_probabilities(
    candidates: Candidates,
    queries: torch.Tensor,
    lists: torch.Tensor,
    weights: torch.Tensor,
    decay: float,
    streams: Streams,
    round_: int,
) -> torch.Tensor:
    """Probability of each recorded slot under each ranker's softened ranking, given the slots above it.

    Args:
        queries: Int64[R, H], the recorded queries, −1 for an empty place.
        lists: Int64[R, H, k], the lists then shown.
        weights: Float32[R, M, features].

    Returns:
        Float64[R, M, H, k]; 1 in empty places.
    """
    out = np.empty((*weights.shape[:2], *lists.shape[1:]), dtype=np.float64)
    features, offsets, _ = arrays(candidates)
    _replayed(
        features, offsets, queries.numpy(), lists.numpy(), weights.numpy(), float(decay), streams.keys, round_, out
    )
    return torch.from_numpy(out)


@kernel
def _directions(keys, stream, round_, out):
    replicas, n, d = out.shape
    for r in prange(replicas):
        for i in range(n):
            random.fill_gaussian(keys[r], stream, round_, i * ((d + 3) // 4), out[r, i])
            length = np.sqrt(dot(out[r, i], out[r, i]))
            for f in range(d):
                out[r, i, f] /= length


def unit_vectors(streams: Streams, stream: Stream, round_: int, n: int, n_features: int) -> torch.Tensor:
    """n directions uniform on the unit sphere for each replica: Float32[R, n, features]."""
    out = np.empty((len(streams), n, n_features), dtype=np.float32)
    _directions(streams.keys, int(stream), round_, out)
    return torch.from_numpy(out)


@kernel
def _reflectors(vectors, used, out, rank):
    replicas, count, d = vectors.shape
    for r in prange(replicas):
        rank[r] = 0
        residual = np.empty(d, dtype=np.float32)
        for i in range(count):
            fill(out[r, i], 0.0)
            if not used[r, i] or rank[r] == d:
                continue
            put(residual, vectors[r, i])
            length = np.sqrt(dot(residual, residual))
            for j in range(i):
                _mirror(out[r, j], residual)
            pivot = rank[r]
            rest = np.sqrt(dot(residual[pivot:], residual[pivot:]))
            if rest <= _QUIET * length:
                continue
            v = out[r, i]
            put(v[pivot:], residual[pivot:])
            v[pivot] += rest if residual[pivot] >= 0 else -rest
            length = np.sqrt(dot(v, v))
            for f in range(d):
                v[f] /= length
            rank[r] += 1


def reflectors(vectors: torch.Tensor, used: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Householder reflectors of a QR decomposition of each replica's used vectors; dependent vectors are skipped.

    With H_i = I − 2 v_i v_iᵀ and Q = H_1 H_2 …, the first `rank` columns of Q span the vectors and the other columns
    are an orthonormal basis of their null space.

    Args:
        vectors: Float32[R, n, features].
        used: Bool[R, n].

    Returns:
        v: Float32[R, n, features], unit vectors, or zero where a vector is unused or dependent; rank: Int64[R].
    """
    out = np.empty(vectors.shape, dtype=np.float32)
    rank_ = np.empty(len(vectors), dtype=np.int64)
    _reflectors(vectors.numpy(), used.numpy(), out, rank_)
    return torch.from_numpy(out), torch.from_numpy(rank_)


@kernel
def _reflect(v, out):
    for r in prange(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(v.shape[1] - 1, -1, -1):
                _mirror(v[r, j], out[r, i])


def reflect(v: torch.Tensor, coordinates: torch.Tensor) -> torch.Tensor:
    """Q z for each z: turns coordinates in the basis that `reflectors` describes into vectors.

    Args:
        v: Float32[R, n, features], from `reflectors`.
        coordinates: Float32[R, m, features].

    Returns:
        Float32[R, m, features].
    """
    out = coordinates.numpy().copy()
    _reflect(v.numpy(), out)
    return torch.from_numpy(out)


@kernel
def _clicks_score(features, offsets, queries, lists, clicks, weights, tied, ndcg, discount, out):
    replicas, items, depth = lists.shape
    rankers = weights.shape[1]
    for r in prange(replicas):
        fill(out[r], 0.0)
        contenders = 0
        for m in range(rankers):
            contenders += tied[r, m]
        if contenders < 2:
            continue
        for h in range(items):
            if queries[r, h] < 0:
                continue
            ideal = 0.0
            count = 0
            for i in range(depth):
                if clicks[r, h, i]:
                    ideal += discount[count]
                    count += 1
            if count == 0:
                continue
            first = offsets[queries[r, h]]
            size = offsets[queries[r, h] + 1] - first
            scores = np.empty(size, dtype=np.float32)
            for m in range(rankers):
                if not tied[r, m]:
                    continue
                for j in range(size):
                    scores[j] = dot(features[first + j], weights[r, m])
                gain = 0.0
                for i in range(depth):
                    if not clicks[r, h, i]:
                        continue
                    document = lists[r, h, i]
                    place = 0
                    for j in range(size):
                        ahead = scores[j] > scores[document]
                        place += ahead or (scores[j] == scores[document] and j < document)
                    if not ndcg:
                        gain += 1.0 / (place + 1)
                    elif place < depth:
                        gain += discount[place]
                out[r, m] += gain / ideal if ndcg else gain


def clicks_score(
    candidates: Candidates,
    queries: torch.Tensor,
    lists: torch.Tensor,
    clicks: torch.Tensor,
    weights: torch.Tensor,
    tied: torch.Tensor,
    measure: str,
) -> torch.Tensor:
    """Scores of the tied rankers on recorded queries, with the clicked documents as the relevant ones.

    Args:
        queries: Int64[R, H], −1 for an empty place.
        lists: Int64[R, H, k], the lists then shown; clicks: Bool[R, H, k].
        weights: Float32[R, M, features].
        tied: Bool[R, M]; replicas with fewer than two tied rankers are skipped.
        measure: `"ndcg"`, Σ NDCG@k over queries, or `"reciprocal_rank"`, Σ 1 / rank over clicked documents.

    Returns:
        Float64[R, M], 0 where a ranker is not tied. Equal scores stand in document order.
    """
    out = np.empty(tied.shape, dtype=np.float64)
    discount = 1.0 / np.log2(np.arange(2, lists.shape[2] + 2))
    features, offsets, _ = arrays(candidates)
    _clicks_score(
        features,
        offsets,
        queries.numpy(),
        lists.numpy(),
        clicks.numpy(),
        weights.numpy(),
        tied.numpy(),
        measure == "ndcg",
        discount,
        out,
    )
    return torch.from_numpy(out)


@kernel
def _score(features, weights, out):
    for j in prange(out.shape[0]):
        for r in range(out.shape[1]):
            out[j, r] = dot(features[j], weights[r])


def score(features: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Scores of every document under every ranker, each by the same scalar code: Float32[documents, M].

    This is not a matrix product, which is not batch-invariant: identical documents could get different scores, and an
    evaluation would depend on which replicas share the batch.

    Args:
        features: Float32[documents, features]; weights: Float32[M, features].
    """
    out = np.empty((len(features), len(weights)), dtype=np.float32)
    _score(features.numpy(), weights.numpy(), out)
    return torch.from_numpy(out)
