"""Figures of fitted click models: parameters by position, perplexity by position, errors against sessions.

Tables are those of `click_fits`; this module draws them and computes nothing.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from ol2r import frames
from ol2r.papers.bubblerank.figures import MODEL_LOOKS
from ol2r.report import alt
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
    legend,
    panels,
    stacked,
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
    fig, axes = panels(MEANING.values(), table, height=3.2)
    for ax, users in zip(axes, MEANING, strict=True):
        own = table[table["users"] == users]
        for way in WAYS.ordered(set(own["way"]) & set(ways)):
            _line(ax, own[own["way"] == way], "position", "value", way, WAYS[way])
        ax.set(xlabel="position", ylim=(-0.03, 1.03))
        ax.set_xticks(sorted(own["position"].unique()))
    axes[0].set_ylabel("probability")
    legend(fig, axes)
    symbols = {"DCM": "of leaving (v)", "PBM": "of examination (χ)"}
    own = table[table["way"].isin(ways)]
    own = own.assign(way=own["way"].str.replace("with ", "fits with "), symbol=own["users"].map(symbols))
    fig.alt = alt.courses(own, "way", "the probability", ["symbol"], "position", "the position", y="value")
    return fig


@styled
def perplexity_by_position(table: pd.DataFrame) -> Drawing:
    """Held-out perplexity by position, a line for each model: left as PyClick fits it, right by maximum likelihood.

    Both panels also have each position's own rate of clicks.
    """
    ways = {"PyClick": "as PyClick fits them", "maximum likelihood": "maximum likelihood"}
    fig, axes = panels(ways.values(), table, height=3.2)
    for ax, way in zip(axes, ways, strict=True):
        own = table[(table["way"] == way) | (table["users"] == "RCTR")]
        for users in MODELS.ordered(own["users"]):
            _line(ax, own[own["users"] == users], "position", "value", users, MODELS[users])
        ax.set_xlabel("position")
        ax.set_xticks(sorted(own["position"].unique()))
    axes[0].set_ylabel("held-out perplexity\n(1 is foresight, 2 a fair coin)")
    legend(fig, axes)
    models = table[(table["users"] != "RCTR") & table["way"].isin(ways)]
    fits = models["way"].map({"PyClick": "of fits by PyClick", "maximum likelihood": "of fits by maximum likelihood"})
    rates = table[table["users"] == "RCTR"].assign(fit="of each position's own rate")
    own = pd.concat([models.assign(fit=fits), rates])
    fig.alt = alt.courses(own, "users", "the perplexity", ["fit"], "position", "the position", y="value")
    return fig


@styled
def errors_against_sessions(table: pd.DataFrame, ways: tuple[str, ...] = ("maximum likelihood", "PyClick")) -> Drawing:
    """Errors of recovered parameters against sessions of each query, mean and 95 % interval over seeds, log-log.

    There is a column for each parameter. The upper row has the mean absolute error, the lower row the largest. Colours
    tell models, lines and marks ways of fitting. The dotted line falls as 1/√n.
    """
    symbols = [symbol for symbol in ERRORS if table["quantity"].str.endswith(f" {symbol}").any()]
    rows = {"mean": "mean |error|", "largest": "largest |error|"}
    table = table[table["way"].isin(ways)]
    fig, axes = stacked(rows, [ERRORS[symbol] for symbol in symbols], table, height=2.4)
    for line, row in zip(axes, rows, strict=True):
        for ax, symbol in zip(line, symbols, strict=True):
            own = table[table["quantity"] == f"{row} error of {symbol}"].sort_values("sessions", kind="stable")
            for (users, way), case in frames.groups(own, ["users", "way"]):
                _case(ax, case, MODELS[users], WAYS[way], f"{users}, {way}")
            _guide(ax, own)
            ax.set(xscale="log", yscale="log")
            ax.set_xticks(sorted(own["sessions"].unique()), [f"{n:,}" for n in sorted(own["sessions"].unique())])
            ax.xaxis.set_minor_locator(NullLocator())
        line[0].set_ylabel(rows[row])
    for ax in axes[-1]:
        ax.set_xlabel("sessions of each query")
    legend(fig, [ax for line in axes for ax in line], ncols=3)
    means = table[table["quantity"].str.startswith("mean ")]
    own = means.assign(
        case=means["users"] + ", " + means["way"], of=[f"of {quantity.split()[-1]}" for quantity in means["quantity"]]
    )
    sessions = "the number of sessions of a query"
    fig.alt = alt.courses(own, "case", "the mean error", ["of"], "sessions", sessions)
    return fig


def _line(ax: Axes, table: pd.DataFrame, x: str, y: str, label: str, look: Look) -> None:
    table = table.sort_values(x, kind="stable")
    ax.plot(table[x], table[y], color=look.color, marker=look.marker, linestyle=look.line, label=label)


def _case(ax: Axes, case: pd.DataFrame, model: Look, way: Look, label: str) -> None:
    """A model's colour, a way's marker and line."""
    arms = [case["mean"] - case["low"], case["high"] - case["mean"]]
    ax.errorbar(
        case["sessions"], case["mean"], arms, color=model.color, marker=way.marker, ls=way.line, elinewidth=0.9,
        label=label,
    )  # fmt: skip


def _guide(ax: Axes, own: pd.DataFrame) -> None:
    """1/√n through the smallest error with the fewest sessions."""
    sessions = own["sessions"].unique()
    start = own.loc[own["sessions"] == sessions[0], "mean"].min()
    ax.plot(sessions, start * (sessions[0] / sessions) ** 0.5, color=QUIET, ls=(0, (1, 1.5)), lw=1, label="1/√n")
