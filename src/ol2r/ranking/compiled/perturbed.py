"""Optima of one history under several perturbations of its labels, compiled: all rankers share each pass over it.

The optimum without noise and those of all rankers start from one point, by L-BFGS side by side. Its first inverse
Hessian is that of the optimum without noise, which BFGS and rank-one terms keep. With many pairs one pass or two are
enough. With few, noise beyond a label's range drives margins so far that the loss is a line on both sides of a kink;
what is left then goes by Newton steps on a smoother loss, that becomes the loss itself step by step.
"""

import numpy as np
import torch
from numba import prange
from torch.nn.functional import pad

from ol2r.compiling import kernel, part
from ol2r.ranking.compiled.blocks import dot64
from ol2r.ranking.compiled.counts import PairCounts
from ol2r.ranking.compiled.covariance import downdate, product
from ol2r.ranking.compiled.scalars import fill, put

TOLERANCE, SINGLE_TOLERANCE = 1e-12, 1e-8
"""A refit stops when what is left promises to lower the objective by less than this for each label, the latter where
pairs are read in single precision. It is no share of the objective, as noise can make that negative."""
MOST_PASSES = 100
_SINGLE, _LONG = 8, 1 << 17
"""With so many pairs for each feature margins are small enough for single precision, and with so many numbers in all
pairs it saves time. A shorter history is read in double precision, so that scores come close to those of the optimum:
in single precision engines may disagree about an order where scores differ in the fourth digit."""
_NEWTON_STEPS = 40  # most steps at one temperature
_COOLER = 3.0  # factor between temperatures
_TRIALS = 30
_TILE = 64  # rows of the history that stay in the cache while all rankers read them


@part(fastmath={"reassoc", "contract", "nsz"})
def _one_product(row, a, out, i):
    """out[i] = row · a, in the precision of a."""
    total = a[0] * 0
    for f in range(a.shape[0]):
        total += row[f] * a[f]
    out[i] = total


@part(fastmath={"reassoc", "contract", "nsz"})
def _two_products(row, a, b, out, other, i):
    """out[i] = row · a and other[i] = row · b, in the precision of a and b."""
    first, second = a[0] * 0, b[0] * 0
    for f in range(a.shape[0]):
        value = row[f]
        first += value * a[f]
        second += value * b[f]
    out[i], other[i] = first, second


@part(fastmath={"reassoc", "contract", "nsz"})
def _add_four(total, x0, x1, x2, x3, c0, c1, c2, c3):
    for f in range(total.shape[0]):
        total[f] += c0 * x0[f] + c1 * x1[f] + c2 * x2[f] + c3 * x3[f]


@part(fastmath={"reassoc", "contract", "nsz"})
def _add_scaled(out, scale, x):
    for f in range(out.shape[0]):
        out[f] += scale * x[f]


@part
def _scale(x, factor):
    for f in range(x.shape[0]):
        x[f] *= factor


@part
def _shifts(met, p, new_p, out):
    """out = how the expected labels change with the probabilities."""
    for i in range(p.shape[0]):
        out[i] = met[i] * (new_p[i] - p[i])


@part
def _margins(x, vectors, out):
    """out[k, i] = x_i · vectors[k] for all rankers k, in the precision of the vectors."""
    rankers = vectors.shape[0]
    for k in range(0, rankers - 1, 2):
        for i in range(x.shape[0]):
            _two_products(x[i], vectors[k], vectors[k + 1], out[k], out[k + 1], i)
    if rankers % 2:
        for i in range(x.shape[0]):
            _one_product(x[i], vectors[rankers - 1], out[rankers - 1], i)


