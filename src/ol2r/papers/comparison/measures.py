"""What the comparison measures of every run, and what a round costs: one line for each run, from which all figures,
tables and decisions are made.

Frames have one line for each run and checkpoint with a column `variant`. This module knows no learner.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from ol2r.experiments.effects import at_own_end, effect_over_runs, resampled_interval, summarize
from ol2r.papers.olranknet.figures import in_lists

RUN = ["dataset", "users", "variant", "fold", "seed"]
EARLY = 0.1
"""The share of the rounds after which a ranker is looked at early."""
NEAR = 0.9
"""The share of the offline ranker's score that is waited for."""


def of_runs(frame: pd.DataFrame, reference: pd.DataFrame | None = None) -> pd.DataFrame:
    """What was measured of each run.

    Args:
        frame: runs with ndcg, cndcg, misordered and round.
        reference: an offline ranker's `test_ndcg` by dataset and fold, any number of lines of each; None or empty where
            there is none.

    Returns:
        dataset, users, variant, fold, seed; offline (NDCG@10 on test queries after the last round), early (the same
        after `EARLY` of the rounds, or at the last checkpoint before that), lists (mean NDCG@10 of the shown lists, in
        which round t counts γ^(t−1) times), regret (misordered pairs of shown documents a round), near (the first
        checkpoint with at least `NEAR` of the reference's score in the same fold; NaN where there is none).
    """
    if frame.empty:
        return pd.DataFrame(columns=[*RUN, "offline", "early", "lists", "regret", "near"])
    last = at_own_end(frame).set_index(RUN)
    started = frame[frame["round"] > 0]
    shown = at_own_end(in_lists(started)).set_index(RUN)["in_lists"]
    soon = started[started["round"] <= EARLY * started.groupby("dataset")["round"].transform("max")]
    early = soon[soon["round"] == soon.groupby("dataset")["round"].transform("max")].set_index(RUN)["ndcg"]
    table = pd.DataFrame({
        "offline": last["ndcg"],
        "early": early.reindex(last.index),
        "lists": shown.reindex(last.index),
        "regret": last["misordered"] / last["round"],
        "near": _near(started, reference).reindex(last.index),
    })  # fmt: skip
    return table.reset_index()


def _near(frame: pd.DataFrame, reference: pd.DataFrame | None) -> pd.Series:
    """The first checkpoint of every run that comes near the reference, for those that do."""
    if reference is None or reference.empty:
        return pd.Series(dtype=float, index=pd.MultiIndex.from_frame(frame[RUN][:0]))
    level = reference.groupby(["dataset", "fold"])["test_ndcg"].first()
    own = level.reindex(pd.MultiIndex.from_frame(frame[["dataset", "fold"]])).to_numpy()
    return frame[frame["ndcg"].to_numpy() >= NEAR * own].groupby(RUN)["round"].min()


def over_users(table: pd.DataFrame, column: str, users: Sequence[str] | None = None) -> pd.DataFrame:
    """A number of each run, averaged over kinds of users, which meet the same queries.

    Args:
        table: variant, users, fold, seed and the column.
        users: the kinds to average over (None: all); runs without one of them are left out.

    Returns:
        Float[runs, variants]: indexed by (fold, seed), a column for each variant; NaN where a run is missing.
    """
    own = table if users is None else table[table["users"].isin(users)]
    wide = own.pivot(index=["fold", "seed"], columns=["variant", "users"], values=column)  # noqa: PD010 (refuses doubles)
    return wide.T.groupby(level="variant", sort=False).mean().T if wide.notna().all(axis=None) else _whole(wide)


def _whole(wide: pd.DataFrame) -> pd.DataFrame:
    """Means over users of the runs that have all of them."""
    names = dict.fromkeys(wide.columns.get_level_values("variant"))
    return pd.DataFrame({name: wide[name].mean(axis=1, skipna=False) for name in names})


