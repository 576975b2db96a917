"""Click models by item: cascade, dependent click and position-based, for bandits that re-rank one query's documents.

A model is two rows of probabilities, one by item and one by position. Compiled functions simulate its user and compute
its reward from these rows, inlined into a bandit's loop. This module knows nothing of bandits, logs or labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ol2r.arrays import checked
from ol2r.compiling import kernel, part
from ol2r.errors import DataError
from ol2r.random import Stream, block, uniform

CODES = {"cascade": 0, "dependent": 1, "position": 2}
_CASCADE, _DEPENDENT, _POSITION = 0, 1, 2
_UNIT = 2.0**-24


@dataclass(frozen=True)
class ItemClicks:
    """One query's click model.

    Args:
        kind: `"cascade"` (CM, Craswell et al., 2008: a user examines from the top down to the first click),
            `"dependent"` (DCM, Guo et al., 2009: and after a click at position k leaves, satisfied, with probability
            v(k)) or `"position"` (PBM, Richardson et al., 2007: examines position k with probability χ(k)).
        attraction: α, the probability of a click on an examined item, by item.
        position: v(k) of the dependent and χ(k) of the position-based model, from the top; empty in the cascade model.
        query: the name of the query in the log that the model was fitted to; "" if it has none.
        items: the names of the items in that log, one for each attraction; empty if they have none. Two models with
            the same probabilities are equal whatever their names.

    Raises:
        ValueError: an unknown kind, no items, probabilities outside [0, 1], a wrong number of probabilities by
            position for this kind, or not one name of its own for each item.
    """

    kind: Literal["cascade", "dependent", "position"]
    attraction: tuple[float, ...]
    position: tuple[float, ...] = ()
    query: str = field(default="", compare=False)
    items: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self):
        if self.kind not in CODES:
            raise ValueError(f"kind must be one of {tuple(CODES)}, not {self.kind!r}")
        for name in ("attraction", "position"):
            object.__setattr__(self, name, tuple(checked(getattr(self, name), name, (None,), np.float64).tolist()))
        object.__setattr__(self, "items", tuple(self.items))
        if not self.attraction:
            raise ValueError(f"a {self.kind} model needs the attraction of at least one item")
        for name, row in (("attraction", self.attraction), ("position", self.position)):
            for i, p in enumerate(row):
                if not 0.0 <= p <= 1.0:
                    raise ValueError(f"{name}[{i}] must lie in [0, 1], not {p}")
        if (self.kind == "cascade") != (not self.position):
            expected = "no" if self.kind == "cascade" else "some"
            raise ValueError(f"a {self.kind} model has {expected} probabilities by position, not {len(self.position)}")
        if self.items and not len(set(self.items)) == len(self.items) == len(self.attraction):
            raise ValueError(f"expected a different name for each of {len(self.attraction)} items, found {self.items}")

    @property
    def code(self) -> int:
        """The number that stands for the kind in compiled code."""
        return CODES[self.kind]

    @property
    def n_items(self) -> int:
        """The number L of items."""
        return len(self.attraction)

    @property
    def longest(self) -> int:
        """Length of the longest list that the model covers: no more slots than it has items or known positions."""
        return min(self.n_items, len(self.position) or self.n_items)

    def check_slots(self, slots: int) -> None:
        """Raise ValueError if the model does not cover lists of this length.

        Raises:
            ValueError: fewer than one slot, or more than items or known positions.
        """
        if not 1 <= slots <= self.longest:
            raise ValueError(
                f"a list has 1 to {self.longest} slots ({self.n_items} items, "
                f"{len(self.position) or 'any'} positions in this {self.kind} model), not {slots}"
            )

    def restricted(self, items: Sequence[int]) -> "ItemClicks":
        """The same model for some of its items only, renumbered in the given order."""
        names = tuple(self.items[i] for i in items) if self.items else ()
        return replace(self, attraction=tuple(self.attraction[i] for i in items), items=names)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Attraction and position as the compiled functions take them: float64[L], float64[positions]."""
        return np.array(self.attraction, dtype=np.float64), np.array(self.position, dtype=np.float64)


