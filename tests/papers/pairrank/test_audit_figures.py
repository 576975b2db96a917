import itertools

import numpy as np
import pandas as pd
import pytest
from shown import line

from ol2r.papers.pairrank import audit_figures as figures


@pytest.fixture
def coverage():
    """Coverage is the scale, at most 1, in four settings of which two meet the assumptions."""
    settings = [("whole", "matched", 1), ("inferred", "adjacent", 1), ("cascade", "matched", 0), ("whole", "all", 0)]
    names, scales = ("martingale", "interval"), (0.1, 0.5, 1, 2)
    lines = [
        {"examination": e, "pairs": p, "assumed": a, "bound": q, "quantity": name, "scale": s,
         "coverage": min(1.0, s), "nominal": 0.9}
        for (e, p, a), q, name, s in itertools.product(settings, (0.5, 2.0), names, scales)
    ]  # fmt: skip
    return pd.DataFrame(lines)


def test_coverage_stands_left_where_the_assumptions_hold_and_right_where_not(coverage):
    left, right = figures.coverage_against_scale(coverage).axes
    assert (left.get_title(), right.get_title()) == ("assumptions hold", "assumption violated")
    shown = [set(ax.get_legend_handles_labels()[1]) for ax in (left, right)]
    assert shown[0] == {f"whole, matched, Q = {q}, {name}" for q in (0.5, 2) for name in ("martingale", "interval")}
    assert all(told.startswith(("cascade, matched", "whole, all")) for told in shown[1]) and len(shown[1]) == 8
    drawn = line(left, "whole, matched, Q = 2, interval")
    assert list(drawn.get_xdata()) == [0.1, 0.5, 1, 2] and list(drawn.get_ydata()) == [0.1, 0.5, 1, 1]
    assert [0.9, 0.9] in [list(each.get_ydata()) for each in left.lines]
    assert left.get_xscale() == "log"
    told = figures.coverage_against_scale(coverage).alt
    assert "reaches 0.9 at a scale of 1 for the martingale bound, where assumptions hold" in told


def test_the_legend_of_coverage_names_only_settings_that_are_drawn(coverage):
    (told,) = figures.coverage_against_scale(coverage).legends
    names = [text.get_text() for text in told.get_texts()]
    assert {"whole, matched", "cascade, matched", "whole, all", "Q = 0.5", "Q = 2"} < set(names)
    assert "cascade, adjacent" not in names


def test_widths_have_a_panel_for_each_bound_on_logarithmic_axes():
    columns = {"round": [100, 1], "theoretical": [9, 5], "needed": [2, 1], "needed_now": [1, 1], "constant": [0.1, 0.1]}
    table = pd.concat([pd.DataFrame(columns).assign(bound=q) for q in (2.0, 0.5)])
    fig = figures.width_against_rounds(table)
    assert [ax.get_title() for ax in fig.axes] == ["Q = 0.5", "Q = 2"]
    for column, told in figures.TOLD.items():
        assert list(line(fig.axes[0], told).get_ydata()) == columns[column][::-1]
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in fig.axes} == {("log", "log")}
    assert "from 5 to 9 for Lemma 2, from 1 to 2 for what was enough so far, stays at 0.1" in fig.alt


@pytest.fixture
def regret():
    """PairRank_R misorders a pair more than PairRank_C after one round, and three more after ten."""
    rounds = {"round": [1, 10], "standard_error": [0.1, 0.5], "open": [2.0, 8.0], "allowed": [3.0, 20.0]}
    widths = (("Lemma 2", 1.0), ("Lemma 2", 0.5), ("constant", 0.1), ("constant", 1.0))
    cases = itertools.product(((2.0, 8.0, 1.0, 3.0), (1.0, 5.0, np.nan, np.nan)), widths)
    return pd.concat(
        [
            pd.DataFrame(rounds).assign(
                examination="whole",
                shuffle="conservative" if np.isnan(more) else "random",
                width=width,
                alpha=alpha,
                everything=[3.0, 30.0],
                regret=[first, last],
                more=[more, most],
                more_error=[0.05, 0.25],
                bound=1e6 if (width, alpha) == ("Lemma 2", 1.0) else np.nan,
                printed_bound=1e9 if (width, alpha) == ("Lemma 2", 1.0) else np.nan,
            )
            for (first, last, more, most), (width, alpha) in cases
        ]
    )


