"""The estimate of a pairwise learner in torch: refits by Newton steps with full Hessians, padded to the most pairs."""

import torch
from torch.nn.functional import logsigmoid

from ol2r.ranking.batched.counts import PairCounts

TOLERANCE = 1e-7
MOST_STEPS = 100
_ARMIJO = 1e-4


class LogisticEstimate:
    """See `compiled.LogisticEstimate`; refits here stop by another rule and count passes in another way.

    A refit takes at most 100 Newton steps, however many pairs there are, and stops when a step promises to lower the
    objective by less than 1e-7 of it. `passes` counts how often gradient and Hessian were formed: once for each step,
    and once to find that no further step is worth taking; line searches are not counted. So `theta` agrees with that
    of the compiled class only to the tolerances of both, and `passes` does not agree.
    """

    def __init__(self, regularization: torch.Tensor, loss: str, n_features: int, device: torch.device | str = "cpu"):
        n = len(regularization)
        self._ridge = torch.zeros_like(regularization) if loss == "mean" else regularization.clone()
        self._growth = 2.0 * regularization if loss == "mean" else torch.zeros_like(regularization)  # for each label
        self.theta = torch.zeros(n, n_features, dtype=torch.float64, device=device)
        self.value = torch.zeros(n, dtype=torch.float64, device=device)
        self.passes, self.refits = (torch.zeros(n, dtype=torch.int64, device=device) for _ in range(2))

    def refit(self, counts: PairCounts, rows: torch.Tensor, won: torch.Tensor) -> None:
        """See `compiled.LogisticEstimate.refit`."""
        new = (rows >= 0).sum(dim=1)
        self._ridge += self._growth * new
        changed = new > 0
        longest = int(counts.n_pairs.max())
        if not longest or not bool(changed.any()):
            return
        x = counts.x[:, :longest].to(torch.float64)
        outcomes = counts.outcomes[:, :longest]
        total = outcomes.sum(dim=2)
        ridge = torch.where(self._ridge > 0, self._ridge, 1.0)  # without a label the mean loss has no curvature at all
        ridge = torch.diag_embed(ridge[:, None].expand(-1, x.shape[2]))
        self.refits += changed
        self.value = torch.where(changed, self._objective(x, outcomes, self.theta), self.value)
        moving = changed.clone()
        for _ in range(MOST_STEPS):
            p = torch.sigmoid(torch.einsum("rnd,rd->rn", x, self.theta))
            gradient = self._ridge[:, None] * self.theta
            gradient = gradient + torch.einsum("rn,rnd->rd", total * p - outcomes[..., 0], x)
            hessian = ridge + (x * (total * p * (1 - p))[..., None]).mT @ x
            step = -torch.cholesky_solve(gradient[..., None], torch.linalg.cholesky(hessian))[..., 0]
            slope = (gradient * step).sum(dim=1)
            self.passes += moving
            moving = moving & (-0.5 * slope > TOLERANCE * self.value)
            if not bool(moving.any()):
                return
            scale, searching = torch.ones_like(self.value), moving.clone()
            while bool(searching.any()):
                theta = torch.where(searching[:, None], self.theta + scale[:, None] * step, self.theta)
                value = self._objective(x, outcomes, theta)
                taken = searching & ((value <= self.value + _ARMIJO * scale * slope) | (scale < 1e-6))
                self.theta = torch.where(taken[:, None], theta, self.theta)
                self.value = torch.where(taken, value, self.value)
                searching = searching & ~taken
                scale = torch.where(searching, 0.5 * scale, scale)

    def _objective(self, x: torch.Tensor, outcomes: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        z = torch.einsum("rnd,rd->rn", x, theta)
        losses = -(outcomes * torch.stack([logsigmoid(z), logsigmoid(-z)], dim=2)).sum(dim=(1, 2))
        return losses + 0.5 * self._ridge * (theta**2).sum(dim=1)
