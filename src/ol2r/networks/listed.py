"""A history of lists, whose labels count for as much as the present ranking says: |ΔNDCG| of LambdaRank.

Weighing has two bodies: in torch, and compiled for the CPU.
"""

from typing import ClassVar, Self

import torch

from ol2r.compiling import kernel, part
from ol2r.networks.history import History, grown
from ol2r.ranking import Candidates
from ol2r.ranking.batched.pairs import examined
from ol2r.ranking.constants import discounts, discounts_on, ideal_on, numbers

DECIMALS = 6
"""Scores of a refit are of single precision, in which those of a symmetric θ₀ are 0 up to rounding."""


class ListedHistory(History):
    """A history that keeps the examined documents of every list beside the labels that the list gave.

    Such a label counts for |ΔNDCG| (Burges, 2010) of its two documents: by how much the NDCG of its list would change
    if they changed places, with clicks as grades and the examined documents in the order of the present scores. A label
    that came without a list counts as it does in `History`.

    Attributes:
        n_lists: lists that gave a label, Int64[R].
    """

    follows_ranking: ClassVar = True
    _rooms: ClassVar = (*History._rooms, ("_lists", "_slots", "_at", "_ideal"))

    def __init__(self, n_replicas: int, n_inputs: int, device: torch.device | str = "cpu"):
        super().__init__(n_replicas, n_inputs, device)
        self.n_lists = torch.zeros(n_replicas, dtype=torch.int64, device=device)
        none = self.n_lists[:, None, None].expand(-1, 0, 0)
        self._lists, self._at = none.clone(), none.clone()  # rows in `documents`; where labels count; −1 for none
        self._slots = none[..., None].expand(-1, 0, 0, 2).clone()  # of both documents of a label in their list
        self._ideal = torch.ones(n_replicas, 0, dtype=torch.float64, device=device)

    def add_list(
        self,
        candidates: Candidates,
        inputs: torch.Tensor,
        ranking: torch.Tensor,
        clicks: torch.Tensor,
        pairs: torch.Tensor,
        labels: torch.Tensor,
        most: int | None = None,
    ) -> torch.Tensor:
        """Count the labels that a list gave.

        Args:
            ranking: the list, Int64[R, k], positions padded with −1; clicks: Bool[R, k].
            candidates, inputs, pairs, labels, most: as of `add`; the documents of the pairs are examined ones.

        Returns:
            Bool[R], for which replicas there was a label.
        """
        k, n = ranking.shape[1], pairs.shape[1]
        there = (pairs[..., 0] >= 0).any(dim=1)
        if not n or (there.device.type == "cpu" and not bool(there.any())):
            return there
        if not self._lists.shape[2]:  # the first list says how long they are
            self._lists = self._lists.new_empty(len(there), 0, k)
            self._at, self._slots = self._at.new_empty(len(there), 0, n), self._slots.new_empty(len(there), 0, n, 2)
        self._make_room(candidates, n, most)
        documents = torch.where(examined(ranking, clicks) & there[:, None], ranking, -1)
        rows = torch.where(documents >= 0, self._enrol(candidates, inputs, documents), -1)
        at = self._count(candidates, inputs, pairs, labels, torch.zeros(labels.shape, device=labels.device))
        slots = (documents[:, None, None] == pairs[..., None]).view(torch.uint8).argmax(dim=3)
        ideal = ideal_on(k, labels.device)[(clicks & (documents >= 0)).sum(dim=1, keepdim=True)]
        # what a replica without a label writes here, the next list overwrites
        self._lists.scatter_(1, _in_row(self.n_lists, rows), rows[:, None])
        self._at.scatter_(1, _in_row(self.n_lists, at), at[:, None])
        self._slots.scatter_(1, _in_row(self.n_lists, slots), slots[:, None])
        self._ideal.scatter_(1, self.n_lists[:, None], ideal)
        self.n_lists += there
        return there

    def room(self, most: int, n: int) -> tuple[int, ...]:
        """As of `History`, and for how many lists."""
        pairs, _ = super().room(most, n)
        k = self._lists.shape[2]
        if self.n_lists.device.type == "cpu":
            lists, documents = int(self.n_lists.max()) + 1, int(self.n_documents.max()) + k + 2 * n
        else:
            lists = most // max(n, 1)
            documents = min(lists * k + 2 * n, int(self._highest) + k + 2 * n)
        return pairs, grown(self._documents.shape[1], documents + 1), grown(self._lists.shape[1], lists + 1)

    def labels(self, replica: int) -> torch.Tensor:
        """As of `History`; a label of a list is −1 minus its place among the flattened labels of all lists."""
        of_lists = (self._at[replica, : int(self.n_lists[replica])].flatten() >= 0).nonzero()[:, 0]
        return torch.cat([super().labels(replica), -1 - of_lists])

    def part(self, replica: int, labels: torch.Tensor) -> Self:
        """As of `History`."""
        part = super().part(replica, labels[labels >= 0])
        part.n_labels = torch.full_like(part.n_labels, len(labels))
        of_lists = -1 - labels[labels < 0]
        at = torch.full_like(part._at, -1)
        at.view(-1)[of_lists] = part._at.reshape(-1)[of_lists]
        part._at = at
        return part

    def outcomes_at(self, scores: torch.Tensor) -> torch.Tensor:
        """`outcomes` by how these scores rank the documents.

        Args:
            scores: of `documents`, Float[R, D]; those that are equal to `DECIMALS` keep the order in which they were
                shown.

        Returns:
            Float32[R, N, 2].
        """
        outcomes = self.outcomes.clone()
        if not self._lists.shape[1]:
            return outcomes
        scores = scores.round(decimals=DECIMALS)
        kept = self._lists, self._at, self._slots, self._ideal
        if scores.device.type == "cpu":
            told = [each.numpy() for each in (scores.contiguous(), *kept, self.n_lists)]
            told += [discounts(kept[0].shape[2]), outcomes.numpy()]
            _weigh_each(*told)
            return outcomes
        lists, at, slots, ideal = (self._cut(each, self.n_lists) for each in kept)
        there = lists >= 0
        place = numbers(lists.shape[2], lists.device)
        own = scores.gather(1, lists.clamp_min(0).flatten(1)).view(lists.shape)
        one, other = own[..., None], own[..., None, :]
        above = (other > one) | ((other == one) & (place < place[:, None]))  # [a document, another that is above it]
        rank = (above & there[..., None, :]).sum(dim=3)
        discount = discounts_on(lists.shape[2], lists.device)[rank]
        both = discount.gather(2, slots.flatten(2)).view(slots.shape)
        change = (both[..., 0] - both[..., 1]).abs() / ideal[..., None]
        counts = (at >= 0) & (numbers(lists.shape[1], lists.device) < self.n_lists[:, None])[..., None]
        change = torch.where(counts, change, 0.0).to(outcomes.dtype).flatten(1)
        outcomes.flatten(1).scatter_add_(1, at.clamp_min(0).flatten(1), change)
        return outcomes


def _in_row(row: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The index with which `scatter_` writes a value of every replica, [R, …], into a row of each."""
    return row.view(-1, *[1] * value.dim()).expand(-1, 1, *value.shape[1:])


@part
def _rank(slot, own, scores):
    """How many documents of a list the scores put above the one in a slot."""
    above, score = 0, scores[own[slot]]
    for i in range(own.shape[0]):
        if own[i] >= 0 and i != slot:
            other = scores[own[i]]
            if other > score or (other == score and i < slot):
                above += 1
    return above


@kernel
def _weigh_each(scores, lists, at, slots, ideal, n_lists, discounts, outcomes):
    for r in range(scores.shape[0]):
        for s in range(n_lists[r]):
            for i in range(at.shape[2]):
                place = at[r, s, i]
                if place >= 0:
                    one, other = (
                        discounts[_rank(slots[r, s, i, 0], lists[r, s], scores[r])],
                        discounts[_rank(slots[r, s, i, 1], lists[r, s], scores[r])],
                    )
                    outcomes[r, place // 2, place % 2] += abs(one - other) / ideal[r, s]
