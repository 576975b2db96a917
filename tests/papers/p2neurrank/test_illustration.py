"""The example of the page: its certain orders follow from its numbers, and its noise is one draw."""

import numpy as np
import pytest

from ol2r.papers.p2neurrank import illustration
from ol2r.theory import perturbed

EXAMPLE = illustration.figure_1()


def test_an_interval_makes_an_order_certain_if_it_stays_clear_of_a_half():
    np.testing.assert_array_equal(EXAMPLE["certain"], EXAMPLE["estimate"] - EXAMPLE["half"] > 0.5)
    assert EXAMPLE["certain"].any() and not EXAMPLE["certain"].all()


@pytest.mark.parametrize("n", [2, illustration.RANKERS])
def test_an_ensemble_makes_an_order_certain_if_all_its_rankers_are_on_one_side(n):
    each = EXAMPLE[[f"ranker_{i + 1}" for i in range(n)]].to_numpy()
    np.testing.assert_array_equal(EXAMPLE[f"certain_{n}"], (each > 0.5).all(axis=1) | (each < 0.5).all(axis=1))


def test_two_rankers_are_certain_of_something_that_five_are_not():
    assert (EXAMPLE["certain_2"] >= EXAMPLE["certain_5"]).all()
    assert EXAMPLE["certain_2"].sum() > EXAMPLE["certain_5"].sum() > 0


def test_pairs_stand_in_the_order_of_their_estimates_and_with_the_better_document_first():
    assert len(EXAMPLE) == 10 and EXAMPLE["pair"].is_unique
    assert EXAMPLE["estimate"].is_monotonic_increasing and EXAMPLE["estimate"].min() > 0.5


def test_refits_solve_their_equation():
    of = illustration.history()
    noise = illustration.in_one_draw(of, 3)
    for b, theta in zip(noise, of.fitted(noise), strict=True):
        chance = 1 / (1 + np.exp(-of.pairs @ theta))
        gradient = (of.counts * chance - of.won) @ of.pairs + illustration.REGULARIZATION * theta - b
        assert np.abs(gradient).max() < 1e-6


@pytest.mark.parametrize("draw", [illustration.label_by_label, illustration.in_one_draw])
def test_noise_has_the_covariance_of_one_draw_either_way(draw):
    of = illustration.history()
    found = draw(of, 40_000, seed=1)
    rows = np.repeat(of.pairs, of.counts.astype(int), axis=0)
    expected = illustration.NOISE * sum(np.outer(x, x) for x in rows)
    np.testing.assert_allclose(found.T @ found / len(found), expected, atol=0.03 * expected.max())


def test_the_covariance_is_that_of_the_theory_page():
    of, lam = illustration.history(), illustration.REGULARIZATION
    a = of.seen + lam * np.eye(2)
    rows = np.repeat(of.pairs, of.counts.astype(int), axis=0)
    x = np.array([[1.0, -0.5]])
    response = np.linalg.solve(a, x[0])
    expected = perturbed.response_variance(x, rows, lam, illustration.NOISE, pseudo_pairs=False)
    assert illustration.NOISE * response @ of.seen @ response == pytest.approx(expected[0])


def test_the_check_counts_draws_in_the_ellipse_and_would_see_too_large_a_noise():
    table = illustration.one_draw(1000)
    inside = (table["distance"] <= illustration.reach()).groupby(table["way"]).mean()
    assert set(inside.index) == {"label by label", "in one draw"}
    assert inside.between(0.92, 0.98).all()
    held, off = illustration.checked(table)
    assert held.to_dict() == inside.to_dict() and off.max() < 0.1
    doubled = table.assign(noise_1=2 * table["noise_1"], noise_2=2 * table["noise_2"], distance=4 * table["distance"])
    assert (illustration.checked(doubled)[1] > 2.9).all()
