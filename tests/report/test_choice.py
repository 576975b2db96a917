"""Drawings behind tabs: all of them are on the page, and their tables are one."""

from pathlib import Path

import pandas as pd
import pytest

from ol2r.report.choice import FOLDER, Choice, apart
from ol2r.report.narrow import name_of
from ol2r.report.style import panels, styled


@pytest.fixture
def frame():
    return pd.DataFrame({"dataset": ["b", "b", "a"], "mean": [1.0, 2.0, 3.0]})


@styled
def draw(own, color):
    fig, (ax,) = panels(["one"], own.drop(columns="dataset"))
    ax.plot(own["mean"], color=color)
    fig.alt = f"{len(own)}\npoints."
    return fig


def test_each_value_has_a_drawing_of_its_rows_in_their_order(frame):
    choice = apart(draw, frame, "dataset", str.upper, color="k")
    assert list(choice.drawings) == ["B", "A"]
    assert [list(each.axes[0].lines[0].get_ydata()) for each in choice.drawings.values()] == [[1, 2], [3]]


def test_the_table_of_a_choice_has_every_row_and_says_of_which_tab_it_is(frame):
    choice = apart(draw, frame, "dataset", color="k")
    assert choice.table.to_dict("list") == {"mean": [1, 2, 3], "dataset": ["b", "b", "a"]}


def test_a_choice_shows_every_drawing_in_a_file_behind_a_tab_and_always_the_same(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OL2R_PAGE", str(tmp_path))
    text = apart(draw, frame, "dataset", color="k")._repr_markdown_()
    assert [line for line in text.split("\n") if "tab-item" in line] == ["::::{tab-item} b", "::::{tab-item} a"]
    paths = [line.split()[1] for line in text.split("\n") if "{image}" in line]
    assert all("<svg" in Path(path).read_text() for path in paths)
    names = [Path(path).name for path in paths]
    narrow = [name_of(Path(path).read_text()) for path in paths]
    assert sorted([*names, *narrow]) == sorted(path.name for path in FOLDER.iterdir())
    assert [line for line in text.split("\n") if "alt" in line] == [':alt: "2 points."', ':alt: "1 points."']
    assert text == apart(draw, frame, "dataset", color="k")._repr_markdown_()


def test_a_drawing_without_alternative_text_is_called_as_its_tab(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OL2R_PAGE", str(tmp_path))
    fig = draw(frame, "k")
    fig.alt = ""
    assert ':alt: "all"' in Choice({"all": fig}, "dataset")._repr_markdown_()


def test_names_of_tabs_are_text_and_alternative_texts_are_whole(frame, tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_PAGE", str(tmp_path))
    fig = draw(frame, "k")
    fig.alt = 'at "x" #1\u202e'
    text = Choice({"__b__": fig}, "dataset")._repr_markdown_()
    assert r"::::{tab-item} \_\_b\_\_" in text.split("\n")
    assert r':alt: "at \"x\" #1\\u202e"' in text.split("\n")


def test_in_a_notebook_of_which_no_page_is_made_the_drawings_stand_in_the_notebook(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OL2R_PAGE", raising=False)
    choice = apart(draw, frame, "dataset", color="k")
    assert choice._repr_markdown_() is None and choice._repr_html_().count("<svg") == 2
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("OL2R_PAGE", str(tmp_path))
    assert choice._repr_html_() is None
