"""A page says which edition of the book it belongs to."""

import re

import edition

import ol2r


def test_the_foot_names_version_commit_and_date():
    told = rf"<p>ol2r {re.escape(ol2r.__version__)} · commit \w+(-dirty)? · \d{{4}}-\d\d-\d\d</p>"
    assert re.fullmatch(told, edition.footer())


def test_outside_a_repository_the_foot_names_the_version_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(edition, "ROOT", tmp_path)
    assert edition.footer() == f"<p>ol2r {ol2r.__version__}</p>"


def test_every_published_page_has_its_foot(published_html):
    for page in published_html.rglob("*.html"):
        if "bd-article" in (text := page.read_text()):
            assert re.search(rf"<p>ol2r {re.escape(ol2r.__version__)}( · commit [^<]+)?</p>", text), page.name
