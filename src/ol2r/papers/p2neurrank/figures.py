"""Figures that only the P²NeurRank chapter draws: disagreement beside intervals, N and ν², cost, shared histories.

Figures that other chapters draw as well are in `ol2r.report.figures` and `ol2r.papers.olranknet.figures`. Frames have
one line for each run and checkpoint with a column `variant`; they are aggregated first, as there. This module knows no
learner.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse
from matplotlib.ticker import LogLocator, NullFormatter

from ol2r import frames
from ol2r.experiments.claims import NotMeasured, Results
from ol2r.experiments.effects import at_own_end, effect_over_runs, minus, summarize
from ol2r.papers.olranknet.figures import IN_LISTS, OFFLINE, in_lists, leads, speeds
from ol2r.papers.p2neurrank.claims import RIVALS, Seconds, linear, neural
from ol2r.report import alt, figures
from ol2r.report.choice import Choice
from ol2r.report.figures import INTERVAL
from ol2r.report.leads import NO_LEADS
from ol2r.report.style import (
    BETWEEN,
    BLUE,
    GREY,
    INK,
    LEARNERS,
    QUIET,
    RED,
    USERS,
    Drawing,
    Look,
    in_parts,
    legend,
    panels,
    stacked,
    styled,
)
from ol2r.report.tables import number

FAMILIES = {"linear": linear, "neural": neural}
AMONG = {"linear": "among linear rankers", "neural": "among networks"}
"""Where a line of a family stands, in words for alternative texts."""
QUANTITIES = {
    "certain": "certain orders\n(share of all pairs)",
    "false certain": "wrong among those of\ndifferent grades",
    "agree": "agreement\nwith intervals",
}
"""What the panels of shared histories show, and what they are called."""
BEFORE_TEN = "before ten"
"""The share of documents in blocks that start before place ten."""
REGRET = "misordered pairs a round"


def rival_leads(scores: Mapping[str, tuple[pd.DataFrame, Sequence[str]]]) -> pd.DataFrame:
    """What learners that explore by disagreement have more at the end than those with intervals.

    Args:
        scores: by baseline, runs of one data set that hold it, and the variants to compare with it.

    Returns:
        The table of `report.leads`, with `baseline`; `NO_LEADS` without runs.
    """
    parts = [
        leads(own, baseline, variants=variants).assign(baseline=baseline)
        for baseline, (own, variants) in scores.items()
        if len(own) and {baseline, *variants} & set(own["variant"]) > {baseline}
    ]
    return pd.concat(parts, ignore_index=True) if parts else NO_LEADS


def rival_dots(table: pd.DataFrame) -> Drawing:
    """The leads over intervals at the end, with 95 % intervals; every row names what was subtracted.

    Args:
        table: from `rival_leads`, of one data set.
    """
    rows = table["row"] + " − " + table["baseline"]
    quantities = dict.fromkeys(table["panel"])
    return figures.dots(table.assign(row=rows), {each: f"{each},\ndifference" for each in quantities})


@styled
def grouped_differences(
    frame: pd.DataFrame, column: str, baseline: str, groups: Mapping[str, Sequence[str]], what: str
) -> Drawing:
    """What each line has more than a baseline, paired by run, with rows of panels as `report.figures.grouped_curves`.

    Args:
        frame: runs of one data set with users, round, variant and the column.
        baseline: the variant that is subtracted.
        groups: by what a row is called, its variants.
        what: what the difference is called on the axis.
    """
    fig = figures.grouped_curves(minus(frame, column, baseline, "variant"), column, groups, what)
    for part in fig.subfigs:
        for ax in part.axes:
            ax.axhline(0.0, color=INK, linewidth=0.9)
    return fig


@styled
def zoomed(frame: pd.DataFrame) -> Drawing:
    """Offline NDCG@10 and the NDCG@10 of the lists shown so far against rounds, a line for each variant.

    Args:
        frame: runs of one data set and kind of users with ndcg and cndcg; no rounds before `figures.SINCE` are drawn.

    Raises:
        ValueError: there are several data sets or kinds of users.
    """
    if len(set(frame["users"])) != 1:
        raise ValueError("a figure of N shows one kind of users")
    own = figures.one_dataset(frame)
    own = own[own["round"] >= figures.SINCE]
    measures = {OFFLINE: (own, "ndcg"), IN_LISTS: (in_lists(own), "in_lists")}
    table = _summed(measures, ["variant", "round"])
    fig, axes = panels(measures, table, height=3.0, sharey=False)
    for ax, panel in zip(axes, measures, strict=True):
        for name in LEARNERS.ordered(table["variant"]):
            figures.band(ax, table[(table["panel"] == panel) & (table["variant"] == name)], LEARNERS[name], name)
        ax.set(xscale="log", xlabel="round")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.xaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylabel(f"{figures.name_of(own)}\n({INTERVAL})")
    legend(fig, axes, 5 if len("".join(set(table["variant"]))) <= 60 else 2)
    fig.alt = alt.ends_of_each(table.assign(dataset=own["dataset"].iloc[0]), "variant", "panel", ["dataset"])
    return fig


def _summed(measures: Mapping[str, tuple[pd.DataFrame, str]], by: list[str]) -> pd.DataFrame:
    """Means with intervals of a column of each frame, by what its panel is called."""
    parts = [summarize(runs, column, by).assign(panel=panel) for panel, (runs, column) in measures.items()]
    return pd.concat(parts, ignore_index=True).sort_values(by[-1], kind="stable")


@styled
def cost_curves(frame: pd.DataFrame) -> Drawing:
    """Milliseconds of a round, and seconds of all rounds so far, against rounds; vertical axes are logarithmic.

    Args:
        frame: as for `olranknet.figures.speeds`, of one data set.
    """
    own = figures.one_dataset(frame)
    table = speeds(own).assign(milliseconds=lambda each: each["ranking"] + each["learning"])
    seconds = (own["rank_seconds"] + own["update_seconds"]) / own["replicas"]
    so_far = own.assign(seconds=seconds).groupby(["variant", "round"], sort=False)["seconds"].mean().reset_index()
    table = table.merge(so_far, on=["variant", "round"])
    fig, (each, whole) = panels(["one round", "all rounds so far"], table, height=3.4, sharey=False)
    for name in LEARNERS.ordered(table["variant"]):
        line, look = table[table["variant"] == name], LEARNERS[name]
        style = {"color": look.color, "marker": look.marker, "ls": look.line, "markevery": max(1, len(line) // 6)}
        each.plot(line["middle"], line["milliseconds"], label=name, **style)
        whole.plot(line["round"], line["seconds"], **style)
    for ax, xlabel, ylabel in (
        (each, "round (middle of the window)", "milliseconds a round"), (whole, "round", "seconds"),
    ):  # fmt: skip
        ax.set(xlabel=xlabel, ylabel=ylabel, yscale="log")
        _plain_logarithms(ax)
    legend(fig, [each], 3)
    last = (alt.ends(table, "variant", told, [], y=column) for column, told in
            (("milliseconds", "milliseconds a round"), ("seconds", "seconds of all rounds")))  # fmt: skip
    fig.alt = " ".join(last)
    return fig


def _plain_logarithms(ax: Axes) -> None:
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("{x:g}")
    ax.yaxis.set_minor_locator(LogLocator(subs=BETWEEN))


NOISE_LINES = ("-", (0, (2, 1.5)))
"""Lines of the larger and of the smaller ν²."""


@styled
def certainty_series(frame: pd.DataFrame) -> Drawing:
    """Offline NDCG@10 at the end and regret against N, a row of panels for linear rankers and one for networks.

    A line for each kind of users and ν². Regret is the mean number of misordered pairs of shown documents a round.

    Args:
        frame: runs of one data set with the labels rankers and noise, with ndcg and misordered.
    """
    ends = at_own_family_end(figures.one_dataset(frame))
    measures = {OFFLINE: (ends, "ndcg"), REGRET: (ends, "regret")}
    table = _summed(measures, ["family", "users", "noise", "rankers"])
    families = [name for name in FAMILIES if name in set(table["family"])]
    fig, rows = stacked(families, measures, table, height=2.3, sharey=False)
    noises = sorted(table["noise"].unique(), reverse=True)
    for family, axes in zip(families, rows, strict=True):
        for ax, panel in zip(axes, measures, strict=True):
            for user, (line, noise) in product(USERS.ordered(table["users"]), zip(NOISE_LINES, noises, strict=False)):
                here = (table["family"] == family) & (table["panel"] == panel)
                own = table[here & (table["users"] == user) & (table["noise"] == noise)]
                if len(own):
                    look = Look(USERS[user].color, USERS[user].marker, line)
                    figures.band(ax, own, look, f"{user}, ν² = {noise:g}", "rankers")
            ax.set_xscale("log")
            ax.set_xticks(sorted(table["rankers"].unique()), [f"{n:g}" for n in sorted(table["rankers"].unique())])
            ax.minorticks_off()
            ax.set_xlabel("rankers N")
        axes[0].set_ylabel(family)
    legend(fig, [ax for axes in rows for ax in axes], 4)
    own = table.assign(
        line=[f"{line.users}, ν² = {line.noise:g}" for line in frames.rows(table)],
        family=table["family"].map({"linear": "of linear rankers", "neural": "of networks"}),
    )
    offline, regret = (own[own["panel"] == panel] for panel in measures)
    fig.alt = " ".join([
        alt.courses(offline, "line", OFFLINE, ["family"], "rankers", "N"),
        alt.ends(regret, "line", REGRET, ["family"], x="rankers", when="With most rankers"),
    ])  # fmt: skip
    return fig


def family_of(variants: pd.Series) -> pd.Series:
    """Whether each variant, or the ensemble that it is the rival of, is linear or neural; None for others."""
    known = {of(n): name for name, of in FAMILIES.items() for n in (1, 2, 5, 10)}
    known |= {rival: known[variant] for variant, rival in RIVALS.items()}
    return variants.map(known)


def at_own_family_end(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last round that linear rankers, and that networks, have; with `family` and `regret`.

    Args:
        frame: runs of one data set with variant, round and the cumulative `misordered`.

    Returns:
        regret is the mean number of misordered pairs a round.
    """
    own = frame.assign(family=family_of(frame["variant"]))
    last = own["round"] == own.groupby("family")["round"].transform("max")
    return own[last].assign(regret=own["misordered"] / own["round"])


