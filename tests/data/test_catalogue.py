import dataclasses
import gzip
import lzma
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ol2r.data import (
    CATALOGUE,
    NOT_AT_HAND,
    MissingData,
    catalogue,
    checksum,
    commands,
    entry,
    last_read,
    load,
)
from ol2r.errors import DataError

# five parts of one query each, as a LETOR set divides them
PARTS = [f"{i % 3} qid:{i} 1:{i} 2:3\n0 qid:{i} 1:{i + 1}\n" for i in range(1, 6)]


def write_folds(folder: Path, suffix: str = ".txt", pack=lambda text: text):
    for fold in range(5):
        p = PARTS[fold:] + PARTS[:fold]
        for split, text in (("train", "".join(p[:3])), ("vali", p[3]), ("test", p[4])):
            path = folder / f"Fold{fold + 1}" / f"{split}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pack(text.encode()))


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A catalogue with one more entry, `toy`, whose files the test writes under the search path."""
    it = dataclasses.replace(
        entry("MQ2008"), name="toy", folders=("toy",), n_features=2, n_queries=5, n_documents=10, checksum=None
    )
    monkeypatch.setitem(CATALOGUE, "toy", it)
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    monkeypatch.setenv("OL2R_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path / "cache"))
    return tmp_path / "toy"


def test_documents_are_stored_once_and_folds_are_lists_of_queries(toy):
    write_folds(toy)
    dataset = load("toy")
    assert dataset.query_ids == ("1", "2", "3", "4", "5")
    assert dataset.n_documents == 10
    assert dataset.relevance.tolist() == [1, 0, 2, 0, 0, 0, 1, 0, 2, 0]
    assert dataset.features.tolist() == [[0, 1], [1, 0]] * 5  # (1, 3) and (2, 0), min-max in the query
    for fold in range(5):
        order = [(fold + i) % 5 for i in range(5)]
        assert dataset.folds[fold].train.tolist() == order[:3]
        assert dataset.folds[fold].validation.tolist() == order[3:4]
        assert dataset.folds[fold].test.tolist() == order[4:]


def test_the_entry_decides_whether_features_are_normalised(toy, monkeypatch):
    write_folds(toy)
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), normalization="by the source"))
    assert load("toy").features[0].tolist() == [1, 3]


def test_the_checksum_does_not_depend_on_compression(toy, tmp_path, monkeypatch):
    checksums = set()
    for suffix, pack in ((".txt", bytes), (".txt.gz", gzip.compress), (".txt.xz", lzma.compress)):
        monkeypatch.setenv("OL2R_DATA", str(tmp_path / suffix))
        write_folds(tmp_path / suffix / "toy", suffix, pack)
        checksums.add(load("toy").checksum)
    assert len(checksums) == 1


def test_a_set_that_is_read_in_blocks_and_grows_on_disk_is_the_same(toy, monkeypatch):
    write_folds(toy)
    for path in toy.glob("Fold*/*.txt"):  # every file has ids, but not every block
        path.write_text(path.read_text().replace("2:3", "2:3 # a"))
        if path.stem == "train":
            path.write_text(f"{path.read_text()}0 qid:9 1:4\n1 qid:9 1:1\n")
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), n_queries=6, n_documents=12))
    whole = load("toy")
    assert whole.document_ids == ("a", "") * 3 + ("", "") + ("a", "") * 2
    arrays = {path.name for path in (toy.parent / "cache" / "toy").glob("*.npy")}  # named by their content
    for name, value in (("letor._BLOCK_BYTES", 1), ("cache._MOST_HELD", 0), ("cache._MOST_WRITABLE", 0)):
        monkeypatch.setattr(f"ol2r.data.{name}", value)
    monkeypatch.setenv("OL2R_CACHE", str(toy.parent / "second"))
    again = load("toy")
    assert (again.checksum, again.query_ids, again.document_ids) == (
        whole.checksum, whole.query_ids, whole.document_ids,
    )  # fmt: skip
    assert {path.name for path in (toy.parent / "second" / "toy").glob("*.npy")} == arrays
    assert not again.features.flags.writeable


def test_a_wrong_checksum_is_an_error_that_names_both(toy, monkeypatch):
    write_folds(toy)
    right = load("toy").checksum
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), checksum="0" * 64))
    with pytest.raises(DataError, match=f"toy: expected the checksum {'0' * 64} for toy, found {right}"):
        load("toy")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"n_queries": 6}, "6 queries, 10 documents, 2 features"),
        ({"n_documents": 11}, "5 queries, 11 documents, 2 features"),
        ({"n_features": 3}, "5 queries, 10 documents, 3 features"),
    ],
)
def test_wrong_counts_are_an_error_that_names_what_was_expected_and_found(toy, monkeypatch, changed, expected):
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), **changed))
    write_folds(toy)
    said = f"toy: expected {expected} for toy, found 5 queries, 10 documents, 2 features"
    for ask in (load, checksum):
        with pytest.raises(DataError, match=said):
            ask("toy")


def test_sets_that_leave_out_zeros_need_not_name_their_last_feature(toy, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), n_features=3, sparse=True))
    write_folds(toy)
    assert load("toy").n_features == 3


def test_folds_that_disagree_on_a_shared_query_are_an_error(toy):
    write_folds(toy)
    (toy / "Fold3" / "test.txt").write_text(PARTS[1].replace("2:3", "2:4"))
    with pytest.raises(DataError, match=r"Fold3/test.txt: expected the documents of query 2 as in .*Fold1/train.txt"):
        load("toy")


def test_line_ends_are_no_disagreement(toy):
    write_folds(toy)
    (toy / "Fold3" / "test.txt").write_bytes(PARTS[1].replace("\n", "\r\n").encode())
    assert load("toy").n_documents == 10


def test_a_query_that_only_a_later_fold_has_is_added(toy, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), n_queries=6, n_documents=12))
    write_folds(toy)
    path = toy / "Fold5" / "test.txt"
    path.write_text(path.read_text() + "1 qid:9 1:1\n0 qid:9 1:0\n")
    dataset = load("toy")
    assert dataset.query_ids[-1] == "9"
    assert dataset.folds[4].test.tolist() == [3, 5]
    assert dataset.query(5)[0].tolist() == [[1, 0], [0, 0]]


def test_bad_text_names_its_file_and_line(toy):
    write_folds(toy)
    (toy / "Fold2" / "vali.txt").write_text("0 qid:5 1:1\n7 qid:5 1:1\n")
    with pytest.raises(DataError, match=r"Fold2/vali.txt:2: expected a grade from 0 to 2, found '7'"):
        load("toy")


def test_a_changed_data_file_is_read_again(toy):
    write_folds(toy)
    before = load("toy")
    assert checksum("toy") == before.checksum
    for path in toy.glob("Fold*/*.txt"):
        old = path.stat()
        path.write_text(path.read_text().replace("1 qid:4", "2 qid:4"))
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))  # as whoever hides a change would
    assert checksum("toy") != before.checksum
    after = load("toy")
    assert after.checksum == checksum("toy") != before.checksum
    assert after.relevance.tolist() == [1, 0, 2, 0, 0, 0, 2, 0, 2, 0]


def test_a_file_that_changes_while_it_is_read_is_an_error(toy, monkeypatch):
    write_folds(toy)
    real = catalogue.letor_blocks

    def meanwhile(*arguments):
        (toy / "Fold1" / "train.txt").write_text("".join(PARTS[:3]) + "\n")
        return real(*arguments)

    monkeypatch.setattr(catalogue, "letor_blocks", meanwhile)
    with pytest.raises(DataError, match=r"Fold1/train.txt changed while it was read: run again"):
        load("toy")


def test_data_that_is_not_what_a_run_was_declared_with_is_an_error(toy):
    write_folds(toy)
    assert load("toy", checksum("toy")).checksum == checksum("toy")
    with pytest.raises(DataError, match=f"toy has changed: expected the checksum not at hand, found {checksum('toy')}"):
        load("toy", NOT_AT_HAND)


def test_content_without_a_known_checksum_is_digested_once(toy, monkeypatch):
    write_folds(toy)
    monkeypatch.setattr("ol2r.data.cache._TICK", 0)  # the files were written just now, and would be read again for that
    first = checksum("toy")
    monkeypatch.setattr(catalogue, "letor_blocks", None)  # whoever reads a file again fails
    monkeypatch.setattr("ol2r.data.cache._file_digest", None)
    monkeypatch.setattr("ol2r.data.cache.np.load", None)
    assert checksum("toy") == first


def test_missing_data_says_where_to_get_it_and_what_to_do():
    with pytest.raises(MissingData) as error:
        load("Yahoo-LTRC-1")
    for part in ("Yahoo-LTRC-1 is not at hand", "Webscope", "ol2r data add PATH", "OL2R_DATA", "ltrc_yahoo"):
        assert part in str(error.value)


def test_a_missing_file_is_named(toy):
    write_folds(toy)
    (toy / "Fold4" / "vali.txt").unlink()
    assert not entry("toy").at_hand()
    with pytest.raises(MissingData, match=r"these files are missing or out of reach: Fold4/vali.txt"):
        load("toy")


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(ValueError, match=r"unknown data set 'MQ2009'; did you mean MQ200[78]\?"):
        load("MQ2009")


def test_click_logs_are_entries_and_not_ranking_data():
    with pytest.raises(ValueError, match="a collection of clicks"):
        load("Yandex_60Q_click_models")


def test_every_entry_can_be_described_and_found():
    listing = commands.list_datasets().splitlines()
    assert [line.split()[0] for line in listing[1:]] == list(CATALOGUE)
    for name, it in CATALOGUE.items():
        assert it.name == name
        assert it.how_to_get in commands.describe(name) and it.licence in commands.describe(name)
        if it.kind == "ranking":
            assert len(it.splits) == it.n_folds and it.folders


def test_added_paths_are_searched_after_ol2r_data(toy, tmp_path, monkeypatch):
    write_folds(tmp_path / "elsewhere" / "toy")
    assert not entry("toy").at_hand()
    said = commands.add(str(tmp_path / "elsewhere" / "toy"))  # the folder itself stands for the one that holds it
    added, told = said.splitlines()
    assert added == f"Added {tmp_path / 'elsewhere'}"
    content = f"5 queries, 10 documents, 2 features; checksum {load('toy').checksum} (checksum unconfirmed)"
    assert told == f"  toy: read and checked: {content}"
    assert entry("toy").location() == tmp_path / "elsewhere" / "toy"
    commands.add(str(tmp_path / "elsewhere"))
    assert catalogue.paths_file().read_text().splitlines() == [str(tmp_path / "elsewhere")]
    write_folds(toy)
    assert entry("toy").location() == toy


def test_adding_says_which_files_are_missing(toy):
    write_folds(toy)
    (toy / "Fold1" / "test.txt").unlink()
    assert "  toy: missing Fold1/test.txt" in commands.add(str(toy))


def test_adding_what_is_not_the_catalogues_is_an_error_and_adds_nothing(toy, tmp_path, monkeypatch):
    monkeypatch.delenv("OL2R_DATA")
    write_folds(toy)
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), n_queries=6))
    with pytest.raises(DataError, match=r"expected 6 queries.*found 5 queries.* was not added"):
        commands.add(str(tmp_path))
    assert not entry("toy").at_hand()
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    assert "refused: " in commands.describe("toy") and "expected 6 queries" in commands.describe("toy")


def test_files_may_have_the_publishers_usual_names_and_suffixes_in_any_case(toy):
    write_folds(toy)
    plain = load("toy")
    names = {"train.txt": "trainingset.TXT", "vali.txt": "ValidationSet.txt", "test.txt": "testset.TXT"}
    for path in list(toy.glob("Fold*/*.txt")):
        path.rename(path.with_name(names[path.name]))
    assert entry("toy").at_hand() and load("toy").checksum == plain.checksum
    (toy / "Fold1" / "testset.TXT").rename(toy / "Fold1" / "tests.TXT")
    assert entry("toy").missing_from(toy) == ["Fold1/test.txt"]


def test_a_second_copy_is_told_to_be_searched_later(toy, tmp_path):
    write_folds(toy)
    write_folds(tmp_path / "elsewhere" / "toy")
    assert commands.add(str(tmp_path / "elsewhere")).endswith(f"; {toy} is searched first")


def test_a_folder_may_be_named_by_a_link_and_lie_deeper_than_one_level(toy, tmp_path, monkeypatch):
    monkeypatch.delenv("OL2R_DATA")
    monkeypatch.setitem(CATALOGUE, "toy", dataclasses.replace(entry("toy"), folders=("deep/toy",)))
    write_folds(tmp_path / "real")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "toy").symlink_to(tmp_path / "real", target_is_directory=True)
    assert commands.add(str(tmp_path / "deep" / "toy")).startswith(f"Added {tmp_path}\n  toy: read and checked")
    assert entry("toy").location() == tmp_path / "deep" / "toy"


def test_a_folder_that_may_not_be_read_is_not_at_hand_and_stops_nothing(toy, monkeypatch):
    write_folds(toy)
    real = Path.is_file

    def refused(self, **options):
        if self.suffix == ".txt":
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, **options)

    monkeypatch.setattr(Path, "is_file", refused)
    assert not entry("toy").at_hand() and checksum("toy") == NOT_AT_HAND
    assert "toy" in commands.list_datasets()
    with pytest.raises(MissingData, match=r"missing or out of reach: Fold1/test.txt"):
        load("toy")


def test_missing_data_says_where_it_was_searched_for(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_DATA", f"{tmp_path}{os.pathsep}~/nowhere-at-all")
    home = Path.home() / "nowhere-at-all"
    with pytest.raises(MissingData) as error:
        load("toy")
    assert f"not at hand (searched: {tmp_path}, {home} (no directory))." in str(error.value)
    assert f"no; searched: {tmp_path}" in commands.describe("toy")
    monkeypatch.delenv("OL2R_DATA")
    assert "no; no directory is searched" in commands.describe("toy")


@pytest.mark.parametrize("path", ["", "a\nb", "~nobody-of-this-name/data"])
def test_adding_what_is_no_path_is_an_error(toy, path):
    with pytest.raises(ValueError, match=r"cannot be recorded|is not a directory"):
        commands.add(path)


def test_adding_a_place_without_data_is_an_error(toy, tmp_path):
    with pytest.raises(ValueError, match="is not a directory"):
        commands.add(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds none of the catalogue's folders"):
        commands.add(str(tmp_path / "empty"))


@pytest.mark.real_data("MQ2008")
def test_mq2008_has_its_published_size_and_partition():
    dataset = load("MQ2008")
    assert (dataset.n_queries, dataset.n_documents, dataset.n_features) == (784, 15211, 46)
    assert np.bincount(dataset.relevance).tolist() == [12279, 2001, 931]
    relevant = np.add.reduceat(dataset.relevance > 0, dataset.offsets[:-1])
    assert (relevant > 0).sum() == 564
    assert dataset.document_ids is not None and dataset.document_ids[0] == "GX008-86-4444840"
    tests = [set(fold.test.tolist()) for fold in dataset.folds]  # S5 S1 S2 S3 S4
    for f, fold in enumerate(dataset.folds):
        assert set(fold.train.tolist()) == tests[(f + 1) % 5] | tests[(f + 2) % 5] | tests[(f + 3) % 5]
        assert set(fold.validation.tolist()) == tests[(f + 4) % 5]


@pytest.mark.real_data("MQ2007_partial85", "ClueWeb09_webis", "MSLR-WEB30K_sample")
@pytest.mark.parametrize("name", ["MQ2007_partial85", "ClueWeb09_webis", "MSLR-WEB30K_sample"])
def test_sets_at_hand_match_their_entries(name):
    dataset, it = load(name), entry(name)
    assert (dataset.n_queries, dataset.n_documents, dataset.n_features) == (it.n_queries, it.n_documents, it.n_features)
    assert (len(dataset.folds), dataset.checksum, dataset.restricted) == (it.n_folds, it.checksum, it.restricted)
    assert dataset.features.min() == 0.0 and dataset.features.max() == 1.0
    assert all((len(fold.validation) == 0) == (name == "ClueWeb09_webis") for fold in dataset.folds)


@pytest.mark.real_data("OHSUMED")
def test_ohsumed_has_its_published_size_folds_and_long_lists():
    dataset = load("OHSUMED")
    assert (dataset.n_queries, dataset.n_documents, dataset.n_features) == (106, 16_140, 25)
    assert np.bincount(dataset.relevance).tolist() == [11303, 2585, 2252]
    assert (len(dataset.folds), dataset.n_grades, dataset.restricted) == (5, 3, True)
    assert dataset.document_ids is not None and dataset.document_ids[0] == "40626"
    assert np.median(dataset.sizes) > 100
    tests = [set(fold.test.tolist()) for fold in dataset.folds]
    assert set.union(*tests) == set(range(106)) and sum(map(len, tests)) == 106
    for f, fold in enumerate(dataset.folds):  # a fold validates on the part that the fold before tests on
        assert set(fold.validation.tolist()) == tests[f - 1]
        assert len(fold.train) + len(fold.validation) + len(fold.test) == 106
    low = np.minimum.reduceat(dataset.features, dataset.offsets[:-1])
    high = np.maximum.reduceat(dataset.features, dataset.offsets[:-1])
    assert (low == 0).all() and np.isin(high, (0, 1)).all()  # the source is not scaled


def test_ohsumed_and_the_counts_of_yandex_are_listed_and_described():
    listing = {line.split()[0]: line for line in commands.list_datasets().splitlines()}
    assert all(told in listing["OHSUMED"] for told in ("known", "106", "16,140", "25"))
    assert "Yandex_60Q_aggregated" in listing
    assert "38 rows have more clicks than views" in commands.describe("Yandex_60Q_aggregated")


def test_yahoo_names_no_page_that_has_gone():
    told = commands.describe("Yahoo-LTRC-1")
    assert "sandbox" not in told and "Yahoo Research" in told


@pytest.mark.real_data("MQ2008")
def test_letor_4_comes_normalised_as_we_would(monkeypatch, tmp_path):
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path))
    ours = load("MQ2008").features
    monkeypatch.setitem(CATALOGUE, "MQ2008", dataclasses.replace(entry("MQ2008"), normalization="by the source"))
    np.testing.assert_allclose(load("MQ2008").features, ours, atol=1e-6)


# whole data sets without a known checksum: right counts, invented content


def write_mq2007(root: Path, grade: int = 0, n_documents: int = 69_623):
    """MQ2007's counts of queries, documents and features; the first document has the given grade."""
    sizes = [41] * 1691 + [n_documents - 41 * 1691]
    lines = [f"0 qid:{q} 1:0 46:{d % 10}\n" for q, size in enumerate(sizes) for d in range(size)]
    lines[0] = lines[0].replace("0", str(grade), 1)
    starts = np.concatenate([[0], np.cumsum(sizes)])[[0, 339, 677, 1015, 1353, 1692]]
    parts = ["".join(lines[a:b]) for a, b in pairwise(starts.tolist())]
    for fold in range(5):
        p = parts[fold:] + parts[:fold]
        for split, text in (("train", "".join(p[:3])), ("vali", p[3]), ("test", p[4])):
            path = root / "MQ2007" / f"Fold{fold + 1}" / f"{split}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


