"""The way from a chapter of the book to its results: checked parameters in, stored or freshly computed results out.

A chapter's first cell calls `ol2r.chapter(name, globals())`, because papermill accepts unknown parameters silently.
This module must not know what a chapter shows.
"""

import math
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ol2r.errors import ExperimentError, MissingRows, one_of
from ol2r.experiments.blocks import joined
from ol2r.experiments.cells import ANY, TIERS, Cell, Item, Job, merged
from ol2r.experiments.origins import AtHand, check_data, names_of
from ol2r.experiments.paper import Paper
from ol2r.experiments.runner import (
    check_device,
    expected_seconds,
    in_memory,
    lacking,
    read_inputs,
    resolve_engine,
    run,
)
from ol2r.experiments.store import Store, Stored
from ol2r.parameters import FLAG, Choice, Names, Number, Parameter, refusal


class Default(NamedTuple):
    """A chapter's parameter and the value it has when a notebook does not set it; None stands for no choice."""

    parameter: Parameter
    value: object


PARAMETERS: dict[str, Default] = {
    "tier": Default(Choice(*TIERS), "laptop"),
    "seeds": Default(Number(least=1, whole=True), None),
    "datasets": Default(Names("data set names or paths"), None),
    "device": Default(Choice("cpu", "cuda"), "cpu"),
    "engine": Default(Choice("numba", "torch"), None),
    "max_minutes": Default(Number(above=0, most=math.inf), 30.0),
    "fresh": Default(FLAG, False),
}
"""The parameters that every chapter understands."""


def check_parameters(given: Mapping[str, object], known: Mapping[str, Default]) -> dict[str, Any]:
    """All known parameters with their values, given or default.

    Args:
        given: a notebook's globals; every plain value in it that is not private counts as a parameter.

    Raises:
        ExperimentError: a name is unknown, or a value has the wrong type or lies out of range.
    """
    values = {name: default.value for name, default in known.items()}
    for name, value in given.items():
        plain = value is None or isinstance(value, bool | int | float | str | list | tuple | dict)
        if name.startswith("_") or name in ("In", "Out") or not plain:
            continue
        values[name] = _checked(name, value, known[one_of(name, known, "parameter")])
    return values


def _checked(name: str, value: object, default: Default) -> object:
    if value is None and default.value is None:
        return None
    if isinstance(default.parameter, Names) and isinstance(value, str):  # papermill's -p has no lists
        value = [entry.strip() for entry in value.split(",")]
    if not default.parameter.allows(value):
        raise ExperimentError(refusal(f"parameter {name}", default.parameter, value))
    return value


@dataclass(frozen=True)
class Results:
    """The results of one item: a table with the cells' labels as columns, and where every number came from."""

    paper: str
    item: str
    title: str
    tier: str
    frame: pd.DataFrame
    """Columns: `cell` (store key), the labels of the cells, `fold`, `seed`, then what the kind of cell measures."""
    cells: tuple[Cell, ...]
    provenance: tuple[dict, ...]
    not_at_hand: tuple[str, ...] = ()
    """Data sets the item declares whose rows are missing because the data is not on this machine."""
    difference: dict[str, float] = field(default_factory=dict)
    """Under `fresh`: by column, the largest difference from what is stored."""

    @property
    def rounds(self) -> int | None:
        """The last round of any row, or None when the results have no rounds."""
        rounds = self.frame["round"].dropna() if "round" in self.frame else ()
        return int(max(rounds)) if len(rounds) else None


def _labels(cell: Cell, names: Mapping[str, str | float]) -> dict[str, str | float | int]:
    """The columns put before a cell's table in an item: the cell's key, its labels and its names in the item."""
    return {"cell": cell.key, **cell.labels(), **names}


