"""Verdicts on claims as MyST text: a box for each claim, and tables and sentences on all of them.

This module shows judgements; it must not know how they were reached, or of which paper they are.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from string import ascii_lowercase

import pandas as pd

from ol2r import frames
from ol2r.experiments.claims import WORLDS, truth
from ol2r.experiments.former import places as former_places
from ol2r.experiments.verdicts import ELSEWHERE, VERDICTS, Elsewhere, Finding, Judgement, Place, Verdict
from ol2r.report import marks
from ol2r.report.leads import in_range, joined
from ol2r.report.marks import badge
from ol2r.report.style import spelled
from ol2r.report.tables import myst, named, number, plain

PLURAL = {"carries over": "carry over", "does not carry over": "do not carry over"}


def opening(judgements: Sequence[Judgement], ours: Sequence[str] = ()) -> str:
    """The chapter's answer: the number of claims with each verdict on the paper's own data, and in a separate list how
    many carry over to each other data set.

    Args:
        ours: which of the claims are ours and not the paper's.
    """
    tiers = ", ".join(sorted({j.tier for j in judgements if j.tier}))
    where = f"on its own data{_or_in_worlds(judgements)}"
    counted = _counted((j.verdict for j in judgements), VERDICTS)
    own = sum(j.id in ours for j in judgements)
    beside = f" and {own} of ours" if own else ""
    lines = [f"Of the paper's {len(judgements) - own} claims{beside}, {where}: {counted} ({tiers} tier)."]
    if places := _by_place(judgements):
        lines += ["", "On other data, which can neither confirm nor refute the paper:", ""]
    for data, own in places.items():
        has = {"the paper's shape": next(iter(own.values())).same_shape, f"a {truth(data)} truth": bool(truth(data))}
        told = [what for what, true in has.items() if true]
        shape = f", which has {joined(told)}" if told else ""
        n = f"{len(own)} claim{'s' if len(own) > 1 else ''}"
        lines.append(f"- {named(data)}{shape}: of {n} {_counted((place.verdict for place in own.values()), ELSEWHERE)}")
    return "\n".join(lines)


def carried_in_words(judgement: Judgement) -> str:
    """The verdicts on a claim on the paper's data and on each other data set, in words."""
    places = [f"{word} on {' and on '.join(names)}" for word, names in _by_answer(judgement).items()]
    return f"**{judgement.verdict}**" + (f" on the paper's data; {', '.join(places)}" if places else "")


def _by_answer(j: Judgement) -> dict[Elsewhere, list[str]]:
    """By verdict, the other data sets that give it to a claim."""
    found: dict[Elsewhere, list[str]] = {
        word: [named(place.dataset) for place in j.elsewhere if place.verdict == word] for word in ELSEWHERE
    }
    return {word: names for word, names in found.items() if names}


def _or_in_worlds(judgements: Sequence[Judgement]) -> str:
    """Where else than on the paper's data its claims are judged; empty if none of them is theory."""
    theory = any(map(_is_theory, judgements))
    return " or, where they are theory, in simulated worlds that meet its assumptions" if theory else ""


def _is_theory(j: Judgement) -> bool:
    return j.data == (WORLDS,)


def _counted(verdicts: Iterable[str], scale: Sequence[str]) -> str:
    found = list(verdicts)
    words = [(found.count(each), each) for each in scale if each in found]
    return ", ".join(f"{n} {PLURAL.get(word, word) if n > 1 else word}" for n, word in words)


def _by_place(judgements: Iterable[Judgement]) -> dict[str, dict[str, Place]]:
    """The places where claims were judged on other data, by data set (those of the paper's shape first) and claim."""
    found: dict[str, dict[str, Place]] = {}
    for j in judgements:
        for place in j.elsewhere:
            found.setdefault(place.dataset, {})[j.id] = place
    return dict(sorted(found.items(), key=lambda own: not next(iter(own[1].values())).same_shape))


