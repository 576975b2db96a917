"""Golden pictures and texts: what a figure draws, in words and numbers, and what a page says, so that no change of
either goes unseen.

A test calls the fixture `picture` with its figure, or `golden_text` with a text. `pytest --redraw` writes the files of
the tests it runs; what changed is then a difference of text. A picture has no places on paper and no fonts, which
differ between machines.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure


def told(fig: Figure) -> str:
    """The panels of a figure with their labels, lines, bands and texts; its legends; and its words."""
    lines = []
    for ax in fig.axes:
        lines += [f"panel: {_plain(ax.get_title())}", *(f"  {each}" for each in _panel(ax))]
    names = [_plain(text.get_text()) for legend in fig.legends for text in legend.get_texts()]
    beside = [_plain(text) for text in (fig.get_supxlabel(), fig.get_supylabel()) if text]
    return "\n".join([*lines, *(f"beside: {each}" for each in beside), f"legend: {'; '.join(names)}", fig.alt, ""])


def _panel(ax: Axes) -> Iterator[str]:
    for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
        ends = " to ".join(f"{end:.4g}" for end in axis.get_view_interval())
        yield f"{axis.axis_name}: {_plain(axis.label.get_text())}, {scale}, {ends}"
    for line in ax.lines:
        points = " ".join(f"({x:.4g}, {y:.4g})" for x, y in np.asarray(line.get_xydata(), dtype=float))
        look = f"{to_hex(line.get_color())} {line.get_marker()} {line.get_linestyle()}"
        yield f"line {look} {line.get_linewidth():g}: {points}"
    for one in ax.collections:
        for path in one.get_paths():
            ends = " to ".join(f"({x:.4g}, {y:.4g})" for x, y in (path.vertices.min(axis=0), path.vertices.max(axis=0)))
            yield f"{type(one).__name__} {to_hex(one.get_edgecolor()[0] if len(one.get_edgecolor()) else 'k')}: {ends}"
    for text in ax.texts:
        yield f"text: {_plain(text.get_text())}"


def _plain(text: str) -> str:
    return " / ".join(text.split("\n"))


def compare(text: str, path: Path, anew: bool) -> None:
    """Fail where a text differs from its golden file, or write the file."""
    if anew:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"see what changed, then: pytest --redraw {path.parents[1]}"
