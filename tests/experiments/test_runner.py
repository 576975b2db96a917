import errno
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from fakes import Fake, Learner, job, ran
from hypothesis import given, settings
from hypothesis import strategies as st
from tqdm import tqdm

from ol2r.cost import Cost
from ol2r.errors import DataError, ExperimentError
from ol2r.experiments import store as store_module
from ol2r.experiments.cells import Job, Row
from ol2r.experiments.runner import (
    LONGEST_SHARD,
    Clock,
    Failure,
    JobsFailed,
    Shard,
    _advance,
    check_device,
    expected_seconds,
    free_memory,
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
        assert shard.seconds() <= LONGEST_SHARD or [len(piece.rows) for piece in shard.jobs] == [1]


GIB = 1 << 30


@dataclass(frozen=True)
class Sized(Fake):
    """A fake whose rows take memory, and raise where a device of `device_rows` rows would have no more of it."""

    kind: ClassVar[str] = "sized"

    device_rows: int = 1000
    once: float = 0.0
    compiled: float = 0.0

    def cost(self, rows, device="cpu"):
        return Cost(self.seconds_a_row, GIB, self.once).of(len(rows))

    def compiling(self, device="cpu"):
        return {"what they share": self.compiled, self.name: 1.0} if self.compiled else {}

    @classmethod
    def run_group(cls, jobs, context):
        if sum(len(job.rows) for job in jobs) > jobs[0].cell.device_rows:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return super().run_group(jobs, context)


def rows_by_shard(shards):
    return [sum(len(piece.rows) for piece in shard.jobs) for shard in shards]


def test_on_a_device_a_shard_takes_as_many_rows_as_its_memory_holds_however_long_they_run():
    jobs = [job(Sized(name=str(i), seconds_a_row=5000.0)) for i in range(4)]  # 25 rows each
    assert rows_by_shard(plan(jobs, device="cuda", memory=200 * GIB)) == [100]
    assert rows_by_shard(plan(jobs, device="cuda", memory=50 * GIB)) == [50, 50]
    assert rows_by_shard(plan(jobs, device="cpu", memory=200 * GIB)) == [1] * 100
    small = plan(jobs, device="cuda", memory=10 * GIB)
    assert max(rows_by_shard(small)) <= 10 and sum(rows_by_shard(small)) == 100
    assert rows_by_shard(plan(jobs, device="cuda", memory=1)) == [1] * 100


def test_what_runs_on_the_cpu_whatever_the_device_is_cut_by_seconds():
    class OnTheCPU(Sized):
        on_device = False

    assert rows_by_shard(plan([job(OnTheCPU(seconds_a_row=5000.0))], device="cuda", memory=200 * GIB)) == [1] * 25


def test_free_memory_is_a_share_of_what_the_device_has_free(monkeypatch):
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda: (10 * GIB, 80 * GIB))
    assert 5 * GIB < free_memory("cuda") < 10 * GIB
    assert free_memory("cpu") == np.inf


def test_a_shard_that_does_not_fit_is_halved_until_it_does_and_says_so(monkeypatch):
    monkeypatch.setattr("torch.cuda.empty_cache", lambda: None)
    cells = [Sized(name="a", device_rows=7), Sized(name="b", offset=3.0, device_rows=7)]
    told = []
    outcomes = run_shard(Shard(tuple(job(cell) for cell in cells)), {}, "cpu", "numba", told.append)
    assert [outcome for outcome in outcomes if isinstance(outcome, Failure)] == []
    for cell in cells:
        rows = [row for it in outcomes if it.job.cell == cell for row in it.job.rows]
        values = [value for it in outcomes if it.job.cell == cell for value in it.frame["value"]]
        assert sorted(rows) == sorted(cell.rows(None, range(5))) and values == expected(cell, rows)
    # 50 rows, 25 of a cell, then seeds: 0 and 1 (10 rows) and the others, until at most 7 rows are left
    assert all(it.provenance["shard_rows"] <= 7 and it.provenance["shard_halved"] >= 3 for it in outcomes)
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)


