"""The memory of L-BFGS: both bodies against the two loops over a plain list of steps."""

import pytest
import torch

from ol2r.networks.memory import CompiledMemory, Memory, memory_of
from ol2r.random import generator

either_body = pytest.mark.parametrize("body", [Memory, CompiledMemory])


def two_loops(pairs, gradient):
    """H g by the two loops of L-BFGS (Nocedal, 1980), with the newest pair's γ."""
    q, shares = gradient.clone(), []
    for s, y in reversed(pairs):
        shares.append((s @ q) / (s @ y))
        q -= shares[-1] * y
    s, y = pairs[-1]
    q *= (s @ y) / (y @ y)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        q += (share - (y @ q) / (s @ y)) * s
    return q


@either_body
def test_directions_are_those_of_the_two_loops(body):
    rng, p = generator("steps", 0), 20
    memory = body(torch.zeros(2, p, dtype=torch.float64), 5)
    root = torch.from_numpy(rng.standard_normal((2, p, p)))
    hessian, pairs = root @ root.mT + torch.eye(p), [[], []]
    gradient, along = torch.zeros(2, p, dtype=torch.float64), None
    for turn in range(14):
        step = torch.from_numpy(rng.standard_normal((2, p)))
        change = torch.einsum("rij,rj->ri", hessian, step)
        taken = torch.tensor([True, turn % 3 > 0])
        if turn == 7:
            change[0] *= -1  # taken, but not to be remembered
        along = memory.products(gradient) if along is None else along
        along = memory.add(step, change, taken, gradient, along)
        gradient = torch.where(taken[:, None], gradient + change, gradient)
        wanted = memory.products(gradient)
        torch.testing.assert_close(along, wanted, rtol=0, atol=1e-12 * float(wanted.abs().sum()))
        direction, slope = memory.direction(gradient, along)
        for r in range(2):
            if taken[r] and not (turn == 7 and r == 0):
                pairs[r] = [*pairs[r], (step[r], change[r])][-5:]
            if pairs[r]:
                wanted = -two_loops(pairs[r], gradient[r])
                torch.testing.assert_close(direction[r], wanted, rtol=0, atol=1e-9 * float(wanted.abs().max()))
                torch.testing.assert_close(slope[r], gradient[r] @ wanted, rtol=1e-8, atol=0)


@either_body
def test_with_nothing_remembered_the_direction_is_steepest_descent_of_length_one_at_most(body):
    memory = body(torch.zeros(2, 4, dtype=torch.float64))
    gradient = torch.tensor([[3.0, 0.0, 4.0, 0.0], [0.0, 0.1, 0.0, 0.0]], dtype=torch.float64)
    direction, slope = memory.direction(gradient, memory.products(gradient))
    torch.testing.assert_close(direction, -gradient / torch.tensor([[5.0], [1.0]]))
    torch.testing.assert_close(slope, torch.tensor([-5.0, -0.01], dtype=torch.float64))


@either_body
def test_a_step_that_was_refused_changes_no_digit_of_the_next_direction(body):
    rng = generator("refused", 0)
    memory = body(torch.zeros(1, 8, dtype=torch.float64))
    step, change, gradient, bad = torch.from_numpy(rng.standard_normal((4, 1, 8)))
    along = memory.add(step, step + 0.1 * change, torch.tensor([True]), gradient, memory.products(gradient))
    before = memory.direction(gradient, along)
    along = memory.add(bad, change, torch.tensor([False]), gradient, along)
    after = memory.direction(gradient, along)
    assert torch.equal(before[0], after[0]) and torch.equal(before[1], after[1])


@either_body
def test_a_direction_that_would_lead_uphill_is_steepest_descent_instead(body):
    memory = body(torch.zeros(1, 2, dtype=torch.float64))
    gradient = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    step, change = torch.tensor([[1.0, 1.0]], dtype=torch.float64), torch.tensor([[1.0, 1.0]], dtype=torch.float64)
    along = memory.add(step, change, torch.tensor([True]), gradient, memory.products(gradient))
    memory.gamma.neg_()
    if body is Memory:
        memory.inverse.neg_()
    direction, slope = memory.direction(gradient, along)
    assert torch.equal(direction, -gradient) and float(slope) == -1.0


def test_a_step_that_was_not_taken_is_forgotten_even_where_it_is_not_finite():
    for body in (Memory, CompiledMemory):
        memory = body(torch.zeros(2, 3, dtype=torch.float64))
        bad = torch.tensor([[torch.nan] * 3, [1.0] * 3], dtype=torch.float64)
        gradient = torch.ones(2, 3, dtype=torch.float64)
        memory.add(bad, bad, torch.tensor([False, True]), gradient, memory.products(gradient))
        direction, slope = memory.direction(gradient, memory.products(gradient))
        assert direction.isfinite().all() and (slope < 0).all()
        assert memory.oldest.tolist() == [0, 1]


def test_few_passes_need_few_steps_and_many_no_more_than_sixty():
    theta = torch.zeros(1, 3)
    assert [memory_of(theta, passes).kept.shape[2] - 1 for passes in (2, 4, 10, 20)] == [12, 24, 60, 60]
