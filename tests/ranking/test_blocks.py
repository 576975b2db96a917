"""Lists from certain orders: blocks against a graph library, lists against the definition, both bodies and PairRank's
fast path against each other; exchanges of neighbours, and how many wrong pairs they can add."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Draws, arranged, exchanged, wrong_pairs
from small import K, candidates_of, small_dataset

from ol2r.random import Stream, Streams, generator
from ol2r.ranking import engine, interval_orders
from ol2r.ranking.batched.blocks import block_ends
from ol2r.ranking.covariance import gram

BODIES = [("numba", "cpu"), ("torch", "cpu"), *([("torch", "cuda")] if torch.cuda.is_available() else [])]
both_bodies = pytest.mark.parametrize(("name", "device"), BODIES)
both_shuffles = pytest.mark.parametrize("conservative", [False, True])
DATASET = small_dataset()
RANKS = (1, 2, 5, 10, 20, 30)
ROUND = 3


class Setting:
    """Sixty replicas with a query, an estimate, an inverse covariance and a width each; some widths are 0 and ∞."""

    def __init__(self, device="cpu", full=True, replicas=60, query=None, seed=None):
        rng = generator("blocks", replicas if seed is None else seed)
        d = DATASET.n_features
        self.query = np.arange(replicas) % DATASET.n_queries if query is None else np.full(replicas, query)
        theta = rng.standard_normal((replicas, d))
        theta[::10] = 0.0
        factor = rng.standard_normal((replicas, d, 2 * d))
        inverse = np.linalg.inv(factor @ factor.transpose(0, 2, 1))
        if not full:
            inverse = np.diagonal(inverse, axis1=1, axis2=2)[:, None].copy()
        width = rng.choice([0.0, 0.1, 0.3, 1.0, 3.0, np.inf], size=replicas, p=[0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
        self.theta, self.inverse, self.width = (torch.from_numpy(a).to(device) for a in (theta, inverse, width))
        self.candidates = candidates_of(DATASET, self.query, device)
        self.streams = Streams(np.arange(replicas, dtype=np.uint64) * 7919, device)

    def play(self, name, conservative, depth=K, round_=ROUND):
        arguments = (self.candidates, self.theta, self.inverse, self.width, conservative, depth, RANKS)
        return [out.cpu().numpy() for out in engine(name).divide_and_conquer(*arguments, self.streams, round_)]

    def exchange(self, name, depth=K, round_=ROUND):
        arguments = (self.candidates, self.theta, self.inverse, self.width, depth, self.streams, round_)
        return engine(name).exchange_neighbours(*arguments).cpu().numpy()

    def certain(self, r):
        """certain[i, j]: i stands above j for sure, by the definition: Bool[V, V]."""
        x = DATASET.query(self.query[r])[0].astype(np.float64)
        theta, inverse = self.theta[r].cpu().numpy(), self.inverse[r].cpu().numpy()
        difference = x[:, None] - x
        inverse = np.diag(inverse[0]) if len(inverse) == 1 else inverse
        norm = np.sqrt(np.einsum("ijf,fg,ijg->ij", difference, inverse, difference))
        radius = np.where(norm > 1e-12, float(self.width[r]), 0.0) * norm
        return 1 / (1 + np.exp(-difference @ theta)) - radius > 0.5


def graph_blocks(certain):
    """The closed blocks by a graph library: an uncertain pair is joined both ways, a certain one downwards only, and
    a block is a strongly connected component; in the order of the condensed graph."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(certain)))
    graph.add_edges_from((i, j) for i, j in itertools.permutations(range(len(certain)), 2) if not certain[j, i])
    condensed = nx.condensation(graph)
    return [set(condensed.nodes[c]["members"]) for c in nx.topological_sort(condensed)]


@both_bodies
@both_shuffles
@pytest.mark.parametrize("full", [True, False])
def test_blocks_are_those_of_a_graph_library_in_its_order(name, device, conservative, full):
    setting = Setting(device, full)
    ranking, blocks, sizes = setting.play(name, conservative, depth=40)
    several = 0
    for r in range(len(ranking)):
        wanted = graph_blocks(setting.certain(r))
        assert blocks[r] == len(wanted)
        start, size_at = 0, []
        for block in wanted:
            assert set(ranking[r, start : start + len(block)]) == block
            start += len(block)
            size_at += [len(block)] * len(block)
        assert (ranking[r, start:] == -1).all()
        assert list(sizes[r]) == [size_at[rank - 1] if rank <= start else 0 for rank in RANKS]
        several += 1 < len(wanted) < start
    assert several > 10


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_running_maximum_finds_the_blocks_of_any_scores_and_widths(data):
    n = data.draw(st.integers(1, 9))
    scores = sorted(data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), reverse=True)
    radius = np.triu(np.array(data.draw(st.lists(st.integers(0, 6), min_size=n * n, max_size=n * n))).reshape(n, n), 1)
    certain = np.subtract.outer(scores, scores) > radius + radius.T
    ends = block_ends(torch.from_numpy(~(certain | certain.T))).tolist()
    cuts = [0, *(p + 1 for p in range(n) if ends[p])]
    assert [set(range(a, b)) for a, b in itertools.pairwise(cuts)] == graph_blocks(certain)


