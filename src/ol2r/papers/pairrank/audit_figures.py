"""Figures of confidence bounds: how often they hold, how wide they are, and what regret they allow.

Tables are those of `bounds`; this module draws them and computes nothing.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ol2r import frames
from ol2r.papers.pairrank.audit_tables import SHUFFLES, examined, width
from ol2r.report import alt
from ol2r.report.grammar import DASHED, SHORT, Facet, Grid, Key, courses, level, lines, long, place, series, together
from ol2r.report.style import (
    BLUE,
    GREEN,
    INK,
    MAUVE,
    ORANGE,
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

QUANTITIES = Key(
    "quantity", {"martingale": series("‖S‖ in the norm of M⁻¹"), "interval": series("Lemma 2", line=(0, (3, 1.5)))}
)
BOUNDS = "os^D"


@styled
def coverage_against_scale(table: pd.DataFrame) -> Drawing:
    """Share of worlds in which a bound, scaled, held in all rounds: left if its assumptions hold, right if not."""
    drawn = table.assign(setting=together(table, "examination", "pairs"))
    present = set(drawn["setting"])
    settings = {each: series(", ".join(each), color, line="") for each, color in SETTINGS.items() if each in present}
    bounds = {
        bound: series(f"Q = {bound:g}", marker=mark, line="", markevery=(4 * number, 12))
        for number, (bound, mark) in enumerate(zip(sorted(table["bound"].unique()), BOUNDS, strict=False))
    }
    panels = Facet("assumed", {1: "assumptions hold", 0: "assumption violated"})
    shown = drawn[drawn["setting"].isin(SETTINGS)]
    own = shown.assign(
        line=[f"{line.examination}, {line.pairs}, Q = {line.bound:g}" for line in frames.rows(shown)],
        panel=shown["assumed"].map({1: "where assumptions hold", 0: "where one is violated"}),
        told=shown["quantity"].map({"martingale": "for the martingale bound", "interval": "for Lemma 2"}),
    )
    what, nominal = "The share of worlds in which the bound held in all rounds", table["nominal"].max()
    return lines(
        drawn, "scale", "coverage", [Key("setting", settings), QUANTITIES, Key("bound", bounds)],
        Grid(panels, height=3.6), look={"linewidth": 1.2, "markersize": 4}, over=[level(nominal), place(1.0)],
        axis={"xscale": "log", "xlabel": "scale of the bound", "ylim": (-0.02, 1.02)},
        ylabel="share of worlds in which\nthe bound held in all rounds", shown=table, ncols=4, each_key=True,
        says=alt.reaches(own, "line", what, ["told", "panel"], "scale", "a scale of", nominal, y="coverage"),
    )  # fmt: skip


WIDTHS = {
    "theoretical": series("Lemma 2", RED),
    "needed": series("enough so far", BLUE, line=DASHED, words="what was enough so far"),
    "needed_now": series("enough in this round", BLUE, line=(0, (1, 1)), linewidth=0.9),
    "constant": series("constant", INK, line=SHORT, words="the constant"),
}


@styled
def width_against_rounds(table: pd.DataFrame) -> Drawing:
    """Width of the intervals against rounds: Lemma 2's, what would have been enough, and the experiments' constant."""
    bounds = sorted(table["bound"].unique())
    panels = Facet("bound", {q: f"Q = {q:g}" for q in bounds}, {q: f"with Q = {q:g}" for q in bounds})
    course = courses("the width α", "round", "the round")
    return lines(
        long(table, WIDTHS, ["round", "bound"]), "round", "mean", [Key("line", WIDTHS)], Grid(panels),
        axis={"xscale": "log", "yscale": "log", "xlabel": "round"}, ylabel="width α of the intervals", shown=table,
        says=lambda drawn: course(drawn[drawn["line"] != "needed_now"]),
    )  # fmt: skip


SUMS = ("regret", "standard_error", "open", "allowed", "more", "more_error", "bound", "printed_bound")
CASES = ((RED, "o", "-"), (TEAL, "s", (0, (5, 1.5))), (INK, "D", (0, (1.5, 1.2))), (ORANGE, "^", (0, (4, 1, 1, 1))))
"""Looks of widths and examinations, in the order in which they come."""


@styled
def regret_against_bounds(table: pd.DataFrame) -> Drawing:
    """Shares of all pairs so far, against rounds: in uncertain order and left open by Lemma 2; misordered by
    PairRank_C; and misordered by PairRank_R minus that, paired by world. There is a line for each width.

    The drawing's table has the shares beside the counts. Theorem 8 is not drawn: it allows more than all pairs.
    """
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
        alt.ends(told, "case", f"of all pairs, {other} misordered more than {one}", [], y="more_share"),
    ])  # fmt: skip
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
