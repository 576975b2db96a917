"""A mechanism that a reader moves through: drawings of one kind, of which a slider shows one at a time.

The slider works with a mouse, a finger or the arrow keys, without any file beside the page; a page that is printed, or
that runs no script, shows one drawing. This module must not know what drawings show.
"""

import base64
from collections.abc import Mapping
from html import escape

import matplotlib as mpl

from ol2r.report import narrow
from ol2r.report.style import Drawing

_SCRIPT = (
    "const s=this.closest('.steps');s.querySelectorAll('img').forEach((img,i)=>img.hidden=i!=this.value);"
    "this.ariaValueText=s.querySelector('output').value=s.querySelector(`img:not([hidden])`).dataset.at"
)


def steps(drawings: Mapping[str, Drawing], quantity: str, name: str, first: int = 0) -> str:
    """The HTML of a slider and the drawings that it shows.

    Args:
        drawings: by the value of the quantity, as it is shown beside the slider; each carries its text for those who
            cannot see it.
        quantity: what the slider moves, such as "α".
        name: the anchor, which begins with the chapter's.
        first: place of the drawing that is shown before the slider is moved, and where no script runs.
    """
    images = []
    for place, (at, drawing) in enumerate(drawings.items()):
        with mpl.rc_context({"svg.fonttype": "none"}):  # letters as text, a third of their outlines' bytes
            held = base64.b64encode(narrow.svg_of(drawing).encode()).decode()
        hidden = "" if place == first else " hidden"
        said = f'alt="{escape(drawing.alt)}" data-at="{escape(at)}"'
        images.append(f'<img src="data:image/svg+xml;base64,{held}" {said}{hidden}>')
    slider = f'<input type="range" min="0" max="{len(images) - 1}" value="{first}" oninput="{_SCRIPT}">'
    shown = f"<output>{escape(list(drawings)[first])}</output>"
    return "\n".join(
        [f'<div class="steps" id="{name}">', f"<p><label>{quantity} = {shown} {slider}</label></p>", *images, "</div>"]
    )
