"""Item-level bandits: they learn one query's list from clicks, in a compiled loop for each replica.

`BANDITS` maps their names to classes, and `simulate_bandit` plays one of them on a batch of replicas. A bandit sees
item numbers and clicks by position; only the simulated user and the evaluation use attractions. An instance of
`BubbleRank` serves real users.
"""

from ol2r.bandits.base import BANDITS, Bandit, Trace, logarithmic_checkpoints, random_list, simulate_bandit
from ol2r.bandits.batchrank import BatchRank
from ol2r.bandits.bubblerank import Baseline, BubbleRank
from ol2r.bandits.cascade import CascadeKLUCB
from ol2r.bandits.toprank import TopRank

__all__ = [
    "BANDITS",
    "Bandit",
    "Baseline",
    "BatchRank",
    "BubbleRank",
    "CascadeKLUCB",
    "TopRank",
    "Trace",
    "logarithmic_checkpoints",
    "random_list",
    "simulate_bandit",
]
