"""Whose clicks a bandit learns from: queries, each with a click model and the list that a production ranker shows.

A population is a frozen declaration and part of a cell's key. Its queries are read or fitted when they are first
needed. This module must not know any bandit.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ol2r import data
from ol2r.clicks import ItemClicks, fitting
from ol2r.data.counts import load_counts
from ol2r.data.sessions import load_sessions

Model = Literal["CM", "DCM", "PBM"]
KINDS: dict[str, fitting.Kind] = {"CM": "cascade", "DCM": "dependent", "PBM": "position"}
POSITIONS = 10
"""K: search results of a page, in the logs and in the published models."""


class ClickQuery(NamedTuple):
    """One query: its users, and the production ranker's list of item numbers, K of them."""

    users: ItemClicks
    initial: tuple[int, ...]


class Population(ABC):
    """Some queries of one kind of click model; subclasses are frozen dataclasses."""

    model: Model

    @property
    @abstractmethod
    def dataset(self) -> str:
        """The data set's name in the catalogue, or the name of the simulated world."""

    @property
    @abstractmethod
    def n_queries(self) -> int:
        """How many queries there are, known without the data."""

    @property
    def restricted(self) -> bool:
        """Whether the data's licence forbids storing values of single queries."""
        return data.entry(self.dataset).restricted

    @property
    def n_items(self) -> int:
        """L, the number of items of a query, roughly."""
        return POSITIONS

    @property
    def ranked(self) -> str:
        """Which items are ranked: "listed" for those of the initial list only, or "all" if there are more."""
        return "listed"

    @property
    def seconds(self) -> float:
        """Seconds that a process spends once on reading and fitting the models, roughly."""
        return 0.03

    @abstractmethod
    def queries(self) -> Sequence[ClickQuery]:
        """The queries in their order.

        Raises:
            MissingData: the data is not at hand.
        """


@dataclass(frozen=True)
class Published(Population):
    """The 60 published queries of BatchRank's collection.

    The production ranker's list is the order in which the collection prints a query's items. It is the order of one
    result page of the query, which the script that made the collection drew at random.
    """

    model: Model
    checksum: str

    dataset: ClassVar[str] = "Yandex_60Q_click_models"

    @property
    def n_queries(self) -> int:
        return data.entry(self.dataset).n_queries or 0

    def queries(self) -> Sequence[ClickQuery]:
        models = fitting.published_models(KINDS[self.model])
        return [ClickQuery(users, tuple(range(users.n_items))) for users in models.values()]


@dataclass(frozen=True)
class Logged(Population):
    """Queries of the raw log, with click models fitted as PyClick counts (CM, DCM).

    The production ranker's list is the one that the log shows most often.

    Args:
        least_shown: None keeps only the items of the production ranker's list (L = K); a number adds the items that at
            least this number of lists of the log show (L > K).
    """

    model: Model
    checksum: str
    least_shown: int | None = None

    dataset: ClassVar[str] = "Yandex_WSCD_sample"

    @property
    def n_queries(self) -> int:
        return data.entry(self.dataset).n_queries or 0

    @property
    def n_items(self) -> int:
        return POSITIONS if self.least_shown is None else 2 * POSITIONS

    @property
    def ranked(self) -> str:
        return "listed" if self.least_shown is None else "all"

    @property
    def seconds(self) -> float:
        return 1.0

    def queries(self) -> Sequence[ClickQuery]:
        result = []
        for it, users in zip(_log(), self.fits(), strict=True):
            initial = it.most_frequent_list(POSITIONS)
            shown = np.bincount(it.lists[it.shown], minlength=len(it.items))
            least = np.inf if self.least_shown is None else self.least_shown
            others = [i for i in np.flatnonzero(shown >= least) if i not in initial]
            items = [int(i) for i in (*initial, *others)]
            result.append(ClickQuery(users.restricted(items), tuple(range(POSITIONS))))
        return result

    def fits(self) -> fitting.Fits:
        """The users of all items of the log, by query."""
        return _counted(self.model)


@dataclass(frozen=True)
class LoggedPositions(Logged):
    """Queries of the raw log, with the position-based model and the pseudo-counts of its fit.

    Expectation-maximisation runs to convergence here, whereas PyClick stops after 50 steps.

    Args:
        counts: pseudo-counts of clicks and views; PyClick's present ones, or `fitting.PYCLICK_EM_BEFORE_2017`.
    """

    counts: tuple[float, float] = fitting.PYCLICK_COUNTS

    def fits(self) -> fitting.Fits:
        """The users of all items of the log, by query."""
        return _positions(self.counts)


@dataclass(frozen=True)
class Counted(Population):
    """Queries of the log that is at hand as counts, with the position-based model and the pseudo-counts of its fit.

    A row with more clicks than views counts all of its views as clicked. The production ranker's list has at each
    position the item that was shown there most often, and only its items are ranked (L = K).

    Args:
        model: "PBM", the only model that counts can be fitted with.
        counts: pseudo-counts of clicks and views.
    """

    model: Literal["PBM"]
    checksum: str
    counts: tuple[float, float] = fitting.PYCLICK_COUNTS

    dataset: ClassVar[str] = "Yandex_60Q_aggregated"

    @property
    def n_queries(self) -> int:
        return data.entry(self.dataset).n_queries or 0

    @property
    def seconds(self) -> float:
        return 1.0

    def queries(self) -> Sequence[ClickQuery]:
        return _counted_queries(self.counts)


@cache
def _counted_queries(counts: tuple[float, float]) -> Sequence[ClickQuery]:
    log = tuple(load_counts(excess="limit").queries.values())
    fits = fitting.fit_position(log, counts)
    return [
        ClickQuery(users.restricted(it.most_frequent_list(POSITIONS).tolist()), tuple(range(POSITIONS)))
        for it, users in zip(log, fits, strict=True)
    ]


@cache
def _log():
    train, _ = load_sessions(unshown="ignore")
    return tuple(train.queries.values())


@cache
def _counted(model: Model) -> fitting.Fits:
    if model == "CM":
        return fitting.fit_cascade(_log(), fitting.PYCLICK_COUNTS)
    if model == "DCM":
        return fitting.fit_dependent(_log(), fitting.PYCLICK_COUNTS, leaving="last click")
    raise ValueError("the position-based model of the log is LoggedPositions, which names its pseudo-counts")


@cache
def _positions(counts: tuple[float, float]) -> fitting.Fits:
    return fitting.fit_position(_log(), counts)


@dataclass(frozen=True)
class Declared(Population):
    """Simulated worlds: queries whose click models and initial lists are part of the declaration.

    Args:
        name: the name of the worlds, used as the data set's.
        worlds: (click model, initial list) of each query.
    """

    name: str
    model: Model
    worlds: tuple[tuple[ItemClicks, tuple[int, ...]], ...]

    restricted: ClassVar[bool] = False

    def __post_init__(self):
        if any(users.kind != KINDS[self.model] for users, _ in self.worlds):
            raise ValueError(f"all queries of {self.name!r} must have a {KINDS[self.model]} model")

    @property
    def dataset(self) -> str:
        return self.name

    @property
    def n_queries(self) -> int:
        return len(self.worlds)

    @property
    def n_items(self) -> int:
        return max(users.n_items for users, _ in self.worlds)

    def queries(self) -> Sequence[ClickQuery]:
        return [ClickQuery(*world) for world in self.worlds]
