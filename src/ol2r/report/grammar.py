"""The grammar of lines: a figure says which columns go along its axes, what tells lines apart, and what has panels.

One drawing then serves every figure of that kind. `lines` draws into the house style of the caller, who is `styled`.
This module must not know any paper or learner.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ol2r.experiments.claims import label
from ol2r.report import alt
from ol2r.report.style import INK, QUIET, Drawing, Looks, legend, panels, stacked, tiled

DASHED, DOTTED, SHORT, LONG = (0, (5, 1.5)), (0, (1, 1.2)), (0, (1.5, 1.2)), (0, (8, 1))
THIN: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (2, 2))}
"""How what is no result is drawn: a level, or a place on the x axis."""
STROKES, MARKERS = ("-", DASHED, SHORT, (0, (4, 1, 1, 1)), (0, (8, 1.5))), "osD^v"


class Series(NamedTuple):
    """How the lines of one value are drawn, and what they are called in the legend and in the words of the figure."""

    label: str
    style: Mapping[str, Any]
    words: str


def series(label: str, color: str = "", marker: str = "", line: Any = "-", words: str = "", **more: Any) -> Series:
    """The look of one value; what is not given comes from another key, or is as matplotlib has it."""
    style = {"color": color, "marker": marker, "ls": line}
    return Series(label, {name: value for name, value in style.items() if value} | more, words or label)


class Key(NamedTuple):
    """A column that tells lines apart, and the looks of its values: lines are drawn in this order, no others are."""

    column: str
    looks: Mapping[Any, Series]


def registered(column: str, looks: Looks, values: Iterable[str]) -> Key:
    """A key whose values have registered looks, in their order."""
    return Key(column, {each: series(each, *looks[each]) for each in looks.ordered(values)})


def shades(column: str, names: Mapping[Any, str], colors: Iterable[str]) -> Key:
    """A key whose values have no look elsewhere: colours, markers and strokes in their order."""
    looks = zip(names.items(), colors, MARKERS, STROKES, strict=False)
    return Key(column, {value: series(told, color, mark, stroke) for (value, told), color, mark, stroke in looks})


class Facet(NamedTuple):
    """A column that has a panel, or a row of panels, for each of its values."""

    column: str
    titles: Mapping[Any, str]
    words: Mapping[Any, str] = {}
    """What a value is called in words, where that is not its title."""


def facet(column: str, table: pd.DataFrame, title: Callable[[Any], str] = str) -> Facet:
    """A facet of all values that a column has, as they come first."""
    return Facet(column, {value: title(value) for value in dict.fromkeys(table[column])})


def together(table: pd.DataFrame, *columns: str) -> pd.Series:
    """The values of several columns of each row as one, for a key or a facet of their combinations."""
    return pd.Series(list(zip(*(table[column] for column in columns), strict=True)), table.index)


def by_data(frame: pd.DataFrame, width: int = 24) -> Facet:
    """A facet of all data sets, by their labels."""
    return facet("dataset", frame, lambda name: "\n".join(wrap(label(name), width)))


class Grid(NamedTuple):
    """Where the panels of a figure stand.

    Args:
        across: what has a column of panels (None: one panel).
        down: what has a row of them (None: one row).
        height: in inches, of one row where there are several, or else of the figure.
        wrap: panels in a row, where `across` has too many for one.
    """

    across: Facet | None = None
    down: Facet | None = None
    height: float = 3.2
    wrap: int = 0

    def drawn(self, table: pd.DataFrame) -> tuple[Drawing, list[list[Axes]]]:
        """The drawing of a table with its empty panels, row by row."""
        names = list(self.across.titles.values()) if self.across else [""]
        if self.down:
            return stacked(self.down.titles, names, table, self.height)
        fig, axes = tiled(names, table, self.wrap, self.height) if self.wrap else panels(names, table, self.height)
        return fig, [axes]

    def places(self, table: pd.DataFrame, rows: list[list[Axes]]) -> Iterator[tuple[Axes, pd.DataFrame]]:
        """Each panel with its part of the table, which has the words of the panel as `where`."""
        for down, axes in zip(_values(self.down), rows, strict=True):
            for across, ax in zip(_values(self.across), axes, strict=True):
                own, where = table, []
                for each, value in ((self.down, down), (self.across, across)):
                    if each is not None:
                        own = own[own[each.column] == value]
                        where.append(each.words.get(value, each.titles[value]))
                yield ax, own.assign(where=", ".join(where))


def _values(facet: Facet | None) -> list[Any]:
    return [None] if facet is None else list(facet.titles)


ONE = Grid()

Mark = Callable[[Axes, pd.DataFrame], Any]
"""What else a panel shows, drawn with the panel's part of the table."""


def level(at: float, **look: Any) -> Mark:
    """A thin line across at some y."""
    style: dict[str, Any] = {"color": QUIET} | THIN | look
    return lambda ax, _: ax.axhline(at, **style)


def place(at: float, **look: Any) -> Mark:
    """A thin line down at some x."""
    style: dict[str, Any] = {"color": QUIET} | THIN | look
    return lambda ax, _: ax.axvline(at, **style)


def long(table: pd.DataFrame, names: Iterable[str], keep: Sequence[str], y: str = "mean") -> pd.DataFrame:
    """Columns of a table one below the other: `keep`, line (the column's name) and y."""
    return table.melt(list(keep), list(names), "line", y)


class Spread(NamedTuple):
    """How far a mean may be off, as a band or as bars.

    Args:
        columns: those of both ends of an interval, or that of the standard error; a bar has two of it to either side.
        band: the opacity of the band (0: bars).
    """

    columns: tuple[str, ...] = ("low", "high")
    band: float = 0.0


