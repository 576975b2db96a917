"""Every learner against a plain version written from its paper: the same lists, clicks, winners and weights."""

import numpy as np
import pytest
import torch
from reference import REFERENCES, Draws, clicks_of
from small import OPTIMUM, REFITTED, SETTINGS, K, play, replicas_of, small_dataset

from ol2r.learners import LEARNERS
from ol2r.random import generator
from ol2r.simulation import make_streams

ROUNDS = 50

VARIANTS = [
    *((name, {}) for name in sorted(LEARNERS)),
    ("DBGD", {"prefix_credit": True, "start": "zero"}),
    ("DBGD", {"delta": 0.3, "alpha": 0.5, "decay": 0.9}),
    ("MGD", {"winners": "better"}),
    ("MGD", {"winners": "better", "follow": "one", "prefix_credit": True}),
    ("MGD", {"follow": "one", "m": 1}),
    ("MGD", {"m": 9, "start": "zero"}),
    ("DP-DBGD", {"prefix_credit": True}),
    ("CPS", {"n_candidates": 1}),
    ("CPS", {"history": 1, "tau": 1.0, "n_candidates": 3}),
    ("CPS", {"start": "zero", "delta": 0.1}),
    ("NSGD", {"queue": "rounds"}),
    ("NSGD", {"queue": "rounds", "T_g": 15, "k_g": 25}),
    ("NSGD", {"T_g": 15, "k_g": 25}),
    ("NSGD", {"T_g": 60, "k_g": 7}),
    ("NSGD", {"T_g": 1, "k_g": 1}),
    ("NSGD", {"tie_break": "mean"}),
    ("NSGD", {"tie_break": "mean", "winners": "better"}),
    ("NSGD", {"winners": "better"}),
    ("NSGD", {"tie_break": "early"}),
    ("NSGD", {"tie_break": "early", "winners": "better", "k_h": 20, "T_h": 30}),
    ("NSGD", {"tie_break": "early", "k_h": 0}),
    ("NSGD", {"click_free": "literal"}),
    ("NSGD", {"losers": "fourth_smallest"}),
    ("NSGD", {"losers": "fourth_smallest", "m": 2}),
    ("NSGD", {"losers": "fourth_smallest", "m": 8}),
    ("NSGD", {"hybrid": "literal"}),
    ("NSGD", {"hybrid": "literal", "alpha": 2.0, "lag": 1}),
    ("NSGD", {"hybrid": "never"}),
    ("NSGD", {"lag": 2, "epsilon": 0.001}),
    ("NSGD", {"sampling": "row_echelon", "hybrid": "never"}),
    ("NSGD", {"sampling": "row_echelon", "hybrid": "never", "k_g": 0}),
    ("NSGD", {"n": 4}),
    ("NSGD", {"n": 30}),
    ("NSGD", {"k_g": 0}),
    ("NSGD", {"k_g": 40, "T_g": 15, "queue": "rounds"}),
    ("NSGD", {"k_h": 0}),
    ("NSGD", {"k_h": 50}),
    ("NSGD", {"n_uniform": 1}),
    ("NSGD", {"n_uniform": 4}),
    ("NSGD", {"m": 1}),
    ("NSGD", {"prefix_credit": True, "start": "zero", "hybrid": "never"}),
    ("PDGD", {"alpha": 1.0, "decay": 0.9}),
    ("SGD RankNet", {"pairs": "adjacent"}),
    ("SGD RankNet", {"pairs": "all", "alpha": 1.0, "decay": 0.9}),
    ("epsilon-greedy", {"pairs": "adjacent", "epsilon": 0.0}),
    ("epsilon-greedy", {"exploit": "worst"}),
    ("epsilon-greedy", {"pairs": "all", "epsilon": 1.0}),
    ("PairRank", {"shuffle": "random"}),
    ("PairRank", {"pairs": "adjacent", "covariance": "diagonal", "regularization": 1.0}),
    ("PairRank", {"pairs": "all", "alpha": 0.02}),
    ("PairRank", {"loss": "mean", "regularization": 0.01, "alpha": 0.02}),
    ("PairRank", {"loss": "mean", "shuffle": "random", "pairs": "all", "regularization": 0.001}),
    ("PairRank-Lemma2", {"alpha": 0.05}),
    ("PairRank-Lemma2", {"alpha": 0.05, "shuffle": "random", "covariance": "diagonal"}),
    ("SafePairRank", {"alpha": 0.02}),
    ("SafePairRank", {"pairs": "adjacent", "covariance": "diagonal", "loss": "mean", "regularization": 0.01}),
    ("BoundedPairRank", {"room": 1, "pairs": "all"}),
    ("BoundedPairRank", {"room": 2, "pairs": "all", "loss": "mean", "regularization": 0.01, "alpha": 0.02}),
    ("BoundedPairRank", {"history": "window", "room": 20, "covariance": "diagonal"}),
    ("BoundedPairRank", {"history": "window", "room": 3, "pairs": "all", "intervals": "all", "shuffle": "random"}),
    ("BoundedPairRank", {"room": 10_000}),
    ("RecursivePairRank", {"pairs": "all", "covariance": "diagonal", "shuffle": "random"}),
    ("neural PDGD", {"alpha": 1.0, "decay": 0.9}),
    ("neural PDGD", {"depth": 3, "init": "symmetric"}),  # its first scores are ties, but for rounding
    *((f"neural {name}", {"depth": 3}) for name in ("epsilon-greedy", "DBGD")),
    ("neural epsilon-greedy", {"pairs": "adjacent", "depth": 1}),
    ("neural DBGD", {"prefix_credit": True, "depth": 1, "delta": 0.3}),
    ("olRankNet", {"covariance": "diagonal", "gradients": "displayed", "start": "theta0"}),
    ("olRankNet", {"init": "symmetric", "start": "fresh", "penalty": "decay", "pairs": "adjacent"}),
    ("olRankNet", {"init": "symmetric-raw", "refit": "adam", "covariance": "diagonal"}),
    ("olRankNet", {"refit": "lbfgs", "depth": 3, "penalty": "zero", "alpha": 0.005}),
    ("olLambdaRank", {"covariance": "diagonal", "pairs": "all"}),
    ("olLambdaRank", {"refit": "lbfgs", "depth": 1, "start": "fresh"}),
    ("olLambdaRank-ranked", {"init": "symmetric-raw", "covariance": "diagonal", "pairs": "all"}),
    ("olLambdaRank-ranked", {"refit": "lbfgs", "depth": 1, "start": "fresh"}),
    ("P2LinRank", {"pseudo_pairs": True, "pairs": "adjacent"}),
    ("P2LinRank", {"rankers": 1, "noise": 1.0, "pairs": "all"}),
    ("P2LinRank", {"noise": 0.0, "rankers": 2}),
    ("P2NeurRank", {"theta0": "shared", "noise": 0.0, "rankers": 2}),
    ("P2NeurRank", {"init": "symmetric", "start": "fresh", "penalty": "decay", "pairs": "adjacent"}),
    ("P2NeurRank", {"depth": 3, "penalty": "zero"}),
    # with a penalty so large that the perturbed objective has a minimum
    ("P2NeurRank", {"refit": "lbfgs", "regularization": 1.0, "passes": 10, "noise": 0.01}),
]


