"""Texts of the olRankNet chapter: its conventions, what the paper leaves open, and the map of the paper's items.

The functions write the sentences of the chapter's answer; their numbers are computed from results.
"""

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
from ol2r.papers.olranknet import claims, labels, tuning
from ol2r.papers.olranknet.claims import (
    FAR,
    FULL,
    GAMMA,
    LINEAR_TRUTH,
    PROTOCOL,
    ROUNDS,
    ROUNDS_HERE,
    SKYLINE,
    K,
)
from ol2r.papers.olranknet.errata import ERRATA
from ol2r.papers.olranknet.figures import IN_LISTS, OFFLINE, speeds
from ol2r.papers.olranknet.grid import (
    DECAY,
    ELSEWHERE,
    FOUR_SEEDS,
    LONG_ON,
    NETWORK,
    ONE_SEED,
    SEEDS,
    SEEDS_HERE,
    SETTINGS,
    similar,
)
from ol2r.papers.pairrank.grid import CLUEWEB
from ol2r.report import leads
from ol2r.report.leads import in_range, joined
from ol2r.report.tables import interval, myst, named, number, share, signed

REFIT = SETTINGS["olRankNet"][1]
WIDTH, PASSES = NETWORK["width"], REFIT["passes"]
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


_OLRANKNET = tuning.GRIDS["olRankNet"]
CONVENTIONS: tuple[tuple[str, object, str], ...] = (
    (
        "rounds T",
        f"{ROUNDS} by the paper's protocol; {ROUNDS_HERE} on other data, and {ROUNDS} on one fold of {named(LONG_ON)} "
        f"and in one run on {named('synthetic-mslr')}",
        "paper, 5.2; the rest ours",
    ),
    (
        "runs",
        f"{PROTOCOL.seeds} seeds × {PROTOCOL.folds} folds by the paper's protocol, and in the main figures on MQ2008 "
        f"and MQ2007; {SEEDS[CLUEWEB]} seeds of every fold on {named(CLUEWEB)}, {SEEDS_HERE} on other data and in "
        f"other figures; of {ROUNDS} rounds {SEEDS_HERE} seeds of fold 1, but one on synthetic data; widths and "
        f"choices {len(ONE_SEED['paper'])} seed × 5 folds under perfect users alone; coverage "
        f"{len(FOUR_SEEDS['paper'])} seeds of fold 1",
        "paper, 5.2: ten seeds, and 5.1: five folds; the rest ours",
    ),
    ("queries of a round", "uniform with replacement from the training queries", "paper, 5.1"),
    ("cut k of lists and of NDCG", K, "paper, 5.1: users see ten results; 5.2: NDCG@10"),
    (
        "discount γ of the online score",
        f"{GAMMA}: $\\sum_t \\gamma^{{t-1}} \\mathrm{{NDCG}}_t$, T terms",
        "paper, 5.2",
    ),
    (
        "gain and discount of NDCG",
        "$2^r - 1$ for grade r, $1/\\log_2(i + 1)$ at rank i, ideal list cut at k",
        "ours; the field's usual",
    ),
    ("test queries without relevant documents", "left out offline; online they count zero", "ours, as for PairRank"),
    ("features", "min-max in each query, constant → 0; none dropped", "ours, as for PairRank"),
    ("equal scores", "random in displayed lists; their expectation in offline NDCG", "ours"),
    ("users", "five grades as the paper's Table 1; three grades as the PairRank paper's", "paper, 5.1, Table 1; ours"),
    ("stop of a user", "drawn only after a click", "paper, 5.1: a dependent click model"),
    (
        "pairs that are learnt from",
        "clicked and examined unclicked ones matched at random",
        "option `ind` of the public code; the paper's 3.2 has adjacent places",
    ),
    ("network", f"one hidden layer of m = {WIDTH} ReLU units, no biases", "paper, 5.1 (two layers); 3.2"),
    (
        "first weights θ₀",
        "symmetric, so that all scores are 0; documents as (x, x)/√2, not scaled to length 1",
        "paper, Algorithm 1; length 1 is assumed in its B.2 only",
    ),
    ("objective", "summed cross-entropy of all labels so far + (mλ/2) ‖θ − θ₀‖²", "paper, Eq. (3.2)"),
    (
        "refit",
        f"after every round {PASSES} steps of Adam on the mean over labels, from the last round's θ",
        "ours; the paper has J steps of gradient descent and gives no J",
    ),
    ("gradients of a pair in A", "at the refitted θ", "paper, Algorithm 1, lines 11 and 12"),
    ("covariance A", "its diagonal; in full beside it", "paper, 5.2; the full one is ours"),
    ("interval of a pair", "α ‖g/√m‖ in A⁻¹, α constant and tuned, without ε(m)", "paper, 5.1; Lemma 3.3 has both"),
    (
        "ΔNDCG of olLambdaRank",
        "clicks as grades, ideal list of the same clicks; swap among the examined documents as the network ranks them "
        "in each pass of a refit, as in LambdaRank and the public code; beside it, and alone on data other than "
        "MQ2008, swap in the list as shown",
        "ours; {ref}`olranknet-ranked`",
    ),
    *((f"grid of {name}", _told(each), source) for name, each, source in (
        (
            "olRankNet and olLambdaRank, also with fresh starts and decay", _OLRANKNET,
            "paper, 5.1: 0.1 to 10⁻⁴ (the last is not tried here), rates to 10⁻³; the rest ours",
        ),
        ("olLambdaRank, present ranking", tuning.GRIDS["olLambdaRank" + tuning.RANKED], "paper, 5.1; the rest ours"),
        ("olRankNet with full covariance", tuning.GRIDS["olRankNet, full"], "ours"),
        (
            "olRankNet on data with many features", replace(_OLRANKNET, tried=_OLRANKNET.wide),
            "paper, 5.1; the rest ours",
        ),
        (
            "olLambdaRank, and olRankNet with full covariance, on such data",
            replace(_OLRANKNET, tried=tuning.GRIDS["olLambdaRank"].wide), "ours",
        ),
        ("neural PDGD and DBGD", tuning.GRIDS["neural PDGD"], "paper, 5.1: 0.1 to 10⁻³; the rest ours"),
        ("neural ε-greedy", tuning.GRIDS["neural epsilon-greedy"], "ours"),
        ("olLambdaRank GT", tuning.GRIDS["olLambdaRank GT"], "ours"),
    )),
    (
        "tuning",
        f"on validation queries of fold 1: mean NDCG@10 over users. All settings run {tuning.ROUNDS_FIRST} rounds with "
        f"{len(tuning.SEEDS_FIRST)} seeds, the best {tuning.SHORTLISTED} of olRankNet and the best "
        f"{tuning.SHORTLISTED_OTHERS} of every other grid {tuning.ROUNDS_LONGER} rounds with "
        f"{len(tuning.SEEDS_LONGER)} other seeds, and so do those that were among the best before a grid was extended; "
        "what was chosen then stays unless another gains more than one standard error; no reported run has any of "
        "these seeds",
        "paper, 5.1: validation data of each fold; the rest ours",
    ),
    ("linear baselines", "PairRank_C, PDGD and DBGD with the values that {doc}`pairrank` tuned", "ours"),
    ("decay of PDGD's step", DECAY, "paper, 5.1"),
    ("decay of DBGD's step", "none", "ours, as for PairRank; the paper has PDGD's"),
    (
        "olLambdaRank GT",
        "after each round LambdaRank on the true labels of all queries shown so far; from random weights of the usual "
        "size (He); it reads no click, so one run stands for all kinds of users",
        "paper, 5.1; start ours",
    ),
)  # fmt: skip
"""The table of the chapter's conventions: (convention, value, where it comes from)."""

