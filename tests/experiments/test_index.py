"""The index of what is stored: every stored cell of every item, told apart by what differs, and current."""

import errno
import os

import pandas as pd
import pytest
from fakes import Fake

from ol2r import papers
from ol2r.experiments.cells import Item
from ol2r.experiments.index import COLUMNS, NAME, index, write
from ol2r.experiments.paper import Paper
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store, StoreError

SEEDS = {"smoke": range(1), "laptop": range(2), "paper": range(5)}


def cells(tier):
    return [Fake(name="x"), Fake(name="y", data="TD2004"), *([Fake(name="z")] if tier == "paper" else [])]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    return Store(tmp_path / "results", tmp_path / "scratch", commit=True)


def test_a_line_a_stored_cell_of_an_item_says_where_it_lies(store):
    item = Item("one", cells, SEEDS)
    paper = Paper("nsgd", {"fig-1": item, "fig-2": Item("two", lambda tier: [Fake(name="x")], SEEDS)})
    run(item.jobs("laptop"), store, n_jobs=1)
    found = index([paper], store)
    assert list(found.columns) == list(COLUMNS)
    assert list(found["item"]) == ["fig-1", "fig-1", "fig-2"]
    assert list(found["tiers"]) == ["smoke laptop paper"] * 3
    assert list(found["dataset"]) == ["synthetic", "TD2004", "synthetic"]
    assert list(found["setting"]) == ["name x", "name y", ""]  # alone in its item, x needs no name
    assert list(found["rows"]) == [10, 10, 10]
    assert found["folder"].iloc[0] == Fake(name="x").key and (store.published / Fake(name="x").key).is_dir()
    assert index([Paper("empty", {})], store).empty


def test_an_index_that_cannot_be_written_whole_leaves_the_earlier_one(tmp_path, monkeypatch):
    path = tmp_path / NAME
    write(pd.DataFrame([["a", "ü"]], columns=["one", "two"]), path)
    assert path.read_text(encoding="utf-8") == "one,two\na,ü\n"

    def fsync(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StoreError, match="No space left on device"):
        write(pd.DataFrame({"one": ["b"]}), path)
    assert path.read_text(encoding="utf-8") == "one,two\na,ü\n" and list(tmp_path.iterdir()) == [path]


@pytest.mark.real_data("MQ2008", "MQ2007_partial85")
def test_the_published_index_is_current():
    store = Store.open(commit=True)
    found = index([papers.paper(name) for name in papers.NAMES], store)
    committed = pd.read_csv(store.published / NAME, dtype=str, keep_default_na=False)
    assert found.astype(str).to_dict("list") == committed.to_dict("list"), "run `ol2r index` and commit what it writes"
    assert set(found["folder"]) == {path.name for path in store.published.iterdir() if path.is_dir()}
