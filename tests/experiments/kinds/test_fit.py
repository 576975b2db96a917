import numpy as np

from ol2r import data
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds.fit import Fit, RankNetFit
from ol2r.offline import fit_lambdarank, fit_ranknet, mean_ndcg


def fit(k: int) -> Fit:
    return Fit(dataset="synthetic-tiny", checksum=str(data.entry("synthetic-tiny").checksum), k=k)


def ranknet(regularization: float = 0.1, empty: str = "skip", k: int = 10) -> RankNetFit:
    checksum = str(data.entry("synthetic-tiny").checksum)
    return RankNetFit("synthetic-tiny", checksum, k, regularization=regularization, empty=empty)


def run(*jobs: Job):
    seen = []
    tables = type(jobs[0].cell).run_group(jobs, Context(progress=seen.append))
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


def test_a_ranknet_fit_holds_its_weights_and_counts_queries_as_it_says():
    rows = (Row(1, 0), Row(2, 0))
    skip, zero, loose = run(*(Job(cell, rows) for cell in (ranknet(), ranknet(empty="zero"), ranknet(10.0))))
    check_table(ranknet(), rows, skip)
    dataset = data.load("synthetic-tiny")
    for fold in (1, 2):
        weights = fit_ranknet(dataset, fold, regularization=0.1)
        own = skip[skip["fold"] == fold]
        np.testing.assert_array_equal(own["weight"], weights)
        assert set(own["test_ndcg"]) == {mean_ndcg(dataset, dataset.fold(fold).test, weights, 10, "skip")}
    assert zero["weight"].equals(skip["weight"]) and (zero["test_ndcg"] < skip["test_ndcg"]).all()
    assert not loose["weight"].equals(skip["weight"])


def test_the_two_kinds_of_fit_never_share_a_key():
    assert fit(10).declaration == {
        "type": "fit",
        "revision": 1,
        "fields": {"dataset": "synthetic-tiny", "checksum": fit(10).checksum, "k": 10},
    }
    assert ranknet().declaration["type"] == "ranknet"
    assert len({cell.key for cell in (fit(10), ranknet(), ranknet(0.2), ranknet(empty="zero"), ranknet(k=3))}) == 5
