"""PairRank: its round as Algorithm 1 says, its two widths, and what it does at the edges."""

import numpy as np
import pytest
import torch
from small import K, candidates_of, evaluation, make_learner, play, replicas_of, small_dataset

from ol2r.learners.pairrank import RANKS
from ol2r.random import generator
from ol2r.simulation import simulate

FORMS = ["PairRank", "PairRank-Lemma2"]
both_forms = pytest.mark.parametrize("name", FORMS)
both_shuffles = pytest.mark.parametrize("shuffle", ["random", "conservative"])


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def observed(dataset, name="PairRank", rounds=40, **changed):
    """A learner told random pairs with random labels, outside any simulation."""
    learner = make_learner(name, dataset, replicas_of("perfect"), **changed)
    rng = generator("told pairs", 1)
    queries = np.flatnonzero(dataset.sizes >= 6)
    for _ in range(rounds):
        query = rng.choice(queries, size=4)
        pairs = np.stack([rng.permutation(6).reshape(3, 2) for _ in query])
        labels = rng.random((4, 3)) < 0.7
        learner.observe(candidates_of(dataset, query), torch.from_numpy(pairs), torch.from_numpy(labels))
    return learner


@both_forms
@both_shuffles
@pytest.mark.parametrize("pairs", ["matched", "adjacent", "all"])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_an_update_observes_the_pairs_of_its_clicks_and_nothing_else(dataset, name, shuffle, pairs, covariance):
    choice = {"shuffle": shuffle, "pairs": pairs, "covariance": covariance}
    replicas = replicas_of("perfect", "informational")
    one, other = (make_learner(name, dataset, replicas, **choice) for _ in range(2))
    clicked = torch.zeros(len(replicas), K, dtype=torch.bool)
    clicked[:, [0, 2, 5]] = True
    for query in (5, 9, 13):
        candidates = candidates_of(dataset, np.full(len(replicas), query))
        ranking, same = one.rank(candidates, K), other.rank(candidates, K)
        assert torch.equal(ranking, same)
        clicks = clicked & (ranking >= 0)
        one.update(candidates, ranking, clicks)
        other.observe(candidates, *other.pairs_from_clicks(ranking, clicks))
        other.round += 1
    assert torch.equal(one.theta, other.theta)
    assert one.theta.any()


@both_forms
def test_observing_is_no_round(dataset, name):
    learner = observed(dataset, name)
    assert learner.round == 1
    assert learner.diagnostics()["rounds"].tolist() == [0] * 4


def test_the_width_is_the_constant(dataset):
    alphas = torch.tensor([0.1, 0.2, 0.0, torch.inf])
    assert torch.equal(observed(dataset, alpha=alphas).width.float(), alphas)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_the_width_is_that_of_lemma_2(dataset, alpha):
    setting = {"regularization": 0.3, "delta": 0.05, "bound": 2.0, "slope": 0.1}
    learner = observed(dataset, "PairRank-Lemma2", alpha=alpha, **setting)
    for r in range(4):
        m = np.linalg.inv(learner.covariance.inverse[r].numpy())
        ratio = np.linalg.slogdet(m)[1] - 12 * np.log(0.3)
        wanted = alpha * 2 * 0.25 / 0.1 * (np.sqrt(0.25 * (ratio + np.log(1 / 0.05**2))) + np.sqrt(0.3) * 2.0)
        np.testing.assert_allclose(float(learner.width[r]), wanted, rtol=1e-9)


def test_conservative_and_random_shuffling_are_told_apart(dataset):
    replicas = replicas_of("perfect")
    lists = [play("PairRank", dataset, replicas, 60, shuffle=s).rankings for s in ("random", "conservative")]
    assert (lists[0] != lists[1]).any()


