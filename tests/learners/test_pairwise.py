"""Pairwise learners without a history: what they owe to clicks alone, and how they are related to each other."""

import numpy as np
import pytest
import torch
from reference import examined
from small import K, candidates_of, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r.simulation import simulate

RANKNETS = ["SGD RankNet", "epsilon-greedy"]
each = pytest.mark.parametrize("name", ["PDGD", *RANKNETS])
each_ranknet = pytest.mark.parametrize("name", RANKNETS)


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def no_clicks(round_, ranking):
    return torch.zeros_like(ranking, dtype=torch.bool)


def clicks_on_everything(round_, ranking):
    return ranking >= 0


@each
@pytest.mark.parametrize("clicks", [no_clicks, clicks_on_everything])
def test_clicks_that_prefer_nothing_teach_nothing(dataset, name, clicks):
    tape = play(name, dataset, replicas_of("perfect"), 30, clicks=clicks)
    assert not tape.weights.any()
    assert (tape.learner.state["alpha"] == 0.1).all(), "the rate decays by rounds with a pair only"
    assert (tape.table.status == "ok").all()


@each
def test_queries_of_one_document_teach_nothing(dataset, name):
    replicas = replicas_of("perfect")
    learner = make_learner(name, dataset, replicas)
    candidates = candidates_of(dataset, [0, 8, 0, 8])
    ranking = learner.rank(candidates, K)
    assert ranking.tolist() == [[0] + [-1] * (K - 1)] * 4
    learner.update(candidates, ranking, ranking >= 0)
    assert not learner.evaluated().weights.any()


@each
def test_the_rate_decays_once_a_round_with_a_pair(dataset, name):
    tape = play(name, dataset, replicas_of("perfect", "informational"), 40, decay=0.9)
    for r in range(8):
        learned = 0
        for ranking, clicks in zip(tape.rankings[:, r], tape.clicks[:, r], strict=True):
            shown = ranking[ranking >= 0]
            learned += len({bool(clicks[i]) for i in examined(shown, clicks[: len(shown)])}) == 2
        assert 0 < learned < 40
        np.testing.assert_allclose(tape.learner.state["alpha"][r], 0.1 * 0.9**learned, rtol=1e-5)


@each_ranknet
def test_it_shows_the_highest_scores_first(dataset, name):
    changed = {"epsilon": 0.0} if name == "epsilon-greedy" else {}
    tape = play(name, dataset, replicas_of("perfect"), 40, **changed)
    for t in range(1, 40):
        for r in range(4):
            scores = dataset.query(tape.queries[t, r])[0].astype(np.float64) @ tape.weights[t - 1, r]
            shown = scores[tape.rankings[t, r][tape.rankings[t, r] >= 0]]
            assert (np.diff(shown) <= 1e-5).all()
            assert shown[0] >= scores.max() - 1e-5


def test_epsilon_greedy_without_exploration_is_sgd_ranknet(dataset):
    replicas = replicas_of("informational")
    greedy = play("epsilon-greedy", dataset, replicas, 40, epsilon=0.0)
    sgd = play("SGD RankNet", dataset, replicas, 40)
    for one, other in zip(greedy[:], sgd[:], strict=True):
        assert one.tobytes() == other.tobytes()


def test_exploration_costs_what_the_user_sees(dataset):
    replicas = replicas_of("perfect", folds=(1,), seeds=range(60))
    seen = []
    for epsilon in (0.0, 0.5, 1.0):
        learner = make_learner("epsilon-greedy", dataset, replicas, epsilon=epsilon)
        seen.append(simulate(dataset, replicas, learner, evaluation(200, k=3)).cndcg.mean())
    assert seen[0] > seen[1] > seen[2]


@each_ranknet
def test_observing_is_no_round_and_padding_says_nothing(dataset, name):
    replicas = replicas_of("perfect")
    candidates = candidates_of(dataset, [5, 9, 13, 17])
    pairs = torch.tensor([[[0, 1], [2, 0]]]).expand(4, -1, -1).contiguous()
    labels = torch.tensor([[True, False]]).expand(4, -1).contiguous()
    one, other = (make_learner(name, dataset, replicas) for _ in range(2))
    one.observe(candidates, pairs, labels)
    padding = torch.full((4, 3, 2), -1)
    more = torch.cat([padding, pairs[:, :1], padding, pairs[:, 1:]], dim=1)
    said = torch.cat([labels.new_ones(4, 3), labels[:, :1], labels.new_ones(4, 3), labels[:, 1:]], dim=1)
    other.observe(candidates, more, said)
    assert one.round == other.round == 1
    assert torch.equal(one.evaluated().weights, other.evaluated().weights)
    assert one.evaluated().weights.any()
    with_nothing = one.evaluated().weights.clone()
    one.observe(candidates, padding[:, :0], labels[:, :0])
    assert torch.equal(one.evaluated().weights, with_nothing)


@each_ranknet
def test_a_label_turned_with_its_pair_says_the_same(dataset, name):
    candidates = candidates_of(dataset, [5, 9, 13, 17])
    pairs = torch.tensor([[[0, 1], [2, 0]]]).expand(4, -1, -1).contiguous()
    labels = torch.tensor([[True, False]]).expand(4, -1).contiguous()
    one, other = (make_learner(name, dataset, replicas_of("perfect")) for _ in range(2))
    one.observe(candidates, pairs, labels)
    other.observe(candidates, pairs.flip(2).contiguous(), ~labels)
    torch.testing.assert_close(one.evaluated().weights, other.evaluated().weights)
