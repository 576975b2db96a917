"""Shards on the workers of a real Dask scheduler, all on this machine: what a run stores, whatever happens to it."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from fakes import Fake, Learner, Stepping, Timing, Waiting, job
from scheduler import Dask, client_of, wait_for
from small import SETTINGS

import ol2r
from ol2r import cli, data, target
from ol2r.clicks import users
from ol2r.data import CATALOGUE
from ol2r.data.own import take_in
from ol2r.errors import ExperimentError, Failed
from ol2r.experiments import cluster as cluster_module
from ol2r.experiments.cells import Item, Row
from ol2r.experiments.cluster import Refused, Side, connected, difference, side
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.paper import Paper
from ol2r.experiments.runner import JobsFailed, lacking, run
from ol2r.experiments.store import Store
from ol2r.experiments.verify import compare_means
from ol2r.learners import LEARNERS
from ol2r.simulation import Evaluation

HERE = Path(__file__).parent
SLOW = {"seconds_a_row": 20.0}  # each block of rows is a shard of its own


@pytest.fixture(scope="module", autouse=True)
def _own_settings(tmp_path_factory):
    """Neither the settings of whoever runs the tests, nor Dask's own patience with a machine that is busy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DASK_CONFIG", str(tmp_path_factory.mktemp("dask")))
        patch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "600s")
        patch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "600s")
        yield


@pytest.fixture(scope="module")
def dask(tmp_path_factory, _own_settings):
    """A scheduler with two workers: one as `dask worker` starts it, and one without a nanny."""
    there = Dask(tmp_path_factory.mktemp("there") / "dask")
    try:
        there.work("--nthreads", "1")
        there.work("--nthreads", "1", "--no-nanny")
        with client_of(address=there.address) as client:
            client.wait_for_workers(2, 600)
        yield there
    finally:
        there.end()


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    monkeypatch.setattr(cluster_module, "ANSWER_SECONDS", 600.0)


@pytest.fixture
def workers(dask):
    with connected(dask.address) as workers:
        wait_for(lambda: len(workers) == 2)
        yield workers


def tables(jobs, store):
    return [store.read(job.cell, job.rows).frame for job in jobs]


def assert_whole(jobs, store):
    """Everything is stored, and is what these fakes give."""
    assert lacking(jobs, store) == []
    for it, table in zip(jobs, tables(jobs, store), strict=True):
        expected = [100.0 * row.fold + row.seed + it.cell.offset for row in it.rows for _ in range(2)]
        assert table["value"].tolist() == expected


def simulated(learner):
    it = data.entry("synthetic-tiny")
    conventions = {"split": "test", "gain": "exponential", "empty": "zero", "ties": "expected", "gamma": 0.995}
    setting, revision = tuple(sorted(SETTINGS[learner].items())), LEARNERS[learner].revision
    evaluation = Evaluation(k=10, checkpoints=(0, 10, 20), **conventions)
    users_of = users("navigational", it.n_grades)
    return Simulate(it.name, it.checksum, learner, revision, setting, users_of, evaluation)


def test_workers_give_bit_for_bit_what_one_machine_gives_and_networks_what_they_declare(workers, store, tmp_path):
    jobs = [job(simulated(learner), 2) for learner in ("PDGD", "PairRank", "neural PDGD")]
    assert run(jobs, store, workers=workers, progress=False) == sum(len(each.rows) for each in jobs)
    alone = Store(None, tmp_path / "alone")
    run(jobs, alone, n_jobs=1, progress=False)
    assert [it.cell.repeats for it in jobs] == ["bits", "bits", "means"]
    for it, there, here in zip(jobs, tables(jobs, store), tables(jobs, alone), strict=True):
        if it.cell.repeats == "bits":
            pd.testing.assert_frame_equal(there, here, check_exact=True)
        else:
            same, told = compare_means(there, here)
            assert same, told


def test_what_a_cell_needs_reaches_the_worker_and_timings_stay_here(workers, dask, store, monkeypatch):
    monkeypatch.setenv("FAKE_LOG", str(dask.log))
    top, timing = Fake(name="top", needed=Fake(name="root", offset=1000.0)), Timing(name="timed")
    run([job(top, 1), job(timing, 1)], store, workers=workers, progress=False)
    (first, *_) = store.read(top, [Row(1, 0)]).frame["value"]
    assert first == 100.0 + 1100.0
    pids = {name: {line.split()[3] for line in dask.log.read_text().splitlines() if line.startswith(name)} for name in
            ("root", "top", "timed")}  # fmt: skip
    assert pids["timed"] == {str(os.getpid())} and str(os.getpid()) not in pids["root"] | pids["top"]


