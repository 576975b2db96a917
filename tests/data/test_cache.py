import dataclasses
import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

from ol2r.data import RankingDataset, cache, load
from ol2r.data.cache import GrowingTable, cached, stamp
from ol2r.errors import DataError


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A cache of its own around one source file; `store()` opens it, `store.builds` counts readings of the source."""
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path / "cache"))
    tiny = load("synthetic-tiny")

    class Store:
        builds = 0
        source = tmp_path / "source.txt"
        folder = tmp_path / "cache" / "toy"

        def build(self) -> RankingDataset:
            self.builds += 1
            ids = tuple(f"d{i} é" for i in range(tiny.n_documents))
            return dataclasses.replace(tiny, name="toy", label=self.source.read_text(), document_ids=ids)

        def __call__(self, fingerprint: str = "1") -> RankingDataset:
            return cached("toy", fingerprint, {"source.txt": self.source}, self.build)

        def array(self, name: str) -> Path:
            (path,) = self.folder.glob(f"{name}-*.npy")
            return path

    Store.source.write_text("first")
    return Store()


def assert_same(a: RankingDataset, b: RankingDataset):
    for name in ("features", "relevance", "offsets"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert getattr(a, name).dtype == getattr(b, name).dtype
    assert (a.query_ids, a.document_ids, a.label, a.n_grades) == (b.query_ids, b.document_ids, b.label, b.n_grades)
    for one, other in zip(a.folds, b.folds, strict=True):
        for split in ("train", "validation", "test"):
            np.testing.assert_array_equal(getattr(one, split), getattr(other, split))


def test_a_second_opening_gives_the_same_without_reading_the_source(store):
    assert_same(store(), store())
    assert store.builds == 1


def test_a_changed_source_is_noticed(store):
    store()
    store.source.write_text("second")
    assert store().label == "second"
    store.source.write_text("sec0nd")  # same size
    os.utime(store.source, ns=(1, 1))
    assert store().label == "sec0nd"
    assert store.builds == 3


def test_a_source_that_was_only_touched_is_not_read_again(store):
    store()
    os.utime(store.source, ns=(1, 1))
    store()
    store()
    assert store.builds == 1
    assert json.loads((store.folder / "record.json").read_text())["sources"]["source.txt"][1] == 1


def test_a_file_that_has_just_changed_is_never_taken_for_unchanged(store, monkeypatch):
    changed = store.source.stat().st_ctime_ns
    monkeypatch.setattr(time, "time_ns", iter(range(changed, changed + 100)).__next__)
    assert stamp(store.source) != stamp(store.source)
    monkeypatch.setattr(time, "time_ns", lambda: changed + 1_000_000_000)
    assert stamp(store.source) == stamp(store.source)


def test_another_fingerprint_is_another_data_set(store):
    store("1")
    store("2")
    assert store.builds == 2


def cut(path: Path):
    path.write_bytes(path.read_bytes()[:-10])


def flip(path: Path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def pickle(path: Path):
    np.save(path, np.array([{"an": "object"}], dtype=object), allow_pickle=True)


@pytest.mark.parametrize("damage", [cut, flip, pickle, Path.unlink])
@pytest.mark.parametrize("name", ["features", "document_ids", "fold2_test"])
def test_a_damaged_array_is_rebuilt_with_a_warning(store, name, damage):
    whole = store()
    damage(store.array(name))
    with pytest.warns(UserWarning, match="the cache of toy .* is damaged"):
        assert_same(store(), whole)
    assert_same(store(), whole)
    assert store.builds == 2


def test_an_array_whose_header_no_reader_understands_is_damaged_too(store):
    whole = store()
    path = store.array("features")
    for header in (b"{'descr': (", b"{'descr': $"):
        content = path.read_bytes()
        path.write_bytes(content[:10] + header.ljust(len(content) - 10))
        with pytest.warns(UserWarning, match="the cache of toy .* is damaged"):
            assert_same(store(), whole)


@pytest.mark.parametrize("name", ["label", "n_grades", "checksum"])
def test_a_number_or_a_name_that_changed_in_the_record_is_noticed(store, name):
    whole = store()
    listed = store.folder / "record.json"
    record = json.loads(listed.read_text())
    record["scalars"][name] = 4 if name == "n_grades" else "another"
    listed.write_text(json.dumps(record))
    with pytest.warns(UserWarning, match="is damaged .*checksum does not match"):
        assert_same(store(), whole)


@pytest.mark.parametrize(
    "content", ["", "[]", pytest.param("[" * 100_000, id="deep"), "{}", '{"fingerprint": "1"}', "\x00"]
)
def test_a_damaged_record_is_rebuilt_with_a_warning(store, content):
    whole = store()
    (store.folder / "record.json").write_text(content)
    with pytest.warns(UserWarning, match="is damaged"):
        assert_same(store(), whole)


def test_arrays_of_an_older_reading_are_removed_and_no_scratch_is_left(store):
    store()
    before = {path.name for path in store.folder.iterdir()}
    store("2")
    assert {path.name for path in store.folder.iterdir()} == before


def test_a_cache_that_cannot_be_written_costs_a_warning_only(store, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="toy cannot be cached in"):
        assert store().label == "first"


def test_a_full_disk_leaves_the_previous_cache_whole(store, monkeypatch):
    whole = store()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("ol2r.data.cache.np.save", full)
        with pytest.warns(UserWarning, match="No space left"):
            store("2")
    assert_same(store("1"), whole)
    assert store.builds == 2


def test_writing_to_an_opened_data_set_does_not_reach_the_file(store):
    store()
    store().features[0, 0] = 7.0
    assert store().features[0, 0] <= 1.0


def test_large_arrays_are_mapped_read_only(store, monkeypatch):
    whole = store()
    monkeypatch.setattr(cache, "_MOST_WRITABLE", whole.features.nbytes)  # the header comes beside
    opened = store()
    assert_same(opened, whole)
    assert not opened.features.flags.writeable and opened.relevance.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        opened.features[0, 0] = 7.0


def test_arrays_of_several_blocks_have_the_digest_of_their_blocks(monkeypatch):
    monkeypatch.setattr(cache, "_BLOCK_BYTES", 16)
    array = np.arange(10.0)
    data = array.tobytes()
    blocks = b"".join(hashlib.sha256(data[i : i + 16]).digest() for i in range(0, 80, 16))
    assert cache.array_digest(array) == hashlib.sha256(b"float64 (10,)" + blocks).hexdigest()


def test_an_error_in_the_source_is_not_taken_for_a_damaged_cache(store):
    def broken():
        raise DataError("source.txt:3: expected something else")

    with pytest.raises(DataError, match=r"source\.txt:3"):
        cached("toy", "1", {"source.txt": store.source}, broken)


@pytest.mark.parametrize("held", [0, 100, 1 << 20])
@pytest.mark.parametrize("writable", [True, False])
def test_a_table_grows_to_the_same_in_memory_and_on_disk(tmp_path, monkeypatch, held, writable):
    folder = tmp_path / "cache"
    if not writable:
        (tmp_path / "cache").write_text("")  # then the file is among the system's temporary ones
    monkeypatch.setenv("OL2R_CACHE", str(folder))
    monkeypatch.setattr(cache, "_MOST_HELD", held)
    rows = np.random.default_rng(0).random((50, 7), dtype=np.float32)
    table = GrowingTable(7)
    for start in range(0, 50, 9):
        table.append(rows[start : start + 9])
    grown = table.array()
    assert grown.flags.owndata == (held == 1 << 20)
    del table
    np.testing.assert_array_equal(grown, rows)
    assert not (writable and folder.exists() and list(folder.iterdir()))


def test_a_table_for_which_the_disk_has_no_room_is_an_error(tmp_path, monkeypatch):
    def full(**options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "_MOST_HELD", 0)
    monkeypatch.setattr(cache.tempfile, "TemporaryFile", full)
    with pytest.raises(DataError, match=r"^3 rows of features cannot be kept on disk: .*No space left on device$"):
        GrowingTable(2).append(np.zeros((3, 2), dtype=np.float32))


def test_features_in_a_file_of_their_own_are_those_of_the_cache_once_they_are_stored(store, monkeypatch):
    whole = store()
    table = np.memmap(store.source.with_name("own"), dtype=np.float32, mode="w+", shape=whole.features.shape)
    table[:] = whole.features
    monkeypatch.setattr(store, "build", lambda: dataclasses.replace(whole, features=table))
    opened = store("2")
    assert_same(opened, whole)
    opened.features[0, 0] += 1
    assert table[0, 0] == whole.features[0, 0]
