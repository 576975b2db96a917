"""The skyline kind of cell: what its learner does through the loop, and what the cell gives."""

import numpy as np
import pandas as pd
import pytest
import torch
from small import Tape, evaluation, replicas_of, small_dataset

from ol2r import data
from ol2r.clicks import users
from ol2r.clicks.cascade import USERS
from ol2r.experiments.cells import ANY, Job
from ol2r.experiments.kinds.skyline import GroundTruth, Skyline
from ol2r.experiments.runner import Shard, run_shard
from ol2r.learners import LEARNERS
from ol2r.papers.olranknet import grid as olranknet
from ol2r.simulation import Evaluation, make_streams, simulate

SETTING = {"rate": 0.01, "regularization": 0.001, "passes": 2, "width": 8, "depth": 2, "init": "he"}


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def made(dataset, replicas, **changed):
    return GroundTruth(dataset, SETTING | changed, make_streams(dataset, replicas), k=10)


def test_it_is_no_online_learner():
    assert GroundTruth.name not in LEARNERS


def test_users_make_no_difference_to_it(dataset):
    replicas = replicas_of("perfect", "informational")
    tape = Tape(made(dataset, replicas), dataset)
    tape.table = simulate(dataset, replicas, tape.learner, evaluation(25))
    np.testing.assert_array_equal(tape.rankings[:, :4], tape.rankings[:, 4:])
    assert (tape.clicks[:, :4] != tape.clicks[:, 4:]).any()


def test_labels_of_the_queries_that_were_presented_make_it_rank_well(dataset):
    replicas = replicas_of("perfect", seeds=range(4))
    table = simulate(dataset, replicas, made(dataset, replicas), evaluation(120, checkpoints=(0, 120)))
    before, after = (table[table["round"] == t].ndcg.mean() for t in (0, 120))
    assert after > before + 0.1
    assert table[table["round"] == 120].online_ndcg.mean() > before + 0.1


def test_a_run_goes_on_from_a_saved_state(dataset):
    replicas, kept = replicas_of("perfect"), []
    conventions = evaluation(20, checkpoints=(0, 5, 20))
    whole = simulate(
        dataset, replicas, made(dataset, replicas), conventions,
        keep=lambda *them: kept.append(them), keep_after=lambda round_: round_ == 9,
    )  # fmt: skip
    ((state, recorded),) = kept
    resumed = simulate(dataset, replicas, made(dataset, replicas), conventions, resume=state)
    pd.testing.assert_frame_equal(pd.concat([recorded, resumed], ignore_index=True), whole)


def test_a_cell_gives_the_runs_of_its_learner():
    it = data.entry("synthetic-tiny")
    conventions = Evaluation(10, "test", "exponential", "zero", "expected", 0.9995, (0, 30))
    setting = tuple(sorted(SETTING.items()))
    cell = Skyline(it.name, it.checksum, GroundTruth.name, 1, setting, users("perfect", it.n_grades), conventions)
    (outcome,) = run_shard(Shard((Job(cell, cell.rows(None, range(2))),)), {}, "cpu", "numba")
    table = outcome.frame
    assert set(table["round"]) == {0, 30} and len(table) == 2 * 2 * it.n_folds
    assert cell.repeats == "means" and cell.labels()["learner"] == "olLambdaRank GT"
    assert cell.cost(cell.rows(None, range(2))).seconds > 0
    grown = table.groupby("round")["ndcg"].mean()
    assert grown[30] > grown[0] and torch.isfinite(torch.tensor(table["ndcg"].to_numpy())).all()


def test_one_cell_serves_all_users():
    cells = [olranknet.curve("paper", "MQ2008", kind, GroundTruth.name) for kind in USERS]
    assert len({cell.key for cell in cells}) == 1 and cells[0].labels()["users"] == ANY
    assert cells[0].labels() | {"users": "perfect"} == super(Skyline, cells[0]).labels()
