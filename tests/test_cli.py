import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from declared import declare
from fakes import Fake, ran

from ol2r import cli
from ol2r.experiments import provenance
from ol2r.experiments.blocks import StoreWarning
from ol2r.experiments.cells import Item, Job, Kept
from ol2r.experiments.paper import Paper
from ol2r.experiments.provenance import Origin
from ol2r.experiments.publication import RECORDS, SUMS
from ol2r.experiments.store import Store, encode, read_file
from ol2r.papers import paper
from ol2r.papers.queue import Queued

UNDECLARED = "0" * 64
SEEDS = {"smoke": range(1), "laptop": range(2), "paper": range(5)}


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    items = {
        "fig-1": Item("one", lambda tier: [Fake(name="x", needed=Fake(name="root"))], SEEDS),
        "table-2": Item("two", lambda tier: [Fake(name="y"), Fake(name="z", data="TD2003")], SEEDS),
    }
    declare(monkeypatch, Paper("nsgd", items, package="ol2r.papers.nsgd"))
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    monkeypatch.setenv("OL2R_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.setattr("ol2r.experiments.publication.origin", lambda: Origin("c0de", False))
    return tmp_path


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def publish(*options: str) -> None:
    """Run, and publish what was computed."""
    assert cli.main(["run", "nsgd", *options]) == cli.main(["publish"]) == 0


def forge(path: Path, **columns) -> None:
    """Change columns of a scratch file, and let it have a right digest."""
    frame, record = read_file(path)
    path.write_bytes(encode(frame.assign(**columns), record))


def test_papers_are_listed_one_a_line(monkeypatch, capsys):
    declare(monkeypatch, Paper("nsgd", {}), Paper("pairrank", {}))
    assert cli.main(["papers"]) == 0
    assert capsys.readouterr().out == "nsgd\npairrank\n"


def test_run_computes_into_the_scratch_store_what_is_missing(surroundings, capsys):
    assert cli.main(["run", "nsgd"]) == 0
    out = capsys.readouterr().out
    assert "TD2003 is not at hand: its cells are left out" in out
    assert "25 rows of 3 cells to compute" in out  # x and y with two seeds in five folds, root with one
    assert f"25 rows stored in {surroundings / 'scratch'}" in out
    assert len(files(surroundings / "scratch")) == 3
    assert cli.main(["run", "nsgd"]) == 0
    assert "0 rows stored" in capsys.readouterr().out


def test_without_a_paper_what_is_queued_is_run_in_its_order_within_the_time(surroundings, capsys, monkeypatch):
    waiting = [Queued("nsgd", "table-2", ("synthetic",), "first"), Queued("nsgd", "fig-1", None, "second")]
    monkeypatch.setattr("ol2r.papers.queue.QUEUE", tuple(waiting))
    assert cli.main(["run", "--minutes", "5", "--jobs", "1"]) == 0
    names = [name for name, _, _ in ran(surroundings / "log")]
    assert names == ["y"] * 25 + ["root"] * 5 + ["x"] * 25  # all five seeds of the paper tier
    assert cli.main(["run", "--minutes", "5"]) == 0
    assert "0 rows stored" in capsys.readouterr().out
    monkeypatch.setenv("OL2R_STORE", str(surroundings / "other"))
    assert cli.main(["run", "--minutes", "0.0001", "--jobs", "1"]) == 0
    assert "rows are left: nothing more of them fits into 0.0001 minutes" in capsys.readouterr().out
    assert cli.main(["run", "--item", "fig-1"]) == 2


def test_run_takes_chosen_items_seeds_and_data_sets(surroundings):
    assert cli.main(["run", "nsgd", "--item", "table-2", "--seeds", "1", "--datasets", "synthetic"]) == 0
    assert {name for name, _, _ in ran(surroundings / "log")} == {"y"}
    assert len(ran(surroundings / "log")) == 5


def test_export_writes_all_rows_of_an_item_with_key_labels_fold_and_seed(surroundings, capsys):
    cli.main(["run", "nsgd", "--tier", "paper", "--item", "table-2"])
    out = surroundings / "rows.csv"
    assert cli.main(["export", "nsgd", "table-2", "-o", str(out)]) == 0
    rows = pd.read_csv(out)
    assert list(rows)[:5] == ["key", "dataset", "name", "fold", "seed"]
    assert set(rows["key"]) == {Fake(name="y").key} and len(rows[["fold", "seed"]].drop_duplicates()) == 25
    assert f"{len(rows)} lines of 1 cells in {out}" in capsys.readouterr().out
    assert cli.main(["export", "nsgd", "table-2", "-o", str(out), "--seeds", "1"]) == 0
    assert set(pd.read_csv(out)["seed"]) == {0}


def test_export_computes_nothing_and_says_what_is_missing(surroundings, capsys):
    assert cli.main(["export", "nsgd", "fig-1", "-o", str(surroundings / "rows.csv")]) == 2
    assert "Compute them with: ol2r run nsgd --tier paper --item fig-1" in capsys.readouterr().err
    assert ran(surroundings / "log") == [] and not (surroundings / "rows.csv").exists()


def test_a_dry_run_computes_nothing(surroundings, capsys):
    assert cli.main(["run", "nsgd", "--tier", "paper", "--dry-run"]) == 0
    assert "name=x: 25 rows" in capsys.readouterr().out
    assert ran(surroundings / "log") == []


def test_only_publish_writes_to_results_and_takes_over_what_scratch_has(surroundings, capsys):
    assert cli.main(["run", "nsgd"]) == 0
    before, results = len(ran(surroundings / "log")), surroundings / "results"
    assert not results.exists()
    assert cli.main(["publish"]) == 0
    assert capsys.readouterr().out.endswith(f"3 blocks added, 0 dropped, 1 files of {results} changed\n")
    assert [path.name for path in files(results)] == [SUMS, "fake.parquet", RECORDS]
    shown = pd.read_parquet(results / RECORDS).set_index("cell")["shown_in"]
    needing = Fake(name="x", needed=Fake(name="root"))
    assert shown[needing.key] == "nsgd/fig-1" and shown[Fake(name="y").key] == "nsgd/table-2"
    assert shown[Fake(name="root").key] == ""
    once = {path: path.read_bytes() for path in files(results)}
    for path in files(surroundings / "scratch"):
        path.unlink()
    assert cli.main(["run", "nsgd"]) == cli.main(["publish"]) == 0
    assert len(ran(surroundings / "log")) == before
    assert {path: path.read_bytes() for path in files(results)} == once
    assert capsys.readouterr().out.endswith(f"0 blocks added, 0 dropped, 0 files of {results} changed\n")


def test_publish_drops_what_no_paper_declares(surroundings, capsys, monkeypatch):
    publish()
    item = Item("two", lambda tier: [Fake(name="y")], SEEDS)
    declare(monkeypatch, Paper("nsgd", {"table-2": item}))
    before = {path: path.read_bytes() for path in files(surroundings / "results")}
    root = Fake(name="root")
    gone = min(root.key, Fake(name="x", needed=root).key)
    assert cli.main(["publish"]) == 1
    assert "nothing is published: 2 blocks of fake.parquet would be dropped" in capsys.readouterr().err
    assert cli.main(["publish", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert f"dropped if you say --drop: fake.parquet {gone[:12]}" in out
    assert "files: fake.parquet" in out and "0 blocks would be added, 2 dropped, 1 files" in out
    assert {path: path.read_bytes() for path in files(surroundings / "results")} == before
    assert cli.main(["publish", "--drop"]) == 0
    assert "0 blocks added, 2 dropped, 1 files" in capsys.readouterr().out
    published = Store(surroundings / "results", surroundings / "none")
    assert published.keys() == {Fake(name="y").key} and not published.missing(*item.jobs("laptop")[0])


def test_publish_without_any_declaration_drops_nothing(surroundings, monkeypatch, capsys):
    publish()
    before = files(surroundings / "results")
    declare(monkeypatch)
    assert cli.main(["publish"]) == 2
    assert "no paper declares anything: nothing is published" in capsys.readouterr().err
    assert files(surroundings / "results") == before


def test_publish_passes_over_what_changed_code_without_a_commit_made(surroundings, capsys):
    cli.main(["run", "nsgd"])
    for path in files(surroundings / "scratch"):
        frame, record = read_file(path)
        path.write_bytes(encode(frame, record | {"code": "0" * 64, "commit": "c0ffee" * 6, "dirty": True}))
    assert cli.main(["publish"]) == 0
    out = capsys.readouterr().out
    assert f"3 blocks stay in {surroundings / 'scratch'}" in out and "0 blocks added" in out


def test_status_counts_stored_rows_by_item_and_tier(capsys):
    cli.main(["run", "nsgd", "--item", "fig-1"])
    capsys.readouterr()
    assert cli.main(["status"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == ["fig-1", "5/5", "10/10", "10/25"]
    assert lines[2] == ["table-2", "0/10", "0/20", "0/50", "not", "at", "hand:", "TD2003"]


def test_status_counts_unfinished_shards(surroundings, capsys):
    store = Store(None, surroundings / "scratch")
    for cell in (Fake(name="x", needed=Fake(name="root")), Fake(name="undeclared")):
        store.keep([Job(cell, cell.rows([1], [0]))], Kept({}, pd.DataFrame()), {})
    assert cli.main(["status"]) == 0
    first, second = capsys.readouterr().out.splitlines()[1:3]
    assert first.endswith("0/25   unfinished: 1 shard")
    assert "unfinished" not in second


def test_verify_passes_what_comes_out_again_and_fails_a_forgery(surroundings, capsys):
    cli.main(["run", "nsgd"])
    (forged,) = (surroundings / "scratch" / Fake(name="y").key).iterdir()
    whole = forged.read_bytes()
    cli.main(["publish"])
    assert cli.main(["verify", "--minutes", "1", "--seed", "abc"]) == 0
    assert "blocks drawn with seed abc: 3 the same, 0 different, 0 skipped" in capsys.readouterr().out
    shutil.rmtree(surroundings / "results")
    forged.write_bytes(whole)
    forge(forged, value=lambda frame: frame["value"] + 1)
    cli.main(["publish"])
    assert cli.main(["verify", "--minutes", "1"]) == 1
    assert "2 the same, 1 different, 0 skipped" in capsys.readouterr().out


@pytest.mark.parametrize("how", [[], ["--quick"]])
def test_verifying_nothing_is_a_failure(how, capsys):
    assert cli.main(["verify", *how]) == 1
    assert "nothing was verified" in capsys.readouterr().err


def test_a_quick_verification_names_every_damaged_block_and_recomputes_nothing(surroundings, capsys):
    cli.main(["run", "nsgd"])
    for number, path in enumerate(files(surroundings / "scratch")):
        frame, record = read_file(path)
        path.write_bytes(encode(frame, record | {"dirty": number == 0}))
    cli.main(["publish"])
    before = len(ran(surroundings / "log"))
    capsys.readouterr()
    assert cli.main(["verify", "--quick"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("3 blocks, 0 damaged\n1 of them were made by code with changes that are not committed")
    assert len(ran(surroundings / "log")) == before
    shutil.rmtree(surroundings / "results")
    (path,) = (surroundings / "scratch" / Fake(name="y").key).iterdir()
    forge(path, value=np.float32("nan"))
    cli.main(["publish"])
    (surroundings / "results" / "notes.txt").write_text("mine")
    capsys.readouterr()
    assert cli.main(["verify", "--quick"]) == 1
    out = capsys.readouterr().out
    named = f"fake.parquet {Fake(name='y').key[:12]} folds1-5-seeds0-1"
    assert f"{named}: value holds what is not a finite number" in out
    assert "notes.txt: it is not in SHA256SUMS" in out and "4 blocks, 2 damaged" in out


def test_a_flipped_bit_of_a_published_file_is_named_and_its_rows_are_computed_again(surroundings, capsys):
    publish()
    before, table = len(ran(surroundings / "log")), surroundings / "results" / "fake.parquet"
    shutil.rmtree(surroundings / "scratch")
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 4
    table.write_bytes(content)
    assert cli.main(["verify", "--quick"]) == 1
    assert "fake.parquet: its digest is not that in SHA256SUMS" in capsys.readouterr().out
    with pytest.warns(StoreWarning, match=r"damaged result .*fake\.parquet"):
        assert cli.main(["run", "nsgd"]) == 0
    assert len(ran(surroundings / "log")) == 2 * before and table.read_bytes() == content
    assert cli.main(["publish"]) == cli.main(["verify", "--quick"]) == 0


def test_prune_deletes_undeclared_scratch_files_only(surroundings, capsys, monkeypatch):
    publish()
    kept, published = files(surroundings / "scratch"), files(surroundings / "results")
    (surroundings / "scratch" / UNDECLARED).mkdir()
    (surroundings / "scratch" / UNDECLARED / "folds1-seeds0-0.parquet").write_bytes(b"")
    answers = iter(["n", "y"])
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    assert cli.main(["prune"]) == 0
    assert len(files(surroundings / "scratch")) == len(kept) + 1
    assert cli.main(["prune"]) == 0
    assert files(surroundings / "scratch") == kept and files(surroundings / "results") == published
    assert "nothing to delete" not in capsys.readouterr().out
    assert cli.main(["prune"]) == 0
    assert "nothing to delete" in capsys.readouterr().out


def test_prune_goes_on_where_another_process_deletes_the_same_or_writes_there(surroundings, capsys, monkeypatch):
    cli.main(["run", "nsgd"])
    folders = [surroundings / "scratch" / (digit * 64) for digit in "012"]
    for folder in folders:
        folder.mkdir()
        (folder / "folds1-seeds0-0.parquet").write_bytes(b"")
    really = Path.unlink

    def unlink(path, **options):
        really(path, **options)
        if path.parent == folders[0]:
            path.parent.rmdir()
        elif path.parent == folders[1]:
            path.with_name(".writing-now").touch()

    monkeypatch.setattr(Path, "unlink", unlink)
    assert cli.main(["prune", "--yes"]) == 0
    assert [folder.exists() for folder in folders] == [False, True, False]
    assert "3 files deleted" in capsys.readouterr().out


def test_prune_without_any_declaration_deletes_nothing(surroundings, monkeypatch, capsys):
    cli.main(["run", "nsgd"])
    before = files(surroundings / "scratch")
    declare(monkeypatch)
    assert cli.main(["prune", "--yes"]) == 2
    assert files(surroundings / "scratch") == before


def test_a_failed_job_exits_1_with_its_trace(monkeypatch, capsys):
    item = Item("bad", lambda tier: [Fake(name="bad", fails=True)], SEEDS)
    declare(monkeypatch, Paper("nsgd", {"fig-1": item}))
    assert cli.main(["run", "nsgd"]) == 1
    err = capsys.readouterr().err
    assert "ol2r: 1 jobs failed" in err and "bad diverged" in err and "Traceback" in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["run", "nsdg"], "ol2r: no paper 'nsdg': did you mean 'nsgd'?"),
        (["run", "nsgd", "--item", "fig1"], "ol2r: no item 'fig1' in nsgd: did you mean 'fig-1'?"),
        (["run", "nsgd", "--device", "cuda"], "ol2r: device is 'cuda', but torch finds no GPU on this machine"),
        (["status", "other"], "ol2r: no paper 'other': there are nsgd"),
        (
            ["run", "nsgd", "--datasets", "syntetic"],
            "no data set 'syntetic' in nsgd at tier 'laptop': did you mean 'synthetic'?",
        ),
        (["run", "nsgd", "--item", "fig-1", "--datasets", "TD2003"], "no data set 'TD2003' in nsgd fig-1 at tier"),
        (["run", "nsgd", "--datasets", "None"], "ol2r: no data set 'None' in nsgd"),
        (["data", "info", "MQ2009"], "ol2r: unknown data set 'MQ2009'"),
        (["run", "nsgd", "--seeds", "10001"], "ol2r: 10001 seeds are more than the 10000 that can be asked for"),
        (["verify", "nsgd", "--quick"], "ol2r: --quick looks at all of results/: name no paper, no cell"),
        (["verify", "--quick", "--dry-run"], "name no paper, no cell and no --dry-run"),
    ],
)
def test_requests_that_cannot_be_met_exit_2_with_one_line(argv, message, capsys, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert cli.main(argv) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "argv",
    [[], ["walk"], ["run", "--minutes", "0"], ["run", "nsgd", "--tier", "huge"], ["run", "nsgd", "--seeds", "0"]]
    + [["run", "nsgd", "--jobs", "100000"]]
    + [["verify", "--minutes", minutes] for minutes in ("nan", "inf", "-1", "0", "soon")],
)
def test_bad_usage_exits_2(argv, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 2


def test_data_lists_the_catalogue(capsys):
    assert cli.main(["data", "list"]) == 0
    assert "MQ2008" in capsys.readouterr().out


def test_a_terminal_that_lacks_letters_gets_all_others():
    code = "import sys; from ol2r import cli; sys.exit(cli.main(['data', 'list']))"
    surroundings = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=surroundings)
    assert done.returncode == 0 and b"MQ2008" in done.stdout and b"\\u2013" in done.stdout


def test_want_of_memory_is_one_line(monkeypatch, capsys):
    def full(arguments):
        raise MemoryError("1 TiB")

    monkeypatch.setattr(cli, "papers", full)
    monkeypatch.setattr(full, "__doc__", "Fill the memory.", raising=False)
    monkeypatch.setattr(full, "__name__", "papers")
    assert cli.main(["papers"]) == 1
    assert capsys.readouterr().err == "ol2r: not enough memory (1 TiB)\n"


CLAIM_FIELDS = {
    "paper", "id", "statement", "rule", "verdict", "effect", "expected", "interval", "data", "tier", "seeds", "cells",
    "n_testable", "n_cells", "reason", "elsewhere", "readings",
}  # fmt: skip


def test_claims_are_one_json_object_each(monkeypatch, capsys):
    from ol2r.experiments.claims import Claim, Contrast, Measure, Part, Scale, Size

    high = Measure("fig-1", "value", (("name", "x"),))
    part = Part((Contrast("x", high, Scale("value")),), (("synthetic", "anyone"),), statement="x is positive")
    claim = Claim("nsgd", "NS1", (part,), Size(10, 5, 5), statement="x is positive")
    declare(monkeypatch, replace(paper("nsgd"), claims=(claim,)))
    monkeypatch.setattr(Fake, "labels", lambda self: {"dataset": "synthetic", "name": self.name, "users": "anyone"})
    cli.main(["run", "nsgd", "--tier", "paper"])
    capsys.readouterr()
    assert cli.main(["claims", "nsgd", "--json"]) == 0
    (judged,) = json.loads(capsys.readouterr().out)
    assert set(judged) == CLAIM_FIELDS
    assert (judged["paper"], judged["id"], judged["tier"], judged["seeds"]) == ("nsgd", "NS1", "paper", 5)
    assert judged["cells"] == [Fake(name="x", needed=Fake(name="root")).key]


def test_claims_without_results_say_so(capsys):
    assert cli.main(["claims", "nsgd", "--tier", "paper"]) == 1
    assert "no results of nsgd are stored" in capsys.readouterr().err


def test_the_comparison_of_learners_claims_nothing(monkeypatch, capsys):
    declare(monkeypatch, Paper("comparison", {}))
    assert cli.main(["claims", "comparison"]) == cli.main(["claims", "comparison", "--json"]) == 0
    assert capsys.readouterr().out.splitlines() == ["comparison claims nothing", "[]"]


@pytest.mark.parametrize("asked", [["claims", "nsgd"], ["verify"], ["verify", "--quick"]])
@pytest.mark.parametrize("alone", [True, False])
def test_an_installation_without_a_clone_learns_how_to_name_results(asked, alone, surroundings, monkeypatch, capsys):
    if alone:
        monkeypatch.delenv("OL2R_RESULTS")
        monkeypatch.setattr("ol2r.experiments.store.checkout", lambda: None)
    assert cli.main(asked) > 0
    assert ("set OL2R_RESULTS" in capsys.readouterr().err) == alone


def test_help_does_not_import_the_library():
    code = "import sys; from ol2r import cli; cli.parser().format_help(); print({'torch', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_verify_refuses_a_key_that_no_cell_has(capsys):
    assert cli.main(["verify", "nsgd", "--cell", "zzz"]) == 2
    assert "no declared cell has a key that begins with 'zzz'" in capsys.readouterr().err


def test_verify_prints_the_numbers_of_the_cell_that_it_is_asked_for(surroundings, capsys):
    publish("--item", "fig-1")
    key = Fake(name="x", needed=Fake(name="root")).key
    capsys.readouterr()
    assert cli.main(["verify", "nsgd", "--cell", key[:12]]) == 0
    out = capsys.readouterr().out
    assert f"{key[:12]} fake dataset=synthetic name=x: means over 10 rows after round 10\nvalue" in out
    assert "5 rows, bit for bit" in out
    _, _, table = out.partition("stored  recomputed\n")
    name, stored, recomputed = table.splitlines()[0].split()
    assert name == "value" and stored == recomputed


def test_a_verification_that_is_stopped_does_not_say_that_anything_is_stored(surroundings, capsys, monkeypatch):
    from ol2r.experiments import verify

    publish()
    before = files(surroundings / "scratch")

    def stopped(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify, "in_memory", stopped)
    assert cli.main(["verify", "nsgd"]) == 1
    assert "ol2r: interrupted; a verification stores nothing, and begins again" in capsys.readouterr().err
    assert files(surroundings / "scratch") == before


def test_verify_agrees_whichever_rows_it_draws(surroundings, capsys):
    publish("--item", "fig-1")
    for seed in range(10):
        assert cli.main(["verify", "nsgd", "--seed", str(seed)]) == 0, capsys.readouterr().out


def test_what_verify_draws_depends_on_the_code_and_not_on_git(surroundings, capsys, monkeypatch):
    publish()
    capsys.readouterr()
    assert cli.main(["verify", "--minutes", "1"]) == 0
    monkeypatch.setattr(provenance, "origin", provenance.Origin)  # outside a repository, or in a lost one
    assert cli.main(["verify", "--minutes", "1"]) == 0
    one, other = re.findall(r"blocks drawn with seed (\w+)", capsys.readouterr().out)
    assert one == other == provenance.code_digest(("ol2r",))[:12]


def test_verify_finds_a_cell_that_only_the_scratch_store_has(surroundings, capsys):
    cli.main(["run", "nsgd", "--item", "fig-1"])
    key = Fake(name="x", needed=Fake(name="root")).key
    assert cli.main(["verify", "nsgd"]) == 1
    assert cli.main(["verify", "nsgd", "--cell", key]) == 0
    assert "1 the same" in capsys.readouterr().out


def test_a_dry_verification_says_how_long_it_takes_and_recomputes_nothing(surroundings, capsys):
    publish()
    before = len(ran(surroundings / "log"))
    capsys.readouterr()
    assert cli.main(["verify", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.count("recompute ") == 3 and "5 rows, bit for bit: about 0 s" in out
    assert out.endswith("3 blocks to recompute, about 0.0 minutes\n")
    assert len(ran(surroundings / "log")) == before


def test_an_error_stays_in_one_line_and_obeys_no_terminal_whatever_it_names(tmp_path, capsys):
    name = "a\nb\x1b[31m\u2028é"
    assert cli.main(["run", "nsgd", "--data", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err == f"ol2r: no file {tmp_path}/a\\nb\\x1b[31m\\u2028é\n"