def at_each_noise(frame: pd.DataFrame, draw: Callable[[pd.DataFrame, float], Drawing]) -> Choice:
    """A figure of shared histories for each ν², the largest first, each behind a tab.

    Args:
        frame: of `histories.Histories`; ν² of the intervals is 0.
        draw: `shared_curves` or `before_ten_curves`.
    """
    noises = sorted(set(frame["noise"]) - {0.0}, reverse=True)
    choice = Choice({f"ν² = {noise:g}": draw(frame, noise) for noise in noises}, "noise")
    choice.table = choice.table.drop_duplicates(ignore_index=True)  # the intervals are in every drawing
    return choice


@styled
def shared_curves(frame: pd.DataFrame, noise: float, quantities: Mapping[str, str] | None = None) -> Drawing:
    """What ensembles and intervals call certain on the same histories, against rounds on a logarithmic axis.

    A row of panels for each kind of users, a column for each quantity, a line for each N and one for the intervals;
    mean and 95 % interval over runs.

    Args:
        frame: of `histories.Histories`, of one data set and one family.
        noise: ν² of the ensembles.
        quantities: which to show, and what each is called (None: `QUANTITIES`).

    Raises:
        ValueError: there are several data sets or families.
    """
    if len(set(frame["family"])) != 1:
        raise ValueError("a figure of shared histories shows linear rankers or networks")
    shown = {name: told for name, told in (quantities or QUANTITIES).items() if name in set(frame["quantity"])}
    own = figures.one_dataset(frame)
    own = own[own["quantity"].isin(shown) & own["noise"].isin((0.0, noise))]
    by = ["users", "quantity", "variant", "noise", "round"]
    table = summarize(own, "value", by).sort_values("round", kind="stable")
    users = USERS.ordered(table["users"])
    fig, rows = stacked(users, shown.values(), table, height=2.2, sharey=False)
    for (user, axes), (c, quantity) in product(zip(users, rows, strict=True), enumerate(shown)):
        lines = table[(table["users"] == user) & (table["quantity"] == quantity)]
        for name in LEARNERS.ordered(lines["variant"]):
            figures.band(axes[c], lines[lines["variant"] == name], LEARNERS[name], name)
        _looks(axes[c], lines["round"])
        axes[c].set_ylim(bottom=0)
        axes[0].set_ylabel(user)
    for ax in rows[-1]:
        ax.set_xlabel("round")
    legend(fig, [ax for axes in rows for ax in axes], 4)
    told = {name: " ".join(what.split()) for name, what in shown.items()}
    fig.alt = alt.ends_of_each(table.assign(quantity=table["quantity"].map(told)), "variant", "quantity", ["users"])
    return fig


