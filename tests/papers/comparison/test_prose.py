"""Texts of the comparison: every number and name is read from what they tell of."""

import re
from pathlib import Path

import pandas as pd
import pytest

import ol2r
from ol2r.experiments.chapter import Chapter, Results
from ol2r.papers.comparison import decisions, grid, measures, memory, prose, ranks, starts
from ol2r.papers.comparison.decisions import Choice, Decision, Situation
from ol2r.papers.queue import Queued
from ol2r.report import redraw
from ol2r.report.page import Audience, shown_to

PAGE = Path(ol2r.__file__).parents[2] / "book" / "comparison.md"
OPEN_PAGE = PAGE.with_name("comparison-open.md")
END = Situation("the end", "offline NDCG@10", "quality", "offline")


def decision(best="A", second="B", low=0.01, fitting=(), by_users=None, at_any_cost="", situation=END):
    means = {best: 0.5} | dict.fromkeys(filter(None, (second, *fitting)), 0.48)
    chosen = Choice(best, 0.5, second, 0.02, low, 0.03, tuple(fitting), means)
    return Decision(situation, chosen, by_users or {}, at_any_cost)


def decided(frame, fast):
    runs = measures.of_runs(frame)
    return decisions.decide(decisions.SITUATIONS, {"quality": runs}, set(runs["variant"]), fast)


def test_what_would_change_a_decision_is_told():
    assert prose.changes(decision()) == "nothing that was run here"
    told = prose.changes(decision(low=-0.01, by_users={"perfect": "P2LinRank, N = 2"}, at_any_cost="C"))
    assert told == (
        "perfect users alone: P²LinRank (N = 2); compute without limit: C; more seeds, perhaps: the lead is not clear"
    )


def test_the_table_of_decisions_has_who_why_and_by_how_much():
    table = prose.decision_table([decision(fitting=("P2NeurRank, N = 2",))], name="x", caption="c")
    told = "| the end (offline NDCG@10) | **A** | 0.500 | +0.020 [+0.010, +0.030] over B |"
    assert f"{told} P²NeurRank (N = 2) 0.480 | B 0.480 |" in table
    assert "| none | B 0.480 |" in prose.decision_table([decision()], name="x", caption="c")
    assert "alone" in prose.decision_table([decision(second=None)], name="x", caption="c")


def test_the_answer_names_the_best_ranker_and_the_best_lists(frame):
    made = decided(frame, ["PDGD"])
    assert prose.ranker_in_words(made).startswith("olRankNet learns the best ranker (offline NDCG@10 0.615, +0.100 [")
    assert prose.ranker_in_words(made).endswith("over PairRank).")
    assert "were olRankNet's too (NDCG@10 0.515, +0.100" in prose.lists_in_words(made)
    assert prose.ranker_in_words([]) == prose.lists_in_words([]) == ""
    close = [decision(fitting=("B", "C"))]
    assert prose.ranker_in_words(close).endswith("; B and C are not clearly behind.")
    assert prose.ranker_in_words(close, ["A", "C"]).endswith("; B and C are not clearly behind.")
    told = prose.ranker_in_words([decision(fitting=("B",))], ["A", "B", "C"])
    assert told.endswith(
        "; B is not clearly behind; by average ranks, which are about all pairs at once, C is not apart either."
    )


def test_the_first_learner_of_a_paper_is_named_where_a_baseline_is_best():
    told = prose.ranker_in_words([decision("PDGD", "PairRank")])
    assert told.endswith(". It is a baseline; the first of the papers' own is PairRank (0.480).")
    both = prose.ranker_in_words([decision("PDGD", "DBGD", fitting=("DBGD", "NSGD"))])
    assert both.endswith(
        ". PDGD and DBGD are baselines and no paper's own; the first of the papers' own is NSGD (0.480)."
    )
    assert "baseline" not in prose.ranker_in_words([decision("NSGD", "DBGD")])


