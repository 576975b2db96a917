"""Optima of one history under several perturbations of its labels, compiled: all rankers share each pass over it.

A ranker goes from the optimum without noise by L-BFGS. Its first inverse Hessian is that of the optimum, which BFGS and
rank-one terms keep. With many pairs one pass or two are enough. With few, noise beyond a label's range drives margins
so far that the loss is a line on both sides of a kink; what is left then goes by Newton steps on a smoother loss, that
becomes the loss itself step by step.
"""

import numpy as np
import torch
from numba import njit, prange

from ol2r.ranking.compiled.blocks import dot64
from ol2r.ranking.compiled.counts import PairCounts
from ol2r.ranking.compiled.covariance import downdate, product

TOLERANCE, SINGLE_TOLERANCE = 1e-10, 1e-8
"""A refit stops when what is left promises to lower the objective by less than this for each label, the latter where
pairs are read in single precision. It is no share of the objective, as noise can make that negative."""
MOST_PASSES = 100
_SINGLE = 8  # with this many pairs for each feature and more, margins are small enough for single precision
_NEWTON_STEPS = 40  # most steps at one temperature
_COOLER = 3.0  # factor between temperatures
_TRIALS = 30
_TILE = 64  # rows of the history that stay in the cache while all rankers read them


@njit(fastmath={"reassoc", "contract", "nsz"})
def _two_products(row, a, b, out, other, i):
    """out[i] = row · a and other[i] = row · b, in the precision of a and b."""
    first, second = a[0] * 0, b[0] * 0
    for f in range(a.shape[0]):
        value = row[f]
        first += value * a[f]
        second += value * b[f]
    out[i], other[i] = first, second


@njit(fastmath={"reassoc", "contract", "nsz"})
def _add_four(total, x0, x1, x2, x3, c0, c1, c2, c3):
    for f in range(total.shape[0]):
        total[f] += c0 * x0[f] + c1 * x1[f] + c2 * x2[f] + c3 * x3[f]


@njit(fastmath={"reassoc", "contract", "nsz"})
def _add_scaled(out, scale, x):
    for f in range(out.shape[0]):
        out[f] += scale * x[f]


@njit
def _scale(x, factor):
    for f in range(x.shape[0]):
        x[f] *= factor


@njit
def _exchange(met, p, new_p, out):
    """out = how the expected labels change with the probabilities, which become the new ones."""
    for i in range(p.shape[0]):
        out[i] = met[i] * (new_p[i] - p[i])
        p[i] = new_p[i]


@njit
def _margins(x, vectors, single, out):
    """out[m, i] = x_i · vectors[m] for all rankers m; `single`: in single precision."""
    n, rankers = x.shape[0], vectors.shape[0]
    short = vectors.astype(np.float32)
    for start in range(0, n, _TILE):
        stop = min(start + _TILE, n)
        for m in range(0, rankers, 2):
            other = min(m + 1, rankers - 1)
            if single:
                for i in range(start, stop):
                    _two_products(x[i], short[m], short[other], out[m], out[other], i)
            else:
                for i in range(start, stop):
                    _two_products(x[i], vectors[m], vectors[other], out[m], out[other], i)


@njit
def _sums(x, coefficients, single, out):
    """out[m] = Σ_i coefficients[m, i] x_i; `single`: in single precision, but for the sum over tiles."""
    n, rankers = x.shape[0], coefficients.shape[0]
    out[:] = 0.0
    total = np.empty(x.shape[1], np.float32)
    for start in range(0, n, _TILE):
        stop = min(start + _TILE, n)
        for m in range(rankers):
            c, i = coefficients[m], start
            if single:
                total[:] = np.float32(0.0)
                while i + 4 <= stop:
                    c0, c1, c2, c3 = np.float32(c[i]), np.float32(c[i + 1]), np.float32(c[i + 2]), np.float32(c[i + 3])
                    _add_four(total, x[i], x[i + 1], x[i + 2], x[i + 3], c0, c1, c2, c3)
                    i += 4
                _add_scaled(out[m], 1.0, total)
            while i < stop:
                _add_scaled(out[m], c[i], x[i])
                i += 1


@njit(error_model="numpy")
def _probability(z, single):
    """σ(z)."""
    if single:
        return np.float64(np.float32(1.0) / (np.float32(1.0) + np.exp(np.float32(-z))))
    return 1.0 / (1.0 + np.exp(-z))


