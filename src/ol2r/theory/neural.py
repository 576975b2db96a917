"""olRankNet's theory: the neural tangent kernel, and what of PairRank's theory carries over to a wide network.

Throughout, v(x) = g(x; θ₀)/√m is the *tangent* of a document, g the gradient of f by all p parameters, and
z = √m (θ − θ₀). Then ⟨g, θ − θ₀⟩ = v·z and (mλ/2) ‖θ − θ₀‖² = (λ/2) ‖z‖²: the linear model ⟨g, θ − θ₀⟩ of a network is
PairRank in the features v, with S, the bound on ‖z*‖, in place of Q. So all of `confidence` applies to it. A *pair* is
w = v_i − v_j, ẑ is the fit of the linear model (Lemma B.8's γ̂_t √m), Ā = λI + Σ w wᵀ over the pairs seen (A with the
gradients at later θ), and log_det stands for log(det Ā/det λI). What a network adds is how far it is from that model;
the paper bounds this by ε(m), and it can be measured.

A *kernel* is the matrix of ⟨v(x), v(x′)⟩ over some documents, of a network (`networks.Tangent.kernel`) or of its limit
(`tangent_kernel`). Functions named `printed_…` are the paper's statements to the letter, for comparison; the others are
proved in the chapter `olranknet`. Nothing here knows rankings or clicks.
"""

from typing import NamedTuple, cast

import numpy as np

from ol2r.theory import confidence
from ol2r.theory.confidence import LABEL_NOISE, STEEPEST, FloatOrArray, Numbers

REACH = 0.2784645427610738
"""W(1/e) = max of z σ(−z), which is z − 1 where z σ(z) = 1: what one label can add to λ ‖ẑ‖²."""


class Kernels(NamedTuple):
    """The two kernels of Definition B.1 at depth L.

    Args:
        activations: Σ^(L), of what goes into the last layer: Float64[..., V, V].
        tangent: H̃^(L), of the gradients by all parameters: Float64[..., V, V].
    """

    activations: np.ndarray
    tangent: np.ndarray

    @property
    def printed(self) -> np.ndarray:
        """H = (H̃ + Σ)/2, as printed.

        With the paper's initialisation and all p parameters the kernel of the gradients tends to H̃ and not to H. To H
        it tends if the two blocks of zeros of each hidden W_l are not parameters: each half of a layer then reads half
        of the squared norm, so the parts of all layers but the last are halved (olranknet-thm-kernel).
        """
        return (self.tangent + self.activations) / 2


def tangent_kernel(inputs: np.ndarray, depth: int, gain: float = 1.0) -> Kernels:
    """Σ^(L) and H̃^(L) of Definition B.1, by the closed forms of the Gaussian means of a ReLU (Cho and Saul, 2009).

    With a = Σ_ii, b = Σ_jj and cos ω = Σ_ij/√(ab): 2 E φ(u) φ(v) = √(ab) (sin ω + (π − ω) cos ω)/π and
    2 E φ̇(u) φ̇(v) = (π − ω)/π.

    Args:
        inputs: x, Float64[..., V, d]; Assumption B.2 has them of unit norm, which is not needed.
        depth: L ≥ 1.
        gain: the variance of an entry of W_1 times m/2, so that Σ^(1) = gain · ⟨x, x′⟩ while H̃^(1) stays ⟨x, x′⟩. It is
            1 for the symmetric initialisation, as in the definition, and m/d for He's, with which all layers but the
            first count so many times more.
    """
    products = inputs @ np.swapaxes(inputs, -1, -2)
    sigma, tangent = gain * products, products
    itself = np.arange(products.shape[-1])
    for _ in range(depth - 1):
        norm = np.sqrt(np.diagonal(sigma, axis1=-2, axis2=-1))
        scale = norm[..., :, None] * norm[..., None, :]
        cosine = np.clip(np.divide(sigma, scale, out=np.zeros_like(sigma), where=scale > 0), -1.0, 1.0)
        angle = np.arccos(cosine)
        angle[..., itself, itself] = 0.0  # the arc cosine of 1 less a rounding error is not 0
        sigma = scale * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
        tangent = tangent * (np.pi - angle) / np.pi + sigma
    return Kernels(sigma, tangent)


