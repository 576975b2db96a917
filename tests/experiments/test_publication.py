import errno
import hashlib
import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import Fake, Timing, job
from hypothesis import given, settings
from hypothesis import strategies as st

from ol2r import saved
from ol2r.errors import ExperimentError
from ol2r.experiments import publication as module
from ol2r.experiments.blocks import StoreError, StoreWarning
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.provenance import Origin, provenance
from ol2r.experiments.publication import JOURNAL, RECORDS, SUMS, Publication, digest_of, is_checked, publish
from ol2r.experiments.store import Store, encode, read_file
from ol2r.experiments.verify import inspect

CELL, OTHER = Fake(), Fake(name="b")
JOBS = [job(CELL), job(OTHER)]
BLOCK = CELL.rows(None, range(5))
LATER = CELL.rows(None, range(5, 10))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results", tmp_path / "scratch")


def table(cell, rows):
    return Fake.run_group([Job(cell, rows)], Context())[0]


def put(store, cell, rows, frame=None, **told):
    made = {"device": "cpu", "engine": "numba", "seconds": 1.0, "core_seconds": 0.9, "shard_rows": len(rows)}
    frame = table(cell, rows) if frame is None else frame
    return store.write(cell, rows, frame, provenance(cell, rows, **made) | told)


def published(store, *cells):
    """Publish a block of each cell, and leave nothing in scratch."""
    for cell in cells:
        put(store, cell, BLOCK)
    report = publish(store, [job(cell) for cell in cells], drop=True)
    shutil.rmtree(store.scratch)
    return report


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << at % 8
    path.write_bytes(content)


def wrong(store):
    return [(name, damage) for name, damage in inspect(JOBS, store) if damage]


columns = st.dictionaries(
    st.sampled_from(["value", "word", "count", "sure", "small", "dataset"]), st.integers(0, 3), max_size=5
)


def frame_of(draws, rows, rng):
    """A table with several lines a row, in no order, with columns of all types and with values that are missing."""
    frame = pd.DataFrame([row for row in rows for _ in range(int(rng.integers(1, 4)))], columns=["fold", "seed"])
    frame = frame.sample(frac=1, random_state=int(rng.integers(1000))).reset_index(drop=True)
    n = len(frame)
    values = {
        "value": rng.choice([0.1, -0.0, np.nan, np.inf, 5e-324], n),
        "word": pd.Series(rng.choice(["", "a", "née", None], n), dtype="str"),
        "count": rng.integers(-(2**62), 2**62, n),
        "sure": rng.integers(0, 2, n).astype(bool),
        "small": rng.normal(size=n).astype(np.float32),
        "dataset": rng.integers(0, 3, n),
    }
    return frame.assign(**{name: values[name] for name in draws})


@settings(max_examples=25, deadline=None)
@given(st.lists(columns, min_size=1, max_size=4), st.integers(0, 10**6))
def test_what_is_published_is_read_back_to_the_bit(tmp_path_factory, draws, seed):
    """Cells of other columns beside it in the same file, a label that is called as a column, several blocks."""
    folder, rng = tmp_path_factory.mktemp("store"), np.random.default_rng(seed)
    store = Store(folder / "results", folder / "scratch")
    cells = [Fake(name=str(number)) for number in range(len(draws))]
    written = [
        read_file(put(store, cell, rows, frame_of(own, rows, rng)))
        for cell, own in zip(cells, draws, strict=True)
        for rows in (BLOCK, LATER)
    ]
    publish(store, map(job, cells))
    blocks = [block for cell in cells for block in store.publication.blocks(cell.key)]
    for block, (frame, record) in zip(blocks, written, strict=True):
        found, told = block.read()
        pd.testing.assert_frame_equal(found, frame, check_exact=True)
        assert told == record
        assert found.to_numpy(dtype=object).tolist().__repr__() == frame.to_numpy(dtype=object).tolist().__repr__()
    assert all(damage.endswith("holds what is not a finite number") for _, damage in wrong(store))


