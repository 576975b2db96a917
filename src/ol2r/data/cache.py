"""A disk cache of parsed data sets: .npy files with a JSON record of their sources. It never uses pickle.

If a source file has changed, it is read again; a damaged cache is rebuilt with a warning. Features that are larger than
memory grow in a file beside it (`GrowingTable`). This module must not know how a data set is made.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tokenize import TokenError
from typing import IO, Literal

import numpy as np

from ol2r.data.dataset import Fold, RankingDataset
from ol2r.errors import DataError
from ol2r.folders import cache_folder

_ARRAYS = ("features", "relevance", "offsets")
_SCALARS = ("name", "n_grades", "checksum", "restricted", "label", "normalization")
_SPLITS = ("train", "validation", "test")
_BLOCK_BYTES = 1 << 24
_OF_FILE = 4  # fields of a stamp that are the file's own
_TICK = 50_000_000  # nanoseconds
_MOST_WRITABLE = 1 << 30  # bytes of a file that is mapped copy-on-write
_MOST_HELD = 1 << 27  # bytes of a table that grows in memory


class _Damaged(Exception):
    pass


def cache_dir() -> Path:
    """Where parsed data sets are kept: OL2R_CACHE, else the user's cache directory."""
    named = os.environ.get("OL2R_CACHE")
    return Path(named) if named else cache_folder()


def cached(
    name: str, fingerprint: str, sources: Mapping[str, Path], build: Callable[[], RankingDataset]
) -> RankingDataset:
    """Return the data set from its cache, or build it and store it there.

    Arrays are mapped: processes share their pages and none can write to the file. A map is copy-on-write, but that of
    an array of more than a gibibyte is read-only: the system counts the former as memory that it may have to provide,
    and refuses it where the data is larger than memory.

    Args:
        name: names the cache's folder.
        fingerprint: identifies everything except the sources that determines the result; if it differs from the
            recorded one, the data set is built again.
        sources: the files from which it is read. A file with the recorded size and times of change counts as
            unchanged; otherwise its SHA-256 decides.
        build: called when there is no cache, or it is damaged or outdated.

    Raises:
        DataError: a file changed while it was read.
    """
    folder = cache_dir() / name
    try:
        record = _record(folder, fingerprint, sources)
        if record is not None:
            return _open(folder, record)
    except _Damaged as error:
        warnings.warn(f"the cache of {name} in {folder} is damaged ({error}); reading the source again", stacklevel=2)
    before = {source: [*stamp(path), _file_digest(path)] for source, path in sources.items()}
    dataset = build()
    for source, path in sources.items():
        if stamp(path)[:_OF_FILE] != before[source][:_OF_FILE]:
            raise DataError(f"{path} changed while it was read: run again")
    try:
        record = _store(folder, fingerprint, before, dataset)
        if not dataset.features.flags.owndata:  # a file of their own, which need not stay beside the cache
            return _open(folder, record)
    except (OSError, _Damaged) as error:
        warnings.warn(f"{name} cannot be cached in {folder}: {error}", stacklevel=2)
    return dataset


def cached_checksum(name: str, fingerprint: str, sources: Mapping[str, Path]) -> str | None:
    """The checksum of the cached data set of these sources, without reading its arrays; None if it is not cached."""
    try:
        record = _record(cache_dir() / name, fingerprint, sources)
        return None if record is None else str(record["scalars"]["checksum"])
    except (_Damaged, KeyError, TypeError):
        return None  # `cached` reads the source again and warns


