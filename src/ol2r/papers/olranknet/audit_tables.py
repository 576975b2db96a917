"""Tables of olRankNet's theory and of its audits.

Frames are those of `bounds`; this module computes nothing that is not there, but for the numbers of the errata.
"""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from ol2r import frames
from ol2r.papers.audits import COVERED, halved
from ol2r.papers.olranknet import bounds
from ol2r.papers.olranknet.audit_figures import TRUTHS, setting, start
from ol2r.papers.olranknet.errata import Erratum
from ol2r.report.tables import Column, columns, myst

QUANTITIES = {
    "martingale": "martingale bound",
    "linear": "Lemma 3.3 for the linear model",
    "network": "Lemma 3.3, gradients at θ₀",
    "current": "Lemma 3.3, gradients of each round",
    "diagonal": "the same with the diagonal of A (no proof)",
    "radius": "norm of the fit",
}
HARM = {"none": "none", "constants": "constants", "undefined": "undefined", "proof": "the proof fails"}
HARM |= {"statement": "the statement fails"}
STATEMENTS = {
    "regret ≤ open": "misordered pairs are at most the uncertain ones",
    "open ≤ allowed": "uncertain pairs are at most those that may be",
    "wide ≤ most": "labelled pairs that were wide are at most as many as the log-determinant allows",
    "regret ≤ bound": "regret is at most the corrected Theorem 4.4",
}


def coverage(table: pd.DataFrame, **told: str) -> str:
    """Coverage of each bound and of its half, and by which factor the bound could be divided.

    Args:
        table: `bounds.coverage_table` with the scales 1 and ½.
    """
    given: dict[str, Column] = {
        "worlds of": lambda line: setting(line) + ("" if line.assumed else ", users who stop (assumption violated)"),
        "bound": lambda line: QUANTITIES[line.quantity],
        **COVERED,
    }
    return columns(halved(table[table["quantity"].isin(list(QUANTITIES))], bounds.SETTING), given, **told)


needed = partial(
    columns,
    given={
        "worlds of": lambda line: setting(line) + ("" if line.assumed else ", users who stop"),
        "α of the theorem": "{alpha:.3g}",
        "enough, full": "{full:.2g}",
        "times too wide": "{slack:.3g}",
        "enough, diagonal": "{diagonal:.2g}",
        "largest ε": "{error:.2g}",
        "κ": "{narrowing:.2g}",
    },
)
"""α_t beside what would have been enough: of `bounds.needed_table`."""


def steps(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """In how many worlds each step of the regret bound held: of `bounds.within_bounds`."""
    truths = [truth for truth in TRUTHS if truth in set(table["truth"])]
    rows = []
    for (scale, statement), own in frames.groups(table, ["scale", "statement"]):
        by = own.set_index("truth")
        always = scale == 1 or statement == "wide ≤ most"
        kept = [_held(frames.line(by, truth)) for truth in truths]
        alpha = "the theorem's" if scale == 1 else f"1/{1 / scale:.0f} of it"
        rows.append([alpha, STATEMENTS[statement], "yes" if always else "no", *kept])
    header = ["α", "step", "promised", *(f"held in worlds: {TRUTHS[truth]}" for truth in truths)]
    return myst(header, rows, name=name, caption=caption)


def _held(line: pd.Series) -> str:
    """In how many worlds a step held, and in how many it could have failed."""
    able, worlds = line["able"], line["worlds"]
    return f"{line['held']} of {worlds}; " + (f"could fail in {able}" if able else "cannot fail here")


typical = partial(
    columns,
    given={
        "start": lambda line: f"{start(line.init, line.regularization)}, {line.documents:,} documents",
        "pairs seen": "{pairs:,}",
        "full width": "{full:.2g}",
        "diagonal width": "{diagonal:.2g}",
        "diagonal narrower": "{narrower:share}",
        "rank correlation of both": "{alike:.2f}",
        "of the diagonal with ‖w‖": "{prior:.2f}",
    },
)
"""Widths of typical pairs, and what order the diagonal puts them in: of `bounds.typical_figure`."""


def errata(listed: Sequence[Erratum], *, name: str, caption: str) -> str:
    """The errata with what each check computes."""
    rows = [
        [str(number), each.place, each.correction, HARM[each.harm], each.check() if each.check else "by the text"]
        for number, each in enumerate(listed, start=1)
    ]
    return myst(["no.", "place", "correction", "harm", "check"], rows, name=name, caption=caption)
