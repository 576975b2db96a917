"""The hot operations in torch, on any device: ragged queries are padded and all replicas move in step.

Operations have the same names and signatures as in `compiled`, where they are documented. They use the same random
bits and give the same results up to rounding. `LogisticEstimate` reaches the same optimum by other steps, to its own
tolerance.
"""

import torch

from ol2r.ranking.batched.blocks import (
    arrange,
    certain_shown,
    divide_and_conquer,
    exchange_neighbours,
    list_by_unanimity,
)
from ol2r.ranking.batched.counts import PairCounts
from ol2r.ranking.batched.covariance import Covariance
from ol2r.ranking.batched.estimate import LogisticEstimate, RecursiveEstimate
from ol2r.ranking.batched.lists import (
    best,
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
from ol2r.ranking.batched.memory import LabelMemory
from ol2r.ranking.batched.pairs import delta_ndcg, pair_coefficients, pair_gradient, pairs_from_clicks
from ol2r.ranking.batched.perturbed import PerturbedEstimate
from ol2r.ranking.batched.sampling import explore, plackett_luce, plackett_luce_gradient, sample, swap_coefficients
from ol2r.ranking.batched.steps import climb, contenders, credit, equal_shares, follow, step, winners

__all__ = [
    "Covariance",
    "LabelMemory",
    "LogisticEstimate",
    "PairCounts",
    "PerturbedEstimate",
    "RecursiveEstimate",
    "arrange",
    "best",
    "certain_shown",
    "clicks_score",
    "climb",
    "contenders",
    "credit",
    "delta_ndcg",
    "divide_and_conquer",
    "equal_shares",
    "exchange_neighbours",
    "explore",
    "follow",
    "list_by_unanimity",
    "multileave",
    "pair_coefficients",
    "pair_gradient",
    "pairs_from_clicks",
    "plackett_luce",
    "plackett_luce_gradient",
    "probabilistic_interleave",
    "rank",
    "reflect",
    "reflectors",
    "replayed_probabilities",
    "sample",
    "score",
    "step",
    "swap_coefficients",
    "team_draft",
    "unit_vectors",
    "use_threads",
    "winners",
]


def use_threads(n: int) -> None:
    """Limit torch to n CPU threads."""
    torch.set_num_threads(max(1, n))
