"""P²LinRank and P²NeurRank (Jia and Wang, SIGIR 2022): N rankers under perturbed labels, whose disagreement explores.

This is Algorithm 1 of the paper. In every round each ranker is refitted to the whole history with fresh Gaussian noise
on all labels. An order is certain if all rankers agree on it, and the list is a random topological order of the certain
orders. P²LinRank has linear rankers, P²NeurRank networks.
"""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.base import Learner
from ol2r.learners.blocks import EXACT, RANKS, BlockLearner
from ol2r.learners.network import CORE_OPERATIONS, network_of
from ol2r.learners.pairwise import CountingLearner
from ol2r.learners.refitted import RefittedNetwork, steps_kept
from ol2r.networks import Perturbed
from ol2r.parameters import Choice, Number, Parameter, Value, completed
from ol2r.random import Stream, Streams
from ol2r.rankers import EnsembleRanker, LinearRanker
from ol2r.ranking import Candidates, unanimous_orders
from ol2r.ranking.orders import DECIMALS

NOISE = Number(least=0)
RANKERS = Number(least=1, whole=True)
SCORER = Choice("mean", "first")
"""Whose scores are evaluated, on which the paper is silent: the mean of the rankers', or the first ranker's."""


def refuse_beyond_memory(
    learner: type[Learner], n_features: int, hyperparameters: Mapping[str, Any], streams: Streams
) -> None:
    """Raise MemoryError if as many rankers do not fit into the machine's memory even before the first round.

    On a GPU the device refuses them itself.
    """
    learner.check(hyperparameters)
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    alike = completed(learner.structural, hyperparameters)
    needed = len(streams) * learner.memory(alike, Shape(n_features, 1.0), 0)
    if streams.device.type == "cpu" and needed > there:
        what = f"{hyperparameters['rankers']:,} rankers for each of {len(streams):,} replicas"
        raise MemoryError(f"{learner.name}: {what} take {needed / 2**30:,.3g} GiB of {there / 2**30:.3g} GiB")


class P2LinRank(BlockLearner, CountingLearner):
    """P²LinRank: PairRank's estimate N times, each under its own noise, in place of its confidence intervals.

    Hyper-parameters: `noise` (ν² ≥ 0, the variance of the noise on a label; with 0 it is PairRank with α = 0),
    `regularization` (λ > 0), `rankers` (N; with 1 every order is certain, and the noise alone explores), `pairs` (see
    `PairwiseLearner`), `pseudo_pairs` (whether the pairs that stand for the penalty in the paper's analysis, section 4,
    are perturbed as well; Algorithm 1 and Eq. 3.3 perturb observed pairs only), `scorer` (see `SCORER`).

    Late clicks: each list of clicks that comes draws fresh noise on all labels that have come. The paper's analysis,
    which counts on every label before the next list, says nothing of late ones; the argument that an ensemble is
    optimistic with some probability is about the labels at hand, and does not ask when they came.

    Attributes:
        estimate: θ^(n) of all rankers, refitted to all labelled pairs, and the optimum without noise.
    """

    name = "P2LinRank"
    revision = 1
    numeric: ClassVar = {
        "noise": NOISE,
        "regularization": Number(above=0, because="without it a separable history has no optimum"),
    }
    structural: ClassVar[dict[str, Parameter]] = BlockLearner.structural | {
        "rankers": RANKERS,
        "pseudo_pairs": Choice(False, True),
        "scorer": SCORER,
    }
    launches = 500
    round_seconds = 70e-6
    exact_diagnostics = (*EXACT, "distinct_pairs", "passes", "refits")

    def __init__(
        self,
        n_features: int,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
    ):
        refuse_beyond_memory(type(self), n_features, hyperparameters, streams)
        super().__init__(n_features, hyperparameters, streams, engine)
        self.members = streams.members(self.choice["rankers"])
        self.estimate: Any = self.ops.PerturbedEstimate(
            self.precise["regularization"],
            self.choice["rankers"],
            self.choice["pseudo_pairs"],
            n_features,
            self.device,
        )

    def memories(self) -> dict[str, object]:
        return super().memories() | {"estimate": self.estimate}

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        # one call computes the scores of all rankers, the orders in which they agree, and the list
        rankers, draws = self.estimate.rankers, (self.streams, self.round)
        return self.arranged(self.ops.list_by_unanimity(candidates, rankers, depth, RANKS, *draws))

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        rows, won = self.counted(candidates, pairs, labels)
        normals = self.members.gaussians(Stream.PERTURBATION, self.round, self.n_features)
        normals = normals.unflatten(0, (-1, self.choice["rankers"]))
        self.estimate.refit(self.counts, rows, won, normals, self.precise["noise"])
        self.alive = self.estimate.alive

    def evaluated(self) -> LinearRanker:
        first = self.choice["scorer"] == "first"
        rankers = self.estimate.rankers[:, :1] if first else self.estimate.rankers
        return LinearRanker(rankers.mean(dim=1).to(torch.float32))

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Those of `BlockLearner`; then passes of one ranker over the pairs in all refits so far, and refits."""
        n = len(self.streams)
        passes, refits = (each.view(n, -1) for each in (self.estimate.passes, self.estimate.refits))
        return super().diagnostics() | {"passes": passes.sum(dim=1), "refits": refits.amax(dim=1)}

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """Each ranker scores V documents and makes two passes over the pairs seen."""
        documents, d, n = shape.documents, shape.features, float(hyperparameters["rankers"])
        pairs = 2.5 if hyperparameters["pairs"] == "all" else 1.0
        ranking = n * documents * (3e-10 * d + 2e-9 * documents)
        reading = (1 + n) * 0.4e-9 * rounds * d * shape.labels
        return {"ranking": ranking, "updates": pairs * (10.0 + n) * 3e-9 * d**2, "reading": pairs * reading}

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of two matrices, of the rankers with their steps in a refit, and of ten pairs a round with counts."""
        d, n = shape.features, int(hyperparameters["rankers"])
        return 16 * d**2 + 1700 * n * d + 10 * rounds * (4 * d + 48 + 24 * n)


