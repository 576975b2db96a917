"""Steps of dueling-bandit learners, in torch: contenders, their credit from clicks, the winners, the new weights."""

import torch

from ol2r.ranking.constants import numbers


def contenders(weights: torch.Tensor, directions: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """See `compiled.contenders`."""
    current = weights[:, None]
    return torch.cat([current, current + delta[:, None, None] * directions], dim=1)


def credit(team: torch.Tensor, clicks: torch.Tensor, n_rankers: int) -> torch.Tensor:
    """See `compiled.credit`."""
    rankers = numbers(n_rankers, clicks.device)
    return ((team[:, :, None] == rankers) & clicks[:, :, None]).sum(dim=1).to(torch.float32)


def winners(credit: torch.Tensor) -> torch.Tensor:
    """See `compiled.winners`."""
    return (credit[:, 1:] == credit.amax(dim=1, keepdim=True)) & (credit[:, 1:] > credit[:, :1])


def equal_shares(winners: torch.Tensor) -> torch.Tensor:
    """See `compiled.equal_shares`."""
    return winners / winners.sum(dim=1, keepdim=True).clamp_min(1)


def follow(
    weights: torch.Tensor, directions: torch.Tensor, shares: torch.Tensor, alpha: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `compiled.follow`."""
    return weights + ((alpha[:, None] * shares)[..., None] * directions).sum(dim=1), shares.any(dim=1)


def step(
    weights: torch.Tensor,
    proposed: torch.Tensor,
    alive: torch.Tensor,
    taken: torch.Tensor,
    decay: torch.Tensor,
    alpha: torch.Tensor,
) -> torch.Tensor:
    """See `compiled.step`."""
    alive &= (proposed * proposed).sum(dim=1) < torch.inf  # false for NaN as well
    alpha *= torch.where(taken, decay, 1.0)
    return torch.where(alive[:, None], proposed, weights)
