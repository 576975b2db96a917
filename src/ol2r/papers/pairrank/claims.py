"""The claims of the PairRank paper as rules.

Their words are in `claims.toml`. Each statement keeps the paper's wording, except PR6, which is weaker. Where the
wording leaves a choice (how near is near? how much is strongly?), the words of the part make it. The rules were
declared before any of their results existed; all that claim a lead had a margin of 0. Three things were set after
results had been seen: the margins, the cases in which a margin leaves no room, and the meaning of words such as
"strongly". They follow what a reader would call a difference; the paper draws its results and prints none from which a
margin could be taken.

This module names items and does not import them. T and γ are defined here, because claims weigh scores by them. The two
claims on theory read the tables of the audits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, cast

import numpy as np
import pandas as pd

from ol2r.experiments.claims import (
    OF_WORLDS,
    WORLDS,
    Claim,
    Contrast,
    Label,
    Measure,
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
    Where,
    WorldMeasure,
    covered,
    every,
    leads,
    mean_of,
    measure,
    worded,
)
from ol2r.experiments.effects import Effect, mean_effect
from ol2r.papers import texts

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
IN_WORLDS: tuple[Where, ...] = ((WORLDS, "whole lists"),)

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
SHUFFLES = ("random", "conservative")
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


WORDS = texts.read(
    "pairrank",
    "claims",
    ROUNDS=ROUNDS,
    EARLY=EARLY,
    SINCE=EARLY - 199,
    DIFFERENCE=DIFFERENCE,
    NO_WORSE=NO_WORSE,
    NO_WORSE_ONLINE=NO_WORSE * WEIGHT,
    REACHED=REACHED,
    COMPARABLE=COMPARABLE,
    ONLINE=ONLINE.margin,
    COSINE=COSINE.margin,
    HALF=HALF,
    ONE_AND_A_HALF=1 + HALF,
)


def offline(variant: str) -> Measure:
    return measure("fig-3", "ndcg", variant=variant)


def online(variant: str) -> Measure:
    return measure("fig-4", "cndcg", variant=variant)


def cosine(variant: str) -> Measure:
    return measure("fig-5", "cosine", variant=variant)


def mean_cosine(variant: str) -> Measure:
    return measure("fig-5", "cosine", "mean", variant=variant)


REFERENCE = measure("reference", "test_ndcg", shared=True)
"""Offline RankNet's test NDCG@10, "an upper bound in our evaluation" (section 4.2.1)."""


def above(
    of: Callable[[str], Quantity], scale: Scale, variant: str, baseline: str, best: Quantity, name: str
) -> Contrast:
    """Whether a variant ends above a baseline, where that is possible.

    A variant that just reaches the best ranker there is, is above the baseline by exactly as much as that ranker is, so
    that is the most to expect of it.

    Args:
        best: the same score of a ranker that learns from labels, as no online learner can.
        name: what that ranker is called.
    """
    (lead,) = leads(of, scale, (variant,), (baseline,))
    where = f"under {{users}} users, where {baseline} does not end {scale.margin:g} below {name}"
    return replace(lead, most=best - of(baseline), where=where)


def under(quantity: Quantity, users: str) -> Quantity:
    """The quantity under these users, whatever the users of the cell are."""
    parts = ((weight, cast(Measure, own)) for weight, own in quantity.sum.terms)
    return Sum(tuple((weight, replace(own, labels=(*own.labels, ("users", users)))) for weight, own in parts))


def block_size(variant: str, rank: int, since: int, at: int) -> Measure:
    """Mean size of the block that holds a rank, over the rounds since + 1 … at whose query has that many documents."""
    return measure("fig-6", f"size_{rank}", at, f"lists_{rank}", since=since, variant=variant)


def n_blocks(variant: str) -> Measure:
    """Mean number of blocks of a list in the early rounds."""
    return measure("fig-7b", "blocks", EARLY, "rounds", since=0, variant=variant)


@dataclass(frozen=True)
class Band(Quantity):
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


