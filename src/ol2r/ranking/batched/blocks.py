"""Lists from certain orders in torch, given as whole matrices; all replicas move in step."""

import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from ol2r.random import Stream, Streams
from ol2r.ranking.batched.lists import ordered
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.constants import listed, numbers
from ol2r.ranking.covariance import gram
from ol2r.ranking.orders import DECIMALS, interval_orders, unanimous_orders


def block_ends(uncertain: torch.Tensor) -> torch.Tensor:
    """Where blocks of documents end, in a list sorted by score.

    Args:
        uncertain: Bool[..., V, V], whether the order of two places is uncertain; read above the diagonal only.

    Returns:
        Bool[..., V]: true at place p when no uncertain pair has one document up to p and the other after it.
    """
    place = numbers(uncertain.shape[-1], uncertain.device)
    furthest = torch.where(uncertain, place, -1).amax(dim=-1)
    return furthest.cummax(dim=-1).values <= place


def arrange(
    candidates: Candidates,
    scores: Float[Tensor, "R V"],
    certain: Bool[Tensor, "R V V"],
    conservative: bool,
    depth: int,
    ranks: tuple[int, ...],
    streams: Streams,
    round_: int,
) -> tuple[Int64[Tensor, "R {depth}"], Int64[Tensor, " R"], Int64[Tensor, "R {len(ranks)}"]]:
    """See `compiled.arrange`."""
    present = numbers(scores.shape[1], scores.device) < candidates.sizes[:, None]
    order = ordered(scores[:, None], present[:, None], streams, round_)[:, 0]
    present = present.gather(1, order)
    both = present[:, :, None] & present[:, None]
    certain = certain.gather(1, order[:, :, None].expand_as(certain)).gather(2, order[:, None].expand_as(certain))
    certain = certain.triu(1) & both

    ends = block_ends(~certain & both) & present
    block = (ends.cumsum(dim=1) - ends.view(torch.uint8)).masked_fill(~present, ends.shape[1])
    size = (block[:, :, None] == block[:, None]).sum(dim=2) * present

    if conservative:
        place = _topological(block, certain & (block[:, :, None] == block[:, None]), present, depth, streams, round_)
    else:
        words = streams.words(Stream.SHUFFLE, round_, order.shape[1]).gather(1, order)
        by_word = words.argsort(dim=1, stable=True)
        place = by_word.gather(1, block.gather(1, by_word).argsort(dim=1, stable=True))
    place = place[:, :depth]
    shown = numbers(place.shape[1], place.device) < candidates.sizes[:, None]
    ranking = torch.where(shown, order.gather(1, place), -1)
    ranking = torch.nn.functional.pad(ranking, (0, depth - ranking.shape[1]), value=-1)

    wanted = listed(ranks, order.device) - 1
    inside = wanted < candidates.sizes[:, None]
    sizes = torch.where(inside, size.gather(1, torch.where(inside, wanted, 0)), 0)
    return ranking, ends.sum(dim=1), sizes


def certain_shown(
    ranking: Int64[Tensor, "R k"], certain: Bool[Tensor, "R V V"]
) -> tuple[Int64[Tensor, " R"], Int64[Tensor, " R"]]:
    """See `compiled.certain_shown`."""
    shown = ranking >= 0
    rows = ranking.clamp_min(0)
    among = certain.gather(1, rows[..., None].expand(-1, -1, certain.shape[2]))
    among = among.gather(2, rows[:, None].expand(-1, rows.shape[1], -1))
    n = shown.sum(dim=1)
    return (among & shown[:, :, None] & shown[:, None]).sum(dim=(1, 2)), n * (n - 1) // 2


def divide_and_conquer(
    candidates: Candidates,
    theta: Float64[Tensor, "R d"],
    inverse: Float64[Tensor, "R rows d"],
    width: Float64[Tensor, " R"],
    conservative: bool,
    depth: int,
    ranks: tuple[int, ...],
    streams: Streams,
    round_: int,
) -> tuple[Int64[Tensor, "R {depth}"], Int64[Tensor, " R"], Int64[Tensor, "R {len(ranks)}"]]:
    """See `compiled.divide_and_conquer`."""
    x = candidates.padded()[0].to(torch.float64)
    scores = torch.einsum("rvd,rd->rv", x, theta)
    certain = interval_orders(scores, gram(x, inverse), width)
    return arrange(candidates, scores, certain, conservative, depth, ranks, streams, round_)


