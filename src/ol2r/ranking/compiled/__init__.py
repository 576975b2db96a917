"""The hot operations on the CPU: each replica is one compiled loop, replicas run side by side over the cores.

The same scalar code computes a replica's numbers whichever replicas share its batch, so a trajectory is bit for bit
independent of the batch. `batched` has the same functions in torch, and the one list of their names; the tests compare
the two.

Operations that take the scores of any ranker and cost less than torch needs for these (`best`, `pair_coefficients`) are
torch functions here too. Operations that compute linear scores themselves are fast paths of those that take scores.
"""
# ruff: noqa: F401 - the names are handed on; `batched` lists them

from numba import get_num_threads, set_num_threads

from ol2r.ranking.batched import __all__
from ol2r.ranking.batched.lists import best
from ol2r.ranking.batched.pairs import delta_ndcg, pair_coefficients
from ol2r.ranking.compiled.blocks import (
    arrange,
    certain_shown,
    divide_and_conquer,
    exchange_neighbours,
    list_by_unanimity,
)
from ol2r.ranking.compiled.counts import PairCounts
from ol2r.ranking.compiled.covariance import Covariance
from ol2r.ranking.compiled.estimate import LogisticEstimate, RecursiveEstimate
from ol2r.ranking.compiled.lists import (
    clicks_score,
    multileave,
    probabilistic_interleave,
    rank,
    reflect,
    reflectors,
    replayed_probabilities,
    score,
    team_draft,
    unit_vectors,
)
from ol2r.ranking.compiled.memory import LabelMemory
from ol2r.ranking.compiled.pairs import pair_gradient, pairs_from_clicks
from ol2r.ranking.compiled.perturbed import PerturbedEstimate
from ol2r.ranking.compiled.sampling import explore, plackett_luce, plackett_luce_gradient, sample, swap_coefficients
from ol2r.ranking.compiled.steps import climb, contenders, credit, equal_shares, follow, step, winners


def use_threads(n: int) -> None:
    """Limit the compiled operations to n threads; each process of a parallel run uses one thread."""
    set_num_threads(max(1, min(n, get_num_threads())))
