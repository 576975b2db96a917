"""What a start from an offline ranker gains, and a wrong one costs.

A learner begins from the weights of RankNet that was fitted to the labels of a few queries, or from a tenth of them,
which ranks the same and is less sure. Turned round, the same weights are a wrong start of the same length. What was
expected of each learner (`expected.EXPECTED`) was written before any run from these weights. The scores of learners
that begin untrained were known then, and how long the weights are; the score of the offline ranker itself was not
looked at. The reasons are about MQ2008; the other data set, where learners have other tuned values, is asked the same.
"""

from itertools import product

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.clicks.cascade import USERS
from ol2r.papers.comparison.expected import MARGIN, across, entry, judged
from ol2r.papers.comparison.grid import STARTERS, STARTS, UNTRAINED
from ol2r.papers.comparison.measures import interval_of, of_runs
from ol2r.report import said
from ol2r.report.style import spelled
from ol2r.report.tables import Column, columns, plain

MEASURES = {
    "early": "the ranker after a tenth of the rounds",
    "offline": "the ranker after the last round",
    "lists": "the lists shown in all rounds",
}
"""What is compared, by its column in `measures.of_runs`; all are NDCG@10."""
RIGHT, RIGHT_TENTH, WRONG_TENTH, WRONG = STARTS


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    """What each start changes, paired by run with the untrained learner.

    Args:
        frame: runs with `variant`, `began`, ndcg, cndcg, misordered.

    Returns:
        dataset, variant, users, began, measure (of `MEASURES`), cold (the untrained learner's mean), mean
        (what the start has more) with low and high, outcome (empty where nothing is expected).
    """
    run, by, lines = ["fold", "seed"], ["dataset", "variant", "users"], []
    scores = {began: of_runs(own) for began, own in frame.groupby("began", sort=False)} if len(frame) else {}
    cold = dict(list(scores[UNTRAINED].groupby(by))) if UNTRAINED in scores else {}
    for began in (each for each in STARTS if each in scores):
        for (dataset, variant, users), own in frames.groups(scores[began], by):
            base = cold[dataset, variant, users].set_index(run)
            for measure in MEASURES:
                found = interval_of((own.set_index(run)[measure] - base[measure]).dropna())
                lines.append((dataset, variant, users, began, measure, base[measure].mean(), *found))
    names = ["dataset", "variant", "users", "began", "measure", "cold", "mean", "low", "high"]
    return judged(pd.DataFrame(lines, columns=names), "starts")


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


def over_users(table: pd.DataFrame, dataset: str, began: str, measure: str) -> pd.Series:
    """What a start changes for each of `STARTERS`, mean over kinds of users; NaN where it was not run.

    Args:
        table: from `differences`.
    """
    own = said.matching(table, dataset=dataset, began=began, measure=measure)
    return own.groupby("variant")["mean"].mean().reindex(STARTERS)


def levels(frame: pd.DataFrame, dataset: str) -> tuple[pd.Series, pd.Series]:
    """NDCG@10 on a data set, means over runs and kinds of users, NaN where nothing was run: of each start before the
    first round, and after the last round of each of `STARTERS` that began from the right one.

    Args:
        frame: runs with `variant`, `began`, round, ndcg.
    """
    own = said.matching(frame, dataset=dataset)
    if own.empty:
        return pd.Series(np.nan, list(STARTS)), pd.Series(np.nan, list(STARTERS))
    first, last = own[own["round"] == 0], own[(own["round"] == own["round"].max()) & (own["began"] == RIGHT)]
    return first.groupby("began")["ndcg"].mean(), last.groupby("variant")["ndcg"].mean().reindex(STARTERS)


def told(table: pd.DataFrame, measure: str, lasting: pd.DataFrame | None = None, *, name: str, caption: str) -> str:
    """One measure's scores of untrained learners and differences to them as a numbered MyST table: a line for each
    learner and start, a column for each kind of users.

    Args:
        table: from `differences`; lasting: from `forgotten`, for a last column; both of one data set.
    """
    own, of = table[table["measure"] == measure], ["variant", "began"]
    both = pd.concat([own.drop_duplicates(["variant", "users"]).assign(began=UNTRAINED), own])
    wide = across(both, of, "users", lambda line: f"{line.cold:.3f}" if line.began == UNTRAINED else entry(line))
    wide = wide.set_index(of)
    shown = {kind: f"{{{kind}}}" for kind in USERS if kind in wide}
    if lasting is not None:
        rounds = lasting.sort_values("users", key=lambda kinds: kinds.map(USERS.index), kind="stable")
        since = rounds["round"].map(lambda each: f"{each:,.0f}" if np.isfinite(each) else "–")
        wide["since"] = since.groupby([rounds[each] for each in of]).agg(" / ".join).reindex(wide.index).fillna("–")
        shown["as untrained from round"] = "{since}"
    order = [each for each in product(STARTERS, (UNTRAINED, *STARTS)) if each in wide.index]
    header: dict[str, Column] = {"learner": lambda line: plain(spelled(line.variant)), "start": "{began}"}
    return columns(wide.loc[order].reset_index(), header | shown, name=name, caption=caption)