def stored_results(paper: Paper, tier: str | None = None, items: Collection[str] | None = None) -> dict[str, Results]:
    """The stored results of a paper, by item; nothing is computed.

    Args:
        tier: the tier to read (None: for each item the largest tier that is stored whole and not empty).
    """
    wanted = [item for item in paper.items if items is None or item in items]
    defaults = {name: default.value for name, default in PARAMETERS.items()}
    found: dict[str, Results] = {}
    for each in [tier] if tier else reversed(TIERS):
        reader = Chapter(paper, defaults | {"tier": each}, Store.open(), never=True)
        for item in wanted:
            if item in found:
                continue
            with suppress(MissingRows):
                results = reader.results(item)
                if len(results.frame):
                    found[item] = results
    return {item: found[item] for item in wanted if item in found}


def options(chapter: "Chapter", tier: str) -> str:
    """The options by which a command means the same results as a chapter, each with a blank before it.

    Args:
        tier: the tier that the command takes if none is given.
    """
    from ol2r.data import is_own  # here, because it loads numba, which looking results up need not

    asked = chapter.datasets or ()
    named = [name for name in asked if not is_own(name)]
    values = {
        "tier": [] if chapter.tier == tier else [chapter.tier],
        "seeds": [] if chapter.seeds is None else [str(chapter.seeds)],
        "datasets": named,
        "data": ["PATH"] if len(asked) > len(named) else [],
    }
    return "".join(f" --{name} {shlex.join(told)}" for name, told in values.items() if told)


def command(chapter: "Chapter", item: str | None) -> str:
    """The shell command that computes an item (None: all) at the chapter's parameters."""
    chosen = options(chapter, chapter.tier)
    return f"ol2r run {chapter.name} --tier {chapter.tier}{f' --item {item}' if item else ''}{chosen}"


