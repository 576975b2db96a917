"""Figures and table of the contextual safety comparison: violations of BubbleRank's constraint, and what they bought.

Frames have one line for each run and checkpoint of `Safety` cells, with the names `variant` and `production`. Every
function aggregates first, keeps the aggregate as the drawing's `table`, and draws nothing else. It knows no learner.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.experiments.effects import summarize, windowed
from ol2r.papers.bubblerank.safety import BANDIT, CHANCE, PARENT, SAFE_RANKER, since
from ol2r.report import alt
from ol2r.report.figures import INTERVAL
from ol2r.report.fitting import legend_above
from ol2r.report.grammar import BAND, Facet, Grid, Key, Mark, by_data, level, lines, series
from ol2r.report.style import GREY, INK, LEARNERS, QUIET, USERS, Drawing, Look, panels, styled
from ol2r.report.tables import columns, headed, myst, named, signed

REFERENCE = "offline RankNet"
FIRST = 25
_FIXED = {CHANCE: Look(GREY, "", (0, (1, 1))), REFERENCE: Look(INK, "", (0, (1, 1.5)))}
"""Looks of the references that do not learn; learners have the looks of `ol2r.report.style`."""
_CASE = ["dataset", "users"]
PARENTS = {PARENT: "*", BANDIT: "D"}
"""Whose ideas SafePairRank has, and their markers beside it."""


def _one_setting(frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame[["items", "production"]].drop_duplicates()) != 1:
        raise ValueError("choose what is ranked and the production ranker before drawing")
    return frame


def _look(variant: str) -> Look:
    """How a learner or reference is drawn in this comparison."""
    return _FIXED.get(variant) or LEARNERS[variant]


def _ordered(names: pd.Series) -> list[str]:
    learners = LEARNERS.ordered(set(names) - set(_FIXED))
    return [*learners, *(each for each in _FIXED if each in set(names))]


def _apart(rounds: Iterable[int]) -> list[int]:
    """The checkpoints without those that are less than a tenth below the next one kept."""
    kept: list[int] = []
    for each in sorted(set(rounds), reverse=True):
        if not kept or 10 * (kept[-1] - each) >= kept[-1]:
            kept.append(each)
    return kept


def _by_window(frame: pd.DataFrame, total: str) -> pd.DataFrame:
    """Growth of a sum per round in the windows between checkpoints: dataset, users, variant, since, round, mean,
    deviation, n, low, high, middle (of the window). Where two checkpoints are close together, the window goes on to the
    second."""
    kept = frame[frame["round"].isin(_apart(frame["round"]))]
    table = summarize(windowed(kept.assign(rounds=kept["round"]), total, "rounds"), "value",
                      [*_CASE, "variant", "since", "round"])  # fmt: skip
    return table.assign(middle=(table["since"] + 1 + table["round"]) / 2)


def violations_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Violations in a hundred rounds, in the windows of `gains_table`, with its columns.

    The rounds in which the reference's list would have violated stand beside the learners' as a variant of its own.

    Args:
        frame: runs of one choice of items and production ranker.
    """
    frame = _one_setting(frame)
    # the reference is judged in the rounds of every learner: one of them tells it
    other = frame[frame["variant"] == CHANCE].assign(variant=REFERENCE)
    parts = [
        _by_window(frame.assign(sum=100.0 * frame["violations"]), "sum"),
        _by_window(other.assign(sum=100.0 * other["reference_violations"]), "sum"),
    ]
    return pd.concat(parts, ignore_index=True)


def _curves(
    frame: pd.DataFrame, table: pd.DataFrame, what: str, first: int, ylim: Any = None, under: Sequence[Mark] = ()
) -> Drawing:
    """The windows' means at their middles, rounds from `first` on: a row of panels for each data set and a column for
    each kind of user."""
    users = Facet("users", {user: user for user in USERS.ordered(table["users"])})
    looks = {variant: series(variant, *_look(variant)) for variant in _ordered(table["variant"])}
    return lines(
        table.reset_index(drop=True), "middle", "mean", [Key("variant", looks)], Grid(users, by_data(frame), 2.5),
        spread=BAND, finish=[lambda ax, _: ax.xaxis.set_minor_formatter(NullFormatter())], ylabel=what, ncols=4,
        says=alt.ends(table, "variant", alt.plain(what), _CASE), under=under,
        axis={"xscale": "log", "xlim": (first, None), "xlabel": "round"} | ({"ylim": ylim} if ylim else {}),
    )  # fmt: skip


