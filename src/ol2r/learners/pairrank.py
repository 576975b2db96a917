"""PairRank (Jia et al., 2021): a pairwise ranker, refitted every round, that explores pairs in uncertain order.

This is Algorithm 1 with constant and with theoretical confidence widths. Divide and conquer makes the list; the
estimate is refitted to the whole history. The base classes serve its relatives, too.
"""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.base import ALPHA
from ol2r.learners.blocks import EXACT, RANKS, BlockLearner
from ol2r.learners.pairwise import CountingLearner, PairwiseLearner
from ol2r.parameters import Choice, Number, Value
from ol2r.rankers import LinearRanker
from ol2r.ranking import Candidates
from ol2r.ranking.covariance import Covariance
from ol2r.theory import confidence


class IntervalLearner(PairwiseLearner):
    """A linear learner from pairs with an estimate θ̃ and intervals x_ijᵀθ̃ ± α ‖x_ij‖_{M⁻¹} of differences of scores.

    Hyper-parameters: `regularization` (λ > 0, of M and of the loss), `alpha` (of the intervals' width), `pairs` (see
    `PairwiseLearner`), `covariance` (`"full"` or `"diagonal"`).

    After `begin_from`, the ridge pulls to the given weights θ₀ and no longer to 0: λ/2 ‖θ − θ₀‖², or λ ‖θ − θ₀‖². With
    the sum, Lemma 2 then holds with Q ≥ ‖θ* − θ₀‖ in the place of Q ≥ ‖θ*‖, and with the ball of that radius around θ₀:
    θ* enters its proof only by the pull, whose gradient at θ* is λ (θ* − θ₀). Intervals do not know how wrong θ₀ is.

    Late clicks: the estimate, M and the intervals are those of the labels that have come. Lemma 2 stays true if it
    does not depend on the labels when, or whether, they come: its proof needs only that a label is random given its
    pair and the labels that came before it. A label that is still to come leaves intervals wider, and more orders open.
    The paper's regret bound (Theorem 8) counts on every label before the next list.

    Attributes:
        covariance: M⁻¹ of θ̃. estimate: has θ̃ as its `theta`; made by subclasses.
    """

    starts_from_weights = True

    numeric: ClassVar = {
        "alpha": ALPHA,
        "regularization": Number(
            above=0, because="without it M = λI has no inverse and a separable history no optimum"
        ),
    }
    structural: ClassVar = PairwiseLearner.structural | {"covariance": Choice("full", "diagonal")}
    estimate: Any

    def build(self) -> None:
        super().build()
        full = self.choice["covariance"] == "full"
        self.covariance: Covariance = self.ops.Covariance(
            self.precise["regularization"], self.n_features, full, self.device
        )

    def memories(self) -> dict[str, object]:
        return super().memories() | {"estimate": self.estimate, "covariance": self.covariance}

    def _begin_from(self, weights: Float64[Tensor, "R d"]) -> None:
        self.estimate.begin_from(weights)

    @property
    def theta(self) -> Float64[Tensor, "R d"]:
        """The estimate θ̃: Float64[R, features]."""
        return self.estimate.theta

    def evaluated(self) -> LinearRanker:
        return LinearRanker(self.theta.to(torch.float32))

    round_seconds = 70e-6
    timed_as = "PairRank"

    @staticmethod
    def interval_terms(
        hyperparameters: Mapping[str, Value], shape: Shape, looked: float, read: float
    ) -> dict[str, float]:
        """What a round asks for: applying M⁻¹ costs V d², certain orders V² d, updates of M⁻¹ and of the
        inverse Hessian d², a pass d for each label.

        Args:
            looked: share of the pairs of documents whose order is looked at.
            read: labels that a refit reads in the mean over a run.
        """
        documents, d = shape.documents, shape.features
        pairs = 2.5 if hyperparameters["pairs"] == "all" else 1.0
        return {
            "projections": 9e-11 * documents * d**2,
            "orders": looked * documents**2 * (2.4e-8 + 9e-11 * d),
            "updates": pairs * 9.5e-9 * d**2,
            "reading": pairs * 0.7e-9 * read * d * shape.labels,
        }


