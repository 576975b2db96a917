"""Tables of confidence bounds: coverage, violated assumptions, regret and its growth, and what they say in words.

Frames are those of `bounds`; this module computes nothing that is not there.
"""

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.papers.pairrank import bounds
from ol2r.report.tables import interval, myst, number, signed

QUANTITIES = {
    "martingale": "‖S‖ in the norm of M⁻¹",
    "interval": "Lemma 2",
    "interval inside": "Lemma 2 without the 2, where ‖θ̃‖ ≤ Q",
    "interval unprojected": "Lemma 2 for θ̃ itself",
    "potential": "elliptical potential",
}
SHUFFLES = {"random": "PairRank_R", "conservative": "PairRank_C"}
"""What a learner with each shuffle is called."""
STATEMENTS = {
    "regret ≤ open": "regret ≤ ΣN_t",
    "open ≤ allowed": "ΣN_t ≤ pairs that Lemma 2 leaves open",
    "compared": "q ΣN_t ≤ uncertain pairs that were labelled",
    "regret ≤ bound": "regret ≤ Theorem 8, corrected",
}
SAID = {True: "yes", False: "no"}
PROMISED = {True: "yes, for θ̂", False: "no"}
"""Of the projected estimate; learners rank by θ̃, which is the same where it lies in the ball."""


def share(value: float) -> str:
    """A share as a percentage with at most one decimal."""
    return f"{100 * value:.1f}".removesuffix(".0") + " %"


def _range(low: float, high: float) -> str:
    return f"[{share(low)}, {share(high)}]"


def _setting(line: frames.Row) -> str:
    return f"{line.examination}, {line.pairs}"


def width(kind: str, alpha: float) -> str:
    """What a width is called: α where it is constant, and otherwise what part of Lemma 2's."""
    if kind != "Lemma 2":
        return f"α = {alpha:g}"
    return "Lemma 2" if alpha == 1 else f"{alpha:g} · Lemma 2"


def examined(examination: str, told: str) -> str:
    """A width or a learner with who examined its lists, where these were not seen whole."""
    return told if examination == "whole" else f"{told}, {examination}"


