"""Ranking data: `load(name)` gives a data set of the catalogue as a `RankingDataset`."""

from ol2r.data.catalogue import (
    CATALOGUE,
    NOT_AT_HAND,
    Entry,
    MissingData,
    Origin,
    checksum,
    entry,
    is_own,
    last_read,
    load,
    own_names,
)
from ol2r.data.dataset import Fold, RankingDataset, drop_constant_features, normalize_per_query
from ol2r.errors import DataError

__all__ = [
    "CATALOGUE",
    "NOT_AT_HAND",
    "DataError",
    "Entry",
    "Fold",
    "MissingData",
    "Origin",
    "RankingDataset",
    "checksum",
    "drop_constant_features",
    "entry",
    "is_own",
    "last_read",
    "load",
    "normalize_per_query",
    "own_names",
]
