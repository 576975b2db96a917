"""What the comparison declares: who is run, on which runs, and which of them are those of other chapters."""

from itertools import product

import pytest

from ol2r import data, papers
from ol2r.clicks import GradedPositions, users_of_grades
from ol2r.experiments.cells import TIERS, with_needs
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.runner import expected_seconds
from ol2r.papers.bubblerank.safety import BANDIT, CHANCE
from ol2r.papers.comparison import grid, tuning
from ol2r.papers.olranknet import grid as olranknet
from ol2r.papers.p2neurrank import grid as p2neurrank
from ol2r.papers.pairrank import grid as pairrank
from ol2r.papers.queue import QUEUE
from ol2r.report.style import LEARNERS


def jobs(item, tier="paper"):
    return grid.ITEMS[item].jobs(tier)


def labels(item, tier="paper"):
    return [job.cell.labels() | grid.ITEMS[item].names(job.cell) for job in jobs(item, tier)]


@pytest.mark.parametrize("item", grid.ITEMS)
def test_every_cell_can_be_declared_at_every_tier(item):
    for tier in TIERS:
        assert jobs(item, tier) or not tuning.TUNED.lines or (item in grid.QUEUED and tier != "smoke")
        assert all(job.rows and len(job.cell.key) == 64 for job in jobs(item, tier))


def test_the_comparison_claims_nothing_and_is_no_paper():
    assert grid.PAPER.claims == () and grid.PAPER.judged == frozenset()
    assert papers.NAMES == (*papers.PAPERS, "comparison") and papers.judgements("comparison") == {}
    assert grid.PAPER.printed().empty and grid.PAPER.former_rules().empty


def test_every_learner_meets_the_same_folds_seeds_and_users():
    """So that every difference can be paired."""
    for item in ("quality", "other-users", "unlucky", "safety"):
        rows = {job.rows for job in jobs(item)}
        assert len(rows) == 1
        assert {row.seed for row in rows.pop()} == set(range(grid.SEEDS))
    met = {(each["variant"], each["users"]) for each in labels("quality") if each["variant"] != grid.SKYLINE}
    assert met == {(name, kind) for name in grid.COMPARED for kind in grid.USERS}


def test_other_data_is_met_by_all_learners_at_values_of_one_data_set():
    met = {(each["dataset"], each["variant"], each["users"]) for each in labels("elsewhere")}
    whole = {(name, *run) for name in grid.ELSEWHERE for run in product(grid.COMPARED, grid.USERS)}
    assert met == whole | {(name, *run) for name in grid.LINEAR_ELSEWHERE for run in product(grid.LINEAR, grid.USERS)}
    for name in (*grid.ELSEWHERE, *grid.LINEAR_ELSEWHERE):
        of = {grid.tuned_on(name)}
        assert of <= {"MQ2008", "synthetic-mslr"} and grid.tuned_on(of.copy().pop()) in of
        own = [job for job in jobs("elsewhere") if job.cell.dataset == name]
        assert len({job.rows for job in own}) == 1
        assert len({row.seed for row in own[0].rows}) >= grid.SEEDS


def test_pairrank_has_the_values_that_tuning_chose_for_the_shuffle_that_is_compared():
    for dataset in (*grid.DATASETS, *grid.ELSEWHERE):
        source = grid.tuned_on(dataset)
        assert grid.tuned(dataset, "PairRank") == pairrank.tuned(source, "PairRank_C", of="PairRank_C")
    met = {each["regularization"] for each in labels("quality") if each["variant"] == "PairRank"}
    assert met == {pairrank.alone("MQ2008", "PairRank_C")["regularization"]}


def test_learners_differ_in_nothing_but_themselves():
    cells = [job.cell for job in jobs("quality")]
    assert len({(cell.dataset, cell.checksum, cell.evaluation, cell.features) for cell in cells}) == 1
    assert cells[0].evaluation.checkpoints[-1] == grid.ROUNDS


def test_runs_that_other_chapters_show_are_theirs():
    theirs = {job.cell.key for job in olranknet.ITEMS["fig-4"].jobs("paper")}
    theirs |= {job.cell.key for job in p2neurrank.ITEMS["fig-4"].jobs("paper")}
    own = {name for job in jobs("quality") if job.cell.key not in theirs for name in grid.variant(job.cell).values()}
    assert own == {grid.P2LINRANK, grid.NSGD, "epsilon-greedy"}
    assert jobs("reference")[0].cell == pairrank.reference("MQ2008")
    timed = {job.cell.key for chapter in (olranknet, p2neurrank) for job in chapter.ITEMS["timing"].jobs("paper")}
    shared = {str(each["variant"]) for each, job in zip(labels("timing"), jobs("timing"), strict=True)
              if job.cell.key in timed}  # fmt: skip
    assert shared == set(grid.NETWORKS)