def test_two_workers_share_the_shards_and_each_is_told_as_it_ends(workers, dask, store, tmp_path):
    go = tmp_path / "go"
    jobs = [job(Waiting(name=f"shared{i}", until=str(go), **SLOW)) for i in range(2)]
    with ThreadPoolExecutor() as pool:
        running = pool.submit(run, jobs, store, workers=workers, progress=False)
        wait_for(lambda: all(dask.ran(f"shared{i}@begun") for i in range(2)) or running.done())
        go.touch()
        assert running.result() == 50
    assert_whole(jobs, store)


def test_a_shard_whose_worker_is_killed_is_computed_by_another(workers, dask, store, tmp_path):
    go = tmp_path / "go"
    jobs = [job(Waiting(name=f"lost{i}", offset=i, until=str(go), **SLOW)) for i in range(2)]
    with ThreadPoolExecutor() as pool:
        running = pool.submit(run, jobs, store, workers=workers, progress=False)
        wait_for(lambda: all(dask.ran(f"lost{i}@begun") for i in range(2)) or running.done())
        # the worker with a nanny, which starts another one
        (nannied,) = [pid for pid in parents_of(dask, "lost") if pid != dask.processes[2].pid]
        os.kill(nannied, signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{nannied}").exists())
        go.touch()
        assert running.result() == 50
    assert_whole(jobs, store)
    assert len(dask.ran("lost0@begun")) + len(dask.ran("lost1@begun")) == 75  # 25 rows began twice


def parents_of(dask, name):
    """The workers whose processes run cells whose name begins like this."""
    pids = {line.split()[3] for line in dask.log.read_text().splitlines() if line.startswith(name)}
    return {int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in pids}


def test_a_shard_whose_process_is_killed_is_computed_again(workers, dask, store):
    cell = Stepping(name="once", **SLOW)
    dask.killed.write_text("once@3")
    assert run([job(cell, 1)], store, workers=workers, progress=False) == 5
    assert not dask.killed.exists()
    assert len(dask.ran("once@3")) == 10 and len(dask.ran("once@6")) == 5


def test_a_shard_that_kills_every_process_ends_the_run_in_one_line(workers, store, monkeypatch):
    monkeypatch.setattr(cluster_module, "ATTEMPTS_MORE", 0)
    first = Fake(name="first", **SLOW)
    run([job(first)], store, workers=workers, progress=False)
    with pytest.raises(Failed, match=r"killed again and again, perhaps for want of memory; .*run again to go on$"):
        run([job(first), job(Fake(name="killed", **SLOW), 1)], store, workers=workers, progress=False)
    assert_whole([job(first)], store)


def test_a_job_that_fails_is_reported_as_on_one_machine(workers, store, tmp_path):
    good, bad = Fake(name="good", learner=Learner(candidates=1)), Fake(name="bad", fails=True)
    told = []
    for each, how in ((store, {"workers": workers}), (Store(None, tmp_path / "alone"), {"n_jobs": 1})):
        with pytest.raises(JobsFailed) as caught:
            run([job(good, 1), job(bad, 1)], each, progress=False, **how)
        told.append(str(caught.value))
        assert "raise ValueError" in caught.value.__notes__[0]
        assert_whole([job(good, 1)], each)
    assert told[0] == told[1]


# Workers that are refused


def _shut_down():
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def _altered(dask_worker, folder, variables):
    """From now on this worker's processes find modules and versions in a folder first, and these variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    if folder:
        sys.path.insert(0, folder)
    _shut_down()
    return before


def _restored(dask_worker, folder, before):
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    if folder:
        sys.path.remove(folder)
    _shut_down()


@contextmanager
def altered(dask, folder=None, **variables):
    """One worker runs other code, has other versions or other settings."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        with client_of(address=dask.address) as client:
            (address, *_) = client.nthreads()
            folder = folder and str(folder)
            before = client.run(_altered, folder=folder, variables=variables, workers=[address])[address]
            try:
                yield address
            finally:
                client.run(_restored, folder=folder, before=before, workers=[address])
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def other_code(tmp_path):
    package = tmp_path / "code" / "ol2r"
    shutil.copytree(Path(ol2r.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "errors.py").write_text((package / "errors.py").read_text() + "\n")
    return package.parent


def test_a_worker_with_other_code_is_refused_before_anything_is_computed_or_as_soon_as_it_comes(
    workers, dask, store, other_code, monkeypatch
):
    jobs = [job(Fake(name=f"coded{i}", **SLOW)) for i in range(4)]
    with altered(dask, other_code) as address:
        with pytest.raises(Refused) as caught:
            run(jobs, store, workers=workers, progress=False)
        assert str(caught.value).startswith(f"worker {address}: its code of ol2r is ")
        assert "\n" not in str(caught.value)
        assert not any(dask.ran(each.cell.name) for each in jobs) and not list(store.scratch.glob("*/*"))
        monkeypatch.setattr(workers, "_ask", lambda asked: None)  # as if it came after the others were asked
        with pytest.raises(Refused, match=f"^worker {address}: its code of ol2r is "):
            run(jobs, store, workers=workers, progress=False)
    run(jobs, store, workers=workers, progress=False)
    assert_whole(jobs, store)


def test_a_worker_with_other_versions_or_another_target_is_refused(workers, dask, store, tmp_path):
    record = tmp_path / "versions" / "scipy-0.0.1.dist-info" / "METADATA"
    record.parent.mkdir(parents=True)
    record.write_text("Metadata-Version: 2.1\nName: scipy\nVersion: 0.0.1\n")
    with altered(dask, record.parent.parent) as address, pytest.raises(Refused) as caught:
        run([job(Fake())], store, workers=workers, progress=False)
    assert str(caught.value).startswith(f"worker {address}: its scipy is 0.0.1, here it is ")
    with altered(dask, NUMBA_CPU_NAME="nehalem"), pytest.raises(Refused, match=r"its compiled is .*nehalem"):
        run([job(Fake())], store, workers=workers, progress=False)


def test_a_worker_with_other_data_or_none_is_refused(workers, store, tmp_path):
    path = tmp_path / "mine.txt"
    text = "".join(f"{i % 3} qid:{i // 4} 1:{i / 100} 2:{1 - i % 7 / 7}\n" for i in range(60))
    path.write_text(text)
    mine = Fake(name="mine", data=take_in(str(path)).name)
    try:
        path.write_text(text.replace("2 qid:0", "1 qid:0"))
        with pytest.raises(Refused, match=r"^worker tcp://.* has changed since it was first read"):
            run([job(mine, 1)], store, workers=workers, progress=False)
        path.unlink()
        with pytest.raises(Refused, match=r"^worker tcp://.*: no file .*mine\.txt"):
            run([job(mine, 1)], store, workers=workers, progress=False)
        path.write_text(text)  # what was refused is looked at again
        assert run([job(mine, 1)], store, workers=workers, progress=False) == 5
    finally:
        CATALOGUE.pop(mine.data)


HERE_SIDE = Side("1" * 4, "c0ffee" * 5, (("numpy", "2.4"),), (("libm", "glibc 2.36"),), (("MQ2008", "e3"),))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, None),
        ({"commit": "other"}, None),  # another commit with the same source
        ({"code": "2" * 4, "commit": None}, "its code of ol2r is 2222, here it is 1111 (commit c0ffeec0ff)"),
        ({"versions": (("numpy", "2.3"),)}, "its numpy is 2.3, here it is 2.4"),
        ({"target": ()}, "its libm is absent, here it is glibc 2.36"),
        ({"data": (("MQ2008", "77"),)}, "its MQ2008 is 77, here it is e3"),
    ],
)
def test_a_difference_is_named_with_both_values(changed, told):
    assert difference(HERE_SIDE, HERE_SIDE._replace(**changed)) == told


