import pandas as pd
import pytest
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
    said = tables.steps_in_words(bounds.within_bounds(audited))
    assert "At the theorem's α 3 of the 4 steps cannot fail" in said and "steps failed" not in said
    assert "intervals that hold allow in 4 of 4 worlds (it could be in 4), and misordered" in said
    failed = audited["value"].where((audited["quantity"] != "open") | (audited["scale"] != 1), 1.0)
    assert "There 1 of the steps failed." in tables.steps_in_words(bounds.within_bounds(audited.assign(value=failed)))


def test_words_on_open_orders_tell_from_when_on_they_could_fail(audited):
    said = tables.open_in_words(bounds.open_figure(audited))
    assert "uncertain from 1,000 labels of each on, and from there more were so in 0 of 4 cases" in said
    assert "No pair is uncertain from 1,000 labels on." in said
    assert "is below the share of uncertain pairs at 10 labels." in said
    assert "more pairs were uncertain than may be in 4 of 4 cases, and at most 25 % of the pairs" in said
    trivial = audited["value"].where((audited["audit"] != "open orders") | (audited["quantity"] != "allowed"), 1.0)
    assert "nothing can fail" in tables.open_in_words(bounds.open_figure(audited.assign(value=trivial)))


def test_words_on_log_determinants_tell_which_rows_come_near_a_bound(audited):
    table = bounds.log_det_table(audited)
    said = tables.log_det_in_words(table)
    assert "the largest ratio of all worlds is 0.20: they are too few to come near" in said and "hardly fail" in said
    assert "With each document counted once the largest is 0.20" in said
    passed = tables.log_det_in_words(table.assign(largest=1.5))
    assert "is 1.50: they are enough to pass a printed bound" in passed
    assert "at m = 100 the bound of the paper's proof held in 3 of 4 worlds with" in said
    assert "with $\\tilde{\\mathbf H}$ (median ratio 0.95)" in said
    assert "and in 0 of 4 worlds with $\\mathbf H$ (median ratio 1.20)" in said


def test_words_on_the_diagonal_follow_the_numbers(audited):
    widths = bounds.typical_figure(audited)
    said = tables.lengths_in_words(widths)
    assert "After 100 pairs" in said and "in 2 of 2 cases: **a diagonal learner explores" in said
    assert "too wide from the first pairs on with the start He, λ = 0.1; symmetric, λ = 0.1." in said
    turned = tables.lengths_in_words(widths.assign(prior=0.1))
    assert "in 0 of 2 cases." in turned and "explores" not in turned
    assert "stays too narrow" in tables.lengths_in_words(widths.assign(diagonal=0.0))
    more = pd.concat([widths, widths.assign(documents=3000, diagonal=0.5 * widths["full"])])
    assert "With 3,000 documents" in tables.lengths_in_words(more) and "0.5 times the full one: too narrow" in (
        tables.lengths_in_words(more)
    )
    blind = bounds.blind_figure(audited)
    said = tables.blind_in_words(blind)
    assert "covers in all networks at all these numbers of labels" in said
    assert "the diagonal one fails in the median network from 0 labels on." in said
    assert "fails in some network, by up to 3 times" in tables.blind_in_words(blind.assign(full_most=3.0))
    assert "the diagonal one does so in the median" in tables.blind_in_words(blind.assign(diagonal=0.5))


def test_words_on_curves_count_those_that_fall(audited):
    table = bounds.coverage_figure(audited)
    assert "3 of 3 curves by all of A and 3 of 3 curves by diagonal of A fall below" in tables.fallen_in_words(table)
    assert "0 of 3 curves by all of A and 0 of 3" in tables.fallen_in_words(table.assign(coverage=1.0))


def test_typical_pairs_leave_out_the_start(audited):
    lines = rows(tables.typical(bounds.typical_figure(audited), name="t", caption=""))
    assert [line[1] for line in lines] == ["30", "100", "30", "100"]
    assert lines[0] == ["He, λ = 0.1, 400 documents", "30", "0.032", "0.5", "100 %", "0.30", "0.80"]


def test_words_carry_the_numbers(audited, kernel_audits):
    assert "covered in 40 of 40 simulated worlds (20 with half" in tables.covered_in_words(audited)
    assert "20 of 20 with users who stop" in tables.covered_in_words(audited)
    assert "its error is 3 times its interval (median of 3 networks)" in tables.diagonal_in_words(audited)
    assert "at most 0.03 times" in tables.diagonal_in_words(audited)
    typical = tables.typical_in_words(audited)
    assert "16 times the full one after 30 pairs, by start and λ, and 50 times after 100" in typical
    shorter = audited["value"].where((audited["quantity"] != "diagonal") | (audited["init"] != "he"), 0.25)
    assert "7.8 to 16 times the full one after 30 pairs" in tables.typical_in_words(audited.assign(value=shorter))
    assert "80 % away from $\\mathbf H$ and 60 %" in tables.kernel_in_words(bounds.kernel_figure(*kernel_audits))
    told = tables.regret_in_words(bounds.regret_figure(audited))
    assert "4 misordered and 10 uncertain of 20 pairs at the theorem's α" in told and "5 times all" in told
    assert "$10^{50}$ hidden units" in tables.promised_in_words()


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


@pytest.mark.parametrize(("value", "told"), [(1.0, "100 %"), (0.9634, "96.3 %")])
def test_shares_are_percentages(value, told):
    assert tables.share(value) == told
