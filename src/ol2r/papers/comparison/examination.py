"""What it costs to be wrong about what users examined: expectations, declared before their results, and what was found.

Learners from pairs of clicked and unclicked documents have to suppose which unclicked ones a user has seen. The papers
suppose all down to the last click and the one below it. What is expected of two other beliefs is written here, and was
before any run with them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from ol2r import frames
from ol2r.clicks.cascade import USERS
from ol2r.experiments.effects import at_own_end
from ol2r.papers.comparison.expected import FROM, Side, outcome
from ol2r.papers.comparison.grid import BELIEVERS, BY_POSITION, SEEN
from ol2r.papers.comparison.measures import interval_of
from ol2r.report.leads import joined
from ol2r.report.style import spelled
from ol2r.report.tables import interval, myst, plain, signed

PAPERS, ABOVE, SHOWN = SEEN.values()
KINDS = (*USERS, BY_POSITION)


class Expected(NamedTuple):
    """What is expected of a belief under some users, beside the papers' belief.

    Args:
        seen: the belief.
        users: kinds of users.
        side: `"near"` (less than `MARGIN` away), `"lower"` or `"higher"` (by more than `MARGIN`).
    """

    seen: str
    users: tuple[str, ...]
    side: Side
    because: str


EXPECTED = (
    Expected(SHOWN, ("perfect",), "near", "they examine all that is shown, so the belief is right and adds pairs"),
    Expected(
        SHOWN,
        ("navigational", "informational", BY_POSITION),
        "lower",
        "they stop, or skip, so documents that nobody saw count as not liked, the more often the lower they stood",
    ),
    Expected(ABOVE, KINDS, "near", "it only leaves out one unclicked document of a list"),
)


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
    for variant in (each for each in BELIEVERS if len(last) and each in set(last["variant"])):
        for expected in EXPECTED:
            for kind in (each for each in expected.users if each in set(last["users"])):
                own = last[(last["variant"] == variant) & (last["users"] == kind)].groupby("seen")["ndcg"]
                papers, other = own.get_group(PAPERS), own.get_group(expected.seen)
                found = interval_of((other - papers).dropna())
                lines.append((variant, kind, expected.seen, papers.mean(), *found, outcome(expected.side, *found[1:])))
    return pd.DataFrame(lines, columns=["variant", "users", "seen", "papers", "mean", "low", "high", "outcome"])


def expectations() -> str:
    """What is expected, as a list."""
    return "\n".join(
        f"- *{each.seen}*, {joined(each.users)} users: {FROM[each.side]} the papers' belief, because {each.because}."
        for each in EXPECTED
    )


def told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """`differences` as a numbered MyST table, a line for each learner and kind of users."""
    rows: list[Sequence[str]] = []
    for (variant, kind), own in frames.groups(table, ["variant", "users"]):
        entries = []
        for seen in (ABOVE, SHOWN):
            one = own[own["seen"] == seen].iloc[0]
            entries.append(f"{signed(one['mean'])} {interval(one['low'], one['high'])} {one['outcome']}")
        rows.append([plain(spelled(str(variant))), str(kind), f"{own['papers'].iloc[0]:.3f}", *entries])
    return myst(["learner", "users", PAPERS, ABOVE, SHOWN], rows, name=name, caption=caption)
