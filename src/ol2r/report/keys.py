"""From a number of a figure to the cells that it came from: a column of keys for the figure's table.

A line of an aggregate names what it tells of by labels, such as the data set, the users and the learner; the rows that
were drawn have the same labels and the keys of their cells.
"""

from collections.abc import Sequence

import pandas as pd

SHORT = 12
"""Number of a key's first digits that are printed; `ol2r verify --cell` takes them for the whole key."""

KEY = "key"
ROW = "row"
"""What an aggregate calls the values that its lines tell of."""
_CALLED = {"dataset": "data"}
"""Labels of our rows that a table beside printed numbers calls otherwise: it has the printed ones under their name."""


def with_keys(table: pd.DataFrame, drawn: pd.DataFrame) -> pd.DataFrame:
    """An aggregate with the column `key`: for each line the cells that it came from, by the first digits of their keys.

    A line came from the cells that have rows with its labels: the columns of both tables that are the same in all rows
    of a cell, and words that differ within a cell. Where no cell has all of them, words within cells, and then numbers,
    are left out. A label that has one name in the aggregate and another in the rows is not used: the line then has the
    keys of all cells that fit its other labels. A difference between learners has the keys of the one that its line
    names, in the column `ROW` or under the name of the rows' own column.

    Args:
        drawn: the rows it was made from, with their cells' keys in the column `cell`.

    Returns:
        The table with `key` as its last column: keys in the order of the rows, with blanks between them; empty for a
        line that came from no cell.
    """
    if "cell" in table:
        return table.assign(**{KEY: table["cell"].str[:SHORT]}).drop(columns="cell")
    shown = {name: table[other] for name in map(str, drawn) if (other := _name_in(table, name)) in table}
    if (name := _named_by_rows(table, drawn)) is not None:
        shown[name] = table[ROW]
    shown = {name: _text(column) for name, column in shown.items()}
    shown = {name: column for name, column in shown.items() if column.isin(_text(drawn[name]).unique()).any()}
    of_cells = [name for name in shown if _is_constant(drawn[name], drawn["cell"])]
    words = [name for name in shown if not pd.api.types.is_numeric_dtype(drawn[name])]
    keys = [""] * len(table)
    for labels in ([name for name in shown if name in (*of_cells, *words)], of_cells, [*set(of_cells) & set(words)]):
        found = _cells_of(drawn, labels)
        lines = zip(*(shown[name] for name in labels), strict=True) if labels else [()] * len(table)
        keys = [key or found.get(line, "") for key, line in zip(keys, lines, strict=True)]
    return table.assign(**{KEY: keys})


def _named_by_rows(table: pd.DataFrame, drawn: pd.DataFrame) -> str | None:
    """The column of the drawn rows whose values the lines of an aggregate are called by; None where there is none."""
    if ROW not in table or ROW in drawn:
        return None
    called = set(_text(table[ROW]))
    free = (str(name) for name in drawn if name not in table and not pd.api.types.is_numeric_dtype(drawn[name]))
    return next((name for name in free if called <= set(_text(drawn[name]))), None)


def _name_in(table: pd.DataFrame, name: str) -> str:
    """What an aggregate calls a label of the rows."""
    return _CALLED[name] if _CALLED.get(name) in table else name


def _cells_of(drawn: pd.DataFrame, labels: Sequence[str]) -> dict[tuple[str, ...], str]:
    """By the values of some labels, the keys of the cells that have rows with them."""
    cells = drawn[[*labels, "cell"]].drop_duplicates()
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for cell, *values in zip(cells["cell"], *(_text(cells[name]) for name in labels), strict=True):
        found.setdefault(tuple(values), {})[str(cell)[:SHORT]] = None
    return {values: " ".join(keys) for values, keys in found.items()}


def _text(labels: pd.Series) -> pd.Series:
    """Labels as text, so that 1 and 1.0 are the same, and so are labels that are not there."""
    if pd.api.types.is_numeric_dtype(labels):
        labels = labels.astype(float)
    return labels.astype(str)


def _is_constant(column: pd.Series, cell: pd.Series) -> bool:
    """Whether a column is the same in all rows of each cell."""
    pairs = pd.DataFrame({"cell": cell, "value": column}).drop_duplicates()
    return column.name != "cell" and len(pairs) == pairs["cell"].nunique()
