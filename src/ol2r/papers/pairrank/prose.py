"""What the PairRank chapter tells: its conventions, what the paper leaves open, the map of the paper's items, and the
numbers of its sentences."""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd

from ol2r.experiments import grid
from ol2r.experiments.claims import Results
from ol2r.experiments.effects import at_own_end
from ol2r.experiments.tuning import TuningGrid
from ol2r.papers import texts
from ol2r.papers.pairrank import tuning
from ol2r.papers.pairrank.claims import BASELINES, GAMMA, PAIRRANK, ROUNDS
from ol2r.papers.pairrank.grid import BOUND, DECAY, DELTA, EXTREMES, REGULARIZATION, K
from ol2r.report import leads
from ol2r.report.tables import Pairs


def _told(grid: TuningGrid) -> str:
    """The values that a grid tries, by symbol."""
    symbols = {"alpha": "rate" if "PairRank_C" not in grid.variants else "α", "regularization": "λ", "epsilon": "ε"}
    return "; ".join(
        f"{symbols.get(name, 'δ')} ∈ {{{', '.join(f'{value:g}' for value in values)}}}"
        for name, values in grid.tried.items()
    )


TEXTS = texts.read(
    "pairrank",
    "texts",
    rounds=ROUNDS,
    k=K,
    gamma=GAMMA,
    delta=DELTA,
    bound=BOUND,
    decay=DECAY,
    regularization=REGULARIZATION,
    grid_sum=_told(tuning.GRIDS[tuning.SUM]),
    grid_mean=_told(tuning.GRIDS[tuning.MEAN]),
    grid_pdgd=_told(tuning.GRIDS["PDGD"]),
    grid_greedy=_told(tuning.GRIDS["epsilon-greedy"]),
    grid_mgd=_told(tuning.GRIDS["MGD"]),
    rounds_first=tuning.ROUNDS_FIRST,
    seeds_first=len(tuning.SEEDS_FIRST),
    shortlisted=tuning.SHORTLISTED,
    shortlisted_wide=tuning.SHORTLISTED_WIDE,
    rounds_longer=tuning.ROUNDS_LONGER,
    seeds_longer=len(tuning.SEEDS_LONGER),
)
CONVENTIONS, SILENCES, SHORT, MAP = (TEXTS[each] for each in ("conventions", "silences", "short", "map"))
"""What the columns of each are, says the file."""

LIVE = ("table-1", "fig-1", "fig-2")
"""Items of the map that the chapter computes itself, without a stored result."""


def click_models() -> list[tuple[str, str, str]]:
    """The paper's Table 1, and the users of sets with five grades: rows (users, click by grade, stop by grade)."""
    return grid.click_models((3, ""), (5, ", five grades (the later papers)"))


# Runs that the pages compare

SCORES = {"offline": ("fig-3", "ndcg"), "online": ("fig-4", "cndcg")}
"""The two scores of a run: by name, the item that has the runs, and the score's column."""

OFFLINE, ONLINE = "offline NDCG@10", "online score"
FEW_QUERIES = "MSLR-WEB30K_sample"
"""A data set with too few queries to learn from; no claim is judged on it."""

ENDINGS = {"sum": "", "mean": "-mean"}
"""The losses, and what the names of the items that have PairRank's runs with each end with."""


def runs_of(results: Mapping[str, Results], item: str, variant: str) -> pd.DataFrame:
    """An item's runs of a variant."""
    return only(results[item].frame, variant=variant)


def only(frame: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The runs that have these values in these columns; no runs stay no runs."""
    for column, value in wanted.items():
        frame = frame[frame[column] == value] if len(frame) else frame
    return frame


def ahead(results: Mapping[str, Results], learner: str, others: Sequence[str], datasets: Sequence[str]) -> pd.DataFrame:
    """What a learner has more than each of the others after the last round, offline and online.

    Args:
        results: by item.
        datasets: the data sets to read, in their order; those without runs are left out.

    Returns:
        As `ol2r.report.leads.leads_of`; empty without runs.
    """
    scores = {}
    for panel, (item, column) in zip((OFFLINE, ONLINE), SCORES.values(), strict=True):
        parts = [only(results[item].frame, dataset=each) for each in datasets]
        scores[panel] = (pd.concat(parts) if parts else results[item].frame[:0], column)
    if any(runs.empty for runs, _ in scores.values()):
        return pd.DataFrame(columns=["dataset", "users", "row", "panel", "mean", "low", "high", "n"])
    return leads.leads_of(learner, scores, others=others)


def ahead_of_baselines(results: Mapping[str, Results], shuffles: Sequence[str] = PAIRRANK) -> pd.DataFrame:
    """What each shuffle has more than every baseline, on all data sets that have enough queries to learn from: as
    `ahead`, one shuffle below the other, whose name is in the column shuffle."""
    datasets = [name for name in results["fig-3"].frame["dataset"].unique() if name != FEW_QUERIES]
    parts = [ahead(results, each, BASELINES, datasets).assign(shuffle=each) for each in shuffles]
    return pd.concat(parts, ignore_index=True)


def mean_score(results: Mapping[str, Results], score: str, **wanted: str) -> float:
    """A score after the last round, mean over the runs that have these labels; NaN without runs."""
    item, column = SCORES[score]
    runs = only(results[item].frame, **wanted)
    return float(at_own_end(runs)[column].mean()) if len(runs) else math.nan


WORTH = {
    "refitting": ("still", "SGD RankNet"),
    "exploring": ("tuned", "still"),
    "doing nothing else": ("wild", "tuned"),
}
"""What the chapter takes apart: by name, which runs have it, and which the same without it."""


def exploration(results: Mapping[str, Results]) -> dict[str, Pairs]:
    """By loss, what refitting, exploring and doing nothing else are worth, offline and online: see `WORTH`.

    "still" is PairRank_C at α = 0, "wild" at the largest α and "tuned" at the chosen one.
    """
    groups: dict[str, Pairs] = {}
    for loss, ending in ENDINGS.items():
        still, wild = (only(results["exploration"].frame, loss=loss, alpha=alpha) for alpha in EXTREMES)
        pairs = {}
        for (what, (one, other)), (called, (item, score)) in product(WORTH.items(), SCORES.items()):
            runs = {
                "still": still,
                "wild": wild,
                "tuned": runs_of(results, f"{item}{ending}", "PairRank_C"),
                "SGD RankNet": runs_of(results, item, "SGD RankNet"),
            }
            pairs[f"{what}, {called}"] = (runs[one], runs[other], score)
        groups[f"{loss} of the losses"] = pairs
    return groups


# Sentences









def blocks_of_a_list(frame: pd.DataFrame, by: list[str]) -> pd.Series:
    """The mean number of blocks of a list over all rounds and runs, for each group."""
    ends = at_own_end(frame)
    return (ends["blocks"] / ends["rounds"]).groupby([ends[name] for name in by], sort=False).mean()


def apart(frame: pd.DataFrame, one: str, other: str) -> pd.Series:
    """The largest difference in a run between the offline scores with two widths: a line for each run that has both.

    Args:
        frame: runs of the item "width" with dataset, users, fold, seed, round, width and ndcg; it may be empty.
    """
    if frame.empty:
        return pd.Series(dtype=float)
    runs = ["dataset", "users", "fold", "seed"]
    with_one, with_other = (only(frame, width=each).set_index([*runs, "round"])["ndcg"] for each in (one, other))
    return (with_one - with_other).abs().dropna().groupby(level=runs).max()
