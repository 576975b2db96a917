"""What runs of a learner would take on data that is not at hand, by the cost model that timed runs were fitted to.

A learner's estimate (`Learner.cost`) knows the features, the length of lists, the rounds and the hyper-parameters, with
a network's width or the number of rankers.
"""

from collections.abc import Mapping
from typing import NamedTuple, cast

import pandas as pd

from ol2r.cost import Cost, Shape
from ol2r.data import entry
from ol2r.learners import LEARNERS
from ol2r.parameters import Value


class Elsewhere(NamedTuple):
    """Data that is not at hand: how many queries, documents and features it has."""

    queries: int
    documents: int
    features: int

    @classmethod
    def catalogued(cls, name: str) -> "Elsewhere":
        """A data set of the catalogue.

        Raises:
            ValueError: the catalogue has no such data set.
        """
        known = entry(name)
        queries, documents = cast(tuple[int, int], (known.n_queries, known.n_documents))  # None only in click logs
        return cls(queries, documents, known.n_features)

    @property
    def shape(self) -> Shape:
        return Shape(self.features, self.documents / self.queries)

    @property
    def bytes(self) -> int:
        """Of all features, in single precision."""
        return 4 * self.documents * self.features


def of_a_run(learner: str, hyperparameters: Mapping[str, Value], there: Elsewhere, rounds: int) -> Cost:
    """What one run takes on a core, and the memory of its state; features are counted apart (`Elsewhere.bytes`)."""
    return LEARNERS[learner].cost(dict(hyperparameters), there.shape, rounds)


WEB = "a search engine's log"
ELSEWHERE: dict[str, tuple[Elsewhere, int]] = {
    "MSLR-WEB30K": (Elsewhere.catalogued("MSLR-WEB30K"), 5000),
    "Yahoo-LTRC-1": (Elsewhere.catalogued("Yahoo-LTRC-1"), 5000),
    WEB: (Elsewhere(1_000_000, 100_000_000, 136), 1_000_000),
}
"""Data that is told about by default, and rounds of a run: those of the papers, and a million on a million queries."""


def table(
    settings: Mapping[str, tuple[str, Mapping[str, Value]]], elsewhere: Mapping[str, tuple[Elsewhere, int]]
) -> pd.DataFrame:
    """What one run of each variant takes on each data set, without scoring held-out queries.

    Args:
        settings: {variant: (learner, hyper-parameters)}.
        elsewhere: {name: (data, rounds)}.

    Returns:
        variant, data, rounds, seconds of a core, bytes of its state, and bytes of the features beside.
    """
    lines = []
    for variant, (learner, hyperparameters) in settings.items():
        for name, (there, rounds) in elsewhere.items():
            cost = of_a_run(learner, hyperparameters, there, rounds)
            lines.append((variant, name, rounds, cost.whole, cost.bytes, there.bytes))
    return pd.DataFrame(lines, columns=["variant", "data", "rounds", "seconds", "bytes", "features"])


def duration(seconds: float) -> str:
    """A time in the unit that suits it, with two digits."""
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{float(f'{seconds / size:.2g}'):,g} {unit}"
    return f"{float(f'{seconds:.2g}'):g} s"


def size(memory: float) -> str:
    """A number of bytes in the unit that suits it, with two digits."""
    for unit, power in (("GiB", 30), ("MiB", 20)):
        if memory >= 2**power:
            return f"{float(f'{memory / 2**power:.2g}'):,g} {unit}"
    return "under 1 MiB"