SILENCES: tuple[tuple[str, str, str | None], ...] = (
    ("how many steps J a refit takes, by which method", f"{PASSES} of Adam; L-BFGS beside it", "choices"),
    (
        "from where a refit starts in the experiments; the proof starts at θ₀",
        "from the last θ; from θ₀ and afresh beside it",
        "choices",
    ),
    ("at which θ the gradients in A are taken (the text has both)", "the refitted one; the other beside it", "choices"),
    ("whether documents have length 1 in the experiments", "no; length 1 beside it", "choices"),
    ("which random start the experiments have", "Algorithm 1's; the usual one (He) beside it", "choices"),
    ("whether the pull is towards θ₀ or 0, and its scale", "Eq. (3.2)'s; two others beside it", "choices"),
    ("how ΔNDCG is formed from clicks", "clicks as grades, as in the public code; no other way was run", None),
    (
        "in which order ΔNDCG takes the documents of a list",
        "as the network ranks them now; as shown beside it, and alone on data other than MQ2008",
        "ranked",
    ),
    (
        "which disjoint pairs the experiments have (3.2 has those of adjacent places)",
        "a random matching; adjacent places and every pair beside it",
        "choices",
    ),
    ("ε of ε-greedy", "tuned", None),
    ("on which data set and for whom Figure 6 counts", "all that were run, all users", None),
    ("whether the order of a document with itself counts in Figure 6", "no", None),
    ("what the two LDA directions of Figure 3 show of how far grades overlap", "a number beside the picture", None),
)
"""(what is open, what we did, the item that shows the other choice, or None)."""

