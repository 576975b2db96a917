"""What the page of the PairRank paper tells beside its results: conventions, silences, and the map of its items."""

from ol2r.experiments import grid
from ol2r.papers.pairrank import tuning
from ol2r.papers.pairrank.claims import GAMMA, ROUNDS
from ol2r.papers.pairrank.grid import DECAY, REGULARIZATION, K


def _told(grid: tuning.TuningGrid) -> str:
    symbols = {"alpha": "rate" if "PairRank_C" not in grid.variants else "α", "regularization": "λ", "epsilon": "ε"}
    return "; ".join(
        f"{symbols.get(name, 'δ')} ∈ {{{', '.join(f'{value:g}' for value in values)}}}"
        for name, values in grid.tried.items()
    )


CONVENTIONS: tuple[tuple[str, object, str], ...] = (
    ("rounds T", ROUNDS, "paper, 4.2.1"),
    (
        "runs",
        "20 seeds; of data sets with five folds, 4 seeds × 5 folds; of the set in Yahoo's shape, 10 seeds",
        "paper, 4.2.1: 20 seeds; its one split",
    ),
    ("split of MSLR-WEB10K", "fold 1", "ours; the paper does not say"),
    ("queries of a round", "uniform with replacement from the training queries", "paper, 4.1"),
    ("cut k of lists and of NDCG", K, "paper, 4.2.1, NDCG@10; of lists: the two later papers"),
    (
        "discount γ of the online score",
        f"{GAMMA}: $\\sum_t \\gamma^{{t-1}} \\mathrm{{NDCG}}_t$, T terms",
        "paper, 4.2.2",
    ),
    (
        "gain and discount of NDCG",
        "$2^r - 1$ for grade r, $1/\\log_2(i + 1)$ at rank i, ideal list cut at k",
        "ours; the field's usual",
    ),
    ("test queries without relevant documents", "left out offline; online they count zero", "the public code"),
    ("features", "min-max in each query, constant → 0; none dropped", "the public code, without the dropping"),
    ("equal scores", "random in displayed lists; their expectation in offline NDCG", "ours"),
    ("users", "five grades; on three grades the paper's Table 1", "the later papers; the paper prints three grades"),
    ("stop of a user", "drawn only after a click", "paper, 4.1"),
    ("examined documents", "up to the last click, and the first unclicked one after it", "paper, 3.1"),
    ("pairs that are learnt from", "clicked and unclicked ones matched at random", "the public code's `ind`"),
    ("PairRank's width", "constant α, tuned", "the public code; the paper's is Lemma 2's"),
    ("PairRank's estimate", "refitted to the whole history every round, to the optimum, λ tuned", "paper, Algorithm 1"),
    ("loss", "Σ ℓ + λ/2 ‖θ‖²; the mean of ℓ + λ ‖θ‖² beside it", "paper, Algorithm 1; the public code's"),
    *((f"grid of {name}", _told(grid), source) for name, grid, source in (
        ("PairRank", tuning.GRIDS[tuning.SUM], "ours: far enough for the sum"),
        ("PairRank with the mean loss", tuning.GRIDS[tuning.MEAN], "the later papers; wider"),
        ("SGD RankNet and PDGD", tuning.GRIDS["PDGD"], "the later papers; wider"),
        ("ε-greedy", tuning.GRIDS["epsilon-greedy"], "the later papers; wider; ε ours"),
        ("DBGD and MGD", tuning.GRIDS["MGD"], "ours"),
    )),
    (
        "tuning",
        f"by data set, on validation queries of fold 1: mean NDCG@10 over users. All cells run {tuning.ROUNDS_FIRST} "
        f"rounds with {len(tuning.SEEDS_FIRST)} seeds, the best {tuning.SHORTLISTED} of them "
        f"({tuning.SHORTLISTED_WIDE} with very many features) {tuning.ROUNDS_LONGER} rounds with "
        f"{len(tuning.SEEDS_LONGER)} other seeds; no reported run has any of these. Both shuffles share their values. "
        "What does not explore (α = 0) or hardly does anything else (α ≥ 1, ε = 1, rates of DBGD and MGD below 0.01 "
        "beside δ = 1) is scored, not chosen",
        "paper, 4.2.1: validation data; the rest ours",
    ),
    (
        "data sets without tuning of their own",
        "MSLR-WEB10K and the MSLR sample take the values of the set in MSLR's shape, Yahoo of the set in its own, "
        "ClueWeb09 and a reader's own of MQ2008",
        "ours",
    ),
    (
        "DBGD and MGD",
        "start 0, no decay; MGD 9 candidates, mean of the winners; δ = 1, rate tuned",
        "their papers; rate ours",
    ),
    ("PDGD", f"start 0, decay {DECAY}; rate tuned", "its paper; decay: the later papers"),
    (
        "authors' settings",
        "DBGD, MGD: rate 0.01, δ = 1; PDGD: rate 0.1; all three also as their authors set them",
        "paper, 4.2.1: their original papers",
    ),
    ("decay of SGD RankNet and ε-greedy", DECAY, "the later papers"),
    (
        "offline RankNet w*",
        f"one layer, Eq. (1) over all pairs of different grade of the training queries, λ = {REGULARIZATION}",
        "paper, 4.2.1; λ ours",
    ),
)
"""The first table of the chapter: (convention, value, where it comes from)."""

