"""The start kind of cell: where its learners begin, whoever stands beside them, and that nothing else is changed."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from ol2r import data
from ol2r.clicks import users
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Context, Job, Kept, Row
from ol2r.experiments.kinds.on_dataset import fitted_weights
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.kinds.start import Start
from ol2r.learners import LEARNERS
from ol2r.offline import mean_ndcg
from ol2r.papers.bubblerank import safety
from ol2r.papers.bubblerank.claims import FEW
from ol2r.papers.comparison import grid
from ol2r.simulation import Evaluation

IT = data.entry("synthetic-tiny")
ROWS = (Row(1, 0), Row(1, 1), Row(2, 0))
WHO = ("PairRank", "PDGD", "DBGD", grid.NSGD, "epsilon-greedy")


def cold(name, kind="informational", **changed):
    learner = grid.SETTINGS[name][0]
    setting = grid.setting(IT.name, name) | changed
    convention = Evaluation(10, "test", "exponential", "skip", "expected", 0.995, (0, 5, 20))
    people = users(kind, IT.n_grades)
    revision = LEARNERS[learner].revision
    return Simulate(IT.name, IT.checksum, learner, revision, tuple(sorted(setting.items())), people, convention)


def begun(cell, factor, **changed):
    return dataclasses.replace(Start.of(cell, safety.production("smoke", IT.name, FEW), factor), **changed)


@pytest.fixture(scope="module")
def inputs():
    (job,) = begun(cold("PDGD"), 1.0).needs([Row(fold, 0) for fold in (1, 2)])
    return {job.cell: type(job.cell).run_group([job], Context())[0]}


def run(kind, inputs, *jobs, engine="numba", **kept):
    return kind.run_group(jobs, Context(inputs, engine=engine, **kept))


def at(table, round_):
    return table[table["round"] == round_].set_index(["fold", "seed"])["ndcg"]


@pytest.mark.parametrize("engine", ["numba", "torch"])
@pytest.mark.parametrize("name", WHO)
def test_a_replica_begins_with_the_scores_of_its_fold_s_ranker_times_its_factor(inputs, name, engine):
    factors = (1.0, 0.1, -0.1, -1.0)
    jobs = [Job(begun(cold(name), factor), ROWS) for factor in factors]
    tables = dict(zip(factors, run(Start, inputs, *jobs, engine=engine), strict=True))
    it, weights = data.load(IT.name), fitted_weights(next(iter(inputs.values())))
    for factor, table in tables.items():
        check_table(begun(cold(name), factor), ROWS, table)
        for (fold, _), score in at(table, 0).items():
            own = np.sign(factor) * weights[fold]
            assert score == pytest.approx(mean_ndcg(it, it.fold(fold).test, own, 10, "skip"), abs=1e-6)
    assert (at(tables[1.0], 0) > at(tables[-1.0], 0) + 0.1).all()
    assert (tables[1.0]["cndcg"] != tables[0.1]["cndcg"]).any(), "how far scores are apart changes what is shown"


def test_different_starts_stand_side_by_side_and_change_each_other_in_nothing(inputs):
    jobs = [Job(begun(cold("PairRank", kind), factor), ROWS) for kind in ("perfect", "informational")
            for factor in (1.0, -0.1)]  # fmt: skip
    assert len({job.cell.group for job in jobs}) == 1 and len({job.cell.key for job in jobs}) == 4
    for together, job in zip(run(Start, inputs, *jobs), jobs, strict=True):
        pd.testing.assert_frame_equal(run(Start, inputs, job)[0], together)


@pytest.mark.parametrize("name", WHO)
def test_a_start_of_no_length_is_the_cold_start_in_every_bit(inputs, name):
    one = cold(name, **({"start": "zero"} if name == grid.NSGD else {}))
    pd.testing.assert_frame_equal(
        run(Start, inputs, Job(begun(one, 0.0), ROWS))[0], run(Simulate, {}, Job(one, ROWS))[0]
    )


def test_a_simulation_and_its_key_are_what_they_were():
    one = cold("PDGD")
    assert one.needs(ROWS) == () and one.declaration["type"] == "simulate"
    assert "factor" not in one.declaration["fields"] and "factor" not in one.labels()


def test_the_ranker_of_each_fold_is_fitted_before(inputs):
    job = begun(cold("PDGD"), 1.0).needs(ROWS)[0]
    assert job.rows == (Row(1, 0), Row(2, 0)) and job.cell in inputs
    assert begun(cold("PDGD"), -1.0).labels()["factor"] == -1.0


@pytest.mark.parametrize("name", ["PairRank", grid.NSGD])
def test_a_run_that_was_cut_off_goes_on(inputs, name):
    job, kept = Job(begun(cold(name), -1.0), ROWS), []
    (whole,) = run(Start, inputs, job, due=lambda: not kept, keep=kept.append)
    assert isinstance(kept[0], Kept)
    pd.testing.assert_frame_equal(run(Start, inputs, job, kept=kept[0])[0], whole)


def test_a_start_that_a_learner_cannot_take_is_refused():
    network = cold("neural PDGD")
    with pytest.raises(ValueError, match=r"^neural PDGD cannot begin from given weights$"):
        begun(network, 1.0)
    with pytest.raises(ValueError, match="no start for a learner of some of them"):
        begun(cold("PDGD"), 1.0, features="varying")
    with pytest.raises(ValueError, match="fitted to MQ2008 is no start on synthetic-tiny"):
        begun(cold("PDGD"), 1.0, production=safety.production("smoke", "MQ2008", FEW))
