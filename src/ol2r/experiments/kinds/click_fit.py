"""The `click-fit` kind of cell: fits a click model to sessions and measures how good the fit is.

Sessions come from a raw log, part of which is held out, or are drawn from known users, whose parameters the fit should
recover. Models that others published have no sessions, only parameters. The tables hold only numbers over all queries.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import ClassVar, Literal, NamedTuple, cast

import numpy as np
import pandas as pd

from ol2r import data
from ol2r.clicks import ItemClicks, fitting, likelihood
from ol2r.clicks.items import simulate_clicks
from ol2r.cost import Cost
from ol2r.data.sessions import QuerySessions, SessionLog, load_sessions
from ol2r.experiments.cells import Cell, OneByOne, Row
from ol2r.experiments.claims import WORLDS
from ol2r.experiments.grid import checksum
from ol2r.experiments.kinds.populations import KINDS, POSITIONS, Model
from ol2r.random import generator, replica_key

Queries = Sequence[QuerySessions]

VANISHING = (1e-9, 2e-9)
"""Pseudo-counts so small that the fit is that of maximum likelihood. A parameter about which the sessions say nothing
becomes 1/2 (and is then scaled with the others in the position-based model, see `identified`)."""
_DECIMALS = 8
"""The precision to which expectation-maximisation determines a probability; vanishing pseudo-counts do not show at it.
"""

RATES = "RCTR"
"""The baseline that a model of attraction must beat: each position's own rate of clicks, whatever item it shows."""
PUBLISHED = "published"
BEFORE_2017 = "PyClick before 2017"


def _rates(queries: Queries) -> fitting.Fits:
    clicks = np.sum([it.clicks.sum(axis=0) for it in queries], axis=0) + VANISHING[0]
    rates = clicks / (np.sum([it.shown.sum(axis=0) for it in queries], axis=0) + VANISHING[1])
    return tuple(ItemClicks("position", (1.0,) * len(it.items), tuple(rates.tolist())) for it in queries)


def _hidden(queries: Queries, counts: tuple[float, float]) -> fitting.Fits:
    return fitting.fit_dependent(queries, counts, leaving="hidden")


def _fifty_steps(queries: Queries, counts: tuple[float, float]) -> fitting.Fits:
    clicks, views = counts
    return fitting.fit_position(queries, counts, start=clicks / views, stop_after=fitting.PYCLICK_STEPS)


def _counted(queries: Queries, counts: tuple[float, float]) -> fitting.Fits:
    return fitting.fit_dependent(queries, counts, leaving="last click")


WAYS: dict[tuple[str, str], Callable[[Queries], fitting.Fits]] = {
    ("CM", "maximum likelihood"): lambda queries: fitting.fit_cascade(queries, VANISHING),
    ("CM", "PyClick"): lambda queries: fitting.fit_cascade(queries, fitting.PYCLICK_COUNTS),
    ("DCM", "maximum likelihood"): lambda queries: _hidden(queries, VANISHING),
    ("DCM", "with PyClick's counts"): lambda queries: _hidden(queries, fitting.PYCLICK_COUNTS),
    ("DCM", "last click"): lambda queries: _counted(queries, VANISHING),
    ("DCM", "PyClick"): lambda queries: _counted(queries, fitting.PYCLICK_COUNTS),
    ("PBM", "maximum likelihood"): lambda queries: fitting.fit_position(queries, VANISHING),
    ("PBM", "with PyClick's counts"): lambda queries: fitting.fit_position(queries, fitting.PYCLICK_COUNTS),
    ("PBM", "PyClick"): lambda queries: _fifty_steps(queries, fitting.PYCLICK_COUNTS),
    ("PBM", BEFORE_2017): lambda queries: _fifty_steps(queries, fitting.PYCLICK_EM_BEFORE_2017),
    (RATES, "maximum likelihood"): _rates,
}
"""By model, the ways to fit it. A way called "PyClick" does what that library does (where the library changed, what it
does since December 2016). "with PyClick's counts" has PyClick's pseudo-counts, but treats it as hidden whether a user
left (DCM), or runs expectation-maximisation to convergence (PBM)."""
HIDDEN = ("maximum likelihood", "with PyClick's counts")
"""The ways to fit the dependent click model without assuming that every user leaves at the last click."""


def fit(model: str, way: str, queries: Queries) -> fitting.Fits:
    """Fitted models, identified and rounded to eight decimals, so that events that never happen have probability 0."""
    fits = WAYS[model, way](queries)
    return tuple(_settled(it if model == RATES else identified(it)) for it in fits)


