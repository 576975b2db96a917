"""Noise on a network's labels: one number for each pair against a number for each label."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from labelled import DATASET, rounds
from small import candidates_of

from ol2r.networks import History, Network, NetworkFit, Perturbed
from ol2r.networks.problem import CompiledProblem, Problem
from ol2r.random import Streams, generator

KEYS = np.arange(2, dtype=np.uint64)
NETWORK = Network(DATASET.n_features, 4)


def history_of(n_rounds=20):
    history, said = History(2, DATASET.n_features), []
    for query, pairs, labels in rounds(n_rounds, 2):
        candidates = candidates_of(DATASET, query)
        inputs = candidates.padded()[0]
        history.add(candidates, inputs, torch.from_numpy(pairs), torch.from_numpy(labels))
        said.append((query, pairs, labels))
    return history, said


def normals_of(history, n, seed=0):
    rng = generator("normals of a perturbed history", seed)
    return torch.from_numpy(rng.standard_normal((2 * n, history.pairs.shape[1])).astype(np.float32))


def test_the_noise_of_a_pair_has_the_variance_of_all_its_labels_and_leaves_their_number():
    history, _ = history_of(60)
    n, nu = 4000, 0.3
    perturbed = Perturbed(history, torch.tensor([nu, 2 * nu]), normals_of(history, n))
    counts = history.outcomes.sum(dim=2)
    assert counts.max() > 1
    noise = (perturbed.outcomes - history.outcomes.repeat_interleave(n, dim=0))[..., 0].view(2, n, -1)
    torch.testing.assert_close(perturbed.outcomes.sum(dim=2), counts.repeat_interleave(n, dim=0))
    wanted = torch.tensor([[nu], [2 * nu]]) ** 2 * counts
    torch.testing.assert_close(noise.var(dim=1), wanted, rtol=0.12, atol=1e-3)
    assert (noise.mean(dim=1).abs() < 4 * wanted.sqrt() / n**0.5 + 1e-6).all()
    assert torch.equal(perturbed.documents[n], history.documents[1])
    assert torch.equal(perturbed.pairs[n - 1], history.pairs[0])
    assert perturbed.n_labels.tolist() == history.n_labels.repeat_interleave(n).tolist()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_objective_is_that_of_explicit_noise_on_every_label(depth):
    """Eq. 3.3, label by label in double precision, with noise of which only the sum over a pair's labels is given."""
    network = Network(DATASET.n_features, 4, depth)
    history, said = history_of()
    nu, lam = 0.4, 0.1
    normals = normals_of(history, 1, seed=depth)
    perturbed = Perturbed(history, torch.full((2,), nu), normals)
    theta = network.initial(Streams(KEYS)).double()
    fit = NetworkFit(
        network, theta, torch.zeros_like(theta), torch.full((2,), lam, dtype=torch.float64), method="lbfgs"
    )
    found = fit.expand(perturbed).value
    for r in range(2):
        labels: dict[tuple, list[float]] = {}
        for query, pairs, preferred in said:
            for (i, j), first in zip(pairs[r], preferred[r], strict=True):
                if i >= 0:
                    low, high = min(i, j), max(i, j)
                    labels.setdefault((query[r], low, high), []).append(float(first == (i == low)))
        total, rng = network.width * lam / 2 * float(theta[r] @ theta[r]), generator("explicit noise", r)
        for row, ((query, low, high), ys) in enumerate(labels.items()):
            gamma = rng.standard_normal(len(ys))
            gamma += nu * np.sqrt(len(ys)) * float(normals[r, row]) / len(ys) - gamma.mean()  # of any split of the sum
            x = torch.from_numpy(DATASET.query(query)[0][[low, high]]).double()
            scores = network.forward(theta[r : r + 1], network.inputs(x)[None]).scores[0]
            gap = float(scores[0] - scores[1])
            for y, g in zip(ys, gamma, strict=True):
                total += (y + g) * np.logaddexp(0, -gap) + (1 - y - g) * np.logaddexp(0, gap)
        assert float(found[r]) == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize(
    ("depth", "penalty", "bounded"), [(1, 1e-3, True), (2, 1.0, True), (2, 1e-3, False), (3, 1.0, False)]
)
def test_perturbed_labels_leave_no_minimum_where_scores_outgrow_the_penalty(depth, penalty, bounded):
    """One pair with y + γ = 1.5, and θ along which its score grows: the loss falls by half of it, and the score grows
    with the `depth`-th power of the scale of θ, the penalty with the second."""
    network = Network(DATASET.n_features, 2, depth)
    candidates, history = candidates_of(DATASET, [5]), History(1, DATASET.n_features)
    x = candidates.padded()[0]
    history.add(candidates, x, torch.tensor([[[0, 1]]]), torch.tensor([[True]]))
    perturbed = Perturbed(history, torch.ones(1), torch.full((1, history.pairs.shape[1]), 0.5))
    apart = (x[0, 0] - x[0, 1]).double()
    # both units of a first layer read x_i − x_j; what stands behind it passes that on, and subtracts nothing
    layers = [apart.expand(2, -1), *[torch.eye(2)] * (depth - 2), torch.tensor([[1.0, 0.0]])] if depth > 1 else [apart]
    theta = torch.cat([layer.double().flatten() for layer in layers])[None]
    fit = NetworkFit(network, theta, None, torch.full((1,), penalty, dtype=torch.float64), method="lbfgs")

    def objective(scale):
        fit.theta = scale * theta
        return float(fit.expand(perturbed).value)

    found = [objective(10.0**power) for power in range(1, 7)]
    assert all((after > before) == bounded for before, after in pairwise(found[2:]))
    assert (found[-1] > 0) == bounded


