"""What a reference leads to shows beside it when the pointer rests on it: figures, formulae, theorems and claims.

A page in a folder cannot read another one, so all that can be shown of a page is also a script, which is loaded when
a reader first rests on a reference to that page.
"""

import json
import re
from pathlib import Path

from sphinx.application import Sphinx

FOLDER = "_static/previews"
SHOWN = re.compile(
    r'<figure\b[^>]* id="(?P<figure>[^"]+)">.*?</figure>'
    r'|<div class="math[^"]*" id="(?P<formula>equation-[^"]+)">.*?</div>'
    r'|<div class="proof [^"]*" id="(?P<theorem>[^"]+)">.*?</section>\s*</div>'
    r'|<div class="claim-[^"]*" id="(?P<claim>[^"]+)">.*?</p>.*?</(?:p|ul)>',
    re.DOTALL,
)
"""From the start of what is shown to its end; of a claim the sentence and what follows it first."""


def shown(text: str) -> dict[str, str]:
    """The HTML of all that can be shown of a page, by anchor; of a theorem's formulae too."""
    found = {}
    for piece in SHOWN.finditer(text):
        html = piece[0] + ("</div>" if piece["claim"] else "")
        found[piece[piece.lastgroup or 0]] = html
        if piece["theorem"]:
            found |= shown(html.removeprefix("<div"))
    return found


def write(app: Sphinx, error: Exception | None) -> None:
    """Write a script for each page that has something to show, once all pages are written."""
    if error or app.builder.name != "html":
        return
    html = Path(app.outdir)
    (html / FOLDER).mkdir(exist_ok=True)
    for name in app.env.found_docs:
        if "/" not in name and (found := shown((html / f"{name}.html").read_text(encoding="utf-8"))):
            script = f"previews({json.dumps(name)}, {json.dumps(found)});\n"
            (html / FOLDER / f"{name}.js").write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
