"""The published results: a few tables with names that a person knows, and one line of provenance for each block.

    KIND/DATA SET/LEARNER.parquet    blocks of many cells; the column `cell` has the key
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
from ol2r.experiments.provenance import code_digest

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
    [(name, pa.string()) for name in ("file", "cell", "kind", "dataset", "users", "learner", "rows")]
    + [("start", pa.int64()), ("lines", pa.int64())]
    + [(name, pa.string()) for name in ("digest", "labels", "columns", "record")]
)
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
_END = ".parquet"


class Line(NamedTuple):
    """What `records.parquet` tells of a block."""

    file: str
    cell: str
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
    state: "_State" = field(repr=False, compare=False)

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
class _State:
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
            known = _tables[path] = seen, self._read(name)
        if isinstance(known[1], ValueError):
            raise ValueError(*known[1].args)
        return known[1]

    def _read(self, name: str) -> pa.Table | ValueError:
        try:
            return decoded(self.content(name), self.of_file[name])
        except (OSError, ValueError) as damage:
            return ValueError(str(damage))


_tables: dict[Path, tuple[object, pa.Table | ValueError]] = {}
"""What was read of each file, and how the file looked then."""


def decoded(content: bytes, lines: Iterable[Line]) -> pa.Table:
    """The columns that blocks have of a file, each in one piece.

    Raises:
        ValueError: these are no such file's bytes.
    """
    names = list(dict.fromkeys(name for columns in {line.columns for line in lines} for name in _columns(columns)))
    try:
        table = pq.read_table(pa.BufferReader(content), columns=names, use_threads=False)
    except Exception as error:
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from error
    if set(table.column_names) != set(names):
        raise ValueError("it lacks columns of its blocks")
    return table.replace_schema_metadata().combine_chunks()


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


_states: dict[Path, tuple[object, _State]] = {}


def _state(folder: Path) -> _State:
    """The folder as it is now; it is read again only when it has changed."""
    seen = tuple(_seen(folder / name) for name in (JOURNAL, SUMS, RECORDS))
    known = _states.get(folder)
    if known is None or known[0] != seen:
        known = _states[folder] = seen, _loaded(folder)
    return known[1]


def _loaded(folder: Path) -> _State:
    sums = _sums(folder)
    for _ in range(10):  # another process may publish meanwhile
        state = _State(folder, sums)
        try:
            if not sums:
                if not (folder / RECORDS).exists():
                    return state  # nothing has been published
                raise ValueError(f"it is not in {SUMS}")
            return _State(folder, sums, _lines(state.content(RECORDS)))
        except (OSError, ValueError) as error:
            damaged, sums = _State(folder, sums, damage=f"{RECORDS}: {error}"), _sums(folder)
            if sums == damaged.sums:
                return damaged
    return damaged


def _sums(folder: Path) -> dict[str, str]:
    """The digests that count: those of the journal, where there is one."""
    for name in (JOURNAL, SUMS):
        with suppress(FileNotFoundError, NotADirectoryError):
            return _from_text((folder / name).read_bytes())
    return {}


def _from_text(content: bytes) -> dict[str, str]:
    lines = content.decode("utf-8", "replace").split("\n")
    return {match[2]: match[1] for line in lines if (match := _LINE.fullmatch(line))}


def _as_text(sums: Mapping[str, str]) -> bytes:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()


def _lines(content: bytes) -> list[Line]:
    try:
        table = pq.read_table(pa.BufferReader(content), columns=list(Line._fields), use_threads=False)
        return [Line(*values) for values in zip(*(column.to_pylist() for column in table.columns), strict=True)]
    except Exception as error:
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from error


class Publication:
    """The published folder as a reader sees it; damaged files are told by a `StoreWarning` and never served."""

    def __init__(self, folder: Path):
        self.folder = folder

    @property
    def _state(self) -> _State:
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
        if state.damage:
            yield RECORDS, state.damage.removeprefix(f"{RECORDS}: ")
            return
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            name = path.relative_to(self.folder).as_posix()
            if name == SUMS and path.read_bytes() != _as_text(_from_text(path.read_bytes())):
                yield SUMS, "its lines are not as they were written"
            if name in (SUMS, JOURNAL) or path.name.startswith(saved.TEMPORARY):
                continue
            if name not in state.sums:
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
    dropped: int
    """Blocks of cells that are declared no more."""
    files: tuple[str, ...]
    """The tables that were written or deleted."""
    refused: tuple[str, ...]
    """Blocks of declared cells that are not checked."""


def is_checked(cell: Cell, record: Mapping[str, Any]) -> bool:
    """Whether a block may be published: the present code made it, or a commit without changes of its own did.

    Results stay valid when code changes that does not touch them (a change that does raises the `revision` in the key),
    so the code of any commit counts; what was made by code that nobody can look up does not.
    """
    return record["code"] == code_digest(cell.code) or bool(record.get("commit") and record.get("dirty") is False)


def publish(
    store: "Store",
    jobs: Iterable[Job],
    tuning: Container[str] = (),
    accepts: Callable[[Cell, Mapping[str, Any]], bool] = is_checked,
) -> Report:
    """Merge blocks of the scratch store into the published folder and drop cells that are not declared.

    All or nothing happens. A row that is published stays as it is, with a warning where scratch has other values of it.
    Cells on data that is not at hand are kept, because nobody can say without it whether they are declared.

    Args:
        store: both folders.
        jobs: all declared jobs, with their needs; of declared cells all rows are merged.
        tuning: keys of cells that were run for tuning alone.
        accepts: whether a block may be published.

    Raises:
        StoreError: a file cannot be written; another process is publishing; a published file is damaged and scratch
            does not have its rows.
        ExperimentError: there is no published folder.
    """
    folder = store.results()
    cells = {job.cell.key: job.cell for job in jobs}
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            _finish(folder)
            return _Merge(store, cells, tuning, accepts).done()


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"cannot publish in {folder}: {error.strerror or error}; what was published before is intact"
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
        StoreError: a file that the journal names is not there.
    """
    if (folder / JOURNAL).exists():
        state = _State(folder, _sums(folder))
        for name, digest in state.sums.items():
            try:
                state.content(name)
            except ValueError as damage:
                message = f"cannot finish what {folder / JOURNAL} began: {name}: {damage}; restore the folder"
                raise StoreError(message) from None
            with suppress(FileNotFoundError):
                _staged(folder / name, digest).replace(folder / name)
        before = (folder / SUMS).read_bytes() if (folder / SUMS).exists() else b""
        for name in _from_text(before).keys() - state.sums.keys():
            path = folder / name
            path.unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                path.parent.rmdir()
                path.parent.parent.rmdir()
        for parent in {(folder / name).parent for name in state.sums}:
            saved.sync_folder(parent)  # a disk may keep renames in another order than they were made
        (folder / JOURNAL).replace(folder / SUMS)
    for path in folder.rglob(f"{saved.TEMPORARY}*"):
        path.unlink(missing_ok=True)