def identified(users: ItemClicks) -> ItemClicks:
    """The same users in a unique form: clicks tell χ and α of the position-based model only up to a factor, so the
    largest examination is set to 1."""
    if users.kind != "position" or not (largest := max(users.position)):
        return users
    return replace(
        users,
        attraction=tuple(a * largest for a in users.attraction),
        position=tuple(p / largest for p in users.position),
    )


def _settled(users: ItemClicks) -> ItemClicks:
    attraction, position = (tuple(round(p, _DECIMALS) for p in row) for row in (users.attraction, users.position))
    return replace(users, attraction=attraction, position=position)


class Line(NamedTuple):
    """One number of a fit; `part` is "train", "held out" or empty, and position 0 stands for all positions."""

    quantity: str
    part: str
    position: int
    value: float


class Source(ABC):
    """What a model is fitted to; subclasses are frozen dataclasses."""

    @property
    @abstractmethod
    def dataset(self) -> str:
        """The data set's name in the catalogue, or the name of the simulated world."""

    @property
    def restricted(self) -> bool:
        """Whether the data's licence forbids storing values of single queries."""
        return data.entry(self.dataset).restricted

    def labels(self) -> dict[str, str | float | int]:
        """What tells this source from others of its data set."""
        return {}

    @property
    def repeated(self) -> bool:
        """Whether another seed gives other sessions."""
        return False

    def ways(self, model: str) -> tuple[str, ...]:
        """The ways in which a model can be fitted to this source."""
        return tuple(way for known, way in WAYS if known == model)

    @abstractmethod
    def seconds(self) -> float:
        """Seconds that a fit takes, roughly."""

    @abstractmethod
    def lines(self, model: str, way: str, row: Row) -> Iterator[Line]:
        """The numbers of one fit."""


def _by_position(quantity: str, values: Iterable[float], part: str = "") -> Iterator[Line]:
    return (Line(quantity, part, k, float(value)) for k, value in enumerate(values, start=1))


@dataclass(frozen=True)
class Collection(Source):
    """The published models, with their parameters as printed.

    Quantities: "position parameter" (v or χ) by position, and the number of "queries".
    """

    checksum: str

    dataset: ClassVar[str] = "Yandex_60Q_click_models"

    def ways(self, model: str) -> tuple[str, ...]:
        return (PUBLISHED,) if model in KINDS else ()

    def seconds(self) -> float:
        return 0.1

    def lines(self, model: str, way: str, row: Row) -> Iterator[Line]:
        models = tuple(fitting.published_models(KINDS[cast(Model, model)]).values())
        yield Line("queries", "", 0, len(models))
        yield from _by_position("position parameter", models[0].position)


@dataclass(frozen=True)
class Log(Source):
    """The raw sessions of a log: models are fitted to the training part, and scored on it and on the held-out part.

    Quantities: "position parameter" by position. For each part: its "queries", the "sessions" scored, the "sessions
    left out", "clicks on items not shown" and "sessions with new items" in the whole file, the mean "log-likelihood" of
    a session in nats, "sessions ruled out" (of probability 0 without a floor), and the "perplexity" by position, whose
    mean stands at position 0.

    Args:
        unshown: what happens at a click on an item that the session does not show: the click is passed over
            ("ignore"), or the session is dropped ("drop").
        unseen: what happens to held-out sessions with an item that no training session shows: they are scored ("keep"),
            with what the way of fitting says of an item without data, or left out ("drop").
        floor: lower bound on the probability of what happened at a position; PyClick's is 1e-6.
    """

    checksum: str
    unshown: Literal["ignore", "drop"]
    unseen: Literal["keep", "drop"]
    floor: float

    dataset: ClassVar[str] = "Yandex_WSCD_sample"

    def __post_init__(self):
        if self.unseen not in ("keep", "drop"):
            raise ValueError(f'unseen must be "keep" or "drop", not {self.unseen!r}')
        if not 0.0 <= self.floor < 1.0:
            raise ValueError(f"floor must lie in [0, 1), not {self.floor}")

    def labels(self) -> dict[str, str | float | int]:
        return {"unshown": self.unshown, "unseen": self.unseen, "floor": self.floor}

    def seconds(self) -> float:
        return 1.0

    def lines(self, model: str, way: str, row: Row) -> Iterator[Line]:
        logs = dict(zip(("train", "held out"), _logs(self.unshown), strict=True))
        fitted_to = logs["train"].queries
        fits = dict(zip(fitted_to, fit(model, way, tuple(fitted_to.values())), strict=True))
        yield from _by_position("position parameter", next(iter(fits.values())).position)
        for part, log in logs.items():
            known = {query: it for query, it in log.queries.items() if query in fits}
            new = {query: _shows_new(it, fitted_to[query]) for query, it in known.items()}
            scored = [it if self.unseen == "keep" else _without(it, new[query]) for query, it in known.items()]
            yield Line("clicks on items not shown", part, 0, log.unshown_clicks)
            yield Line("sessions with new items", part, 0, sum(int(rows.sum()) for rows in new.values()))
            yield Line("sessions left out", part, 0, log.n_sessions - sum(map(len, scored)))
            yield from self._scores(part, [fits[query] for query in known], scored)

    def _scores(self, part: str, fits: Sequence[ItemClicks], queries: Queries) -> Iterator[Line]:
        perplexity = likelihood.perplexity(fits, queries, self.floor)
        yield Line("queries", part, 0, len(queries))
        yield Line("sessions", part, 0, sum(map(len, queries)))
        yield Line("log-likelihood", part, 0, likelihood.log_likelihood(fits, queries, self.floor))
        yield Line("sessions ruled out", part, 0, sum(map(_ruled_out, fits, queries)))
        yield Line("perplexity", part, 0, float(np.nanmean(perplexity)))
        yield from _by_position("perplexity", perplexity, part)


