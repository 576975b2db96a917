"""A long shard runs in segments: what a killed run kept of it, and that the next run goes on from there."""

import os
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import Fake, Learner, Stepping, job, ran
from small import SETTINGS

from ol2r import data
from ol2r.clicks import users
from ol2r.errors import ExperimentError
from ol2r.experiments import provenance, runner
from ol2r.experiments.cells import Job, Kept, Row
from ol2r.experiments.kinds import simulate as kind_module
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.publication import publish
from ol2r.experiments.runner import JobsFailed, Shard, in_memory, lacking, run
from ol2r.experiments.store import Store, StoreError, StoreWarning, encode
from ol2r.learners import LEARNERS
from ol2r.random import generator
from ol2r.simulation import Evaluation


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """States are kept whenever a shard asks, as if every step took minutes."""
    monkeypatch.setattr(runner, "SEGMENT", 0.0)
    monkeypatch.setattr(runner, "KEEPING_SHARE", np.inf)


class Killed(BaseException):
    """Ends a run at once, as a signal does."""


def killed_at(n, jobs, store, *, after=lambda: None, **how):
    """Run until a state was kept for the n-th time, and no further."""
    really, kept = Store.keep, []

    def keep(self, *arguments):
        really(self, *arguments)
        kept.append(arguments)
        if len(kept) == n:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "keep", keep)
        with pytest.raises(Killed):
            run(jobs, store, n_jobs=1, **how)
    assert states(store)


def states(store):
    return sorted(store.scratch.glob("*/unfinished-*"))


def steps(log):
    """The number of each step that the row of fold 1 and seed 0 took, in order and as often as it took it, by name."""
    taken = {}
    for noted, *row in ran(log):
        name, _, step = noted.partition("@")
        if row == [1, 0]:
            taken.setdefault(name, []).append(int(step))
    return taken


def tables(jobs, store):
    return [store.read(job.cell, job.rows).frame for job in jobs]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
        assert encode(one, {}) == encode(other, {})


def simulated(learner="PDGD", rounds=30, checkpoints=(0, 7, 20), **changed):
    it = data.entry("synthetic-tiny")
    conventions = {"split": "test", "gain": "exponential", "empty": "zero", "ties": "expected", "gamma": 0.995}
    evaluation = Evaluation(k=10, checkpoints=(*checkpoints, rounds), **conventions)
    setting = tuple(sorted((SETTINGS[learner] | changed.pop("setting", {})).items()))
    revision = LEARNERS[learner].revision
    return Simulate(
        it.name, it.checksum, learner, revision, setting, users("navigational", it.n_grades), evaluation, **changed
    )


@pytest.mark.parametrize("learner", ["PDGD", "PairRank"])
@pytest.mark.parametrize("n", [1, 18, 29])
def test_a_killed_shard_goes_on_and_gives_what_it_gives_in_one_go(store, learner, n):
    other = {"alpha": SETTINGS[learner]["alpha"] / 2}
    jobs = [job(simulated(learner), 2), job(simulated(learner, setting=other), 1)]
    whole, _ = in_memory(jobs, {}, progress=False)
    killed_at(n, jobs, store)
    assert [len(it.rows) for it in lacking(jobs, store)] == [len(it.rows) for it in jobs]
    run(jobs, store, n_jobs=1)
    assert_same(tables(jobs, store), whole)
    assert states(store) == []


@pytest.mark.parametrize("checkpoints", [(), (0, 3)])
@pytest.mark.parametrize("n", [2, 7, 8, 10])
def test_a_shard_of_several_batches_goes_on_in_the_batch_where_it_was(store, monkeypatch, n, checkpoints):
    monkeypatch.setattr(kind_module, "batch_size", lambda *arguments: 3)
    jobs = [job(simulated(rounds=8, checkpoints=checkpoints, features="varying"), 4)]
    whole, _ = in_memory(jobs, {}, progress=False)
    killed_at(n, jobs, store)
    rounds = []
    really = kind_module.simulate

    def counted(*arguments, resume, **named):
        rounds.append(1 if resume is None else int(resume["learner.round"]))
        return really(*arguments, resume=resume, **named)

    monkeypatch.setattr(kind_module, "simulate", counted)
    run(jobs, store, n_jobs=1)
    folds = len(jobs[0].cell.folds)
    before, at = divmod(n - 1, 7)  # a batch of eight rounds is kept seven times
    assert rounds == [at + 2] + [1] * (2 * folds - before - 1)
    assert_same(tables(jobs, store), whole)


