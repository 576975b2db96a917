"""Figure 3 of the paper: documents of each grade under linear discriminant analysis, and what that can show.

The paper projects all labelled documents to the two directions that separate the grades best and reads off the picture
that a linear ranker is not enough. Overlapping grades alone do not show this: labels are noisy, and a query of its own
shifts its documents. So beside the picture stands a number with a control: the share of held-out pairs of one query and
different grades that the first direction orders correctly, and the same share for a linear ranker and for a network
that are fitted to the labels in the same way. Only where the network orders more than the linear ranker does anything
speak for it. Synthetic sets with a linear and with a network truth say whether the picture can tell the two apart.

Pictures are kept as densities in bins, because the licences of some sets allow no values of single documents.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy import linalg

from ol2r import data, frames
from ol2r.compiling import kernel
from ol2r.cost import Cost
from ol2r.data import RankingDataset, synthetic
from ol2r.experiments.cells import OneByOne, Row
from ol2r.experiments.grid import checksum, on
from ol2r.experiments.kinds.on_dataset import OnDataset
from ol2r.networks import Network
from ol2r.networks.moments import moments_of
from ol2r.random import Streams, generator, replica_key

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
    "linear RankNet": "linear RankNet on labels",
    "ceiling": "RankNet with a hidden layer on labels",
    "truth": "the truth behind the grades",
}
"""What orders held-out pairs: names in tables, and what they are called in figures. "truth" is of synthetic sets only.
"""

_RIDGE = 1e-4
_CODE = ("ol2r.random", "ol2r.networks", "ol2r.data", "ol2r.papers.olranknet.lda")


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


def ordered_share(scores: np.ndarray, grades: np.ndarray, offsets: np.ndarray) -> float:
    """Share of the pairs of one query and different grades that scores order correctly; a tie counts half.

    It is the mean over the queries that have such pairs.

    Args:
        scores: Float64[documents].
        grades: Int[documents].
        offsets: Int64[queries + 1].
    """
    shares = np.full(len(offsets) - 1, np.nan)
    _shares(np.ascontiguousarray(scores, dtype=np.float64), grades.astype(np.int64), offsets, shares)
    if np.isnan(shares).all():
        raise ValueError("no query has documents of different grades")
    return float(np.nanmean(shares))


@kernel
def _shares(scores, grades, offsets, shares):
    for q in range(len(shares)):
        right, pairs = 0.0, 0
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if grades[i] > grades[j]:
                    pairs += 1
                    right += 1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0
        if pairs:
            shares[q] = right / pairs


class Part(NamedTuple):
    """Documents of some queries.

    Args:
        features: Float32[documents, d].
        grades: Int64[documents].
        offsets: Int64[queries + 1].
    """

    features: np.ndarray
    grades: np.ndarray
    offsets: np.ndarray


def part_of(dataset: RankingDataset, queries: np.ndarray) -> Part:
    """The documents of some queries, in the order of the queries."""
    rows = np.concatenate([np.r_[dataset.documents(int(query))] for query in queries])
    offsets = np.concatenate([[0], np.cumsum(dataset.sizes[queries])])
    return Part(dataset.features[rows], dataset.relevance[rows].astype(np.int64), offsets)


class Fitting(NamedTuple):
    """How a network is fitted to labels.

    Args:
        network: the architecture; depth 1 is a linear ranker.
        rates: of Adam, each tried.
        steps: of each rate.
    """

    network: Network
    rates: tuple[float, ...]
    steps: int


_LOOK_EVERY = 50
DOCUMENTS = 2048  # of a step, about


class Look(NamedTuple):
    """A network on its way to the labels.

    Args:
        rate: of Adam. step: how many steps it has taken.
        theta: Float32[1, p].
    """

    rate: float
    step: int
    theta: torch.Tensor


def looks(fitting: Fitting, train: Part, name: str, seed: int) -> Iterator[Look]:
    """A RankNet on labels, looked at on its way: at every rate after each fifty steps.

    In each step Adam follows the mean cross-entropy of pairs from some queries: each document meets a random one of its
    query, and pairs of equal grade are left out.

    Args:
        fitting: architecture, rates and steps.
        name: of the stream of random numbers.
    """
    network = fitting.network
    start = network.initial(Streams(np.array([replica_key(name, 1, seed)], dtype=np.uint64)))
    network.layers(start)[-1].zero_()  # all scores begin at 0: what is random in them would only have to be unlearnt
    for rate in fitting.rates:
        rng, theta = generator(f"{name} {rate}", seed), start.clone()
        moments, order = moments_of(theta), np.empty(0, dtype=np.int64)
        for step in range(1, fitting.steps + 1):
            taken, documents = [], 0
            while documents < DOCUMENTS:
                if not len(order):
                    order = rng.permutation(len(train.offsets) - 1)
                taken.append(order[0])
                documents += train.offsets[order[0] + 1] - train.offsets[order[0]]
                order = order[1:]
            moments.step(theta, _gradient(network, theta, train, np.array(taken), rng), torch.tensor([rate]))
            if step % _LOOK_EVERY == 0 or step == fitting.steps:
                yield Look(rate, step, theta.clone())


def fitted(fitting: Fitting, train: Part, validation: Part, name: str, seed: int) -> torch.Tensor:
    """θ of a RankNet on labels, with the largest `ordered_share` on validation queries that `looks` came by.

    Returns:
        Float32[1, p].
    """

    def share(look: Look) -> float:
        return ordered_share(scored(fitting.network, look.theta, validation), validation.grades, validation.offsets)

    return max(looks(fitting, train, name, seed), key=share).theta


def _gradient(
    network: Network, theta: torch.Tensor, train: Part, queries: np.ndarray, rng: np.random.Generator
) -> torch.Tensor:
    """The gradient of the mean cross-entropy of one random pair for each document of some queries: Float32[1, p]."""
    first, last = train.offsets[queries], train.offsets[queries + 1]
    sizes = last - first
    rows = np.concatenate([np.arange(*ends) for ends in zip(first.tolist(), last.tolist(), strict=True)])
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    other = starts + (rng.random(len(rows)) * np.repeat(sizes, sizes)).astype(np.int64)
    grades = train.grades[rows]
    first = np.flatnonzero(grades != grades[other])
    second = torch.from_numpy(other[first])
    better = torch.from_numpy((grades[first] > grades[other[first]]).astype(np.float32))
    scores, activations = network.forward(theta, network.inputs(torch.from_numpy(train.features[rows])[None]))
    i = torch.from_numpy(first)
    push = (torch.sigmoid(scores[0, i] - scores[0, second]) - better) / max(len(first), 1)
    coefficients = torch.zeros_like(scores[0]).index_add_(0, i, push).index_add_(0, second, -push)
    return network.gradient(theta, activations, coefficients[None])


def scored(network: Network, theta: torch.Tensor, part: Part) -> np.ndarray:
    """Scores of all documents: Float64[documents]."""
    inputs = network.inputs(torch.from_numpy(part.features)).split(1 << 14)
    return torch.cat([network.forward(theta, each[None]).scores[0] for each in inputs]).double().numpy()


@dataclass(frozen=True)
class Separation(OnDataset, OneByOne):
    """How many held-out pairs LDA's first direction orders correctly, and how many rankers fitted to labels do.

    Its table: fold, seed, quantity (a key of `QUANTITIES`), value (`ordered_share` on the fold's test queries). All are
    fitted to the training queries; the seed is that of a ranker's start and pairs.

    Args:
        steps: of Adam at each rate.
    """

    width: int = 100
    steps: int = 600

    kind: ClassVar[str] = "lda"
    revision: ClassVar[int] = 1
    repeats = "means"
    code: ClassVar[tuple[str, ...]] = _CODE

    def labels(self) -> dict[str, str | float | int]:
        """Data set and width of the network."""
        return {"dataset": self.dataset, "width": self.width}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """Passes over a few thousand documents a step, with and without a hidden layer."""
        step = 1.5e-3 + 6 * DOCUMENTS * self.width * self.size.shape.features / 4e10
        return Cost(4 * self.steps * step + 1e-6 * self.size.documents, alone=True).of(len(rows))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling the share and the steps."""
        return {"offline": 8.0}

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The quantities of each row."""
        dataset = data.load(self.dataset, self.checksum)
        lines = [(*row, *each) for row in rows for each in self._shares(dataset, row).items()]
        return pd.DataFrame(lines, columns=["fold", "seed", "quantity", "value"])

    def _shares(self, dataset: RankingDataset, row: Row) -> dict[str, float]:
        fold = dataset.fold(row.fold)
        train, test = part_of(dataset, fold.train), part_of(dataset, fold.test)
        validation = part_of(dataset, fold.validation) if len(fold.validation) else train
        scores = {"linear": test.features @ discriminants(train.features, train.grades)[:, 0]}
        d = dataset.n_features
        ways = {
            "linear RankNet": Fitting(Network(d, 1, 1), (1e-2, 1e-3), self.steps),
            "ceiling": Fitting(Network(d, self.width, 2), (1e-2, 1e-3), self.steps),
        }
        for name, fitting in ways.items():
            stream = f"RankNet on {self.dataset}, fold {row.fold}"
            theta = fitted(fitting, train, validation, stream, row.seed)
            scores[name] = scored(fitting.network, theta, test)
        if self.dataset in synthetic.SHAPES:
            scores["truth"] = synthetic.truth(self.dataset).score(test.features)
        return {name: ordered_share(each, test.grades, test.offsets) for name, each in scores.items()}


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
        """Two covariances of all documents."""
        return Cost(0.2 + 1e-9 * self.size.documents * self.size.shape.features**2).of(len(rows))

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
    """What LDA and rankers order on the paper's sets, on those at hand and on synthetic ones of both truths."""
    steps = {"smoke": 100}.get(tier, 600)
    return [Separation(name, checksum(name), steps=steps) for name in _datasets(tier)]


def density_cells(tier: str) -> list[Densities]:
    """The densities of the same sets."""
    return [Densities(name, checksum(name)) for name in _datasets(tier)]


def _datasets(tier: str) -> Sequence[str]:
    return (*on(*DATASETS, own=False)(tier), *(LARGE if tier == "paper" else ()))
