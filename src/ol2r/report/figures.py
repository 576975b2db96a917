"""Figures of results: every function takes a tidy frame and returns a drawing.

Frames have one line for each run and checkpoint: dataset, users, the label columns of their cells, fold, seed, round
and what was measured. Every function aggregates first, keeps the aggregate as the drawing's `table`, and draws nothing
else. Captions say what a figure is; axes say what is plotted, in which unit and with which dispersion. This module
knows no learner.
"""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import cast

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from ol2r import frames
from ol2r.data import is_own
from ol2r.experiments.claims import label
from ol2r.experiments.effects import at_end, minus, summarize
from ol2r.report import alt
from ol2r.report.style import (
    INK,
    LEARNERS,
    QUIET,
    RED,
    USERS,
    Drawing,
    Look,
    Looks,
    TooManyPanels,
    in_parts,
    legend,
    panels,
    spelled,
    stacked,
    styled,
)
from ol2r.report.tables import GAP, number

INTERVAL = "mean, 95 % interval over runs"
OFFLINE = "offline RankNet"
SOURCES = ("s", "o", "D", "^", "v")
"""Marks of printed numbers, which come first, and of ours on each data set."""
BEST = RED
SYMBOLS = {"alpha": "α", "regularization": "λ", "epsilon": "ε", "delta": "δ", "noise": "ν²", "rate": "η"}


def one_dataset(frame: pd.DataFrame) -> pd.DataFrame:
    """A figure's runs, which are of one data set.

    Raises:
        TooManyPanels: there are several, of which each needs a drawing of its own, or none.
    """
    names = frame["dataset"].unique()
    if len(names) != 1:
        raise TooManyPanels(f"a figure shows one data set, not {', '.join(names) or 'none'}")
    return frame


def name_of(frame: pd.DataFrame) -> str:
    """The label of a figure's only data set."""
    return label(one_dataset(frame)["dataset"].iloc[0])


