"""The house style of figures: the look of each learner, and sizes and colours for a page 700 pixels wide.

A learner keeps its colour, marker and line style in all chapters; users keep theirs and their order. A family of
learners has one hue. Colours that stand together in a figure are apart for the colour-blind as well. This module must
not know what a figure shows.
"""

import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import LogLocator

from ol2r.report import fitting, narrow

WIDTH = 7.0
"""Width of a figure in inches; at 100 pixels an inch it fills the 700 pixels of a page."""

INK, QUIET, GREY, FAINT = "#222222", "#666666", "#8a8a8a", "#d9d9d9"

SERIES = ("#c40041", "#0042b5", "#db7215", "#379678", "#1791f7", "#a56b9e", "#004903", "#632754")
"""Colours of curves that are no learner's, in the order in which they are taken; also apart from `INK` and `QUIET`."""
RED, BLUE, ORANGE, TEAL, SKY, MAUVE, GREEN, PLUM = SERIES


class Look(NamedTuple):
    """How one thing is drawn."""

    color: str
    marker: str
    line: str | tuple


class Looks:
    """Looks by name, in order of registration; no name and no look is registered twice."""

    def __init__(self):
        self._looks: dict[str, Look] = {}

    def register(self, name: str, look: Look) -> None:
        """Give `name` its look.

        Raises:
            ValueError: the name has a look already, or another name has this colour, or this marker with this line.
        """
        if name in self._looks:
            raise ValueError(f"{name} has a look already")
        for other, taken in self._looks.items():
            if look.color == taken.color or look[1:] == taken[1:]:
                raise ValueError(f"{name} would look like {other}")
        self._looks[name] = look

    def __getitem__(self, name: str) -> Look:
        if name not in self._looks:
            raise KeyError(f"{name!r} has no look: register it in ol2r.report.style")
        return self._looks[name]

    def __iter__(self):
        return iter(self._looks)

    def ordered(self, names: Iterable[str]) -> list[str]:
        """These names, each once, in the order of registration.

        Raises:
            KeyError: a name has no look.
        """
        present = set(names)
        for name in present:
            self[name]
        return [name for name in self if name in present]


FAMILIES: dict[str, dict[str, Look]] = {
    "dueling bandits": {
        "DBGD": Look("#3920a8", "o", (0, (1, 1.2))),
        "CPS": Look("#1791f7", "s", (0, (5, 1.5))),
        "DP-DBGD": Look("#5b4265", "^", (0, (5, 1.2, 1, 1.2))),
        "MGD": Look("#378095", "D", (0, (7, 1))),
        "NSGD w/o CDP & TB": Look("#9c7fd2", "P", (0, (3, 1, 1, 1))),
        "NSGD w/o TB": Look("#4d3781", "X", (0, (2, 1))),
        "NSGD": Look("#3d5ed7", "o", "-"),
        "neural DBGD": Look("#026fd3", "H", (0, (3, 2))),
    },
    "pairwise differences": {
        "PDGD": Look("#439f62", "v", (0, (4, 1, 1, 1))),
        "neural PDGD": Look("#256621", ">", (0, (9, 1, 1, 1))),
    },
    "baselines": {
        "epsilon-greedy": Look("#ba7819", "<", (0, (3, 1.5))),
        "SGD RankNet": Look("#656c43", "p", (0, (6, 1, 1, 1, 1, 1))),
        "neural epsilon-greedy": Look("#977c00", "8", (0, (2, 0.8))),
    },
    "pairwise confidence": {
        "PairRank_R": Look("#6b281f", "h", (0, (8, 1.5))),
        "PairRank_C": Look("#c11500", "*", "-"),
        "PairRank": Look("#bf172a", "d", (0, (20, 1))),
        "PairRank, diagonal": Look("#dc393e", "D", (0, (5, 1, 1.5, 1))),
        "SafePairRank": Look("#a83060", "H", (0, (10, 1, 3, 1))),
    },
    "neural confidence": {
        "olRankNet": Look("#009792", "P", (0, (14, 1))),
        "olLambdaRank": Look("#246882", "X", (0, (12, 1.2))),
        "olRankNet, full": Look("#0b554b", "s", (0, (5, 1))),
        "olLambdaRank GT": Look("#1099c4", ".", (0, (1, 2.4))),
        "olRankNet, 16 × 16, full": Look("#00526b", "v", (0, (8, 1.2, 2, 1.2))),
        "olRankNet, 16 × 16, diagonal": Look("#1d8344", "*", (0, (4, 1.3, 1, 1.3))),
        "olRankNet, full (naive inversion)": Look("#4d99a2", "D", (0, (13, 1))),
        "olRankNet, full (rank updates)": Look("#004739", "o", (0, (6, 0.9, 2, 0.9))),
        "olRankNet, full (dual)": Look("#156a7a", "P", (0, (2, 1.3))),
        "olRankNet, diagonal": Look("#007f68", "h", (0, (4.5, 1))),
    },
    "perturbed feedback": {
        "P2LinRank": Look("#aa3c92", "h", (0, (10, 1.2, 1, 1.2))),
        "P2LinRank, N = 2": Look("#9c1d95", "o", (0, (18, 0.9))),
        "P2LinRank, N = 5": Look("#de277a", "^", (0, (6, 1.3))),
        "P2LinRank, N = 10": Look("#cd64d9", ">", (0, (2.5, 1))),
        "P2NeurRank": Look("#c454aa", "p", (0, (11, 1.5))),
        "P2NeurRank, N = 1": Look("#5f1d7c", "<", (0, (1.5, 1))),
        "P2NeurRank, N = 2": Look("#aa43b8", "d", (0, (16, 0.9))),
        "P2NeurRank, N = 5": Look("#7a1d5c", "v", (0, (7, 1.3))),
        "P2NeurRank, N = 10": Look("#f74a9e", "s", (0, (3.5, 1))),
    },
    "click bandits": {
        "BubbleRank": Look("#d16a09", "D", (0, (12, 0.8))),
        "CascadeKL-UCB": Look("#662d15", "s", (0, (4, 1.2))),
        "BatchRank": Look("#87560e", "^", (0, (1.2, 1))),
        "BatchRank of public code, last click": Look("#702404", "<", (0, (5, 1.2))),
        "BatchRank of public code, one past it": Look("#dc6c6e", ">", (0, (3, 1, 1, 1))),
        "TopRank": Look("#984850", "v", (0, (6, 1.5, 1.5, 1.5))),
    },
    "references": {
        "Baseline": Look("#767676", "X", (0, (2, 2))),
        "LambdaRank": Look("#000000", "", (0, (1, 3))),
        "RankNet": Look("#222222", "", (0, (1, 1.5))),
    },
}
"""Looks of learners by family: a family has one hue, and its learners differ in lightness, line and marker."""

