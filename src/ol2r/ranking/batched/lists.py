"""Lists of linear rankers, interleaving, null spaces and scores, in torch."""

import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from ol2r.random import Stream, Streams, words_torch
from ol2r.ranking.candidates import Candidates

_QUIET = 1e-6


def ordered(scores: torch.Tensor, present: torch.Tensor, streams: Streams, round_: int, salts: torch.Tensor):
    """Documents from best to worst; word salt + j of the stream of ties places document j in a tie; absent ones last.

    Args:
        scores: Float[R, M, V], single or double; present: Bool[R, 1, V]; salts: Int64[R, M].

    Returns:
        Int64[R, M, V], positions in the query's own list.
    """
    n_words = int(salts.max()) + scores.shape[2]
    index = salts[:, :, None] + torch.arange(scores.shape[2], device=scores.device)
    words = words_torch(streams.keys_torch, Stream.TIES, round_, n_words)
    tie = words[:, None, :].expand(-1, scores.shape[1], -1).gather(2, index)
    by_word = tie.argsort(dim=2, stable=True)
    masked = torch.where(present, scores, -torch.inf).gather(2, by_word)
    return by_word.gather(2, masked.argsort(dim=2, descending=True, stable=True))


def rank(
    candidates: Candidates, weights: Float32[Tensor, "R M d"], depth: int, streams: Streams, round_: int
) -> Int64[Tensor, "R M {depth}"]:
    """See `compiled.rank`."""
    return best(candidates, torch.einsum("rvd,rmd->rmv", candidates.padded()[0], weights), depth, streams, round_)


def best(
    candidates: Candidates, scores: Float[Tensor, "R M V"], depth: int, streams: Streams, round_: int
) -> Int64[Tensor, "R M {depth}"]:
    """The best documents under the scores of each of M rankers, ordered as by `rank`: Int64[R, M, depth].

    Args:
        scores: Float[R, M, V], at least as wide as the longest list; entries beyond a list are not read.
    """
    present = torch.arange(scores.shape[2], device=scores.device) < candidates.sizes[:, None]
    salts = candidates.sizes[:, None] * torch.arange(scores.shape[1], device=scores.device)
    order = ordered(scores, present[:, None], streams, round_, salts)
    places = torch.arange(depth, device=scores.device)
    if order.shape[2] < depth:
        order = torch.nn.functional.pad(order, (0, depth - order.shape[2]))
    return torch.where(places < candidates.sizes[:, None, None], order[..., :depth], -1)