class LogisticLearner(CountingLearner, IntervalLearner):
    """An `IntervalLearner` with the ridge-logistic estimate of Eq. (3), refitted to all pairs every round.

    Further hyper-parameter: `loss` (`"sum"`: Σ ℓ + λ/2 ‖θ‖², as in the paper's text; `"mean"`: (1/n) Σ ℓ + λ ‖θ‖² over
    the n pairs so far, as in the public code).
    """

    structural = IntervalLearner.structural | {"loss": Choice("sum", "mean")}

    def build(self) -> None:
        super().build()
        self.every = torch.arange(len(self.streams), device=self.device)[:, None]
        self.estimate = self.ops.LogisticEstimate(
            self.precise["regularization"], self.choice["loss"], self.n_features, self.device
        )

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of two matrices and of ten pairs a round with their counts; `"matched"` gives up to 5, `"all"` 25."""
        return 16 * shape.features**2 + 10 * rounds * (4 * shape.features + 48)

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        rows, won = self.counted(candidates, pairs, labels)
        self.estimate.refit(self.counts, rows, won)
        self.covariance.add(self.counts.x[self.every, rows], rows >= 0)  # row −1 reads some vector, which is not added

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """The number of distinct pairs, passes over the pairs in all refits so far, and refits."""
        return super().diagnostics() | {"passes": self.estimate.passes, "refits": self.estimate.refits}


class DivideAndConquer(BlockLearner, IntervalLearner):
    """An `IntervalLearner` with PairRank's lists (Algorithm 1); its forms differ in their estimates and in the width of
    their intervals.

    Further hyper-parameter: `shuffle` (`"random"`: PairRank_R, `"conservative"`: PairRank_C).
    """

    structural = IntervalLearner.structural | {"shuffle": Choice("random", "conservative")}

    @classmethod
    def terms_reading(cls, hyperparameters: Mapping[str, Value], shape: Shape, read: float) -> dict[str, float]:
        """`interval_terms`: the conservative shuffle looks at every order in a block, the random one only until
        blocks are known."""
        looked = 1.0 if hyperparameters["shuffle"] == "conservative" else 0.4
        return cls.interval_terms(hyperparameters, shape, looked, read)

    @property
    @abstractmethod
    def width(self) -> Float64[Tensor, " R"]:
        """α_t of the current intervals σ̂_ij ± α_t ‖x_ij‖_{M⁻¹}: Float64[R]."""

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        # one call computes linear scores, the certain orders of their intervals, and the list
        arrangement = self.ops.divide_and_conquer(
            candidates,
            self.theta,
            self.covariance.inverse,
            self.width,
            self.choice["shuffle"] == "conservative",
            depth,
            RANKS,
            self.streams,
            self.round,
        )
        return self.arranged(arrangement)


class _Refitted(DivideAndConquer, LogisticLearner):
    """Base class of PairRank's two forms, which differ only in the width of their confidence intervals."""

    structural = DivideAndConquer.structural | LogisticLearner.structural
    launches = 450
    exact_diagnostics = (*EXACT, "distinct_pairs", "passes", "refits")

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """A refit reads about as many pairs as there were rounds so far."""
        return cls.terms_reading(hyperparameters, shape, rounds)


class PairRank(_Refitted):
    """PairRank with a constant width α_t = `alpha`, as in the experiments of the public code and the later papers.

    Of late clicks see `IntervalLearner`.
    """

    name = "PairRank"
    revision = 1

    @property
    def width(self) -> Float64[Tensor, " R"]:
        return self.precise["alpha"]


class PairRankLemma2(_Refitted):
    """PairRank with the width of Lemma 2, times `alpha`:

    α_t = α · (2k_μ/c_μ) (√(R² log(det M_t / (δ² det λI))) + √λ Q), with k_μ = ¼ and R = ½.

    Further hyper-parameters: `delta` (δ₁), `bound` (Q ≥ ‖θ*‖, or ‖θ* − θ₀‖ after `begin_from`), `slope` (c_μ, the least
    slope of σ at any x_ijᵀθ). Of late clicks see `IntervalLearner`.
    """

    name = "PairRank-Lemma2"
    revision = 2
    numeric = LogisticLearner.numeric | {
        "delta": Number(above=0, below=1),
        "bound": Number(least=0),
        "slope": Number(above=0, most=0.25),
    }

    @cached_property
    def _constants(self) -> list[torch.Tensor]:
        """What Lemma 2's width is made of besides log det: α, 2k_μ/c_μ, 2 log(1/δ) and √λ Q, each Float64[R]."""
        number = {name: value.cpu().numpy() for name, value in self.precise.items()}
        factor, certainty = 2 * confidence.STEEPEST / number["slope"], 2 * np.log(1 / number["delta"])
        norm = np.sqrt(number["regularization"]) * number["bound"]
        return [torch.from_numpy(each).to(self.device) for each in (number["alpha"], factor, certainty, norm)]

    @property
    def width(self) -> Float64[Tensor, " R"]:
        # `theory.confidence.width` in the same order of operations, but where log det is, so that no device is read;
        # 1/rsqrt, since the last bits of torch's sqrt depend on the processor's maker
        alpha, factor, certainty, norm = self._constants
        radius = confidence.LABEL_NOISE * (self.covariance.log_det + certainty).rsqrt().reciprocal() + norm
        return alpha * (factor * radius)