@njit(error_model="numpy")
def _probabilities(z, temperature, p):
    """σ(z / temperature) of every margin."""
    for i in range(z.shape[0]):
        p[i] = _probability(z[i] / temperature, False)


@njit(error_model="numpy")
def _slopes(met, z, along, p, temperature, length, single, new_p):
    """Slope and curvature, by the length of a step along which margins grow so fast, of how the losses changed since
    probabilities were p. The new probabilities are kept."""
    slope, curvature, colder = 0.0, 0.0, 1.0 / temperature
    for i in range(z.shape[0]):
        q = _probability(colder * (z[i] + length * along[i]), single)
        new_p[i] = q
        weight = met[i] * along[i]
        slope += weight * (q - p[i])
        curvature += weight * along[i] * q * (1.0 - q)
    return slope, colder * curvature


@njit
def _length(met, z, along, p, temperature, slope, pull, single, new_p):
    """How long a step to take: where the slope along it has fallen to half of what it was, or less."""
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(_TRIALS):
        change, curvature = _slopes(met, z, along, p, temperature, length, single, new_p)
        there = slope + change + length * pull
        if abs(there) <= 0.5 * abs(slope):
            break
        if there < 0.0:
            low = length
        else:
            high = length
        length -= there / (curvature + pull)
        if high == np.inf:
            length = min(max(length, 1.1 * low), 10.0 * low)
        elif not low < length < high:
            length = 0.5 * (low + high)
    return length


@njit
def _direction(hessian, gradient, steps, changes, kept, shares, out):
    """out = −H g, with H the inverse Hessian after the steps that are kept (Nocedal's two loops)."""
    q = gradient.copy()
    for i in range(kept - 1, -1, -1):
        shares[i] = dot64(steps[i], q) / dot64(steps[i], changes[i])
        _add_scaled(q, -shares[i], changes[i])
    product(hessian, q, out)
    for i in range(kept):
        _add_scaled(out, shares[i] - dot64(changes[i], out) / dot64(steps[i], changes[i]), steps[i])
    for f in range(out.shape[0]):
        out[f] = -out[f]


@njit
def _curved(step, change):
    """Whether the gradient grew along a step by more than rounding."""
    return dot64(step, change) > 1e-14 * np.sqrt(dot64(step, step) * dot64(change, change))


@njit
def _learn(inverse, step, change, u):
    """BFGS: update the inverse Hessian for a step that changed the gradient so."""
    curvature = dot64(step, change)
    product(inverse, change, u)
    scale = (1.0 + dot64(change, u) / curvature) / curvature
    for f in range(step.shape[0]):
        _add_two(inverse[f], scale * step[f] - u[f] / curvature, step, -step[f] / curvature, u)


@njit(fastmath={"reassoc", "contract", "nsz"})
def _add_two(out, a, x, b, y):
    for f in range(out.shape[0]):
        out[f] += a * x[f] + b * y[f]


