"""The house style of figures: the look of each learner, and sizes and colours for a page 700 pixels wide.

A learner keeps its colour, marker and line style in all chapters; users keep theirs and their order. Colours stay apart
for the colour-blind and in grey print. This module must not know what a figure shows.
"""

import io
import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import NamedTuple, ParamSpec

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase

WIDTH = 7.0
"""Width of a figure in inches; at 100 pixels an inch it fills the 700 pixels of a page."""

INK, QUIET, FAINT = "#222222", "#666666", "#d9d9d9"


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


LEARNERS = Looks()
LEARNERS.register("DBGD", Look("#4d4d4d", "o", (0, (1, 1.2))))
LEARNERS.register("CPS", Look("#aa4499", "s", (0, (5, 1.5))))
LEARNERS.register("DP-DBGD", Look("#117755", "^", (0, (5, 1.2, 1, 1.2))))
LEARNERS.register("MGD", Look("#0072b2", "D", (0, (7, 1))))
LEARNERS.register("NSGD w/o CDP & TB", Look("#b8860b", "P", (0, (3, 1, 1, 1))))
LEARNERS.register("NSGD w/o TB", Look("#cc6611", "X", (0, (2, 1))))
LEARNERS.register("NSGD", Look("#c0270d", "o", "-"))
LEARNERS.register("PDGD", Look("#28a767", "v", (0, (4, 1, 1, 1))))
LEARNERS.register("epsilon-greedy", Look("#d2700b", "<", (0, (3, 1.5))))
LEARNERS.register("SGD RankNet", Look("#a545f2", "p", (0, (6, 1, 1, 1, 1, 1))))
LEARNERS.register("PairRank_R", Look("#8f260a", "h", (0, (8, 1.5))))
LEARNERS.register("PairRank_C", Look("#f23c48", "*", "-"))
LEARNERS.register("neural PDGD", Look("#0a7a5c", ">", (0, (9, 1, 1, 1))))
LEARNERS.register("neural DBGD", Look("#8c8c8c", "H", (0, (3, 2))))
LEARNERS.register("neural epsilon-greedy", Look("#7a3d00", "8", (0, (2, 0.8))))
LEARNERS.register("olRankNet", Look("#3a3fd1", "P", (0, (14, 1))))
LEARNERS.register("olLambdaRank", Look("#d13ad1", "X", (0, (12, 1.2))))
LEARNERS.register("P2LinRank", Look("#400900", "h", (0, (10, 1.2, 1, 1.2))))
LEARNERS.register("P2NeurRank", Look("#480d48", "p", (0, (11, 1.5))))
LEARNERS.register("olRankNet, full", Look("#0f99c6", "s", (0, (5, 1))))
LEARNERS.register("PairRank", Look("#e8304a", "d", (0, (20, 1))))
LEARNERS.register("olLambdaRank GT", Look("#0a0a0a", ".", (0, (1, 2.4))))
LEARNERS.register("BubbleRank", Look("#d81e3a", "D", (0, (12, 0.8))))
LEARNERS.register("CascadeKL-UCB", Look("#1b8a3a", "s", (0, (4, 1.2))))
LEARNERS.register("BatchRank", Look("#1f5fbf", "^", (0, (1.2, 1))))
LEARNERS.register("BatchRank of public code, last click", Look("#123a7a", "<", (0, (5, 1.2))))
LEARNERS.register("BatchRank of public code, one past it", Look("#4a8bc9", ">", (0, (3, 1, 1, 1))))
LEARNERS.register("TopRank", Look("#d97a00", "v", (0, (6, 1.5, 1.5, 1.5))))
LEARNERS.register("Baseline", Look("#777777", "X", (0, (2, 2))))
LEARNERS.register("LambdaRank", Look("#000000", "", (0, (1, 3))))
LEARNERS.register("RankNet", Look("#222222", "", (0, (1, 1.5))))

for _variant, _look in {
    "P2LinRank, N = 2": Look("#6b2400", "o", (0, (18, 0.9))),
    "P2LinRank, N = 5": Look("#c25a12", "^", (0, (6, 1.3))),
    "P2LinRank, N = 10": Look("#a8804a", ">", (0, (2.5, 1))),
    "PairRank, diagonal": Look("#c06a8a", "D", (0, (5, 1, 1.5, 1))),
    "P2NeurRank, N = 1": Look("#7a7a9a", "v", (0, (1.5, 1))),
    "P2NeurRank, N = 2": Look("#5c1482", "o", (0, (16, 0.9))),
    "P2NeurRank, N = 5": Look("#b04ac0", "v", (0, (7, 1.3))),
    "P2NeurRank, N = 10": Look("#8a6ad8", "s", (0, (3.5, 1))),
    "olRankNet, 16 × 16, full": Look("#0b6f85", "X", (0, (8, 1.2, 2, 1.2))),
    "olRankNet, 16 × 16, diagonal": Look("#6d7fd0", "*", (0, (4, 1.3, 1, 1.3))),
    "olRankNet, full (naive inversion)": Look("#0a4a66", "D", (0, (13, 1))),
    "olRankNet, full (rank updates)": Look("#2a86b5", "o", (0, (6, 0.9, 2, 0.9))),
    "olRankNet, full (dual)": Look("#0fa0a0", "P", (0, (2, 1.3))),
    "olRankNet, diagonal": Look("#4d55a8", "h", (0, (4.5, 1))),
}.items():
    LEARNERS.register(_variant, _look)

