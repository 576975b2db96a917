"""A table that a person can search to find which folder of the store holds which runs."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ol2r.experiments.cells import TIERS, Cell, Item, with_needs
from ol2r.experiments.paper import Paper
from ol2r.experiments.store import Store, publish

NAME = "index.csv"
"""File name of the table in the folder of published results."""

COLUMNS = ("paper", "item", "tiers", "kind", "dataset", "users", "learner", "setting", "rows", "folder")


def index(papers: Iterable[Paper], store: Store) -> pd.DataFrame:
    """The table of stored cells: for every item, a line for each stored cell that it declares or that its cells need.

    Returns:
        paper, item, tiers (that declare the cell), kind (of cell), dataset, users and learner (empty where a cell has
        none), setting (the other labels that tell the cell from the item's cells of the same kind and learner), rows
        (number stored, over all tiers), folder (the cell's key); in the order of papers and items.
    """
    items = [(paper.name, name, item) for paper in papers for name, item in paper.items.items()]
    lines = [line for declared in items for line in _lines(*declared, store)]
    return pd.DataFrame(lines, columns=list(COLUMNS))


def write(table: pd.DataFrame, path: Path) -> None:
    """Write an index, in the place of an earlier one that stays if the new one cannot be written whole.

    Raises:
        StoreError: it cannot be written.
    """
    content = table.to_csv(index=False, lineterminator="\n").encode()
    publish(path, lambda file: file.write(content), replace=True)


def _lines(paper: str, name: str, item: Item, store: Store) -> list[dict[str, str | int]]:
    tiers: dict[Cell, list[str]] = {}
    for tier in TIERS:
        for job in with_needs(item.jobs(tier)):
            tiers.setdefault(job.cell, []).append(tier)
    stored = {cell: rows for cell in tiers if (rows := len(store.listed(cell)))}
    settings = _settings(list(stored))
    lines = []
    for cell, rows in stored.items():
        labels = cell.labels()
        told = {label: str(labels.get(label, "")) for label in ("dataset", "users", "learner")}
        line = {"paper": paper, "item": name, "tiers": " ".join(tiers[cell]), "kind": cell.kind, **told}
        lines.append(line | {"setting": settings[cell], "rows": rows, "folder": cell.key})
    return lines


def _settings(cells: Sequence[Cell]) -> dict[Cell, str]:
    """By cell, the labels whose values differ from those of some other cell of the same kind and learner."""
    values: dict[tuple, set] = {}
    for cell in cells:
        labels = cell.labels()
        for label, value in labels.items():
            values.setdefault((cell.kind, labels.get("learner"), label), set()).add(value)
    told = {}
    for cell in cells:
        labels = cell.labels()
        varied = {label for label in labels if len(values[cell.kind, labels.get("learner"), label]) > 1}
        varied -= {"dataset", "users", "learner"}
        told[cell] = "; ".join(f"{label} {labels[label]}" for label in labels if label in varied)
    return told
