"""Where results are kept: one parquet file for each cell and span of rows, with its provenance inside.

`results/` holds what the book shows and is only read, unless the store was opened to commit; everything else goes to a
scratch folder. So do the states from which long shards go on, one file for each, until their tables are stored; they
may hold parts of the data, and never go to `results/`. The store checks and keeps tables; it must not know how they are
computed or what their columns mean.
"""

import hashlib
import io
import itertools
import json
import os
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ol2r import saved
from ol2r.errors import ExperimentError, Failed
from ol2r.experiments.cells import Cell, Job, Kept, Row, key_of
from ol2r.experiments.provenance import checkout, circumstances, code_digest
from ol2r.saved import TEMPORARY, place

SEEDS_PER_BLOCK = 5
"""Seeds 0-4, 5-9, … of all folds asked for make a block; a whole block is one file."""

PER_DOCUMENT = frozenset({"document", "document_id", "query", "query_id"})

RECORDED = frozenset({"key", "cell", "rows", "device", "engine", "versions", "code"})
"""Fields that every provenance record must have, because the store and verification use them."""

_MARK = "ol2r-sha256:"
_ZEROS = "0" * 64

STALE = 3600.0
"""Seconds after which a temporary file counts as left behind by a killed run; writing a file takes seconds at most."""

_DAMAGED = ".damaged"
_KEY = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"folds(?P<folds>\d+(?:-\d+|(?:\.\d+)*))-seeds(?P<first>\d+)-(?P<last>\d+)\.parquet")
_STATE = re.compile(r"unfinished-[0-9a-f]{16}\.parquet")
_STATE_SCHEMA = pa.schema([("name", pa.string()), ("content", pa.large_binary())])
_CHUNK = 1 << 20  # bytes of a file that are in memory while its digest is computed


class StoreWarning(UserWarning):
    """A stored file is damaged, or two runs disagree."""


class StoreError(Failed):
    """A table cannot be stored."""


