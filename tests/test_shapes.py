"""Annotated shapes are checked in tests, so that no annotation is wrong and a wrong shape is found where it arises."""

import ast
from importlib import import_module
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import torch

import ol2r
from ol2r.learners import DBGD
from ol2r.random import Streams, replica_key
from ol2r.ranking import Candidates, interval_orders, unanimous_orders

SOURCE = Path(ol2r.__file__).parent


def sources(room: str) -> list[Path]:
    place = Path(import_module(room).__file__)
    return sorted(place.parent.rglob("*.py")) if place.name == "__init__.py" else [place]


def candidates(n_queries: int = 3, documents: int = 4, features: int = 5) -> Candidates:
    x = torch.arange(float(n_queries * documents * features)).reshape(-1, features)
    offsets = torch.arange(n_queries + 1) * documents
    return Candidates(x, offsets, x.reshape(n_queries, documents, features).sum(dim=1), torch.tensor([0, 2]))


def test_scores_and_covariances_of_different_lists_are_refused():
    with pytest.raises(jaxtyping.TypeCheckError):
        interval_orders(torch.zeros(2, 4), torch.zeros(2, 3, 3), torch.ones(2))


def test_an_ensemble_axis_that_is_missing_is_refused():
    with pytest.raises(jaxtyping.TypeCheckError):
        unanimous_orders(torch.zeros(2, 4))


def test_numbers_of_the_wrong_type_are_refused():
    with pytest.raises(jaxtyping.TypeCheckError):
        unanimous_orders(torch.zeros(2, 3, 4, dtype=torch.int64))


def test_clicks_on_lists_of_another_depth_are_refused():
    streams = Streams(np.array([replica_key("invented", 1, seed) for seed in (1, 2)]))
    learner = DBGD(5, {"alpha": 0.01, "delta": 1.0, "decay": 1.0, "start": "zero", "prefix_credit": True}, streams)
    ranking = learner.rank(candidates(), 3)
    with pytest.raises(jaxtyping.TypeCheckError):
        learner.update(candidates(), ranking, torch.zeros(2, 4, dtype=torch.bool))


def test_a_learner_whose_lists_are_too_short_is_refused():
    class Short(DBGD):
        def _interleave(self, candidates, depth):
            return super()._interleave(candidates, depth - 1)

    streams = Streams(np.array([replica_key("invented", 1, seed) for seed in (1, 2)]))
    learner = Short(5, {"alpha": 0.01, "delta": 1.0, "decay": 1.0, "start": "zero", "prefix_credit": True}, streams)
    with pytest.raises(jaxtyping.TypeCheckError):
        learner.rank(candidates(), 3)


def test_candidates_with_sums_of_other_features_are_refused():
    good = candidates()
    with pytest.raises(jaxtyping.TypeCheckError):
        Candidates(good.features, good.offsets, good.totals[:, 1:], good.query)


def test_every_annotated_shape_is_one_that_is_checked(pytestconfig):
    """A shape that no test run checks could be wrong unnoticed."""
    *rooms, _ = pytestconfig.getoption("jaxtyping_packages").split(",")
    checked = {path for room in rooms for path in sources(room)}
    for path in sorted(SOURCE.rglob("*.py")):
        imported = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        if any(node.module == "jaxtyping" for node in imported):
            assert path in checked, path
