"""P²LinRank and P²NeurRank: what they are without noise, with one ranker, with much noise, and without clicks."""

from functools import partial
from itertools import pairwise
from statistics import mode

import numpy as np
import pytest
import torch
from pretend import DEVICE, rounds_counted
from small import SETTINGS, K, candidates_of, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r.cost import Shape, batch_size
from ol2r.learners import LEARNERS

NAMES = ["P2LinRank", "P2NeurRank"]
each = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def rankers_of(learner) -> torch.Tensor:
    """Parameters of all rankers, Float[R, N, parameters]."""
    return learner.estimate.rankers if learner.name == "P2LinRank" else learner.evaluated().theta


def told(dataset, name, rounds=12, **changed):
    """A learner told the same pairs in every round, with labels that mostly agree."""
    learner = make_learner(name, dataset, replicas_of("perfect"), **changed)
    for t in range(rounds):
        pairs = torch.tensor([[[0, 1], [2, 0], [3, 4]]]).expand(4, -1, -1).contiguous()
        labels = torch.tensor([[True, False, t % 3 > 0]]).expand(4, -1).contiguous()
        learner.observe(candidates_of(dataset, [5, 9, 13, 17]), pairs, labels)
        learner.round += 1
    return learner


def silent(round_, ranking):
    return torch.zeros_like(ranking, dtype=torch.bool)


def test_without_noise_linear_rankers_are_pairrank_without_width(dataset):
    replicas = replicas_of("perfect", "informational")
    ours = play("P2LinRank", dataset, replicas, 40, noise=0.0)
    theirs = play("PairRank", dataset, replicas, 40, alpha=0.0, shuffle="conservative")
    np.testing.assert_array_equal(ours.rankings, theirs.rankings)
    weights = ours.weights.reshape(40, len(replicas), -1, dataset.n_features)
    np.testing.assert_allclose(weights, theirs.weights[:, :, None].repeat(weights.shape[2], axis=2), atol=1e-3)


@pytest.mark.parametrize("changed", [{}, {"refit": "lbfgs"}, {"start": "fresh", "penalty": "zero"}], ids=str)
def test_without_noise_networks_of_one_start_are_olranknet_without_width(dataset, changed):
    replicas = replicas_of("perfect", "informational")
    ours = play("P2NeurRank", dataset, replicas, 25, noise=0.0, theta0="shared", **changed)
    theirs = play("olRankNet", dataset, replicas, 25, alpha=0.0, covariance="diagonal", **changed)
    np.testing.assert_array_equal(ours.rankings, theirs.rankings)
    theta = ours.weights.reshape(25, len(replicas), 2, -1)
    np.testing.assert_allclose(theta, theirs.weights[:, :, None].repeat(2, axis=2), atol=1e-5)


def test_rankers_start_apart_by_default_and_the_first_as_a_single_network(dataset):
    replicas = replicas_of("perfect")
    own, shared = (make_learner("P2NeurRank", dataset, replicas, theta0=which) for which in ("own", "shared"))
    single = make_learner("olRankNet", dataset, replicas).theta0
    for learner in (own, shared):
        assert torch.equal(rankers_of(learner)[:, 0], single)
    assert torch.equal(rankers_of(shared)[:, 1], single)
    apart = (rankers_of(own)[:, 1] - single).std(dim=1) / single.std(dim=1)
    assert (apart > 1).all()


@each
def test_one_ranker_is_sure_of_every_order_but_a_tie(dataset, name):
    replicas = replicas_of("perfect", folds=(1,))
    learner = told(dataset, name, rankers=1)
    candidates = candidates_of(dataset, [5, 9, 13, 17])
    features = torch.from_numpy(dataset.features)
    scores = learner.evaluated().scores(features, torch.arange(4))
    for r, shown in enumerate(learner.rank(candidates, K).tolist()):
        own = scores[int(candidates.starts[r]) :][: int(candidates.sizes[r]), r]
        shown = [document for document in shown if document >= 0]
        assert (own[shown].diff() <= 1e-6).all() and own[shown[0]] >= own.max() - 1e-6
    assert play(name, dataset, replicas, 20, rankers=1).table.status.tolist() == ["ok"] * 2


@each
def test_a_ranker_does_not_depend_on_how_many_there_are(dataset, name):
    few, many = (rankers_of(told(dataset, name, rankers=n)) for n in (2, 5))
    torch.testing.assert_close(few, many[:, :2].contiguous(), atol=1e-3, rtol=0)
    assert (few[:, 0] != few[:, 1]).any(dim=1).all()


@each
def test_noise_is_fresh_in_every_round_and_nothing_moves_without_it(dataset, name):
    none = torch.full((4, 3, 2), -1), torch.zeros(4, 3, dtype=torch.bool)
    for noise, moves in ((0.1, True), (0.0, False)):
        learner = told(dataset, name, noise=noise)
        before = rankers_of(learner).clone()
        learner.observe(candidates_of(dataset, [5, 9, 13, 17]), *none)
        assert (rankers_of(learner) != before).flatten(1).any(dim=1).all() == moves


