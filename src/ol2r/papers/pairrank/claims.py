"""The claims of the PairRank paper as rules.

Each statement keeps the paper's wording, except PR6, which is weaker. Where the wording leaves a choice (how near is
near? how much is strongly?), the words of the part make it. The rules were declared before any of their results
existed; all that claim a lead had a margin of 0. Three things were set after results had been seen: the margins, the
cases in which a margin leaves no room, and the meaning of words such as "strongly". They follow what a reader would
call a difference; the paper draws its results and prints none from which a margin could be taken.

This module names items and does not import them. T and γ are defined here, because claims weigh scores by them. The two
claims on theory read the tables of the audits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd

from ol2r.experiments.claims import (
    WORLDS,
    Claim,
    Compared,
    Contrast,
    Covered,
    Label,
    Measure,
    Measured,
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
    WorldMeasure,
    difference,
    label,
)
from ol2r.experiments.effects import Effect, mean_effect

USERS = ("perfect", "navigational", "informational")
MSLR, YAHOO = "MSLR-WEB10K", "Yahoo-LTRC-1"
STAND_INS = (
    StandIn(MSLR, "synthetic-mslr", same_shape=True),
    StandIn(YAHOO, "synthetic-yahoo", same_shape=True),
    StandIn(MSLR, "MQ2008"),
    StandIn(MSLR, "MQ2007_partial85"),
    StandIn(MSLR, "ClueWeb09_webis"),
)
"""What stands in for the paper's two data sets: a synthetic set in the shape of each, and real data of other shapes."""

PAIRRANK = ("PairRank_R", "PairRank_C")
BASELINES = ("DBGD", "MGD", "PDGD", "epsilon-greedy", "SGD RankNet")
DUELING = ("DBGD", "MGD")
ALL_CELLS: tuple[Where, ...] = tuple(product((MSLR, YAHOO), USERS))
ON_MSLR: tuple[Where, ...] = tuple(product((MSLR,), USERS))
NOISY: tuple[Where, ...] = tuple(product((MSLR, YAHOO), ("navigational", "informational")))

ROUNDS, GAMMA = 5000, 0.9995
PROTOCOL = Size(rounds=ROUNDS, seeds=20, folds=1)
EARLY = 1000
"""The number of rounds that the paper's "early" and "hundreds" are taken to mean: a fifth of the run."""

DIFFERENCE = 0.005
"""The margin of NDCG@10: half a point of a hundred, as in the NSGD chapter. The margin of cNDCG is this much in every
shown list."""
NO_WORSE = DIFFERENCE
"""A learner whose NDCG@10 is lower by less than this is no worse."""
REACHED = 2 * DIFFERENCE
"""A learner has reached the offline ranker if its NDCG@10 is lower by at most this: one point of a hundred."""
COMPARABLE = 4 * DIFFERENCE
"""Two scores of offline NDCG@10 are comparable if they are less than this apart: two points of a hundred. That is more
than `DIFFERENCE`, because comparable scores may differ."""
WEIGHT = (1 - GAMMA**ROUNDS) / (1 - GAMMA)
"""The cNDCG of a learner with NDCG = 1 in every round."""
HALF = 0.5
"""The margin of mean block sizes and mean numbers of blocks: one document, or one block, more in every second list.
A block has converged to 1 if it is larger than one document by less than this."""
BURNING = 0.9
"""While more than this share of the orders is uncertain, nearly every list is random and the regret says nothing of its
later growth."""

OFFLINE = Scale("NDCG@10", DIFFERENCE)
ONLINE = Scale("cNDCG", round(DIFFERENCE * WEIGHT, 2), f"of at most {WEIGHT:,.0f}")
COSINE = Scale("cosine", 0.02)  # as in the NSGD chapter
BLOCK = Scale("block size", HALF, "documents")
CONVERGED = Scale("block size", -HALF, "documents")
BLOCKS = Scale("blocks of a list", HALF, "blocks")

