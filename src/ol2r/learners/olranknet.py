"""olRankNet and olLambdaRank (Jia and Wang, 2022): a network, refitted every round, that explores uncertain orders.

The confidence intervals come from the gradients of the network's scores. This is Algorithm 1 of the paper with a
constant α_t and without ε(m), as in its experiments.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import ClassVar

import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.base import ALPHA
from ol2r.learners.network import CORE_OPERATIONS, network_of
from ol2r.learners.refitted import RefittedNetwork, steps_kept
from ol2r.networks import Covariance, Dual, Explicit, Full, Inverted, ListedHistory, Network, Tangent
from ol2r.parameters import Choice, Number, Parameter, Value
from ol2r.random import Stream, Streams
from ol2r.rankers import NetworkRanker
from ol2r.ranking import Candidates
from ol2r.ranking.constants import numbers
from ol2r.ranking.orders import DECIMALS

FORMS: dict[str, Callable[[Network, Tensor], Covariance]] = {
    "full": Full,
    "diagonal": partial(Explicit, full=False),
    "dual": Dual,
    "primal": partial(Explicit, full=True),
    "inverted": Inverted,
}
"""A, by the value of `covariance`."""
Shown = tuple[Tensor, Tensor]
"""Lists, and the clicks on them."""


class OlRankNet(RefittedNetwork):
    """olRankNet (Algorithm 1).

    Hyper-parameters: `alpha` (α ≥ 0, of the intervals), those of `RefittedNetwork` (λ is that of A too), and

    - `covariance`: `"full"`, A as in the text, or `"diagonal"`, its diagonal alone as in the paper's experiments; also
      one form of the whole A alone, `"dual"`, `"primal"` or `"inverted"`, whose times can be compared;
    - `shuffle`, as far as it is given: `"conservative"`, a random topological order of the certain orders (Algorithm
      1), or `"random"`, whole blocks of documents between which all orders are certain (the public code's default);
    - `batch`, as far as it is given: 0, or the most labels that a step of Adam reads (see `NetworkFit`);
    - `gradients` of a pair that are added to A: at the `"refitted"` θ_t (Algorithm 1, lines 11 and 12), or as they were
      when the list was `"displayed"`, at θ_{t−1} (public code, and the proofs).

    Late clicks: as with PairRank, θ and A are those of the labels that have come, and the bounds of the paper, as far
    as they hold of a network of finite width, hold if it does not depend on the labels when they come. Gradients as
    they were `"displayed"` are kept with the list until then. The regret bound counts on every label before the next
    list.

    Attributes:
        covariance: A.
    """

    name = "olRankNet"
    revision = 1
    launches = 1200  # with 20 passes
    timed_as = "olRankNet"
    numeric: ClassVar = {"alpha": ALPHA} | RefittedNetwork.numeric
    structural: ClassVar[dict[str, Parameter]] = RefittedNetwork.structural | {
        "covariance": Choice(*FORMS),
        "gradients": Choice("refitted", "displayed"),
        "shuffle": Choice("conservative", "random", default="conservative"),
        "batch": Number(least=0, whole=True, default=0),
    }

    def __init__(
        self,
        n_features: int,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
    ):
        super().__init__(n_features, hyperparameters, streams, engine)
        self.covariance = FORMS[self.choice["covariance"]](self.network, self.precise["regularization"])

    @classmethod
    def check(cls, hyperparameters: Mapping[str, object]) -> None:
        super().check(hyperparameters)
        if hyperparameters.get("batch") and hyperparameters["refit"] != "adam":
            raise ValueError(f"{cls.name}: batches are for Adam alone")

    def memories(self) -> dict[str, object]:
        return super().memories() | {"covariance": self.covariance}

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        self.inputs_shown = self.inputs(candidates)
        scores, self.tangent_shown = self._at_theta(self.inputs_shown)
        present = numbers(candidates.width, scores.device) < candidates.sizes[:, None]
        conservative = self.choice["shuffle"] == "conservative"
        # a block may hold documents that a topological order would not show, so it takes all orders
        needed = depth if conservative else candidates.width
        certain = self.covariance.orders(scores, self.tangent_shown, self.precise["alpha"], present, needed)
        ranking, _, _ = self.ops.arrange(candidates, scores, certain, conservative, depth, (), self.streams, self.round)
        self.count_certain(ranking, certain)
        return ranking

    def shown(self) -> dict[str, torch.Tensor]:
        if self.choice["gradients"] == "refitted":  # formed anew after the refit
            return {}
        tangent = self.tangent_shown
        kept = {f"input.{layer}": factor for layer, factor in enumerate(tangent.inputs)}
        return kept | {f"delta.{layer}": factor for layer, factor in enumerate(tangent.deltas)}

    def recall(self, candidates: Candidates, round_: int, shown: Mapping[str, Tensor]) -> None:
        super().recall(candidates, round_, shown)
        if shown:
            layers = range(self.network.depth)
            inputs, deltas = (shown[f"input.{i}"] for i in layers), (shown[f"delta.{i}"] for i in layers[:-1])
            self.tangent_shown = Tangent(tuple(inputs), tuple(deltas))

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        self._learn(candidates, *self.pairs_from_clicks(ranking, clicks), (ranking, clicks))
        self.round += 1

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        self.inputs_shown = self.inputs(candidates)
        self.tangent_shown = self._at_theta(self.inputs_shown)[1]
        self._learn(candidates, pairs, labels, None)

    def count(
        self,
        candidates: Candidates,
        pairs: Int64[Tensor, "R P 2"],
        labels: Bool[Tensor, "R P"],
        shown: Shown | None,
        most: int,
    ) -> Bool[Tensor, " R"]:
        """Count labelled pairs in the history, and say for which replicas there were any.

        Args:
            shown: the lists Int64[R, k] and the clicks Bool[R, k] that the labels come from; None where they come from
                elsewhere.
            most: as of `History.add`.
        """
        return self.history.add(candidates, self.inputs_shown, pairs, labels, most=most)

    def _learn(self, candidates: Candidates, pairs: Tensor, labels: Tensor, shown: Shown | None) -> None:
        self.most_pairs = pairs.shape[1]
        changed = self.count(candidates, pairs, labels, shown, self.round * self.most_pairs)
        if self.device.type == "cpu" and not bool(changed.any()):
            return  # no new label: the history is what the last refit was made to, and A gains nothing
        self.fit.refit(self.history, changed, self.beginning(), partial(self.streams.words, Stream.BATCH, self.round))
        self.alive = self.fit.alive
        refitted = self.choice["gradients"] == "refitted"
        self.covariance.add(self._at_theta(self.inputs_shown)[1] if refitted else self.tangent_shown, pairs)

    def _at_theta(self, inputs: Float32[Tensor, "R V inputs"]) -> tuple[Tensor, Tangent]:
        """Scores and gradients at the present θ, in double precision: widths are small differences of large numbers."""
        theta = self.fit.theta.double()
        scores, activations = self.forward(theta, inputs)
        # where scores are the same, as all are with a symmetric θ₀, their rounding must not break the tie
        return scores.round(decimals=DECIMALS), self.network.tangent(theta, activations)

    def form(self) -> Hashable:
        """The rooms for pairs, documents and rows of the covariance after the next round; they grow in steps."""
        return super().form(), self.covariance.form(self.most_pairs)

    def count_round(self) -> None:
        super().count_round()
        self.covariance.count(self.most_pairs)

    def evaluated(self) -> NetworkRanker:
        return self.ranker(self.fit.theta)

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Those of `RefittedNetwork`. Then objective and the largest entry of its gradient, each divided by the number
        of labels; log det; and whether all pairs could be added to A."""
        labels = self.history.n_labels.clamp_min(1.0)
        value, gradient = self.fit.expand(self.history)
        return super().diagnostics() | {
            "objective": value / labels,
            "gradient": gradient.abs().amax(dim=1) / labels,
            "log_det": self.covariance.log_det.clone(),
            "sound": self.covariance.sound.clone(),
        }

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """A refit makes J passes over the documents of the history, for which a symmetric network has half the weights;
        widths cost n² V in the dual form of n pairs. Long lists have two pairs in a round, and shorter ones fewer."""
        network = network_of(shape.features, hyperparameters)
        p, passes = network.n_parameters, float(hyperparameters["passes"])
        pairs = 2.0 * rounds * shape.documents / (shape.documents + 10)
        read = network.n_folded
        steps = passes * (1 + pairs / 2 // float(hyperparameters.get("batch") or math.inf))
        met = rounds * shape.documents / (shape.documents + 100)  # a short list shows the same documents again
        each = 1.3 if hyperparameters["refit"] == "adam" else 2.0  # with the directions of L-BFGS
        reading = steps * 6 * read * each * met * shape.labels / CORE_OPERATIONS
        widths = 6 * p * shape.documents / CORE_OPERATIONS
        dual, primal, form = pairs**2 / 3, network.n_folded**2, str(hyperparameters["covariance"])
        entries = {"diagonal": 0, "dual": dual, "full": min(dual, primal)}.get(form, primal)
        widths += 2 * entries * shape.documents / CORE_OPERATIONS
        inverse = 2 * p**3 / CORE_OPERATIONS if form == "inverted" else 0.0
        return {"steps": steps * 5e-5, "reading": reading, "widths": 2 * widths, "inverse": 2 * inverse}

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of the factor over all pairs or the inverse, of the memory of L-BFGS, and of the history."""
        network = network_of(shape.features, hyperparameters)
        pairs, p = 2 * rounds, network.n_parameters
        dual, primal = 4 * pairs**2 + 16 * pairs * (shape.features + 2 * network.width), 8 * network.n_folded**2
        sizes = {"diagonal": 8 * p, "dual": dual, "primal": primal, "full": min(dual, primal), "inverted": 16 * p**2}
        kept = sizes[str(hyperparameters["covariance"])]
        steps = 8 * p * (1 + steps_kept(hyperparameters))
        return round(kept + steps + 8 * pairs * (shape.features + 3 * network.width))


class OlLambdaRank(OlRankNet):
    """olLambdaRank: olRankNet whose refit weights each label by |ΔNDCG|, as LambdaRank does.

    ΔNDCG is by how much the NDCG of a label's list would change if its two documents changed places. The paper does not
    say how it is formed. Here clicks are the grades, and the list stands as it was shown; so the weights stay, and a
    refit has an objective: the weighted loss. Intervals and pairs are those of olRankNet. It takes no batches, for it
    keeps no single labels. Of late clicks see `OlRankNet`: their labels have the weights of the list that was shown.
    """

    name = "olLambdaRank"
    revision = 1

    @classmethod
    def check(cls, hyperparameters: Mapping[str, object]) -> None:
        super().check(hyperparameters)
        if hyperparameters.get("batch"):
            raise ValueError(f"{cls.name} takes no batches, because it keeps sums of weights and no single labels")

    def count(
        self,
        candidates: Candidates,
        pairs: Int64[Tensor, "R P 2"],
        labels: Bool[Tensor, "R P"],
        shown: Shown | None,
        most: int,
    ) -> Bool[Tensor, " R"]:
        weights = None if shown is None else self.ops.delta_ndcg(*shown, pairs)
        return self.history.add(candidates, self.inputs_shown, pairs, labels, weights, most)


class RankedLambdaRank(OlRankNet):
    """olLambdaRank with ΔNDCG as in the public code, and as LambdaRank has it (Burges, 2010): the examined documents of
    a list stand as the network ranks them in each pass of a refit. Of late clicks see `OlRankNet`.

    Attributes:
        history: with the lists that labels came from.
    """

    name = "olLambdaRank-ranked"
    revision = 2
    launches = 2000  # with 20 passes
    histories: ClassVar = ListedHistory
    history: ListedHistory

    def count(
        self,
        candidates: Candidates,
        pairs: Int64[Tensor, "R P 2"],
        labels: Bool[Tensor, "R P"],
        shown: Shown | None,
        most: int,
    ) -> Bool[Tensor, " R"]:
        if shown is None:
            return super().count(candidates, pairs, labels, shown, most)
        return self.history.add_list(candidates, self.inputs_shown, *shown, pairs, labels, most)

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """One and a half times as much, as measured: there are more documents, and each pass ranks them anew."""
        once = super().round_terms(hyperparameters, shape, rounds)
        return {name: 1.5 * seconds for name, seconds in once.items()}
