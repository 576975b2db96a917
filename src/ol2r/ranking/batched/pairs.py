"""Pairwise learning from clicks, in torch: labelled pairs of examined documents, and RankNet's gradient."""

import torch
from jaxtyping import Bool, Float, Float32, Int64
from torch import Tensor

from ol2r.random import Stream, Streams
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.constants import discounts_on, ideal_on, numbers, slot_pairs


def beyond_last_click(kind: str, depth: int) -> int:
    """How many slots beyond the last click count as examined, for a kind of pairs (`compiled.pairs_from_clicks`)."""
    return {"above": 0, "shown": depth}.get(kind.partition("-")[2], 1)


def examined(ranking: torch.Tensor, clicks: torch.Tensor, beyond: int = 1) -> torch.Tensor:
    """Slots that the user is taken to have examined, Bool[R, k]: all up to so many beyond the last click, none without
    a click."""
    slot = numbers(ranking.shape[1] + 1 + beyond, ranking.device)
    shown = ranking >= 0
    end = (slot[1 + beyond :] * (clicks & shown)).amax(dim=1, keepdim=True)  # the first slot not examined, or 0
    return (slot[: ranking.shape[1]] < end) & shown


def pairs_from_clicks(
    ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"], kind: str, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R P 2"], Bool[Tensor, "R P"]]:
    """See `compiled.pairs_from_clicks`."""
    depth = ranking.shape[1]
    seen = examined(ranking, clicks, beyond_last_click(kind, depth))
    if kind.startswith("matched"):
        n = depth // 2
        words = streams.words(Stream.PAIRS, round_, depth)
        sides = torch.stack([seen & clicks, seen & ~clicks], dim=1)
        chosen = words[:, None].masked_fill(~sides, 1 << 32).argsort(dim=2, stable=True)[..., :n]
        slots = chosen.sort(dim=1).values.mT  # [R, pair, upper and lower]
        there = numbers(n, ranking.device) < sides.sum(dim=2).amin(dim=1, keepdim=True)
    else:
        n = depth // 2 if kind == "adjacent" else depth * depth // 4
        possible = slot_pairs(depth, kind == "adjacent", ranking.device)
        upper, lower = possible.unbind(dim=1)
        there = seen[:, upper] & seen[:, lower] & (clicks[:, upper] != clicks[:, lower])
        first = (~there).long().argsort(dim=1, stable=True)[:, :n]
        slots, there = possible[first], there.gather(1, first)
    pairs = ranking.gather(1, slots.flatten(1)).view_as(slots)
    return pairs.masked_fill(~there[..., None], -1), there & clicks.gather(1, slots[..., 0])


def pair_gradient(
    candidates: Candidates,
    weights: Float32[Tensor, "R d"],
    pairs: Int64[Tensor, "R P 2"],
    labels: Bool[Tensor, "R P"],
) -> Float32[Tensor, "R d"]:
    """See `compiled.pair_gradient`."""
    documents = candidates.starts[:, None, None] + pairs.clamp_min(0)
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


def delta_ndcg(
    ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"], pairs: Int64[Tensor, "R P 2"]
) -> Float32[Tensor, "R P"]:
    """|ΔNDCG| of LambdaRank (Burges, 2010) with clicks as grades: by how much NDCG changes when two shown documents, of
    which one was clicked, change places.

    Args:
        ranking: Int64[R, k]; clicks: Bool[R, k].
        pairs: Int64[R, P, 2], positions in the query's own list of shown documents, padded with −1.

    Returns:
        Float32[R, P], 0 where there is no pair. The cut is k, and the ideal list has all clicked documents on top.
    """
    depth, device = ranking.shape[1], ranking.device
    slots = (ranking[:, None, None] == pairs[..., None]).view(torch.uint8).argmax(dim=3)
    discount = discounts_on(depth, device)[slots]
    ideal = ideal_on(depth, device)[(clicks & (ranking >= 0)).sum(dim=1, keepdim=True)]
    change = (discount[..., 0] - discount[..., 1]).abs() / ideal
    return torch.where(pairs[..., 0] >= 0, change, 0.0).to(torch.float32)
