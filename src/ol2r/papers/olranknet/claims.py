"""The claims of the olRankNet paper as rules, declared before any full-length result of theirs was looked at.

Their words are in `claims.toml`. Each statement keeps the paper's words, shortened; where they leave a choice (how
long is the beginning? how fast is quickly?), the words of the part make it. The paper draws its results and prints no
numbers. ORX1, ORX2 and ORX3 are ours: they ask what the paper could not or did not.

A round of the paper's 5000 has no counterpart in a shorter run. So rules that speak of time take shares of a data set's
own run, except for "the beginning", and online scores are means over the lists that a run showed, in which round t
counts γ^(t−1) times.

This module names items and does not import them. T and γ are defined here, because claims weigh scores by them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np
import pandas as pd

from ol2r.experiments.claims import (
    Claim,
    Contrast,
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
    Where,
    label,
    leads,
    over_folds,
    totals,
    worded,
)
from ol2r.experiments.effects import time_mean
from ol2r.papers import texts
from ol2r.papers.pairrank.claims import DIFFERENCE, above, under

USERS = ("perfect", "navigational", "informational")
MSLR, YAHOO = "MSLR-WEB10K", "Yahoo-LTRC-1"
NETWORK_TRUTH, LINEAR_TRUTH = "synthetic-mslr-net", "synthetic-mslr"
"""The same documents with grades from a wide network's score, and from a linear one."""
STAND_INS = (
    StandIn(MSLR, LINEAR_TRUTH, same_shape=True),
    StandIn(MSLR, NETWORK_TRUTH, same_shape=True),
    StandIn(YAHOO, "synthetic-yahoo", same_shape=True),
    StandIn(MSLR, "MQ2008"),
    StandIn(MSLR, "MQ2007_partial85"),
    StandIn(MSLR, "ClueWeb09_webis"),
)
"""What stands in for the paper's two data sets."""
BESIDE = {YAHOO: MSLR, "synthetic-yahoo": LINEAR_TRUTH}
"""The data set that one of Yahoo's shape is compared with, where a claim compares the paper's two."""

OURS = ("olRankNet", "olLambdaRank")
FULL = ("olRankNet, full",)
EXPLORING = OURS[:1]
"""Who is run without exploration as well; full and diagonal covariance are then the same."""
STEPPING = "neural epsilon-greedy"
"""The network that learns from the same pairs by one step a round; at ε = 0 it neither explores nor refits."""
AS_TUNED, STILL, ONE_STEP = "as tuned", "α = 0", "one step a round"
"""Ways to learn: refitting with exploration, refitting without, and neither."""
WORTH = {"exploring": (AS_TUNED, STILL), "refitting": (STILL, ONE_STEP)}
"""What is taken apart: by name, the way that has it, and the way that is the same without it."""
DUELING = ("DBGD", "neural DBGD")
BASELINES = ("PairRank", "PDGD", "neural PDGD", "DBGD", "neural DBGD", STEPPING)
FAR_BASELINES = tuple(name for name in BASELINES if name != "PairRank")
"""The baselines that the paper's learners lead clearly; their lead over PairRank, it says, is not as large."""
SKYLINE = "olLambdaRank GT"
VARIANTS = (*OURS, *FULL, *BASELINES, SKYLINE)

ALL_CELLS: tuple[Where, ...] = tuple(product((MSLR, YAHOO), USERS))
NOISY: tuple[Where, ...] = tuple(product((MSLR, YAHOO), ("navigational", "informational")))
NAVIGATIONAL: tuple[Where, ...] = ((MSLR, "navigational"), (YAHOO, "navigational"))
ON_YAHOO: tuple[Where, ...] = tuple(product((YAHOO,), USERS))
ON_LABELS: tuple[Where, ...] = ((MSLR, "true labels"), (YAHOO, "true labels"))
REALIZABLE: tuple[Where, ...] = ((MSLR, "realizable"), (YAHOO, "realizable"))
"""The documents of a data set with preferences that a wide network could learn, so that the true ones are known."""

K = 10
ROUNDS, GAMMA = 5000, 0.9995
ROUNDS_HERE = 1000
"""T on the data sets that are run here, a fifth of the paper's."""
PROTOCOL = Size(rounds=ROUNDS, seeds=10, folds=5)
FAR = 20_000
"""The number of rounds after which, the paper says, PDGD's own paper had its best neural ranker."""