def test_a_side_names_all_that_decides_how_exactly_a_result_comes_out_again():
    found = side(("fakes",), ["synthetic-tiny"])
    assert dict(found.target) == target.in_force()
    assert {"numpy", "numba", "torch", "dask", "distributed"} <= dict(found.versions).keys()
    assert dict(found.data) == {"synthetic-tiny": data.checksum("synthetic-tiny")}
    assert found.code != side((), []).code


def test_workers_that_are_lost_one_after_the_other_end_the_run_in_one_line(workers):
    from distributed import KilledWorker

    with pytest.raises(Failed, match=r"^4 workers that computed the same shard were lost, .*run again to go on$"):
        with workers._told():
            raise KilledWorker("a shard", SimpleNamespace(address="tcp://127.0.0.1:1"), 3)


# Without workers, without a scheduler, without Dask


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExperimentError, match=r"pip install 'ol2r\[dask\]'"), connected("tcp://127.0.0.1:8786"):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://127.0.0.1:9", "tcp://127.0.0.1:port", "?"])
def test_where_no_scheduler_answers_the_error_has_one_line(address, monkeypatch, capfd):
    monkeypatch.setattr(cluster_module, "ANSWER_SECONDS", 0.5)
    with pytest.raises(ExperimentError) as caught, connected(address):
        pass
    assert str(caught.value).startswith(f"no Dask scheduler answers at {address}: ") and "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