SHORT = {
    "OR1": "both end above every baseline offline",
    "OR2": "linear and neural DBGD are the worst offline",
    "OR3": "PDGD ends above DBGD",
    "OR4": "networks start below PairRank and overtake it",
    "OR5": "olLambdaRank is at least as good as olRankNet",
    "OR6": "both are above every baseline online, and alike",
    "OR7": "orders become certain quickly, more slowly under navigational users",
    "OR8": "a linear projection does not separate the grades",
    "OR9": "both end above neural PDGD's best in 20,000 rounds",
    "OR10": "PDGD is below both online, the neural one most",
    "ORT1": "the interval of Lemma 3.3 covers, with its error measured",
    "ORT2": "the log-determinant of pairs that share no document stays below the bound of Lemma C.3's proof",
    "ORT3": "the kernel of a wide network nears H",
    "ORX1": "full covariance is at least as good as its diagonal",
    "ORX2": "exploration pays",
    "ORX3": "a network orders more than a linear ranker fitted alike",
}
"""What each claim says, in a few words."""
OURS = tuple(each for each in SHORT if each.startswith("ORX"))
"""Claims that are not the paper's."""

TABLE_2_HEAD = ("Table 2 of the paper", "what it is", "here")
TABLE_2: tuple[tuple[str, str, str], ...] = (
    (
        r"$\mathbf{x}_i^t$, $\mathbf{x}_j^t$",
        "features of documents $i$ and $j$ for the query of round $t$",
        "$x_i$, `features`",
    ),
    ("$m$", "width of every layer", "the same, `width`"),
    ("$L$", "number of layers", "the same, `depth`"),
    ("$p$", "number of parameters", "the same, `n_parameters`"),
    (r"$h(\cdot)$, $\mathbf{h}$", "the true scores; as a vector, those of all documents", "the same"),
    (r"$\gamma^*$", r"$\theta^* - \theta_0$, the weights of the true linear model", r"$z^* / \sqrt m$"),
    (r"$\hat\gamma_t$", "the fit of the linearized network in round $t$", r"$\hat z_t / \sqrt m$"),
    (
        r"$\mathbf{H}$",
        "tangent kernel of all documents of all queries",
        r"$\mathbf{H}$ as printed, $\tilde{\mathbf{H}}$ with all parameters ({prf:ref}`olranknet-thm-kernel`)",
    ),
    (
        r"$\lambda_0$",
        r"least eigenvalue of $\mathbf{H}$, $\mathbf{H} \succeq \lambda_0 \mathbf{I}$",
        r"that of $\tilde{\mathbf{H}}$",
    ),
    (
        r"$V_t$, $V_{\max}$",
        "number of candidates of round $t$, and the most of any query",
        "$V_t$, and $V$ in constants",
    ),
    (r"$\Psi_t$", "all pairs of candidates of round $t$", "the same"),
    (r"$\omega_t$", "the certain orders of round $t$", "the same, `certain_orders`"),
    (
        "$n_t$",
        r"number of documents of all queries up to round $t$, $\sum_{s \le t} V_s \le t V_{\max}$",
        "$n_t$; $n$ in {prf:ref}`olranknet-thm-vacuous`",
    ),
    (
        "$n_t^P$",
        r"number of pairs that were learnt from, at most $\lceil tK/2 \rceil$ with $K$ documents shown",
        "$n$ elsewhere, `labels`",
    ),
    (r"$f(\mathbf{x}_i; \theta_t)$", "score of document $i$", r"$f(x; \theta)$"),
    ("$f_{ij}^t$", r"difference of two scores at $\theta_{t-1}$", "$f_{ij}$"),
    (
        r"$\mathbf{g}(\mathbf{x}_i; \theta_t)$",
        "gradient of a score by all parameters",
        r"$g$; at $\theta_0$ and divided by $\sqrt m$, $v(x)$",
    ),
    (
        r"$\mathbf{g}_{ij}^t$",
        r"difference of two gradients, at $\theta_t$ by Table 2",
        r"at $\theta_t$ in $A$, as Algorithm 1 has it; the proofs have $\theta_{t-1}$",
    ),
    (r"$\mathbf{g}_{ij}^{t,0}$", r"the same at $\theta_0$", r"$\sqrt m\, w_{ij}$"),
    (
        r"$\eta$, $J$",
        "step size and number of steps of gradient descent",
        r"$\eta$ is the rate of Adam, $J$ its steps: `rate`, `passes`",
    ),
    (r"$\xi$", "noise of a pair's label", "the same"),
    (r"$\nu$", r"$\xi$ is $\nu$-sub-Gaussian", r"`LABEL_NOISE`, $\tfrac12$"),
)
"""The rows of the paper's Table 2, its notation."""

