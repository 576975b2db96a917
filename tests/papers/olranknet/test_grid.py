"""What the olRankNet chapter declares: its tuning leaks nothing, its items exist, its runs differ in what they say."""

import dataclasses
from importlib.resources import files
from itertools import product

import pandas as pd
import pyarrow.compute as pc
import pytest

from ol2r import data, papers
from ol2r.experiments.cells import TIERS, Context, with_needs
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.runner import expected_seconds
from ol2r.experiments.store import Store
from ol2r.experiments.tuning import TABLE
from ol2r.papers import retune
from ol2r.papers.olranknet import grid as olranknet
from ol2r.papers.olranknet import tuning
from ol2r.papers.olranknet.claims import AS_TUNED, NETWORK_TRUTH, ONE_STEP, STILL, WORTH
from ol2r.papers.pairrank import grid as pairrank

PUBLISHED = Store.open().published
UNTUNED = {"tuning-by-users-longer"}
"""Items without a job before the first step of their tuning is stored."""
RUNS = [
    name
    for name, item in olranknet.ITEMS.items()
    if name not in UNTUNED and isinstance(next(iter(item.jobs("paper"))).cell, Simulate)
]
LONG = {*olranknet.READINGS[olranknet.LONGER].values(), "witness", "public-code", "fits-as-text"}
LONG |= {"ranked-longer", "fig-4-fresh", "fig-5-fresh", "fig-6-fresh"}
"""Items that take hours or that nothing rests on, and that a laptop leaves out."""


def jobs(item, tier="paper"):
    return olranknet.ITEMS[item].jobs(tier)


def labels(item, tier="paper"):
    return [job.cell.labels() | olranknet.ITEMS[item].names(job.cell) for job in jobs(item, tier)]


@pytest.mark.parametrize("item", olranknet.ITEMS)
def test_every_cell_can_be_declared_at_every_tier(item):
    for tier in TIERS:
        assert bool(jobs(item, tier)) == ((tier != "laptop" or item not in LONG) and item not in UNTUNED)
        assert all(job.rows and len(job.cell.key) == 64 for job in jobs(item, tier))


def test_figures_of_the_same_runs_share_their_cells():
    main = {job.cell.key for job in jobs("fig-4")}
    assert {job.cell.key for job in jobs("fig-5")} == main > {job.cell.key for job in jobs("fig-6")}
    assert len({job.cell.key for job in jobs("exploration")} & main) == 6  # three kinds of users, on two data sets
    assert len({job.cell.key for job in jobs("width")} & main) == 2
    assert len({job.cell.key for job in jobs("choices")} & main) == 1


def test_a_smaller_tier_runs_a_part_of_a_larger_one():
    for item in RUNS:
        large = {job.cell.key: set(job.rows) for job in jobs(item)}
        for job in jobs(item, "laptop"):
            assert set(job.rows) <= large[job.cell.key]


def test_the_paper_s_data_sets_run_its_protocol_and_others_what_the_page_says():
    for job in jobs("fig-4"):
        assert isinstance(job.cell, Simulate)
        own = job.cell.labels()["dataset"] in olranknet.PUBLISHED_DATASETS
        assert job.cell.evaluation.checkpoints[-1] == (5000 if own else 1000)
        seeds = olranknet.SEEDS.get(job.cell.labels()["dataset"], olranknet.SEEDS_HERE)
        if not own and job.cell.learner == "olLambdaRank-ranked":
            seeds = olranknet.SEEDS_HERE  # `ranked-later` has the others
        assert len(job.rows) == len(job.cell.folds) * seeds
        assert seeds == 10 or not own


def test_longer_runs_are_those_of_the_first_fold_with_more_rounds():
    for item, other in olranknet.READINGS[olranknet.LONGER].items():
        long = {(each["variant"], each["users"]): each for each in labels(other)}
        for each in labels(item):
            if each["dataset"] == olranknet.LONG_ON and each["variant"] != olranknet.SKYLINE:
                other_reading = each["learner"] == "olLambdaRank-ranked"  # long runs take the list as shown alone
                assert (long.pop((each["variant"], each["users"])) == each) != other_reading
        assert not long
        for job in jobs(other):
            assert isinstance(job.cell, Simulate)
            assert job.cell.evaluation.checkpoints[-1] == olranknet.ROUNDS
            assert [(row.fold, row.seed) for row in job.rows] == [(1, seed) for seed in range(olranknet.SEEDS_HERE)]


