"""The history of a pairwise learner, compiled: unique pairs with counts, their covariance, and the refitted optimum."""

import numpy as np
import torch
from numba import njit, prange

from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.blocks import dot64
from ol2r.ranking.compiled.scalars import arrays

TOLERANCE = 1e-8  # of the objective, relative: a refit stops where a step promises less
MOST_PASSES = 4  # over the history in one refit; a shorter history may be read until SHORT pairs are
SHORT = 1 << 16
_ARMIJO = 1e-4
_SPACIOUS = 2  # a table has at least so many slots for each pair


@njit(fastmath={"reassoc", "contract", "nsz"})
def _add_scaled(out, scale, x):
    for f in range(out.shape[0]):
        out[f] += scale * np.float64(x[f])


@njit(fastmath={"reassoc", "contract", "nsz"})
def _downdate(inverse, u, scale):
    """inverse ← inverse − scale · u uᵀ (Sherman and Morrison)."""
    for f in range(u.shape[0]):
        c = scale * u[f]
        row = inverse[f]
        for g in range(u.shape[0]):
            row[g] -= c * u[g]


@njit
def _product(matrix, x, out):
    for f in range(x.shape[0]):
        out[f] = dot64(matrix[f], x)


@njit
def _grow(inverse, ridge, more, turn):
    """The inverse of inverse⁻¹ + more · I, in turns: n coordinates get d/n times as much, the next n at the next call,
    with n such that none gets more than the ridge so far. Returns whose turn is next."""
    d = inverse.shape[0]
    if ridge == 0.0:
        inverse[:] = 0.0
        for f in range(d):
            inverse[f, f] = 1.0 / more
        return turn
    n = min(d, np.int64(np.ceil(d * more / ridge)))
    weight = more * d / n
    for i in range(n):
        u = inverse[(turn + i) % d].copy()
        _downdate(inverse, u, weight / (1.0 + weight * u[(turn + i) % d]))
    return (turn + n) % d


@njit
def _log_loss(z):
    """−log σ(z)."""
    return np.log1p(np.exp(-z)) if z > 0 else np.log1p(np.exp(z)) - z


@njit
def _pass(x, wins, losses, theta, regularization, gradient):
    """Objective at θ, and its gradient: one pass over the history."""
    value = 0.5 * regularization * dot64(theta, theta)
    gradient[:] = regularization * theta
    for n in range(x.shape[0]):
        z = dot64(x[n], theta)
        p = 1.0 / (1.0 + np.exp(-z))
        value += wins[n] * _log_loss(z) + losses[n] * _log_loss(-z)
        _add_scaled(gradient, (wins[n] + losses[n]) * p - wins[n], x[n])
    return value


@njit
def _secant(inverse, step, change):
    """BFGS: the inverse Hessian after a step s that changed the gradient by y; left where rounding hides curvature."""
    curvature = dot64(step, change)
    if not curvature > 1e-14 * np.sqrt(dot64(step, step) * dot64(change, change)):
        return
    u = np.empty_like(step)
    _product(inverse, change, u)
    scale = (1.0 + dot64(change, u) / curvature) / curvature
    for f in range(step.shape[0]):
        a = scale * step[f] - u[f] / curvature
        b = step[f] / curvature
        row = inverse[f]
        for g in range(step.shape[0]):
            row[g] += a * step[g] - b * u[g]