@pytest.fixture
def own_places(tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OL2R_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("OL2R_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_a_fake_of_the_wrong_size_is_refused(own_places):
    write_mq2007(own_places, n_documents=69_622)
    found = "expected 1,692 queries, 69,623 documents, 46 features for MQ2007, found 1,692 queries, 69,622 documents"
    for ask in (load, checksum):
        with pytest.raises(DataError, match=found):
            ask("MQ2007")


def test_sets_of_the_right_size_are_kept_apart_by_their_content(own_places):
    assert checksum("MQ2007") == NOT_AT_HAND
    write_mq2007(own_places)
    first = checksum("MQ2007")
    assert first not in (NOT_AT_HAND, "unknown")
    write_mq2007(own_places, grade=1)
    second = checksum("MQ2007")
    assert second != first
    assert load("MQ2007").checksum == second
    assert last_read("MQ2007") == (second, False, {"queries": 1692, "documents": 69_623, "features": 46})
    write_mq2007(own_places)
    assert checksum("MQ2007") == first  # the same content at another time


def test_known_sets_have_their_checksum_with_nothing_at_hand(own_places):
    for name, it in CATALOGUE.items():
        assert checksum(name) == (it.checksum or NOT_AT_HAND)


def test_the_list_marks_sets_whose_checksum_nobody_knows():
    lines = {line.split()[0]: line for line in commands.list_datasets().splitlines()}
    assert "unconfirmed" in lines["MQ2007"] and "known" in lines["MQ2008"]
    assert "checksum unconfirmed" in commands.describe("MQ2007")


TABLES = """
[shared.house]
source = "a house"
licence = "free"
restricted = true
kind = "ranking"
n_features = 5
n_grades = 3
n_folds = 2
split = ["train", "", "test"]

[one]
like = "house"
title = "One"
n_queries = 10
how_to_get = "Ask."

[other]
like = "house"
label = "Another"
title = "Other"
restricted = false
n_folds = 1
folders = ["here", "there"]
how_to_get = "Ask."
"""


def test_a_table_is_an_entry_with_what_its_shared_table_says_and_what_it_says_itself():
    one, other = catalogue.listed(TABLES)
    assert (one.name, one.label, one.folders, one.n_queries, one.checksum) == ("one", "one", ("one",), 10, None)
    assert one.splits == (("Fold1/train", None, "Fold1/test"), ("Fold2/train", None, "Fold2/test"))
    assert one.restricted and not other.restricted
    assert (other.label, other.folders, other.n_queries) == ("Another", ("here", "there"), None)
    assert other.splits == (("train", None, "test"),)


@pytest.mark.parametrize("changed", [("n_grades = 3\n", ""), ("[one]", "[one]\nlicense = 1")], ids=["lacks", "unknown"])
def test_a_table_that_lacks_a_field_or_has_an_unknown_one_is_an_error(changed):
    with pytest.raises(TypeError, match=r"n_grades|license"):
        list(catalogue.listed(TABLES.replace(*changed)))
