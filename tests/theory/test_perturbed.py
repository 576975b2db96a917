"""P²NeurRank's bounds against simulations; each slip of the paper has a check that would fail were the paper right."""

import numpy as np
import pytest
from scipy import stats

from ol2r.random import generator
from ol2r.theory import confidence, perturbed


def pairs_of(n=40, d=4, seed=0):
    return generator("pairs of perturbed rankers", seed).standard_normal((n, d)) / 2


def test_the_width_is_pairranks_inside_the_ball_plus_what_pseudo_pairs_add():
    arguments = 3.0, 0.5, 2.0, 0.05, 0.1
    plain = confidence.width(*arguments, projected=False)
    assert perturbed.width(*arguments) == plain
    assert perturbed.width(*arguments, pseudo_pairs=9) == pytest.approx(plain + 0.25 / 0.1 * 3)
    assert perturbed.printed_width(3.0, 9, 0.05, 0.1) == pytest.approx(
        2 * 0.25 / 0.1 * (np.sqrt(0.25 * (3.0 + np.log(1 / 0.05**2))) + 9)
    )


@pytest.mark.parametrize("d", [1, 4, 25])
def test_pseudo_pairs_add_root_d_to_the_radius_and_not_d(d):
    lam = 0.7
    largest = np.linalg.norm(perturbed.pseudo_gradient(np.full(d, 1e3), lam)) / np.sqrt(lam)  # A = λI is the worst
    assert largest == pytest.approx(np.sqrt(d))
    assert d == 1 or largest < d


