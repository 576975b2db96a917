"""The claims of the P²NeurRank paper as rules, declared before any full-length result of theirs was looked at.

Their words are in `claims.toml`. Each statement keeps the paper's words, shortened; where they leave a choice (how
much is mild? what is worst, basically?), the words of the part make it. The paper draws its results and prints no
numbers. PPX1 to PPX3 are ours: they ask what the paper could not or did not.

Margins are those of the earlier chapters. Rules that speak of time take shares of a data set's own run, and online
scores are means over the lists that a run showed, in which round t counts γ^(t−1) times, as in the olRankNet chapter.

This module names items and does not import them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple, cast

import numpy as np
import pandas as pd

from ol2r.experiments.claims import (
    Claim,
    Contrast,
    Curves,
    Measure,
    Measured,
    NotMeasured,
    Part,
    Printed,
    Quantity,
    Results,
    Scale,
    Selection,
    Size,
    StandIn,
    Sum,
    Tables,
    Where,
    leads,
    mean_of,
    totals,
    worded,
)
from ol2r.experiments.effects import Effect, mean_effect, time_mean
from ol2r.papers import texts
from ol2r.papers.olranknet.claims import (
    ANY_LEAD,
    FIFTH,
    OFFLINE,
    ONLINE,
    ONLINE_APART,
    ROUNDS,
    SHARE,
    SKYLINE,
    SMALL,
    Beginning,
    InLists,
    no_worse,
)
from ol2r.papers.pairrank.claims import COMPARABLE, DIFFERENCE, REFERENCE, above, under

USERS = ("perfect", "navigational", "informational")
MSLR, YAHOO = "MSLR-WEB10K", "Yahoo-LTRC-1"
STAND_INS = (
    StandIn(MSLR, "synthetic-mslr", same_shape=True),
    StandIn(MSLR, "MQ2008"),
    StandIn(MSLR, "MQ2007_partial85"),
    StandIn(MSLR, "ClueWeb09_webis"),
)
"""What stands in for the paper's two data sets; networks run on the first two."""
PROTOCOL = Size(rounds=ROUNDS, seeds=10, folds=5)
"""The paper cuts MSLR-WEB10K into five folds, and Yahoo, which comes with one split, into two of its own."""

NUMBERS_OF_RANKERS = (2, 5, 10)
SHOWN = NUMBERS_OF_RANKERS[:2]
"""N of the rankers in the paper's Figures 2 to 5."""


def linear(rankers: int) -> str:
    """The variant of P²LinRank with N rankers."""
    return f"P2LinRank, N = {rankers}"


def neural(rankers: int) -> str:
    """The variant of P²NeurRank with N rankers."""
    return f"P2NeurRank, N = {rankers}"


LINEAR = linear(SHOWN[0]), linear(SHOWN[1])
PAIRRANK, PAIRRANK_DIAGONAL = "PairRank", "PairRank, diagonal"
LINEAR_GREEDY = "epsilon-greedy"
LINEAR_BASELINES = (LINEAR_GREEDY, "DBGD", "PDGD")
LINEAR_VARIANTS = (*LINEAR, PAIRRANK, PAIRRANK_DIAGONAL, *LINEAR_BASELINES)
NEURAL = neural(SHOWN[0]), neural(SHOWN[1])
OLRANKNET, OLRANKNET_FULL = "olRankNet", "olRankNet, full"
"""With diagonal covariance, as the paper's olRankNet-Diag; and with the full one, which the paper has for 16 × 16
networks alone."""
NEURAL_BASELINES = ("neural epsilon-greedy", "neural DBGD", "neural PDGD")
NEURAL_VARIANTS = (*NEURAL, OLRANKNET, *NEURAL_BASELINES)
SIXTEEN_FULL, SIXTEEN_DIAGONAL = (f"olRankNet, 16 × 16, {covariance}" for covariance in ("full", "diagonal"))
FULL_FORMS = tuple(f"olRankNet, full ({form})" for form in ("naive inversion", "rank updates", "dual"))
"""The full covariance of Figure 9: inverted in every round, as the paper timed it, and two forms that compute the same
numbers otherwise."""
DIAGONAL = "olRankNet, diagonal"
TIMED = (*FULL_FORMS, DIAGONAL, neural(2), neural(1))
RIVALS = {linear(2): PAIRRANK, neural(2): OLRANKNET}
"""By learner that explores by perturbation, the one that explores by confidence intervals."""

