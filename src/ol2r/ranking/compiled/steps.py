"""Steps of dueling-bandit learners, compiled: contenders, their credit from clicks, the winners, and the new weights.

They are cheap, but in torch each takes several operations, which with few replicas take longer than ranking does.
"""

import numpy as np
import torch

from ol2r.compiling import kernel, part
from ol2r.ranking.compiled.scalars import dot, fill, put


@kernel
def _contenders(weights, directions, delta, out):
    for r in range(out.shape[0]):
        put(out[r, 0], weights[r])
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


@part
def _credit_list(team, clicks, out):
    fill(out, 0.0)
    for i in range(team.shape[0]):
        if clicks[i] and team[i] >= 0:
            out[team[i]] += np.float32(1.0)


@kernel
def _credit(team, clicks, out):
    for r in range(out.shape[0]):
        _credit_list(team[r], clicks[r], out[r])


def credit(team: torch.Tensor, clicks: torch.Tensor, n_rankers: int) -> torch.Tensor:
    """Number of clicks on the documents that each ranker drafted: Float32[R, M].

    Args:
        team: Int64[R, k], from `team_draft`; clicks: Bool[R, k].
        n_rankers: M.
    """
    out = np.empty((team.shape[0], n_rankers), dtype=np.float32)
    _credit(team.numpy(), clicks.numpy(), out)
    return torch.from_numpy(out)


@kernel
def _winners(team, clicks, out):
    credit = np.empty(out.shape[1] + 1, dtype=np.float32)
    for r in range(out.shape[0]):
        _credit_list(team[r], clicks[r], credit)
        most = credit[0]
        for i in range(out.shape[1]):
            most = max(most, credit[i + 1])
        for i in range(out.shape[1]):
            out[r, i] = credit[i + 1] == most and credit[i + 1] > credit[0]


def winners(team: torch.Tensor, clicks: torch.Tensor, m: int) -> torch.Tensor:
    """The candidates with the largest credit, or none if it does not exceed the current ranker's: Bool[R, m].

    Args:
        team: Int64[R, k], from `team_draft`, with the current ranker as number 0; clicks: Bool[R, k].
        m: number of candidates.
    """
    out = np.empty((team.shape[0], m), dtype=np.bool_)
    _winners(team.numpy(), clicks.numpy(), out)
    return torch.from_numpy(out)


@kernel
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


@part
def _settle(r, weights, alive, taken, decay, alpha, out):
    """Keep the proposed weights in `out` if the replica lives on with them, and let α decay if a step is taken."""
    alive[r] = alive[r] and dot(out[r], out[r]) < np.inf  # false for NaN as well
    if not alive[r]:
        put(out[r], weights[r])
    if taken:
        alpha[r] *= decay[r]


@kernel
def _step(weights, proposed, alive, taken, decay, alpha, out):
    for r in range(out.shape[0]):
        put(out[r], proposed[r])
        _settle(r, weights, alive, taken[r], decay, alpha, out)


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


@kernel
def _climb(weights, gradient, alive, taken, decay, alpha, out):
    for r in range(out.shape[0]):
        for f in range(out.shape[1]):
            out[r, f] = weights[r, f] + alpha[r] * gradient[r, f]
        _settle(r, weights, alive, taken[r], decay, alpha, out)


def climb(
    weights: torch.Tensor,
    gradient: torch.Tensor,
    alive: torch.Tensor,
    taken: torch.Tensor,
    decay: torch.Tensor,
    alpha: torch.Tensor,
) -> torch.Tensor:
    """The `step` to w + α g: Float32[R, features].

    Args:
        weights: Float32[R, features]; gradient: g, Float32[R, features].
        alive, taken, decay, alpha: as for `step`.
    """
    out = np.empty(weights.shape, dtype=np.float32)
    _climb(weights.numpy(), gradient.numpy(), alive.numpy(), taken.numpy(), decay.numpy(), alpha.numpy(), out)
    return torch.from_numpy(out)


@kernel
def _follow(weights, directions, shares, alive, decay, alpha, out):
    for r in range(out.shape[0]):
        put(out[r], weights[r])
        taken = False
        for i in range(shares.shape[1]):
            if shares[r, i] != 0.0:
                taken = True
                share = alpha[r] * shares[r, i]
                for f in range(out.shape[1]):
                    out[r, f] += share * directions[r, i, f]
        _settle(r, weights, alive, taken, decay, alpha, out)


def follow(
    weights: torch.Tensor,
    directions: torch.Tensor,
    shares: torch.Tensor,
    alive: torch.Tensor,
    decay: torch.Tensor,
    alpha: torch.Tensor,
) -> torch.Tensor:
    """The `step` to w + α Σ_i share_i g^i, taken where any share is not zero: Float32[R, features].

    Args:
        weights: Float32[R, features].
        directions: Float32[R, m, features]; shares: Float32[R, m].
        alive, decay, alpha: as for `step`.
    """
    out = np.empty(weights.shape, dtype=np.float32)
    _follow(weights.numpy(), directions.numpy(), shares.numpy(), alive.numpy(), decay.numpy(), alpha.numpy(), out)
    return torch.from_numpy(out)
