"""P²NeurRank's theory: how far perturbed rankers spread, how often one of them is optimistic, and what uncertain orders
cost.

Throughout, as in `confidence`, a *pair* is x = x_i − x_j with ‖x_i‖ ≤ u, A = λI + Σ x xᵀ over the pairs seen (its M),
θ̄ is the fit without noise, θ^(n) that of ranker n, and log_det stands for log(det A/det λI). b = Σ γ x is the noise of
a ranker, with the pseudo-pairs perturbed as in the paper's analysis, so that b ~ N(0, ν² A).

θ^(n) − θ̄ = G⁻¹ b, with G the mean of the Hessian along the way from θ̄ to θ^(n), and cA ⪯ G ⪯ A where c is the least
slope of σ on the way. *Linear response* means that G does not depend on b. The paper gets rid of G by
|xᵀG⁻¹v| ≤ |xᵀA⁻¹v|/c_μ, which is false for v ≠ x, and once more by the reverse. What is proved here beyond Lemma 4.2 is
proved for linear response, and by functions named `curved_…` for every response, with more room. Functions named
`printed_…` are the paper's statements to the letter, for comparison. Nothing here knows rankings or clicks.
"""

from typing import cast

import numpy as np
from scipy import optimize, special

from ol2r.theory import confidence
from ol2r.theory.confidence import LABEL_NOISE, STEEPEST, FloatOrArray, Numbers


def width(
    log_det: FloatOrArray,
    regularization: Numbers,
    bound: Numbers,
    delta: Numbers,
    least: Numbers,
    pseudo_pairs: int = 0,
    noise: float = LABEL_NOISE,
) -> FloatOrArray:
    """α_t of Lemma 4.2, corrected: with probability 1 − δ, |σ(x·θ̄_t) − σ(x·θ*)| ≤ α_t ‖x‖_{A_t⁻¹} for all t and pairs.

    α_t = (k_μ/c_μ) (R √(log_det + 2 log(1/δ)) + √λ Q), PairRank's for a θ̄ inside the ball. The proof's false inequality
    does no harm here: |xᵀG⁻¹v| ≤ ‖x‖_{G⁻¹} ‖v‖_{G⁻¹} ≤ ‖x‖_{A⁻¹} ‖v‖_{A⁻¹}/c_μ by Cauchy and Schwarz.

    Eq. 4.2 as printed has the penalty twice, as λθ and as d pseudo-pairs √λ e_i with label 0. Such pairs are no
    penalty: one adds σ(√λ θ_i) √λ to the gradient, and not λ θ_i. They add √d to the radius, since
    ‖Σ σ(·) √λ e_i‖_{A⁻¹} ≤ √(λd)/√λ; the paper has d, and forgets √λ Q.

    Args:
        log_det: log(det A/det λI), any shape.
        regularization: λ.
        bound: Q.
        delta: δ.
        least: c_μ.
        pseudo_pairs: d if the estimate has the pseudo-pairs of Eq. 4.2, 0 for P²LinRank's own.
        noise: R.
    """
    plain = confidence.width(log_det, regularization, bound, delta, least, projected=False, noise=noise)
    return cast(FloatOrArray, plain + STEEPEST / least * np.sqrt(pseudo_pairs))


def printed_width(
    log_det: FloatOrArray, dimension: int, delta: Numbers, least: Numbers, noise: float = LABEL_NOISE
) -> FloatOrArray:
    """α_t of Lemma 4.2 as printed: (2k_μ/c_μ) (√(R² log(det A/(δ² det λI))) + d); its proof has no factor 2.

    Args:
        log_det: log(det A/det λI), any shape.
        dimension: d.
        delta: δ.
        least: c_μ.
        noise: R.
    """
    factor = 2 * STEEPEST / least
    return cast(FloatOrArray, factor * (confidence.martingale_radius(log_det, delta, noise) + dimension))


