"""A reader's own data. It makes a `RankingDataset` from arrays or LETOR files, adds files to the catalogue for chapters
and commands until the process ends, and makes sessions from tables of clicks.

Such a data set is known by what it is: its name is "own-" and the first digits of the digest of its content and folds,
and its random streams are named by that. What a reader calls it, and where it lies, changes no number.

Folds are cut here, by queries: fold f tests on part f, validates on the part before it where there are three or more,
and learns from the rest, as the folds of LETOR 4.0 do. Or they are the publisher's, where a folder has them.
"""

import csv
import glob
import hashlib
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, combinations
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ol2r.arrays import plain
from ol2r.data.cache import GrowingTable, array_digest
from ol2r.data.catalogue import (
    CATALOGUE,
    OWN,
    SUFFIXES,
    USUAL_NAMES,
    Entry,
    KnownQuery,
    add_own,
    letor_files,
    letor_suffix,
    number_queries,
    own_names,
    same_content,
    select_queries,
)
from ol2r.data.dataset import Fold, RankingDataset
from ol2r.data.letor import letor_blocks
from ol2r.data.sessions import QuerySessions
from ol2r.errors import DataError, one_of
from ol2r.random import generator
from ol2r.ranking.constants import MOST_GRADES

FOLDS = 5
Split = Literal["given", "cut"] | None
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
        features: Float[documents, features], finite; a sparse matrix of scipy is taken as well.
        relevance: Int[documents], grades from 0.
        query: for each document, the id of its query; the documents of a query need not stand together.
        folds: number of folds, at least two.
        name: name in figures, where it is marked as the reader's own; it changes no number.
        normalize: whether to scale each feature to [0, 1] within each query, as the papers do.
        n_grades: number of grades, from 2 to 127: grades are 0 … n_grades − 1, and how simulated users click depends on
            this number; None takes the highest grade in the data for the last.

    Raises:
        DataError: the arrays do not fit together, a value is not finite, a grade is no whole number from 0 to 126,
            n_grades is out of range, two queries have one name, or there are fewer queries than folds.
    """
    features, relevance, query = (
        plain(each, f"{name}: {what}")
        for each, what in ((features, "features"), (relevance, "grades"), (query, "queries' ids"))
    )
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
    numeric = relevance.dtype.kind in "iufb" and (np.abs(relevance.astype(np.float64)) <= MOST_GRADES).all()
    grades = relevance.astype(np.int64) if numeric else np.full(len(relevance), -1)
    _check_grades(np.where(grades == relevance, grades, -1) if numeric else grades, n_grades, name)
    unnamed = np.flatnonzero(pd.isna(query))
    if len(unnamed):
        raise DataError(f"{name}: expected a query's id for every document, found none in row {unnamed[0]}")
    place, ids = pd.factorize(query)  # queries in the order in which they appear
    order = np.argsort(place, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(place))]).astype(np.int64)
    features, grades = features[order], grades[order].astype(np.int8)
    names = tuple(each.decode(errors="replace") if isinstance(each, bytes) else str(each) for each in ids)
    return _assembled(
        features=scaled(features, offsets, normalize),
        relevance=grades,
        offsets=offsets,
        query_ids=names,
        folds=_folds(name, len(names), folds),
        name=name,
        normalize=normalize,
        n_grades=n_grades,
    )


def _check_grades(grades: np.ndarray, n_grades: int | None, name: str) -> None:
    most = MOST_GRADES if n_grades is None else n_grades
    if not 2 <= most <= MOST_GRADES:
        raise DataError(f"{name}: n_grades must be from 2 to {MOST_GRADES}, not {n_grades}")
    if grades.min() < 0 or grades.max() >= most:
        told = " (no larger one is kept)" if most == MOST_GRADES else ""
        raise DataError(f"{name}: expected whole numbers from 0 to {most - 1} as grades{told}")


def _assembled(
    features: np.ndarray,
    relevance: np.ndarray,
    offsets: np.ndarray,
    query_ids: tuple[str, ...],
    folds: tuple[Fold, ...],
    *,
    name: str,
    normalize: bool,
    n_grades: int | None,
) -> RankingDataset:
    """The data set of scaled features, known by the digest of its content and folds."""
    if len(set(query_ids)) < len(query_ids):
        twice = next(each for each in query_ids if query_ids.count(each) > 1)
        raise DataError(f"{name}: two queries have the name {twice!r}")
    parts = [features, relevance, offsets, *chain.from_iterable((f.train, f.validation, f.test) for f in folds)]
    checksum = hashlib.sha256("".join(map(array_digest, parts)).encode()).hexdigest()
    return RankingDataset(
        name=f"{OWN}{checksum[:12]}",
        features=features,
        relevance=relevance,
        offsets=offsets,
        query_ids=query_ids,
        document_ids=None,
        folds=folds,
        n_grades=n_grades or max(2, int(relevance.max()) + 1),
        checksum=checksum,
        restricted=True,
        label=f"{name} {_MARK}",
        normalization="query min-max" if normalize else "none",
    )


def finite(features: np.ndarray, name: str) -> np.ndarray:
    """A table of features in double precision.

    Raises:
        DataError: it is not a table of finite numbers that single precision can hold.
    """
    table = plain(features, f"{name}: features")
    if table.dtype.kind not in "iufbOUS":
        raise DataError(f"{name}: expected numbers as features, found {table.dtype}")
    try:
        table = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: expected numbers as features, {error}") from error
    wrong = ~(np.abs(table) <= np.finfo(np.float32).max)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0])
        where = f" in row {place[0]}" if len(place) == 2 else ""
        raise DataError(f"{name}: expected finite features, found {table[place]}{where}")
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
    paths: Paths,
    *,
    folds: int | None = None,
    name: str | None = None,
    normalize: bool = True,
    n_grades: int | None = None,
    split: Split = None,
) -> RankingDataset:
    """Make a data set from LETOR files, plain, .gz or .xz.

    A folder may hold the publisher's own split: files for training and testing, and for validation if there are any,
    under usual names (train, vali and test, or trainingset, validationset and testset, among others), directly or in
    one folder for each fold. It is taken as it is, with a fold for each such folder.

    Args:
        paths: files, patterns such as "mine/*.txt.gz", or folders, of which the files directly in them that end in
            .txt, .txt.gz or .txt.xz, in small letters or capitals, are read; a warning names every other file.
        folds: number of folds to cut, five unless given.
        normalize, n_grades: as for `from_arrays`.
        name: as for `from_arrays`; None takes the first file's, or the folder's if that was given first.
        split: "given" takes the publisher's split, "cut" reads all files together and cuts folds; None takes the
            publisher's split if `paths` is one folder that has it, and else cuts.

    Raises:
        DataError: malformed LETOR text, with file and line; a query in two files that are read together, or in two
            splits of a fold; no matching file; no split that could be taken as given, or `folds` beside it.
    """
    result, unread = _from_letor(paths, folds=folds, name=name, normalize=normalize, n_grades=n_grades, split=split)
    if unread:
        told = "; ".join(f"{path} ({reason})" for path, reason in unread)
        warnings.warn(f"{len(unread)} of what is in the folder was not read: {told}", stacklevel=2)
    return result


Unread = list[tuple[Path, str]]


def _from_letor(
    paths: Paths, *, folds: int | None, name: str | None, normalize: bool, n_grades: int | None, split: Split
) -> tuple[RankingDataset, Unread]:
    """As `from_letor`, with what was not read, and why."""
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    unread: Unread = []
    if split is not None:
        one_of(split, ("given", "cut"), "split")
    publishers = _given_split(Path(given[0]), unread) if len(given) == 1 and split != "cut" else []
    if split == "given" and not publishers:
        raise DataError(
            f"{given[0] if given else paths}: expected a folder with the publisher's split: files such as train.txt, "
            "vali.txt and test.txt, or folders Fold1, Fold2, … of such files"
        )
    if publishers and folds is not None:
        raise DataError(f"{given[0]} has the publisher's own split: leave out folds, or say split='cut' to cut {folds}")
    found = [*chain.from_iterable(map(dict.values, publishers))] if publishers else []
    if not publishers:
        unread.clear()
        found = [Path(each) for each in chain.from_iterable(_matching(each, unread) for each in given)]
    missing = [str(path) for path in found if not path.is_file()]
    if missing or not found:
        raise DataError(f"no file {missing[0]}" if missing else "no files were named")
    name = name or _called(Path(given[0]) if Path(given[0]).is_dir() else found[0])
    raw, blocks, members, query_ids = _read(found, normalize, together=not publishers)
    relevance = np.concatenate([block.relevance for block in blocks])
    _check_grades(relevance, n_grades, name)
    width = max(block.n_features for block in blocks)
    features, place = GrowingTable(width), 0
    values = raw.array().ravel()
    for block in blocks:
        shape = len(block.relevance), block.n_features
        table = np.zeros((shape[0], width), dtype=np.float32)
        table[:, : shape[1]] = values[place : place + shape[0] * shape[1]].reshape(shape)
        place += shape[0] * shape[1]
        features.append(table)
    made = _assembled(
        features=features.array(),
        relevance=relevance,
        offsets=np.concatenate([[0], *(block.sizes for block in blocks)]).cumsum().astype(np.int64),
        query_ids=query_ids,
        folds=_folds_given(publishers, members, query_ids)
        if publishers
        else _folds(name, len(query_ids), FOLDS if folds is None else folds),
        name=name,
        normalize=normalize,
        n_grades=n_grades,
    )
    return made, unread


class _Block(NamedTuple):
    """Queries of one file whose features are kept elsewhere."""

    n_features: int  # of which the text names one
    relevance: np.ndarray  # int8[documents]
    sizes: np.ndarray  # int64[queries]


def _read(
    paths: Sequence[Path], normalize: bool, *, together: bool
) -> tuple[GrowingTable, list[_Block], dict[Path, np.ndarray], tuple[str, ...]]:
    """Read LETOR files block by block, and keep each query once.

    Args:
        together: whether no query may stand in two files.

    Returns:
        The scaled features, of which those of each block follow those of the block before in one column; the blocks;
        the numbers of the queries of each file, int64[queries]; and the names of all queries.
    """
    raw, blocks = GrowingTable(1), []
    queries: dict[str, KnownQuery] = {}
    members: dict[Path, np.ndarray] = {}
    for path in paths:
        same = None if together else next((other for other in members if same_content(path, other)), None)
        if same is not None:  # folds repeat whole files
            members[path] = members[same]
            continue
        numbers: list[int] = []
        for text, source in letor_blocks(path, MOST_GRADES, double=True):
            known = [query in queries for query in text.query_ids]
            if together and any(known):
                query = text.query_ids[known.index(True)]
                raise DataError(f"{path}: query {query} stands in {queries[query].source} as well")
            numbers += number_queries(text, source, str(path), queries)
            if all(known):
                continue
            new = select_queries(text, np.flatnonzero(~np.array(known))) if any(known) else text
            raw.append(scaled(new.features, new.offsets, normalize).reshape(-1, 1))
            blocks.append(_Block(new.features.shape[1], new.relevance, np.diff(new.offsets)))
        members[path] = np.array(numbers, dtype=np.int64)
    return raw, blocks, members, tuple(queries)


def _called(path: Path) -> str:
    return path.resolve().name.partition(".")[0] or "own data"


def _matching(path: str | PathLike[str], unread: Unread) -> list[str]:
    """The files that a path stands for: itself, the LETOR files of a folder, or the files that match a pattern.

    Raises:
        DataError: a folder without LETOR files.
    """
    if Path(path).is_file():
        return [str(path)]
    if Path(path).is_dir():
        inside = sorted(Path(path).iterdir())
        files = [each for each in inside if each.is_file() and letor_suffix(each.name)]
        unread += [(each, _reason(each)) for each in inside if each not in files]
        if not files:
            raise DataError(f"{path}: expected LETOR files ({', '.join(SUFFIXES)}) in this folder, found none")
        return [str(each) for each in files]
    return sorted(glob.glob(str(path))) or [str(path)]  # noqa: PTH207 - a pattern may begin at the root


def _reason(path: Path) -> str:
    """Why a path inside a folder is not read."""
    if path.is_dir():
        return "a folder; only files directly in the folder are read"
    return "its name is not that of a part of the split" if letor_suffix(path.name) else f"not {', '.join(SUFFIXES)}"


# The publisher's split


def _given_split(folder: Path, unread: Unread) -> list[dict[str, Path]]:
    """The files of each fold, by role, where a folder has the publisher's split; else nothing.

    Raises:
        DataError: two files of a fold have the same role.
    """
    if not folder.is_dir():
        return []
    inside = sorted(folder.iterdir(), key=lambda path: [int(n) if n.isdigit() else n for n in _DIGITS.split(path.name)])
    here = _roles(folder)
    if "train" in here and "test" in here:
        unread += [(each, _reason(each)) for each in inside if each not in here.values()]
        return [here]
    folds = []
    for each in inside:
        roles = _roles(each) if each.is_dir() else {}
        if "train" in roles and "test" in roles:
            folds.append(roles)
            unread += [(file, _reason(file)) for file in sorted(each.iterdir()) if file not in roles.values()]
        else:
            unread.append((each, "no folder with files for training and testing"))
    return folds


_DIGITS = re.compile(r"(\d+)")


def _roles(folder: Path) -> dict[str, Path]:
    """The files of a fold by role: those whose name, or its last part, is a usual one of train, validation or test."""
    roles: dict[str, Path] = {}
    for stem, path in letor_files(str(folder)).items():
        role = next((role for role, names in USUAL_NAMES.items() if re.split(r"[._-]", stem)[-1] in names), None)
        if role is not None and role in roles:
            raise DataError(f"{folder}: expected one file for {role}, found {roles[role].name} and {path.name}")
        if role is not None:
            roles[role] = path
    return {role: roles[role] for role in USUAL_NAMES if role in roles}


def _folds_given(
    publishers: Sequence[Mapping[str, Path]], members: Mapping[Path, np.ndarray], query_ids: Sequence[str]
) -> tuple[Fold, ...]:
    """The folds of the publisher's split.

    Raises:
        DataError: a query stands in two files of one fold.
    """
    for roles in publishers:
        for one, other in combinations(roles.values(), 2):
            shared = np.intersect1d(members[one], members[other])
            if len(shared):
                raise DataError(f"{other}: query {query_ids[shared[0]]} stands in {one} as well")
    none = np.empty(0, dtype=np.int64)
    return tuple(
        Fold(**{role: members[roles[role]] if role in roles else none for role in USUAL_NAMES}) for roles in publishers
    )


# A data set of chapters and commands


def is_path(text: str) -> bool:
    """Whether a text must be a path: it exists, or has a folder, a pattern, or the ending of a LETOR file."""
    looks = any(sign in text for sign in "/\\*?[") or letor_suffix(text) is not None
    return bool(text) and (looks or Path(text).exists())


class Place(NamedTuple):
    """Where a reader's own data lies, and how its folds are made; see `from_letor`."""

    path: Path
    split: Split


