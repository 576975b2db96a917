"""A mechanism that a reader moves through."""

from itertools import pairwise

import numpy as np
import pytest
from bs4 import BeautifulSoup

from ol2r.papers.bubblerank.illustration import swapped
from ol2r.papers.nsgd.illustration import null_spaces
from ol2r.papers.olranknet import illustration as olranknet
from ol2r.papers.p2neurrank import illustration as p2neurrank
from ol2r.papers.pairrank import figures, illustration
from ol2r.report.steps import steps


def test_one_drawing_is_shown_and_each_carries_its_words():
    at = illustration.divided((0.0, 0.1, 1.0), rounds=10)
    drawings = {f"{each.at:g}": figures.divided(each) for each in at}
    page = BeautifulSoup(steps(drawings, "α", "x", first=1), "html.parser")
    images = page.find_all("img")
    assert [image["data-at"] for image in images] == ["0", "0.1", "1"]
    assert [image.has_attr("hidden") for image in images] == [True, False, True]
    assert all(image["alt"].startswith("Uncertain pairs: ") for image in images)
    slider = page.find("input")
    assert (slider["min"], slider["max"], slider["value"], page.find("output").text) == ("0", "2", "1", "0.1")


ALPHAS = (0.0, 0.05, 0.1, 0.3, 1.0)


@pytest.mark.parametrize(
    ("at", "last"),
    [
        (illustration.divided(ALPHAS, rounds=60), 1),
        (olranknet.divided(ALPHAS, rounds=60), 1),
        (p2neurrank.divided((1, 2, 5, 16)), 2),
    ],
    ids=["PairRank", "olRankNet", "P²NeurRank"],
)
def test_wider_intervals_and_more_rankers_merge_blocks_and_never_split_one(at, last):
    assert all(len(block) == 1 for block in at[0].blocks) and (np.diff(at[0].scores) <= 0).all()
    cuts = [{block[-1] for block in each.blocks} for each in at]
    assert all(later <= earlier for earlier, later in pairwise(cuts)) and len(cuts[-1]) == last


def test_neighbours_that_are_decided_stay_and_fewer_pairs_stand_in_the_wrong_order():
    first, *later = swapped((0, 1000, 3000))
    assert first.open.all() and first.wrong == 6
    for each in later:
        assert sorted(each.attraction) == sorted(first.attraction) and each.wrong <= first.wrong
        assert (each.attraction[:-1] > each.attraction[1:])[~each.open].all()
    assert later[-1].wrong < first.wrong


def test_directions_avoid_what_is_stored_until_that_spans_all_of_them():
    *fewer, all_ = null_spaces(drawn=20)
    for n, each in enumerate(fewer):
        assert len(each.stored) == n and np.abs(each.drawn @ each.stored.T).max(initial=0.0) < 1e-6
        assert np.linalg.matrix_rank(each.drawn, tol=1e-5) == 3 - n
    assert np.linalg.matrix_rank(all_.stored) == np.linalg.matrix_rank(all_.drawn, tol=1e-5) == 3
