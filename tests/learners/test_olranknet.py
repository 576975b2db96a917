"""olRankNet and olLambdaRank: what exploration does to their lists, and what happens where numbers run out."""

import dataclasses

import numpy as np
import pytest
import torch
from small import K, candidates_of, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r.learners.olranknet import FORMS
from ol2r.networks.refit import METHODS
from ol2r.ranking import interval_orders
from ol2r.simulation import simulate

NAMES = ["olRankNet", "olLambdaRank"]
each = pytest.mark.parametrize("name", NAMES)
each_covariance = pytest.mark.parametrize("covariance", FORMS)


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def pairs_of(n=4):
    pairs = torch.tensor([[[0, 1], [2, 0]]]).expand(n, -1, -1).contiguous()
    return pairs, torch.tensor([[True, False]]).expand(n, -1).contiguous()


@each
def test_without_exploration_the_best_scores_are_shown(dataset, name):
    tape = play(name, dataset, replicas_of("perfect"), 20, alpha=0.0, depth=1)
    twins = np.zeros(4)
    for t in range(20):
        for r, query in enumerate(tape.queries[t]):
            shown = tape.rankings[t, r][tape.rankings[t, r] >= 0]
            x = dataset.query(query)[0][shown]
            twins[r] += ((x[:, None] == x).all(axis=2).sum() - len(x)) / 2
    for t in range(1, 20):
        for r, query in enumerate(tape.queries[t]):
            shown = tape.rankings[t, r][tape.rankings[t, r] >= 0]
            scores = tape.scores[t - 1, r][dataset.documents(query)]
            assert (np.diff(scores[shown]) <= 1e-6).all() and scores[shown[0]] >= scores.max() - 1e-6
    table = tape.table
    assert (table.certain_pairs >= table.shown_pairs - twins).all() and (table.certain_pairs > 0).all()


@each
@pytest.mark.parametrize("refit", METHODS)
def test_a_fold_without_relevant_documents_is_run_to_its_end_and_teaches_nothing(dataset, name, refit):
    barren = dataclasses.replace(dataset, relevance=np.zeros_like(dataset.relevance))
    tape = play(name, barren, replicas_of("perfect"), 12, refit=refit)
    table = tape.table
    assert (table["status"] == "ok").all() and (table["ndcg"] == 0).all() and table["cndcg"].max() == 0
    assert not tape.clicks.any() and (tape.scores == tape.scores[0]).all()  # nobody clicks, and nothing is refitted
    noisy = play(name, barren, replicas_of("informational"), 12, refit=refit)
    assert noisy.clicks.any() and np.isfinite(noisy.scores).all() and (noisy.table["status"] == "ok").all()
    assert (noisy.scores[-1] != noisy.scores[0]).any()


@each
def test_with_intervals_of_any_width_the_best_document_is_first_as_often_as_any(dataset, name):
    replicas = replicas_of("perfect", folds=(1,), seeds=range(40))
    quick = {"passes": 2, "width": 2, "covariance": "diagonal"}
    tape = play(name, dataset, replicas, 8, alpha=1e6, **quick)
    assert (tape.table.certain_pairs == 0).all()
    first, expected, variance = 0, 0.0, 0.0
    for t in range(1, 8):
        for r, query in enumerate(tape.queries[t]):
            best = np.argmax(tape.scores[t - 1, r][dataset.documents(query)])
            chance = 1 / dataset.sizes[query]
            first += tape.rankings[t, r, 0] == best
            expected, variance = expected + chance, variance + chance * (1 - chance)
    assert abs(first - expected) < 4 * variance**0.5


