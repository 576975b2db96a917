"""Docstrings here are prose with formulae, not reStructuredText: |x|, w_t and 2**r are meant as they stand.

Escapes what Sphinx would take for markup, and leaves ``literals`` and `quoted names` (shown as code) alone.
"""

import re

from sphinx.application import Sphinx

CODE = re.compile(r"(``[^`]+``|(?::[\w:]+:)?`[^`]+`)")


def escaped(line: str) -> str:
    """One line with `name` as ``name`` and |, *, trailing _, @ and the : of addresses made harmless outside of code."""
    parts = CODE.split(line)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.sub(r"([|*\\@]|(?<=\w)_(?!\w)|(?<!http)(?<!https):(?=//))", r"\\\1", part)
        elif part.startswith("`") and not part.startswith("``"):
            parts[i] = f"`{part}`"
    return "".join(parts)


def escape(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in lines]


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("autodoc-process-docstring", escape, priority=100)  # before napoleon adds markup of its own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
