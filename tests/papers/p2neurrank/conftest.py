"""Invented tables of the audits."""

import itertools

import numpy as np
import pandas as pd
import pytest

from ol2r.papers.p2neurrank.audit_cells import UNITS
from ol2r.papers.p2neurrank.audits import RANKERS, RATIOS, STOPPED, UNCERTAIN


def lines(shared, values):
    return [shared | {"quantity": name, "value": value} for name, value in values.items()]


@pytest.fixture
def audited():
    """Twenty worlds of each audit with numbers that can be checked by eye."""
    found = []
    for d, world in itertools.product((1, 5), range(20)):
        own = {"audit": "coverage", "dimension": d, "bound": 0.5, "regularization": 1.0, "delta": 0.1, "round": 80}
        values = dict.fromkeys(RATIOS, 0.2) | {"interval": (world + 1) / 20, "interval as printed": 1.5}
        values |= {"width": 10.0, "width as printed": 30.0, "width needed": 0.5, "width needed, pseudo-pairs": 0.25}
        found += lines(own | {"world": world}, values | {"moved": 0.1, "labels": 80.0})
        stopped = {"interval": (world + 1) / 10, "interval as printed": 3.0}
        found += lines(own | {"world": world, "audit": STOPPED}, stopped)
    for regularization, t, world in itertools.product((1.0, 0.1), (1, 10), range(4)):
        own = {"audit": "variance", "regularization": regularization, "round": t, "world": world}
        alone = t / 20 * regularization
        found += lines(own, {"all perturbed": 1 + world / 100 - 0.015, "labels perturbed": alone, "refits": 9.0})
    for (noise, beta), world in itertools.product(((0.1, 0.0), (0.01, 0.0), (0.0, 0.15), (0.0, 1.0)), range(20)):
        own = {"audit": "optimism", "regularization": 1.0, "noise": noise, "beta": beta, "pseudo_pairs": 0}
        own |= {"delta": 0.1, "round": 100, "world": world}
        values = {f"N = {n}": 0.5 if world < 2 * n else np.inf for n in RANKERS}
        if beta:
            values |= {"N of the lemma": 0.5 if world < (10 if beta < 0.35 else 20) else np.inf}
            values |= {"N corrected": 0.5 if beta < 0.35 else np.nan}
        values |= {"β": beta or 12.0, "β corrected": 3 * (beta or 12.0), "deviation": 4.0}
        values |= {"log N": np.log(10) * (-0.1 if beta == 0.15 else 2), "log N corrected": np.log(10) * 300}
        values |= {"wrong": 0.4} | {f"wrong and certain, N = {n}": 0.6 / n for n in RANKERS}
        values |= {"wrong and certain, α": 0.0, "wrong and certain, α = 0.1": 0.2}
        found += lines(own, values)
    for rankers, n, world in itertools.product((2, 5), (10, 1000), range(4)):
        own = {"audit": "uncertain", "noise": 0.1, "beta": 0.0, "rankers": rankers, "round": n, "world": world}
        own["seed"] = 0
        values = {"probability": 1 / n} | dict.fromkeys(UNCERTAIN, 4 / n + (n < 100) * 0.4)
        if n == 1000:
            values |= {f"ratio, {name}": 0.5 + world / 4 for name in UNCERTAIN} | {"holds": 1.0}
        found += lines(own, values)
    for (steepness, factor), n, world in itertools.product(((0.1, 0.01), (10.0, 100.0)), (10, 1000), range(4)):
        own = {"audit": UNITS, "steepness": steepness, "rankers": 2, "round": n, "world": world, "seed": 0}
        values = {"probability": 1e-4, "bound of the proof": 4 / n, "bound as printed": min(1.0, 4 / n * factor)}
        if n == 1000:
            values |= {"ratio, bound of the proof": 0.5, "ratio, bound as printed": 0.5 / factor}
        found += lines(own, values)
    for (noise, rankers, pseudo), t, world in itertools.product(
        ((0.1, 2, 0), (0.1, 2, 1), (0.0, 1, 0)), (8, 64, 512), range(4)
    ):
        own = {"audit": "regret", "noise": noise, "rankers": rankers, "pseudo_pairs": pseudo, "round": t}
        values = {"regret": np.log(t) ** 2 + world * 0, "open": 2.0, "wrong": 3.0, "shown": 3.0 * t}
        values |= {"bound, curved": 1e6, "bound": 1e5} if t == 512 else {}
        found += lines(own | {"world": world, "seed": 0}, values)
    for noise, n, world in itertools.product((0.1, 0.01), (1, 1000), range(4)):
        own = {"audit": "blind spot", "noise": noise, "round": n, "world": world}
        values = {"labels perturbed": 1.0, "all perturbed": 0.5, "α": 0.0, "α = 0.1": float(world < 2)}
        found += lines(own, values)
    return pd.DataFrame(found)
