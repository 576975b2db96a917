"""Counts of labelled document pairs in torch: pairs are found by linear search and padded to the longest replica."""

import torch

from ol2r.ranking.candidates import Candidates
from ol2r.ranking.constants import numbers

_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)


def enrol(
    ids: torch.Tensor, present: torch.Tensor, known: torch.Tensor, n_known: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the rows of some ids among those that are known, by linear search, and enter those that are not.

    Args:
        ids: Int64[R, n], in which an id may stand several times; present: Bool[R, n].
        known: ids by row, Int64[R, capacity], written to; n_known: Int64[R], how many rows are in use. There must be
            room for n more, and for one spare row at the end that stands for all that is absent.

    Returns:
        rows Int64[R, n], and which ids are new in the place where they stand first, Bool[R, n]; `n_known` must be
        raised by their number.
    """
    place = numbers(known.shape[1], ids.device)
    found, row = ((known[:, None] == ids[..., None]) & (place < n_known[:, None, None])).max(dim=2)
    order = numbers(ids.shape[1], ids.device)
    same = (ids[:, :, None] == ids[:, None]) & present[:, None]  # [id, another]
    first = torch.where(same, order, len(order)).amin(dim=2)  # where the same id stands first
    new = present & ~found & (first == order)
    row = torch.where(found, row, n_known[:, None] + (new.cumsum(dim=1) - 1).gather(1, first % len(order)))
    row = torch.where(present, row, known.shape[1] - 1)
    known.scatter_(1, row, ids)
    return row, new


def pair_ids(numbers: torch.Tensor) -> torch.Tensor:
    """One number for each pair of two, Int64[…] from Int64[…, 2].

    No two pairs of numbers below 2³¹ share one: multiples of the golden ratio's fraction of 2⁶⁴ that differ by a factor
    below 2³¹ lie more than 2³¹ apart. Of random numbers of 62 bits, it is random.
    """
    return numbers[..., 0] * _GOLDEN + numbers[..., 1]


class PairCounts:
    """See `compiled.PairCounts`; a pair has the document with the lower number first.

    On a device the room for pairs follows from how many there can be, so that nobody asks it how many there are.
    """

    def __init__(self, n_replicas: int, n_features: int, device: torch.device | str = "cpu"):
        self.n_pairs = torch.zeros(n_replicas, dtype=torch.int64, device=device)
        self.x = torch.zeros(n_replicas, 0, n_features, dtype=torch.float32, device=device)
        self.outcomes = torch.zeros(n_replicas, 0, 2, dtype=torch.float64, device=device)
        self._ids = torch.zeros(n_replicas, 0, dtype=torch.int64, device=device)

    @property
    def longest(self) -> int:
        """No fewer than the pairs of any replica; on the CPU as many as the longest has."""
        return int(self.n_pairs.max()) if self.n_pairs.device.type == "cpu" else self.x.shape[1]

    def add(
        self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor, most: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """See `compiled.PairCounts.add`."""
        if most is None or self.n_pairs.device.type == "cpu":
            most = int(self.n_pairs.max()) + pairs.shape[1]
        self._reserve(most)
        present = pairs[..., 0] >= 0
        if not pairs.shape[1]:
            return pairs[..., 0], present
        documents = torch.where(present[..., None], candidates.starts[:, None, None] + pairs, 0)
        named = candidates.number(documents)
        turned = named[..., 0] > named[..., 1]
        won = (labels ^ turned) & present
        if candidates.numbers is None:
            named = documents = documents.sort(dim=2).values
        else:
            named, documents = (torch.where(turned[..., None], each.flip(2), each) for each in (named, documents))
        ids = pair_ids(named)

        row, new = enrol(ids, present, self._ids, self.n_pairs)
        difference = candidates.features[documents[..., 0]] - candidates.features[documents[..., 1]]
        self.x.scatter_(1, row[..., None].expand_as(difference), difference)
        self.outcomes.flatten(1).scatter_add_(1, 2 * row + ~won, present.to(torch.float64))
        self.n_pairs += new.sum(dim=1)
        return torch.where(present, row, -1), won

    def room(self, wanted: int) -> int:
        """The capacity once there is room for so many pairs, and a spare place at the end that no pair has."""
        capacity = self.x.shape[1]
        return capacity if wanted + 1 <= capacity else max(wanted + 1, capacity + capacity // 2, 64)

    def _reserve(self, wanted: int) -> None:
        more = self.room(wanted) - self.x.shape[1]
        if more:
            for name in ("x", "_ids", "outcomes"):
                old = getattr(self, name)
                setattr(self, name, torch.cat([old, old.new_zeros(len(old), more, *old.shape[2:])], dim=1))
