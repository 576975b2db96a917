"""Claims of a paper, declared before their results are seen: what is measured, what is contrasted, what must hold.

A claim is written so that what it says is always "this contrast lies above its margin". A contrast is arithmetic on
quantities of the same run, paired by (fold, seed), such as `score("A") - score("B")`, or what an audit found in many
simulated worlds. The words of a paper's claims stand in its `claims.toml`. Nothing here knows a learner; `verdicts`
judges what is declared.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import groupby, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

import numpy as np
import pandas as pd

from ol2r.experiments.effects import (
    Effect,
    Estimate,
    Nearness,
    RatioOfMeans,
    Share,
    deviation_effect,
    diverged,
    fold_effect,
    fold_means,
    mean_effect,
    means_of_folds,
    ratio_effect,
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


class Quantity:
    """A number of every run. Quantities are added, subtracted and scaled like numbers."""

    @property
    def sum(self) -> "Sum":
        """The quantity as a weighted sum of measures: a measure is the sum of itself."""
        return Sum(((1.0, cast(Measured, self)),))

    @property
    def measures(self) -> "tuple[Measured, ...]":
        """What is read."""
        return tuple(measure for _, measure in self.sum.terms)

    def __add__(self, other: "Quantity | float") -> "Sum":
        own, added = self.sum, other.sum if isinstance(other, Quantity) else Sum((), other)
        return Sum((*own.terms, *added.terms), own.offset + added.offset)

    def __mul__(self, factor: float) -> "Sum":
        own = self.sum
        return Sum(tuple((weight * factor, measure) for weight, measure in own.terms), own.offset * factor)

    def __neg__(self) -> "Sum":
        return self * -1.0

    def __sub__(self, other: "Quantity | float") -> "Sum":
        return self + -other

    def __rsub__(self, other: float) -> "Sum":
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: "Quantity") -> "Ratio":
        return Ratio(self, other)


@dataclass(frozen=True)
class Sum(Quantity):
    """A weighted sum of measures, plus `offset`."""

    terms: "tuple[tuple[float, Measured], ...]"
    offset: float = 0.0

    @property
    def sum(self) -> "Sum":
        return self


@dataclass(frozen=True)
class Ratio:
    """Two quantities of the same runs, of which the first is divided by the second as a contrast's `estimate` says."""

    numerator: Quantity
    denominator: Quantity

    @property
    def measures(self) -> "tuple[Measured, ...]":
        return (*self.numerator.measures, *self.denominator.measures)


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
class Measure(Quantity):
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
        any_users: whether the item has no users, or its rows of all users count (None: if it is shared).
    """

    item: str
    column: str
    labels: tuple[Label, ...] = ()
    at: int | Literal["end", "mean"] = "end"
    per: str | None = None
    shared: bool = False
    since: int | None = None
    any_users: bool | None = None

    def selected(self, results: Mapping[str, Results], dataset: str, users: str) -> Selection:
        """The item's rows on this data set, with these users and labels.

        Raises:
            NotMeasured: there are no such rows.
        """
        if self.item not in results:
            raise NotMeasured(f"{self.item} not computed")
        searched = indexed({self.item: results[self.item]})[self.item]
        own, of_any = dict(self.labels), self.shared if self.any_users is None else self.any_users
        wanted = own | {"dataset": dataset} | ({} if of_any else {"users": users}) | own
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
        return rows.one_a_run if self.shared or of_any else rows  # a fit repeats its scores beside every weight

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


def measure(
    item: str,
    column: str,
    at: int | Literal["end", "mean"] = "end",
    per: str | None = None,
    *,
    shared: bool = False,
    since: int | None = None,
    any_users: bool | None = None,
    **labels: str | float,
) -> Measure:
    """The `Measure` with these labels."""
    return Measure(item, column, tuple(labels.items()), at, per, shared, since, any_users)


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
class WorldMeasure(Quantity):
    """A quantity of an audit, one number for every simulated world: that of a look, counted as a list's places are."""

    item: str
    quantity: str
    labels: tuple[Label, ...]
    look: int = -1

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
        """The quantity of each world at the look."""
        return self.curve(results).iloc[:, self.look]

    def published(self, numbers: Printed, dataset: str, users: str) -> None:
        """The paper has no simulated worlds."""


OF_WORLDS = Scale("share of worlds beyond the promised one")
"""A theorem says "at least": a share of worlds has no margin."""


Tables = Mapping[str, Results]


