"""The claims of the BubbleRank paper as rules, declared before their results were read. Their words are in
`claims.toml`.

Each statement keeps the paper's wording; where the wording leaves a choice (how early is early?), the words of the part
make it. This module names items and does not import them. Intervals of means are over queries, each the mean of its
runs, because the paper draws its queries at random. A share is over all runs and speaks only of the queries and worlds
at hand.

BRX1 is ours and about data of other chapters, of which no rule above speaks; its intervals are over runs.

Regret is that of the paper's Eq. (4), counted from the list that earns most: clicks in the CM and the PBM, in the DCM
clicks after which the user leaves. Regrets are compared by ratio, because those of click models and of bandits differ
by powers of ten.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log
from typing import Literal

import numpy as np
import pandas as pd

from ol2r.experiments.claims import (
    WORLDS,
    Claim,
    Contrast,
    Measure,
    NotMeasured,
    Part,
    Results,
    Scale,
    Size,
    StandIn,
    Where,
    every,
    measure,
    of_means,
    over_folds,
    worded,
)
from ol2r.experiments.effects import (
    Effect,
    RatioOfMeans,
    Share,
    TooFewSeeds,
    fold_effect,
    mean_effect,
    ratio_effect,
)
from ol2r.experiments.published import printed_numbers
from ol2r.papers import texts

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
"""Share of the best list's reward; a list that loses less than this is as good as the best."""
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

LOST = Scale("share of the best list's reward that is lost", WORTH_LEARNING)
TIMES = Scale("regret of Eq. (4), times the other's", APART)
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
OF_SAFE_RUNS = Scale(f"share of safe runs beyond {SAFE:.0%}")
OF_RUNS = Scale(f"share of runs beyond {ALMOST_ALL:.0%}")
OF_PROMISED = Scale("share of runs beyond the promised one")

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


WORDS = texts.read(
    "bubblerank",
    "claims",
    STEPS=STEPS,
    EARLY=EARLY[0],
    LATER=EARLY[1],
    LINEARLY=f"n^{LINEAR:g}",
    SUBLINEARLY=f"n^{SUBLINEAR:g}",
    GROWTH=GROWTH.margin,
    FIRST_TENTH=FIRST_TENTH.margin,
    APART=APART,
    WORTH_LEARNING=WORTH_LEARNING,
    NEAR_PRINTED=NEAR_PRINTED,
    CLOSE=CLOSE,
    OFTENER=OFTENER,
    NEAR_BASELINE=NEAR_BASELINE,
    FAR_BELOW=FAR_BELOW,
    NEAR_ONE=NEAR_ONE,
    STEEP=STEEP,
    BEND=BEND,
    DOUBLES=DOUBLES,
    LEAST_DOUBLE=1 - DOUBLES,
    MOST_DOUBLE=1 + DOUBLES,
    SAFE=SAFE,
    ALMOST_ALL=ALMOST_ALL,
    FEATURE_ROUNDS=FEATURE_ROUNDS,
    RARELY=RARELY,
    FEWER=FEWER,
    GAIN=GAIN,
)

BEST = measure("query-rewards", "optimum", shared=True, any_users=False)
"""The expected reward of a step from the best list: one for each query."""


def regret(bandit: str, at: int = STEPS) -> Measure:
    """Regret of Eq. (4)."""
    return measure("fig-1", "regret", at, learner=bandit)


def violations(bandit: str, at: int | Literal["end"] = "end") -> Measure:
    return measure("fig-2", "violations", at, learner=bandit)


def in_100(bandit: str) -> Measure:
    return measure("first-100", "violations", 100, learner=bandit)


def ndcg(bandit: str, at: int, since: int | None = None) -> Measure:
    """Mean NDCG@5 of the lists shown up to a step, or in the steps since + 1 … at."""
    return measure("fig-4", "ndcg_total", at, "round", since=since, learner=bandit)


def _times(more: str, less: str, at: int = STEPS) -> Contrast:
    """One bandit's regret over another's."""
    when = "" if at == STEPS else f" after {at:,} steps"
    return Contrast(f"{more}'s regret over {less}'s{when}", regret(more, at) / regret(less, at), TIMES, of_means)


