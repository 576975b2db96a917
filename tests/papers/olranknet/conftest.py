"""Invented tables of the audits."""

import itertools

import numpy as np
import pandas as pd
import pytest

from ol2r.papers.olranknet import bounds

KIND = {"audit": "coverage", "bound": 1.0, "regularization": 1.0, "width": 100, "delta": 0.1, "round": 80}
RATIOS = dict.fromkeys((*bounds.PROBABLE, *bounds.CERTAIN, "log det by documents"), 0.2) | {"radius": 1.5}
RATIOS |= {"width needed": 0.5, "diagonal width needed": 0.25, "width": 10.0, "error": 0.02, "narrowing": 3.0}


@pytest.fixture
def audited():
    """Twenty worlds of three kinds whose ratio of Lemma 3.3 grows from .05 to 1; nothing is as assumed in the third."""
    lines = []
    for truth, users in (("tangent", "matched"), ("network", "matched"), ("network", "cascade")):
        for world in range(20):
            values = RATIOS | {"current": (world + 1) / 20, "diagonal": (world + 1) / 40}
            own = KIND | {"truth": truth, "users": users, "assumed": int(users == "matched"), "world": world}
            lines += [own | {"quantity": name, "value": value} for name, value in values.items()]
    for scale, t, world in itertools.product((1.0, 0.125), (10, 20), range(4)):
        own = {"audit": "regret", "truth": "tangent", "scale": scale, "round": t, "world": world, "seed": 0}
        values = {"regret": t / 10 + world, "open": t / 2, "allowed": t * scale, "shown": t, "wide": t, "most": np.inf}
        values |= {"bound": 99.0, "q": 1.0} if t == 20 else {}
        lines += [own | {"quantity": name, "value": value} for name, value in values.items()]
    for scale, n, world in itertools.product((1.0, 0.125), (10, 1000), range(4)):
        own = {"audit": "open orders", "truth": "tangent", "scale": scale, "round": n, "world": world, "seed": 0}
        late = {"open": 0.0 if scale == 1 else 0.5, "allowed": 0.25, "wrong": 0.0 if scale == 1 else 0.25}
        values = {"printed": 0.75} | ({"open": 1.0, "allowed": 1.0, "wrong": 0.0} if n == 10 else late)
        lines += [own | {"quantity": name, "value": value} for name, value in values.items()]
    for m, world in itertools.product((100, 8192), range(4)):
        own = {"audit": "every pair", "documents": 16.0, "regularization": 1.0, "width": m, "assumed": 1, "round": 1}
        values = {"log det": 0.9, "log det by rounds": 0.95 if m > 100 or world else 1.05, "log det as printed": 1.2}
        lines += [own | {"world": world, "quantity": name, "value": value} for name, value in values.items()]
    for init, n, world in itertools.product(("he", "symmetric"), (0, 30, 100), range(2)):
        own = {"audit": "typical widths", "init": init, "regularization": 0.1, "documents": 400, "round": n}
        values = {"full": 1 / (1 + n), "diagonal": 0.5, "narrower": 1.0, "alike": 0.3, "prior": 0.7 + 0.2 * world}
        lines += [own | {"world": world, "quantity": name, "value": value} for name, value in values.items()]
    for n, world in itertools.product((0, 100), range(3)):
        values = {"error": 0.3, "full": 0.01 * (world + 1), "diagonal": 2.0 + world, "narrower": 0.1}
        own = {"audit": "blind spot", "round": n, "world": world}
        lines += [own | {"quantity": name, "value": value} for name, value in values.items()]
    return pd.DataFrame(lines)


@pytest.fixture
def kernel_audits():
    lines = [
        {"audit": "kernel", "parameters": "all", "depth": 2.0, "quantity": name, "round": m, "world": w, "value": v + w}
        for name, v in (("from H", 0.3), ("from H̃", 0.1))
        for m in (64, 8192)
        for w in (0, 1)
    ]
    all_ = pd.DataFrame(lines)
    return all_, all_.assign(parameters="own blocks")
