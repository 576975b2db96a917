"""Interleaved comparisons: several rankers share one displayed list, and clicks on it give each ranker a credit.

A comparison remembers what it showed until the clicks come; it moves no weights.
"""

from types import ModuleType

import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from ol2r.random import Streams
from ol2r.ranking import Candidates


class TeamDraft:
    """Team-draft interleaving and multileaving (Radlinski et al., 2008; Schuth et al., 2014): a click is a point for
    the ranker that drafted the document.

    Args:
        prefix_credit: whether clicks on the prefix that all lists share count for the rankers that drafted it. The
            field's public code gives no credit there; the two papers' algorithms draft from the first slot on.
    """

    def __init__(self, ops: ModuleType, streams: Streams, prefix_credit: bool):
        self.ops, self.streams, self.prefix_credit = ops, streams, prefix_credit

    def interleave(
        self,
        candidates: Candidates,
        contenders: Float32[Tensor, "R M d"],
        depth: int,
        round_: int,
        first: Int64[Tensor, " R"],
    ) -> Int64[Tensor, "R {depth}"]:
        """The list to show: Int64[R, depth].

        Args:
            contenders: Float32[R, M, features], the rankers' weights.
            first: Int64[R], the ranker that drafts first in every turn, or −1.
        """
        ranking, self.team = self.ops.multileave(
            candidates, contenders, depth, first, self.prefix_credit, self.streams, round_
        )
        return ranking

    def draft(
        self, lists: Int64[Tensor, "R M depth"], round_: int, first: Int64[Tensor, " R"]
    ) -> Int64[Tensor, "R depth"]:
        """The list to show, from the lists of all rankers: Int64[R, depth]."""
        ranking, self.team = self.ops.team_draft(lists, first, self.prefix_credit, self.streams, round_)
        return ranking

    def credit(self, clicks: Bool[Tensor, "R k"], n_rankers: int) -> Float32[Tensor, "R {n_rankers}"]:
        """Clicks on each ranker's documents: Float32[R, M]."""
        return self.ops.credit(self.team, clicks, n_rankers)

    def winners(self, clicks: Bool[Tensor, "R k"], m: int) -> Bool[Tensor, "R {m}"]:
        """The candidates, rankers 1 … m, with the largest credit, or none if it does not exceed that of the current
        ranker, which is number 0: Bool[R, m]."""
        return self.ops.winners(self.team, clicks, m)


class ProbabilisticInterleaving:
    """Probabilistic interleaving of two rankers with credit marginalised over assignments (Hofmann et al., 2011): each
    ranker's share of a click is the probability that it contributed the document.

    Args:
        decay: τ of the softened rankings p(d) ∝ 1/position(d)^τ.
    """

    def __init__(self, ops: ModuleType, streams: Streams, decay: float):
        self.ops, self.streams, self.decay = ops, streams, decay

    def interleave(
        self, candidates: Candidates, contenders: Float32[Tensor, "R 2 d"], depth: int, round_: int
    ) -> Int64[Tensor, "R {depth}"]:
        """The list to show, Int64[R, depth]; keeps its slots' probabilities for later re-use."""
        ranking, self.share, self.probability = self.ops.probabilistic_interleave(
            candidates, contenders, depth, self.decay, self.streams, round_
        )
        return ranking

    def credit(self, clicks: Bool[Tensor, "R k"]) -> Float64[Tensor, "R 2"]:
        """Expected clicks on each ranker's contributions: Float64[R, 2]."""
        second = (clicks * self.share).sum(dim=1)
        return torch.stack([clicks.sum(dim=1) - second, second], dim=1)