def team_draft(
    lists: Int64[Tensor, "R M k"], first: Int64[Tensor, " R"], prefix_credit: bool, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R k"], Int64[Tensor, "R k"]]:
    """See `compiled.team_draft`."""
    replicas, rankers, depth = lists.shape
    device = lists.device
    length = (lists[:, 0] >= 0).sum(dim=1)
    placed = torch.zeros(replicas, dtype=torch.int64, device=device)
    ranking = torch.full((replicas, depth), -1, dtype=torch.int64, device=device)
    team = torch.full_like(ranking, -1)
    if not prefix_credit:
        same = (lists == lists[:, :1]).all(dim=1) & (lists[:, 0] >= 0)
        placed = same.long().cumprod(dim=1).sum(dim=1)
        shared = torch.arange(depth, device=device) < placed[:, None]
        ranking = torch.where(shared, lists[:, 0], ranking)
    turns = depth  # every turn places at least one document
    words = words_torch(streams.keys_torch, Stream.INTERLEAVE, round_, turns * rankers)
    everyone = torch.arange(replicas, device=device)
    for number in range(turns):
        order = torch.arange(rankers, device=device).repeat(replicas, 1)
        for m in range(rankers - 1, 0, -1):
            other = words[:, number * rankers + m] * (m + 1) >> 32
            swapped = order.gather(1, other[:, None])[:, 0]
            order[everyone, other] = order[:, m].clone()
            order[:, m] = swapped
        favoured = order == first[:, None]
        order = order.gather(1, (~favoured).long().argsort(dim=1, stable=True))
        for turn in range(rankers):
            drafter = order[:, turn]
            own = lists[everyone, drafter]
            taken = (own[:, :, None] == ranking[:, None, :]).any(dim=2) | (own < 0)
            choice = own[everyone, taken.long().argmin(dim=1)]
            open_ = placed < length
            slot = placed.clamp_max(depth - 1)
            ranking[everyone, slot] = torch.where(open_, choice, ranking[everyone, slot])
            team[everyone, slot] = torch.where(open_, drafter, team[everyone, slot])
            placed = placed + open_.long()
    return ranking, team


def _softened(candidates, queries, weights, decay, streams, round_, first_salt):
    """Place of each padded document in each ranking, Int64[R, M, V], and 1 / position^τ by place, Float64[R, M, V]."""
    features, present = candidates.padded(queries)
    scores = torch.einsum("rvd,rmd->rmv", features, weights)
    sizes = candidates.offsets[queries + 1] - candidates.offsets[queries]
    salts = sizes[:, None] * (first_salt + torch.arange(weights.shape[1], device=weights.device))
    position = ordered(scores, present[:, None], streams, round_, salts).argsort(dim=2)
    mass = 1.0 / torch.arange(1, scores.shape[2] + 1, device=weights.device, dtype=torch.float64) ** decay
    return position, torch.where(present[:, None], mass, 0.0).expand_as(scores)


def probabilistic_interleave(
    candidates: Candidates, weights: torch.Tensor, depth: int, decay: float, streams: Streams, round_: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """See `compiled.probabilistic_interleave`."""
    position, left = _softened(candidates, candidates.query, weights, decay, streams, round_, 0)
    replicas, _, width = left.shape
    words = words_torch(streams.keys_torch, Stream.INTERLEAVE, round_, 2 * depth)
    everyone = torch.arange(replicas, device=left.device)
    ranking = torch.full((replicas, depth), -1, dtype=torch.int64, device=left.device)
    share = torch.full((replicas, depth), 0.5, dtype=torch.float64, device=left.device)
    log_probability = torch.zeros(replicas, dtype=torch.float64, device=left.device)
    for i in range(min(depth, width)):
        shown = i < candidates.sizes
        total = left.sum(dim=2)
        coin = words[:, 2 * i] * 2 >> 32
        own = left[everyone, coin].gather(1, position[everyone, coin])
        level = (words[:, 2 * i + 1] >> 8).to(torch.float64) * 2.0**-24 * total[everyone, coin]
        chosen = (own.cumsum(dim=1) <= level[:, None]).sum(dim=1).clamp_max(width - 1)
        place = position[everyone, :, chosen][..., None]
        p = left.gather(2, place)[..., 0] / total.clamp_min(1e-300)
        ranking[:, i] = torch.where(shown, chosen, -1)
        share[:, i] = torch.where(shown, p[:, 1] / p.sum(dim=1).clamp_min(1e-300), 0.5)
        log_probability += torch.where(shown, torch.log((0.5 * p.sum(dim=1)).clamp_min(1e-300)), 0.0)
        left = left.scatter(2, place, 0.0)
    return ranking, share, log_probability


def replayed_probabilities(
    candidates: Candidates,
    queries: torch.Tensor,
    lists: torch.Tensor,
    weights: torch.Tensor,
    decay: float,
    streams: Streams,
    round_: int,
) -> torch.Tensor:
    """See `compiled.replayed_probabilities`."""
    replicas, items, depth = lists.shape
    rankers = weights.shape[1]
    out = torch.ones((replicas, rankers, items, depth), dtype=torch.float64, device=weights.device)
    for h in range(items):
        query, held = queries[:, h].clamp_min(0), queries[:, h] >= 0
        position, left = _softened(candidates, query, weights, decay, streams, round_, h * rankers + 2)
        for i in range(depth):
            document = lists[:, h, i]
            shown = (held & (document >= 0))[:, None]
            place = position.gather(2, document.clamp_min(0)[:, None, None].expand(-1, rankers, 1))
            mass = left.gather(2, place)
            out[:, :, h, i] = torch.where(shown, mass[..., 0] / left.sum(dim=2).clamp_min(1e-300), 1.0)
            left = left.scatter(2, place, torch.where(shown[..., None], 0.0, mass))
    return out


def unit_vectors(streams: Streams, stream: Stream, round_: int, n: int, n_features: int) -> torch.Tensor:
    """See `compiled.unit_vectors`."""
    width = 4 * ((n_features + 3) // 4)
    drawn = streams.gaussians(stream, round_, n * width).view(len(streams), n, width)[..., :n_features]
    return drawn / drawn.norm(dim=2, keepdim=True)


def reflectors(vectors: torch.Tensor, used: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """See `compiled.reflectors`."""
    replicas, count, d = vectors.shape
    out = torch.zeros_like(vectors)
    rank_ = torch.zeros(replicas, dtype=torch.int64, device=vectors.device)
    axis = torch.arange(d, device=vectors.device)
    for i in range(count):
        residual = vectors[:, i]
        for j in range(i):
            residual = residual - 2.0 * (out[:, j] * residual).sum(dim=1, keepdim=True) * out[:, j]
        residual = torch.where(axis >= rank_[:, None], residual, 0.0)
        rest = residual.norm(dim=1)
        new = used[:, i] & (rank_ < d) & (rest > _QUIET * vectors[:, i].norm(dim=1))
        pivot = rank_.clamp_max(d - 1)[:, None]
        at_pivot = residual.gather(1, pivot)[:, 0]
        v = residual.scatter_add(1, pivot, torch.where(at_pivot >= 0, rest, -rest)[:, None])
        out[:, i] = torch.where(new[:, None], v / v.norm(dim=1, keepdim=True).clamp_min(1e-30), 0.0)
        rank_ = rank_ + new.long()
    return out, rank_


def reflect(v: torch.Tensor, coordinates: torch.Tensor) -> torch.Tensor:
    """See `compiled.reflect`."""
    out = coordinates
    for j in range(v.shape[1] - 1, -1, -1):
        out = out - 2.0 * torch.einsum("rmd,rd->rm", out, v[:, j])[..., None] * v[:, j, None]
    return out


def clicks_score(
    candidates: Candidates,
    queries: torch.Tensor,
    lists: torch.Tensor,
    clicks: torch.Tensor,
    weights: torch.Tensor,
    tied: torch.Tensor,
    measure: str,
) -> torch.Tensor:
    """See `compiled.clicks_score`."""
    depth = lists.shape[2]
    discount = 1.0 / torch.log2(torch.arange(2, depth + 2, device=weights.device, dtype=torch.float64))
    out = torch.zeros(tied.shape, dtype=torch.float64, device=weights.device)
    for h in range(lists.shape[1]):
        features, present = candidates.padded(queries[:, h].clamp_min(0))
        scores = torch.einsum("rvd,rmd->rmv", features, weights).masked_fill(~present[:, None], -torch.inf)
        shown = torch.where(queries[:, h, None] >= 0, lists[:, h], -1)  # entries of an empty place may be out of range
        document = shown.clamp_min(0)[:, None].expand(-1, tied.shape[1], -1)
        own = scores.gather(2, document)[..., None]
        before = torch.arange(scores.shape[2], device=weights.device) < document[..., None]
        ahead = (scores[:, :, None] > own) | ((scores[:, :, None] == own) & before)
        place = ahead.sum(dim=3)
        count = clicks[:, h].sum(dim=1)
        if measure == "ndcg":
            gain = torch.where(place < depth, discount[place.clamp_max(depth - 1)], 0.0) * clicks[:, h, None]
            ideal = torch.cat([discount.new_zeros(1), discount.cumsum(0)])[count]
        else:
            gain = clicks[:, h, None] / (place + 1).to(torch.float64)
            ideal = torch.ones_like(discount[:1]).expand(len(count))
        valid = (queries[:, h] >= 0) & (count > 0)
        out += torch.where(valid[:, None], gain.sum(dim=2) / ideal.clamp_min(1e-12)[:, None], 0.0)
    return torch.where(tied & (tied.sum(dim=1) > 1)[:, None], out, 0.0)


def score(features: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """See `compiled.score`; here one product."""
    return features @ weights.T
