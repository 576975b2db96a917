"""Figures that only the comparison draws: what a ranker costs its users, average ranks, curves by kind of learner.

Figures that other chapters draw as well are in `ol2r.report.figures` and `ol2r.papers.olranknet.figures`. Every figure
aggregates first and keeps the aggregate as its table.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.experiments.effects import summarize
from ol2r.papers.comparison.grid import COMPARED, NETWORKS, NSGD, P2LINRANK, STARTERS, STARTS, UNTRAINED
from ol2r.papers.comparison.measures import interval_of, over_users
from ol2r.papers.comparison.ranks import Ranks
from ol2r.papers.olranknet import figures as neural_figures
from ol2r.papers.olranknet.figures import OFFLINE
from ol2r.report import alt, figures
from ol2r.report.choice import Choice, apart
from ol2r.report.grammar import BAND, Facet, Grid, lines, registered
from ol2r.report.style import (
    BLUE,
    INK,
    ORANGE,
    RED,
    SKY,
    USERS,
    Drawing,
    Look,
    Looks,
    legend,
    panels,
    spelled,
    styled,
)

KINDS = {"linear": BLUE, "network": RED}
"""Colours of the two kinds of rankers."""
GROUPS: dict[str, tuple[str, ...]] = {
    "linear rankers": ("PairRank", P2LINRANK, "PDGD", "epsilon-greedy"),
    "dueling bandits": (NSGD, "DBGD"),
    "networks": NETWORKS,
}
"""Whose curves stand in one drawing."""
AREAS = 18.0, 110.0
"""Areas of the marks of the quickest and of the slowest learner, in points²."""


def kind_of(variant: str) -> str:
    """Whether a learner's ranker is linear or a network."""
    return "network" if variant in NETWORKS else "linear"


