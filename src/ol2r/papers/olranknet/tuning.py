"""How the learners of the olRankNet chapter are tuned: the grids, the budget, and the chosen values.

The chosen values are in `tuned.csv`. These commands run both steps of tuning and write the file from their results; it
is never edited by hand:

    ol2r run olranknet --tier paper --item tuning
    python -m ol2r.papers.retune olranknet
    ol2r run olranknet --tier paper --item tuning-longer
    python -m ol2r.papers.retune olranknet

The linear baselines take the values that the PairRank chapter tuned by the same rule.

For each kind of users by itself the items are `tuning-by-users` and `tuning-by-users-longer`, the file is
`tuned-by-users.csv`, and the command ends with --by-users. Most runs of the first of them are those of `tuning`.
"""

from dataclasses import replace

from ol2r.data import entry
from ol2r.experiments.tuning import STEPS_BY_USERS, TABLE_BY_USERS, Tuned, TuningGrid, by_users
from ol2r.papers.olranknet.claims import ROUNDS_HERE

DATASETS = ("synthetic-mslr", "MQ2008")
"""The data sets that are tuned on."""


def is_wide(dataset: str) -> bool:
    """Whether a data set has so many features that a round of networks takes several times as long as with MQ2008's."""
    return entry(dataset).n_features >= 100


ROUNDS_FIRST, SEEDS_FIRST = ROUNDS_HERE // 5, (1000, 1001)
ROUNDS_LONGER, SEEDS_LONGER = ROUNDS_HERE // 2, (1002, 1003, 1004, 1005, 1006)
"""Rounds and seeds of the first and of the second step; no reported run has one of these seeds."""
SHORTLISTED, SHORTLISTED_OTHERS = 6, 3
"""How many of the first step's best settings the second step runs: of the main reading, and of other grids."""

CODE, CODE_DIAGONAL = ", public code", ", public code, diagonal"
FRESH, RANKED = ", fresh start", ", present ranking"
"""What the names of the grids end with that belong to other readings of the paper. `FRESH` is no reading of anyone's:
some of what the public code does, once taken for all of it."""
_WIDTHS = (1e-3, 1e-2, 1e-1, 1.0)
_PULLS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
_RATES = (1e-4, 1e-3, 1e-2, 1e-1)
_INTERVALS = {"alpha": _WIDTHS, "regularization": _PULLS, "rate": _RATES}
_FEWER = _INTERVALS | {"rate": _RATES[:-1]}
_NEVER = {"alpha": (1.0,)}
_STEPS = {"alpha": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)}
_WIDE = {"alpha": (1e-4, *_WIDTHS[:-1]), "regularization": _PULLS[:-1], "rate": (1e-7, 1e-6, 1e-5, *_RATES[:-1])}
_FEWER_WIDE = _WIDE | {"alpha": _WIDTHS[:-1], "regularization": (1.0, 1e1, 1e2)}
_HARDLY_MOVES = {"alpha": (1e-5, 1e-4, 1e-3)}
GRIDS: dict[str, TuningGrid] = {
    "olRankNet": TuningGrid(("olRankNet",), _INTERVALS, wide=_WIDE, never=_NEVER),
    "olLambdaRank": TuningGrid(("olLambdaRank",), _INTERVALS, wide=_FEWER_WIDE, never=_NEVER),
    "olRankNet, full": TuningGrid(("olRankNet, full",), _FEWER, wide=_FEWER_WIDE, never=_NEVER),
    "olRankNet" + FRESH: TuningGrid(("olRankNet" + FRESH,), _INTERVALS, never=_NEVER, datasets=("MQ2008",)),
    "olLambdaRank" + FRESH: TuningGrid(("olLambdaRank" + FRESH,), _INTERVALS, never=_NEVER, datasets=("MQ2008",)),
    "olLambdaRank" + RANKED: TuningGrid(
        ("olLambdaRank" + RANKED,), _INTERVALS | {"rate": (1e-5, *_RATES)}, never=_NEVER, datasets=("MQ2008",),
    ),
    "neural PDGD": TuningGrid(("neural PDGD",), _STEPS),
    "neural DBGD": TuningGrid(("neural DBGD",), _STEPS, never=_HARDLY_MOVES),
    "neural epsilon-greedy": TuningGrid(
        ("neural epsilon-greedy",), _STEPS | {"epsilon": (0.05, 0.1, 0.25, 0.5)},
    ),
    "olLambdaRank GT": TuningGrid(
        ("olLambdaRank GT",), {"rate": (1e-5, 1e-4, 1e-3, 1e-2), "regularization": (1e-4, 1e-2, 1.0, 1e2)},
    ),
}  # fmt: skip
"""All tuning grids, by name. On MQ2008 they hold the paper's values but for λ = 1e-4 and α = 1e-4, at which hardly an
order is uncertain there. Where a data set has many features, smaller rates are tried, and to save time fewer values of
the others: olRankNet with the diagonal lacks α = 1, λ = 1000 and the paper's λ = 1e-4, olLambdaRank and the full
covariance also α = 1e-4 and every λ below 1; none of them has the paper's rate of 0.1. On MQ2008 the full covariance is
not tried at the largest rate. A grid goes on past a chosen value on its edge while the edge gains more than one
standard error over the value next to it, in either step; so that of the present ranking has a rate of 1e-5.

The criterion is the score of the learned ranker alone, and as in the PairRank chapter settings that hardly do anything
but explore are scored and never chosen: α = 1, and steps of DBGD so short beside δ = 1 that its lists stay nearly
random."""


