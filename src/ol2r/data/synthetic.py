"""Generated data sets with a known truth, in the shapes of the real ones, so that everything runs without downloads.

Grades come from noisy thresholds on the truth; `truth(name)` gives the scoring function itself. This module must not
know who learns from the data.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ol2r.data.dataset import Fold, RankingDataset, normalize_per_query

REVISION = 1  # bump when a change alters what is generated: it is part of the checksum, and so of every result's key
_NETWORK = "-net"
_WIDTH = 512
_N_FACTORS = 6
_NOISE = 0.5  # deviation of the noise of grades; the truth has unit deviation within queries
_DIFFICULTY = 1.2  # deviation of a query's common shift, which leaves some queries without a relevant document


@dataclass(frozen=True)
class Shape:
    """Sizes of a generated data set; with five folds, `n_train` is the number of all queries.

    Args:
        sizes: for each kind of query its share, and the median and log-deviation of its number of documents.
        largest: most documents a query may have.
        grade_shares: share of documents with each grade.
    """

    title: str
    n_features: int
    n_train: int
    n_validation: int
    n_test: int
    n_folds: int
    sizes: tuple[tuple[float, float, float], ...]
    largest: int
    grade_shares: tuple[float, ...]

    @property
    def n_queries(self) -> int:
        return self.n_train + self.n_validation + self.n_test

    @property
    def mean_size(self) -> float:
        """Documents a query in the mean, before the smallest and the largest are cut off."""
        return sum(share * median * np.exp(deviation**2 / 2) for share, median, deviation in self.sizes)


_MQ = (0.80, 0.14, 0.06)
_MSLR = (0.515, 0.325, 0.134, 0.018, 0.008)
_YAHOO = (0.26, 0.36, 0.28, 0.08, 0.02)
_LINEAR_SHAPES = {
    "synthetic-tiny": Shape("60 short queries", 10, 60, 0, 0, 5, ((0.3, 4, 0.6), (0.7, 15, 0.3)), 40, _MQ),
    "synthetic-mq": Shape("in the shape of LETOR's MQ", 46, 750, 0, 0, 5, ((0.3, 7, 0.4), (0.7, 32, 0.4)), 99, _MQ),
    "synthetic-mslr": Shape("in the shape of MSLR", 136, 2000, 300, 2000, 1, ((1.0, 110, 0.5),), 900, _MSLR),
    "synthetic-yahoo": Shape("in the shape of Yahoo! LTRC", 700, 1200, 300, 1000, 1, ((1.0, 20, 0.6),), 140, _YAHOO),
}
SHAPES = _LINEAR_SHAPES | {name + _NETWORK: shape for name, shape in _LINEAR_SHAPES.items()}


@dataclass(frozen=True, eq=False)
class Linear:
    """s(x) = w · x.

    Args:
        weights: float64[features], of unit length.
    """

    weights: np.ndarray

    def score(self, features: np.ndarray) -> np.ndarray:
        """Scores float64[documents] of float[documents, features]."""
        return features @ self.weights


@dataclass(frozen=True, eq=False)
class Network:
    """s(x) = v · max(W x, 0) / √m, one wide hidden layer without biases.

    Args:
        inner: float64[m, features]; every row sums to 0, so that units switch on features in [0, 1].
        outer: float64[m], ± 1.
    """

    inner: np.ndarray
    outer: np.ndarray

    def score(self, features: np.ndarray) -> np.ndarray:
        """Scores float64[documents] of float[documents, features]."""
        blocks = np.array_split(features, max(1, len(features) // 4096))
        hidden = (np.maximum(block @ self.inner.T, 0.0) @ self.outer for block in blocks)
        return np.concatenate(list(hidden)) / np.sqrt(len(self.outer))


def is_network(name: str) -> bool:
    """Whether the truth of a generated set is a wide network."""
    return name.endswith(_NETWORK)


@cache
def truth(name: str) -> Linear | Network:
    """The scoring function behind a generated set's grades."""
    d = SHAPES[name].n_features
    rng = _generator(name, "truth")
    if is_network(name):
        inner = rng.standard_normal((_WIDTH, d))
        inner -= inner.mean(axis=1, keepdims=True)
        return Network(inner, np.where(np.arange(_WIDTH) % 2 == 0, 1.0, -1.0))
    weights = rng.standard_normal(d)
    return Linear(weights / np.linalg.norm(weights))


