"""What the benchmarks of learners share: the learner of each family of figures, its settings in the chapters, the data
set, and the conventions of the measurement."""

from ol2r.papers.nsgd import grid as nsgd
from ol2r.papers.pairrank import grid as pairrank
from ol2r.simulation import Evaluation

DATASET = "synthetic-mslr"
"""The data set of speeds and bytes: 136 features, about 125 documents a query."""

LEARNER = {
    "pdgd": "PDGD",
    "sgdranknet": "SGD RankNet",
    "egreedy": "epsilon-greedy",
    "dbgd": "DBGD",
    "dp-dbgd": "DP-DBGD",
    "mgd": "MGD",
    "cps": "CPS",
    "nsgd": "NSGD",
    "pairrank": "PairRank",
    "neuralpdgd": "neural PDGD",
    "neuralegreedy": "neural epsilon-greedy",
    "neuraldbgd": "neural DBGD",
    "olranknet": "olRankNet",
    "ollambdarank": "olLambdaRank",
    "ollambdarank-ranked": "olLambdaRank-ranked",
    "p2linrank": "P2LinRank",
    "p2neurrank": "P2NeurRank",
}
"""The learner of each family of figures."""

_OF_CHAPTERS = nsgd.SETTINGS | dict(
    pairrank.SETTINGS[name] for name in ("PDGD", "PairRank_C", "SGD RankNet", "epsilon-greedy")
)
_NETWORK = {"width": 100, "depth": 2, "init": "he"}
_STEP = {"alpha": 0.01, "decay": 0.999977} | _NETWORK
_REFITTED = _NETWORK | {"alpha": 0.1, "regularization": 0.1, "rate": 1e-3, "pairs": "matched", "covariance": "full"}
_REFITTED |= {"gradients": "refitted", "refit": "adam", "passes": 20, "start": "warm", "penalty": "theta0"}
_REFITS = ("regularization", "rate", "pairs", *_NETWORK, "refit", "passes", "start", "penalty")
_PERTURBED = {"scorer": "mean", "noise": 0.1, "rankers": 2}
_OF_NETWORKS = {
    "neural PDGD": _STEP,
    "neural epsilon-greedy": _STEP | {"epsilon": 0.1, "pairs": "matched"},
    "neural DBGD": _STEP | {"delta": 1.0, "prefix_credit": False},
    "olRankNet": _REFITTED,
    "olLambdaRank": _REFITTED,
    "olLambdaRank-ranked": _REFITTED,
    "P2NeurRank": _PERTURBED | {"theta0": "own"} | {name: _REFITTED[name] for name in _REFITS},
}
_PERTURBED_LINEAR = _PERTURBED | {"regularization": 0.1, "pairs": "matched", "pseudo_pairs": False}
SETTINGS = {
    name: (_OF_CHAPTERS | _OF_NETWORKS | {"P2LinRank": _PERTURBED_LINEAR})[name] for name in LEARNER.values()
}
"""The hyper-parameters of each learner as the chapters set them; of those that have no chapter yet, as their paper does
where it names any."""


def evaluation(*checkpoints: int) -> Evaluation:
    """The chapters' conventions, with these checkpoints."""
    return Evaluation(
        k=10, split="test", gain="exponential", empty="zero", ties="expected", gamma=0.9995, checkpoints=checkpoints
    )
