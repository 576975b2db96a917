"""Figures of refits and intervals, of Figure 3, of the covariance's two forms, and of the paper's worked example.

Tables are those of `fits`, `lda`, `forms` and `illustration`, with their cells' labels; this module draws them.
"""

from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.experiments.effects import summarize
from ol2r.papers.olranknet.labels import LINEAR, NETWORK
from ol2r.report import alt
from ol2r.report.grammar import BARS, Facet, Grid, Key, facet, level, lines, place, reaches, registered, series
from ol2r.report.orders import nodes, order_graph
from ol2r.report.style import (
    BLUE,
    CHOICES,
    INK,
    MAUVE,
    ORANGE,
    QUIET,
    RED,
    SERIES,
    SKY,
    TEAL,
    Drawing,
    Look,
    Looks,
    legend,
    panels,
    styled,
)

if TYPE_CHECKING:
    from ol2r.papers.olranknet.illustration import Example

WAYS = Looks()
WAYS.register("Adam, 20 passes", Look(BLUE, "o", "-"))
WAYS.register("Adam, 20 passes, fresh start and decay", Look(MAUVE, "X", (0, (1.5, 1.2))))
WAYS.register("Adam, 20 passes, fresh start and decay, larger rate", Look(RED, "P", (0, (6, 1.2, 1.2, 1.2))))
WAYS.register("L-BFGS, 20 passes, memory emptied", Look(ORANGE, "s", (0, (5, 1.5))))
WAYS.register("L-BFGS, 10 passes, memory kept", Look(TEAL, "^", (0, (3, 1, 1, 1))))

TOLD = {"full": "A", "diagonal": "diagonal of A", "constant": "one width for all pairs"}

ORDERED_BY = Looks()
ORDERED_BY.register("linear", Look(ORANGE, "s", (0, (5, 1.5))))
ORDERED_BY.register(LINEAR, Look(SKY, "o", (0, (3, 1, 1, 1))))
ORDERED_BY.register(NETWORK, Look(BLUE, "P", "-"))
ORDERED_BY.register("truth", Look(INK, "D", (0, (1.5, 1.2))))

GRADES = (QUIET, SKY, TEAL, ORANGE, RED)
"""Colours of the grades from 0."""
GRADE_LINES = ((0, (1.5, 1.2)), (0, (5, 1.5)), "-", (0, (4, 1, 1, 1)), (0, (8, 1.5)))

FORM_MARKS = "os^Dv"


def _few_ticks(ax: Axes, _: pd.DataFrame) -> None:
    """Plain numbers at 1, 3 and 10 of each power of ten on a logarithmic x axis, and none between them."""
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


@styled
def gap_against_pairs(frame: pd.DataFrame) -> Drawing:
    """The gap that refits leave, against distinct pairs, a panel for each λ, log-log: means over runs, 95 % intervals.

    Args:
        frame: of `fits.Gap`, of one data set.
    """
    kept = frame[frame["quantity"] == "gap"]
    by = ["regularization", "refit", "round"]
    table = summarize(kept, "value", by).merge(kept.groupby(by, as_index=False)["pairs"].mean(), on=by)
    penalties = {each: f"λ = {each:g}" for each in sorted(table["regularization"].unique(), reverse=True)}
    facets = Facet("regularization", penalties, {each: f"with {title}" for each, title in penalties.items()})
    own = table.assign(
        penalty=[f"with λ = {each:g}" for each in table["regularization"]],
        refit=table["refit"].str.replace(", ", " with ", n=1),
    )
    ends = {"low": table["low"].clip(lower=0.0).fillna(table["mean"]), "high": table["high"].fillna(table["mean"])}
    return lines(
        table.assign(**ends), "pairs", "mean", [registered("refit", WAYS, table["refit"])], Grid(facets), spread=BARS,
        over=[level(1.0)], axis={"xscale": "log", "yscale": "log", "xlabel": "distinct pairs"}, finish=[_few_ticks],
        ylabel="gap (0: local optimum,\n1: no better than θ₀)", ncols=2, shown=table,
        says=alt.courses(own, "refit", "the gap", ["penalty"], "pairs", "the number of distinct pairs"),
    )  # fmt: skip


