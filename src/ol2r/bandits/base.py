"""The base class of item-level bandits, and `simulate_bandit`: one compiled loop of lists and clicks for each replica.

A bandit learns one list for one query from clicks on items without features. This room knows click models of items; it
imports neither rankers, nor feature-based learners, nor anything that is trained on labels.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np

from ol2r.bandits.world import Tape, World
from ol2r.clicks import ItemClicks, best_ranking, expected_reward, wrong_pairs
from ol2r.compiling import kernel
from ol2r.cost import Cost
from ol2r.parameters import Parameter, Value, check_all
from ol2r.random import Stream, integer_below

BANDITS: dict[str, type["Bandit"]] = {}

LAST_STEP = 2**32 - 1  # a step is the 32-bit round of the random streams


@dataclass(frozen=True)
class Trace:
    """Results of `simulate_bandit`: one row for each replica, one column for each checkpoint.

    Args:
        checkpoints: Int64[C], steps.
        regret: Float64[R, C], Σ (reward of the best list − reward of the shown list) over the first `cut` positions.
        violations: Int64[R, C], V(n): number of steps with |V(R_t)| > |V(R₀)| + K/2.
        excess: Int64[R, C], the largest |V(R_t)| − |V(R₀)| so far, at least 0.
        ndcg: Float64[R, C], NDCG at `cut` with attraction as gain, mean over the steps since the last checkpoint.
        shown: Int64[R, C, K], the list displayed at the checkpoint, padded with −1.
        initial_inversions: Int64[R], |V(R₀)|.
        optimum: Float64[R], reward of the best list.
        diagnostics: Int64[R, C] by name, further quantities of this bandit.
    """

    checkpoints: np.ndarray
    regret: np.ndarray
    violations: np.ndarray
    excess: np.ndarray
    ndcg: np.ndarray
    shown: np.ndarray
    initial_inversions: np.ndarray
    optimum: np.ndarray
    diagnostics: dict[str, np.ndarray]


class Bandit(ABC):
    """Base class of bandit algorithms; the class method `play` simulates one and writes its results to a tape."""

    name: ClassVar[str]
    revision: ClassVar[int]  # raised by a change that alters a trajectory; part of every stored result's key
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    diagnostics: ClassVar[tuple[str, ...]] = ()
    step_seconds: ClassVar[float] = 1.5e-7  # of one core for a replica's step with ten items on ten positions

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            if cls.name in BANDITS:
                raise ValueError(f"two bandits are named {cls.name!r}")
            BANDITS[cls.name] = cls

    @classmethod
    def check(cls, parameters: Mapping[str, Value]) -> None:
        """Raise ValueError unless exactly the bandit's parameters are given, with allowed values."""
        check_all(cls.name, cls.parameters, parameters)

    @classmethod
    def cost(cls, parameters: Mapping[str, Value], n_items: int, steps: int) -> Cost:
        """Rough cost of one replica in a run; bandits run on the CPU, whatever the device.

        Args:
            parameters: all parameters of the bandit.
            n_items: L.
            steps: number of steps of the run.
        """
        return Cost(steps * cls.step_seconds * max(1.0, n_items / 10), 17 * n_items**2)

    @classmethod
    def seconds(cls, world: World, tape: Tape) -> float:
        """About how long one core plays all replicas to the last checkpoint."""
        return float(len(world.keys) * tape.checkpoints[-1] * cls.step_seconds)

    @classmethod
    @abstractmethod
    def play(cls, world: World, tape: Tape, steps: int, parameters: Mapping[str, Value]) -> None:
        """Play every replica to the last checkpoint; `steps` is the horizon n that is given to the bandit."""


def logarithmic_checkpoints(steps: int, a_decade: int = 10) -> tuple[int, ...]:
    """Steps at which to record: about `a_decade` in each decade, evenly on a logarithmic axis, with all powers of ten.

    Raises:
        ValueError: `steps` or `a_decade` is below 1.
    """
    if steps < 1 or a_decade < 1:
        raise ValueError("steps and checkpoints a decade must be at least 1")
    decades = range(len(str(steps)))
    found = {round(10 ** (d + i / a_decade)) for d in decades for i in range(a_decade)}
    return tuple(sorted({step for step in found if step < steps} | {steps}))


def random_list(key: np.uint64, number: int, n_items: int, n_positions: int) -> np.ndarray:
    """A replica's random initial list, by its number: Int64[positions], distinct items, all orders equally likely.

    Raises:
        ValueError: no position, or more positions than items.
    """
    if not 1 <= n_positions <= n_items:
        raise ValueError(f"a list of {n_items} items has 1 to {n_items} positions, not {n_positions}")
    order = np.arange(n_items)
    _draw(order, n_positions, np.uint64(key), number)
    return order[:n_positions]


@kernel
def _draw(order, n, key, number):
    for k in range(n):
        other = k + integer_below(key, Stream.BANDIT_INITIAL, number, k, len(order) - k)
        order[k], order[other] = order[other], order[k]


