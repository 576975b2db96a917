"""What the audits of all papers' theories share: cells whose rows draw worlds, and in how many worlds a bound held.

An audit simulates a world whose truth is known and measures what theory speaks of. A *ratio* is what was observed over
what theory allows, at its largest in a run, so a bound scaled by f holds in a world exactly when its ratio is at most
f. This module knows no paper and no theorem.
"""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.experiments.cells import OneByOne, Row
from ol2r.experiments.effects import share_interval


class Audit(OneByOne):
    """An audit as a cell. It uses no data set; each row, which is a seed, draws other worlds, and they are its batch.

    Its table: fold, seed, world (−1 for a statistic over all worlds of a row), round (or what the audit has in its
    place), quantity, value.
    """

    @abstractmethod
    def simulated(self, seed: int) -> pd.DataFrame:
        """What the audit measures in the worlds of a seed: world, round, quantity, value."""

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """What the audit measures, simulated anew for every row."""
        parts = [self.simulated(row.seed).assign(fold=row.fold, seed=row.seed) for row in rows]
        return pd.concat(parts, ignore_index=True)[["fold", "seed", "world", "round", "quantity", "value"]]


def of_audit(frame: pd.DataFrame, audit: str, *quantities: str) -> pd.DataFrame:
    """The rows of one audit, or of some of its quantities."""
    mine = frame["audit"] == audit
    return frame[mine & frame["quantity"].isin(quantities)] if quantities else frame[mine]


def coverage_table(
    ratios: pd.DataFrame, by: Sequence[str], scales: Sequence[float], certain: Collection[str] = ()
) -> pd.DataFrame:
    """In how many worlds each bound, multiplied by each of `scales`, held at every look.

    Args:
        ratios: one row for each world and bound: value, quantity (the bound), delta (δ), and the columns of `by`.
        by: what tells kinds of world apart.
        certain: bounds that hold in every world; the others hold with probability 1 − δ.

    Returns:
        The columns of `by`, quantity, scale, worlds, covered, coverage with its exact 95 % interval low … high, nominal
        (1 − δ, or 1 for what holds surely), and factor, the same for every scale: the largest number by which the bound
        could be divided and still hold in the nominal share of these worlds.
    """
    lines = []
    for key, own in frames.groups(ratios, [*by, "quantity"]):
        setting: dict[str, Any] = dict(zip([*by, "quantity"], key, strict=True))
        nominal = 1.0 if setting["quantity"] in certain else 1 - float(own["delta"].iloc[0])
        values = own["value"].to_numpy(dtype=float)
        factor = 1 / float(np.quantile(values, nominal, method="higher"))
        for scale in scales:
            covered = int((values <= scale * (1 + 1e-12)).sum())
            low, high = share_interval(covered, len(values))
            found = {"scale": scale, "worlds": len(values), "covered": covered, "coverage": covered / len(values)}
            lines.append(setting | found | {"low": low, "high": high, "nominal": nominal, "factor": factor})
    return pd.DataFrame(lines)


def halved(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The lines of a `coverage_table` at scale 1, with the coverage at scale ½ as the column half."""
    half = table[np.isclose(table["scale"], 0.5)].assign(half=table["coverage"])[[*by, "quantity", "half"]]
    return table[table["scale"] == 1].merge(half, on=[*by, "quantity"])


COVERED = {
    "worlds": "{worlds}",
    "nominal": "{nominal:share}",
    "covered [95 %]": "{coverage:share} [{low:share}, {high:share}]",
    "half of it": "{half:share}",
    "slack": "{factor:number 3}",
}
"""Columns of a table of `halved`."""
