"""The published results: a few tables with names that a person knows, and one line of provenance for each block.

    KIND/DATA SET/LEARNER.parquet    blocks of many cells; the column `cell` has the key, `shown_in` the items
    records.parquet                  where each block is, its digest and its provenance
    SHA256SUMS                       of all files

A file holds block after block, sorted by cell; columns that a block does not have are empty in its lines. `publish`
alone writes here. It puts new files beside the old ones, then a journal (the new SHA256SUMS under another name) in
place: from that moment the journal counts, whatever happens, and whoever publishes next finishes what it began. This
module must not know how tables are computed.
"""

import hashlib
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ol2r import saved
from ol2r.experiments.blocks import (
    Block,
    StoreError,
    StoreWarning,
    check_table,
    file_name,
    lines_of,
    rows_in,
    rows_of,
    spans,
)
from ol2r.experiments.cells import Cell, Job, Row, key_of
from ol2r.experiments.origins import awaits
from ol2r.experiments.provenance import code_digest, origin

if TYPE_CHECKING:
    from ol2r.experiments.store import Store

RECORDS = "records.parquet"
SUMS = "SHA256SUMS"
JOURNAL = "SHA256SUMS.next"

TUNING = "tuning"
"""The folder of what was run for tuning alone, one file for each data set: nobody browses it."""

CUT = {TUNING: ("dataset",), "simulate": ("dataset", "learner"), "play": ("dataset", "learner")}
"""The labels by which the cells of a kind are cut into files; any other kind has one file."""

LINES = 16_384
"""Of a row group: so many lines are read, or skipped, at once by a reader who looks for one cell."""

_TABLE = pa.schema(
    [(name, pa.string()) for name in ("file", "cell", "shown_in", "kind", "dataset", "users", "learner", "rows")]
    + [("start", pa.int64()), ("lines", pa.int64())]
    + [(name, pa.string()) for name in ("digest", "labels", "columns", "record")]
)
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
_END = ".parquet"


class Line(NamedTuple):
    """What `records.parquet` tells of a block."""

    file: str
    cell: str
    shown_in: str
    """The items that show its cell, such as "comparison/quality olranknet/fig-4"; empty where others only need it."""
    kind: str
    dataset: str | None
    users: str | None
    learner: str | None
    rows: str
    """As in the name of a scratch file, such as folds1-5-seeds0-4."""
    start: int
    """Of its lines in the file."""
    lines: int
    digest: str
    """SHA-256 of its table's columns, types and values (`digest_of`)."""
    labels: str
    """All labels of its cell, as JSON."""
    columns: str
    """Name and type of the columns of its table, as JSON."""
    record: str
    """Its provenance, as JSON."""


