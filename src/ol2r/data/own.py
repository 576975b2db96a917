"""A reader's own data. It makes a `RankingDataset` from arrays or LETOR files, adds files to the catalogue for chapters
and commands until the process ends, and makes sessions from tables of clicks.

Folds are cut here, by queries: fold f tests on part f, validates on the part before it where there are three or more,
and learns from the rest, as the folds of LETOR 4.0 do.
"""

import csv
import glob
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ol2r.data.cache import GrowingTable
from ol2r.data.catalogue import CATALOGUE, OWN, Entry, add_own, own_names
from ol2r.data.dataset import Fold, RankingDataset
from ol2r.data.letor import letor_blocks
from ol2r.data.sessions import QuerySessions
from ol2r.errors import DataError
from ol2r.random import generator

MOST_GRADES = 127
FOLDS = 5
SUFFIXES = (".txt", ".txt.gz", ".txt.xz")
_MARK = "(the reader's own)"
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def from_arrays(
    features: np.ndarray,
    relevance: np.ndarray,
    query: np.ndarray | Sequence,
    *,
    folds: int = FOLDS,
    name: str = "own data",
    normalize: bool = True,
    n_grades: int | None = None,
) -> RankingDataset:
    """Make a data set from arrays with one row for each document.

    Args:
        features: Float[documents, features], finite.
        relevance: Int[documents], grades from 0.
        query: for each document, the id of its query; the documents of a query need not stand together.
        folds: number of folds, at least two.
        name: name in figures, where it is marked as the reader's own.
        normalize: whether to scale each feature to [0, 1] within each query, as the papers do.
        n_grades: number of grades, from 2 to 127: grades are 0 … n_grades − 1, and how simulated users click depends on
            this number; None takes the highest grade in the data for the last.

    Raises:
        DataError: the arrays do not fit together, a value is not finite, a grade is no whole number from 0 to 126,
            n_grades is out of range, or there are fewer queries than folds.
    """
    features, query = np.asarray(features), np.asarray(query)
    relevance = np.asarray(relevance)
    if relevance.dtype == object:  # numbers from a table of mixed columns
        relevance = np.array(relevance.tolist())
    if features.ndim != 2 or relevance.shape != query.shape or relevance.shape != features.shape[:1]:
        raise DataError(
            f"{name}: expected features [documents, features] with one grade and one query a document, found the "
            f"shapes {features.shape}, {relevance.shape} and {query.shape}"
        )
    if not len(relevance) or not features.shape[1]:
        raise DataError(f"{name}: expected at least one document and one feature")
    features = finite(features, name)
    grades = relevance.astype(np.int64) if relevance.dtype.kind in "iufb" else np.full(len(relevance), -1)
    _check_grades(np.where(grades == relevance, grades, -1), n_grades, name)
    unnamed = np.flatnonzero(pd.isna(query))
    if len(unnamed):
        raise DataError(f"{name}: expected a query's id for every document, found none in row {unnamed[0]}")
    place, ids = pd.factorize(query)  # queries in the order in which they appear
    order = np.argsort(place, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(place))]).astype(np.int64)
    features, grades = features[order], grades[order].astype(np.int8)
    return _assembled(
        features=scaled(features, offsets, normalize),
        relevance=grades,
        offsets=offsets,
        query_ids=tuple(each.decode(errors="replace") if isinstance(each, bytes) else str(each) for each in ids),
        digest=hashlib.sha256(features.tobytes()),
        folds=folds,
        name=name,
        normalize=normalize,
        n_grades=n_grades,
    )


def _check_grades(grades: np.ndarray, n_grades: int | None, name: str) -> None:
    most = MOST_GRADES if n_grades is None else n_grades
    if not 2 <= most <= MOST_GRADES:
        raise DataError(f"{name}: n_grades must be from 2 to {MOST_GRADES}, not {n_grades}")
    if grades.min() < 0 or grades.max() >= most:
        raise DataError(f"{name}: expected whole numbers from 0 to {most - 1} as grades")