def coordinates(kernel: np.ndarray, tolerance: float = 1e-10) -> np.ndarray:
    """The documents' tangents in an orthonormal basis of their span: X with X Xᵀ = kernel.

    r is the dimension of the span, in place of p. It is below p for every network without biases, however θ₀ is drawn:
    f is homogeneous in what goes into a unit and in what comes out of it, so Σ in θ g over the first equals that over
    the second, and every tangent is orthogonal to the (L − 1) m vectors of these differences (olranknet-thm-span). So
    Lemma 4.2's λ_min(Σ) is zero, and in these coordinates it need not be.

    Args:
        kernel: Float64[V, V].
        tolerance: eigenvalues below so many times the largest count as zero.

    Returns:
        Float64[V, r].
    """
    eigenvalues, vectors = np.linalg.eigh(kernel)
    kept = eigenvalues > tolerance * max(float(eigenvalues[-1]), 0.0)
    return vectors[:, kept] * np.sqrt(eigenvalues[kept])


def least_norm(scores: np.ndarray, kernel: np.ndarray, tolerance: float = 1e-10) -> float:
    """√(hᵀ K⁻¹ h), the least ‖z‖ with v(x)·z = h(x) for all documents: the S of Lemma B.3 at this width.

    The lemma has it at most √(2 hᵀ H⁻¹ h) where m is large.

    Args:
        scores: h of the documents, Float64[V].
        kernel: K, Float64[V, V].
        tolerance: as in `coordinates`.

    Raises:
        ValueError: no z makes these scores.
    """
    x = coordinates(kernel, tolerance)
    z = np.linalg.lstsq(x, scores, rcond=None)[0]
    if np.abs(x @ z - scores).max(initial=0.0) > 1e-6 * max(1.0, float(np.abs(scores).max(initial=0.0))):
        raise ValueError("these scores are no linear function of the documents' gradients")
    return float(np.linalg.norm(z))


def reached_slope(pairs: np.ndarray, theta: np.ndarray, bound: float) -> float:
    """c_t, the least slope between ẑ and any z* with ‖z*‖ ≤ S over the pairs seen: σ̇(max of |w·ẑ| and ‖w‖ S).

    It takes the place of c_μ, the infimum of σ̇, which over all z is zero: the paper does not bound ẑ and does not
    project it. c_t is known when the interval is needed, and no projection is needed (olranknet-thm-interval).

    Args:
        pairs: w of the pairs seen, Float64[n, r]; with none, c_t = ¼.
        theta: ẑ, Float64[r].
        bound: S.
    """
    margins = np.maximum(np.abs(pairs @ theta), bound * np.linalg.norm(pairs, axis=1))
    return float(confidence.slope(float(margins.max(initial=0.0))))


def fit_radius(pairs: Numbers, regularization: Numbers) -> Numbers:
    """√(W(1/e) n/λ), which bounds ‖ẑ‖ after n labels, whatever they are (olranknet-lem-radius).

    The paper has √(2n/λ) (Lemma D.4), and needs √(n/(2λ)) where D.1 ends.
    """
    return np.sqrt(REACH * pairs / regularization)


def width(
    log_det: FloatOrArray,
    regularization: Numbers,
    bound: Numbers,
    delta: Numbers,
    least: Numbers,
    drift: Numbers = 0.0,
    noise: float = LABEL_NOISE,
) -> FloatOrArray:
    """α_t of Lemma 3.3: (k_μ/c) √(1 + ‖A − Ā‖/λ) (ν √(log(det Ā/(δ₁² det λI))) + √λ S).

    With probability 1 − δ₁, |σ(f_ij) − σ(h_ij)| ≤ α_t ‖w_ij‖ + ε_ij for all rounds and pairs of documents at once. With
    the norm of Ā⁻¹ and w at θ₀, drift is 0 and ε_ij = `measured_error(f_ij, w_ij·ẑ)`; with that of A⁻¹ and w at θ_t,
    drift is ‖A − Ā‖ and ε_ij has the change of w as well (olranknet-thm-interval).

    The paper's constants are then C̄_1 = (k_μ/c) √(1 + ‖A − Ā‖/λ) and C̄_2 = S. Its proof loses the λ below the drift,
    and Lemma B.8 has c⁻² where its proof has c⁻¹.

    Args:
        log_det: log(det Ā/det λI), any shape.
        regularization: λ.
        bound: S.
        delta: δ₁.
        least: c, `reached_slope`; or c_μ where ẑ lies within S.
        drift: ‖A − Ā‖.
        noise: ν.
    """
    stretch = np.sqrt(1 + drift / regularization)
    return cast(
        FloatOrArray,
        stretch * confidence.width(log_det, regularization, bound, delta, least, projected=False, noise=noise),
    )