def test_a_table_is_found_by_its_name_and_opened_with_pandas_alone(store):
    published(store, CELL, OTHER, Timing())
    frame = pd.read_parquet(store.published / "fake.parquet", filters=[("name", "==", "b"), ("seed", "==", 3)])
    assert list(frame.columns[:5]) == ["cell", "shown_in", "dataset", "name", "fold"]
    expected = table(OTHER, OTHER.rows(None, [3]))
    pd.testing.assert_frame_equal(frame[list(expected)], expected, check_exact=True)
    assert set(frame["cell"]) == {OTHER.key} and set(frame["dataset"]) == {"synthetic"}
    told = pd.read_parquet(store.published / RECORDS)
    assert sorted(set(told["file"])) == ["fake.parquet", "timing.parquet"]


def test_one_cell_is_read_without_the_others(store):
    cells = [Fake(name=str(number)) for number in range(4)]
    for cell in cells:
        put(store, cell, BLOCK, pd.concat([table(cell, BLOCK)] * 1000))
    publish(store, map(job, cells))
    with module.pq.ParquetFile(store.published / "fake.parquet") as file:
        keys = file.schema_arrow.names.index("cell")
        groups = [file.metadata.row_group(group).column(keys).statistics for group in range(file.num_row_groups)]
    holding = [group.min <= cells[0].key <= group.max for group in groups]
    assert 1 <= sum(holding) < len(holding)


def test_published_rows_come_first_and_part_of_a_block_is_read(store):
    published(store, CELL)
    few = CELL.rows(None, range(3))
    put(store, CELL, few, table(CELL, few).assign(status="scratch"))
    pd.testing.assert_frame_equal(store.read(CELL, few).frame, table(CELL, few))
    assert store.listed(CELL) == set(BLOCK)


def test_a_published_row_stays_as_it_is_and_only_rows_that_lack_are_added(store):
    few = CELL.rows(None, range(3))
    put(store, CELL, few)
    publish(store, JOBS)
    shutil.rmtree(store.scratch)
    put(store, CELL, BLOCK, table(CELL, BLOCK).assign(value=np.float32(7)))
    with pytest.warns(StoreWarning, match=r"has other values than fake.parquet, which keeps its own"):
        assert publish(store, JOBS).added == 1
    stored = store.read(CELL, BLOCK)
    assert {len(record["rows"]) for record in stored.provenance} == {len(few), len(BLOCK) - len(few)}
    lines = stored.frame.drop_duplicates(["fold", "seed"])
    assert (lines["value"] == 7).tolist() == [row.seed > 2 for row in BLOCK]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        put(store, OTHER, BLOCK)
        shutil.rmtree(store.scratch / CELL.key)
        assert publish(store, JOBS).added == 1


def test_equal_results_are_equal_bytes_however_they_were_published(tmp_path):
    stores = [Store(tmp_path / name, tmp_path / "scratch") for name in ("once", "twice")]
    paths = [put(stores[0], cell, BLOCK) for cell in (CELL, OTHER, Timing())]
    publish(stores[0], [*JOBS, job(Timing())])
    kept = {path: path.read_bytes() for path in paths}
    for path in paths[::-1]:
        shutil.rmtree(stores[1].scratch)
        path.parent.mkdir(parents=True)
        path.write_bytes(kept[path])
        publish(stores[1], [*JOBS, job(Timing())])
    assert contents(stores[0].published) == contents(stores[1].published)


def test_only_files_that_change_are_written_and_what_nobody_declares_goes(store):
    published(store, CELL, OTHER, Timing())
    before = {path: path.stat().st_ino for path in store.published.rglob("*.parquet")}
    report = published(store, CELL, OTHER)
    after = {path: path.stat().st_ino for path in store.published.rglob("*.parquet")}
    assert len(report.dropped) == 1 and report.files == ("timing.parquet",)
    fake = store.published / "fake.parquet"
    assert after.keys() == before.keys() - {store.published / "timing.parquet"} and after[fake] == before[fake]
    assert publish(store, JOBS) == (0, (), (), ())


