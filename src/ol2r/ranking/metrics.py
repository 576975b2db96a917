"""Metrics with stated conventions: NDCG of shown lists and of scores on held-out queries, Kendall-tau pair regret.

Gain is 2^grade − 1 unless asked otherwise, the discount of rank i (from 1) is 1 / log2(i + 1), and the ideal list is
cut at the same rank as the list. This module is for evaluation: it takes grades as arguments, and no learner calls it.
"""

from itertools import pairwise

import numpy as np
import torch
from numba import prange

from ol2r.arrays import checked, checked_offsets
from ol2r.compiling import kernel, part
from ol2r.ranking.constants import GAINS, MOST_GRADES, discounts, discounts_on, gain_of_grades, gain_of_grades_on

__all__ = ["GAINS", "TIES", "gains", "ideal_dcg", "misordered_pairs", "query_ndcg", "shown_ndcg"]

TIES = ("expected", "listed")


def gains(grades: torch.Tensor, kind: str = "exponential") -> torch.Tensor:
    """2^grade − 1 (`"exponential"`) or the grade (`"linear"`), of grades from 0 to 126: Float64 of the same shape.

    Raises:
        DataError: another grade. It is not looked for on a device, which would have to wait.
    """
    if grades.device.type == "cpu":
        return torch.from_numpy(gain_of_grades(kind)[_grades(grades, tuple(grades.shape))])
    return gain_of_grades_on(kind, grades.device)[grades.long()]


def _grades(given: object, shape: tuple[int | None, ...]) -> np.ndarray:
    return checked(given, "grades", shape, np.int64, 0, MOST_GRADES - 1)


def ideal_dcg(relevance: np.ndarray, offsets: np.ndarray, k: int, kind: str = "exponential") -> np.ndarray:
    """DCG@k of each query's best list: Float64[queries]; 0 where no document is relevant.

    Args:
        relevance: Int[documents], grades.
        offsets: Int64[queries + 1].
        k: cut; lists may be shorter than k.
        kind: kind of gain, see `gains`.

    Raises:
        DataError: another grade, or offsets of other documents.
    """
    gain = gain_of_grades(kind)[_grades(relevance, (None,))]
    offsets = checked_offsets(offsets, len(gain))
    ideal = np.zeros(len(offsets) - 1)
    for query, (start, stop) in enumerate(pairwise(offsets)):
        best = np.sort(gain[start:stop])[::-1][:k]
        ideal[query] = (best * discounts(len(best))).sum()
    return ideal


def shown_ndcg(grades: torch.Tensor, shown: torch.Tensor, ideal: torch.Tensor, kind: str = "exponential"):
    """NDCG of lists as shown.

    Args:
        grades: Int[R, k], the grade in each slot (any value where nothing is shown).
        shown: Bool[R, k].
        ideal: Float64[R], `ideal_dcg` at the same cut and with the same gain.
        kind: kind of gain, see `gains`.

    Returns:
        Float64[R]; 0 for a query without relevant documents.

    Raises:
        DataError: arrays that do not fit together, or another grade; not looked for on a device.
    """
    if grades.device.type == "cpu":
        grades_, shown_ = _lists(grades, shown)
        _grades(grades_[shown_], (None,))
        own_ideal, out = checked(ideal, "ideal", (len(grades_),), np.float64), np.empty(len(grades_))
        _shown_ndcg(grades_, shown_, own_ideal, gain_of_grades(kind), discounts(grades_.shape[1]), out)
        return torch.from_numpy(out)
    return _shown_ndcg_batched(grades, shown, ideal, kind)


