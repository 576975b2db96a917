"""What the olRankNet chapter tells: its conventions, what the paper leaves open, the map of the paper's items, and the
numbers of its sentences."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ol2r import data, frames
from ol2r.experiments import grid
from ol2r.experiments.effects import at_own_end
from ol2r.experiments.tuning import TuningGrid, chosen_together
from ol2r.networks import Network
from ol2r.papers import texts
from ol2r.papers.olranknet import claims, labels, tuning
from ol2r.papers.olranknet.claims import FAR, GAMMA, PROTOCOL, ROUNDS, ROUNDS_HERE, K
from ol2r.papers.olranknet.errata import ERRATA
from ol2r.papers.olranknet.figures import speeds
from ol2r.papers.olranknet.grid import DECAY, FOUR_SEEDS, LONG_ON, NETWORK, ONE_SEED, SEEDS, SEEDS_HERE, SETTINGS
from ol2r.papers.pairrank.grid import CLUEWEB
from ol2r.report.tables import Column, columns, named, number

WIDTH, PASSES = NETWORK["width"], SETTINGS["olRankNet"][1]["passes"]
STEP = ("neural PDGD", "neural DBGD", "neural epsilon-greedy")
"""Baselines of which α is the step."""
SYMBOLS = {"alpha": "α", "regularization": "λ", "rate": "η", "epsilon": "ε"}
"""What tables call the tuned hyper-parameters."""
PAPER_MOST, PAPER_LEAST_RATE = 0.1, 1e-3
"""The largest α, λ and rate and the smallest rate that the paper tries (5.1)."""


def _told(grid: TuningGrid) -> str:
    """The values that a grid tries, by symbol."""
    symbols = SYMBOLS | ({"alpha": "step"} if set(grid.variants) & set(STEP) else {})
    return "; ".join(f"{symbols[name]} ∈ {{{', '.join(map(number, values))}}}" for name, values in grid.tried.items())


_OLRANKNET, _OLLAMBDARANK = tuning.GRIDS["olRankNet"], tuning.GRIDS["olLambdaRank"]
TEXTS = texts.read(
    "olranknet",
    "texts",
    rounds=ROUNDS,
    rounds_here=ROUNDS_HERE,
    long_on=named(LONG_ON),
    seeds=PROTOCOL.seeds,
    folds=PROTOCOL.folds,
    seeds_clueweb=SEEDS[CLUEWEB],
    seeds_here=SEEDS_HERE,
    seeds_choices=len(ONE_SEED["paper"]),
    seeds_coverage=len(FOUR_SEEDS["paper"]),
    k=K,
    gamma=GAMMA,
    width=WIDTH,
    passes=PASSES,
    decay=DECAY,
    grid_both=_told(_OLRANKNET),
    grid_ranked=_told(tuning.GRIDS["olLambdaRank" + tuning.RANKED]),
    grid_full=_told(tuning.GRIDS["olRankNet, full"]),
    grid_wide=_told(replace(_OLRANKNET, tried=_OLRANKNET.wide)),
    grid_fewer_wide=_told(replace(_OLLAMBDARANK, tried=_OLLAMBDARANK.wide)),
    grid_pdgd=_told(tuning.GRIDS["neural PDGD"]),
    grid_greedy=_told(tuning.GRIDS["neural epsilon-greedy"]),
    grid_gt=_told(tuning.GRIDS["olLambdaRank GT"]),
    rounds_first=tuning.ROUNDS_FIRST,
    seeds_first=len(tuning.SEEDS_FIRST),
    shortlisted=tuning.SHORTLISTED,
    shortlisted_others=tuning.SHORTLISTED_OTHERS,
    rounds_longer=tuning.ROUNDS_LONGER,
    seeds_longer=len(tuning.SEEDS_LONGER),
)
CONVENTIONS, SILENCES, SHORT, MAP = (TEXTS[each] for each in ("conventions", "silences", "short", "map"))
TABLE_2_HEAD, TABLE_2 = TEXTS["table_2_head"], TEXTS["table_2"]
"""What the columns of each are, says the file."""
OURS = tuple(each for each in SHORT if each.startswith("ORX"))
"""Claims that are not the paper's."""
LIVE = {"Table 1": "same", "Table 2": "same", "Figure 1": "same", "Figure 2": "undecided"}
"""Items of the map that need no result, and how each came out: Figure 2 is a run of ours beside the paper's sketch."""
THEORY = ("Lemma", "Theorem", "Definition")
"""With what the titles of items begin that need no data."""


