"""The history of a pairwise learner in torch: padded to the longest, refitted by Newton steps with whole Hessians."""

import torch
from torch.nn.functional import logsigmoid

from ol2r.ranking.candidates import Candidates

TOLERANCE = 1e-7
MOST_STEPS = 100
_ARMIJO = 1e-4


class PairHistory:
    """See `compiled.PairHistory`; refits end elsewhere and count otherwise.

    A refit takes Newton steps until one promises less than 1e-7 of the objective, at most 100, however long the history
    is. `passes` counts times that gradient and Hessian were formed: one a step, and one that finds no step worth
    taking; what a step's line search reads is not counted. So `theta` agrees with the compiled one's only to the
    tolerances of both, and `passes` not at all.
    """

    def __init__(
        self,
        regularization: torch.Tensor,
        loss: str,
        n_features: int,
        full: bool,
        device: torch.device | str = "cpu",
    ):
        n, d = len(regularization), n_features
        self._full = full
        self._ridge = torch.zeros_like(regularization) if loss == "mean" else regularization.clone()
        self._growth = 2.0 * regularization if loss == "mean" else torch.zeros_like(regularization)  # for each pair
        zeros = {"dtype": torch.float64, "device": device}
        scale = 1.0 / regularization[:, None, None]
        self.inverse = scale * torch.eye(d, **zeros) if full else scale.repeat(1, 1, d)
        self.theta, self.log_det, self.value = (
            torch.zeros(n, d, **zeros),
            torch.zeros(n, **zeros),
            torch.zeros(n, **zeros),
        )
        self.n_pairs, self.passes, self.refits = (torch.zeros(n, dtype=torch.int64, device=device) for _ in range(3))
        self._x = torch.zeros(n, 0, d, dtype=torch.float32, device=device)
        self._ids = torch.zeros(n, 0, 2, dtype=torch.int64, device=device)
        self._counts = torch.zeros(n, 0, 2, **zeros)  # won, lost

    def observe(self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor) -> None:
        """See `compiled.PairHistory.observe`."""
        self._reserve(int(self.n_pairs.max()) + pairs.shape[1])
        first = candidates.offsets[candidates.query]
        for i in range(pairs.shape[1]):
            there = pairs[:, i, 0] >= 0
            self._add(candidates, first[:, None] + pairs[:, i], labels[:, i], there)
        seen = (pairs[..., 0] >= 0).sum(dim=1)
        self._ridge += self._growth * seen
        self._refit(seen > 0)

    def _add(self, candidates: Candidates, rows: torch.Tensor, won: torch.Tensor, there: torch.Tensor) -> None:
        everyone = torch.arange(len(rows), device=rows.device)
        rows = torch.where(there[:, None], rows, 0)
        turned = rows[:, 0] > rows[:, 1]
        rows, won = rows.sort(dim=1).values, won ^ turned
        ids = candidates.base + rows
        place = torch.arange(self._ids.shape[1], device=ids.device)
        known = (self._ids == ids[:, None]).all(dim=2) & (place < self.n_pairs[:, None])
        n = torch.where(known.any(dim=1), known.long().argmax(dim=1), self.n_pairs)
        new = candidates.features[rows[:, 0]] - candidates.features[rows[:, 1]]
        self._ids[everyone[there], n[there]] = ids[there]
        self._x[everyone[there], n[there]] = new[there]
        self._counts[everyone[there], n[there], (~won[there]).long()] += 1.0
        self.n_pairs += there & ~known.any(dim=1)

        new = torch.where(there[:, None], new, 0.0).to(torch.float64)
        if self._full:
            u = torch.einsum("rfg,rg->rf", self.inverse, new)
            grown = 1.0 + (u * new).sum(dim=1)
            self.inverse -= u[:, :, None] * u[:, None] / grown[:, None, None]
            self.log_det += grown.log()
        else:
            grown = 1.0 + self.inverse[:, 0] * new**2
            self.inverse[:, 0] /= grown
            self.log_det += grown.log().sum(dim=1)

    def _objective(self, x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        z = torch.einsum("rnd,rd->rn", x, theta)
        losses = -(self._counts[:, : x.shape[1]] * torch.stack([logsigmoid(z), logsigmoid(-z)], dim=2)).sum(dim=(1, 2))
        return losses + 0.5 * self._ridge * (theta**2).sum(dim=1)

    def _refit(self, changed: torch.Tensor) -> None:
        longest = int(self.n_pairs.max())
        if not longest or not bool(changed.any()):
            return
        x = self._x[:, :longest].to(torch.float64)
        counts = self._counts[:, :longest]
        total = counts.sum(dim=2)
        ridge = torch.diag_embed(self._ridge[:, None].expand(-1, x.shape[2]))
        self.refits += changed
        self.value = torch.where(changed, self._objective(x, self.theta), self.value)
        moving = changed.clone()
        for _ in range(MOST_STEPS):
            p = torch.sigmoid(torch.einsum("rnd,rd->rn", x, self.theta))
            gradient = self._ridge[:, None] * self.theta
            gradient = gradient + torch.einsum("rn,rnd->rd", total * p - counts[..., 0], x)
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
                value = self._objective(x, theta)
                taken = searching & ((value <= self.value + _ARMIJO * scale * slope) | (scale < 1e-6))
                self.theta = torch.where(taken[:, None], theta, self.theta)
                self.value = torch.where(taken, value, self.value)
                searching = searching & ~taken
                scale = torch.where(searching, 0.5 * scale, scale)

    def _reserve(self, wanted: int) -> None:
        capacity = self._x.shape[1]
        if wanted > capacity:
            more = max(wanted, capacity + capacity // 2, 64) - capacity
            for name in ("_x", "_ids", "_counts"):
                old = getattr(self, name)
                setattr(self, name, torch.cat([old, old.new_zeros(len(old), more, old.shape[2])], dim=1))
