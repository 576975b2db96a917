"""NDCG and pair regret against their definitions."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import dcg, ndcg, ndcg_over_ties

from ol2r.ranking import metrics
from ol2r.ranking.constants import MOST_GRADES, discounts, gain_of_grades

BODIES = ["compiled", "torch"]


def query_ndcg(body, scores, grades, offsets, k, ties="expected"):
    scores = torch.tensor(scores, dtype=torch.float32).reshape(len(grades), -1)
    gain = metrics.gains(torch.tensor(grades))
    ideal = torch.from_numpy(metrics.ideal_dcg(np.array(grades), np.array(offsets), k))
    starts = torch.tensor(offsets)
    if body == "compiled":
        return metrics.query_ndcg(scores, gain, starts, ideal, k, ties).numpy()
    discount = torch.from_numpy(discounts(k))
    return metrics._mean_ndcg_torch(scores, gain, starts, ideal, discount, ties == "expected").numpy()


def test_discounts_and_gains_are_the_formulas():
    np.testing.assert_allclose(discounts(3), [1 / math.log2(2), 1 / math.log2(3), 1 / math.log2(4)])
    assert metrics.gains(torch.arange(5)).tolist() == [0, 1, 3, 7, 15]
    assert metrics.gains(torch.arange(5), "linear").tolist() == [0, 1, 2, 3, 4]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=7), min_size=1, max_size=4), st.integers(1, 8))
def test_ideal_dcg_is_that_of_the_sorted_list(queries, k):
    relevance = np.array([g for query in queries for g in query], dtype=np.int8)
    offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
    expected = [dcg([2**g - 1 for g in sorted(query, reverse=True)[:k]]) for query in queries]
    np.testing.assert_allclose(metrics.ideal_dcg(relevance, offsets, k), expected)
    linear = [dcg(sorted(query, reverse=True)[:k]) for query in queries]
    np.testing.assert_allclose(metrics.ideal_dcg(relevance, offsets, k, "linear"), linear)


@pytest.mark.parametrize("body", BODIES)
@settings(deadline=None)
@given(
    queries=st.lists(
        st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2)), min_size=1, max_size=6), min_size=1, max_size=4
    ),
    k=st.integers(1, 7),
)
def test_ndcg_of_scores_is_its_mean_over_the_orders_of_ties(body, queries, k):
    scores = [s for query in queries for s, _ in query]
    grades = [g for query in queries for _, g in query]
    offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
    expected = [ndcg_over_ties([s for s, _ in query], [g for _, g in query], k) for query in queries]
    np.testing.assert_allclose(query_ndcg(body, scores, grades, offsets, k)[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("k", [1, 10, 200])
def test_ndcg_of_many_rankers_and_long_lists_is_each_ones_own(body, k):
    rng = np.random.Generator(np.random.Philox(key=1))
    offsets = np.array([0, 150, 151, 153, 300])
    scores = rng.standard_normal((300, 5)).round(1).astype(np.float32)
    scores[:, 4] = rng.permutation(300)
    grades = rng.integers(0, 5, 300)
    grades[150:153] = 0
    out = query_ndcg(body, scores, grades.tolist(), offsets.tolist(), k)
    for r in range(5):
        alone = query_ndcg(body, scores[:, r], grades.tolist(), offsets.tolist(), k)[:, 0]
        np.testing.assert_allclose(out[:, r], alone, atol=1e-12)
    np.testing.assert_allclose(
        out, query_ndcg(BODIES[body == BODIES[0]], scores, grades.tolist(), offsets, k), atol=1e-12
    )
    for q, (a, b) in enumerate(pairwise(offsets)):
        order = np.argsort(-scores[a:b, 4])
        assert abs(out[q, 4] - ndcg(grades[a:b][order], grades[a:b], k)) < 1e-12
    assert not out[1:3].any(), "no relevant document: 0"


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_listed_ties_stand_in_the_order_of_the_data(body, k):
    scores, grades = [1.0, 2.0, 1.0, 1.0, 2.0], [2, 0, 1, 0, 1]
    in_order = [grades[j] for j in (1, 4, 0, 2, 3)]
    found = query_ndcg(body, scores, grades, [0, 5], k, ties="listed")
    np.testing.assert_allclose(found, [[ndcg(in_order, grades, k)]])


@pytest.mark.parametrize("body", ["compiled", "torch"])
def test_shown_ndcg_counts_what_is_shown(body):
    grades = torch.tensor([[2, 0, 1], [2, 0, 1], [1, 7, 7], [0, 0, 0]])
    shown = torch.tensor([[True, True, True], [True, True, True], [True, False, False], [True, True, True]])
    ideal = torch.tensor([3 + 1 / math.log2(3), 2 * 3.0, 1.0, 0.0], dtype=torch.float64)
    function = metrics.shown_ndcg if body == "compiled" else metrics._shown_ndcg_batched
    value = 3 + 0 / math.log2(3) + 1 / math.log2(4)
    np.testing.assert_allclose(function(grades, shown, ideal), [value / (3 + 1 / math.log2(3)), value / 6, 1, 0])
    linear = 2 + 0 / math.log2(3) + 1 / math.log2(4)
    np.testing.assert_allclose(function(grades[:1], shown[:1], ideal[2:3], "linear"), [linear])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=8))
def test_pair_regret_counts_pairs_that_stand_the_wrong_way_round(slots):
    grades, shown = (torch.tensor([column]) for column in zip(*slots, strict=True))
    expected = sum(a < b and above and below for (a, above), (b, below) in combinations(slots, 2))
    assert metrics.misordered_pairs(grades, shown).tolist() == [expected]
    assert metrics._misordered_pairs_batched(grades, shown).tolist() == [expected]


ANY_GRADE = st.integers(0, MOST_GRADES - 1)


def test_every_gain_is_the_integer_to_the_last_bit_of_double_precision():
    for grade, gain in enumerate(gain_of_grades("exponential").tolist()):
        assert gain == float(2**grade - 1) and abs(int(gain) - (2**grade - 1)) <= (2**grade - 1) * 1e-12
    assert metrics.gains(torch.tensor([[126, 0]], dtype=torch.int8)).tolist() == [[2.0**126, 0.0]]
    assert gain_of_grades("linear").tolist() == list(range(MOST_GRADES))
    with pytest.raises(ValueError, match="gain must be one of"):
        gain_of_grades("quadratic")


@pytest.mark.parametrize("body", BODIES)
@settings(deadline=None)
@given(
    queries=st.lists(
        st.lists(st.tuples(st.integers(-2, 2), ANY_GRADE), min_size=1, max_size=5), min_size=1, max_size=3
    ),
    k=st.integers(1, 6),
)
def test_ndcg_of_scores_is_right_for_every_grade(body, queries, k):
    scores = [s for query in queries for s, _ in query]
    grades = [g for query in queries for _, g in query]
    offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
    expected = [ndcg_over_ties([s for s, _ in query], [g for _, g in query], k) for query in queries]
    np.testing.assert_allclose(query_ndcg(body, scores, grades, offsets, k)[:, 0], expected, rtol=1e-12)
    listed = [ndcg([g for _, g in sorted(query, key=lambda it: -it[0])], [g for _, g in query], k) for query in queries]
    np.testing.assert_allclose(query_ndcg(body, scores, grades, offsets, k, "listed")[:, 0], listed, rtol=1e-12)


@pytest.mark.parametrize("body", BODIES)
@settings(deadline=None)
@given(lists=st.lists(st.lists(st.tuples(ANY_GRADE, st.booleans()), min_size=4, max_size=4), min_size=1, max_size=3))
def test_ndcg_of_shown_lists_is_right_for_every_grade(body, lists):
    grades = torch.tensor([[grade for grade, _ in row] for row in lists])
    shown = torch.tensor([[shown for _, shown in row] for row in lists])
    offsets = np.arange(0, 4 * len(lists) + 1, 4)
    function = metrics.shown_ndcg if body == "compiled" else metrics._shown_ndcg_batched
    for kind in metrics.GAINS:
        gain = [[((2**g - 1) if kind == "exponential" else g) * there for g, there in row] for row in lists]
        best = [sorted(((2**g - 1) if kind == "exponential" else g for g, _ in row), reverse=True) for row in lists]
        expected = [dcg(got) / dcg(most) if any(most) else 0.0 for got, most in zip(gain, best, strict=True)]
        ideal = torch.from_numpy(metrics.ideal_dcg(grades.numpy().astype(np.int8).ravel(), offsets, 4, kind))
        np.testing.assert_allclose(function(grades, shown, ideal, kind), expected, rtol=1e-12)
