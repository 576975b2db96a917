"""Texts of the NSGD chapter's tables: conventions, what the paper leaves open, audits, and the map of its items."""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from ol2r.experiments import grid
from ol2r.experiments.chapter import Results
from ol2r.papers.nsgd.claims import STAND_INS
from ol2r.papers.nsgd.grid import GAMMA, ROUNDS, SETTINGS, K
from ol2r.report import tables

CONVENTIONS: tuple[tuple[str, object, str], ...] = (
    ("rounds T", ROUNDS, "paper, 4.1"),
    ("runs", "15 seeds × 5 folds", "paper, 4.2: 15 repeats for each fold"),
    ("queries of a round", "uniform with replacement from the fold's training queries", "paper, 4.1"),
    ("cut k of lists and of NDCG", K, "paper, 4.1"),
    ("discount γ of the online score", f"{GAMMA}: $\\sum_t \\gamma^{{t-1}} \\mathrm{{NDCG}}_t$, T terms", "paper, 4.1"),
    (
        "gain and discount of NDCG",
        "$2^r - 1$ for grade r, $1/\\log_2(i + 1)$ at rank i, ideal list cut at k",
        "ours; the field's usual",
    ),
    ("queries without relevant documents", "count zero, online and offline", "ours; fits the printed MQ2008 numbers"),
    (
        "clicks on the prefix that all lists share",
        "no credit",
        "ours, as public code; the cited algorithms credit them",
    ),
    ("users on five grades (ClueWeb09)", "PairRank's click table", "ours; the paper has three grades"),
    (
        "features",
        "min-max in each query, constant → 0; none dropped",
        "ours; as is usual, except that others drop constant ones",
    ),
    ("equal scores", "random in displayed lists; their expectation in offline NDCG", "ours"),
    ("stop of a user", "drawn only after a click", "paper, 4.1"),
    ("δ, α", "1, 0.1", "paper, 4.2"),
    ("start w₁", "random unit vector", "paper, Algorithms 1 and 2"),
    ("candidates m of MGD and NSGD", SETTINGS["NSGD"]["m"], "paper, 4.2"),
    ("$k_g, T_g, k_h, T_h$ of NSGD", "25, 15 directions, 10, 50", "paper, 3.2 and 4.2"),
    ("n, lag k and ε of NSGD", "20, 10, 0.01", "ours; the paper names them without values"),
    ("reference w*", "LambdaRank without a hidden layer, fitted to each fold", "paper, 4.1"),
    ("grade 1 of binary data sets", "the click table's highest column", "ours; lerot's convention"),
)
"""The table of the chapter's conventions: (convention, value, where it comes from)."""

SILENCES: tuple[tuple[str, str, str | None], ...] = (
    (
        "whether queries without relevant documents count",
        "they count zero",
        "queries without relevant documents left out",
    ),
    ("whether features constant over a training set are dropped", "none is", "constant features dropped"),
    (
        "whether a click on the prefix that all lists share is credited",
        "no, as in public code",
        "credit on the common prefix",
    ),
    ("whether α decays", "it does not", "α decays by 0.999977 a win"),
    (
        "who the winners of MGD are",
        "the largest credit, if above the current ranker's",
        "MGD: all rankers above the current one win",
    ),
    ("what a round without a click does in NSGD", "nothing: no update, not recorded", "NSGD: click-free rounds count"),
    (
        "when the hybrid sampling switches (the printed test is always true)",
        "at $\\cos(w_t, w_{t-10}) > 0.99$",
        "NSGD: hybrid test as printed",
    ),
    (
        "how 25 directions come out of a queue of 15 ($k_g > T_g$)",
        "all 15 are taken; a queue of 15 rounds of losers is shown",
        "NSGD: queue of 15 rounds",
    ),
    ("the same, as public code answers it", "a queue of 60 directions is shown", "NSGD: queue of 60 directions"),
    ("n, from which m are preselected", "20", "NSGD: no preselection"),
    ("what the gain of a grade is in NDCG", "$2^r - 1$", "gain linear in the grade"),
    (
        "where documents of equal score stand in offline NDCG",
        "in random order; the expected NDCG counts",
        "equal scores in the data set's order",
    ),
    ("whether the online score has a term for round T + 1", f"no; it would add at most {GAMMA**ROUNDS:.3f}", None),
    (
        "which orthonormal basis of the null space is drawn from",
        "that of a Householder QR of G; single features at first",
        None,
    ),
    ("whether Eval of the tie-break is MAP or NDCG", "NDCG@10", None),
    ("what replaces tie-breaking in the ablation", "the mean of the winners, as in MGD", None),
    ("what DP-DBGD does when both new directions win", "no step", None),
    ("which of equally bad directions or queries are taken first", "the newest", None),
    ("how CPS replays history, and how long its history is", "a knock-out among 6 on the 10 latest interactions", None),
    ("how DP-DBGD favours the last winner", "the direction along it drafts first in every turn", None),
    ("which test ▲ stands for, and what deviations are over", "paired t-test and deviation over the 75 runs", None),
)
"""(what is open, what we did, the screen's switch that measures the other choice, or None)."""

