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


class Provenance(SphinxDirective):
    """Draw one strip from YAML with exactly the keys of `KEYS`; a missing or unknown key is a build error."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            strip = yaml.safe_load("\n".join(self.content))
        except yaml.YAMLError as fault:
            raise self.error(f"provenance: not YAML: {fault}") from fault
        if not isinstance(strip, dict) or set(strip) != KEYS:
            found = set(strip) if isinstance(strip, dict) else set()
            raise self.error(f"provenance: missing {sorted(KEYS - found)}, unknown {sorted(found - KEYS)}")

        facts = nodes.paragraph(classes=["provenance-facts"])
        for name in FACTS:
            value = "none" if strip[name] is None else str(strip[name])
            facts += [nodes.inline("", f"{name} ", classes=["provenance-name"]), nodes.strong("", value)]
            facts += nodes.Text(" · ")
        csv = download_reference("", "", reftarget=strip["csv"], refdoc=self.env.docname, refdomain="")
        csv += nodes.literal("", f"{Path(strip['csv']).name}", classes=["xref", "download"])
        facts += csv

        details = nodes.container(classes=["provenance-more"])
        anchor = html.escape(str(strip["anchor"]), quote=True)
        details += raw(f'<details><summary>make it again, cite it <span class="provenance-name">{anchor}</span></summary>')
        for label, language, text in (
            ("The command that makes it again", "bash", strip["command"]),
            ("Cite this figure", "bibtex", strip["bibtex"]),
            ("Stored under", "text", "\n".join(str(key) for key in strip["keys"])),
        ):
            details += nodes.paragraph("", label, classes=["provenance-label"])
            details += nodes.literal_block(text, str(text).strip(), language=language)
        details += raw("</details>")

        box = nodes.container("", facts, details, classes=["provenance"])
        self.set_source_info(box)
        return [box]


def setup(app: Sphinx) -> dict[str, object]:
    app.add_directive("provenance", Provenance)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
