"""Arrays that others hand in, in the one form in which compiled loops read them: those check neither shapes nor places.

Each function gives the right array, or raises an error of one line. This module must not know what an array means.
"""

from typing import Any

import numpy as np

from ol2r.errors import DataError


def plain(given: object, what: str) -> np.ndarray:
    """An array of what was given: a table of pandas, a sparse matrix of scipy, a list, or an array of any layout.

    Args:
        given: the values.
        what: names them in the message of an error.

    Raises:
        DataError: it is no array, or an array from which values are masked out.
    """
    if np.ma.isMaskedArray(given) and np.ma.getmaskarray(given).any():
        raise DataError(f"{what}: expected a value everywhere, found a masked array that leaves some out")
    if callable(dense := getattr(given, "toarray", None)):
        given = dense()
    try:
        return np.asarray(given)
    except (RuntimeError, TypeError, ValueError) as error:  # lists of different lengths, a tensor with a gradient
        raise DataError(f"{what}: expected an array, {error}") from error


def checked(
    given: object, what: str, shape: tuple[int | None, ...], dtype: Any, least: float = -np.inf, most: float = np.inf
) -> np.ndarray:
    """An array of this shape and type, in one piece, that holds the same numbers as what was given.

    Args:
        given: the values, as for `plain`; nothing is copied where they have the type and are in one piece.
        what: names them in the message of an error.
        shape: the length of each axis, None for any length.
        dtype: a type of numbers; real ones are rounded to it, whole ones and truth values must be those given.
        least, most: the range of the values.

    Raises:
        DataError: another shape, other values than numbers, a whole number that is none, or one out of range.
    """
    array, dtype = plain(given, what), np.dtype(dtype)
    if array.ndim != len(shape) or any(
        n is not None and n != found for n, found in zip(shape, array.shape, strict=True)
    ):
        expected = str(shape).replace("None", "any")
        raise DataError(f"{what}: expected the shape {expected}, found {array.shape}")
    if array.dtype != dtype:
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                made = array.astype(dtype) if array.dtype.kind in "biufO" else None
        except (TypeError, ValueError, OverflowError):
            made = None
        if made is None or (dtype.kind != "f" and not np.array_equal(made, array)):
            kind = {"f": "numbers", "b": "True or False"}.get(dtype.kind, "whole numbers")
            told = f" from {least} to {most}" if np.isfinite([least, most]).all() else ""
            raise DataError(f"{what}: expected {kind}{told}, found others in an array of {array.dtype}")
        array = made
    ranged = least > -np.inf or most < np.inf  # else values need not be numbers
    if ranged and array.size and not (least <= array.min() and array.max() <= most):
        raise DataError(f"{what}: expected values from {least} to {most}, found {array.min()} to {array.max()}")
    return np.ascontiguousarray(array)


def checked_offsets(given: object, n: int, least: int = 0) -> np.ndarray:
    """Where each query's documents begin, and where the last one's end: int64[queries + 1].

    Args:
        given: the offsets.
        n: number of documents.
        least: how many documents a query has at least.

    Raises:
        DataError: they do not rise from 0 to n, by `least` or more each time.
    """
    made = checked(given, "offsets", (None,), np.int64)
    if not len(made) or made[0] != 0 or made[-1] != n or (np.diff(made) < least).any():
        raise DataError(f"offsets: expected whole numbers that rise from 0 to {n}, by at least {least} each time")
    return made