def coverage(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Where the assumptions hold: coverage of each bound and of its half, and how slack it is.

    Args:
        table: `bounds.coverage_table` with the scales 1 and ½ among its own.
    """
    critical = bounds.critical_scales(table, quantities=tuple(QUANTITIES))
    index = ["examination", "pairs", "bound", "quantity"]
    found = critical.set_index(index)["scale"]
    judged = table[(table["assumed"] == 1) & table["quantity"].isin(list(QUANTITIES))]
    half = judged[np.isclose(judged["scale"], 0.5)].set_index(index)["coverage"]
    rows = []
    for line in frames.rows(judged[judged["scale"] == 1]):
        key = (line.examination, line.pairs, line.bound, line.quantity)
        scale = found.get(key, np.nan)
        rows.append([
            _setting(line), f"{line.bound:g}", QUANTITIES[line.quantity], str(line.worlds), share(line.nominal),
            f"{share(line.coverage)} {_range(line.low, line.high)}", share(half[key]), number(line.factor, 3),
            number(scale, 3) if np.isfinite(scale) else "none of those tried",
        ])  # fmt: skip
    header = [
        "examined, pairs",
        "Q",
        "bound",
        "worlds",
        "nominal",
        "covered [95 %]",
        "half of it",
        "slack",
        "reported at",
    ]
    return myst(header, rows, name=name, caption=caption)


def violations(frame: pd.DataFrame, *, name: str, caption: str) -> str:
    """What becomes of labels and bounds where the assumptions fail, and beside it where they hold.

    Args:
        frame: tables of `confidence_audits`, each with its cell's labels as columns.
    """
    index = ["examination", "pairs", "assumed", "bound"]
    whole = bounds.coverage_table(frame, scales=(1.0,)).set_index([*index, "quantity"])["coverage"]
    needed = frame[(frame["audit"] == "coverage") & (frame["quantity"] == "width needed") & (frame["world"] < 0)]
    needed = needed[needed["round"] == needed["round"].max()].groupby(index)["value"].mean()
    rows = []
    for line in frames.rows(bounds.bias_table(frame).sort_values("assumed", ascending=False, kind="stable")):
        key = (line.examination, line.pairs, line.assumed, line.bound)
        rows.append([
            _setting(line), f"{line.bound:g}", SAID[bool(line.assumed)],
            f"{signed(line.bias)} ({signed(line.z, 1)} s.e.)",
            share(line.examined), share(whole[(*key, "martingale")]), share(whole[(*key, "interval")]),
            number(needed.get(key, np.nan), 2),
        ])  # fmt: skip
    header = [
        "examined, pairs", "Q", "assumptions hold", "bias of labels", "lists seen whole", "martingale bound", "Lemma 2",
        "constant needed",
    ]  # fmt: skip
    return myst(header, rows, name=name, caption=caption)


def growth(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """How regret grows over the last doublings of T.

    Args:
        table: `bounds.growth`.
    """
    rows = []
    for line in frames.rows(table):
        exponents = (line.exponent, line.exponent_low, line.exponent_high)
        p, low, high = (f"{exponent:.2f}".replace("-", "−") for exponent in exponents)
        slower = "undecided" if not np.isfinite(line.slower) else SAID[line.slower == 1]
        change = f"{signed(line.change, 4)} {interval(line.low, line.high, 4)}"
        rounds = f"{line.since:,} – {line.round:,}"
        learner = [SHUFFLES[line.shuffle], examined(line.examination, width(line.width, line.alpha))]
        rows.append([*learner, rounds, f"{p} [{low}, {high}]", change, slower])
    header = [
        "learner",
        "width",
        "rounds",
        "exponent p of log^p T [95 %]",
        "change of R/log⁴ T [95 %]",
        "slower than log⁴ T",
    ]
    return myst(header, rows, name=name, caption=caption)


def proved(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """What is proved of regret and open orders, and in how many worlds it held.

    Args:
        table: `bounds.within_bounds`.
    """
    rows = []
    for line in frames.rows(table):
        slack = number(line.slack, 3) + (" (vacuous: above all pairs)" if line.vacuous else "")
        held, promised = f"{line.held} of {line.worlds}", PROMISED[bool(line.assumed)]
        learner = [SHUFFLES[line.shuffle], examined(line.examination, width(line.width, line.alpha))]
        rows.append([*learner, STATEMENTS[line.statement], promised, held, slack])
    return myst(
        ["learner", "width", "statement", "promised", "held in worlds", "slack"], rows, name=name, caption=caption
    )


def allowed_in_words(table: pd.DataFrame) -> str:
    """How many times all pairs Theorem 8 allows where it allows least, corrected and as printed, in a sentence; empty
    where it applies nowhere.

    Args:
        table: `bounds.regret_figure`.

    Raises:
        ValueError: a bound is less than all pairs somewhere, so that it would have to be drawn.
    """
    own = table[table["examination"] == "whole"]
    least = own[["bound", "printed_bound"]].div(own["everything"], axis=0).min()
    if (least < 1).any():
        raise ValueError("a bound below the number of all pairs has to be drawn")
    if least.isna().any():
        return ""
    corrected, printed = (number(value, 2) for value in least)
    return f"Where it allows least, Theorem 8 allows {corrected} times all pairs; as printed, {printed} times."


def worlds_in_words(frame: pd.DataFrame) -> str:
    """What kinds of world were drawn, and how they were run, in a sentence each.

    Args:
        frame: tables of `confidence_audits`, each with its cell's labels as columns; those of a figure.
    """
    columns = ["worlds", "rounds", "dimension", "documents", "queries", "norm", "bound", "regularization", "delta"]
    told = [
        f"{line.worlds} worlds, T = {line.rounds:,}, d = {line.dimension}, V = {line.documents}, "
        f"{line.queries} queries, u = {line.norm:g}, Q = {line.bound:g}, λ = {line.regularization:g}, "
        f"δ₁ = {number(line.delta, 3)}."
        for line in frames.rows(frame[columns].drop_duplicates())
    ]
    return " ".join(told)


def slack_in_words(table: pd.DataFrame) -> str:
    """What halving each bound does where the assumptions hold, in a sentence each.

    Args:
        table: `bounds.coverage_table` with the scale ½ among its own.
    """
    judged = table[(table["assumed"] == 1) & np.isclose(table["scale"], 0.5)]
    told = []
    for quantity, called in (("martingale", "martingale bound"), ("interval", "radius of Lemma 2")):
        own = judged[judged["quantity"] == quantity]
        covered = f"{share(own['coverage'].min())} to {share(own['coverage'].max())}"
        factor = f"{number(own['factor'].min(), 3)} to {number(own['factor'].max(), 3)}"
        told.append(
            f"Half of the {called} would have covered {covered} of the worlds; divided by {factor} it would still "
            "cover what it promises."
        )
    return " ".join(told)


def widths_in_words(table: pd.DataFrame) -> str:
    """Lemma 2's width and the constant beside what would have been enough, after the last round.

    Args:
        table: `bounds.width_figure`.
    """
    told = []
    for bound, own in table.groupby("bound"):
        line = own.sort_values("round").iloc[-1]
        needed = line["needed"]
        told.append(
            f"With Q = {bound:g}, after {line['round']:,.0f} rounds, Lemma 2's width is "
            f"{number(line['theoretical'], 3)}, enough would have been {number(needed, 2)}, and the constant is "
            f"{line['constant']:g}: {number(line['theoretical'] / needed, 3)} and "
            f"{number(line['constant'] / needed, 2)} times what was needed."
        )
    return " ".join(told)


def settling_in_words(table: pd.DataFrame) -> str:
    """When theory says that nothing is uncertain any more, beside the pairs that were seen.

    Args:
        table: `bounds.settling`.
    """
    line = table.iloc[0]
    explicit, corrected, printed, pays = (
        number(line[name], 2) for name in ("explicit_pairs", "corrected_pairs", "printed_rounds", "bound_pays")
    )
    return (
        f"In these worlds, with a least gap of {number(line['gap'], 3)}, {line['pairs']:,.0f} pairs were labelled in "
        f"{line['rounds']:,.0f} rounds. All orders are certain at the latest after {explicit} pairs by "
        f"{{prf:ref}}`pairrank-cor-settled`; after {corrected} by the paper's condition, corrected, with both "
        f"universal constants at 1; after {printed} rounds as printed. The corrected Theorem 8 is below the number of "
        f"all pairs from about {pays} rounds on."
    )
