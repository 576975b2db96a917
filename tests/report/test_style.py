import itertools
import os
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from colours import LEAST, apart, contrast_with_white, hue, seen

from ol2r.report.style import (
    BETWEEN,
    CHOICES,
    FAMILIES,
    GREY,
    INK,
    LEARNERS,
    MOST_PANELS,
    QUIET,
    RC,
    SERIES,
    USERS,
    WIDTH,
    Look,
    Looks,
    TooManyPanels,
    legend,
    panels,
    spelled,
    stacked,
    styled,
    tiled,
)

REGISTRIES = pytest.mark.parametrize("looks", [LEARNERS, USERS, CHOICES], ids=["learners", "users", "choices"])


FAMILY = pytest.mark.parametrize("family", [name for name in FAMILIES if name != "references"])


@pytest.mark.parametrize("vision", LEAST)
@FAMILY
def test_within_a_family_colours_are_apart_or_lines_and_markers_are(family, vision):
    for a, b in itertools.combinations(FAMILIES[family].values(), 2):
        assert apart(a.color, b.color, vision) > 10 or (a.marker != b.marker and a.line != b.line), (a, b)


@pytest.mark.parametrize("vision", LEAST)
def test_colours_of_curves_without_a_name_are_apart_from_each_other_and_from_ink(vision):
    for a, b in itertools.combinations([*SERIES, INK, QUIET], 2):
        assert apart(a, b, vision) >= LEAST[vision], (a, b)


@REGISTRIES
def test_every_colour_stands_out_from_white_paper(looks):
    for name in looks:
        assert contrast_with_white(looks[name].color) >= 3, name


def test_colours_of_curves_without_a_name_stand_out_from_white_paper():
    assert all(contrast_with_white(colour) >= 3 for colour in (*SERIES, INK, QUIET, GREY))


@FAMILY
def test_a_family_of_learners_has_one_hue(family):
    hues = sorted(hue(look.color) for look in FAMILIES[family].values())
    gaps = np.diff([*hues, hues[0] + 360])
    assert 360 - gaps.max() <= 100  # degrees between the outermost two


def test_references_are_without_hue():
    for look in FAMILIES["references"].values():
        assert np.hypot(*seen(look.color, "normal")[1:]) < 1


def test_a_registry_refuses_a_second_look_and_a_look_alike():
    looks = Looks()
    looks.register("a", Look("#111111", "o", "-"))
    for name, look in (
        ("a", Look("#222222", "s", "--")),
        ("b", Look("#111111", "s", "--")),
        ("b", Look("#222222", "o", "-")),
    ):
        with pytest.raises(ValueError, match="look"):
            looks.register(name, look)


def test_an_unknown_name_is_an_error_that_says_where_to_register_it():
    with pytest.raises(KeyError, match="register it"):
        LEARNERS.ordered(["DBGD", "Unheard of"])


def test_order_is_that_of_registration():
    assert USERS.ordered(["informational", "perfect", "perfect"]) == ["perfect", "informational"]


def test_names_with_a_square_are_spelled_with_it_and_others_as_they_are():
    assert spelled("P2LinRank, N = 2 − P2NeurRank") == "P²LinRank, N = 2 − P²NeurRank"
    assert spelled("P2 PDGD XP2LinRank") == "P2 PDGD XP2LinRank"


def test_a_legend_shows_each_name_once_and_spelled():
    fig, axes = panels(["one", "two"], pd.DataFrame())
    for ax in axes:
        ax.plot([0, 1], [1, 2], label="P2LinRank")
    legend(fig, axes)
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["P²LinRank"]


def test_stacked_panels_share_the_y_axis_of_their_row_only():
    fig, axes = stacked(["a", "b"], ["one", "two", "three"], pd.DataFrame())
    assert [[ax.get_title() for ax in row] for row in axes] == [["one", "two", "three"], ["", "", ""]]
    axes[0][0].set_ylim(0, 1)
    axes[1][0].set_ylim(0, 9)
    assert axes[0][2].get_ylim() == (0, 1) and axes[1][2].get_ylim() == (0, 9)
    assert fig.get_size_inches()[0] == WIDTH


def test_tiled_panels_stand_in_rows_and_none_is_empty():
    fig, axes = tiled(["a", "b", "c"], pd.DataFrame(), columns=2)
    assert [ax.get_title() for ax in axes] == ["a", "b", "c"] == [ax.get_title() for ax in fig.axes]
    assert len({ax.get_position().y0 for ax in axes}) == 2


@pytest.mark.parametrize("rows", [2, 3])
def test_a_drawing_of_more_panels_than_a_reader_takes_in_is_refused(rows):
    draw = styled(lambda: stacked(range(rows), ["one", "two", "three"], pd.DataFrame())[0])
    if 3 * rows <= MOST_PANELS:
        assert len(draw().panels()) == 3 * rows
    else:
        with pytest.raises(TooManyPanels, match="9 panels"):
            draw()


def test_a_bar_of_colours_is_no_panel():
    fig, (ax,) = panels([""], pd.DataFrame())
    fig.colorbar(ax.imshow([[0, 1]]), ax=ax)
    assert fig.panels() == [ax]


def test_a_drawing_hands_its_alternative_text_on_with_its_image():
    fig, _ = panels([""], pd.DataFrame())
    assert fig._repr_mimebundle_()[1] == {}
    fig.alt = "A is highest."
    data, facts = fig._repr_mimebundle_()
    assert "<svg" in data["image/svg+xml"] and facts == {"image/svg+xml": {"alt": "A is highest."}}


def test_text_is_legible_at_the_width_of_a_page():
    pixels_per_point = RC["figure.dpi"] / 72
    assert WIDTH * RC["figure.dpi"] == 700
    assert all(
        size * pixels_per_point >= 11
        for name, size in RC.items()
        if name.endswith(("size", "fontsize")) and "marker" not in name
    )


def test_the_callers_settings_neither_enter_nor_leave():
    seen = {}

    @styled
    def draw():
        seen.update(mpl.rcParams)
        return panels([""], pd.DataFrame())[0]

    with mpl.rc_context({"font.size": 33}):
        draw()
        assert mpl.rcParams["font.size"] == 33
    assert seen["font.size"] == RC["font.size"]


def test_a_drawing_shows_itself_without_a_display_and_always_the_same():
    code = """
import pandas as pd
from ol2r.report.style import panels, styled

@styled
def draw():
    fig, (ax,) = panels(["one"], pd.DataFrame())
    ax.plot([0, 1], [1, 2])
    return fig

svg = draw()._repr_svg_()
assert "<svg" in svg and svg == draw()._repr_svg_()
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_a_logarithmic_axis_of_a_power_of_ten_or_more_has_few_ticks_between_and_others_keep_theirs():
    @styled
    def draw(low, high, scale):
        fig, (ax,) = panels([""], pd.DataFrame())
        ax.plot([low, high], [low, high])
        ax.set(xlim=(low, high), xscale=scale)
        return fig

    def between(*limits):
        return list(draw(*limits).panels()[0].get_xticks(minor=True))

    few = {tick for tick in between(1, 100, "log") if 1 <= tick <= 100}
    assert few == {m * each for m in (1, 10) for each in BETWEEN}
    assert len([tick for tick in between(1, 5, "log") if 1 < tick < 5]) > len(BETWEEN)
    assert between(1, 100, "linear") == []
