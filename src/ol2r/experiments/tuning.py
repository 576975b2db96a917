"""Which hyper-parameters a tuning grid chooses, in two steps: a short run of all settings gives a shortlist, and a
longer run of the shortlist gives the best. The criterion is the mean validation score over the kinds of users that the
grid is tuned for: all of them together, or each by itself.

The rule and the budget of tuning for each kind of users are the same for every learner: all settings run a fifth of the
rounds with two seeds, the `SHORTLIST` best of them half of the rounds with five others. A grid is widened past an edge
on which the best setting or the next best lies, for as long as the edge gains more than one standard error over the
value inside (`Tuned.open_edges`). Where 0 is a value that a hyper-parameter can have, 0 closes its grid.

This module reads the results of runs that were made for tuning. Those who declare the runs must see to it that they use
no test query and no reported seed.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.clicks.cascade import USERS
from ol2r.experiments.effects import at_own_end, diverged
from ol2r.parameters import Value

ALL = "all"
RUN = ["users", "variant", "fold", "seed"]
TABLE, TABLE_BY_USERS = "tuned.csv", "tuned-by-users.csv"
"""The files of a paper's chosen values, in the folder of its package: for all kinds of users together, and for each."""
STEPS, STEPS_BY_USERS = ("tuning", "tuning-longer"), ("tuning-by-users", "tuning-by-users-longer")
"""The items of both steps, by the same order."""
SHORTLIST = 6
"""How many of the first step's best settings the second step runs where each kind of users is tuned for by itself."""


@dataclass(frozen=True)
class TuningGrid:
    """A tuning grid: the hyper-parameters that are tuned together, with the values that are tried.

    Args:
        variants: the variants that share the chosen values.
        tried: the values of each hyper-parameter; all combinations are tried.
        fixed: hyper-parameters that differ from the variants' own and are not tuned.
        wide: hyper-parameters of which fewer values are tried on data sets with many features, where every run is slow.
        never: values of each hyper-parameter that are scored like the others but never chosen.
        datasets: the data sets that it is tuned on; None for all that its paper tunes on.
        users: the kinds of users that it is tuned for, together; None for all.
    """

    variants: tuple[str, ...]
    tried: Mapping[str, tuple[float, ...]]
    fixed: Mapping[str, Value] = field(default_factory=dict)
    wide: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    never: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    datasets: tuple[str, ...] | None = None
    users: tuple[str, ...] | None = None

    def settings(self, wide: bool = False) -> list[dict[str, float]]:
        """All combinations of values, each as a setting of the tuned hyper-parameters."""
        values = {**self.tried, **self.wide} if wide else self.tried
        return [dict(zip(values, each, strict=True)) for each in product(*values.values())]

    def at(self, tier: str, wide: bool = False) -> list[dict[str, float]]:
        """The settings of a tier: all of them, at the smoke tier only those of the first and last values."""
        if tier != "smoke":
            return self.settings(wide)
        ends = {name: tuple(dict.fromkeys((values[0], values[-1]))) for name, values in self.tried.items()}
        return [dict(zip(ends, each, strict=True)) for each in product(*ends.values())]


def for_users(grid: str, kind: str) -> str:
    """The name of a grid that is tuned for one kind of users by itself."""
    return f"{grid}, {kind} users"


def by_users(grids: Mapping[str, TuningGrid]) -> dict[str, TuningGrid]:
    """Each grid once for each kind of users, by the names of `for_users`."""
    return {
        for_users(name, kind): replace(grid, users=(kind,)) for name, grid in grids.items() for kind in USERS
    }  # fmt: skip


