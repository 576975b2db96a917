"""A theorem of this book is told from one of a paper.

It is called *our Theorem 2.3*, where it stands and where a page refers to it. A theorem without *our* is the paper's,
under the paper's number.
"""

from docutils import nodes
from sphinx.application import Sphinx
from tooltips import target

OURS = "our"
ENDS = (".", "?", "!")


def opens_a_sentence(node: nodes.Node) -> bool:
    """Whether a node is the first of its block of text, or follows the end of a sentence in it."""
    before = ""
    while isinstance(node.parent, nodes.TextElement):
        before = "".join(each.astext() for each in node.parent.children[: node.parent.index(node)]) + before
        node = node.parent
    return not before.strip() or before.rstrip().endswith(ENDS)


def tell_apart(app: Sphinx, page: nodes.document, name: str) -> None:
    """Put *our* before each theorem's kind in its title, and in each reference that is its kind and number."""
    theorems: dict[str, dict] = getattr(app.env, "proof_list", {})
    for link in page.findall(nodes.reference):
        anchor, text = target(link), link.astext()
        if anchor in theorems and text.partition(" ")[0].lower() == theorems[anchor]["realtype"]:
            link.clear()
            link += nodes.Text(f"{OURS.title() if opens_a_sentence(link) else OURS} {text}")
    for box in page.findall(nodes.Element):
        if "countertype" in box:
            box["realtype"] = f"{OURS} {box['realtype']}"  # sphinx-proof writes it with capitals


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("doctree-resolved", tell_apart, priority=400)  # before others read the page's text
    return {"parallel_read_safe": True, "parallel_write_safe": True}