@styled
def coverage_against_width(frame: pd.DataFrame, part: str = "test") -> Drawing:
    """Pairs inside the interval, pairs called certain, and certain ones that are wrong, against α after the last round.

    Lines are means over runs. The vertical line is the tuned α; the horizontal one is 95 %.

    Args:
        frame: of `fits.Coverage`, of one data set.
        part: "train" or "test" queries.
    """
    last = frame[(frame["round"] == frame["round"].max()) & (frame["part"] == part)]
    names = {"inside": "inside the interval", "certain": "certain orders", "wrong": "certain and wrong"}
    kept = last[last["quantity"].isin(names) & (last["covariance"] != "constant")]
    table = summarize(kept, "value", ["covariance", "quantity", "at"]).sort_values("at", kind="stable")
    fig, axes = panels(names.values(), table, height=3.0, sharey=False)
    for ax, quantity in zip(axes, names, strict=True):
        for name in CHOICES.ordered(table["covariance"]):
            own, look = table[(table["covariance"] == name) & (table["quantity"] == quantity)], CHOICES[name]
            told = f"widths by {TOLD[name]}"
            ax.plot(own["at"], own["mean"], color=look.color, marker=look.marker, ls=look.line, label=told)
        ax.axvline(float(frame["tuned_alpha"].iloc[0]), color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)))
        ax.set(xscale="log", xlabel="α")
        ax.set_ylim(bottom=0)
    axes[0].axhline(0.95, color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)))
    axes[0].set_ylabel(f"share of pairs of {part} queries")
    legend(fig, axes[:1])
    shares = {"inside": "of covered pairs", "certain": "of certain orders", "wrong": "of certain and wrong ones"}
    own = table.assign(widths=table["covariance"].map(TOLD), share=table["quantity"].map(shares))
    inside = own[own["quantity"] == "inside"]
    fig.alt = " ".join([
        alt.courses(own, "widths", "the share", ["share"], "at", "α"),
        alt.reaches(inside, "widths", "The share of pairs inside the interval", [], "at", "α =", 0.95),
        f"The tuned α is {float(frame['tuned_alpha'].iloc[0]):g}.",
    ])  # fmt: skip
    return fig


@styled
def wrong_by_width(frame: pd.DataFrame, part: str = "test") -> Drawing:
    """Share of wrong orders among the half of the pairs that is taken for surest: against rounds, mean over runs.

    Left, the half with the narrower intervals; right, the half with the largest |σ̂ − ½| for its width. The dotted line
    of all pairs says what chance gives.

    Args:
        frame: of `fits.Coverage`, of one data set.
        part: "train" or "test" queries.
    """
    names = {"wrong in the narrower half": "narrower intervals", "wrong in the surer half": "surer by |σ̂ − ½|/width"}
    kept = frame[(frame["part"] == part) & frame["quantity"].isin([*names, "wrong of all"])]
    table = summarize(kept, "value", ["covariance", "quantity", "round"]).sort_values("round", kind="stable")
    fig, axes = panels(names.values(), table, height=3.0)
    for ax, quantity in zip(axes, names, strict=True):
        for name in CHOICES.ordered(table["covariance"]):
            if name == "constant" and quantity == "wrong in the narrower half":
                continue  # equal widths have no narrower half
            own, look = table[(table["covariance"] == name) & (table["quantity"] == quantity)], CHOICES[name]
            ax.plot(own["round"], own["mean"], color=look.color, marker=look.marker, ls=look.line, label=TOLD[name])
        whole = table[(table["quantity"] == "wrong of all") & (table["covariance"] == "full")]
        ax.plot(whole["round"], whole["mean"], color=QUIET, ls=(0, (1, 1.5)), lw=1.2, label="all pairs")
        ax.set(xlabel="round")
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel(f"wrong orders in the surest half\nof {part} pairs")
    legend(fig, axes)
    halves = {"wrong in the narrower half": "by width", "wrong in the surer half": "by |σ̂ − ½|/width"}
    own = table.assign(widths=table["covariance"].map(TOLD), half=table["quantity"].map(halves)).dropna(subset="half")
    own = own[(own["covariance"] != "constant") | (own["quantity"] == "wrong in the surer half")]
    whole = table[(table["quantity"] == "wrong of all") & (table["covariance"] == "full")].assign(all="all pairs")
    what = "the share of wrong orders"
    fig.alt = " ".join([
        alt.courses(own, "widths", f"{what} in the surest half", ["half"], "round", "the round"),
        alt.courses(whole, "all", what, [], "round", "the round"),
    ])  # fmt: skip
    return fig


