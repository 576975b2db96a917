"""Runs and judgements: what is written is read, and the field's own tools score them as we do."""

import ir_measures
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ol2r
from ol2r.data.trec import qrels, read_qrels, read_run, run_of, scores_of, write_qrels, write_run
from ol2r.errors import DataError
from ol2r.ranking import metrics

SIZES = st.lists(st.integers(1, 7), min_size=2, max_size=5)


def made(sizes, seed, most=4):
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, most + 1, sum(sizes))
    return ol2r.from_arrays(rng.random((sum(sizes), 3)), grades, np.repeat(range(len(sizes)), sizes), folds=2)


def ours(dataset, scores, k, gain):
    ideal = torch.from_numpy(metrics.ideal_dcg(dataset.relevance, dataset.offsets, k, gain))
    gains = metrics.gains(torch.from_numpy(dataset.relevance), gain)
    offsets = torch.from_numpy(dataset.offsets)
    found = metrics.query_ndcg(torch.from_numpy(scores)[:, None], gains, offsets, ideal, k)
    return dict(zip(dataset.query_ids, found[:, 0].tolist(), strict=True))


@settings(deadline=None, max_examples=40)
@given(SIZES, st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from(["linear", "exponential"]))
def test_ndcg_is_that_of_the_fields_own_tools(sizes, seed, k, gain):
    dataset = made(sizes, seed)
    scores = np.random.default_rng(seed).permutation(dataset.n_documents).astype(np.float32)
    judged, run = qrels(dataset, gain=gain), run_of(dataset, scores)
    theirs = {it.query_id: it.value for it in ir_measures.iter_calc([ir_measures.nDCG @ k], judged, run)}
    for query, value in ours(dataset, scores, k, gain).items():
        assert theirs[query] == pytest.approx(value, abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(SIZES, st.integers(0, 2**32 - 1))
def test_what_is_written_is_read(tmp_path_factory, sizes, seed):
    dataset, folder = made(sizes, seed), tmp_path_factory.mktemp("trec")
    scores = np.random.default_rng(seed).standard_normal(dataset.n_documents).round(1)
    judged, run = qrels(dataset), run_of(dataset, scores)
    write_qrels(judged, folder / "qrels")
    write_run(run, folder / "run")
    assert read_qrels(folder / "qrels") == judged and read_run(folder / "run") == run
    np.testing.assert_array_equal(scores_of(read_run(folder / "run"), dataset), scores)
    assert [(it.query_id, it.doc_id, it.relevance) for it in ir_measures.read_trec_qrels(str(folder / "qrels"))] == [
        (query, name, grade) for query, own in judged.items() for name, grade in own.items()
    ]
    theirs = ir_measures.read_trec_run(str(folder / "run"))
    assert {(it.query_id, it.doc_id): it.score for it in theirs} == {
        (query, name): score for query, own in run.items() for name, score in own.items()
    }


def test_a_fold_is_written_alone_and_the_rest_is_left_open():
    dataset = made([3, 2, 4], 0)
    run = run_of(dataset, np.arange(9.0), [2])
    assert list(run) == ["2"] == list(qrels(dataset, [2]))
    found = scores_of(run, dataset)
    assert np.isnan(found[:5]).all() and found[5:].tolist() == [5, 6, 7, 8]


def test_the_order_of_a_run_counts_for_nothing():
    dataset = made([3, 2], 0)
    run = run_of(dataset, np.arange(5.0))
    backwards = {query: dict(reversed(own.items())) for query, own in reversed(run.items())}
    np.testing.assert_array_equal(scores_of(backwards, dataset), np.arange(5.0))


def test_runs_that_do_not_match_the_data_are_named():
    dataset = made([3, 2], 0)
    with pytest.raises(DataError, match=r"the run has 1 queries that own data .* has not, such as 7"):
        scores_of({"7": {"d0": 1.0}}, dataset)
    with pytest.raises(DataError, match=r"query 0: the run and .* do not have the same documents, such as d2"):
        scores_of({"0": {"d0": 1.0, "d1": 2.0}}, dataset)
    with pytest.raises(DataError, match=r"a score for each document: expected the shape \(5,\), found \(4,\)"):
        run_of(dataset, np.zeros(4))
    with pytest.raises(DataError, match="expected finite scores"):
        run_of(dataset, np.full(5, np.nan))
    spaced = ol2r.from_arrays(np.ones((2, 1)), [0, 1], ["a b", "c"], folds=2)
    with pytest.raises(DataError, match="the name 'a b' cannot stand in a file of TREC's"):
        qrels(spaced)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Q0 a 1 0.5\n", r"run:1: expected 'query Q0 document rank score tag', found '1 Q0 a 1 0.5'"),
        ("1 Q0 a 1 high x\n", r"run:1: expected 'query"),
        ("1 Q0 a 1 nan x\n", r"run:1: expected 'query"),
        ("1 Q0 a 1 2 x\n\n1 Q0 a 2 1 x\n", r"run:3: document a of query 1 stands there twice"),
        ("\n", r"run: expected at least one line"),
    ],
)
def test_what_is_no_run_is_refused_with_its_line(tmp_path, text, message):
    (tmp_path / "run").write_text(text)
    with pytest.raises(DataError, match=message):
        read_run(tmp_path / "run")
