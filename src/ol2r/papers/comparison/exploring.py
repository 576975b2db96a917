"""What exploring is worth: every learner that explores beside itself without exploring, and what was expected of that
before any run of these controls.

By then the reviews of the P²NeurRank chapter had told of MQ2008 that noise changes P²LinRank's ranker little and that
P²LinRank without noise is not clearly behind the best; the expectations were written with that in mind.
"""

from typing import NamedTuple

import pandas as pd

from ol2r import frames
from ol2r.clicks.cascade import USERS
from ol2r.papers.comparison.expected import MARGIN, Side, outcome
from ol2r.papers.comparison.grid import AS_TUNED, CONTROLS, P2LINRANK, P2NEURRANK, WITHOUT
from ol2r.papers.comparison.measures import interval_of, of_runs, over_users
from ol2r.report.style import spelled
from ol2r.report.tables import interval, myst, named, plain, signed

MEASURES = ("offline", "lists")
"""What is compared: NDCG@10 of the ranker after the last round, and of the lists that users saw."""


class Expected(NamedTuple):
    """What exploring is expected to change, on all data, averaged over kinds of users.

    Args:
        measure: one of `MEASURES`.
        side: of the learner as tuned less the same without exploring.
    """

    variants: tuple[str, ...]
    measure: str
    side: Side
    because: str


EXPECTED = (
    Expected(
        ("PairRank", P2LINRANK, "olRankNet", P2NEURRANK), "offline", "near",
        "queries differ so much that lists which are best so far still show documents of all kinds",
    ),
    Expected(
        ("PairRank", P2LINRANK, "olRankNet", P2NEURRANK), "lists", "near",
        "at the tuned widths and noise few orders are uncertain after the first rounds",
    ),
    Expected(
        ("epsilon-greedy",), "offline", "higher",
        "its steps are weighted by nothing, so documents that it never shows at the top win no pair",
    ),
    Expected(
        ("epsilon-greedy",), "lists", "lower",
        "it puts random documents into lists until the end, whatever it knows",
    ),
)  # fmt: skip


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
                    gain = (tuned[variant] - still[variant]).dropna()
                    found = interval_of(gain)
                    side = expected_of(variant, measure) if kinds is None else None
                    judged = outcome(side, *found[1:]) if side else ""
                    where = kinds[0] if kinds else "all"
                    lines.append((dataset, variant, where, measure, still[variant].mean(), *found, judged))
    columns = ["dataset", "variant", "users", "measure", "without", "mean", "low", "high", "outcome"]
    return pd.DataFrame(lines, columns=columns)


def expected_of(variant: str, measure: str) -> Side | None:
    """What is expected of a learner, or None where nothing is."""
    return next((each.side for each in EXPECTED if variant in each.variants and each.measure == measure), None)


def expectations() -> str:
    """What was expected, as a list."""
    measures = {"offline": "the ranker after the last round", "lists": "the lists"}
    return "\n".join(
        f"- {', '.join(plain(spelled(each)) for each in one.variants)}, {measures[one.measure]}: *{one.side}* "
        f"(within or beyond {MARGIN:g}), because {one.because}."
        for one in EXPECTED
    )


def told(table: pd.DataFrame, measure: str, *, name: str, caption: str) -> str:
    """What exploring changes in one measure as a numbered MyST table: a line for each learner and kind of users, a
    column for each data set.
    """
    own = table[table["measure"] == measure]
    datasets, rows = list(own["dataset"].unique()), []
    for (variant, users), lines in frames.groups(own, ["variant", "users"]):
        by_data = lines.set_index("dataset")
        entries = []
        for dataset in datasets:
            if dataset not in by_data.index:
                entries.append("–")
                continue
            one = frames.line(by_data, dataset)
            entries.append(f"{signed(one['mean'])} {interval(one['low'], one['high'])} {one['outcome']}".strip())
        rows.append([plain(spelled(str(variant))), str(users), *entries])
    return myst(["learner", "users", *map(named, datasets)], rows, name=name, caption=caption)
