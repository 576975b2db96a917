"""What a refit minimises, the steps of Adam and the way of L-BFGS: compiled bodies against those in torch."""

import numpy as np
import pytest
import torch
from labelled import DATASET, rounds
from small import candidates_of

from ol2r.networks import History, Network
from ol2r.networks.descent import CompiledDescent, Descent
from ol2r.networks.memory import CompiledMemory
from ol2r.networks.moments import CompiledMoments, Moments
from ol2r.networks.problem import CompiledProblem, Expansion, Problem, Room
from ol2r.random import Streams, generator

D, REPLICAS = DATASET.n_features, 3
KEYS = np.arange(REPLICAS, dtype=np.uint64)
NETWORKS = [Network(D, 6), Network(D, 1), Network(D, 4, 3, "symmetric")]
NETWORKS += [Network(D, 4, 2, "symmetric-raw"), Network(D, 5, 4)]
PULL, WEIGHT = torch.tensor([0.5, 0.0, 3.0]).double(), torch.tensor([1.0, 0.25, 0.01]).double()
every_network = pytest.mark.parametrize("network", NETWORKS, ids=lambda n: f"{n.init}-{n.depth}-{n.width}")
either_precision = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


def history_of(network, n_rounds=20):
    history = History(REPLICAS, network.shapes[0][1])
    for query, pairs, labels in rounds(n_rounds, REPLICAS):
        candidates = candidates_of(DATASET, query)
        inputs = network.inputs(candidates.padded()[0])
        history.add(candidates, inputs, torch.from_numpy(pairs), torch.from_numpy(labels))
    return history


@every_network
@either_precision
@pytest.mark.parametrize("anchored", [True, False], ids=["to the start", "to zero"])
def test_the_compiled_objective_is_that_of_torch(network, dtype, anchored):
    start = network.initial(Streams(KEYS)).to(dtype)
    told = network, history_of(network), start if anchored else None, PULL, WEIGHT, dtype
    compiled, batched = CompiledProblem(*told), Problem(*told)
    rng = generator("somewhere", 0)
    tolerance = 1e-11 if dtype == torch.float64 else 2e-5
    for _ in range(3):  # the second pass uses the memory of the first
        theta = start + torch.from_numpy(0.2 * rng.standard_normal(start.shape)).to(dtype)
        one, other = compiled.expand(theta), batched.expand(theta)
        assert one.value.dtype == torch.float64 and one.gradient.dtype == dtype
        torch.testing.assert_close(one.value, other.value, rtol=tolerance, atol=0)
        atol = tolerance * float(other.gradient.abs().max())
        torch.testing.assert_close(one.gradient, other.gradient, rtol=0, atol=atol)
        assert torch.equal(batched.gradient(theta), other.gradient)
        assert torch.equal(compiled.gradient(theta), one.gradient)


def test_the_compiled_objective_stays_finite_where_the_scores_are_far_apart_and_is_not_where_they_are_none():
    network = NETWORKS[0]
    theta = 1e3 * network.initial(Streams(KEYS))
    told = network, history_of(network), None, PULL, WEIGHT, torch.float32
    one, other = CompiledProblem(*told).expand(theta), Problem(*told).expand(theta)
    torch.testing.assert_close(one.value, other.value, rtol=1e-5, atol=0)
    theta[1, 0] = torch.nan
    for body in (CompiledProblem, Problem):
        value, gradient = body(*told).expand(theta)
        assert value.isfinite().tolist() == gradient.isfinite().all(dim=1).tolist() == [True, False, True]


@every_network
def test_a_problem_in_memory_that_was_used_before_is_that_in_fresh_memory(network):
    theta, room = network.initial(Streams(KEYS)), Room()
    for n_rounds in (5, 20, 3):  # more documents, and then fewer
        told = network, history_of(network, n_rounds), theta, PULL, WEIGHT, torch.float32
        used, fresh = CompiledProblem(*told, room).expand(theta), CompiledProblem(*told).expand(theta)
        assert torch.equal(used.value, fresh.value) and torch.equal(used.gradient, fresh.gradient)


