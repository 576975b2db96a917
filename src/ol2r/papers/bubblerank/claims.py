"""The claims of the BubbleRank paper as rules, declared before their results were read.

Each statement keeps the paper's wording; where the wording leaves a choice (how early is early?), the words of the part
make it. This module names items and does not import them. Intervals of means are over queries, each the mean of its
runs, because the paper draws its queries at random. A share is over all runs and speaks only of the queries and worlds
at hand.

BRX1 is ours and about data of other chapters, of which no rule above speaks; its intervals are over runs.

Regret is counted from R* of the paper's Eq. (1), the list by falling attraction, which the paper takes to be the best.
Where it is not, its loss against the best list is one that no bandit can avoid by learning; this loss is shown beside
the verdicts. Regrets are compared by ratio, because those of click models and of bandits differ by powers of ten.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from ol2r.experiments.claims import (
    WORLDS,
    Claim,
    Compared,
    Contrast,
    Measure,
    Near,
    NotMeasured,
    Part,
    Printed,
    Results,
    Scale,
    Selection,
    Size,
    StandIn,
    Where,
)
from ol2r.experiments.effects import (
    Effect,
    RatioOfMeans,
    Share,
    TooFewSeeds,
    fold_effect,
    fold_means,
    mean_effect,
    ratio_effect,
)
from ol2r.experiments.published import printed_numbers

LOG = "Yandex_RelPred"
"""The paper's log. It is not at hand, and the paper does not say which 100 queries of it were used."""
STAND_INS = (StandIn(LOG, "Yandex_60Q_click_models", same_shape=True), StandIn(LOG, "Yandex_WSCD_sample"))
SYNTHETIC = "synthetic PBM"

MODELS = ("CM", "DCM", "PBM")
POSITIONS = 10
EVERYWHERE: tuple[Where, ...] = tuple((LOG, model) for model in MODELS)
STEPS = 5_000_000
PROTOCOL = Size(rounds=STEPS, seeds=10, folds=100)

EARLY = (1000, 10_000)
"""The numbers of steps after which BR3 compares early regret."""
LATE = STEPS * 9 // 10
"""The last tenth of the steps, those after this one, are taken for "after five million"."""
LINEAR, SUBLINEAR = 0.9, 0.5
"""Exponents of growth over the last tenfold of steps: growth is linear from the first on, and a bandit learns if its
regret grows at most with the second."""
APART = 1.1
"""The margin of a ratio of two regrets; a smaller ratio shows no difference on the paper's logarithmic axes."""
WORTH_LEARNING = 0.01
"""Share of the best list's clicks; a list that loses less than this is as good as the best."""
NEAR_PRINTED = 10.0
"""How many violations in 100 steps a number may be from the printed one, which is about other queries."""
CLOSE = 5.0
"""TopRank and BatchRank are close if their violations in 100 steps are less than this apart."""
OFTENER = 10.0
"""The margin of "more often", in violations in 100 steps; section 5.3 prints differences of 33 and more."""
NEAR_BASELINE, FAR_BELOW, NEAR_ONE = 0.1, 0.2, 0.99
"""Thresholds of NDCG@5: less than the first below Baseline's is close to it, more than the second below is very low,
more than the third is near 1. Figure 4 draws Baseline at about .9, and the start of BatchRank and TopRank at less than
half of that."""
STEEP = 0.01
"""The margin of the regret that one wrong pair costs, as a share of the mean regret. If regret were proportional to
Theorem 1's K − 1 + 2|V₀|, this share would be .037."""
BEND = 0.5
"""The share by which a slope may change from one standard deviation below the mean |V₀| to one above it."""
DOUBLES = 0.2
"""Regret doubles if its log₂ rises by 1 ± this with every halving of χ_min."""
SAFE, ALMOST_ALL = 0.9, 0.99
"""What "never" and "always" mean for a finite number of runs: the interval of the share of such runs is above this.
Sixty runs without any violation, as many as the raw log has, can show no more than `SAFE`."""

