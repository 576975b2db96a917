"""Golden texts of pages: all sentences, tables and verdicts of the published edition, a file for each page."""

import pytest

from ol2r.report import redraw

PAGES = [page for paper in ("olranknet", "p2neurrank") for page in redraw.pages(paper)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_it_said(page, golden_text):
    golden_text(redraw.said(page, {"tier": "paper"}), f"texts/{page.stem}.md")
