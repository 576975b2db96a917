"""BubbleRank (Li et al., 2019), and the baseline that it is compared with, which always shows the initial list.

Line numbers are those of the paper's Algorithm 1. Its steps are compiled functions of one state: a simulation calls
them in a loop, and an instance of `BubbleRank` calls them one by one for real users.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numba import prange

from ol2r.bandits.base import LAST_STEP, Bandit
from ol2r.bandits.world import Tape, World, inversions, judge, leaf, replica, show
from ol2r.clicks.real import Serving, different, whole
from ol2r.compiling import kernel, part
from ol2r.parameters import FLAG, WHOLE, Choice, Number, Value, require
from ol2r.random import Stream, block, replica_key, word
from ol2r.theory.bandits import bubblerank_certain, bubblerank_event

_NOTES = np.dtype(
    [
        ("log_inverse_delta", np.float64),  # log(1/δ)
        ("horizon", np.int64),  # n, or its estimate
        ("away", np.int64),  # in a trial of a hidden item, the one of the two items that is not shown; else −1
        ("news", np.bool_),  # whether a pair may have become decided since the base list was last improved
        ("moved", np.bool_),  # whether the base list may have neighbours that it did not have a step before
    ],
    align=True,
)


class State(NamedTuple):
    """BubbleRank's settings and statistics. Lists of all L items have the hidden ones at the end.

    Functions get the step t as an argument, because looking it up in memory would slow down the loop.
    """

    exponent: float  # δ = n^−exponent
    doubling: bool  # whether the horizon is an estimate
    freeze: bool  # whether the statistics of a decided pair are frozen
    shift: int  # h = (t + shift) mod 2
    start: np.ndarray  # int64[L], R₀
    base: np.ndarray  # int64[L], R̄_t
    ranking: np.ndarray  # int64[K], R_t
    s: np.ndarray  # int64[L, L]
    n: np.ndarray  # int64[L, L]
    notes: np.ndarray  # _NOTES[1]


@part
def begin(initial, n_items, horizon, exponent, doubling, freeze, shift):
    """Lines 1-3: the state before the first step.

    Args:
        initial: int64[K], R₀; the items that it does not show follow by number.
        n_items: L; horizon: n, or its first estimate; other arguments as in `State`.
    """
    n_positions = len(initial)
    start = np.empty(n_items, dtype=np.int64)
    start[:n_positions] = initial
    shown = np.zeros(n_items, dtype=np.bool_)
    shown[initial] = True
    behind = n_positions
    for i in range(n_items):
        if not shown[i]:
            start[behind] = i
            behind += 1
    notes = np.zeros(1, dtype=_NOTES)
    notes[0].log_inverse_delta = exponent * np.log(float(horizon))
    notes[0].horizon = horizon
    notes[0].away = -1
    notes[0].news = notes[0].moved = True
    s = np.zeros((n_items, n_items), dtype=np.int64)
    n = np.zeros((n_items, n_items), dtype=np.int64)
    ranking = start[:n_positions].copy()
    return State(exponent, doubling, freeze, shift, start, start.copy(), ranking, s, n, notes)


@leaf
def _pairs(state, step):
    """Lines 5 and 7: h, and the number of pairs that may be exchanged; the first pair is at h and h + 1 (from 0)."""
    h = (step + state.shift) % 2
    return h, (len(state.ranking) - h) // 2


@leaf
def _better(state, i, j):
    """Lines 9 and 23: whether clicks have shown that item i is more attractive than item j."""
    return bubblerank_certain(state.s[i, j], state.n[i, j], state.notes[0].log_inverse_delta)


@leaf
def _double(state, step):
    """Double an estimated horizon that has passed: the base list is R₀ again, and the statistics stay."""
    notes = state.notes[0]
    if state.doubling and step > notes.horizon:
        notes.horizon *= 2
        notes.log_inverse_delta = state.exponent * np.log(float(notes.horizon))
        for k in range(len(state.base)):
            state.base[k] = state.start[k]
        notes.news = notes.moved = True


@leaf
def _exchange(state, coins, key, step):
    """Lines 6-10: exchange neighbours in undecided order by a coin, which for pair p is bit p of the words."""
    ranking = state.ranking
    h, pairs = _pairs(state, step)
    for k in range(len(ranking)):
        ranking[k] = state.base[k]
    for p in range(pairs):
        if p > 0 and p & 31 == 0:
            coins = word(key, Stream.BANDIT_FLIP, step, p >> 3)
        a = 2 * p + h
        i, j = ranking[a], ranking[a + 1]
        coin = (coins >> np.uint32(p & 31)) & np.uint32(1) != np.uint32(0)
        exchanged = coin & (not _better(state, i, j))  # without a branch, which processors could not predict
        ranking[a] = j if exchanged else i
        ranking[a + 1] = i if exchanged else j


@leaf
def _try_hidden(state, step, candidate, coin):
    """Section 4.3: when the last position has no neighbour, a hidden item may be tried there."""
    base, notes = state.base, state.notes[0]
    n_positions, n_items = len(state.ranking), len(base)
    notes.away = -1
    h, _ = _pairs(state, step)
    if n_items == n_positions or (n_positions - h) % 2 == 0:
        return
    last = base[n_positions - 1]
    open_ = 0
    for x in range(n_positions, n_items):
        open_ += not _better(state, last, base[x])
    if open_ == 0:
        return
    chosen = (np.int64(candidate) * open_) >> 32
    for x in range(n_positions, n_items):
        if not _better(state, last, base[x]):
            if chosen == 0:
                notes.away = base[x]
                break
            chosen -= 1
    if coin >> np.uint32(31):
        state.ranking[n_positions - 1], notes.away = notes.away, last


@leaf
def display(state, key, step):
    """Lines 5-10: fill the list of a step; steps count from 1."""
    _double(state, step)
    coins, candidate, coin, _ = block(key, Stream.BANDIT_FLIP, step, 0)
    _exchange(state, coins, key, step)
    _try_hidden(state, step, candidate, coin)


@leaf
def _add(state, winner, loser):
    """Lines 16-19: count a step on which only the winner was clicked, unless the pair is decided and frozen."""
    if state.freeze and (_better(state, winner, loser) or _better(state, loser, winner)):
        return
    state.s[winner, loser] += 1
    state.s[loser, winner] -= 1
    state.n[winner, loser] += 1
    state.n[loser, winner] += 1
    state.notes[0].news = True


@leaf
def observe(state, clicks, step):
    """Lines 12-19: compare the clicks on neighbours, and on a hidden item that was tried."""
    ranking, away = state.ranking, state.notes[0].away
    h, pairs = _pairs(state, step)
    for p in range(pairs):
        a = 2 * p + h
        if clicks[a] != clicks[a + 1]:
            i, j = (ranking[a], ranking[a + 1]) if clicks[a] else (ranking[a + 1], ranking[a])
            _add(state, i, j)
    last = len(ranking) - 1
    if away >= 0 and clicks[last]:
        _add(state, ranking[last], away)


@leaf
def improve(state):
    """Lines 20-24: exchange neighbours of the base list in decided wrong order, and the last item with a hidden one."""
    base, notes = state.base, state.notes[0]
    last = len(state.ranking) - 1
    if not notes.news:
        return
    notes.moved = False
    for k in range(last):
        if _better(state, base[k + 1], base[k]):
            base[k], base[k + 1] = base[k + 1], base[k]
            notes.moved = True
    for x in range(last + 1, len(base)):
        if _better(state, base[x], base[last]):
            base[last], base[x] = base[x], base[last]
            notes.moved = True
    notes.news = notes.moved  # one sweep may open the way for another


class Audit(NamedTuple):
    """What a simulation records about a run for analysis; BubbleRank itself does not use it."""

    met: np.ndarray  # bool[L, L], above the diagonal: pairs that were neighbours in a base list or met in a trial
    pairs: np.ndarray  # int64[1], the number of these pairs
    broken: np.ndarray  # int64[1], the first step after which event E did not hold, or 0


@leaf
def _note(audit, i, j):
    i, j = min(i, j), max(i, j)
    audit.pairs[0] += not audit.met[i, j]
    audit.met[i, j] = True


@leaf
def _note_pairs(audit, state):
    """Note the pairs that Lemma 6 counts."""
    base, notes, last = state.base, state.notes[0], len(state.ranking) - 1
    if notes.moved:
        for k in range(last):
            _note(audit, base[k], base[k + 1])
    if notes.away >= 0:
        _note(audit, state.ranking[last], notes.away)


@leaf
def _holds(state, i, j, attraction):
    """Whether Lemma 9's event holds for a pair; items of equal attraction cannot be ordered wrongly."""
    a, b = attraction[i], attraction[j]
    if a == b:
        return True
    if a < b:
        i, j = j, i
    return bubblerank_event(state.s[i, j], state.n[i, j], abs(a - b) / (a + b), state.notes[0].log_inverse_delta)


