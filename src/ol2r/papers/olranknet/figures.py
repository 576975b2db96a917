"""Figures that only the olRankNet chapter draws: certain orders, full against diagonal covariance, width, speed.

Figures that other chapters draw as well are in `ol2r.report.figures`. Frames have one line for each run and checkpoint
with a column `variant`; they are aggregated first, as there. This module knows no learner.
"""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.experiments.effects import at_own_end, minus, summarize, windowed
from ol2r.papers.olranknet.claims import LAST, LONG_ITEM, OFFLINE_ITEM, OURS, ROUNDS, weight
from ol2r.report import alt, figures
from ol2r.report import leads as end
from ol2r.report.figures import INTERVAL
from ol2r.report.style import BETWEEN, CHOICES, LEARNERS, USERS, Drawing, Look, Looks, legend, panels, spelled, styled
from ol2r.report.tables import Pairs

OFFLINE, IN_LISTS = "offline NDCG@10", "NDCG@10 of the shown lists"
PLACE = ["dataset", "users"]


def in_lists(frame: pd.DataFrame) -> pd.DataFrame:
    """Runs with `in_lists`, the mean NDCG@10 of the lists shown so far, in which round t counts γ^(t−1) times.

    Rows of round 0, when nothing was shown yet, are left out.

    Args:
        frame: runs with round and cndcg; it may be empty.
    """
    if frame.empty:
        return frame
    started = frame[frame["round"] > 0]
    return started.assign(in_lists=started["cndcg"] / weight(started["round"]))


def share_of_certain(frame: pd.DataFrame) -> pd.DataFrame:
    """Share of certain orders among the pairs of shown documents, in each window between two checkpoints.

    Args:
        frame: runs with the cumulative `certain_pairs` and `shown_pairs`.

    Returns:
        The frame's lines at the ends of the windows with `share` (NaN where no pair was shown), and with the middle of
        the window as `round`.
    """
    windows = windowed(frame, "certain_pairs", "shown_pairs")
    return windows.rename(columns={"value": "share"}).assign(round=(windows["since"] + 1 + windows["round"]) / 2)


def last_share(frame: pd.DataFrame) -> pd.DataFrame:
    """Every run's last line, with the share of certain orders in the last fifth of its rounds as `share`.

    The fifth begins at the last checkpoint that is not after four fifths of the rounds.

    Args:
        frame: runs of equal length with the cumulative `certain_pairs` and `shown_pairs`.
    """
    last = frame["round"].max()
    since = frame.loc[frame["round"] <= LAST[0] * last, "round"].max()
    kept = windowed(frame[frame["round"].isin((since, last))], "certain_pairs", "shown_pairs")
    return at_own_end(kept).rename(columns={"value": "share"})


def leads(
    frame: pd.DataFrame, baseline: str, by: str = "variant", variants: Sequence[str] | None = None
) -> pd.DataFrame:
    """What every other variant has more than a baseline at the end, offline and in the shown lists.

    Args:
        frame: runs with ndcg and cndcg.
        baseline: the value of `by` that the others are compared with.
        variants: the values of `by` to show, in their order (None: all, in the frame's order).

    Returns:
        dataset, users, row (the value of `by`), panel (`OFFLINE` or `IN_LISTS`), mean, low, high, n.
    """
    return end.leads(_scores(frame), baseline, by, variants)


def leads_over_users(frame: pd.DataFrame, baseline: str, variant: str) -> pd.DataFrame:
    """The lead of one variant at the end, as `leads`, of each run's mean over its kinds of users.

    Args:
        frame: runs with ndcg, cndcg and variant, of the same users for both variants; it may be empty.
    """
    own = frame[frame["variant"].isin((baseline, variant))] if len(frame) else frame
    if own.empty or set(own["variant"]) != {baseline, variant}:
        return end.NO_LEADS
    means = own.groupby(["dataset", "variant", "fold", "seed", "round"], sort=False)[["ndcg", "cndcg"]].mean()
    return leads(means.reset_index().assign(users=_ALL_USERS), baseline, variants=(variant,))


_ALL_USERS = "all"


