"""Texts of the olRankNet chapter: its conventions, what the paper leaves open, and the map of the paper's items.

The functions write the sentences of the chapter's answer; their numbers are computed from results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ol2r import frames
from ol2r.experiments import grid
from ol2r.experiments.effects import at_own_end
from ol2r.experiments.tuning import ALL, TuningGrid
from ol2r.papers.olranknet import tuning
from ol2r.papers.olranknet.claims import GAMMA, LAST, PROTOCOL, ROUNDS, ROUNDS_HERE, K
from ol2r.papers.olranknet.figures import OFFLINE, last_share, speeds
from ol2r.papers.olranknet.grid import DECAY, FOUR_SEEDS, NETWORK, ONE_SEED, SEEDS_HERE, SETTINGS
from ol2r.papers.pairrank.audit_tables import share
from ol2r.report.style import USERS
from ol2r.report.tables import interval, named, signed

REFIT = SETTINGS["olRankNet"][1]
WIDTH, PASSES = NETWORK["width"], REFIT["passes"]
STEP = ("neural PDGD", "neural DBGD", "neural epsilon-greedy")
"""Baselines of which α is the step."""
SYMBOLS = {"alpha": "α", "regularization": "λ", "rate": "η", "epsilon": "ε"}
"""What tables call the tuned hyper-parameters."""


def _told(grid: TuningGrid) -> str:
    """The values that a grid tries, by symbol."""
    symbols = SYMBOLS | ({"alpha": "step"} if set(grid.variants) & set(STEP) else {})
    return "; ".join(
        f"{symbols[name]} ∈ {{{', '.join(map(_number, values))}}}" for name, values in grid.tried.items()
    )


def _number(value: float) -> str:
    """A number as readers write it: powers of ten below a thousandth have an exponent."""
    mantissa, _, exponent = f"{value:g}".partition("e-")
    raised = f"10⁻{exponent.lstrip('0').translate(str.maketrans('123456789', '¹²³⁴⁵⁶⁷⁸⁹'))}"
    return mantissa if not exponent else raised if mantissa == "1" else f"{mantissa} · {raised}"


CONVENTIONS: tuple[tuple[str, object, str], ...] = (
    ("rounds T", f"{ROUNDS} by the paper's protocol; {ROUNDS_HERE} on MQ2008", "paper, 5.2; the second ours"),
    (
        "runs",
        f"{PROTOCOL.seeds} seeds × {PROTOCOL.folds} folds by the paper's protocol; {SEEDS_HERE} seeds × 5 folds on "
        f"MQ2008; widths and choices {len(ONE_SEED['paper'])} seed × 5 folds under perfect users alone; coverage "
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
    ("pairs that are learnt from", "clicked and examined unclicked ones matched at random", "the public code's `ind`"),
    ("network", f"one hidden layer of m = {WIDTH} ReLU units, no biases", "paper, 5.1 (two layers); 3.1"),
    (
        "first weights θ₀",
        "symmetric, so that all scores are 0; documents as (x, x)/√2, not scaled to length 1",
        "paper, Algorithm 1; length 1 is assumed in its B.2 only",
    ),
    ("objective", "summed cross-entropy of all labels so far + (mλ/2) ‖θ − θ₀‖²", "paper, Eq. (3.1)"),
    (
        "refit",
        f"after every round {PASSES} steps of Adam on the mean over labels, from the last round's θ",
        "ours; the paper has J steps of gradient descent and gives no J",
    ),
    ("gradients of a pair in A", "at the refitted θ", "paper, Algorithm 1, lines 11 and 12"),
    ("covariance A", "its diagonal; in full beside it", "paper, 5.2; the full one is ours"),
    ("interval of a pair", "α ‖g‖ in A⁻¹, α constant and tuned, without ε(m)", "paper, 5.1; Lemma 3.3 has both"),
    ("ΔNDCG of olLambdaRank", "clicks as grades, swap in the list as shown, ideal list of the same clicks", "ours"),
    *((f"grid of {name}", _told(each), source) for name, each, source in (
        ("olRankNet, olLambdaRank", tuning.GRIDS["olRankNet"], "paper, 5.1: 0.1 to 10⁻⁴, rates to 10⁻³; the rest ours"),
        ("olRankNet with full covariance, and as the public code reads", tuning.GRIDS["olRankNet, full"], "ours"),
        ("neural PDGD and DBGD", tuning.GRIDS["neural PDGD"], "paper, 5.1: 0.1 to 10⁻³; the rest ours"),
        ("neural ε-greedy", tuning.GRIDS["neural epsilon-greedy"], "ours"),
        ("olLambdaRank GT", tuning.GRIDS["olLambdaRank GT"], "ours"),
    )),
    (
        "tuning",
        f"on validation queries of fold 1: mean NDCG@10 over users. All settings run {tuning.ROUNDS_FIRST} rounds with "
        f"{len(tuning.SEEDS_FIRST)} seeds, the best {tuning.SHORTLISTED} of olRankNet and the best "
        f"{tuning.SHORTLISTED_OTHERS} of every other grid {tuning.ROUNDS_LONGER} rounds with "
        f"{len(tuning.SEEDS_LONGER)} other seeds; no reported run has any of these",
        "paper, 5.1: validation data of each fold; the rest ours",
    ),
    ("olLambdaRank as the public code reads", "the values that olRankNet has by this reading", "ours"),
    ("linear baselines", "PairRank_C, PDGD and DBGD with the values that {doc}`pairrank` tuned", "ours"),
    ("decay of PDGD's step", DECAY, "paper, 5.1"),
    ("decay of DBGD's step", "none", "ours, as for PairRank; the paper has PDGD's"),
    (
        "olLambdaRank GT",
        "after each round LambdaRank on the true labels of all queries shown so far; from random weights of the usual "
        "size (He)",
        "paper, 5.1; start ours",
    ),
)  # fmt: skip
"""The first table of the chapter: (convention, value, where it comes from)."""

SILENCES: tuple[tuple[str, str, str | None], ...] = (
    ("how many steps J a refit takes, by which method", f"{PASSES} of Adam; L-BFGS beside it", "choices"),
    ("from where a refit starts", "from the last θ; from θ₀ and afresh beside it", "choices"),
    ("at which θ the gradients in A are taken (the text has both)", "the refitted one; the other beside it", "choices"),
    ("whether documents have length 1 in the experiments", "no; length 1 beside it", "choices"),
    ("which random start the experiments have", "Algorithm 1's; the usual one (He) beside it", "choices"),
    ("whether the pull is towards θ₀ or 0, and its scale", "Eq. (3.1)'s; two others beside it", "choices"),
    ("how ΔNDCG is formed from clicks", "clicks as grades; no other way was run", None),
    ("which pairs the experiments learn from", "a random matching; no other rule was run", None),
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
    "ORT1": "the interval of Lemma 3.3 covers",
    "ORT2": "Lemma C.3 bounds the log-determinant",
    "ORT3": "the kernel of a wide network nears H",
    "ORX1": "full covariance is at least as good as its diagonal",
    "ORX2": "exploration pays",
}
"""What each claim says, in a few words."""

MAP: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("Table 1, click models", "olranknet-table-1", ()),
    ("Table 2, notation", None, ()),
    ("Figure 1, certain orders and two rankings", "olranknet-fig-1", ()),
    ("Figure 2, certain and uncertain rank orders", "olranknet-fig-2", ()),
    ("Figure 3, LDA projection", "olranknet-fig-3", ("OR8",)),
    ("Figure 4, offline NDCG@10", "olranknet-fig-4", ("OR1", "OR2", "OR3", "OR4", "OR5")),
    ("Figure 5, cumulative NDCG", "olranknet-fig-5", ("OR6", "OR10")),
    ("Figure 6, share of certain orders", "olranknet-fig-6", ("OR7",)),
    ("5.2, PDGD after 20,000 rounds", "olranknet-far", ("OR9",)),
    ("Lemma 3.3, confidence interval", "olranknet-coverage", ("ORT1",)),
    ("Lemma 4.2, uncertain orders", None, ()),
    ("Theorem 4.4, regret", "olranknet-regret", ()),
    ("Definition B.1, tangent kernel", "olranknet-kernel", ("ORT3",)),
    ("Lemma C.3, log-determinant and effective dimension", "olranknet-log-det", ("ORT2",)),
)
"""The paper's items: what each is, its anchor here (None: no figure), and the claims that rest on it."""