@dataclass(frozen=True)
class Published(Block):
    """A block in a file of the published folder."""

    line: Line
    state: "Snapshot" = field(repr=False, compare=False)

    @property
    def key(self) -> str:
        return self.line.cell

    @property
    def rows(self) -> tuple[Row, ...]:
        return rows_of(self.line.rows + _END) or ()

    @property
    def file(self) -> Path:
        """The file that holds it."""
        return self.state.folder / self.line.file

    @property
    def name(self) -> str:
        return f"{self.line.file} {self.key[:12]} {self.line.rows}"

    @property
    def record(self) -> dict:
        """Its provenance record."""
        return json.loads(self.line.record)

    def content(self) -> tuple[pa.Table, dict]:
        return self.table(), self.record

    def table(self) -> pa.Table:
        """Its table; the digest of the file was checked when it was read."""
        try:
            return self._cut(self.state.table(self.line.file))
        except ValueError:
            state = _state(self.state.folder)
            if state is self.state:
                raise
            for block in state.blocks.get(self.key, ()):  # another process has published meanwhile
                if block.line.rows == self.line.rows:
                    return block.table()
            raise FileNotFoundError(self.name) from None

    def _cut(self, whole: pa.Table) -> pa.Table:
        types = _columns(self.line.columns)
        table = whole.slice(self.line.start, self.line.lines).select(list(types))
        if len(table) != self.line.lines:
            raise ValueError(f"it ends before line {self.line.start + self.line.lines}")
        for place, (name, kind) in enumerate(types.items()):
            if kind == "null":  # blocks beside it may have values in this column
                table = table.set_column(place, name, pa.nulls(len(table)))
        return table


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The published folder at one moment."""

    folder: Path
    sums: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each file, by name."""
    lines: Sequence[Line] = ()
    damage: str = ""
    """What is wrong with `records.parquet` or `SHA256SUMS`, in which case there are no lines."""

    @cached_property
    def blocks(self) -> dict[str, list[Published]]:
        """By key."""
        found: dict[str, list[Published]] = {}
        for line in self.lines:
            found.setdefault(line.cell, []).append(Published(line, self))
        return found

    @cached_property
    def of_file(self) -> dict[str, list[Line]]:
        """Lines by file, in order."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.file, []).append(line)
        return found

    def content(self, name: str) -> bytes:
        """The bytes of a file.

        Raises:
            ValueError: they are not those whose digest is in SHA256SUMS.
        """
        digest = self.sums.get(name)
        if digest is None:
            raise ValueError(f"it is not in {SUMS}")
        there = False
        staged = _staged(self.folder / name, digest)
        for path in (self.folder / name, staged, self.folder / name):  # a staged file gets its name at any moment
            with suppress(FileNotFoundError, NotADirectoryError):
                content = path.read_bytes()
                if hashlib.sha256(content).hexdigest() == digest:
                    return content
                there = True
        raise ValueError(f"its digest is not that in {SUMS}" if there else "it is not there")

    def table(self, name: str) -> pa.Table:
        """The measured columns of a file, read once in a process for as long as the file stays as it is.

        Raises:
            ValueError: the file is damaged.
        """
        path = self.folder / name
        seen = self.sums.get(name), _seen(path)
        known = _tables.get(path)
        if known is None or known[0] != seen:
            try:
                known = _tables[path] = seen, self._read(name)
            except OSError as error:  # it may go well the next time
                raise ValueError(str(error)) from error
        if isinstance(known[1], ValueError):
            raise ValueError(*known[1].args)
        return known[1]

    def _read(self, name: str) -> pa.Table | ValueError:
        try:
            return decoded(self.content(name), self.of_file[name])
        except ValueError as damage:
            return damage


_tables: dict[Path, tuple[object, pa.Table | ValueError]] = {}
"""What was read of each file, and how the file looked then."""


def decoded(content: bytes, lines: Iterable[Line]) -> pa.Table:
    """The columns that blocks have of a file, each in one piece.

    Raises:
        ValueError: these are no such file's bytes.
    """
    names = list(dict.fromkeys(name for columns in {line.columns for line in lines} for name in _columns(columns)))
    try:
        table = _table_in(content, names)
    except Exception as error:
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from error
    if set(table.column_names) != set(names):
        raise ValueError("it lacks columns of its blocks")
    return table.replace_schema_metadata().combine_chunks()


def _table_in(content: bytes, names: Iterable[str]) -> pa.Table:
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        return file.read(columns=list(names), use_threads=False)


@lru_cache(maxsize=4096)
def _columns(text: str) -> dict[str, str]:
    """Types by name, as a line of `records.parquet` has them."""
    return dict(json.loads(text))


def _seen(path: Path) -> tuple[int, int, int] | None:
    """How a file looks without reading it; None where there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


_states: dict[Path, tuple[object, Snapshot]] = {}


def _state(folder: Path) -> Snapshot:
    """The folder as it is now; it is read again only when it has changed."""
    seen = tuple(_seen(folder / name) for name in (JOURNAL, SUMS, RECORDS))
    known = _states.get(folder)
    if known is None or known[0] != seen:
        try:
            known = _states[folder] = seen, _loaded(folder)
        except OSError as error:  # it may go well the next time
            return Snapshot(folder, damage=f"{RECORDS}: {error}")
    return known[1]


def _loaded(folder: Path) -> Snapshot:
    seen = None
    for _ in range(10):  # another process may publish meanwhile
        before, seen = seen, _sums(folder)
        damaged = []
        for sums in seen:
            try:
                return Snapshot(folder, sums, _lines(Snapshot(folder, sums).content(RECORDS)))
            except ValueError as error:  # of a journal: its folder was restored, and it was left
                damaged.append(Snapshot(folder, sums, damage=f"{RECORDS}: {error}"))
        if not damaged and not (folder / RECORDS).exists():
            return Snapshot(folder)  # nothing has been published
        if seen == before:
            break
    return damaged[0] if damaged else Snapshot(folder, damage=f"{RECORDS}: it is not in {SUMS}")