def test_a_row_that_does_not_fit_alone_fails_and_leaves_the_others(monkeypatch):
    monkeypatch.setattr("torch.cuda.empty_cache", lambda: None)
    outcomes = run_shard(Shard((job(Sized(device_rows=0), 1),)), {}, "cpu", "numba")
    assert len(outcomes) == 5 and all("OutOfMemoryError" in str(outcome) for outcome in outcomes)


def test_a_shard_that_fits_was_not_halved():
    (outcome,) = run_shard(Shard((job(Fake()),)), {}, "cpu", "numba")
    assert (outcome.provenance["shard_rows"], outcome.provenance["shard_halved"]) == (25, 0)


def test_what_halved_rows_give_is_stored_like_any_other(store, monkeypatch):
    monkeypatch.setattr("torch.cuda.empty_cache", lambda: None)
    cell = Sized(device_rows=4)
    assert run([job(cell, 7)], store, n_jobs=1) == 35
    assert store.missing(cell, cell.rows(None, range(7))) == ()
    assert run([job(cell, 7)], store, n_jobs=1) == 0


def test_workers_share_what_rows_take_and_each_compiles_everything_once():
    jobs = [job(Sized(name=name, seconds_a_row=4.0, compiled=30.0)) for name in "ab"]
    assert expected_seconds(jobs, 1) == pytest.approx(200.0 + 30 + 2)
    assert expected_seconds(jobs, 2) == pytest.approx(100.0 + 30 + 2)
    assert expected_seconds(jobs, 2, "cuda", 1000 * GIB) == pytest.approx(200.0 + 30 + 2)
    assert expected_seconds(jobs[:1], 1) == pytest.approx(100.0 + 30 + 1)


def test_rows_side_by_side_share_what_a_batch_takes_once():
    jobs = [job(Sized(name=name, seconds_a_row=0.1, once=50.0)) for name in "ab"]
    assert expected_seconds(jobs, 1, "cuda", 1000 * GIB) == pytest.approx(5.0 + 50)
    assert expected_seconds(jobs, 1, "cuda", 25 * GIB) == pytest.approx(5.0 + 2 * 50)


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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_with_little_time_left_only_what_is_expected_to_fit_begins(store, n_jobs):
    quick, slow = job(Fake(name="quick", learner=Learner(candidates=1)), 2), job(Fake(name="slow", **SLOW), 10)
    clock = Clock(30.0)  # the rows of the quick cell take some hundredths of a second; of the slow one 20 s each
    assert run([slow, quick], store, n_jobs=n_jobs, progress=False, clock=clock) >= len(quick.rows)
    assert lacking([quick], store) == []
    spent = Clock(0.0)
    assert spent.left == 0.0 and run([slow], store, n_jobs=n_jobs, progress=False, clock=spent) == 0
    before = lacking([slow], store)
    assert run([slow], store, n_jobs=1, progress=False) == sum(len(each.rows) for each in before)


def test_on_a_device_shards_are_cut_to_the_time_that_is_left():
    (whole,) = plan([job(Fake(**SLOW), 20)], device="cuda")
    parts = plan([job(Fake(**SLOW), 20)], device="cuda", longest=600.0)
    assert whole.seconds("cuda") > 600.0 >= max(part.seconds("cuda") for part in parts)
    assert sum(part.n_rows for part in parts) == whole.n_rows


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
import tempfile
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


def test_progress_says_compiling_until_it_computes_and_how_many_rows_are_done(store, monkeypatch, capsys):
    at_once = {"delay": 0, "mininterval": 0, "ascii": True}
    monkeypatch.setattr("ol2r.experiments.runner.tqdm", lambda **options: tqdm(**options | at_once))
    run([job(Fake(), 2)], store)
    told = capsys.readouterr().err
    assert "compiling:   0 %" in told
    assert "computing: 100 %" in told and "10 of 10 rows" in told and "left" in told