@styled
def violations(frame: pd.DataFrame, first: int = FIRST) -> Drawing:
    """Violations in a hundred rounds, window by window, against rounds.

    Args:
        first: windows that begin before this round are too short to be drawn.
    """
    table = violations_table(frame)
    table = table[table["since"] >= first]
    drawn = table.assign(low=table["low"].clip(lower=0.0), high=table["high"].clip(lower=0.0))
    fig = _curves(frame, drawn, f"violations in a hundred rounds\n({INTERVAL})", first, ylim=(0.0, None))
    fig.table = table.reset_index(drop=True)
    return fig


def gains_table(frame: pd.DataFrame) -> pd.DataFrame:
    """NDCG of the shown lists less that of production's for the same queries, a round, in the windows between
    checkpoints: dataset, users, variant, since, round, mean, deviation, n, low, high, middle (of the window). Where two
    checkpoints are close together, the window goes on to the second.
    """
    frame = _one_setting(frame)
    return _by_window(frame.assign(gained=frame["ndcg_total"] - frame["production_ndcg_total"]), "gained")


@styled
def gains(frame: pd.DataFrame, first: int = FIRST) -> Drawing:
    """NDCG@10 of the shown lists beside production's: what a round gains or loses, window by window.

    Args:
        first: windows that begin before this round are too short to be drawn.
    """
    table = gains_table(frame)
    what = f"NDCG@10 less production's, per round\n({INTERVAL})"
    zero = level(0.0, color=INK, label="production")
    return _curves(frame, table[table["since"] >= first], what, first, under=[zero])


def safety_table(frame: pd.DataFrame, early: Sequence[int] = (100, 1000)) -> pd.DataFrame:
    """The comparison in numbers: dataset, users, variant, and means over runs.

    Returns:
        `v_100`, `v_1000` (V(n) early on, as far as these are checkpoints), `v` (at the end), `late` and
        `late_reference` (violations in a hundred of the last rounds, the learner's and the reference's), `excess`,
        `wrong` and `wrong_production` (mean |V(R_t)| and |V(R₀)| in the last rounds), `ndcg` and `ndcg_production`
        (mean NDCG in the last rounds), `half` (half the width of the 95 % interval over runs of `v`).
    """
    frame = _one_setting(frame)
    last = int(frame["round"].max())
    keys = [*_CASE, "variant", "fold", "seed"]
    runs = frame.set_index(keys)
    at = {t: runs[runs["round"] == t] for t in (*early, since(last), last) if t in set(frame["round"])}
    end, before = at[last], at[since(last)]
    late = last - since(last)

    def rate(column: str) -> pd.Series:
        return (end[column] - before[column]) / late

    columns = {f"v_{t}": at[t]["violations"] for t in early if t in at} | {
        "v": end["violations"],
        "late": 100 * rate("violations"),
        "late_reference": 100 * rate("reference_violations"),
        "excess": end["excess"],
        "wrong": rate("inversions"),
        "wrong_production": rate("initial_inversions"),
        "ndcg": rate("ndcg_total"),
        "ndcg_production": rate("production_ndcg_total"),
    }
    table = pd.DataFrame(columns).groupby([*_CASE, "variant"], sort=False).mean().reset_index()
    spread = summarize(end.reset_index(), "violations", [*_CASE, "variant"])
    table = table.merge(spread.assign(half=spread["high"] - spread["mean"])[[*_CASE, "variant", "half"]])
    order = {name: i for i, name in enumerate(_ordered(table["variant"]))}
    kinds = {name: i for i, name in enumerate(USERS)}
    datasets = {name: i for i, name in enumerate(frame["dataset"].unique())}
    places = table.assign(a=table["dataset"].map(datasets), b=table["users"].map(kinds), c=table["variant"].map(order))
    return table.loc[places.sort_values(["a", "b", "c"]).index].reset_index(drop=True)


