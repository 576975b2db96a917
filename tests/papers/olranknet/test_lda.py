import numpy as np
import pandas as pd
import pytest
import torch

from ol2r import data
from ol2r.experiments.cells import Row
from ol2r.experiments.store import check_table
from ol2r.networks import Network
from ol2r.papers.olranknet import lda
from ol2r.random import generator


def two_classes(n=4000):
    """Classes with means 0 and (1, 0), and a covariance that turns Fisher's direction away from the line of means."""
    rng = generator("two classes", 0)
    grades = rng.integers(0, 2, n)
    noise = rng.standard_normal((n, 2)) @ np.linalg.cholesky(np.array([[1.0, 0.8], [0.8, 1.0]])).T
    return noise + grades[:, None] * np.array([1.0, 0.0]), grades


def test_the_first_direction_is_fishers():
    features, grades = two_classes()
    within = sum(np.cov(features[grades == g].T, bias=True) * (grades == g).mean() for g in (0, 1))
    means = [features[grades == g].mean(axis=0) for g in (0, 1)]
    expected = np.linalg.solve(within, means[1] - means[0])
    first = lda.discriminants(features, grades)[:, 0]
    np.testing.assert_allclose(first / np.linalg.norm(first), expected / np.linalg.norm(expected), atol=1e-3)
    assert first @ within @ first == pytest.approx(1, rel=1e-3)


def test_a_constant_feature_has_no_weight_that_matters():
    features, grades = two_classes()
    more = np.column_stack([features, np.ones(len(features))])
    ours, theirs = lda.discriminants(features, grades)[:, 0], lda.discriminants(more, grades)[:2, 0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-3)


def test_ordered_pairs_are_counted_query_by_query_and_ties_by_half():
    """Query 1: pairs (2,0) right, (2,1) tied, (1,0) right; query 2: one pair, wrong; query 3 has none."""
    grades, offsets = np.array([0, 1, 2, 1, 0, 3, 3]), np.array([0, 3, 5, 7])
    scores = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 4.0, 5.0])
    assert lda.ordered_share(scores, grades, offsets) == pytest.approx((2.5 / 3 + 0) / 2)
    with pytest.raises(ValueError, match="different grades"):
        lda.ordered_share(scores, np.zeros(7, dtype=int), offsets)


def test_the_gradient_is_that_of_the_cross_entropy_of_the_pairs_that_were_drawn():
    """Against a linear ranker's gradient, formed pair by pair."""
    dataset = data.load("synthetic-tiny")
    train, network = lda.part_of(dataset, dataset.fold(1).train), Network(dataset.n_features, 1, 1)
    theta = torch.from_numpy(generator("theta", 0).standard_normal((1, dataset.n_features)).astype(np.float32))
    queries = np.array([3, 0])
    found = lda._gradient(network, theta, train, queries, generator("pairs", 1))[0].numpy()
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
    part = lda.Part(features, (np.abs(x[:, 0]) > 0.5).astype(np.int64), np.arange(0, 1201, 20))
    shares = {}
    for depth, width in ((1, 1), (2, 16)):
        fitting = lda.Fitting(Network(2, width, depth), (1e-2,), 150)
        theta = lda.fitted(fitting, part, part, "folded", 0)
        shares[depth] = lda.ordered_share(lda.scored(fitting.network, theta, part), part.grades, part.offsets)
    assert shares[1] < 0.6 and shares[2] > 0.9


def test_a_row_has_every_share_and_the_truth_of_a_synthetic_set():
    (cell,) = lda.lda_cells("smoke")
    table = cell.table([Row(1, 0)])
    check_table(cell, [Row(1, 0)], table)
    assert set(table["quantity"]) == set(lda.QUANTITIES)
    shares = table.set_index("quantity")["value"]
    assert shares.between(0.5, 1).all() and shares["truth"] > 0.9  # noise of half a deviation


def test_densities_are_of_each_grade_and_leave_out_documents_that_stand_alone():
    features, grades = two_classes()
    features = np.vstack([features, [[0.5, 0.5]]])
    grades = np.append(grades, 2)  # a grade of a single document
    table = lda.densities(features, grades)
    assert set(table["grade"]) == {0, 1}
    assert (table["share"] * table["documents"] >= 0.5).all()
    assert table.groupby("grade")["share"].sum().between(0.85, 1).all()
    means = table.assign(at=table["x"] * table["share"]).groupby("grade")["at"].sum()
    assert means[1] > means[0]


def test_a_level_has_the_asked_share_above_it():
    table = pd.DataFrame({"dataset": "one", "grade": 0, "share": [0.1, 0.4, 0.2, 0.05]})
    assert lda.levels(table, 0.5)["level"].tolist() == [0.2]
    assert lda.levels(table, 0.8).empty


def test_declared_cells_have_linear_and_network_truths_and_the_papers_sets():
    names = {cell.labels()["dataset"] for cell in lda.lda_cells("paper")}
    assert {"MSLR-WEB10K", "Yahoo-LTRC-1", "MQ2008", "synthetic-mslr", "synthetic-mslr-net"} <= names
    assert [cell.rows(None, range(3)) for cell in lda.density_cells("smoke")] == [(Row(1, 0),)]
    table = lda.density_cells("smoke")[0].table([Row(1, 0)])
    assert not {"document", "query"} & set(table.columns)
