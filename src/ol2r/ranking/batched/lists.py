"""Lists of linear rankers, interleaving, null spaces and scores, in torch."""

import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from ol2r.random import Stream, Streams
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.constants import discounts_on, ideal_on, listed, numbers, pivot_masks

_QUIET = 1e-6


def ordered(
    scores: torch.Tensor,
    present: torch.Tensor,
    streams: Streams,
    round_: int,
    salts: torch.Tensor | None = None,
    most_salt: int = 0,
) -> torch.Tensor:
    """Documents from best to worst; word salt + j of the stream of ties places document j in a tie; absent ones last.

    Args:
        scores: Float[R, M, V], single or double; present: Bool[R, 1, V].
        salts: Int64[R, M], none above `most_salt`; None where all are 0.

    Returns:
        Int64[R, M, V], positions in the query's own list.
    """
    tie = streams.words(Stream.TIES, round_, most_salt + scores.shape[2])[:, None].expand(-1, scores.shape[1], -1)
    if salts is not None:
        tie = tie.gather(2, salts[:, :, None] + numbers(scores.shape[2], scores.device))
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
    present = numbers(scores.shape[2], scores.device) < candidates.sizes[:, None]
    salts = candidates.sizes[:, None] * numbers(scores.shape[1], scores.device) if scores.shape[1] > 1 else None
    order = ordered(scores, present[:, None], streams, round_, salts, scores[0, 1:].numel())
    places = numbers(depth, scores.device)
    if order.shape[2] < depth:
        order = torch.nn.functional.pad(order, (0, depth - order.shape[2]))
    return order[..., :depth].masked_fill(places >= candidates.sizes[:, None, None], -1)


def _shuffled(words: torch.Tensor) -> torch.Tensor:
    """The numbers 0 … M − 1 in random order, by the words 1 … M − 1 of each row: Int64[..., M]."""
    n = words.shape[-1]
    number = numbers(n, words.device)
    other = words * (number + 1) >> 32
    order = number.expand(words.shape).clone()
    for m in range(n - 1, 0, -1):
        place = other[..., m, None]
        last, chosen = order[..., m, None].clone(), order.gather(-1, place)
        order.scatter_(-1, place, last)
        order[..., m, None] = chosen
    return order


