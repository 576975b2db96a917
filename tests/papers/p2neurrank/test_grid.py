"""What the P²NeurRank chapter declares: items exist, rules find their labels, runs of earlier chapters are theirs."""

import dataclasses
from importlib.resources import files

import pandas as pd
import pytest

from ol2r import data
from ol2r.experiments.cells import TIERS, Context, with_needs
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.runner import expected_seconds
from ol2r.experiments.store import Store
from ol2r.experiments.tuning import TABLE
from ol2r.papers import retune
from ol2r.papers.olranknet import grid as olranknet
from ol2r.papers.olranknet.tuning import is_wide
from ol2r.papers.p2neurrank import claims, grid, tuning
from ol2r.papers.pairrank import grid as pairrank

PUBLISHED = Store.open().published


def jobs(item, tier="paper"):
    return grid.ITEMS[item].jobs(tier)


def labels(item, tier="paper"):
    return [job.cell.labels() | grid.ITEMS[item].names(job.cell) for job in jobs(item, tier)]


def variants(item):
    return {str(each["variant"]) for each in labels(item)}


@pytest.mark.parametrize("item", grid.ITEMS)
def test_every_cell_can_be_declared_at_every_tier(item):
    for tier in TIERS:
        assert bool(jobs(item, tier)) == (tier != "laptop" or item not in ("witness", "beside-pairrank"))
        assert all(job.rows and len(job.cell.key) == 64 for job in jobs(item, tier))


def test_every_variant_that_a_rule_reads_is_run():
    assert variants("fig-2") == variants("fig-3") == set(claims.LINEAR_VARIANTS)
    assert variants("fig-4") == {*claims.NEURAL_VARIANTS, claims.SKYLINE}
    assert variants("fig-5") == set(claims.NEURAL_VARIANTS)
    assert {claims.SIXTEEN_FULL, claims.SIXTEEN_DIAGONAL} <= variants("fig-6")
    assert variants("fig-9") == set(claims.TIMED)
    assert variants("timing") == set(claims.RIVALS) | set(claims.RIVALS.values())
    numbers = {of(n) for of in (claims.linear, claims.neural) for n in claims.NUMBERS_OF_RANKERS}
    assert variants("certainty") == numbers
    for item, noise in (("fig-7", claims.LARGE_NOISE), ("fig-8", claims.SMALL_NOISE)):
        assert {(each["rankers"], each["noise"]) for each in labels(item)} == {
            (n, noise) for n in claims.NUMBERS_OF_RANKERS
        }


def test_figures_7_and_8_differ_in_the_number_of_rankers_and_the_noise_alone():
    for dataset in grid.DATASETS:
        own = [each for item in ("fig-7", "fig-8") for each in labels(item) if each["dataset"] == dataset]
        assert {name for name in own[0] if len({each[name] for each in own}) > 1} == {"rankers", "noise", "variant"}


def test_runs_of_earlier_chapters_are_taken_from_them():
    """Only ensembles, small networks and the linear learner with a diagonal covariance are this chapter's own, and
    PairRank where it is not the best for both of its shuffles that is best for the one shown."""
    earlier = {job.cell.key for name in ("fig-3", "fig-4") for job in pairrank.ITEMS[name].jobs("paper")}
    earlier |= {job.cell.key for name in ("fig-4", "witness") for job in olranknet.ITEMS[name].jobs("paper")}
    own = {*claims.LINEAR, claims.PAIRRANK_DIAGONAL, *claims.NEURAL}
    for item in ("fig-2", "fig-4", "witness"):
        for job in jobs(item):
            dataset, name = str(job.cell.labels()["dataset"]), grid.variant(job.cell)["variant"]
            if dataset in (*grid.HERE, *grid.ELSEWHERE):
                alone = name == claims.PAIRRANK and grid.tuned(dataset, name) != pairrank.tuned(dataset, "PairRank_C")
                assert (job.cell.key in earlier) != (alone or name in own)


def test_networks_have_the_paper_s_depth_on_its_data_and_one_hidden_layer_here():
    small = {claims.SIXTEEN_FULL, claims.SIXTEEN_DIAGONAL}
    for each in labels("fig-6"):
        deep = each["dataset"] in claims.BOTH or each["variant"] in small
        assert each["depth"] == (3 if deep else 2)
        assert each["width"] == (16 if each["variant"] in small else 100)


def test_a_smaller_tier_runs_a_part_of_a_larger_one():
    for item in ("fig-2", "fig-4", "fig-6", "fig-7", "certainty", "choices"):
        large = {job.cell.key: set(job.rows) for job in jobs(item)}
        for job in jobs(item, "laptop"):
            assert set(job.rows) <= large[job.cell.key]


