"""The strip under a figure or table: what it was made from, its data, the commands that make it again, how to cite it.

The source of the library lies in the book as text. There the strip of a figure links the function that drew it: the
very source of the book's commit, without a network. `ol2r.report.strip` writes the block, this directive draws it; they
share nothing but the keys below.

    :::{provenance}
    anchor: nsgd-fig-5b
    tier: paper
    ...
    :::
"""

import ast
import html
import re
import shutil
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import edition
import yaml
from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

FACTS = ("tier", "data", "rounds", "seeds", "steps", "runs")
"""What every reader sees; a bandit has steps and runs in the place of rounds and seeds, which are then empty."""
MORE = ("device", "code")
"""What a reader who makes a figure again needs beside `FACTS`: it unfolds."""
SHOWN = 24
"""How many of the keys that results are stored under a strip prints; some figures have thousands."""
KEYS = {"anchor", "title", *FACTS, *MORE, "csv", "command", "keys", "source"}
SOURCES = "_sources"
"""The book's folder of sources, in which the library's are texts, so that browsers show them."""


def raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def read(text: str) -> dict:
    """The strip a block describes.

    Raises:
        ValueError: it is not YAML, or lacks one of `KEYS`, or has a key beyond them.
    """
    try:
        strip = yaml.safe_load(text)
    except yaml.YAMLError as fault:
        raise ValueError(f"provenance: not YAML: {fault}") from fault
    given = set(strip) if isinstance(strip, dict) else set()
    if given != KEYS:
        raise ValueError(f"provenance: missing {sorted(KEYS - given)}, unknown {sorted(given - KEYS)}")
    return strip


class Provenance(SphinxDirective):
    """Draws one strip; a block that `read` refuses is a build error."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            strip = read("\n".join(self.content))
        except ValueError as fault:
            raise self.error(str(fault)) from fault
        facts = nodes.paragraph(classes=["provenance-facts"])
        for fact in told(strip, FACTS):
            facts += [*fact, nodes.Text(" · ")]
        csv = download_reference("", "", reftarget=strip["csv"], refdoc=self.env.docname, refdomain="")
        csv += nodes.literal("", "CSV", classes=["xref", "download"])
        facts += csv

        details = nodes.container(classes=["provenance-more"])
        anchor = html.escape(str(strip["anchor"]), quote=True)
        summary = f'make it again, cite it <span class="provenance-name">{anchor}</span>'
        details += raw(f"<details><summary>{summary}</summary>")
        more = nodes.paragraph()
        for number, fact in enumerate(told(strip, MORE)):
            more += [*([nodes.Text(" · ")] if number else []), *fact]
        details += more
        if strip["source"]:
            details += drawn_by(str(strip["source"]))
        for label, language, text in (
            ("Draw it again, get all its rows, verify a cell of it", "bash", str(strip["command"])),
            ("Cite it", "bibtex", str(strip["title"])),
            ("Stored under", "text", listed([str(key) for key in strip["keys"]])),
        ):
            details += nodes.paragraph("", label, classes=["provenance-label"])
            details += nodes.literal_block(text, text, language=language, strip=strip if language == "bibtex" else None)
        details += raw("</details>")

        box = nodes.container("", facts, details, classes=["provenance"])
        self.set_source_info(box)
        return [box]


def told(strip: Mapping, names: Iterable[str]) -> list[list[nodes.Node]]:
    """Those of the facts that the strip has, each as its name and its value."""
    return [
        [nodes.inline("", f"{name} ", classes=["provenance-name"]), nodes.strong("", str(strip[name]))]
        for name in names
        if strip[name] is not None
    ]


def listed(keys: list[str]) -> str:
    """The first keys in lines, and how many more there are; the CSV has all of them."""
    more = len(keys) - SHOWN
    return "\n".join([*keys[:SHOWN], *([f"and {more:,} more: the column key of the CSV"] if more > 0 else [])])


def drawn_by(function: str) -> nodes.paragraph:
    """The words that name the function which drew a figure, linked to its source.

    Args:
        function: its full name, such as "ol2r.report.figures.learning_curves".
    """
    module, _, name = function.rpartition(".")
    file = Path("src", *module.split(".")).with_suffix(".py")
    body = ast.parse((edition.ROOT / file).read_text(encoding="utf-8")).body
    (line,) = (node.lineno for node in body if isinstance(node, ast.FunctionDef) and node.name == name)
    address = f"{SOURCES}/{file.as_posix()}.txt#:~:text=def%20{name}("
    link = nodes.reference("", f"{name} in line {line} of {file.as_posix()}", refuri=address)
    return nodes.paragraph("", "Drawn by ", link, classes=["provenance-label"])


def copy_sources(app: Sphinx, error: Exception | None) -> None:
    """Put the library's source into the book, once its pages are written."""
    if error or app.builder.name != "html":
        return
    for file in (edition.ROOT / "src").rglob("*.py"):
        copy = Path(app.outdir, SOURCES, file.relative_to(edition.ROOT).as_posix() + ".txt")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)