def test_what_was_run_for_tuning_alone_shares_a_file(store):
    put(store, CELL, BLOCK)
    put(store, OTHER, BLOCK)
    publish(store, JOBS, tuning={OTHER.key})
    (one,), (other,) = (store.publication.blocks(cell.key) for cell in (CELL, OTHER))
    assert (one.line.file, other.line.file) == ("fake.parquet", "tuning/synthetic.parquet")
    publish(store, JOBS)
    assert not (store.published / "tuning").exists() and store.missing(OTHER, BLOCK) == ()


def test_data_that_is_not_at_hand_keeps_its_results(store, monkeypatch):
    published(store, CELL)
    monkeypatch.setattr(module, "awaits", lambda declaration: True)
    assert publish(store, []).dropped == ()
    assert store.read(CELL, BLOCK).missing == ()


def test_code_that_nobody_can_look_up_publishes_nothing(store, monkeypatch):
    told = provenance(CELL, BLOCK, device="cpu", engine="numba", seconds=1, core_seconds=1, shard_rows=1)
    assert is_checked(CELL, told)
    old = told | {"code": "other"}
    assert is_checked(CELL, old | {"commit": "c0de", "dirty": False})
    assert not is_checked(CELL, old | {"commit": "c0de", "dirty": True})
    assert not is_checked(CELL, old | {"commit": None, "dirty": None})
    mine = told | {"commit": "c0de", "dirty": True}
    assert is_checked(CELL, mine)
    for unclean in (Origin("c0de", True), Origin(None, None, "git is not installed", "install it")):
        monkeypatch.setattr(module, "origin", lambda unclean=unclean: unclean)
        assert not is_checked(CELL, mine)
    put(store, CELL, BLOCK, code="other", commit="c0de", dirty=True)
    report = publish(store, JOBS)
    assert report.added == 0 and len(report.refused) == 1 and store.publication.keys() == set()


def test_restricted_documents_are_never_published(store, monkeypatch):
    cell = Fake(secret=True)
    put(store, cell, BLOCK)
    monkeypatch.setattr("ol2r.experiments.blocks.PER_DOCUMENT", frozenset({"value"}))
    with pytest.raises(StoreError, match="licence"):
        publish(store, [job(cell)])
    assert contents(store.published) == {}


def test_blocks_of_other_types_do_not_share_a_column(store):
    first, second = sorted((CELL, OTHER), key=lambda cell: cell.key)
    put(store, first, BLOCK)
    put(store, second, BLOCK, table(second, BLOCK).assign(value="word"))
    report = publish(store, JOBS)
    assert report.refused == (
        f"{second.key[:12]}/folds1-5-seeds0-4.parquet (its columns do not fit into fake.parquet)",
    )
    assert report.added == 1 and store.publication.keys() == {first.key}


def test_text_of_an_older_pandas_is_published_as_that_of_a_newer_one(store, monkeypatch):
    path, expected = put(store, CELL, BLOCK), table(CELL, BLOCK)
    put(store, OTHER, BLOCK)
    _, record = read_file(path)
    with monkeypatch.context() as patch:
        made = pa.Table.from_pandas(expected, preserve_index=False).replace_schema_metadata()
        place = made.schema.get_field_index("status")
        older = made.set_column(place, "status", made["status"].cast(pa.string()))
        older_pyarrow = SimpleNamespace(Table=SimpleNamespace(from_pandas=lambda *_, **__: older))
        patch.setattr("ol2r.experiments.store.pa", older_pyarrow)
        path.write_bytes(encode(expected, record))
    assert pq.read_schema(path).field("status").type == pa.string()
    publish(store, JOBS)
    (block,) = store.publication.blocks(CELL.key)
    assert block.line.digest == digest_of(made)
    pd.testing.assert_frame_equal(block.read()[0], expected, check_exact=True)


