"""Speeds beside those of public code: what is stored is drawn and compared, and nothing else."""

import json
import re
from pathlib import Path

from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.provenance import code_digest
from ol2r.papers.olranknet.grid import CHOICES, SETTINGS
from ol2r.report import speeds

STORED = {
    "dbgd.rounds_per_s": {"ours": 8000.0, "public": 1000.0},
    "dbgd.rounds_per_s_1": {"ours": 2000.0, "public": 1000.0},
    "mgd.rounds_per_s": {"ours": 300.0, "public": 100.0},
    "toprank.steps_per_s": {"ours": 2e6, "public": 1e4},
    "evaluate.queries_per_s": {"ours": 1.0, "public": 1.0},
    "p2linrank.rounds_per_s": {"ours": 150.0, "target": 100.0, "elsewhere": {"a": 200.0, "b": 90.0}},
    "toprank.rounds_per_s": {"ours": 1.0, "target": 1.0},
    "olranknet_full.bytes": {"ours": 500.0 * 2**20, "target": 1000.0 * 2**20, "elsewhere": {"a": 2000.0 * 2**20}},
}


def test_each_learner_has_its_stored_speeds_and_no_others():
    table = speeds.speeds(STORED)
    found = {(line.learner, line.how): line.speed for line in table.itertuples()}
    assert found == {
        ("DBGD", speeds.MANY): 8000.0,
        ("DBGD", speeds.PUBLIC): 1000.0,
        ("DBGD", speeds.ALONE): 2000.0,
        ("MGD", speeds.MANY): 300.0,
        ("MGD", speeds.PUBLIC): 100.0,
        ("TopRank", speeds.MANY): 2e6,
        ("TopRank", speeds.PUBLIC): 1e4,
    }
    assert dict(zip(table["learner"], table["unit"], strict=True))["TopRank"] == speeds.STEPS
    assert speeds.speeds({}).empty


def test_many_runs_at_once_are_compared_with_public_code_in_their_unit():
    found = speeds.times(speeds.speeds(STORED)).to_numpy().tolist()
    assert found == [[speeds.ROUNDS, "DBGD", 8], [speeds.ROUNDS, "MGD", 3], [speeds.STEPS, "TopRank", 200]]


def test_public_code_is_hollow_and_each_unit_has_its_own_logarithmic_axis():
    fig = speeds.beside_public_code(speeds.speeds(STORED))
    assert [ax.get_xlabel() for ax in fig.axes] == [speeds.ROUNDS, speeds.STEPS]
    assert {ax.get_xscale() for ax in fig.axes} == {"log"}
    faces = {(line.get_xdata()[0], line.get_markerfacecolor() == "white") for line in fig.axes[0].lines}
    assert faces == {(8000.0, False), (1000.0, True), (2000.0, False), (300.0, False), (100.0, True)}
    assert "highest for DBGD (8), lowest for MGD (3) in rounds a second; TopRank (200) in steps" in fig.alt


def test_figures_with_a_target_stand_beside_it_and_others_do_not():
    table = speeds.against_targets(STORED)
    *rates, memory = table.drop(columns=["public", "bound"]).to_numpy().tolist()
    name = "P²LinRank with two rankers, 5,000 rounds, all rounds of many runs at once"
    assert rates == [[name, 150.0, 100.0, 1.5, 0.9]]
    known = STORED | {"dbgd.rounds_per_s": {"ours": 8000.0, "public": 1000.0, "target": 4000.0}}
    assert speeds.against_targets(known)["public"].tolist()[0] == 1000.0
    assert memory[0].startswith("memory that olRankNet") and memory[1:] == [500.0, 1000.0, 2.0, 0.5]


def test_a_network_s_speeds_are_told_by_refit_and_one_of_them_counts():
    refits = {"adam": {"rounds_per_s": 30.0, "gap": 0.05}, "lbfgs": {"rounds_per_s": 80.0, "gap": 0.004}}
    stored = STORED | {"olranknet_mslr.rounds_per_s": {"ours": 80.0, "target": 80.0, "refits": refits}}
    table = speeds.by_refit(stored).drop(columns="what")
    assert table.to_numpy().tolist() == [
        ["Adam, 20 passes", 30.0, 0.05, False],
        ["L-BFGS, 4 passes", 80.0, 0.004, True],
    ]
    assert speeds.by_refit(STORED).empty


def test_refits_are_called_by_the_passes_of_the_chapter():
    adam, lbfgs = speeds.REFITS["adam"], speeds.REFITS["lbfgs"]
    assert adam == f"Adam, {SETTINGS['olRankNet'][1]['passes']} passes" and CHOICES[lbfgs]["refit"] == "lbfgs"


def test_times_are_told_with_their_days_and_whether_the_code_has_changed():
    now = code_digest(Timing.code)
    timed = [
        {"cell": {"type": "timing"}, "time": f"2026-01-0{day}T10:00:00+00:00", "code": code}
        for day, code in ((3, now), (1, now), (2, "older"))
    ]
    other = {"cell": {"type": "simulate"}, "time": "2025-01-01T10:00:00+00:00", "code": "x"}
    assert speeds.timings([*timed, other]).to_numpy().tolist() == [
        ["2026-01-03", False],
        ["2026-01-01", False],
        ["2026-01-02", True],
    ]
    assert speeds.timings([other]).empty and speeds.measured([other]) == ""
    days = "Times were measured on 2026-01-01 and 2026-01-02 and 2026-01-03 (UTC)."
    assert speeds.measured(timed) == f"{days} The library has changed since 1 of the 3 were measured."


def test_the_stored_speeds_that_the_book_shows_are_of_all_learners_shown():
    stored = json.loads((Path(__file__).parents[2] / "benchmarks" / "speed.json").read_text())
    names = {name for learners in speeds.SHOWN.values() for name in learners.values()}
    assert set(speeds.speeds(stored)["learner"]) == names
    for figure in stored.values():
        assert figure["ours"] > 0 and figure["processor"] and len(figure["commit"]) == 40
        assert figure.keys() & {"public", "target"} and min(figure.get("public", 1), figure.get("target", 1)) > 0
    assert {key for key, figure in stored.items() if "target" in figure} <= speeds.AIMED.keys()
    refitted = {key for key, figure in stored.items() if "refits" in figure}
    assert len(refitted) == 4 and speeds.by_refit(stored).groupby("what")["counts"].sum().eq(1).all()


def test_the_stored_openings_are_of_the_pages_of_the_book():
    root = Path(__file__).parents[2]
    stored = json.loads((root / "benchmarks" / "pages.json").read_text())
    named = re.findall(r"(?:file|root): (\S+)", (root / "book" / "_toc.yml").read_text())
    assert set(stored["pages"]) <= set(named) and len(stored["pages"]) > 30
    assert len(stored["how"]["commit"]) == 40
    for page in stored["pages"].values():
        assert 0 < page["paint_s"] and 0 < page["usable_s"] <= page["set_s"] and page["bytes"] > 100_000
