"""The loop: what it records, against sums by hand, and what it refuses."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch
from numba import get_num_threads
from reference import Draws, expected_ndcg, ndcg, scores
from small import K, Tape, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r import simulation
from ol2r.clicks import users
from ol2r.clicks.cascade import STOP_RULES
from ol2r.data.dataset import Fold
from ol2r.learners import Learner
from ol2r.random import Stream
from ol2r.rankers import LinearRanker
from ol2r.simulation import Evaluation, Replica, make_streams, simulate


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def run(dataset, replicas, conventions, *, learner="MGD", reference=None, **changed):
    tape = Tape(make_learner(learner, dataset, replicas, **changed), dataset)
    tape.start = tape.learner.evaluated().weights.numpy().copy()
    tape.table = simulate(dataset, replicas, tape.learner, conventions, reference=reference)
    return tape


def offline(dataset, weights, queries, k):
    """NDCG@k of a linear ranker on each query, slowly."""
    found = (dataset.query(query) for query in queries)
    return np.array([expected_ndcg(scores(x.astype(float), weights.astype(float)), g.tolist(), k) for x, g in found])


@pytest.fixture(scope="module")
def taped(dataset):
    conventions = evaluation(25, checkpoints=(0, 1, 2, 10, 25), gamma=0.9)
    return run(dataset, replicas_of("perfect", "informational"), conventions)


def test_held_out_features_that_are_too_many_to_copy_are_gathered_with_the_same_result(dataset, taped, monkeypatch):
    monkeypatch.setattr(simulation, "_MOST_COPIED", 0)
    conventions = evaluation(25, checkpoints=(0, 1, 2, 10, 25), gamma=0.9)
    again = run(dataset, replicas_of("perfect", "informational"), conventions)
    pd.testing.assert_frame_equal(again.table, taped.table)


def test_there_is_a_row_for_each_replica_and_checkpoint(taped):
    table = taped.table
    assert table["round"].tolist() == [t for t in (0, 1, 2, 10, 25) for _ in range(8)]
    assert table.replica.tolist() == list(range(8)) * 5
    assert table.fold.tolist()[:8] == [1, 1, 2, 2] * 2
    assert table.seed.tolist()[:8] == [0, 1] * 4
    assert (table.status == "ok").all()


def test_online_scores_are_the_sums_over_the_lists_shown(dataset, taped):
    shown = np.zeros((25, 8))
    for t, r in np.ndindex(25, 8):
        _, grades = dataset.query(taped.queries[t, r])
        ranking = [d for d in taped.rankings[t, r] if d >= 0]
        shown[t, r] = ndcg(grades[ranking].tolist(), grades.tolist(), K)
    since = 0
    for checkpoint in (1, 2, 10, 25):
        rows = taped.table[taped.table["round"] == checkpoint]
        discounted = sum(0.9 ** (t - 1) * shown[t - 1] for t in range(1, checkpoint + 1))
        np.testing.assert_allclose(rows.cndcg, discounted, rtol=1e-6)
        np.testing.assert_allclose(rows.online_ndcg, shown[since:checkpoint].mean(axis=0), rtol=1e-6)
        since = checkpoint


def test_the_checkpoint_before_the_first_round_has_nothing_online(dataset, taped):
    rows = taped.table[taped.table["round"] == 0]
    assert (rows.cndcg == 0).all()
    assert rows.online_ndcg.isna().all()
    for r in range(8):
        value = offline(dataset, taped.start[r], dataset.fold(rows.fold.iloc[r]).test, K).mean()
        assert abs(rows.ndcg.iloc[r] - value) < 1e-6


@pytest.mark.parametrize("split", ["test", "validation"])
@pytest.mark.parametrize("empty", ["zero", "skip"])
@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_offline_ndcg_is_the_mean_over_held_out_queries(dataset, split, empty, k):
    barren = replace(dataset, relevance=dataset.relevance.copy())
    barren.relevance[dataset.documents(15)] = 0
    barren.relevance[dataset.documents(17)] = 0
    barren.relevance[dataset.documents(18)] = [0, 1, 2, 0]
    tape = run(barren, replicas_of("perfect"), evaluation(5, split=split, empty=empty, k=k))
    for r, row in tape.table.iterrows():
        queries = getattr(barren.fold(row.fold), split)
        values = offline(barren, tape.weights[-1, r], queries, k)
        if empty == "skip":
            values = values[[barren.query(q)[1].any() for q in queries]]
        assert abs(row.ndcg - values.mean()) < 1e-6


def test_offline_ndcg_does_not_depend_on_chunks(dataset, monkeypatch):
    replicas, conventions = replicas_of("informational"), evaluation(5, checkpoints=(0, 5))
    whole = run(dataset, replicas, conventions).table
    chunks = simulation._chunks
    for documents in (1, 15, 40):
        monkeypatch.setattr(simulation, "_chunks", lambda offsets, n=documents: chunks(offsets, n))
        np.testing.assert_allclose(run(dataset, replicas, conventions).table.ndcg, whole.ndcg, atol=1e-6)


@pytest.mark.parametrize("documents", [1, 2, 7, 10, 1000])
def test_chunks_cover_every_query_once(documents):
    sizes = [1, 2, 9, 10, 3, 3, 3, 30, 1]
    offsets = torch.tensor([5, *(5 + np.cumsum(sizes))])
    chunks = list(simulation._chunks(offsets, documents))
    assert [a for a, _ in chunks] == [0, *(b for _, b in chunks[:-1])]
    assert chunks[-1][1] == len(sizes)
    assert all(b == a + 1 or offsets[b] - offsets[a] <= documents for a, b in chunks)


def test_cosine_is_that_of_the_angle_to_the_reference(dataset):
    replicas = replicas_of("perfect")
    towards = np.random.Generator(np.random.Philox(key=3)).standard_normal((len(replicas), dataset.n_features))
    tape = run(dataset, replicas, evaluation(9), reference=towards)
    lengths = np.linalg.norm(towards, axis=1) * np.linalg.norm(tape.weights[-1], axis=1)
    np.testing.assert_allclose(tape.table.cosine, (towards * tape.weights[-1]).sum(axis=1) / lengths, atol=1e-6)
    assert run(dataset, replicas, evaluation(9)).table.cosine.isna().all()
    still = run(dataset, replicas, evaluation(9, checkpoints=(0,)), reference=towards, start="zero")
    assert (still.table.cosine == 0).all()


def test_queries_are_drawn_uniformly_from_the_training_queries_of_the_fold(dataset):
    replicas = replicas_of("perfect", seeds=range(60))
    queries = play("DBGD", dataset, replicas, 50).queries
    for fold in (1, 2):
        train = dataset.fold(fold).train
        drawn = queries[:, [r.fold == fold for r in replicas]].ravel()
        share = np.array([(drawn == q).mean() for q in train])
        assert set(drawn) == set(train)
        assert np.abs(share - 1 / len(train)).max() < 5 * np.sqrt(1 / len(train) / len(drawn))
    keys = make_streams(dataset, replicas).keys
    train = dataset.fold(1).train
    assert queries[7, 0] == train[Draws(keys[0]).below(Stream.QUERY, 8, 0, len(train))]


def test_diagnostics_of_the_learner_become_columns(dataset):
    table = run(dataset, replicas_of("perfect"), evaluation(20), learner="NSGD", n_uniform=1).table
    assert (table.null_proposed == 20 * 3).all()
    assert (table.uniform_proposed == 20).all()
    won = table.null_won + table.uniform_won
    assert ((won > 0) & (won <= 20)).all()


def test_progress_is_the_fraction_done_whatever_the_checkpoints(dataset):
    done = []
    replicas = replicas_of("perfect")
    simulate(dataset, replicas, make_learner("DBGD", dataset, replicas), evaluation(12), progress=done.append)
    assert done == [t / 12 for t in range(1, 13)]


def test_pair_regret_adds_up_the_misordered_pairs_of_the_lists_shown(dataset, taped):
    total = np.zeros(8, dtype=int)
    for t, r in np.ndindex(25, 8):
        _, grades = dataset.query(taped.queries[t, r])
        listed = [grades[d] for d in taped.rankings[t, r] if d >= 0]
        total[r] += sum(a < b for a, b in combinations(listed, 2))
    assert taped.table[taped.table["round"] == 25].misordered.tolist() == total.tolist()


def test_an_observer_is_told_what_was_shown_before_it_is_learnt_from(dataset, taped):
    told = []

    def observe(round_, candidates, ranking, grades, shown):
        assert learner.round == round_
        told.append((round_, candidates.query.clone(), ranking.clone(), grades.clone(), shown.clone()))

    replicas = replicas_of("perfect", "informational")
    conventions = evaluation(25, checkpoints=(0, 1, 2, 10, 25), gamma=0.9)
    learner = make_learner("MGD", dataset, replicas)
    table = simulate(dataset, replicas, learner, conventions, observe=observe)
    pd.testing.assert_frame_equal(table, taped.table)
    assert [round_ for round_, *_ in told] == list(range(1, 26))
    for t, (_, query, ranking, grades, shown) in enumerate(told):
        np.testing.assert_array_equal(query, taped.queries[t])
        np.testing.assert_array_equal(ranking, taped.rankings[t])
        for r in range(len(replicas)):
            own = dataset.query(taped.queries[t, r])[1]
            assert [g for g, s in zip(grades[r], shown[r], strict=True) if s] == [
                own[d] for d in taped.rankings[t, r] if d >= 0
            ]


@pytest.mark.parametrize("stop_rule", STOP_RULES)
@pytest.mark.parametrize("changed", [{}, {"gain": "linear", "k": 3, "gamma": 1.0}])
def test_both_bodies_of_what_comes_of_a_list_agree_to_the_last_bit(dataset, monkeypatch, stop_rule, changed):
    replicas = [replace(r, users=replace(r.users, stop_rule=stop_rule)) for r in replicas_of("informational")]
    conventions = evaluation(70, checkpoints=(0, 3, 69, 70), **changed)

    def told():
        rounds, learner = [], make_learner("MGD", dataset, replicas)
        update = learner.update

        def observe(round_, candidates, ranking, *seen):
            rounds.append([candidates.query.clone(), ranking.clone(), *(tensor.clone() for tensor in seen)])

        def recorded(candidates, ranking, clicks):
            rounds[-1].append(clicks.clone())
            update(candidates, ranking, clicks)

        learner.update = recorded
        return simulate(dataset, replicas, learner, conventions, observe=observe), rounds

    table, rounds = told()
    monkeypatch.setattr(simulation._Display, "_compiled", simulation._Display._batched)
    other_table, other_rounds = told()
    pd.testing.assert_frame_equal(table, other_table, check_exact=True)
    assert len(rounds) == len(other_rounds) == 70
    for one, other in zip(rounds, other_rounds, strict=True):
        assert len(one) == 5
        assert all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(one, other, strict=True))


class Listed(Learner):
    """A learner from outside: it shows documents in the order of the data from a given one on; it learns nothing."""

    def __init__(self, streams, first=0, beyond=0):
        self.streams, self.device, self.round, self.first, self.beyond = streams, streams.device, 1, first, beyond

    def rank(self, candidates, depth):
        place = self.first + torch.arange(depth + self.beyond, dtype=torch.int32)
        return torch.where(place < candidates.sizes[:, None] + self.first, place, -1).T.contiguous().T

    def update(self, candidates, ranking, clicks):
        self.round += 1

    def evaluated(self):
        return LinearRanker(torch.zeros(len(self.streams), 12))

    @property
    def status(self):
        return ["ok"] * len(self.streams)


def test_a_learner_from_outside_may_hold_its_lists_as_it_likes(dataset):
    replicas = replicas_of("perfect")
    seen = []
    table = simulate(
        dataset,
        replicas,
        Listed(make_streams(dataset, replicas)),
        evaluation(30),
        observe=lambda round_, candidates, *lists: seen.append((candidates.query.tolist(), lists[1].tolist())),
    )
    shown = np.zeros(len(replicas))
    for queries, grades in seen:
        for r, query in enumerate(queries):
            own = dataset.query(query)[1].tolist()
            assert grades[r] == (own + [0] * K)[:K]
            shown[r] += ndcg(own[:K], own, K)
    np.testing.assert_allclose(table.online_ndcg, shown / 30, rtol=1e-6)


def test_no_thread_is_without_a_replica(dataset):
    threads = get_num_threads()
    for n in range(1, threads + 2):
        found = []
        replicas = replicas_of("perfect", folds=(1,), seeds=range(n))
        learner = Listed(make_streams(dataset, replicas))
        simulate(dataset, replicas, learner, evaluation(2), observe=lambda *_, f=found: f.append(get_num_threads()))
        assert found == [min(n, threads)] * 2
        assert get_num_threads() == threads, "as before"


def test_lists_that_cannot_be_shown_are_errors(dataset):
    replicas = replicas_of("perfect")
    streams = make_streams(dataset, replicas)
    with pytest.raises(ValueError, match="a list shows a document that its query does not have"):
        simulate(dataset, replicas, Listed(streams, first=1), evaluation(30))
    with pytest.raises(ValueError, match=r"lists to show must be of shape \[4, 10\], not \[4, 11\]"):
        simulate(dataset, replicas, Listed(streams, beyond=1), evaluation(30))


def test_gain_and_ties_change_the_scores_and_nothing_else(dataset):
    replicas = replicas_of("perfect")
    usual, linear, listed = (
        run(dataset, replicas, evaluation(20, **changed), start="zero").table
        for changed in ({}, {"gain": "linear"}, {"ties": "listed"})
    )
    assert (usual.misordered == linear.misordered).all() and (usual.misordered == listed.misordered).all()
    assert (usual.ndcg != linear.ndcg).any() and (usual.cndcg != linear.cndcg).any()
    assert (usual.cndcg == listed.cndcg).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1, not 0"),
        ({"split": "train"}, "split must be one of test, validation, not 'train'"),
        ({"gain": "log"}, "gain must be one of exponential, linear, not 'log'"),
        ({"empty": "purge"}, "empty must be one of zero, skip, not 'purge'"),
        ({"ties": "random"}, "ties must be one of expected, listed, not 'random'"),
        ({"gamma": 0.0}, "gamma must be a number above 0 and at most 1, not 0.0"),
        ({"gamma": 1.1}, "gamma must be a number above 0 and at most 1, not 1.1"),
        ({"checkpoints": ()}, "checkpoints must be rounds in ascending order, at least one"),
        ({"checkpoints": (5, 3)}, "checkpoints must be"),
        ({"checkpoints": (3, 3)}, "checkpoints must be"),
        ({"checkpoints": (-1, 3)}, "checkpoints must be"),
    ],
)
def test_a_convention_that_cannot_be_is_an_error(changed, message):
    with pytest.raises(ValueError, match=message):
        evaluation(10, **changed)


def test_conventions_have_no_defaults():
    with pytest.raises(TypeError):
        Evaluation(k=10)  # pyright: ignore[reportCallIssue]


def test_a_learner_serves_one_simulation(dataset):
    replicas = replicas_of("perfect")
    learner = make_learner("DBGD", dataset, replicas)
    simulate(dataset, replicas, learner, evaluation(2))
    with pytest.raises(ValueError, match="takes a fresh learner"):
        simulate(dataset, replicas, learner, evaluation(2))


def test_a_learner_of_other_replicas_is_an_error(dataset):
    replicas = replicas_of("perfect")
    for others in (replicas[:2], replicas[::-1]):
        with pytest.raises(ValueError, match="with the streams of these replicas"):
            simulate(dataset, replicas, make_learner("DBGD", dataset, others), evaluation(2))


def test_users_must_know_the_grades_of_the_data(dataset):
    replicas = [Replica(1, 0, users("perfect", 5))]
    with pytest.raises(ValueError, match="small has 3 grades, the users 'perfect' know 5"):
        simulate(dataset, replicas, make_learner("DBGD", dataset, replicas), evaluation(2))


@pytest.mark.parametrize("fold", [0, 3, -1])
def test_a_fold_that_is_not_there_is_an_error(dataset, fold):
    replicas = [Replica(fold, 0, users("perfect", 3))]
    with pytest.raises(ValueError, match=f"small has folds 1 to 2, not {fold}"):
        simulate(dataset, replicas, make_learner("DBGD", dataset, replicas), evaluation(2))


def test_held_out_queries_there_must_be(dataset):
    replicas = [Replica(1, 0, users("perfect", 3))]
    fold = dataset.fold(1)
    bare = replace(dataset, folds=(Fold(fold.train[fold.train != 4], fold.validation[:0], np.array([4])),))
    for conventions in (evaluation(2, split="validation"), evaluation(2, empty="skip")):
        with pytest.raises(ValueError, match=f"small has no {conventions.split} queries to score in fold 1"):
            simulate(bare, replicas, make_learner("DBGD", bare, replicas), conventions)


class Ticks:
    """A clock that counts acts instead of seconds."""

    def __init__(self):
        self.acts = []

    def timed(self, act, call):
        def counted(*arguments):
            self.acts.append(act)
            return call(*arguments)

        return counted

    def read(self):
        return {f"{act}s": float(self.acts.count(act)) for act in ("rank", "update")}


def test_a_clock_measures_every_act_and_changes_nothing(dataset):
    replicas, conventions = replicas_of("perfect"), evaluation(12, checkpoints=(0, 5, 12))
    clock = Ticks()
    plain, timed = (
        simulate(dataset, replicas, make_learner("DBGD", dataset, replicas), conventions, clock=each)
        for each in (None, clock)
    )
    assert clock.acts == ["rank", "update"] * 12
    assert list(timed.columns) == [*plain.columns, "ranks", "updates"]
    assert (timed.ranks == timed["round"]).all() and (timed.updates == timed["round"]).all()
    pd.testing.assert_frame_equal(timed[plain.columns], plain)


def test_a_run_goes_on_only_from_a_state_of_its_own_before_the_end():
    dataset, replicas = small_dataset(), replicas_of("perfect")
    states, asked = [], []

    def fourth(round_):
        asked.append(round_)
        return round_ == 4

    simulate(
        dataset, replicas, make_learner("PDGD", dataset, replicas), evaluation(6),
        keep=lambda state, recorded: states.append(state), keep_after=fourth,
    )  # fmt: skip
    assert asked == [1, 2, 3, 4, 5] and len(states) == 1
    without_sums = {name: value for name, value in states[0].items() if name != "run.last"}
    for state, rounds in ((states[0], 4), (without_sums, 6)):
        with pytest.raises(ValueError, match=f"a run of {rounds} rounds goes on from a state"):
            simulate(dataset, replicas, make_learner("PDGD", dataset, replicas), evaluation(rounds), resume=state)
