"""Texts of the comparison: every number and name is read from what they tell of."""

import re
from pathlib import Path

import pandas as pd
import pytest

import ol2r
from ol2r.experiments.chapter import Chapter, Results
from ol2r.papers.comparison import grid, measures, prose
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


def test_where_another_learner_is_first_stands_beside_a_decision():
    table = prose.decision_table(
        [decision(by_users={"perfect": "P2LinRank, N = 2"}, at_any_cost="C")], name="x", caption="c"
    )
    assert table.splitlines()[-2].endswith("| perfect users: P²LinRank (N = 2), compute without limit: C |")


def test_the_table_of_decisions_has_who_why_and_by_how_much():
    table = prose.decision_table([decision(fitting=("P2NeurRank, N = 2",))], name="x", caption="c")
    told = "| the end (offline NDCG@10) | **A** | 0.500 | +0.020 [+0.010, +0.030] over B |"
    assert f"{told} P²NeurRank (N = 2) 0.480 | B 0.480 |" in table
    assert "| – | B 0.480 | – |" in prose.decision_table([decision()], name="x", caption="c")
    assert "| 0.500 | – | – | – | – |" in prose.decision_table([decision(second=None)], name="x", caption="c")


def test_what_waits_is_told_with_its_cost_and_what_is_whole_is_left_out():
    (job,) = [each for each in grid.ITEMS["reference"].jobs("paper") if each.cell.dataset == "MQ2008"]
    entries = [Queued("comparison", "reference", ("MQ2008",), "why"), Queued("comparison", "quality", None, "that")]
    table = prose.queue_table([(entries[0], [job]), (entries[1], [])], name="x", caption="c")
    assert "| comparison, reference | MQ2008 | why | 5 |" in table and "that" not in table
    assert "| all |" in prose.queue_table([(entries[1], [job])], name="x", caption="c")


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


def test_other_circumstances_are_beside_the_main_comparison(frame):
    main = measures.of_runs(frame)
    others = measures.of_runs(frame[frame["users"] == "perfect"].assign(users="by position"))
    table = prose.met_again({"by position": others}, main, where="papers' users", name="x", caption="c")
    assert "| learner | place, papers' users | by position: offline, place | by position: lists |" in table
    assert "| olRankNet | 1 | 0.615 [" in table and ", 1 |" in table
    turned = others.assign(offline=-others["offline"])
    assert ", 4 |" in _line(prose.met_again({"y": turned}, main, where="x", name="x", caption="c"), "olRankNet")


def _line(table, learner):
    return next(line for line in table.splitlines() if line.startswith(f"| {learner} |"))


def test_a_mean_over_users_needs_all_of_them(frame):
    """Runs on other data are averaged over users as the main ones are."""
    own = measures.of_runs(frame)
    table = prose.met_again({"MQ2007": own}, own, where="MQ2008", name="x", caption="c")
    wide = measures.over_users(own, "offline")
    assert f"| {wide['PDGD'].mean():.3f} [" in _line(table, "PDGD")


def test_leads_stand_with_intervals_over_seeds_and_over_folds(frame):
    leads = measures.resampled_leads(measures.of_runs(frame), {"offline": "olRankNet", "lists": "PairRank"})
    own = leads.set_index(["score", "variant"]).loc[("offline", "PDGD")]
    wide = measures.over_users(measures.of_runs(frame), "offline")
    assert own["mean"] == pytest.approx((wide["olRankNet"] - wide["PDGD"]).mean())
    assert own["fold_low"] <= own["mean"] <= own["fold_high"] and len(leads) == 6
    table = prose.resampled_table(leads, name="x", caption="c")
    assert _line(table, "PDGD").startswith(f"| PDGD | +{own['mean']:.3f} [")
    assert _line(table, "olRankNet").startswith("| olRankNet | – | – | ")
    assert "offline, olRankNet minus it: seeds | folds too | shown lists, PairRank minus it: seeds" in table


def test_an_unlucky_choice_is_told_with_what_it_costs_and_whom_it_helps(frame):
    own = frame[(frame["users"] == "navigational") & frame["variant"].isin(["PDGD", "PairRank"])]
    worse = own["ndcg"] - 0.1 * (own["variant"] == "PDGD")
    luck = pd.concat([own.assign(luck="as tuned"), own.assign(luck="twice", ndcg=worse), own.assign(luck="a tenth")])
    table = prose.unlucky(luck).set_index(["variant", "luck"])
    assert table.loc["PDGD", "mean"].tolist() == pytest.approx([-0.1, 0])
    assert table.loc[("PDGD", "twice"), "tuned"] == "α = 0.1"
    assert table.loc[("PDGD", "twice"), "score"].startswith("0.465 [")
    better = pd.concat([luck[luck["luck"] != "twice"], own.assign(luck="twice", ndcg=worse + 0.2)])
    found = prose.unlucky(better)
    assert found[found["low"] > 0][["variant", "luck"]].to_numpy().tolist() == [
        ["PairRank", "twice"],
        ["PDGD", "twice"],
    ]
    assert prose.unlucky(luck[:0]).empty


