"""Pairwise learning from clicks, compiled: labelled pairs of examined documents, and RankNet's gradient."""

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel, part
from ol2r.random import Stream, Streams, word
from ol2r.ranking.batched.pairs import beyond_last_click
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.scalars import arrays, dot, fill

KINDS = ("matched", "adjacent", "all")


@part
def n_examined(ranking, clicks, beyond=1):
    """Number of slots that the user is taken to have examined: to so many slots beyond the last click, 0 without a
    click."""
    shown = 0
    while shown < ranking.shape[0] and ranking[shown] >= 0:
        shown += 1
    for i in range(shown - 1, -1, -1):
        if clicks[i]:
            return min(i + 1 + beyond, shown)
    return 0


@part
def _by_word(slots, n, words):
    """Put the first n slots in the order of their words."""
    for i in range(1, n):
        j = i
        while j > 0 and words[slots[j]] < words[slots[j - 1]]:
            slots[j], slots[j - 1] = slots[j - 1], slots[j]
            j -= 1


@part
def _matched(clicks, examined, key, round_, clicked, unclicked, words):
    """Clicked and unclicked slots, each in random order; returns how many pairs they make."""
    n_clicked, n_unclicked = 0, 0
    for i in range(examined):
        words[i] = word(key, Stream.PAIRS, round_, i)
        if clicks[i]:
            clicked[n_clicked] = i
            n_clicked += 1
        else:
            unclicked[n_unclicked] = i
            n_unclicked += 1
    _by_word(clicked, n_clicked, words)
    _by_word(unclicked, n_unclicked, words)
    return min(n_clicked, n_unclicked)


@kernel
def _pairs_from_clicks(ranking, clicks, kind, beyond, keys, round_, pairs, labels):
    depth = ranking.shape[1]
    one, other = np.empty(depth, dtype=np.int64), np.empty(depth, dtype=np.int64)
    words = np.empty(depth, dtype=np.uint32)
    for r in range(ranking.shape[0]):
        examined = n_examined(ranking[r], clicks[r], beyond)
        n = 0
        if kind == 0:
            n = _matched(clicks[r], examined, keys[r], round_, one, other, words)
            for i in range(n):
                upper, lower = min(one[i], other[i]), max(one[i], other[i])
                pairs[r, i, 0], pairs[r, i, 1] = ranking[r, upper], ranking[r, lower]
                labels[r, i] = clicks[r, upper]
        else:
            for upper in range(0, examined, 2 if kind == 1 else 1):
                for lower in range(upper + 1, min(upper + 2, examined) if kind == 1 else examined):
                    if clicks[r, upper] != clicks[r, lower]:
                        pairs[r, n, 0], pairs[r, n, 1] = ranking[r, upper], ranking[r, lower]
                        labels[r, n] = clicks[r, upper]
                        n += 1
        for i in range(n, pairs.shape[1]):
            pairs[r, i, 0], pairs[r, i, 1], labels[r, i] = -1, -1, False


def n_pairs(depth: int, kind: str) -> int:
    """The most pairs that a list of `depth` slots can give: P."""
    return depth * depth // 4 if kind == "all" else depth // 2


def pairs_from_clicks(
    ranking: torch.Tensor, clicks: torch.Tensor, kind: str, streams: Streams, round_: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Labelled pairs of a clicked and an unclicked document that the user is taken to have examined: all up to the last
    click and the one after it, unless the kind says otherwise. A list without a click gives no pair.

    Args:
        ranking: Int64[R, k], the lists shown, padded with −1; clicks: Bool[R, k].
        kind: which pairs: `"matched"`, the i-th clicked with the i-th unclicked document after shuffling both;
            `"adjacent"`, slots (1, 2), (3, 4), … of which one is clicked; `"all"`, each clicked with each unclicked;
            `"matched-above"` and `"matched-shown"`, as `"matched"`, but of the documents down to the last click, and of
            all that are shown.

    Returns:
        pairs Int64[R, P, 2], the document shown above and the one below, padded with −1; labels Bool[R, P], whether the
        upper one was clicked. P is ⌊k/2⌋, or ⌊k²/4⌋ for `"all"`. Except for `"all"`, no document is in two pairs.
    """
    p = n_pairs(ranking.shape[1], kind)
    pairs = np.empty((ranking.shape[0], p, 2), dtype=np.int64)
    labels = np.empty((ranking.shape[0], p), dtype=np.bool_)
    paired, beyond = KINDS.index(kind.partition("-")[0]), beyond_last_click(kind, ranking.shape[1])
    _pairs_from_clicks(ranking.numpy(), clicks.numpy(), paired, beyond, streams.keys, round_, pairs, labels)
    return torch.from_numpy(pairs), torch.from_numpy(labels)


@kernel
def _pair_gradient(features, offsets, query, weights, pairs, labels, out):
    for r in prange(out.shape[0]):
        fill(out[r], 0.0)
        first = offsets[query[r]]
        for i in range(pairs.shape[1]):
            if pairs[r, i, 0] < 0:
                continue
            a, b = features[first + pairs[r, i, 0]], features[first + pairs[r, i, 1]]
            gap = np.float64(dot(a, weights[r]) - dot(b, weights[r]))
            c = np.float32(labels[r, i] - 1.0 / (1.0 + np.exp(-gap)))
            for f in range(out.shape[1]):
                out[r, f] += c * (a[f] - b[f])


def pair_gradient(
    candidates: Candidates, weights: torch.Tensor, pairs: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """Gradient of RankNet's log-likelihood, Σ (y − σ(w · x_ij)) x_ij with x_ij = x_i − x_j: Float32[R, features].

    Args:
        weights: Float32[R, features].
        pairs: Int64[R, P, 2], positions in the query's own list, padded with −1; labels: Bool[R, P].
    """
    out = np.empty(weights.shape, dtype=np.float32)
    _pair_gradient(*arrays(candidates), weights.numpy(), pairs.numpy(), labels.numpy(), out)
    return torch.from_numpy(out)
