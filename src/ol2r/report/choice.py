"""A figure with more panels than a reader takes in: several drawings behind tabs, of which a page shows one at a time.

Tabs work without a script, and print shows all drawings one below the other. This module must not know what they show.
"""

import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Concatenate, ParamSpec

import pandas as pd

from ol2r import frames
from ol2r.errors import printable
from ol2r.report import narrow
from ol2r.report.narrow import FOLDER
from ol2r.report.style import Drawing
from ol2r.report.tables import plain

P = ParamSpec("P")


class Choice:
    """Drawings of one figure, by what their tabs are called.

    Args:
        drawings: by tab; the first is seen first.
        by: the column of `table` that has the names of the tabs, where a drawing's own table has no such column.

    Attributes:
        table: the tables of all drawings, one below the other.
        drawn_by: the function that drew the first of them.
    """

    def __init__(self, drawings: Mapping[str, Drawing], by: str):
        self.drawings = dict(drawings)
        self.drawn_by = next(iter(self.drawings.values())).drawn_by
        tables = {name: each.table for name, each in self.drawings.items()}
        self.table = pd.concat(
            [table if by in table else table.assign(**{by: name}) for name, table in tables.items()], ignore_index=True
        )

    def _repr_html_(self) -> str | None:
        """The drawings one below the other, in a notebook of which no page is made."""
        if "OL2R_PAGE" in os.environ:
            return None
        return "\n".join(f"<p>{escape(name)}</p>\n{each._repr_svg_()}" for name, each in self.drawings.items())

    def _repr_markdown_(self) -> str | None:
        """The drawings as MyST tabs of a page that is made; each is written to a file in the page's `FOLDER`."""
        if "OL2R_PAGE" not in os.environ:
            return None
        page = Path(os.environ["OL2R_PAGE"])
        (page / FOLDER).mkdir(parents=True, exist_ok=True)
        tabs = []
        for name, drawing in self.drawings.items():
            svg = drawing._repr_svg_()
            path = FOLDER / f"{sha256(svg.encode()).hexdigest()[:16]}.svg"
            (page / path).write_text(svg, encoding="utf-8")
            narrow.put_beside(drawing, svg)
            alt = printable(" ".join((drawing.alt or name).split()))
            image = [f":::{{image}} {path.as_posix()}", f":alt: {json.dumps(alt, ensure_ascii=False)}", ":::"]
            tabs += [f"::::{{tab-item}} {plain(name)}", *image, "::::"]
        return "\n".join([":::::{tab-set}", *tabs, ":::::", ""])


def apart(
    draw: Callable[Concatenate[pd.DataFrame, P], Drawing],
    frame: pd.DataFrame,
    by: str,
    told: Callable[[str], str] = str,
    /,
    *args: P.args,
    **named: P.kwargs,
) -> Choice:
    """One drawing for each value of a column, in the order in which the values come first.

    Args:
        draw: takes the rows of one value, and the further arguments.
        told: what the tab of a value is called.
    """
    drawings = {}
    for (value,), own in frames.groups(frame, [by]):
        drawing = drawings[told(str(value))] = draw(own, *args, **named)
        if by not in drawing.table:
            drawing.table = drawing.table.assign(**{by: value})
    return Choice(drawings, by)
