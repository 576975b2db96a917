"""The search page finds sections, from a folder as well as from a server.

For its snippets, Sphinx's own search reads pages over HTTP, which browsers refuse in a folder, and the theme loads its
index on every page. Here the text of all sections is one script, and the search page alone loads it. Formulae stay in
TeX between `\\(` and `\\)`; code, strips and what only a browser shows are left out.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

SCRIPT = "search/sections.js"
UNREAD = (nodes.raw, nodes.comment, nodes.literal_block, nodes.image, nodes.system_message)
BLOCKS = (nodes.paragraph, nodes.title, nodes.caption, nodes.entry, nodes.term, nodes.line, nodes.rubric)
FOLDED = {"cell_input", "provenance"}


def heading(node: nodes.Node) -> nodes.Element | None:
    """The title of what can be found, a section or an object of the library, and nothing for other nodes."""
    if isinstance(node, (nodes.section, addnodes.desc)) and node.children:
        first = node.children[0]
        return first if isinstance(first, (nodes.title, addnodes.desc_signature)) else None
    return None


def text_of(node: nodes.Node) -> Iterator[str]:
    """The text of a node in pieces, without that of the parts inside it."""
    if isinstance(node, UNREAD) or heading(node) or (isinstance(node, nodes.Element) and FOLDED & set(node["classes"])):
        return
    if isinstance(node, nodes.math):
        yield rf"\({node.astext()}\)"
    elif isinstance(node, nodes.math_block):
        yield " … "
    elif isinstance(node, nodes.Text):
        yield node.astext()
    else:
        for child in node.children:
            yield from text_of(child)
        if isinstance(node, BLOCKS):
            yield " "


def sections(page: nodes.document) -> Iterator[dict[str, str]]:
    """The anchor, title and text of each section of a page and of each object that it describes."""
    for part in page.findall(nodes.Element):
        own = heading(part)
        if own is None:
            continue
        anchors = part["ids"] or own["ids"]
        title = own.get("fullname") or "".join(piece for child in own.children for piece in text_of(child))
        if anchors:
            text = "".join(piece for child in part.children[1:] for piece in text_of(child))
            yield {"anchor": anchors[0], "title": title, "text": " ".join(text.split())}


class Sections:
    """The sections of all pages; one process resolves them."""

    def __init__(self):
        self._of: dict[str, list[dict[str, str]]] = {}

    def note(self, app: Sphinx, page: nodes.document, name: str) -> None:
        """Keep those of a page."""
        found = list(sections(page))
        address = app.builder.get_target_uri(name)
        self._of[name] = [
            {"address": f"{address}#{part.pop('anchor')}", "page": found[0]["title"], **part} for part in found
        ]

    def write(self, app: Sphinx, error: Exception | None) -> None:
        """Write the script, once all pages are written."""
        if error or app.builder.name != "html":
            return
        script = Path(app.outdir) / SCRIPT
        script.parent.mkdir(exist_ok=True)
        everything = [part for name in sorted(self._of) for part in self._of[name]]
        text = f"const SECTIONS = {json.dumps(everything, ensure_ascii=False, indent=0)};\n"
        script.write_text(text, encoding="utf-8")


def begin(app: Sphinx) -> None:
    """Make the search page from a template of the book, without Sphinx's index."""
    if isinstance(app.builder, StandaloneHTMLBuilder) and app.builder.name == "html":
        app.builder.search = False
        app.config.html_additional_pages["search"] = "search.html"


def setup(app: Sphinx) -> dict[str, object]:
    found = Sections()
    app.connect("builder-inited", begin)
    app.connect("doctree-resolved", found.note)
    app.connect("build-finished", found.write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