def safety_told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """`safety_table` as a numbered MyST table, with a group of lines for each data set and kind of user."""
    early = [column for column in table.columns if column.startswith("v_")]
    header = ["learner", *(f"V({each.removeprefix('v_')})" for each in early), "V(n)", "late, %",
              "reference, %", "largest excess", "wrong pairs", "NDCG@10"]  # fmt: skip
    groups: dict[str, list[list[str]]] = {}
    for _, line in table.iterrows():
        groups.setdefault(f"{label(line['dataset'])}, {line['users']}", []).append(
            [
                line["variant"],
                *(f"{line[each]:.1f}" for each in early),
                f"{line['v']:.0f} ± {line['half']:.0f}",
                f"{line['late']:.2f}",
                f"{line['late_reference']:.2f}",
                f"{line['excess']:.0f}",
                f"{line['wrong']:.2f} ({line['wrong_production']:.2f})",
                signed(line["ndcg"] - line["ndcg_production"]),
            ]
        )
    return myst(header, headed(groups), name=name, caption=caption)


def production_table(frame: pd.DataFrame) -> pd.DataFrame:
    """How good production's lists were for the queries of the rounds: means over the rounds of the random lists' runs.

    Returns:
        dataset, items, production, labelled (queries), `wrong` (|V(R₀)| a round), `ndcg` (of R₀), `possible` (share of
        rounds whose query has a list that would violate the constraint), `chance` (share in which a random list did).
    """
    end = frame[(frame["variant"] == CHANCE) & (frame["round"] == frame["round"].max())]
    columns = {"wrong": "initial_inversions", "ndcg": "production_ndcg_total", "possible": "possible"}
    per_round = {name: end[column] / end["round"] for name, column in (columns | {"chance": "violations"}).items()}
    keys = ["dataset", "items", "production", "labelled"]
    return end.assign(**per_round).groupby(keys, sort=False)[list(per_round)].mean().reset_index()


def production_told(table: pd.DataFrame, ranked: Mapping[str, str], *, name: str, caption: str) -> str:
    """`production_table` as a numbered MyST table; `ranked` is what the values of `items` are called."""
    header = ["data", "ranked", "labelled queries", "wrong pairs", "NDCG@10", "can violate, %", "random lists do, %"]
    rows = [
        [named(line["dataset"]), ranked[line["items"]], str(line["labelled"]), f"{line['wrong']:.2f}",
         f"{line['ndcg']:.3f}", f"{100 * line['possible']:.1f}", f"{100 * line['chance']:.1f}"]
        for _, line in table.iterrows()
    ]  # fmt: skip
    return myst(header, rows, name=name, caption=caption)


def choices_table(frame: pd.DataFrame) -> pd.DataFrame:
    """`safety_table` of every choice of items and production ranker, with these two in the last columns."""
    choice = ["items", "production"]
    parts = [
        safety_table(own).assign(**dict(zip(choice, key, strict=True))) for key, own in frames.groups(frame, choice)
    ]
    return pd.concat(parts, ignore_index=True)


def choices_told(table: pd.DataFrame, ranked: Mapping[str, str], *, name: str, caption: str) -> str:
    """Violations in a hundred of the last rounds, a column for each choice: one number for each kind of user.

    Args:
        ranked: what the values of `items` are called.
    """
    choices = list(table[["items", "production"]].drop_duplicates().itertuples(index=False, name=None))
    header = ["data", "learner", *(f"{ranked[items]}, {production}" for items, production in choices)]
    rows = []
    for dataset, own in table.groupby("dataset", sort=False):
        for variant in _ordered(own["variant"]):
            cells = []
            for items, production in choices:
                found = own[
                    (own["variant"] == variant) & (own["items"] == items) & (own["production"] == production)
                ].set_index("users")
                cells.append(" / ".join(f"{found['late'][kind]:.1f}" for kind in USERS.ordered(found.index)))
            rows.append([named(str(dataset)), variant, *cells])
    return myst(header, rows, name=name, caption=caption)


def with_parents(frame: pd.DataFrame, beside: pd.DataFrame) -> pd.DataFrame:
    """Runs of SafePairRank, with `caution`, by what its parent's α is multiplied, and below them its parents' runs of
    `beside`, whose `caution` is missing; empty if either is."""
    if frame.empty or beside.empty:
        return frame[:0]
    return pd.concat([frame, beside[beside["variant"].isin(PARENTS)]], ignore_index=True)


