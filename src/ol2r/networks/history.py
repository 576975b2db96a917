"""What a network is fitted to: labelled pairs, each kept once with counts, and the documents they are made of.

Counting has two bodies: in torch, and compiled for the CPU.
"""

import copy
from typing import ClassVar, Self

import numpy as np
import torch

from ol2r.compiling import kernel, part
from ol2r.ranking import Candidates
from ol2r.ranking.batched.counts import enrol, pair_ids
from ol2r.ranking.compiled.scalars import put

_FIRST_ROOM = 64
_MOST_NUMBERS = 1 << 62  # of documents that have numbers of their own


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
        follows_ranking: whether what labels count for depends on how the network ranks now (`ListedHistory`).
    """

    follows_ranking: ClassVar = False
    _rooms: ClassVar[tuple[tuple[str, ...], ...]] = (("_ids", "_pairs", "_outcomes"), ("_documents", "_x"))

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
        """How often the first document was preferred, and how often the second, Float32[R, N, 2]; 0 without a pair. Of
        labels that were given weights, the sum of these."""
        return self._cut(self._outcomes, self.n_pairs)

    def outcomes_at(self, scores: torch.Tensor) -> torch.Tensor:
        """`outcomes` by how these scores rank the documents, which changes nothing here."""
        return self.outcomes

    def labels(self, replica: int) -> torch.Tensor:
        """Every label of a replica, Int64[labels]: the place among the flattened `outcomes` that counts it. Only where
        no label was given a weight."""
        counts = self._outcomes[replica, : int(self.n_pairs[replica])].flatten().to(torch.int64)
        return torch.arange(len(counts), device=counts.device).repeat_interleave(counts)

    def part(self, replica: int, labels: torch.Tensor) -> Self:
        """The history of one replica in which only some of its labels count, to look at: nothing may be added.

        Args:
            labels: some entries of `labels`, Int64[n].
        """
        part = copy.copy(self)
        for name, kept in vars(self).items():
            if isinstance(kept, torch.Tensor):
                setattr(part, name, kept[replica : replica + 1])
        part.n_labels = torch.full_like(part.n_labels, len(labels))
        counts = labels.bincount(minlength=part._outcomes.numel())
        part._outcomes = counts.to(part._outcomes.dtype).view_as(part._outcomes)
        return part

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
        weights: torch.Tensor | None = None,
        most: int | None = None,
    ) -> torch.Tensor:
        """Count the labels of some pairs.

        Args:
            inputs: of the candidates' documents (`Network.inputs`), Float32[R, V, inputs].
            pairs: Int64[R, P, 2], positions in the query's own list, padded with −1.
            labels: Bool[R, P], whether the first document is preferred.
            weights: Float32[R, P], as how many labels each of these counts in `outcomes`; None for 1.
            most: what the pairs of a replica are at most after this call, if the caller knows; a device is then not
                asked.

        Returns:
            Bool[R], for which replicas there was a pair.
        """
        present = pairs[..., 0] >= 0
        n, here = pairs.shape[1], present.device.type == "cpu"
        if n and not (here and not bool(present.any())):
            self._make_room(candidates, n, most)
            self._count(candidates, inputs, pairs, labels, weights)
        return present.any(dim=1)

    def _make_room(self, candidates: Candidates, n: int, most: int | None) -> None:
        """Make room for n pairs of a round; `most` as of `add`."""
        if most is None or self.n_pairs.device.type == "cpu":
            most = int(self.n_pairs.max()) + n
        above = len(candidates.features) if candidates.numbers is None else _MOST_NUMBERS
        self._highest = np.asarray(np.maximum(self._highest, above))
        self._reserve(self.room(most, n))

    def _count(
        self,
        candidates: Candidates,
        inputs: torch.Tensor,
        pairs: torch.Tensor,
        labels: torch.Tensor,
        weights: torch.Tensor | None,
    ) -> torch.Tensor:
        """Count the labels of pairs for which there is room.

        Returns:
            Where each was counted among the outcomes of its replica, one pair after another: Int64[R, P]; −1 for none.
        """
        present = pairs[..., 0] >= 0
        if present.device.type == "cpu":
            if weights is None:
                weights = torch.ones(labels.shape)
            at = torch.full(labels.shape, -1)
            documents = *_named(candidates), inputs.contiguous(), self._documents, self._x
            counted = self._ids, self._pairs, self._outcomes, self.n_documents, self.n_pairs, self.n_labels
            _count_each(*(each.numpy() for each in (pairs, labels, weights, *documents, *counted, at)))
            return at
        documents = torch.where(present[..., None], candidates.starts[:, None, None] + pairs, 0)
        numbers = candidates.number(documents)
        turned = numbers[..., 0] > numbers[..., 1]
        won = (labels ^ turned) & present
        rows = self._enrol(candidates, inputs, pairs.flatten(1)).view_as(pairs)
        rows = torch.where(turned[..., None], rows.flip(2), rows)  # the document with the lower number first
        rows = torch.where(present[..., None], rows, 0)
        numbers = numbers.sort(dim=2).values
        row, new = enrol(pair_ids(numbers), present, self._ids, self.n_pairs)
        self._pairs.scatter_(1, row[..., None].expand_as(rows), rows)
        counted = present if weights is None else present * weights
        at = 2 * row + ~won
        self._outcomes.flatten(1).scatter_add_(1, at, counted.to(self._outcomes.dtype))
        self.n_pairs += new.sum(dim=1)
        self.n_labels += present.sum(dim=1)
        return torch.where(present, at, -1)

    def _enrol(self, candidates: Candidates, inputs: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The rows of some candidates in `documents`, which new ones enter; there must be room for them.

        Args:
            positions: Int64[R, n] in the query's own list; a negative one is none.

        Returns:
            Int64[R, n]; any row for none.
        """
        if positions.device.type == "cpu":
            rows = torch.zeros_like(positions)
            told = *_named(candidates), inputs.contiguous(), self._documents, self._x, self.n_documents
            _enrol_each(*(each.numpy() for each in (positions, *told, rows)))
            return rows
        present, positions = positions >= 0, positions.clamp_min(0)
        numbers = candidates.number(torch.where(present, candidates.starts[:, None] + positions, 0))
        rows, new = enrol(numbers, present, self._documents, self.n_documents)
        x = inputs.gather(1, positions[..., None].expand(-1, -1, inputs.shape[2]))
        self._x.scatter_(1, rows[..., None].expand_as(x), x)
        self.n_documents += new.sum(dim=1)
        return rows

    def room(self, most: int, n: int) -> tuple[int, ...]:
        """For how many pairs and documents there is room once n pairs are added of a round; it grows in steps.

        Args:
            most: what the pairs of a replica are at most then.
        """
        documents = min(2 * most, int(self._highest) + 2 * n)
        # one row more stands for whatever is absent
        return grown(self._ids.shape[1], most + 1), grown(self._documents.shape[1], documents + 1)

    def _reserve(self, room: tuple[int, ...]) -> None:
        for capacity, names in zip(room, self._rooms, strict=True):
            for name in names:
                old = getattr(self, name)
                if capacity > old.shape[1]:
                    more = old.new_zeros(len(old), capacity - old.shape[1], *old.shape[2:])
                    setattr(self, name, torch.cat([old, more], dim=1))


