"""The thirteen claims of the NSGD paper as rules, declared before any of their results existed.

Each statement keeps the paper's wording; where the wording leaves a choice (how near is near?), the choice stands in
the part's own words. Reads only the claim algebra: items are named, not imported.
"""

from itertools import product

from ol2r.experiments.claims import Claim, Contrast, Measure, Part, Size, SmallerDeviation, Where, difference, slope

USERS = ("perfect", "navigational", "informational")
DATASETS = ("MQ2007", "MQ2008", "HP2003", "NP2003", "TD2003")
BASELINES = ("DBGD", "CPS", "DP-DBGD", "MGD")
ALL_CELLS: tuple[Where, ...] = tuple(product(DATASETS, USERS))
MQ2007: tuple[Where, ...] = tuple(product(("MQ2007",), USERS))
MQ2007_INFORMATIONAL: tuple[Where, ...] = (("MQ2007", "informational"),)

PROTOCOL = Size(rounds=1000, seeds=15, folds=5)
STAND_INS = (("MQ2007", "MQ2007_partial85"),)


def online(learner: str) -> Measure:
    return Measure("table-2", "cndcg", (("learner", learner),))


def offline(learner: str) -> Measure:
    return Measure("table-3", "ndcg", (("learner", learner),))


def leads(measure, better: tuple[str, ...], worse: tuple[str, ...]) -> tuple[Contrast, ...]:
    return tuple(difference(measure(a), measure(b), f"{a} − {b}") for a, b in product(better, worse))


def steadier(smaller: tuple[str, ...], larger: tuple[str, ...]) -> tuple[SmallerDeviation, ...]:
    def curve(learner: str) -> Measure:
        return Measure("fig-3", "ndcg", (("learner", learner),))

    return tuple(SmallerDeviation(f"log deviation {b} / {a}", curve(a), curve(b)) for a, b in product(smaller, larger))


def claim(number: int, statement: str, *parts: Part) -> Claim:
    return Claim("nsgd", f"NS{number}", statement, parts, PROTOCOL, STAND_INS)


def learning_curve(learner: str, at: int) -> Measure:
    return Measure("fig-2", "ndcg", (("learner", learner),), at=at)


def cosine(learner: str) -> Measure:
    return Measure("fig-5a", "cosine", (("learner", learner),), at="mean")


def mix(n_uniform: int, won: str, proposed: str | None = None) -> Measure:
    return Measure("fig-5b", won, (("n_uniform", n_uniform),), per=proposed)


def ablation(variant: str, at: int | None = None) -> Measure:
    return Measure("fig-5c", "ndcg", (("variant", variant),), at="end" if at is None else at)


def sweep(item: str, name: str, value: float) -> Measure:
    return Measure(item, "cndcg", ((name, value),))


SELECTION = tuple(
    difference(
        mix(n, "null_won", "null_proposed"),
        mix(n, "uniform_won", "uniform_proposed"),
        f"wins a null-space candidate − wins a uniform candidate, {4 - n}:{n}",
    )
    for n in (1, 2, 3)
)
NULL_SHARE = slope({4 - n: mix(n, "cndcg") for n in (0, 1, 2, 3, 4)}, "slope over the number of null-space candidates")

MANY_CANDIDATES = slope(
    {m: sweep("fig-6a", "m", m) for m in range(5, 11)}, "minus the slope over m = 5 … 10", sign=-1.0
)
AROUND_A_TENTH = tuple(
    difference(sweep("fig-6b", "alpha", 0.1), sweep("fig-6b", "alpha", other), f"α = 0.1 − α = {other:g}")
    for other in (0.0, 0.3, 0.4, 0.5)
)
MANY_GRADIENTS = Contrast(
    "k_g = 20 − mean of k_g = 25, 30, 35, 40",
    ((1.0, sweep("fig-6c", "k_g", 20)), *((-0.25, sweep("fig-6c", "k_g", k)) for k in (25, 30, 35, 40))),
)
MANY_QUERIES = slope({k: sweep("fig-6d", "k_h", k) for k in (0, 10, 20, 30, 40)}, "slope over k_h = 0 … 40")

WITHOUT_BOTH, WITHOUT_TIES = "NSGD w/o CDP & TB", "NSGD w/o TB"