def _sums(folder: Path) -> list[dict[str, str]]:
    """The digests that count: those of the journal, where there is one; then those that count if it is damaged."""
    found = []
    for name in (JOURNAL, SUMS):
        with suppress(FileNotFoundError, NotADirectoryError):
            found.append(_from_text((folder / name).read_bytes()))
    return found


def _from_text(content: bytes) -> dict[str, str]:
    lines = content.decode("utf-8", "replace").split("\n")
    found = {match[2]: match[1] for line in lines if (match := _LINE.fullmatch(line))}
    return {name: digest for name, digest in found.items() if not name.startswith("/") and ".." not in name.split("/")}


def _as_text(sums: Mapping[str, str]) -> bytes:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()


def _lines(content: bytes) -> list[Line]:
    try:
        table = _table_in(content, Line._fields).select(Line._fields)
        return [Line(*values) for values in zip(*(column.to_pylist() for column in table.columns), strict=True)]
    except Exception as error:
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from error


class Publication:
    """The published folder as a reader sees it; damaged files are told by a `StoreWarning` and never served."""

    def __init__(self, folder: Path):
        self.folder = folder

    @property
    def _state(self) -> Snapshot:
        state = _state(self.folder)
        if state.damage:
            message = f"damaged results in {self.folder}: {state.damage}; all count as missing until it is restored"
            warnings.warn(message, StoreWarning, stacklevel=3)
        return state

    def keys(self) -> set[str]:
        """The keys of all cells of which something is published."""
        return set(self._state.blocks)

    def blocks(self, key: str) -> Sequence[Published]:
        """The blocks of a cell; no table is read."""
        return self._state.blocks.get(key, ())

    def records(self) -> Iterator[dict]:
        """The provenance records of all blocks."""
        return (json.loads(line.record) for line in self._state.lines)

    def lines(self) -> Sequence[Line]:
        """What is told of each block, in the order of files and cells."""
        return self._state.lines

    def inspected(self, check: Callable[[pd.DataFrame, dict], str | None]) -> Iterator[tuple[str, str | None]]:
        """Every block, and every file that is damaged or does not belong here, with its error or None.

        Args:
            check: says what is wrong with a block's table, given with its record.
        """
        state = _state(self.folder)
        if (self.folder / JOURNAL).exists():
            yield JOURNAL, "a publication was not finished: run `ol2r publish`"
        if state.damage:
            yield RECORDS, state.damage.removeprefix(f"{RECORDS}: ")
            return
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            name = path.relative_to(self.folder).as_posix()
            if name == SUMS and path.read_bytes() != _as_text(_from_text(path.read_bytes())):
                yield SUMS, "its lines are not as they were written"
            if path.name.startswith(saved.TEMPORARY):
                yield name, "a publication left it behind: run `ol2r publish`"
            elif name not in (SUMS, JOURNAL, *state.sums):
                yield name, f"it is not in {SUMS}"
        for name in sorted(state.sums):
            content, damage = b"", None
            try:
                content = state.content(name)
            except (OSError, ValueError) as error:
                damage = str(error)
                yield name, damage
                with suppress(OSError):
                    content = (self.folder / name).read_bytes()
            if name == RECORDS:
                continue
            try:
                whole = decoded(content, state.of_file.get(name, ()))
            except ValueError as error:
                if damage is None:
                    yield name, str(error)
                continue
            for line in state.of_file.get(name, ()):
                block = Published(line, state)
                yield block.name, _damage(block, whole, check)


def _damage(block: Published, whole: pa.Table, check: Callable[[pd.DataFrame, dict], str | None]) -> str | None:
    try:
        table, record = block._cut(whole), block.record
    except (KeyError, ValueError) as error:
        return str(error)
    if digest_of(table) != block.line.digest:
        return "its values are not those that were published"
    if not block.key == record["key"] == key_of(record["cell"]):
        return "its record is of another cell"
    if rows_in(table) != set(block.rows) or sorted(map(tuple, record["rows"])) != sorted(block.rows):
        return "its rows are not those of its record"
    return check(table.to_pandas(use_threads=False), record)


