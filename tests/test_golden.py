"""Tests of the golden snapshots, on small invented ones."""

import golden
import pytest

SVG = '<svg>\n<path d="M 0 0"/>\n</svg>\n'
STRIP = ':::{provenance}\nanchor: "toy-fig-1"\nsource: "ol2r.report.figures.curves"\n:::\n'


def _cell(*outputs, source="", name=""):
    metadata = {"mystnb": {"figure": {"name": name}}} if name else {}
    return {"source": source, "metadata": metadata, "outputs": list(outputs)}


def _text(text):
    return {"data": {"text/markdown": text, "text/plain": "<Markdown object>"}, "metadata": {}}


def _drawing(svg=SVG, alt="a line rises"):
    return {"data": {"image/svg+xml": svg, "text/plain": "Drawing"}, "metadata": {"image/svg+xml": {"alt": alt}}}


@pytest.fixture
def snapshots(tmp_path):
    """Write a snapshot of one claim and one page and another with some parts replaced; give what `compare` tells."""

    def compare(**replaced):
        told = []
        for folder, parts in ((tmp_path / "before", {}), (tmp_path / "after", replaced)):
            parts = {"verdict": "reproduced", "text": "It rises.", "svg": SVG, "alt": "a line rises"} | parts
            parts = {"strip": STRIP, "label": "(toy-part)=", "csv": "x,y\n1,2\n", "page": "toy", "id": "sec"} | parts
            golden.record_verdicts(folder, [{"paper": "toy", "id": "1a", "verdict": parts["verdict"]}])
            drawn = _cell(_drawing(parts["svg"], parts["alt"]), name="toy-fig-1")
            cells = [_cell(source=parts["label"]), _cell(_text(parts["text"])), drawn, _cell(_text(parts["strip"]))]
            golden.record_page(folder, parts["page"], cells, [parts["id"]])
            golden.write(folder / "files" / "data" / "toy-fig-1.csv", parts["csv"])
            told.append(folder)
        return list(golden.differences(*told))

    return compare


def test_equal_snapshots_have_no_difference(snapshots):
    assert snapshots() == []


@pytest.mark.parametrize(
    ("replaced", "named", "line"),
    [
        ({"verdict": "undecided"}, "verdicts: toy-1a.json differs", '+ "verdict": "undecided"'),
        ({"text": "It falls."}, "texts: toy.md differs", "-It rises."),
        ({"alt": "a line falls"}, "texts: toy.md differs", "+drawing 1: a line falls"),
        ({"svg": SVG.replace("0 0", "0 1")}, "figures: toy/01.svg differs", '+<path d="M 0 1"/>'),
        ({"csv": "x,y\n1,3\n"}, "files: data/toy-fig-1.csv differs", "+1,3"),
        (
            {"strip": STRIP.replace("curves", "lines")},
            "sources: toy.txt differs",
            '+source: "ol2r.report.figures.lines"',
        ),
        ({"label": "(toy-piece)="}, "addresses: toy.txt differs", "+toy-piece"),
        ({"id": "section"}, "addresses: toy.txt differs", "-sec"),
    ],
)
def test_each_kind_of_difference_is_told_apart(snapshots, replaced, named, line):
    (told,) = snapshots(**replaced)
    first, *lines = told.splitlines()
    assert first == named
    assert line in lines


def test_what_a_run_alone_changes_is_no_difference(tmp_path):
    for folder, text in (("before", "<Figure at 0x7f00ab>"), ("after", "<Figure at 0x7f00cd>")):
        golden.record_page(tmp_path / folder, "toy", [_cell(_text(text))])
    assert list(golden.differences(tmp_path / "before", tmp_path / "after")) == []


def test_what_is_gone_is_a_difference_and_a_page_left_out_is_none(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, names in ((before, ("one", "two")), (after, ("one",))):
        for name in names:
            golden.record_page(folder, name, [_cell(_text("It rises."))])
    golden.record_verdicts(before, [{"paper": "toy", "id": "1a"}])
    assert list(golden.differences(before, after)) == []
    golden.record_verdicts(after, [{"paper": "toy", "id": "1b"}])
    golden.write(after / "figures" / "one" / "01.svg", SVG)
    told = ["figures: one/01.svg is new", "verdicts: toy-1a.json is gone", "verdicts: toy-1b.json is new"]
    assert list(golden.differences(before, after)) == told


def test_a_long_difference_is_cut_and_counted(tmp_path):
    for name, line in (("before", "a\n"), ("after", "b\n")):
        golden.write(tmp_path / name / "files" / "long.csv", line * 100)
    (told,) = golden.differences(tmp_path / "before", tmp_path / "after")
    assert told.endswith("(201 lines)")
    assert len(told.splitlines()) == golden.SHOWN + 2