def test_progress_ends_at_its_end_whatever_the_sums_are_rounded_to():
    with warnings.catch_warnings(action="error"), tqdm(total=0.3, file=io.StringIO(), mininterval=0) as bar:
        for seconds in (0.1, 0.05, 0.1 + 0.2, 0.2):  # 0.1 + 0.2 > 0.3
            _advance(bar, seconds)
    assert bar.n == bar.total


def test_without_shared_memory_a_run_says_so_and_computes_in_its_own_process(store, log, monkeypatch):
    monkeypatch.setattr("ol2r.cores.no_processes", lambda: "worker processes need /dev/shm")
    cells = [Fake(name=str(i), **SLOW) for i in range(3)]
    with pytest.warns(RuntimeWarning, match=r"need /dev/shm; this process computes everything itself"):
        run([job(cell) for cell in cells], store, n_jobs=2)
    assert {line.split()[-1] for line in log.read_text().splitlines()} == {str(os.getpid())}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_process_that_may_have_no_workers_computes_itself(store, log, monkeypatch, n_jobs):
    monkeypatch.setattr("ol2r.cores.one_process", lambda: True)
    run([job(Fake(name=str(i), **SLOW)) for i in range(3)], store, n_jobs=n_jobs)
    assert {line.split()[-1] for line in log.read_text().splitlines()} == {str(os.getpid())}


def test_one_process_asks_for_no_shared_memory():
    code = (
        f"import _multiprocessing, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "class Refused:\n"
        "    SEM_VALUE_MAX = 1\n"
        "    def __init__(self, *arguments): raise OSError(30, 'Read-only file system')\n"
        "_multiprocessing.SemLock = Refused\n"
        "from pathlib import Path\n"
        "from fakes import Fake, job\n"
        "from ol2r.experiments.runner import end_processes, run\n"
        "from ol2r.experiments.store import Store\n"
        "import ol2r.random\n"  # whose loops numba starts
        "ol2r.random.Streams([1]).uniforms(1, 1, 3)\n"
        "print(run([job(Fake())], Store(None, Path(sys.argv[1])), n_jobs=1, progress=False)); end_processes()"
    )
    with tempfile.TemporaryDirectory() as folder:
        asked = [sys.executable, "-W", "error", "-c", code, folder]
        done = subprocess.run(asked, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("25\n", 0), done.stderr


def test_two_threads_share_the_worker_processes(store, tmp_path, log):
    stores = [store, Store(None, tmp_path / "other")]
    cells = [Fake(name=str(i), **SLOW) for i in range(3)]
    jobs = [job(cell) for cell in cells]
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda each: run(jobs, each, n_jobs=2, progress=False), stores))
    assert told == [75, 75] and [lacking(jobs, each) for each in stores] == [[], []]


CALLED = []


class Strange(ValueError):
    """An error that has itself made again by something else than its own class."""

    def __reduce__(self):
        return CALLED.append, ("called",)


@pytest.mark.parametrize(
    ("error", "travels"),
    [
        (ValueError("a diverged"), True),
        (DataError("mine: no documents"), True),
        (FileNotFoundError(2, "No such file", "mine.txt"), True),
        (ValueError(threading.Lock()), False),
        (JobsFailed([Failure(job(Fake(), 1), "ValueError: no", "")], 1, 0), False),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no start"), True),
        (Strange("no"), False),
    ],
)
def test_an_error_travels_if_its_class_makes_the_same_of_plain_values(error, travels, monkeypatch):
    def raises(jobs, context):
        raise error

    monkeypatch.setattr(Fake, "run_group", raises)
    (failure,) = run_shard(Shard((job(Fake(), 1),)), {}, "cpu", "numba")
    assert failure.error == f"{type(error).__name__}: {error}" and not CALLED
    found = failure.raised
    assert (type(found), str(found)) == (type(error), str(error)) if travels else found is None
