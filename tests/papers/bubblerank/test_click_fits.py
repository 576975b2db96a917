"""Aggregates of fits, on invented frames whose answers are known and on small simulated ones."""

import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.cells import Context, Job
from ol2r.experiments.chapter import stacked
from ol2r.experiments.kinds.click_fit import (
    OTHERWISE,
    USUAL,
    ClickFit,
    Collection,
    Log,
    Simulated,
    click_fit_cells,
)
from ol2r.papers.bubblerank import click_fits as tables

PUBLISHED_V, OUR_V = [0.6, 0.4, 0.5, 1.0], [0.7, 0.5, 0.6, 1.0]
PUBLISHED_CHI, OUR_CHI = [1.0, 0.5, 0.25, 0.25], [1.0, 0.25, 0.5, 0.75]


def lines(labels, quantity, values, part="", first=1):
    return [
        labels | {"fold": 1, "seed": 0, "quantity": quantity, "part": part, "position": k, "value": value}
        for k, value in enumerate(values, start=first)
    ]


@pytest.fixture
def frame():
    """Two published models, ours under every choice, and errors of simulated fits that fall as n^−½ and n^−¼."""
    found = []
    for users, values in (("DCM", PUBLISHED_V), ("PBM", PUBLISHED_CHI)):
        found += lines(
            {"dataset": Collection.dataset, "users": users, "way": "published"}, "position parameter", values
        )
    for number, changed in enumerate(({}, *OTHERWISE)):
        for users, way, values in (
            ("DCM", "PyClick", OUR_V),
            ("DCM", "maximum likelihood", OUR_V),
            ("PBM", "PyClick", OUR_CHI),
            ("RCTR", "maximum likelihood", [0.5] * 4),
        ):
            labels = {"dataset": Log.dataset, "users": users, "way": way} | USUAL | changed
            found += lines(labels, "position parameter", [value + number for value in values])
            for part, better in (("train", 0.5), ("held out", 0.0)):
                found += lines(labels, "log-likelihood", [better - number - 1], part, first=0)
                found += lines(labels, "perplexity", [1.5 + number, 2.0, 1.0], part, first=0)
    for seed, (n, way, rate) in ((s, it) for s in (0, 1, 2) for it in RATES):
        labels = {"dataset": Simulated.dataset, "users": "PBM", "way": way, "sessions": n}
        one = lines(labels, "mean error of χ", [(seed + 1) * n**-rate], first=0)
        one += lines(labels, "error of χ", [-1.0, 1.0])
        found += [line | {"seed": seed} for line in one]
    return pd.DataFrame(found)


RATES = [(n, way, rate) for n in (100, 400, 1600) for way, rate in (("maximum likelihood", 0.5), ("PyClick", 0.25))]


def test_parameters_are_told_under_the_usual_choices_and_not_where_no_click_depends_on_them(frame):
    table = tables.positions(frame).groupby(["users", "way"])["value"].agg(list)
    assert table["DCM", "published"] == PUBLISHED_V
    assert table["DCM", "PyClick"] == OUR_V
    assert table["DCM", "maximum likelihood"] == OUR_V[:-1]
    assert table["PBM", "PyClick"] == OUR_CHI
    assert "RCTR" not in table


def test_agreement_is_position_by_position_and_leaves_out_v_of_the_last(frame):
    table = tables.agreement(tables.positions(frame)).set_index(["users", "way"])
    for way in ("PyClick", "maximum likelihood"):
        line = table.loc[("DCM", way)]
        assert line["positions"] == 3 and line["correlation"] == pytest.approx(1)
        assert line["difference"] == line["largest"] == pytest.approx(0.1)
        assert (line["published_rises"], line["rises"]) == (1, 1)
    line = table.loc[("PBM", "PyClick")]
    assert (line["positions"], line["published_rises"], line["rises"]) == (4, 0, 2)
    assert line["difference"] == pytest.approx((0.25 + 0.25 + 0.5) / 4) and line["largest"] == 0.5
    assert line["correlation"] == pytest.approx(np.corrcoef(PUBLISHED_CHI, OUR_CHI)[0, 1])


def test_without_a_log_or_without_published_models_there_is_nothing_to_agree(frame):
    for other in (Log.dataset, Collection.dataset):
        rest = frame[frame["dataset"] != other].dropna(axis="columns", how="all")
        assert tables.agreement(tables.positions(rest)).empty
    assert tables.under(frame[frame["dataset"] == Simulated.dataset]).empty


def test_scores_are_of_the_whole_and_of_one_setting(frame):
    table = tables.scores(frame).set_index(["users", "way", "part"])
    assert len(table) == 4 * 2
    assert table.loc[("PBM", "PyClick", "train"), "log-likelihood"] == -0.5
    assert table.loc[("PBM", "PyClick", "held out"), "log-likelihood"] == -1
    assert table.loc[("PBM", "PyClick", "held out"), "perplexity"] == 1.5
    other = tables.scores(frame, floor=0.0)
    assert set(other["perplexity"]) == {1.5 + 1 + next(i for i, it in enumerate(OTHERWISE) if "floor" in it)}


def test_each_choice_is_told_once(frame):
    table = tables.choices(frame)
    assert list(table["choice"].unique()) == ["usual", "unshown drop", "unseen drop", "floor 0.0"]
    assert table.groupby("choice")["log-likelihood"].unique().map(list).to_dict() == {
        name: [-1.0 - number] for number, name in enumerate(table["choice"].unique())
    }


def test_foresight_is_by_position_on_what_was_held_out(frame):
    table = tables.foresight(frame)
    assert table.groupby(["users", "way"])["value"].agg(list).map(tuple).unique().tolist() == [(2.0, 1.0)]
    assert list(table["position"].unique()) == [1, 2]


def test_errors_against_sessions_are_means_over_seeds_and_their_slope_is_the_rate(frame):
    means = tables.recovery(frame).set_index(["way", "sessions"])["mean"]
    assert means["maximum likelihood", 400] == pytest.approx(2 / 20)
    table = tables.rates(frame).set_index("way")
    assert table["mean"].to_dict() == pytest.approx({"maximum likelihood": -0.5, "PyClick": -0.25})
    assert (table["n"] == 3).all()
    assert table.loc["maximum likelihood", ["first", "last"]].tolist() == pytest.approx([2 / 10, 2 / 40])


def test_tables_fit_what_cells_leave():
    cells = [cell for cell in click_fit_cells("smoke") if isinstance(cell, ClickFit) and cell.model == "PBM"]
    jobs = [Job(cell, cell.rows(None, range(2))) for cell in cells]
    run = ClickFit.run_group(jobs, Context())
    table = tables.rates(stacked(jobs, run, lambda cell: {}))
    assert set(table["quantity"]) == {f"{of} error of {symbol}" for of in ("mean", "largest") for symbol in "αχ"}
    assert ((table["mean"] < 0) & (table["last"] < table["first"])).all()
