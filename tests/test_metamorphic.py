"""What must not change a number, and what must change it in a known way."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ol2r
from ol2r.clicks.fitting import fit_cascade, fit_dependent, fit_position
from ol2r.data import RankingDataset
from ol2r.data.sessions import QuerySessions
from ol2r.offline import fit_lambdarank, lambda_gradient, mean_ndcg
from ol2r.offline.lambdarank import lambda_forces
from ol2r.ranking import metrics

SEEDS = st.integers(0, 2**32 - 1)


def made(seed: int, n_queries: int = 8) -> RankingDataset:
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), rng.integers(2, 8, n_queries))
    features = rng.integers(-5, 6, (len(query), 4)) / 4  # scores of such are exact, in any order of sums
    return ol2r.from_arrays(features, rng.integers(0, 4, len(query)), query, folds=2, normalize=False)


def doubled(dataset: RankingDataset) -> RankingDataset:
    """Every query twice, the copies with names of their own."""
    n = dataset.n_queries
    return replace(
        dataset,
        features=np.concatenate([dataset.features] * 2),
        relevance=np.concatenate([dataset.relevance] * 2),
        offsets=np.concatenate([dataset.offsets, dataset.offsets[1:] + dataset.n_documents]),
        query_ids=(*dataset.query_ids, *(f"{name} again" for name in dataset.query_ids)),
        folds=tuple(
            type(fold)(*(np.concatenate([part, part + n]) for part in (fold.train, fold.validation, fold.test)))
            for fold in dataset.folds
        ),
    )


def shuffled(dataset: RankingDataset, seed: int) -> tuple[RankingDataset, np.ndarray]:
    """Documents in another order within their queries, and the old row of each."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.permutation(np.arange(*dataset.offsets[[q, q + 1]])) for q in range(dataset.n_queries)])
    return replace(dataset, features=dataset.features[rows], relevance=dataset.relevance[rows]), rows


@settings(deadline=None, max_examples=30)
@given(SEEDS)
def test_permuting_documents_permutes_what_belongs_to_them_and_changes_no_score(seed):
    dataset = made(seed)
    other, rows = shuffled(dataset, seed)
    weights = np.random.default_rng(seed).integers(-4, 5, 4) / 2.0
    everyone = np.arange(dataset.n_queries)
    assert mean_ndcg(other, everyone, weights, 3) == pytest.approx(mean_ndcg(dataset, everyone, weights, 3), abs=1e-12)
    ideal = metrics.ideal_dcg(dataset.relevance, dataset.offsets, 3)
    np.testing.assert_array_equal(metrics.ideal_dcg(other.relevance, other.offsets, 3), ideal)
    scores = np.random.default_rng(seed).permutation(dataset.n_documents).astype(float)  # no ties
    forces = lambda_forces(scores, dataset.relevance, dataset.offsets, ideal, 3)
    again = lambda_forces(scores[rows], other.relevance, other.offsets, ideal, 3)
    np.testing.assert_allclose(again, forces[rows], atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(SEEDS)
def test_doubling_a_data_set_changes_no_mean(seed):
    dataset = made(seed)
    twice = doubled(dataset)
    weights = np.random.default_rng(seed).standard_normal(4)
    for empty in ("zero", "skip"):
        one = mean_ndcg(dataset, np.arange(dataset.n_queries), weights, 3, empty)
        assert mean_ndcg(twice, np.arange(twice.n_queries), weights, 3, empty) == pytest.approx(
            one, abs=1e-12, nan_ok=True
        )
    gradients = [
        lambda_gradient(
            it.features, it.relevance, it.offsets, metrics.ideal_dcg(it.relevance, it.offsets, 3), weights, 3
        )
        for it in (dataset, twice)
    ]
    np.testing.assert_allclose(*gradients, atol=1e-12)


def test_doubling_a_data_set_changes_no_fitted_ranker():
    dataset = made(1, n_queries=20)
    np.testing.assert_allclose(
        fit_lambdarank(doubled(dataset), 1, epochs=20), fit_lambdarank(dataset, 1, epochs=20), atol=1e-6
    )


def test_renaming_queries_and_documents_changes_no_number():
    dataset = made(2, n_queries=20)
    renamed = replace(
        dataset,
        query_ids=tuple(f"query {name}" for name in dataset.query_ids),
        document_ids=tuple(map(str, range(dataset.n_documents))),
        label="another",
    )
    one, other = (ol2r.compare(it, "PDGD", rounds=20, seeds=1, progress=False).frame for it in (dataset, renamed))
    assert one.equals(other)


FITS = {
    "cascade": fit_cascade,
    "dependent": lambda queries, prior: fit_dependent(queries, prior, leaving="last click"),
    "position": fit_position,
}


def log(seed: int) -> list[QuerySessions]:
    rng = np.random.default_rng(seed)
    lists = np.argsort(rng.random((60, 4)), axis=1)[:, :3]
    clicks = rng.random((60, 3)) < np.array([0.7, 0.4, 0.2])
    return [QuerySessions("q", ("a", "b", "c", "d"), lists, clicks)]


@pytest.mark.parametrize("kind", FITS)
def test_fits_do_not_depend_on_how_items_and_sessions_are_numbered(kind):
    (it,) = log(3)
    (one,) = FITS[kind]([it], (1.0, 2.0))
    new = np.array([2, 0, 3, 1])  # the new number of each item
    order = np.random.default_rng(0).permutation(len(it))
    items = tuple(it.items[i] for i in np.argsort(new))
    (other,) = FITS[kind]([QuerySessions("q", items, new[it.lists][order], it.clicks[order])], (1.0, 2.0))
    assert dict(zip(other.items, other.attraction, strict=True)) == pytest.approx(
        dict(zip(one.items, one.attraction, strict=True)), abs=1e-9
    )
    np.testing.assert_allclose(other.position, one.position, atol=1e-9)


@pytest.mark.parametrize("kind", FITS)
def test_doubling_a_log_changes_no_fit(kind):
    (it,) = log(4)
    twice = QuerySessions("q", it.items, np.tile(it.lists, (2, 1)), np.tile(it.clicks, (2, 1)))
    (one,), (other,) = FITS[kind]([it], (0.0, 0.0)), FITS[kind]([twice], (0.0, 0.0))
    np.testing.assert_allclose(other.attraction, one.attraction, atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.integers(1, 6))
def test_scores_that_are_shifted_or_stretched_give_the_same_ndcg(seed, k):
    dataset = made(seed)
    scores = np.random.default_rng(seed).integers(-3, 4, dataset.n_documents).astype(np.float32)  # with ties
    gain, offsets = metrics.gains(torch.from_numpy(dataset.relevance)), torch.from_numpy(dataset.offsets)
    ideal = torch.from_numpy(metrics.ideal_dcg(dataset.relevance, dataset.offsets, k))
    every = torch.from_numpy(np.stack([scores, scores + 8, scores * 0.5, scores * 2**20], axis=1))
    found = metrics.query_ndcg(every, gain, offsets, ideal, k)
    assert (found == found[:, :1]).all()
