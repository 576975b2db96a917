"""BatchRank (Zoghi et al., 2017): each batch of items has a run of positions; bounds of click rates split batches."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from numba import prange

from ol2r.bandits.base import Bandit
from ol2r.bandits.world import Tape, World, judge, leaf, replica, show, shuffle
from ol2r.compiling import kernel, part
from ol2r.parameters import Choice, Value
from ol2r.theory.bandits import exploration, lower_bound, upper_bound

PUBLIC_CODE = {
    "public code, last click": 0,
    "public code, one past the last click": 1,
    "public code, whole list": -1,
}
"""Public code's stages, by how much of a list is observed: positions past its last click, or the whole list (−1)."""


class State(NamedTuple):
    """The active batches from the top, b = 0, 1, …, and the statistics of their items."""

    items: np.ndarray  # int64[L], batch by batch
    slot: np.ndarray  # int64[K + 1]: batch b has the positions from slot[b] to slot[b + 1]
    begin: np.ndarray  # int64[K]: batch b has the items from begin[b]
    end: np.ndarray  # int64[K]: to end[b]
    stage: np.ndarray  # int64[K], ℓ of each batch
    length: np.ndarray  # float64[K]: how often each item is counted in the stage
    least: np.ndarray  # int64[K], the smallest count of an item in the batch
    waiting: np.ndarray  # int64[K], items that must be counted before `least` changes or the stage ends
    active: np.ndarray  # int64[1], how many batches there are
    clicked: np.ndarray  # int64[L], clicks on an item when it was counted
    count: np.ndarray  # int64[L]
    mean: np.ndarray  # float64[L]
    low: np.ndarray  # float64[L], L of an item
    high: np.ndarray  # float64[L], U of an item
    ranking: np.ndarray  # int64[K], the list of the step
    until: np.ndarray  # int64[L], for `shuffle`


@part
def _begin(n_items, n_positions):
    """The initial state: one batch with all items and positions, before its first stage."""
    slot = np.zeros(n_positions + 1, dtype=np.int64)
    end = np.zeros(n_positions, dtype=np.int64)
    slot[1], end[0] = n_positions, n_items
    return State(
        np.arange(n_items),
        slot,
        np.zeros(n_positions, dtype=np.int64),
        end,
        np.zeros(n_positions, dtype=np.int64),
        np.zeros(n_positions),
        np.zeros(n_positions, dtype=np.int64),
        np.zeros(n_positions, dtype=np.int64),
        np.ones(1, dtype=np.int64),
        np.zeros(n_items, dtype=np.int64),
        np.zeros(n_items, dtype=np.int64),
        np.empty(n_items),
        np.empty(n_items),
        np.empty(n_items),
        np.empty(n_positions, dtype=np.int64),
        np.empty(n_items, dtype=np.int64),
    )


@part
def _bounds(state, items, budget):
    """Compute L and U of some items: confidence bounds of their click rates."""
    for i in items:
        state.mean[i] = state.clicked[i] / state.count[i]
        state.low[i] = lower_bound(state.mean[i], budget / state.count[i])
        state.high[i] = upper_bound(state.mean[i], budget / state.count[i])


@part
def _sort(items, value):
    """Sort items by falling value, then by number."""
    for x in range(1, len(items)):
        i = items[x]
        place = x
        while place > 0:
            other = items[place - 1]
            if value[i] < value[other] or (value[i] == value[other] and i > other):
                break
            items[place] = other
            place -= 1
        items[place] = i


@part
def _split(state, b, k):
    """Split batch b: it keeps its first k positions and items, and the others become batch b + 1 of the same stage."""
    active = state.active[0]
    for c in range(active, b, -1):
        state.slot[c + 1] = state.slot[c]
    for c in range(active - 1, b, -1):
        for each in (state.begin, state.end, state.stage, state.least, state.waiting):
            each[c + 1] = each[c]
        state.length[c + 1] = state.length[c]
    state.active[0] += 1
    state.slot[b + 1] = state.slot[b] + k
    state.begin[b + 1], state.end[b + 1], state.stage[b + 1] = state.begin[b] + k, state.end[b], state.stage[b]
    state.end[b] = state.begin[b] + k


@leaf
def _record(state, tape, r, c):
    """Record BatchRank's diagnostics at checkpoint c."""
    tape.diagnostics[r, c, 0] = state.active[0]
    for b in range(state.active[0]):
        tape.diagnostics[r, c, 1] += state.end[b] - state.begin[b]


# Algorithms 1-4 of the paper


@part
def _stage_length(stage, horizon):
    """n_ℓ = ⌈16 Δ̃_ℓ⁻² log n⌉ with Δ̃_ℓ = 2^−ℓ."""
    return max(1, int(np.ceil(16.0 * 4.0**stage * np.log(float(horizon)))))


