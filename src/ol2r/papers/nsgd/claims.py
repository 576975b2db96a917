"""The thirteen claims of the NSGD paper as rules.

Their words are in `claims.toml`. Each statement keeps the paper's wording; where the wording leaves a choice (how near
is near? how fast is much faster?), the words of the part make it. The rules were declared before any of their results
existed, all with a margin of 0. The margins, and the meaning of "much", were set after results had been seen. A margin
is what a reader would call a difference, and never more than half of the lead that the paper prints. This module names
items and does not import them.
"""

from collections.abc import Sequence
from itertools import product
from typing import Literal

from ol2r.experiments.claims import (
    Claim,
    Contrast,
    Measure,
    Part,
    Scale,
    Size,
    StandIn,
    Where,
    leads,
    measure,
    slope,
    steadier,
    worded,
)
from ol2r.papers import texts

USERS = ("perfect", "navigational", "informational")
NSGD_FIRST = ("MQ2007", "MQ2008", "NP2003")
"""The data sets on which, the paper prints, NSGD ends above MGD."""
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


WORDS = texts.read(
    "nsgd",
    "claims",
    ONLINE=ONLINE.margin,
    ONLINE_OF_CPS=ONLINE_OF_CPS.margin,
    PER_CANDIDATE=PER_CANDIDATE.margin,
    PER_QUERY=PER_QUERY.margin,
    OFFLINE=OFFLINE.margin,
    OFFLINE_STEP=OFFLINE_STEP.margin,
    OFFLINE_DIGIT=OFFLINE_DIGIT.margin,
    OFFLINE_HALF_DIGIT=OFFLINE_HALF_DIGIT.margin,
    CLOSE=-CLOSE.margin,
    COSINE=COSINE.margin,
    AS_NEAR=-AS_NEAR.margin,
    WINS=WINS.margin,
)


def online(learner: str) -> Measure:
    return measure("table-2", "cndcg", learner=learner)


def offline(learner: str) -> Measure:
    return measure("table-3", "ndcg", learner=learner)


def ahead(of, scale: Scale, better: Sequence[str], worse: Sequence[str]) -> tuple[Contrast, ...]:
    return leads(of, scale, better, worse, names=NAMES)


def less_deviation(smaller: Sequence[str], larger: Sequence[str], scale: Scale) -> tuple[Contrast, ...]:
    return tuple(
        Contrast(f"log deviation {NAMES.get(b, b)} / {a}", deviating(a) / deviating(b), scale, steadier)
        for a, b in product(smaller, larger)
    )


def claim(id_: str, *parts: Part) -> Claim:
    return Claim("nsgd", id_, parts, PROTOCOL, STAND_INS)


def deviating(learner: str) -> Measure:
    return measure("fig-3", "ndcg", learner=learner)


def learning_curve(learner: str, at: int) -> Measure:
    return measure("fig-2", "ndcg", at, learner=learner)


def cosine(learner: str, at: int | Literal["mean"] = "mean") -> Measure:
    return measure("fig-5a", "cosine", at, learner=learner)


def mix(n_uniform: int, won: str, proposed: str | None = None) -> Measure:
    return measure("fig-5b", won, per=proposed, n_uniform=n_uniform)


def ablation(variant: str, at: int | Literal["end"] = "end") -> Measure:
    return measure("fig-5c", "ndcg", at, variant=variant)


def sweep(item: str, name: str, value: float) -> Measure:
    return Measure(item, "cndcg", ((name, value),))


WITHOUT_BOTH, WITHOUT_TIES = "NSGD w/o CDP & TB", "NSGD w/o TB"
SELECTION = tuple(
    Contrast(
        f"wins a null-space candidate − wins a uniform candidate, {4 - n}:{n}",
        mix(n, "null_won", "null_proposed") - mix(n, "uniform_won", "uniform_proposed"),
        WINS,
    )
    for n in (1, 2, 3)
)
NULL_SHARE = slope({4 - n: mix(n, "cndcg") for n in (0, 1, 2, 3, 4)})
MANY_CANDIDATES = -slope({m: sweep("fig-6a", "m", m) for m in range(5, 11)})
AROUND_A_TENTH = tuple(
    Contrast(f"α = 0.1 − α = {other:g}", sweep("fig-6b", "alpha", 0.1) - sweep("fig-6b", "alpha", other), ONLINE)
    for other in (0.0, 0.3, 0.4, 0.5)
)
MANY_GRADIENTS = sum(  # with a queue of 60: in one of 15 all k_g from 15 on are the same
    (-0.25 * sweep("fig-6c-60-directions", "k_g", k) for k in (25, 30, 35, 40)),
    sweep("fig-6c-60-directions", "k_g", 20),
)
MANY_QUERIES = slope({k: sweep("fig-6d", "k_h", k) for k in (0, 10, 20, 30, 40)})

