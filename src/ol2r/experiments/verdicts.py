"""The rules that judge claims, separately on the paper's own data and on other data.

A contrast is *as claimed* where its 95 % interval lies above its margin. It is *against* where it lies below the margin
by Holm's step-down over the claim's contrasts on one data set. Otherwise it is *open*. Rules are pure functions of
results.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, Literal

import pandas as pd

from ol2r.experiments.claims import (
    Claim,
    Contrast,
    Indexed,
    Measured,
    NotMeasured,
    Part,
    Printed,
    Results,
    Selection,
    Where,
    indexed,
    label,
)
from ol2r.experiments.effects import Estimate, TooFewSeeds, diverged_runs

Verdict = Literal["reproduced", "not reproduced", "undecided", "not testable", "not judged (smoke)"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "not reproduced", "undecided", "not testable", "not judged (smoke)")
Elsewhere = Literal["carries over", "does not carry over", "mixed", "undecided"]
ELSEWHERE: tuple[Elsewhere, ...] = ("carries over", "does not carry over", "mixed", "undecided")
Readings = Mapping[str, Mapping[str, str]]
"""Other readings of a paper: by the reading's name, which items take the place of which."""

SIGNIFICANT = 0.025
"""The bound of a one-sided p-value; the p-value of a single contrast is below it where the 95 % interval lies below the
margin."""


@dataclass(frozen=True)
class Finding:
    """What was found of one contrast in one cell: the data it was measured on (None: not at hand), effect and side.

    `side` is 1 (as claimed), −1 (against) or 0 (open, with `missing` saying why where it could not be decided). It is
    `absent` where the results lack what the contrast reads.
    """

    contrast: Contrast
    cell: Where
    data: str | None
    effect: Estimate | None = None
    missing: str = ""
    side: int = 0
    absent: bool = False


@dataclass(frozen=True)
class Counts:
    """How many contrasts are as claimed, open and against."""

    as_claimed: int = 0
    open: int = 0
    against: int = 0

    def __str__(self) -> str:
        return f"{self.as_claimed} as claimed, {self.open} open, {self.against} against"

    @property
    def side(self) -> int | None:
        """1 where all contrasts are as claimed, −1 where one is against, else 0; None where there are none."""
        return -1 if self.against else 0 if self.open else 1 if self.as_claimed else None


@dataclass(frozen=True)
class Mark:
    """What the contrasts of a claim come to on one data set under one kind of users; no counts without the data."""

    dataset: str
    users: str
    counts: Counts

    @property
    def side(self) -> int | None:
        return self.counts.side


@dataclass(frozen=True)
class Place:
    """The verdict on a claim on one data set that is not the paper's. `least` is its least favourable contrast."""

    dataset: str
    verdict: Elsewhere
    counts: Counts
    same_shape: bool
    least: Finding | None = field(default=None, repr=False)

    def to_json(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "verdict": self.verdict} | vars(self.counts)


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim on the paper's data and on other data, with the findings behind both.

    `effect` and `interval` belong to the least favourable contrast, on the paper's data where any of it is measured,
    else on other data. `n_testable` of `n_cells` cells were measured on the paper's own data. `data` holds catalogue
    names, whereas texts for readers use the data sets' labels. `untested` names the parts of the claim that the verdict
    leaves out. `marks` tell every data set and kind of users apart, those of the paper first; a smoke run has none.
    """

    paper: str
    id: str
    statement: str
    rule: str
    verdict: Verdict
    effect: float | None
    interval: tuple[float, float] | None
    data: tuple[str, ...]
    tier: str
    seeds: int
    cells: tuple[str, ...]
    n_testable: int
    n_cells: int
    reason: str
    elsewhere: tuple[Place, ...] = ()
    readings: Mapping[str, "Judgement"] = field(default_factory=dict)
    counts: Counts = Counts()
    untested: tuple[str, ...] = ()
    least: Finding | None = field(default=None, repr=False)
    tested: tuple[Finding, ...] = field(default=(), repr=False)
    expected: str = ""
    marks: tuple[Mark, ...] = field(default=(), repr=False)

    @property
    def anchor(self) -> str:
        return f"{self.paper}-{self.id.lower()}"

    def to_json(self) -> dict[str, Any]:
        """The fields of `ol2r claims --json`, ready for `json.dumps`."""
        inner = ("readings", "counts", "untested", "least", "tested", "marks")
        plain = {name: value for name, value in vars(self).items() if name not in inner}
        lists = {"interval": self.interval and list(self.interval), "data": list(self.data), "cells": list(self.cells)}
        readings = {name: one._answers() for name, one in self.readings.items()}
        return plain | lists | self._answers() | {"readings": readings}

    def _answers(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "elsewhere": [place.to_json() for place in self.elsewhere]}


# The rules


def sides(effects: Sequence[tuple[Estimate, float]]) -> list[int]:
    """The side of each (effect, margin) of one claim on one data set: 1 as claimed, −1 against, 0 open."""
    against = holm([effect.p_below(margin) for effect, margin in effects], SIGNIFICANT)
    return [
        1 if effect.interval()[0] > margin else -1 if rejected else 0
        for (effect, margin), rejected in zip(effects, against, strict=True)
    ]


def holm(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Which of several hypotheses Holm's step-down (1979) rejects: the i-th smallest p-value (from 0) is compared with
    α / (n − i), and the first p-value that is not below its bound ends the procedure."""
    n, rejected = len(p_values), [False] * len(p_values)
    for i, k in enumerate(sorted(range(n), key=p_values.__getitem__)):
        if p_values[k] >= alpha / (n - i):
            break
        rejected[k] = True
    return rejected


