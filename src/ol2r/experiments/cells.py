"""What an experiment is made of: cells (what to run), rows (which folds and seeds) and items (which figure wants them).

A cell is a frozen declaration; its key is a hash of that declaration and nothing else, so the same cell is found again
by any machine. This module must not know any learner, any data set or how and where results are computed and kept.
"""

import dataclasses
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, Literal, NamedTuple, cast

import numpy as np
import pandas as pd

from ol2r.cost import Cost
from ol2r.errors import ExperimentError

TIERS = ("smoke", "laptop", "paper")

Level = Literal["bits", "means"]
"""How exactly a second computation repeats a result: "bits", bit for bit in the columns named `exact`, or "means",
where only the means over rows agree."""

ANY = "any"
"""The value of a label on which a cell's results do not depend. Where the item's other cells have values of that label,
the item shows the cell once for each of them, on all data sets."""

MOST_SEEDS = 10_000
"""The largest number of seeds that can be asked for: a larger one is a typing error, and its rows would fill memory."""


class Row(NamedTuple):
    """One replica of a cell: a fold (from 1) and a seed (from 0)."""

    fold: int
    seed: int


@lru_cache(maxsize=1024)
def _product(folds: tuple[int, ...], seeds: tuple[int, ...]) -> tuple[Row, ...]:
    """The rows of folds × seeds; thousands of cells have the same, and keep one copy."""
    return tuple(Row(fold, seed) for fold in folds for seed in seeds)


class Job(NamedTuple):
    """Some rows of one cell."""

    cell: "Cell"
    rows: tuple[Row, ...]

    def cost(self, device: str = "cpu") -> Cost:
        """The time and memory that the rows are expected to take."""
        return self.cell.cost(self.rows, device)


_AS_IT_IS = frozenset({str, bool, int, type(None)})
"""Types of which a value stands for itself; a look-up by type is quicker than `isinstance`, for a million values."""