@part
def _add_rows(x, coefficients, single, out):
    """out += Σ_i coefficients_i x_i; `single`: of rows in single precision."""
    i = 0
    if single:
        total, c = np.empty(x.shape[1], np.float32), np.empty(coefficients.shape[0], np.float32)
        fill(total, 0.0)
        put(c, coefficients)
        while i + 4 <= x.shape[0]:
            _add_four(total, x[i], x[i + 1], x[i + 2], x[i + 3], c[i], c[i + 1], c[i + 2], c[i + 3])
            i += 4
        _add_scaled(out, 1.0, total)
    while i < x.shape[0]:
        _add_scaled(out, coefficients[i], x[i])
        i += 1


@part(error_model="numpy")
def _probability(z, single):
    """σ(z)."""
    if single:
        return np.float64(np.float32(1.0) / (np.float32(1.0) + np.exp(np.float32(-z))))
    return 1.0 / (1.0 + np.exp(-z))


@part(error_model="numpy")
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


@part(error_model="numpy")
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


@part
def _advance(x, met, temperature, regularization, single, moving, step, change, theta, gradient, z, p):
    """Take a step with some rankers, each as long as `_length` says, all in place.

    One pass over the pairs finds where whole steps lead; a step of another length takes one more.

    Args:
        single: whether to read the pairs in single precision.
        moving: the numbers of the rankers.
        step: Float64[M, d]; each becomes as long as it is taken. change: of the gradient, which is written here.
        theta, gradient: Float64[M, d]. z, p: margins and probabilities at θ, Float64[M, pairs].

    Returns:
        The lengths of the steps, in the order of `moving`.
    """
    (n, d), rankers = x.shape, moving.shape[0]
    wide, short = np.empty((rankers, d)), np.empty((rankers, d), np.float32)
    along, new_p = np.empty((rankers, n)), np.empty((rankers, n))
    part, shifts, slopes = np.empty((rankers, _TILE)), np.empty(max(n, _TILE)), np.empty(rankers)
    fill(slopes, 0.0)
    for k in range(rankers):
        fill(change[moving[k]], 0.0)
        for f in range(d):
            wide[k, f] = short[k, f] = step[moving[k], f]
    for start in range(0, n, _TILE):
        stop = min(start + _TILE, n)
        if single:
            _margins(x[start:stop], short, part)
        else:
            _margins(x[start:stop], wide, part)
        for k in range(rankers):
            m = moving[k]
            a, q, before = along[k, start:stop], new_p[k, start:stop], p[m, start:stop]
            put(a, part[k])
            slopes[k] += _slopes(met[start:stop], z[m, start:stop], a, before, temperature, 1.0, single, q)[0]
            _shifts(met[start:stop], before, q, shifts[: stop - start])
            _add_rows(x[start:stop], shifts[: stop - start], single, change[m])
    for k in range(rankers):
        m, length = moving[k], 1.0
        slope, pull = dot64(step[m], gradient[m]), regularization * dot64(step[m], step[m])
        if not abs(slope + slopes[k] + pull) <= 0.5 * abs(slope):
            length = _length(met, z[m], along[k], p[m], temperature, slope, pull, single, new_p[k])
            _shifts(met, p[m], new_p[k], shifts)
            fill(change[m], 0.0)
            for start in range(0, n, _TILE):
                stop = min(start + _TILE, n)
                _add_rows(x[start:stop], shifts[start:stop], single, change[m])
        _add_scaled(z[m], length, along[k])
        put(p[m], new_p[k])
        _scale(step[m], length)
        _add_scaled(change[m], regularization, step[m])
        _add_scaled(theta[m], 1.0, step[m])
        _add_scaled(gradient[m], 1.0, change[m])
        slopes[k] = length
    return slopes


@part
def _direction(hessian, gradient, steps, changes, kept, shares, q, out):
    """out = −H g, with H the inverse Hessian after the steps that are kept (Nocedal's two loops)."""
    put(q, gradient)
    for i in range(kept - 1, -1, -1):
        shares[i] = dot64(steps[i], q) / dot64(steps[i], changes[i])
        _add_scaled(q, -shares[i], changes[i])
    product(hessian, q, out)
    for i in range(kept):
        _add_scaled(out, shares[i] - dot64(changes[i], out) / dot64(steps[i], changes[i]), steps[i])
    _scale(out, -1.0)


