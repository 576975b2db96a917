"""A bounded memory of labelled document pairs in torch, one label after another."""

import torch

from ol2r.random import Stream, Streams
from ol2r.ranking.candidates import Candidates
from ol2r.ranking.constants import numbers
from ol2r.ranking.memory import Exchange


class LabelMemory:
    """See `compiled.LabelMemory`; the last row of `x` and of `outcomes` is a spare one that stands for no label."""

    def __init__(
        self, n_replicas: int, n_features: int, room: int, kind: str, device: torch.device | str = "cpu"
    ):
        n = n_replicas
        self._sampled = kind == "reservoir"
        self.n_pairs, self.n_seen = (torch.zeros(n, dtype=torch.int64, device=device) for _ in range(2))
        self.x = torch.zeros(n, room + 1, n_features, dtype=torch.float32, device=device)
        self.outcomes = torch.zeros(n, room + 1, 2, dtype=torch.float64, device=device)

    @property
    def longest(self) -> int:
        """No fewer than the labels that any replica keeps; on the CPU as many as the longest has."""
        return int(self.n_pairs.max()) if self.x.device.type == "cpu" else self.x.shape[1] - 1

    def add(
        self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor, streams: Streams, round_: int
    ) -> Exchange:
        """See `compiled.LabelMemory.add`."""
        room, most = self.x.shape[1] - 1, pairs.shape[1]
        replicas = numbers(len(pairs), pairs.device)
        present = pairs[..., 0] >= 0
        x = candidates.differences(pairs)
        outcomes = torch.stack([labels, ~labels], dim=2).to(torch.float64)
        rows, left = torch.full_like(pairs[..., 0], -1), torch.zeros_like(present)
        left_x, left_won = torch.zeros_like(x), torch.zeros_like(present)
        words = streams.words(Stream.MEMORY, round_, most) if self._sampled and most else None
        for i in range(most):
            full = self.n_seen >= room
            row = self.n_seen % room
            if words is not None:
                row = torch.where(full, words[:, i] * (self.n_seen + 1) >> 32, row)
            taken = present[:, i] & (row < room)
            row = torch.where(taken, row, room)
            here = (rows[:, :i] == row[:, None]) & taken[:, None]  # a label of this very call stands there
            rows[:, :i].masked_fill_(here, -1)
            left[:, i] = taken & full & ~here.any(dim=1)
            left_x[:, i] = self.x[replicas, row]
            left_won[:, i] = self.outcomes[replicas, row, 0] > 0
            self.x[replicas, row] = torch.where(taken[:, None], x[:, i], 0.0)
            self.outcomes[replicas, row] = torch.where(taken[:, None], outcomes[:, i], 0.0)
            rows[:, i] = torch.where(taken, row, -1)
            self.n_pairs += taken & ~full
            self.n_seen += present[:, i]
        return Exchange(rows, labels, left, left_x, left_won)