def test_what_waits_is_told_with_its_cost_and_what_is_whole_is_left_out():
    (job,) = [each for each in grid.ITEMS["reference"].jobs("paper") if each.cell.dataset == "MQ2008"]
    entries = [Queued("comparison", "reference", ("MQ2008",), "why"), Queued("comparison", "quality", None, "that")]
    table = prose.queue_table([(entries[0], [job]), (entries[1], [])], name="x", caption="c")
    assert "| comparison, reference | MQ2008 | why | 5 |" in table and "that" not in table
    assert "| all |" in prose.queue_table([(entries[1], [job])], name="x", caption="c")


def test_how_often_a_query_comes_is_told():
    assert "In 1,000 rounds one of MQ2008's 784 queries" in prose.meetings_in_words("MQ2008")
    assert "comes 2.1 times on average" in prose.meetings_in_words("MQ2008")


def test_the_price_of_the_best_ranker_is_beside_the_best_quick_one(frame, timed):
    costs = measures.costs(timed)
    assert prose.price_in_words(decided(frame, ["PDGD"]), costs) == (
        "olRankNet's round takes 30 ms, 30 times as long as that of PDGD, the best learner of quick rounds, whose "
        "ranker scores 0.150 less."
    )
    assert "No ranker that costs more is better" in prose.price_in_words(decided(frame, ["olRankNet"]), costs)
    assert prose.price_in_words(decided(frame, ["PDGD"]), costs[:0]) == prose.price_in_words([], costs) == ""


def test_safety_is_told_from_the_safest_to_random_lists(judged):
    assert prose.safety_in_words(measures.unsafe(judged), "random lists", "BubbleRank") == (
        "Lists much worse than the production ranker's, of a hundred, under perfect users: BubbleRank, which starts "
        "from the production ranker's lists, has 0, as those lists unchanged would; all others, which start "
        "untrained, have from 10 (PairRank) to 20 (DBGD); random lists have 40. Under other users all learners have at "
        "least 20 (DBGD)."
    )
    assert prose.safety_in_words(measures.unsafe(judged[:0]), "random lists", "BubbleRank") == ""


def test_ranks_are_told_with_what_they_tell_apart(frame):
    runs = measures.of_runs(frame)
    told = prose.ranks_in_words({"offline": ranks.ranks(runs, "offline")})
    assert (
        "by offline 3 of 6 pairs are apart (critical difference 1.9 with 6 blocks; Friedman's p is below 0.001" in told
    )
    assert told.endswith("olRankNet is first, with PairRank not apart from it.")
    assert prose.ranks_in_words({}) == ""


def test_who_comes_near_the_offline_ranker_is_told(frame, reference):
    runs = measures.of_runs(frame, reference.assign(test_ndcg=0.5))
    told = prose.near_in_words(runs, frame)
    assert told.startswith(
        "Within 100 rounds, 75 % of all runs reach 90 % of the offline ranker's score at least once; in the median"
    )
    assert told.endswith("by round 100. No run of DBGD gets there.")
    assert prose.near_in_words(measures.of_runs(frame, reference.assign(test_ndcg=9)), frame) == ""


def test_tables_have_a_line_for_each_learner_in_their_order(frame, reference, timed):
    runs = measures.of_runs(frame, reference)
    table = prose.scores(runs, name="x", caption="c")
    assert re.findall(r"^\| (PairRank|DBGD|PDGD|olRankNet) \|", table, re.MULTILINE) == [
        "PairRank",
        "DBGD",
        "PDGD",
        "olRankNet",
    ]
    assert "| PDGD | 0.465 [" in table and "| – (0 %) |" in table
    costs = prose.cost_table(measures.costs(timed), name="x", caption="c")
    assert "| PDGD | 1 | 1 → 1 | 500 B |" in costs and "| olRankNet | 30 | 10 → 50 | 2 GB |" in costs
    assert prose.cost_in_words(measures.costs(timed)) == (
        "A round takes from 1 ms (PDGD) to 30 ms (olRankNet); at the end a run keeps from 500 B (PDGD) to 2 GB "
        "(olRankNet)."
    )
    assert prose.cost_in_words(measures.costs(timed[:0])) == ""


