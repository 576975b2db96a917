import re
from dataclasses import replace
from html import escape
from types import SimpleNamespace

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from shown import NASTY, assert_plain, rows

from ol2r.experiments import former
from ol2r.experiments.claims import WORLDS
from ol2r.experiments.published import printed_numbers
from ol2r.experiments.verdicts import Counts, Mark, Place, judge
from ol2r.papers.nsgd.claims import CLAIMS
from ol2r.report import marks, verdicts
from ol2r.report.tables import plain

NUMBERS = printed_numbers("ol2r.papers.nsgd")


@pytest.fixture(scope="module")
def judgements(grid, invented_results):
    return [judge(claim, {"table-3": invented_results(grid)}, NUMBERS) for claim in CLAIMS[1:4]]


def placed(judgement, *places):
    """The judgement with invented answers elsewhere: (data set, verdict, of the paper's shape)."""
    counts = Counts(3, 2, 1)
    elsewhere = tuple(Place(data, verdict, counts, shape) for data, verdict, shape in places)
    marks = (*judgement.marks, *(Mark(data, "perfect", counts) for data, *_ in places))
    return replace(judgement, elsewhere=elsewhere, marks=marks)


def test_every_claim_is_listed_under_its_anchor_with_both_answers_apart(judgements):
    first = placed(judgements[0], ("MQ2007_partial85", "mixed", True))
    lines = rows(verdicts.overview([first, *judgements[1:]], name="nsgd-claims", caption="Claims."))
    assert [line[0] for line in lines] == ["{ref}`NS2 <nsgd-ns2>`", "{ref}`NS3 <nsgd-ns3>`", "{ref}`NS4 <nsgd-ns4>`"]
    left_out = "without “MGD above NSGD on TD2003 and HP2003”, data MQ2007"
    assert lines[0][2].startswith(f"{verdicts.badge('reproduced')}<br>3 of 14 cases, {left_out}")
    assert lines[0][3] == f"{verdicts.badge('mixed')} MQ2007, 85 % of documents"
    assert "(NDCG@10, MQ2008)" in lines[0][4]
    assert "not testable" in lines[2][2] and lines[2][3:] == ["–", "–"]


def ledger_of(judgements):
    """What the ledger is sorted by and its text, each by line."""
    text = verdicts.ledger(judgements, {"nsgd": "NSGD", "other": "Other"}, name="all", caption="All.")
    assert ":class: sortable asc n-last ledger" in text
    keyed = re.compile(r'(?:<data value="([^"]*)"></data>)?(.*)')
    found = [[keyed.fullmatch(entry) for entry in line] for line in rows(text)]
    return [[entry[1] for entry in line] for line in found], [[entry[2] for entry in line] for line in found]


def test_the_claims_of_all_papers_stand_in_one_table_that_scripts_can_sort_and_filter(judgements):
    first = placed(judgements[0], ("MQ2007_partial85", "mixed", True), ("ClueWeb09_webis", "mixed", False))
    _, lines = ledger_of({"nsgd": judgements[1:], "other": [first]})
    assert [line[0] for line in lines] == ["NSGD", "NSGD", "Other"]
    assert lines[2][3] == f"{verdicts.badge('reproduced')}<br>3 of 14 cases"
    assert lines[2][4] == f"{verdicts.badge('mixed')} MQ2007, 85 % of documents; ClueWeb09 (Webis)"


def test_the_ledger_is_sorted_by_a_claim_s_number_a_verdict_s_rank_and_an_effect_s_size(judgements):
    first, second, third = judgements
    claims = [
        placed(replace(first, id="NS10"), ("a", "carries over", True), ("b", "undecided", True)),
        placed(replace(second, id="NS2", verdict="not reproduced"), ("a", "carries over", True)),
        replace(third, id="NS1", least=None),
    ]
    keys, _ = ledger_of({"nsgd": claims})
    assert {line[0] for line in keys} == {line[2] for line in keys} == {None}  # by their text
    ids, own, elsewhere, effects = ([line[column] for line in keys] for column in (1, 3, 4, 5))
    assert sorted(ids) == ids[::-1] == ["NS001", "NS002", "NS010"]
    assert own == sorted(own) and len(set(own)) == 3  # reproduced, not reproduced, not testable
    assert elsewhere[1] < elsewhere[0] and elsewhere[2] == ""  # carries over alone, then with other verdicts; none
    assert not any(each.isdecimal() for each in (*ids, *own, *elsewhere))  # scripts would take them for numbers
    assert float(effects[0]) == first.least.effect.estimate and effects[2] == ""