@both_shuffles
def test_with_width_zero_it_is_greedy(dataset, shuffle):
    replicas = replicas_of("perfect")
    learner = make_learner("PairRank", dataset, replicas, alpha=0.0, shuffle=shuffle)
    learner.theta[:] = torch.from_numpy(generator("greedy", 0).standard_normal((4, 12)))
    candidates = candidates_of(dataset, [5, 9, 13, 17])
    for r, shown in enumerate(learner.rank(candidates, K)):
        scores = dataset.query(int(candidates.query[r]))[0] @ learner.theta[r].numpy()
        np.testing.assert_allclose(scores[shown[shown >= 0]], -np.sort(-scores)[:K], atol=1e-6)


@both_shuffles
def test_with_infinite_width_everything_is_one_block_for_ever(dataset, shuffle):
    table = play("PairRank", dataset, replicas_of("perfect"), 50, alpha=torch.inf, shuffle=shuffle).table
    assert (table.blocks == table.rounds).all()


@both_forms
def test_users_who_never_click_teach_nothing(dataset, name):
    tape = play(
        name, dataset, replicas_of("perfect"), 30, clicks=lambda round_, ranking: torch.zeros_like(ranking).bool()
    )
    assert not tape.weights.any()
    assert (tape.table.blocks == tape.table.rounds).all()
    assert (tape.table.refits == 0).all()


@both_forms
@pytest.mark.parametrize("value", [0.0, -0.1, torch.nan])
def test_without_regularization_there_is_no_pairrank(dataset, name, value):
    with pytest.raises(ValueError, match=rf"{name}: regularization must be a number above 0 .*inverse"):
        make_learner(name, dataset, replicas_of("perfect"), regularization=value)


@both_forms
@pytest.mark.parametrize("value", [-0.1, torch.nan])
def test_a_width_below_zero_is_an_error(dataset, name, value):
    with pytest.raises(ValueError, match=f"{name}: alpha must be a number of at least 0"):
        make_learner(name, dataset, replicas_of("perfect"), alpha=value)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("delta", 0.0), ("delta", 1.0), ("delta", torch.nan), ("bound", -1.0), ("slope", 0.0), ("slope", 0.3)],
)
def test_what_lemma_2_knows_must_make_sense(dataset, parameter, value):
    with pytest.raises(ValueError, match=f"PairRank-Lemma2: {parameter} must be"):
        make_learner("PairRank-Lemma2", dataset, replicas_of("perfect"), **{parameter: value})


@both_forms
def test_separable_clicks_give_a_finite_estimate(dataset, name):
    tape = play(name, dataset, replicas_of("perfect", folds=(1,)), 200, regularization=1e-4)
    assert np.isfinite(tape.weights).all()
    assert tape.table.status.tolist() == ["ok", "ok"]


def test_the_diagnostics_are_sums_over_rounds(dataset):
    replicas = replicas_of("perfect", "informational")
    learner = make_learner("PairRank", dataset, replicas)
    lengths = []
    rank = learner.rank

    def recorded(candidates, depth):
        lengths.append(candidates.sizes)
        return rank(candidates, depth)

    learner.rank = recorded
    table = simulate(dataset, replicas, learner, evaluation(40, checkpoints=(0, 10, 40)))
    sizes = torch.stack(lengths)
    for t, part in table.groupby("round"):
        assert (part.rounds == t).all()
        assert (part.blocks >= t).all()
        assert (part.blocks.to_numpy() <= sizes[:t].sum(dim=0).numpy()).all()
        for rank_ in RANKS:
            np.testing.assert_array_equal(part[f"lists_{rank_}"], (sizes[:t] >= rank_).sum(dim=0))
            assert (part[f"size_{rank_}"] >= part[f"lists_{rank_}"]).all()
    assert (table.passes[table["round"] == 40] > 0).all()


@both_forms
def test_the_hyperparameters_are_kept_in_double_precision(dataset, name):
    learner = make_learner(name, dataset, replicas_of("perfect"), regularization=0.1)
    assert learner.precise["regularization"].tolist() == [0.1] * 4