SAFE_RANKER, PARENT, BANDIT = "SafePairRank", "PairRank_C", "BubbleRank"
"""A learner of ours between its parents."""
WITH_FEATURES = ("MQ2008", "synthetic-mslr")
FEATURE_ROUNDS = 5000
RERANKED, FEW = "listed", "few labels"
"""The data sets of learners with features, their rounds, and the main of three comparisons: what is ranked, and the
production ranker."""
RARELY = 0.1
"""Violations in a hundred rounds that a safe learner has fewer than: certain orders can be wrong, which no list of a
bandit that never errs shows."""
FEWER, GAIN = 1.0, 0.005
"""Margins of "fewer", in violations in a hundred rounds, and of NDCG@10, that of the other chapters."""

LOST = Scale("share of the best list's clicks that is lost", WORTH_LEARNING)
TIMES = Scale("regret, times the other's", APART)
GROWTH = Scale("growth over the last tenfold of steps", round(10**LINEAR, 2), "times")
FIRST_TENTH = Scale("share of the regret that falls in the first tenth of the steps", round(10**-SUBLINEAR, 3))
IN_100 = Scale("violations in 100 steps", unit="steps")
IN_100_ROUNDS = Scale("violations in 100 rounds", unit="rounds")
NDCG_AT_10 = Scale("NDCG@10", GAIN)
NDCG = Scale("NDCG@5")
DOUBLINGS = Scale("doublings of regret a halving")
OF_BOUND = Scale("share of the bound that regret leaves")
A_PAIR = Scale("share of the mean regret a wrong pair", STEEP)
BENDING = Scale("change of the slope, as a share of it")

EVENT_STEPS = 10_000
EVENT_ITEMS = (4, 6)
FAILURES = (0.05, 0.5)
"""The values of δ^½ K² n, Lemma 9's bound on the failure of event E, in the audit of this event; `NO_PROMISE` has
exponents of δ for which the bound is above 1."""
NO_PROMISE = (1.0, 0.5, 0.25)


def event_exponent(n_items: int, failure: float) -> float:
    """The exponent of δ = n^−exponent for which δ^½ K² n is about `failure` at the audit's n."""
    return round(2 * log(n_items**2 * EVENT_STEPS / failure) / log(EVENT_STEPS), 4)


def event_exponents(n_items: int) -> tuple[float, ...]:
    """All exponents of δ in the audit of event E."""
    return (*(event_exponent(n_items, failure) for failure in FAILURES), *NO_PROMISE)


Terms = tuple[tuple[float, Measure], ...]


class OfQuery(Measure):
    """A measure that has one number for each query and kind of users, the same for all runs."""

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        return Measure(self.item, self.column, (("users", users),), shared=True).selected(results, dataset, users)


BEST, BY_ATTRACTION = (OfQuery("query-rewards", column, shared=True) for column in ("optimum", "sorted_reward"))
"""The expected reward of a step from the best list, and from the list by falling attraction."""
BEST_CLICKS: Terms = ((float(STEPS), BEST),)


def regret(bandit: str, at: int = STEPS) -> Terms:
    """Regret against the list by falling attraction: the regret of Eq. (4) minus what this list loses."""
    own = Measure("fig-1", "regret", (("learner", bandit),), at=at)
    return ((1.0, own), (-float(at), BEST), (float(at), BY_ATTRACTION))


def violations(bandit: str, at: int | Literal["end"] = "end") -> Measure:
    return Measure("fig-2", "violations", (("learner", bandit),), at=at)


def in_100(bandit: str) -> Measure:
    return Measure("first-100", "violations", (("learner", bandit),), at=100)


def ndcg(bandit: str, at: int, since: int | None = None) -> Measure:
    """Mean NDCG@5 of the lists shown up to a step, or in the steps since + 1 … at."""
    return Measure("fig-4", "ndcg_total", (("learner", bandit),), at=at, per="round", since=since)