@dataclass(frozen=True)
class Clash(Fake):
    label: str = "x_set"

    def labels(self):
        return super().labels() | {"value": 1, self.label: 2}


@pytest.mark.parametrize("label", ["value_set", "cell"])
def test_a_label_whose_column_is_taken_is_told(store, label):
    put(store, Clash(label=label), BLOCK)
    with pytest.raises(StoreError, match=f"do not fit into fake.parquet: two of their columns are {label}"):
        publish(store, [job(Clash(label=label))])
    assert contents(store.published) == {}


def test_without_a_folder_nothing_is_published(tmp_path):
    with pytest.raises(ExperimentError, match="no results/ folder"):
        publish(Store(None, tmp_path), JOBS)


@pytest.mark.parametrize("name", ["fake.parquet", RECORDS, SUMS])
def test_no_flipped_bit_is_served_and_what_is_damaged_is_named(store, name):
    published(store, CELL, OTHER)
    path, expected = store.published / name, table(CELL, BLOCK)
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 150)):
        flip(path, at)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            frame = store.read(CELL, BLOCK).frame
        if frame is None:
            assert any(str(store.published) in str(each.message) and name in str(each.message) for each in told)
        else:  # of SHA256SUMS a letter of another file's line, or the end of a line
            assert name == SUMS
            pd.testing.assert_frame_equal(frame, expected, check_exact=True)
        assert wrong(store), at
        path.write_bytes(whole)
    assert wrong(store) == [] and store.read(CELL, BLOCK).missing == ()


def test_of_a_damaged_file_the_cells_with_other_values_are_told(store):
    published(store, CELL, OTHER)
    path = store.published / "fake.parquet"
    frame = pd.read_parquet(path)
    frame.loc[frame["cell"] == OTHER.key, "value"] += 1
    frame.to_parquet(path, index=False)
    assert [(name.split()[1] if " " in name else name, damage) for name, damage in wrong(store)] == [
        ("fake.parquet", f"its digest is not that in {SUMS}"),
        (OTHER.key[:12], "its values are not those that were published"),
    ]


def test_what_does_not_belong_there_is_told(store):
    published(store, CELL)
    (store.published / "notes.txt").write_text("mine")
    assert wrong(store) == [("notes.txt", f"it is not in {SUMS}")]


def test_a_damaged_file_stays_until_its_rows_are_computed_again_and_published(store):
    published(store, CELL, OTHER)
    path = store.published / "fake.parquet"
    flip(path, 100)
    damaged = path.read_bytes()
    with pytest.warns(StoreWarning, match=r"damaged result .*fake.parquet.*left in place; .*scratch store"):
        assert store.missing(CELL, BLOCK) == BLOCK
    put(store, CELL, BLOCK)
    with pytest.raises(StoreError, match=r"fake.parquet .* is damaged; restore it, or run `ol2r run`"):
        publish(store, JOBS)
    assert path.read_bytes() == damaged
    put(store, OTHER, BLOCK)
    publish(store, JOBS)
    assert wrong(store) == [] and store.missing(CELL, BLOCK) == ()


def test_nothing_is_published_beside_records_that_are_damaged(store):
    published(store, CELL)
    flip(store.published / RECORDS, 50)
    before = contents(store.published)
    put(store, OTHER, BLOCK)
    with pytest.raises(StoreError, match=f"nothing is published: {RECORDS}.*restore"):
        publish(store, JOBS)
    assert contents(store.published) == before


class Killed(BaseException):
    pass


