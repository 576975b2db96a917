"""What a start from an offline ranker gains, and a wrong one costs: expectations, declared before their results, and
what was found.

A learner begins from the weights of RankNet that was fitted to the labels of a few queries, or from a tenth of them,
which ranks the same and is less sure. Turned round, the same weights are a wrong start of the same length. What is
expected of each learner is written here, and was before any run from these weights. The scores of learners that begin
untrained were known then, and how long the weights are; the score of the offline ranker itself was not looked at. The
reasons are about MQ2008; the other data set, where learners have other tuned values, is asked the same.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.clicks.cascade import USERS
from ol2r.papers.comparison.expected import AGAINST, AS_EXPECTED, FROM, MARGIN, OPEN, Side, counted, outcome
from ol2r.papers.comparison.grid import NSGD, STARTERS, STARTS, UNTRAINED
from ol2r.papers.comparison.measures import interval_of, of_runs
from ol2r.report.leads import in_range, joined
from ol2r.report.style import spelled
from ol2r.report.tables import interval, myst, named, plain, signed

MEASURES = {
    "early": "the ranker after a tenth of the rounds",
    "offline": "the ranker after the last round",
    "lists": "the lists shown in all rounds",
}
"""What is compared, by its column in `measures.of_runs`; all are NDCG@10."""
MARKS = {AS_EXPECTED: "are as expected", AGAINST: "are against it", OPEN: "are open"}
RIGHT, RIGHT_TENTH, WRONG_TENTH, WRONG = STARTS
REAL = ("navigational", "informational")
"""Users whose clicks are noisy."""


class Expected(NamedTuple):
    """What is expected of some starts beside an untrained learner.

    Args:
        learners: whose starts; starts: which of `STARTS`; users: under which users.
        measures: columns of `MEASURES`.
        side: `"near"` (less than `MARGIN` away), `"lower"` or `"higher"` (by more than `MARGIN`).
    """

    learners: tuple[str, ...]
    starts: tuple[str, ...]
    users: tuple[str, ...]
    measures: tuple[str, ...]
    side: Side
    because: str


PAIRRANK, PDGD, DBGD, EPSILON = (each for each in STARTERS if each != NSGD)
EXPECTED = (
    Expected(
        (PAIRRANK,), (RIGHT_TENTH, WRONG_TENTH), USERS, ("offline",), "near",
        "the ridge pulls with λ against the sum over all pairs, so a start of moderate length counts as 1/n, and its "
        "intervals, which know nothing of the start, begin as wide as ever and leave such scores open",
    ),
    Expected(
        (PAIRRANK,), (RIGHT,), REAL, ("early", "offline", "lists"), "higher",
        "pairs from noisy clicks say little each, so a long start outweighs them for long",
    ),
    Expected(
        (PAIRRANK,), (WRONG,), USERS, ("early", "lists"), "lower",
        "scores so far apart leave no interval that overlaps, so it shows the reversed order without exploring",
    ),
    Expected(
        (PAIRRANK,), (WRONG,), ("perfect",), ("offline",), "near",
        "every click on a reversed list contradicts it, and clicks without noise outweigh λ in this many rounds",
    ),
    Expected(
        (PAIRRANK,), (WRONG,), REAL, ("offline",), "lower", "pairs from noisy clicks say too little to outweigh it",
    ),
    Expected(
        (PDGD,), (RIGHT_TENTH, WRONG_TENTH), USERS, ("offline",), "near",
        "scores near each other leave lists random and gradients large, so a start is forgotten at the speed of steps",
    ),
    Expected(
        (PDGD,), (RIGHT,), USERS, ("lists",), "higher",
        "it begins with lists that are hardly random, where an untrained one begins with all lists equally likely",
    ),
    Expected(
        (PDGD,), (RIGHT,), USERS, ("offline",), "lower",
        "the gradient of a pair vanishes as its scores move apart, so it stays about where few labels put it",
    ),
    Expected(
        (PDGD,), (WRONG,), USERS, ("early", "offline", "lists"), "lower",
        "the gradient vanishes for wrong pairs as for right ones, and the weight of a pair that is clicked against the "
        "scores is small as well, for its exchange is the less likely list",
    ),
    Expected(
        (DBGD,), (RIGHT, RIGHT_TENTH), USERS, ("early", "lists"), "higher",
        "untrained it is the slowest of all, and a start needs no duels",
    ),
    Expected(
        (DBGD,), (WRONG, WRONG_TENTH), USERS, ("early", "offline", "lists"), "lower",
        "its short steps in random directions do not come further in all rounds than a tenth of the start is long",
    ),
    Expected(
        (NSGD,), (RIGHT_TENTH, WRONG_TENTH), USERS, ("offline",), "near",
        "its steps are ten times DBGD's and it begins from a random unit vector anyway, which a tenth of the start "
        "is hardly longer than",
    ),
    Expected(
        (NSGD,), (RIGHT,), USERS, ("early", "lists"), "higher",
        "a random unit vector is no better than chance, and candidates near so long a start show nearly its own lists",
    ),
    Expected(
        (NSGD,), (WRONG,), USERS, ("early", "offline", "lists"), "lower",
        "candidates at distance δ from so long a start show nearly its own lists, so few of them win",
    ),
    Expected(
        (EPSILON,), (RIGHT,), USERS, ("offline",), "lower",
        "its step is so short that it stays where few labels put it, and untrained it ends near the offline ranker "
        "of all labels",
    ),
    Expected(
        (EPSILON,), (WRONG, WRONG_TENTH), USERS, ("early", "offline", "lists"), "lower",
        "its step is so short that all steps together do not come further than a tenth of the start is long",
    ),
)  # fmt: skip


def expected_of(variant: str, start: str, users: str, measure: str) -> Side | None:
    """What is expected of a start, or None where nothing is."""
    return next(
        (
            each.side
            for each in EXPECTED
            if variant in each.learners and start in each.starts and users in each.users and measure in each.measures
        ),
        None,
    )


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    """What each start changes, paired by run with the untrained learner.

    Args:
        frame: runs with `variant`, `began`, ndcg, cndcg, misordered.

    Returns:
        dataset, variant, users, began, measure (of `MEASURES`), cold (the untrained learner's mean), mean (what the
        start has more) with low and high, expected (a side, or None), outcome (empty where nothing is expected).
    """
    run, by, lines = ["fold", "seed"], ["dataset", "variant", "users"], []
    scores = {began: of_runs(own) for began, own in frame.groupby("began", sort=False)} if len(frame) else {}
    cold = dict(list(scores[UNTRAINED].groupby(by))) if UNTRAINED in scores else {}
    for began in (each for each in STARTS if each in scores):
        for (dataset, variant, users), own in frames.groups(scores[began], by):
            base = cold[dataset, variant, users].set_index(run)
            for measure in MEASURES:
                found = interval_of((own.set_index(run)[measure] - base[measure]).dropna())
                side = expected_of(str(variant), began, str(users), measure)
                judged = outcome(side, *found[1:]) if side else ""
                level = base[measure].mean()
                lines.append((dataset, variant, users, began, measure, level, *found, side, judged))
    columns = ["dataset", "variant", "users", "began", "measure", "cold", "mean", "low", "high", "expected", "outcome"]
    return pd.DataFrame(lines, columns=columns)


def forgotten(frame: pd.DataFrame) -> pd.DataFrame:
    """How long each start lasts: from which round on the ranker is no longer apart from the untrained learner's.

    Args:
        frame: runs with `variant`, `began`, round, ndcg.

    Returns:
        dataset, variant, users, began, at_first (the difference before the first round, a mean over runs), round (the
        first checkpoint from which on every whole interval of the difference is within `MARGIN`, if there are at least
        two such checkpoints; infinite otherwise).
    """
    run, by, lines = ["fold", "seed", "round"], ["dataset", "variant", "users"], []
    for key, own in frames.groups(frame, by) if len(frame) else ():
        scores = {began: part.set_index(run)["ndcg"] for began, part in own.groupby("began", sort=False)}
        for began in (each for each in STARTS if each in scores):
            apart = (scores[began] - scores[UNTRAINED]).dropna().groupby("round")
            found = {round_: interval_of(values.droplevel("round")) for round_, values in apart}
            far = [nth for nth, (_, low, high) in enumerate(found.values()) if not (low >= -MARGIN and high <= MARGIN)]
            rounds = list(found)[far[-1] + 1 if far else 0 :]
            first = next(iter(found.values()))[0]
            lines.append((*key, began, first, rounds[0] if len(rounds) > 1 else np.inf))
    return pd.DataFrame(lines, columns=[*by, "began", "at_first", "round"])


def _who(each: Expected) -> str:
    users = "all users" if each.users == USERS else f"{joined(each.users)} users"
    return f"*{_named(each.learners[0])}*, {' and '.join(each.starts)}, {users}"


def expectations(table: pd.DataFrame) -> str:
    """What is expected, as a list, with what was found where there are runs.

    Args:
        table: from `differences`, of any data sets.
    """
    return "\n".join(
        f"- {_who(each)}: {joined([MEASURES[m] for m in each.measures])} {FROM[each.side]} the untrained learner, "
        f"because {each.because}.{found(each, table)}"
        for each in EXPECTED
    )


def found(each: Expected, table: pd.DataFrame) -> str:
    """How many differences on each data set are as an expectation has it, and how many against it, with their range;
    empty without runs.

    Args:
        table: from `differences`, of any data sets.
    """
    own = table[
        table["variant"].isin(each.learners) & table["began"].isin(each.starts) & table["users"].isin(each.users)
        & table["measure"].isin(each.measures)
    ]  # fmt: skip
    parts = []
    for (dataset,), lines in frames.groups(own, ["dataset"]):
        parts.append(f"on {named(dataset)} {counted(list(lines['outcome']))} ({in_range(lines['mean'], signed)})")
    return f" **Found:** {'; '.join(parts)}." if parts else ""


def verdicts_in_words(table: pd.DataFrame) -> str:
    """How many differences on each data set are as expected, against it and open; empty without runs.

    Args:
        table: from `differences`, of any data sets.
    """
    sentences = []
    for (dataset,), own in frames.groups(table[table["outcome"] != ""], ["dataset"]):
        counts = own["outcome"].value_counts()
        told = joined([f"{counts.get(mark, 0)} {word}" for mark, word in MARKS.items()])
        sentences.append(f"On {named(dataset)}, of {len(own)} differences of which something was expected, {told}.")
    return " ".join(sentences)


def itself_in_words(frame: pd.DataFrame) -> str:
    """How good each data set's offline ranker is before the first round and turned round, and where learners end that
    begin from it; empty without runs.

    Args:
        frame: runs with `variant`, `began`, round, ndcg.
    """
    told = []
    for (dataset,), own in frames.groups(frame, ["dataset"]) if len(frame) else ():
        first = own[own["round"] == 0].groupby("began")["ndcg"].mean()
        last = own[(own["round"] == own["round"].max()) & (own["began"] == RIGHT)]
        ends = last.groupby("variant")["ndcg"].mean().sort_values(kind="stable")
        low, high = (f"{ends.iloc[nth]:.3f} ({_named(ends.index[nth])})" for nth in (0, -1))
        told.append(
            f"On {named(dataset)} the ranker of few labels itself has NDCG@10 of {first[RIGHT]:.3f}, and "
            f"{first[WRONG]:.3f} turned round. Who serves it and learns nothing keeps that; learners that begin from "
            f"it end at {low} to {high}, averaged over kinds of users."
        )
    return " ".join(told)


def _named(variant: object) -> str:
    return plain(spelled(str(variant)))


def _range(table: pd.DataFrame, began: str, measure: str) -> str:
    """The learners whom a start changes least and most upwards, with their differences."""
    own = table[(table["began"] == began) & (table["measure"] == measure)]
    means = own.groupby("variant", sort=False)["mean"].mean().sort_values(kind="stable")
    ends = dict.fromkeys((means.index[0], means.index[-1]))
    return " to ".join(f"{signed(means[name])} ({_named(name)})" for name in ends)


def _forgotten_in_words(lasting: pd.DataFrame, began: str) -> str:
    """Who forgets a start within the rounds, and from which round on."""
    gone = lasting[(lasting["began"] == began) & np.isfinite(lasting["round"])]
    told = []
    for (name,), own in frames.groups(gone, ["variant"]):
        since = ", ".join(f"{line.round:,.0f} under {line.users}" for line in frames.rows(own))
        told.append(f"{_named(name)} (from round {since} users)")
    return joined(told) if told else "nobody"


def answer(table: pd.DataFrame, lasting: pd.DataFrame) -> str:
    """What a right start gains, what a wrong one loses, and who forgets it: of one data set, means over users.

    Args:
        table: from `differences`; lasting: from `forgotten`; both of one data set.
    """
    if table.empty:
        return ""
    return (
        f"A right start changes the shown lists by {_range(table, RIGHT, 'lists')}, and the ranker after the last "
        f"round by {_range(table, RIGHT, 'offline')}. A wrong one changes the lists by "
        f"{_range(table, WRONG, 'lists')}, and the ranker by {_range(table, WRONG, 'offline')}. The wrong start is "
        f"forgotten by {_forgotten_in_words(lasting, WRONG)}; one of a tenth of its length by "
        f"{_forgotten_in_words(lasting, WRONG_TENTH)}."
    )


def told(
    table: pd.DataFrame, measure: str, lasting: pd.DataFrame | None = None, *, name: str, caption: str
) -> str:
    """One measure's scores of untrained learners and differences to them as a numbered MyST table: a line for each
    learner and start, a column for each kind of users.

    Args:
        table: from `differences`; lasting: from `forgotten`, for a last column; both of one data set.
    """
    own = table[table["measure"] == measure]
    users = [kind for kind in USERS if kind in set(own["users"])]
    rounds = None if lasting is None else lasting.set_index(["variant", "began", "users"])["round"]
    rows = []
    for variant, began in product(STARTERS, (UNTRAINED, *STARTS)):
        of_start = RIGHT if began == UNTRAINED else began
        by_users = own[(own["variant"] == variant) & (own["began"] == of_start)].set_index("users")
        if by_users.empty:
            continue
        row = [_named(variant), began]
        if began == UNTRAINED:
            levels = [f"{frames.line(by_users, kind)['cold']:.3f}" for kind in users]
            rows.append([*row, *levels, *([] if rounds is None else ["–"])])
            continue
        for kind in users:
            one = frames.line(by_users, kind)
            row.append(f"{signed(one['mean'])} {interval(one['low'], one['high'])} {one['outcome']}".strip())
        if rounds is not None:
            since = [rounds.get((variant, began, kind), np.inf) for kind in users]
            row.append(" / ".join(f"{each:,.0f}" if np.isfinite(each) else "–" for each in since))
        rows.append(row)
    last = [] if rounds is None else ["as untrained from round"]
    return myst(["learner", "start", *users, *last], rows, name=name, caption=caption)
