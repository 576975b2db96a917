"""A hand-sized data set, a setting of every learner, and a tape of what a learner did: shared by the tests."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from ol2r.clicks import users
from ol2r.data import RankingDataset
from ol2r.data.dataset import Fold
from ol2r.experiments.verify import compare_means
from ol2r.learners import LEARNERS, P2LinRank
from ol2r.learners.network import NetworkLearner
from ol2r.random import generator
from ol2r.rankers import LinearRanker
from ol2r.ranking import Candidates
from ol2r.simulation import Evaluation, Replica, make_streams, simulate

K = 10
SIZES = (1, 2, 9, 10, 11, 20, 5, 13, 1, 3, 10, 17, 8, 30, 6, 12, 9, 25, 4, 10)

_STEP = {"alpha": 0.1, "delta": 1.0, "decay": 0.99, "start": "unit"}
_DIVIDE = {"alpha": 0.1, "regularization": 0.1, "loss": "sum", "pairs": "matched"}
_DIVIDE |= {"shuffle": "conservative", "covariance": "full"}
_NETWORK = {"width": 4, "depth": 2, "init": "he"}
_REFITTED = {"alpha": 0.05, "regularization": 0.1, "rate": 0.01, "pairs": "matched", "covariance": "full"} | _NETWORK
_REFITTED |= {"gradients": "refitted", "refit": "adam", "passes": 5, "start": "warm", "penalty": "theta0"}
_REFITS = ("regularization", "rate", "pairs", "width", "depth", "init", "refit", "passes", "start", "penalty")
_PERTURBED = {"scorer": "mean", "noise": 0.1, "rankers": 3}
_NEURAL_STEP = {"alpha": 0.1, "decay": 0.99} | _NETWORK
SETTINGS = {
    "DBGD": _STEP | {"prefix_credit": False},
    "CPS": _STEP | {"n_candidates": 4, "history": 5, "tau": 3.0},
    "DP-DBGD": _STEP | {"prefix_credit": False},
    "MGD": _STEP | {"prefix_credit": False, "m": 4, "winners": "best", "follow": "mean"},
    "NSGD": _STEP
    | {"prefix_credit": False, "m": 4, "n": 8, "k_g": 5, "T_g": 4, "k_h": 3, "T_h": 6, "lag": 5, "epsilon": 0.01}
    | {"queue": "directions", "losers": "below_current", "sampling": "orthonormal", "hybrid": "cosine"}
    | {"winners": "best", "tie_break": "history", "click_free": "skip", "n_uniform": 0},
    "PDGD": {"alpha": 0.1, "decay": 0.99},
    "SGD RankNet": {"alpha": 0.1, "decay": 0.99, "pairs": "matched"},
    "epsilon-greedy": {"alpha": 0.1, "decay": 0.99, "epsilon": 0.3, "exploit": "best", "pairs": "matched"},
    "PairRank": _DIVIDE,
    "PairRank-Lemma2": _DIVIDE | {"delta": 0.1, "bound": 1.0, "slope": 0.2},
    "SafePairRank": {name: value for name, value in _DIVIDE.items() if name != "shuffle"},
    "BoundedPairRank": _DIVIDE | {"room": 7, "history": "reservoir", "intervals": "kept"},
    "RecursivePairRank": {name: value for name, value in _DIVIDE.items() if name != "loss"},
    "neural PDGD": _NEURAL_STEP,
    "neural epsilon-greedy": _NEURAL_STEP | {"epsilon": 0.3, "pairs": "matched"},
    "neural DBGD": _NEURAL_STEP | {"delta": 1.0, "prefix_credit": False},
    "olRankNet": _REFITTED,
    "olLambdaRank": _REFITTED,
    "olLambdaRank-ranked": _REFITTED,
    "P2LinRank": _PERTURBED | {"regularization": 0.1, "pairs": "matched", "pseudo_pairs": False},
    "P2NeurRank": _PERTURBED | {"rankers": 2, "theta0": "own"} | {name: _REFITTED[name] for name in _REFITS},
}
"""Each learner's hyper-parameters in the tests; queues short enough to wrap around within a few rounds."""


