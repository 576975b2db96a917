"""Golden texts of pages: all sentences, tables and verdicts of the published edition, a file for each page.

A re-run on a single data set comes to its end, too: sentences are set aside, and what was not run is left out.
"""

import re

import pytest

from ol2r.report import redraw

PAGES = [page for paper in ("olranknet", "p2neurrank") for page in redraw.pages(paper)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_it_said(page, golden_text):
    golden_text(redraw.said(page, {"tier": "paper"}), f"texts/{page.stem}.md")


@pytest.mark.parametrize("dataset", ["OHSUMED", "MQ2007_partial85"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_of_one_data_set_sets_aside_what_was_not_run(page, dataset):
    shown = redraw.said(page, {"tier": "paper", "datasets": [dataset]})
    assert not re.search(r"\b(nan|NaN)\b", shown)
    assert page.stem.endswith(("-extras", "-theory")) or "} Not run here" in shown
