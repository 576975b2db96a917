"""Computes the data of the PairRank paper's Figures 1 and 2: every block, list and interval; nothing is drawn by hand.

Figure 1 enumerates the lists of a model whose uncertain pairs are those of the paper's figure. Figure 2 comes
from a short run on synthetic data.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from ol2r import data
from ol2r.clicks import users
from ol2r.learners.pairrank import PairRank
from ol2r.ranking import Candidates
from ol2r.ranking.batched.blocks import block_ends
from ol2r.simulation import Evaluation, Replica, make_streams, simulate


class Model(NamedTuple):
    """One query whose documents are the unit vectors x_i = e_i, sorted by score, with their estimated preferences.

    The preference of document i over j is σ(s_i − s_j), known to within ‖x_ij‖_{M⁻¹}.
    """

    scores: np.ndarray
    """θ, Float64[documents]."""
    variances: np.ndarray
    """Diagonal of M⁻¹, Float64[documents]."""

    @property
    def candidates(self) -> Candidates:
        """The query as the only one of a batch with one replica."""
        n = len(self.scores)
        return Candidates(torch.eye(n), torch.tensor([0, n]), torch.ones(1, n), torch.zeros(1, dtype=torch.int64))

    @property
    def certain(self) -> np.ndarray:
        """Whether document i is certainly above j, with α = 1: Bool[documents, documents]."""
        half = np.sqrt(self.variances[:, None] + self.variances) * (1 - np.eye(len(self.scores)))
        return 1 / (1 + np.exp(self.scores - self.scores[:, None])) - half > 0.5


WIDE = 8
"""Documents of the query that `divided` divides."""
EXAMPLE = Model(np.array([4.0, 3.8, 1.0, 0.0, -0.2]), np.array([0.01, 0.01, 0.01, 0.01, 0.10]))
"""The model of the paper's Figure 1: all orders are certain except those of (1, 2), (3, 5) and (4, 5)."""


def blocks(certain: np.ndarray) -> list[tuple[int, ...]]:
    """The blocks of a query's documents from the top, each a tuple of documents, found by the running-maximum rule.

    Args:
        certain: Bool[documents, documents], whether document i is certainly above j; documents sorted by score.
    """
    ends = block_ends(torch.from_numpy(~(certain | certain.T)))
    stops = [0, *(np.flatnonzero(ends.numpy()) + 1).tolist()]
    return [tuple(range(a, b)) for a, b in pairwise(stops)]


def proposals(certain: np.ndarray, conservative: bool) -> dict[tuple[int, ...], float]:
    """Every list that PairRank may show, with its probability.

    The slots of a block are filled one after another, each with one of the documents that are left in the block, all
    equally likely. Conservative shuffling draws only from those that are not certainly below another one that is left.

    Args:
        certain: Bool[documents, documents], documents sorted by score.
        conservative: whether the learner is PairRank_C; otherwise it is PairRank_R.
    """
    lists: dict[tuple[int, ...], float] = {(): 1.0}
    for block in blocks(certain):
        for _ in block:
            grown = {}
            for shown, probability in lists.items():
                left = [i for i in block if i not in shown]
                free = [i for i in left if not (conservative and certain[left, i].any())]
                grown |= {(*shown, i): probability / len(free) for i in free}
            lists = grown
    return lists


def regret(ranking: tuple[int, ...]) -> int:
    """The number of pairs of a list that stand in the wrong order; the best order is 0, 1, 2, …"""
    return sum(above > below for above, below in combinations(ranking, 2))


class Example(NamedTuple):
    """What Figure 1 shows."""

    certain: np.ndarray
    """Whether document i is certainly above j: Bool[documents, documents]."""
    blocks: list[tuple[int, ...]]
    """Documents, from 0, of each block, from the top."""
    proposals: pd.DataFrame
    """One line for each shuffle and each list it may show: shuffle ("random", "conservative"), list (documents numbered
    from 1), regret, probability."""


def figure_1() -> Example:
    """The paper's worked example: five documents with the best order 1, 2, 3, 4, 5; (1, 2), (3, 5), (4, 5) are
    uncertain."""
    certain = EXAMPLE.certain
    lines = [
        (shuffle, " ".join(str(i + 1) for i in shown), regret(shown), probability)
        for shuffle in ("random", "conservative")
        for shown, probability in sorted(proposals(certain, shuffle == "conservative").items())
    ]
    table = pd.DataFrame(lines, columns=["shuffle", "list", "regret", "probability"])
    return Example(certain, blocks(certain), table)