def test_every_learner_has_a_look_and_a_paper_has_one_at_least():
    assert LEARNERS.ordered((*grid.COMPARED, grid.SKYLINE, BANDIT))
    assert set(grid.LINEAR) | set(grid.NETWORKS) == set(grid.COMPARED) == set(grid.SETTINGS) - {grid.SKYLINE}


def test_users_by_position_look_at_a_place_whatever_stands_there():
    by_position, halfway = (grid.other_user(kind, 3) for kind in grid.OTHER_USERS)
    assert isinstance(by_position, GradedPositions) and by_position.examination[:3] == (1, 1 / 2, 1 / 3)
    assert by_position.click == users_of_grades("navigational", 3).click
    assert halfway.click == pytest.approx([0.225, 0.6, 0.925]) and halfway.stop == pytest.approx([0.15, 0.4, 0.7])
    assert {each["users"] for each in labels("other-users")} == set(grid.OTHER_USERS)


def test_an_unlucky_choice_changes_the_tuned_value_alone():
    main = {grid.variant(job.cell)["variant"]: job.cell for job in jobs("quality")
            if job.cell.labels()["users"] == grid.UNLUCKY_USERS}  # fmt: skip
    for each, job in zip(labels("unlucky"), jobs("unlucky"), strict=True):
        own, name = main[each["variant"]], grid.unlucky_name(each["variant"])
        if each["luck"] == grid.AS_TUNED:
            assert job.cell.key == own.key
            continue
        before, after = dict(own.hyperparameters), dict(job.cell.hyperparameters)
        assert {key for key in before if before[key] != after[key]} == {name}
        assert after[name] == pytest.approx(before[name] * grid.UNLUCKY[each["luck"]])
    assert len({each["luck"] for each in labels("unlucky")}) == 3


def test_safety_is_asked_of_all_learners_and_of_bubblerank_under_perfect_users():
    met = {(each["variant"], each["users"]) for each in labels("safety")}
    everyone = {(name, kind) for name in (*grid.beside("paper"), CHANCE) for kind in grid.USERS}
    assert met == everyone | {(BANDIT, "perfect")}
    assert {job.cell.checkpoints[-1] for job in jobs("safety")} == {grid.ROUNDS}


def test_each_learner_is_timed_and_weighed():
    cells = [job.cell for job in jobs("timing")]
    kinds = {(grid.variant(cell)["variant"], type(cell) is Timing) for cell in cells}
    assert kinds == {(name, timed) for name in grid.COMPARED for timed in (True, False)}


def test_a_smaller_tier_runs_a_part_of_a_larger_one():
    for item in ("quality", "elsewhere", "safety", "other-users", "unlucky", "timing"):
        large = {job.cell.key: set(job.rows) for job in jobs(item)}
        assert all(set(job.rows) <= large[job.cell.key] for job in jobs(item, "laptop"))


def test_the_laptop_tier_takes_half_an_hour_on_two_cores():
    every = [job for item in grid.ITEMS for job in jobs(item, "laptop") if not item.startswith("tuning")]
    assert expected_seconds(with_needs(every), 2) / 60 < 30


def test_tuning_reads_validation_queries_and_no_reported_seed():
    others = [item for item in grid.ITEMS if not item.startswith("tuning")]
    reported = {row.seed for item in others for job in jobs(item) for row in job.rows}
    for item in ("tuning", "tuning-longer"):
        for job in jobs(item):
            assert job.cell.evaluation.split == "validation"
            assert not {row.seed for row in job.rows} & reported
    assert not {*tuning.SEEDS_FIRST, *tuning.SEEDS_LONGER} & set(range(100))


def test_nsgd_is_tuned_as_dbgd_is_and_takes_what_was_chosen():
    theirs = [j for j in pairrank.ITEMS["tuning"].jobs("paper") if j.cell.labels()["dataset"] in tuning.TUNED.datasets
              and j.cell.labels()["learner"] == "DBGD"]  # fmt: skip
    own = jobs("tuning")
    assert len(own) == len(theirs)
    assert {(j.cell.dataset, j.cell.evaluation, j.cell.users, j.rows) for j in own} == {
        (j.cell.dataset, j.cell.evaluation, j.cell.users, j.rows) for j in theirs
    }
    for name in tuning.TUNED.datasets:
        taken = grid.setting(name, grid.NSGD)["alpha"]
        assert taken == tuning.TUNED.chosen(name, grid.NSGD)["alpha"]
        assert tuning.TUNED.may_choose(grid.NSGD, {"alpha": float(taken)})


def test_what_is_queued_is_declared_and_on_no_page_yet():
    for each in QUEUE:
        own = papers.paper(each.paper).items[each.item].jobs("paper", None, each.datasets)
        assert {job.cell.labels()["dataset"] for job in own} <= set(data.CATALOGUE) and each.because
        assert own or each.item == "contest-networks"  # which has learners once they are granted seeds
        assert each.item in papers.paper(each.paper).waiting
    assert {each.item for each in QUEUE if each.paper == "comparison"} == set(grid.QUEUED) <= set(grid.ITEMS)
