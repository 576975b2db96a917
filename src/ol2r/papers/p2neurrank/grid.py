"""The P²NeurRank paper (Jia and Wang, 2022): the items of its chapter."""

from ol2r.experiments.paper import Paper
from ol2r.papers.p2neurrank.audit_cells import ITEMS
from ol2r.papers.p2neurrank.theorems import THEOREMS

PAPER = Paper("p2neurrank", ITEMS, THEOREMS, package="ol2r.papers.p2neurrank")