LEARNERS = Looks()
for _family in FAMILIES.values():
    for _name, _look in _family.items():
        LEARNERS.register(_name, _look)

USERS = Looks()
USERS.register("perfect", Look("#143556", "o", "-"))
USERS.register("navigational", Look("#3f7fa8", "s", (0, (5, 1.5))))
USERS.register("informational", Look("#8a8f98", "^", (0, (1.5, 1.2))))

CLICK_MODELS = {"CM": "cascade (CM)", "DCM": "dependent click (DCM)", "PBM": "position-based (PBM)"}
"""Click models by item in the order of their panels, and what they are called there."""

CHOICES = Looks()
for _choice, _look in {
    "matched": Look(RED, "o", "-"),
    "adjacent": Look(SKY, "s", (0, (5, 1.5))),
    "all": Look(PLUM, "^", (0, (1.5, 1.2))),
    "full": Look(BLUE, "D", (0, (8, 1))),
    "diagonal": Look(TEAL, "v", (0, (4, 1, 1, 1))),
    "constant": Look(ORANGE, "P", (0, (9, 1))),
    "none (α = 0)": Look(GREEN, "h", (0, (6, 1, 1, 1))),
    "Lemma 2, c = ¼": Look(MAUVE, "X", (0, (3, 1.5))),
    "Lemma 2": Look(INK, "p", (0, (1, 1.5))),
}.items():
    CHOICES.register(_choice, _look)
"""The values of one choice inside a learner, such as which pairs it learns from."""



def spelled(name: str) -> str:
    """A variant's name as readers see it: with P² where the name of its class has to have P2."""
    return re.sub(r"\bP2(?=(?:Lin|Neur)Rank)", "P²", name)


RC = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.7,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
}


MOST_PANELS = 6
"""Panels that a reader takes in at once."""
BETWEEN = (2, 5)
"""Where a logarithmic axis has ticks between its powers of ten; all eight would take long to draw and tell little."""


class TooManyPanels(ValueError):
    """A drawing has more panels than `MOST_PANELS`."""


class Drawing(Figure):
    """A figure that carries the table it was drawn from, and shows itself in a notebook without a display.

    Attributes:
        table: the aggregated data that is drawn.
        alt: what the drawing shows, in sentences, for those who cannot see it; empty where the page says it.
        drawn_by: the full name of the function that drew it.
    """

    table: pd.DataFrame
    alt: str = ""
    drawn_by: str = ""

    def panels(self) -> list[Axes]:
        """The drawing's axes without bars of colours."""
        return [ax for ax in self.axes if ax.get_label() != "<colorbar>"]

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """See `Figure.savefig`; labels are wrapped where they would be cut. The layout is made once, for both."""
        with fitting.laid_out(self):
            super().savefig(*args, **kwargs)

    def _repr_svg_(self) -> str:
        return narrow.svg_of(self)

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        kind, svg = "image/svg+xml", self._repr_svg_()
        narrow.put_beside(self, svg)
        return {kind: svg, "text/plain": repr(self)}, {kind: {"alt": self.alt}} if self.alt else {}


