"""Claims of a paper, declared before their results are seen, and the rules that judge them.

A claim is written so that what it says is always "this contrast is positive". A contrast is a weighted sum of measures
of the same run, paired by (fold, seed), or a ratio of deviations, or what an audit found in many simulated worlds; its
95 % interval, over seeds within folds, is held against zero or a margin. Rules are pure functions of results; they know
no learner and must never see a result before they are written.
"""

# pandas has no types of its own: every selection is inferred to be anything from a scalar to a frame
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false, reportReturnType=false

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import ceil
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd

from ol2r.experiments.effects import Effect, Estimate, TooFewSeeds, deviation_effect, mean_effect, time_mean

Verdict = Literal["reproduced", "consistent", "undecided", "not reproduced", "not testable", "not judged (smoke)"]
VERDICTS: tuple[Verdict, ...] = (
    "reproduced", "consistent", "undecided", "not reproduced", "not testable", "not judged (smoke)",
)  # fmt: skip
Label = tuple[str, str | float]
Where = tuple[str, str]

WORLDS = "simulated worlds"
"""What stands for the data set in the cells of a claim that rests on audits."""


class Measured(Protocol):
    """A number of every run, or of every simulated world."""

    @property
    def item(self) -> str: ...

    @property
    def shared(self) -> bool: ...

    def rows(self, results: "Mapping[str, Results]", dataset: str, users: str) -> pd.DataFrame: ...

    def values(self, results: "Mapping[str, Results]", dataset: str, users: str) -> pd.Series: ...

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> float | None: ...


class Compared(Protocol):
    """What a claim says is positive."""

    @property
    def label(self) -> str: ...

    @property
    def measures(self) -> Sequence[Measured]: ...

    def effect(self, results: "Mapping[str, Results]", dataset: str, users: str) -> "Estimate": ...

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> float | None: ...


class Results(Protocol):
    """What a rule reads of the stored results of one item: the frame has the store key of every row in `cell`."""

    @property
    def frame(self) -> pd.DataFrame: ...

    @property
    def tier(self) -> str: ...


class Kept(NamedTuple):
    """Some rows of some results."""

    frame: pd.DataFrame
    tier: str


class Indexed:
    """Results whose rows are found by their labels quickly, again and again."""

    def __init__(self, results: Results):
        self.frame, self.tier = results.frame, results.tier
        self._codes: dict[str, tuple[np.ndarray, dict]] = {}
        self._found: dict[tuple, pd.DataFrame] = {}
        self._values: dict[tuple, pd.Series] = {}

    def only(self, wanted: Mapping[str, Any]) -> pd.DataFrame:
        """The rows with these values in these columns; none where there is no such column."""
        key = tuple(sorted(wanted.items()))
        if key not in self._found:
            here = np.ones(len(self.frame), dtype=bool)
            for column, value in wanted.items():
                codes, numbers = self._coded(column)
                here &= codes == numbers.get(value, -2)
            self._found[key] = self.frame.iloc[np.flatnonzero(here)]
        return self._found[key]

    def values(self, measure: Measured, results: "Mapping[str, Results]", dataset: str, users: str) -> pd.Series:
        """The measure's, read once however many contrasts it is in."""
        key = (measure, dataset, users)
        if key not in self._values:
            self._values[key] = measure.values(results, dataset, users)
        return self._values[key]

    def _coded(self, column: str) -> tuple[np.ndarray, dict]:
        if column not in self.frame:
            return np.full(len(self.frame), -1), {}
        if column not in self._codes:
            codes, values = pd.factorize(self.frame[column])
            self._codes[column] = codes, {value: code for code, value in enumerate(values)}
        return self._codes[column]


def indexed(results: Mapping[str, Results]) -> dict[str, Indexed]:
    """The same results, ready to be searched."""
    return {item: each if isinstance(each, Indexed) else Indexed(each) for item, each in results.items()}


class NotMeasured(ValueError):
    """The results hold no value for a measure; the message says what is missing."""


def label(dataset: str) -> str:
    """What a data set must be called, as its catalogue entry says; a name that is not in it stands for itself."""
    from ol2r.data import CATALOGUE  # here, because it loads numba, which declaring a claim must not

    return CATALOGUE[dataset].label if dataset in CATALOGUE else dataset