def answers(judgements: Sequence[Judgement], short: Mapping[str, str]) -> str:
    """The verdicts on all claims in words: on the paper's data, separately on each other data set, and where another
    reading of the paper gives another verdict.

    Args:
        short: what each claim says, in a few words.
    """
    own = {data for j in judgements for data in _own_data(j)} - {WORLDS}
    data = ", ".join(sorted(map(named, own))) or "none at hand"
    told = {f"On the paper's own data ({data}){_or_in_worlds(judgements)}": {j.id: j.verdict for j in judgements}}
    for data, places in _by_place(judgements).items():
        told[f"On {named(data)}"] = {each: place.verdict for each, place in places.items()}
    lines = []
    for where, verdicts in told.items():
        groups = {v: [i for i in verdicts if verdicts[i] == v] for v in dict.fromkeys((*VERDICTS, *ELSEWHERE))}
        found = [f"*{v}*: {', '.join(f'{short[i]} ({i})' for i in ids)}" for v, ids in groups.items() if ids]
        lines.append(f"- **{where}** {'; '.join(found)}.")
    for reading in dict.fromkeys(name for j in judgements for name in j.readings):
        changed = [text for j in judgements if reading in j.readings and (text := _changed(j, j.readings[reading]))]
        lines.append(f"- **Read as “{reading}”** {'; '.join(changed) or 'no verdict is another one'}.")
    return "\n".join(lines)


def _changed(main: Judgement, other: Judgement) -> str:
    """Which verdicts on a claim change under another reading; empty where none does."""
    told = [f"{word} on {named(data)}" if data else word for data, word in changed(main, other)]
    return f"{main.id}: {', '.join(told)}" if told else ""


def changed(main: Judgement, other: Judgement) -> list[tuple[str, Verdict | Elsewhere]]:
    """The verdicts on a claim that are others under another reading, as (data set, verdict there under that reading);
    the data set is empty for the verdict on the paper's data. Data that one of the readings lacks do not count."""
    before = {place.dataset: place.verdict for place in main.elsewhere}
    own: list[tuple[str, Verdict | Elsewhere]] = [("", other.verdict)] if other.verdict != main.verdict else []
    return own + [
        (place.dataset, place.verdict)
        for place in other.elsewhere
        if place.verdict != before.get(place.dataset, place.verdict)
    ]


def changed_by_reading(j: Judgement, reading: str) -> str:
    """How the verdicts on a claim change under another reading of the paper, in a clause."""
    other = j.readings.get(reading)
    return (_changed(j, other) if other else "") or f"{j.id} stays as it is"


def overview(judgements: Sequence[Judgement], *, name: str, caption: str) -> str:
    """A table with a line for each claim, linked to where it is judged: verdicts on the paper's data and elsewhere."""
    return myst(_CLAIMS, [_claimed(j, _left_out(j)) for j in judgements], name=name, caption=caption)


_CLAIMS = ("claim", "what the paper says", "on the paper's data", "elsewhere", "least favourable [95 %]")


def _claimed(j: Judgement, note: str = "") -> list[str]:
    """A claim's line in a table; the note stands beside the verdict on the paper's data."""
    return [
        f"{{ref}}`{j.id} <{j.anchor}>`",
        plain(j.statement),
        f"{badge(j.verdict)}<br>{j.n_testable} of {j.n_cells} cases{note}",
        _elsewhere(j),
        _effect(j.least),
    ]


def ledger(judgements: Mapping[str, Sequence[Judgement]], titles: Mapping[str, str], *, name: str, caption: str) -> str:
    """The claims of all papers in one table, with the classes by which a page's scripts sort and filter it.

    An entry opens with what it is sorted by, where that is not its text: claims by letters and number, verdicts by
    their place on their scale, effects by size; entries without any stand last.
    """
    rows = []
    for paper, own in judgements.items():
        for j in own:
            claim, statement, verdict, elsewhere, effect = _claimed(j)
            size = "" if j.least is None or j.least.effect is None else str(j.least.effect.estimate)
            entries = [
                _sorted_by(_natural(j.id), claim),
                statement,
                _sorted_by(_ranks([j.verdict], VERDICTS), verdict),
                _sorted_by(_ranks(_by_answer(j), ELSEWHERE), elsewhere),
                _sorted_by(size, effect),
            ]
            rows.append([titles[paper], *entries])
    return myst(["paper", *_CLAIMS], rows, name=name, caption=caption, style="sortable asc n-last ledger")