OFFLINE_ITEM, ONLINE_ITEM, CERTAIN_ITEM = "fig-4", "fig-5", "fig-6"
LONG_ITEM = "fig-4-long"
"""Runs of the paper's length on data where those of `OFFLINE_ITEM` are shorter."""
FAR_ITEM, LDA_ITEM, LABELS_ITEM, EXPLORATION_ITEM, COVERAGE_ITEM = "far", "lda", "labels", "exploration", "coverage"

BEGINNING = 100
"""The number of rounds that "the beginning" is taken to mean."""
SMALL = 2 * DIFFERENCE
"""Two online scores differ little if they are less than this apart: one point of a hundred."""
SHARE = 0.05
"""The margin of shares of pairs: one pair in twenty. So much more is "faster", so much less "slower"."""
START, MIDDLE, FIFTH, LAST = (0, 1 / 500), (1 / 10, 1 / 5), (0, 1 / 5), (4 / 5, 1)
"""Stretches of a run, as shares of its rounds: the first two rounds of a thousand, the second half of the first fifth,
the first fifth, and the last."""
SEPARATED = 0.9
"""A direction separates grades if it orders at least this share of the pairs of different grades. Two normal classes of
equal spread of which it orders so many are 1.8 standard deviations apart, and the best cut between them still misplaces
18 % of the documents; at a share of ¾, which is half way from chance to perfect, it would misplace 32 %."""
ONE_PAIR = 0.01
"""The margin of what a network orders beyond a linear ranker: one pair in a hundred."""

OFFLINE = Scale("NDCG@10", DIFFERENCE)
ANY_LEAD = Scale("NDCG@10")
ONLINE = Scale("NDCG@10 of the shown lists", DIFFERENCE)
ONLINE_APART = Scale("NDCG@10 of the shown lists")
CERTAIN = Scale("share of certain orders", SHARE)
HALF_WAY = Scale("share of certain orders beyond half the way")
COVERED = Scale("share of covered pairs", SHARE)
UNORDERED = Scale("share of pairs short of that")
ORDERED = Scale("share of pairs ordered", ONE_PAIR)


class Beginning(Measure):
    """A column's mean over the rounds of the beginning, linear between checkpoints, round 0 included."""

    def until(self, last: int) -> int:
        """The last round of the beginning of a run of so many rounds."""
        return BEGINNING

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The mean of every run, indexed by (fold, seed).

        Raises:
            NotMeasured: as for `Measure.curve`, or there is no checkpoint at the last of these rounds.
        """
        curves = self.curve(results, dataset, users)
        until = self.until(int(curves.rounds.max()))
        if until not in curves.rounds:
            raise NotMeasured(f"{self.item} has no checkpoint at round {until}")
        early = curves.rounds <= until
        return pd.Series(time_mean(curves.table[:, early], curves.rounds[early].astype(float)), index=curves.runs)


class InLists(Measure):
    """Mean NDCG@10 of the lists that a run showed, as its cNDCG divided by the most that this could be.

    Σ_t γ^(t−1) NDCG_t / Σ_t γ^(t−1)
    """

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The mean of every run after the data set's own last round, indexed by (fold, seed).

        Raises:
            NotMeasured: as for `Measure.curve`.
        """
        curves = self.curve(results, dataset, users)
        last = curves.rounds.max()
        return pd.Series(curves.at(last) / weight(last), index=curves.runs)


class Best(Measure):
    """A column at the checkpoint where its mean over runs is highest, of runs that were long enough."""

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The value of every run at that checkpoint, indexed by (fold, seed).

        Raises:
            NotMeasured: as for `Measure.curve`, or the runs end before round `FAR`.
        """
        curves = self.curve(results, dataset, users)
        if curves.rounds.max() < FAR:
            raise NotMeasured(f"{self.item} ends at round {curves.rounds.max():,} of {FAR:,}")
        return pd.Series(curves.table[:, curves.table.mean(axis=0).argmax()], index=curves.runs)


class LongEnough(Measure):
    """A measure of runs that are at least as long as the paper's."""

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The rows that `Measure.selected` gives.

        Raises:
            NotMeasured: there are none, or the runs end before round `ROUNDS`.
        """
        rows = super().selected(results, dataset, users)
        if rows.last_round < ROUNDS:
            raise NotMeasured(f"{self.item} ends at round {rows.last_round:,} of {ROUNDS:,} on {label(dataset)}")
        return rows


class AtTuned(Measure):
    """A measure of intervals at the α that was tuned, of an item that has other values of α beside it."""

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The rows that `Measure.selected` gives, at the tuned α only.

        Raises:
            NotMeasured: there are none.
        """
        rows = super().selected(results, dataset, users)
        found = rows.where(rows["at"] == rows["tuned_alpha"])
        if not len(found):
            raise NotMeasured(f"{self.item} has no rows at the tuned α")
        return found


