"""Whose clicks a bandit learns from: queries, each with a click model and the list that a production ranker shows.

A population is a frozen declaration, part of a cell's key; its queries are read or fitted when they are asked for. This
module must not know any bandit.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ol2r import data
from ol2r.clicks import ItemClicks, fitting
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
        """Name in the catalogue, or of the simulated world."""

    @property
    @abstractmethod
    def n_queries(self) -> int:
        """How many queries there are, known without the data."""

    @property
    def restricted(self) -> bool:
        """As the data's licence."""
        return data.entry(self.dataset).restricted

    @property
    def n_items(self) -> int:
        """L, roughly."""
        return POSITIONS

    @property
    def ranked(self) -> str:
        """What there is to rank: "listed", the items of the initial list, or "all", more of them."""
        return "listed"

    @property
    def seconds(self) -> float:
        """What reading and fitting the models takes a process, once, roughly."""
        return 0.03

    @abstractmethod
    def queries(self) -> Sequence[ClickQuery]:
        """The queries in their order.

        Raises:
            MissingData: the data is not at hand.
        """


@dataclass(frozen=True)
class Published(Population):
    """The 60 published models of BatchRank's collection; the production ranker's list is the order they are printed in,
    that of one result page of the query, which the script that made the collection drew at random.

    Args:
        model: which of them.
        checksum: the catalogue's, so that other data is another key.
    """

    model: Model
    checksum: str

    dataset: ClassVar[str] = "Yandex_60Q_click_models"  # pyright: ignore[reportIncompatibleMethodOverride]

    @property
    def n_queries(self) -> int:
        return data.entry(self.dataset).n_queries or 0

    def queries(self) -> Sequence[ClickQuery]:
        models = fitting.published_models(KINDS[self.model])
        return [ClickQuery(users, tuple(range(users.n_items))) for users in models.values()]


@dataclass(frozen=True)
class Logged(Population):
    """Models fitted to the raw log as PyClick counts (CM, DCM); the list shown most often.

    Args:
        model: which.
        checksum: the catalogue's.
        least_shown: None keeps the items of the production ranker's list (L = K); a number adds those that so many
            lists of the log show (L > K).
    """

    model: Model
    checksum: str
    least_shown: int | None = None

    dataset: ClassVar[str] = "Yandex_WSCD_sample"  # pyright: ignore[reportIncompatibleMethodOverride]

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
    """The position-based model of the raw log, with the pseudo-counts of its fit.

    It is that at which expectation-maximisation ends; PyClick stops after 50 steps.

    Args:
        model: "PBM"; checksum, least_shown: as of `Logged`.
        counts: of clicks and views; PyClick's of today, or `fitting.PYCLICK_EM_BEFORE_2017`.
    """

    counts: tuple[float, float] = fitting.PYCLICK_COUNTS

    def fits(self) -> fitting.Fits:
        """As of `Logged`."""
        return _positions(self.counts)


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
    """Queries that are written down.

    Args:
        name: what stands for the data set.
        model: of all of them.
        worlds: (click model, initial list) of each query.
    """

    name: str
    model: Model
    worlds: tuple[tuple[ItemClicks, tuple[int, ...]], ...]

    restricted: ClassVar[bool] = False  # pyright: ignore[reportIncompatibleMethodOverride]

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