def _size(dataset: str, grid: str) -> int:
    return SHORTLISTED if grid == "olRankNet" else SHORTLISTED_OTHERS


TUNED = Tuned("ol2r.papers.olranknet", GRIDS, DATASETS, _size)
"""The grids with what was chosen from them on the data sets that are tuned on."""

_PULLS_BY_USERS = {"regularization": (*_PULLS, 1e4)}
"""One value more than above: on MQ2008 the second step scored λ = 1000, the end of the grid, above the chosen one."""
_OF_CODE = TuningGrid(
    (), {"alpha": (1e-4, *_WIDTHS), "regularization": (1e-4, *_PULLS[:5]), "rate": _RATES}, never=_NEVER,
    datasets=("MQ2008",),
)  # fmt: skip
"""The grid of the public code, whose λ has neither the factor m nor the sum of the losses beside it: all values of the
paper (α and λ from .1 to 10⁻⁴, rates to 10⁻³), and larger λ and smaller rates."""
BY_USERS = Tuned(
    "ol2r.papers.olranknet",
    by_users({
        "olRankNet": replace(GRIDS["olRankNet"], tried=_INTERVALS | _PULLS_BY_USERS),
        "olLambdaRank" + RANKED: replace(
            GRIDS["olLambdaRank" + RANKED], tried={**GRIDS["olLambdaRank" + RANKED].tried, **_PULLS_BY_USERS},
            wide=_FEWER_WIDE, datasets=None,
        ),
        "olRankNet, full": replace(GRIDS["olRankNet, full"], tried=_FEWER | _PULLS_BY_USERS),
        **{name: replace(_OF_CODE, variants=(name,)) for name in (
            "olRankNet" + CODE, "olRankNet" + CODE_DIAGONAL, "olLambdaRank" + CODE
        )},
        **{name: GRIDS[name] for name in ("neural PDGD", "neural DBGD", "neural epsilon-greedy")},
    }),
    DATASETS,
    file=TABLE_BY_USERS,
    steps=STEPS_BY_USERS,
)  # fmt: skip
"""Every network for each kind of users by itself, by the rule and the budget that all learners of the book have; and
the public code as it is. Declared before any run of it; nothing was chosen from it yet."""
