"""BubbleRank (Li et al., 2019), and the initial list shown forever that it is compared with.

Line numbers are those of the paper's Algorithm 1.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numba import njit, prange

from ol2r.bandits.base import Bandit, Value
from ol2r.bandits.world import Tape, World, inversions, judge, leaf, replica, show
from ol2r.random import Stream, block, word
from ol2r.theory.bandits import bubblerank_certain, bubblerank_event


@leaf
def _add(s, n, winner, loser, freeze, log_inverse_delta):
    """Lines 16-19: one step on which only the winner was clicked. False if the pair is decided and so left alone."""
    if freeze and (
        bubblerank_certain(s[winner, loser], n[winner, loser], log_inverse_delta)
        or bubblerank_certain(s[loser, winner], n[winner, loser], log_inverse_delta)
    ):
        return False
    s[winner, loser] += 1
    s[loser, winner] -= 1
    n[winner, loser] += 1
    n[loser, winner] += 1
    return True


@leaf
def _holds(s, n, i, j, attraction, log_inverse_delta):
    """Lemma 9's event for a pair; items of equal attraction cannot be ordered wrongly."""
    a, b = attraction[i], attraction[j]
    if a == b:
        return True
    if a < b:
        i, j = j, i
    return bubblerank_event(s[i, j], n[i, j], abs(a - b) / (a + b), log_inverse_delta)


@njit
def _note_pairs(base, n_positions, randomized):
    """Enter the neighbours of the base list among the pairs that were ever randomized; return how many are new."""
    new = 0
    for k in range(n_positions - 1):
        i, j = min(base[k], base[k + 1]), max(base[k], base[k + 1])
        new += not randomized[i, j]
        randomized[i, j] = True
    return new


@njit
def _bubblerank(world, tape, steps, exponent, doubling_from, freeze, other_parity, r):
    own = replica(world, r)
    n_items, n_positions = len(own.attraction), len(own.initial)
    start = np.empty(n_items, dtype=np.int64)  # R₀, and behind it the items that it does not show
    start[:n_positions] = own.initial
    shown = np.zeros(n_items, dtype=np.bool_)
    shown[own.initial] = True
    behind = n_positions
    for i in range(n_items):
        if not shown[i]:
            start[behind] = i
            behind += 1

    horizon = doubling_from if doubling_from > 0 else steps
    log_inverse_delta = exponent * np.log(float(horizon))
    s = np.zeros((n_items, n_items), dtype=np.int64)
    n = np.zeros((n_items, n_items), dtype=np.int64)
    base = start.copy()
    ranking = np.empty(n_positions, dtype=np.int64)
    clicks = np.zeros(n_positions, dtype=np.bool_)
    randomized = np.zeros((n_items, n_items), dtype=np.bool_)
    pairs = 0
    broken = 0  # the first step on which event E fails
    news = False  # whether any pair may have become decided since the base list was last improved
    moved = True  # whether the base list may have neighbours that it did not have

    for step in range(1, tape.checkpoints[-1] + 1):
        if step > horizon and doubling_from > 0:  # an unknown horizon: back to R₀, the statistics stay
            horizon *= 2
            log_inverse_delta = exponent * np.log(float(horizon))
            base[:] = start
            news = moved = True
        if moved:
            pairs += _note_pairs(base, n_positions, randomized)
        h = (step + other_parity) % 2
        neighbours = (n_positions - h) // 2
        coins, candidate, coin, _ = block(own.key, Stream.BANDIT_FLIP, step, 0)

        # lines 6-10: pair p of positions takes bit p of its words
        for k in range(n_positions):
            ranking[k] = base[k]
        for p in range(neighbours):
            if p > 0 and p & 31 == 0:
                coins = word(own.key, Stream.BANDIT_FLIP, step, p >> 3)
            a = 2 * p + h
            i, j = ranking[a], ranking[a + 1]
            if (coins >> np.uint32(p & 31)) & np.uint32(1) and not bubblerank_certain(
                s[i, j], n[i, j], log_inverse_delta
            ):
                ranking[a], ranking[a + 1] = j, i

        # section 4.3: when the last position has no neighbour, it may meet an item that is not shown
        away = -1
        if n_items > n_positions and (n_positions - h) % 2 == 1:
            last = base[n_positions - 1]
            open_ = 0
            for x in range(n_positions, n_items):
                open_ += not bubblerank_certain(s[last, base[x]], n[last, base[x]], log_inverse_delta)
            if open_ > 0:
                chosen = (np.int64(candidate) * open_) >> 32
                for x in range(n_positions, n_items):
                    if not bubblerank_certain(s[last, base[x]], n[last, base[x]], log_inverse_delta):
                        if chosen == 0:
                            away = base[x]
                            break
                        chosen -= 1
                pairs += not randomized[min(away, last), max(away, last)]
                randomized[min(away, last), max(away, last)] = True
                if coin >> np.uint32(31):
                    ranking[n_positions - 1], away = away, last

        show(own, ranking, step, clicks)  # line 11

        for p in range(neighbours):  # lines 12-19
            a = 2 * p + h
            if clicks[a] != clicks[a + 1]:
                i, j = (ranking[a], ranking[a + 1]) if clicks[a] else (ranking[a + 1], ranking[a])
                if _add(s, n, i, j, freeze, log_inverse_delta):
                    news = True
                    if broken == 0 and not _holds(s, n, i, j, own.attraction, log_inverse_delta):
                        broken = step
        if away >= 0 and clicks[n_positions - 1]:
            i = ranking[n_positions - 1]
            if _add(s, n, i, away, freeze, log_inverse_delta):
                news = True
                if broken == 0 and not _holds(s, n, i, away, own.attraction, log_inverse_delta):
                    broken = step

        moved = False
        if news:  # lines 20-24
            for k in range(n_positions - 1):
                i, j = base[k], base[k + 1]
                if bubblerank_certain(s[j, i], n[j, i], log_inverse_delta):
                    base[k], base[k + 1] = j, i
                    moved = True
            for x in range(n_positions, n_items):
                i, j = base[n_positions - 1], base[x]
                if bubblerank_certain(s[j, i], n[j, i], log_inverse_delta):
                    base[n_positions - 1], base[x] = j, i
                    moved = True
            news = moved  # one sweep may open the way for another

        c = judge(own, ranking, step, tape, r)
        if c >= 0:
            tape.diagnostics[r, c, 0] = inversions(base[:n_positions], own.better)
            tape.diagnostics[r, c, 1] = pairs
            tape.diagnostics[r, c, 2] = broken