def _line(ax: Axes, table: pd.DataFrame, x: str, y: str, label: str, look: Look, marks: int | None = None) -> None:
    """Draw one line in a look; `marks` is the number of markers along it (None: a marker at every point)."""
    every = None if marks is None else max(1, len(table) // marks)
    ax.plot(table[x], table[y], color=look.color, marker=look.marker, linestyle=look.line, label=label, markevery=every)


def _rows(
    frame: pd.DataFrame, users: list[str], table: pd.DataFrame, named: bool, more: float
) -> tuple[Drawing, dict[str, list[Axes]]]:
    """A row of panels for each data set of the frame, a column for each kind of user; `more` inches for the legend."""
    datasets = list(frame["dataset"].unique())
    if not named:
        fig, axes = panels(users, table, height=3.0 + more)
        return fig, {datasets[0]: axes}
    fig, rows = stacked(datasets, users, table, height=2.1 + more / len(datasets))
    for name, axes in zip(datasets, rows, strict=True):
        axes[0].set_ylabel("\n".join(wrap(label(name), 24)))
    return fig, dict(zip(datasets, rows, strict=True))


def _curves(
    frame: pd.DataFrame,
    column: str,
    by: str,
    ylabel: str,
    *,
    spread: bool = False,
    looks: Looks = LEARNERS,
    reference: Mapping[str, float] | None = None,
    named: bool = False,
) -> Drawing:
    """Panels by users (and rows by data set), with a line for each value of `by`: the mean with its interval or, if
    `spread`, the deviation. The score of the offline reference is drawn as a level where it is given. With `named`, a
    single data set's name is shown too; the name of a reader's own data is always shown."""
    if frame.empty:
        raise ValueError("a figure shows at least one data set, not none")
    datasets = list(map(str, frame["dataset"].unique()))
    several = ["dataset"] * (named or len(datasets) > 1 or any(map(is_own, datasets)))
    table = summarize(frame, column, [*several, "users", by, "round"]).sort_values("round", kind="stable")
    order = [*USERS, *(kind for kind in table["users"].unique() if kind not in set(USERS))]
    users = [kind for kind in order if kind in set(table["users"])]
    offline = {name: (reference or {})[name] for name in frame["dataset"].unique() if name in (reference or {})}
    if offline:
        lines = [
            dict.fromkeys(several, name) | {"users": kind, by: OFFLINE, "mean": level}
            for name, level in offline.items()
            for kind in users
        ]
        table = pd.concat([table, pd.DataFrame(lines)], ignore_index=True)
    names = set(table[by].astype(str))
    ncols = 5 if max(map(len, names)) <= 20 else 4
    more = 0.25 * max(0, -(-len(names) // ncols) - 2)  # two lines of names fit without it
    fig, rows = _rows(frame, users, table, bool(several), more)
    for name, axes in rows.items():
        part = table[table["dataset"] == name] if several else table
        for ax, user in zip(axes, users, strict=True):
            own = part[(part["users"] == user) & (part[by] != OFFLINE)]
            for value in looks.ordered(own[by]):
                line, look = own[own[by] == value], looks[value]
                if spread:
                    _line(ax, line, "round", "deviation", value, look, marks=6)
                else:
                    band(ax, line, look, value)
            if name in offline:
                look = LEARNERS["RankNet"]
                ax.axhline(offline[name], color=look.color, linestyle=look.line, label=OFFLINE)
    every = [ax for axes in rows.values() for ax in axes]
    for ax in every[-len(users) :]:
        ax.set_xlabel("round")
    if several:
        fig.supylabel(ylabel, fontsize=9)
    else:
        every[0].set_ylabel(ylabel)
    legend(fig, every, ncols)
    drawn = table[table[by] != OFFLINE]
    what = f"{'standard deviation of ' if spread else ''}{alt.plain(ylabel)}"
    fig.alt = alt.ends(drawn, by, what, [*several, "users"], y="deviation" if spread else "mean")
    if offline:
        scores = (f"{alt.number(score)} on {label(name)}" for name, score in offline.items())
        fig.alt += f" {OFFLINE}: {', '.join(scores)}."
    return fig


@styled
def curves(
    frame: pd.DataFrame, column: str, by: str, ylabel: str, looks: Looks = LEARNERS, named: bool = False
) -> Drawing:
    """Any column against rounds: mean and 95 % interval over runs, panels as in `learning_curves`."""
    return _curves(frame, column, by, ylabel, looks=looks, named=named)


def band(ax: Axes, table: pd.DataFrame, look: Look, label: str, x: str = "round") -> None:
    """A line of means with its interval in a look; about six markers.

    Args:
        table: `x`, mean, low and high, in the order of `x`.
    """
    _line(ax, table, x, "mean", label, look, marks=6)
    ax.fill_between(table[x], table["low"], table["high"], color=look.color, alpha=0.18, linewidth=0)


@styled
def grouped_curves(
    frame: pd.DataFrame,
    column: str,
    groups: Mapping[str, Sequence[str]],
    what: str,
    by: str = "variant",
    beside: Sequence[str] | Mapping[str, Sequence[str]] = (),
    looks: Looks = LEARNERS,
) -> Drawing:
    """Any column against rounds on a logarithmic axis, a row of panels for each group of lines.

    Ten lines in one panel hide each other; each row has its own scale and legend. Means with 95 % intervals over runs,
    a panel for each kind of user.

    Args:
        frame: runs of one data set with users, round, `by` and the column; round 0 has no place on the axis.
        groups: by what a row is called, its values of `by`; those without runs are left out, and so is an empty row.
        beside: values of `by` that every row shows as thin lines without intervals, for comparison; or those of each
            row that has some.
    """
    dataset = name_of(frame)
    table = summarize(frame[frame["round"] > 0], column, ["users", by, "round"]).sort_values("round", kind="stable")
    users = [kind for kind in USERS if kind in set(table["users"])]
    present = set(table[by])
    rows = {name: [each for each in own if each in present] for name, own in groups.items()}
    rows = {name: own for name, own in rows.items() if own}
    thin = beside if isinstance(beside, Mapping) else dict.fromkeys(rows, beside)
    shown = [each for lines in (rows, thin) for own in lines.values() for each in own]
    fig, parts = in_parts(rows, users, table[table[by].isin(shown)].reset_index(drop=True))
    for (part, axes), (name, own) in zip(parts, rows.items(), strict=True):
        for ax, user in zip(axes, users, strict=True):
            lines = fig.table[fig.table["users"] == user]
            for value in looks.ordered(own):
                band(ax, lines[lines[by] == value], looks[value], value)
            for value in looks.ordered(present & set(thin.get(name, ())) - set(own)):
                line, look = lines[lines[by] == value], looks[value]
                ax.plot(line["round"], line["mean"], color=look.color, linestyle=look.line, linewidth=0.9, label=value)
            ax.set(xscale="log", xlabel="round")
            ax.xaxis.set_major_formatter("{x:,.0f}")
        axes[0].set_ylabel(f"{name}\n{what}, {dataset}")
        names = axes[0].get_legend_handles_labels()[1]
        legend(part, axes, 5 if len(names) <= 5 and len("".join(names)) <= 60 else 4)
    told = {name: fig.table[fig.table[by].isin([*own, *thin.get(name, ())])] for name, own in rows.items()}
    fig.alt = " ".join(alt.ends(own, by, f"{what}, {name}", ["users"]) for name, own in told.items())
    return fig


DIFFERENCE, VALUE = "difference", "value"
SINCE = 10
"""The first round of curves whose intervals would be as wide as the scale before it."""


@styled
def near_and_far(
    frame: pd.DataFrame,
    column: str,
    baseline: str,
    near: Sequence[str],
    far: Sequence[str],
    what: str,
    beside: Sequence[str] = (),
) -> Drawing:
    """Any column against rounds in two rows of panels: above, lines that would nearly coincide, as what each has more
    than a baseline, paired by run; below, the baseline and lines that are further from it, as they are.

    Means with 95 % intervals over runs, a panel for each kind of user, rounds from `SINCE` on, on a logarithmic axis.
    The drawing's table has the column `shown`: "difference" or "value".

    Args:
        frame: runs of one data set with users, fold, seed, round, variant and the column.
        baseline: the variant that is subtracted above.
        near, far: the variants of either row.
        beside: variants that the lower row shows as thin lines without intervals.
    """
    frame = frame[frame["round"] >= SINCE]
    differ = minus(frame[frame["variant"].isin((baseline, *near))], column, baseline, "variant")
    both = pd.concat([differ, frame[~frame["variant"].isin(near)]], ignore_index=True)
    rows = {f"difference to {baseline}": near, "values": (baseline, *far)}
    fig = grouped_curves(both, column, rows, what, beside={"values": beside})
    fig.table = fig.table.assign(shown=fig.table["variant"].isin(near).map({True: DIFFERENCE, False: VALUE}))
    if len(fig.subfigs) == len(rows):
        for ax in fig.subfigs[0].axes:
            ax.axhline(0.0, color=INK, linewidth=0.9)
    return fig


def levels(frame: pd.DataFrame, column: str = "test_ndcg") -> dict[str, float]:
    """The score of an offline ranker by data set: the mean over folds; empty without runs.

    Args:
        frame: dataset, fold, seed and the column, whose value may be repeated on several lines of a fit.
    """
    if frame.empty:  # a table without runs has no columns of scores
        return {}
    once = frame.drop_duplicates(["dataset", "fold", "seed"])
    return {str(name): float(score) for name, score in once.groupby("dataset", sort=False)[column].mean().items()}


@styled
def learning_curves(
    frame: pd.DataFrame,
    by: str = "learner",
    looks: Looks = LEARNERS,
    reference: Mapping[str, float] | None = None,
    named: bool = False,
) -> Drawing:
    """Offline NDCG@10 on held-out queries against rounds: mean and 95 % interval over runs.

    There is one panel for each kind of user, and a row of panels for each data set.

    Args:
        frame: columns dataset, users, round, ndcg and `by`.
        by: the label column that tells the lines apart ("variant" for an ablation).
        reference: the offline ranker's score by data set, drawn as a level.
        named: whether to show the name of a single data set, too.
    """
    return _curves(frame, "ndcg", by, f"offline NDCG@10\n({INTERVAL})", looks=looks, reference=reference, named=named)


@styled
def deviation_curves(frame: pd.DataFrame, named: bool = False) -> Drawing:
    """Standard deviation over runs of the offline NDCG@10 against rounds, with one panel for each kind of users."""
    ylabel = "offline NDCG@10\n(standard deviation over runs)"
    return _curves(frame, "ndcg", "learner", ylabel, spread=True, named=named)


@styled
def cumulative_curves(
    frame: pd.DataFrame, by: str = "learner", looks: Looks = LEARNERS, named: bool = False
) -> Drawing:
    """Discounted cumulative NDCG@10 against rounds: mean and 95 % interval over runs, panels as `learning_curves`."""
    return _curves(frame, "cndcg", by, f"discounted cumulative NDCG@10\n({INTERVAL})", looks=looks, named=named)


@styled
def cosine_curves(frame: pd.DataFrame, named: bool = False) -> Drawing:
    """Cosine of the learner's weights to the offline reference against rounds: mean and 95 % interval over runs."""
    return _curves(frame, "cosine", "learner", f"cosine to the offline reference\n({INTERVAL})", named=named)


def arms(table: pd.DataFrame) -> np.ndarray:
    """Lengths of error bars below and above the mean, [2, n]."""
    return np.stack([table["mean"] - table["low"], table["high"] - table["mean"]])


@styled
def sweep(frame: pd.DataFrame, name: str, symbol: str, published: float, mark: str = "the paper's setting") -> Drawing:
    """Final online score against the values of one parameter, with 95 % intervals over runs and a line for each kind of
    user.

    Args:
        frame: one data set; users, round, cndcg and the label column `name`.
        symbol: what the parameter is called on the axis.
        published: the paper's setting, marked by a vertical line; `mark` is what the line is called.
    """
    table = summarize(at_end(one_dataset(frame)), "cndcg", ["users", name]).sort_values(name, kind="stable")
    fig, (ax,) = panels([name_of(frame)], table, height=3.0)
    ax.axvline(published, color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)), label=mark)
    for user in USERS.ordered(table["users"]):
        line, look = table[table["users"] == user], USERS[user]
        ax.errorbar(
            line[name], line["mean"], arms(line), color=look.color, marker=look.marker, linestyle=look.line,
            elinewidth=0.9, capsize=2, label=user,
        )  # fmt: skip
    ax.set_xlabel(symbol)
    ax.set_ylabel(f"discounted cumulative NDCG@10\n({INTERVAL})")
    legend(fig, [ax])
    best, told_as = table.loc[table.groupby("users")["mean"].idxmax()].set_index("users"), symbol.replace("$", "")
    told = [f"{alt.place('users', user)} at {told_as} = {best[name][user]:g}" for user in USERS.ordered(table["users"])]
    fig.alt = f"Discounted cumulative NDCG@10 is highest {', '.join(told)}; {mark}: {published:g}."
    return fig


@styled
def published_against_reproduced(
    comparison: pd.DataFrame, xlabel: str, titles: Mapping[str, str] | None = None
) -> Drawing:
    """Published (hollow) beside reproduced (solid) means with 95 % intervals: a row for each learner, a panel for each
    kind of user; where several data sets stand beside the same printed numbers, a mark for each.

    Args:
        comparison: data (what is at hand), users, learner, published_mean, published_error, mean, error, such as
            `tables.compare` gives of one data set.
        xlabel: the quantity whose means are shown.
        titles: by kind of users, what its panel is called, in order (None: as they are, in their usual order).
    """
    titles = titles or {user: user for user in USERS.ordered(comparison["users"])}
    learners = LEARNERS.ordered(comparison["learner"])
    data = list(dict.fromkeys(comparison["data"]))
    names = [label(each) for each in data] if len(data) > 1 else ["reproduced"]
    fig, axes = panels(titles.values(), comparison, height=1.1 + (0.24 + 0.14 * len(data)) * len(learners))
    apart = np.linspace(-0.14, 0.14, 2) if len(data) == 1 else np.linspace(-0.24, 0.24, 1 + len(data))
    for ax, user in zip(axes, titles, strict=True):
        for row, learner in enumerate(learners):
            own = comparison[(comparison["users"] == user) & (comparison["learner"] == learner)]
            color = LEARNERS[learner].color
            drawn = [(own.head(1), "published_", "published", "white")]
            drawn += [(own[own["data"] == each], "", name, color) for each, name in zip(data, names, strict=True)]
            for (line, prefix, name, face), shift, marker in zip(drawn, apart, SOURCES, strict=False):
                ax.errorbar(
                    line[f"{prefix}mean"], [row + shift] * len(line), xerr=1.96 * line[f"{prefix}error"], linestyle="",
                    marker=marker, color=color, markerfacecolor=face, elinewidth=1.1, capsize=2,
                    label=f"{learner} {name}",
                )  # fmt: skip
        ax.grid(True, axis="x")
        ax.set_yticks(range(len(learners)), learners)
    axes[0].invert_yaxis()
    where = f"{label(data[0])}: " if len(data) == 1 else ""
    fig.supxlabel(f"{where}{xlabel} (mean ± 1.96 standard errors)", fontsize=9)
    marks = [
        Line2D([], [], linestyle="", marker=marker, color=INK, markerfacecolor="white" if i == 0 else INK, label=name)
        for i, (marker, name) in enumerate(zip(SOURCES, ["published", *names], strict=False))
    ]
    fig.legend(handles=marks, loc="outside upper center", ncols=len(marks))
    fig.alt = alt.beside(comparison, xlabel)
    return fig


@styled
def screen(table: pd.DataFrame) -> Drawing:
    """Heat map of a screen of switches: a row for each switch, a column for each kind of user and learner.

    Args:
        table: from `tables.screen`: switch, users, learner and the number shown, z = (reproduced − published) /
            combined standard error.
    """
    learners, users = LEARNERS.ordered(table["learner"]), USERS.ordered(table["users"])
    columns = [(user, learner) for user in users for learner in learners]
    grid = table.set_index(["switch", "users", "learner"])["z"].unstack(["users", "learner"])  # noqa: PD010
    grid = grid.loc[table["switch"].unique(), columns]
    fig, (ax,) = panels([""], table, height=1.5 + 0.27 * len(grid))
    sns.heatmap(
        grid, ax=ax, cmap="PuOr", center=0, vmin=-12, vmax=12, annot=True, fmt=".1f", annot_kws={"fontsize": 7},
        cbar_kws={"label": "reproduced − published,\ncombined standard errors", "extend": "both", "fraction": 0.03},
    )  # fmt: skip
    ax.set(xlabel=None, ylabel=None)
    ax.set_yticks(np.arange(len(grid)) + 0.5, list(grid.index), fontsize=8)
    ax.set_xticks(np.arange(len(columns)) + 0.5, [learner for _, learner in columns], rotation=90, fontsize=8)
    for k, user in enumerate(users):
        ax.text((k + 0.5) * len(learners), -0.2, user, ha="center", va="bottom", fontsize=8.5)
        if k:
            ax.axvline(k * len(learners), color=INK, linewidth=1.2)
    ax.grid(False)
    ax.tick_params(length=0)
    fig.alt = _gaps(table.dropna(subset="z"))
    return fig


def _gaps(table: pd.DataFrame) -> str:
    """How many entries of a screen are gaps, by which switch fewest and most, and which are farthest from the print."""
    if table.empty:
        return "Nothing is printed."
    rows = table.assign(gap=table["z"].abs() > GAP).groupby("switch", sort=False)["gap"].agg(["sum", "size"])
    whole = rows[rows["size"] == rows["size"].max()].sort_values("sum", kind="stable")
    first, few, many = (
        f"{line['sum']} of {line['size']} with {name}"
        for name, line in zip(
            (rows.index[0], whole.index[0], whole.index[-1]),
            frames.records(pd.concat([rows.iloc[:1], whole.iloc[[0, -1]]])),
            strict=True,
        )
    )
    far = frames.records(table.loc[[table["z"].idxmax(), table["z"].idxmin()]])
    above, below = (
        f"{cell['switch']}, {cell['learner']} {alt.place('users', cell['users'])} ({alt.number(cell['z'])})"
        for cell in far
    )
    return (
        f"Entries more than {GAP:g} combined standard errors from the printed number: {first}. Where a switch touches "
        f"all learners, fewest are {few}, most {many}. Farthest above: {above}; farthest below: {below}."
    )


@styled
def difference_curves(
    frame: pd.DataFrame,
    column: str,
    baseline: str,
    what: str,
    by: str = "variant",
    looks: Looks = LEARNERS,
    named: bool = False,
    told: str | None = None,
    since: int | None = None,
) -> Drawing:
    """What each line has more than a baseline against rounds, paired by run: mean and 95 % interval over runs.

    Panels are as in `learning_curves`. Curves that would nearly coincide are told apart so.

    Args:
        frame: dataset, users, fold, seed, round, `by` and `column`.
        baseline: the value of `by` that the others are compared with.
        told: what the baseline is called there (None: as it is).
        since: the round in which a logarithmic axis of rounds begins, unless all runs end before it (None: a linear one
            with all rounds).
    """
    late = frame[frame["round"] >= since] if since is not None else frame
    differences = minus(late if len(late) else frame, column, baseline, by)
    ylabel = f"{what},\nminus that of {told or baseline}\n({INTERVAL})"
    fig = _curves(differences, column, by, ylabel, looks=looks, named=named)
    for ax in fig.axes:
        ax.axhline(0.0, color=INK, linewidth=0.9)
        if since is not None:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:,.0f}")
    return fig