def broken(monkeypatch, at, error):
    """Let the operation number `at` on the folder raise; returns the list of operations that were begun."""
    begun = []

    def breaking(really):
        def operation(*arguments, **more):
            begun.append(really)
            if len(begun) == at:
                raise error
            return really(*arguments, **more)

        return operation

    for name in ("replace", "unlink", "mkdir"):
        monkeypatch.setattr(Path, name, breaking(getattr(Path, name)))
    for name in ("fsync", "open"):
        monkeypatch.setattr(os, name, breaking(getattr(os, name)))
    return begun


@pytest.mark.parametrize("error", [Killed(), OSError(errno.ENOSPC, "No space left on device")])
def test_whatever_ends_a_publication_all_of_it_is_seen_or_nothing(tmp_path, monkeypatch, error):
    """Readers in between see one of the two whole, and the next publisher finishes what was begun."""
    source = Store(tmp_path / "results", tmp_path / "scratch")
    published(source, CELL, Timing())
    before = contents(source.published)
    put(source, CELL, LATER)
    put(source, OTHER, BLOCK)
    jobs = [job(CELL, 10), job(OTHER)]
    outcomes = set()
    for at in range(1, 1000):
        folder = tmp_path / f"results-{at}"
        shutil.copytree(source.published, folder)
        store = Store(folder, source.scratch)
        with monkeypatch.context() as patch:
            begun = broken(patch, at, error)
            try:
                publish(store, jobs, drop=True)  # of the timing
            except (Killed, StoreError) as ended:
                assert isinstance(ended, Killed) or "No space left on device" in str(ended)
        reader = Store(folder, tmp_path / "none")
        keys = frozenset(reader.publication.keys())
        assert keys in ({CELL.key, Timing().key}, {CELL.key, OTHER.key}), at
        for cell, rows in ((CELL, BLOCK), *([(OTHER, BLOCK), (CELL, LATER)] if OTHER.key in keys else [])):
            pd.testing.assert_frame_equal(reader.read(cell, rows).frame, table(cell, rows), check_exact=True)
        if len(begun) < at:
            break
        if Timing().key in keys and isinstance(error, OSError):
            assert {name for name in contents(folder) if saved.TEMPORARY not in name} == before.keys()
        outcomes.add(keys)
        publish(store, jobs, drop=True)
        assert wrong(store) == [] and store.publication.keys() == {CELL.key, OTHER.key}
        assert not [name for name in contents(folder) if saved.TEMPORARY in name or name == JOURNAL]
    assert len(outcomes) == 2 and at > 10


def test_a_reader_that_began_before_reads_on_after_another_process_has_published(store):
    published(store, CELL)
    (block,) = store.publication.blocks(CELL.key)
    reading = Store(store.published, store.scratch / "none")
    put(store, OTHER, BLOCK)
    publish(store, JOBS)
    pd.testing.assert_frame_equal(block.read()[0], table(CELL, BLOCK), check_exact=True)
    assert reading.missing(OTHER, BLOCK) == ()
    publish(store, [], drop=True)
    with pytest.raises(FileNotFoundError):
        block.read()