BOTH = (MSLR, YAHOO)
ALL_CELLS: tuple[Where, ...] = tuple(product(BOTH, USERS))
PERFECT: tuple[Where, ...] = tuple(product(BOTH, ("perfect",)))
INFORMATIONAL: tuple[Where, ...] = tuple(product(BOTH, ("informational",)))
ON_MSLR: tuple[Where, ...] = tuple(product((MSLR,), ("perfect", "informational")))
ONE_CELL: tuple[Where, ...] = ((MSLR, "perfect"),)
"""Data and users of Figures 7 and 8 are ours, for the paper does not say; those of Figure 9 are the paper's."""
POOLED: tuple[Where, ...] = tuple(product(BOTH, ("all",)))
"""Where a contrast is the mean over all kinds of users."""
MOST = 4
"""The number of the six cells that are "most" of them."""

LARGE_NOISE, SMALL_NOISE = 0.1, 0.01
"""ν² of Figures 7 and 8."""
HISTORY = 1 / 10
"""The share of a run's rounds after which an order is called certain early."""
TENTHS = 10
BIG = 1.0
"""A gap between running times is big if the one is more than twice the other: one doubling."""
SLIGHTLY = float(np.log2(1.5))
"""A running time is slightly longer if it is so by less than half."""
TWENTIETH = 0.05
"""The least part of a regret that a reader would call a difference."""

MILD = Scale("NDCG@10 short of that")
SERIOUS = Scale("NDCG@10 of the shown lists", COMPARABLE)
TIME = Scale("doublings of the seconds a round", BIG)
ANY_TIME = Scale("doublings of the seconds a round")
LITTLE_TIME = Scale("doublings of the seconds a round short of that")
WRONG = Scale("share of certain orders that are wrong", SHARE)
REGRET = Scale("regret, 5 % taken off", unit="misordered pairs")


class FirstFifth(Beginning):
    """A column's mean over the first fifth of the data set's own rounds, linear between checkpoints, from round 0."""

    def until(self, last: int) -> int:
        return round(FIFTH[1] * last)