@part
def _begin_stage(state, b, stage, horizon):
    """Begin a stage of batch b with all counts at 0."""
    state.stage[b] = stage
    state.length[b] = _stage_length(stage, horizon)
    state.least[b] = 0
    state.waiting[b] = state.end[b] - state.begin[b]
    for i in state.items[state.begin[b] : state.end[b]]:
        state.clicked[i] = state.count[i] = 0


@leaf
def _display(state, b, key, step):
    """DisplayBatch: choose the items displayed least often in the stage, ties at random, and put them on the batch's
    slots in random order. Slot k uses word k, and word K + k for the second draw."""
    items, until, offset = state.items[state.begin[b] : state.end[b]], state.until, state.slot[b]
    out = state.ranking[offset : state.slot[b + 1]]
    size, n_slots = len(items), len(out)
    fresh = 0
    for x in range(size):
        if state.count[items[x]] == state.least[b]:
            items[fresh], items[x] = items[x], items[fresh]
            fresh += 1
    if fresh >= n_slots:  # these items alone fill the slots: one draw is a random choice in a random order
        until[:fresh] = fresh
        shuffle(items, 0, n_slots, until, key, step, offset)
    else:
        until[:size] = size
        shuffle(items, fresh, n_slots, until, key, step, offset)
    for k in range(n_slots):
        out[k] = items[k]
    if fresh < n_slots:
        until[:n_slots] = n_slots
        shuffle(out, 0, n_slots, until, key, step, len(state.ranking) + offset)


@leaf
def _collect(state, b, clicks):
    """CollectClicks: count displays and clicks of the items with the smallest count only, so that counts stay equal."""
    for k in range(state.slot[b], state.slot[b + 1]):
        i = state.ranking[k]
        if state.count[i] == state.least[b]:
            state.count[i] += 1
            state.clicked[i] += clicks[k]
            state.waiting[b] -= 1
    if state.waiting[b] == 0:
        state.least[b] += 1
        state.waiting[b] = state.end[b] - state.begin[b]


@part
def _first_split(items, n_slots, low, high):
    """The lowest position of the batch at which all items above are known to be better than all items below, or 0."""
    highest = 0.0  # the largest upper bound below
    for k in range(len(items) - 1, 0, -1):
        highest = max(highest, high[items[k]])
        if k < n_slots and low[items[k - 1]] > highest:
            return k
    return 0


@part
def _eliminate(state, b):
    """Drop items that are known to be worse than as many other items as the batch has positions."""
    items = state.items[state.begin[b] : state.end[b]]
    threshold = state.low[items[state.slot[b + 1] - state.slot[b] - 1]]
    kept = 0
    for i in items:
        if state.high[i] >= threshold:
            items[kept] = i
            kept += 1
    state.end[b] = state.begin[b] + kept


@part
def _end_stage(state, b, budget, horizon):
    """The rest of UpdateBatch: split the batch, or drop items and go on."""
    items = state.items[state.begin[b] : state.end[b]]
    _bounds(state, items, budget)
    _sort(items, state.low)
    split = _first_split(items, state.slot[b + 1] - state.slot[b], state.low, state.high)
    if split == 0:
        _eliminate(state, b)
        _begin_stage(state, b, state.stage[b] + 1, horizon)
        return 1
    _split(state, b, split)
    _begin_stage(state, b, 0, horizon)
    _begin_stage(state, b + 1, 0, horizon)
    return 2


@leaf
def _update(state, b, budget, horizon):
    """UpdateBatch; returns the number of batches that batch b has become."""
    if state.least[b] < state.length[b]:
        return 1
    return _end_stage(state, b, budget, horizon)


@part
def _batchrank(world, tape, steps, r):
    own = replica(world, r)
    budget = exploration(steps, True)
    clicks = np.zeros(len(own.initial), dtype=np.bool_)
    state = _begin(len(own.attraction), len(own.initial))
    _begin_stage(state, 0, 0, steps)
    for step in range(1, tape.checkpoints[-1] + 1):
        for b in range(state.active[0]):
            _display(state, b, own.key, step)
        show(own, state.ranking, step, clicks)
        for b in range(state.active[0]):
            _collect(state, b, clicks)
        b = 0
        while b < state.active[0]:
            b += _update(state, b, budget, steps)
        c = judge(own, state.ranking, step, tape, r)
        if c >= 0:
            _record(state, tape, r, c)


# public code


@part
def _begin_public_stage(state, b, stage, budget):
    """A stage ends when each item has been observed log(n L) / Δ̃² times since the first step; with one item, never."""
    state.stage[b] = stage
    state.length[b] = 4.0 * 4.0**stage * budget if state.end[b] - state.begin[b] > 1 else np.inf
    state.waiting[b] = 0
    for i in state.items[state.begin[b] : state.end[b]]:
        state.waiting[b] += state.count[i] < state.length[b]


