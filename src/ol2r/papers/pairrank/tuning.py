"""How the learners of the PairRank chapter are tuned: the grids, the budget, and what came out.

What came out stands in `tuned.csv`, made from the stored results of both steps and never by hand:

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
"""Rounds and seeds of both steps; no reported run has one of these seeds."""
SHORTLISTED, SHORTLISTED_WIDE = 6, 3
"""Cells of a grid that the second step runs: the best of the first; of data sets with very many features."""


def is_wide(dataset: str) -> bool:
    """Whether a data set has so many features that PairRank's rounds take ten times as long as on MSLR's shape."""
    return entry(dataset).n_features >= 500



@dataclass(frozen=True)
class TuningGrid:
    """What is tuned together.

    Args:
        variants: which share the values.
        tried: by hyper-parameter, its values; all combinations are tried.
        fixed: hyper-parameters that are other than the variants' own.
        wide: what is tried on data sets with so many features that half of the combinations must do.
        never: by hyper-parameter, values that are scored beside the others but never chosen.
    """

    variants: tuple[str, ...]
    tried: Mapping[str, tuple[float, ...]]
    fixed: Mapping[str, Value] = field(default_factory=dict)
    wide: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    never: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def settings(self, wide: bool = False) -> list[dict[str, float]]:
        """All combinations."""
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
"""What is tuned. The criterion is the score of the learned ranker alone, for which random lists are good whatever they
do to users. So what only explores is scored and never chosen: ε = 1, and intervals so wide (α ≥ 1) that hardly an order
is ever certain; and steps of DBGD and MGD so short beside the exploratory δ = 1 that after all rounds the weights are
still about as short as δ, and the second list of a round is nearly a random one. Nor is what does not explore, α = 0.
All of these tell what exploration is worth."""

NAMES = tuple(dict.fromkeys(name for grid in GRIDS.values() for name in grid.tried))
"""All hyper-parameters that are tuned."""
TABLE = "tuned.csv"
"""Beside this module."""


def grid_of(variant: str, loss: str = "sum") -> str:
    """Which grid a variant is tuned on."""
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
    """The settings that the second step runs, best of the first step first; none before the first step has run."""
    return [_values(line) for line in _read() if (line["dataset"], line["grid"]) == (dataset, grid)]


@cache
def chosen(dataset: str, grid: str, of: str = ALL) -> Mapping[str, float]:
    """The best setting of a grid for a data set: for all its variants together, or for one of them alone.

    Raises:
        KeyError: none was chosen.
    """
    for line in _read():
        if (line["dataset"], line["grid"]) == (dataset, grid) and of in line["best_of"].split(" + "):
            return MappingProxyType(_values(line))
    raise KeyError(f"nothing is tuned for {of} of {grid} on {dataset}")


def may_choose(grid: str, setting: Mapping[str, float]) -> bool:
    """Whether a setting of a grid may be chosen."""
    return not any(setting[name] in values for name, values in GRIDS[grid].never.items())


def table(first: "pd.DataFrame", longer: "pd.DataFrame") -> "pd.DataFrame":
    """Shortlists and choices, from the results of both steps: see `tuning.two_steps`."""
    return two_steps(first, longer, NAMES, lambda each: SHORTLISTED_WIDE if is_wide(each) else SHORTLISTED, may_choose)
