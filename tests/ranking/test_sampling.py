"""Plackett-Luce lists, the gradient of PDGD and ε-greedy lists: both bodies against enumeration and exact chances."""

import math
from collections import Counter
from decimal import Decimal
from itertools import permutations, product

import numpy as np
import pytest
import reference
import torch
from reference import Draws
from small import K, candidates_of, small_dataset

from ol2r.random import Streams, generator
from ol2r.ranking import Candidates, engine

ROUND = 5
BODIES = [("numba", "cpu"), ("torch", "cpu"), *([("torch", "cuda")] if torch.cuda.is_available() else [])]
both_bodies = pytest.mark.parametrize(("name", "device"), BODIES)
DATASET = small_dataset()
QUERIES = np.arange(40) % DATASET.n_queries  # among them of one document, of two, and of fewer than K
STREAMS = np.arange(40, dtype=np.uint64) * 7919


def weights_of(replicas, scale=1.0):
    weights = generator("weights for sampling", replicas).standard_normal((replicas, DATASET.n_features))
    return (scale * weights).astype(np.float32)


def documents_with_scores(scores, replicas, device):
    """Candidates of one query whose documents score just so under the weights that come with them."""
    n = len(scores)
    features = torch.eye(n, device=device)
    query = torch.zeros(replicas, dtype=torch.int64, device=device)
    candidates = Candidates(features, torch.tensor([0, n], device=device), features.sum(dim=0, keepdim=True), query)
    return candidates, torch.tensor(scores, dtype=torch.float32, device=device).expand(replicas, -1).contiguous()


def off_by_chance(counts, chances, n):
    """χ² of counts against chances, in standard deviations above its mean."""
    chi2 = sum((counts.get(key, 0) - n * p) ** 2 / (n * p) for key, p in chances.items())
    freedom = len(chances) - 1
    return (chi2 - freedom) / math.sqrt(2 * freedom)


# Plackett-Luce


@both_bodies
@pytest.mark.parametrize("depth", [1, 3, K, 40])
def test_a_plackett_luce_list_is_the_order_of_noisy_scores(name, device, depth):
    weights, streams = weights_of(40), Streams(STREAMS, device)
    ranking, scores, rest = engine(name).plackett_luce(
        candidates_of(DATASET, QUERIES, device), torch.from_numpy(weights).to(device), depth, streams, ROUND
    )
    for r, query in enumerate(QUERIES):
        values = reference.scores(DATASET.query(query)[0].astype(np.float64), weights[r].astype(np.float64))
        expected = reference.plackett_luce(values, depth, Draws(STREAMS[r]), ROUND)
        beyond = depth - len(expected)
        assert ranking[r].tolist() == expected + [-1] * beyond
        shown = [values[j] for j in expected]
        np.testing.assert_allclose(scores[r].cpu(), shown + [-math.inf] * beyond, atol=1e-5)
        left = sum(math.exp(value) for j, value in enumerate(values) if j not in expected)
        np.testing.assert_allclose(rest[r].cpu(), math.log(left) if left else -math.inf, atol=1e-5)


def scores_of(candidates, weights):
    """Linear scores as a network's would come: padded, not a number beyond a list."""
    features, present = candidates.padded()
    return torch.einsum("rvd,rd->rv", features, weights).masked_fill(~present, torch.nan)


@both_bodies
@pytest.mark.parametrize("depth", [1, K, 40])
def test_the_fast_path_of_linear_scores_draws_what_is_drawn_from_scores(name, device, depth):
    candidates, streams = candidates_of(DATASET, QUERIES, device), Streams(STREAMS, device)
    weights = torch.from_numpy(weights_of(40)).to(device)
    fast = engine(name).plackett_luce(candidates, weights, depth, streams, ROUND)
    drawn = engine(name).sample(candidates, scores_of(candidates, weights), depth, streams, ROUND)
    assert torch.equal(fast[0], drawn[0])
    for one, other in zip(fast[1:], drawn[1:], strict=True):
        np.testing.assert_allclose(one.cpu(), other.cpu(), atol=1e-5)