class Explores(Measure):
    """A measure of runs as tuned, of an item that has runs without exploration (α = 0) beside them."""

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The rows that `Measure.selected` gives, with the one α that is not 0.

        Raises:
            NotMeasured: there are none, or there are several such α.
        """
        rows = super().selected(results, dataset, users)
        found = rows.where(rows["alpha"] > 0)
        if len(np.unique(found["alpha"])) != 1:
            raise NotMeasured(f"{self.item} does not have exactly one α above 0")
        return found


class ExploresInLists(Explores, InLists):
    """The same for the mean of the shown lists."""


@dataclass(frozen=True)
class Stretch(Measure):
    """How much `column` grew over a stretch of a run, divided by the growth of `per`.

    Attributes:
        stretch: the shares of the data set's own rounds after which the stretch begins and ends.
    """

    stretch: tuple[float, float] = (0.0, 1.0)

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The ratio of every run, indexed by (fold, seed).

        Raises:
            NotMeasured: as for `Measure.values`, or there is no checkpoint at either end.
        """
        last = self.selected(results, dataset, users).last_round
        since, at = (round(share * last) for share in self.stretch)
        return Measure(self.item, self.column, self.labels, at, self.per, since=since).values(results, dataset, users)


@dataclass(frozen=True)
class Beside(Quantity):
    """A measure on the data set that the cell's data set is compared with (`BESIDE`), under the same users."""

    measure: Measure

    shared = False

    @property
    def item(self) -> str:
        return self.measure.item

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The rows on that other data set.

        Raises:
            NotMeasured: there are none, or the data set is compared with no other.
        """
        return self.measure.selected(results, self._other(dataset), users)

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The measure of every run on that other data set, indexed by (fold, seed).

        Raises:
            NotMeasured: as for `selected` and the measure.
        """
        return self.measure.values(results, self._other(dataset), users)

    def _other(self, dataset: str) -> str:
        if dataset not in BESIDE:
            raise NotMeasured(f"{label(dataset)} has the shape of neither of the two data sets that are compared")
        return BESIDE[dataset]

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper prints no numbers."""


@dataclass(frozen=True)
class FirstMeasured(Quantity):
    """The first of several quantities that can be measured; all of them say the same, each of other runs."""

    quantities: tuple[Quantity, ...]

    shared = False

    @property
    def item(self) -> str:
        return self.measures[0].item

    @property
    def measures(self) -> tuple[Measured, ...]:
        return tuple(dict.fromkeys(measure for each in self.quantities for measure in each.measures))

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        return self.measures[0].selected(results, dataset, users)

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The values of that quantity.

        Raises:
            NotMeasured: none of them can be measured.
        """
        missing = []
        for each in self.quantities:
            try:
                return totals((each,), results, dataset, users)[0]
            except NotMeasured as error:
                missing.append(str(error))
        raise NotMeasured(", ".join(missing))

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper prints no numbers."""


Rounds = TypeVar("Rounds", float, pd.Series)


def weight(rounds: Rounds) -> Rounds:
    """The cNDCG after so many rounds of a learner with NDCG = 1 in every round."""
    return (1 - GAMMA**rounds) / (1 - GAMMA)


def offline(variant: str) -> Measure:
    return Measure(OFFLINE_ITEM, "ndcg", (("variant", variant),))


def beginning(variant: str) -> Measure:
    return Beginning(OFFLINE_ITEM, "ndcg", (("variant", variant),))


def online(variant: str) -> Measure:
    return InLists(ONLINE_ITEM, "cndcg", (("variant", variant),))


def certain(variant: str, stretch: tuple[float, float]) -> Stretch:
    """The share of certain orders among the pairs of shown documents, over a stretch of the run."""
    return Stretch(CERTAIN_ITEM, "certain_pairs", (("variant", variant),), per="shown_pairs", stretch=stretch)


def ordered(by: str) -> Measure:
    """The share of pairs of different grades, of the same query, that LDA's direction or the truth orders correctly."""
    return Measure(LDA_ITEM, "value", (("quantity", by),), any_users=True)


def ordered_by_labels(ranker: str) -> Measure:
    """The same share of a ranker that was fitted to the labels of other queries."""
    return Measure(LABELS_ITEM, "ordered", (("ranker", ranker),), any_users=True)


def covered(covariance: str) -> Measure:
    """The share of pairs of test documents whose true difference lies in the interval, at the tuned α."""
    labels = (("quantity", "inside"), ("covariance", covariance), ("part", "test"))
    return AtTuned(COVERAGE_ITEM, "value", labels)


