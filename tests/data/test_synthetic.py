import platform

import numpy as np
import pytest
import torch

from ol2r.data import entry, load, synthetic
from ol2r.data.cache import array_digest
from ol2r.ranking.metrics import gains, ideal_dcg, query_ndcg

# features, relevance, offsets at revision 1: keys of results name a generated set and its revision, not its bytes
CONTENT = {
    "synthetic-tiny": "54d83f44890b 64ed5e03dce0 8cc33cccdd2b",
    "synthetic-tiny-net": "54d83f44890b 8b79c75f2d53 8cc33cccdd2b",
    "synthetic-mq": "0a18d83e7065 18d3fb5d2a10 59489294341d",
    "synthetic-mq-net": "0a18d83e7065 2fc0c76f18fc 59489294341d",
    "synthetic-mslr": "fbc06a56bd5b 833ee0294abc aa429557df83",
    "synthetic-yahoo": "7cd8f90b6f6e 24daeff13a00 74bc1dc4b919",
}


def ndcg(dataset, scores) -> float:
    ideal = ideal_dcg(dataset.relevance, dataset.offsets, 10)
    arguments = (scores.astype(np.float32)[:, None], dataset.offsets.astype(np.int64), ideal)
    scores, offsets, ideal = map(torch.from_numpy, arguments)
    return float(query_ndcg(scores, gains(torch.from_numpy(dataset.relevance)), offsets, ideal, 10).mean())


def best_linear(features, target):
    design = np.column_stack([features, np.ones(len(features))])
    return design @ np.linalg.lstsq(design, target, rcond=None)[0]


@pytest.mark.parametrize("name", ["synthetic-tiny", "synthetic-mq", "synthetic-mq-net", "synthetic-yahoo"])
def test_generated_sets_have_their_shape(name):
    dataset, shape, it = load(name), synthetic.SHAPES[name], entry(name)
    assert (dataset.n_queries, dataset.n_features, len(dataset.folds)) == (it.n_queries, it.n_features, it.n_folds)
    assert dataset.checksum == it.checksum
    shares = np.bincount(dataset.relevance, minlength=it.n_grades) / dataset.n_documents
    np.testing.assert_allclose(shares, shape.grade_shares, atol=0.01)
    low = np.minimum.reduceat(dataset.features, dataset.offsets[:-1])
    high = np.maximum.reduceat(dataset.features, dataset.offsets[:-1])
    assert (low == 0).all() and np.isin(high, [0.0, 1.0]).all()
    for fold in dataset.folds:
        held = np.concatenate([fold.train, fold.validation, fold.test])
        assert sorted(held.tolist()) == list(range(dataset.n_queries))


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="other processors may round exp and sums otherwise"
)
@pytest.mark.parametrize("name", CONTENT)
def test_generated_content_stays_what_it_was_at_this_revision(name):
    dataset = load(name)
    found = [array_digest(array)[:12] for array in (dataset.features, dataset.relevance, dataset.offsets)]
    expected = CONTENT[name].split()
    library, version = platform.libc_ver()
    if library != "glibc" or tuple(map(int, version.split("."))) >= (2, 41):
        # they round the logarithm in the tails of normal numbers otherwise
        found, expected = found[1:], expected[1:]
    assert synthetic.REVISION == 1 and found == expected, "raise REVISION: stored results are stale"


def test_mq_has_short_lists_and_queries_without_a_relevant_document():
    dataset = load("synthetic-mq")
    assert 20 < dataset.sizes.mean() < 40
    assert (dataset.sizes < 10).mean() > 0.2
    assert 0.1 < (np.add.reduceat(dataset.relevance > 0, dataset.offsets[:-1]) == 0).mean() < 0.3


def test_mslr_is_larger_than_a_cache():
    shape = synthetic.SHAPES["synthetic-mslr"]
    assert (shape.n_train, shape.n_test, shape.n_features) == (2000, 2000, 136)
    ((_, median, deviation),) = shape.sizes
    assert 120 < median * np.exp(deviation**2 / 2) < 130  # mean of a log-normal


@pytest.mark.parametrize("name", ["synthetic-tiny", "synthetic-tiny-net"])
def test_generation_repeats_and_the_twin_shares_documents_only(name):
    again = synthetic.generate(name, "label", "checksum")
    np.testing.assert_array_equal(again.features, load(name).features)
    np.testing.assert_array_equal(again.relevance, load(name).relevance)
    np.testing.assert_array_equal(again.features, load("synthetic-tiny").features)
    assert (load("synthetic-tiny").relevance != load("synthetic-tiny-net").relevance).any()


@pytest.mark.parametrize("name", ["synthetic-mq", "synthetic-mq-net"])
def test_the_truth_ranks_far_better_than_chance_and_noise_keeps_it_from_perfect(name):
    dataset = load(name)
    reached = ndcg(dataset, synthetic.truth(name).score(dataset.features))
    answerable = (np.add.reduceat(dataset.relevance > 0, dataset.offsets[:-1]) > 0).mean()
    assert ndcg(dataset, np.zeros(dataset.n_documents)) + 0.2 < reached < 0.99 * answerable


def test_a_linear_truth_is_its_weights_and_a_network_is_not_linear():
    features = load("synthetic-mq").features
    linear, network = synthetic.truth("synthetic-mq"), synthetic.truth("synthetic-mq-net")
    assert isinstance(linear, synthetic.Linear) and isinstance(network, synthetic.Network)
    np.testing.assert_allclose(linear.score(features), features.astype(float) @ linear.weights)
    hidden = [max(float(row @ features[7].astype(float)), 0.0) for row in network.inner]
    expected = sum(v * h for v, h in zip(network.outer, hidden, strict=True)) / len(hidden) ** 0.5
    np.testing.assert_allclose(network.score(features[7:8]), [expected])
    scores = network.score(features)
    assert np.var(scores - best_linear(features, scores)) > 0.1 * np.var(scores)