def test_the_claims_judged_on_each_data_set_stand_by_verdict_and_those_on_own_data_apart(judgements):
    first, second, third = judgements
    second = replace(second, verdict="not reproduced")
    theory = replace(third, paper="other", id="T1", verdict="reproduced")
    theory = replace(theory, data=(WORLDS,), tested=tuple(replace(one, cell=(WORLDS, "")) for one in first.tested))
    theory = replace(theory, tested=tuple(replace(one, data=WORLDS) for one in theory.tested))
    claims = {
        "nsgd": [placed(first, ("synthetic-yahoo", "mixed", True), ("MQ2008", "undecided", False)), second, third],
        "other": [
            placed(replace(third, paper="other", id="O1"), ("synthetic-yahoo", "carries over", True)),
            placed(replace(third, paper="other", id="O2"), ("synthetic-yahoo", "mixed", True)),
            theory,
        ],
    }
    text = verdicts.by_dataset(claims, {"nsgd": "NSGD", "other": "Other"}, name="v", caption="")
    badge = verdicts.badge
    ns2, ns3, t1, o1, o2 = (
        f"{{ref}}`{i} <{paper}-{i.lower()}>`"
        for i, paper in (("NS2", "nsgd"), ("NS3", "nsgd"), ("T1", "other"), ("O1", "other"), ("O2", "other"))
    )
    assert rows(text) == [
        ["MQ2008, NSGD's own", "2", f"{badge('reproduced')} 1: {ns2}<br>{badge('not reproduced')} 1: {ns3}"],
        ["simulated worlds that meet a theorem's assumptions", "1", f"{badge('reproduced')} 1: {t1}"],
        ["synthetic-yahoo (linear truth)", "3", f"{badge('carries over')} 1: {o1}<br>{badge('mixed')} 2: {ns2}, {o2}"],
        ["MQ2008", "1", f"{badge('undecided')} 1"],
    ]


def test_the_answers_in_words_never_mix_the_papers_data_with_other(judgements):
    first, second, third = judgements
    first = placed(first, ("MQ2007_partial85", "mixed", True))
    read = placed(replace(first, verdict="undecided"), ("MQ2007_partial85", "mixed", True))
    short = {"NS2": "it leads", "NS3": "both lead", "NS4": "it is steady"}
    told = verdicts.answers([replace(first, readings={"60": read, "15": first}), second, third], short).splitlines()
    assert told[0].startswith("- **On the paper's own data (MQ2008)** *reproduced*: it leads (NS2)")
    assert "*not testable*: it is steady (NS4)" in told[0]
    assert told[1] == "- **On MQ2007, 85 % of documents** *mixed*: it leads (NS2)."
    assert told[2] == "- **Read as “60”** NS2: undecided."
    assert told[3] == "- **Read as “15”** no verdict is another one."
    both = replace(first, readings={"60": read, "15": first})
    changed = [verdicts.changed_by_reading(both, reading) for reading in ("60", "15")]
    assert changed == ["NS2: undecided", "NS2 stays as it is"]
    assert verdicts.changed_by_reading(second, "60") == "NS3 stays as it is"


def test_answers_of_data_sets_stand_side_by_side_those_of_the_papers_shape_first(judgements):
    first, second, third = judgements
    first = placed(first, ("ClueWeb09_webis", "carries over", False))
    second = placed(second, ("MQ2007_partial85", "mixed", True), ("ClueWeb09_webis", "undecided", False))
    text = verdicts.by_data([first, second, third], name="v", caption="")
    assert "| claim | the paper's data | MQ2007, 85 % of documents | ClueWeb09 (Webis) |" in text
    lines = rows(text)
    assert lines[0][1:] == [verdicts.badge(first.verdict), "–", f"{verdicts.badge('carries over')}<br>3 / 2 / 1"]
    assert lines[1][2:] == [f"{verdicts.badge('mixed')}<br>3 / 2 / 1", f"{verdicts.badge('undecided')}<br>3 / 2 / 1"]
    assert lines[2][1:] == [verdicts.badge("not testable"), "–", "–"]


