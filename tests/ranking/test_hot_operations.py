"""The hot operations: both bodies against slow obvious versions, and hence against each other."""

import math

import numpy as np
import pytest
import reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Draws
from small import K, candidates_of, small_dataset

from ol2r.random import Stream, Streams, generator
from ol2r.ranking import batched, compiled, default_engine, engine

ROUND = 7
BODIES = [("numba", "cpu"), ("torch", "cpu"), *([("torch", "cuda")] if torch.cuda.is_available() else [])]
both_bodies = pytest.mark.parametrize(("name", "device"), BODIES)
DATASET = small_dataset()
REPLICAS = 40


class Setting:
    """Forty replicas, each with a query, three rankers and random words of its own."""

    def __init__(self, device, rankers=3, replicas=REPLICAS):
        rng = generator("hot operations", rankers)
        self.query = np.arange(replicas) % DATASET.n_queries
        weights = rng.standard_normal((replicas, rankers, DATASET.n_features)).astype(np.float32)
        weights[::4] = 0.0  # nothing but ties
        weights[1::4, -1] = weights[1::4, 0]
        self.weights = torch.from_numpy(weights).to(device)
        self.candidates = candidates_of(DATASET, self.query, device)
        self.streams = Streams(np.arange(replicas, dtype=np.uint64) * 7919, device)

    def __iter__(self):
        """Features, weights and random words of each replica, for the plain versions."""
        for r, query in enumerate(self.query):
            weights = self.weights[r].cpu().numpy().astype(np.float64)
            yield r, DATASET.query(query)[0].astype(np.float64), weights, Draws(self.streams.keys[r])


def padded(ranking, depth):
    return list(ranking) + [-1] * (depth - len(ranking))


def test_the_engines_are_numba_and_torch():
    assert default_engine("cpu") == "numba"
    assert default_engine("cuda") == "torch"
    with pytest.raises(ValueError, match="engine must be one of numba, torch, not 'numpy'"):
        engine("numpy")


def test_both_engines_have_every_operation():
    assert compiled.__all__ == batched.__all__
    assert [name for name in batched.__all__ if not hasattr(compiled, name)] == []


# Ranking


@both_bodies
@pytest.mark.parametrize("depth", [1, 2, 9, 10, 40])
def test_rank_gives_the_best_documents_and_pads_short_lists(name, device, depth):
    s = Setting(device)
    lists = engine(name).rank(s.candidates, s.weights, depth, s.streams, ROUND).tolist()
    for r, features, weights, draws in s:
        expected = reference.top_lists(features, weights, depth, draws, ROUND)
        assert lists[r] == [padded(ranking, depth) for ranking in expected]


@both_bodies
@pytest.mark.parametrize("depth", [1, 10, 40])
def test_the_fast_path_of_linear_scores_ranks_as_scores_say(name, device, depth):
    s = Setting(device)
    features, present = s.candidates.padded()
    scores = torch.einsum("rvd,rmd->rmv", features, s.weights).masked_fill(~present[:, None], torch.nan)
    lists = engine(name).best(s.candidates, scores, depth, s.streams, ROUND)
    assert torch.equal(lists, engine(name).rank(s.candidates, s.weights, depth, s.streams, ROUND))


@both_bodies
def test_ties_are_broken_uniformly_and_anew_each_round(name, device):
    replicas, query = 6000, 9  # three documents
    candidates = candidates_of(DATASET, [query] * replicas, device)
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    weights = torch.zeros(replicas, 2, DATASET.n_features, device=device)
    lists = engine(name).rank(candidates, weights, 3, streams, ROUND)
    codes = (lists * torch.tensor([9, 3, 1], device=device)).sum(dim=2).cpu()
    for m in range(2):
        _, counts = codes[:, m].unique(return_counts=True)
        assert len(counts) == 6
        assert (counts - replicas / 6).abs().max() < 5 * math.sqrt(replicas / 6)
    assert (codes[:, 0] == codes[:, 1]).float().mean() < 0.25, "the rankers' ties are independent"
    again = engine(name).rank(candidates, weights, 3, streams, ROUND + 1)
    assert not torch.equal(lists, again)


# Team draft


