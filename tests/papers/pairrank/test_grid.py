"""What the PairRank chapter declares: its tuning leaks nothing, its items exist, its claims read what is recorded."""

import dataclasses
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

import ol2r
from ol2r import data, papers
from ol2r.experiments import grid
from ol2r.experiments.cells import TIERS, Context, with_needs
from ol2r.experiments.claims import Measure
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.origins import AtHand
from ol2r.experiments.publication import Publication
from ol2r.experiments.published import printed_numbers
from ol2r.experiments.runner import expected_seconds
from ol2r.experiments.store import Store
from ol2r.experiments.tuning import ALL, grid_scores
from ol2r.experiments.verdicts import judge
from ol2r.learners.pairrank import RANKS
from ol2r.papers import retune
from ol2r.papers.pairrank import grid as pairrank
from ol2r.papers.pairrank import prose, tuning
from ol2r.papers.pairrank.claims import MSLR, WORLDS, WorldMeasure

PUBLISHED = Store.open().published


def jobs(item, tier="paper"):
    return pairrank.ITEMS[item].jobs(tier)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The results of the whole chapter at its smallest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OL2R_STORE", str(tmp_path_factory.mktemp("store")))
        patch.setenv("OL2R_RESULTS", str(tmp_path_factory.mktemp("results")))
        yield ol2r.chapter("pairrank", {"tier": "smoke"}).all_results(pairrank.ITEMS)


def measures():
    return {m: claim for claim in pairrank.CLAIMS for p in claim.parts for c in p.contrasts for m in c.measures}


# The grid


@pytest.mark.parametrize("item", pairrank.ITEMS)
def test_every_cell_can_be_declared_at_every_tier(item):
    for tier in TIERS:
        assert jobs(item, tier)
        assert all(job.rows and len(job.cell.key) == 64 for job in jobs(item, tier))


def test_figures_of_the_same_runs_share_their_cells():
    main = {job.cell.key for job in jobs("fig-3")}
    for item in ("fig-4", "fig-5", "fig-6", "fig-7a", "fig-7b"):
        assert {job.cell.key for job in jobs(item)} <= main
    for item in ("pairs", "covariance", "width", "epsilon"):
        assert len({job.cell.key for job in jobs(item)} & main) == 6  # two data sets × three kinds of users


def test_the_reading_of_any_step_shortens_steps_of_dbgd_and_mgd_and_nothing_else():
    for item, other in pairrank.READINGS["DBGD and MGD at any step"].items():
        changed = {}
        for one, two in zip(jobs(item), jobs(other), strict=True):
            here, there = one.cell.labels(), two.cell.labels()
            differ = {name for name in here if here[name] != there[name]}
            assert differ <= {"alpha"} and one.rows == two.rows
            if differ:
                assert there["alpha"] < here["alpha"]
                changed[here["dataset"], here["learner"]] = there["alpha"]
        assert changed == pairrank.SHORT_STEPS


@pytest.mark.parametrize("reading", ["mean loss", "ε-greedy in ascending order"])
def test_a_reading_changes_what_it_is_called_after_and_nothing_else(reading):
    told = {"mean loss": ("loss", "mean"), "ε-greedy in ascending order": ("exploit", "worst")}[reading]
    tuned = set(tuning.TUNED.names)
    for item, other in pairrank.READINGS[reading].items():
        one, two = ([job.cell.labels() for job in jobs(name)] for name in (item, other))
        assert len(one) == len(two)
        for here, there in zip(one, two, strict=True):
            changed = {(name, there[name]) for name in here if here[name] != there[name]}
            assert {each for each in changed if each[0] not in tuned} in (set(), {told})
            if told not in changed:
                assert here == there


def test_a_smaller_tier_runs_a_part_of_a_larger_one():
    for item in pairrank.ITEMS:
        if item == "audits":  # fewer worlds are other cells
            continue
        large = {job.cell.key: set(job.rows) for job in jobs(item)}
        for job in jobs(item, "laptop"):
            assert set(job.rows) <= large[job.cell.key]


def test_every_data_set_has_twenty_runs_but_for_three_that_the_paper_did_not_use():
    fewer = {"MSLR-WEB30K_sample": 5, "ClueWeb09_webis": 10, "synthetic-yahoo": 10}
    for job in jobs("fig-3"):
        assert len(job.rows) == fewer.get(str(job.cell.labels()["dataset"]), 20)
    assert {row.fold for job in jobs("fig-3", "paper") for row in job.rows if job.cell.labels()["dataset"] == MSLR} == {
        1
    }


def test_the_laptop_tier_takes_half_an_hour_on_two_cores():
    every = with_needs(job for item in pairrank.ITEMS for job in jobs(item, "laptop"))
    run = [job for job in every if job.cell.labels().get("dataset") not in pairrank.PUBLISHED_DATASETS]
    assert expected_seconds(run, 2) / 60 < 30