def spans(rows: Iterable[Row]) -> list[tuple[Row, ...]]:
    """Cut rows into spans, one for each file: consecutive seeds of one set of folds within one block."""
    folds_of: dict[int, list[int]] = {}
    for fold, seed in sorted(set(rows)):
        folds_of.setdefault(seed, []).append(fold)
    seeds = sorted(folds_of)
    # seed − position is constant along consecutive seeds
    runs = groupby(enumerate(seeds), lambda at: (at[1] // SEEDS_PER_BLOCK, at[1] - at[0], folds_of[at[1]]))
    return [_product(folds, [seed for _, seed in run]) for (_, _, folds), run in runs]


def _product(folds: Iterable[int], seeds: Sequence[int]) -> tuple[Row, ...]:
    return tuple(Row(fold, seed) for fold in folds for seed in seeds)


def file_name(span: Sequence[Row]) -> str:
    """The file name that states the rows of a span, such as folds1-5-seeds0-4.parquet."""
    folds = sorted({row.fold for row in span})
    seeds = sorted({row.seed for row in span})
    if sorted(span) != list(_product(folds, range(seeds[0], seeds[-1] + 1))):
        raise ValueError("a file holds all given folds of consecutive seeds")
    consecutive = len(folds) > 1 and folds == list(range(folds[0], folds[-1] + 1))
    listed = f"{folds[0]}-{folds[-1]}" if consecutive else ".".join(map(str, folds))
    return f"folds{listed}-seeds{seeds[0]}-{seeds[-1]}.parquet"


@cache
def rows_of(name: str) -> tuple[Row, ...] | None:
    """The rows that a file name states, or None when it is not the name of a result."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    first, dash, last = match["folds"].partition("-")
    folds = range(int(first), int(last) + 1) if dash else map(int, first.split("."))
    return _product(folds, range(int(match["first"]), int(match["last"]) + 1))


@dataclass(frozen=True)
class Stored:
    """What the store has of some rows of a cell: a table and a record of provenance for each file, the missing rows."""

    tables: tuple[pa.Table, ...]
    """The tables of the files, only their lines of the rows asked for."""
    provenance: list[dict]
    missing: tuple[Row, ...]

    @cached_property
    def frame(self) -> pd.DataFrame | None:
        """All lines, sorted by fold and seed; None where nothing is stored."""
        return joined([self.tables]) if self.tables else None


def joined(cells: Sequence[Sequence[pa.Table]]) -> pd.DataFrame:
    """The tables of some cells in one, cell after cell and each sorted by fold and seed; lines of one row keep their
    order, and a column that a table lacks is empty there.

    Tables with the same columns are put together before they become pandas', which takes as long for a table of two
    lines as for one of thousands.
    """
    alike: dict[pa.Schema, list[tuple[int, pa.Table]]] = {}
    for cell, tables in enumerate(cells):
        for table in tables:
            alike.setdefault(table.schema, []).append((cell, table))
    frames = [pa.concat_tables(table for _, table in own).to_pandas(use_threads=False) for own in alike.values()]
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    together = [each for own in alike.values() for each in own]
    number = np.repeat([cell for cell, _ in together], [len(table) for _, table in together])
    codes = _codes(frame)
    if ((number[1:] > number[:-1]) | (number[1:] == number[:-1]) & (codes[1:] >= codes[:-1])).all():
        return frame
    return frame.iloc[np.lexsort((codes, number))].reset_index(drop=True)


def _codes(table: pd.DataFrame | pa.Table) -> np.ndarray:
    """One int64 for each line: fold · 2³² + seed."""
    fold, seed = (table[name].to_numpy() for name in ("fold", "seed"))
    return (fold.astype(np.int64) << 32) + seed.astype(np.int64)


def rows_in(table: pd.DataFrame | pa.Table) -> set[Row]:
    """The rows (fold, seed) of which a table has lines."""
    return {Row(int(code >> 32), int(code & 0xFFFFFFFF)) for code in np.unique(_codes(table))}


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The table sorted by fold and seed; lines of one row keep their order."""
    codes = _codes(frame)
    if (codes[1:] >= codes[:-1]).all():
        return frame.reset_index(drop=True)
    return frame.iloc[np.argsort(codes, kind="stable")].reset_index(drop=True)


def _lines_of(table: pd.DataFrame | pa.Table, rows: Iterable[Row]) -> np.ndarray:
    """Which of the table's lines belong to some rows: Bool[lines]."""
    return np.isin(_codes(table), [(row.fold << 32) + row.seed for row in rows])


def select(frame: pd.DataFrame, rows: Iterable[Row]) -> pd.DataFrame:
    """The table's lines of some rows, sorted by fold and seed."""
    wanted = _lines_of(frame, rows)
    return in_order(frame if wanted.all() else frame.iloc[np.flatnonzero(wanted)])


def check_table(cell: Cell, rows: Sequence[Row], frame: pd.DataFrame) -> None:
    """Refuse a table that is not the result of these rows, or that shows single documents of restricted data.

    Raises:
        StoreError: the table is refused; the message names the cell and the error.
    """

    def refuse(reason: str):
        raise StoreError(f"table of {cell.describe()} refused: {reason}")

    if list(frame.columns[:2]) != ["fold", "seed"] or any(dtype.kind != "i" for dtype in list(frame.dtypes)[:2]):
        refuse("its first columns are not the integers fold and seed")
    found = rows_in(frame)
    if found != set(rows):
        wrong = sorted(found ^ set(rows))[0]
        refuse(f"row {tuple(wrong)} is {'not asked for' if wrong in found else 'not there'}")
    told = PER_DOCUMENT & set(frame.columns)
    if cell.restricted and told:
        refuse(f"the licence of its data allows no values of single documents or queries (column {min(told)})")


def encode(frame: pd.DataFrame, provenance: dict) -> bytes:
    """A table with its provenance as the bytes of a parquet file; equal arguments give equal bytes.

    The file's footer holds the provenance record and the SHA-256 of the whole file, computed with zeros in the place of
    the digest.
    """
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
    record = json.dumps(provenance, sort_keys=True, separators=(",", ":"))
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"ol2r": record, "digest": _MARK + _ZEROS})
    content = sink.getvalue()
    if _digests(content) != [_ZEROS.encode()]:
        raise ValueError("the table or its provenance holds what marks a digest")
    return content.replace((_MARK + _ZEROS).encode(), (_MARK + hashlib.sha256(content).hexdigest()).encode())


def _digests(content: bytes) -> list[bytes]:
    return re.findall(_MARK.encode() + rb"([0-9a-f]{64})", content)


def _check_digest(content: bytes) -> None:
    """Check the digest of a file's bytes before they are parsed."""
    digests = _digests(content)
    if len(digests) != 1:
        raise ValueError("it has no digest")
    zeroed = content.replace(_MARK.encode() + digests[0], (_MARK + _ZEROS).encode())
    if hashlib.sha256(zeroed).hexdigest().encode() != digests[0]:
        raise ValueError("its digest is not that of its content")