@dataclass(frozen=True)
class Tuned:
    """A paper's tuning grids, and what was chosen from them, as its file has it.

    Args:
        grids: all tuning grids, by name.
        size: gives the length of the shortlist for a data set and a grid.
        steps: the paper's items of the first and of the second step.
    """

    package: str
    grids: Mapping[str, TuningGrid]
    datasets: tuple[str, ...]
    size: Callable[[str, str], int] = lambda dataset, grid: SHORTLIST
    file: str = TABLE
    steps: tuple[str, str] = STEPS

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all hyper-parameters that are tuned."""
        return tuple(dict.fromkeys(name for grid in self.grids.values() for name in grid.tried))

    @cached_property
    def lines(self) -> list[dict[str, str]]:
        """The lines of the file; none before anything is tuned."""
        path = files(self.package) / self.file
        if not path.is_file():
            return []
        with path.open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def _values(self, line: Mapping[str, str]) -> dict[str, float]:
        return {name: float(line[name]) for name in self.names if line[name]}

    @cached_property
    def _shortlists(self) -> dict[tuple[str, str], list[tuple[dict[str, float], list[str]]]]:
        """By data set and grid: the settings, and for which variants each was chosen."""
        kept: dict[tuple[str, str], list[tuple[dict[str, float], list[str]]]] = {}
        for line in self.lines:
            own = self._values(line), line["best_of"].split(" + ")
            kept.setdefault((line["dataset"], line["grid"]), []).append(own)
        return kept

    def shortlist(self, dataset: str, grid: str) -> list[dict[str, float]]:
        """The settings that the second step runs, in the order of the first step's scores, best first.

        The list is empty until the file has results of the first step.
        """
        return [dict(setting) for setting, _ in self._shortlists.get((dataset, grid), [])]

    def chosen(self, dataset: str, grid: str, of: str = ALL) -> Mapping[str, float]:
        """The best setting of a grid on a data set: for all its variants together, or for one of them alone.

        Raises:
            KeyError: no setting was chosen.
        """
        if (found := self._choice(dataset, grid, of)) is None:
            raise KeyError(f"nothing is tuned for {of} of {grid} on {dataset}")
        return found

    def _choice(self, dataset: str, grid: str, of: str) -> Mapping[str, float] | None:
        """As `chosen`, and None if no setting was chosen."""
        shortlist = self._shortlists.get((dataset, grid), [])
        return next((MappingProxyType(setting) for setting, best_of in shortlist if of in best_of), None)

    def datasets_of(self, grid: str) -> tuple[str, ...]:
        """The data sets that a grid is tuned on."""
        own = self.grids[grid].datasets
        return self.datasets if own is None else own

    def tuned_on(self, grid: str, *datasets: str) -> str:
        """The data set whose values of a grid are taken: the first of these that it is tuned on, or else the last."""
        return next((each for each in datasets if each in self.datasets_of(grid)), datasets[-1])

    def may_choose(self, grid: str, setting: Mapping[str, float]) -> bool:
        """Whether tuning may choose a setting of a grid; see `TuningGrid.never`."""
        return not any(setting[name] in values for name, values in self.grids[grid].never.items())

    def table(self, first: pd.DataFrame, longer: pd.DataFrame) -> pd.DataFrame:
        """The shortlist of every grid, and the settings chosen from it, by the results of both steps.

        When a grid is extended, a setting that is on its shortlist stays there, even if others now precede it, and a
        setting that was chosen stays so unless another gains more than one standard error over it in the second step.
        Where the second step has no results, what was chosen before stays.

        Args:
            first: results of every setting, with the columns `grid` (what is tuned together) and `variant`.
            longer: results of the shortlists; some or all of them may be missing.

        Returns:
            dataset, grid, names, score (of the first step), longer (score of the second step, or NaN), best_of: for
            which variants the setting is the best of the shortlist after the second step (`ALL`, which means the grid's
            variants together, or names of variants, joined by " + "). The best of the first step come first. No line
            where nothing was tuned.

        Raises:
            ValueError: in every setting of a grid that may be chosen, a run diverged.
        """
        keys = ["dataset", "grid", *self.names]
        if first.empty:
            return pd.DataFrame(columns=[*keys, "score", "longer", "best_of"], dtype=str)
        longer = longer if len(longer) else first[:0]
        scored = grid_scores(first, self.names, "grid").reindex(columns=[*keys, "score", "diverged"])
        shortlists = [
            self._listed(str(dataset), str(grid), scores)
            for (dataset, grid), scores in scored.groupby(["dataset", "grid"], sort=False)
        ]
        table = pd.concat(shortlists, ignore_index=True)[[*keys, "score"]]
        again = grid_scores(longer, self.names, "grid").reindex(columns=[*keys, "score"])
        table = table.merge(again.rename(columns={"score": "longer"}), on=keys, how="left")
        best_of = pd.Series([""] * len(table))
        for of in (ALL, *sorted({*first["variant"], *(longer["variant"] if len(longer) else ())})):
            own = longer if of == ALL else longer[longer["variant"] == of]
            won = table.merge(self._winners(own, of, table), on=keys, how="left")["best"].eq(True)
            best_of = best_of.where(~won, best_of.where(best_of == "", best_of + " + ") + of)
        return table.assign(best_of=best_of)

    def open_edges(self, first: pd.DataFrame, longer: pd.DataFrame) -> pd.DataFrame:
        """Where a grid must be widened: the best setting or the next best lies on an edge, which gains more than one
        standard error over the value inside. An edge at 0 is closed.

        Args:
            first, longer: as of `table`; the order is that of the longer runs where there are such.

        Returns:
            As `edges`, by "grid".
        """
        table, keys = self.table(first, longer), ["dataset", "grid", *self.names]
        order = table.sort_values(["longer", "score"], ascending=False, kind="stable")
        leading = order.groupby(["dataset", "grid"], sort=False).head(2)[keys].assign(best=True)
        found = edges(first, leading, self.names, "grid")
        return found[(found["value"] != 0) & (found["gain"] > found["error"])].reset_index(drop=True)

    def _listed(self, dataset: str, grid: str, scores: pd.DataFrame) -> pd.DataFrame:
        """The lines of a grid's scores on a data set that are on its shortlist, the best first."""
        allowed = np.array([self.may_choose(grid, line) for line in frames.records(scores)])
        sound = scores[allowed & (scores["diverged"] == 0)]
        if sound.empty:
            raise ValueError(f"{grid} on {dataset}: a run diverged in every setting that was tuned")
        ranked = sound.sort_values("score", ascending=False, kind="stable")
        before = self.shortlist(dataset, grid)
        stays = np.array([_setting(self.names, line) in before for line in frames.records(ranked)])
        return ranked[stays | (np.arange(len(ranked)) < self.size(dataset, grid))]

    def _winners(self, longer: pd.DataFrame, of: str, table: pd.DataFrame) -> pd.DataFrame:
        """The settings that the second step chooses, one for each data set and grid: the best, or what was chosen
        before if the best gains no more than one standard error over it, or if there is no second step.

        Args:
            longer: runs of the second step, of all variants of a grid or of the variant `of` alone.
            of: whom the setting is chosen for.
            table: all shortlists.

        Returns:
            dataset, grid, names, best (true).
        """
        won = []
        for line in frames.records(grid_scores(longer, self.names, "grid").query("best")):
            dataset, grid, setting = str(line["dataset"]), str(line["grid"]), _setting(self.names, line)
            if chosen := self._choice(dataset, grid, of):
                runs = longer[(longer["dataset"] == dataset) & (longer["grid"] == grid)]
                gain = _gain(_ends(runs), setting, chosen)
                setting = chosen if len(gain) and gain.mean() <= _error(gain) else setting
            won.append({"dataset": dataset, "grid": grid, **setting, "best": True})
        decided = {(line["dataset"], line["grid"]) for line in won}
        for place in dict.fromkeys(zip(table["dataset"], table["grid"], strict=True)):
            if place not in decided and (chosen := self._choice(*place, of)):
                won.append({"dataset": place[0], "grid": place[1], **chosen, "best": True})
        return pd.DataFrame(won).reindex(columns=["dataset", "grid", *self.names, "best"])