def test_networks_of_an_ensemble_are_refitted_as_replicas_of_their_own():
    history, _ = history_of()
    normals, spread = normals_of(history, 3), torch.tensor([0.2, 0.5])
    theta = NETWORK.initial(Streams(KEYS).members(3))
    lam, rate = torch.full((6,), 0.1, dtype=torch.float64), torch.full((6,), 0.01)

    def fitted(theta, history, rows):
        fit = NetworkFit(NETWORK, theta, theta, lam[:rows], method="adam", rate=rate[:rows], passes=5)
        fit.refit(history, torch.ones(rows, dtype=torch.bool))
        return fit.theta

    together = fitted(theta, Perturbed(history, spread, normals), 6)
    for n in range(3):
        own = [n, 3 + n]
        alone = fitted(theta[own], Perturbed(history, spread, normals[own]), 2)
        torch.testing.assert_close(together[own], alone)
    assert len(torch.unique(together, dim=0)) == 6


@pytest.mark.parametrize("depth", [2, 3])
def test_networks_of_one_replica_look_at_the_same_documents_and_have_the_objective_of_documents_of_their_own(depth):
    network = Network(DATASET.n_features, 4, depth, "symmetric-raw")
    history = History(1, network.shapes[0][1])
    for query, pairs, labels in rounds(20, 1):
        candidates = candidates_of(DATASET, query)
        inputs = network.inputs(candidates.padded()[0])
        history.add(candidates, inputs, torch.from_numpy(pairs), torch.from_numpy(labels))
    normals = torch.from_numpy(
        generator("noise of three networks", 0).standard_normal((3, history.pairs.shape[1])).astype(np.float32)
    )
    perturbed = Perturbed(history, torch.tensor([0.5]), normals)
    assert perturbed.documents.data_ptr() == history.documents.data_ptr() and perturbed.documents.stride(0) == 0
    theta, none = network.initial(Streams(KEYS[:1]).members(3)), torch.zeros(3, dtype=torch.float64)
    told = none + 0.5, none + 1.0, torch.float32
    together = CompiledProblem(network, perturbed, theta, *told).expand(1.1 * theta)
    for n in range(3):
        alone = Perturbed(history, torch.tensor([0.5]), normals[n : n + 1])
        own = [each[n : n + 1] for each in told[:2]]
        value, gradient = Problem(network, alone, theta[n : n + 1], *own, torch.float32).expand(1.1 * theta[n : n + 1])
        torch.testing.assert_close(together.value[n : n + 1], value, rtol=2e-5, atol=0)
        atol = 2e-5 * float(gradient.abs().max())
        torch.testing.assert_close(together.gradient[n : n + 1], gradient, rtol=0, atol=atol)