def combine(part: Part, tested: Sequence[Finding]) -> int | None:
    """1 where a part holds, −1 where it fails, else 0; None where the data of none of its cells is at hand.

    A cell is as claimed when all its contrasts are, and against when one of them is. The part holds when all cells are
    as claimed, or as many as it needs, and fails when so many are against that the rest are not enough.
    """
    cells: dict[tuple[Where, str], list[Finding]] = {}
    for one in tested:
        if one.data is not None:
            cells.setdefault((one.cell, one.data), []).append(one)
    if not cells:
        return None
    by_cell = [_counts(contrasts).side for contrasts in cells.values()]
    n = len(by_cell)
    need = ceil(part.need * n / len(part.cells)) if part.need else n
    if by_cell.count(1) >= need:
        return 1
    return -1 if by_cell.count(-1) > n - need else 0


def together(parts: Iterable[int | None]) -> int | None:
    """1 where all parts of a claim hold; −1 where one fails; else 0; None where no part could be tested."""
    return min((part for part in parts if part is not None), default=None)


def verdict_of(outcome: int | None, at_protocol: bool) -> Verdict:
    """The verdict on the paper's own data; an experiment smaller than the paper's decides nothing."""
    if outcome is None:
        return "not testable"
    if outcome == 0 or not at_protocol:
        return "undecided"
    return "reproduced" if outcome > 0 else "not reproduced"


def elsewhere_of(outcome: int | None, counts: Counts) -> Elsewhere:
    """The verdict on a claim on one other data set."""
    if outcome == 1:
        return "carries over"
    if outcome == -1:
        return "mixed" if counts.as_claimed else "does not carry over"
    return "undecided"


# From results to verdicts


def judge_all(
    claims: Iterable[Claim], results: Mapping[str, Results], published: pd.DataFrame, readings: Readings | None = None
) -> dict[str, Judgement]:
    """Judge every claim under the main reading of the paper and under its other readings; judgements by claim.

    Args:
        readings: the paper's other readings; a claim is judged under those that replace an item it reads, but for one
            by which all that was measured comes from cells of the main reading: that would have answered alone.
    """
    results, numbers = indexed(results), Printed(published)
    found = {}
    for claim in claims:
        printed, others = _printed(claim, numbers), {}
        main = _judge(claim, results, printed)
        for name, items in (readings or {}).items():
            if claim.items & set(items):
                kept = {item: own for item, own in results.items() if item not in items}
                read = kept | {item: results[other] for item, other in items.items() if other in results}
                other = _judge(claim, read, printed)
                if not other.cells or not set(other.cells) <= set(main.cells):
                    others[name] = other
        found[claim.id] = replace(main, readings=others)
    return found


def judge(claim: Claim, results: Mapping[str, Results], published: pd.DataFrame) -> Judgement:
    """Judge a claim on the paper's own data, and separately on every other data set at hand.

    Args:
        claim: declared before its results.
        results: by item name; an item that the claim reads and that is missing leaves contrasts open.
        published: the paper's printed numbers (`printed_numbers`); they are reported beside the verdict and never
            change it.
    """
    return _judge(claim, indexed(results), _printed(claim, Printed(published)))


def _printed(claim: Claim, numbers: Printed) -> list[bool]:
    """For each contrast whose numbers the paper prints, whether the printed contrast lies above the margin."""
    return [
        value > contrast.scale.margin
        for part in claim.parts
        for cell in part.cells
        for contrast in part.contrasts
        if (value := contrast.published(numbers, *cell)) is not None
    ]


