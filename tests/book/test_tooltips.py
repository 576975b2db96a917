"""A word that the glossary explains shows its entry where it is used."""

import re

import tooltips
from docutils import nodes


def test_each_word_of_an_entry_has_the_entry_s_text_in_one_line():
    words = [nodes.term("", word, ids=[f"term-{word}"]) for word in ("seed", "seeds")]
    item = nodes.definition_list_item("", *words, nodes.definition("", nodes.paragraph("", "A number\nto draw from.")))
    page = nodes.section("", nodes.definition_list("", item))
    assert tooltips.entries(page) == dict.fromkeys(("term-seed", "term-seeds"), "A number to draw from.")


def test_every_word_of_the_glossary_that_a_page_uses_shows_its_entry(published_html):
    links = {
        page.stem: found
        for page in published_html.glob("*.html")
        if (found := re.findall(r'<a class="reference internal" href="[^"]*#term-[^>]*>', page.read_text()))
    }
    assert {"index", "nsgd"} <= links.keys()
    for page, found in links.items():
        assert all(re.search(r'title="[^"]{20,}"', link) for link in found), page