class Early(Measure):
    """A column after a tenth of the rounds that the item has on the data set."""

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The value of every run at that checkpoint, indexed by (fold, seed).

        Raises:
            NotMeasured: as for `Measure.values`.
        """
        at = round(HISTORY * self.selected(results, dataset, users).last_round)
        return Measure(self.item, self.column, self.labels, at).values(results, dataset, users)


class Spent(NamedTuple):
    """Seconds that one replica has spent up to each checkpoint, from round 0 on; both Float64[checkpoints]."""

    rounds: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Seconds(Quantity):
    """The seconds of a round of a variant, in ranking and in learning, on the machine that timed it.

    Attributes:
        item: the item whose results hold `rank_seconds` and `update_seconds`, summed over the rounds so far and over
            the `replicas` of a batch.
        variant: whose they are.
    """

    item: str
    variant: str

    shared = False

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The variant's rows, as `Measure.selected` gives them."""
        return Measure(self.item, "", (("variant", self.variant),)).selected(results, dataset, users)

    def spent(self, results: Mapping[str, Results], dataset: str, users: str) -> Spent:
        """The seconds up to each checkpoint, in the mean over measurements.

        Raises:
            NotMeasured: there are none, or they do not grow from round to round.
        """
        rows = self.selected(results, dataset, users)
        curves = rows.curves((rows["rank_seconds"] + rows["update_seconds"]) / rows["replicas"])
        here = curves.rounds > 0
        rounds = np.concatenate([[0.0], curves.rounds[here]])
        seconds = np.concatenate([[0.0], curves.table[:, here].mean(axis=0)])
        if not (np.diff(seconds) > 0).all():  # so too where one is missing
            raise NotMeasured(f"the seconds of {self.variant} in {self.item} do not grow from round to round")
        return Spent(rounds, seconds)

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """log₂ of the mean seconds of a round in each tenth of the longest run that the item has on the data set.

        Returns:
            A value for each tenth, indexed by (fold, seed) as runs are: the fold is 1, the seed numbers the tenths.

        Raises:
            NotMeasured: as for `spent`, or there is no checkpoint at the end of a tenth.
        """
        last = Measure(self.item, "").selected(results, dataset, users).last_round
        ends = [round(last * i / TENTHS) for i in range(TENTHS + 1)]
        spent = self.spent(results, dataset, users)
        absent = [end for end in ends if end not in spent.rounds]
        if absent:
            raise NotMeasured(f"{self.item} has no seconds of {self.variant} at round {absent[0]:,}")
        total = spent.seconds[np.isin(spent.rounds, ends)]
        tenths = pd.MultiIndex.from_product([[1], range(TENTHS)], names=["fold", "seed"])
        return pd.Series(np.log2(np.diff(total) / np.diff(ends)), index=tenths)

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper draws its times."""


def over_tenths(contrast: Contrast, results: Tables, dataset: str, users: str) -> Effect:
    """The mean over the tenths of one run, with the interval that their spread gives."""
    return replace(mean_effect(totals((contrast.quantity,), results, dataset, users)[0]), seeds=1)


@dataclass(frozen=True)
class AtEqualCompute(Quantity):
    """How far one variant's score is above another's when both have computed for as many seconds.

        s_v(b) = score of v at the round that v reaches in b seconds, linear between checkpoints
        b* = the seconds in which the faster of the two has done its whole run
        effect = s_v(b*) − s_other(b*), or the same of the means of s over 0 … b*

    The seconds up to a round are those of the timing of the same variant on the same data set and under the same users;
    both variants must have been timed on the same machine. They are taken as known, so that the interval is that of the
    scores.

    Attributes:
        score, other: the scores, offline NDCG@10 at checkpoints.
        spent, other_spent: the seconds of either.
        mean: whether means over the seconds up to b* are compared, and not the scores at b*.
    """

    score: Measure
    other: Measure
    spent: Seconds
    other_spent: Seconds
    mean: bool = False

    shared = False

    @property
    def item(self) -> str:
        return self.score.item

    @property
    def measures(self) -> tuple[Measured, ...]:
        return (self.score, self.other, self.spent, self.other_spent)

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        return self.score.selected(results, dataset, users)

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The lead of every run that both have.

        Raises:
            NotMeasured: there are no scores or seconds, or a variant was timed for fewer rounds than it was run.
        """
        curves = [each.curve(results, dataset, users) for each in (self.score, self.other)]
        spent = [self._spent(*each, results, dataset, users) for each in zip(curves, self._seconds, strict=True)]
        budget = min(seconds[-1] for seconds in spent)
        mine, others = (self._score(*each, budget) for each in zip(curves, spent, strict=True))
        runs = mine.index.intersection(others.index)
        return mine[runs] - others[runs]

    @property
    def _seconds(self) -> tuple[Seconds, Seconds]:
        return self.spent, self.other_spent

    def _spent(
        self, curves: Curves, timed: Seconds, results: Mapping[str, Results], dataset: str, users: str
    ) -> np.ndarray:
        """The seconds up to each checkpoint of the scores: Float64[checkpoints]."""
        spent = timed.spent(results, dataset, users)
        if spent.rounds[-1] < curves.rounds[-1]:
            told = f"{spent.rounds[-1]:,.0f} of {curves.rounds[-1]:,.0f} rounds"
            raise NotMeasured(f"{timed.item} has the seconds of {told} of {timed.variant}")
        return np.interp(curves.rounds, spent.rounds, spent.seconds)

    def _score(self, curves: Curves, seconds: np.ndarray, budget: float) -> pd.Series:
        """The score of every run at the budget, or its mean over the seconds up to there."""
        at = np.array([np.interp(budget, seconds, run) for run in curves.table])
        if not self.mean:
            return pd.Series(at, index=curves.runs)
        before = seconds < budget
        table = np.column_stack([curves.table[:, before], at])
        return pd.Series(time_mean(table, np.append(seconds[before], budget)), index=curves.runs)

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper compares at equal numbers of rounds."""


def _measure(kind: type[Measure], item: str, column: str) -> Callable[[str], Measure]:
    return lambda variant: kind(item, column, (("variant", variant),))


offline_linear, offline_neural = (_measure(Measure, item, "ndcg") for item in ("fig-2", "fig-4"))
online_linear, online_neural = (_measure(InLists, item, "cndcg") for item in ("fig-3", "fig-5"))
on_folds, on_folds_online = _measure(Measure, "folds", "ndcg"), _measure(InLists, "folds", "cndcg")
first_fifth = _measure(FirstFifth, "fig-2", "ndcg")
small_network = _measure(Measure, "fig-6", "ndcg")


def zoomed(noise: float, rankers: int, online: bool) -> Measure:
    """The score of P²NeurRank with N rankers in Figure 7 (ν² = 0.1) or 8 (ν² = 0.01)."""
    item = {LARGE_NOISE: "fig-7", SMALL_NOISE: "fig-8"}[noise]
    labels = (("rankers", float(rankers)), ("noise", noise))
    return InLists(item, "cndcg", labels) if online else Measure(item, "ndcg", labels)


def wrong(variant: str) -> Measure:
    """The share of the certain orders that grades contradict, on the histories that all variants share.

    Ensembles have ν² = 0.1, confidence sets their tuned width.
    """
    labels = (("variant", variant), ("quantity", "false certain"))
    perturbed = () if variant in RIVALS.values() else (("noise", LARGE_NOISE),)
    return Early("histories", "value", (*labels, *perturbed))


def exploring(variant: str, column: str) -> Measure:
    """A column at the end of an ensemble's own run at ν² = 0.1."""
    return Measure("certainty", column, (("variant", variant), ("noise", LARGE_NOISE)))