@each
@each_covariance
def test_certain_pairs_are_those_of_the_shown_list(dataset, name, covariance):
    replicas = replicas_of("informational")
    learner = make_learner(name, dataset, replicas, covariance=covariance, alpha=0.02)
    counted, shown_pairs = torch.zeros(4), torch.zeros(4)
    rank = learner.rank

    def recounted(candidates, depth):
        theta = learner.fit.theta.double()
        scores, activations = learner.network.forward(theta, learner.inputs(candidates).double())
        gram = learner.covariance.gram(learner.network.tangent(theta, activations))
        certain = interval_orders(scores, gram, learner.precise["alpha"])
        ranking = rank(candidates, depth)
        for r, shown in enumerate(ranking.tolist()):
            documents = [d for d in shown if d >= 0]
            counted[r] += sum(bool(certain[r, i, j]) for i in documents for j in documents)
            shown_pairs[r] += len(documents) * (len(documents) - 1) / 2
        return ranking

    learner.rank = recounted
    table = simulate(dataset, replicas, learner, evaluation(15))
    assert table.certain_pairs.tolist() == counted.tolist() and 0 < counted.sum() < shown_pairs.sum()
    assert table.shown_pairs.tolist() == shown_pairs.tolist()


@each
def test_a_rate_that_diverges_freezes_its_replica_and_no_other(dataset, name):
    replicas = replicas_of("informational", folds=(1,), seeds=range(4))
    rates = torch.full((4,), 0.01)
    rates[2] = 1e38
    tape = play(name, dataset, replicas, 30, rate=rates)
    assert tape.table.status.tolist() == ["ok", "ok", "diverged", "ok"]
    assert np.isfinite(tape.weights).all() and np.isfinite(tape.table.ndcg).all()
    assert (tape.weights[0, 2] == tape.weights[-1, 2]).all()
    assert all((tape.weights[0, r] != tape.weights[-1, r]).any() for r in (0, 1, 3))


@each
@each_covariance
def test_users_who_never_click_leave_the_network_as_it_was(dataset, name, covariance):
    tape = play(
        name, dataset, replicas_of("perfect"), 20, covariance=covariance,
        clicks=lambda round_, ranking: torch.zeros_like(ranking, dtype=torch.bool),
    )  # fmt: skip
    assert (tape.weights == tape.learner.theta0.numpy()).all()
    table = tape.table
    assert not table.log_det.any() and not table.distinct_pairs.any() and not table.objective.any()
    assert (table.status == "ok").all() and table.sound.all()


@each
def test_pairs_that_rounding_eats_up_are_marked_and_do_no_harm(dataset, name):
    tape = play(name, dataset, replicas_of("informational"), 40, regularization=1e-25, width=2)
    assert not tape.table.sound.all()
    assert np.isfinite(tape.weights).all() and np.isfinite(tape.table[["ndcg", "log_det"]]).all(axis=None)


@each
@pytest.mark.parametrize("shape", [{"depth": 1}, {"width": 1}, {"depth": 4, "width": 2}], ids=str)
def test_small_networks_learn_too(dataset, name, shape):
    tape = play(name, dataset, replicas_of("perfect"), 20, **shape)
    assert np.isfinite(tape.weights).all() and (tape.table.status == "ok").all()


@each
def test_queries_of_one_document_teach_nothing(dataset, name):
    learner = make_learner(name, dataset, replicas_of("perfect"))
    candidates = candidates_of(dataset, [0, 8, 0, 8])
    ranking = learner.rank(candidates, K)
    assert ranking.tolist() == [[0] + [-1] * (K - 1)] * 4
    learner.update(candidates, ranking, ranking >= 0)
    assert torch.equal(learner.evaluated().theta, learner.theta0)


