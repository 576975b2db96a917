"""The claims of the olRankNet paper as rules, declared before any of their results existed.

This module names items and does not import them. T and γ are defined here, because claims weigh scores by them.
"""

from itertools import product

from ol2r.experiments.claims import Claim, Size, StandIn, Where

USERS = ("perfect", "navigational", "informational")
MSLR, YAHOO = "MSLR-WEB10K", "Yahoo-LTRC-1"
STAND_INS = (StandIn(MSLR, "MQ2008"),)
"""What stands in for the paper's two data sets."""

OURS = ("olRankNet", "olLambdaRank")
FULL = ("olRankNet, full", "olLambdaRank, full")
DUELING = ("DBGD", "neural DBGD")
BASELINES = ("PairRank", "PDGD", "neural PDGD", "DBGD", "neural DBGD", "neural epsilon-greedy")
SKYLINE = "olLambdaRank GT"
VARIANTS = (*OURS, *FULL, *BASELINES, SKYLINE)

ALL_CELLS: tuple[Where, ...] = tuple(product((MSLR, YAHOO), USERS))
NOISY: tuple[Where, ...] = tuple(product((MSLR, YAHOO), ("navigational", "informational")))

K = 10
ROUNDS, GAMMA = 5000, 0.9995
PROTOCOL = Size(rounds=ROUNDS, seeds=10, folds=5)
FAR = 20_000
"""The rounds that PDGD's own paper gave its neural ranker."""

OFFLINE_ITEM, ONLINE_ITEM, CERTAIN_ITEM = "fig-4", "fig-5", "fig-6"
FAR_ITEM, LDA_ITEM, EXPLORATION_ITEM, COVERAGE_ITEM = "far", "lda", "exploration", "coverage"

CLAIMS: tuple[Claim, ...] = ()