def figure_2(rounds: int, seed: int = 0) -> pd.DataFrame:
    """Estimated preferences with their intervals, for all pairs of one held-out query after a short run of PairRank.

    The run is on synthetic-tiny with informational users. The query is the first in which a certain and an uncertain
    pair have estimates within 0.02 of each other, or else the query in which two such estimates are nearest.

    Returns:
        One line for each pair, in the order of `estimate`: pair (such as "3, 7": documents numbered from 1, the one of
        higher score first), estimate (σ̂), half (half the width of the interval, CB = α ‖x_ij‖_{M⁻¹}), certain, shown
        ("certain" and "uncertain" for the certain and the uncertain pair of nearest estimates, else "").
    """
    dataset, learner = _short_run(rounds, seed)
    tables = [
        _intervals(dataset.features[dataset.documents(q)].astype(np.float64), learner) for q in dataset.fold(1).test
    ]
    return nearest_orders(tables)


def _short_run(rounds: int, seed: int) -> tuple[data.RankingDataset, PairRank]:
    dataset = data.load("synthetic-tiny")
    replicas = [Replica(1, seed, users("informational", dataset.n_grades, stop_rule="after_click", binary="highest"))]
    setting = {"alpha": 0.1, "regularization": 0.1, "loss": "sum", "pairs": "matched"}
    setting |= {"shuffle": "conservative", "covariance": "full"}
    learner = PairRank(dataset.features.shape[1], setting, make_streams(dataset, replicas))
    evaluation = Evaluation(
        k=10, split="test", gain="exponential", empty="skip", ties="expected", gamma=0.9995, checkpoints=(rounds,)
    )
    simulate(dataset, replicas, learner, evaluation)
    return dataset, learner


class Divided(NamedTuple):
    """A query whose documents are divided into blocks by one α, or by one number of rankers."""

    at: float
    """That α, or that number."""
    scores: np.ndarray
    """Of the documents from the top, Float64[documents]."""
    certain: np.ndarray
    """Whether document i is certainly above j: Bool[documents, documents]."""

    @property
    def blocks(self) -> list[tuple[int, ...]]:
        """Documents of each block, from the top."""
        return blocks(self.certain)


def divided(alphas: Sequence[float], rounds: int, seed: int = 0) -> list[Divided]:
    """The blocks of one held-out query after the run of `figure_2`, for each α that its intervals could have: of the
    first query with `WIDE` documents."""
    dataset, learner = _short_run(rounds, seed)
    query = next(q for q in dataset.fold(1).test if len(dataset.features[dataset.documents(q)]) >= WIDE)
    x = dataset.features[dataset.documents(query)].astype(np.float64)[:WIDE]
    scores = x @ learner.theta[0].numpy()
    order = np.argsort(-scores, kind="stable")
    x, scores = x[order], scores[order]
    pairs = torch.from_numpy((x[:, None] - x).reshape(1, -1, x.shape[1]))
    widths = learner.covariance.widths(pairs).numpy().reshape(len(x), len(x))
    preferred = 1 / (1 + np.exp(scores - scores[:, None]))
    return [Divided(alpha, scores, preferred - alpha * widths > 0.5) for alpha in alphas]


def nearest_orders(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Of the tables of some queries the one that shows best what makes an order certain; see `figure_2`.

    Args:
        tables: of each query pair, estimate, half and certain, a line for each pair, in any order.

    Returns:
        The table in the order of `estimate`, with shown.
    """
    tables = [table.assign(shown="").sort_values("estimate", kind="stable", ignore_index=True) for table in tables]
    gaps = [_nearest(table)[0] for table in tables]
    chosen = next((i for i, gap in enumerate(gaps) if gap < 0.02), int(np.argmin(gaps)))
    table = tables[chosen]
    gap, certain, uncertain = _nearest(table)
    if gap < np.inf:
        table.loc[[certain, uncertain], "shown"] = ["certain", "uncertain"]
    return table


def _intervals(x: np.ndarray, learner: PairRank) -> pd.DataFrame:
    """The table of `nearest_orders` for a query with the documents x, from the learner's first replica."""
    theta, alpha = learner.theta[0].numpy(), float(learner.width[0])
    order = np.argsort(-x @ theta, kind="stable")
    above, below = (order[places] for places in np.triu_indices(len(order), 1))
    difference = x[above] - x[below]
    table = pd.DataFrame(
        {
            "pair": [f"{i + 1}, {j + 1}" for i, j in zip(above, below, strict=True)],
            "estimate": 1 / (1 + np.exp(-difference @ theta)),
            "half": alpha * learner.covariance.widths(torch.from_numpy(difference)[None])[0].numpy(),
        }
    )
    table["certain"] = table["estimate"] - table["half"] > 0.5
    return table


def _nearest(table: pd.DataFrame) -> tuple[float, int, int]:
    """The smallest distance of a certain pair's estimate to an uncertain pair's, and the lines of these two pairs."""
    certain, uncertain = np.flatnonzero(table["certain"]), np.flatnonzero(~table["certain"])
    if len(certain) == 0 or len(uncertain) == 0:
        return np.inf, -1, -1
    estimate = table["estimate"].to_numpy()
    distance = np.abs(estimate[certain][:, None] - estimate[uncertain])
    i, j = np.unravel_index(distance.argmin(), distance.shape)
    return float(distance[i, j]), int(certain[i]), int(uncertain[j])