@njit
def _refit(x, wins, losses, theta, regularization, gradient, hessian, value):
    """Quasi-Newton steps from the last optimum; returns the objective and the passes taken."""
    d = theta.shape[0]
    most = max(MOST_PASSES, SHORT // x.shape[0])
    step, new_theta, new_gradient = np.empty(d), np.empty(d), np.empty(d)
    passes = 0
    while True:
        _product(hessian, gradient, step)
        slope = -dot64(step, gradient)
        if -0.5 * slope <= TOLERANCE * value or passes >= most:
            return value, passes
        scale = -1.0
        while True:
            new_theta[:] = theta
            _add_scaled(new_theta, scale, step)
            new_value = _pass(x, wins, losses, new_theta, regularization, new_gradient)
            passes += 1
            if new_value <= value - _ARMIJO * scale * slope:
                break
            if passes >= most:
                return value, passes
            # the minimum of the parabola through both values and the slope here, within [0.1, 0.5] of the step
            overshoot = new_value - value + scale * slope
            scale *= min(max(0.5 * scale * slope / -overshoot, 0.1), 0.5)
        step *= scale
        _secant(hessian, step, new_gradient - gradient)
        theta[:] = new_theta
        gradient[:] = new_gradient
        value = new_value


@njit
def _slot(table, ids, low, high):
    """Where the pair is, or would be, in the table (open addressing)."""
    mask = table.shape[0] - 1
    slot = (low * 0x9E3779B1 + high * 0x85EBCA77) & mask
    while table[slot] >= 0 and (ids[table[slot], 0] != low or ids[table[slot], 1] != high):
        slot = (slot + 1) & mask
    return slot


@njit(parallel=True, cache=True)
def _observe(
    features, offsets, query, base, pairs, labels, mean, x, ids, wins, losses, table, count, regularization, ridge,
    theta, inverse, log_det, gradient, hessian, turn, value, passes, refits
):  # fmt: skip
    for r in prange(theta.shape[0]):
        first = offsets[query[r]]
        u = np.empty(theta.shape[1])
        if mean:
            more = 2.0 * regularization[r] * (pairs[r, :, 0] >= 0).sum()
            if more > 0.0:
                value[r] += 0.5 * more * dot64(theta[r], theta[r])
                _add_scaled(gradient[r], more, theta[r])
                turn[r] = _grow(hessian[r], ridge[r], more, turn[r])
                ridge[r] += more
        seen = 0
        for i in range(pairs.shape[1]):
            if pairs[r, i, 0] < 0:
                continue
            seen += 1
            a, b = first + pairs[r, i, 0], first + pairs[r, i, 1]
            low, high, won = (a, b, labels[r, i]) if a < b else (b, a, not labels[r, i])
            slot = _slot(table[r], ids[r], base + low, base + high)
            n = table[r, slot]
            if n < 0:
                n = count[r]
                count[r] += 1
                table[r, slot] = n
                ids[r, n, 0], ids[r, n, 1] = base + low, base + high
                x[r, n] = features[low] - features[high]
                wins[r, n] = losses[r, n] = 0.0
            wins[r, n] += won
            losses[r, n] += not won
            new = x[r, n]

            if inverse.shape[1] == 1:
                for f in range(new.shape[0]):
                    grown = 1.0 + inverse[r, 0, f] * np.float64(new[f]) ** 2
                    inverse[r, 0, f] /= grown
                    log_det[r] += np.log(grown)
            else:
                _product(inverse[r], new, u)
                grown = 1.0 + dot64(u, new)
                _downdate(inverse[r], u, 1.0 / grown)
                log_det[r] += np.log(grown)

            z = dot64(new, theta[r])
            p = 1.0 / (1.0 + np.exp(-z))
            value[r] += _log_loss(z) if won else _log_loss(-z)
            _add_scaled(gradient[r], p - won, new)
            curvature = p * (1.0 - p)
            _product(hessian[r], new, u)
            _downdate(hessian[r], u, curvature / (1.0 + curvature * dot64(u, new)))
        if seen:
            n = count[r]
            value[r], taken = _refit(
                x[r, :n], wins[r, :n], losses[r, :n], theta[r], ridge[r], gradient[r], hessian[r], value[r]
            )
            passes[r] += taken
            refits[r] += 1


@njit(cache=True)
def _fill(table, ids, count):
    for r in range(table.shape[0]):
        for n in range(count[r]):
            table[r, _slot(table[r], ids[r], ids[r, n, 0], ids[r, n, 1])] = n


class PairHistory:
    """What pairwise learners keep of their replicas' past, and the optimum of its loss.

    θ = argmin Σ −y log σ(x_ijᵀθ) − (1 − y) log σ(−x_ijᵀθ) + r/2 ‖θ‖², refitted to all pairs at every `observe` from
    the last optimum, by BFGS whose inverse Hessian also takes every new pair as a rank-one update; stops where the
    Newton decrement promises less than 1e-8 of the objective, or after reading max(4 n, 2¹⁶) pairs, n being the
    distinct ones. A pair of documents is kept once, with the counts of its labels.

    The loss is the sum, with the ridge r = λ; or it is the mean of the N pairs so far, (1/N) Σ … + λ ‖θ‖², which has
    the minimum of the sum with r = 2Nλ. M has λ in both.

    Args:
        regularization: λ > 0, Float64[R].
        loss: "sum" or "mean".
        n_features: d.
        full: keep M⁻¹ = (λI + Σ x_ij x_ijᵀ)⁻¹, or only of its diagonal.
        device: "cpu".

    Attributes:
        theta: Float64[R, d]. inverse: M⁻¹, Float64[R, d, d], or [R, 1, d] when not `full`.
        log_det: log(det M / det λI), Float64[R]. n_pairs: distinct pairs, Int64[R].
        passes: passes over the history in all refits so far, Int64[R]; refits: their number, Int64[R].
        value: the objective at θ, of the mean N times, Float64[R].
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
        self._regularization, self._mean = regularization.numpy(), loss == "mean"
        self._ridge = np.zeros(n) if self._mean else regularization.numpy().copy()
        self._turn = np.zeros(n, dtype=np.int64)
        scale = 1.0 / regularization[:, None, None]
        self.inverse = (scale * torch.eye(d, dtype=torch.float64)) if full else scale.repeat(1, 1, d)
        self._hessian = scale * torch.eye(d, dtype=torch.float64)
        self.theta, self._gradient = torch.zeros(n, d, dtype=torch.float64), torch.zeros(n, d, dtype=torch.float64)
        self.log_det, self.value = torch.zeros(n, dtype=torch.float64), torch.zeros(n, dtype=torch.float64)
        self.n_pairs, self.passes, self.refits = (torch.zeros(n, dtype=torch.int64) for _ in range(3))
        self._x = np.empty((n, 0, d), dtype=np.float32)
        self._ids = np.empty((n, 0, 2), dtype=np.int64)
        self._wins, self._losses = np.empty((n, 0)), np.empty((n, 0))
        self._table = np.full((n, 2), -1, dtype=np.int32)

    def observe(self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor) -> None:
        """Add pairs, and move to the new optimum.

        Args:
            pairs: Int64[R, P, 2], positions in the query's own list, padded with −1.
            labels: Bool[R, P], whether the first is preferred.
        """
        self._reserve(int(self.n_pairs.max()) + pairs.shape[1])
        _observe(
            *arrays(candidates),
            candidates.base,
            pairs.numpy(),
            labels.numpy(),
            self._mean,
            self._x,
            self._ids,
            self._wins,
            self._losses,
            self._table,
            self.n_pairs.numpy(),
            self._regularization,
            self._ridge,
            self.theta.numpy(),
            self.inverse.numpy(),
            self.log_det.numpy(),
            self._gradient.numpy(),
            self._hessian.numpy(),
            self._turn,
            self.value.numpy(),
            self.passes.numpy(),
            self.refits.numpy(),
        )

    def _reserve(self, wanted: int) -> None:
        capacity = self._x.shape[1]
        if wanted <= capacity:
            return
        larger = max(wanted, capacity + capacity // 2, 64)
        n = len(self._x)
        for name in ("_x", "_ids", "_wins", "_losses"):
            old = getattr(self, name)
            new = np.empty((n, larger, *old.shape[2:]), dtype=old.dtype)
            new[:, :capacity] = old
            setattr(self, name, new)
        slots = 1 << (_SPACIOUS * larger - 1).bit_length()
        if slots > self._table.shape[1]:
            self._table = np.full((n, slots), -1, dtype=np.int32)
            _fill(self._table, self._ids, self.n_pairs.numpy())
