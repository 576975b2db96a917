import numpy as np
import pandas as pd
import pytest
from shown import rows

from ol2r.papers.pairrank import audit_tables as tables
from ol2r.papers.pairrank import bounds
from ol2r.report.tables import share

WHOLE = {"examination": "whole", "pairs": "matched", "assumed": 1}
CASCADE = {"examination": "cascade", "pairs": "all", "assumed": 0}


@pytest.fixture
def frame():
    """Forty worlds of two settings: the martingale's ratio is .8 (all covered, half of it never), Lemma 2's .1."""
    lines = []
    for setting in (WHOLE, CASCADE):
        label = {"audit": "coverage", "bound": 0.5, "delta": 0.1, "round": 100, "seed": 0} | setting
        for world in range(40):
            values = {"martingale": 0.8, "interval": 0.1, "interval inside": 0.2, "interval unprojected": 0.1}
            values |= {"potential": 0.9, "bias": 0.01 * (world % 3), "examined": setting["assumed"]}
            values["width needed"] = 0.01 * world  # of one world; what is told is the quantile over worlds
            lines += [label | {"world": world, "quantity": name, "value": value} for name, value in values.items()]
        lines += [label | {"world": -1, "round": t, "quantity": "width needed", "value": t / 100} for t in (50, 100)]
    return pd.DataFrame(lines)


def test_coverage_is_told_with_its_half_its_slack_and_the_scale_that_is_reported(frame):
    lines = rows(tables.coverage(bounds.coverage_table(frame), name="t", caption=""))
    assert len(lines) == 5 and all(line[0] == "whole, matched" for line in lines)
    martingale, lemma = lines[0], lines[1]
    assert martingale[2:5] == [tables.QUANTITIES["martingale"], "40", "90 %"]
    assert martingale[5].startswith("100 % [") and martingale[6:] == ["0 %", "1.25", "0.5"]
    assert lemma[6:] == ["100 %", "10", "0.0625"]


def test_violations_stand_below_what_holds_with_the_width_that_was_needed_at_the_end(frame):
    held, violated = rows(tables.violations(frame, name="t", caption=""))
    assert (held[0], held[2], held[4]) == ("whole, matched", "yes", "100 %")
    assert (violated[0], violated[2], violated[4]) == ("cascade, all", "no", "0 %")
    assert held[3].startswith("+0.010 (+") and held[5:] == ["100 %", "100 %", "1"]


def test_growth_says_slower_only_where_the_interval_does():
    line = {
        "width": "Lemma 2",
        "since": 125,
        "round": 1000,
        "exponent": 1.5,
        "exponent_low": -0.5,
        "exponent_high": 3.5,
    }
    line |= {"change": -0.1, "low": -0.2, "high": -0.05}
    line |= {"examination": "whole"}
    cases = [("random", 1.0, 1.0), ("conservative", 0.5, 0.0), ("random", 0.1, np.nan)]
    table = pd.DataFrame([line | {"shuffle": s, "alpha": a, "slower": slower} for s, a, slower in cases])
    lines = rows(tables.growth(table, name="t", caption=""))
    assert [each[-1] for each in lines] == ["yes", "no", "undecided"]
    assert [each[1] for each in lines] == ["Lemma 2", "0.5 · Lemma 2", "0.1 · Lemma 2"]
    assert lines[0][0] == "PairRank_R"
    assert lines[0][2:5] == ["125 – 1,000", "1.50 [−0.50, 3.50]", "−0.1000 [−0.2000, −0.0500]"]


def test_what_is_proved_tells_where_it_promises_nothing_or_is_vacuous():
    line = {"shuffle": "conservative", "statement": "regret ≤ open", "worlds": 16, "held": 15, "slack": 2.5}
    promised = line | {"examination": "whole", "width": "Lemma 2", "alpha": 1.0, "assumed": 1, "vacuous": True}
    constant = promised | {"width": "constant", "alpha": 0.1, "assumed": 0, "vacuous": False}
    stopping = promised | {"examination": "cascade", "assumed": 0}
    first, second, third = rows(tables.proved(pd.DataFrame([promised, constant, stopping]), name="t", caption=""))
    assert third[:4] == ["PairRank_C", "Lemma 2, cascade", "regret ≤ ΣN_t", "no"]
    assert first[:3] == ["PairRank_C", "Lemma 2", "regret ≤ ΣN_t"]
    assert first[3:] == ["yes, for θ̂", "15 of 16", "2.5 (vacuous: above all pairs)"]
    assert second[1] == "α = 0.1" and second[3] == "no" and second[-1] == "2.5"


def test_shares_are_percentages():
    assert [share(value) for value in (1.0, 0.5, 0.9912)] == ["100 %", "50 %", "99.1 %"]
