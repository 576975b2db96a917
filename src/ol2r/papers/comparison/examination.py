"""What it costs to be wrong about what users examined.

Learners from pairs of clicked and unclicked documents have to suppose which unclicked ones a user has seen. The papers
suppose all down to the last click and the one below it. What two other beliefs change was expected before any run with
them (`expected.EXPECTED`).
"""

from itertools import product

import pandas as pd

from ol2r.clicks.cascade import USERS
from ol2r.experiments.effects import at_own_end
from ol2r.papers.comparison.expected import judged
from ol2r.papers.comparison.grid import BELIEVERS, BY_POSITION, SEEN
from ol2r.papers.comparison.measures import interval_of

PAPERS, ABOVE, SHOWN = SEEN.values()
KINDS = (*USERS, BY_POSITION)


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    """What each other belief changes, paired by run.

    Args:
        frame: runs of one data set with `variant`, `seen`, ndcg.

    Returns:
        variant, users, seen, papers (offline NDCG@10 after the last round with the papers' belief), mean (of the other
        belief less that) with low and high, outcome; empty without runs.
    """
    lines = []
    last = at_own_end(frame).set_index(["fold", "seed"]) if len(frame) else frame
    for variant, kind in product(BELIEVERS, KINDS) if len(last) else ():
        own = last[(last["variant"] == variant) & (last["users"] == kind)].groupby("seen")["ndcg"]
        for seen in (ABOVE, SHOWN) if len(own) else ():
            papers, other = own.get_group(PAPERS), own.get_group(seen)
            lines.append((variant, kind, seen, papers.mean(), *interval_of((other - papers).dropna())))
    columns = ["variant", "users", "seen", "papers", "mean", "low", "high"]
    return judged(pd.DataFrame(lines, columns=columns), "examination")