def test_every_learner_has_a_line_in_the_table_of_tuned_values():
    table = prose.settings_table(("MQ2008", "synthetic-mslr"), name="x", caption="c")
    assert len(re.findall(r"^\| .*\{doc\}|here \|$", table, re.MULTILINE)) == len(grid.COMPARED) + 1


def test_the_pages_call_every_item():
    texts = {page: page.read_text(encoding="utf-8") for page in (PAGE, OPEN_PAGE)}
    for item in (each for each in grid.ITEMS if each not in grid.QUEUED):
        assert re.search(rf'["\' ]{item}["\' ]', texts[OPEN_PAGE if item in grid.LEFT_OPEN else PAGE]), item


def results(item, frame):
    record = {"cell": {"type": "invented"}, "device": "cpu", "ol2r": "0.1.0", "code": "c0de" * 16, "dirty": False}
    records = tuple(record | {"key": key} for key in frame["cell"].unique())
    return Results("comparison", item, grid.ITEMS[item].title, "paper", frame, (), records)


@pytest.fixture
def robust(frame, reference, believed):
    """Results by item that both pages read, and those of the sections that ask when the simulation is wrong."""
    near = frame[frame["users"] == "navigational"]
    sky = frame[frame["variant"] == "PDGD"].assign(variant=grid.SKYLINE, cell="sky")
    return {
        "reference": reference.assign(cell="w*", users="-", learner="RankNet"),
        "quality": pd.concat([frame, sky]),
        "other-users": pd.concat([near.assign(users=kind, cell=near["cell"] + kind) for kind in grid.OTHER_USERS]),
        "examination": believed(),
        "unlucky": pd.concat(
            [near.assign(luck=each, cell=near["cell"] + each) for each in ("as tuned", *grid.UNLUCKY)]
        ),
    }


@pytest.mark.parametrize("empty", [False, True], ids=["results", "no results"])
def test_the_page_runs_on_invented_results_and_on_none(frame, robust, timed, judged, empty, monkeypatch):
    tried = [frame[frame["variant"] == "PDGD"].assign(variant="NSGD", grid="NSGD", alpha=alpha, cell=f"{alpha}")
             for alpha in (0.01, 0.1)]  # fmt: skip
    frames = robust | {
        "tuning": pd.concat(tried),
        "tuning-longer": pd.concat(tried),
        "elsewhere": pd.concat([frame.assign(dataset=name, cell=frame["cell"] + name) for name in grid.ELSEWHERE]),
        "controls": pd.concat([frame.assign(way=way, cell=frame["cell"] + way) for way in ("as tuned", "without")]),
        "safety": judged,
        "timing": timed,
    }
    made = {item: results(item, own[:0] if empty else own) for item, own in frames.items()}
    monkeypatch.setattr(Chapter, "all_results", lambda self, items=None: made)
    text, strips = shown_by(PAGE)
    if empty:
        assert text.count("Not run here") == 8 and not strips
    else:
        assert "Not so in this run" in text and len(strips) == len(set(strips)) == 14


@pytest.mark.parametrize("page", [PAGE, OPEN_PAGE], ids=lambda page: page.stem)
@pytest.mark.parametrize("datasets", [None, ["OHSUMED"], ["synthetic-mslr"]], ids=["published", "OHSUMED", "synthetic"])
def test_published_results_meet_all_conditions_and_those_of_one_data_set_set_texts_aside(page, datasets):
    shown = redraw.said(page, {"tier": "paper", "datasets": datasets})
    assert not re.search(r"\b(nan|NaN)\b", shown)
    assert ("} Not run here" in shown) == (datasets is not None)


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
    begun, forgetful, forgetful_timed, robust, empty, monkeypatch
):
    runs = begun(**{"wrong": -0.1, "right": 0.1})
    both = pd.concat([runs.assign(dataset=name, cell=runs["cell"] + name) for name in grid.START_DATASETS])
    frames = robust | {"starts": both, "memory": forgetful, "memory-timing": forgetful_timed}
    made = {item: results(item, own[:0] if empty else own) for item, own in frames.items()}
    monkeypatch.setattr(Chapter, "all_results", lambda self, items=None: made)
    text, strips = shown_by(OPEN_PAGE)
    if empty:
        assert text.count("Not run here") == 7 and not strips
    else:
        assert "Not so in this run" in text
        assert len(strips) == len(set(strips)) == 11
