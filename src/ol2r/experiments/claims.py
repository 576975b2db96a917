"""Claims of a paper, declared before their results are seen: what is measured, what is contrasted, what must hold.

A claim is written so that what it says is always "this contrast lies above its margin". A contrast is a weighted sum of
measures of the same run, paired by (fold, seed), or a ratio of deviations, or what an audit found in many simulated
worlds. Nothing here knows a learner; `verdicts` judges what is declared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd

from ol2r.experiments.effects import (
    Effect,
    Estimate,
    Nearness,
    Share,
    deviation_effect,
    diverged,
    mean_effect,
    means_of_folds,
    time_mean,
)

if TYPE_CHECKING:
    from ol2r.experiments.cells import Cell

Label = tuple[str, str | float]
Where = tuple[str, str]

WORLDS = "simulated worlds"
"""Takes the place of a data set's name in the cells of a claim about simulated worlds."""


class Measured(Protocol):
    """What a claim measures: one number for every run, or for every simulated world."""

    @property
    def item(self) -> str: ...

    @property
    def shared(self) -> bool: ...

    def selected(self, results: "Mapping[str, Results]", dataset: str, users: str) -> "Selection": ...

    def values(self, results: "Mapping[str, Results]", dataset: str, users: str) -> pd.Series: ...

    def published(self, numbers: "Printed", dataset: str, users: str) -> float | None: ...


@dataclass(frozen=True)
class Scale:
    """The quantity in which an effect is measured, and how large an effect a reader would call a difference.

    Attributes:
        name: the quantity in plain words, such as "NDCG@10" or "block size".
        margin: the value that the effect is claimed to exceed, never more than half of a difference that the paper
            prints; negative where the claim allows something to be worse by at most that much.
        unit: unit of the margin, such as "documents"; empty for a pure number.
    """

    name: str
    margin: float = 0.0
    unit: str = ""

    def __str__(self) -> str:
        margin = f"{self.margin:g}".replace("-", "−")
        return f"{self.name} above {margin}{' ' if self.unit else ''}{self.unit}"


class Compared(Protocol):
    """A comparison whose effect, so the claim says, lies above a margin."""

    @property
    def label(self) -> str: ...

    @property
    def scale(self) -> Scale: ...

    @property
    def measures(self) -> Sequence[Measured]: ...

    def effect(self, results: "Mapping[str, Results]", dataset: str, users: str) -> "Estimate": ...

    def published(self, numbers: "Printed", dataset: str, users: str) -> float | None: ...


class Results(Protocol):
    """What a rule reads of one item's stored results; the column `cell` of `frame` holds the store key of every row."""

    @property
    def frame(self) -> pd.DataFrame: ...

    @property
    def tier(self) -> str: ...

    @property
    def cells(self) -> "Sequence[Cell]": ...


class Indexed:
    """Results with an index of their label columns, which makes repeated selections fast."""

    def __init__(self, results: Results):
        self.frame, self.tier, self.cells = results.frame, results.tier, results.cells
        self._codes: dict[str, tuple[np.ndarray, dict]] = {}
        self._columns: dict[str, np.ndarray] = {}
        self._found: dict[tuple, Selection] = {(): Selection(self, slice(0, len(self.frame)))}
        self._values: dict[tuple, pd.Series] = {}

    def only(self, wanted: Mapping[str, Any]) -> "Selection":
        """The rows with these values in these columns; no rows where a column does not exist."""
        return self._only(tuple(sorted(wanted.items())))

    def _only(self, wanted: tuple[tuple[str, Any], ...]) -> "Selection":
        """As `only`; the rows are searched among those that all conditions but the last leave."""
        if wanted not in self._found:
            *others, (column, value) = wanted
            among = self._only(tuple(others))
            self._found[wanted] = among.where(among.codes(column) == self._coded(column)[1].get(value, -2))
        return self._found[wanted]

    def column(self, name: str) -> np.ndarray:
        """A column's values."""
        if name not in self._columns:
            self._columns[name] = self.frame[name].to_numpy()
        return self._columns[name]

    def values(self, measure: Measured, results: "Mapping[str, Results]", dataset: str, users: str) -> pd.Series:
        """The measure's values, read once however many contrasts use them."""
        key = (measure, dataset, users)
        if key not in self._values:
            self._values[key] = measure.values(results, dataset, users)
        return self._values[key]

    @cached_property
    def datasets(self) -> frozenset[str]:
        """The data sets that the results have rows of; simulated worlds count as one."""
        _, names = self._coded("dataset")
        return frozenset(names) | ({WORLDS} if "world" in self.frame else frozenset())

    @cached_property
    def any_diverged(self) -> bool:
        """Whether any of the runs diverged."""
        return bool(diverged(self.frame).any())

    def _coded(self, column: str) -> tuple[np.ndarray, dict]:
        """For each row the number of the value that it has in a column, and the numbers by value."""
        if column not in self.frame:
            return np.full(len(self.frame), -1), {}
        if column not in self._codes:
            codes, values = pd.factorize(self.frame[column])
            self._codes[column] = codes, {value: code for code, value in enumerate(values)}
        return self._codes[column]


