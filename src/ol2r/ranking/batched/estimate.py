"""The estimate of a pairwise learner in torch: refits by Newton steps with full Hessians, padded to the most pairs."""

import torch
from torch.nn.functional import softplus

from ol2r.ranking.batched.counts import PairCounts
from ol2r.ranking.batched.memory import LabelMemory
from ol2r.ranking.constants import eye, powers

TOLERANCE = 1e-7
MOST_STEPS = 100
STEPS_ON_A_DEVICE = 3
"""A refit starts at the last estimate and has one round's pairs more; what it leaves, the next goes on with. In a
short history of N pairs one round's move the optimum far, so its refits take _SHORT / N steps where that is more."""
_SHORT = 2048
_ARMIJO = 1e-4
_SCALES = 11
"""A step is taken whole, or cut to a quarter so many times less one: 4⁻¹⁰ is below 1e-6."""


class LogisticEstimate:
    """See `compiled.LogisticEstimate`; refits here stop by another rule and count passes in another way.

    A refit takes at most 100 Newton steps (on a device three), however many pairs there are. It stops when a step
    promises to lower the objective by less than 1e-7 of it. `passes` counts how often gradient and Hessian were
    formed: once for each step, and once to find that no further step is worth taking; line searches are not counted.
    So `theta` agrees with that of the compiled class only to the tolerances of both, and `passes` does not agree.
    """

    def __init__(self, regularization: torch.Tensor, loss: str, n_features: int, device: torch.device | str = "cpu"):
        n = len(regularization)
        self._ridge = torch.zeros_like(regularization) if loss == "mean" else regularization.clone()
        self._growth = 2.0 * regularization if loss == "mean" else torch.zeros_like(regularization)  # for each label
        self.theta = torch.zeros(n, n_features, dtype=torch.float64, device=device)
        self._centre = torch.zeros_like(self.theta)
        self._level = torch.zeros(n, dtype=torch.float64, device=device)  # r/2 ‖θ₀‖²
        self.value = torch.zeros(n, dtype=torch.float64, device=device)
        self.passes, self.refits = (torch.zeros(n, dtype=torch.int64, device=device) for _ in range(2))

    def begin_from(self, weights: torch.Tensor) -> None:
        """See `compiled.LogisticEstimate.begin_from`."""
        self.theta, self._centre = weights.clone(), weights.clone()

    def refit(self, counts: PairCounts | LabelMemory, rows: torch.Tensor, won: torch.Tensor) -> None:
        """See `compiled.LogisticEstimate.refit`."""
        new = (rows >= 0).sum(dim=1)
        self._ridge += self._growth * new
        changed = new > 0
        longest = counts.longest
        if not longest:
            return
        x = counts.x[:, :longest].to(torch.float64)
        met = counts.outcomes[:, :longest].sum(dim=2)
        pull = torch.einsum("rn,rnd->rd", counts.outcomes[:, :longest, 0], x)
        # r/2 ‖θ − θ₀‖² is r/2 ‖θ‖² with a further pull r θ₀ and a constant, which costs a device less than θ − θ₀ does
        history = x, met, torch.addcmul(pull, self._ridge[:, None], self._centre)
        self._level = 0.5 * self._ridge * self._centre.square().sum(dim=1)
        # without a label the mean loss has no curvature at all
        ridge = torch.where(self._ridge > 0, self._ridge, 1.0)[:, None, None] * eye(x.shape[2], x.device)
        self.refits += changed
        self.value = torch.where(changed, self._objective(history, self.theta[:, None])[:, 0], self.value)
        moving = changed
        here = x.device.type == "cpu"  # another device is not asked whether anything still moves
        for _ in range(MOST_STEPS if here else max(STEPS_ON_A_DEVICE, _SHORT // longest)):
            if here and not bool(moving.any()):
                return
            moving = self._newton_step(history, ridge, moving, 2 * TOLERANCE * self.value)

    def forget(self, left: torch.Tensor, x: torch.Tensor, won: torch.Tensor) -> None:
        """See `compiled.LogisticEstimate.forget`."""
        self._ridge -= self._growth * left.sum(dim=1)

    def _newton_step(
        self,
        history: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        ridge: torch.Tensor,
        moving: torch.Tensor,
        least: torch.Tensor,
    ) -> torch.Tensor:
        """One step of the replicas that are moving.

        Args:
            history: pairs x, Float64[R, N, d]; how often each was met, Float64[R, N]; and the sum of the pairs whose
                first document won, each as often as it did, with r θ₀, Float64[R, d].
            ridge: Float64[R, d, d], what is added to the Hessian of the losses.
            least: Float64[R]; a step is taken that promises to lower the objective by more than half of this.

        Returns:
            Which replicas go on moving, Bool[R].
        """
        x, met, pull = history
        p = torch.sigmoid(torch.einsum("rnd,rd->rn", x, self.theta))
        expected = met * p  # wins of the first document
        gradient = torch.addcmul(torch.einsum("rn,rnd->rd", expected, x) - pull, self._ridge[:, None], self.theta)
        curvature = torch.addcmul(expected, expected, p, value=-1.0)
        root, _ = torch.linalg.cholesky_ex(torch.baddbmm(ridge, (x * curvature[..., None]).mT, x))
        # two triangular systems and not `cholesky_solve`, which a CUDA graph cannot record for a batch
        half = torch.linalg.solve_triangular(root, gradient[..., None], upper=False)
        back = torch.linalg.solve_triangular(root.mT, half, upper=True)[..., 0]  # the step, the other way round
        promise = (gradient * back).sum(dim=1)
        self.passes += moving
        moving = moving & (promise > least)

        scales = powers(0.25, _SCALES, x.device)
        theta = self.theta[:, None] - scales[:, None] * back[:, None]
        value = self._objective(history, theta)
        low = value <= self.value[:, None] - _ARMIJO * scales * promise[:, None]
        any_low, best = low.view(torch.uint8).max(dim=1, keepdim=True)  # the longest step that is low enough
        moving = moving & any_low[:, 0].view(torch.bool)
        self.value = torch.where(moving, value.gather(1, best)[:, 0], self.value)
        longest = theta.gather(1, best[..., None].expand(-1, 1, theta.shape[2]))[:, 0]
        self.theta = torch.where(moving[:, None], longest, self.theta)
        return moving

    def _objective(
        self, history: tuple[torch.Tensor, torch.Tensor, torch.Tensor], theta: torch.Tensor
    ) -> torch.Tensor:
        """At several θ: Float64[R, S] from Float64[R, S, d]."""
        x, met, pull = history
        z = torch.einsum("rnd,rsd->rsn", x, theta)
        losses = torch.einsum("rn,rsn->rs", met, softplus(z, threshold=500.0))
        slope = torch.addcmul(-pull[:, None], self._ridge[:, None, None], theta, value=0.5)
        return losses + (theta * slope).sum(dim=2) + self._level[:, None]


class RecursiveEstimate:
    """See `compiled.RecursiveEstimate`."""

    def __init__(self, regularization: torch.Tensor, n_features: int, device: torch.device | str = "cpu"):
        self.theta = torch.zeros(len(regularization), n_features, dtype=torch.float64, device=device)
        self.inverse = (1.0 / regularization[:, None, None]) * eye(n_features, device)

    def begin_from(self, weights: torch.Tensor) -> None:
        """See `compiled.RecursiveEstimate.begin_from`."""
        self.theta = weights.clone()

    def step(self, x: torch.Tensor, present: torch.Tensor, won: torch.Tensor) -> None:
        """See `compiled.RecursiveEstimate.step`."""
        x, present, won = x.to(torch.float64), present.to(torch.float64), won.to(torch.float64)
        for i in range(x.shape[1]):
            new = x[:, i]
            applied = torch.einsum("rde,re->rd", self.inverse, new)
            p = torch.sigmoid((new * self.theta).sum(dim=1))
            curvature = p * (1.0 - p) * present[:, i]
            scale = 1.0 / (1.0 + curvature * (new * applied).sum(dim=1))
            self.inverse -= (curvature * scale)[:, None, None] * applied[:, :, None] * applied[:, None]
            self.theta += ((won[:, i] - p) * scale * present[:, i])[:, None] * applied