@both_bodies
@pytest.mark.parametrize("scores", [(0.0, 0.0, 0.0, 0.0), (1.0, -1.0, 0.5, 0.0), (3.0, 3.0, 0.0, -2.0)], ids=str)
def test_lists_are_as_frequent_as_plackett_luce_says(name, device, scores):
    replicas, depth = 20000, 3
    candidates, weights = documents_with_scores(scores, replicas, device)
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    ranking, _, _ = engine(name).plackett_luce(candidates, weights, depth, streams, ROUND)
    counts = Counter(map(tuple, ranking.tolist()))
    chances = {shown: reference.list_probability(scores, shown) for shown in permutations(range(4), depth)}
    assert abs(sum(chances.values()) - 1) < 1e-12
    assert set(counts) <= set(chances)
    assert off_by_chance(counts, chances, replicas) < 5


@both_bodies
def test_rounds_and_replicas_draw_anew(name, device):
    candidates, weights = documents_with_scores((0.0,) * 12, 50, device)
    streams = Streams(np.arange(50, dtype=np.uint64), device)
    one, other = (engine(name).plackett_luce(candidates, weights, K, streams, t)[0].tolist() for t in (1, 2))
    assert len(set(map(tuple, one + other))) == 100


# PDGD's gradient


def gradient_of(name, device, candidates, weights, ranking, clicks):
    """Gradient, and whether there was a pair, for given lists: with scores and what is left as they are."""
    scores, rest = [], []
    for r, query in enumerate(candidates.query.tolist()):
        first, last = candidates.offsets[query : query + 2].tolist()
        values = (candidates.features[first:last].double() @ weights[r].double()).cpu()
        shown = ranking[r][ranking[r] >= 0]
        others = np.setdiff1d(np.arange(last - first), shown)
        scores.append(np.r_[values[shown], np.full((ranking[r] < 0).sum(), -np.inf)])
        rest.append(float(values[others].logsumexp(dim=0)))
    arrays = (torch.from_numpy(np.asarray(x)).to(device) for x in (ranking, clicks, np.stack(scores), np.array(rest)))
    gradient, learned = engine(name).plackett_luce_gradient(candidates, *arrays)
    return gradient.cpu().numpy(), learned.cpu().numpy()


