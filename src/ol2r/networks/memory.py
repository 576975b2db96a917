"""What L-BFGS remembers of its steps, and the directions that follow from it: in torch, and compiled for the CPU."""

import numpy as np
import torch

from ol2r.compiling import kernel, part

MOST_STEPS, REFITS = 60, 6
"""How many steps are remembered at most, and of how many refits: each direction costs as much as they are many."""
_CURVED = 1e-6
"""A step is remembered when the gradient grew along it: cos(s, y) is above this."""


def steps_of(passes: int) -> int:
    """How many steps are remembered where a refit makes so many passes."""
    return min(MOST_STEPS, REFITS * passes)


def memory_of(theta: torch.Tensor, passes: int) -> "Memory":
    """An empty memory for refits of so many passes: the compiled one on the CPU, the batched one elsewhere."""
    return (CompiledMemory if theta.device.type == "cpu" else Memory)(theta, steps_of(passes))


class Memory:
    """Steps s and changes of the gradient y that L-BFGS remembers, and the products of both.

    With S and Y the remembered steps and changes as columns, R the products s_iᵀy_j where i is not newer than j, and D
    their diagonal, the inverse Hessian is (Byrd, Nocedal and Schnabel, 1994, Eq. 3.1)

        H = γI + [S γY] [[R⁻ᵀ(D + γYᵀY)R⁻¹, −R⁻ᵀ], [−R⁻¹, 0]] [S γY]ᵀ,    γ = sᵀy/yᵀy of the newest.

    R⁻¹ is kept itself: a new step adds a row and a column, and forgetting the oldest one takes a row and a column away.
    So the places need no order. An empty place is zero in all tables. What is not to be remembered goes to a place of
    its own behind all others, as zeros.

    Args:
        theta: Float[R, p], for its shape, precision and device.
        steps: how many it remembers.
    """

    def __init__(self, theta: torch.Tensor, steps: int = MOST_STEPS):
        n, p = theta.shape
        places = steps + 1
        like = {"dtype": torch.float64, "device": theta.device}
        self.kept = theta.new_zeros(n, 2, places, p)  # s, then y
        self.inverse, self.squared = (torch.zeros(n, places, places, **like) for _ in range(2))  # R⁻¹ and YᵀY
        self.curvature = torch.zeros(n, places, **like)  # D
        self.gamma = torch.zeros(n, **like)
        self.oldest = torch.zeros(n, dtype=torch.int64, device=theta.device)  # the place that is filled next

    def products(self, vector: torch.Tensor) -> torch.Tensor:
        """Sᵀv and Yᵀv, Float64[R, 2, places] from Float[R, p]."""
        return _times(self.kept.flatten(1, 2), vector).to(torch.float64).unflatten(1, (2, -1))

    def direction(self, gradient: torch.Tensor, along: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """−H g Float[R, p], and the slope −gᵀHg Float64[R].

        With nothing remembered, or where rounding makes it lead uphill, −g, no longer than 1.

        Args:
            gradient: g; along: `products` of g.
        """
        gamma = self.gamma[:, None]
        one = _times(self.inverse, along[:, 0])
        other = self.curvature * one + gamma * (_times(self.squared, one) - along[:, 1])
        other = _times(self.inverse.mT, other)
        weights = torch.cat([other, -gamma * one], dim=1).to(gradient.dtype)
        found = torch.bmm(weights[:, None], self.kept.flatten(1, 2))[:, 0]
        found.addcmul_(gamma.to(gradient.dtype), gradient)

        slope = -(gradient * found).sum(dim=1)
        square = (gradient * gradient).sum(dim=1)
        downhill = slope < 0
        plain = square.sqrt().clamp_min(1.0).reciprocal()
        direction = torch.where(downhill[:, None], found, plain[:, None] * gradient).neg_()
        return direction, torch.where(downhill, slope, -plain * square)

    def add(
        self,
        step: torch.Tensor,
        change: torch.Tensor,
        taken: torch.Tensor,
        gradient: torch.Tensor,
        along: torch.Tensor,
    ) -> torch.Tensor:
        """Remember a step where it was taken and the gradient grew along it, in the place of the oldest.

        Args:
            step, change: Float[R, p]; taken: Bool[R].
            gradient: where the step began; along: its `products`.

        Returns:
            `products` of the gradient where the step ended, or of the same gradient where it was not taken.
        """
        both = torch.stack([step, change], dim=1)
        grown, steepness = torch.bmm(both, change[..., None])[..., 0].to(torch.float64).unbind(dim=1)
        length = (step * step).sum(dim=1)
        remembered = taken & (grown > _CURVED * (length * steepness).sqrt())
        places = self.kept.shape[2]
        place = torch.where(remembered, self.oldest, places - 1)[:, None]
        both = torch.where(remembered[:, None, None], both, 0.0)
        self.kept.scatter_(2, place[:, None, :, None].expand(-1, 2, 1, both.shape[2]), both[:, :, None])
        by_gradient = torch.bmm(both, gradient[..., None]).to(torch.float64)
        along = along.scatter(2, place[:, None].expand(-1, 2, 1), by_gradient)
        by_change = self.products(torch.where(taken[:, None], change, 0.0))

        grown = torch.where(remembered, grown, 0.0)[:, None]
        scale = torch.where(remembered[:, None], 1.0 / grown, 0.0)
        row, column = place[:, None].expand(-1, 1, places), place[..., None].expand(-1, places, 1)
        none = torch.zeros_like(row, dtype=torch.float64)
        self.inverse.scatter_(1, row, none)  # the oldest is forgotten: what was left of it in R⁻¹
        own = by_change[:, 0].scatter(1, place, 0.0)
        new = (-scale * _times(self.inverse, own)).scatter(1, place, scale)
        self.inverse.scatter_(2, column, new[..., None])
        squares = torch.where(remembered[:, None], by_change[:, 1], 0.0)
        self.squared.scatter_(2, column, squares[..., None]).scatter_(1, row, squares[:, None])
        self.curvature.scatter_(1, place, grown)
        self.gamma = torch.where(remembered, grown[:, 0] / steepness, self.gamma)
        self.oldest = torch.where(remembered, (self.oldest + 1) % (places - 1), self.oldest)
        return along + by_change


def _times(matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """Float[R, n] from Float[R, n, m] and Float[R, m]."""
    return torch.bmm(matrix, vector[..., None])[..., 0]


class CompiledMemory(Memory):
    """The same by the two loops of L-BFGS (Nocedal, 1980), one replica after another; it needs no table of products."""

    def products(self, vector: torch.Tensor) -> torch.Tensor:
        """Nothing, Float64[R, 0]: the loops form the products themselves."""
        return self.gamma.new_zeros(len(vector), 0)

    def direction(self, gradient: torch.Tensor, along: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """See `Memory.direction`."""
        direction, slope = torch.empty_like(gradient), torch.empty_like(self.gamma)
        _two_loops(self.arrays(), gradient.numpy(), direction.numpy(), slope.numpy())
        return direction, slope

    def add(
        self,
        step: torch.Tensor,
        change: torch.Tensor,
        taken: torch.Tensor,
        gradient: torch.Tensor,
        along: torch.Tensor,
    ) -> torch.Tensor:
        """See `Memory.add`."""
        _remember(self.arrays(), step.numpy(), change.numpy(), taken.numpy())
        return along

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """All that it keeps, for `remember` and `two_loops`, which write to it."""
        return self.kept.numpy(), self.curvature.numpy(), self.gamma.numpy(), self.oldest.numpy()


@part(fastmath={"reassoc", "contract", "nsz"})
def _dot(a, b):
    total = a[0] * b[0]
    for i in range(1, a.shape[0]):
        total += a[i] * b[i]
    return total


@part(fastmath={"reassoc", "contract", "nsz"})
def _add_scaled(out, scale, x):
    scale = out.dtype.type(scale)
    for i in range(out.shape[0]):
        out[i] += scale * x[i]


@part
def two_loops(memory, r, g, q):
    """q = −H g of replica r; returns the slope −gᵀHg."""
    kept, curvature, gamma, oldest = memory[0][r], memory[1][r], memory[2][r], memory[3][r]
    places = kept.shape[1] - 1
    shares = np.empty(places)
    q[:] = g
    square, down = float(_dot(g, g)), 0.0
    if gamma > 0.0:
        for back in range(1, places + 1):
            i = (oldest - back) % places
            if curvature[i] > 0.0:
                shares[i] = _dot(kept[0, i], q) / curvature[i]
                _add_scaled(q, -shares[i], kept[1, i])
        q *= q.dtype.type(gamma)
        for onward in range(places):
            i = (oldest + onward) % places
            if curvature[i] > 0.0:
                _add_scaled(q, shares[i] - _dot(kept[1, i], q) / curvature[i], kept[0, i])
        down = float(_dot(g, q))
    if not down > 0.0:
        plain = 1.0 / max(np.sqrt(square), 1.0)
        q[:] = g
        q *= q.dtype.type(plain)
        down = plain * square
    for f in range(q.shape[0]):
        q[f] = -q[f]
    return -down


@part
def remember(memory, r, s, y):
    """Remember a step s of replica r where the gradient y grew along it, in the place of the oldest."""
    kept, curvature, gamma, oldest = memory
    grown, length, steepness = float(_dot(s, y)), float(_dot(s, s)), float(_dot(y, y))
    if grown > _CURVED * np.sqrt(length * steepness):
        i = oldest[r]
        kept[r, 0, i], kept[r, 1, i] = s, y
        curvature[r, i] = grown
        gamma[r] = grown / steepness
        oldest[r] = (i + 1) % (kept.shape[2] - 1)


@kernel
def _two_loops(memory, gradient, direction, slope):
    for r in range(gradient.shape[0]):
        slope[r] = two_loops(memory, r, gradient[r], direction[r])


@kernel
def _remember(memory, step, change, taken):
    for r in range(step.shape[0]):
        if taken[r]:
            remember(memory, r, step[r], change[r])