SCRIPT = """
import sys, time
sys.path[:0] = {paths!r}
from pathlib import Path
from test_segments import job, simulated
from ol2r.experiments import runner
from ol2r.experiments.store import Store

if __name__ == "__main__":
    runner.SEGMENT, runner.KEEPING_SHARE = 0.0, float("inf")
    really, kept = Store.keep, []

    def keep(self, *arguments):
        really(self, *arguments)
        kept.append(1)
        while len(kept) == 12:  # until it is killed
            Path({flag!r}).touch()
            time.sleep(0.02)

    Store.keep = keep
    runner.run([job(simulated(), 2)], Store(None, Path({store!r})), n_jobs=1)
"""


def test_a_process_that_is_killed_in_mid_run_loses_only_what_came_after_the_last_state(store, tmp_path):
    here, flag = Path(__file__).parent, tmp_path / "flag"
    paths = [str(here), str(here.parent / "learners")]
    script = SCRIPT.format(paths=paths, flag=str(flag), store=str(store.scratch))
    (tmp_path / "run.py").write_text(script)
    process = subprocess.Popen([sys.executable, str(tmp_path / "run.py")], start_new_session=True)
    while not flag.exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    jobs = [job(simulated(), 2)]
    ((path,),) = [states(store)]
    assert [path.name for path in path.parent.iterdir()] == [path.name]
    whole, _ = in_memory(jobs, {}, progress=False)
    run(jobs, store, n_jobs=1)
    assert_same(tables(jobs, store), whole)
    (record,) = store.read(*jobs[0]).provenance
    assert record["shard_resumed"] == 1
    assert states(store) == []


def test_a_record_says_how_often_its_shard_was_resumed_and_sums_the_seconds_of_all_segments(store, monkeypatch):
    seconds = iter(range(0, 10_000, 10))
    monkeypatch.setattr(runner.time, "perf_counter", lambda: next(seconds))
    monkeypatch.setattr(runner.time, "process_time", lambda: 0.0)
    monkeypatch.setattr(runner, "SEGMENT", 5.0)
    jobs = [job(Stepping())]
    killed_at(2, jobs, store)
    killed_at(1, jobs, store)
    _, kept = store.kept(jobs, {})
    run(jobs, store, n_jobs=1)
    (record,) = store.read(*jobs[0]).provenance
    assert kept["resumed"] == 1 and record["shard_resumed"] == 2
    assert record["shard_seconds"] > kept["seconds"] >= 60.0  # two calls a state: when it is due, what it has taken


def test_a_shard_that_was_never_killed_was_not_resumed(store):
    jobs = [job(Stepping())]
    run(jobs, store, n_jobs=1)
    assert [record["shard_resumed"] for record in store.read(*jobs[0]).provenance] == [0]
    assert states(store) == []


def test_a_resumed_shard_takes_only_the_steps_that_are_left(store, log):
    jobs = [job(Stepping())]
    killed_at(4, jobs, store)
    run(jobs, store, n_jobs=1)
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}


def test_a_shard_goes_on_with_its_own_rows_whatever_else_is_wanted_now(store, log):
    first, second = Stepping(name="first"), Stepping(name="second")
    killed_at(3, [job(first, 2), job(second, 2)], store)
    log.unlink()
    wanted = [job(Stepping(name="new")), job(second, 5), job(first, 5)]
    run(wanted, store, n_jobs=1)
    assert lacking(wanted, store) == [] and states(store) == []
    begun = {(name, *row) for name, *row in ran(log) if name.endswith("@1")}
    assert begun == {(f"{cell.name}@1", *row) for cell, rows in wanted for row in rows} - {
        (f"{cell.name}@1", *row) for cell in (first, second) for row in cell.rows(None, range(2))
    }