@dataclass(frozen=True)
class OverQueries(Contrast):
    """A contrast of means over queries, with an interval over queries."""

    def summary(self, total: pd.Series) -> Effect:
        return fold_effect(total)


def difference(better: Measure, worse: Measure, label: str, scale: Scale) -> OverQueries:
    return OverQueries(label, ((1.0, better), (-1.0, worse)), scale)


def _ratio(label: str, numerator: pd.Series, denominator: pd.Series) -> RatioOfMeans:
    """The ratio of two means over queries.

    Raises:
        NotMeasured: the denominator's mean is not positive.
    """
    if not fold_means(denominator).mean() > 0:
        raise NotMeasured(f"{label}: what it is divided by has no positive mean")
    return ratio_effect(numerator, denominator)


@dataclass(frozen=True)
class Ratio:
    """The ratio of the means over queries of two weighted sums, claimed to be above its margin."""

    label: str
    numerator: Terms
    denominator: Terms
    scale: Scale

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(measure for _, measure in (*self.numerator, *self.denominator))

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> RatioOfMeans:
        nothing = tuple((0.0, measure) for measure in self.measures)  # both on the runs that all of them have
        both = (Contrast(self.label, terms + nothing, self.scale) for terms in (self.numerator, self.denominator))
        return _ratio(self.label, *(each.totals(results, dataset, users) for each in both))

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper prints no regret."""


def _times(more: str, less: str, at: int = STEPS) -> Ratio:
    """One bandit's regret over another's."""
    when = "" if at == STEPS else f" after {at:,} steps"
    return Ratio(f"{more}'s regret over {less}'s{when}", regret(more, at), regret(less, at), TIMES)


def _grows(bandit: str) -> Ratio:
    """Regret after the last step over that after a tenth of the steps."""
    return Ratio(f"growth of {bandit}'s regret", regret(bandit), regret(bandit, STEPS // 10), GROWTH)


def _settles(bandit: str) -> Ratio:
    """The share of the final regret that a tenth of the steps has brought."""
    label = f"share of {bandit}'s regret in the first tenth"
    return Ratio(label, regret(bandit, STEPS // 10), regret(bandit), FIRST_TENTH)


def _printed(bandit: str, model: str) -> Near:
    """How near a bandit's violations in the first 100 steps come to the printed number."""
    table = printed_numbers(__package__)
    found = (table["item"] == "first-100") & (table["users"] == model) & (table["learner"] == bandit)
    printed = float(table.loc[found, "mean"].iloc[0])
    terms = ((1.0, in_100(bandit)),)
    return Near(OverQueries(f"{bandit}'s violations − {printed:g}", terms, IN_100, -printed), NEAR_PRINTED)


@dataclass(frozen=True)
class Counted(ABC):
    """The share of runs in which a statement held, minus a nominal share; a subclass gives the statement and the runs.

    If the statement is claimed to hold always (`always`), one run in which it did not hold refutes it, because the
    share is then compared with 1.

    Attributes:
        labels: labels that the rows must have.
        nominal: the share that is claimed to be exceeded.
    """

    label: str
    item: str
    labels: tuple[tuple[str, Any], ...]
    nominal: float

    beyond: ClassVar[Scale]
    always: ClassVar[bool]

    @property
    def scale(self) -> Scale:
        return self.beyond

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure(self.item, "regret", self.labels),)

    @abstractmethod
    def held(self, rows: pd.DataFrame) -> pd.Series:
        """Whether the statement held, for each run that counts; the rows are those of the last step."""

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Share:
        rows = self.measures[0].selected(results, dataset, users).frame
        held = self.held(rows[rows["round"] == rows["round"].max()])
        if held.empty:
            raise NotMeasured(f"no run of {self.item} counts for {self.label}")
        nominal = 1.0 if self.always and not held.all() else self.nominal
        return Share(int(held.sum()), len(held), nominal, rows["fold"].nunique())

    def published(self, numbers: Printed, dataset: str, users: str) -> float | None:
        """The paper prints no shares."""
        return None


