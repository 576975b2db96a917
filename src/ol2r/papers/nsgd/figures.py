"""Figures that only the NSGD chapter draws: wins of candidates by origin, audits of theory, and a worked example.

Figures that other chapters draw as well are in `ol2r.report.figures`. Frames are as there, and this module knows no
learner either.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from ol2r import frames
from ol2r.experiments.effects import at_end, summarize
from ol2r.report import alt
from ol2r.report.figures import INTERVAL, arms, name_of, one_dataset
from ol2r.report.style import BLUE, GREY, INK, LEARNERS, MAUVE, QUIET, RED, SERIES, SKY, Drawing, legend, panels, styled

if TYPE_CHECKING:
    from ol2r.papers.nsgd.illustration import Directions

SHADES = SERIES[:3]


def with_printed_rounds(fig: Drawing | None, printed: pd.DataFrame) -> Drawing | None:
    """The same learning curves with a line at each round that the paper's text names, in its learner's colour.

    Args:
        fig: with panels named after their kinds of users, or None.
        printed: of one item; `mean` is the round, and `note` says "fewer than" or "more than".
    """
    for ax in fig.panels() if fig else ():
        for line in frames.rows(printed):
            if line.users in ax.get_title() and "rounds" in line.note:
                color, word = LEARNERS[line.learner].color, "before" if "fewer than" in line.note else "after"
                ax.axvline(line.mean, color=color, linewidth=1, linestyle=(0, (1, 1.5)))
                ax.annotate(
                    f"{word} {line.mean:g}", (line.mean, 1), (2, -1), xycoords=("data", "axes fraction"),
                    textcoords="offset points", va="top", fontsize=7, color=color,
                )  # fmt: skip
    return fig


def selection_ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """How often a proposed candidate of each origin beat the current ranker, with the online score of the mix.

    Args:
        frame: n_uniform (of four candidates) and, at the last round, null_won, null_proposed, uniform_won,
            uniform_proposed (counts of a run) and cndcg.

    Returns:
        n_uniform, quantity ("null space" and "uniform": share of proposed candidates that win; "online": cndcg), mean,
        deviation, n, low, high. An origin that a mix never proposes has no line.
    """
    last = at_end(one_dataset(frame))
    quantities = {
        "null space": last["null_won"] / last["null_proposed"].where(last["null_proposed"] > 0),
        "uniform": last["uniform_won"] / last["uniform_proposed"].where(last["uniform_proposed"] > 0),
        "online": last["cndcg"],
    }
    parts = [last[["n_uniform"]].assign(quantity=name, value=values) for name, values in quantities.items()]
    return summarize(pd.concat(parts).dropna(), "value", ["n_uniform", "quantity"])


@styled
def selection_dots(frame: pd.DataFrame) -> Drawing:
    """For every mix: left, how often proposed null-space and uniform candidates win; right, the online score.

    Both axes show the range of the values, not zero.

    Args:
        frame: as for `selection_ratios`, one kind of user.
    """
    table = selection_ratios(frame)
    mixes = sorted(table["n_uniform"].unique())
    fig, (wins, online) = panels(["candidates that win", "online score"], table, height=3.2, sharey=False)
    for ax, quantity, shift, color, marker, face in (
        (wins, "null space", -0.1, LEARNERS["NSGD"].color, "o", LEARNERS["NSGD"].color),
        (wins, "uniform", 0.1, INK, "s", "white"),
        (online, "online", 0.0, INK, "D", INK),
    ):
        own = table[table["quantity"] == quantity]
        places = own["n_uniform"].map(mixes.index) + shift
        ax.errorbar(
            places, own["mean"], arms(own), linestyle="", color=color, marker=marker, markerfacecolor=face, capsize=2,
            label=f"{quantity} candidates" if ax is wins else None,
        )  # fmt: skip
    for ax in (wins, online):
        ax.set_xticks(range(len(mixes)), [f"{4 - n}:{n}" for n in mixes])
        ax.set_xlabel("null-space : uniform candidates")
    wins.set_ylabel(f"{name_of(frame)}\nwins per proposed candidate\n({INTERVAL})")
    online.set_ylabel("discounted cumulative NDCG@10")
    legend(fig, [wins])
    ends = table.groupby("quantity")["mean"].agg(["min", "max"])
    null, uniform, score = (f"{line['min']:.3g} to {line['max']:.3g}" for line in frames.records(
        ends.loc[["null space", "uniform", "online"]]))  # fmt: skip
    fig.alt = (
        f"A proposed candidate from the null space wins in a share of {null} over the mixes, a uniform one in "
        f"{uniform}; the online score is {score}."
    )
    return fig


def _derived(ax: Axes, table: pd.DataFrame, x: str, label: str, color: str, marker: str) -> None:
    """Draw what theory expects as a line, and what was measured as points with three standard errors."""
    ax.plot(table[x], table["expected"], color=color, label=label)
    ax.errorbar(
        table[x], table["measured"], 3 * table["standard_error"], linestyle="", color=color, marker=marker,
        markerfacecolor="white", capsize=2,
    )  # fmt: skip


def _apart(table: pd.DataFrame) -> str:
    """How far the points are from the derived lines, in a sentence."""
    z = ((table["measured"] - table["expected"]).abs() / table["standard_error"]).max()
    return f"No point is further than {z:.1f} standard errors from its derived line."


@styled
def error_against_energy(table: pd.DataFrame) -> Drawing:
    """Error of the null-space gradient against the energy it cannot see; dashed, the error of the whole gradient."""
    independent = table.query("not orthogonal").sort_values("energy")
    fig, (ax,) = panels([""], independent, height=3.2)
    for color, marker, (m, line) in zip(SHADES, "osD", independent.groupby("directions", sort=True), strict=False):
        _derived(ax, line, "energy", "1 direction" if m == 1 else f"{m} directions", color, marker)
        ax.axhline(line["whole"].iloc[0], color=color, linestyle=(0, (4, 2)), linewidth=1)
        ax.axvline(line["threshold"].iloc[0], color=color, linestyle=(0, (1, 2)), linewidth=1)
    ax.set_xlabel("share of the gradient's energy in the span of G, φ")
    ax.set_ylabel("relative squared error, best scaled\n(points ± 3 standard errors)")
    legend(fig, [ax])
    named = independent.assign(line=independent["directions"].map(lambda m: f"{m} direction{'s' * (m > 1)}"))
    told = (
        f"{alt.number(line.whole)} at φ = {alt.number(line.threshold)} for {line.line}"
        for line in frames.rows(named.drop_duplicates("line").sort_values("directions"))
    )
    course = alt.courses(named, "line", "the error", [], "energy", "φ", y="measured")
    fig.alt = f"{course} It crosses that of the whole space, {', '.join(told)}. {_apart(independent)}"
    return fig


@styled
def advance_against_candidates(table: pd.DataFrame) -> Drawing:
    """Mean advance of a noise-free round against the number of candidates, with a line for each dimension."""
    fig, (ax,) = panels([""], table, height=3.0)
    for color, marker, (size, line) in zip(SHADES, "osD", table.groupby("null_dimension", sort=True), strict=False):
        _derived(ax, line.sort_values("candidates"), "candidates", f"d′ = {size}", color, marker)
    ax.set_xlabel("candidates m")
    ax.set_ylabel("advance along the gradient / α\n(points ± 3 standard errors)")
    legend(fig, [ax])
    named = table.assign(line=[f"d′ = {size}" for size in table["null_dimension"]])
    told = alt.courses(named, "line", "the advance over α", [], "candidates", "the number of candidates", y="measured")
    fig.alt = f"{told} {_apart(table)}"
    return fig


@styled
def losers_against_margin(table: pd.DataFrame) -> Drawing:
    """Odds of the gradient's energy in the span of losers, over the odds by chance, against the margin of losing."""
    fig, (ax,) = panels([""], table, height=3.0)
    _derived(ax, table.sort_values("margin"), "margin", "odds over chance", SHADES[0], "o")
    ax.axhline(1.0, color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)), label="by chance")
    ax.set_xlabel("a direction loses when its cosine is below")
    ax.set_ylabel("odds of φ, relative to chance\n(points ± 3 standard errors)")
    legend(fig, [ax])
    points = frames.rows(table.sort_values("margin"))
    told = ", ".join(f"{alt.number(point.measured)} at a margin of {point.margin:g}" for point in points)
    fig.alt = f"The odds relative to chance are {told}. {_apart(table)}"
    return fig