def test_a_state_of_rows_that_are_not_all_wanted_waits(store, log):
    cell = Stepping()
    killed_at(3, [job(cell, 3)], store)
    (path,) = states(store)
    run([job(Stepping(name="other"))], store, n_jobs=1)
    assert states(store) == [path]
    log.unlink()
    run([job(cell, 2)], store, n_jobs=1)
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}
    assert states(store) == []  # its other rows are planned anew
    assert_same(tables([job(cell, 2)], store), in_memory([job(cell, 2)], {}, progress=False)[0])


@pytest.mark.parametrize("changed", [{"offset": 1.0}, {"learner": Learner(rate=0.2)}], ids=["cell", "hyper-parameter"])
def test_a_state_of_another_cell_is_not_used_even_under_its_name(store, log, changed):
    cell, other = Stepping(), Stepping(**changed)
    killed_at(3, [job(cell)], store)
    (path,) = states(store)
    place, _ = store._state([job(other)])
    place.parent.mkdir()
    path.rename(place)
    log.unlink()
    with pytest.warns(StoreWarning, match="other jobs than its name says"):
        run([job(other)], store, n_jobs=1)
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}
    assert_same(tables([job(other)], store), in_memory([job(other)], {}, progress=False)[0])


def test_a_state_of_another_revision_is_not_used(store, log, monkeypatch):
    cell = Stepping()
    killed_at(3, [job(cell)], store)
    log.unlink()
    monkeypatch.setattr(Learner, "revision", 2)
    revised = Stepping()
    assert revised.key != cell.key
    run([job(revised)], store, n_jobs=1)
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}


@pytest.mark.parametrize("name", ["versions", "code_digest", "cpu"])
def test_a_state_from_other_circumstances_is_not_used_and_goes_when_the_shard_is_stored(store, log, monkeypatch, name):
    jobs = [job(Stepping())]
    killed_at(3, jobs, store)
    log.unlink()
    monkeypatch.setattr(provenance, name, lambda *arguments: "another")
    run(jobs, store, n_jobs=1)
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}
    assert [record["shard_resumed"] for record in store.read(*jobs[0]).provenance] == [0]
    assert states(store) == []


def test_a_state_of_another_engine_is_not_used(store, log):
    jobs = [job(Stepping())]
    killed_at(3, jobs, store)
    log.unlink()
    run(jobs, store, n_jobs=1, engine="torch")
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [flip_a_bit, truncate, empty])
def test_a_damaged_state_is_set_aside_with_a_warning_and_its_shard_begins_anew(store, log, damage):
    jobs = [job(Stepping())]
    killed_at(3, jobs, store)
    (path,) = states(store)
    damage(path)
    damaged = path.read_bytes()
    log.unlink()
    with pytest.warns(StoreWarning, match="damaged state"):
        run(jobs, store, n_jobs=1)
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}
    assert_same(tables(jobs, store), in_memory(jobs, {}, progress=False)[0])
    assert states(store) == [path.with_name(path.name + ".damaged")]
    assert states(store)[0].read_bytes() == damaged


def test_a_state_is_written_and_read_array_by_array(store):
    """Of what Python allocates beside the state itself: no more than a few of its arrays at a time."""
    state = {str(i): generator(f"state {i}", 0).standard_normal((1 << 19, 1)) for i in range(8)}
    jobs, table = [job(Stepping(), 1)], pd.DataFrame({"step": [1, 2]})
    tracemalloc.start()
    store.keep(jobs, Kept(state, table), {"why": "a test"})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * state["0"].nbytes
    kept, record = store.kept(jobs, {"why": "a test"})
    assert list(kept.state) == list(state) and record["why"] == "a test"
    assert all(np.array_equal(kept.state[name], each) for name, each in state.items())
    pd.testing.assert_frame_equal(kept.recorded, table)


