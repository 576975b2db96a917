"""A reader's own data: what comes in is what is learnt from, and what is wrong with it is said."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ol2r
from ol2r.errors import DataError

FEATURES = np.array([[1.0, 10.0], [3.0, 10.0], [2.0, 20.0], [5.0, 0.0], [7.0, 4.0]])
GRADES = np.array([0, 2, 1, 0, 1])
QUERIES = ["b", "b", "b", "a", "a"]


def test_arrays_become_a_data_set_in_the_order_of_their_queries():
    made = ol2r.from_arrays(FEATURES, GRADES, QUERIES, folds=2, name="mine")
    assert made.query_ids == ("b", "a") and made.label == "mine (the reader's own)"
    assert made.offsets.tolist() == [0, 3, 5] and made.relevance.tolist() == [0, 2, 1, 0, 1]
    assert made.n_grades == 3 and made.normalization == "query min-max"
    np.testing.assert_allclose(made.features, [[0, 0], [1, 0], [0.5, 1], [0, 0], [1, 1]])
    plain = ol2r.from_arrays(FEATURES, GRADES, QUERIES, folds=2, normalize=False)
    np.testing.assert_array_equal(plain.features, FEATURES.astype(np.float32))
    assert plain.checksum != made.checksum and plain.name != made.name  # of what is learnt from
    assert made.name == f"own-{made.checksum[:12]}"


@given(st.permutations(range(5)))
def test_documents_of_a_query_need_not_stand_together(order):
    order = list(order)
    made = ol2r.from_arrays(FEATURES[order], GRADES[order], np.array(QUERIES)[order], folds=2, normalize=False)
    for query, name in enumerate(made.query_ids):
        features, grades = made.query(query)
        own = [i for i in order if QUERIES[i] == name]
        np.testing.assert_array_equal(features, FEATURES[own].astype(np.float32))
        assert grades.tolist() == GRADES[own].tolist()


@pytest.mark.parametrize(("n_queries", "folds"), [(2, 2), (7, 2), (7, 3), (10, 5), (11, 11)])
def test_folds_test_every_query_once_and_never_share_one(n_queries, folds):
    made = ol2r.from_arrays(np.ones((n_queries, 1)), np.zeros(n_queries, int), range(n_queries), folds=folds)
    assert sorted(np.concatenate([fold.test for fold in made.folds])) == list(range(n_queries))
    if folds > 2:  # as in LETOR 4.0, where fold 1 validates on S4 and tests on S5
        for number, fold in enumerate(made.folds):
            np.testing.assert_array_equal(fold.validation, made.folds[number - 1].test)
    for fold in made.folds:
        parts = [fold.train, fold.validation, fold.test]
        assert sorted(np.concatenate(parts)) == list(range(n_queries))
        assert len(fold.train) and (len(fold.validation) > 0) == (folds > 2)


@pytest.mark.parametrize(
    ("features", "grades", "queries", "folds", "message"),
    [
        (FEATURES[:4], GRADES, QUERIES, 2, "with one grade and one query a document, found the shapes"),
        (FEATURES[0], GRADES, QUERIES, 2, "expected features"),
        (FEATURES[:0], GRADES[:0], [], 2, "at least one document and one feature"),
        (np.full((5, 2), np.nan), GRADES, QUERIES, 2, "finite features, found nan in row 0"),
        (FEATURES * 1e38, GRADES, QUERIES, 2, "finite features, found 1e"),
        (np.array([["a"]] * 5), GRADES, QUERIES, 2, "numbers as features"),
        (FEATURES, GRADES, ["b", None, "b", "a", "a"], 2, "query's id for every document, found none in row 1"),
        (FEATURES, GRADES, [1.0, np.nan, 1.0, 2.0, 2.0], 2, "query's id for every document, found none in row 1"),
        (FEATURES, GRADES - 1, QUERIES, 2, "whole numbers from 0 to 126"),
        (FEATURES, GRADES + 0.5, QUERIES, 2, "whole numbers from 0 to 126"),
        (FEATURES, GRADES * 100, QUERIES, 2, "whole numbers from 0 to 126"),
        (FEATURES, np.array(list("01201")), QUERIES, 2, "whole numbers from 0 to 126"),
        (FEATURES, GRADES, QUERIES, 3, "2 queries cannot be cut into 3 folds"),
        (FEATURES, GRADES, QUERIES, 1, "2 queries cannot be cut into 1 folds"),
    ],
)
def test_what_is_wrong_with_arrays_is_said(features, grades, queries, folds, message):
    with pytest.raises(DataError, match=message):
        ol2r.from_arrays(features, grades, queries, folds=folds, name="mine")


def test_small_differences_of_large_features_survive_the_scaling():
    stamps = 1.7e9 + 30.0 * np.arange(5)[:, None]
    made = ol2r.from_arrays(stamps, GRADES, [1, 1, 1, 2, 2], folds=2)
    np.testing.assert_allclose(made.features[:, 0], [0, 0.5, 1, 0, 1])


def test_grades_that_a_sample_lacks_can_be_named():
    made = ol2r.from_arrays(FEATURES, GRADES, QUERIES, folds=2, n_grades=5)
    assert made.n_grades == 5
    with pytest.raises(DataError, match="whole numbers from 0 to 1 as grades"):
        ol2r.from_arrays(FEATURES, GRADES, QUERIES, folds=2, n_grades=2)
    for wrong in (0, 1, 128):
        with pytest.raises(DataError, match=f"n_grades must be from 2 to 127, not {wrong}"):
            ol2r.from_arrays(FEATURES, GRADES, QUERIES, folds=2, n_grades=wrong)


def test_ids_of_any_kind_name_queries():
    for ids in (QUERIES, [b"b", b"b", b"b", b"a", b"a"], np.array(QUERIES, dtype=object)):
        assert ol2r.from_arrays(FEATURES, GRADES.astype(object), ids, folds=2).query_ids == ("b", "a")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    for name, grade in (("data[1].txt", 1), ("data1.txt", 0)):
        (tmp_path / name).write_text(f"{grade} qid:1 1:1\n0 qid:2 1:1\n")
    assert ol2r.from_letor(tmp_path / "data[1].txt", folds=2).relevance.tolist() == [1, 0]


def test_letor_files_of_different_width_are_one_data_set(tmp_path):
    (tmp_path / "one.txt").write_text("2 qid:1 1:0.5 # a\n0 qid:1 1:0.25\n")
    with gzip.open(tmp_path / "two.txt.gz", "wt") as file:
        file.write("1 qid:2 3:4\n0 qid:2 1:1 3:2\n4 qid:9 2:1\n")
    made = ol2r.from_letor(str(tmp_path / "*.txt*"), folds=3, normalize=False)
    assert (made.n_queries, made.n_documents, made.n_features, made.n_grades) == (3, 5, 3, 5)
    assert made.label == "one (the reader's own)"
    assert made.query_ids == ("1", "2", "9")
    np.testing.assert_array_equal(made.features[2:4], np.float32([[0, 0, 4], [1, 0, 2]]))
    paths = [tmp_path / "one.txt", tmp_path / "two.txt.gz"]
    assert ol2r.from_letor(paths, folds=3, normalize=False, name="x").checksum == made.checksum


def test_what_is_wrong_with_files_is_said(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("0 qid:1 1:1\n1 qid:2 1:x\n")
    with pytest.raises(DataError, match=r"mine\.txt:2: expected a decimal number"):
        ol2r.from_letor(path)
    with pytest.raises(DataError, match=r"no file .*none"):
        ol2r.from_letor(tmp_path / "none*.txt")
    with pytest.raises(DataError, match="no files were named"):
        ol2r.from_letor([])
    path.write_text("0 qid:1 1:1\n")
    (tmp_path / "more.txt").write_text("0 qid:1 1:1\n")
    with pytest.raises(DataError, match=r"more\.txt: query 1 stands in .*mine\.txt as well"):
        ol2r.from_letor(tmp_path / "*.txt")
    with pytest.raises(DataError, match=r"mine\.txt: query 1 stands in .*mine\.txt as well"):
        ol2r.from_letor([path, path])


def test_files_that_are_read_in_blocks_and_grow_on_disk_are_the_same_data_set(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table, grades, queries = rng.normal(size=(60, 5)).round(3), rng.integers(0, 3, 60), np.arange(60) // 4
    table[:36, 3:] = 0  # the first file, and the first blocks of the second, are narrower
    for name, rows in (("one.txt", range(24)), ("two.txt.gz", range(24, 60))):
        lines = (
            f"{grades[i]} qid:{queries[i]} {' '.join(f'{j}:{x}' for j, x in enumerate(table[i], start=1) if x)}\n"
            for i in rows
        )
        text = "".join(lines).encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    expected = ol2r.from_arrays(table, grades, queries, name="x")
    for held in (1 << 20, 100, 0):
        monkeypatch.setattr("ol2r.data.letor._BLOCK_BYTES", 200)
        monkeypatch.setattr("ol2r.data.cache._MOST_HELD", held)
        made = ol2r.from_letor(tmp_path, name="x")
        assert made.checksum == expected.checksum and made.query_ids == expected.query_ids
        for name in ("features", "relevance", "offsets"):
            one, other = getattr(made, name), getattr(expected, name)
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


CLICKS = pd.DataFrame(
    [("shoes", "s1", 1, "a", 0), ("shoes", "s1", 2, "b", 1), ("hats", "s1", 1, "x", 1),
     ("shoes", "s2", 3, "a", 1), ("shoes", "s2", 1, "c", 0), ("shoes", "s2", 2, "b", 0)],
    columns=["query", "session", "position", "item", "clicked"],
)  # fmt: skip


def test_a_table_of_clicks_becomes_sessions(tmp_path):
    found = ol2r.sessions(CLICKS)
    assert list(found) == ["shoes", "hats"]
    shoes = found["shoes"]
    assert shoes.items == ("a", "b", "c")
    assert shoes.lists.tolist() == [[0, 1, -1], [2, 1, 0]]
    assert shoes.clicks.tolist() == [[False, True, False], [False, False, True]]
    assert len(found["hats"]) == 1
    path = tmp_path / "clicks.csv"
    CLICKS.assign(more="x").to_csv(path, index=False)
    again = ol2r.sessions(path)
    for query, own in found.items():
        assert again[query].lists.tolist() == own.lists.tolist() and again[query].items == own.items


def test_null_is_a_name_like_any_other(tmp_path):
    path = tmp_path / "clicks.csv"
    pd.DataFrame([("null", "s", 1, "NA", 1)], columns=CLICKS.columns).to_csv(path, index=False)
    assert ol2r.sessions(path)["null"].items == ("NA",)


def test_click_models_are_fitted_to_a_table_of_clicks():
    from ol2r.clicks.fitting import fit_cascade

    (model,) = fit_cascade([ol2r.sessions(CLICKS)["shoes"]])
    assert model.attraction == (0.5, 0.5, 0.0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (CLICKS.drop(columns="item"), "found no 'item'"),
        (CLICKS[:0], "found no line"),
        (CLICKS.assign(item=None), "an empty 'item'"),
        (CLICKS.assign(position="top"), "numbers as positions"),
        (CLICKS.assign(clicked=2), "0 or 1 as clicked"),
        (CLICKS.assign(position=1), "position 1 stands twice in session s1 of shoes"),
        (CLICKS.assign(item="a"), "item a stands twice in session s1 of shoes"),
    ],
)
def test_what_is_wrong_with_a_table_of_clicks_is_said(table, message):
    with pytest.raises(DataError, match=message):
        ol2r.sessions(table)


def test_a_file_that_is_no_table_is_said(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"clicks\.csv: expected a CSV file"):
        ol2r.sessions(path)
    path.write_text("")
    with pytest.raises(DataError, match=r"clicks\.csv: expected a CSV file"):
        ol2r.sessions(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,session,position,item,clicked\ns,1,1,a,0,9\n", r"clicks\.csv:2: expected 5 values, found 6"),
        ("query,session,position,item,clicked\ns,1,1,a\n", r"clicks\.csv:2: expected 5 values, found 4"),
        ("query,session,position,item,clicked,item\ns,1,1,a,0,b\n", "found 'item' twice"),
        ("query,session,position,item,clicked\ns,1,inf,a,0\n", "numbers as positions"),
        ("query,session,position,item,clicked\ns,1,1,a,True\n", "0 or 1 as clicked"),
    ],
)
def test_a_file_of_clicks_is_refused_rather_than_guessed_at(tmp_path, text, message):
    path = tmp_path / "clicks.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        ol2r.sessions(path)