@pytest.fixture
def bare(tmp_path):
    """A scheduler without workers."""
    there = Dask(tmp_path / "bare")
    yield there
    there.end()


def test_a_scheduler_without_workers_is_an_error_and_one_that_ends_keeps_what_was_stored(
    bare, dask, store, tmp_path, monkeypatch, capfd
):
    with monkeypatch.context() as patch:
        patch.setattr(cluster_module, "ANSWER_SECONDS", 2.0)
        with pytest.raises(ExperimentError, match=r"at tcp://.* has no worker$"), connected(bare.address):
            pass
    worker = bare.work("--nthreads", "2", "--no-nanny")
    go = tmp_path / "go"
    jobs = [job(Fake(name="before", **SLOW)), job(Waiting(name="after", until=str(go), **SLOW))]
    with ThreadPoolExecutor() as pool:

        def until_the_scheduler_ends():
            with connected(bare.address) as workers:
                run(jobs, store, workers=workers, progress=False)

        running = pool.submit(until_the_scheduler_ends)
        wait_for(lambda: (bare.ran("after@begun") and not lacking(jobs[:1], store)) or running.done(), worker)
        os.killpg(bare.scheduler.pid, signal.SIGKILL)
        error = running.exception()
    assert isinstance(error, Failed), error
    assert str(error).endswith("is gone; shards that had ended are stored: run again to go on")
    assert "Traceback" not in capfd.readouterr().err
    assert_whole(jobs[:1], store)
    go.touch()
    with connected(dask.address) as workers:  # another scheduler goes on
        assert run(jobs, store, workers=workers, progress=False) == 25
    assert_whole(jobs, store)
    assert dask.ran("before") == []


# The command

MAIN = """
import sys
sys.path.insert(0, {fakes!r})
from types import SimpleNamespace
from fakes import Fake, Waiting
from ol2r import cli, papers
from ol2r.experiments.cells import Item
from ol2r.experiments.paper import Paper

def cells(tier):
    return [Fake(name="shown", seconds_a_row=20.0), Waiting(name="cut", until={until!r}, seconds_a_row=20.0)]

if __name__ == "__main__":
    item = Item("two cells", cells, {{tier: range(5) for tier in ("smoke", "laptop", "paper")}})
    papers.NAMES = ("nsgd",)
    sys.modules["ol2r.papers.nsgd.grid"] = SimpleNamespace(PAPER=Paper("nsgd", {{"fig-1": item}}))
    sys.exit(cli.main())
"""


def test_a_command_that_is_terminated_leaves_whole_rows_and_goes_on_when_run_again(dask, store, tmp_path):
    script, go = tmp_path / "main.py", tmp_path / "go"
    script.write_text(MAIN.format(fakes=str(HERE), until=str(go)))
    jobs = [job(Fake(name="shown", **SLOW)), job(Waiting(name="cut", until=str(go), **SLOW))]
    command = [sys.executable, str(script), "run", "nsgd", "--dask", dask.address]
    own = {"OL2R_STORE": str(store.scratch), "OL2R_RESULTS": str(tmp_path / "results")}
    how = {"env": os.environ | own, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL), **how)
    wait_for(lambda: dask.ran("cut@begun") and not lacking(jobs[:1], store), process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate()
    assert process.returncode == 1
    assert "ol2r: interrupted; what had ended is stored, run again to go on" in err and "Traceback" not in err
    assert_whole(jobs[:1], store)
    go.touch()
    done = subprocess.run(command, check=True, **how)
    assert "25 rows stored in" in done.stdout
    assert_whole(jobs, store)


def test_the_command_says_how_long_the_workers_take_and_leaves_no_two_meanings(dask, tmp_path, monkeypatch, capsys):
    from declared import declare

    cells = [Fake(name=name, seconds_a_row=24.0) for name in ("long", "as long")]
    item = Item("two", lambda tier: cells, dict.fromkeys(("smoke", "laptop", "paper"), range(5)))
    declare(monkeypatch, Paper("nsgd", {"fig-1": item}))
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    assert cli.main(["run", "nsgd", "--dask", dask.address, "--dry-run"]) == 0
    assert "50 rows of 2 cells to compute, about 10.0 minutes" in capsys.readouterr().out  # of two workers
    for option in (["--jobs", "2"], ["--device", "cuda"]):
        assert cli.main(["run", "nsgd", "--dask", dask.address, *option]) == 2
        assert "leave out --jobs, --device and --minutes" in capsys.readouterr().err