class Chapter:
    """One chapter with its checked parameters; `results` gives what its figures and tables are drawn from.

    Args:
        parameters: checked values by name; each is also an attribute of the chapter.
        never: whether results that are not stored are an error.
    """

    def __init__(self, paper: Paper, parameters: Mapping[str, Any], store: Store, never: bool = False):
        self.paper = paper
        self.name = paper.name
        self.parameters = dict(parameters)
        self.store = store
        self.never = never
        self._results: dict[str, Results] = {}
        self._at_hand = AtHand()
        self._read: dict[Job, Stored] = {}  # items of a paper share cells
        self._tables: dict[tuple, tuple[Sequence[Stored], pd.DataFrame]] = {}

    def __getattr__(self, name: str):
        try:
            return self.__dict__["parameters"][name]
        except KeyError:
            raise AttributeError(f"chapter has no parameter {name!r}") from None

    def results(self, item: str) -> Results:
        """The results of an item at the chapter's parameters, computed first where the store lacks them.

        Args:
            item: identifier of a figure or table, a key of the paper's ITEMS.

        Raises:
            MissingRows: rows are missing and OL2R_COMPUTE is "never", or computing them would take longer than
                `max_minutes`, or the store has some but not all rows of a cell whose data is not on this machine.
            ExperimentError: no such item.
        """
        one_of(item, self.paper.items, "item", self.name)
        if item not in self._results:
            self._results[item] = self._fetch(item)
        return self._results[item]

    def all_results(self, items: Iterable[str] | None = None) -> dict[str, Results]:
        """The results of several items, by item; all missing rows are computed in one run, or refused together.

        Args:
            items: which items (None: every item of the paper whose runs do not wait for a machine).

        Raises:
            MissingRows: as for `results`, with `max_minutes` for all items together.
            ExperimentError: no such item.
        """
        wanted = [one_of(item, self.paper.items, "item", self.name) for item in items or self.paper.shown]
        jobs = merged(job for item in wanted for job in self._declared(self.paper.items[item]))
        jobs = [job for job in jobs if not self._absent(job)]
        if self.fresh:
            self._allow(None, jobs)
        else:
            self._compute(None, jobs)
        return {item: self.results(item) for item in wanted}

    def _declared(self, item: Item) -> list[Job]:
        return item.jobs(self.tier, self.seeds, self.datasets)

    def _fetch(self, item: str) -> Results:
        declared = self.paper.items[item]
        jobs = self._declared(declared)
        absent = [self._absent(job) for job in jobs]
        left_out = [job.cell for job, out in zip(jobs, absent, strict=True) if out]
        jobs = [job for job, out in zip(jobs, absent, strict=True) if not out]
        difference: dict[str, float] = {}
        if self.fresh:
            frames, records = self._fresh(item, jobs)
            difference = self._difference(jobs, frames)
            frame = stacked(jobs, frames, declared.names)
        else:
            frame, records = self._stored(item, jobs)
        return Results(
            paper=self.name,
            item=item,
            title=declared.title,
            tier=self.tier,
            frame=frame,
            cells=tuple(job.cell for job in jobs),
            provenance=tuple(records),
            not_at_hand=tuple(dict.fromkeys(str(self._at_hand.missing(cell)) for cell in left_out)),
            difference=difference,
        )

    def _absent(self, job: Job) -> bool:
        """Whether the job's data is not at hand and its rows cannot be read: none is stored, or `fresh` is set."""
        data = self._at_hand.missing(job.cell)
        if data is None:
            return False
        missing = self._look_up(job).missing
        if self.fresh or len(missing) == len(job.rows):
            return True
        if missing:
            raise MissingRows(
                f"{len(missing)} of {len(job.rows)} rows of {job.cell.describe()} are not stored, "
                f"and {data} is not at hand"
            )
        return False

    def _look_up(self, job: Job) -> Stored:
        """What the store has of a job, read once however many items share it."""
        if job not in self._read:
            self._read[job] = self.store.read(job.cell, job.rows)
        return self._read[job]

    def _compute(self, item: str | None, jobs: Sequence[Job]) -> None:
        found = [self._look_up(job) for job in jobs]
        missing = [job for job, stored in zip(jobs, found, strict=True) if stored.missing]
        if missing:
            todo = lacking(missing, self.store)
            self._allow(item, todo)
            check_data(todo)
            run(todo, self.store, device=self.device, engine=self.engine)
            self._read |= {job: self.store.read(job.cell, job.rows) for job in missing}

    def _stored(self, item: str, jobs: Sequence[Job]) -> tuple[pd.DataFrame, list[dict]]:
        """The item's table, and the record of every file that it was read from."""
        self._compute(item, jobs)
        stored = [self._read[job] for job in jobs]
        records = [record for read in stored for record in read.provenance]
        names = self.paper.items[item].names
        same = tuple((id(read), *names(job.cell).items()) for read, job in zip(stored, jobs, strict=True))
        if same not in self._tables:  # made once for the items that show the same jobs under the same names
            self._tables[same] = stored, _joined(jobs, stored, names)  # `stored` keeps its ids from meaning others
        return self._tables[same][1], records

    def _fresh(self, item: str, jobs: Sequence[Job]) -> tuple[list[pd.DataFrame], list[dict]]:
        needs = lacking((need for job in jobs for need in job.cell.needs(job.rows)), self.store)
        self._allow(item, [*needs, *jobs])
        check_data([*needs, *jobs])
        run(needs, self.store, device=self.device, engine=self.engine)
        return in_memory(jobs, read_inputs(jobs, self.store), device=self.device, engine=self.engine)

    def _allow(self, item: str | None, todo: Sequence[Job]) -> None:
        """Say what is about to be computed and for how long; refuse if OL2R_COMPUTE or `max_minutes` forbids it."""
        n_rows = sum(len(job.rows) for job in todo)
        minutes = expected_seconds(todo, device=self.device) / 60
        where = " on the GPU" if self.device == "cuda" else ""
        what = f"{self.name} {item or 'as a whole'} ({self.tier}): "
        what += f"{n_rows} rows of {len(todo)} cells, about {minutes:.1f} minutes{where}"
        listed = _first([job.cell.describe() for job in todo])
        advised = command(self, item)
        if self.never:
            raise MissingRows(
                f"{what}, are not stored and OL2R_COMPUTE=never forbids computing them: {listed}. "
                f"Compute them with: {advised}"
            )
        print(f"{what} to compute: {listed}")
        if minutes > self.max_minutes:
            raise MissingRows(
                f"{what}, is more than max_minutes = {self.max_minutes:g}: raise it, ask for fewer seeds, or run "
                f"{advised}"
            )

    def _difference(self, jobs: Sequence[Job], frames: Sequence[pd.DataFrame]) -> dict[str, float]:
        largest: dict[str, float] = {}
        n_compared = 0
        for job, frame in zip(jobs, frames, strict=True):
            stored = self.store.read(job.cell, job.rows).frame
            if stored is None:
                continue
            n_compared += 1
            for column, value in largest_differences(stored, frame).items():
                largest[column] = max(value, largest.get(column, 0.0))
        told = ", ".join(f"{column} {value:.3g}" for column, value in largest.items())
        print(f"fresh: {len(jobs)} cells recomputed, {n_compared} of them stored; largest difference: {told or 'none'}")
        return largest

    def computed(self, item: str, title: str) -> Results:
        """Empty results (no data, cells or runs), from which a figure that uses no stored result makes its strip."""
        return Results(self.name, item, title, self.tier, stacked([], [], lambda cell: {}), (), ())


