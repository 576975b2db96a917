"""What labels leave to a network: how much better it ranks than a linear ranker that is fitted to them in the same way.

No learner from clicks can gain more by its network than true labels allow. So the question where a network helps begins
here, and it is answered for each data set by itself: a RankNet with a hidden layer and one without are fitted to the
labels of the training queries at every rate of one grid, a choice of rate and of when to stop is made on other queries,
and NDCG@10 is measured on test queries that neither of the two steps has read.

Expected, once shares of ordered pairs of one seed were known and before any run of these: a lead of the network
above .005 of NDCG@10 on synthetic-mq-net, and none of that size on MQ2008, MQ2007, ClueWeb09, synthetic-mslr and
synthetic-yahoo (`EXPECTED`). Of synthetic-mslr-net and of OHSUMED nothing was expected.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch

from ol2r import data
from ol2r.compiling import kernel
from ol2r.cost import Cost
from ol2r.data import RankingDataset
from ol2r.experiments.cells import OneByOne, Row
from ol2r.experiments.effects import effect_over_runs
from ol2r.experiments.grid import checksum, on
from ol2r.experiments.kinds.on_dataset import OnDataset
from ol2r.networks import Network
from ol2r.networks.moments import moments_of
from ol2r.random import Streams, generator, replica_key
from ol2r.ranking import metrics

DATASETS = (
    "MSLR-WEB10K",
    "Yahoo-LTRC-1",
    "MQ2008",
    "MQ2007_partial85",
    "ClueWeb09_webis",
    "OHSUMED",
    "synthetic-mslr",
    "synthetic-yahoo",
    "synthetic-mslr-net",
    "synthetic-mq-net",
)
LEAST = 0.005
"""Of NDCG@10, the least lead that a reader would call one."""
EXPECTED: Mapping[str, bool] = {"synthetic-mq-net": True} | dict.fromkeys(
    ("MQ2008", "MQ2007_partial85", "ClueWeb09_webis", "synthetic-mslr", "synthetic-yahoo"), False
)
"""By data set, whether a lead above `LEAST` was expected of the network."""
RATES = (1e-1, 1e-2, 1e-3)
"""Of Adam, all tried by both rankers."""
STEPS = 600
"""Of each rate; each fifty steps a ranker may stop."""
LINEAR, NETWORK = "linear ranker", "network"
K = 10
_APART = 5
"""Without validation queries of its own a fold chooses on every fifth of its training queries."""
_CODE = ("ol2r.arrays", "ol2r.random", "ol2r.networks", "ol2r.data", "ol2r.ranking", __name__)


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


def ndcg(scores: np.ndarray, part: Part) -> float:
    """Mean NDCG@10 over the queries that have a relevant document, with equal scores in expectation over their orders.

    Args:
        scores: Float64[documents].
    """
    relevance, offsets = part.grades, part.offsets
    ideal = metrics.ideal_dcg(relevance, offsets, K)
    columns = torch.from_numpy(scores.astype(np.float32))[:, None], metrics.gains(torch.from_numpy(relevance))
    each = metrics.query_ndcg(*columns, torch.from_numpy(offsets), torch.from_numpy(ideal), K)
    return float(each[torch.from_numpy(ideal > 0), 0].mean())


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


def chosen(fitting: Fitting, train: Part, validation: Part, name: str, seed: int) -> Look:
    """Of all that `looks` comes by, the first with the largest `ndcg` on validation queries."""

    def score(look: Look) -> float:
        return ndcg(scored(fitting.network, look.theta, validation), validation)

    return max(looks(fitting, train, name, seed), key=score)


@dataclass(frozen=True)
class Labels(OnDataset, OneByOne):
    """How a linear ranker and a network rank test queries, both fitted to the labels of others in the same way.

    Its table: fold, seed, ranker (`LINEAR`, `NETWORK`), rate and step that were chosen, ndcg (`ndcg`) and ordered
    (`ordered_share`) on the fold's test queries. The seed is that of a ranker's start and pairs.

    Args:
        steps: of Adam at each of `RATES`.
    """

    width: int = 100
    steps: int = STEPS

    kind: ClassVar[str] = "labels"
    revision: ClassVar[int] = 1
    repeats = "means"
    code: ClassVar[tuple[str, ...]] = _CODE

    def labels(self) -> dict[str, str | float | int]:
        """Data set and width of the network."""
        return {"dataset": self.dataset, "width": self.width}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """Passes over a few thousand documents a step, with and without a hidden layer."""
        step = 3e-3 + 6 * DOCUMENTS * self.width * self.size.shape.features / 4e10
        return Cost(len(RATES) * self.steps * step + 1e-6 * self.size.documents, alone=True).of(len(rows))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling the share and the steps."""
        return {"offline": 8.0}

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """A line for each row and ranker."""
        dataset = data.load(self.dataset, self.checksum)
        lines = []
        for row in rows:
            fold = dataset.fold(row.fold)
            apart = fold.validation if len(fold.validation) else fold.train[::_APART]
            train, validation = (part_of(dataset, each) for each in (np.setdiff1d(fold.train, apart), apart))
            test, stream = part_of(dataset, fold.test), f"labels of {self.dataset}, fold {row.fold}"
            for ranker, width, depth in ((LINEAR, 1, 1), (NETWORK, self.width, 2)):
                fitting = Fitting(Network(dataset.n_features, width, depth), RATES, self.steps)
                look = chosen(fitting, train, validation, stream, row.seed)
                scores = scored(fitting.network, look.theta, test)
                reached = ndcg(scores, test), ordered_share(scores, test.grades, test.offsets)
                lines.append((*row, ranker, look.rate, look.step, *reached))
        return pd.DataFrame(lines, columns=["fold", "seed", "ranker", "rate", "step", "ndcg", "ordered"])