def totals(quantities: Sequence[Quantity], results: Tables, dataset: str, users: str) -> list[pd.Series]:
    """Some quantities of every run that the measures of all of them have, each indexed by (fold, seed).

    Raises:
        NotMeasured: a measure has no values there, or no run is common to all.
    """
    sums = [each.sum for each in quantities]
    own = {m: _values(m, results, dataset, users) for each in sums for _, m in each.terms}
    runs = None
    for measure, values in own.items():
        if not measure.shared:
            same = runs is None or values.index.equals(runs)
            runs = values.index if runs is None or same else runs.intersection(values.index)
    if runs is None or runs.empty:
        raise NotMeasured("no run in common")
    found = []
    for quantity in sums:
        total = np.full(len(runs), quantity.offset)
        for weight, measure in quantity.terms:
            values = own[measure]
            if measure.shared:
                total += weight * means_of_folds(values, runs)
            else:
                total += weight * (values if values.index.equals(runs) else values[runs]).to_numpy()
        found.append(pd.Series(total, index=runs))
    return found


def over_runs(contrast: "Contrast", results: Tables, dataset: str, users: str) -> Effect:
    """The mean over folds of the fold means, with its interval over seeds within folds."""
    return mean_effect(totals((contrast.quantity,), results, dataset, users)[0])


def over_folds(contrast: "Contrast", results: Tables, dataset: str, users: str) -> Effect:
    """The same with the interval of a sample of folds, for what has no seeds and for a bandit's queries."""
    return fold_effect(totals((contrast.quantity,), results, dataset, users)[0])


def of_means(contrast: "Contrast", results: Tables, dataset: str, users: str) -> RatioOfMeans:
    """The ratio of two means over folds, with the interval of a sample of folds.

    Raises:
        NotMeasured: the denominator's mean is not positive.
    """
    above, below = totals((contrast.quantity.numerator, contrast.quantity.denominator), results, dataset, users)
    if not fold_means(below).mean() > 0:
        raise NotMeasured(f"{contrast.name}: what it is divided by has no positive mean")
    return ratio_effect(above, below)


def steadier(contrast: "Contrast", results: Tables, dataset: str, users: str) -> Effect:
    """By how much the numerator's curve deviates less than the denominator's: see `deviation_effect`."""
    smaller, larger = (m.curve(results, dataset, users).frame() for m in contrast.quantity.measures)
    runs = smaller.index.intersection(larger.index)
    rounds = smaller.columns.intersection(larger.columns)
    return deviation_effect(smaller.loc[runs, rounds], larger.loc[runs, rounds], f"{contrast.name} {dataset} {users}")


def covered(contrast: "Contrast", results: Tables, dataset: str, users: str) -> Share:
    """The share of worlds in which a ratio of what was observed to its bound is at most 1, minus 1 − δ."""
    rows = contrast.quantity.selected(results, dataset, users)
    (delta,) = np.unique(rows["delta"])
    return Share(int((rows["value"] <= 1).sum()), len(rows), 1 - float(delta))


@dataclass(frozen=True)
class Contrast:
    """A quantity whose effect, so the claim says, lies above the margin of its scale.

    Attributes:
        name: what is compared, in words.
        quantity: arithmetic on measures, or what else `estimate` takes.
        estimate: what makes an estimate of the quantity, from results, on a data set, under some users.
        within: claim that the quantity is nearer to 0 than this: the effect is `within` − |quantity|.
        most: the most that the quantity could be. Where the mean of that is not above the margin there is no room, and
            the contrast is open, unless its interval lies wholly above the margin even so, or wholly below the negative
            margin. So such an interval decides by itself, also where nobody knows how much room there is.
        where: a phrase that says where there is no room; `{users}` in it stands for the users of the cell.
    """

    name: str
    quantity: Any
    scale: Scale
    estimate: "Callable[[Contrast, Tables, str, str], Estimate]" = field(default_factory=lambda: over_runs)
    within: float | None = None
    most: Quantity | None = None
    where: str = ""

    @property
    def label(self) -> str:
        return self.name if self.within is None else f"{self.within:g} − |{self.name}|"

    @property
    def measures(self) -> tuple[Measured, ...]:
        return tuple(dict.fromkeys((*self.quantity.measures, *(self.most.measures if self.most else ()))))

    def effect(self, results: Tables, dataset: str, users: str) -> Estimate:
        """The effect with its interval.

        Raises:
            NotMeasured: a value is missing; or the interval does not decide by itself, and there is no room or its
                amount is not known.
        """
        found = self.estimate(self, results, dataset, users)
        if self.within is not None:
            return Nearness(found, self.within)
        if self.most is not None:
            low, high = found.interval()
            if low <= self.scale.margin and high >= -self.scale.margin:
                most = over_runs(replace(self, quantity=self.most), results, dataset, users)
                if most.estimate <= self.scale.margin:
                    raise NotMeasured(f"no room on {label(dataset)} {self.where.format(users=users)}")
        return found

    def published(self, numbers: Printed, dataset: str, users: str) -> float | None:
        """The same contrast of the printed means, or None if the paper does not print all of them."""
        if self.estimate is not over_runs:
            return None
        quantity = self.quantity.sum
        means = [measure.published(numbers, dataset, users) for _, measure in quantity.terms]
        if None in means:
            return None
        printed = quantity.offset + sum(w * m for (w, _), m in zip(quantity.terms, means, strict=True) if m is not None)
        return printed if self.within is None else self.within - abs(printed)