SILENCES: tuple[tuple[str, str, str | None], ...] = (
    ("which pairs the experiments learn from", "matched; all three rules are shown", "pairs"),
    (
        "whether the experiments keep the full covariance that the text has",
        "the full one; the diagonal is shown",
        "covariance",
    ),
    ("which width they use", "a constant; Lemma 2's is shown", "width"),
    ("ε of ε-greedy", "tuned; all values are shown", "epsilon"),
    ("how many documents a list shows", "10", None),
    ("whether queries without relevant documents count", "not offline, as in the public code", None),
    ("how features are normalised", "min-max in each query", None),
    ("which click model five grades have", "that of the two later papers", None),
    ("which fold of MSLR-WEB10K", "the first", None),
    ("on which data and for which users Figure 5 is drawn", "all", None),
    ("whether Figures 6 and 7 show PairRank_R or PairRank_C", "both", None),
    ("what the deviations are over", "runs", None),
    ("how the offline RankNet is trained", "to the optimum of Eq. (1)", None),
    ("what happens in a round without a click", "nothing is learnt; the list is shown all the same", None),
    ("how ties of the scores are broken inside a block", "a block is shuffled whatever its scores", None),
)
"""(what is open, what we did, the item that shows the other choice, or None)."""

SHORT = {
    "PR1": "PairRank ends above every baseline offline",
    "PR2": "DBGD and MGD are below the others offline",
    "PR3": "PDGD is above DBGD and MGD offline",
    "PR4": "ε-greedy is often below MGD offline",
    "PR5": "SGD RankNet is like PDGD offline and above it online",
    "PR6": "PairRank_C is at least as good as PairRank_R",
    "PR7": "under perfect users PairRank reaches offline RankNet",
    "PR8": "PairRank is above every baseline online",
    "PR9": "PairRank nears w* fastest, DBGD and MGD stay far",
    "PR10": "blocks at the top shrink to 1 within hundreds of rounds",
    "PR11": "early lists have fewer blocks under navigational users",
    "PR12": "blocks are largest in the middle ranks",
    "PR13": "ε-greedy's exploration hurts online",
    "PRT1": "Lemma 2's intervals cover",
    "PRT2": "regret grows and is bounded as Theorem 8 says",
}
"""What each claim says, in a few words."""

MAP: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Table 1, click models", "table-1", ()),
    ("Figure 1, illustration", "fig-1", ()),
    ("Figure 2, certain and uncertain orders", "fig-2", ()),
    ("Figure 3a, offline NDCG@10 on MSLR-WEB10K", "fig-3", ("PR1", "PR2", "PR3", "PR4", "PR5", "PR6", "PR7")),
    ("Figure 3b, offline NDCG@10 on Yahoo", "fig-3", ("PR1", "PR2", "PR3", "PR5", "PR6", "PR7")),
    ("Figure 4a, online score on MSLR-WEB10K", "fig-4", ("PR5", "PR6", "PR8", "PR13")),
    ("Figure 4b, online score on Yahoo", "fig-4", ("PR5", "PR6", "PR8", "PR13")),
    ("Figure 5, cosine to w*", "fig-5", ("PR9",)),
    ("Figure 6a, blocks at the top on MSLR-WEB10K", "fig-6", ("PR10",)),
    ("Figure 6b, blocks at the top on Yahoo", "fig-6", ("PR10",)),
    ("Figure 7a, block size at each rank", "fig-7a", ("PR12",)),
    ("Figure 7b, number of blocks", "fig-7b", ("PR11",)),
    ("Lemma 2, confidence interval", "audits", ("PRT1",)),
    ("Lemma 7, probability of an uncertain order", "audits", ()),
    ("Theorem 8, regret", "audits", ("PRT2",)),
)
"""The paper's items: what each is, its name here, and the claims that rest on it."""

LIVE = ("table-1", "fig-1", "fig-2")
"""Items of the map that the chapter computes from no stored result."""


def click_models() -> list[tuple[str, str, str]]:
    """The paper's Table 1, and the users of sets with five grades: rows (users, click by grade, stop by grade)."""
    return grid.click_models((3, ""), (5, ", five grades (the later papers)"))