def digest_of(table: pa.Table) -> str:
    """SHA-256 of a table's columns: names, types, which values are missing, and the others bit for bit, in order."""
    digest = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(f"{name}\0{column.type}\0{len(column)}\0".encode())
        digest.update(column.is_null().combine_chunks().to_numpy(zero_copy_only=False).tobytes())
        digest.update(_bits(column.drop_null().combine_chunks()))
    return digest.hexdigest()


def _bits(values: pa.Array) -> bytes:
    if pa.types.is_large_string(values.type):
        _, places, letters = values.buffers()
        at = np.frombuffer(places, dtype=np.int64)[values.offset : values.offset + len(values) + 1]
        return (at - at[:1]).tobytes() + (letters.to_pybytes()[at[0] : at[-1]] if len(values) else b"")
    numbers = values.to_numpy(zero_copy_only=False)
    return repr(values.to_pylist()).encode() if numbers.dtype == object else numbers.tobytes()


class Report(NamedTuple):
    """What `publish` did."""

    added: int
    """Blocks that were not published before."""
    dropped: tuple[str, ...]
    """Blocks of cells that are declared no more."""
    files: tuple[str, ...]
    """The tables that were written or deleted."""
    refused: tuple[str, ...]
    """Blocks of declared cells that are not checked, or whose columns have other types than those of their file."""


def is_checked(cell: Cell, record: Mapping[str, Any]) -> bool:
    """Whether a block may be published: the present code made it and has no uncommitted changes, or a commit without
    changes of its own did.

    Results stay valid when code changes that does not touch them (a change that does raises the `revision` in the key),
    so the code of any commit counts; what was made by code that nobody can look up does not.
    """
    whence = origin()
    if not (whence.dirty or whence.lost) and record["code"] == code_digest(cell.code):
        return True
    return bool(record.get("commit") and record.get("dirty") is False)


def publish(
    store: "Store",
    jobs: Iterable[Job],
    tuning: Container[str] = (),
    accepts: Callable[[Cell, Mapping[str, Any]], bool] = is_checked,
    *,
    shown_in: Mapping[str, str] | None = None,
    drop: bool = False,
    dry_run: bool = False,
) -> Report:
    """Merge blocks of the scratch store into the published folder and, if asked, drop cells that are not declared.

    All or nothing happens. A row that is published stays as it is, with a warning where scratch has other values of it.
    Cells on data that is not at hand are kept, because nobody can say without it whether they are declared.

    Args:
        store: both folders.
        jobs: all declared jobs, with their needs; of declared cells all rows are merged.
        tuning: keys of cells that were run for tuning alone.
        accepts: whether a block may be published.
        shown_in: by key, the items that show a cell.
        drop: whether blocks of cells that are not declared may go.
        dry_run: only say what would be done, and write nothing.

    Raises:
        StoreError: there is something to drop without leave; a file cannot be written; another process is publishing; a
            published file is damaged and scratch does not have its rows.
        ExperimentError: there is no published folder.
    """
    folder = store.results()
    cells = {job.cell.key: job.cell for job in jobs}
    shown_in = shown_in or {}
    if dry_run:
        return _Merge(store, cells, tuning, accepts, shown_in).planned()[0]
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            _finish(folder)
            return _Merge(store, cells, tuning, accepts, shown_in).done(drop)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        intact = "what was published before is intact"
        if (folder / JOURNAL).exists():
            intact = "all is there to be read, and `ol2r publish` finishes it"
        message = f"cannot publish in {folder}: {error.strerror or error}; {intact}"
        raise StoreError(message) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder while a block runs; the system lets go of it when the process ends.

    Raises:
        StoreError: another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"another process is publishing in {folder}: try again when it has ended") from None
        yield
    finally:
        os.close(handle)


def _staged(path: Path, digest: str) -> Path:
    """Where a file with this digest waits for its name."""
    return path.with_name(f"{saved.TEMPORARY}{digest[:16]}-{path.name}")


