import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import Fake
from hypothesis import given
from hypothesis import strategies as st

from ol2r import saved
from ol2r.experiments import store as store_module
from ol2r.experiments.blocks import file_name, in_order, joined, rows_of, spans
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.provenance import provenance
from ol2r.experiments.publication import publish
from ol2r.experiments.store import (
    Store,
    StoreError,
    StoreWarning,
    encode,
    read_file,
)

row_sets = st.sets(st.builds(Row, st.integers(1, 12), st.integers(0, 17)), min_size=1, max_size=60)


def table(cell, rows):
    return Fake.run_group([Job(cell, rows)], Context())[0]


def record(cell, rows):
    return provenance(
        cell, rows, device="cpu", engine="numba", seconds=1.0, core_seconds=0.9, shard_rows=len(rows)
    )


def put(store, cell, rows, frame=None):
    return store.write(cell, rows, table(cell, rows) if frame is None else frame, record(cell, rows))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results", tmp_path / "scratch")


CELL = Fake()
UNDECLARED = "0" * 64
BLOCK = CELL.rows(None, range(5))


@given(row_sets)
def test_spans_cut_rows_without_loss_and_stay_inside_blocks(rows):
    cut = spans(rows)
    assert sorted(row for span in cut for row in span) == sorted(rows)
    assert all(len({row.seed // 5 for row in span}) == 1 for span in cut)


@given(row_sets)
def test_a_file_name_carries_its_rows(rows):
    for span in spans(rows):
        assert set(rows_of(file_name(span)) or ()) == set(span)


def test_whole_blocks_make_one_file_each():
    assert [file_name(span) for span in spans(CELL.rows(None, range(15)))] == [
        "folds1-5-seeds0-4.parquet",
        "folds1-5-seeds5-9.parquet",
        "folds1-5-seeds10-14.parquet",
    ]
    assert [file_name(span) for span in spans([Row(1, 3), Row(3, 3), Row(1, 5)])] == [
        "folds1.3-seeds3-3.parquet",
        "folds1-seeds5-5.parquet",
    ]


@pytest.mark.parametrize(
    "name", ["folds1-seeds0-4.parquet.damaged", ".writing-x", "notes.txt", "folds1-seeds0.parquet"]
)
def test_other_names_carry_no_rows(name):
    assert rows_of(name) is None


def test_what_is_written_is_read_with_its_types_and_provenance(store):
    frame = table(CELL, BLOCK)
    put(store, CELL, BLOCK, frame)
    stored = store.read(CELL, BLOCK)
    pd.testing.assert_frame_equal(stored.frame, frame)
    assert stored.frame["value"].dtype == np.float32
    assert stored.missing == ()
    assert stored.provenance[0]["cell"] == CELL.declaration
    assert stored.provenance[0]["rows"] == [list(row) for row in BLOCK]


def test_provenance_names_code_versions_machine_and_time(store):
    path = put(store, CELL, BLOCK)
    found = json.loads(pq.read_metadata(path).metadata[b"ol2r"])
    assert set(found) == {
        "key", "cell", "data", "rows", "device", "engine", "accelerator", "cpu", "target", "cores", "versions", "ol2r",
        "code", "commit", "dirty", "time", "shard_seconds", "shard_core_seconds", "shard_rows",
        "shard_halved", "shard_resumed",
    }  # fmt: skip
    assert str(Path.home()) not in json.dumps(found) and str(path.parents[2]) not in json.dumps(found)


def test_the_same_table_is_the_same_bytes(store, tmp_path):
    same = record(CELL, BLOCK)
    first = store.write(CELL, BLOCK, table(CELL, BLOCK), same)
    second = Store(None, tmp_path / "other").write(CELL, BLOCK, table(CELL, BLOCK), same)
    assert first != second
    assert first.read_bytes() == second.read_bytes()


def test_the_keys_are_those_of_the_cells_with_a_file(store):
    assert store.keys() == set()
    put(store, CELL, BLOCK)
    publish(store, [Job(CELL, BLOCK)])
    shutil.rmtree(store.scratch)
    assert store.keys() == {CELL.key}
    put(store, Fake(name="scratch"), BLOCK)
    assert store.keys() == {CELL.key, Fake(name="scratch").key}


def test_part_of_a_block_is_answered_from_the_whole(store):
    put(store, CELL, BLOCK)
    wanted = CELL.rows([2], range(3))
    stored = store.read(CELL, wanted)
    pd.testing.assert_frame_equal(stored.frame, table(CELL, wanted))
    assert stored.missing == ()


def test_a_whole_is_answered_from_its_parts_in_order(store):
    put(store, CELL, CELL.rows([4, 5], range(5)))
    put(store, CELL, CELL.rows([1, 2, 3], range(5)))
    pd.testing.assert_frame_equal(store.read(CELL, BLOCK).frame, table(CELL, BLOCK))
    assert store.read(CELL, CELL.rows(None, range(6))).missing == CELL.rows(None, [5])


@pytest.mark.parametrize("column", ["document", "document_id", "query", "query_id"])
def test_restricted_data_keeps_no_single_documents_or_queries(store, column):
    cell = Fake(secret=True)
    put(store, cell, BLOCK)
    with pytest.raises(StoreError, match=f"licence.*column {column}"):
        put(store, cell, BLOCK, table(cell, BLOCK).assign(**{column: 1}))
    put(store, CELL, BLOCK, table(CELL, BLOCK).assign(**{column: 1}))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda frame: frame[frame.seed > 0], r"row \(1, 0\) is not there"),
        (lambda frame: frame.assign(seed=frame.seed + 1), r"row \(1, 0\) is not there"),
        (lambda frame: pd.concat([frame, frame.assign(fold=9)]), r"row \(9, 0\) is not asked for"),
        (lambda frame: frame[["seed", "fold", "value"]], "first columns"),
        (lambda frame: frame.assign(fold=1.0), "first columns"),
    ],
)
def test_a_table_of_other_rows_is_refused(store, spoil, reason):
    with pytest.raises(StoreError, match=reason):
        put(store, CELL, BLOCK, spoil(table(CELL, BLOCK)))
    assert store.missing(CELL, BLOCK) == BLOCK


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def flip_a_bit(path, at=60 * 8):
    content = bytearray(path.read_bytes())
    content[at // 8] ^= 1 << at % 8
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def forge(path, change=lambda frame: frame, **provenance):
    """Rewrite a stored file well-formed, with other values."""
    with pq.ParquetFile(path) as file:
        frame, told = file.read().to_pandas(), json.loads(file.metadata.metadata[b"ol2r"])
    path.write_bytes(encode(change(frame), told | provenance))


def swap_rows(path):
    forge(path, lambda frame: frame.iloc[4:])


def forget_the_code(path):
    frame, told = read_file(path)
    del told["code"]
    path.write_bytes(encode(frame, told))


def another_cell(path):
    forge(path, cell=Fake(name="other").declaration)


def nonsense(path):
    forge(path, rows=7)


def another_table(path):
    forge(path, lambda frame: frame.rename(columns={"seed": "sead"}))


@pytest.mark.parametrize(
    "damage",
    [truncate, flip_a_bit, empty, swap_rows, forget_the_code, another_cell, nonsense, another_table],
)
def test_a_damaged_scratch_file_is_set_aside_with_a_warning(store, damage):
    path = put(store, CELL, BLOCK)
    damage(path)
    damaged = path.read_bytes()
    with pytest.warns(StoreWarning, match="damaged result"):
        assert store.read(CELL, BLOCK).missing == BLOCK
    assert not path.exists()
    assert path.with_name(path.name + ".damaged").read_bytes() == damaged
    put(store, CELL, BLOCK)
    assert store.missing(CELL, BLOCK) == ()


def test_no_flipped_bit_of_a_whole_file_is_read_silently(store):
    path = put(store, CELL, BLOCK)
    whole = path.read_bytes()
    for at in range(0, 8 * len(whole), 3):  # every byte is met, at each of its bits in turn
        flip_a_bit(path, at)
        with pytest.raises(ValueError):
            read_file(path)
        path.write_bytes(whole)
    read_file(path)


def test_joined_tables_are_those_that_pandas_puts_together_cell_by_cell():
    """Cells in several files, of other columns and types, out of order, and with values that are missing."""
    plain = pd.DataFrame({"fold": [1, 1, 2, 2], "seed": [0, 1, 0, 1], "n": [1, 2, 3, 4], "word": ["a", None, "b", "c"]})
    later = plain.assign(seed=plain["seed"] + 5, n=plain["n"] * 10)
    other = plain.assign(score=np.float32(0.1) * plain["n"].astype(np.float32), sure=True).drop(columns="n")
    small = plain.astype({"fold": np.int32, "seed": np.int32, "n": np.float64}).iloc[[3, 1, 0, 0]]
    cells = [[plain, later], [other], [later, plain], [small]]
    expected = pd.concat([in_order(pd.concat(frames)) for frames in cells], ignore_index=True)
    tables = [[pa.Table.from_pandas(frame, preserve_index=False) for frame in frames] for frames in cells]
    tables = [[table.replace_schema_metadata() for table in each] for each in tables]
    pd.testing.assert_frame_equal(joined(tables), expected, check_exact=True)
    for frames, own in zip(cells, tables, strict=True):
        pd.testing.assert_frame_equal(joined([own]), in_order(pd.concat(frames)), check_exact=True)


def test_a_file_without_a_digest_is_damaged(store):
    path = put(store, CELL, BLOCK)
    pq.write_table(pq.read_table(path).replace_schema_metadata({"ol2r": json.dumps(record(CELL, BLOCK))}), path)
    with pytest.raises(ValueError, match="it has no digest"):
        read_file(path)


def test_a_table_that_holds_the_mark_of_a_digest_is_refused(store):
    with pytest.raises(ValueError, match="holds what marks a digest"):
        encode(table(CELL, BLOCK), {"key": "ol2r-sha256:" + "0" * 64})


def test_a_file_under_another_key_is_damaged(store):
    path = put(store, CELL, BLOCK)
    other = Fake(name="other")
    (store.scratch / other.key).mkdir()
    path.rename(store.scratch / other.key / path.name)
    with pytest.warns(StoreWarning, match="another cell"):
        assert store.missing(other, BLOCK) == BLOCK


def test_the_loser_of_a_race_drops_its_identical_file(store):
    path = put(store, CELL, BLOCK)
    first = path.read_bytes()
    put(store, CELL, BLOCK)
    assert path.read_bytes() == first
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_two_runs_that_disagree_keep_the_first_and_warn(store):
    path = put(store, CELL, BLOCK)
    first = path.read_bytes()
    with pytest.warns(StoreWarning, match="other values; the first is kept"):
        put(store, CELL, BLOCK, table(CELL, BLOCK).assign(status="odd"))
    assert path.read_bytes() == first


def test_a_race_lost_to_a_damaged_file_is_won(store):
    path = put(store, CELL, BLOCK)
    truncate(path)
    with pytest.warns(StoreWarning, match="damaged"):
        put(store, CELL, BLOCK)
    assert store.missing(CELL, BLOCK) == ()


def test_a_damaged_file_that_another_process_has_set_aside_is_missing_without_a_word(store, monkeypatch):
    path = put(store, CELL, BLOCK)
    truncate(path)
    check = store_module._check_digest

    def meanwhile(content):
        path.unlink(missing_ok=True)
        check(content)

    monkeypatch.setattr(store_module, "_check_digest", meanwhile)
    with warnings.catch_warnings(action="error"):
        assert store.read(CELL, BLOCK).missing == BLOCK
    assert list(path.parent.iterdir()) == []


def test_a_whole_file_that_took_the_place_of_a_damaged_one_is_put_back(store, monkeypatch):
    path = put(store, CELL, BLOCK)
    whole = path.read_bytes()
    truncate(path)
    check, seen = store_module._check_digest, []

    def meanwhile(content):
        seen.append(content)
        if len(seen) == 1:
            path.write_bytes(whole)
        check(content)

    monkeypatch.setattr(store_module, "_check_digest", meanwhile)
    with warnings.catch_warnings(action="error"):
        store.read(CELL, BLOCK)
    assert [p.name for p in path.parent.iterdir()] == [path.name] and path.read_bytes() == whole


def test_an_earlier_damaged_file_is_kept(store):
    for _ in range(2):
        path = put(store, CELL, BLOCK)
        truncate(path)
        with pytest.warns(StoreWarning, match="set aside"):
            store.missing(CELL, BLOCK)
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name + ".damaged", path.name + ".damaged-2"]