class _Merge:
    """One publication, from what is there to what shall be; the folder is held meanwhile."""

    def __init__(self, store: "Store", cells: Mapping[str, Cell], tuning: Container[str], accepts: Callable):
        self.store, self.cells, self.tuning, self.accepts = store, cells, tuning, accepts
        self.folder = store.results()
        self.state = _state(self.folder)
        if self.state.damage:
            raise StoreError(f"nothing is published: {self.state.damage}; restore {self.folder}")
        self.tables: dict[tuple[str, str], Callable[[], pa.Table]] = {}  # of blocks, by cell and rows
        self.lines: dict[str, dict[str, Line]] = {}  # by cell and rows
        self.refused: list[str] = []
        self.damaged: set[str] = set()
        self.staged = False
        self.dropped = self.added = 0

    def done(self) -> Report:
        """Merge, and put everything in place."""
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
        sums, changed = {}, [name for name in self.state.of_file if name not in by_file]
        try:
            for name, own in by_file.items():
                if own == self.state.of_file.get(name) and name not in self.damaged:
                    sums[name] = self.state.sums[name]
                    continue
                sums[name] = self._stage(name, encoded([self.tables[line.cell, line.rows]() for line in own], own))
                changed.append(name)
            sums[RECORDS] = self._stage(RECORDS, _encoded_lines([line for own in by_file.values() for line in own]))
            if self.staged or sums != self.state.sums:
                saved.publish(self.folder / JOURNAL, lambda file: file.write(_as_text(sums)), replace=True)
        except BaseException:
            if not (self.folder / JOURNAL).exists():
                with suppress(OSError):
                    _finish(self.folder)
            raise
        _finish(self.folder)
        return Report(self.added, self.dropped, tuple(sorted(changed)), tuple(self.refused))

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
                    self.dropped += 1
                elif name in self.damaged:
                    lost.append(line)
                else:
                    self._put(line, cell, Published(line, self.state).table)
        return lost

    def _put(self, line: Line, cell: Cell | None, table: Callable[[], pa.Table]) -> None:
        self.tables[line.cell, line.rows] = table
        self.lines.setdefault(line.cell, {})[line.rows] = line if cell is None else self._labelled(line, cell)

    def _labelled(self, line: Line, cell: Cell) -> Line:
        """The line with what the cell says of itself today, and with the file that follows from it."""
        labels = cell.labels()
        told = {name: None if (value := labels.get(name)) is None else str(value) for name in _NAMED}
        return line._replace(
            file=file_of(cell, line.cell in self.tuning), kind=cell.kind, **told, labels=_json(labels)
        )

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
                here = self._held(key)
                self._compare(block, table, here.intersection(block.rows))
                for rows in spans(set(block.rows) - here):
                    own = record if set(rows) == set(block.rows) else record | {"rows": [list(row) for row in rows]}
                    self._take(cell, rows, table.filter(pa.array(lines_of(table, rows))), own)

    def _take(self, cell: Cell, rows: Sequence[Row], table: pa.Table, record: dict) -> None:
        columns = _json([[field.name, str(field.type)] for field in table.schema])
        name = file_name(rows).removesuffix(_END)
        told = {"digest": digest_of(table), "columns": columns, "record": _json(record)}
        line = Line("", cell.key, cell.kind, None, None, None, name, 0, len(table), labels="", **told)
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


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def file_of(cell: Cell, tuning: bool = False) -> str:
    """The name of the file in which a cell is published, such as simulate/MQ2008/PairRank.parquet."""
    kind = TUNING if tuning else cell.kind
    labels = cell.labels()
    levels = [kind, *(str(labels[label]) for label in CUT.get(kind, ()) if label in labels)]
    return "/".join(re.sub(r"[^\w.+-]+", "-", level, flags=re.ASCII).lstrip(".") for level in levels) + _END


def encoded(tables: Sequence[pa.Table], lines: Sequence[Line]) -> bytes:
    """The bytes of a published file: its blocks one after another, before them the cell's key and labels in each line.

    Raises:
        StoreError: blocks have a column of one name and of different types.
    """
    try:
        measured = pa.concat_tables(tables, promote_options="default").combine_chunks()
    except pa.ArrowException as error:
        raise StoreError(f"blocks do not fit into {lines[0].file}: {error}") from error
    labels = [json.loads(line.labels) for line in lines]
    sizes = [line.lines for line in lines]
    columns = {"cell": _repeated([line.cell for line in lines], sizes)}
    for name in sorted({name for own in labels for name in own}):
        told = f"{name}_set" if name in measured.column_names else name
        columns[told] = _repeated([own.get(name) for own in labels], sizes)
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
