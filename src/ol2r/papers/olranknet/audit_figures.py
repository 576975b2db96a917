"""Figures of olRankNet's theory: how often its bounds hold, how slack they are, and what the diagonal makes of pairs.

Tables are those of `bounds`; this module draws them and computes nothing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from ol2r import frames
from ol2r.report import alt
from ol2r.report.grammar import (
    DASHED,
    DOTTED,
    ERRORS,
    SHORT,
    Facet,
    Grid,
    Key,
    courses,
    facet,
    level,
    lines,
    long,
    place,
    reaches,
    series,
)
from ol2r.report.style import (
    BLUE,
    CHOICES,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RED,
    SERIES,
    Drawing,
    legend,
    panels,
    styled,
)

TRUTHS = {"tangent": "h linear in the gradients", "network": "h another network"}
ASSUMED = {1: "labels of the model", 0: "users who stop: assumption violated"}
COVERED = "share of worlds in which\nall intervals covered"
PARAMETERS = Facet(
    "parameters",
    {"all": "all entries are parameters", "own blocks": "own blocks only"},
    {"all": "with all entries", "own blocks": "with own blocks only"},
)
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


COVARIANCES = Key("quantity", {
    "current": series("all of A", words="with all of A", linewidth=1.3),
    "diagonal": series("diagonal of A (no proof)", line=DOTTED, words="with its diagonal", linewidth=1.0),
})  # fmt: skip
BOTH = {
    "full": series("all of A", *CHOICES["full"]),
    "diagonal": series("diagonal of A", *CHOICES["diagonal"], words="its diagonal"),
}


@styled
def coverage_against_scale(table: pd.DataFrame) -> Drawing:
    """Share of worlds in which Lemma 3.3, scaled, held at every look: labels as assumed on the left, others right."""
    own = table.assign(kind=[setting(line) for line in frames.rows(table)])
    colors = zip(dict.fromkeys(own["kind"]), SERIES, strict=False)
    kinds = Key("kind", {kind: series(kind, color, line="") for kind, color in colors})
    told = own.assign(
        widths=own["quantity"].map({"current": "with all of A", "diagonal": "with its diagonal"}),
        labels=own["assumed"].map({1: "labels of the model", 0: "users who stop"}),
    )
    what, nominal = "The share of worlds in which a multiple of the radius covered all pairs", table["nominal"].max()
    return lines(
        own, "scale", "coverage", [kinds, COVARIANCES], Grid(Facet("assumed", ASSUMED), height=3.9), shown=table,
        ncols=2, each_key=True,
        over=[level(nominal), place(1.0), place(0.5, linewidth=0.6)], ylabel=COVERED,
        axis={"xscale": "log", "xlabel": "multiple of the radius", "ylim": (-0.02, 1.02)},
        says=alt.reaches(told, "kind", what, ["widths", "labels"], "scale", "multiple", nominal, y="coverage"),
    )  # fmt: skip


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
        drawn = own[own["quantity"] == name]
        at = np.array([kinds.index(labelled(line)) for line in frames.rows(drawn)], dtype=float) + shift
        ax.errorbar(
            drawn["median"], at, xerr=[np.zeros(len(drawn)), drawn["largest"] - drawn["median"]], color=color,
            marker=mark, ls="", elinewidth=1.1, label=told,
        )  # fmt: skip
    place(1.0)(ax, own)
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


def _parts(table: pd.DataFrame) -> Facet:
    """A panel for each multiple of α_t."""
    titles = facet("scale", table, lambda scale: "theorem's α" if scale == 1 else f"1/{1 / scale:.0f} of it").titles
    return Facet("scale", titles, {scale: f"at {'the ' if scale == 1 else ''}{name}" for scale, name in titles.items()})


@styled
def open_against_labels(table: pd.DataFrame) -> Drawing:
    """Share of uncertain pairs against labels, beside what may be uncertain; a panel for each multiple of α_t."""
    looks = {
        "allowed": series("may be uncertain, if intervals hold", BLUE, "s", SHORT, "those that may be uncertain"),
        "printed": series("Lemma 4.2 as printed, at most 1", GREY, "^", words="what Lemma 4.2 prints"),
        "open": series("uncertain", ORANGE, "o", DASHED, "uncertain pairs"),
        "wrong": series("certain in the wrong order", RED, "X", DOTTED, "those that are certain in the wrong order"),
    }
    return lines(
        long(table, ("open", "allowed", "printed", "wrong"), ["scale", "labels"]), "labels", "mean",
        [Key("line", looks)], Grid(_parts(table)),
        axis={"xscale": "log", "xlabel": "labels of each pair", "ylim": (-0.03, 1.06)},
        ylabel="share of pairs\n(mean over worlds)", ncols=2, shown=table,
        says=courses("the share", "labels", "the number of labels of each pair"),
    )  # fmt: skip


def _slope(ax: Axes, own: pd.DataFrame) -> None:
    widths = np.array(sorted(own["width"].unique()), dtype=float)
    ax.plot(widths, 2.2 * widths**-0.5, color=INK, linewidth=0.8, ls=DOTTED, label="slope of 1/√m")


def _plain_numbers(ax: Axes, _: pd.DataFrame) -> None:
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter("{x:,.0f}")


@styled
def kernel_against_width(table: pd.DataFrame) -> Drawing:
    """Relative distance of the kernel from both limits against m; left with all parameters, right with own blocks."""
    limits = {
        "from H": series("from H", RED, "s", DASHED, "H"),
        "from H̃": series("from H̃", BLUE, "o", words="H̃"),
    }
    depths = {
        depth: series(f"L = {depth}", line="", alpha=0.55 if number else 1.0)
        for number, depth in enumerate(sorted(table["depth"].unique()))
    }
    return lines(
        table, "width", "mean", [Key("quantity", limits), Key("depth", depths)], Grid(PARAMETERS, height=3.3),
        spread=ERRORS, over=[_slope], axis={"xscale": "log", "yscale": "log", "xlabel": "width m"},
        finish=[_plain_numbers], ylabel="relative distance of the kernel\n(mean over draws ± 2 s.e.)", ncols=3,
        says=courses("the relative distance of the kernel", "width", "the width m"),
    )  # fmt: skip


def _three_ticks(ax: Axes, own: pd.DataFrame) -> None:
    seen = sorted(own["pairs"].unique())
    ax.set_xticks(ends := [seen[0], seen[len(seen) // 2], seen[-1]], [f"{n:,}" for n in ends])
    ax.set_xticks([], minor=True)


@styled
def typical_pairs(table: pd.DataFrame) -> Drawing:
    """Widths by all of A and by its diagonal against the number of pairs seen, of what they were before any pair.

    Args:
        table: `bounds.typical_figure`, of one number of documents.
    """
    own = table.assign(start=[start(line.init, line.regularization) for line in frames.rows(table)])
    titles = facet("start", own).titles
    starts = Facet("start", titles, {each: f"with the start {each}" for each in titles})
    return lines(
        long(own[own["pairs"] > 0], BOTH, ["start", "pairs"]), "pairs", "mean", [Key("line", BOTH)],
        Grid(starts, height=3.0), axis={"xscale": "log", "yscale": "log", "xlabel": "pairs seen"},
        finish=[_three_ticks], ylabel="median width of other pairs\n(1: before any pair was seen)", shown=table,
        says=courses("the median width", "pairs", "the number of pairs seen"),
    )  # fmt: skip


@styled
def blind_spot(table: pd.DataFrame) -> Drawing:
    """Error of a pair of which nothing was learned, over its interval by all of A and by the diagonal."""
    course = courses("the error over its interval", "labels", "the number of labels")
    reach = reaches("It", "labels", "a number of labels of", 1.0)
    return lines(
        long(table[table["labels"] > 0], BOTH, ["labels"]), "labels", "mean", [Key("line", BOTH)], Grid(height=2.8),
        over=[level(1.0)], axis={"xscale": "log", "yscale": "log", "xlabel": "labels of the other pair"}, shown=table,
        ylabel="error / interval\n(median of the networks)", says=lambda drawn: f"{course(drawn)} {reach(drawn)}",
    )  # fmt: skip


@styled
def regret_against_bounds(table: pd.DataFrame) -> Drawing:
    """Misordered pairs against rounds, beside uncertain ones and what theory allows; a panel for each multiple of α_t.
    """
    looks = {
        "shown": series("all pairs", GREY, linewidth=4),  # others cover it
        "regret": series("misordered", RED, "o", words="misordered ones", markevery=4, errorevery=4),
        "open": series("uncertain", ORANGE, line=DASHED, words="uncertain ones"),
        "allowed": series("may be uncertain, if intervals hold", BLUE, line=SHORT, words="those that may be uncertain"),
    }
    own = long(table, looks, ["scale", "round", "standard_error"])
    own["standard_error"] = own["standard_error"].where(own["line"] == "regret")
    return lines(
        own, "round", "mean", [Key("line", looks)], Grid(_parts(table), height=3.4), spread=ERRORS,
        axis={"xlabel": "round"}, ylabel="pairs so far (mean over worlds,\nmisordered ± 2 standard errors)", ncols=4,
        shown=table, says=courses("the number of pairs", "round", "the round"),
    )  # fmt: skip
