import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ol2r.data import Fold, load, synthetic
from ol2r.offline import fit_lambdarank, lambda_gradient, mean_ndcg
from ol2r.ranking.metrics import ideal_dcg


def dcg(grades, k):
    return sum((2.0**g - 1.0) / np.log2(rank + 1.0) for rank, g in enumerate(grades[:k], start=1))


def obvious_gradient(features, relevance, offsets, weights, k):
    """Every pair changes places in the sorted list, and NDCG is computed anew."""
    total = np.zeros(features.shape[1])
    for start, stop in pairwise(offsets):
        x, grades = features[start:stop].astype(float), relevance[start:stop].astype(int)
        ideal = dcg(sorted(grades, reverse=True), k)
        scores = x @ weights
        order = np.argsort(-scores, kind="stable").tolist()
        for i in range(len(x)):
            for j in range(len(x)):
                if grades[i] > grades[j]:
                    swapped = [j if d == i else i if d == j else d for d in order]
                    change = abs(dcg(grades[order], k) - dcg(grades[swapped], k)) / ideal
                    total += change / (1.0 + np.exp(scores[i] - scores[j])) * (x[i] - x[j])
    return total / (len(offsets) - 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([4, 70, 127]))
def test_gradient_agrees_with_swapping_every_pair(seed, k, n_grades):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, size=4)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    features = rng.random((offsets[-1], 3), dtype=np.float32)
    relevance = rng.integers(0, n_grades, size=offsets[-1]).astype(np.int8)
    relevance[: sizes[0]] = 0  # a query without a relevant document
    weights = rng.standard_normal(3) * rng.integers(0, 2)  # or all scores equal
    ideal = ideal_dcg(relevance, offsets, k)
    np.testing.assert_allclose(
        lambda_gradient(features, relevance, offsets, ideal, weights, k),
        obvious_gradient(features, relevance, offsets, weights, k),
        atol=1e-12,
    )


def test_the_fit_nears_a_linear_truth():
    dataset, fold = load("synthetic-mq"), 1
    truth = synthetic.truth("synthetic-mq").score(np.eye(dataset.n_features))
    weights = fit_lambdarank(dataset, fold)
    assert weights @ truth / np.linalg.norm(weights) > 0.97
    test = dataset.fold(fold).test
    assert mean_ndcg(dataset, test, weights, 10) > mean_ndcg(dataset, test, truth, 10) - 0.015


def test_the_fit_repeats_bit_for_bit():
    dataset = load("synthetic-tiny")
    assert fit_lambdarank(dataset, 2).tobytes() == fit_lambdarank(dataset, 2).tobytes()


def test_validation_queries_choose_the_epoch():
    dataset = load("synthetic-tiny")
    fold = dataset.fold(1)
    chosen = [mean_ndcg(dataset, fold.validation, fit_lambdarank(dataset, 1, epochs=n), 10) for n in (5, 20, 80)]
    assert chosen == sorted(chosen)


def test_without_validation_queries_the_last_epoch_stands():
    dataset = load("synthetic-tiny")
    fold = dataset.fold(1)
    blind = dataclasses.replace(dataset, folds=(Fold(fold.train, np.empty(0, dtype=np.int64), fold.test),))
    weights = {epochs: fit_lambdarank(blind, 1, epochs=epochs) for epochs in (1, 300)}
    np.testing.assert_allclose(np.abs(weights[1]), 0.1, rtol=1e-4)  # Adam's first step is its rate in every coordinate
    first, last = (mean_ndcg(dataset, fold.train, w, 10) for w in weights.values())
    assert last > first


def test_no_test_query_is_read():
    dataset = load("synthetic-tiny")
    relevance = dataset.relevance.copy()
    for query in dataset.fold(3).test:
        relevance[dataset.documents(query)] = 0
    blinded = dataclasses.replace(dataset, relevance=relevance)
    np.testing.assert_array_equal(fit_lambdarank(blinded, 3, epochs=30), fit_lambdarank(dataset, 3, epochs=30))


def test_what_cannot_be_learnt_from_is_an_error():
    dataset = load("synthetic-tiny")
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        fit_lambdarank(dataset, 1, k=0)
    with pytest.raises(ValueError, match="synthetic-tiny has folds 1 to 5, not 6"):
        fit_lambdarank(dataset, 6)
    blank = dataclasses.replace(dataset, relevance=np.zeros_like(dataset.relevance))
    with pytest.raises(ValueError, match="no training query has documents of different grades"):
        fit_lambdarank(blank, 1)


@pytest.mark.real_data("MQ2008")
def test_mq2008_reaches_the_level_of_offline_linear_rankers():
    dataset = load("MQ2008")
    scores = [mean_ndcg(dataset, dataset.fold(f).test, fit_lambdarank(dataset, f, epochs=60), 10) for f in range(1, 6)]
    assert np.mean(scores) > 0.48
