"""On a narrow screen a drawing of several panels shows them one below the other.

The run of a page writes such a form of each drawing beside it (`ol2r.report.narrow`); here the browser is told of it.
"""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from weight import size

from ol2r.report.narrow import FOLDER, name_of

IMAGE = re.compile(r'<img\b[^>]* src="((?:\.\./)*_images/)([^"]+\.svg)"[^>]*>')
MEDIA = "screen and (max-width: 600px)"


def height(drawing: Path) -> int:
    """The height of a drawing in pixels."""
    return int(re.search(r'height="(\d+)"', size(drawing))[1])


def offer(app: Sphinx, error: Exception | None) -> None:
    """Name the narrow form of each drawing that has one in the pages, and put it beside the wide form."""
    if error or app.builder.name != "html":
        return
    html, made = Path(app.outdir), Path(app.srcdir) / FOLDER
    images = html / "_images"
    narrow = {drawing.name: name_of(drawing.read_text(encoding="utf-8")) for drawing in images.glob("*.svg")}
    narrow = {name: other for name, other in narrow.items() if (made / other).is_file()}
    for other in narrow.values():
        shutil.copy(made / other, images)

    def picture(image: re.Match[str]) -> str:
        if (other := narrow.get(image[2])) is None:
            return image[0]
        source = f'<source media="{MEDIA}" srcset="{image[1]}{other}"{size(images / other)}>'
        moved = ' class="in-one-column"' if height(images / other) > height(images / image[2]) else ""
        return f"<picture{moved}>{source}{image[0]}</picture>"

    for page in html.rglob("*.html"):
        page.write_text(IMAGE.sub(picture, page.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("build-finished", offer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