@both_bodies
@pytest.mark.parametrize("prefix_credit", [True, False])
@pytest.mark.parametrize("rankers", [1, 2, 5])
@pytest.mark.parametrize("first", ["nobody", "somebody"])
def test_team_draft_is_the_draft_played_by_hand(name, device, prefix_credit, rankers, first):
    s = Setting(device, rankers)
    ops = engine(name)
    lists = ops.rank(s.candidates, s.weights, K, s.streams, ROUND)
    favoured = torch.full((REPLICAS,), -1, device=device)
    if first == "somebody":
        favoured[::2] = torch.arange(REPLICAS // 2, device=device) % rankers
    ranking, team = (x.tolist() for x in ops.team_draft(lists, favoured, prefix_credit, s.streams, ROUND))
    assert {1, 2, K - 1, K} <= set(DATASET.sizes)
    for r, _, _, draws in s:
        own = [[d for d in row if d >= 0] for row in lists[r].tolist()]
        drafts_first = None if favoured[r] < 0 else int(favoured[r])
        shown, drafted = reference.team_draft(own, drafts_first, prefix_credit, draws, ROUND)
        assert ranking[r] == padded(shown, K)
        assert team[r] == padded([-1 if t is None else t for t in drafted], K)


@both_bodies
@pytest.mark.parametrize("prefix_credit", [True, False])
def test_multileaving_linear_rankers_is_the_team_draft_of_their_lists(name, device, prefix_credit):
    s = Setting(device, 3)
    ops = engine(name)
    first = torch.arange(REPLICAS, device=device) % 4 - 1
    drafted = ops.multileave(s.candidates, s.weights, K, first, prefix_credit, s.streams, ROUND)
    lists = ops.rank(s.candidates, s.weights, K, s.streams, ROUND)
    for found, expected in zip(drafted, ops.team_draft(lists, first, prefix_credit, s.streams, ROUND), strict=True):
        assert torch.equal(found, expected)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_team_draft_keeps_its_promises_on_any_lists(data):
    size = data.draw(st.integers(1, 8), label="documents")
    depth = data.draw(st.integers(1, 8), label="depth")
    rankers = data.draw(st.integers(1, 5), label="rankers")
    prefix_credit = data.draw(st.booleans(), label="prefix credit")
    whole = data.draw(st.lists(st.permutations(range(size)), min_size=rankers, max_size=rankers), label="rankings")
    rows = [padded(row[:depth], depth) for row in whole]
    key = data.draw(st.integers(0, 2**64 - 1), label="key")
    streams = Streams(np.array([key], dtype=np.uint64))
    nobody = torch.tensor([-1])
    lists = torch.tensor([rows])
    shown, team = engine("numba").team_draft(lists, nobody, prefix_credit, streams, ROUND)
    for a, b in zip(
        (shown, team), engine("torch").team_draft(lists, nobody, prefix_credit, streams, ROUND), strict=True
    ):
        assert torch.equal(a, b)
    length = min(size, depth)
    shown, team = shown[0, :length].tolist(), team[0, :length].tolist()
    assert len(set(shown)) == length
    drafted = [t for t in team if t >= 0]
    picks = np.bincount(drafted, minlength=rankers)
    assert picks.max() - picks.min() <= 1, "no ranker drafts twice before every other drafted"
    if prefix_credit:
        assert len(drafted) == length
    for slot, (document, ranker) in enumerate(zip(shown, team, strict=True)):
        if ranker >= 0:
            assert document == next(d for d in rows[ranker] if d not in shown[:slot])


@both_bodies
def test_every_ranker_drafts_first_equally_often(name, device):
    replicas, rankers = 8000, 4
    lists = torch.stack([torch.arange(4).roll(m) for m in range(rankers)]).expand(replicas, -1, -1).contiguous()
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    nobody = torch.full((replicas,), -1, device=device)
    _, team = engine(name).team_draft(lists.to(device), nobody, True, streams, ROUND)
    for slot in range(2):
        share = team[:, slot].bincount(minlength=rankers).cpu() / replicas
        assert (share - 1 / rankers).abs().max() < 5 * math.sqrt(0.25 * 0.75 / replicas)


@both_bodies
def test_a_favoured_ranker_drafts_first_in_every_turn(name, device):
    replicas, rankers = 50, 3
    # disjoint tops, so that each slot tells who drafted it
    lists = torch.arange(9).view(3, 3).expand(replicas, -1, -1).contiguous().to(device)
    lists = torch.cat([lists, lists.roll(1, dims=1)], dim=2)
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    first = torch.arange(replicas, device=device) % rankers
    _, team = engine(name).team_draft(lists, first, False, streams, ROUND)
    assert (team[:, 0] == first).all()
    assert (team[:, 3] == first).all()


# Probabilistic interleaving


@both_bodies
@pytest.mark.parametrize("decay", [0.0, 1.0, 3.0, 6.0])
def test_probabilistic_interleaving_is_the_draw_played_by_hand(name, device, decay):
    s = Setting(device, 2)
    ranking, share, probability = engine(name).probabilistic_interleave(
        s.candidates, s.weights, K, decay, s.streams, ROUND
    )
    for r, features, weights, draws in s:
        shown, (p, q) = reference.probabilistic_interleave(features, weights, K, decay, draws, ROUND)
        assert ranking[r].tolist() == padded(shown, K)
        posterior = [b / (a + b) for a, b in zip(p, q, strict=True)]
        expected = posterior + [0.5] * (K - len(shown))
        np.testing.assert_allclose(share[r].cpu(), expected, rtol=1e-9)
        expected = [(a + b) / 2 for a, b in zip(p, q, strict=True)] + [1.0] * (K - len(shown))
        np.testing.assert_allclose(probability[r].cpu(), expected, rtol=1e-9)


@both_bodies
def test_a_slot_is_drawn_from_the_mean_of_the_two_softened_rankings(name, device):
    replicas, decay, query = 20000, 1.0, 3  # ten documents
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    pair = generator("two rankers", 0).standard_normal((2, DATASET.n_features)).astype(np.float32)
    weights = torch.from_numpy(pair).expand(replicas, -1, -1).contiguous().to(device)
    candidates = candidates_of(DATASET, [query] * replicas, device)
    ranking, _, _ = engine(name).probabilistic_interleave(candidates, weights, K, decay, streams, ROUND)
    features = DATASET.query(query)[0].astype(np.float64)
    mass = [reference.masses(features, w, decay, Draws(0), ROUND, 0) for w in pair.astype(np.float64)]
    p = np.mean([np.array(m) / sum(m) for m in mass], axis=0)
    seen = np.bincount(ranking[:, 0].cpu(), minlength=10) / replicas
    assert np.abs(seen - p).max() < 5 * math.sqrt(0.25 / replicas)
    top = int(np.argmax(p))  # second slot, given the first
    after = ranking[ranking[:, 0] == top, 1].cpu()
    p = np.mean([np.where(np.arange(10) == top, 0, m) / (sum(m) - m[top]) for m in mass], axis=0)
    assert np.abs(np.bincount(after, minlength=10) / len(after) - p).max() < 5 * math.sqrt(0.25 / len(after))


@both_bodies
def test_a_share_is_the_posterior_of_the_coin(name, device):
    replicas, query = 20000, 9  # three documents
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    pair = generator("two rankers", 1).standard_normal((2, DATASET.n_features)).astype(np.float32)
    weights = torch.from_numpy(pair).expand(replicas, -1, -1).contiguous().to(device)
    candidates = candidates_of(DATASET, [query] * replicas, device)
    ranking, share, _ = engine(name).probabilistic_interleave(candidates, weights, 1, 1.0, streams, ROUND)
    coin = np.array([Draws(key).below(Stream.INTERLEAVE, ROUND, 0, 2) for key in streams.keys])
    for document in range(3):
        drawn = (ranking[:, 0] == document).cpu().numpy()
        assert abs(coin[drawn].mean() - share[:, 0].cpu().numpy()[drawn][0]) < 5 * math.sqrt(0.25 / drawn.sum())


@both_bodies
def test_rankings_alike_but_for_unshown_documents_share_every_click_alike(name, device):
    # a draw must be a draw in every bit, however the masses are summed
    dataset, replicas = small_dataset(30), 400
    query = [17] * replicas  # 25 documents
    rng = generator("alike on top", 0)
    features = torch.from_numpy(np.eye(30, dtype=np.float32)[:25])
    order = np.stack([np.arange(25), *(np.r_[:10, 10 + rng.permutation(15)] for _ in range(replicas))])
    weights = torch.zeros(replicas, 2, 30)
    for r in range(replicas):
        weights[r, 0, order[0]] = torch.arange(25.0, 0, -1)
        weights[r, 1, order[r + 1]] = torch.arange(25.0, 0, -1)
    candidates = candidates_of(dataset, query, device)
    candidates.features[dataset.offsets[17] : dataset.offsets[18]] = features.to(device)
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    ops = engine(name)
    ranking, share, _ = ops.probabilistic_interleave(candidates, weights.to(device), 1, 3.0, streams, ROUND)
    assert (share[ranking < 10] == 0.5).all()
    lists = torch.arange(10, device=device).expand(replicas, 1, -1).contiguous()
    queries = torch.tensor(query, device=device)[:, None]
    p = ops.replayed_probabilities(candidates, queries, lists, weights.to(device), 3.0, streams, ROUND)
    assert torch.equal(p[:, 0], p[:, 1])


@both_bodies
def test_replayed_probabilities_are_those_of_the_softened_rankings(name, device):
    s = Setting(device)
    rng = generator("recorded lists", 0)
    items, decay = 4, 3.0
    queries = rng.integers(0, DATASET.n_queries, (REPLICAS, items))
    queries[::5, 2] = -1
    lists = np.full((REPLICAS, items, K), -1)
    for r, h in np.ndindex(REPLICAS, items):
        shown = rng.permutation(DATASET.sizes[queries[r, h]])[:K] if queries[r, h] >= 0 else []
        lists[r, h, : len(shown)] = shown
    out = engine(name).replayed_probabilities(
        s.candidates, *(torch.from_numpy(x).to(device) for x in (queries, lists)), s.weights, decay, s.streams, ROUND
    )
    for r, _, weights, draws in s:
        for m, h in np.ndindex(3, items):
            expected = [1.0] * K
            if queries[r, h] >= 0:
                features = DATASET.query(queries[r, h])[0].astype(np.float64)
                mass = reference.masses(features, weights[m], decay, draws, ROUND, (h * 3 + m + 2) * len(features))
                p = reference.slot_probabilities(mass, [d for d in lists[r, h] if d >= 0])
                expected[: len(p)] = p
            np.testing.assert_allclose(out[r, m, h].cpu(), expected, rtol=1e-9)


@both_bodies
def test_replaying_the_shown_list_under_its_own_pair_recovers_its_probability(name, device):
    s = Setting(device, 2)
    s.weights[::4] = torch.eye(2, DATASET.n_features, device=device)  # ties would be broken anew
    distinct = torch.tensor(~np.isin(s.query, [5, 7]), device=device)  # these have twin documents
    ops = engine(name)
    ranking, _, probability = ops.probabilistic_interleave(s.candidates, s.weights, K, 3.0, s.streams, ROUND)
    query = torch.from_numpy(s.query).to(device)[:, None]
    p = ops.replayed_probabilities(s.candidates, query, ranking[:, None], s.weights, 3.0, s.streams, ROUND + 1)
    replayed = 0.5 * p.sum(dim=1)[:, 0]
    torch.testing.assert_close(replayed[distinct], probability[distinct], atol=0, rtol=1e-9)


# Directions and null spaces


@both_bodies
@pytest.mark.parametrize("d", [1, 2, 5, 12, 46])
def test_directions_are_normalised_gaussians(name, device, d):
    streams = Streams(np.arange(5, dtype=np.uint64), device)
    out = engine(name).unit_vectors(streams, Stream.DIRECTION, ROUND, 3, d)
    expected = [Draws(key).directions(Stream.DIRECTION, ROUND, 3, d) for key in streams.keys]
    np.testing.assert_allclose(out.cpu(), expected, atol=2e-6)


@both_bodies
def test_directions_are_uniform_on_the_sphere(name, device):
    replicas, n, d = 4000, 5, 6
    streams = Streams(np.arange(replicas, dtype=np.uint64), device)
    u = engine(name).unit_vectors(streams, Stream.DIRECTION, ROUND, n, d).cpu().numpy().astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(u, axis=2), 1, atol=1e-6)
    flat = u.reshape(-1, d)
    error = 5 / math.sqrt(len(flat))
    assert np.abs(flat.mean(axis=0)).max() < error * math.sqrt(1 / d)
    assert np.abs(flat.T @ flat / len(flat) - np.eye(d) / d).max() < error * math.sqrt(2 / d**2)
    assert abs((flat**4).mean() - 3 / (d * (d + 2))) < error * math.sqrt(105) / d**2
    between = (u[:, 0] * u[:, 1]).sum(axis=1)  # one candidate says nothing of the next
    assert abs(between.mean()) < 5 * math.sqrt(1 / d / replicas)


