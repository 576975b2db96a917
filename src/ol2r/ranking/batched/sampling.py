"""Stochastic lists in torch: Plackett-Luce with the gradient of PDGD, and ε-greedy exploration."""

import torch
from jaxtyping import Bool, Float, Float32, Float64, Int64
from torch import Tensor

from ol2r.random import Stream, Streams
from ol2r.ranking.batched.lists import ordered
from ol2r.ranking.batched.pairs import examined
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.constants import listed, numbers


def plackett_luce(
    candidates: Candidates, weights: Float32[Tensor, "R d"], depth: int, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R {depth}"], Float64[Tensor, "R {depth}"], Float64[Tensor, " R"]]:
    """See `compiled.plackett_luce`."""
    return sample(candidates, torch.einsum("rvd,rd->rv", candidates.padded()[0], weights), depth, streams, round_)


def sample(
    candidates: Candidates, scores: Float[Tensor, "R V"], depth: int, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R {depth}"], Float64[Tensor, "R {depth}"], Float64[Tensor, " R"]]:
    """See `compiled.sample`."""
    present = numbers(scores.shape[1], scores.device) < candidates.sizes[:, None]
    score = scores.to(torch.float64)
    words = streams.words(Stream.SAMPLE, round_, score.shape[1])
    perturbed = score - torch.log(-torch.log((words.to(torch.float64) + 0.5) * 2.0**-32))
    order = ordered(perturbed[:, None], present[:, None], streams, round_)[:, 0]
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
    documents = candidates.starts[:, None] + ranking.clamp_min(0)
    return torch.einsum("rk,rkd->rd", coefficient.to(torch.float32), candidates.features[documents]), learned


def swap_coefficients(
    ranking: Int64[Tensor, "R k"],
    clicks: Bool[Tensor, "R k"],
    scores: Float64[Tensor, "R k"],
    rest: Float64[Tensor, " R"],
) -> tuple[Float64[Tensor, "R k"], Bool[Tensor, " R"]]:
    """See `compiled.swap_coefficients`."""
    slot = numbers(ranking.shape[1], ranking.device)
    t, lower, upper = slot[:, None, None], slot[:, None], slot  # the axes of the arrays below
    mass = torch.cat([scores, rest[:, None]], dim=1)
    here = numbers(len(slot) + 1, ranking.device)
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
    candidates: Candidates,
    lists: Int64[Tensor, "R k"],
    epsilon: Float32[Tensor, " R"],
    streams: Streams,
    round_: int,
) -> Int64[Tensor, "R k"]:
    """See `compiled.explore`."""
    depth, beyond = lists.shape[1], candidates.width  # the number after the last stands for no document
    sizes = candidates.sizes[:, None]
    slot = numbers(depth, lists.device)
    words = streams.words(Stream.EXPLORE, round_, 2 * depth)
    exploring = words[:, ::2] >> 8 < epsilon[:, None] * 2.0**24
    nth = (words[:, 1::2] * (sizes - slot) >> 32).T.contiguous()
    upto = torch.minimum(numbers(beyond + 1, lists.device)[1:], sizes)  # documents left, from the first to this
    shown = lists % (beyond + 1)  # −1 is beyond
    worth = listed((depth,), lists.device).expand(len(lists), beyond + 1)  # place among the best, more where taken
    worth = worth.scatter(1, shown, slot.expand_as(shown))
    out = []
    for i in range(depth):
        drawn = torch.searchsorted(upto, nth[i, :, None], right=True)
        out.append(torch.where(exploring[:, i, None], drawn, worth.argmin(dim=1, keepdim=True)))
        if i + 1 == depth:
            break
        worth.scatter_(1, out[-1], depth + 1)
        upto -= (numbers(beyond, lists.device) >= out[-1]).view(torch.uint8)
    return torch.cat(out, dim=1).masked_fill(slot >= sizes, -1)