def _finish(folder: Path) -> None:
    """Give the files of a journal their names, and delete what publishers left behind that were killed.

    Raises:
        StoreError: the journal is damaged, or a file that it names is not there.
    """
    journal = folder / JOURNAL
    if journal.exists():
        content = journal.read_bytes()
        state = Snapshot(folder, _from_text(content))
        if content != _as_text(state.sums) or RECORDS not in state.sums:
            raise StoreError(f"{journal} is damaged: delete it and restore the folder")
        for name in state.sums:
            try:
                told = state.content(name)
                if name == RECORDS and {line.file for line in _lines(told)} != state.sums.keys() - {RECORDS}:
                    raise ValueError(f"it tells of other files than {JOURNAL}")
            except ValueError as damage:
                message = f"cannot finish what {journal} began: {name}: {damage}"
                raise StoreError(f"{message}; restore the folder and delete {JOURNAL}") from None
        for name, digest in state.sums.items():
            with suppress(FileNotFoundError):
                _staged(folder / name, digest).replace(folder / name)
        before = (folder / SUMS).read_bytes() if (folder / SUMS).exists() else b""
        in_any_case = {name.casefold(): folder / name for name in state.sums}
        for name in _from_text(before).keys() - state.sums.keys():
            path = folder / name
            new = in_any_case.get(name.casefold())
            if new is not None and path.exists() and path.samefile(new):  # a disk on which capitals do not count
                continue
            path.unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                path.parent.rmdir()
                path.parent.parent.rmdir()
        _sync(folder, state.sums)  # a disk may keep renames in another order than they were made
        journal.replace(folder / SUMS)
    for path in folder.rglob(f"{saved.TEMPORARY}*"):
        path.unlink(missing_ok=True)


def _sync(folder: Path, names: Iterable[str]) -> None:
    """Wait until the names of files, and of the folders that they are in, are on the disk."""
    for parent in {above for name in names for above in (folder / name).parents if above.is_relative_to(folder)}:
        saved.sync_folder(parent)


