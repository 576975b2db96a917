"""Pairwise learning from clicks, in torch: labelled pairs of examined documents, and RankNet's gradient."""

import torch
from jaxtyping import Bool, Float, Float32, Int64
from torch import Tensor

from ol2r.random import Stream, Streams, words_torch
from ol2r.ranking.candidates import Candidates


def examined(ranking: torch.Tensor, clicks: torch.Tensor) -> torch.Tensor:
    """Slots that the user is taken to have examined, Bool[R, k]: all up to the slot after the last click, none without
    a click."""
    slot = torch.arange(ranking.shape[1], device=ranking.device)
    last = torch.where(clicks & (ranking >= 0), slot, -2).amax(dim=1, keepdim=True)
    return (slot <= last + 1) & (ranking >= 0)


def pairs_from_clicks(
    ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"], kind: str, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R P 2"], Bool[Tensor, "R P"]]:
    """See `compiled.pairs_from_clicks`."""
    depth = ranking.shape[1]
    seen = examined(ranking, clicks)
    sides = seen & clicks, seen & ~clicks
    if kind == "matched":
        n = depth // 2
        words = words_torch(streams.keys_torch, Stream.PAIRS, round_, depth)
        one, other = (torch.where(side, words, 1 << 32).argsort(dim=1, stable=True)[:, :n] for side in sides)
        upper, lower = torch.minimum(one, other), torch.maximum(one, other)
        most = torch.minimum(*(side.sum(dim=1, keepdim=True) for side in sides))
        there = torch.arange(n, device=ranking.device) < most
    else:
        n = depth // 2 if kind == "adjacent" else depth * depth // 4
        upper, lower = torch.triu_indices(depth, depth, 1, device=ranking.device)
        if kind == "adjacent":
            neighbours = (upper % 2 == 0) & (lower == upper + 1)
            upper, lower = upper[neighbours], lower[neighbours]
        there = seen[:, upper] & seen[:, lower] & (clicks[:, upper] != clicks[:, lower])
        first = (~there).long().argsort(dim=1, stable=True)[:, :n]
        upper, lower, there = upper[first], lower[first], there.gather(1, first)
    pairs = torch.stack([ranking.gather(1, upper), ranking.gather(1, lower)], dim=2)
    return torch.where(there[..., None], pairs, -1), there & clicks.gather(1, upper)


def pair_gradient(
    candidates: Candidates,
    weights: Float32[Tensor, "R d"],
    pairs: Int64[Tensor, "R P 2"],
    labels: Bool[Tensor, "R P"],
) -> Float32[Tensor, "R d"]:
    """See `compiled.pair_gradient`."""
    documents = candidates.offsets[candidates.query][:, None, None] + pairs.clamp_min(0)
    x = candidates.features[documents]
    scores = torch.einsum("rpid,rd->rpi", x, weights)
    return torch.einsum("rp,rpd->rd", _missing(scores, pairs, labels), x[:, :, 0] - x[:, :, 1])


def pair_coefficients(
    scores: Float[Tensor, "R V"], pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]
) -> Float[Tensor, "R V"]:
    """Coefficient c_d of each document in the gradient Σ_d c_d ∇s_d of RankNet's log-likelihood: the sum of
    y − σ(s_i − s_j) over the pairs in which d comes first, less the same sum over those in which it comes second.

    Args:
        scores: s, Float[R, V].
        pairs: Int64[R, P, 2], positions in the query's own list, padded with −1; labels: Bool[R, P].

    Returns:
        c, Float[R, V], 0 for documents that are in no pair.
    """
    first, second = pairs.clamp_min(0).unbind(dim=2)
    missing = _missing(torch.stack([scores.gather(1, first), scores.gather(1, second)], dim=2), pairs, labels)
    return torch.zeros_like(scores).scatter_add(1, first, missing).scatter_add(1, second, -missing)


def _missing(scores: torch.Tensor, pairs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """y − σ(s_i − s_j) of scores Float[R, P, 2], 0 where there is no pair: Float[R, P]."""
    missing = labels.to(scores.dtype) - torch.sigmoid(scores[..., 0] - scores[..., 1])
    return torch.where(pairs[..., 0] >= 0, missing, 0.0)