def slower(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
    """R_S/log⁴ S − R_T/log⁴ T of each world: positive where R grows slower than log⁴ T from round S to round T = 8 S.

    Until the first orders are certain, regret grows in proportion to the rounds and says nothing about a rate. So the
    run is too short if more than `BURNING` of the pairs shown in rounds S/2 to S were still uncertain.
    """
    cumulative = contrast.quantity
    curve = cumulative.curve(results)
    rounds = curve.columns.to_numpy(dtype=float)
    then, now = int(np.abs(np.log2(rounds[-1] / rounds) - 3).argmin()), len(rounds) - 1
    before = int(np.abs(np.log2(rounds[then] / rounds[:then]) - 1).argmin())
    grown = [
        float((other.iloc[:, then] - other.iloc[:, before]).sum())
        for other in (replace(cumulative, quantity=name).curve(results) for name in ("open", "shown"))
    ]
    if grown[0] > BURNING * grown[1]:
        raise NotMeasured(
            f"{grown[0] / grown[1]:.0%} of orders were uncertain up to round {rounds[then]:,.0f}: too short a run"
        )
    scaled = [curve.iloc[:, i] / np.log(rounds[i]) ** 4 for i in (then, now)]
    return mean_effect(scaled[0] - scaled[1])


def left_of(bound: str) -> Callable[[Contrast, Mapping[str, Results], str, str], Effect]:
    """The share of a bound that a cumulative quantity leaves, at the checkpoint where it leaves least.

        min over checkpoints of the mean over worlds of 1 − R_t/bound_t

    Only checkpoints count at which the bound is below the number of all pairs shown, which nothing can exceed.

    Args:
        bound: column of `bounds.regret_figure`.
    """

    def estimate(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        from ol2r.papers.pairrank.bounds import regret_figure  # here, because it loads torch

        cumulative = contrast.quantity
        limits = regret_figure(results[cumulative.item].frame)
        for column, value in cumulative.labels:
            limits = limits[limits[column] == value] if column in limits else limits
        limits = limits.set_index("round")
        limit = limits.loc[limits[bound] < limits["everything"], bound]
        if limit.empty:
            raise NotMeasured("the bound is above the number of all pairs at every checkpoint: nothing can exceed it")
        curve = cumulative.curve(results)[limit.index]
        left = 1 - curve / limit[curve.columns]
        return mean_effect(left[left.mean().idxmin()])

    return estimate


def _no_worse(of: Callable[[str], Quantity], scale: Scale, margin: float, word: str) -> Contrast:
    (lead,) = leads(of, replace(scale, margin=-margin), PAIRRANK[1:], PAIRRANK[:1], f", {word}")
    return lead


def _wider_lead(variant: str, other: str) -> Contrast:
    """Whether variant − other, online, is larger under the users of the cell than under perfect ones."""
    lead = online(variant) - online(other)
    return Contrast(f"({variant} − {other}) − the same under perfect users", lead - under(lead, "perfect"), ONLINE)


def _settled(variant: str, rank: int) -> Contrast:
    return Contrast(
        f"1 − {variant}'s block at rank {rank}", 1.0 - block_size(variant, rank, EARLY - 200, EARLY), CONVERGED
    )


def _larger(variant: str, name: str, lead: Quantity, larger: Sequence[Quantity]) -> Contrast:
    """A contrast of a variant's block sizes. It can be at most the mean of the larger blocks minus 1, because no block
    has less than one document."""
    where = f"where {variant}'s blocks have no more than {1 + HALF:g} documents"
    return Contrast(name, lead, BLOCK, most=mean_of(larger) - 1.0, where=where)


def _slowest(variant: str, rank: int) -> Contrast:
    tenth, other = (block_size(variant, each, 100, EARLY) for each in (10, rank))
    return _larger(variant, f"{variant}'s block at rank 10 − at rank {rank}", tenth - other, (tenth,))


def _later(variant: str, other: str) -> Contrast:
    """Whether the blocks at ranks 1, 5 and 10 are larger under the users of the cell than under others."""
    sizes = [block_size(variant, rank, 100, EARLY) for rank in (1, 5, 10)]
    lead = mean_of([size - under(size, other) for size in sizes])
    return _larger(variant, f"{variant}'s blocks at ranks 1, 5, 10 − the same under {other} users", lead, sizes)


def _middle(variant: str, other: Literal["top", "bottom"]) -> Contrast:
    middle = band(variant, "middle")
    return _larger(variant, f"{variant}'s blocks, middle − {other}", middle - band(variant, other), (middle,))


def _fewer(variant: str, other: str) -> Contrast:
    blocks = n_blocks(variant)
    return Contrast(f"{variant}'s number of blocks under {other} users − here", under(blocks, other) - blocks, BLOCKS)


def _regret(shuffle: str) -> WorldMeasure:
    """The cumulative number of misordered pairs at Lemma 2's width, with whole lists examined."""
    labels = (("audit", "regret"), ("examination", "whole"), ("width", "Lemma 2"), ("alpha", 1.0))
    return WorldMeasure("audits", "regret", (*labels, ("shuffle", shuffle)))


def _covered(pairs: str, bound: float) -> Contrast:
    labels = (("audit", "coverage"), ("examination", "whole"), ("assumed", 1), ("pairs", pairs), ("bound", bound))
    name = f"coverage − (1 − δ₁), {pairs} pairs, Q = {bound:g}"
    return Contrast(name, WorldMeasure("audits", "interval", labels), OF_WORLDS, covered)


def claim(id_: str, *parts: Part, protocol: Size = PROTOCOL) -> Claim:
    return Claim("pairrank", id_, parts, protocol, STAND_INS)


CLAIMS = worded(
    WORDS,
    claim(
        "PR1",
        Part(
            tuple(
                above(offline, OFFLINE, *each, REFERENCE, "offline RankNet") for each in product(PAIRRANK, BASELINES)
            ),
            ALL_CELLS,
        ),
    ),
    claim(
        "PR2",
        Part(leads(offline, OFFLINE, (*PAIRRANK, "PDGD", "SGD RankNet"), DUELING), ALL_CELLS),
        Part(leads(offline, OFFLINE, ("epsilon-greedy",), ("DBGD",)), ALL_CELLS),
        Part(leads(offline, OFFLINE, ("epsilon-greedy",), ("MGD",)), ALL_CELLS[3:]),
    ),
    claim("PR3", Part(leads(offline, OFFLINE, ("PDGD",), DUELING), ALL_CELLS)),
    claim("PR4", Part(leads(offline, OFFLINE, ("MGD",), ("epsilon-greedy",)), ON_MSLR, need=2)),
    claim(
        "PR5",
        Part(
            tuple(replace(lead, within=COMPARABLE) for lead in leads(offline, APART, ("SGD RankNet",), ("PDGD",))),
            ALL_CELLS,
        ),
        Part(leads(online, ONLINE, ("SGD RankNet",), ("PDGD",)), ALL_CELLS),
        Part((_wider_lead("SGD RankNet", "PDGD"),), NOISY),
    ),
    claim(
        "PR6",
        Part(
            (_no_worse(offline, OFFLINE, NO_WORSE, "offline"), _no_worse(online, ONLINE, NO_WORSE * WEIGHT, "online")),
            ALL_CELLS,
        ),
    ),
    claim(
        "PR7",
        Part(
            tuple(
                Contrast(f"{own} − offline RankNet", offline(own) - REFERENCE, replace(OFFLINE, margin=-REACHED))
                for own in PAIRRANK
            ),
            ((MSLR, "perfect"), (YAHOO, "perfect")),
        ),
    ),
    claim("PR8", Part(leads(online, ONLINE, PAIRRANK, BASELINES), ALL_CELLS)),
    claim(
        "PR9",
        Part(leads(cosine, COSINE, PAIRRANK, BASELINES), ON_MSLR),
        Part(leads(mean_cosine, COSINE, PAIRRANK, BASELINES, ", mean over rounds"), ON_MSLR),
        Part(leads(mean_cosine, COSINE, ("SGD RankNet",), ("PDGD",), ", mean over rounds"), ON_MSLR),
        Part(
            tuple(
                Contrast(f"half of {own}'s cosine − {other}'s", 0.5 * cosine(own) - cosine(other), BEYOND_HALF)
                for other, own in product(DUELING, (*PAIRRANK, "PDGD", "SGD RankNet"))
            ),
            ON_MSLR,
        ),
    ),
    claim(
        "PR10",
        Part(every(_settled, PAIRRANK, (1, 5)), ALL_CELLS),
        Part(every(_slowest, PAIRRANK, (1, 5)), ALL_CELLS),
        Part(
            every(_later, PAIRRANK, ("perfect", "informational")),
            ((MSLR, "navigational"), (YAHOO, "navigational")),
        ),
    ),
    claim(
        "PR11",
        Part(
            every(_fewer, PAIRRANK, ("perfect", "informational")),
            ((MSLR, "navigational"),),
        ),
    ),
    claim(
        "PR12",
        Part(every(_middle, PAIRRANK, ("top", "bottom")), ((MSLR, "informational"),)),
    ),
    claim(
        "PR13",
        Part(
            (
                Contrast(
                    "95 % of SGD RankNet − epsilon-greedy",
                    0.95 * online("SGD RankNet") - online("epsilon-greedy"),
                    BEYOND_TWENTIETH,
                ),
            ),
            ALL_CELLS,
        ),
    ),
    claim(
        "PRT1",
        Part(every(_covered, ("matched", "adjacent"), (0.5, 2.0)), IN_WORLDS),
        protocol=Size(rounds=2000, seeds=500, folds=1),
    ),
    claim(
        "PRT2",
        Part(
            tuple(
                Contrast(f"fall of regret/log⁴ T, {shuffle} shuffle", _regret(shuffle), RATE, slower)
                for shuffle in SHUFFLES
            ),
            IN_WORLDS,
        ),
        Part(
            tuple(
                Contrast(
                    f"share left of the bound {word}, {shuffle} shuffle", _regret(shuffle), OF_BOUND, left_of(name)
                )
                for (word, name), shuffle in product(
                    (("as corrected", "bound"), ("as printed", "printed_bound")), SHUFFLES
                )
            ),
            IN_WORLDS,
        ),
        protocol=Size(rounds=100_000, seeds=16, folds=1),
    ),
)