class _Merge:
    """One publication, from what is there to what shall be; the folder is held meanwhile."""

    def __init__(
        self,
        store: "Store",
        cells: Mapping[str, Cell],
        tuning: Container[str],
        accepts: Callable,
        shown_in: Mapping[str, str],
    ):
        self.store, self.cells, self.tuning, self.accepts, self.shown_in = store, cells, tuning, accepts, shown_in
        self.folder = store.results()
        self.state = _state(self.folder)
        if self.state.damage:
            raise StoreError(f"nothing is published: {self.state.damage}; restore {self.folder}")
        self.tables: dict[tuple[str, str], Callable[[], pa.Table]] = {}  # of blocks, by cell and rows
        self.lines: dict[str, dict[str, Line]] = {}  # by cell and rows
        self.types: dict[str, dict[str, str]] = {}  # of columns, by file
        self.refused: list[str] = []
        self.dropped: list[Published] = []
        self.damaged: set[str] = set()
        self.staged = False
        self.added = 0

    def done(self, drop: bool) -> Report:
        """Merge, and put everything in place."""
        report, by_file = self.planned()
        if report.dropped and not drop:
            files = few(sorted({block.line.file for block in self.dropped}))
            raise StoreError(
                f"nothing is published: {len(report.dropped)} blocks of {files} would be dropped, because no paper "
                f"declares their cells; if that is meant, say --drop"
            )
        sums = {}
        try:
            for name, own in by_file.items():
                if name not in report.files:
                    sums[name] = self.state.sums[name]
                    continue
                sums[name] = self._stage(name, encoded([self.tables[line.cell, line.rows]() for line in own], own))
            lines = [line for own in by_file.values() for line in own]
            same = RECORDS in self.state.sums and lines == list(self.state.lines)
            sums[RECORDS] = self.state.sums[RECORDS] if same else self._stage(RECORDS, _encoded_lines(lines))
            if self.staged or sums != self.state.sums:
                _sync(self.folder, sums)
                saved.publish(self.folder / JOURNAL, lambda file: file.write(_as_text(sums)), replace=True)
        except BaseException:
            if not (self.folder / JOURNAL).exists():
                with suppress(OSError):
                    _finish(self.folder)
            raise
        _finish(self.folder)
        return report

    def planned(self) -> tuple[Report, dict[str, list[Line]]]:
        """What is to be done, and the lines of each file; nothing is written."""
        lost = self._keep()
        self._add()
        lacking = [line for line in lost if not set(_rows(line)) <= self._held(line.cell)]
        if lacking:
            files = ", ".join(sorted({line.file for line in lacking}))
            raise StoreError(
                f"nothing is published: {files} in {self.folder} is damaged; restore it, or run `ol2r run` to compute "
                f"its rows again"
            )
        by_file: dict[str, list[Line]] = {}
        merged = [line for own in self.lines.values() for line in own.values()]
        for line in sorted(merged, key=lambda line: (line.file, line.cell, _rows(line))):
            own = by_file.setdefault(line.file, [])
            own.append(line._replace(start=own[-1].start + own[-1].lines if own else 0))
        in_any_case: dict[str, str] = {}
        for name in by_file:
            if (other := in_any_case.setdefault(name.casefold(), name)) != name:
                raise StoreError(f"nothing is published: {other} and {name} are one file on some disks")
        changed = [name for name in self.state.of_file if name not in by_file]
        changed += (
            name for name, own in by_file.items() if own != self.state.of_file.get(name) or name in self.damaged
        )
        dropped = tuple(block.name for block in self.dropped)
        return Report(self.added, dropped, tuple(sorted(changed)), tuple(self.refused)), by_file

    def _keep(self) -> list[Line]:
        """Take over what is published and still declared; returns the blocks that are lost in damaged files."""
        lost = []
        for name, lines in self.state.of_file.items():
            try:
                self.state.content(name)
            except ValueError:
                self.damaged.add(name)
            for line in lines:
                cell = self.cells.get(line.cell)
                if cell is None and not awaits(json.loads(line.record)["cell"]):
                    self.dropped.append(Published(line, self.state))
                elif name in self.damaged:
                    lost.append(line)
                else:
                    self._put(line, cell, Published(line, self.state).table)
        return lost

    def _put(self, line: Line, cell: Cell | None, table: Callable[[], pa.Table]) -> None:
        line = line if cell is None else self._labelled(line, cell)
        self.tables[line.cell, line.rows] = table
        self.lines.setdefault(line.cell, {})[line.rows] = line
        self.types.setdefault(line.file, {}).update(_types(line))

    def _labelled(self, line: Line, cell: Cell) -> Line:
        """The line with what the cell says of itself today, and with the file that follows from it."""
        labels = cell.labels()
        told = {name: None if (value := labels.get(name)) is None else str(value) for name in _NAMED}
        where = {"file": file_of(cell, line.cell in self.tuning), "shown_in": self.shown_in.get(line.cell, "")}
        return line._replace(**where, kind=cell.kind, **told, labels=_json(labels))

    def _held(self, key: str) -> set[Row]:
        return {row for line in self.lines.get(key, {}).values() for row in _rows(line)}

    def _add(self) -> None:
        """Take in the blocks of the scratch store."""
        for key in sorted(self.store.scratch_keys() & self.cells.keys()):
            cell = self.cells[key]
            for block in self.store.scratch_blocks(key):
                try:
                    table, record = block.content()
                except FileNotFoundError:
                    continue
                except ValueError as damage:
                    warnings.warn(f"damaged result {block.name}: {damage}; not published", StoreWarning, stacklevel=4)
                    continue
                if not self.accepts(cell, record):
                    self.refused.append(block.name)
                    continue
                check_table(cell, block.rows, table.to_pandas(use_threads=False))
                table = _with_large_strings(table)
                here = self._held(key)
                file = file_of(cell, key in self.tuning)
                fits = self.types.get(file, {})
                if any(fits.get(name, kind) != kind for name, kind in _types_of(table).items()):
                    self.refused.append(f"{block.name} (its columns do not fit into {file})")
                    continue
                self._compare(block, table, here.intersection(block.rows))
                for rows in spans(set(block.rows) - here):
                    own = record if set(rows) == set(block.rows) else record | {"rows": [list(row) for row in rows]}
                    self._take(cell, rows, table.filter(pa.array(lines_of(table, rows))), own)

    def _take(self, cell: Cell, rows: Sequence[Row], table: pa.Table, record: dict) -> None:
        columns = _json([[field.name, str(field.type)] for field in table.schema])
        name = file_name(rows).removesuffix(_END)
        told = {"digest": digest_of(table), "columns": columns, "record": _json(record), "lines": len(table)}
        later = dict.fromkeys(("file", "shown_in", "kind", "dataset", "users", "learner", "start", "labels"))
        line = Line(cell=cell.key, rows=name, **later, **told)
        self._put(line, cell, lambda: table)
        self.added += 1

    def _compare(self, block: Block, table: pa.Table, rows: set[Row]) -> None:
        """Warn where other values of a row are published than scratch has."""
        for line in self.lines.get(block.key, {}).values():
            if not (both := rows.intersection(_rows(line))):
                continue
            first = self.tables[line.cell, line.rows]()
            one, other = (each.filter(pa.array(lines_of(each, both))) for each in (first, table))
            if digest_of(one) != digest_of(other):
                message = f"{block.name} has other values than {line.file}, which keeps its own"
                warnings.warn(message, StoreWarning, stacklevel=5)

    def _stage(self, name: str, content: bytes) -> str:
        """Put a file beside its place, unless it is there already; returns its digest."""
        digest = hashlib.sha256(content).hexdigest()
        if self.state.sums.get(name) != digest or name in self.damaged:
            self.staged = True
            saved.publish(_staged(self.folder / name, digest), lambda file: file.write(content), replace=True)
        return digest