def spanned(vectors, used):
    """Rank and orthonormal basis of the used vectors, by numpy's SVD."""
    rows = vectors[used].astype(np.float64)
    rows = rows[np.linalg.norm(rows, axis=1) > 0]
    if not len(rows):
        return 0, np.zeros((0, vectors.shape[1]))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    rank = int((sizes > 1e-4).sum())
    return rank, basis[:rank]


def vectors_of_all_sorts(d):
    """Replicas × vectors × d: independent, dependent, doubled, opposite, zero and unused ones; more vectors than d."""
    rng = generator("vectors of all sorts", d)
    vectors = rng.standard_normal((7, d + 3, d)).astype(np.float32)
    used = np.ones((7, d + 3), dtype=bool)
    vectors[1, 1] = vectors[1, 0]
    vectors[1, 2] = -2 * vectors[1, 0]
    vectors[2, 3] = vectors[2, 0] + vectors[2, 1]
    vectors[3] = 0
    vectors[4, ::2] = 0
    used[5] = False
    vectors[6, :, 1:] *= 1e-3
    used[:3, 4:] = False
    used[6, 2:] = False
    return vectors, used


@both_bodies
@pytest.mark.parametrize("d", [5, 12, 46])
def test_reflectors_split_space_into_the_span_and_its_null_space(name, device, d):
    vectors, used = vectors_of_all_sorts(d)
    ops = engine(name)
    v, rank = ops.reflectors(torch.from_numpy(vectors).to(device), torch.from_numpy(used).to(device))
    replicas = len(used)
    lengths = v.norm(dim=2).cpu()
    assert (((lengths - 1).abs() < 1e-5) | (lengths == 0)).all()
    assert (lengths > 0).sum(dim=1).tolist() == rank.tolist()
    identity = torch.eye(d, device=device).expand(replicas, -1, -1).contiguous()
    q = ops.reflect(v, identity).cpu().numpy().astype(np.float64)  # row i is Q e_i
    for r in range(replicas):
        expected, basis = spanned(vectors[r], used[r])
        assert rank[r] == expected
        np.testing.assert_allclose(q[r] @ q[r].T, np.eye(d), atol=2e-5)
        null, span = q[r, expected:], q[r, :expected]
        assert np.abs(null @ basis.T).max(initial=0) < 2e-4
        np.testing.assert_allclose(span @ basis.T @ basis, span, atol=2e-4)


