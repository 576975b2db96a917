"""LambdaRank (Burges et al., 2006): its push on each document's score, and the linear reference ranker w* of chapters.

It reads the true labels of training queries. This module must not know clicks or online learners.
"""

import numpy as np

from ol2r.arrays import checked, checked_offsets
from ol2r.compiling import kernel, part
from ol2r.data import RankingDataset
from ol2r.offline.labelled import LabelledQueries
from ol2r.ranking.constants import MOST_GRADES, discounts, gain_of_grades

_GAIN = gain_of_grades("exponential")
_LOOK_EVERY = 5
_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8  # constants of Adam


def fit_lambdarank(
    dataset: RankingDataset, fold: int, *, k: int = 10, epochs: int = 300, rate: float = 0.1
) -> np.ndarray:
    """Fit a linear LambdaRank: from w = 0, each epoch takes one Adam step on all training queries. Deterministic.

    It returns the weights with the best mean NDCG@k over the validation queries, which is computed after every fifth
    epoch and the last; in a fold without validation queries, the weights after the last epoch. Queries without relevant
    documents count zero and give no gradient.

    Args:
        fold: number of the fold, from 1; its test queries are not read.
        k: cut of NDCG.
        epochs: passes over the training queries.
        rate: Adam's step.

    Returns:
        float64[features].

    Raises:
        ValueError: no such fold, k < 1, or no training query tells two documents apart.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    queries = dataset.fold(fold)
    train = LabelledQueries(dataset, queries.train)
    validation = LabelledQueries(dataset, queries.validation) if len(queries.validation) else None
    fixed = (train.features, train.relevance, train.offsets, train.ideal(k))
    weights = best = np.zeros(dataset.n_features)
    if not lambda_gradient(*fixed, weights, k).any():
        raise ValueError(f"{dataset.label}, fold {fold}: no training query has documents of different grades")
    best_ndcg = -1.0
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for epoch in range(1, epochs + 1):
        gradient = lambda_gradient(*fixed, weights, k)
        mean = _BETA_1 * mean + (1 - _BETA_1) * gradient
        square = _BETA_2 * square + (1 - _BETA_2) * gradient**2
        step = mean / (1 - _BETA_1**epoch) / (np.sqrt(square / (1 - _BETA_2**epoch)) + _EPSILON)
        weights = weights + rate * step
        if validation and (epoch % _LOOK_EVERY == 0 or epoch == epochs):
            ndcg = validation.ndcg(weights, k)
            if ndcg > best_ndcg:
                best_ndcg, best = ndcg, weights
    return best if validation else weights


def lambda_gradient(
    features: np.ndarray, relevance: np.ndarray, offsets: np.ndarray, ideal: np.ndarray, weights: np.ndarray, k: int
) -> np.ndarray:
    """The direction in which LambdaRank moves linear weights, averaged over queries.

    Σ over pairs with grade i > grade j of σ(s_j − s_i) |ΔNDCG_ij| (x_i − x_j), where s = X w and ΔNDCG_ij is the
    change of NDCG@k when i and j change places in the list sorted by score (documents of equal score in their given
    order).

    Args:
        features: float32[documents, features].
        relevance: int[documents].
        offsets: int64[queries + 1].
        ideal: float64[queries], `ideal_dcg` at k.
        weights: float64[features].

    Returns:
        float64[features].

    Raises:
        DataError: arrays that do not fit together, or another grade.
    """
    features = checked(features, "features", (None, None), np.float32)
    weights = checked(weights, "weights", features.shape[1:], np.float64)
    total = np.zeros(features.shape[1])
    _lambda_gradient(features, *_queries(len(features), relevance, offsets, ideal), weights, discounts(k), total)
    return total / len(ideal)


def _queries(
    n: int, relevance: np.ndarray, offsets: np.ndarray, ideal: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    places = checked_offsets(offsets, n)
    grades = checked(relevance, "relevance", (n,), np.int8, 0, MOST_GRADES - 1)
    return grades, places, checked(ideal, "ideal", (len(places) - 1,), np.float64)


def lambda_forces(
    scores: np.ndarray, relevance: np.ndarray, offsets: np.ndarray, ideal: np.ndarray, k: int
) -> np.ndarray:
    """Which way LambdaRank pushes each document's score: c_d in its direction Σ_d c_d ∇s_d, summed over queries.

    Args:
        scores: float64[documents], of any ranker; relevance, offsets, ideal, k: as for `lambda_gradient`.

    Returns:
        float64[documents].

    Raises:
        DataError: arrays that do not fit together, or another grade.
    """
    scores = checked(scores, "scores", (None,), np.float64)
    forces = np.zeros(len(scores))
    _all_forces(scores, *_queries(len(scores), relevance, offsets, ideal), discounts(k), forces)
    return forces


@kernel  # on one thread: folds run in parallel, and the sum is the same bit for bit
def _lambda_gradient(features, relevance, offsets, ideal, weights, discount, total):
    for q in range(ideal.shape[0]):
        start, stop = offsets[q], offsets[q + 1]
        if ideal[q] > 0.0:
            _add_query(features[start:stop], relevance[start:stop], ideal[q], weights, discount, total)


@kernel
def _all_forces(scores, relevance, offsets, ideal, discount, forces):
    for q in range(ideal.shape[0]):
        start, stop = offsets[q], offsets[q + 1]
        if ideal[q] > 0.0:
            _add_forces(scores[start:stop], relevance[start:stop], ideal[q], discount, forces[start:stop])


@part
def _add_query(features, relevance, ideal, weights, discount, total):
    n, d = features.shape
    scores = np.zeros(n)
    for i in range(n):
        for f in range(d):
            scores[i] += features[i, f] * weights[f]
    force = np.zeros(n)
    _add_forces(scores, relevance, ideal, discount, force)
    for i in range(n):
        for f in range(d):
            total[f] += force[i] * features[i, f]


@part
def _add_forces(scores, relevance, ideal, discount, force):
    n = scores.shape[0]
    order = np.argsort(-scores, kind="mergesort")
    depth = min(n, discount.shape[0])
    for rank in range(depth):  # exchanging two documents below the cut changes nothing
        for other in range(rank + 1, n):
            better, worse = order[rank], order[other]
            if relevance[better] == relevance[worse]:
                continue
            if relevance[better] < relevance[worse]:
                better, worse = worse, better
            gained = _GAIN[relevance[better]] - _GAIN[relevance[worse]]
            moved = discount[rank] - (discount[other] if other < depth else 0.0)
            swing = gained * moved / ideal / (1.0 + np.exp(scores[better] - scores[worse]))
            force[better] += swing
            force[worse] -= swing
