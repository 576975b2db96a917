"""What learners of networks share: the architecture, scores of a round's candidates, and what a round costs."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from jaxtyping import Float, Float32
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.base import Learner
from ol2r.networks import Network
from ol2r.networks.network import INITIALS, OUTPUTS, Pass
from ol2r.parameters import Choice, Number, Parameter, Value, completed
from ol2r.rankers import NetworkRanker
from ol2r.ranking import Candidates

CORE_OPERATIONS = 4e10
"""Additions and multiplications in single precision that one core does in a second, in products of matrices."""

ARCHITECTURE: dict[str, Parameter] = {
    "width": Number(least=1, whole=True),
    "depth": Number(least=1, whole=True),
    "init": Choice(*INITIALS),
    "biases": Choice(False, True, default=False),
    "output": Choice(*OUTPUTS, default="scaled"),
}


def network_of(n_features: int, hyperparameters: Mapping[str, object]) -> Network:
    """The architecture that a learner's hyper-parameters name."""
    named = completed(ARCHITECTURE, hyperparameters)
    return Network(n_features, **{name: named[name] for name in ARCHITECTURE})


class NetworkLearner(Learner):
    """A learner whose ranker is a network (`ol2r.networks.Network`).

    Hyper-parameters of all: `width` (m), `depth` (L; 2 for one hidden layer), `init`, and as far as they are given
    `biases` and `output` (see `Network`).
    """

    structural: ClassVar[dict[str, Parameter]] = ARCHITECTURE
    repeats = "means"
    side_by_side = False
    starts_from_weights = False
    batch_seconds = 2e-4
    round_seconds = 3e-4
    timed_as = "neural PDGD"

    @classmethod
    def check(cls, hyperparameters: Mapping[str, object]) -> None:
        super().check(hyperparameters)
        network_of(1, hyperparameters)

    @cached_property
    def network(self) -> Network:
        return network_of(self.n_features, self.choice)

    def inputs(self, candidates: Candidates) -> Float32[Tensor, "R V inputs"]:
        """What the network reads of this round's documents, zeros beyond a list's end."""
        return self.network.inputs(candidates.padded()[0])

    def forward(self, theta: Float[Tensor, "R p"], inputs: Float32[Tensor, "R V inputs"]) -> Pass:
        """Scores of documents in the precision of θ, and what else a pass leaves behind."""
        return self.network.forward(theta, inputs.to(theta.dtype))

    def ranker(self, theta: Float32[Tensor, "R p"]) -> NetworkRanker:
        return NetworkRanker(self.network, theta)

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """The cost of a pass over the query's documents and of the gradient: 6 p operations for each document."""
        p = network_of(shape.features, hyperparameters).n_parameters
        return {"passes": 6 * p * shape.documents / CORE_OPERATIONS}

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        return (1 << 20) + 16 * network_of(shape.features, hyperparameters).n_parameters
