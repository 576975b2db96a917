"""The `fit` kind of cell: a ranker trained on the true labels of each fold, stored as its weights.

It ties a declaration to data and offline training; what the weights are compared with is declared elsewhere.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import pandas as pd

from ol2r import data
from ol2r.experiments.cells import Cell, Job, Row
from ol2r.offline import fit_lambdarank, mean_ndcg


@dataclass(frozen=True)
class Fit(Cell):
    """Linear LambdaRank on the training queries of each fold (`fit_lambdarank`); nothing in it depends on the seed.

    Its table has a line for each feature, numbered from 1, with the columns `weight`, and the fold's `train_ndcg` and
    `test_ndcg` (NDCG@k, queries without relevant documents count zero), the same in every line of a row.

    Args:
        dataset: name in the catalogue; checksum: the catalogue's, so that other data is another key.
        k: cut of NDCG, in training and in the table.
    """

    dataset: str
    checksum: str
    k: int

    kind: ClassVar[str] = "fit"
    revision: ClassVar[int] = 1
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.data",
        "ol2r.offline",
        "ol2r.experiments.fit_cell",
    )

    @property
    def folds(self) -> tuple[int, ...]:
        """All folds of the data set."""
        return tuple(range(1, data.entry(self.dataset).n_folds + 1))

    def rows(self, folds: Sequence[int] | None, seeds: Iterable[int]) -> tuple[Row, ...]:
        """One row a fold, seed 0: however many seeds an item has, they share the fit."""
        return super().rows(folds, (0,))

    @property
    def restricted(self) -> bool:
        """As the data set's licence."""
        return data.entry(self.dataset).restricted

    @property
    def group(self) -> Hashable:
        """Fits on one data set."""
        return (self.dataset, self.checksum)

    def labels(self) -> dict[str, str | float | int]:
        """Data set, learner and cut."""
        return {"dataset": self.dataset, "learner": "LambdaRank", "k": self.k}

    def not_at_hand(self) -> str | None:
        """The data set, when it is not on this machine."""
        return None if data.entry(self.dataset).at_hand() else self.dataset

    def expected_seconds(self, rows: Sequence[Row]) -> float:
        """From the measured cost of a fold of MQ2007; sets of unknown size count as much."""
        documents = data.entry(self.dataset).n_documents or 60_000
        return len({row.fold for row in rows}) * (0.5 + 3e-5 * documents)

    @classmethod
    def run_group(
        cls,
        jobs: Sequence[Job],
        *,
        inputs: Mapping[Cell, pd.DataFrame],
        device: str,
        engine: str,
        progress: Callable[[float], None],
    ) -> list[pd.DataFrame]:
        """Fold after fold on one core, whatever the device."""
        cells = [cast(Fit, job.cell) for job in jobs]
        dataset = data.load(cells[0].dataset)
        wanted = sorted({(cell.k, row.fold) for cell, job in zip(cells, jobs, strict=True) for row in job.rows})
        fits = {}
        for done, (k, fold) in enumerate(wanted, start=1):
            fits[k, fold] = _fit(dataset, k, fold)
            progress(done / len(wanted))
        return [
            pd.concat([fits[cell.k, row.fold].assign(seed=row.seed) for row in job.rows], ignore_index=True)
            for cell, job in zip(cells, jobs, strict=True)
        ]


def _fit(dataset: data.RankingDataset, k: int, fold: int) -> pd.DataFrame:
    weights = fit_lambdarank(dataset, fold, k=k)
    columns = {
        "fold": fold,
        "seed": 0,
        "feature": np.arange(1, len(weights) + 1),
        "weight": weights,
        "train_ndcg": mean_ndcg(dataset, dataset.fold(fold).train, weights, k),
        "test_ndcg": mean_ndcg(dataset, dataset.fold(fold).test, weights, k),
    }
    return pd.DataFrame(columns)
