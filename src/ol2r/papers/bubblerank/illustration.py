"""Computes what the slider of BubbleRank's theory page shows: a short run of BubbleRank with invented items."""

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from ol2r.bandits.bubblerank import BubbleRank
from ol2r.random import generator

ATTRACTION = (0.5, 0.8, 0.3, 0.7, 0.2, 0.6)
"""Chance of a click on each item once it is seen, in the order of the first list."""
SEEN = 0.9
"""Chance that a user who saw one place sees the next one."""


class Swapped(NamedTuple):
    """The base list after some lists were shown."""

    shown: int
    """How many were."""
    attraction: np.ndarray
    """Of the items from the top, Float64[items]."""
    open: np.ndarray
    """Whether neighbours are still exchanged at random, Bool[items − 1]."""

    @property
    def wrong(self) -> int:
        """How many pairs have the less attractive item above."""
        return sum(above < below for above, below in combinations(self.attraction, 2))


def swapped(after: Sequence[int], seed: int = 0) -> list[Swapped]:
    """The base list of BubbleRank after so many lists, rising, whose last number is the horizon."""
    rng, attraction = generator("swapped", seed), np.array(ATTRACTION)
    n_items = len(attraction)
    learner, found = BubbleRank(range(n_items), horizon=after[-1], seed=seed), []
    for step in range(after[-1] + 1):
        if step in after:
            base = learner.base
            known = [learner.decided(*pair) for pair in pairwise(base)]
            found.append(Swapped(step, attraction[base], ~np.array(known)))
        if step < after[-1]:
            shown = learner.rank()
            seen = rng.random(n_items) < np.append(1.0, np.full(n_items - 1, SEEN))
            learner.update((rng.random(n_items) < attraction[shown]) & np.cumprod(seen).astype(bool))
    return found
