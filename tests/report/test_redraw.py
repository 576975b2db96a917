"""A figure or table made again is the page's, with the parameters asked for, and nothing is computed for it."""

import pandas as pd
import pytest
from declared import declare
from fakes import Fake, ran

from ol2r import cli
from ol2r.errors import ExperimentError, MissingRows
from ol2r.experiments.cells import Item
from ol2r.experiments.paper import Paper
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store
from ol2r.report import redraw

HEAD = """---
kernelspec:
  name: python3
  display_name: Python 3
  language: python
---

# A page

```{code-cell} python
:tags: [parameters]

tier = "laptop"
seeds = None
```

```{code-cell} python
import ol2r

chapter = ol2r.chapter("nsgd", globals())

from ol2r.report import tables
from ol2r.report.choice import apart
from ol2r.report.page import Page, show
from ol2r.report.style import panels, styled

page = Page(chapter)


@styled
def means(runs):
    fig, (ax,) = panels([""], runs.groupby(["name", "fold"], as_index=False)["value"].mean())
    ax.plot(fig.table["fold"], fig.table["value"])
    return fig
```
"""
FIGURE = """
```{code-cell} python
---
mystnb:
  figure:
    caption: Means.
    name: nsgd-fig-1
---
fig_1 = page.drawn("fig-1", means)
fig_1
```

```{code-cell} python
page.under("fig-1", fig_1)
raise RuntimeError("after the strip")
```
"""
TABLES = """
```{code-cell} python
print("a table for each fold")
for fold in (1, 2):
    runs = page.on("fig-1").query("fold == @fold")
    rows = [[str(fold), "**1** {ref}`one <a>`"]]
    text = tables.myst(["fold", "mean $v$"], rows, name=f"nsgd-of-{fold}", caption="One.")
    show(tables.folded("More", text))
    page.sources("fig-1", runs.groupby("fold", as_index=False)["value"].mean(), f"nsgd-of-{fold}", runs)
tabs = apart(means, page.on("fig-1"), "name", str.upper)
page.sources("fig-1", tabs, "nsgd-tabs")
```
"""
SEEDS = {"smoke": range(1), "laptop": range(2), "paper": range(5)}


@pytest.fixture
def item(tmp_path, monkeypatch):
    """An item whose rows are stored at tier "paper", and a chapter of two pages that show it."""
    made = Item("One", lambda tier: [Fake(name="x")], SEEDS)
    declare(monkeypatch, Paper("nsgd", {"fig-1": made}, package="ol2r.papers.nsgd"))
    for name, folder in (("STORE", "scratch"), ("RESULTS", "results")):
        monkeypatch.setenv(f"OL2R_{name}", str(tmp_path / folder))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    pages = {"nsgd.md": HEAD + FIGURE, "nsgd-extras.md": HEAD + TABLES}
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(redraw, "pages", lambda paper: [tmp_path / name for name in pages])
    monkeypatch.chdir(tmp_path)
    run(made.jobs("paper"), Store.open())
    return made


def test_a_page_runs_up_to_the_strip_of_the_figure_and_no_further(item, tmp_path):
    drawn = redraw.draw("nsgd", "nsgd-fig-1", {"tier": "paper"})
    assert drawn.write(tmp_path / "out" / "fig.svg") == [tmp_path / "out" / "fig.svg"]
    assert (tmp_path / "out" / "fig.svg").read_text() == drawn.strip.drawing._repr_svg_()
    assert drawn.strip.facts["tier"] == "paper" and drawn.strip.facts["seeds"] == "5 × 5 folds"


@pytest.mark.parametrize("ending", ["pdf", "png"])
def test_a_figure_is_written_in_the_format_of_its_file_s_name(item, tmp_path, ending):
    drawn = redraw.draw("nsgd", "nsgd-fig-1", {"tier": "paper"})
    drawn.write(tmp_path / f"fig.{ending}")
    assert (tmp_path / f"fig.{ending}").read_bytes()[:5] in (b"%PDF-", b"\x89PNG\r")


def test_its_data_is_the_strip_s(item, tmp_path):
    strip = redraw.draw("nsgd", "nsgd-fig-1", {"tier": "paper"}).strip
    strip.write(tmp_path / "fig.csv")
    table = pd.read_csv(tmp_path / "fig.csv")
    assert list(table) == ["name", "fold", "value", "key"] and set(table["key"]) == {Fake(name="x").key[:12]}
    assert list(table["value"]) == [100 * fold + 2 for fold in range(1, 6)]


