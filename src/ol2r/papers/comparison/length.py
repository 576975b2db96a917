"""Learners at the papers' length beside PairRank, of which something was expected before any of these runs."""

import pandas as pd

from ol2r import frames
from ol2r.papers.comparison.expected import judged
from ol2r.papers.comparison.grid import LONG_LINEAR, LONG_NETWORKS
from ol2r.papers.comparison.measures import interval_of, of_runs, over_users

BESIDE = "PairRank"


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
                found = interval_of((wide[variant] - wide[BESIDE]).dropna())
                lines.append((dataset, variant, measure, wide[BESIDE].mean(), *found))
    columns = ["dataset", "variant", "measure", "beside", "mean", "low", "high"]
    return judged(pd.DataFrame(lines, columns=columns), "length")
