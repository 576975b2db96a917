"""The form of a drawing for a narrow screen: every panel is there and says what it shows; the wide form stays."""

from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.offsetbox import DrawingArea

from ol2r.report import figures, narrow
from ol2r.report.style import legend, panels, stacked, styled


@styled
def draw(rows=1, columns=3):
    grid = stacked(range(rows), [f"users {c}" for c in range(columns)], pd.DataFrame())
    fig, axes = grid
    for r, row in enumerate(axes):
        for c, ax in enumerate(row):
            ax.plot([0, 1], [r, c], label=f"a line of a learner, {c}")
            ax.label_outer()
        row[0].set_ylabel(f"score {r}")
    for ax in axes[-1]:
        ax.set_xlabel("round")
    legend(fig, axes[0], 3)
    return fig


def told(fig):
    return [(ax.get_title(), ax.get_ylabel(), ax.get_xlabel()) for ax in fig.axes]


def told_in(legend):
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("rows", [1, 2])
def test_panels_stand_one_below_the_other_and_each_says_what_it_shows(rows):
    wide = draw(rows)
    tall = narrow.in_one_column(wide)
    assert told(tall) == [(f"users {c}", f"score {r}", "round") for r in range(rows) for c in range(3)]
    tall.draw_without_rendering()
    boxes = [ax.get_position() for ax in tall.axes]
    assert all(above.y0 > below.y1 for above, below in pairwise(boxes))
    assert len({round(box.x0, 6) for box in boxes}) == 1
    assert all(ax.yaxis.get_tick_params()["labelleft"] for ax in tall.axes)
    assert tall.get_figwidth() == narrow.WIDTH and tall.get_figheight() == pytest.approx(3 * wide.get_figheight())
    assert [[*line.get_ydata()] for ax in tall.axes for line in ax.lines] == [
        [r, c] for r in range(rows) for c in range(3)
    ]
    assert wide._repr_svg_() == draw(rows)._repr_svg_()


@pytest.mark.parametrize(("name", "columns"), [("a line of a learner", 2), ("a line of a learner with a long name", 1)])
def test_a_legend_has_as_many_columns_as_fit(name, columns):
    @styled
    def named():
        fig, (ax,) = panels([""], pd.DataFrame())
        for c in range(3):
            ax.plot([0, 1], [c, c], label=f"{name}, {c}")
        legend(fig, [ax])
        return fig

    (own,) = narrow.in_one_column(named()).legends
    assert told_in(own) == [f"{name}, {c}" for c in range(3)]
    assert own._ncols == columns


def test_a_legend_shows_the_bar_and_the_mark_of_a_point_with_an_interval():
    @styled
    def intervals():
        fig, (ax,) = panels([""], pd.DataFrame())
        ax.errorbar([0, 1], [0, 1], xerr=[[1, 1], [1, 1]], marker="D", linestyle="", label="a point")
        ax.bar([0], [1], hatch="///", label="a bar")
        legend(fig, [ax])
        return fig

    (own,) = narrow.in_one_column(intervals()).legends
    drawn = {name: box.get_children() for name, box in zip(told_in(own), own.findobj(DrawingArea), strict=True)}
    looks = [(part.get_marker(), part.get_linestyle()) for part in drawn["a point"]]
    assert ("D", "None") in looks and any(line != "None" for _, line in looks)
    assert [part.get_hatch() for part in drawn["a bar"]] == ["///"]


def test_rows_that_lay_out_themselves_are_stacked_each_by_itself(curves):
    wide = figures.grouped_curves(curves, "ndcg", {"one": ("PDGD",), "other": ("DBGD",)}, "NDCG")
    tall = narrow.in_one_column(wide)
    assert [len(part.axes) for part in tall.subfigs] == [len(part.axes) for part in wide.subfigs]
    assert all(ax.get_subplotspec().get_gridspec().ncols == 1 for ax in tall.axes)
    assert [ax.get_ylabel().split("\n")[0] for ax in tall.axes] == ["one"] * 2 + ["other"] * 2


@pytest.fixture
def curves():
    lines = [
        ("d", users, name, seed, t, 0.1 * seed + 0.01 * t)
        for users in ("perfect", "informational")
        for name in ("PDGD", "DBGD")
        for seed in range(3)
        for t in (1, 10, 100)
    ]
    return pd.DataFrame(lines, columns=["dataset", "users", "variant", "seed", "round", "ndcg"]).assign(fold=1)


def test_a_bar_of_colours_stays_beside_its_panel():
    fig, axes = panels(["one", "two"], pd.DataFrame())
    for ax in axes:
        fig.colorbar(ax.imshow([[0, 1]]), ax=ax)
    tall = narrow.in_one_column(fig)
    tall.draw_without_rendering()
    places = [ax for ax in tall.axes if ax.get_label() != "<colorbar>"]
    assert len(places) == 2 and len(tall.axes) == 4 and places[0].get_position().y0 > places[1].get_position().y1


def test_one_column_becomes_narrow_alone():
    wide = draw(2, 1)
    tall = narrow.in_one_column(wide)
    assert told(tall) == [("users 0", f"score {r}", "round") for r in range(2)]
    assert [*tall.get_size_inches()] == [narrow.WIDTH, wide.get_figheight()]


def test_a_figure_without_panels_or_names_stays_one():
    fig = Figure()
    fig.legend([], [])
    assert narrow.in_one_column(fig).get_figwidth() == narrow.WIDTH


def test_the_narrow_form_lies_beside_a_page_that_is_made_and_is_found_from_the_wide_one(tmp_path, monkeypatch):
    monkeypatch.delenv("OL2R_PAGE", raising=False)
    wide = draw()
    wide._repr_mimebundle_()
    assert not list(tmp_path.rglob("*"))
    monkeypatch.setenv("OL2R_PAGE", str(tmp_path))
    svg = wide._repr_mimebundle_()[0]["image/svg+xml"]
    (found,) = (tmp_path / narrow.FOLDER).iterdir()
    assert found.name == narrow.name_of(f"{svg}\n") and found.read_text() == narrow.svg_of(narrow.in_one_column(wide))
