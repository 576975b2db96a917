"""Bounds on BubbleRank's safety and regret: the lemmas and the theorem of Li et al. (2019), and sharper versions.

As in the paper, s is the difference of clicks of two items, n the number of steps on which exactly one of them was
clicked while they were compared, K the number of items and positions, |V₀| the number of pairs that the initial list
has in the wrong order, and ℓ = log(1/δ). *The best list* R* lists items by falling attraction. The tests that the
algorithm makes in a step are in `bandits`. Functions named `printed_…` are the paper's statements to the letter, where
something else is proved here; the chapter `bubblerank` has the statements, the proofs and the list of errata. Nothing
here knows lists, users or randomness.
"""

from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np

Numbers = float | np.ndarray


def examination_in_cascade(shown: np.ndarray, leaving: Numbers = 1.0) -> np.ndarray:
    """χ(R, k) = ∏_{i<k} (1 − v(i) α(R(i))), where a user leaves after a click at position i with probability v(i).

    The printed DCM has ∏ (1 − v(i)) α(R(i)), which is not the probability of reaching position k.

    Args:
        shown: Float64[K], α(R(k)) from the top.
        leaving: v, Float64[K]; 1 in the cascade model.

    Returns:
        Float64[K].
    """
    return np.concatenate(([1.0], np.cumprod(1 - leaving * shown)[:-1]))


def examination_extremes(examination: np.ndarray) -> tuple[float, float]:
    """χ_max = χ(R*, 1) and χ_min = χ(R*, K), given χ(R*, ·) of the best list, Float64[K]."""
    return float(examination[0]), float(examination[-1])


def attraction_gap(shown: np.ndarray) -> float:
    """Δ(R) of Eq. (8): the sum of all rises of attraction from a position to the next.

    Args:
        shown: Float64[K], α(R(k)) from the top.
    """
    return float(np.maximum(np.diff(shown), 0.0).sum())


def open_range(shown: np.ndarray) -> float:
    """|U(R)|, length of the union of all intervals [α(R(k)), α(R(k + 1))) in which attraction rises; at most Δ(R).

    Args:
        shown: Float64[K], α(R(k)) from the top.
    """
    rises = sorted((a, b) for a, b in pairwise(shown) if b > a)
    total, end = 0.0, -np.inf
    for a, b in rises:
        total += max(0.0, b - max(a, end))
        end = max(end, b)
    return float(total)


def displacement(earned: np.ndarray, n_positions: int) -> float:
    """S with r(R*) − r(R) ≤ S |U(R)|: Σ_{k<m} (w_k − w_{k+1}) min(k, K − k) + w_m min(m, K − m).

    The reward r counts the first m positions, and w_k is the reward of a unit of attraction at position k of the best
    list: χ(R*, k) in the CM and the PBM, v(k) χ(R*, k) in the DCM (bubblerank-lem-list). S is at most ⌊K/2⌋ w_1. With
    m = K only differences of w count: if all positions earn the same, so do all lists of the same items.

    Args:
        earned: w, Float64[m], falling or constant.
        n_positions: K ≥ m.
    """
    k = np.arange(1, len(earned) + 1)
    return float(-np.diff(earned, append=0.0) @ np.minimum(k, n_positions - k))


def printed_list_regret(gap: Numbers, n_positions: int, largest: float) -> Numbers:
    """Lemma 3: r(R*) − r(R) ≤ K χ_max Δ(R).

    Args:
        gap: Δ(R), `attraction_gap`.
        n_positions: K.
        largest: χ_max.
    """
    return n_positions * largest * gap


def drift(better: Numbers, worse: Numbers) -> Numbers:
    """ρ = (α(i) − α(j)) / (α(i) + α(j)) of Lemma 8: how far a click on just one of two neighbours favours i.

    Args:
        better: α(i) > 0; worse: α(j) ≤ α(i).
    """
    return (better - worse) / (better + worse)


def safe_inversions(inversions: int, n_positions: int) -> float:
    """Lemma 2: on event E every displayed list has at most |V₀| + K/2 pairs in the wrong order."""
    return inversions + n_positions / 2


@overload
def randomized_pairs(n_positions: int, inversions: int) -> int: ...
@overload
def randomized_pairs(n_positions: int | np.ndarray, inversions: np.ndarray) -> np.ndarray: ...
def randomized_pairs(n_positions, inversions):
    """Lemma 6: on event E at most K − 1 + 2|V₀| pairs are ever randomized.

    Each exchange in the base list makes at most two new pairs of neighbours and, on E, removes one of the |V₀| wrong
    pairs. With the number of exchanges in place of |V₀|, the bound holds on any event.
    """
    return n_positions - 1 + 2 * inversions