@part
def _learn(inverse, step, change, u):
    """BFGS: update the inverse Hessian for a step that changed the gradient so."""
    curvature = dot64(step, change)
    product(inverse, change, u)
    scale = (1.0 + dot64(change, u) / curvature) / curvature
    for f in range(step.shape[0]):
        _add_two(inverse[f], scale * step[f] - u[f] / curvature, step, -step[f] / curvature, u)


@part(fastmath={"reassoc", "contract", "nsz"})
def _add_two(out, a, x, b, y):
    for f in range(out.shape[0]):
        out[f] += a * x[f] + b * y[f]


@part(error_model="numpy")
def _approach(x, met, regularization, tolerance, single, hessian, done, last, theta, gradient, z, p):
    """Take quasi-Newton steps for all rankers side by side, all in place.

    The inverse Hessian learns from the steps of the first, which is the optimum without noise; the others keep theirs.
    A ranker takes its last step unseen, once it is sure to end where nothing is left.

    Args:
        single: whether to read the pairs in single precision.
        done: Bool[M], which rankers have come to an end; those at first do not move.
        last: the last step, Float64[M, d]: a ranker that comes to an end does so at θ + last.
        theta, gradient: Float64[M, d]. z, p: margins and probabilities at θ, Float64[M, pairs].

    Returns:
        The number of passes over the pairs for one ranker.
    """
    rankers, d = theta.shape
    steps, changes = np.empty((rankers, MOST_PASSES, d)), np.empty((rankers, MOST_PASSES, d))
    kept, promised, whole = np.empty(rankers, np.int64), np.empty(rankers), np.empty(rankers, np.bool_)
    shares, moving, u, change = np.empty(MOST_PASSES), np.empty(rankers, np.int64), np.empty(d), np.empty((rankers, d))
    passes = 0
    for m in range(rankers):
        kept[m], promised[m], whole[m] = 0, np.inf, True
    for taken in range(MOST_PASSES + 1):
        n_moving = 0
        for m in range(rankers):
            if done[m]:
                continue
            _direction(hessian, gradient[m], steps[m], changes[m], kept[m], shares, u, last[m])
            promise = -0.5 * dot64(last[m], gradient[m])
            falls = taken > 0 and whole[m] and promise <= 0.1 * promised[m]
            done[m] = promise <= tolerance or (falls and promise * (promise / promised[m]) <= tolerance)
            promised[m] = promise
            if not done[m]:
                moving[n_moving] = m
                n_moving += 1
        if n_moving == 0 or taken == MOST_PASSES:
            break
        lengths = _advance(x, met, 1.0, regularization, single, moving[:n_moving], last, change, theta, gradient, z, p)
        passes += n_moving
        for k in range(n_moving):
            m = moving[k]
            whole[m] = lengths[k] == 1.0
            step, turn = last[m], change[m]
            if not dot64(step, turn) > 1e-14 * np.sqrt(dot64(step, step) * dot64(turn, turn)):
                continue  # no more than rounding
            if m == 0:
                _learn(hessian, step, turn, u)
            else:
                put(steps[m, kept[m]], step)
                put(changes[m, kept[m]], turn)
                kept[m] += 1
    return passes


@part
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


