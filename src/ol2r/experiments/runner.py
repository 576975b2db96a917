"""Runs what the store lacks: needs first, then cells of a group side by side, in shards that are pure functions.

A shard is finished or it is not: its tables are stored as soon as it ends, so a killed run is resumed by running it
again. The runner must not know what a cell computes.
"""

import ctypes
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd
from joblib import Parallel, cpu_count, delayed, parallel_config
from tqdm import tqdm

from ol2r.errors import ExperimentError, Failed
from ol2r.experiments.cells import Cell, Context, Job, merged, with_needs
from ol2r.experiments.provenance import provenance
from ol2r.experiments.store import Store, check_table, in_order, spans

LONGEST_SHARD = 600.0
"""Seconds a shard may take, as its cells expect."""

SHORTEST_SHARD = 20.0
"""Seconds below which a smaller batch costs more than it balances."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h

WORTH_PROCESSES = 15.0
"""Expected seconds below which starting worker processes does not pay."""


class Shard(NamedTuple):
    """Jobs of one kind and group that run side by side."""

    jobs: tuple[Job, ...]

    @property
    def seconds(self) -> float:
        """Expected seconds on one core."""
        return sum(job.seconds for job in self.jobs)


class Computed(NamedTuple):
    """One job's table with the record of how it was made."""

    job: Job
    frame: pd.DataFrame
    provenance: dict


@dataclass(frozen=True)
class Failure:
    """A job that raised."""

    job: Job
    error: str
    trace: str

    def __str__(self) -> str:
        return f"{self.job.cell.describe()}: {self.error}"


Outcome = Computed | Failure


class JobsFailed(Failed):
    """Some jobs raised; all the others are done."""

    def __init__(self, failures: Sequence[Failure], n_rows: int, n_blocked: int):
        blocked = f", {n_blocked} cells wait for what failed" if n_blocked else ""
        lines = "".join(f"\n  {failure}" for failure in failures)
        super().__init__(f"{len(failures)} jobs failed ({n_rows} rows of others are stored{blocked}):{lines}")
        self.add_note(failures[0].trace)


def check_device(device: str) -> str:
    """The device, if this machine has it.

    Raises:
        ExperimentError: it is neither "cpu" nor "cuda", or there is no GPU that torch can use.
    """
    if device not in ("cpu", "cuda"):
        raise ExperimentError(f"device is {device!r}, expected 'cpu' or 'cuda'")
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ExperimentError("device is 'cuda', but torch finds no GPU on this machine")
    return device


def resolve_engine(engine: str | None, device: str) -> str:
    """The engine to run: as asked, else numba on the CPU and torch on a GPU."""
    if engine is None:
        return "numba" if device == "cpu" else "torch"
    if engine not in ("numba", "torch"):
        raise ExperimentError(f"engine is {engine!r}, expected 'numba' or 'torch'")
    if engine == "numba" and device != "cpu":
        raise ExperimentError("engine 'numba' runs on the CPU only")
    return engine