def test_a_writer_that_finds_the_first_file_gone_again_writes(store, monkeypatch):
    path = put(store, CELL, BLOCK)
    read, calls = store_module.read_file, []

    def gone(found):
        calls.append(found)
        if len(calls) == 1:
            found.unlink()
        return read(found)

    monkeypatch.setattr(store_module, "read_file", gone)
    put(store, CELL, BLOCK)
    assert path.exists() and len(calls) == 1


def test_writers_at_the_same_moment_leave_one_whole_file(store):
    start = threading.Barrier(8)
    frame, made = table(CELL, BLOCK), record(CELL, BLOCK)

    def write():
        start.wait()
        store.write(CELL, BLOCK, frame, made)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list((store.scratch / CELL.key).iterdir())) == 1
    assert store.missing(CELL, BLOCK) == ()


def test_a_folder_that_cannot_be_synchronised_or_a_file_that_cannot_be_deleted_is_told_in_one_line(store, monkeypatch):
    def broken(*arguments, **options):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(saved, "sync_folder", broken)
    monkeypatch.setattr(Path, "unlink", broken)
    with pytest.raises(StoreError, match=r"cannot store .*: Input/output error; all that was stored before is intact"):
        put(store, CELL, BLOCK)


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK])
def test_without_hard_links_nothing_is_replaced_either(store, monkeypatch, code):
    def no_links(self, target):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    path = put(store, CELL, BLOCK)
    first = path.read_bytes()
    put(store, CELL, BLOCK)
    assert path.read_bytes() == first
    assert len(list(path.parent.iterdir())) == 1


