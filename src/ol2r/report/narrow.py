"""The same drawing for a narrow screen: its panels one below the other, on which a page swaps it for the wide one.

This module must not know what drawings show.
"""

import copy
import io
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import SubplotSpec
from matplotlib.legend_handler import HandlerTuple
from matplotlib.offsetbox import DrawingArea

from ol2r.report import fitting

FOLDER = Path("data")
"""Where the drawings of a page that is made lie, beside its tables."""
WIDTH = 3.9
"""Inches: text has the size of the page's on a screen of 390 px."""
COLUMNS = 2
"""The most columns that a legend has."""


def svg_of(figure: Figure) -> str:
    """The figure as SVG; the same results give the same bytes.

    It is drawn once: `Figure.savefig` draws twice, the first time for the layout alone.
    """
    file, canvas, dpi = io.StringIO(), figure.canvas, figure.dpi
    with mpl.rc_context({"svg.hashsalt": "ol2r"}), fitting.laid_out(figure):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    figure.set_canvas(canvas)  # the next layout is then made as this one was
    figure.dpi = dpi
    return file.getvalue()


def name_of(svg: str) -> str:
    """The name of the file with the narrow form of a drawing, from the wide form."""
    return f"narrow-{sha256(svg.strip().encode()).hexdigest()[:16]}.svg"


def put_beside(figure: Figure, svg: str) -> None:
    """Write the narrow form of a figure beside the page that is being made, if one is."""
    if "OL2R_PAGE" in os.environ:
        folder = Path(os.environ["OL2R_PAGE"]) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name_of(svg)).write_text(svg_of(in_one_column(figure)), encoding="utf-8")


def in_one_column(figure: Figure) -> Figure:
    """A narrow copy of a figure that was drawn, with all its panels in one column, row by row of the figure.

    What a panel shares with its neighbours, it says itself in the copy: labels and numbers of axes, and the title of
    its column.
    """
    tall = copy.deepcopy(figure)
    rows = before = 0
    for part in list(tall.subfigs) or [tall]:
        places = _places(part)
        before += max((place.get_gridspec().nrows for place in places.values()), default=1)
        rows += max(len(places), 1)
        _say_all(places)
        column = part.add_gridspec(max(len(places), 1), 1)
        for number, ax in enumerate(sorted(places, key=lambda ax: _corner(places[ax]))):
            ax.set_subplotspec(column[number])
    tall.set_size_inches(WIDTH, figure.get_size_inches()[1] * rows / before)
    for part in list(tall.subfigs) or [tall]:
        _narrow_legends(part)
    return tall


def _places(part: Figure | SubFigure) -> dict[Axes, SubplotSpec]:
    """Where each panel stands; bars of colours follow their panels and have no place."""
    places = {ax: ax.get_subplotspec() for ax in part.axes if ax.get_label() != "<colorbar>"}
    return {ax: place for ax, place in places.items() if place is not None}


def _corner(place: SubplotSpec) -> tuple[int, int]:
    return place.rowspan.start, place.colspan.start


def _say_all(places: dict[Axes, SubplotSpec]) -> None:
    """Give each panel the labels that its row or column has only once."""
    told = {_corner(place): (ax.get_ylabel(), ax.get_xlabel(), ax.get_title()) for ax, place in places.items()}
    order = sorted(told)
    for ax, place in places.items():
        row, column = _corner(place)
        y, x, title = told[row, column]
        ax.set_ylabel(y or _first(told[at][0] for at in order if at[0] == row and at[1] < column))
        ax.set_xlabel(x or _first(told[at][1] for at in reversed(order) if at[1] == column))
        ax.set_title(title or _first(told[at][2] for at in order if at[1] == column))
        ax.tick_params(labelleft=True, labelbottom=True)


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _narrow_legends(part: Figure | SubFigure) -> None:
    """Each legend above the panels again, in as many columns as fit. What is drawn beside a name is all drawn again, as
    the bar and the mark of a point with an interval."""
    for legend in list(part.legends):
        names = [text.get_text() for text in legend.get_texts()]
        handles = [tuple(box.get_children()) for box in legend.findobj(DrawingArea)]
        size = legend.get_texts()[0].get_fontsize() if names else None
        part.legends.remove(legend)  # `legend.remove()` would look for it in the figure of which this is a copy
        whole = {tuple: HandlerTuple(ndivide=1, pad=0)}
        fitting.legend_above(part, handles, names, COLUMNS, fontsize=size, frameon=False, handler_map=whole)