def pseudo_gradient(theta: np.ndarray, regularization: float) -> np.ndarray:
    """What the d pseudo-pairs √λ e_i with label 0 add to the gradient of the loss: σ(√λ θ_i) √λ, Float64[d]."""
    root = np.sqrt(regularization)
    return root * special.expit(root * theta)


def response_variance(
    x: np.ndarray, pairs: np.ndarray, regularization: float, noise: float, *, pseudo_pairs: bool = True
) -> np.ndarray:
    """Var[xᵀA⁻¹b] of some vectors: ν² ‖x‖²_{A⁻¹} if the pseudo-pairs are perturbed, ν² (‖x‖²_{A⁻¹} − λ ‖A⁻¹x‖²) if not.

    Args:
        x: Float64[n, d].
        pairs: the pairs seen, each as often as it was labelled, Float64[m, d].
        regularization: λ.
        noise: ν².
        pseudo_pairs: whether they are perturbed.

    Returns:
        Float64[n].
    """
    applied = np.linalg.solve(pairs.T @ pairs + regularization * np.eye(x.shape[1]), x.T).T
    variance = (x * applied).sum(axis=1)
    return noise * (variance if pseudo_pairs else variance - regularization * (applied**2).sum(axis=1))


def optimism_threshold(alpha: FloatOrArray, noise: Numbers) -> FloatOrArray:
    """β, by how many standard deviations a ranker must deviate at most to be optimistic about a pair: α_t/(k_μ ν).

    Let x·θ* > 0. A ranker is optimistic, x·θ^(n) > 0, if x·(θ^(n) − θ̄) > −x·θ̄, which is at most
    |x·(θ̄ − θ*)| ≤ (α_t/k_μ) ‖x‖_{A⁻¹} where Lemma 4.2 holds. With linear response the left side is normal with
    deviation ν √(xᵀG⁻¹AG⁻¹x) ≥ ν ‖x‖_{A⁻¹}, because A ⪰ G.

    Args:
        alpha: α_t of `width`.
        noise: ν².
    """
    return cast(FloatOrArray, alpha / (STEEPEST * np.sqrt(noise)))


def printed_threshold(alpha: FloatOrArray, noise: Numbers, least: Numbers, *, proof: bool = False) -> FloatOrArray:
    """β of Lemma 4.4 as printed, k_μ² α_t²/(c_μ² ν²); or of its proof, the root of that: k_μ α_t/(c_μ ν).

    Args:
        alpha: α_t.
        noise: ν².
        least: c_μ.
        proof: whether to take the proof's.
    """
    root = STEEPEST * alpha / (least * np.sqrt(noise))
    return cast(FloatOrArray, root if proof else root**2)


def upper_tail(beta: FloatOrArray) -> FloatOrArray:
    """P(Z > β) of a standard normal Z."""
    return cast(FloatOrArray, special.ndtr(-np.asarray(beta)))


def printed_tail(beta: FloatOrArray) -> FloatOrArray:
    """exp(−β²)/(4 √π β), Lemma 4.4's lower bound on P(Z > β); it is one only from `printed_tail_from` on."""
    return cast(FloatOrArray, np.exp(-np.square(beta)) / (4 * np.sqrt(np.pi) * beta))


def printed_tail_from() -> float:
    """The β from which on `printed_tail` is at most `upper_tail`: where the two are equal."""
    return cast(float, optimize.brentq(lambda beta: printed_tail(beta) - upper_tail(beta), 0.1, 1.0))


def rankers_needed(beta: FloatOrArray, delta: float, *, printed: bool = False) -> FloatOrArray:
    """The least real N with (1 − P(Z > β))^N ≤ δ: so many rankers and one is optimistic with probability 1 − δ.

    Args:
        beta: `optimism_threshold`, or `printed_threshold`.
        delta: δ.
        printed: whether to take `printed_tail` in place of the tail itself, as Lemma 4.4 does.
    """
    tail = printed_tail(beta) if printed else upper_tail(beta)
    with np.errstate(divide="ignore", over="ignore"):  # where the tail is 0 in double precision no number is enough
        return cast(FloatOrArray, np.log(delta) / np.log1p(-np.minimum(tail, 1.0)))