def test_a_second_publisher_is_refused_in_one_line(store):
    published(store, CELL)
    code = "import fcntl, os, sys; at = os.open(sys.argv[1], 0); fcntl.flock(at, 2); print(1, flush=True); input()"
    command = [sys.executable, "-c", code, str(store.published)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holding:
        holding.stdout.readline()
        with pytest.raises(StoreError, match="another process is publishing in"):
            publish(store, JOBS)
        holding.kill()
    assert publish(store, [job(CELL)]).added == 0  # a dead one holds nothing


def test_a_journal_whose_files_are_lost_is_not_finished(store):
    published(store, CELL)
    before = contents(store.published)
    journal = store.published / JOURNAL
    journal.write_text(f"{'0' * 64}  fake.parquet\n{'0' * 64}  {RECORDS}\n")
    with pytest.raises(StoreError, match=f"cannot finish what .* began: fake.parquet: .*; restore .* delete {JOURNAL}"):
        publish(store, JOBS)
    assert contents(store.published) == before | {JOURNAL: journal.read_bytes()}
    assert store.missing(CELL, BLOCK) == ()  # as after `git restore results`, which leaves the journal
    assert wrong(store) == [(JOURNAL, "a publication was not finished: run `ol2r publish`")]
    (store.published / f"{saved.TEMPORARY}x").touch()
    assert (f"{saved.TEMPORARY}x", "a publication left it behind: run `ol2r publish`") in wrong(store)


@pytest.mark.parametrize("whole", [True, False])
def test_a_damaged_journal_deletes_nothing(store, whole):
    """Whatever bit of it is flipped, or where it is cut short, and whether its files have their names or not."""
    published(store, CELL, Timing())
    (store.published / JOURNAL).write_bytes((store.published / SUMS).read_bytes())
    if not whole:
        (store.published / SUMS).write_bytes(b"")
    before = contents(store.published)
    content = before[JOURNAL]
    ends = [at + 1 for at, letter in enumerate(content) if letter == 10]
    cut = [content[:at] for at in (0, 1, *ends[:-1], len(content) - 1)]
    flipped = []
    for at in range(0, len(content), 3):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        flipped.append(bytes(changed))
    for damaged in (*cut, *flipped):
        (store.published / JOURNAL).write_bytes(damaged)
        with pytest.raises(StoreError, match=r"is damaged: delete it and restore|restore the folder and delete"):
            publish(store, JOBS)
        assert contents(store.published) == before | {JOURNAL: damaged}
        if whole:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StoreWarning)
                frame = store.read(CELL, BLOCK).frame
            assert frame is None or frame.equals(table(CELL, BLOCK))
    (store.published / JOURNAL).write_bytes(content)
    assert publish(store, [job(CELL), job(Timing())]).files == ()
    assert wrong(store) == []


def test_a_file_whose_name_gets_capitals_is_not_deleted(store, monkeypatch):
    """On a disk where capitals do not count both names are one file; a link stands for that here."""
    published(store, CELL)
    lower, upper = (store.published / name for name in ("fake.parquet", "Fake.parquet"))
    stage = module._staged

    def staged(path, digest):
        if path == upper and not upper.exists():
            upper.hardlink_to(lower)
        return stage(path, digest)

    (line,) = store.publication.lines()
    monkeypatch.setattr(module, "file_of", lambda cell, tuning=False: "Fake.parquet")
    monkeypatch.setattr(module, "_staged", staged)
    gone = []
    monkeypatch.setattr(Path, "samefile", lambda self, other: {self, Path(other)} == {lower, upper})
    really = Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda self, **how: (gone.append(self), really(self, **how)))
    publish(store, [job(CELL)])
    assert line.file == "fake.parquet" and lower not in gone
    assert store.missing(CELL, BLOCK) == ()


def test_two_names_that_differ_in_capitals_alone_are_refused(store):
    cells = [Fake(data=data) for data in ("Data", "data")]
    for cell in cells:
        put(store, cell, BLOCK)
    with pytest.raises(StoreError, match=r"tuning/Data.parquet and tuning/data.parquet are one file on some disks"):
        publish(store, map(job, cells), {cell.key for cell in cells})
    assert contents(store.published) == {}


@pytest.mark.parametrize(("data", "name"), [("..", "-"), (".", "-"), ("a/b", "a-b"), ("...x", "x"), ("~", "-")])
def test_a_file_has_a_name_of_plain_letters(data, name):
    assert module.file_of(Fake(data=data), tuning=True) == f"tuning/{name}.parquet"


