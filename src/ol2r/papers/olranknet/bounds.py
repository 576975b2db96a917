"""What the audits of olRankNet's theory say, as tables for figures and words.

Frames are the stored tables of `audit_cells`, each with its cell's labels as columns. The claims read the frames
themselves; what this module makes of them decides none.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ol2r.papers import audits
from ol2r.papers.audits import of_audit

SETTING = ["truth", "bound", "regularization", "width", "users", "assumed"]
"""What tells kinds of world of the coverage audits apart: truth of h, S, λ, m, users, and if these are as assumed."""
PROBABLE = ("martingale", "linear", "network", "current", "diagonal", "log det by rounds", "log det as printed")
"""Bounds that are to hold with probability 1 − δ₁; "diagonal" without proof."""
CERTAIN = ("radius", "log det")
"""Bounds that hold in every world."""
LOG_DETS = ("log det", "log det by rounds", "log det as printed", "log det by documents")
SCALES = tuple(float(scale) for scale in np.geomspace(1 / 256, 2, 55))
STATEMENTS = ("regret ≤ open", "open ≤ allowed", "wide ≤ most", "regret ≤ bound")
"""Steps of the proof of the regret bound."""
PAIRS = {"coverage": "matched", "every pair": "all"}
"""Which pairs of a list are labelled, by the audits that have log-determinants."""


def coverage_table(
    frame: pd.DataFrame, scales: Sequence[float] = (1.0, 0.5), quantities: Sequence[str] = (*PROBABLE, *CERTAIN)
) -> pd.DataFrame:
    """`audits.coverage_table` of these bounds by `SETTING`; the others than `CERTAIN` hold with probability 1 − δ₁."""
    return audits.coverage_table(of_audit(frame, "coverage", *quantities), SETTING, scales, CERTAIN)


def coverage_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "coverage against scale": Lemma 3.3 with all of A and with its diagonal, closely spaced."""
    return coverage_table(frame, SCALES, ("current", "diagonal"))


def needed_table(frame: pd.DataFrame) -> pd.DataFrame:
    """α_t beside the constants that would have been enough, and how far networks were from their linear models.

    Returns:
        The columns of `SETTING`, worlds; medians over worlds of alpha (α_t at the end), error (the largest ε_ij) and
        narrowing (κ); full and diagonal, the constants that would have covered all pairs at all looks in 1 − δ₁ of the
        worlds; and slack, the median of α_t over `full`.
    """
    names = {"width needed": "full", "diagonal width needed": "diagonal"}
    lines = []
    for key, own in of_audit(frame, "coverage").groupby(SETTING, sort=False):
        nominal = 1 - float(own["delta"].iloc[0])
        value = {name: each["value"] for name, each in own.groupby("quantity")}
        line: dict[str, Any] = dict(zip(SETTING, key, strict=True)) | {"worlds": len(value["width"])}
        line |= {"alpha": float(value["width"].median()), "error": float(value["error"].median())}
        line["narrowing"] = float(value["narrowing"].median())
        line |= {told: float(np.quantile(value[name], nominal, method="higher")) for name, told in names.items()}
        lines.append(line | {"slack": line["alpha"] / line["full"]})
    return pd.DataFrame(lines)


def log_det_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Observed log-determinants over their bounds.

    Returns:
        pairs (see `PAIRS`), the columns of `SETTING`, documents (of a query), quantity (of `LOG_DETS`), worlds, held
        (worlds with a ratio of at most 1), median and largest ratio. Where all pairs are labelled, there are no truth,
        S and users.
    """
    parts = [of_audit(frame, audit, *LOG_DETS).assign(pairs=pairs) for audit, pairs in PAIRS.items()]
    lines = pd.concat([part for part in parts if len(part)]).reindex(
        columns=["pairs", *SETTING, "documents", "quantity", "value"]
    )
    by = lines.groupby(["pairs", *SETTING, "documents", "quantity"], sort=False, dropna=False)["value"]
    return by.agg(
        worlds="size", held=lambda each: int((each <= 1).sum()), median="median", largest="max"
    ).reset_index()


def kernel_figure(frame: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "kernel against its limit".

    Args:
        frame: of the item with all entries for parameters.
        own: of the item with own blocks.

    Returns:
        parameters, depth, quantity ("from H" or "from H̃"), width (m), draws, mean distance and its standard error.
    """
    lines = pd.concat([of_audit(each, "kernel") for each in (frame, own)])
    by = lines.groupby(["parameters", "depth", "quantity", "round"], sort=False)["value"]
    found = by.agg(draws="size", mean="mean", standard_error="sem").reset_index().rename(columns={"round": "width"})
    return found.astype({"depth": int, "width": int})


