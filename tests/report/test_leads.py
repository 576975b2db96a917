"""What is told of leads is what the runs have: paired, over every data set and kind of users, and in one direction."""

import numpy as np
import pandas as pd
import pytest

from ol2r.report import leads, said

SCORES = {"DBGD": 0.40, "MGD": 0.45, "NSGD": 0.50}


def runs(column, of_seed=lambda seed: 0.1 * seed, datasets=("MQ2008",)):
    """Learners that differ by the same amount in every run, while runs differ much from one another."""
    lines = [
        (dataset, users, 1, seed, rounds, learner, score + of_seed(seed) if rounds else 0.0)
        for dataset in datasets
        for users in ("perfect", "informational")
        for seed in range(4)
        for rounds in (0, 10)
        for learner, score in SCORES.items()
    ]
    return pd.DataFrame(lines, columns=["dataset", "users", "fold", "seed", "round", "learner", column])


@pytest.fixture
def scores():
    return {"offline": (runs("ndcg"), "ndcg"), "online": (runs("cndcg"), "cndcg")}


def test_a_learner_s_leads_are_the_others_lags_turned_round(scores):
    ahead, behind = leads.leads_of("NSGD", scores, by="learner"), leads.leads(scores, "NSGD", by="learner")
    assert list(dict.fromkeys(ahead["row"])) == ["DBGD", "MGD"] and set(ahead["panel"]) == {"offline", "online"}
    assert ahead["mean"].to_numpy() == pytest.approx([0.1 if row == "DBGD" else 0.05 for row in ahead["row"]])
    for one, other in (("mean", "mean"), ("low", "high"), ("high", "low")):
        assert ahead[one].to_numpy() == pytest.approx(-behind[other].to_numpy())
    assert (ahead["low"] <= ahead["mean"] + 1e-12).all() and (ahead["n"] == 4).all()


def test_the_others_stand_in_the_order_asked(scores):
    table = leads.leads_of("NSGD", scores, by="learner", others=("MGD", "DBGD"))
    assert list(dict.fromkeys(table["row"])) == ["MGD", "DBGD"]


def test_the_figure_says_what_is_subtracted_from_what(scores):
    figure = leads.lead_dots(leads.leads_of("NSGD", scores, by="learner"), "NSGD minus the other")
    assert [ax.get_xlabel() for ax in figure.axes] == [f"{each},\nNSGD minus the other" for each in scores]


def test_leads_on_several_data_sets_have_a_row_of_panels_each(scores):
    frame = runs("ndcg", datasets=("MQ2008", "MQ2007"))
    table = leads.leads_of("NSGD", {"offline": (frame, "ndcg"), "online": scores["online"]}, by="learner")
    figure = leads.leads_by_data(table, "NSGD minus the other")
    assert [ax.get_title() for ax in figure.axes] == ["offline", "online", "", ""]
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", *["NSGD minus the other"] * 2]
    assert [figure.axes[k].get_ylabel() for k in (0, 2)] == ["MQ2008", "MQ2007"]
    marks = [len(ax.containers) for ax in figure.axes]
    assert marks == [2, 2, 2, 2]  # a mark for each kind of users, also where there are no runs
    assert figure.axes[0].get_ylim()[0] > figure.axes[0].get_ylim()[1]  # the first row is at the top


def test_without_runs_there_are_no_leads_and_no_line_is_found():
    table = leads.leads_of("NSGD", {"offline": (pd.DataFrame(), "ndcg")}, by="learner")
    assert table.empty and np.isnan(said.lead(table, dataset="MQ2008", row="MGD")).all()
    assert not (table["low"] > 0).any() and np.isnan(table["mean"].min())