@styled
def dots(table: pd.DataFrame, xlabels: Mapping[str, str], looks: Looks = USERS, by: str = "users") -> Drawing:
    """Estimates with their 95 % intervals: a panel for each quantity, a row for each thing measured, a mark for each
    kind of user; a line at 0.

    Args:
        table: panel, row, `by`, mean, low and high (NaN: no interval); rows from the top as they come first.
        xlabels: by panel, what its axis is called.
    """
    rows, kinds = list(dict.fromkeys(table["row"])), looks.ordered(table[by])
    few = len(rows) < 3
    fig, axes = panels(xlabels, table, height=1.2 + 0.36 * len(rows) + 0.3 * few)
    for ax, (panel, xlabel) in zip(axes, xlabels.items(), strict=True):
        if few:
            ax.set_ylim(-0.6, len(rows) - 0.4)  # marks of one row would touch the frame
        dots_on(ax, table[table["panel"] == panel], rows, kinds, looks, by)
        ax.set_xlabel(xlabel)
    axes[0].invert_yaxis()
    legend(fig, axes)
    told = {panel: table[table["panel"] == panel] for panel in xlabels}
    fig.alt = " ".join([
        *(alt.sides(own, alt.plain(xlabels[panel]), by=by) for panel, own in told.items()), alt.COUNTED,
    ])  # fmt: skip
    return fig


