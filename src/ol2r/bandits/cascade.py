"""CascadeKL-UCB (Kveton et al., 2015): shows items in the order of their upper confidence bounds."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numba import prange

from ol2r.bandits.base import Bandit
from ol2r.bandits.world import Tape, World, judge, leaf, replica, show, shuffle
from ol2r.compiling import kernel, part
from ol2r.parameters import Choice, Value
from ol2r.random import Stream, word
from ol2r.theory.bandits import exploration, upper_bound

_CLOSE = 1e-10  # bounds that differ by less than this are computed again, to the last bit
_SETTLED = 1e-13  # error of a bound at which Newton's iteration ends
_ITERATIONS = 30


@part
def _entropy(p):
    """p log p + (1 − p) log(1 − p) for 0 < p < 1."""
    return p * np.log(p) + (1.0 - p) * np.log(1.0 - p)


@part
def _bound(p, negative_entropy, budget, guess):
    """`theory.bandits.upper_bound` within 10⁻¹², by Newton's iteration from the previous step's bound.

    d(p, ·) is convex above p, so after its first step the iteration descends to the root and cannot pass it.
    """
    q = guess
    if not p < q < 1.0:
        return upper_bound(p, budget)
    for _ in range(_ITERATIONS):
        above = q - p
        gap = negative_entropy - p * np.log(q) - (1.0 - p) * np.log(1.0 - q) - budget
        change = gap * q * (1.0 - q) / above
        q -= change
        if not p < q < 1.0:
            return upper_bound(p, budget)
        near = min(q - p, 1.0 - q)
        # there g″ / 2g′ < 1 / near: a step that is short beside it leaves an error below change² / near
        if abs(change) < 0.1 * near and change * change < _SETTLED * near:
            return q
    return upper_bound(p, budget)


@leaf
def _before(i, j, bounds, clicked, observed, budget, key, step):
    """Whether item i stands before item j: the larger bound comes first, and equal bounds are in a random order."""
    if abs(bounds[i] - bounds[j]) > _CLOSE:
        return bounds[i] > bounds[j]
    if clicked[i] != clicked[j] or observed[i] != observed[j]:
        a = upper_bound(clicked[i] / observed[i], budget / observed[i])
        b = upper_bound(clicked[j] / observed[j], budget / observed[j])
        if a != b:
            return a > b
    return word(key, Stream.TIES, step, i) < word(key, Stream.TIES, step, j)


@part
def _cascade(world, tape, with_log_log, first_click, shuffled_start, r):
    own = replica(world, r)
    n_items, n_positions = len(own.attraction), len(own.initial)
    clicked = np.zeros(n_items, dtype=np.int64)
    observed = np.zeros(n_items, dtype=np.int64)
    entropy = np.zeros(n_items)  # negative entropy of the mean click rate, while that is neither 0 nor 1
    bounds = np.ones(n_items)
    order = np.arange(n_items)
    until = np.full(n_items, n_items)
    clicks = np.zeros(n_positions, dtype=np.bool_)

    for step in range(1, tape.checkpoints[-1] + 1):
        starting = step <= n_items
        if starting:  # each item once on top
            for k in range(n_items):
                order[k] = k if shuffled_start else (step - 1 + k) % n_items
            if shuffled_start:
                order[0], order[step - 1] = step - 1, 0
                shuffle(order, 1, n_positions, until, own.key, step, 0)
        else:
            budget = exploration(step, with_log_log)
            for i in range(n_items):
                if clicked[i] == 0:
                    bounds[i] = -np.expm1(-budget / observed[i])
                elif clicked[i] < observed[i]:
                    bounds[i] = _bound(clicked[i] / observed[i], entropy[i], budget / observed[i], bounds[i])
                else:
                    bounds[i] = 1.0
            for k in range(1, n_items):  # insertion sort, because the order changes little
                i = order[k]
                place = k
                while place > 0 and _before(i, order[place - 1], bounds, clicked, observed, budget, own.key, step):
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = i
        ranking = order[:n_positions]
        show(own, ranking, step, clicks)

        last = n_positions - 1  # without a click, the whole list was examined
        for k in range(n_positions):
            if clicks[k]:
                last = k
                if first_click:
                    break
        if starting and not shuffled_start:
            last = 0
        for k in range(last + 1):
            i = ranking[k]
            observed[i] += 1
            clicked[i] += clicks[k]
            if 0 < clicked[i] < observed[i]:
                entropy[i] = _entropy(clicked[i] / observed[i])

        judge(own, ranking, step, tape, r)


@kernel
def _cascade_all(world, tape, with_log_log, first_click, shuffled_start):
    for r in prange(len(world.keys)):
        _cascade(world, tape, with_log_log, first_click, shuffled_start, np.int64(r))


class CascadeKLUCB(Bandit):
    """CascadeKL-UCB (Kveton et al., 2015, Algorithm 1): shows the items with the largest upper confidence bounds.

    An item's bound is max {q : T(i) d(ŵ(i), q) ≤ budget}. The first L steps put each item once on top, by number. Items
    with equal bounds stand in a random order.

    Parameters:
        budget: `"log t + 3 log log t"` (the paper) or `"log t"` (public code).
        observed: how far a list counts as examined: down to the `"first click"` (the paper) or the `"last click"`
            (public code); a list without a click counts whole.
        start: the first L steps: `"top"` learns from the top item alone, which is the paper's one sample of each item,
            and shows the others in turn below; `"shuffle"` (public code) shows the others in a random order and learns
            from all observed items.
    """

    name = "CascadeKL-UCB"
    revision = 1
    parameters: ClassVar = {
        "budget": Choice("log t + 3 log log t", "log t"),
        "observed": Choice("first click", "last click"),
        "start": Choice("top", "shuffle"),
    }
    step_seconds = 4.7e-7

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        _cascade_all(
            world,
            tape,
            parameters["budget"] != "log t",
            parameters["observed"] == "first click",
            parameters["start"] == "shuffle",
            seconds=cls.seconds(world, tape),
        )
