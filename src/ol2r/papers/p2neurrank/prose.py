"""What the P²NeurRank chapter tells: its conventions, what the paper leaves open, the map of the paper's items, and the
numbers of its sentences."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from ol2r import frames
from ol2r.experiments import grid
from ol2r.experiments.tuning import TuningGrid
from ol2r.experiments.verdicts import Judgement
from ol2r.papers import texts
from ol2r.papers.olranknet.claims import GAMMA, ROUNDS, ROUNDS_HERE, K
from ol2r.papers.olranknet.grid import DECAY
from ol2r.papers.p2neurrank import tuning
from ol2r.papers.p2neurrank.claims import (
    HISTORY,
    LARGE_NOISE,
    LINEAR,
    NEURAL,
    PAIRRANK_DIAGONAL,
    PROTOCOL,
    RIVALS,
    SIXTEEN_FULL,
    SMALL_NOISE,
    TIMED,
)
from ol2r.papers.p2neurrank.errata import ERRATA
from ol2r.papers.p2neurrank.figures import FAMILIES, at_a_look, at_own_family_end, differences
from ol2r.papers.p2neurrank.grid import EARLY_USERS, FIVE, RUNS, SETTINGS
from ol2r.papers.pairrank import tuning as pairrank
from ol2r.report import said
from ol2r.report.leads import NO_LEADS, joined
from ol2r.report.style import spelled
from ol2r.report.tables import interval, myst, number, share, signed

SYMBOLS = {"noise": "ν²", "alpha": "α", "regularization": "λ", "rate": "η"}
"""What tables call the tuned hyper-parameters."""
NETWORK = SETTINGS[NEURAL[0]][1]
WIDTH, PASSES, SMALL_WIDTH = NETWORK["width"], NETWORK["passes"], SETTINGS[SIXTEEN_FULL][1]["width"]


MANY = "where documents have many features"


def told(grid: TuningGrid) -> str:
    """The values that a grid tries, by symbol; where it tries others on data with many features, those too."""
    return f"; {MANY} ".join(
        "; ".join(f"{SYMBOLS[name]} ∈ {{{', '.join(map(number, values))}}}" for name, values in tried.items())
        for tried in (grid.tried, grid.wide)
        if tried
    )


PAPERS_GRID = {
    "alpha": (1e-1, 1e-2, 1e-3, 1e-4),
    "regularization": (1e-1, 1e-2, 1e-3, 1e-4),
    "rate": (1e-1, 1e-2, 1e-3),
}
"""What the paper tries (5.1.4): α and λ of its learners with intervals, rates of its networks."""


def untried(grid: TuningGrid) -> str:
    """Which of the paper's values a grid does not try, by symbol; "none" if it tries them all. Where it tries others on
    data with many features, those that it does not try there too."""
    here, many = _untried(grid.tried), _untried({**grid.tried, **grid.wide})
    return here if here == many else f"{here}; {MANY} {many}"


def _untried(tried: Mapping[str, Sequence[float]]) -> str:
    left = {
        name: [number(value) for value in PAPERS_GRID[name] if value not in values]
        for name, values in tried.items()
        if name in PAPERS_GRID
    }
    return "; ".join(f"{SYMBOLS[name]} {joined(values)}" for name, values in left.items() if values) or "none"


_GRIDS = {
    "linear": tuning.GRIDS[LINEAR[0]],
    "neural": tuning.GRIDS[NEURAL[0]],
    "diagonal": tuning.GRIDS[PAIRRANK_DIAGONAL],
    "sixteen": tuning.GRIDS[SIXTEEN_FULL],
}
TEXTS = texts.read(
    "p2neurrank",
    "texts",
    rounds=ROUNDS,
    rounds_here=ROUNDS_HERE,
    rounds_shared=ROUNDS_HERE // 2,
    seeds=PROTOCOL.seeds,
    runs=RUNS,
    network_seeds=len(FIVE["paper"]),
    k=K,
    gamma=GAMMA,
    width=WIDTH,
    small_width=SMALL_WIDTH,
    passes=PASSES,
    large_noise=LARGE_NOISE,
    small_noise=SMALL_NOISE,
    early_users=joined(EARLY_USERS),
    **{f"grid_{name}": told(each) for name, each in _GRIDS.items()},
    **{f"left_{name}": untried(each) for name, each in _GRIDS.items()},
    seeds_first=len(tuning.SEEDS_FIRST),
    seeds_longer=len(tuning.SEEDS_LONGER),
    shortlisted=tuning.SHORTLISTED,
    shortlisted_networks=tuning.SHORTLISTED_NETWORKS,
    shortlisted_pairrank=pairrank.SHORTLISTED,
    decay=DECAY,
    dbgd_decay=SETTINGS["DBGD"][1]["decay"],
)
CONVENTIONS, SILENCES, SHORT, MAP = (TEXTS[each] for each in ("conventions", "silences", "short", "map"))
"""What the columns of each are, says the file."""
OURS = tuple(each for each in SHORT if each.startswith("PPX"))
"""Claims that are not the paper's."""

