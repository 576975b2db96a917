"""How the learners of the P²NeurRank chapter are tuned: the grids, the budget, and the chosen values.

The chosen values are in `tuned.csv`. These commands run both steps of tuning and write the file from their results; it
is never edited by hand:

    ol2r run p2neurrank --tier paper --item tuning
    python -m ol2r.papers.retune p2neurrank
    ol2r run p2neurrank --tier paper --item tuning-longer
    python -m ol2r.papers.retune p2neurrank

PairRank, olRankNet and the baselines take the values that their chapters tuned by the same criterion, of PairRank and
olRankNet with a longer shortlist.
"""

from ol2r.experiments.tuning import Tuned, TuningGrid
from ol2r.papers.olranknet.claims import ROUNDS, ROUNDS_HERE
from ol2r.papers.p2neurrank.claims import (
    LINEAR,
    LINEAR_VARIANTS,
    NEURAL,
    PAIRRANK_DIAGONAL,
    SIXTEEN_DIAGONAL,
    SIXTEEN_FULL,
    linear,
)

SEEDS_FIRST, SEEDS_LONGER = (1000, 1001), (1002, 1003, 1004, 1005, 1006)
"""Seeds of the first and of the second step; no reported run has one of these seeds."""
SHORTLISTED, SHORTLISTED_NETWORKS = 3, 6
"""How many of the first step's best settings the second step runs: of linear rankers, and of networks, as many as of
olRankNet."""

DATASETS = ("synthetic-mslr", "MQ2008", "MQ2007_partial85")
"""The data sets that linear rankers are tuned on, as in the PairRank chapter, but for the one of very many features."""
_NETWORKS_ON, _SMALL_ON = DATASETS[:2], DATASETS[1:2]

_NOISES = (1e-3, 1e-2, 1e-1, 1.0)
_LINEAR_PULLS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
_PULLS = (1e-3, *_LINEAR_PULLS)
_RATES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
_WIDTHS = (1e-3, 1e-2, 1e-1)
_NETWORK = {"noise": _NOISES, "regularization": _PULLS, "rate": _RATES}
_WIDE = {"noise": _NOISES[:-1], "regularization": _LINEAR_PULLS, "rate": (1e-7, 1e-6, *_RATES[:-1])}
_PERTURBED = {"noise": (*_NOISES, 10.0), "regularization": _LINEAR_PULLS}
_SIXTEEN = {"alpha": (1e-4, *_WIDTHS), "regularization": (1e-2, 1.0, 1e2), "rate": (*_RATES[1:], 1.0)}
GRIDS: dict[str, TuningGrid] = {
    **{name: TuningGrid((name,), _PERTURBED, never={"noise": (10.0,)}) for name in LINEAR},
    PAIRRANK_DIAGONAL: TuningGrid(
        (PAIRRANK_DIAGONAL,), {"alpha": (1e-4, *_WIDTHS, 1.0), "regularization": _LINEAR_PULLS},
        never={"alpha": (1.0,)},
    ),
    **{name: TuningGrid((name,), _NETWORK, wide=_WIDE, datasets=_NETWORKS_ON) for name in NEURAL},
    **{name: TuningGrid((name,), _SIXTEEN, datasets=_SMALL_ON) for name in (SIXTEEN_FULL, SIXTEEN_DIAGONAL)},
}  # fmt: skip
"""All tuning grids, by name. The noise ν² is tuned like every other hyper-parameter, from the paper's two values, a
smaller one and larger ones. For its learners with intervals the paper tries λ and α from 0.1 to 10⁻⁴, for networks
rates from 0.1 to 10⁻³; for P²LinRank and P²NeurRank it gives no λ. The grids here leave out λ = 10⁻⁴ and, of linear
rankers, 10⁻³, and reach to larger λ and smaller rates; where a data set has many features they leave out ν² = 1,
λ = 10⁻³ and the rate of 0.1 too. The 16 × 16 networks have a rate of 1 as well, for 0.1 was chosen once; to save time
they have every second value of λ. As in the PairRank chapter, settings that hardly do anything but explore are scored
and never chosen: labels that lie between 0 and 1 drown in noise of variance 10, and intervals of α = 1 leave hardly an
order certain."""


def is_linear(variant: str) -> bool:
    """Whether a variant, or the variants of the grid of this name, are linear rankers."""
    return variant in (*LINEAR_VARIANTS, linear(10))


def rounds_first(grid: str) -> int:
    """Rounds of the first step: a fifth of the main run's."""
    return (ROUNDS if is_linear(grid) else ROUNDS_HERE) // 5


def rounds_longer(grid: str) -> int:
    """Rounds of the second step: a half of the main run's."""
    return (ROUNDS if is_linear(grid) else ROUNDS_HERE) // 2


def _size(dataset: str, grid: str) -> int:
    return SHORTLISTED if is_linear(grid) else SHORTLISTED_NETWORKS


TUNED = Tuned("ol2r.papers.p2neurrank", GRIDS, DATASETS, _size)
"""The grids with what was chosen from them on the data sets that are tuned on."""
