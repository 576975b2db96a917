"""A page shows what its chapter has: each strip tells of the rows that were drawn, each claim its own verdict."""

from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from ol2r.papers.nsgd import grid as nsgd
from ol2r.report import figures, page
from ol2r.report.style import TooManyPanels, panels, styled


@pytest.fixture
def shown(monkeypatch):
    """Everything that was put on the page."""
    texts = []
    monkeypatch.setattr(page.Audience, "texts", lambda self, *more: texts.extend(more))
    return texts


@pytest.fixture
def chapter(grid, invented_results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    both = pd.concat([grid, grid.assign(dataset="ClueWeb09_webis", cell="clue/" + grid["cell"])])
    results = {item: invented_results(both) for item in nsgd.ITEMS}
    return SimpleNamespace(
        name="nsgd",
        tier="paper",
        seeds=None,
        datasets=None,
        paper=nsgd.PAPER,
        all_results=lambda items=None: {item: results[item] for item in items or results},
        computed=lambda item, title: invented_results(grid[:0]),
    )


def strip_of(text):
    return yaml.safe_load("\n".join(text.split("\n")[1:-2]))


def test_a_figure_is_drawn_on_the_first_preferred_data_set_and_its_strip_says_so(chapter, shown):
    own = page.Page(chapter, preferred=("MQ2007", "MQ2008"))
    fig = own.drawn("fig-2", figures.learning_curves)
    own.under("fig-2", fig)
    told = strip_of(shown[0])
    assert (told["data"], told["anchor"], told["csv"]) == ("MQ2008", "nsgd-fig-2", "data/nsgd-fig-2.csv")
    assert told["command"].split("\n") == [
        "ol2r draw nsgd nsgd-fig-2 -o nsgd-fig-2.svg --csv nsgd-fig-2.csv",
        "ol2r export nsgd fig-2 -o fig-2-rows.csv",
    ]


def test_a_strip_writes_its_file_beside_a_page_that_is_made_and_nowhere_else(chapter, shown, tmp_path, monkeypatch):
    own = page.Page(chapter)
    fig = own.drawn("fig-2", figures.learning_curves)
    monkeypatch.delenv("OL2R_PAGE", raising=False)
    own.under("fig-2", fig)
    assert not list(tmp_path.rglob("*"))
    monkeypatch.setenv("OL2R_PAGE", str(tmp_path / "made"))
    own.under("fig-2", fig)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "made/data/nsgd-fig-2.csv"]


def test_without_a_preferred_data_set_the_last_is_drawn(chapter):
    assert set(page.Page(chapter).on("fig-2")["dataset"]) == {"ClueWeb09_webis"}
    assert set(page.Page(chapter).on("fig-2", "MQ2008")["dataset"]) == {"MQ2008"}


def test_every_data_set_of_an_item_is_there_and_the_preferred_one_first(chapter, shown):
    for preferred in ("MQ2008", "ClueWeb09_webis"):
        own = page.Page(chapter, preferred=(preferred,))
        frame, every = own.results["fig-2"].frame, own.every("fig-2")
        assert every["dataset"].iloc[0] == preferred and set(every["dataset"]) == {"MQ2008", "ClueWeb09_webis"}
        pd.testing.assert_frame_equal(every.sort_values(list(frame)), frame.sort_values(list(frame)))


def test_a_figure_of_several_data_sets_takes_them_in_the_order_asked(chapter, shown):
    own = page.Page(chapter)
    runs = own.among("fig-2", "ClueWeb09_webis", "MQ2007", "MQ2008")
    assert list(runs["dataset"].unique()) == ["ClueWeb09_webis", "MQ2008"]
    own.under("fig-2", own.drawn("fig-2", figures.learning_curves, runs=runs), "nsgd-both", runs)
    told = strip_of(shown[0])
    assert (told["data"], told["anchor"]) == ("ClueWeb09 (Webis); MQ2008", "nsgd-both")
    assert own.among("fig-2").empty and own.drawn("fig-2", figures.learning_curves, runs=own.among("fig-2")) is None


