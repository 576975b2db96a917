"""TopRank (Lattimore et al., 2018): comparisons sort items into blocks, and each block is shown in random order."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numba import prange

from ol2r.bandits.base import Bandit
from ol2r.bandits.world import Tape, World, judge, replica, show, shuffle
from ol2r.compiling import kernel, part
from ol2r.parameters import Number, Value
from ol2r.theory.bandits import TOPRANK_C, toprank_certain


@part
def _partition(worse, order, first, until):
    """Lines 3-6 of Algorithm 1: the next block has every remaining item that is worse than no other remaining item.

    Items stand by number within a block. If comparisons contradict each other (an event of probability at most δ L²),
    there may be no such item; all remaining items are then one block.
    """
    n_items = len(order)
    taken = np.zeros(n_items, dtype=np.bool_)
    placed = 0
    while placed < n_items:
        begin = placed
        for i in range(n_items):
            if taken[i]:
                continue
            least = True
            for j in range(n_items):
                if worse[i, j] and not taken[j]:
                    least = False
                    break
            if least:
                order[placed] = i
                placed += 1
        if placed == begin:
            for i in range(n_items):
                if not taken[i]:
                    order[placed] = i
                    placed += 1
        for k in range(begin, placed):
            taken[order[k]] = True
            first[k] = begin
            until[k] = placed


@part
def _toprank(world, tape, steps, exponent, r):
    own = replica(world, r)
    n_items, n_positions = len(own.attraction), len(own.initial)
    log_scale = np.log(TOPRANK_C) + exponent * np.log(float(steps))
    s = np.zeros((n_items, n_items), dtype=np.int64)
    n = np.zeros((n_items, n_items), dtype=np.int64)
    worse = np.zeros((n_items, n_items), dtype=np.bool_)  # G: [j, i] if j is known to be worse than i
    order = np.empty(n_items, dtype=np.int64)
    first = np.empty(n_items, dtype=np.int64)  # first place of the block that holds each place in the order
    until = np.empty(n_items, dtype=np.int64)
    arrangement = np.empty(n_items, dtype=np.int64)
    clicks = np.zeros(n_positions, dtype=np.bool_)
    _partition(worse, order, first, until)
    known = 0

    for step in range(1, tape.checkpoints[-1] + 1):
        for k in range(n_items):
            arrangement[k] = order[k]
        shuffle(arrangement, 0, n_positions, until, own.key, step, 0)
        ranking = arrangement[:n_positions]
        show(own, ranking, step, clicks)

        learned = False
        for a in range(n_positions):
            if clicks[a]:
                i = arrangement[a]
                for b in range(first[a], until[a]):
                    if b >= n_positions or not clicks[b]:  # an item that is not shown is not clicked
                        j = arrangement[b]
                        s[i, j] += 1
                        s[j, i] -= 1
                        n[i, j] += 1
                        n[j, i] += 1
                        if not worse[j, i] and toprank_certain(s[i, j], n[i, j], log_scale):
                            worse[j, i] = True
                            known += 1
                            learned = True
        if learned:
            _partition(worse, order, first, until)

        c = judge(own, ranking, step, tape, r)
        if c >= 0:
            tape.diagnostics[r, c, 0] = known


@kernel
def _toprank_all(world, tape, steps, exponent):
    for r in prange(len(world.keys)):
        _toprank(world, tape, steps, exponent, np.int64(r))


class TopRank(Bandit):
    """TopRank (Lattimore et al., 2018, Algorithm 1).

    Parameters:
        exponent: δ = n^−exponent; public code takes 1 or ½.

    Diagnostics: `known`, the number of pairs of items in G.
    """

    name = "TopRank"
    revision = 1
    parameters: ClassVar = {"exponent": Number(least=0)}
    diagnostics = ("known",)
    step_seconds = 1.1e-7

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        _toprank_all(world, tape, steps, float(parameters["exponent"]), seconds=cls.seconds(world, tape))
