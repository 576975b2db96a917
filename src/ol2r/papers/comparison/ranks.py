"""Average ranks of learners over blocks of runs, with Friedman's test and Nemenyi's critical difference (Demšar, 2006).

A block is a kind of users on a fold. Blocks are not independent, because folds share training queries and users share
folds: the test takes the differences for surer than they are.
"""

from typing import NamedTuple, cast

import numpy as np
import pandas as pd
from scipy import stats

LEVEL = 0.05


class Ranks(NamedTuple):
    """Average ranks of k learners over n blocks; rank 1 is the best, equals share the mean of their ranks.

    Args:
        table: variant, rank, low and high (the rank ∓ half of the critical difference, so that two learners whose
            intervals do not meet are apart), the best first.
        critical: two learners whose average ranks differ by more are apart at `LEVEL`.
        p: of Friedman's test that all are alike.
        blocks: n.
    """

    table: pd.DataFrame
    critical: float
    p: float
    blocks: int

    def apart(self) -> int:
        """How many pairs of learners are apart."""
        rank = self.table["rank"].to_numpy()
        return int((np.abs(rank[:, None] - rank[None]) > self.critical).sum() // 2)

    def with_first(self) -> list[str]:
        """The learners that are not apart from the one of the best average rank, that one included."""
        own = self.table
        return list(own.loc[own["rank"] - own["rank"].min() <= self.critical, "variant"])


def critical_difference(k: int, n: int, level: float = LEVEL) -> float:
    """Nemenyi's critical difference of average ranks.

        CD = q √(k (k + 1) / (6 n)),   q = (the 1 − level quantile of the studentized range of k values) / √2

    Args:
        k: learners, at least 2.
        n: blocks.
    """
    q = float(stats.studentized_range.ppf(1 - level, k, np.inf)) / 2**0.5
    return q * (k * (k + 1) / (6 * n)) ** 0.5


def ranks(table: pd.DataFrame, column: str, *, least: bool = False) -> Ranks:
    """Average ranks by a number, the mean over the seeds of each block; blocks that lack a learner are left out.

    Args:
        table: variant, users, fold, seed and the column.
        least: whether the least number is the best.

    Raises:
        ValueError: there are fewer than three learners, or fewer than two blocks with all of them.
    """
    means = table.groupby(["users", "fold", "variant"], sort=False)[column].mean().unstack().dropna()  # noqa: PD010
    n, k = means.shape
    if k < 3 or n < 2:
        raise ValueError(f"average ranks need at least 3 learners and 2 blocks, not {k} and {n}")
    values = means.to_numpy() if least else -means.to_numpy()
    average = stats.rankdata(values, axis=1).mean(axis=0)
    critical = critical_difference(k, n)
    found = pd.DataFrame({"variant": list(means), "rank": average})
    found = found.assign(low=found["rank"] - critical / 2, high=found["rank"] + critical / 2)
    _, p = cast(tuple[float, float], stats.friedmanchisquare(*values.T))  # scipy makes its class at run time
    return Ranks(found.sort_values("rank", kind="stable").reset_index(drop=True), critical, float(p), n)
