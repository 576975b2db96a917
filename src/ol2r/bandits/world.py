"""The inputs of a bandit's compiled loop, and the functions that show lists and evaluate each step.

The bandits decide from clicks alone. Attractions are here because each step is evaluated as it is played, so that
even a run of five million steps stores nothing but its checkpoints.
"""

from typing import NamedTuple

import numpy as np

from ol2r.clicks import expected_reward, item_clicks
from ol2r.compiling import part
from ol2r.random import Stream, block

# decorator for functions that a loop calls at every step: they are inlined, and do not count references to arrays that
# the loop holds anyway, which would take most of a step's time; such a function must not allocate
leaf = part(forceinline=True, _nrt=False)


class World(NamedTuple):
    """All replicas of a call, padded to the longest; each replica has its own numbers of items L and positions K."""

    keys: np.ndarray  # uint64[R]
    kind: np.ndarray  # int64[R], of the click model
    items: np.ndarray  # int64[R], L
    positions: np.ndarray  # int64[R], K ≤ L
    attraction: np.ndarray  # float64[R, most items]
    position: np.ndarray  # float64[R, most positions], of the click model
    initial: np.ndarray  # int64[R, most positions], the initial list R₀
    better: np.ndarray  # uint64[R, most items, words], a set bit for each strictly more attractive item
    optimum: np.ndarray  # float64[R], reward of the best list
    ideal: np.ndarray  # float64[R], DCG of the best list
    base: np.ndarray  # int64[R], |V(R₀)|
    cut: int  # number of positions that count for reward and NDCG
    discount: np.ndarray  # float64[cut], 1 / log₂(k + 1) of position k = 1, 2, …


class Tape(NamedTuple):
    """The results at each checkpoint, one row for each replica (see `Trace`)."""

    checkpoints: np.ndarray  # int64[C]
    regret: np.ndarray  # float64[R, C]
    violations: np.ndarray  # int64[R, C]
    excess: np.ndarray  # int64[R, C]
    ndcg: np.ndarray  # float64[R, C]
    shown: np.ndarray  # int64[R, C, most positions], padded with −1
    diagnostics: np.ndarray  # int64[R, C, number of them]


class Replica(NamedTuple):
    """One replica's part of the world, and the sums with which its steps are evaluated."""

    key: np.uint64
    kind: int
    attraction: np.ndarray  # float64[L]
    position: np.ndarray
    initial: np.ndarray  # int64[K]
    better: np.ndarray  # uint64[L, words]
    optimum: float
    ideal: float
    cut: int
    discount: np.ndarray
    base: int  # |V(R₀)|
    last: np.ndarray  # int64[K], the previous step's list
    gap: np.ndarray  # float64[2]: regret and NDCG of that list
    total: np.ndarray  # float64[2]: regret so far, NDCG summed since the last checkpoint
    count: np.ndarray  # int64[4]: last list's inversions beyond R₀'s, their maximum, violations, checkpoints passed


@part
def _ones(bits):
    """How many bits of a uint64 are set."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@leaf
def inversions(ranking, better):
    """|V(R)|: number of pairs of items in which the strictly more attractive item is not above the other.

    A hidden item counts as below all displayed items; items of equal attraction have no wrong order.
    """
    wrong = 0
    for w in range(better.shape[1]):  # 64 items at a time
        above = np.uint64(0)
        for k in range(len(ranking)):
            item = ranking[k]
            wrong += _ones(better[item, w] & ~above)
            if item >> 6 == w:
                above |= np.uint64(1) << np.uint64(item & 63)
    return wrong


@leaf
def discounted_gain(ranking, attraction, discount):
    """DCG of the first positions with the attraction as gain: Σ α(R(k)) · discount(k)."""
    result = 0.0
    for k in range(min(len(discount), len(ranking))):
        result += attraction[ranking[k]] * discount[k]
    return result


@part
def replica(world, r):
    """Replica r's part of the world, before its first step."""
    n_items, n_positions = world.items[r], world.positions[r]
    attraction = world.attraction[r, :n_items]
    better = world.better[r, :n_items]
    initial = world.initial[r, :n_positions]
    return Replica(
        world.keys[r],
        world.kind[r],
        attraction,
        world.position[r, :n_positions],
        initial,
        better,
        world.optimum[r],
        world.ideal[r],
        world.cut,
        world.discount,
        world.base[r],
        np.full(n_positions, -1, dtype=np.int64),
        np.zeros(2),
        np.zeros(2),
        np.zeros(4, dtype=np.int64),
    )


@leaf
def show(own, ranking, step, clicks):
    """Display a list at a step, counted from 1, and fill in its clicks."""
    item_clicks(own.kind, own.attraction, own.position, ranking, own.key, step, clicks)


@leaf
def judge(own, ranking, step, tape, r):
    """Add the displayed list to the replica's sums. Returns the number of the checkpoint at this step, or −1."""
    n_positions = ranking.shape[0]
    changed = False
    for k in range(n_positions):
        if own.last[k] != ranking[k]:
            changed = True
            break
    if changed:
        for k in range(n_positions):
            own.last[k] = ranking[k]
        reward = expected_reward(own.kind, own.attraction, own.position, ranking, own.cut)
        own.gap[0] = own.optimum - reward
        own.gap[1] = discounted_gain(ranking, own.attraction, own.discount) / own.ideal if own.ideal > 0.0 else 1.0
        own.count[0] = inversions(ranking, own.better) - own.base
        own.count[1] = max(own.count[1], own.count[0])
    own.total[0] += own.gap[0]
    own.total[1] += own.gap[1]
    own.count[2] += 2 * own.count[0] > n_positions
    c = own.count[3]
    if step != tape.checkpoints[c]:
        return -1
    tape.regret[r, c] = own.total[0]
    tape.ndcg[r, c] = own.total[1] / (step - (tape.checkpoints[c - 1] if c > 0 else 0))
    tape.excess[r, c] = own.count[1]
    tape.violations[r, c] = own.count[2]
    for k in range(n_positions):
        tape.shown[r, c, k] = ranking[k]
    own.total[1] = 0.0
    own.count[3] += 1
    return c


@leaf
def shuffle(order, first, last, until, key, step, offset):
    """Shuffle positions first … last − 1 of `order` by Fisher and Yates.

    Position k draws uniformly from k … until[k] − 1, by word offset + k of the stream, unless it has no choice.
    """
    number = -1
    w0 = w1 = w2 = w3 = np.uint32(0)
    for k in range(first, last):
        left = until[k] - k
        if left > 1:
            index = offset + k
            if index >> 2 != number:
                number = index >> 2
                w0, w1, w2, w3 = block(key, Stream.BANDIT_SHUFFLE, step, number)
            lane = index & 3
            bits = w0 if lane == 0 else w1 if lane == 1 else w2 if lane == 2 else w3
            other = k + np.int64((np.uint64(bits) * np.uint64(left)) >> np.uint64(32))
            order[k], order[other] = order[other], order[k]
