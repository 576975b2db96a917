"""Steps of Adam (Kingma and Ba, 2015): in torch, and compiled for the CPU."""

import math

import torch

from ol2r.compiling import kernel

_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8
"""β₁, β₂ and ε."""


def moments_of(theta: torch.Tensor) -> "Moments":
    """Moments of gradients that are to come: the compiled ones on the CPU, the batched ones elsewhere."""
    return CompiledMoments(theta) if theta.device.type == "cpu" else Moments(theta)


class Moments:
    """Running means of a gradient and of its square.

    Args:
        theta: Float[R, p], for its shape, precision and device.
    """

    def __init__(self, theta: torch.Tensor):
        self.mean, self.square = torch.zeros_like(theta), torch.zeros_like(theta)
        self.steps = 0

    def step(self, theta: torch.Tensor, gradient: torch.Tensor, rate: torch.Tensor) -> None:
        """Move θ, Float[R, p], in place.

        Args:
            rate: Float[R].
        """
        self.steps += 1
        # both moments start at zero; their corrections are drawn out of the quotient
        root = math.sqrt(1 - _SECOND**self.steps)
        self._step(theta, gradient, rate * (root / (1 - _FIRST**self.steps)), _EPSILON * root)

    def _step(self, theta: torch.Tensor, gradient: torch.Tensor, size: torch.Tensor, epsilon: float) -> None:
        self.mean.lerp_(gradient, 1 - _FIRST)
        self.square.mul_(_SECOND).addcmul_(gradient, gradient, value=1 - _SECOND)
        theta.addcdiv_(self.mean * size[:, None], self.square.sqrt().add_(epsilon), value=-1.0)


class CompiledMoments(Moments):
    """The same in one loop."""

    def _step(self, theta: torch.Tensor, gradient: torch.Tensor, size: torch.Tensor, epsilon: float) -> None:
        _adam(epsilon, *(each.numpy() for each in (self.mean, self.square, theta, gradient, size)))


@kernel(fastmath={"contract"}, error_model="numpy")
def _adam(epsilon, mean, square, theta, gradient, size):
    number = theta.dtype.type
    kept, new, kept_square, new_square = number(_FIRST), number(1 - _FIRST), number(_SECOND), number(1 - _SECOND)
    least = number(epsilon)
    for r in range(theta.shape[0]):
        for i in range(theta.shape[1]):
            g = gradient[r, i]
            mean[r, i] = kept * mean[r, i] + new * g
            square[r, i] = kept_square * square[r, i] + new_square * g * g
            theta[r, i] -= size[r] * mean[r, i] / (number(math.sqrt(square[r, i])) + least)