@leaf
def _shuffle(state, b, key, step):
    """Put the batch's items on its slots in random order."""
    items, slot = state.items[state.begin[b] : state.end[b]], state.slot[b]
    state.until[: len(items)] = len(items)
    shuffle(items, 0, state.slot[b + 1] - slot, state.until, key, step, slot)
    for k in range(state.slot[b + 1] - slot):
        state.ranking[slot + k] = items[k]


@leaf
def _observed(clicks, past):
    """Number of observed positions: to `past` positions below the last click; all for −1 or without a click."""
    if past >= 0:
        for k in range(len(clicks) - 1, -1, -1):
            if clicks[k]:
                return min(len(clicks), k + 1 + past)
    return len(clicks)


@leaf
def _observe(state, b, clicks, observed):
    for k in range(state.slot[b], min(state.slot[b + 1], observed)):
        i = state.ranking[k]
        if state.count[i] < state.length[b] <= state.count[i] + 1:
            state.waiting[b] -= 1
        state.count[i] += 1
        state.clicked[i] += clicks[k]


@part
def _split_everywhere(state, b):
    """Split from the bottom up wherever all items above are known to be better; drop items without a position."""
    items, parts = state.items[state.begin[b] : state.end[b]], 1
    highest = 0.0  # the largest upper bound below
    for k in range(len(items) - 1, 0, -1):
        highest = max(highest, state.high[items[k]])
        least = 1.0  # the smallest lower bound above
        for i in items[:k]:
            least = min(least, state.low[i])
        if least <= highest:
            continue
        if k >= state.slot[b + 1] - state.slot[b]:
            state.end[b] = state.begin[b] + k
        else:
            _split(state, b, k)
            parts += 1
    return parts


@part
def _end_public_stage(state, b, budget):
    items = state.items[state.begin[b] : state.end[b]]
    _bounds(state, items, budget)
    _sort(items, state.mean)
    stage = state.stage[b] + 1
    parts = _split_everywhere(state, b)
    for c in range(b, b + parts):
        _begin_public_stage(state, c, stage, budget)
    return parts


@leaf
def _update_public(state, b, budget):
    return 1 if state.waiting[b] > 0 else _end_public_stage(state, b, budget)


@part
def _public_code(world, tape, steps, past, r):
    own = replica(world, r)
    budget = np.log(float(steps) * len(own.attraction))
    clicks = np.zeros(len(own.initial), dtype=np.bool_)
    state = _begin(len(own.attraction), len(own.initial))
    _begin_public_stage(state, 0, 0, budget)
    for step in range(1, tape.checkpoints[-1] + 1):
        for b in range(state.active[0]):
            _shuffle(state, b, own.key, step)
        show(own, state.ranking, step, clicks)
        observed = _observed(clicks, past)
        for b in range(state.active[0]):
            _observe(state, b, clicks, observed)
        b = 0
        while b < state.active[0]:
            b += _update_public(state, b, budget)
        c = judge(own, state.ranking, step, tape, r)
        if c >= 0:
            _record(state, tape, r, c)


@kernel
def _batchrank_all(world, tape, steps):
    for r in prange(len(world.keys)):
        _batchrank(world, tape, steps, np.int64(r))


@kernel
def _public_code_all(world, tape, steps, past):
    for r in prange(len(world.keys)):
        _public_code(world, tape, steps, past, np.int64(r))


class BatchRank(Bandit):
    """BatchRank (Zoghi et al., 2017), by the paper's Algorithms 1-4 or by the public code of its experiments.

    Parameters:
        stages: `"paper"`: a stage has n_ℓ = ⌈16 · 4^ℓ log n⌉ displays and starts with all counts at 0; bounds have the
            budget log n + 3 log log n; a batch is split at most once at the end of a stage. Or one of `PUBLIC_CODE`:
            clicks and displays are counted from the first step on, in any batch; bounds have the budget log(n L); a
            stage ends when each item of the batch has been observed log(n L) / Δ̃² times, Δ̃ = 2^−(ℓ + 1); then the
            items are sorted by click rate, and the batch is split wherever the smallest lower bound above exceeds the
            largest upper bound below. A list is observed down to its last click, one position further, or whole; a list
            without a click is observed whole.

    Diagnostics: `batches`, the number of active batches, and `items`, the number of items in them.
    """

    name = "BatchRank"
    revision = 1
    parameters: ClassVar = {"stages": Choice("paper", *PUBLIC_CODE)}
    diagnostics = ("batches", "items")
    step_seconds = 2.6e-7

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        stages = str(parameters["stages"])
        if stages == "paper":
            _batchrank_all(world, tape, steps, seconds=cls.seconds(world, tape))
        else:
            _public_code_all(world, tape, steps, PUBLIC_CODE[stages], seconds=cls.seconds(world, tape))