def test_a_data_set_that_is_not_at_hand_is_declared_and_named_by_its_cells(monkeypatch, tmp_path):
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    monkeypatch.setenv("OL2R_CONFIG", str(tmp_path))
    declared = {job.cell.labels()["dataset"]: AtHand().missing(job.cell) for job in jobs("fig-3")}
    assert set(declared) == set(pairrank.DATASETS) > set(pairrank.PUBLISHED_DATASETS)
    generated = {name for name in pairrank.DATASETS if name.startswith("synthetic")}
    assert declared == {name: None if name in generated else name for name in pairrank.DATASETS}


def test_what_was_given_for_the_baselines_is_in_their_cells():
    labels = {job.cell.labels()["learner"]: job.cell.labels() for job in jobs("authors-settings")}
    assert set(labels) == {"DBGD", "MGD", "PDGD"}
    assert {labels["DBGD"][name] for name in ("alpha", "delta", "decay", "start")} == {0.01, 1.0, "zero"}
    assert labels["MGD"]["m"] == 9
    assert (labels["PDGD"]["alpha"], labels["PDGD"]["decay"]) == (0.1, 0.999977)
    assert {each["empty"] for each in labels.values()} == {"skip"}
    for job in jobs("fig-3"):
        here = job.cell.labels()
        there = labels.get(here["learner"], here)
        assert {name for name in there if here[name] != there[name]} <= {*tuning.TUNED.names, "dataset", "users"}


def test_checkpoints_are_where_claims_look():
    recorded = {t for job in jobs("fig-3") for t in job.cell.evaluation.checkpoints}  # pyright: ignore[reportAttributeAccessIssue]
    asked = {
        getattr(m, name) for m in measures() for name in ("at", "since") if isinstance(getattr(m, name, None), int)
    }
    assert asked and asked <= recorded
    assert recorded >= {0, 1, 2, 5, 10, 20, 50, 100, 1000, 1200, 5000}


def test_a_learning_curve_cannot_be_asked_to_end_elsewhere():
    names = ("paper", "MQ2008", "perfect", "PDGD")
    assert pairrank.GRID.cell(*names, rounds=100).evaluation.checkpoints == (100,)
    with pytest.raises(ValueError, match="not at 100"):
        pairrank.GRID.cell(*names, curve=True, rounds=100)


def test_variants_are_told_apart():
    for item in ("fig-3", "tuning", "epsilon"):
        names = {pairrank.variant(job.cell)["variant"] for job in jobs(item)}
        assert names == {"epsilon": {"epsilon-greedy"}}.get(item, set(pairrank.SHOWN))
    widths = [pairrank.width(job.cell)["width"] for job in jobs("width")]
    names = ("constant", "none (α = 0)", "Lemma 2", "Lemma 2, c = ¼")
    assert {name: widths.count(name) for name in widths} == dict.fromkeys(names, 6)


# Tuning


STEPS = {"tuning": (1000, {1000, 1001}), "tuning-longer": (2500, {1002, 1003, 1004, 1005, 1006})}


@pytest.mark.parametrize("step", STEPS)
def test_tuning_has_seeds_of_its_own_and_one_fold(step):
    rounds, seeds = STEPS[step]
    assert {row.seed for tier in TIERS for job in jobs(step, tier) for row in job.rows} == seeds
    assert {row.fold for job in jobs(step) for row in job.rows} == {1}
    assert {job.cell.evaluation.checkpoints for job in jobs(step)} == {(rounds,)}  # pyright: ignore[reportAttributeAccessIssue]
    others = (item for item in pairrank.ITEMS if not item.startswith("tuning"))
    assert not seeds & {row.seed for item in others for tier in TIERS for job in jobs(item, tier) for row in job.rows}


def test_the_whole_grid_of_a_learner_is_one_batch():
    groups = {}
    for job in jobs("tuning"):
        if job.cell.labels()["dataset"] == "MQ2008":
            groups.setdefault(pairrank.tuned_together(job.cell)["variant_of"], set()).add(job.cell.group)
    assert {len(each) for each in groups.values()} == {1}
    assert len(groups) == sum(len(each.variants) for each in tuning.GRIDS.values())


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("variant", pairrank.SHOWN)
def test_tuning_reads_no_test_query(step, variant, monkeypatch):
    whole = data.load("synthetic-tiny")
    relevance, features = whole.relevance.copy(), whole.features.copy()
    for query in whole.fold(1).test:
        relevance[whole.documents(query)] = 0
        features[whole.documents(query)] = 0.5
    blinded = dataclasses.replace(whole, relevance=relevance, features=features)
    job = next(j for j in jobs(step, "smoke") if pairrank.variant(j.cell)["variant"] == variant)
    tables = []
    for dataset in (whole, blinded):
        monkeypatch.setattr(data, "load", lambda *named, dataset=dataset: dataset)
        tables += Simulate.run_group([job], Context())
    assert tables[0].equals(tables[1])


