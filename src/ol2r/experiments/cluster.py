"""Computes shards on the workers of a Dask scheduler that is already running (`ol2r run --dask`).

Shards are pure functions: this module sends them, and the caller stores their tables as they come back. A
worker takes part only if it computes what this machine would compute: with the same code, versions of libraries,
compiled target and data. The module must not know what a cell computes or where tables are kept.
"""

import asyncio
import logging
import multiprocessing
import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pandas as pd
from joblib.externals.loky import get_reusable_executor

from ol2r import target
from ol2r.errors import DataError, ExperimentError, Failed
from ol2r.experiments.cells import Cell
from ol2r.experiments.origins import dataset_of
from ol2r.experiments.provenance import code_digest, commit, versions
from ol2r.experiments.runner import Outcome, Shard, begin_process, run_shard

if TYPE_CHECKING:
    from distributed import Client

ANSWER_SECONDS = 30.0
"""Seconds within which a scheduler must answer, and must have a worker."""

ATTEMPTS_MORE = 2
"""How often a shard is sent again after the process that computed it was killed."""

IDLE_SECONDS = 60
"""Seconds after which a worker's process without a shard ends."""

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
"""Environment of a worker's processes: each computes one shard on one core."""


class Refused(ExperimentError):
    """A worker would not compute what this machine would compute."""


class Side(NamedTuple):
    """What a result can depend on, beside its cell and row, in one process: pairs of names and values."""

    code: str
    """Digest of the source of the library and of the modules that cells name."""
    commit: str | None
    versions: tuple[tuple[str, str], ...]
    target: tuple[tuple[str, str], ...]
    data: tuple[tuple[str, str], ...]
    """Names and checksums of the data sets."""

    @property
    def called(self) -> str:
        """The code, for messages."""
        return f"{self.code[:12]}{f' (commit {self.commit[:10]})' if self.commit else ''}"


def side(modules: tuple[str, ...], datasets: Collection[str]) -> Side:
    """What results depend on in this process, which reads the data sets for it.

    Args:
        modules: modules and packages whose source counts beside the library's.

    Raises:
        DataError: a data set is not what it should be.
        MissingData: a data set is not at hand.
    """
    from ol2r.data.reading import read  # here, because it loads numba, which looking results up need not

    origins = [(name, read(name)) for name in sorted(datasets)]
    return Side(
        code_digest(("ol2r", *modules)),
        commit(),
        _versions(),
        tuple(target.in_force().items()),
        tuple((name, origin.checksum if origin else "unknown") for name, origin in origins),
    )


def _versions() -> tuple[tuple[str, str], ...]:
    return (*versions().items(), *((name, version(name)) for name in ("dask", "distributed")))


def difference(here: Side, there: Side) -> str | None:
    """What is not the same there as here, in one phrase, or None. Commits may differ where the source is the same."""
    if there.code != here.code:
        return f"its code of ol2r is {there.called}, here it is {here.called}"
    for ours, theirs in ((here.versions, there.versions), (here.target, there.target), (here.data, there.data)):
        for name, value in ours:
            if (found := dict(theirs).get(name, "absent")) != value:
                return f"its {name} is {found}, here it is {value}"
    return None


class _Asked(NamedTuple):
    """What a worker compares itself with."""

    here: Side
    modules: tuple[str, ...]
    own: tuple
    """The reader's own data sets, as `data.own.taken_in` gives them."""


# In a process of a worker


@cache  # of what passes; an exception is not kept, and what was refused is looked at again
def _check(asked: _Asked) -> None:
    """Raise `Refused` unless this process computes what the machine that asks would compute."""
    from ol2r.data.own import take_over, taken_in

    take_over(each for each in asked.own if each not in taken_in())
    try:
        different = difference(asked.here, side(asked.modules, dict(asked.here.data)))
    except (DataError, OSError, ImportError) as error:
        different = str(error)
    if different:
        raise Refused(different)


def _run(asked: _Asked, shard: Shard, inputs: Mapping[Cell, pd.DataFrame], engine: str) -> list[Outcome]:
    _check(asked)
    return run_shard(shard, inputs, "cpu", engine)


# In a worker


def _processes(n_threads: int):
    """The processes in which a worker computes, one for each of its threads.

    Dask would run shards in threads of one process. But compiled code holds the interpreter's lock for minutes, and a
    worker that does not answer for so long is given up.
    """
    multiprocessing.current_process().daemon = False  # a nanny's worker could not start processes otherwise
    begun: dict[str, Any] = {"initializer": begin_process, "initargs": (os.getpid(), ())}
    return get_reusable_executor(n_threads, timeout=IDLE_SECONDS, env=ONE_THREAD, **begun)


async def _refusal(asked: _Asked, dask_worker) -> str | None:
    """Why this worker cannot take part, or None."""
    try:
        await asyncio.wrap_future(_processes(dask_worker.state.nthreads).submit(_check, asked))
    except Refused as error:
        return str(error)
    return None


def _on_worker(asked: _Asked, *arguments) -> list[Outcome] | str:
    """The outcomes of a shard, or why this worker cannot take part: it may have come after the others were asked."""
    from distributed import get_worker

    worker = get_worker()
    try:
        return _processes(worker.state.nthreads).submit(_run, asked, *arguments).result()
    except Refused as error:
        return f"worker {worker.address}: {error}"


