"""The thirteen claims of the NSGD paper as rules.

Each statement keeps the paper's wording; where the wording leaves a choice (how near is near? how fast is much
faster?), the words of the part make it. The rules were declared before any of their results existed, all with a margin
of 0. The margins, and the meaning of "much", were set after results had been seen. A margin is what a reader would call
a difference, and never more than half of the lead that the paper prints. This module names items and does not import
them.
"""

from collections.abc import Callable
from itertools import product
from typing import Literal

from ol2r.experiments.claims import (
    Claim,
    Contrast,
    Measure,
    Part,
    Scale,
    Size,
    SmallerDeviation,
    StandIn,
    Where,
    difference,
    slope,
)

USERS = ("perfect", "navigational", "informational")
DATASETS = ("MQ2007", "MQ2008", "HP2003", "NP2003", "TD2003")
BASELINES = ("DBGD", "CPS", "DP-DBGD", "MGD")
UNSELECTIVE = ("DBGD", "DP-DBGD", "MGD")
ALL_CELLS: tuple[Where, ...] = tuple(product(DATASETS, USERS))
MQ2007: tuple[Where, ...] = tuple(product(("MQ2007",), USERS))
MQ2007_INFORMATIONAL: tuple[Where, ...] = (("MQ2007", "informational"),)

PROTOCOL = Size(rounds=1000, seeds=15, folds=5)
STAND_INS = (StandIn("MQ2007", "MQ2007_partial85", same_shape=True),)

ONLINE = Scale("cumulative NDCG@10", 1.0)  # .005 NDCG@10 a list; the printed leads of NSGD start at 2.5
ONLINE_OF_CPS = Scale("cumulative NDCG@10", 0.08)  # the printed leads of CPS start at .17
PER_CANDIDATE = Scale("cumulative NDCG@10 a candidate", 0.2)  # 1 over the range of m, nearly 1 over that of the mixes
PER_QUERY = Scale("cumulative NDCG@10 a historical query", 0.025)  # 1 over the range of k_h
OFFLINE = Scale("NDCG@10", 0.005)
OFFLINE_STEP = Scale("NDCG@10", 0.003)  # the paper prints .028 for three steps together
OFFLINE_DIGIT = Scale("NDCG@10", 0.001)  # the last digit that the paper prints
OFFLINE_HALF_DIGIT = Scale("NDCG@10", 0.0005)  # where the printed leads are as small as that digit
CLOSE = Scale("NDCG@10", -0.02)  # 5 % of what the learner ends at in print
STEADIER = Scale("log ratio of deviations", 0.1)  # a tenth smaller; Table 3 has .25 and more
MUCH_STEADIER = Scale("log ratio of deviations", 0.22)  # a fifth smaller; Table 3 has .59 and more
COSINE = Scale("cosine", 0.02)
AS_NEAR = Scale("cosine", -0.02)
WINS = Scale("share of proposals that win", 0.005)  # about one win in twenty

NAMES = {"CPS": "our CPS", "DP-DBGD": "our DP-DBGD"}
"""How contrasts name two learners that the paper does not fully describe: ours are reconstructions."""


def online(learner: str) -> Measure:
    return Measure("table-2", "cndcg", (("learner", learner),))


def offline(learner: str) -> Measure:
    return Measure("table-3", "ndcg", (("learner", learner),))


def leads(
    measure: Callable[[str], Measure], scale: Scale, better: tuple[str, ...], worse: tuple[str, ...]
) -> tuple[Contrast, ...]:
    return tuple(
        difference(measure(a), measure(b), f"{NAMES.get(a, a)} − {NAMES.get(b, b)}", scale)
        for a, b in product(better, worse)
    )


def steadier(smaller: tuple[str, ...], larger: tuple[str, ...], scale: Scale) -> tuple[SmallerDeviation, ...]:
    def curve(learner: str) -> Measure:
        return Measure("fig-3", "ndcg", (("learner", learner),))

    return tuple(
        SmallerDeviation(f"log deviation {NAMES.get(b, b)} / {a}", curve(a), curve(b), scale)
        for a, b in product(smaller, larger)
    )