def dots_on(
    ax: Axes, table: pd.DataFrame, rows: Sequence[str], kinds: Sequence[str], looks: Looks = USERS, by: str = "users"
) -> None:
    """Draw one panel of `dots`, the first row at the bottom.

    Args:
        table: the panel's part of the table of `dots`.
        rows, kinds: all rows and all values of `by` of the figure, also those that the panel has nothing of.
    """
    ax.axvline(0.0, color=QUIET, linewidth=0.9)
    for k, kind in enumerate(kinds):
        own, look = table[table[by] == kind], looks[kind]
        places = [rows.index(row) + 0.2 * (k - (len(kinds) - 1) / 2) for row in own["row"]]
        ax.errorbar(
            own["mean"], places, xerr=arms(own), linestyle="", marker=look.marker, color=look.color,
            elinewidth=1.1, capsize=2, label=kind,
        )  # fmt: skip
    ax.grid(True, axis="x")
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.set_yticks(range(len(rows)), ["\n".join(wrap(spelled(row), 26)) for row in rows])


@styled
def tuning_grid(
    scores: pd.DataFrame, axes_of: Mapping[str, tuple[str, str | None]], by: str = "grid", height: float = 1.8
) -> Drawing:
    """Heat maps of tuning grids, a row for each data set and a column for each grid; the chosen setting is framed.

    Args:
        scores: from `ol2r.experiments.tuning.grid_scores`.
        axes_of: by grid, the hyper-parameter down the side and the one along the bottom (None: there is one only).
        by: the column that tells the grids apart.
        height: of one row, in inches.
    """
    datasets, grids = list(scores["dataset"].unique()), [name for name in axes_of if name in set(scores[by])]
    fig, rows = stacked(datasets, map(spelled, grids), scores, height=height, sharey=False)
    for name, axes in zip(datasets, rows, strict=True):
        own = scores[(scores["dataset"] == name) & scores[by].isin(grids)]
        low, high = own["score"].min(), own["score"].max()
        for ax, grid in zip(axes, grids, strict=True):
            _heat(ax, own[own[by] == grid], *axes_of[grid], low=low, high=high)
        axes[0].set_ylabel("\n".join([*wrap(label(name), 20), axes[0].get_ylabel()]))
    fig.alt = " ".join(_chosen(own, axes_of[grid], spelled(grid)) for (_, grid), own in frames.groups(
        scores[scores["best"] & scores[by].isin(grids)], ["dataset", by]))  # fmt: skip
    return fig


