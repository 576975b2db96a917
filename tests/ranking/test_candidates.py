"""Features of a round's documents."""

import numpy as np
import pytest
import torch
from small import candidates_of, small_dataset

DATASET = small_dataset()


@pytest.mark.parametrize("query", range(4))
def test_one_replica_has_the_features_that_it_has_beside_others_and_may_write_to_them(query):
    other = int(np.argmax(DATASET.sizes))
    (alone, there), (both, present) = (candidates_of(DATASET, each).padded() for each in ([query], [query, other]))
    size = int(DATASET.sizes[query])
    assert torch.equal(alone[0], both[0, :size]) and not both[0, size:].any()
    assert there.all() and there.shape == (1, size) == present[:1, :size].shape and not present[0, size:].any()
    kept = candidates_of(DATASET, [query])
    kept.padded()[0].fill_(-1.0)
    assert torch.equal(kept.padded()[0], alone)
