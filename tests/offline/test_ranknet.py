import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from ol2r.data import Fold, RankingDataset, load, synthetic
from ol2r.offline import LabelledQueries, fit_ranknet, mean_ndcg, ranknet_loss


def obvious_loss(queries, weights, regularization):
    """Eq. (1), pair after pair."""
    total = regularization / 2 * np.sum(weights**2)
    for start, stop in pairwise(queries.offsets):
        x, grades = queries.features[start:stop].astype(float), queries.relevance[start:stop]
        for i in range(len(x)):
            for j in range(len(x)):
                if grades[i] > grades[j]:
                    total += np.logaddexp(0.0, -(x[i] - x[j]) @ weights)
    return total


def invented(rng, n_features=3, sizes=(1, 4, 7, 2), grades=4, **changed):
    """A data set with one fold, all of whose queries are trained on."""
    n = sum(sizes)
    queries = np.arange(len(sizes))
    made = RankingDataset(
        name="invented",
        features=rng.random((n, n_features), dtype=np.float32),
        relevance=rng.integers(0, grades, size=n).astype(np.int8),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        query_ids=tuple(map(str, queries)),
        document_ids=None,
        folds=(Fold(queries, queries[:0], queries[:0]),),
        n_grades=grades,
        checksum="",
        restricted=False,
        label="invented",
        normalization="",
    )
    return dataclasses.replace(made, **changed)


def trained_on(dataset):
    return LabelledQueries(dataset, dataset.fold(1).train)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, 30.0]))
def test_the_loss_is_the_sum_over_pairs_of_different_grade(seed, scale):
    rng = np.random.default_rng(seed)
    queries, weights = trained_on(invented(rng)), scale * rng.standard_normal(3)
    assert ranknet_loss(queries, weights, 0.3).value == pytest.approx(obvious_loss(queries, weights, 0.3))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_gradient_and_hessian_are_the_derivatives(seed):
    rng = np.random.default_rng(seed)
    queries, weights = trained_on(invented(rng)), rng.standard_normal(3)
    at = ranknet_loss(queries, weights, 0.3, hessian=True)
    steps = np.full(3, 1e-6)
    numeric = approx_fprime(weights, lambda w: ranknet_loss(queries, w, 0.3).value, steps)
    np.testing.assert_allclose(at.gradient, numeric, atol=1e-3)
    curvature = approx_fprime(weights, lambda w: ranknet_loss(queries, w, 0.3).gradient, steps)
    np.testing.assert_allclose(at.hessian, curvature, atol=1e-3)


def test_scores_far_apart_overflow_nothing():
    queries = trained_on(invented(np.random.default_rng(0)))
    at = ranknet_loss(queries, np.array([1e4, -1e4, 1e4]), 1e-9, hessian=True)
    assert np.isfinite(at.value) and np.isfinite(at.gradient).all() and np.isfinite(at.hessian).all()


@pytest.mark.parametrize("regularization", [1e-4, 0.1, 10.0])
def test_the_fit_is_the_minimum(regularization):
    dataset = invented(np.random.default_rng(1), sizes=(5, 9, 12, 8))
    queries, weights = trained_on(dataset), fit_ranknet(dataset, 1, regularization=regularization)
    assert np.abs(ranknet_loss(queries, weights, regularization).gradient).max() < 1e-9
    slow = minimize(lambda w: obvious_loss(queries, w, regularization), np.zeros(3), options={"gtol": 1e-8})
    np.testing.assert_allclose(weights, slow.x, atol=1e-3)


def test_documents_are_read_in_pieces_that_change_nothing(monkeypatch):
    dataset = load("synthetic-tiny")
    queries, weights = trained_on(dataset), np.linspace(-1, 1, dataset.n_features)
    whole = ranknet_loss(queries, weights, 0.1, hessian=True)
    monkeypatch.setattr("ol2r.offline.ranknet._DOCUMENTS", 20)
    parts = ranknet_loss(queries, weights, 0.1, hessian=True)
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    np.testing.assert_allclose(parts.gradient, whole.gradient, rtol=1e-9)
    np.testing.assert_allclose(parts.hessian, whole.hessian, rtol=1e-9)


def test_the_fit_nears_a_linear_truth():
    dataset = load("synthetic-mq")
    truth = synthetic.truth("synthetic-mq").score(np.eye(dataset.n_features))
    weights = fit_ranknet(dataset, 1, regularization=0.1)
    assert weights @ truth / np.linalg.norm(weights) > 0.97
    test = dataset.fold(1).test
    assert mean_ndcg(dataset, test, weights, 10) > mean_ndcg(dataset, test, truth, 10) - 0.015


def test_the_fit_repeats_bit_for_bit():
    dataset = load("synthetic-tiny")
    fits = [fit_ranknet(dataset, 2, regularization=0.1).tobytes() for _ in range(2)]
    assert fits[0] == fits[1]


def test_only_training_queries_are_read():
    dataset = load("synthetic-tiny")
    relevance = dataset.relevance.copy()
    fold = dataset.fold(3)
    for query in (*fold.test, *fold.validation):
        relevance[dataset.documents(query)] = 0
    blinded = dataclasses.replace(dataset, relevance=relevance)
    fits = [fit_ranknet(each, 3, regularization=0.1) for each in (dataset, blinded)]
    np.testing.assert_array_equal(*fits)


def test_separable_grades_have_an_optimum_that_grows_as_regularization_goes():
    features = np.array([[1, 0], [0, 0], [0.5, 0]], dtype=np.float32)
    dataset = invented(
        np.random.default_rng(0), 2, (3,), features=features, relevance=np.array([2, 0, 1], dtype=np.int8)
    )
    norms = [np.linalg.norm(fit_ranknet(dataset, 1, regularization=r)) for r in (1.0, 1e-3, 1e-6)]
    assert norms == sorted(norms) and norms[-1] > 10
    assert fit_ranknet(dataset, 1, regularization=1.0)[1] == 0  # a feature that tells no pair apart


def test_what_has_no_optimum_is_an_error():
    dataset = load("synthetic-tiny")
    for nothing in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="regularization must be above 0"):
            fit_ranknet(dataset, 1, regularization=nothing)
    blank = dataclasses.replace(dataset, relevance=np.zeros_like(dataset.relevance))
    with pytest.raises(ValueError, match="no training query has documents of different grades"):
        fit_ranknet(blank, 1, regularization=0.1)
    with pytest.raises(ValueError, match="synthetic-tiny has folds 1 to 5, not 6"):
        fit_ranknet(dataset, 6, regularization=0.1)


def test_queries_without_relevant_documents_count_zero_or_are_left_out():
    dataset = load("synthetic-tiny")
    test, weights = dataset.fold(1).test, np.ones(dataset.n_features)
    with_some = [q for q in test if dataset.relevance[dataset.documents(q)].any()]
    zero, skip = (mean_ndcg(dataset, test, weights, 10, empty) for empty in ("zero", "skip"))
    assert 0 < len(with_some) < len(test)
    assert skip == pytest.approx(mean_ndcg(dataset, np.array(with_some), weights, 10))
    assert zero == pytest.approx(skip * len(with_some) / len(test))
    with pytest.raises(ValueError, match='empty must be "zero" or "skip"'):
        mean_ndcg(dataset, test, weights, 10, "none")