def read_file(path: Path) -> tuple[pd.DataFrame, dict]:
    """The table and the provenance record of a stored file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged; the message says how.
    """
    table, record = _decode(path, path)
    return table.to_pandas(use_threads=False), record


def read_record(path: Path) -> dict:
    """The provenance record of a stored file; its digest is checked, its table is not read.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged; the message says how.
    """
    with _opened(path) as (_, record):
        return record


@contextmanager
def _opened(path: Path) -> Iterator[tuple[pq.ParquetFile, dict]]:
    """A stored file whose digest is checked, and its record; every error on damaged bytes is a ValueError."""
    with _damage_told():
        content = path.read_bytes()
        _check_digest(content)
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            yield file, json.loads(file.metadata.metadata[b"ol2r"])


@contextmanager
def _damage_told() -> Iterator[None]:
    """Turn every error that a parquet reader raises on damaged bytes into a ValueError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from error


def _decode(place: Path, path: Path) -> tuple[pa.Table, dict]:
    """As `read_file`, for a file that lies at `place` and should lie at `path`, as a table without metadata."""
    with _opened(place) as (file, record):
        table = file.read(use_threads=False).replace_schema_metadata()
        if record["key"] != path.parent.name or record["key"] != key_of(record["cell"]):
            raise ValueError("it holds another cell than its name says")
        rows = rows_of(path.name)
        if rows is None or [list(row) for row in rows] != sorted(record["rows"]):
            raise ValueError("it holds other rows than its name says")
        if rows_in(table) != set(rows):
            raise ValueError("its table lacks rows that its name promises")
        lacking = RECORDED - set(record)
        if lacking:
            raise ValueError(f"its provenance lacks {min(lacking)}")
    return table, record


def _state_name(jobs: Sequence) -> str:
    """The file name of the state of jobs, given as [key, rows] each."""
    return f"unfinished-{hashlib.sha256(json.dumps(jobs).encode()).hexdigest()[:16]}.parquet"


def _write_state(file: BinaryIO, kept: Kept, record: dict) -> None:
    """Write a state with its record as a parquet file, with a line for the table and one for each array.

    A state is much of what a shard has in memory, so each line is a row group of its own, and no more than one is in
    memory a second time.
    """
    with pq.ParquetWriter(
        file, _STATE_SCHEMA, compression="zstd", use_dictionary=False, write_statistics=False
    ) as writer:
        for name, save in {
            "recorded": lambda part: kept.recorded.to_parquet(part, index=False),
            **{f"state.{name}": partial(np.save, arr=each, allow_pickle=False) for name, each in kept.state.items()},
        }.items():
            part = io.BytesIO()
            save(part)
            writer.write_table(pa.table([[name], [part.getvalue()]], schema=_STATE_SCHEMA))
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        writer.add_key_value_metadata({"ol2r": text, "digest": _MARK + _ZEROS})
    place, _ = _digest_in_footer(file)
    digest = _digest(file, place)
    file.seek(place)
    file.write(digest)


def _decode_state(place: Path, path: Path) -> tuple[Kept, dict]:
    """What is kept of a shard in a file that lies at `place` and should lie at `path`, and its record."""
    with _damage_told(), place.open("rb") as file:
        stands, digest = _digest_in_footer(file)
        if _digest(file, stands) != digest:
            raise ValueError("its digest is not that of its content")
        with pq.ParquetFile(file) as parts:
            record = json.loads(parts.metadata.metadata[b"ol2r"])
            _check_state(record, path)
            state, recorded = {}, pd.DataFrame()
            for group in range(parts.num_row_groups):
                for line in parts.read_row_group(group, use_threads=False).to_pylist():
                    name, part = line["name"], io.BytesIO(line["content"])
                    if name == "recorded":
                        recorded = pd.read_parquet(part)
                    else:
                        state[name.removeprefix("state.")] = np.load(part, allow_pickle=False)
    return Kept(state, recorded), record


def _digest_in_footer(file: BinaryIO) -> tuple[int, bytes]:
    """Where in an open parquet file its digest stands, and the digest.

    Raises:
        ValueError: its footer has none, or several.
    """
    end = file.seek(-8, os.SEEK_END)
    footer = file.seek(end - int.from_bytes(file.read(4), "little"))
    found = list(re.finditer(_MARK.encode() + rb"([0-9a-f]{64})", file.read(end - footer)))
    if len(found) != 1:
        raise ValueError("it has no digest")
    return footer + found[0].start(1), found[0][1]


def _digest(file: BinaryIO, place: int) -> bytes:
    """SHA-256 of an open file with zeros in the place of its digest, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    file.seek(0)
    for start in itertools.count(0, _CHUNK):
        part = bytearray(file.read(_CHUNK))
        if not part:
            return digest.hexdigest().encode()
        low, high = (min(max(at - start, 0), len(part)) for at in (place, place + len(_ZEROS)))
        part[low:high] = _ZEROS.encode()[: high - low]
        digest.update(part)
    raise AssertionError("a file ends")


