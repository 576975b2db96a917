"""Linear scoring functions."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class LinearRanker:
    """f(x) = w · x for each replica.

    Args:
        weights: Float32[R, features].
    """

    weights: torch.Tensor

    def scores(self, features: torch.Tensor, replicas: torch.Tensor) -> torch.Tensor:
        """Scores of documents under some of the replicas, by one product: Float32[documents, len(replicas)]."""
        return features @ self.weights[replicas].T