@part
def item_clicks(kind, attraction, position, ranking, key, step, clicks):
    """One user's clicks on one list.

    The click coin of slot k is word k of the replica's click stream in this step, and its stop coin is word k of the
    stop stream, whichever item it shows: `uniform(key, Stream.CLICK, step, k)`, drawn four slots at a time.

    Args:
        kind: a value of `CODES`; attraction: float64[L]; position: float64[at least K], or empty (cascade).
        ranking: int64[K], the items shown, no padding; key: the replica's key; step: the round of its streams.
        clicks: bool[K], filled.
    """
    # unsigned slots and items need no check for negative indices; the four coins of a block are drawn without a branch
    slots, first = np.uint64(ranking.shape[0]), np.uint64(0)
    while first < slots:
        after = min(first + np.uint64(4), slots)
        w0, w1, w2, w3 = block(key, Stream.CLICK, step, first >> np.uint64(2))
        for k in range(first, after):
            p = attraction[np.uint64(ranking[k])]
            if kind == _POSITION:
                p *= position[k]
            clicks[k] = np.float64(w0 >> np.uint32(8)) * _UNIT < p
            w0, w1, w2 = w1, w2, w3
        if kind != _POSITION:
            for k in range(first, after):
                if clicks[k] and (kind == _CASCADE or uniform(key, Stream.STOP, step, k) < position[k]):
                    clicks[k + np.uint64(1) :] = False
                    return
        first = after


@kernel
def _simulate(kind, attraction, position, lists, key, out):
    for step in range(lists.shape[0]):
        item_clicks(kind, attraction, position, lists[step], key, step, out[step])


def simulate_clicks(model: ItemClicks, lists: np.ndarray, key: np.uint64) -> np.ndarray:
    """Simulate clicks on lists one after another; list t is shown in step t.

    Args:
        lists: int64[sessions, K], item numbers of the model, no padding.

    Returns:
        bool[sessions, K].

    Raises:
        ValueError: no such lists, or longer ones than the model covers.
    """
    lists = checked(lists, "lists", (None, None), np.int64, 0, model.n_items - 1)
    model.check_slots(lists.shape[1])
    out = np.empty(lists.shape, dtype=np.bool_)
    _simulate(model.code, *model.rows(), lists, key, out)
    return out


def wrong_pairs(attraction: np.ndarray, ranking: np.ndarray) -> int:
    """|V(R)|: pairs of a listed item and a strictly more attractive one that stands below it or is not listed.

    Args:
        attraction: Float64[L].
        ranking: Int64[K], item numbers from the top.

    Raises:
        DataError: no such arrays, or an item twice.
    """
    attraction = checked(attraction, "attraction", (None,), np.float64, 0, 1)
    ranking = checked(ranking, "ranking", (None,), np.int64, 0, len(attraction) - 1)
    if len(np.unique(ranking)) < len(ranking):
        raise DataError("ranking: expected different items")
    better = attraction > attraction[ranking][:, None]  # [position, item]: more attractive than the one there
    return int(better.sum() - np.tril(better[:, ranking]).sum())


@part
def expected_reward(kind, attraction, position, ranking, cut):
    """The expected reward r(R) of a list over its first `cut` positions.

    CM: 1 − ∏(1 − α(R(k))), the probability of a click; DCM: 1 − ∏(1 − v(k) α(R(k))), of a click after which the user
    leaves; PBM: Σ χ(k) α(R(k)), clicks. The first two are the papers' Σ χ(R, k) v(k) α(R(k)) with v = 1 in the CM and
    the examination probability χ(R, k) = ∏_{i<k} (1 − v(i) α(R(i))), its terms summed.

    Args:
        as in `item_clicks`; cut: at least 1; a cut beyond the list's end changes nothing.
    """
    clicks, left = 0.0, 1.0
    for k in range(min(cut, ranking.shape[0])):
        p = attraction[ranking[k]]
        if kind != _CASCADE:
            p *= position[k]
        clicks += p
        left *= 1.0 - p
    return clicks if kind == _POSITION else 1.0 - left


@part
def best_ranking(kind, attraction, position, slots, cut):
    """The list that maximises `expected_reward`: int64[slots].

    The `cut` most attractive items stand at the first `cut` positions, the most attractive where v or χ is largest
    (the rearrangement inequality: both xy and −log(1 − xy) are supermodular in x, y ≥ 0). The other items do not count
    and follow by descending attraction. Equal items and equal positions keep their order, so where v or χ descends
    down to the cut, this is the list by descending attraction.
    """
    items = np.argsort(-attraction, kind="mergesort")
    ranking = items[:slots].copy()
    if kind != _CASCADE:
        places = np.argsort(-position[: min(cut, slots)], kind="mergesort")
        for i in range(places.shape[0]):
            ranking[places[i]] = items[i]
    return ranking
