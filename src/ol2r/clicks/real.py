"""Checks the clicks of real users on one list."""

from collections.abc import Sequence

import numpy as np


def real_clicks(clicks: Sequence[bool], slots: int) -> np.ndarray:
    """Whether each slot of a list was clicked: Bool[slots].

    Args:
        clicks: True or False for each slot, from the top; 1 and 0 do as well.
        slots: the length of the list.

    Raises:
        ValueError: there is not one click for each slot, or a value is none of True, False, 1 and 0.
    """
    given = np.asarray(clicks)
    if given.shape != (slots,) or given.dtype.kind not in "bi" or not np.isin(given, (0, 1)).all():
        raise ValueError(f"expected {slots} clicks, True or False, found {clicks!r}")
    return given.astype(bool)
