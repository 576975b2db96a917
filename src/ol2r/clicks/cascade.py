"""Graded cascade users: they scan a list from the top, and the grade of a document decides their clicks and stops.

The model is the dependent click model of Guo et al. (2009) in the instantiations that online learning to rank uses
(perfect, navigational, informational).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numba import njit

from ol2r.random import Stream, Streams, uniform

STOP_RULES = ("after_click", "every_document")

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


@njit
def click_list(grades, shown, click_probability, stop_probability, stops_unclicked, key, round_, out):
    """Write the clicks of one user on one list into `out`, Bool[k]; see `UserBatch.click`."""
    examining = True
    for i in range(grades.shape[0]):
        out[i] = False
        if not (examining and shown[i]):
            continue
        grade = grades[i]
        out[i] = uniform(key, Stream.CLICK, round_, i) < click_probability[grade]
        if out[i] or stops_unclicked:
            examining = uniform(key, Stream.STOP, round_, i) >= stop_probability[grade]


@njit(cache=True)
def _click(grades, shown, click_probability, stop_probability, stops_unclicked, keys, round_, out):
    for r in range(grades.shape[0]):
        chances = click_probability[r], stop_probability[r]
        click_list(grades[r], shown[r], *chances, stops_unclicked, keys[r], round_, out[r])


class UserBatch:
    """The users of a batch of replicas, one for each; they share a stop rule and a number of grades."""

    def __init__(self, batch: Sequence[GradedCascade], streams: Streams):
        rules = {user.stop_rule for user in batch}
        if len(rules) != 1 or len({len(user.click) for user in batch}) != 1:
            raise ValueError("the users of one batch must share their stop rule and their number of grades")
        self.stops_unclicked = rules == {"every_document"}
        self.streams = streams
        self.click_probability = torch.tensor([user.click for user in batch], device=streams.device)
        self.stop_probability = torch.tensor([user.stop for user in batch], device=streams.device)

    def click(self, grades: torch.Tensor, shown: torch.Tensor, round_: int) -> torch.Tensor:
        """Clicks on displayed lists.

        Slot i is examined iff the user stopped at no earlier slot. Its coins are word i of the replica's click stream
        and of its stop stream in this round, whichever document it shows.

        Args:
            grades: Int64[R, k], the grade in each slot (0 where nothing is shown); shown: Bool[R, k].

        Returns:
            Bool[R, k].
        """
        if grades.device.type == "cpu":
            out = np.empty(grades.shape, dtype=np.bool_)
            probabilities = self.click_probability.numpy(), self.stop_probability.numpy()
            _click(grades.numpy(), shown.numpy(), *probabilities, self.stops_unclicked, self.streams.keys, round_, out)
            return torch.from_numpy(out)
        return self._click_batched(grades, shown, round_)

    def _click_batched(self, grades: torch.Tensor, shown: torch.Tensor, round_: int) -> torch.Tensor:
        k = grades.shape[1]
        attracted = self.streams.uniforms(Stream.CLICK, round_, k) < self.click_probability.gather(1, grades)
        stopping = self.streams.uniforms(Stream.STOP, round_, k) < self.stop_probability.gather(1, grades)
        stops = stopping if self.stops_unclicked else stopping & attracted
        examined = stops.cumsum(dim=1) <= stops  # no stop before
        return attracted & examined & shown
