"""What exploring is worth: every learner that explores beside itself without exploring.

What was expected (`expected.EXPECTED`) was written before any run of these controls, when the reviews of the P²NeurRank
chapter had told of MQ2008 that noise changes P²LinRank's ranker little and that P²LinRank without noise is not clearly
behind the best.
"""

import pandas as pd

from ol2r import frames
from ol2r.clicks.cascade import USERS
from ol2r.papers.comparison.expected import judged
from ol2r.papers.comparison.grid import AS_TUNED, CONTROLS, WITHOUT
from ol2r.papers.comparison.measures import interval_of, of_runs, over_users

MEASURES = ("offline", "lists")
"""What is compared: NDCG@10 of the ranker after the last round, and of the lists that users saw."""


def worth(frame: pd.DataFrame) -> pd.DataFrame:
    """What exploring changes: each learner as tuned less the same without exploring, paired by run.

    Args:
        frame: runs of any data sets with `variant`, `way`, ndcg, cndcg, misordered.

    Returns:
        dataset, variant, users ("all" for the mean over them), measure, without (the mean of the control), mean (of the
        learner as tuned less that) with low and high, outcome (of what was expected; empty for single kinds of users
        and where nothing was); empty without runs.
    """
    lines = []
    for (dataset,), own in frames.groups(frame, ["dataset"]) if len(frame) else ():
        ways = {way: of_runs(runs) for way, runs in own.groupby("way", sort=False)}
        if not {AS_TUNED, WITHOUT} <= ways.keys():
            continue
        for measure in MEASURES:
            for kinds in (None, *((kind,) for kind in USERS if kind in set(own["users"]))):
                tuned, still = (over_users(ways[way], measure, kinds) for way in (AS_TUNED, WITHOUT))
                for variant in (each for each in CONTROLS[WITHOUT] if each in still):
                    found = interval_of((tuned[variant] - still[variant]).dropna())
                    where = kinds[0] if kinds else "all"
                    lines.append((dataset, variant, where, measure, still[variant].mean(), *found))
    columns = ["dataset", "variant", "users", "measure", "without", "mean", "low", "high"]
    return judged(pd.DataFrame(lines, columns=columns), "exploring")
