"""A rate that no learner survives, from the run to the page: frozen, marked, never chosen, and open in verdicts."""

import json

import pytest
from declared import declare

from ol2r import cli
from ol2r.experiments.cells import Item
from ol2r.experiments.chapter import stored_results
from ol2r.experiments.claims import Claim, Contrast, Measure, Part, Scale, Size
from ol2r.experiments.grid import SMOKE_DATASET, USUAL, Grid
from ol2r.experiments.paper import Paper
from ol2r.experiments.tuning import Tuned, TuningGrid, grid_scores
from ol2r.papers.nsgd import grid as nsgd
from ol2r.report import tables

SETTING = nsgd.SETTINGS["DBGD"]
GRID = Grid({"DBGD": ("DBGD", SETTING)}, USUAL, 10, 0.995, (0, 30), nsgd.reference)
RATES = (0.1, 0.2, 1e30)


def cells(tier):
    return [GRID.cell("paper", SMOKE_DATASET, "perfect", "DBGD", {"alpha": rate}) for rate in RATES]


def score(rate):
    return Measure("rates", "ndcg", (("alpha", rate),))


def leads(better, worse):
    contrast = Contrast(f"{better:g} − {worse:g}", score(better) - score(worse), Scale("NDCG@10"))
    part = Part((contrast,), ((SMOKE_DATASET, "perfect"),), statement="the one above the other")
    return Claim("nsgd", f"{better:g} {worse:g}", (part,), Size(30, 3, 1), statement="A rate is better.")


@pytest.fixture
def results(tmp_path, monkeypatch):
    claims = (leads(0.1, 0.2), leads(0.1, 1e30), leads(1e30, 0.2))
    rates = Item("Rates", cells, dict.fromkeys(("smoke", "laptop", "paper"), range(3)))
    paper = Paper("nsgd", {"rates": rates}, claims, package="ol2r.papers.nsgd")
    declare(monkeypatch, paper)
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    monkeypatch.setenv("OL2R_RESULTS", str(tmp_path / "results"))
    assert cli.main(["run", "nsgd", "--tier", "paper"]) == 0
    return stored_results(paper, "paper")


def test_a_diverged_run_is_marked_never_chosen_and_leaves_what_it_touches_open(results, capsys):
    frame = results["rates"].frame
    assert set(frame.loc[frame["alpha"] == 1e30, "status"]) == {"diverged"}
    assert set(frame.loc[frame["alpha"] < 1, "status"]) == {"ok"}

    capsys.readouterr()
    assert cli.main(["claims", "nsgd", "--json"]) == 0
    first, *touched = json.loads(capsys.readouterr().out)
    assert "diverged" not in first["reason"] and first["effect"] is not None
    for each in touched:
        assert each["verdict"] == "undecided" and "runs of" in each["reason"] and "diverged" in each["reason"]

    favoured = frame.assign(ndcg=frame["ndcg"].where(frame["alpha"] < 1, 0.99), variant="DBGD")
    scores = grid_scores(favoured, ("alpha",))
    assert scores.set_index("alpha")["diverged"].gt(0).to_dict() == {0.1: False, 0.2: False, 1e30: True}
    assert scores.loc[scores["score"].idxmax(), "alpha"] == 1e30
    favoured = favoured.assign(grid="DBGD")
    tuned = Tuned("nowhere", {"DBGD": TuningGrid(("DBGD",), {"alpha": ()})}, ("synthetic-tiny",), lambda *which: 6)
    vars(tuned)["lines"] = []  # no file
    assert (tuned.table(favoured, favoured[:0])["alpha"] < 1).all()
    with pytest.raises(ValueError, match="DBGD on synthetic-tiny: a run diverged in every setting"):
        never = favoured[favoured["alpha"] == 1e30]
        tuned.table(never, favoured[:0])

    named = frame.assign(variant=frame["alpha"].map({0.1: "MGD", 0.2: "PDGD", 1e30: "DBGD"}))
    text = tables.final_scores(tables.final(named, ("ndcg",)), {"ndcg": "offline"}, name="t", caption="Scores.")
    n = len(frame[frame["alpha"] == 1e30])
    assert text.count("†") == 2 and f"†{n}" in text and "of the runs diverged" in text
    assert f"{n} of DBGD (synthetic-tiny, perfect)" in tables.diverged_in_words(named)
    assert "†" not in tables.final_scores(
        tables.final(named[named["alpha"] < 1], ("ndcg",)), {"ndcg": "offline"}, name="t", caption="Scores."
    )
    assert tables.diverged_in_words(named[named["alpha"] < 1]) == ""
