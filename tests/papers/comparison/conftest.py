"""Invented runs of a few learners."""

import pandas as pd
import pytest

from ol2r.papers.comparison import examination
from ol2r.papers.comparison.grid import STARTS, UNTRAINED
from ol2r.papers.comparison.memory import FORMS, FULL, RECURSIVE
from ol2r.papers.olranknet.claims import GAMMA

ROUNDS = (0, 5, 10, 50, 100)
KINDS = ("perfect", "navigational", "informational")
SCORES = {"PairRank": 0.50, "PDGD": 0.45, "olRankNet": 0.60, "DBGD": 0.30}
"""By learner, what its ranker comes to at the end; its lists have a tenth less in every round."""


def made(scores, kinds=KINDS, seeds=2, **labels):
    """Runs of two folds: the ranker gets better evenly; seed 1 is 0.02 better, and fold 2 is 0.01 better."""
    lines = []
    for variant, score in scores.items():
        for kind in kinds:
            for fold in (1, 2):
                for seed in range(seeds):
                    own = score + 0.02 * seed + 0.01 * (fold - 1)
                    lines += [
                        {"cell": f"{variant}/{kind}/{labels}", "dataset": "MQ2008", "users": kind, "variant": variant}
                        | labels | {"fold": fold, "seed": seed, "round": t, "ndcg": own * t / ROUNDS[-1]}
                        | {"cndcg": (own - 0.1) * sum(GAMMA**k for k in range(t)), "misordered": 10 * (1 - score) * t}
                        | {"status": "ok"}
                        for t in ROUNDS
                    ]  # fmt: skip
    return pd.DataFrame(lines)


@pytest.fixture
def frame():
    return made(SCORES)


@pytest.fixture
def believed():
    """Makes runs of PairRank at .5 with the papers' belief about what was examined, and so much more with others."""

    def make(shown=-0.1, above=0.0, kinds=examination.KINDS):
        scores = {examination.PAPERS: 0.5, examination.SHOWN: 0.5 + shown, examination.ABOVE: 0.5 + above}
        return pd.concat([made({"PairRank": score}, kinds, seen=seen) for seen, score in scores.items()])

    return make


@pytest.fixture
def begun():
    """Makes runs of PairRank and DBGD at .5, and so much more from each start that is named."""

    def make(**more):
        names = {UNTRAINED: 0.0, **dict.fromkeys(STARTS, 0.0)} | more
        return pd.concat(
            [made({"PairRank": 0.5 + plus, "DBGD": 0.5 + plus}, began=name) for name, plus in names.items()],
            ignore_index=True,
        )

    return make


@pytest.fixture
def reference():
    """An offline ranker that has 0.5 in fold 1 and 0.8 in fold 2, on two lines of each fit."""
    return pd.DataFrame({"dataset": "MQ2008", "fold": [1, 1, 2, 2], "seed": 0, "test_ndcg": [0.5, 0.5, 0.8, 0.8]})


@pytest.fixture
def timed():
    """PDGD takes 1 ms a round and keeps 500 bytes; PairRank 2 ms and 3 MB; olRankNet 30 ms, slower at the end."""
    lines = []
    spent_and_kept = (("PDGD", 0.05, 0.1, 500), ("PairRank", 0.1, 0.2, 3e6), ("olRankNet", 0.5, 3.0, 2e9))
    for name, first, all_, kept in spent_and_kept:
        shared = {"cell": name, "dataset": "MQ2008", "users": "perfect", "variant": name, "fold": 1, "seed": 0}
        for t, seconds in ((50, first), (100, all_)):
            spent = {"rank_seconds": seconds / 4, "update_seconds": seconds * 3 / 4, "replicas": 1}
            lines.append(shared | {"round": t} | spent)
        lines.append(shared | {"cell": f"{name} kept", "round": 100, "kept": kept})
    return pd.DataFrame(lines)


@pytest.fixture
def judged():
    """Of 100 rounds: random lists violate in 40, DBGD in 20, PairRank in 10 (navigational: 30), BubbleRank in none."""
    lines = []
    for name, kind, count in (
        ("random lists", "perfect", 40), ("DBGD", "perfect", 20), ("PairRank", "perfect", 10),
        ("PairRank", "navigational", 30), ("DBGD", "navigational", 20), ("BubbleRank", "perfect", 0),
    ):  # fmt: skip
        for fold in (1, 2):
            for seed in (0, 1):
                shared = {"cell": name + kind, "dataset": "MQ2008", "users": kind, "variant": name}
                shared |= {"fold": fold, "seed": seed}
                lines += [shared | {"round": t, "violations": t * count // 100 + seed * (count > 0)} for t in (50, 100)]
    return pd.DataFrame(lines)


@pytest.fixture
def forgetful():
    """Runs of PairRank with bounded memory: one step a label lacks a tenth, the others nothing."""
    scores = dict.fromkeys(FORMS, 0.5) | {RECURSIVE: 0.4}
    return pd.concat([made({"PairRank": score}, form=form) for form, score in scores.items()])


@pytest.fixture
def forgetful_timed():
    """A round of all labels takes 1 ms at first and 3 ms at the end, any other 1 ms; all labels take 5 MB."""
    lines = []
    for form in FORMS:
        for kind in ("perfect", "navigational", "informational"):
            shared = {"dataset": "MQ2008", "users": kind, "form": form, "fold": 1, "seed": 0}
            spent = {50: 0.05, 100: 0.2 if form == FULL else 0.1}
            lines += [
                shared | {"cell": "t", "round": t, "rank_seconds": s / 2, "update_seconds": s / 2, "replicas": 1}
                for t, s in spent.items()
            ]
            lines.append(shared | {"cell": "f", "round": 100, "kept": 5e6 if form == FULL else 1e6})
    return pd.DataFrame(lines)
