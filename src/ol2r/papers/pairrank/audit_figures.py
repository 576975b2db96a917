"""Figures of confidence bounds: how often they hold, how wide they are, and what regret they allow.

Tables are those of `bounds`; this module draws them and computes nothing.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ol2r import frames
from ol2r.papers.pairrank.audit_tables import SHUFFLES, allowed_in_words, examined, width
from ol2r.report import alt
from ol2r.report.style import (
    BLUE,
    GREEN,
    INK,
    MAUVE,
    ORANGE,
    QUIET,
    RED,
    SKY,
    TEAL,
    Drawing,
    legend,
    panels,
    styled,
)

SETTINGS = {
    ("whole", "matched"): RED,
    ("whole", "adjacent"): BLUE,
    ("whole", "all"): GREEN,
    ("inferred", "matched"): MAUVE,
    ("cascade", "matched"): ORANGE,
    ("cascade", "adjacent"): SKY,
}
"""Colours by what is examined and which pairs are learned from. Inferred examination with adjacent pairs gives the same
lines as whole examination, and is not drawn."""

QUANTITIES = {"martingale": ("‖S‖ in the norm of M⁻¹", "-"), "interval": ("Lemma 2", (0, (3, 1.5)))}
BOUNDS = "os^D"
TOLD = {
    "theoretical": "Lemma 2",
    "needed": "enough so far",
    "needed_now": "enough in this round",
    "constant": "constant",
}


@styled
def coverage_against_scale(table: pd.DataFrame) -> Drawing:
    """Share of worlds in which a bound, scaled, held in all rounds: left if its assumptions hold, right if not."""
    fig, axes = panels(["assumptions hold", "assumption violated"], table, height=3.6)
    settings, bounds = dict.fromkeys(SETTINGS, False), sorted(table["bound"].unique())
    for ax, assumed in zip(axes, (1, 0), strict=True):
        own = table[table["assumed"] == assumed]
        for (examination, pairs, bound, quantity), line in frames.groups(
            own, ["examination", "pairs", "bound", "quantity"]
        ):
            if (examination, pairs) not in SETTINGS:
                continue
            settings[examination, pairs] = True
            line = line.sort_values("scale", kind="stable")
            ax.plot(
                line["scale"], line["coverage"], color=SETTINGS[examination, pairs], ls=QUANTITIES[quantity][1],
                marker=BOUNDS[bounds.index(bound)], markevery=(4 * bounds.index(bound), 12), linewidth=1.2,
                markersize=4, label=f"{examination}, {pairs}, Q = {bound:g}, {quantity}",
            )  # fmt: skip
        ax.axhline(table["nominal"].max(), color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)))
        ax.axvline(1.0, color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)))
        ax.set(xscale="log", xlabel="scale of the bound", ylim=(-0.02, 1.02))
    axes[0].set_ylabel("share of worlds in which\nthe bound held in all rounds")
    marks = [Line2D([], [], color=SETTINGS[key], label=", ".join(key)) for key, drawn in settings.items() if drawn]
    marks += [Line2D([], [], color=INK, linestyle=line, label=told) for told, line in QUANTITIES.values()]
    marks += [
        Line2D([], [], color=INK, linestyle="", marker=mark, label=f"Q = {bound:g}")
        for bound, mark in zip(bounds, BOUNDS, strict=False)
    ]
    fig.legend(handles=marks, loc="outside upper center", ncols=4)
    shown = [key in SETTINGS for key in zip(table["examination"], table["pairs"], strict=True)]
    own = table[shown].assign(
        line=[f"{line.examination}, {line.pairs}, Q = {line.bound:g}" for line in frames.rows(table[shown])],
        panel=table["assumed"].map({1: "where assumptions hold", 0: "where one is violated"}),
        told=table["quantity"].map({"martingale": "for the martingale bound", "interval": "for Lemma 2"}),
    )
    what, level = "The share of worlds in which the bound held in all rounds", table["nominal"].max()
    fig.alt = alt.reaches(own, "line", what, ["told", "panel"], "scale", "a scale of", level, y="coverage")
    return fig


@styled
def width_against_rounds(table: pd.DataFrame) -> Drawing:
    """Width of the intervals against rounds: Lemma 2's, what would have been enough, and the experiments' constant."""
    bounds = sorted(table["bound"].unique())
    fig, axes = panels([f"Q = {bound:g}" for bound in bounds], table, height=3.2)
    looks = {
        "theoretical": {"color": RED, "ls": "-"},
        "needed": {"color": BLUE, "ls": (0, (5, 1.5))},
        "needed_now": {"color": BLUE, "ls": (0, (1, 1)), "linewidth": 0.9},
        "constant": {"color": INK, "ls": (0, (1.5, 1.2))},
    }
    for ax, bound in zip(axes, bounds, strict=True):
        own = table[table["bound"] == bound].sort_values("round", kind="stable")
        for column, look in looks.items():
            ax.plot(own["round"], own[column], label=TOLD[column], **look)
        ax.set(xscale="log", yscale="log", xlabel="round")
    axes[0].set_ylabel("width α of the intervals")
    legend(fig, axes)
    told = {"theoretical": TOLD["theoretical"], "needed": "what was enough so far", "constant": "the constant"}
    own = table.melt(["round", "bound"], list(told), "width", "α")
    own = own.assign(width=own["width"].map(told), panel=[f"with Q = {bound:g}" for bound in own["bound"]])
    fig.alt = alt.courses(own, "width", "the width α", ["panel"], "round", "the round", y="α")
    return fig


SUMS = ("regret", "standard_error", "open", "allowed", "more", "more_error", "bound", "printed_bound")
CASES = ((RED, "o", "-"), (TEAL, "s", (0, (5, 1.5))), (INK, "D", (0, (1.5, 1.2))), (ORANGE, "^", (0, (4, 1, 1, 1))))
"""Looks of widths and examinations, in the order in which they come."""


@styled
def regret_against_bounds(table: pd.DataFrame) -> Drawing:
    """Shares of all pairs so far, against rounds: in uncertain order and left open by Lemma 2; misordered by
    PairRank_C; and misordered by PairRank_R minus that, paired by world. There is a line for each width.

    The drawing's table has the shares beside the counts.

    Raises:
        ValueError: Theorem 8 allows less than all pairs somewhere, so that it would have to be drawn.
    """
    allowed = allowed_in_words(table)
    table = table.assign(**{f"{name}_share": table[name] / table["everything"] for name in SUMS})
    table = table.assign(case=[examined(one.examination, width(one.width, one.alpha)) for one in frames.rows(table)])
    one, other = SHUFFLES["conservative"], SHUFFLES["random"]
    names = ["uncertain order", f"misordered by {one}", f"misordered by {other}\nminus by {one}"]
    fig, (uncertain, misordered, more) = panels(names, table, height=3.4, sharey=False)
    cases = frames.groups(table.sort_values("round", kind="stable"), ["case"])
    for ((case,), own), (color, marker, line) in zip(cases, CASES, strict=False):
        look = {"color": color, "marker": marker, "ls": line, "label": case, "markersize": 3.5}
        kept, shuffled = (own[own["shuffle"] == each] for each in ("conservative", "random"))
        uncertain.plot(kept["round"], kept["open_share"], **look)
        for ax, drawn, name, error in (
            (misordered, kept, "regret_share", "standard_error_share"),
            (more, shuffled, "more_share", "more_error_share"),
        ):
            ax.errorbar(drawn["round"], drawn[name], 2 * drawn[error], elinewidth=0.9, **look)
    left = table[(table["case"] == width("Lemma 2", 1)) & (table["shuffle"] == "conservative")].sort_values("round")
    uncertain.plot(left["round"], left["allowed_share"], color=BLUE, ls=(0, (8, 1, 1, 1)), label="left open by Lemma 2")
    more.axhline(0.0, color=INK, linewidth=0.9)
    for ax in (uncertain, misordered, more):
        ax.set(xscale="log", xlabel="round")
    for ax in (uncertain, misordered):
        ax.set_ylim(0, 1.03)
    fig.supylabel("share of all pairs so far (mean over worlds,\nmisordered ± 2 standard errors)", fontsize=9)
    legend(fig, (uncertain, misordered, more), ncols=3)
    told = table.assign(panel="by " + table["shuffle"].map(SHUFFLES))
    fig.alt = " ".join([
        alt.ends(told, "case", "misordered pairs as a share of all pairs", ["panel"], y="regret_share"),
        alt.ends(told, "case", f"of all pairs, {other} misordered more than {one}", [], y="more_share"), allowed,
    ]).strip()  # fmt: skip
    return fig


@styled
def uncertain_against_rounds(table: pd.DataFrame) -> Drawing:
    """Share of pairs in uncertain order against rounds, with what the intervals allow and what Lemma 7 printed."""
    fig, (ax,) = panels([""], table, height=3.0)
    cases, lines = frames.groups(table, ["examination", "alpha"]), ("-", (0, (5, 1.5)), (0, (4, 1, 1, 1)))
    shares = []
    for ((who, alpha), own), line, mark in zip(cases, lines, "osD", strict=False):
        own = own.sort_values("round", kind="stable")
        told = examined(who, "uncertain" if alpha == 1 else f"uncertain at {alpha:g} times the width")
        _with_errors(ax, own, "uncertain", color=RED, ls=line, marker=mark, label=told)
        shares.append(own.assign(line=f"pairs that are {told}", share=own["uncertain"]))
        if (who, alpha) == ("whole", 1):
            ax.plot(own["round"], own["allowed"], color=BLUE, ls=(0, (1.5, 1.2)), label="left open by Lemma 2")
            ax.plot(
                own["round"], own["printed"], color=INK, ls=(0, (4, 1, 1, 1)), label="Lemma 7 as printed, at most 1"
            )
            shares.append(own.assign(line="those left open by Lemma 2", share=own["allowed"]))
            shares.append(own.assign(line="those of Lemma 7 as printed", share=own["printed"]))
    ax.set(xscale="log", xlabel="round (end of the window)", ylim=(0, 1.03))
    ax.set_ylabel("share of pairs\n(mean over worlds ± 2 standard errors)")
    legend(fig, [ax], ncols=2)
    fig.alt = alt.courses(pd.concat(shares), "line", "the share", [], "round", "the round", y="share")
    return fig


def _with_errors(ax: Axes, line: pd.DataFrame, column: str, **look) -> None:
    ax.errorbar(line["round"], line[column], 2 * np.asarray(line["standard_error"]), elinewidth=0.9, **look)