class Printed:
    """The means that a paper prints, found by their labels.

    Args:
        numbers: the printed numbers, as `printed_numbers` gives them.
    """

    def __init__(self, numbers: pd.DataFrame):
        self._means: dict[tuple[str, str, str], list[tuple[str, float]]] = {}
        columns = (numbers[name] for name in ("item", "dataset", "users", "learner", "mean"))
        for item, dataset, users, learner, mean in zip(*columns, strict=True):
            self._means.setdefault((item, dataset, users), []).append((learner, mean))

    def mean(self, item: str, dataset: str, users: str, learner: object = None) -> float | None:
        """The one mean printed for an item on a data set, of these users or of none in particular, and of this learner
        (None: of any); None where there is no such mean or several."""
        printed = [one for named in {users, ""} for one in self._means.get((item, dataset, named), ())]
        means = [mean for name, mean in printed if learner in (None, name)]
        return float(means[0]) if len(means) == 1 else None


class Curves(NamedTuple):
    """A number of every run at every checkpoint: Float64[runs, checkpoints].

    The runs are an index (fold, seed), the checkpoints are rounds in ascending order. A missing value is NaN.
    """

    table: np.ndarray
    runs: pd.MultiIndex
    rounds: np.ndarray

    def at(self, round_: float) -> np.ndarray:
        """The values at a checkpoint: Float64[runs], NaN where there is no such checkpoint."""
        places = np.flatnonzero(self.rounds == round_)
        return self.table[:, places[0]] if len(places) else np.full(len(self.table), np.nan)

    def frame(self) -> pd.DataFrame:
        """The same as a table."""
        return pd.DataFrame(self.table, index=self.runs, columns=pd.Index(self.rounds, name="round"))


class Selection:
    """Some rows of an item's results. A column is read when it is asked for, because a measure needs few of many.

    Args:
        results: all rows of the item.
        lines: positions of the selected rows, ascending.
    """

    def __init__(self, results: Indexed, lines: slice | np.ndarray):
        self._results, self._lines = results, lines

    def __len__(self) -> int:
        return self._lines.stop - self._lines.start if isinstance(self._lines, slice) else len(self._lines)

    def __contains__(self, column: str) -> bool:
        return column in self._results.frame

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(map(str, self._results.frame))

    def __getitem__(self, column: str) -> np.ndarray:
        return self._results.column(column)[self._lines]

    def where(self, here: np.ndarray) -> "Selection":
        """Those of the rows for which `here`, Bool[rows], is true."""
        lines = np.flatnonzero(here)
        lines = lines + self._lines.start if isinstance(self._lines, slice) else self._lines[lines]
        if len(lines) and lines[-1] - lines[0] == len(lines) - 1:  # a slice copies nothing
            return Selection(self._results, slice(int(lines[0]), int(lines[-1]) + 1))
        return Selection(self._results, lines)

    def codes(self, column: str) -> np.ndarray:
        """One integer for each row, equal where rows have the same value in a column; −1 where they have none."""
        return self._results._coded(column)[0][self._lines]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows as a table with all columns."""
        return self._results.frame.iloc[self._lines]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The store keys of the cells that the rows belong to, in order of appearance."""
        names = list(self._results._coded("cell")[1])
        return tuple(names[code] for code in pd.unique(self.codes("cell")))

    @cached_property
    def last_round(self) -> int:
        """The last round of any row."""
        return int(self["round"].max())

    @cached_property
    def one_a_run(self) -> "Selection":
        """The first row of every run."""
        first = np.zeros(len(self), dtype=bool)
        first[np.unique(self._runs, return_index=True)[1]] = True
        return self.where(first)

    @cached_property
    def started(self) -> "Selection":
        """The rows after round 0."""
        return self.where(self["round"] > 0)

    @property
    def _runs(self) -> np.ndarray:
        """The run of each row, as fold · 2³² + seed."""
        return self["fold"].astype(np.int64) << 32 | self["seed"]

    @cached_property
    def _places(self) -> tuple[np.ndarray, pd.MultiIndex, np.ndarray]:
        """The place of each row among runs × rounds (one round, 0, where there are none), the runs and the rounds."""
        here = self["round"] if "round" in self else np.zeros(len(self), dtype=np.int64)
        rounds, column = np.unique(here, return_inverse=True)
        runs, run = np.unique(self._runs, return_inverse=True)
        places = run * len(rounds) + column
        if np.bincount(places, minlength=1).max() > 1:
            raise ValueError("duplicate rows: a run has two values at one round")
        return places, _run_index(runs.tobytes()), rounds

    def curves(self, values: np.ndarray) -> Curves:
        """The values of the rows, Real[rows], by run and round.

        Raises:
            ValueError: a run has two values at one round.
        """
        places, runs, rounds = self._places
        table = np.full(len(runs) * len(rounds), np.nan)
        table[places] = values
        return Curves(table.reshape(len(runs), len(rounds)), runs, rounds)


