"""Docstrings reach the API pages as they read in the source."""

import docstrings
import pytest


@pytest.mark.parametrize(
    ("written", "marked_up"),
    [
        ("|x| and a * b", r"\|x\| and a \* b"),
        ("w_ + w_t and **kwargs", r"w\_ + w_t and \*\*kwargs"),
        ("see `alpha_` and ``a|b``", "see ``alpha_`` and ``a|b``"),
        ("NDCG@10 at tcp://10.0.0.7 and https://a.b", r"NDCG\@10 at tcp\://10.0.0.7 and https://a.b"),
        ("by :func:`ol2r.chapter`", "by :func:`ol2r.chapter`"),
    ],
)
def test_only_code_keeps_its_meaning_as_markup(written, marked_up):
    assert docstrings.escaped(written) == marked_up