def test_where_folders_cannot_be_opened_results_are_stored_all_the_same(store, monkeypatch):
    """As on Windows."""

    def only_files(path, *flags, opened=os.open, **more):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *flags, **more)

    monkeypatch.setattr(store_module.os, "open", only_files)
    monkeypatch.delattr(store_module.os, "O_DIRECTORY")
    put(store, CELL, BLOCK)
    assert store.missing(CELL, BLOCK) == ()


def test_a_full_disk_is_a_clear_error_and_loses_nothing(store, monkeypatch):
    later = CELL.rows(None, range(5, 10))
    put(store, CELL, BLOCK)

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store_module.os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; all that was stored before is intact"):
        put(store, CELL, later)
    assert store.missing(CELL, BLOCK + later) == later
    assert [p.name for p in (store.scratch / CELL.key).iterdir()] == [file_name(BLOCK)]


def test_a_file_cut_by_the_system_never_takes_its_place(store, tmp_path):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
        with pytest.raises(StoreError, match="File too large"):
            put(store, CELL, BLOCK)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert list((store.scratch / CELL.key).iterdir()) == []


def test_prunable_are_undeclared_damaged_and_left_over_files(store):
    kept = put(store, CELL, BLOCK)
    undeclared = put(store, Fake(name="gone"), BLOCK)
    damaged = [kept.with_name(f"folds1-seeds0-0.parquet.damaged{number}") for number in ("", "-2")]
    left_over = kept.with_name(".writing-abc")
    for path in [*damaged, left_over]:
        path.write_bytes(b"")
    os.utime(left_over, (0, 0))
    assert set(store.prunable({CELL.key})) == {undeclared, *damaged, left_over}