def _looks(ax: Axes, rounds: pd.Series) -> None:
    """A logarithmic axis of rounds with every second look named."""
    ax.set_xscale("log")
    named = sorted(set(rounds))[::2]
    ax.set_xticks(named, [f"{t:,.0f}" for t in named])
    ax.minorticks_off()


@styled
def before_ten_curves(frame: pd.DataFrame, noise: float) -> Drawing:
    """Share of documents in blocks that start before place ten, on the same histories, against rounds.

    A row of panels for linear rankers and one for networks, each with its legend, a column for each kind of users; mean
    and 95 % interval over runs, rounds on a logarithmic axis.

    Args:
        frame: of `histories.Histories`, of one data set, the rows of the quantity `BEFORE_TEN`.
        noise: ν² of the ensembles.
    """
    own = figures.one_dataset(frame[frame["noise"].isin((0.0, noise))])
    by = ["family", "users", "variant", "noise", "round"]
    table = summarize(own, "value", by).sort_values("round", kind="stable")
    families, users = [name for name in FAMILIES if name in set(table["family"])], USERS.ordered(table["users"])
    fig, parts = in_parts(families, users, table, height=2.6)
    for family, (part, axes) in zip(families, parts, strict=True):
        for user, ax in zip(users, axes, strict=True):
            lines = table[(table["family"] == family) & (table["users"] == user)]
            for name in LEARNERS.ordered(lines["variant"]):
                figures.band(ax, lines[lines["variant"] == name], LEARNERS[name], name)
            _looks(ax, lines["round"])
            ax.set(ylim=(0, 1.02), xlabel="round")
        axes[0].set_ylabel(f"{family}\nshare of documents")
        legend(part, axes, 4)
    what = "share of documents in blocks that start before place ten"
    fig.alt = alt.ends(table.assign(family=table["family"].map(AMONG)), "variant", what, ["family", "users"])
    return fig