CLAIMS = (
    claim(
        1,
        "NSGD has the best online score for every data set and user, significantly above MGD.",
        Part("NSGD above MGD", leads(online, ("NSGD",), ("MGD",)), ALL_CELLS, "holm"),
        Part("NSGD above every other learner", leads(online, ("NSGD",), ("DBGD", "CPS", "DP-DBGD")), ALL_CELLS),
    ),
    claim(
        2,
        "Offline, NSGD ends above MGD on MQ2007, MQ2008 and NP2003, and MGD above NSGD on TD2003 and, for perfect and "
        "informational users, on HP2003.",
        Part(
            "NSGD above MGD",
            leads(offline, ("NSGD",), ("MGD",)),
            tuple(product(("MQ2007", "MQ2008", "NP2003"), USERS)),
        ),
        Part(
            "MGD above NSGD",
            leads(offline, ("MGD",), ("NSGD",)),
            (*product(("TD2003",), USERS), ("HP2003", "perfect"), ("HP2003", "informational")),
        ),
    ),
    claim(
        3,
        "NSGD and MGD, which explore several directions a round, end above the other learners offline on all data sets "
        "and for all users.",
        Part(
            "NSGD and MGD above each other learner",
            leads(offline, ("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD")),
            ALL_CELLS,
        ),
    ),
    claim(
        4,
        "On MQ2007, NSGD has a much smaller deviation of offline NDCG@10 than every other learner for informational "
        "users; for perfect and navigational users NSGD and MGD have smaller ones than the rest.",
        Part(
            "NSGD's mean deviation over rounds below the others'", steadier(("NSGD",), BASELINES), MQ2007_INFORMATIONAL
        ),
        Part(
            "NSGD's and MGD's mean deviation over rounds below the others'",
            steadier(("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD")),
            MQ2007[:2],
        ),
    ),
    claim(
        5,
        "For informational users on MQ2007, MGD needs more than 800 rounds for the offline NDCG@10 that NSGD has "
        "before 200.",
        Part(
            "NSGD after 200 rounds above MGD after 800",
            (difference(learning_curve("NSGD", 200), learning_curve("MGD", 800), "NSGD at 200 − MGD at 800"),),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        6,
        "NSGD moves towards the offline reference ranker much faster than MGD and DBGD (MQ2007, informational users).",
        Part(
            "NSGD's mean cosine over rounds above the others'",
            leads(cosine, ("NSGD",), ("MGD", "DBGD")),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        7,
        "Null-space candidates are more likely to beat the current ranker than uniform ones in every mix of four "
        "candidates, and the online score grows with their number (MQ2007, informational users).",
        Part("null-space candidates win more often in every mix that has both kinds", SELECTION, MQ2007_INFORMATIONAL),
        Part("the online score grows with null-space candidates", (NULL_SHARE,), MQ2007_INFORMATIONAL),
    ),
    claim(
        8,
        "Each component helps offline: NSGD above NSGD without tie breaking, above NSGD without tie breaking and "
        "preselection, above MGD (MQ2007, informational users).",
        Part(
            "each variant above the next",
            leads(ablation, ("NSGD",), (WITHOUT_TIES,))
            + leads(ablation, (WITHOUT_TIES,), (WITHOUT_BOTH,))
            + leads(ablation, (WITHOUT_BOTH,), ("MGD",)),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        9,
        "Online on MQ2007: more than 5 candidates hurt for all users; a rate around 0.1 is best in most cases; more "
        "than 20 gradients for the null space hurt; more historical queries for tie breaking help.",
        Part("the online score falls from 5 to 10 candidates", (MANY_CANDIDATES,), MQ2007),
        Part("α = 0.1 above no learning and above α ≥ 0.3", AROUND_A_TENTH, MQ2007, "count", need=2),
        Part("20 gradients above more", (MANY_GRADIENTS,), MQ2007),
        Part("the online score grows with historical queries", (MANY_QUERIES,), MQ2007),
    ),
    claim(
        10,
        "CPS and NSGD, which preselect candidates, have a better cumulative NDCG@10 than the other learners on MQ2007.",
        Part(
            "CPS and NSGD above each other learner", leads(online, ("CPS", "NSGD"), ("DBGD", "DP-DBGD", "MGD")), MQ2007
        ),
    ),
    claim(
        11,
        "NSGD with 4 candidates beats MGD with 9 online, consistently over data sets and users.",
        Part(
            "NSGD above MGD with 9 candidates",
            (difference(online("NSGD"), Measure("mgd-9", "cndcg", (("learner", "MGD"),)), "NSGD − MGD (m = 9)"),),
            ALL_CELLS,
        ),
    ),
    claim(
        12,
        "Every online learner ends below offline LambdaRank on MQ2007.",
        Part(
            "LambdaRank's test NDCG@10 above every learner's last",
            tuple(
                difference(
                    Measure("reference", "test_ndcg", shared=True),
                    offline(learner),
                    f"LambdaRank − {learner}",
                )
                for learner in (*BASELINES, "NSGD")
            ),
            MQ2007,
        ),
    ),
    claim(
        13,
        "NSGD without preselection and tie breaking learns much faster than MGD: it is close to its high offline "
        "NDCG@10 in less than 200 rounds, MGD takes more than 800 to its highest (MQ2007, informational users).",
        Part(
            "after 200 rounds at least 95 % of its last NDCG@10",
            (
                Contrast(
                    "w/o CDP & TB at 200 − 95 % of it at the end",
                    ((1.0, ablation(WITHOUT_BOTH, 200)), (-0.95, ablation(WITHOUT_BOTH))),
                ),
            ),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            "MGD still improves after 800 rounds",
            (difference(ablation("MGD"), ablation("MGD", 800), "MGD at the end − MGD at 800"),),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            "after 200 rounds above MGD",
            (difference(ablation(WITHOUT_BOTH, 200), ablation("MGD", 200), "w/o CDP & TB at 200 − MGD at 200"),),
            MQ2007_INFORMATIONAL,
        ),
    ),
)