def test_other_circumstances_are_beside_the_main_comparison(frame):
    main = measures.of_runs(frame)
    others = measures.of_runs(frame[frame["users"] == "perfect"].assign(users="by position"))
    table = prose.met_again({"by position": others}, main, where="papers' users", name="x", caption="c")
    assert "| learner | place, papers' users | by position: offline, place | by position: lists |" in table
    assert "| olRankNet | 1 | 0.615 [" in table and ", 1 |" in table
    turned = others.assign(offline=-others["offline"])
    assert ", 4 |" in _line(prose.met_again({"y": turned}, main, where="x", name="x", caption="c"), "olRankNet")
    assert prose.other_users_in_words(others, main) == (
        "The best ranker after the last round is that of olRankNet under users by position (place 1 under the papers' "
        "users)."
    )
    assert prose.other_users_in_words(others[:0], main) == ""


def _line(table, learner):
    return next(line for line in table.splitlines() if line.startswith(f"| {learner} |"))


def test_a_mean_over_users_needs_all_of_them(frame):
    """Runs on other data are averaged over users as the main ones are."""
    own = measures.of_runs(frame)
    table = prose.met_again({"MQ2007": own}, own, where="MQ2008", name="x", caption="c")
    wide = measures.over_users(own, "offline")
    assert f"| {wide['PDGD'].mean():.3f} [" in _line(table, "PDGD")


def test_what_is_taken_on_other_data_is_told_with_whether_the_main_choice_holds():
    lists = Situation("lists", "lists", "quality", "lists")
    here = [decision("A", "B"), decision("A", "B", situation=lists)]
    same = [decision("A", "B"), decision("B", "A", fitting=("A",), low=-0.1, situation=lists)]
    other = [decision("B", "A"), decision("B", "A", situation=lists)]
    told = prose.elsewhere_in_words(here, {"MQ2007": same, "synthetic-mslr": other})
    assert told == (
        "The best ranker is that of A on MQ2007 and B on synthetic-mslr; A, first in the main comparison, is clearly "
        "behind on all but MQ2007. The best lists on the way were those of B on MQ2007 and B on synthetic-mslr; A, "
        "first in the main comparison, is clearly behind on all but MQ2007."
    )
    assert "is clearly behind on none of them" in prose.elsewhere_in_words(here, {"MQ2007": same})
    assert "is clearly behind on all of them" in prose.elsewhere_in_words(here, {"MQ2007": other})
    assert prose.elsewhere_in_words(here, {}) == prose.elsewhere_in_words([], {"MQ2007": same}) == ""
    table = prose.decisions_elsewhere({"MQ2008": here, "MQ2007": other[:1]}, name="x", caption="c")
    assert "| when (what is compared) | MQ2008 | MQ2007 |" in table
    assert (
        "| the end (offline NDCG@10) | **A** 0.500, +0.020 [+0.010, +0.030] | **B** 0.500, +0.020 [+0.010, +0.030] |"
        in table
    )
    assert "| lists (lists) | **A** 0.500, +0.020 [+0.010, +0.030] | – |" in table
    near = prose.decisions_elsewhere({"MQ2007": same}, name="x", caption="c")
    assert "**B** 0.500, +0.020 [−0.100, +0.030]; also A |" in near


def test_the_best_network_is_held_against_the_best_linear_ranker(frame):
    told = prose.kinds_in_words({"MQ2008": measures.of_runs(frame)})
    assert told.endswith("+0.100 [+0.100, +0.100] on MQ2008 (olRankNet minus PairRank).")
    assert prose.kinds_in_words({}) == ""


def test_whose_tuned_values_other_data_has_is_told():
    assert prose.tuned_elsewhere_in_words() == (
        "Learners were tuned on MQ2008 and synthetic-mslr. They have on MQ2007 (85 % of documents) those of MQ2008, on "
        "synthetic-mslr-net those of synthetic-mslr and on OHSUMED those of MQ2008, so a place there tells also how "
        "well values carry over. Linear rankers were tuned on MQ2007 as well, to other values, which are left out here "
        "because networks were not."
    )


