import itertools

import pandas as pd
import pytest

from ol2r.papers.bubblerank import click_figures as figures


@pytest.fixture
def parameters():
    """Position k has the value k/10 where published, less elsewhere; lines stand in any order."""
    ways = {"maximum likelihood": 0.0, "published": 0.1, "PyClick": 0.05, "last click": 0.02}
    rows = [
        {"users": users, "way": way, "position": k, "value": k * step}
        for (way, step), users, k in itertools.product(ways.items(), ("PBM", "DCM"), (3, 1, 2))
    ]
    return pd.DataFrame(rows)


def test_v_stands_left_and_chi_right_published_first(parameters, picture):
    picture(figures.positions_beside(parameters))


def test_only_the_ways_that_are_asked_for_are_drawn(parameters):
    (told,) = figures.positions_beside(parameters, ways=("published", "last click")).legends
    assert [text.get_text() for text in told.get_texts()] == ["published", "last click"]


def test_rates_of_positions_stand_beside_both_ways_of_fitting(picture):
    rows = [
        {"users": users, "way": way, "position": k, "value": 1 + k * step}
        for (users, way, step), k in itertools.product(
            [("PBM", "PyClick", 0.1), ("PBM", "maximum likelihood", 0.2), ("RCTR", "maximum likelihood", 0.3)], (2, 1)
        )
    ]
    picture(figures.perplexity_by_position(pd.DataFrame(rows)))


@pytest.fixture
def errors():
    cases = [("CM", "α"), ("DCM", "α"), ("DCM", "v"), ("PBM", "χ")]
    rows = []
    for (users, symbol), way, of, n in itertools.product(
        cases, ("maximum likelihood", "PyClick", "last click"), ("mean", "largest"), (400, 100)
    ):
        mean = (1 if of == "mean" else 3) / n
        line = {"users": users, "way": way, "quantity": f"{of} error of {symbol}", "sessions": n}
        rows.append(line | {"mean": mean, "low": mean / 2, "high": mean * 2})
    return pd.DataFrame(rows)


def test_errors_have_a_column_for_each_parameter_and_a_row_for_each_statistic(errors, picture):
    picture(figures.errors_against_sessions(errors))


def test_parameters_that_no_fit_has_get_no_column(errors):
    only = errors[errors["users"] == "CM"]
    assert len(figures.errors_against_sessions(only).axes) == 2