@pytest.mark.parametrize("name", ["fake.parquet", RECORDS])
def test_an_error_of_the_disk_is_told_and_not_remembered(store, monkeypatch, name):
    published(store, CELL)
    really = Path.read_bytes

    def failing(path):
        if path.name == name:
            raise OSError(errno.EIO, "Input/output error")
        return really(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", failing)
        with pytest.warns(StoreWarning, match="Input/output error"):
            assert store.missing(CELL, BLOCK) == BLOCK
    assert store.missing(CELL, BLOCK) == ()


def test_what_would_be_done_is_told_and_nothing_is_dropped_without_leave(store):
    published(store, CELL, Timing())
    put(store, OTHER, BLOCK)
    before = contents(store.published)
    told = publish(store, JOBS, dry_run=True)
    assert contents(store.published) == before
    with pytest.raises(StoreError, match=r"1 blocks of timing.parquet would be dropped.*say --drop"):
        publish(store, JOBS)
    assert contents(store.published) == before
    assert told == publish(store, JOBS, drop=True)
    assert told.added == 1 and told.files == ("fake.parquet", "timing.parquet")
    assert told.dropped[0].startswith(f"timing.parquet {Timing().key[:12]}")


def test_a_dry_run_makes_no_folder(store):
    put(store, CELL, BLOCK)
    assert publish(store, JOBS, dry_run=True).added == 1
    assert not store.published.exists()


def test_tables_and_records_name_the_items_that_show_a_cell(store):
    put(store, CELL, BLOCK)
    put(store, OTHER, BLOCK)
    publish(store, JOBS, shown_in={CELL.key: "paper/fig-1 paper/fig-2"})
    for name in ("fake.parquet", RECORDS):
        frame = pd.read_parquet(store.published / name)
        assert dict(zip(frame["cell"], frame["shown_in"], strict=True)) == {
            CELL.key: "paper/fig-1 paper/fig-2",
            OTHER.key: "",
        }
    records = store.published / RECORDS
    at = records.stat().st_ino
    assert publish(store, JOBS, shown_in={CELL.key: "paper/fig-1 paper/fig-2"}).files == ()
    assert records.stat().st_ino == at
    publish(store, JOBS, shown_in={CELL.key: "paper/fig-1"})
    assert set(pd.read_parquet(store.published / "fake.parquet")["shown_in"]) == {"paper/fig-1", ""}


def test_sums_name_nothing_outside_the_folder(store):
    published(store, CELL)
    with (store.published / SUMS).open("a") as file:
        file.write(f"{'0' * 64}  ../mine.txt\n{'0' * 64}  /mine.txt\n")
    assert wrong(store) == [(SUMS, "its lines are not as they were written")]


def test_sums_are_those_of_all_files(store):
    published(store, CELL, Timing())
    lines = (store.published / SUMS).read_text().splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = contents(store.published)
    assert told == {name: hashlib.sha256(files[name]).hexdigest() for name in files if name != SUMS}


def test_a_digest_is_of_columns_types_missing_values_and_bits():
    frame = pd.DataFrame({"fold": [1, 1], "seed": [0, 1], "value": [0.0, 1.0], "word": ["ab", "c"]})
    changed = [
        frame.assign(value=[-0.0, 1.0]),
        frame.assign(value=[np.nan, 1.0]),
        frame.assign(word=["a", "bc"]),
        frame.assign(word=["ab", None]),
        frame.astype({"fold": np.int32}),
        frame.rename(columns={"value": "other"}),
        frame[["seed", "fold", "value", "word"]],
        frame.iloc[::-1],
        frame.iloc[:1],
    ]
    digests = [digest_of(pa.Table.from_pandas(each, preserve_index=False)) for each in (frame, *changed)]
    assert len(set(digests)) == len(digests)
    whole = pa.Table.from_pandas(pd.concat([frame, frame]), preserve_index=False)
    parts = pa.concat_tables([whole.slice(2, 1), whole.slice(3, 1)])
    assert digest_of(parts) == digests[0]


def test_the_records_are_those_of_the_blocks(store):
    published(store, CELL, OTHER)
    assert [record["key"] for record in Publication(store.published).records()] == sorted((CELL.key, OTHER.key))
    assert [Row(*row) for record in Publication(store.published).records() for row in record["rows"]] == [*BLOCK] * 2
