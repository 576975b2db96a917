"""A bounded memory of labelled document pairs, compiled: the last labels, or a sample of all."""

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel
from ol2r.random import Stream, Streams, integer_below
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.scalars import arrays, put
from ol2r.ranking.memory import Exchange


@kernel
def _exchange(
    features, offsets, query, pairs, labels, keys, round_, sampled, x, outcomes, n_pairs, n_seen,
    rows, left, left_x, left_won,
):  # fmt: skip
    room = x.shape[1]
    for r in prange(pairs.shape[0]):
        first = offsets[query[r]]
        for i in range(pairs.shape[1]):
            if pairs[r, i, 0] < 0:
                continue
            seen = n_seen[r]
            n_seen[r] += 1
            row = seen % room
            if sampled and seen >= room:
                row = integer_below(keys[r], Stream.MEMORY, round_, i, seen + 1)
                if row >= room:
                    continue
            if seen < room:
                n_pairs[r] += 1
            else:
                here = False  # whether a label of this very call stands there
                for j in range(i):
                    if rows[r, j] == row:
                        rows[r, j] = -1
                        here = True
                if not here:
                    left[r, i] = True
                    put(left_x[r, i], x[r, row])
                    left_won[r, i] = outcomes[r, row, 0] > 0.0
            a, b = features[first + pairs[r, i, 0]], features[first + pairs[r, i, 1]]
            for f in range(x.shape[2]):
                x[r, row, f] = a[f] - b[f]
            outcomes[r, row, 0] = 1.0 if labels[r, i] else 0.0
            outcomes[r, row, 1] = 0.0 if labels[r, i] else 1.0
            rows[r, i] = row


class LabelMemory:
    """Keeps so many labels with their pairs, and gives up one for each further label that it takes in.

    Args:
        n_replicas: R.
        n_features: d.
        room: how many labels are kept.
        kind: `"window"`, the last ones; or `"reservoir"`, as many of all labels so far, each set of them equally likely
            (Vitter, 1985, Algorithm R).
        device: "cpu".

    Attributes:
        n_pairs: how many labels are kept, Int64[R].
        n_seen: how many there were, Int64[R].
        x: features of the first document less those of the second, Float32[R, room, d].
        outcomes: a one for the preferred document and a zero for the other, Float64[R, room, 2].
    """

    def __init__(
        self, n_replicas: int, n_features: int, room: int, kind: str, device: torch.device | str = "cpu"
    ):
        self._sampled = kind == "reservoir"
        self.n_pairs, self.n_seen = (torch.zeros(n_replicas, dtype=torch.int64) for _ in range(2))
        self.x = torch.zeros(n_replicas, room, n_features, dtype=torch.float32)
        self.outcomes = torch.zeros(n_replicas, room, 2, dtype=torch.float64)

    def add(
        self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor, streams: Streams, round_: int
    ) -> Exchange:
        """Show the memory the labels of some pairs.

        A label that is taken in and given up again in the same call is told in neither way.

        Args:
            pairs: Int64[R, P, 2], positions in the query's own list, padded with −1.
            labels: Bool[R, P], whether the first document is preferred.
            streams, round_: of the random numbers of a reservoir.
        """
        rows = np.full(pairs.shape[:2], -1, dtype=np.int64)
        left = np.zeros(pairs.shape[:2], dtype=np.bool_)
        left_x = np.zeros((*pairs.shape[:2], self.x.shape[2]), dtype=np.float32)
        left_won = np.zeros_like(left)
        _exchange(
            *arrays(candidates), pairs.numpy(), labels.numpy(), streams.keys, round_, self._sampled,
            self.x.numpy(), self.outcomes.numpy(), self.n_pairs.numpy(), self.n_seen.numpy(),
            rows, left, left_x, left_won,
        )  # fmt: skip
        told = (torch.from_numpy(each) for each in (left, left_x, left_won))
        return Exchange(torch.from_numpy(rows), labels, *told)