def _lists(grades: torch.Tensor, shown: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    made = checked(grades, "grades", (None, None), np.int64)
    return made, checked(shown, "shown", made.shape, np.bool_)


@part
def list_ndcg(grades, shown, ideal, gain, discount):
    """`shown_ndcg` of one list, for compiled callers; gain: `gain_of_grades`."""
    dcg = 0.0
    for i in range(grades.shape[0]):
        if shown[i]:
            dcg += gain[grades[i]] * discount[i]
    return dcg / ideal if ideal > 0.0 else 0.0


@kernel
def _shown_ndcg(grades, shown, ideal, gain, discount, out):
    for r in range(grades.shape[0]):
        out[r] = list_ndcg(grades[r], shown[r], ideal[r], gain, discount)


def _shown_ndcg_batched(grades: torch.Tensor, shown: torch.Tensor, ideal: torch.Tensor, kind: str = "exponential"):
    discount = discounts_on(grades.shape[1], grades.device)
    dcg = (gains(torch.where(shown, grades, 0), kind) * discount).sum(dim=1)
    return dcg / ideal.clamp_min(1e-12)  # where the ideal is 0, so is the gain of every list


@part
def _expected_dcg(scores, gain, discount, expected, top, top_gain):
    """DCG of one list, equal scores in their given order, or in expectation over all orders."""
    size = scores.shape[0]
    depth = min(discount.shape[0], size)
    filled = 0
    for j in range(size):
        s = scores[j]
        if filled == depth:
            if s <= top[depth - 1]:
                continue
            place = depth - 1
        else:
            place = filled
            filled += 1
        while place > 0 and s > top[place - 1]:
            top[place] = top[place - 1]
            top_gain[place] = top_gain[place - 1]
            place -= 1
        top[place] = s
        top_gain[place] = gain[j]
    dcg = 0.0
    if not expected:
        for n in range(depth):
            dcg += discount[n] * top_gain[n]
        return dcg
    i = 0
    while i < depth:
        stop = i + 1
        while stop < depth and top[stop] == top[i]:
            stop += 1
        total = 0.0
        members = stop - i
        if stop == depth:  # the group may go on beyond the cut
            members = 0
            for j in range(size):
                if scores[j] == top[i]:
                    total += gain[j]
                    members += 1
        else:
            for n in range(i, stop):
                total += top_gain[n]
        weight = 0.0
        for n in range(i, stop):
            weight += discount[n]
        dcg += weight * total / members
        i = stop
    return dcg


@kernel
def _mean_ndcg(scores, gain, offsets, ideal, discount, expected, out):
    for q in prange(offsets.shape[0] - 1):
        start = offsets[q] - offsets[0]
        stop = offsets[q + 1] - offsets[0]
        top = np.empty(discount.shape[0], dtype=np.float32)
        top_gain = np.empty(discount.shape[0], dtype=np.float64)
        column = np.empty(stop - start, dtype=np.float32)
        for r in range(scores.shape[1]):
            if ideal[q] > 0.0:
                for j in range(stop - start):
                    column[j] = scores[start + j, r]
                out[q, r] = _expected_dcg(column, gain[start:stop], discount, expected, top, top_gain) / ideal[q]
            else:
                out[q, r] = 0.0


def _mean_ndcg_torch(scores, gain, offsets, ideal, discount, expected=True) -> torch.Tensor:
    """As `_mean_ndcg`, with padded tensors on any device; a place's expected gain is the mean over its tied group."""
    size = offsets[1:] - offsets[:-1]
    place = torch.arange(int(size.max()), device=scores.device)
    present = place < size[:, None]
    rows = torch.where(present, (offsets[:-1] - offsets[0])[:, None] + place, 0)
    padded = torch.where(present[..., None], scores[rows], -torch.inf).transpose(1, 2)  # [queries, R, V]
    ordered, order = padded.sort(dim=2, descending=True, stable=True)
    gained = torch.where(present, gain[rows], 0.0)[:, None, :].expand_as(order).gather(2, order)
    if expected:
        gained = _group_means(ordered, gained)
    depth = min(len(discount), gained.shape[2])
    dcg = (gained[..., :depth] * discount[:depth]).sum(dim=2)
    return torch.where(ideal[:, None] > 0, dcg / ideal[:, None].clamp_min(1e-12), 0.0)


def _group_means(ordered: torch.Tensor, gained: torch.Tensor) -> torch.Tensor:
    group = torch.cat(
        [torch.zeros_like(ordered[..., :1], dtype=torch.int64), (ordered.diff(dim=2) != 0).long()], dim=2
    ).cumsum(dim=2)
    total = torch.zeros_like(gained).scatter_add(2, group, gained)
    members = torch.zeros_like(gained).scatter_add(2, group, torch.ones_like(gained))
    return total.gather(2, group) / members.gather(2, group)


def query_ndcg(
    scores: torch.Tensor, gain: torch.Tensor, offsets: torch.Tensor, ideal: torch.Tensor, k: int, ties: str = "expected"
) -> torch.Tensor:
    """NDCG@k of every query under every ranker.

    With ties `"expected"`, the result is the expectation over uniformly random orders of documents with equal scores
    (McSherry and Najork, 2008): each place inside a tied group counts the group's mean gain, so breaking ties adds no
    noise. With `"listed"`, documents with equal scores stand in the data set's order.

    Args:
        scores: Float32[documents, R], of consecutive queries.
        gain: Float64[documents], see `gains`.
        offsets: Int64[queries + 1]; offsets[0] is the first of these documents.
        ideal: Float64[queries], `ideal_dcg` at k.
        k: cut.
        ties: `"expected"` or `"listed"`.

    Returns:
        Float64[queries, R]; 0 for queries without relevant documents.

    Raises:
        DataError: arrays that do not fit together; not looked for on a device.
    """
    discount, expected = discounts(k), ties == "expected"
    if scores.device.type != "cpu":
        return _mean_ndcg_torch(scores, gain, offsets, ideal, torch.from_numpy(discount).to(scores.device), expected)
    table = checked(scores, "scores", (len(gain), None), np.float64 if scores.dtype == torch.float64 else np.float32)
    places = checked_offsets(offsets - offsets[:1], len(table))
    own_gain = checked(gain, "gain", (None,), np.float64)
    own_ideal = checked(ideal, "ideal", (len(places) - 1,), np.float64)
    out = np.empty((len(own_ideal), table.shape[1]))
    _mean_ndcg(table, own_gain, places, own_ideal, discount, expected, out)
    return torch.from_numpy(out)


def misordered_pairs(grades: torch.Tensor, shown: torch.Tensor) -> torch.Tensor:
    """Kendall-tau pair regret of shown lists: the number of pairs in which a lower grade stands above a higher one.

    Args:
        grades: Int[R, k]; shown: Bool[R, k].

    Returns:
        Int64[R]. Only pairs of shown documents count; pairs of equal grade never do.

    Raises:
        DataError: arrays that do not fit together; not looked for on a device.
    """
    if grades.device.type == "cpu":
        out = np.empty(len(grades), dtype=np.int64)
        _misordered_pairs(*_lists(grades, shown), out)
        return torch.from_numpy(out)
    return _misordered_pairs_batched(grades, shown)


@part
def list_misordered_pairs(grades, shown):
    """`misordered_pairs` of one list, for compiled callers."""
    misordered = 0
    for i in range(grades.shape[0]):
        for j in range(i + 1, grades.shape[0]):
            misordered += shown[i] and shown[j] and grades[i] < grades[j]
    return misordered


@kernel
def _misordered_pairs(grades, shown, out):
    for r in range(grades.shape[0]):
        out[r] = list_misordered_pairs(grades[r], shown[r])


def _misordered_pairs_batched(grades: torch.Tensor, shown: torch.Tensor) -> torch.Tensor:
    above, below = grades[:, :, None], grades[:, None, :]
    return ((above < below) & shown[:, :, None] & shown[:, None, :]).triu(1).sum(dim=(1, 2))