@part(error_model="numpy")
def _cool(x, outcomes, met, noise, regularization, tolerance, theta):
    """Newton steps from zero on τ · loss(z/τ), the logistic loss with its kink as wide as a temperature τ, which falls
    from that of the largest margins to 1; in place.

    Args:
        noise: b, Float64[d]. theta: Float64[1, d], not read.

    Returns:
        The number of passes over the pairs.
    """
    (n, d), passes = x.shape, 0
    z, p, along, shifts = np.empty((1, n)), np.empty((1, n)), np.empty((1, n)), np.empty(n)
    step, change, gradient, root = np.empty((1, d)), np.empty((1, d)), np.empty((1, d)), np.empty((d, d))
    moving = np.empty(1, np.int64)
    moving[0] = 0
    fill(gradient[0], 0.0)
    fill(z[0], 0.0)
    fill(p[0], 0.5)
    for i in range(n):
        shifts[i] = 0.5 * met[i] - outcomes[i, 0]
    _add_scaled(gradient[0], -1.0, noise)
    _add_rows(x, shifts, False, gradient[0])
    fill(theta[0], 0.0)
    _margins(x, gradient, along)
    temperature = 1.0
    for i in range(n):
        temperature = max(temperature, abs(along[0, i]) / (4.0 * regularization))
    if not temperature < np.inf:
        fill(theta[0], np.inf)
        return passes
    while True:
        limit = tolerance if temperature == 1.0 else 0.1 * temperature
        for _ in range(_NEWTON_STEPS):
            for f in range(d):
                fill(root[f], 0.0)
                root[f, f] = regularization
            for i in range(n):
                weight = met[i] * p[0, i] * (1.0 - p[0, i]) / temperature
                if weight > 0.0:
                    for f in range(d):
                        _add_scaled(root[f, : f + 1], weight * x[i, f], x[i, : f + 1])
            _newton_step(root, gradient[0], step[0])
            if not -0.5 * dot64(step[0], gradient[0]) > limit:
                break
            _advance(x, met, temperature, regularization, False, moving, step, change, theta, gradient, z, p)
            passes += 1
        if temperature == 1.0:
            return passes
        # the same margins at the next temperature
        temperature = max(1.0, temperature / _COOLER)
        for i in range(n):
            along[0, i] = _probability(z[0, i] / temperature, False)
        _shifts(met, p[0], along[0], shifts)
        put(p[0], along[0])
        _add_rows(x, shifts, False, gradient[0])


@part(fastmath={"contract", "nsz"})
def _turn(row, x, cosine, sine):
    for f in range(row.shape[0]):
        a, b = row[f], x[f]
        row[f] = cosine * a + sine * b
        x[f] = cosine * b - sine * a


@part
def _extend(root, x):
    """Update R, upper triangular with RᵀR = G, for G + x xᵀ, by plane rotations; x is lost."""
    for f in range(x.shape[0]):
        if x[f] != 0.0:
            length = np.hypot(root[f, f], x[f])
            _turn(root[f, f:], x[f:], root[f, f] / length, x[f] / length)


@part
def _settle(x, outcomes, noises, regularization, new, point, gradient, z, p, hessian, base, theta):
    """The optimum without noise, if there are new labels, and those of all rankers.

    Args:
        noises: b of each ranker, Float64[N, d]; none without noise, where all rankers are the optimum.
        point, gradient, z, p: where all start, with the gradient without noise there, margins and probabilities.

    Returns:
        The number of passes, and whether all numbers are finite; if not, θ stays.
    """
    (rankers, d), n, labels = noises.shape, x.shape[0], 0.0
    met = np.empty(n)
    for i in range(n):
        met[i] = outcomes[i, 0] + outcomes[i, 1]
        labels += met[i]
    single = n >= _SINGLE * d and n * d >= _LONG
    tolerance = (SINGLE_TOLERANCE if single else TOLERANCE) * (labels + 1.0)
    there, uphill, last = np.empty((rankers + 1, d)), np.empty((rankers + 1, d)), np.empty((rankers + 1, d))
    margins, chances, done = np.empty((rankers + 1, n)), np.empty((rankers + 1, n)), np.empty(rankers + 1, np.bool_)
    fill(done, False)
    for m in range(rankers + 1):
        fill(last[m], 0.0)
        put(there[m], point)
        put(uphill[m], gradient)
        put(margins[m], z)
        put(chances[m], p)
        if m:
            _add_scaled(uphill[m], -1.0, noises[m - 1])
    done[0] = not new
    passes = _approach(
        x, met, regularization, tolerance, single, hessian, done, last, there, uphill, margins, chances
    )  # fmt: skip
    put(z, margins[0])
    put(p, chances[0])
    put(point, there[0])
    put(gradient, uphill[0])
    for m in range(rankers + 1):
        if done[m]:
            _add_scaled(there[m], 1.0, last[m])
        elif m:
            passes += _cool(x, outcomes, met, noises[m - 1], regularization, tolerance, there[m : m + 1])
    for m in range(rankers + 1):
        if not dot64(there[m], there[m]) < np.inf:
            return passes, False
    if new:
        put(base, there[0])
    for m in range(theta.shape[0]):
        put(theta[m], there[m + 1] if rankers else base)
    return passes, True