# In a scheduler


def _asked_scheduler(here: Side, modules: tuple[str, ...]) -> str | None:
    """What is not the same in the scheduler, which unpacks what it passes on but computes nothing."""
    there = Side(code_digest(("ol2r", *modules)), commit(), _versions(), here.target, here.data)
    return difference(here, there)


# On the side that asks


@contextmanager
def connected(address: str) -> Iterator["Cluster"]:
    """The workers of the scheduler at an address such as "tcp://10.0.0.7:8786", until the block ends.

    Raises:
        ExperimentError: Dask is not installed, no scheduler answers there, or it has no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ExperimentError("--dask needs Dask, which is not installed: pip install 'ol2r[dask]'") from error
    with _silenced():
        client = Client.__new__(Client)  # to close it in any case: what its constructor started would run on
        try:
            with warnings.catch_warnings(action="ignore"):  # of versions, which are compared below
                client.__init__(address, timeout=ANSWER_SECONDS, set_as_default=False)
        except Exception as error:  # what is wrong with an address has many types
            with suppress(Exception):
                client.close()
            raise ExperimentError(f"no Dask scheduler answers at {address}: {_in_a_line(error)}") from error
        try:
            try:
                client.wait_for_workers(1, ANSWER_SECONDS)
            except TimeoutError as error:
                raise ExperimentError(f"the Dask scheduler at {address} has no worker") from error
            yield Cluster(client, address)
        finally:
            client.close()


class Cluster:
    """The workers of a scheduler, as `runner.Workers`."""

    def __init__(self, client: "Client", address: str):
        self._client, self._address = client, address

    def __len__(self) -> int:
        with self._told():
            return sum(self._n_threads().values())

    def _n_threads(self) -> dict[str, int]:
        """The threads of each worker, by address."""
        return cast(dict[str, int], self._client.nthreads())

    def spread(
        self, shards: Sequence[Shard], inputs: Sequence[Mapping[Cell, pd.DataFrame]], engine: str
    ) -> Iterator[tuple[Shard, list[Outcome]]]:
        """Run shards on the workers and yield each with its outcomes as it ends.

        A shard whose worker is lost is computed again by another one.

        Raises:
            Refused: a worker would not compute what this machine would compute.
            Failed: the scheduler is gone, or the shard's worker was lost again and again.
        """
        from distributed import as_completed

        if not shards:
            return
        asked = _asked(shards)
        # not through joblib's Dask backend, which waits forever for a task whose workers or scheduler are lost
        with self._told():
            self._ask(asked)
            futures = {
                self._client.submit(_on_worker, asked, shard, needed, engine, pure=False, retries=ATTEMPTS_MORE): shard
                for shard, needed in zip(shards, inputs, strict=True)
            }
        for future in as_completed(list(futures), loop=self._client.loop):
            shard = futures.pop(future)
            with self._told():
                if future.cancelled():
                    raise ConnectionError("the connection was lost")
                outcomes = future.result()
            if isinstance(outcomes, str):
                raise Refused(outcomes)
            yield shard, outcomes

    def _ask(self, asked: _Asked) -> None:
        """Raise `Refused` if the scheduler or a worker that is there now cannot take part."""
        there = self._client.run_on_scheduler(_asked_scheduler, asked.here, asked.modules)
        if there:
            raise Refused(f"the Dask scheduler at {self._address}: {there}")
        answers = cast(dict[str, object], self._client.run(_refusal, asked, on_error="return"))
        for worker, answer in answers.items():
            if answer is not None and worker in self._n_threads():  # one that has left is no worker
                raise Refused(f"worker {worker}: {_in_a_line(answer)}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in one line what went wrong between here and the workers."""
        from distributed import KilledWorker

        try:
            yield
        except ExperimentError:
            raise
        except KilledWorker as error:
            n_lost = f"{error.allowed_failures + 1} workers that computed the same shard were lost"
            raise Failed(f"{n_lost}, perhaps for want of memory; {_RESUMED}") from error
        except BrokenProcessPool as error:
            killed = "a process of a worker was killed again and again"
            raise Failed(f"{killed}, perhaps for want of memory; {_RESUMED}") from error
        except (OSError, CancelledError) as error:
            raise Failed(f"the Dask scheduler at {self._address} is gone; {_RESUMED}") from error
        except Exception as error:  # what Dask or another process raises has many types
            raise Failed(f"the Dask scheduler at {self._address}: {_in_a_line(error)}; {_RESUMED}") from error


_RESUMED = "shards that had ended are stored: run again to go on"


def _asked(shards: Sequence[Shard]) -> _Asked:
    from ol2r.data.own import taken_in

    cells = {job.cell for shard in shards for job in shard.jobs}
    modules = tuple(sorted({module for cell in cells for module in cell.code}))
    datasets = {name for cell in cells if (name := dataset_of(cell))}
    own = tuple(each for each in taken_in() if each[0].name in datasets)
    return _Asked(side(modules, datasets), modules, own)


def _in_a_line(error: object) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep Dask from logging what our errors say."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
