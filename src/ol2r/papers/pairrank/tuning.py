"""How the learners of the PairRank chapter are tuned: the grids, the budget, and the chosen values.

The chosen values are in `tuned.csv`. These commands run both steps of tuning and write the file from their results; it
is never edited by hand:

    ol2r run pairrank --tier paper --item tuning --commit
    python -m ol2r.papers.pairrank.retune
    ol2r run pairrank --tier paper --item tuning-longer --commit
    python -m ol2r.papers.pairrank.retune
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

from ol2r.data import entry
from ol2r.experiments.tuning import ALL, two_steps
from ol2r.papers.pairrank.claims import PAIRRANK, ROUNDS
from ol2r.parameters import Value

if TYPE_CHECKING:
    import pandas as pd


ROUNDS_FIRST, SEEDS_FIRST = ROUNDS // 5, (1000, 1001)
ROUNDS_LONGER, SEEDS_LONGER = ROUNDS // 2, (1002, 1003, 1004, 1005, 1006)
"""Rounds and seeds of the first and of the second step; no reported run has one of these seeds."""
SHORTLISTED, SHORTLISTED_WIDE = 6, 3
"""How many of the first step's best settings the second step runs; the second number is for data sets with very many
features."""


def is_wide(dataset: str) -> bool:
    """Whether a data set has so many features that PairRank's rounds take ten times as long as with MSLR's."""
    return entry(dataset).n_features >= 500


@dataclass(frozen=True)
class TuningGrid:
    """A tuning grid: the hyper-parameters that are tuned together, with the values that are tried.

    Args:
        variants: the variants that share the chosen values.
        tried: the values of each hyper-parameter; all combinations are tried.
        fixed: hyper-parameters that differ from the variants' own and are not tuned.
        wide: hyper-parameters of which fewer values are tried on data sets with very many features (`is_wide`), where
            every run is slow.
        never: values of each hyper-parameter that are scored like the others but never chosen.
    """

    variants: tuple[str, ...]
    tried: Mapping[str, tuple[float, ...]]
    fixed: Mapping[str, Value] = field(default_factory=dict)
    wide: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    never: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def settings(self, wide: bool = False) -> list[dict[str, float]]:
        """All combinations of values, each as a setting of the tuned hyper-parameters."""
        values = {**self.tried, **self.wide} if wide else self.tried
        return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


_WIDTHS = (0.0, 0.01, 0.1, 1.0, 10.0)
_NEVER = {"alpha": (0.0, 1.0, 10.0)}
_WIDE_WIDTHS = {"alpha": (0.01, 0.1)}
_RATES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_STEPS = {"alpha": _RATES}
_HARDLY_MOVES = {"alpha": (1e-4, 1e-3)}
SUM, MEAN = "PairRank", "PairRank, mean loss"
GRIDS: dict[str, TuningGrid] = {
    SUM: TuningGrid(
        PAIRRANK, {"alpha": _WIDTHS, "regularization": (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)},
        wide=_WIDE_WIDTHS, never=_NEVER,
    ),
    MEAN: TuningGrid(
        PAIRRANK, {"alpha": _WIDTHS, "regularization": (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1)}, {"loss": "mean"},
        wide=_WIDE_WIDTHS, never=_NEVER,
    ),
    "SGD RankNet": TuningGrid(("SGD RankNet",), _STEPS),
    "epsilon-greedy": TuningGrid(
        ("epsilon-greedy",), {"alpha": _RATES, "epsilon": (0.05, 0.1, 0.25, 0.5, 1.0)}, never={"epsilon": (1.0,)},
    ),
    "PDGD": TuningGrid(("PDGD",), _STEPS),
    "DBGD": TuningGrid(("DBGD",), _STEPS, never=_HARDLY_MOVES),
    "MGD": TuningGrid(("MGD",), _STEPS, never=_HARDLY_MOVES),
}  # fmt: skip
"""All tuning grids, by name.

The criterion is the score of the learned ranker alone. Random lists teach a ranker well and serve users badly, so this
criterion may favour settings that hardly do anything but explore. Such settings are scored and never chosen: ε = 1;
intervals so wide (α ≥ 1) that hardly an order is ever certain; and steps of DBGD and MGD so short beside δ = 1 that
even after the last round the weights are about as short as δ, so that a candidate's list is nearly random. α = 0, which
does not explore, is never chosen either. The scores of all these settings show what exploration is worth."""

NAMES = tuple(dict.fromkeys(name for grid in GRIDS.values() for name in grid.tried))
"""The names of all hyper-parameters that are tuned."""
TABLE = "tuned.csv"
"""The file of the chosen values, in this module's folder."""


def grid_of(variant: str, loss: str = "sum") -> str:
    """The name of the grid on which a variant is tuned."""
    return variant if variant not in PAIRRANK else MEAN if loss == "mean" else SUM


@cache
def _read() -> list[dict[str, str]]:
    path = files("ol2r.papers.pairrank") / TABLE
    if not path.is_file():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def _values(line: Mapping[str, str]) -> dict[str, float]:
    return {name: float(line[name]) for name in NAMES if line[name]}


def shortlist(dataset: str, grid: str) -> list[dict[str, float]]:
    """The settings that the second step runs, in the order of the first step's scores, best first.

    The list is empty until `tuned.csv` has results of the first step.
    """
    return [_values(line) for line in _read() if (line["dataset"], line["grid"]) == (dataset, grid)]


@cache
def chosen(dataset: str, grid: str, of: str = ALL) -> Mapping[str, float]:
    """The best setting of a grid on a data set: for all its variants together, or for one of them alone.

    Raises:
        KeyError: no setting was chosen.
    """
    for line in _read():
        if (line["dataset"], line["grid"]) == (dataset, grid) and of in line["best_of"].split(" + "):
            return MappingProxyType(_values(line))
    raise KeyError(f"nothing is tuned for {of} of {grid} on {dataset}")


def may_choose(grid: str, setting: Mapping[str, float]) -> bool:
    """Whether tuning may choose a setting of a grid; see `TuningGrid.never`."""
    return not any(setting[name] in values for name, values in GRIDS[grid].never.items())


def table(first: "pd.DataFrame", longer: "pd.DataFrame") -> "pd.DataFrame":
    """The shortlists and choices from the results of both steps; see `ol2r.experiments.tuning.two_steps`."""
    return two_steps(first, longer, NAMES, lambda each: SHORTLISTED_WIDE if is_wide(each) else SHORTLISTED, may_choose)
