"""Labelled pairs from clicks, and RankNet's gradient: both bodies against the obvious version; and promises."""

import math
from collections import Counter

import numpy as np
import pytest
import reference
import torch
from reference import Draws
from small import candidates_of, small_dataset

from ol2r.random import Streams, generator
from ol2r.ranking import engine

ROUND = 11
BODIES = [("numba", "cpu"), ("torch", "cpu"), *([("torch", "cuda")] if torch.cuda.is_available() else [])]
both_bodies = pytest.mark.parametrize(("name", "device"), BODIES)
every_kind = pytest.mark.parametrize("kind", ["matched", "adjacent", "all", "matched-above", "matched-shown"])
every_depth = pytest.mark.parametrize("depth", [1, 2, 5, 10])


def lists_and_clicks(depth, replicas=300):
    """Lists of every length up to `depth`, some without a click, some clicked everywhere."""
    rng = generator("lists and clicks", depth)
    ranking, clicks = np.full((replicas, depth), -1), np.zeros((replicas, depth), dtype=bool)
    for r in range(replicas):
        length = 1 + r % depth
        ranking[r, :length] = rng.permutation(depth + 5)[:length]
        clicks[r, :length] = rng.random(length) < (0.0, 0.2, 0.5, 0.9, 1.0)[r // depth % 5]
    return ranking, clicks


def pairs_of(name, device, depth, kind):
    """Rankings, clicks and, of each replica, [(upper, lower, label)] in the order given."""
    ranking, clicks = lists_and_clicks(depth)
    streams = Streams(np.arange(len(ranking), dtype=np.uint64) * 7919, device)
    arrays = (torch.from_numpy(x).to(device) for x in (ranking, clicks))
    pairs, labels = engine(name).pairs_from_clicks(*arrays, kind, streams, ROUND)
    assert pairs.shape == (len(ranking), depth**2 // 4 if kind == "all" else depth // 2, 2)
    assert labels.shape == pairs.shape[:2]
    found = []
    for row, won in zip(pairs.tolist(), labels.tolist(), strict=True):
        n = sum(upper >= 0 for upper, _ in row)
        assert row[n:] == [[-1, -1]] * (len(row) - n)
        assert not any(won[n:])
        found.append([(*pair, label) for pair, label in zip(row[:n], won, strict=False)])
    return ranking.tolist(), clicks.tolist(), streams, found


@both_bodies
@every_kind
@every_depth
def test_pairs_are_those_of_the_rule(name, device, kind, depth):
    rankings, clicks, streams, found = pairs_of(name, device, depth, kind)
    for r, pairs in enumerate(found):
        shown = [document for document in rankings[r] if document >= 0]
        expected = reference.pairs_from_clicks(shown, clicks[r], kind, Draws(streams.keys[r]), ROUND)
        assert pairs == expected


@both_bodies
@every_kind
def test_a_pair_has_a_click_on_one_side_and_the_upper_document_first(name, device, kind):
    rankings, clicks, _, found = pairs_of(name, device, 10, kind)
    assert sum(map(len, found)) > 100
    for ranking, clicked, pairs in zip(rankings, clicks, found, strict=True):
        slot = {document: i for i, document in enumerate(ranking)}
        last = max((i for i, click in enumerate(clicked) if click), default=-2)
        last += {"matched-above": -1, "matched-shown": len(ranking)}.get(kind, 0)
        for upper, lower, label in pairs:
            assert slot[upper] < slot[lower] <= last + 1
            assert clicked[slot[upper]] == label != clicked[slot[lower]]


@both_bodies
@pytest.mark.parametrize("kind", ["matched", "adjacent"])
def test_no_document_is_in_two_pairs_of_a_round(name, device, kind):
    *_, found = pairs_of(name, device, 10, kind)
    for pairs in found:
        documents = [document for upper, lower, _ in pairs for document in (upper, lower)]
        assert len(documents) == len(set(documents))


@both_bodies
def test_every_matching_is_equally_likely(name, device):
    replicas = 6000
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    ranking = torch.arange(5, device=device).expand(replicas, -1).contiguous()
    clicks = torch.tensor([False, False, True, True, False], device=device).expand(replicas, -1).contiguous()
    pairs, _ = engine(name).pairs_from_clicks(ranking, clicks, "matched", streams, ROUND)
    matchings = Counter(tuple(sorted(map(tuple, row))) for row in pairs.tolist())
    assert len(matchings) == 6  # two clicked, three unclicked
    assert max(abs(n - replicas / 6) for n in matchings.values()) < 5 * math.sqrt(replicas / 6)


def pairs_of_any_sort(dataset, replicas=40, p=4):
    """Queries, weights, pairs and labels."""
    rng = generator("pairs of any sort", 0)
    query = np.arange(replicas) % dataset.n_queries
    weights = rng.standard_normal((replicas, dataset.n_features)).astype(np.float32)
    pairs = np.array([[rng.choice(max(n, 2), 2, replace=False) for _ in range(p)] for n in dataset.sizes[query]])
    pairs[dataset.sizes[query] == 1] = -1
    pairs[::3, 1] = -1  # padding may be anywhere
    return query, weights, pairs, rng.random((replicas, p)) < 0.5


@both_bodies
def test_the_pair_gradient_is_what_each_document_weighs_times_its_features(name, device):
    query, *arrays = pairs_of_any_sort(small_dataset())
    weights, pairs, labels = (torch.from_numpy(x).to(device) for x in arrays)
    candidates = candidates_of(small_dataset(), query, device)
    features, present = candidates.padded()
    scores = torch.einsum("rvd,rd->rv", features, weights).masked_fill(~present, torch.nan)
    weight = engine(name).pair_coefficients(scores, pairs, labels)
    paired = torch.zeros_like(scores).scatter_add(1, pairs.clamp_min(0).flatten(1), (pairs >= 0).flatten(1).float())
    assert not weight[paired == 0].any()
    gradient = engine(name).pair_gradient(candidates, weights, pairs, labels)
    np.testing.assert_allclose(gradient.cpu(), torch.einsum("rv,rvd->rd", weight, features).cpu(), atol=1e-5)


@both_bodies
def test_the_pair_gradient_is_the_slope_of_the_log_likelihood(name, device):
    dataset = small_dataset()
    query, weights, pairs, labels = pairs_of_any_sort(dataset)
    arrays = (torch.from_numpy(x).to(device) for x in (weights, pairs, labels))
    gradient = engine(name).pair_gradient(candidates_of(dataset, query, device), *arrays).cpu()
    for r in range(len(query)):
        features = dataset.query(query[r])[0].astype(np.float64)

        def log_likelihood(w, r=r, features=features):
            chosen = [(i, j) if won else (j, i) for (i, j), won in zip(pairs[r], labels[r], strict=True) if i >= 0]
            return sum(-np.log1p(np.exp((features[j] - features[i]) @ w)) for i, j in chosen)

        w, h = weights[r].astype(np.float64), 1e-6
        slope = [(log_likelihood(w + h * e) - log_likelihood(w - h * e)) / (2 * h) for e in np.eye(len(w))]
        np.testing.assert_allclose(gradient[r], slope, atol=1e-5)