MAP: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("Table 1, click models", "olranknet-table-1", ()),
    ("Table 2, notation", "olranknet-table-2", ()),
    ("Figure 1, certain orders and two rankings", "olranknet-fig-1", ()),
    ("Figure 2, certain and uncertain rank orders", "olranknet-fig-2", ()),
    ("Figure 3, LDA projection", "olranknet-fig-3", ("OR8",)),
    ("Figure 4, offline NDCG@10", "olranknet-fig-4", ("OR1", "OR2", "OR3", "OR4", "OR5")),
    ("Figure 5, cumulative NDCG", "olranknet-fig-5", ("OR6", "OR10")),
    ("Figure 6, share of certain orders", "olranknet-fig-6", ("OR7",)),
    ("5.2, PDGD after 20,000 rounds", "olranknet-far", ("OR9",)),
    ("Lemma 3.3, confidence interval", "olranknet-coverage", ("ORT1",)),
    ("Lemma 4.2, uncertain orders", "olranknet-open", ()),
    ("Theorem 4.4, regret", "olranknet-regret", ()),
    ("Definition B.1, tangent kernel", "olranknet-kernel", ("ORT3",)),
    ("Lemma C.3's log-determinant, effective dimension", "olranknet-log-det", ("ORT2",)),
)
"""The paper's items: what each is, its anchor here (None: no figure), and the claims that rest on it."""

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


# Sentences


SHORTLY = {OFFLINE: "offline NDCG@10", IN_LISTS: "the lists that users saw"}
"""What sentences call the two panels of the leads."""
SPOKEN = {name: f"{name.removesuffix(', full')} with the full matrix" for name in FULL}
"""What sentences call the variants that have another name in figures."""


def lead_in_words(table: pd.DataFrame, row: str, baseline: str) -> str:
    """The range of a variant's leads over a baseline after the last round, offline and in the shown lists, and under
    which users they are clear: a sentence for each data set.

    Args:
        baseline: what the sentence calls the baseline that was subtracted.
    """
    return leads.lead_in_words(table, row, f"{SPOKEN.get(row, row)} minus {baseline}", SHORTLY)


def of_test(frame: pd.DataFrame, quantity: str) -> pd.Series:
    """A share of the pairs of test queries after the last round at the tuned α, the mean over runs by covariance; empty
    without runs.

    Args:
        frame: of `fits.Coverage`, of one data set and one way of refitting.
        quantity: such as "inside", the intervals that hold the true preference.
    """
    if frame.empty:
        return pd.Series(dtype=float)
    own = frame[(frame["round"] == frame["round"].max()) & (frame["part"] == "test") & (frame["quantity"] == quantity)]
    return own[np.isclose(own["at"], own["tuned_alpha"])].groupby("covariance")["value"].mean()


def first(frame: pd.DataFrame, column: str) -> float:
    """The value of a column that is the same in all lines; NaN without lines."""
    return float(frame[column].iloc[0]) if len(frame) else math.nan


