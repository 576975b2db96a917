"""Figures of fitted click models: parameters by position, perplexity by position, errors against sessions.

Tables are those of `click_fits`; this module draws them and computes nothing.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from ol2r import frames
from ol2r.papers.bubblerank.figures import MODEL_LOOKS
from ol2r.report import alt
from ol2r.report.grammar import BARS, Facet, Grid, Key, lines, registered, series
from ol2r.report.style import (
    BLUE,
    CLICK_MODELS,
    INK,
    ORANGE,
    QUIET,
    RED,
    SKY,
    Drawing,
    Look,
    Looks,
    styled,
)

WAYS = Looks()
WAYS.register("published", Look(INK, "D", (0, (1.5, 1.2))))
WAYS.register("PyClick", Look(BLUE, "s", (0, (5, 1.5))))
WAYS.register("maximum likelihood", Look(RED, "o", "-"))
WAYS.register("with PyClick's counts", Look(ORANGE, "^", (0, (3, 1, 1, 1))))
WAYS.register("last click", Look(SKY, "v", (0, (2, 1))))

MODELS = Looks()
for _model, _told in CLICK_MODELS.items():
    MODELS.register(_model, MODEL_LOOKS[_told])
MODELS.register("RCTR", Look(QUIET, "D", (0, (3, 1, 1, 1))))

MEANING = {"DCM": "v, leaving after a click (DCM)", "PBM": "χ, examination (PBM)"}
ERRORS = {"α": "α, attraction of an item", "v": "v, leaving (DCM)", "χ": "χ, examination (PBM)"}


@styled
def positions_beside(
    table: pd.DataFrame,
    ways: tuple[str, ...] = ("published", "PyClick", "with PyClick's counts", "maximum likelihood"),
) -> Drawing:
    """v of the DCM (left) and χ of the PBM (right) by position: published, and fitted here."""
    shown = table[table["way"].isin(ways)]
    told = shown.assign(
        way=shown["way"].str.replace("with ", "fits with "),
        symbol=shown["users"].map({"DCM": "of leaving (v)", "PBM": "of examination (χ)"}),
    )
    return lines(
        table, "position", "value", [registered("way", WAYS, shown["way"])], Grid(Facet("users", MEANING)),
        finish=[_at_positions],
        axis={"xlabel": "position", "ylim": (-0.03, 1.03)}, ylabel="probability",
        says=alt.courses(told, "way", "the probability", ["symbol"], "position", "the position", y="value"),
    )  # fmt: skip


def _at_positions(ax: Axes, own: pd.DataFrame) -> None:
    ax.set_xticks(sorted(own["position"].unique()))


@styled
def perplexity_by_position(table: pd.DataFrame) -> Drawing:
    """Held-out perplexity by position, a line for each model: left as PyClick fits it, right by maximum likelihood.

    Both panels also have each position's own rate of clicks.
    """
    ways = {"PyClick": "as PyClick fits them", "maximum likelihood": "maximum likelihood"}
    rates = table[table["users"] == "RCTR"]
    models = table[(table["users"] != "RCTR") & table["way"].isin(ways)]
    fits = models["way"].map({"PyClick": "of fits by PyClick", "maximum likelihood": "of fits by maximum likelihood"})
    told = pd.concat([models.assign(fit=fits), rates.assign(fit="of each position's own rate")])
    return lines(
        pd.concat([models, *(rates.assign(way=way) for way in ways)]), "position", "value",
        [registered("users", MODELS, table["users"])], Grid(Facet("way", ways)), axis={"xlabel": "position"},
        finish=[_at_positions], ylabel="held-out perplexity\n(1 is foresight, 2 a fair coin)", shown=table,
        says=alt.courses(told, "users", "the perplexity", ["fit"], "position", "the position", y="value"),
    )  # fmt: skip


@styled
def errors_against_sessions(table: pd.DataFrame, ways: tuple[str, ...] = ("maximum likelihood", "PyClick")) -> Drawing:
    """Errors of recovered parameters against sessions of each query, mean and 95 % interval over seeds, log-log.

    There is a column for each parameter. The upper row has the mean absolute error, the lower row the largest. Colours
    tell models, lines and marks ways of fitting. The dotted line falls as 1/√n.
    """
    table = table[table["way"].isin(ways)]
    of = table["quantity"].str.extract(r"^(?P<row>\w+) error of (?P<symbol>.+)$")
    drawn = table.assign(row=of["row"], symbol=of["symbol"], case=table["users"] + ", " + table["way"])
    symbols = Facet("symbol", {symbol: told for symbol, told in ERRORS.items() if symbol in set(drawn["symbol"])})
    rows = Facet("row", {"mean": "mean |error|", "largest": "largest |error|"})
    cases = {
        case: series(case, MODELS[users].color, WAYS[way].marker, WAYS[way].line)
        for (case, users, way), _ in frames.groups(drawn, ["case", "users", "way"])
    }
    means = drawn[drawn["row"] == "mean"].assign(of="of " + drawn["symbol"])
    return lines(
        drawn, "sessions", "mean", [Key("case", cases)], Grid(symbols, rows, 2.4), spread=BARS, over=[_guide],
        axis={"xscale": "log", "yscale": "log", "xlabel": "sessions of each query"}, finish=[_at_sessions],
        shown=table, ncols=3,
        says=alt.courses(means, "case", "the mean error", ["of"], "sessions", "the number of sessions of a query"),
    )  # fmt: skip


def _at_sessions(ax: Axes, own: pd.DataFrame) -> None:
    ax.set_xticks(sessions := sorted(own["sessions"].unique()), [f"{n:,}" for n in sessions])
    ax.xaxis.set_minor_locator(NullLocator())


def _guide(ax: Axes, own: pd.DataFrame) -> None:
    """1/√n through the smallest error with the fewest sessions."""
    sessions = np.sort(own["sessions"].unique())
    start = own.loc[own["sessions"] == sessions[0], "mean"].min()
    ax.plot(sessions, start * (sessions[0] / sessions) ** 0.5, color=QUIET, ls=(0, (1, 1.5)), lw=1, label="1/√n")