_DIVIDE_OTHERWISE = {"loss": "mean", "pairs": "adjacent", "shuffle": "random", "covariance": "diagonal"}
_REFITTED_OTHERWISE = {"pairs": "adjacent", "covariance": "diagonal", "gradients": "displayed", "refit": "lbfgs"}
_REFITTED_OTHERWISE |= {"start": "fresh", "penalty": "decay", "init": "symmetric", "depth": 3}
OTHERWISE = {
    **{name: {"start": "zero"} for name in ("DBGD", "CPS", "DP-DBGD", "MGD", "NSGD")},
    "SGD RankNet": {"pairs": "all"},
    "epsilon-greedy": {"pairs": "all", "exploit": "worst"},
    **{name: _DIVIDE_OTHERWISE for name in ("PairRank", "PairRank-Lemma2")},
    "SafePairRank": {name: value for name, value in _DIVIDE_OTHERWISE.items() if name != "shuffle"},
    "BoundedPairRank": _DIVIDE_OTHERWISE | {"room": 3, "history": "window", "intervals": "all"},
    "RecursivePairRank": {name: value for name, value in _DIVIDE_OTHERWISE.items() if name != "loss"},
    **{name: {"depth": 3, "init": "symmetric"} for name in ("neural PDGD", "neural DBGD")},
    "neural epsilon-greedy": {"pairs": "all", "depth": 1},
    **{name: _REFITTED_OTHERWISE for name in ("olRankNet", "olLambdaRank", "olLambdaRank-ranked")},
    "P2LinRank": {"pairs": "adjacent", "pseudo_pairs": True, "scorer": "first"},
    "P2NeurRank": {name: _REFITTED_OTHERWISE[name] for name in _REFITTED_OTHERWISE if name in _REFITS}
    | {"theta0": "shared", "scorer": "first"},
}
"""A second setting, by what differs from the first."""

RANGES = {
    "alpha": (0.05, 0.5),
    "bound": (0.5, 2.0),
    "decay": (0.9, 1.0),
    "delta": (0.3, 0.9),
    "epsilon": (0.001, 0.3),
    "k_g": (0, 8),
    "k_h": (0, 4),
    "rate": (0.002, 0.02),
    "regularization": (0.05, 1.0),
    "slope": (0.05, 0.25),
}
"""Values of numeric hyper-parameters that replicas may have side by side, where not from half a setting's value up."""

STEPPING = sorted(name for name, learner in LEARNERS.items() if "decay" in learner.numeric)
"""Learners that take steps of rate `alpha`: a rate of zero learns nothing, and a huge one leaves the finite numbers."""

REFITTED = ("olRankNet", "olLambdaRank", "olLambdaRank-ranked", "P2NeurRank")
_LOGISTIC = ("PairRank", "PairRank-Lemma2", "SafePairRank", "BoundedPairRank")
OPTIMUM = dict.fromkeys((*_LOGISTIC, "P2LinRank", *REFITTED), 5e-3)
"""How far apart the weights of two solvers may stop, where a learner minimises a loss to a relative 1e-6, or where it
takes steps of Adam in single precision."""

LINEAR = sorted(name for name, learner in LEARNERS.items() if not issubclass(learner, NetworkLearner))


def per_replica(name: str, n: int) -> dict[str, torch.Tensor]:
    """Numeric hyper-parameters of a learner that differ between n replicas."""
    varied = {}
    for parameter in LEARNERS[name].numeric:
        value = SETTINGS[name][parameter]
        values = torch.linspace(*RANGES.get(parameter, (value / 2, value)), n)
        varied[parameter] = values.round() if isinstance(value, int) else values
    return varied


def small_dataset(n_features: int = 12) -> RankingDataset:
    """Twenty queries of 1 to 30 documents, grades 0-2, two folds; twin documents; queries where none is relevant."""
    rng = generator("a small data set for tests", n_features)
    offsets = np.concatenate([[0], np.cumsum(SIZES)])
    features = rng.random((offsets[-1], n_features), dtype=np.float32)
    truth = rng.standard_normal(n_features)
    relevance = np.digitize((features - 0.5) @ truth, [0.3, 1.0]).astype(np.int8)
    features[offsets[5] + 3] = features[offsets[5]]
    features[offsets[7] : offsets[7] + 6] = features[offsets[7]]
    for query in (0, 4):
        relevance[offsets[query] : offsets[query + 1]] = 0
    numbers = np.arange(len(SIZES), dtype=np.int64)
    halves = [numbers[numbers % 4 != 3], numbers[numbers % 4 != 1]]
    folds = tuple(Fold(half[:13], half[13:], np.setdiff1d(numbers, half)) for half in halves)
    ids = tuple(str(query) for query in numbers)
    return RankingDataset(
        "small", features, relevance, offsets, ids, None, folds, 3, "", False, "small", "none; features in [0, 1]"
    )


def candidates_of(dataset: RankingDataset, query, device: str = "cpu") -> Candidates:
    totals = np.stack([dataset.query(q)[0].sum(axis=0) for q in range(dataset.n_queries)])
    arrays = (dataset.features, dataset.offsets, totals, np.asarray(query, dtype=np.int64))
    return Candidates(*(torch.as_tensor(array).to(device) for array in arrays))


