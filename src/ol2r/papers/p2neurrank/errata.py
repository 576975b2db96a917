"""Where the P²NeurRank paper needs a correction, each with a number that settles it.

The corrections are in `errata.toml`; each names the function here, without its underscore, that computes the number.
Each was checked against the paper's text. The tests in `tests/theory/test_perturbed.py` hold several of these facts on
more cases. Where the text alone settles a place, there is no number.
"""

import numpy as np
import torch
from scipy import special

from ol2r.data import entry
from ol2r.networks import Network
from ol2r.papers import texts
from ol2r.papers.olranknet.errata import Erratum
from ol2r.random import Streams, generator, replica_key
from ol2r.report.tables import number
from ol2r.theory import confidence, perturbed


def _cauchy() -> str:
    rng, worst = generator("the paper's inequality", 0), 0.0
    for _ in range(2000):
        x, slopes = rng.standard_normal((6, 3)), rng.uniform(0.01, 0.25, 6)
        a, g = ((x * weight[:, None]).T @ x + 0.1 * np.eye(3) for weight in (np.ones(6), slopes))
        u, v = rng.standard_normal((2, 3))
        worst = max(worst, abs(u @ np.linalg.solve(g, v)) * slopes.min() / abs(u @ np.linalg.solve(a, v)))
    return f"worst of 2,000 random cases: the left side is {worst:.0f} times the right"


def _reversed() -> str:
    before = confidence.STEEPEST
    return (
        f"before any label G = A = λI, so the two sides of A.2's step are 1 and {1 / before:g}: "
        f"$G \\preceq k_\\mu A$ fails by the factor {1 / before:g} even for x = v"
    )


def _penalty() -> str:
    theta, lam = np.array([0.0, 1.0]), 0.1
    found = perturbed.pseudo_gradient(theta, lam)
    return (
        f"λ = {lam:g}: at θᵢ = 0 and 1 the pairs add {found[0]:.3f} and {found[1]:.3f} to the gradient, λθ is "
        f"{lam * theta[0]:g} and {lam * theta[1]:g}"
    )


def _unbounded() -> str:
    far = [float(np.log1p(np.exp(-z))) for z in (0.0, 5.0, 50.0)]
    perturbed_label, z = -0.2, 50.0
    noisy = float(np.logaddexp(0, -z) + perturbed_label * z)
    told = (
        f"before any label the loss of a pseudo-pair is {far[0]:.2f}, {far[1]:.3f}, {number(far[2], 1)} at margins "
        f"0, −5, −50; with γ = {perturbed_label:g} it is {noisy:.0f} at −50 and has no least value"
    )
    return told.replace("= -", "= −").replace("is -", "is −")


def _outgrown() -> str:
    network, lam, label = Network(5, 16, 3), 1.0, 1.5
    theta = network.initial(Streams(np.array([replica_key("an outgrown penalty", 0, 0)], dtype=np.uint64))).double()
    x = torch.from_numpy(generator("an outgrown penalty", 0).uniform(0, 1, (1, 2, 5)))
    found = []
    for scale in (0.0, 1e2, 1e3, 1e4):
        f = network.forward(scale * theta, network.inputs(x)).scores[0].numpy()
        z = abs(f[0] - f[1])  # the preferred document is the one that θ prefers
        loss = np.logaddexp(0, z) - label * z
        found.append(float(loss + network.width * lam / 2 * ((scale - 1) * theta).square().sum()))
    told = ", ".join(number(value, 2) for value in found)
    return f"d-16-16-1, λ = {lam:g}, one pair of label {label:g}: {told} at 0, 100, 1,000 and 10,000 times $\\theta_0$"


def _root() -> str:
    d, lam = 25, 0.7
    radius = float(np.linalg.norm(perturbed.pseudo_gradient(np.full(d, 1e3), lam)) / np.sqrt(lam))
    return f"d = {d}: at most {radius:.0f}"


