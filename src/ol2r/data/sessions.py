"""Click logs: search sessions and counts of single queries, and the click models that others fitted to such logs.

This module knows files and their mistakes; it must not know what a click model means or how one is fitted.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from ol2r.arrays import checked
from ol2r.data.catalogue import entry, note_read, source_checksum
from ol2r.data.letor import read_bytes
from ol2r.errors import DataError

UNSHOWN = ("ignore", "drop", "error")


@dataclass(frozen=True, eq=False)
class QueryCounts:
    """The counts of one query.

    Args:
        query: name of the query in the log.
        items: names of its items in the log.
        views: int64[items, positions], how often each item was shown at each position, from the top.
        clicks: int64[items, positions].

    Raises:
        DataError: arrays that do not fit together or hold other numbers, a negative number, or more clicks than views.
    """

    query: str
    items: tuple[str, ...]
    views: np.ndarray
    clicks: np.ndarray

    def __post_init__(self) -> None:
        shape = len(self.items), None
        for name in ("views", "clicks"):
            array = checked(getattr(self, name), f"query {self.query}: {name}", shape, np.int64)
            object.__setattr__(self, name, array)
            shape = array.shape
        _different(self.query, self.items)
        if (self.clicks < 0).any() or (self.clicks > self.views).any():
            raise DataError(f"query {self.query}: expected from 0 clicks to as many as there are views")

    def most_frequent_list(self, slots: int) -> np.ndarray:
        """At each position from the top, the item that was shown there most often and stands at none above it.

        Args:
            slots: length of the list.

        Returns:
            int64[slots], numbers of items; of two that were shown equally often, the earlier one.

        Raises:
            DataError: there are fewer items or positions.
        """
        if slots > min(self.views.shape):
            raise DataError(
                f"query {self.query}: expected {slots} items and positions, found {len(self.items)} and "
                f"{self.views.shape[1]}"
            )
        free, chosen = np.ones(len(self.items), dtype=bool), []
        for position in range(slots):
            chosen.append(int(np.where(free, self.views[:, position], -1).argmax()))
            free[chosen[-1]] = False
        return np.array(chosen, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class QuerySessions:
    """The sessions of one query, in the log's order: the items that were shown, and which of them were clicked.

    Args:
        query: name of the query in the log.
        items: names of its items in the log; lists number them from 0.
        lists: int64[sessions, positions], from the top, −1 below the end of a shorter list.
        clicks: bool[sessions, positions].

    Raises:
        DataError: arrays that do not fit together or hold other values, an unknown item, an item twice in a list, a
            click on nothing.
    """

    query: str
    items: tuple[str, ...]
    lists: np.ndarray
    clicks: np.ndarray

    def __post_init__(self) -> None:
        shape = None, None
        for name, dtype in (("lists", np.int64), ("clicks", np.bool_)):
            array = checked(getattr(self, name), f"query {self.query}: {name}", shape, dtype)
            object.__setattr__(self, name, array)
            shape = array.shape
        shown = self.shown
        if self.lists.size and (self.lists.min() < -1 or self.lists.max() >= len(self.items)):
            raise DataError(f"query {self.query}: a list shows an item outside 0 … {len(self.items) - 1}")
        if (shown[:, 1:] & ~shown[:, :-1]).any() or (self.clicks & ~shown).any():
            raise DataError(f"query {self.query}: an item or a click stands below the end of its list")
        ordered = np.sort(self.lists, axis=1)
        if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
            raise DataError(f"query {self.query}: a list shows an item twice")
        _different(self.query, self.items)

    def __len__(self) -> int:
        return len(self.lists)

    @property
    def shown(self) -> np.ndarray:
        """Where a list shows an item: bool[sessions, positions]."""
        return self.lists >= 0

    def counts(self) -> QueryCounts:
        """How often each item was shown and clicked at each position."""
        views, clicks = np.zeros((2, len(self.items), self.lists.shape[1]), dtype=np.int64)
        places = np.broadcast_to(np.arange(self.lists.shape[1]), self.lists.shape)
        np.add.at(views, (self.lists[self.shown], places[self.shown]), 1)
        np.add.at(clicks, (self.lists[self.clicks], places[self.clicks]), 1)
        return QueryCounts(self.query, self.items, views, clicks)

    def most_frequent_list(self, slots: int | None = None) -> np.ndarray:
        """The list shown most often, the earliest in a tie, cut to `slots` items (None: all of them): int64[slots].

        BubbleRank's initial list: what the production ranker shows when it does not personalise.

        Raises:
            DataError: no sessions, or a list that is shorter than `slots`.
        """
        if not len(self):
            raise DataError(f"query {self.query}: expected at least one session")
        ((most, _),) = Counter(map(tuple, self.lists.tolist())).most_common(1)
        shown = [item for item in most if item >= 0]
        if slots is not None and len(shown) < slots:
            raise DataError(
                f"query {self.query}: expected {slots} items in its most frequent list, found {len(shown)} "
                f"({len(self.items)} items in all)"
            )
        return np.array(shown[:slots], dtype=np.int64)


def _different(query: str, items: tuple[str, ...]) -> None:
    if len(set(items)) < len(items):
        twice = next(item for item, count in Counter(items).items() if count > 1)
        raise DataError(f"query {query}: two items have the name {twice!r}")


class SessionLog(NamedTuple):
    """One file of sessions, by query, and how many of its clicks fell on items that were not shown."""

    queries: dict[str, QuerySessions]
    unshown_clicks: int  # of all sessions, kept or not
    unshown_sessions: int  # that have at least one such click

    @property
    def n_sessions(self) -> int:
        return sum(map(len, self.queries.values()))


def read_sessions(
    *paths: Path, positions: int | None = None, unshown: Literal["ignore", "drop", "error"]
) -> tuple[SessionLog, ...]:
    """Read session logs, `query<TAB>item,item,… : clicked , clicked ; query<TAB>…`, one or more sessions a line.

    All files number the items of a query in the same way, so that a model fitted to one file can be tested on another;
    arrays have room for the longest list of all. The order of clicks and repeated clicks are not kept. Names must not
    contain a colon, which separates a list from its clicks; replace web addresses by numbers first.

    Args:
        paths: .xz, .gz or plain files.
        positions: a longer list is an error; None takes lists of any length.
        unshown: a click on an item that the list does not show is passed over (`"ignore"`), takes its session with it
            (`"drop"`) or is an error (`"error"`).

    Raises:
        DataError: with file, line, session and what was expected there; also where a file has no session.
    """
    if unshown not in UNSHOWN:
        raise ValueError(f"unshown must be one of {UNSHOWN}, not {unshown!r}")
    items: dict[str, dict[str, int]] = {}  # by query: number of each item
    read = [_read(path, positions, unshown, items) for path in paths]
    rows = chain.from_iterable(chain.from_iterable(sessions.values()) for sessions, *_ in read)
    longest = max((len(row) for row, _ in rows), default=0)
    return tuple(
        SessionLog(
            {query: _assemble(query, tuple(items[query]), rows, longest) for query, rows in sessions.items()}, *tally
        )
        for sessions, *tally in read
    )


def _read(path: Path, positions: int | None, unshown: str, items: dict[str, dict[str, int]]):
    sessions: dict[str, list[tuple[list[int], list[int]]]] = {}
    unshown_clicks = unshown_sessions = 0
    for line_number, line in enumerate(read_text(path).split("\n"), start=1):
        for number, session in enumerate(filter(None, map(str.strip, line.split(";"))), start=1):
            where = f"{path}:{line_number}: session {number}"
            query, shown, clicked = _session(session, where, positions)
            strange = [item for item in clicked if item not in shown]
            unshown_clicks += len(strange)
            unshown_sessions += bool(strange)
            if strange and unshown == "error":
                raise DataError(f"{where}: expected clicks on items that it shows, found one on {strange[0]!r}")
            if strange and unshown == "drop":
                continue
            known = items.setdefault(query, {})
            row = [known.setdefault(item, len(known)) for item in shown]
            sessions.setdefault(query, []).append((row, [shown.index(item) for item in clicked if item in shown]))
    if not sessions:
        raise DataError(f"{path}: expected at least one session")
    return sessions, unshown_clicks, unshown_sessions


def read_text(path: Path) -> str:
    """The text of a plain, .gz or .xz file, without the byte-order mark that some editors put first."""
    try:
        return read_bytes(path).tobytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected text in UTF-8, found other bytes at {error.start}") from error


def _session(text: str, where: str, positions: int | None) -> tuple[str, list[str], list[str]]:
    """Parse a session: its query, items from the top, and clicked items."""
    name, *rest = text.split("\t")
    if (colons := text.count(":")) > 1:
        raise DataError(
            f"{where}: expected one ':', which ends the list, found {colons} in {text[:60]!r}; names with one, such as "
            "web addresses, must be replaced by others"
        )
    fields = rest[0].split(":") if len(rest) == 1 else []
    if len(fields) != 2 or not name.strip():
        raise DataError(f"{where}: expected 'query<TAB>item,… : clicked , …', found {text[:60]!r}")
    query, shown, clicked = name.strip(), _names(fields[0]), _names(fields[1]) if fields[1].strip() else []
    if not all(shown) or not all(clicked):
        raise DataError(f"{where}: expected an item between commas, found none in {text[:60]!r}")
    if positions is not None and len(shown) > positions:
        raise DataError(f"{where}: expected at most {positions} items, found {len(shown)}")
    if len(set(shown)) < len(shown):
        twice = next(item for item, count in Counter(shown).items() if count > 1)
        raise DataError(f"{where}: expected different items, found {twice!r} twice")
    return query, shown, clicked


def _names(field: str) -> list[str]:
    return [name.strip() for name in field.split(",")]


def _assemble(query: str, items: tuple[str, ...], rows: list, positions: int) -> QuerySessions:
    lists = np.full((len(rows), positions), -1, dtype=np.int64)
    clicks = np.zeros((len(rows), positions), dtype=np.bool_)
    for i, (row, clicked) in enumerate(rows):
        lists[i, : len(row)] = row
        clicks[i, clicked] = True
    return QuerySessions(query, items, lists, clicks)


def load_sessions(
    *, unshown: Literal["ignore", "drop", "error"], folder: Path | None = None
) -> tuple[SessionLog, SessionLog]:
    """The Yandex sessions of the catalogue, for training and for testing; `98435_1` is query 98435 in region 1.

    Args:
        unshown: see `read_sessions`.
        folder: where they are (None: where the catalogue finds them).

    Raises:
        MissingData: not at hand; says where to get them.
        DataError: the files are not what they should be.
    """
    name = "Yandex_WSCD_sample"
    paths, checksum = checked_files(name, folder)
    train, test = read_sessions(*paths, unshown=unshown)
    queries = train.queries.keys() | test.queries.keys()
    note_read(entry(name), checksum, {"queries": len(queries), "sessions": train.n_sessions + test.n_sessions})
    return train, test


class FittedModel(NamedTuple):
    """A click model as its collection prints it: attraction by item, in the order of the search result."""

    attraction: tuple[float, ...]
    position: tuple[float, ...]  # by position, whatever it means in the model; empty where the model has none


_COLUMNS = {"CM": 1, "DCM": 2, "PBM": 2}


def load_fitted_models(model: Literal["CM", "DCM", "PBM"], folder: Path | None = None) -> dict[str, FittedModel]:
    """The models of BatchRank's collection, 60 queries of 10 items, by query; see `read_fitted_models`.

    Args:
        model: which of them.
        folder: where they are (None: where the catalogue finds them).

    Raises:
        MissingData: not at hand; says where to get it.
        DataError: the file is not what it should be.
    """
    name = "Yandex_60Q_click_models"
    (path,), checksum = checked_files(name, folder)
    models = read_fitted_models(path, model)
    note_read(entry(name), checksum, {"queries": len(models)})
    return models


def read_fitted_models(path: Path, model: Literal["CM", "DCM", "PBM"]) -> dict[str, FittedModel]:
    """Read one kind of model from a collection: `{model: {query: {"model": {"args": [row, …, seed]}}}}`.

    The rows of CM are [attraction], of DCM [attraction, probability of leaving after a click, by position], of PBM
    [attraction, examination by position].

    Raises:
        DataError: with file, query and what was expected.
    """
    if model not in _COLUMNS:
        raise ValueError(f"model must be one of {tuple(_COLUMNS)}, not {model!r}")
    try:
        collection = json.loads(read_text(path), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: expected JSON, found {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a name twice, a number of too many digits, lists in lists in lists
        raise DataError(f"{path}: expected models by query, found {error}") from error
    if not isinstance(collection, dict) or not isinstance(queries := collection.get(model), dict) or not queries:
        raise DataError(f"{path}: expected models of kind {model} by query")
    return {
        query: _fitted(value, _COLUMNS[model], f"{path}: {model} of query {query}") for query, value in queries.items()
    }


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, in which no name may stand twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"{twice!r} twice")
    return found


def _fitted(value: object, columns: int, where: str) -> FittedModel:
    try:
        *rows, _ = value["model"]["args"]  # type: ignore[index]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{where}: expected rows of probabilities and a seed in model.args") from error
    if not all(isinstance(row, list) and all(type(p) in (int, float) for p in row) for row in rows):
        raise DataError(f"{where}: expected rows of probabilities and a seed in model.args")
    if len(rows) != columns or not all(rows):
        raise DataError(f"{where}: expected {columns} rows of probabilities, found {len(rows)}")
    if not all(0 <= p <= 1 for p in chain(*rows)):
        raise DataError(f"{where}: expected probabilities in [0, 1]")
    rows = [tuple(map(float, row)) for row in rows]
    return FittedModel(rows[0], rows[1] if columns == 2 else ())


def checked_files(name: str, folder: Path | None) -> tuple[list[Path], str]:
    """The files of a click log of the catalogue, after checking their text, and their checksum."""
    it = entry(name)
    folder = folder or it.require()
    paths = [folder / file for file in it.files]
    checksum = source_checksum([(path.name, hashlib.sha256(read_bytes(path).data).hexdigest()) for path in paths])
    if it.checksum is not None and checksum != it.checksum:
        raise DataError(f"{folder}: expected the checksum {it.checksum} for {name}, found {checksum}")
    return paths, checksum
