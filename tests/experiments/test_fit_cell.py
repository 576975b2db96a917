import numpy as np

from ol2r import data
from ol2r.experiments.cells import Job, Row
from ol2r.experiments.fit_cell import Fit
from ol2r.experiments.store import check_table
from ol2r.offline import fit_lambdarank, mean_ndcg


def fit(k: int) -> Fit:
    return Fit(dataset="synthetic-tiny", checksum=str(data.entry("synthetic-tiny").checksum), k=k)


def run(*jobs: Job):
    seen = []
    tables = Fit.run_group(jobs, inputs={}, device="cpu", engine="numba", progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1.0
    return tables


def test_the_table_holds_the_weights_of_each_fold_and_their_scores():
    rows = (Row(2, 0), Row(2, 1), Row(4, 0))
    (table,) = run(Job(fit(10), rows))
    check_table(fit(10), rows, table)
    dataset = data.load("synthetic-tiny")
    for fold, seed in rows:
        lines = table[(table["fold"] == fold) & (table["seed"] == seed)]
        weights = fit_lambdarank(dataset, fold, k=10)
        assert lines["feature"].tolist() == list(range(1, 11))
        np.testing.assert_array_equal(lines["weight"], weights)
        assert set(lines["test_ndcg"]) == {mean_ndcg(dataset, dataset.fold(fold).test, weights, 10)}
        assert set(lines["train_ndcg"]) == {mean_ndcg(dataset, dataset.fold(fold).train, weights, 10)}


def test_cells_of_a_group_do_not_mix():
    rows = (Row(1, 0),)
    three, ten = run(Job(fit(3), rows), Job(fit(10), rows))
    assert three.equals(run(Job(fit(3), rows))[0])
    assert not three["weight"].equals(ten["weight"])


def test_all_seeds_of_an_item_share_the_fit():
    cell = Fit(dataset="synthetic-tiny", checksum="x", k=10)
    assert cell.rows(None, range(7)) == tuple(Row(fold, 0) for fold in range(1, 6))