def _named(candidates: Candidates) -> tuple[torch.Tensor, torch.Tensor]:
    """The first document of each replica's query, Int64[R], and the numbers of documents, none where they are rows."""
    numbers = candidates.numbers
    return candidates.starts, candidates.starts.new_empty(0) if numbers is None else numbers


def grown(capacity: int, wanted: int) -> int:
    return capacity if wanted <= capacity else max(wanted, capacity + capacity // 2, _FIRST_ROOM)


@part
def _row(id_, known, n_known):
    """The row in which the id is, or would be entered."""
    for row in range(n_known):
        if known[row] == id_:
            return row
    return n_known


@part
def _enter(position, start, numbers, inputs, documents, x, n_documents, r):
    """The row of a replica's document, which it enters if it is new."""
    number = numbers[start + position] if numbers.shape[0] > 0 else start + position
    row = _row(number, documents[r], n_documents[r])
    if row == n_documents[r]:
        documents[r, row] = number
        put(x[r, row], inputs[r, position])
        n_documents[r] += 1
    return row


@kernel
def _enrol_each(positions, starts, numbers, inputs, documents, x, n_documents, rows):
    for r in range(positions.shape[0]):
        for i in range(positions.shape[1]):
            if positions[r, i] >= 0:
                rows[r, i] = _enter(positions[r, i], starts[r], numbers, inputs, documents, x, n_documents, r)


@kernel
def _count_each(
    pairs, labels, weights, starts, numbers, inputs, documents, x, ids, rows, outcomes, n_documents, n_pairs, n_labels,
    at,
):  # fmt: skip
    both = np.empty(2, dtype=np.int64)
    for r in range(pairs.shape[0]):
        for i in range(pairs.shape[1]):
            if pairs[r, i, 0] < 0:
                continue
            for side in range(2):
                both[side] = _enter(pairs[r, i, side], starts[r], numbers, inputs, documents, x, n_documents, r)
            id_ = (min(both[0], both[1]) << 32) + max(both[0], both[1])
            row = _row(id_, ids[r], n_pairs[r])
            if row == n_pairs[r]:
                first = 0 if pairs[r, i, 0] <= pairs[r, i, 1] else 1  # the document that comes first in its query
                ids[r, row] = id_
                rows[r, row, 0], rows[r, row, 1] = both[first], both[1 - first]
                n_pairs[r] += 1
            side = 0 if rows[r, row, 0] == both[0 if labels[r, i] else 1] else 1
            outcomes[r, row, side] += weights[r, i]
            at[r, i] = 2 * row + side
            n_labels[r] += 1