def householder(vectors, used):
    """The reflections I − 2 v vᵀ of a QR decomposition of the used rows, by the book; rows that depend are skipped."""
    d, found = vectors.shape[1], []
    for x in vectors[used].astype(np.float64):
        length = np.linalg.norm(x)
        for reflection in found:
            x = reflection @ x
        pivot = len(found)
        rest = np.linalg.norm(x[pivot:])
        if rest > 1e-6 * length:
            v = np.r_[np.zeros(pivot), x[pivot:]]
            v[pivot] += rest if x[pivot] >= 0 else -rest
            found.append(np.eye(d) - 2 * np.outer(v, v) / (v @ v))
    return found


@both_bodies
@pytest.mark.parametrize("d", [5, 12, 46])
def test_reflectors_are_householders_one_by_one(name, device, d):
    vectors, used = vectors_of_all_sorts(d)
    vectors[0, :4] = -np.eye(d, dtype=np.float32)[[2, 0, 4, 2]]  # pivots of 0 and −0
    v, rank = engine(name).reflectors(torch.from_numpy(vectors).to(device), torch.from_numpy(used).to(device))
    for r in (0, 1, 3, 5, 6):  # the others leave rounding errors for pivots, whose signs are anybody's
        expected = householder(vectors[r], used[r])
        own = [row.astype(np.float64) for row in v[r].cpu().numpy() if row.any()]
        assert rank[r] == len(own) == len(expected)
        for row, reflection in zip(own, expected, strict=True):
            np.testing.assert_allclose(np.eye(d) - 2 * np.outer(row, row), reflection, atol=1e-4)