def _record(folder: Path, fingerprint: str, sources: Mapping[str, Path]) -> dict | None:
    """The cache's record if it is up to date with these sources, else None."""
    try:
        record = json.loads((folder / "record.json").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise _Damaged(f"record.json: {error}") from error
    try:
        if record["fingerprint"] != fingerprint or record["sources"].keys() != sources.keys():
            return None
        if record.pop("digest") != _digest(record):
            raise _Damaged("record.json: its checksum does not match")
        stamps = {name: stamp(path) for name, path in sources.items()}
        touched = [name for name in sources if record["sources"][name][:-1] != stamps[name]]
        if any(record["sources"][name][-1] != _file_digest(sources[name]) for name in touched):
            return None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise _Damaged(repr(error)) from error
    if touched:
        record["sources"] |= {name: [*stamps[name], record["sources"][name][-1]] for name in touched}
        with contextlib.suppress(OSError):  # then the digests are computed again next time
            _write_record(folder, record)
    return record


def _write_record(folder: Path, record: dict) -> None:
    text = json.dumps(record | {"digest": _digest(record)})
    _write(folder / "record.json", lambda path: path.write_text(text))


def _digest(record: dict) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _open(folder: Path, record: dict) -> RankingDataset:
    try:
        arrays = {name: _load(folder / file, digest) for name, (file, digest) in record["arrays"].items()}
        return _dataset(arrays, record["scalars"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise _Damaged(repr(error)) from error


def _load(path: Path, digest: str) -> np.ndarray:
    try:
        array = np.asarray(np.load(path, mmap_mode=_mode(path.stat().st_size), allow_pickle=False))
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:  # the last two of its header
        raise _Damaged(f"{path.name}: {error}") from error
    if array_digest(array) != digest:
        raise _Damaged(f"{path.name}: its checksum does not match")
    return array


def _mode(n_bytes: int) -> Literal["r", "c"]:
    """How a file is mapped: copy-on-write, or read-only if it is large."""
    return "c" if n_bytes <= _MOST_WRITABLE else "r"


class GrowingTable:
    """A table of features to which rows are added at the end: in memory while it is small, and in a file from then on.

    The file has no name. It is in the folder of the cache, or in that of the system's temporary files where the cache
    cannot be written, and it goes when the table and the array made of it have gone.

    Args:
        n_features: the width of the table.
    """

    def __init__(self, n_features: int):
        self._shape = 0, n_features
        self._held: list[np.ndarray] = []
        self._file: IO[bytes] | None = None

    def append(self, rows: np.ndarray) -> None:
        """Add rows.

        Args:
            rows: float32[documents, features]; they must not change afterwards.

        Raises:
            DataError: the disk has no room for them.
        """
        self._shape = self._shape[0] + len(rows), self._shape[1]
        self._held.append(rows)
        if self._file is not None or 4 * self._shape[0] * self._shape[1] > _MOST_HELD:
            self._write_out()

    def array(self) -> np.ndarray:
        """All rows: float32[documents, features], mapped from the file if there is one, as `cached` maps arrays.

        Raises:
            ValueError: there are no rows.
        """
        if self._file is None:
            self._held = [np.concatenate(self._held)]
            return self._held[0]
        self._file.flush()
        mode = _mode(4 * self._shape[0] * self._shape[1])
        return np.asarray(np.memmap(self._file, dtype=np.float32, mode=mode, shape=self._shape))

    def _write_out(self) -> None:
        try:
            if self._file is None:
                self._file = _nameless_file()
                weakref.finalize(self, self._file.close)
            for rows in self._held:
                self._file.write(np.ascontiguousarray(rows).data)
        except OSError as error:
            raise DataError(f"{self._shape[0]:,} rows of features cannot be kept on disk: {error}") from error
        self._held.clear()


def _nameless_file() -> IO[bytes]:
    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=folder)
    except OSError:
        return tempfile.TemporaryFile()


def _store(folder: Path, fingerprint: str, sources: Mapping[str, list], dataset: RankingDataset) -> dict:
    """Write a data set, and return the record of it."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, array in _arrays(dataset).items():
        digest = array_digest(array)
        # named by content, so that a reader of the previous record never sees a file change under it
        files[name] = (f"{name}-{digest[:16]}.npy", digest)
        _write(folder / files[name][0], lambda path, array=array: _save(path, array))
    record = {
        "fingerprint": fingerprint,
        "sources": sources,
        "arrays": files,
        "scalars": {name: getattr(dataset, name) for name in _SCALARS},
    }
    _write_record(folder, record)
    for path in folder.glob("*.npy"):
        if path.name not in {file for file, _ in files.values()}:
            path.unlink(missing_ok=True)
    return record


def _write(target: Path, write: Callable[[Path], object]) -> None:
    """Write beside the target, then rename, so that a reader finds the old file or the new one, whole."""
    scratch = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        write(scratch / target.name)
        (scratch / target.name).replace(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _save(path: Path, array: np.ndarray) -> None:
    np.save(path, array, allow_pickle=False)


def stamp(path: Path) -> list[int]:
    """A stamp that differs after a file has changed: its size, its times of change, and its identity.

    File clocks tick only a few times in a hundredth of a second. A file that changed just now could change again within
    the same tick, so its stamp is unique and matches no later one; then its content decides.
    """
    status = path.stat()
    now = time.time_ns()
    # programs can set the time of modification to any value, but not the time of the last status change
    known = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    return [*known, now if now - status.st_ctime_ns < _TICK else 0]


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def array_digest(array: np.ndarray) -> str:
    """SHA-256 over the SHA-256 of blocks, which several cores compute in parallel."""
    data = np.ascontiguousarray(array).data.cast("B")
    blocks = [data[i : i + _BLOCK_BYTES] for i in range(0, len(data), _BLOCK_BYTES)]
    total = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
    with ThreadPoolExecutor() as pool:
        for digest in pool.map(lambda block: hashlib.sha256(block).digest(), blocks):
            total.update(digest)
    return total.hexdigest()


def _arrays(dataset: RankingDataset) -> dict[str, np.ndarray]:
    arrays = {name: getattr(dataset, name) for name in _ARRAYS} | {"query_ids": _from_strings(dataset.query_ids)}
    if dataset.document_ids is not None:
        arrays["document_ids"] = _from_strings(dataset.document_ids)
    for number, fold in enumerate(dataset.folds, start=1):
        arrays |= {f"fold{number}_{split}": getattr(fold, split) for split in _SPLITS}
    return arrays


def _dataset(arrays: Mapping[str, np.ndarray], scalars: Mapping) -> RankingDataset:
    n_folds = sum(name.endswith("_train") for name in arrays)
    return RankingDataset(
        **{name: arrays[name] for name in _ARRAYS},
        **{name: scalars[name] for name in _SCALARS},
        query_ids=_to_strings(arrays["query_ids"]),
        document_ids=_to_strings(arrays["document_ids"]) if "document_ids" in arrays else None,
        folds=tuple(Fold(*(arrays[f"fold{f}_{split}"] for split in _SPLITS)) for f in range(1, n_folds + 1)),
    )


def _from_strings(strings: tuple[str, ...]) -> np.ndarray:
    return np.frombuffer("\n".join(strings).encode(), dtype=np.uint8)


def _to_strings(array: np.ndarray) -> tuple[str, ...]:
    return tuple(array.tobytes().decode().split("\n"))