def printed_width(
    log_det: FloatOrArray,
    regularization: Numbers,
    delta: Numbers,
    first: Numbers,
    second: Numbers,
    noise: float = LABEL_NOISE,
) -> FloatOrArray:
    """α_t of Lemma 3.3 to the letter: C̄_1 (√(ν² log(det A/(δ₁² det λI))) + √λ C̄_2), the constants as arguments.

    Args:
        log_det: log(det A/det λI), any shape.
        regularization: λ.
        delta: δ₁.
        first: C̄_1.
        second: C̄_2, S by the proof.
        noise: ν.
    """
    radius = confidence.estimation_radius(log_det, regularization, second, delta, noise)
    return cast(FloatOrArray, first * radius)


def measured_error(scores: np.ndarray, linear: np.ndarray, turned: Numbers = 0.0, bound: Numbers = 0.0) -> np.ndarray:
    """ε_ij in place of ε(m): k_μ (|f_ij(θ_t) − w_ij·ẑ| + ‖w_ij − w_ij⁰‖ S), measured (olranknet-thm-interval).

    The first part is all in which the network differs from the linear model's fit: the curvature of f and an unfinished
    descent alike. The second is needed only where w is taken at another θ than θ₀.

    Args:
        scores: f_ij(θ_t), any shape.
        linear: w_ij·ẑ, with w_ij at the θ of the interval's norm.
        turned: ‖w_ij − w_ij⁰‖.
        bound: S.
    """
    return STEEPEST * (np.abs(scores - linear) + turned * bound)


def approximation(
    pairs: Numbers,
    units: Numbers,
    depth: int,
    regularization: Numbers,
    bound: Numbers,
    step: Numbers,
    passes: Numbers,
    linear: float = 1.0,
    turning: float = 1.0,
    gradient: float = 1.0,
    descent: tuple[float, float] = (1.0, 1.0),
) -> Numbers:
    """ε(m) as Lemma 3.3's proof has it, with the constants of its lemmas as arguments.

    k_μ (2 C^v τ^{4/3} L³ √(m log m) + 2 C^z C^w τ^{1/3} L^{7/2} √(log m) S + 2 C^z √(mL) d) with τ = √(2n/(mλ)) and
    d = (1 − ηmλ)^{J/2} τ + m^{−2/3} √(log m) L^{7/2} (n/λ)^{7/6} (C̄_5 + C̄_6 √(n/λ)), Lemma B.9's bound on the distance
    of θ_t from θ₀ + γ̂. The statement drops the second term and the √(log m) of the last one, and has the power 5/3 for
    7/6 in it.

    Args:
        pairs: n, labels so far.
        units: m.
        depth: L.
        regularization: λ.
        bound: S.
        step: η.
        passes: J.
        linear: C_3^v of Lemma B.5.
        turning: C_3^w of Lemma B.6.
        gradient: C_3^z of Lemma B.7.
        descent: C̄_5 and C̄_6 of Lemma B.9.
    """
    log, per = np.log(units), pairs / regularization
    tau = np.sqrt(2 * per / units)
    curved = 2 * linear * tau ** (4 / 3) * depth**3 * np.sqrt(units * log)
    turned = 2 * gradient * turning * tau ** (1 / 3) * depth**3.5 * np.sqrt(log) * bound
    away = (1 - step * units * regularization) ** (passes / 2) * tau
    away += units ** (-2 / 3) * np.sqrt(log) * depth**3.5 * per ** (7 / 6) * (descent[0] + descent[1] * np.sqrt(per))
    return STEEPEST * (curved + turned + 2 * gradient * np.sqrt(units * depth) * away)


