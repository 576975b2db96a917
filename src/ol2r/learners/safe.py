"""SafePairRank, a learner of this book: PairRank's certain orders inside BubbleRank's safety constraint.

Lists start from the order in which candidates come, which is a production ranker's. Documents change places for good
only where PairRank is certain of their order, and for a try only with a neighbour: BubbleRank's exchanges.
"""

from collections.abc import Mapping
from typing import ClassVar

from jaxtyping import Int64
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.pairrank import LogisticLearner
from ol2r.parameters import Value
from ol2r.ranking import Candidates


class SafePairRank(LogisticLearner):
    """PairRank's estimate and intervals (Jia et al., 2021, Algorithm 1), BubbleRank's lists (Li et al., 2019,
    Algorithm 1) in place of shuffled blocks.

    Hyper-parameters are those of `LogisticLearner`; the width of the intervals is α, constant.

    While all certain orders are right, no list has more than ⌊k/2⌋ wrong pairs more than the order in which its
    candidates came, where k documents are shown (bubblerank-thm-features). That is so of every list by itself, so late
    clicks leave it true; of the intervals see `IntervalLearner`.
    """

    name = "SafePairRank"
    revision = 1
    launches = 900
    starts_from_order: ClassVar[bool] = True
    exact_diagnostics = ("distinct_pairs", "passes", "refits")

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """As PairRank's, but a sort by insertion looks at no more than half of the orders."""
        return cls.interval_terms(hyperparameters, shape, 0.5, rounds)

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        return self.ops.exchange_neighbours(
            candidates,
            self.theta,
            self.covariance.inverse,
            self.precise["alpha"],
            depth,
            self.streams,
            self.round,
        )
