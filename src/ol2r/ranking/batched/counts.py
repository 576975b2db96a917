"""Counts of labelled document pairs in torch: pairs are found by linear search and padded to the longest replica."""

import torch

from ol2r.ranking.candidates import Candidates


class PairCounts:
    """See `compiled.PairCounts`."""

    def __init__(self, n_replicas: int, n_features: int, device: torch.device | str = "cpu"):
        self.n_pairs = torch.zeros(n_replicas, dtype=torch.int64, device=device)
        self.x = torch.zeros(n_replicas, 0, n_features, dtype=torch.float32, device=device)
        self.outcomes = torch.zeros(n_replicas, 0, 2, dtype=torch.float64, device=device)
        self._ids = torch.zeros(n_replicas, 0, 2, dtype=torch.int64, device=device)

    def add(
        self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """See `compiled.PairCounts.add`."""
        self._reserve(int(self.n_pairs.max()) + pairs.shape[1])
        present = pairs[..., 0] >= 0
        documents = torch.where(present[..., None], candidates.starts[:, None, None] + pairs, 0)
        won = (labels ^ (documents[..., 0] > documents[..., 1])) & present
        documents = documents.sort(dim=2).values
        rows = torch.full_like(pairs[..., 0], -1)
        for i in range(pairs.shape[1]):
            n = self._count(candidates, documents[:, i], won[:, i], present[:, i])
            rows[:, i] = torch.where(present[:, i], n, -1)
        return rows, won

    def _count(
        self, candidates: Candidates, documents: torch.Tensor, won: torch.Tensor, there: torch.Tensor
    ) -> torch.Tensor:
        everyone = torch.arange(len(documents), device=documents.device)
        ids = candidates.base + documents
        place = torch.arange(self._ids.shape[1], device=ids.device)
        known = (self._ids == ids[:, None]).all(dim=2) & (place < self.n_pairs[:, None])
        n = torch.where(known.any(dim=1), known.long().argmax(dim=1), self.n_pairs)
        new = candidates.features[documents[:, 0]] - candidates.features[documents[:, 1]]
        self._ids[everyone[there], n[there]] = ids[there]
        self.x[everyone[there], n[there]] = new[there]
        self.outcomes[everyone[there], n[there], (~won[there]).long()] += 1.0
        self.n_pairs += there & ~known.any(dim=1)
        return n

    def _reserve(self, wanted: int) -> None:
        capacity = self.x.shape[1]
        if wanted > capacity:
            more = max(wanted, capacity + capacity // 2, 64) - capacity
            for name in ("x", "_ids", "outcomes"):
                old = getattr(self, name)
                setattr(self, name, torch.cat([old, old.new_zeros(len(old), more, old.shape[2])], dim=1))