def _judge(claim: Claim, results: dict[str, Indexed], printed: Sequence[bool]) -> Judgement:
    """As `judge`, with `printed` from `_printed`."""
    known = frozenset[str]().union(*(item.datasets for item in results.values()))
    own_sets = dict.fromkeys(dataset for dataset, _ in claim.cells)
    at_hand = [_tested(claim, results, data, own_sets) for data in own_sets if data in known]
    own = [[one for found in at_hand for one in found[i]] for i in range(len(claim.parts))]
    absent = [label(data) for data in own_sets if data not in known]
    abroad = {data: _tested(claim, results, data, ()) for data in claim.elsewhere if data in known}
    abroad = {data: found for data, found in abroad.items() if not all(one.absent for part in found for one in part)}
    everything = [one for found in (*at_hand, *abroad.values()) for part in found for one in part]
    measured = [one for one in everything if one.effect]
    own_measured = [one for part in own for one in part if one.effect]

    used = {m.item for one in measured for m in one.contrast.measures} & set(results)
    tiers = sorted({results[item].tier for item in used or set(results)})
    smoke = "smoke" in tiers
    outcomes = [combine(part, found) for part, found in zip(claim.parts, own, strict=True)]
    small = _smaller(claim, results, own_measured, tiers)
    verdict = "not judged (smoke)" if smoke else verdict_of(together(outcomes), not small)
    places = () if smoke else tuple(_place(claim, data, found) for data, found in abroad.items())
    left_out = [f"“{part.statement}”" for part, out in zip(claim.parts, outcomes, strict=True) if out is None]
    untested = (*left_out, *(f"data {name}" for name in absent)) if together(outcomes) is not None else ()

    least = _least(own_measured) or _least(measured)
    effect = least.effect if least else None
    told = own_measured or measured
    return Judgement(
        claim.paper, claim.id, claim.statement, claim.rule, verdict,
        effect=effect.estimate if effect else None,
        interval=effect.interval() if effect else None,
        data=tuple(sorted({one.data or "" for one in measured})),
        tier=", ".join(tiers),
        seeds=min((one.effect.seeds for one in told if one.effect), default=0),
        cells=_keys(results, measured),
        n_testable=len({one.cell for one in own_measured}),
        n_cells=len(claim.cells),
        reason=_reason(claim, verdict, own, everything, least, absent, left_out, small, printed),
        elsewhere=places,
        counts=_counts(one for part in own for one in part),
        untested=untested,
        least=least,
        tested=tuple(everything),
        expected=claim.expected,
        marks=() if smoke else _marks(claim, everything),
    )  # fmt: skip


def _marks(claim: Claim, tested: Sequence[Finding]) -> tuple[Mark, ...]:
    """The marks of all data sets at hand, and of the paper's own that are not."""
    cells: dict[tuple[str, str], list[Finding]] = {cell: [] for cell in claim.cells}
    for one in tested:
        cells.setdefault((one.data or "", one.cell[1]), []).append(one)
    return tuple(Mark(*cell, _counts(found)) for cell, found in cells.items())


def _tested(claim: Claim, results: dict[str, Indexed], data: str, own: Iterable[str]) -> list[list[Finding]]:
    """The findings of each part of a claim, on the paper's own data or on one other data set."""
    of = {data} if data in own else {one.of for one in claim.stand_ins if one.data == data}
    parts = []
    for part in claim.parts:
        users = dict.fromkeys(kind for dataset, kind in part.cells if dataset in of)
        where = [next(cell for cell in part.cells if cell[0] in of and cell[1] == kind) for kind in users]
        parts.append([_measured(contrast, cell, data, results) for cell in where for contrast in part.contrasts])
    judged = [one for part in parts for one in part if one.effect and not one.missing]
    found = sides([(one.effect, one.contrast.scale.margin) for one in judged if one.effect])
    side = {id(one): each for one, each in zip(judged, found, strict=True)}
    return [[replace(one, side=side.get(id(one), 0)) for one in part] for part in parts]


def _measured(contrast: Contrast, cell: Where, data: str, results: dict[str, Indexed]) -> Finding:
    try:
        effect = contrast.effect(results, data, cell[1])
    except (NotMeasured, TooFewSeeds) as missing:
        return Finding(contrast, cell, data, missing=str(missing), absent=isinstance(missing, NotMeasured))
    diverged = _diverged(contrast, results, data, cell[1])
    return Finding(
        contrast,
        cell,
        data,
        effect,
        f"open, because {diverged} of the runs of {contrast.label} diverged" if diverged else "",
    )