@styled
def directions(at: "Directions") -> Drawing:
    """The ball of all directions of three features, seen along the third: losing ones, and those that are drawn."""
    kinds = [("lost", at.stored, RED, "X", 60), ("drawn", at.drawn, BLUE, "o", 16)]
    lines = [(kind, *vector) for kind, vectors, *_ in kinds for vector in vectors]
    table = pd.DataFrame(lines, columns=["direction", "feature_1", "feature_2", "feature_3"])
    fig, (ax,) = panels([""], table, 2.9)
    fig.set_figwidth(4.6)
    around = np.linspace(0, 2 * np.pi, 90)
    ax.plot(np.cos(around), np.sin(around), color=GREY, linewidth=1)
    for kind, vectors, color, marker, size in kinds:
        behind = vectors[:, 2] < 0
        ax.scatter(*vectors[~behind, :2].T, s=size, marker=marker, color=color, label=f"{kind}, in front")
        ax.scatter(*vectors[behind, :2].T, s=size, marker=marker, facecolor="none", edgecolor=color, label="behind")
    ax.set(aspect="equal", xlabel="first feature", ylabel="second feature")
    legend(fig, [ax], ncols=2)
    apart = np.abs(at.drawn @ at.stored.T).max(initial=0.0)
    fig.alt = f"Losing directions: {len(at.stored)}. Largest cosine of a drawn one with one of these: {apart:.2f}."
    return fig