class P2NeurRank(RefittedNetwork):
    """P²NeurRank (Algorithm 1).

    Hyper-parameters: `noise` (ν² ≥ 0, the variance of the noise on a label), `rankers` (N; with 1 every order is
    certain, and the noise alone explores), `theta0` (`"own"`: each ranker starts at random weights of its own;
    `"shared"`: all start at those of the first, so that with ν = 0 this is olRankNet with α = 0), `scorer` (see
    `SCORER`), and those of `RefittedNetwork`.

    The objective of a refit need not have a minimum. With a hidden layer a score has the bound (√m/2) ‖x‖ ‖θ‖², and a
    label beyond its range, y + γ > 1 or < 0, lowers the loss in proportion to it; against that the penalty
    (mλ/2) ‖θ‖² holds only if the noise is small or λ is not. With two hidden layers scores grow as ‖θ‖³, and no λ
    holds. A few steps of Adam do not get far that way. L-BFGS does: θ may grow by many orders of magnitude.

    Late clicks: as with `P2LinRank`.
    """

    name = "P2NeurRank"
    revision = 1
    launches = 1200  # with 20 passes
    numeric: ClassVar = {"noise": NOISE} | RefittedNetwork.numeric
    structural: ClassVar[dict[str, Parameter]] = RefittedNetwork.structural | {
        "rankers": RANKERS,
        "theta0": Choice("own", "shared"),
        "scorer": SCORER,
    }

    def __init__(
        self,
        n_features: int,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
    ):
        refuse_beyond_memory(type(self), n_features, hyperparameters, streams)
        super().__init__(n_features, hyperparameters, streams, engine)

    @property
    def n(self) -> int:
        """N."""
        return self.choice["rankers"]

    def first_theta(self, round_: int = 0) -> Float32[Tensor, "networks p"]:
        """Of all rankers, a replica's one after another."""
        if self.choice["theta0"] == "shared":
            return self.network.initial(self.streams, round_).repeat_interleave(self.n, dim=0)
        return self.network.initial(self.streams.members(self.n), round_)

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        self.inputs_shown = self.inputs(candidates)
        # as olRankNet's scores in double precision, and without the last decimals, which must not break a tie
        inputs = self.inputs_shown.repeat_interleave(self.n, dim=0)
        scores = self.forward(self.fit.theta.double(), inputs).scores.round(decimals=DECIMALS)
        scores = scores.unflatten(0, (-1, self.n))
        certain = unanimous_orders(scores)
        ranking, _, _ = self.ops.arrange(candidates, scores[:, 0], certain, True, depth, (), self.streams, self.round)
        self.count_certain(ranking, certain)
        return ranking

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        self._learn(candidates, *self.pairs_from_clicks(ranking, clicks))
        self.round += 1

    def observe(self, candidates: Candidates, pairs: Int64[Tensor, "R P 2"], labels: Bool[Tensor, "R P"]) -> None:
        self.inputs_shown = self.inputs(candidates)
        self._learn(candidates, pairs, labels)

    def _learn(self, candidates: Candidates, pairs: Tensor, labels: Tensor) -> None:
        self.most_pairs = pairs.shape[1]
        most = self.round * self.most_pairs
        changed = self.history.add(candidates, self.inputs_shown, pairs, labels, most=most)
        # fresh noise on all labels in every round; without noise a refit to the same labels would go on with the last
        changed = (changed | (self.precise["noise"] > 0)).repeat_interleave(self.n)
        self.fit.refit(self._perturbed(), changed, self.beginning())
        self.alive = self.fit.alive.view(-1, self.n).all(dim=1)

    def _perturbed(self) -> Perturbed:
        """The history under this round's noise."""
        normals = self.streams.members(self.n).gaussians(Stream.PERTURBATION, self.round, self.history.pairs.shape[1])
        return Perturbed(self.history, self.number["noise"].sqrt(), normals)

    def evaluated(self) -> EnsembleRanker:
        rankers = self.fit.theta.unflatten(0, (-1, self.n))
        return EnsembleRanker(self.network, rankers[:, :1] if self.choice["scorer"] == "first" else rankers)

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """A refit makes J passes of N networks over the documents of the history, where a symmetric one has half the
        weights."""
        network = network_of(shape.features, hyperparameters)
        p, n, passes = network.n_parameters, float(hyperparameters["rankers"]), float(hyperparameters["passes"])
        read = network.n_folded
        reading = passes * 6 * n * read * 0.7 * rounds * shape.labels / CORE_OPERATIONS
        return {"steps": passes * 5e-5, "reading": reading, "passes": 6 * n * p * shape.documents / CORE_OPERATIONS}

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of the rankers and of their memory of L-BFGS, of the history, and of its copy for all in a refit."""
        network, n = network_of(shape.features, hyperparameters), int(hyperparameters["rankers"])
        pairs, steps = 2 * rounds, 1 + steps_kept(hyperparameters)
        layers = network.depth * network.width
        return round(8 * n * steps * network.n_parameters + 8 * pairs * (n + 1) * (shape.features + 3 * layers))
