"""The network that LambdaRank fits to a growing set of queries, against one plain step and against what it may read."""

import dataclasses

import numpy as np
import pytest
import torch

from ol2r.data import load
from ol2r.networks import Network
from ol2r.offline.growing import GrowingLambdaRank
from ol2r.offline.labelled import LabelledQueries
from ol2r.offline.lambdarank import lambda_forces, lambda_gradient
from ol2r.random import Streams
from ol2r.rankers import NetworkRanker

QUERIES = [3, 7, 3, 11, 2]


@pytest.fixture(scope="module")
def dataset():
    return load("synthetic-tiny")


def start(network):
    return network.initial(Streams(np.array([5], dtype=np.uint64)))[0]


def grown(dataset, queries=QUERIES, width=8, **changed):
    network = Network(dataset.n_features, width)
    growing = GrowingLambdaRank(
        dataset, network, start(network), **{"rate": 0.01, "passes": 3, "regularization": 0.001} | changed
    )
    for query in queries:
        growing.present(query)
    return growing


def ndcg(growing, queries, k=10):
    ranker = NetworkRanker(growing.network, growing.theta[None])
    labelled = LabelledQueries(growing.dataset, np.asarray(queries))
    scores = ranker.scores(torch.from_numpy(labelled.features), torch.tensor([0]))[:, 0].numpy()
    total = 0.0
    for q in range(len(queries)):
        rows = slice(labelled.offsets[q], labelled.offsets[q + 1])
        gains = 2.0 ** labelled.relevance[rows][np.argsort(-scores[rows])][:k] - 1
        best = labelled.ideal(k)[q]
        total += (gains / np.log2(np.arange(2, len(gains) + 2))).sum() / best if best else 0.0
    return total / len(queries)


def test_forces_of_linear_scores_make_the_linear_gradient(dataset):
    labelled = LabelledQueries(dataset, np.array(QUERIES[:2]))
    weights = np.linspace(-1, 1, dataset.n_features)
    fixed = labelled.relevance, labelled.offsets, labelled.ideal(10)
    forces = lambda_forces(labelled.features.astype(float) @ weights, *fixed, 10)
    np.testing.assert_allclose(
        forces @ labelled.features / 2, lambda_gradient(labelled.features, *fixed, weights, 10), atol=1e-12
    )


def test_a_network_without_a_hidden_layer_takes_the_linear_steps(dataset):
    network = Network(dataset.n_features, 4, depth=1)  # f = √m w·x = 2 w·x
    growing = GrowingLambdaRank(dataset, network, start(network), rate=0.05, passes=1)
    growing.present(7)
    labelled = LabelledQueries(dataset, np.array([7]))
    w = start(network).double().numpy()
    fixed = labelled.features, labelled.relevance, labelled.offsets, labelled.ideal(10)
    gradient = 2 * lambda_gradient(*fixed, 2 * w, 10)
    assert np.abs(gradient).min() > 1e-4
    np.testing.assert_allclose(growing.theta, w + 0.05 * np.sign(gradient), atol=1e-5)  # Adam's first step


def test_each_query_counts_once_and_each_presentation_is_a_fit(dataset):
    growing = grown(dataset)
    assert growing.queries == [3, 7, 11, 2]
    assert not torch.equal(growing.theta, grown(dataset, [3, 7, 11, 2]).theta)
    assert torch.equal(growing.theta, grown(dataset).theta)


def test_it_learns_what_it_was_shown(dataset):
    train = dataset.fold(1).train
    before, after = (ndcg(grown(dataset, train[:n], width=32), train) for n in (0, len(train)))
    assert after > before + 0.1


def test_labels_of_other_queries_are_not_read(dataset):
    relevance = dataset.relevance.copy()
    for query in set(range(dataset.n_queries)) - set(QUERIES):
        relevance[dataset.documents(query)] = 0
    blinded = dataclasses.replace(dataset, relevance=relevance)
    assert torch.equal(grown(dataset).theta, grown(blinded).theta)


def test_a_rate_that_diverges_leaves_the_last_finite_parameters(dataset):
    assert grown(dataset, rate=1e38).theta.isfinite().all()


def test_a_fit_goes_on_from_what_was_saved(dataset):
    whole, late = grown(dataset), grown(dataset, [])
    late.load_state_dict({name: value.clone() for name, value in grown(dataset, QUERIES[:3]).state_dict().items()})
    for query in QUERIES[3:]:
        late.present(query)
    assert torch.equal(whole.theta, late.theta) and whole.queries == late.queries


def test_a_query_without_relevant_documents_pushes_nothing(dataset):
    relevance = np.zeros_like(dataset.relevance)
    blank = dataclasses.replace(dataset, relevance=relevance)
    assert torch.equal(grown(blank, regularization=0.0).theta, start(Network(dataset.n_features, 8)))
