"""How NSGD is tuned for the comparison of all learners: the grid, the budget, and the chosen value.

The chosen value is in `tuned.csv`. These commands run both steps of tuning and write the file from their results; it is
never edited by hand:

    ol2r run comparison --tier paper --item tuning
    python -m ol2r.papers.retune comparison
    ol2r run comparison --tier paper --item tuning-longer
    python -m ol2r.papers.retune comparison

The other learners take the values that their chapters tuned by the same criterion. NSGD's chapter keeps the step that
its paper gives, so it alone is tuned here: as the PairRank chapter tunes DBGD, with the same steps, rounds and seeds.
"""

from ol2r.experiments.tuning import Tuned, TuningGrid
from ol2r.papers.pairrank import tuning as pairrank
from ol2r.papers.pairrank.tuning import ROUNDS_FIRST, ROUNDS_LONGER, SEEDS_FIRST, SEEDS_LONGER

__all__ = ["GRIDS", "ROUNDS_FIRST", "ROUNDS_LONGER", "SEEDS_FIRST", "SEEDS_LONGER", "TUNED"]

NSGD = "NSGD"
DATASETS = ("MQ2008", "synthetic-mslr")
"""The data sets that are tuned on."""
_DBGD = pairrank.GRIDS["DBGD"]
GRIDS: dict[str, TuningGrid] = {NSGD: TuningGrid((NSGD,), _DBGD.tried, never=_DBGD.never)}
"""The only grid. NSGD starts at a vector of length 1 and its candidates stand δ = 1 away from it, as DBGD's do; so the
same short steps are scored and never chosen, for they hardly leave the start."""

TUNED = Tuned("ol2r.papers.comparison", GRIDS, DATASETS, lambda dataset, grid: pairrank.SHORTLISTED)
"""The grid with what was chosen from it."""