def _first(names: Sequence[str], n: int = 5) -> str:
    return "; ".join(names[:n]) + (f"; and {len(names) - n} more" if len(names) > n else "")


def stacked(
    jobs: Sequence[Job], frames: Sequence[pd.DataFrame], names: Callable[[Cell], Mapping[str, str | float]]
) -> pd.DataFrame:
    """Stack the tables of some jobs into one table whose first columns are the labels of each line's cell.

    Args:
        jobs: what was run; frames: the table of each job.
        names: gives the labels that an item adds to a cell's own.

    Raises:
        ValueError: a name is both a label of a cell and a column of its own table. A label that is a column of another
            cell's table is called `…_set`.
    """
    measured = _in_one_piece(pd.concat(frames, ignore_index=True)) if jobs else pd.DataFrame()
    columns = [tuple(map(str, frame)) for frame in frames]
    return _labelled(jobs, measured, [len(frame) for frame in frames], columns, names)


def _joined(
    jobs: Sequence[Job], stored: Sequence[Stored], names: Callable[[Cell], Mapping[str, str | float]]
) -> pd.DataFrame:
    """As `stacked`, of what the store has of the jobs."""
    tables = [read.tables for read in stored]
    measured = _in_one_piece(joined(tables)) if any(tables) else pd.DataFrame()
    columns = [list(dict.fromkeys(name for table in own for name in table.column_names)) for own in tables]
    return _labelled(jobs, measured, [sum(map(len, own)) for own in tables], columns, names)


def _labelled(
    jobs: Sequence[Job],
    measured: pd.DataFrame,
    sizes: Sequence[int],
    columns: Sequence[Sequence[str]],
    names: Callable[[Cell], Mapping[str, str | float]],
) -> pd.DataFrame:
    """As `stacked`, of tables that already stand one under another in `measured`: `sizes` says how many lines each
    job's has, `columns` how its columns are called."""
    if not jobs:
        types = {"cell": str, "dataset": str, "users": str, "learner": str, "fold": int, "seed": int}
        return pd.DataFrame({name: pd.Series(dtype=each) for name, each in types.items()})
    labels = [_labels(job.cell, names(job.cell)) for job in jobs]
    for job, own, each in zip(jobs, labels, columns, strict=True):
        if clash := own.keys() & set(each):
            raise ValueError(f"{job.cell.kind}: {min(clash)!r} is both a label and a column")
    # one learner's setting may be called what another one measures, as the passes of a refit are
    measures = set(measured)
    labels = [{f"{name}_set" if name in measures else name: value for name, value in own.items()} for own in labels]
    described = _repeated(pd.DataFrame(labels), sizes)
    order = dict.fromkeys(name for own, each in zip(labels, columns, strict=True) for name in (*own, *each))
    frame = pd.concat([described, measured], axis=1)[list(order)]
    for name in dict.fromkeys(name for own in labels for name, value in own.items() if value == ANY):
        frame = _for_each(frame, name)
    return frame