LIVE = ("Table 1", "Figure 1")
"""Items of the map that need no result."""

THEORY = ("Lemma", "Theorem", "Definition")
"""With what the titles of items begin that need no data."""


def click_models() -> list[tuple[str, str, str]]:
    """The paper's Table 1, and the users of sets with three grades: rows (users, click by grade, stop by grade)."""
    return grid.click_models((5, ""), (3, ", three grades (the PairRank paper)"))


# Sentences


def ran_in_words(frame: pd.DataFrame) -> str:
    """What was run: by data set the rounds, seeds, folds and kinds of users; empty without runs.

    Args:
        frame: the chapter's runs.
    """
    told = []
    for dataset, own in frame.groupby("dataset", sort=False):
        n = {name: own[name].nunique() for name in ("seed", "fold", "users")}
        told.append(
            f"{named(str(dataset))} ({own['round'].max():,} rounds, {n['seed']} seed{'s' * (n['seed'] > 1)} × "
            f"{n['fold']} fold{'s' * (n['fold'] > 1)} × {n['users']} kinds of users)"
        )
    return f"What ran: {'; '.join(told)}." if told else ""


def lead_in_words(table: pd.DataFrame, row: str, baseline: str) -> str:
    """Where a variant ends above a baseline offline and where below it, in a sentence for each data set.

    Args:
        table: from `figures.leads`.
        row: the variant.
        baseline: the baseline that was subtracted.
    """
    told = []
    for dataset, own in table[(table["row"] == row) & (table["panel"] == OFFLINE)].groupby("dataset", sort=False):
        of = {line.users: line for line in frames.rows(own)}
        sides: dict[str, list[str]] = {}
        for kind in USERS.ordered(of):
            sides.setdefault(_side(of[kind]), []).append(f"{kind} ({_mean(of[kind])})")
        each = [f"{side} {baseline} under {_and(kinds)} users" for side, kinds in sides.items()]
        told.append(f"On {named(str(dataset))} {row} ends {'; '.join(each)}.")
    return f"{' '.join(told)} (Offline NDCG@10 after the last round, with 95 % intervals.)" if told else ""


