"""Computes the data of the olRankNet paper's Figures 1 and 2: every order, list and interval; nothing is drawn by hand.

Figure 1 is a query of six documents whose uncertain orders are those of the paper's figure, with lists that the
project's own operations show of it. Figure 2 comes from a short run of olRankNet on synthetic data.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from ol2r import data
from ol2r.clicks import users
from ol2r.learners.olranknet import OlRankNet
from ol2r.papers.pairrank.illustration import WIDE, Divided, nearest_orders
from ol2r.parameters import Value
from ol2r.random import Streams
from ol2r.ranking import Candidates, engine, interval_orders
from ol2r.simulation import Evaluation, Replica, make_streams, simulate

NAMES = "ABCDEF"
SCORES = np.array([6.0, 2.9, 2.5, 2.1, -1.5, -1.9])
"""f of the documents A to F."""
VARIANCE = 0.008
"""The diagonal of C = G A⁻¹ Gᵀ/m, with nothing beside it: all pairs have intervals of the same width, with α = 1."""


def certain_orders(scores: np.ndarray = SCORES, variance: float = VARIANCE) -> np.ndarray:
    """Whether document i is certainly above j, by Definition 3.4: Bool[documents, documents]."""
    gram = variance * torch.eye(len(scores), dtype=torch.float64)[None]
    alpha = torch.ones(1, dtype=torch.float64)
    return interval_orders(torch.from_numpy(scores)[None], gram, alpha)[0].numpy()


def lists(certain: np.ndarray) -> dict[tuple[int, ...], float]:
    """Every list that a random topological sort may show, with its probability.

    The next document is one of those that have no certain superior left, all equally likely.

    Args:
        certain: Bool[documents, documents].
    """
    found: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(len(certain)):
        grown: dict[tuple[int, ...], float] = {}
        for shown, probability in found.items():
            left = [i for i in range(len(certain)) if i not in shown]
            free = [i for i in left if not certain[left, i].any()]
            grown |= {(*shown, i): probability / len(free) for i in free}
        found = grown
    return found


def sampled(certain: np.ndarray, n: int, scores: np.ndarray = SCORES) -> list[tuple[int, ...]]:
    """Lists of as many replicas, as the learner's own operation shows them.

    Args:
        certain: Bool[documents, documents].
        scores: Float[documents].
    """
    v = len(scores)
    query = torch.zeros(n, dtype=torch.int64)
    candidates = Candidates(torch.eye(v), torch.tensor([0, v]), torch.ones(1, v), query)
    ranking, _, _ = engine("numba").arrange(
        candidates,
        torch.from_numpy(scores).expand(n, -1).contiguous(),
        torch.from_numpy(certain).expand(n, -1, -1).contiguous(),
        True,
        v,
        (),
        Streams(np.arange(n, dtype=np.uint64)),
        1,
    )
    return [tuple(row) for row in ranking.tolist()]


class Example(NamedTuple):
    """What Figure 1 shows.

    Args:
        certain: whether document i is certainly above j, Bool[documents, documents].
        shown: two lists that were sampled, as names of documents.
        lists: all lists that may be shown: list (names), probability.
    """

    certain: np.ndarray
    shown: tuple[str, str]
    lists: pd.DataFrame


def figure_1() -> Example:
    """The paper's example: six documents, of whose orders only those of (B, C), (C, D) and (E, F) are uncertain."""
    certain = certain_orders()

    def named(ranking: tuple[int, ...]) -> str:
        return "".join(NAMES[i] for i in ranking)

    drawn = list(dict.fromkeys(named(ranking) for ranking in sampled(certain, 64)))
    # two lists that differ in every uncertain order, if there are such
    first = drawn[0]
    second = max(drawn, key=lambda other: sum(a != b for a, b in zip(first, other, strict=True)))
    lines = sorted((named(ranking), probability) for ranking, probability in lists(certain).items())
    return Example(certain, (first, second), pd.DataFrame(lines, columns=["list", "probability"]))


