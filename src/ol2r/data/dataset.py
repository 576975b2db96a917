"""A data set for learning to rank: documents stored once, query after query, and folds as lists of queries.

Normalisation and the dropping of features are named steps here, never done on the side. This module must not know
where data comes from.
"""

import mmap
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numba import prange

from ol2r.arrays import checked, checked_offsets
from ol2r.compiling import kernel
from ol2r.errors import DataError
from ol2r.ranking.constants import MOST_GRADES

_CELL_SECONDS = 2e-9  # of one core, to scale a feature of a document


@dataclass(frozen=True, eq=False)
class Fold:
    """Training, validation (may be empty) and test queries, as int64 query numbers."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class RankingDataset:
    """Queries, their candidate documents and relevance grades in CSR form.

    Documents offsets[q] … offsets[q + 1] − 1 belong to query q; rows of results number folds from 1, so fold f is
    folds[f − 1].

    Args:
        features: float32[documents, features], C-contiguous.
        relevance: int8[documents], 0 … n_grades − 1.
        offsets: int64[queries + 1].
        document_ids: one for each document, or None if the source has no ids.
        checksum: the catalogue's digest of the source.
        restricted: True where only aggregates may be shown.
        label: name in figures.
        normalization: how the features were normalised.

    Raises:
        DataError: a query without documents, a grade out of range, arrays that do not fit together.
    """

    name: str
    features: np.ndarray
    relevance: np.ndarray
    offsets: np.ndarray
    query_ids: tuple[str, ...]
    document_ids: tuple[str, ...] | None
    folds: tuple[Fold, ...]
    n_grades: int
    checksum: str
    restricted: bool
    label: str
    normalization: str

    def __post_init__(self) -> None:
        for name, n_axes, dtype in (("features", 2, np.float32), ("relevance", 1, np.int8), ("offsets", 1, np.int64)):
            array = checked(getattr(self, name), f"{self.name}: {name}", (None,) * n_axes, dtype)
            object.__setattr__(self, name, array)
        if len(self.offsets) < 2:
            raise DataError(f"{self.name}: expected offsets of at least one query")
        n_queries, n_documents = len(self.offsets) - 1, len(self.features)
        ends = (int(self.offsets[0]), int(self.offsets[-1]), len(self.relevance), len(self.query_ids))
        named = n_documents if self.document_ids is None else len(self.document_ids)
        if (*ends, named) != (0, n_documents, n_documents, n_queries, n_documents):
            raise DataError(f"{self.name}: features, relevance, offsets and ids do not fit together")
        empty = np.flatnonzero(np.diff(self.offsets) < 1)
        if len(empty):
            raise DataError(f"{self.name}: query {self.query_ids[empty[0]]} has no documents")
        if not 1 <= self.n_grades <= MOST_GRADES:
            raise DataError(f"{self.name}: expected from 1 to {MOST_GRADES} grades, found {self.n_grades}")
        if self.relevance.min() < 0 or self.relevance.max() >= self.n_grades:
            raise DataError(f"{self.name}: relevance grades outside 0 … {self.n_grades - 1}")
        for number, fold in enumerate(self.folds, start=1):
            splits = [split for split in (fold.train, fold.validation, fold.test) if len(split)]
            for split in splits:
                if not np.issubdtype(split.dtype, np.integer) or split.min() < 0 or split.max() >= n_queries:
                    raise DataError(f"{self.name}: fold {number} has queries outside 0 … {n_queries - 1}")
            queries = np.concatenate(splits) if splits else np.empty(0, dtype=np.int64)
            if len(np.unique(queries)) < len(queries):
                raise DataError(f"{self.name}: fold {number} has a query in two of its splits")

    def __reduce__(self) -> tuple:
        """What travels to another process: the fields, without what was computed from them."""
        return _arrived, tuple(getattr(self, each.name) for each in fields(self))

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_documents(self) -> int:
        return self.features.shape[0]

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    @property
    def sizes(self) -> np.ndarray:
        """Documents of each query: int64[queries]."""
        return np.diff(self.offsets)

    @cached_property
    def totals(self) -> np.ndarray:
        """The sum of each query's document features: float32[queries, features]. It reads all features, once."""
        totals = np.empty((self.n_queries, self.n_features), dtype=self.features.dtype)
        for query in range(self.n_queries):
            totals[query] = self.features[self.documents(query)].sum(axis=0)
        return totals

    @cached_property
    def _map(self) -> mmap.mmap | None:
        """The read-only file map that holds the features, or None where they are in memory."""
        holder = None if self.features.flags.writeable else self.features
        while isinstance(holder, np.ndarray):
            holder = holder.base
        return holder if isinstance(holder, mmap.mmap) and hasattr(holder, "madvise") else None

    def read_ahead(self, queries: np.ndarray) -> None:
        """Ask the system to read the documents of some queries from disk now, all of them at once, and do not wait.

        Without this each page waits for the one before. It does nothing where features are not a read-only file map.

        Args:
            queries: int64[n], query numbers.
        """
        if self._map is not None:
            for start, length in self._pages(queries):
                self._map.madvise(mmap.MADV_WILLNEED, start, length)

    def _pages(self, queries: np.ndarray) -> Iterable[tuple[int, int]]:
        """Where in the file map the documents of each query are: start, at the start of a page, and length in bytes."""
        row = self.features.strides[0]
        first = self.features.ctypes.data - np.frombuffer(self._map, dtype=np.uint8).ctypes.data  # pyright: ignore[reportCallIssue, reportArgumentType] - asked only of a file map
        starts = (first + row * self.offsets[queries]) // mmap.PAGESIZE * mmap.PAGESIZE
        ends = first + row * self.offsets[queries + 1]
        return zip(starts.tolist(), (ends - starts).tolist(), strict=True)

    def documents(self, query: int) -> slice:
        """The rows that hold the documents of a query."""
        return slice(int(self.offsets[query]), int(self.offsets[query + 1]))

    def query(self, query: int) -> tuple[np.ndarray, np.ndarray]:
        """Features float32[n, features] and relevance int8[n] of a query's n documents (views)."""
        rows = self.documents(query)
        return self.features[rows], self.relevance[rows]

    def fold(self, number: int) -> Fold:
        """Fold by its number in result rows, which count from 1.

        Raises:
            ValueError: there is no such fold.
        """
        if not 1 <= number <= len(self.folds):
            raise ValueError(f"{self.name} has folds 1 to {len(self.folds)}, not {number}")
        return self.folds[number - 1]