@styled
def illustration(data: Mapping[str, np.ndarray]) -> Drawing:
    """The paper's Figure 1 in two dimensions, with panels for null space, preselection and tie breaking.

    Args:
        data: from `illustration.figure_1`: the current ranker, directions tried before and which lost,
            the worst and the null space's direction, documents and candidate directions with their preselection and
            whether they reorder the query, tied rankers with their NDCG on the hardest recorded queries and the winner.
    """
    w = data["current"]
    best = data["preselection"].argmax()
    others = np.arange(len(data["candidates"])) != best
    won, ndcg = int(data["winner"]), data["tied_ndcg"].mean(axis=0)
    arrows = [
        ("null space", "tried, did not lose", data["tried"][~data["lost"]], GREY, 1.2),
        ("null space", "lost", data["tried"][data["lost"]], MAUVE, 1.2),
        ("null space", "worst of the lost", data["loser"][None], RED, 1.8),
        ("null space", "null space of the worst", np.stack([data["null"], -data["null"]]), BLUE, 1.8),
        ("preselection", "same order", data["candidates"][others & ~data["reorders"]], GREY, 1.2),
        ("preselection", "another order", data["candidates"][others & data["reorders"]], SKY, 1.2),
        ("preselection", "largest preselection", data["candidates"][[best]], BLUE, 1.8),
        ("tie breaking", f"tied, NDCG {ndcg[1 - won]:.2f} on hard queries", data["tied"][[1 - won]] - w, QUIET, 1.2),
        ("tie breaking", f"tied, NDCG {ndcg[won]:.2f}: wins", data["tied"][[won]] - w, BLUE, 1.8),
    ]
    steps = [(panel, arrow, *w, *step) for panel, arrow, many, _, _ in arrows for step in many]
    table = pd.DataFrame(steps, columns=["panel", "arrow", "from_1", "from_2", "step_1", "step_2"])
    names = list(table["panel"].unique())
    fig, axes = panels(names, table, height=3.4)
    for ax, name in zip(axes, names, strict=True):
        for panel, arrow, many, color, width in arrows:
            if panel == name and len(many):
                start = np.broadcast_to(w, many.shape).T
                ax.quiver(
                    *start,
                    *many.T,
                    color=color,
                    width=0.007 * width,
                    label=arrow,
                    angles="xy",
                    scale_units="xy",
                    scale=1,
                )
                ax.update_datalim(w + many)  # quiver itself counts only where arrows start
        if name == "preselection":
            ax.scatter(*data["documents"].T, s=14, marker="s", color=INK, label="documents")
        ax.scatter(*np.stack([w, data["optimum"]]).T, s=24, color=INK, zorder=3)
        _note(ax, "$w_t$", w)
        _note(ax, "$w^*$", data["optimum"])
        ax.margins(0.2)
        ax.set_aspect("equal", adjustable="datalim")
        ax.grid(False)
        ax.set_xlabel("weight of feature 1")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), handlelength=1.2)
    axes[0].set_ylabel("weight of feature 2")
    return fig


def _note(ax: Axes, text: str, at: np.ndarray) -> Annotation:
    return ax.annotate(text, (at[0], at[1]), (5, 4), textcoords="offset points", fontsize=9, annotation_clip=False)