def _forgotten() -> str:
    from ol2r.papers.p2neurrank.audit_cells import HEAVY, HEAVY_LAMBDA  # as in `_symmetric`

    lam, norm, bound, delta = HEAVY_LAMBDA, HEAVY.norm, HEAVY.bound, 0.1
    error = float(special.expit(2 * norm * bound) - 0.5)  # before any label θ̄ = 0 but for the pseudo-pairs
    radius = perturbed.printed_width(0.0, 1, delta, confidence.least_slope(norm, bound)) * 2 * norm / np.sqrt(lam)
    return (
        f"d = 1, u = {norm:g}, Q = {bound:g}, λ = {lam:,g}, no labels: error {error:.3f} at θ̄ = 0, printed interval "
        f"{radius:.3f}"
    )


def _logarithm() -> str:
    log_det, d, lam, delta = 6.0, 5, 0.1, 0.1
    det = float(np.exp(log_det + d * np.log(lam)))
    read = np.log(det) / (delta**2 * lam**d)
    return (
        f"log(det A/det λI) = {log_det:g}, d = {d}, λ = {lam:g}, δ = {delta:g}: {log_det + 2 * np.log(1 / delta):.1f} "
        f"by the proof, {read:,.0f} to the letter"
    ).replace(", -", ", −")


def _betas() -> str:
    proof, statement = (float(perturbed.printed_threshold(2.0, 0.1, 0.1, proof=each)) for each in (True, False))
    return f"α = 2, $c_\\mu$ = .1, ν² = .1: β = {proof:.0f} in the proof, {statement:.0f} in the statement"


def _tail() -> str:
    beta = 0.15
    n = float(perturbed.rankers_needed(beta, 0.1, printed=True))
    return (
        f"β = .2: {float(perturbed.printed_tail(0.2)):.3f} for a true {float(perturbed.upper_tail(0.2)):.3f}; at "
        f"β = {beta:g} and δ = .1 it asks for {n:.2f} rankers, the true tail for "
        f"{float(perturbed.rankers_needed(beta, 0.1)):.1f}"
    )


def _at_least() -> str:
    from ol2r.papers.p2neurrank import bounds  # as in `_symmetric`

    delta = 1 / bounds.ROUNDS
    asked = bounds.settings_table(delta)
    best, own = (asked[(asked["setting"] == "best case") == each]["printed_power"].min() for each in (True, False))
    return (
        f"δ = 1/T, T = {bounds.ROUNDS:,}: more than {np.log2(1 / delta):.1f} rankers at every ν; at ν² = .1 or .01 the "
        f"lemma asks for $10^{{{own:.0f}}}$ or more on the data sets and for $10^{{{best:.0f}}}$ where every constant "
        f"is at its best; with a linear response two are both not optimistic with probability {0.5**2:g} or more"
    )


def _first_step() -> str:
    truth, estimate = 0.6, 0.55
    return f"σ* = {truth:g}, σ̄ = {estimate:g}: the right side has {truth - estimate:.2f} in place of ½"


def _stray() -> str:
    each = [float(perturbed.printed_uncertain_probability(1e-5, 0.2, 2, 0.1, 0.1, 0.5, alpha)) for alpha in (None, 2.0)]
    return f"α = 2: {each[1] / each[0]:.2f} times the proof's"


def _symmetric() -> str:
    x, counts = np.array([[[1.0]]]), np.array([[20.0]])
    from ol2r.papers.p2neurrank.audits import fits  # here, because the library's tables need no audits

    plain = fits(x, counts, np.array([[[19.0]]]), 0.01)[0, 0, 0]
    moved = [fits(x, counts, np.array([[[19.0 + b]]]), 0.01)[0, 0, 0] - plain for b in (0.9, -0.9)]
    return f"19 of 20 labels won, noise ±.9: the fit moves by {moved[0]:+.2f} and {moved[1]:+.2f}".replace("-", "−")


def _agree_wrongly() -> str:
    return f"two rankers, each wrong with ½: both agree on the wrong order with {0.5**2:g}, and nothing is shuffled"


def _rate() -> str:
    times = [second_term(1e24, way) / second_term(1e12, way) for way in ("as in experiments", "N", "N and ν")]
    return (
        f"from T = $10^{{12}}$ to $10^{{24}}$, where log T grows 2 times, the second term grows {times[0]:.1f} times "
        f"at N = 2 and ν² = .1, {times[1]:.1f} times with N of the lemma at δ = 1/T and β = 1, and {times[2]:.1f} "
        f"times if ν² grows with $\\alpha_t^2$ besides"
    )