@cache
def _logs(unshown: Literal["ignore", "drop"]) -> tuple[SessionLog, SessionLog]:
    return load_sessions(unshown=unshown)


def _shows_new(it: QuerySessions, known: QuerySessions) -> np.ndarray:
    """Which sessions show an item that another log of the query never shows: bool[sessions]."""
    shown = np.bincount(known.lists[known.shown], minlength=len(it.items)) > 0
    return np.any(it.shown & ~shown[it.lists], axis=1)


def _without(it: QuerySessions, dropped: np.ndarray) -> QuerySessions:
    return QuerySessions(it.query, it.items, it.lists[~dropped], it.clicks[~dropped])


def _ruled_out(users: ItemClicks, it: QuerySessions) -> int:
    p = likelihood.conditional_probabilities(users, it.lists, it.clicks)
    return int((np.where(it.clicks, p, 1 - p) <= 0).any(axis=1).sum())


@dataclass(frozen=True)
class Simulated(Source):
    """Sessions of declared users, on lists of all their items in random order; each seed has its own sessions.

    Quantities: absolute "mean error of α" and "largest error of α" over all items; the same for v or χ over the
    positions that matter (v of the last position does not); and, by position, the signed "error of v" or "error of χ".

    Args:
        users: one click model for each query, all of one kind and with the same v or χ.
        sessions: number of sessions of each query; a smaller number gives the first sessions of a larger one.
    """

    users: tuple[ItemClicks, ...]
    sessions: int

    dataset: ClassVar[str] = WORLDS
    restricted: ClassVar[bool] = False

    def __post_init__(self):
        if len({(it.kind, it.position) for it in self.users}) != 1:
            raise ValueError("the users of all queries must be of one kind and do the same at every position")

    def labels(self) -> dict[str, str | float | int]:
        return {"queries": len(self.users), "sessions": self.sessions}

    @property
    def repeated(self) -> bool:
        return True

    def seconds(self) -> float:
        return 0.1 + 4e-5 * self.sessions * len(self.users)

    def ways(self, model: str) -> tuple[str, ...]:
        return super().ways(model) if KINDS.get(cast(Model, model)) == self.users[0].kind else ()

    def drawn(self, seed: int) -> tuple[QuerySessions, ...]:
        """Draw the sessions of a seed."""
        found = []
        for number, users in enumerate(self.users, start=1):
            names = tuple(str(item) for item in range(users.n_items))
            every = np.tile(np.arange(users.n_items), (self.sessions, 1))
            lists = generator(f"lists shown for query {number}", seed).permuted(every, axis=1)
            clicks = simulate_clicks(users, lists, replica_key("simulated sessions", number, seed))
            found.append(QuerySessions(str(number), names, lists, clicks))
        return tuple(found)

    def lines(self, model: str, way: str, row: Row) -> Iterator[Line]:
        truth = tuple(map(identified, self.users))
        fits = fit(model, way, self.drawn(row.seed))
        attraction = np.subtract([it.attraction for it in fits], [it.attraction for it in truth])
        yield from _errors("α", attraction)
        if model != "CM":
            error = np.subtract(fits[0].position, truth[0].position)
            symbol, matter = ("v", slice(-1)) if model == "DCM" else ("χ", slice(None))
            yield from _errors(symbol, error[matter])
            yield from _by_position(f"error of {symbol}", error)


