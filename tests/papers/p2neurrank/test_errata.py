"""Where the P²NeurRank paper slips: each slip has a check that would fail were the paper right.

What `tests/theory/test_perturbed.py` holds already is not here: the inequality of A.1, the pseudo-pairs, √d, the tail,
both β, the stray factor, pairs of the first rounds.
"""

import re
from collections import Counter
from unicodedata import normalize

import numpy as np
import pytest
from scipy import optimize, special

from ol2r.papers.p2neurrank import bounds
from ol2r.papers.p2neurrank.audits import fits
from ol2r.papers.p2neurrank.errata import ERRATA, second_term
from ol2r.random import generator
from ol2r.theory import confidence, perturbed

REGRET = {"documents": 10, "dimension": 5, "gap": 0.1, "norm": 1.0, "regularization": 1.0, "least": 0.1}


def told(place, number=0):
    return [each.check() for each in ERRATA if each.place == place and each.check][number]


def test_each_is_there_once_and_only_what_the_text_settles_has_no_number():
    assert max(Counter(each.correction for each in ERRATA).values()) == 1
    assert {each.harm for each in ERRATA} == {"none", "constants", "proof", "statement"}
    assert [each.place for each in ERRATA if each.check is None] == [
        "Section 4", "Algorithm 1, line 19", "5.2.2", "5.1.4, 5.2.2",
    ]  # fmt: skip


def read(number):
    """What a number that `report.tables.number` wrote is worth."""
    mantissa, _, power = number.replace("−", "-").partition(" · 10")
    return float(mantissa) * 10 ** int(normalize("NFKC", power) or 0)


def test_a_perturbed_label_outgrows_the_penalty_of_a_deep_network():
    numbers = [read(each) for each in told("Eq. 3.3").split(": ")[1].split(" at ")[0].split(", ")]
    assert numbers[0] < numbers[1] and numbers[-1] < -1e9


def test_g_also_has_the_slopes_of_the_pseudo_pairs():
    theta, lam, step = np.array([0.3, -1.0, 2.0]), 0.7, 1e-6
    found = np.zeros((3, 3))
    for i, unit in enumerate(np.eye(3)):
        up, down = (perturbed.pseudo_gradient(theta + sign * step * unit, lam) for sign in (1, -1))
        found[:, i] = (up - down) / (2 * step) + lam * unit
    slopes = confidence.slope(np.sqrt(lam) * theta)
    np.testing.assert_allclose(found, lam * np.diag(1 + slopes), rtol=1e-6)
    assert (np.diag(found) > 1.05 * lam).all()  # A.1's G is λI before any label


@pytest.mark.parametrize("noise", [0.2, -0.2])
def test_a_pseudo_pair_under_noise_has_no_least_loss_or_the_loss_of_a_shifted_label(noise):
    def loss(z):
        return np.logaddexp(0, z) - noise * z  # label 0 plus γ

    far = -np.array([10.0, 100.0, 1000.0])
    if noise < 0:
        assert (np.diff(loss(far)) < 0).all() and loss(far[-1]) < -100
    else:
        assert optimize.minimize_scalar(loss).x == pytest.approx(special.logit(noise), abs=1e-5)


def test_the_printed_interval_forgets_the_penalty():
    lam, norm, bound, delta = 1000.0, 0.5, 1.0, 0.1
    x = 2 * norm
    error = special.expit(x * bound) - 0.5  # without labels the fit is 0, whatever θ* is
    norms, least = x / np.sqrt(lam), confidence.least_slope(norm, bound)
    assert error > float(perturbed.printed_width(0.0, 1, delta, least)) * norms
    assert error <= float(perturbed.width(0.0, lam, bound, delta, least)) * norms


def test_the_fit_leaves_the_ball_and_with_it_the_slopes_that_c_mu_knows():
    theta = confidence.fitted(np.array([[2.0]]), np.array([50.0]), np.array([0.0]), 0.01)
    assert abs(theta[0]) > 1.0  # Q
    assert confidence.slope(2 * theta[0]) < confidence.least_slope(1.0, 1.0) / 3


