"""What the audits of BubbleRank's theory say: event E, randomized pairs, and regret against Theorem 1, as tables.

Frames are stored tables of `play_cell`, each with its cell's labels as columns. Bounds come from `theory.bubblerank`,
whose `printed_…` functions are the paper's statements to the letter. This module neither plays nor draws. Claim BRT3
takes its bounds from `regret_against_bounds`; all else is shown beside the claims and decides none of them.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.experiments.cells import Cell
from ol2r.experiments.effects import at_own_end, share_interval
from ol2r.experiments.kinds.play import Play
from ol2r.experiments.kinds.query_bounds import Complexity, complexity
from ol2r.theory import bubblerank

AUDITED = ["users", "positions", "exponent"]
WORLD = ["dataset", "users", "fold"]
ROUNDING = 1e-9
"""Regret below this much in a step counts as 0, because rewards are sums of floats."""


# Event E, and what holds on it


def event_audit(frame: pd.DataFrame) -> pd.DataFrame:
    """How often event E held to the end of a run, and whether Lemmas 2 and 6 are true in the runs in which it held.

    Args:
        frame: the frame of the item "event", whose `cut` is K.

    Returns:
        A line for each click model, K and exponent of δ: users, positions, exponent, steps (n), worlds, runs, held (in
        how many E held), share with its exact 95 % interval low … high, promised (Lemma 9's 1 − δ^½ K² n, at least 0),
        proved (1 − δ² ⌈n/2⌉ K(K − 1)/2, at least 0); unsafe (share of runs with a list of more than |V₀| + K/2 wrong
        pairs), unsafe_held (such runs in which E held); pairs_ratio (the largest |P| / (K − 1 + 2|V₀|) of runs in which
        E held), pairs_over and exchanges_over (runs in which E held and |P| passed that, and in which it passed K − 1
        plus twice the number of exchanges made), pairs_over_broken (the first in the other runs); worse and worse_held
        (runs that ended with more wrong pairs in the base list than R₀ had: all, and those in which E held).
    """
    last = at_own_end(frame).rename(columns={"cut": "positions"})
    lines = []
    for key, own in frames.groups(last, AUDITED):
        line = dict(zip(AUDITED, key, strict=True))
        held = (own["event_broken"] == 0).to_numpy()
        allowed = bubblerank.randomized_pairs(line["positions"], own["initial_inversions"].to_numpy())
        exchanges = (own["initial_inversions"] - own["base_inversions"]).to_numpy()
        pairs, over = own["pairs"].to_numpy(), own["pairs"].to_numpy() > allowed
        unsafe, worse = (own["violations"] > 0).to_numpy(), exchanges < 0
        steps = int(own["round"].iloc[0])
        level = line["exponent"] * np.log(steps)
        low, high = share_interval(int(held.sum()), len(own))
        lines.append(
            line
            | {"steps": steps, "worlds": own["fold"].nunique(), "runs": len(own), "held": int(held.sum())}
            | {"share": held.mean(), "low": low, "high": high}
            | {"promised": max(0.0, 1 - float(bubblerank.printed_event_failure(line["positions"], steps, level)))}
            | {"proved": max(0.0, 1 - float(bubblerank.event_failure(line["positions"], steps, level)))}
            | {"unsafe": unsafe.mean(), "unsafe_held": int((unsafe & held).sum())}
            | {"pairs_ratio": float(np.max((pairs / allowed)[held], initial=0.0))}
            | {"pairs_over": int((over & held).sum()), "pairs_over_broken": int((over & ~held).sum())}
            | {"exchanges_over": _more_pairs_than_exchanges(pairs, line["positions"], exchanges, held)}
            | {"worse": int(worse.sum()), "worse_held": int((worse & held).sum())}
        )
    return pd.DataFrame(lines)


def _more_pairs_than_exchanges(pairs: np.ndarray, positions: int, exchanges: np.ndarray, held: np.ndarray) -> int:
    """In how many runs in which E held |P| exceeded K − 1 plus twice the number of exchanges made.

    On E each exchange removes one wrong pair, so the base list tells how many exchanges there were.
    """
    return int((pairs > bubblerank.randomized_pairs(positions, exchanges))[held].sum())


def pairs_by_inversions(frame: pd.DataFrame) -> pd.DataFrame:
    """|P| against |V₀| in the runs in which event E held: data of a figure.

    Returns:
        users, positions, inversions (|V₀|), runs, mean and most (of |P|), allowed (K − 1 + 2|V₀|), everything (all
        K(K − 1)/2 pairs).
    """
    last = at_own_end(frame).rename(columns={"cut": "positions", "initial_inversions": "inversions"})
    last = last[last["event_broken"] == 0]
    table = last.groupby(["users", "positions", "inversions"])["pairs"].agg(runs="size", mean="mean", most="max")
    table = table.reset_index()
    everything = table["positions"] * (table["positions"] - 1) // 2
    allowed = bubblerank.randomized_pairs(table["positions"].to_numpy(), table["inversions"].to_numpy())
    return table.assign(allowed=allowed, everything=everything)


# Regret against Theorem 1


def _complexities(cells: Iterable[Cell]) -> dict[tuple[str, int], Complexity]:
    """The complexity of every world, by the cell's key and the fold."""
    found = {}
    for cell in cells:
        play = cast(Play, cell)
        for fold, query in enumerate(play.users.queries(), 1):
            found[play.key, fold] = complexity(query, play.cut)
    return found


def regret_against_bounds(frame: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame:
    """BubbleRank's regret beside Theorem 1, as printed and as sharpened, at every checkpoint.

    Up to a checkpoint t the theorem holds with the δ of the horizon n that the bandit was told, and t for n elsewhere.

    Args:
        frame: runs of BubbleRank, of an item such as "bounds", with a known horizon.
        cells: the cells of the frame.

    Returns:
        A line for each cell, world and checkpoint: cell, dataset, users, fold, cut, freeze, round, positions,
        inversions (|V₀|), assumed (whether the assumptions hold), runs, regret (mean) with its standard error `error`,
        highest (of a run), everything (K · round, the paper's largest regret), leading and failure (Theorem 1's terms),
        bound (the less of their sum and everything), share (bound / everything), loose (bound / regret, missing where
        there is none); and the same of the sharpened bound: best (round · r(R*), what can be lost), proved,
        proved_share, proved_loose.
    """
    worlds = _complexities(cells)
    horizon = {cell.key: cast(Play, cell).checkpoints[-1] for cell in cells}
    keys = ["cell", *WORLD, "cut", "freeze", "exponent", "round"]
    table = frame.groupby(keys, sort=False)["regret"].agg(runs="size", regret="mean", error="sem", highest="max")
    table = table.reset_index()
    lines = []
    for row in frames.rows(table):
        world = worlds[row.cell, row.fold]
        level, t = row.exponent * np.log(horizon[row.cell]), int(row.round)
        printed, proved = world.printed(level, t), world.proved(level, t, bool(row.freeze))
        everything = float(world.positions * t)
        best = t * world.best
        bound, sharp = printed.within(everything), proved.within(best) if world.assumed else np.nan
        some = row.regret if row.regret > ROUNDING * t else np.nan
        lines.append(
            {"positions": world.positions, "inversions": world.inversions, "assumed": world.assumed}
            | {"everything": everything, "leading": printed.leading, "failure": printed.failure, "bound": bound}
            | {"share": bound / everything, "loose": bound / some}
            | {"best": best, "proved": sharp, "proved_share": sharp / best, "proved_loose": sharp / some}
        )
    return pd.concat([table.drop(columns="exponent"), pd.DataFrame(lines, index=table.index)], axis=1)


def where_it_is_loose(frame: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame:
    """Theorem 1's leading term over the regret at the end, as a product of what each step of the proof costs.

    Args: as for `regret_against_bounds`.

    Returns:
        A line for each world: dataset, users, fold, positions, inversions, freeze, regret (mean), ratio (leading term
        over regret) and its factors: lists (Lemma 3: K χ_max for S), pairs (Lemmas 4 to 6: 6 for each of K − 1 + 2|V₀|
        pairs, where 2 for a wrong one and ½ for another do), evidence (Lemma 7: 15 for 8, or 16 where statistics go
        on), gaps (1/Δ_min for every pair's own), left (what is proved over the regret). And confidence: by what
        log(1/δ) could be divided for what Lemma 9 promises, which no run here does. Worlds without regret, or in which
        the assumptions fail, are left out.
    """
    worlds = _complexities(cells)
    horizon = {cell.key: cast(Play, cell).checkpoints[-1] for cell in cells}
    last = at_own_end(frame)
    lines = []
    for key, own in frames.groups(last, ["cell", *WORLD, "freeze", "exponent"]):
        cell, dataset, users, fold, freeze, exponent = key
        world, regret, n = worlds[cell, fold], float(own["regret"].mean()), horizon[cell]
        if not world.assumed or regret <= ROUNDING * n:
            continue
        level, k, wrong = exponent * np.log(n), world.positions, world.inversions
        printed, proved = world.printed(level, n).leading, world.proved(level, n, bool(freeze)).leading
        largest, least = bubblerank.examination_extremes(world.examination)
        spread = bubblerank.displacement(world.earned, k)
        drift = world.gap / 2  # the least that the paper assumes for a pair
        weight = 2 * wrong + min(k - 1 + wrong, k * (k - 1) // 2 - wrong) / 2
        told = float(bubblerank.net_clicks(drift, level, bool(freeze)))
        needed = _level_for(float(bubblerank.printed_event_failure(k, n, level)), k, n)
        lines.append(
            {"dataset": dataset, "users": users, "fold": fold, "positions": k, "inversions": wrong}
            | {"freeze": freeze, "regret": regret, "ratio": printed / regret, "lists": k * largest / spread}
            | {"pairs": 6 * bubblerank.randomized_pairs(k, wrong) / weight}
            | {"evidence": float(bubblerank.printed_net_clicks(drift, level)) / told}
            | {"gaps": spread / least * weight * told / proved, "left": proved / regret}
            | {"confidence": level / needed}
        )
    return pd.DataFrame(lines)


def _level_for(failure: float, positions: int, steps: int) -> float:
    """The least ℓ at which event E is proved to fail with at most this probability."""
    return float(np.log(bubblerank.event_failure(positions, steps, 0.0) / failure)) / 2
