"""The table of what was found of a claim: every mark, for every reader."""

import re
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from shown import NASTY

from ol2r.experiments.claims import WORLDS
from ol2r.experiments.published import printed_numbers
from ol2r.experiments.verdicts import ELSEWHERE, VERDICTS, Counts, Mark, Place, judge
from ol2r.papers.nsgd.claims import CLAIMS
from ol2r.report import marks


@pytest.fixture(scope="module")
def judged(grid, invented_results):
    """NS2 on MQ2008, where NSGD leads MGD, and beside it two invented data sets."""
    found = judge(CLAIMS[1], {"table-3": invented_results(grid)}, printed_numbers("ol2r.papers.nsgd"))
    counts = {"MQ2007_partial85": Counts(3, 2, 1), "ClueWeb09_webis": Counts(0, 2, 0)}
    places = (
        Place("MQ2007_partial85", "mixed", counts["MQ2007_partial85"], True, replace(found.least, side=-1)),
        Place("ClueWeb09_webis", "undecided", counts["ClueWeb09_webis"], False),
    )
    more = [Mark(data, "perfect", own) for data, own in counts.items()]
    return replace(found, elsewhere=places, marks=(*found.marks, *more))


def rows(text):
    """The rows of the table as lists of (text, rowspan), the header first."""
    table = ElementTree.fromstring(text.replace("&nbsp;", " "))
    return [[("".join(cell.itertext()), cell.get("rowspan")) for cell in row] for row in table.iter("tr")]


def test_each_data_set_has_a_row_with_a_mark_for_each_kind_of_users(judged):
    header, own, absent, shape, other = rows(marks.found(judged))
    assert [cell for cell, _ in header[:5]] == ["data", "perfect", "navigational", "informational", "verdict"]
    assert [cell for cell, _ in own[:4]] == ["MQ2008 the paper's", "✔", "✔", "✔"]
    assert [cell for cell, _ in absent] == ["MQ2007, NP2003, TD2003, HP2003 the paper's", "–", "–", "–"]
    assert [cell for cell, _ in shape[:4]] == ["MQ2007, 85 % of documents of the paper's shape", "↔ 3/2/1", "", ""]
    assert [cell for cell, _ in other] == ["ClueWeb09 (Webis)", "? 0/2/0", "", "", "?\N{NO-BREAK SPACE}undecided", "–"]


def test_what_is_generated_says_what_its_grades_come_from(judged):
    counts = Counts(1, 0, 0)
    for data, same_shape, told in (
        ("synthetic-mslr-net", True, " of the paper's shape, network truth"), ("synthetic-mq", False, " linear truth")
    ):  # fmt: skip
        place, mark = Place(data, "mixed", counts, same_shape), Mark(data, "perfect", counts)
        one = replace(judged, elsewhere=(place,), marks=(mark,))
        assert rows(marks.found(one))[1][0] == (data + told, None)


def test_the_papers_data_share_one_verdict_with_the_effect_that_decides_it(judged):
    _, own, absent, shape, _ = rows(marks.found(judged))
    assert own[4] == ("✔\N{NO-BREAK SPACE}reproduced", "2") and len(absent) == 4
    least = judged.least
    told = f"{least.contrast.label}, {least.cell[1]}: {marks.estimate(least)}; claimed: {least.contrast.scale}"
    assert own[5] == (told, "2") and shape[5] == (told, None)
    assert re.fullmatch(r"\+0\.\d+ \[\+0\.\d+, \+0\.\d+\]", marks.estimate(least))
    elsewhere_only = replace(judged, least=replace(least, data="MQ2007_partial85"))
    assert rows(marks.found(elsewhere_only))[1][5] == ("–", "2")


def test_a_mark_is_told_to_a_screen_reader_in_words_and_explained_below_the_table(judged):
    text = marks.found(judged)
    assert 'role="img" aria-label="perfect: some as claimed, some against (3 as claimed, 2 open, 1 against)"' in text
    assert 'aria-label="perfect: data not at hand"' in text
    table = ElementTree.fromstring(text)
    (caption,) = table.iter("caption")
    both = "↔ some as claimed, some against"
    assert caption.text == f"✔ as claimed, ? open, – data not at hand, {both}; {marks.COUNTED}"
    assert {cell.get("scope") for cell in table.iter("th")} == {"col", "row"}
    alone = marks.found(replace(judged, elsewhere=(), marks=judged.marks[:-2]))
    assert "↔" not in alone and marks.COUNTED not in alone
    against = Mark("MQ2007_partial85", "perfect", Counts(0, 2, 1))
    assert ">✘</span> <small>0/2/1" in marks.found(replace(judged, marks=(*judged.marks[:-2], against), elsewhere=()))
    assert len({symbol for symbol, _ in (*marks.MARKS.values(), marks.BOTH)}) == len(marks.MARKS) + 1


def test_myst_passes_the_table_on_as_it_is_whatever_data_is_called(judged):
    place = Place(NASTY, "mixed", Counts(1, 0, 1), False, judged.least)
    text = marks.found(replace(judged, elsewhere=(place,), marks=(Mark(NASTY, NASTY, place.counts),)))
    assert MarkdownIt("commonmark").render(f"A\n\n{text}\n\nB").split("\n", 1)[1].startswith(text)
    assert escape(NASTY) in text and "<script" not in text


def test_simulated_worlds_are_not_called_the_papers_and_smoke_shows_its_verdict_alone(judged):
    world = replace(judged, elsewhere=(), marks=(Mark(WORLDS, "whole lists", Counts(2)),))
    assert rows(marks.found(world))[1][0] == (WORLDS, None)
    smoke = replace(judged, verdict="not judged (smoke)", marks=())
    assert marks.found(smoke) == f"<p>{marks.badge('not judged (smoke)')}</p>"


def test_verdicts_are_told_apart_without_colour():
    words = (*VERDICTS, *ELSEWHERE)
    assert len({re.sub("<[^>]*>", "", marks.badge(word)) for word in words}) == len(set(words))
    assert 'verdict-not-judged-smoke"' in marks.badge("not judged (smoke)")