def claim(number: int, statement: str, expected: str, *parts: Part) -> Claim:
    return Claim("nsgd", f"NS{number}", statement, parts, PROTOCOL, STAND_INS, expected)


def learning_curve(learner: str, at: int) -> Measure:
    return Measure("fig-2", "ndcg", (("learner", learner),), at=at)


def cosine(learner: str, at: int | Literal["mean"] = "mean") -> Measure:
    return Measure("fig-5a", "cosine", (("learner", learner),), at=at)


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
        WINS,
    )
    for n in (1, 2, 3)
)
NULL_SHARE = slope(
    {4 - n: mix(n, "cndcg") for n in (0, 1, 2, 3, 4)}, "slope over the number of null-space candidates", PER_CANDIDATE
)

MANY_CANDIDATES = slope(
    {m: sweep("fig-6a", "m", m) for m in range(5, 11)}, "minus the slope over m = 5 … 10", PER_CANDIDATE, sign=-1.0
)
AROUND_A_TENTH = tuple(
    difference(sweep("fig-6b", "alpha", 0.1), sweep("fig-6b", "alpha", other), f"α = 0.1 − α = {other:g}", ONLINE)
    for other in (0.0, 0.3, 0.4, 0.5)
)
MANY_GRADIENTS = Contrast(  # with a queue of 60: in one of 15 all k_g from 15 on are the same
    "k_g = 20 − mean of k_g = 25, 30, 35, 40",
    tuple(
        (weight, sweep("fig-6c-60-directions", "k_g", k))
        for k, weight in {20: 1.0, 25: -0.25, 30: -0.25, 35: -0.25, 40: -0.25}.items()
    ),
    ONLINE,
)
MANY_QUERIES = slope({k: sweep("fig-6d", "k_h", k) for k in (0, 10, 20, 30, 40)}, "slope over k_h = 0 … 40", PER_QUERY)

WITHOUT_BOTH, WITHOUT_TIES = "NSGD w/o CDP & TB", "NSGD w/o TB"