def _name(variant):
    return " ".join([variant[0], *(f"{name}={value}" for name, value in variant[1].items())])


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def assert_lies_in_the_null_space(plain, drawn, tolerance):
    """Lines 8-11: unit vectors orthogonal to the k_g worst; the whole space once those span it; basis vectors while the
    ranker moves."""
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1, atol=1e-5)
    worst = plain.worst()
    rank = np.linalg.matrix_rank(worst, tol=1e-4) if len(worst) else 0
    if rank == plain.d:
        rank = 0
    elif len(worst):
        assert np.abs(drawn @ worst.T).max() < tolerance
    if plain.hyper["sampling"] == "row_echelon":
        np.testing.assert_allclose(drawn, plain.combinations_of_echelon_basis(len(drawn)), atol=2e-3)
    if plain.hyper["sampling"] == "orthonormal":  # to nothing else: as many independent ones as there is room for
        assert np.linalg.matrix_rank(drawn, tol=1e-5) == min(len(drawn), plain.d - rank)
    if plain.hyper["sampling"] == "orthonormal" and plain.moving():
        basis = drawn[: plain.d - rank]
        np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-5)


def assert_is_the_optimum(plain, weights):
    best = plain.optimum()
    assert plain.objective(weights) <= plain.objective(best) * (1 + 1e-6)
    np.testing.assert_allclose(weights, best, atol=OPTIMUM["PairRank"])


