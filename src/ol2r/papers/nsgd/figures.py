"""Figures that only the NSGD chapter draws: wins of candidates by origin, audits of theory, and a worked example.

Figures that other chapters draw as well are in `ol2r.report.figures`. Frames are as there, and this module knows no
learner either.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from ol2r.experiments.effects import at_end, summarize
from ol2r.report.figures import INTERVAL, arms, name_of, one_dataset
from ol2r.report.style import FAINT, INK, LEARNERS, QUIET, Drawing, legend, panels, styled

SHADES = ("#c0270d", "#0072b2", "#4d4d4d")


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
def selection_bars(frame: pd.DataFrame) -> Drawing:
    """For every mix, bars show how often proposed null-space and uniform candidates win; a line shows the online score.

    Args:
        frame: as for `selection_ratios`, one kind of user.
    """
    table = selection_ratios(frame)
    fig, (ax,) = panels([name_of(frame)], table, height=3.2)
    mixes = sorted(table["n_uniform"].unique())
    place = {n: i for i, n in enumerate(mixes)}
    for quantity, shift, color, hatch in (
        ("null space", -0.2, LEARNERS["NSGD"].color, ""),
        ("uniform", 0.2, FAINT, "///"),
    ):
        bars = table[table["quantity"] == quantity]
        x = bars["n_uniform"].map(place) + shift
        ax.bar(
            x,
            bars["mean"],
            0.36,
            color=color,
            hatch=hatch,
            edgecolor=QUIET,
            linewidth=0.5,
            label=f"{quantity} candidates",
        )
        ax.errorbar(x, bars["mean"], arms(bars), fmt="none", ecolor=INK, elinewidth=0.9, capsize=2)
    ax.set_xticks(range(len(mixes)), [f"{4 - n}:{n}" for n in mixes])
    ax.set_xlabel("null-space : uniform candidates")
    ax.set_ylabel(f"wins per proposed candidate\n({INTERVAL})")
    right = ax.twinx()
    right.grid(False)
    right.spines["right"].set_visible(True)
    online = table[table["quantity"] == "online"].sort_values("n_uniform")
    x = online["n_uniform"].map(place)
    right.errorbar(
        x, online["mean"], arms(online), color=INK, marker="o", capsize=2, label="online score (right axis)"
    )
    right.set_ylabel("discounted cumulative NDCG@10")
    legend(fig, [ax, right])
    return fig


def _derived(ax: Axes, table: pd.DataFrame, x: str, label: str, color: str, marker: str) -> None:
    """Draw what theory expects as a line, and what was measured as points with three standard errors."""
    ax.plot(table[x], table["expected"], color=color, label=label)
    ax.errorbar(
        table[x], table["measured"], 3 * table["standard_error"], linestyle="", color=color, marker=marker,
        markerfacecolor="white", capsize=2,
    )  # fmt: skip


@styled
def error_against_energy(table: pd.DataFrame) -> Drawing:
    """Error of the null-space gradient against the energy it cannot see; dashed, the error of the whole gradient.

    Args:
        table: from `audits.error_figure`.
    """
    independent = table.query("not orthogonal").sort_values("energy")
    fig, (ax,) = panels([""], independent, height=3.2)
    for color, marker, (m, line) in zip(SHADES, "osD", independent.groupby("directions", sort=True), strict=False):
        _derived(ax, line, "energy", "1 direction" if m == 1 else f"{m} directions", color, marker)
        ax.axhline(line["whole"].iloc[0], color=color, linestyle=(0, (4, 2)), linewidth=1)
        ax.axvline(line["threshold"].iloc[0], color=color, linestyle=(0, (1, 2)), linewidth=1)
    ax.set_xlabel("share of the gradient's energy in the span of G, φ")
    ax.set_ylabel("relative squared error, best scaled\n(points ± 3 standard errors)")
    legend(fig, [ax])
    return fig


@styled
def advance_against_candidates(table: pd.DataFrame) -> Drawing:
    """Mean advance of a noise-free round against the number of candidates, with a line for each dimension.

    Args:
        table: from `audits.advance_figure`.
    """
    fig, (ax,) = panels([""], table, height=3.0)
    for color, marker, (size, line) in zip(SHADES, "osD", table.groupby("null_dimension", sort=True), strict=False):
        _derived(ax, line.sort_values("candidates"), "candidates", f"d′ = {size}", color, marker)
    ax.set_xlabel("candidates m")
    ax.set_ylabel("advance along the gradient / α\n(points ± 3 standard errors)")
    legend(fig, [ax])
    return fig


@styled
def losers_against_margin(table: pd.DataFrame) -> Drawing:
    """Odds of the gradient's energy in the span of losers, over the odds by chance, against the margin of losing.

    Args:
        table: from `audits.loser_figure`.
    """
    fig, (ax,) = panels([""], table, height=3.0)
    _derived(ax, table.sort_values("margin"), "margin", "odds over chance", SHADES[0], "o")
    ax.axhline(1.0, color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)), label="by chance")
    ax.set_xlabel("a direction loses when its cosine is below")
    ax.set_ylabel("odds of φ, relative to chance\n(points ± 3 standard errors)")
    legend(fig, [ax])
    return fig


@styled
def illustration(data: Mapping[str, np.ndarray]) -> Drawing:
    """The paper's Figure 1 in two dimensions, with panels for null space, preselection and tie breaking.

    Args:
        data: from `illustration.figure_1`: the current ranker, directions tried before and which lost,
            the worst and the null space's direction, documents and candidate directions with their preselection and
            whether they reorder the query, tied rankers with their NDCG on the hardest recorded queries and the winner.
    """
    w, blue, red = data["current"], LEARNERS["MGD"].color, LEARNERS["NSGD"].color
    best = data["preselection"].argmax()
    others = np.arange(len(data["candidates"])) != best
    won, ndcg = int(data["winner"]), data["tied_ndcg"].mean(axis=0)
    arrows = [
        ("null space", "tried, did not lose", data["tried"][~data["lost"]], "#a8a8a8", 1.2),
        ("null space", "lost", data["tried"][data["lost"]], "#e3a59b", 1.2),
        ("null space", "worst of the lost", data["loser"][None], red, 1.8),
        ("null space", "null space of the worst", np.stack([data["null"], -data["null"]]), blue, 1.8),
        ("preselection", "same order", data["candidates"][others & ~data["reorders"]], "#a8a8a8", 1.2),
        ("preselection", "another order", data["candidates"][others & data["reorders"]], "#8fbbd9", 1.2),
        ("preselection", "largest preselection", data["candidates"][[best]], blue, 1.8),
        ("tie breaking", f"tied, NDCG {ndcg[1 - won]:.2f} on hard queries", data["tied"][[1 - won]] - w, QUIET, 1.2),
        ("tie breaking", f"tied, NDCG {ndcg[won]:.2f}: wins", data["tied"][[won]] - w, blue, 1.8),
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
