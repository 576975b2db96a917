"""The command as a process of its own, terminated while worker processes or Dask compute: it says so in one line, its
workers go with it, and run again it finishes the rest."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from faults import work
from faults.processes import answer
from faults.tally import Tally
from scheduler import Dask, client_of

from ol2r.experiments.store import Store

TESTS = Path(__file__).resolve().parents[1]
COMMAND = """
import sys
sys.path[:0] = {paths!r}
import os
from types import SimpleNamespace
from faults import work
from joblib.parallel import default_parallel_config
from ol2r import cli, papers
from ol2r.experiments.cells import Item
from ol2r.experiments.paper import Paper

if __name__ == "__main__":
    if smallest := os.environ.get("SMALLEST_SHARED"):  # bytes from which joblib shares an array
        object.__setattr__(default_parallel_config["max_nbytes"], "default_value", int(smallest))
    item = Item("cells", lambda tier: list(work.CELLS), {{tier: range(5) for tier in ("smoke", "laptop", "paper")}})
    papers.NAMES = ("nsgd",)
    sys.modules["ol2r.papers.nsgd.grid"] = SimpleNamespace(PAPER=Paper("nsgd", {{"fig-1": item}}))
    sys.exit(cli.main())
"""
INTERRUPTED = "ol2r: interrupted; what had ended is stored, run again to go on"


def _heed() -> None:
    """Heed what this process may have inherited to ignore."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def command(folder: Path, *options: str, before: Sequence[str] = (), heed: Callable[[], None] = _heed, **named: str):
    """Start the command on the work that faults disturb, with a store of its own.

    Args:
        folder: where the store is; options: of the command.
        before: words before the command, which start it in surroundings of its own.
        heed: what its process does first.
        named: more of its environment.
    """
    script = folder / "main.py"
    script.write_text(COMMAND.format(paths=[str(TESTS), str(TESTS / "experiments")]))
    env = os.environ | {"OL2R_STORE": str(folder / "store"), "OL2R_RESULTS": str(folder / "results")}
    env |= {"FAKE_HELD": "", **named}
    return subprocess.Popen(
        [*before, sys.executable, str(script), "run", "nsgd", *options],
        env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed,
    )  # fmt: skip


def _terminated(folder: Path, wait: float, *options: str) -> tuple[str, str]:
    """Terminate a command some time after its first file is there; then run it again."""
    store = Store(None, folder / "store")
    process = command(folder, *options)
    while process.poll() is None and not list(store.scratch.glob("*/*.parquet")):
        time.sleep(0.01)
    time.sleep(wait)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate()
    if process.returncode not in (0, 1) or "Traceback" in err:
        return "unclear", f"{process.returncode}: {err[-400:]}"
    if process.returncode == 1 and INTERRUPTED not in err:
        return "unclear", err[-400:]
    told = process.returncode == 1
    before = work.whole_files(store)
    again = command(folder, *options)
    _, err = again.communicate()
    if again.returncode:
        return "lost", f"run again, it ended with {again.returncode}: {err[-400:]}"
    outcome, why = answer(lambda: work.after(store, before, again=False))
    return ("detected" if told and outcome == "harmless" else outcome), why


@contextmanager
def _workers(folder: Path) -> Iterator[str]:
    """The address of a scheduler with a worker."""
    patient = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "600s", "DASK_CONFIG": str(folder)}
    with mock.patch.dict(os.environ, patient):
        there = Dask(folder / "dask")
        try:
            there.work("--nthreads", "2", "--no-nanny")
            with client_of(address=there.address) as client:
                client.wait_for_workers(1, 600)
            yield there.address
        finally:
            there.end()


def signals(n: int, seed: int) -> list[Tally]:
    """Terminate n commands with worker processes of their own, and n on the workers of a Dask scheduler."""
    work.warm()
    own, on_dask = Tally("SIGTERM: processes", seed), Tally("SIGTERM: Dask", seed)
    draw = random.Random(f"signals {seed}")
    for _ in range(n):
        with tempfile.TemporaryDirectory() as folder:
            own.add(*_terminated(Path(folder), draw.uniform(0, 0.3), "--jobs", "2"))
    with tempfile.TemporaryDirectory() as there, _workers(Path(there)) as address:
        for _ in range(n):
            with tempfile.TemporaryDirectory() as folder:
                on_dask.add(*_terminated(Path(folder), draw.uniform(0, 0.3), "--dask", address))
    return [own, on_dask]
