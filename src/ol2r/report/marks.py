"""How verdicts look: a verdict as a badge, and what was found of a claim as a table with a mark for every data set and
kind of users, the verdicts that the marks add up to, and the least favourable effect behind each verdict.

This module shows judgements; it must not know how they were reached, or of which paper they are.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from ol2r.experiments.claims import WORLDS, label, truth
from ol2r.experiments.verdicts import ELSEWHERE, VERDICTS, Elsewhere, Finding, Judgement, Mark, Verdict
from ol2r.report.style import USERS, spelled
from ol2r.report.tables import interval, signed

SYMBOLS: dict[str, str] = dict(zip((*VERDICTS, *ELSEWHERE), "✔✘?–·→↛↔?", strict=True))
MARKS = {1: ("✔", "as claimed"), 0: ("?", "open"), -1: ("✘", "against"), None: ("–", "data not at hand")}
"""By side of a mark: its symbol and its meaning."""
BOTH = "↔", "some as claimed, some against"
"""The symbol and the meaning of a mark with contrasts on both sides."""
COUNTED = "numbers: contrasts as claimed / open / against"


def badge(verdict: Verdict | Elsewhere) -> str:
    """A verdict as a symbol with its words, readable without colour; its CSS class is for the page's style sheet."""
    return f'<span class="verdict verdict-{slug(verdict)}">{SYMBOLS[verdict]}\N{NO-BREAK SPACE}{verdict}</span>'


def slug(verdict: str) -> str:
    """A verdict as part of the name of a CSS class."""
    return "-".join("".join(c if c.isalpha() else " " for c in verdict).split())


def estimate(one: Finding) -> str:
    """The effect of a measured contrast with its 95 % interval, in three significant digits or more."""
    if one.effect is None:
        return "–"
    value, (low, high) = one.effect.estimate, one.effect.interval()
    digits = 0 if abs(value) >= 1000 else int(np.clip(2 - np.floor(np.log10(max(abs(value), 1e-9))), 2, 5))
    return f"{signed(value, digits)} {interval(low, high, digits)}"


def found(judgement: Judgement) -> str:
    """What was found of a claim: one HTML table without blank lines, which MyST passes on as it is.

    A row for each data set, the paper's first; a column for each kind of users, then the verdict and the least
    favourable contrast behind it. The paper's own data sets share one verdict, and those that are not at hand one row.
    A smoke run has no marks: its verdict stands alone.
    """
    j = judgement
    if not j.marks:
        return f"<p>{badge(j.verdict)}</p>"
    places = {place.dataset: place for place in j.elsewhere}
    by_data: dict[str, dict[str, Mark]] = {}
    for one in j.marks:
        by_data.setdefault(one.dataset, {})[one.users] = one
    order = {name: i for i, name in enumerate(USERS)}
    users = sorted(dict.fromkeys(one.users for one in j.marks), key=lambda name: order.get(name, len(order)))
    own = [data for data in by_data if data not in places]
    at_hand = [[data] for data in own if any(one.side is not None for one in by_data[data].values())]
    absent = [data for data in own if [data] not in at_hand]
    least = j.least if j.least and j.least.data in own else None
    rows = []
    for names in [*at_hand, absent] if absent else at_hand:
        cells = {kind: one for data in names for kind, one in by_data[data].items()}
        shared = "" if rows else _judged(j.verdict, least, rows=len(at_hand) + bool(absent))
        rows.append(_row(names, "" if WORLDS in own else "the paper's", cells, users) + shared)
    for data, place in places.items():
        notes = {"of the paper's shape": place.same_shape, f"{truth(data)} truth": bool(truth(data))}
        note = ", ".join(each for each, true in notes.items() if true)
        rows.append(_row([data], note, by_data[data], users) + _judged(place.verdict, place.least))
    head = ("data", *users, "verdict", "least favourable contrast [95 % interval]")
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    present = {_shown(one) for one in j.marks}
    legend = ", ".join(" ".join(each) for each in (*MARKS.values(), BOTH) if each in present)
    legend += f"; {COUNTED}" if any(map(_counted, j.marks)) else ""
    lines = [
        f'<div class="found"><table aria-label="{j.id} by data set and kind of users">',
        f"<caption>{legend}</caption>",
        f"<thead><tr>{titles}</tr></thead>",
        "<tbody>",
        *(f"<tr>{row}</tr>" for row in rows),
        "</tbody></table></div>",
    ]
    return "\n".join(lines)


def _row(names: Sequence[str], note: str, cells: Mapping[str, Mark], users: Sequence[str]) -> str:
    """The head and the marks of a row; an empty cell where the claim says nothing of these users on this data."""
    told = escape(", ".join(map(label, names))) + (f" <small>{note}</small>" if note else "")
    marks = [_mark(cells[kind]) if kind in cells else "" for kind in users]
    of = "".join(f'<td data-of="{escape(kind)}">{mark}</td>' for kind, mark in zip(users, marks, strict=True))
    return f'<th scope="row">{told}</th>{of}'


def _mark(one: Mark) -> str:
    """A symbol whose meaning is told to a screen reader and to a pointer, with the contrasts behind it."""
    symbol, meaning = _shown(one)
    told = f"{one.users}: {meaning}" + (f" ({one.counts})" if one.side is not None else "")
    counted = f" <small>{_counted(one)}</small>" if _counted(one) else ""
    return f'<span role="img" aria-label="{escape(told)}" title="{escape(told)}">{symbol}</span>{counted}'


def _shown(one: Mark) -> tuple[str, str]:
    return BOTH if one.counts.as_claimed and one.counts.against else MARKS[one.side]


def _counted(one: Mark) -> str:
    """The numbers behind a mark, where there is more than one contrast."""
    numbers = one.counts.as_claimed, one.counts.open, one.counts.against
    return "/".join(map(str, numbers)) if sum(numbers) > 1 else ""


def _judged(verdict: Verdict | Elsewhere, least: Finding | None, rows: int = 1) -> str:
    """The last cells of a row, which so many rows share: the verdict, and the contrast that is least as claimed."""
    span = f' rowspan="{rows}"' if rows > 1 else ""
    told = "–"
    if least:
        where = f"{least.contrast.label}, {least.cell[1]}"
        value = f'<span class="estimate">{estimate(least)}</span>'
        told = f"{escape(spelled(where))}: {value}; claimed: {escape(str(least.contrast.scale))}"
    return f"<td{span}>{badge(verdict)}</td><td{span}>{told}</td>"