def _checked(initial: Sequence[int], model: ItemClicks, r: int) -> np.ndarray:
    ranking = np.array(initial)
    if not np.issubdtype(ranking.dtype, np.integer) and ranking.size:
        raise ValueError(f"replica {r}: the initial list must be of whole item numbers, not {initial!r}")
    ranking = ranking.astype(np.int64)
    if ranking.ndim != 1 or not len(ranking) or len(np.unique(ranking)) != len(ranking):
        raise ValueError(f"replica {r}: the initial list must be of different items, at least one")
    if ranking.min() < 0 or ranking.max() >= model.n_items:
        raise ValueError(f"replica {r}: the initial list has items outside 0 … {model.n_items - 1}")
    model.check_slots(len(ranking))
    return ranking


def _world(
    models: Sequence[ItemClicks], initial_lists: Sequence[Sequence[int]], keys: Sequence[np.uint64], cut: int
) -> World:
    if not len(models) == len(initial_lists) == len(keys) > 0:
        raise ValueError(
            f"models, initial lists and keys go together, at least one of each: "
            f"{len(models)}, {len(initial_lists)} and {len(keys)} were given"
        )
    lists = [_checked(initial, model, r) for r, (initial, model) in enumerate(zip(initial_lists, models, strict=True))]
    items = np.array([model.n_items for model in models])
    positions = np.array([len(ranking) for ranking in lists])
    shape = len(models), items.max()
    world = World(
        np.ascontiguousarray(keys, dtype=np.uint64),
        np.array([model.code for model in models], dtype=np.int64),
        items,
        positions,
        np.zeros(shape),
        np.zeros((len(models), positions.max())),
        np.zeros((len(models), positions.max()), dtype=np.int64),
        np.zeros((*shape, (items.max() + 63) // 64), dtype=np.uint64),
        np.empty(len(models)),
        np.empty(len(models)),
        np.empty(len(models), dtype=np.int64),
        cut,
        1.0 / np.log2(np.arange(2.0, cut + 2.0)),
    )
    for r, (model, ranking) in enumerate(zip(models, lists, strict=True)):
        attraction, position = model.rows()
        position = position[: len(ranking)]
        world.attraction[r, : items[r]] = attraction
        world.position[r, : len(position)] = position
        world.initial[r, : positions[r]] = ranking
        better = attraction > attraction[:, None]  # [i, j]: j is strictly more attractive than i
        bits = np.packbits(better, axis=1, bitorder="little")
        world.better[r].view(np.uint8)[: items[r], : bits.shape[1]] = bits
        world.base[r] = wrong_pairs(attraction, ranking)
        # runs once for each replica, so it is not worth compiling
        best = best_ranking.py_func(model.code, attraction, position, len(ranking), cut)
        world.optimum[r] = expected_reward.py_func(model.code, attraction, position, best, cut)
        gains = np.sort(attraction)[::-1][: min(cut, len(ranking))]
        world.ideal[r] = gains @ world.discount[: len(gains)]
    return world


def simulate_bandit(
    bandit: str,
    parameters: Mapping[str, Value],
    models: Sequence[ItemClicks],
    initial_lists: Sequence[Sequence[int]],
    keys: Sequence[np.uint64],
    steps: int,
    checkpoints: Sequence[int],
    cut: int,
) -> Trace:
    """Play one bandit on a batch of replicas.

    A replica is a click model, an initial list and a key. Its results do not depend on the other replicas of the batch.
    The number of positions K is the length of its initial list, and the number of items L is that of its attractions;
    K may differ between replicas, so a query with few documents can be shown whole.

    Args:
        bandit: a name in `BANDITS`; parameters: all parameters of that bandit.
        models: R click models; initial_lists: R lists of item numbers; keys: R keys, from `replica_key`.
        steps: the horizon n that is given to the bandit.
        checkpoints: steps after which to record, ascending; the run ends at the last.
        cut: number of positions that count for reward, regret and NDCG (a shorter list counts whole).

    Raises:
        ValueError: an unknown bandit or parameter, lists or checkpoints that do not fit.
    """
    if bandit not in BANDITS:
        raise ValueError(f"bandit must be one of {', '.join(sorted(BANDITS))}, not {bandit!r}")
    BANDITS[bandit].check(parameters)
    ends = list(checkpoints)
    if not all(isinstance(each, Integral) for each in ends):
        raise ValueError(f"checkpoints must be whole steps, not {checkpoints!r}")
    if not ends or ends != sorted(set(ends)) or not 1 <= ends[0] <= ends[-1] <= steps <= LAST_STEP:
        raise ValueError(f"checkpoints must be steps from 1 to {steps} in ascending order, at least one")
    if cut < 1:
        raise ValueError(f"cut must be at least 1, not {cut}")
    world = _world(models, initial_lists, keys, cut)
    shape = len(models), len(ends)
    diagnostics = BANDITS[bandit].diagnostics
    tape = Tape(
        np.array(ends, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape),
        np.full((*shape, world.initial.shape[1]), -1, dtype=np.int64),
        np.zeros((*shape, len(diagnostics)), dtype=np.int64),
    )
    BANDITS[bandit].play(world, tape, steps, parameters)
    return Trace(
        tape.checkpoints,
        tape.regret,
        tape.violations,
        tape.excess,
        tape.ndcg,
        tape.shown,
        world.base,
        world.optimum,
        {name: tape.diagnostics[..., d] for d, name in enumerate(diagnostics)},
    )
