"""The bounded memory of labels: what it keeps, and that its two bodies tell the same."""

from collections import Counter

import numpy as np
import pytest
import torch
from small import candidates_of, small_dataset

from ol2r.random import Streams, generator
from ol2r.ranking import engine

BODIES = ("numba", "torch")
QUERY = 17  # of 25 documents
N_PAIRS = 4


class Shown:
    """A memory that was shown random labels, round by round, and all labels in a list: (document, document, won)."""

    def __init__(self, name, room, kind, n_replicas=3, rounds=12, present=0.7):
        dataset = small_dataset()
        self.features = dataset.query(QUERY)[0]
        candidates = candidates_of(dataset, [QUERY] * n_replicas)
        self.memory = engine(name).LabelMemory(n_replicas, dataset.n_features, room, kind)
        self.streams = Streams(np.arange(n_replicas, dtype=np.uint64) + 7)
        self.labels, self.told, self.given, self.after = [[] for _ in range(n_replicas)], [], [], []
        rng = generator("labels for a memory", room)
        for round_ in range(1, rounds + 1):
            pairs = np.array([
                [rng.choice(len(self.features), 2, replace=False) for _ in range(N_PAIRS)] for _ in range(n_replicas)
            ])  # fmt: skip
            pairs[rng.random(pairs.shape[:2]) > present] = -1
            won = rng.random(pairs.shape[:2]) < 0.5
            self.told.append(
                self.memory.add(candidates, torch.from_numpy(pairs), torch.from_numpy(won), self.streams, round_)
            )
            for own, some, labels in zip(self.labels, pairs, won, strict=True):
                own += [(*pair, bool(label)) for pair, label in zip(some, labels, strict=True) if pair[0] >= 0]
            self.given.append([
                [(self.row(pair).tobytes(), bool(label)) for pair, label in zip(some, labels, strict=True)]
                for some, labels in zip(pairs, won, strict=True)
            ])  # fmt: skip
            self.after.append([
                Counter((x.tobytes(), bool(label)) for x, label in zip(*self.kept(r), strict=True))
                for r in range(n_replicas)
            ])  # fmt: skip

    def kept(self, r):
        """Rows of features and labels that the memory keeps, in the order of their places."""
        n = int(self.memory.n_pairs[r])
        return self.memory.x[r, :n].numpy(), self.memory.outcomes[r, :n, 0].numpy()

    def row(self, label):
        return self.features[label[0]] - self.features[label[1]]


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("room", [1, 3, 10, 1000])
def test_a_window_keeps_the_last_labels(name, room):
    shown = Shown(name, room, "window")
    for r, labels in enumerate(shown.labels):
        assert int(shown.memory.n_seen[r]) == len(labels)
        last = labels[-room:]
        first = len(labels) - len(last)
        x, won = shown.kept(r)
        assert len(x) == len(last)
        for nth, label in enumerate(last, start=first):
            np.testing.assert_array_equal(x[nth % room], shown.row(label))
            assert won[nth % room] == label[2]


@pytest.mark.parametrize("kind", ["window", "reservoir"])
@pytest.mark.parametrize("room", [1, 2, 5, 20])
def test_both_bodies_keep_and_tell_the_same(kind, room):
    one, other = (Shown(name, room, kind) for name in BODIES)
    for mine, theirs in zip(one.told, other.told, strict=True):
        for field in ("rows", "won", "left"):
            assert torch.equal(getattr(mine, field), getattr(theirs, field)), field
        for field in ("left_x", "left_won"):
            assert torch.equal(getattr(mine, field)[mine.left], getattr(theirs, field)[mine.left]), field
    for r in range(3):
        for mine, theirs in zip(one.kept(r), other.kept(r), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("kind", ["window", "reservoir"])
@pytest.mark.parametrize("room", [1, 2, 7])
def test_what_it_tells_of_comings_and_goings_adds_up_to_what_it_keeps(name, kind, room):
    """Also where a round has more labels than there is room for."""
    shown = Shown(name, room, kind)
    for r in range(3):
        kept, n_left = Counter(), 0
        for told, given, now in zip(shown.told, shown.given, shown.after, strict=True):
            left = Counter(
                (told.left_x[r, i].numpy().tobytes(), bool(told.left_won[r, i])) for i in torch.where(told.left[r])[0]
            )
            came = Counter(given[r][i] for i in torch.where(told.rows[r] >= 0)[0])
            assert left <= kept
            kept, n_left = kept - left + came, n_left + left.total()
            assert kept == now[r]
        assert n_left > 0


@pytest.mark.parametrize("name", BODIES)
def test_a_reservoir_keeps_every_label_equally_often(name):
    n, room = 4000, 3
    shown = Shown(name, room, "reservoir", n_replicas=n, rounds=3, present=1.0)
    seen = 3 * N_PAIRS
    kept = np.zeros(seen)
    for r, labels in enumerate(shown.labels):
        rows = {shown.row(label).tobytes(): nth for nth, label in enumerate(labels)}
        for x in shown.kept(r)[0]:
            kept[rows[x.tobytes()]] += 1
    share = room / seen
    assert kept.sum() >= 0.99 * n * room  # a few labels of one pair cannot be told apart
    assert np.abs(kept / n - share).max() < 5 * np.sqrt(share * (1 - share) / n)
