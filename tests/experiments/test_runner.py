import errno
import io
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from fakes import Fake, Learner, ran
from hypothesis import given, settings
from hypothesis import strategies as st
from tqdm import tqdm

from ol2r.errors import ExperimentError
from ol2r.experiments import store as store_module
from ol2r.experiments.cells import Job, Row
from ol2r.experiments.runner import (
    LONGEST_SHARD,
    JobsFailed,
    Shard,
    _advance,
    check_device,
    in_memory,
    lacking,
    plan,
    resolve_engine,
    run,
    run_shard,
)
from ol2r.experiments.store import Store, StoreError

# a cell whose shards each hold one block, so that a few of them exercise processes
SLOW = {"seconds_a_row": 20.0}


@pytest.fixture
def store(tmp_path):
    return Store(None, tmp_path / "scratch")


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def job(cell, n_seeds=5):
    return Job(cell, cell.rows(None, range(n_seeds)))


def expected(cell, rows):
    return [100.0 * row.fold + row.seed + cell.offset for row in rows for _ in range(2)]


@given(st.lists(st.tuples(st.floats(0.01, 3000), st.integers(1, 12), st.integers(1, 3)), min_size=1), st.integers(1, 8))
@settings(deadline=None)
def test_shards_hold_every_row_once_in_one_group_and_at_most_ten_minutes(cells, n_jobs):
    jobs = [
        job(Fake(name=str(i), seconds_a_row=seconds, learner=Learner(candidates=group)), n_seeds)
        for i, (seconds, n_seeds, group) in enumerate(cells)
    ]
    shards = plan(jobs, n_jobs)
    rows = sorted((piece.cell.key, row) for shard in shards for piece in shard.jobs for row in piece.rows)
    assert rows == sorted((each.cell.key, row) for each in jobs for row in each.rows)
    for shard in shards:
        assert len({piece.cell.group for piece in shard.jobs}) == 1
        assert shard.seconds <= LONGEST_SHARD or [len(piece.rows) for piece in shard.jobs] == [1]


def test_short_cells_of_a_group_share_a_shard():
    jobs = [job(Fake(name=str(i))) for i in range(10)]
    assert len(plan(jobs, n_jobs=2)) == 1


def test_a_plan_is_a_function_of_its_jobs():
    jobs = [job(Fake(name=str(i), **SLOW)) for i in range(4)]
    assert plan(jobs, 2) == plan(jobs, 2)


def test_a_run_computes_what_is_missing_and_a_second_one_nothing(store, log):
    cell = Fake(offset=7.0)
    store_rows = cell.rows([1, 2], range(3))
    assert run([Job(cell, store_rows)], store) == 6
    assert run([job(cell)], store) == 25 - 6
    assert run([job(cell)], store) == 0
    assert sorted(ran(log)) == sorted(("a", *row) for row in cell.rows(None, range(5)))
    rows = cell.rows(None, range(5))
    assert store.read(cell, rows).frame["value"].tolist() == expected(cell, rows)


def test_needs_run_first_and_reach_those_that_need_them(store, log):
    root = Fake(name="root", offset=1000.0)
    middle = Fake(name="middle", needed=root)
    cell = Fake(name="top", needed=middle)
    run([job(cell, 1)], store)
    assert [name for name, _, _ in ran(log)] == ["root"] * 5 + ["middle"] * 5 + ["top"] * 5
    # fold 1 and seed 0: root 1100, middle 100 + 1100, top 100 + 1200
    assert store.read(cell, [Row(1, 0)]).frame["value"].tolist() == [1300.0, 1300.0]


def test_needs_of_what_is_stored_are_not_computed(store, log):
    cell = Fake(name="top", needed=Fake(name="root"))
    run([job(cell, 1)], store)
    for path in (store.scratch / Fake(name="root").key).iterdir():
        path.unlink()
    assert lacking([job(cell, 1)], store) == []


