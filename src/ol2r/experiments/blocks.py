"""Blocks of a cell's rows that are stored together, and their tables; the same for scratch and published results."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby

import numpy as np
import pandas as pd
import pyarrow as pa

from ol2r.errors import Failed
from ol2r.experiments.cells import Cell, Row

SEEDS_PER_BLOCK = 5
"""Seeds 0-4, 5-9, … of all folds asked for make a block; a whole block is one file."""

PER_DOCUMENT = frozenset({"document", "document_id", "query", "query_id"})

_NAME = re.compile(r"folds(?P<folds>\d+(?:-\d+|(?:\.\d+)*))-seeds(?P<first>\d+)-(?P<last>\d+)\.parquet")


class StoreWarning(UserWarning):
    """A stored file is damaged, or two runs disagree."""


class StoreError(Failed):
    """A table cannot be stored."""


class Block(ABC):
    """A stored block: the results of some rows of a cell, with the record of their provenance."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Of the cell."""

    @property
    @abstractmethod
    def rows(self) -> tuple[Row, ...]: ...

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages call it."""

    @abstractmethod
    def content(self) -> tuple[pa.Table, dict]:
        """Its table, without metadata, and its provenance record.

        Raises:
            FileNotFoundError: it is gone.
            ValueError: it is damaged; the message says how.
        """

    def read(self) -> tuple[pd.DataFrame, dict]:
        """As `content`, with the table as pandas has it."""
        table, record = self.content()
        return table.to_pandas(use_threads=False), record


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


def lines_of(table: pd.DataFrame | pa.Table, rows: Iterable[Row]) -> np.ndarray:
    """Which of the table's lines belong to some rows: Bool[lines]."""
    return np.isin(_codes(table), [(row.fold << 32) + row.seed for row in rows])


def select(frame: pd.DataFrame, rows: Iterable[Row]) -> pd.DataFrame:
    """The table's lines of some rows, sorted by fold and seed."""
    wanted = lines_of(frame, rows)
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