def test_what_the_store_never_wrote_and_what_is_being_written_are_not_prunable(store):
    kept = put(store, CELL, BLOCK)
    (store.scratch / "thesis").mkdir()
    (store.scratch / UNDECLARED / "plots").mkdir(parents=True)
    strangers = [
        store.scratch / "notes.txt",
        store.scratch / "thesis" / kept.name,  # no key's name
        store.scratch / UNDECLARED / "thesis.tex",
        store.scratch / UNDECLARED / "plots" / kept.name,
        kept.with_name("thesis.tex.damaged"),
        kept.with_name(".writing-now"),
    ]
    for path in strangers:
        path.write_text("years of work")
    assert store.prunable({CELL.key}) == []


def test_a_file_that_is_renamed_while_files_are_listed_is_not_prunable(store, monkeypatch):
    written = put(store, CELL, BLOCK).with_name(".writing-now")
    written.touch()
    really = Path.is_file

    def is_file(path):
        found = really(path)
        if path == written:
            path.unlink()
        return found

    monkeypatch.setattr(Path, "is_file", is_file)
    assert store.prunable({CELL.key}) == []


def test_an_intact_file_that_is_about_to_be_put_back_is_not_prunable(store):
    kept = put(store, CELL, BLOCK)
    aside = kept.rename(kept.with_name(kept.name + ".damaged"))
    assert store.prunable({CELL.key}) == []
    aside.write_bytes(aside.read_bytes()[:-1])
    assert store.prunable({CELL.key}) == [aside]