def test_processes_give_what_one_process_gives_and_share_the_cores(store, tmp_path):
    cells = [Fake(name=str(i), offset=float(i), **SLOW) for i in range(3)]
    run([job(cell) for cell in cells], store, n_jobs=2)
    alone = Store(None, tmp_path / "alone")
    run([job(cell) for cell in cells], alone, n_jobs=1)
    for cell in cells:
        spread, here = (s.read(cell, cell.rows(None, range(5))).frame for s in (store, alone))
        assert spread["value"].tolist() == here["value"].tolist() == expected(cell, cell.rows(None, range(5)))
        assert set(spread["threads"]) == {max(1, len(os.sched_getaffinity(0)) // 2)}


def test_a_failing_job_is_named_and_the_others_are_stored_even_of_its_shard(store):
    good = [Fake(name="good0"), Fake(name="good1", learner=Learner(candidates=1))]
    bad = Fake(name="bad", fails=True)
    waiting = Fake(name="waiting", needed=bad)
    assert any({good[0], bad} <= {piece.cell for piece in shard.jobs} for shard in plan([job(good[0]), job(bad)]))
    with pytest.raises(JobsFailed, match=r"name=bad: ValueError: bad diverged") as caught:
        run([job(good[0]), job(bad), job(waiting), job(good[1])], store)
    assert "1 jobs failed (50 rows of others are stored, 1 cells wait for what failed)" in str(caught.value)
    assert "raise ValueError" in caught.value.__notes__[0]
    assert lacking([job(cell) for cell in good], store) == []


def test_a_table_that_may_not_be_stored_fails_its_job_only(store):
    leaky, good = Fake(name="leaky", secret=True, per_document=True), Fake(name="good")
    with pytest.raises(JobsFailed, match=r"leaky.*licence"):
        run([job(leaky), job(good)], store)
    assert lacking([job(good)], store) == []
    assert store.listed(leaky) == set()


def test_a_killed_worker_is_a_clear_error_and_what_was_stored_stays(store):
    first = Fake(name="first", **SLOW)
    run([job(first)], store)
    with pytest.raises(ExperimentError, match="a worker process was killed"):
        run([job(first), job(Fake(name="killed", **SLOW)), job(Fake(name="third", **SLOW))], store, n_jobs=2)
    assert lacking([job(first)], store) == []


def test_a_full_disk_stops_the_run_and_keeps_what_was_stored(store, monkeypatch):
    cells = [Fake(name=str(i), learner=Learner(candidates=i)) for i in range(3)]
    left = [1]
    really = os.fsync

    def fills_up(handle):
        left[0] -= 1
        if left[0] < -1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        really(handle)

    monkeypatch.setattr(store_module.os, "fsync", fills_up)
    with pytest.raises(StoreError, match="No space left"):
        run([job(cell) for cell in cells], store, n_jobs=1)
    monkeypatch.undo()
    assert [job.cell for job in lacking([job(cell) for cell in cells], store)] == cells[1:]


RUN = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from fakes import Fake
from ol2r.experiments.cells import Job
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store

if __name__ == "__main__":
    cells = [Fake(name=str(i), seconds_a_row=20.0) for i in range(12)]
    run([Job(cell, cell.rows(None, range(5))) for cell in cells], Store(None, Path({store!r})), n_jobs={n_jobs})
"""


def start(script, store, n_jobs=1, held=()):
    script.write_text(RUN.format(tests=str(Path(__file__).parent), store=str(store.scratch), n_jobs=n_jobs))
    env = os.environ | {"FAKE_HELD": " ".join(held)}
    return subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL, start_new_session=True, env=env)


CELLS = [Fake(name=str(i), seconds_a_row=20.0) for i in range(12)]
ROWS = CELLS[0].rows(None, range(5))


def stored(store):
    return [cell for cell in CELLS if not store.missing(cell, ROWS)]


def test_a_run_killed_in_the_middle_goes_on_where_it_was(store, log, tmp_path):
    process = start(tmp_path / "run.py", store, n_jobs=2, held=[cell.name for cell in CELLS[6:]])
    while len(list(store.scratch.glob("*/*.parquet"))) < 3:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = stored(store)
    assert 3 <= len(kept) < len(CELLS)
    before = len(ran(log))

    resumed = start(tmp_path / "run.py", store, n_jobs=2)
    assert resumed.wait() == 0
    assert stored(store) == CELLS
    again = {name for name, _, _ in ran(log)[before:]}
    assert again == {cell.name for cell in CELLS} - {cell.name for cell in kept}


def test_a_store_that_takes_no_file_stops_a_run_before_it_computes(tmp_path, log):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="nothing can be stored"):
        run([job(Fake())], Store(None, tmp_path / "file"))
    assert ran(log) == []


def test_two_runners_at_once_leave_one_whole_store(store, tmp_path):
    runners = [start(tmp_path / f"run{i}.py", store) for i in range(2)]
    assert [runner.wait() for runner in runners] == [0, 0]
    assert stored(store) == CELLS
    assert sorted(path.name for path in store.scratch.glob("*/*")) == ["folds1-5-seeds0-4.parquet"] * len(CELLS)
    assert [path for path in store.scratch.glob("*/.*")] == []


def test_in_memory_stores_nothing_and_keeps_the_order_of_jobs(store):
    cells = [Fake(name=str(i), offset=float(i), learner=Learner(candidates=i % 2)) for i in range(4)]
    frames, records = in_memory([job(cell, 7) for cell in cells], {})
    rows = cells[0].rows(None, range(7))
    assert [frame["value"].tolist() for frame in frames] == [expected(cell, rows) for cell in cells]
    assert len(records) == 4 * 2  # two blocks each
    assert not store.scratch.exists()


def test_a_job_that_raises_is_a_value_not_an_exception():
    (failure,) = run_shard(Shard((job(Fake(fails=True)),)), {}, "cpu", "numba")
    assert str(failure) == "fake dataset=synthetic name=a: ValueError: a diverged"


@pytest.mark.parametrize(
    ("engine", "device", "resolved"),
    [(None, "cpu", "numba"), (None, "cuda", "torch"), ("torch", "cpu", "torch"), ("torch", "cuda", "torch")],
)
def test_engine_follows_the_device_unless_asked(engine, device, resolved):
    assert resolve_engine(engine, device) == resolved


def test_unknown_engines_and_devices_are_errors(monkeypatch):
    with pytest.raises(ExperimentError, match="runs on the CPU only"):
        resolve_engine("numba", "cuda")
    with pytest.raises(ExperimentError, match="expected 'numba' or 'torch'"):
        resolve_engine("jax", "cpu")
    with pytest.raises(ExperimentError, match="expected 'cpu' or 'cuda'"):
        check_device("gpu")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ExperimentError, match="finds no GPU"):
        check_device("cuda")


def test_values_are_float32_through_processes_and_store(store):
    cell = Fake()
    run([job(cell)], store)
    assert store.read(cell, ROWS).frame["value"].dtype == np.float32


def test_progress_ends_at_its_end_whatever_the_sums_are_rounded_to():
    with warnings.catch_warnings(action="error"), tqdm(total=0.3, file=io.StringIO(), mininterval=0) as bar:
        for seconds in (0.1, 0.05, 0.1 + 0.2, 0.2):  # 0.1 + 0.2 > 0.3
            _advance(bar, seconds)
    assert bar.n == bar.total