def test_leads_are_told_with_intervals_over_seeds_and_over_folds(frame):
    leads = measures.resampled_leads(measures.of_runs(frame), {"offline": "olRankNet", "lists": "PairRank"})
    own = leads.set_index(["score", "variant"]).loc[("offline", "PDGD")]
    wide = measures.over_users(measures.of_runs(frame), "offline")
    assert own["mean"] == pytest.approx((wide["olRankNet"] - wide["PDGD"]).mean())
    assert own["fold_low"] <= own["mean"] <= own["fold_high"] and len(leads) == 6
    told = pd.DataFrame({
        "score": ["offline"] * 3, "best": "a", "variant": ["b", "c", "d"], "mean": 0.1, "low": [0.05, 0.05, -0.1],
        "high": 0.2, "fold_low": [0.01, -0.1, -0.2], "fold_high": 0.3,
    })  # fmt: skip
    words = prose.resampled_in_words(told)
    assert "2 are clear over seeds; at most 1 of these stay clear" in words
    assert words.endswith("No longer clear: c behind a (offline).")
    table = prose.resampled_table(leads, name="x", caption="c")
    assert _line(table, "PDGD").startswith(f"| PDGD | +{own['mean']:.3f} [")
    assert _line(table, "olRankNet").startswith("| olRankNet | – | – | ")
    assert "offline, olRankNet minus it: seeds | folds too | shown lists, PairRank minus it: seeds" in table
    assert prose.resampled_in_words(leads[:0]) == prose.resampled_in_words(told.assign(fold_low=float("nan"))) == ""


def test_an_unlucky_choice_is_told_with_what_it_costs(frame):
    own = frame[(frame["users"] == "navigational") & frame["variant"].isin(["PDGD", "PairRank"])]
    worse = own["ndcg"] - 0.1 * (own["variant"] == "PDGD")
    luck = pd.concat([own.assign(luck="as tuned"), own.assign(luck="twice", ndcg=worse), own.assign(luck="a tenth")])
    table = prose.unlucky(luck, name="x", caption="c")
    assert "| PDGD | α = 0.1 | 0.465 [" in table and "| −0.100 [−0.100, −0.100] | +0.000 [+0.000, +0.000] |" in table
    told = prose.unlucky_in_words(measures.worst_luck(luck, grid.AS_TUNED))
    assert told.startswith("The worse of both choices takes from PDGD most (−0.100) and from PairRank least (+0.000).")
    assert prose.unlucky_in_words(measures.worst_luck(luck[:0], grid.AS_TUNED)) == ""
    better = pd.concat([luck[luck["luck"] != "twice"], own.assign(luck="twice", ndcg=worse + 0.2)])
    assert "PDGD, twice (+0.100 [+0.100, +0.100]); " not in prose.lucky_in_words(luck)
    assert "PDGD, twice (+0.100 [+0.100, +0.100])" in prose.lucky_in_words(better)
    assert prose.lucky_in_words(luck) == prose.lucky_in_words(luck[:0]) == ""


def test_what_ran_is_told(frame):
    assert prose.ran_in_words(frame) == "On MQ2008: 100 rounds, 2 folds × 2 seeds × 3 kinds of users."
    assert prose.ran_in_words(frame[:0]) == ""


def test_every_learner_has_a_line_in_the_table_of_tuned_values():
    table = prose.settings_table(("MQ2008", "synthetic-mslr"), name="x", caption="c")
    assert len(re.findall(r"^\| .*\{doc\}|here \|$", table, re.MULTILINE)) == len(grid.COMPARED) + 1
    assert "NSGD" in prose.nsgd_in_words()


def test_the_pages_are_short_and_call_every_item():
    texts = {page: page.read_text(encoding="utf-8") for page in (PAGE, OPEN_PAGE)}
    assert all(len(text.split()) < 5000 for text in texts.values())
    for item in (each for each in grid.ITEMS if each not in grid.QUEUED):
        assert re.search(rf'["\' ]{item}["\' ]', texts[OPEN_PAGE if item in grid.LEFT_OPEN else PAGE]), item