def test_fresh_starts_change_the_paper_s_learners_and_nothing_else():
    tuned = {*tuning.TUNED.names, *olranknet.FRESH_START, "learner"}
    for item in ("fig-4", "fig-5", "fig-6"):
        other = f"{item}-fresh"
        # they were not tried with the full covariance, nor elsewhere
        main = [each for each in labels(item) if each["variant"] not in olranknet.FULL]
        main = [each for each in main if each["dataset"] not in olranknet.ELSEWHERE]
        for here, there in zip(main, labels(other), strict=True):
            differ = {name for name in here if here[name] != there[name]}
            assert differ <= (tuned if here["variant"] in olranknet.OURS else set())
            if here["variant"] in olranknet.OURS:
                assert {name: there[name] for name in olranknet.FRESH_START} == olranknet.FRESH_START
                assert (there["learner"] == "olLambdaRank-ranked") == (here["variant"] == "olLambdaRank")
    assert not {name for items in olranknet.READINGS.values() for name in items.values()} & {
        f"{item}-fresh" for item in ("fig-4", "fig-5", "fig-6")
    }


def test_the_public_code_has_all_its_switches_and_its_diagonal_differs_by_that_alone():
    own = {(each["variant"], each["values"], each["users"]): each for each in labels("public-code")}
    for (name, values, _), each in own.items():
        switches = dict(olranknet.PUBLIC_CODE)
        if name.endswith("diagonal"):
            switches["covariance"] = "diagonal"
        assert {switch: each[switch] for switch in switches} == switches
        assert (each["learner"] == "olLambdaRank-ranked") == name.startswith("olLambdaRank")
        if values == "as set":
            assert (each["alpha"], each["regularization"], each["rate"]) == (0.1, 0.1, 0.1)
    assert {name for name, values, _ in own if values == "as set"} == {
        "olRankNet, public code", "olRankNet, public code, diagonal", "olLambdaRank, public code",
    }  # fmt: skip


def test_each_kind_of_users_is_tuned_for_by_itself_on_validation_queries_and_with_one_budget():
    for job in jobs("tuning-by-users"):
        named = olranknet.tuned_for_users(job.cell)
        assert named["grid"] == f"{named['variant']}, {job.cell.labels()['users']} users"
        assert named["grid"] in tuning.BY_USERS.grids
        assert {row.seed for row in job.rows} == set(tuning.SEEDS_FIRST)
        assert job.cell.evaluation.checkpoints == (tuning.ROUNDS_FIRST,)  # pyright: ignore[reportAttributeAccessIssue]
        assert job.cell.evaluation.split == "validation"  # pyright: ignore[reportAttributeAccessIssue]
    assert {tuning.BY_USERS.size("MQ2008", name) for name in tuning.BY_USERS.grids} == {6}
    assert set(tuning.BY_USERS.steps) < set(olranknet.PAPER.waiting) < set(olranknet.ITEMS)


def test_the_main_reading_has_the_present_ranking_where_it_ran_and_another_the_list_as_shown():
    tuned = {*tuning.TUNED.names, "learner"}
    for item, other in olranknet.READINGS["ΔNDCG of the list as shown"].items():
        main = [each for each in labels(item) if each["dataset"] not in olranknet.ELSEWHERE]
        for here, there in zip(main, labels(other), strict=True):
            own = here["variant"] == "olLambdaRank" and here["dataset"] not in olranknet.PUBLISHED_DATASETS
            assert (here["learner"], there["learner"]) == ("olLambdaRank-ranked", "olLambdaRank") or not own
            differ = {name for name in here if here[name] != there[name]}
            assert differ <= (tuned if own else set()) and ("learner" in differ) == own


def test_more_runs_of_the_present_ranking_are_those_that_the_main_figures_lack():
    seeds = {job.cell: {row.seed for row in job.rows} for job in jobs("fig-4")}
    for job in jobs("ranked-later"):
        more = {row.seed for row in job.rows}
        assert job.cell not in seeds or seeds[job.cell] < more
    assert {(each["dataset"], each["learner"]) for each in labels("ranked-later")} == {
        (name, "olLambdaRank-ranked") for name in olranknet.RANKED_LATER
    }
    (cell, *_), _ = zip(*jobs("ranked-longer"), strict=True)
    assert cell.evaluation.checkpoints[-1] == olranknet.ROUNDS


TAKES = {"MQ2007_partial85": "MQ2008", pairrank.CLUEWEB: "MQ2008", "synthetic-yahoo": "synthetic-mslr"}
TAKES |= {"synthetic-mslr-net": "synthetic-mslr"}