@njit(parallel=True, cache=True)
def _bubblerank_all(world, tape, steps, exponent, doubling_from, freeze, other_parity):
    for r in prange(len(world.keys)):
        _bubblerank(world, tape, steps, exponent, doubling_from, freeze, other_parity, np.int64(r))


class BubbleRank(Bandit):
    """BubbleRank (Li et al., 2019, Algorithm 1): exchanges neighbours of a base list until it is sure of their order.

    With fewer positions than items it explores as section 4.3 says: when the last position has no neighbour, a random
    item that is not shown, and not known to be worse, takes its place with probability ½; once an item that is not
    shown is known to be better, the two are exchanged for good.

    Parameters:
        exponent: δ = n^−exponent (4 in section 4.3).
        doubling_from: 0 if the horizon n is known; otherwise the first estimate of it, doubled whenever it is passed.
        freeze: whether the statistics of a pair stay once it is decided (Lemma 7) or go on (Algorithm 1).
        parity: `"algorithm"` takes h = t mod 2 (positions 2 and 3, 4 and 5, … first), `"prose"` the other.

    Diagnostics: `base_inversions` of the base list that follows the step, `pairs` that were ever neighbours in it or
    met in the trial of a hidden item, at least the |P| that were randomized, and `event_broken`, the first step after
    which event E of Lemma 9 no longer held (0: it holds).
    """

    name = "BubbleRank"
    revision = 1
    words: ClassVar = {"freeze": (True, False), "parity": ("algorithm", "prose")}
    least: ClassVar = {"exponent": 0.0, "doubling_from": 0}
    diagnostics = ("base_inversions", "pairs", "event_broken")
    step_seconds = 1.4e-7

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        _bubblerank_all(
            world,
            tape,
            steps,
            float(parameters["exponent"]),
            int(parameters["doubling_from"]),
            bool(parameters["freeze"]),
            int(parameters["parity"] == "prose"),
        )


@njit(parallel=True, cache=True)
def _baseline_all(world, tape):
    for r in prange(len(world.keys)):
        own = replica(world, r)
        for step in range(1, tape.checkpoints[-1] + 1):
            judge(own, own.initial, step, tape, r)


class Baseline(Bandit):
    """The initial list, whatever is clicked."""

    name = "Baseline"
    revision = 1
    step_seconds = 1e-8

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        _baseline_all(world, tape)
