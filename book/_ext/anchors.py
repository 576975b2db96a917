"""A printed address still leads to its figure, table or theorem after that has moved to another page of its chapter.

Every anchor of a chapter begins with the chapter's name, and the address that strips print is that of the chapter:
`nsgd.html#nsgd-thm-duel`. A script on every page knows the page of each anchor and goes there.
"""

import json
import re
from pathlib import Path

from sphinx.application import Sphinx

SCRIPT = "anchors.js"
_FOLLOW = """\
const base = document.currentScript.src;
function follow() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  if (anchor in pages && !document.getElementById(anchor))
    location.replace(new URL(`../${pages[anchor]}.html#${anchor}`, base));
}
addEventListener("hashchange", follow);
follow();
"""


FORMER = ("all-claims", "ledger", "verdicts")
"""Anchors that were on the front page and are on the page of all claims; they begin with no chapter's name."""


def anchors_of(page: str, text: str) -> list[str]:
    """The anchors in the HTML of a page such as "nsgd-theory" that begin with the name of its chapter, or are `FORMER`
    ones."""
    return re.findall(rf'\bid="({page.split("-")[0]}-[^"]+|{"|".join(FORMER)})"', text)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the script, once all pages are written."""
    if error or app.builder.name != "html":
        return
    html = Path(app.outdir)
    names = sorted(name for name in app.env.found_docs if "/" not in name)
    texts = {name: (html / f"{name}.html").read_text(encoding="utf-8") for name in names}
    pages = {anchor: name for name, text in texts.items() for anchor in anchors_of(name, text)}
    script = f"const pages = {json.dumps(pages, indent=0)};\n{_FOLLOW}"
    (html / "_static" / SCRIPT).write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    app.add_js_file(SCRIPT, loading_method="defer")
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
