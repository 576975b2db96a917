"""Pages are light: a browser loads a drawing when a reader comes near it, and only the icons that the book shows.

The theme's script of icons draws two thousand of them, in 1.5 MB. The size of each drawing stands in the page, so that
nothing moves when it comes. Matplotlib writes the places in a drawing to a millionth of a point; a hundredth is enough.
"""

import re
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx

ICONS = "_static/scripts/fontawesome.js"
ICON = re.compile(r'"?([a-z0-9-]+)"?:\[\d+,\d+,\[[^\]]*\],"[0-9a-f]+","[^"]*"\],?')
DRAWING = re.compile(r'<img\b(?=[^>]* src="((?:\.\./)?_images/[^"]+\.svg)")')
SIZE = re.compile(r'<svg\b[^>]* width="([\d.]+)pt" height="([\d.]+)pt"')
PIXELS = 96 / 72
"""In a point."""
PLACES = re.compile(r'(?<= )(?:d|x|y)="[^"]*"|translate\([^)]*\)')
LONG = re.compile(r"-?\d+\.\d{3,}")
BLANKS = re.compile(r"\s*\n\s*|(?<=[A-Za-z]) ")


def only(icons: str, used: set[str]) -> str:
    """The theme's script of icons with those of the given names alone."""
    return ICON.sub(lambda icon: icon[0] if icon[1] in used else "", icons)


def hundredth(number: re.Match[str]) -> str:
    """A number with two decimals at most."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def shorter(drawing: str) -> str:
    """The same drawing with its places to a hundredth of a point, and without blanks between the parts of a line."""
    return PLACES.sub(lambda place: BLANKS.sub("", LONG.sub(hundredth, place[0])), drawing)


@cache
def size(drawing: Path) -> str:
    """The attributes of an image for a drawing's size in pixels; none if it does not say its size in points."""
    with drawing.open(encoding="utf-8") as file:
        found = SIZE.search(file.read(2000))
    if found is None:
        return ""
    width, height = (round(float(side) * PIXELS) for side in found.groups())
    return f' width="{width}" height="{height}"'


def light(text: str, folder: Path) -> str:
    """A page's HTML, in a folder, in which each drawing has its size and is loaded when a reader comes near it."""
    return DRAWING.sub(lambda image: f'<img loading="lazy"{size((folder / image[1]).resolve())}', text)


def lighten(app: Sphinx, error: Exception | None) -> None:
    """Rewrite the pages, the drawings and the script of icons, once all pages are written."""
    if error or app.builder.name != "html":
        return
    html = Path(app.outdir)
    used: set[str] = set()
    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        used |= set(re.findall(r"\bfa-([a-z0-9-]+)", text))
        page.write_text(light(text, page.parent), encoding="utf-8")
    for drawing in (html / "_images").glob("*.svg"):
        drawing.write_text(shorter(drawing.read_text(encoding="utf-8")), encoding="utf-8")
    script = html / ICONS
    script.write_text(only(script.read_text(encoding="utf-8"), used), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