def test_readings_stand_beside_the_papers_text_only_where_they_concern_a_claim(judgements):
    first, second, _ = judgements
    other = placed(replace(first, verdict="undecided"), ("MQ2007_partial85", "mixed", True))
    text = verdicts.by_reading([replace(first, readings={"mean loss": other}), second], name="r", caption="")
    assert "| claim | the paper's text | mean loss |" in text
    renamed = verdicts.by_reading([replace(first, readings={"mean loss": other})], name="r", caption="", main="ours")
    assert "| claim | ours | mean loss |" in renamed
    ((claim, main, mean),) = rows(text)
    assert "NS2" in claim and "reproduced" in main
    assert "undecided" in mean and f"{verdicts.badge('mixed')} MQ2007, 85 % of documents" in mean


def test_changed_rules_are_listed_with_what_both_said_and_what_is_said_now(judgements):
    elsewhere = "MQ2007_partial85: mixed"
    values = ("NS2", "old | rule", "consistent", elsewhere, "new rule", "not testable", elsewhere, "c0de")
    former_rules = pd.DataFrame([values], columns=list(former.COLUMNS))
    table = verdicts.rule_changes({"NS2": judgements[0]}, former_rules, name="f", caption="")
    told = rows(table.replace("\\|", "/"))[0]
    there = "MQ2007, 85 % of documents: mixed"
    assert told[:3] == ["{ref}`NS2 <nsgd-ns2>`", "old / rule", f"consistent; {there}"]
    assert told[4] == f"not testable; {there}" and "reproduced" in told[5]


def test_a_rule_that_was_changed_twice_has_a_line_for_each_change_and_todays_verdict_in_the_last(judgements):
    lines = [("NS2", f"rule {i}", "undecided", "", f"rule {i + 1}", "undecided", "", "c0de") for i in (1, 2)]
    former_rules = pd.DataFrame(lines, columns=list(former.COLUMNS))
    table = verdicts.rule_changes({"NS2": judgements[0]}, former_rules, name="f", caption="")
    first, second = rows(table.replace("\\|", "/"))
    assert first[3] == "rule 2" and first[5] == "–"
    assert second[3] != "rule 3" and "reproduced" in second[5]


def test_an_undecided_verdict_says_how_exactly_its_open_contrasts_are_known(judgements):
    first = judgements[0]
    opened = tuple(replace(one, side=0, data="MQ2007_partial85") for one in first.tested if one.effect)
    assert opened
    places = placed(replace(first, tested=opened), ("MQ2007_partial85", "undecided", True))
    halves = [(high - low) / 2 for low, high in (one.effect.interval() for one in opened)]
    told = verdicts.claim(places)
    scale = opened[0].contrast.scale
    assert f"{scale.name} ± {verdicts.number(min(halves), 2)}" in told
    assert f", beside a margin of {verdicts.number(scale.margin, 2)}" in told
    decided = placed(replace(first, tested=opened), ("MQ2007_partial85", "mixed", True))
    assert "beside a margin" not in verdicts.claim(decided)


def test_a_claims_block_tells_what_was_expected_what_was_found_and_folds_rule_and_grounds(judgements):
    first = placed(replace(judgements[0], expected="It leads *by far*."), ("MQ2007_partial85", "mixed", True))
    text = verdicts.claim(replace(first, readings={"mean loss": replace(first, verdict="undecided")}))
    shown, folded = text.split(":::{dropdown}")
    assert ":name: nsgd-ns2" in shown and plain(first.rule) in folded and plain(first.reason) in folded
    assert "**Expected.** It leads \\*by far\\*.\n" in shown and f"\n\n{marks.found(first)}\n\n" in shown
    assert f"*Read as “mean loss”:* {verdicts.badge('undecided')}" in shown
    assert "**Expected" not in verdicts.claim(replace(judgements[0], expected=""))


