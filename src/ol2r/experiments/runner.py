"""Computes the rows that the store lacks: first what other cells need, then the cells of a group side by side.

The work is cut into shards, which are pure functions: on the CPU by the seconds that cells are expected to take, on
CUDA by what the device's memory holds. The tables of a shard are stored as soon as it ends, and the state of a shard
that runs for long is kept meanwhile, so a killed run is resumed by running it again. The runner must not know what a
cell computes.
"""

import ctypes
import gc
import math
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, NamedTuple, Protocol

import pandas as pd
from tqdm import tqdm

from ol2r import cores
from ol2r.cost import Cost, together
from ol2r.errors import ExperimentError, Failed
from ol2r.experiments.blocks import StoreError, StoreWarning, check_table, in_order, spans
from ol2r.experiments.cells import Cell, Context, Job, Kept, Row, merged, with_needs
from ol2r.experiments.interruption import Interruption
from ol2r.experiments.provenance import circumstances, provenance, tell_what_is_lost
from ol2r.experiments.store import Store

LONGEST_SHARD = 600.0
"""Expected seconds that a shard may take on the CPU."""

SHORTEST_SHARD = 20.0
"""Seconds below which a smaller batch costs more than it balances."""

SEGMENT = 180.0
"""Seconds by the clock after which the state of a running shard is kept, and kept again. Expected seconds do not decide
this, because the shards that take longer than expected would lose the most."""

KEEPING_SHARE = 0.05
"""Share of a shard's time that keeping its state may take; a state that takes long to write is kept less often."""

LARGEST_STATE = 1 << 30
"""Bytes above which a shard's state is not kept, because it would take long to write and much of the disk."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h

WORTH_PROCESSES = 15.0
"""Expected seconds below which starting worker processes does not pay."""

MEMORY_SHARE = 0.7
"""Share of a device's free memory for what rows hold at the end; the rest is for the data set and a round's temporary
values."""


class Shard(NamedTuple):
    """Jobs of one kind and group that run side by side."""

    jobs: tuple[Job, ...]

    def seconds(self, device: str = "cpu") -> float:
        """Expected seconds, on one core or on the device."""
        return together(job.cost(device) for job in self.jobs).whole

    @property
    def n_rows(self) -> int:
        return sum(len(job.rows) for job in self.jobs)

    def halves(self) -> "tuple[Shard, Shard]":
        """Two shards of about half the rows each; the shard must have at least two rows."""
        pieces = list(chain.from_iterable(_cut(job) for job in self.jobs)) if len(self.jobs) == 1 else list(self.jobs)
        before = [0, *accumulate(len(piece.rows) for piece in pieces)]
        middle = min(range(1, len(pieces)), key=lambda i: abs(2 * before[i] - self.n_rows))
        return Shard(tuple(pieces[:middle])), Shard(tuple(pieces[middle:]))


class Limit(NamedTuple):
    """The time and memory that a shard may take."""

    seconds: float = math.inf
    bytes: float = math.inf

    def allows(self, cost: Cost) -> bool:
        return cost.whole <= self.seconds and cost.bytes <= self.bytes


class Computed(NamedTuple):
    """One job's table with its provenance record."""

    job: Job
    frame: pd.DataFrame
    provenance: dict


@dataclass(frozen=True)
class Failure:
    """A job that raised."""

    job: Job
    error: str
    trace: str
    raised: Exception | None = None
    """An exception like it, where one can travel between processes."""

    def __str__(self) -> str:
        return f"{self.job.cell.describe()}: {self.error}"


Outcome = Computed | Failure


class Workers(Protocol):
    """Worker processes that are started and ended by somebody else, perhaps on other machines."""

    def __len__(self) -> int:
        """The number of shards that they compute at the same time."""
        ...

    def spread(
        self, shards: Sequence[Shard], inputs: Sequence[Mapping[Cell, pd.DataFrame]], engine: str
    ) -> Iterator[tuple[Shard, list[Outcome]]]:
        """Run shards on the CPU and yield each with its outcomes as it ends.

        Args:
            shards: what to run.
            inputs: for each shard, the table of every cell that its jobs need.
            engine: "numba" or "torch".
        """
        ...


