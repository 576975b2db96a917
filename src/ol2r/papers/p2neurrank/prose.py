"""Texts of the P²NeurRank chapter: its conventions, what the paper leaves open, and the map of the paper's items.

The functions write the sentences of the chapter's answer; their numbers are computed from results, and their words say
more, less or not apart as the intervals have it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from ol2r import frames
from ol2r.experiments import grid
from ol2r.experiments.claims import NotMeasured, Results
from ol2r.experiments.effects import TooFewSeeds, at_own_end
from ol2r.experiments.tuning import ALL, Tuned, TuningGrid, chosen_together
from ol2r.papers import texts
from ol2r.papers.olranknet import tuning as olranknet
from ol2r.papers.olranknet.claims import GAMMA, ROUNDS, ROUNDS_HERE, K
from ol2r.papers.olranknet.figures import IN_LISTS, OFFLINE, speeds
from ol2r.papers.olranknet.grid import DECAY
from ol2r.papers.p2neurrank import tuning
from ol2r.papers.p2neurrank.claims import (
    CLAIMS,
    HISTORY,
    LARGE_NOISE,
    LINEAR,
    NEURAL,
    OLRANKNET,
    PAIRRANK,
    PAIRRANK_DIAGONAL,
    PROTOCOL,
    RIVALS,
    SIXTEEN_FULL,
    SMALL_NOISE,
    linear,
    neural,
)
from ol2r.papers.p2neurrank.errata import ERRATA
from ol2r.papers.p2neurrank.figures import BEFORE_TEN, REGRET, at_a_look, at_own_family_end, differences
from ol2r.papers.p2neurrank.grid import EARLY_USERS, FIVE, RUNS, SETTINGS
from ol2r.papers.pairrank import tuning as pairrank
from ol2r.papers.pairrank.audit_tables import share
from ol2r.report.leads import in_range, joined
from ol2r.report.style import USERS, spelled
from ol2r.report.tables import interval, myst, named, number, signed

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


# Sentences


SHORTLY = {OFFLINE: "offline", IN_LISTS: "in the lists that users saw"}
"""What sentences call the two panels of the leads."""
SIDES = ("better", "worse", "not apart")


def sides(lines: pd.DataFrame) -> dict[str, list[str]]:
    """Under which users an interval lies above 0, below 0, and on neither side: `SIDES`, without those of no users."""
    above, below = lines["low"] > 0, lines["high"] < 0
    found = (lines["users"][which] for which in (above, below, ~(above | below)))
    named = {side: USERS.ordered(each) for side, each in zip(SIDES, found, strict=True)}
    return {side: each for side, each in named.items() if each}


def _sides_in_words(lines: pd.DataFrame, words: Sequence[str] = SIDES) -> str:
    """`sides` as a clause, with other words for them."""
    called: dict[str, str] = dict(zip(SIDES, words, strict=True))
    found = sides(lines)
    every = len(found) == 1 and len(lines) > 1
    return ", ".join(f"{called[side]} under {'all' if every else joined(kinds)} users" for side, kinds in found.items())


def _both_scores(lines: pd.DataFrame) -> list[str]:
    """Where a lead is above 0, below 0 and neither, and its range, offline and in the shown lists."""
    return [
        f"{where} {_sides_in_words(part)} ({in_range(part['mean'], signed)})"
        for panel, where in SHORTLY.items()
        if len(part := lines[lines["panel"] == panel])
    ]


def beside_full_in_words(table: pd.DataFrame) -> str:
    """Two rankers beside olRankNet with the full covariance, on every data set; empty without runs.

    Args:
        table: the leads of `NEURAL[0]` over it, from `ol2r.papers.olranknet.figures.leads`.
    """
    told = [
        f"on {named(str(dataset))} {', '.join(_both_scores(lines))}"
        for dataset, lines in (table.groupby("dataset", sort=False) if len(table) else ())
    ]
    pair = f"{spelled(NEURAL[0])} beside olRankNet with the full covariance, both at m = {WIDTH}"
    return f"{pair}, after the last round: {'; '.join(told)}." if told else ""


def _seconds(frame: pd.DataFrame) -> pd.Series:
    """Seconds of a whole run of one replica, by variant and kind of users.

    Args:
        frame: of `Timing` cells of one data set, of runs that may differ in length.
    """
    last = frame[frame["round"] == frame.groupby("variant")["round"].transform("max")]
    return ((last["rank_seconds"] + last["update_seconds"]) / last["replicas"]).groupby(
        [last["variant"], last["users"]]
    ).mean()  # fmt: skip


def times_as_long(frame: pd.DataFrame, variant: str) -> pd.Series:
    """How many times as long a run takes as one of its rival of `RIVALS`, by kind of users; empty without timings.

    Args:
        frame: of `Timing` cells of one data set.
    """
    if frame.empty or not {variant, RIVALS[variant]} <= set(frame["variant"]):
        return pd.Series(dtype=float)
    seconds = _seconds(frame)
    return (seconds[variant] / seconds[RIVALS[variant]]).dropna()


def _times(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def forms_in_words(frame: pd.DataFrame, variants: Sequence[str]) -> str:
    """How long a round of each variant takes on average, in a sentence; empty without timings.

    Args:
        frame: of `Timing` cells of one data set under one kind of users.
        variants: in the order of the sentence.
    """
    if frame.empty:
        return ""
    last, seconds = at_own_end(frame), _seconds(at_own_end(frame)).groupby(level=0).mean()
    rounds = int(last["round"].max())
    each = [f"{spelled(name)} {_times(1e3 * seconds[name] / rounds)} ms" for name in variants if name in seconds]
    return f"On average over {rounds:,} rounds a round takes {joined(each)}." if each else ""


def slowing_in_words(frame: pd.DataFrame, variants: Sequence[str]) -> str:
    """What a round costs in the first and in the last window between checkpoints; empty without timings."""
    if frame.empty:
        return ""
    table, told = speeds(frame), []
    for name in variants:
        own = table[table["variant"] == name].sort_values("round")
        if len(own):
            first, last = (1e3 / own["speed"].iloc[place] for place in (0, -1))
            told.append(f"{spelled(name)} from {_times(first)} to {_times(last)} ms a round")
    return f"From the first window between checkpoints to the last: {'; '.join(told)}." if told else ""


def equal_in_words(results: Mapping[str, Results], dataset: str) -> str:
    """What two rankers have more than intervals after the same seconds (the contrasts of PPX2), on one data set.

    Contrasts without timings, or with too few runs for an interval, are left out.
    """
    (claim,) = (each for each in CLAIMS if each.id == "PPX2")
    told: dict[str, list[str]] = {}
    for contrast in (each for part in claim.parts for each in part.contrasts):
        lines = []
        for users in USERS:
            with suppress(NotMeasured, TooFewSeeds):
                effect = contrast.effect(results, dataset, users)
                lines.append((users, effect.estimate, *effect.interval()))
        if lines:
            table = pd.DataFrame(lines, columns=["users", "mean", "low", "high"])
            pair, _, when = contrast.label.rpartition(", ")
            said = f"{when} {_sides_in_words(table)} ({in_range(table['mean'], signed)})"
            told.setdefault(spelled(pair), []).append(said)
    pairs = "; ".join(f"{pair}: {', '.join(parts)}" for pair, parts in told.items())
    return f"After the same seconds, in offline NDCG@10: {pairs}." if told else ""


CALLED = {"linear": "linear rankers", "neural": "networks"}
"""What sentences on shared histories call the families."""


def wrong_in_words(frame: pd.DataFrame, noise: float) -> str:
    """Of the certain orders of documents with different grades, on shared histories, which share grades contradict
    early on, for two rankers, for ten and for intervals; and whether two have more of them.

    Args:
        frame: of `histories.Histories`, of one data set; empty without runs.
        noise: ν² of the rankers.
    """
    told = []
    for family, of in (("linear", linear), ("neural", neural)):
        own = frame[frame["family"] == family] if len(frame) else frame
        early = at_a_look(own, HISTORY) if len(own) else own
        if early.empty or noise not in set(early["noise"]):
            continue
        early = early[(early["quantity"] == "false certain") & early["noise"].isin((0.0, noise))]
        rival, means = RIVALS[of(2)], early.groupby(["variant", "users"])["value"].mean()
        called = {of(2): "N = 2", of(10): "N = 10", rival: spelled(rival)}
        there = means.index.get_level_values(0)
        shares = [f"{in_range(means[name], share)} with {word}" for name, word in called.items() if name in there]
        words = ("more", "fewer", "not clearly more or fewer")
        apart = [
            f"two beside {word}: {_sides_in_words(lines, words)}"
            for other, word in ((of(10), "ten"), (rival, spelled(rival)))
            if len(lines := differences(early, "value", of(2), other))
        ]
        more = f" ({'; '.join(apart)})" if apart else ""
        told.append(f"*{CALLED[family]}*, after {int(early['round'].iloc[0]):,} rounds, {joined(shares)}{more}")
    return (
        f"At ν² = {noise:g} so many of the certain orders of documents with different grades are wrong: "
        f"{'; '.join(told)}."
        if told
        else ""
    )


CHANGED_BY_NOISE = {
    "certain": "certain orders",
    "false certain": "wrong ones among those of different grades",
    BEFORE_TEN: "documents before place ten",
}
"""Shares on shared histories that a sentence compares at two sizes of the noise."""


def noise_sizes_in_words(frame: pd.DataFrame) -> str:
    """Whether certain orders, and wrong ones among them, are clearly more or fewer at the smaller ν² than at the larger
    early on, over pairs of N and users.

    Args:
        frame: of `histories.Histories`, of one data set; empty without both ν².
    """
    told = []
    for family, changes in _by_noise(frame).items():
        parts = []
        for quantity in ("certain", "false certain"):
            if quantity in changes:
                counts = {word: n for word, n in _clearly(changes[quantity]).items() if n} or {"more or fewer": 0}
                clear = joined([f"{word} in {n}" for word, n in counts.items()])
                parts.append(f"{CHANGED_BY_NOISE[quantity]} ({clear} of {len(changes[quantity])})")
        told.append(f"*{CALLED[family]}*, {', '.join(parts)}")
    asked = (
        f"**What does ν² do?** In so many pairs of N and users there are clearly more or fewer of these at "
        f"{SMALL_NOISE:g} than at {LARGE_NOISE:g}:"
    )
    return f"{asked} {'; '.join(told)}." if told else ""


def noise_shares_in_words(frame: pd.DataFrame) -> str:
    """By how much the smaller ν² changes shares on shared histories early on, and in how many pairs of N and users
    clearly.
    """
    told = []
    for family, changes in _by_noise(frame).items():
        parts = []
        for quantity, lines in changes.items():
            by, clear = in_range(100 * lines["mean"], lambda points: signed(points, 1)), _clearly(lines)
            counts = f"clearly more in {clear['more']} of {len(lines)}, fewer in {clear['fewer']}"
            parts.append(f"{CHANGED_BY_NOISE[quantity]} {by} ({counts})")
        told.append(f"*{CALLED[family]}*, {', '.join(parts)}")
    asked = (
        f"Shares at ν² = {SMALL_NOISE:g} minus shares at {LARGE_NOISE:g} after a tenth of the rounds, in percentage "
        "points, over all pairs of N and users:"
    )
    return f"{asked} {'; '.join(told)}." if told else ""


def _by_noise(frame: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """By family and quantity, the shares at the smaller ν² minus those at the larger, after a tenth of the rounds."""
    found: dict[str, dict[str, pd.DataFrame]] = {}
    for family in CALLED if len(frame) else ():
        own = frame[frame["family"] == family]
        early = at_a_look(own, HISTORY) if len(own) else own
        changes = {quantity: _less_noise(early[early["quantity"] == quantity]) for quantity in CHANGED_BY_NOISE}
        if changes := {quantity: lines for quantity, lines in changes.items() if len(lines)}:
            found[family] = changes
    return found


def _clearly(lines: pd.DataFrame) -> dict[str, int]:
    """In how many lines an interval is above 0, and below it."""
    return {"more": int((lines["low"] > 0).sum()), "fewer": int((lines["high"] < 0).sum())}


def _less_noise(early: pd.DataFrame) -> pd.DataFrame:
    """A share at the smaller ν² minus the same at the larger, by N and users: from `figures.differences`."""
    small, large = f"{SMALL_NOISE:g}", f"{LARGE_NOISE:g}"
    parts = [
        differences(own.assign(variant=own["noise"].map("{:g}".format)), "value", small, large)
        for _, own in early[early["rankers"] > 0].groupby("rankers")
        if {SMALL_NOISE, LARGE_NOISE} <= set(own["noise"])
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def early(frame: pd.DataFrame, own_runs: pd.DataFrame) -> dict[str, tuple[set[str], set[str], set[str]]]:
    """How two rankers and ten differ at ν² = `LARGE_NOISE`, by family: where two are more ("better") or less ("worse")
    often wrongly certain, and where ten end with a better ranker, and with more regret. The mean of ten rankers may end
    above that of two by averaging alone.

    Args:
        frame: of `histories.Histories`, of one data set.
        own_runs: runs of ensembles by themselves ("certainty"), of one data set.

    Returns:
        No family that lacks runs.
    """
    found = {}
    for family, of in (("linear", linear), ("neural", neural)) if len(frame) and len(own_runs) else ():
        own = frame[frame["family"] == family]
        looked = at_a_look(own, HISTORY) if len(own) else own
        looked = looked[(looked["quantity"] == "false certain") & (looked["noise"] == LARGE_NOISE)]
        ends = at_own_family_end(own_runs[own_runs["noise"] == LARGE_NOISE])
        wrong = sides(differences(looked, "value", of(2), of(10)))
        ranker, regret = (sides(differences(ends, score, of(10), of(2))) for score in ("ndcg", "regret"))
        if wrong and ranker:
            found[family] = set(wrong), set(ranker), set(regret)
    return found


def followed_in_words(frame: pd.DataFrame, own_runs: pd.DataFrame) -> str:
    """How many rounds ensembles follow on shared histories, and how many they run by themselves, with a tenth of each.

    Args:
        frame, own_runs: as for `early_answer`; empty without shared histories.
    """
    ends = at_own_family_end(own_runs) if len(own_runs) else pd.DataFrame()
    told = []
    for family, called in (("linear", "linear rankers"), ("neural", "networks")):
        own = frame[frame["family"] == family] if len(frame) else frame
        if own.empty:
            continue
        last = int(own["round"].max())
        words = f"{called} follow {last:,} rounds, a tenth of which is {round(HISTORY * last):,}"
        alone = ends[ends["family"] == family] if len(ends) else ends
        if len(alone):
            words += f", and run {int(alone['round'].max()):,} by themselves"
        told.append(words)
    said = "; ".join(told)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def costs_in_words(frame: pd.DataFrame) -> str:
    """What ten rankers have more than two in runs of their own, offline and in regret, at the larger ν².

    Args:
        frame: of "certainty", of one data set; empty without runs.
    """
    told = []
    if frame.empty:
        return ""
    ends = at_own_family_end(frame[frame["noise"] == LARGE_NOISE])
    for of in (linear, neural):
        parts = []
        for column, called, words, told_as in (
            ("ndcg", "offline", SIDES, signed),
            ("regret", REGRET, ("more", "fewer", "not apart"), lambda value: signed(value, 2)),
        ):
            lines = differences(ends, column, of(10), of(2))
            if len(lines):
                parts.append(f"{called} {_sides_in_words(lines, words)} ({in_range(lines['mean'], told_as)})")
        if parts:
            told.append(f"{spelled(of(10))} beside {spelled(of(2))}: {'; '.join(parts)}.")
    return " ".join(told)


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


def chosen_in_words(table: pd.DataFrame) -> str:
    """The chosen setting of every grid on each data set, in a sentence for each data set."""
    won = table[chosen_together(table)]
    told = []
    for dataset, own in won.groupby("dataset", sort=False):
        each = [f"{spelled(str(line['grid']))}: {_setting(line)}" for line in frames.records(own)]
        told.append(f"Chosen on {named(str(dataset))}: {'; '.join(each)}.")
    return " ".join(told)


def _setting(line: Mapping[str, Any]) -> str:
    return ", ".join(f"{symbol} = {number(line[name])}" for name, symbol in SYMBOLS.items() if pd.notna(line.get(name)))


def budgets_in_words() -> str:
    """How many settings each ensemble and its rival had in tuning on each data set, and how many of them ran longer;
    and whether PairRank's values are those that are best for the shuffle that is shown."""
    had = [
        f"{spelled(name)}: {_budget(of.TUNED, name, tuning.TUNED.datasets_of(ensembles[0]), is_wide)}"
        for ensembles, rival, rivals, is_wide in (
            (LINEAR, PAIRRANK, pairrank, pairrank.is_wide),
            (NEURAL, OLRANKNET, olranknet, olranknet.is_wide),
        )
        for name, of in (*((each, tuning) for each in ensembles), (rival, rivals))
    ]
    shared, own = (
        {dataset: _setting(pairrank.TUNED.chosen(dataset, PAIRRANK, of)) for dataset in tuning.DATASETS}
        for of in (ALL, "PairRank_C")
    )
    others = [f"on {named(each)} ({own[each]}, not {shared[each]})" for each in own if own[each] != shared[each]]
    alone = f", which for both of its shuffles together is another {joined(others)}" if others else ""
    best = f"{PAIRRANK} has what is best for the shuffle that is shown here{alone}."
    return f"Settings that were tried, and in brackets how many of them ran longer: {'; '.join(had)}. {best}"