def log_rankers_needed(beta: FloatOrArray, delta: float, *, printed: bool = False) -> FloatOrArray:
    """log N of `rankers_needed` where it is too large for a number: log(log(1/δ)/P(Z > β)), nearly, for large β.

    As P(Z > β) ≤ ½ for β ≥ 0, N is at least log(1/δ)/log 2 whatever ν is. The printed tail exceeds ½ for β below about
    .25, and then asks for less.

    Args: as in `rankers_needed`.
    """
    at = np.asarray(beta, dtype=float)
    log_tail = -np.square(at) - np.log(4 * np.sqrt(np.pi) * at) if printed else special.log_ndtr(-at)
    # log(1 − e^a) is −e^a where e^a is small
    with np.errstate(divide="ignore"):  # an infinite number has an infinite logarithm
        small = np.log(np.log(1 / delta)) - log_tail
        exact = np.log(rankers_needed(beta, delta, printed=printed))
    return cast(FloatOrArray, np.where(log_tail < -20, small, exact)[()])


def curved_optimism(beta: Numbers, least: Numbers, dimension: int) -> np.ndarray:
    """A lower bound on how often a ranker is optimistic, for every response: E P(Z > β + ½(1/c − 1) χ_{d−1}).

    Split b = s x + r with xᵀA⁻¹r = 0. Along s, x·θ grows by s ‖x‖² or more, because every Hessian is at most A; and
    s ‖x‖² is normal with deviation ν ‖x‖. r is independent of s, ‖r‖ = ν χ_{d−1}, and moves x·θ by
    |xᵀ(G⁻¹ − ½(1/c + 1)A⁻¹)r| ≤ ½(1/c − 1) ‖x‖ ‖r‖ at most. All norms are those of A⁻¹ (p2neurrank-thm-optimism).

    Args:
        beta: `optimism_threshold`.
        least: c, the least slope on the way from θ̄ to the fit under r.
        dimension: d.

    Returns:
        Float64[...], the mean over 4,000 quantiles of χ_{d−1}.
    """
    beta, least = np.broadcast_arrays(np.asarray(beta, dtype=float), np.asarray(least, dtype=float))
    if dimension == 1:
        return special.ndtr(-beta)
    levels = (np.arange(4000) + 0.5) / 4000
    chi = np.sqrt(2 * special.gammaincinv((dimension - 1) / 2, levels))
    return special.ndtr(-beta[..., None] - (1 / least[..., None] - 1) / 2 * chi).mean(axis=-1)


