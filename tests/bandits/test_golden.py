"""A digest of each bandit's first steps: a change that alters a trajectory fails here until `revision` is raised.

After raising it, store the new digest with `python tests/bandits/test_golden.py`, which never overwrites one.
"""

import hashlib
import json
from pathlib import Path

import pytest

from ol2r.bandits import BANDITS, BatchRank, simulate_bandit
from ol2r.clicks import ItemClicks
from ol2r.random import replica_key

GOLDEN = Path(__file__).with_name("golden.json")
PARAMETERS = {
    "Baseline": {},
    "BubbleRank": {"exponent": 0.1, "doubling_from": 0, "freeze": False, "parity": "algorithm"},
    "CascadeKL-UCB": {"budget": "log t + 3 log log t", "observed": "first click", "start": "top"},
    "TopRank": {"exponent": 0.5},
} | {f"BatchRank, {stages}": {"stages": stages} for stages in BatchRank.parameters["stages"].known}
ATTRACTION, POSITION = (0.1, 0.7, 0.3, 0.9, 0.5, 0.2), (0.9, 0.6, 0.8, 0.5)
MODELS = [
    ItemClicks("cascade", ATTRACTION),
    ItemClicks("dependent", ATTRACTION, POSITION),
    ItemClicks("position", ATTRACTION, POSITION),
]


def entry(setting: str) -> str:
    """What a setting's digest is stored under: its bandit with its revision, and what else its name says."""
    bandit, comma, rest = setting.partition(",")
    return f"{bandit} {BANDITS[bandit].revision}{comma}{rest}"


def digest(setting: str) -> str:
    """Of the lists of its first steps in each click model: integers, which the last bit of a float does not touch."""
    name = setting.partition(",")[0]
    steps = 20_000 if name == "BatchRank" else 1000  # its stages are long
    keys = [replica_key("golden", 0, seed) for seed in range(3)]
    lists = [(0, 1, 2, 3)] * 3
    trace = simulate_bandit(name, PARAMETERS[setting], MODELS, lists, keys, steps, range(1, steps + 1), 3)
    return hashlib.sha256(trace.shown.astype("<i8").tobytes()).hexdigest()[:16]


def digests() -> dict[str, str]:
    """Of every setting, by what it is stored under."""
    return {entry(setting): digest(setting) for setting in PARAMETERS}


def test_every_bandit_has_a_digest():
    assert {setting.partition(",")[0] for setting in PARAMETERS} == set(BANDITS)


@pytest.mark.parametrize("setting", sorted(PARAMETERS))
def test_a_trajectory_stays_what_it_was_at_this_revision(setting):
    revision = entry(setting)
    golden = json.loads(GOLDEN.read_text())
    assert revision in golden, f"no digest of {revision}: run `python {Path(__file__).name}`"
    assert digest(setting) == golden[revision], f"{setting} behaves otherwise: raise the revision, results are stale"


if __name__ == "__main__":
    stored = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    GOLDEN.write_text(json.dumps(dict(sorted((digests() | stored).items())), indent=2) + "\n")