# The margin is in the contrast itself: a half, a twentieth, or how far apart comparable scores may be.
APART = Scale("NDCG@10")
BEYOND_HALF = Scale("cosine to w*, a half taken off")
BEYOND_TWENTIETH = Scale("cumulative NDCG@10, 5 % taken off", unit=ONLINE.unit)

# A theorem says "at most": a strict bound has no margin.
RATE = Scale("fall of regret/log⁴ T", unit="misordered pairs")
OF_BOUND = Scale("share of the bound that regret leaves")


def offline(variant: str) -> Measure:
    return Measure("fig-3", "ndcg", (("variant", variant),))


def online(variant: str) -> Measure:
    return Measure("fig-4", "cndcg", (("variant", variant),))


def cosine(variant: str, at: Literal["end", "mean"] = "end") -> Measure:
    return Measure("fig-5", "cosine", (("variant", variant),), at=at)


def leads(
    measure: Callable[[str], Measure], scale: Scale, better: tuple[str, ...], worse: tuple[str, ...], word: str = ""
) -> tuple[Contrast, ...]:
    return tuple(difference(measure(a), measure(b), f"{a} − {b}{word}", scale) for a, b in product(better, worse))


@dataclass(frozen=True)
class Room:
    """A contrast that has no room where even the most it could be is not above its margin.

    Where a contrast has no room it is open, unless its interval lies wholly above the margin even so, or wholly below
    the negative margin. So such an interval decides by itself, also where nobody knows how much room there is.

    Attributes:
        contrast: what is claimed to lie above its margin.
        most: the most that the contrast could be; there is room if its mean is above the margin.
        where: a phrase that says where there is no room; `{users}` in it stands for the users of the cell.
    """

    contrast: Contrast
    most: Contrast
    where: str

    @property
    def label(self) -> str:
        return self.contrast.label

    @property
    def scale(self) -> Scale:
        return self.contrast.scale

    @property
    def measures(self) -> tuple[Measured, ...]:
        return tuple(dict.fromkeys((*self.contrast.measures, *self.most.measures)))

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        """The effect of the contrast.

        Raises:
            NotMeasured: the contrast's interval is neither wholly above the margin nor wholly below the negative
                margin, and there is no room or its amount is not known; or a value of the contrast is missing.
        """
        found = self.contrast.effect(results, dataset, users)
        low, high = found.interval()
        decided = low > self.scale.margin or high < -self.scale.margin
        if not decided and self.most.effect(results, dataset, users).estimate <= self.scale.margin:
            raise NotMeasured(f"no room on {label(dataset)} {self.where.format(users=users)}")
        return found

    def published(self, numbers: Printed, dataset: str, users: str) -> float | None:
        return self.contrast.published(numbers, dataset, users)


def above(
    measure: Callable[[str], Measure], scale: Scale, variant: str, baseline: str, best: Measured, name: str
) -> Room:
    """Whether a variant ends above a baseline, where that is possible.

    A variant that just reaches the best ranker there is, is above the baseline by exactly as much as that ranker is, so
    that is the most to expect of it.

    Args:
        measure: gives the measure of a variant.
        best: the same score of a ranker that learns from labels, as no online learner can.
        name: what that ranker is called.
    """
    (lead,) = leads(measure, scale, (variant,), (baseline,))
    most = difference(best, measure(baseline), f"{name} − {baseline}", scale)
    return Room(lead, most, f"under {{users}} users, where {baseline} does not end {scale.margin:g} below {name}")


def under(measure: Measure, users: str) -> Measure:
    """The measure under these users, whatever the users of the cell are."""
    return replace(measure, labels=(*measure.labels, ("users", users)))


def block_size(variant: str, rank: int, since: int, at: int) -> Measure:
    """Mean size of the block that holds a rank, over the rounds since + 1 … at whose query has that many documents."""
    return Measure("fig-6", f"size_{rank}", (("variant", variant),), at=at, per=f"lists_{rank}", since=since)


def n_blocks(variant: str) -> Measure:
    """Mean number of blocks of a list in the early rounds."""
    return Measure("fig-7b", "blocks", (("variant", variant),), at=EARLY, per="rounds", since=0)