@each
@each_covariance
def test_observing_is_no_round_and_padding_says_nothing(dataset, name, covariance):
    replicas, candidates = replicas_of("perfect"), candidates_of(dataset, [5, 9, 13, 17])
    pairs, labels = pairs_of()
    padding = torch.full((4, 3, 2), -1)
    one, other = (make_learner(name, dataset, replicas, covariance=covariance) for _ in range(2))
    one.observe(candidates, pairs, labels)
    more = torch.cat([padding, pairs[:, :1], padding, pairs[:, 1:]], dim=1)
    said = torch.cat([labels.new_ones(4, 3), labels[:, :1], labels.new_ones(4, 3), labels[:, 1:]], dim=1)
    other.observe(candidates, more, said)
    assert one.round == other.round == 1
    torch.testing.assert_close(one.evaluated().theta, other.evaluated().theta)
    torch.testing.assert_close(one.covariance.log_det, other.covariance.log_det)
    learnt, log_det = one.evaluated().theta.clone(), one.covariance.log_det.clone()
    assert (learnt != one.theta0).any() and log_det.all()
    one.observe(candidates, padding[:, :0], labels[:, :0])
    assert torch.equal(one.evaluated().theta, learnt) and torch.equal(one.covariance.log_det, log_det)


def test_the_weight_of_a_label_is_what_a_swap_costs():
    ranking = torch.tensor([[3, 1, 0, 2, -1]])
    clicks = torch.tensor([[False, True, False, True, False]])
    learner = make_learner("olLambdaRank", small_dataset(), replicas_of("perfect", folds=(1,), seeds=(0,)))
    pairs = torch.tensor([[[3, 1], [0, 2], [-1, -1], [3, 2]]])
    discount = 1 / np.log2(np.arange(2, 6))
    ideal = discount[0] + discount[1]
    wanted = [discount[0] - discount[1], discount[2] - discount[3], 0.0, discount[0] - discount[3]]
    np.testing.assert_allclose(learner.ops.delta_ndcg(ranking, clicks, pairs)[0], np.array(wanted) / ideal, rtol=1e-6)


def test_the_two_learners_differ_in_their_weights_alone(dataset):
    candidates, (pairs, labels) = candidates_of(dataset, [5, 9, 13, 17]), pairs_of()
    one, other = (make_learner(name, dataset, replicas_of("perfect")) for name in NAMES)
    one.observe(candidates, pairs, labels)
    other.observe(candidates, pairs, labels)
    assert torch.equal(one.evaluated().theta, other.evaluated().theta)
    rankings = [learner.rank(candidates, K) for learner in (one, other)]
    assert torch.equal(*rankings)
    clicks = (rankings[0] >= 0) & (torch.arange(K) % 3 == 1)
    for learner in (one, other):
        learner.update(candidates, rankings[0], clicks)
    assert torch.equal(one.history.n_pairs, other.history.n_pairs)
    assert torch.equal(one.history.pairs, other.history.pairs)
    assert (one.history.outcomes >= other.history.outcomes).all()
    assert (one.evaluated().theta != other.evaluated().theta).any()


def test_with_the_present_ranking_a_refit_is_another_one_from_the_same_pairs(dataset):
    candidates = candidates_of(dataset, [5, 9, 13, 17])
    names = ("olLambdaRank", "olLambdaRank-ranked")
    one, other = (make_learner(name, dataset, replicas_of("perfect")) for name in names)
    for _ in range(3):
        ranking = one.rank(candidates, K)
        other.rank(candidates, K)
        clicks = (ranking >= 0) & (torch.arange(K) % 3 == 1)
        for learner in (one, other):
            learner.update(candidates, ranking, clicks)
    assert torch.equal(one.history.n_pairs, other.history.n_pairs)
    assert torch.equal(one.history.n_labels, other.history.n_labels)
    assert (one.evaluated().theta != other.evaluated().theta).any()
    assert not other.history.outcomes.any() and one.history.outcomes.any()


SENSELESS = [
    ({"passes": 1}, "passes must be"),
    ({"regularization": 0.0}, "regularization must be"),
    ({"width": 3, "init": "symmetric"}, "two equal halves"),
]


@pytest.mark.parametrize(("changed", "message"), SENSELESS, ids=str)
def test_a_setting_that_makes_no_sense_is_refused(dataset, changed, message):
    with pytest.raises(ValueError, match=message):
        make_learner("olRankNet", dataset, replicas_of("perfect"), **changed)
