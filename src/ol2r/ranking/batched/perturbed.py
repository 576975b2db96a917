"""Optima of one history under several perturbations of its labels, in torch: Newton steps of all rankers at once."""

import torch

from ol2r.ranking.batched import estimate
from ol2r.ranking.batched.counts import PairCounts
from ol2r.ranking.batched.estimate import MOST_STEPS, STEPS_ON_A_DEVICE, LogisticEstimate
from ol2r.ranking.constants import eye

TOLERANCE = 1e-12
"""For each label, however many pairs there are; see `compiled.PerturbedEstimate`."""
_ROUNDING, _DEPENDENT = 1e-13, 1e-10
"""What is added to G, and how much of a feature must be left when those before it are known, as shares of the largest
entry of G: less is rounding."""


class PerturbedEstimate(LogisticEstimate):
    """See `compiled.PerturbedEstimate`; refits here take the steps of `LogisticEstimate`, and stop by an absolute rule.

    The optimum without noise is one ranker more. The rankers of a replica are rows one after another, that one first.
    """

    def __init__(
        self,
        regularization: torch.Tensor,
        n_rankers: int,
        pseudo_pairs: bool,
        n_features: int,
        device: torch.device | str = "cpu",
    ):
        super().__init__(regularization.repeat_interleave(n_rankers + 1), "sum", n_features, device)
        self.alive = torch.ones(len(regularization), dtype=torch.bool, device=device)
        self._gram = (regularization * pseudo_pairs)[:, None, None] * eye(n_features, self.alive.device)
        self._pseudo = pseudo_pairs

    @property
    def base(self) -> torch.Tensor:
        """The optimum without noise, Float64[R, d]."""
        return self.theta.unflatten(0, (len(self.alive), -1))[:, 0]

    @property
    def rankers(self) -> torch.Tensor:
        """θ^(n), Float64[R, N, d]."""
        return self.theta.unflatten(0, (len(self.alive), -1))[:, 1:]

    def refit(
        self,
        counts: PairCounts,
        rows: torch.Tensor,
        won: torch.Tensor,
        normals: torch.Tensor | None = None,
        noise: torch.Tensor | None = None,
    ) -> None:
        """See `compiled.PerturbedEstimate.refit`."""
        assert normals is not None and noise is not None
        n_replicas, n_rankers, d = normals.shape
        present = rows >= 0
        pairs = rows.clamp_min(0)[..., None].expand(-1, -1, d)
        if counts.x.shape[1]:
            added = counts.x.gather(1, pairs).to(torch.float64) * present[..., None]
            self._gram = torch.baddbmm(self._gram, added.mT, added)
        labelled = torch.ones_like(self.alive) if self._pseudo else counts.n_pairs > 0
        changed = (self.alive & (present.any(dim=1) | ((noise > 0) & labelled))).repeat_interleave(n_rankers + 1)

        longest = counts.longest
        x = counts.x[:, :longest].to(torch.float64)
        met = counts.outcomes[:, :longest].sum(dim=2)
        pull = torch.einsum("rn,rnd->rd", counts.outcomes[:, :longest, 0], x)
        drawn = noise.sqrt()[:, None, None] * (normals.to(torch.float64) @ _root(self._gram).mT)
        pulls = torch.cat([pull[:, None], pull[:, None] + drawn], dim=1).flatten(0, 1)
        x, met = (each.repeat_interleave(n_rankers + 1, dim=0) for each in (x, met))
        history = x, met, pulls
        least = 2 * TOLERANCE * (history[1].sum(dim=1) + 1.0)
        ridge = self._ridge[:, None, None] * eye(d, x.device)

        before = self.theta
        start = self.base[:, None].expand(-1, n_rankers + 1, -1).flatten(0, 1)
        self.theta = torch.where(changed[:, None], start, before)
        self.refits += changed
        self.value = torch.where(changed, self._objective(history, self.theta[:, None])[:, 0], self.value)
        moving = changed
        here = x.device.type == "cpu"
        for _ in range(MOST_STEPS if here else max(STEPS_ON_A_DEVICE, estimate._SHORT // max(longest, 1))):
            if here and not bool(moving.any()):
                break
            moving = self._newton_step(history, ridge, moving, least)
        reach = pulls / self._ridge[:, None]  # no optimum is further than this, where losses are lines
        finite = ((self.theta.abs() < torch.inf) & (reach.abs() < torch.inf)).view(n_replicas, -1).all(dim=1)
        self.alive = self.alive & finite
        self.theta = torch.where(finite.repeat_interleave(n_rankers + 1)[:, None], self.theta, before)


def _root(gram: torch.Tensor) -> torch.Tensor:
    """The lower triangular L with L Lᵀ = G, Float64[R, d, d], also where features depend on each other: a feature that
    those before it determine has a column of zeros."""
    largest = gram.diagonal(dim1=1, dim2=2).amax(dim=1)[:, None, None].clamp_min(1e-300)
    root, _ = torch.linalg.cholesky_ex(gram + _ROUNDING * largest * eye(gram.shape[1], gram.device))
    own = root.diagonal(dim1=1, dim2=2)[:, None].square() > _DEPENDENT * largest
    return torch.where(own, root, 0.0)
