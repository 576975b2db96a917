"""Linear scoring functions."""

from dataclasses import dataclass

import torch

from ol2r.ranking import default_engine, engine


@dataclass(frozen=True)
class LinearRanker:
    """f(x) = w · x for each replica.

    Args:
        weights: Float32[R, features].
    """

    weights: torch.Tensor

    def scores(self, features: torch.Tensor, replicas: torch.Tensor) -> torch.Tensor:
        """Scores of documents under some of the replicas, all at once: Float32[documents, len(replicas)]."""
        return engine(default_engine(features.device.type)).score(features, self.weights[replicas])
