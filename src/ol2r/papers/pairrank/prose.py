"""Texts of the PairRank chapter: its conventions, what the paper leaves open, and the map of the paper's items.

The functions write sentences on what a choice of ours means for the claims; their numbers are computed from results.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd

from ol2r.experiments import grid
from ol2r.experiments.claims import Results
from ol2r.experiments.effects import at_own_end
from ol2r.experiments.tuning import TuningGrid
from ol2r.experiments.verdicts import Judgement
from ol2r.papers import texts
from ol2r.papers.pairrank import tuning
from ol2r.papers.pairrank.audit_tables import share
from ol2r.papers.pairrank.claims import BASELINES, GAMMA, PAIRRANK, ROUNDS
from ol2r.papers.pairrank.grid import BOUND, DECAY, DELTA, EXTREMES, REGULARIZATION, SHORT_STEPS, K, tuned
from ol2r.report import leads, verdicts
from ol2r.report.tables import Pairs, named, number


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









def changed_in_words(judgements: Sequence[Judgement]) -> str:
    """How many claims have another verdict under each other reading of the paper, and which: a sentence for each."""
    told = []
    for reading in dict.fromkeys(name for each in judgements for name in each.readings):
        own = [each for each in judgements if reading in each.readings]
        other = [each.id for each in own if verdicts.changed(each, each.readings[reading])]
        which = f" ({leads.joined(other)})" if other else ""
        told.append(f"*{reading}*, {len(other)} of {len(own)} claims{which}")
    concerned = "Claims with a verdict that changes somewhere, of those that the reading concerns"
    return f"{concerned}: {'; '.join(told)}." if told else ""


def widths_in_words(scores: pd.DataFrame) -> str:
    """Which widths tuning could choose for PairRank, which it chose, and what so coarse a grid leaves open.

    Args:
        scores: from `ol2r.experiments.tuning.marked`, by "grid".
    """
    tried = tuning.GRIDS[tuning.SUM].tried["alpha"]
    eligible = [value for value in tried if tuning.TUNED.may_choose(tuning.SUM, {"alpha": value})]
    chosen = "".join(
        f"With the {loss} loss: {told}. "
        for loss, name in (("summed", tuning.SUM), ("mean", tuning.MEAN))
        if (told := _chosen(scores, name, "alpha"))
    )
    return (
        f"*PairRank's width.* Of the {len(tried)} widths α in PairRank's grids {len(eligible)} may be chosen, "
        f"{_listed(eligible)}. {chosen}Nothing between them was tried. So where PairRank comes out behind or level, a "
        "finer choice of α might have brought it ahead; where it leads, it does so without one. The sizes and numbers "
        "of blocks (PR10, PR11, PR12), and how much the two shuffles can differ (PR6), depend on α directly: those "
        "verdicts are about the chosen width."
    )


def randomness_in_words(scores: pd.DataFrame) -> str:
    """Which ε was chosen for ε-greedy, and by which criterion."""
    tried = tuning.GRIDS["epsilon-greedy"].tried["epsilon"]
    eligible = [value for value in tried if tuning.TUNED.may_choose("epsilon-greedy", {"epsilon": value})]
    told = _chosen(scores, "epsilon-greedy", "epsilon")
    return (
        f"*ε of ε-greedy.* It was chosen from {_listed(eligible)}{': ' if told else ''}{told}. ε is the share of slots "
        "that are filled at random, and what that costs users does not count in the choice. What it means for online "
        "claims stands below {numref}`pairrank-epsilon`."
    )


def _chosen(scores: pd.DataFrame, grid_name: str, name: str) -> str:
    """The chosen values of one hyper-parameter of a grid, data set by data set."""
    best = scores[scores["best"].astype(bool) & (scores["grid"] == grid_name)]
    values = zip(best["dataset"], best[name], strict=True)
    return ", ".join(f"{value:g} on {named(str(dataset))}" for dataset, value in values)


def _listed(values: Sequence[float]) -> str:
    *first, last = (f"{value:g}" for value in values)
    return f"{', '.join(first)} and {last}" if first else last


def epsilon_in_words(datasets: Sequence[str], judgement: Judgement) -> str:
    """The ε that ε-greedy ran with on each data set, and the verdict there of a claim on its online score.

    Args:
        datasets: the data sets it ran on.
        judgement: the judgement of the claim.
    """
    verdicts = {place.dataset: f" ({judgement.id}: {place.verdict})" for place in judgement.elsewhere}
    values = {dataset: float(tuned(dataset, "epsilon-greedy")["epsilon"]) for dataset in datasets}
    if not values:
        return ""
    told = "; ".join(f"{named(each)} {value:g}{verdicts.get(each, '')}" for each, value in values.items())
    most = max(values.values())
    where = ", ".join(named(each) for each, value in values.items() if value == most)
    return (
        f"ε-greedy ran with these ε: {told}. They were chosen for the ranker that is learned, and an online score "
        f"depends on ε. With the largest, {most:g} on {where}, {share(most)} of all slots are filled at random in the "
        "mean. Where ε is large, PR8's contrasts with ε-greedy and PR13 say what so much randomness costs users, not "
        "what ε-greedy costs them at an ε chosen for them; {numref}`pairrank-epsilon` has the online score at every ε, "
        "on one data set."
    )


def reference_in_words(final: pd.DataFrame, levels: Mapping[str, float]) -> str:
    """Which claims depend on offline RankNet's λ, and where learners end above its score.

    Args:
        final: `ol2r.report.tables.final` of the offline score.
        levels: offline RankNet's score, by data set.
    """
    above = final[final["mean"] > final["dataset"].map(levels).astype(float)]
    told = []
    for dataset, own in above.groupby("dataset", sort=False):
        best = own.iloc[own["mean"].argmax()]
        lead = best["mean"] - levels[str(dataset)]
        told.append(f"{named(str(dataset))} (by at most {lead:.3f}: {best['variant']}, {best['users']} users)")
    bound = f"An online learner ends above it, in the mean over runs, on {'; '.join(told)}: there it is no upper bound."
    return (
        f"Offline RankNet's λ = {REGULARIZATION:g} is our choice and was not tuned; with another, its level would be "
        "another. PR7 asks whether PairRank reaches this level, and PR1 leaves a contrast open where a baseline ends "
        f"near or above it, so both rest on that λ. {bound if told else 'No online learner ends above it.'}"
    )


def blocks_in_words(extremes: pd.DataFrame, chosen: pd.DataFrame) -> str:
    """How many blocks a list has without exploration, at the chosen width and at the largest, data set by data set.

    Args:
        extremes: runs of PairRank_C at α = 0 and at the largest α, with one loss.
        chosen: runs of PairRank_C with the same loss at the α that tuning chose.
    """
    if extremes.empty:
        return ""
    at_chosen = _blocks(chosen, ["dataset"])
    told = []
    for dataset, own in _blocks(extremes, ["dataset", "alpha"]).groupby("dataset", sort=False):
        least, *_, most = own.droplevel("dataset").sort_index().items()
        middle = f"{at_chosen[dataset]:.1f} at the chosen one, " if dataset in at_chosen else ""
        told.append(
            f"{named(str(dataset))} {least[1]:.1f} with α = {least[0]:g}, {middle}{most[1]:.1f} with α = {most[0]:g}"
        )
    return f"Blocks of a list with the summed loss, mean over all rounds, users and runs: {'; '.join(told)}."


def _blocks(frame: pd.DataFrame, by: list[str]) -> pd.Series:
    """The mean number of blocks of a list over all rounds and runs, for each group."""
    ends = at_own_end(frame)
    return (ends["blocks"] / ends["rounds"]).groupby([ends[name] for name in by], sort=False).mean()


def slopes_in_words(frame: pd.DataFrame) -> str:
    """How far Lemma 2's width with the least slope changes the offline score beside that with the largest one, in a
    sentence; empty without runs.

    Args:
        frame: runs of the item "width" with dataset, users, fold, seed, round, width and ndcg.
    """
    if frame.empty:
        return ""
    runs = ["dataset", "users", "fold", "seed"]
    least, largest = (
        only(frame, width=each).set_index([*runs, "round"])["ndcg"] for each in ("Lemma 2", "Lemma 2, c = ¼")
    )
    apart = (least - largest).abs().dropna().groupby(level=runs).max()
    if apart.empty:
        return ""
    same = f"With the least slope all scores are the same in {(apart == 0).sum()} of {len(apart)} runs"
    rest = "" if apart.max() == 0 else f", and in the others they are at most {number(apart.max(), 2)} apart"
    return f"{same}{rest}; so the figure leaves it out."


def short_steps_in_words() -> str:
    """Which learning rates tuning would choose for DBGD and MGD if it could choose the shortest ones too."""
    told = [
        f"{step:g} in place of {tuned(dataset, variant)['alpha']:g} for {variant} on {named(dataset)}"
        for (dataset, variant), step in SHORT_STEPS.items()
    ]
    return f"By validation queries alone tuning chose the rate {', '.join(told)}; elsewhere the same as now."


def settled_in_words(settling: pd.DataFrame) -> str:
    """The t′ of Lemma 7 as printed beside the number of rounds of the runs in small worlds."""
    line = settling.iloc[0]
    return (
        f"The printed t′ of Lemma 7 is round {number(line['printed_rounds'], 2)} in these worlds, with both universal "
        f"constants at 1; the runs have {line['rounds']:,.0f} rounds."
    )
