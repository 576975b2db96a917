"""Figures of click bandits: what they cost, how often they show an unsafe list, and how good the lists are.

A fold stands for a query, and a seed for a run. Means are over queries, each the mean of its runs, and so are their
intervals: the paper draws its queries at random. Every function aggregates first and keeps the aggregate as the
drawing's `table`; this module knows no bandit.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter
from scipy import stats

from ol2r import frames
from ol2r.experiments.effects import TooFewSeeds, at_end, at_own_end, ratio_effect, summarize, windowed
from ol2r.papers.bubblerank.claims import slope_of_a_query
from ol2r.report import alt
from ol2r.report.choice import Choice, apart
from ol2r.report.figures import dots
from ol2r.report.grammar import (
    BAND,
    Facet,
    Grid,
    Key,
    by_data,
    courses,
    level,
    lines,
    long,
    registered,
    series,
    together,
)
from ol2r.report.style import (
    BLUE,
    CLICK_MODELS,
    INK,
    LEARNERS,
    ORANGE,
    PLUM,
    QUIET,
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
    from ol2r.papers.bubblerank.illustration import Swapped

CASE = ["dataset", "users", "learner"]
QUERIES = "mean, 95 % interval over queries"
STEP = "step n"
LEAST_LISTS = 10
"""Lists that a value of |V₀| must have to be drawn, and to count for the line."""
SHADES = SERIES[:5]
LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (4, 1, 1, 1)), (0, (8, 1.5)))
MARKS = "osD^v"
MODEL_LOOKS = Looks()
for _model, _look in zip(
    CLICK_MODELS.values(),
    (Look(PLUM, "o", "-"), Look(TEAL, "s", (0, (5, 1.5))), Look(ORANGE, "^", (0, (1.5, 1.2)))),
    strict=True,
):
    MODEL_LOOKS.register(_model, _look)
"""Looks of the click models, by what they are called in figures."""
_JUST_BELOW_ZERO = -0.3


def over_queries(frame: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """Mean of a column over queries, each the mean of its runs, for every combination of the columns `by`.

    Returns:
        by, mean, error (standard error over queries), run_error (standard error over runs, as if every run had a query
        of its own), low and high (95 % t interval over queries), queries, runs.
    """
    by = list(by)
    queries = frame.groupby([*by, "fold"], sort=False)[column].agg(value="mean", runs="count").reset_index()
    table = queries.groupby(by, sort=False).agg(
        mean=("value", "mean"), error=("value", "std"), queries=("value", "count"), runs=("runs", "sum")
    )
    single = frame.groupby(by, sort=False)[column].std() / np.sqrt(table["runs"])
    table["error"] = table["error"] / np.sqrt(table["queries"])
    half = stats.t.ppf(0.975, np.maximum(table["queries"] - 1, 1)) * table["error"]
    table = table.assign(run_error=single, low=table["mean"] - half, high=table["mean"] + half).reset_index()
    return table[[*by, "mean", "error", "run_error", "low", "high", "queries", "runs"]]


def one_setting(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame itself, after a check that every bandit has only one setting in it.

    Raises:
        ValueError: one has several, which no line may average.
    """
    if frame[[*CASE, "cell"]].drop_duplicates().duplicated(CASE).any():
        raise ValueError("more than one setting of the same bandit: choose one before drawing")
    return frame


