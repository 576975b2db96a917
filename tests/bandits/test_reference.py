"""Every bandit against a plain version written from its paper: the same list at every step, and the same sums."""

from itertools import permutations

import numpy as np
import pytest
from plain import play, reward

from ol2r.bandits import BANDITS, random_list, simulate_bandit
from ol2r.bandits.batchrank import PUBLIC_CODE
from ol2r.clicks import ItemClicks
from ol2r.random import generator, replica_key

STEPS, HORIZON = 400, 500
STAGES = 2800  # steps in which BatchRank ends three stages
BUBBLERANK = {"exponent": 0.1, "doubling_from": 0, "freeze": False, "parity": "algorithm"}
KLUCB = {"budget": "log t + 3 log log t", "observed": "first click", "start": "top"}

# few steps decide something only at a confidence that no theorem would ask for
VARIANTS = [
    ("Baseline", {}),
    ("BubbleRank", BUBBLERANK),
    ("BubbleRank", BUBBLERANK | {"exponent": 4.0}),
    ("BubbleRank", BUBBLERANK | {"freeze": True}),
    ("BubbleRank", BUBBLERANK | {"parity": "prose", "exponent": 0.02}),
    ("BubbleRank", BUBBLERANK | {"doubling_from": 9, "exponent": 0.2}),
    ("BubbleRank", BUBBLERANK | {"doubling_from": 30, "freeze": True}),
    ("TopRank", {"exponent": 1.0}),
    ("TopRank", {"exponent": 0.0}),
    ("BatchRank", {"stages": "paper"}),
    ("BatchRank", {"stages": "public code, last click"}),
    ("BatchRank", {"stages": "public code, one past the last click"}),
    ("BatchRank", {"stages": "public code, whole list"}),
    ("CascadeKL-UCB", KLUCB),
    ("CascadeKL-UCB", KLUCB | {"budget": "log t"}),
    ("CascadeKL-UCB", KLUCB | {"observed": "last click", "start": "shuffle"}),
]
SHAPES = [(5, 5), (6, 6), (4, 7), (3, 6), (1, 1), (1, 4)]  # positions, items


def _name(variant):
    return " ".join([variant[0], *(f"{name}={value}" for name, value in variant[1].items())])


def models(n_positions, n_items):
    """One of each kind; attractions far enough apart that a few hundred steps tell them."""
    rng = generator("bandits against plain ones", n_positions)
    attraction = tuple(rng.permutation(np.linspace(0.05, 0.9, n_items)))
    position = tuple(rng.uniform(0.3, 1.0, n_positions))
    return [
        ItemClicks("cascade", attraction),
        ItemClicks("dependent", attraction, position),
        ItemClicks("position", attraction, position),
    ]


def best_reward(model, n_positions, cut):
    return max(reward(model, ranking, cut) for ranking in permutations(range(len(model.attraction)), n_positions))


def played(name, parameters, shape, cut=3):
    """The replicas of a shape and their trace, with a checkpoint at every step."""
    n_positions, n_items = shape
    long = name == "BatchRank" and shape in ((5, 5), (3, 6))
    steps, horizon = (STAGES, STAGES) if long else (STEPS, HORIZON)
    users = models(n_positions, n_items)
    keys = [replica_key("plain", n_items, r) for r in range(len(users))]
    initial = [random_list(key, 0, n_items, n_positions) for key in keys]
    found = simulate_bandit(name, parameters, users, initial, keys, horizon, range(1, steps + 1), cut)
    return users, initial, keys, horizon, found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]} of {shape[1]}")
@pytest.mark.parametrize("variant", VARIANTS, ids=_name)
def test_bandit_decides_as_the_plain_algorithm(variant, shape):
    name, parameters = variant
    cut = 3
    users, initial, keys, horizon, found = played(name, parameters, shape, cut)
    steps = len(found.checkpoints)
    assert set(found.diagnostics) == set(BANDITS[name].diagnostics)
    for r, model in enumerate(users):
        best = best_reward(model, shape[0], cut)
        assert found.optimum[r] == pytest.approx(best)
        for c, row in enumerate(play(name, parameters, model, initial[r], keys[r], horizon, steps, cut, best)):
            assert found.shown[r, c].tolist() == row["ranking"], f"{model.kind}, step {c + 1}"
            for diagnostic, values in found.diagnostics.items():
                assert values[r, c] == row[diagnostic], f"{model.kind}, {diagnostic}, step {c + 1}"
            assert (found.violations[r, c], found.excess[r, c]) == (row["violations"], row["excess"])
            assert found.regret[r, c] == pytest.approx(row["regret"], abs=1e-9)
            assert found.ndcg[r, c] == pytest.approx(row["ndcg"])


def test_these_runs_decide_enough_to_be_worth_comparing():
    def diagnostic(name, parameters, shape, which):
        return played(name, parameters, shape)[-1].diagnostics[which]

    bubbles = diagnostic("BubbleRank", BUBBLERANK, (5, 5), "base_inversions")
    assert (bubbles[:, -1] < bubbles[:, 0]).all()
    assert (diagnostic("BubbleRank", BUBBLERANK, (5, 5), "event_broken")[:, -1] > 0).any()
    assert (diagnostic("BubbleRank", BUBBLERANK, (3, 6), "pairs")[:, -1] > 9).any()
    assert (diagnostic("TopRank", {"exponent": 0.0}, (5, 5), "known")[:, -1] > 5).any()
    for stages in PUBLIC_CODE:
        batches = diagnostic("BatchRank", {"stages": stages}, (5, 5), "batches")
        assert (batches[:, -1] > 2).any() and (np.diff(batches) > 1).any(), f"{stages}: no two splits at once"
        assert (diagnostic("BatchRank", {"stages": stages}, (3, 6), "items")[:, -1] < 6).any()
    assert (diagnostic("BatchRank", {"stages": "paper"}, (3, 6), "items")[:, -1] < 6).all()


@pytest.mark.parametrize("freeze", [False, True])
def test_bubblerank_shows_its_base_list_up_to_disjoint_exchanges_of_neighbours(freeze):
    model = models(6, 6)[2]
    key = replica_key("plain", 6, 7)
    parameters = BUBBLERANK | {"freeze": freeze}
    for row in play("BubbleRank", parameters, model, random_list(key, 0, 6, 6), key, HORIZON, STEPS, 3, 0.0):
        k = 0
        while k < 6:
            if row["ranking"][k] == row["base"][k]:
                k += 1
            else:
                assert row["ranking"][k : k + 2] == row["base"][k : k + 2][::-1]
                k += 2