def indexed(results: Mapping[str, Results]) -> dict[str, Indexed]:
    """The same results, each with an index of its labels; items that show one table at one tier share its index."""
    made: dict[tuple[int, str], Indexed] = {}
    for each in results.values():
        if (id(each.frame), each.tier) not in made:
            made[id(each.frame), each.tier] = each if isinstance(each, Indexed) else Indexed(each)
    return {item: made[id(each.frame), each.tier] for item, each in results.items()}


class NotMeasured(ValueError):
    """The results hold no value for a measure; the message says what is missing."""


def label(dataset: str) -> str:
    """A data set's name for readers, as its catalogue entry says; a name without an entry is returned as it is."""
    from ol2r.data import CATALOGUE  # here, because it loads numba, which declaring a claim must not

    return CATALOGUE[dataset].label if dataset in CATALOGUE else dataset


def truth(dataset: str) -> str:
    """What the grades of a generated data set come from, "linear" or "network"; empty for real data."""
    from ol2r.data import synthetic  # as above

    return "" if dataset not in synthetic.SHAPES else "network" if synthetic.is_network(dataset) else "linear"


@dataclass(frozen=True)
class Measure:
    """One number for every run: the value of a column in an item's rows with these labels.

    Attributes:
        item: the item whose results hold the column.
        column: the column that is read, divided by the column `per` if that is given.
        labels: values that the rows' label columns must have, besides data set and users; users named here replace the
            cell's.
        at: the round at which the column is read; "end" is the last, "mean" averages over all rounds.
        shared: whether each fold has one value that stands for all its seeds (an offline reference).
        since: for cumulative columns, count only what came after this round: the growth of `column`, divided by the
            growth of `per`.
    """

    item: str
    column: str
    labels: tuple[Label, ...] = ()
    at: int | Literal["end", "mean"] = "end"
    per: str | None = None
    shared: bool = False
    since: int | None = None

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The item's rows on this data set, with these users and labels.

        Raises:
            NotMeasured: there are no such rows.
        """
        if self.item not in results:
            raise NotMeasured(f"{self.item} not computed")
        searched = indexed({self.item: results[self.item]})[self.item]
        own = dict(self.labels)
        wanted = own | {"dataset": dataset} | ({} if self.shared else {"users": users}) | own
        rows = searched.only(wanted)
        if not len(rows):
            if not len(searched.only({"dataset": dataset})):
                raise NotMeasured(f"{self.item} was not run on {label(dataset)}")
            of_labels = {"dataset": dataset} | own
            lacking = wanted if len(searched.only(of_labels)) else of_labels
            spoken = {"variant": "{}", "users": "{} users"}  # what is told of a label's value; of others the name too
            del lacking["dataset"]
            told = ", ".join(spoken.get(name, f"{name} {{}}").format(value) for name, value in lacking.items())
            raise NotMeasured(f"{self.item} was not run on {label(dataset)} with {told}")
        return rows.one_a_run if self.shared else rows  # a fit repeats its scores beside every weight

    def curve(self, results: Mapping[str, Results], dataset: str, users: str) -> Curves:
        """The values at all checkpoints; an item without rounds has a single one, 0.

        Raises:
            NotMeasured: as for `selected`, or a value is missing or not finite.
        """
        rows = self.selected(results, dataset, users)
        if self.per is None:
            return self._finite(rows.curves(rows[self.column]))
        if "round" in rows:  # before the first round there is nothing to divide by
            rows = rows.started
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._finite(rows.curves(rows[self.column] / rows[self.per]))

    def _finite(self, curves: Curves) -> Curves:
        broken = int((~np.isfinite(curves.table)).any(axis=1).sum())
        if broken:
            raise NotMeasured(f"{broken} of {len(curves.table)} runs of {self.item} lack a finite {self.column}")
        return curves

    def _grown(self, results: Mapping[str, Results], dataset: str, users: str) -> Curves:
        """One checkpoint: the growth of the cumulative column between `since` and `at`, divided by the growth of
        `per`."""
        rows = self.selected(results, dataset, users)
        totals = [rows.curves(rows[column]) for column in (self.column, self.per) if column]
        end = self._end(totals[0])
        grown = [self._at(curves, end) - self._at(curves, self.since or 0) for curves in totals]
        if len(grown) == 2:
            grown[0] = np.divide(*grown, out=np.full(len(grown[0]), np.nan), where=grown[1] > 0)
        return self._finite(Curves(grown[0][:, None], totals[0].runs, np.array([end])))

    def _end(self, curves: Curves) -> float:
        return curves.rounds.max(initial=0) if isinstance(self.at, str) else self.at

    def _at(self, curves: Curves, round_: float) -> np.ndarray:
        if round_ not in curves.rounds:
            raise NotMeasured(f"{self.item} has no checkpoint at round {round_}")
        return curves.at(round_)

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The measured number of every run, indexed by (fold, seed).

        Raises:
            NotMeasured: as for `curve`, or there is no checkpoint at the round.
        """
        if self.since is not None:
            curves = self._grown(results, dataset, users)
            found = curves.table[:, 0]
        else:
            curves = self.curve(results, dataset, users)
            if self.at == "mean":
                found = time_mean(curves.table, curves.rounds.astype(float))
            else:
                found = self._at(curves, self._end(curves))
        return pd.Series(found, index=curves.runs)

    def published(self, numbers: Printed, dataset: str, users: str) -> float | None:
        """The mean of this measure that the paper prints, or None where it prints none."""
        labels = dict(self.labels)
        if self.at != "end" or set(labels) - {"learner"}:
            return None
        return numbers.mean(self.item, dataset, users, labels.get("learner"))


