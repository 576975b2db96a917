"""A word that the glossary explains leads to its entry, and shows the entry when the pointer rests on it.

A writer makes a word a link by `{term}`. On the front page and in the chapters a word that has no such link becomes one
where it first stands in a paragraph.
"""

import re
from functools import cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PAGE = "glossary"
OFTEN_OTHERWISE = {"block", "cell", "covariance", "history", "margin", "reading", "store"}
"""Words that often mean something else than their entry says; they lead there only by `{term}`."""
UNCHANGED = (nodes.reference, nodes.literal, nodes.math, nodes.raw, nodes.entry)
"""Where a word stays as it is, besides strips."""


def entries(page: nodes.document) -> dict[str, str]:
    """The text of each entry of the glossary's page, by the anchor of each of its words."""
    return {
        anchor: " ".join(entry.astext().split())
        for item in page.findall(nodes.definition_list_item)
        for entry in item.findall(nodes.definition)
        for word in item.findall(nodes.term)
        for anchor in word["ids"]
    }


def words(page: nodes.document) -> dict[str, str]:
    """The anchor of each word of the glossary's page, by the word in small letters."""
    return {word.astext().lower(): word["ids"][0] for word in page.findall(nodes.term) if word["ids"]}


@cache
def glossary_of(env: BuildEnvironment) -> tuple[dict[str, str], dict[str, str]]:
    """The entries and the words of a book's glossary; none where it has no such page."""
    page = env.get_doctree(PAGE) if PAGE in env.found_docs else None
    return (entries(page), words(page)) if page else ({}, {})


def target(link: nodes.reference) -> str:
    """The anchor that a reference leads to."""
    return link.get("refuri", "").partition("#")[2] or link.get("refid", "")


def link_first_uses(page: nodes.document, anchors: dict[str, str], address: str) -> None:
    """Make links of words where they first stand in a paragraph; words that have a link on the page get no other.

    Args:
        anchors: by word in small letters; its plural by *s* counts as well.
        address: of the glossary's page.
    """
    linked = {target(link) for link in page.findall(nodes.reference)}
    left = {word: anchor for word, anchor in anchors.items() if anchor not in linked}
    if not left:
        return
    longest_first = sorted(left, key=len, reverse=True)
    use = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})s?(?![\w-])", re.IGNORECASE)
    for text in [text for paragraph in page.findall(nodes.paragraph) for text in paragraph.findall(nodes.Text)]:
        if stays(text):
            continue
        told, pieces, end = str(text), [], 0
        for found in use.finditer(told):
            if anchor := left.pop(found[1].lower(), ""):
                word = nodes.inline("", found[0], classes=["std", "std-term"])
                link = nodes.reference("", "", word, internal=True, refuri=f"{address}#{anchor}")
                pieces += [nodes.Text(told[end : found.start()]), link]
                end = found.end()
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(told[end:])])


def stays(text: nodes.Text) -> bool:
    """Whether some text stands in a link, in code, in a formula, in a table or in a strip."""
    node: nodes.Node | None = text.parent
    while isinstance(node, nodes.Element):
        if isinstance(node, UNCHANGED) or "provenance" in node["classes"]:
            return True
        node = node.parent
    return False


def explain(app: Sphinx, page: nodes.document, name: str) -> None:
    """Make words of the glossary links to it, and give each such link its entry as title, which browsers show."""
    told, anchors = glossary_of(app.env)
    if name == app.config.root_doc or app.env.toc_secnumbers.get(name):  # the chapters are numbered
        plain = {word: anchor for word, anchor in anchors.items() if word not in OFTEN_OTHERWISE}
        link_first_uses(page, plain, app.builder.get_relative_uri(name, PAGE))
    for link in page.findall(nodes.reference):
        if (anchor := target(link)).startswith("term-") and anchor in told:
            link["reftitle"] = told[anchor]


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("doctree-resolved", explain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