@dataclass(frozen=True)
class Band:
    """Mean block size over a band of ranks, which is relative to the reach of a data set's lists.

    The reach is the largest recorded rank that some list of every run has. The band is "top" (the first tenth of the
    reach), "middle" (from a third to a half of it: the paper's 300 to 400 of some 900) or "bottom" (the last sixth).

    Attributes:
        band: which of the three bands.
        since, at: the sizes are those of the rounds since + 1 … at.
    """

    item: str
    labels: tuple[Label, ...]
    band: Literal["top", "middle", "bottom"]
    since: int
    at: int

    shared = False

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The rows that the sizes are read from, as `Measure.selected` gives them."""
        return Measure(self.item, "", self.labels).selected(results, dataset, users)

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The mean block size of every run, indexed by (fold, seed).

        Raises:
            NotMeasured: there are no such rows or rounds, or no recorded rank lies in the band.
        """
        grown, inside, runs = self._grown(results, dataset, users)
        sizes = [grown[f"size_{r}"] / grown[f"lists_{r}"] for r in inside]
        return pd.Series(sum(sizes) / len(inside), index=runs)

    def share(self, results: Mapping[str, Results], dataset: str, users: str) -> float:
        """The mean share of the lists of these rounds that reach the band's ranks, over ranks and runs.

        Raises:
            NotMeasured: as for `values`.
        """
        grown, inside, _ = self._grown(results, dataset, users)
        return float(np.mean([grown[f"lists_{r}"] / grown["rounds"] for r in inside]))

    def _grown(
        self, results: Mapping[str, Results], dataset: str, users: str
    ) -> tuple[dict[str, np.ndarray], list[int], pd.Index]:
        """By how much each run's sums grew over the rounds, the recorded ranks in the band, and the runs."""
        rows = self.selected(results, dataset, users)
        curves = {name: rows.curves(rows[name]) for name in rows.columns if re.match("rounds$|lists_|size_", name)}
        grown = {name: each.at(self.at) - each.at(self.since) for name, each in curves.items()}
        ranks = sorted(int(name.removeprefix("lists_")) for name in grown if name.startswith("lists_"))
        reach = max((r for r in ranks if (grown[f"lists_{r}"] > 0).all()), default=0)
        bands = {"top": (0, reach / 10), "middle": (reach / 3, reach / 2), "bottom": (reach * 5 / 6, reach)}
        low, high = bands[self.band]
        inside = [r for r in ranks if low <= r <= high]
        if reach == 0 or not inside:
            raise NotMeasured(f"{self.item} has no list with a recorded rank in the {self.band} in these rounds")
        return grown, inside, curves["rounds"].runs

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper prints no sizes."""


BANDS: tuple[Literal["top", "middle", "bottom"], ...] = ("top", "middle", "bottom")


def band(variant: str, which: Literal["top", "middle", "bottom"]) -> Band:
    return Band("fig-7a", (("variant", variant),), which, 100, EARLY)


def band_shares(results: Mapping[str, Results]) -> pd.DataFrame:
    """The share of each data set's lists that reach the bands of PR12.

    The lists are PairRank_C's; which queries a run ranks does not depend on the learner.

    Returns:
        dataset, band, share; no line for a band without a recorded rank.
    """
    lines = []
    for dataset, which in product(results["fig-7a"].frame["dataset"].unique(), BANDS):
        with suppress(NotMeasured):
            share = band(PAIRRANK[1], which).share(results, dataset, "informational")
            lines.append({"dataset": dataset, "band": which, "share": share})
    return pd.DataFrame(lines, columns=["dataset", "band", "share"])


@dataclass(frozen=True)
class Slower:
    """R_S/log⁴ S − R_T/log⁴ T of each world: positive where R grows slower than log⁴ T from round S to round T = 8 S.

    Until the first orders are certain, regret grows in proportion to the rounds and says nothing about a rate. So the
    run is too short if more than `BURNING` of the pairs shown in rounds S/2 to S were still uncertain.
    """

    label: str
    cumulative: WorldMeasure
    scale: Scale = RATE

    @property
    def measures(self) -> tuple[WorldMeasure, ...]:
        return (self.cumulative,)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        curve = self.cumulative.curve(results)
        rounds = curve.columns.to_numpy(dtype=float)
        then, now = int(np.abs(np.log2(rounds[-1] / rounds) - 3).argmin()), len(rounds) - 1
        before = int(np.abs(np.log2(rounds[then] / rounds[:then]) - 1).argmin())
        grown = [
            float((other.iloc[:, then] - other.iloc[:, before]).sum())
            for other in (replace(self.cumulative, quantity=name).curve(results) for name in ("open", "shown"))
        ]
        if grown[0] > BURNING * grown[1]:
            raise NotMeasured(
                f"{grown[0] / grown[1]:.0%} of orders were uncertain up to round {rounds[then]:,.0f}: too short a run"
            )
        scaled = [curve.iloc[:, i] / np.log(rounds[i]) ** 4 for i in (then, now)]
        return mean_effect(scaled[0] - scaled[1])

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper has no simulated worlds."""