def test_a_claims_block_shows_what_another_reading_changes_and_folds_all_its_verdicts(judgements):
    first = placed(judgements[0], ("MQ2007_partial85", "mixed", True), ("ClueWeb09_webis", "undecided", False))
    other = placed(judgements[0], ("MQ2007_partial85", "carries over", True), ("ClueWeb09_webis", "undecided", False))
    shown, folded = verdicts.claim(replace(first, readings={"mean loss": other, "rest": first})).split(":::{dropdown}")
    new = f"{verdicts.badge('carries over')} on MQ2007, 85 % of documents"
    assert f"*Read as “mean loss”:* {new}\n" in shown and "*Read as “rest”" not in shown
    assert f"{new}, 3 as claimed, 2 open, 1 against; {verdicts.badge('undecided')} on ClueWeb09 (Webis)" in folded
    assert "Rule and grounds" in verdicts.claim(first) and "and other readings" in folded


def test_readings_that_change_the_same_share_a_line(judgements):
    first = judgements[0]
    other = replace(first, verdict="undecided")
    text = verdicts.claim(replace(first, readings={"a": first, "b": other, "c": first, "d": first, "e": other}))
    assert [line for line in text.splitlines() if line.startswith("- *Read")] == [
        f"- *Read as “b” and “e”:* {verdicts.badge('undecided')}",
    ]


def test_the_opening_counts_the_two_answers_apart(judgements):
    told = verdicts.opening(judgements)
    assert told == "Of the paper's 3 claims, on its own data: 2 reproduced, 1 not testable (paper tier)."
    told = verdicts.opening(judgements, ours=[judgements[0].id, "absent"])
    assert told.startswith("Of the paper's 2 claims and 1 of ours, on its own data: 2 reproduced")
    theorem = replace(judgements[0], data=(WORLDS,))
    told = verdicts.opening([theorem])
    worlds = "or, where they are theory, in simulated worlds that meet its assumptions"
    assert f"on its own data {worlds}" in told
    in_words = verdicts.answers([theorem], {theorem.id: "it leads"})
    assert f"On the paper's own data (MQ2008) {worlds}** *reproduced*" in in_words
    first = placed(judgements[0], ("ClueWeb09_webis", "carries over", False), ("MQ2007_partial85", "mixed", True))
    second = placed(judgements[1], ("ClueWeb09_webis", "carries over", False))
    assert verdicts.opening([first, second, judgements[2]]).splitlines()[1:] == [
        "",
        "On other data, which can neither confirm nor refute the paper:",
        "",
        "- MQ2007, 85 % of documents, which has the paper's shape: of 1 claim 1 mixed",
        "- ClueWeb09 (Webis): of 2 claims 2 carry over",
    ]
    both = placed(first, ("synthetic-mslr-net", "mixed", True), ("synthetic-mq", "mixed", False))
    told = verdicts.opening([both])
    assert "- synthetic-mslr-net, which has the paper's shape and a network truth: of 1 claim 1 mixed" in told
    assert "- synthetic-mq, which has a linear truth: of 1 claim 1 mixed" in told


def test_what_comes_from_data_is_shown_as_it_is_and_never_read_as_markup(judgements):
    nasty = placed(judgements[0], (NASTY, "mixed", True))
    for text in (verdicts.overview([nasty], name="c", caption=""), verdicts.by_data([nasty], name="v", caption="")):
        assert_plain(text)
    texts = {"reason": NASTY, "rule": NASTY, "statement": NASTY, "expected": NASTY}
    block = verdicts.claim(replace(nasty, **texts, readings={NASTY: nasty}))
    body = MarkdownIt("commonmark").render("\n".join(block.splitlines()[4:-1]))
    assert body.count(escape(NASTY)) == 6 and "<script" not in body


def test_a_claim_is_told_with_what_it_comes_to_elsewhere():
    place = SimpleNamespace(verdict="carries over", dataset="one_set")
    judged = SimpleNamespace(verdict="not testable", elsewhere=[place])
    assert verdicts.carried_in_words(judged) == r"**not testable** on the paper's data; carries over on one\_set"
    assert verdicts.carried_in_words(SimpleNamespace(verdict="reproduced", elsewhere=[])) == "**reproduced**"