def leads(
    of: Callable[[str], Quantity],
    scale: Scale,
    better: Sequence[str],
    worse: Sequence[str],
    word: str = "",
    names: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Contrast, ...]:
    """That each of the `better` is above each of the `worse`, in a quantity of either.

    Args:
        word: what is added to the contrasts' names.
        names: what the names call some of them.
    """
    return tuple(
        Contrast(f"{names.get(a, a)} − {names.get(b, b)}{word}", of(a) - of(b), scale)
        for a, b in product(better, worse)
    )


def mean_of(quantities: Sequence[Quantity]) -> Sum:
    return sum((1 / len(quantities) * each for each in quantities), Sum(()))


def every(make: Callable[..., Contrast], *choices: Sequence) -> tuple[Contrast, ...]:
    """A contrast of each combination of the choices."""
    return tuple(make(*each) for each in product(*choices))


def slope(measures: Mapping[float, Quantity]) -> Sum:
    """The least-squares slope of quantities over their keys in the mapping.

    Σ (x − x̄) y / Σ (x − x̄)²
    """
    mean = sum(measures) / len(measures)
    total = sum((x - mean) ** 2 for x in measures)
    return sum(((x - mean) / total * y for x, y in measures.items()), Sum(()))


@dataclass(frozen=True)
class Part:
    """Contrasts that a claim makes in each of some cells, and how the cells combine.

    Attributes:
        contrasts: the contrasts, each of which must lie above its margin.
        cells: the paper's (data set, users) pairs that the part covers.
        need: the number of cells that suffice (in proportion, rounded up, where not all are tested); 0 for all.
        statement: what the part says, in words.
    """

    contrasts: tuple[Contrast, ...]
    cells: tuple[Where, ...]
    need: int = 0
    statement: str = ""

    @property
    def rule(self) -> str:
        by_scale = groupby(self.contrasts, key=lambda contrast: contrast.scale)
        told = "; ".join(f"{'; '.join(contrast.label for contrast in own)}: {scale}" for scale, own in by_scale)
        n = len(self.cells)
        every = f"in each of {n} cells" if n > 1 else "in its cell"
        return f"{self.statement} ({told}) {f'in at least {self.need} of {n} cells' if self.need else every}"


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
        parts: the parts, all of which must hold.
        protocol: the size of the paper's experiment; a smaller experiment on the paper's data decides nothing.
        stand_ins: other data sets on which the claim is judged, each by itself, to see whether the claim carries over.
        statement: what the paper says.
        expected: the effect that the rule asks for, with its direction and threshold, in one plain sentence.
    """

    paper: str
    id: str
    parts: tuple[Part, ...]
    protocol: Size
    stand_ins: tuple[StandIn, ...] = ()
    statement: str = ""
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


def worded(words: Mapping[str, Any], *claims: Claim) -> tuple[Claim, ...]:
    """The claims with their words.

    Args:
        words: by the claim's id, its statement, what is expected, and what each of its parts says; texts that are no
            table belong to no claim.

    Raises:
        ValueError: a claim or a part has no words, or there are words without a claim or a part.
    """
    words = {id_: own for id_, own in words.items() if not isinstance(own, str)}
    if [claim.id for claim in claims] != list(words):
        raise ValueError(
            f"words of the claims {', '.join(words)}, but rules of {', '.join(each.id for each in claims)}"
        )
    found = []
    for claim in claims:
        own = words[claim.id]
        if len(own["parts"]) != len(claim.parts):
            raise ValueError(f"{claim.id} has words of {len(own['parts'])} parts, but rules of {len(claim.parts)}")
        parts = tuple(replace(part, statement=told) for part, told in zip(claim.parts, own["parts"], strict=True))
        found.append(replace(claim, parts=parts, statement=own["statement"], expected=own["expected"]))
    return tuple(found)