def traded(runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """What each learner's ranker is worth, and what its lists cost the users.

    Args:
        runs: from `measures.of_runs`, of one data set.
        costs: from `measures.costs`; empty without timings.

    Returns:
        users, variant, number (its place among all learners), lost (NDCG@10 that the shown lists lack to those of the
        learner whose lists were best under these users, paired by run) with lost_low and lost_high, mean (offline
        NDCG@10 after the last round) with low and high, milliseconds (of a round; NaN where not timed).
    """
    speed = costs.set_index("variant")["milliseconds"] if len(costs) else pd.Series(dtype=float)
    found = []
    for kind in USERS.ordered(runs["users"]):
        shown, ranker = (over_users(runs, column, (kind,)) for column in ("lists", "offline"))
        best = shown.mean().idxmax()
        for number, name in enumerate(COMPARED, start=1):
            if name not in shown:
                continue
            lost = interval_of((shown[best] - shown[name]).dropna())
            found.append((kind, name, number, *lost, *interval_of(ranker[name].dropna()), speed.get(name, np.nan)))
    columns = ["users", "variant", "number", "lost", "lost_low", "lost_high", "mean", "low", "high", "milliseconds"]
    return pd.DataFrame(found, columns=columns)


def _areas(milliseconds: pd.Series) -> np.ndarray:
    """Areas of marks that grow with the logarithm of the time of a round."""
    logs = np.log10(milliseconds.to_numpy(float))
    least, most = np.nanmin(logs), np.nanmax(logs)
    share = (logs - least) / (most - least) if most > least else np.zeros(len(logs))
    return AREAS[0] + np.nan_to_num(share) * (AREAS[1] - AREAS[0])


@styled
def trade_off(table: pd.DataFrame) -> Drawing:
    """Offline NDCG@10 at the end against what the shown lists cost the users, a panel for each kind of user.

    Each learner is a numbered mark whose area grows with the time of a round; bars are 95 % intervals over runs. The
    axes hold all marks; a bar may go on beyond them, so that one learner with a wide interval does not squeeze the
    others.
    """
    users = USERS.ordered(table["users"])
    fig, axes = panels(users, table, height=4.2)
    timed = table["milliseconds"].notna().any()
    table = table.assign(area=_areas(table["milliseconds"]) if timed else AREAS[0] * 2)
    for ax, kind in zip(axes, users, strict=True):
        own = table[table["users"] == kind].sort_values("area", ascending=False, kind="stable")
        for line in frames.rows(own):
            color = KINDS[kind_of(str(line.variant))]
            ax.errorbar(
                [line.lost], [line.mean], xerr=_bar(line.lost, line.lost_low, line.lost_high),
                yerr=_bar(line.mean, line.low, line.high), color=color, elinewidth=0.8, alpha=0.45, zorder=2,
            )  # fmt: skip
            ax.scatter([line.lost], [line.mean], s=line.area, color=color, edgecolors="white", linewidths=0.8, zorder=3)
            ax.annotate(
                str(line.number), (line.lost, line.mean), (3.5, 3.5), textcoords="offset points", color=color,
                fontsize=8, zorder=4,
            )  # fmt: skip
        ax.set_xlabel("NDCG@10 lost a round")
        ax.grid(True, axis="both")
        ax.set(xlim=_around(own["lost"]), ylim=_around(table["mean"]))
    axes[0].set_ylabel(f"{OFFLINE}\n({figures.INTERVAL})")
    present = [name for name in COMPARED if name in set(table["variant"])]
    numbered = {name: f"{COMPARED.index(name) + 1} {spelled(name)}" for name in present}
    handles = [
        Line2D([], [], linestyle="", marker="o", color=KINDS[kind_of(name)], label=label)
        for name, label in numbered.items()
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=4, handlelength=1.0)
    fig.alt = _traded_in_words(table)
    return fig


def _around(values: pd.Series, margin: float = 0.12) -> tuple[float, float]:
    """Limits of an axis that hold all values."""
    room = margin * max(values.max() - values.min(), 1e-3)
    return float(values.min() - room), float(values.max() + room)


def _bar(value: float, low: float, high: float) -> np.ndarray | None:
    """The lengths of an error bar below and above a value, [2, 1]; None where the interval is not known."""
    return None if np.isnan(low) else np.array([[value - low], [high - value]])


def _traded_in_words(table: pd.DataFrame) -> str:
    told = []
    for kind in USERS.ordered(table["users"]):
        own = table[table["users"] == kind]
        best, dear = frames.line(own, own["mean"].idxmax()), frames.line(own, own["lost"].idxmax())
        kept = ", ".join(spelled(name) for name in own.loc[own["lost"] == own["lost"].min(), "variant"])
        told.append(
            f"{alt.place('users', kind)} the best ranker is {spelled(best['variant'])}'s ({alt.number(best['mean'])}), "
            f"whose users lost {alt.number(best['lost'])}; those of {kept} lost least, those of "
            f"{spelled(dear['variant'])} most ({alt.number(dear['lost'])})"
        )
    return f"Offline NDCG@10, and NDCG@10 that users lost a round: {'; '.join(told)}."


def curves(frame: pd.DataFrame) -> Choice:
    """Offline NDCG@10 against rounds, rounds on a logarithmic axis: a drawing for each of `GROUPS`, all on one scale.

    Args:
        frame: runs of one data set.
    """
    drawings = {
        name: figures.grouped_curves(frame, "ndcg", {name: variants}, OFFLINE)
        for name, variants in GROUPS.items()
        if set(variants) & set(frame["variant"])
    }
    ends = [ax.get_ylim() for each in drawings.values() for ax in each.axes]
    for ax in (ax for each in drawings.values() for ax in each.axes):
        ax.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    return Choice(drawings, "group")


def leads(frame: pd.DataFrame, baseline: str) -> Drawing:
    """What every other learner has more than a baseline after the last round: offline, and in the shown lists.

    Args:
        frame: runs of one data set.
    """
    others = [name for name in COMPARED if name != baseline and name in set(frame["variant"])]
    return neural_figures.lead_dots(neural_figures.leads(frame, baseline, variants=others), baseline)


def leads_elsewhere(frame: pd.DataFrame, baseline: str) -> Choice:
    """`leads` on every data set, each behind a tab."""
    return apart(leads, frame, "dataset", label, baseline)


STARTED = Looks()
"""Looks of starts: an untrained learner in ink, right starts in blues, wrong ones in warm colours."""
for _name, _look in zip(
    (UNTRAINED, *STARTS),
    (
        Look(INK, "o", "-"),
        Look(BLUE, "s", (0, (8, 1))),
        Look(SKY, "^", (0, (4, 1.3))),
        Look(ORANGE, "v", (0, (4, 1, 1, 1))),
        Look(RED, "D", (0, (1.5, 1.2))),
    ),
    strict=True,
):
    STARTED.register(_name, _look)


@styled
def start_curves(frame: pd.DataFrame) -> Drawing:
    """Offline NDCG@10 against rounds on a logarithmic axis from each start, a panel for each learner.

    Args:
        frame: runs of one data set and one kind of users, with `variant` and `began`.
    """
    table = summarize(frame[frame["round"] > 0], "ndcg", ["variant", "began", "round"]).sort_values("round")
    names = Facet("variant", {name: spelled(name) for name in STARTERS if name in set(table["variant"])})
    return lines(
        table, "round", "mean", [registered("began", STARTED, table["began"])], Grid(names, height=2.2, wrap=3),
        spread=BAND, axis={"xscale": "log", "xlabel": "round"}, ylabel=OFFLINE,
        finish=[lambda ax, _: ax.xaxis.set_major_formatter("{x:,.0f}")],
        says=alt.ends(table, "began", OFFLINE, ["variant"]),
    )  # fmt: skip


@styled
def rank_bars(found: Mapping[str, Ranks]) -> Drawing:
    """Average ranks, a panel for each number: bars of half a critical difference to either side; learners whose bars do
    not meet are apart.

    Args:
        found: by what the number is called.
    """
    table = pd.concat([each.table.assign(panel=name) for name, each in found.items()], ignore_index=True)
    fig, axes = panels(found, table, height=1.3 + 0.3 * table["variant"].nunique(), sharey=False)
    for ax, own in zip(axes, found.values(), strict=True):
        for place, line in enumerate(frames.rows(own.table)):
            color = KINDS[kind_of(str(line.variant))]
            ax.errorbar(
                [line.rank], [place], xerr=[[line.rank - line.low], [line.high - line.rank]], color=color, marker="o",
                elinewidth=1.2, capsize=2.5, label=kind_of(str(line.variant)),
            )  # fmt: skip
        ax.set_yticks(range(len(own.table)), [spelled(name) for name in own.table["variant"]])
        ax.set_xlabel(f"average rank over {own.blocks} blocks\n(± half of the critical difference)")
        ax.grid(True, axis="x")
        ax.invert_yaxis()
    legend(fig, axes)
    told = (
        f"{name}: {', '.join(f'{spelled(str(line.variant))} {line.rank:.1f}' for line in frames.rows(each.table))}; "
        f"critical difference {each.critical:.1f}"
        for name, each in found.items()
    )
    fig.alt = f"Average ranks, the best first. {'. '.join(told)}."
    return fig


def unsafe_dots(runs: pd.DataFrame) -> pd.DataFrame:
    """Violations of a hundred lists with 95 % intervals, in the form of `report.figures.dots`; fewest first.

    Args:
        runs: from `measures.unsafe`, of one data set.

    Returns:
        panel, row (the learner), users, mean, low, high.
    """
    found = [
        (name, kind, *interval_of(own.set_index(["fold", "seed"])["violations"]))
        for (name, kind), own in runs.groupby(["variant", "users"], sort=False)
    ]
    table = pd.DataFrame(found, columns=["row", "users", "mean", "low", "high"]).assign(panel="violations")
    order = table.groupby("row")["mean"].mean().sort_values(kind="stable").index
    kinds = list(USERS)
    keys = table.assign(place=table["row"].map(list(order).index), kind=table["users"].map(kinds.index))
    return keys.sort_values(["place", "kind"], kind="stable").drop(columns=["place", "kind"]).reset_index(drop=True)