def _grows(bandit: str) -> Contrast:
    """Regret after the last step over that after a tenth of the steps."""
    return Contrast(f"growth of {bandit}'s regret", regret(bandit) / regret(bandit, STEPS // 10), GROWTH, of_means)


def _settles(bandit: str) -> Contrast:
    """The share of the final regret that a tenth of the steps has brought."""
    share = regret(bandit, STEPS // 10) / regret(bandit)
    return Contrast(f"share of {bandit}'s regret in the first tenth", share, FIRST_TENTH, of_means)


def _printed(bandit: str, model: str) -> Contrast:
    """How near a bandit's violations in the first 100 steps come to the printed number."""
    table = printed_numbers(__package__)
    found = (table["item"] == "first-100") & (table["users"] == model) & (table["learner"] == bandit)
    printed = float(table.loc[found, "mean"].iloc[0])
    return Contrast(
        f"{bandit}'s violations − {printed:g}", in_100(bandit) - printed, IN_100, over_folds, within=NEAR_PRINTED
    )


Estimated = Callable[[Contrast, Mapping[str, Results], str, str], Effect | RatioOfMeans | Share]


def share_of_runs(held: Callable[[pd.DataFrame], pd.Series], nominal: float, *, always: bool = False) -> Estimated:
    """The share of runs in which a statement held, minus a nominal share.

    Args:
        held: whether it held, for each run that counts, of the rows of the last step.
        nominal: the share that is claimed to be exceeded.
        always: whether the statement is claimed to hold always. Then one run in which it did not hold refutes it,
            because the share is compared with 1.
    """

    def estimate(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> Share:
        rows = contrast.quantity.selected(results, dataset, users).frame
        found = held(rows[rows["round"] == rows["round"].max()])
        if found.empty:
            raise NotMeasured(f"no run of {contrast.quantity.item} counts for {contrast.name}")
        claimed = 1.0 if always and not found.all() else nominal
        return Share(int(found.sum()), len(found), claimed, rows["fold"].nunique())

    return estimate


def _safe() -> Contrast:
    """That no run ever violates the safety constraint, V(n) = 0."""
    runs = measure("fig-2", "regret", learner="BubbleRank")
    of = share_of_runs(lambda rows: rows["violations"] == 0, SAFE, always=True)
    return Contrast(f"share of safe runs − {SAFE:g}", runs, OF_SAFE_RUNS, of)


def _holds(n_items: int, failure: float) -> Contrast:
    """That event E never fails, with the probability that Lemma 9 promises."""
    exponent = event_exponent(n_items, failure)
    promised = 1 - n_items**2 * EVENT_STEPS ** (1 - exponent / 2)
    name = f"share of runs − (1 − δ^½ K² n), K = {n_items}, δ^½ K² n = {failure:g}"
    of = share_of_runs(lambda rows: rows["event_broken"] == 0, promised)
    return Contrast(name, measure("event", "regret", cut=n_items, exponent=exponent), OF_PROMISED, of)


def _few(n_items: int, exponent: float) -> Contrast:
    """Lemma 6, |P| ≤ K − 1 + 2 |V₀|, of the runs in which event E held."""

    def held(rows: pd.DataFrame) -> pd.Series:
        rows = rows[rows["event_broken"] == 0]
        return rows["pairs"] <= n_items - 1 + 2 * rows["initial_inversions"]

    name = f"share of runs − {ALMOST_ALL:g}, K = {n_items}, δ = n^−{exponent:g}"
    runs = measure("event", "regret", cut=n_items, exponent=exponent)
    return Contrast(name, runs, OF_RUNS, share_of_runs(held, ALMOST_ALL, always=True))


def _last(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> pd.DataFrame:
    """The rows of the last step: of Figure 3 left one for each random initial list of each query."""
    rows = contrast.quantity.selected(results, dataset, users).frame
    return rows[rows["round"] == rows["round"].max()]


LISTS = measure("fig-3-left", "regret")


def rises(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> RatioOfMeans:
    """The mean over queries of the least-squares slope of regret over |V₀| among a query's lists, over the mean regret
    of all lists.

    Raises:
        NotMeasured: that mean is not positive.
    """
    lists = _last(contrast, results, dataset, users)
    slopes = slopes_by_query(lists)
    means = lists.groupby("fold")["regret"].mean()[slopes.index]
    index = pd.MultiIndex.from_product([slopes.index, [0]], names=["fold", "seed"])
    if not means.mean() > 0:
        raise NotMeasured(f"{contrast.name}: what it is divided by has no positive mean")
    return replace(ratio_effect(slopes.set_axis(index), means.set_axis(index)), seeds=lists["seed"].nunique())


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


def bends(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
    """By how much the slope over a query's lists changes from one standard deviation below the mean |V₀| of a random
    list to one above it, as a share of the slope at the mean.

        4 c σ / b   of  regret = a_q + b (x − x̄) + c (x − x̄)²,   x = |V₀|

    Least squares with a level a_q for each query; the standard error is a bootstrap over queries.
    """
    from ol2r.random import generator  # here, because it loads torch, which declaring a claim must not

    lists = _last(contrast, results, dataset, users)
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


def doubling(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
    """The slope of log₂ regret over i, where χ_min = 0.5^i, minus 1; each run has one slope."""
    values = contrast.quantity.values(results, dataset, users).unstack("fold")  # noqa: PD010 (every run has every fold)
    if (values <= 0).any(axis=None):
        raise NotMeasured("a run without regret has no logarithm")
    i = values.columns.to_numpy(dtype=float)
    slopes = np.log2(values.to_numpy()) @ (i - i.mean()) / ((i - i.mean()) ** 2).sum()
    index = pd.MultiIndex.from_product([[1], values.index], names=["fold", "seed"])
    return replace(mean_effect(pd.Series(slopes - 1.0, index=index)), folds=len(i))


def under_theorem_1(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
    """The share of Theorem 1's bound that mean regret leaves, in the world and at the checkpoint where it leaves least.

    Only worlds that meet the theorem's assumptions count, and only checkpoints at which the bound is below K n, which
    no regret can exceed.
    """
    from ol2r.papers.bubblerank.bounds import regret_against_bounds

    rows = contrast.quantity.selected(results, dataset, users).frame
    table = regret_against_bounds(rows, results[contrast.quantity.item].cells)
    told = table[table["assumed"] & (table["bound"] < table["everything"])]
    if told.empty:
        raise NotMeasured("the bound is above K n everywhere: nothing can exceed it")
    least = told.iloc[(told["regret"] / told["bound"]).argmax()]
    own = rows[(rows["fold"] == least["fold"]) & (rows["round"] == least["round"])]
    return mean_effect(1 - own.set_index(["fold", "seed"])["regret"] / least["bound"])


def claim(id_: str, *parts: Part, protocol: Size = PROTOCOL, stand_ins: tuple[StandIn, ...] = STAND_INS) -> Claim:
    return Claim("bubblerank", id_, parts, protocol, stand_ins)


def _on(*models: str) -> tuple[Where, ...]:
    return tuple((LOG, model) for model in models)


def since(rounds: int) -> int:
    """The rounds after this one are what happens at the end."""
    return rounds * 4 // 5


def _in_constraint(variant: str, column: str, *, late: bool = False) -> Measure:
    """A sum of the comparison of learners with features, a round; `late`: of the last fifth of the rounds alone."""
    after = since(FEATURE_ROUNDS) if late else None
    return measure("safety", column, per="round", since=after, variant=variant, items=RERANKED, production=FEW)


def _lists_above(whose: str, variant: str, column: str = "ndcg_total", *, margin: float = GAIN) -> Contrast:
    """What SafePairRank's lists score at the end beside other lists; the interval is over runs."""
    own, other = (_in_constraint(*each, late=True) for each in ((SAFE_RANKER, "ndcg_total"), (variant, column)))
    return Contrast(f"SafePairRank's lists − {whose}", own - other, replace(NDCG_AT_10, margin=margin))


_FEATURE_USERS: tuple[Where, ...] = tuple((LOG, kind) for kind in ("perfect", "navigational", "informational"))
"""The log has no features: other data stand in for it."""


_IN_WORLDS: tuple[Where, ...] = ((WORLDS, "CM"), (WORLDS, "PBM"))
_SHUFFLERS = ("BatchRank", "TopRank")
_LEARNERS = ("BubbleRank", *_SHUFFLERS)

CLAIMS = worded(
    WORDS,
    claim(
        "BR1",
        Part(
            (
                Contrast(
                    "Baseline's regret over the best list's reward",
                    regret("Baseline") / (float(STEPS) * BEST),
                    LOST,
                    of_means,
                ),
            ),
            EVERYWHERE,
        ),
        Part((_grows("Baseline"),), EVERYWHERE),
    ),
    claim(
        "BR2",
        Part(every(_times, (*_LEARNERS, "Baseline"), ("CascadeKL-UCB",)), _on("CM", "DCM")),
        Part((_settles("CascadeKL-UCB"),), _on("CM", "DCM")),
        Part((_grows("CascadeKL-UCB"),), _on("PBM")),
    ),
    claim(
        "BR3",
        Part(every(_times, _SHUFFLERS, ("BubbleRank",), EARLY), EVERYWHERE),
        Part(every(_times, ("BubbleRank",), _SHUFFLERS), EVERYWHERE),
    ),
    claim(
        "BR4",
        Part((_safe(),), EVERYWHERE),
        protocol=replace(PROTOCOL, seeds=PROTOCOL.seeds * PROTOCOL.folds),  # a share counts all runs
    ),
    claim(
        "BR5",
        *(Part(every(_printed, ("CascadeKL-UCB", *_SHUFFLERS), (model,)), _on(model)) for model in MODELS),
        Part(
            tuple(
                Contrast(
                    f"{other}'s violations − CascadeKL-UCB's",
                    in_100(other) - in_100("CascadeKL-UCB"),
                    replace(IN_100, margin=OFTENER),
                    over_folds,
                )
                for other in _SHUFFLERS
            ),
            EVERYWHERE,
        ),
        Part(
            (
                Contrast(
                    "TopRank's − BatchRank's", in_100("TopRank") - in_100("BatchRank"), IN_100, over_folds, within=CLOSE
                ),
            ),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR6",
        Part((Contrast("slope of regret over |V₀|", LISTS, A_PAIR, rises),), EVERYWHERE),
        Part((Contrast("change of the slope", LISTS, BENDING, bends, within=BEND),), EVERYWHERE),
        stand_ins=STAND_INS[:1],
    ),
    claim(
        "BR7",
        Part(
            (Contrast("slope − 1", measure("fig-3-right", "regret"), DOUBLINGS, doubling, within=DOUBLES),),
            ((SYNTHETIC, "PBM"),),
        ),
        protocol=Size(rounds=1_000_000, seeds=100, folds=5),
    ),
    claim(
        "BR8",
        Part(
            (
                Contrast(
                    "BubbleRank − Baseline",
                    ndcg("BubbleRank", 100) - ndcg("Baseline", 100),
                    replace(NDCG, margin=-NEAR_BASELINE),
                    over_folds,
                ),
            ),
            EVERYWHERE,
        ),
        Part(
            tuple(
                Contrast(
                    f"Baseline − {other}",
                    ndcg("Baseline", 100) - ndcg(other, 100),
                    replace(NDCG, margin=FAR_BELOW),
                    over_folds,
                )
                for other in _SHUFFLERS
            ),
            EVERYWHERE,
        ),
        Part(
            tuple(
                Contrast(own, ndcg(own, STEPS, since=LATE), replace(NDCG, margin=NEAR_ONE), over_folds)
                for own in _LEARNERS
            ),
            EVERYWHERE,
        ),
    ),
    claim(
        "BR9",
        Part(
            (
                Contrast(
                    "growth of CascadeKL-UCB's violations",
                    violations("CascadeKL-UCB") / violations("CascadeKL-UCB", STEPS // 10),
                    GROWTH,
                    of_means,
                ),
            ),
            _on("PBM"),
        ),
    ),
    claim(
        "BRT1",
        Part(every(_holds, EVENT_ITEMS, FAILURES), _IN_WORLDS),
        protocol=Size(rounds=EVENT_STEPS, seeds=2000, folds=1),
    ),
    claim(
        "BRT2",
        Part(tuple(_few(n, exponent) for n in EVENT_ITEMS for exponent in event_exponents(n)), _IN_WORLDS),
        protocol=Size(rounds=EVENT_STEPS, seeds=20, folds=1),
    ),
    claim(
        "BRT3",
        Part(
            (Contrast("share of the bound that is left", measure("bounds", "regret"), OF_BOUND, under_theorem_1),),
            _IN_WORLDS,
        ),
        protocol=Size(rounds=STEPS, seeds=10, folds=1),
    ),
    claim(
        "BRX1",
        Part(
            (
                Contrast(
                    "− SafePairRank's violations in 100 rounds",
                    -100.0 * _in_constraint(SAFE_RANKER, "violations"),
                    replace(IN_100_ROUNDS, margin=-RARELY),
                ),
            ),
            _FEATURE_USERS,
        ),
        Part(
            (
                Contrast(
                    "PairRank's violations in 100 rounds − SafePairRank's",
                    100.0 * _in_constraint(PARENT, "violations") - 100.0 * _in_constraint(SAFE_RANKER, "violations"),
                    replace(IN_100_ROUNDS, margin=FEWER),
                ),
            ),
            _FEATURE_USERS,
        ),
        Part((_lists_above("production's", SAFE_RANKER, "production_ndcg_total"),), _FEATURE_USERS),
        Part((_lists_above("BubbleRank's", BANDIT),), _FEATURE_USERS[:1]),
        Part((_lists_above("PairRank's", PARENT, margin=-GAIN),), _FEATURE_USERS),
        protocol=Size(rounds=FEATURE_ROUNDS, seeds=2, folds=1),
        stand_ins=tuple(StandIn(LOG, name) for name in WITH_FEATURES),
    ),
)
