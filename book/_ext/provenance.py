"""The strip under a figure or table: what it was made from, its data, the command that makes it again, how to cite it.

`ol2r.report.strip` writes the block, this directive draws it; they share nothing but the keys below.

    :::{provenance}
    anchor: nsgd-fig-5b
    tier: paper
    ...
    :::
"""

import html
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FACTS = ("tier", "data", "rounds", "seeds", "device", "code")
KEYS = {"anchor", *FACTS, "csv", "command", "bibtex", "keys"}


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
        for name in FACTS:
            value = "none" if strip[name] is None else str(strip[name])
            facts += [nodes.inline("", f"{name} ", classes=["provenance-name"]), nodes.strong("", value)]
            facts += nodes.Text(" · ")
        csv = download_reference("", "", reftarget=strip["csv"], refdoc=self.env.docname, refdomain="")
        csv += nodes.literal("", Path(strip["csv"]).name, classes=["xref", "download"])
        facts += csv

        details = nodes.container(classes=["provenance-more"])
        anchor = html.escape(str(strip["anchor"]), quote=True)
        summary = f'make it again, cite it <span class="provenance-name">{anchor}</span>'
        details += raw(f"<details><summary>{summary}</summary>")
        for label, language, text in (
            ("The command that makes it again", "bash", str(strip["command"])),
            ("Cite it", "bibtex", str(strip["bibtex"]).strip()),
            ("Stored under", "text", "\n".join(str(key) for key in strip["keys"])),
        ):
            details += nodes.paragraph("", label, classes=["provenance-label"])
            details += nodes.literal_block(text, text, language=language)
        details += raw("</details>")

        box = nodes.container("", facts, details, classes=["provenance"])
        self.set_source_info(box)
        return [box]


def setup(app: Sphinx) -> dict[str, object]:
    app.add_directive("provenance", Provenance)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
