"""Figures of the published book, read from their images: how many panels, and which colours stand together."""

import itertools
import math
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from colours import LEAST, apart

from ol2r.report import fitting
from ol2r.report.style import MOST_PANELS, panels, styled

GROUP = "{http://www.w3.org/2000/svg}g"
XLINK = "http://www.w3.org/1999/xlink"
LINK = f"{{{XLINK}}}href"
TEXT = re.compile(r'^(?P<indent> *)<g id="text_\d+">\n(?P<inside>.*?)^(?P=indent)</g>', re.MULTILINE | re.DOTALL)
GLYPH = re.compile(r'<path id="([^"]+)"(?: d="([^"]*)")?(?: transform="([^"]*)")?/>')
SLACK = 1.0
"""Points by which a text may reach beyond its drawing: less than the blank that a letter has around it."""


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


def texts_outside(svg: str) -> list[str]:
    """The texts of an image that matplotlib wrote which reach beyond its edge, each with by how many points."""
    left, top, width, height = map(float, re.findall(r'viewBox="([^"]*)"', svg)[0].split())
    glyphs = {f"#{name}": corners(path, step) for name, path, step in GLYPH.findall(svg)}
    found = []
    for text in TEXT.finditer(svg):
        group = ElementTree.fromstring(f'<g xmlns:xlink="{XLINK}">{text["inside"]}</g>')
        out = max((max(left - x, top - y, x - width, y - height) for x, y in placed(group, glyphs)), default=0.0)
        if out > SLACK:
            found.append(f"{out:.0f} points: {' / '.join(re.findall('<!-- (.*?) -->', text['inside'], re.DOTALL))}")
    return found


Point = tuple[float, float]


@cache  # the drawings share their letters
def corners(path: str, transform: str) -> list[Point]:
    """The corners of the box around a glyph, in its text's units; a blank has none."""
    numbers = list(map(float, re.findall(r"-?[\d.]+", path)))
    return moved(box(list(zip(numbers[::2], numbers[1::2], strict=True))), transform)


def box(points: list[Point]) -> list[Point]:
    """The corners of the box around points."""
    if not points:
        return []
    xs, ys = zip(*points, strict=True)
    return [(x, y) for x in (min(xs), max(xs)) for y in (min(ys), max(ys))]


def placed(element: ElementTree.Element, glyphs: dict[str, list[Point]]) -> list[Point]:
    """The corners of the box around all glyphs inside an element, in the units of the element's parent."""
    points = list(glyphs[element.get(LINK, "")]) if element.tag == "use" else []
    for part in element:
        points += placed(part, glyphs) if part.tag in ("g", "use") else []
    return moved(box(points), element.get("transform", ""))


def moved(points: list[Point], transform: str) -> list[Point]:
    """Points after a transformation as matplotlib writes it, of which the last step comes first."""
    for kind, told in reversed(re.findall(r"(\w+)\(([^)]*)\)", transform)):
        a, *rest = map(float, told.split())
        b = rest[0] if rest else a
        if kind == "translate":
            points = [(x + a, y + b) for x, y in points]
        elif kind == "scale":
            points = [(x * a, y * b) for x, y in points]
        elif kind == "rotate":
            c, s = math.cos(math.radians(a)), math.sin(math.radians(a))
            points = [(c * x - s * y, s * x + c * y) for x, y in points]
        else:
            raise ValueError(f"{kind} of a text")
    return points


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


def test_a_text_that_reaches_beyond_the_edge_is_found_however_it_is_turned(monkeypatch):
    monkeypatch.setattr(fitting, "wrap_labels", lambda figure: None)

    @styled
    def draw():
        fig, (ax,) = panels([""], None)
        ax.set(title="inside $x^{10}$", ylabel="upwards, inside")
        return fig

    fig = draw()
    assert texts_outside(fig._repr_svg_()) == []
    fig.text(0.98, 0.5, "to the right")
    fig.text(0.02, 0.95, "beyond\nthe edge", rotation=90, verticalalignment="bottom")
    fig.text(0.3, 0.002, "g", verticalalignment="top")
    found = texts_outside(fig._repr_svg_())
    assert [each.split(": ")[1] for each in found] == ["to the right", "beyond / the edge", "g"]
    assert all(float(each.split()[0]) > 3 for each in found)


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


def test_no_text_of_a_figure_lies_beyond_its_edge(published_html):
    """The narrow forms for phones are read too."""
    outside = {
        name: found for name, svg in published_images(published_html).items() if (found := texts_outside(svg))
    }
    assert outside == {}