def team_draft(
    lists: Int64[Tensor, "R M k"], first: Int64[Tensor, " R"], prefix_credit: bool, streams: Streams, round_: int
) -> tuple[Int64[Tensor, "R k"], Int64[Tensor, "R k"]]:
    """See `compiled.team_draft`."""
    replicas, rankers, depth = lists.shape
    slot = numbers(depth, lists.device)
    there = lists >= 0
    placed = torch.zeros(replicas, 1, dtype=torch.int64, device=lists.device)  # of the prefix that all lists share
    if not prefix_credit:
        same = (lists == lists[:, :1]).all(dim=1) & there[:, 0]
        placed = same.long().cumprod(dim=1).sum(dim=1, keepdim=True)

    turns = -(-depth // rankers)
    words = streams.words(Stream.INTERLEAVE, round_, turns * rankers).unflatten(1, (turns, rankers))
    order = _shuffled(words)
    favoured = order == first[:, None, None]
    drafters = order.gather(2, (~favoured).long().argsort(dim=2, stable=True)).flatten(1)[:, :depth]

    left = (there & (slot >= placed)[:, None]).long()  # documents of each list that nobody has drafted
    picks = []
    for number in range(depth):  # each drafter takes the best that is left in its list
        drafter = drafters[:, number, None, None].expand(-1, 1, depth)
        best = left.gather(1, drafter).argmax(dim=2)[..., None]
        pick = lists.gather(1, drafter).gather(2, best)[:, 0]
        left *= lists != pick[..., None]
        picks.append(pick)

    nth = slot - placed
    drafted = (nth >= 0) & there[:, 0]
    nth = nth.clamp_min(0)
    ranking = torch.where(drafted, torch.cat(picks, dim=1).gather(1, nth), lists[:, 0])
    return ranking, torch.where(drafted, drafters.gather(1, nth), -1)


def multileave(
    candidates: Candidates,
    weights: Float32[Tensor, "R M d"],
    depth: int,
    first: Int64[Tensor, " R"],
    prefix_credit: bool,
    streams: Streams,
    round_: int,
) -> tuple[Int64[Tensor, "R {depth}"], Int64[Tensor, "R {depth}"]]:
    """See `compiled.multileave`."""
    return team_draft(rank(candidates, weights, depth, streams, round_), first, prefix_credit, streams, round_)


def _softened(candidates, queries, weights, decay, streams, round_, first_salts):
    """Mass 1 / position^τ of each padded document in each ranking, 0 where there is none, and its sum.

    Args:
        queries: Int64[R, H]; first_salts: of each of the H, by which their ties are told apart.

    Returns:
        Float64[R, H, M, V], and Float64[R, H], added up in order of place: rankings that put the same documents on the
        same places have chances of equal bits, and a tie is a tie.
    """
    features, present = candidates.padded(queries)
    scores = torch.einsum("rhvd,rmd->rhmv", features, weights)
    rankers, width = scores.shape[2:]
    sizes = candidates.offsets[queries + 1] - candidates.offsets[queries]
    numbered = tuple(first + m for first in first_salts for m in range(rankers))
    salts = sizes[..., None] * listed(numbered, weights.device).view(len(first_salts), rankers)
    flat = scores.flatten(1, 2), present[:, :, None].expand_as(scores).flatten(1, 2), streams, round_, salts.flatten(1)
    position = ordered(*flat, width * (max(first_salts) + rankers - 1)).argsort(dim=2).view_as(scores)
    mass = 1.0 / torch.arange(1, width + 1, device=weights.device, dtype=torch.float64) ** decay
    return torch.where(present[:, :, None], mass[position], 0.0), mass.cumsum(0)[sizes - 1]


def _chances(mass: torch.Tensor, total: torch.Tensor, lists: torch.Tensor, shown: torch.Tensor) -> torch.Tensor:
    """Probability of each document of a list given those above it, 1 where nothing is shown: Float64[R, H, M, k].

    Args:
        mass: Float64[R, H, M, V]; total: Float64[R, H]; lists: Int64[R, H, k]; shown: Bool[R, H, k].
    """
    documents = lists.clamp_min(0)[:, :, None].expand(-1, -1, mass.shape[2], -1)
    own = mass.gather(3, documents) * shown[:, :, None]
    left = total[..., None, None] - (own.cumsum(dim=3) - own)
    return torch.where(shown[:, :, None], own / torch.maximum(left, own).clamp_min(1e-300), 1.0)


def probabilistic_interleave(
    candidates: Candidates, weights: torch.Tensor, depth: int, decay: float, streams: Streams, round_: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """See `compiled.probabilistic_interleave`."""
    mass, total = _softened(candidates, candidates.query[:, None], weights, decay, streams, round_, [0])
    width = mass.shape[3]
    words = streams.words(Stream.INTERLEAVE, round_, 2 * depth)
    coins, levels = words[:, ::2] * 2 >> 32, (words[:, 1::2] >> 8).to(torch.float64) * 2.0**-24
    shown = numbers(depth, mass.device) < candidates.sizes[:, None]
    left, chosen = mass[:, 0], []
    for i in range(min(depth, width)):
        own = left.gather(1, coins[:, i, None, None].expand(-1, 1, width))[:, 0].cumsum(dim=1)
        document = (own <= levels[:, i, None] * own[:, -1:]).sum(dim=1, keepdim=True).clamp_max(width - 1)
        left = left.scatter(2, document[..., None].expand(-1, 2, 1), 0.0)
        chosen.append(document)
    ranking = torch.nn.functional.pad(torch.cat(chosen, dim=1), (0, max(0, depth - width)))
    p = _chances(mass, total, ranking[:, None], shown[:, None])[:, 0]
    return torch.where(shown, ranking, -1), p[:, 1] / p.sum(dim=1), 0.5 * p.sum(dim=1)


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
    first_salts = [weights.shape[1] * h + 2 for h in range(lists.shape[1])]
    mass, total = _softened(candidates, queries.clamp_min(0), weights, decay, streams, round_, first_salts)
    return _chances(mass, total, lists, (queries >= 0)[..., None] & (lists >= 0)).transpose(1, 2)


def unit_vectors(streams: Streams, stream: Stream, round_: int, n: int, n_features: int) -> torch.Tensor:
    """See `compiled.unit_vectors`."""
    width = 4 * ((n_features + 3) // 4)
    drawn = streams.gaussians(stream, round_, n * width).view(len(streams), n, width)[..., :n_features]
    return drawn / drawn.norm(dim=2, keepdim=True)


def reflectors(vectors: torch.Tensor, used: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """See `compiled.reflectors`; in single precision and step by step as there. A stored direction is often a column of
    an earlier Q, so that its pivot is nothing but rounding error, and its sign is the same only by the same steps."""
    count, d = vectors.shape[1:]
    from_and_at = pivot_masks(d, vectors.device)
    zero, infinite = vectors.new_zeros(1), vectors.new_full((1,), torch.inf)
    least = torch.where(used, _QUIET * vectors.norm(dim=2), infinite)
    rank_ = torch.zeros_like(used, dtype=torch.int64).sum(dim=1)
    found = []
    for i in range(count):
        from_pivot, at_pivot = from_and_at[rank_].unbind(1)
        residual = torch.addcmul(zero, vectors[:, i], from_pivot)  # 0 + x is positive for −0 as well
        rest = residual.norm(dim=1, keepdim=True)
        new = rest > least[:, i, None]
        v = torch.addcmul(residual, torch.copysign(rest, residual), at_pivot)
        v = v / torch.where(new, v.norm(dim=1, keepdim=True), infinite)
        found.append(v)
        rank_ = rank_ + new[:, 0]
        vectors = _mirrored(vectors, v)
    return torch.stack(found, dim=1) if found else vectors, rank_


def reflect(v: torch.Tensor, coordinates: torch.Tensor) -> torch.Tensor:
    """See `compiled.reflect`."""
    out = coordinates
    for j in range(v.shape[1] - 1, -1, -1):
        out = _mirrored(out, v[:, j])
    return out


def _mirrored(x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """(I − 2 v vᵀ) x for each x, Float[R, n, d] by Float[R, d]; a product and a difference, each rounded for itself."""
    return x - (x @ v[..., None]) * (2.0 * v)[:, None]


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
    discount = discounts_on(depth, weights.device)
    features, present = candidates.padded(queries.clamp_min(0))
    scores = torch.einsum("rhvd,rmd->rhmv", features, weights).masked_fill(~present[:, :, None], -torch.inf)
    shown = torch.where(queries[..., None] >= 0, lists, -1)  # entries of an empty place may be out of range
    document = shown.clamp_min(0)[:, :, None].expand(-1, -1, tied.shape[1], -1)
    own = scores.gather(3, document)[..., None]
    before = numbers(scores.shape[3], weights.device) < document[..., None]
    others = scores[:, :, :, None]
    place = ((others > own) | ((others == own) & before)).sum(dim=4)  # of each shown document in each ranking
    count = clicks.sum(dim=2)
    if measure == "ndcg":
        gain = torch.where(place < depth, discount[place.clamp_max(depth - 1)], 0.0)
        ideal = ideal_on(depth, weights.device)[count]
    else:
        gain = 1.0 / (place + 1).to(torch.float64)
        ideal = torch.ones_like(count, dtype=torch.float64)
    gained = (gain * clicks[:, :, None]).sum(dim=3) / ideal.clamp_min(1e-12)[..., None]
    valid = (queries >= 0) & (count > 0)
    out = torch.where(valid[..., None], gained, 0.0).sum(dim=1)
    return torch.where(tied & (tied.sum(dim=1) > 1)[:, None], out, 0.0)


def score(features: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """See `compiled.score`; here one product."""
    return features @ weights.T