def test_each_choice_changes_one_thing():
    by_choice = {each["choice"]: each for each in labels("choices")}
    assert list(by_choice) == list(grid.CHOICES)
    for name, (variant, changed) in grid.CHOICES.items():
        main = by_choice[next(other for other, (each, _) in grid.CHOICES.items() if each == variant)]
        assert {each: by_choice[name][each] for each in main if by_choice[name][each] != main[each]} == (
            changed | ({"choice": name} if changed else {})
        )


def test_times_are_taken_at_the_end_of_every_tenth_of_a_run():
    for item in ("fig-9", "timing"):
        for tier in TIERS:
            for job in jobs(item, tier):
                assert isinstance(job.cell, Timing)
                points = job.cell.checkpoints
                assert len(points) == claims.TENTHS and points == tuple(
                    round(points[-1] * i / claims.TENTHS) for i in range(1, claims.TENTHS + 1)
                )


def test_histories_are_looked_at_after_a_tenth_of_them():
    for tier in TIERS:
        for job in jobs("histories", tier):
            rounds = job.cell.rounds  # pyright: ignore[reportAttributeAccessIssue]
            assert round(claims.HISTORY * rounds[-1]) in rounds


def test_pairrank_runs_at_the_value_that_is_best_for_itself_as_its_rivals_do():
    own = pairrank.alone("MQ2008", "PairRank_C")
    assert own != pairrank.tuned("MQ2008", "PairRank_C")
    shown = [each for each in labels("fig-2") if (each["dataset"], each["variant"]) == ("MQ2008", claims.PAIRRANK)]
    assert len(shown) == len(claims.USERS) and all(own.items() <= each.items() for each in shown)
    assert grid.settings("MQ2008")[claims.PAIRRANK][1].items() >= own.items()


def test_two_networks_disagree_by_starts_by_noise_by_both_and_by_neither():
    found = {(each["users"], each["start"]): (each["theta0"], bool(each["noise"])) for each in labels("starts")}
    ways = dict(zip(grid.STARTS, (("own", True), ("own", False), ("shared", True), ("shared", False)), strict=True))
    assert found == {(kind, name): way for kind in claims.USERS for name, way in ways.items()}
    assert list(grid.DISAGREEING) == list(grid.STARTS)
    for name, choice in grid.DISAGREEING.items():
        assert grid.CHOICES[choice] == (claims.NEURAL[0], grid.STARTS[name])


def test_one_start_for_all_is_all_that_differs_from_figures_7_and_8():
    for item in ("fig-7", "fig-8"):
        own, shared = ({each["variant"]: each for each in labels(name) if each["dataset"] == "MQ2008"}
                       for name in (item, f"{item}-shared"))  # fmt: skip
        assert own.keys() == shared.keys()
        for name in own:
            assert {each for each in own[name] if own[name][each] != shared[name][each]} == {"theta0"}


def test_refits_differ_in_method_and_passes_alone():
    others = [name for name in grid.FITS if name != grid.LONG_FIT]
    for item, names in (("fits", others), ("fits-long", [grid.LONG_FIT])):
        own = labels(item)
        assert {each["fit"] for each in own} == set(names)
        differing = {name for name in own[0] if len({each[name] for each in own}) > 1}
        assert differing <= {"refit", "passes", "theta0", "fit"}


def test_two_rankers_and_olranknet_run_on_all_folds_of_real_data():
    by_dataset = {job.cell.labels()["dataset"]: job.rows for job in jobs("folds")}
    assert {row.fold for row in by_dataset["MQ2008"]} == {1, 2, 3, 4, 5}
    assert len(by_dataset["MQ2008"]) == 15 and len(by_dataset["synthetic-mslr"]) == 5


def test_pairrank_beside_two_networks_has_their_rounds_and_folds_where_labels_tell_what_they_leave():
    own = jobs("beside-pairrank")
    assert {job.cell.dataset for job in own} == {*grid.BESIDE_LABELS}
    assert {job.cell.evaluation.checkpoints[-1] for job in own} == {olranknet.ROUNDS_HERE}
    rows = {variant: {(j.cell.dataset, j.rows) for j in own if grid.variant(j.cell)["variant"] == variant}
            for variant in (claims.NEURAL[0], claims.PAIRRANK)}  # fmt: skip
    assert rows[claims.NEURAL[0]] == rows[claims.PAIRRANK] and len(own) == 24
    assert set(grid.BESIDE_LABELS) <= {each["dataset"] for each in labels("labels")}


