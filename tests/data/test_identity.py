"""What a data set is decides its numbers; what it is called, where it lies and how it comes in do not."""

import json
import lzma

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_matrix

import ol2r
from ol2r import cli
from ol2r.data import CATALOGUE
from ol2r.data.own import take_in
from ol2r.errors import DataError, ExperimentError

RNG = np.random.default_rng(0)
FEATURES = np.round(RNG.random((300, 5)), 4)
GRADES = (FEATURES[:, 0] * 2.99).astype(int)
QUERIES = np.repeat(np.arange(30), 10)


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    known = dict(CATALOGUE)
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    yield
    CATALOGUE.clear()
    CATALOGUE.update(known)


def letor(rows) -> str:
    return "".join(
        f"{GRADES[i]} qid:{QUERIES[i]} {' '.join(f'{j}:{x!r}' for j, x in enumerate(FEATURES[i].tolist(), 1))}\n"
        for i in rows
    )


def write(path, rows=range(300), pack=str.encode):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack(letor(rows)))
    return path


def curve(dataset) -> pd.DataFrame:
    return ol2r.compare(dataset, ["PDGD"], rounds=30, seeds=1, progress=False).frame


def test_the_same_rows_give_the_same_curve_to_the_last_bit_whatever_they_are_called(tmp_path):
    first = curve(ol2r.from_arrays(FEATURES, GRADES, QUERIES, name="a"))
    write(tmp_path / "b.txt")
    write(tmp_path / "folder" / "c.TXT.XZ", pack=lambda text: lzma.compress(text.encode()))
    again = [
        ol2r.from_arrays(FEATURES, GRADES, QUERIES, name="MQ2008"),
        ol2r.from_arrays(pd.DataFrame(FEATURES), GRADES.astype(float), [f"q{query}" for query in QUERIES]),
        ol2r.from_letor(tmp_path / "b.txt"),
        ol2r.from_letor(tmp_path / "folder", name="other"),
    ]
    for dataset in again:
        pd.testing.assert_frame_equal(curve(dataset), first, check_exact=True)
    assert (curve(ol2r.from_arrays(FEATURES, GRADES, QUERIES, folds=3))["dataset"] != first["dataset"].iloc[0]).all()


def test_a_run_of_a_chapter_meets_the_queries_that_compare_meets(tmp_path):
    path = write(tmp_path / "mine.txt")
    own = take_in(str(path))
    assert own.name == ol2r.from_letor(path).name == ol2r.from_arrays(FEATURES, GRADES, QUERIES).name
    smoke = ["--tier", "smoke", "--item", "fig-5a", "--seeds", "1", "--jobs", "1"]
    assert cli.main(["run", "nsgd", "--data", str(path), *smoke]) == 0
    stored = sorted((tmp_path / "scratch").glob("*/*.parquet"))
    cells = [json.loads(pq.read_metadata(file).metadata[b"ol2r"])["cell"] for file in stored]
    assert {cell["fields"]["dataset"] for cell in cells} == {own.name}
    assert {cell["fields"]["checksum"] for cell in cells} == {own.checksum}


def test_two_queries_of_one_name_are_refused():
    with pytest.raises(DataError, match="mine: two queries have the name '1'"):
        ol2r.from_arrays(np.ones((2, 1)), [0, 1], np.array([1, "1"], dtype=object), folds=2, name="mine")


# files of a folder


def test_no_file_of_a_folder_is_left_out_without_a_word(tmp_path):
    write(tmp_path / "one.txt", range(100))
    write(tmp_path / "two.TXT", range(100, 200))
    write(tmp_path / "three.txt.XZ", range(200, 300), lambda text: lzma.compress(text.encode()))
    assert ol2r.from_letor(tmp_path).n_queries == 30
    (tmp_path / "notes.md").write_text("")
    write(tmp_path / "more" / "four.txt", range(10))
    with pytest.warns(
        UserWarning, match=r"2 of what is in the folder was not read: .*more \(a folder.*notes\.md \(not"
    ):
        assert ol2r.from_letor(tmp_path).n_queries == 30