def test_a_fair_coin_has_twice_the_constant_that_the_proposition_would_give_it():
    beta = np.linspace(0.05, 10, 200)
    mean = np.log(np.cosh(beta / 2))
    assert (mean <= beta**2 / 8 + 1e-12).all()  # R = ½ in exp(β²R²/2)
    assert (mean > 0.9 * beta**2 / 8).any()  # and not less
    # exp(β²R²) would allow R² = 1/8, and so a noise for which A.1's radius is too small
    assert (mean > beta**2 * (1 / 8) / 2 + 1e-6).any()


def test_the_variance_is_that_of_the_last_line():
    rng = generator("a variance", 0)
    pairs, x, lam = rng.standard_normal((12, 3)), rng.standard_normal(3), 0.5
    a = pairs.T @ pairs + lam * np.eye(3)
    noise = rng.standard_normal((40_000, 12)) @ pairs + np.sqrt(lam) * rng.standard_normal((40_000, 3))
    seen = np.var(noise @ np.linalg.solve(a, x))
    assert seen == pytest.approx(x @ np.linalg.solve(a, x), rel=0.03)
    assert seen < 0.01 * (x @ a @ a @ a @ x)  # the first line


def moved(wins, noise, counts=20.0, regularization=0.1):
    x = np.array([[[1.0]]])
    theta = [fits(x, np.array([[counts]]), np.array([[[wins + b]]]), regularization)[0, 0, 0] for b in (0.0, noise)]
    return theta[1] - theta[0], abs(special.expit(theta[1]) - special.expit(theta[0]))


def test_the_response_to_noise_is_not_symmetric():
    up, down = (moved(19.0, b, regularization=0.01)[0] for b in (0.9, -0.9))
    assert up > 2 * abs(down) > 0


@pytest.mark.parametrize("noise", [0.3, -1.0, 2.0])
def test_a_preference_moves_further_than_k_mu_u_but_not_than_that_over_c(noise):
    _, change = moved(12.0, noise)
    allowed = confidence.STEEPEST * abs(noise) / (20 + 0.1)
    assert change > 2 * allowed  # A.2 has it below
    theta = fits(np.ones((1, 1, 1)), np.array([[20.0]]), np.array([[[12.0], [12.0 + noise]]]), 0.1)[0, :, 0]
    assert change <= allowed / confidence.slope(np.abs(theta)).min()


def test_a_direction_without_pairs_keeps_its_width_and_gets_no_noise():
    pairs = np.array([[1.0, 0.0]] * 1000)
    a = pairs.T @ pairs + 0.1 * np.eye(2)
    assert np.sqrt(np.linalg.inv(a)[1, 1]) == pytest.approx(1 / np.sqrt(0.1))
    assert np.linalg.inv(a)[0, 0] < 1.1e-3
    alone = perturbed.response_variance(np.eye(2), pairs, 0.1, 0.1, pseudo_pairs=False)
    assert alone[1] == 0 < alone[0]


@pytest.mark.parametrize("noise", [0.1, 0.01, 100.0])
def test_the_two_halves_of_the_lemma_want_opposite_things_at_the_noise_of_the_experiments(noise):
    alpha, delta, gap = 20.0, 1 / 5000, 0.25
    least = confidence.least_slope(1.0, 1.0)
    beta = perturbed.printed_threshold(alpha, noise, least, proof=True)
    log_n = float(perturbed.log_rankers_needed(beta, delta, printed=True))
    # the greatest ‖x‖² at which the bound is below one, with N rankers and with two
    log_norm = -log_n - np.log(2 * confidence.STEEPEST**2 * noise / (least * gap) ** 2)
    if noise < 1:
        assert log_norm < -30 * np.log(10)
    two = perturbed.printed_uncertain_probability(0.01, gap, 2, 0.01, least, 1.0)
    assert two < 1 == perturbed.printed_uncertain_probability(0.01, gap, 10**6, 0.01, least, 1.0)