def _for_each(frame: pd.DataFrame, label: str) -> pd.DataFrame:
    """The table with each line whose label is `ANY` once for each value that other lines have, after these lines."""
    free = (frame[label] == ANY).to_numpy()
    values = frame.loc[~free, label].dropna().unique()
    if not len(values):
        return frame
    bound, lines = np.flatnonzero(~free), np.flatnonzero(free)
    whole = frame.iloc[np.concatenate([bound, np.tile(lines, len(values))])].reset_index(drop=True)
    whole.loc[len(bound) :, label] = np.repeat(values, len(lines))
    return whole


def _repeated(table: pd.DataFrame, times: Sequence[int]) -> pd.DataFrame:
    """A table with each line repeated the given number of times.

    Text is decoded from codes: to take it line by line takes several times as long, because its memory grows in steps.
    """
    lines = np.repeat(np.arange(len(table), dtype=np.int32), times)  # decoded twice as fast as int64

    def repeated(column: pd.Series) -> pd.Series:
        if not isinstance(column.dtype, pd.StringDtype):
            return column.iloc[lines].reset_index(drop=True)
        texts = pa.DictionaryArray.from_arrays(lines, pa.array(column))
        return pd.Series(texts.cast(pa.large_string()), dtype=column.dtype)

    return pd.DataFrame({name: repeated(column) for name, column in table.items()})


def _in_one_piece(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with its text in contiguous memory: text joined from many tables lies in many pieces, which would
    slow down every selection."""
    texts = frame.select_dtypes("str")
    return frame.assign(**{name: pd.Series(text.to_numpy(), dtype=text.dtype) for name, text in texts.items()})


def largest_differences(stored: pd.DataFrame, fresh: pd.DataFrame) -> dict[str, float]:
    """By column, the largest |stored − fresh| over the lines of rows that both tables have.

    NaN equals NaN, and different texts differ by ∞. Tables whose lines do not match one to one differ by ∞ in `fold`.
    """
    common = stored[["fold", "seed"]].drop_duplicates().merge(fresh[["fold", "seed"]].drop_duplicates())
    stored, fresh = (common.merge(frame, on=["fold", "seed"], how="left") for frame in (stored, fresh))
    if len(stored) != len(fresh) or list(stored.columns) != list(fresh.columns):
        return {"fold": np.inf}
    largest = {}
    for column in stored.columns[2:]:
        a, b = stored[column].to_numpy(), fresh[column].to_numpy()
        if pd.api.types.is_numeric_dtype(stored[column]):
            gap = np.abs(a.astype(float) - b.astype(float))
            gap[(a == b) | (pd.isna(a) & pd.isna(b))] = 0.0
            largest[column] = float(np.nan_to_num(gap, nan=np.inf).max(initial=0.0))
        else:
            largest[column] = 0.0 if (a == b).all() else np.inf
    return largest


def checked(paper: Paper, given: Mapping[str, object]) -> dict[str, Any]:
    """A chapter's parameters, given or default.

    Raises:
        ExperimentError: a parameter is unknown, misspelt, of the wrong type or out of range; a data set is not one of
            the paper's; this machine does not have the device.
        DataError: a file of the reader's own cannot be read as ranking data.
    """
    parameters = check_parameters(given, PARAMETERS)
    resolve_engine(parameters["engine"], check_device(parameters["device"]))
    named = names_of(parameters["datasets"] or (), paper.items.values(), parameters["tier"], paper.name)
    return parameters | {"datasets": named or None}