USERS = Looks()
USERS.register("perfect", Look("#16324f", "o", "-"))
USERS.register("navigational", Look("#3f7fa8", "s", (0, (5, 1.5))))
USERS.register("informational", Look("#8a8f98", "^", (0, (1.5, 1.2))))

CLICK_MODELS = {"CM": "cascade (CM)", "DCM": "dependent click (DCM)", "PBM": "position-based (PBM)"}
"""Click models by item in the order of their panels, and what they are called there."""

CHOICES = Looks()
for _choice, _look in {
    "matched": Look("#f23c48", "o", "-"),
    "adjacent": Look("#0072b2", "s", (0, (5, 1.5))),
    "all": Look("#4d4d4d", "^", (0, (1.5, 1.2))),
    "full": Look("#c0270d", "D", (0, (8, 1))),
    "diagonal": Look("#117755", "v", (0, (4, 1, 1, 1))),
    "constant": Look("#ec3a44", "P", (0, (9, 1))),
    "none (α = 0)": Look("#2c5aa0", "h", (0, (6, 1, 1, 1))),
    "Lemma 2, c = ¼": Look("#7a3b8f", "X", (0, (3, 1.5))),
    "Lemma 2": Look("#222222", "p", (0, (1, 1.5))),
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


class Drawing(Figure):
    """A figure that carries the table it was drawn from, and shows itself in a notebook without a display."""

    table: pd.DataFrame

    def _repr_svg_(self) -> str:
        file = io.StringIO()
        with mpl.rc_context({"svg.hashsalt": "ol2r"}):
            self.savefig(file, format="svg", metadata={"Date": None})  # no date: the same results give the same bytes
        return file.getvalue()


P = ParamSpec("P")


def styled(draw: Callable[P, Drawing]) -> Callable[P, Drawing]:
    """Run a drawing function under the house style, whatever the caller's settings are."""

    @wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> Drawing:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(RC)  # pyright: ignore[reportCallIssue, reportArgumentType]
            return draw(*args, **kwargs)

    return inside


def panels(
    names: Iterable[str], table: pd.DataFrame, height: float = 2.6, sharey: bool = True
) -> tuple[Drawing, list[Axes]]:
    """A drawing of the table with a panel for each name, side by side, each under its name.

    Args:
        names: panel titles, one empty string for a single panel.
        table: the aggregated data that will be drawn.
        height: of the figure, in inches.
        sharey: whether the panels share the y axis.
    """
    names = list(names)
    fig = Drawing(figsize=(WIDTH, height))
    fig.table = table
    axes = list(fig.subplots(1, len(names), sharey=sharey, squeeze=False)[0])
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name)
    return fig, axes


def stacked(
    rows: Iterable[str], names: Iterable[str], table: pd.DataFrame, height: float = 2.1, sharey: bool = True
) -> tuple[Drawing, list[list[Axes]]]:
    """A drawing of the table with a row of panels for each of `rows`; each column stands under its name.

    Args:
        rows: one entry for each row; only their number counts, as the caller labels the rows.
        names: titles of the columns.
        table: the aggregated data that will be drawn.
        height: of one row, in inches.
        sharey: whether the panels of a row share their y axis.
    """
    rows, names = list(rows), list(names)
    fig = Drawing(figsize=(WIDTH, height * len(rows) + 0.9))
    fig.table = table
    axes = [list(row) for row in fig.subplots(len(rows), len(names), sharey="row" if sharey else False, squeeze=False)]
    for ax, name in zip(axes[0], names, strict=True):
        ax.set_title(name)
    return fig, axes


def legend(fig: FigureBase, axes: Iterable[Axes], ncols: int = 5) -> None:
    """Draw one legend for all panels, above them, in at most `ncols` columns; each name appears once, as `spelled`."""
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    names = list(map(spelled, handles))
    fig.legend(list(handles.values()), names, loc="outside upper center", ncols=min(len(handles), ncols))
