"""PairRank with bounded memory: what is declared, and expectations that can fail."""

import pandas as pd
import pytest

from ol2r.experiments.kinds.timing import Timing
from ol2r.learners import LEARNERS
from ol2r.papers.comparison import grid, memory, memory_findings
from ol2r.papers.comparison.expected import AGAINST, AS_EXPECTED, EXPECTED, OPEN
from ol2r.papers.comparison.memory import FORMS, FULL, RECURSIVE
from ol2r.papers.pairrank import grid as pairrank


def test_forms_differ_from_their_parent_in_their_memory_alone():
    for tier in ("smoke", "laptop", "paper"):
        jobs = grid.ITEMS["memory"].jobs(tier)
        assert {memory.form(job.cell)["form"] for job in jobs} == set(FORMS)
    parent = dict(next(job.cell for job in jobs if memory.form(job.cell)["form"] == FULL).hyperparameters)
    for job in jobs:
        own = dict(job.cell.hyperparameters)
        LEARNERS[job.cell.learner].check(own)
        if job.cell.dataset == "MQ2008":
            assert {name: own[name] for name in own if name in parent}.items() <= parent.items()
        assert len({row.seed for row in job.rows}) == memory.SEEDS


def test_runs_of_all_labels_are_the_chapter_of_pairrank_own():
    theirs = {job.cell.key for item in pairrank.ITEMS.values() for job in item.jobs("paper")}
    jobs = grid.ITEMS["memory"].jobs("paper")
    own = [job.cell.key for job in jobs if memory.form(job.cell)["form"] == FULL]
    assert len(own) == 3 * len(memory.DATASETS) and set(own) <= theirs
    assert not {job.cell.key for job in jobs if memory.form(job.cell)["form"] != FULL} & theirs


def test_every_form_is_timed_and_weighed_for_longer_than_it_is_run():
    cells = [job.cell for job in grid.ITEMS["memory-timing"].jobs("paper")]
    timings = [cell for cell in cells if isinstance(cell, Timing)]
    assert len(timings) == len(cells) / 2 == 3 * len(FORMS)
    assert {cell.checkpoints[-1] for cell in timings} == {memory.LONG}
    assert memory.LONG > pairrank.ROUNDS


def test_every_expectation_compares_two_forms():
    assert {form for pair in memory_findings.BESIDE for form in pair} == set(FORMS)
    assert {form for form, _ in memory_findings.BESIDE} == set(FORMS) - {FULL}
    assert all(form != other for form, other in memory_findings.BESIDE)


def test_differences_are_paired_by_run_and_judged_by_what_was_expected(forgetful):
    table = memory_findings.differences(forgetful)
    assert len(table) == 3 * len(memory_findings.BESIDE)
    own = table[table["form"] == RECURSIVE]
    assert own["mean"].tolist() == pytest.approx([-0.1] * 3) and set(own["outcome"]) == {AGAINST}
    same = table[(table["form"] != RECURSIVE)]
    assert same["mean"].abs().max() < 1e-9
    expected = {"near": AS_EXPECTED, "lower": AGAINST}
    for each in EXPECTED["memory"][1:]:
        assert set(each.among(same)["outcome"]) == {expected[each.side]}


def test_an_interval_across_the_margin_is_open(forgetful):
    one_lower_one_higher = forgetful["seed"].map({0: 0.0, 1: 0.2}).where(forgetful["form"] == RECURSIVE, 0.0)
    table = memory_findings.differences(forgetful.assign(ndcg=forgetful["ndcg"] + one_lower_one_higher))
    own = table[table["form"] == RECURSIVE]
    assert set(own["outcome"]) == {OPEN} and own["mean"].abs().max() < 1e-9


def test_costs_are_of_the_first_and_of_the_last_rounds(forgetful, forgetful_timed):
    costs = memory_findings.costs(forgetful_timed).set_index(["form", "users"])
    assert costs.loc[(FULL, "perfect"), ["first", "last", "kept"]].tolist() == pytest.approx([1.0, 3.0, 5e6])
    assert costs.loc[(RECURSIVE, "perfect"), ["first", "last", "kept"]].tolist() == pytest.approx([1.0, 1.0, 1e6])
    text = memory_findings.table(forgetful, costs.reset_index(), name="n", caption="c")
    assert "| all labels | 0.515 | 0.515 | 0.515 | 1 | 3 | 5 |" in text
    assert "one step a label | −0.100 [−0.100, −0.100]" in text.replace("-", "−")


def test_scores_stand_at_the_seconds_that_their_rounds_took(forgetful, forgetful_timed):
    spent = memory_findings.spent(forgetful, forgetful_timed).set_index(["form", "users", "round"])
    assert spent.loc[(FULL, "perfect", 50), "seconds"] == pytest.approx(0.05)
    assert spent.loc[(FULL, "perfect", 100), "seconds"] == pytest.approx(0.2)
    assert spent.loc[(FULL, "perfect", 10), "seconds"] == pytest.approx(0.01)
    fig = memory_findings.spent_curves(spent.reset_index())
    assert len(fig.axes) == 3 and "one step a label" in fig.alt


def test_without_runs_there_is_nothing_to_tell():
    empty = pd.DataFrame()
    assert memory_findings.differences(empty).empty and memory_findings.costs(empty).empty
