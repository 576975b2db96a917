"""Steps of dueling-bandit learners, compiled: contenders, their credit from clicks, the winners, and the new weights.

They are cheap, but in torch each takes several operations, which with few replicas take longer than ranking does.
"""

import numpy as np
import torch
from numba import njit

from ol2r.ranking.compiled.scalars import dot


@njit(cache=True)
def _contenders(weights, directions, delta, out):
    for r in range(out.shape[0]):
        out[r, 0] = weights[r]
        for i in range(directions.shape[1]):
            for f in range(out.shape[2]):
                out[r, i + 1, f] = weights[r, f] + delta[r] * directions[r, i, f]


def contenders(weights: torch.Tensor, directions: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """The current ranker and w + δ g^i for each direction: Float32[R, m + 1, features].

    Args:
        weights: Float32[R, features]; directions: Float32[R, m, features]; delta: Float32[R].
    """
    replicas, m, d = directions.shape
    out = np.empty((replicas, m + 1, d), dtype=np.float32)
    _contenders(weights.numpy(), directions.numpy(), delta.numpy(), out)
    return torch.from_numpy(out)


@njit(cache=True)
def _credit(team, clicks, out):
    for r in range(out.shape[0]):
        out[r] = 0.0
        for i in range(team.shape[1]):
            if clicks[r, i] and team[r, i] >= 0:
                out[r, team[r, i]] += np.float32(1.0)


def credit(team: torch.Tensor, clicks: torch.Tensor, n_rankers: int) -> torch.Tensor:
    """Number of clicks on the documents that each ranker drafted: Float32[R, M].

    Args:
        team: Int64[R, k], from `team_draft`; clicks: Bool[R, k].
        n_rankers: M.
    """
    out = np.empty((team.shape[0], n_rankers), dtype=np.float32)
    _credit(team.numpy(), clicks.numpy(), out)
    return torch.from_numpy(out)


@njit(cache=True)
def _winners(credit, out):
    for r in range(out.shape[0]):
        most = credit[r].max()
        for i in range(out.shape[1]):
            out[r, i] = credit[r, i + 1] == most and credit[r, i + 1] > credit[r, 0]


def winners(credit: torch.Tensor) -> torch.Tensor:
    """The candidates with the largest credit, or none if it does not exceed the current ranker's: Bool[R, m].

    Args:
        credit: Float32[R, m + 1], with the current ranker's in front.
    """
    out = np.empty((credit.shape[0], credit.shape[1] - 1), dtype=np.bool_)
    _winners(credit.numpy(), out)
    return torch.from_numpy(out)


@njit(cache=True)
def _equal_shares(winners, out):
    for r in range(out.shape[0]):
        n = 0
        for i in range(out.shape[1]):
            n += winners[r, i]
        for i in range(out.shape[1]):
            out[r, i] = np.float32(winners[r, i]) / np.float32(max(n, 1))


def equal_shares(winners: torch.Tensor) -> torch.Tensor:
    """A share of 1 / n for each of n winners, Float32[R, m], from winners Bool[R, m]."""
    out = np.empty(winners.shape, dtype=np.float32)
    _equal_shares(winners.numpy(), out)
    return torch.from_numpy(out)


@njit(cache=True)
def _follow(weights, directions, shares, alpha, out, followed):
    for r in range(weights.shape[0]):
        out[r] = weights[r]
        followed[r] = False
        for i in range(shares.shape[1]):
            if shares[r, i] != 0.0:
                followed[r] = True
                out[r] += (alpha[r] * shares[r, i]) * directions[r, i]


def follow(
    weights: torch.Tensor, directions: torch.Tensor, shares: torch.Tensor, alpha: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """w + α Σ_i share_i g^i, Float32[R, features]; and whether any share is not zero, Bool[R].

    Args:
        weights: Float32[R, features].
        directions: Float32[R, m, features]; shares: Float32[R, m]; alpha: Float32[R].
    """
    out, followed = np.empty(weights.shape, dtype=np.float32), np.empty(weights.shape[0], dtype=np.bool_)
    _follow(weights.numpy(), directions.numpy(), shares.numpy(), alpha.numpy(), out, followed)
    return torch.from_numpy(out), torch.from_numpy(followed)


@njit(cache=True)
def _step(weights, proposed, alive, taken, decay, alpha, out):
    for r in range(out.shape[0]):
        alive[r] = alive[r] and dot(proposed[r], proposed[r]) < np.inf  # false for NaN as well
        out[r] = proposed[r] if alive[r] else weights[r]
        if taken[r]:
            alpha[r] *= decay[r]


def step(
    weights: torch.Tensor,
    proposed: torch.Tensor,
    alive: torch.Tensor,
    taken: torch.Tensor,
    decay: torch.Tensor,
    alpha: torch.Tensor,
) -> torch.Tensor:
    """The proposed weights for replicas that are alive, and the old weights for the others: Float32[R, features].

    Args:
        weights: Float32[R, features]; proposed: Float32[R, features].
        alive: Bool[R], updated in place: a replica dies when its ‖w‖² would no longer be finite.
        taken: Bool[R], whether α decays; decay: Float32[R].
        alpha: Float32[R], updated in place.
    """
    out = np.empty(weights.shape, dtype=np.float32)
    _step(weights.numpy(), proposed.numpy(), alive.numpy(), taken.numpy(), decay.numpy(), alpha.numpy(), out)
    return torch.from_numpy(out)
