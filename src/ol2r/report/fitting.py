"""Words that fit into their drawing: a legend in as many columns, a label in as many lines as there is room for.

This module measures what is drawn; it must not know what drawings show.
"""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.text import Text
from matplotlib.transforms import BboxBase

TRIES = 3
"""How often labels are wrapped anew: a label of more lines takes room from the panel beside it."""


def legend_above(
    part: Figure | SubFigure, handles: Sequence[Any], names: Sequence[str], most: int, **look: Any
) -> None:
    """Draw a legend above all panels, in at most `most` columns and in as many of them as the drawing is wide."""
    for columns in range(max(min(most, len(names)), 1), 0, -1):
        legend = part.legend(handles, names, loc="outside upper center", ncols=columns, **look)
        if columns == 1 or legend.get_window_extent().width <= part.bbox.width:
            return
        legend.remove()


def wrap_labels(figure: Figure) -> None:
    """Lay a figure out, and wrap the titles and labels that would reach beyond it, or beyond the part of it that they
    belong to."""
    for tries in range(TRIES + 1):
        if layout := figure.get_layout_engine():
            layout.execute(figure)
        labels = [(text, ax, part) for part in (figure, *figure.subfigs) for text, ax in _labels(part)]
        if tries == TRIES or not any([_wrapped(*each) for each in labels]):
            return


@contextmanager
def laid_out(figure: Figure) -> Iterator[None]:
    """A figure whose labels fit, and whose layout is not made again meanwhile."""
    wrap_labels(figure)
    layout = figure.get_layout_engine()
    figure.set_layout_engine("none")  # what has its place keeps it
    try:
        yield
    finally:
        figure.set_layout_engine(layout)


def _labels(part: Figure | SubFigure) -> Iterator[tuple[Text, Axes | None]]:
    """The labels of a part of a figure, without those of its own parts, each with the panel that it names."""
    yield from ((text, None) for text in part.texts)
    for ax in part.axes:
        if ax.figure is part:
            yield from ((text, ax) for text in (ax.title, ax.xaxis.label, ax.yaxis.label))


def _wrapped(text: Text, ax: Axes | None, part: Figure | SubFigure) -> bool:
    """Whether a label was too long and was wrapped; formulae are left as they are. A label stands in the middle of the
    panel that it names."""
    said, upright = text.get_text(), text.get_rotation() % 180 == 90
    if not said or "$" in said:
        return False
    (start, end), (low, high) = (_along(each, upright) for each in (text.get_window_extent(), part.bbox))
    if ax is not None:  # where it was drawn last may be another place
        length, middle = end - start, sum(_along(ax.bbox, upright)) / 2
        start, end = middle - length / 2, middle + length / 2
    out = max(low - start, end - high)
    if out <= 0:
        return False
    most = max(map(len, said.split("\n")))
    letters = max(int(most * (1 - 2 * out / (end - start))), 1)
    lines = [piece for line in said.split("\n") for piece in _balanced(line, letters)]
    text.set_text("\n".join(lines))
    return text.get_text() != said


def _along(box: BboxBase, upright: bool) -> tuple[float, float]:
    """Where a box begins and ends in the direction in which a text runs."""
    start, end = box.intervaly if upright else box.intervalx
    return start, end


def _balanced(line: str, letters: int) -> list[str]:
    """A line in the fewest lines of at most `letters` letters, all about equally long; no word is broken."""
    fewest = textwrap.wrap(line, letters, break_long_words=False) or [line]
    for shorter in range(-(-len(line) // len(fewest)), letters):
        found = textwrap.wrap(line, shorter, break_long_words=False)
        if len(found) <= len(fewest):
            return found
    return fewest
