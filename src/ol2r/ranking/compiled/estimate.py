"""The estimate of a pairwise learner, compiled: the optimum of its loss, refitted to all labelled pairs."""

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel, part
from ol2r.ranking.compiled.blocks import dot64
from ol2r.ranking.compiled.counts import PairCounts
from ol2r.ranking.compiled.covariance import downdate, product
from ol2r.ranking.compiled.memory import LabelMemory
from ol2r.ranking.compiled.scalars import fill, put

TOLERANCE = 1e-8  # a refit stops when a step promises to lower the objective by less than this share of it
MOST_PASSES = 4  # most passes over the pairs in one refit; but with few pairs a refit may read SHORT pairs in all
SHORT = 1 << 16
_ARMIJO = 1e-4
_MOSTLY_OTHERS = 0.1
"""A label that goes takes its curvature along only if this share of the inverse Hessian's in its direction stays: the
steps of a refit find what is left out."""


@part(fastmath={"reassoc", "contract", "nsz"})
def _add_scaled(out, scale, x):
    for f in range(out.shape[0]):
        out[f] += scale * np.float64(x[f])


@part
def _grow(inverse, ridge, more, turn):
    """Update the inverse for inverse⁻¹ + more · I, a few coordinates at a time: each call adds d/n times `more` to n
    coordinates and the next call goes on with the next n, with n such that no coordinate gets more than the ridge so
    far. Returns the coordinate to begin with at the next call."""
    d = inverse.shape[0]
    if ridge == 0.0:
        for f in range(d):
            fill(inverse[f], 0.0)
            inverse[f, f] = 1.0 / more
        return turn
    n = min(d, np.int64(np.ceil(d * more / ridge)))
    weight, u = more * d / n, np.empty(d)
    for i in range(n):
        put(u, inverse[(turn + i) % d])
        downdate(inverse, u, weight / (1.0 + weight * u[(turn + i) % d]))
    return (turn + n) % d


@part
def _log_loss(z):
    """−log σ(z)."""
    return np.log1p(np.exp(-z)) if z > 0 else np.log1p(np.exp(z)) - z


@part
def _away(x, y):
    """x − y."""
    out = np.empty(x.shape[0])
    for f in range(x.shape[0]):
        out[f] = x[f] - y[f]
    return out


@part
def _pass(x, outcomes, theta, centre, regularization, gradient):
    """Objective at θ, and its gradient: one pass over the pairs."""
    away = _away(theta, centre)
    value = 0.5 * regularization * dot64(away, away)
    for f in range(away.shape[0]):
        gradient[f] = regularization * away[f]
    for n in range(x.shape[0]):
        z = dot64(x[n], theta)
        p = 1.0 / (1.0 + np.exp(-z))
        wins, losses = outcomes[n, 0], outcomes[n, 1]
        value += wins * _log_loss(z) + losses * _log_loss(-z)
        _add_scaled(gradient, (wins + losses) * p - wins, x[n])
    return value


@part
def _secant(inverse, step, change):
    """BFGS: update the inverse Hessian for a step s that changed the gradient by y, unless rounding hides curvature."""
    curvature = dot64(step, change)
    if not curvature > 1e-14 * np.sqrt(dot64(step, step) * dot64(change, change)):
        return
    u = np.empty(step.shape[0])
    product(inverse, change, u)
    scale = (1.0 + dot64(change, u) / curvature) / curvature
    for f in range(step.shape[0]):
        a = scale * step[f] - u[f] / curvature
        b = step[f] / curvature
        row = inverse[f]
        for g in range(step.shape[0]):
            row[g] += a * step[g] - b * u[g]