def lists_and_clicks():
    rng = generator("lists and clicks for PDGD", 0)
    ranking, clicks = np.full((40, K), -1), np.zeros((40, K), dtype=bool)
    for r, query in enumerate(QUERIES):
        shown = rng.permutation(DATASET.sizes[query])[:K]
        ranking[r, : len(shown)] = shown
        clicks[r, : len(shown)] = rng.random(len(shown)) < (0.0, 0.2, 0.5, 0.8)[r // 2 % 4]
    return ranking, clicks


@both_bodies
@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
def test_the_gradient_weighs_each_pair_by_the_chances_of_two_whole_lists(name, device, scale):
    weights = weights_of(40, scale)
    ranking, clicks = lists_and_clicks()
    candidates = candidates_of(DATASET, QUERIES, device)
    gradient, learned = gradient_of(name, device, candidates, torch.from_numpy(weights).to(device), ranking, clicks)
    assert 10 < learned.sum() < 40
    for r, query in enumerate(QUERIES):
        features = DATASET.query(query)[0].astype(np.float64)
        shown = [j for j in ranking[r] if j >= 0]
        values = reference.scores(features, weights[r].astype(np.float64))
        expected = reference.pdgd_gradient(features, values, shown, clicks[r, : len(shown)].tolist())
        np.testing.assert_allclose(gradient[r], expected, atol=2e-6)
        seen = [clicks[r, i] for i in reference.examined(shown, clicks[r, : len(shown)].tolist())]
        assert learned[r] == (len(set(seen)) == 2)


@both_bodies
@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
def test_the_gradient_of_linear_scores_is_what_each_document_weighs_times_its_features(name, device, scale):
    ranking, clicks = (torch.from_numpy(a).to(device) for a in lists_and_clicks())
    candidates, weights = candidates_of(DATASET, QUERIES, device), torch.from_numpy(weights_of(40, scale)).to(device)
    features, present = candidates.padded()
    scores = scores_of(candidates, weights).double()
    chosen = torch.zeros_like(scores).scatter_add(1, ranking.clamp_min(0), (ranking >= 0).double()) > 0
    shown = scores.gather(1, ranking.clamp_min(0)).masked_fill(ranking < 0, -torch.inf)
    rest = scores.masked_fill(chosen | ~present, -torch.inf).logsumexp(dim=1)
    gradient, learned = engine(name).plackett_luce_gradient(candidates, ranking, clicks, shown, rest)
    weight, also_learned = engine(name).swap_coefficients(ranking, clicks, shown, rest)
    assert torch.equal(learned, also_learned)
    assert not weight[ranking < 0].any()
    x = features.gather(1, ranking.clamp_min(0)[..., None].expand(-1, -1, features.shape[2]))
    np.testing.assert_allclose(gradient.cpu(), torch.einsum("rk,rkd->rd", weight, x.double()).cpu(), atol=2e-6)


@both_bodies
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_clicks_that_know_only_positions_move_nothing_on_average(name, device, depth):
    # the theorem of PDGD: P(R) ρ(R) = P(R*) ρ(R*), so that a pair and its mirror image cancel
    scores = (1.0, -0.5, 0.3, 2.0)
    lists = list(permutations(range(4), depth))
    patterns = [clicks for clicks in product([False, True], repeat=depth) if any(clicks)]
    p = np.array([reference.list_probability(scores, shown) for shown in lists])
    candidates, weights = documents_with_scores(scores, len(lists), device)
    for clicks in patterns:
        clicked = np.tile(clicks, (len(lists), 1))
        gradient, _ = gradient_of(name, device, candidates, weights, np.array(lists), clicked)
        np.testing.assert_allclose(p @ gradient, 0.0, atol=1e-7)
        if clicks[0] and not all(clicks):
            assert np.abs(gradient).max() > 0.01


@both_bodies
def test_a_document_clicked_more_often_for_itself_gains_on_average(name, device):
    scores = (0.0, 1.0, 2.0)  # the one that users prefer scores least
    lists = list(permutations(range(3)))
    p = np.array([reference.list_probability(scores, shown) for shown in lists])
    candidates, weights = documents_with_scores(scores, len(lists), device)
    clicks = np.array(lists) == 0
    gradient, _ = gradient_of(name, device, candidates, weights, np.array(lists), clicks)
    mean = p @ gradient
    assert mean[0] > 0.01
    assert mean[1] < 0
    assert mean[2] < 0


def exact_swap(values, ranking, i, j):
    """P(R*) / (P(R) + P(R*)), with exponents as large as they come."""

    def probability(shown):
        left, p = [Decimal(v).exp() for v in values], Decimal(1)
        for document in shown:
            p *= left[document] / sum(left)
            left[document] = Decimal(0)
        return p

    swapped = list(ranking)
    swapped[i], swapped[j] = ranking[j], ranking[i]
    p, q = probability(ranking), probability(swapped)
    return float(q / (p + q))


@both_bodies
@pytest.mark.parametrize("far", [50.0, 800.0, 1e5])
def test_pair_weights_are_exact_however_far_scores_lie_apart(name, device, far):
    rng = generator("scores far apart", 0)
    for shown in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 4, 1)):
        values = [0.0, 1.0, far, -far, far - 0.5, -far]
        values = [float(np.float32(v)) for v in rng.permutation(values)]
        candidates, weights = documents_with_scores(values, 1, device)
        clicks = [True, False, True, False]
        gradient, _ = gradient_of(name, device, candidates, weights, np.array([shown]), np.array([clicks]))
        expected = np.zeros(6)
        for i, j in ((0, 1), (0, 3), (2, 1), (2, 3)):
            a, b = shown[i], shown[j]
            e = math.exp(-abs(values[a] - values[b]))
            change = exact_swap(values, shown, i, j) * e / (1 + e) ** 2
            expected[a] += change
            expected[b] -= change
        np.testing.assert_allclose(gradient[0], expected, atol=1e-7)