def at_a_look(frame: pd.DataFrame, share: float) -> pd.DataFrame:
    """The rows of shared histories at the look after a share of each family's rounds."""
    last = frame.groupby("family")["round"].transform("max")
    return frame[frame["round"] == (share * last).round()]


def differences(frame: pd.DataFrame, column: str, one: str, other: str) -> pd.DataFrame:
    """A column of one variant minus that of another, paired by run, by kind of users: mean with its 95 % interval.

    Args:
        frame: one row for each variant, users, fold and seed.

    Returns:
        users, mean, low, high (NaN where there are too few runs).
    """
    lines = []
    for users, own in frame.groupby("users", sort=False):
        both = [own[own["variant"] == name].set_index(["fold", "seed"])[column] for name in (one, other)]
        values = (both[0] - both[1]).dropna()
        if len(values):
            effect = effect_over_runs(values)
            low, high = effect.interval() if effect else (np.nan, np.nan)
            lines.append((users, float(values.mean()), low, high))
    return pd.DataFrame(lines, columns=["users", "mean", "low", "high"])


def spent(results: Mapping[str, Results], scores: pd.DataFrame, variants: Sequence[str]) -> pd.DataFrame:
    """Runs with the seconds that the same variant took up to each round, as `claims.Seconds` has them from "timing".

    Args:
        scores: runs of one data set with users, variant and round.
        variants: those to keep; without timings of a variant under some users its runs are left out.
    """
    parts = []
    for (dataset, users, name), own in scores[scores["variant"].isin(variants)].groupby(
        ["dataset", "users", "variant"], sort=False
    ):
        with suppress(NotMeasured):
            timed = Seconds("timing", str(name)).spent(results, str(dataset), str(users))
            parts.append(own.assign(seconds=np.interp(own["round"], timed.rounds, timed.seconds)))
    return pd.concat(parts, ignore_index=True) if parts else scores[:0]