def by_dataset(
    judgements: Mapping[str, Sequence[Judgement]], titles: Mapping[str, str], *, name: str, caption: str
) -> str:
    """Which claims of all papers hold on which data: a line for each data set, with its claims by verdict.

    Verdicts on a paper's own data come first; its own data sets share one verdict, and so one line. Data sets that are
    not the paper's follow, each by itself. A claim that is not judged on a data set is not in its line, and undecided
    ones are only counted.
    """
    own: dict[str, dict[str, list[Judgement]]] = {}
    for paper, claims in judgements.items():
        for j in claims:
            if data := ", ".join(map(named, _own_data(j))):
                which = " that meet a theorem's assumptions" if _is_theory(j) else f", {titles[paper]}'s own"
                own.setdefault(data + which, {}).setdefault(j.verdict, []).append(j)
    rows = [_line_of_data(line, by_verdict, VERDICTS) for line, by_verdict in own.items()]
    everything = {j.id: j for claims in judgements.values() for j in claims}
    for data, places in _by_place(everything.values()).items():
        line = named(data) + (f" ({truth(data)} truth)" if truth(data) else "")
        by_verdict = {word: [everything[i] for i in places if places[i].verdict == word] for word in ELSEWHERE}
        rows.append(_line_of_data(line, by_verdict, ELSEWHERE))
    return myst(["data", "claims judged", "verdicts there"], rows, name=name, caption=caption)


def _line_of_data(
    name: str, by_verdict: Mapping[str, Sequence[Judgement]], scale: Iterable[Verdict | Elsewhere]
) -> list[str]:
    """The number of claims judged on some data, and for each verdict there its claims, in the order of the scale."""
    told = []
    for word in scale:
        if claims := by_verdict.get(word):
            links = ", ".join(f"{{ref}}`{j.id} <{j.anchor}>`" for j in claims)
            told.append(f"{badge(word)} {len(claims)}" + (f": {links}" if word != "undecided" else ""))
    return [name, str(sum(map(len, by_verdict.values()))), "<br>".join(told)]


def _own_data(j: Judgement) -> list[str]:
    """The paper's own data sets on which a claim was measured."""
    return sorted({one.data for one in j.tested if one.effect and one.data and one.data == one.cell[0]})


def _sorted_by(key: str, entry: str) -> str:
    return f'<data value="{escape(key)}"></data>{entry}'


def _natural(claim: str) -> str:
    """A claim's name with its number in three digits, so that its second stands before its tenth."""
    return re.sub(r"\d+", lambda number: number[0].zfill(3), claim)


def _ranks(words: Iterable[str], scale: Sequence[str]) -> str:
    """Verdicts as letters, by their place on the scale; letters, as numbers would be compared by their size."""
    return "".join(ascii_lowercase[scale.index(word)] for word in words)


def _elsewhere(j: Judgement) -> str:
    """The verdicts on other data, each with the data sets that give it."""
    return "<br>".join(f"{badge(word)} {'; '.join(names)}" for word, names in _by_answer(j).items()) or "–"


def _left_out(j: Judgement) -> str:
    """Which parts of a claim its verdict leaves out, and which of the paper's data."""
    parts, data = _untested(j)
    told = [*parts, *(f"{'' if i else 'data '}{name}" for i, name in enumerate(data))]
    return f", without {plain(spelled(', '.join(told)))}" if told else ""


def _untested(j: Judgement) -> tuple[list[str], list[str]]:
    """The parts of a claim that could not be tested, in quotation marks, and the data sets not at hand."""
    data = [each.removeprefix("data ") for each in j.untested if each.startswith("data ")]
    return [each for each in j.untested if not each.startswith("data ")], data


def by_data(judgements: Sequence[Judgement], *, name: str, caption: str) -> str:
    """The verdict on each claim on the paper's data and on every other data set alone, with its contrasts as claimed /
    open / against; a dash where a claim is not judged on a data set."""
    places = _by_place(judgements)
    rows = [
        [f"{{ref}}`{j.id} <{j.anchor}>`", badge(j.verdict)]
        + [_placed(own[j.id]) if j.id in own else "–" for own in places.values()]
        for j in judgements
    ]
    return myst(["claim", "the paper's data", *map(named, places)], rows, name=name, caption=caption)


def _placed(place: Place) -> str:
    counts = place.counts
    return f"{badge(place.verdict)}<br>{counts.as_claimed} / {counts.open} / {counts.against}"


def by_reading(judgements: Sequence[Judgement], *, name: str, caption: str, main: str = "the paper's text") -> str:
    """The verdicts on each claim under the main reading and under every other reading that concerns the claim."""
    names = list(dict.fromkeys(reading for j in judgements for reading in j.readings))
    rows = []
    for j in judgements:
        if j.readings:
            answers = [j, *(j.readings.get(reading) for reading in names)]
            rows.append([f"{{ref}}`{j.id} <{j.anchor}>`", *("–" if one is None else _answers(one) for one in answers)])
    return myst(["claim", main, *map(plain, names)], rows, name=name, caption=caption)