NAMES = {
    "usual": ("train.txt", "vali.txt", "test.txt"),
    "OHSUMED": ("trainingset.TXT", "validationset.txt", "testset.TXT"),
    "Yahoo": ("set1.train.txt", "set1.valid.txt", "set1.test.txt"),
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_the_publishers_own_split_is_taken(tmp_path, names):
    for name, rows in zip(names, (range(180), range(180, 240), range(240, 300)), strict=True):
        write(tmp_path / name, rows)
    for how in ({}, {"split": "given"}):
        (fold,) = ol2r.from_letor(tmp_path, **how).folds
        assert [len(part) for part in (fold.train, fold.validation, fold.test)] == [18, 6, 6]
        assert fold.train.tolist() == list(range(18)) and fold.test.tolist() == list(range(24, 30))
    cut = ol2r.from_letor(tmp_path, split="cut")
    assert len(cut.folds) == 5 and cut.n_queries == 30
    assert cut.name != ol2r.from_letor(tmp_path).name, "other folds are another data set"
    with pytest.raises(DataError, match="has the publisher's own split: leave out folds, or say split='cut'"):
        ol2r.from_letor(tmp_path, folds=3)


def test_the_publishers_five_folds_keep_each_query_once(tmp_path):
    parts = [range(60 * part, 60 * part + 60) for part in range(5)]
    for f in range(5):
        order = [parts[(f + i) % 5] for i in range(5)]
        write(tmp_path / f"Fold{f + 1}" / "trainingset.txt", [row for part in order[:3] for row in part])
        write(tmp_path / f"Fold{f + 1}" / "validationset.TXT", order[3])
        write(tmp_path / f"Fold{f + 1}" / "testset.TXT", order[4])
    made = ol2r.from_letor(tmp_path)
    assert (made.n_queries, made.n_documents, len(made.folds)) == (30, 300, 5)
    for f, fold in enumerate(made.folds):
        for part, numbers in zip((fold.train, fold.validation, fold.test), ((0, 1, 2), (3,), (4,)), strict=True):
            expected = {query for i in numbers for query in range(6 * ((f + i) % 5), 6 * ((f + i) % 5) + 6)}
            assert {int(made.query_ids[query]) for query in part} == expected
    (tmp_path / "Fold2" / "testset.TXT").write_text(letor(parts[0]).replace("1:0.", "1:1."))
    with pytest.raises(DataError, match=r"testset.TXT: expected the documents of query 0 as in"):
        ol2r.from_letor(tmp_path)


def test_a_query_in_two_splits_of_a_fold_is_refused(tmp_path):
    write(tmp_path / "train.txt", range(200))
    write(tmp_path / "test.txt", range(190, 300))
    with pytest.raises(DataError, match=r"test\.txt: query 19 stands in .*train\.txt as well"):
        ol2r.from_letor(tmp_path)


def test_a_split_that_is_not_there_cannot_be_given(tmp_path):
    path = write(tmp_path / "all.txt")
    for paths in (path, tmp_path):
        with pytest.raises(DataError, match=r"expected a folder with the publisher's split: files such as train.txt"):
            ol2r.from_letor(paths, split="given")
    with pytest.raises(ExperimentError, match="did you mean 'given'"):
        ol2r.from_letor(path, split="givn")
    write(tmp_path / "train.txt", range(10))
    write(tmp_path / "train.txt.xz", range(10), lambda text: lzma.compress(text.encode()))
    write(tmp_path / "training.txt", range(10))
    write(tmp_path / "test.txt", range(10, 20))
    with pytest.raises(DataError, match=r"expected one file for train, found train.txt and training.txt"):
        ol2r.from_letor(tmp_path)


def test_the_command_line_takes_the_publishers_split_or_cuts(tmp_path, capsys):
    for name, rows in zip(NAMES["usual"], (range(180), range(180, 240), range(240, 300)), strict=True):
        write(tmp_path / "mine" / name, rows)
    run = ["run", "nsgd", "--tier", "smoke", "--item", "fig-5a", "--seeds", "1", "--dry-run"]
    told = {}
    for how in ([], ["--split", "given"], ["--split", "cut"]):
        assert cli.main([*run, "--data", str(tmp_path / "mine"), *how]) == 0
        told[tuple(how)] = capsys.readouterr().out.splitlines()[0]
    assert told[()] == told["--split", "given"] and "4 rows" in told[()]
    assert "20 rows" in told["--split", "cut"]
    assert cli.main([*run, "--split", "cut"]) == 2
    assert "give its path with --data" in capsys.readouterr().err


# arrays of every layout


LAYOUTS = {
    "float32": lambda x: x.astype(np.float32).astype(np.float64),
    "fortran": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "object": lambda x: x.astype(object),
    "frame": pd.DataFrame,
    "list": np.ndarray.tolist,
    "sparse": csr_matrix,
    "big endian": lambda x: x.astype(">f8"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_an_array_gives_the_same_data_set(layout):
    given = LAYOUTS[layout](FEATURES)
    made = ol2r.from_arrays(given, GRADES, QUERIES)
    values = FEATURES.astype(np.float32).astype(float) if layout == "float32" else FEATURES
    assert made.checksum == ol2r.from_arrays(values, GRADES, QUERIES).checksum


def test_read_only_and_half_precision_arrays_are_read_and_not_changed():
    half = FEATURES.astype(np.float16)
    half.flags.writeable = False
    made = ol2r.from_arrays(half, GRADES, QUERIES)
    assert made.checksum == ol2r.from_arrays(half.astype(float), GRADES, QUERIES).checksum


@pytest.mark.parametrize(
    ("features", "grades", "queries", "message"),
    [
        (FEATURES.T, GRADES, QUERIES, r"found the shapes \(5, 300\), \(300,\) and \(300,\)"),
        (FEATURES + 1j, GRADES, QUERIES, "expected numbers as features, found complex128"),
        (FEATURES.astype("M8[s]"), GRADES, QUERIES, "expected numbers as features, found datetime64"),
        (np.ma.masked_less(FEATURES, 0.1), GRADES, QUERIES, "features: expected a value everywhere, found a masked"),
        (FEATURES, np.ma.masked_equal(GRADES, 0), QUERIES, "grades: expected a value everywhere"),
        (FEATURES, GRADES * 1e300, QUERIES, "whole numbers from 0 to 126 as grades .no larger one is kept."),
        (FEATURES, np.where(GRADES, np.inf, 0), QUERIES, "whole numbers from 0 to 126"),
        (FEATURES, GRADES.astype(np.uint64) - np.uint64(1), QUERIES, "whole numbers from 0 to 126"),
        (FEATURES, GRADES[:, None], QUERIES, r"found the shapes \(300, 5\), \(300, 1\) and \(300,\)"),
        ([[1.0], [1.0, 2.0]], [0, 1], [1, 2], "features: expected an array"),
        (np.where(FEATURES > 0.99, -np.inf, FEATURES), GRADES, QUERIES, "expected finite features, found -inf"),
    ],
)
def test_what_is_no_data_is_refused_in_one_line(features, grades, queries, message):
    with pytest.raises(DataError, match=message) as error:
        ol2r.from_arrays(features, grades, queries, name="mine")
    assert "\n" not in str(error.value)
