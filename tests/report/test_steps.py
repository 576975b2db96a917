"""A mechanism that a reader moves through."""

import numpy as np
from bs4 import BeautifulSoup

from ol2r.papers.nsgd.illustration import null_spaces
from ol2r.papers.pairrank import figures, illustration
from ol2r.report.steps import steps


def test_one_drawing_is_shown_and_each_carries_its_words():
    at = illustration.divided((0.0, 0.1, 1.0), rounds=10)
    drawings = {f"{each.alpha:g}": figures.divided(each) for each in at}
    page = BeautifulSoup(steps(drawings, "α", "x", first=1), "html.parser")
    images = page.find_all("img")
    assert [image["data-at"] for image in images] == ["0", "0.1", "1"]
    assert [image.has_attr("hidden") for image in images] == [True, False, True]
    assert all(image["alt"].startswith("Uncertain pairs: ") for image in images)
    slider = page.find("input")
    assert (slider["min"], slider["max"], slider["value"], page.find("output").text) == ("0", "2", "1", "0.1")


def test_wider_intervals_merge_blocks_and_never_split_one():
    narrow, *wider = illustration.divided((0.0, 0.05, 0.1, 0.3, 1.0), rounds=60)
    assert [len(block) for block in narrow.blocks] == [1] * illustration.WIDE
    cuts = {block[-1] for block in narrow.blocks}
    for each in wider:
        assert {block[-1] for block in each.blocks} <= cuts
        cuts = {block[-1] for block in each.blocks}
    assert len(cuts) == 1


def test_directions_avoid_what_is_stored_until_that_spans_all_of_them():
    *fewer, all_ = null_spaces(drawn=20)
    for n, each in enumerate(fewer):
        assert len(each.stored) == n and np.abs(each.drawn @ each.stored.T).max(initial=0.0) < 1e-6
        assert np.linalg.matrix_rank(each.drawn, tol=1e-5) == 3 - n
    assert np.linalg.matrix_rank(all_.stored) == np.linalg.matrix_rank(all_.drawn, tol=1e-5) == 3