def test_the_printed_regret_grows_as_one_logarithm():
    setting = REGRET | {"examined": 10, "settled": 0.0, "share": 0.5, "rankers": 2, "noise_added": 0.1}
    early, late = (perturbed.printed_regret_bound(t, whole=0.5, **setting) for t in (1e12, 1e24))
    assert late / early == pytest.approx(2.0, rel=0.05)  # log² T would give 4
    assert np.isinf(perturbed.printed_regret_bound(5000, whole=0.0, **setting))


def test_the_rate_is_the_printed_one_with_the_lemmas_n_and_a_constant_noise_and_not_with_its_noise():
    powers = {  # p of log^p T
        way: np.log2(second_term(1e200, way) / second_term(1e100, way)) for way in ("as in experiments", "N", "N and ν")
    }
    assert powers["as in experiments"] == pytest.approx(1, abs=0.02)
    assert powers["N"] == pytest.approx(2, abs=0.02)
    assert powers["N and ν"] == pytest.approx(3, abs=0.05)
    in_d = {way: second_term(1e100, way, 50) / second_term(1e100, way, 5) for way in powers}
    assert in_d["N"] == pytest.approx(10, rel=0.02)  # d
    assert 10 * 5 < in_d["N and ν"] < 10 * 10  # d², but for what log(1/δ) adds to α²


def test_two_rankers_meet_the_lemmas_condition_in_no_experiment():
    asked = bounds.settings_table()
    assert (asked["printed_power"] > np.log10(10)).all()  # nor do five or ten
    assert f"$10^{{{asked['printed_power'].min():.0f}}}$" in told("1, 5.2.1")
    beta = np.linspace(perturbed.printed_tail_from(), 5, 50)
    assert (perturbed.rankers_needed(beta, 1 / 5000, printed=True) > np.log2(5000)).all()


def test_at_the_noise_of_its_first_half_the_lemmas_bound_is_below_one_at_some_length():
    (plain, own) = (float(each) for each in re.findall(r"‖x‖² < \$10\^\{-(\d+)\}\$", told("Lemma 4.4", 4)))
    assert plain > 1000 > own


def test_the_bound_is_least_without_noise():
    setting = REGRET | {"rounds": 1e6, "bound": 1.0, "delta": 1e-6, "compared": 0.1}
    values = [perturbed.regret_bound(**setting, rankers=n, noise_added=v) for n, v in ((1, 0.0), (2, 0.01), (2, 0.1))]
    assert values == sorted(values) and values[0] < values[1]


def test_the_potential_lemma_needs_a_large_penalty_and_updates_after_every_label():
    def squares(regularization, at_once, rounds=50):
        a, total = regularization, 0.0
        for _ in range(rounds):
            total += at_once / a  # one pair of length one, so many times in a round
            a += at_once
        return total, 2 * np.log(a / regularization)

    assert (lambda s: s[0] < s[1])(squares(1.0, 1))
    assert (lambda s: s[0] > s[1])(squares(0.1, 1))
    assert (lambda s: s[0] > s[1])(squares(1.0, 5, rounds=2))
    for regularization, at_once in ((0.1, 1), (1.0, 5), (0.1, 5)):
        total, twice = squares(regularization, at_once)
        assert total <= confidence.potential_bound(twice / 2, at_once / regularization) * (1 + 1e-9)


def test_numbers_of_the_checks_are_those_of_the_tests_above():
    assert told("Proposition 4.1").endswith("needs R² = 0.250")
    assert "10 > 2 log det = 4.8" in told("A.3")
    assert r"moves by 0.049, $k_\mu |U|$ is 0.012" in told("A.2", 3)
    assert "120 a query" in told("5.1.1, 5.2.1, 5.2.3")
    assert "infinite at p* = 0" in told("Theorem 4.5", 2)
    unseen = told("A.2 for Algorithm 1")
    assert "is 0.1 with" not in unseen and "and 0 without" in unseen
    assert "grows 2.0 times at N = 2" in told("Theorem 4.5")
