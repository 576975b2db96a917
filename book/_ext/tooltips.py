"""A word that the glossary explains shows its entry when the pointer rests on it."""

from functools import cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PAGE = "glossary"


def entries(page: nodes.document) -> dict[str, str]:
    """The text of each entry of the glossary's page, by the anchor of each of its words."""
    return {
        anchor: " ".join(entry.astext().split())
        for item in page.findall(nodes.definition_list_item)
        for entry in item.findall(nodes.definition)
        for word in item.findall(nodes.term)
        for anchor in word["ids"]
    }


@cache
def entries_of(env: BuildEnvironment) -> dict[str, str]:
    """The entries of a book's glossary; none where it has no such page."""
    return entries(env.get_doctree(PAGE)) if PAGE in env.found_docs else {}


def explain(app: Sphinx, page: nodes.document, name: str) -> None:
    """Give each reference to a word of the glossary its entry as title, which browsers show."""
    for link in page.findall(nodes.reference):
        target = link.get("refuri", "").partition("#")[2] or link.get("refid", "")
        if target.startswith("term-") and target in (told := entries_of(app.env)):
            link["reftitle"] = told[target]


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("doctree-resolved", explain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
