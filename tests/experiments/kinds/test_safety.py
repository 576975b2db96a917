"""The `safety` kind of cell: what counts as a violation, against plain Python, and that rows stand on their own."""

import dataclasses
from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import pytest
from reference import wrong_pairs
from small import small_dataset

from ol2r import data
from ol2r.bandits import simulate_bandit
from ol2r.clicks import ItemClicks, users
from ol2r.data import Fold
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds import safety as safety_cell
from ol2r.experiments.kinds.safety import Lists, ProductionFit, Safety, inversions, judged, production_world
from ol2r.experiments.origins import AtHand
from ol2r.papers.bubblerank import grid as bubblerank
from ol2r.papers.bubblerank import safety as bubblerank_safety
from ol2r.papers.nsgd import grid as nsgd
from ol2r.papers.pairrank import grid as pairrank
from ol2r.random import Stream, generator, integer_below, replica_key

K = 10
CHECKPOINTS = (1, 3, 20, 45)
BUBBLERANK = bubblerank.SETTINGS["BubbleRank"]
ROWS = (Row(1, 0), Row(1, 3), Row(4, 1))


def better(grades, n_grades=3):
    return np.array([sum(g > each for g in grades) for each in range(n_grades)])


def shown(ranking, grades, positions=K):
    return np.array([[*(grades[d] for d in ranking), *[-1] * (positions - len(ranking))]], dtype=np.int8)


def ndcg(ranking, grades):
    def dcg(found):
        return sum((2 ** int(g) - 1) / log2(k + 2) for k, g in enumerate(found))

    ideal = dcg(sorted(grades, reverse=True)[:K])
    return dcg([grades[d] for d in ranking]) / ideal if ideal else 0.0


# what a violation is


def test_wrong_pairs_are_those_of_their_definition():
    rng = generator("wrong pairs", 0)
    for size, positions in ((1, 1), (4, 4), (10, 10), (14, 10), (30, 5), (6, 10)):
        for _ in range(20):
            grades = rng.integers(0, 3, size)
            ranking = rng.permutation(size)[:positions]
            found = inversions(shown(ranking, grades, max(positions, K)), better(grades)[None])
            assert found.tolist() == [wrong_pairs(ranking, grades)]


def test_wrong_pairs_are_the_bandits_with_grade_in_place_of_attraction():
    rng = generator("the bandits' wrong pairs", 0)
    for size in (K, 25):
        grades = rng.integers(0, 3, size)
        ranking = rng.permutation(size)[:K]
        model = ItemClicks("position", tuple(grades / 2), (1.0,) * K)
        trace = simulate_bandit("Baseline", {}, [model], [ranking.tolist()], [np.uint64(1)], 1, [1], K)
        assert inversions(shown(ranking, grades), better(grades)[None]) == trace.initial_inversions


@pytest.fixture(scope="module")
def weights():
    """Production rankers and references of both folds of a small data set, at random."""
    rng = generator("production rankers", 0)
    return [{fold: rng.standard_normal(12) for fold in (1, 2)} for _ in range(2)]


@pytest.fixture(scope="module", params=[(items, ordered) for items in safety_cell.ITEMS for ordered in (False, True)])
def world(request, weights):
    return production_world(small_dataset(), *weights, K, *request.param)


def ranked(dataset, query, weights):
    return np.argsort(-(dataset.query(query)[0].astype(float) @ weights), kind="stable")[:K]


