"""Lists that were shown to real users, what they were made of, the clicks on them, and what learns from those."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Generic, Self, TypeGuard, TypeVar

import numpy as np

from ol2r import saved
from ol2r.arrays import plain
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


class Serving(ABC, Generic[Shown]):
    """A learner that serves a site: its lists wait for clicks under tickets, and a file holds all that it knows.

    Tickets are whole numbers and grow. A subclass says what it learns from a list, and what it keeps.

    Args:
        most_waiting: how many lists may wait for their clicks.

    Attributes:
        most_waiting: as given, or as loaded.
    """

    _kind: ClassVar[str]  # what its files call it

    def __init__(self, most_waiting: int):
        require("most_waiting", AT_LEAST_ONE, most_waiting)
        self.most_waiting = int(most_waiting)
        self._lists: dict[int, Shown] = {}  # what is kept of each list that waits, the oldest first

    @property
    def waiting(self) -> tuple[int, ...]:
        """Tickets of the lists that wait for their clicks, the oldest first."""
        return tuple(self._lists)

    def _make_sure_of_room(self) -> None:
        """Raise ValueError if as many lists wait as may."""
        if len(self._lists) < self.most_waiting:
            return
        if self.most_waiting == 1:
            raise ValueError(
                "the last list waits for its clicks: call update() first, with False where there was none, or forget()"
            )
        raise ValueError(
            f"{self.most_waiting} lists wait for their clicks, which is most_waiting: update() or forget() one first; "
            f"the oldest has the ticket {next(iter(self._lists))}"
        )

    def update(
        self,
        ticket: int | Sequence[bool] | np.ndarray | None = None,
        clicks: Sequence[bool] | np.ndarray | None = None,
        *,
        seen: int | None = None,
    ) -> None:
        """Learn from the clicks on a list: `update(ticket, clicks)`, or `update(clicks)` where only one waits.

        Args:
            ticket: that of the list, for clicks may come in any order; or left out.
            clicks: whether what stands in each slot was clicked, from the top.
            seen: how many slots were seen, if not all; `clicks` belong to these alone.

        Raises:
            ValueError: no such list waits for clicks, or there is not one click value for each slot that was seen.
        """
        if clicks is None:
            ticket, clicks = None, ticket  # type: ignore[assignment]
        if ticket is None:
            if len(self._lists) > 1:
                raise ValueError(f"{len(self._lists)} lists wait for clicks: say which one, update(ticket, clicks)")
            if not self._lists:
                raise ValueError("no list waits for clicks: call rank() first")
            ticket = next(iter(self._lists))
        number = self._known(ticket)
        shown = self._lists[number]
        self._learn(number, shown, real_clicks(clicks, self._slots(shown), seen), seen)  # type: ignore[arg-type]
        del self._lists[number]

    def forget(self, ticket: int) -> None:
        """Learn nothing from a list, whose clicks will not come.

        Raises:
            ValueError: no such list waits for clicks.
        """
        del self._lists[self._known(ticket)]

    def _known(self, ticket: object) -> int:
        if not whole(ticket) or ticket not in self._lists:
            told = f"no list with the ticket {_told(ticket)} waits for clicks"
            raise ValueError(f"{told}: it had its clicks, or is forgotten")
        return int(ticket)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all that it has learned, and the lists that wait, to a file in the place of what was there.

        Raises:
            ValueError: there is something that a file cannot name.
            OSError: the file cannot be written; what was there before is intact.
        """
        saved.save(path, self._kind, *self._kept())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Go on from what `save` wrote, in any process, as the learner that was saved would have.

        Raises:
            DataError: the file is cut short, holds no such learner, or was written by a version that this one does not
                understand.
            OSError: the file is not there or cannot be read.
        """
        return saved.load(path, cls._kind, cls._made)

    @abstractmethod
    def _slots(self, shown: Shown) -> int:
        """How many slots a list has."""

    @abstractmethod
    def _learn(self, ticket: int, shown: Shown, clicked: np.ndarray, seen: int | None) -> None:
        """Learn from the clicks on a list: Bool[slots]."""

    @abstractmethod
    def _kept(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Header and arrays of its file."""

    @classmethod
    @abstractmethod
    def _made(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """Make it again of what was kept."""