def test_every_data_set_has_tuned_values():
    for dataset in (*pairrank.DATASETS, grid.SMOKE_DATASET):
        for variant in pairrank.SHOWN:
            for loss in pairrank.LOSSES:
                values = tuning.GRIDS[tuning.grid_of(variant, loss)].tried
                for of in (ALL, variant):
                    found = pairrank.tuned(dataset, variant, loss, of)
                    assert set(found) == set(values)
                    assert all(found[name] in values[name] for name in values)
    assert not set(pairrank.TUNED_ON) & set(pairrank.TUNED_DATASETS)


def test_a_shuffle_has_the_joint_values_beside_the_other_one_only():
    """On MQ2008 PairRank_C alone is best at another λ than both shuffles together."""
    both, one = pairrank.tuned("MQ2008", "PairRank_C"), pairrank.alone("MQ2008", "PairRank_C")
    assert both == tuning.TUNED.chosen("MQ2008", tuning.SUM)
    assert one == tuning.TUNED.chosen("MQ2008", tuning.SUM, "PairRank_C") != both
    shown = [job.cell.labels() for job in jobs("fig-3") if job.cell.labels()["dataset"] == "MQ2008"]
    ours = [each for each in shown if each["learner"] == "PairRank"]
    assert {each["shuffle"] for each in ours} == {"random", "conservative"}
    assert {each["regularization"] for each in ours} == {both["regularization"]}
    assert pairrank.settings("MQ2008")["PairRank_C"][1].items() >= one.items()


def test_no_learner_is_tuned_to_explore_nothing_or_to_do_nothing_else():
    for dataset in pairrank.TUNED_DATASETS:
        for loss in pairrank.LOSSES:
            listed = tuning.TUNED.shortlist(dataset, tuning.grid_of("PairRank_C", loss))
            assert listed and all(0 < setting["alpha"] < 1 for setting in listed)
        assert all(setting["epsilon"] < 1 for setting in tuning.TUNED.shortlist(dataset, "epsilon-greedy"))


def scored(smoke, item):
    """The results of a step, all scores 0, so that a test can say what is best."""
    return smoke[item].frame.assign(ndcg=0.0)


def test_the_best_mean_over_users_and_shuffles_is_chosen(smoke):
    first, longer = (scored(smoke, item) for item in STEPS)
    grid_ = tuning.SUM
    wanted = tuning.TUNED.shortlist("MQ2008", grid_)[3]

    def lines(frame, **values):
        here = frame["grid"] == grid_
        for name, value in values.items():
            here &= frame[name] == value
        return here

    for frame in (first, longer):  # the best in both steps on average
        frame.loc[lines(frame, **wanted), "ndcg"] = 0.5
    other = tuning.TUNED.shortlist("MQ2008", grid_)[1]
    longer.loc[lines(longer, **other, users="perfect"), "ndcg"] = 1.0
    longer.loc[lines(longer, **other, variant="PairRank_R"), "ndcg"] = 0.6
    longer.loc[lines(longer, **other, variant="PairRank_C", users="navigational"), "ndcg"] = -2.0
    first.loc[lines(first, **other), "ndcg"] = 0.4
    for never in (0.0, 10.0):  # scored, and never chosen
        first.loc[lines(first, alpha=never), "ndcg"] = 1.0
    table = tuning.TUNED.table(first, longer).query("grid == @grid_")
    assert len(table) == tuning.SHORTLISTED
    assert table["alpha"].between(0.01, 0.1).all()
    assert table.iloc[0][list(wanted)].to_dict() == wanted
    assert table.iloc[0]["best_of"] == "all + PairRank_C"
    assert table.set_index("best_of").loc["PairRank_R", list(other)].to_dict() == other


def test_a_setting_with_a_diverged_run_is_never_chosen(smoke):
    first, longer = (scored(smoke, item) for item in STEPS)
    best = tuning.TUNED.shortlist("MQ2008", "PDGD")[0]
    first.loc[(first["grid"] == "PDGD") & (first["alpha"] == best["alpha"]), ["ndcg", "status"]] = [1.0, "diverged"]
    table = tuning.TUNED.table(first, longer).query("grid == 'PDGD'")
    assert best["alpha"] not in set(table["alpha"])
    first.loc[first["grid"] == "PDGD", "status"] = "diverged"
    with pytest.raises(ValueError, match="PDGD on synthetic-tiny: a run diverged in every setting"):
        tuning.TUNED.table(first, longer)