def test_memory_for_problems_is_kept_and_grows_where_it_is_too_small():
    room = Room()
    first = room.empty("units", 2, 3, dtype=torch.float32)
    assert first.shape == (2, 3)
    assert room.empty("units", 5, dtype=torch.float32).data_ptr() == first.data_ptr()
    others = room.empty("units", 2, dtype=torch.float64), room.empty("deltas", 2, dtype=torch.float32)
    assert first.data_ptr() not in {each.data_ptr() for each in others}
    assert room.empty("units", 100, dtype=torch.float32).shape == (100,)


@either_precision
def test_compiled_steps_of_adam_are_those_of_torch(dtype):
    rng = generator("gradients", 0)
    one = torch.from_numpy(rng.standard_normal((REPLICAS, 9))).to(dtype)
    other, rate = one.clone(), torch.tensor([0.1, 0.001, 0.0], dtype=dtype)
    compiled, batched = CompiledMoments(one), Moments(other)
    for _ in range(12):
        gradient = torch.from_numpy(rng.standard_normal(one.shape)).to(dtype)
        gradient[:, 3] = 0.0  # an entry whose moments are zero does not move
        compiled.step(one, gradient, rate)
        batched.step(other, gradient, rate)
    torch.testing.assert_close(one, other)
    assert (one[:2] != one[2:]).any()


@pytest.mark.parametrize("body", [Descent, CompiledDescent])
def test_the_last_step_is_taken_and_remembered_without_another_direction(body):
    def bowl(theta):
        return Expansion(2.0 * (theta * theta).sum(dim=1), 4.0 * theta)

    start, ways = torch.ones(1, 3, dtype=torch.float64), []
    for last in (False, True):
        way = body(CompiledMemory(start), start, bowl(start), torch.tensor([True]), torch.ones(1, dtype=torch.float64))
        first, trial = way.direction.clone(), way.trial()
        way.settle(trial, bowl(trial), last=last)
        assert torch.equal(way.direction, first) == last
        ways.append(way)
    assert torch.equal(ways[0].theta, ways[1].theta) and torch.equal(ways[0].memory.kept, ways[1].memory.kept)
    assert not torch.equal(ways[0].theta, start) and ways[1].memory.kept.any()


def test_the_compiled_way_of_lbfgs_is_that_of_torch():
    rng = generator("a bowl", 0)
    root = torch.from_numpy(rng.standard_normal((REPLICAS, 8, 8)))
    hessian = root @ root.mT + 0.1 * torch.eye(8, dtype=torch.float64)

    def bowl(theta):  # with waves, so that steps are refused, and with no value far out
        gradient = torch.einsum("rij,rj->ri", hessian, theta) + 9 * torch.sin(3 * theta)
        value = 0.5 * torch.einsum("ri,rij,rj->r", theta, hessian, theta) - 3 * torch.cos(3 * theta).sum(dim=1)
        return Expansion(torch.where(theta.norm(dim=1) > 12, torch.nan, value), gradient)

    start, moving = 3.0 * torch.from_numpy(rng.standard_normal((REPLICAS, 8))), torch.tensor([True, True, False])
    n_labels = torch.tensor([1.0, 100.0, 1.0], dtype=torch.float64)
    ways = [body(CompiledMemory(start), start, bowl(start), moving, n_labels) for body in (Descent, CompiledDescent)]
    refused = 0
    for _ in range(15):
        for way in ways:
            trial = way.trial()
            before = way.value.clone()
            way.settle(trial, bowl(trial))
            refused += int((way.moving & (way.value == before)).sum())
        batched, compiled = ways
        torch.testing.assert_close(compiled.theta, batched.theta, rtol=0, atol=1e-8)
        at = batched.moving
        torch.testing.assert_close(compiled.length[at], batched.length[at])
        assert torch.equal(compiled.moving, batched.moving)
    assert refused > 2 and batched.finite.all() and (compiled.value[:2] < bowl(start).value[:2]).all()
    assert not moving[2] and torch.equal(compiled.theta[2], start[2])
