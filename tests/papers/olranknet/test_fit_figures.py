import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from shown import line

from ol2r.papers.olranknet import fit_figures as figures
from ol2r.papers.olranknet import forms, lda
from ol2r.papers.olranknet.fits import WAYS
from ol2r.papers.olranknet.illustration import figure_1
from ol2r.papers.olranknet.labels import NETWORK


def test_every_way_of_refitting_has_a_look():
    assert set(figures.WAYS) == set(WAYS) and set(figures.ORDERED_BY) == set(lda.QUANTITIES)


def test_gaps_are_drawn_against_pairs_with_a_panel_for_each_regularization():
    rows = [
        {"fold": fold, "seed": 0, "round": t, "refit": way, "regularization": lam, "pairs": 2 * t + fold,
         "quantity": q, "value": (fold + lam) / t}
        for fold, t, way, lam, q in itertools.product((1, 2), (100, 50), WAYS, (0.1, 0.001), ("gap", "start"))
    ]  # fmt: skip
    fig = figures.gap_against_pairs(pd.DataFrame(rows))
    large, small = fig.axes
    assert [ax.get_title() for ax in fig.axes] == ["λ = 0.1", "λ = 0.001"]
    drawn = line(small, "Adam, 20 passes")
    assert list(drawn.get_xdata()) == [101.5, 201.5]
    assert list(drawn.get_ydata()) == pytest.approx([1.501 / 50, 1.501 / 100])
    assert line(large, "L-BFGS, 10 passes, memory kept").get_ydata()[0] == pytest.approx(1.6 / 50)
    assert "λ = 0.001 goes from 0.03 to 0.015 for Adam with 20 passes, from" in fig.alt