@dataclass(frozen=True)
class Measure:
    """One number of every run: a column of an item's rows with these labels.

    Attributes:
        item: the item whose results hold it.
        column: the column, divided by the column `per` where one is named.
        labels: what the rows' label columns must be, besides data set and users; users named here replace the cell's.
        at: the round it is read at; "end" is the last, "mean" averages over all rounds.
        shared: one value a fold stands for all its seeds (an offline reference).
        since: of cumulative columns, count only what came after this round: what `column` grew by, for each unit that
            `per` grew by.
    """

    item: str
    column: str
    labels: tuple[Label, ...] = ()
    at: int | Literal["end", "mean"] = "end"
    per: str | None = None
    shared: bool = False
    since: int | None = None

    def rows(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.DataFrame:
        """The item's rows on this data set, with these users and labels.

        Raises:
            NotMeasured: there are none.
        """
        if self.item not in results:
            raise NotMeasured(f"{self.item} not computed")
        searched = indexed({self.item: results[self.item]})[self.item]
        own = dict(self.labels)
        wanted = own | {"dataset": dataset} | ({} if self.shared else {"users": users}) | own
        rows = searched.only(wanted)
        if self.shared:
            rows = rows.drop_duplicates(["fold", "seed"])  # a fit repeats its scores beside every weight
        if rows.empty:
            if searched.only({"dataset": dataset}).empty:
                raise NotMeasured(f"{self.item} has no rows of {label(dataset)}")
            named = wanted | {"dataset": label(dataset)}
            raise NotMeasured(f"{self.item} has no rows with {', '.join(f'{k} {v}' for k, v in named.items())}")
        return rows

    def curve(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.DataFrame:
        """All checkpoints: one row a run, indexed by (fold, seed); one column a round (0 where the item has no rounds).

        Raises:
            NotMeasured: as `rows`, or a value is missing or not finite.
        """
        rows = self.rows(results, dataset, users)
        if self.per and "round" in rows:
            rows = rows[rows["round"] > 0]  # before the first round there is nothing to divide by
        values = rows[self.column] / rows[self.per] if self.per else rows[self.column]
        return self._finite(_by_run(rows, values))

    def _finite(self, table: pd.DataFrame) -> pd.DataFrame:
        broken = int((~np.isfinite(table)).any(axis=1).sum())
        if broken:
            raise NotMeasured(f"{broken} of {len(table)} runs of {self.item} lack a finite {self.column}")
        return table

    def _grown(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.DataFrame:
        """One column: what the cumulative column grew by between `since` and `at`, by the growth of `per`."""
        rows = self.rows(results, dataset, users)
        totals = [_by_run(rows, rows[column]) for column in (self.column, self.per) if column]
        end = totals[0].columns.max() if self.at == "end" else self.at
        grown = [self._at(table, end) - self._at(table, self.since or 0) for table in totals]
        values = grown[0] if len(grown) == 1 else grown[0] / grown[1].where(grown[1] > 0)
        return self._finite(values.to_frame(end))

    def _at(self, table: pd.DataFrame, round_: object) -> pd.Series:
        if round_ not in table:
            raise NotMeasured(f"{self.item} has no checkpoint at round {round_}")
        return table[round_]

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The number of every run, indexed by (fold, seed).

        Raises:
            NotMeasured: as `curve`, or no checkpoint at the round.
        """
        if self.since is not None:
            return self._grown(results, dataset, users).iloc[:, 0]
        curve = self.curve(results, dataset, users)
        if self.at == "mean":
            return pd.Series(time_mean(curve.to_numpy(), curve.columns.to_numpy(dtype=float)), index=curve.index)
        return self._at(curve, curve.columns.max() if self.at == "end" else self.at)

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> float | None:
        """The paper's printed mean of this measure, None where it prints none."""
        labels = dict(self.labels)
        if self.at != "end" or set(labels) - {"learner"}:
            return None
        where = (numbers["item"] == self.item) & (numbers["dataset"] == dataset) & numbers["users"].isin([users, ""])
        if labels:
            where &= numbers["learner"] == labels["learner"]
        return float(numbers.loc[where, "mean"].iloc[0]) if where.sum() == 1 else None


def _values(measure: Measured, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
    searched = results.get(measure.item)
    if isinstance(searched, Indexed):
        return searched.values(measure, results, dataset, users)
    return measure.values(results, dataset, users)


def _by_run(rows: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """One row a run, indexed by (fold, seed), one column a round (0 where there are no rounds)."""
    rounds = rows["round"] if "round" in rows else 0
    table = rows[["fold", "seed"]].assign(round=rounds, value=values.astype(float))
    return table.pivot(index=["fold", "seed"], columns="round", values="value")  # noqa: PD010 (refuses doubles)


@dataclass(frozen=True)
class Contrast:
    """Mean of a weighted sum of measures of the same run, plus `offset`; the claim says it is positive."""

    label: str
    terms: tuple[tuple[float, Measured], ...]
    offset: float = 0.0

    @property
    def measures(self) -> tuple[Measured, ...]:
        return tuple(measure for _, measure in self.terms)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        """The effect with its interval (`summary`), on the runs all measures have."""
        own = {m: _values(m, results, dataset, users) for m in self.measures}
        runs = None
        for measure, values in own.items():
            if not measure.shared:
                runs = values.index if runs is None else runs.intersection(values.index)
        if runs is None or runs.empty:
            raise NotMeasured(f"no run in common for {self.label}")
        total = pd.Series(self.offset, index=runs)
        for weight, measure in self.terms:
            values = own[measure]
            if measure.shared:
                by_fold = values.groupby("fold").mean()
                total += weight * runs.get_level_values("fold").map(by_fold).to_numpy(dtype=float)
            else:
                total += weight * values[runs]
        return self.summary(total)

    def summary(self, total: pd.Series) -> Effect:
        """What the total of every run, indexed by (fold, seed), says: its mean over seeds within folds."""
        return mean_effect(total)

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> float | None:
        """The same contrast of the printed means, None unless the paper prints them all."""
        means = [measure.published(numbers, dataset, users) for measure in self.measures]
        if None in means:
            return None
        return self.offset + sum(w * m for (w, _), m in zip(self.terms, means, strict=True) if m is not None)


@dataclass(frozen=True)
class SmallerDeviation:
    """log ratio of the deviations of two measures' curves (`deviation_effect`); the claim says the first is smaller."""

    label: str
    smaller: Measure
    larger: Measure

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (self.smaller, self.larger)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        smaller, larger = (m.curve(results, dataset, users) for m in self.measures)
        runs = smaller.index.intersection(larger.index)
        rounds = smaller.columns.intersection(larger.columns)
        return deviation_effect(smaller.loc[runs, rounds], larger.loc[runs, rounds], f"{self.label} {dataset} {users}")

    def published(self, numbers: pd.DataFrame, dataset: str, users: str) -> float | None:
        return None


def difference(better: Measured, worse: Measured, label: str, slack: float = 0.0) -> Contrast:
    """better − worse, run by run; with slack, the claim is that it is no more than so much below."""
    return Contrast(label, ((1.0, better), (-1.0, worse)), slack)


def equivalent(a: Measured, b: Measured, label: str, within: float) -> tuple[Contrast, Contrast]:
    """Two contrasts that are both positive when a and b are less than `within` apart."""
    return (
        difference(a, b, f"{label} + {within:g}", within),
        difference(b, a, f"{within:g} − ({label})", within),
    )


def slope(measures: Mapping[float, Measure], label: str, sign: float = 1.0) -> Contrast:
    """Least-squares slope of measures over the values they are keyed by, times `sign`.

    Σ (x − x̄) y / Σ (x − x̄)²
    """
    mean = sum(measures) / len(measures)
    scale = sum((x - mean) ** 2 for x in measures)
    return Contrast(label, tuple((sign * (x - mean) / scale, y) for x, y in measures.items()))


@dataclass(frozen=True)
class Part:
    """Contrasts that a claim makes in each of some cells, and how the cells combine.

    Attributes:
        statement: what the part says, in words.
        contrasts: each must be positive.
        cells: the paper's (data set, users) that it covers.
        combine: "all" cells; "holm": all, each interval at the level of Holm's step-down over the part's contrasts;
            "count": at least `need` of the cells (in proportion, rounded up, where only some can be tested, or several
            data sets stand in for one).
        need: cells needed by "count".
    """

    statement: str
    contrasts: tuple[Compared, ...]
    cells: tuple[Where, ...]
    combine: Literal["all", "holm", "count"] = "all"
    need: int = 0

    @property
    def rule(self) -> str:
        labels = "; ".join(contrast.label for contrast in self.contrasts)
        n = len(self.cells)
        every = f"in each of {n} cells" if n > 1 else "in its cell"
        how = {"all": every, "holm": f"{every}, at Holm's level", "count": f"in at least {self.need} of {n} cells"}
        return f"{self.statement} ({labels}) {how[self.combine]}"


@dataclass(frozen=True)
class Size:
    """The size of the paper's experiment: rounds, seeds a fold, folds."""

    rounds: int
    seeds: int
    folds: int


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper as a rule on results.

    Attributes:
        paper, id: name of the chapter, number of the claim on the paper's sheet; together its anchor.
        statement: what the paper says.
        parts: what must hold, all of them.
        protocol: the size below which agreement is "consistent" only.
        stand_ins: (the paper's data set, other data to judge by where it is not at hand); all that are named stand in
            for it, each as a cell of its own. They can lower a verdict, never raise it above "consistent".
        margin: effects within ± margin count as none.
    """

    paper: str
    id: str
    statement: str
    parts: tuple[Part, ...]
    protocol: Size
    stand_ins: tuple[tuple[str, str], ...] = ()
    margin: float = 0.0

    @property
    def anchor(self) -> str:
        return f"{self.paper}-{self.id.lower()}"

    @property
    def rule(self) -> str:
        """The rule in words; every contrast is claimed to be positive."""
        above = "above 0" if self.margin == 0 else f"above {self.margin:g}"
        told = f"95 % interval of each contrast {above}: " + "; ".join(part.rule for part in self.parts)
        covered = {dataset for dataset, _ in self.cells}
        places = {d: [label(s) for of, s in self.stand_ins if of == d] for d, _ in self.stand_ins if d in covered}
        if places:
            told += "; where not at hand, " + ", ".join(f"{' and '.join(s)} for {label(d)}" for d, s in places.items())
        return told

    @property
    def cells(self) -> tuple[Where, ...]:
        return tuple(dict.fromkeys(cell for part in self.parts for cell in part.cells))


@dataclass(frozen=True)
class Finding:
    """One contrast in one cell: on which data it was measured (None: not at hand), and on which side it came out.

    `side` is 1 (as claimed), −1 (wholly on the other side, or inside the margin) or 0 (undecided, with `missing` saying
    why where there is no effect).
    """

    contrast: Compared
    cell: Where
    data: str | None
    effect: Estimate | None = None
    missing: str = ""
    side: int = 0
    level: float = 0.95


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim, with what it rests on. `effect` and `interval` are the least favourable contrast's.

    `data` has catalogue names; what is read by people calls data sets by their labels.
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
    tested: tuple[Finding, ...] = field(default=(), repr=False)

    @property
    def anchor(self) -> str:
        return f"{self.paper}-{self.id.lower()}"

    def to_json(self) -> dict[str, Any]:
        """The fields of `ol2r claims --json`, ready for `json.dumps`."""
        lists = {"interval": self.interval and list(self.interval), "data": list(self.data), "cells": list(self.cells)}
        return {k: v for k, v in vars(self).items() if k != "tested"} | lists


def side(interval: tuple[float, float], margin: float) -> int:
    """1 where the interval lies wholly above the margin, −1 where wholly below −margin or inside ±margin, else 0."""
    low, high = interval
    if low > margin:
        return 1
    return -1 if high < -margin or (-margin <= low and high <= margin) else 0


def holm_levels(p_values: Sequence[float], alpha: float = 0.05) -> list[float]:
    """Confidence level for each of several intervals: the i-th smallest p-value (from 0) gets 1 − α / (n − i).

    Holm (1979) stops at the first that is not significant: what comes after it keeps that one's level.
    """
    n = len(p_values)
    levels, threshold, stopped = [0.0] * n, alpha, False
    for i, k in enumerate(sorted(range(n), key=p_values.__getitem__)):
        if not stopped:
            threshold = alpha / (n - i)
            stopped = p_values[k] >= threshold
        levels[k] = 1 - threshold
    return levels


def combine(part: Part, tested: Sequence[Finding]) -> int | None:
    """1, 0 or −1 for a part as for a contrast; None where the data of none of its cells is at hand.

    Every contrast of a cell must come out as claimed; one on the other side decides the cell against the claim. Where
    several data sets stand in for a cell's, the cell counts once for each.
    """
    cells: dict[tuple[Where, str], list[int]] = {}
    for one in tested:
        if one.data is not None:
            cells.setdefault((one.cell, one.data), []).append(one.side)
    if not cells:
        return None
    sides = [min(contrasts) for contrasts in cells.values()]
    need = ceil(part.need * len(sides) / len(part.cells)) if part.combine == "count" else len(sides)
    if sides.count(1) >= need:
        return 1
    return -1 if len(sides) - sides.count(-1) < need else 0


def _test(claim: Claim, part: Part, results: Mapping[str, Results]) -> list[Finding]:
    tested = []
    frames = [item.frame for item in results.values()]
    known = {name for frame in frames if "dataset" in frame for name in frame["dataset"].dropna().unique()}
    known |= {WORLDS for frame in frames if "world" in frame}
    for cell, contrast in product(part.cells, part.contrasts):
        dataset, users = cell
        stand_ins = [other for of, other in claim.stand_ins if of == dataset and other in known]
        for data in [dataset] if dataset in known else stand_ins:
            try:
                tested.append(Finding(contrast, cell, data, contrast.effect(results, data, users)))
            except (NotMeasured, TooFewSeeds) as missing:
                tested.append(Finding(contrast, cell, data, missing=str(missing)))
        if dataset not in known and not stand_ins:
            tested.append(Finding(contrast, cell, None, missing="data not at hand or not run"))
    p_values = [one.effect.p_value(claim.margin) for one in tested if one.effect]
    levels = iter(holm_levels(p_values) if part.combine == "holm" else [0.95] * len(p_values))
    return [_decide(one, one.effect, next(levels), claim.margin) if one.effect else one for one in tested]


def _decide(one: Finding, effect: Estimate, level: float, margin: float) -> Finding:
    return replace(one, side=side(effect.interval(level), margin), level=level)


def _rounds(results: Mapping[str, Results], one: Finding) -> int:
    own = [m.rows(results, one.data or "", one.cell[1]) for m in one.contrast.measures if not m.shared]
    return int(min(rows["round"].max() for rows in own))


def _keys(results: Mapping[str, Results], tested: Iterable[Finding]) -> tuple[str, ...]:
    used = [m.rows(results, one.data or "", one.cell[1]) for one in tested for m in one.contrast.measures]
    return tuple(dict.fromkeys(key for rows in used for key in rows["cell"].unique()))


def judge(claim: Claim, results: Mapping[str, Results], published: pd.DataFrame) -> Judgement:
    """The verdict on a claim.

    reproduced: every part comes out as claimed in every cell that can be tested, at least one of them on the paper's
    data at its protocol. consistent: the same on other data or a smaller experiment. not reproduced: a part comes out
    on the other side. not testable: no cell has data. undecided: the rest, also where a contrast of a testable cell is
    not measured.

    Args:
        claim: declared before its results.
        results: by item name; items that a claim reads and that are missing leave it undecided.
        published: the paper's printed numbers (`printed_numbers`); they are told beside the verdict and never change
            it.
    """
    results = indexed(results)
    by_part = [_test(claim, part, results) for part in claim.parts]
    tested = tuple(one for part in by_part for one in part)
    measured = [(one, one.effect) for one in tested if one.effect]
    own = [(one, effect) for one, effect in measured if one.data == one.cell[0]]
    used = {m.item for one, _ in measured for m in one.contrast.measures}
    tiers = sorted({results[item].tier for item in used or set(results)})
    sides = [combine(part, ones) for part, ones in zip(claim.parts, by_part, strict=True)]
    decided = [s for s in sides if s is not None]
    untested = [part.statement for part, s in zip(claim.parts, sides, strict=True) if s is None and decided]

    verdict: Verdict
    if "smoke" in tiers:
        verdict = "not judged (smoke)"
    elif not decided:
        verdict = "not testable"
    elif min(decided) < 1:
        verdict = "not reproduced" if min(decided) < 0 else "undecided"
    else:
        size = claim.protocol
        complete = bool(own) and tiers == ["paper"] and all(
            effect.seeds >= size.seeds and effect.folds >= size.folds and _rounds(results, one) >= size.rounds
            for one, effect in own
        )  # fmt: skip
        verdict = "reproduced" if complete else "consistent"

    worst, effect = min(measured, key=lambda pair: _standardized(pair[1], claim.margin), default=(None, None))
    return Judgement(
        claim.paper, claim.id, claim.statement, claim.rule, verdict,
        effect=effect and effect.estimate,
        interval=effect and effect.interval(),
        data=tuple(sorted({one.data or "" for one, _ in measured})),
        tier=", ".join(tiers),
        seeds=min((effect.seeds for _, effect in measured), default=0),
        cells=_keys(results, [one for one, _ in measured]),
        n_testable=len({one.cell for one, _ in measured}),
        n_cells=len(claim.cells),
        reason=_reason(claim, verdict, tested, worst, published, untested),
        tested=tested,
    )  # fmt: skip


def judge_by_data(claim: Claim, results: Mapping[str, Results], published: pd.DataFrame) -> dict[str, Judgement]:
    """The verdict that each data set alone would give, by data set; one on which nothing can be tested has none.

    Args:
        claim, results, published: as for `judge`.
    """
    datasets = dict.fromkeys(data for data in (*(d for d, _ in claim.cells), *(s for _, s in claim.stand_ins)))
    judged = {}
    for data in datasets:
        parts = (replace(p, cells=tuple(c for c in p.cells if data in _judged_on(claim, c))) for p in claim.parts)
        own = replace(
            claim,
            parts=tuple(part for part in parts if part.cells),
            stand_ins=tuple(pair for pair in claim.stand_ins if pair[1] == data),
        )
        found = judge(own, _only(results, data), published)
        if found.n_testable:
            judged[data] = found
    return judged


def _judged_on(claim: Claim, cell: Where) -> tuple[str, ...]:
    return (cell[0], *(other for of, other in claim.stand_ins if of == cell[0]))


def _only(results: Mapping[str, Results], data: str) -> dict[str, Results]:
    """The results without the rows of other data sets."""
    return {
        item: Kept(each.frame[each.frame["dataset"] == data], each.tier) if "dataset" in each.frame else each
        for item, each in results.items()
    }


def _standardized(effect: Estimate, margin: float) -> float:
    distance = effect.estimate - margin
    return distance / effect.standard_error if effect.standard_error else float("inf") * (1 if distance > 0 else -1)


def _reason(
    claim: Claim,
    verdict: Verdict,
    tested: Sequence[Finding],
    worst: Finding | None,
    published: pd.DataFrame,
    untested: Sequence[str],
) -> str:
    measured = [one for one in tested if one.effect]
    sentences = [f"judged without its part “{says}”, none of which could be tested" for says in untested]
    if verdict == "not judged (smoke)":
        sentences.append("the smoke tier runs on synthetic data")
    absent = sorted({label(one.cell[0]) for one in tested if one.data is None})
    other = sorted({(one.data, one.cell[0]) for one in measured if one.data and one.data != one.cell[0]})
    gaps = sorted({one.missing for one in tested if one.missing and one.data is not None})
    if measured:
        counts = {s: sum(one.side == s for one in measured) for s in (1, 0, -1)}
        sentences.append(f"{counts[1]} contrasts as claimed, {counts[0]} undecided, {counts[-1]} against")
    if worst:
        sentences.append(f"least favourable: {worst.contrast.label}, {worst.cell[1]}, on {label(worst.data or '')}")
    printed = [p for one in tested if (p := one.contrast.published(published, *one.cell)) is not None]
    if printed:
        sentences.append(f"the paper's own numbers agree in {sum(p > 0 for p in printed)} of {len(printed)} contrasts")
    if other:
        replaced = (f"{label(ours)} in place of {label(printed)}" for ours, printed in other)
        sentences.append("other data: " + " and ".join(replaced))
    if absent:
        sentences.append("data not at hand or not run: " + ", ".join(absent))
    if gaps:
        sentences.append("not measured: " + ", ".join(gaps))
    return "; ".join(sentences)
