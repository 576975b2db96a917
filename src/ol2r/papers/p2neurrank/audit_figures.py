"""Figures of P²NeurRank's theory: how often its bounds hold, and what rankers agree on.

Tables are those of `bounds`; this module draws them and computes nothing.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from ol2r import frames
from ol2r.papers.p2neurrank.audits import STOPPED, UNCERTAIN
from ol2r.report import alt
from ol2r.report.style import BLUE, GREEN, INK, MAUVE, ORANGE, QUIET, RED, SERIES, TEAL, Drawing, legend, panels, styled

DASHED, DOTTED = (0, (5, 1.5)), (0, (1, 1.2))
THRESHOLD: dict[str, Any] = {"color": QUIET, "linewidth": 0.9, "linestyle": (0, (2, 2))}
BOUNDS = {"interval": "corrected", "interval as printed": "as printed", STOPPED: "corrected, users who stop"}
VARIANCES = {
    "all perturbed": ("noise on pseudo-pairs as well", BLUE, "o", "-"),
    "labels perturbed": ("noise on labels alone", RED, "s", DASHED),
}
FAILURES = {
    "N of the lemma": ("as many as Lemma 4.4 asks for", RED, "s", DASHED),
    "N corrected": ("as many as are enough", BLUE, "o", "-"),
    "N = 2": ("N = 2", ORANGE, "v", DOTTED),
    "N = 5": ("N = 5", MAUVE, "^", DOTTED),
    "N = 10": ("N = 10", GREEN, "D", DOTTED),
}
PROBABILITY = ("probability", INK, "o", "-")
LIMITS = {
    "bound": (TEAL, "v", (0, (8, 1))),
    "bound, curved": (BLUE, "D", DASHED),
    "bound of the proof": (ORANGE, "s", (0, (3, 1, 1, 1))),
    "bound as printed": (RED, "^", DOTTED),
}
SPOTS = {
    "labels perturbed": ("two rankers, noise on labels alone", RED, "s", DASHED),
    "all perturbed": ("two rankers, noise on pseudo-pairs as well", ORANGE, "o", "-"),
    "α = 0.1": ("PairRank, α = .1", GREEN, "^", DOTTED),
    "α": ("PairRank, Lemma 4.2's α", BLUE, "D", (0, (8, 1))),
}


def setting(line: Any) -> str:
    """A kind of world in a few words: d, Q and λ."""
    return f"d = {line.dimension:g}, Q = {line.bound:g}, λ = {line.regularization:,g}"


def strength(noise: float, beta: float) -> str:
    """How strong the noise is: ν², or β where ν was set by it."""
    return f"β = {beta:g}" if beta else f"ν² = {noise:g}"


def learner(noise: float, rankers: float, pseudo_pairs: float) -> str:
    """A learner of the audits of regret."""
    if not noise:
        return "no noise"
    return f"N = {rankers:g}, ν² = {noise:g}" + (", pseudo-pairs too" if pseudo_pairs else "")


@styled
def coverage_against_scale(table: pd.DataFrame) -> Drawing:
    """Share of worlds in which Lemma 4.2, scaled, held at every look: corrected, as printed, and corrected with users
    who stop, which its assumption on labels does not allow.
    """
    fig, axes = panels(BOUNDS.values(), table, height=3.4)
    colors = dict(zip(dict.fromkeys(setting(line) for line in frames.rows(table)), SERIES, strict=False))
    for ax, quantity in zip(axes, BOUNDS, strict=True):
        kinds = ["dimension", "bound", "regularization"]
        for _, own in frames.groups(table[table["quantity"] == quantity], kinds):
            kind = setting(next(frames.rows(own)))
            own = own.sort_values("scale", kind="stable")
            ax.plot(own["scale"], own["coverage"], color=colors[kind])
        ax.axhline(table["nominal"].max(), **THRESHOLD)
        ax.axvline(1.0, **THRESHOLD)
        ax.set(xscale="log", xlabel="multiple of the radius", ylim=(-0.02, 1.02))
    axes[0].set_ylabel("share of worlds in which\nall intervals covered")
    fig.legend(
        handles=[Line2D([], [], color=color, label=kind) for kind, color in colors.items()],
        loc="outside upper center", ncols=3,
    )  # fmt: skip
    intervals = {
        "interval": "for the corrected interval",
        "interval as printed": "for the printed one",
        STOPPED: "for the corrected one with users who stop",
    }
    own = table.assign(kind=[setting(line) for line in frames.rows(table)], interval=table["quantity"].map(intervals))
    what, level = "The share of worlds in which a multiple of the radius covered all pairs", table["nominal"].max()
    fig.alt = alt.reaches(own, "kind", what, ["interval"], "scale", "multiple", level, y="coverage")
    return fig


@styled
def variance_against_rounds(table: pd.DataFrame) -> Drawing:
    """Variance of the noise over what A.2 says, against rounds; a panel for each λ."""
    cases = [(key, own) for (key,), own in frames.groups(table, ["regularization"])]
    fig, axes = panels([f"λ = {key:g}" for key, _ in cases], table, height=2.8)
    for ax, (_, own) in zip(axes, cases, strict=True):
        for quantity, (told, color, mark, style) in VARIANCES.items():
            mine = own[own["quantity"] == quantity].sort_values("round", kind="stable")
            ax.errorbar(
                mine["round"], mine["mean"], 2 * mine["standard_error"], color=color, marker=mark, ls=style,
                elinewidth=0.9, label=told,
            )  # fmt: skip
        ax.axhline(1.0, **THRESHOLD)
        ax.set(xscale="log", xlabel="round", ylim=(0, None))
    axes[0].set_ylabel("variance over ν²‖x‖²\n(mean over worlds ± 2 s.e.)")
    legend(fig, axes)
    own = _told(table, VARIANCES).assign(penalty=[f"with λ = {each:g}" for each in table["regularization"]])
    fig.alt = alt.courses(own, "told", "the variance over ν²‖x‖²", ["penalty"], "round", "the round")
    return fig


def _told(table: pd.DataFrame, looks: Mapping[str, tuple]) -> pd.DataFrame:
    """The table with what its lines are called as `told`, which is missing where a quantity is not drawn."""
    return table.assign(told=table["quantity"].map({name: look[0] for name, look in looks.items()}))


@styled
def failures_against_beta(table: pd.DataFrame) -> Drawing:
    """Share of worlds without an optimistic ranker against β, for as many rankers as are asked for and for few."""
    fig, (ax,) = panels([""], table, height=3.2)
    for quantity, (told, color, mark, style) in FAILURES.items():
        own = table[table["quantity"] == quantity]
        if len(own):
            ax.errorbar(
                own["beta"], own["failed"], [own["failed"] - own["low"], own["high"] - own["failed"]], color=color,
                marker=mark, ls=style, elinewidth=0.9, label=told,
            )  # fmt: skip
    ax.axhline(table["delta"].max(), **THRESHOLD)
    ax.set(xlabel="β of Lemma 4.4's proof (larger: less noise)", ylim=(-0.02, 1.02))
    ax.set_ylabel("share of worlds in which\nno ranker is optimistic")
    legend(fig, [ax], ncols=3)
    what = "the share of worlds in which no ranker is optimistic"
    course = alt.courses(_told(table, FAILURES), "told", what, [], "beta", "β", y="failed")
    fig.alt = f"{course} The promised share is {table['delta'].max():g}."
    return fig


@styled
def uncertain_against_labels(table: pd.DataFrame) -> Drawing:
    """Probability that an order is not unanimously right, and its bounds, against labels of each pair."""
    cases = frames.groups(table, ["noise", "beta", "rankers"])
    named = [(f"N = {rankers:g}, {strength(noise, beta)}", own) for (noise, beta, rankers), own in cases]
    fig, axes = panels([name for name, _ in named], table, height=3.4)
    for ax, (_, own) in zip(axes, named, strict=True):
        told, color, mark, style = PROBABILITY
        lines = {told: (told, color, mark, style)}
        lines |= {name: (UNCERTAIN[name], *look) for name, look in LIMITS.items()}
        for quantity, (label, color, mark, style) in lines.items():
            mine = own[(own["quantity"] == quantity) & (own["mean"] > 0)].sort_values("labels", kind="stable")
            ax.plot(mine["labels"], mine["mean"], color=color, marker=mark, ls=style, label=label)
        ax.set(xscale="log", yscale="log", ylim=(1e-5, 2), xlabel="labels of each pair")
    axes[0].set_ylabel("probability that an order is\nnot unanimously right")
    legend(fig, axes, ncols=3)
    shown = pd.concat([part.assign(panel=f"with {name}") for name, part in named])
    shown = shown.assign(line=shown["quantity"].map({PROBABILITY[0]: "the orders themselves"} | UNCERTAIN))
    each = shown["quantity"] == PROBABILITY[0]
    case = ["panel", "labels"]
    pairs = shown[each].merge(shown[~each], on=case, suffixes=("", "_allowed"))
    last = shown[each & (shown["mean"] > 0)].groupby("panel", sort=False)["labels"].max()
    upto = shown[shown["labels"] <= shown["panel"].map(last)]
    when = "With the most labels that leave a probability above 0"
    fig.alt = " ".join([
        alt.ends(upto, "line", "probability or bound", ["panel"], x="labels", when=when),
        f"The probability is above a bound in {(pairs['mean'] > pairs['mean_allowed']).sum()} of {len(pairs)} cases.",
    ])  # fmt: skip
    return fig


@styled
def regret_against_rounds(table: pd.DataFrame) -> Drawing:
    """Misordered pairs against rounds on the left; those among them on which all rankers agree on the right."""
    fig, axes = panels(["all misordered pairs", "all rankers agree on the wrong order"], table, height=3.4)
    marks = ("o", "s", "D", "v", "^", "P")
    styles = ("-", DASHED, DOTTED, (0, (8, 1)), (0, (3, 1, 1, 1)), (0, (2, 1)))
    cases = frames.groups(table, ["noise", "rankers", "pseudo_pairs"])
    for (key, own), color, mark, style in zip(cases, SERIES, marks, styles, strict=False):
        own = own.sort_values("round", kind="stable")
        for ax, column in zip(axes, ("regret", "wrong"), strict=True):
            error = 2 * own["standard_error"] if column == "regret" else None
            ax.errorbar(
                own["round"], own[column], error, color=color, marker=mark, ls=style, elinewidth=0.9,
                label=learner(*key),
            )  # fmt: skip
    for ax in axes:
        ax.set(xscale="log", yscale="log", ylim=(0.5, None), xlabel="round")
    axes[0].set_ylabel("pairs so far (mean over worlds,\nleft ± 2 standard errors)")
    legend(fig, axes, ncols=3)
    own = table.assign(learner=[learner(line.noise, line.rankers, line.pseudo_pairs) for line in frames.rows(table)])
    common = own.groupby("learner")["round"].max().min()
    until, when = own[own["round"] <= common], f"After {alt.number(common)} rounds"
    fig.alt = " ".join([
        alt.courses(own, "learner", "the number of misordered pairs", [], "round", "the round", y="regret"),
        alt.ends(until, "learner", "misordered pairs on which all rankers agree", [], y="wrong", when=when),
    ])  # fmt: skip
    return fig


@styled
def blind_spot(table: pd.DataFrame) -> Drawing:
    """Probability that the wrong order of a pair with an unseen direction is certain; a panel for each ν²."""
    cases = [(key, own) for (key,), own in frames.groups(table, ["noise"])]
    fig, axes = panels([f"ν² = {key:g}" for key, _ in cases], table, height=3.0)
    for ax, (_, own) in zip(axes, cases, strict=True):
        for quantity, (told, color, mark, style) in SPOTS.items():
            mine = own[own["quantity"] == quantity].sort_values("labels", kind="stable")
            ax.plot(mine["labels"], mine["mean"], color=color, marker=mark, ls=style, label=told)
        ax.set(xscale="log", xlabel="labels of the other direction", ylim=(-0.03, 1.03))
    axes[0].set_ylabel("probability that the wrong\norder is certain")
    legend(fig, axes, ncols=2)
    own = _told(table, SPOTS).assign(strength=[f"with ν² = {each:g}" for each in table["noise"]])
    fig.alt = alt.courses(own, "told", "the probability", ["strength"], "labels", "the number of labels")
    return fig
