"""What learners of networks share that refit to all labelled pairs in every round: olRankNet and P²NeurRank."""

from collections.abc import Hashable, Mapping
from typing import ClassVar

import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from ol2r.learners.network import ARCHITECTURE, NetworkLearner
from ol2r.learners.pairwise import PairwiseLearner
from ol2r.networks import History, NetworkFit
from ol2r.networks.memory import steps_of
from ol2r.networks.refit import METHODS
from ol2r.parameters import Choice, Number, Parameter, Value
from ol2r.random import Streams
from ol2r.ranking import Candidates


def steps_kept(hyperparameters: Mapping[str, Value]) -> int:
    """How many steps of L-BFGS a learner with these hyper-parameters remembers; none with Adam."""
    return steps_of(int(hyperparameters["passes"])) if hyperparameters["refit"] == "lbfgs" else 0


class RefittedNetwork(PairwiseLearner, NetworkLearner):
    """A learner that refits its network, or several networks, to all labelled pairs (olRankNet, Eq. 3.2).

    Hyper-parameters of all: `regularization` (λ > 0, of the loss), `rate` (of Adam; L-BFGS reads none), `pairs` (see
    `PairwiseLearner`), `width`, `depth`, `init` (see `NetworkLearner`), and

    - `refit`: `"adam"` or `"lbfgs"`; `passes`: J, see `NetworkFit`;
    - `start` of a refit: `"warm"`, where the last one ended; `"theta0"`; or `"fresh"`, new random θ (olRankNet's public
      code);
    - `penalty`: `"theta0"`, (mλ/2) ‖θ − θ₀‖² as in the text; `"zero"`, (mλ/2) ‖θ‖²; or `"decay"`, (λ/2) ‖θ‖², the
      weight decay of olRankNet's public code, which has no factor m.

    Attributes:
        history: every labelled pair with its labels. theta0: θ₀ of all networks. fit: their θ_t, refitted to it.
    """

    histories: ClassVar[type[History]] = History
    round_seconds = 1.5e-3
    numeric: ClassVar = {
        "regularization": Number(above=0, because="without it A = λI has no inverse"),
        "rate": Number(above=0),
    }
    structural: ClassVar[dict[str, Parameter]] = (
        PairwiseLearner.structural
        | ARCHITECTURE
        | {
            "refit": Choice(*METHODS),
            "passes": Number(least=2, whole=True),
            "start": Choice("warm", "theta0", "fresh"),
            "penalty": Choice("theta0", "zero", "decay"),
        }
    )

    def __init__(
        self,
        n_features: int,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
    ):
        super().__init__(n_features, hyperparameters, streams, engine)
        self.theta0 = self.first_theta()
        each = len(self.theta0) // len(streams)  # networks of a replica
        penalty, regularization = self.choice["penalty"], self.precise["regularization"].repeat_interleave(each)
        self.fit = NetworkFit(
            self.network,
            self.theta0,
            self.theta0 if penalty == "theta0" else None,
            regularization / self.network.width if penalty == "decay" else regularization,
            method=self.choice["refit"],
            rate=self.number["rate"].repeat_interleave(each),
            passes=self.choice["passes"],
            batch=self.choice.get("batch", 0),
        )
        self.history = self.histories(len(streams), self.network.shapes[0][1], self.device)
        self.most_pairs = 0  # of a round; known from the first on

    def recall(self, candidates: Candidates, round_: int, shown: Mapping[str, torch.Tensor]) -> None:
        super().recall(candidates, round_, shown)
        self.inputs_shown = self.inputs(candidates)

    def first_theta(self, round_: int = 0) -> Float32[Tensor, "networks p"]:
        """θ₀ of all networks, or the θ with which a refit of a later round begins afresh."""
        return self.network.initial(self.streams, round_)

    def beginning(self) -> Float32[Tensor, "networks p"] | None:
        """Where this round's refit begins; None for where the last one ended."""
        if self.choice["start"] == "fresh":
            return self.first_theta(self.round)
        return self.theta0 if self.choice["start"] == "theta0" else None

    def initial(self) -> dict[str, torch.Tensor]:
        """Sums over the rounds for the diagnostics, 0 at first."""
        none = torch.zeros(len(self.streams), dtype=torch.int64, device=self.device)
        return {"certain": none, "shown": none.clone()}

    def memories(self) -> dict[str, object]:
        return {"history": self.history, "fit": self.fit}

    def count_certain(self, ranking: Int64[Tensor, "R k"], certain: Bool[Tensor, "R V V"]) -> None:
        """Count the pairs of shown documents, and those of them whose order is certain."""
        counts, pairs = self.ops.certain_shown(ranking, certain)
        self.state["certain"] += counts
        self.state["shown"] += pairs

    def form(self) -> Hashable:
        """The rooms for pairs and documents after the next round; they grow in steps."""
        n = self.most_pairs
        return self.history.room(self.round * n, n)

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Sums over all rounds so far: pairs of shown documents, and those with a certain order. Then distinct pairs,
        and all labels."""
        return {
            "certain_pairs": self.state["certain"].clone(),
            "shown_pairs": self.state["shown"].clone(),
            "distinct_pairs": self.history.n_pairs.clone(),
            "labels": self.history.n_labels.clone(),
        }
