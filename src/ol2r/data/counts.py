"""Click logs as counts: how often each item of a query was shown at each position, and how often it was clicked there.

Such a log says nothing of sessions, so only a position-based model can be fitted to it. This module must not know how
that is done.
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from ol2r.data.catalogue import entry, note_read
from ol2r.data.sessions import QueryCounts, checked_files, read_text
from ol2r.errors import DataError, one_of

COLUMNS = ("query", "url", "pos", "Impression", "Click")
EXCESS = ("limit", "drop", "error")


class CountLog(NamedTuple):
    """Counts by query, and the rows of the file that have more clicks than views, as 'query, item, position'."""

    queries: dict[str, QueryCounts]
    excess: tuple[str, ...]


def read_counts(path: Path, *, excess: Literal["limit", "drop", "error"]) -> CountLog:
    """Read counts from a CSV file, one row for each item and position of a query.

    Args:
        path: .xz, .gz or plain; columns query, url, pos (from 0), Impression, Click, and any others.
        excess: a row with more clicks than views counts all views as clicked (`"limit"`), is left out (`"drop"`) or is
            an error (`"error"`). Such rows come from users who click an item more than once.

    Raises:
        DataError: with file, line and what was expected there.
    """
    one_of(excess, EXCESS, "treatment of rows with more clicks than views")
    lines = list(csv.reader(read_text(path).splitlines()))
    header = lines[0] if lines else []
    if any(header.count(name) != 1 for name in COLUMNS):
        raise DataError(f"{path}:1: expected the columns {', '.join(COLUMNS)}, found {', '.join(header) or 'none'}")
    places = [header.index(name) for name in COLUMNS]
    kept: dict[str, dict[tuple[str, int], tuple[int, int]]] = {}
    named = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        if len(line) != len(header):
            raise DataError(f"{path}:{number}: expected {len(header)} values, found {len(line)}")
        query, item, *counts = (line[place].strip() for place in places)
        position, views, clicks = (_whole(text, f"{path}:{number}") for text in counts)
        cells = kept.setdefault(query, {})
        if (item, position) in cells:
            raise DataError(f"{path}:{number}: item {item} of query {query} stands at position {position} twice")
        if clicks > views:
            if excess == "error":
                raise DataError(f"{path}:{number}: expected at most {views} clicks, as there are views, found {clicks}")
            named.append(f"{query}, {item}, {position}")
        cells[item, position] = (0, 0) if clicks > views and excess == "drop" else (views, min(clicks, views))
    if not kept:
        raise DataError(f"{path}: expected at least one row of counts")
    n_positions = 1 + max(position for cells in kept.values() for _, position in cells)
    return CountLog({query: _counts(query, cells.items(), n_positions) for query, cells in kept.items()}, tuple(named))


def _whole(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise DataError(f"{where}: expected a whole number from 0, found {text!r}")
    return int(text)


def _counts(query: str, cells: Iterable[tuple[tuple[str, int], tuple[int, int]]], n_positions: int) -> QueryCounts:
    items: dict[str, int] = {}
    for (item, _), _ in cells:
        items.setdefault(item, len(items))
    views, clicks = np.zeros((2, len(items), n_positions), dtype=np.int64)
    for (item, position), counts in cells:
        views[items[item], position], clicks[items[item], position] = counts
    return QueryCounts(query, tuple(items), views, clicks)


def load_counts(*, excess: Literal["limit", "drop", "error"], folder: Path | None = None) -> CountLog:
    """The second sample of Yandex's log in the catalogue: 60 queries, as counts.

    Args:
        excess: see `read_counts`.
        folder: where it is (None: where the catalogue finds it).

    Raises:
        MissingData: not at hand; says where to get it.
        DataError: the file is not what it should be.
    """
    name = "Yandex_60Q_aggregated"
    (path,), checksum = checked_files(name, folder)
    log = read_counts(path, excess=excess)
    views = sum(int(it.views.sum()) for it in log.queries.values())
    found = {"queries": len(log.queries), "views": views, "rows with more clicks than views": len(log.excess)}
    note_read(entry(name), checksum, found)
    return log
