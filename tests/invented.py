"""Invented results: runs of any learners with means, deviations and shapes that a test chooses."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.chapter import Results
from ol2r.random import generator


def results(frame: pd.DataFrame, tier: str = "paper") -> Results:
    """Results of a frame, with one record of provenance a cell."""
    record = {"cell": {"type": "invented"}, "device": "cpu", "ol2r": "0.1.0", "code": "c0de" * 16, "dirty": False}
    records = tuple(record | {"key": key} for key in frame["cell"].unique())
    return Results("nsgd", "table-3", "Offline NDCG@10", tier, frame, (), records, ("TD2003",))


def runs(
    values: dict[tuple, float],
    names: tuple[str, ...],
    *,
    column: str = "ndcg",
    seeds: int = 15,
    folds: int = 5,
    rounds: tuple[int, ...] = (200, 800, 1000),
    deviation: float | dict[tuple, float] = 0.01,
) -> pd.DataFrame:
    """One line a run and round: labels `names` take each key of `values`, whose value is the exact mean of its runs.

    Runs vary by seed with the given deviation inside each fold, so that seeds within a fold are not all equal.
    """
    rng = generator("invented runs", 0)
    frames = []
    for key, mean in values.items():
        noise = rng.standard_normal((folds, seeds))
        noise = (noise - noise.mean(axis=1, keepdims=True)) / noise.std(axis=1, ddof=1, keepdims=True)
        scale = deviation[key] if isinstance(deviation, dict) else deviation
        fold, seed, round_ = (a.ravel() for a in np.meshgrid(range(folds), range(seeds), rounds, indexing="ij"))
        labels = pd.DataFrame([key] * len(fold), columns=list(names))
        measured = {"fold": fold + 1, "seed": seed, "round": round_, column: mean + scale * noise[fold, seed]}
        frames.append(labels.assign(cell="/".join(map(str, key)), **measured))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="session")
def invented_runs() -> Callable[..., pd.DataFrame]:
    return runs


@pytest.fixture(scope="session")
def invented_results() -> Callable[..., Results]:
    return results


@pytest.fixture(scope="session")
def grid() -> pd.DataFrame:
    """Five learners × three kinds of user on MQ2008, ten checkpoints: ndcg, cndcg and cosine grow with rounds."""
    learners = ("DBGD", "CPS", "DP-DBGD", "MGD", "NSGD")
    users = ("informational", "perfect", "navigational")
    means = {("MQ2008", u, name): 0.1 * i + 0.3 * j for i, name in enumerate(learners) for j, u in enumerate(users)}
    frame = runs(means, ("dataset", "users", "learner"), rounds=tuple(range(100, 1001, 100)))
    return frame.assign(
        cndcg=lambda f: f["ndcg"] * f["round"] / 10, cosine=lambda f: f["round"] / 2000 + f["ndcg"] / 10
    )