def certain_where_covered(covariance: str) -> Measure:
    """The share of pairs of test documents with a certain order, at the α with which 95 % of the pairs are covered."""
    labels = (("quantity", "certain where needed"), ("covariance", covariance), ("part", "test"))
    return Measure(COVERAGE_ITEM, "value", labels)


FAR_PDGD = Best(FAR_ITEM, "ndcg", (("variant", "neural PDGD"),))


def no_worse(measure: Quantity, other: Quantity, told: str, scale: Scale) -> Contrast:
    """The contrast measure − other, which may be below 0 by less than the margin of the scale."""
    return Contrast(told, measure - other, replace(scale, margin=-scale.margin))


def _above(variant: str, baseline: str) -> Contrast:
    return above(offline, OFFLINE, variant, baseline, offline(SKYLINE), SKYLINE)


def _beats_far_pdgd(variant: str) -> Contrast:
    """Whether a variant ends above the best of neural PDGD's long runs, in the main runs if those are long enough."""
    told = f"{variant} − neural PDGD's best in {FAR:,} rounds"
    ends = (LongEnough(item, "ndcg", (("variant", variant),)) for item in (OFFLINE_ITEM, LONG_ITEM))
    return Contrast(told, FirstMeasured(tuple(end - FAR_PDGD for end in ends)), OFFLINE)


def _roomy(contrast: Contrast, lower: Quantity, where: str) -> Contrast:
    """A contrast of a share with a lower one, which has no room where the lower one is already nearly 1."""
    return replace(contrast, most=1.0 - lower, where=where)


NEARLY_ALL = f"more than {1 - SHARE:.0%} of orders are certain"


def _risen(variant: str) -> Contrast:
    start, then = certain(variant, START), certain(variant, MIDDLE)
    rise = Contrast(f"{variant}'s certain orders in the second tenth of the rounds − at first", then - start, CERTAIN)
    return _roomy(rise, start, f"under {{users}} users, where {NEARLY_ALL} at first")


def _quickly(variant: str) -> Contrast:
    start, then, last = (certain(variant, stretch) for stretch in (START, MIDDLE, LAST))
    told = f"{variant}'s certain orders in the second tenth of the rounds − the mean of first and last"
    where = f"under {{users}} users, where {NEARLY_ALL} at first"
    return Contrast(told, then - 0.5 * start - 0.5 * last, HALF_WAY, most=1 - SHARE - start, where=where)


def _faster_than_mslr(variant: str) -> Contrast:
    here = certain(variant, MIDDLE)
    told = f"{variant}'s certain orders in the second tenth of the rounds − the same on MSLR's shape"
    there = Beside(here)
    lead = Contrast(told, here - there, CERTAIN)
    return _roomy(lead, there, f"under {{users}} users, where {NEARLY_ALL} on the other data set as well")


def _slower_than(variant: str, other: str) -> Contrast:
    share = certain(variant, FIFTH)
    told = f"{variant}'s certain orders in the first fifth of the rounds under {other} users − here"
    return _roomy(Contrast(told, under(share, other) - share, CERTAIN), share, f"where {NEARLY_ALL} under {{users}}")


def _wider_lead(variant: str, other: str) -> Contrast:
    """Whether variant − other, online, is larger under the users of the cell than under perfect ones."""
    lead = online(variant) - online(other)
    return Contrast(f"({variant} − {other}) − the same under perfect users", lead - under(lead, "perfect"), ONLINE)


def _more_pairs(measure: Callable[[str], Measure], scale: Scale, word: str) -> Contrast:
    full, diagonal = measure("full"), measure("diagonal")
    lead = Contrast(f"{word} pairs with full covariance − diagonal", full - diagonal, scale)
    return _roomy(lead, diagonal, f"where more than {1 - SHARE:.0%} of pairs are {word} with the diagonal")


def _as_good(measure: Callable[[str], Measure], scale: Scale, word: str) -> tuple[Contrast, ...]:
    """Full covariance against diagonal: no worse by the margin."""
    pairs = ((full, full.removesuffix(", full")) for full in FULL)
    return tuple(no_worse(measure(a), measure(b), f"{a} − {b}{word}", scale) for a, b in pairs)


def _gain(variant: str, column: str, tuned: type[Measure], without: type[Measure], scale: Scale) -> Contrast:
    """What exploration gains: a variant as tuned against the same without exploration."""
    labels = (("variant", variant),)
    exploring = tuned(EXPLORATION_ITEM, column, labels)
    greedy = without(EXPLORATION_ITEM, column, (*labels, ("alpha", 0.0)))
    return Contrast(f"{variant} − the same without exploration", exploring - greedy, scale)


