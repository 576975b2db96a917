"""Figure 3 of the paper: documents of each grade under linear discriminant analysis, and what that can show.

The paper projects all labelled documents to the two directions that separate the grades best and reads off the picture
that a linear ranker is not enough. Overlapping grades alone do not show this: labels are noisy, and a query of its own
shifts its documents. So beside the picture stands a number with a control: the share of held-out pairs of one query and
different grades that the first direction orders correctly, and the same share for a linear ranker and for a network
that are fitted to the labels in the same way (`labels`). Only where the network orders more than the linear ranker does
anything speak for it. Synthetic sets with a linear and with a network truth say whether the picture can tell the two
apart.

Pictures are kept as densities in bins, because the licences of some sets allow no values of single documents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import linalg

from ol2r import data, frames
from ol2r.cost import Cost
from ol2r.data import RankingDataset, synthetic
from ol2r.experiments.cells import OneByOne, Row
from ol2r.experiments.grid import checksum, on
from ol2r.experiments.kinds.on_dataset import OnDataset
from ol2r.papers.olranknet.labels import LINEAR, NETWORK, ordered_share, part_of

DATASETS = (
    "MSLR-WEB10K",
    "Yahoo-LTRC-1",
    "MQ2008",
    "MQ2007_partial85",
    "synthetic-mq",
    "synthetic-mq-net",
)
LARGE = ("ClueWeb09_webis", "synthetic-mslr", "synthetic-yahoo")
"""Data sets of the paper tier alone."""
QUANTITIES = {
    "linear": "first direction of LDA",
    LINEAR: "linear RankNet on labels",
    NETWORK: "RankNet with a hidden layer on labels",
    "truth": "the truth behind the grades",
}
"""What orders held-out pairs: names in tables, and what they are called in figures. "truth" is of synthetic sets only.
"""

_RIDGE = 1e-4
_CODE = ("ol2r.data", "ol2r.papers.olranknet.labels", __name__)


def discriminants(features: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """The directions of linear discriminant analysis, the best first, as columns.

    They maximise wᵀ S_b w under wᵀ S_w w = 1 in turn, with S_b the covariance of the grades' means and S_w that of
    documents about their own grade's mean. A ridge of 1e-4 of the mean variance keeps S_w invertible where a feature is
    constant. Each direction points to where higher grades lie.

    Args:
        features: Float[documents, d].
        grades: Int[documents].

    Returns:
        Float64[d, d].
    """
    features = features.astype(np.float64)
    d, centre = features.shape[1], features.mean(axis=0)
    between, within = np.zeros((d, d)), np.zeros((d, d))
    for grade in np.unique(grades):
        own = features[grades == grade]
        mean = own.mean(axis=0)
        between += len(own) * np.outer(mean - centre, mean - centre)
        within += (own - mean).T @ (own - mean)
    between, within = between / len(features), within / len(features)
    within += _RIDGE * np.trace(within) / d * np.eye(d)
    directions = linalg.eigh(between, within)[1][:, ::-1]
    along = (features - centre).T @ (grades - grades.mean())
    return directions * np.where(along @ directions < 0, -1.0, 1.0)


@dataclass(frozen=True)
class Separation(OnDataset, OneByOne):
    """How many held-out pairs LDA's first direction orders correctly, and how many the truth of a synthetic set does.

    Its table: fold, seed (nothing is random), quantity ("linear" or "truth"), value (`labels.ordered_share` on the
    fold's test queries). LDA is fitted to the training queries.
    """

    kind: ClassVar[str] = "lda"
    revision: ClassVar[int] = 2
    code: ClassVar[tuple[str, ...]] = _CODE

    def labels(self) -> dict[str, str | float | int]:
        """Data set."""
        return {"dataset": self.dataset}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """Two covariances of all documents."""
        return _cost(self).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The quantities of each row."""
        dataset = data.load(self.dataset, self.checksum)
        lines = [(*row, *each) for row in rows for each in self._shares(dataset, row).items()]
        return pd.DataFrame(lines, columns=["fold", "seed", "quantity", "value"])

    def _shares(self, dataset: RankingDataset, row: Row) -> dict[str, float]:
        fold = dataset.fold(row.fold)
        train, test = part_of(dataset, fold.train), part_of(dataset, fold.test)
        scores = {"linear": test.features @ discriminants(train.features, train.grades)[:, 0]}
        if self.dataset in synthetic.SHAPES:
            scores["truth"] = synthetic.truth(self.dataset).score(test.features)
        return {name: ordered_share(each, test.grades, test.offsets) for name, each in scores.items()}


def _cost(cell: OnDataset) -> Cost:
    return Cost(0.2 + 1e-9 * cell.size.documents * cell.size.shape.features**2)


def beside_rankers(separation: pd.DataFrame, fitted: pd.DataFrame) -> pd.DataFrame:
    """The shares of `Separation` with those of rankers that are fitted to labels, where there is either.

    Args:
        separation: of `Separation`, with dataset; fitted: of `labels.Labels`, with dataset. Each may be empty.

    Returns:
        dataset, fold, quantity (a key of `QUANTITIES`) and value: for rankers the mean over seeds.
    """
    columns = ["dataset", "fold", "quantity", "value"]
    if fitted.empty or separation.empty:
        return separation.reindex(columns=columns)
    own = fitted[fitted["dataset"].isin(separation["dataset"])].rename(columns={"ranker": "quantity"})
    means = own.groupby(columns[:3], sort=False)["ordered"].mean().rename("value").reset_index()
    return pd.concat([separation[columns], means], ignore_index=True)


BINS = 40
_SMOOTH = 1.0  # bins
_FEWEST = 0.5  # documents: a bin with less, after smoothing, is left out, and so is every document that stands alone


@dataclass(frozen=True)
class Densities(OnDataset, OneByOne):
    """The densities of the grades under the first two directions of LDA, fitted to all documents as in the paper.

    Its table: fold, seed (1 and 0), grade, documents (of this grade), x, y (centres of bins, in standard deviations of
    documents about their grade's mean), share (of the grade's documents in the bin, smoothed with a deviation of one
    bin). Bins reach over the middle 99 % of the documents. Bins with less than half a document are left out, so that no
    document that stands alone is shown.
    """

    kind: ClassVar[str] = "lda-densities"
    revision: ClassVar[int] = 1
    code: ClassVar[tuple[str, ...]] = _CODE

    def rows(self, folds: Sequence[int] | None, seeds: Iterable[int]) -> tuple[Row, ...]:
        """One row: all documents count, and nothing is random."""
        return super().rows((1,), (0,))

    def labels(self) -> dict[str, str | float | int]:
        """Data set."""
        return {"dataset": self.dataset}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """As of `Separation`."""
        return _cost(self).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The densities."""
        dataset = data.load(self.dataset, self.checksum)
        found = densities(dataset.features, dataset.relevance)
        parts = [found.assign(fold=row.fold, seed=row.seed) for row in rows]
        return pd.concat(parts, ignore_index=True)[["fold", "seed", *found.columns]]


def densities(features: np.ndarray, grades: np.ndarray) -> pd.DataFrame:
    """See `Densities`: grade, documents, x, y, share."""
    from scipy import ndimage  # here, because it takes long to load, and every command declares these cells

    places = (features - features.mean(axis=0)) @ discriminants(features, grades)[:, :2]
    ends = [[float(np.quantile(along, share)) for share in (0.005, 0.995)] for along in places.T]
    edges = [np.linspace(low, high, BINS + 1) for low, high in ends]
    centres = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    parts = []
    for grade in np.unique(grades):
        own = places[grades == grade]
        counts = np.histogram2d(*own.T, bins=edges)[0]
        smooth = ndimage.gaussian_filter(counts, _SMOOTH, mode="constant")
        i, j = np.nonzero(smooth >= _FEWEST)
        columns = {"grade": int(grade), "documents": len(own), "x": centres[0][i], "y": centres[1][j]}
        parts.append(pd.DataFrame(columns | {"share": smooth[i, j] / len(own)}))
    return pd.concat(parts, ignore_index=True)


def levels(table: pd.DataFrame, inside: float = 0.5) -> pd.DataFrame:
    """The density above which a share of each grade's documents lies.

    Args:
        table: of `Densities`, with dataset.
        inside: the share.

    Returns:
        dataset, grade, level; without the grades of which so many documents are not in the bins that are kept.
    """
    lines = []
    for (dataset, grade), own in frames.groups(table, ["dataset", "grade"]):
        shares = np.sort(own["share"].to_numpy())[::-1]
        if shares.sum() >= inside:
            lines.append((dataset, grade, shares[np.searchsorted(np.cumsum(shares), inside)]))
    return pd.DataFrame(lines, columns=["dataset", "grade", "level"])


def lda_cells(tier: str) -> list[Separation]:
    """What LDA orders on the paper's sets, on those at hand and on synthetic ones of both truths."""
    return [Separation(name, checksum(name)) for name in _datasets(tier)]


def density_cells(tier: str) -> list[Densities]:
    """The densities of the same sets."""
    return [Densities(name, checksum(name)) for name in _datasets(tier)]


def _datasets(tier: str) -> Sequence[str]:
    return (*on(*DATASETS, own=False)(tier), *(LARGE if tier == "paper" else ()))