SETTING: dict[str, Value] = {
    "alpha": 0.1,
    "regularization": 0.1,
    "rate": 1e-3,
    "width": 16,
    "depth": 2,
    "init": "symmetric",
    "covariance": "diagonal",
    "gradients": "refitted",
    "refit": "adam",
    "passes": 20,
    "start": "warm",
    "penalty": "theta0",
    "pairs": "matched",
}
"""Hyper-parameters of the run of Figure 2; no result is made with them."""


def figure_2(rounds: int, seed: int = 0) -> pd.DataFrame:
    """Estimated preferences with their intervals, for all pairs of one held-out query after a short run of olRankNet.

    The run is on synthetic-tiny with informational users.

    Returns:
        The table of one query, with its columns, as of `pairrank.illustration.nearest_orders`.
    """
    dataset, learner = _short_run(rounds, seed)
    return nearest_orders([intervals(learner, dataset.query(int(q))[0]) for q in dataset.fold(1).test])


def divided(alphas: Sequence[float], rounds: int, seed: int = 0) -> list[Divided]:
    """The blocks of one held-out query after the run of `figure_2`, for each α that its intervals could have: of the
    first `WIDE` documents of the first query that has as many."""
    dataset, learner = _short_run(rounds, seed)
    features = next(x for q in dataset.fold(1).test if len(x := dataset.query(int(q))[0]) >= WIDE)[:WIDE]
    scores, gram = _scored(learner, features)
    order = torch.argsort(scores[0], descending=True, stable=True)
    scores, gram = scores[:, order], gram[:, order][:, :, order]
    known = (interval_orders(scores, gram, torch.tensor([alpha], dtype=torch.float64)) for alpha in alphas)
    return [Divided(at, scores[0].numpy(), certain[0].numpy()) for at, certain in zip(alphas, known, strict=True)]


def _short_run(rounds: int, seed: int) -> tuple[data.RankingDataset, OlRankNet]:
    dataset = data.load("synthetic-tiny")
    replicas = [Replica(1, seed, users("informational", dataset.n_grades))]
    learner = OlRankNet(dataset.n_features, SETTING, make_streams(dataset, replicas))
    evaluation = Evaluation(
        k=10, split="test", gain="exponential", empty="skip", ties="expected", gamma=1.0, checkpoints=(rounds,)
    )
    simulate(dataset, replicas, learner, evaluation)
    return dataset, learner


def _scored(learner: OlRankNet, features: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """f and C = G A⁻¹ Gᵀ/m of documents by the first replica: Float64[1, V] and Float64[1, V, V]."""
    network, theta = learner.network, learner.fit.theta.double()
    scores, activations = network.forward(theta, network.inputs(torch.from_numpy(features)[None]).double())
    return scores, learner.covariance.gram(network.tangent(theta, activations))


def intervals(learner: OlRankNet, features: np.ndarray) -> pd.DataFrame:
    """σ̂_ij and CB_ij of all pairs of a query by the learner's first replica, the document of higher score first.

    Args:
        learner: a batch of one replica.
        features: Float32[documents, d].

    Returns:
        pair, estimate, half, certain, as of `pairrank.illustration.nearest_orders`.
    """
    scores, gram = _scored(learner, features)
    certain = interval_orders(scores, gram, learner.precise["alpha"])[0].numpy()
    f, c = scores[0].numpy(), gram[0].numpy()
    order = np.argsort(-f, kind="stable")
    i, j = (order[places] for places in np.triu_indices(len(order), 1))
    half = float(learner.precise["alpha"][0]) * np.sqrt(np.maximum(c[i, i] + c[j, j] - 2 * c[i, j], 0.0))
    names = [f"{a + 1}, {b + 1}" for a, b in zip(i, j, strict=True)]
    estimate = 1 / (1 + np.exp(f[j] - f[i]))
    return pd.DataFrame({"pair": names, "estimate": estimate, "half": half, "certain": certain[i, j]})
