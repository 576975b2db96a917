"""Where results are kept: those that the book shows in `results/` (`publication`), all others in a scratch folder.

Scratch has one parquet file for each cell and block of rows, with its provenance inside, and the states from which long
shards go on, one file for each, until their tables are stored; states may hold parts of the data, and are never
published. The store checks and keeps tables; it must not know how they are computed or what their columns mean.
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
from functools import cached_property, partial
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ol2r import saved
from ol2r.errors import ExperimentError
from ol2r.experiments.blocks import (
    Block,
    StoreError,
    StoreWarning,
    check_table,
    file_name,
    joined,
    lines_of,
    rows_in,
    rows_of,
)
from ol2r.experiments.cells import Cell, Job, Kept, Row, key_of
from ol2r.experiments.provenance import checkout, circumstances
from ol2r.experiments.publication import Publication, Published
from ol2r.saved import TEMPORARY, place

RECORDED = frozenset({"key", "cell", "rows", "device", "engine", "versions", "code"})
"""Fields that every provenance record must have, because the store and verification use them."""

_MARK = "ol2r-sha256:"
_ZEROS = "0" * 64

STALE = 3600.0
"""Seconds after which a temporary file counts as left behind by a killed run; writing a file takes seconds at most."""

_DAMAGED = ".damaged"
_KEY = re.compile(r"[0-9a-f]{64}")
_STATE = re.compile(r"unfinished-[0-9a-f]{16}\.parquet")
_STATE_SCHEMA = pa.schema([("name", pa.string()), ("content", pa.large_binary())])
_CHUNK = 1 << 20  # bytes of a file that are in memory while its digest is computed


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


@dataclass(frozen=True)
class _InFile(Block):
    """A block in a file of the scratch folder."""

    path: Path

    @property
    def rows(self) -> tuple[Row, ...]:
        return rows_of(self.path.name) or ()

    @property
    def key(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return f"{self.key[:12]}/{self.path.name}"

    def content(self) -> tuple[pa.Table, dict]:
        return _decode(self.path, self.path)


class Store:
    """Results on disk: the published ones are searched first, then `scratch`, which alone is written to.

    Args:
        published: the folder of the results the book shows, or None.
        scratch: the folder for everything computed here, and for the states of shards that are not finished.
    """

    def __init__(self, published: Path | None, scratch: Path):
        self.published = published
        self.scratch = scratch
        self.publication = None if published is None else Publication(published)

    def results(self) -> Path:
        """The published folder.

        Raises:
            ExperimentError: there is none.
        """
        if self.published is None:
            raise ExperimentError("no results/ folder found: run inside the repository or set OL2R_RESULTS")
        return self.published

    @classmethod
    def open(cls) -> "Store":
        """The store of this checkout: OL2R_RESULTS or its results/, and OL2R_STORE or its .ol2r/."""
        home = checkout()
        results = os.environ.get("OL2R_RESULTS") or (home and home / "results")
        scratch = os.environ.get("OL2R_STORE") or (home or Path.cwd()) / ".ol2r"
        return cls(Path(results) if results else None, Path(scratch))

    def blocks(self, cell: Cell) -> Iterator[Block]:
        """The blocks of a cell, published ones first; no table is read."""
        return self._blocks(cell.key)

    def _blocks(self, key: str) -> Iterator[Block]:
        if self.publication is not None:
            yield from self.publication.blocks(key)
        yield from self.scratch_blocks(key)

    def scratch_blocks(self, key: str) -> Iterator[Block]:
        """The blocks of a cell in the scratch folder."""
        for name in _names(self.scratch / key):
            if rows_of(name) is not None:
                yield _InFile(self.scratch / key / name)

    def scratch_keys(self) -> set[str]:
        """The keys of all cells that have a folder in the scratch folder, be it an empty one."""
        return set(_names(self.scratch))

    def keys(self) -> set[str]:
        """The keys of all cells of which something may be stored."""
        return self.scratch_keys() | (set() if self.publication is None else self.publication.keys())

    def listed(self, cell: Cell) -> set[Row]:
        """The rows that the cell's blocks are said to have; only `read` checks that they have them."""
        return self._listed(cell.key)

    def _listed(self, key: str) -> set[Row]:
        return {row for block in self._blocks(key) for row in block.rows}

    def read(self, cell: Cell, rows: Sequence[Row]) -> Stored:
        """Read what is stored of these rows; a damaged file counts as missing, with a `StoreWarning`."""
        wanted = set(rows)
        tables, records = [], []
        for block in self.blocks(cell):
            here = wanted.intersection(block.rows)
            if not here:
                continue
            try:
                table, record = block.content()
            except FileNotFoundError:
                continue  # another process has set it aside, or dropped it
            except ValueError as damage:
                self._tell(block, damage)
                continue
            if len(here) < len(block.rows):
                table = table.filter(pa.array(lines_of(table, here)))
            tables.append(table)
            records.append(record)
            wanted -= here
        return Stored(tuple(tables), records, tuple(sorted(wanted)))

    def missing(self, cell: Cell, rows: Sequence[Row]) -> tuple[Row, ...]:
        """The rows that the store lacks or of which it has only damaged files."""
        return self.read(cell, rows).missing

    def _tell(self, block: Block, damage: ValueError) -> None:
        if isinstance(block, _InFile):
            self._set_aside(block.path, damage)
        elif isinstance(block, Published):
            advice = "left in place; its rows are recomputed into the scratch store"
            warnings.warn(f"damaged result {block.file}: {damage}; {advice}", StoreWarning, stacklevel=4)

    def _set_aside(self, path: Path, damage: ValueError) -> None:
        aside = _moved_aside(path)
        if aside is not None:  # else another process was first
            message = f"damaged result {path}: {damage}; set aside as {aside.name}"
            warnings.warn(message, StoreWarning, stacklevel=4)

    def write(self, cell: Cell, rows: Sequence[Row], frame: pd.DataFrame, provenance: dict) -> Path:
        """Store a table under its cell and rows; a table that is already stored is never replaced.

        Args:
            frame: the table, `fold` and `seed` first.
            provenance: the record that `provenance.provenance` makes.

        Raises:
            StoreError: the table is refused (`check_table`), or it cannot be written.
        """
        check_table(cell, rows, frame)
        path = self.scratch / cell.key / file_name(rows)
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

    def prunable(self, declared: set[str]) -> list[Path]:
        """The scratch files that can be deleted: undeclared or damaged results, and what killed runs left behind.

        Of killed runs these are temporary files, and states of cells that are not declared or of rows that are stored.

        Only files that the store itself may have written are listed; anything else in its folder is not the store's.
        """
        folder = self.scratch
        inside = [folder / key / name for key in _names(folder) for name in _names(folder / key)]
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
        folder = self.scratch
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