def test_the_page_runs_with_the_parameters_asked_for(item):
    drawn = redraw.draw("nsgd", "nsgd-fig-1", {"tier": "laptop", "seeds": 1})
    assert drawn.strip.facts["seeds"] == "1 × 5 folds"
    assert "nsgd-fig-1.csv --tier laptop --seeds 1\n" in drawn.strip.facts["command"] + "\n"


def test_nothing_is_computed_and_nothing_written_beside(item, tmp_path):
    before, files = len(ran(tmp_path / "log")), set(tmp_path.iterdir())
    with pytest.raises(MissingRows, match="ol2r run nsgd --tier paper --seeds 7"):
        redraw.draw("nsgd", "nsgd-fig-1", {"tier": "paper", "seeds": 7})
    redraw.draw("nsgd", "nsgd-of-1", {"tier": "paper"})
    assert len(ran(tmp_path / "log")) == before and set(tmp_path.iterdir()) == files


def test_a_table_whose_name_a_loop_puts_together_is_found_and_written(item, tmp_path, capsys):
    drawn = redraw.draw("nsgd", "nsgd-of-2", {"tier": "paper"})
    for ending in ("html", "csv"):
        drawn.write(tmp_path / f"table.{ending}")
    page = (tmp_path / "table.html").read_text()
    for part in ("<caption>One.</caption>", "$v$</span></th>", "<td>2</td>", "<td><strong>1</strong> one</td>"):
        assert part in page
    assert list(pd.read_csv(tmp_path / "table.csv")["fold"]) == [2]
    assert capsys.readouterr().out == ""


def test_drawings_behind_tabs_go_to_a_file_each(item, tmp_path):
    drawn = redraw.draw("nsgd", "nsgd-tabs", {"tier": "paper"})
    assert drawn.write(tmp_path / "fig.svg") == [tmp_path / "fig-x.svg"]
    assert "<svg" in (tmp_path / "fig-x.svg").read_text()


@pytest.mark.parametrize(("anchor", "ending"), [("nsgd-fig-1", ".html"), ("nsgd-of-1", ".svg")])
def test_a_file_s_name_that_ends_otherwise_is_an_error(item, tmp_path, anchor, ending):
    with pytest.raises(ExperimentError, match=r"goes to a file that ends in \.\w+ or"):
        redraw.draw("nsgd", anchor, {"tier": "paper"}).write(tmp_path / f"x{ending}")


def test_an_unknown_figure_is_an_error_that_offers_the_nearest(item):
    with pytest.raises(ExperimentError, match="no figure or table 'nsgd-fig-2' in nsgd: did you mean 'nsgd-fig-1'"):
        redraw.page_of("nsgd", "nsgd-fig-2")


def test_a_name_that_no_loop_makes_is_an_error(item):
    with pytest.raises(ExperimentError, match=r"nsgd-extras\.md shows no figure or table 'nsgd-of-3'"):
        redraw.draw("nsgd", "nsgd-of-3", {"tier": "paper"})


def test_a_dry_run_counts_what_is_stored_and_says_what_is_not(item):
    page = redraw.page_of("nsgd", "nsgd-fig-1")
    assert redraw.stored(page, {"tier": "paper"}) == 25
    with pytest.raises(MissingRows, match=r"10 rows of fig-1, which nsgd\.md shows, are not stored"):
        redraw.stored(page, {"tier": "paper", "seeds": 7})


def test_without_the_repository_there_are_no_pages(monkeypatch):
    monkeypatch.setattr(redraw, "checkout", lambda: None)
    with pytest.raises(ExperimentError, match="inside a clone"):
        redraw.pages("nsgd")


def test_the_command_writes_drawing_and_data_and_a_dry_one_neither(item, tmp_path, capsys):
    asked = ["draw", "nsgd", "nsgd-fig-1", "-o", "fig.svg", "--csv", "fig.csv"]
    assert cli.main([*asked, "--dry-run"]) == 0
    assert capsys.readouterr().out == "nsgd.md draws nsgd-fig-1; the 25 rows that it reads are stored\n"
    assert not (tmp_path / "fig.svg").exists() and not (tmp_path / "fig.csv").exists()
    assert cli.main(asked) == 0
    assert capsys.readouterr().out == "nsgd-fig-1 in fig.svg, fig.csv\n"
    assert (tmp_path / "fig.svg").stat().st_size and (tmp_path / "fig.csv").stat().st_size
    assert cli.main([*asked, "--seeds", "7"]) == 2
    assert "are not stored" in capsys.readouterr().err