def _check(count: int) -> None:
    if count > MOST_PANELS:
        raise TooManyPanels(f"{count} panels, more than {MOST_PANELS}: put several drawings behind tabs")


def _thin(axis: Axis) -> None:
    """Leave a logarithmic axis of a power of ten or more the ticks of 2 and 5 between its powers of ten."""
    low, high = axis.get_view_interval()
    if isinstance(axis.get_minor_locator(), LogLocator) and high >= 10 * low > 0:
        axis.set_minor_locator(LogLocator(subs=BETWEEN))


P = ParamSpec("P")


def styled(draw: Callable[P, Drawing]) -> Callable[P, Drawing]:
    """Run a drawing function under the house style, whatever the caller's settings are.

    Raises:
        TooManyPanels: the drawing has more panels than `MOST_PANELS`.
    """

    @wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> Drawing:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(RC)  # pyright: ignore[reportCallIssue, reportArgumentType]
            fig = draw(*args, **kwargs)
        for ax in fig.axes:
            _thin(ax.xaxis)
            _thin(ax.yaxis)
        fig.drawn_by = f"{draw.__module__}.{draw.__qualname__}"  # of functions that call one another, the outermost
        _check(len(fig.panels()))
        return fig

    return inside


def panels(
    names: Iterable[str], table: pd.DataFrame, height: float = 2.6, sharey: bool = True
) -> tuple[Drawing, list[Axes]]:
    """A drawing of the table with a panel for each name, side by side, each under its name.

    Args:
        names: panel titles, one empty string for a single panel.
        height: of the figure, in inches.
    """
    names = list(names)
    fig = Drawing(figsize=(WIDTH, height))
    fig.table = table
    axes = list(fig.subplots(1, len(names), sharey=sharey, squeeze=False)[0])
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name)
    return fig, axes


def tiled(
    names: Iterable[str], table: pd.DataFrame, columns: int = 2, height: float = 2.4, sharey: bool = True
) -> tuple[Drawing, list[Axes]]:
    """A drawing of the table with a panel for each name, each under its name, in rows from the left.

    Args:
        height: of one row, in inches.
    """
    names = list(names)
    rows = -(-len(names) // columns)
    fig = Drawing(figsize=(WIDTH, height * rows + 0.9))
    fig.table = table
    axes = list(fig.subplots(rows, min(columns, len(names)), sharey=sharey, squeeze=False).flat)
    for ax, name in zip(axes, names, strict=False):
        ax.set_title(name)
    for ax in axes[len(names) :]:
        ax.remove()
    return fig, axes[: len(names)]


def stacked(
    rows: Iterable[str], names: Iterable[str], table: pd.DataFrame, height: float = 2.1, sharey: bool = True
) -> tuple[Drawing, list[list[Axes]]]:
    """A drawing of the table with a row of panels for each of `rows`; each column stands under its name.

    Args:
        rows: one entry for each row; only their number counts, as the caller labels the rows.
        height: of one row, in inches.

    Raises:
        TooManyPanels: there are more than `MOST_PANELS`.
    """
    rows, names = list(rows), list(names)
    _check(len(rows) * len(names))
    fig = Drawing(figsize=(WIDTH, height * len(rows) + 0.9))
    fig.table = table
    axes = [list(row) for row in fig.subplots(len(rows), len(names), sharey="row" if sharey else False, squeeze=False)]
    for ax, name in zip(axes[0], names, strict=True):
        ax.set_title(name)
    return fig, axes


def in_parts(
    rows: Iterable[str], names: Iterable[str], table: pd.DataFrame, height: float = 2.9
) -> tuple[Drawing, list[tuple[SubFigure, list[Axes]]]]:
    """As `stacked`, but each row is a part of the drawing, with its panels under their names, for its own `legend`.

    Raises:
        TooManyPanels: there are more than `MOST_PANELS`.
    """
    rows, names = list(rows), list(names)
    _check(len(rows) * len(names))
    fig = Drawing(figsize=(WIDTH, height * len(rows)))
    fig.table = table
    parts = fig.subfigures(len(rows), 1, hspace=0.04, squeeze=False)[:, 0]
    made = [(part, list(part.subplots(1, len(names), sharey=True, squeeze=False)[0])) for part in parts]
    for _, axes in made:
        for ax, name in zip(axes, names, strict=True):
            ax.set_title(name)
    return fig, made


def legend(fig: Figure | SubFigure, axes: Iterable[Axes], ncols: int = 5) -> None:
    """Draw one legend for all panels, above them; each name appears once, as `spelled`.

    It has `ncols` columns, or as many as there are names or as fit into the figure's width, whichever is least.
    """
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    fitting.legend_above(fig, list(handles.values()), list(map(spelled, handles)), ncols)