@both_bodies
def test_identical_documents_teach_nothing(name, device):
    features = torch.ones(5, 3, device=device)
    offsets, query = torch.tensor([0, 5], device=device), torch.zeros(1, dtype=torch.int64, device=device)
    candidates = Candidates(features, offsets, features.sum(dim=0, keepdim=True), query)
    weights = torch.ones(1, 3, device=device)
    shown, clicks = np.arange(5)[None], np.array([[False, True, False, False, False]])
    gradient, learned = gradient_of(name, device, candidates, weights, shown, clicks)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-7)
    assert learned.all()


# ε-greedy


@both_bodies
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("depth", [1, 3, K, 40])
def test_an_epsilon_greedy_list_is_the_one_drawn_by_hand(name, device, epsilon, depth):
    candidates, streams = candidates_of(DATASET, QUERIES, device), Streams(STREAMS, device)
    weights = weights_of(40)
    ops = engine(name)
    best = ops.rank(candidates, torch.from_numpy(weights).to(device)[:, None], depth, streams, ROUND)[:, 0]
    lists = ops.explore(candidates, best, torch.full((40,), epsilon, device=device), streams, ROUND)
    for r, query in enumerate(QUERIES):
        draws = Draws(STREAMS[r])
        features = DATASET.query(query)[0].astype(np.float64)
        order = reference.whole_ranking(features, weights[r].astype(np.float64), draws, ROUND, 0)
        expected = reference.epsilon_greedy(order, epsilon, depth, draws, ROUND)
        assert lists[r].tolist() == expected + [-1] * (depth - len(expected))
    if epsilon == 0:
        assert torch.equal(lists, best)


def _one_query(n_documents, replicas, device):
    """The same query for all replicas; its documents have no features."""
    offsets = torch.tensor([0, n_documents], device=device)
    nothing = torch.zeros(n_documents, 0, device=device)
    return Candidates(nothing, offsets, nothing[:1], torch.zeros(replicas, dtype=torch.int64, device=device))


@both_bodies
@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0])
def test_epsilon_greedy_lists_are_as_frequent_as_their_slots_say(name, device, epsilon):
    replicas, depth = 20000, 3
    order = (2, 0, 3, 1)
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    best = torch.tensor(order[:depth], device=device).expand(replicas, -1).contiguous()
    four = _one_query(4, replicas, device)
    lists = engine(name).explore(four, best, torch.full((replicas,), epsilon, device=device), streams, ROUND)
    chances = {}
    for shown in permutations(range(4), depth):
        chances[shown] = 1.0
        for i, document in enumerate(shown):
            left = [j for j in order if j not in shown[:i]]
            chances[shown] *= (1 - epsilon) * (document == left[0]) + epsilon / len(left)
    assert abs(sum(chances.values()) - 1) < 1e-12
    assert off_by_chance(Counter(map(tuple, lists.tolist())), chances, replicas) < 5


@both_bodies
def test_each_replica_has_an_epsilon_of_its_own(name, device):
    replicas = 3000
    best = torch.arange(10, device=device).expand(replicas, -1).contiguous()
    ten = _one_query(10, replicas, device)
    epsilon = torch.linspace(0, 1, 3, device=device).repeat_interleave(replicas // 3)
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    lists = engine(name).explore(ten, best, epsilon, streams, ROUND)
    first = (lists[:, 0] == 0).view(3, -1).float().mean(dim=1).cpu().numpy()
    np.testing.assert_allclose(first, [1.0, 0.55, 0.1], atol=5 * math.sqrt(0.25 / (replicas / 3)))
