"""The texts that `ol2r data list`, `info` and `add` print, from plain arguments, without argument parsing."""

import os
from pathlib import Path

from ol2r.data import reading
from ol2r.data.catalogue import CATALOGUE, UNCONFIRMED, Entry, Origin, entry, paths_file, search_paths, searched
from ol2r.errors import DataError


def list_datasets() -> str:
    """One line for each data set of the catalogue: at hand or not, whether its checksum is known, size and licence."""
    header = ("name", "at hand", "checksum", "queries", "documents", "features", "grades", "folds", "licence")
    rows = [header, *(_row(it) for it in CATALOGUE.values())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    numeric = range(3, 8)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def describe(name: str) -> str:
    """All that the catalogue knows of a data set, where it was found, and what was read there.

    Raises:
        ValueError: unknown name.
    """
    it = entry(name)
    location = "generated" if it.kind == "synthetic" else it.location() or f"no; {searched()}"
    facts = {"at hand": str(location)}
    if isinstance(location, Path):
        try:
            facts["what is there"] = _told(it, location)
        except (DataError, OSError) as error:
            facts["what is there"] = f"refused: {error}"
    facts = {
        "label": it.label,
        "source": it.source,
        "licence": it.licence,
        "may be shown": "aggregates only" if it.restricted else "everything",
        "queries": _count(it.n_queries),
        "documents": _count(it.n_documents),
        "features": _count(it.n_features),
        "grades": f"0 to {it.n_grades - 1}" if it.n_grades else "–",
        "folds": _count(it.n_folds),
        "normalisation": it.normalization or "–",
        "checksum": it.checksum or f"not known here: data with these counts is taken for it ({UNCONFIRMED})",
        "how to get it": it.how_to_get,
        **facts,
    }
    return "\n".join([f"{it.name}: {it.title}", *(f"  {key + ':':15} {value}" for key, value in facts.items())])


def add(path: str) -> str:
    """Read and check the data sets in a directory, add it to the search paths, and say what it holds.

    Args:
        path: the directory that holds folders such as MQ2008, or such a folder itself.

    Raises:
        ValueError: no directory, or no data set of the catalogue in it.
        DataError: one of them is not what it should be; nothing is recorded.
    """
    if not path or "\n" in path:
        raise ValueError(f"{path!r} cannot be recorded: expected a path without line breaks")
    given = Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - a link keeps its name
    if not given.is_dir():
        raise ValueError(f"{given} is not a directory")
    folders = {folder for it in CATALOGUE.values() for folder in it.folders}
    inside = [Path(folder) for folder in folders if given.parts[-len(Path(folder).parts) :] == Path(folder).parts]
    root = given.parents[len(inside[0].parts) - 1] if inside else given
    found = [(it, root / folder) for it in CATALOGUE.values() for folder in it.folders if (root / folder).is_dir()]
    if not found:
        raise ValueError(f"{root} holds none of the catalogue's folders: {', '.join(sorted(folders))}")
    try:
        told = [f"  {it.name}: {_told(it, folder)}" for it, folder in found]
    except DataError as error:
        raise DataError(f"{error}; {root} was not added") from error
    if root not in search_paths():
        record = paths_file()
        if record is None:
            raise ValueError(f"{root} cannot be recorded: set HOME, OL2R_CONFIG or OL2R_DATA")
        record.parent.mkdir(parents=True, exist_ok=True)
        with record.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{root}\n")
    return "\n".join([f"Added {root}", *told])


def _told(it: Entry, folder: Path) -> str:
    """Describe a data set in a folder, after reading it."""
    missing = it.missing_from(folder)
    if missing:
        return f"missing {', '.join(missing)}"
    origin = reading.read_from(it, folder)
    elsewhere = it.location() not in (None, folder)
    found = f"read and checked: {counted(origin)}" if origin else "its files are there; nothing here reads them"
    return found + (f"; {it.location()} is searched first" if elsewhere else "")


def counted(origin: Origin) -> str:
    """Counts and checksum of what was read."""
    counts = ", ".join(f"{number:,} {what}" for what, number in origin.counts.items())
    return f"{counts}; checksum {origin.checksum}{'' if origin.confirmed else f' ({UNCONFIRMED})'}"


def _row(it: Entry) -> tuple[str, ...]:
    counts = (it.n_queries, it.n_documents, it.n_features, it.n_grades, it.n_folds)
    checksum = "known" if it.confirmed else "unconfirmed" if it.kind == "ranking" else "–"
    return (it.name, "yes" if it.at_hand() else "no", checksum, *map(_count, counts), it.licence)


def _count(number: int | None) -> str:
    return f"{number:,}" if number else "–"
