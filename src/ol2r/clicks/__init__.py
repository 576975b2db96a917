"""User models: how a user turns a displayed list into clicks, given the grades of its documents.

This room sees labels and lists; it knows nothing of features, rankers or learners.
"""

from ol2r.clicks.cascade import GradedCascade, UserBatch, users

__all__ = ["GradedCascade", "UserBatch", "users"]