@dataclass(frozen=True)
class Below:
    """The share of a bound that a cumulative quantity leaves, at the checkpoint where it leaves least.

        min over checkpoints of the mean over worlds of 1 − R_t/bound_t

    Only checkpoints count at which the bound is below the number of all pairs shown, which nothing can exceed.

    Attributes:
        bound: column of `bounds.regret_figure`.
    """

    label: str
    cumulative: WorldMeasure
    bound: str
    scale: Scale = OF_BOUND

    @property
    def measures(self) -> tuple[WorldMeasure, ...]:
        return (self.cumulative,)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        from ol2r.papers.pairrank.bounds import regret_figure  # here, because it loads torch

        limits = regret_figure(results[self.cumulative.item].frame)
        for column, value in self.cumulative.labels:
            limits = limits[limits[column] == value] if column in limits else limits
        limits = limits.set_index("round")
        limit = limits.loc[limits[self.bound] < limits["everything"], self.bound]
        if limit.empty:
            raise NotMeasured("the bound is above the number of all pairs at every checkpoint: nothing can exceed it")
        curve = self.cumulative.curve(results)[limit.index]
        left = 1 - curve / limit[curve.columns]
        return mean_effect(left[left.mean().idxmin()])

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper has no simulated worlds."""


def claim(number: int, statement: str, expected: str, *parts: Part) -> Claim:
    return Claim("pairrank", f"PR{number}", statement, parts, PROTOCOL, STAND_INS, expected)


def theorem(number: int, statement: str, expected: str, size: Size, *parts: Part) -> Claim:
    return Claim("pairrank", f"PRT{number}", statement, parts, size, expected=expected)


REFERENCE = Measure("reference", "test_ndcg", shared=True)
"""Offline RankNet's test NDCG@10, "an upper bound in our evaluation" (section 4.2.1)."""


def _above(variant: str, baseline: str) -> Room:
    return above(offline, OFFLINE, variant, baseline, REFERENCE, "offline RankNet")


def _no_worse(measure: Callable[[str], Measure], scale: Scale, margin: float, word: str) -> Contrast:
    label = f"PairRank_C − PairRank_R, {word}"
    return difference(measure("PairRank_C"), measure("PairRank_R"), label, replace(scale, margin=-margin))


def _reached(variant: str) -> Contrast:
    return difference(offline(variant), REFERENCE, f"{variant} − offline RankNet", replace(OFFLINE, margin=-REACHED))


def _wider_lead(variant: str, other: str) -> Contrast:
    """Whether variant − other, online, is larger under the users of the cell than under perfect ones."""
    a, b = online(variant), online(other)
    terms = ((1.0, a), (-1.0, b), (-1.0, under(a, "perfect")), (1.0, under(b, "perfect")))
    return Contrast(f"({variant} − {other}) − the same under perfect users", terms, ONLINE)


def _far(dueling: str, pairwise: str) -> Contrast:
    terms = ((0.5, cosine(pairwise)), (-1.0, cosine(dueling)))
    return Contrast(f"half of {pairwise}'s cosine − {dueling}'s", terms, BEYOND_HALF)