@styled
def against_seconds(frames_of: Mapping[str, pd.DataFrame]) -> Drawing:
    """Offline NDCG@10 against the seconds that a single run had computed for, on a logarithmic axis.

    A row of panels for each family, with its legend, and a column for each kind of users; mean and 95 % interval over
    runs. A vertical line stands where the faster learner's run ends.

    Args:
        frames_of: by family, runs from `spent`.
    """
    tables = {
        family: summarize(own[own["seconds"] > 0], "ndcg", ["users", "variant", "round", "seconds"])
        for family, own in frames_of.items()
        if len(own)
    }
    table = pd.concat([own.assign(family=family) for family, own in tables.items()], ignore_index=True)
    users = USERS.ordered(table["users"])
    fig, parts = in_parts(tables, users, table, height=2.6)
    for (family, own), (part, axes) in zip(tables.items(), parts, strict=True):
        for ax, user in zip(axes, users, strict=True):
            here = own[own["users"] == user].sort_values("seconds", kind="stable")
            ends = here.groupby("variant")["seconds"].max()
            for name in LEARNERS.ordered(here["variant"]):
                figures.band(ax, here[here["variant"] == name], LEARNERS[name], name, "seconds")
            if len(ends):
                ax.axvline(ends.min(), color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)))
            ax.set(xscale="log", xlabel="seconds of one run")
            ax.xaxis.set_major_formatter("{x:g}")
            ax.xaxis.set_minor_formatter(NullFormatter())
        axes[0].set_ylabel(f"{family}\noffline NDCG@10")
        legend(part, axes)
    named = table.assign(family=table["family"].map({**AMONG, "networks": AMONG["neural"]}))
    fig.alt = alt.ends(named, "variant", "offline NDCG@10", ["family", "users"], x="seconds")
    return fig


def choice_effects(frame: pd.DataFrame, choices: Mapping[str, tuple[str, Mapping]]) -> pd.DataFrame:
    """What each choice changes at the end against the main results of the same learner, paired by run.

    Args:
        frame: runs with `variant` and `choice`.
        choices: by name, the variant and what is changed in it; nothing in the main results.

    Returns:
        The table of `report.leads`, with a row for each choice that changes something.
    """
    main = {variant: name for name, (variant, changed) in choices.items() if not changed}
    parts = []
    for variant, base in main.items():
        own = frame[frame["variant"] == variant]
        others = [name for name, (each, changed) in choices.items() if each == variant and changed]
        if base in set(own["choice"]) and set(others) & set(own["choice"]):
            parts.append(leads(own, base, by="choice", variants=others))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def disagreement(frame: pd.DataFrame, starts: Mapping[str, str]) -> pd.DataFrame:
    """What makes two networks disagree, and what it is worth at the end.

    Args:
        frame: runs with `choice`.
        starts: by name, the choice that disagrees in this way; the first is what the others are compared with.

    Returns:
        The table of `report.leads` with a row for each name, the first without a difference, and `certain`: the share
        of pairs of shown documents whose order was certain, the mean over runs and all their rounds; empty without
        runs.
    """
    names = {choice: name for name, choice in starts.items()}
    own = frame[frame["choice"].isin(names)] if len(frame) else frame
    if own.empty:
        return pd.DataFrame()
    own = own.assign(way=own["choice"].map(names))
    first, *others = starts
    last = at_own_end(own)
    certain = (last["certain_pairs"] / last["shown_pairs"]).groupby([last["users"], last["way"]]).mean()
    table = leads(own, first, by="way", variants=others)
    nothing = table.drop_duplicates(["dataset", "users", "panel"]).assign(row=first, mean=0.0, low=0.0, high=0.0)
    table = pd.concat([nothing, table], ignore_index=True)
    return table.assign(certain=[certain[users, row] for users, row in zip(table["users"], table["row"], strict=True)])


def noise_effects(frame: pd.DataFrame, choices: Mapping[str, tuple[str, Mapping]]) -> pd.DataFrame:
    """What each learner has more at the end than the same learner without noise (ν² = 0), paired by run.

    Args:
        frame: runs with `variant` and `choice`.
        choices: by name, the variant and what is changed in it. A choice is compared with the one of the same variant
            that changes the same and sets the noise to 0; choices without such a one are left out.

    Returns:
        The table of `report.leads`, with a row for each choice that has noise, and `baseline`, the choice
        without; empty without runs.
    """
    parts = []
    there = set(frame["choice"]) if len(frame) else set()
    for name, (variant, changed) in choices.items():
        silent = {**changed, "noise": 0.0}
        without = [other for other, each in choices.items() if each == (variant, silent) and other != name]
        if name in there and without and without[0] in there:
            own = frame[frame["choice"].isin((name, without[0]))]
            parts.append(leads(own, without[0], by="choice", variants=[name]).assign(baseline=without[0]))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


SURE, UNSURE = BLUE, GREY