def _assembled(
    features: np.ndarray,
    relevance: np.ndarray,
    offsets: np.ndarray,
    query_ids: tuple[str, ...],
    digest: "hashlib._Hash",
    *,
    folds: int,
    name: str,
    normalize: bool,
    n_grades: int | None,
) -> RankingDataset:
    """The data set of scaled features; `digest` has seen the features in double precision as they were given."""
    for part in (relevance, offsets):
        digest.update(part.tobytes())
    return RankingDataset(
        name=name,
        features=features,
        relevance=relevance,
        offsets=offsets,
        query_ids=query_ids,
        document_ids=None,
        folds=_folds(name, len(query_ids), folds),
        n_grades=n_grades or max(2, int(relevance.max()) + 1),
        checksum=digest.hexdigest(),
        restricted=True,
        label=f"{name} {_MARK}",
        normalization="query min-max" if normalize else "none",
    )


def finite(features: np.ndarray, name: str) -> np.ndarray:
    """A table of features in double precision.

    Raises:
        DataError: it is not a table of finite numbers that single precision can hold.
    """
    try:
        table = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: expected numbers as features, {error}") from error
    wrong = ~(np.abs(table) <= np.finfo(np.float32).max)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(f"{name}: expected finite features, found {table[row, column]} in row {row}")
    return table


def scaled(features: np.ndarray, offsets: np.ndarray, normalize: bool) -> np.ndarray:
    """Float32[documents, features], each feature scaled to [0, 1] within each query where asked.

    Differences are taken in double precision, because single precision loses those of large numbers like time stamps.
    """
    if not normalize:
        return np.ascontiguousarray(features, dtype=np.float32)
    starts = offsets[:-1]
    low = np.minimum.reduceat(features, starts, axis=0)
    spread = np.maximum.reduceat(features, starts, axis=0) - low
    sizes = np.diff(offsets)
    spread = np.repeat(np.where(spread > 0, spread, 1.0), sizes, axis=0)
    return np.ascontiguousarray((features - np.repeat(low, sizes, axis=0)) / spread, dtype=np.float32)


