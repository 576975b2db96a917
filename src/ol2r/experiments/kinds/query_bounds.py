"""The `query-bounds` kind of cell: what Theorem 1 of BubbleRank says about the queries of a population.

It counts the queries for which the bound is below the largest possible regret, and shows why it is not below in the
others. This module must not know any bandit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import pandas as pd

from ol2r.clicks import ItemClicks, best_ranking, expected_reward, wrong_pairs
from ol2r.experiments.cells import Row
from ol2r.experiments.kinds.populations import ClickQuery
from ol2r.experiments.kinds.queries import OfQueries
from ol2r.theory import bubblerank

_ROUNDING = 1e-12
_LONGEST = 1e15
"""Largest number of steps considered: a bound that says nothing up to here is taken never to say anything."""


@dataclass(frozen=True)
class Complexity:
    """The quantities of a query on which BubbleRank's bounds depend, with items ranked by attraction: R* = (1, …, K).

    Attributes:
        shown: Float64[K], attraction along the initial list.
        examination: Float64[K], χ(R*, ·).
        earned: Float64[m], reward for a unit of attraction at each counted position of R*: χ(R*, k), in the DCM times
            v(k).
        falls: whether χ (PBM) or v (DCM) never rises from one of the K positions to the next; always True in the CM.
    """

    shown: np.ndarray
    examination: np.ndarray
    earned: np.ndarray
    falls: bool

    @property
    def positions(self) -> int:
        """The length K of a list."""
        return len(self.shown)

    @property
    def inversions(self) -> int:
        """|V₀|."""
        return wrong_pairs(self.shown, np.arange(self.positions))

    @property
    def gap(self) -> float:
        """Δ_min."""
        return float(np.diff(np.sort(self.shown)).min()) if self.positions > 1 else np.inf

    @property
    def even_gap(self) -> float:
        """The value of Δ_min if the attractions were evenly spaced over the same range."""
        return float(np.ptp(self.shown)) / (self.positions - 1) if self.positions > 1 else np.inf

    @property
    def best(self) -> float:
        """r(R*), over the counted positions."""
        return float(np.sort(self.shown)[::-1][: len(self.earned)] @ self.earned)

    @property
    def assumed(self) -> bool:
        """Whether the theorem is proved for the query: all attractions differ, users reach every position with positive
        probability, and χ or v falls.

        The DCM breaks assumption A2; its proof uses the chapter's remark on lists that are equal above a position.
        """
        return self.falls and self.gap > 0 and self.examination[-1] > 0

    def printed(self, level: float, steps: int) -> bubblerank.RegretBound:
        """Theorem 1 with ℓ = `level`."""
        largest, least = bubblerank.examination_extremes(self.examination)
        return bubblerank.printed_regret_bound(self.positions, self.inversions, self.gap, largest, least, level, steps)

    def proved(self, level: float, steps: int, frozen: bool) -> bubblerank.RegretBound:
        """The bound that the chapter proves; two missing numbers where it is not proved."""
        if not self.assumed:
            return bubblerank.RegretBound(np.nan, np.nan)
        least = float(self.examination[-1])
        return bubblerank.regret_bound(self.shown, self.earned, least, level, steps, frozen)


def complexity(query: ClickQuery, cut: int) -> Complexity:
    """A query's complexity when all listed items are re-ranked (L = K) and the first `cut` positions count."""
    attraction, position = query.users.rows()
    shown = attraction[list(query.initial)]
    row = position[: len(shown)]
    if query.users.kind == "position":
        examination = row
    else:
        leaving = row if query.users.kind == "dependent" else 1.0
        examination = bubblerank.examination_in_cascade(np.sort(shown)[::-1], leaving)
    earned = examination * row if query.users.kind == "dependent" else examination
    return Complexity(shown, examination, earned[:cut], bool((np.diff(row) <= 0).all()))


