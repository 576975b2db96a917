"""Texts of the BubbleRank chapter: conventions, what the paper leaves open, claims in short, the map of its items."""

from ol2r.experiments.kinds.populations import POSITIONS
from ol2r.papers.bubblerank.claims import STEPS
from ol2r.papers.bubblerank.grid import CODE_RUNS, CUT, LOGGED_RUNS, PUBLISHED_RUNS, SYNTHETIC_STEPS

CONVENTIONS: tuple[tuple[str, object, str], ...] = (
    ("steps n", f"{STEPS:,}; Figure 3 right and L > K {SYNTHETIC_STEPS:,}", "paper, 5.1, 5.4; L > K ours"),
    (
        "runs",
        f"{PUBLISHED_RUNS} of each of the 60 queries ({CODE_RUNS} by BatchRank of public code), {LOGGED_RUNS} of each "
        "of the 20",
        "paper, 5: 10 runs of 100 queries",
    ),
    (
        "queries",
        "the 60 published ones of the BatchRank collection; 20 of the raw log",
        "ours; the paper's are not public",
    ),
    ("click models", "CM, DCM and PBM as published (60 queries) or fitted with PyClick's counts (20)", "paper, 5.1"),
    ("items and positions", f"K = L = {POSITIONS}; L > K where it is said", "paper, 5.1"),
    (
        "initial list R₀",
        "60 queries: the order in which the collection prints a query's documents, that of one result page; 20 "
        "queries: the list that the log shows most often",
        "paper, 5.1: the most frequent list",
    ),
    ("positions that regret and NDCG look at", CUT, "paper, 5.1"),
    ("positions that V looks at", "all K", "paper, (5)"),
    (
        "reward",
        "CM, PBM: clicks; DCM: the click after which the user leaves",
        "paper, 5.1",
    ),
    (
        "best list",
        "the list of highest reward: the larger χ or v, the more attractive the item, where these do not fall",
        "ours; the paper assumes (1, …, K)",
    ),
    ("items of equal attraction", "no order of them is wrong", "ours"),
    ("gain and discount of NDCG", "attraction, $1/\\log_2(k + 1)$ at position k", "paper, appendix B"),
    ("BubbleRank", "δ = n⁻⁴, n known, h = t mod 2, clicks on decided pairs still count", "paper, 4.3 and Algorithm 1"),
    (
        "CascadeKL-UCB",
        "budget log t + 3 log log t, learns down to the first click; in the first L steps each item once on top, the "
        "others in random order",
        "its paper; start ours",
    ),
    ("BatchRank", "its paper's; that of public code beside it", "its paper"),
    ("TopRank", "δ = 1/n", "its paper"),
    ("users' coins", "the same for all bandits of a query and run", "ours"),
    (
        "intervals",
        "95 %, over queries, each the mean of its runs; of shares (BR4, BRT1, BRT2) over runs",
        "ours; the paper's bands are standard errors",
    ),
)
"""The table of the chapter's conventions: (convention, value, where it comes from)."""

SILENCES: tuple[tuple[str, str, str | None], ...] = (
    ("which δ the experiments have", "n⁻⁴, as in its section 4.3; 1/n is shown", "choices"),
    ("whether clicks on a decided pair still count", "they do, as Algorithm 1 prints it; both are shown", "choices"),
    ("whether positions 1 and 2 or 2 and 3 come first", "2 and 3, as Algorithm 1 prints it; both are shown", "choices"),
    ("how CascadeKL-UCB starts", "each item once on top of a random list; its paper's way is shown", "choices"),
    ("which budget CascadeKL-UCB has", "its paper's; that of public code is shown", "choices"),
    ("which BatchRank", "its paper's; public code's, with three ways to learn from a list, are shown", "batchranks"),
    ("which c and δ TopRank has", "3.43 and 1/n; 1/√n is shown", "choices"),
    ("which 100 queries", "other queries of the same log", None),
    ("what the standard errors are over", "runs; ours over queries stand beside them", "first-100"),
    ("whether some order of items of equal attraction is wrong", "none is", None),
    ("which list is best where χ or v do not fall", "that of the highest reward; what sorting loses is shown", "final"),
    ("how long the PBM is fitted", "20 queries: to convergence; PyClick's 50 steps are shown", "click-agreement"),
    ("which positions regret counts in Figure 3, right", "the top 5, as elsewhere", None),
    ("how L > K was to be validated", "on queries of the raw log", "full-ranking"),
)
"""(what is open, what we did, the anchor of what shows the other choice, or None)."""

SHORT = {
    "BR1": "Baseline's regret grows linearly, so that its list is not the best",
    "BR2": "CascadeKL-UCB learns the best list quickly in the CM and the DCM, and has linear regret in the PBM",
    "BR3": "BubbleRank loses less than BatchRank and TopRank early, and more in the end",
    "BR4": "BubbleRank never violates its safety constraint",
    "BR5": "the others are as unsafe as printed in their first hundred steps",
    "BR6": "regret is linear in the wrong pairs of the initial list",
    "BR7": "regret doubles when the least examined position is examined half as often",
    "BR8": "BubbleRank's lists begin nearly as good as the initial one, BatchRank's and TopRank's far worse, and all "
    "end near the best one",
    "BR9": "CascadeKL-UCB's violations grow linearly in the PBM",
    "BRX1": "SafePairRank, a learner that sees features, keeps the safety constraint at PairRank's α and learns",
    "BRT1": "the event on which the proofs rest is as likely as Lemma 9 says",
    "BRT2": "no more pairs are ever randomized than Lemma 6 says",
    "BRT3": "regret, the clicks that the best list would have earned more, stays below the bound of Theorem 1",
}
"""What each claim says, in a few words."""

OURS = ("BRX1",)
"""The claims that the paper does not make."""

MAP: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Figure 1, regret", "fig-1", ("BR1", "BR2", "BR3")),
    ("Figure 2, violations", "fig-2", ("BR4", "BR9")),
    ("Section 5.3, violations in the first 100 steps", "first-100", ("BR5",)),
    ("Figure 3 left, regret against |V₀|", "fig-3-left", ("BR6",)),
    ("Figure 3 right, regret against χ_min", "fig-3-right", ("BR7",)),
    ("Figure 4, NDCG@5", "fig-4", ("BR8",)),
    ("Theorem 1, regret", "bounds", ("BRT3",)),
    ("Lemma 6, randomized pairs", "event", ("BRT2",)),
    ("Lemma 9, event E", "event", ("BRT1",)),
)
"""The paper's items: what each is, its name here, and the claims that rest on it."""
