import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Row
from ol2r.papers.olranknet import labels, lda
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


def test_a_row_has_the_share_of_the_first_direction_and_of_the_truth_of_a_synthetic_set():
    (cell,) = lda.lda_cells("smoke")
    table = cell.table([Row(1, 0)])
    check_table(cell, [Row(1, 0)], table)
    shares = table.set_index("quantity")["value"]
    assert list(shares.index) == ["linear", "truth"]
    assert shares.between(0.5, 1).all() and shares["truth"] > 0.9  # noise of half a deviation


def test_rankers_stand_beside_the_direction_as_means_over_seeds_on_its_data_alone():
    direction = pd.DataFrame([("a", 1, 0, "linear", 0.7)], columns=["dataset", "fold", "seed", "quantity", "value"])
    lines = [(name, 1, seed, labels.NETWORK, 0.8 + 0.1 * seed) for name in ("a", "b") for seed in (0, 1)]
    fitted = pd.DataFrame(lines, columns=["dataset", "fold", "seed", "ranker", "ordered"])
    both = lda.beside_rankers(direction, fitted)
    assert both["quantity"].tolist() == ["linear", labels.NETWORK] and both["dataset"].tolist() == ["a", "a"]
    assert both["value"].tolist() == pytest.approx([0.7, 0.85])
    assert lda.beside_rankers(direction, fitted[:0])["value"].tolist() == [0.7]
    assert lda.beside_rankers(direction[:0], fitted).empty


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
    assert {"MSLR-WEB10K", "Yahoo-LTRC-1", "MQ2008", "synthetic-mq", "synthetic-mq-net"} <= names
    assert [cell.rows(None, range(3)) for cell in lda.density_cells("smoke")] == [(Row(1, 0),)]
    table = lda.density_cells("smoke")[0].table([Row(1, 0)])
    assert not {"document", "query"} & set(table.columns)
