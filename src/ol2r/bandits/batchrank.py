"""BatchRank (Zoghi et al., 2017): batches of items on runs of positions, split where bounds of click rates part."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numba import njit, prange

from ol2r.bandits.base import Bandit, Value
from ol2r.bandits.world import Tape, World, judge, leaf, replica, show, shuffle
from ol2r.theory.bandits import exploration, lower_bound, upper_bound

PUBLIC_CODE = {
    "public code, last click": 0,
    "public code, one past the last click": 1,
    "public code, whole list": -1,
}
"""Public code's stages, by what is learned from a list: positions down to so many past its last click, or all (−1)."""


@njit
def _stage_length(stage, horizon):
    """n_ℓ = ⌈16 Δ̃_ℓ⁻² log n⌉ with Δ̃_ℓ = 2^−ℓ."""
    return max(1, int(np.ceil(16.0 * 4.0**stage * np.log(float(horizon)))))


@leaf
def _display(items, count, least, n_slots, out, until, key, step, offset, n_positions):
    """DisplayBatch: those displayed least often in the stage, equal ones at random, on the batch's slots in random
    order. `items` is rearranged; slot k uses word offset + k, and word n_positions + offset + k for the second draw."""
    size = len(items)
    fresh = 0
    for x in range(size):
        if count[items[x]] == least:
            items[fresh], items[x] = items[x], items[fresh]
            fresh += 1
    if fresh >= n_slots:  # they fill the batch: one draw is a random choice in a random order
        until[:fresh] = fresh
        shuffle(items, 0, n_slots, until, key, step, offset)
    else:
        until[:size] = size
        shuffle(items, fresh, n_slots, until, key, step, offset)
    for k in range(n_slots):
        out[k] = items[k]
    if fresh < n_slots:
        until[:n_slots] = n_slots
        shuffle(out, 0, n_slots, until, key, step, n_positions + offset)


@njit
def _batchrank(world, tape, steps, r):
    own = replica(world, r)
    n_items, n_positions = len(own.attraction), len(own.initial)
    budget = exploration(steps, True)
    clicked = np.zeros(n_items, dtype=np.int64)  # of each item in its batch's stage
    count = np.zeros(n_items, dtype=np.int64)
    low = np.empty(n_items)
    high = np.empty(n_items)
    until = np.empty(n_items, dtype=np.int64)
    ranking = np.empty(n_positions, dtype=np.int64)
    clicks = np.zeros(n_positions, dtype=np.bool_)

    # active batches from the top: the positions from slot[b] to slot[b + 1], the items from begin[b] to end[b]
    items = np.arange(n_items)
    slot = np.zeros(n_positions + 1, dtype=np.int64)
    begin = np.zeros(n_positions, dtype=np.int64)
    end = np.zeros(n_positions, dtype=np.int64)
    stage = np.zeros(n_positions, dtype=np.int64)
    length = np.zeros(n_positions, dtype=np.int64)
    least = np.zeros(n_positions, dtype=np.int64)
    waiting = np.zeros(n_positions, dtype=np.int64)  # items displayed `least` times
    active = 1
    slot[1], end[0], waiting[0] = n_positions, n_items, n_items
    length[0] = _stage_length(0, steps)

    for step in range(1, tape.checkpoints[-1] + 1):
        for b in range(active):
            _display(
                items[begin[b] : end[b]],
                count,
                least[b],
                slot[b + 1] - slot[b],
                ranking[slot[b] : slot[b + 1]],
                until,
                own.key,
                step,
                slot[b],
                n_positions,
            )
        show(own, ranking, step, clicks)

        b = 0
        while b < active:
            for k in range(slot[b], slot[b + 1]):  # CollectClicks
                i = ranking[k]
                if count[i] == least[b]:
                    count[i] += 1
                    clicked[i] += clicks[k]
                    waiting[b] -= 1
            if waiting[b] == 0:
                least[b] += 1
                waiting[b] = end[b] - begin[b]
            if least[b] < length[b]:
                b += 1
                continue

            # UpdateBatch: the items by lower bound, then by number
            own_items = items[begin[b] : end[b]]
            for i in own_items:
                mean = clicked[i] / length[b]
                low[i] = lower_bound(mean, budget / length[b])
                high[i] = upper_bound(mean, budget / length[b])
                clicked[i] = 0
                count[i] = 0
            for x in range(1, len(own_items)):
                i = own_items[x]
                place = x
                while place > 0 and (
                    low[i] > low[own_items[place - 1]]
                    or (low[i] == low[own_items[place - 1]] and i < own_items[place - 1])
                ):
                    own_items[place] = own_items[place - 1]
                    place -= 1
                own_items[place] = i
            n_slots = slot[b + 1] - slot[b]
            split = 0
            highest = 0.0  # the largest upper bound below
            for k in range(len(own_items) - 1, 0, -1):
                highest = max(highest, high[own_items[k]])
                if k < n_slots and low[own_items[k - 1]] > highest:
                    split = k
                    break
            if split == 0:
                kept = 0
                threshold = low[own_items[n_slots - 1]]
                for i in own_items:
                    if high[i] >= threshold:
                        own_items[kept] = i
                        kept += 1
                end[b] = begin[b] + kept
                stage[b] += 1
            else:
                for c in range(active, b, -1):
                    slot[c + 1] = slot[c]
                for c in range(active - 1, b, -1):
                    begin[c + 1], end[c + 1], stage[c + 1] = begin[c], end[c], stage[c]
                    length[c + 1], least[c + 1], waiting[c + 1] = length[c], least[c], waiting[c]
                active += 1
                slot[b + 1] = slot[b] + split
                begin[b + 1], end[b + 1] = begin[b] + split, end[b]
                end[b] = begin[b] + split
                stage[b] = stage[b + 1] = 0
            for c in range(b, b + (1 if split == 0 else 2)):
                length[c] = _stage_length(stage[c], steps)
                least[c] = 0
                waiting[c] = end[c] - begin[c]
            b += 1 if split == 0 else 2

        c = judge(own, ranking, step, tape, r)
        if c >= 0:
            tape.diagnostics[r, c, 0] = active
            tape.diagnostics[r, c, 1] = end[:active].sum() - begin[:active].sum()