def _state_record(path: Path) -> dict:
    """The record of a state, without a look at the rest of its file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged; the message says how.
    """
    with _damage_told():
        record = json.loads(pq.read_metadata(path).metadata[b"ol2r"])
        _check_state(record, path)
    return record


def _check_state(record: dict, path: Path) -> None:
    if (record["key"], _state_name(record["jobs"])) != (path.parent.name, path.name):
        raise ValueError("it holds the state of other jobs than its name says")


class Store:
    """Results on disk: `published` is searched first, then `scratch`; new tables go to `scratch`.

    Args:
        published: the folder of the results the book shows, or None.
        scratch: the folder for everything computed here, and for the states of shards that are not finished.
        commit: look only at `published` and write there.
    """

    def __init__(self, published: Path | None, scratch: Path, *, commit: bool = False):
        self.published = published
        self.scratch = scratch
        self.commit = commit
        if commit:
            self.results()

    def results(self) -> Path:
        """The published folder.

        Raises:
            ExperimentError: there is none.
        """
        if self.published is None:
            raise ExperimentError("no results/ folder found: run inside the repository or set OL2R_RESULTS")
        return self.published

    @classmethod
    def open(cls, *, commit: bool = False) -> "Store":
        """The store of this checkout: OL2R_RESULTS or its results/, and OL2R_STORE or its .ol2r/."""
        home = checkout()
        results = os.environ.get("OL2R_RESULTS") or (home and home / "results")
        scratch = os.environ.get("OL2R_STORE") or (home or Path.cwd()) / ".ol2r"
        return cls(Path(results) if results else None, Path(scratch), commit=commit)

    @property
    def _written(self) -> Path:
        return self.published if self.commit and self.published else self.scratch

    @property
    def _searched(self) -> list[Path]:
        if self.commit:
            return [self._written]
        return [folder for folder in (self.published, self.scratch) if folder is not None]

    def files(self, cell: Cell) -> Iterator[tuple[Path, tuple[Row, ...]]]:
        """The files of a cell, published ones first, with the rows that their names state; no file is opened."""
        return self._files(cell.key)

    def _files(self, key: str) -> Iterator[tuple[Path, tuple[Row, ...]]]:
        for folder in self._searched:
            for name in _names(folder / key):
                if (rows := rows_of(name)) is not None:
                    yield folder / key / name, rows

    def keys(self) -> set[str]:
        """The keys of all cells that have a folder, be it an empty one; a cell without one has no file at all."""
        return {key for folder in {*self._searched, self.scratch} for key in _names(folder)}

    def listed(self, cell: Cell) -> set[Row]:
        """The rows that the names of the cell's files state; only `read` checks that the files hold them."""
        return self._listed(cell.key)

    def _listed(self, key: str) -> set[Row]:
        return {row for _, rows in self._files(key) for row in rows}

    def read(self, cell: Cell, rows: Sequence[Row]) -> Stored:
        """Read what is stored of these rows; a damaged file counts as missing, with a `StoreWarning`."""
        wanted = set(rows)
        tables, records = [], []
        for path, held in self.files(cell):
            here = wanted & set(held)
            if not here:
                continue
            try:
                table, record = _decode(path, path)
            except FileNotFoundError:
                continue  # another process has set it aside
            except ValueError as damage:
                self._set_aside(path, damage)
                continue
            if len(here) < len(held):
                table = table.filter(pa.array(_lines_of(table, here)))
            tables.append(table)
            records.append(record)
            wanted -= here
        return Stored(tuple(tables), records, tuple(sorted(wanted)))

    def missing(self, cell: Cell, rows: Sequence[Row]) -> tuple[Row, ...]:
        """The rows that the store lacks or of which it has only damaged files."""
        return self.read(cell, rows).missing

    def _set_aside(self, path: Path, damage: ValueError) -> None:
        if path.is_relative_to(self._written):
            aside = _moved_aside(path)
            if aside is None:
                return  # another process was first
            advice = f"set aside as {aside.name}"
        else:
            advice = "left in place; its rows are recomputed into the scratch store"
        warnings.warn(f"damaged result {path}: {damage}; {advice}", StoreWarning, stacklevel=4)

    def write(self, cell: Cell, rows: Sequence[Row], frame: pd.DataFrame, provenance: dict) -> Path:
        """Store a table under its cell and rows; a table that is already stored is never replaced.

        Args:
            frame: the table, `fold` and `seed` first.
            provenance: the record that `provenance.provenance` makes.

        Raises:
            StoreError: the table is refused (`check_table`), or it cannot be written.
        """
        check_table(cell, rows, frame)
        path = self._written / cell.key / file_name(rows)
        frame = frame.reset_index(drop=True)
        content = encode(frame, provenance)
        while not publish(path, lambda file: file.write(content)):
            try:
                first, _ = read_file(path)
            except FileNotFoundError:
                continue  # another process has set it aside
            except ValueError as damage:
                self._set_aside(path, damage)
                continue
            if not _same(first, frame):
                message = f"another run stored {path} first, with other values; the first is kept, this one is dropped"
                warnings.warn(message, StoreWarning, stacklevel=3)
            break
        return path

    def promote(self, job: Job) -> None:
        """Copy scratch files into results/ if exactly the present code made them and they hold wanted rows only."""
        source = Store(None, self.scratch)
        for path, held in source.files(job.cell):
            if not set(held) <= set(self.missing(job.cell, job.rows)):
                continue
            try:
                frame, record = read_file(path)
            except FileNotFoundError:
                continue
            except ValueError as damage:
                source._set_aside(path, damage)
                continue
            if record["code"] == code_digest(job.cell.code):
                self.write(job.cell, held, frame, record)

    def keep(self, jobs: Sequence[Job], kept: Kept, record: dict) -> None:
        """Keep the state of jobs that run side by side, in the place of what was kept of them before.

        Args:
            kept: their state; record: plain values that `kept` returns with it, `circumstances` among them.

        Raises:
            StoreError: it cannot be written.
        """
        path, named = self._state(jobs)
        first = jobs[0].cell
        record = record | {"key": first.key, "cell": first.declaration, "jobs": named}
        publish(path, lambda file: _write_state(file, kept, record), replace=True)

    def kept(self, jobs: Sequence[Job], needed: dict) -> tuple[Kept, dict] | None:
        """What was last kept of these jobs, with its record, or None; a damaged file is set aside with a warning.

        Args:
            jobs: the jobs, in the order in which they were given to `keep`.
            needed: the `circumstances` in which they run now; a state from others does not count.
        """
        path, _ = self._state(jobs)
        try:
            kept, record = _decode_state(path, path)
        except FileNotFoundError:
            return None
        except ValueError as damage:
            self._set_state_aside(path, damage)
            return None
        return (kept, record) if needed.items() <= record.items() else None

    def drop(self, jobs: Sequence[Job]) -> None:
        """Delete what is kept of these jobs."""
        self._state(jobs)[0].unlink(missing_ok=True)

    def unfinished(self, jobs: Iterable[Job], device: str, engine: str) -> list[tuple[Job, ...]]:
        """The parts of these jobs whose state is kept and that can go on from it on this device with this engine.

        A part has the jobs that ran side by side, and no row is in two parts.
        """
        jobs = list(jobs)
        cells = {job.cell.key: job.cell for job in jobs}
        rest = {job.cell.key: set(job.rows) for job in jobs}
        parts = []
        for key, cell in cells.items():
            for path in self._states(key):
                try:
                    record = _state_record(path)
                except FileNotFoundError:
                    continue  # another process has finished the shard
                except ValueError as damage:
                    self._set_state_aside(path, damage)
                    continue
                if not circumstances(cell, device, engine).items() <= record.items():
                    continue
                held = [(name, tuple(Row(*row) for row in rows)) for name, rows in record["jobs"]]
                if all(rest.get(name, set()).issuperset(rows) for name, rows in held):
                    parts.append(tuple(Job(cells[name], rows) for name, rows in held))
                    for name, rows in held:
                        rest[name].difference_update(rows)
        return parts

    def forget(self, jobs: Iterable[Job]) -> None:
        """Delete states in the folders of these jobs' cells that are of no more use, because their rows are stored."""
        for key in {job.cell.key for job in jobs}:
            for path in self._states(key):
                if self._spent(path):
                    path.unlink(missing_ok=True)

    def n_unfinished(self, cell: Cell) -> int:
        """The number of states in the cell's folder; a state of several cells is in the folder of the first."""
        return len(self._states(cell.key))

    def _state(self, jobs: Sequence[Job]) -> tuple[Path, list]:
        """The file for the state of these jobs, and how its record names them."""
        named = [[job.cell.key, [list(row) for row in job.rows]] for job in jobs]
        return self.scratch / jobs[0].cell.key / _state_name(named), named

    def _states(self, key: str) -> list[Path]:
        return [self.scratch / key / name for name in _names(self.scratch / key) if _STATE.fullmatch(name)]

    def _set_state_aside(self, path: Path, damage: ValueError) -> None:
        aside = _moved_aside(path, _decode_state)
        if aside is not None:
            message = f"damaged state {path}: {damage}; set aside as {aside.name}, its shard begins anew"
            warnings.warn(message, StoreWarning, stacklevel=3)

    def _spent(self, path: Path) -> bool:
        """Whether a state is of no more use: a row of it is stored, or its file is damaged."""
        try:
            record = _state_record(path)
        except FileNotFoundError:
            return False
        except ValueError:
            return True
        return any(self._listed(key).intersection(Row(*row) for row in rows) for key, rows in record["jobs"])

    def prunable(self, declared: set[str], *, published: bool = False) -> list[Path]:
        """The files that can be deleted: undeclared or damaged results, and what killed runs left behind.

        Of killed runs these are temporary files, and states of cells that are not declared or of rows that are stored.

        Only files that the store itself may have written are listed; anything else in its folder is not the store's.
        """
        folder = self.published if published else self.scratch
        inside = [folder / key / name for key in _names(folder) for name in _names(folder / key)] if folder else []
        files = [path for path in inside if path.is_file()]
        stale = time.time() - STALE

        def ours(path: Path) -> bool:
            if not _KEY.fullmatch(path.parent.name):
                return False
            if rows_of(path.name) is not None:
                return path.parent.name not in declared
            if _STATE.fullmatch(path.name):
                return path.parent.name not in declared or self._spent(path)
            if path.name.startswith(TEMPORARY):
                try:
                    return path.stat().st_mtime < stale
                except FileNotFoundError:
                    return False  # it has just been written and renamed
            name, damaged, _ = path.name.partition(_DAMAGED)
            decode = _decode_state if _STATE.fullmatch(name) else _decode if rows_of(name) is not None else None
            return bool(damaged) and decode is not None and not _is_intact(path, path.with_name(name), decode)

        return [path for path in files if ours(path)]

    def check_writable(self) -> None:
        """Check, before anything is computed, that files can be written to the store's folder.

        Raises:
            StoreError: they cannot; the message names the folder and the error.
        """
        folder = self._written
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise StoreError(f"nothing can be stored in {folder}: {error.strerror or error}") from error


