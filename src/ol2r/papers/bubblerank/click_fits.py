"""What the fits of click models show: ours beside published ones, likelihood and perplexity, errors against sessions.

Frames are tables of `click_fit_cell`, each with its cell's labels as columns; this module neither fits nor draws.
"""

import numpy as np
import pandas as pd

from ol2r.experiments.effects import summarize
from ol2r.experiments.kinds.click_fit import HIDDEN, OTHERWISE, PUBLISHED, USUAL, Collection, Log, Simulated

CASE = ["users", "way"]


def under(frame: pd.DataFrame, **changed: str | float) -> pd.DataFrame:
    """The fits to the raw log under the usual choices except those changed; an empty frame if there is no log."""
    kept = frame[frame["dataset"] == Log.dataset]
    for choice, value in (USUAL | changed).items() if len(kept) else ():
        kept = kept[kept[choice] == value]
    return kept


def positions(frame: pd.DataFrame) -> pd.DataFrame:
    """v of the DCM and χ of the PBM by position, published and ours: users, way, position, value.

    v of the last position, on which no click depends, is given only by the ways of fitting that count clicks.
    """
    both = pd.concat([frame[frame["dataset"] == Collection.dataset], under(frame)])
    kept = both[(both["quantity"] == "position parameter") & both["users"].isin(["DCM", "PBM"])]
    idle = (kept["users"] == "DCM") & kept["way"].isin(HIDDEN) & (kept["position"] == kept["position"].max())
    return kept.loc[~idle, [*CASE, "position", "value"]].reset_index(drop=True)


def agreement(table: pd.DataFrame) -> pd.DataFrame:
    """The parameters of each way of fitting against the published ones, position by position, on other queries.

    v of the last position is left out: no click depends on it.

    Returns:
        users, way, positions (number compared), correlation, difference (mean absolute), largest; published_rises and
        rises (of the published parameters and of ours: after how many of these positions the next one is larger).
    """
    wide = table.pivot_table(index="position", columns=CASE, values="value")
    lines = []
    for users, way in table[CASE].drop_duplicates().itertuples(index=False):
        if way == PUBLISHED or (users, PUBLISHED) not in wide:
            continue
        both = wide[[(users, PUBLISHED), (users, way)]].to_numpy()[: -1 if users == "DCM" else None]
        apart = np.abs(both[:, 1] - both[:, 0])
        rises = (np.diff(both, axis=0) > 0).sum(axis=0)
        line = {"users": users, "way": way, "positions": len(both), "correlation": np.corrcoef(both.T)[0, 1]}
        line |= {"difference": apart.mean(), "largest": apart.max(), "published_rises": rises[0], "rises": rises[1]}
        lines.append(line)
    return pd.DataFrame(lines)


def scores(frame: pd.DataFrame, **changed: str | float) -> pd.DataFrame:
    """The scores of each fit under some choices: users, way, part, and a column for each overall quantity."""
    kept = under(frame, **changed)
    kept = kept[(kept["position"] == 0) & (kept["part"] != "")]
    wide = kept.pivot_table(index=[*CASE, "part"], columns="quantity", values="value", sort=False)
    return wide.rename_axis(columns=None).reset_index()


def choices(frame: pd.DataFrame) -> pd.DataFrame:
    """The held-out scores under each choice in turn: choice, the columns of `scores`."""
    tables = []
    for changed in ({}, *OTHERWISE):
        ((name, value),) = changed.items() or (("usual", ""),)
        tables.append(scores(frame, **changed).assign(choice=f"{name} {value}".strip()))
    table = pd.concat(tables, ignore_index=True)
    return table[table["part"] == "held out"].drop(columns="part").reset_index(drop=True)


def foresight(frame: pd.DataFrame) -> pd.DataFrame:
    """Held-out perplexity by position: users, way, position, value."""
    kept = under(frame)
    kept = kept[(kept["quantity"] == "perplexity") & (kept["part"] == "held out") & (kept["position"] > 0)]
    return kept[[*CASE, "position", "value"]].reset_index(drop=True)


def recovery(frame: pd.DataFrame) -> pd.DataFrame:
    """Errors against sessions: users, way, quantity, sessions (of each query), and mean, low, high … over seeds."""
    return summarize(_errors(frame), "value", [*CASE, "quantity", "sessions"])


def rates(frame: pd.DataFrame) -> pd.DataFrame:
    """How errors fall: the least-squares slope of log error against log sessions, for each seed.

    Returns:
        users, way, quantity, mean, low, high … of the slope over seeds (−½ is the rate of independent sessions), and
        the mean error with the fewest and with the most sessions, first and last.
    """
    case = [*CASE, "quantity"]
    slopes = [
        (*own[[*case, "seed"]].iloc[0], np.polyfit(np.log(own["sessions"].astype(float)), np.log(own["value"]), 1)[0])
        for _, own in _errors(frame).groupby([*case, "seed"], sort=False)
    ]
    table = summarize(pd.DataFrame(slopes, columns=[*case, "seed", "slope"]), "slope", case)
    ends = (
        recovery(frame).sort_values("sessions", kind="stable").groupby(case, sort=False)["mean"].agg(["first", "last"])
    )
    return table.merge(ends.reset_index(), on=case)


def _errors(frame: pd.DataFrame) -> pd.DataFrame:
    kept = frame[(frame["dataset"] == Simulated.dataset) & (frame["position"] == 0)]
    return kept.astype({"sessions": int})
