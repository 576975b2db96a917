"""Figures of the published book, read from their images: how many panels, and which colours stand together."""

import itertools
import math
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from colours import LEAST, apart

from ol2r.report import fitting
from ol2r.report.style import MOST_PANELS, in_parts, legend, panels, styled

GROUP = "{http://www.w3.org/2000/svg}g"
XLINK = "http://www.w3.org/1999/xlink"
LINK = f"{{{XLINK}}}href"
TEXT = re.compile(r'^(?P<indent> *)<g id="text_\d+">\n(?P<inside>.*?)^(?P=indent)</g>', re.MULTILINE | re.DOTALL)
GLYPH = re.compile(r'<path id="([^"]+)"(?: d="([^"]*)")?(?: transform="([^"]*)")?/>')
SLACK = 1.0
"""Points by which a text may reach beyond its drawing: less than the blank that a letter has around it."""


def groups(svg: str, kind: str) -> list[ElementTree.Element]:
    """The parts of a kind, such as "axes" or "legend", of an image that matplotlib wrote."""
    parts = ElementTree.fromstring(svg).iter(GROUP)
    return [part for part in parts if re.fullmatch(rf"{kind}_\d+", part.get("id", ""))]


def colours(lines: Iterable[ElementTree.Element]) -> set[str]:
    """The colours of some lines."""
    styles = (" ".join(part.get("style", "") for part in line.iter()) for line in lines)
    return {colour[1] for style in styles if (colour := re.search(r"stroke: (#[0-9a-f]{6})", style))}


def panels_of(svg: str) -> list[set[str]]:
    """The colours of the lines of each panel of an image that matplotlib wrote."""
    return [
        colours(each for each in axes if re.fullmatch(r"line2d_\d+", each.get("id", "")))
        for axes in groups(svg, "axes")
    ]


def read_together(svg: str) -> list[set[str]]:
    """Colours of an image that a reader has to tell apart: those of all its panels.

    Where a part of the panels has a legend of its own, or the one legend names no colour because the names stand at the
    lines, they are those of each panel and of each legend.
    """
    panels = panels_of(svg)
    legends = [colours(legend.iter(GROUP)) for legend in groups(svg, "legend")]
    apart = len(legends) > 1 or (len(legends) == 1 and len(legends[0]) < 2)
    return [*panels, *legends] if apart else [set().union(*panels, *legends)]


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


def drawn(named: bool, legends: int) -> str:
    """A drawing of two panels with a red line in one and a blue one in the other, beside lines in ink."""

    @styled
    def draw():
        fig, parts = in_parts("ab", ["panel"], None)
        for colour, (_, (ax,)) in zip(("#c40041", "#0042b5"), parts, strict=True):
            ax.plot([0, 1], [1, 2], color=colour, label=colour if named else None)
            ax.plot([0, 1], [2, 1], color="#222222", label="ink")
        for part, axes in parts if legends == 2 else [(fig, [*parts[0][1], *parts[1][1]])]:
            legend(part, axes)
        return fig

    return draw()._repr_svg_()


def test_the_colours_of_all_panels_are_read_together_unless_legends_or_names_at_the_lines_part_them():
    red, blue = {"#c40041", "#222222"}, {"#0042b5", "#222222"}
    assert read_together(drawn(named=True, legends=1)) == [red | blue]
    assert read_together(drawn(named=True, legends=2)) == [red, blue, red, blue]
    assert read_together(drawn(named=False, legends=1)) == [red, blue, {"#222222"}]


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


def test_colours_of_a_figure_are_apart_for_everyone(published_html):
    close = {
        name: found
        for name, svg in published_images(published_html).items()
        for found in map(too_close, read_together(svg))
        if found
    }
    assert close == {}


def test_no_text_of_a_figure_lies_beyond_its_edge(published_html):
    """The narrow forms for phones are read too."""
    outside = {
        name: found for name, svg in published_images(published_html).items() if (found := texts_outside(svg))
    }
    assert outside == {}
