"""Errors whose message tells a user in one sentence what is wrong, and the nearest name to a misspelt one.

It imports nothing heavy, so that a slip of the hand is answered at once.
"""

import difflib
from collections.abc import Collection


class ExperimentError(Exception):
    """Something a user asked of the experiments that cannot be done."""


class MissingRows(ExperimentError):
    """Results were asked for that are not stored and may not be computed."""


class Failed(ExperimentError):
    """Something went wrong on the way; what had ended is kept."""


class DataError(ValueError):
    """The data is at hand but not what it should be; the message names file, line and what was expected."""


def one_of(name: str, known: Collection[str], what: str, where: str = "") -> str:
    """The name, if it is known.

    Args:
        what: what it should be the name of, such as "data set".
        where: in what these are known.

    Raises:
        ExperimentError: it is not; the message offers the nearest one.
    """
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}" if known else "there are none"
    raise ExperimentError(f"no {what} {name!r}{where and f' in {where}'}: {advice}")
