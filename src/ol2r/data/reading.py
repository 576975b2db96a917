"""Reads a data set of any kind to check that it matches the catalogue.

This module must not know what data is used for.
"""

from collections.abc import Callable
from pathlib import Path

from ol2r.data.catalogue import Entry, Origin, counts_of, entry, last_read, load, load_from
from ol2r.data.counts import load_counts
from ol2r.data.sessions import load_fitted_models, load_sessions

_CLICKS: dict[str, Callable[[Path], object]] = {
    "Yandex_60Q_click_models": lambda folder: load_fitted_models("CM", folder),
    "Yandex_WSCD_sample": lambda folder: load_sessions(unshown="ignore", folder=folder),
    "Yandex_60Q_aggregated": lambda folder: load_counts(excess="limit", folder=folder),
}


def read(name: str) -> Origin | None:
    """Read and check a data set where it is found; None for a click log that nothing here reads.

    Raises:
        ValueError: unknown name.
        MissingData: not at hand; says where to get it.
        DataError: the files are not what they should be.
    """
    it = entry(name)
    if it.kind in ("synthetic", "own"):
        load(name)
        return last_read(name)
    return read_from(it, it.require())


def read_from(it: Entry, folder: Path) -> Origin | None:
    """As `read`, for a data set in a folder that holds all of its files."""
    if it.kind == "ranking":
        dataset = load_from(it, folder)
        return Origin(dataset.checksum, it.confirmed, counts_of(dataset))
    if it.name not in _CLICKS:
        return None
    _CLICKS[it.name](folder)
    return last_read(it.name)
