"""The command as a process of its own: how it ends, whatever ends it; without a home, a reader or an answer."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes import heeding

HERE = Path(__file__).parent

MAIN = """
import atexit, os, sys
sys.path.insert(0, {fakes!r})
from types import SimpleNamespace
from fakes import Fake
from ol2r import cli, papers
from ol2r.experiments.cells import Item
from ol2r.experiments.paper import Paper

def cells(tier):
    return [Fake(name=str(i), seconds_a_row=20.0) for i in range(4)]

if __name__ == "__main__":
    item = Item("four cells", cells, {{tier: range(5) for tier in ("smoke", "laptop", "paper")}})
    papers.NAMES = ("nsgd",)
    sys.modules["ol2r.papers.nsgd.grid"] = SimpleNamespace(PAPER=Paper("nsgd", {{"fig-1": item}}))
    if "HELD_AT_EXIT" in os.environ:
        atexit.register(lambda: (print("leaving", flush=True), sys.stdin.read()))
    sys.exit(cli.main())
"""


@pytest.fixture
def command(tmp_path):
    """Starts the command on four cells of one paper, with stores of its own."""
    script = tmp_path / "main.py"
    script.write_text(MAIN.format(fakes=str(HERE / "experiments")))
    stores = {"OL2R_STORE": str(tmp_path / "scratch"), "OL2R_RESULTS": str(tmp_path / "results")}

    def start(*arguments, env=None, **options):
        env = os.environ | stores | (env or {})
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        return subprocess.Popen([sys.executable, str(script), *arguments], env=env, **options)

    return start


def of_session(leader):
    """Processes that `leader` started, itself included, and that are not yet gone: pid and state."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found[int(path.parent.name)] = fields[0]
    return found


def shared_by(pid):
    """Names in shared memory, of semaphores and folders, of which a process's number is a part of its own."""
    return {path.name for path in Path("/dev/shm").iterdir() if str(pid) in re.split("[-_]", path.name)}


def wait_for(condition):
    """Until it holds: on a machine that is busy later, and after ten minutes never."""
    for _ in range(12_000):
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and /dev/shm")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_workers_and_semaphores_go_with_a_run_however_it_is_ended(command, tmp_path, end):
    log = tmp_path / "log"
    found = {path.name for path in Path("/dev/shm").iterdir()}  # a process killed long ago may have had its number
    process = command(
        "run",
        "nsgd",
        "--jobs",
        "2",
        start_new_session=True,
        env={"FAKE_LOG": str(log), "FAKE_HELD": "2 3"},
        preexec_fn=heeding,
    )
    assert wait_for(lambda: process.poll() is not None or (log.exists() and len(log.read_text().splitlines()) == 50))
    assert process.poll() is None, process.communicate()
    assert len(of_session(process.pid)) >= 3  # it and two workers
    assert shared_by(process.pid) - found
    process.send_signal(end)  # to it alone: its workers hear nothing of it
    _, err = process.communicate()
    if end == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 1
        assert "ol2r: interrupted; what had ended is stored" in err and "Traceback" not in err
    assert wait_for(lambda: not of_session(process.pid)), of_session(process.pid)
    assert shared_by(process.pid) <= found


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_end_of_the_work_changes_nothing_of_what_the_command_tells(command, end):
    process = command(
        "run", "nsgd", "--jobs", "2", env={"HELD_AT_EXIT": ""}, stdin=subprocess.PIPE, preexec_fn=heeding
    )  # fmt: skip
    assert "leaving\n" in iter(process.stdout.readline, "")
    process.send_signal(end)
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert "interrupted" not in err and "leaked" not in err


def test_a_run_under_nohup_outlives_the_terminal(command):
    process = command(
        "run",
        "nsgd",
        "--jobs",
        "1",
        env={"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert "rows of 4 cells to compute" in process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate()
    assert process.returncode == 0 and "100 rows stored" in out


def test_a_reader_that_has_read_enough_ends_the_command_without_a_word(command):
    read, write = os.pipe()
    os.close(read)
    process = command("status", stdout=write)
    os.close(write)
    _, err = process.communicate()
    assert (process.returncode, err) == (1, "")


@pytest.mark.parametrize("stdin", ["empty", "closed"])
def test_prune_without_anybody_to_answer_deletes_nothing(command, tmp_path, stdin):
    undeclared = tmp_path / "scratch" / ("0" * 64) / "folds1-seeds0-0.parquet"
    undeclared.parent.mkdir(parents=True)
    undeclared.write_bytes(b"")
    how = {"stdin": subprocess.DEVNULL} if stdin == "empty" else {"preexec_fn": lambda: os.close(0)}
    process = command("prune", **how)
    _, err = process.communicate()
    assert process.returncode == 2 and undeclared.exists()
    assert err.strip() == "ol2r: nobody is there to answer: nothing is deleted without --yes"


def test_without_a_home_everything_but_remembering_a_path_works(command, tmp_path):
    env = {name: value for name, value in os.environ.items() if name != "HOME"}
    kept = ("OL2R_CONFIG", "OL2R_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "OL2R_DATA")
    env = {name: value for name, value in env.items() if name not in kept} | {"TMPDIR": str(tmp_path)}
    code = "import os, pathlib, ol2r; print(os.environ['NUMBA_CACHE_DIR'])"
    nobody = "def no_entry(*_): raise KeyError('uid not found')\nimport pwd; pwd.getpwuid = no_entry\n"
    done = subprocess.run([sys.executable, "-c", nobody + code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "ol2r-"))

    (tmp_path / "data" / "MQ2008").mkdir(parents=True)
    add = "import sys; from ol2r import cli; sys.exit(cli.main(['data', 'add', sys.argv[1]]))"
    program = [sys.executable, "-c", nobody + add, str(tmp_path / "data")]
    done = subprocess.run(program, env=env, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "cannot be recorded: set HOME, OL2R_CONFIG or OL2R_DATA" in done.stderr