SHORT = {
    "NS1": "NSGD has the best online score",
    "NS2": "NSGD ends above MGD offline where the paper says so",
    "NS3": "NSGD and MGD lead offline",
    "NS4": "NSGD and MGD vary less from run to run",
    "NS5": "NSGD is ahead of MGD by 600 rounds",
    "NS6": "NSGD moves much faster towards the ranker fitted to labels",
    "NS7": "null-space candidates win more often",
    "NS8": "each of its three parts helps",
    "NS9": "the hyper-parameters act as described",
    "NS10": "learners that preselect have the better cumulative NDCG",
    "NS11": "NSGD beats MGD with nine candidates",
    "NS12": "every online learner ends below offline LambdaRank",
    "NS13": "NSGD with nothing but its null space learns much faster than MGD",
}
"""What each claim says, in a few words."""

MAP: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Figure 1, illustration", "fig-1", ()),
    ("Table 1, click models", "table-1", ()),
    ("Table 2, online score", "table-2", ()),
    ("Table 3, offline score", "table-3", ()),
    ("Figure 2, offline NDCG@10 on MQ2007", "fig-2", ("NS5",)),
    ("Figure 3, its deviation", "fig-3", ("NS4",)),
    ("Figure 4, online score on MQ2007", "fig-4", ("NS10",)),
    ("Figure 5a, cosine to w*", "fig-5a", ("NS6",)),
    ("Figure 5b, selection ratio", "fig-5b", ("NS7",)),
    ("Figure 5c, ablation", "fig-5c", ("NS8", "NS13")),
    ("Figure 6a, number of candidates", "fig-6a", ("NS9",)),
    ("Figure 6b, learning rate", "fig-6b", ("NS9",)),
    ("Figure 6c, stored directions", "fig-6c", ("NS9",)),
    ("Figure 6d, recorded queries", "fig-6d", ("NS9",)),
)
"""The paper's items: what each is, its name here, and the claims that rest on it."""


COLUMNS = {"table-2": "cndcg", "table-3": "ndcg"}
"""The printed tables of scores, and the column of the runs that has each score."""


def beside_printed(
    results: Mapping[str, Results], printed: pd.DataFrame, reading: Mapping[str, str] | None = None
) -> dict[str, pd.DataFrame]:
    """The printed tables beside our runs, by table; see `tables.compare`.

    Args:
        results: by item.
        printed: the paper's printed numbers.
        reading: for another reading of the paper, by item the one that has its runs (None: the main reading).
    """
    stand_ins = {one.of: one.data for one in STAND_INS}
    runs = {item: results[(reading or {}).get(item, item)].frame for item in COLUMNS}
    return {
        item: tables.compare(runs[item], printed[printed["item"] == item], column, stand_ins)
        for item, column in COLUMNS.items()
    }


def on_mq2008(comparison: pd.DataFrame) -> pd.DataFrame:
    """The lines of a comparison on MQ2008, or else on the last data set that was run."""
    names = [name for name in comparison["data"].unique() if name]
    return comparison[comparison["data"] == ("MQ2008" if "MQ2008" in names else names[-1])]


def click_models() -> list[tuple[str, str, str]]:
    """The paper's Table 1, and the users of sets with five grades: rows (users, click by grade, stop by grade)."""
    return grid.click_models((3, ""), (5, ", five grades (ours)"))


audits_told = partial(
    tables.columns,
    given={
        "audit": "{audit}",
        "quantity": "{quantity}",
        "lines": "{lines}",
        "largest |z|": "{z:.1f}",
        "the mistake it would report": "{mistake}",
        "its smallest |z|": "{z_mistaken:.1f}",
    },
)
"""How far simulation lies from theory, and how far from a mistake, for each audited quantity: of `audits.summary`."""