@njit
def _approach(x, met, regularization, tolerance, hessian, learning, single, theta, gradient, z, p):
    """Take quasi-Newton steps for all rankers side by side, all in place.

    Args:
        learning: whether the inverse Hessian is to learn from the steps, which is for a single ranker. Otherwise a
            ranker takes its last step unseen, once it is sure to end where nothing is left; its gradient, z and p are
            then as before that step.
        single: whether to read the pairs in single precision.
        theta, gradient: Float64[M, d]. z, p: margins and probabilities at θ, Float64[M, n].

    Returns:
        Whether each ranker has come to an end, Bool[M], and the number of passes over the pairs for one ranker.
    """
    rankers, d = theta.shape
    n, done, passes = x.shape[0], np.zeros(rankers, dtype=np.bool_), 0
    memory = 0 if learning else MOST_PASSES
    steps, changes = np.empty((rankers, memory, d)), np.empty((rankers, memory, d))
    kept, promised, whole = np.zeros(rankers, np.int64), np.full(rankers, np.inf), np.ones(rankers, np.bool_)
    shares, moving = np.empty(memory), np.empty(rankers, np.int64)
    step, u = np.empty((rankers, d)), np.empty(d)
    vectors, along, new_p, change = np.empty((rankers, d)), np.empty((rankers, n)), np.empty(n), np.empty((rankers, d))
    for taken in range(MOST_PASSES + 1):
        n_moving = 0
        for m in range(rankers):
            if done[m]:
                continue
            _direction(hessian, gradient[m], steps[m], changes[m], kept[m], shares, step[m])
            promise = -0.5 * dot64(step[m], gradient[m])
            done[m] = promise <= tolerance
            falls = promise <= 0.1 * promised[m] and whole[m] and promise * (promise / promised[m]) <= tolerance
            if taken and not learning and (done[m] or falls):
                _add_scaled(theta[m], 1.0, step[m])
                done[m] = True
            promised[m] = promise
            if not done[m]:
                vectors[n_moving] = step[m]
                moving[n_moving] = m
                n_moving += 1
        if n_moving == 0 or taken == MOST_PASSES:
            break
        _margins(x, vectors[:n_moving], single, along[:n_moving])
        passes += n_moving
        for k in range(n_moving):
            m = moving[k]
            slope, pull = dot64(step[m], gradient[m]), regularization * dot64(step[m], step[m])
            length = _length(met, z[m], along[k], p[m], 1.0, slope, pull, single, new_p)
            _add_scaled(z[m], length, along[k])
            _exchange(met, p[m], new_p, along[k])
            _scale(step[m], length)
            whole[m] = length == 1.0
        _sums(x, along[:n_moving], single, change[:n_moving])
        for k in range(n_moving):
            m = moving[k]
            _add_scaled(change[k], regularization, step[m])
            _add_scaled(theta[m], 1.0, step[m])
            _add_scaled(gradient[m], 1.0, change[k])
            if not _curved(step[m], change[k]):
                continue
            if learning:
                _learn(hessian, step[m], change[k], u)
            else:
                steps[m, kept[m]], changes[m, kept[m]] = step[m], change[k]
                kept[m] += 1
    return done, passes


@njit
def _newton_step(root, gradient, out):
    """out = −A⁻¹ g for the A of which the lower triangle is given; that becomes its Cholesky factor."""
    d = gradient.shape[0]
    for i in range(d):
        for j in range(i):
            root[i, j] = (root[i, j] - dot64(root[i, :j], root[j, :j])) / root[j, j]
        root[i, i] = np.sqrt(root[i, i] - dot64(root[i, :i], root[i, :i]))
        out[i] = -(gradient[i] + dot64(root[i, :i], out[:i])) / root[i, i]
    for i in range(d - 1, -1, -1):
        out[i] /= root[i, i]
        _add_scaled(out[:i], -out[i], root[i, :i])


@njit(error_model="numpy")
def _cool(x, outcomes, noise, regularization, tolerance, theta):
    """Newton steps from zero on τ · loss(z/τ), the logistic loss with its kink as wide as a temperature τ, which falls
    from that of the largest margins to 1; in place.

    Args:
        noise: b, Float64[d]. theta: Float64[d], not read.

    Returns:
        The number of passes over the pairs.
    """
    (n, d), passes = x.shape, 0
    met, p, new_p = np.empty(n), np.full(n, 0.5), np.empty(n)
    z, along = np.zeros(n), np.empty((1, n))
    step, change, root = np.empty((1, d)), np.empty((1, d)), np.empty((d, d))
    for i in range(n):
        met[i] = outcomes[i, 0] + outcomes[i, 1]
        along[0, i] = 0.5 * met[i] - outcomes[i, 0]
    _sums(x, along, False, change)
    _add_scaled(change[0], -1.0, noise)
    gradient, step[0] = change[0].copy(), change[0]
    theta[:] = 0.0
    _margins(x, step, False, along)
    temperature = 1.0
    for i in range(n):
        temperature = max(temperature, abs(along[0, i]) / (4.0 * regularization))
    if not temperature < np.inf:
        theta[:] = np.inf
        return passes
    while True:
        limit = tolerance if temperature == 1.0 else 0.1 * temperature
        for _ in range(_NEWTON_STEPS):
            root[:] = 0.0
            for i in range(n):
                weight = met[i] * p[i] * (1.0 - p[i]) / temperature
                if weight > 0.0:
                    for f in range(d):
                        _add_scaled(root[f, : f + 1], weight * x[i, f], x[i, : f + 1])
            for f in range(d):
                root[f, f] += regularization
            _newton_step(root, gradient, step[0])
            slope, pull = dot64(step[0], gradient), regularization * dot64(step[0], step[0])
            if not -0.5 * slope > limit:
                break
            _margins(x, step, False, along)
            length = _length(met, z, along[0], p, temperature, slope, pull, False, new_p)
            _add_scaled(z, length, along[0])
            _exchange(met, p, new_p, along[0])
            _scale(step[0], length)
            _sums(x, along, False, change)
            _add_scaled(change[0], regularization, step[0])
            _add_scaled(theta, 1.0, step[0])
            _add_scaled(gradient, 1.0, change[0])
            passes += 1
        if temperature == 1.0:
            return passes
        # the same margins at the next temperature
        cooler = max(1.0, temperature / _COOLER)
        _probabilities(z, cooler, new_p)
        _exchange(met, p, new_p, along[0])
        _sums(x, along, False, change)
        _add_scaled(gradient, 1.0, change[0])
        temperature = cooler


