"""What a learner is sure of along a direction: the covariance M⁻¹ of its estimate."""

import torch


def gram(x: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """X M⁻¹ Xᵀ of each replica: Float64[R, V, V].

    Args:
        x: Float64[R, V, d].
        inverse: M⁻¹, Float64[R, d, d], or its diagonal's, Float64[R, 1, d].
    """
    return (x * inverse if inverse.shape[1] == 1 else x @ inverse) @ x.mT
