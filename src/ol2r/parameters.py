"""Declarations of the values that a parameter allows, and the message that a user gets for any other value.

Learners, bandits, evaluations and chapters declare their parameters with these classes. This module knows none of them
and imports nothing heavy.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeGuard

Value = float | int | str | bool


class Parameter(ABC):
    """The values that a parameter allows.

    Attributes:
        default: what it is where it is not given; None for a parameter that must be given. So a parameter can be added
            to those that stored results were declared with.
    """

    default: Value | None = None

    @property
    @abstractmethod
    def said(self) -> str:
        """Which values are allowed, in words that follow "must be"."""

    @abstractmethod
    def allows(self, value: Any) -> bool:
        """Whether the value is allowed."""


class Choice(Parameter):
    """One of a few values, compared with their types: True and 1.0 are not allowed where 1 is."""

    def __init__(self, *known: Value, default: Value | None = None):
        self.known, self.default = known, default

    @property
    def said(self) -> str:
        return f"one of {', '.join(map(str, self.known))}"

    def allows(self, value: Any) -> bool:
        return any(type(value) is type(each) and value == each for each in self.known)


def _real(number: object) -> TypeGuard[float]:
    return isinstance(number, Real) and not isinstance(number, bool)


@dataclass(frozen=True)
class Number(Parameter):
    """A finite number in a range, or an array or tensor with one such number for each replica. Booleans are refused.

    Args:
        least, above: lower end of the range; `least` is itself allowed, `above` is not.
        most, below: upper end of the range; `most` is itself allowed, `below` is not; `most=math.inf` allows infinity.
        whole: whether only whole numbers are allowed: integers, or an array of any type whose numbers have no fraction.
        because: the reason for the range, for the message, where a user may wonder.
        default: see `Parameter`.
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float = math.inf
    whole: bool = False
    because: str = ""
    default: Value | None = None

    @property
    def said(self) -> str:
        begins = [] if self.least is None else [f"of at least {self.least:g}"]
        begins += [] if self.above is None else [f"above {self.above:g}"]
        ends = [] if self.most in (None, math.inf) else [f"at most {self.most:g}"]
        ends += [] if self.below == math.inf else [f"below {self.below:g}"]
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} {' and '.join(begins + ends)}".strip() + (f" ({self.because})" if self.because else "")

    def allows(self, value: Any) -> bool:
        if hasattr(value, "ravel"):  # an array or a tensor
            return all(self._holds(each) and not (self.whole and each % 1) for each in value.ravel().tolist())
        return self._holds(value) and (isinstance(value, Integral) or not self.whole)

    def _holds(self, number: Any) -> bool:
        if not _real(number) or not number > -math.inf:  # nor NaN
            return False
        begun = (self.least is None or number >= self.least) and (self.above is None or number > self.above)
        return begun and (number < self.below if self.most is None else number <= self.most)


@dataclass(frozen=True)
class Names(Parameter):
    """A list of at least one name.

    Args:
        of: what the names stand for, in the plural, for the message.
    """

    of: str = "names"

    @property
    def said(self) -> str:
        return f"a list of {self.of}, at least one"

    def allows(self, value: Any) -> bool:
        return isinstance(value, list) and len(value) > 0 and all(isinstance(name, str) for name in value)


FLAG = Choice(True, False)


def refusal(name: str, parameter: Parameter, value: object) -> str:
    """The error message for a value that a parameter does not allow."""
    return f"{name} must be {parameter.said}, not {value!r}"


WHOLE = Number(whole=True)
AT_LEAST_ONE = Number(least=1, whole=True)


def require(name: str, parameter: Parameter, value: object) -> None:
    """Raise ValueError unless the parameter of this name allows the value."""
    if not parameter.allows(value):
        raise ValueError(refusal(name, parameter, value))


def check_all(owner: str, declared: Mapping[str, Parameter], given: Mapping[str, object]) -> None:
    """Raise ValueError unless exactly the declared parameters are given, each with an allowed value; those that have a
    default may be left out.

    Args:
        owner: name of the learner or other owner of the parameters, for the message.
    """
    needed = {name for name, parameter in declared.items() if parameter.default is None}
    missing, unknown = needed - given.keys(), given.keys() - declared.keys()
    if missing or unknown:
        raise ValueError(
            f"{owner} takes {', '.join(sorted(declared)) or 'no parameter'}; "
            f"missing: {', '.join(sorted(missing)) or 'none'}; "
            f"unknown: {', '.join(sorted(unknown)) or 'none'}"
        )
    for name, parameter in declared.items():
        if name in given:
            require(f"{owner}: {name}", parameter, given[name])


def completed(declared: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The declared parameters with the given values, or with their defaults where none is given."""
    return {name: given.get(name, parameter.default) for name, parameter in declared.items()}