@njit(fastmath={"contract", "nsz"})
def _turn(row, x, cosine, sine):
    for f in range(row.shape[0]):
        a, b = row[f], x[f]
        row[f] = cosine * a + sine * b
        x[f] = cosine * b - sine * a


@njit
def _extend(root, x):
    """Update R, upper triangular with RᵀR = G, for G + x xᵀ, by plane rotations; x is lost."""
    for f in range(x.shape[0]):
        if x[f] != 0.0:
            length = np.hypot(root[f, f], x[f])
            _turn(root[f, f:], x[f:], root[f, f] / length, x[f] / length)


@njit
def _settle(x, outcomes, normals, spread, regularization, base, gradient, hessian, root, theta, new):
    """The optimum without noise if there are new labels, then those of all rankers.

    Args:
        spread: ν.

    Returns:
        The number of passes, and whether all numbers are finite; if not, θ stays.
    """
    (rankers, d), n, passes, labels = theta.shape, x.shape[0], 0, 0.0
    met = np.empty(n)
    for i in range(n):
        met[i] = outcomes[i, 0] + outcomes[i, 1]
        labels += met[i]
    single = n >= _SINGLE * d
    tolerance = (SINGLE_TOLERANCE if single else TOLERANCE) * (labels + 1.0)
    z, p = np.empty((rankers, n)), np.empty((rankers, n))
    at, below = base.reshape(1, d), gradient.reshape(1, d)  # the same memory
    _margins(x, at, single, z[:1])
    _probabilities(z[0], 1.0, p[0])
    if new:
        passes += _approach(x, met, regularization, tolerance, hessian, True, single, at, below, z[:1], p[:1])[1]

    there, uphill = np.empty((rankers, d)), np.empty((rankers, d))
    noise = np.zeros((rankers, d))
    for m in range(rankers):
        for f in range(d):
            _add_scaled(noise[m, f:], spread * normals[m, f], root[f, f:])
        there[m], uphill[m], z[m], p[m] = base, gradient, z[0], p[0]
        _add_scaled(uphill[m], -1.0, noise[m])
    done, more = _approach(x, met, regularization, tolerance, hessian, False, single, there, uphill, z, p)
    passes += more
    for m in range(rankers):
        if not done[m]:
            passes += _cool(x, outcomes, noise[m], regularization, tolerance, there[m])
    for m in range(rankers):
        if not dot64(there[m], there[m]) < np.inf:
            return passes, False
    theta[:] = there
    return passes, True


@njit(parallel=True, cache=True)
def _refit(
    x, outcomes, count, rows, won, normals, noise, regularization, pseudo, base, gradient, hessian, root, theta, alive,
    passes, refits,
):  # fmt: skip
    for r in prange(theta.shape[0]):
        d, n, new = theta.shape[2], count[r], 0
        u = np.empty(d)
        for i in range(rows.shape[1]):
            if rows[r, i] >= 0:
                new += 1
                pair = x[r, rows[r, i]]
                p = 1.0 / (1.0 + np.exp(-dot64(pair, base[r])))
                _add_scaled(gradient[r], p - won[r, i], pair)
                product(hessian[r], pair, u)
                curvature = p * (1.0 - p)
                downdate(hessian[r], u, curvature / (1.0 + curvature * dot64(u, pair)))
                u[:] = pair
                _extend(root[r], u)
        # without noise a refit to the same labels would change nothing
        if not alive[r] or not (new or (noise[r] > 0.0 and (pseudo or n))):
            continue
        more, alive[r] = _settle(
            x[r, :n], outcomes[r, :n], normals[r], np.sqrt(noise[r]), regularization[r], base[r], gradient[r],
            hessian[r], root[r], theta[r], new,
        )  # fmt: skip
        passes[r] += more
        refits[r] += 1