def generate(name: str, label: str, checksum: str) -> RankingDataset:
    """Generate a set: features, then the truth's scores, then grades.

    A document's utility is its standardised truth + its query's shift + noise, and its grade the number of
    thresholds below it; thresholds are quantiles, so that grades have the shape's shares.
    """
    shape = SHAPES[name]
    sizes = draw_sizes(shape, shape.n_queries, _generator(name, "sizes"))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    features = normalize_per_query(
        draw_features(shape.n_features, int(offsets[-1]), _generator(name, "features")), offsets
    )
    return RankingDataset(
        name=name,
        features=features,
        relevance=draw_grades(shape, truth(name).score(features), sizes, _generator(name, "grades")),
        offsets=offsets,
        query_ids=tuple(str(q) for q in range(1, shape.n_queries + 1)),
        document_ids=None,
        folds=_folds(shape),
        n_grades=len(shape.grade_shares),
        checksum=checksum,
        restricted=False,
        label=label,
        normalization="query min-max",
    )


def draw_sizes(shape: Shape, n_queries: int, rng: np.random.Generator) -> np.ndarray:
    """Documents of each query: int64[queries]."""
    shares, medians, deviations = map(np.array, zip(*shape.sizes, strict=True))
    kind = rng.choice(len(shares), size=n_queries, p=shares)
    sizes = np.round(medians[kind] * np.exp(deviations[kind] * rng.standard_normal(n_queries)))
    return np.clip(sizes, 1, shape.largest).astype(np.int64)


def draw_features(n_features: int, n_documents: int, rng: np.random.Generator) -> np.ndarray:
    """Float32[documents, features], correlated through a few factors; a third bell-shaped, a third skewed, a third
    mostly at its minimum."""
    factors = rng.standard_normal((n_documents, _N_FACTORS), dtype=np.float32)
    features = rng.standard_normal((n_documents, n_features), dtype=np.float32)
    for j in range(n_features):
        column = 0.8 * features[:, j] + 0.6 * factors[:, j % _N_FACTORS]
        features[:, j] = (column, np.exp(column), np.maximum(column, 0.0))[j % 3]
    return features


def draw_grades(shape: Shape, score: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Grades int8[documents] of the truth's scores float64[documents]; see `generate`."""
    starts = np.cumsum(sizes) - sizes
    score = score - np.repeat(np.add.reduceat(score, starts) / sizes, sizes)
    utility = score / score.std() + _NOISE * rng.standard_normal(len(score))
    utility += np.repeat(_DIFFICULTY * rng.standard_normal(len(sizes)), sizes)
    thresholds = np.quantile(utility, np.cumsum(shape.grade_shares)[:-1])
    return np.searchsorted(thresholds, utility).astype(np.int8)


def _folds(shape: Shape) -> tuple[Fold, ...]:
    if shape.n_folds == 1:
        cuts = np.cumsum([shape.n_train, shape.n_validation])
        return (Fold(*np.split(np.arange(shape.n_queries), cuts)),)
    # LETOR's rotation of five parts: three to learn from, one to tune on, one to report on
    parts = np.array_split(np.arange(shape.n_queries), shape.n_folds)
    rotated = [parts[f:] + parts[:f] for f in range(shape.n_folds)]
    return tuple(Fold(np.concatenate(p[:-2]), p[-2], p[-1]) for p in rotated)


def _generator(name: str, purpose: str) -> np.random.Generator:
    from ol2r.random import generator  # here, because it imports torch, which the catalogue does not need

    # a linear set and its network twin share their documents
    name = name if purpose == "truth" else name.removesuffix(_NETWORK)
    return generator(f"ol2r.data.synthetic {name} {purpose}", 0)