def canonical(value: object) -> object:
    """The JSON value that stands for a declaration; values that compare equal have equal canonical forms.

    A dataclass becomes its type, its class's integer `revision` where it has one, and all its fields
    that take part in comparisons.

    Raises:
        TypeError: the value is neither a plain immutable value nor a dataclass of such.
        ValueError: a float is not finite.
    """
    if type(value) in _AS_IT_IS or isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be part of a cell: only finite numbers can")
        # 1 == 1.0 makes two cells equal, so it must make their keys equal too
        return int(value) if value.is_integer() else float(value)
    if isinstance(value, tuple):
        return [canonical(entry) for entry in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        declared: dict[str, object] = {"type": getattr(kind, "kind", kind.__name__)}
        if hasattr(kind, "revision"):
            declared["revision"] = kind.revision  # pyright: ignore[reportAttributeAccessIssue]
        declared["fields"] = {f.name: canonical(getattr(value, f.name)) for f in dataclasses.fields(value) if f.compare}
        return declared
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be part of a cell")


def key_of(declaration: object) -> str:
    """SHA-256 of the canonical JSON of a cell's declaration, 64 hexadecimal digits."""
    text = json.dumps(declaration, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class Kept(NamedTuple):
    """What is kept of unfinished jobs: their state as arrays by name, and the lines of their tables so far."""

    state: Mapping[str, np.ndarray]
    recorded: pd.DataFrame


@dataclass(frozen=True)
class Context:
    """What running jobs are given: the tables they need, device and engine, and ways to report progress and to go on.

    Jobs that can go on from a state ask `due` now and then, and when it says yes, `keep` what they need for that. If
    the run is killed, the next one gives it back to the same jobs as `kept`; other jobs ignore all three.

    Args:
        inputs: the stored table of every cell that the jobs' cells named in `needs`.
        device: "cpu" or "cuda".
        engine: "numba" or "torch".
        progress: the job calls it now and then with the fraction done, in [0, 1].
        due: whether enough has been computed since the last call of `keep` to call it again.
        keep: stores what it is given in the place of what was kept before.
        kept: what an earlier run of the same jobs kept last, or None.
    """

    inputs: "Mapping[Cell, pd.DataFrame]" = field(default_factory=dict)
    device: str = "cpu"
    engine: str = "numba"
    progress: Callable[[float], None] = lambda fraction: None
    due: Callable[[], bool] = lambda: False
    keep: Callable[[Kept], None] = lambda kept: None
    kept: Kept | None = None


class Cell(ABC):
    """One declared computation, repeated over rows; subclasses are frozen dataclasses of plain values and tuples.

    Its result is a table whose first columns are the integers `fold` and `seed`, with at least one line for each row.
    """

    kind: ClassVar[str]
    """Name of the kind of cell, part of the key."""

    code: ClassVar[tuple[str, ...]]
    """Modules and packages whose source makes this kind's results; a digest of it is the results' code version."""

    exact: ClassVar[tuple[str, ...]] = ()
    """Columns of values that later rounds depend on. A second run repeats them bit for bit if library versions,
    compiled target and engine are the same."""

    repeats: ClassVar[Level] = "bits"
    """How exactly a second run repeats the result if library versions, compiled target and engine are the same."""

    verifiable: ClassVar[bool] = True
    """False for timings, which no second run repeats."""

    on_device: bool = False
    """Whether its rows run on the device asked for; if not, they run on the CPU whatever the device."""

    seeded: bool = True
    """Whether another seed gives another result; if not, all rows have seed 0."""

    undefined: ClassVar[tuple[str, ...]] = ()
    """Columns that may hold NaN or infinity; in any other a number that is not finite is damage."""

    @property
    def declaration(self) -> dict:
        """The cell as a JSON object: type, revision, fields. It is made anew each time: thousands kept would slow down
        whatever comes after."""
        return canonical(self)  # pyright: ignore[reportReturnType]

    @cached_property
    def key(self) -> str:
        """SHA-256 of the canonical JSON of the declaration, 64 hexadecimal digits."""
        return key_of(self.declaration)

    def rows(self, folds: Sequence[int] | None, seeds: Iterable[int]) -> tuple[Row, ...]:
        """The rows of the given folds (None: all folds of the cell) × seeds, folds outermost."""
        seeds = tuple(seeds) if self.seeded else (0,)
        unknown = set(folds or ()) - set(self.folds)
        if unknown:
            raise ExperimentError(f"no fold {min(unknown)}: this cell has folds {', '.join(map(str, self.folds))}")
        return _product(tuple(folds or self.folds), seeds)

    def describe(self) -> str:
        """The labels in one line, for messages."""
        return f"{self.kind} " + " ".join(f"{name}={value}" for name, value in self.labels().items())

    def needs(self, rows: Sequence[Row]) -> tuple[Job, ...]:
        """Jobs whose tables must be stored before these rows can run; `run_group` finds them in `context.inputs`."""
        return ()

    @property
    def on_own_data(self) -> bool:
        """Whether its data is the reader's own. No item declares such data; an item shows it when asked for by name."""
        return False

    @property
    def folds(self) -> tuple[int, ...]:
        """All folds of the cell, numbered from 1: a single one unless the kind has folds of its data."""
        return (1,)

    @property
    def restricted(self) -> bool:
        """Whether the data's licence forbids storing values of single documents or queries: not without data."""
        return False

    @property
    def group(self) -> Hashable:
        """Cells of one kind with equal groups may run side by side in one batch. Each runs alone unless its kind gains
        by a batch."""
        return self

    @abstractmethod
    def labels(self) -> dict[str, str | float | int]:
        """Columns that tell this cell from others of its item: data set (`dataset`), users, learner, parameters. One
        that the results do not depend on is `ANY`."""

    @abstractmethod
    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The time and memory that these rows take, roughly and without compiling; a pure function of its arguments."""

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """What a process compiles (or starts) once before it runs such cells: seconds by name."""
        return {}

    @classmethod
    @abstractmethod
    def run_group(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        """Run jobs of one group side by side: one table for each job, in order."""


class OneByOne(Cell):
    """A cell that gains nothing from others beside it: it makes its own table, on the CPU whatever the device."""

    @abstractmethod
    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The table's lines for these rows."""

    @classmethod
    def run_group(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        """Run one job after another."""
        tables = []
        for done, job in enumerate(jobs, start=1):
            tables.append(cast(OneByOne, job.cell).table(job.rows))
            context.progress(done / len(jobs))
        return tables


@dataclass(frozen=True)
class Item:
    """A figure or table of a paper: the cells it shows, and how many seeds of them, at each tier.

    Args:
        cells: gives the cells at a tier; a cell named twice counts once.
        seeds: the seeds by tier, the same for all cells; or a function of tier and cell, where cells have different
            numbers of folds. Seeds that are the same at every tier are part of what the item is, such as those of a
            tuning or of a single run that is shown: a run that asks for more or fewer seeds gets these all the same.
        folds: the folds of every cell; None for all folds of each cell; or a function from a cell to one of the two.
        names: gives the labels that a cell has in this item only, such as the name of a variant.
    """

    title: str
    cells: Callable[[str], Sequence[Cell]]
    seeds: Mapping[str, Sequence[int]] | Callable[[str, Cell], Sequence[int]]
    folds: tuple[int, ...] | Callable[[Cell], tuple[int, ...] | None] | None = None
    names: Callable[[Cell], Mapping[str, str | float]] = lambda cell: {}

    def jobs(self, tier: str, n_seeds: int | None = None, datasets: Sequence[str] | None = None) -> list[Job]:
        """The item's jobs at a tier, in declared order.

        Args:
            n_seeds: number of seeds, counted from the first declared one (None: as declared; so are seeds that are the
                same at every tier).
            datasets: names of the data sets to keep (None: all but a reader's own).
        """
        cells = dict.fromkeys(self.cells(tier))
        if datasets is None:
            cells = [cell for cell in cells if not cell.on_own_data]
        else:
            kept = {*datasets, None}  # a cell that uses no data set is always kept
            cells = [cell for cell in cells if cell.labels().get("dataset") in kept]
        return [Job(cell, self._rows(tier, cell, n_seeds)) for cell in cells]

    def _rows(self, tier: str, cell: Cell, n_seeds: int | None) -> tuple[Row, ...]:
        seeds = self.seeds(tier, cell) if callable(self.seeds) else self.seeds[tier]
        own = not callable(self.seeds) and len({tuple(each) for each in self.seeds.values()}) == 1 < len(self.seeds)
        if n_seeds is not None and not own:
            if n_seeds > MOST_SEEDS:
                raise ExperimentError(f"{n_seeds} seeds are more than the {MOST_SEEDS} that can be asked for")
            seeds = range(seeds[0], seeds[0] + n_seeds)
        return cell.rows(self.folds(cell) if callable(self.folds) else self.folds, seeds)


def merged(jobs: Iterable[Job]) -> list[Job]:
    """Each cell once, in order of first appearance, with the union of its rows."""
    rows_of: dict[Cell, set[Row]] = {}
    for job in jobs:
        rows_of.setdefault(job.cell, set()).update(job.rows)
    return [Job(cell, tuple(sorted(rows))) for cell, rows in rows_of.items()]


def with_needs(jobs: Iterable[Job]) -> list[Job]:
    """The jobs, preceded by all jobs that they need directly or indirectly; each cell once."""
    ordered: list[Job] = []

    def visit(job: Job) -> None:
        for need in job.cell.needs(job.rows):
            visit(need)
        ordered.append(job)

    for job in jobs:
        visit(job)
    return merged(ordered)