@each
def test_users_who_never_click_leave_all_rankers_as_they_were(dataset, name):
    tape = play(name, dataset, replicas_of("perfect"), 20, clicks=silent)
    start = rankers_of(make_learner(name, dataset, replicas_of("perfect"))).flatten(1).numpy()
    assert (tape.weights == start).all()
    assert (tape.table.status == "ok").all() and not tape.table.distinct_pairs.any()


@each
def test_replicas_may_have_noise_of_their_own_and_more_noise_leaves_fewer_orders_certain(dataset, name):
    replicas = replicas_of("perfect", folds=(1,) * 3, seeds=range(8))
    noise = torch.tensor([0.0, 0.01, 1.0])[:, None].expand(3, 8).reshape(-1)
    changed = {"theta0": "shared"} if name == "P2NeurRank" else {}
    replicas = [replicas[i] for _ in range(3) for i in range(8)]
    table = play(name, dataset, replicas, 60, noise=noise, **changed).table
    certain = table.certain_pairs / table.shown_pairs if name == "P2NeurRank" else table.blocks
    by_noise = certain.to_numpy().reshape(3, 8).mean(axis=1)
    assert by_noise[0] > by_noise[1] > by_noise[2]


@each
@pytest.mark.parametrize("noise", [1e6, 1e12])
def test_huge_noise_is_survived(dataset, name, noise):
    tape = play(name, dataset, replicas_of("informational"), 30, noise=noise)
    assert np.isfinite(tape.weights).all() and np.isfinite(tape.table.ndcg).all()


def test_a_network_that_diverges_marks_its_replica_and_no_other(dataset):
    replicas = replicas_of("informational", folds=(1,), seeds=range(4))
    rates = torch.full((4,), 0.01)
    rates[2] = 1e38
    tape = play("P2NeurRank", dataset, replicas, 20, rate=rates)
    assert tape.table.status.tolist() == ["ok", "ok", "diverged", "ok"]
    assert np.isfinite(tape.weights).all() and np.isfinite(tape.table.ndcg).all()


@each
def test_the_mean_of_the_rankers_is_evaluated(dataset, name):
    learner = told(dataset, name, rankers=3)
    features = torch.from_numpy(dataset.features[:20])
    replicas = torch.tensor([2, 0])
    found = learner.evaluated().scores(features, replicas)
    for column, r in enumerate(replicas):
        if name == "P2LinRank":
            scores = [features.double() @ theta for theta in rankers_of(learner)[r]]
        else:
            inputs = learner.network.inputs(features)[None]
            scores = [learner.network.forward(theta[None], inputs).scores[0] for theta in rankers_of(learner)[r]]
        torch.testing.assert_close(found[:, column].double(), sum(scores).double() / 3, atol=1e-5, rtol=1e-5)
    assert np.isnan(learner.evaluated().cosine(np.ones((4, dataset.n_features)))).all() == (name == "P2NeurRank")


@each
@pytest.mark.parametrize(("parameter", "value"), [("rankers", 0), ("rankers", 1.5), ("noise", float("inf"))])
def test_a_setting_that_makes_no_sense_is_refused(dataset, name, parameter, value):
    with pytest.raises(ValueError, match=rf"{name}: {parameter} must be"):
        make_learner(name, dataset, replicas_of("perfect"), **{parameter: value})


@each
def test_more_rankers_than_memory_holds_are_refused_before_anything_is_made(dataset, name):
    with pytest.raises(MemoryError, match=rf"{name}: 1,000,000,000 rankers for each of 4 replicas take .* GiB of"):
        make_learner(name, dataset, replicas_of("perfect"), rankers=10**9)


@each
def test_a_device_launches_as_many_operations_for_ten_rankers_as_for_two(dataset, name):
    replicas, counts = replicas_of("informational"), []
    for rankers in (2, 10):
        make = partial(make_learner, name, dataset, replicas, device=str(DEVICE), rankers=rankers)
        rounds = rounds_counted(dataset, replicas, make, evaluation(12))[0]
        counts.append(mode(after.launches - before.launches for before, after in pairwise(rounds)))
    assert counts[0] == counts[1] > 0  # a round in which the room for the history grows has a few more


@each
def test_memory_that_grows_with_the_rankers_is_declared_so_that_batches_are_cut(name):
    shape = Shape(features=136, documents=125.0)
    few, many = (LEARNERS[name].cost(SETTINGS[name] | {"rankers": n}, shape, 5000) for n in (2, 2000))
    assert many.bytes > 20 * few.bytes
    assert many.alone or batch_size(many, 200, "cpu") < batch_size(few, 200, "cpu")