BAND = Spread(band=0.18)
BARS = Spread()
ERRORS = Spread(("standard_error",))


def lines(
    table: pd.DataFrame,
    x: str,
    y: str = "mean",
    keys: Sequence[Key] = (),
    grid: Grid = ONE,
    *,
    spread: Spread | None = None,
    markers: int | None = None,
    look: Mapping[str, Any] | None = None,
    under: Sequence[Mark] = (),
    over: Sequence[Mark] = (),
    axis: Mapping[str, Any],
    finish: Sequence[Mark] = (),
    ylabel: str = "",
    shown: pd.DataFrame | None = None,
    ncols: int = 5,
    each_key: bool = False,
    says: str | Callable[[pd.DataFrame], str],
) -> Drawing:
    """Lines over x, one for each combination of the keys' values in every panel of the grid; lines without y are left
    out.

    Args:
        spread: how the dispersion of y is drawn; lines without it have none.
        markers: about how many a line has (None: six on a line with a band, else one at each x).
        look: what all lines share.
        under, over: what is drawn before and after the lines of a panel.
        axis: what `Axes.set` takes, for all panels; `xlabel` stands below the last row only.
        finish: what is done to each panel when all are drawn.
        shown: the table that the drawing carries, if not this one.
        each_key: whether the legend names each key's values, and not each line.
        says: the words of the figure, or what makes them of the drawn rows in their order, which have `told` (what the
            line is called) and `where` (what the panel is).
    """
    fig, rows = grid.drawn(table if shown is None else shown)
    every = [ax for axes in rows for ax in axes]
    drawn = [table[:0].assign(where="", told="")]
    places = list(grid.places(table, rows))
    for ax, own in places:
        ax.set(**{name: value for name, value in axis.items() if name.endswith("scale")})
        for mark in under:
            mark(ax, own)
        for looks, line in _each(own.dropna(subset=[y]), keys):
            line = line.sort_values(x, kind="stable")
            style = reduce(or_, (dict(one.style) for one in looks), dict(look or {}))
            _line(ax, line, x, y, spread, markers, {"label": ", ".join(one.label for one in looks)} | style)
            drawn.append(line.assign(told=", ".join(one.words for one in looks)))
        for mark in over:
            mark(ax, own)
    last = rows[-1] if grid.down else every
    for ax, own in places:
        ax.set(**(axis if ax in last else {name: value for name, value in axis.items() if name != "xlabel"}))
        for mark in finish:
            mark(ax, own)
    _name(fig, rows, grid, ylabel)
    if each_key:
        _legend_of_keys(fig, keys, ncols)
    else:
        legend(fig, every, ncols)
    fig.alt = says if isinstance(says, str) else says(pd.concat(drawn).sort_index(kind="stable"))
    return fig


def _each(table: pd.DataFrame, keys: Sequence[Key]) -> Iterator[tuple[tuple[Series, ...], pd.DataFrame]]:
    """The looks and the rows of each line; the last key varies fastest."""
    if not keys:
        if len(table):
            yield (), table
        return
    (column, looks), *others = keys
    for value, one in looks.items():
        yield from (((one, *more), rows) for more, rows in _each(table[table[column] == value], others))


def _line(
    ax: Axes, line: pd.DataFrame, x: str, y: str, spread: Spread | None, markers: int | None, style: dict[str, Any]
) -> None:
    if markers is None and spread and spread.band:
        markers = 6
    if markers is not None:
        style = {"markevery": max(1, len(line) // markers)} | style
    if spread is None or line[list(spread.columns)].isna().all(axis=None):
        ax.plot(line[x], line[y], **style)
        return
    if spread.band:
        low, high = (line[end] for end in spread.columns)
        ax.plot(line[x], line[y], **style)
        ax.fill_between(line[x], low, high, color=style["color"], alpha=spread.band, linewidth=0)
        return
    if len(spread.columns) == 1:
        arms = 2 * line[spread.columns[0]].to_numpy()
    else:
        arms = np.stack([line[y] - line[spread.columns[0]], line[spread.columns[1]] - line[y]])
    ax.errorbar(line[x], line[y], arms, **dict[str, Any]({"elinewidth": 0.9} | style))


def _name(fig: Drawing, rows: list[list[Axes]], grid: Grid, ylabel: str) -> None:
    """Write the rows' names and what y is."""
    if grid.down is None:
        for ax in rows[0][:: grid.wrap or len(rows[0])]:
            ax.set_ylabel(ylabel)
        return
    for name, axes in zip(grid.down.titles.values(), rows, strict=True):
        axes[0].set_ylabel(name)
    fig.supylabel(ylabel, fontsize=9)


def _legend_of_keys(fig: Drawing, keys: Sequence[Key], ncols: int) -> None:
    looks = [one for each in keys for one in each.looks.values()]
    handles = []
    for one in looks:
        plain: dict[str, Any] = {"color": INK} | ({"ls": ""} if {"marker", "ls"} & set(one.style) == {"marker"} else {})
        handles.append(Line2D([], [], **(plain | dict(one.style)), label=one.label))
    fig.legend(handles=handles, loc="outside upper center", ncols=ncols)


def courses(what: str, x: str, along: str, y: str = "mean") -> Callable[[pd.DataFrame], str]:
    """Words: from which value to which each line goes."""
    return lambda drawn: alt.courses(drawn, "told", what, _within(drawn), x, along, y)


def reaches(what: str, x: str, along: str, at: float, y: str = "mean") -> Callable[[pd.DataFrame], str]:
    """Words: where each line reaches a level."""
    return lambda drawn: alt.reaches(drawn, "told", what, _within(drawn), x, along, at, y)


def _within(drawn: pd.DataFrame) -> list[str]:
    return ["where"] if drawn["where"].ne("").any() else []
