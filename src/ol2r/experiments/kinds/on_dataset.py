"""What all cells that run on a ranking data set share."""

from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import pandas as pd

from ol2r import data
from ol2r.cost import DEVICE_CORES, Cost, Shape
from ol2r.data.synthetic import SHAPES
from ol2r.experiments.cells import Cell

_SCORED = 16384  # documents whose scores an evaluation holds at a time


@dataclass(frozen=True)
class OnDataset(Cell):
    """A cell on a data set; it has the data set's folds, and its results the data set's licence.

    Args:
        dataset: name in the catalogue, or of a reader's own data that this process knows.
        checksum: of the data set's content (`data.checksum`), so that other data gets another key.
    """

    dataset: str
    checksum: str

    @property
    def folds(self) -> tuple[int, ...]:
        """All folds of the data set."""
        return tuple(range(1, data.entry(self.dataset).n_folds + 1))

    @property
    def restricted(self) -> bool:
        """Whether the data set's licence forbids storing values of single documents or queries."""
        return data.entry(self.dataset).restricted

    @property
    def on_own_data(self) -> bool:
        """Whether the data set is the reader's own, as its name tells."""
        return data.is_own(self.dataset)

    @property
    def size(self) -> "Size":
        """The numbers of the data set on which the cost of a computation depends."""
        it = data.entry(self.dataset)
        queries = it.n_queries or (SHAPES[self.dataset].n_queries if self.dataset in SHAPES else 1000)
        trained, held_out = (0.6, 0.2) if it.n_folds > 1 else (0.5, 0.5)
        features, documents = it.list_shape
        return Size(Shape(features, float(documents)), round(trained * queries), round(held_out * queries))


NOISE_LABELS = 5.0
"""By how much more labels a round gives if users click on every document without relevance, in the place of none."""


def labels_of(noise: float) -> float:
    """How many times as many labels a round gives as under users who click on relevant documents alone, roughly.

    Args:
        noise: probability of a click on a document without relevance.
    """
    return 1.0 + NOISE_LABELS * noise


def fitted_weights(fits: pd.DataFrame) -> dict[int, np.ndarray]:
    """The weights in the table of a ranker that was fitted offline, by fold: Float64[features]."""
    ordered = fits.sort_values(["fold", "feature"])
    return {cast(int, fold): own["weight"].to_numpy() for fold, own in ordered.groupby("fold")}


class Size(NamedTuple):
    """How large a data set is, roughly: the shape of its queries, and how many a fold trains on and holds out."""

    shape: Shape
    trained: int
    held_out: int

    @property
    def documents(self) -> float:
        """Number of documents of a fold."""
        return (self.trained + self.held_out) * self.shape.documents

    def measured(self, n_checkpoints: int, device: str) -> Cost:
        """The cost for each replica of scoring the held-out queries; `once` is that of laying out a batch's data."""
        documents = self.held_out * self.shape.documents
        seconds = n_checkpoints * documents * (1.5e-8 + 1e-10 * self.shape.features)
        if device == "cpu":
            return Cost(seconds, 0, self.documents * (7e-7 + 4e-9 * self.shape.features))
        scores = 32 * _SCORED  # bytes of a range of documents, in several arrays
        return Cost(seconds / DEVICE_CORES, scores, self.documents * 1e-6 + 1e-3 * n_checkpoints)


def compiling(learner: str, device: str) -> dict[str, float]:
    """What a process compiles (or starts, on a device) before it runs a learner: seconds by name; see `Cell.compiling`.
    """
    if device != "cpu":
        return {"CUDA": 10.0}
    return {"simulation": 25.0, learner: 3.0}
