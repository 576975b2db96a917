"""RankNet with one stochastic gradient step a round, without exploration or with ε-greedy exploration.

These are the pairwise baselines of PairRank's experiments: they take the same pairs from the same clicks, but keep no
history and do not model uncertainty.
"""

from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from ol2r.learners.base import STEP, SteppingLearner
from ol2r.learners.pairwise import PairwiseLearner
from ol2r.parameters import Choice, Number
from ol2r.ranking import Candidates


class _RankNet(PairwiseLearner, SteppingLearner):
    """Online RankNet from w = 0: each round takes the gradient step w ← w + α Σ (y − σ(w · x_ij)) x_ij over its pairs.

    Hyper-parameters of both learners: `alpha` (learning rate α), `decay` (factor on α after every round with a pair),
    `pairs` (see `PairwiseLearner`).
    """

    numeric = STEP
    launches = 150

    def _sorted(
        self, candidates: Candidates, weights: Float32[Tensor, "R d"], depth: int
    ) -> Int64[Tensor, "R {depth}"]:
        weights = weights[:, None]
        return self.ops.rank(candidates, weights, depth, self.streams, self.round)[:, 0]

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        gradient = self.ops.pair_gradient(candidates, self.state["weights"], pairs, labels)
        self.climb(gradient, (pairs[..., 0] >= 0).any(dim=1))


class SGDRankNet(_RankNet):
    """RankNet by stochastic gradient descent without exploration: it always shows the best documents by its scores.

    Late clicks count like any others: their gradient is taken where the weights are when they come.
    """

    name = "SGD RankNet"
    revision = 1

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        return self._sorted(candidates, self.state["weights"], depth)


class EpsilonGreedy(_RankNet):
    """RankNet with ε-greedy exploration (Hofmann et al., 2013): with probability ε a slot shows a random document of
    those not yet ranked, and otherwise the best of them.

    Further hyper-parameters: `epsilon` (ε), `exploit` (`"best"`, or `"worst"` to repeat a fault of the field's public
    code, which sorts by score in ascending order and so shows the worst document where it means to show the best).

    Late clicks count like any others: their gradient is taken where the weights are when they come.
    """

    name = "epsilon-greedy"
    revision = 1
    launches = 180
    numeric = STEP | {"epsilon": Number(least=0, most=1)}
    structural = PairwiseLearner.structural | {"exploit": Choice("best", "worst")}

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        weights = self.state["weights"]
        exploited = self._sorted(candidates, -weights if self.choice["exploit"] == "worst" else weights, depth)
        return self.ops.explore(candidates, exploited, self.number["epsilon"], self.streams, self.round)
