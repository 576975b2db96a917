"""How tests read what the library shows: MyST text and lines of figures."""

import re
from html import escape

from markdown_it import MarkdownIt

NASTY = "a|b<script>alert(1)</script>*c* `d` [e](f) \\| $g$ {ref}`h` &lt; ~i~"
"""A name that would break a table or become markup if it were not escaped."""


def rows(text):
    """Cells of a MyST table's body."""
    return [
        [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line.startswith("|")
    ][2:]


def assert_plain(text):
    """`NASTY` stands in the table as it is, and the table has the same number of columns in every row."""
    table = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    page = MarkdownIt("commonmark").enable("table").render(table)
    assert f"{escape(NASTY)}" in page
    assert "<script" not in page and "<em>" not in page and "<a " not in page and "<code>d" not in page
    columns = {line.count("<td") for line in page.split("<tr>")[2:]}
    assert len(columns) == 1


def line(ax, label):
    """The line that the legend of some axes calls so, without its error bars."""
    handles, labels = ax.get_legend_handles_labels()
    handle = handles[labels.index(label)]
    return handle.lines[0] if hasattr(handle, "lines") else handle
