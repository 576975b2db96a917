"""Linear scoring functions."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from ol2r.ranking import default_engine, engine


@dataclass(frozen=True)
class LinearRanker:
    """f(x) = w · x for each replica.

    Args:
        weights: Float32[R, features].
    """

    weights: Float32[Tensor, "R d"]

    def cosine(self, reference: Float64[np.ndarray, "R d"]) -> Float64[np.ndarray, " R"]:
        """Cosine between each replica's weights and its reference weights: Float64[R].

        Args:
            reference: Float64[R, features].
        """
        weights = self.weights.cpu().numpy().astype(np.float64)
        lengths = np.linalg.norm(weights, axis=1) * np.linalg.norm(reference, axis=1)
        return (weights * reference).sum(axis=1) / np.maximum(lengths, 1e-30)

    def scores(
        self, features: Float32[Tensor, "documents d"], replicas: Int64[Tensor, " n"]
    ) -> Float32[Tensor, "documents n"]:
        """Scores of documents under some of the replicas, all at once: Float32[documents, len(replicas)]."""
        return engine(default_engine(features.device.type)).score(features, self.weights[replicas])