def _answers(j: Judgement) -> str:
    """The verdicts on a claim for one table entry: on the paper's data, then on every other data set."""
    return "<br>".join([badge(j.verdict), *(f"{badge(p.verdict)} {named(p.dataset)}" for p in j.elsewhere)])


def rule_changes(judgements: Mapping[str, Judgement], former: pd.DataFrame, *, name: str, caption: str) -> str:
    """Claims whose rule was changed after results had been seen: the old and the new rule with their verdicts on the
    same results, and the new rule's verdict now. A claim whose rule was changed again has a line for each change, and
    today's verdict in the last.

    Args:
        former: from `ol2r.experiments.former.changes`.
    """
    last = ~former["id"].duplicated(keep="last")
    rows = [
        [
            f"{{ref}}`{line.id} <{judgements[line.id].anchor}>`",
            plain(line.old_rule),
            _said(line.old_verdict, line.old_elsewhere),
            plain(judgements[line.id].rule if today else line.rule),
            _said(line.verdict, line.elsewhere),
            _answers(judgements[line.id]) if today else "–",
        ]
        for line, today in zip(frames.rows(former), last, strict=True)
    ]
    header = ["claim", "old rule", "its verdict", "new rule", "its verdict on the same results", "verdict now"]
    return myst(header, rows, name=name, caption=caption)


def _said(verdict: str, elsewhere: str) -> str:
    """A verdict on the paper's data with those on other data, as the record of changed rules has them."""
    return "; ".join([verdict, *(f"{named(data)}: {word}" for data, word in former_places(elsewhere))])


def claim(judgement: Judgement) -> str:
    """One claim with its anchor: its statement, what effect it lets one expect, what was found, and which verdicts
    other readings change. Folded are the rule, the grounds, how exactly open contrasts are known, and all verdicts
    under other readings."""
    j = judgement
    expected = [f"**Expected.** {plain(j.expected)}", ""] if j.expected else []
    lines = [*expected, "**Found.**", "", marks.found(j), ""]
    inside = [f"*Rule.* {plain(spelled(j.rule))}.", "", f"*Grounds.* {plain(spelled(j.reason))}."]
    if precision := _precision(j):
        inside += ["", f"*Half the width of the intervals of open contrasts.* {'; '.join(precision)}."]
    by_change: dict[str, list[str]] = {}
    for reading, other in j.readings.items():
        if new := [f"{badge(word)} on {named(data)}" if data else badge(word) for data, word in changed(j, other)]:
            by_change.setdefault("; ".join(new), []).append(f"“{plain(reading)}”")
        places = [f"{badge(place.verdict)} on {named(place.dataset)}, {place.counts}" for place in other.elsewhere]
        inside += ["", f"*All verdicts read as “{plain(reading)}”.* {'; '.join([badge(other.verdict), *places])}."]
    lines += [f"- *Read as {joined(readings)}:* {new}" for new, readings in by_change.items()]
    title = "Rule, grounds and other readings" if j.readings else "Rule and grounds"
    head = [f"::::{{admonition}} {j.id}: {plain(j.statement)}", f":name: {j.anchor}"]
    fold = ["", f":::{{dropdown}} {title}", *inside, ":::"]
    return "\n".join([*head, f":class: claim-{marks.slug(j.verdict)}", "", *lines, *fold, "::::", ""])


def _precision(j: Judgement) -> list[str]:
    """How exactly open contrasts are known where they leave a verdict undecided: for each scale, half the widths of
    their 95 % intervals, and the margin that they are held against."""
    places = {place.dataset for place in j.elsewhere if place.verdict == "undecided"}
    own = {one.cell[0] for one in j.tested if j.verdict == "undecided"}
    halves: dict[tuple[str, float], list[float]] = {}
    for one in j.tested:
        if one.effect and not one.side and not one.missing and one.data in places | own:
            low, high = one.effect.interval()
            scale = one.contrast.scale
            halves.setdefault((scale.name, scale.margin), []).append((high - low) / 2)
    return [
        f"{name} ± {in_range(found, _roughly)}, beside a margin of {_roughly(margin)}"
        for (name, margin), found in halves.items()
    ]


def _roughly(value: float) -> str:
    return number(value, 2)


def _effect(least: Finding | None) -> str:
    """A contrast's effect with its interval, its unit and the name of the measured quantity; and on which data."""
    if least is None:
        return "–"
    scale = least.contrast.scale
    on = f", {named(least.data)}" if least.data not in (None, "", WORLDS) else ""
    return f"{marks.estimate(least)}{' ' if scale.unit else ''}{scale.unit} ({scale.name}{on})"
