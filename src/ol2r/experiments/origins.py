"""The data that cells rest on: read once before anything is computed, and told in the record of what was computed.

It must not know what a cell does with the data.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ol2r.errors import one_of
from ol2r.experiments.cells import Cell, Item, Job


def dataset_of(cell: Cell) -> str | None:
    """The data set of the catalogue that a cell rests on, or None."""
    from ol2r.data import CATALOGUE  # here, because it loads numba, which looking results up need not

    name = cell.labels().get("dataset")
    return name if isinstance(name, str) and name in CATALOGUE else None


class AtHand:
    """Which data sets are on this machine, each looked for once."""

    def __init__(self):
        self._missing: dict[str | None, str | None] = {None: None}

    def missing(self, cell: Cell) -> str | None:
        """Name of the data set that a cell rests on, when it is not here."""
        name = dataset_of(cell)
        if name not in self._missing:
            from ol2r.data import entry

            self._missing[name] = None if entry(str(name)).at_hand() else name
        return self._missing[name]


def check_names(datasets: Sequence[str], items: Iterable[Item], tier: str, where: str) -> None:
    """Refuse names that no cell of some items has.

    Raises:
        ExperimentError: there is one; the message offers the nearest name that is declared.
    """
    if not datasets:
        return
    labels = (cell.labels().get("dataset") for item in items for cell in item.cells(tier))
    declared = sorted({str(name) for name in labels if name is not None})
    for dataset in datasets:
        one_of(dataset, declared, "data set", f"{where} at tier {tier!r}")


def check_data(jobs: Iterable[Job]) -> None:
    """Read the data of all jobs once, so that what is wrong with it is said before anything is computed.

    Raises:
        DataError: a file is not what it should be.
    """
    from ol2r.data.reading import read

    for name in sorted({name for job in jobs if (name := dataset_of(job.cell))}):
        read(name)


def read_for(cell: Cell) -> dict[str, object] | None:
    """What this process has read of a cell's data: its name, checksum, whether the catalogue confirms it, counts."""
    from ol2r.data import last_read

    name = dataset_of(cell)
    origin = name and last_read(name)
    return {"name": name, **origin._asdict()} if origin else None


def awaits_data(path: Path) -> bool:
    """Whether a stored file is of a data set that is not at hand and has no known checksum.

    Nobody can say then whether it is still declared: that needs the data.
    """
    import pyarrow.parquet as pq

    from ol2r.data import CATALOGUE, NOT_AT_HAND, checksum

    try:
        record = json.loads(pq.read_metadata(path).metadata[b"ol2r"])
        names = set(_datasets_in(record["cell"]))
    except Exception:  # damaged, or no result at all
        return False
    return any(name in CATALOGUE and checksum(name) == NOT_AT_HAND for name in names)


def _datasets_in(declaration: object) -> Iterator[str]:
    """Data sets that a stored declaration names, however deep."""
    if isinstance(declaration, dict):
        if isinstance(name := declaration.get("dataset"), str):
            yield name
        declaration = list(declaration.values())
    if isinstance(declaration, list):
        for inner in declaration:
            yield from _datasets_in(inner)
