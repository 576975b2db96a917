"""Stochastic lists in torch: Plackett-Luce with the gradient of PDGD, and ε-greedy exploration."""

import torch
from jaxtyping import Bool, Float, Float32, Float64, Int64
from torch import Tensor

from ol2r.random import Stream, Streams, words_torch
from ol2r.ranking.batched.lists import ordered
from ol2r.ranking.batched.pairs import examined
from ol2r.ranking.candidates import Candidates


def plackett_luce(
    candidates: Candidates, weights: Float32[Tensor, "R d"], depth: int, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R {depth}"], Float64[Tensor, "R {depth}"], Float64[Tensor, " R"]]:
    """See `compiled.plackett_luce`."""
    return sample(candidates, torch.einsum("rvd,rd->rv", candidates.padded()[0], weights), depth, streams, round_)


def sample(
    candidates: Candidates, scores: Float[Tensor, "R V"], depth: int, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R {depth}"], Float64[Tensor, "R {depth}"], Float64[Tensor, " R"]]:
    """A list drawn without replacement from p(d) ∝ e^{s_d}, as `plackett_luce` draws it for linear scores.

    Args:
        scores: s, Float[R, V], at least as wide as the longest list; entries beyond a list are not read.

    Returns:
        See `compiled.plackett_luce`.
    """
    present = torch.arange(scores.shape[1], device=scores.device) < candidates.sizes[:, None]
    score = scores.to(torch.float64)
    words = words_torch(streams.keys_torch, Stream.SAMPLE, round_, score.shape[1])
    perturbed = score - torch.log(-torch.log((words.to(torch.float64) + 0.5) * 2.0**-32))
    salts = torch.zeros_like(candidates.query)[:, None]
    order = ordered(perturbed[:, None], present[:, None], streams, round_, salts)[:, 0]
    score = torch.where(present, score, -torch.inf).gather(1, order)
    order = torch.where(present.gather(1, order), order, -1)
    rest = score[:, depth:].logsumexp(dim=1)
    beyond = (0, max(0, depth - order.shape[1]))
    ranking = torch.nn.functional.pad(order[:, :depth], beyond, value=-1)
    return ranking, torch.nn.functional.pad(score[:, :depth], beyond, value=-torch.inf), rest


def plackett_luce_gradient(
    candidates: Candidates,
    ranking: Int64[Tensor, "R k"],
    clicks: Bool[Tensor, "R k"],
    scores: Float64[Tensor, "R k"],
    rest: Float64[Tensor, " R"],
) -> tuple[Float32[Tensor, "R d"], Bool[Tensor, " R"]]:
    """See `compiled.plackett_luce_gradient`."""
    coefficient, learned = swap_coefficients(ranking, clicks, scores, rest)
    documents = candidates.offsets[candidates.query][:, None] + ranking.clamp_min(0)
    return torch.einsum("rk,rkd->rd", coefficient.to(torch.float32), candidates.features[documents]), learned


def swap_coefficients(
    ranking: Int64[Tensor, "R k"],
    clicks: Bool[Tensor, "R k"],
    scores: Float64[Tensor, "R k"],
    rest: Float64[Tensor, " R"],
) -> tuple[Float64[Tensor, "R k"], Bool[Tensor, " R"]]:
    """Coefficient c_d of each shown document in PDGD's gradient Σ_d c_d ∇s_d (see `compiled.plackett_luce_gradient`).

    Args:
        ranking: Int64[R, k], scores: Float64[R, k] and rest: Float64[R], from `sample` or `plackett_luce`.
        clicks: Bool[R, k].

    Returns:
        c, Float64[R, k], 0 beyond the list; and whether there was a pair to learn from, Bool[R].
    """
    slot = torch.arange(ranking.shape[1], device=ranking.device)
    t, lower, upper = slot[:, None, None], slot[:, None], slot  # the axes of the arrays below
    mass = torch.cat([scores, rest[:, None]], dim=1)
    here = torch.arange(len(slot) + 1, device=ranking.device)
    after = here >= slot[:, None]  # [t, slot]: still to be placed at t
    left = torch.where(after, mass[:, None], -torch.inf).logsumexp(dim=2)
    others = after[:, None] & (here != lower)  # [t, lower, slot]
    without = torch.where(others, mass[:, None, None], -torch.inf).logsumexp(dim=3)
    change = left[:, :, None, None] - torch.logaddexp(without[..., None], scores[:, None, None])
    log_ratio = torch.where((upper < t) & (t <= lower), change, 0.0).sum(dim=1)  # [R, lower, upper]

    seen = examined(ranking, clicks)
    pair = seen[:, :, None] & seen[:, None] & (clicks[:, :, None] != clicks[:, None]) & (upper < lower)
    gap = torch.where(pair, scores[:, None] - scores[:, :, None], 0.0)
    e = torch.exp(-gap.abs())
    sign = torch.where(clicks[:, None], 1.0, -1.0)
    weight = torch.where(pair, torch.sigmoid(log_ratio) * e / (1.0 + e) ** 2 * sign, 0.0)
    return weight.sum(dim=1) - weight.sum(dim=2), pair.any(dim=2).any(dim=1)


def explore(
    lists: Int64[Tensor, "R k"],
    sizes: Int64[Tensor, " R"],
    epsilon: Float32[Tensor, " R"],
    streams: Streams,
    round_: int,
) -> Int64[Tensor, "R k"]:
    """See `compiled.explore`."""
    depth = lists.shape[1]
    everyone = torch.arange(len(lists), device=lists.device)
    left = torch.arange(int(sizes.max()), device=lists.device) < sizes[:, None]
    words = words_torch(streams.keys_torch, Stream.EXPLORE, round_, 2 * depth)
    exploring = (words[:, ::2] >> 8).to(torch.float32) * 2.0**-24 < epsilon[:, None]
    out = torch.full_like(lists, -1)
    for i in range(min(depth, left.shape[1])):
        nth = words[:, 2 * i + 1] * (sizes - i).clamp_min(0) >> 32
        drawn = (left & (left.long().cumsum(dim=1) - 1 == nth[:, None])).long().argmax(dim=1)
        available = (lists >= 0) & left.gather(1, lists.clamp_min(0))
        best = lists.gather(1, available.long().argmax(dim=1, keepdim=True))[:, 0]
        document = torch.where(exploring[:, i], drawn, best)
        out[:, i] = torch.where(i < sizes, document, -1)
        left[everyone, document.clamp_min(0)] = False
    return out