def typical_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "how the diagonal of A misjudges typical pairs".

    Returns:
        init, regularization (λ), documents, pairs, and means over worlds: full and diagonal (median width over that
        before any pair), narrower (share of pairs), alike and prior (rank correlations), as `audits.typical_widths` has
        them.
    """
    lines = of_audit(frame, "typical widths")
    index = ["init", "regularization", "documents", "round"]
    table = lines.pivot_table(index=index, columns="quantity", values="value", sort=False).reset_index()
    return table.rename(columns={"round": "pairs"}).rename_axis(columns=None).astype({"documents": int, "pairs": int})


def blind_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "a pair that the diagonal takes for known".

    Returns:
        labels (of the other pair), error (median), full and diagonal (median of the error over the interval's width),
        full_most (the largest), diagonal_least (the smallest), narrower (median of diagonal over full norm), worlds.
    """
    lines = of_audit(frame, "blind spot")
    table = lines.pivot_table(index=["round"], columns="quantity", values="value", aggfunc="median").reset_index()
    by = {name: lines[lines["quantity"] == name].groupby("round")["value"] for name in ("full", "diagonal")}
    table = table.assign(full_most=by["full"].max().to_numpy(), diagonal_least=by["diagonal"].min().to_numpy())
    worlds = by["full"].size().to_numpy()
    return table.rename(columns={"round": "labels"}).rename_axis(columns=None).assign(worlds=worlds)


def regret_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "regret and its bounds".

    Returns:
        scale (of α_t), round, worlds; means over worlds of the cumulative numbers of misordered pairs (regret, with
        its standard error), uncertain ones (open), those that may be (allowed) and all (shown); bound, the mean of the
        corrected Theorem 4.4 after the last round, where it is promised (scale 1), else missing.
    """
    lines = of_audit(frame, "regret", "regret", "open", "allowed", "shown")
    by = lines.groupby(["scale", "round", "quantity"])["value"]
    table = by.mean().unstack().rename_axis(columns=None)  # noqa: PD010 (a series has no pivot)
    regret = by.agg(["sem", "size"]).xs("regret", level="quantity")
    table = table.assign(standard_error=regret["sem"], worlds=regret["size"]).reset_index()
    bound = of_audit(frame, "regret", "bound").groupby(["scale", "round"])["value"].mean().rename("bound")
    table = table.merge(bound.reset_index(), on=["scale", "round"], how="left")
    table.loc[table["scale"] < 1, "bound"] = np.nan
    return table.sort_values(["scale", "round"], ascending=[False, True], kind="stable").reset_index(drop=True)


def within_bounds(frame: pd.DataFrame) -> pd.DataFrame:
    """Whether the steps of Theorem 4.4's proof hold in each world after the last round.

    A step says that one number is at most another. It can fail in a world only if the other is below all pairs: those
    that were shown, or labelled.

    Returns:
        truth, scale, statement (of `STATEMENTS`), held, able (worlds in which it could fail) and worlds. Only at scale
        1 are all of them promised; "wide ≤ most" holds at any scale.
    """
    lines = of_audit(frame, "regret")
    last = lines[lines["round"] == lines["round"].max()]
    table = last.pivot_table(index=["truth", "scale", "seed", "world"], columns="quantity", values="value")
    found = []
    for name in STATEMENTS:
        few, many = (table[each] for each in name.split(" ≤ "))
        everything = table["shown"] * table["q"] if few.name == "wide" else table["shown"]
        both = pd.DataFrame({"held": few <= many, "able": many < everything})
        for (truth, scale), own in both.groupby(level=["truth", "scale"], sort=False):
            line = {"truth": truth, "scale": scale, "statement": name, "held": int(own["held"].sum())}
            found.append(line | {"able": int(own["able"].sum()), "worlds": len(own)})
    return pd.DataFrame(found).sort_values("scale", ascending=False, kind="stable").reset_index(drop=True)


def open_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "how long orders stay open".

    Returns:
        scale (of α_t), labels (of every pair), worlds; means over worlds of the shares of pairs that are uncertain
        (open), that may be (allowed) and that are certain in the wrong order (wrong), and of the probability that Lemma
        4.2 prints (printed; missing but for scale 1); broken, worlds in which more were uncertain than may be, and
        able, those in which fewer than all may be, so that this could be.
    """
    lines = of_audit(frame, "open orders")
    index = ["scale", "truth", "seed", "world", "round"]
    table = lines.pivot_table(index=index, columns="quantity", values="value")
    table = table.assign(broken=table["open"] > table["allowed"], able=table["allowed"] < 1)
    by = table.groupby(level=["scale", "round"])
    found = by[["open", "allowed", "wrong", "printed"]].mean()
    found = found.assign(worlds=by.size(), **{name: by[name].sum() for name in ("broken", "able")}).reset_index()
    found.loc[found["scale"] < 1, "printed"] = np.nan
    found = found.rename(columns={"round": "labels"}).rename_axis(columns=None)
    return found.sort_values(["scale", "labels"], ascending=[False, True], kind="stable").reset_index(drop=True)