_NAMED = ("dataset", "users", "learner")


def _rows(line: Line) -> tuple[Row, ...]:
    return rows_of(line.rows + _END) or ()


def _types(line: Line) -> dict[str, str]:
    """The types of a block's columns by name, without those that hold nothing."""
    return {name: kind for name, kind in _columns(line.columns).items() if kind != "null"}


def _types_of(table: pa.Table) -> dict[str, str]:
    return {field.name: str(field.type) for field in table.schema if not pa.types.is_null(field.type)}


def _with_large_strings(table: pa.Table) -> pa.Table:
    """The table with one type for all text: pandas 2 writes another than pandas 3."""
    fields = [field.with_type(pa.large_string()) if pa.types.is_string(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))


def few(names: Sequence[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def file_of(cell: Cell, tuning: bool = False) -> str:
    """The name of the file in which a cell is published, such as simulate/MQ2008/PairRank.parquet."""
    kind = TUNING if tuning else cell.kind
    labels = cell.labels()
    levels = [kind, *(str(labels[label]) for label in CUT.get(kind, ()) if label in labels)]
    plain = (re.sub(r"[^\w.+-]+", "-", level, flags=re.ASCII).lstrip(".") or "-" for level in levels)
    return "/".join(plain) + _END


def encoded(tables: Sequence[pa.Table], lines: Sequence[Line]) -> bytes:
    """The bytes of a published file: its blocks one after another, each line led by the cell's key, items and labels.

    Raises:
        StoreError: blocks have a column of one name and of different types, or a label of such a name.
    """
    try:
        measured = pa.concat_tables(tables, promote_options="default").combine_chunks()
    except pa.ArrowException as error:
        raise StoreError(f"blocks do not fit into {lines[0].file}: {error}") from error
    labels = [json.loads(line.labels) for line in lines]
    sizes = [line.lines for line in lines]
    columns = {name: _repeated([getattr(line, name) for line in lines], sizes) for name in ("cell", "shown_in")}
    for name in sorted({name for own in labels for name in own}):
        told = f"{name}_set" if name in measured.column_names else name
        if told in (*columns, *measured.column_names):
            raise StoreError(f"blocks do not fit into {lines[0].file}: two of their columns are {told}")
        columns[told] = _repeated([own.get(name) for own in labels], sizes)
    if clash := columns.keys() & set(measured.column_names):
        raise StoreError(f"blocks do not fit into {lines[0].file}: two of their columns are {min(clash)}")
    table = pa.table(columns | dict(zip(measured.column_names, measured.columns, strict=True)))
    return _parquet(table, ["cell", "fold", "seed"])


def _repeated(values: Sequence[str | float | None], sizes: Sequence[int]) -> pa.Array:
    """Each value as often as its block has lines: numbers where all are numbers, else text."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds <= {int} and not kinds <= {bool}:
        convert = float if kinds <= {int, float} else str
        values = [None if value is None else convert(value) for value in values]
    codes = pa.array(np.repeat(np.arange(len(values), dtype=np.int32), sizes))
    return pa.array(values).take(codes)


def _encoded_lines(lines: Sequence[Line]) -> bytes:
    table = pa.Table.from_pylist([line._asdict() for line in lines], schema=_TABLE)
    return _parquet(table, ["file", "cell"])


def _parquet(table: pa.Table, sought: Sequence[str]) -> bytes:
    """A table as a parquet file in which a reader skips row groups by the columns `sought`."""
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, compression="zstd", write_statistics=sought) as writer:  # pyright: ignore[reportArgumentType]
        writer.write_table(table, row_group_size=LINES)
    return sink.getvalue()
