"""Ranking data: `load(name)` gives a data set of the catalogue as a `RankingDataset`."""

from ol2r.data.catalogue import CATALOGUE, Entry, MissingData, entry, load
from ol2r.data.dataset import DataError, Fold, RankingDataset, drop_constant_features, normalize_per_query

__all__ = [
    "CATALOGUE",
    "DataError",
    "Entry",
    "Fold",
    "MissingData",
    "RankingDataset",
    "drop_constant_features",
    "entry",
    "load",
    "normalize_per_query",
]
