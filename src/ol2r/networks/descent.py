"""A refit's way by L-BFGS: which step it tries next, and what becomes of it; in torch, and compiled for the CPU."""

import numpy as np
import torch

from ol2r.compiling import kernel
from ol2r.networks.memory import CompiledMemory, Memory, remember, two_loops
from ol2r.networks.problem import Expansion

_ARMIJO = 1e-4
_NOISE = 1e-7
"""A step may raise the objective by so much for each label, which is what rounding does to it in single precision."""
_SHORTEST, _LONGEST = 0.1, 0.5
"""A step that is refused is cut to between these shares of it."""
_FLAT = 1e-5
"""A replica with no entry of the mean loss's gradient above this moves no further."""


def descent_of(
    memory: Memory, theta: torch.Tensor, there: Expansion, moving: torch.Tensor, n_labels: torch.Tensor
) -> "Descent":
    """A way down that begins at θ: the compiled one on the CPU, the batched one elsewhere; see `Descent`."""
    descent = CompiledDescent if isinstance(memory, CompiledMemory) else Descent
    return descent(memory, theta, there, moving, n_labels)


class Descent:
    """Where each replica is, and the step that it tries next.

    Args:
        memory: of earlier steps; it is given those of this descent.
        theta: where it begins, Float[R, p].
        there: the objective in that place.
        moving: Bool[R], which replicas are to move.
        n_labels: Float64[R].

    Attributes:
        theta: the best place so far, Float[R, p].
        finite: Bool[R], for which replicas it could begin.
        moving: Bool[R], which replicas still move.
    """

    def __init__(
        self, memory: Memory, theta: torch.Tensor, there: Expansion, moving: torch.Tensor, n_labels: torch.Tensor
    ):
        self.memory, self.theta, self.value = memory, theta, there.value
        self.finite = (there.value.abs() < torch.inf) & (there.gradient.abs().amax(dim=1) < torch.inf)
        self.gradient = torch.where(self.finite[:, None], there.gradient, 0.0)
        self.tolerance, self.flat = _NOISE * n_labels, _FLAT * n_labels
        self.moving = moving & self.finite & (self.gradient.abs().amax(dim=1) > self.flat)
        self.along = memory.products(self.gradient)
        self.direction, self.slope = memory.direction(self.gradient, self.along)
        self.length = torch.ones_like(self.value)

    def trial(self) -> torch.Tensor:
        """θ after the next step, Float[R, p]."""
        self.step = self.length.to(self.theta.dtype)[:, None] * self.direction
        return self.theta + self.step

    def settle(self, trial: torch.Tensor, there: Expansion, last: bool = False) -> None:
        """Take the step where the objective fell enough, or shorten it; after the last one no direction is needed."""
        promised = self.length * self.slope
        risen = there.value - self.value
        taken = self.moving & (risen <= _ARMIJO * promised + self.tolerance)  # of a NaN the comparison is false
        self.along = self.memory.add(self.step, there.gradient - self.gradient, taken, self.gradient, self.along)
        self.theta = torch.where(taken[:, None], trial, self.theta)
        self.value = torch.where(taken, there.value, self.value)
        self.gradient = torch.where(taken[:, None], there.gradient, self.gradient)
        if last:
            return
        # after a step that was refused, the same again
        self.direction, self.slope = self.memory.direction(self.gradient, self.along)
        # the parabola through both values and the slope has its minimum at this share of the step
        share = -promised / (2 * (risen - promised))
        share = torch.where(share > _SHORTEST, share, _SHORTEST).clamp_max(_LONGEST)
        self.length = torch.where(taken, 1.0, self.length * share)
        self.moving = self.moving & (self.gradient.abs().amax(dim=1) > self.flat)


class CompiledDescent(Descent):
    """The same, one replica after another, and only of those that move; all is written in place."""

    def __init__(
        self, memory: Memory, theta: torch.Tensor, there: Expansion, moving: torch.Tensor, n_labels: torch.Tensor
    ):
        super().__init__(memory, theta.clone(), there, moving, n_labels)
        self.step = torch.empty_like(theta)

    def trial(self) -> torch.Tensor:
        """See `Descent.trial`."""
        trial = torch.empty_like(self.theta)
        _try(*(each.numpy() for each in (self.theta, self.direction, self.length, self.step, trial)))
        return trial

    def settle(self, trial: torch.Tensor, there: Expansion, last: bool = False) -> None:
        """See `Descent.settle`."""
        here = self.theta, self.value, self.gradient
        ahead = self.direction, self.slope, self.length, self.step
        limits = self.moving, self.tolerance, self.flat
        assert isinstance(self.memory, CompiledMemory)
        _settle(self.memory.arrays(), last, *(each.numpy() for each in (*here, *ahead, *limits, trial, *there)))


@kernel
def _try(theta, direction, length, step, trial):
    for r in range(theta.shape[0]):
        size = theta.dtype.type(length[r])
        for i in range(theta.shape[1]):
            step[r, i] = size * direction[r, i]
            trial[r, i] = theta[r, i] + step[r, i]


@kernel
def _settle(
    memory,
    last,
    theta,
    value,
    gradient,
    direction,
    slope,
    length,
    step,
    moving,
    tolerance,
    flat,
    trial,
    new_value,
    new_gradient,
):
    for r in range(theta.shape[0]):
        if not moving[r]:
            continue
        promised, risen = length[r] * slope[r], new_value[r] - value[r]
        if risen <= _ARMIJO * promised + tolerance[r]:
            remember(memory, r, step[r], new_gradient[r] - gradient[r])
            theta[r], value[r], gradient[r] = trial[r], new_value[r], new_gradient[r]
            if last:
                continue
            slope[r] = two_loops(memory, r, gradient[r], direction[r])
            length[r] = 1.0
            moving[r] = np.abs(gradient[r]).max() > flat[r]
        else:
            share = -promised / (2 * (risen - promised))
            length[r] *= min(share, _LONGEST) if share > _SHORTEST else _SHORTEST
