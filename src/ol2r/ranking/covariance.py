"""How certain a learner is along a direction: the covariance M⁻¹ of its estimate, for any kind of estimate."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor


def gram(x: Float64[Tensor, "R V d"], inverse: Float64[Tensor, "R rows d"]) -> Float64[Tensor, "R V V"]:
    """X M⁻¹ Xᵀ of each replica: Float64[R, V, V].

    Args:
        x: Float64[R, V, d].
        inverse: M⁻¹, Float64[R, d, d], or the inverse of M's diagonal, Float64[R, 1, d].
    """
    return _applied(x, inverse) @ x.mT


def _applied(x: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    return x * inverse if inverse.shape[1] == 1 else x @ inverse


class Covariance(ABC):
    """The inverse of M = λI + Σ x xᵀ over vectors x that come and may go, or the inverse of M's diagonal alone.

    Args:
        regularization: λ > 0, Float64[R].
        n_features: d.
        full: whether to keep the whole M⁻¹, or the inverse of M's diagonal only.
        device: device on which it is kept.

    Attributes:
        inverse: M⁻¹, Float64[R, d, d], or [R, 1, d] when not `full`.
        log_det: log(det M / det λI), Float64[R].
    """

    def __init__(
        self,
        regularization: Float64[Tensor, " R"],
        n_features: int,
        full: bool,
        device: torch.device | str = "cpu",
    ):
        diagonal = (1.0 / regularization[:, None]).repeat(1, n_features)
        self.inverse = diagonal.diag_embed() if full else diagonal[:, None]
        self.log_det = torch.zeros(len(regularization), dtype=torch.float64, device=device)

    @abstractmethod
    def add(self, x: Float[Tensor, "R P d"], present: Bool[Tensor, "R P"]) -> None:
        """Add x xᵀ for every present row, by rank-one updates of M⁻¹ (Sherman and Morrison).

        Args:
            x: Float[R, P, d], for a pair the difference of its documents' features; present: Bool[R, P].
        """

    @abstractmethod
    def remove(self, x: Float[Tensor, "R P d"], present: Bool[Tensor, "R P"]) -> None:
        """Take x xᵀ away for every present row, all of which were added before; see `add`."""

    def widths(self, x: Float64[Tensor, "R n d"]) -> Float64[Tensor, "R n"]:
        """‖x‖_{M⁻¹} of every row: Float64[R, n] from Float64[R, n, d]."""
        return (_applied(x, self.inverse) * x).sum(dim=2).clamp_min(0.0).sqrt()
