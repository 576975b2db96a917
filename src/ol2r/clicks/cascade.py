"""Users whose clicks depend on grades. Cascade users scan a list from the top, and the grade of a document decides
their clicks and stops; users by position look at each place with a probability of its own.

The cascade is the dependent click model of Guo et al. (2009) in the instantiations that online learning to rank uses
(perfect, navigational, informational); the other is the position-based model of Craswell et al. (2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from ol2r.compiling import kernel, part
from ol2r.random import Stream, Streams, uniform

STOP_RULES = ("after_click", "every_document")
BY_POSITION = "by_position"
"""In the place of a stop rule: nobody stops, and each place is looked at or not by itself."""
_RULES = (*STOP_RULES, BY_POSITION)
_AFTER_CLICK, _EVERY_DOCUMENT, _BY_POSITION = range(len(_RULES))  # what compiled code calls them

# user -> number of grades -> (click by grade, stop by grade); three grades: NSGD's Table 1; five: PairRank's protocol
_TABLES = {
    "perfect": {
        3: ((0.0, 0.5, 1.0), (0.0, 0.0, 0.0)),
        5: ((0.0, 0.2, 0.4, 0.8, 1.0), (0.0,) * 5),
    },
    "navigational": {
        3: ((0.05, 0.5, 0.95), (0.2, 0.5, 0.9)),
        5: ((0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
    },
    "informational": {
        3: ((0.4, 0.7, 0.9), (0.1, 0.3, 0.5)),
        5: ((0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
    },
}
_BINARY = {"highest": 2, "middle": 1}
USERS = tuple(_TABLES)


@dataclass(frozen=True)
class GradedCascade:
    """One user model: probabilities of clicking and of stopping, by grade.

    Args:
        name: name in figures.
        click: probability of a click on an examined document, by grade.
        stop: probability of stopping, by grade.
        stop_rule: when the user may stop: `"after_click"` (the papers), only after a click; `"every_document"` (the
            field's public code), after every examined document.

    Raises:
        ValueError: probabilities outside [0, 1], lengths that differ, an unknown stop rule.
    """

    name: str
    click: tuple[float, ...]
    stop: tuple[float, ...]
    stop_rule: str

    def __post_init__(self):
        if len(self.click) != len(self.stop):
            raise ValueError(f"user {self.name!r}: {len(self.click)} click but {len(self.stop)} stop probabilities")
        if not all(0.0 <= p <= 1.0 for p in self.click + self.stop):
            raise ValueError(f"user {self.name!r}: probabilities must lie in [0, 1]")
        if self.stop_rule not in STOP_RULES:
            raise ValueError(f"stop_rule must be one of {STOP_RULES}, not {self.stop_rule!r}")


@dataclass(frozen=True)
class GradedPositions:
    """A user model in which the place alone decides whether a document is looked at, and its grade whether it is
    clicked then: a click below says nothing of what was looked at above.

    Args:
        name: name in figures.
        click: probability of a click on a document that is looked at, by grade.
        examination: probability that a place of the list is looked at, from the top.

    Raises:
        ValueError: probabilities outside [0, 1], or no place.
    """

    name: str
    click: tuple[float, ...]
    examination: tuple[float, ...]

    stop_rule: ClassVar[str] = BY_POSITION

    def __post_init__(self):
        if not self.examination:
            raise ValueError(f"user {self.name!r}: a list has at least one place")
        if not all(0.0 <= p <= 1.0 for p in self.click + self.examination):
            raise ValueError(f"user {self.name!r}: probabilities must lie in [0, 1]")


GradedUser = GradedCascade | GradedPositions
"""A user whose clicks depend on grades."""


def users(kind: str, n_grades: int, *, stop_rule: str = "after_click", binary: str = "highest") -> GradedCascade:
    """The user model of a paper's table, for a data set's number of grades.

    Args:
        kind: `"perfect"`, `"navigational"` or `"informational"`.
        n_grades: 3 or 5, or 2 for binary relevance, which uses columns of the table of three grades.
        stop_rule: see `GradedCascade`.
        binary: which column of that table grade 1 of a binary set uses: `"highest"` (lerot's convention) or `"middle"`.

    Raises:
        ValueError: an unknown `kind` or `binary`, or a number of grades for which no paper has a table.
    """
    if kind not in _TABLES:
        raise ValueError(f"users must be one of {USERS}, not {kind!r}")
    if n_grades == 2:
        if binary not in _BINARY:
            raise ValueError(f"binary must be one of {tuple(_BINARY)}, not {binary!r}")
        column = _BINARY[binary]
        click, stop = ((row[0], row[column]) for row in _TABLES[kind][3])
    elif n_grades in _TABLES[kind]:
        click, stop = _TABLES[kind][n_grades]
    else:
        raise ValueError(f"no table of click probabilities for {n_grades} grades (known: 2, 3, 5)")
    return GradedCascade(kind, click, stop, stop_rule)


def rule_of_grades(n_grades: int) -> str:
    """Name of the rule by which `users_of_grades` finds click probabilities for this number of grades."""
    if n_grades in (3, 5):
        return f"the papers' table of {n_grades} grades"
    return "binary relevance" if n_grades == 2 else f"{n_grades} grades read between five"


def users_of_grades(
    kind: str, n_grades: int, *, stop_rule: str = "after_click", binary: str = "highest"
) -> GradedCascade:
    """The user model of a paper's table for this number of grades, or else interpolated in the table of five grades.

    Grade g of n has the place 4 g / (n − 1) among the grades 0 … 4, and its probabilities are interpolated linearly.

    Args:
        kind, stop_rule, binary: as for `users`.
        n_grades: 2 or more.

    Raises:
        ValueError: an unknown kind, or fewer than two grades.
    """
    if n_grades in (2, 3, 5):
        return users(kind, n_grades, stop_rule=stop_rule, binary=binary)
    if n_grades < 2:
        raise ValueError(f"users whose clicks depend on grades need at least 2 grades, not {n_grades}")
    five = users(kind, 5, stop_rule=stop_rule)
    place = np.linspace(0.0, 4.0, n_grades)
    click, stop = (tuple(np.interp(place, range(5), row).tolist()) for row in (five.click, five.stop))
    return GradedCascade(kind, click, stop, five.stop_rule)


@part
def click_list(grades, shown, click_probability, leave_or_look, rule, key, round_, out):
    """Write the clicks of one user on one list into `out`, Bool[k]; see `UserBatch.click`."""
    examining = True
    for i in range(grades.shape[0]):
        out[i] = False
        if not (examining and shown[i]):
            continue
        grade = grades[i]
        out[i] = uniform(key, Stream.CLICK, round_, i) < click_probability[grade]
        if rule == _BY_POSITION:
            out[i] = out[i] and uniform(key, Stream.STOP, round_, i) < leave_or_look[i]
        elif out[i] or rule == _EVERY_DOCUMENT:
            examining = uniform(key, Stream.STOP, round_, i) >= leave_or_look[grade]


@kernel
def _click(grades, shown, click_probability, leave_or_look, rule, keys, round_, out):
    for r in range(grades.shape[0]):
        chances = click_probability[r], leave_or_look[r]
        click_list(grades[r], shown[r], *chances, rule, keys[r], round_, out[r])


class UserBatch:
    """The users of a batch of replicas, one for each; they share a stop rule and a number of grades.

    Attributes:
        rule: the number of their stop rule, or of `BY_POSITION`.
        leave_or_look: Float[R, grades], the probability of stopping, by grade; or, of users by position, Float[R,
            places], the probability that a place is looked at.
    """

    def __init__(self, batch: Sequence[GradedUser], streams: Streams):
        rules = {user.stop_rule for user in batch}
        second = [user.examination if isinstance(user, GradedPositions) else user.stop for user in batch]
        if len(rules) != 1 or len({len(user.click) for user in batch}) != 1 or len(set(map(len, second))) != 1:
            raise ValueError("the users of one batch must share their stop rule and their number of grades")
        self.rule = _RULES.index(rules.pop())
        self.streams = streams
        self.click_probability = torch.tensor([user.click for user in batch], device=streams.device)
        self.leave_or_look = torch.tensor(second, device=streams.device)

    def check_length(self, k: int) -> None:
        """Refuse lists that are longer than the users know places.

        Raises:
            ValueError: they are.
        """
        if self.rule == _BY_POSITION and k > self.leave_or_look.shape[1]:
            raise ValueError(f"these users know {self.leave_or_look.shape[1]} places of a list, not {k}")

    def click(self, grades: torch.Tensor, shown: torch.Tensor, round_: int) -> torch.Tensor:
        """Clicks on displayed lists.

        Slot i is examined iff the user stopped at no earlier slot, or, by position, with the probability of its place.
        Its coins are word i of the replica's click stream and of its stop stream in this round, whichever document it
        shows.

        Args:
            grades: Int64[R, k], the grade in each slot (0 where nothing is shown); shown: Bool[R, k].

        Returns:
            Bool[R, k].
        """
        if grades.device.type == "cpu":
            out = np.empty(grades.shape, dtype=np.bool_)
            probabilities = self.click_probability.numpy(), self.leave_or_look.numpy()
            _click(grades.numpy(), shown.numpy(), *probabilities, self.rule, self.streams.keys, round_, out)
            return torch.from_numpy(out)
        return self._click_batched(grades, shown, round_)

    def _click_batched(self, grades: torch.Tensor, shown: torch.Tensor, round_: int) -> torch.Tensor:
        k = grades.shape[1]
        attracted = self.streams.uniforms(Stream.CLICK, round_, k) < self.click_probability.gather(1, grades)
        coins = self.streams.uniforms(Stream.STOP, round_, k)
        if self.rule == _BY_POSITION:
            return attracted & (coins < self.leave_or_look[:, :k]) & shown
        stopping = coins < self.leave_or_look.gather(1, grades)
        stops = stopping if self.rule == _EVERY_DOCUMENT else stopping & attracted
        examined = stops.cumsum(dim=1) <= stops  # no stop before
        return attracted & examined & shown