def _budget(tuned: Tuned, name: str, datasets: Sequence[str], is_wide: Callable[[str], bool]) -> str:
    """How many settings a grid has on each of some data sets, and how many of them ran longer."""
    each = [
        (len(tuned.grids[name].settings(is_wide(dataset))), named(dataset), len(tuned.shortlist(dataset, name)))
        for dataset in datasets
    ]
    return joined([f"{settings} on {dataset} ({longer})" for settings, dataset, longer in each])


def witness_in_words(frame: pd.DataFrame) -> str:
    """Where one run of two rankers and one of olRankNet ended, and where they stood when the main runs end; empty
    without runs.

    Args:
        frame: one run of each on one data set, with variant, round and ndcg.
    """
    pair = (NEURAL[0], OLRANKNET)
    if not {*pair} <= set(frame.get("variant", ())):
        return ""
    by_round = frame.set_index(["round", "variant"])["ndcg"]
    at = {int(each): by_round[each] for each in frame["round"].unique()}

    def scores(round_: int) -> str:
        return joined([f"{at[round_][name]:.3f} for {spelled(name)}" for name in pair])

    last = max(at)
    early = f", after {ROUNDS_HERE:,} rounds {scores(ROUNDS_HERE)}" if ROUNDS_HERE in at and ROUNDS_HERE < last else ""
    told = f"After {last:,} rounds offline NDCG@10 was {scores(last)}{early}."
    return f"{told} Single runs cannot tell which ranks better."


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