def printed_approximation(
    rounds: Numbers,
    units: Numbers,
    depth: int,
    regularization: Numbers,
    step: Numbers,
    passes: Numbers,
    constant: float = 1.0,
) -> Numbers:
    """ε(m) of Lemma 3.3 to the letter, with C̄_3 as an argument.

    C̄_3 times T^{2/3} m^{−1/6} λ^{−2/3} L³ √(log m) + L^{1/2} (1 − ηmλ)^{J/2} √(T/λ)
    + T^{5/3} m^{−1/6} λ^{−5/3} L⁴ (1 + √(T/λ)).

    Args:
        rounds: T.
        units: m.
        depth: L.
        regularization: λ.
        step: η.
        passes: J.
        constant: C̄_3.
    """
    per, sixth = rounds / regularization, units ** (-1 / 6)
    curved = per ** (2 / 3) * sixth * depth**3 * np.sqrt(np.log(units))
    unfinished = np.sqrt(depth) * (1 - step * units * regularization) ** (passes / 2) * np.sqrt(per)
    return constant * (curved + unfinished + per ** (5 / 3) * sixth * depth**4 * (1 + np.sqrt(per)))


def least_log_width(
    pairs: float, depth: int, regularization: float, printed: bool = False, constant: float = 1.0
) -> float:
    """log of the least m for which the induction of Lemma B.9's proof closes (m itself may be too large a number).

    m ≥ C (n/λ)⁴ L²¹ (1 + √(n/λ))⁶ (log m)³, which is of the order of Lemma 3.3's T⁷ λ⁻⁷ L²¹ (log m)³. The statement of
    Lemma B.9 has 7 for 4 and so asks for (n/λ)³ times as much, which nothing in the proof needs (olranknet-errata).

    Args:
        pairs: n, labels at the end.
        depth: L.
        regularization: λ.
        printed: whether to take Lemma B.9's statement.
        constant: C.
    """
    per = pairs / regularization
    least = np.log(constant) + (7 if printed else 4) * np.log(per) + 21 * np.log(depth) + 6 * np.log1p(np.sqrt(per))
    log = max(float(least), 10.0)
    for _ in range(100):  # x ↦ least + 3 log x has a slope below 1 where x > 3
        log = max(float(least + 3 * np.log(log)), 10.0)
    return log


def effective_log_det(kernel: np.ndarray, regularization: float, counts: np.ndarray | None = None) -> float:
    """log det(I + Ĥ/λ), Ĥ the kernel over n documents and all their pairs (appendix E.1).

    Ĥ = B H Bᵀ with the rows e_k and e_k − e_l of B, so det(I + Ĥ/λ) = det(I + H BᵀB/λ) and BᵀB = (n + 1) I − 11ᵀ. A
    document that occurs c times is merged: BᵀB is then (n + 1) diag(c) − c cᵀ with n = Σ c.

    Args:
        kernel: H of the distinct documents, Float64[D, D].
        regularization: λ.
        counts: how often each of them occurs in the rounds, Float64[D]; None for once.
    """
    c = np.ones(len(kernel)) if counts is None else counts
    weights = (c.sum() + 1) * np.diag(c) - np.outer(c, c)
    return float(np.linalg.slogdet(np.eye(len(kernel)) + kernel @ weights / regularization)[1])


def effective_dimension(kernel: np.ndarray, regularization: float, counts: np.ndarray | None = None) -> float:
    """d̃ of E.1: log det(I + Ĥ/λ)/log(1 + (n + N)/λ), with the paper's N = n²/2.

    Args: as in `effective_log_det`.
    """
    n = len(kernel) if counts is None else float(counts.sum())
    return effective_log_det(kernel, regularization, counts) / float(np.log1p((n + n**2 / 2) / regularization))


