"""Pairwise differentiable gradient descent (Oosterhuis and de Rijke, 2018): explore by sampling, debias every pair."""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from ol2r.learners.base import STEP, SteppingLearner
from ol2r.ranking import Candidates


class PDGD(SteppingLearner):
    """PDGD of a linear ranker (Algorithm 1 of its paper).

    The list is drawn from Plackett-Luce, p(d) ∝ e^{s_d} without replacement. Every clicked document a is preferred to
    every examined unclicked b: w ← w + α Σ ρ · e^{s_a} e^{s_b} / (e^{s_a} + e^{s_b})² · (x_a − x_b). The weight
    ρ = P(R*) / (P(R) + P(R*)), R* being the list with a and b swapped, debiases the pair: preferences that positions
    alone cause cancel in expectation. Weights start at 0, so the first list is uniformly random.

    Late clicks: scores and probabilities are those of the display, so the preferences of a list stay debiased whenever
    its clicks come. Its step is added to weights that have moved on since; the paper proves nothing of this.

    Hyper-parameters: `alpha` (learning rate α), `decay` (factor on α after every round with a pair).
    """

    name = "PDGD"
    revision = 1
    launches = 150
    numeric = STEP

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        ranking, self.scores, self.rest = self.ops.plackett_luce(
            candidates, self.state["weights"], depth, self.streams, self.round
        )
        return ranking

    def shown(self) -> dict[str, torch.Tensor]:
        return {"scores": self.scores, "rest": self.rest}

    def recall(self, candidates: Candidates, round_: int, shown: Mapping[str, torch.Tensor]) -> None:
        super().recall(candidates, round_, shown)
        self.scores, self.rest = shown["scores"], shown["rest"]

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        gradient, learned = self.ops.plackett_luce_gradient(candidates, ranking, clicks, self.scores, self.rest)
        self.climb(gradient, learned)
        self.round += 1
