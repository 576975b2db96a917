"""How well a click model predicts sessions: click probabilities, log-likelihood and perplexity.

Models and sessions are matched by the names of their queries and items, never by their order, wherever a model has
names. This module reads models and sessions; it must not know how a model was fitted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ol2r.arrays import checked
from ol2r.clicks.items import ItemClicks
from ol2r.data.sessions import QuerySessions


def click_probabilities(model: ItemClicks, lists: np.ndarray) -> np.ndarray:
    """P(click at k) without knowing other clicks: χ(R, k) α(R(k)), χ(R, k) = ∏_{i<k} (1 − v(i) α(R(i))) or χ(k).

    Args:
        lists: int64[sessions, K], item numbers of the model, −1 below the end of a shorter list; see `matched`.

    Returns:
        float64[sessions, K], 0 where nothing is shown.

    Raises:
        ValueError: no such lists, or the model does not know what they show.
    """
    attraction, position = _rows(model, lists)
    if model.kind == "position":
        return attraction * position
    staying = np.cumprod(1 - position * attraction, axis=1)
    return attraction * np.hstack([np.ones((len(attraction), 1)), staying[:, :-1]])


def conditional_probabilities(model: ItemClicks, lists: np.ndarray, clicks: np.ndarray) -> np.ndarray:
    """P(click at k | the clicks above k); the probabilities of what happened at every k multiply to P(clicks).

    PBM: χ(k) α(R(k)). CM and DCM: e(k) α(R(k)), where the user still examines with probability e(1) = 1 and
    e(k + 1) = 1 − v(k) after a click, e(k) (1 − α) / (1 − e(k) α) after none.

    Args:
        lists, clicks: int64 and bool[sessions, K].

    Returns:
        float64[sessions, K], 0 where nothing is shown.

    Raises:
        ValueError: no such lists or clicks, or the model does not know what the lists show.
    """
    if model.kind == "position":
        return click_probabilities(model, lists)
    attraction, position = _rows(model, lists)
    clicks = checked(clicks, "clicks", attraction.shape, np.bool_)
    out = np.empty_like(attraction)
    examining = np.ones(len(out))
    for k in range(out.shape[1]):
        out[:, k] = examining * attraction[:, k]
        unclicked = 1 - out[:, k]
        passed = np.divide(examining - out[:, k], unclicked, out=np.zeros(len(out)), where=unclicked > 0)
        examining = np.where(clicks[:, k], 1 - position[:, k], passed)
    return out


def matched(
    models: Sequence[ItemClicks], queries: Sequence[QuerySessions], unseen: float | None = None
) -> Iterator[tuple[ItemClicks, QuerySessions]]:
    """Each query's sessions with its model, whose items are numbered as the sessions number them.

    Names decide: a model that was fitted to one log is right for another that met queries or items in another order.
    Models without a query's name stand in the order of `queries`, and items of a model without items' names are those
    of the same number.

    Args:
        models: the models, of these queries and perhaps of others.
        queries: the sessions.
        unseen: attraction of a shown item that the model does not know; None refuses such an item.

    Raises:
        ValueError: a query without a model or with two, a shown item that its model does not know, or only some of the
            models have a query's name.
    """
    if not sum(map(len, queries)):
        raise ValueError("there are no sessions")
    if not any(model.query for model in models):
        if len(models) != len(queries):
            raise ValueError(f"expected a model for each of {len(queries)} queries, found {len(models)}")
        yield from ((_renumbered(model, it, unseen), it) for model, it in zip(models, queries, strict=True))
        return
    by_name: dict[str, ItemClicks] = {}
    for model in models:
        if not model.query or model.query in by_name:
            found = f"two for query {model.query}" if model.query else "one without a query's name"
            raise ValueError(f"expected one model for each query, found {found}")
        by_name[model.query] = model
    unmatched = [it.query for it in queries if it.query not in by_name]
    if unmatched:
        raise ValueError(f"there is no model for {len(unmatched)} of {len(queries)} queries, such as {unmatched[0]}")
    yield from ((_renumbered(by_name[it.query], it, unseen), it) for it in queries)


def _renumbered(model: ItemClicks, it: QuerySessions, unseen: float | None) -> ItemClicks:
    if not model.items or model.items == it.items:
        return model
    known = dict(zip(model.items, model.attraction, strict=True))
    new = [it.items[i] for i in np.unique(it.lists[it.shown]) if it.items[i] not in known]
    if new and unseen is None:
        raise ValueError(
            f"query {it.query}: {len(new)} of its items, such as {new[0]}, are not the model's; give the attraction "
            "that such items have as `unseen`, or leave out the sessions that show them"
        )
    attraction = tuple(known.get(item, unseen or 0.0) for item in it.items)  # 0 is of items that are never shown
    return replace(model, attraction=attraction, items=it.items)


def log_likelihood(
    models: Sequence[ItemClicks], queries: Sequence[QuerySessions], floor: float = 0.0, unseen: float | None = None
) -> float:
    """Mean over all sessions of log P(clicks), in nats.

    The cascade model gives every session with two clicks the probability 0 and so −inf; PyClick puts a floor of 1e-6
    under the probability of each click and of each missing click.

    Args:
        models: one for each query; see `matched`.
        floor: the least probability that a click or missing click at one position can have.
        unseen: attraction of a shown item that its model does not know; None refuses such an item.

    Raises:
        ValueError: models and sessions do not match; see `matched`.
    """
    total = 0.0
    for model, it in matched(models, queries, unseen):
        p = conditional_probabilities(model, it.lists, it.clicks)
        total += _log_happened(p, it, floor).sum()
    return float(total / sum(map(len, queries)))


def perplexity(
    models: Sequence[ItemClicks], queries: Sequence[QuerySessions], floor: float = 0.0, unseen: float | None = None
) -> np.ndarray:
    """2^(−mean log₂ P(what happened at k)), by position, from `click_probabilities` (Dupret and Piwowarski, 2008).

    1 is a perfect prediction, 2 is that of a fair coin; the mean over positions is the model's perplexity.

    Args:
        as in `log_likelihood`.

    Returns:
        float64[K], over the sessions that show something at that position (nan where none does).
    """
    width = max((it.lists.shape[1] for it in queries), default=0)
    total, count = np.zeros(width), np.zeros(width)
    for model, it in matched(models, queries, unseen):
        k = it.lists.shape[1]
        total[:k] += _log_happened(click_probabilities(model, it.lists), it, floor).sum(axis=0)
        count[:k] += it.shown.sum(axis=0)
    mean = np.divide(total, count, out=np.full(width, np.nan), where=count > 0)
    return np.exp(-mean)


def _rows(model: ItemClicks, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attraction of what is shown (0 where nothing is), and v (1 in the cascade model) or χ: float64[sessions, K]."""
    attraction, position = model.rows()
    lists = checked(lists, "lists", (None, None), np.int64, least=-1)
    slots = lists.shape[1]
    if model.kind == "cascade":
        position = np.ones(slots)
    shown = lists >= 0
    if slots > len(position) or (lists.size and lists.max() >= model.n_items):
        raise ValueError(f"the model knows {model.n_items} items and {len(position)} positions; the lists show others")
    return np.where(shown, attraction[lists], 0.0), np.broadcast_to(position[:slots], lists.shape)


def _log_happened(p: np.ndarray, it: QuerySessions, floor: float) -> np.ndarray:
    happened = np.where(it.clicks, p, 1 - p)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(happened, floor))
