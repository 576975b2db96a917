"""Ctrl-C at any moment while worker processes start, compute or end."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fakes import heeding

from ol2r.experiments.interruption import Interruption

RUN = f"""
import signal, sys, threading
from pathlib import Path
import joblib
from joblib.externals.loky import process_executor
from joblib.externals.loky.backend import popen_loky_posix
sys.path.insert(0, {str(Path(__file__).parent)!r})
from fakes import Fake, job
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store

sys.unraisablehook = lambda told: None

class Dropped:
    def __del__(self):  # Python drops what is raised here
        signal.raise_signal(signal.SIGINT)

def raised():
    signal.raise_signal(signal.SIGINT)

def at_first(holder, name, act):
    before = getattr(holder, name)
    def call(*arguments, **named):
        setattr(holder, name, before)
        act()
        return before(*arguments, **named)
    setattr(holder, name, call)

at_first({{}})
run([job(Fake(name=name, seconds_a_row=20.0)) for name in "abc"], Store(None, Path(sys.argv[1])), n_jobs=2)
"""
MOMENTS = {
    "dropped while a process starts": "popen_loky_posix.Popen, '_launch', Dropped",
    "while a process starts": "popen_loky_posix.os, 'pipe', raised",
    "before a thread starts that looks after the processes": "process_executor._ExecutorManagerThread, 'start', raised",
    "dropped while joblib waits": "joblib.Parallel, '_wait_retrieval', Dropped",
    "while joblib waits": "joblib.Parallel, '_wait_retrieval', raised",
}


@pytest.mark.skipif(sys.platform != "linux", reason="the moments are those of processes on Linux")
@pytest.mark.parametrize("moment", MOMENTS)
def test_one_ctrl_c_ends_a_run_whatever_joblib_does_at_the_moment(moment, tmp_path):
    """Workers compute for ever, so that nothing but the interruption ends the run."""
    asked = [sys.executable, "-c", RUN.format(MOMENTS[moment]), tmp_path]
    env = os.environ | {"FAKE_HELD": "a b c"}
    process = subprocess.Popen(
        asked, stderr=subprocess.PIPE, text=True, env=env, start_new_session=True, preexec_fn=heeding
    )
    try:
        told = process.communicate(timeout=120)[1]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert "KeyboardInterrupt" in told.splitlines()  # joblib's tracker of resources may warn after it
    assert process.returncode != 0


@pytest.fixture
def usual():
    """Signals interrupt as in a process of Python's own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual")
def test_an_interruption_is_raised_at_the_end_and_a_second_one_at_once():
    went_on = False
    with pytest.raises(KeyboardInterrupt), Interruption() as interruption:
        signal.raise_signal(signal.SIGINT)
        went_on = interruption.heard
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("what joblib makes of it")
    assert went_on and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with Interruption() as interruption:
        pass
    assert not interruption.heard


@pytest.mark.usefixtures("usual")
def test_signals_that_do_not_interrupt_keep_their_meaning():
    def other(*arguments):
        heard.append("other")

    heard = []
    signal.signal(signal.SIGINT, other)
    with Interruption() as interruption:
        signal.raise_signal(signal.SIGINT)
    assert heard == ["other"] and not interruption.heard
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def elsewhere():
        with Interruption():
            heard.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert heard == ["other", True]