def claim(name: str, *parts: Part, protocol: Size = PROTOCOL) -> Claim:
    return Claim("olranknet", name, parts, protocol, STAND_INS)


WORDS = texts.read(
    "olranknet",
    "claims",
    BEGINNING=BEGINNING,
    DIFFERENCE=DIFFERENCE,
    FAR=FAR,
    NEARLY_ALL=1 - SHARE,
    ONE_PAIR=ONE_PAIR,
    ROUNDS=ROUNDS,
    SEPARATED=SEPARATED,
    SHARE=SHARE,
    SMALL=SMALL,
)
CLAIMS = worded(
    WORDS,
    claim(
        "OR1",
        Part(tuple(_above(*each) for each in product(OURS, FAR_BASELINES)), ALL_CELLS),
        Part(leads(offline, ANY_LEAD, OURS, ("PairRank",)), ALL_CELLS),
    ),
    claim(
        "OR2",
        Part(
            leads(offline, OFFLINE, (*OURS, *(name for name in BASELINES if name not in DUELING)), DUELING), ALL_CELLS
        ),
    ),
    claim(
        "OR3",
        Part(
            (*leads(offline, OFFLINE, ("PDGD",), ("DBGD",)), *leads(offline, OFFLINE, ("neural PDGD",), DUELING[1:])),
            ALL_CELLS,
        ),
    ),
    claim(
        "OR4",
        Part(
            tuple(
                Contrast(f"PairRank − {v}, first {BEGINNING} rounds", beginning("PairRank") - beginning(v), OFFLINE)
                for v in OURS
            ),
            ALL_CELLS,
        ),
        Part(leads(offline, ANY_LEAD, OURS, ("PairRank",)), ALL_CELLS),
    ),
    claim("OR5", Part((no_worse(offline(OURS[1]), offline(OURS[0]), f"{OURS[1]} − {OURS[0]}", OFFLINE),), ALL_CELLS)),
    claim(
        "OR6",
        Part(leads(online, ONLINE, OURS, BASELINES), ALL_CELLS),
        Part(tuple(replace(lead, within=SMALL) for lead in leads(online, ONLINE_APART, OURS[1:], OURS[:1])), ALL_CELLS),
    ),
    claim(
        "OR7",
        Part((_risen(OURS[0]), _quickly(OURS[0])), ALL_CELLS),
        Part((_faster_than_mslr(OURS[0]),), ON_YAHOO),
        Part(tuple(_slower_than(OURS[0], other) for other in ("perfect", "informational")), NAVIGATIONAL),
    ),
    claim(
        "OR8",
        Part(
            (Contrast(f"{SEPARATED:g} − share that LDA orders", SEPARATED - ordered("linear"), UNORDERED, over_folds),),
            ON_LABELS,
        ),
        protocol=Size(rounds=0, seeds=1, folds=5),
    ),
    claim("OR9", Part(tuple(_beats_far_pdgd(variant) for variant in OURS), ALL_CELLS)),
    claim(
        "OR10",
        Part(leads(online, ONLINE, OURS, ("PDGD", "neural PDGD")), ALL_CELLS),
        Part(
            (
                *leads(online, ONLINE, ("PDGD",), ("neural PDGD",)),
                *(_wider_lead(variant, "neural PDGD") for variant in OURS),
            ),
            NOISY,
        ),
    ),
    claim(
        "ORX1",
        Part(_as_good(offline, OFFLINE, ", offline"), ALL_CELLS),
        Part(_as_good(online, ONLINE, ", online"), ALL_CELLS),
        Part(_as_good(lambda v: certain(v, LAST), CERTAIN, ", certain orders"), ALL_CELLS),
        Part((_more_pairs(covered, COVERED, "covered"),), REALIZABLE),
        Part((_more_pairs(certain_where_covered, CERTAIN, "certain"),), REALIZABLE),
    ),
    claim(
        "ORX2",
        Part(tuple(_gain(variant, "ndcg", Explores, Measure, OFFLINE) for variant in EXPLORING), ALL_CELLS),
        Part(tuple(_gain(variant, "cndcg", ExploresInLists, InLists, ONLINE) for variant in EXPLORING), ALL_CELLS),
    ),
    claim(
        "ORX3",
        Part(
            (
                Contrast(
                    "share that a network orders − a linear ranker",
                    ordered_by_labels("network") - ordered_by_labels("linear ranker"),
                    ORDERED,
                ),
            ),
            ON_LABELS,
        ),
        protocol=Size(rounds=0, seeds=10, folds=5),
    ),
)