def _errors(symbol: str, errors: np.ndarray) -> Iterator[Line]:
    yield Line(f"mean error of {symbol}", "", 0, float(np.abs(errors).mean()))
    yield Line(f"largest error of {symbol}", "", 0, float(np.abs(errors).max()))


@dataclass(frozen=True)
class ClickFit(OneByOne):
    """One click model, fitted in one way to one source.

    The columns of its table are fold, seed, and those of `Line`; the source says which quantities there are.

    Args:
        model: "CM", "DCM", "PBM", or "RCTR" (each position's rate of clicks).
        way: one of `WAYS`, or "published".
        source: what the model is fitted to.

    Raises:
        ValueError: the source knows no such way for this model.
    """

    model: str
    way: str
    source: Collection | Log | Simulated

    kind: ClassVar[str] = "click-fit"
    undefined: ClassVar[tuple[str, ...]] = ("value",)
    revision: ClassVar[int] = 3
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.data.sessions",
        "ol2r.clicks",
        "ol2r.experiments.kinds.populations",
        "ol2r.experiments.kinds.click_fit",
    )

    def __post_init__(self):
        if self.way not in self.source.ways(self.model):
            known = ", ".join(self.source.ways(self.model)) or "nothing"
            raise ValueError(f"{self.source.dataset}: {self.model} is fitted by {known}, not by {self.way!r}")

    @property
    def seeded(self) -> bool:
        """Whether the source draws its sessions at random."""
        return self.source.repeated

    @property
    def restricted(self) -> bool:
        """Whether the source is restricted."""
        return self.source.restricted

    @property
    def group(self) -> Hashable:
        """Fits to one data set share a group."""
        return self.source.dataset

    def labels(self) -> dict[str, str | float | int]:
        """Data set, click model (`users`), way of fitting, and the source's own labels."""
        return {"dataset": self.source.dataset, "users": self.model, "way": self.way} | self.source.labels()

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The source's estimate of seconds."""
        return Cost(self.source.seconds()).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """Fit the model once for each row."""
        lines = [(*row, *line) for row in rows for line in self.source.lines(self.model, self.way, row)]
        return pd.DataFrame(lines, columns=["fold", "seed", *Line._fields])


USUAL: dict[str, str | float] = {"unshown": "ignore", "unseen": "keep", "floor": 1e-6}
"""The choices of the main fits: leave out as little as possible, and take PyClick's floor."""
OTHERWISE: tuple[dict[str, str | float], ...] = ({"unshown": "drop"}, {"unseen": "drop"}, {"floor": 0.0})
"""What is changed in the other fits, one choice at a time."""

SESSIONS = (100, 400, 1600, 6400)
"""Numbers of sessions of each query, in the fits to sessions of known users: four times as many should halve an error.
"""
_LEAVING = (0.7, 0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.3, 0.3, 0.3)
_EXAMINATION = (1.0, 0.9, 0.8, 0.65, 0.5, 0.4, 0.35, 0.3, 0.27, 0.25)

CLICK_FIT_SEEDS = {"smoke": range(2), "laptop": range(10), "paper": range(10)}


def known_users(model: Model) -> tuple[ItemClicks, ...]:
    """Four queries whose parameters the fits should recover: attraction uniform in [.05, .6], v or χ falling."""
    position = {"CM": (), "DCM": _LEAVING, "PBM": _EXAMINATION}[model]
    drawn = generator("attraction of known users", 0).uniform(0.05, 0.6, (4, POSITIONS)).round(3)
    return tuple(ItemClicks(KINDS[model], tuple(row), position) for row in drawn.tolist())


def click_fit_cells(tier: str) -> Sequence[Cell]:
    """The cells of all fits at a tier; the smoke tier has only fits to simulated sessions."""
    models: tuple[Model, ...] = ("CM", "DCM", "PBM")
    sessions = SESSIONS[:2] if tier == "smoke" else SESSIONS
    simulated = [
        ClickFit(model, way, Simulated(known_users(model), n))
        for (model, way), n in product(WAYS, sessions)
        if model in models
    ]
    if tier == "smoke":
        return simulated
    log = checksum(Log.dataset)
    settings = [Log(log, **(USUAL | changed)) for changed in ({}, *OTHERWISE)]  # pyright: ignore[reportArgumentType]
    raw = [ClickFit(model, way, setting) for setting, (model, way) in product(settings, WAYS)]
    published = [ClickFit(model, PUBLISHED, Collection(checksum(Collection.dataset))) for model in ("DCM", "PBM")]
    return [*raw, *published, *simulated]