def _chosen(best: pd.DataFrame, axes: tuple[str, str | None], grid: str) -> str:
    """The chosen settings of one grid on one data set, in a sentence."""
    lines = frames.records(best)
    told = [", ".join(f"{SYMBOLS.get(axis, axis)} = {number(line[axis])}" for axis in axes if axis) for line in lines]
    return f"{label(best['dataset'].iloc[0])}, {grid}: chosen {' and '.join(told)} ({best['score'].max():.3f})."


def _heat(ax: Axes, cells: pd.DataFrame, side: str, bottom: str | None, low: float, high: float) -> None:
    ax.grid(False)
    if cells.empty:
        ax.set_axis_off()
        return
    along = bottom or "along"
    cells = cells if bottom else cells.assign(along=0.0)
    grid = cells.pivot(index=side, columns=along, values="score").sort_index()  # noqa: PD010 (refuses doubles)
    numbers = grid.map(lambda score: f"{score:.3f}".lstrip("0"))
    sns.heatmap(
        grid, ax=ax, cmap="cividis", vmin=low, vmax=high, cbar=False, annot=numbers, fmt="", annot_kws={"fontsize": 8}
    )
    ax.set_yticks(np.arange(len(grid)) + 0.5, _ticks(grid.index), rotation=0)
    columns = cast("pd.Index[float]", grid.columns)  # values of a hyper-parameter, not names
    ax.set_xticks(np.arange(len(columns)) + 0.5, _ticks(columns) if bottom else [""], rotation=0)
    ax.tick_params(length=0)
    ax.tick_params(axis="x", labelsize=7)  # four powers of ten stand side by side
    ax.set(xlabel=SYMBOLS.get(bottom or "", bottom or ""), ylabel=SYMBOLS.get(side, side))
    for _, cell in cells[cells["best"]].iterrows():
        place = (list(columns).index(cell[along]), list(grid.index).index(cell[side]))
        ax.add_patch(Rectangle(place, 1, 1, fill=False, edgecolor=BEST, linewidth=2.2, clip_on=False))


