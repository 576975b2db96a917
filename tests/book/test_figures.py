"""Figures of the published book, read from their images: how many panels, and which colours stand together."""

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

from colours import LEAST, apart

from ol2r.report.style import MOST_PANELS, panels, styled

GROUP = "{http://www.w3.org/2000/svg}g"


def panels_of(svg: str) -> list[set[str]]:
    """The colours of the lines of each panel of an image that matplotlib wrote."""
    found = []
    for axes in ElementTree.fromstring(svg).iter(GROUP):
        if re.fullmatch(r"axes_\d+", axes.get("id", "")):
            lines = (each for each in axes if re.fullmatch(r"line2d_\d+", each.get("id", "")))
            styles = (" ".join(part.get("style", "") for part in line.iter()) for line in lines)
            found.append({colour[1] for style in styles if (colour := re.search(r"stroke: (#[0-9a-f]{6})", style))})
    return found


def too_close(colours: set[str]) -> list[str]:
    """Pairs of colours that are not apart as `LEAST` asks, with their distance."""
    return [
        f"{a} {b} {vision}: {apart(a, b, vision):.1f}"
        for a, b in itertools.combinations(sorted(colours), 2)
        for vision, least in LEAST.items()
        if apart(a, b, vision) < least
    ]


def test_lines_are_found_in_their_panels_with_their_colours():
    @styled
    def draw():
        fig, (one, two) = panels(["one", "two"], None)
        one.plot([0, 1], [1, 2], color="#c40041")
        one.errorbar([0, 1], [2, 3], [1, 1], linestyle="", marker="o", color="#0042b5", markerfacecolor="white")
        one.fill_between([0, 1], [0, 0], [1, 1], color="#123456")
        two.axhline(1, color="#666666")
        return fig

    assert panels_of(draw()._repr_svg_()) == [{"#c40041", "#0042b5"}, {"#666666"}]


def test_colours_that_are_too_close_are_found_for_each_vision():
    assert too_close({"#c40041", "#0042b5", "#666666"}) == []
    assert "normal" in too_close({"#c0270d", "#d81e3a"})[0]
    red_and_green = too_close({"#a03020", "#406000"})
    assert red_and_green and not any("normal" in each for each in red_and_green)


def published_images(folder: Path) -> dict[str, str]:
    images = {path.name: path.read_text() for path in (folder / "_images").glob("*.svg")}
    assert len(images) > 50  # the book has as many, or this test reads the wrong place
    return images


def test_no_figure_of_the_book_has_more_panels_than_a_reader_takes_in(published_html):
    counts = {name: len(panels_of(svg)) for name, svg in published_images(published_html).items()}
    assert {name: count for name, count in counts.items() if count > MOST_PANELS} == {}


def test_colours_of_lines_that_stand_together_are_apart_for_everyone(published_html):
    close = {
        name: found
        for name, svg in published_images(published_html).items()
        for found in map(too_close, panels_of(svg))
        if found
    }
    assert close == {}