def least_effective_dimension(documents: float, eigenvalue: float, regularization: float) -> float:
    """What Assumption B.2 alone makes of d̃, at least, with H ⪰ λ₀I over n documents.

    d̃ log(1 + (n + n²/2)/λ) ≥ (n − 1) log(1 + (n + 1) λ₀/λ) + log(1 + λ₀/λ) (olranknet-thm-vacuous). It grows as n/2 if
    λ₀ does not shrink as n grows; as n ≥ T, a regret of O(d̃ log² T) is then no less than of the order T.

    Args:
        documents: n, one for each document of each round.
        eigenvalue: λ₀.
        regularization: λ.
    """
    ratio = eigenvalue / regularization
    log_det = (documents - 1) * np.log1p((documents + 1) * ratio) + np.log1p(ratio)
    return float(log_det / np.log1p((documents + documents**2 / 2) / regularization))


def printed_log_det_bound(limit: np.ndarray, regularization: float, counts: np.ndarray | None = None) -> float:
    """What Lemma C.3's proof has log(det Ā_T/det λI) below: d̃ log(1 + (n + N)/λ) + 1, for λ ≥ 1 and m large.

    d̃ times that logarithm is `effective_log_det`, by definition. With each document counted once the bound is false
    where a pair is seen often; with one count for each round it holds (olranknet-lem-logdet), but a query that comes
    twice then makes H singular, against Assumption B.2.

    Args:
        limit: H of the distinct documents, Float64[D, D].
        regularization: λ.
        counts: rounds in which each was a candidate, Float64[D]; None for once.
    """
    return effective_log_det(limit, regularization, counts) + 1


def disjoint_log_det_bound(
    limit: np.ndarray, regularization: float, spread: float, counts: np.ndarray | None = None
) -> float:
    """A bound on log(det Ā/det λI) for every λ and width, if the pairs of a round share no document.

    log det(I + (2ρ/(n + 1)) Ĥ/λ), where K ⪯ ρH and n = Σ c (olranknet-thm-disjoint). From n + 1 ≥ 2ρ on it is at most
    `effective_log_det`, so that Lemma C.3 needs neither λ ≥ 1 nor its 1. With H as Definition B.1 prints it, half of
    whose double the limit H̃ is below, twice the ρ of H̃ will do.

    Args:
        limit: H of the distinct documents, Float64[D, D].
        regularization: λ.
        spread: ρ > 0, with K ⪯ ρH for the kernel K of the gradients at θ₀.
        counts: c, rounds in which each document was a candidate, Float64[D]; None for once.
    """
    n = len(limit) if counts is None else float(counts.sum())
    return effective_log_det(2 * spread / (n + 1) * limit, regularization, counts)


def log_det_bound(kernel: np.ndarray, limit: np.ndarray, regularization: float, counts: np.ndarray) -> float:
    """A bound on log(det Ā/det λI) for every λ and width, if each pair is seen at most once a round.

    log det(I + Ĥ/λ) + r log ρ, where ρ ≥ 1 is the least number with K ⪯ ρH and r the rank of K (olranknet-lem-logdet).
    The paper's 1 for the second term takes λ ≥ 1 and an m that grows with the number of pairs.

    Args:
        kernel: K, of a network's gradients at θ₀ over the distinct documents, Float64[D, D].
        limit: H, the limit of K, Float64[D, D]; positive definite on the range of K.
        regularization: λ.
        counts: rounds in which each document was a candidate, Float64[D].
    """
    return effective_log_det(limit, regularization, counts) + coordinates(kernel).shape[1] * float(
        np.log(max(1.0, excess(kernel, limit)))
    )


def excess(larger: np.ndarray, smaller: np.ndarray, tolerance: float = 1e-10) -> float:
    """The least ρ with `larger` ⪯ ρ · `smaller`, over the range of `smaller`.

    Of a Gram matrix by A⁻¹ and one by diag(A)⁻¹ it is κ: ‖g‖²_{A⁻¹} ≤ κ ‖g‖²_{diag(A)⁻¹} for all g in the span of the
    vectors that the Gram matrices are of. So √κ times the diagonal width covers wherever the full one does, and with
    κ > 1 there are g in that span for which the diagonal one does not bound the full one (olranknet-thm-diagonal).

    Args:
        larger: Float64[n, n], positive semi-definite.
        smaller: Float64[n, n], positive semi-definite with at least the range of `larger`.
        tolerance: eigenvalues below so many times the largest count as zero.
    """
    eigenvalues, vectors = np.linalg.eigh(smaller)
    kept = eigenvalues > tolerance * eigenvalues[-1]
    whiten = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    return float(np.linalg.eigvalsh(whiten.T @ larger @ whiten)[-1])


