"""Computes the data of the NSGD paper's Figure 1 in two dimensions, and null spaces in three: every arrow and number;
nothing is drawn by hand.

The world of Figure 1 is a linear utility ⟨w*, w⟩ without noise, and documents with two features. No learner or data set
is used.
"""

from typing import NamedTuple

import numpy as np
import torch

from ol2r.random import generator
from ol2r.ranking import compiled
from ol2r.ranking.metrics import ideal_dcg, query_ndcg
from ol2r.theory import sphere


def _order(documents: np.ndarray, rankers: np.ndarray) -> np.ndarray:
    return (-rankers @ documents.T).argsort(axis=-1, kind="stable")


def _ndcg(documents: np.ndarray, clicked: np.ndarray, rankers: np.ndarray) -> np.ndarray:
    """NDCG of each ranker's order of each query, with clicks as labels of relevance: Float64[queries, rankers]."""
    n_queries, size, _ = documents.shape
    offsets = np.arange(n_queries + 1) * size
    scores = torch.from_numpy((documents.reshape(-1, 2) @ rankers.T).astype(np.float32))
    ideal = torch.from_numpy(ideal_dcg(clicked.reshape(-1).astype(np.int8), offsets, size))
    gain = torch.from_numpy(clicked.reshape(-1).astype(np.float32))
    return query_ndcg(scores, gain, torch.from_numpy(offsets), ideal, size).numpy()


def figure_1(seed: int) -> dict[str, np.ndarray]:
    """The three components of NSGD on one invented round in the plane.

    Args:
        seed: seed of the invented directions, documents and clicks.

    Returns:
        `optimum`, `current`: Float64[2], w* and w_t.
        (1) `tried`: Float64[6, 2] directions of earlier rounds, `lost`: Bool[6] (⟨w*, u⟩ < 0), `loser`: Float64[2], the
        worst of them, `null`: Float64[2], the unit vector that spans its null space and points towards w*.
        (2) `documents`: Float64[4, 2], `candidates`: Float64[8, 2], `preselection`: Float64[8], |⟨x̄, g⟩|, `orders`:
        Int[9, 4], of the current ranker and then of each candidate w_t + g, `reorders`: Bool[8].
        (3) `tied`: Float64[2, 2] rankers, `recorded_ndcg`: Float64[6] of the lists once shown, `hardest`: Int[3] worst
        of them, `tied_ndcg`: Float64[3, 2] of the tied rankers there, `winner`: Int[].
    """
    rng = generator("figure 1", seed)
    optimum, current, earlier = sphere.unit_vectors(rng, 3, 2)

    tried = sphere.unit_vectors(rng, 6, 2)
    tried[0] *= -np.sign(tried[0] @ optimum)  # at least one loses
    utility = tried @ optimum
    loser = tried[utility.argmin()]  # the worst loser: a second one beside it would leave no null space in the plane
    null = np.array([-loser[1], loser[0]])
    null = null * np.sign(null @ optimum)

    documents = rng.random((4, 2))
    candidates = sphere.unit_vectors(rng, 8, 2)
    orders = np.concatenate([_order(documents, current)[None], _order(documents, current + candidates)])

    history = rng.random((6, 5, 2))
    appeal = history @ optimum + 0.2 * rng.standard_normal((6, 5))
    clicked = appeal.argsort(axis=1).argsort(axis=1) >= 3  # the two most appealing documents of each list
    recorded = _ndcg(history, clicked, earlier[None])[:, 0]
    hardest = recorded.argsort(kind="stable")[:3]
    tied = current + np.stack([null, -null])
    tied_ndcg = _ndcg(history[hardest], clicked[hardest], tied)
    return {
        "optimum": optimum,
        "current": current,
        "tried": tried,
        "lost": utility < 0,
        "loser": loser,
        "null": null,
        "documents": documents,
        "candidates": candidates,
        "preselection": np.abs(candidates @ documents.sum(axis=0)),
        "orders": orders,
        "reorders": (orders[1:] != orders[0]).any(axis=1),
        "tied": tied,
        "recorded_ndcg": recorded,
        "hardest": hardest,
        "tied_ndcg": tied_ndcg,
        "winner": tied_ndcg.sum(axis=0).argmax(),
    }


class Directions(NamedTuple):
    """Where NSGD's candidates lie among the directions of three features.

    Args:
        stored: losing directions, Float64[stored, 3].
        drawn: unit vectors in their null space, or in the whole space once they span it: Float64[drawn, 3].
    """

    stored: np.ndarray
    drawn: np.ndarray


def null_spaces(drawn: int, seed: int = 0) -> list[Directions]:
    """The null spaces of no, one, two and three invented losing directions, by the learner's own operations."""
    rng = generator("null spaces", seed)
    lost, z = sphere.unit_vectors(rng, 3, 3), rng.standard_normal((drawn, 3))
    found = []
    for n in range(4):
        used = torch.arange(3)[None] < n
        v, rank = compiled.reflectors(torch.from_numpy(lost[None].astype(np.float32)), used)
        v, free = (torch.zeros_like(v), 0) if int(rank) == 3 else (v, int(rank))
        coordinates = torch.from_numpy((z * (np.arange(3) >= free))[None].astype(np.float32))
        directions = compiled.reflect(v, coordinates)[0].numpy().astype(np.float64)
        found.append(Directions(lost[:n], directions / np.linalg.norm(directions, axis=1, keepdims=True)))
    return found
