"""The `fit` and `ranknet` kinds of cell: a ranker trained on the true labels of each fold, stored as its weights.

This module connects a declaration with data and offline training; cells that use the weights are declared elsewhere.
"""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import pandas as pd

from ol2r import data
from ol2r.cost import Cost, Shape
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds.on_dataset import OnDataset
from ol2r.offline import fit_lambdarank, fit_ranknet, mean_ndcg


@dataclass(frozen=True)
class OfflineFit(OnDataset):
    """A linear ranker fitted to the training queries of each fold; nothing in it depends on the seed.

    Its table has a line for each feature, numbered from 1, with the feature's `weight`, and the fold's `train_ndcg` and
    `test_ndcg` (NDCG@k), which are the same in every line of a row.

    Args:
        dataset: name in the catalogue; checksum: of its content (`data.checksum`), so that other data gets another key.
        k: cut of NDCG, in training and in the table.
    """

    k: int

    seeded = False
    learner: ClassVar[str]
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.data",
        "ol2r.offline",
        "ol2r.experiments.kinds.fit",
    )

    @property
    def group(self) -> Hashable:
        """Fits on one data set share a group."""
        return (self.dataset, self.checksum)

    def labels(self) -> dict[str, str | float | int]:
        """Data set, learner and cut."""
        return {"dataset": self.dataset, "learner": self.learner, "k": self.k}

    @property
    @abstractmethod
    def counted(self) -> str:
        """How the table counts queries without relevant documents: as "zero", or not at all ("skip")."""

    @abstractmethod
    def fit(self, dataset: data.RankingDataset, fold: int) -> np.ndarray:
        """The weights: float64[features]."""

    @property
    def n_trained(self) -> int:
        """How many queries the ranker is fitted to, roughly."""
        return self.size.trained

    @abstractmethod
    def fold_seconds(self) -> float:
        """Seconds that a fold takes, roughly."""

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """One fit for each fold, on the CPU whatever the device."""
        return Cost(self.fold_seconds(), once=0.2).of(len({row.fold for row in rows}))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling the gradients."""
        return {"offline": 8.0}

    @classmethod
    def run_group(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        """Fit one fold after another in this process, on the CPU whatever the device."""
        cells = [cast(OfflineFit, job.cell) for job in jobs]
        dataset = data.load(cells[0].dataset, cells[0].checksum)
        wanted = dict.fromkeys((cell, row.fold) for cell, job in zip(cells, jobs, strict=True) for row in job.rows)
        fits = {}
        for done, (cell, fold) in enumerate(wanted, start=1):
            fits[cell, fold] = cell._table(dataset, fold)
            context.progress(done / len(wanted))
        return [
            pd.concat([fits[cell, row.fold].assign(seed=row.seed) for row in job.rows], ignore_index=True)
            for cell, job in zip(cells, jobs, strict=True)
        ]

    def _table(self, dataset: data.RankingDataset, fold: int) -> pd.DataFrame:
        weights, queries = self.fit(dataset, fold), dataset.fold(fold)
        columns = {
            "fold": fold,
            "seed": 0,
            "feature": np.arange(1, len(weights) + 1),
            "weight": weights,
            "train_ndcg": mean_ndcg(dataset, queries.train, weights, self.k, self.counted),
            "test_ndcg": mean_ndcg(dataset, queries.test, weights, self.k, self.counted),
        }
        return pd.DataFrame(columns)


@dataclass(frozen=True)
class Fit(OfflineFit):
    """LambdaRank (`fit_lambdarank`); in its table queries without relevant documents count zero."""

    kind: ClassVar[str] = "fit"
    revision: ClassVar[int] = 1
    learner: ClassVar[str] = "LambdaRank"

    @property
    def counted(self) -> str:
        """Queries without relevant documents count as zero."""
        return "zero"

    def fold_seconds(self) -> float:
        """Seconds of some hundred passes over the documents."""
        return 1.4e-6 * self.n_trained * self.size.shape.documents * self.size.shape.features

    def fit(self, dataset: data.RankingDataset, fold: int) -> np.ndarray:
        """The weights: float64[features]."""
        return fit_lambdarank(dataset, fold, k=self.k)


def ranknet_seconds(queries: int, shape: Shape) -> float:
    """Seconds of a dozen Hessians, each a product of every document's features with those of its query."""
    return 2.5e-9 * queries * shape.documents * shape.features * (shape.features + shape.documents)


@dataclass(frozen=True)
class RankNetFit(OfflineFit):
    """RankNet (`fit_ranknet`); `k` is the cut of its table only.

    Args:
        regularization: λ.
        empty: in its table, queries without relevant documents count `"zero"` or are left out (`"skip"`).
    """

    regularization: float
    empty: str

    kind: ClassVar[str] = "ranknet"
    revision: ClassVar[int] = 1
    learner: ClassVar[str] = "RankNet"

    @property
    def counted(self) -> str:
        """How queries without relevant documents count."""
        return self.empty

    def labels(self) -> dict[str, str | float | int]:
        """Data set, learner, cut, λ and convention."""
        return super().labels() | {"regularization": self.regularization, "empty": self.empty}

    def fold_seconds(self) -> float:
        """Seconds of a fit to all training queries."""
        return 0.05 + ranknet_seconds(self.n_trained, self.size.shape)

    def fit(self, dataset: data.RankingDataset, fold: int) -> np.ndarray:
        """The weights: float64[features]."""
        return fit_ranknet(dataset, fold, regularization=self.regularization)
