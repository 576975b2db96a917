"""Figures that only the PairRank chapter draws: worked examples, blocks, and the cost of a round.

Figures that other chapters draw as well are in `ol2r.report.figures`. Frames are as there, and this module knows no
learner either.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from ol2r.experiments.claims import label
from ol2r.experiments.effects import at_own_end, summarize, windowed
from ol2r.report import alt
from ol2r.report.figures import INTERVAL
from ol2r.report.grammar import BAND, MARKERS, Facet, Grid, by_data, lines, place, registered, shades, together
from ol2r.report.orders import edge, nodes, order_graph
from ol2r.report.orders import rank_orders as rank_orders  # a figure of this chapter as well
from ol2r.report.style import (
    BLUE,
    INK,
    LEARNERS,
    ORANGE,
    QUIET,
    RED,
    SKY,
    TEAL,
    USERS,
    Drawing,
    legend,
    panels,
    styled,
)

if TYPE_CHECKING:
    from ol2r.papers.pairrank.illustration import Divided, Example

SHADES = (BLUE, SKY, TEAL, ORANGE, RED)

CASE = ["dataset", "variant", "users"]


def _per_window(
    frame: pd.DataFrame, total: str, per: str, width: int | None = None, ends: Sequence[int] | None = None
) -> pd.DataFrame:
    """Mean over runs of each window's increase: `CASE`, since, round, mean, deviation, n, low, high, and the middle of
    the window; of the windows that end at the rounds `ends` (None: of all)."""
    if frame[[*CASE, "cell"]].drop_duplicates().duplicated(CASE).any():
        raise ValueError("more than one setting of the same variant: choose one before drawing")
    kept = [*CASE, "cell", "fold", "seed", "round", "status", total, per]  # few columns are sorted faster than all
    grown = windowed(frame[[name for name in kept if name in frame]], total, per, width)
    grown = grown if ends is None else grown[grown["round"].isin(ends)]
    table = summarize(grown, "value", [*CASE, "since", "round"]).dropna(subset=["mean"])
    return table.assign(middle=(table["since"] + 1 + table["round"]) / 2)


def sizes_at_ranks(
    frame: pd.DataFrame, ranks: Sequence[int] = (1, 5, 10), ends: Sequence[int] | None = None
) -> pd.DataFrame:
    """Size of the block that holds each rank, window by window, in the lists that are as long: mean over runs.

    Args:
        frame: runs with `round` and the cumulative `size_r` and `lists_r` of every rank r.
        ranks: the ranks to take.
        ends: the rounds in which the windows to take end (None: all).

    Returns:
        dataset, variant, users, rank, since and round (the window's rounds are since + 1 … round), middle, mean,
        deviation, n, low, high.
    """
    parts = [_per_window(frame, f"size_{r}", f"lists_{r}", ends=ends).assign(rank=r) for r in ranks]
    return pd.concat(parts, ignore_index=True)


def reach(frame: pd.DataFrame) -> pd.DataFrame:
    """How many of the lists that were ranked have a document at each recorded rank, over all runs and rounds.

    Args:
        frame: runs with `round` and the cumulative `rounds` and `lists_r` of every rank r.

    Returns:
        dataset, rank, share (of the lists).
    """
    ends = at_own_end(frame)
    named = {name: int(name.removeprefix("lists_")) for name in ends.columns if name.startswith("lists_")}
    sums = ends.groupby("dataset", sort=False)[["rounds", *named]].sum()
    shares = sums[list(named)].div(sums["rounds"], axis=0).rename(columns=named)
    return shares.melt(var_name="rank", value_name="share", ignore_index=False).reset_index()


@styled
def block_sizes(frame: pd.DataFrame, ranks: Sequence[int] = (1, 5, 10)) -> Drawing:
    """Size of the block that holds the top ranks against rounds, both axes logarithmic.

    There is a row of panels for each data set and variant, and a column for each kind of user; mean and 95 % interval
    over runs of the means of each window between checkpoints.
    """
    table = sizes_at_ranks(frame, ranks).sort_values("round", kind="stable")
    names = by_data(frame).titles
    cases = {
        (name, each): f"{names[name]}\n{each}"
        for name in names
        for each in LEARNERS.ordered(frame.loc[frame["dataset"] == name, "variant"])
    }
    drawn = _of_blocks(table).assign(case=together(table, "dataset", "variant"))
    return lines(
        drawn, "middle", "mean", [shades("rank", {rank: f"rank {rank}" for rank in ranks}, SHADES)],
        Grid(Facet("users", {user: user for user in USERS.ordered(table["users"])}), Facet("case", cases), 2.1),
        spread=BAND, axis={"xscale": "log", "yscale": "log", "xlabel": "round (middle of the window)"},
        ylabel=f"documents in the block\n({INTERVAL})", shown=table,
        says=alt.ends(_named_ranks(table), "rank", "documents in the block", CASE),
    )  # fmt: skip


def _of_blocks(table: pd.DataFrame) -> pd.DataFrame:
    """The table with intervals that no block is below: it has a document."""
    return table.assign(**{end: table[end].clip(lower=1.0) for end in ("low", "high")})


def _named_ranks(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(rank="rank " + table["rank"].astype(str))


def sizes_by_rank(frame: pd.DataFrame, rounds: Sequence[int]) -> pd.DataFrame:
    """Size of the block that holds each rank, in the windows that end at some rounds: as `sizes_at_ranks`."""
    ranks = sorted(int(name.removeprefix("size_")) for name in frame.columns if name.startswith("size_"))
    return sizes_at_ranks(frame, ranks, rounds)


def _by_variant(frame: pd.DataFrame) -> Grid:
    """A row of panels for each data set and a column for each variant."""
    down = by_data(frame)
    across = Facet("variant", {each: each for each in LEARNERS.ordered(frame["variant"])})
    return Grid(across, down, 2.1 if len(down.titles) > 1 else 2.6)


@styled
def block_profile(frame: pd.DataFrame, rounds: Sequence[int] = (10, 100, 500, 1000, 5000)) -> Drawing:
    """Size of the block at every rank on a logarithmic axis, a line for each of several windows of rounds.

    There is a row of panels for each data set and a column for each variant. A vertical line stands at the last
    recorded rank that every list has: only up to it are ranks compared over the same lists.

    Args:
        frame: as for `sizes_at_ranks` with all ranks and for `reach`, one kind of user.
        rounds: where the windows end; those that are no checkpoint are left out.
    """
    if len(frame["users"].unique()) != 1:
        raise ValueError("a profile shows one kind of user")
    recorded = frame["round"].unique()
    table = sizes_by_rank(frame, [r for r in rounds if r in recorded] or [max(recorded)])
    windows = dict(sorted(set(zip(table["round"], table["since"], strict=True))))
    whole = reach(frame).query("share == 1").groupby("dataset")["rank"].max()
    last = table[table["round"] == max(windows)]
    return lines(
        _of_blocks(table), "rank", "mean",
        [shades("round", {end: f"rounds {int(since) + 1} – {int(end)}" for end, since in windows.items()}, SHADES)],
        _by_variant(frame), spread=BAND, axis={"yscale": "log"}, finish=[lambda ax, _: ax.set_xlabel("rank")],
        over=[lambda ax, own: place(whole[own["dataset"].iloc[0]], label="last rank of every list")(ax, own)],
        ylabel=f"documents in the block\n({INTERVAL})", shown=table, ncols=3,
        says=alt.ends(_named_ranks(last), "rank", "documents in the block", ["dataset", "variant"]),
    )  # fmt: skip


@styled
def block_counts(frame: pd.DataFrame, width: int = 200) -> Drawing:
    """Number of blocks of a list, averaged over every `width` rounds, with a line for each kind of user.

    There is a row of panels for each data set and a column for each variant.

    Args:
        frame: runs with `round` and the cumulative `blocks` and `rounds`.
        width: rounds of a window.
    """
    table = _per_window(frame, "blocks", "rounds", width).sort_values("round", kind="stable")
    return lines(
        table, "middle", "mean", [registered("users", USERS, table["users"])], _by_variant(frame), spread=BAND,
        axis={}, finish=[lambda ax, _: ax.set_xlabel("round (middle of the window)")],
        ylabel=f"blocks of a list\n({INTERVAL})",
        says=alt.ends(table, "users", "blocks of a list", ["dataset", "variant"]),
    )  # fmt: skip


def cost_of_rounds(frame: pd.DataFrame) -> pd.DataFrame:
    """What one round of one replica costs, in each window between checkpoints.

    Args:
        frame: of one learner's timing: dataset, round, replicas (side by side), the cumulative `rank_seconds` and
            `update_seconds` of the whole batch, `passes` and `refits`, and the `distinct_pairs` so far.

    Returns:
        dataset, round (end of the window), middle (of the window), distinct_pairs, ranking and learning (milliseconds a
        round and replica), passes (over the history, a refit).
    """
    frame = frame.assign(replica_rounds=frame["round"] * frame["replicas"])
    ends = windowed(frame, "rank_seconds", "replica_rounds")
    columns = {
        "middle": (ends["since"] + 1 + ends["round"]) / 2,
        "ranking": 1e3 * ends["value"],
        "learning": 1e3 * windowed(frame, "update_seconds", "replica_rounds")["value"],
        "passes": windowed(frame, "passes", "refits")["value"],
    }
    table = ends[["dataset", "round", "distinct_pairs"]].assign(**columns)
    return table.groupby(["dataset", "round"], sort=False).mean().reset_index()


def costs(frame: pd.DataFrame) -> pd.DataFrame:
    """What all rounds of each data set cost, and how learning grew with the history.

    Args:
        frame: as for `cost_of_rounds`.

    Returns:
        By data set: replicas (side by side), rounds, speed (rounds a second of each replica), passes (a refit, in the
        window with most), first and last (milliseconds of learning for a thousand distinct pairs, in these windows).
    """
    by_window = cost_of_rounds(frame)
    windows = by_window.assign(thousand=1e3 * by_window["learning"] / by_window["distinct_pairs"]).groupby("dataset")
    runs = frame[frame["round"] == frame.groupby("dataset")["round"].transform("max")]
    ends = runs.groupby("dataset")[["round", "replicas", "rank_seconds", "update_seconds"]].mean()
    return pd.DataFrame({
        "replicas": ends["replicas"], "rounds": ends["round"],
        "speed": ends["round"] / (ends["rank_seconds"] + ends["update_seconds"]), "passes": windows["passes"].max(),
        "first": windows["thousand"].first(), "last": windows["thousand"].last(),
    })  # fmt: skip


@styled
def round_cost(frame: pd.DataFrame, most_passes: float = 4.0) -> Drawing:
    """Cost of a round against rounds, of learning against the history's distinct pairs, and the passes of a refit.

    Args:
        most_passes: the limit that is drawn in the third panel.
    """
    table = cost_of_rounds(frame)
    names = {"learning": "-", "ranking": (0, (1.5, 1.2))}
    fig, (by_round, by_pairs, passes) = panels(["a round", "learning", "passes of a refit"], table, 3.4, sharey=False)
    for k, (name, own) in enumerate(table.groupby("dataset", sort=False)):
        style = {"color": SHADES[k], "marker": MARKERS[k], "markevery": max(1, len(own) // 6)}
        by_round.plot(own["middle"], own["learning"], label=label(str(name)), **style)
        by_round.plot(own["middle"], own["ranking"], ls=names["ranking"], **style)
        by_pairs.plot(own["distinct_pairs"], own["learning"], **style)
        passes.plot(own["middle"], own["passes"], **style)
    for name, line in names.items():
        by_round.plot([], [], color=INK, ls=line, label=name)
    passes.axhline(most_passes, color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)))
    for ax in (by_round, by_pairs, passes):
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(3))
        ax.xaxis.set_major_formatter("{x:,.0f}")
    by_round.set(xlabel="round", ylabel="milliseconds a round and replica")
    by_pairs.set(xlabel="distinct pairs so far")
    passes.set(xlabel="round", ylabel="passes over the history")
    legend(fig, [by_round], ncols=2)
    told = {
        "learning": "the time of learning in milliseconds",
        "ranking": "the time of ranking in milliseconds",
        "passes": "the number of passes of a refit",
    }
    named = table.assign(dataset=table["dataset"].map(label))
    fig.alt = " ".join(
        alt.courses(named, "dataset", what, [], "round", "the round", y=column) for column, what in told.items()
    )
    return fig


@styled
def divided(at: "Divided") -> Drawing:
    """The documents of a query at their scores, an arc over each uncertain pair, and the blocks that these make."""
    block_of = {document: number for number, block in enumerate(at.blocks, 1) for document in block}
    table = pd.DataFrame({"document": list(block_of), "score": at.scores, "block": list(block_of.values())})
    fig, (ax,) = panels([""], table, 1.7)
    fig.set_figwidth(4.6)
    reach = np.ptp(at.scores)
    for block in at.blocks:
        left, right = at.scores[block[-1]] - 0.025 * reach, at.scores[block[0]] + 0.025 * reach
        ax.add_patch(Rectangle((left, -0.12), right - left, 0.24, facecolor=SKY, alpha=0.35))
    t = np.linspace(0, 1, 20)
    for i, j in zip(*np.nonzero(np.triu(~at.certain, 1)), strict=True):
        x = at.scores[i] + t * (at.scores[j] - at.scores[i])
        ax.plot(x, 0.15 + 3.4 * t * (1 - t) * (at.scores[i] - at.scores[j]) / reach, color=ORANGE, linewidth=1)
    ax.plot(at.scores, np.zeros(len(at.scores)), "o", color=INK, markersize=5)
    ax.set(ylim=(-0.2, 1.1), yticks=[], xlabel="estimated score")
    ax.spines["left"].set_visible(False)
    n_uncertain = int(np.triu(~at.certain, 1).sum())
    sizes = ", ".join(str(len(block)) for block in at.blocks)
    fig.alt = f"Uncertain pairs: {n_uncertain}. Documents in the blocks, from the top: {sizes}."
    return fig


@styled
def divide_and_conquer(example: "Example", examples: Mapping[str, int]) -> Drawing:
    """Figure 1 recomputed: certain and uncertain orders, blocks, and the chance of each regret under both shuffles.

    Args:
        examples: by shuffle, the regret of the list that is shown of it.
    """
    certain, blocks, lists = example
    fig, axes = panels(["documents", "blocks", "two of the lists", "all lists"], lists, 3.0, sharey=False)
    documents, parts, ranked, regrets = axes
    order_graph(documents, certain, [str(i + 1) for i in range(len(certain))])
    column = np.stack([np.zeros(len(blocks)), -np.arange(len(blocks), dtype=float)], axis=1)
    for above, below in pairwise(column):
        edge(parts, above, below, True)
    nodes(parts, column, ["{" + ", ".join(str(i + 1) for i in block) + "}" for block in blocks])
    for x, (shuffle, told) in enumerate(examples.items()):
        shown = lists[(lists["shuffle"] == shuffle) & (lists["regret"] == told)]["list"].iloc[-1].split()
        nodes(ranked, np.stack([np.full(len(shown), float(x)), -np.arange(len(shown), dtype=float)], axis=1), shown)
        ranked.text(x, 0.8, shuffle, ha="center", fontsize=8.5)
        ranked.text(x, -len(shown), f"regret {told}", ha="center", fontsize=8.5)
    for ax, margin in ((documents, 0.2), (parts, 0.6), (ranked, 0.35)):
        ax.margins(margin)
        ax.set_axis_off()
        if ax is not ranked:
            ax.set_aspect("equal", adjustable="datalim")
    chances = lists.groupby(["shuffle", "regret"])["probability"].sum()
    for shuffle, shift, look in (
        ("random", -0.2, LEARNERS["PairRank_R"]),
        ("conservative", 0.2, LEARNERS["PairRank_C"]),
    ):
        own = chances[shuffle]
        hatch = "///" if shuffle == "random" else ""
        regrets.bar(own.index + shift, own, 0.38, color=look.color, hatch=hatch, edgecolor="white", label=shuffle)
    regrets.set(xlabel="misordered pairs", ylabel="probability")
    regrets.set_xticks(range(int(lists["regret"].max()) + 1))
    legend(fig, [documents, regrets], ncols=4)
    return fig