def second_term(rounds: float, grows: str, dimension: int = 5) -> float:
    """The second term of Theorem 4.5 with its proof's C, at δ = 1/T.

    Args:
        rounds: T.
        grows: what of C grows with T. "as in experiments": nothing, N = 2 and ν² = .1; "N": N, as Lemma 4.4 asks at
            β = 1; "N and ν": both, with the ν at which β is 1.
        dimension: d.
    """
    lam, least, examined = 1.0, 0.1, 10
    rankers, noise = 2.0, 0.1
    if grows != "as in experiments":
        rankers = float(perturbed.rankers_needed(1.0, 1 / rounds, printed=True))
    if grows == "N and ν":
        log_det = confidence.log_det_bound(dimension, examined // 2 * rounds, 1.0, lam)
        noise = (confidence.STEEPEST * perturbed.width(log_det, lam, 1.0, 1 / rounds, least) / least) ** 2
    # the bound is linear in N
    return rankers * perturbed.printed_regret_bound(
        rounds, 10, dimension, 0.1, 1.0, lam, least, examined, 0.5, 0.0, 0.5, rankers=1, noise_added=noise
    )


def _first_rounds() -> str:
    return f"V = 10: {10 * 9 // 2} pairs a round for 10"


def _no_noise() -> str:
    setting = {"rounds": 1e6, "documents": 10, "dimension": 5, "gap": 0.1, "norm": 1.0, "bound": 1.0}
    setting |= {"regularization": 1.0, "delta": 1e-6, "least": 0.1, "compared": 0.1}
    values = [perturbed.regret_bound(**setting, rankers=n, noise_added=v) for n, v in ((1, 0.0), (2, 0.1), (10, 0.1))]
    return "ours: " + ", ".join(number(v, 3) for v in values) + " at (N, ν²) = (1, 0), (2, .1), (10, .1)"


def _edges() -> str:
    v = 10
    return f"V = {v} documents in a certain order have {v * (v - 1) // 2} certain orders"


def _data() -> str:
    own, other = entry("Yahoo-LTRC-1"), entry("MSLR-WEB10K")
    assert other.n_documents and other.n_queries  # which the catalogue knows
    return (
        f"Yahoo's set 1 has {own.n_queries:,} queries and {own.n_documents:,} documents, MSLR-WEB10K "
        f"{other.n_documents / other.n_queries:.0f} a query"
    )


def _parameters() -> str:
    d, m = 136, 100
    return f"d = {d}, m = {m}: {m * d + m * m + m:,} for L = 3, {m * d + m:,} for L = 2"


def _direction() -> str:
    return "orders that all rankers put as (j, i): line 9 is true, line 10 adds (i, j)"


def _jacobian() -> str:
    lam, step = 0.1, 1e-5

    def g(theta: float) -> float:  # the paper's g before any label, d = 1
        return float(perturbed.pseudo_gradient(np.array([theta]), lam)[0]) + lam * theta

    return f"d = 1, λ = {lam:g}, no labels: g′(0) = {(g(step) - g(-step)) / (2 * step):.3f}, G = {lam:g}"


def _left_ball() -> str:
    norm, bound, lam = 1.0, 1.0, 0.01
    theta = confidence.fitted(np.array([[2 * norm]]), np.array([50.0]), np.array([0.0]), lam)
    reached = float(confidence.slope(2 * norm * float(np.linalg.norm(theta))))
    return (
        f"one pair of length 2 won 50 times, Q = 1, λ = {lam:g}: the fit has norm {np.linalg.norm(theta):.2f} and "
        f"slope {number(reached, 1)}, $c_\\mu$ of the ball is {number(confidence.least_slope(norm, bound), 1)}"
    )


def _coin() -> str:
    beta = np.linspace(0.1, 8, 80)
    least = float((np.log(np.cosh(beta / 2)) / beta**2).max())
    return f"a fair coin meets exp(β²R²) with R² = {least:.3f}; the radius of A.1 needs R² = {2 * least:.3f}"


def _inverses() -> str:
    a, x, noise = 3.0, 1.0, 0.1
    right, printed = noise * x**2 / a, noise * x**2 * a**3
    return f"d = 1, A = {a:g}, ν² = {noise:g}, x = 1: {right:.3f} in its last line, {printed:.1f} in its first"


def _unseen() -> str:
    x, pairs = np.eye(2), np.array([[1.0, 0.0]] * 20)
    every, alone = (perturbed.response_variance(x, pairs, 0.1, 0.1, pseudo_pairs=each) for each in (True, False))
    return (
        f"20 labels of (1, 0), λ = ν² = .1: the variance for (0, 1) is {every[1]:g} with noise on pseudo-pairs and "
        f"{alone[1]:g} without, for (1, 0) {every[0]:.5f} and {alone[0]:.5f}"
    )


def _third_time() -> str:
    from ol2r.papers.p2neurrank.audits import fits  # as in `_symmetric`

    x, counts, wins, lam, b = np.array([[[1.0]]]), np.array([[20.0]]), 12.0, 0.1, 1.0
    theta = [fits(x, counts, np.array([[[wins + each]]]), lam)[0, 0, 0] for each in (0.0, b)]
    moved = float(abs(special.expit(theta[1]) - special.expit(theta[0])))
    allowed = confidence.STEEPEST * b / (20 + lam)
    return f"12 of 20 labels won, noise 1: the preference moves by {moved:.3f}, $k_\\mu |U|$ is {allowed:.3f}"


def _singular() -> str:
    lam = 0.1
    (own, other), (last, stays) = (1 / np.sqrt(lam + n * np.array([1.0, 0.0])) for n in (1.0, 1e6))
    return (
        f"only (1, 0) is labelled, λ = {lam:g}: from 1 to a million labels its ‖x‖ goes from {own:.2f} to {last:.3f}, "
        f"that of (0, 1) from {other:.2f} to {stays:.2f}"
    )


def _two_halves() -> str:
    d, lam, delta, noise, gap = 46, 0.1, 1 / 5000, 0.1, 0.25
    least = confidence.least_slope(1.0, 1.0)
    alpha = perturbed.width(confidence.log_det_bound(d, 25_000, 1.0, lam), lam, 1.0, delta, least)
    beta = perturbed.printed_threshold(alpha, noise, least, proof=True)
    told = []
    for strength in (noise, noise * beta**2):  # the experiments' ν², and that at which β is 1
        log_n = float(perturbed.log_rankers_needed(beta * np.sqrt(noise / strength), delta, printed=True))
        once = float(np.log(2 * confidence.STEEPEST**2 * strength / (least * gap) ** 2))
        asked = f"$10^{{{log_n / np.log(10):.0f}}}$" if log_n > np.log(1000) else f"{np.ceil(np.exp(log_n)):.0f}"
        told.append(
            f"at ν² = {strength:,.{0 if strength > 10 else 1}f} its own N is {asked}, with which the bound is below 1 "
            f"where ‖x‖² < $10^{{-{(log_n + once) / np.log(10):.0f}}}$"
        )
    return f"d = {d}, Δ = ¼, c = 1, T = 5,000: {'; '.join(told)}"


def _potential() -> str:
    lam, length = 0.1, 1.0
    squared, log_det = length**2 / lam, float(np.log1p(length**2 / lam))
    return f"P = 1, λ = {lam:g}, the first label: ‖x‖² = {squared:g} > 2 log det = {2 * log_det:.1f}"


def _lengths() -> str:
    u = np.array([1.0, 0.0])
    return f"‖x_i‖ = ‖x_j‖ = 1, opposite: ‖x_ij‖ = {np.linalg.norm(u + u):g}"


def _never_whole() -> str:
    setting = {"documents": 10, "dimension": 5, "gap": 0.1, "norm": 1.0, "regularization": 1.0, "least": 0.1}
    setting |= {"examined": 10, "settled": 0.0, "share": 0.5, "rankers": 2, "noise_added": 0.1}
    values = [perturbed.printed_regret_bound(5000, whole=whole, **setting) for whole in (0.5, 0.0)]
    return f"T = 5,000: {number(values[0], 2)} at p* = .5, {'infinite' if np.isinf(values[1]) else values[1]} at p* = 0"


ERRATA = tuple(
    Erratum(**each | ({"check": globals()[f"_{each['check']}"]} if "check" in each else {}))
    for each in texts.read("p2neurrank", "errata", tail_from=perturbed.printed_tail_from())["errata"]
)
