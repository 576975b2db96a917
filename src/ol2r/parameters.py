"""What a parameter may be, and what a user is told who gives something else.

Learners, bandits, the conventions of a measurement and chapters declare their parameters by these few words. Nothing
here knows any of them, or imports anything heavy.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

Value = float | int | str | bool


class Parameter(ABC):
    """The values that a parameter may have."""

    @property
    @abstractmethod
    def said(self) -> str:
        """What a value must be, in words that follow "must be"."""

    @abstractmethod
    def allows(self, value: Any) -> bool:
        """Whether a parameter may have the value."""


class Choice(Parameter):
    """One of a few values, which must be of the same type: neither is 1 True nor 1.0 the number 1."""

    def __init__(self, *known: Value):
        self.known = known

    @property
    def said(self) -> str:
        return f"one of {', '.join(map(str, self.known))}"

    def allows(self, value: Any) -> bool:
        return any(type(value) is type(each) and value == each for each in self.known)


@dataclass(frozen=True)
class Number(Parameter):
    """A finite number in a range; or an array or tensor of such, one a replica. True and False are no numbers.

    Args:
        least, above: the range begins with the one, or beyond the other.
        most, below: it ends with the one, or before the other; `most=math.inf` allows infinity.
        whole: whether only whole numbers will do: integers, and in an array numbers of any type without a fraction.
        because: why, where a user may wonder.
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float = math.inf
    whole: bool = False
    because: str = ""

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
        if not isinstance(number, Real) or isinstance(number, bool) or not number > -math.inf:  # nor NaN
            return False
        begun = (self.least is None or number >= self.least) and (self.above is None or number > self.above)
        return begun and (number < self.below if self.most is None else number <= self.most)


@dataclass(frozen=True)
class Names(Parameter):
    """A list of names, not empty.

    Args:
        of: what they name, in the plural.
    """

    of: str = "names"

    @property
    def said(self) -> str:
        return f"a list of {self.of}, at least one"

    def allows(self, value: Any) -> bool:
        return isinstance(value, list) and len(value) > 0 and all(isinstance(name, str) for name in value)


FLAG = Choice(True, False)


def refusal(name: str, parameter: Parameter, value: object) -> str:
    """What is said of a value that a parameter may not have."""
    return f"{name} must be {parameter.said}, not {value!r}"


def require(name: str, parameter: Parameter, value: object) -> None:
    """Raise ValueError unless the parameter of this name may have the value."""
    if not parameter.allows(value):
        raise ValueError(refusal(name, parameter, value))


def check_all(owner: str, declared: Mapping[str, Parameter], given: Mapping[str, object]) -> None:
    """Raise ValueError unless exactly the declared parameters are given, each with a value that it may have.

    Args:
        owner: whose parameters they are, for the message.
    """
    missing, unknown = declared.keys() - given.keys(), given.keys() - declared.keys()
    if missing or unknown:
        raise ValueError(
            f"{owner} takes {', '.join(sorted(declared)) or 'no parameter'}; "
            f"missing: {', '.join(sorted(missing)) or 'none'}; "
            f"unknown: {', '.join(sorted(unknown)) or 'none'}"
        )
    for name, parameter in declared.items():
        require(f"{owner}: {name}", parameter, given[name])