@both_bodies
def test_reflection_keeps_lengths_and_angles(name, device):
    vectors, used = (torch.from_numpy(x).to(device) for x in vectors_of_all_sorts(12))
    rng = generator("coordinates", 0)
    z = torch.from_numpy(rng.standard_normal((7, 4, 12)).astype(np.float32)).to(device)
    ops = engine(name)
    kept = z.clone()
    x = ops.reflect(ops.reflectors(vectors, used)[0], z)
    torch.testing.assert_close(x @ x.transpose(1, 2), z @ z.transpose(1, 2), atol=1e-4, rtol=1e-4)
    assert torch.equal(z, kept), "the coordinates are not written to"


# Recorded queries, and the step


@both_bodies
@pytest.mark.parametrize("measure", ["ndcg", "reciprocal_rank"])
@pytest.mark.parametrize("depth", [1, 3, K])
def test_clicks_score_takes_clicks_for_labels(name, device, depth, measure):
    s = Setting(device, 4)
    rng = generator("recorded clicks", depth)
    items = 5
    queries = rng.integers(0, DATASET.n_queries, (REPLICAS, items))
    queries[::3, 1] = -1
    lists, clicks = np.full((REPLICAS, items, depth), -1), np.zeros((REPLICAS, items, depth), dtype=bool)
    for r, h in np.ndindex(REPLICAS, items):
        shown = rng.permutation(DATASET.sizes[queries[r, h]])[:depth]
        lists[r, h, : len(shown)] = shown
        clicks[r, h, : len(shown)] = rng.random(len(shown)) < 0.4
    tied = rng.random((REPLICAS, 4)) < 0.6
    arrays = (torch.from_numpy(x).to(device) for x in (queries, lists, clicks))
    out = engine(name).clicks_score(s.candidates, *arrays, s.weights, torch.from_numpy(tied).to(device), measure)
    for r, _, weights, _ in s:
        for m in range(4):
            expected = 0.0
            for h in range(items):
                if queries[r, h] >= 0 and tied[r, m] and tied[r].sum() > 1:
                    features = DATASET.query(queries[r, h])[0].astype(np.float64)
                    recorded = (lists[r, h], clicks[r, h])
                    expected += reference.clicks_score(features, weights[m], *recorded, depth, measure)
            assert abs(out[r, m].item() - expected) < 1e-9


