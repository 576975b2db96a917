"""Fitting click models to sessions: the cascade and dependent click models by counting, the position-based one by EM.

Each item of a query has its own attraction; all queries that are fitted together share the parameters of positions
(v or χ). This module must not know bandits; `likelihood` measures how well a model fits.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ol2r.clicks.items import ItemClicks
from ol2r.data.sessions import QueryCounts, QuerySessions, load_fitted_models

Kind = Literal["cascade", "dependent", "position"]
Fits = tuple[ItemClicks, ...]
Queries = Sequence[QuerySessions] | Sequence[QueryCounts]
MAXIMUM_LIKELIHOOD = (0.0, 0.0)
# pseudo-counts that PyClick, with which the papers fitted their models, adds to the clicks and views of every
# parameter; for the PBM it adds them in every EM step, and starts from their ratio
PYCLICK_COUNTS = (1.0, 2.0)
PYCLICK_EM_BEFORE_2017 = (1.0, 5.0)  # pseudo-counts for the PBM until December 2016
PYCLICK_STEPS = 50  # EM steps; 5 in PyClick's first version, 100 in the code of the BatchRank experiments
_NAMES: dict[str, Literal["CM", "DCM", "PBM"]] = {"cascade": "CM", "dependent": "DCM", "position": "PBM"}


def fit_cascade(queries: Sequence[QuerySessions], prior: tuple[float, float] = MAXIMUM_LIKELIHOOD) -> Fits:
    """Fit the cascade model: α(i) = clicks on i / sessions in which i was examined, down to the first click.

    This maximises the likelihood of the first clicks; later clicks, which the model rules out, are ignored.

    Args:
        queries: the sessions of each query.
        prior: pseudo-counts (a, n) of clicks and views, added to every numerator and denominator; the estimate is then
            the mode under a Beta(a + 1, n − a + 1) prior.

    Returns:
        One `ItemClicks` for each query, over all of its items.

    Raises:
        ValueError: no sessions, or no pseudo-counts for an item that no user examined.
    """
    log = _pool(queries)
    first = np.where(log.clicks.any(axis=1), log.clicks.argmax(axis=1), log.width)
    examined = log.shown & (log.places <= first[:, None])
    name = _item_namer(queries, log.offsets)
    attraction = _share(log.by_item(examined & log.clicks), log.by_item(examined), prior, name)
    return _models("cascade", queries, log.offsets, attraction)


def fit_dependent(
    queries: Sequence[QuerySessions],
    prior: tuple[float, float] = MAXIMUM_LIKELIHOOD,
    *,
    leaving: Literal["last click", "hidden"],
    tolerance: float = 1e-8,
    max_steps: int = 20_000,
) -> Fits:
    """Fit the dependent click model.

    `leaving="last click"` (Guo et al., 2009, and PyClick) supposes that every user leaves at the last click:
    α(i) = clicks on i / sessions in which i stands at or above the last click (anywhere, in a session without clicks),
    v(k) = last clicks at k / clicks at k. This maximises a lower bound of the model's likelihood, not the likelihood
    itself: a user who went on and clicked nothing counts as having left, so α and v come out too large, and v rises to
    1 at the last position. `"hidden"` maximises the likelihood itself, by expectation-maximisation over whether the
    user left: after a last click at l, with probability v(l) / (v(l) + (1 − v(l)) ∏_{k>l} (1 − α(R(k)))). Where
    nothing is shown below a position, v has no influence on clicks and is set to 1.

    Args:
        queries, prior: as in `fit_cascade`.
        leaving: see above.
        tolerance: expectation-maximisation ends when no parameter moves further than this in a step.
        max_steps: after this many steps it ends with a warning.

    Returns:
        One `ItemClicks` for each query, with the same v in each.

    Raises:
        ValueError: no sessions; without pseudo-counts, an item that no user examined or a position without a click.
    """
    if leaving not in ("last click", "hidden"):
        raise ValueError(f"leaving must be 'last click' or 'hidden', not {leaving!r}")
    log = _pool(queries)
    any_click = log.clicks.any(axis=1)
    last = np.where(any_click, log.width - 1 - log.clicks[:, ::-1].argmax(axis=1), log.width)
    certain = log.by_item(log.shown & (log.places <= last[:, None]))
    attraction = _share(log.by_item(log.clicks), certain, prior, _item_namer(queries, log.offsets))
    leave = _share(_counts(last[any_click], log.width), log.by_place(log.clicks), prior, _position_name)
    if leaving == "hidden":
        attraction, leave = _hidden(log, last, attraction, prior, tolerance, max_steps)
    return _models("dependent", queries, log.offsets, attraction, tuple(leave.tolist()))


def _hidden(
    log: "_Pool", last: np.ndarray, attraction: np.ndarray, prior: tuple[float, float], tolerance: float, max_steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Maximum-likelihood α and v by EM from v = 1/2, where it is hidden whether users left after their last click."""
    silent = (last < log.width) & (log.shown & (log.places > last[:, None])).any(axis=1)
    # the terms below a last click are the same for equal lists with equal last clicks
    rows, weight = np.unique(np.column_stack([last, log.items])[silent], axis=0, return_counts=True)
    at, items = rows[:, 0], rows[:, 1:]
    below = (items >= 0) & (np.arange(log.width) > at[:, None])
    clicked_items = log.by_item(log.clicks)
    # a click below which nothing is shown tells nothing about v
    telling = log.by_place(log.clicks & np.pad(log.shown[:, 1:], ((0, 0), (0, 1))))
    certain = log.by_item(log.shown & (log.places <= last[:, None]))

    def step(parameters: np.ndarray) -> np.ndarray:
        alpha, v = parameters[: log.n_items], parameters[log.n_items :]
        went_on = (1 - v[at]) * np.where(below, 1 - alpha[items], 1.0).prod(axis=1)
        went_on = weight * np.divide(went_on, went_on + v[at], out=np.zeros_like(went_on), where=went_on > 0)
        views = certain + _counts(items[below], log.n_items, np.broadcast_to(went_on[:, None], items.shape)[below])
        left = _counts(at, log.width, weight - went_on)
        return np.concatenate(
            [_ratio(clicked_items + prior[0], views + prior[1]), _ratio(left + prior[0], telling + prior[1])]
        )

    start = np.concatenate([np.clip(attraction, 0.0, 0.9), np.full(log.width, 0.5)])
    end = _iterate(step, start, tolerance, max_steps)
    return end[: log.n_items], np.where(telling > 0, end[log.n_items :], 1.0)


