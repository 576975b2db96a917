"""Linear scoring functions."""

from dataclasses import dataclass

import numpy as np
import torch

from ol2r.ranking import default_engine, engine


@dataclass(frozen=True)
class LinearRanker:
    """f(x) = w · x for each replica.

    Args:
        weights: Float32[R, features].
    """

    weights: torch.Tensor

    def cosine(self, reference: np.ndarray) -> np.ndarray:
        """Cosine between each replica's weights and its reference weights: Float64[R].

        Args:
            reference: Float64[R, features].
        """
        weights = self.weights.cpu().numpy().astype(np.float64)
        lengths = np.linalg.norm(weights, axis=1) * np.linalg.norm(reference, axis=1)
        return (weights * reference).sum(axis=1) / np.maximum(lengths, 1e-30)

    def scores(self, features: torch.Tensor, replicas: torch.Tensor) -> torch.Tensor:
        """Scores of documents under some of the replicas, all at once: Float32[documents, len(replicas)]."""
        return engine(default_engine(features.device.type)).score(features, self.weights[replicas])