def test_no_flipped_bit_of_a_state_is_read_silently(store):
    jobs = [job(Stepping(), 1)]
    killed_at(3, jobs, store)
    (path,) = states(store)
    whole = path.read_bytes()
    for at in range(0, 8 * len(whole), 331):
        content = bytearray(whole)
        content[at // 8] ^= 1 << at % 8
        path.write_bytes(content)
        with pytest.warns(StoreWarning, match="damaged state"):
            assert store.kept(jobs, {}) is None
    path.write_bytes(whole)
    assert store.kept(jobs, {}) is not None


def test_a_state_from_which_a_shard_cannot_go_on_is_dropped_and_the_shard_begins_anew(store, log):
    jobs = [job(Stepping())]
    killed_at(3, jobs, store)
    kept, record = store.kept(jobs, {})
    store.keep(jobs, Kept({**kept.state, "total": kept.state["total"][1:]}, kept.recorded), record)
    log.unlink()
    with pytest.warns(StoreWarning, match="begins anew: a state of other rows"):
        run(jobs, store, n_jobs=1)
    assert steps(log) == {"a": [1, 2, 3, 4, 5, 6]}
    assert_same(tables(jobs, store), in_memory(jobs, {}, progress=False)[0])


def test_a_runner_that_ends_while_another_is_in_the_same_shard_does_not_spoil_it(store, tmp_path, monkeypatch):
    jobs = [job(Stepping())]
    whole, _ = in_memory(jobs, {}, progress=False)
    really, begun = Store.keep, []

    def keep(self, *arguments):
        really(self, *arguments)
        begun.append(1)
        if len(begun) == 3:
            run(jobs, Store(None, store.scratch), n_jobs=1)  # goes on from this state, and ends first

    monkeypatch.setattr(Store, "keep", keep)
    with warnings.catch_warnings(action="error"):
        run(jobs, store, n_jobs=1)
    assert len(begun) == 6 + 3
    assert_same(tables(jobs, store), whole)
    assert [record["shard_resumed"] for record in store.read(*jobs[0]).provenance] == [1]  # the first to end is kept
    assert [path.suffix for path in store.scratch.glob("*/*")] == [".parquet"] and states(store) == []


def test_a_worker_that_is_killed_leaves_the_state_of_its_shard(store, log, tmp_path, monkeypatch):
    last = tmp_path / "killed"
    monkeypatch.setenv("FAKE_KILLED", str(last))
    cells = [Stepping(name=name, by_clock=False, seconds_a_row=60.0) for name in "ab"]
    jobs = [job(cell) for cell in cells]
    last.write_text("b@4")
    with pytest.raises(ExperimentError, match="a worker process was killed"):
        run(jobs, store, n_jobs=2)
    assert not last.exists()
    run(jobs, store, n_jobs=2)
    assert steps(log)["b"] == [1, 2, 3, 4, 5, 6]
    assert_same(tables(jobs, store), in_memory(jobs, {}, progress=False)[0])
    assert states(store) == []


def test_what_computes_without_storing_keeps_nothing(store, monkeypatch):
    monkeypatch.setattr(Store, "keep", lambda *arguments: pytest.fail("kept"))
    in_memory([job(Stepping())], {}, progress=False)


def test_a_state_that_cannot_be_written_is_told_once_and_the_shard_goes_on(store, monkeypatch):
    def full(*arguments):
        raise StoreError("No space left on device")

    monkeypatch.setattr(Store, "keep", full)
    jobs = [job(Stepping())]
    with pytest.warns(StoreWarning, match="goes on without keeping its state, .*: No space left") as told:
        run(jobs, store, n_jobs=1)
    assert len(told) == 1
    assert lacking(jobs, store) == []


def test_a_state_that_is_too_large_is_not_kept_which_is_told_once(store, monkeypatch):
    monkeypatch.setattr(runner, "LARGEST_STATE", 8)
    monkeypatch.setattr(Store, "keep", lambda *arguments: pytest.fail("kept"))
    jobs = [job(Stepping())]
    with pytest.warns(StoreWarning, match="goes on without keeping its state, .* GiB of memory, and at most") as told:
        run(jobs, store, n_jobs=1)
    assert len(told) == 1
    assert lacking(jobs, store) == []


def test_a_job_that_fails_after_its_state_was_kept_fails_again_and_leaves_the_others(store, monkeypatch):
    bad, good = Stepping(name="bad", steps=9), Stepping(name="good", learner=Learner(candidates=1))
    really = Stepping.run_group.__func__

    def fails_late(cls, jobs, context):
        context = replace(context, progress=lambda fraction: 1 / (fraction < 0.5 or jobs[0].cell.name != "bad"))
        return really(cls, jobs, context)

    monkeypatch.setattr(Stepping, "run_group", classmethod(fails_late))
    for _ in range(2):
        with pytest.raises(JobsFailed, match="name=bad: ZeroDivisionError"):
            run([job(bad), job(good)], store, n_jobs=1)
    assert lacking([job(good)], store) == []
    monkeypatch.undo()
    run([job(bad)], store, n_jobs=1)
    assert_same(tables([job(bad)], store), in_memory([job(bad)], {}, progress=False)[0])


def test_a_short_shard_keeps_nothing_and_a_slow_disk_is_used_less_often(store, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(runner.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(runner, "SEGMENT", 100.0)
    monkeypatch.setattr(runner, "KEEPING_SHARE", 0.05)

    def slow(*arguments):
        now[0] += writing

    monkeypatch.setattr(Store, "keep", slow)
    for writing, pause in ((1.0, 100.0), (10.0, 200.0)):
        now[0] = 0.0
        segment = runner._Segment(Shard((job(Fake()),)), "cpu", "numba", store)
        now[0] = 99.0
        assert not segment.due()
        now[0] = 100.0
        assert segment.due()
        segment.keep(Kept({}, pd.DataFrame()))
        now[0] = 100.0 + writing + pause - 1
        assert not segment.due()
        now[0] += 1
        assert segment.due()


def test_states_are_not_published(tmp_path):
    store = Store(tmp_path / "results", tmp_path / "scratch")
    jobs = [job(Stepping())]
    killed_at(3, jobs, store)
    publish(store, jobs)
    assert states(store) and store.publication.keys() == set()
    run(jobs, store, n_jobs=1)
    assert states(store) == [] and lacking(jobs, store) == []
    assert [record["shard_resumed"] for record in store.read(*jobs[0]).provenance] == [1]


def test_states_of_undeclared_cells_of_stored_rows_and_damaged_ones_are_prunable(store):
    cells = [Stepping(name=name) for name in ("unfinished", "undeclared", "stored", "damaged", "aside")]
    paths = {}
    for cell in cells:
        store.keep([job(cell)], Kept({"total": np.ones(3)}, pd.DataFrame()), {})
        paths[cell.name] = store._state([job(cell)])[0]
    frame = in_memory([Job(cells[2], (Row(1, 0),))], {}, progress=False)[0][0]
    made = {"device": "cpu", "engine": "numba", "seconds": 1.0, "core_seconds": 0.9, "shard_rows": 1}
    store.write(cells[2], [Row(1, 0)], frame, provenance.provenance(cells[2], [Row(1, 0)], **made))
    empty(paths["damaged"])
    paths["aside"] = paths["aside"].rename(paths["aside"].with_name(paths["aside"].name + ".damaged"))
    empty(paths["aside"])
    declared = {cell.key for cell in cells if cell.name != "undeclared"}
    assert set(store.prunable(declared)) == {paths[name] for name in ("undeclared", "stored", "damaged", "aside")}
