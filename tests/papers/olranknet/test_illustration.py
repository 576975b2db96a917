"""The worked example is the paper's, and what is enumerated by hand is what the library's operation shows."""

import numpy as np
import pandas as pd
import pytest

from ol2r.papers.olranknet import illustration

CERTAIN = illustration.certain_orders()


def test_the_example_is_the_papers():
    above, below = np.triu_indices(6, 1)
    names = illustration.NAMES
    uncertain = {names[i] + names[j] for i, j in zip(above, below, strict=True) if not (CERTAIN[i, j] or CERTAIN[j, i])}
    assert uncertain == {"BC", "CD", "EF"}
    assert not np.tril(CERTAIN).any()


def test_an_order_is_certain_if_its_interval_lies_above_a_half():
    half = np.sqrt(2 * illustration.VARIANCE)
    gap = illustration.SCORES[:, None] - illustration.SCORES
    np.testing.assert_array_equal(CERTAIN, 1 / (1 + np.exp(-gap)) - half > 0.5)


def test_lists_are_enumerated_with_their_probability():
    """A, then B or C (½ each); after B, C or D; E and F in either order."""
    found = {"".join(illustration.NAMES[i] for i in shown): p for shown, p in illustration.lists(CERTAIN).items()}
    expected = {"ABCD": 0.25, "ABDC": 0.25, "ACBD": 0.5}
    assert found == pytest.approx({f + tail: p / 2 for f, p in expected.items() for tail in ("EF", "FE")})


def test_the_librarys_operation_shows_these_lists_with_these_frequencies():
    n = 4000
    seen = pd.Series(illustration.sampled(CERTAIN, n)).value_counts()
    expected = illustration.lists(CERTAIN)
    assert set(seen.index) == set(expected)
    for shown, p in expected.items():
        assert abs(seen[shown] - n * p) < 5 * (n * p * (1 - p)) ** 0.5


def test_figure_1_shows_two_lists_that_differ_and_may_be_shown():
    example = illustration.figure_1()
    assert len(set(example.shown)) == 2 and set(example.shown) <= set(example.lists["list"])
    assert example.lists["probability"].sum() == pytest.approx(1)


def test_figure_2_shows_intervals_of_the_document_of_higher_score():
    table = illustration.figure_2(rounds=15)
    assert ((table["estimate"] - table["half"] > 0.5) == table["certain"]).all() and (table["half"] >= 0).all()
    assert (table["estimate"].diff().dropna() >= 0).all() and (table["estimate"] >= 0.5).all()
    certain, uncertain = (table[table["shown"] == word].iloc[0] for word in ("certain", "uncertain"))
    assert certain["certain"] and not uncertain["certain"]
    assert certain["half"] < certain["estimate"] - 0.5 and uncertain["half"] >= uncertain["estimate"] - 0.5