LIVE = {"Algorithm 1": "same", "Figure 1": "same", "Table 1": "same"}
"""Items of the map that need no result, and how each came out."""
THEORY = ("Lemma", "Theorem", "A.2")
"""With what the titles of items begin that need no data."""


def fails(title: str) -> bool:
    """Whether the item with this title, in `MAP`, is false or empty as the paper prints it (`errata`).

    An erratum is about all items of its place ("A.2") or about one of them ("A.2, variance of the noise").
    """
    return any(each.place in (title, title.split(",")[0]) for each in ERRATA if each.harm == "statement")


def click_models() -> list[tuple[str, str, str]]:
    """The paper's Table 1, and the users of sets with three grades: rows (users, click by grade, stop by grade)."""
    return grid.click_models((5, ""), (3, ", three grades (the PairRank paper)"))


# Runs that the pages compare


def seconds(frame: pd.DataFrame) -> pd.DataFrame:
    """Seconds of a whole run of one replica: a line for each kind of users, a column for each variant.

    Args:
        frame: of `Timing` cells of one data set, of runs that may differ in length; it may be empty.
    """
    if frame.empty:
        return pd.DataFrame(dtype=float)
    last = frame[frame["round"] == frame.groupby("variant")["round"].transform("max")]
    taken = (last["rank_seconds"] + last["update_seconds"]) / last["replicas"]
    return last.assign(seconds=taken).pivot_table("seconds", "users", "variant")


def times_as_long(frame: pd.DataFrame, variant: str) -> pd.Series:
    """How many times as long a run takes as one of its rival of `RIVALS`, by kind of users; empty without timings.

    Args:
        frame: as for `seconds`.
    """
    taken = seconds(frame).reindex(columns=[variant, RIVALS[variant]])
    return (taken[variant] / taken[RIVALS[variant]]).dropna()


def milliseconds(frame: pd.DataFrame) -> pd.Series:
    """Milliseconds of a round, the mean over all rounds, by variant of `TIMED`; NaN where it was not timed.

    Args:
        frame: of `Timing` cells of one data set under one kind of users, all of one length; it may be empty.
    """
    return 1e3 * seconds(frame).reindex(columns=TIMED).mean() / (frame["round"].max() if len(frame) else 1)


def tested(judgement: Judgement) -> pd.DataFrame:
    """The effects that a claim was judged by, with 95 % intervals: dataset, users, row (the contrast), mean, low, high;
    no lines without runs."""
    lines = [
        (one.data, one.cell[1], getattr(one.contrast, "label", ""), one.effect.estimate, *one.effect.interval())
        for one in judgement.tested
        if one.effect
    ]
    return pd.DataFrame(lines, columns=["dataset", "users", "row", "mean", "low", "high"])


def early(frame: pd.DataFrame, *noises: float, quantity: str = "false certain") -> pd.DataFrame:
    """The rows of a quantity of shared histories after a tenth of each family's rounds.

    Args:
        frame: of `histories.Histories`, of one data set; it may be empty.
        noises: ν² of the rows to keep, 0 for the intervals.
        quantity: by default the share of certain orders, of documents with different grades, that grades contradict.
    """
    if frame.empty:
        return frame
    looked = at_a_look(frame, HISTORY)
    return looked[(looked["quantity"] == quantity) & looked["noise"].isin(noises)]


def wrong(frame: pd.DataFrame, noise: float) -> pd.DataFrame:
    """The share of certain orders that grades contradict early on, the mean over runs; no lines without runs.

    Args:
        frame: as for `early`.
        noise: ν² of the ensembles.

    Returns:
        family, row (the variant), users, mean.
    """
    own = early(frame, 0.0, noise)
    if own.empty:
        return NO_LEADS
    means = own.groupby(["family", "variant", "users"])["value"].mean()
    return means.rename_axis(["family", "row", "users"]).rename("mean").reset_index()