@njit
def _public_code(world, tape, steps, past, r):
    own = replica(world, r)
    n_items, n_positions = len(own.attraction), len(own.initial)
    budget = np.log(float(steps) * n_items)
    clicked = np.zeros(n_items, dtype=np.int64)  # of each item, from the first step on
    count = np.zeros(n_items, dtype=np.int64)
    mean = np.empty(n_items)
    low = np.empty(n_items)
    high = np.empty(n_items)
    until = np.empty(n_items, dtype=np.int64)
    ranking = np.empty(n_positions, dtype=np.int64)
    clicks = np.zeros(n_positions, dtype=np.bool_)

    # active batches from the top: the positions from slot[b] to slot[b + 1], the items from begin[b] to end[b]
    items = np.arange(n_items)
    slot = np.zeros(n_positions + 1, dtype=np.int64)
    begin = np.zeros(n_positions, dtype=np.int64)
    end = np.zeros(n_positions, dtype=np.int64)
    stage = np.zeros(n_positions, dtype=np.int64)
    length = np.zeros(n_positions)  # of the stage, in observations of each item; never to end where there is one item
    waiting = np.zeros(n_positions, dtype=np.int64)  # items observed less often
    active = 1
    slot[1], end[0], waiting[0] = n_positions, n_items, n_items
    length[0] = 4.0 * budget if n_items > 1 else np.inf

    for step in range(1, tape.checkpoints[-1] + 1):
        for b in range(active):
            own_items = items[begin[b] : end[b]]
            until[: len(own_items)] = len(own_items)
            n_slots = slot[b + 1] - slot[b]
            shuffle(own_items, 0, n_slots, until, own.key, step, slot[b])
            for k in range(n_slots):
                ranking[slot[b] + k] = own_items[k]
        show(own, ranking, step, clicks)

        learned = n_positions  # also where nothing was clicked
        if past >= 0:
            for k in range(n_positions - 1, -1, -1):
                if clicks[k]:
                    learned = min(n_positions, k + 1 + past)
                    break
        for b in range(active):
            for k in range(slot[b], min(slot[b + 1], learned)):
                i = ranking[k]
                if count[i] < length[b] <= count[i] + 1:
                    waiting[b] -= 1
                count[i] += 1
                clicked[i] += clicks[k]

        b = 0
        while b < active:
            if waiting[b] > 0:
                b += 1
                continue
            own_items = items[begin[b] : end[b]]
            for i in own_items:
                mean[i] = clicked[i] / count[i]
                low[i] = lower_bound(mean[i], budget / count[i])
                high[i] = upper_bound(mean[i], budget / count[i])
            for x in range(1, len(own_items)):  # by rate of clicks, then by number
                i = own_items[x]
                place = x
                while place > 0 and (
                    mean[i] > mean[own_items[place - 1]]
                    or (mean[i] == mean[own_items[place - 1]] and i < own_items[place - 1])
                ):
                    own_items[place] = own_items[place - 1]
                    place -= 1
                own_items[place] = i
            # all splits at once, from the bottom up: what is split off below the last position is never shown again
            first, parts = begin[b], 1
            highest = 0.0  # the largest upper bound below
            for k in range(len(own_items) - 1, 0, -1):
                highest = max(highest, high[own_items[k]])
                least = 1.0  # the smallest lower bound above
                for i in own_items[:k]:
                    least = min(least, low[i])
                if least <= highest:
                    continue
                if slot[b] + k >= slot[b + 1]:
                    end[b] = first + k
                    continue
                for c in range(active, b, -1):
                    slot[c + 1] = slot[c]
                for c in range(active - 1, b, -1):
                    begin[c + 1], end[c + 1], stage[c + 1] = begin[c], end[c], stage[c]
                    length[c + 1], waiting[c + 1] = length[c], waiting[c]
                active += 1
                parts += 1
                slot[b + 1] = slot[b] + k
                begin[b + 1], end[b + 1], stage[b + 1] = first + k, end[b], stage[b]
                end[b] = first + k
            for c in range(b, b + parts):
                stage[c] += 1
                length[c] = 4.0 * 4.0 ** stage[c] * budget if end[c] - begin[c] > 1 else np.inf
                waiting[c] = 0
                for i in items[begin[c] : end[c]]:
                    waiting[c] += count[i] < length[c]
            b += parts

        c = judge(own, ranking, step, tape, r)
        if c >= 0:
            tape.diagnostics[r, c, 0] = active
            tape.diagnostics[r, c, 1] = end[:active].sum() - begin[:active].sum()