def test_a_table_counts_what_plain_python_counts(world, weights):
    dataset, fold, rounds = world.dataset, 2, 60
    train = dataset.fold(fold).train
    rng = generator("lists shown", 0)
    place = rng.integers(0, len(train), rounds)
    grades = np.full((rounds, K), -1, dtype=np.int8)
    lines, sums = {}, dict.fromkeys(("violations", "reference_violations", "inversions", "initial_inversions"), 0)
    sums |= {"ndcg_total": 0.0, "production_ndcg_total": 0.0, "excess": 0}
    for t in range(rounds):
        own = dataset.query(train[place[t]])[1]
        ranking = rng.permutation(len(own))[:K]
        grades[t] = shown(ranking, own)
        first, other = (ranked(dataset, train[place[t]], each[fold]) for each in weights)
        wrong, base = wrong_pairs(ranking, own), wrong_pairs(first, own)
        sums["violations"] += wrong > base + len(ranking) / 2
        sums["reference_violations"] += wrong_pairs(other, own) > base + len(ranking) / 2
        sums["excess"] = max(sums["excess"], wrong - base)
        sums["inversions"] += wrong
        sums["initial_inversions"] += base
        sums["ndcg_total"] += ndcg(ranking, own)
        sums["production_ndcg_total"] += ndcg(first, own)
        lines[t + 1] = sums | {"queries": len(set(place[: t + 1]))}
    found = judged(world.judges[fold], Lists(place, grades, "ok"), (1, 7, 30, rounds))
    assert 0 < found["violations"][-1] < rounds and 0 < found["reference_violations"][-1] < rounds
    for i, t in enumerate((1, 7, 30, rounds)):
        for name, value in lines[t].items():
            assert found[name][i] == pytest.approx(value, abs=1e-9), name


def test_production_never_violates_its_own_constraint(world):
    for fold, judge in world.judges.items():
        train = world.dataset.fold(fold).train
        place = np.arange(len(train))
        grades = np.concatenate(
            [
                shown(own[own >= 0], world.dataset.query(query)[1])
                for query, own in zip(train, judge.initial, strict=True)
            ]
        )
        found = judged(judge, Lists(place, grades, "ok"), (len(train),))
        assert found["violations"] == found["excess"] == 0
        assert found["inversions"] == found["initial_inversions"] > 0
        assert found["ndcg_total"] == found["production_ndcg_total"] > 0


def test_the_worst_list_is_the_worst_of_all():
    rng = generator("worst lists", 0)
    sizes = (1, 2, 5, 6)
    dataset = small_dataset()
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    few = dataclasses.replace(
        dataset,
        features=dataset.features[: offsets[-1]],
        relevance=rng.integers(0, 3, offsets[-1]).astype(np.int8),
        offsets=offsets,
        query_ids=tuple("abcd"),
        folds=(Fold(np.arange(4), np.empty(0, dtype=int), np.empty(0, dtype=int)),),
    )
    anything = {1: np.ones(12)}
    for positions in (3, 6):
        judge = production_world(few, anything, anything, positions, "all").judges[1]
        for query, size in enumerate(sizes):
            lists = permutations(range(size), min(positions, size))
            assert judge.worst[query] == max(wrong_pairs(each, few.query(query)[1]) for each in lists)


def test_re_ranking_has_the_documents_that_production_shows_in_the_order_of_the_data(weights):
    whole, (production, _) = small_dataset(), weights
    world = production_world(whole, *weights, K, "listed")
    for fold in (1, 2):
        for cut, query in zip(world.dataset.fold(fold).train, whole.fold(fold).train, strict=True):
            listed = ranked(whole, query, production[fold])
            assert world.dataset.query_ids[cut] == whole.query_ids[query]
            for a, b in zip(world.dataset.query(cut), whole.query(query), strict=True):
                np.testing.assert_array_equal(a, b[np.sort(listed)])
            first = world.judges[fold].initial[list(world.dataset.fold(fold).train).index(cut)]
            np.testing.assert_array_equal(np.sort(listed)[first[first >= 0]], listed)
    alone = production_world(whole, {2: production[2]}, {2: production[2]}, K, "listed")
    assert len(alone.dataset.fold(1).train) == 0
    np.testing.assert_array_equal(alone.judges[2].base, world.judges[2].base)


@pytest.mark.parametrize("items", safety_cell.ITEMS)
def test_a_learner_that_starts_from_an_order_has_the_documents_in_production_s(items, weights):
    whole, (production, _) = small_dataset(), weights
    world = production_world(whole, *weights, K, items, ordered=True)
    for fold in (1, 2):
        for own, query in zip(world.dataset.fold(fold).train, whole.fold(fold).train, strict=True):
            scores = whole.query(query)[0].astype(float) @ production[fold]
            order = np.argsort(-scores, kind="stable")[: K if items == "listed" else None]
            for a, b in zip(world.dataset.query(own), whole.query(query), strict=True):
                np.testing.assert_array_equal(a, b[order])
            first = world.judges[fold].initial[list(world.dataset.fold(fold).train).index(own)]
            assert first[first >= 0].tolist() == list(range(min(K, len(order))))