def test_a_figure_of_too_many_panels_has_a_tab_for_each_data_set_and_one_table(chapter, shown, grid, invented_results):
    own = page.Page(chapter)
    names = ["MQ2008", "MQ2007", "ClueWeb09_webis"]
    runs = pd.concat([grid.assign(dataset=name, cell=name + grid["cell"]) for name in names])
    own.results["fig-2"] = invented_results(runs)
    choice = own.drawn("fig-2", figures.learning_curves, runs=runs)
    assert [len(each.panels()) for each in choice.drawings.values()] == [grid["users"].nunique()] * 3
    assert set(choice.table["dataset"]) == set(names)
    own.under("fig-2", choice, runs=runs)
    assert strip_of(shown[0])["data"] == "MQ2008; MQ2007 (checksum unconfirmed); ClueWeb09 (Webis)"


def test_a_figure_that_shows_one_data_set_has_a_tab_for_each_of_several(chapter, grid):
    runs = pd.concat([grid.assign(dataset=name) for name in ("MQ2008", "MQ2007")])
    rows = {"all": ["MGD"]}
    choice = page.Page(chapter).drawn("fig-2", figures.grouped_curves, "ndcg", rows, "x", "learner", runs=runs)
    assert list(choice.drawings) == ["MQ2008", "MQ2007"]


def test_a_figure_of_one_data_set_with_too_many_panels_is_refused(chapter, grid):
    with pytest.raises(TooManyPanels):
        page.Page(chapter).drawn("fig-2", lambda runs: styled(lambda: panels("abcdefg", runs)[0])(), runs=grid)


def test_an_item_without_runs_says_so_in_place_of_its_strip(chapter, shown, grid, invented_results):
    own = page.Page(chapter)
    own.results["fig-2"] = invented_results(grid[:0])
    assert own.on("fig-2").empty and own.drawn("fig-2", figures.learning_curves) is None
    own.under("fig-2", None)
    assert shown == ["*None of the chosen data sets is one of fig-2's.*"]


def test_a_page_of_some_items_judges_the_claims_that_read_no_others(chapter):
    own = page.Page(chapter, items=["fig-2", "fig-3"])
    assert list(own.results) == ["fig-2", "fig-3"]
    assert list(own.judgements) == [c.id for c in nsgd.CLAIMS if nsgd.PAPER.read_by(c) <= {"fig-2", "fig-3"}]
    assert 0 < len(page.Page(chapter, items=nsgd.PAPER.judged).judgements) == len(nsgd.CLAIMS)


def test_a_strip_may_rest_on_several_items(chapter, shown):
    own = page.Page(chapter)
    own.sources("fig-3 fig-4", figures.deviation_curves(own.on("fig-3")).table, "nsgd-own")
    told = strip_of(shown[0])
    first, *others = told["command"].split("\n")
    assert told["anchor"] == "nsgd-own" and first.startswith("ol2r draw nsgd nsgd-own -o nsgd-own.html ")
    assert others == [f"ol2r export nsgd {item} -o {item}-rows.csv" for item in ("fig-3", "fig-4")]


def test_what_a_cell_computed_itself_has_a_strip_without_runs(chapter, shown):
    page.Page(chapter).live("fig-1", "An example", pd.DataFrame({"x": [1]}))
    told = strip_of(shown[0])
    assert (told["anchor"], told["seeds"]) == ("nsgd-fig-1", "none")
    assert told["command"] == "ol2r draw nsgd nsgd-fig-1 -o nsgd-fig-1.html --csv nsgd-fig-1.csv"


def test_what_a_cell_ran_itself_is_told_in_its_strip(chapter, shown):
    page.Page(chapter).live("fig-1", "An example", pd.DataFrame({"x": [1]}), data="synthetic-tiny", seeds="1")
    told = strip_of(shown[0])
    assert (told["data"], told["seeds"], told["rounds"]) == ("synthetic-tiny", "1", None)


def test_claims_are_judged_once_and_shown_by_name(chapter, shown):
    own = page.Page(chapter)
    assert list(own.judgements) == [claim.id for claim in nsgd.CLAIMS]
    own.claims("NS2", "NS1")
    assert [text.split(":name: ")[1].split("\n")[0] for text in shown] == ["nsgd-ns2", "nsgd-ns1"]


def test_an_empty_text_is_not_put_on_the_page():
    found = []

    class Listening(page.Audience):
        def texts(self, *texts):
            found.extend(texts)

    with page.shown_to(Listening()):
        page.show("a", "", "b")
        page.show("")
    assert found == ["a", "b"]