@pytest.mark.parametrize("tuned", [tuning.TUNED, tuning.BY_USERS], ids=["together", "by users"])
def test_what_is_tuned_is_what_the_stored_grids_choose(tuned):
    store = Store(PUBLISHED, PUBLISHED / "none") if PUBLISHED else Store.open()
    with files("ol2r.papers.pairrank").joinpath(tuned.file).open() as file:
        stored = pd.read_csv(file, keep_default_na=False, na_values={name: [""] for name in tuned.names})
    pd.testing.assert_frame_equal(retune.stored(pairrank.PAPER, store, tuned)[list(stored)], stored)
    assert set(stored["dataset"]) == set(tuned.datasets)
    assert set(stored["grid"]) == set(tuned.grids)


def test_each_kind_of_users_is_tuned_for_by_itself_with_one_budget():
    for item, seeds, rounds in (
        ("tuning-by-users", tuning.SEEDS_FIRST, tuning.ROUNDS_FIRST),
        ("tuning-by-users-longer", tuning.SEEDS_LONGER, tuning.ROUNDS_LONGER),
    ):
        for job in jobs(item):
            named = pairrank.tuned_for_users(job.cell)
            assert named["grid"] == f"{named['variant']}, {job.cell.labels()['users']} users"
            assert named["grid"] in tuning.BY_USERS.grids
            assert {row.seed for row in job.rows} == set(seeds) and job.cell.evaluation.checkpoints == (rounds,)
            assert job.cell.evaluation.split == "validation"
    assert {tuning.BY_USERS.size("MQ2008", name) for name in tuning.BY_USERS.grids} == {6}


# What the chapter reads


def test_every_item_of_the_map_exists_and_every_claim_is_on_it():
    assert {item for _, item, _ in prose.MAP} <= {*pairrank.ITEMS, *prose.LIVE}
    assert {each for _, _, ids in prose.MAP for each in ids} == {claim.id for claim in pairrank.CLAIMS}
    assert {switch for *_, switch in prose.SILENCES if switch} <= set(pairrank.ITEMS)


def test_every_claim_names_items_columns_and_labels_that_exist(smoke):
    for measure in measures():
        frame = smoke[measure.item].frame
        for column, value in measure.labels:
            assert value in set(frame[column]), (measure, column)
        if isinstance(measure, Measure):
            assert measure.column in frame and (measure.per is None or measure.per in frame)
        if isinstance(measure, WorldMeasure):
            assert measure.quantity in set(frame["quantity"])


def test_blocks_are_recorded_at_the_ranks_that_bands_are_made_of(smoke):
    assert {f"{what}_{rank}" for what in ("lists", "size") for rank in RANKS} <= set(smoke["fig-7a"].frame)


def test_the_smoke_tier_judges_no_claim_and_has_a_row_of_everything(smoke):
    assert set(smoke) == set(pairrank.ITEMS)
    assert all(len(results.frame) for results in smoke.values())
    verdicts = {judge(claim, smoke, printed_numbers("ol2r.papers.pairrank")).verdict for claim in pairrank.CLAIMS}
    assert verdicts == {"not judged (smoke)"}


def test_block_sizes_of_the_smoke_tier_shrink(smoke):
    frame = smoke["fig-6"].frame.query("variant == 'PairRank_C' and users == 'perfect'")
    means = frame.groupby("round")[["size_1", "lists_1", "blocks", "rounds"]].mean()
    early, late = means.loc[10] - means.loc[0], means.loc[60] - means.loc[40]
    assert late["size_1"] / late["lists_1"] < early["size_1"] / early["lists_1"]
    assert late["blocks"] / late["rounds"] > early["blocks"] / early["rounds"]


def test_nothing_diverges_at_the_smoke_tier(smoke):
    frame = smoke["fig-3"].frame
    assert set(frame["status"]) == {"ok"}
    assert np.isfinite(frame[["ndcg", "cndcg"]]).all(axis=None)


# Results that are stored


def test_all_stored_results_are_of_declared_cells():
    """A key that changes leaves its results behind: they would be computed again under another."""
    stored = Publication(PUBLISHED).keys() if PUBLISHED else set()
    assert stored, "no results are stored"
    items = [item for name in papers.NAMES for item in papers.paper(name).items.values()]
    declared = {job.cell.key for job in with_needs(job for item in items for tier in TIERS for job in item.jobs(tier))}
    assert stored <= declared


def test_worlds_are_no_data_set():
    assert WORLDS not in data.CATALOGUE


def test_where_nothing_was_tuned_there_is_no_grid():
    """A reader may choose data sets that take their values from others."""
    assert grid_scores(pd.DataFrame({"dataset": []}), ("alpha",)).empty
