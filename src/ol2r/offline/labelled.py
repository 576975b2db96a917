"""Queries of a data set with their true grades, and the NDCG of a linear ranker on them.

All offline rankers share this module; it must not know how any of them learns.
"""

import numpy as np
import torch

from ol2r.arrays import checked
from ol2r.data import RankingDataset
from ol2r.ranking.metrics import gains, ideal_dcg, query_ndcg

_LARGEST = float(np.finfo(np.float32).max)


class LabelledQueries:
    """Some queries of a data set, with their documents copied into one array.

    Args:
        dataset: the data set of the queries.
        queries: int64[n ≥ 1], query numbers.

    Attributes:
        features: float32[documents, features]; relevance: int8[documents]; offsets: int64[queries + 1].

    Raises:
        ValueError: no query, or a number that is none of the data set's.
    """

    def __init__(self, dataset: RankingDataset, queries: np.ndarray):
        queries = checked(queries, "queries", (None,), np.int64, 0, dataset.n_queries - 1)
        if not len(queries):
            raise ValueError("expected at least one query, found none")
        rows = [dataset.documents(query) for query in queries]
        self.features = np.concatenate([dataset.features[r] for r in rows])
        self.relevance = np.concatenate([dataset.relevance[r] for r in rows])
        self.offsets = np.concatenate([[0], np.cumsum(dataset.sizes[queries])])

    def ideal(self, k: int) -> np.ndarray:
        """DCG@k of each query's best list: float64[queries]."""
        return ideal_dcg(self.relevance, self.offsets, k)

    def ndcg(self, weights: np.ndarray, k: int, empty: str = "zero") -> float:
        """Mean NDCG@k of a linear ranker; see `mean_ndcg`."""
        if empty not in ("zero", "skip"):
            raise ValueError(f'empty must be "zero" or "skip", not {empty!r}')
        weights = checked(weights, "weights", self.features.shape[1:], np.float32, -_LARGEST, _LARGEST)
        scores = (self.features @ weights)[:, None]
        gain, ideal = gains(torch.from_numpy(self.relevance)), torch.from_numpy(self.ideal(k))
        ndcg = query_ndcg(torch.from_numpy(scores), gain, torch.from_numpy(self.offsets), ideal, k)[:, 0]
        return float((ndcg if empty == "zero" else ndcg[ideal > 0]).mean())


def mean_ndcg(dataset: RankingDataset, queries: np.ndarray, weights: np.ndarray, k: int, empty: str = "zero") -> float:
    """Mean NDCG@k of a linear ranker, in expectation over random orders of documents with equal scores.

    Args:
        queries: int64[n ≥ 1], query numbers.
        weights: float64[features].
        empty: queries without relevant documents count `"zero"` or are left out (`"skip"`; NaN if none is left).
    """
    return LabelledQueries(dataset, queries).ndcg(weights, k, empty)