@part
def _minimize(x, outcomes, theta, centre, regularization, gradient, hessian, value):
    """Take quasi-Newton steps from the last optimum; returns the objective and the number of passes."""
    d = theta.shape[0]
    most = max(MOST_PASSES, SHORT // x.shape[0])
    step, new_theta, new_gradient = np.empty(d), np.empty(d), np.empty(d)
    passes = 0
    while True:
        product(hessian, gradient, step)
        slope = -dot64(step, gradient)
        if -0.5 * slope <= TOLERANCE * value or passes >= most:
            return value, passes
        scale = -1.0
        while True:
            put(new_theta, theta)
            _add_scaled(new_theta, scale, step)
            new_value = _pass(x, outcomes, new_theta, centre, regularization, new_gradient)
            passes += 1
            if new_value <= value - _ARMIJO * scale * slope:
                break
            if passes >= most:
                return value, passes
            # the minimum of the parabola through both values and the slope here, within [0.1, 0.5] of the step
            overshoot = new_value - value + scale * slope
            scale *= min(max(0.5 * scale * slope / -overshoot, 0.1), 0.5)
        for f in range(d):
            step[f] *= scale
        _secant(hessian, step, _away(new_gradient, gradient))
        put(theta, new_theta)
        put(gradient, new_gradient)
        value = new_value


@kernel
def _refit(
    x, outcomes, count, rows, won, mean, regularization, ridge, theta, centre, gradient, hessian, turn, value, passes,
    refits,
):  # fmt: skip
    for r in prange(theta.shape[0]):
        seen = 0
        for i in range(rows.shape[1]):
            seen += rows[r, i] >= 0
        if seen == 0:
            continue
        if mean:
            more = 2.0 * regularization[r] * seen
            away = _away(theta[r], centre[r])
            value[r] += 0.5 * more * dot64(away, away)
            _add_scaled(gradient[r], more, away)
            turn[r] = _grow(hessian[r], ridge[r], more, turn[r])
            ridge[r] += more
        u = np.empty(theta.shape[1])
        for i in range(rows.shape[1]):
            if rows[r, i] < 0:
                continue
            new = x[r, rows[r, i]]
            z = dot64(new, theta[r])
            p = 1.0 / (1.0 + np.exp(-z))
            value[r] += _log_loss(z) if won[r, i] else _log_loss(-z)
            _add_scaled(gradient[r], p - won[r, i], new)
            curvature = p * (1.0 - p)
            product(hessian[r], new, u)
            downdate(hessian[r], u, curvature / (1.0 + curvature * dot64(u, new)))
        n = count[r]
        value[r], taken = _minimize(
            x[r, :n], outcomes[r, :n], theta[r], centre[r], ridge[r], gradient[r], hessian[r], value[r]
        )
        passes[r] += taken
        refits[r] += 1


@kernel
def _forget(left, x, won, mean, regularization, ridge, theta, centre, gradient, hessian, value):
    for r in prange(theta.shape[0]):
        gone = 0
        for i in range(left.shape[1]):
            gone += left[r, i]
        less = 2.0 * regularization[r] * gone if mean else 0.0
        away = _away(theta[r], centre[r])
        value[r] -= 0.5 * less * dot64(away, away)
        _add_scaled(gradient[r], -less, away)
        ridge[r] -= less
        u = np.empty(theta.shape[1])
        for i in range(left.shape[1]):
            if not left[r, i]:
                continue
            old = x[r, i]
            z = dot64(old, theta[r])
            p = 1.0 / (1.0 + np.exp(-z))
            value[r] -= _log_loss(z) if won[r, i] else _log_loss(-z)
            _add_scaled(gradient[r], won[r, i] - p, old)
            curvature = p * (1.0 - p)
            product(hessian[r], old, u)
            rest = 1.0 - curvature * dot64(u, old)
            if rest > _MOSTLY_OTHERS:
                downdate(hessian[r], u, -curvature / rest)


@kernel
def _recurse(x, present, won, theta, inverse):
    for r in prange(theta.shape[0]):
        u = np.empty(theta.shape[1])
        for i in range(x.shape[1]):
            if not present[r, i]:
                continue
            new = x[r, i]
            p = 1.0 / (1.0 + np.exp(-dot64(new, theta[r])))
            curvature = p * (1.0 - p)
            product(inverse[r], new, u)
            scale = 1.0 / (1.0 + curvature * dot64(u, new))
            downdate(inverse[r], u, curvature * scale)
            _add_scaled(theta[r], (won[r, i] - p) * scale, u)


class LogisticEstimate:
    """Ridge logistic regression on all labelled pairs, refitted as labels come in.

    θ = argmin Σ −y log σ(x_ijᵀθ) − (1 − y) log σ(−x_ijᵀθ) + r/2 ‖θ‖². A refit starts at the last optimum and takes BFGS
    steps; every new label also updates their inverse Hessian by a rank-one term. A refit stops when the Newton
    decrement promises to lower the objective by less than 1e-8 of it, or after reading max(4 n, 2¹⁶) pairs, where n is
    the number of distinct pairs.

    The loss is either the sum, with the ridge r = λ, or the mean over the N labels so far, (1/N) Σ … + λ ‖θ‖², which
    has the same minimum as the sum with r = 2Nλ. After `begin_from`, θ − θ₀ stands in the place of θ in the ridge.

    Args:
        regularization: λ > 0, Float64[R].
        loss: "sum" or "mean".
        n_features: d.
        device: "cpu".

    Attributes:
        theta: Float64[R, d].
        value: the objective at θ, N times the objective for the mean loss, Float64[R].
        passes: number of passes over the pairs in all refits so far, Int64[R]; refits: number of refits, Int64[R].
    """

    def __init__(self, regularization: torch.Tensor, loss: str, n_features: int, device: torch.device | str = "cpu"):
        n, d = len(regularization), n_features
        self._regularization, self._mean = regularization.numpy(), loss == "mean"
        self._ridge = np.zeros(n) if self._mean else regularization.numpy().copy()
        self._turn = np.zeros(n, dtype=np.int64)
        self._hessian = (1.0 / regularization[:, None, None]) * torch.eye(d, dtype=torch.float64)
        self.theta, self._gradient = torch.zeros(n, d, dtype=torch.float64), torch.zeros(n, d, dtype=torch.float64)
        self._centre = torch.zeros_like(self.theta)
        self.value = torch.zeros(n, dtype=torch.float64)
        self.passes, self.refits = torch.zeros(n, dtype=torch.int64), torch.zeros(n, dtype=torch.int64)

    def begin_from(self, weights: torch.Tensor) -> None:
        """Begin the first refit at these weights θ₀, to which the ridge pulls: Float64[R, d]."""
        self.theta, self._centre = weights.clone(), weights.clone()

    def refit(self, counts: PairCounts | LabelMemory, rows: torch.Tensor, won: torch.Tensor) -> None:
        """Move to the optimum of all pairs; replicas without a new label stay where they are.

        Args:
            counts: all pairs, or the labels that are kept.
            rows, won: the labels added since the last refit, as `PairCounts.add` returned them.
        """
        _refit(
            counts.x.numpy(),
            counts.outcomes.numpy(),
            counts.n_pairs.numpy(),
            rows.numpy(),
            won.numpy(),
            self._mean,
            self._regularization,
            self._ridge,
            self.theta.numpy(),
            self._centre.numpy(),
            self._gradient.numpy(),
            self._hessian.numpy(),
            self._turn,
            self.value.numpy(),
            self.passes.numpy(),
            self.refits.numpy(),
        )

    def forget(self, left: torch.Tensor, x: torch.Tensor, won: torch.Tensor) -> None:
        """Take away labels that were counted before; the next refit moves to the optimum of the others.

        Args:
            left: which ones there are, Bool[R, P]; x: first document less second, Float32[R, P, d]; won: whether the
                first document was preferred, Bool[R, P].
        """
        _forget(
            left.numpy(),
            x.numpy(),
            won.numpy(),
            self._mean,
            self._regularization,
            self._ridge,
            self.theta.numpy(),
            self._centre.numpy(),
            self._gradient.numpy(),
            self._hessian.numpy(),
            self.value.numpy(),
        )


class RecursiveEstimate:
    """Ridge logistic regression that meets each label once and keeps none: a stochastic Newton method.

    A label y of a pair x moves θ by H⁻¹ (y − σ(xᵀθ)) x, where H = λI + Σ σ′(xᵀθ) x xᵀ over all labels so far, this one
    included, each at the θ that it met: the extended Kalman filter of a constant θ. Bercu, Godichon and Portier (2020,
    SIAM J. Control Optim. 58) prove of such steps, with curvatures kept from vanishing and on independent data, that
    they are asymptotically normal around the truth.

    Args:
        regularization: λ > 0, Float64[R].
        n_features: d.
        device: "cpu".

    Attributes:
        theta: Float64[R, d]. inverse: H⁻¹, Float64[R, d, d].
    """

    def __init__(self, regularization: torch.Tensor, n_features: int, device: torch.device | str = "cpu"):
        self.theta = torch.zeros(len(regularization), n_features, dtype=torch.float64)
        self.inverse = (1.0 / regularization[:, None, None]) * torch.eye(n_features, dtype=torch.float64)

    def begin_from(self, weights: torch.Tensor) -> None:
        """Take the first step at these weights: Float64[R, d]."""
        self.theta = weights.clone()

    def step(self, x: torch.Tensor, present: torch.Tensor, won: torch.Tensor) -> None:
        """Learn from the labels of a round, one after another.

        Args:
            x: first document less second, Float32[R, P, d]; present: Bool[R, P]; won: whether the first document is
                preferred, Bool[R, P].
        """
        _recurse(x.numpy(), present.numpy(), won.numpy(), self.theta.numpy(), self.inverse.numpy())