def fails(title: str) -> bool:
    """Whether the item with this title, in `MAP`, is false or empty as the paper prints it (`errata`)."""
    name = title.split(",")[0]
    return any(name in each.place.split(", ") for each in ERRATA if each.harm == "statement")


def click_models() -> list[tuple[str, str, str]]:
    """The paper's Table 1, and the users of sets with three grades: rows (users, click by grade, stop by grade)."""
    return grid.click_models((5, ""), (3, ", three grades (the PairRank paper)"))


def left_by_labels(table: pd.DataFrame, **told: str) -> str:
    """What labels leave to a network, a line for each data set, those with the largest lead first."""
    words: dict[bool | None, str] = {True: f"above {labels.LEAST:g}", False: f"not above {labels.LEAST:g}"}
    given: dict[str, Column] = {
        "data": lambda line: named(line.dataset),
        **{ranker: f"{{{ranker}:.4f}}" for ranker in (labels.LINEAR, labels.NETWORK)},
        "network − linear": "{mean:signed 4} [{low:signed 4}, {high:signed 4}]",
        "expected": lambda line: words.get(labels.EXPECTED.get(line.dataset), "–"),
        "runs": "{n}",
    }
    return columns(table.sort_values("mean", ascending=False, kind="stable"), given, **told)


# Numbers of sentences


