"""Certain orders against their definition, pair by pair in double precision."""

import itertools

import numpy as np
import pytest
import torch

from ol2r.random import generator
from ol2r.ranking import interval_orders, unanimous_orders
from ol2r.ranking.covariance import gram

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
R, V, D = 12, 9, 4


def documents(seed=0):
    """Features with twins among them, weights, inverse covariances (full and diagonal), and widths up to ∞."""
    rng = generator("certain orders", seed)
    x = rng.standard_normal((R, V, D))
    x[:, 3] = x[:, 0]
    theta = rng.standard_normal((R, D))
    factor = rng.standard_normal((R, D, 2 * D))
    full = np.linalg.inv(factor @ factor.transpose(0, 2, 1))
    width = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 1.0] * 2)
    width[-1] = np.inf
    return x, theta, {"full": full, "diagonal": np.diagonal(full, axis1=1, axis2=2)[:, None]}, width


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_an_order_is_certain_where_the_lower_end_of_its_interval_is_above_one_half(device, covariance):
    x, theta, inverses, width = documents()
    inverse, scores = inverses[covariance], np.einsum("rvd,rd->rv", x, theta)
    arrays = [torch.from_numpy(np.ascontiguousarray(a)).to(device) for a in (scores, x, inverse, width)]
    certain = interval_orders(arrays[0], gram(arrays[1], arrays[2]), arrays[3]).cpu().numpy()
    found = 0
    for r, i, j in itertools.product(range(R), range(V), range(V)):
        difference = x[r, i] - x[r, j]
        m = np.diag(inverse[r, 0]) if covariance == "diagonal" else inverse[r]
        norm = np.sqrt(difference @ m @ difference)
        low = 1 / (1 + np.exp(scores[r, j] - scores[r, i])) - (width[r] * norm if norm > 0 else 0.0)
        assert certain[r, i, j] == (low > 0.5)
        found += certain[r, i, j]
    assert R * V < found < R * V * (V - 1) / 2  # some, but not of all pairs


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rankers", [1, 2, 5])
def test_an_order_is_unanimous_where_every_ranker_has_it(device, rankers):
    scores = generator("votes", rankers).integers(0, 6, (R, rankers, V)).astype(np.float32)
    certain = unanimous_orders(torch.from_numpy(scores).to(device)).cpu().numpy()
    for r, i, j in itertools.product(range(R), range(V), range(V)):
        assert certain[r, i, j] == all(scores[r, n, i] > scores[r, n, j] for n in range(rankers))
    assert certain.any()
