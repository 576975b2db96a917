"""Steps of dueling-bandit learners, in torch: contenders, their credit from clicks, the winners, the new weights."""

import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from ol2r.ranking.constants import numbers


def contenders(
    weights: Float32[Tensor, "R d"], directions: Float32[Tensor, "R m d"], delta: Float32[Tensor, " R"]
) -> Float32[Tensor, "R M d"]:
    """See `compiled.contenders`."""
    current = weights[:, None]
    return torch.cat([current, current + delta[:, None, None] * directions], dim=1)


def credit(team: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"], n_rankers: int) -> Float32[Tensor, "R {n_rankers}"]:
    """See `compiled.credit`."""
    rankers = numbers(n_rankers, clicks.device)
    return ((team[:, :, None] == rankers) & clicks[:, :, None]).sum(dim=1).to(torch.float32)


def winners(team: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"], m: int) -> Bool[Tensor, "R {m}"]:
    """See `compiled.winners`."""
    credits = credit(team, clicks, m + 1)
    return (credits[:, 1:] == credits.amax(dim=1, keepdim=True)) & (credits[:, 1:] > credits[:, :1])


def equal_shares(winners: Bool[Tensor, "R m"]) -> Float32[Tensor, "R m"]:
    """See `compiled.equal_shares`."""
    return winners / winners.sum(dim=1, keepdim=True).clamp_min(1)


def step(
    weights: Float32[Tensor, "R d"],
    proposed: Float32[Tensor, "R d"],
    alive: Bool[Tensor, " R"],
    taken: Bool[Tensor, " R"],
    decay: Float32[Tensor, " R"],
    alpha: Float32[Tensor, " R"],
) -> Float32[Tensor, "R d"]:
    """See `compiled.step`."""
    alive &= (proposed * proposed).sum(dim=1) < torch.inf  # false for NaN as well
    alpha *= torch.where(taken, decay, 1.0)
    return torch.where(alive[:, None], proposed, weights)


def climb(
    weights: Float32[Tensor, "R d"],
    gradient: Float32[Tensor, "R d"],
    alive: Bool[Tensor, " R"],
    taken: Bool[Tensor, " R"],
    decay: Float32[Tensor, " R"],
    alpha: Float32[Tensor, " R"],
) -> Float32[Tensor, "R d"]:
    """See `compiled.climb`."""
    return step(weights, weights + alpha[:, None] * gradient, alive, taken, decay, alpha)


def follow(
    weights: Float32[Tensor, "R d"],
    directions: Float32[Tensor, "R m d"],
    shares: Float32[Tensor, "R m"],
    alive: Bool[Tensor, " R"],
    decay: Float32[Tensor, " R"],
    alpha: Float32[Tensor, " R"],
) -> Float32[Tensor, "R d"]:
    """See `compiled.follow`."""
    proposed = weights + ((alpha[:, None] * shares)[..., None] * directions).sum(dim=1)
    return step(weights, proposed, alive, shares.any(dim=1), decay, alpha)