_GREEK = {each: unicodedata.name(each).split() for each in "ΓΔΘΞΠΣΥΦΨΩαβγδεζηθικλμνξπρστυφχψω"}
_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁽⁾ⁿᵀ", "₀₁₂₃₄₅₆₇₈₉₊₋"
_MATHS = {
    "×": r"\times", "·": r"\cdot", "±": r"\pm", "∓": r"\mp", "÷": r"\div", "−": "-", "≤": r"\le", "≥": r"\ge",
    "≠": r"\ne", "≈": r"\approx", "→": r"\to", "←": r"\leftarrow", "↔": r"\leftrightarrow", "√": r"\surd",
    "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "∈": r"\in", "∝": r"\propto", "‖": r"\|", "ℓ": r"\ell",
    "⟨": r"\langle", "⟩": r"\rangle", "′": "'", "µ": r"\mu", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}",
    "¾": r"\frac{3}{4}", "▲": r"\triangle", "▼": r"\nabla", "○": r"\circ", "✔": r"\surd", "✘": r"\times",
}  # fmt: skip
for _signs, _how in ((_RAISED, "^"), (_LOWERED, "_")):
    _MATHS |= {each: f"{_how}{{{unicodedata.normalize('NFKD', each).replace('−', '-')}}}" for each in _signs}
_MATHS |= {
    each: "\\" + (name.lower() if kind == "SMALL" else name.title()) for each, (_, kind, _, name) in _GREEK.items()
}
_MATHS |= {"λ": r"\lambda", "Λ": r"\Lambda"}  # Unicode spells lamda
IN_TEX = str.maketrans(
    {each: f"\\{each}" for each in "%&#_$"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "{": "", "}": ""}
    | {"–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "†": r"\dag{}", "\xa0": "~"}
    | {each: f"${command}$" for each, command in _MATHS.items()}
)
"""What BibTeX needs in the place of characters that pdfLaTeX does not read as text, with no package loaded."""


def plain(caption: nodes.Node) -> str:
    """A caption as BibTeX has it: formulae in dollars, special characters escaped."""
    if isinstance(caption, nodes.math):
        return f"${caption.astext()}$"
    if isinstance(caption, nodes.Text):
        return caption.astext().translate(IN_TEX)
    return "".join(map(plain, caption.children))


def first_sentence(text: str) -> str:
    """The first sentence of a caption, with what stands in brackets before it and without the last full stop."""
    text = " ".join(text.split())
    found = re.match(r"(\(.*?\) )?.*?\.(?= [A-Z]|$)", text)
    return (found[0] if found else text).removesuffix(".")


def captions(page: nodes.document) -> dict[str, str]:
    """The first sentences of all captions of a page, by the anchor of the figure or table."""
    return {
        anchor: first_sentence(plain(caption))
        for kind, captioned in ((nodes.figure, nodes.caption), (nodes.table, nodes.title))
        for node in page.findall(kind)
        for caption in node.findall(captioned)
        for anchor in node["ids"]
    }


@cache
def numbers(env: BuildEnvironment) -> dict[str, str]:
    """What each figure and table of the book is called, by its anchor, such as "Figure 1.4"."""
    return {
        anchor: f"{kind.capitalize()} {'.'.join(map(str, number))}"
        for kinds in env.toc_fignumbers.values()
        for kind in ("figure", "table")
        for anchor, number in kinds.get(kind, {}).items()
    }


def bibtex(strip: Mapping[str, object], title: str, base: str) -> str:
    """The BibTeX entry of one figure or table: its address, the version and commit of the book, data and licence.

    Args:
        base: the public address of the book; empty where it has none.
    """
    anchor = str(strip["anchor"])
    chapter, (version, *commit) = anchor.split("-", 1)[0], edition.told()
    year = [f"  year = {{{commit[-1][:4]}}},"] if commit else []
    made_from = f"{', '.join([version, *commit])}; data: {strip['data']}; {strip['tier']} tier; CC BY 4.0"
    return "\n".join([
        f"@misc{{ol2r-{anchor},",
        f"  title = {{{title}}},",
        "  author = {{The ol2r authors}},",
        *year,
        f"  howpublished = {{Online learning to rank: five papers, made to run, {chapter}.html\\#{anchor}}},",
        *([f"  url = {{{base.rstrip('/')}/{chapter}.html#{anchor}}},"] if base else []),
        f"  note = {{{plain(nodes.Text(made_from))}}},",
        "}",
    ])  # fmt: skip


def cite(app: Sphinx, page: nodes.document, name: str) -> None:
    """Write the entries to cite, once the page's captions have their numbers."""
    blocks = [block for block in page.findall(nodes.literal_block) if block.get("strip")]
    told = captions(page) if blocks else {}
    for block in blocks:
        strip = block["strip"]
        parts = (numbers(app.env).get(strip["anchor"]), told.get(strip["anchor"], plain(nodes.Text(strip["title"]))))
        text = bibtex(strip, ": ".join(filter(None, parts)), app.config.html_baseurl)
        block.rawsource, block.children = text, []
        block += nodes.Text(text)


def setup(app: Sphinx) -> dict[str, object]:
    app.add_directive("provenance", Provenance)
    app.connect("doctree-resolved", cite)
    app.connect("build-finished", copy_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
