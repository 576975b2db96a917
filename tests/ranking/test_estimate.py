"""The estimate of a pairwise learner: its optimum against slow obvious versions, for both bodies."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit
from small import candidates_of, small_dataset

from ol2r.random import generator
from ol2r.ranking import Candidates, engine
from ol2r.ranking.compiled import estimate as compiled_estimate
from ol2r.theory import confidence

BODIES = [("numba", "cpu"), ("torch", "cpu"), *([("torch", "cuda")] if torch.cuda.is_available() else [])]
both_bodies = pytest.mark.parametrize(("name", "device"), BODIES)
DATASET = small_dataset()
LARGE = np.flatnonzero(DATASET.sizes >= 4)
P = 4


class Fit:
    """The labelled pairs of some replicas and the estimate that is refitted to them."""

    def __init__(self, name, regularization=(1.0,), loss="sum", device="cpu", n_features=DATASET.n_features):
        lambda_ = torch.tensor(regularization, dtype=torch.float64, device=device)
        self.counts = engine(name).PairCounts(len(lambda_), n_features, device)
        self.estimate = engine(name).LogisticEstimate(lambda_, loss, n_features, device)

    def observe(self, candidates, pairs, labels):
        self.estimate.refit(self.counts, *self.counts.add(candidates, pairs, labels))


class Past:
    """Some replicas' pairs and labels, told to a `Fit` round by round and kept in plain lists.

    Args:
        apart: how far from 0 the estimate begins, and the ridge pulls to, about; 0 for an estimate that was not told.
    """

    def __init__(self, name, device="cpu", regularization=(0.1, 1.0, 0.01), loss="sum", noise=0.5, seed=0, apart=0.0):
        self.rng = generator("a history for tests", seed)
        self.truth = self.rng.standard_normal(DATASET.n_features) / max(noise, 1e-6)
        self.fit = Fit(name, regularization, loss, device)
        self.estimate = self.fit.estimate
        self.regularization, self.loss, self.device = np.array(regularization), loss, device
        self.centre = apart * generator("where estimates begin", seed).standard_normal((len(regularization), 12))
        if apart:
            self.estimate.begin_from(torch.from_numpy(self.centre).to(device))
        self.x = [[] for _ in regularization]
        self.y = [[] for _ in regularization]

    def round(self):
        n = len(self.regularization)
        query = self.rng.choice(LARGE, size=n)
        pairs = np.stack([self.rng.permuted(np.arange(DATASET.sizes[q]))[: 2 * 2].reshape(2, 2) for q in query])
        pairs = np.concatenate([pairs, np.full((n, P - 2, 2), -1)], axis=1)
        pairs[self.rng.random((n, P)) < 0.2] = -1  # rounds with one pair, or none
        labels = np.zeros((n, P), dtype=bool)
        for r, q in enumerate(query):
            documents = DATASET.query(q)[0].astype(np.float64)
            for i in np.flatnonzero(pairs[r, :, 0] >= 0):
                x = documents[pairs[r, i, 0]] - documents[pairs[r, i, 1]]
                labels[r, i] = self.rng.random() < expit(x @ self.truth)
                self.x[r].append(x)
                self.y[r].append(float(labels[r, i]))
        candidates = candidates_of(DATASET, query, self.device)
        self.fit.observe(candidates, *(torch.from_numpy(a).to(self.device) for a in (pairs, labels)))

    def rounds(self, n):
        for _ in range(n):
            self.round()
        return self

    def objective(self, r, theta):
        x, y = np.array(self.x[r]).reshape(-1, DATASET.n_features), np.array(self.y[r])
        z = x @ theta
        value = (y * np.logaddexp(0, -z) + (1 - y) * np.logaddexp(0, z)).sum()
        gradient = x.T @ (expit(z) - y)
        away = theta - self.centre[r]
        if self.loss == "sum":
            return value + self.regularization[r] / 2 * away @ away, gradient + self.regularization[r] * away
        return (
            value / len(y) + self.regularization[r] * away @ away,
            gradient / len(y) + 2 * self.regularization[r] * away,
        )

    def optimum(self, r):
        start = np.zeros(DATASET.n_features)
        options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
        return minimize(lambda t: self.objective(r, t), start, jac=True, method="L-BFGS-B", options=options).fun


@both_bodies
@pytest.mark.parametrize("noise", [0.5, 0.0], ids=["noisy", "separable"])
@pytest.mark.parametrize("loss", ["sum", "mean"])
@pytest.mark.parametrize("regularization", [1e-4, 1e-1, 10.0])
@pytest.mark.parametrize("apart", [0.0, 3.0], ids=["from 0", "from weights"])
def test_every_refit_reaches_the_optimum(name, device, noise, loss, regularization, apart):
    past = Past(name, device, regularization=(regularization,) * 2, loss=loss, noise=noise, apart=apart)
    for round_ in range(1, 121):
        past.round()
        if round_ in (1, 2, 3, 5, 10, 20, 40, 80, 120):
            for r in range(2):
                best, reached = past.optimum(r), past.objective(r, past.estimate.theta[r].cpu().numpy())[0]
                assert reached <= best * (1 + 1e-6)


@both_bodies
def test_labels_of_a_pair_add_up_whichever_way_round_it_comes(name, device):
    fit = Fit(name, device=device)
    query = int(LARGE[0])
    for pair, won in (((1, 3), True), ((3, 1), True), ((1, 3), True), ((0, 2), False)):
        pairs = torch.tensor([[pair, (-1, -1)]], device=device)
        fit.observe(candidates_of(DATASET, [query], device), pairs, torch.tensor([[won, True]], device=device))
    documents = DATASET.query(query)[0].astype(np.float64)
    x = np.stack([documents[1] - documents[3], documents[0] - documents[2]])
    best = confidence.fitted(x, np.array([2.0, 0.0]), np.array([1.0, 1.0]), 1.0)
    np.testing.assert_allclose(fit.estimate.theta[0].cpu().numpy(), best, atol=1e-3)


@both_bodies
def test_a_round_without_pairs_changes_nothing(name, device):
    past = Past(name, device).rounds(20)
    names = ("theta", "value", "passes", "refits")
    kept = [getattr(past.estimate, each).clone() for each in names]
    nothing = torch.full((3, P, 2), -1, device=device), torch.zeros(3, P, dtype=torch.bool, device=device)
    past.fit.observe(candidates_of(DATASET, LARGE[:3], device), *nothing)
    assert all(torch.equal(before, getattr(past.estimate, each)) for before, each in zip(kept, names, strict=True))


@both_bodies
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_a_replica_without_labels_stays_at_zero_beside_others(name, device, loss):
    fit = Fit(name, (0.1, 0.1), loss, device)
    pairs = torch.tensor([[[0, 1]], [[-1, -1]]], device=device)
    fit.observe(candidates_of(DATASET, LARGE[:2], device), pairs, pairs[..., 0] >= 0)
    assert fit.estimate.theta.any(dim=1).tolist() == [True, False]
    assert fit.estimate.refits.tolist() == [1, 0]


@both_bodies
def test_identical_documents_teach_nothing_and_break_nothing(name, device):
    fit = Fit(name, device=device)
    pairs, won = torch.tensor([[[0, 5]]], device=device), torch.ones(1, 1, dtype=torch.bool, device=device)
    for _ in range(3):
        fit.observe(candidates_of(DATASET, [7], device), pairs, won)
    assert not fit.estimate.theta.any()
    np.testing.assert_allclose(float(fit.estimate.value[0]), 3 * np.log(2))


@both_bodies
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_to_begin_from_zero_changes_no_bit(name, device, loss):
    past, told = (Past(name, device, loss=loss) for _ in range(2))
    told.estimate.begin_from(torch.zeros_like(told.estimate.theta))
    for each in (past, told):
        each.rounds(60)
    for each in ("theta", "value", "passes", "refits"):
        assert torch.equal(getattr(past.estimate, each), getattr(told.estimate, each))


@both_bodies
def test_without_labels_an_estimate_is_where_it_begins_and_many_labels_outweigh_it(name, device):
    past, cold = (Past(name, device, regularization=(1.0,), apart=apart) for apart in (3.0, 0.0))
    begun = past.centre[0]
    np.testing.assert_array_equal(past.estimate.theta[0].cpu().numpy(), begun)
    apart = []
    for rounds in (20, 600):
        for each in (past, cold):
            each.rounds(rounds)
        apart.append(np.linalg.norm((past.estimate.theta - cold.estimate.theta).cpu().numpy()))
    assert apart[1] < 0.5 * apart[0] < 0.5 * np.linalg.norm(begun)


@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_both_bodies_reach_the_same_estimate(apart):
    one, other = (Past(name, apart=apart).rounds(150).estimate for name in ("numba", "torch"))
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-2)
    np.testing.assert_allclose(one.value, other.value, rtol=1e-7)


@pytest.mark.parametrize("apart", [0.0, 3.0])
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_the_objective_that_is_carried_along_is_the_objective(loss, apart):
    past = Past("numba", loss=loss, apart=apart).rounds(300)
    for r in range(3):
        times = len(past.y[r]) if loss == "mean" else 1
        wanted = times * past.objective(r, past.estimate.theta[r].numpy())[0]
        np.testing.assert_allclose(float(past.estimate.value[r]), wanted, rtol=1e-9)


def test_the_mean_loss_has_the_estimate_of_a_sum_whose_ridge_grows_with_the_pairs():
    past = Past("numba", loss="mean", regularization=(0.01, 0.1)).rounds(100)
    for r, regularization in enumerate(past.regularization):
        x, y = np.array(past.x[r]), np.array(past.y[r])
        wanted = confidence.fitted(x, y, 1 - y, 2 * len(y) * regularization)
        np.testing.assert_allclose(past.estimate.theta[r].numpy(), wanted, atol=1e-3)


@pytest.mark.parametrize("ridge", [0.3, 40.0])
def test_a_growing_ridge_grows_in_all_by_what_is_due(ridge):
    d, more, turn = 7, 0.25, 3
    before = ridge * np.eye(d) + np.diag(np.arange(d) > 0)
    inverse = np.linalg.inv(before)
    for step in range(1, 2 * d + 1):
        turn = compiled_estimate._grow(inverse, ridge + (step - 1) * more, more, turn)
        grown = np.linalg.inv(inverse) - before
        np.testing.assert_allclose(np.trace(grown), step * d * more, rtol=1e-9)
        np.testing.assert_allclose(grown, np.diag(np.diag(grown)), atol=1e-9)
    if ridge > d * more:  # one coordinate at a time: after whole turns all have the same
        np.testing.assert_allclose(grown, 2 * d * more * np.eye(d), atol=1e-9)
        assert turn == 3


def test_the_first_ridge_is_there_at_once():
    inverse = np.eye(4)
    assert compiled_estimate._grow(inverse, 0.0, 0.5, 2) == 2
    np.testing.assert_array_equal(inverse, 2.0 * np.eye(4))


def test_a_replica_is_the_same_bit_for_bit_in_any_company():
    whole, same = (Past("numba").rounds(100).estimate for _ in range(2))
    assert torch.equal(whole.theta, same.theta)
    past, alone = Past("numba", seed=5), Fit("numba")
    observe = past.fit.observe

    def also_alone(candidates, pairs, labels):
        observe(candidates, pairs, labels)
        alone.observe(candidates_of(DATASET, candidates.query[1:2]), pairs[1:2].clone(), labels[1:2].clone())

    past.fit.observe = also_alone
    past.rounds(100)
    assert torch.equal(past.estimate.theta[1], alone.estimate.theta[0])


def test_a_long_history_is_read_at_most_four_times_a_refit():
    rng = generator("a long history", 0)
    features = torch.from_numpy(rng.random((300, 5), dtype=np.float32))
    candidates = Candidates(
        features, torch.tensor([0, 300]), features.sum(dim=0)[None], torch.zeros(1, dtype=torch.int64)
    )
    every = np.stack(np.triu_indices(300, 1), axis=1)[rng.permutation(300 * 299 // 2)]
    fit = Fit("numba", n_features=5)
    for pairs in np.array_split(every[:30_000], 60):
        before = int(fit.estimate.passes[0])
        labels = torch.from_numpy(rng.random((1, len(pairs))) < 0.5 + 0.4 * (pairs[:, 0] < 150))
        fit.observe(candidates, torch.from_numpy(pairs)[None], labels)
        most = max(compiled_estimate.MOST_PASSES, compiled_estimate.SHORT // int(fit.counts.n_pairs[0]))
        assert int(fit.estimate.passes[0]) - before <= most
    assert fit.counts.n_pairs.tolist() == [30_000]
    assert most == 4
