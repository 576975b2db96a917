"""What the BubbleRank chapter declares: its items exist, share their cells and fit the time that the tiers promise."""

from dataclasses import replace

import pytest

import ol2r
from ol2r.experiments.cells import TIERS, with_needs
from ol2r.experiments.published import printed_numbers
from ol2r.experiments.runner import expected_seconds
from ol2r.experiments.verdicts import judge
from ol2r.papers.bubblerank import grid as bubblerank
from ol2r.papers.bubblerank.claims import EVENT_ITEMS, EVENT_STEPS, FAILURES, LATE, LOG, STEPS, event_exponent
from ol2r.papers.bubblerank.worlds import DRAWN

PUBLISHED, LOGGED = "Yandex_60Q_click_models", "Yandex_WSCD_sample"


def jobs(item, tier="paper"):
    return bubblerank.ITEMS[item].jobs(tier)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The results of the whole chapter at its smallest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OL2R_STORE", str(tmp_path_factory.mktemp("store")))
        patch.setenv("OL2R_RESULTS", str(tmp_path_factory.mktemp("results")))
        yield ol2r.chapter("bubblerank", {"tier": "smoke"}).all_results()


@pytest.mark.parametrize("item", bubblerank.ITEMS)
def test_every_cell_can_be_declared_at_every_tier(item):
    for tier in TIERS:
        assert jobs(item, tier)
        assert all(job.rows and len(job.cell.key) == 64 for job in jobs(item, tier))


def test_a_smaller_tier_runs_a_part_of_a_larger_one():
    for item in bubblerank.ITEMS:
        large = {job.cell.key: set(job.rows) for job in jobs(item)}
        for job in jobs(item, "laptop"):
            assert set(job.rows) <= large.get(job.cell.key, set())


def test_figures_of_the_same_runs_share_their_cells():
    main = {job.cell.key for job in jobs("fig-1")}
    for item in ("fig-2", "fig-4", "first-100"):
        assert {job.cell.key for job in jobs(item)} <= main
    for item in ("freeze", "parity", "doubling", "batchrank-code", "toprank-delta"):
        assert len({job.cell.key for job in jobs(item)} & main) == len(bubblerank.MODELS)


def test_a_reading_differs_from_the_main_comparison_in_one_bandit():
    main = {job.cell.key: job for job in jobs("fig-1")}
    for instead in bubblerank.READINGS.values():
        assert set(instead) == {"fig-1", "fig-2", "first-100", "fig-4"}
        (item,) = set(instead.values())
        other = {job.cell.key: job for job in jobs(item)}
        changed = [job.cell for key, job in other.items() if key not in main]
        assert {cell.bandit for cell in changed} == {"BatchRank"} and len(changed) == 2 * len(bubblerank.MODELS)
        assert len(other) == len(main) and all(main[key].rows == other[key].rows for key in set(main) & set(other))


def test_the_main_runs_are_of_the_papers_length():
    for job in jobs("fig-1"):
        dataset = job.cell.labels()["dataset"]
        queries, runs = {PUBLISHED: (60, 10), LOGGED: (20, 3)}[dataset]
        assert len(job.rows) == queries * runs
        assert job.cell.checkpoints[-1] == STEPS
        assert {100, 1000, 10_000, STEPS // 10, LATE} <= set(job.cell.checkpoints)
    assert len(jobs("fig-1")) == 2 * 3 * 5


def test_the_figures_of_five_million_steps_are_expected_to_take_less_than_four_hours_on_two_cores():
    assert expected_seconds(jobs("fig-1"), 2) / 3600 < 4


def test_every_bandit_but_the_variants_has_its_usual_parameters():
    for job in jobs("fig-1"):
        assert dict(job.cell.parameters) == bubblerank.SETTINGS[job.cell.bandit]


@pytest.mark.parametrize("n_items", EVENT_ITEMS)
@pytest.mark.parametrize("failure", FAILURES)
def test_the_audited_delta_lets_the_event_fail_as_often_as_said(n_items, failure):
    delta = EVENT_STEPS ** -event_exponent(n_items, failure)
    assert delta**0.5 * n_items**2 * EVENT_STEPS == pytest.approx(failure, rel=1e-3)


def test_every_claim_reads_what_the_chapter_records(smoke):
    """A misspelt label or column would select no row. The queries of the smoke tier are taken for the paper's here."""
    results = {
        name: replace(found, frame=found.frame.replace({"dataset": {DRAWN: LOG}})) for name, found in smoke.items()
    }
    for claim in bubblerank.CLAIMS:
        found = judge(claim, results, printed_numbers("ol2r.papers.bubblerank"))
        assert found.verdict == "not judged (smoke)"
        assert not {one.missing for one in found.tested if "no rows" in one.missing}


def test_the_laptop_tier_takes_half_an_hour_on_two_cores():
    every = with_needs(job for item in bubblerank.ITEMS for job in jobs(item, "laptop"))
    assert expected_seconds(every, 2) / 60 < 30
