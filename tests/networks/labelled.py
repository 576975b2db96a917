"""Rounds of labelled pairs of a hand-sized data set: shared by the tests of networks."""

import numpy as np
from small import small_dataset

from ol2r.random import generator

DATASET = small_dataset()
LARGE = np.flatnonzero(DATASET.sizes >= 5)


def rounds(n, replicas, pairs_a_round=2, seed=0):
    """Queries, pairs and labels of some rounds; a document may be in two pairs of a round."""
    rng = generator("a network's history", seed)
    for _ in range(n):
        query = rng.choice(LARGE[:6], replicas)
        pairs = np.stack([[rng.permutation(DATASET.sizes[q])[:2] for _ in range(pairs_a_round)] for q in query])
        pairs[rng.random(pairs.shape[:2]) < 0.3] = -1
        yield query, pairs, rng.random(pairs.shape[:2]) < 0.5