def grid_scores(frame: pd.DataFrame, names: Sequence[str], by: str = "variant") -> pd.DataFrame:
    """The criterion of every setting of a tuning grid: the final validation NDCG@10, averaged over users and runs.

    Args:
        frame: dataset, users, `by`, the hyper-parameters `names`, round and ndcg; a hyper-parameter that a learner does
            not have is missing or NaN.

    Returns:
        dataset, `by`, names (NaN of one that no learner has), score (mean over users of the means over runs), n (number
        of runs, over all users), diverged (how many of them diverged), best (Bool, among the settings of the same data
        set and learner; the first of equals; a setting with a diverged run is never best). No line where nothing was
        tuned.
    """
    columns = ["dataset", by, *names, "score", "n", "diverged", "best"]
    if frame.empty:
        return pd.DataFrame(columns=columns)
    given = [name for name in names if name in frame]
    last = _ends(frame, by)
    cells = last.assign(diverged=diverged(last)).groupby(["dataset", by, *given, "users"], sort=False, dropna=False)
    means = cells.agg(mean=("ndcg", "mean"), n=("ndcg", "count"), diverged=("diverged", "sum")).reset_index()
    table = means.groupby(["dataset", by, *given], sort=False, dropna=False)
    scores = table.agg(score=("mean", "mean"), n=("n", "sum"), diverged=("diverged", "sum")).reset_index()
    sound = scores[scores["diverged"] == 0].groupby(["dataset", by], sort=False)["score"]
    return scores.assign(best=scores.index.to_series().isin(sound.idxmax())).reindex(columns=columns)


