"""Lists that were shown to real users, what they were made of, and the clicks on them."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from numbers import Integral
from typing import Any, Generic, TypeGuard, TypeVar

import numpy as np

from ol2r.data.own import plain
from ol2r.errors import DataError
from ol2r.parameters import AT_LEAST_ONE, require

Shown = TypeVar("Shown")


def different(given: Iterable[Hashable], what: str) -> list[Any]:
    """The names that a site gives what it lists, after a check that they are in order and different.

    Args:
        given: the names; those of numpy's types become Python's own.
        what: they are called so in the message of an error.

    Raises:
        DataError: it is no list, a name cannot be looked up, or one stands there twice.
    """
    if isinstance(given, str | bytes | Set | Mapping) or not isinstance(given, Iterable):
        raise DataError(f"expected a list of {what}, found {_told(given)}")
    names = [each.item() if isinstance(each, np.generic) else each for each in given]
    try:
        counts = Counter(names)
    except TypeError as error:
        raise DataError(f"expected {what} that can be looked up, such as text or numbers: {error}") from error
    for name, times in counts.items():
        if times > 1:
            raise DataError(f"{what} must be different, but {name!r} stands among them {times} times")
        if name != name:
            raise DataError(f"expected {what} that can be looked up, found {name!r}, which does not equal itself")
    return names


def whole(value: object) -> TypeGuard[int]:
    """Whether a value is one whole number."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _told(given: object) -> str:
    """What was given, in one line of a message."""
    text = " ".join(repr(given).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def real_clicks(clicks: Sequence[bool], slots: int, seen: int | None = None) -> np.ndarray:
    """Whether each slot of a list was clicked: Bool[slots].

    Args:
        clicks: True or False for each slot, from the top; 1 and 0 do as well.
        slots: the length of the list.
        seen: how many slots were seen, to which `clicks` belong; the others were not clicked. None for all.

    Raises:
        ValueError: there is not one click for each slot, a value is none of True, False, 1 and 0, or `seen` is no
            number of slots.
    """
    if seen is not None and not (whole(seen) and 1 <= seen <= slots):
        raise ValueError(f"of {slots} slots 1 to {slots} can be seen, not {seen!r}; forget() a list that nobody saw")
    given, expected = plain(clicks, "clicks"), slots if seen is None else int(seen)
    if given.dtype == object:  # of a table with mixed columns
        given = plain(given.tolist(), "clicks")
    if given.shape != (expected,) or given.dtype.kind not in "biu" or not np.isin(given, (0, 1)).all():
        raise ValueError(f"expected {expected} clicks, True or False, found {_told(clicks)}")
    return np.concatenate([given.astype(bool), np.zeros(slots - expected, dtype=bool)])


class Waiting(Generic[Shown]):
    """Lists that wait for the clicks of real users, by ticket; tickets are whole numbers and grow.

    Args:
        most: how many may wait.

    Attributes:
        lists: what is kept of each list, the oldest first.
    """

    def __init__(self, most: int):
        require("most_waiting", AT_LEAST_ONE, most)
        self.most = int(most)
        self.lists: dict[int, Shown] = {}

    def make_sure_of_room(self) -> None:
        """Raise ValueError if as many lists wait as may."""
        if len(self.lists) < self.most:
            return
        if self.most == 1:
            raise ValueError(
                "the last list waits for its clicks: call update() first, with False where there was none, or forget()"
            )
        raise ValueError(
            f"{self.most} lists wait for their clicks, which is most_waiting: update() or forget() one first; the "
            f"oldest has the ticket {next(iter(self.lists))}"
        )

    def meant(
        self, ticket: int | Sequence[bool] | np.ndarray | None, clicks: Sequence[bool] | np.ndarray | None
    ) -> tuple[int, Shown, Sequence[bool]]:
        """Ticket, list and clicks of `update(ticket, clicks)`, or of `update(clicks)` where one list waits.

        Raises:
            ValueError: no such list waits, or several do and there is no ticket.
        """
        if clicks is None:
            ticket, clicks = None, ticket  # type: ignore[assignment]
        if ticket is None:
            if len(self.lists) > 1:
                raise ValueError(f"{len(self.lists)} lists wait for clicks: say which one, update(ticket, clicks)")
            if not self.lists:
                raise ValueError("no list waits for clicks: call rank() first")
            return *next(iter(self.lists.items())), clicks  # type: ignore[return-value]
        return ticket, self[ticket], clicks  # type: ignore[return-value]

    def __getitem__(self, ticket: object) -> Shown:
        if not whole(ticket) or ticket not in self.lists:
            told = f"no list with the ticket {_told(ticket)} waits for clicks"
            raise ValueError(f"{told}: it had its clicks, or is forgotten")
        return self.lists[int(ticket)]

    def forget(self, ticket: int) -> None:
        """Let a list wait no longer.

        Raises:
            ValueError: no such list waits.
        """
        self[ticket]
        del self.lists[int(ticket)]