def _diverged(contrast: Contrast, results: dict[str, Indexed], data: str, users: str) -> int:
    """The number of runs that the contrast reads and that diverged at some time."""
    found = set()
    for measure, rows in _read(((measure, data, users) for measure in contrast.measures), results):
        if results[measure.item].any_diverged:
            found |= set(diverged_runs(rows.frame).itertuples(index=False, name=None))
    return len(found)


def _read(
    wanted: Iterable[tuple[Measured, str, str]], results: Mapping[str, Results]
) -> Iterator[tuple[Measured, Selection]]:
    """The rows of each (measure, data set, users), once; none of a measure without which a contrast was decided."""
    for measure, data, users in dict.fromkeys(wanted):
        with suppress(NotMeasured):
            yield measure, measure.selected(results, data, users)


def _place(claim: Claim, data: str, found: Sequence[Sequence[Finding]]) -> Place:
    outcome = together(combine(part, own) for part, own in zip(claim.parts, found, strict=True))
    flat = [one for part in found for one in part]
    counts = _counts(flat)
    least = _least([one for one in flat if one.effect])
    return Place(data, elsewhere_of(outcome, counts), counts, claim.elsewhere[data], least)


def _counts(tested: Iterable[Finding]) -> Counts:
    found = [one.side for one in tested if one.data is not None]
    return Counts(found.count(1), found.count(0), found.count(-1))


def _smaller(claim: Claim, results: dict[str, Indexed], own: Sequence[Finding], tiers: Sequence[str]) -> str:
    """How an experiment on the paper's data is smaller than the paper's, in words; empty where it is not smaller."""
    effects = [one.effect for one in own if one.effect]
    if not effects:
        return ""
    rounds = min(_rounds(results, one) for one in own)
    size = claim.protocol
    pairs = (
        (rounds, size.rounds, "rounds"),
        (min(e.seeds for e in effects), size.seeds, "runs of each fold"),
        (min(e.folds for e in effects), size.folds, "folds"),
    )
    told = [f"{ours:,} of {theirs:,} {what}" for ours, theirs, what in pairs if ours < theirs]
    if not told and tiers != ["paper"]:
        told = [f"{', '.join(tiers)} tier"]
    return ", ".join(told)


def _rounds(results: Mapping[str, Results], one: Finding) -> float:
    """The last round of the shortest run that a contrast reads; infinite where it reads no rounds."""
    read = _read(_wanted(one), results)
    return min((rows.last_round for m, rows in read if not m.shared and "round" in rows), default=float("inf"))


def _keys(results: Mapping[str, Results], tested: Iterable[Finding]) -> tuple[str, ...]:
    read = _read((each for one in tested for each in _wanted(one)), results)
    return tuple(dict.fromkeys(key for _, rows in read for key in rows.keys))


def _wanted(one: Finding) -> Iterator[tuple[Measured, str, str]]:
    """What the contrast of a finding may read."""
    return ((measure, one.data or "", one.cell[1]) for measure in one.contrast.measures)


def _least(measured: Sequence[Finding]) -> Finding | None:
    """The contrast with the least favourable distance from its margin, in standard errors; a contrast with a diverged
    run is taken only if all have one."""
    return min(measured, key=lambda one: (bool(one.missing), _standardized(one)), default=None)


def _standardized(one: Finding) -> float:
    assert one.effect
    distance = one.effect.estimate - one.contrast.scale.margin
    error = one.effect.standard_error
    return distance / error if error else float("inf") * (1 if distance > 0 else -1)


def _reason(
    claim: Claim,
    verdict: Verdict,
    own: Sequence[Sequence[Finding]],
    everything: Sequence[Finding],
    least: Finding | None,
    absent: Sequence[str],
    left_out: Sequence[str],
    small: str,
    printed: Sequence[bool],
) -> str:
    sentences = []
    if verdict == "not judged (smoke)":
        sentences.append("the smoke tier runs on synthetic data")
    on_own = [one for part in own for one in part]
    if on_own:
        sentences.append(f"on the paper's data {_counts(on_own)}")
        sentences += [f"judged without its part {part}, none of which could be tested there" for part in left_out]
    if small:
        sentences.append(f"smaller than the paper's experiment ({small})")
    if absent:
        sentences.append("data not at hand or not run: " + ", ".join(sorted(absent)))
    if printed:
        agree = sum(printed)
        sentences.append(f"the paper's own numbers agree in {agree} of {len(printed)} contrasts")
    gaps = sorted({one.missing for one in everything if one.missing and not one.effect})
    if gaps:
        sentences.append("not measured: " + ", ".join(gaps))
    sentences += sorted({one.missing for one in everything if one.missing and one.effect})
    if least:
        sentences.append(f"least favourable: {least.contrast.label}, {least.cell[1]}, on {label(least.data or '')}")
    return "; ".join(sentences)
