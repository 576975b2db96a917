"""How the learners of the PairRank chapter are tuned: the grids, the budget, and the chosen values.

The chosen values are in `tuned.csv`. These commands run both steps of tuning and write the file from their results; it
is never edited by hand:

    ol2r run pairrank --tier paper --item tuning
    python -m ol2r.papers.retune pairrank
    ol2r run pairrank --tier paper --item tuning-longer
    python -m ol2r.papers.retune pairrank

For each kind of users by itself the items are `tuning-by-users` and `tuning-by-users-longer`, the file is
`tuned-by-users.csv`, and the command ends with --by-users. Most of their runs are those of the items above.
"""

from dataclasses import replace

from ol2r.data import entry
from ol2r.experiments.tuning import STEPS_BY_USERS, TABLE_BY_USERS, Tuned, TuningGrid, by_users
from ol2r.papers.pairrank.claims import PAIRRANK, ROUNDS

ROUNDS_FIRST, SEEDS_FIRST = ROUNDS // 5, (1000, 1001)
ROUNDS_LONGER, SEEDS_LONGER = ROUNDS // 2, (1002, 1003, 1004, 1005, 1006)
"""Rounds and seeds of the first and of the second step; no reported run has one of these seeds."""
SHORTLISTED, SHORTLISTED_WIDE = 6, 3
"""How many of the first step's best settings the second step runs; the second number is for data sets with very many
features."""


def is_wide(dataset: str) -> bool:
    """Whether a data set has so many features that PairRank's rounds take ten times as long as with MSLR's."""
    return entry(dataset).n_features >= 500


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

def grid_of(variant: str, loss: str = "sum") -> str:
    """The name of the grid on which a variant is tuned."""
    return variant if variant not in PAIRRANK else MEAN if loss == "mean" else SUM


def _size(dataset: str, grid: str) -> int:
    return SHORTLISTED_WIDE if is_wide(dataset) else SHORTLISTED


TUNED = Tuned("ol2r.papers.pairrank", GRIDS, ("synthetic-mslr", "synthetic-yahoo", "MQ2008", "MQ2007_partial85"), _size)
"""The grids with what was chosen from them on the data sets that are tuned on."""

BY_USERS = Tuned(
    "ol2r.papers.pairrank",
    by_users({
        **{each: replace(GRIDS[SUM], variants=(each,)) for each in PAIRRANK},
        **{name: grid for name, grid in GRIDS.items() if name not in (SUM, MEAN)},
    }),
    ("synthetic-mslr", "MQ2008", "MQ2007_partial85"),
    file=TABLE_BY_USERS,
    steps=STEPS_BY_USERS,
)  # fmt: skip
"""Every learner for each kind of users by itself, each shuffle alone; not on synthetic-yahoo, whose rounds take ten
times as long."""

