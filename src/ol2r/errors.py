"""Errors whose message tells a user in one sentence what is wrong, and the nearest name to a misspelt one.

This module imports nothing heavy, so that a typing error is answered at once.
"""

import difflib
from collections.abc import Collection


class ExperimentError(Exception):
    """A user asked for something that the experiments cannot do."""


class MissingRows(ExperimentError):
    """A user asked for results that are not stored and may not be computed."""


class Failed(ExperimentError):
    """Something went wrong during a run; the results that were complete by then are kept."""


class DataError(ValueError):
    """The data is at hand but not what it should be; the message names file, line and what was expected."""


def printable(text: str, *, lines: bool = False) -> str:
    """A text in one line, with escapes for what a terminal or a browser would not show but obey.

    Args:
        text: it may hold names that a user or a file gave.
        lines: whether to keep the ends of its lines.
    """
    return "".join(sign if sign.isprintable() or (lines and sign == "\n") else ascii(sign)[1:-1] for sign in text)


def one_of(name: str, known: Collection[str], what: str, where: str = "") -> str:
    """Return the name if it is a known one.

    Args:
        what: the kind of thing that is named, such as "data set".
        where: the place where these names are known, for the message.

    Raises:
        ExperimentError: the name is unknown; the message offers the nearest known name.
    """
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}" if known else "there are none"
    raise ExperimentError(f"no {what} {name!r}{where and f' in {where}'}: {advice}")