def _above_linear(variant: str, baseline: str) -> Contrast:
    return above(offline_linear, OFFLINE, variant, baseline, REFERENCE, "offline RankNet")


def _above_neural(measure: Callable[[str], Measure], variant: str, baseline: str, item: str = "fig-4") -> Contrast:
    return above(measure, OFFLINE, variant, baseline, Measure(item, "ndcg", (("variant", SKYLINE),)), SKYLINE)


def _not_below(measure: Callable[[str], Measure], variant: str, other: str, scale: Scale, word: str) -> Contrast:
    return no_worse(measure(variant), measure(other), f"{variant} − {other}, {word}", scale)


def _close(measure: Callable[[str], Measure], few: str, more: str, scale: Scale, word: str) -> Contrast:
    return pooled(Contrast(f"{few} − {more}, {word}", measure(few) - measure(more), scale, within=SMALL))


def _best(noise: float, rankers: int, online: bool) -> tuple[Contrast, ...]:
    scale, word = (ONLINE, "online") if online else (OFFLINE, "offline")
    own = zoomed(noise, rankers, online)
    others = (n for n in NUMBERS_OF_RANKERS if n != rankers)
    told = f"ν² = {noise:g}, {word}"
    return tuple(Contrast(f"N = {rankers} − N = {n}, {told}", own - zoomed(noise, n, online), scale) for n in others)


def pooled(contrast: Contrast) -> Contrast:
    """The contrast in the mean over all kinds of users, run by run: runs of the same fold and seed have the same
    queries."""
    most = contrast.most and _over_users(contrast.most)
    return replace(contrast, quantity=_over_users(contrast.quantity), most=most)


def _over_users(quantity: Quantity) -> Sum:
    own = quantity.sum
    means = (weight * mean_of([under(cast(Measure, each), kind) for kind in USERS]) for weight, each in own.terms)
    return sum(means, Sum((), own.offset))


def _mild(measure: Callable[[str], Measure], variant: str, other: str) -> Contrast:
    """Whether a variant is below the other by less than what comparable scores may be apart."""
    return Contrast(f"{COMPARABLE:g} − ({other} − {variant})", COMPARABLE - (measure(other) - measure(variant)), MILD)