def printed_net_clicks(drift: Numbers, log_inverse_delta: float) -> Numbers:
    """Lemma 7: 15 ℓ/ρ, a bound on s_n(i, j) on event E, where i is better than j and δ ≤ 1/e.

    The lemma is false for Algorithm 1 as printed, whose s goes on growing once the pair is decided.
    """
    return 15 * log_inverse_delta / drift


def net_clicks(drift: Numbers, log_inverse_delta: float, frozen: bool) -> Numbers:
    """Bound on a pair's net clicks before it is decided for good, for any δ < 1 (bubblerank-lem-evidence).

    If the statistics of decided pairs are frozen, 8 ℓ/ρ + 1, which bounds s. If they go on, 16 ℓ/ρ + 1, which bounds
    Σ E[z | z ≠ 0] over the comparisons up to the last on which the pair is undecided.

    Args:
        drift: ρ.
        log_inverse_delta: ℓ.
        frozen: whether the statistics of decided pairs are frozen.
    """
    return (8 if frozen else 16) * log_inverse_delta / drift + 1


def printed_event_failure(n_positions: int, steps: float, log_inverse_delta: Numbers) -> Numbers:
    """Lemma 9: event E fails within n steps with probability at most δ^½ K² n."""
    return n_positions**2 * steps * np.exp(-log_inverse_delta / 2)


def event_failure(n_positions: int, steps: int, log_inverse_delta: Numbers) -> Numbers:
    """Lemma 9 with Hoeffding's constant: event E fails with probability at most δ² ⌈n/2⌉ K(K − 1)/2.

    z is −1 or 1, a range of 2, so a tail is exp(−2 · 4nℓ/(4n)); a pair is compared in every second step at most; and
    one half of E implies the other (bubblerank-thm-event).
    """
    return n_positions * (n_positions - 1) / 2 * ((steps + 1) // 2) * np.exp(-2 * log_inverse_delta)


class RegretBound(NamedTuple):
    """A bound on expected regret, in two terms."""

    leading: float  # regret of the steps up to which event E has held
    failure: float  # regret of all other steps

    def within(self, everything: float) -> float:
        """The smaller of the bound and `everything`, the largest possible regret."""
        return min(everything, self.leading + self.failure)


def printed_regret_bound(
    n_positions: int,
    inversions: int,
    gap: float,
    largest: float,
    least: float,
    log_inverse_delta: float,
    steps: float,
) -> RegretBound:
    """Theorem 1: 180 K (χ_max/χ_min) (K − 1 + 2|V₀|)/Δ_min log(1/δ), and δ^½ K³ n².

    Args:
        n_positions: K.
        inversions: |V₀|.
        gap: Δ_min, the least difference of two attractions; 0 makes the bound infinite.
        largest: χ_max; least: χ_min.
        log_inverse_delta: ℓ.
        steps: n.
    """
    pairs = randomized_pairs(n_positions, inversions)
    failure = n_positions * steps * float(printed_event_failure(n_positions, steps, log_inverse_delta))
    if gap * least == 0:
        return RegretBound(np.inf, failure)
    return RegretBound(180 * n_positions * largest / least * pairs / gap * log_inverse_delta, failure)


def regret_bound(
    shown: np.ndarray,
    earned: np.ndarray,
    least: float,
    log_inverse_delta: float,
    steps: int,
    frozen: bool,
) -> RegretBound:
    """Theorem 1, sharpened, as a sum over pairs (bubblerank-thm-regret). With b = `net_clicks` of a pair and
    S = `displacement`, the two terms are

        (S/χ_min) (2 Σ b over V₀ + ½ Σ of the K − 1 + |V₀| largest b of other pairs), and r(R*) (1 + n P(E fails)).

    Args:
        shown: Float64[K], α(R₀(k)) of the initial list from the top; equal attractions make the bound infinite.
        earned: w, Float64[m], as in `displacement`.
        least: χ_min.
        log_inverse_delta: ℓ.
        steps: n.
        frozen: whether the statistics of decided pairs are frozen.
    """
    n_positions = len(shown)
    best = float(np.sort(shown)[::-1][: len(earned)] @ earned)
    failure = best * (1 + steps * min(1.0, float(event_failure(n_positions, steps, log_inverse_delta))))
    upper, lower = (shown[each] for each in np.triu_indices(n_positions, 1))
    if least == 0 or (upper == lower).any():
        return RegretBound(np.inf, failure)
    rho = drift(np.maximum(upper, lower), np.minimum(upper, lower))
    told = np.asarray(net_clicks(rho, log_inverse_delta, frozen))
    wrong = upper < lower
    others = np.sort(told[~wrong])[::-1][: n_positions - 1 + wrong.sum()]
    leading = displacement(earned, n_positions) / least * (2 * told[wrong].sum() + others.sum() / 2)
    return RegretBound(float(leading), failure)