def two_beside(frame: pd.DataFrame, noise: float) -> pd.DataFrame:
    """How much larger the shares of `wrong` are with two rankers than with ten and with the intervals, paired by run.

    Returns:
        family, row (the other variant), users, mean, low, high; no lines without runs.
    """
    own = early(frame, 0.0, noise)
    return _joined(
        differences(own, "value", of(2), other).assign(family=family, row=other)
        for family, of in FAMILIES.items()
        for other in (of(10), RIVALS[of(2)])
        if len(own)
    )


def ten_beside_two(frame: pd.DataFrame) -> pd.DataFrame:
    """What ten rankers have more than two at the end of runs of their own at ν² = `LARGE_NOISE`, paired by run.

    The mean of ten rankers may end above that of two by averaging alone.

    Args:
        frame: runs of ensembles by themselves ("certainty"), of one data set; it may be empty.

    Returns:
        family, panel ("ndcg" or "regret"), users, mean, low, high; no lines without runs.
    """
    ends = at_own_family_end(frame[frame["noise"] == LARGE_NOISE]) if len(frame) else frame
    return _joined(
        differences(ends, score, of(10), of(2)).assign(family=family, panel=score)
        for family, of in FAMILIES.items()
        for score in ("ndcg", "regret")
        if len(ends)
    )


def less_noise(frame: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """A share of shared histories early on at `SMALL_NOISE` minus the same at `LARGE_NOISE`, paired by run.

    Args:
        frame, quantity: as for `early`.

    Returns:
        family, row (the variant), users, mean, low, high; no lines without runs.
    """
    own = early(frame, SMALL_NOISE, LARGE_NOISE, quantity=quantity)
    return _joined(
        differences(each.assign(variant=each["noise"].map(str)), "value", str(SMALL_NOISE), str(LARGE_NOISE)).assign(
            family=str(key[0]), row=str(key[1])
        )
        for key, each in (own.groupby(["family", "variant"]) if len(own) else ())
    )


def _joined(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    there = [each for each in parts if len(each)]
    return pd.concat(there, ignore_index=True) if there else NO_LEADS


def ends(table: pd.DataFrame, name: str = "", unit: float = 1.0) -> dict[str, float]:
    """The least and the largest mean of each family as numbers of a sentence; NaN without runs.

    Args:
        table: with the columns family and mean, if it has any lines.
        name: what the numbers are called after their family and before "min" and "max".
        unit: what the means are multiplied by.
    """
    return {
        f"{family}_{name}{end}": unit * getattr(said.matching(table, family=family)["mean"], end)()
        for family in FAMILIES
        for end in ("min", "max")
    }


def agreement(frame: pd.DataFrame, *, name: str, caption: str) -> str:
    """Certain orders on shared histories by N and ν² as a table: after a tenth of the rounds and at the end.

    There is a line for each family, kind of users and set of certain orders, with means over runs.

    Args:
        frame: of `histories.Histories`, of one data set.
    """
    looks = {"early": at_a_look(frame, HISTORY), "end": at_a_look(frame, 1.0)}
    keys = ["family", "users", "variant", "noise", "quantity"]
    means = {look: own.groupby(keys)["value"].mean() for look, own in looks.items()}
    columns = ("certain", "false certain", "agree")
    rows = []
    for line in frames.records(frame.drop_duplicates(keys[:-1]).sort_values(keys[:2], kind="stable")):
        place = tuple(line[key] for key in keys[:-1])
        entries = [
            share(means[look][(*place, quantity)]) if (*place, quantity) in means[look].index else "–"
            for quantity in columns
            for look in looks
        ]
        noise = f"{line['noise']:g}" if line["rankers"] else "–"
        rows.append([f"{line['users']}", spelled(str(line["variant"])), noise, *entries])
    header = ["users", "learner", "ν²", "certain, early", "end", "wrong, early", "end", "agree, early", "end"]
    return myst(header, rows, name=name, caption=caption)


def disagreeing(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """What makes two networks disagree, and what it is worth, as a table with a line for each.

    Args:
        table: from `figures.disagreement`, of one data set.
    """
    first = table["row"].iloc[0] if len(table) else ""
    rows = []
    for (users, row), own in table.groupby(["users", "row"], sort=False):
        effects = [
            "–" if row == first else f"{signed(line['mean'], 4)} {interval(line['low'], line['high'], 4)}"
            for line in frames.records(own)
        ]
        rows.append([str(users), str(row), share(own["certain"].iloc[0]), *effects])
    panels = [f"{panel}, minus the first line" for panel in dict.fromkeys(table["panel"])]
    return myst(["users", "two networks with", "certain orders", *panels], rows, name=name, caption=caption)
