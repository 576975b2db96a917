"""Online learners: they learn a ranker from candidates and clicks. Each family has a file of its own.

A learner is given `Candidates` and clicks. It imports neither data sets nor users, so labels are out of its reach by
construction. `LEARNERS` maps the name of each learner to its class; two learners cannot have the same name.
"""

from ol2r.learners.base import LEARNERS, Learner
from ol2r.learners.bounded import BoundedPairRank, RecursivePairRank
from ol2r.learners.dueling import CPS, DBGD, DPDBGD, MGD
from ol2r.learners.greedy import EpsilonGreedy, SGDRankNet
from ol2r.learners.neural import NeuralDBGD, NeuralEpsilonGreedy, NeuralPDGD
from ol2r.learners.nsgd import NSGD
from ol2r.learners.olranknet import OlLambdaRank, OlRankNet, RankedLambdaRank
from ol2r.learners.pairrank import PairRank, PairRankLemma2
from ol2r.learners.pdgd import PDGD
from ol2r.learners.perturbed import P2LinRank, P2NeurRank
from ol2r.learners.safe import SafePairRank

__all__ = [
    "CPS",
    "DBGD",
    "DPDBGD",
    "LEARNERS",
    "MGD",
    "NSGD",
    "PDGD",
    "BoundedPairRank",
    "EpsilonGreedy",
    "Learner",
    "NeuralDBGD",
    "NeuralEpsilonGreedy",
    "NeuralPDGD",
    "OlLambdaRank",
    "OlRankNet",
    "P2LinRank",
    "P2NeurRank",
    "PairRank",
    "PairRankLemma2",
    "RankedLambdaRank",
    "RecursivePairRank",
    "SGDRankNet",
    "SafePairRank",
]