def fit_position(
    queries: Queries,
    prior: tuple[float, float] = MAXIMUM_LIKELIHOOD,
    *,
    start: float = 0.5,
    stop_after: int | None = None,
    tolerance: float = 1e-8,
    max_steps: int = 20_000,
) -> Fits:
    """Fit the position-based model, by expectation-maximisation over whether a position was examined.

    A clicked item was examined and attractive. An item without a click was attractive but not examined with probability
    α (1 − χ) / (1 − α χ), and examined but not attractive with probability χ (1 − α) / (1 − α χ). The likelihood
    depends on products α(i) χ(k) only, so without pseudo-counts χ is scaled to a largest value of 1. Groups of items
    and positions that no list links have scales of their own, which depend on the start: fit queries with many
    different lists, or several queries, together.

    Args:
        queries: the sessions of each query, or its counts, which are all that this model needs.
        prior: as in `fit_cascade`.
        start: initial value of every parameter.
        stop_after: take exactly this many steps, converged or not; None goes on until `tolerance` or `max_steps`.
        tolerance: fitting ends when no parameter moves further than this in a step.
        max_steps: after this many steps it ends with a warning.

    Returns:
        One `ItemClicks` for each query, with the same χ in each.

    Raises:
        ValueError: no sessions; without pseudo-counts, an item that is never shown or a position that shows nothing.
    """
    tables = [it if isinstance(it, QueryCounts) else it.counts() for it in queries]
    if not any(it.views.any() for it in tables):
        raise ValueError("there are no sessions to fit to")
    width, offsets = max(it.views.shape[1] for it in tables), _offsets(tables)
    pads = [((0, 0), (0, width - it.views.shape[1])) for it in tables]
    every_view = np.vstack([np.pad(it.views, pad) for it, pad in zip(tables, pads, strict=True)])
    every_click = np.vstack([np.pad(it.clicks, pad) for it, pad in zip(tables, pads, strict=True)])
    item, place = np.nonzero(every_view)
    views, clicks = (counts[item, place].astype(np.float64) for counts in (every_view, every_click))
    n_items, name = len(every_view), _item_namer(tables, offsets)
    shown_items, shown_places = _counts(item, n_items, views), _counts(place, width, views)
    _share(shown_items, shown_items, prior, name)  # refuse what was never shown
    _share(shown_places, shown_places, prior, lambda k: f"position {k + 1}")

    def step(parameters: np.ndarray) -> np.ndarray:
        alpha, chi = parameters[:n_items], parameters[n_items:]
        a, x = alpha[item], chi[place]
        unclicked = (views - clicks) / np.maximum(1 - a * x, 1e-16)
        attracted = _counts(item, n_items, clicks + unclicked * a * (1 - x))
        examined = _counts(place, width, clicks + unclicked * x * (1 - a))
        return np.concatenate(
            [_ratio(attracted + prior[0], shown_items + prior[1]), _ratio(examined + prior[0], shown_places + prior[1])]
        )

    end = np.full(n_items + width, start)
    if stop_after is None:
        end = _iterate(step, end, tolerance, max_steps)
    else:
        for _ in range(stop_after):
            end = step(end)
    attraction, examination = end[:n_items], end[n_items:]
    if not any(prior) and examination.max() > 0:
        attraction, examination = attraction * examination.max(), examination / examination.max()
    return _models("position", tables, offsets, attraction, tuple(examination.tolist()))


