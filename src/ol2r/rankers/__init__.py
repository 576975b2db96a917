"""Scoring functions with the replicas as leading axes: what a learner learns and an evaluation applies.

They see features only.
"""

from ol2r.rankers.linear import LinearRanker

__all__ = ["LinearRanker"]
