"""Figures of olRankNet's theory: how often its bounds hold, how slack they are, and what the diagonal makes of pairs.

Tables are those of `bounds`; this module draws them and computes nothing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from ol2r import frames
from ol2r.report import alt
from ol2r.report.style import (
    BLUE,
    CHOICES,
    GREEN,
    GREY,
    INK,
    ORANGE,
    QUIET,
    RED,
    SERIES,
    Drawing,
    legend,
    panels,
    styled,
)

TRUTHS = {"tangent": "h linear in the gradients", "network": "h another network"}
COVARIANCES = {"current": ("full", "all of A"), "diagonal": ("diagonal", "diagonal of A (no proof)")}
ASSUMED = {1: "labels of the model", 0: "users who stop: assumption violated"}
DASHED = (0, (5, 1.5))
DOTTED = (0, (1, 1.2))
THRESHOLD: dict[str, Any] = {"color": QUIET, "linewidth": 0.9, "linestyle": (0, (2, 2))}
PARAMETERS = {"all": "all entries are parameters", "own blocks": "own blocks only"}
LIMITS = {"from H": (RED, "s", DASHED), "from H̃": (BLUE, "o", "-")}
STARTS = {"he": "He", "symmetric": "symmetric"}


def setting(line: Any) -> str:
    """A kind of world in a few words: truth of h, S, λ and m."""
    return f"{TRUTHS[line.truth]}, S = {line.bound:g}, λ = {line.regularization:g}, m = {line.width:g}"


def labelled(line: Any) -> str:
    """A kind of world of the log-determinants in a few words."""
    if line.pairs == "matched":
        return setting(line)
    return f"every pair of {line.documents:.0f} documents, λ = {line.regularization:g}, m = {line.width:g}"


def start(init: str, regularization: float) -> str:
    """A panel of the figure of typical pairs: the start and λ."""
    return f"{STARTS[init]}, λ = {regularization:g}"


@styled
def coverage_against_scale(table: pd.DataFrame) -> Drawing:
    """Share of worlds in which Lemma 3.3, scaled, held at every look: labels as assumed on the left, others right."""
    fig, axes = panels(ASSUMED.values(), table, height=3.9)
    colors = dict(zip(dict.fromkeys(setting(line) for line in frames.rows(table)), SERIES, strict=False))
    for ax, assumed in zip(axes, ASSUMED, strict=True):
        kinds = ["truth", "bound", "regularization", "width", "quantity"]
        for (*_, quantity), own in frames.groups(table[table["assumed"] == assumed], kinds):
            kind, full = setting(next(frames.rows(own))), quantity == "current"
            own = own.sort_values("scale", kind="stable")
            ax.plot(
                own["scale"], own["coverage"], color=colors[kind], ls="-" if full else DOTTED,
                linewidth=1.3 if full else 1.0, label=f"{kind}, {COVARIANCES[quantity][1]}",
            )  # fmt: skip
        ax.axhline(table["nominal"].max(), **THRESHOLD)
        ax.axvline(1.0, **THRESHOLD)
        ax.axvline(0.5, **(THRESHOLD | {"linewidth": 0.6}))
        ax.set(xscale="log", xlabel="multiple of the radius", ylim=(-0.02, 1.02))
    axes[0].set_ylabel("share of worlds in which\nall intervals covered")
    marks = [Line2D([], [], color=color, label=kind) for kind, color in colors.items()]
    marks += [
        Line2D([], [], color=INK, ls="-" if name == "current" else DOTTED, label=told)
        for name, (_, told) in COVARIANCES.items()
    ]
    fig.legend(handles=marks, loc="outside upper center", ncols=2)
    own = table.assign(
        kind=[setting(line) for line in frames.rows(table)],
        widths=table["quantity"].map({"current": "with all of A", "diagonal": "with its diagonal"}),
        labels=table["assumed"].map({1: "labels of the model", 0: "users who stop"}),
    )
    what, level = "The share of worlds in which a multiple of the radius covered all pairs", table["nominal"].max()
    fig.alt = alt.reaches(own, "kind", what, ["widths", "labels"], "scale", "multiple", level, y="coverage")
    return fig


@styled
def log_det_ratios(table: pd.DataFrame) -> Drawing:
    """Observed log-determinants over their bounds, by kind of world: median and largest."""
    names: Mapping[str, tuple[str, str, str]] = {
        "log det": ("bound for every m and λ", BLUE, "o"),
        "log det by rounds": ("printed, with H̃", GREEN, "D"),
        "log det as printed": ("printed, with H", RED, "s"),
        "log det by documents": ("printed, each document once", ORANGE, "^"),
    }
    own = table[table["assumed"] == 1]
    kinds = list(dict.fromkeys(labelled(line) for line in frames.rows(own)))
    fig, (ax,) = panels([""], own, height=0.9 + 0.42 * len(kinds))
    for shift, (name, (told, color, mark)) in zip(np.linspace(-0.27, 0.27, len(names)), names.items(), strict=True):
        lines = own[own["quantity"] == name]
        at = np.array([kinds.index(labelled(line)) for line in frames.rows(lines)], dtype=float) + shift
        ax.errorbar(
            lines["median"], at, xerr=[np.zeros(len(lines)), lines["largest"] - lines["median"]], color=color,
            marker=mark, ls="", elinewidth=1.1, label=told,
        )  # fmt: skip
    ax.axvline(1.0, **THRESHOLD)
    ax.set_yticks(range(len(kinds)), [kind.replace(", ", ",\n", 1) for kind in kinds])
    ax.invert_yaxis()
    ax.set(xlabel="observed over allowed (median of the worlds, bar to the largest)", xlim=(0, None))
    legend(fig, [ax], ncols=2)
    sentences = []
    for pairs, where in (("matched", "Where pairs are matched at random"), ("all", "Where every pair is labelled")):
        largest = own[own["pairs"] == pairs].groupby("quantity")["largest"].agg(["min", "max"])
        told = [
            f"{alt.number(largest['min'][name])} to {alt.number(largest['max'][name])} ({bound})"
            for name, (bound, *_) in names.items()
            if name in largest.index
        ]
        if told:
            what = "the largest ratio of observed to allowed among the worlds of a kind is"
            sentences.append(f"{where}, {what} {', '.join(told)}.")
    fig.alt = " ".join(sentences)
    return fig


@styled
def open_against_labels(table: pd.DataFrame) -> Drawing:
    """Share of uncertain pairs against labels, beside what may be uncertain; a panel for each multiple of α_t."""
    cases = [(key, own) for (key,), own in frames.groups(table, ["scale"])]
    fig, axes = panels([_part(scale) for scale, _ in cases], table, height=3.2)
    looks = {
        "allowed": ("may be uncertain, if intervals hold", BLUE, "s", (0, (1.5, 1.2))),
        "printed": ("Lemma 4.2 as printed, at most 1", GREY, "^", "-"),
        "open": ("uncertain", ORANGE, "o", DASHED),
        "wrong": ("certain in the wrong order", RED, "X", DOTTED),
    }
    for ax, (_, own) in zip(axes, cases, strict=True):
        for name, (told, color, mark, line) in looks.items():
            if own[name].notna().any():
                ax.plot(own["labels"], own[name], color=color, marker=mark, ls=line, label=told)
        ax.set(xscale="log", xlabel="labels of each pair", ylim=(-0.03, 1.06))
    axes[0].set_ylabel("share of pairs\n(mean over worlds)")
    legend(fig, axes, ncols=2)
    told = {
        "open": "uncertain pairs",
        "allowed": "those that may be uncertain",
        "printed": "what Lemma 4.2 prints",
        "wrong": "those that are certain in the wrong order",
    }
    own = table.assign(part=[f"at {'the ' if scale == 1 else ''}{_part(scale)}" for scale in table["scale"]])
    own = own.melt(["part", "labels"], list(told), "pairs", "mean").dropna(subset="mean")
    own = own.assign(pairs=own["pairs"].map(told))
    fig.alt = alt.courses(own, "pairs", "the share", ["part"], "labels", "the number of labels of each pair")
    return fig


@styled
def kernel_against_width(table: pd.DataFrame) -> Drawing:
    """Relative distance of the kernel from both limits against m; left with all parameters, right with own blocks."""
    fig, axes = panels(PARAMETERS.values(), table, height=3.3)
    depths = sorted(table["depth"].unique())
    for ax, parameters in zip(axes, PARAMETERS, strict=True):
        for (quantity, depth), own in frames.groups(
            table[table["parameters"] == parameters], ["quantity", "depth"]
        ):
            color, mark, line = LIMITS[quantity]
            own = own.sort_values("width", kind="stable")
            ax.errorbar(
                own["width"], own["mean"], 2 * own["standard_error"], color=color, marker=mark, ls=line,
                alpha=1.0 if depth == depths[0] else 0.55, elinewidth=0.9, label=f"{quantity}, L = {depth}",
            )  # fmt: skip
        widths = np.array(sorted(table["width"].unique()), dtype=float)
        ax.plot(widths, 2.2 * widths**-0.5, color=INK, linewidth=0.8, ls=DOTTED, label="slope of 1/√m")
        ax.set(xscale="log", yscale="log", xlabel="width m")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter("{x:,.0f}")
    axes[0].set_ylabel("relative distance of the kernel\n(mean over draws ± 2 s.e.)")
    legend(fig, axes, ncols=3)
    limits = table["quantity"].str.removeprefix("from ")
    own = table.assign(
        limit=[f"{limit}, L = {depth:g}" for limit, depth in zip(limits, table["depth"], strict=True)],
        parameters=table["parameters"].map({"all": "with all entries", "own blocks": "with own blocks only"}),
    )
    what = "the relative distance of the kernel"
    fig.alt = alt.courses(own, "limit", what, ["parameters"], "width", "the width m")
    return fig


@styled
def typical_pairs(table: pd.DataFrame) -> Drawing:
    """Widths by all of A and by its diagonal against the number of pairs seen, of what they were before any pair.

    Args:
        table: `bounds.typical_figure`, of one number of documents.
    """
    cases = [(start(*key), own) for key, own in frames.groups(table, ["init", "regularization"])]
    fig, axes = panels([name for name, _ in cases], table, height=3.0)
    for ax, (_, own) in zip(axes, cases, strict=True):
        own = own[own["pairs"] > 0].sort_values("pairs", kind="stable")
        for column, told in (("full", "all of A"), ("diagonal", "diagonal of A")):
            look = CHOICES[column]
            ax.plot(own["pairs"], own[column], color=look.color, marker=look.marker, ls=look.line, label=told)
        ax.set(xscale="log", yscale="log", xlabel="pairs seen")
        ax.set_xticks(ends := own["pairs"].iloc[[0, len(own) // 2, -1]], [f"{n:,}" for n in ends])
        ax.set_xticks([], minor=True)
    axes[0].set_ylabel("median width of other pairs\n(1: before any pair was seen)")
    legend(fig, axes)
    own = table[table["pairs"] > 0]
    own = own.assign(start=[f"with the start {start(line.init, line.regularization)}" for line in frames.rows(own)])
    own = _both(own, ["start", "pairs"])
    fig.alt = alt.courses(own, "widths", "the median width", ["start"], "pairs", "the number of pairs seen")
    return fig


def _both(table: pd.DataFrame, keep: list[str]) -> pd.DataFrame:
    """What was measured by all of A and by its diagonal, one below the other: `keep`, widths, mean."""
    own = table.melt(keep, ["full", "diagonal"], "widths", "mean")
    return own.assign(widths=own["widths"].map({"full": "all of A", "diagonal": "its diagonal"}))


@styled
def blind_spot(table: pd.DataFrame) -> Drawing:
    """Error of a pair of which nothing was learned, over its interval by all of A and by the diagonal."""
    fig, (ax,) = panels([""], table, height=2.8)
    shown = table[table["labels"] > 0].sort_values("labels", kind="stable")
    for column, told in (("full", "all of A"), ("diagonal", "diagonal of A")):
        look = CHOICES[column]
        ax.plot(shown["labels"], shown[column], color=look.color, marker=look.marker, ls=look.line, label=told)
    ax.axhline(1.0, **THRESHOLD)
    ax.set(xscale="log", yscale="log", xlabel="labels of the other pair")
    ax.set_ylabel("error / interval\n(median of the networks)")
    legend(fig, [ax])
    ratios, what = _both(shown, ["labels"]), "the error over its interval"
    fig.alt = " ".join([
        alt.courses(ratios, "widths", what, [], "labels", "the number of labels"),
        alt.reaches(ratios, "widths", "It", [], "labels", "a number of labels of", 1.0),
    ])  # fmt: skip
    return fig


@styled
def regret_against_bounds(table: pd.DataFrame) -> Drawing:
    """Misordered pairs against rounds, beside uncertain ones and what theory allows; a panel for each multiple of α_t.
    """
    cases = [(key, own) for (key,), own in frames.groups(table, ["scale"])]
    fig, axes = panels([_part(scale) for scale, _ in cases], table, height=3.4)
    for ax, (_, own) in zip(axes, cases, strict=True):
        own = own.sort_values("round", kind="stable")
        ax.plot(own["round"], own["shown"], color=GREY, linewidth=4, label="all pairs")  # others cover it
        ax.errorbar(
            own["round"], own["regret"], 2 * own["standard_error"], color=RED, marker="o", markevery=4, errorevery=4,
            elinewidth=0.9, label="misordered",
        )  # fmt: skip
        ax.plot(own["round"], own["open"], color=ORANGE, ls=DASHED, label="uncertain")
        told = "may be uncertain, if intervals hold"
        ax.plot(own["round"], own["allowed"], color=BLUE, ls=(0, (1.5, 1.2)), label=told)
        ax.set(xlabel="round")
    axes[0].set_ylabel("pairs so far (mean over worlds,\nmisordered ± 2 standard errors)")
    legend(fig, axes, ncols=4)
    told = {
        "shown": "all pairs",
        "regret": "misordered ones",
        "open": "uncertain ones",
        "allowed": "those that may be uncertain",
    }
    own = table.assign(part=[f"at {'the ' if scale == 1 else ''}{_part(scale)}" for scale in table["scale"]])
    own = own.melt(["part", "round"], list(told), "pairs", "mean")
    own = own.assign(pairs=own["pairs"].map(told))
    fig.alt = alt.courses(own, "pairs", "the number of pairs", ["part"], "round", "the round")
    return fig


def _part(scale: float) -> str:
    return "theorem's α" if scale == 1 else f"1/{1 / scale:.0f} of it"
