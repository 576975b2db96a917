"""Counts of labelled document pairs, compiled: each distinct pair is kept once, with the counts of its labels."""

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel, part
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.compiled.scalars import arrays

_SPACIOUS = 2  # least number of slots of a table for each pair


@part
def _slot(table, ids, one, other):
    """The slot of the table in which the pair is, in either order, or would be stored (open addressing)."""
    mask = table.shape[0] - 1
    low, high = min(one, other), max(one, other)
    slot = (low * 0x9E3779B1 + high * 0x85EBCA77) & mask
    while table[slot] >= 0:
        a, b = ids[table[slot], 0], ids[table[slot], 1]
        if min(a, b) == low and max(a, b) == high:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def _fill(table, ids, count):
    for r in range(table.shape[0]):
        for n in range(count[r]):
            table[r, _slot(table[r], ids[r], ids[r, n, 0], ids[r, n, 1])] = n


@kernel
def _add(features, offsets, query, numbers, pairs, labels, x, ids, outcomes, table, count, rows, won):
    for r in prange(pairs.shape[0]):
        first = offsets[query[r]]
        for i in range(pairs.shape[1]):
            rows[r, i], won[r, i] = -1, False
            if pairs[r, i, 0] < 0:
                continue
            a, b = first + pairs[r, i, 0], first + pairs[r, i, 1]
            low, high, low_won = (a, b, labels[r, i]) if a < b else (b, a, not labels[r, i])
            one, other = (numbers[low], numbers[high]) if numbers.shape[0] > 0 else (low, high)
            slot = _slot(table[r], ids[r], one, other)
            n = table[r, slot]
            if n < 0:
                n = count[r]
                count[r] += 1
                table[r, slot] = n
                ids[r, n, 0], ids[r, n, 1] = one, other
                for f in range(x.shape[2]):
                    x[r, n, f] = features[low, f] - features[high, f]
                outcomes[r, n, 0], outcomes[r, n, 1] = 0.0, 0.0
            first_won = low_won if ids[r, n, 0] == one else not low_won
            outcomes[r, n, 0 if first_won else 1] += 1.0
            rows[r, i], won[r, i] = n, first_won


class PairCounts:
    """Counts how often each document of each pair was preferred: all that a loss over labelled pairs needs.

    A pair is kept once, in whichever order it was given: as its query had them when it was first counted.

    Args:
        n_replicas: R.
        n_features: d.
        device: "cpu".

    Attributes:
        n_pairs: distinct pairs, Int64[R].
        x: their features, first document less second, Float32[R, capacity, d].
        outcomes: labels for the first and for the second document, Float64[R, capacity, 2].
    """

    def __init__(self, n_replicas: int, n_features: int, device: torch.device | str = "cpu"):
        self.n_pairs = torch.zeros(n_replicas, dtype=torch.int64)
        self.x = torch.empty(n_replicas, 0, n_features, dtype=torch.float32)
        self.outcomes = torch.empty(n_replicas, 0, 2, dtype=torch.float64)
        self._ids = torch.empty(n_replicas, 0, 2, dtype=torch.int64)
        self._table = np.full((n_replicas, 2), -1, dtype=np.int32)

    def add(
        self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor, most: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Count the labels of some pairs.

        Args:
            pairs: Int64[R, P, 2], positions in the query's own list, padded with −1.
            labels: Bool[R, P], whether the first document is preferred.
            most: what the pairs of a replica are at most after this call, if the caller knows; a device is then not
                asked.

        Returns:
            Rows of the pairs in `x` and `outcomes`, Int64[R, P], −1 where there is no pair; and whether the document
            that comes first in `x` and `outcomes` is preferred, Bool[R, P].
        """
        self._reserve(int(self.n_pairs.max()) + pairs.shape[1])
        rows, won = np.empty(pairs.shape[:2], dtype=np.int64), np.empty(pairs.shape[:2], dtype=np.bool_)
        _add(
            *arrays(candidates),
            np.empty(0, dtype=np.int64) if candidates.numbers is None else candidates.numbers.numpy(),
            pairs.numpy(),
            labels.numpy(),
            self.x.numpy(),
            self._ids.numpy(),
            self.outcomes.numpy(),
            self._table,
            self.n_pairs.numpy(),
            rows,
            won,
        )
        return torch.from_numpy(rows), torch.from_numpy(won)

    def _reserve(self, wanted: int) -> None:
        capacity = self.x.shape[1]
        if wanted <= capacity:
            return
        larger = max(wanted, capacity + capacity // 2, 64)
        for name in ("x", "_ids", "outcomes"):
            old = getattr(self, name)
            new = old.new_zeros(len(old), larger, old.shape[2])
            new[:, :capacity] = old
            setattr(self, name, new)
        slots = 1 << (_SPACIOUS * larger - 1).bit_length()
        if slots > self._table.shape[1]:
            self._table = np.full((len(self._table), slots), -1, dtype=np.int32)
            _fill(self._table, self._ids.numpy(), self.n_pairs.numpy())