def test_pseudo_pairs_are_no_penalty():
    theta, lam = np.array([-2.0, 0.0, 1.0]), 0.5
    step = 1e-6
    loss = lambda t: np.logaddexp(0, np.sqrt(lam) * t).sum()  # noqa: E731
    numeric = [(loss(theta + step * e) - loss(theta - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(perturbed.pseudo_gradient(theta, lam), numeric, atol=1e-8)
    assert perturbed.pseudo_gradient(theta, lam)[1] > 0.3, "a penalty would not move a weight of zero"


def test_the_inequality_that_takes_g_away_is_false_for_other_vectors_and_true_as_norms():
    rng = generator("the false inequality", 0)
    worst = 0.0
    for _ in range(300):
        x, slopes = rng.standard_normal((6, 3)), rng.uniform(0.01, 0.25, 6)
        a = x.T @ x + 0.1 * np.eye(3)
        g = (x * slopes[:, None]).T @ x + 0.1 * np.eye(3)
        least = slopes.min()
        u, v = rng.standard_normal((2, 3))
        one, other = abs(u @ np.linalg.solve(g, v)), abs(u @ np.linalg.solve(a, v)) / least
        worst = max(worst, one / other)
        norms = [np.sqrt(w @ np.linalg.solve(a, w)) for w in (u, v)]
        assert one <= norms[0] * norms[1] / least * (1 + 1e-9)
    assert worst > 2


@pytest.mark.parametrize("pseudo_pairs", [True, False])
def test_the_response_to_noise_has_the_variance_of_the_lemma_if_pseudo_pairs_are_perturbed(pseudo_pairs):
    pairs, rng, lam, noise = pairs_of(10), generator("response", 1), 0.8, 0.3
    x = rng.standard_normal((5, 4))
    a = pairs.T @ pairs + lam * np.eye(4)
    b = np.sqrt(noise) * rng.standard_normal((40_000, 10)) @ pairs
    if pseudo_pairs:
        b += np.sqrt(noise * lam) * rng.standard_normal((40_000, 4))
    found = (b @ np.linalg.solve(a, x.T)).var(axis=0)
    wanted = perturbed.response_variance(x, pairs, lam, noise, pseudo_pairs=pseudo_pairs)
    np.testing.assert_allclose(found, wanted, rtol=0.05)
    lemma = noise * (x * np.linalg.solve(a, x.T).T).sum(axis=1)
    assert np.allclose(wanted, lemma) == pseudo_pairs and (wanted <= lemma * (1 + 1e-12)).all()


def test_the_printed_tail_is_a_bound_only_above_a_third():
    beta = np.linspace(0.36, 5, 200)
    assert (perturbed.printed_tail(beta) <= perturbed.upper_tail(beta)).all()
    assert perturbed.printed_tail(0.2) == pytest.approx(0.678, abs=1e-3)
    assert perturbed.upper_tail(0.2) == pytest.approx(stats.norm.sf(0.2)) == pytest.approx(0.421, abs=1e-3)


def test_the_printed_tail_is_a_bound_from_its_crossing_on_and_not_before():
    start = perturbed.printed_tail_from()
    for beta, holds in ((start - 1e-6, False), (start + 1e-6, True)):
        assert (np.exp(-(beta**2)) / (4 * np.sqrt(np.pi) * beta) <= stats.norm.sf(beta)) == holds
    before = np.linspace(0.01, start - 1e-3, 50)
    assert (perturbed.printed_tail(before) > perturbed.upper_tail(before)).all()


def test_so_many_rankers_are_needed():
    n = perturbed.rankers_needed(1.0, 0.05)
    assert (1 - stats.norm.sf(1.0)) ** n == pytest.approx(0.05)
    assert perturbed.rankers_needed(1.0, 0.05, printed=True) > n
    assert perturbed.rankers_needed(60.0, 0.05) == np.inf
    assert perturbed.rankers_needed(8.0, 0.05) > 1e12


def test_the_statements_threshold_is_the_square_of_the_proofs():
    proof = perturbed.printed_threshold(2.0, 0.1, 0.05, proof=True)
    assert proof == pytest.approx(0.25 * 2.0 / (0.05 * np.sqrt(0.1)))
    assert perturbed.printed_threshold(2.0, 0.1, 0.05) == pytest.approx(proof**2)
    assert perturbed.optimism_threshold(2.0, 0.1) == pytest.approx(2.0 / (0.25 * np.sqrt(0.1)))


def world(seed, pairs=60, lam=0.5, noise=0.5, rankers=40_000):
    """A linear response: G between cA and A, θ̄, and x·θ of many rankers for some pairs."""
    rng, x = generator("linear response", seed), pairs_of(pairs, seed=seed)
    theta = rng.standard_normal(4)
    slopes = confidence.slope(x @ theta)
    a, g = x.T @ x + lam * np.eye(4), (x * slopes[:, None]).T @ x + lam * np.eye(4)
    b = np.sqrt(noise) * rng.standard_normal((rankers, 4)) @ np.linalg.cholesky(a).T
    tested = rng.standard_normal((8, 4))
    norm = np.sqrt((tested * np.linalg.solve(a, tested.T).T).sum(axis=1))
    return theta, tested, norm, tested @ theta + b @ np.linalg.solve(g, tested.T), float(slopes.min())


@pytest.mark.parametrize("seed", range(3))
def test_a_ranker_is_optimistic_as_often_as_the_threshold_says_or_more(seed):
    theta, tested, norm, reached, _ = world(seed)
    for alpha in (0.01, 0.05):
        # the worst truth that Lemma 4.2 allows: θ̄ says −α ‖x‖/k_μ of a pair whose true order is the other
        pessimistic = reached - tested @ theta - alpha / confidence.STEEPEST * norm
        often = (pessimistic > 0).mean(axis=0)
        assert (often >= perturbed.upper_tail(perturbed.optimism_threshold(alpha, 0.5)) - 0.01).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rankers", [1, 2, 5])
def test_orders_are_not_unanimously_right_no_more_often_than_the_bound_says(seed, rankers):
    theta, tested, norm, reached, least = world(seed)
    sign = np.sign(tested @ theta)
    right = (reached * sign > 0).reshape(-1, rankers, len(tested)).all(axis=1).mean(axis=0)
    gap = np.abs(1 / (1 + np.exp(-tested @ theta)) - 0.5)
    bound = perturbed.uncertain_probability(norm**2, gap, 0.0, rankers, 0.5, least)
    assert (1 - right <= bound + 0.01).all()
    halved = perturbed.uncertain_probability(norm**2, gap, 0.0, rankers, 0.5 / 10_000, least)
    assert (1 - right > halved + 0.01).any(), "this world cannot tell a wrong bound from a right one"


def test_the_printed_probability_has_a_stray_factor():
    proof = perturbed.printed_uncertain_probability(1e-4, 0.2, 2, 0.1, 0.1, 0.5)
    assert proof == pytest.approx(2 * 2 * 0.25**2 * 0.1 * 1e-4 / (0.1 * 0.5 * 0.2) ** 2)
    stated = perturbed.printed_uncertain_probability(1e-4, 0.2, 2, 0.1, 0.1, 0.5, alpha=3.0)
    assert stated == pytest.approx(proof * (0.25 * 3.0) ** 2)
    assert perturbed.printed_uncertain_probability(1.0, 0.2, 2, 0.1, 0.1, 0.5) == 1.0
    # where half of the gap is left, the corrected probability is below the proof's
    corrected = perturbed.uncertain_probability(1e-4, 0.2, 0.5 * 0.2 / 1e-2, 2, 0.1, 0.1)
    assert corrected < proof


def test_a_pair_of_no_length_is_certain_and_one_within_the_radius_may_not_be():
    found = perturbed.uncertain_probability(np.array([0.0, 1.0]), 0.1, 0.5, 3, 0.1, 0.1)
    assert found.tolist() == [0.0, 1.0]


REGRET = {"documents": 10, "dimension": 5, "gap": 0.1, "norm": 1.0, "bound": 1.0, "regularization": 1.0}
REGRET |= {"least": 0.1, "compared": 0.1, "rankers": 2, "noise_added": 0.1}


def test_the_regret_bound_is_its_three_parts_and_grows_as_the_logarithm_squared():
    rounds, at_once = 1e6, 5
    log_det = confidence.log_det_bound(5, at_once * rounds, 1.0, 1.0)
    alpha = perturbed.width(log_det, 1.0, 1.0, 1 / rounds, 0.1)
    wide = at_once * log_det / np.log1p(at_once * (0.1 / (2 * alpha)) ** 2)
    narrow = 4 * 2 * 0.25**2 * 0.1 / (np.e * 0.01**2) * log_det * 20 / np.log(21)
    found = perturbed.regret_bound(rounds, delta=1 / rounds, **REGRET)
    assert found == pytest.approx(45 + (wide + narrow) / 0.1)
    slow = [perturbed.regret_bound(t, delta=1 / t, **REGRET) / np.log(t) ** 2 for t in (1e6, 1e9, 1e12)]
    assert max(slow) / min(slow) < 1.5
    assert perturbed.regret_bound(rounds, delta=0.1, **REGRET | {"compared": 0.0}) == np.inf
    assert perturbed.regret_bound(rounds, delta=0.1, **REGRET | {"rankers": 5}) > perturbed.regret_bound(
        rounds, delta=0.1, **REGRET
    )


def test_the_printed_regret_counts_too_few_pairs_for_the_first_rounds():
    setting = REGRET | {"examined": 10, "whole": 0.5, "settled": 100.0, "share": 0.5}
    setting = {name: value for name, value in setting.items() if name not in ("bound", "compared")}
    found = perturbed.printed_regret_bound(1e4, **setting)
    c = 2 * 2 * 0.25**2 * 0.1 / (0.1 * 0.5 * 0.1) ** 2
    assert found == pytest.approx(100 * 10 + 2 * 5 * 10 * c * np.log1p(10 * 1e4 / 10) / 0.5)
    first = found - perturbed.printed_regret_bound(1e4, **setting | {"settled": 0.0})
    assert first == pytest.approx(100 * 10), "and 100 rounds of 10 documents can misorder 100 × 45 pairs"
    assert perturbed.printed_regret_bound(1e4, **setting | {"whole": 0.0}) == np.inf


def test_at_any_strength_of_the_noise_so_many_rankers_are_needed_and_large_numbers_have_logarithms():
    for delta in (0.1, 1 / 5000):
        assert perturbed.rankers_needed(0.0, delta) == pytest.approx(np.log2(1 / delta))
        assert (perturbed.rankers_needed(np.linspace(0, 5, 50), delta) >= np.log2(1 / delta) * (1 - 1e-12)).all()
    beta = np.array([0.2, 1.0, 4.0])
    for printed in (False, True):
        logs = perturbed.log_rankers_needed(beta, 0.05, printed=printed)
        np.testing.assert_allclose(logs, np.log(perturbed.rankers_needed(beta, 0.05, printed=printed)))
    # 50 deviations: the tail is e^{−50²/2}/(50 √(2π)) but for a factor 1 − 1/50²
    tail = -(50.0**2) / 2 - np.log(50 * np.sqrt(2 * np.pi))
    assert perturbed.log_rankers_needed(50.0, 0.05) == pytest.approx(np.log(np.log(20)) - tail, abs=1e-3)
    assert perturbed.log_rankers_needed(50.0, 0.05, printed=True) == pytest.approx(
        np.log(np.log(20)) + 50.0**2 + np.log(4 * np.sqrt(np.pi) * 50)
    )
    assert perturbed.rankers_needed(0.15, 0.1, printed=True) < 1, "the printed tail asks for less than one ranker"


def test_the_bound_on_optimism_for_every_response_is_the_linear_ones_if_slopes_are_equal_or_there_is_one_weight():
    assert perturbed.curved_optimism(0.7, 1.0, 5) == pytest.approx(perturbed.upper_tail(0.7))
    assert perturbed.curved_optimism(0.7, 0.1, 1) == pytest.approx(perturbed.upper_tail(0.7))
    rng = generator("curved optimism", 0)
    chi = np.linalg.norm(rng.standard_normal((200_000, 3)), axis=1)
    wanted = (rng.standard_normal(200_000) > 0.7 + (1 / 0.4 - 1) / 2 * chi).mean()
    assert perturbed.curved_optimism(np.array([0.7]), 0.4, 4) == pytest.approx(wanted, abs=0.004)


def test_with_any_hessian_a_ranker_is_optimistic_as_often_as_the_bound_for_every_response_says():
    # the worst hessian that may depend on the noise: of many, the one that moves the pair least
    rng, d, least = generator("any hessian", 0), 3, 0.3
    x = rng.standard_normal(d)
    norm = np.linalg.norm(x)  # A = I
    b = rng.standard_normal((4000, d))
    lowest = np.full(len(b), np.inf)
    for _ in range(200):
        turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
        g = (turn * rng.choice([least, 1.0], d)) @ turn.T
        lowest = np.minimum(lowest, b @ np.linalg.solve(g, x))
    for beta in (0.0, 0.5):
        assert (lowest > beta * norm).mean() >= perturbed.curved_optimism(beta, least, d)
    assert (lowest > 0.5 * norm).mean() < perturbed.upper_tail(0.5), "a linear response is needed for the better bound"


def test_an_order_is_right_while_the_noise_is_below_what_the_bound_for_every_response_allows():
    pairs, rng = pairs_of(30), generator("every response", 3)
    lam, noise, gap, alpha = 0.5, 0.4, 0.3, 0.01
    theta, counts = 2 * rng.standard_normal(4), np.full(30, 4.0)
    a = (pairs * counts[:, None]).T @ pairs + lam * np.eye(4)
    norms = np.sqrt((pairs * np.linalg.solve(a, pairs.T).T).sum(axis=1))
    fitted = confidence.estimating_function(theta, pairs, counts, lam)
    gaps = np.abs(1 / (1 + np.exp(-pairs @ theta)) - 0.5)
    left = gaps - alpha * norms
    slopes = perturbed.way_slope(pairs @ theta, norms, norms, left)
    assert (slopes <= confidence.slope(np.abs(pairs @ theta).max())).all() and slopes.min() > 0
    flipped = np.zeros(30)
    draws = 150
    for _ in range(draws):
        # noise as long as it may be for the most robust pair, or shorter
        b = np.linalg.cholesky(a) @ (rng.standard_normal(4) * np.sqrt(noise))
        reached = fit_to(pairs, counts, fitted + b, lam, theta)
        wrong = (pairs @ reached) * (pairs @ theta) <= 0
        length = np.sqrt(b @ np.linalg.solve(a, b))
        assert not (wrong & (length < slopes * left / (0.25 * norms))).any()
        flipped += wrong
    bound = perturbed.curved_uncertain_probability(norms**2, gaps, alpha, 1, noise, slopes, 4)
    assert (flipped / draws <= bound + 0.05).all() and flipped.any()
    markov = 4 * (0.25**2) * noise * norms**2 / (slopes * np.maximum(left, 1e-12)) ** 2
    assert (bound <= np.minimum(1, markov) * (1 + 1e-9)).all()
    assert perturbed.curved_uncertain_probability(0.0, gap, alpha, 2, noise, 0.1, 4) == 0.0


def fit_to(pairs, counts, target, lam, theta):
    """θ with g(θ) = target, by many small steps of Newton's method."""
    for _ in range(60):
        hessian = (pairs * (counts * confidence.slope(pairs @ theta))[:, None]).T @ pairs + lam * np.eye(4)
        missing = target - confidence.estimating_function(theta, pairs, counts, lam)
        theta = theta + 0.4 * np.linalg.solve(hessian, missing)
    assert np.abs(missing).max() < 1e-6
    return theta


def test_regret_for_every_response_has_the_dimension_where_linear_response_has_one_over_e():
    linear, curved = (perturbed.regret_bound(1e6, delta=1e-6, **REGRET, curved=each) for each in (False, True))
    none = perturbed.regret_bound(1e6, delta=1e-6, **REGRET | {"noise_added": 0.0})
    assert (curved - none) / (linear - none) == pytest.approx(5 * np.e)