@both_bodies
def test_a_step_follows_the_winners(name, device):
    rng = generator("a step", 0)
    weights, directions, shares = (
        rng.standard_normal(shape).astype(np.float32) for shape in ((6, 12), (6, 3, 12), (6, 3))
    )
    shares[0] = 0
    alpha = np.linspace(0.1, 2, 6).astype(np.float32)
    expected = weights + alpha[:, None] * (shares[..., None] * directions).sum(axis=1)
    w, g, s, a = (torch.from_numpy(x.copy()).to(device) for x in (weights, directions, shares, alpha))
    alive, decay = torch.ones(6, dtype=torch.bool, device=device), torch.full((6,), 0.5, device=device)
    alive[5] = False
    moved = engine(name).follow(w, g, s, alive, decay, a)
    np.testing.assert_array_equal(moved[[0, 5]].cpu(), weights[[0, 5]], "no share, or dead")
    np.testing.assert_allclose(moved[1:5].cpu(), expected[1:5], atol=1e-5)
    np.testing.assert_array_equal(w.cpu(), weights, "the weights are not written to")
    np.testing.assert_array_equal(a.cpu(), alpha * [1, 0.5, 0.5, 0.5, 0.5, 0.5], "α decays where a step is taken")


@both_bodies
@pytest.mark.parametrize("along", ["shares", "gradient"])
def test_following_and_climbing_are_the_step_to_where_they_lead(name, device, along):
    rng = generator("a step too far", 0)
    weights, directions, shares = (
        torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).to(device)
        for shape in ((4, 12), (4, 3, 12), (4, 3))
    )
    shares[1] = 0
    directions[2, 1, 5], directions[3] = torch.inf, 1e30
    gradient, taken = (shares[..., None] * directions).sum(dim=1), shares.any(dim=1)
    (alive, then_alive), (alpha, then_alpha) = torch.ones(2, 4, dtype=torch.bool), torch.full((2, 4), 0.5)
    alive, then_alive, alpha, then_alpha = (x.to(device) for x in (alive, then_alive, alpha, then_alpha))
    decay, ops = torch.full((4,), 0.5, device=device), engine(name)
    expected = ops.step(weights, weights + 0.5 * gradient, then_alive, taken, decay, then_alpha)
    if along == "shares":
        found = ops.follow(weights, directions, shares, alive, decay, alpha)
    else:
        found = ops.climb(weights, gradient, alive, taken, decay, alpha)
    torch.testing.assert_close(found, expected)
    assert alive.tolist() == then_alive.tolist() == [True, True, False, False]
    assert alpha.tolist() == then_alpha.tolist() == [0.25, 0.5, 0.25, 0.25]


