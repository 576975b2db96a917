"""Estimates under perturbed labels against explicit noise, and against a slow optimiser in double precision."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from ol2r.random import Streams, generator
from ol2r.ranking import Candidates, batched, compiled, unanimous_orders

ENGINES = [compiled, batched]
every_engine = pytest.mark.parametrize("ops", ENGINES, ids=["numba", "torch"])


class World:
    """Pairs that come in portions, with labels, and what a plain version says of them.

    Args:
        d, n: features and distinct pairs. repeats: labels of each pair.
    """

    def __init__(self, d, n, seed=0, repeats=1, rank=None):
        rng = generator("perturbed worlds", seed)
        x = rng.standard_normal((n, rank or d)) @ np.eye(rank or d, d)
        self.x = torch.from_numpy(x.astype(np.float32))[None]
        self.rows = np.repeat(np.arange(n), repeats)
        truth = rng.standard_normal(d)
        self.won = rng.random(len(self.rows)) < 1 / (1 + np.exp(-x[self.rows] @ truth))
        self.pairs = self.x[0].numpy().astype(np.float64)
        self.outcomes = np.zeros((n, 2))
        self.rng, self.d = rng, d

    def refitted(self, ops, regularization, noise, normals=None, *, rankers=2, pseudo_pairs=False, portions=4):
        """An estimate after all pairs, portion by portion; the last refit has these normals."""
        lam, nu = (torch.tensor([float(value)], dtype=torch.float64) for value in (regularization, noise))
        estimate = ops.PerturbedEstimate(lam, rankers, pseudo_pairs, self.d)
        self.outcomes[:] = 0
        for part in np.array_split(np.arange(len(self.rows)), portions):
            rows, won = self.rows[part], self.won[part]
            np.add.at(self.outcomes, (rows, 1 - won), 1)
            n = int(self.outcomes.any(axis=1).sum())
            last = normals is not None and part[-1] == len(self.rows) - 1
            drawn = normals if last else self.rng.standard_normal((1, rankers, self.d))
            counts = ops.PairCounts(1, self.d)
            counts.x, counts.outcomes, counts.n_pairs = self.x, torch.from_numpy(self.outcomes)[None], torch.tensor([n])
            labels = torch.from_numpy(rows)[None], torch.from_numpy(won)[None]
            estimate.refit(counts, *labels, torch.as_tensor(drawn), nu)
        return estimate

    @property
    def met(self):
        return self.outcomes.sum(axis=1)

    @property
    def gram(self):
        return (self.pairs * self.met[:, None]).T @ self.pairs

    def objective(self, theta, regularization, vector):
        margin = self.pairs @ theta
        losses = self.met @ np.logaddexp(0, margin) - self.outcomes[:, 0] @ margin
        return losses + regularization / 2 * theta @ theta - vector @ theta

    def gradient(self, theta, regularization, vector):
        p = 0.5 * (1 + np.tanh(0.5 * self.pairs @ theta))
        return self.pairs.T @ (self.met * p - self.outcomes[:, 0]) + regularization * theta - vector

    def optimum(self, regularization, vector):
        """By a trust region with the exact Hessian, from zero."""

        def hessian(theta, *_):
            p = 0.5 * (1 + np.tanh(0.5 * self.pairs @ theta))
            return (self.pairs * (self.met * p * (1 - p))[:, None]).T @ self.pairs + regularization * np.eye(self.d)

        found = minimize(
            self.objective, np.zeros(self.d), (regularization, vector), "trust-exact", self.gradient, hessian,
            options={"gtol": 1e-7, "maxiter": 2000},
        )  # fmt: skip
        return found.x


def semidefinite_root(gram):
    """The upper triangular R with RᵀR = G, row by row."""
    root = np.zeros_like(gram)
    for k in range(len(gram)):
        rest = gram[k] - root[:k, k] @ root[:k]
        if rest[k] > 1e-9 * gram[k, k]:
            root[k] = rest / np.sqrt(rest[k])
    return root


def assert_optimal(world, estimate, regularization, noise, normals, gram, excess=1e-7, apart=0.05):
    root = semidefinite_root(gram)
    for theta, drawn in zip(estimate.rankers[0].numpy(), normals[0], strict=True):
        vector = np.sqrt(noise) * root.T @ drawn
        best = world.optimum(regularization, vector)
        least = world.objective(best, regularization, vector)
        assert world.objective(theta, regularization, vector) - least <= excess * (world.met.sum() + 1)
        gap = world.pairs @ (theta - best)
        assert np.abs(gap).max() < apart


@every_engine
@pytest.mark.parametrize("pseudo_pairs", [False, True])
@pytest.mark.parametrize(("regularization", "noise"), [(0.1, 0.1), (1.0, 0.01), (0.01, 1.0)])
@pytest.mark.parametrize("n", [3, 20, 100])
def test_every_ranker_is_at_the_optimum_of_its_perturbed_labels(ops, n, regularization, noise, pseudo_pairs):
    world = World(6, n, seed=n)
    normals = world.rng.standard_normal((1, 3, 6))
    estimate = world.refitted(
        ops, regularization, noise, normals, rankers=3, pseudo_pairs=pseudo_pairs, portions=min(n, 8)
    )
    gram = world.gram + (regularization * np.eye(6) if pseudo_pairs else 0)
    assert_optimal(world, estimate, regularization, noise, normals, gram)
    base = world.optimum(regularization, np.zeros(6))
    np.testing.assert_allclose(estimate.base[0], base, atol=2e-3)


@pytest.mark.parametrize("n", [10, 60, 150])
def test_few_pairs_in_many_features_with_little_regularization_converge(n):
    world = World(136, n, seed=n)
    normals = world.rng.standard_normal((1, 2, 136))
    estimate = world.refitted(compiled, 1e-3, 0.1, normals, portions=3)
    assert_optimal(world, estimate, 1e-3, 0.1, normals, world.gram)
    largest = np.abs(estimate.rankers[0].numpy() @ world.pairs.T).max()
    assert largest > 100, "labels are not perturbed beyond their range, so nothing is tested here"


@pytest.mark.parametrize(("n", "apart"), [(3200, 1e-4), (3400, 0.05)], ids=["double", "single"])
def test_a_long_history_is_read_in_single_precision_and_a_shorter_one_in_double(n, apart):
    world = World(40, n, seed=n)
    normals = world.rng.standard_normal((1, 2, 40))
    estimate = world.refitted(compiled, 0.1, 0.1, normals, portions=3)
    assert_optimal(world, estimate, 0.1, 0.1, normals, world.gram, apart=apart)


@every_engine
def test_a_perturbed_objective_below_zero_is_minimised_too(ops):
    world = World(4, 1)
    normals = np.full((1, 1, 4), 2.0) * np.sign(world.pairs[0])
    estimate = world.refitted(ops, 0.1, 1.0, normals, rankers=1, portions=1)
    vector = semidefinite_root(world.gram).T @ normals[0, 0]
    theta = estimate.rankers[0, 0].numpy()
    assert world.objective(theta, 0.1, vector) < 0
    assert_optimal(world, estimate, 0.1, 1.0, normals, world.gram)


@every_engine
@pytest.mark.parametrize("pseudo_pairs", [False, True])
def test_the_one_draw_has_the_moments_of_noise_on_every_label(ops, pseudo_pairs):
    """θ responds to the noise alone, nearly linearly where it is small: θ − θ̄ = H b + O(ν²)."""
    world, noise, lam, rankers = World(3, 5, repeats=3), 1e-6, 0.5, 4000
    normals = world.rng.standard_normal((1, rankers, 3))
    estimate = world.refitted(ops, lam, noise, normals, rankers=rankers, pseudo_pairs=pseudo_pairs, portions=1)
    base = world.optimum(lam, np.zeros(3))
    p = 1 / (1 + np.exp(-world.pairs @ base))
    hessian = (world.pairs * (world.met * p * (1 - p))[:, None]).T @ world.pairs + lam * np.eye(3)
    found = (estimate.rankers[0].numpy() - estimate.base[0].numpy()) @ hessian / np.sqrt(noise)
    explicit = world.rng.standard_normal((rankers, len(world.rows))) @ world.pairs[world.rows]
    if pseudo_pairs:
        explicit += np.sqrt(lam) * world.rng.standard_normal((rankers, 3))
    assert np.abs(found.mean(axis=0)).max() < 4 * explicit.std() / np.sqrt(rankers) + 0.05
    wanted = world.gram + (lam * np.eye(3) if pseudo_pairs else 0)
    spread = 6 * np.abs(wanted).max() / np.sqrt(rankers) + 0.05
    assert np.abs(np.cov(found.T) - wanted).max() < spread
    assert np.abs(np.cov(explicit.T) - wanted).max() < spread


def test_noise_on_every_label_and_its_sum_have_the_same_optimum():
    """Σ over labels of the perturbed cross-entropy is the loss without noise less bᵀθ, b = Σ γ x."""
    world = World(4, 6, repeats=2)
    world.refitted(compiled, 0.3, 0.1)
    gamma = np.sqrt(0.1) * world.rng.standard_normal(len(world.rows))
    x = world.pairs[world.rows]

    def explicit(theta):
        z, y = x @ theta, world.won + gamma
        return y @ np.logaddexp(0, -z) + (1 - y) @ np.logaddexp(0, z) + 0.15 * theta @ theta

    vector = gamma @ x
    for theta in world.rng.standard_normal((5, 4)):
        np.testing.assert_allclose(explicit(theta), world.objective(theta, 0.3, vector), rtol=1e-9)


@every_engine
def test_features_that_depend_on_each_other_get_no_noise_of_their_own(ops):
    world = World(8, 30, rank=3)
    estimate = world.refitted(ops, 0.1, 0.1)
    assert not estimate.rankers[0][:, 3:].any() and estimate.rankers[0][:, :3].all()


@every_engine
def test_without_noise_all_rankers_are_the_one_optimum(ops):
    world = World(5, 40)
    estimate = world.refitted(ops, 0.1, 0.0, rankers=3)
    torch.testing.assert_close(estimate.rankers[0], estimate.base.expand(3, -1), atol=1e-4, rtol=0)
    np.testing.assert_allclose(estimate.base[0], world.optimum(0.1, np.zeros(5)), atol=2e-3)


@every_engine
def test_nothing_happens_without_labels_unless_pseudo_pairs_are_perturbed(ops):
    counts = ops.PairCounts(2, 4)
    rows, won = torch.full((2, 3), -1), torch.zeros(2, 3, dtype=torch.bool)
    normals = torch.from_numpy(generator("no labels", 0).standard_normal((2, 2, 4)))
    lam, noise = torch.tensor([0.25, 4.0], dtype=torch.float64), torch.tensor([0.04, 0.0], dtype=torch.float64)
    plain, pseudo = (ops.PerturbedEstimate(lam, 2, perturbed, 4) for perturbed in (False, True))
    for estimate in (plain, pseudo):
        estimate.refit(counts, rows, won, normals, noise)
    assert not plain.rankers.any()
    torch.testing.assert_close(pseudo.rankers[0], 0.2 * normals[0] / 0.5)  # b = ν √λ ξ, and θ = b/λ
    assert not pseudo.rankers[1].any()


@every_engine
def test_huge_noise_is_finite_and_a_replica_whose_numbers_run_out_stays_where_it_was(ops):
    world = World(4, 10)
    estimate = world.refitted(ops, 0.1, 1e12)
    assert torch.isfinite(estimate.rankers).all() and estimate.alive.all()
    lost = world.refitted(ops, 1e-300, 1e300)
    assert torch.isfinite(lost.rankers).all() and not lost.alive.any()


def test_documents_whose_scores_differ_in_rounding_alone_are_not_in_certain_order():
    """θ reads both features alike, so that all documents have a sum of 1 and the same score but for the last bits."""
    first = torch.linspace(0, 1, 50, dtype=torch.float32)
    features = torch.stack([first, 1 - first], dim=1)
    offsets, streams = torch.tensor([0, 50]), Streams(np.arange(40, dtype=np.uint64))
    candidates = Candidates(features, offsets, features.sum(dim=0)[None], torch.zeros(40, dtype=torch.int64))
    theta = torch.full((40, 2, 2), 1e-4, dtype=torch.float64) * torch.tensor([1.0, 0.7])[:, None]
    assert len((features.double() @ theta[0, 0]).unique()) > 1
    for ops in ENGINES:
        ranking, blocks, sizes = ops.list_by_unanimity(candidates, theta, 10, (1,), streams, 1)
        assert (blocks == 1).all() and (sizes == 50).all()
        assert len({tuple(shown) for shown in ranking.tolist()}) == 40


@pytest.mark.parametrize("rankers", [1, 2, 5])
def test_both_engines_list_what_all_rankers_agree_on(rankers):
    rng = generator("lists by unanimity", rankers)
    sizes = np.array([1, 2, 30, 7, 12])
    features = torch.from_numpy(rng.standard_normal((sizes.sum(), 5)).astype(np.float32))
    features[10] = features[11]
    offsets = torch.from_numpy(np.concatenate([[0], np.cumsum(sizes)]))
    totals = torch.stack([features[a:b].sum(dim=0) for a, b in pairwise(offsets)])
    query = torch.arange(5).repeat(20)
    candidates = Candidates(features, offsets, totals, query)
    streams = Streams(np.arange(100, dtype=np.uint64))
    common = rng.standard_normal((100, 1, 5))
    theta = torch.from_numpy(common + 0.3 * rng.standard_normal((100, rankers, 5)))
    lists = [ops.list_by_unanimity(candidates, theta, 10, (1, 5, 10), streams, 3) for ops in ENGINES]
    for one, other in zip(*lists, strict=True):
        assert torch.equal(one, other)
    scores = torch.einsum("rvd,rnd->rnv", candidates.padded()[0].double(), theta)
    certain = unanimous_orders(scores)
    for r, shown in enumerate(lists[0][0].tolist()):
        shown = [document for document in shown if document >= 0]
        rest = [j for j in range(sizes[query[r]]) if j not in shown]
        for place, document in enumerate(shown):
            assert not certain[r, shown[place:] + rest, document].any()