def _same(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    try:
        pd.testing.assert_frame_equal(first, second, check_exact=True, check_dtype=False)
    except AssertionError:
        return False
    return True


def _names(folder: Path) -> list[str]:
    """The names in a folder, sorted; none where there is no such folder."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - ten times as fast
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_intact(aside: Path, path: Path, decode: Callable[[Path, Path], object]) -> bool:
    """Whether a file that was moved aside is whole or gone: another process is about to put it back, or has done so."""
    try:
        decode(aside, path)
    except FileNotFoundError:
        return True
    except ValueError:
        return False
    return True


def _moved_aside(path: Path, decode: Callable[[Path, Path], object] = _decode) -> Path | None:
    """Move a damaged file aside; returns its new path, or None when another process has moved or replaced it."""
    numbers = itertools.chain([""], map("-{}".format, itertools.count(2)))
    aside = next(a for number in numbers if not (a := path.with_name(path.name + _DAMAGED + number)).exists())
    try:
        path.rename(aside)
        decode(aside, path)
    except FileNotFoundError:
        return None
    except ValueError:
        return aside
    with suppress(FileExistsError):  # another process has stored an intact file here meanwhile: put it back
        place(aside, path)
    aside.unlink(missing_ok=True)
    return None


def publish(path: Path, write: Callable[[BinaryIO], object], *, replace: bool = False) -> bool:
    """Put a file in place whole or not at all; returns False when there is one already that it may not replace.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        saved.publish(path, write, replace=replace)
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreError(
            f"cannot store {path}: {error.strerror or error}; all that was stored before is intact"
        ) from error
    return True