CLAIMS = (
    claim(
        1,
        "NSGD has the best online score for every data set and user, significantly above MGD.",
        f"NSGD's cumulative NDCG@10 is more than {ONLINE.margin:g} above that of each other learner, on every data "
        "set and for every kind of users.",
        Part("NSGD above MGD", leads(online, ONLINE, ("NSGD",), ("MGD",)), ALL_CELLS),
        Part("NSGD above every other learner", leads(online, ONLINE, ("NSGD",), ("DBGD", "CPS", "DP-DBGD")), ALL_CELLS),
    ),
    claim(
        2,
        "Offline, NSGD ends above MGD on MQ2007, MQ2008 and NP2003, and MGD above NSGD on TD2003 and, for perfect and "
        "informational users, on HP2003.",
        "NSGD's last NDCG@10 on test queries is above MGD's on MQ2007, MQ2008 and NP2003, by more than "
        f"{OFFLINE.margin:g} for informational users and by more than {OFFLINE_HALF_DIGIT.margin:g} for the others; "
        f"MGD's is more than {OFFLINE.margin:g} above NSGD's on TD2003 and, but for navigational users, on HP2003.",
        Part(
            "NSGD above MGD for informational users",
            leads(offline, OFFLINE, ("NSGD",), ("MGD",)),
            tuple(product(("MQ2007", "MQ2008", "NP2003"), USERS[2:])),
        ),
        Part(
            "NSGD above MGD for perfect and navigational users",
            leads(offline, OFFLINE_HALF_DIGIT, ("NSGD",), ("MGD",)),
            tuple(product(("MQ2007", "MQ2008", "NP2003"), USERS[:2])),
        ),
        Part(
            "MGD above NSGD on TD2003 and HP2003",
            leads(offline, OFFLINE, ("MGD",), ("NSGD",)),
            (*product(("TD2003",), USERS), ("HP2003", "perfect"), ("HP2003", "informational")),
        ),
    ),
    claim(
        3,
        "NSGD and MGD, which explore several directions a round, end above the other learners offline on all data sets "
        "and for all users.",
        "The last NDCG@10 on test queries of NSGD and of MGD is above that of DBGD, CPS and DP-DBGD, by more than "
        f"{OFFLINE.margin:g} on MQ2007 and MQ2008 and by more than {OFFLINE_HALF_DIGIT.margin:g} on the other data "
        "sets.",
        Part(
            "NSGD and MGD above each other learner on MQ2007 and MQ2008",
            leads(offline, OFFLINE, ("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD")),
            ALL_CELLS[:6],
        ),
        Part(
            "NSGD and MGD above each other learner on HP2003, NP2003 and TD2003",
            leads(offline, OFFLINE_HALF_DIGIT, ("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD")),
            ALL_CELLS[6:],
        ),
    ),
    claim(
        4,
        "On MQ2007, NSGD has a much smaller deviation of offline NDCG@10 than every other learner for informational "
        "users; for perfect and navigational users NSGD and MGD have smaller ones than the rest.",
        "For informational users NDCG@10 deviates between runs by at least a fifth less with NSGD than with any "
        "other learner; for the other users it deviates by at least a tenth less with NSGD and MGD than with the "
        "rest.",
        Part(
            "NSGD's mean deviation over rounds at least a fifth below the others'",
            steadier(("NSGD",), BASELINES, MUCH_STEADIER),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            "NSGD's and MGD's mean deviation over rounds at least a tenth below the others'",
            steadier(("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD"), STEADIER),
            MQ2007[:2],
        ),
    ),
    claim(
        5,
        "For informational users on MQ2007, MGD needs more than 800 rounds for the offline NDCG@10 that NSGD has "
        "before 200.",
        f"For informational users NSGD's NDCG@10 after 200 rounds is more than {OFFLINE_DIGIT.margin:g} above MGD's "
        "after 800.",
        Part(
            "NSGD after 200 rounds above MGD after 800",
            (
                difference(
                    learning_curve("NSGD", 200), learning_curve("MGD", 800), "NSGD at 200 − MGD at 800", OFFLINE_DIGIT
                ),
            ),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        6,
        "NSGD moves towards the offline reference ranker much faster than MGD and DBGD (MQ2007, informational users).",
        f"The cosine of NSGD's ranker with the offline reference is more than {COSINE.margin:g} above that of MGD "
        f"and of DBGD in the mean over rounds, and after 500 rounds less than {-AS_NEAR.margin:g} below theirs after "
        "1000.",
        Part(
            "NSGD's mean cosine over rounds above the others'",
            leads(cosine, COSINE, ("NSGD",), ("MGD", "DBGD")),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            "at least twice as fast: NSGD after 500 rounds about as near as the others after 1000",
            tuple(
                difference(cosine("NSGD", 500), cosine(other, 1000), f"NSGD at 500 − {other} at 1000", AS_NEAR)
                for other in ("MGD", "DBGD")
            ),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        7,
        "Null-space candidates are more likely to beat the current ranker than uniform ones in every mix of four "
        "candidates, and the online score grows with their number (MQ2007, informational users).",
        "In every mix of four candidates a null-space candidate wins more often than a uniform one, by more than "
        f"{WINS.margin:g} of its proposals, and each null-space candidate in place of a uniform one adds more than "
        f"{PER_CANDIDATE.margin:g} to the cumulative NDCG@10.",
        Part("null-space candidates win more often in every mix that has both kinds", SELECTION, MQ2007_INFORMATIONAL),
        Part("the online score grows with null-space candidates", (NULL_SHARE,), MQ2007_INFORMATIONAL),
    ),
    claim(
        8,
        "Each component helps offline: NSGD above NSGD without tie breaking, above NSGD without tie breaking and "
        "preselection, above MGD (MQ2007, informational users).",
        f"The last NDCG@10 falls by more than {OFFLINE_STEP.margin:g} at each step from NSGD to NSGD without tie "
        "breaking, from there to NSGD without preselection as well, and from there to MGD.",
        Part(
            "each variant above the next",
            leads(ablation, OFFLINE_STEP, ("NSGD",), (WITHOUT_TIES,))
            + leads(ablation, OFFLINE_STEP, (WITHOUT_TIES,), (WITHOUT_BOTH,))
            + leads(ablation, OFFLINE_STEP, (WITHOUT_BOTH,), ("MGD",)),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        9,
        "Online on MQ2007: more than 5 candidates hurt for all users; a rate around 0.1 is best in most cases; more "
        "than 20 gradients for the null space hurt; more historical queries for tie breaking help.",
        f"The cumulative NDCG@10 falls by more than {PER_CANDIDATE.margin:g} with each candidate beyond 5; for two "
        f"of the three kinds of users it is more than {ONLINE.margin:g} higher at a rate of 0.1 than at 0 and at 0.3 "
        f"or more; it is more than {ONLINE.margin:g} higher with 20 gradients than with more; and it rises by more "
        f"than {PER_QUERY.margin:g} with each historical query.",
        Part("the online score falls from 5 to 10 candidates", (MANY_CANDIDATES,), MQ2007),
        Part("α = 0.1 above no learning and above α ≥ 0.3", AROUND_A_TENTH, MQ2007, "count", need=2),
        Part("20 gradients above more, of 60 stored", (MANY_GRADIENTS,), MQ2007),
        Part("the online score grows with historical queries", (MANY_QUERIES,), MQ2007),
    ),
    claim(
        10,
        "CPS and NSGD, which preselect candidates, have a better cumulative NDCG@10 than the other learners on MQ2007.",
        f"The cumulative NDCG@10 of NSGD is more than {ONLINE.margin:g}, and that of CPS more than "
        f"{ONLINE_OF_CPS.margin:g}, above that of DBGD, DP-DBGD and MGD.",
        Part("NSGD above each learner without preselection", leads(online, ONLINE, ("NSGD",), UNSELECTIVE), MQ2007),
        Part(
            "CPS above each learner without preselection", leads(online, ONLINE_OF_CPS, ("CPS",), UNSELECTIVE), MQ2007
        ),
    ),
    claim(
        11,
        "NSGD with 4 candidates beats MGD with 9 online, consistently over data sets and users.",
        f"NSGD's cumulative NDCG@10 with 4 candidates is more than {ONLINE.margin:g} above MGD's with 9, on every "
        "data set and for every kind of users.",
        Part(
            "NSGD above MGD with 9 candidates",
            (
                difference(
                    online("NSGD"), Measure("mgd-9", "cndcg", (("learner", "MGD"),)), "NSGD − MGD (m = 9)", ONLINE
                ),
            ),
            ALL_CELLS,
        ),
    ),
    claim(
        12,
        "Every online learner ends below offline LambdaRank on MQ2007.",
        f"The NDCG@10 of LambdaRank, which learns from labels, is more than {OFFLINE.margin:g} above the last one of "
        "each online learner.",
        Part(
            "LambdaRank's test NDCG@10 above every learner's last",
            tuple(
                difference(
                    Measure("reference", "test_ndcg", shared=True),
                    offline(learner),
                    f"LambdaRank − {NAMES.get(learner, learner)}",
                    OFFLINE,
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
        f"After 200 rounds the NDCG@10 of NSGD without preselection and tie breaking is less than {-CLOSE.margin:g} "
        f"below its last one and more than {OFFLINE.margin:g} above MGD's, and MGD's still rises by more than "
        f"{OFFLINE_DIGIT.margin:g} after 800 rounds.",
        Part(
            "after 200 rounds close to its last NDCG@10",
            (
                difference(
                    ablation(WITHOUT_BOTH, 200), ablation(WITHOUT_BOTH), "w/o CDP & TB at 200 − at the end", CLOSE
                ),
            ),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            "MGD still improves after 800 rounds",
            (difference(ablation("MGD"), ablation("MGD", 800), "MGD at the end − MGD at 800", OFFLINE_DIGIT),),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            "after 200 rounds above MGD, all that is tested of “much faster”",
            (
                difference(
                    ablation(WITHOUT_BOTH, 200), ablation("MGD", 200), "w/o CDP & TB at 200 − MGD at 200", OFFLINE
                ),
            ),
            MQ2007_INFORMATIONAL,
        ),
    ),
)