@pytest.mark.parametrize("dataset", sorted({*olranknet.ELSEWHERE} - {*tuning.DATASETS}))
def test_where_networks_are_not_tuned_every_learner_has_the_values_of_a_similar_data_set(dataset):
    """Also linear ones, of which the PairRank chapter has values that were tuned there."""
    own = [each for each in labels("fig-4") if each["dataset"] == dataset]
    assert {each["variant"] for each in own} == {*olranknet.ELSEWHERE[dataset]}
    runs = [*labels("fig-4"), *labels("fig-4-shown")]  # olLambdaRank takes the list as it was shown on such data
    similar = {(each["variant"], each["users"]): each for each in runs if each["dataset"] == TAKES[dataset]}
    for each in own:
        there = similar[each["variant"], each["users"]]
        assert {name for name in each if each[name] != there[name]} == {"dataset"}


def test_the_network_truth_is_run_for_the_main_figures_and_for_labels_and_not_on_a_laptop():
    ran = {
        (tier, item)
        for tier, item in product(TIERS, olranknet.ITEMS)
        if any(job.cell.labels().get("dataset") == NETWORK_TRUTH for job in jobs(item, tier))
    }
    assert ran == {("paper", item) for item in ("fig-4", "fig-5", "fig-6", "labels", "lda")}
    for name in set(papers.PAPERS) - {"olranknet"}:
        own = {key: item for key, item in papers.paper(name).items.items() if key != "beside-pairrank"}
        cells = {job.cell for item in own.values() for job in item.jobs("paper")}
        assert NETWORK_TRUTH not in {cell.labels().get("dataset") for cell in cells if cell.kind != "labels"}


def test_a_reader_s_own_data_takes_the_values_of_mq2008():
    assert olranknet.settings("a reader's own") == olranknet.settings("MQ2008")


@pytest.mark.parametrize("dataset", [olranknet.MSLR, "synthetic-mslr"])
def test_data_of_the_shape_of_mslr_takes_what_was_tuned_on_that_shape(dataset):
    own = [each for each in labels("fig-4") if each["dataset"] == dataset]
    assert {each["variant"] for each in own} == {*olranknet.SHOWN}
    for each in own:
        name = str(each["variant"])
        if name in olranknet.LINEAR:
            of = pairrank.tuned("synthetic-mslr", olranknet.LINEAR[name])
        else:
            of = tuning.TUNED.chosen("synthetic-mslr", name)
        assert {name: each[name] for name in of} == of


def test_every_grid_has_a_choice_on_every_data_set_that_it_is_tuned_on():
    for name, own in tuning.GRIDS.items():
        for dataset in tuning.TUNED.datasets_of(name):
            setting = tuning.TUNED.chosen(dataset, name)
            tried = {**own.tried, **own.wide} if tuning.is_wide(dataset) else own.tried
            assert setting.keys() == tried.keys() and all(value in tried[each] for each, value in setting.items())


def test_exploration_is_taken_away_alone_and_refitting_with_what_belongs_to_it():
    for dataset in ("MQ2008", "synthetic-mslr"):
        own = [each for each in labels("exploration") if each["dataset"] == dataset and each["users"] == "perfect"]
        ways = {each["way"]: each for each in own}
        assert len(own) == 3 and {ways_of for both in WORTH.values() for ways_of in both} == set(ways)
        tuned, still, step = ways[AS_TUNED], ways[STILL], ways[ONE_STEP]
        assert {name for name in tuned if tuned[name] != still[name]} == {"alpha", "way"} and still["alpha"] == 0
        assert step["epsilon"] == 0
        assert step["alpha"] == tuning.TUNED.chosen(dataset, "neural epsilon-greedy")["alpha"]
        assert {still[name] == step[name] for name in ("pairs", *olranknet.NETWORK)} == {True}
    assert {each["dataset"] for each in labels("exploration", "laptop")} == {"MQ2008"}


def test_each_choice_changes_one_thing_or_the_pull_beside():
    by_choice = {each["choice"]: each for each in labels("choices") if each["users"] == "perfect"}
    assert list(by_choice) == list(olranknet.CHOICES)
    main = by_choice["as in the main results"]
    for name, changed in olranknet.CHOICES.items():
        differ = {each: value for each, value in by_choice[name].items() if main[each] != value and each != "choice"}
        assert differ == changed
        assert len(changed) <= 1 or name in {"L-BFGS, 4 passes", *olranknet.SMALL_PULL}
    assert not {each["choice"] for each in labels("choices", "laptop")} & {*olranknet.SMALL_PULL}


def test_linear_baselines_take_the_values_that_their_own_tuning_chose():
    for each in labels("fig-4"):
        if each["variant"] in olranknet.LINEAR and each["dataset"] == "MQ2008":
            of = pairrank.alone("MQ2008", olranknet.LINEAR[str(each["variant"])])
            assert {name: each[name] for name in of} == of


def test_neural_pdgd_runs_as_long_as_its_own_paper_did():
    assert {job.cell.evaluation.checkpoints[-1] for job in jobs("far")} == {20_000}  # pyright: ignore[reportAttributeAccessIssue]
    assert {each["variant"] for each in labels("far")} == {"neural PDGD"}


