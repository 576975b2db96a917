"""Tables of P²NeurRank's theory.

Frames are those of `bounds`; this module computes nothing that is not there.
"""

from functools import partial

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.papers.audits import COVERED, halved
from ol2r.papers.olranknet.audit_tables import errata
from ol2r.papers.p2neurrank import bounds
from ol2r.papers.p2neurrank.audit_figures import learner, setting, strength
from ol2r.papers.p2neurrank.audits import RANKERS, UNCERTAIN
from ol2r.report.tables import Column, columns, named

__all__ = ["errata"]

QUANTITIES = {
    "martingale": "martingale bound",
    "interval": "Lemma 4.2, corrected",
    "interval, pseudo-pairs": "the same for Eq. 4.2's estimate",
    "interval as printed": "Lemma 4.2 as printed, for Eq. 4.2's estimate",
}


def power(exponent: float) -> str:
    """A number of rankers, given as a power of ten: in digits up to a thousand, as a power in MyST beyond."""
    if exponent < 3:
        return f"{max(np.ceil(10**exponent - 1e-9), 1):.0f}"
    return f"$10^{{{exponent:,.0f}}}$".replace(",", "{,}")


def coverage(table: pd.DataFrame, **told: str) -> str:
    """Coverage of each bound and of its half, and how slack it is: of `bounds.coverage_table` with scales 1 and ½."""
    given: dict[str, Column] = {"worlds of": setting, "bound": lambda line: QUANTITIES[line.quantity], **COVERED}
    return columns(halved(table, bounds.WORLD), given, **told)


needed = partial(
    columns,
    given={
        "worlds of": setting,
        "α corrected": "{alpha:.3g}",
        "enough": "{needed:.2g}",
        "α as printed": "{printed:.3g}",
        "enough for Eq. 4.2": "{needed_twice:.2g}",
        "moved by pseudo-pairs": "{moved:.2g}",
    },
)
"""Both widths of Lemma 4.2 beside what would have been enough: of `bounds.needed_table`."""


def asked(table: pd.DataFrame, **told: str) -> str:
    """How many rankers are asked for in the experiments' settings: of `bounds.settings_table`."""
    best = "better than any setting"
    return columns(
        table,
        {
            "setting": lambda r: best if r.setting == "best case" else f"{named(r.setting)}, d = {r.dimension}",
            "λ": "{regularization:g}",
            "ν²": "{noise:g}",
            "α": "{alpha:.3g}",
            "β, proof": "{printed_beta:,.0f}",
            "N, proof": lambda line: power(line.printed_power),
            "β, corrected": "{beta:,.0f}",
            "N, corrected": lambda line: power(line.power),
            f"ν² at which {table['fewest'].iloc[0]:.0f} are enough": "{enough:,.0f}",
        },
        **told,
    )


def optimism(table: pd.DataFrame, **told: str) -> str:
    """Wrong orders and on how many of them all rankers agree, in the audited worlds: of `bounds.optimism_table`."""
    return columns(
        table[table["noise"] > 0],
        {
            "λ": "{regularization:g}",
            "ν²": "{noise:g}",
            "perturbed": lambda line: "all" if line.pseudo_pairs else "labels",
            "wrong": "{wrong:share}",
            **{f"N = {n}": f"{{wrong and certain, N = {n}:share}}" for n in RANKERS},
            "PairRank, α = .1": "{wrong and certain, α = 0.1:share}",
            "PairRank, Lemma 4.2": "{wrong and certain, α:share}",
        },
        **told,
    )


def failures(table: pd.DataFrame, **told: str) -> str:
    """How often no ranker is optimistic, at ν of the lemma's order and the experiments': of `bounds.optimism_table`."""

    def noise(line: frames.Row) -> str:
        given = f"{strength(line.noise, line.beta)}, λ = {line.regularization:g}"
        return given if line.pseudo_pairs else f"{given}, labels alone"

    failed = table.assign(**{each: 1 - table[each] for each in bounds.OPTIMISTIC})
    failed = failed.rename(columns={"power corrected": "power_corrected"})
    return columns(
        failed.sort_values("beta", ascending=False, kind="stable"),
        {
            "noise": noise,
            "β": "{β:.3g}",
            "N, proof": lambda line: power(line.power),
            "N, corrected": lambda line: power(line.power_corrected),
            **{f"N = {n} fails": f"{{N = {n}:share}}" for n in RANKERS},
            "proof's N fails": "{N of the lemma:share}",
            "corrected N fails": "{N corrected:share}",
        },
        **told,
    )


uncertain = partial(
    columns,
    given={
        "rankers": lambda line: f"N = {line.rankers:g}, {strength(line.noise, line.beta)}",
        "bound": lambda line: UNCERTAIN[line.quantity],
        "held in worlds": "{held} of {worlds}",
        "largest ratio": "{largest:rounded 2}",
        "where below 1": "{below:rounded 2}",
        "labels from which it is below ½": "{from:,.0f}",
    },
)
"""In how many worlds each bound on uncertain orders held: of `bounds.uncertain_table`."""


units = partial(
    columns,
    given={
        "link": "σ({steepness:g} z)",
        "N": "{rankers}",
        "bound": lambda line: UNCERTAIN[line.quantity],
        "(k_μ α_t)²": "{factor:rounded 2}",
        "held in worlds": "{held} of {worlds}",
        "largest ratio": "{largest:rounded 2}",
    },
)
"""The paper's bounds on uncertain orders where scores are in other units: of `bounds.units_table`."""


growth = partial(
    columns,
    given={
        "learner": lambda line: learner(line.noise, line.rankers, line.pseudo_pairs),
        "rounds": "{rounds:,}",
        "misordered": "{regret:,.0f}",
        "uncertain": "{open:,.0f}",
        "agreed on wrongly": "{wrong:,.0f}",
        "all pairs": "{shown:,.0f}",
        "p of log^p T ± 2 s.e.": lambda line: f"{line.exponent:.2f} ± {2 * line.standard_error:.2f}",
        "bound": "{bound:rounded 2}",
        "worlds within": "{within} of {worlds}",
    },
)
"""How regret ended and grew: of `bounds.growth_table`."""