def published_models(kind: Kind) -> dict[str, ItemClicks]:
    """The catalogue's 60 published click models of one kind, by query; items stand in the order of the search result.

    Raises:
        MissingData: the models are not at hand; the message says where to get them.
    """
    if kind not in _NAMES:
        raise ValueError(f"kind must be one of {tuple(_NAMES)}, not {kind!r}")
    return {query: ItemClicks(kind, *it, query) for query, it in load_fitted_models(_NAMES[kind]).items()}


class _Pool(NamedTuple):
    """The sessions of all queries in one table; items are numbered across queries."""

    items: np.ndarray  # int64[sessions, positions], −1 where nothing is shown
    clicks: np.ndarray  # bool[sessions, positions]
    offsets: np.ndarray  # int64[queries + 1]; query q owns the items offsets[q] … offsets[q + 1] − 1

    @property
    def shown(self) -> np.ndarray:
        return self.items >= 0

    @property
    def width(self) -> int:
        return self.items.shape[1]

    @property
    def places(self) -> np.ndarray:
        return np.broadcast_to(np.arange(self.width), self.items.shape)

    @property
    def n_items(self) -> int:
        return int(self.offsets[-1])

    def by_item(self, mask: np.ndarray) -> np.ndarray:
        return _counts(self.items[mask], self.n_items)

    def by_place(self, mask: np.ndarray) -> np.ndarray:
        return mask.sum(axis=0).astype(np.float64)


def _pool(queries: Sequence[QuerySessions]) -> _Pool:
    if not sum(map(len, queries)):
        raise ValueError("there are no sessions to fit to")
    width = max(it.lists.shape[1] for it in queries)
    offsets = _offsets(queries)
    pads = [((0, 0), (0, width - it.lists.shape[1])) for it in queries]
    lists = [np.pad(it.lists, pad, constant_values=-1) for it, pad in zip(queries, pads, strict=True)]
    items = np.vstack([np.where(row >= 0, row + start, -1) for row, start in zip(lists, offsets, strict=False)])
    clicks = np.vstack([np.pad(it.clicks, pad) for it, pad in zip(queries, pads, strict=True)])
    return _Pool(items, clicks, offsets)


def _offsets(queries: Queries) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(it.items) for it in queries])]).astype(np.int64)


def _item_namer(queries: Queries, offsets: np.ndarray) -> Callable[[int], str]:
    """Names an item by its number across queries."""

    def name(item: int) -> str:
        q = int(np.searchsorted(offsets, item, side="right")) - 1
        return f"item {queries[q].items[item - offsets[q]]} of query {queries[q].query}"

    return name


def _models(
    kind: Kind, queries: Queries, offsets: np.ndarray, attraction: np.ndarray, position: tuple[float, ...] = ()
) -> Fits:
    """One model for each query, which knows the names of its query and items."""
    rows = np.split(attraction, offsets[1:-1])
    return tuple(
        ItemClicks(kind, tuple(row.tolist()), position, it.query, it.items)
        for it, row in zip(queries, rows, strict=True)
    )


def _counts(index: np.ndarray, length: int, weights: np.ndarray | None = None) -> np.ndarray:
    return np.bincount(index, weights=weights, minlength=length).astype(np.float64)


def _position_name(place: int) -> str:
    return f"a click at position {place + 1}"


def _share(clicks: np.ndarray, views: np.ndarray, prior: tuple[float, float], name: Callable[[int], str]) -> np.ndarray:
    """(clicks + a) / (views + n); raises ValueError where that is 0 / 0."""
    if not 0 <= prior[0] <= prior[1]:
        raise ValueError(f"prior must be pseudo-counts of clicks and views, 0 ≤ clicks ≤ views, not {prior}")
    unseen = np.flatnonzero(views + prior[1] == 0)
    if len(unseen):
        raise ValueError(
            f"the sessions say nothing of {name(int(unseen[0]))} ({len(unseen)} such in all); give pseudo-counts"
        )
    return _ratio(clicks + prior[0], views + prior[1])


def _ratio(clicks: np.ndarray, views: np.ndarray) -> np.ndarray:
    ratio = np.divide(clicks, views, out=np.zeros_like(clicks), where=views > 0)
    return np.clip(ratio, 0.0, 1.0)  # sums of fractions may round past 1


def _iterate(
    step: Callable[[np.ndarray], np.ndarray], parameters: np.ndarray, tolerance: float, max_steps: int
) -> np.ndarray:
    for _ in range(max_steps):
        previous, parameters = parameters, step(parameters)
        if np.abs(parameters - previous).max() <= tolerance:
            return parameters
    warnings.warn(
        f"expectation-maximisation still moves by {np.abs(parameters - previous).max():.1e} after {max_steps} steps",
        stacklevel=3,
    )
    return parameters
