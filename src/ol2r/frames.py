"""Rows, groups and lines of a table, with the types that pandas itself cannot state: one place for what is not checked.

A table's columns are known at run time only. The type stubs give a cell of a column the type `Any`, but a cell of a row
the type of every scalar that pandas has, a group's key the type `Hashable`, and a line "a series, a frame or a scalar".
These functions do what pandas does and give a cell and a key the type `Any` everywhere. They know no table.
"""

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import pandas as pd


class Row(Protocol):
    """A row of a table: each column is an attribute, and `Index` is the row's label."""

    def __getattr__(self, column: str, /) -> Any: ...


def rows(table: "pd.DataFrame") -> Iterator[Row]:
    """The rows of a table from the top, for a table whose columns have names that Python allows for attributes."""
    return cast(Iterator[Row], table.itertuples())


def records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows of a table from the top, each by the names of the columns."""
    return cast(list[dict[str, Any]], table.to_dict("records"))


def groups(table: "pd.DataFrame", by: list[str]) -> "Iterator[tuple[tuple[Any, ...], pd.DataFrame]]":
    """The rows that agree in some columns, with their values there; groups in the order of their first rows."""
    return cast("Iterator[tuple[tuple[Any, ...], pd.DataFrame]]", iter(table.groupby(by, sort=False)))


def line(table: "pd.DataFrame", label: Hashable) -> "pd.Series":
    """The one row with this label in the table's index, which may be a tuple where the index has several levels."""
    return cast("pd.Series", table.loc[label])  # pyright: ignore[reportCallIssue, reportArgumentType] - any label
