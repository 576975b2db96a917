"""The baselines of olRankNet that learn networks: DBGD, PDGD, and RankNet with ε-greedy exploration.

Each is its linear namesake with the scores of a network, and the gradient of these scores in place of the features.
"""

from collections.abc import Mapping
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Float32, Int64
from torch import Tensor

from ol2r.learners.base import STEP, SteppingLearner
from ol2r.learners.comparison import TeamDraft
from ol2r.learners.network import ARCHITECTURE, NetworkLearner
from ol2r.learners.pairwise import PairwiseLearner
from ol2r.parameters import FLAG, Number, Parameter
from ol2r.random import Stream
from ol2r.rankers import NetworkRanker
from ol2r.ranking import Candidates


class _SteppingNetwork(NetworkLearner, SteppingLearner):
    """A network that moves by at most one step in each round, `weights` being its θ, from its random start.

    Hyper-parameters of all: those of `SteppingLearner` and of `NetworkLearner`.
    """

    numeric: ClassVar = STEP

    def initial(self) -> dict[str, torch.Tensor]:
        return super().initial() | {"weights": self.network.initial(self.streams)}

    def evaluated(self) -> NetworkRanker:
        return self.ranker(self.state["weights"])

    def scores(self, candidates: Candidates) -> Float32[Tensor, "R V"]:
        """Scores of this round's documents; what the pass leaves behind stays for `learn`."""
        scores, self._activations = self.forward(self.state["weights"], self.inputs(candidates))
        return scores

    def learn(self, coefficients: Float[Tensor, "R V"], taken: Bool[Tensor, " R"]) -> None:
        """Step along Σ_d c_d ∇f(x_d; θ), the documents being those that were scored last.

        Args:
            coefficients: c, Float[R, V]; taken: Bool[R].
        """
        weights = self.state["weights"]
        self.climb(self.network.gradient(weights, self._activations, coefficients.to(weights.dtype)), taken)


class NeuralPDGD(_SteppingNetwork):
    """PDGD of a network (Oosterhuis and de Rijke, 2018); see `PDGD`.

    Late clicks: as with `PDGD`; the gradients of the scores are those of the network when the clicks come.
    """

    name = "neural PDGD"
    revision = 1
    launches = 200

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        scores = self.scores(candidates)
        ranking, self.scores_shown, self.rest = self.ops.sample(candidates, scores, depth, self.streams, self.round)
        return ranking

    def shown(self) -> dict[str, torch.Tensor]:
        return {"scores": self.scores_shown, "rest": self.rest}

    def recall(self, candidates: Candidates, round_: int, shown: Mapping[str, torch.Tensor]) -> None:
        super().recall(candidates, round_, shown)
        self.scores_shown, self.rest = shown["scores"], shown["rest"]
        self.scores(candidates)

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        coefficients, learned = self.ops.swap_coefficients(ranking, clicks, self.scores_shown, self.rest)
        by_document = coefficients.new_zeros(len(ranking), self._activations[0].shape[1])
        # c is 0 beyond the end of a list
        self.learn(by_document.scatter_add_(1, ranking.clamp_min(0), coefficients), learned)
        self.round += 1


class NeuralEpsilonGreedy(PairwiseLearner, _SteppingNetwork):
    """RankNet of a network with ε-greedy exploration: with probability ε a slot shows a random document of those not
    yet ranked, and otherwise the best of them. One gradient step a round on the new pairs; see `EpsilonGreedy`, also of
    late clicks.

    Further hyper-parameters: `epsilon` (ε), `pairs` (see `PairwiseLearner`).
    """

    name = "neural epsilon-greedy"
    revision = 1
    launches = 260
    numeric = STEP | {"epsilon": Number(least=0, most=1)}
    structural: ClassVar[dict[str, Parameter]] = PairwiseLearner.structural | ARCHITECTURE

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        scores = self.scores(candidates)[:, None]
        exploited = self.ops.best(candidates, scores, depth, self.streams, self.round)[:, 0]
        return self.ops.explore(candidates, exploited, self.number["epsilon"], self.streams, self.round)

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        self.learn(self.ops.pair_coefficients(self.scores(candidates), pairs, labels), (pairs[..., 0] >= 0).any(dim=1))


class NeuralDBGD(_SteppingNetwork):
    """DBGD of a network: one random unit direction in the space of all parameters, followed when it has more clicks.

    Further hyper-parameters: `delta` (δ), `prefix_credit` (see `TeamDraft`); see `DBGD`, also of late clicks.
    """

    name = "neural DBGD"
    revision = 1
    launches = 300
    numeric = STEP | {"delta": Number(above=0)}
    structural: ClassVar[dict[str, Parameter]] = ARCHITECTURE | {"prefix_credit": FLAG}

    def initial(self) -> dict[str, torch.Tensor]:
        self.comparison = TeamDraft(self.ops, self.streams, bool(self.choice["prefix_credit"]))
        self.nobody = torch.full((len(self.streams),), -1, dtype=torch.int64, device=self.device)
        return super().initial()

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        weights, inputs = self.state["weights"], self.inputs(candidates)
        n = self.network.n_parameters
        self.directions = self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, 1, n)
        contenders = self.ops.contenders(weights, self.directions, self.number["delta"])
        scores = torch.stack([self.forward(theta, inputs).scores for theta in contenders.unbind(dim=1)], dim=1)
        lists = self.ops.best(candidates, scores, depth, self.streams, self.round)
        return self.comparison.draft(lists, self.round, self.nobody)

    def shown(self) -> dict[str, torch.Tensor]:
        return {"directions": self.directions, "team": self.comparison.team}

    def recall(self, candidates: Candidates, round_: int, shown: Mapping[str, torch.Tensor]) -> None:
        super().recall(candidates, round_, shown)
        self.directions, self.comparison.team = shown["directions"], shown["team"]

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        self.follow(self.directions, self.ops.equal_shares(self.comparison.winners(clicks, 1)))
        self.round += 1