class PerturbedEstimate:
    """Ridge logistic regressions of N rankers on one history, each under its own noise on all labels, drawn afresh in
    every refit (P²NeurRank's Eq. 3.3 for linear scores).

    θ^(n) = argmin Σ −(y + γ) log σ(x_ijᵀθ) − (1 − y − γ) log σ(−x_ijᵀθ) + λ/2 ‖θ‖², with γ ~ N(0, ν²) of each label.

    The noise enters through one vector alone: −γ log σ(z) + γ log σ(−z) = −γ z, so the objective is the one without
    noise, f(θ), less bᵀθ with b = Σ γ x_ij. Given the history, b is normal with mean 0 and covariance
    ν² Σ x_ij x_ijᵀ = ν² G. So b = ν Rᵀ ξ with RᵀR = G and d standard normals ξ has exactly the distribution that
    fresh noise of all labels gives; R is upper triangular and follows G by plane rotations, one pair after another.
    With `pseudo_pairs` the d pairs √λ e_i that stand for the penalty in the paper's analysis (Eq. 4.1) are perturbed as
    well: b ~ N(0, ν² A) with A = λI + G.

    A refit first finds the optimum without noise, where there are new labels, and goes on from there for all rankers
    side by side. It stops when what is left promises to lower a ranker's objective by less than 1e-10 for each label,
    or 1e-8 once there are many pairs, which it reads in single precision.

    Args:
        regularization: λ > 0, Float64[R].
        n_rankers: N.
        pseudo_pairs: whether the pseudo-pairs are perturbed.
        n_features: d.
        device: "cpu".

    Attributes:
        rankers: θ^(n), Float64[R, N, d].
        base: the optimum without noise, Float64[R, d].
        alive: Bool[R], false for a replica whose numbers ran out; its θ are the last that were finite, for ever.
        passes: number of passes of one ranker over the pairs in all refits so far, Int64[R]; refits: Int64[R].
    """

    def __init__(
        self,
        regularization: torch.Tensor,
        n_rankers: int,
        pseudo_pairs: bool,
        n_features: int,
        device: torch.device | str = "cpu",
    ):
        n, d = len(regularization), n_features
        self._regularization, self._pseudo = regularization.numpy(), pseudo_pairs
        eye = torch.eye(d, dtype=torch.float64)
        self._hessian = (1.0 / regularization[:, None, None]) * eye
        self._root = regularization.sqrt()[:, None, None] * eye * float(pseudo_pairs)
        self._gradient, self.base = (torch.zeros(n, d, dtype=torch.float64) for _ in range(2))
        self.rankers = torch.zeros(n, n_rankers, d, dtype=torch.float64)
        self.alive = torch.ones(n, dtype=torch.bool)
        self.passes, self.refits = torch.zeros(n, dtype=torch.int64), torch.zeros(n, dtype=torch.int64)

    def refit(
        self, counts: PairCounts, rows: torch.Tensor, won: torch.Tensor, normals: torch.Tensor, noise: torch.Tensor
    ) -> None:
        """Move all rankers to their optima under fresh noise. A replica without labels stays where it is, unless its
        pseudo-pairs are perturbed; one without noise stays there if it has no new label.

        Args:
            counts: all pairs.
            rows, won: the labels added since the last refit, as `PairCounts.add` returned them.
            normals: ξ, independent standard normals, Float[R, N, d].
            noise: ν², Float64[R].
        """
        _refit(
            counts.x.numpy(),
            counts.outcomes.numpy(),
            counts.n_pairs.numpy(),
            rows.numpy(),
            won.numpy(),
            normals.numpy(),
            noise.numpy(),
            self._regularization,
            self._pseudo,
            self.base.numpy(),
            self._gradient.numpy(),
            self._hessian.numpy(),
            self._root.numpy(),
            self.rankers.numpy(),
            self.alive.numpy(),
            self.passes.numpy(),
            self.refits.numpy(),
        )