def _settled(variant: str, rank: int) -> Contrast:
    size = block_size(variant, rank, EARLY - 200, EARLY)
    return Contrast(f"1 − {variant}'s block at rank {rank}", ((-1.0, size),), CONVERGED, 1.0)


def _larger(variant: str, contrast: Contrast, larger: Sequence[Measured]) -> Room:
    """A contrast of a variant's block sizes. It can be at most the mean of the larger blocks minus 1, because no block
    has less than one document."""
    most = Contrast(f"{contrast.label}, at most", tuple((1 / len(larger), each) for each in larger), BLOCK, -1.0)
    return Room(contrast, most, f"where {variant}'s blocks have no more than {1 + HALF:g} documents")


def _slowest(variant: str, rank: int) -> Room:
    tenth, other = (block_size(variant, each, 100, EARLY) for each in (10, rank))
    lead = difference(tenth, other, f"{variant}'s block at rank 10 − at rank {rank}", BLOCK)
    return _larger(variant, lead, (tenth,))


def _later(variant: str, other: str) -> Room:
    """Whether the blocks at ranks 1, 5 and 10 are larger under the users of the cell than under others."""
    sizes = [block_size(variant, rank, 100, EARLY) for rank in (1, 5, 10)]
    terms = tuple((sign / 3, each) for size in sizes for sign, each in ((1.0, size), (-1.0, under(size, other))))
    lead = Contrast(f"{variant}'s blocks at ranks 1, 5, 10 − the same under {other} users", terms, BLOCK)
    return _larger(variant, lead, sizes)


def _middle(variant: str, other: Literal["top", "bottom"]) -> Room:
    middle = band(variant, "middle")
    lead = difference(middle, band(variant, other), f"{variant}'s blocks, middle − {other}", BLOCK)
    return _larger(variant, lead, (middle,))


def _fewer(variant: str, other: str) -> Contrast:
    label = f"{variant}'s number of blocks under {other} users − here"
    return difference(under(n_blocks(variant), other), n_blocks(variant), label, BLOCKS)


def _hurt(other: str) -> Contrast:
    terms = ((0.95, online(other)), (-1.0, online("epsilon-greedy")))
    return Contrast(f"95 % of {other} − epsilon-greedy", terms, BEYOND_TWENTIETH)


IN_EVERY_LIST = f"by more than {ONLINE.margin:g} of cNDCG, which is {DIFFERENCE:g} of NDCG@10 in every shown list"
FULLY_CUT = (
    f"open where the blocks that should be larger have no more than {1 + HALF:g} documents in the mean, for these "
    f"cannot be {HALF:g} larger than blocks of one, unless they are clearly smaller by {HALF:g}"
)
SHUFFLES = ("random", "conservative")


def _regret(shuffle: str) -> WorldMeasure:
    """The cumulative number of misordered pairs at Lemma 2's width, with whole lists examined."""
    labels = (("audit", "regret"), ("examination", "whole"), ("width", "Lemma 2"), ("alpha", 1.0))
    return WorldMeasure("audits", "regret", (*labels, ("shuffle", shuffle)))


def _covered(pairs: str, bound: float) -> Covered:
    labels = (("audit", "coverage"), ("examination", "whole"), ("assumed", 1), ("pairs", pairs), ("bound", bound))
    return Covered(f"coverage − (1 − δ₁), {pairs} pairs, Q = {bound:g}", WorldMeasure("audits", "interval", labels))


def _each(make, *names: Sequence) -> tuple[Compared, ...]:
    return tuple(make(*each) for each in product(*names))


