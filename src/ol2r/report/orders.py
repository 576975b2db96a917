"""Figures of certain and uncertain orders, which PairRank's and olRankNet's papers draw as their first two.

An order is certain if its interval lies on one side of ½. This module knows no learner.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ol2r.report.style import BLUE, INK, RED, Drawing, legend, panels, styled

CERTAIN, UNCERTAIN = BLUE, RED


def order_graph(ax: Axes, certain: np.ndarray, names: Sequence[str]) -> None:
    """Documents on a circle, clockwise from the top: arrows are certain orders, broken lines uncertain ones.

    Args:
        certain: whether document i is certainly above j, Bool[documents, documents].
    """
    n = len(certain)
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    place = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for i in range(n):
        for j in range(i + 1, n):
            sure = bool(certain[i, j] or certain[j, i])
            ends = (place[i], place[j]) if certain[i, j] or not sure else (place[j], place[i])
            edge(ax, *ends, sure)
    nodes(ax, place, names)
    ax.plot([], [], color=CERTAIN, label="certain order")
    ax.plot([], [], color=UNCERTAIN, linestyle=(0, (3, 2)), label="uncertain order")


def edge(ax: Axes, start: np.ndarray, end: np.ndarray, certain: bool) -> None:
    """An arrow from the better document where the order is certain, a broken line where it is not."""
    if certain:
        arrow = {"arrowstyle": "-|>", "color": CERTAIN, "shrinkA": 11, "shrinkB": 11, "linewidth": 1.1}
    else:
        arrow = {"arrowstyle": "-", "color": UNCERTAIN, "linestyle": (0, (3, 2)), "shrinkA": 11, "shrinkB": 11,
                 "linewidth": 1.6}  # fmt: skip
    ax.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=arrow)


def nodes(ax: Axes, place: np.ndarray, names: Sequence[str]) -> None:
    """Documents, or sets of them, by name, each in its place, Float[names, 2]."""
    ax.plot(*place.T, linestyle="", marker="")  # annotations alone do not set the limits
    for at, name in zip(place, names, strict=True):
        ax.annotate(name, at, ha="center", va="center", bbox={"boxstyle": "round", "fc": "white", "ec": INK, "lw": 0.8})


@styled
def rank_orders(table: pd.DataFrame) -> Drawing:
    """Figure 2 from a run: estimates σ̂ ± CB of all pairs of one query, the two that are compared in full ink.

    Args:
        table: from `figure_2` of the chapter's `illustration`.
    """
    fig, (ax,) = panels([""], table, height=3.2)
    ax.axhline(0.5, color=INK, linewidth=0.9)
    for sure, color, mark, word in ((True, CERTAIN, "o", "certain"), (False, UNCERTAIN, "s", "uncertain")):
        for picked, alpha in ((False, 0.35), (True, 1.0)):
            own = table[(table["certain"] == sure) & ((table["shown"] != "") == picked)]
            if len(own):
                told = f"{word}: {own['pair'].iloc[0]}" if picked else f"{word} rank orders"
                ax.errorbar(
                    own.index, own["estimate"], own["half"], linestyle="", marker=mark, color=color, alpha=alpha,
                    elinewidth=2 if picked else 1, capsize=3 if picked else 0, label=told,
                )  # fmt: skip
    ax.set_xlabel("pairs of one query, by estimate")
    ax.set_ylabel("σ̂ ± CB: preference of\nthe document of higher score")
    legend(fig, [ax])
    return fig
