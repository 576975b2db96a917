"""What is measured and contrasted, and one invented table per verdict and rule: rules must come out every way."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.claims import (
    WORLDS,
    Claim,
    Contrast,
    Indexed,
    Measure,
    NotMeasured,
    Part,
    Printed,
    Scale,
    Size,
    StandIn,
    WorldMeasure,
    covered,
    indexed,
    leads,
    mean_of,
    measure,
    of_means,
    over_folds,
    slope,
    steadier,
    totals,
    worded,
)
from ol2r.experiments.effects import Effect, Share, fold_effect, ratio_effect
from ol2r.experiments.published import printed_numbers
from ol2r.experiments.verdicts import (
    ELSEWHERE,
    VERDICTS,
    Counts,
    Finding,
    combine,
    elsewhere_of,
    holm,
    judge,
    judge_all,
    sides,
    together,
    verdict_of,
)
from ol2r.papers.nsgd.claims import CLAIMS

NUMBERS = printed_numbers("ol2r.papers.nsgd")
CELLS = (("MQ2008", "perfect"), ("MQ2008", "navigational"))
NAMES = ("dataset", "users", "learner")


def score(learner, **at):
    return Measure("table", "ndcg", (("learner", learner),), **at)


NDCG = Scale("NDCG@10")
A_ABOVE_B = Contrast("A − B", score("A") - score("B"), NDCG)


def claim(*contrasts, cells=CELLS, need=0, **fields):
    parts = (Part(contrasts or (A_ABOVE_B,), cells, need, "A above B"),)
    return Claim("test", "T1", parts, Size(1000, 15, 5), statement="A beats B.", **fields)


@pytest.fixture
def results(invented_runs, invented_results):
    """Results where A − B is exactly as given in each cell."""

    def make(*gaps, datasets=("MQ2008",) * 9, tier="paper", cells=CELLS, **shape):
        means = {}
        for (_, users), dataset, gap in zip(cells, datasets, gaps, strict=False):
            means |= {(dataset, users, "A"): 0.4 + gap, (dataset, users, "B"): 0.4}
        return {"table": invented_results(invented_runs(means, NAMES, **shape), tier)}

    return make


def verdict(claim, results):
    return judge(claim, results, NUMBERS).verdict


def elsewhere(claim, results):
    return {place.dataset: place.verdict for place in judge(claim, results, NUMBERS).elsewhere}


def by_margin(margin):
    return Contrast("A − B", score("A") - score("B"), replace(NDCG, margin=margin))


def test_clearly_above_in_every_cell_at_the_protocol_is_reproduced(results):
    found = judge(claim(), results(0.05, 0.05), NUMBERS)
    assert found.verdict == "reproduced"
    assert found.effect == pytest.approx(0.05)
    assert found.interval[0] < 0.05 < found.interval[1] and found.interval[0] > 0
    assert (found.n_testable, found.n_cells, found.seeds, found.data, found.tier) == (2, 2, 15, ("MQ2008",), "paper")
    assert len(found.cells) == 4


def test_one_cell_on_the_other_side_is_not_reproduced(results):
    found = judge(claim(), results(0.05, -0.05), NUMBERS)
    assert found.verdict == "not reproduced"
    assert found.effect == pytest.approx(-0.05)
    assert "navigational" in found.reason


def test_one_interval_across_zero_is_undecided(results):
    assert verdict(claim(), results(0.05, 0.0005)) == "undecided"


def test_less_than_the_margin_is_against_and_near_it_open(results):
    assert verdict(claim(by_margin(0.03)), results(0.01, 0.05)) == "not reproduced"
    assert verdict(claim(by_margin(0.009)), results(0.01, 0.05)) == "undecided"


@pytest.mark.parametrize("gap", [0.05, -0.05])
@pytest.mark.parametrize(
    ("smaller", "told"),
    [
        ({"seeds": 3}, "3 of 15 runs of each fold"),
        ({"folds": 4}, "4 of 5 folds"),
        ({"rounds": (200, 800)}, "800 of 1,000 rounds"),
        ({"tier": "laptop"}, "laptop tier"),
    ],
)
def test_an_experiment_smaller_than_the_papers_decides_nothing_and_says_so(results, smaller, told, gap):
    found = judge(claim(), results(gap, gap, **smaller), NUMBERS)
    assert found.verdict == "undecided" and f"smaller than the paper's experiment ({told})" in found.reason


def test_the_smoke_tier_judges_nothing(results):
    assert verdict(claim(), results(-0.05, -0.05, tier="smoke")) == "not judged (smoke)"


def test_without_data_nothing_can_be_tested(results):
    found = judge(claim(cells=(("TD2003", "perfect"),)), results(0.05), NUMBERS)
    assert (found.verdict, found.effect, found.interval, found.n_testable) == ("not testable", None, None, 0)
    assert "TD2003" in found.reason


def test_cells_without_data_are_counted_and_named_and_hold_nothing_up(results):
    found = judge(claim(cells=(*CELLS, ("TD2003", "perfect"))), results(0.05, 0.05), NUMBERS)
    assert (found.verdict, found.n_testable, found.n_cells) == ("reproduced", 2, 3)
    assert found.untested == ("data TD2003",)


PARTIAL = (StandIn("MQ2007", "MQ2007_partial85", same_shape=True),)


def test_other_data_neither_confirms_nor_refutes(results):
    other = claim(cells=(("MQ2007", "perfect"),), stand_ins=PARTIAL)
    for gap, answer in ((0.05, "carries over"), (-0.05, "does not carry over"), (0.0005, "undecided")):
        found = judge(other, results(gap, datasets=("MQ2007_partial85",)), NUMBERS)
        assert (found.verdict, found.data) == ("not testable", ("MQ2007_partial85",))
        assert [(p.dataset, p.verdict, p.same_shape) for p in found.elsewhere] == [("MQ2007_partial85", answer, True)]
        assert found.effect == pytest.approx(gap)
    assert "MQ2007, 85 % of documents (of the paper's shape)" in found.rule


def test_people_read_what_data_must_be_called_and_machines_its_name(results):
    three = claim(
        A_ABOVE_B, Contrast("A − C", score("A") - score("C"), NDCG), cells=(("MQ2007", "perfect"),), stand_ins=PARTIAL
    )  # fmt: skip
    found = judge(three, results(0.05, datasets=("MQ2007_partial85",)), NUMBERS)
    assert "partial85" not in found.reason
    assert "least favourable: A − B, perfect, on MQ2007, 85 % of documents" in found.reason
    assert "was not run on MQ2007, 85 % of documents with learner C" in found.reason
    assert found.to_json()["data"] == ["MQ2007_partial85"]


def test_the_papers_data_and_other_data_answer_apart(results):
    cells = (("MQ2008", "perfect"), ("MQ2007", "navigational"))
    both = claim(cells=cells, stand_ins=PARTIAL)
    datasets = ("MQ2008", "MQ2007_partial85")
    for own, other, verdicts in (
        (0.05, 0.05, ("reproduced", "carries over")),
        (0.05, -0.05, ("reproduced", "does not carry over")),
        (-0.05, 0.05, ("not reproduced", "carries over")),
        (0.0005, 0.05, ("undecided", "carries over")),
    ):
        made = results(own, other, datasets=datasets)
        assert (verdict(both, made), elsewhere(both, made)["MQ2007_partial85"]) == verdicts


def test_a_learner_that_was_not_run_leaves_a_claim_undecided(results):
    three = claim(A_ABOVE_B, Contrast("A − C", score("A") - score("C"), NDCG))
    found = judge(three, results(0.05, 0.05), NUMBERS)
    assert found.verdict == "undecided" and "learner C" in found.reason


def test_an_item_that_was_not_run_leaves_a_claim_undecided(results):
    found = judge(claim(replace(A_ABOVE_B, quantity=Measure("other", "ndcg"))), results(0.05, 0.05), NUMBERS)
    assert found.verdict == "undecided" and "other not computed" in found.reason


def test_one_seed_a_fold_is_undecided(results):
    with np.errstate(invalid="ignore"):
        found = judge(claim(), results(0.05, 0.05, seeds=2), NUMBERS)
        frame = results(0.05, 0.05, seeds=2)["table"].frame.query("seed == 0")
    assert found.verdict == "undecided" and "2 of 15 runs" in found.reason
    single = judge(claim(), {"table": replace(results(0.05)["table"], frame=frame)}, NUMBERS)
    assert single.verdict == "undecided" and "two seeds" in single.reason


def test_a_run_without_a_finite_value_is_undecided(results):
    broken = results(0.05, 0.05)
    broken["table"].frame.loc[2, "ndcg"] = np.nan
    found = judge(claim(), broken, NUMBERS)
    assert found.verdict == "undecided" and "1 of 75 runs" in found.reason


def test_a_selection_holds_the_lines_that_comparing_every_line_finds(invented_results, invented_runs):
    """Lines that lie together and lines that are scattered, a label that no line has, and one that no table has."""
    cells = [("MQ2008", "perfect", "A"), ("MQ2008", "perfect", "B"), ("MQ2008", "navigational", "A")]
    frame = invented_runs(dict.fromkeys(cells, 0.4), NAMES, seeds=2, folds=2)
    searched = Indexed(invented_results(frame))
    for wanted in ({"learner": "A", "users": "perfect"}, {"learner": "A"}, {"fold": 2}, {"learner": "C"}, {}):
        lines = np.logical_and.reduce([frame[name] == value for name, value in wanted.items()] + [frame["fold"] > 0])
        pd.testing.assert_frame_equal(searched.only(wanted).frame, frame[lines])
    assert not len(searched.only({"none": "A"}))


def test_a_run_that_appears_twice_is_an_error(results):
    twice = results(0.05, 0.05)
    frame = twice["table"].frame
    with pytest.raises(ValueError, match="duplicate"):
        judge(claim(), {"table": replace(twice["table"], frame=pd.concat([frame, frame]))}, NUMBERS)


def test_runs_are_paired_by_fold_and_seed(invented_results, invented_runs):
    frame = invented_runs({("MQ2008", "perfect", "A"): 0.4}, NAMES, deviation=0.2)
    shifted = frame.assign(learner="B", ndcg=frame["ndcg"] - 0.001).sample(frac=1, random_state=0)
    found = judge(claim(cells=CELLS[:1]), {"table": invented_results(pd.concat([frame, shifted]))}, NUMBERS)
    assert found.verdict == "reproduced"
    assert found.interval == pytest.approx((0.001, 0.001))


def test_three_cells_of_which_two_are_needed(results):
    cells = tuple(("MQ2008", user) for user in ("perfect", "navigational", "informational"))
    most = claim(cells=cells, need=2)
    assert verdict(most, results(0.05, 0.05, -0.05, cells=cells)) == "reproduced"
    assert verdict(most, results(0.05, 0.0, -0.05, cells=cells)) == "undecided"
    assert verdict(most, results(0.05, -0.05, -0.05, cells=cells)) == "not reproduced"


def test_a_count_shrinks_with_the_cells_that_can_be_tested():
    part = Part((A_ABOVE_B,), tuple(("MQ2008", str(i)) for i in range(4)), need=3, statement="")
    tested = [Finding(A_ABOVE_B, cell, "MQ2008" if i < 2 else None, side=1 - i) for i, cell in enumerate(part.cells)]
    assert combine(part, tested) == 0  # two of four can be tested: ceil(3 · 2 / 4) = 2 are needed, one is undecided


def test_against_asks_more_of_one_contrast_among_many(results):
    """Four cells: one a little below its margin is against alone, and open among others."""
    paired = 2**0.5 * 0.01 / 75**0.5
    cells = tuple(("MQ2008", str(i)) for i in range(4))
    alone = results(-2.3 * paired, cells=cells)
    among = results(-2.3 * paired, 0.05, 0.05, 0.05, cells=cells)
    assert verdict(claim(cells=cells[:1]), alone) == "not reproduced"
    assert verdict(claim(cells=cells), among) == "undecided"
    assert verdict(claim(cells=cells), results(-4 * paired, 0.05, 0.05, 0.05, cells=cells)) == "not reproduced"


def test_the_family_is_the_contrasts_on_one_data_set(results):
    paired = 2**0.5 * 0.01 / 75**0.5
    cells = tuple((data, "perfect") for data in ("MQ2008", "HP2003", "NP2003", "TD2003"))
    datasets = [data for data, _ in cells]
    assert verdict(claim(cells=cells), results(-2.3 * paired, 0.05, 0.05, 0.05, cells=cells, datasets=datasets)) == (
        "not reproduced"
    )


def test_as_claimed_is_each_contrasts_own_interval(results):
    paired = 2**0.5 * 0.01 / 75**0.5
    assert verdict(claim(), results(2.3 * paired, 2.3 * paired)) == "reproduced"


def test_holm_steps_down_and_stops():
    assert holm([0.01, 0.02, 0.2], 0.05) == [True, True, False]
    assert holm([0.03, 0.001, 0.04], 0.05) == [False, True, False]  # .03 > .05 / 2 ends it
    assert holm([], 0.05) == []


def test_sides_of_effects():
    def effect(estimate, error=0.1):
        return Effect(estimate, error, 100.0, 1, 50)

    assert sides([(effect(1.0), 0.0)]) == [1]
    assert sides([(effect(0.1), 0.0)]) == [0]
    assert sides([(effect(-1.0), 0.0)]) == [-1]
    assert sides([(effect(0.5), 1.0)]) == [-1]  # less than claimed
    assert sides([(effect(-0.5), -1.0)]) == [1]  # no more than so much worse
    assert sides([(effect(0.0, 0.0), 0.0), (effect(0.1, 0.0), 0.0)]) == [-1, 1]  # without spread nothing is open
    assert sides([(Share(39, 40, 1.0), 0.0), (Share(40, 40, 0.9), 0.0), (Share(38, 40, 0.9), 0.0)]) == [-1, 1, 0]


def test_every_word_of_both_scales_comes_from_the_outcome_and_the_counts():
    assert [verdict_of(*each) for each in ((1, True), (-1, True), (0, True), (None, True))] == list(VERDICTS[:4])
    assert {verdict_of(each, at_protocol=False) for each in (1, 0, -1)} == {"undecided"}
    some, none = Counts(as_claimed=1), Counts()
    assert [elsewhere_of(*each) for each in ((1, some), (-1, none), (-1, some), (0, some))] == list(ELSEWHERE)
    assert (together([1, None, 1]), together([1, -1, 0]), together([0, 1]), together([None])) == (1, -1, 0, None)


def test_all_parts_must_hold(results):
    reverse = Part((Contrast("B − A", score("B") - score("A"), NDCG),), CELLS[1:], statement="B above A")
    two = replace(claim(), parts=(Part((A_ABOVE_B,), CELLS[:1], statement="A above B"), reverse))
    assert verdict(two, results(0.05, -0.05)) == "reproduced"
    assert verdict(two, results(0.05, 0.05)) == "not reproduced"


def test_rounds_to_reach_a_level_compare_two_learners_at_two_rounds(results):
    sooner = claim(Contrast("A at 200 − B at 800", score("A", at=200) - score("B", at=800), NDCG), cells=CELLS[:1])
    for early, expected in ((0.45, "reproduced"), (0.4, "not reproduced")):
        made = results(0.0)
        frame = made["table"].frame
        frame.loc[(frame["learner"] == "A") & (frame["round"] == 200), "ndcg"] += early - 0.42
        assert verdict(sooner, made) == expected
    missing = judge(claim(Contrast("", score("A", at=300) - score("B"), NDCG)), results(0.05), NUMBERS)
    assert "no checkpoint at round 300" in missing.reason


@pytest.mark.parametrize(("spread", "expected"), [(0.03, "reproduced"), (0.01, "not reproduced"), (0.02, "undecided")])
def test_a_smaller_deviation(invented_results, invented_runs, spread, expected):
    keys = {("MQ2008", "perfect", name): 0.4 for name in "AB"}
    frame = invented_runs(keys, NAMES, deviation=dict(zip(keys, (0.02, spread), strict=True)))
    less = claim(Contrast("B / A", score("A") / score("B"), NDCG, steadier), cells=CELLS[:1])
    found = judge(less, {"table": invented_results(frame)}, NUMBERS)
    assert found.verdict == expected
    assert found.effect == pytest.approx(np.log(spread / 0.02))


@pytest.mark.parametrize(("step", "expected"), [(0.01, "reproduced"), (-0.01, "not reproduced"), (0.0001, "undecided")])
def test_a_trend_over_swept_values(invented_results, invented_runs, step, expected):
    frame = invented_runs({("MQ2008", "perfect", m): step * m for m in (1, 2, 4)}, ("dataset", "users", "m"))
    trend = Contrast("slope over m", slope({m: Measure("table", "ndcg", (("m", m),)) for m in (1, 2, 4)}), NDCG)
    found = judge(claim(trend, cells=CELLS[:1]), {"table": invented_results(frame)}, NUMBERS)
    assert found.verdict == expected
    assert found.effect == pytest.approx(step)


def values_of(made, *quantities):
    return [found.to_numpy() for found in totals(quantities, made, "MQ2008", "perfect")]


def test_quantities_are_added_subtracted_and_scaled_like_numbers(results):
    a, b = score("A"), score("B")
    sums = (1.0 - 0.5 * (a - 3 * b) + a, 2 + -b, mean_of([a, b, b - 1.0]), a)
    x, y, *found = values_of(results(0.05), a, b, *sums)
    expected = (1 - 0.5 * (x - 3 * y) + x, 2 - y, (x + y + y - 1) / 3, x)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-15)
    assert (a - b).measures == (a, b) and (2 * (a - b) + 1).offset == 1


def test_a_ratio_and_the_mean_over_folds_take_folds_as_the_sample(results):
    made = results(0.05)
    a, b = totals((score("A"), score("B")), made, "MQ2008", "perfect")
    ratio = Contrast("A ÷ B", score("A") / score("B"), NDCG, of_means).effect(made, "MQ2008", "perfect")
    assert ratio == ratio_effect(a, b) and ratio.estimate == pytest.approx(a.mean() / b.mean())
    folds = replace(A_ABOVE_B, estimate=over_folds).effect(made, "MQ2008", "perfect")
    assert folds == fold_effect(a - b)
    nothing = Contrast("A ÷ 0", score("A") / (score("B") - score("B")), NDCG, of_means)
    with pytest.raises(NotMeasured, match="A ÷ 0: what it is divided by has no positive mean"):
        nothing.effect(made, "MQ2008", "perfect")


def test_each_better_one_leads_each_worse_one():
    found = leads(score, NDCG, ("A", "C"), ("B",), ", online", {"C": "our C"})
    assert [one.label for one in found] == ["A − B, online", "our C − B, online"]
    assert [one.quantity for one in found] == [score("A") - score("B"), score("C") - score("B")]


def test_rules_and_words_must_belong_together():
    words = {"PHRASE": "said twice", "T1": {"statement": "A leads.", "expected": "So.", "parts": ("A above B",)}}
    bare = replace(claim(), parts=(Part((A_ABOVE_B,), CELLS),), statement="")
    (found,) = worded(words, bare)
    assert (found.statement, found.expected, found.parts[0].statement) == ("A leads.", "So.", "A above B")
    with pytest.raises(ValueError, match="words of the claims T1, but rules of T2"):
        worded(words, replace(bare, id="T2"))
    with pytest.raises(ValueError, match="T1 has words of 1 parts, but rules of 2"):
        worded(words, replace(bare, parts=bare.parts * 2))


def test_a_slope_is_that_of_a_least_squares_line():
    values = {1.0: 3.0, 2.0: 5.0, 6.0: 4.0}
    weights = [w for w, _ in slope({x: score(str(x)) for x in values}).terms]
    assert np.dot(weights, list(values.values())) == pytest.approx(
        np.polyfit(list(values), list(values.values()), 1)[0]
    )


def test_a_ratio_of_counts_is_taken_run_by_run(invented_results):
    index = [(fold, seed) for fold in (1, 2) for seed in range(3)]
    frame = pd.DataFrame(index, columns=["fold", "seed"]).assign(
        dataset="MQ2008",
        users="perfect",
        cell="k",
        round=1000,
        won=[1, 2, 3, 4, 5, 6],
        proposed=[10, 10, 10, 20, 20, 20],
    )
    values = Measure("table", "won", per="proposed").values({"table": invented_results(frame)}, "MQ2008", "perfect")
    assert values.tolist() == [0.1, 0.2, 0.3, 0.2, 0.25, 0.3]


def test_a_ratio_needs_no_value_before_the_first_round(invented_runs, invented_results):
    frame = invented_runs({("MQ2008", "perfect", "A"): 0.5}, NAMES, rounds=(0, 100))
    frame = frame.assign(proposed=4 * frame["round"], won=frame["round"])
    measure = Measure("table", "won", per="proposed")
    assert (measure.values({"table": invented_results(frame)}, "MQ2008", "perfect") == 0.25).all()


def cumulative(invented_results, **columns):
    """Two runs with cumulative columns at rounds 0, 100 and 400."""
    index = [(1, seed, t) for seed in range(2) for t in (0, 100, 400)]
    frame = pd.DataFrame(index, columns=["fold", "seed", "round"])
    return {"table": invented_results(frame.assign(dataset="MQ2008", users="perfect", cell="k", **columns))}


def test_a_cumulative_measure_can_be_read_between_two_rounds(invented_results):
    made = cumulative(invented_results, size=[0, 500, 800, 0, 300, 900], lists=[0, 50, 200, 0, 60, 210])

    def values(since, at):
        return Measure("table", "size", per="lists", since=since, at=at).values(made, "MQ2008", "perfect").tolist()

    assert values(100, 400) == [300 / 150, 600 / 150]
    assert values(100, "end") == values(100, 400)
    assert values(0, 100) == [500 / 50, 300 / 60]
    assert Measure("table", "size", since=100).values(made, "MQ2008", "perfect").tolist() == [300, 600]
    with pytest.raises(NotMeasured, match="no checkpoint at round 200"):
        values(200, 400)


def test_a_window_in_which_nothing_was_counted_is_not_measured(invented_results):
    made = cumulative(invented_results, size=[0, 500, 500, 0, 300, 900], lists=[0, 50, 50, 0, 60, 210])
    with pytest.raises(NotMeasured, match="1 of 2 runs of table lack a finite size"):
        Measure("table", "size", per="lists", since=100).values(made, "MQ2008", "perfect")


def test_a_measure_may_name_users_of_its_own(results):
    made = results(0.1, 0.3)
    others = Measure("table", "ndcg", (("learner", "A"), ("users", "navigational")))
    assert others.values(made, "MQ2008", "perfect").mean() == pytest.approx(0.7)
    across = Contrast("navigational − perfect", others - score("A"), NDCG)
    assert across.effect(made, "MQ2008", "perfect").estimate == pytest.approx(0.2)


@pytest.mark.parametrize(("gap", "expected"), [(0.01, "reproduced"), (-0.03, "not reproduced"), (0.02, "undecided")])
def test_two_scores_are_near_when_their_difference_is_small_on_both_sides(results, gap, expected):
    near = replace(A_ABOVE_B, within=0.02)
    assert verdict(claim(near, cells=CELLS[:1]), results(gap)) == expected
    assert near.label == "0.02 − |A − B|"


def test_a_negative_margin_lets_a_little_less_pass(results):
    no_worse = claim(by_margin(-0.02), cells=CELLS[:1])
    assert verdict(no_worse, results(-0.005)) == "reproduced"
    assert verdict(no_worse, results(-0.05)) == "not reproduced"
    assert "A − B: NDCG@10 above −0.02" in no_worse.rule


def test_every_data_set_elsewhere_answers_by_itself_those_of_the_papers_shape_first(results):
    places = (StandIn("MQ2007", "MQ2008"), StandIn("MQ2007", "ClueWeb09_webis", same_shape=True))
    users = (("MQ2007", "perfect"), ("MQ2007", "navigational"))
    several = claim(cells=users, stand_ins=places)

    def answers(*gaps, judged=several):
        cells = [users[0], users[1], users[0], users[1]]
        made = results(*gaps, datasets=("MQ2008", "MQ2008", "ClueWeb09_webis", "ClueWeb09_webis"), cells=cells)
        return [place.to_json() for place in judge(judged, made, NUMBERS).elsewhere]

    def place(dataset, verdict, as_claimed, undecided, against):
        return {"dataset": dataset, "verdict": verdict, "as_claimed": as_claimed, "open": undecided, "against": against}

    assert answers(0.05, 0.05, -0.05, -0.05) == [
        place("ClueWeb09_webis", "does not carry over", 0, 0, 2), place("MQ2008", "carries over", 2, 0, 0)
    ]  # fmt: skip
    assert answers(0.05, -0.05, 0.0, -0.05) == [
        place("ClueWeb09_webis", "does not carry over", 0, 1, 1), place("MQ2008", "mixed", 1, 0, 1)
    ]  # fmt: skip
    assert answers(0.05, 0.0, 0.0, 0.0)[1] == place("MQ2008", "undecided", 1, 1, 0)
    counted = replace(several, parts=(replace(several.parts[0], need=1),))
    assert answers(0.05, -0.05, -0.05, 0.0, judged=counted) == [
        place("ClueWeb09_webis", "undecided", 0, 1, 1), place("MQ2008", "carries over", 1, 0, 1)
    ]  # fmt: skip


def test_one_data_set_that_stands_in_for_two_is_judged_once(results):
    users = (("MQ2007", "perfect"), ("HP2003", "perfect"))
    twice = claim(cells=users, stand_ins=(StandIn("MQ2007", "MQ2008"), StandIn("HP2003", "MQ2008")))
    (place,) = judge(twice, results(0.05), NUMBERS).elsewhere
    assert (place.verdict, place.counts) == ("carries over", Counts(as_claimed=1))


def test_other_data_is_judged_where_the_paper_s_own_is_at_hand_too(results):
    own = claim(cells=CELLS[:1], stand_ins=(StandIn("MQ2008", "MQ2007_partial85"),))
    made = results(0.05, -0.05, datasets=("MQ2008", "MQ2007_partial85"), cells=(CELLS[0], CELLS[0]))
    assert (verdict(own, made), elsewhere(own, made)) == ("reproduced", {"MQ2007_partial85": "does not carry over"})
    assert "elsewhere, each by itself: MQ2007, 85 % of documents" in own.rule


def assert_marks_agree(judged):
    """The marks of a data set add up to its verdict, as every part of the claim must hold in all cells."""
    places = {place.dataset: place for place in judged.elsewhere}
    sides = {}
    for mark in judged.marks:
        sides.setdefault(mark.dataset if mark.dataset in places else "", []).append(mark.side)
    assert judged.verdict == verdict_of(together(sides.pop("")), at_protocol=True)
    assert {data: elsewhere_of(together(found), places[data].counts) for data, found in sides.items()} == {
        data: place.verdict for data, place in places.items()
    }
    counted = [mark.counts for mark in judged.marks if mark.dataset not in places]
    for side in ("as_claimed", "open", "against"):
        assert sum(getattr(counts, side) for counts in counted) == getattr(judged.counts, side)


@pytest.mark.parametrize("gaps", list(product((0.05, 0.0, -0.05), repeat=2)))
def test_the_marks_of_data_sets_and_users_add_up_to_the_verdicts(results, gaps):
    places = (StandIn("MQ2008", "MQ2007"), StandIn("MQ2008", "ClueWeb09_webis"))
    of_all = claim(cells=(*CELLS, ("TD2003", "perfect")), stand_ins=places)
    several = replace(of_all, parts=(*of_all.parts, Part((by_margin(-0.001),), CELLS[:1], statement="at least nearly")))
    datasets, cells = ("MQ2008", "MQ2008", "MQ2007", "MQ2007"), CELLS * 2
    judged = judge(several, results(*gaps, *gaps[::-1], datasets=datasets, cells=cells), NUMBERS)
    assert [(mark.dataset, mark.users) for mark in judged.marks] == [
        *CELLS, ("TD2003", "perfect"), ("MQ2007", "perfect"), ("MQ2007", "navigational")
    ]  # fmt: skip
    assert {gap: mark.side for mark, gap in zip(judged.marks, gaps, strict=False)} == {
        gap: int(np.sign(gap)) for gap in gaps
    }
    assert judged.marks[2].side is None
    assert_marks_agree(judged)


def test_without_data_there_are_only_marks_that_say_so_and_smoke_has_none(results):
    judged = judge(claim(stand_ins=(StandIn("MQ2008", "MQ2007"),)), {}, NUMBERS)
    assert [(mark.dataset, mark.users, mark.side) for mark in judged.marks] == [(*cell, None) for cell in CELLS]
    assert judge(claim(), results(0.05, 0.05, tier="smoke"), NUMBERS).marks == ()


def diverged(results, learner="A", runs=1):
    """The same results, in which some runs of a learner diverged after their first checkpoint."""
    frame = results["table"].frame.assign(status="ok")
    broken = (frame["learner"] == learner) & (frame["users"] == "perfect") & (frame["seed"] < runs)
    frame.loc[broken & (frame["fold"] == 1) & (frame["round"] > 200), "status"] = "diverged"
    return {"table": replace(results["table"], frame=frame)}


@pytest.mark.parametrize("gap", [0.05, -0.05])
def test_a_contrast_that_reads_a_diverged_run_is_open_and_says_why(results, gap):
    made = results(gap, gap)
    assert verdict(claim(), {"table": replace(made["table"], frame=made["table"].frame.assign(status="ok"))}) == (
        "reproduced" if gap > 0 else "not reproduced"
    )
    found = judge(claim(cells=CELLS[:1]), diverged(made, runs=2), NUMBERS)
    assert (found.verdict, found.counts) == ("undecided", Counts(open=1))
    assert "2 of the runs of A − B diverged" in found.reason
    assert judge(claim(), diverged(made, "C"), NUMBERS).verdict != "undecided"


def of_other_cells(results):
    """The same rows as of cells that the main reading does not have."""
    return replace(results, frame=results.frame.assign(cell="other " + results.frame["cell"]))


def test_readings_are_judged_where_they_replace_what_a_claim_reads(results):
    made = {"table": results(0.05, 0.05)["table"], "table-mean": of_other_cells(results(-0.05, -0.05)["table"])}
    other = replace(claim(Contrast("", Measure("own", "ndcg") - score("B"), NDCG)), id="T2", parts=())
    readings = {"mean loss": {"table": "table-mean"}, "not run": {"table": "nowhere"}, "elsewhere": {"fig": "table"}}
    found = judge_all((claim(), other), made, NUMBERS, readings)
    assert {name: each.verdict for name, each in found["T1"].readings.items()} == {
        "mean loss": "not reproduced",
        "not run": "undecided",
    }
    assert found["T1"].verdict == "reproduced" and found["T2"].readings == {}
    assert found["T1"].to_json()["readings"]["mean loss"] == {"verdict": "not reproduced", "elsewhere": []}


def test_a_reading_that_lacks_what_a_claim_compares_does_not_lend_the_main_readings_answer(results):
    made = results(0.05, 0.05)
    fewer = made["table"].frame[lambda frame: frame["learner"] != "A"]  # the reading has no A
    made |= {"other": made["table"], "table-mean": replace(made["table"], frame=fewer)}
    elsewhere = measure("other", "ndcg", learner="A") - measure("other", "ndcg", learner="B")
    both = claim(A_ABOVE_B, Contrast("A − B there", elsewhere, NDCG))
    readings = {"mean loss": {"table": "table-mean"}, "not run": {"table": "nowhere", "other": "nowhere"}}
    (found,) = judge_all((both,), made, NUMBERS, readings).values()
    assert found.verdict == "reproduced"
    assert set(found.readings) == {"not run"}  # of "mean loss" only what it does not replace is measured


def test_a_reading_that_has_fewer_runs_of_the_same_cells_judges_nothing(results):
    table = results(0.05, 0.05)["table"]
    fewer = replace(table, frame=table.frame[table.frame["seed"] < 2])
    for instead, judged in ((fewer, set()), (of_other_cells(fewer), {"ranked"})):
        made = {"table": table, "table-ranked": instead}
        (found,) = judge_all((claim(),), made, NUMBERS, {"ranked": {"table": "table-ranked"}}).values()
        assert set(found.readings) == judged


def test_the_mean_over_rounds_is_the_area_under_the_curve(results):
    made = results(0.0)
    frame = made["table"].frame
    frame["ndcg"] = frame["round"] / 1000
    values = score("A", at="mean").values(made, "MQ2008", "perfect")
    assert values.tolist() == pytest.approx([(0.2 + 1.0) / 2] * 75)


def test_an_offline_reference_stands_for_all_seeds_of_its_fold(results, invented_results):
    reference = pd.DataFrame({"dataset": "MQ2008", "fold": range(1, 6), "seed": 0, "cell": "w*"})
    below = claim(
        Contrast("reference − B", Measure("reference", "test_ndcg", shared=True) - score("B"), NDCG), cells=CELLS[:1]
    )
    for level, expected in ((0.5, "reproduced"), (0.3, "not reproduced")):
        made = results(0.0) | {"reference": invented_results(reference.assign(test_ndcg=level))}
        found = judge(below, made, NUMBERS)
        assert (found.verdict, found.effect) == (expected, pytest.approx(level - 0.4))
        assert "w*" in found.cells


def test_printed_numbers_are_told_and_change_nothing(invented_results, invented_runs):
    online = Measure("table-2", "cndcg", (("learner", "CPS"),)), Measure("table-2", "cndcg", (("learner", "DBGD"),))
    contrast = Contrast("CPS − DBGD", online[0] - online[1], Scale("cNDCG"))
    assert contrast.published(Printed(NUMBERS), "MQ2007", "perfect") == pytest.approx(59.936 - 61.931)
    keys = {("MQ2008", "perfect", name): value for name, value in (("CPS", 80.0), ("DBGD", 70.0))}
    made = {"table-2": invented_results(invented_runs(keys, NAMES, column="cndcg"))}
    found = judge(claim(contrast, cells=CELLS[:1]), made, NUMBERS)
    assert found.verdict == "reproduced"
    assert "agree in 0 of 1" in found.reason  # 77.694 − 81.327


def test_a_printed_mean_is_the_one_that_comparing_every_line_finds():
    for item, dataset, users, learner in product(
        NUMBERS["item"].unique(), [*NUMBERS["dataset"].unique(), "none"], ("perfect", ""), ("CPS", "none", None)
    ):
        where = (NUMBERS["item"] == item) & (NUMBERS["dataset"] == dataset) & NUMBERS["users"].isin([users, ""])
        if learner is not None:
            where &= NUMBERS["learner"] == learner
        expected = NUMBERS.loc[where, "mean"].iloc[0] if where.sum() == 1 else None
        assert Printed(NUMBERS).mean(item, dataset, users, learner) == expected


def test_items_that_show_one_table_share_its_index(results):
    one, other = results(0.05)["table"], results(0.06)["table"]
    found = indexed({"one": one, "same": replace(one, item="same"), "tier": replace(one, tier="x"), "other": other})
    assert found["one"] is found["same"]
    assert found["tier"].tier == "x"
    assert found["other"].frame is other.frame


def test_rounds_are_no_printed_means():
    at_800 = Measure("fig-2", "ndcg", (("learner", "MGD"),), at=800)
    assert at_800.published(Printed(NUMBERS), "MQ2007", "informational") is None


def test_a_judgement_is_plain_json(results):
    object_ = json.loads(json.dumps(judge(claim(), results(0.05, 0.05), NUMBERS).to_json()))
    assert set(object_) == {
        "paper", "id", "statement", "rule", "verdict", "effect", "interval", "data", "tier", "seeds", "cells",
        "n_testable", "n_cells", "reason", "elsewhere", "readings", "expected",
    }  # fmt: skip
    assert object_["verdict"] in VERDICTS and len(object_["interval"]) == 2


def test_a_measure_without_rows_says_what_is_missing(results):
    with pytest.raises(NotMeasured, match="learner Z"):
        score("Z").values(results(0.05), "MQ2008", "perfect")


# The claims of the NSGD paper


def test_there_are_thirteen_claims_in_order():
    assert [c.anchor for c in CLAIMS] == [f"nsgd-ns{i}" for i in range(1, 14)]


def test_every_claim_covers_the_cells_the_sheet_names():
    assert [len(c.cells) for c in CLAIMS] == [15, 9 + 5, 15, 3, 1, 1, 1, 1, 3, 3, 15, 3, 1]


def agreement(number):
    """In how many of the cells whose means the paper prints all contrasts are as claimed, and how many there are."""
    claim = CLAIMS[number - 1]
    printed: dict = {}
    for part in claim.parts:
        for cell in part.cells:
            for contrast in part.contrasts:
                value = contrast.published(Printed(NUMBERS), *cell)
                if value is not None:
                    printed.setdefault(cell, []).append(value > contrast.scale.margin)
    return sum(map(all, printed.values())), len(printed)


def test_the_printed_tables_support_what_the_sheet_says_they_do():
    assert agreement(1) == (15, 15)
    assert agreement(2) == (14, 14)
    assert agreement(3) == (10, 15)  # "the published table supports it in 10 of 15 cells"
    assert agreement(10) == (2, 3)  # contradicted for perfect users: CPS 59.936 < DBGD 61.931
    assert agreement(12) == (3, 3)  # .437 above all


def test_no_margin_exceeds_half_of_what_the_paper_prints():
    for claim in CLAIMS:
        for part in claim.parts:
            for cell, contrast in product(part.cells, part.contrasts):
                printed = contrast.published(Printed(NUMBERS), *cell)
                if printed is not None and printed > 0:
                    assert contrast.scale.margin <= printed / 2 + 1e-9, (claim.id, cell, contrast.label)


def test_every_contrast_has_a_margin():
    assert all(contrast.scale.margin for claim in CLAIMS for part in claim.parts for contrast in part.contrasts)


WORLD = {
    "table-2": (("learner",), "cndcg", {"DBGD": 50, "CPS": 55, "DP-DBGD": 51, "MGD": 52, "NSGD": 60}),
    "table-3": (("learner",), "ndcg", {"DBGD": 0.3, "CPS": 0.31, "DP-DBGD": 0.32, "MGD": 0.35, "NSGD": 0.38}),
    "fig-3": (("learner",), "ndcg", dict.fromkeys(["DBGD", "CPS", "DP-DBGD", "MGD", "NSGD"], 0.3)),
    "fig-2": (("learner",), "ndcg", {"MGD": 0.3, "NSGD": 0.35}),
    "fig-5a": (("learner",), "cosine", {"DBGD": 0.1, "MGD": 0.2, "NSGD": 0.3}),
    "fig-5c": (("variant",), "ndcg", {"MGD": 0.3, "NSGD w/o CDP & TB": 0.32, "NSGD w/o TB": 0.34, "NSGD": 0.36}),
    "fig-6a": (("m",), "cndcg", {m: 60 - m for m in range(1, 11)}),
    "fig-6b": (("alpha",), "cndcg", {a: 60 - 20 * abs(a - 0.1) for a in (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)}),
    "fig-6c-60-directions": (("k_g",), "cndcg", {k: 60 - max(k - 20, 0) for k in range(5, 45, 5)}),
    "fig-6d": (("k_h",), "cndcg", {k: 50 + k / 10 for k in (0, 5, 10, 20, 30, 40)}),
    "mgd-9": (("learner",), "cndcg", {"MGD": 53}),
}


@pytest.fixture(scope="module")
def world(invented_runs, invented_results):
    """A world in which the paper is right about everything, on MQ2007 with 85 % of its documents and on MQ2008."""
    users = ("perfect", "navigational", "informational")
    steady = {"NSGD": 0.005, "MGD": 0.008}
    made = {}
    for item, (names, column, means) in WORLD.items():
        keys = {(d, u, n): float(v) for d in ("MQ2007_partial85", "MQ2008") for u in users for n, v in means.items()}
        spread = {k: steady.get(k[2], 0.02) if item == "fig-3" else 0.01 for k in keys}
        frame = invented_runs(
            keys, ("dataset", "users", *names), column=column, deviation=spread, rounds=(200, 500, 800, 1000)
        )
        if item == "fig-5c":  # MGD is late, the others are there from the start
            late = (frame["variant"] == "MGD") & (frame["round"] < 1000)
            frame.loc[late, column] -= 0.05
        made[item] = invented_results(frame)
    mixes = {("MQ2007_partial85", "informational", n): 60.0 - n for n in range(5)}
    frame = invented_runs(mixes, ("dataset", "users", "n_uniform"), column="cndcg")
    frame["null_proposed"], frame["uniform_proposed"] = (4 - frame["n_uniform"]) * 1000, frame["n_uniform"] * 1000
    frame["null_won"] = frame["null_proposed"] * 0.2 + frame["seed"] % 3
    frame["uniform_won"] = frame["uniform_proposed"] * 0.1 + frame["seed"] % 2
    made["fig-5b"] = invented_results(frame)
    reference = [(d, f, 0, 0.43) for d in ("MQ2007_partial85", "MQ2008") for f in range(1, 6)]
    made["reference"] = invented_results(
        pd.DataFrame(reference, columns=["dataset", "fold", "seed", "test_ndcg"]).assign(cell="w*")
    )
    return made


def test_where_the_paper_is_right_its_claims_come_out_as_far_as_the_data_allows(world):
    found = judge_all(CLAIMS, world, NUMBERS)
    on_its_own_data = {"NS1", "NS2", "NS3", "NS11"}
    assert {i: j.verdict for i, j in found.items()} == {
        i: "reproduced" if i in on_its_own_data else "not testable" for i in found
    }
    assert {place.verdict for j in found.values() for place in j.elsewhere} == {"carries over"}
    assert found["NS1"].n_testable == 3 and found["NS2"].n_testable == 3 and found["NS4"].n_testable == 0
    assert all("2003" in found[i].reason for i in on_its_own_data)
    for judged in found.values():
        assert_marks_agree(judged)


def test_where_the_paper_is_wrong_no_claim_comes_out(world):
    """Mirrored values: whatever was larger is now smaller."""
    columns = {"ndcg", "cndcg", "cosine", "null_won", "uniform_won", "test_ndcg"}

    def mirror(item, results):
        frame = results.frame.copy()
        for column in columns & set(frame.columns):
            frame[column] = -frame[column] if item != "fig-3" else frame[column]
        if item == "fig-3":
            frame["ndcg"] = 0.3 + (frame["ndcg"] - 0.3) * frame["learner"].map({"NSGD": 9.0, "MGD": 9.0}).fillna(1.0)
        return replace(results, frame=frame)

    wrong = {item: mirror(item, results) for item, results in world.items()}
    found = judge_all(CLAIMS, wrong, NUMBERS)
    assert {found[i].verdict for i in ("NS1", "NS2", "NS3", "NS11")} == {"not reproduced"}
    assert {place.verdict for j in found.values() for place in j.elsewhere} <= {"does not carry over", "mixed"}


def test_every_item_that_a_claim_reads_is_in_the_grid_and_under_each_reading():
    from ol2r.papers.nsgd import grid as nsgd

    read = {measure.item for claim in CLAIMS for part in claim.parts for c in part.contrasts for measure in c.measures}
    assert read <= set(nsgd.ITEMS)
    for reading, items in nsgd.READINGS.items():
        assert set(items) | set(items.values()) <= set(nsgd.ITEMS)
        assert {item for item in read if item.startswith(("table", "fig-2", "fig-3", "fig-5"))} <= set(items), reading


def test_declaring_claims_loads_no_heavy_library():
    import subprocess
    import sys

    code = "import sys, ol2r.papers.nsgd.claims; assert not {'torch', 'numba', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_contrast_reads_only_runs_that_all_its_measures_have(results):
    made = results(0.05)
    frame = made["table"].frame
    made["table"] = replace(made["table"], frame=frame[(frame["learner"] == "A") | (frame["seed"] < 10)])
    assert A_ABOVE_B.effect(made, "MQ2008", "perfect").seeds == 10


def test_a_verdict_says_which_part_of_the_claim_it_leaves_out(results):
    reverse = Contrast("B − A", score("B") - score("A"), NDCG)
    absent = Part((reverse,), (("TD2003", "perfect"),), statement="B above A elsewhere")
    two = replace(claim(), parts=(Part((A_ABOVE_B,), CELLS[:1], statement="A above B"), absent))
    judgement = judge(two, results(0.1), NUMBERS)
    assert "without its part “B above A elsewhere”" in judgement.reason
    assert judgement.untested == ("“B above A elsewhere”", "data TD2003")


def worlds(invented_results):
    """An audit of ten worlds in two blocks, with two looks; a −1 stands for a statistic over all worlds."""
    lines = [
        {"fold": 1, "seed": seed, "world": world, "round": t, "quantity": "ratio", "value": (world + 1) * t / 10}
        for seed in (0, 1)
        for world in (-1, 0, 1, 2, 3, 4)
        for t in (1, 3)
    ]
    return {"audits": invented_results(pd.DataFrame(lines).assign(audit="coverage", delta=0.1, cell="a"))}


def test_a_measure_of_worlds_reads_single_worlds_of_all_blocks_by_round(invented_results):
    measure = WorldMeasure("audits", "ratio", (("audit", "coverage"),))
    curve = measure.curve(worlds(invented_results))
    assert curve.shape == (10, 2) and list(curve.columns) == [1, 3]
    assert list(curve[3][:5]) == pytest.approx([0.3, 0.6, 0.9, 1.2, 1.5])
    assert list(measure.values(worlds(invented_results), WORLDS, "")) == list(curve[3])


def test_coverage_is_the_share_of_worlds_within_their_bound(invented_results):
    results = worlds(invented_results)
    results["audits"] = replace(results["audits"], frame=results["audits"].frame.query("round == 3"))
    found = Contrast("covered", WorldMeasure("audits", "ratio", ()), NDCG, covered).effect(results, WORLDS, "")
    assert found == Share(6, 10, 0.9)


def test_worlds_that_were_not_drawn_are_not_measured(invented_results):
    measure = WorldMeasure("audits", "another", ())
    with pytest.raises(NotMeasured, match="audits has no another"):
        measure.selected(worlds(invented_results), WORLDS, "")
    with pytest.raises(NotMeasured, match="not computed"):
        measure.selected({}, WORLDS, "")
