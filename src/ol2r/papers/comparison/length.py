"""Learners at the papers' length: what was expected of them before any of these runs, beside PairRank, and what was
found."""

from typing import NamedTuple

import pandas as pd

from ol2r import frames
from ol2r.papers.comparison.expected import MARGIN, Side, outcome
from ol2r.papers.comparison.grid import LONG_LINEAR, LONG_NETWORKS, P2LINRANK, P2NEURRANK, P2NEURRANK_5
from ol2r.papers.comparison.measures import interval_of, of_runs, over_users
from ol2r.report.style import spelled
from ol2r.report.tables import interval, myst, named, plain, signed

BESIDE = "PairRank"
OURS = ("olRankNet", "olRankNet, full", "olLambdaRank", P2NEURRANK, P2NEURRANK_5)
OF_NETWORKS, REAL = ("synthetic-mq-net", "synthetic-mslr-net"), ("MQ2008", "OHSUMED")
"""Data whose labels come from a network, and data of people's judgements."""


class Expected(NamedTuple):
    """What is expected of learners on some data: of their ranker's NDCG@10 after the last round less PairRank's,
    averaged over kinds of users.

    Args:
        datasets: the data sets; variants: the learners.
        side: of the difference.
    """

    datasets: tuple[str, ...]
    variants: tuple[str, ...]
    side: Side
    because: str


EXPECTED = (
    Expected(
        OF_NETWORKS, OURS, "higher",
        "no line can follow these labels, and five times as many rounds give a network the pairs that it needs",
    ),
    Expected(REAL, OURS, "near", "a network fitted to these labels is no better than a line"),
    Expected(
        (*OF_NETWORKS, *REAL), (P2LINRANK,), "near",
        "noise of the tuned size leaves about the same orders uncertain as intervals of the tuned width",
    ),
    Expected(
        OF_NETWORKS, ("PDGD",), "lower", "its steps use each click once, where a refit uses it in every round",
    ),
    Expected(REAL, ("PDGD",), "near", "few weights have been learned by then, however clicks are used"),
)  # fmt: skip


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    """Every learner less PairRank, paired by run, averaged over kinds of users.

    Args:
        frame: runs of any data sets with `variant`, ndcg, cndcg, misordered.

    Returns:
        dataset, variant, measure ("offline" or "lists"), beside (PairRank's mean), mean with low and high, outcome (of
        what was expected, of "offline" alone); empty without runs.
    """
    lines = []
    for (dataset,), own in frames.groups(of_runs(frame), ["dataset"]) if len(frame) else ():
        for measure in ("offline", "lists"):
            wide = over_users(own, measure)
            for variant in (each for each in (*LONG_LINEAR, *LONG_NETWORKS) if each in wide and each != BESIDE):
                gain = (wide[variant] - wide[BESIDE]).dropna()
                found = interval_of(gain)
                side = expected_of(str(dataset), variant) if measure == "offline" else None
                judged = outcome(side, *found[1:]) if side else ""
                lines.append((dataset, variant, measure, wide[BESIDE].mean(), *found, judged))
    return pd.DataFrame(lines, columns=["dataset", "variant", "measure", "beside", "mean", "low", "high", "outcome"])


def expected_of(dataset: str, variant: str) -> Side | None:
    """What is expected of a learner on a data set, or None where nothing is."""
    return next((each.side for each in EXPECTED if dataset in each.datasets and variant in each.variants), None)


def expectations() -> str:
    """What was expected, as a list."""
    return "\n".join(
        f"- {', '.join(plain(spelled(each)) for each in one.variants)}, on {', '.join(map(named, one.datasets))}: "
        f"*{one.side}* (within or beyond {MARGIN:g}), because {one.because}."
        for one in EXPECTED
    )


def told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Differences as a numbered MyST table, a line for each data set and learner."""
    rows = []
    for (dataset, variant), lines in frames.groups(table, ["dataset", "variant"]):
        by_measure = lines.set_index("measure")
        entries = []
        for measure in ("offline", "lists"):
            one = frames.line(by_measure, measure)
            entries.append(f"{signed(one['mean'])} {interval(one['low'], one['high'])} {one['outcome']}".strip())
        level = frames.line(by_measure, "offline")["beside"]
        rows.append([named(str(dataset)), f"{level:.3f}", plain(spelled(str(variant))), *entries])
    header = ["data", f"{BESIDE}, offline", "learner", "offline, less PairRank", "shown lists, less PairRank"]
    return myst(header, rows, name=name, caption=caption)