def worth(frame: pd.DataFrame, parts: Mapping[str, tuple[str, str]], by: str) -> pd.DataFrame:
    """What each part of a learner is worth at the end: the runs that have it minus the same runs without it.

    Args:
        frame: runs with ndcg and cndcg.
        parts: by name, the value of `by` that has the part, and the value that is without it.

    Returns:
        As `leads`, `row` being the part; without the parts of which the frame lacks either runs.
    """
    of = {name: frame[frame[by].isin(ways)] for name, ways in parts.items()} if len(frame) else {}
    tables = [
        leads(of[name], without, by, (has,)).assign(row=name)
        for name, (has, without) in parts.items()
        if name in of and {has, without} <= set(of[name][by])
    ]
    return pd.concat(tables, ignore_index=True) if tables else end.NO_LEADS


def _scores(frame: pd.DataFrame) -> end.Scores:
    return {OFFLINE: (frame, "ndcg"), IN_LISTS: (in_lists(frame), "in_lists")}


def leads_on_each(frame: pd.DataFrame, baseline: str, variants: Sequence[str]) -> dict[str, Pairs]:
    """The same leads on every data set, for `report.tables.paired_differences`.

    Args:
        frame: runs with ndcg, cndcg and variant.
        baseline: the variant that the others are compared with.
        variants: the variants to show; those without runs are left out.
    """
    shown = [each for each in variants if each in set(frame["variant"])]
    return {
        panel: {
            spelled(each): (own[own["variant"] == each], own[own["variant"] == baseline], column)
            for each in shown
        }
        for panel, (own, column) in _scores(frame).items()
    }


def lead_dots(table: pd.DataFrame, baseline: str) -> Drawing:
    """The leads over a baseline at the end, with 95 % intervals.

    Args:
        table: from `leads`, of one data set.
        baseline: what the baseline is called on the axes.
    """
    return end.lead_dots(table, f"minus that of {baseline}")


@styled
def against_labels(table: pd.DataFrame, left: pd.DataFrame, baseline: str) -> Drawing:
    """A network's lead at the end against what labels leave to a network: a panel for each score, a named mark for each
    data set, with 95 % intervals both ways.

    Args:
        table: from `leads_over_users`; data sets that `left` lacks are left out.
        left: from `labels.at_the_end`.
        baseline: what the baseline is called on the axes.
    """
    x = left.set_index("dataset")[["mean", "low", "high"]].add_prefix("left_")
    own = table[table["dataset"].isin(x.index)].join(x, on="dataset")
    scores = list(dict.fromkeys(own["panel"]))
    fig, axes = panels(scores, own, height=3.6)
    for ax, score in zip(axes, scores, strict=True):
        lines = frames.records(own[own["panel"] == score].sort_values("left_mean", kind="stable"))
        for number, line in enumerate(lines):  # names stand on the outer side of their marks
            _cross(ax, line, LEARNERS[str(line["row"])], -1 if number < len(lines) / 2 else 1)
        for rule in (ax.axhline, ax.axvline):
            rule(0.0, color=figures.QUIET, linewidth=0.9)
        ax.margins(x=0.5)
        ax.set_xlabel("network − linear ranker, NDCG@10,\nboth fitted to labels")
    axes[0].set_ylabel(f"{spelled(str(own['row'].iloc[0]))},\nminus {baseline}")
    most = own.sort_values("left_mean", ascending=False, kind="stable")
    told = (
        f"{score} minus {baseline}: "
        + ", ".join(
            f"{alt.number(line['mean'])} on {label(str(line['dataset']))}"
            for line in frames.records(most[most["panel"] == score])
        )
        for score in scores
    )
    fig.alt = f"From the data on which labels leave a network most to those with the least, {'; '.join(told)}."
    return fig


def _cross(ax: Axes, line: Mapping[str, Any], look: Look, side: int) -> None:
    """A mark with intervals both ways, none where there are too few runs, and its data set's name left (−1) or right
    (1) of it."""
    at = line["left_mean"], line["mean"]
    across, along = (
        [[line[f"{of}mean"] - line[f"{of}low"]], [line[f"{of}high"] - line[f"{of}mean"]]] for of in ("left_", "")
    )
    ax.errorbar(
        *at, xerr=across, yerr=along, linestyle="", elinewidth=1, color=look.color, marker=look.marker,
        label=line["dataset"],
    )  # fmt: skip
    ax.annotate(
        "\n".join(wrap(label(str(line["dataset"])), 20)), at, (6 * side, 4), textcoords="offset points", fontsize=8,
        ha="right" if side < 0 else "left",
    )  # fmt: skip


