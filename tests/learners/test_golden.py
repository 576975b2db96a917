"""A digest of each learner's first rounds: a change that alters a trajectory fails here until `revision` is raised.

After raising it, store the new digest with `python tests/learners/test_golden.py`, which never overwrites one.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from small import play, replicas_of, small_dataset

from ol2r.learners import LEARNERS

GOLDEN = Path(__file__).with_name("golden.json")
ALSO = {"PairRank": {"loss": "mean"}, "PairRank-Lemma2": {"loss": "mean"}, "epsilon-greedy": {"exploit": "worst"}}
"""Learners that are published with a second word of a hyper-parameter."""


def digest(name: str, **changed: str) -> str:
    """Of the lists and clicks of thirty rounds: integers, which the last bit of a float does not touch."""
    tape = play(name, small_dataset(), replicas_of("navigational", "informational"), 30, **changed)
    numbers = np.concatenate([tape.rankings.ravel(), tape.clicks.ravel()]).astype("<i8")
    return hashlib.sha256(numbers.tobytes()).hexdigest()[:16]


def digests() -> dict[str, str]:
    """Of every learner that repeats bit for bit, by its name, revision and what is changed."""
    return {_called(name, changed): digest(name, **changed) for name, changed in PLAYED}


EXACT = sorted(name for name, learner in LEARNERS.items() if learner.repeats == "bits")
PLAYED = [*((name, {}) for name in EXACT), *ALSO.items()]


def _called(name, changed):
    return " ".join([f"{name} {LEARNERS[name].revision}", *(f"{key}={word}" for key, word in changed.items())])


@pytest.mark.parametrize(("name", "changed"), PLAYED)
def test_a_trajectory_stays_what_it_was_at_this_revision(name, changed):
    revision = _called(name, changed)
    golden = json.loads(GOLDEN.read_text())
    assert revision in golden, f"no digest of {revision}: run `python {GOLDEN.with_name('test_golden.py').name}`"
    stale = f"{name} behaves otherwise: raise its revision, stored results are stale"
    assert digest(name, **changed) == golden[revision], stale


if __name__ == "__main__":
    stored = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    new = [(name, changed) for name, changed in PLAYED if _called(name, changed) not in stored]
    stored |= {_called(name, changed): digest(name, **changed) for name, changed in new}
    GOLDEN.write_text(json.dumps(dict(sorted(stored.items())), indent=2) + "\n")
