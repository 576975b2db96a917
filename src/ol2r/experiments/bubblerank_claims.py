"""The claims of the BubbleRank paper as rules, declared before their results were read.

Each statement keeps the paper's wording; where the wording leaves a choice (how early is early?), the choice stands in
the part's own words. Items are named, not imported. Intervals of means are over queries, each the mean of its runs: the
paper draws its queries at random. Shares of runs speak of the queries and worlds at hand, over runs.
"""

# pandas has no types of its own: every selection is inferred to be anything from a scalar to a frame
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportAssignmentType=false, reportCallIssue=false, reportGeneralTypeIssues=false, reportReturnType=false

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from scipy import stats

from ol2r.experiments.cells import TIERS
from ol2r.experiments.claims import (
    WORLDS,
    Claim,
    Compared,
    Contrast,
    Measure,
    NotMeasured,
    Part,
    Results,
    Size,
    Where,
)
from ol2r.experiments.effects import Effect, Share, fold_effect, mean_effect
from ol2r.experiments.published import printed_numbers

LOG = "Yandex_RelPred"
"""The paper's log: its 100 queries are not said, and the log is not at hand."""
STAND_INS = ((LOG, "Yandex_60Q_click_models"), (LOG, "Yandex_WSCD_sample"))
SYNTHETIC = "synthetic PBM"

MODELS = ("CM", "DCM", "PBM")
EVERYWHERE: tuple[Where, ...] = tuple((LOG, model) for model in MODELS)
STEPS = 5_000_000
PROTOCOL = Size(rounds=STEPS, seeds=10, folds=100)

EARLY = (1000, 10_000)
"""Steps that are early."""
LATE = STEPS * 9 // 10
"""The steps after this one are what happens "after five million"."""
LINEAR, SUBLINEAR = 0.9, 0.5
"""Exponents of growth over the last tenfold of steps: at least the first is linear, at most the second learns."""
NEAR_PRINTED = 10.0
"""Violations in 100 steps that two sets of queries may be apart."""
CLOSE = 5.0
"""TopRank's and BatchRank's violations in 100 steps are close within so many."""
NEAR_BASELINE, FAR_BELOW, NEAR_ONE = 0.02, 0.1, 0.99
"""NDCG@5: so little below Baseline's is close to it, so much is very low; at least the last is near 1."""
STRAIGHT = 0.9
"""R² of a straight line."""
DOUBLES = 0.2
"""log₂ of regret rises by 1 ± this with every halving."""
SAFE, ALMOST_ALL = 0.9, 0.99
"""What "never" and "always" mean for a finite number of runs: more than this share of them. Sixty runs without any
violation, which is what the raw log has, show no more than the first."""

EVENT_STEPS = 10_000
EVENT_ITEMS = (4, 6)
FAILURES = (0.05, 0.5)
"""What Lemma 9 lets δ^½ K² n be, in the audit of its event; and exponents for which it promises nothing."""
NO_PROMISE = (1.0, 0.5, 0.25)


def event_exponent(n_items: int, failure: float) -> float:
    """The exponent of δ = n^−exponent for which δ^½ K² n is about `failure` at the audit's n."""
    return round(2 * log(n_items**2 * EVENT_STEPS / failure) / log(EVENT_STEPS), 4)


def event_exponents(n_items: int) -> tuple[float, ...]:
    """All exponents of the audit."""
    return (*(event_exponent(n_items, failure) for failure in FAILURES), *NO_PROMISE)


def regret(bandit: str, at: int | Literal["end"] = "end") -> Measure:
    return Measure("fig-1", "regret", (("learner", bandit),), at=at)


def violations(bandit: str, at: int | Literal["end"] = "end") -> Measure:
    return Measure("fig-2", "violations", (("learner", bandit),), at=at)


def in_100(bandit: str) -> Measure:
    return Measure("first-100", "violations", (("learner", bandit),), at=100)


def ndcg(bandit: str, at: int, since: int | None = None) -> Measure:
    """Mean NDCG@5 of the lists shown up to a step, or in the steps since + 1 … at."""
    return Measure("fig-4", "ndcg_total", (("learner", bandit),), at=at, per="round", since=since)


@dataclass(frozen=True)
class OverQueries(Contrast):
    """A contrast whose interval is over queries."""

    def summary(self, total: pd.Series) -> Effect:
        return fold_effect(total)


def difference(better: Measure, worse: Measure, label: str, slack: float = 0.0) -> OverQueries:
    return OverQueries(label, ((1.0, better), (-1.0, worse)), slack)