@both_bodies
@pytest.mark.parametrize("m", [1, 3])
def test_contenders_are_the_current_ranker_and_a_step_along_each_direction(name, device, m):
    rng = generator("contenders", m)
    weights, directions = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 12), (5, m, 12)))
    delta = np.linspace(0.1, 2, 5).astype(np.float32)
    found = engine(name).contenders(*(torch.from_numpy(x).to(device) for x in (weights, directions, delta))).cpu()
    np.testing.assert_array_equal(found[:, 0], weights)
    np.testing.assert_array_equal(found[:, 1:], weights[:, None] + delta[:, None, None] * directions)


@both_bodies
def test_credit_counts_the_clicks_on_what_each_ranker_drafted(name, device):
    rng = generator("credit", 0)
    team, clicks = rng.integers(-1, 4, (30, K)), rng.random((30, K)) < 0.4
    found = engine(name).credit(torch.from_numpy(team).to(device), torch.from_numpy(clicks).to(device), 4)
    expected = [[int(clicks[r][team[r] == m].sum()) for m in range(4)] for r in range(30)]
    assert found.dtype == torch.float32
    assert found.tolist() == expected


@both_bodies
def test_winners_have_the_largest_credit_and_more_than_the_current_ranker(name, device):
    credit = [[0, 0, 0], [1, 0, 1], [0, 2, 2], [1, 3, 2], [3, 1, 2], [0, 0, 1]]
    expected = [[False, False], [False, False], [True, True], [True, False], [False, False], [False, True]]
    # slot 0 has no team and is clicked, and every ranker drafted one document that is not clicked
    drafted = [[ranker for ranker, n in enumerate(row) for _ in range(n)] for row in credit]
    team = torch.tensor([[*padded([-1, *row], 7), 0, 1, 2] for row in drafted], device=device)
    clicks = torch.tensor([padded([1] * (1 + len(row)), 10) for row in drafted], device=device) > 0
    assert engine(name).credit(team, clicks, 3).tolist() == credit
    found = engine(name).winners(team, clicks, 2)
    assert found.tolist() == expected
    shares = engine(name).equal_shares(found)
    assert shares.dtype == torch.float32
    assert shares.tolist() == [[0, 0], [0, 0], [0.5, 0.5], [1, 0], [0, 0], [0, 1]]


@both_bodies
def test_a_step_out_of_the_finite_numbers_is_not_taken_and_was_the_last(name, device):
    weights, proposed = torch.zeros(5, 3, device=device), torch.ones(5, 3, device=device)
    proposed[1, 2], proposed[2], proposed[3, 0] = torch.nan, 1e30, -torch.inf
    alive = torch.ones(5, dtype=torch.bool, device=device)
    taken = torch.tensor([True, True, False, True, False], device=device)
    decay, alpha = torch.full((5,), 0.5, device=device), torch.full((5,), 3.0, device=device)
    expected = torch.tensor([[1.0], [0.0], [0.0], [0.0], [1.0]]).expand(-1, 3)
    for times in (1, 2):
        moved = engine(name).step(weights, proposed, alive, taken, decay, alpha)
        assert torch.equal(moved.cpu(), expected)
        assert alive.tolist() == [True, False, False, False, True]
        assert alpha.tolist() == [3 * 0.5**times if t else 3.0 for t in taken.tolist()]
        assert (weights == 0).all(), "the weights are not written to"
        proposed = torch.ones_like(proposed)


@both_bodies
@pytest.mark.parametrize("replicas", [1, 5])
def test_scores_are_inner_products(name, device, replicas):
    weights = generator("scores", replicas).standard_normal((replicas, DATASET.n_features)).astype(np.float32)
    out = engine(name).score(torch.from_numpy(DATASET.features).to(device), torch.from_numpy(weights).to(device))
    np.testing.assert_allclose(out.cpu(), DATASET.features.astype(np.float64) @ weights.T, atol=1e-5)


def test_compiled_scores_do_not_depend_on_the_company():
    weights = torch.from_numpy(generator("scores", 9).standard_normal((64, 12)).astype(np.float32))
    features = torch.from_numpy(DATASET.features)
    together = engine("numba").score(features, weights)
    for r in (0, 17, 63):
        alone = engine("numba").score(features[3:40].contiguous(), weights[r : r + 1])
        assert torch.equal(alone[:, 0], together[3:40, r])
