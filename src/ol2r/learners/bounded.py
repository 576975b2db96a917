"""PairRank with bounded memory, learners of this book: refits to some labels only, or steps that keep no label.

PairRank refits to all labels, so a round's time and the memory grow with the number of rounds. These grow with neither.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.blocks import EXACT
from ol2r.learners.pairrank import DivideAndConquer
from ol2r.parameters import Choice, Number, Parameter, Value
from ol2r.ranking import Candidates


class _Bounded(DivideAndConquer):
    """PairRank's lists and a constant width α, whatever is kept of the labels."""

    launches = 900

    @property
    def width(self) -> Float64[Tensor, " R"]:
        return self.precise["alpha"]


class BoundedPairRank(_Bounded):
    """PairRank (Jia et al., 2021, Algorithm 1) that refits to at most `room` labels every round.

    Further hyper-parameters: `room` (labels that are kept), `history` (which ones: `"window"`, the last ones, or
    `"reservoir"`, a uniform sample of all so far; see `LabelMemory`), `loss` (see `LogisticLearner`), `intervals`
    (labels of which M is made: `"kept"`, those that the estimate is fitted to, or `"all"` so far, as in PairRank).
    The paper's Lemma 2 is not proved for either: how long a label is kept depends on later labels. Of late clicks,
    `"window"` keeps those that came last, whenever their lists were shown.
    """

    name = "BoundedPairRank"
    revision = 1
    structural: ClassVar[dict[str, Parameter]] = DivideAndConquer.structural | {
        "room": Number(least=1, whole=True),
        "history": Choice("window", "reservoir"),
        "loss": Choice("sum", "mean"),
        "intervals": Choice("kept", "all"),
    }
    exact_diagnostics = (*EXACT, "passes", "refits")

    def build(self) -> None:
        super().build()
        kept = self.n_features, self.choice["room"], self.choice["history"], self.device
        self.kept: Any = self.ops.LabelMemory(len(self.streams), *kept)
        self.estimate = self.ops.LogisticEstimate(
            self.precise["regularization"], self.choice["loss"], self.n_features, self.device
        )

    def memories(self) -> dict[str, object]:
        return super().memories() | {"kept": self.kept}

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """A refit reads as many labels as are kept, which are no more than there were."""
        return cls.terms_reading(hyperparameters, shape, min(2.0 * float(hyperparameters["room"]), rounds))

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of two matrices and of the labels that are kept."""
        return 16 * shape.features**2 + int(hyperparameters["room"]) * (4 * shape.features + 16)

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        met = self.kept.add(candidates, pairs, labels, self.streams, self.round)
        self.estimate.forget(met.left, met.left_x, met.left_won)
        self.estimate.refit(self.kept, met.rows, met.won)
        if self.choice["intervals"] == "all":
            self.covariance.add(candidates.differences(pairs), pairs[..., 0] >= 0)
        else:
            self.covariance.add(candidates.differences(pairs), met.rows >= 0)
            self.covariance.remove(met.left_x, met.left)

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Those of `BlockLearner`; then passes over the labels in all refits so far, and refits."""
        return super().diagnostics() | {"passes": self.estimate.passes, "refits": self.estimate.refits}


class RecursivePairRank(_Bounded):
    """PairRank (Jia et al., 2021, Algorithm 1) whose estimate moves by one step for each new label, and keeps none.

    The steps are those of `RecursiveEstimate`; M is made of all labels so far. Late clicks are stepped to when they
    come.
    """

    name = "RecursivePairRank"
    revision = 1
    exact_diagnostics = EXACT

    def build(self) -> None:
        super().build()
        self.estimate = self.ops.RecursiveEstimate(self.precise["regularization"], self.n_features, self.device)

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """Nothing is read again."""
        return cls.terms_reading(hyperparameters, shape, 0.0)

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of two matrices."""
        return 16 * shape.features**2

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        x, present = candidates.differences(pairs), pairs[..., 0] >= 0
        self.estimate.step(x, present, labels)
        self.covariance.add(x, present)