@styled
def certain_curves(frame: pd.DataFrame, named: bool = False) -> Drawing:
    """Share of certain orders among the pairs of shown documents, window by window: mean and 95 % interval over runs.

    Args:
        frame: as for `share_of_certain`, with `variant`.
        named: whether to show the name of a single data set, too.
    """
    ylabel = f"certain orders among shown pairs\n({INTERVAL})"
    fig = figures.curves(share_of_certain(frame), "share", "variant", ylabel, named=named)
    for ax in fig.axes:
        ax.set_ylim(0, 1)
        ax.set_xlabel("round (middle of the window)")
    return fig


@styled
def covariance_curves(frame: pd.DataFrame, full: str, diagonal: str) -> Drawing:
    """What full covariance has more than its diagonal: offline, in the shown lists, and in certain orders.

    A line for each kind of user: mean and 95 % interval over runs of the paired differences.

    Args:
        frame: runs of one data set with ndcg, cndcg, certain_pairs and shown_pairs.
    """
    own = figures.one_dataset(frame[frame["variant"].isin((full, diagonal))])
    measures = {
        OFFLINE: (own, "ndcg"),
        IN_LISTS: (in_lists(own), "in_lists"),
        "share of certain orders": (share_of_certain(own), "share"),
    }
    parts = [
        summarize(minus(runs, column, diagonal, "variant"), column, ["users", "round"]).assign(panel=panel)
        for panel, (runs, column) in measures.items()
    ]
    table = pd.concat(parts, ignore_index=True).sort_values("round", kind="stable")
    fig, axes = panels(measures, table, height=3.0, sharey=False)
    for ax, panel in zip(axes, measures, strict=True):
        ax.axhline(0.0, color=figures.QUIET, linewidth=0.9)
        for user in USERS.ordered(table["users"]):
            figures.band(ax, table[(table["panel"] == panel) & (table["users"] == user)], USERS[user], user)
        ax.set_xlabel("round")
    axes[0].set_ylabel(f"full minus diagonal\n({INTERVAL})")
    legend(fig, axes)
    told = table.assign(panel=table["panel"] + ", full minus diagonal", users=table["users"] + " users")
    fig.alt = alt.ends_of_each(told, "users", "panel", [])
    return fig


@styled
def width_series(frame: pd.DataFrame) -> Drawing:
    """Offline NDCG@10 at the end and the share of certain orders in the last fifth, against the width m of the network.

    A line for each form of the covariance; mean and 95 % interval over runs.

    Args:
        frame: runs of one data set and one kind of users with the labels width and covariance.

    Raises:
        ValueError: there are several data sets or kinds of users.
    """
    if len(set(frame["users"])) != 1:
        raise ValueError("a series of widths shows one kind of users")
    ends = {
        OFFLINE: (at_own_end(figures.one_dataset(frame)), "ndcg"),
        "certain orders, last fifth": (last_share(frame), "share"),
    }
    parts = [
        summarize(runs, column, ["covariance", "width"]).assign(panel=panel) for panel, (runs, column) in ends.items()
    ]
    table = pd.concat(parts, ignore_index=True).sort_values("width", kind="stable")
    widths = sorted(table["width"].unique())
    fig, axes = panels(ends, table, height=2.9, sharey=False)
    for ax, panel in zip(axes, ends, strict=True):
        for name in CHOICES.ordered(table["covariance"]):
            own = table[(table["panel"] == panel) & (table["covariance"] == name)]
            figures.band(ax, own, CHOICES[name], name, "width")
        ax.set_xscale("log")
        ax.set_xticks(widths, [f"{width:g}" for width in widths])
        ax.minorticks_off()
        ax.set_xlabel("width m")
    axes[0].set_ylabel(INTERVAL)
    legend(fig, axes)
    own = table.assign(covariance=table["covariance"].map({"full": "full covariance", "diagonal": "the diagonal"}))
    told = dict(zip(ends, (OFFLINE, "the share of certain orders in the last fifth"), strict=True))
    fig.alt = " ".join(
        alt.courses(own[own["panel"] == panel], "covariance", what, [], "width", "the width m")
        for panel, what in told.items()
    )
    return fig