def replicas_of(*kinds: str, folds=(1, 2), seeds=(0, 1)) -> list[Replica]:
    return [Replica(fold, seed, users(kind, 3)) for kind in kinds for fold in folds for seed in seeds]


def evaluation(rounds: int, **changed) -> Evaluation:
    conventions = {"split": "test", "gain": "exponential", "empty": "zero", "ties": "expected"}
    return Evaluation(**{"k": K, "gamma": 0.995, "checkpoints": (rounds,)} | conventions | changed)


def make_learner(name: str, dataset, replicas, *, engine: str | None = None, device: str = "cpu", **changed):
    streams = make_streams(dataset, replicas, device)
    return LEARNERS[name](dataset.n_features, SETTINGS[name] | changed, streams, engine)


class Played(NamedTuple):
    """What replicas did, rounds first and replicas second: lists, clicks, and the scores that documents had."""

    rankings: np.ndarray
    clicks: np.ndarray
    scores: np.ndarray


def side_by_side(parts) -> Played:
    """Replicas that were played apart, as if they had been played together."""
    return Played(*(np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True)))


def assert_same(name: str, one: Played, other: Played) -> None:
    """Two plays repeat each other as the learner declares: lists, clicks and scores in every bit, or in their means."""
    if LEARNERS[name].repeats == "bits":
        for a, b in zip(one, other, strict=True):
            assert a.tobytes() == b.tobytes()
    else:
        passed, detail = compare_means(_summary(one), _summary(other))
        assert passed, detail


def _summary(played: Played) -> pd.DataFrame:
    last = played.scores[-1]
    columns = {"clicks": played.clicks.sum(axis=(0, 2)), "mean": last.mean(axis=1), "deviation": last.std(axis=1)}
    return pd.DataFrame({"fold": 1, "seed": np.arange(len(last))} | columns)


def parameters_of(learner) -> torch.Tensor:
    """A learner's weights, or θ of its network, or of all its rankers: Float32[R, parameters]."""
    if isinstance(learner, P2LinRank):
        return learner.estimate.rankers.flatten(1).to(torch.float32)
    scorer = learner.evaluated()
    return scorer.weights if isinstance(scorer, LinearRanker) else scorer.theta.flatten(1)


class Tape:
    """What a learner was asked, showed, was told, and became: arrays with rounds first, replicas second; and the
    directions that it drew and chose.

    What it became are the scores of all documents, a replica at a time: one product for all adds up otherwise. The
    weights, or a network's parameters, are kept as well.

    Args:
        clicks: given the round and the lists, the clicks to tell the learner instead of the users' own.
    """

    def __init__(self, learner, dataset, clicks=None):
        self.learner, self._rounds, self.drawn, self.chosen = learner, [], [], []
        features = torch.as_tensor(dataset.features).to(learner.device)
        replicas = torch.arange(len(learner.streams), device=learner.device).split(1)
        update = learner.update

        def recorded(candidates, ranking, clicked):
            self.chosen.append(getattr(learner, "directions", None))
            clicked = clicked if clicks is None else clicks(learner.round, ranking)
            update(candidates, ranking, clicked)
            scorer = learner.evaluated()
            scores = torch.stack([scorer.scores(features, replica)[:, 0] for replica in replicas])
            row = [candidates.query, ranking, clicked, scores]
            row += [parameters_of(learner)]
            self._rounds.append([column.cpu().numpy().copy() for column in row])

        learner.update = recorded
        if hasattr(learner, "_null_space"):
            null_space = learner._null_space

            def drawn(n):
                self.drawn.append(null_space(n))
                return self.drawn[-1]

            learner._null_space = drawn

    def __getattr__(self, name):
        column = ("queries", "rankings", "clicks", "scores", "weights").index(name)
        return np.stack([row[column] for row in self._rounds])

    def __getitem__(self, replicas) -> Played:
        """Lists, clicks and scores of some replicas, given as a slice or a list."""
        return Played(self.rankings[:, replicas], self.clicks[:, replicas], self.scores[:, replicas])


def play(
    name: str, dataset, replicas, rounds: int, *, engine=None, device="cpu", clicks=None, begin=None, **changed
) -> Tape:
    """Run a learner for some rounds through `simulate`, from given weights if there are any, and keep what happened."""
    learner = make_learner(name, dataset, replicas, engine=engine, device=device, **changed)
    if begin is not None:
        learner.begin_from(begin)
    tape = Tape(learner, dataset, clicks)
    tape.table = simulate(dataset, replicas, tape.learner, evaluation(rounds))
    return tape