def take_in(path: str, split: Split = None) -> Entry:
    """Add files to the catalogue of this process, so that `data.load` and every declared grid find them by name.

    Their name is that of `from_letor`'s data set, which content and folds decide, so that the same documents are the
    same data set in any place. The label is the name of the file or folder, marked as the reader's own.

    Args:
        path: a file, a folder or a pattern, as `from_letor` takes it; a relative path stays valid if the working
            directory changes.
        split: as for `from_letor`.

    Raises:
        DataError: it is no such data, or some fold has no training or no test query with a relevant document.
    """
    where = Place(Path(path).expanduser().absolute(), split)
    found = _with_relevant(from_letor(where.path, split=split), path)
    name = found.name
    called = re.sub(r"[^\w.-]+", "-", found.label.removesuffix(f" {_MARK}"))  # a figure reads $ and _ in its own way
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
    found = replace(found, label=label)
    _PLACES[name] = where
    add_own(it, lambda: found)
    return it


_PLACES: dict[str, Place] = {}


def taken_in() -> tuple[tuple[Entry, Place], ...]:
    """The reader's own data sets in this process with their places, for another process to `take_over`."""
    return tuple((CATALOGUE[name], _PLACES[name]) for name in own_names())


def take_over(given: Iterable[tuple[Entry, Place]]) -> None:
    """Add the data sets that another process took in; each is read when it is first loaded."""
    for it, where in given:
        _PLACES[it.name] = where
        add_own(it, cache(partial(_read_again, it, where)))


def _read_again(it: Entry, where: Place) -> RankingDataset:
    found, _ = _from_letor(where.path, folds=None, name=None, normalize=True, n_grades=None, split=where.split)
    if found.checksum != it.checksum:
        raise DataError(f"{where.path} has changed since it was first read: run again")
    return replace(found, label=it.label)


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