def _ticks(values: Iterable[float]) -> list[str]:
    """Labels of an axis: 10ⁿ if all values except 0 are powers of ten, plain numbers otherwise."""
    exponents = np.log10([value for value in values if value > 0])
    if np.allclose(exponents, exponents.round()):
        return [f"$10^{{{round(np.log10(value))}}}$" if value > 0 else "0" for value in values]
    return [f"{value:g}" for value in values]


@styled
def tiles(table: pd.DataFrame, difference: str) -> Drawing:
    """Differences as tiles: a row for each learner, a column for each data set, a panel for each score. A tile is
    coloured where the 95 % interval leaves out 0, and a difference that was not measured has none.

    Args:
        table: learner, dataset, panel, mean, low, high.
        difference: what the differences are, for the alternative text.
    """
    rows, columns, scores = (list(dict.fromkeys(table[name])) for name in ("learner", "dataset", "panel"))
    fig, axes = panels(scores, table, height=0.9 + 0.36 * len(rows))
    most = np.cbrt(table["mean"].abs().max())  # cube roots, so that one large difference leaves the others their colour
    for ax, score in zip(axes, scores, strict=True):
        own = table[table["panel"] == score]
        clear = own.assign(mean=own["mean"].where((own["low"] > 0) | (own["high"] < 0), 0.0))
        wide, coloured = (each.set_index(["learner", "dataset"])["mean"].unstack() for each in (own, clear))  # noqa: PD010 (refuses doubles)
        sns.heatmap(
            np.cbrt(coloured.reindex(index=rows, columns=columns)),
            annot=wide.reindex(index=rows, columns=columns).map(_tile_number),
            **{"ax": ax, "cmap": "RdBu", "vmin": -most, "vmax": most, "cbar": False, "fmt": "", "linewidths": 1.5},
            annot_kws={"fontsize": 8},
        )
        ax.grid(False)
        ax.tick_params(length=0)
        ax.set_xticks(np.arange(len(columns)) + 0.5, [_tile_name(name) for name in columns], rotation=0, fontsize=7)
        ax.set(xlabel="", ylabel="")
    axes[0].set_yticks(np.arange(len(rows)) + 0.5, [spelled(name) for name in rows], rotation=0)
    first = table[table["panel"] == scores[0]]
    told = [
        f"{spelled(str(learner))}: {', '.join(f'{label(str(data))} {gain:+.3f}' for data, gain in own.items())}"
        for learner, own in first.set_index("dataset").groupby("learner", sort=False)["mean"]
    ]
    fig.alt = f"{scores[0]}, {difference}. {'; '.join(told)}."
    return fig


def _tile_number(gain: float) -> str:
    return f"{gain:+.3f}".replace("-", "−").replace("0.", ".") if np.isfinite(gain) else ""


def _tile_name(dataset: str) -> str:
    """A data set's label in short lines."""
    return "\n".join(wrap(label(dataset).split(",")[0].split(" (")[0].replace("-", "- "), 10)).replace("- ", "-")
