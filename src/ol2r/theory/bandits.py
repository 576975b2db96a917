"""Decision rules of item-level click bandits: when a difference of clicks is significant, and the bounds of KL-UCB.

Every function takes numbers and is compiled, so that the bandits' loops and the audits share the same code. As in the
papers, s is the difference of clicks of two items and n the number of steps on which exactly one of them was clicked.
Nothing here knows lists, users or randomness.
"""

import numpy as np

from ol2r.compiling import part

# c of Lattimore et al. (2018), as public code has it; the formula 4 √(2/π) / erf(√2) is 3.34
TOPRANK_C = 3.43


@part
def bubblerank_certain(s, n, log_inverse_delta):
    """Whether s > 2 √(n log(1/δ)), so that the first item counts as more attractive (BubbleRank, lines 9 and 23)."""
    return s > 0 and float(s) * s > 4.0 * log_inverse_delta * n


@part
def bubblerank_event(s, n, drift, log_inverse_delta):
    """Whether s ≥ ρ n − 2 √(n log(1/δ)) with ρ = (α(i) − α(j)) / (α(i) + α(j)) ≥ 0: event E of BubbleRank's Lemma 9 for
    one pair at one step. It implies the lemma's other half, s(j, i) ≤ 2 √(n log(1/δ))."""
    shortfall = drift * n - s
    return shortfall <= 0.0 or shortfall * shortfall <= 4.0 * log_inverse_delta * n


@part
def toprank_certain(s, n, log_scale):
    """Whether s ≥ √(2 n log((c/δ) √n)) and n > 0, given log(c/δ), so that TopRank prefers the first item."""
    if s <= 0:
        return False
    square = float(s) * s
    return square >= 2.0 * n * log_scale and square >= n * (2.0 * log_scale + np.log(float(n)))


@part
def exploration(t, with_log_log):
    """Budget of KL-UCB at step t: log t + 3 log log t (0 where that is negative), or log t alone."""
    if t < 2:
        return 0.0
    log_t = np.log(float(t))
    return max(0.0, log_t + 3.0 * np.log(log_t)) if with_log_log else log_t


@part
def divergence(p, q):
    """The Kullback–Leibler divergence of two coins, d(p, q) = p log(p/q) + (1 − p) log((1 − p)/(1 − q))."""
    result = 0.0
    if p > 0.0:
        result += p * np.log(p / q) if q > 0.0 else np.inf
    if p < 1.0:
        result += (1.0 - p) * np.log((1.0 - p) / (1.0 - q)) if q < 1.0 else np.inf
    return result


@part
def upper_bound(p, budget):
    """The largest q in [p, 1] with d(p, q) ≤ budget, to the last bit by bisection."""
    if p >= 1.0:
        return 1.0
    if p <= 0.0:
        return -np.expm1(-budget)
    low, high = p, 1.0
    while True:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            return low
        if divergence(p, middle) <= budget:
            low = middle
        else:
            high = middle


@part
def lower_bound(p, budget):
    """The smallest q in [0, p] with d(p, q) ≤ budget, by `upper_bound` with heads and tails exchanged. A p below the
    spacing of numbers next to 1 is lost in 1 − p; the bound then is p itself or 0."""
    return min(p, 1.0 - upper_bound(1.0 - p, budget))
