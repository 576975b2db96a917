"""The `skyline` kind of cell: a network that is fitted in each round to the true labels of all queries so far.

It shows what a learner of networks could reach that had labels in place of clicks (olLambdaRank GT of the olRankNet
paper). Clicks change nothing, so all users see the same, and one cell serves them all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ol2r import data
from ol2r.cost import Shape
from ol2r.experiments.cells import ANY
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.learners.base import Learner
from ol2r.learners.network import ARCHITECTURE, CORE_OPERATIONS, NetworkLearner, network_of
from ol2r.offline.growing import GrowingLambdaRank
from ol2r.parameters import Number, Parameter, Value
from ol2r.random import Streams
from ol2r.rankers import NetworkRanker
from ol2r.ranking import Candidates


class GroundTruth(NetworkLearner, registered=False):
    """olLambdaRank GT: shows the best documents by a LambdaRank on the labels of all queries that were presented.

    Hyper-parameters: `rate` and `regularization`, and `passes` of each fit (see `GrowingLambdaRank`), and those of
    `NetworkLearner`. It reads labels and runs on the CPU alone.
    """

    name = "olLambdaRank GT"
    revision = 1
    round_seconds = 1e-3
    timed_as = ""  # a round fits to the labels of all queries
    numeric: ClassVar = {"rate": Number(above=0), "regularization": Number(least=0)}
    structural: ClassVar[dict[str, Parameter]] = ARCHITECTURE | {"passes": Number(least=1, whole=True)}

    def __init__(
        self,
        dataset: data.RankingDataset,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
        *,
        k: int,
    ):
        super().__init__(dataset.n_features, hyperparameters, streams, engine)
        settings = zip(*(self.precise[name].tolist() for name in ("rate", "regularization")), strict=True)
        self.fits = [
            GrowingLambdaRank(
                dataset, self.network, theta, rate=rate, passes=self.choice["passes"], regularization=penalty, k=k
            )
            for theta, (rate, penalty) in zip(self.network.initial(streams), settings, strict=True)
        ]

    def memories(self) -> dict[str, object]:
        return {f"fit {r}": fit for r, fit in enumerate(self.fits)}

    def rank(self, candidates: Candidates, depth: int) -> Tensor:
        scores = self.forward(self.evaluated().theta, self.inputs(candidates)).scores
        return self.ops.best(candidates, scores[:, None], depth, self.streams, self.round)[:, 0]

    def update(self, candidates: Candidates, ranking: Tensor, clicks: Tensor) -> None:
        for fit, query in zip(self.fits, candidates.query.tolist(), strict=True):
            fit.present(query)
        self.round += 1

    def evaluated(self) -> NetworkRanker:
        return self.ranker(torch.stack([fit.theta for fit in self.fits]))

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """A fit makes its passes over the documents of all queries so far, which are a thousand at most, or so."""
        p = network_of(shape.features, hyperparameters).n_parameters
        seen = min(rounds / 2, 1000.0) * shape.documents
        return {"reading": float(hyperparameters["passes"]) * seen * (6 * p / CORE_OPERATIONS + 2e-7)}


@dataclass(frozen=True)
class Skyline(Simulate):
    """A network fitted to true labels, in the place of a learner; its name is that of `GroundTruth`."""

    KIND: ClassVar[str] = "perfect"
    """The kind of users of all such cells; it changes nothing, for nobody reads their clicks."""

    kind: ClassVar[str] = "skyline"
    on_device = False
    code: ClassVar[tuple[str, ...]] = (*Simulate.code, "ol2r.offline", "ol2r.experiments.kinds.skyline")

    @property
    def family(self) -> type[Learner]:
        return GroundTruth

    def labels(self) -> dict[str, str | float | int]:
        """As of `Simulate`, for any users."""
        return super().labels() | {"users": ANY}

    def batch(
        self,
        dataset: data.RankingDataset,
        settings: Sequence[Mapping[str, Value]],
        streams: Streams,
        engine: str | None,
    ) -> Learner:
        return GroundTruth(dataset, GroundTruth.together(settings), streams, engine, k=self.evaluation.k)
