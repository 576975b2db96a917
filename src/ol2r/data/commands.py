"""What `ol2r data list`, `info` and `add` say: functions from plain arguments to text, without argument parsing."""

from pathlib import Path

from ol2r.data.catalogue import CATALOGUE, Entry, entry, paths_file, search_paths


def list_datasets() -> str:
    """One line for each data set of the catalogue: at hand or not, its size and its licence."""
    header = ("name", "at hand", "queries", "documents", "features", "grades", "folds", "licence")
    rows = [header, *(_row(it) for it in CATALOGUE.values())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    numeric = range(2, 7)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def describe(name: str) -> str:
    """All that the catalogue knows of a data set, and where it was found.

    Raises:
        ValueError: unknown name.
    """
    it = entry(name)
    location = "generated" if it.kind == "synthetic" else it.location() or "no"
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
        "checksum": it.checksum or "not known here",
        "how to get it": it.how_to_get,
        "at hand": str(location),
    }
    return "\n".join([f"{it.name}: {it.title}", *(f"  {key + ':':15} {value}" for key, value in facts.items())])


def add(path: str) -> str:
    """Record a directory to be searched for data sets, and say which were found there.

    Args:
        path: the directory that holds folders such as MQ2008, or such a folder itself.

    Raises:
        ValueError: no directory, or no data set of the catalogue in it.
    """
    root = Path(path).expanduser().resolve()
    if not root.is_dir():
        raise ValueError(f"{root} is not a directory")
    folders = {folder for it in CATALOGUE.values() for folder in it.folders}
    if root.name in folders:
        root = root.parent
    found = [it for it in CATALOGUE.values() if any((root / folder).is_dir() for folder in it.folders)]
    if not found:
        raise ValueError(f"{root} holds none of the catalogue's folders: {', '.join(sorted(folders))}")
    if root not in search_paths():
        record = paths_file()
        record.parent.mkdir(parents=True, exist_ok=True)
        with record.open("a") as file:
            file.write(f"{root}\n")
    return f"Added {root}\n" + "\n".join(f"  {it.name}: {_completeness(it, root)}" for it in found)


def _completeness(it: Entry, root: Path) -> str:
    folder = next(root / folder for folder in it.folders if (root / folder).is_dir())
    missing = it.missing_from(folder)
    return f"missing {', '.join(missing)}" if missing else "at hand"


def _row(it: Entry) -> tuple[str, ...]:
    counts = (it.n_queries, it.n_documents, it.n_features, it.n_grades, it.n_folds)
    return (it.name, "yes" if it.at_hand() else "no", *map(_count, counts), it.licence)


def _count(number: int | None) -> str:
    return f"{number:,}" if number else "–"
