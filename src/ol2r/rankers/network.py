"""Networks as scoring functions."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from ol2r.networks import Network


@dataclass(frozen=True)
class NetworkRanker:
    """f(x; θ) for each replica.

    Args:
        network: the architecture.
        theta: θ, Float32[R, p].
    """

    network: Network
    theta: Float32[Tensor, "R p"]

    def cosine(self, reference: Float64[np.ndarray, "R d"]) -> Float64[np.ndarray, " R"]:
        """NaN: a network has no direction to compare with a linear reference's."""
        return np.full(len(self.theta), np.nan)

    def scores(
        self, features: Float32[Tensor, "documents d"], replicas: Int64[Tensor, " n"]
    ) -> Float32[Tensor, "documents n"]:
        """Scores of documents under some of the replicas: Float32[documents, len(replicas)]."""
        inputs = self.network.inputs(features)[None]
        scores = features.new_empty(len(replicas), len(features))
        # one replica after another: the hidden layer of all would not stay in a processor's cache
        for out, theta in zip(scores, self.theta[replicas].split(1), strict=True):
            out.copy_(self.network.forward(theta, inputs).scores[0])
        return scores.T


@dataclass(frozen=True)
class EnsembleRanker:
    """The mean of the scores of N networks for each replica.

    Args:
        network: the architecture of all.
        theta: θ, Float32[R, N, p].
    """

    network: Network
    theta: Float32[Tensor, "R N p"]

    def cosine(self, reference: Float64[np.ndarray, "R d"]) -> Float64[np.ndarray, " R"]:
        """NaN, as for a network."""
        return np.full(len(self.theta), np.nan)

    def scores(
        self, features: Float32[Tensor, "documents d"], replicas: Int64[Tensor, " n"]
    ) -> Float32[Tensor, "documents n"]:
        """Mean scores of documents under some of the replicas: Float32[documents, len(replicas)]."""
        members = self.theta[replicas].flatten(0, 1)
        each = NetworkRanker(self.network, members).scores(features, torch.arange(len(members), device=members.device))
        return each.unflatten(1, (len(replicas), -1)).mean(dim=2)
