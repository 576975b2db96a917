"""What labels leave to a network: who is chosen, by which queries, and how far apart both end."""

import numpy as np
import pandas as pd
import pytest
import torch

from ol2r import data
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Row
from ol2r.networks import Network
from ol2r.papers.olranknet import labels
from ol2r.random import generator


def test_ordered_pairs_are_counted_query_by_query_and_ties_by_half():
    """Query 1: pairs (2,0) right, (2,1) tied, (1,0) right; query 2: one pair, wrong; query 3 has none."""
    grades, offsets = np.array([0, 1, 2, 1, 0, 3, 3]), np.array([0, 3, 5, 7])
    scores = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 4.0, 5.0])
    assert labels.ordered_share(scores, grades, offsets) == pytest.approx((2.5 / 3 + 0) / 2)
    with pytest.raises(ValueError, match="different grades"):
        labels.ordered_share(scores, np.zeros(7, dtype=int), offsets)


def test_the_gradient_is_that_of_the_cross_entropy_of_the_pairs_that_were_drawn():
    """Against a linear ranker's gradient, formed pair by pair."""
    dataset = data.load("synthetic-tiny")
    train, network = labels.part_of(dataset, dataset.fold(1).train), Network(dataset.n_features, 1, 1)
    theta = torch.from_numpy(generator("theta", 0).standard_normal((1, dataset.n_features)).astype(np.float32))
    queries = np.array([3, 0])
    found = labels._gradient(network, theta, train, queries, generator("pairs", 1))[0].numpy()
    rows = np.concatenate([np.arange(train.offsets[q], train.offsets[q + 1]) for q in queries])
    sizes = [int(train.offsets[q + 1] - train.offsets[q]) for q in queries]
    coins, total, n = generator("pairs", 1).random(len(rows)), np.zeros(dataset.n_features), 0
    for k, i in enumerate(rows):
        q = 0 if k < sizes[0] else 1
        j = int(train.offsets[queries[q]] + int(coins[k] * sizes[q]))
        if train.grades[i] != train.grades[j]:
            x = (train.features[i] - train.features[j]).astype(float)
            total += (1 / (1 + np.exp(-x @ theta[0].numpy())) - (train.grades[i] > train.grades[j])) * x
            n += 1
    np.testing.assert_allclose(found, total / n, rtol=1e-3, atol=1e-6)


def test_a_network_orders_more_than_a_linear_ranker_where_only_a_network_can():
    """Grades rise with |x|: no direction orders anything, a hidden layer does."""
    rng = generator("folded", 0)
    x = rng.uniform(-1, 1, (1200, 1)).astype(np.float32)
    features = np.column_stack([x, np.ones_like(x)])
    part = labels.Part(features, (np.abs(x[:, 0]) > 0.5).astype(np.int64), np.arange(0, 1201, 20))
    shares = {}
    for depth, width in ((1, 1), (2, 16)):
        fitting = labels.Fitting(Network(2, width, depth), (1e-2,), 150)
        theta = labels.chosen(fitting, part, part, "folded", 0).theta
        shares[depth] = labels.ordered_share(labels.scored(fitting.network, theta, part), part.grades, part.offsets)
    assert shares[1] < 0.6 and shares[2] > 0.9


def test_ndcg_is_the_mean_over_queries_with_a_relevant_document_and_ties_count_in_expectation():
    """Query 1 has gains 0, 1 and 3 in the order 1, 3, 0; query 2 has none; query 3 has a tie of gains 1 and 0."""
    part = labels.Part(np.zeros((7, 1), np.float32), np.array([0, 1, 2, 0, 0, 1, 0]), np.array([0, 3, 5, 7]))
    second = 1 / np.log2(3)
    wanted = ((1 + 3 * second) / (3 + second) + (0.5 + 0.5 * second)) / 2
    assert labels.ndcg(np.array([0.0, 3.0, 2.0, 1.0, 2.0, 5.0, 5.0]), part) == pytest.approx(wanted, rel=1e-6)


def test_the_choice_is_the_best_look_on_the_queries_that_it_is_made_on():
    rng = generator("choice", 0)
    features = rng.uniform(-1, 1, (600, 3)).astype(np.float32)
    part = labels.Part(features, (features[:, 0] > 0.4).astype(np.int64), np.arange(0, 601, 20))
    fitting = labels.Fitting(Network(3, 1, 1), (1e-1, 1e-4), 100)
    every = list(labels.looks(fitting, part, "choice", 0))
    assert [(look.rate, look.step) for look in every] == [(1e-1, 50), (1e-1, 100), (1e-4, 50), (1e-4, 100)]
    reached = [labels.ndcg(labels.scored(fitting.network, look.theta, part), part) for look in every]
    found = labels.chosen(fitting, part, part, "choice", 0)
    assert (found.rate, found.step) == [(look.rate, look.step) for look in every][int(np.argmax(reached))]


def test_a_row_has_both_rankers_and_reads_test_queries_last(monkeypatch):
    (cell,) = labels.label_cells("smoke")
    table = cell.table([Row(1, 0)])
    check_table(cell, [Row(1, 0)], table)
    assert table["ranker"].tolist() == [labels.LINEAR, labels.NETWORK] and table["ndcg"].between(0, 1).all()
    fold, read = data.load(cell.dataset).fold(1), []
    part_of = labels.part_of

    def reading(dataset, queries):
        read.append({*queries.tolist()})
        return part_of(dataset, queries)

    monkeypatch.setattr(labels, "part_of", reading)
    cell.table([Row(1, 0)])
    train, validation, test = read
    assert test == {*fold.test.tolist()} and not test & (train | validation) and not train & validation
    assert train | validation <= {*fold.train.tolist(), *fold.validation.tolist()}


def test_what_is_left_is_paired_by_run():
    lines = [("a", 1, s, r, v + s, v) for s in (0, 1) for r, v in ((labels.LINEAR, 0.25), (labels.NETWORK, 0.5))]
    table = pd.DataFrame(lines, columns=["dataset", "fold", "seed", "ranker", "ndcg", "ordered"])
    found = labels.left(table)
    assert found["ndcg"].tolist() == [0.25, 0.25] and found["ordered"].tolist() == [0.25, 0.25]


def test_at_the_end_a_lead_has_an_interval_over_seeds_within_folds():
    lines = [
        ("a", fold, seed, ranker, score)
        for fold, seed in ((1, 0), (1, 1), (2, 0), (2, 1))
        for ranker, score in ((labels.LINEAR, 0.5), (labels.NETWORK, 0.5 + 0.1 * fold + 0.02 * seed))
    ]
    one = [("b", 1, 0, ranker, 0.25) for ranker in (labels.LINEAR, labels.NETWORK)]
    table = pd.DataFrame([*lines, *one], columns=["dataset", "fold", "seed", "ranker", "ndcg"]).assign(ordered=0.5)
    found = labels.at_the_end(table).set_index("dataset")
    a = found.loc["a"]
    assert a[labels.LINEAR] == 0.5 and a["mean"] == pytest.approx(0.16) == a[labels.NETWORK] - 0.5 and a["n"] == 4
    assert a["low"] < 0.16 < a["high"] and a["high"] - a["low"] < 0.1  # folds differ by .1 and are given
    assert found.loc["b", "mean"] == 0 and np.isnan(found.loc["b", "low"])
    assert labels.at_the_end(pd.DataFrame()).empty


def test_the_paper_tier_has_every_set_on_which_something_was_expected_and_both_truths():
    shown = {cell.dataset for cell in labels.label_cells("paper")}
    assert {*labels.EXPECTED, "OHSUMED", "synthetic-mslr-net"} <= shown