CLAIMS = worded(
    WORDS,
    claim(
        "NS1",
        Part(ahead(online, ONLINE, ("NSGD",), ("MGD",)), ALL_CELLS),
        Part(ahead(online, ONLINE, ("NSGD",), ("DBGD", "CPS", "DP-DBGD")), ALL_CELLS),
    ),
    claim(
        "NS2",
        Part(ahead(offline, OFFLINE, ("NSGD",), ("MGD",)), tuple(product(NSGD_FIRST, USERS[2:]))),
        Part(ahead(offline, OFFLINE_HALF_DIGIT, ("NSGD",), ("MGD",)), tuple(product(NSGD_FIRST, USERS[:2]))),
        Part(
            ahead(offline, OFFLINE, ("MGD",), ("NSGD",)),
            (*product(("TD2003",), USERS), ("HP2003", "perfect"), ("HP2003", "informational")),
        ),
    ),
    claim(
        "NS3",
        Part(ahead(offline, OFFLINE, ("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD")), ALL_CELLS[:6]),
        Part(ahead(offline, OFFLINE_HALF_DIGIT, ("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD")), ALL_CELLS[6:]),
    ),
    claim(
        "NS4",
        Part(less_deviation(("NSGD",), BASELINES, MUCH_STEADIER), MQ2007_INFORMATIONAL),
        Part(less_deviation(("NSGD", "MGD"), ("DBGD", "CPS", "DP-DBGD"), STEADIER), MQ2007[:2]),
    ),
    claim(
        "NS5",
        Part(
            (
                Contrast(
                    "NSGD at 200 − MGD at 800", learning_curve("NSGD", 200) - learning_curve("MGD", 800), OFFLINE_DIGIT
                ),
            ),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        "NS6",
        Part(ahead(cosine, COSINE, ("NSGD",), ("MGD", "DBGD")), MQ2007_INFORMATIONAL),
        Part(
            tuple(
                Contrast(f"NSGD at 500 − {other} at 1000", cosine("NSGD", 500) - cosine(other, 1000), AS_NEAR)
                for other in ("MGD", "DBGD")
            ),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        "NS7",
        Part(SELECTION, MQ2007_INFORMATIONAL),
        Part(
            (Contrast("slope over the number of null-space candidates", NULL_SHARE, PER_CANDIDATE),),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        "NS8",
        Part(
            (
                *ahead(ablation, OFFLINE_STEP, ("NSGD",), (WITHOUT_TIES,)),
                *ahead(ablation, OFFLINE_STEP, (WITHOUT_TIES,), (WITHOUT_BOTH,)),
                *ahead(ablation, OFFLINE_STEP, (WITHOUT_BOTH,), ("MGD",)),
            ),
            MQ2007_INFORMATIONAL,
        ),
    ),
    claim(
        "NS9",
        Part((Contrast("minus the slope over m = 5 … 10", MANY_CANDIDATES, PER_CANDIDATE),), MQ2007),
        Part(AROUND_A_TENTH, MQ2007, need=2),
        Part((Contrast("k_g = 20 − mean of k_g = 25, 30, 35, 40", MANY_GRADIENTS, ONLINE),), MQ2007),
        Part((Contrast("slope over k_h = 0 … 40", MANY_QUERIES, PER_QUERY),), MQ2007),
    ),
    claim(
        "NS10",
        Part(ahead(online, ONLINE, ("NSGD",), UNSELECTIVE), MQ2007),
        Part(ahead(online, ONLINE_OF_CPS, ("CPS",), UNSELECTIVE), MQ2007),
    ),
    claim(
        "NS11",
        Part(
            (Contrast("NSGD − MGD (m = 9)", online("NSGD") - measure("mgd-9", "cndcg", learner="MGD"), ONLINE),),
            ALL_CELLS,
        ),
    ),
    claim(
        "NS12",
        Part(
            tuple(
                Contrast(
                    f"LambdaRank − {NAMES.get(learner, learner)}",
                    measure("reference", "test_ndcg", shared=True) - offline(learner),
                    OFFLINE,
                )
                for learner in (*BASELINES, "NSGD")
            ),
            MQ2007,
        ),
    ),
    claim(
        "NS13",
        Part(
            (
                Contrast(
                    "w/o CDP & TB at 200 − at the end", ablation(WITHOUT_BOTH, 200) - ablation(WITHOUT_BOTH), CLOSE
                ),
            ),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            (Contrast("MGD at the end − MGD at 800", ablation("MGD") - ablation("MGD", 800), OFFLINE_DIGIT),),
            MQ2007_INFORMATIONAL,
        ),
        Part(
            (
                Contrast(
                    "w/o CDP & TB at 200 − MGD at 200", ablation(WITHOUT_BOTH, 200) - ablation("MGD", 200), OFFLINE
                ),
            ),
            MQ2007_INFORMATIONAL,
        ),
    ),
)