@pytest.fixture
def coverage():
    quantities = {"inside": 0.9, "certain": 0.3, "wrong": 0.1, "wrong in the narrower half": 0.2}
    quantities |= {"wrong in the surer half": 0.15, "wrong of all": 0.4}
    rows = [
        {"fold": fold, "seed": 0, "round": t, "part": part, "covariance": name, "quantity": q, "at": at,
         "value": value + 0.01 * fold - 0.05 * (part == "train") - t / 1e4 + at / 100, "tuned_alpha": 0.1}
        for fold, t, part, name, at, (q, value) in itertools.product(
            (1, 3), (100, 300), ("train", "test"), ("full", "diagonal", "constant"), (0.1, 1.0), quantities.items()
        )
        if at == 0.1 or not q.startswith("wrong ")
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_coverage_is_that_of_the_last_round_and_the_asked_part(coverage):
    fig = figures.coverage_against_width(coverage)
    assert "share of covered pairs goes from 0.891 to 0.9 for A" in fig.alt and "The tuned α is 0.1." in fig.alt
    inside, certain, _ = fig.axes
    drawn = line(inside, "widths by diagonal of A")
    assert list(drawn.get_xdata()) == [0.1, 1.0]
    assert list(drawn.get_ydata()) == pytest.approx([0.9 + 0.02 - 0.03 + 0.001, 0.9 + 0.02 - 0.03 + 0.01])
    assert line(certain, "widths by A").get_ydata()[0] == pytest.approx(0.3 - 0.01 + 0.001)
    train = figures.coverage_against_width(coverage, part="train").axes[2]
    assert line(train, "widths by A").get_ydata()[0] == pytest.approx(0.1 - 0.01 - 0.05 + 0.001)


def test_wrong_orders_stand_beside_those_of_all_pairs(coverage):
    fig = figures.wrong_by_width(coverage)
    assert fig.alt.count("one width for all pairs") == 1 and "by width goes from 0.211 to 0.191 for A" in fig.alt
    assert "goes from 0.411 to 0.391 for all pairs" in fig.alt
    narrower, surer = fig.axes
    assert "one width for all pairs" not in narrower.get_legend_handles_labels()[1]
    assert list(line(surer, "one width for all pairs").get_xdata()) == [100, 300]
    assert list(line(narrower, "A").get_ydata()) == pytest.approx([0.211, 0.191])
    assert line(surer, "all pairs").get_ydata()[0] == pytest.approx(0.4 + 0.02 - 0.01 + 0.001)


def test_regions_of_half_of_each_grade_have_one_contour_each():
    x, y = np.meshgrid(np.linspace(-3, 4, 71), np.linspace(-3, 3, 61))
    parts = []
    for dataset, grade in itertools.product(("one", "two"), (0, 1)):
        density = np.exp(-((x - grade) ** 2 + y**2) / 2)
        columns = {"x": x.ravel(), "y": y.ravel(), "share": (density / density.sum()).ravel()}
        parts.append(pd.DataFrame(columns).assign(dataset=dataset, grade=grade))
    table = pd.concat(parts, ignore_index=True)
    fig = figures.lda_densities(table, lda.levels(table))
    assert [ax.get_title() for ax in fig.axes] == ["one", "two"]
    for ax in fig.axes:
        first, second = (c.get_paths()[0].vertices for c in ax.collections)
        assert first[:, 0].mean() < second[:, 0].mean()
        # half of a round Gaussian lies within √(2 log 2) deviations
        assert np.hypot(*first.T).mean() == pytest.approx((2 * np.log(2)) ** 0.5, rel=0.05)
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["grade 0", "grade 1"]
    held = float(re.findall(r"lies a share of ([\d.]+) of grade 0 on one; ", fig.alt)[0])
    assert held == pytest.approx(stats.ncx2.cdf(2 * np.log(2), 2, 1), abs=0.005)  # grade 1 is one deviation away


def test_ordered_pairs_are_means_over_folds_with_their_range():
    rows = [
        {"dataset": name, "fold": fold, "seed": 0, "quantity": q, "value": 0.6 + fold / 100 + 0.1 * (q == NETWORK)}
        for name, fold, q in itertools.product(("MQ2008", "synthetic-mq"), (1, 3), ("linear", NETWORK))
    ]
    fig = figures.ordered_pairs(pd.DataFrame(rows), lda.QUANTITIES)
    assert f"highest for {lda.QUANTITIES[NETWORK]} (0.72), lowest for {lda.QUANTITIES['linear']} (0.62)" in fig.alt
    (ax,) = fig.axes
    drawn = line(ax, lda.QUANTITIES[NETWORK])
    assert list(drawn.get_xdata()) == pytest.approx([0.72, 0.72]) and ax.yaxis_inverted()
    assert len(ax.get_yticklabels()) == 2


def test_forms_are_a_ratio_against_pairs_for_each_parameter():
    rows = [
        {"shape": shape, "width": m, "parameters": 50 * m, "form": "dual", "pairs": 25 * m * k, "milliseconds": k * k}
        | {"seed": 0}
        for shape, m, k in itertools.product(("MQ2008", "MSLR-WEB10K"), (8, 16), (1, 2, 3))
    ]
    primal = [{**row, "form": "primal", "pairs": 1, "milliseconds": 2.0} for row in rows[::3]]
    frame = pd.DataFrame(rows + primal)
    fig = figures.forms_against_pairs(frame, forms.crossover(frame))
    assert "reaches 1 at pairs per weight of 1 with the shape of MQ2008" in fig.alt and "m = 8 (4.5)" in fig.alt
    left, right = fig.axes
    assert right.get_title() == "shape of MSLR-WEB10K"
    assert left.get_legend_handles_labels()[1] == ["m = 8", "m = 16"]
    assert list(line(left, "m = 8").get_xdata()) == pytest.approx([0.5, 1.0, 1.5])
    assert list(line(left, "m = 8").get_ydata()) == pytest.approx([0.5, 2.0, 4.5])


def test_the_worked_example_shows_its_graph_both_lists_and_every_chance():
    example = figure_1()
    graph, ranked, chances = figures.certain_graph(example).axes
    arrows = [text for text in graph.texts if text.arrow_patch is not None]
    assert len(arrows) == 15 and sum(text.get_text() != "" for text in graph.texts) == 6
    assert [text.get_text() for text in ranked.texts] == list("".join(example.shown))
    assert [label.get_text() for label in chances.get_yticklabels()] == list(example.lists["list"])
    widths = sorted(bar.get_width() for bar in chances.patches)
    assert widths == pytest.approx(sorted(example.lists["probability"]))
