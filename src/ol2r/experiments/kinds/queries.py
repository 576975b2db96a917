"""The `queries` kind of cell: statistics of a population's queries.

They tell how much the list sorted by attraction earns less than the best list, and how many pairs the production
rankers' lists order wrongly. This module must not know any bandit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ol2r.clicks import best_ranking, expected_reward, wrong_pairs
from ol2r.cost import Cost
from ol2r.experiments.cells import OneByOne, Row
from ol2r.experiments.kinds.populations import ClickQuery, Declared, Logged, Published

_ROUNDING = 1e-12


@dataclass(frozen=True)
class AboutQueries(OneByOne):
    """A cell about the queries of a population and no bandit; base of the kinds here.

    Args:
        cut: number of positions that the reward counts.
    """

    users: Published | Logged | Declared
    cut: int

    seeded = False

    @property
    def restricted(self) -> bool:
        """Whether the licence of the queries' data forbids storing values of single queries."""
        return self.users.restricted

    def labels(self) -> dict[str, str | float | int]:
        """Data set, click model (`users`), which items are ranked, and the cut."""
        users = self.users
        return {"dataset": users.dataset, "users": users.model, "ranked": users.ranked, "cut": self.cut}


@dataclass(frozen=True)
class OfQueries(AboutQueries):
    """A cell whose result is one row about all queries of a population together."""

    def rows(self, folds: Sequence[int] | None, seeds: Iterable[int]) -> tuple[Row, ...]:
        """One row, whatever folds an item has."""
        return super().rows((1,), seeds)

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The cost of reading and fitting the models."""
        return Cost(self.users.seconds).of(len(rows))


@dataclass(frozen=True)
class Queries(OfQueries):
    """Means and counts over a population's queries.

    Its table has one line: `queries`; `items` (mean L) and `most_items` (largest L); `inversions` (mean |V₀|); `tied`
    (number of queries with items of equal attraction); `optimum` (mean reward of the best list); `unsorted` (number of
    queries whose best list is not the one by falling attraction) and `sorted_loss` (the reward that the list by falling
    attraction loses in a step, averaged over queries).
    """

    kind: ClassVar[str] = "queries"
    revision: ClassVar[int] = 1
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.data.sessions",
        "ol2r.clicks",
        "ol2r.experiments.kinds.populations",
        "ol2r.experiments.kinds.queries",
    )

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The table's single line."""
        return _summary(self.users.queries(), self.cut)


@dataclass(frozen=True)
class Rewards(AboutQueries):
    """The rewards of two lists of every query in a step; a fold is a query.

    The columns of its table are fold, seed, `optimum` (reward of the best list) and `sorted_reward` (reward of the list
    by falling attraction).
    """

    kind: ClassVar[str] = "query-rewards"
    revision: ClassVar[int] = 1
    code: ClassVar[tuple[str, ...]] = Queries.code

    @property
    def folds(self) -> tuple[int, ...]:
        """One fold for each query."""
        return tuple(range(1, self.users.n_queries + 1))

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The cost of reading and fitting the models, once."""
        return Cost(5e-3 * len(rows), once=self.users.seconds)

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """One line for each query."""
        queries = self.users.queries()
        each = [_of(queries[row.fold - 1], self.cut) for row in rows]
        lines = [
            {"fold": row.fold, "seed": row.seed, "optimum": it["optimum"], "sorted_reward": it["optimum"] - it["loss"]}
            for row, it in zip(rows, each, strict=True)
        ]
        return pd.DataFrame(lines)


def _summary(queries: Sequence[ClickQuery], cut: int) -> pd.DataFrame:
    each = pd.DataFrame([_of(query, cut) for query in queries])
    line = {
        "fold": 1,
        "seed": 0,
        "queries": len(each),
        "items": each["items"].mean(),
        "most_items": each["items"].max(),
        "inversions": each["inversions"].mean(),
        "tied": each["tied"].sum(),
        "optimum": each["optimum"].mean(),
        "unsorted": (each["loss"] > _ROUNDING).sum(),
        "sorted_loss": each["loss"].mean(),
    }
    return pd.DataFrame([line])


def _of(query: ClickQuery, cut: int) -> dict[str, float]:
    attraction, position = query.users.rows()
    n_positions = len(query.initial)
    position = position[:n_positions]
    ranked = np.argsort(-attraction, kind="stable")[:n_positions]
    best = best_ranking.py_func(query.users.code, attraction, position, n_positions, cut)
    optimum, reached = (
        expected_reward.py_func(query.users.code, attraction, position, ranking, cut) for ranking in (best, ranked)
    )
    return {
        "items": len(attraction),
        "inversions": wrong_pairs(attraction, np.array(query.initial)),
        "tied": len(np.unique(attraction)) < len(attraction),
        "optimum": optimum,
        "loss": optimum - reached,
    }