def steps_of(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean over queries of a cumulative column, by data set, click model, bandit and step (`round`)."""
    return over_queries(one_setting(frame), column, [*CASE, "round"]).sort_values("round", kind="stable")


def ndcg_of_windows(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean NDCG of the lists shown in each window between checkpoints.

    Returns:
        dataset, users, learner, since and round (the window's steps are since + 1 … round), middle (the geometric mean
        of these two), and what `over_queries` returns.
    """
    windows = windowed(one_setting(frame).assign(steps=frame["round"]), "ndcg_total", "steps")
    table = over_queries(windows, "value", [*CASE, "since", "round"])
    return table.assign(middle=np.sqrt((table["since"] + 1.0) * table["round"])).sort_values("round", kind="stable")


def models_of(table: pd.DataFrame) -> list[str]:
    """The click models of a table, in order."""
    return [model for model in CLICK_MODELS if model in set(table["users"])]


def _lines(
    frame: pd.DataFrame,
    table: pd.DataFrame,
    what: str,
    x: str = "round",
    floor: float | pd.Series = -np.inf,
    ceiling: float = np.inf,
    axis: Mapping[str, Any] | None = None,
    **how: Any,
) -> Drawing:
    """Every bandit's mean against steps, a row of panels for each data set and a column for each click model; nothing
    is drawn below the floor of what can be or be shown, nor above the ceiling."""
    drawn = table.assign(**{end: table[end].clip(floor, ceiling) for end in ("low", "high")})[table["mean"] > floor]
    models = Facet("users", {model: CLICK_MODELS[model] for model in models_of(table)})
    return lines(
        drawn, x, "mean", [registered("learner", LEARNERS, table["learner"])], Grid(models, by_data(frame, 26), 2.3),
        spread=BAND._replace(band=0.16), ylabel=f"{what}\n({QUERIES})", shown=table,
        says=alt.ends(table.assign(users=table["users"].map(CLICK_MODELS)), "learner", what, ["dataset", "users"]),
        axis={"xscale": "log", "xlabel": STEP, **(axis or {})}, **how,
    )  # fmt: skip


def _counts(ax: Axes, _: pd.DataFrame) -> None:
    """A vertical axis of counts: linear up to 1 and logarithmic above, so that what never happens is seen as well."""
    ax.set_yscale("symlog", linthresh=1.0, linscale=0.4)
    ax.set_ylim(bottom=_JUST_BELOW_ZERO)


@styled
def regret_curves(frame: pd.DataFrame) -> Drawing:
    """Cumulative regret against steps, both axes logarithmic, a row of panels for each data set.

    There is a column for each click model.

    Args:
        frame: runs with `round` and `regret`, any bandits, one setting of each.
    """
    table = steps_of(frame, "regret")
    # a third of a panel's smallest positive mean is where intervals end on a logarithmic axis
    least = table["mean"].where(table["mean"] > 0).groupby([table["dataset"], table["users"]]).transform("min")
    return _lines(frame, table, "regret R(n), reward lost", floor=(least / 3).fillna(0.1), axis={"yscale": "log"})


def regret_ratios(frame: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Mean regret over queries, each the mean of its runs, as a multiple of one bandit's.

    Args:
        frame: runs with `round` and `regret`, any bandits, one setting of each.
        baseline: the bandit whose regret is 1; the others' queries without it are left out.

    Returns:
        dataset, users, learner, round, mean, low and high (95 % interval of Fieller over queries), queries.
    """
    by = ["dataset", "users", "round"]
    if frame.empty:
        return frame.assign(round=[], mean=[], low=[], high=[])
    means = one_setting(frame).groupby([*by, "learner", "fold"], sort=False)["regret"].mean().reset_index()
    found = []
    for key, own in frames.groups(means.assign(seed=0), by):
        wide = own.pivot(index=["fold", "seed"], columns="learner", values="regret")  # noqa: PD010 (refuses doubles)
        for name in LEARNERS.ordered(wide.columns):
            if name == baseline or baseline not in wide:
                continue
            both = wide[[name, baseline]].dropna()
            if len(both) < 2 or not both[baseline].mean() > 0:
                continue
            ratio = ratio_effect(both[name], both[baseline])
            found.append((*key, name, ratio.estimate, *ratio.interval(), len(both)))
    table = pd.DataFrame(found, columns=[*by, "learner", "mean", "low", "high", "queries"])
    return table.sort_values("round", kind="stable")


@styled
def ratio_curves(frame: pd.DataFrame, baseline: str) -> Drawing:
    """Regret as a multiple of one bandit's, against steps on a logarithmic axis: panels as `regret_curves`."""
    what = f"regret R(n), as a multiple of that of {baseline}"
    under = [level(1.0, color=INK, linestyle="-")]
    return _lines(frame, regret_ratios(frame, baseline), what, floor=0.0, under=under, axis={"ylim": (0.0, None)})


@styled
def violation_curves(frame: pd.DataFrame) -> Drawing:
    """Steps that violated the safety constraint, V(n), against steps: panels as `regret_curves`.

    The vertical axis is linear up to 1 and logarithmic above, so that a bandit that never violates it is seen as well.

    Args:
        frame: runs with `round` and `violations`.
    """
    table = steps_of(frame, "violations")
    return _lines(frame, table, "violations V(n), steps", floor=_JUST_BELOW_ZERO, finish=[_counts])


@styled
def ndcg_curves(frame: pd.DataFrame) -> Drawing:
    """NDCG of the lists shown in each window between checkpoints, against steps: panels as `regret_curves`.

    Args:
        frame: runs with `round` and the cumulative `ndcg_total`.
    """
    return _lines(frame, ndcg_of_windows(frame), "NDCG@5 of the lists shown, a step", "middle", 0.0, 1.0)


@styled
def answer_dots(table: pd.DataFrame, ours: str = "BubbleRank") -> Drawing:
    """One bandit beside every other: a panel for each quantity, a row for each other bandit, a mark for each click
    model; to the left of a panel's line the first one is ahead.

    Args:
        table: from `tables.compared`, of one data set.
    """
    shown = table.assign(users=table["users"].map(CLICK_MODELS))
    xlabels = {
        panel: f"violations,\n{ours} − other" if panel.startswith("first") else f"regret,\n{ours} ÷ other"
        for panel in dict.fromkeys(table["panel"])
    }
    fig = dots(shown, xlabels, MODEL_LOOKS)
    for panel, ax in zip(xlabels, fig.axes, strict=True):
        if not panel.startswith("first"):
            ax.set_xscale("log")
            ax.axvline(1.0, color=QUIET, linewidth=0.9)
            ax.xaxis.set_major_formatter("{x:g}")
            ax.xaxis.set_minor_formatter(NullFormatter())
    parts = [(panel, shown[shown["panel"] == panel]) for panel in xlabels]
    told = (
        alt.sides(own, f"{panel}, {alt.plain(xlabels[panel])}", zero=0.0 if panel.startswith("first") else 1.0)
        for panel, own in parts
    )
    fig.alt = " ".join([*told, "In brackets: under how many click models."])
    return fig


def regret_by_inversions(frame: pd.DataFrame, least: int = LEAST_LISTS) -> pd.DataFrame:
    """Regret after the last step by |V₀| of the initial list, for the values that at least so many lists have.

    Args:
        frame: BubbleRank's runs, each with an initial list of its own: `initial_inversions`, `round`, `regret`.

    Returns:
        dataset, users, initial_inversions, mean, deviation, n (lists), low, high: over lists.
    """
    table = summarize(at_own_end(frame), "regret", ["dataset", "users", "initial_inversions"])
    return table[table["n"] >= least].sort_values("initial_inversions", kind="stable")


def lines_of_regret(frame: pd.DataFrame, least: int = LEAST_LISTS) -> pd.DataFrame:
    """The least-squares line through the means of `regret_by_inversions`, by data set and click model.

    Returns:
        dataset, users, slope (of regret, a pair), intercept, explained (R² of the means), explained_lists (R² of a line
        through all single lists), values (of |V₀|), lists; and the mean slope among the lists of a single query, own,
        with its 95 % interval over queries, low and high (missing where fewer than two queries
        have several lists). Fewer than three values give no line.
    """
    means = regret_by_inversions(frame, least)
    last = at_own_end(frame)
    found = []
    for dataset, users in product(frame["dataset"].unique(), models_of(frame)):
        own = means[(means["dataset"] == dataset) & (means["users"] == users)]
        if len(own) < 3:
            continue
        slope, intercept, r, *_ = _least_squares(own["initial_inversions"], own["mean"])
        lists = last[(last["dataset"] == dataset) & (last["users"] == users)]
        single = _least_squares(lists["initial_inversions"], lists["regret"])[2]
        try:
            query = slope_of_a_query(lists)
            within = (query.estimate, *query.interval())
        except TooFewSeeds:
            within = (np.nan,) * 3
        found.append((dataset, users, slope, intercept, r**2, single**2, len(own),
                      int(own["n"].sum()), *within))  # fmt: skip
    columns = ["dataset", "users", "slope", "intercept", "explained", "explained_lists", "values", "lists"]
    return pd.DataFrame(found, columns=[*columns, "own", "low", "high"])


def _least_squares(x: pd.Series, y: pd.Series) -> tuple[float, ...]:
    """Slope and intercept of the line through some points, their correlation, its p-value, the slope's error."""
    return cast(tuple[float, ...], stats.linregress(x.astype(float), y))  # scipy makes the class of this at run time


@styled
def regret_against_inversions(frame: pd.DataFrame, least: int = LEAST_LISTS) -> Drawing:
    """Regret after the last step against |V₀| with its least-squares line, a panel for each click model.

    Args:
        frame: as for `regret_by_inversions`, one data set.
        least: lists that a value of |V₀| must have.
    """
    table = regret_by_inversions(frame, least)
    fits = lines_of_regret(frame, least)
    models = models_of(frame)
    fig, axes = panels([CLICK_MODELS[model] for model in models], table, height=3.0, sharey=False)
    look = LEARNERS["BubbleRank"]
    for ax, model in zip(axes, models, strict=True):
        own = table[table["users"] == model]
        ax.errorbar(
            own["initial_inversions"], own["mean"], np.stack([own["mean"] - own["low"], own["high"] - own["mean"]]),
            ls="", marker="o", color=look.color, elinewidth=0.9, capsize=2, label="lists with this |V₀|",
        )  # fmt: skip
        for line in frames.rows(fits[fits["users"] == model]):
            x = np.array([own["initial_inversions"].min(), own["initial_inversions"].max()])
            ax.plot(x, line.intercept + line.slope * x, color=QUIET, ls=(0, (5, 2)), label="least-squares line")
            told = f"slope {float(f'{line.slope:.3g}'):,g}\nR² {line.explained:.2f}"
            ax.annotate(told, (0.97, 0.04), xycoords="axes fraction", ha="right", va="bottom")
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel("regret after the last step, reward lost\n(mean, 95 % interval over lists)")
    fig.supxlabel("wrong pairs of the initial list, |V₀|", fontsize=9)
    legend(fig, axes)
    told = (
        f"{alt.number(line.slope)} with R² {line.explained:.2f} for {CLICK_MODELS[line.users]}"
        for line in frames.rows(fits)
    )
    fig.alt = f"Slope of the line of regret, reward lost for each wrong pair: {', '.join(told) or 'too few lists'}."
    return fig


@styled
def regret_against_examination(frame: pd.DataFrame, predicted: pd.Series) -> Drawing:
    """Left: regret against steps for every χ_min = 0.5^i. Right: regret at the end against i, with what is predicted.

    Args:
        frame: BubbleRank's runs on the synthetic model; fold i has χ_min = 0.5^i.
        predicted: regret at the end by i.
    """
    table = summarize(frame, "regret", ["fold", "round"]).rename(columns={"fold": "i"})
    table = table.sort_values(["i", "round"], kind="stable")
    fig, (steps, ends) = panels(["", ""], table, height=3.3, sharey=False)
    for (i, own), color, line, mark in zip(table.groupby("i"), SHADES, LINES, MARKS, strict=False):
        steps.plot(own["round"], own["mean"], color=color, ls=line, marker=mark, markevery=max(1, len(own) // 6),
                   label=rf"$\chi_{{\min}} = 0.5^{{{i}}}$")  # fmt: skip
        steps.fill_between(own["round"], own["low"], own["high"], color=color, alpha=0.18, linewidth=0)
    steps.set(xscale="log", yscale="log", xlabel=STEP)
    steps.set_ylabel("regret R(n), clicks lost\n(mean, 95 % interval over runs)")
    last = at_end(table)
    halves = np.stack([last["mean"] - last["low"], last["high"] - last["mean"]])
    ends.errorbar(last["i"], last["mean"], halves, ls="", marker="o", color=INK, capsize=2, label="after the last step")
    ends.plot(predicted.index, predicted, color=QUIET, ls=(0, (5, 2)), label="predicted")
    doubled = last["mean"].iloc[-1] * 2.0 ** (last["i"] - last["i"].iloc[-1])
    ends.plot(last["i"], doubled, color=QUIET, ls=(0, (1, 1.5)), label="doubling")
    ends.set_yscale("log", base=2)
    ends.minorticks_off()
    ends.set(xlabel=r"i, where $\chi_{\min} = 0.5^i$")
    ends.set_xticks(last["i"])
    legend(fig, [steps, ends], ncols=4)
    told = (
        f"{alt.number(mean)} for i = {i} (predicted {alt.number(predicted[i])}, exact doubling {alt.number(line)})"
        for i, mean, line in zip(last["i"], last["mean"], doubled, strict=True)
    )
    fig.alt = f"After the last step, regret is {', '.join(told)}."
    return fig


def full_ranking(frame: pd.DataFrame) -> Choice:
    """Regret, V(n) and NDCG against steps for queries with more items than positions, each behind a tab.

    Args:
        frame: runs on one data set.
    """
    drawings = {"regret": regret_curves, "violations": violation_curves, "NDCG@5": ndcg_curves}
    return Choice({name: draw(frame) for name, draw in drawings.items()}, "quantity")


@styled
def pairs_against_inversions(table: pd.DataFrame) -> Drawing:
    """Pairs that were ever neighbours against |V₀|, mean and most of the runs in which event E held, under Lemma 6."""
    cases = sorted(set(zip(table["users"], table["positions"], strict=True)))
    titles = {(users, positions): f"{users}, K = {positions}" for users, positions in cases}
    panels = Facet("case", titles, {case: f"with {title}" for case, title in titles.items()})
    own = table.assign(case=together(table, "users", "positions"))
    color = LEARNERS["BubbleRank"].color
    looks = {
        "mean": series("mean |P|", color, "o", "none", words="the mean"),
        "most": series("most", color, "^", "none", markerfacecolor="white"),
        "allowed": series("K − 1 + 2|V₀|", INK, line=(0, (5, 2)), words="Lemma 6's bound"),
        "everything": series("all pairs", QUIET, line=(0, (1, 1.5))),
    }
    course = courses("the number of pairs", "inversions", "|V₀|", "n")
    above = (table["most"] > table["allowed"]).sum()
    told = f"The largest number is above Lemma 6's bound in {above} of {len(table)} cases."
    return lines(
        long(own, looks, ["case", "inversions"], "n"), "inversions", "n", [Key("line", looks)],
        Grid(panels, height=2.9),
        axis={"xlabel": "|V₀|", "ylim": (0, 1.15 * table["everything"].max())},  # Lemma 6 soon leaves what there is
        ylabel="pairs that were ever neighbours", shown=table,
        says=lambda drawn: f"{course(drawn[drawn['line'].isin(('mean', 'allowed'))])} {told}",
    )  # fmt: skip


@styled
def regret_against_theorem(table: pd.DataFrame) -> Drawing:
    """Regret against steps under Theorem 1, as printed and sharpened, a panel for each world; both axes logarithmic.

    Args:
        table: from `bounds.regret_against_bounds`, of one click model.
    """
    last = table.sort_values("round", kind="stable").groupby(["positions", "inversions"]).tail(1)
    worlds = sorted(set(zip(table["positions"], table["inversions"], strict=True)))
    panels = Facet("world", {(k, wrong): f"K = {k}, |V₀| = {wrong}" for k, wrong in worlds})
    own = table.assign(world=together(table, "positions", "inversions"))
    look, seen = LEARNERS["BubbleRank"], own[own["regret"] > 0]
    looks = {
        "everything": series("K n", QUIET, line=(0, (1, 1.5)), linewidth=1.2),
        "bound": series("Theorem 1", INK, line=(0, (5, 2)), linewidth=1.2),
        "best": series("n r(R*)", BLUE, line=(0, (1, 1.5)), linewidth=1.2),
        "proved": series("sharpened", BLUE, line=(0, (4, 1, 1, 1)), linewidth=1.2),
        "regret": series("regret", look.color, look.marker, markersize=3.5),
    }
    ends = {"low": (seen["regret"] - 2 * seen["error"]).clip(lower=seen["regret"] / 10),
            "high": seen["regret"] + 2 * seen["error"]}  # fmt: skip
    drawn = [long(own, list(looks)[:-1], ["world", "round"]), seen.assign(line="regret", mean=seen["regret"], **ends)]
    said = (
        f"K = {line.positions}, |V₀| = {line.inversions}: regret {alt.number(line.regret)}, sharpened bound "
        f"{alt.number(line.proved)}, Theorem 1 {alt.number(line.bound)}"
        for line in frames.rows(last.sort_values(["positions", "inversions"]))
    )
    fig = lines(
        pd.concat(drawn), "round", "mean", [Key("line", looks)], Grid(panels, height=2.4, wrap=2), spread=BAND,
        markers=5, axis={"xscale": "log", "yscale": "log", "xlabel": STEP}, shown=table,
        says=f"Clicks lost at the end. {'; '.join(said)}.",
    )  # fmt: skip
    fig.supylabel("clicks lost", fontsize=9)
    return fig


def bounds_by_model(table: pd.DataFrame) -> Choice:
    """`regret_against_theorem` for each click model, behind tabs."""
    return apart(regret_against_theorem, table, "users", CLICK_MODELS.__getitem__)


@styled
def swapped(at: "Swapped") -> Drawing:
    """The items of a base list from the top, as high as they attract, and the neighbours that are still exchanged."""
    places = np.arange(1, len(at.attraction) + 1)
    fig, (ax,) = panels([""], pd.DataFrame({"place": places, "attraction": at.attraction}), 1.7)
    fig.set_figwidth(4.6)
    ax.bar(places, at.attraction, width=0.55, color=SKY)
    for place in np.flatnonzero(at.open) + 1:
        ends, height = (place, place + 1), 0.06 + max(at.attraction[place - 1 : place + 1])
        ax.annotate("", (ends[1], height), (ends[0], height), arrowprops={"arrowstyle": "<->", "color": ORANGE})
    ax.set(ylim=(0, 1), xticks=places, xlabel="place in the base list", ylabel="attraction")
    fig.alt = (
        f"Attractions from the top: {', '.join(f'{each:g}' for each in at.attraction)}. "
        f"Pairs in the wrong order: {at.wrong}. Neighbours still exchanged: {int(at.open.sum())}."
    )
    return fig