CLAIMS = (
    claim(
        1,
        "PairRank, with either shuffle, ends significantly above DBGD, MGD, PDGD, ε-greedy and SGD RankNet in offline "
        "NDCG@10, on each data set and under each click model.",
        f"PairRank_R and PairRank_C end more than {DIFFERENCE:g} of offline NDCG@10 above each baseline that leaves "
        "so much room below offline RankNet.",
        Part(
            f"PairRank_R and PairRank_C above each baseline by more than {DIFFERENCE:g}, “significantly” being a 95 % "
            f"interval of the mean difference wholly above that; where the baseline ends at most {DIFFERENCE:g} below "
            "offline RankNet, the paper's upper bound, there is no room to be so far above it, and the contrast is "
            f"open unless its interval lies wholly above {DIFFERENCE:g} even so or wholly below −{DIFFERENCE:g}; the "
            "same holds where that ranker was not run; its λ is ours and not tuned",
            _each(_above, PAIRRANK, BASELINES),
            ALL_CELLS,
        ),
    ),
    claim(
        2,
        "Offline, DBGD and MGD perform worse than the other online learners (on MSLR-WEB10K but for ε-greedy and MGD, "
        "of which the paper says the opposite elsewhere).",
        f"Every other online learner ends more than {DIFFERENCE:g} of offline NDCG@10 above DBGD and above MGD; on "
        "MSLR-WEB10K ε-greedy need only end so far above DBGD.",
        Part(
            "PairRank, PDGD and SGD RankNet above DBGD and MGD",
            leads(offline, OFFLINE, (*PAIRRANK, "PDGD", "SGD RankNet"), DUELING),
            ALL_CELLS,
        ),
        Part("ε-greedy above DBGD", leads(offline, OFFLINE, ("epsilon-greedy",), ("DBGD",)), ALL_CELLS),
        Part(
            "ε-greedy above MGD on Yahoo",
            leads(offline, OFFLINE, ("epsilon-greedy",), ("MGD",)),
            tuple(product((YAHOO,), USERS)),
        ),
    ),
    claim(
        3,
        "PDGD consistently outperforms DBGD-type solutions offline, under all click models and on both data sets.",
        f"PDGD ends more than {DIFFERENCE:g} of offline NDCG@10 above DBGD and above MGD, on each data set and for "
        "every kind of users.",
        Part(
            "PDGD above DBGD and MGD in all cells, which is “consistently”",
            leads(offline, OFFLINE, ("PDGD",), DUELING),
            ALL_CELLS,
        ),
    ),
    claim(
        4,
        "On MSLR-WEB10K ε-greedy is often worse than MGD offline.",
        f"MGD ends more than {DIFFERENCE:g} of offline NDCG@10 above ε-greedy for at least two of the three kinds of "
        "users.",
        Part(
            "MGD above ε-greedy under most users, which is “often”",
            leads(offline, OFFLINE, ("MGD",), ("epsilon-greedy",)),
            ON_MSLR,
            "count",
            need=2,
        ),
    ),
    claim(
        5,
        "SGD RankNet performs comparably to PDGD offline; online it is consistently better, especially under "
        "navigational and informational users.",
        f"SGD RankNet and PDGD end less than {COMPARABLE:g} of offline NDCG@10 apart; SGD RankNet's cNDCG is more "
        f"than {ONLINE.margin:g} above PDGD's, and under navigational and informational users this lead is larger "
        f"than under perfect ones by more than {ONLINE.margin:g} as well.",
        Part(
            f"offline less than {COMPARABLE:g} apart, which is “comparably”",
            tuple(Near(lead, COMPARABLE) for lead in leads(offline, APART, ("SGD RankNet",), ("PDGD",))),
            ALL_CELLS,
        ),
        Part(
            f"online SGD RankNet above PDGD in all cells, which is “consistently”, {IN_EVERY_LIST}",
            leads(online, ONLINE, ("SGD RankNet",), ("PDGD",)),
            ALL_CELLS,
        ),
        Part(
            f"its online lead is larger than under perfect users, which is “especially”, {IN_EVERY_LIST}",
            (_wider_lead("SGD RankNet", "PDGD"),),
            NOISY,
        ),
    ),
    claim(
        6,
        "PairRank_C is at least as good as PairRank_R, offline and online (the paper: better).",
        f"PairRank_C ends less than {NO_WORSE:g} of offline NDCG@10 and less than {NO_WORSE * WEIGHT:.2f} of cNDCG "
        "below PairRank_R, or above it.",
        Part(
            f"PairRank_C not below PairRank_R by as much as {NO_WORSE:g} of NDCG@10 offline, nor online by as much as "
            f"{NO_WORSE * WEIGHT:.2f} of cNDCG, which is {NO_WORSE:g} in every shown list: so little lower, or higher, "
            "is “at least as good”; that it is better, as the paper says, is not tested",
            (
                _no_worse(offline, OFFLINE, NO_WORSE, "offline"),
                _no_worse(online, ONLINE, NO_WORSE * WEIGHT, "online"),
            ),
            ALL_CELLS,
        ),
    ),
    claim(
        7,
        "Under perfect users PairRank converges to its offline counterpart with only a few thousand impressions.",
        f"After {ROUNDS:,} rounds under perfect users PairRank's NDCG@10 is less than {REACHED:g} below that of "
        "offline RankNet.",
        Part(
            f"after {ROUNDS} rounds, which are “a few thousand”, at most {REACHED:g} below offline RankNet's test "
            "NDCG@10, which is “converges”; the λ of offline RankNet is ours and not tuned",
            _each(_reached, PAIRRANK),
            ((MSLR, "perfect"), (YAHOO, "perfect")),
        ),
    ),
    claim(
        8,
        "Online, PairRank significantly improves over all the baselines.",
        f"The cNDCG of PairRank_R and PairRank_C is more than {ONLINE.margin:g} above that of each baseline, which "
        f"is {DIFFERENCE:g} of NDCG@10 in every shown list.",
        Part(
            f"PairRank_R and PairRank_C above each baseline, {IN_EVERY_LIST}, “significantly” being a 95 % interval of "
            "the mean difference wholly above that",
            leads(online, ONLINE, PAIRRANK, BASELINES),
            ALL_CELLS,
        ),
    ),
    claim(
        9,
        "PairRank converges faster and closer to the offline ranker w* than the other learners, SGD RankNet faster "
        "than PDGD; the rankers of DBGD and MGD are quite different from it.",
        f"PairRank's cosine with the offline ranker is more than {COSINE.margin:g} above that of each baseline, both "
        "at the end and in the mean over rounds, and SGD RankNet's mean is so far above PDGD's; DBGD and MGD end "
        "below half the cosine of PairRank, PDGD and SGD RankNet.",
        Part(
            "PairRank's last cosine above the baselines', which is “closer”; w* is offline RankNet at a λ that is ours "
            "and not tuned",
            leads(cosine, COSINE, PAIRRANK, BASELINES),
            ON_MSLR,
        ),
        Part(
            "so is its mean cosine over rounds, all that is tested of “faster”",
            leads(lambda v: cosine(v, "mean"), COSINE, PAIRRANK, BASELINES, ", mean over rounds"),
            ON_MSLR,
        ),
        Part(
            "SGD RankNet's mean cosine over rounds above PDGD's, all that is tested of “faster”",
            leads(lambda v: cosine(v, "mean"), COSINE, ("SGD RankNet",), ("PDGD",), ", mean over rounds"),
            ON_MSLR,
        ),
        Part(
            "the last cosine of DBGD and MGD below half of any pairwise learner's but ε-greedy's, which is “quite "
            "different”",
            _each(_far, DUELING, (*PAIRRANK, "PDGD", "SGD RankNet")),
            ON_MSLR,
        ),
    ),
    claim(
        10,
        "Block sizes quickly converge to 1 at the top ranks, after hundreds of rounds; slowest at rank 10, and slower "
        "under navigational users.",
        f"In rounds {EARLY - 199} to {EARLY} the blocks at ranks 1 and 5 have fewer than {1 + HALF:g} documents in "
        f"the mean; in rounds 101 to {EARLY} the block at rank 10 is larger than those by more than {HALF:g} "
        "documents, and blocks are larger by as much under navigational users than under others.",
        Part(
            f"in rounds {EARLY - 199} to {EARLY} the block at ranks 1 and 5 has fewer than {1 + HALF:g} documents in "
            "the mean, which is “quickly converge to 1”; the paper's “after hundred rounds” is read as hundreds of "
            "rounds; when a block converges is not tested",
            _each(_settled, PAIRRANK, (1, 5)),
            ALL_CELLS,
        ),
        Part(
            f"in rounds 101 to {EARLY} the block at rank 10 is the largest in the mean, all that is tested of "
            f"“slowest”; {FULLY_CUT}",
            _each(_slowest, PAIRRANK, (1, 5)),
            ALL_CELLS,
        ),
        Part(
            f"in rounds 101 to {EARLY} blocks are larger in the mean under navigational users, all that is tested of "
            f"“slower”; {FULLY_CUT}",
            _each(_later, PAIRRANK, ("perfect", "informational")),
            ((MSLR, "navigational"), (YAHOO, "navigational")),
        ),
    ),
    claim(
        11,
        "At the early stages PairRank has fewer blocks under navigational users.",
        f"In rounds 1 to {EARLY} lists have more than {HALF:g} blocks fewer in the mean under navigational users "
        "than under others.",
        Part(
            f"mean number of blocks in rounds 1 to {EARLY}, which are “early”, below that under other users",
            _each(_fewer, PAIRRANK, ("perfect", "informational")),
            ((MSLR, "navigational"),),
        ),
    ),
    claim(
        12,
        "Blocks in the middle ranks have more documents than those at the top and the bottom ranks (informational "
        "users).",
        f"In rounds 101 to {EARLY} blocks in the middle of the lists have more than {HALF:g} documents more in the "
        "mean than those at the top and those at the bottom.",
        Part(
            f"in rounds 101 to {EARLY}, mean block size at a third to a half of the lists' reach above that in its "
            f"first tenth and in its last sixth; {FULLY_CUT}",
            _each(_middle, PAIRRANK, ("top", "bottom")),
            ((MSLR, "informational"),),
        ),
    ),
    claim(
        13,
        "Model-independent exploration, as ε-greedy's, strongly hurts online performance.",
        "ε-greedy's cNDCG is more than 5 % below that of SGD RankNet, which does not explore.",
        Part(
            "ε-greedy more than 5 % below SGD RankNet, which does not explore: so much is “strongly”; at the ε "
            "chosen for the learned ranker, not for users; no other model-independent exploration is tested",
            (_hurt("SGD RankNet"),),
            ALL_CELLS,
        ),
    ),
    theorem(
        1,
        "Lemma 2: with probability at least 1 − δ₁ the estimated preference of every pair lies within α_t‖x‖_{M⁻¹} of "
        "the true one (projected estimate, labels of the lemma's own model).",
        "In a larger share of simulated worlds than 1 − δ₁ all intervals cover the true preferences.",
        Size(rounds=2000, seeds=500, folds=1),
        Part(
            "share of worlds in which every interval covered, above 1 − δ₁: of every round where the estimate lies in "
            "the ball, and where it is projected of eight rounds to a doubling",
            _each(_covered, ("matched", "adjacent"), (0.5, 2.0)),
            ((WORLDS, "whole lists"),),
        ),
    ),
    theorem(
        2,
        "Theorem 8: the expected number of misordered pairs grows no faster than log⁴ T and stays under the bound "
        "(V ≤ k, whole lists shown, Lemma 2's width).",
        "In simulated worlds regret over log⁴ T falls in the last three doublings of T, and the mean regret is "
        "below the bound at every checkpoint.",
        Size(rounds=100_000, seeds=16, folds=1),
        Part(
            "regret over log⁴ T falls in the last three doublings of T",
            tuple(Slower(f"fall of regret/log⁴ T, {shuffle} shuffle", _regret(shuffle)) for shuffle in SHUFFLES),
            ((WORLDS, "whole lists"),),
        ),
        Part(
            "the mean regret is below the theorem's bound, corrected and as printed, at every checkpoint",
            tuple(
                Below(f"share left of the bound {word}, {shuffle} shuffle", _regret(shuffle), column)
                for (word, column), shuffle in product(
                    (("as corrected", "bound"), ("as printed", "printed_bound")), SHUFFLES
                )
            ),
            ((WORLDS, "whole lists"),),
        ),
    ),
)