def _arrived(*values: object) -> RankingDataset:
    # a worker maps large arrays from a file; compiled code would take the type of these for another one
    return RankingDataset(*(np.asarray(each) if isinstance(each, np.memmap) else each for each in values))  # pyright: ignore[reportArgumentType]


def normalize_per_query(features: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Min-max over each query's documents: x ← (x − min) / (max − min), and 0 where a feature is constant in a query.

    Args:
        features: float32[documents, features].
        offsets: int64[queries + 1].

    Returns:
        float32[documents, features] in [0, 1], a new array.

    Raises:
        DataError: no such arrays, or a query without documents.
    """
    features = checked(features, "features", (None, None), np.float32)
    offsets = checked_offsets(offsets, len(features), least=1)
    out = np.empty_like(features)
    _min_max(features, offsets, out, seconds=features.size * _CELL_SECONDS)
    return out


@kernel
def _min_max(features, offsets, out):
    n_features = features.shape[1]
    for q in prange(offsets.shape[0] - 1):
        a, b = offsets[q], offsets[q + 1]
        low, high = np.empty(n_features, dtype=features.dtype), np.empty(n_features, dtype=features.dtype)
        for j in range(n_features):
            low[j] = high[j] = features[a, j]
        for i in range(a + 1, b):
            for j in range(n_features):
                low[j] = min(low[j], features[i, j])
                high[j] = max(high[j], features[i, j])
        for i in range(a, b):
            for j in range(n_features):
                # float64, because the width of a float32 range may overflow float32
                width = np.float64(high[j]) - np.float64(low[j])
                out[i, j] = (np.float64(features[i, j]) - np.float64(low[j])) / width if width > 0 else 0.0


def drop_constant_features(dataset: RankingDataset, fold: int) -> RankingDataset:
    """The data set without the features that are constant over the training documents of a fold.

    The field's public code does this; here only a table that measures its effect does.

    Args:
        fold: number of the fold, from 1; another fold may drop other features.

    Raises:
        DataError: no feature is left.
    """
    rows = np.concatenate([np.arange(s.start, s.stop) for s in map(dataset.documents, dataset.fold(fold).train)])
    train = dataset.features[rows]
    kept = np.flatnonzero(train.min(axis=0) < train.max(axis=0))
    if not len(kept):
        raise DataError(f"{dataset.label}: all features are constant over the training queries of fold {fold}")
    return replace(
        dataset,
        features=np.ascontiguousarray(dataset.features[:, kept]),
        normalization=f"{dataset.normalization}; features constant over the training queries of fold {fold} dropped",
    )
