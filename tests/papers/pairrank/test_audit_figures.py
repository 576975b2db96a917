import itertools

import numpy as np
import pandas as pd
import pytest

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


def test_coverage_stands_left_where_the_assumptions_hold_and_right_where_not(coverage, picture):
    picture(figures.coverage_against_scale(coverage))


def test_widths_have_a_panel_for_each_bound_on_logarithmic_axes(picture):
    columns = {"round": [100, 1], "theoretical": [9, 5], "needed": [2, 1], "needed_now": [1, 1], "constant": [0.1, 0.1]}
    picture(figures.width_against_rounds(pd.concat([pd.DataFrame(columns).assign(bound=q) for q in (2.0, 0.5)])))


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


def test_regret_is_a_share_of_all_pairs_and_that_of_the_other_shuffle_a_difference(regret, picture):
    lemma = regret.query("width == 'Lemma 2' and alpha == 1")
    picture(figures.regret_against_bounds(pd.concat([regret, lemma.assign(examination="cascade")])))


def test_uncertain_shares_are_drawn_at_both_widths_and_the_bounds_once(picture):
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
    picture(figures.uncertain_against_rounds(table))
