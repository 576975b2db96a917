import pandas as pd
import pytest
from shown import rows

from ol2r.papers.p2neurrank import audit_tables as tables
from ol2r.papers.p2neurrank import bounds
from ol2r.papers.p2neurrank.errata import ERRATA
from ol2r.theory import confidence, perturbed


def test_coverage_is_told_with_its_half_and_its_slack(audited):
    lines = rows(tables.coverage(bounds.coverage_table(audited), name="t", caption=""))
    assert len(lines) == 2 * len(tables.QUANTITIES)
    (own,) = (line for line in lines if line[0].startswith("d = 5") and line[1] == "Lemma 4.2, corrected")
    assert own[2:4] == ["20", "90 %"] and own[4].startswith("100 % [") and own[5:] == ["50 %", "1.05"]


def test_needed_constants_stand_beside_the_lemmas(audited):
    assert rows(tables.needed(bounds.needed_table(audited), name="t", caption=""))[0] == [
        "d = 1, Q = 0.5, λ = 1", "10", "0.5", "30", "0.25", "0.1",
    ]  # fmt: skip


def test_rankers_asked_for_are_powers_of_ten():
    lines = rows(tables.asked(bounds.settings_table(), name="t", caption=""))
    assert [line[0] for line in lines][::2] == [
        "MSLR-WEB10K, d = 136", "Yahoo! LTRC set 1, d = 700", "MQ2008, d = 46", "ClueWeb09 (Webis), d = 42",
        "better than any setting",
    ]  # fmt: skip
    assert lines[0][5].startswith("$10^{4") and lines[-2][5] == "$10^{21}$"


def test_rankers_asked_for_at_another_regularization_stand_below_the_paper_s():
    given = {"MQ2008": (10.0, 0.1), "Yahoo-LTRC-1": (bounds.LAMBDA, 0.01)}
    settings = {name: {"regularization": pull, "noise": noise} for name, (pull, noise) in given.items()}
    plain, tuned = bounds.settings_table(), bounds.settings_table(tuned=settings)
    added = tuned[tuned["regularization"] != bounds.LAMBDA]
    pd.testing.assert_frame_equal(tuned.drop(added.index).reset_index(drop=True), plain)
    assert added[["setting", "regularization"]].drop_duplicates().to_numpy().tolist() == [["MQ2008", 10.0]]
    width = perturbed.width(
        confidence.log_det_bound(46, 25_000, 1.0, 10.0), 10.0, 1.0, 1 / 5000, confidence.least_slope(1.0, 1.0)
    )
    assert added["alpha"].tolist() == [pytest.approx(width)] * 2
    assert [line[1] for line in rows(tables.asked(tuned, name="t", caption=""))][4:8] == ["0.1", "0.1", "10", "10"]


def test_a_tuned_noise_that_the_paper_does_not_try_has_a_line_of_its_own():
    lines = bounds.settings_table(tuned={"MQ2008": {"regularization": 10.0, "noise": 1e-3}})
    own = lines[(lines["setting"] == "MQ2008") & (lines["regularization"] == 10.0)]
    assert own["noise"].tolist() == [0.1, 0.01, 1e-3]
    assert own["power"].is_monotonic_increasing


def test_agreement_and_failures_have_their_own_settings(audited):
    table = bounds.optimism_table(audited)
    agreed = rows(tables.optimism(table, name="t", caption=""))
    assert agreed[0] == ["1", "0.1", "labels", "40 %", "30 %", "12 %", "6 %", "20 %", "0 %"]
    failed = rows(tables.failures(table, name="t", caption=""))
    by_noise = {line[0]: line[1:] for line in failed}
    assert by_noise["β = 0.15, λ = 1, labels alone"][1:] == ["1", "$10^{300}$", "80 %", "50 %", "0 %", "50 %", "0 %"]
    assert len(failed) == len(table)
    assert sum(each.startswith("ν² = ") for each in by_noise) == (table["noise"] > 0).sum()


def test_bounds_and_growth_are_told_setting_by_setting(audited):
    held = rows(tables.uncertain(bounds.uncertain_table(audited), name="t", caption=""))
    assert held[0] == ["N = 2, ν² = 0.1", "linear response", "3 of 4", "1.2", "0.25", "1,000"]
    grown = rows(tables.growth(bounds.growth_table(audited), name="t", caption=""))
    assert [line[0] for line in grown] == ["N = 2, ν² = 0.1", "N = 2, ν² = 0.1, pseudo-pairs too", "no noise"]
    assert grown[0][6] == "2.00 ± 0.00" and grown[0][-1] == "4 of 4"


def test_the_bounds_as_proved_and_as_printed_part_where_scores_are_in_other_units(audited):
    table = bounds.units_table(audited)
    lines = rows(tables.units(table, name="t", caption=""))
    assert [line[:2] + line[3:] for line in lines] == [
        ["σ(0.1 z)", "2", "0.01", "4 of 4", "0.5"], ["σ(0.1 z)", "2", "0.01", "0 of 4", "50"],
        ["σ(10 z)", "2", "100", "4 of 4", "0.5"], ["σ(10 z)", "2", "100", "4 of 4", "0.005"],
    ]  # fmt: skip
    assert bounds.units_table(audited[:0]).empty


def test_a_ranker_may_pass_the_estimate_in_more_than_half_of_the_draws():
    passes = bounds.beyond_half()
    assert passes > 0.51 and (1 - passes) ** 2 < 0.25


def test_every_erratum_has_a_line_and_those_that_a_number_settles_have_one():
    lines = rows(tables.errata(ERRATA, name="t", caption=""))
    assert [line[0] for line in lines] == [str(n + 1) for n in range(len(ERRATA))]
    checked = [each for each in ERRATA if each.check]
    assert len(checked) > 18 and all(any(letter.isdigit() for letter in each.check()) for each in checked)
    by_place = pd.DataFrame(lines).set_index(1)[4]
    assert "Yahoo's set 1 has 29,921 queries" in by_place["5.1.1, 5.2.1, 5.2.3"]
    assert by_place["Section 4"] == "by the text"
    assert "grows 2.0 times" in by_place["Theorem 4.5"].iloc[0]


@pytest.mark.parametrize(("exponent", "told"), [(-0.04, "1"), (0.31, "3"), (2.36, "230"), (3.47, "$10^{3}$")])
def test_numbers_of_rankers_are_whole_or_powers_of_ten(exponent, told):
    assert tables.power(exponent) == told