@njit(parallel=True, cache=True)
def _batchrank_all(world, tape, steps):
    for r in prange(len(world.keys)):
        _batchrank(world, tape, steps, np.int64(r))


@njit(parallel=True, cache=True)
def _public_code_all(world, tape, steps, past):
    for r in prange(len(world.keys)):
        _public_code(world, tape, steps, past, np.int64(r))


class BatchRank(Bandit):
    """BatchRank (Zoghi et al., 2017, Algorithms 1-4), and as the public code of its experiments has it.

    Parameters:
        stages: `"paper"`: stages of n_ℓ = ⌈16 · 4^ℓ log n⌉ displays, each of which starts from nothing; bounds of
            budget log n + 3 log log n; at most one split at the end of a stage. Or one of `PUBLIC_CODE`: clicks and
            displays are counted from the first step on, whatever the batch; bounds have the budget log(n L); a stage
            ends when each item of the batch has been observed log(n L) / Δ̃² times, Δ̃ = 2^−(ℓ + 1); then the items are
            sorted by their rate of clicks, and the batch is split wherever the smallest lower bound above exceeds the
            largest upper bound below. A list is observed down to its last click, one position further, or whole; it is
            observed whole where it has no click.

    Diagnostics: `batches` that are active, and `items` that they hold.
    """

    name = "BatchRank"
    revision = 1
    words: ClassVar = {"stages": ("paper", *PUBLIC_CODE)}
    diagnostics = ("batches", "items")
    step_seconds = 2.6e-7

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        stages = str(parameters["stages"])
        if stages == "paper":
            _batchrank_all(world, tape, steps)
        else:
            _public_code_all(world, tape, steps, PUBLIC_CODE[stages])
