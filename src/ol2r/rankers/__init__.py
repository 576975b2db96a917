"""Rankers: scoring functions that learners learn and evaluations apply, one for each replica of a batch.

They see features only.
"""

from typing import Protocol, runtime_checkable

import numpy as np
import torch

from ol2r.rankers.linear import LinearRanker
from ol2r.rankers.network import EnsembleRanker, NetworkRanker

__all__ = ["EnsembleRanker", "LinearRanker", "NetworkRanker", "Ranker"]


@runtime_checkable
class Ranker(Protocol):
    """What offline evaluation asks of a scoring function."""

    def scores(self, features: torch.Tensor, replicas: torch.Tensor) -> torch.Tensor:
        """Scores of documents under some of the replicas: Float32[documents, len(replicas)]."""
        ...

    def cosine(self, reference: np.ndarray) -> np.ndarray:
        """Cosine between each replica's parameters and a linear reference, Float64[R]; NaN if it makes no sense."""
        ...
