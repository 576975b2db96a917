"""The data sets that cells use: read once before anything is computed, and named in the record of what was computed.

This module must not know what a cell does with the data.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ol2r.errors import ExperimentError, one_of
from ol2r.experiments.cells import Cell, Item, Job


def dataset_of(cell: Cell) -> str | None:
    """The name of the data set that a cell uses, from the catalogue or the reader's own; None if it uses no data."""
    from ol2r.data import CATALOGUE  # here, because it loads numba, which looking results up need not

    name = cell.labels().get("dataset")
    return name if isinstance(name, str) and name in CATALOGUE else None


class AtHand:
    """Tells which data sets are on this machine, and looks for each only once."""

    def __init__(self):
        self._missing: dict[str | None, str | None] = {None: None}

    def missing(self, cell: Cell) -> str | None:
        """The name of the data set that a cell uses, if that data set is not on this machine; otherwise None."""
        name = dataset_of(cell)
        if name not in self._missing:
            from ol2r.data import entry

            self._missing[name] = None if entry(str(name)).at_hand() else name
        return self._missing[name]


def names_of(asked: Sequence[str], items: Iterable[Item], tier: str, where: str) -> list[str]:
    """The names of the data sets that a reader asked for; the reader's own files are read and named first.

    Args:
        asked: names that the items declare, or else paths (`data.own.take_in`).
        where: what error messages call the items.

    Raises:
        ExperimentError: an item has no such data set (the message offers the nearest declared name), or none of the
            items can be run on a reader's own data.
        DataError: a file cannot be read as ranking data.
    """
    if not asked:
        return []
    from ol2r.data import is_own
    from ol2r.data.own import is_path, take_in

    items = list(items)
    places = f"{where} at tier {tier!r}"
    declared = _declared(items, tier)
    names = [each if each in declared or not is_path(each) else take_in(each).name for each in asked]
    if any(map(is_own, names)):
        declared = _declared(items, tier)  # own data among it
        if not any(map(is_own, declared)):
            raise ExperimentError(f"no cell of {places} can be run on data of your own")
    shown = [name for name in declared if not is_own(name)]
    return [name if name in declared else one_of(name, shown, "data set", places) for name in names]


def _declared(items: Iterable[Item], tier: str) -> list[str]:
    labels = (cell.labels().get("dataset") for item in items for cell in item.cells(tier))
    return sorted({str(name) for name in labels if name is not None})


def check_data(jobs: Iterable[Job]) -> None:
    """Read the data of all jobs once, so that errors in it are reported before anything is computed.

    Raises:
        DataError: a file cannot be read as ranking data.
    """
    from ol2r.data.reading import read

    for name in sorted({name for job in jobs if (name := dataset_of(job.cell))}):
        read(name)


def read_for(cell: Cell) -> dict[str, object] | None:
    """What this process knows of a cell's data: name, checksum, whether the catalogue confirms the checksum, counts."""
    from ol2r.data import last_read

    name = dataset_of(cell)
    origin = name and last_read(name)
    return {"name": name, **origin._asdict()} if origin else None


def awaits_data(path: Path) -> bool:
    """Whether a stored file comes from a reader's own data, or from data that is not at hand and has no known checksum.

    Without the data nobody can say whether such a file's cell is still declared.
    """
    import pyarrow.parquet as pq

    try:
        return awaits(json.loads(pq.read_metadata(path).metadata[b"ol2r"])["cell"])
    except Exception:  # damaged, or no result at all
        return False


def awaits(declaration: dict) -> bool:
    """Whether a cell's declaration names a reader's own data, or data that is not at hand and has no known checksum."""
    from ol2r.data import CATALOGUE, NOT_AT_HAND, checksum, is_own

    names = set(_datasets_in(declaration))
    return any(is_own(name) or (name in CATALOGUE and checksum(name) == NOT_AT_HAND) for name in names)


def _datasets_in(declaration: object) -> Iterator[str]:
    """The data sets that a stored declaration names at any depth."""
    if isinstance(declaration, dict):
        if isinstance(name := declaration.get("dataset"), str):
            yield name
        declaration = list(declaration.values())
    if isinstance(declaration, list):
        for inner in declaration:
            yield from _datasets_in(inner)
