"""Labelled pairs: each kept once with the counts of its labels, against a plain dictionary, for both bodies."""

from collections import Counter

import numpy as np
import pytest
import torch
from small import candidates_of, small_dataset

from ol2r.random import generator
from ol2r.ranking import Candidates, engine
from ol2r.ranking.batched.counts import pair_ids

BODIES = [("numba", "cpu"), ("torch", "cpu"), *([("torch", "cuda")] if torch.cuda.is_available() else [])]
both_bodies = pytest.mark.parametrize(("name", "device"), BODIES)
DATASET = small_dataset()
LARGE = np.flatnonzero(DATASET.sizes >= 4)


@both_bodies
def test_a_pair_is_kept_once_with_its_counts_whichever_way_round_it_comes(name, device):
    rng, replicas = generator("labelled pairs", 0), 3
    counts = engine(name).PairCounts(replicas, DATASET.n_features, device)
    seen = [{} for _ in range(replicas)]  # by pair of documents: its row
    labels_of = [Counter() for _ in range(replicas)]
    for _ in range(80):
        query = rng.choice(LARGE[:5], replicas)
        pairs = np.stack([rng.permuted(np.arange(DATASET.sizes[q]))[:4].reshape(2, 2) for q in query])
        pairs[rng.random((replicas, 2)) < 0.2] = -1
        labels = rng.random((replicas, 2)) < 0.5
        told = (torch.from_numpy(a).to(device) for a in (pairs, labels))
        rows, won = (a.cpu().numpy() for a in counts.add(candidates_of(DATASET, query, device), *told))
        assert ((rows >= 0) == (pairs[..., 0] >= 0)).all()
        for r, i in zip(*np.nonzero(rows >= 0), strict=True):
            documents = pairs[r, i] + DATASET.offsets[query[r]]
            low, high = sorted(documents)
            assert seen[r].setdefault((low, high), len(seen[r])) == rows[r, i]
            assert won[r, i] == (labels[r, i] == (documents[0] == low))
            labels_of[r][low, high, bool(won[r, i])] += 1
    assert counts.n_pairs.tolist() == [len(known) for known in seen]
    assert max(map(len, seen)) > 64  # so that room was made
    for r, known in enumerate(seen):
        assert sum(labels_of[r].values()) > len(known)  # some pairs came again
        for (low, high), row in known.items():
            x = DATASET.features[low] - DATASET.features[high]
            np.testing.assert_array_equal(counts.x[r, row].cpu().numpy(), x)
            wanted = [labels_of[r][low, high, True], labels_of[r][low, high, False]]
            assert counts.outcomes[r, row].tolist() == wanted


@both_bodies
def test_the_same_documents_of_another_query_are_another_pair(name, device):
    counts = engine(name).PairCounts(1, DATASET.n_features, device)
    for query in LARGE[:3]:
        pairs, won = torch.tensor([[[0, 1]]], device=device), torch.ones(1, 1, dtype=torch.bool, device=device)
        counts.add(candidates_of(DATASET, [query], device), pairs, won)
    assert counts.n_pairs.tolist() == [3]


@both_bodies
def test_a_list_too_short_for_a_pair_adds_none(name, device):
    counts = engine(name).PairCounts(2, DATASET.n_features, device)
    nothing = torch.zeros(2, 0, 2, dtype=torch.int64, device=device), torch.zeros(2, 0, dtype=torch.bool, device=device)
    rows, won = counts.add(candidates_of(DATASET, LARGE[:2], device), *nothing)
    assert rows.shape == won.shape == (2, 0)
    assert counts.n_pairs.tolist() == [0, 0]


@both_bodies
def test_documents_with_numbers_are_the_same_in_any_collection_and_order(name, device):
    """Σ over labels of (x of the preferred document less x of the other) is what a loss is told."""
    rng = generator("numbered documents", 0)
    table, numbers = torch.from_numpy(rng.random((9, 3), dtype=np.float32)), rng.integers(0, 2**62, 9)
    counts = engine(name).PairCounts(1, 3, device)
    total, met = torch.zeros(3), set()
    for _ in range(60):
        order = rng.permutation(9)[:5]
        x, named = table[order].to(device), torch.from_numpy(numbers[order]).to(device)
        offsets, query = torch.tensor([0, 5], device=device), torch.tensor([0], device=device)
        of = Candidates(x, offsets, x.sum(dim=0)[None], query, numbers=named)
        i, j = rng.permutation(5)[:2].tolist()
        first = bool(rng.random() < 0.5)
        told = (x[i] - x[j]) * (1 if first else -1)
        row, won = counts.add(of, torch.tensor([[[i, j]]], device=device), torch.tensor([[first]], device=device))
        total += told.cpu()
        met.add(frozenset(order[[i, j]].tolist()))
        assert torch.equal(counts.x[0, row[0, 0]] * (1 if won else -1), told)
    assert counts.n_pairs.tolist() == [len(met)]
    kept = counts.outcomes[0, : len(met)].cpu()
    found = ((kept[:, :1] - kept[:, 1:]) * counts.x[0, : len(met)].cpu()).sum(dim=0)
    torch.testing.assert_close(found.float(), total)


def test_pairs_of_small_numbers_have_numbers_of_their_own():
    """Closest to each other are the multiples by numbers of Fibonacci, and these lie far enough apart."""
    fibonacci = [1, 2]
    while fibonacci[-1] + fibonacci[-2] < 2**31:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    apart = pair_ids(torch.tensor([[each, 0] for each in fibonacci]))
    assert apart.abs().min() > 2**31
    both = torch.cartesian_prod(torch.arange(300), torch.arange(300))
    assert len(pair_ids(both).unique()) == len(both)