def test_one_uncertain_pair_can_join_three_documents():
    # the sheet's worked example: scores 20, 10, 0; only the first and the last are uncertain, yet all are one block
    gap = 1 / (1 + np.exp(-np.subtract.outer([20.0, 10.0, 0.0], [20.0, 10.0, 0.0]))) - 0.5
    certain = gap > np.array([[0.0, 0.4, 0.8], [0.4, 0.0, 0.4], [0.8, 0.4, 0.0]])
    assert (~(certain | certain.T)).sum() == 3 + 2  # each document with itself, and one pair both ways
    assert block_ends(torch.from_numpy(~(certain | certain.T))).tolist() == [False, False, True]


@both_bodies
def test_conservative_lists_keep_every_certain_order(name, device):
    setting = Setting(device)
    for r, shown in enumerate(setting.play(name, True)[0]):
        certain, shown = setting.certain(r), shown[shown >= 0]
        missing = np.setdiff1d(np.arange(len(certain)), shown)
        assert not any(certain[j, i] for i, j in itertools.combinations(shown, 2))
        assert not certain[np.ix_(missing, shown)].any()


@pytest.mark.parametrize("name", ["numba", "torch"])
def test_random_lists_shuffle_certain_orders_within_a_block(name):
    setting = Setting()
    broken = 0
    for r, shown in enumerate(setting.play(name, False, depth=40)[0]):
        certain = setting.certain(r)
        broken += sum(certain[j, i] for i, j in itertools.combinations(shown[shown >= 0], 2))
    assert broken > 50


@both_shuffles
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("depth", [1, 2, K - 1, K, 40])
def test_both_bodies_show_the_same(conservative, full, depth):
    one, other = (Setting(full=full).play(name, conservative, depth) for name in ("numba", "torch"))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@both_shuffles
@pytest.mark.parametrize("name", ["numba", "torch"])
def test_a_shorter_list_is_the_beginning_of_a_longer_one(name, conservative):
    setting = Setting()
    np.testing.assert_array_equal(
        setting.play(name, conservative, 4)[0], setting.play(name, conservative, 40)[0][:, :4]
    )


@both_bodies
@both_shuffles
def test_without_width_the_list_is_greedy(name, device, conservative):
    setting = Setting(device)
    setting.width[:] = 0.0
    setting.theta[::10] = 1.0
    for r, shown in enumerate(setting.play(name, conservative)[0]):
        scores = DATASET.query(setting.query[r])[0] @ setting.theta[r].cpu().numpy()
        best = -np.sort(-scores)[:K]
        np.testing.assert_allclose(scores[shown[shown >= 0]], best, atol=1e-5)


@both_shuffles
@pytest.mark.parametrize("name", ["numba", "torch"])
def test_with_infinite_width_the_list_is_uniformly_random(name, conservative):
    query = int(np.flatnonzero(DATASET.sizes == 4)[0])
    setting = Setting(replicas=2400, query=query)
    setting.width[:] = torch.inf
    ranking, blocks, _ = setting.play(name, conservative, depth=4)
    assert (blocks == 1).all()
    counts = Counter(map(tuple, ranking))
    assert len(counts) == 24
    # 24 orders, 100 expected of each: Σ (n − 100)²/100 has 23 degrees of freedom; 60 is beyond 1 in 30,000
    assert sum((n - 100) ** 2 / 100 for n in counts.values()) < 60