# Tuning


def test_tuning_reads_validation_queries_and_no_reported_seed():
    reported = {row.seed for item in RUNS if not item.startswith("tuning") for job in jobs(item) for row in job.rows}
    for item in ("tuning", "tuning-longer"):
        for job in jobs(item):
            assert job.cell.evaluation.split == "validation"  # pyright: ignore[reportAttributeAccessIssue]
            assert not {row.seed for row in job.rows} & reported
    assert not set(tuning.SEEDS_FIRST) & set(tuning.SEEDS_LONGER)


def test_the_grids_hold_the_paper_s_values_but_for_the_smallest():
    for name in ("olRankNet", "olLambdaRank", "olRankNet, full"):
        tried = tuning.GRIDS[name].tried
        assert {1e-1, 1e-2, 1e-3} <= set(tried["alpha"]) & set(tried["regularization"])
        assert {1e-2, 1e-3} <= set(tried["rate"])
        assert (1e-1 in tried["rate"]) == (name in olranknet.OURS)


def test_all_combinations_are_run_of_every_grid():
    for dataset in tuning.DATASETS:
        found: dict[str, set] = {}
        for each in labels("tuning"):
            if each["dataset"] == dataset:
                names = tuning.GRIDS[str(each["grid"])].tried
                found.setdefault(str(each["grid"]), set()).add(tuple((name, each[name]) for name in names))
        assert found == {
            name: {tuple(each.items()) for each in grid.settings(tuning.is_wide(dataset))}
            for name, grid in tuning.GRIDS.items()
            if dataset in tuning.TUNED.datasets_of(name)
        }


@pytest.mark.parametrize("name", tuning.GRIDS)
def test_a_value_that_was_chosen_was_tried_and_may_be_chosen(name):
    for dataset in tuning.TUNED.datasets_of(name):
        chosen = dict(tuning.TUNED.chosen(dataset, name))
        assert chosen in tuning.GRIDS[name].settings(tuning.is_wide(dataset))
        assert tuning.TUNED.may_choose(name, chosen)


@pytest.mark.parametrize("variant", tuning.GRIDS)
def test_tuning_reads_no_test_query(variant, monkeypatch):
    whole = data.load("synthetic-tiny")
    relevance, features = whole.relevance.copy(), whole.features.copy()
    for query in whole.fold(1).test:
        relevance[whole.documents(query)] = 0
        features[whole.documents(query)] = 0.5
    blinded = dataclasses.replace(whole, relevance=relevance, features=features)
    job = next(j for j in jobs("tuning", "smoke") if olranknet.tuned_together(j.cell)["variant"] == variant)
    tables = []
    for dataset in (whole, blinded):
        monkeypatch.setattr(data, "load", lambda *named, dataset=dataset: dataset)
        tables += type(job.cell).run_group([job], Context())
    assert tables[0].equals(tables[1])


def test_what_is_tuned_is_what_the_stored_grids_choose():
    store = Store(PUBLISHED, PUBLISHED / "none") if PUBLISHED else Store.open()
    with files("ol2r.papers.olranknet").joinpath(TABLE).open() as file:
        stored = pd.read_csv(file, keep_default_na=False, na_values={name: [""] for name in tuning.TUNED.names})
    pd.testing.assert_frame_equal(retune.stored(olranknet.PAPER, store)[list(stored)], stored)
    assert set(stored["dataset"]) == set(tuning.TUNED.datasets)
    assert set(stored["grid"]) == set(tuning.GRIDS)


def test_every_stored_run_could_add_all_its_pairs():
    """An unsound covariance leaves pairs out: such a run would have other widths than the page says."""
    store = Store(PUBLISHED, PUBLISHED / "none") if PUBLISHED else Store.open()
    tuned = [job for item in ("tuning", "tuning-longer") for job in jobs(item)]
    shown = [job for item in RUNS if not item.startswith("tuning") for job in jobs(item)]
    keys, checked = set(), 0
    for job in (*shown, *tuned):
        if job.cell.key not in keys and (read := store.read(job.cell, job.rows)).tables:
            keys.add(job.cell.key)
            for table in read.tables:
                if "sound" in table.column_names:
                    checked += len(table)
                    assert pc.all(table["sound"]).as_py(), job.cell.describe()
    assert checked or not PUBLISHED


def test_the_laptop_tier_takes_half_an_hour_on_two_cores():
    every = with_needs(job for item in olranknet.ITEMS for job in jobs(item, "laptop") if not item.startswith("tuning"))
    run = [job for job in every if job.cell.labels().get("dataset") not in olranknet.PUBLISHED_DATASETS]
    assert expected_seconds(run, 2) / 60 < 30