class JobsFailed(Failed):
    """Some jobs raised; all other jobs are done, except those that need the failed ones."""

    def __init__(self, failures: Sequence[Failure], n_rows: int, n_blocked: int):
        blocked = f", {n_blocked} cells wait for what failed" if n_blocked else ""
        lines = "".join(f"\n  {failure}" for failure in failures)
        super().__init__(f"{len(failures)} jobs failed ({n_rows} rows of others are stored{blocked}):{lines}")
        self.add_note(failures[0].trace)


def check_device(device: str) -> str:
    """The given device, after a check that this machine has it.

    Raises:
        ExperimentError: the device is neither "cpu" nor "cuda", or there is no GPU that torch can use.
    """
    if device not in ("cpu", "cuda"):
        raise ExperimentError(f"device is {device!r}, expected 'cpu' or 'cuda'")
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ExperimentError("device is 'cuda', but torch finds no GPU on this machine")
    return device


def resolve_engine(engine: str | None, device: str) -> str:
    """The engine to run: the one asked for, or by default numba on the CPU and torch on a GPU."""
    if engine is None:
        return "numba" if device == "cpu" else "torch"
    if engine not in ("numba", "torch"):
        raise ExperimentError(f"engine is {engine!r}, expected 'numba' or 'torch'")
    if engine == "numba" and device != "cpu":
        raise ExperimentError("engine 'numba' runs on the CPU only")
    return engine


def free_memory(device: str) -> float:
    """Bytes that rows may take on a device: on CUDA a share of what is free now; on the CPU unlimited, because there
    the kinds of cells limit their batches themselves."""
    if device == "cpu":
        return math.inf
    import torch

    return MEMORY_SHARE * torch.cuda.mem_get_info()[0]