# the production ranker


def test_a_production_ranker_reads_the_first_telling_validation_queries_only():
    it = data.load("synthetic-tiny")
    fit = bubblerank_safety.production("smoke", it.name, bubblerank_safety.FEW)
    fold = it.fold(1)
    telling = [q for q in fold.validation if len(set(it.query(q)[1])) > 1]
    other = it.relevance.copy()
    for query in {*range(it.n_queries)} - {*telling[: fit.labelled]}:
        other[it.documents(query)] = 2 if query in fold.train else 0
    changed = dataclasses.replace(it, relevance=other)
    np.testing.assert_array_equal(fit.fit(it, 1), fit.fit(changed, 1))
    more = bubblerank_safety.production("smoke", it.name, bubblerank_safety.MANY)
    assert not np.allclose(fit.fit(it, 1), more.fit(it, 1))
    with pytest.raises(ValueError, match=f"{len(telling)} validation queries have documents of different grades, not"):
        dataclasses.replace(fit, labelled=len(telling) + 1).fit(it, 1)


def test_fits_are_jobs_that_a_cell_needs():
    one = cell("PDGD")
    fits = one.needs(ROWS)
    assert [job.cell for job in fits] == [one.production, one.reference]
    assert all(job.rows == (Row(1, 0), Row(4, 0)) for job in fits)
    (table,) = ProductionFit.run_group([fits[0]], Context())
    check_table(*fits[0], table)


# cells


def cell(name, items="listed", kind="perfect"):
    (found,) = (
        each
        for each in bubblerank_safety.safety_cells("smoke", BUBBLERANK)
        if bubblerank_safety.safety_names(each) == {"variant": name, "production": bubblerank_safety.FEW}
        and (each.items, each.users.name) == (items, kind)
    )
    return dataclasses.replace(found, checkpoints=CHECKPOINTS)


def hasty():
    """BubbleRank that decides after a click or two, so that a few rounds teach it something."""
    one = cell("BubbleRank")
    own = tuple((name, 0.001 if name == "exponent" else value) for name, value in one.hyperparameters)
    return dataclasses.replace(one, hyperparameters=own)


@pytest.fixture(scope="module")
def inputs():
    one = cell("PDGD")
    jobs = one.needs([Row(fold, 0) for fold in one.folds])
    return {job.cell: type(job.cell).run_group([job], Context())[0] for job in jobs}


def run(inputs, *jobs, engine="numba"):
    return Safety.run_group(jobs, Context(inputs, engine=engine))


PLAYERS = (
    *bubblerank_safety.FEATURE_BASED,
    bubblerank_safety.SAFE_RANKER,
    bubblerank_safety.CHANCE,
    bubblerank_safety.BANDIT,
)


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("items", safety_cell.ITEMS)
def test_a_table_has_a_line_for_every_row_and_checkpoint(inputs, name, items):
    one = cell(name, items)
    (table,) = run(inputs, Job(one, ROWS))
    check_table(one, ROWS, table)
    assert table["round"].tolist() == [*CHECKPOINTS] * 3
    assert set(table.columns) == {"fold", "seed", "round", *one.exact}
    assert not set(one.labels()) & set(table.columns)
    assert (table["violations"] <= table["possible"]).all() and (table["possible"] <= table["round"]).all()
    assert (table["status"] == "ok").all() and (table["production_ndcg_total"] > 0).any()


@pytest.mark.parametrize(
    ("name", "items"), [*((name, "listed") for name in PLAYERS), ("PairRank_C", "all"), ("BubbleRank", "all")]
)
def test_a_row_is_the_same_whoever_stands_beside_it(inputs, name, items):
    kinds = ("perfect",) if name == "BubbleRank" else ("perfect", "informational")
    jobs = [Job(cell(name, items, kind), ROWS) for kind in kinds]
    assert len({job.cell.group for job in jobs}) == 1
    for together, job in zip(run(inputs, *jobs), jobs, strict=True):
        for row in ROWS:
            (alone,) = run(inputs, Job(job.cell, (row,)))
            own = together[(together["fold"] == row.fold) & (together["seed"] == row.seed)]
            pd.testing.assert_frame_equal(own.reset_index(drop=True), alone)