def from_letor(
    paths: Paths, *, folds: int = FOLDS, name: str | None = None, normalize: bool = True, n_grades: int | None = None
) -> RankingDataset:
    """Make a data set from LETOR files, plain, .gz or .xz; no query may stand in two files.

    Args:
        paths: files, patterns such as "mine/*.txt.gz", or folders, of which the files directly in them that end in
            .txt, .txt.gz or .txt.xz are read.
        folds, normalize, n_grades: as for `from_arrays`.
        name: as for `from_arrays`; None takes the first file's, or the folder's if that was given first.

    Raises:
        DataError: malformed LETOR text, with file and line; a query in two files; no matching file.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    found = [Path(each) for each in chain.from_iterable(map(_matching, given))]
    missing = [str(path) for path in found if not path.is_file()]
    if missing or not found:
        raise DataError(f"no file {missing[0]}" if missing else "no files were named")
    name = name or _called(Path(given[0]) if Path(given[0]).is_dir() else found[0])
    raw, blocks = _raw_blocks(found)
    relevance = np.concatenate([block.relevance for block in blocks])
    _check_grades(relevance, n_grades, name)
    width = max(block.n_features for block in blocks)
    features, digest, place = GrowingTable(width), hashlib.sha256(), 0
    values = raw.array().ravel()
    for block in blocks:
        shape = len(block.relevance), block.n_features
        table = np.zeros((shape[0], width))
        table[:, : shape[1]] = values[place : place + shape[0] * shape[1]].reshape(shape)
        place += shape[0] * shape[1]
        digest.update(table.data)
        features.append(scaled(table, np.concatenate([[0], np.cumsum(block.sizes)]), normalize))
    return _assembled(
        features=features.array(),
        relevance=relevance,
        offsets=np.concatenate([[0], *(block.sizes for block in blocks)]).cumsum().astype(np.int64),
        query_ids=tuple(chain.from_iterable(block.query_ids for block in blocks)),
        digest=digest,
        folds=folds,
        name=name,
        normalize=normalize,
        n_grades=n_grades,
    )


class _Block(NamedTuple):
    """Queries of one file whose features are kept elsewhere."""

    n_features: int  # of which the text names one
    relevance: np.ndarray  # int8[documents]
    sizes: np.ndarray  # int64[queries]
    query_ids: tuple[str, ...]


def _raw_blocks(paths: Sequence[Path]) -> tuple[GrowingTable, list[_Block]]:
    """Read LETOR files block by block; the values of each block follow those of the block before in one column."""
    raw, blocks = GrowingTable(1), []
    source: dict[str, Path] = {}
    for path in paths:
        for text, _ in letor_blocks(path, MOST_GRADES):
            for query in text.query_ids:
                if query in source:
                    raise DataError(f"{path}: query {query} stands in {source[query]} as well")
                source[query] = path
            raw.append(text.features.reshape(-1, 1))
            blocks.append(_Block(text.features.shape[1], text.relevance, np.diff(text.offsets), text.query_ids))
    return raw, blocks


def _called(path: Path) -> str:
    return path.resolve().name.partition(".")[0] or "own data"


def _matching(path: str | PathLike[str]) -> list[str]:
    """The files that a path stands for: itself, the LETOR files of a folder, or the files that match a pattern.

    Raises:
        DataError: a folder without LETOR files.
    """
    if Path(path).is_file():
        return [str(path)]
    if Path(path).is_dir():
        inside = sorted(str(each) for each in Path(path).iterdir() if each.name.endswith(SUFFIXES))
        if not inside:
            raise DataError(f"{path}: expected LETOR files ({', '.join(SUFFIXES)}) in this folder, found none")
        return inside
    return sorted(glob.glob(str(path))) or [str(path)]  # noqa: PTH207 - a pattern may begin at the root


# A data set of chapters and commands


def is_path(text: str) -> bool:
    """Whether a text must be a path: it exists, or has a folder, a pattern, or the ending of a LETOR file."""
    return bool(text) and (Path(text).exists() or any(sign in text for sign in "/\\*?[") or text.endswith(SUFFIXES))


def take_in(path: str) -> Entry:
    """Add files to the catalogue of this process, so that `data.load` and every declared grid find them by name.

    The name is "own-" and the first twelve digits of the content's checksum, so that the same documents are the same
    data set in any place. The label is the name of the file or folder, marked as the reader's own.

    Args:
        path: a file, a folder or a pattern, as `from_letor` takes it; a relative path stays valid if the working
            directory changes.

    Raises:
        DataError: it is no such data, or some fold has no training or no test query with a relevant document.
    """
    where = Path(path).expanduser().absolute()
    found = _with_relevant(from_letor(where), path)
    name = f"{OWN}{found.checksum[:12]}"
    called = re.sub(r"[^\w.-]+", "-", found.name)  # a figure reads $ and _ in its own way
    label = f"{called} {_MARK}"
    if label in [CATALOGUE[other].label for other in own_names() if other != name]:
        label = f"{called} {found.checksum[:6]} {_MARK}"
    it = Entry(
        name=name,
        label=label,
        title="Data of the reader's own",
        source="the reader",
        licence="the reader's own",
        restricted=True,
        kind="own",
        n_queries=found.n_queries,
        n_documents=found.n_documents,
        n_features=found.n_features,
        n_grades=found.n_grades,
        n_folds=len(found.folds),
        checksum=found.checksum,
        how_to_get="Give its path again: `ol2r run --data PATH`, or `-p datasets PATH`.",
        normalization=found.normalization,
    )
    found = replace(found, name=name, label=label)
    _PLACES[name] = where
    add_own(it, lambda: found)
    return it


_PLACES: dict[str, Path] = {}


def taken_in() -> tuple[tuple[Entry, Path], ...]:
    """The reader's own data sets in this process with their paths, for another process to `take_over`."""
    return tuple((CATALOGUE[name], _PLACES[name]) for name in own_names())


def take_over(given: Iterable[tuple[Entry, Path]]) -> None:
    """Add the data sets that another process took in; each is read when it is first loaded."""
    for it, where in given:
        _PLACES[it.name] = where
        add_own(it, cache(partial(_read_again, it, where)))


def _read_again(it: Entry, where: Path) -> RankingDataset:
    found = from_letor(where)
    if found.checksum != it.checksum:
        raise DataError(f"{where} has changed since it was first read: run again")
    return replace(found, name=it.name, label=it.label)


def _with_relevant(dataset: RankingDataset, path: str) -> RankingDataset:
    """Return the data set, if every fold has relevant documents in training and test queries; else raise DataError."""
    best = np.maximum.reduceat(dataset.relevance, dataset.offsets[:-1])
    for number, fold in enumerate(dataset.folds, start=1):
        for queries, use in ((fold.train, "learn from"), (fold.test, "test on")):
            if not best[queries].any():
                raise DataError(
                    f"{path}: none of the {len(queries)} queries fold {number} has to {use} has a relevant document"
                )
    return dataset


