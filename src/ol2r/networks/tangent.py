"""Gradients of a network's scores, document by document, as the few vectors that they are made of."""

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Tangent:
    """g(x; θ)/√m of some documents, g the gradient of their scores by all p parameters, without p numbers for each.

    The part of g/√m in W_l is δ_l a_{l−1}ᵀ, with a_{l−1} what goes into the layer and δ_l = ∂(f/√m)/∂(W_l a_{l−1}); of
    the last layer δ_L = 1. So ⟨g, g′⟩/m = Σ_l (a_{l−1}·a′_{l−1}) (δ_l·δ′_l).

    Args:
        inputs: a_0 … a_{L−1}, Float[R, V, inputs of the layer].
        deltas: δ_1 … δ_{L−1}, Float[R, V, outputs of the layer].
    """

    inputs: tuple[torch.Tensor, ...]
    deltas: tuple[torch.Tensor, ...]

    @property
    def factors(self) -> tuple[torch.Tensor, ...]:
        """All inputs, then all deltas."""
        return self.inputs + self.deltas

    def map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "Tangent":
        """The tangent with each factor changed."""
        return Tangent(tuple(map(change, self.inputs)), tuple(map(change, self.deltas)))

    def of(self, documents: torch.Tensor) -> "Tangent":
        """The tangent of some of the documents.

        Args:
            documents: Int64[R, n], positions.
        """
        return self.map(lambda factor: factor.gather(1, documents[..., None].expand(-1, -1, factor.shape[2])))

    def kernel(self, other: "Tangent") -> torch.Tensor:
        """⟨g, g′⟩/m of every document here with every document there: Float[R, V, V′]."""
        total = self.inputs[-1] @ other.inputs[-1].mT
        for a, b, delta, epsilon in zip(self.inputs, other.inputs, self.deltas, other.deltas, strict=False):
            total += (a @ b.mT).mul_(delta @ epsilon.mT)
        return total

    def explicit(self) -> torch.Tensor:
        """g/√m with all its entries, in the order of θ: Float[R, V, p]."""
        parts = [
            (delta[..., None] * a[:, :, None]).flatten(2) for delta, a in zip(self.deltas, self.inputs, strict=False)
        ]
        return torch.cat([*parts, self.inputs[-1]], dim=2)
