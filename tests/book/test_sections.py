"""What the search page knows of a page: its sections, with their own text in one line."""

import sections
from docutils import nodes
from sphinx import addnodes


def test_the_text_of_a_section_leaves_out_its_parts_code_and_strips():
    inner = nodes.section("", nodes.title("", "Inside"), nodes.paragraph("", "Deep."), ids=["inside"])
    formula = nodes.paragraph("", "", nodes.Text("Let "), nodes.math("", r"\alpha"), nodes.Text(" be\nsmall."))
    strip = nodes.container("", nodes.paragraph("", "Data: none."), classes=["provenance"])
    code = nodes.literal_block("", "x = 1")
    outer = nodes.section("", nodes.title("", "Whole"), formula, code, strip, inner, ids=["whole"])
    assert list(sections.sections(nodes.section("", outer))) == [
        {"anchor": "whole", "title": "Whole", "text": r"Let \(\alpha\) be small."},
        {"anchor": "inside", "title": "Inside", "text": "Deep."},
    ]


def test_an_object_of_the_library_is_found_by_its_name():
    signature = addnodes.desc_signature("", "", ids=["ol2r.compare"], fullname="compare")
    content = addnodes.desc_content("", nodes.paragraph("", "Compare learners."))
    page = nodes.section("", nodes.title("", "Room"), addnodes.desc("", signature, content), ids=["room"])
    whole = nodes.section("", page)
    assert list(sections.sections(whole))[1] == {
        "anchor": "ol2r.compare", "title": "compare", "text": "Compare learners.",
    }  # fmt: skip