class NeverUnsafe(Counted):
    """The share of runs that never violated the safety constraint, V(n) = 0."""

    beyond: ClassVar[Scale] = Scale(f"share of safe runs beyond {SAFE:.0%}")
    always: ClassVar[bool] = True

    def held(self, rows: pd.DataFrame) -> pd.Series:
        return rows["violations"] == 0


class EventHolds(Counted):
    """The share of runs in which event E never failed, against the probability that Lemma 9 promises."""

    beyond: ClassVar[Scale] = Scale("share of runs beyond the promised one")
    always: ClassVar[bool] = False

    def held(self, rows: pd.DataFrame) -> pd.Series:
        return rows["event_broken"] == 0


@dataclass(frozen=True)
class FewPairs(Counted):
    """The share of runs that meet Lemma 6, |P| ≤ K − 1 + 2 |V₀|, among those in which event E held.

    Attributes:
        positions: K.
    """

    positions: int

    beyond: ClassVar[Scale] = Scale(f"share of runs beyond {ALMOST_ALL:.0%}")
    always: ClassVar[bool] = True

    def held(self, rows: pd.DataFrame) -> pd.Series:
        rows = rows[rows["event_broken"] == 0]
        return rows["pairs"] <= self.positions - 1 + 2 * rows["initial_inversions"]


