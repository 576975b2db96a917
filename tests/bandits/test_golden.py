"""A digest of each bandit's first steps: a change that alters a trajectory fails here until `revision` is raised.

After raising it, store the new digest with `python tests/bandits/test_golden.py`, which never overwrites one.
"""

import hashlib
import json
from pathlib import Path

import pytest

from ol2r.bandits import BANDITS, simulate_bandit
from ol2r.clicks import ItemClicks
from ol2r.random import replica_key

GOLDEN = Path(__file__).with_name("golden.json")
PARAMETERS = {
    "Baseline": {},
    "BatchRank": {"stages": "public code"},
    "BubbleRank": {"exponent": 0.1, "doubling_from": 0, "freeze": False, "parity": "algorithm"},
    "CascadeKL-UCB": {"budget": "log t + 3 log log t", "observed": "first click", "start": "top"},
    "TopRank": {"exponent": 0.5},
}
ATTRACTION, POSITION = (0.1, 0.7, 0.3, 0.9, 0.5, 0.2), (0.9, 0.6, 0.8, 0.5)
MODELS = [
    ItemClicks("cascade", ATTRACTION),
    ItemClicks("dependent", ATTRACTION, POSITION),
    ItemClicks("position", ATTRACTION, POSITION),
]


def digest(name: str) -> str:
    """Of the lists of a thousand steps in each click model: integers, which the last bit of a float does not touch."""
    keys = [replica_key("golden", 0, seed) for seed in range(3)]
    lists = [(0, 1, 2, 3)] * 3
    trace = simulate_bandit(name, PARAMETERS[name], MODELS, lists, keys, 1000, range(1, 1001), 3)
    return hashlib.sha256(trace.shown.astype("<i8").tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", sorted(BANDITS))
def test_a_trajectory_stays_what_it_was_at_this_revision(name):
    revision = f"{name} {BANDITS[name].revision}"
    golden = json.loads(GOLDEN.read_text())
    assert revision in golden, f"no digest of {revision}: run `python {Path(__file__).name}`"
    assert digest(name) == golden[revision], f"{name} behaves otherwise: raise its revision, stored results are stale"


if __name__ == "__main__":
    stored = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    now = {f"{name} {bandit.revision}": digest(name) for name, bandit in BANDITS.items()}
    GOLDEN.write_text(json.dumps(dict(sorted((now | stored).items())), indent=2) + "\n")