def _ends(frame: pd.DataFrame, by: str = "variant") -> pd.DataFrame:
    """The last rounds of all runs; a run that stands for several kinds of users counts once."""
    last = at_own_end(frame, by)
    return last.drop_duplicates(["cell", "fold", "seed"]) if "cell" in last else last


def _gain(last: pd.DataFrame, setting: Mapping[str, float], other: Mapping[str, float]) -> pd.Series:
    """What a setting has more than another at the end, paired by users, variant and run.

    Args:
        last: the last rounds of a grid's runs on one data set.
    """
    one, two = (
        last[np.logical_and.reduce([last[name] == value for name, value in each.items()])].set_index(RUN)["ndcg"]
        for each in (setting, other)
    )
    return (one - two).dropna()


def _error(gain: pd.Series) -> float:
    """The standard error of the mean gain; NaN of a single run."""
    return gain.std() / max(len(gain), 1) ** 0.5


def _setting(names: Sequence[str], line: Mapping[str, float]) -> dict[str, float]:
    """The hyper-parameters of a line that its grid has."""
    return {name: line[name] for name in names if name in line and line[name] == line[name]}


def chosen_together(table: pd.DataFrame) -> np.ndarray:
    """Which lines of `Tuned.table` were chosen for all variants of their grid together: Bool[lines]."""
    return np.array([ALL in of.split(" + ") for of in table["best_of"]] if len(table) else [], dtype=bool)


def marked(scores: pd.DataFrame, table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The settings of the first step, with `best` set for those that the second step chose for all variants together.

    Args:
        scores: from `grid_scores` of the first step, by "grid".
        table: from `Tuned.table`.
    """
    keys = ["dataset", "grid", *names]
    won = table[chosen_together(table)]
    both = scores.drop(columns="best").merge(won[[*keys, "best_of"]], on=keys, how="left")
    return both.assign(best=both["best_of"].notna()).drop(columns="best_of")


def edges(first: pd.DataFrame, scores: pd.DataFrame, names: Sequence[str], by: str = "variant") -> pd.DataFrame:
    """Best settings that lie on an edge of their grid, beyond which better ones may lie, and how much the edge gains
    over the neighbouring value inside the grid.

    Args:
        scores: from `grid_scores` of these runs; `best` marks the chosen settings.

    Returns:
        dataset, `by`, name, value (on the edge), inside (the next value), gain and its standard error: of the final
        score, paired by users, variant and run.
    """
    last = _ends(first, by) if len(first) else first
    lines = []
    for best in frames.records(scores.query("best")):
        own = last[(last["dataset"] == best["dataset"]) & (last[by] == best[by])]
        mine = [name for name in names if name in own and best[name] == best[name]]
        for name in mine:
            tried = sorted(own[name].unique())
            if len(tried) < 2 or best[name] not in (tried[0], tried[-1]):
                continue
            inside = tried[1] if best[name] == tried[0] else tried[-2]
            gain = _gain(own, {key: best[key] for key in mine}, {key: best[key] for key in mine} | {name: inside})
            found = {"dataset": best["dataset"], by: best[by], "name": name, "value": best[name], "inside": inside}
            lines.append(found | {"gain": gain.mean(), "error": _error(gain)})
    return pd.DataFrame(lines, columns=["dataset", by, "name", "value", "inside", "gain", "error"])
