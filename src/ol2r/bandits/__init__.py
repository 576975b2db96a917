"""Item-level bandits: they learn one query's list from clicks, in a compiled loop for each replica.

`BANDITS` names them all, `simulate_bandit` plays one on a batch of replicas. They see items by number and clicks by
position; attractions are there to click by and to judge by. An instance of `BubbleRank` serves real users.
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