def _slower(slow: str, fast: str, scale: Scale) -> Contrast:
    return Contrast(f"{slow} ÷ {fast}", Seconds("fig-9", slow) - Seconds("fig-9", fast), scale, over_tenths)


def _barely_slower(slow: str, fast: str) -> Contrast:
    short = SLIGHTLY - (Seconds("fig-9", slow) - Seconds("fig-9", fast))
    return Contrast(f"one and a half ÷ ({slow} ÷ {fast})", short, LITTLE_TIME, over_tenths)


def _more_wrong(variant: str, other: str) -> Contrast:
    return Contrast(f"{variant}'s wrong certain orders − {other}'s", wrong(variant) - wrong(other), WRONG)


def _regrets(variant: str, other: str) -> Contrast:
    less = (1 - TWENTIETH) * exploring(variant, "misordered") - exploring(other, "misordered")
    return Contrast(f"95 % of {variant}'s regret − {other}'s", less, REGRET)


def _at_equal_compute(mean: bool) -> tuple[Contrast, ...]:
    told = "in the mean over the seconds" if mean else "at the end"
    pairs = ((a, b, offline_linear if a == linear(2) else offline_neural) for a, b in RIVALS.items())
    return tuple(
        Contrast(
            f"{a} − {b}, {told}",
            AtEqualCompute(of(a), of(b), Seconds("timing", a), Seconds("timing", b), mean),
            OFFLINE,
        )
        for a, b, of in pairs
    )


def claim(name: str, *parts: Part, protocol: Size = PROTOCOL) -> Claim:
    return Claim("p2neurrank", name, parts, protocol, STAND_INS)


OTHERS = tuple(name for name in LINEAR_VARIANTS if name != LINEAR_GREEDY)
CHEAPER = (neural(1), neural(2), DIAGONAL)
"""What the paper's Figure 9 has beside the full covariance."""

