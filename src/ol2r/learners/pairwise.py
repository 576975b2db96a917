"""The base classes of pairwise learners, which turn clicks into labelled pairs of documents."""

from abc import abstractmethod
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from ol2r.learners.base import Learner
from ol2r.parameters import Choice
from ol2r.ranking import Candidates


class PairwiseLearner(Learner):
    """A learner that turns the clicks of a round into labelled pairs, and learns from these alone.

    It supposes that the user examined all documents up to the last click and the one after it. Each pair has one
    clicked and one unclicked document of these. Hyper-parameter of all: `pairs` (`"matched"`: shuffles clicked and
    unclicked documents and pairs the i-th of each; `"adjacent"`: takes positions (1, 2), (3, 4), …; `"all"`: pairs
    every clicked with every unclicked document; `"matched-above"` and `"matched-shown"`: as `"matched"`, but supposes
    that the user stopped at the last click, or examined all that was shown). Except for `"all"`, no document is in two
    pairs of a round, so that the labels of pairs are independent given the lists.
    """

    structural: ClassVar = {"pairs": Choice("matched", "adjacent", "all", "matched-above", "matched-shown")}

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        self.observe(candidates, *self.pairs_from_clicks(ranking, clicks))
        self.round += 1

    def pairs_from_clicks(
        self, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]
    ) -> tuple[Int64[Tensor, "R P 2"], Bool[Tensor, "R P"]]:
        """Labelled pairs of this round.

        Returns:
            pairs Int64[R, P, 2], positions in the query's own list of the document shown above and the one shown below,
            padded with −1; labels Bool[R, P], whether the upper one was clicked (y of PairRank's Eq. 1).
        """
        return self.ops.pairs_from_clicks(ranking, clicks, self.choice["pairs"], self.streams, self.round)

    @abstractmethod
    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        """Learn from labelled pairs of these candidates, from any source, with any P and any padding with −1.

        Args:
            pairs: Int64[R, P, 2], positions in the query's own list.
            labels: Bool[R, P], whether the first document is preferred to the second.
        """


class CountingLearner(PairwiseLearner):
    """A pairwise learner that keeps every labelled pair, because it refits to all of them.

    Attributes:
        counts: every labelled pair with its labels.
    """

    def build(self) -> None:
        super().build()
        self.most_pairs = 0  # of a round; known from the first on
        self.counts: Any = self.ops.PairCounts(len(self.streams), self.n_features, self.device)

    def memories(self) -> dict[str, object]:
        return super().memories() | {"counts": self.counts}

    def counted(
        self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]
    ) -> tuple[Int64[Tensor, "R P"], Bool[Tensor, "R P"]]:
        """Count the labels of some pairs; what `PairCounts.add` returns of them."""
        self.most_pairs = pairs.shape[1]
        return self.counts.add(candidates, pairs, labels, most=self.round * self.most_pairs)

    def form(self) -> int:
        """The room for pairs after the next round, which grows in steps and sets the number of a refit's steps too."""
        return self.counts.room(self.round * self.most_pairs)

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """The number of distinct pairs so far."""
        return super().diagnostics() | {"distinct_pairs": self.counts.n_pairs}