def _cut(job: Job) -> list[Job]:
    """Cut a job whose rows form a span into two, by seeds where there are several, else by folds."""
    axis = "seed" if len({row.seed for row in job.rows}) > 1 else "fold"
    values = sorted({getattr(row, axis) for row in job.rows})
    middle = values[len(values) // 2]
    first = tuple(row for row in job.rows if getattr(row, axis) < middle)
    return [Job(job.cell, first), Job(job.cell, tuple(row for row in job.rows if getattr(row, axis) >= middle))]


def _pieces(job: Job, limit: Limit, device: str) -> Iterator[Job]:
    """Cut the job into spans of rows, each halved until the limit allows it or it has one row."""
    for span in spans(job.rows):
        piece = Job(job.cell, span)
        if len(span) == 1 or limit.allows(piece.cost(device)):
            yield piece
        else:
            yield from chain.from_iterable(_pieces(half, limit, device) for half in _cut(piece))


def plan(
    jobs: Iterable[Job], n_jobs: int = 1, device: str = "cpu", memory: float = math.inf, longest: float = math.inf
) -> list[Shard]:
    """Pack jobs into shards of one kind and group.

    On the CPU shards are so long that each worker gets a few, and at most ten minutes. On CUDA shards are as large as
    memory and time allow, because there a round of many replicas takes little longer than a round of one.

    Args:
        jobs: what to run; their needs are not looked at.
        n_jobs: worker processes.
        device: "cpu" or "cuda".
        memory: bytes that the rows of a shard may take.
        longest: seconds that a shard may take, if it can be cut so small.
    """
    jobs = [job for job in jobs if job.rows]
    by_seconds = [job for job in jobs if device == "cpu" or not job.cell.on_device]
    share = sum(job.cost(device).seconds for job in by_seconds) / (4 * n_jobs)
    target, most = min(LONGEST_SHARD, longest, max(SHORTEST_SHARD, share)), min(LONGEST_SHARD, longest)
    groups: dict[Hashable, list[Job]] = {}
    for job in jobs:
        groups.setdefault((type(job.cell), job.cell.group), []).append(job)
    shards = []
    for of_group in groups.values():
        if device == "cpu" or not of_group[0].cell.on_device:
            pieces = [piece for job in of_group for piece in _pieces(job, Limit(seconds=most), device)]
            shards += _packed(pieces, Limit(seconds=target), device)
        else:
            limit = Limit(seconds=longest, bytes=memory)
            pieces = [piece for job in of_group for piece in _pieces(job, limit, device)]
            shards += _packed(pieces, limit, device)
    return shards


def _packed(pieces: Iterable[Job], limit: Limit, device: str) -> Iterator[Shard]:
    """Pack the pieces of one group into shards, in order, with as many pieces in a shard as the limit allows."""
    packed: list[Job] = []
    cost = Cost(0.0)
    for piece in pieces:
        larger = together((cost, piece.cost(device)))
        if packed and not limit.allows(larger):
            yield Shard(tuple(packed))
            packed, larger = [], piece.cost(device)
        packed.append(piece)
        cost = larger
    yield Shard(tuple(packed))


def expected_seconds(
    jobs: Sequence[Job], n_jobs: int | None = None, device: str = "cpu", memory: float | None = None
) -> float:
    """Expected seconds until all jobs are done: workers share the shards, timings run alone, and every process compiles
    once.

    Args:
        jobs: what to run; their needs are not looked at.
        n_jobs: worker processes (None: one per core).
        device: "cpu" or "cuda", where one process runs everything.
        memory: bytes that the rows of a shard may take (None: what is free).
    """
    workers = _processes(n_jobs) if device == "cpu" else 1
    compiling: dict[str, float] = {}
    for job in jobs:
        compiling |= job.cell.compiling(device)
    shards = plan(jobs, workers, device, free_memory(device) if memory is None else memory)
    alone = sum(shard.seconds(device) for shard in shards if not shard.jobs[0].cell.verifiable)  # timings, one by one
    shared = [shard.seconds(device) for shard in shards if shard.jobs[0].cell.verifiable]
    return alone + max(sum(shared) / workers, max(shared, default=0.0)) + sum(compiling.values())


def _no_progress(fraction: float) -> None:
    pass


class _Segment:
    """A shard from what an earlier run kept of it, or from the beginning, until it ends or is killed.

    Args:
        shard: the jobs; device, engine: what they run on.
        store: where their state is kept, or None.
    """

    def __init__(self, shard: Shard, device: str, engine: str, store: Store | None):
        self.jobs, self.store = shard.jobs, store
        self.start, self.cores = time.perf_counter(), time.process_time()
        self.next = self.start + SEGMENT
        self.kept: Kept | None = None
        self.before = {"seconds": 0.0, "core_seconds": 0.0, "resumed": 0}
        if store is not None:
            self.circumstances = circumstances(shard.jobs[0].cell, device, engine)
            if found := store.kept(shard.jobs, self.circumstances):
                self.kept, record = found
                self.before = {name: record.get(name, 0) for name in self.before}
                self.before["resumed"] += 1

    def taken(self) -> dict[str, Any]:
        """The seconds that the shard has taken in all its segments, and how often it was resumed."""
        here = {"seconds": time.perf_counter() - self.start, "core_seconds": time.process_time() - self.cores}
        return self.before | {name: self.before[name] + seconds for name, seconds in here.items()}

    def due(self) -> bool:
        return self.store is not None and time.perf_counter() >= self.next

    def keep(self, kept: Kept) -> None:
        """Keep a state; the shard goes on without where the state is too large or cannot be written."""
        if self.store is None:
            return
        begun = time.perf_counter()
        try:
            size = sum(array.nbytes for array in kept.state.values())
            if size > LARGEST_STATE:
                limit = f"at most {LARGEST_STATE / 2**30:.3g} GiB can be kept"
                raise StoreError(f"it takes {size / 2**30:.3g} GiB of memory, and {limit}")
            self.store.keep(self.jobs, kept, self.circumstances | self.taken())
        except (StoreError, MemoryError) as error:
            message = "a long shard goes on without keeping its state, and begins anew if it is killed"
            warnings.warn(f"{message}: {error}", StoreWarning, stacklevel=2)
            self.store = None
        now = time.perf_counter()
        self.next = now + max(SEGMENT, (now - begun) / KEEPING_SHARE)


def run_shard(
    shard: Shard,
    inputs: Mapping[Cell, pd.DataFrame],
    device: str,
    engine: str,
    progress: Callable[[float], None] = _no_progress,
    halved: int = 0,
    store: Store | None = None,
) -> list[Outcome]:
    """Run a shard. If an earlier run kept a state of it, it goes on from there, or begins anew where it cannot.

    When a job in the shard raises, each job runs alone, so that one failure does not fail the others. When the shard
    does not fit into the device's memory, its halves run one after the other.

    Args:
        shard: the jobs to run.
        inputs: the table of every cell that the jobs need.
        device: "cpu" or "cuda"; engine: "numba" or "torch".
        progress: called with the fraction done.
        halved: how often the planned shard has already been cut in two.
        store: where the shard's state is kept while it runs, or None.
    """
    kind = type(shard.jobs[0].cell)
    segment = _Segment(shard, device, engine, store)
    too_large, refused = False, ""
    try:
        context = Context(inputs, device, engine, progress, segment.due, segment.keep, segment.kept)
        frames = kind.run_group(shard.jobs, context)
        made = {"device": device, "engine": engine, "shard_rows": shard.n_rows, "halved": halved, **segment.taken()}
        for job, frame in zip(shard.jobs, frames, strict=True):
            check_table(job.cell, job.rows, frame)
        return [
            Computed(job, frame, provenance(job.cell, job.rows, **made))
            for job, frame in zip(shard.jobs, frames, strict=True)
        ]
    except Exception as error:
        too_large = _out_of_memory(error) and shard.n_rows > 1
        refused = str(error) if segment.kept is not None and isinstance(error, ValueError) else ""
        if len(shard.jobs) == 1 and not too_large and not refused:
            told = f"{type(error).__name__}: {error}", traceback.format_exc()
            return [Failure(shard.jobs[0], *told, _that_travels(error))]
    # outside the handler: its traceback keeps alive the memory that the shard had taken
    if refused and store is not None:
        message = f"{shard.jobs[0].cell.describe()} did not go on from its state and begins anew: {refused}"
        warnings.warn(message, StoreWarning, stacklevel=2)
        store.drop(shard.jobs)
        return run_shard(shard, inputs, device, engine, progress, halved, store)
    if too_large:
        _release_memory()
        parts, halved = shard.halves(), halved + 1
    else:
        parts = tuple(Shard((job,)) for job in shard.jobs)
    outcomes, done = [], 0.0
    for part in parts:
        share = part.n_rows / shard.n_rows

        def follow(fraction: float, done: float = done, share: float = share) -> None:
            progress(done + fraction * share)

        outcomes += run_shard(part, inputs, device, engine, follow, halved, store)
        done += share
    return outcomes


_PLAIN = (str, bytes, int, float, bool, type(None))


def _that_travels(error: Exception) -> Exception | None:
    """The exception made anew from plain values, which another process can read; None where that is not the same."""
    try:
        made, given, *_ = error.__reduce__()
        again = made(*given) if made is type(error) and all(type(each) in _PLAIN for each in given) else None
    except Exception:  # what an exception's own constructor raises has any type
        return None
    return again if str(again) == str(error) else None


def _out_of_memory(error: Exception) -> bool:
    torch = sys.modules.get("torch")  # without it nothing can have been on a device
    return torch is not None and isinstance(error, torch.cuda.OutOfMemoryError)


def _release_memory() -> None:
    """Give the memory that torch keeps in reserve back to the device."""
    import torch

    gc.collect()
    torch.cuda.empty_cache()


class Clock:
    """How long a run may still take.

    Args:
        seconds: until it must end; none begins that is not expected to end before.
    """

    def __init__(self, seconds: float = math.inf):
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, at least 0."""
        return max(0.0, self.end - time.monotonic())

    def allows(self, shard: Shard, device: str) -> bool:
        """Whether a shard that begins now is expected to end in time."""
        return shard.seconds(device) <= self.left


BEFORE, MEANWHILE = "compiling", "computing"
LAYOUT = "{desc}: {percentage:3.0f} % {bar:20} {elapsed} gone{postfix}, about {remaining} left"
"""What the bar says before its first progress and then, and how it is laid out."""


def compute(
    jobs: Sequence[Job],
    inputs: Mapping[Cell, pd.DataFrame],
    *,
    device: str = "cpu",
    engine: str | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
    store: Store | None = None,
    workers: Workers | None = None,
    clock: Clock | None = None,
) -> Generator[Outcome]:
    """Run jobs whose needs are in `inputs`, shard by shard, and yield the outcomes as shards end.

    Worker processes share the cores: with n of them each has cores // n threads. On a GPU, or when the work is too
    short for them, everything runs in this process.

    Args:
        jobs: what to run.
        inputs: the table of every cell that the jobs need.
        device: "cpu" or "cuda".
        engine: "numba", "torch" or None for the device's usual one.
        n_jobs: worker processes (None: one per core).
        progress: whether to show a bar once it has taken more than three seconds: which share of the expected time is
            done, the rows, and the time left. Before the first progress it says "compiling", which takes that time on
            a new machine.
        store: where the states of shards are kept while they run; the shards that an earlier run began go on first.
            When the next outcome is asked for, those of a shard that has ended must be stored.
        workers: what runs everything but timings, in the place of `n_jobs` processes. It keeps no states, and begins
            shards anew that an earlier run began.
        clock: how long it may take (None: as long as it takes). Shards that would take longer do not begin, and yield
            no outcome; others are cut so that they fit. `workers` do not look at it.
    """
    device, engine = check_device(device), resolve_engine(engine, device)
    tell_what_is_lost()
    begun, clock = [], clock or Clock()
    if workers is not None:
        if device != "cpu":
            raise ExperimentError("workers elsewhere compute on their CPUs only")
    elif store is not None:
        begun = [Shard(part) for part in store.unfinished(jobs, device, engine)]
    n_jobs = _processes(n_jobs) if workers is None else max(1, len(workers))
    shards = [*begun, *plan(_without(jobs, begun), n_jobs, device, free_memory(device), clock.left)]
    seconds = sum(shard.seconds(device) for shard in shards)
    short = n_jobs == 1 or len(shards) == 1 or seconds < WORTH_PROCESSES
    here = device != "cpu" or (short and workers is None)
    if not here and workers is None and (lacking := cores.no_processes()):
        warnings.warn(f"{lacking}; this process computes everything itself", RuntimeWarning, stacklevel=2)
        here = True

    n_rows = sum(shard.n_rows for shard in shards)
    often = 1 if sys.stderr.isatty() else 15  # a log gets a line each time
    with tqdm(total=seconds, delay=3, mininterval=often, disable=not progress, desc=BEFORE, bar_format=LAYOUT) as bar:
        done, rows_done = 0.0, 0
        bar.set_postfix_str(f"0 of {n_rows} rows", refresh=False)
        if here:
            ended = _here(shards, inputs, device, engine, store, bar, clock)
        else:
            # timings run after everything else, so that each has the machine to itself
            timed = [shard for shard in shards if not shard.jobs[0].cell.verifiable]
            rest = [shard for shard in shards if shard.jobs[0].cell.verifiable]
            first = sum(shard.seconds(device) for shard in rest)
            if workers is None:
                spread = _spread(rest, inputs, device, engine, store, n_jobs, bar, clock)
            else:
                spread = workers.spread(rest, [_inputs_of(shard, inputs) for shard in rest], engine)
            ended = _in_turn(spread, _here(timed, inputs, device, engine, store, bar, clock, first))
        with closing(ended):  # processes that still compute end with this generator
            for shard, outcomes in ended:
                done, rows_done = done + shard.seconds(device), rows_done + shard.n_rows
                bar.set_postfix_str(f"{rows_done} of {n_rows} rows", refresh=False)
                _advance(bar, done)
                yield from outcomes
                if store is not None:
                    store.forget(shard.jobs)


def _in_turn(*parts: Iterable[tuple[Shard, list[Outcome]]]) -> Generator[tuple[Shard, list[Outcome]]]:
    for part in parts:
        yield from part


def _processes(asked: int | None) -> int:
    """The number of worker processes: as many as were asked for, or one per core; one where this process may have
    none."""
    return 1 if cores.one_process() else asked or cores.count()


def _without(jobs: Iterable[Job], shards: Iterable[Shard]) -> list[Job]:
    """The jobs without the rows that are in some shards."""
    taken: dict[Cell, set[Row]] = {}
    for cell, rows in chain.from_iterable(shard.jobs for shard in shards):
        taken.setdefault(cell, set()).update(rows)
    return [Job(cell, tuple(row for row in rows if row not in taken.get(cell, ()))) for cell, rows in jobs]


def _advance(bar: tqdm, seconds: float) -> None:
    """Move the bar to so many seconds; rounding errors of sums must not move it back or past its end."""
    if seconds > 0:
        bar.set_description_str(MEANWHILE, refresh=False)
    bar.n = max(bar.n, min(bar.total, seconds))
    bar.update(0)


def _here(
    shards: Sequence[Shard],
    inputs: Mapping[Cell, pd.DataFrame],
    device: str,
    engine: str,
    store: Store | None,
    bar: tqdm,
    clock: Clock,
    done: float = 0.0,
) -> Generator[tuple[Shard, list[Outcome]]]:
    for shard in (each for each in shards if clock.allows(each, device)):

        def follow(fraction: float, start: float = done, seconds: float = shard.seconds(device)) -> None:
            _advance(bar, start + fraction * seconds)

        yield shard, run_shard(shard, _inputs_of(shard, inputs), device, engine, follow, store=store)
        done += shard.seconds(device)


def begin_process(parent: int, own: tuple) -> None:
    """Prepare a worker: make it end whenever the parent process ends, as Loky's workers would otherwise wait for work
    forever, and tell it of the reader's own data."""
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


def _attempt(number: int, *arguments, store: Store | None) -> tuple[int, list[Outcome]]:
    return number, run_shard(*arguments, store=store)


def _spread(
    shards: Sequence[Shard],
    inputs: Mapping[Cell, pd.DataFrame],
    device: str,
    engine: str,
    store: Store | None,
    n_jobs: int,
    bar: tqdm,
    clock: Clock,
) -> Iterator[tuple[Shard, list[Outcome]]]:
    if not _spreading.acquire(blocking=False):  # another thread has the worker processes
        yield from _here(shards, inputs, device, engine, store, bar, clock)
        return
    arguments = [(shard, _inputs_of(shard, inputs), device, engine) for shard in shards]
    # tasks are asked for as workers get free, so that each is held against the time that is left then
    tasks = ((i, *each) for i, each in enumerate(arguments) if clock.allows(shards[i], device))
    try:
        yield from _by_processes(shards, tasks, store, n_jobs)
    finally:
        _spreading.release()


_spreading = threading.Lock()
_started = False


def _by_processes(
    shards: Sequence[Shard], tasks: Iterable[tuple], store: Store | None, n_jobs: int
) -> Iterator[tuple[Shard, list[Outcome]]]:
    from joblib import Parallel, delayed, parallel_config  # here, because it takes shared memory when it is loaded

    from ol2r.data.own import taken_in  # here, because it loads numba, which looking results up need not

    global _started
    _started = True
    threads = max(1, cores.count() // n_jobs)
    begun = {"initializer": begin_process, "initargs": (os.getpid(), taken_in())}
    shared = {"mmap_mode": "c"}  # compiled code would be compiled once more for arrays that cannot be written to
    with (
        Interruption() as interruption,
        parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=threads, **shared, **begun),
    ):
        calls = (delayed(_attempt)(*each, store=store) for each in tasks if not interruption.heard)
        ended: Any = Parallel(return_as="generator_unordered", pre_dispatch="n_jobs")(calls)
        try:
            for i, outcomes in ended:
                yield shards[i], outcomes
        except BrokenProcessPool as error:
            raise ExperimentError(
                "a worker process was killed, perhaps for want of memory; shards that had ended are kept: "
                "run again to go on, with fewer --jobs"
            ) from error
        finally:
            with warnings.catch_warnings(action="ignore"):  # that shards are given up: whoever asked knows
                ended.close()


def end_processes() -> None:
    """End the worker processes that wait for more work, which the interpreter would take most of a second to do."""
    if not _started:
        return
    from joblib.externals.loky import get_reusable_executor

    reused = get_reusable_executor(reuse=True)  # pyright: ignore[reportArgumentType] - takes a flag or "auto"
    reused.shutdown(wait=True, kill_workers=True)


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
    """Run jobs of different cells without storing anything; returns a table for each job, and the provenance records.

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
    """The stored tables of all cells that the jobs need.

    Raises:
        ExperimentError: a table that is needed is not stored.
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
    """The jobs cut down to rows that are not stored, preceded by the missing rows of all cells that they need."""

    def cut(jobs: Iterable[Job]) -> list[Job]:
        rest = [Job(job.cell, store.missing(job.cell, job.rows)) for job in jobs]
        return [job for job in rest if job.rows]

    return cut(with_needs(cut(merged(jobs))))


def _waves(jobs: Sequence[Job]) -> list[list[Job]]:
    """Cut jobs (given with needs first) into waves, so that no job needs another one of its own wave."""
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
    workers: Workers | None = None,
    clock: Clock | None = None,
) -> int:
    """Compute and store all rows that the store lacks, with what they need; returns the number of computed rows.

    Args:
        jobs: the rows wanted.
        store: where rows are looked up and kept.
        device: "cpu" or "cuda".
        engine: "numba", "torch" or None for the device's usual one.
        n_jobs: worker processes (None: one per core).
        progress: whether to show a bar.
        workers: what runs everything but timings, in the place of processes of this machine; on the CPU only.
        clock: how long it may take; what is not expected to end in time does not begin, see `compute`.

    Raises:
        JobsFailed: some jobs raised; everything else has run and is stored.
        StoreError: a table cannot be written, for instance because the disk is full.
    """
    wanted = with_needs(jobs)
    todo = lacking(wanted, store)
    if todo:
        store.check_writable()
    failures: list[Failure] = []
    n_rows = n_blocked = 0
    for wave in _waves(todo):
        ready = [job for job in wave if not lacking(job.cell.needs(job.rows), store)]
        n_blocked += len(wave) - len(ready)
        inputs = read_inputs(ready, store)
        how = {"device": device, "engine": engine, "n_jobs": n_jobs, "progress": progress, "workers": workers}
        for outcome in compute(ready, inputs, store=store, clock=clock, **how):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.write(outcome.job.cell, outcome.job.rows, outcome.frame, outcome.provenance)
                n_rows += len(outcome.job.rows)
    if failures:
        raise JobsFailed(failures, n_rows, n_blocked)
    return n_rows