def test_items_that_wait_for_a_machine_are_read_by_no_claim_and_have_a_cost():
    assert not grid.PAPER.judged & set(grid.WAITING)
    assert all(grid.core_hours(item) > 0 for item in grid.WAITING)


def test_the_laptop_tier_takes_half_an_hour_on_two_cores():
    shown = [item for item in grid.ITEMS if not item.startswith("tuning") and item not in grid.WAITING]
    every = with_needs(job for item in shown for job in jobs(item, "laptop"))
    run = [job for job in every if job.cell.labels().get("dataset") not in claims.BOTH]
    assert expected_seconds(run, 2) / 60 < 30


# Tuning


def test_tuning_reads_validation_queries_and_no_reported_seed():
    others = [item for item in grid.ITEMS if not item.startswith("tuning")]
    reported = {row.seed for item in others for job in jobs(item) for row in job.rows}
    for item in ("tuning", "tuning-longer"):
        for job in jobs(item):
            assert job.cell.evaluation.split == "validation"  # pyright: ignore[reportAttributeAccessIssue]
            assert not {row.seed for row in job.rows} & reported
    assert not set(tuning.SEEDS_FIRST) & set(tuning.SEEDS_LONGER)


def test_the_grids_hold_the_paper_s_values_but_for_the_smallest():
    for name in claims.LINEAR:
        tried = tuning.GRIDS[name].tried
        assert {0.1, 0.01} <= set(tried["noise"]) and {1e-1, 1e-2} <= set(tried["regularization"])
    tried = tuning.GRIDS[claims.NEURAL[0]].tried
    assert {0.1, 0.01} <= set(tried["noise"])
    assert {1e-1, 1e-2, 1e-3} <= set(tried["regularization"]) and {1e-2, 1e-3} <= set(tried["rate"])


@pytest.mark.parametrize("name", tuning.GRIDS)
def test_a_value_that_was_chosen_was_tried_and_may_be_chosen(name):
    for dataset in tuning.TUNED.datasets_of(name):
        chosen = dict(tuning.TUNED.chosen(dataset, name))
        assert chosen in tuning.GRIDS[name].settings(is_wide(dataset))
        assert tuning.TUNED.may_choose(name, chosen)


@pytest.mark.parametrize("variant", tuning.GRIDS)
def test_tuning_reads_no_test_query(variant, monkeypatch):
    whole = data.load("synthetic-tiny")
    relevance, features = whole.relevance.copy(), whole.features.copy()
    for query in whole.fold(1).test:
        relevance[whole.documents(query)] = 0
        features[whole.documents(query)] = 0.5
    blinded = dataclasses.replace(whole, relevance=relevance, features=features)
    job = next(j for j in jobs("tuning", "smoke") if grid.tuned_together(j.cell)["variant"] == variant)
    tables = []
    for dataset in (whole, blinded):
        monkeypatch.setattr(data, "load", lambda *named, dataset=dataset: dataset)
        tables += type(job.cell).run_group([job], Context())
    assert tables[0].equals(tables[1])


def test_a_data_set_takes_what_was_tuned_on_it_or_on_similar_data_or_else_on_mq2008():
    datasets = (claims.MSLR, claims.YAHOO, *grid.HERE, *grid.ELSEWHERE)
    for name in grid.GRIDS:
        shape = "MQ2008" if name in (claims.SIXTEEN_FULL, claims.SIXTEEN_DIAGONAL) else "synthetic-mslr"
        itself = "MQ2007_partial85" if grid.is_linear(name) else "MQ2008"
        assert {each: grid.tuned_on(each, name) for each in datasets} == {
            claims.MSLR: shape, claims.YAHOO: shape, "MQ2008": "MQ2008", "synthetic-mslr": shape,
            "MQ2007_partial85": itself, "ClueWeb09_webis": "MQ2008",
        }  # fmt: skip


def test_what_is_tuned_is_what_the_stored_grids_choose():
    store = Store(PUBLISHED, PUBLISHED / "none") if PUBLISHED else Store.open()
    with files("ol2r.papers.p2neurrank").joinpath(TABLE).open() as file:
        stored = pd.read_csv(file, keep_default_na=False, na_values={name: [""] for name in tuning.TUNED.names})
    pd.testing.assert_frame_equal(retune.stored(grid.PAPER, store)[list(stored)], stored)
    assert set(stored["dataset"]) == set(tuning.TUNED.datasets)
    assert set(stored["grid"]) == set(tuning.GRIDS)