def covered_in_words(frame: pd.DataFrame) -> str:
    """What is certain once 95 % of the intervals hold the true preference; of the runs of `of_test`."""
    if frame.empty:
        return ""
    last = frame[(frame["round"] == frame["round"].max()) & (frame["part"] == "test")]
    needed = last[last["quantity"] == "certain where needed"].groupby("covariance")[["at", "value"]].mean()
    certain = needed["value"].map(share)
    return (
        f"With α so large that 95 % of the intervals hold it ({needed['at']['full']:.2g} and "
        f"{needed['at']['diagonal']:.2g}), {certain['full']} and {certain['diagonal']} of the orders are certain. With "
        f"one width for all pairs, wide enough for 95 %, {certain['constant']} would be."
    )


def refits_in_words(table: pd.DataFrame) -> str:
    """What the gap of a refit does to coverage, in words; empty without runs."""
    if table.empty:
        return ""
    ordered = table.sort_values("gap", ascending=False)
    worse, better = (ordered.iloc[i] for i in (0, -1))
    gaps = "; ".join(f"{share(line['gap'])} by {line['way']}" for line in frames.records(ordered))
    told = [
        f"{share(worse[f'inside {form}'])} and {share(better[f'inside {form}'])} of the intervals by the {name}"
        for form, name in (("full", "full matrix"), ("diagonal", "diagonal"))
    ]
    alpha = [f"{worse[f'needed {form}']:.2g} and {better[f'needed {form}']:.2g}" for form in ("full", "diagonal")]
    return (
        f"After the last round refits have left undone: {gaps}. With the largest of these gaps and with the smallest, "
        f"the true preference lies in {' and in '.join(told)}; 95 % of them hold it from α = {alpha[0]} and from "
        f"{alpha[1]}."
    )


