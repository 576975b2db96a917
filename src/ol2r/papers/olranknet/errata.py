"""Where the olRankNet paper needs a correction, each with a number that settles it.

Each was checked against the paper's text. The tests in `tests/theory/test_neural_errata.py` hold the same facts on more
cases. Where the text alone settles a place, there is no number.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from ol2r.data import entry
from ol2r.random import Streams, generator, replica_key
from ol2r.theory import confidence, neural
from ol2r.theory.confidence import STEEPEST

Checked = Callable[[], str]


@dataclass(frozen=True)
class Erratum:
    """A correction.

    Args:
        place: where in the paper.
        correction: what should stand there, in MyST.
        harm: what it does to the paper's results: "none", "constants", "undefined", "proof" or "statement".
        check: gives what was computed, in words; None where the text alone settles it.
    """

    place: str
    correction: str
    harm: str
    check: Checked | None = None


def _definition() -> str:
    width, error, truth = 0.1, 0.02, 0.49
    estimate = truth + width + error
    return (
        f"truth {truth:g}, estimate {estimate:.2f}, inside the interval; less the printed CB it is "
        f"{estimate - (width - error):.2f} > ½, a wrong order made certain; less the sum {estimate - width - error:.2f}"
    )


def _drift() -> str:
    start, now = np.diag([1.0, 1.0]), np.diag([1.0, 0.4])
    least = [float(np.linalg.eigvalsh(each)[0]) for each in (start, now)]
    drift = float(np.linalg.norm(now - start, 2))
    return f"Ā = I, A = diag(1, .4): λ_min falls from {least[0]:g} to {least[1]:g}, by ‖A − Ā‖ = {drift:.1f}"


def _stretch() -> str:
    lam, drift = 0.1, 0.5
    right, printed = np.sqrt((lam + drift) / lam), np.sqrt(1 + drift)
    return f"λ = {lam:g}, Ā = λI, A = Ā + {drift:g} I: the norm grows by {right:.2f}; printed {printed:.2f}"


def _slopes() -> str:
    least = confidence.least_slope(1.0, 0.5)
    return f"at u = 1, S = ½: {1 / least**2:.1f} in place of {1 / least:.1f}"


def _outside() -> str:
    fit = confidence.fitted(np.array([[2.0]]), np.array([50.0]), np.array([0.0]), 0.01)[0]
    return f"one pair of length 2 won 50 times, S = 1, λ = .01: the fit has norm {fit:.2f}"


def _noise() -> str:
    margin = 1.3
    return f"margin {margin:g}: E y = {special.expit(margin):.2f}, which is σ of it and not {margin:g}"


def _coin() -> str:
    beta = np.linspace(0.1, 8, 80)
    least = float((np.log(np.cosh(beta / 2)) / beta**2).max())
    return (
        f"a fair coin meets exp(β²ν²) with ν² = {least:.3f}, the radius needs ν² = {2 * least:.3f}; harmless at "
        f"ν = ½"
    )


def _kept() -> str:
    p, q = 0.7, 0.4
    kept = p * (1 - q) / (p * (1 - q) + q * (1 - p))
    return (
        f"clicks with probability {p:g} and {q:g}: of pairs whose clicks differ the first wins {kept:.2f}, "
        f"σ of the difference of log odds; ½ + (p − q)/2 = {0.5 + (p - q) / 2:.2f}"
    )


def _reverse() -> str:
    estimate, width = 0.9, 0.1
    return (
        f"σ̂ = {estimate:g}, CB = {width:g}: {estimate - width:g} > ½, so (i, j) ∈ ω; "
        f"{1 - estimate:.1f} − {width:g} < ½, so (j, i) ∉ ω"
    )


def _vershynin() -> str:
    p, deficits = 20, []
    for n in (400, 6400):
        z = generator("isotropic", n).standard_normal((n, p))
        deficits.append(float(n - np.linalg.eigvalsh(z.T @ z)[0]))
    return f"p = {p}: sixteen times the pairs make the deficit {deficits[1] / deficits[0]:.1f} times as large, not 16"


def _square() -> str:
    a, b = 10.0, 9.5
    return f"A = {a:g}, B = {b:g}: (A − B)² = {(a - b) ** 2:g} < A² + B² = {a**2 + b**2:g}"


def _length() -> str:
    kernel = neural.tangent_kernel(np.array([[1.0, 0.0], [np.cos(2.0), np.sin(2.0)]]), 2).tangent
    return (
        f"L = 2, unit vectors two radians apart, C₃ᶻ = 1: ‖g_ij‖²/m = "
        f"{kernel[0, 0] + kernel[1, 1] - 2 * kernel[0, 1]:.2f} > 2L"
    )


def _repeated(n: int) -> tuple[np.ndarray, float]:
    return 2.0 / (1 + 2.0 * np.arange(n)), float(np.log1p(2.0 * n))


def _unsquared() -> str:
    squares, log_det = _repeated(2000)
    return f"one pair seen 2,000 times: Σ ‖g‖ = {np.sqrt(squares).sum():.0f}, 2 log det = {2 * log_det:.0f}"


def _all_pairs(n: int, seed: str) -> tuple[np.ndarray, float]:
    limit = neural.tangent_kernel(generator(seed, 0).standard_normal((n, 4)), 2).tangent
    x = neural.coordinates(limit)
    i, j = np.triu_indices(n, 1)
    return limit, float(np.linalg.slogdet(np.eye(x.shape[1]) + (x[i] - x[j]).T @ (x[i] - x[j]))[1])


def _twice() -> str:
    limit, log_det = _all_pairs(12, "all pairs")
    allowed = neural.printed_log_det_bound(limit, 1.0)
    return f"all pairs of 12 documents: log det = {log_det:.0f}, bound {allowed:.0f}, twice log det = {2 * log_det:.0f}"


def _logarithm() -> str:
    v, t = 4, 12
    limit = neural.tangent_kernel(generator("logarithms", 0).standard_normal((v * t, 6)), 2).tangent
    dimension = neural.effective_dimension(limit, 1.0)
    wanted = neural.effective_log_det(limit, 1.0)
    return (
        f"V = {v}, T = {t}: d̃ times the printed logarithm + 1 = {dimension * np.log1p(t * v**2) + 1:.0f} < "
        f"{wanted:.0f}"
    )


def _minimum() -> str:
    kernel = neural.tangent_kernel(np.array([[1.0, 0.0], [-1.0, 0.0]]), 2).tangent
    square = float(kernel[0, 0] + kernel[1, 1] - 2 * kernel[0, 1])
    return f"opposite documents, λ = 1: ‖w‖² = {square:.0f} > 2 log det = {2 * np.log1p(square):.1f}"


def _once() -> str:
    limit = neural.tangent_kernel(np.eye(3)[:2], 2).tangent
    w = neural.coordinates(limit)[0] - neural.coordinates(limit)[1]
    log_det = float(np.log1p(1000 * float(w @ w)))
    return f"one pair in 1,000 rounds: log det = {log_det:.1f}, bound {neural.printed_log_det_bound(limit, 1.0):.1f}"


def _spectral() -> str:
    one, other = np.eye(9), 0.1 * np.eye(9)
    return f"⟨I, .1 I⟩ = {(one * other).sum():.1f} in nine dimensions; printed bound {3 * np.linalg.norm(other, 2):.1f}"


def _which_kernel() -> str:
    x = np.array([[1.0, 0.0], [0.75, np.sqrt(1 - 0.75**2)]])
    kernels = neural.tangent_kernel(x, 2)
    return f"cosine .75, L = 2: limit {kernels.tangent[0, 1]:.3f}, H {kernels.printed[0, 1]:.3f}"


def _spanned() -> str:
    import torch  # here, because the other numbers do without

    from ol2r.networks import Network

    network, x = Network(3, 8, 2, "symmetric"), generator("span", 0).standard_normal((1, 400, 3))
    theta = network.initial(Streams(np.array([replica_key("span", 1, 0)], dtype=np.uint64))).double()
    inputs = network.inputs(torch.from_numpy(x)).double()
    gradients = network.tangent(theta, network.forward(theta, inputs).activations).explicit()[0].numpy()
    rank = np.linalg.matrix_rank(gradients[1:] - gradients[0])
    return f"L = 2, m = 8, three features: 399 pairs have gradients of rank {rank} in {network.n_parameters} dimensions"


def _units() -> str:
    proof, printed = (neural.least_log_width(25_000.0, 2, 0.1, each) / np.log(10) for each in (False, True))
    return f"T = 5,000, λ = .1, L = 2: 10^{printed:.0f} units by its statement, 10^{proof:.0f} by its proof"


def _logarithm_of_units() -> str:
    def ratio(units: float) -> float:
        proof = neural.approximation(1e4, units, 2, 1.0, 0.0, 1 / units, np.inf, linear=0.0, turning=0.0)
        return float(proof / neural.printed_approximation(1e4, units, 2, 1.0, 1 / units, np.inf))

    return f"proof over statement grows {ratio(1e60) / ratio(1e15):.2f} times from m = 10^15 to 10^60"


def _power() -> str:
    def ratio(per: float) -> float:
        proof = neural.approximation(per, 1e15, 2, 1.0, 0.0, 1e-15, np.inf, linear=0.0, turning=0.0)
        return float(neural.printed_approximation(per, 1e15, 2, 1.0, 1e-15, np.inf) / proof)

    return f"statement over proof grows {ratio(1e6) / ratio(1e4):.0f} times from n/λ = 10⁴ to 10⁶"


def _contraction() -> str:
    decay, gradient = 0.1, np.array([[1.0], [0.0]])
    step = 0.4 / np.linalg.norm(gradient, 2) ** 2
    added = 1 - decay + step * STEEPEST * np.linalg.norm(gradient, 2) ** 2
    within = max(
        float(np.linalg.norm((1 - decay) * np.eye(2) - step * slope * gradient @ gradient.T, 2))
        for slope in (0.0, STEEPEST / 2, STEEPEST)
    )
    return f"ηmλ = .1, η‖J‖² = .4: the triangle inequality has {added:.1f}, the step contracts by {within:.1f}"


def _residual() -> str:
    n = 100
    probabilities = special.expit(generator("residuals", 0).standard_normal(n) * 5)
    longest = float(np.linalg.norm(np.maximum(probabilities, 1 - probabilities)))
    return f"{n} labels, each against what was thought likelier: ‖p − y‖ = {longest:.1f} < √n = {np.sqrt(n):.0f}"


def _radius() -> str:
    return f"needs √(n/(2mλ)); D.4 gives twice as much; true is {np.sqrt(neural.REACH):.3f} √(n/(mλ))"


def _vacuous() -> str:
    t, v, lam = 5000, 10, 1.0
    dimension = neural.least_effective_dimension(t * v, 0.01, lam)
    bound = neural.printed_regret_bound(t, v, dimension, 0.5, 0.0, lam, 1 / t, 1 / t, 0.25, 1.0)
    return (
        f"T = {t:,}, V = {v}, λ = 1, λ₀ = .01, all else at its best: {bound / (t * v * (v - 1) / 2):.0f} times "
        f"all pairs"
    )


def _uncovered() -> str:
    bound = neural.printed_regret_bound(5000, 20, 10.0, 0.1, 0.0, 1.0, 0.1, 0.1, 0.2, 0.0)
    return f"p* = 0: the bound is {'infinite' if np.isinf(bound) else f'{bound:g}'}"


def _close() -> str:
    gap, error = 0.1, 0.049
    return f"Δ = {gap:g}, ε = {error:g}: Δ − 2ε = {gap - 2 * error:.3f}, and uncertain pairs go with its inverse square"


def _patience() -> str:
    gamma = 0.9995
    return (
        f"users who stop with probability {gamma:g} make {1 / gamma:.1f} queries, those who go on with it "
        f"{1 / (1 - gamma):,.0f}; the weights of the sum add up to {1 / (1 - gamma):,.0f}"
    )


def _data() -> str:
    names = ("MSLR-WEB10K", "Yahoo-LTRC-1")
    return ", ".join(f"{name} {entry(name).n_queries:,} queries" for name in names)


ERRATA = (
    Erratum("Definition 3.4", "$\\mathrm{CB}$ adds $\\epsilon(m)$, as Lemma 3.3 does.", "statement", _definition),
    Erratum(
        "C.1", "$\\lambda_{\\min}(A) \\ge \\lambda_{\\min}(\\bar A) - \\lVert A - \\bar A \\rVert$.", "constants",
        _drift,
    ),
    Erratum(
        "proof of Lemma 3.3",
        "$\\lVert A - \\bar A \\rVert$ stands over $\\lambda$ under the root; the next line loses it, which matters "
        "for "
        "$\\lambda < 1$.",
        "constants", _stretch,
    ),
    Erratum(
        "Lemma B.8", "$c_\\mu^{-1}$, as its proof has it, for $c_\\mu^{-2}$: true, but wider.", "constants", _slopes
    ),
    Erratum(
        "Lemma B.8, D.2",
        "$c_\\mu$ is an infimum over a set $\\Theta$ that is not defined, and the fit is neither bounded nor "
        "projected. A "
        "slope that can be read off the fit repairs it ({prf:ref}`olranknet-thm-interval`). The optimum of (B.2) is "
        "$\\hat\\gamma_t$, not $\\gamma^*$.",
        "undefined", _outside,
    ),
    Erratum(
        "(B.2), D.2",
        "$\\sigma(\\langle g, \\theta^* - \\theta_0 \\rangle)$ for the product itself; (B.2) has $g^{t,0}$ for "
        "$g^{s,0}$.",
        "none", _noise,
    ),
    Erratum(
        "3.2, before Proposition 3.2",
        "The noise of a label is not the sum of the noises of two clicks, because pairs whose clicks agree are left "
        "out. It is that of a coin whose log odds are the difference of those of the clicks "
        "({prf:ref}`pairrank-lem-bernoulli`): so $h$ is the log odds of a click, and it is not finite for documents "
        "that perfect users never or always click.",
        "proof", _kept,
    ),
    Erratum(
        "Proposition 3.2", "$\\exp(\\beta^2 \\nu^2 / 2)$: so the martingale bound means $\\nu$.", "constants", _coin
    ),
    Erratum("C.1", "$C_1 \\sqrt{p\\,n}$ for $C_1 n$, as Lemma C.2 has it; so $t'$ hides $p$.", "constants", _vershynin),
    Erratum(
        "C.1, $C_u$",
        "The square of a difference loses the product. With PairRank's $\\beta$, $C_u$ is divided by $1 - 2\\beta$.",
        "constants", _square,
    ),
    Erratum(
        "B.4, C.1, C.2", "$\\lVert g_{ij}/\\sqrt m \\rVert^2 \\le 4 (C_3^z)^2 L$ for $2 C_3^z L$, $C_3^z L$ and "
        "$C_3^z L^2$.",
        "constants", _length,
    ),
    Erratum(
        "C.1",
        "$\\lVert \\Sigma^{-1/2} \\rVert = \\lambda_{\\min}^{-1/2}$; $D = m\\, \\Sigma^{-1/2} (\\bar A_t - "
        "\\lambda I)\\, "
        "\\Sigma^{-1/2}$; $W_t$ has a factor $1/\\sqrt m$ and ends before $t$.",
        "none",
    ),
    Erratum("Lemma C.3", "Squares of the norms are summed.", "none", _unsquared),
    Erratum("Lemma C.3", "What it has above $2 \\log\\det$ its proof has above $\\log\\det$.", "constants", _twice),
    Erratum(
        "Lemma C.3, Theorem 4.4",
        "The logarithm is $\\log(1 + (n_T + N_T^P)/\\lambda)$, by which $\\tilde d$ is defined.",
        "constants", _logarithm,
    ),
    Erratum(
        "Lemma C.3",
        "It assumes $\\lambda \\ge 1$ in its proof only, against $\\lambda \\le 0.1$ in the experiments; and that "
        "is not "
        "enough to leave out $\\min(\\cdot, 1)$.",
        "statement", _minimum,
    ),
    Erratum(
        "E.1",
        "“Holds naively” needs documents counted once for every round. Then a query that comes twice makes "
        "$\\mathbf H$ singular, against Assumption B.2.",
        "statement", _once,
    ),
    Erratum(
        "E.1", "$\\lVert \\cdot \\rVert_F$ for $\\lVert \\cdot \\rVert_2$; the next line bounds that. It is "
        "concavity of "
        "$\\log\\det$.", "none", _spectral,
    ),
    Erratum(
        "Definition B.1, Lemma D.1",
        "With all $p$ parameters the limit is $\\tilde{\\mathbf H}$, not $\\mathbf H$ "
        "({prf:ref}`olranknet-thm-kernel`).",
        "statement", _which_kernel,
    ),
    Erratum(
        "Lemma 4.2",
        "$\\lambda_{\\min}(\\Sigma) > 0$, which its proof needs, holds for no network without biases "
        "({prf:ref}`olranknet-thm-span`).",
        "proof", _spanned,
    ),
    Erratum(
        "Lemma 4.2, C.2",
        "$(i, j) \\notin \\omega_t$ has to mean that neither order of the two is certain. By the definition of "
        "$\\omega_t$ the reverse of a certain order is never in it.",
        "none", _reverse,
    ),
    Erratum(
        "Remark 4.3",
        "$\\epsilon(m) < \\Delta_{\\min}/2$ is what Lemma 4.2 and Theorem 4.4 need; $\\epsilon(m) = O(1)$ "
        "does not give "
        "it, and Theorem 4.4's last form needs $\\Delta_{\\min} - 2 \\epsilon(m)$ in proportion to "
        "$\\Delta_{\\min}$.",
        "proof", _close,
    ),
    Erratum(
        "Lemma B.9",
        "$(n_t^P)^{2/3} \\lambda^{-2/3}$ in its last condition: so its proof has it, and so it agrees with Lemma "
        "3.3. The "
        "statement's power $7/6$ asks for $(n/\\lambda)^3$ times as many units.",
        "constants", _units,
    ),
    Erratum(
        "Lemma 3.3",
        "Its first condition on $m$ has $\\lambda^{-1/2}$ for $\\lambda^{1/2} n^{-1/2}$; Lemma B.3's, with "
        "$\\lambda_0^{-4}$, is missing.",
        "constants",
    ),
    Erratum(
        "$\\epsilon(m)$", "The last term has a factor $\\sqrt{\\log m}$, and a term with $S$ is missing.", "constants",
        _logarithm_of_units,
    ),
    Erratum(
        "$\\epsilon(m)$", "The last term has $(n_t^P/\\lambda)^{7/6}$, by Lemma B.9, for "
        "$(T/\\lambda)^{5/3}$: true, but "
        "wider.", "constants", _power,
    ),
    Erratum(
        "D.1",
        "The slopes of $\\sigma$ stay between $J = J^{(0)}$ and its transpose: $I - \\eta (m \\lambda I + J "
        "\\operatorname{diag}(\\dot\\sigma) J^\\top)$ contracts by $1 - \\eta m \\lambda$. The paper takes "
        "them out by the "
        "triangle inequality, after which $\\eta k_\\mu \\lVert J \\rVert^2$ is to be added, and goes on as if it were "
        "subtracted.",
        "none", _contraction,
    ),
    Erratum(
        "Lemma D.3",
        "$\\lVert p - y \\rVert \\le \\sqrt{n_t^P}$ holds without any condition, as no entry passes 1; so "
        "the last part of "
        "Lemma B.9's second condition, which comes from here, can go.",
        "constants", _residual,
    ),
    Erratum(
        "D.1", "The induction does not close with Lemma D.4; it does by {prf:ref}`olranknet-lem-radius`. F.3 loses "
        "a factor "
        "$2 \\log 2/(m\\lambda)$.", "constants", _radius,
    ),
    Erratum(
        "Theorem 4.4",
        "Under Assumption B.2, with a $\\lambda_0$ that does not shrink as documents are added, it is above the number "
        "of all pairs ({prf:ref}`olranknet-thm-vacuous`).",
        "statement", _vacuous,
    ),
    Erratum(
        "Algorithm 1, Table 2",
        "The gradient of a new pair is taken at $\\theta_t$, which has seen its label; widths are at $\\theta_{t-1}$. "
        "Lemma 3.3 does not mind, as its martingale has gradients at $\\theta_0$. But $W_t$ of C.1 is then no "
        "martingale, and the potential lemma (Lemma C.3) is about another vector than the one whose width "
        "was measured.",
        "proof",
    ),
    Erratum(
        "Theorem 4.4",
        "C.2 puts $\\Delta_{\\min}^2$ into $C_1^r$, the statement does not. It mixes “with probability” and "
        "expectation. "
        "$p^*$ is 0 where lists are longer than what is shown.",
        "statement", _uncovered,
    ),
    Erratum(
        "5.2", "$\\gamma$ is the probability that a user goes on after a query, not that he stops.", "none", _patience
    ),
    Erratum(
        "Data and notation",
        "MSLR-WEB10K and Yahoo's set 1 have other numbers of queries; $W_L$ is $m \\times 1$ in the text and $1 "
        "\\times m$ in use.",
        "none", _data,
    ),
)  # fmt: skip