def uncertain_probability(
    squared_norm: FloatOrArray, gap: Numbers, alpha: Numbers, rankers: int, noise: Numbers, least: Numbers
) -> FloatOrArray:
    """Lemma 4.4, corrected: where Lemma 4.2 holds, the order of a pair is not unanimously right with a probability of
    at most N P(Z > c (Δ − α_t ‖x‖)/(k_μ ν ‖x‖)), with the norm of A_t⁻¹.

    Let x·θ* > 0. Then σ(x·θ̄) − ½ ≥ Δ − α_t ‖x‖, so x·θ̄ ≥ (Δ − α_t ‖x‖)/k_μ where that is positive; and with linear
    response x·(θ^(n) − θ̄) has a deviation ν √(xᵀG⁻¹AG⁻¹x) ≤ (ν/c) ‖x‖, as A ⪯ G/c twice. The rest is a union bound. It
    bounds the probability that an order is uncertain, and that all rankers agree on the wrong one as well.

    Args:
        squared_norm: ‖x‖² in the norm of A_t⁻¹.
        gap: Δ = |σ(x·θ*) − ½|.
        alpha: α_t of `width`.
        rankers: N.
        noise: ν².
        least: c.
    """
    norm = np.sqrt(squared_norm)
    margin = np.maximum(gap - alpha * norm, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # a pair of norm 0 is certain
        tail = np.where(norm > 0, special.ndtr(-least * margin / (STEEPEST * np.sqrt(noise) * norm)), 0.0)
    return cast(FloatOrArray, np.minimum(1.0, rankers * tail))


def way_slope(margins: np.ndarray, norms: np.ndarray, x_norms: np.ndarray, left: np.ndarray) -> np.ndarray:
    """c of `curved_uncertain_probability` for some pairs: σ̇(max over pairs x′ seen of |x′·θ̄| + ‖x′‖ m/(k_μ ‖x‖)).

    It is known when it is needed. While ‖θ − θ̄‖ in the norm of A stays below m/(k_μ ‖x‖), all slopes are at least c; so
    a noise with ‖b‖ < c m/(k_μ ‖x‖) cannot leave that ball, and in it x·θ keeps its sign (p2neurrank-thm-uncertain).

    Args:
        margins: x′·θ̄ of the pairs seen, Float64[..., s].
        norms: ‖x′‖ in the norm of A⁻¹, Float64[..., s].
        x_norms: ‖x‖ likewise, Float64[..., n].
        left: m = Δ − α_t ‖x‖, Float64[..., n]; where it is not above 0 it counts as 0.

    Returns:
        Float64[..., n].
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(np.maximum(left, 0.0) / (STEEPEST * x_norms), posinf=0.0)
    reached = np.abs(margins)[..., None, :] + norms[..., None, :] * ratio[..., :, None]
    return confidence.slope(reached.max(axis=-1, initial=0.0))


def curved_uncertain_probability(
    squared_norm: FloatOrArray,
    gap: Numbers,
    alpha: Numbers,
    rankers: int,
    noise: Numbers,
    least: Numbers,
    dimension: int,
) -> FloatOrArray:
    """Lemma 4.4 for every response: at most N P(χ_d > c (Δ − α_t ‖x‖)/(k_μ ν ‖x‖)), with the norm of A_t⁻¹.

    By Cauchy and Schwarz |x·(θ^(n) − θ̄)| ≤ ‖x‖ ‖b‖/c, and ‖b‖ in the norm of A⁻¹ is ν χ_d; it is smaller if the
    pseudo-pairs are not perturbed, so this holds for Eq. 3.3 as well. By Markov's inequality the probability is at
    most N d k_μ² ν² ‖x‖²/(c² (Δ − α_t ‖x‖)²), the form of the paper's bound with d in place of 2.

    Args: as in `uncertain_probability`, and
        least: c of `way_slope`.
        dimension: d.
    """
    norm = np.sqrt(squared_norm)
    margin = np.maximum(gap - alpha * norm, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # a pair of norm 0 is certain
        z = np.where(norm > 0, least * margin / (STEEPEST * np.sqrt(noise) * norm), np.inf)
    return cast(FloatOrArray, np.minimum(1.0, rankers * special.gammaincc(dimension / 2, np.square(z) / 2)))


def printed_uncertain_probability(
    squared_norm: FloatOrArray,
    gap: Numbers,
    rankers: int,
    noise: Numbers,
    least: Numbers,
    share: Numbers,
    alpha: Numbers | None = None,
) -> FloatOrArray:
    """Lemma 4.4 as its proof ends: min(1, 2N k_μ² ν² ‖x‖²/(c_μ² c² Δ²)), or as printed, k_μ² α_t² times that.

    Args:
        squared_norm: ‖x‖² in the norm of A_t⁻¹.
        gap: Δ_min.
        rankers: N.
        noise: ν².
        least: c_μ.
        share: c, the share of Δ_min that is left of it after Lemma 4.2's radius.
        alpha: α_t for the statement, which has the stray factor, or None for the proof.
    """
    bound = 2 * rankers * STEEPEST**2 * noise * squared_norm / (least * share * gap) ** 2
    if alpha is not None:
        bound = bound * (STEEPEST * alpha) ** 2
    return cast(FloatOrArray, np.minimum(1.0, bound))


def regret_bound(
    rounds: float,
    documents: int,
    dimension: int,
    gap: float,
    norm: float,
    bound: float,
    regularization: float,
    delta: float,
    least: float,
    compared: float,
    rankers: int,
    noise_added: float,
    noise: float = LABEL_NOISE,
    *,
    curved: bool = False,
) -> float:
    """Theorem 4.5, corrected: an upper bound on the expected number of mis-ordered pairs in T rounds.

    δ T V(V−1)/2 + (1/q) (P Λ/log(1 + P Δ²/(4ᾱ²)) + K Λ B/log(1 + B)) with P = ⌊V/2⌋ pairs a round at most,
    Λ = `log_det_bound` after P T pairs, ᾱ = α at Λ, B = 4u²P/λ and K = 4N k_μ² ν²/(e c² Δ²); for every response, d in
    place of 1/e.

    A pair is mis-ordered only if its order is not unanimously right. Pairs with ‖x‖ ≥ Δ/(2ᾱ) when they are labelled are
    counted by `confidence.wide_pairs`. Of the others Δ − ᾱ‖x‖ ≥ Δ/2, so `uncertain_probability` and
    P(Z > z) ≤ exp(−z²/2)/2 ≤ 1/(e z²) bound each by K ‖x‖², and the elliptical potential bounds the sum. A pair is
    labelled with probability q or more whatever the rankers think of it, so expected sums over all pairs are at most
    1/q times those over labelled ones. No number of rankers is needed for that: exploration is in q.

    Of the paper's theorem: C is given in the proof alone; w, which bounds the cross terms there, is dropped from the
    bound; δ₁ and δ₂ are not defined; and its R′ counts V in place of V(V−1)/2 pairs for a round.

    Args:
        rounds: T.
        documents: V, most documents of a query.
        dimension: d.
        gap: Δ_min.
        norm: u.
        bound: Q.
        regularization: λ.
        delta: δ.
        least: c.
        compared: q, the least conditional probability that a given pair is labelled; 0 makes the bound infinite.
        rankers: N.
        noise_added: ν².
        noise: R.
        curved: whether it is to hold for every response (`curved_uncertain_probability`).
    """
    if compared <= 0:
        return float("inf")
    at_once = documents // 2
    log_det = confidence.log_det_bound(dimension, at_once * rounds, norm, regularization)
    threshold = confidence.open_width(gap, width(log_det, regularization, bound, delta, least, noise=noise))
    wide = confidence.wide_pairs(log_det, threshold, at_once)
    factor = 4 * rankers * STEEPEST**2 * noise_added / (least * gap) ** 2 * (dimension if curved else 1 / np.e)
    narrow = factor * confidence.potential_bound(log_det, 4 * norm**2 * at_once / regularization)
    return float(delta * rounds * documents * (documents - 1) / 2 + (wide + narrow) / compared)


def printed_regret_bound(
    rounds: float,
    documents: int,
    dimension: int,
    gap: float,
    norm: float,
    regularization: float,
    least: float,
    examined: int,
    whole: float,
    settled: float,
    share: float,
    rankers: int,
    noise_added: float,
) -> float:
    """Theorem 4.5 as printed, with the proof's C: R′ + 2d V C log(1 + o T P²/(2dλ))/p*, R′ = t′V,
    C = 2N k_μ² ν²/(c_μ² c² Δ²).

    Args:
        rounds: T.
        documents: V_max.
        dimension: d.
        gap: Δ_min.
        norm: P, the bound on ‖x‖.
        regularization: λ.
        least: c_μ.
        examined: o_max.
        whole: p*, the least probability that a whole list is examined; 0 makes the bound infinite.
        settled: t′ of Lemma 4.4.
        share: c.
        rankers: N.
        noise_added: ν².
    """
    if whole <= 0:
        return float("inf")
    c = 2 * rankers * STEEPEST**2 * noise_added / (least * share * gap) ** 2
    grown = np.log1p(examined * rounds * norm**2 / (2 * dimension * regularization))
    return float(settled * documents + 2 * dimension * documents * c * grown / whole)