def _and(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _side(line: frames.Row) -> str:
    """On which side of 0 an interval lies."""
    return "above" if line.low > 0 else "below" if line.high < 0 else "not clearly apart from"


def _mean(line: frames.Row) -> str:
    return f"{signed(line.mean)} {interval(line.low, line.high)}"


def diagonal_in_words(frame: pd.DataFrame, full: str, diagonal: str) -> str:
    """Which share of the orders of shown documents each form of the covariance makes certain at the end.

    Args:
        frame: runs with `variant`, certain_pairs and shown_pairs.
        full, diagonal: the variants.
    """
    told = []
    for dataset, own in frame.groupby("dataset", sort=False):
        ends = last_share(own[own["variant"].isin((full, diagonal))])
        shares = ends.groupby(["users", "variant"])["share"].mean().unstack()  # noqa: PD010
        if {full, diagonal} <= set(shares):
            each = [
                f"{share(shares[full][kind])} and {share(shares[diagonal][kind])} under {kind}"
                for kind in USERS.ordered(shares.index)
            ]
            told.append(f"on {named(str(dataset))} {_and(each)} users")
    since = share(LAST[1] - LAST[0])
    shown = f"Shares of certain orders with the full matrix and with its diagonal, in the last {since} of the rounds"
    return f"{shown}: {'; '.join(told)}." if told else ""


def speed_in_words(frame: pd.DataFrame) -> str:
    """How many rounds a second each learner makes at the end, and how long all rounds took, in a sentence for each data
    set; empty without timings.

    Args:
        frame: as for `figures.speeds`.
    """
    told = []
    for dataset, own in () if frame.empty else frame.groupby("dataset", sort=False):
        ends, last = speeds(own), at_own_end(own)
        each = []
        for name, runs in last.groupby("variant", sort=False):
            total = (runs["rank_seconds"] + runs["update_seconds"]).mean() / runs["replicas"].mean()
            at_end = ends[ends["variant"] == name].sort_values("round")["speed"].iloc[-1]
            each.append(f"{name} {at_end:,.0f} ({total:,.1f} seconds for all {runs['round'].max():,} rounds)")
        told.append(f"{named(str(dataset))}: {', '.join(each)}")
    return f"Rounds a second at the end of a run, of one replica on one core: {'; '.join(told)}." if told else ""


def far_in_words(far: pd.DataFrame, ends: pd.DataFrame, variants: Sequence[str]) -> str:
    """The best checkpoint of the long runs beside where shorter ones end, by data set and kind of users.

    Args:
        far: long runs of one variant with ndcg.
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
            told.append(
                f"{named(dataset)}, {users} users: its best is {means.max():.3f}, after round {means.idxmax():,} "
                f"of {means.index.max():,}; {', '.join(each)}"
            )
    return f"{'. '.join(told)}." if told else ""


def chosen_in_words(table: pd.DataFrame) -> str:
    """The chosen setting of every grid on each data set, in a sentence for each data set.

    Args:
        table: from `ol2r.experiments.tuning.two_steps`.
    """
    won = table[[ALL in of.split(" + ") for of in table["best_of"]]] if len(table) else table
    told = []
    for dataset, own in won.groupby("dataset", sort=False):
        each = [f"{line['grid']}: {_setting(line)}" for line in frames.records(own)]
        told.append(f"Chosen on {named(str(dataset))}: {'; '.join(each)}.")
    return " ".join(told)


def _setting(line: Mapping[str, Any]) -> str:
    symbols = SYMBOLS | ({"alpha": "step"} if line["grid"] in STEP else {})
    return ", ".join(f"{symbols[name]} = {_number(line[name])}" for name in SYMBOLS if pd.notna(line.get(name)))