def test_a_folder_that_is_pruned_before_a_file_is_written_there_is_made_again(store, monkeypatch):
    really, gone = tempfile.mkstemp, []

    def mkstemp(**options):
        if not gone:
            gone.append(Path(options["dir"]).rmdir())
        return really(**options)

    monkeypatch.setattr(tempfile, "mkstemp", mkstemp)
    put(store, CELL, BLOCK)
    assert gone and store.missing(CELL, BLOCK) == ()


def test_a_folder_that_is_always_pruned_is_an_error_of_one_line(store, monkeypatch):
    def mkstemp(**options):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(options["dir"]))

    monkeypatch.setattr(tempfile, "mkstemp", mkstemp)
    with pytest.raises(StoreError, match=r"cannot store .*: No such file or directory; all"):
        put(store, CELL, BLOCK)


def test_a_folder_that_takes_no_file_is_named_before_anything_is_computed(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"nothing can be stored in .*file: "):
        Store(None, tmp_path / "file").check_writable()
    store = Store(None, tmp_path / "scratch")
    store.check_writable()
    assert list(store.scratch.iterdir()) == []

    def read_only(**options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(store_module.tempfile, "TemporaryFile", read_only)
    with pytest.raises(StoreError, match=r"nothing can be stored in .*: Read-only file system"):
        store.check_writable()


def test_the_store_is_found_from_any_directory(tmp_path):
    code = "from ol2r.experiments.store import Store; s = Store.open(); print(s.published); print(s.scratch)"
    env = {key: value for key, value in os.environ.items() if not key.startswith("OL2R_")}

    def found(**variables):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=env | variables, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert found(OL2R_RESULTS="/a", OL2R_STORE="/b") == ["/a", "/b"]
    (tmp_path / "sub").mkdir()
    published, scratch = map(Path, found())
    assert published.name == "results" and scratch.name == ".ol2r" and published.parent == scratch.parent