@pytest.mark.parametrize("name", ["numba", "torch"])
def test_a_conservative_slot_goes_to_any_document_without_superior_alike(name):
    # three documents of one block, in which the order of the first and the last is certain: by the rule 1 is drawn
    # first with ½ (then 2, 3 in either order), 2 with ½ (then 1 before 3)
    query = int(np.flatnonzero(DATASET.sizes == 3)[0])
    setting = Setting(replicas=4000, query=query)
    x = DATASET.query(query)[0].astype(np.float64)
    setting.inverse[:] = torch.eye(DATASET.n_features, dtype=torch.float64)
    theta = np.linalg.lstsq(x, [0.2, 0.1, 0.0], rcond=None)[0]
    setting.theta[:] = torch.from_numpy(theta)
    norms = [np.linalg.norm(x[i] - x[j]) for i, j in ((0, 1), (1, 2), (0, 2))]
    gaps = [0.5 * np.tanh(0.05), 0.5 * np.tanh(0.05), 0.5 * np.tanh(0.1)]
    narrow = max(gaps[0] / norms[0], gaps[1] / norms[1]), gaps[2] / norms[2]
    assert narrow[0] < narrow[1]
    setting.width[:] = np.mean(narrow)
    counts = Counter(map(tuple, setting.play(name, True, depth=3)[0]))
    assert set(counts) == {(0, 1, 2), (0, 2, 1), (1, 0, 2)}
    for order, share in (((0, 1, 2), 0.25), ((0, 2, 1), 0.25), ((1, 0, 2), 0.5)):
        assert abs(counts[order] / 4000 - share) < 4.5 * np.sqrt(share * (1 - share) / 4000)


@both_bodies
@both_shuffles
def test_identical_documents_are_never_in_a_certain_order(name, device, conservative):
    setting = Setting(device, replicas=300, query=7)  # its first six documents are one
    setting.width[:] = 0.05
    setting.theta[:] = setting.theta[1]
    ranking = setting.play(name, conservative, depth=20)[0]
    twins = np.array([[document for document in shown if 0 <= document < 6] for shown in ranking])
    assert twins.shape == (300, 6)
    assert len({tuple(order) for order in twins}) > 100


@pytest.mark.parametrize("name", ["numba", "torch"])
def test_the_lists_of_a_replica_do_not_depend_on_its_company(name):
    setting, alone = Setting(), Setting()
    whole = setting.play(name, True)
    for r in (0, 7, 31):
        alone.candidates = candidates_of(DATASET, setting.query[r : r + 1])
        alone.theta, alone.inverse, alone.width = (
            a[r : r + 1] for a in (setting.theta, setting.inverse, setting.width)
        )
        alone.streams = Streams(setting.streams.keys[r : r + 1])
        for a, b in zip(whole, alone.play(name, True), strict=True):
            np.testing.assert_array_equal(a[r], b[0])


def any_orders(replicas=80):
    """Queries, scores with ties, and orders of every sort among them, with and against the scores; what lies beyond a
    query's list is not a number, or certain."""
    rng = generator("any certain orders", replicas)
    query = np.arange(replicas) % DATASET.n_queries
    size, v = DATASET.sizes[query], DATASET.sizes.max() + 3
    scores = rng.integers(0, 25, (replicas, v)).astype(float)
    with_scores = scores[:, :, None] > scores[:, None]
    share = rng.choice([0.5, 0.95, 0.99, 1.0], replicas)[:, None, None]
    certain = np.where(with_scores, rng.random((replicas, v, v)) < share, rng.random((replicas, v, v)) < 0.3)
    scores[np.arange(v) >= size[:, None]] = np.nan
    return query, scores, certain | np.isnan(scores[:, :, None]) | np.isnan(scores[:, None])


@both_bodies
@both_shuffles
@pytest.mark.parametrize("depth", [1, K, 40])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_any_certain_orders_give_the_list_of_the_definition(name, device, conservative, depth, precision):
    query, scores, certain = any_orders()
    streams = Streams(np.arange(len(query), dtype=np.uint64) * 7919, device)
    arrays = (torch.from_numpy(a).to(device) for a in (scores.astype(precision), certain))
    arguments = (candidates_of(DATASET, query, device), *arrays, conservative, depth, RANKS, streams, ROUND)
    ranking, blocks, sizes = (out.cpu().numpy() for out in engine(name).arrange(*arguments))
    for r, n in enumerate(DATASET.sizes[query]):
        draws = Draws(streams.keys[r])
        order = sorted(range(n), key=lambda j, r=r, draws=draws: (-scores[r, j], draws.word(Stream.TIES, ROUND, j)))
        known = {(i, j) for i, j in itertools.combinations(order, 2) if certain[r, i, j]}
        wanted = arranged(order, known, conservative, draws, ROUND)
        shown = [j for block in wanted for j in block][:depth]
        assert ranking[r].tolist() == shown + [-1] * (depth - len(shown))
        assert blocks[r] == len(wanted)
        size_at = [len(block) for block in wanted for _ in block]
        assert sizes[r].tolist() == [size_at[rank - 1] if rank <= n else 0 for rank in RANKS]
    assert 2 * len(blocks) < blocks.sum() < DATASET.sizes[query].sum()


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.sampled_from([1, K, 40]))
@settings(max_examples=25)
def test_the_fast_path_shows_what_its_parts_show(seed, full, conservative, depth):
    setting = Setting(full=full, seed=seed)
    x = setting.candidates.padded()[0].to(torch.float64)
    scores = torch.einsum("rvd,rd->rv", x, setting.theta)
    certain = interval_orders(scores, gram(x, setting.inverse), setting.width)
    arguments = (setting.candidates, scores, certain, conservative, depth, RANKS, setting.streams, ROUND)
    fast, parts = setting.play("numba", conservative, depth), engine("numba").arrange(*arguments)
    assert all(np.array_equal(one, other) for one, other in zip(fast, parts, strict=True))


