"""Tables of confidence bounds: coverage, violated assumptions, regret and its growth.

Frames are those of `bounds`; this module computes nothing that is not there.
"""

from functools import partial

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.papers.audits import COVERED, halved
from ol2r.papers.pairrank import bounds
from ol2r.report.tables import Column, columns, number

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


def width(kind: str, alpha: float) -> str:
    """What a width is called: α where it is constant, and otherwise what part of Lemma 2's."""
    if kind != "Lemma 2":
        return f"α = {alpha:g}"
    return "Lemma 2" if alpha == 1 else f"{alpha:g} · Lemma 2"


def examined(examination: str, told: str) -> str:
    """A width or a learner with who examined its lists, where these were not seen whole."""
    return told if examination == "whole" else f"{told}, {examination}"


def _learner(line: frames.Row) -> str:
    return examined(line.examination, width(line.width, line.alpha))


def coverage(table: pd.DataFrame, **told: str) -> str:
    """Coverage of each bound and its half where the assumptions hold: of `bounds.coverage_table`, scales 1 and ½."""
    index = ["examination", "pairs", "bound", "quantity"]
    critical = bounds.critical_scales(table, quantities=tuple(QUANTITIES))
    judged = table[(table["assumed"] == 1) & table["quantity"].isin(list(QUANTITIES))]
    wide = halved(judged, bounds.SETTING).merge(critical[[*index, "scale"]], "left", index, suffixes=("", "_found"))
    given: dict[str, Column] = {"examined, pairs": "{examination}, {pairs}", "Q": "{bound:g}"}
    given |= {"bound": lambda line: QUANTITIES[line.quantity], **COVERED}
    given["reported at"] = lambda line: (
        number(line.scale_found, 3) if np.isfinite(line.scale_found) else "none of those tried"
    )
    return columns(wide, given, **told)


def violations(frame: pd.DataFrame, **told: str) -> str:
    """What becomes of labels and bounds where the assumptions fail, and beside it where they hold.

    Args:
        frame: tables of `confidence_audits`, each with its cell's labels as columns.
    """
    index = ["examination", "pairs", "assumed", "bound"]
    covered = bounds.coverage_table(frame, scales=(1.0,)).pivot_table("coverage", index, "quantity")
    needed = frame[(frame["audit"] == "coverage") & (frame["quantity"] == "width needed") & (frame["world"] < 0)]
    needed = needed[needed["round"] == needed["round"].max()].groupby(index)["value"].mean().rename("needed")
    table = bounds.bias_table(frame).sort_values("assumed", ascending=False, kind="stable")
    return columns(
        table.join(covered, index).join(needed, index),
        {
            "examined, pairs": "{examination}, {pairs}",
            "Q": "{bound:g}",
            "assumptions hold": lambda line: SAID[bool(line.assumed)],
            "bias of labels": "{bias:signed} ({z:signed 1} s.e.)",
            "lists seen whole": "{examined:share}",
            "martingale bound": "{martingale:share}",
            "Lemma 2": "{interval:share}",
            "constant needed": "{needed:number 2}",
        },
        **told,
    )


def _exponent(line: frames.Row) -> str:
    return f"{line.exponent:.2f} [{line.exponent_low:.2f}, {line.exponent_high:.2f}]".replace("-", "−")


growth = partial(
    columns,
    given={
        "learner": lambda line: SHUFFLES[line.shuffle],
        "width": _learner,
        "rounds": "{since:,} – {round:,}",
        "exponent p of log^p T [95 %]": _exponent,
        "change of R/log⁴ T [95 %]": "{change:signed 4} [{low:signed 4}, {high:signed 4}]",
        "slower than log⁴ T": lambda line: "undecided" if np.isnan(line.slower) else SAID[line.slower == 1],
    },
)
"""How regret grows over the last doublings of T: of `bounds.growth`."""

proved = partial(
    columns,
    given={
        "learner": lambda line: SHUFFLES[line.shuffle],
        "width": _learner,
        "statement": lambda line: STATEMENTS[line.statement],
        "promised": lambda line: PROMISED[bool(line.assumed)],
        "held in worlds": "{held} of {worlds}",
        "slack": lambda line: number(line.slack, 3) + (" (vacuous: above all pairs)" if line.vacuous else ""),
    },
)
"""What is proved of regret and open orders, and in how many worlds it held: of `bounds.within_bounds`."""
