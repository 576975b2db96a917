import numpy as np
import pandas as pd
from shown import rows

from ol2r.papers.olranknet import audit_tables as tables
from ol2r.papers.olranknet import bounds
from ol2r.papers.olranknet.errata import ERRATA


def test_coverage_is_told_with_its_half_and_its_slack(audited):
    lines = rows(tables.coverage(bounds.coverage_table(audited), name="t", caption=""))
    assert len(lines) == 3 * len(tables.QUANTITIES)
    (own,) = (line for line in lines if "another network" in line[0] and "stop" in line[0] and "each round" in line[1])
    assert own[2:4] == ["20", "90 %"] and own[4].startswith("100 % [") and own[5:] == ["50 %", "1.05"]


def test_needed_constants_stand_beside_the_theorems(audited):
    assert rows(tables.needed(bounds.needed_table(audited), name="t", caption=""))[0][1:] == [
        "10", "0.5", "20", "0.25", "0.02", "3",
    ]  # fmt: skip


def test_steps_tell_what_is_promised(audited):
    lines = rows(tables.steps(bounds.within_bounds(audited), name="t", caption=""))
    found = {(line[0], line[1].split()[0]): line[2:] for line in lines}
    assert found["the theorem's", "uncertain"] == ["yes", "4 of 4; cannot fail here"]
    assert found["1/8 of it", "uncertain"] == ["no", "0 of 4; could fail in 4"]
    assert found["1/8 of it", "labelled"] == ["yes", "4 of 4; cannot fail here"]


def test_open_orders_are_counted_with_the_worlds_in_which_they_could_be_too_many(audited):
    found = bounds.open_figure(audited).set_index(["scale", "labels"])
    assert found.loc[[(1.0, 10), (1.0, 1000), (0.125, 1000)], ["broken", "able"]].to_numpy().tolist() == [
        [0, 0], [0, 4], [4, 4],
    ]  # fmt: skip
    assert found.loc[(1.0, 10), "printed"] < found.loc[(1.0, 10), "open"] == 1
    assert found.loc[(0.125, 1000), "wrong"] == 0.25 and np.isnan(found.loc[(0.125, 10), "printed"])


def test_log_determinants_hold_where_their_ratio_is_at_most_one(audited):
    table = bounds.log_det_table(audited)
    every = table[table["pairs"] == "all"].set_index(["quantity", "width"])
    assert every.loc[("log det by rounds", 100), ["held", "median"]].tolist() == [3, 0.95]
    assert every.loc[("log det as printed", 100), ["held", "median"]].tolist() == [0, 1.2]
    assert set(table.loc[table["pairs"] == "matched", "largest"]) == {0.2}


def test_typical_pairs_are_told_with_their_start(audited):
    lines = rows(tables.typical(bounds.typical_figure(audited), name="t", caption=""))
    assert [line[1] for line in lines] == ["0", "30", "100", "0", "30", "100"]
    assert lines[1] == ["He, λ = 0.1, 400 documents", "30", "0.032", "0.5", "100 %", "0.30", "0.80"]


def test_every_erratum_has_a_line_and_those_that_a_number_settles_have_one():
    lines = rows(tables.errata(ERRATA, name="t", caption=""))
    assert len(lines) == len(ERRATA) and [line[0] for line in lines] == [str(n + 1) for n in range(len(ERRATA))]
    checked = [each for each in ERRATA if each.check]
    assert len(checked) > 20
    assert all(any(letter.isdigit() for letter in each.check()) or "infinite" in each.check() for each in checked)
    by_place = pd.DataFrame(lines).set_index(1)[4]
    assert by_place["Lemma B.9"] == "T = 5,000, λ = .1, L = 2: 10^67 units by its statement, 10^50 by its proof"
    assert by_place["Lemma 4.2"].endswith("rank 12 in 56 dimensions")
    assert (by_place == "by the text").sum() == len(ERRATA) - len(checked)