def test_shuffled_documents_follow_their_words():
    setting = Setting(query=5)
    setting.width[:] = torch.inf
    for r, shown in enumerate(setting.play("numba", False, depth=20)[0]):
        draws = Draws(setting.streams.keys[r])
        assert list(shown) == sorted(range(20), key=lambda j: draws.word(Stream.SHUFFLE, ROUND, j))


@both_bodies
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("depth", [1, 2, K - 1, K, 40])
def test_exchanges_of_neighbours_are_those_of_the_definition(name, device, full, depth):
    setting = Setting(device, full)
    moved = tried = 0
    for r, shown in enumerate(setting.exchange(name, depth)):
        base, wanted = exchanged(setting.certain(r), depth, Draws(setting.streams.keys[r]), ROUND)
        assert shown.tolist() == wanted + [-1] * (depth - len(wanted))
        moved += base != sorted(base)
        tried += base[: len(wanted)] != wanted
    assert moved > 20 and (tried > 2 or depth == 1)


@pytest.mark.parametrize("name", ["numba", "torch"])
def test_right_certain_orders_add_no_wrong_pair_and_tries_at_most_one_for_two_places(name):
    # grades that follow the learner's own scores, so that no certain order is wrong; as many ties as there may be
    most = 0
    for seed, depth in itertools.product(range(8), (1, 3, 4, K)):
        setting, rng = Setting(seed=seed), generator("grades", seed)
        for r, shown in enumerate(setting.exchange(name, depth)):
            scores = DATASET.query(setting.query[r])[0] @ setting.theta[r].numpy()
            cuts = rng.choice(scores, size=6)
            grades = (scores[:, None] > cuts + 1e-9).sum(axis=1)
            start = wrong_pairs(range(min(depth, len(grades))), grades)
            more = wrong_pairs(shown[shown >= 0].tolist(), grades) - start
            assert more <= min(depth, len(grades)) // 2
            most = max(most, more)
    assert most >= 3


@pytest.mark.parametrize("name", ["numba", "torch"])
def test_an_exchange_is_tried_in_every_second_place_with_even_chances(name):
    query = int(np.flatnonzero(DATASET.sizes == 4)[0])
    setting = Setting(replicas=4000, query=query)
    setting.width[:] = torch.inf
    counts = Counter(map(tuple, setting.exchange(name, depth=4)))
    chances = {(0, 1, 2, 3): 3, (1, 0, 2, 3): 1, (0, 1, 3, 2): 1, (1, 0, 3, 2): 1, (0, 2, 1, 3): 2}  # eighths
    assert set(counts) == set(chances)
    for order, eighths in chances.items():
        share = eighths / 8
        assert abs(counts[order] / 4000 - share) < 4.5 * np.sqrt(share * (1 - share) / 4000)


@pytest.mark.parametrize("name", ["numba", "torch"])
def test_exchanges_of_a_replica_do_not_depend_on_its_company(name):
    setting, alone = Setting(), Setting()
    whole = setting.exchange(name)
    for r in (0, 7, 31):
        alone.candidates = candidates_of(DATASET, setting.query[r : r + 1])
        alone.theta, alone.inverse, alone.width = (
            a[r : r + 1] for a in (setting.theta, setting.inverse, setting.width)
        )
        alone.streams = Streams(setting.streams.keys[r : r + 1])
        np.testing.assert_array_equal(whole[r], alone.exchange(name)[0])


@pytest.mark.parametrize("name", ["numba", "torch"])
def test_certain_orders_of_shown_documents_are_counted_one_by_one(name):
    rng = generator("certain orders of shown documents", 0)
    certain = torch.from_numpy(rng.random((3, 7, 7)) < 0.4) & ~torch.eye(7, dtype=torch.bool)
    ranking = torch.tensor([[4, 0, 6, 2], [3, -1, -1, -1], [5, 1, 3, -1]])
    counts, pairs = engine(name).certain_shown(ranking, certain)
    lists = [[document for document in row.tolist() if document >= 0] for row in ranking]
    assert counts.tolist() == [sum(bool(certain[r, i, j]) for i in own for j in own) for r, own in enumerate(lists)]
    assert pairs.tolist() == [6, 0, 3]