def _last_of_test(frame: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return frame[(frame["round"] == frame["round"].max()) & (frame["part"] == "test") & (frame["quantity"] == quantity)]


def of_test(frame: pd.DataFrame, quantity: str) -> pd.Series:
    """A share of the pairs of test queries after the last round at the tuned α, the mean over runs by covariance; empty
    without runs.

    Args:
        frame: of `fits.Coverage`, of one data set and one way of refitting.
        quantity: such as "inside", the intervals that hold the true preference.
    """
    if frame.empty:
        return pd.Series(dtype=float)
    own = _last_of_test(frame, quantity)
    return own[np.isclose(own["at"], own["tuned_alpha"])].groupby("covariance")["value"].mean()


def where_needed(frame: pd.DataFrame) -> pd.DataFrame:
    """The least α with which 95 % of the intervals of `of_test` hold the true preference (at), and the share of orders
    that are certain then (value), means over runs by covariance; empty without runs."""
    if frame.empty:
        return pd.DataFrame(columns=["at", "value"], dtype=float)
    return _last_of_test(frame, "certain where needed").groupby("covariance")[["at", "value"]].mean()


def first(frame: pd.DataFrame, column: str) -> float:
    """The value of a column that is the same in all lines; NaN without lines."""
    return float(frame[column].iloc[0]) if len(frame) else math.nan


def run_times(frame: pd.DataFrame) -> pd.DataFrame:
    """Seconds of a core that a whole run takes, and rounds a second at its end (speed), by variant; empty without
    timings.

    Args:
        frame: as for `figures.speeds`, of one data set.
    """
    if frame.empty:
        return pd.DataFrame(columns=["seconds", "speed"], dtype=float)
    last = at_own_end(frame)
    seconds = (last["rank_seconds"] + last["update_seconds"]) / last["replicas"]
    ends = speeds(frame).sort_values("round").groupby("variant")["speed"].last()
    return pd.DataFrame({"seconds": seconds.groupby(last["variant"]).mean(), "speed": ends})


def minutes(frame: pd.DataFrame, provenance: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Minutes of a core by variant, of files with one run each; empty without runs."""
    spent = {record["key"]: record["shard_core_seconds"] / 60 for record in provenance}
    return {str(name): spent[own.iloc[0]] for name, own in frame.groupby("variant")["cell"]} if len(frame) else {}


def growth(frame: pd.DataFrame) -> pd.Series:
    """How far a diagonal A has left λI in the end, by kind of users; empty without runs.

    It is the geometric mean of A_kk/λ over all p weights, exp(log det(A/λI)/p), minus 1.

    Args:
        frame: runs of one variant with diagonal covariance on one data set, with log_det.
    """
    if frame.empty:
        return pd.Series(dtype=float)
    last = at_own_end(frame)
    line = frames.records(last)[0]
    network = Network(data.entry(str(line["dataset"])).n_features, int(line["width"]), int(line["depth"]), line["init"])
    return (last.groupby("users")["log_det"].mean() / network.n_parameters).map(math.expm1)


def beside_far(far: pd.DataFrame, ends: pd.DataFrame) -> pd.DataFrame:
    """Offline NDCG@10 of long runs beside the paper's learners at the end of shorter ones.

    Args:
        far: long runs of one variant with ndcg.
        ends: shorter runs with `variant` and ndcg.

    Returns:
        dataset, users, rounds (of the shorter runs), a column for each of the paper's learners; of the long runs "as
        long" (the score at the first checkpoint after as many rounds), "longer" (after as many times more rounds as in
        the paper's comparison), best, at (the round of the best) and last (round). No line without either.
    """
    lines = []
    for (dataset, users), own in frames.groups(far, ["dataset", "users"]) if len(far) and len(ends) else ():
        shorter = at_own_end(ends[(ends["dataset"] == dataset) & (ends["users"] == users)])
        if len(shorter):
            rounds, means = shorter["round"].max(), own.groupby("round")["ndcg"].mean()
            times = {"as long": 1, "longer": FAR / ROUNDS}
            after = {name: means[means.index >= rounds * many] for name, many in times.items()}
            line = {"dataset": dataset, "users": users, "rounds": rounds} | dict.fromkeys(claims.OURS, math.nan)
            line |= shorter.groupby("variant")["ndcg"].mean().to_dict()
            line |= {name: next(iter(scores), math.nan) for name, scores in after.items()}
            lines.append(line | {"best": means.max(), "at": means.idxmax(), "last": means.index.max()})
    names = ["dataset", "users", "rounds", *claims.OURS, "as long", "longer", "best", "at", "last"]
    return pd.DataFrame(lines, columns=names)


def best_tried(scores: pd.DataFrame, dataset: str, grid: str = "olRankNet") -> tuple[float, float]:
    """The best score of a grid's settings in the first step, and that of settings with values that the paper tries; NaN
    where there is none.

    Args:
        scores: from `ol2r.experiments.tuning.marked`, by "grid"; empty where nothing was tuned.
    """
    own = scores[(scores["dataset"] == dataset) & (scores["grid"] == grid)] if len(scores) else scores
    if own.empty:
        return math.nan, math.nan
    allowed = own[[tuning.TUNED.may_choose(grid, line) for line in frames.records(own)]]
    inside = (allowed[["alpha", "regularization", "rate"]] <= PAPER_MOST).all(axis=1)
    return allowed["score"].max(), allowed["score"][inside & (allowed["rate"] >= PAPER_LEAST_RATE)].max()


def kept(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """By data set and grid, how much higher another setting scores in the second step than the chosen one, which stays
    unless another gains more than one standard error; without the grids where the chosen one scores highest."""
    behind = {
        (dataset, name): own["longer"].max() - own.loc[chosen_together(own), "longer"].min()
        for (dataset, name), own in (frames.groups(table, ["dataset", "grid"]) if len(table) else ())
    }
    return {key: by for key, by in behind.items() if by > 0}