# Clicks

SESSION_COLUMNS = ("query", "session", "position", "item", "clicked")


def sessions(table: pd.DataFrame | str | PathLike[str]) -> dict[str, QuerySessions]:
    """Make sessions for fitting click models from a table with one row for each shown item.

    Args:
        table: columns query, session (any names), position (numbers that rise from the top), item (any name) and
            clicked (0 or 1); or a CSV file of one. White space around a number counts for nothing.

    Returns:
        The sessions of each query, by its name, in the order of the table; items are numbered as they appear.

    Raises:
        DataError: a column or value is missing, a column stands twice, a line has more or fewer values than the first,
            a position is no finite number, or a position or an item stands twice in a session.
    """
    where = "the table"
    if not isinstance(table, pd.DataFrame):
        where, table = str(table), _csv(Path(table))
    found = list(table.columns)
    for name in SESSION_COLUMNS:
        if found.count(name) != 1:
            told = f"{name!r} twice" if name in found else f"no {name!r}"
            raise DataError(f"{where}: expected the columns {', '.join(SESSION_COLUMNS)}, found {told}")
    table = table[list(SESSION_COLUMNS)]
    if table.empty or table.isna().any(axis=None):
        empty = "no line" if table.empty else f"an empty {table.columns[table.isna().any()][0]!r}"
        raise DataError(f"{where}: expected a value in every column of at least one line, found {empty}")
    position, clicked = (pd.to_numeric(table[name], errors="coerce") for name in ("position", "clicked"))
    if not np.isfinite(position).all() or not clicked.isin((0, 1)).all():
        raise DataError(f"{where}: expected numbers as positions, and 0 or 1 as clicked")
    rows = pd.DataFrame({name: table[name].astype(str) for name in ("query", "session", "item")})
    rows = rows.assign(position=position, clicked=clicked.astype(bool))
    for name in ("position", "item"):
        twice = rows[rows.duplicated(["query", "session", name])]
        if len(twice):
            line = twice.iloc[0]
            session = f"session {line['session']} of {line['query']}"
            raise DataError(f"{where}: {name} {line[name]} stands twice in {session}")
    return {str(query): _sessions(str(query), own) for query, own in rows.groupby("query", sort=False)}


def _csv(path: Path) -> pd.DataFrame:
    """The texts of a CSV file by the names of its first line; None where there is no letter.

    Pandas would take the first values of lines that are longer than the first one for the names of these lines.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, line) for line in reader if line]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: expected a CSV file, {error}") from error
    if not lines:
        raise DataError(f"{path}: expected a CSV file, found no line")
    (_, names), *lines = lines
    for number, line in lines:
        if len(line) != len(names):
            raise DataError(f"{path}:{number}: expected {len(names)} values, found {len(line)}")
    return pd.DataFrame([[text or None for text in line] for _, line in lines], columns=names, dtype=object)


def _sessions(query: str, rows: pd.DataFrame) -> QuerySessions:
    number, items = pd.factorize(rows["item"])
    session, names = pd.factorize(rows["session"])
    place = rows.groupby("session", sort=False)["position"].rank(method="first").astype(int).to_numpy() - 1
    lists = np.full((len(names), int(place.max()) + 1), -1, dtype=np.int64)
    clicks = np.zeros(lists.shape, dtype=bool)
    lists[session, place] = number
    clicks[session, place] = rows["clicked"]
    return QuerySessions(query, tuple(items), lists, clicks)


def _folds(name: str, n_queries: int, n: int) -> tuple[Fold, ...]:
    if not 2 <= n <= n_queries:
        raise DataError(
            f"{name}: {n_queries} queries cannot be cut into {n} folds, which are at least 2, each with a query of its "
            "own to test on"
        )
    parts = [np.sort(part) for part in np.array_split(generator("folds of own data", 0).permutation(n_queries), n)]
    none = np.empty(0, dtype=np.int64)
    return tuple(
        Fold(
            train=np.sort(np.concatenate([parts[j] for j in range(n) if j not in (f, (f - 1) % n if n > 2 else f)])),
            validation=parts[f - 1] if n > 2 else none,
            test=parts[f],
        )
        for f in range(n)
    )
