"""LambdaRank of a network on the true labels of queries that come one by one: the skyline of the neural chapters.

It must not know clicks or online learners.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np
import torch

from ol2r.data import RankingDataset
from ol2r.networks import Network
from ol2r.networks.moments import moments_of
from ol2r.offline.labelled import LabelledQueries
from ol2r.offline.lambdarank import lambda_forces


class GrowingLambdaRank:
    """A network that is fitted anew whenever a query is presented, to all queries so far and from where it stands.

    A fit takes steps of Adam on LambdaRank's direction, averaged over the distinct queries, less the pull of the
    penalty (mλ/2n) ‖θ‖² of n queries. Adam's moments begin at zero in every fit. A query without relevant documents
    counts as a query and pushes nothing.

    Args:
        dataset: the data set of the queries.
        network: the architecture.
        theta: θ to start from, Float32[p].
        rate: Adam's step.
        passes: steps of a fit.
        regularization: λ ≥ 0.
        k: cut of NDCG.

    Attributes:
        theta: the present θ, Float32[p].
        queries: the distinct queries so far, in the order in which they came first.
    """

    def __init__(
        self,
        dataset: RankingDataset,
        network: Network,
        theta: torch.Tensor,
        *,
        rate: float,
        passes: int,
        regularization: float = 0.0,
        k: int = 10,
    ):
        self.dataset, self.network, self.theta = dataset, network, theta.clone()
        self.passes, self.k = passes, k
        self._rate = torch.tensor([rate], dtype=theta.dtype)
        self._pull = network.width * regularization
        self.queries: list[int] = []
        self._seen: LabelledQueries | None = None

    def present(self, query: int) -> None:
        """Add a query, and fit again. A query that was there before adds nothing to the others."""
        if query not in self.queries:
            self.queries.append(query)
            self._read()
        theta = self.theta[None].clone()
        moments = moments_of(theta)
        for _ in range(self.passes):
            moments.step(theta, self._descent(theta), self._rate)
        if bool(theta.isfinite().all()):
            self.theta = theta[0]

    def _read(self) -> None:
        """Read the documents and labels of all queries."""
        self._seen = LabelledQueries(self.dataset, np.array(self.queries))
        self._ideal = self._seen.ideal(self.k)
        self._inputs = self.network.inputs(torch.from_numpy(self._seen.features))[None]

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that the next fit depends on, besides the arguments."""
        return {"theta": self.theta, "queries": torch.tensor(self.queries, dtype=torch.int64)}

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        """Go on from what another one of the same arguments kept."""
        self.theta, self.queries = saved["theta"], saved["queries"].tolist()
        if self.queries:
            self._read()

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        """Where the tensors stand that a fit replaces: pairs of an owner and a name."""
        yield vars(self), "theta"

    def _descent(self, theta: torch.Tensor) -> torch.Tensor:
        """The direction that Adam goes against: Float32[1, p]."""
        assert self._seen is not None
        scores, activations = self.network.forward(theta, self._inputs)
        forces = lambda_forces(
            scores[0].double().numpy(), self._seen.relevance, self._seen.offsets, self._ideal, self.k
        )
        coefficients = torch.from_numpy(forces / len(self.queries))[None].to(theta.dtype)
        return self._pull / len(self.queries) * theta - self.network.gradient(theta, activations, coefficients)
