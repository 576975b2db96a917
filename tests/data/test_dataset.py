import dataclasses
import mmap
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ol2r.data import Fold, RankingDataset, drop_constant_features, load, normalize_per_query
from ol2r.errors import DataError


def make(**changes) -> RankingDataset:
    dataset = RankingDataset(
        name="toy",
        features=np.array([[0, 1, 5], [2, 1, 6], [4, 1, 7], [3, 3, 3]], dtype=np.float32),
        relevance=np.array([0, 1, 2, 0], dtype=np.int8),
        offsets=np.array([0, 3, 4]),
        query_ids=("a", "b"),
        document_ids=None,
        folds=(Fold(np.array([0]), np.array([], dtype=np.int64), np.array([1])),),
        n_grades=3,
        checksum="",
        restricted=False,
        label="toy",
        normalization="none",
    )
    return dataclasses.replace(dataset, **changes)


def test_queries_own_consecutive_documents():
    dataset = make()
    assert (dataset.n_queries, dataset.n_documents, dataset.n_features) == (2, 4, 3)
    assert dataset.sizes.tolist() == [3, 1]
    features, relevance = dataset.query(1)
    assert features.tolist() == [[3, 3, 3]] and relevance.tolist() == [0]


def test_totals_are_the_sums_of_each_query_s_documents():
    assert make().totals.tolist() == [[6, 3, 18], [3, 3, 3]]


@pytest.mark.skipif(not hasattr(mmap, "MADV_WILLNEED"), reason="this system takes no advice on file maps")
def test_the_pages_that_hold_a_query_are_read_ahead(tmp_path):
    np.save(tmp_path / "features.npy", np.random.default_rng(0).random((3000, 3), dtype=np.float32))
    mapped = make(
        features=np.load(tmp_path / "features.npy", mmap_mode="r"),
        relevance=np.zeros(3000, dtype=np.int8),
        offsets=np.array([0, 700, 2500, 3000]),
        query_ids=("a", "b", "c"),
    )
    mapped.read_ahead(np.array([2, 1]))  # the system takes the advice
    file = (tmp_path / "features.npy").read_bytes()
    for query, (start, length) in zip((2, 1), mapped._pages(np.array([2, 1])), strict=True):
        documents = mapped.query(query)[0].tobytes()
        assert start % mmap.PAGESIZE == 0 and len(documents) <= length < len(documents) + mmap.PAGESIZE
        assert file[start : start + length].endswith(documents)


def test_features_in_memory_are_not_read_ahead():
    assert make()._map is None
    make().read_ahead(np.array([0, 1]))


def test_folds_are_numbered_from_one():
    assert make().fold(1).train.tolist() == [0]
    for number in (0, 2):
        with pytest.raises(ValueError, match=f"toy has folds 1 to 1, not {number}"):
            make().fold(number)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.array([0, 4, 4])}, "query b has no documents"),
        ({"offsets": np.array([0, 2, 3])}, "do not fit together"),
        ({"query_ids": ("a", "b", "c")}, "do not fit together"),
        ({"offsets": np.array([0, 4, 4]), "query_ids": ("a",)}, "do not fit together"),
        ({"document_ids": ("d1",)}, "do not fit together"),
        ({"offsets": np.array([], dtype=np.int64), "query_ids": ()}, "offsets of at least one query"),
        ({"features": np.zeros(4, dtype=np.float32)}, r"features: expected the shape \(any, any\), found \(4,\)"),
        ({"relevance": np.array([0, 1, 3, 0], dtype=np.int8)}, "outside 0 … 2"),
        (
            {"relevance": np.array([0, 1, 0.5, 0])},
            "relevance: expected whole numbers, found others in an array of float64",
        ),
        ({"folds": (Fold(np.array([0]), np.array([]), np.array([2])),)}, "fold 1 has queries outside 0 … 1"),
        ({"folds": (Fold(np.array([-1]), np.array([]), np.array([1])),)}, "fold 1 has queries outside 0 … 1"),
        ({"folds": (Fold(np.array([0.0]), np.array([]), np.array([1])),)}, "fold 1 has queries outside 0 … 1"),
        ({"folds": (Fold(np.array([0]), np.array([0]), np.array([1])),)}, "fold 1 has a query in two of its splits"),
    ],
)
def test_arrays_that_make_no_data_set_are_errors(changes, message):
    with pytest.raises(DataError, match=message):
        make(**changes)


@settings(max_examples=50, deadline=None)
@given(arrays(np.float32, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.floats(-3, 3, width=32)))
def test_normalisation_is_min_max_in_each_query(features):
    offsets = np.array([0, (len(features) + 1) // 2, len(features)] if len(features) > 1 else [0, 1])
    out = normalize_per_query(features, offsets)
    for start, stop in pairwise(offsets):
        for column in range(features.shape[1]):
            x = features[start:stop, column].astype(float)
            expected = (x - x.min()) / (x.max() - x.min()) if x.max() > x.min() else 0 * x
            np.testing.assert_allclose(out[start:stop, column], expected, atol=1e-7)
    np.testing.assert_allclose(normalize_per_query(out, offsets), out, atol=1e-7)


def test_normalisation_survives_the_whole_range_of_float32():
    largest = np.finfo(np.float32).max
    out = normalize_per_query(np.array([[-largest], [0.0], [largest]], dtype=np.float32), np.array([0, 3]))
    assert out[:, 0].tolist() == [0.0, 0.5, 1.0]


def test_dropping_every_feature_is_an_error():
    constant = make(features=np.ones((4, 3), dtype=np.float32))
    with pytest.raises(DataError, match="all features are constant over the training queries of fold 1"):
        drop_constant_features(constant, 1)


def test_dropping_looks_at_the_training_documents_of_its_fold_only():
    assert drop_constant_features(make(), 1).features.tolist() == [[0, 5], [2, 6], [4, 7], [3, 3]]
    other = Fold(np.array([0, 1]), np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    kept = drop_constant_features(dataclasses.replace(make(), folds=(other,)), 1)
    assert kept.n_features == 3
    assert "dropped" in kept.normalization


@pytest.mark.real_data("MQ2007_partial85")
def test_features_dropped_from_mq2007_differ_by_fold():
    dataset = load("MQ2007_partial85")
    assert [drop_constant_features(dataset, fold).n_features for fold in range(1, 6)] == [41, 41, 41, 40, 40]
