import itertools

import pandas as pd
import pytest
from shown import line

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


def test_v_stands_left_and_chi_right_published_first(parameters):
    fig = figures.positions_beside(parameters)
    assert "goes from 0.1 to 0.3 for published" in fig.alt and "last click" not in fig.alt
    left, right = fig.axes
    assert [ax.get_title()[0] for ax in (left, right)] == ["v", "χ"]
    assert left.get_legend_handles_labels()[1] == ["published", "PyClick", "maximum likelihood"]
    assert list(line(right, "published").get_xdata()) == [1, 2, 3]
    assert list(line(right, "published").get_ydata()) == pytest.approx([0.1, 0.2, 0.3])
    (told,) = figures.positions_beside(parameters, ways=("published", "last click")).axes[0].figure.legends
    assert [text.get_text() for text in told.get_texts()] == ["published", "last click"]


def test_rates_of_positions_stand_beside_both_ways_of_fitting():
    rows = [
        {"users": users, "way": way, "position": k, "value": 1 + k * step}
        for (users, way, step), k in itertools.product(
            [("PBM", "PyClick", 0.1), ("PBM", "maximum likelihood", 0.2), ("RCTR", "maximum likelihood", 0.3)], (2, 1)
        )
    ]
    fig = figures.perplexity_by_position(pd.DataFrame(rows))
    assert "that of fits by maximum likelihood goes from 1.2 to 1.4 for PBM; " in fig.alt
    assert "that of each position's own rate goes from 1.3 to 1.6 for RCTR" in fig.alt
    left, right = fig.axes
    for ax, pbm in ((left, [1.1, 1.2]), (right, [1.2, 1.4])):
        assert ax.get_legend_handles_labels()[1] == ["PBM", "RCTR"]
        assert list(line(ax, "PBM").get_ydata()) == pytest.approx(pbm)
        assert list(line(ax, "RCTR").get_ydata()) == pytest.approx([1.3, 1.6])


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


def test_errors_have_a_column_for_each_parameter_and_a_row_for_each_statistic(errors):
    fig = figures.errors_against_sessions(errors)
    assert [ax.get_title()[:1] for ax in fig.axes] == ["α", "v", "χ", "", "", ""]
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in fig.axes} == {("log", "log")}
    assert list(line(fig.axes[1], "DCM, PyClick").get_ydata()) == pytest.approx([0.01, 0.0025])
    assert list(line(fig.axes[4], "DCM, PyClick").get_ydata()) == pytest.approx([0.03, 0.0075])
    assert list(line(fig.axes[4], "DCM, PyClick").get_xdata()) == [100, 400]
    assert "that of v goes from 0.01 to 0.0025 for DCM, maximum likelihood" in fig.alt and "last" not in fig.alt
    assert set(fig.axes[0].get_legend_handles_labels()[1]) == {
        "1/√n", *(f"{users}, {way}" for users in ("CM", "DCM") for way in ("maximum likelihood", "PyClick"))
    }  # fmt: skip


def test_the_guide_halves_when_sessions_quadruple(errors):
    guide = line(figures.errors_against_sessions(errors).axes[2], "1/√n")
    assert list(guide.get_ydata()) == pytest.approx([0.01, 0.005])


def test_bars_are_the_interval(errors):
    (bars,) = figures.errors_against_sessions(errors).axes[1].containers[0].lines[2]
    assert bars.get_segments()[0][:, 1] == pytest.approx([0.005, 0.02])


def test_parameters_that_no_fit_has_get_no_column(errors):
    only = errors[errors["users"] == "CM"]
    assert len(figures.errors_against_sessions(only).axes) == 2