def beside_far(far: pd.DataFrame, runs: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Long runs of neural PDGD and the paper's learners beside them, on the same folds: their runs of the paper's
    length, where there are some.

    Args:
        far: the long runs.
        runs: other runs with `variant` by item, `OFFLINE_ITEM` and `LONG_ITEM`; each may be empty.

    Returns:
        The long runs, the others, and the item of the latter.
    """
    short, longer = runs[OFFLINE_ITEM], runs[LONG_ITEM]
    item = LONG_ITEM if len(short) and len(longer) and short["round"].max() < ROUNDS else OFFLINE_ITEM
    ends = runs[item]
    if not len(far) or not len(ends):
        return far, ends, item
    ends = ends[ends["variant"].isin(OURS)]
    return far[far["fold"].isin(ends["fold"])], ends, item


@styled
def far_curves(frame: pd.DataFrame, looks: Looks = LEARNERS) -> Drawing:
    """Offline NDCG@10 against rounds on a logarithmic axis, of runs of different lengths.

    Args:
        frame: as for `report.figures.learning_curves`; round 0 has no place on the axis.
    """
    fig = figures.learning_curves(frame[frame["round"] > 0], by="variant", looks=looks)
    for ax in fig.axes:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:,.0f}")
    return fig


def speeds(frame: pd.DataFrame) -> pd.DataFrame:
    """Rounds a second of one replica, in each window between checkpoints.

    Args:
        frame: of `Timing` cells: dataset, variant, round, replicas, and the cumulative `rank_seconds` and
            `update_seconds` of the whole batch.

    Returns:
        dataset, variant, round (end of the window), middle (of the window), ranking and learning (milliseconds a
        round), speed (rounds a second).
    """
    own = frame.assign(replica_rounds=frame["round"] * frame["replicas"])
    ranking, learning = (windowed(own, name, "replica_rounds") for name in ("rank_seconds", "update_seconds"))
    seconds = ranking["value"] + learning["value"]
    columns = {
        "middle": (ranking["since"] + 1 + ranking["round"]) / 2,
        "ranking": 1e3 * ranking["value"],
        "learning": 1e3 * learning["value"],
        "speed": 1 / seconds,
    }
    table = ranking[["dataset", "variant", "round"]].assign(**columns)
    return table.groupby(["dataset", "variant", "round"], sort=False).mean().reset_index()


@styled
def speed_curves(frame: pd.DataFrame) -> Drawing:
    """Rounds a second against rounds on a logarithmic axis, and the milliseconds of a round that ranking takes.

    Args:
        frame: as for `speeds`, of one data set.
    """
    table = speeds(figures.one_dataset(frame))
    fig, (whole, part) = panels(["whole round", "ranking alone"], table, height=2.9, sharey=False)
    for name in LEARNERS.ordered(table["variant"]):
        own, look = table[table["variant"] == name], LEARNERS[name]
        style = {"color": look.color, "marker": look.marker, "ls": look.line, "markevery": max(1, len(own) // 6)}
        whole.plot(own["middle"], own["speed"], label=name, **style)
        part.plot(own["middle"], own["ranking"], **style)
    for ax, ylabel in ((whole, "rounds a second"), (part, "milliseconds a round")):
        ax.set(xlabel="round (middle of the window)", ylabel=ylabel, yscale="log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("{x:g}")
        ax.yaxis.set_minor_locator(LogLocator(subs=BETWEEN))
    legend(fig, [whole])
    fig.alt = alt.ends(table, "variant", "rounds a second", [], y="speed")
    return fig


def by_alpha(scores: pd.DataFrame, grid: str) -> tuple[pd.DataFrame, Mapping[str, tuple[str, str]]]:
    """A tuning grid of three hyper-parameters as one heat map of λ and the learning rate η for each α.

    Args:
        scores: from `ol2r.experiments.tuning.marked`, by "grid".

    Returns:
        The grid's scores with the column `panel`, and the axes of each panel, as `tuning_grid` takes them.
    """
    own = scores[scores["grid"] == grid].sort_values("alpha", kind="stable")
    own = own.assign(panel=[f"α = {alpha:g}" for alpha in own["alpha"]])
    return own, dict.fromkeys(own["panel"], ("regularization", "rate"))