def near(a: Measure, label: str, value: float, within: float) -> tuple[OverQueries, OverQueries]:
    """Both positive when a is less than `within` from a value."""
    return (
        OverQueries(f"{label} − {value:g} + {within:g}", ((1.0, a),), within - value),
        OverQueries(f"{value:g} + {within:g} − {label}", ((-1.0, a),), within + value),
    )


def _grows(measure, bandit: str, what: str) -> OverQueries:
    """Whether what is counted grows at least like n^LINEAR over the last tenfold of steps."""
    factor = 10**LINEAR
    terms = ((1.0, measure(bandit)), (-factor, measure(bandit, STEPS // 10)))
    return OverQueries(f"{bandit}'s {what} − {factor:.3g} times that of a tenth of the steps", terms)


def _settles(bandit: str) -> OverQueries:
    factor = 10**SUBLINEAR
    terms = ((factor, regret(bandit, STEPS // 10)), (-1.0, regret(bandit)))
    return OverQueries(f"{factor:.3g} times {bandit}'s regret of a tenth of the steps − its regret", terms)


def _printed(bandit: str, model: str) -> tuple[OverQueries, OverQueries]:
    table = printed_numbers("bubblerank")
    found = (table["item"] == "first-100") & (table["users"] == model) & (table["learner"] == bandit)
    return near(in_100(bandit), f"{bandit}'s violations", float(table.loc[found, "mean"].iloc[0]), NEAR_PRINTED)


@dataclass(frozen=True)
class Counted(ABC):
    """The share of runs in which something held, less a nominal share: subclasses say which runs, and what.

    Where it is said to hold always (`always`), one run in which it did not refutes that: the share is then held
    against 1.

    Attributes:
        label, item: as `Measure`'s.
        labels: of the rows.
        nominal: what the share is claimed to exceed.
    """

    label: str
    item: str
    labels: tuple[tuple[str, Any], ...]
    nominal: float

    always: ClassVar[bool]

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure(self.item, "regret", self.labels),)

    @abstractmethod
    def held(self, rows: pd.DataFrame) -> pd.Series:
        """Of the runs that count, whether it held; rows are those of the last step."""

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Share:
        rows = self.measures[0].rows(results, dataset, users)
        held = self.held(rows[rows["round"] == rows["round"].max()])
        if held.empty:
            raise NotMeasured(f"no run of {self.item} counts for {self.label}")
        nominal = 1.0 if self.always and not held.all() else self.nominal
        return Share(int(held.sum()), len(held), nominal, rows["fold"].nunique())

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> float | None:
        """The paper prints no shares."""
        return None


class NeverUnsafe(Counted):
    """V(n) = 0."""

    always: ClassVar[bool] = True

    def held(self, rows: pd.DataFrame) -> pd.Series:
        return rows["violations"] == 0


class EventHolds(Counted):
    """Event E of Lemma 9 never failed, which the lemma promises with a probability."""

    always: ClassVar[bool] = False

    def held(self, rows: pd.DataFrame) -> pd.Series:
        return rows["event_broken"] == 0


@dataclass(frozen=True)
class FewPairs(Counted):
    """Lemma 6, |P| ≤ K − 1 + 2 |V₀|, in the runs where event E held.

    Attributes:
        positions: K.
    """

    positions: int

    always: ClassVar[bool] = True

    def held(self, rows: pd.DataFrame) -> pd.Series:
        rows = rows[rows["event_broken"] == 0]
        return rows["pairs"] <= self.positions - 1 + 2 * rows["initial_inversions"]


@dataclass(frozen=True)
class OfLists:
    """Regret after the last step against |V₀|, over the random initial lists of each query: base of two rules."""

    label: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure("fig-3-left", "regret"),)

    def lists(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.DataFrame:
        rows = self.measures[0].rows(results, dataset, users)
        return rows[rows["round"] == rows["round"].max()]

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> None:
        """The paper prints no slopes."""


class Rises(OfLists):
    """The least-squares slope over a query's lists, by query."""

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        return slope_of_a_query(self.lists(results, dataset, users))


def slope_of_a_query(lists: pd.DataFrame) -> Effect:
    """The mean over queries of the least-squares slope of regret over |V₀| among a query's own lists.

    Args:
        lists: `fold` (query), `seed` (list), `initial_inversions`, `regret`. Queries with one |V₀| have no slope.
    """
    slopes = {
        fold: stats.linregress(own["initial_inversions"], own["regret"]).slope
        for fold, own in lists.groupby("fold")
        if own["initial_inversions"].min() < own["initial_inversions"].max()
    }
    index = pd.MultiIndex.from_tuples([(fold, 0) for fold in slopes], names=["fold", "seed"])
    return replace(fold_effect(pd.Series(list(slopes.values()), index=index)), seeds=lists["seed"].nunique())


class Straight(OfLists):
    """R² of a line through the mean regrets of each |V₀| that at least ten lists have, less `STRAIGHT`.

    Its standard error is a bootstrap over queries.
    """

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        from ol2r.random import generator  # here, because it loads torch, which declaring a claim must not

        lists = self.lists(results, dataset, users)
        table = lists.groupby(["fold", "initial_inversions"])["regret"].agg(["sum", "count"]).unstack(fill_value=0)  # noqa: PD010
        total, count = table["sum"], table["count"]
        kept = count.columns[count.sum() >= 10]
        if len(kept) < 3:
            raise NotMeasured("fewer than three values of |V₀| that ten lists have")
        queries = len(table)
        weights = generator(f"straight {dataset} {users}", 0).multinomial(queries, np.full(queries, 1 / queries), 1000)
        weights = np.vstack([np.ones(queries), weights])
        explained = _straightness(
            kept.to_numpy(float), weights @ total[kept].to_numpy(), weights @ count[kept].to_numpy()
        )
        error = float(np.nanstd(explained[1:], ddof=1))
        return Effect(float(explained[0]) - STRAIGHT, error, queries - 1, queries, lists["seed"].nunique())


def _straightness(x: np.ndarray, totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """R² of the line through means at x, some of which may be missing: Float64[draws] of totals, counts[draws, x]."""
    there = counts > 0
    y = np.where(there, totals / np.maximum(counts, 1), 0.0)
    n = there.sum(axis=1)
    dx = np.where(there, x - (there * x).sum(axis=1, keepdims=True) / n[:, None], 0.0)
    dy = np.where(there, y - y.sum(axis=1, keepdims=True) / n[:, None], 0.0)
    return (dx * dy).sum(axis=1) ** 2 / ((dx**2).sum(axis=1) * (dy**2).sum(axis=1))


@dataclass(frozen=True)
class Doubling:
    """The slope of log₂ regret over i, χ_min = 0.5^i, times `sign`, plus `offset`: run by run over the five values."""

    label: str
    sign: float
    offset: float

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure("fig-3-right", "regret"),)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        values = self.measures[0].values(results, dataset, users).unstack("fold")  # noqa: PD010 (every run has every fold)
        if (values <= 0).any(axis=None):
            raise NotMeasured("a run without regret has no logarithm")
        i = values.columns.to_numpy(dtype=float)
        slopes = np.log2(values.to_numpy()) @ (i - i.mean()) / ((i - i.mean()) ** 2).sum()
        index = pd.MultiIndex.from_product([[1], values.index], names=["fold", "seed"])
        found = mean_effect(pd.Series(self.sign * slopes + self.offset, index=index))
        return replace(found, folds=len(i))

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> None:
        """The paper prints no slope."""


@dataclass(frozen=True)
class UnderTheorem1:
    """The share of Theorem 1's bound that mean regret leaves, in the world and at the step where it leaves least.

    Only where the bound is below K n, which nothing can exceed, and where the theorem's assumptions hold.
    """

    label: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure("bounds", "regret"),)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        from ol2r.experiments.bubblerank import ITEMS  # here, because it imports this module
        from ol2r.experiments.bubblerank_tables import regret_against_bounds

        rows = self.measures[0].rows(results, dataset, users)
        declared = {cell.key: cell for tier in TIERS for cell in ITEMS["bounds"].cells(tier)}
        table = regret_against_bounds(rows, [declared[key] for key in rows["cell"].unique()])
        told = table[table["assumed"] & (table["bound"] < table["everything"])]
        if told.empty:
            raise NotMeasured("the bound is above K n everywhere: nothing can exceed it")
        least = told.loc[(told["regret"] / told["bound"]).idxmax()]
        own = rows[(rows["fold"] == least["fold"]) & (rows["round"] == least["round"])]
        return mean_effect(1 - own.set_index(["fold", "seed"])["regret"] / least["bound"])

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> None:
        """The paper has no such worlds."""


def claim(id_: str, statement: str, *parts: Part, protocol: Size = PROTOCOL, stand_ins: tuple = STAND_INS) -> Claim:
    return Claim("bubblerank", id_, statement, parts, protocol, stand_ins)


def _pairs(make, *names: Sequence) -> tuple[Compared, ...]:
    return tuple(make(*each) for each in product(*names))


def _on(*models: str) -> tuple[Where, ...]:
    return tuple((LOG, model) for model in models)


def _audited(n_items: int, exponent: float) -> tuple[tuple[str, Any], ...]:
    return (("cut", n_items), ("exponent", exponent))


def _holds(n_items: int, failure: float) -> EventHolds:
    exponent = event_exponent(n_items, failure)
    promised = 1 - n_items**2 * EVENT_STEPS ** (1 - exponent / 2)
    label = f"share of runs − (1 − δ^½ K² n), K = {n_items}, δ^½ K² n = {failure:g}"
    return EventHolds(label, "event", _audited(n_items, exponent), promised)


def _few(n_items: int, exponent: float) -> FewPairs:
    label = f"share of runs − {ALMOST_ALL:g}, K = {n_items}, δ = n^−{exponent:g}"
    return FewPairs(label, "event", _audited(n_items, exponent), ALMOST_ALL, n_items)


_IN_WORLDS: tuple[Where, ...] = ((WORLDS, "CM"), (WORLDS, "PBM"))
_SHUFFLERS = ("BatchRank", "TopRank")
_LEARNERS = ("BubbleRank", *_SHUFFLERS)

CLAIMS = (
    claim(
        "BR1",
        "The regret of Baseline grows linearly with time, so it is not optimal on average.",
        Part("its regret is above 0", (OverQueries("Baseline's regret", ((1.0, regret("Baseline")),)),), EVERYWHERE),
        Part(
            f"it grows at least like n^{LINEAR:g}, as that of one list shown forever must unless it is 0",
            (_grows(regret, "Baseline", "regret"),),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR2",
        "CascadeKL-UCB learns the best list quickly in the CM and the DCM, and has linear regret in the PBM.",
        Part(
            "in the CM and the DCM its regret ends below all others'",
            _pairs(
                lambda other: difference(regret(other), regret("CascadeKL-UCB"), f"{other}'s regret − CascadeKL-UCB's"),
                (*_LEARNERS, "Baseline"),
            ),
            _on("CM", "DCM"),
        ),
        Part(f"and grows at most like n^{SUBLINEAR:g}", (_settles("CascadeKL-UCB"),), _on("CM", "DCM")),
        Part(
            f"in the PBM it grows at least like n^{LINEAR:g}", (_grows(regret, "CascadeKL-UCB", "regret"),), _on("PBM")
        ),
    ),
    claim(
        "BR3",
        "In earlier steps BubbleRank has a lower regret than BatchRank and TopRank; in five million it has a higher "
        "one.",
        Part(
            f"lower after {EARLY[0]:,} and {EARLY[1]:,} steps",
            _pairs(
                lambda other, n: difference(
                    regret(other, n), regret("BubbleRank", n), f"{other}'s regret − BubbleRank's after {n:,} steps"
                ),
                _SHUFFLERS,
                EARLY,
            ),
            EVERYWHERE,
        ),
        Part(
            "higher at the end",
            _pairs(
                lambda other: difference(regret("BubbleRank"), regret(other), f"BubbleRank's regret − {other}'s"),
                _SHUFFLERS,
            ),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR4",
        "BubbleRank never violates the safety constraint.",
        Part(
            "no run on the queries at hand has a violation in any step, and they are so many that the share of safe "
            f"runs is above {SAFE:.0%}",
            (NeverUnsafe(f"share of safe runs − {SAFE:g}", "fig-2", (("learner", "BubbleRank"),), SAFE),),
            EVERYWHERE,
        ),
        protocol=replace(PROTOCOL, seeds=PROTOCOL.seeds * PROTOCOL.folds),  # a share counts all runs
    ),
    claim(
        "BR5",
        "In the first 100 steps CascadeKL-UCB, BatchRank and TopRank violate the constraint as often as section 5.3 "
        "prints; TopRank's number is close to BatchRank's.",
        *(
            Part(
                f"within {NEAR_PRINTED:g} violations of the printed number in the {model}",
                tuple(one for bandit in ("CascadeKL-UCB", *_SHUFFLERS) for one in _printed(bandit, model)),
                _on(model),
            )
            for model in MODELS
        ),
        Part(
            "BatchRank and TopRank violate it more often than CascadeKL-UCB",
            _pairs(
                lambda other: difference(
                    in_100(other), in_100("CascadeKL-UCB"), f"{other}'s violations − CascadeKL-UCB's"
                ),
                _SHUFFLERS,
            ),
            EVERYWHERE,
        ),
        Part(
            f"TopRank and BatchRank are less than {CLOSE:g} apart",
            (
                difference(in_100("TopRank"), in_100("BatchRank"), f"TopRank's − BatchRank's + {CLOSE:g}", CLOSE),
                difference(in_100("BatchRank"), in_100("TopRank"), f"BatchRank's − TopRank's + {CLOSE:g}", CLOSE),
            ),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR6",
        "The regret of BubbleRank is linear in |V₀|.",
        Part("it rises with |V₀| among the lists of a query", (Rises("slope of regret over |V₀|"),), EVERYWHERE),
        Part(
            f"a straight line explains {STRAIGHT:.0%} of the variance of the mean regret at each |V₀|",
            (Straight(f"R² − {STRAIGHT:g}"),),
            EVERYWHERE,
        ),
        stand_ins=STAND_INS[:1],
    ),
    claim(
        "BR7",
        "The regret of BubbleRank doubles when the least examination probability halves.",
        Part(
            f"log₂ of regret rises by 1 ± {DOUBLES:g} with every halving",
            (
                Doubling(f"slope − {1 - DOUBLES:g}", 1.0, DOUBLES - 1),
                Doubling(f"{1 + DOUBLES:g} − slope", -1.0, 1 + DOUBLES),
            ),
            ((SYNTHETIC, "PBM"),),
        ),
        protocol=Size(rounds=1_000_000, seeds=100, folds=5),
        stand_ins=(),
    ),
    claim(
        "BR8",
        "BubbleRank starts with an NDCG@5 close to Baseline's, BatchRank and TopRank with very low ones; after five "
        "million steps all three are near 1.",
        Part(
            f"in the first 100 steps BubbleRank is less than {NEAR_BASELINE:g} below Baseline",
            (
                difference(
                    ndcg("BubbleRank", 100), ndcg("Baseline", 100),
                    f"BubbleRank − Baseline + {NEAR_BASELINE:g}", NEAR_BASELINE,
                ),
            ),
            EVERYWHERE,
        ),
        Part(
            f"and BatchRank and TopRank more than {FAR_BELOW:g}",
            _pairs(
                lambda other: difference(
                    ndcg("Baseline", 100), ndcg(other, 100), f"Baseline − {other} − {FAR_BELOW:g}", -FAR_BELOW
                ),
                _SHUFFLERS,
            ),
            EVERYWHERE,
        ),
        Part(
            f"in the last tenth of the steps all three are above {NEAR_ONE:g}",
            _pairs(
                lambda bandit: OverQueries(
                    f"{bandit} − {NEAR_ONE:g}", ((1.0, ndcg(bandit, STEPS, since=LATE)),), -NEAR_ONE
                ),
                _LEARNERS,
            ),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR9",
        "The violations of CascadeKL-UCB grow linearly with time in the PBM.",
        Part(
            f"they grow at least like n^{LINEAR:g}", (_grows(violations, "CascadeKL-UCB", "violations"),), _on("PBM")
        ),
    ),
    claim(
        "BRT1",
        "Lemma 9: event E holds in all steps with probability at least 1 − δ^½ K² n.",
        Part("E held in a larger share of runs", _pairs(_holds, EVENT_ITEMS, FAILURES), _IN_WORLDS),
        protocol=Size(rounds=EVENT_STEPS, seeds=2000, folds=1),
        stand_ins=(),
    ),
    claim(
        "BRT2",
        "Lemma 6: on event E no more than K − 1 + 2|V₀| pairs are ever randomized.",
        Part(
            "in no run in which E held, and these are so many that the share of such runs is above "
            f"{ALMOST_ALL:.0%}",
            tuple(_few(n, exponent) for n in EVENT_ITEMS for exponent in event_exponents(n)),
            _IN_WORLDS,
        ),
        protocol=Size(rounds=EVENT_STEPS, seeds=20, folds=1),
        stand_ins=(),
    ),
    claim(
        "BRT3",
        "Theorem 1: the regret of BubbleRank is below its bound (decided pairs frozen, in the CM and the PBM with "
        "falling examination).",
        Part(
            "in every world where the bound is below K n, at every checkpoint",
            (UnderTheorem1("share of the bound that is left"),),
            _IN_WORLDS,
        ),
        protocol=Size(rounds=STEPS, seeds=10, folds=1),
        stand_ins=(),
    ),
)  # fmt: skip
