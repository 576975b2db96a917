"""What a claim lets one expect is told for every claim of every paper, with the thresholds of its rule."""

import re
from importlib import import_module

import pytest

from ol2r.papers import NAMES

IN_OTHER_WORDS = {"NS4": {0.22, 0.1}, "BR2": {0.316}, "BR7": {0.2}, "PP8": {1.0}}
"""Thresholds on a logarithmic scale, or about a power of two: the sentence says them as a ratio or in per cent."""

CLAIMS = [claim for name in NAMES for claim in import_module(f"ol2r.papers.{name}.grid").PAPER.claims]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_what_is_expected_is_one_sentence_with_the_thresholds_of_the_rule(claim):
    told = claim.expected
    assert told.endswith(".") and ". " not in told and told != claim.statement
    contrasts = [contrast for part in claim.parts for contrast in part.contrasts]
    thresholds = {abs(one.scale.margin) for one in contrasts} | {one.within or 0.0 for one in contrasts}
    spelled = {each: {f"{each:g}", f"{each:.0%}", f"{each:.2f}"} for each in thresholds - {0.0}}
    numbers = set(re.findall(r"(?<![\d@.])\d+(?:\.\d+)?%?", told))
    missing = {each for each, ways in spelled.items() if not ways & numbers}
    assert missing <= IN_OTHER_WORDS.get(claim.id, set())