def _values(measure: Measured, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
    searched = results.get(measure.item)
    if isinstance(searched, Indexed):
        return searched.values(measure, results, dataset, users)
    return measure.values(results, dataset, users)


@lru_cache(maxsize=1024)
def _run_index(runs: bytes) -> pd.MultiIndex:
    """The index (fold, seed) of runs, each fold · 2³² + seed as int64; one object for the same runs, so that pandas
    sees at once that two indices are equal."""
    codes = np.frombuffer(runs, dtype=np.int64)
    return pd.MultiIndex.from_arrays([codes >> 32, codes & 0xFFFFFFFF], names=["fold", "seed"])


@dataclass(frozen=True)
class Contrast:
    """The mean over runs of a weighted sum of measures, plus `offset`; the claim says that it is above its margin."""

    label: str
    terms: tuple[tuple[float, Measured], ...]
    scale: Scale
    offset: float = 0.0

    @property
    def measures(self) -> tuple[Measured, ...]:
        return tuple(measure for _, measure in self.terms)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        """The effect with its interval (`summary`), over the runs that all measures have."""
        return self.summary(self.totals(results, dataset, users))

    def totals(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The weighted sum plus `offset` of every run that all measures have, indexed by (fold, seed)."""
        own = {m: _values(m, results, dataset, users) for m in self.measures}
        runs = None
        for measure, values in own.items():
            if not measure.shared:
                same = runs is None or values.index.equals(runs)
                runs = values.index if runs is None or same else runs.intersection(values.index)
        if runs is None or runs.empty:
            raise NotMeasured(f"no run in common for {self.label}")
        total = np.full(len(runs), self.offset)
        for weight, measure in self.terms:
            values = own[measure]
            if measure.shared:
                total += weight * means_of_folds(values, runs)
            else:
                total += weight * (values if values.index.equals(runs) else values[runs]).to_numpy()
        return pd.Series(total, index=runs)

    def summary(self, total: pd.Series) -> Effect:
        """The effect that the totals of all runs, indexed by (fold, seed), give: their mean over seeds within folds."""
        return mean_effect(total)

    def published(self, numbers: Printed, dataset: str, users: str) -> float | None:
        """The same contrast of the printed means, or None if the paper does not print all of them."""
        means = [measure.published(numbers, dataset, users) for measure in self.measures]
        if None in means:
            return None
        return self.offset + sum(w * m for (w, _), m in zip(self.terms, means, strict=True) if m is not None)


DEVIATION = Scale("log ratio of deviations")


@dataclass(frozen=True)
class SmallerDeviation:
    """Log ratio of the deviations of two measures' curves (`deviation_effect`); the claim says that the deviation of
    `smaller` is the smaller one."""

    label: str
    smaller: Measure
    larger: Measure
    scale: Scale = DEVIATION

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (self.smaller, self.larger)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
        smaller, larger = (m.curve(results, dataset, users).frame() for m in self.measures)
        runs = smaller.index.intersection(larger.index)
        rounds = smaller.columns.intersection(larger.columns)
        return deviation_effect(smaller.loc[runs, rounds], larger.loc[runs, rounds], f"{self.label} {dataset} {users}")

    def published(self, numbers: Printed, dataset: str, users: str) -> float | None:
        return None


@dataclass(frozen=True)
class Near:
    """`within` − |contrast|: the claim says that the contrasted quantities differ by less than `within`."""

    contrast: Compared
    within: float

    @property
    def label(self) -> str:
        return f"{self.within:g} − |{self.contrast.label}|"

    @property
    def scale(self) -> Scale:
        return self.contrast.scale

    @property
    def measures(self) -> Sequence[Measured]:
        return self.contrast.measures

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Nearness:
        return Nearness(self.contrast.effect(results, dataset, users), self.within)

    def published(self, numbers: Printed, dataset: str, users: str) -> float | None:
        printed = self.contrast.published(numbers, dataset, users)
        return None if printed is None else self.within - abs(printed)


def difference(better: Measured, worse: Measured, label: str, scale: Scale) -> Contrast:
    """The contrast better − worse, run by run."""
    return Contrast(label, ((1.0, better), (-1.0, worse)), scale)


def slope(measures: Mapping[float, Measure], label: str, scale: Scale, sign: float = 1.0) -> Contrast:
    """The least-squares slope of measures over their keys in the mapping, times `sign`.

    Σ (x − x̄) y / Σ (x − x̄)²
    """
    mean = sum(measures) / len(measures)
    total = sum((x - mean) ** 2 for x in measures)
    return Contrast(label, tuple((sign * (x - mean) / total, y) for x, y in measures.items()), scale)


@dataclass(frozen=True)
class WorldMeasure:
    """A quantity of an audit, one number for every simulated world."""

    item: str
    quantity: str
    labels: tuple[Label, ...]

    shared = False

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The lines of single worlds.

        Raises:
            NotMeasured: there are none.
        """
        if self.item not in results:
            raise NotMeasured(f"{self.item} not computed")
        found = indexed({self.item: results[self.item]})[self.item].only(
            dict(self.labels) | {"quantity": self.quantity}
        )
        rows = found.where(found["world"] >= 0) if "world" in found else found
        if "world" not in found or not len(rows):
            raise NotMeasured(
                f"{self.item} has no {self.quantity} with {', '.join(f'{k} {v}' for k, v in self.labels)}"
            )
        return rows

    def curve(self, results: Mapping[str, Results]) -> pd.DataFrame:
        """The quantity by world and round: a column for each round, and a row for each world.

        The rows are indexed by (fold, seed), as runs are: the fold is 1 and the seed is the number of the world.
        """
        rows = self.selected(results, WORLDS, "")
        columns = pd.DataFrame({name: rows[name] for name in ("seed", "world", "round", "value")})
        table = columns.pivot(index=["seed", "world"], columns="round", values="value")  # noqa: PD010 (refuses doubles)
        return table.set_axis(pd.MultiIndex.from_product([[1], range(len(table))], names=["fold", "seed"]))

    def values(self, results: Mapping[str, Results], dataset: str, users: str) -> pd.Series:
        """The quantity of each world in the last round."""
        return self.curve(results).iloc[:, -1]

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper has no simulated worlds."""


OF_WORLDS = Scale("share of worlds beyond the promised one")
"""A theorem says "at least": a share of worlds has no margin."""


@dataclass(frozen=True)
class Covered:
    """The share of worlds in which the ratio of an observed quantity to its bound is at most 1, minus 1 − δ."""

    label: str
    ratio: WorldMeasure
    scale: Scale = OF_WORLDS

    @property
    def measures(self) -> tuple[WorldMeasure, ...]:
        return (self.ratio,)

    def effect(self, results: Mapping[str, Results], dataset: str, users: str) -> Share:
        rows = self.ratio.selected(results, dataset, users)
        (delta,) = np.unique(rows["delta"])
        return Share(int((rows["value"] <= 1).sum()), len(rows), 1 - float(delta))

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper has no simulated worlds."""


@dataclass(frozen=True)
class Part:
    """Contrasts that a claim makes in each of some cells, and how the cells combine.

    Attributes:
        statement: what the part says, in words.
        contrasts: the contrasts, each of which must lie above its margin.
        cells: the paper's (data set, users) pairs that the part covers.
        combine: "all" if the part must hold in all cells; "count" if at least `need` of them suffice (in proportion,
            rounded up, where not all are tested).
        need: the number of cells that "count" needs.
    """

    statement: str
    contrasts: tuple[Compared, ...]
    cells: tuple[Where, ...]
    combine: Literal["all", "count"] = "all"
    need: int = 0

    @property
    def rule(self) -> str:
        by_scale = groupby(self.contrasts, key=lambda contrast: contrast.scale)
        told = "; ".join(f"{'; '.join(contrast.label for contrast in own)}: {scale}" for scale, own in by_scale)
        n = len(self.cells)
        every = f"in each of {n} cells" if n > 1 else "in its cell"
        how = {"all": every, "count": f"in at least {self.need} of {n} cells"}
        return f"{self.statement} ({told}) {how[self.combine]}"


@dataclass(frozen=True)
class Size:
    """The size of the paper's experiment: rounds, seeds of each fold, folds."""

    rounds: int
    seeds: int
    folds: int


class StandIn(NamedTuple):
    """Other data on which a claim about the paper's data is judged as well.

    Args:
        of: the paper's data set.
        data: the other data set, which stands in for it.
        same_shape: whether `data` has the shape of the paper's data set (features, grades, lengths of lists), or is
            part of that data set.
    """

    of: str
    data: str
    same_shape: bool = False


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper as a rule on results.

    Attributes:
        paper, id: name of the chapter, number of the claim on the paper's sheet; together its anchor.
        statement: what the paper says.
        parts: the parts, all of which must hold.
        protocol: the size of the paper's experiment; a smaller experiment on the paper's data decides nothing.
        stand_ins: other data sets on which the claim is judged, each by itself, to see whether the claim carries over.
        expected: the effect that the rule asks for, with its direction and threshold, in one plain sentence.
    """

    paper: str
    id: str
    statement: str
    parts: tuple[Part, ...]
    protocol: Size
    stand_ins: tuple[StandIn, ...] = ()
    expected: str = ""

    @property
    def anchor(self) -> str:
        return f"{self.paper}-{self.id.lower()}"

    @property
    def rule(self) -> str:
        """The rule in words; every contrast is claimed to lie above its margin."""
        told = "95 % interval of each contrast above its margin: " + "; ".join(part.rule for part in self.parts)
        shape = {True: " (of the paper's shape)", False: ""}
        elsewhere = [label(data) + shape[same] for data, same in self.elsewhere.items()]
        return told + (f"; elsewhere, each by itself: {', '.join(elsewhere)}" if elsewhere else "")

    @property
    def cells(self) -> tuple[Where, ...]:
        return tuple(dict.fromkeys(cell for part in self.parts for cell in part.cells))

    @property
    def elsewhere(self) -> dict[str, bool]:
        """The other data sets on which the claim is judged, with True for the paper's shape; those come first."""
        covered = {dataset for dataset, _ in self.cells}
        shapes = {one.data: one.same_shape for one in self.stand_ins if one.of in covered}
        return dict(sorted(shapes.items(), key=lambda place: not place[1]))

    @property
    def items(self) -> frozenset[str]:
        """The items that the claim reads."""
        return frozenset(m.item for part in self.parts for contrast in part.contrasts for m in contrast.measures)