def results(item, frame):
    record = {"cell": {"type": "invented"}, "device": "cpu", "ol2r": "0.1.0", "code": "c0de" * 16, "dirty": False}
    records = tuple(record | {"key": key} for key in frame["cell"].unique())
    return Results("comparison", item, grid.ITEMS[item].title, "paper", frame, (), records)


@pytest.mark.parametrize("empty", [False, True], ids=["results", "no results"])
def test_the_page_runs_on_invented_results_and_on_none(
    frame, reference, timed, judged, believed, empty, monkeypatch
):
    near = frame[frame["users"] == "navigational"]
    sky = frame[frame["variant"] == "PDGD"].assign(variant=grid.SKYLINE, cell="sky")
    tried = [frame[frame["variant"] == "PDGD"].assign(variant="NSGD", grid="NSGD", alpha=alpha, cell=f"{alpha}")
             for alpha in (0.01, 0.1)]  # fmt: skip
    frames = {
        "reference": reference.assign(cell="w*", users="-", learner="RankNet"),
        "tuning": pd.concat(tried),
        "tuning-longer": pd.concat(tried),
        "quality": pd.concat([frame, sky]),
        "elsewhere": pd.concat([frame.assign(dataset=name, cell=frame["cell"] + name) for name in grid.ELSEWHERE]),
        "controls": pd.concat([frame.assign(way=way, cell=frame["cell"] + way) for way in ("as tuned", "without")]),
        "safety": judged,
        "other-users": pd.concat([near.assign(users=kind, cell=near["cell"] + kind) for kind in grid.OTHER_USERS]),
        "examination": believed(),
        "unlucky": pd.concat(
            [near.assign(luck=each, cell=near["cell"] + each) for each in ("as tuned", *grid.UNLUCKY)]
        ),
        "timing": timed,
    }
    made = {item: results(item, own[:0] if empty else own) for item, own in frames.items()}
    monkeypatch.setattr(Chapter, "all_results", lambda self, items=None: made)
    text, strips = shown_by(PAGE)
    if empty:
        assert text.count("Not run.") == 6 and not strips
    else:
        assert "olRankNet learns the best ranker" in text and len(strips) == len(set(strips)) == 18


def shown_by(page):
    """The texts that a page's cells show, and the anchors of its strips."""
    shown, strips = [], []

    class Listening(Audience):
        def texts(self, *texts):
            shown.extend(texts)

        def strip(self, strip):
            strips.append(strip.anchor)

    names = {"__name__": "__main__"}
    with shown_to(Listening()):
        for cell in redraw._cells(page):
            exec(compile(cell.source, page.name, "exec"), names)
    text = "\n".join(shown)
    assert not re.search(r"\bnan\b", text)
    return text, strips


@pytest.mark.parametrize("empty", [False, True], ids=["results", "no results"])
def test_the_page_of_open_questions_runs_on_invented_results_and_on_none(
    begun, forgetful, forgetful_timed, empty, monkeypatch
):
    runs = begun(**{"wrong": -0.1, "right": 0.1})
    both = pd.concat([runs.assign(dataset=name, cell=runs["cell"] + name) for name in grid.START_DATASETS])
    frames = {"starts": both, "memory": forgetful, "memory-timing": forgetful_timed}
    made = {item: results(item, own[:0] if empty else own) for item, own in frames.items()}
    monkeypatch.setattr(Chapter, "all_results", lambda self, items=None: made)
    text, strips = shown_by(OPEN_PAGE)
    assert text.count("because") == len(starts.EXPECTED) + len(memory.EXPECTED)
    if empty:
        assert text.count("Not run.") == 2 and "Found" not in text and not strips
    else:
        of_them = [each for each in starts.EXPECTED if {*each.learners} & set(runs["variant"])]
        assert "A right start changes the shown lists by" in text and text.count("Found") == len(of_them) + 1
        assert len(strips) == len(set(strips)) == 8