@styled
def interval_and_ensemble(table: pd.DataFrame) -> Drawing:
    """The preferences of all pairs of a few documents: left with confidence intervals, right by every ranker.

    Orders that are certain are in colour, others in grey; on the right, by all rankers together. The first two rankers
    are filled.
    """
    rankers = [name for name in map(str, table) if name.startswith("ranker_")]
    fig, (left, right) = panels(["a confidence interval", f"{len(rankers)} rankers, the first 2 filled"], table, 3.6)
    for row, line in enumerate(frames.records(table)):
        color = SURE if line["certain"] else UNSURE
        left.errorbar(line["estimate"], row, xerr=line["half"], color=color, marker="o", capsize=3, elinewidth=1.4)
        for n, name in enumerate(rankers):
            color = SURE if line[f"certain_{len(rankers)}"] else UNSURE
            face = color if n < 2 else "white"
            right.plot(line[name], row, "o", color=color, markerfacecolor=face, markersize=5.5, zorder=3 - n * 0.1)
        if line["certain_2"] and not line[f"certain_{len(rankers)}"]:
            right.annotate("certain to two", (0.21, row), fontsize=8, va="center", color=INK)
    for ax in (left, right):
        ax.axvline(0.5, color=INK, linewidth=0.9, linestyle=(0, (2, 2)))
        ax.grid(True, axis="x")
        ax.set(xlabel="estimated preference", xlim=(0.2, 1.0))
    left.set_yticks(range(len(table)), list(table["pair"]))
    return fig


WAYS = {"label by label": Look(RED, "s", ""), "in one draw": Look(BLUE, "o", "")}
SHOWN = 300


@styled
def two_ways(table: pd.DataFrame, covariance: np.ndarray, distance: float) -> Drawing:
    """The noise of a history drawn label by label and in one draw, and the rankers refitted under it.

    Args:
        table: of `illustration.one_draw`; the first `SHOWN` draws of either way are drawn.
        covariance: ν² Σ x xᵀ, Float64[2, 2].
        distance: bᵀ covariance⁻¹ b on the ellipse that is drawn.
    """
    fig, (noise, theta) = panels(["the noise Σ γ x", "the rankers θ"], table, 3.2, sharey=False)
    for way, look in WAYS.items():
        own = table[table["way"] == way].head(SHOWN)
        for ax, name in ((noise, "noise"), (theta, "theta")):
            style = {"color": look.color, "marker": look.marker, "markersize": 2.6, "linestyle": "", "alpha": 0.55}
            ax.plot(own[f"{name}_1"], own[f"{name}_2"], label=way, **style)
    lengths, directions = np.linalg.eigh(covariance)
    angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
    width, height = 2 * np.sqrt(distance * lengths[::-1])
    noise.add_patch(Ellipse((0, 0), width, height, angle=angle, fill=False, edgecolor=INK, linewidth=1.2))
    for ax in (noise, theta):
        ax.set(xlabel="first feature", ylabel="second feature")
        ax.grid(True)
    legend(fig, [noise])
    told = []
    for way in WAYS:
        own = table[table["way"] == way].head(SHOWN)
        theta = own[["theta_1", "theta_2"]].agg(["mean", "std"])
        first, second = (f"{alt.number(theta[k]['mean'])} ± {alt.number(theta[k]['std'])}" for k in theta)
        inside = 100 * (own["distance"] <= distance).mean()
        told.append(f"drawn {way}, {inside:.0f} % of the noise lies in the ellipse, and θ has {first} and {second}")
    fig.alt = f"Of the draws that are shown: {'; '.join(told)} (mean ± standard deviation)."
    return fig


def panels_of(scores: pd.DataFrame, grids: Mapping[str, str], along: str) -> tuple[pd.DataFrame, dict]:
    """Tuning grids with a learning rate as one heat map for each of a grid's rates.

    Args:
        scores: from `ol2r.experiments.tuning.marked`, by "grid".
        grids: by grid, what its panels are called before the rate.
        along: the hyper-parameter beside λ.

    Returns:
        The scores with the column `panel`, and the axes of each panel, as `report.figures.tuning_grid` takes them.
    """
    own = scores[scores["grid"].isin(grids)].assign(order=lambda each: each["grid"].map(list(grids).index))
    own = own.sort_values(["order", "rate"], kind="stable")
    named = [f"{grids[name]}\nη = {number(rate)}" for name, rate in zip(own["grid"], own["rate"], strict=True)]
    own = own.assign(panel=named)
    return own, dict.fromkeys(own["panel"], ("regularization", along))
