"""The `given` kind of cell: a simulation on a data set that is handed over with it, in the catalogue or not.

`ol2r.compare` runs these. They are never stored, because nothing but the process that made it knows such a data set.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import ClassVar
from weakref import WeakValueDictionary

import numpy as np

from ol2r.cost import Shape
from ol2r.data import RankingDataset
from ol2r.experiments.cells import canonical
from ol2r.experiments.kinds.on_dataset import Size
from ol2r.experiments.kinds.simulate import Simulate


@dataclass(frozen=True, kw_only=True, eq=False)
class Given(Simulate):
    """One learner, one setting and one kind of user on a given data set, whose name and checksum the cell has."""

    given: RankingDataset | None

    kind: ClassVar[str] = "given"
    code: ClassVar[tuple[str, ...]] = (*Simulate.code, "ol2r.experiments.kinds.given")

    def __reduce__(self) -> tuple[Callable, tuple]:
        """A worker gets the cell with its data set. What comes back from there is the cell that was sent."""
        sent_as = self.__dict__.get("_sent_as")
        if sent_as is not None:
            return _that_was_sent, (sent_as,)
        number = f"{os.getpid()} {id(self)}"
        _SENT[number] = self
        return _received, (number, {each.name: getattr(self, each.name) for each in fields(self)})

    @property
    def declaration(self) -> dict:
        """The cell without its data set, which the checksum stands for."""
        return canonical(replace(self, given=None))  # pyright: ignore[reportReturnType]

    def ranking_data(self) -> RankingDataset:
        """The data set that was given."""
        assert self.given is not None
        return self.given

    @property
    def folds(self) -> tuple[int, ...]:
        """All folds of the data set."""
        return tuple(range(1, len(self.ranking_data().folds) + 1))

    @property
    def restricted(self) -> bool:
        """Whether the data set's licence forbids storing values of single documents or queries."""
        return self.ranking_data().restricted

    @property
    def size(self) -> Size:
        """The numbers of the data set on which the cost of a computation depends."""
        dataset = self.ranking_data()
        first = dataset.folds[0]
        shape = Shape(dataset.n_features, dataset.n_documents / dataset.n_queries)
        return Size(shape, len(first.train), len(first.test))


_SENT: "WeakValueDictionary[str, Given]" = WeakValueDictionary()


def _received(number: str, values: dict) -> Given:
    cell = Given(**values)
    vars(cell)["_sent_as"] = number
    return cell


def _that_was_sent(number: str) -> Given:
    return _SENT[number]


def travels(dataset: RankingDataset) -> bool:
    """Whether worker processes can be given a data set: not if its features are in a file that has no name."""
    holder = dataset.features
    while isinstance(holder, np.ndarray):
        if isinstance(holder, np.memmap):
            return holder.filename is not None
        holder = holder.base
    return True
