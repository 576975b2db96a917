"""Figures of confidence bounds: how often they hold, how wide they are, and what regret they allow.

Tables are those of `bounds`; this module draws them and computes nothing.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ol2r import frames
from ol2r.papers.pairrank.audit_tables import SHUFFLES, examined, width
from ol2r.report.style import INK, LEARNERS, QUIET, Drawing, legend, panels, styled

SETTINGS = {
    ("whole", "matched"): "#c0270d",
    ("whole", "adjacent"): "#0072b2",
    ("whole", "all"): "#4d4d4d",
    ("inferred", "matched"): "#a545f2",
    ("cascade", "matched"): "#d2700b",
    ("cascade", "adjacent"): "#28a767",
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
    """Share of worlds in which a bound, scaled, held in all rounds; left where its assumptions hold, right where not.

    Args:
        table: `bounds.coverage_figure`.
    """
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
    return fig


@styled
def width_against_rounds(table: pd.DataFrame) -> Drawing:
    """Width of the intervals against rounds: Lemma 2's, what would have been enough, and the experiments' constant.

    Args:
        table: `bounds.width_figure`.
    """
    bounds = sorted(table["bound"].unique())
    fig, axes = panels([f"Q = {bound:g}" for bound in bounds], table, height=3.2)
    looks = {
        "theoretical": {"color": "#c0270d", "ls": "-"},
        "needed": {"color": "#0072b2", "ls": (0, (5, 1.5))},
        "needed_now": {"color": "#0072b2", "ls": (0, (1, 1)), "linewidth": 0.9},
        "constant": {"color": INK, "ls": (0, (1.5, 1.2))},
    }
    for ax, bound in zip(axes, bounds, strict=True):
        own = table[table["bound"] == bound].sort_values("round", kind="stable")
        for column, look in looks.items():
            ax.plot(own["round"], own[column], label=TOLD[column], **look)
        ax.set(xscale="log", yscale="log", xlabel="round")
    axes[0].set_ylabel("width α of the intervals")
    legend(fig, axes)
    return fig


@styled
def regret_against_bounds(table: pd.DataFrame) -> Drawing:
    """Mis-ordered pairs against rounds, between what no shuffle can exceed and what the theorem allows.

    Args:
        table: `bounds.regret_figure`.
    """
    cases = list(frames.groups(table, ["examination", "width", "alpha"]))
    fig, axes = panels([examined(who, width(*which)) for (who, *which), _ in cases], table, height=4.0)
    for ax, (_, case) in zip(axes, cases, strict=True):
        for shuffle, own in case.groupby("shuffle", sort=False):
            own, name = own.sort_values("round", kind="stable"), SHUFFLES[str(shuffle)]
            look = LEARNERS[name]
            ax.errorbar(
                own["round"], own["regret"], 2 * own["standard_error"], color=look.color, marker=look.marker,
                ls=look.line, elinewidth=0.9, label=name,
            )  # fmt: skip
            ax.plot(own["round"], own["open"], color=look.color, linewidth=0.8, ls=(0, (1, 1)),
                    label=f"uncertain pairs, {name}")  # fmt: skip
            if own["bound"].notna().any():
                ax.plot(own["round"], own["bound"], color=look.color, linewidth=1.0, ls=(0, (4, 1, 1, 1)),
                        label=f"Theorem 8, corrected, {name}")  # fmt: skip
        one = case[case["shuffle"] == case["shuffle"].iloc[0]].sort_values("round", kind="stable")
        ax.plot(one["round"], one["allowed"], color="#0072b2", ls=(0, (1.5, 1.2)), label="left open by Lemma 2")
        ax.plot(one["round"], one["everything"], color="#a8a8a8", label="all pairs")
        if one["printed_bound"].notna().any():
            ax.plot(one["round"], one["printed_bound"], color=INK, linewidth=1.0, ls=(0, (8, 1.5)),
                    label="Theorem 8 as printed")  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="round")
    axes[0].set_ylabel("pairs so far (mean over worlds,\nregret ± 2 standard errors)")
    legend(fig, axes, ncols=2)
    return fig


@styled
def uncertain_against_rounds(table: pd.DataFrame) -> Drawing:
    """Share of pairs in uncertain order against rounds, with what the intervals allow and what Lemma 7 printed.

    Args:
        table: `bounds.uncertain_figure`.
    """
    fig, (ax,) = panels([""], table, height=3.0)
    cases, lines = frames.groups(table, ["examination", "alpha"]), ("-", (0, (5, 1.5)), (0, (4, 1, 1, 1)))
    for ((who, alpha), own), line, mark in zip(cases, lines, "osD", strict=False):
        own = own.sort_values("round", kind="stable")
        told = examined(who, "uncertain" if alpha == 1 else f"uncertain at {alpha:g} times the width")
        _with_errors(ax, own, "uncertain", color="#c0270d", ls=line, marker=mark, label=told)
        if (who, alpha) == ("whole", 1):
            ax.plot(own["round"], own["allowed"], color="#0072b2", ls=(0, (1.5, 1.2)), label="left open by Lemma 2")
            ax.plot(
                own["round"], own["printed"], color=INK, ls=(0, (4, 1, 1, 1)), label="Lemma 7 as printed, at most 1"
            )
    ax.set(xscale="log", xlabel="round (end of the window)", ylim=(0, 1.03))
    ax.set_ylabel("share of pairs\n(mean over worlds ± 2 standard errors)")
    legend(fig, [ax], ncols=2)
    return fig


def _with_errors(ax: Axes, line: pd.DataFrame, column: str, **look) -> None:
    ax.errorbar(line["round"], line[column], 2 * np.asarray(line["standard_error"]), elinewidth=0.9, **look)