def caution_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What SafePairRank's wider intervals cost and save, with its parents below: means over runs.

    Returns:
        dataset, users, variant, caution, `in_100` (violations in a hundred of all rounds), `at_most` (the upper end of
        its 95 % interval over runs), `late` (in a hundred of the last rounds), `gain` (NDCG of the shown lists less
        that of production's, in the last rounds).
    """
    each = frame.groupby("caution", sort=False, dropna=False)
    table = pd.concat([safety_table(own).assign(caution=caution) for caution, own in each], ignore_index=True)
    rounds, gain = int(frame["round"].max()), table["ndcg"] - table["ndcg_production"]
    rates = {"in_100": 100 * table["v"] / rounds, "at_most": 100 * (table["v"] + table["half"]) / rounds}
    told = table.assign(**rates, gain=gain)
    return told[[*_CASE, "variant", "caution", "in_100", "at_most", "late", "gain"]]


@styled
def cautions(frame: pd.DataFrame) -> Drawing:
    """What lists gained against how often they violated the constraint, a panel for each data set: SafePairRank's
    widths joined, its parents beside them, a colour for each kind of users.
    """
    table = caution_table(frame)
    datasets = list(table["dataset"].unique())
    hollow: dict[str, Any] = {"linestyle": "", "markersize": 7, "markerfacecolor": "white"}
    fig, axes = panels([label(name) for name in datasets], table, height=3.2, sharey=False)
    for ax, name in zip(axes, datasets, strict=True):
        ax.axhline(0.0, color=QUIET, linewidth=0.9, linestyle=(0, (2, 2)))
        for kind in USERS.ordered(table["users"]):
            own = table[(table["dataset"] == name) & (table["users"] == kind)]
            line = own[own["variant"] == SAFE_RANKER].sort_values("caution")
            color = USERS[kind].color
            ax.plot(line["in_100"], line["gain"], color=color, marker="H", label=f"SafePairRank, {kind} users")
            for variant, marker in PARENTS.items():
                point = own[own["variant"] == variant]
                ax.plot(point["in_100"], point["gain"], color=color, marker=marker, **hollow)
        ax.set_xscale("symlog", linthresh=0.01)
        ax.set_xlim(left=-0.002)
        ax.set_xlabel("violations in a hundred rounds")
    axes[0].set_ylabel("NDCG@10 less production's, last fifth")
    handles, names = axes[0].get_legend_handles_labels()
    handles += [Line2D([], [], color=INK, marker=marker, **hollow) for marker in PARENTS.values()]
    legend_above(fig, handles, [*names, *PARENTS], 3)
    safe = table[table["variant"] == SAFE_RANKER]
    fig.alt = " ".join(
        alt.ends(own, "users", what, ["dataset"], "caution", y, f"SafePairRank at {width}")
        for width, own in (("PairRank's α", safe[safe["caution"] == 1]), ("its widest intervals", safe))
        for what, y in (("violations in a hundred rounds", "in_100"), ("NDCG@10 less production's", "gain"))
    )
    return fig


widths_told = partial(
    columns,
    given={
        "learner": "{variant}",
        "α, times PairRank's": "{caution:g}",
        "violations in 100 rounds": "{in_100:.2f}",
        "in the last fifth": "{late:.2f}",
        "NDCG@10 less production's": "{gain:signed}",
    },
    under=lambda line: f"{named(line.dataset)}, {line.users}",
)
"""`caution_table` as a table, with a group of lines for each data set and kind of users."""


def most_violations(table: pd.DataFrame) -> pd.Series:
    """SafePairRank's violations in a hundred rounds under the users where they are most, by data set and `caution`: the
    upper end of the interval over all rounds, or the mean of the last ones, in which intervals of a fixed α are
    narrowest, whichever is larger.

    Args:
        table: from `caution_table`.
    """
    own = table[table["variant"] == SAFE_RANKER]
    return own.groupby(["dataset", "caution"], sort=False)[["at_most", "late"]].max().max(axis=1)


def met(frame: pd.DataFrame) -> pd.Series:
    """How often a query that comes at all comes back in all rounds, in the mean of BubbleRank's runs, by data set."""
    end = frame[(frame["round"] == frame["round"].max()) & (frame["variant"] == BANDIT)]
    return (end["round"] / end["queries"]).groupby(end["dataset"], sort=False).mean()


def clicks_needed(frame: pd.DataFrame) -> int:
    """The clicks that BubbleRank needs to exchange two documents for good, if all of them favour the same one.

    An order is decided when s > 2 √(n log 1/δ). With s = n this takes more than 4 log 1/δ clicks.

    Args:
        frame: runs of BubbleRank among others, with its parameter `exponent`: δ = rounds^−exponent.
    """
    exponent = frame.loc[frame["variant"] == BANDIT, "exponent"].iloc[0]
    return int(4 * float(exponent) * np.log(frame["round"].max())) + 1