def diagonal_excess_bound(diagonal: np.ndarray, regularization: float) -> float:
    """A bound on κ by what the diagonal form itself keeps: max_k A_kk/λ = 1 + max_k Σ g_k²/λ (olranknet-thm-diagonal).

    Args:
        diagonal: of A, Float64[p].
        regularization: λ.
    """
    return float(diagonal.max() / regularization)


def regret_bound(
    rounds: float,
    documents: int,
    rank: int,
    gap: float,
    approximation: float,
    norm: float,
    bound: float,
    regularization: float,
    delta: float,
    compared: float,
    noise: float = LABEL_NOISE,
) -> float:
    """Theorem 4.4, corrected: PairRank's bound in the r coordinates of the span, with the gap less 2ε.

    δ₁ T V(V−1)/2 + (1/q) P Λ/log(1 + P (Δ − 2ε)²/(4ᾱ²)), with Λ = r log(1 + 4u² P T/(rλ)). It is for the ranking by ẑ
    projected on ‖z‖ ≤ S, or by a network that stays within ε of it, with the gradients at θ₀ (olranknet-thm-regret).
    Random topological sorting keeps all certain orders, so the regret is at most the number of uncertain pairs.

    Args:
        rounds: T.
        documents: V, most documents of a query.
        rank: r of the pool's tangents, `coordinates`.
        gap: Δ_min.
        approximation: ε; at half of the gap or above the bound is infinite.
        norm: u, the longest tangent of a document.
        bound: S.
        regularization: λ.
        delta: δ₁.
        compared: q, the least probability that an uncertain pair is labelled; 0 makes the bound infinite.
        noise: ν.
    """
    least = confidence.least_slope(norm, bound)
    left = gap - 2 * approximation
    if left <= 0:
        return float("inf")
    return confidence.regret_bound(
        rounds,
        documents,
        rank,
        left,
        norm,
        bound,
        regularization,
        delta,
        least,
        compared,
        conservative=True,
        noise=noise,
    )


def printed_regret_bound(
    rounds: float,
    documents: int,
    dimension: float,
    gap: float,
    approximation: float,
    regularization: float,
    delta: float,
    delta_matrix: float,
    least: float,
    whole: float,
    settled: float = 0.0,
    cross_terms: float = 0.0,
    noise: float = LABEL_NOISE,
) -> float:
    """Theorem 4.4 as the last lines of appendix C.2 have it, with all constants.

    R′ + (1 − δ₂) C_u log(1/δ₁) (w + V (d̃ log(1 + TV²/λ) + 1))/((Δ − 2ε)² p*), R′ = t′V² + (T − t′) δ₂ V² and
    C_u = 8ν² k_μ²/c_μ². So C_1^r = C_u V and C_2^r = C_u log(1/δ₁) (w + V), each over (Δ − 2ε)²: the theorem divides by
    Δ_min² and appendix C.2 does so inside the constants.

    Args:
        rounds: T.
        documents: V_max.
        dimension: d̃.
        gap: Δ_min.
        approximation: ε(m).
        regularization: λ.
        delta: δ₁.
        delta_matrix: δ₂.
        least: c_μ.
        whole: p*, the least probability that a whole list is examined; 0 makes the bound infinite.
        settled: t′.
        cross_terms: w = Σ 2 C^z (V² − 2V) L²/λ_min(A_t) over the rounds from t′ on.
        noise: ν.
    """
    if whole <= 0 or gap <= 2 * approximation:
        return float("inf")
    settled = min(settled, rounds)
    failed = (settled + (rounds - settled) * delta_matrix) * documents**2
    potential = documents * (dimension * np.log1p(rounds * documents**2 / regularization) + 1)
    # at β = 0, because the paper's C_u lacks PairRank's 1 − 2β
    price = confidence.printed_uncertain_probability(1.0, gap - 2 * approximation, delta, 0.0, least, noise)
    return float(failed + (1 - delta_matrix) * price * (cross_terms + potential) / whole)
