"""What a network is fitted to: labelled pairs, each kept once with counts, and the documents they are made of.

Counting has two bodies: in torch, and compiled for the CPU.
"""

import numpy as np
import torch
from numba import njit

from ol2r.ranking import Candidates
from ol2r.ranking.batched.counts import enrol

_FIRST_ROOM = 64


class History:
    """Counts how often each document of each pair was preferred, with every document stored once.

    On a device the room follows from how many pairs there can be, so that nobody asks it how many there are. On the CPU
    `documents` and `pairs` are cut to those of the replica with the most.

    Args:
        n_replicas: R.
        n_inputs: of the network's first layer.

    Attributes:
        n_documents, n_pairs: distinct ones, Int64[R].
        n_labels: labels of all pairs together, Float64[R].
    """

    def __init__(self, n_replicas: int, n_inputs: int, device: torch.device | str = "cpu"):
        self.n_documents, self.n_pairs = (torch.zeros(n_replicas, dtype=torch.int64, device=device) for _ in range(2))
        self.n_labels = torch.zeros(n_replicas, dtype=torch.float64, device=device)
        self._x = torch.zeros(n_replicas, 0, n_inputs, device=device)
        self._documents, self._ids = (torch.zeros(n_replicas, 0, dtype=torch.int64, device=device) for _ in range(2))
        self._pairs = torch.zeros(n_replicas, 0, 2, dtype=torch.int64, device=device)
        self._outcomes = torch.zeros(n_replicas, 0, 2, device=device)
        self._highest = np.zeros((), dtype=np.int64)  # number above those of all documents that were ever candidates

    @property
    def documents(self) -> torch.Tensor:
        """Inputs of the documents, Float32[R, D, inputs]; zeros, or whatever, beyond a replica's own."""
        return self._cut(self._x, self.n_documents)

    @property
    def pairs(self) -> torch.Tensor:
        """Rows of both documents in `documents`, Int64[R, N, 2]; of a pair that is none, any rows."""
        return self._cut(self._pairs, self.n_pairs)

    @property
    def outcomes(self) -> torch.Tensor:
        """How often the first document was preferred, and how often the second, Float32[R, N, 2]; 0 without a pair."""
        return self._cut(self._outcomes, self.n_pairs)

    @staticmethod
    def _cut(kept: torch.Tensor, used: torch.Tensor) -> torch.Tensor:
        """Without the room that no replica uses; on a device without the spare row, as far as that is never used."""
        if used.device.type == "cpu":
            return kept[:, : int(used.max())]
        return kept[:, : max(kept.shape[1] - 1, 0)]

    def add(
        self,
        candidates: Candidates,
        inputs: torch.Tensor,
        pairs: torch.Tensor,
        labels: torch.Tensor,
        most: int | None = None,
    ) -> torch.Tensor:
        """Count the labels of some pairs.

        Args:
            inputs: of the candidates' documents (`Network.inputs`), Float32[R, V, inputs].
            pairs: Int64[R, P, 2], positions in the query's own list, padded with −1.
            labels: Bool[R, P], whether the first document is preferred.
            most: what the pairs of a replica are at most after this call, if the caller knows; a device is then not
                asked.

        Returns:
            Bool[R], for which replicas there was a pair.
        """
        present = pairs[..., 0] >= 0
        n, here = pairs.shape[1], present.device.type == "cpu"
        if not n or (here and not bool(present.any())):
            return present.any(dim=1)
        if most is None or here:
            most = int(self.n_pairs.max()) + n
        self._highest = np.maximum(self._highest, candidates.base + len(candidates.features))
        self._reserve(most, min(2 * most, int(self._highest) + 2 * n))
        if here:
            documents = candidates.starts + candidates.base, inputs.contiguous(), self._documents, self._x
            counted = self._ids, self._pairs, self._outcomes, self.n_documents, self.n_pairs, self.n_labels
            _count_each(*(each.numpy() for each in (pairs, labels, *documents, *counted)))
        else:
            self._count(candidates, inputs, pairs, labels, present)
        return present.any(dim=1)

    def _count(
        self,
        candidates: Candidates,
        inputs: torch.Tensor,
        pairs: torch.Tensor,
        labels: torch.Tensor,
        present: torch.Tensor,
    ) -> None:
        """Count the labels of pairs for which there is room; on the CPU it is compiled (`_count_each`)."""
        numbers = torch.where(present[..., None], candidates.base + candidates.starts[:, None, None] + pairs, 0)
        turned = numbers[..., 0] > numbers[..., 1]
        won = (labels ^ turned) & present
        positions = pairs.clamp_min(0).flatten(1)

        both = present[..., None].expand_as(pairs).flatten(1)
        rows, new = enrol(numbers.flatten(1), both, self._documents, self.n_documents)
        x = inputs.gather(1, positions[..., None].expand(-1, -1, inputs.shape[2]))
        self._x.scatter_(1, rows[..., None].expand_as(x), x)
        self.n_documents += new.sum(dim=1)

        rows = rows.view_as(pairs)
        rows = torch.where(turned[..., None], rows.flip(2), rows)  # the document with the lower number first
        rows = torch.where(present[..., None], rows, 0)
        numbers = numbers.sort(dim=2).values
        row, new = enrol((numbers[..., 0] << 32) + numbers[..., 1], present, self._ids, self.n_pairs)
        self._pairs.scatter_(1, row[..., None].expand_as(rows), rows)
        self._outcomes.flatten(1).scatter_add_(1, 2 * row + ~won, present.to(self._outcomes.dtype))
        self.n_pairs += new.sum(dim=1)
        self.n_labels += present.sum(dim=1)

    def _reserve(self, n_pairs: int, n_documents: int) -> None:
        """Room for so many pairs and documents, and a spare row at the end that no pair or document has."""
        for wanted, names in ((n_pairs, ("_ids", "_pairs", "_outcomes")), (n_documents, ("_documents", "_x"))):
            capacity = getattr(self, names[0]).shape[1]
            if wanted + 1 > capacity:
                more = max(wanted + 1, capacity + capacity // 2, _FIRST_ROOM) - capacity
                for name in names:
                    old = getattr(self, name)
                    setattr(self, name, torch.cat([old, old.new_zeros(len(old), more, *old.shape[2:])], dim=1))


@njit
def _row(id_, known, n_known):
    """The row in which the id is, or would be entered."""
    for row in range(n_known):
        if known[row] == id_:
            return row
    return n_known


@njit(cache=True)
def _count_each(pairs, labels, starts, inputs, documents, x, ids, rows, outcomes, n_documents, n_pairs, n_labels):
    both = np.empty(2, dtype=np.int64)
    for r in range(pairs.shape[0]):
        for i in range(pairs.shape[1]):
            if pairs[r, i, 0] < 0:
                continue
            for side in range(2):
                number = starts[r] + pairs[r, i, side]
                both[side] = _row(number, documents[r], n_documents[r])
                if both[side] == n_documents[r]:
                    documents[r, both[side]] = number
                    x[r, both[side]] = inputs[r, pairs[r, i, side]]
                    n_documents[r] += 1
            first = 0 if pairs[r, i, 0] <= pairs[r, i, 1] else 1  # the document with the lower number
            low, high = starts[r] + pairs[r, i, first], starts[r] + pairs[r, i, 1 - first]
            id_ = (low << 32) + high
            row = _row(id_, ids[r], n_pairs[r])
            if row == n_pairs[r]:
                ids[r, row] = id_
                rows[r, row, 0], rows[r, row, 1] = both[first], both[1 - first]
                n_pairs[r] += 1
            outcomes[r, row, 0 if labels[r, i] == (first == 0) else 1] += 1
            n_labels[r] += 1