def test_batches_that_memory_allows_are_as_good_as_one(inputs, monkeypatch):
    job = Job(cell("NSGD"), ROWS)
    (whole,) = run(inputs, job)
    monkeypatch.setattr("ol2r.cost.LARGEST_BATCH", 2)
    pd.testing.assert_frame_equal(run(inputs, job)[0], whole)


def test_everybody_meets_the_same_queries(inputs):
    about_queries = ["possible", "reference_violations", "initial_inversions", "production_ndcg_total", "queries"]
    tables = [run(inputs, Job(cell(name), ROWS))[0] for name in ("BubbleRank", "PDGD", "PairRank_C")]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table[about_queries], tables[0][about_queries])
    assert (tables[1]["inversions"] != tables[2]["inversions"]).any()


def test_the_bandit_plays_an_instance_a_query(inputs):
    one, row = hasty(), Row(2, 1)
    (table,) = run(inputs, Job(one, (row,)))
    it = data.load(one.dataset)
    fits = [inputs[fit].query("fold == 2")["weight"].to_numpy() for fit in (one.production, one.reference)]
    world = production_world(it, *({2: fit} for fit in fits), K, "listed")
    train, key = world.dataset.fold(2).train, replica_key(it.name, *row)
    drawn = [integer_below(key, int(Stream.QUERY), t, 0, len(train)) for t in range(1, CHECKPOINTS[-1] + 1)]
    wrong = moved = 0
    for place in set(drawn):
        grades, first = world.dataset.query(train[place])[1], world.judges[2].initial[place]
        model = ItemClicks("position", tuple(one.users.click[g] for g in grades), (1.0,) * len(grades))
        times = drawn.count(place)
        name = f"{it.name}/{it.query_ids[it.fold(2).train[place]]}"
        trace = simulate_bandit(
            "BubbleRank", dict(one.hyperparameters), [model], [first[first >= 0].tolist()], [replica_key(name, *row)],
            CHECKPOINTS[-1], range(1, times + 1), K,
        )  # fmt: skip
        wrong += sum(wrong_pairs(ranking, grades) for ranking in trace.shown[0])
        moved += trace.diagnostics["base_inversions"][0, -1] != trace.initial_inversions[0]
    assert moved
    assert table["inversions"].iloc[-1] == wrong != table["initial_inversions"].iloc[-1]


@pytest.mark.parametrize("bandit", [cell("BubbleRank"), hasty()], ids=["usual", "hasty"])
def test_bubblerank_is_safe_when_it_re_ranks(inputs, bandit):
    """Perfect users click no worse document of two alone, so whatever is decided is right, however soon."""
    (table,) = run(inputs, Job(bandit, tuple(Row(fold, 0) for fold in range(1, 6))))
    assert (table["violations"] == 0).all() and (table["possible"] > 0).any()
    assert 0 < table["excess"].max() <= K / 2
    last = table[table["round"] == CHECKPOINTS[-1]]
    learned = last["inversions"].sum() < last["initial_inversions"].sum()
    assert learned == (bandit == hasty())


def test_random_lists_learn_nothing(inputs):
    tables = [
        run(inputs, Job(cell(bubblerank_safety.CHANCE, kind=kind), ROWS))[0] for kind in ("perfect", "informational")
    ]
    pd.testing.assert_frame_equal(*tables)
    (learnt,) = run(inputs, Job(cell("PDGD"), ROWS))
    assert tables[0]["violations"].iloc[-1] > 0
    assert (learnt["inversions"] != tables[0]["inversions"]).any()


def test_the_other_engine_shows_lists_of_the_same_queries(inputs):
    job = Job(cell("PairRank_C"), ROWS)
    (numba,), (torch,) = (run(inputs, job, engine=engine) for engine in ("numba", "torch"))
    about_queries = ["round", "possible", "initial_inversions", "production_ndcg_total"]
    pd.testing.assert_frame_equal(numba[about_queries], torch[about_queries])
    np.testing.assert_allclose(torch["ndcg_total"], numba["ndcg_total"], rtol=0.05)


# the declared grid


