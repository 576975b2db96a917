"""A word that the glossary explains leads to its entry where it is used, and shows it."""

import re

import tooltips
from docutils import nodes

from ol2r.papers import PAPERS


def test_each_word_of_an_entry_has_the_entry_s_text_in_one_line():
    words = [nodes.term("", word, ids=[f"term-{word}"]) for word in ("seed", "seeds")]
    item = nodes.definition_list_item("", *words, nodes.definition("", nodes.paragraph("", "A number\nto draw from.")))
    page = nodes.section("", nodes.definition_list("", item))
    assert tooltips.entries(page) == dict.fromkeys(("term-seed", "term-seeds"), "A number to draw from.")


def linked(*children, anchors):
    """The links that some paragraphs get, as (word, address), and the text of all."""
    page = nodes.section("", *children)
    text = page.astext()
    tooltips.link_first_uses(page, anchors, "glossary.html")
    assert page.astext() == text
    return [(link.astext(), link["refuri"]) for link in page.findall(nodes.reference)]


ANCHORS = {"seed": "term-seed", "contrast": "term-contrast", "open contrast": "term-open-contrast"}


def test_a_word_leads_to_its_entry_where_it_first_stands_in_a_paragraph():
    heading = nodes.title("", "Seeds")
    first = nodes.paragraph("", "", nodes.Text("Many "), nodes.emphasis("", "seeds"), nodes.Text(" and one contrast."))
    second = nodes.paragraph("", "Open contrasts, each with a seed. A contrast, a seedling, a re-seed.")
    assert linked(heading, first, second, anchors=ANCHORS) == [
        ("seeds", "glossary.html#term-seed"),
        ("contrast", "glossary.html#term-contrast"),
        ("Open contrasts", "glossary.html#term-open-contrast"),
    ]


def test_a_word_that_has_a_link_gets_no_other_and_none_is_made_in_code_formulae_tables_strips_or_links():
    own = nodes.reference("", "seed", refuri="glossary.html#term-seed")
    elsewhere = nodes.reference("", "a contrast", refuri="index.html#contrast")
    set_otherwise = (kind("", "contrast") for kind in (nodes.literal, nodes.math))
    markup = nodes.raw("", '<data value="contrast">', format="html")
    given = nodes.paragraph("", "A seed, ", own, *set_otherwise, markup, elsewhere)
    entry = nodes.entry("", nodes.paragraph("", "contrast"))
    strip = nodes.container("", nodes.paragraph("", "contrast"), classes=["provenance"])
    links = [(each.astext(), each["refuri"]) for each in (own, elsewhere)]
    assert linked(given, entry, strip, anchors=ANCHORS) == links


def test_the_words_that_mean_several_things_are_words_of_the_glossary(published_html):
    anchors = set(re.findall(r'<dt id="term-([^"]+)"', (published_html / "glossary.html").read_text()))
    assert tooltips.OFTEN_OTHERWISE <= anchors


def test_every_word_of_the_glossary_that_a_page_uses_shows_its_entry(published_html):
    links = {
        page.stem: found
        for page in published_html.glob("*.html")
        if (found := re.findall(r'<a class="reference internal" href="[^"]*#term-[^>]*>', page.read_text()))
    }
    chapters = {"index", "comparison", *(f"{paper}{part}" for paper in PAPERS for part in ("", "-theory", "-extras"))}
    assert chapters <= links.keys()
    for page, found in links.items():
        assert all(re.search(r'title="[^"]{20,}"', link) for link in found), page