@styled
def lda_densities(table: pd.DataFrame, level: pd.DataFrame) -> Drawing:
    """Figure 3: where half of the documents of each grade lie under the first two directions of LDA.

    A line is where the density of a grade has the value above which half of the grade's documents lie.
    """
    datasets = list(table["dataset"].unique())
    titles = ["\n".join(wrap(label(name), 72 // len(datasets))) for name in datasets]
    fig, axes = panels(titles, table, height=3.3, sharey=False)
    grades = sorted(table["grade"].unique())
    for ax, name in zip(axes, datasets, strict=True):
        own = table[table["dataset"] == name]
        x, y = (np.sort(own[axis].unique()) for axis in ("x", "y"))
        for grade in sorted(own["grade"].unique()):
            height = level[(level["dataset"] == name) & (level["grade"] == grade)]["level"]
            here = own[own["grade"] == grade]
            if height.empty:
                continue
            density = here.pivot_table(index="y", columns="x", values="share").reindex(index=y, columns=x).fillna(0)
            ax.contour(
                x, y, density.to_numpy(), levels=[float(height.iloc[0])], cmap=ListedColormap([GRADES[grade]]),
                linestyles=[GRADE_LINES[grade]], linewidths=1.6,
            )  # fmt: skip
        ax.set_xlabel("first direction")
        ax.grid(False)
    axes[0].set_ylabel("second direction")
    marks = [Line2D([], [], color=GRADES[g], linestyle=GRADE_LINES[g], label=f"grade {g}") for g in grades]
    fig.legend(handles=marks, loc="outside upper center", ncols=len(marks))
    parts = frames.groups(table, ["dataset"])
    told = (f"{_overlaps(own, level[level['dataset'] == name])} on {label(str(name))}" for (name,), own in parts)
    fig.alt = f"Inside the line of the next grade lies a share of {'; '.join(told)}."
    return fig


def _overlaps(own: pd.DataFrame, level: pd.DataFrame) -> str:
    """Which share of the documents of each grade lies inside the line of the grade above it, on one data set."""
    inside = own.merge(level[["grade", "level"]], on="grade").query("share >= level")
    told = []
    for grade in sorted(inside["grade"].unique()):
        places = inside[inside["grade"] == grade][["x", "y"]]
        below = own[own["grade"] == grade - 1]
        if len(below):
            share = below.merge(places, on=["x", "y"])["share"].sum()
            told.append(f"{alt.number(share)} of grade {grade - 1}")
    return ", ".join(told)


@styled
def ordered_pairs(frame: pd.DataFrame, names: dict[str, str]) -> Drawing:
    """Share of held-out pairs of different grade in the right order, a row for each data set: means and folds.

    Args:
        frame: from `lda.beside_rankers`.
        names: `lda.QUANTITIES`, what each quantity is called.
    """
    table = frame.groupby(["dataset", "quantity"], sort=False)["value"].agg(["mean", "min", "max"]).reset_index()
    datasets = list(table["dataset"].unique())
    fig, (ax,) = panels([""], table, height=1.3 + 0.42 * len(datasets))
    order = ORDERED_BY.ordered(table["quantity"])
    for k, quantity in enumerate(order):
        own, look = table[table["quantity"] == quantity], ORDERED_BY[quantity]
        rows = np.array([datasets.index(name) for name in own["dataset"]]) + 0.15 * (k - (len(order) - 1) / 2)
        arms = np.stack([own["mean"] - own["min"], own["max"] - own["mean"]])
        ax.errorbar(
            own["mean"], rows, xerr=arms, linestyle="", marker=look.marker, color=look.color, elinewidth=1,
            label=names[quantity],
        )  # fmt: skip
    ax.set_yticks(range(len(datasets)), ["\n".join(wrap(label(name), 22)) for name in datasets])
    ax.invert_yaxis()
    ax.grid(True, axis="x")
    ax.set_xlabel("held-out pairs of different grade in the right order\n(mean and range over folds; a coin: 0.5)")
    legend(fig, [ax], ncols=2)
    named = table.assign(ranker=table["quantity"].map(names), at=0)
    what = "held-out pairs in the right order"
    fig.alt = alt.ends(named, "ranker", what, ["dataset"], x="at", when="In the mean over folds")
    return fig


@styled
def forms_against_pairs(frame: pd.DataFrame, met: pd.DataFrame) -> Drawing:
    """Time of a round in the dual form over that of the primal one, against n/p: a panel for each shape, log-log.

    Above the line of 1 the primal form is cheaper. The vertical line is where the library changes over.
    """
    from ol2r.networks.covariance import SWITCH

    dual = frame[frame["form"] == "dual"].merge(met[["shape", "width", "primal"]], on=["shape", "width"])
    dual = dual.drop(columns="seed")
    table = dual.assign(per=dual["pairs"] / dual["parameters"], ratio=dual["milliseconds"] / dual["primal"])
    shapes = facet("shape", table, lambda name: f"shape of {label(name)}").titles
    facets = Facet("shape", shapes, {shape: f"with the {title}" for shape, title in shapes.items()})
    widths = {
        width: series(f"m = {width}", color, mark)
        for width, color, mark in zip(sorted(table["width"].unique()), SERIES, FORM_MARKS, strict=False)
    }
    what = "time of the dual form over that of the primal one"
    reach = reaches(f"The {what}", "per", "pairs per weight of", 1.0, "ratio")
    return lines(
        table, "per", "ratio", [Key("width", widths)], Grid(facets), over=[level(1.0), place(SWITCH)],
        axis={"xscale": "log", "yscale": "log", "xlabel": "pairs n / weights p"}, finish=[_few_ticks],
        ylabel="time of widths and update,\ndual / primal form",
        says=lambda drawn: " ".join([reach(drawn), alt.ends(
            drawn, "told", what, ["where"], x="per", y="ratio", when="With most pairs")]),
    )  # fmt: skip


@styled
def certain_graph(example: "Example") -> Drawing:
    """Figure 1 recomputed: orders of six documents, two sampled lists, and the chance of each list."""
    certain, shown, lists = example
    fig, axes = panels(["documents", "two of the lists", "all lists"], lists, height=3.2, sharey=False)
    graph, ranked, chances = axes
    order_graph(graph, certain, sorted(shown[0]))
    for x, names in enumerate(shown):
        column = np.stack([np.full(len(names), float(x)), -np.arange(len(names), dtype=float)], axis=1)
        nodes(ranked, column, list(names))
    for ax, margin in ((graph, 0.2), (ranked, 0.35)):
        ax.margins(margin)
        ax.set_axis_off()
    graph.set_aspect("equal", adjustable="datalim")
    _bars(chances, lists, shown)
    legend(fig, [graph, chances], ncols=4)
    return fig


def _bars(ax: Axes, lists: pd.DataFrame, shown: tuple[str, str]) -> None:
    """A bar for each list; those of which an example is shown are hatched."""
    rows = np.arange(len(lists))
    picked = lists["list"].isin(shown).to_numpy()
    for part, hatch, told in ((picked, "///", "shown beside"), (~picked, "", "other lists")):
        ax.barh(rows[part], lists["probability"][part], color=QUIET, hatch=hatch, edgecolor="white", label=told)
    ax.set_yticks(rows, list(lists["list"]))
    ax.invert_yaxis()
    ax.grid(True, axis="x")
    ax.set_xlabel("probability")
