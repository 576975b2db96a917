"""How well a click model predicts sessions: click probabilities, log-likelihood and perplexity.

This module reads models and sessions; it must not know how a model was fitted.
"""

from collections.abc import Sequence

import numpy as np

from ol2r.clicks.items import ItemClicks
from ol2r.data.sessions import QuerySessions


def click_probabilities(model: ItemClicks, lists: np.ndarray) -> np.ndarray:
    """P(click at k) without knowing other clicks: χ(R, k) α(R(k)), χ(R, k) = ∏_{i<k} (1 − v(i) α(R(i))) or χ(k).

    Args:
        lists: int64[sessions, K], −1 below the end of a shorter list.

    Returns:
        float64[sessions, K], 0 where nothing is shown.
    """
    attraction, position = _rows(model, lists)
    if model.kind == "position":
        return attraction * position
    staying = np.cumprod(1 - position * attraction, axis=1)
    return attraction * np.hstack([np.ones((len(lists), 1)), staying[:, :-1]])


def conditional_probabilities(model: ItemClicks, lists: np.ndarray, clicks: np.ndarray) -> np.ndarray:
    """P(click at k | the clicks above k); the probabilities of what happened at every k multiply to P(clicks).

    PBM: χ(k) α(R(k)). CM and DCM: e(k) α(R(k)), where the user still examines with probability e(1) = 1 and
    e(k + 1) = 1 − v(k) after a click, e(k) (1 − α) / (1 − e(k) α) after none.

    Args:
        lists, clicks: int64 and bool[sessions, K].

    Returns:
        float64[sessions, K], 0 where nothing is shown.
    """
    if model.kind == "position":
        return click_probabilities(model, lists)
    attraction, position = _rows(model, lists)
    out = np.empty_like(attraction)
    examining = np.ones(len(lists))
    for k in range(lists.shape[1]):
        out[:, k] = examining * attraction[:, k]
        unclicked = 1 - out[:, k]
        passed = np.divide(examining - out[:, k], unclicked, out=np.zeros(len(lists)), where=unclicked > 0)
        examining = np.where(clicks[:, k], 1 - position[:, k], passed)
    return out


def log_likelihood(models: Sequence[ItemClicks], queries: Sequence[QuerySessions], floor: float = 0.0) -> float:
    """Mean over all sessions of log P(clicks), in nats.

    The cascade model gives every session with two clicks the probability 0 and so −inf; PyClick puts a floor of 1e-6
    under the probability of each click and of each missing click.

    Args:
        models: one for each query, over its items.
        floor: the least probability that a click or missing click at one position can have.
    """
    total = 0.0
    for model, it in _pairs(models, queries):
        p = conditional_probabilities(model, it.lists, it.clicks)
        total += _log_happened(p, it, floor).sum()
    return float(total / sum(map(len, queries)))


def perplexity(models: Sequence[ItemClicks], queries: Sequence[QuerySessions], floor: float = 0.0) -> np.ndarray:
    """2^(−mean log₂ P(what happened at k)), by position, from `click_probabilities` (Dupret and Piwowarski, 2008).

    1 is a perfect prediction, 2 is that of a fair coin; the mean over positions is the model's perplexity.

    Args:
        as in `log_likelihood`.

    Returns:
        float64[K], over the sessions that show something at that position (nan where none does).
    """
    width = max(it.lists.shape[1] for it in queries)
    total, count = np.zeros(width), np.zeros(width)
    for model, it in _pairs(models, queries):
        k = it.lists.shape[1]
        total[:k] += _log_happened(click_probabilities(model, it.lists), it, floor).sum(axis=0)
        count[:k] += it.shown.sum(axis=0)
    mean = np.divide(total, count, out=np.full(width, np.nan), where=count > 0)
    return np.exp(-mean)


def _rows(model: ItemClicks, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attraction of what is shown (0 where nothing is), and v (1 in the cascade model) or χ: float64[sessions, K]."""
    attraction, position = model.rows()
    slots = lists.shape[1]
    if model.kind == "cascade":
        position = np.ones(slots)
    shown = lists >= 0
    if slots > len(position) or (lists.size and lists.max() >= model.n_items):
        raise ValueError(f"the model knows {model.n_items} items and {len(position)} positions; the lists show others")
    return np.where(shown, attraction[lists], 0.0), np.broadcast_to(position[:slots], lists.shape)


def _pairs(models: Sequence[ItemClicks], queries: Sequence[QuerySessions]):
    if not sum(map(len, queries)):
        raise ValueError("there are no sessions")
    return zip(models, queries, strict=True)


def _log_happened(p: np.ndarray, it: QuerySessions, floor: float) -> np.ndarray:
    happened = np.where(it.clicks, p, 1 - p)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(happened, floor))