@kernel
def _refit(
    x, outcomes, count, rows, won, normals, noise, regularization, pseudo, point, gradient, known, z, p, hessian, root,
    base, theta, alive, passes, refits,
):  # fmt: skip
    for r in prange(theta.shape[0]):
        d, n, new = theta.shape[2], count[r], 0
        u = np.empty(d)
        for i in range(rows.shape[1]):
            if rows[r, i] >= 0:
                new += 1
                row = rows[r, i]
                pair = x[r, row]
                if row >= known[r]:
                    known[r] = row + 1
                    z[r, row] = dot64(pair, point[r])
                    p[r, row] = _probability(z[r, row], False)
                _add_scaled(gradient[r], p[r, row] - won[r, i], pair)
                product(hessian[r], pair, u)
                curvature = p[r, row] * (1.0 - p[r, row])
                downdate(hessian[r], u, curvature / (1.0 + curvature * dot64(u, pair)))
                put(u, pair)
                _extend(root[r], u)
        # without noise a refit to the same labels would change nothing
        noisy = noise[r] > 0.0 and (pseudo or n > 0)
        if not alive[r] or not (new or noisy):
            continue
        noises = np.empty((theta.shape[1] if noisy else 0, d))
        for m in range(noises.shape[0]):
            fill(noises[m], 0.0)
            for f in range(d):
                _add_scaled(noises[m, f:], np.sqrt(noise[r]) * normals[r, m, f], root[r, f, f:])
        more, alive[r] = _settle(
            x[r, :n], outcomes[r, :n], noises, regularization[r], new > 0, point[r], gradient[r], z[r, :n], p[r, :n],
            hessian[r], base[r], theta[r],
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

    A refit finds the optimum without noise, where there are new labels, and those of all rankers side by side. It stops
    when what is left promises to lower a ranker's objective by less than 1e-12 for each label, or 1e-8 once there are
    many pairs, which it reads in single precision. Without noise all rankers are the optimum.

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
        self._root = torch.from_numpy(np.sqrt(self._regularization))[:, None, None] * eye * float(pseudo_pairs)
        # where the last refit looked last, a step before its optimum: the gradient there, margins and probabilities
        self._point, self._gradient, self.base = (torch.zeros(n, d, dtype=torch.float64) for _ in range(3))
        self._margins, self._chances = (torch.zeros(n, 0, dtype=torch.float64) for _ in range(2))
        self._known = torch.zeros(n, dtype=torch.int64)  # how many pairs have them
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
        more = counts.x.shape[1] - self._margins.shape[1]
        if more > 0:
            self._margins, self._chances = (pad(each, (0, more)) for each in (self._margins, self._chances))
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
            self._point.numpy(),
            self._gradient.numpy(),
            self._known.numpy(),
            self._margins.numpy(),
            self._chances.numpy(),
            self._hessian.numpy(),
            self._root.numpy(),
            self.base.numpy(),
            self.rankers.numpy(),
            self.alive.numpy(),
            self.passes.numpy(),
            self.refits.numpy(),
        )
