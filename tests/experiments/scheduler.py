"""A Dask scheduler with workers, as somebody would start them, for what computes on them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fakes import ran

HERE = Path(__file__).parent


def wait_for(condition, process=None):
    """Until it holds: on a machine that is busy later, and after ten minutes never."""
    for _ in range(12_000):
        if condition():
            return
        assert process is None or process.poll() is None, "it has ended"
        time.sleep(0.05)
    raise AssertionError("it does not become true")


def client_of(**where):
    from distributed import Client  # here, when its settings are those of these tests

    return Client(**where, timeout=600, set_as_default=False)


class Dask:
    """A scheduler and workers as processes of their own, as somebody would start them."""

    def __init__(self, folder: Path):
        self.folder, self.processes = folder, []
        folder.mkdir()
        self.log, self.killed = folder / "log", folder / "killed"
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file))
        wait_for(lambda: file.exists() and '"address"' in file.read_text(), self.scheduler)
        with client_of(scheduler_file=str(file)) as client:
            self.address = client.scheduler.address

    def work(self, *options: str) -> subprocess.Popen:
        local = self.folder / f"worker{len(self.processes)}"
        return self._start("worker", self.address, "--local-directory", str(local), *options)

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
        own = {"FAKE_LOG": str(self.log), "FAKE_KILLED": str(self.killed), "PYTHONPATH": paths}
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, "--host", "127.0.0.1"]
        with (self.folder / f"{what}{len(self.processes)}.txt").open("w") as out:
            quiet = {"stdout": out, "stderr": subprocess.STDOUT, "start_new_session": True}
            process = subprocess.Popen([*command, "--dashboard-address", "127.0.0.1:0"], env=os.environ | own, **quiet)
        self.processes.append(process)
        return process

    def end(self) -> None:
        for process in self.processes[::-1]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def ran(self, name: str) -> list[tuple[str, int, int]]:
        """The rows that cells of this name ran, in order and as often as they ran."""
        return [each for each in ran(self.log) if each[0] == name]