def test_every_cell_of_the_grid_is_another_and_has_a_name_of_its_own():
    for tier, n_datasets in (("smoke", 1), ("laptop", 2), ("paper", 2)):
        cells = bubblerank_safety.safety_cells(tier, BUBBLERANK)
        own = 3 * (1 if tier == "laptop" else 3)  # SafePairRank's, on each data set
        assert len({each.key for each in cells}) == len(cells) == n_datasets * (3 * (6 * 3 + 1) + own)
        names = [
            (each.dataset, each.users.name, each.items, *bubblerank_safety.safety_names(each).values())
            for each in cells
        ]
        assert len(set(names)) == len(cells)
        for each in cells:
            rounds = each.checkpoints[-1]
            assert bubblerank_safety.since(rounds) in each.checkpoints
            assert len(bubblerank_safety.safety_seeds(tier, each)) > 0
    assert {100, 1000, 5000} <= set(cells[0].checkpoints)


def test_learners_keep_the_settings_of_their_chapters():
    found = {
        bubblerank_safety.safety_names(each)["variant"]: dict(each.hyperparameters)
        for each in bubblerank_safety.safety_cells("paper", BUBBLERANK)
        if each.labels()["dataset"] == "MQ2008"
    }
    assert found["NSGD"] == nsgd.SETTINGS["NSGD"]
    assert found["BubbleRank"] == BUBBLERANK
    for name in ("DBGD", "PDGD", "PairRank_R", "PairRank_C"):
        assert found[name] == pairrank.SETTINGS[name][1] | pairrank.tuned("MQ2008", name)
    assert found["SafePairRank"] | {"shuffle": "conservative"} == found["PairRank_C"]


def test_wider_intervals_are_multiples_of_the_parent_s_and_the_first_are_the_main_ones():
    cells = bubblerank_safety.caution_cells("paper")
    main = {each.key for each in bubblerank_safety.safety_cells("paper", BUBBLERANK)}
    widths = {}
    for each in cells:
        named = bubblerank_safety.caution_names(each)
        widths.setdefault(each.dataset, {})[named["caution"]] = dict(each.hyperparameters)["alpha"]
        assert (each.key in main) == (named["caution"] == 1) and named["variant"] == "SafePairRank"
    for own in widths.values():
        times = bubblerank_safety.CAUTIONS[1:]
        assert [own[each] / own[1.0] for each in times] == pytest.approx(list(times))


def unsure(name):
    """A learner's cell with so large an α that no order is certain."""
    one = cell(name)
    changed = dict(one.hyperparameters) | {"alpha": 1e9}
    return dataclasses.replace(one, hyperparameters=tuple(sorted(changed.items())))


def test_safe_pairrank_that_is_never_certain_exchanges_neighbours_of_production_s_lists(inputs):
    (table,) = run(inputs, Job(unsure("SafePairRank"), ROWS))
    assert (table["violations"] == 0).all() and 0 < table["excess"].max() <= K // 2
    (table,) = run(inputs, Job(unsure("PairRank_C"), ROWS))
    assert table["violations"].max() > 0


def test_a_wrong_declaration_is_refused():
    one = cell("PDGD")
    with pytest.raises(ValueError, match="items must be one of listed, all"):
        dataclasses.replace(one, items="shown")
    with pytest.raises(ValueError, match="takes"):
        dataclasses.replace(one, hyperparameters=())
    with pytest.raises(ValueError, match="checkpoints are rounds from 1"):
        dataclasses.replace(one, checkpoints=(0, 5))
    with pytest.raises(ValueError, match="fitted to MQ2008 does not rank synthetic-tiny"):
        production = bubblerank_safety.production("paper", "MQ2008", bubblerank_safety.FEW)
        dataclasses.replace(one, production=production)
    with pytest.raises(ValueError, match="BubbleRank knows users by item"):
        dataclasses.replace(cell("BubbleRank"), users=users("navigational", 3))


def test_a_cell_is_expected_to_take_time_and_says_what_it_lacks():
    for one in bubblerank_safety.safety_cells("paper", BUBBLERANK):
        assert 0 < one.cost(ROWS).whole < 120
        assert 0 < one.production.cost(ROWS).whole < 120
    assert AtHand().missing(cell("PDGD")) is None and not cell("PDGD").restricted
