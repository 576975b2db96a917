"""The book on paper: every page of the table of contents is in it, open to read, with a bookmark."""

import html
import re

import build
import pdf
import pypdf
import pytest
import yaml


def bookmarks(entries) -> list[str]:
    """The titles of an outline and of all outlines inside it."""
    return [title for e in entries for title in (bookmarks(e) if isinstance(e, list) else [e.title])]


@pytest.fixture(scope="module")
def paper(sample_html, browser, tmp_path_factory):
    """The sample book's page on paper."""
    out = tmp_path_factory.mktemp("paper") / "sample.pdf"
    pdf.printed(sample_html / "index.html", out, browser)
    return pypdf.PdfReader(out)


def test_headings_are_bookmarks(paper):
    assert any("A sample chapter" in title for title in bookmarks(paper.outline))


def test_folds_are_open_strips_are_one_line_and_code_is_left_out(paper):
    text = " ".join(page.extract_text() for page in paper.pages)
    assert "One is one" in text and "@misc" not in text and "show the code" not in text


def files(contents) -> list[str]:
    """The pages of a table of contents."""
    if isinstance(contents, list):
        return [file for each in contents for file in files(each)]
    if not isinstance(contents, dict):
        return []
    own = [contents[name] for name in ("root", "file") if name in contents]
    return own + [file for each in contents.values() for file in files(each)]


def test_the_contents_on_paper_leave_out_the_library_and_some_pages_alone():
    contents = yaml.safe_load((build.ROOT / "book" / "_toc.yml").read_text())
    kept, all_ = files(pdf.on_paper(contents)), files(contents)
    left = [page for page in all_ if page not in kept]
    assert {page for page in left if not page.startswith("api/")} == pdf.PAGES_LEFT_OUT
    assert any(page.startswith("api/") for page in left) and [page for page in all_ if page in kept] == kept


def test_the_link_to_the_pdf_takes_its_place_once(tmp_path):
    front = tmp_path / "index.html"
    front.write_text(f"<p>a</p>{pdf.PLACE}<p>b</p>")
    for _ in range(2):
        pdf.linked(front)
        assert front.read_text() == f"<p>a</p>{pdf.LINK}<p>b</p>"
    front.write_text("<p>a</p>")
    with pytest.raises(SystemExit, match="no place for the link"):
        pdf.linked(front)


def test_the_front_page_has_a_place_for_the_link(published_html):
    text = (published_html / "index.html").read_text()
    assert (pdf.PLACE in text) != (pdf.LINK in text)


def test_the_printed_book_has_fewer_than_200_pages_and_all_chapters(published_html):
    if not (published_html / pdf.NAME).is_file():
        pytest.skip("the book is not printed: nox -s pdf")
    paper = pypdf.PdfReader(published_html / pdf.NAME)
    assert len(paper.pages) < 200
    titles = " ".join(bookmarks(paper.outline))
    for page in build.pages(build.ROOT / "book" / "_toc.yml"):
        if not page.startswith("api/") and page not in pdf.PAGES_LEFT_OUT:
            title = re.search(r"<title>([^<]+)&#8212;", (published_html / f"{page}.html").read_text())
            assert title and html.unescape(title[1]).split(":")[0].strip() in titles, page