@dataclass(frozen=True)
class QueryBounds(OfQueries):
    """Theorem 1 with δ = n^−exponent for each query of a population, whether or not it meets the assumptions.

    Its table has one line: `queries`; in how many attractions `differ`, χ or v `falls` (where χ does not, A3 fails, and
    where v does not, A5 may), the items by falling attraction earn most over all positions (`sorted_best`, A1), and all
    that the theorem needs is `assumed`; in how many Theorem 1 is below K n (`says`), would be with the same range of
    attractions evenly filled (`says_apart`), with χ_min = χ_max (`says_examined`), with both (`says_both`); in how many
    of those assumed the sharpened bound, for statistics that go on, is below n r(R*) (`proved_says`), and what share of
    n r(R*) it leaves in the middle one (`proved_share`, missing without any); the medians of Δ_min (`gap`), of what it
    would be if evenly filled (`even_gap`), of χ_min (`least`) and of |V₀| (`inversions`); and the least n from which on
    Theorem 1 is below K n for some query (`first_step`), and for half of them (`half_step`; infinite where that never
    happens).

    Args:
        users: the queries; the listed items are ranked.
        cut: number of positions that the sharpened bound counts; Theorem 1 counts all.
        steps: n.
        exponent: the exponent in δ = n^−exponent.
    """

    steps: int
    exponent: float

    kind: ClassVar[str] = "query-bounds"
    undefined: ClassVar[tuple[str, ...]] = ("proved_share",)
    revision: ClassVar[int] = 1
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.data.sessions",
        "ol2r.clicks",
        "ol2r.theory.bubblerank",
        "ol2r.experiments.kinds.populations",
        "ol2r.experiments.kinds.queries",
        "ol2r.experiments.kinds.query_bounds",
    )

    def labels(self) -> dict[str, str | float | int]:
        """Data set, click model (`users`), cut, n and the exponent of δ."""
        named = {"dataset": self.users.dataset, "users": self.users.model}
        return named | {"cut": self.cut, "steps": self.steps, "exponent": self.exponent}

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The one line."""
        return _together(bounds_of_queries(self))


def bounds_of_queries(cell: QueryBounds) -> pd.DataFrame:
    """The numbers that the cell summarises, query by query.

    Returns:
        differ, falls, sorted_best and assumed (0 or 1); share, share_apart, share_examined and share_both (Theorem 1's
        bound as a share of K n, at most 1), proved_share (the sharpened bound as a share of n r(R*), missing where not
        assumed), gap, even_gap, least, inversions and first_step.
    """
    return pd.DataFrame([_of(query, cell) for query in cell.users.queries()])


def _of(query: ClickQuery, cell: QueryBounds) -> dict[str, float]:
    world = complexity(query, cell.cut)
    largest, least = bubblerank.examination_extremes(world.examination)
    ratio = largest / least if least > 0 else np.inf

    def printed(gap: float, ratio: float, n: float = cell.steps) -> float:
        level = cell.exponent * np.log(n)
        bound = bubblerank.printed_regret_bound(world.positions, world.inversions, gap, ratio, 1.0, level, n)
        return sum(bound) / (world.positions * n)

    proved = world.proved(cell.exponent * np.log(cell.steps), cell.steps, frozen=False)
    return {
        "differ": world.gap > 0,
        "falls": world.falls,
        "sorted_best": _sorted_is_best(query.users, query.initial),
        "assumed": world.assumed,
        "share": min(1.0, printed(world.gap, ratio)),
        "share_apart": min(1.0, printed(world.even_gap, ratio)),
        "share_examined": min(1.0, printed(world.gap, 1.0)),
        "share_both": min(1.0, printed(world.even_gap, 1.0)),
        "proved_share": proved.within(world.best * cell.steps) / (world.best * cell.steps) if world.assumed else np.nan,
        "gap": world.gap,
        "even_gap": world.even_gap,
        "least": least,
        "inversions": world.inversions,
        "first_step": _first_step(lambda n: printed(world.gap, ratio, n) - 1),
    }


def _first_step(excess: Callable[[float], float]) -> float:
    """The n from which on a bound that grows like log n is below one that grows like n.

    It is the root of their ratio minus 1.
    """
    from scipy import optimize  # here, because it takes long to load, and every command declares these cells

    if not excess(_LONGEST) < 0:
        return np.inf
    root = cast(float, optimize.brentq(lambda x: excess(np.exp(x)), 0.0, np.log(_LONGEST)))  # no report asked for
    return float(np.exp(root))


def _sorted_is_best(users: ItemClicks, initial: Sequence[int]) -> bool:
    """Whether the listed items by falling attraction earn as much, over all positions, as any of their orders."""
    listed, slots = users.restricted(initial), len(initial)
    attraction, position = listed.rows()
    best = best_ranking.py_func(listed.code, attraction, position[:slots], slots, slots)
    ranked = np.argsort(-attraction, kind="stable")
    earned = [expected_reward.py_func(listed.code, attraction, position, each, slots) for each in (best, ranked)]
    return bool(earned[1] >= earned[0] - _ROUNDING)


def _together(each: pd.DataFrame) -> pd.DataFrame:
    line: dict[str, float] = {"fold": 1, "seed": 0, "queries": len(each)}
    line |= {name: int(each[name].sum()) for name in ("differ", "falls", "sorted_best", "assumed")}
    line |= {f"says{of}": int((each[f"share{of}"] < 1).sum()) for of in ("", "_apart", "_examined", "_both")}
    line |= {"proved_says": int((each["proved_share"] < 1).sum())}
    line |= {name: float(each[name].median()) for name in ("proved_share", "gap", "even_gap", "least", "inversions")}
    line |= {"first_step": float(each["first_step"].min())}
    line |= {"half_step": float(np.sort(each["first_step"])[(len(each) - 1) // 2])}
    return pd.DataFrame([line])