def assert_are_the_optima(plain, weights):
    for noise, w in zip(plain.noise, plain.each(weights), strict=True):
        best = plain.optimum(noise)
        assert plain.objective(w, noise) <= plain.objective(best, noise) + 1e-6 * (len(plain.history) + 1)
        np.testing.assert_allclose(w, best, atol=OPTIMUM["P2LinRank"])


def is_a_refit(plain, theta):
    """Where Adam comes to, in as many steps; of L-BFGS, a place that is lower, and steep nowhere."""
    if not plain.learned:
        return np.array_equal(theta, plain.w)
    n, fine = len(plain.history), []
    refits = list(plain.refits())
    for (begin, objective), reached in zip(refits, np.split(theta, len(refits)), strict=True):
        if plain.hyper["refit"] == "adam":
            fine.append(np.allclose(reached, plain.refitted(begin, objective), atol=1e-3))
        else:
            (before, _), (after, gradient) = objective(begin), objective(reached)
            fine.append(after <= before + 1e-6 * n and np.abs(gradient).max() < 0.1 * n)
    return np.mean(fine)


@pytest.mark.parametrize("variant", VARIANTS, ids=_name)
def test_learner_decides_as_the_plain_algorithm(dataset, variant):
    assert_decides_as_the_plain_algorithm(dataset, *variant)


BEGUN = [
    *((name, "numba", {}) for name in sorted(LEARNERS) if LEARNERS[name].starts_from_weights),
    ("NSGD", "numba", {"hybrid": "literal", "start": "zero"}),
    ("PairRank", "numba", {"loss": "mean", "shuffle": "random", "regularization": 0.01}),
    *(("PairRank", "torch", {"loss": loss, "regularization": 0.01}) for loss in ("sum", "mean")),
    *((name, "torch", {}) for name in ("PDGD", "DBGD", "NSGD", "epsilon-greedy")),
]


@pytest.mark.parametrize(("name", "engine", "changed"), BEGUN, ids=str)
def test_a_learner_that_begins_from_weights_decides_as_the_plain_algorithm_that_does(dataset, name, engine, changed):
    weights = torch.from_numpy(generator("weights to begin from", 0).standard_normal((4, dataset.n_features)))
    assert_decides_as_the_plain_algorithm(dataset, name, changed, engine, weights.to(torch.float32).to(torch.float64))