def test_users_who_stop_have_a_line_of_their_own(regret):
    lemma = regret.query("width == 'Lemma 2' and alpha == 1")
    fig = figures.regret_against_bounds(pd.concat([lemma, lemma.assign(examination="cascade", regret=[2.0, 9.0] * 2)]))
    drawn = [line(fig.axes[1], case) for case in ("Lemma 2", "Lemma 2, cascade")]
    assert [list(each.get_ydata()) for each in drawn] == [[1 / 3, 5 / 30], [2 / 3, 9 / 30]]
    assert drawn[0].get_color() != drawn[1].get_color()


def test_regret_is_a_share_of_all_pairs_and_that_of_the_other_shuffle_a_difference(regret):
    fig = figures.regret_against_bounds(regret)
    uncertain, misordered, more = fig.axes
    for case in ("Lemma 2", "0.5 · Lemma 2", "α = 0.1", "α = 1"):
        assert list(line(uncertain, case).get_ydata()) == [2 / 3, 8 / 30]
        assert list(line(misordered, case).get_ydata()) == [1 / 3, 5 / 30]
        assert list(line(more, case).get_ydata()) == [1 / 3, 3 / 30]
    assert list(line(uncertain, "left open by Lemma 2").get_ydata()) == [1, 20 / 30]
    assert (misordered.get_title(), more.get_title().split("\n")) == (
        "misordered by PairRank_C", ["misordered by PairRank_R", "minus by PairRank_C"]
    )  # fmt: skip
    assert fig.table["regret_share"].tolist()[:2] == [2 / 3, 8 / 30]
    assert "PairRank_R misordered more than PairRank_C: highest" in fig.alt


def test_a_bound_above_all_pairs_is_told_and_one_below_refused(regret):
    assert "allows 33000 times all pairs; as printed, 3.3 · 10⁷ times." in figures.regret_against_bounds(regret).alt
    with pytest.raises(ValueError, match="has to be drawn"):
        figures.regret_against_bounds(regret.assign(bound=29.0))


def test_regret_bars_are_two_standard_errors(regret):
    fig = figures.regret_against_bounds(regret[regret["width"] == "Lemma 2"])
    for ax, ends in ((fig.axes[1], [4 / 30, 6 / 30]), (fig.axes[2], [2.5 / 30, 3.5 / 30])):
        (bars,) = ax.containers[0].lines[2]
        assert np.asarray(bars.get_segments()[1])[:, 1] == pytest.approx(ends)


def test_uncertain_shares_are_drawn_at_both_widths_and_the_bounds_once():
    columns = {
        "round": [1, 100],
        "uncertain": [1.0, 0.4],
        "standard_error": [0, 0.1],
        "allowed": [1, 0.9],
        "printed": 1.0,
    }
    cases = [("whole", 1.0), ("whole", 0.5), ("cascade", 1.0)]
    table = pd.concat([pd.DataFrame(columns).assign(examination=who, alpha=alpha) for who, alpha in cases])
    table.loc[table["examination"] == "cascade", "uncertain"] = 0.3
    fig = figures.uncertain_against_rounds(table)
    assert "stays at 0.3 for pairs that are uncertain, cascade" in fig.alt and "from 1 to 0.9 for those left" in fig.alt
    (ax,) = fig.axes
    assert sorted(ax.get_legend_handles_labels()[1]) == [
        "Lemma 7 as printed, at most 1", "left open by Lemma 2", "uncertain", "uncertain at 0.5 times the width",
        "uncertain, cascade",
    ]  # fmt: skip
    assert list(line(ax, "uncertain, cascade").get_ydata()) == [0.3, 0.3]
    assert list(line(ax, "uncertain").get_ydata()) == [1.0, 0.4]
    assert list(line(ax, "left open by Lemma 2").get_ydata()) == [1, 0.9]
