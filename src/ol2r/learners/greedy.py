"""RankNet with one stochastic gradient step a round, without exploration or with ε-greedy exploration.

The pairwise baselines of PairRank's experiments: the same pairs from the same clicks, but neither a history nor a
notion of what is uncertain.
"""

import torch

from ol2r.learners.base import STEP, SteppingLearner
from ol2r.learners.pairwise import PairwiseLearner
from ol2r.parameters import Choice, Number
from ol2r.ranking import Candidates


class _RankNet(PairwiseLearner, SteppingLearner):
    """w ← w + α Σ (y − σ(w · x_ij)) x_ij over the round's pairs: one step on RankNet's loss from w = 0.

    Hyper-parameters of both: `alpha` (learning rate α), `decay` (α is multiplied by it after every round with a pair),
    `pairs` (see `PairwiseLearner`).
    """

    numeric = STEP

    def _sorted(self, candidates: Candidates, weights: torch.Tensor, depth: int) -> torch.Tensor:
        weights = weights[:, None]
        return self.ops.rank(candidates, weights, depth, self.streams, self.round)[:, 0]

    def observe(self, candidates: Candidates, pairs: torch.Tensor, labels: torch.Tensor) -> None:
        gradient = self.ops.pair_gradient(candidates, self.state["weights"], pairs, labels)
        proposed = self.state["weights"] + self.state["alpha"][:, None] * gradient
        self.step(proposed, (pairs[..., 0] >= 0).any(dim=1))


class SGDRankNet(_RankNet):
    """RankNet by stochastic gradient descent, which always shows what it thinks best."""

    name = "SGD RankNet"
    revision = 1

    def rank(self, candidates: Candidates, depth: int) -> torch.Tensor:
        return self._sorted(candidates, self.state["weights"], depth)


class EpsilonGreedy(_RankNet):
    """RankNet with ε-greedy exploration (Hofmann et al., 2013): each slot shows, with probability ε, a random document
    of those not yet ranked, and otherwise the best of them.

    Further hyper-parameters: `epsilon` (ε), `exploit` (`"best"`, or `"worst"`: the fault of the field's public code,
    which sorts by score in ascending order and so shows the worst document where it means to show the best).
    """

    name = "epsilon-greedy"
    revision = 1
    numeric = STEP | {"epsilon": Number(least=0, most=1)}
    structural = PairwiseLearner.structural | {"exploit": Choice("best", "worst")}

    def rank(self, candidates: Candidates, depth: int) -> torch.Tensor:
        weights = self.state["weights"]
        exploited = self._sorted(candidates, -weights if self.choice["exploit"] == "worst" else weights, depth)
        return self.ops.explore(exploited, candidates.sizes, self.number["epsilon"], self.streams, self.round)