def list_by_unanimity(
    candidates: Candidates,
    theta: Float64[Tensor, "R N d"],
    depth: int,
    ranks: tuple[int, ...],
    streams: Streams,
    round_: int,
) -> tuple[Int64[Tensor, "R {depth}"], Int64[Tensor, " R"], Int64[Tensor, "R {len(ranks)}"]]:
    """See `compiled.list_by_unanimity`."""
    scores = torch.einsum("rvd,rnd->rnv", candidates.padded()[0].to(torch.float64), theta).round(decimals=DECIMALS)
    return arrange(candidates, scores[:, 0], unanimous_orders(scores), True, depth, ranks, streams, round_)


def exchange_neighbours(
    candidates: Candidates,
    theta: Float64[Tensor, "R d"],
    inverse: Float64[Tensor, "R rows d"],
    width: Float64[Tensor, " R"],
    depth: int,
    streams: Streams,
    round_: int,
) -> Int64[Tensor, "R {depth}"]:
    """See `compiled.exchange_neighbours`."""
    x, present = candidates.padded()
    x = x.to(torch.float64)
    better = interval_orders(torch.einsum("rvd,rd->rv", x, theta), gram(x, inverse), width) & present[:, :, None]
    place = torch.zeros_like(present, dtype=torch.int64)
    for i in range(1, place.shape[1]):  # document i stops under the lowest one that is not certainly worse
        above = place[:, :i]
        at = torch.where(better[:, i, :i], -1, above).amax(dim=1, keepdim=True) + 1
        place = torch.cat([above + (above >= at), at, place[:, i + 1 :]], dim=1)
    order = torch.nn.functional.pad(place.argsort(dim=1), (0, max(0, depth - place.shape[1])))[:, :depth]

    slot, shown = numbers(depth, order.device), candidates.sizes[:, None]
    coin = streams.words(Stream.SHUFFLE, round_, depth + 1) >> 31
    below = order.roll(-1, 1)[..., None]
    certain = better.gather(1, order[:, :, None].expand(-1, -1, better.shape[2])).gather(2, below)
    paired = (slot >= coin[:, depth:]) & ((slot - coin[:, depth:]) % 2 == 0) & (slot + 1 < shown.clamp_max(depth))
    down = paired & (coin[:, :depth] == 1) & ~certain[..., 0]
    up = down.roll(1, 1)  # the last slot is never the upper one of a pair
    return torch.where(slot < shown, order.gather(1, slot + down.to(torch.int64) - up.to(torch.int64)), -1)


def _topological(block, certain, present, depth, streams, round_):
    """Places, in sorted order, that fill the slots: Int64[R, depth]. Each slot goes to a random document of its block
    among those with no certain superior left in the block."""
    # documents of earlier blocks are superiors as well, so that a block has to be empty before the next one is open
    above = (certain | (block[:, :, None] < block[:, None])) & present[:, :, None] & present[:, None]
    taken = torch.iinfo(torch.int64).max // 2
    superiors = above.sum(dim=1).masked_fill(~present, taken)
    words = streams.words(Stream.SHUFFLE, round_, depth)
    chosen = []
    for slot in range(depth):
        free = (superiors == 0).cumsum(dim=1)
        nth = words[:, slot, None] * free[:, -1:] >> 32
        chosen.append(torch.searchsorted(free, nth, right=True).clamp_max(block.shape[1] - 1))
        if slot + 1 < depth:
            superiors = superiors - above.gather(1, chosen[-1][..., None].expand(-1, 1, block.shape[1]))[:, 0].view(
                torch.uint8
            )
            superiors.scatter_(1, chosen[-1], taken)
    return torch.cat(chosen, dim=1)