def summary(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Means of some numbers over runs with 95 % intervals, for every kind of users and learner.

    Returns:
        dataset, users, variant, mean, deviation, n, low, high, score (the name of the number).
    """
    parts = [summarize(table, column, ["dataset", "users", "variant"]).assign(score=column) for column in columns]
    return pd.concat(parts, ignore_index=True)


def interval_of(values: pd.Series) -> tuple[float, float, float]:
    """The mean of runs with its 95 % interval, which is NaN where there are too few runs.

    Args:
        values: one finite number for each run, indexed by (fold, seed).
    """
    effect = effect_over_runs(values)
    return (effect.estimate, *effect.interval()) if effect else (float(values.mean()), np.nan, np.nan)


def over_baseline(runs: pd.DataFrame, learners: Sequence[str], baselines: Sequence[str]) -> pd.DataFrame:
    """What some learners have more than the best of the baselines on each data set, averaged over kinds of users.

    The best baseline is the one of the highest mean on the very runs that are compared.

    Args:
        runs: from `of_runs`.

    Returns:
        learner, dataset, score ("offline" or "lists"), baseline (the best one), mean, low, high; no line for a learner
        that was not run on a data set.
    """
    lines = []
    for (dataset, own), score in product(runs.groupby("dataset", sort=False), ("offline", "lists")):
        wide = over_users(own, score)
        best = str(wide[[name for name in baselines if name in wide]].mean().idxmax())
        for learner in (name for name in learners if name in wide):
            gain = (wide[learner] - wide[best]).dropna()
            lines.append((learner, dataset, score, best, *interval_of(gain)))
    return pd.DataFrame(lines, columns=["learner", "dataset", "score", "baseline", "mean", "low", "high"])


def resampled_leads(runs: pd.DataFrame, best: Mapping[str, str]) -> pd.DataFrame:
    """What a chosen learner has more than every other one, with intervals over seeds, and over folds and seeds.

    Args:
        runs: from `of_runs`, of one data set.
        best: by number of each run ("offline", "lists"), the chosen learner.

    Returns:
        score (the number), best, variant (the other one), mean, low and high (over seeds within these folds), fold_low
        and fold_high (a bootstrap over folds and seeds; NaN where there is one fold).
    """
    lines = []
    for score, first in best.items():
        wide = over_users(runs, score)
        for name in (name for name in wide if name != first):
            lead = (wide[first] - wide[name]).dropna()
            lines.append((score, first, name, *interval_of(lead), *resampled_interval(lead, f"{score} {name}")))
    return pd.DataFrame(lines, columns=["score", "best", "variant", "mean", "low", "high", "fold_low", "fold_high"])


def costs(frame: pd.DataFrame) -> pd.DataFrame:
    """What a round of each learner costs.

    Args:
        frame: of `Timing` and `Footprint` cells of one data set, with `variant`.

    Returns:
        variant, milliseconds (of a round, on average over the run), first and last (the same, of the first and the last
        window between checkpoints), kept (bytes that the learner keeps after the last round; NaN where not measured).
    """
    lines = []
    for name, own in frame.groupby("variant", sort=False) if len(frame) else ():
        timed = own.dropna(subset="rank_seconds").sort_values("round")
        spent = ((timed["rank_seconds"] + timed["update_seconds"]) / timed["replicas"]).to_numpy() * 1e3
        rounds = timed["round"].to_numpy()
        if not len(rounds):
            continue
        windows = np.diff(spent, prepend=0.0) / np.diff(rounds, prepend=0)
        kept = own["kept"].dropna() if "kept" in own else pd.Series(dtype=float)
        size = float(kept.iloc[0]) if len(kept) else np.nan
        lines.append((name, spent[-1] / rounds[-1], windows[0], windows[-1], size))
    return pd.DataFrame(lines, columns=["variant", "milliseconds", "first", "last", "kept"])


def unsafe(frame: pd.DataFrame) -> pd.DataFrame:
    """How many of a hundred lists violate the safety constraint, over all rounds of each run.

    Args:
        frame: of `Safety` cells, with `variant`.

    Returns:
        dataset, users, variant, fold, seed, violations (of a hundred rounds).
    """
    if frame.empty:
        return pd.DataFrame(columns=[*RUN, "violations"])
    last = at_own_end(frame)
    return last[RUN].assign(violations=100 * last["violations"] / last["round"]).reset_index(drop=True)


def worst_luck(frame: pd.DataFrame, as_tuned: str) -> pd.DataFrame:
    """Every run at the unlucky choice that is worse on average, and what it lacks to the tuned one.

    The choice is made by means, for the worse one of two noisy scores of a run would be below the tuned score even if
    nothing depended on the choice.

    Args:
        frame: runs with `luck` and ndcg.
        as_tuned: the value of `luck` of the tuned choice.

    Returns:
        dataset, users, variant, fold, seed, offline (after the last round, at the worse choice), lacks (how much less
        that is than as tuned).
    """
    if frame.empty:
        return pd.DataFrame(columns=[*RUN, "offline", "lacks"])
    last = at_own_end(frame)
    unlucky, of = last[last["luck"] != as_tuned], ["dataset", "users", "variant"]
    means = unlucky.groupby([*of, "luck"], sort=False)["ndcg"].mean().reset_index()
    worse = means.loc[means.groupby(of, sort=False)["ndcg"].idxmin(), [*of, "luck"]]
    bad = unlucky.merge(worse, on=[*of, "luck"]).set_index(RUN)["ndcg"]
    tuned = last[last["luck"] == as_tuned].set_index(RUN)["ndcg"]
    return pd.DataFrame({"offline": bad, "lacks": tuned.reindex(bad.index) - bad}).reset_index()
