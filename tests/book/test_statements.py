"""A theorem of this book is told from one of a paper, in its title and wherever a page refers to it."""

import re

import build
import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

PAGE = """\
Page
====

.. prf:theorem:: The paper's Lemma 3
   :label: own

   True.

:prf:ref:`own` opens. *In short.* :prf:ref:`own` follows an end, and by :prf:ref:`own` a word; *by* :prf:ref:`own` as
well (:prf:ref:`own`). Theorem 1 is a paper's, and :prf:ref:`it <own>` has its own words.
"""


@pytest.fixture
def html(tmp_path):
    (tmp_path / "index.rst").write_text(PAGE)
    (tmp_path / "conf.py").write_text("extensions = ['sphinx_proof', 'statements']\n")
    with docutils_namespace():
        Sphinx(tmp_path, tmp_path, tmp_path / "html", tmp_path / "trees", "html", {}, None).build()
    return (tmp_path / "html" / "index.html").read_text()


def test_a_theorem_is_called_ours_in_its_title(html):
    assert re.search(r'"caption-number">Our Theorem 1 </span> \(The paper.s Lemma 3\)', html)


def test_a_reference_says_ours_with_a_capital_where_a_sentence_begins(html):
    assert re.findall(r'href="#own"[^>]*>([^<]*)</a>', html) == [
        "Our Theorem 1", "Our Theorem 1", "our Theorem 1", "our Theorem 1", "our Theorem 1", "it"
    ]  # fmt: skip
    assert "Theorem 1 is a paper" in html


def test_every_theorem_of_the_book_is_called_ours(published_html):
    box = r'<div class="proof (?:theorem|lemma|corollary) [^>]*>\s*<p class="admonition-title"><span [^>]*>(\w+)'
    opening = [word for page in published_html.glob("*.html") for word in re.findall(box, page.read_text())]
    assert len(opening) > 40 and set(opening) == {"Our"}


def test_every_heading_that_names_a_statement_of_a_paper_says_whose():
    named = re.compile(r"(.*?)\b(?:Lemma|Theorem|Corollary|Proposition|Definition)s? [A-Z0-9]")
    headings = [
        line
        for page in (build.ROOT / "book").glob("*.md")
        for line in page.read_text().splitlines()
        if line.startswith(("#", "````{prf:")) and named.match(line)
    ]
    assert len(headings) > 20 and [line for line in headings if not named.match(line)[1].endswith("'s ")] == []