def label_cells(tier: str) -> list[Labels]:
    """The paper's sets, those at hand, and synthetic ones of both truths.

    Args:
        tier: "smoke", "laptop" or "paper"; the last has all of `DATASETS`, the others MQ2008 or a tiny set alone.
    """
    names = DATASETS if tier == "paper" else on("MQ2008", own=False)(tier)
    return [Labels(name, checksum(name), steps={"smoke": 100}.get(tier, STEPS)) for name in names]


def left(table: pd.DataFrame) -> pd.DataFrame:
    """Network minus linear ranker, paired by fold and seed.

    Args:
        table: of `Labels`, with dataset.

    Returns:
        dataset, fold, seed, ndcg and ordered: the differences.
    """
    keys, measured = ["dataset", "fold", "seed"], ["ndcg", "ordered"]
    network, linear = (table[table["ranker"] == ranker].set_index(keys)[measured] for ranker in (NETWORK, LINEAR))
    return (network - linear).reset_index()


def at_the_end(table: pd.DataFrame) -> pd.DataFrame:
    """NDCG@10 of both rankers, and how much of it labels leave to the network, with its interval over seeds in folds.

    Args:
        table: of `Labels`, with dataset; it may be empty.

    Returns:
        dataset, `LINEAR`, `NETWORK` (means over runs), mean, low, high (network minus linear ranker, with its 95 %
        interval, NaN where there are too few runs), n (number of runs).
    """
    lines, columns = [], ["dataset", LINEAR, NETWORK, "mean", "low", "high", "n"]
    if table.empty:
        return pd.DataFrame(lines, columns=columns)
    means = table.groupby(["dataset", "ranker"])["ndcg"].mean()
    for dataset, own in left(table).groupby("dataset", sort=False):
        values = own.set_index(["fold", "seed"])["ndcg"]
        effect = effect_over_runs(values)
        low, high = effect.interval() if effect else (np.nan, np.nan)
        mean = effect.estimate if effect else values.mean()
        lines.append((dataset, means[dataset, LINEAR], means[dataset, NETWORK], mean, low, high, len(values)))
    return pd.DataFrame(lines, columns=columns)