def left_by_labels(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """What labels leave to a network, a line for each data set, those with the largest lead first."""
    words: dict[bool | None, str] = {True: f"above {labels.LEAST:g}", False: f"not above {labels.LEAST:g}"}
    rows = [
        [
            named(str(line["dataset"])),
            f"{line[labels.LINEAR]:.4f}",
            f"{line[labels.NETWORK]:.4f}",
            f"{signed(line['mean'], 4)} {interval(line['low'], line['high'], 4)}",
            words.get(labels.EXPECTED.get(str(line["dataset"])), "–"),
            str(line["n"]),
        ]
        for line in frames.records(table.sort_values("mean", ascending=False, kind="stable"))
    ]
    header = ["data", labels.LINEAR, labels.NETWORK, "network − linear", "expected", "runs"]
    return myst(header, rows, name=name, caption=caption)


REFITS = ("refit", "gap", "holds, full", "holds, diagonal", "95 % hold from α, full", "95 % hold from α, diagonal")


def refit_rows(table: pd.DataFrame) -> list[list[str]]:
    """The lines of `fits.by_refit` as text, under the heads `REFITS`."""
    shares, widths = ["gap", "inside full", "inside diagonal"], ["needed full", "needed diagonal"]
    return [
        [str(line["way"]), *(share(line[x]) for x in shares), *(f"{line[x]:.2g}" for x in widths)]
        for line in frames.records(table)
    ]


def speed_in_words(frame: pd.DataFrame) -> str:
    """How long all rounds of each learner took, and how many rounds a second it makes at the end, in a sentence for
    each data set; empty without timings.
    """
    told = []
    for dataset, own in () if frame.empty else frame.groupby("dataset", sort=False):
        ends, last = speeds(own), at_own_end(own)
        each = []
        for name, runs in last.groupby("variant", sort=False):
            total = (runs["rank_seconds"] + runs["update_seconds"]).mean() / runs["replicas"].mean()
            at_end = ends[ends["variant"] == name].sort_values("round")["speed"].iloc[-1]
            called = SPOKEN.get(str(name), name)
            each.append(f"{total:,.1f} seconds with {called} (at the end {at_end:,.0f} rounds a second)")
        rounds = last["round"].max()
        told.append(f"On {named(str(dataset))} a run of {rounds:,} rounds takes one core {'; '.join(each)}.")
    return " ".join(told)


def times_with_full(frame: pd.DataFrame, full: str, diagonal: str) -> float:
    """How many times as long a run takes with the full covariance as with its diagonal; NaN without timings.

    Args:
        frame: as for `figures.speeds`, of one data set.
    """
    if not {full, diagonal} <= set(frame.get("variant", ())):
        return math.nan
    last = at_own_end(frame)
    seconds = (last["rank_seconds"] + last["update_seconds"]).groupby(last["variant"]).mean()
    return float(seconds[full] / seconds[diagonal])


def forms_in_words(frame: pd.DataFrame) -> str:
    """What widths and update of the widest network cost in the dual form at the most pairs that were timed, by shape.

    Args:
        frame: of `forms.Forms`; empty without timings.
    """
    told = []
    for shape, own in () if frame.empty else frame[frame["form"] == "dual"].groupby("shape", sort=False):
        most = own.sort_values(["width", "pairs"]).iloc[-1]
        told.append(
            f"{most['milliseconds']:,.0f} ms a round in the shape of {named(str(shape))} ({most['parameters']:,} "
            f"weights) after {most['pairs']:,} pairs"
        )
    return f"In the dual form widths and the update of the full matrix cost {joined(told)}." if told else ""


def crossover_in_words(met: pd.DataFrame) -> str:
    """From how many pairs for a weight on the primal form was measured to be cheaper; empty without measurements."""
    told, within = [], met[(met["ratio"] > 0) & np.isfinite(met["ratio"])]
    if len(within):
        told.append(f"both forms cost the same at {in_range(within['ratio'], '{:.2f}'.format)} pairs for each weight")
    earlier = "the primal form was cheaper from the fewest pairs on"
    later = "the dual form stayed cheaper throughout"
    for at, what in ((0.0, earlier), (np.inf, later)):
        if shapes := [f"m = {r.width} ({named(r.shape)})" for r in frames.rows(met[met["ratio"] == at])]:
            told.append(f"with {joined(shapes)} {what}")
    return f"As measured, {'; '.join(told)}." if told else ""


def minutes(frame: pd.DataFrame, provenance: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Minutes of a core by variant, of files with one run each; empty without runs."""
    spent = {record["key"]: record["shard_core_seconds"] / 60 for record in provenance}
    return {str(name): spent[own.iloc[0]] for name, own in frame.groupby("variant")["cell"]} if len(frame) else {}


def witness_in_words(frame: pd.DataFrame, provenance: Sequence[Mapping[str, Any]], full: str, diagonal: str) -> str:
    """How long one run of each form of the covariance took, and where it ended; empty without runs.

    Args:
        frame: one run of each variant on one data set, with `cell`, `variant`, ndcg and labels.
        provenance: the records of these cells, each of a file with this run alone.
    """
    if not {full, diagonal} <= set(frame.get("variant", ())):
        return ""
    told = {name: f"{minutes:.0f} minutes" for name, minutes in minutes(frame, provenance).items()}
    last = at_own_end(frame).set_index("variant")
    ends = {name: f"{last['ndcg'][name]:.3f}" for name in (full, diagonal)}
    n = float(last["labels"][full])  # A grows by every pair that is labelled, also by one that was so before
    return (
        f"A single run of {last['round'].max():,} rounds on {named(str(last['dataset'].iloc[0]))} took {told[full]} of "
        f"a core with the full matrix and {told[diagonal]} with its diagonal. In the end the full A had been changed "
        f"by {n:,.0f} pairs, repeated ones included; of these the dual form keeps a triangle of "
        f"{4 * n**2 / 1e9:.1f} GB. The runs ended at {ends[full]} and {ends[diagonal]} of offline NDCG@10; of single "
        "runs nothing follows on which form ranks better."
    )


WORTH_OF = {
    "exploring": "olRankNet as tuned minus itself at α = 0",
    "refitting": "olRankNet at α = 0 minus the network of one step a round",
}
"""What sentences call the differences of `claims.WORTH`."""


def worth_by_data_in_words(table: pd.DataFrame) -> str:
    """How much exploring and refitting are worth on each data set, in a paragraph for each of the two; empty without
    runs.
    """
    rows = list(dict.fromkeys(table["row"])) if len(table) else []
    return "\n\n".join(leads.lead_in_words(table, what, WORTH_OF[what], SHORTLY) for what in rows)


def best_in_words(far: pd.DataFrame, ends: pd.DataFrame, variants: Sequence[str]) -> str:
    """The range over the kinds of users of what long runs reach at best and of where shorter ones end, in two
    sentences for each data set that has both.
    """
    told = []
    for (dataset,), own in frames.groups(far, ["dataset"]) if len(far) and len(ends) else ():
        best = own.groupby(["users", "round"])["ndcg"].mean().groupby("users").max()
        shorter = at_own_end(ends[(ends["dataset"] == dataset) & ends["users"].isin(best.index)])
        scores = {str(name): runs.groupby("users")["ndcg"].mean() for name, runs in shorter.groupby("variant")}
        each = [f"{in_range(scores[name], '{:.3f}'.format)} with {name}" for name in variants if name in scores]
        if each:
            long, short = own["round"].max(), shorter["round"].max()
            other = (
                ""
                if short == ROUNDS
                else f" That is {long / short:.3g} times as many rounds, where the paper's comparison has "
                f"{FAR / ROUNDS:.3g} times as many."
            )
            told.append(
                f"On {named(dataset)} offline NDCG@10 after {short:,} rounds is {joined(each)}, by kind of users; the "
                f"best of {own['variant'].iloc[0]} in {long:,} is {in_range(best, '{:.3f}'.format)}.{other}"
            )
    return " ".join(told)


def far_in_words(far: pd.DataFrame, ends: pd.DataFrame, variants: Sequence[str]) -> str:
    """The best checkpoint of the long runs beside where shorter ones end, by data set and kind of users.

    Long runs are also told where they are as long as the shorter ones, and where they are as many times longer as the
    paper's comparison has them, or at the first checkpoint after it.

    Args:
        far: long runs of one variant with `variant` and ndcg.
        ends: shorter runs with `variant` and ndcg.
        variants: those whose ends are told.
    """
    told = []
    for (dataset, users), own in frames.groups(far, ["dataset", "users"]):
        means = own.groupby("round")["ndcg"].mean()
        shorter = at_own_end(ends[(ends["dataset"] == dataset) & (ends["users"] == users)])
        scores = shorter.groupby("variant")["ndcg"].mean()
        each = [f"{name} {scores[name]:.3f} after {shorter['round'].max():,}" for name in variants if name in scores]
        if each:
            last = shorter["round"].max()
            as_long = [means.index[means.index >= last * times] for times in (1, FAR / ROUNDS)]
            beside = [f"{means[after[0]]:.3f} after {after[0]:,}" for after in as_long if len(after)]
            told.append(
                f"- {named(dataset)}, {users} users: {joined(each)} rounds; {own['variant'].iloc[0]} "
                f"{', '.join([*beside, f'and at best {means.max():.3f}, after {means.idxmax():,}'])} of "
                f"{means.index.max():,}."
            )
    return "\n".join(told)


def tried_by_the_paper_in_words(scores: pd.DataFrame, grid: str = "olRankNet") -> str:
    """The best setting of a grid in the first step beside the best one with values that the paper tries.

    Args:
        scores: from `ol2r.experiments.tuning.marked`, by "grid"; empty where nothing was tuned.
    """
    told = []
    for dataset, own in scores[scores["grid"] == grid].groupby("dataset", sort=False) if len(scores) else ():
        allowed = own[[tuning.TUNED.may_choose(grid, line) for line in frames.records(own)]]
        inside = allowed[
            (allowed["alpha"] <= PAPER_MOST) & (allowed["regularization"] <= PAPER_MOST)
            & (allowed["rate"] <= PAPER_MOST) & (allowed["rate"] >= PAPER_LEAST_RATE)
        ]  # fmt: skip
        if len(inside):
            best, theirs = (frames.records(part.nlargest(1, "score"))[0] for part in (allowed, inside))
            told.append(
                f"On {named(str(dataset))} the best setting of the first step ({_setting(best)}) scores "
                f"{best['score']:.3f}, and the best one with values that the paper tries ({_setting(theirs)}) "
                f"{theirs['score']:.3f}."
            )
        else:
            where = named(str(dataset))
            told.append(f"On {where} no setting lies wholly within the values that the paper tries.")
    return " ".join(told)


def skyline_in_words() -> str:
    """On which data this edition has the skyline, and what follows where it has not, in sentences."""
    there = ["MQ2008", *(each for each, own in ELSEWHERE.items() if SKYLINE in own)]
    lacking = [*(f"on {named(each)}" for each in ELSEWHERE if each not in there), f"for {ROUNDS:,} rounds on one fold"]
    return (
        f"The skyline ran for {ROUNDS_HERE:,} rounds on {joined([named(each) for each in there])}; it did not run "
        f"{' or '.join(lacking)}. Where it did not, OR1 counts only contrasts that decide by themselves, and leaves "
        "the others open."
    )


def orders_in_words(chosen: pd.DataFrame) -> str:
    """How olLambdaRank scores on validation queries by each order in which ΔNDCG can take a list, in a sentence; empty
    where one of them was not tuned.
    """
    of = chosen[chosen_together(chosen)]
    of = of[of["dataset"] == "MQ2008"].set_index("grid") if len(of) else of
    names = [f"olLambdaRank{reading}" for reading in ("", tuning.RANKED)]
    if not len(of) or not {*names} <= {*of["longer"].dropna().index}:
        return ""
    shown, ranked = of.loc[names, "longer"]
    return (
        f"On validation queries of MQ2008 the settings that were chosen score {ranked:.3f} in the present ranking, "
        f"which the main results have, and {shown:.3f} with lists as shown."
    )


def shorter_grids_in_words() -> str:
    """How much less was tried of olLambdaRank and of the full covariance than of olRankNet on data with many features,
    and where that counts, in sentences."""
    first, *others = (*claims.OURS, *FULL)
    size = {
        name: (len(tuning.GRIDS[name].settings(wide=True)), tuning.TUNED.size(LINEAR_TRUTH, name))
        for name in (first, *others)
    }
    ((tried, longer),) = {size[name] for name in others}
    pulls = {pull for name in others for pull in tuning.GRIDS[name].wide["regularization"]}
    told = "" if min(pulls) <= PAPER_MOST else ", none with a λ that the paper tries"
    takers = [named(each) for each in ELSEWHERE if each != LINEAR_TRUTH and similar(each) == LINEAR_TRUTH]
    return (
        f"On {named(LINEAR_TRUTH)} {size[first][0]} settings of {first} were tried, and the best {size[first][1]} ran "
        f"longer; of {joined([SPOKEN.get(name, name) for name in others])} {tried} each{told}, and the best {longer}. "
        f"Where one of these is behind {first} there, or on {joined(takers)}, which take these values, the reason may "
        "be that less was tried."
    )


def kept_in_words(table: pd.DataFrame) -> str:
    """Which choices rest on the rule that a chosen setting stays unless another gains more than one standard error, in
    a sentence; empty where nothing was tuned.
    """
    told = []
    for (dataset, name), own in frames.groups(table, ["dataset", "grid"]) if len(table) else ():
        behind = own["longer"].max() - own.loc[chosen_together(own), "longer"]
        if (behind > 0).any():
            told.append(f"{name} on {named(dataset)} ({signed(float(behind.max()), 4)})")
    if told:
        return f"It decides {joined(told)}, where another setting scores higher in the second step by as much."
    return "Today it decides nothing: each chosen setting scores highest in the second step." if len(table) else ""


def chosen_in_words(table: pd.DataFrame) -> str:
    """The chosen setting of every grid on each data set, in a sentence for each data set."""
    won = table[chosen_together(table)]
    told = []
    for dataset, own in won.groupby("dataset", sort=False):
        each = [f"{line['grid']}: {_setting(line)}" for line in frames.records(own)]
        told.append(f"Chosen on {named(str(dataset))}: {'; '.join(each)}.")
    return " ".join(told)


def _setting(line: Mapping[str, Any]) -> str:
    symbols = SYMBOLS | ({"alpha": "step"} if line["grid"] in STEP else {})
    return ", ".join(f"{symbols[name]} = {number(line[name])}" for name in SYMBOLS if pd.notna(line.get(name)))


def growth_in_words(frame: pd.DataFrame) -> str:
    """How far a diagonal A has left λI in the end: the geometric mean of A_kk/λ over all weights, which is
    exp(log det(A/λI)/p), in a sentence for each data set; empty without runs.

    Args:
        frame: runs of one variant with diagonal covariance, with log_det.
    """
    told = []
    for dataset, own in frame.groupby("dataset", sort=False):
        last = at_own_end(own)
        line = frames.records(last)[0]
        network = Network(data.entry(str(dataset)).n_features, int(line["width"]), int(line["depth"]), line["init"])
        p = network.n_parameters
        grown = np.expm1(last.groupby("users")["log_det"].mean() / p)
        told.append(
            f"On {named(str(dataset))}, at λ = {number(line['regularization'])}, the {p:,} entries of the diagonal "
            f"end {in_range(grown, share)} above λ, where they began (geometric mean, by kind of users)."
        )
    return " ".join(told)
