import numpy as np
import pandas as pd
from shown import rows

from ol2r.papers.bubblerank import click_tables as tables

PARTS = {
    "train": {"log-likelihood": -3.25, "sessions ruled out": 0, "sessions": 2000, "perplexity": 1.25},
    "held out": {"log-likelihood": -np.inf, "sessions ruled out": 25, "sessions": 1000, "perplexity": np.inf},
}
ODD = {"queries": 20, "clicks on items not shown": 7, "sessions with new items": 1234}


def scores(**changed):
    parts = [{"users": "CM", "way": "PyClick", "part": part} | values for part, values in PARTS.items()]
    return pd.DataFrame([part | ODD | changed for part in parts])


def test_scores_stand_beside_each_other_fitted_to_and_held_out():
    (line,) = rows(tables.scores(scores(), name="t", caption=""))
    assert line == ["CM", "PyClick", "−3.250", "−∞", "0.0 %", "2.5 %", "1.250", "∞"]


def test_only_the_asked_ways_are_told_under_each_choice():
    held_out = scores()[1:].drop(columns="part")
    table = pd.concat([held_out.assign(choice=choice) for choice in tables.CHOICES])
    table = pd.concat([table, table.assign(way="last click")])
    lines = rows(tables.choices(table, name="t", caption=""))
    assert [line[0] for line in lines] == list(tables.CHOICES.values())
    assert lines[0] == ["as above", "CM", "PyClick", "1,000", "−∞", "∞"]
    both = rows(tables.choices(table, name="t", caption="", ways=("PyClick", "last click")))
    assert [line[2] for line in both] == ["PyClick"] * 4 + ["last click"] * 4


def test_agreement_and_rates_are_rounded_with_their_signs():
    line = {"users": "PBM", "way": "PyClick", "positions": 10, "correlation": -0.25, "difference": 0.0456}
    table = pd.DataFrame([line | {"largest": 0.5, "rises": 2, "published_rises": 1}])
    (told,) = rows(tables.agreement(table, name="t", caption=""))
    assert told == ["PBM", "PyClick", "10", "−0.25", "0.046", "0.500", "2", "1"]
    line = {"users": "PBM", "way": "PyClick", "quantity": "mean error of α", "first": 0.04, "last": 0.01}
    table = pd.DataFrame([line | {"mean": -0.5, "low": -0.55, "high": np.nan}])
    (told,) = rows(tables.rates(table, name="t", caption=""))
    assert told[3:] == ["0.0400", "0.0100", "−0.50 [−0.55, –]"]
