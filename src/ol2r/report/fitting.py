"""Words that fit into their drawing: a legend in as many columns, a label in as many lines as there is room for.

This module measures what is drawn; it must not know what drawings show.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure, FigureBase
from matplotlib.text import Text

TRIES = 3
"""How often labels are wrapped anew: a label of more lines takes room from the panel beside it."""


def legend_above(part: FigureBase, handles: Sequence[Any], names: Sequence[str], most: int, **look: Any) -> None:
    """Draw a legend above all panels, in at most `most` columns and in as many of them as the drawing is wide.

    Args:
        part: the figure, or the part of it to which the legend belongs.
        handles: what is drawn beside each name.
        names: one for each handle.
        most: columns, where there is room.
        look: further settings of matplotlib's legend.
    """
    for columns in range(max(min(most, len(names)), 1), 0, -1):
        legend = part.legend(handles, names, loc="outside upper center", ncols=columns, **look)
        if columns == 1 or legend.get_window_extent().width <= part.bbox.width:
            return
        legend.remove()


def wrap_labels(figure: Figure) -> None:
    """Wrap the titles and labels that would reach beyond the figure, or beyond the part of it that they belong to."""
    for _ in range(TRIES):
        figure.draw_without_rendering()  # so that every label has its place
        if not any([_wrapped(text, part) for part in (figure, *figure.subfigs) for text in _labels(part)]):
            return


def _labels(part: FigureBase) -> list[Text]:
    """The labels of a part of a figure, without those of its own parts."""
    own = [ax for ax in part.axes if ax.figure is part]
    return [*part.texts, *(text for ax in own for text in (ax.title, ax.xaxis.label, ax.yaxis.label))]


def _wrapped(text: Text, part: FigureBase) -> bool:
    """Whether a label was too long and was wrapped; formulae are left as they are."""
    said, box, room = text.get_text(), text.get_window_extent(), part.bbox
    if not said or "$" in said:
        return False
    upright = text.get_rotation() % 180 == 90
    (start, end), (low, high) = (box.intervaly, room.intervaly) if upright else (box.intervalx, room.intervalx)
    out = max(low - start, end - high)
    if out <= 0:
        return False
    most = max(map(len, said.split("\n")))
    letters = max(int(most * (1 - 2 * out / (end - start))), 1)  # a label stands in the middle of what it names
    lines = [piece for line in said.split("\n") for piece in _balanced(line, letters)]
    text.set_text("\n".join(lines))
    return text.get_text() != said


def _balanced(line: str, letters: int) -> list[str]:
    """A line in the fewest lines of at most so many letters, all about as long as each other; no word is broken."""
    fewest = textwrap.wrap(line, letters, break_long_words=False) or [line]
    for shorter in range(-(-len(line) // len(fewest)), letters):
        found = textwrap.wrap(line, shorter, break_long_words=False)
        if len(found) <= len(fewest):
            return found
    return fewest