WORDS = texts.read(
    "p2neurrank",
    "claims",
    COMPARABLE=COMPARABLE,
    DIFFERENCE=DIFFERENCE,
    LARGE_NOISE=LARGE_NOISE,
    MOST=MOST,
    SHARE=SHARE,
    SMALL=SMALL,
    SMALL_NOISE=SMALL_NOISE,
    TWENTIETH=TWENTIETH,
)
CLAIMS = worded(
    WORDS,
    claim(
        "PP1",
        Part(tuple(_above_linear(*each) for each in product((*LINEAR, PAIRRANK), LINEAR_BASELINES)), ALL_CELLS),
        Part(leads(online_linear, ONLINE, (*LINEAR, PAIRRANK), LINEAR_BASELINES), ALL_CELLS),
        Part(
            (
                *(_not_below(offline_linear, each, PAIRRANK, OFFLINE, "offline") for each in LINEAR),
                *(_not_below(online_linear, each, PAIRRANK, ONLINE, "online") for each in LINEAR),
            ),
            ALL_CELLS,
        ),
    ),
    claim(
        "PP2",
        Part(leads(offline_linear, ANY_LEAD, OTHERS, (LINEAR_GREEDY,)), ALL_CELLS, need=MOST),
        Part(leads(online_linear, ONLINE_APART, OTHERS, (LINEAR_GREEDY,)), ALL_CELLS, need=MOST),
    ),
    claim(
        "PP3",
        Part(
            (
                *leads(offline_linear, ANY_LEAD, (PAIRRANK,), (PAIRRANK_DIAGONAL,), ", offline"),
                *leads(online_linear, ONLINE_APART, (PAIRRANK,), (PAIRRANK_DIAGONAL,), ", online"),
            ),
            ALL_CELLS,
        ),
        Part(
            (
                *leads(online_linear, SERIOUS, (PAIRRANK,), (PAIRRANK_DIAGONAL,), ", online"),
                _mild(offline_linear, PAIRRANK_DIAGONAL, PAIRRANK),
            ),
            PERFECT,
        ),
        Part(
            (
                *leads(offline_linear, OFFLINE, (PAIRRANK,), (PAIRRANK_DIAGONAL,), ", offline"),
                *leads(online_linear, ONLINE, (PAIRRANK,), (PAIRRANK_DIAGONAL,), ", online"),
            ),
            INFORMATIONAL,
        ),
        Part(leads(online_linear, ONLINE, ("PDGD",), (PAIRRANK_DIAGONAL,)), ON_MSLR),
    ),
    claim(
        "PP4",
        Part(leads(first_fifth, OFFLINE, LINEAR[:1], (PAIRRANK,), ", first fifth of the rounds"), ALL_CELLS),
        Part(
            (
                _not_below(offline_linear, *LINEAR, OFFLINE, "offline"),
                _not_below(online_linear, *LINEAR, ONLINE, "online"),
            ),
            ALL_CELLS,
            need=MOST,
        ),
    ),
    claim(
        "PP5",
        Part((pooled(_above_neural(on_folds, NEURAL[0], OLRANKNET, "folds")),), POOLED),
        Part(tuple(map(pooled, leads(on_folds_online, ONLINE, NEURAL[:1], (OLRANKNET,)))), POOLED),
    ),
    claim("PP6", Part((_above_neural(small_network, SIXTEEN_FULL, SIXTEEN_DIAGONAL),), PERFECT)),
    claim(
        "PP7",
        Part((*_best(LARGE_NOISE, 2, False), *_best(LARGE_NOISE, 2, True)), ONE_CELL),
        Part((*_best(SMALL_NOISE, 10, False), *_best(SMALL_NOISE, 10, True)), ONE_CELL),
    ),
    claim(
        "PP8",
        Part(tuple(_slower(FULL_FORMS[0], each, TIME) for each in CHEAPER), ONE_CELL),
        Part((_slower(neural(2), DIAGONAL, ANY_TIME), _barely_slower(neural(2), DIAGONAL)), ONE_CELL),
        Part(tuple(_slower(each, neural(1), ANY_TIME) for each in (neural(2), DIAGONAL)), ONE_CELL),
        protocol=Size(rounds=ROUNDS, seeds=1, folds=1),
    ),
    claim(
        "PP9",
        Part(
            tuple(
                pooled(_above_neural(offline_neural, *each)) for each in product((OLRANKNET, *NEURAL), NEURAL_BASELINES)
            ),
            POOLED,
        ),
        Part(tuple(map(pooled, leads(online_neural, ONLINE, (OLRANKNET, *NEURAL), NEURAL_BASELINES))), POOLED),
    ),
    claim(
        "PP10",
        Part(
            (
                pooled(_not_below(offline_neural, *NEURAL, OFFLINE, "offline")),
                pooled(_not_below(online_neural, *NEURAL, ONLINE, "online")),
            ),
            POOLED,
        ),
        Part(
            (
                _close(offline_neural, *NEURAL, ANY_LEAD, "offline"),
                _close(online_neural, *NEURAL, ONLINE_APART, "online"),
            ),
            POOLED,
        ),
    ),
    claim(
        "PPX1",
        Part(tuple(_more_wrong(of(2), of(10)) for of in (linear, neural)), ON_MSLR),
        Part(tuple(_more_wrong(*pair) for pair in RIVALS.items()), ON_MSLR),
        Part(
            tuple(
                Contrast(f"{of(10)} − {of(2)}", exploring(of(10), "ndcg") - exploring(of(2), "ndcg"), OFFLINE)
                for of in (linear, neural)
            ),
            ON_MSLR,
        ),
        Part(tuple(_regrets(of(2), of(10)) for of in (linear, neural)), ON_MSLR),
    ),
    claim("PPX2", Part(_at_equal_compute(False), ALL_CELLS), Part(_at_equal_compute(True), ALL_CELLS)),
    claim(
        "PPX3",
        Part(tuple(_slower(*each, TIME) for each in product(FULL_FORMS[1:], CHEAPER)), ONE_CELL),
        protocol=Size(rounds=ROUNDS, seeds=1, folds=1),
    ),
)
