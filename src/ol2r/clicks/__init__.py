"""User models: how a user turns a displayed list into clicks, given the grades of its documents or their attraction.

This room sees labels, lists and click logs; it knows nothing of features, rankers or learners.
"""

from ol2r.clicks.cascade import GradedCascade, GradedPositions, GradedUser, UserBatch, users, users_of_grades
from ol2r.clicks.items import CODES, ItemClicks, best_ranking, expected_reward, item_clicks, wrong_pairs

__all__ = [
    "CODES",
    "GradedCascade",
    "GradedPositions",
    "GradedUser",
    "ItemClicks",
    "UserBatch",
    "best_ranking",
    "expected_reward",
    "item_clicks",
    "users",
    "users_of_grades",
    "wrong_pairs",
]