@dataclass(frozen=True)
class OfLists:
    """Base of the two rules on regret after the last step against |V₀|, over the random initial lists of each query."""

    label: str
    scale: Scale

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure("fig-3-left", "regret"),)

    def lists(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.DataFrame:
        rows = self.measures[0].selected(results, dataset, users).frame
        return rows[rows["round"] == rows["round"].max()]

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper prints no slopes."""


class Rises(OfLists):
    """The mean over queries of the least-squares slope over a query's lists, over the mean regret of all lists."""

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> RatioOfMeans:
        lists = self.lists(results, dataset, users)
        slopes = slopes_by_query(lists)
        means = lists.groupby("fold")["regret"].mean()[slopes.index]
        index = pd.MultiIndex.from_product([slopes.index, [0]], names=["fold", "seed"])
        found = _ratio(self.label, slopes.set_axis(index), means.set_axis(index))
        return replace(found, seeds=lists["seed"].nunique())


def slopes_by_query(lists: pd.DataFrame) -> pd.Series:
    """The least-squares slope of regret over |V₀| among each query's own lists, by `fold`.

    Args:
        lists: `fold` (query), `seed` (list), `initial_inversions`, `regret`. A query whose lists all have the same |V₀|
            has no slope and is left out.
    """
    slopes = {
        fold: np.polyfit(own["initial_inversions"], own["regret"], 1)[0]
        for fold, own in lists.groupby("fold")
        if own["initial_inversions"].min() < own["initial_inversions"].max()
    }
    return pd.Series(slopes, dtype=float).rename_axis("fold")


def slope_of_a_query(lists: pd.DataFrame) -> Effect:
    """The mean of `slopes_by_query`, with its interval over queries."""
    slopes = slopes_by_query(lists)
    index = pd.MultiIndex.from_product([slopes.index, [0]], names=["fold", "seed"])
    return replace(fold_effect(slopes.set_axis(index)), seeds=lists["seed"].nunique())


class Bends(OfLists):
    """By how much the slope over a query's lists changes from one standard deviation below the mean |V₀| of a random
    list to one above it, as a share of the slope at the mean.

        4 c σ / b   of  regret = a_q + b (x − x̄) + c (x − x̄)²,   x = |V₀|

    Least squares with a level a_q for each query; the standard error is a bootstrap over queries.
    """

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        from ol2r.random import generator  # here, because it loads torch, which declaring a claim must not

        lists = self.lists(results, dataset, users)
        products = _within_queries(lists)
        queries = len(products)
        if queries < 2:
            raise TooFewSeeds("fewer than two folds")
        drawn = generator(f"bends {dataset} {users}", 0).multinomial(queries, np.full(queries, 1 / queries), 1000)
        deviation = float((POSITIONS * (POSITIONS - 1) * (2 * POSITIONS + 5) / 72) ** 0.5)
        slope, bend = np.moveaxis(_solved(np.vstack([np.ones(queries), drawn]) @ products), -1, 0)
        changes = 4 * bend * deviation / slope
        error = float(changes[1:].std(ddof=1))
        return Effect(float(changes[0]), error, queries - 1, queries, lists["seed"].nunique())


def _within_queries(lists: pd.DataFrame) -> np.ndarray:
    """Sums of products of u = x − x̄, u² and y, each less its mean over the query: (uu, uv, vv, uy, vy) with v = u²,
    Float64[queries, 5]; x̄ is the mean |V₀| of a random list."""
    u = lists["initial_inversions"] - POSITIONS * (POSITIONS - 1) / 4
    columns = pd.DataFrame({"u": u, "v": u**2, "y": lists["regret"]})
    u, v, y = (columns - columns.groupby(lists["fold"]).transform("mean")).to_numpy().T
    products = pd.DataFrame({"uu": u * u, "uv": u * v, "vv": v * v, "uy": u * y, "vy": v * y}, index=lists.index)
    return products.groupby(lists["fold"]).sum().to_numpy()


def _solved(sums: np.ndarray) -> np.ndarray:
    """The least-squares (b, c) for each line of sums of products, as `_within_queries` has them."""
    uu, uv, vv, uy, vy = sums.T
    determinant = uu * vv - uv**2
    return np.stack([(vv * uy - uv * vy) / determinant, (uu * vy - uv * uy) / determinant], axis=-1)


@dataclass(frozen=True)
class Doubling:
    """The slope of log₂ regret over i, where χ_min = 0.5^i, plus `offset`; each run has one slope."""

    label: str
    offset: float = 0.0
    scale: Scale = DOUBLINGS

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
        found = mean_effect(pd.Series(slopes + self.offset, index=index))
        return replace(found, folds=len(i))

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper prints no slope."""


@dataclass(frozen=True)
class UnderTheorem1:
    """The share of Theorem 1's bound that mean regret leaves, in the world and at the checkpoint where it leaves least.

    Only worlds that meet the theorem's assumptions count, and only checkpoints at which the bound is below K n, which
    no regret can exceed.
    """

    label: str
    scale: Scale = OF_BOUND

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure("bounds", "regret"),)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        from ol2r.papers.bubblerank.bounds import regret_against_bounds

        rows = self.measures[0].selected(results, dataset, users).frame
        table = regret_against_bounds(rows, results["bounds"].cells)
        told = table[table["assumed"] & (table["bound"] < table["everything"])]
        if told.empty:
            raise NotMeasured("the bound is above K n everywhere: nothing can exceed it")
        least = told.iloc[(told["regret"] / told["bound"]).argmax()]
        own = rows[(rows["fold"] == least["fold"]) & (rows["round"] == least["round"])]
        return mean_effect(1 - own.set_index(["fold", "seed"])["regret"] / least["bound"])

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper has no such worlds."""


def claim(
    id_: str, statement: str, expected: str, *parts: Part, protocol: Size = PROTOCOL, stand_ins: tuple = STAND_INS
) -> Claim:
    return Claim("bubblerank", id_, statement, parts, protocol, stand_ins, expected)


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


def since(rounds: int) -> int:
    """The rounds after this one are what happens at the end."""
    return rounds * 4 // 5


def _in_constraint(variant: str, column: str, *, late: bool = False) -> Measure:
    """A sum of the comparison of learners with features, a round; `late`: of the last fifth of the rounds alone."""
    labels = (("variant", variant), ("items", RERANKED), ("production", FEW))
    return Measure("safety", column, labels, per="round", since=since(FEATURE_ROUNDS) if late else None)


def _lists_above(whose: str, variant: str, column: str = "ndcg_total", *, margin: float = GAIN) -> Contrast:
    """What SafePairRank's lists score at the end beside other lists; the interval is over runs."""
    own, other = (_in_constraint(*each, late=True) for each in ((SAFE_RANKER, "ndcg_total"), (variant, column)))
    return Contrast(f"SafePairRank's lists − {whose}", ((1.0, own), (-1.0, other)), replace(NDCG_AT_10, margin=margin))


_FEATURE_USERS: tuple[Where, ...] = tuple((LOG, kind) for kind in ("perfect", "navigational", "informational"))
"""The log has no features: other data stand in for it."""


_IN_WORLDS: tuple[Where, ...] = ((WORLDS, "CM"), (WORLDS, "PBM"))
_SHUFFLERS = ("BatchRank", "TopRank")
_LEARNERS = ("BubbleRank", *_SHUFFLERS)

CLAIMS = (
    claim(
        "BR1",
        "The regret of Baseline grows linearly with time, so it is not optimal on average.",
        f"Baseline loses more than {WORTH_LEARNING:.0%} of the clicks that the best list would get, and its regret "
        f"grows more than {GROWTH.margin:g}-fold over the last tenfold of the steps.",
        Part(
            "it loses more than a hundredth of the best list's clicks",
            (Ratio("Baseline's regret over the best list's clicks", regret("Baseline"), BEST_CLICKS, LOST),),
            EVERYWHERE,
        ),
        Part(
            f"its regret grows at least like n^{LINEAR:g}, as that of one list shown forever must unless it is 0",
            (_grows("Baseline"),),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR2",
        "CascadeKL-UCB learns the best list quickly in the CM and the DCM, and has linear regret in the PBM.",
        f"In the CM and the DCM each other bandit, and Baseline, ends with more than {APART:g} times the regret of "
        f"CascadeKL-UCB, of which the first tenth of the steps brings more than {FIRST_TENTH.margin:.1%}; in the PBM "
        f"its regret grows more than {GROWTH.margin:g}-fold over the last tenfold of the steps.",
        Part(
            "in the CM and the DCM all others' regret ends above its own",
            tuple(_times(other, "CascadeKL-UCB") for other in (*_LEARNERS, "Baseline")),
            _on("CM", "DCM"),
        ),
        Part(f"which grows at most like n^{SUBLINEAR:g}", (_settles("CascadeKL-UCB"),), _on("CM", "DCM")),
        Part(f"in the PBM it grows at least like n^{LINEAR:g}", (_grows("CascadeKL-UCB"),), _on("PBM")),
    ),
    claim(
        "BR3",
        "In earlier steps BubbleRank has a lower regret than BatchRank and TopRank; in five million it has a higher "
        "one.",
        f"After {EARLY[0]:,} and {EARLY[1]:,} steps the regret of BatchRank and of TopRank is more than {APART:g} "
        f"times BubbleRank's; after all {STEPS:,} BubbleRank's is more than {APART:g} times theirs.",
        Part(
            f"lower after {EARLY[0]:,} and {EARLY[1]:,} steps",
            _pairs(lambda other, n: _times(other, "BubbleRank", n), _SHUFFLERS, EARLY),
            EVERYWHERE,
        ),
        Part(
            "higher at the end", _pairs(lambda other: _times("BubbleRank", other), _SHUFFLERS), EVERYWHERE
        ),
    ),
    claim(
        "BR4",
        "BubbleRank never violates the safety constraint.",
        "No run of BubbleRank violates the constraint in any step, and there are enough runs to put the share of "
        f"safe ones above {SAFE:.0%}.",
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
        f"In the first 100 steps each bandit's number of violations is within {NEAR_PRINTED:g} of the printed one; "
        f"BatchRank and TopRank have over {OFTENER:g} more than CascadeKL-UCB and are less than {CLOSE:g} apart.",
        *(
            Part(
                f"within {NEAR_PRINTED:g} violations of the printed number in the {model}",
                tuple(_printed(bandit, model) for bandit in ("CascadeKL-UCB", *_SHUFFLERS)),
                _on(model),
            )
            for model in MODELS
        ),
        Part(
            "BatchRank and TopRank violate it more often than CascadeKL-UCB",
            _pairs(
                lambda other: difference(
                    in_100(other), in_100("CascadeKL-UCB"), f"{other}'s violations − CascadeKL-UCB's",
                    replace(IN_100, margin=OFTENER),
                ),
                _SHUFFLERS,
            ),
            EVERYWHERE,
        ),
        Part(
            f"TopRank and BatchRank are less than {CLOSE:g} apart",
            (
                Near(difference(in_100("TopRank"), in_100("BatchRank"), "TopRank's − BatchRank's", IN_100), CLOSE),
            ),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR6",
        "The regret of BubbleRank is linear in |V₀|.",
        f"Each wrong pair more in a query's first list (|V₀| is their number) adds more than {STEEP:.0%} of the mean "
        f"regret, and this slope changes by less than {BEND:.0%} from lists one standard deviation below the mean "
        "|V₀| to lists one above it.",
        Part(
            "it rises with |V₀| among the lists of a query",
            (Rises("slope of regret over |V₀|", A_PAIR),),
            EVERYWHERE,
        ),
        Part(
            "on a straight line: between lists one standard deviation below and above the mean |V₀| the slope changes "
            f"by less than {BEND:.0%}",
            (Near(Bends("change of the slope", BENDING), BEND),),
            EVERYWHERE,
        ),
        stand_ins=STAND_INS[:1],
    ),
    claim(
        "BR7",
        "The regret of BubbleRank doubles when the least examination probability halves.",
        "With every halving of the least examination probability the regret doubles: its log₂ rises by "
        f"{1 - DOUBLES:g} to {1 + DOUBLES:g}.",
        Part(
            f"log₂ of regret rises by 1 ± {DOUBLES:g} with every halving",
            (Near(Doubling("slope − 1", -1.0), DOUBLES),),
            ((SYNTHETIC, "PBM"),),
        ),
        protocol=Size(rounds=1_000_000, seeds=100, folds=5),
        stand_ins=(),
    ),
    claim(
        "BR8",
        "BubbleRank starts with an NDCG@5 close to Baseline's, BatchRank and TopRank with very low ones; after five "
        "million steps all three are near 1.",
        f"In the first 100 steps BubbleRank's NDCG@5 is less than {NEAR_BASELINE:g} below Baseline's, and those of "
        f"BatchRank and TopRank are more than {FAR_BELOW:g} below it; in the last tenth of the steps all three are "
        f"above {NEAR_ONE:g}.",
        Part(
            f"in the first 100 steps BubbleRank is less than {NEAR_BASELINE:g} below Baseline",
            (
                difference(
                    ndcg("BubbleRank", 100), ndcg("Baseline", 100),
                    "BubbleRank − Baseline", replace(NDCG, margin=-NEAR_BASELINE),
                ),
            ),
            EVERYWHERE,
        ),
        Part(
            f"and BatchRank and TopRank more than {FAR_BELOW:g}",
            _pairs(
                lambda other: difference(
                    ndcg("Baseline", 100), ndcg(other, 100), f"Baseline − {other}", replace(NDCG, margin=FAR_BELOW)
                ),
                _SHUFFLERS,
            ),
            EVERYWHERE,
        ),
        Part(
            f"in the last tenth of the steps all three are above {NEAR_ONE:g}",
            _pairs(
                lambda bandit: OverQueries(
                    bandit, ((1.0, ndcg(bandit, STEPS, since=LATE)),), replace(NDCG, margin=NEAR_ONE)
                ),
                _LEARNERS,
            ),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR9",
        "The violations of CascadeKL-UCB grow linearly with time in the PBM.",
        f"In the PBM the violations of CascadeKL-UCB grow more than {GROWTH.margin:g}-fold over the last tenfold of "
        "the steps.",
        Part(
            f"they grow at least like n^{LINEAR:g}",
            (
                Ratio(
                    "growth of CascadeKL-UCB's violations",
                    ((1.0, violations("CascadeKL-UCB")),), ((1.0, violations("CascadeKL-UCB", STEPS // 10)),), GROWTH,
                ),
            ),
            _on("PBM"),
        ),
    ),
    claim(
        "BRT1",
        "Lemma 9: event E holds in all steps with probability at least 1 − δ^½ K² n.",
        "In simulated worlds event E holds in all steps in a larger share of runs than 1 − δ^½ K² n.",
        Part("E held in a larger share of runs", _pairs(_holds, EVENT_ITEMS, FAILURES), _IN_WORLDS),
        protocol=Size(rounds=EVENT_STEPS, seeds=2000, folds=1),
        stand_ins=(),
    ),
    claim(
        "BRT2",
        "Lemma 6: on event E no more than K − 1 + 2|V₀| pairs are ever randomized.",
        "In simulated worlds no run in which E held randomizes more than K − 1 + 2|V₀| pairs, and there are enough "
        f"of these runs to put their share above {ALMOST_ALL:.0%}.",
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
        "In simulated worlds the mean regret is below the bound at every checkpoint at which the bound says "
        "anything, that is, lies below K n.",
        Part(
            "in every world where the bound is below K n, at every checkpoint",
            (UnderTheorem1("share of the bound that is left"),),
            _IN_WORLDS,
        ),
        protocol=Size(rounds=STEPS, seeds=10, folds=1),
        stand_ins=(),
    ),
    claim(
        "BRX1",
        "Beyond the paper: a learner that sees features keeps the safety constraint and learns. It is SafePairRank, "
        "which has PairRank's certain orders at the α tuned for PairRank_C, and BubbleRank's exchanges of neighbours.",
        f"SafePairRank violates the constraint in fewer than {RARELY:g} of 100 rounds, and in over {FEWER:g} fewer "
        f"than PairRank; in the last fifth of {FEATURE_ROUNDS:,} rounds its lists are more than {GAIN:g} of NDCG@10 "
        "above production's and BubbleRank's, and less than that below PairRank's.",
        Part(
            f"it violates the constraint in fewer than {RARELY:g} of 100 rounds",
            (
                Contrast(
                    "− SafePairRank's violations in 100 rounds", ((-100.0, _in_constraint(SAFE_RANKER, "violations")),),
                    replace(IN_100_ROUNDS, margin=-RARELY),
                ),
            ),
            _FEATURE_USERS,
        ),
        Part(
            f"in over {FEWER:g} fewer than PairRank",
            (
                Contrast(
                    "PairRank's violations in 100 rounds − SafePairRank's",
                    (
                        (100.0, _in_constraint(PARENT, "violations")),
                        (-100.0, _in_constraint(SAFE_RANKER, "violations")),
                    ),
                    replace(IN_100_ROUNDS, margin=FEWER),
                ),
            ),
            _FEATURE_USERS,
        ),
        Part(
            f"in the last fifth of the rounds its lists are more than {GAIN:g} of NDCG@10 above production's",
            (_lists_above("production's", SAFE_RANKER, "production_ndcg_total"),),
            _FEATURE_USERS,
        ),
        Part(
            "and as much above BubbleRank's, with perfect users",
            (_lists_above("BubbleRank's", BANDIT),),
            _FEATURE_USERS[:1],
        ),
        Part(
            f"less than {GAIN:g} of NDCG@10 below PairRank's",
            (_lists_above("PairRank's", PARENT, margin=-GAIN),),
            _FEATURE_USERS,
        ),
        protocol=Size(rounds=FEATURE_ROUNDS, seeds=2, folds=1),
        stand_ins=tuple(StandIn(LOG, name) for name in WITH_FEATURES),
    ),
)  # fmt: skip