def _pieces(job: Job, limit: float) -> Iterator[Job]:
    """The job in spans of rows, halved by seeds and then by folds until each fits the limit or is one row."""
    for span in spans(job.rows):
        piece = Job(job.cell, span)
        if piece.seconds <= limit or len(span) == 1:
            yield piece
            continue
        axis = "seed" if len({row.seed for row in span}) > 1 else "fold"
        values = sorted({getattr(row, axis) for row in span})
        middle = values[len(values) // 2]
        yield from _pieces(Job(job.cell, tuple(row for row in span if getattr(row, axis) < middle)), limit)
        yield from _pieces(Job(job.cell, tuple(row for row in span if getattr(row, axis) >= middle)), limit)


def plan(jobs: Iterable[Job], n_jobs: int = 1) -> list[Shard]:
    """Pack jobs into shards of one kind and group, each about as long as a few a worker take, at most ten minutes.

    Args:
        jobs: what to run; their needs are not looked at.
        n_jobs: worker processes.
    """
    jobs = [job for job in jobs if job.rows]
    total = sum(job.seconds for job in jobs)
    target = min(LONGEST_SHARD, max(SHORTEST_SHARD, total / (4 * n_jobs)))
    groups: dict[Hashable, list[Job]] = {}
    for job in jobs:
        groups.setdefault((type(job.cell), job.cell.group), []).extend(_pieces(job, LONGEST_SHARD))
    shards = []
    for pieces in groups.values():
        packed: list[Job] = []
        seconds = 0.0
        for piece in pieces:
            if packed and seconds + piece.seconds > target:
                shards.append(Shard(tuple(packed)))
                packed, seconds = [], 0.0
            packed.append(piece)
            seconds += piece.seconds
        shards.append(Shard(tuple(packed)))
    return shards


def _no_progress(fraction: float) -> None:
    pass


def run_shard(
    shard: Shard,
    inputs: Mapping[Cell, pd.DataFrame],
    device: str,
    engine: str,
    progress: Callable[[float], None] = _no_progress,
) -> list[Outcome]:
    """Run a shard; when something in it raises, each of its jobs alone, so that one does not fail the others."""
    kind = type(shard.jobs[0].cell)
    start = time.perf_counter()
    try:
        frames = kind.run_group(shard.jobs, Context(inputs, device, engine, progress))
        made = {
            "device": device,
            "engine": engine,
            "seconds": time.perf_counter() - start,
            "shard_rows": sum(len(job.rows) for job in shard.jobs),
        }
        for job, frame in zip(shard.jobs, frames, strict=True):
            check_table(job.cell, job.rows, frame)
        return [
            Computed(job, frame, provenance(job.cell, job.rows, **made))
            for job, frame in zip(shard.jobs, frames, strict=True)
        ]
    except Exception as error:
        if len(shard.jobs) == 1:
            return [Failure(shard.jobs[0], f"{type(error).__name__}: {error}", traceback.format_exc())]
    return [outcome for job in shard.jobs for outcome in run_shard(Shard((job,)), inputs, device, engine)]


def compute(
    jobs: Sequence[Job],
    inputs: Mapping[Cell, pd.DataFrame],
    *,
    device: str = "cpu",
    engine: str | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Iterator[Outcome]:
    """Run jobs whose needs are in `inputs`, shard by shard, and yield the outcomes as shards end.

    Worker processes share the cores: with n of them each has cores // n threads. On a GPU, or when the work is too
    short for them, everything runs in this process.

    Args:
        jobs: what to run.
        inputs: the table of every cell that the jobs need.
        device: "cpu" or "cuda".
        engine: "numba", "torch" or None for the device's usual one.
        n_jobs: worker processes (None: one a core).
        progress: whether to show a bar, in expected seconds, once it has taken more than three.
    """
    device, engine = check_device(device), resolve_engine(engine, device)
    n_jobs = n_jobs or cpu_count()
    shards = plan(jobs, n_jobs if device == "cpu" else 1)
    seconds = sum(shard.seconds for shard in shards)
    here = device != "cpu" or n_jobs == 1 or len(shards) == 1 or seconds < WORTH_PROCESSES

    layout = "{l_bar}{bar}| {n:.0f}/{total:.0f} expected s [{elapsed}]"
    with tqdm(total=seconds, delay=3, mininterval=1, disable=not progress, desc="computing", bar_format=layout) as bar:
        done = 0.0
        if here:
            ended = _here(shards, inputs, device, engine, bar)
        else:
            # a timing has the machine to itself, once the rest is done
            timed = [shard for shard in shards if not shard.jobs[0].cell.verifiable]
            rest = [shard for shard in shards if shard.jobs[0].cell.verifiable]
            first = sum(shard.seconds for shard in rest)
            ended = chain(
                _spread(rest, inputs, device, engine, n_jobs), _here(timed, inputs, device, engine, bar, first)
            )
        for shard, outcomes in ended:
            done += shard.seconds
            _advance(bar, done)
            yield from outcomes


def _advance(bar: tqdm, seconds: float) -> None:
    """Move the bar on to so many seconds; what sums are rounded by must not carry it back or past its end."""
    bar.n = max(bar.n, min(bar.total, seconds))
    bar.update(0)


def _here(
    shards: Sequence[Shard], inputs: Mapping[Cell, pd.DataFrame], device: str, engine: str, bar: tqdm, done: float = 0.0
) -> Iterator[tuple[Shard, list[Outcome]]]:
    for shard in shards:

        def follow(fraction: float, start: float = done, seconds: float = shard.seconds) -> None:
            _advance(bar, start + fraction * seconds)

        yield shard, run_shard(shard, _inputs_of(shard, inputs), device, engine, follow)
        done += shard.seconds


def _begin(parent: int, own: tuple) -> None:
    """In a worker: end when the parent process does, however that ends, as Loky's workers would wait for work for good;
    and know the reader's own data."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # at once, even inside compiled code

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    if own:
        from ol2r.data.own import take_over

        take_over(own)


def _attempt(number: int, *arguments) -> tuple[int, list[Outcome]]:
    return number, run_shard(*arguments)


def _spread(
    shards: Sequence[Shard], inputs: Mapping[Cell, pd.DataFrame], device: str, engine: str, n_jobs: int
) -> Iterator[tuple[Shard, list[Outcome]]]:
    from ol2r.data.own import taken_in  # here, because it loads numba, which looking results up need not

    threads = max(1, cpu_count() // n_jobs)
    begun = {"initializer": _begin, "initargs": (os.getpid(), taken_in())}
    with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=threads, **begun):
        arguments = [(shard, _inputs_of(shard, inputs), device, engine) for shard in shards]
        tasks = (delayed(_attempt)(i, *each) for i, each in enumerate(arguments))
        ended: Any = Parallel(return_as="generator_unordered")(tasks)
        try:
            for i, outcomes in ended:
                yield shards[i], outcomes
        except BrokenProcessPool as error:
            raise ExperimentError(
                "a worker process was killed, perhaps for want of memory; shards that had ended are kept: "
                "run again to go on, with fewer --jobs"
            ) from error


def _inputs_of(shard: Shard, inputs: Mapping[Cell, pd.DataFrame]) -> dict[Cell, pd.DataFrame]:
    return {need.cell: inputs[need.cell] for job in shard.jobs for need in job.cell.needs(job.rows)}


def in_memory(
    jobs: Sequence[Job],
    inputs: Mapping[Cell, pd.DataFrame],
    *,
    device: str = "cpu",
    engine: str | None = None,
    progress: bool = True,
) -> tuple[list[pd.DataFrame], list[dict]]:
    """Run jobs of different cells without storing anything: one table for each, and the records of how they were made.

    Raises:
        JobsFailed: some jobs raised.
    """
    parts: dict[Cell, list[pd.DataFrame]] = {job.cell: [] for job in jobs}
    records, failures = [], []
    for outcome in compute(jobs, inputs, device=device, engine=engine, progress=progress):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            parts[outcome.job.cell].append(outcome.frame)
            records.append(outcome.provenance)
    if failures:
        raise JobsFailed(failures, 0, 0)
    return [in_order(pd.concat(parts[job.cell])) for job in jobs], records


def read_inputs(jobs: Iterable[Job], store: Store) -> dict[Cell, pd.DataFrame]:
    """Stored tables of all that the jobs need.

    Raises:
        ExperimentError: something needed is not stored.
    """
    inputs = {}
    for cell, rows in _needs(jobs):
        stored = store.read(cell, rows)
        if stored.frame is None or stored.missing:
            raise ExperimentError(f"{cell.describe()} is needed first and is not stored")
        inputs[cell] = stored.frame
    return inputs


def _needs(jobs: Iterable[Job]) -> list[Job]:
    return merged(need for job in jobs for need in job.cell.needs(job.rows))


def lacking(jobs: Iterable[Job], store: Store) -> list[Job]:
    """The jobs cut down to rows that are not stored, preceded by what those need and the store lacks as well."""

    def cut(jobs: Iterable[Job]) -> list[Job]:
        rest = [Job(job.cell, store.missing(job.cell, job.rows)) for job in jobs]
        return [job for job in rest if job.rows]

    return cut(with_needs(cut(merged(jobs))))


def _waves(jobs: Sequence[Job]) -> list[list[Job]]:
    """Jobs, needs first, cut into waves none of which needs anything of itself."""
    depth: dict[Cell, int] = {}
    waves: list[list[Job]] = []
    for job in jobs:
        depth[job.cell] = max((1 + depth.get(need.cell, -1) for need in job.cell.needs(job.rows)), default=0)
        waves += [[] for _ in range(depth[job.cell] + 1 - len(waves))]
        waves[depth[job.cell]].append(job)
    return waves


def run(
    jobs: Iterable[Job],
    store: Store,
    *,
    device: str = "cpu",
    engine: str | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> int:
    """Compute and store all rows that the store lacks, and what they need; returns how many rows that were.

    Args:
        jobs: the rows wanted.
        store: where they are looked up and kept.
        device: "cpu" or "cuda".
        engine: "numba", "torch" or None for the device's usual one.
        n_jobs: worker processes (None: one a core).
        progress: whether to show a bar.

    Raises:
        JobsFailed: some jobs raised; everything else has run and is stored.
        StoreError: the disk takes no more.
    """
    wanted = with_needs(jobs)
    if store.commit:
        for job in wanted:
            store.promote(job)
    todo = lacking(wanted, store)
    if todo:
        store.check_writable()
    failures: list[Failure] = []
    n_rows = n_blocked = 0
    for wave in _waves(todo):
        ready = [job for job in wave if not lacking(job.cell.needs(job.rows), store)]
        n_blocked += len(wave) - len(ready)
        inputs = read_inputs(ready, store)
        for outcome in compute(ready, inputs, device=device, engine=engine, n_jobs=n_jobs, progress=progress):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.write(outcome.job.cell, outcome.job.rows, outcome.frame, outcome.provenance)
                n_rows += len(outcome.job.rows)
    if failures:
        raise JobsFailed(failures, n_rows, n_blocked)
    return n_rows
