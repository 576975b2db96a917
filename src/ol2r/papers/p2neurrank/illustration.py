"""Computes the data of the P²NeurRank paper's Figure 1 and of a check that its noise is one draw; nothing is drawn by
hand.

A linear ranker has been told the order of some pairs of five documents with two features. Intervals and ensembles then
say which orders are certain, by the library's own operations. The history is small enough for every step to be exact:
refits are Newton's.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy import special

from ol2r.papers.p2neurrank.audits import fits
from ol2r.papers.pairrank.illustration import Divided
from ol2r.random import generator
from ol2r.ranking import interval_orders, unanimous_orders

NAMES = "ABCDE"
FEATURES = np.array([[0.9, 0.4], [0.5, 0.8], [0.6, 0.1], [0.1, 0.6], [0.2, 0.1]])
TOLD = ((0, 2, 9, 6), (0, 3, 6, 4), (1, 4, 8, 7), (2, 4, 5, 3), (1, 3, 3, 2), (0, 1, 4, 2))
"""Pairs (i, j) with the number of their labels, and of those that have i above j."""
REGULARIZATION, ALPHA, NOISE, RANKERS = 0.1, 0.5, 0.1, 5
"""λ, the width α of intervals, ν², and N of the larger ensemble; no result is made with them."""
INSIDE = 0.95
"""The share of draws that the ellipse of `one_draw` should hold."""


class History(NamedTuple):
    """The pairs that were labelled.

    Args:
        pairs: x of each, Float64[pairs, d].
        counts: labels of each, Float64[pairs].
        won: those of them that have the first document above, Float64[pairs].
    """

    pairs: np.ndarray
    counts: np.ndarray
    won: np.ndarray

    @property
    def seen(self) -> np.ndarray:
        """Σ x xᵀ over all labels: Float64[d, d]."""
        return (self.pairs * self.counts[:, None]).T @ self.pairs

    def fitted(self, noise: np.ndarray | float = 0.0) -> np.ndarray:
        """θ with g(θ) = Σ y x + b for each b in `noise`: Float64[draws, d] of Float64[draws, d]."""
        target = np.atleast_2d(self.won @ self.pairs + noise)
        return fits(self.pairs[None], self.counts[None], target[None], REGULARIZATION)[0]


def history() -> History:
    """The example's history (`TOLD`)."""
    i, j, counts, won = np.array(TOLD).T
    return History(FEATURES[i] - FEATURES[j], counts.astype(float), won.astype(float))


def label_by_label(of: History, draws: int, seed: int = 0) -> np.ndarray:
    """Σ γ x with a γ ~ N(0, ν²) of its own for each label of the history, as the paper draws it: Float64[draws, d]."""
    rows = np.repeat(of.pairs, of.counts.astype(int), axis=0)
    return generator("label by label", seed).normal(0.0, NOISE**0.5, (draws, len(rows))) @ rows


def in_one_draw(of: History, draws: int, seed: int = 0) -> np.ndarray:
    """N(0, ν² Σ x xᵀ), one draw of d normals each: Float64[draws, d]."""
    root = np.linalg.cholesky(NOISE * of.seen)
    return generator("in one draw", seed).standard_normal((draws, of.pairs.shape[1])) @ root.T


def one_draw(draws: int = 2000) -> pd.DataFrame:
    """The noise of the example's history both ways, and the rankers refitted under it.

    Returns:
        way ("label by label" or "in one draw"), noise_1, noise_2 (Σ γ x), theta_1, theta_2 (θ of the refit), and
        distance, bᵀ(ν² Σ x xᵀ)⁻¹b, of which χ² with d degrees of freedom is the law.
    """
    of, parts = history(), []
    for way, drawn in (("label by label", label_by_label(of, draws)), ("in one draw", in_one_draw(of, draws))):
        theta = of.fitted(drawn)
        distance = (drawn @ np.linalg.inv(NOISE * of.seen) * drawn).sum(axis=1)
        columns = {"noise_1": drawn[:, 0], "noise_2": drawn[:, 1], "theta_1": theta[:, 0], "theta_2": theta[:, 1]}
        parts.append(pd.DataFrame({"way": way} | columns | {"distance": distance}))
    return pd.concat(parts, ignore_index=True)


def reach() -> float:
    """The `distance` that a share `INSIDE` of the draws should not pass."""
    return float(special.chdtri(FEATURES.shape[1], 1 - INSIDE))


def checked(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """What share of the draws lies in the ellipse of one draw, and by how much any entry of their covariance is off at
    most, as a share of the largest entry; both by way of drawing."""
    should = NOISE * history().seen
    noise = {way: own[["noise_1", "noise_2"]].to_numpy() for way, own in table.groupby("way", sort=False)}
    off = {way: np.abs(found.T @ found / len(found) - should).max() / should.max() for way, found in noise.items()}
    return (table["distance"] <= reach()).groupby(table["way"]).mean(), pd.Series(off)


def figure_1(seed: int = 0) -> pd.DataFrame:
    """Which orders of the five documents are certain by a confidence interval, and which by ensembles.

    Args:
        seed: of the ensemble's noise.

    Returns:
        A line for each pair, that of the higher estimate first and pairs in the order of their estimates: pair,
        estimate (σ̂), half (α ‖x‖), certain (by the interval), ranker_1 … (σ by each ranker), and certain_2 and
        certain_5 (by as many rankers).
    """
    of = history()
    theta, rankers = of.fitted()[0], of.fitted(in_one_draw(of, RANKERS, seed))
    inverse = np.linalg.inv(of.seen + REGULARIZATION * np.eye(FEATURES.shape[1]))
    scores, gram = FEATURES @ theta, FEATURES @ inverse @ FEATURES.T
    each = rankers @ FEATURES.T
    alpha = torch.tensor([ALPHA], dtype=torch.float64)
    certain = interval_orders(torch.from_numpy(scores)[None], torch.from_numpy(gram)[None], alpha)[0].numpy()
    unanimous = {n: unanimous_orders(torch.from_numpy(each[:n])[None])[0].numpy() for n in (2, RANKERS)}
    order = np.argsort(-scores, kind="stable")
    lines = []
    for a, b in zip(*np.triu_indices(len(order), 1), strict=True):
        i, j = order[a], order[b]
        half = ALPHA * float(np.sqrt(gram[i, i] + gram[j, j] - 2 * gram[i, j]))
        lines.append(
            {"pair": f"{NAMES[i]} above {NAMES[j]}", "estimate": float(special.expit(scores[i] - scores[j]))}
            | {"half": half, "certain": bool(certain[i, j])}
            | {f"ranker_{n + 1}": float(special.expit(own[i] - own[j])) for n, own in enumerate(each)}
            | {f"certain_{n}": bool(found[i, j] or found[j, i]) for n, found in unanimous.items()}
        )
    return pd.DataFrame(lines).sort_values("estimate", kind="stable").reset_index(drop=True)


def divided(rankers: Sequence[int], seed: int = 0) -> list[Divided]:
    """The five documents in blocks, for each number of rankers that must agree: the first ones of one ensemble.

    Args:
        rankers: the numbers. seed: of the ensemble's noise.
    """
    of = history()
    each = of.fitted(in_one_draw(of, max(rankers), seed)) @ FEATURES.T
    each = each[:, np.argsort(-each[0], kind="stable")]
    return [Divided(n, each[0], unanimous_orders(torch.from_numpy(each[:n])[None])[0].numpy()) for n in rankers]