@leaf
def _note_event(audit, state, clicks, attraction, step):
    """Note whether event E still holds, by checking the pairs whose statistics the step changed."""
    if audit.broken[0] > 0 or not state.notes[0].news:
        return
    ranking, away, last = state.ranking, state.notes[0].away, len(state.ranking) - 1
    h, pairs = _pairs(state, step)
    for p in range(pairs):
        a = 2 * p + h
        if clicks[a] != clicks[a + 1] and not _holds(state, ranking[a], ranking[a + 1], attraction):
            audit.broken[0] = step
    if away >= 0 and clicks[last] and not _holds(state, ranking[last], away, attraction):
        audit.broken[0] = step


@part
def _bubblerank(world, tape, steps, exponent, doubling_from, freeze, other_parity, r):
    own = replica(world, r)
    n_items, n_positions = len(own.attraction), len(own.initial)
    clicks = np.zeros(n_positions, dtype=np.bool_)
    met = np.zeros((n_items, n_items), dtype=np.bool_)
    audit = Audit(met, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    horizon = doubling_from if doubling_from > 0 else steps
    state = begin(own.initial, n_items, horizon, exponent, doubling_from > 0, freeze, other_parity)

    for step in range(1, tape.checkpoints[-1] + 1):
        display(state, own.key, step)
        _note_pairs(audit, state)
        show(own, state.ranking, step, clicks)  # line 11
        observe(state, clicks, step)
        _note_event(audit, state, clicks, own.attraction, step)
        improve(state)

        c = judge(own, state.ranking, step, tape, r)
        if c >= 0:
            tape.diagnostics[r, c, 0] = inversions(state.base[:n_positions], own.better)
            tape.diagnostics[r, c, 1] = audit.pairs[0]
            tape.diagnostics[r, c, 2] = audit.broken[0]


@kernel
def _bubblerank_all(world, tape, steps, exponent, doubling_from, freeze, other_parity):
    for r in prange(len(world.keys)):
        _bubblerank(world, tape, steps, exponent, doubling_from, freeze, other_parity, np.int64(r))


@kernel
def _begun(initial, n_items, horizon, exponent, doubling, freeze, shift):
    return begin(initial, n_items, horizon, exponent, doubling, freeze, shift)


@kernel
def _rank(state, key, step):
    display(state, key, step)


@kernel
def _update(state, clicks, step):
    observe(state, clicks, step)
    improve(state)


class BubbleRank(Serving[tuple[np.ndarray, int]], Bandit):
    """BubbleRank (Li et al., 2019, Algorithm 1): improves an already good list from clicks while staying close to it.

    It exchanges neighbours of a base list at random until clicks decide their order. With fewer positions than items it
    explores as section 4.3 says: when the last position has no neighbour, a random hidden item that is not known to be
    worse replaces the item there with probability ½. Once a hidden item is known to be better, the two are exchanged
    for good.

    `simulate_bandit` plays it in a simulated world. An instance serves real users with one list, by the same compiled
    steps: `rank` gives the list to show, `update` takes the clicks on it. The instance holds all that it has learned;
    `save` writes it to a file, from which it goes on in another process as if it had never stopped; items that a file
    can name are text and whole numbers. What was not `seen` was not clicked, as in the paper's click models.

    Late clicks: every step flips its own coins, and clicks are compared by what was exchanged in their own step. So the
    event of Lemma 9 and the safety of Lemma 2 do not ask in which order clicks come, as long as it does not depend on
    the clicks when, or whether, they come. Theorem 1 counts on the clicks of every step before the next one: orders are
    decided later, and pairs cost regret until then.

    >>> import ol2r
    >>> ranker = ol2r.BubbleRank(["tent", "rope", "lamp", "stove"], horizon=10_000)
    >>> for visit in range(2000):
    ...     shown = ranker.rank()
    ...     ranker.update([item == "lamp" for item in shown])  # whether each was clicked
    >>> ranker.base
    ['lamp', 'tent', 'rope', 'stove']

    Args:
        items: L different items, by names of your own, in the order in which you show them today, the best first.
            Memory grows with L², because statistics are kept of every pair.
        n_positions: K, the number of items that are shown; None shows all.
        horizon: n, the number of lists that will be shown; None if that is not known.
        seed: seed of the random exchanges; lists that are served side by side should have different seeds.
        most_waiting: how many times the list may have been shown without its clicks; one more is refused.
        doubling_from: the first estimate of an unknown horizon.
        exponent, freeze, parity: see below; the defaults are those of the paper's Algorithm 1 and section 4.3.

    Raises:
        ValueError: no items, an item that occurs twice, or numbers out of range.

    Parameters:
        exponent: δ = n^−exponent (4 in section 4.3).
        doubling_from: 0 if the horizon n is known; otherwise its first estimate. Whenever the estimate is passed, it is
            doubled and the base list is the initial list again; the statistics stay.
        freeze: whether the statistics of a pair are frozen once it is decided (Lemma 7) or go on (Algorithm 1).
        parity: which neighbours are compared first: `"algorithm"` takes h = t mod 2 (positions 2 and 3, 4 and 5, …),
            `"prose"` takes the other pairs.

    Diagnostics: `base_inversions`, inversions of the base list after the step; `pairs`, the number of pairs that were
    ever neighbours in the base list or met in the trial of a hidden item, an upper bound of the number |P| of
    randomized pairs; and `event_broken`, the first step after which event E of Lemma 9 did not hold (0 if it holds).
    """

    name = "BubbleRank"
    revision = 1
    parameters: ClassVar = {
        "exponent": Number(least=0),
        "doubling_from": Number(least=0, whole=True),
        "freeze": FLAG,
        "parity": Choice("algorithm", "prose"),
    }
    diagnostics = ("base_inversions", "pairs", "event_broken")
    step_seconds = 1.4e-7
    _kind = name

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        _bubblerank_all(
            world,
            tape,
            steps,
            float(parameters["exponent"]),
            int(parameters["doubling_from"]),
            bool(parameters["freeze"]),
            int(parameters["parity"] == "prose"),
            seconds=cls.seconds(world, tape),
        )

    def __init__(
        self,
        items: Sequence[Hashable],
        n_positions: int | None = None,
        *,
        horizon: int | None = None,
        seed: int = 0,
        most_waiting: int = 1,
        doubling_from: int = 1000,
        exponent: float = 4.0,
        freeze: bool = False,
        parity: str = "algorithm",
    ):
        super().__init__(most_waiting)  # of each list the ranking is kept, and which item was away in it
        self.items = tuple(different(items, "items"))
        if not self.items:
            raise ValueError("expected at least one item, found none")
        require("seed", WHOLE, seed)
        shown = len(self.items) if n_positions is None else n_positions
        if not whole(shown) or not 1 <= shown <= len(self.items):
            raise ValueError(f"{len(self.items)} items have 1 to {len(self.items)} positions, not {n_positions!r}")
        if horizon is not None and (not whole(horizon) or not 1 <= horizon <= LAST_STEP):
            raise ValueError(f"horizon must be a whole number from 1 to {LAST_STEP}, or None, not {horizon!r}")
        first = doubling_from if horizon is None else 0
        self.check({"exponent": exponent, "doubling_from": first, "freeze": freeze, "parity": parity})
        if horizon is None and first == 0:
            raise ValueError("a horizon that is not known is doubled from at least 1: give horizon, or doubling_from")
        self._last = LAST_STEP if horizon is None else int(horizon)
        self._key = replica_key("online", 1, seed)
        self._state = _begun(
            np.arange(shown),
            len(self.items),
            int(horizon or first),
            float(exponent),
            horizon is None,
            bool(freeze),
            int(parity == "prose"),
        )
        self._step = 0

    @property
    def base(self) -> list:
        """The list that it currently takes for the best, without exploration: the shown items from the top."""
        return [self.items[i] for i in self._state.base[: len(self._state.ranking)]]

    def decided(self, item: Hashable, other: Hashable) -> bool:
        """Whether clicks have shown that an item is more attractive than another (Algorithm 1, lines 9 and 23).

        Raises:
            ValueError: an item that is not in the list.
        """
        i, j = self.items.index(item), self.items.index(other)
        log_inverse_delta = self._state.notes["log_inverse_delta"][0]
        return bool(bubblerank_certain.py_func(self._state.s[i, j], self._state.n[i, j], log_inverse_delta))

    def rank(self) -> "ShownItems":
        """The list to show: items from the top, as many as there are positions; its `ticket` names it in `update`.

        Raises:
            ValueError: `most_waiting` lists wait for their clicks, or the horizon is over.
        """
        self._make_sure_of_room()
        if self._step == self._last:
            raise ValueError(f"the horizon of {self._last} lists is over: a new BubbleRank can start from its base")
        self._step += 1
        _rank(self._state, self._key, self._step)
        self._lists[self._step] = self._state.ranking.copy(), int(self._state.notes["away"][0])
        return ShownItems((self.items[i] for i in self._state.ranking), self._step)

    def _slots(self, shown: tuple[np.ndarray, int]) -> int:
        return len(shown[0])

    def _learn(self, ticket: int, shown: tuple[np.ndarray, int], clicked: np.ndarray, seen: int | None) -> None:
        self._state.ranking[:], self._state.notes["away"] = shown
        _update(self._state, clicked, ticket)

    def _kept(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        for item in self.items:
            if type(item) not in (str, int):
                raise ValueError(f"only items that are text or whole numbers can be saved, not {item!r}")
        state = self._state
        arrays = {name: getattr(state, name) for name in ("start", "base", "ranking", "s", "n")}
        arrays |= {f"notes.{name}": np.array(state.notes[name]) for name in _NOTES.names or ()}
        arrays |= {f"list.{ticket}": ranking for ticket, (ranking, _) in self._lists.items()}
        header = {
            "revision": self.revision,
            "items": list(self.items),
            "key": int(self._key),
            "step": self._step,
            "last": self._last,
            "exponent": state.exponent,
            "doubling": state.doubling,
            "freeze": state.freeze,
            "shift": state.shift,
            "most_waiting": self.most_waiting,
            "away": {ticket: away for ticket, (_, away) in self._lists.items()},
        }
        return header, arrays

    @classmethod
    def _made(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        if header["revision"] != cls.revision:
            raise ValueError(f"revision {header['revision']} of it was saved, this one is {cls.revision}")
        settings = {name: header[name] for name in ("exponent", "doubling", "freeze", "shift")}
        made = cls(header["items"], len(arrays["ranking"]), horizon=1, most_waiting=header["most_waiting"])
        made._last, made._key, made._step = header["last"], np.uint64(header["key"]), header["step"]
        kept = {name: arrays[name].copy() for name in ("start", "base", "ranking", "s", "n")}
        made._state = made._state._replace(**settings, **kept)
        for name in _NOTES.names or ():
            made._state.notes[name] = arrays[f"notes.{name}"]
        made._lists = {int(ticket): (arrays[f"list.{ticket}"], it) for ticket, it in header["away"].items()}
        return made


class ShownItems(list):
    """Items in the order in which they are to be shown.

    Attributes:
        ticket: by which `update` and `forget` know the list.
    """

    def __init__(self, items: Iterable[Hashable], ticket: int):
        super().__init__(items)
        self.ticket = ticket


@kernel
def _baseline_all(world, tape):
    for r in prange(len(world.keys)):
        own = replica(world, r)
        for step in range(1, tape.checkpoints[-1] + 1):
            judge(own, own.initial, step, tape, r)


class Baseline(Bandit):
    """Always shows the initial list, whatever is clicked."""

    name = "Baseline"
    revision = 1
    step_seconds = 1e-8

    @classmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        _baseline_all(world, tape, seconds=cls.seconds(world, tape))
