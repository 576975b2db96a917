"""Steps of item-level bandits, K = L = 10, in equal parts of the cascade, dependent click and position-based models.

`NAME.steps_per_s` is per core: steps × replicas per second of processor time. As everywhere here it is the difference
of two calls of `simulate_bandit` that differ only in their length, as chapters call it, with clicks, regret, violations
and NDCG all on.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from ol2r.bandits import random_list, simulate_bandit
from ol2r.clicks import ItemClicks
from ol2r.random import generator, replica_key

HORIZON = 5_000_000
REPLICAS = 24
PARAMETERS = {
    "BubbleRank": {"exponent": 4.0, "doubling_from": 0, "freeze": False, "parity": "algorithm"},
    "TopRank": {"exponent": 1.0},
    "BatchRank": {"stages": "paper"},
    "CascadeKL-UCB": {"budget": "log t + 3 log log t", "observed": "first click", "start": "top"},
}
NAMES = {bandit.lower().replace("-", ""): bandit for bandit in PARAMETERS}
# public code in one thread of a two-core machine, K = L = 10
PUBLIC = {
    "bubblerank.steps_per_s": 15_600.0,
    "toprank.steps_per_s": 9_600.0,
    "batchrank.steps_per_s": 29_000.0,
    "cascadeklucb.steps_per_s": 115_000.0,
}
TARGET = {
    "bubblerank.steps_per_s": 5_000_000.0,
    "toprank.steps_per_s": 1_500_000.0,
    "batchrank.steps_per_s": 1_500_000.0,
    "cascadeklucb.steps_per_s": 1_000_000.0,
}


def users() -> list[ItemClicks]:
    """A click model for each replica, with attractions and examination like those fitted to search sessions."""
    rng = generator("benchmark of bandits", 0)
    found = []
    for r in range(REPLICAS):
        attraction = tuple(rng.beta(1.5, 6.0, 10))
        position = tuple(np.linspace(1.0, 0.3, 10))
        kind = ("cascade", "dependent", "position")[r % 3]
        found.append(ItemClicks(kind, attraction, () if kind == "cascade" else position))
    return found


def seconds(bandit: str, steps: int) -> float:
    """Processor seconds of one call of `simulate_bandit`, all cores together: what else they do hardly counts."""
    keys = [replica_key("benchmark", 0, seed) for seed in range(REPLICAS)]
    lists = [random_list(key, 0, 10, 10) for key in keys]
    models = users()
    start = time.process_time()
    simulate_bandit(bandit, PARAMETERS[bandit], models, lists, keys, HORIZON, (steps,), 5)
    return time.process_time() - start


def measure(name: str, quick: bool) -> dict[str, float]:
    """Compilation, and steps × replicas per second and core."""
    bandit = NAMES[name]
    start = time.perf_counter()
    seconds(bandit, 10)
    compiling = time.perf_counter() - start
    steps = 200_000 if quick else 1_000_000
    spent = statistics.median(seconds(bandit, steps) - seconds(bandit, steps // 10) for _ in range(3))
    rate = REPLICAS * (steps - steps // 10) / spent
    return {f"{name}.compile_s": compiling, f"{name}.steps_per_s": rate}


FAMILIES: dict[str, Callable[[bool], dict[str, float]]] = {name: partial(measure, name) for name in NAMES}