def assert_decides_as_the_plain_algorithm(dataset, name, changed, engine=None, begin=None):
    hyper = SETTINGS[name] | changed
    replicas = replicas_of("perfect", "informational", folds=(2,), seeds=(0, 1))
    tape = play(name, dataset, replicas, ROUNDS, engine=engine, begin=begin, **changed)
    keys = make_streams(dataset, replicas).keys
    moved, refits = 0, [True]
    for r, replica in enumerate(replicas):
        draws = Draws(keys[r])
        plain = REFERENCES[name](dataset.n_features, hyper, draws)
        if begin is not None:
            plain.w = plain.centre = begin[r].numpy()
        if name in REFITTED:  # of a unit that is off, Adam enlarges the last bit of θ − θ₀ to a step
            start = tape.learner.theta0.view(len(replicas), -1)[r].numpy().astype(np.float64)
            np.testing.assert_allclose(start, plain.start, atol=1e-5)
            plain.w = plain.start = start
        for t, query in enumerate(tape.queries[:, r], start=1):
            features, relevance = dataset.query(query)
            if name == "NSGD":
                plain.chosen = tape.chosen[t - 1][r].numpy().astype(np.float64)
            if name == "NSGD" and tape.drawn:
                plain.drawn = tape.drawn[t - 1][r].numpy().astype(np.float64)
                assert_lies_in_the_null_space(plain, plain.drawn, 1e-3 if hyper["sampling"] == "row_echelon" else 2e-5)
            ranking = plain.rank(query, features.astype(np.float64), K)
            clicks = clicks_of(relevance[ranking], replica.users, draws, t)
            beyond = K - len(ranking)
            assert tape.rankings[t - 1, r].tolist() == ranking + [-1] * beyond, f"list of round {t}"
            assert tape.clicks[t - 1, r].tolist() == clicks + [False] * beyond, f"clicks of round {t}"
            plain.update(clicks)
            weights = tape.weights[t - 1, r].astype(np.float64)
            if name in REFITTED:
                if t % 5 == 0 or name != "P2NeurRank":  # whose many refits take long
                    refits.append(is_a_refit(plain, weights))
                plain.take(weights)
            elif name == "P2LinRank":
                assert_are_the_optima(plain, weights)
                plain.w = weights
            elif name in OPTIMUM:
                assert_is_the_optimum(plain, weights)
                plain.w = weights
            np.testing.assert_allclose(weights, plain.w, atol=1e-4, err_msg=f"weights after round {t}")
            moved += plain.learned
    every = name in ("P2LinRank", "P2NeurRank") and hyper["noise"] > 0  # noise moves the rankers without a click too
    assert ROUNDS / 5 < moved < len(replicas) * ROUNDS + every
    assert np.mean(refits) > 0.9, "a unit that rounding turns on or off takes a refit elsewhere, but not often"


def test_every_learner_has_a_plain_version():
    assert set(REFERENCES) == set(LEARNERS)


# The null space in few dimensions, where its corners are


@pytest.mark.parametrize("sampling", ["orthonormal", "row_echelon"])
@pytest.mark.parametrize(("d", "engine"), [(1, "numba"), (2, "numba"), (3, "numba"), (6, "numba"), (3, "torch")])
def test_a_queue_that_fills_all_of_space_is_no_dead_end(d, sampling, engine):
    changed = {"k_g": 25, "T_g": 60, "sampling": sampling, "hybrid": "never" if sampling == "row_echelon" else "cosine"}
    tape = play("NSGD", small_dataset(d), replicas_of("informational"), 40, engine=engine, **changed)
    assert (tape.table.status == "ok").all()
    lengths = np.array([drawn.norm(dim=2).numpy() for drawn in tape.drawn])
    np.testing.assert_allclose(lengths, 1, atol=1e-4)


@pytest.mark.parametrize("sampling", ["orthonormal", "row_echelon"])
def test_null_spaces_do_not_depend_on_the_width_of_others(sampling):
    dataset, replicas = small_dataset(), replicas_of("informational", folds=(1,), seeds=(0, 1))
    changed = {"sampling": sampling, "T_g": 15}
    beside = play("NSGD", dataset, replicas, 40, k_g=torch.tensor([3.0, 11.0]), **changed)
    alone = play("NSGD", dataset, replicas[:1], 40, k_g=3, **changed)
    for a, b in zip(beside[0], alone[0], strict=True):
        assert a.tobytes() == b.tobytes()
