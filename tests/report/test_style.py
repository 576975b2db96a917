import itertools
import os
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from ol2r.report.style import (
    CHOICES,
    LEARNERS,
    RC,
    USERS,
    WIDTH,
    Look,
    Looks,
    legend,
    panels,
    spelled,
    stacked,
    styled,
)

# severity 1 of Machado, Oliveira and Fernandes (2009), on linear RGB
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(color):
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    x, y, z = np.cbrt(xyz / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("looks", [LEARNERS, USERS, CHOICES], ids=["learners", "users", "choices"])
def test_colours_stay_apart_for_the_colour_blind_or_their_lines_and_markers_do(looks, deficiency):
    matrix = np.array(DEFICIENCIES[deficiency])
    seen = {name: lab(matrix @ linear(looks[name].color)) for name in looks}
    for a, b in itertools.combinations(looks, 2):
        apart = np.linalg.norm(seen[a] - seen[b])
        assert apart > 15 or (looks[a].marker != looks[b].marker and looks[a].line != looks[b].line), (a, b, apart)


@pytest.mark.parametrize("looks", [LEARNERS, USERS, CHOICES], ids=["learners", "users", "choices"])
def test_every_colour_stands_out_from_white_paper(looks):
    for name in looks:
        luminance = linear(looks[name].color) @ [0.2126, 0.7152, 0.0722]
        assert 1.05 / (luminance + 0.05) >= 3, name


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
