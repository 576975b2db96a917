"""PairRank's Figures 1 and 2 worked out: every block, list and interval is computed, none is drawn by hand.

Figure 1 is enumerated from a model whose uncertain pairs are the paper's; Figure 2 comes from a short run on synthetic
data.
"""

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
    """Documents x_i = e_i of one query, sorted by score, and what is known of them: σ(s_i − s_j) ± ‖x_ij‖_{M⁻¹}."""

    scores: np.ndarray
    """θ, Float64[documents]."""
    variances: np.ndarray
    """Diagonal of M⁻¹, Float64[documents]."""

    @property
    def candidates(self) -> Candidates:
        """The query, once."""
        n = len(self.scores)
        return Candidates(torch.eye(n), torch.tensor([0, n]), torch.ones(1, n), torch.zeros(1, dtype=torch.int64))

    @property
    def certain(self) -> np.ndarray:
        """Whether document i is certainly above j, with α = 1: Bool[documents, documents]."""
        half = np.sqrt(self.variances[:, None] + self.variances) * (1 - np.eye(len(self.scores)))
        return 1 / (1 + np.exp(self.scores - self.scores[:, None])) - half > 0.5


EXAMPLE = Model(np.array([4.0, 3.8, 1.0, 0.0, -0.2]), np.array([0.01, 0.01, 0.01, 0.01, 0.10]))
"""A model in which all orders are certain but those of (1, 2), (3, 5) and (4, 5), as in the paper's Figure 1."""


def blocks(certain: np.ndarray) -> list[tuple[int, ...]]:
    """Blocks of documents that are sorted by score, from the top, by the running-maximum rule.

    Args:
        certain: Bool[documents, documents].
    """
    ends = block_ends(torch.from_numpy(~(certain | certain.T)))
    stops = [0, *(np.flatnonzero(ends.numpy()) + 1).tolist()]
    return [tuple(range(a, b)) for a, b in pairwise(stops)]


def proposals(certain: np.ndarray, conservative: bool) -> dict[tuple[int, ...], float]:
    """Every list that PairRank may show, with its probability.

    Slot after slot of a block goes to one of the documents left in it, all equally likely; under conservative shuffling
    only to one that is certainly below no other left.

    Args:
        certain: Bool[documents, documents], documents sorted by score.
        conservative: PairRank_C instead of PairRank_R.
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
    """Pairs in which a later document of the best order, 0, 1, 2, …, stands above an earlier one."""
    return sum(above > below for above, below in combinations(ranking, 2))


class Example(NamedTuple):
    """What Figure 1 shows."""

    certain: np.ndarray
    """Whether document i is certainly above j: Bool[documents, documents]."""
    blocks: list[tuple[int, ...]]
    """Documents, from 0, of each block, from the top."""
    proposals: pd.DataFrame
    """A line a list that either shuffle may show: shuffle ("random", "conservative"), list (documents from 1), regret,
    probability."""


def figure_1() -> Example:
    """The paper's worked example: five documents, best order 1 ≻ 2 ≻ 3 ≻ 4 ≻ 5; (1, 2), (3, 5), (4, 5) uncertain."""
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

    The query is the first in which a certain and an uncertain pair have estimates within 0.02 of each other; where no
    query has such a pair, the one where they come nearest.

    Args:
        rounds: of the run, on synthetic-tiny with informational users.
        seed: of the run.

    Returns:
        A line a pair, the document of higher score first, in the order of `estimate`: pair (such as "3, 7"; documents
        from 1), estimate (σ̂), half (CB = α ‖x_ij‖_{M⁻¹}), certain, shown ("certain" and "uncertain" for the two that
        come nearest to each other, else "").
    """
    dataset = data.load("synthetic-tiny")
    replicas = [Replica(1, seed, users("informational", dataset.n_grades, stop_rule="after_click", binary="highest"))]
    setting = {"alpha": 0.1, "regularization": 0.1, "loss": "sum", "pairs": "matched"}
    setting |= {"shuffle": "conservative", "covariance": "full"}
    learner = PairRank(dataset.features.shape[1], setting, make_streams(dataset, replicas))
    evaluation = Evaluation(
        k=10, split="test", gain="exponential", empty="skip", ties="expected", gamma=0.9995, checkpoints=(rounds,)
    )
    simulate(dataset, replicas, learner, evaluation)
    tables = [
        _intervals(dataset.features[dataset.documents(q)].astype(np.float64), learner) for q in dataset.fold(1).test
    ]
    gaps = [_nearest(table)[0] for table in tables]
    chosen = next((i for i, gap in enumerate(gaps) if gap < 0.02), int(np.argmin(gaps)))
    table = tables[chosen]
    _, certain, uncertain = _nearest(table)
    table.loc[[certain, uncertain], "shown"] = ["certain", "uncertain"]
    return table


def _intervals(x: np.ndarray, learner: PairRank) -> pd.DataFrame:
    """Of all pairs of documents x, as the learner's first replica sees them."""
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
    return table.assign(shown="").sort_values("estimate", kind="stable", ignore_index=True)


def _nearest(table: pd.DataFrame) -> tuple[float, int, int]:
    """The smallest distance of a certain pair's estimate to an uncertain one's, and the two lines."""
    certain, uncertain = np.flatnonzero(table["certain"]), np.flatnonzero(~table["certain"])
    if len(certain) == 0 or len(uncertain) == 0:
        return np.inf, -1, -1
    estimate = table["estimate"].to_numpy()
    distance = np.abs(estimate[certain][:, None] - estimate[uncertain])
    i, j = np.unravel_index(distance.argmin(), distance.shape)
    return float(distance[i, j]), int(certain[i]), int(uncertain[j])
