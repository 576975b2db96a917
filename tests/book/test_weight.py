"""A page loads the icons that it shows and no others, and knows the size of a drawing before it has it."""

import weight


def test_the_script_of_icons_keeps_the_icons_that_are_used():
    script = 'pack({bars:[448,512,["navicon"],"f0c9","M0 96"],"arrow-up":[384,512,[8593],"f062","M214 9"]});'
    assert weight.only(script, {"arrow-up"}) == 'pack({"arrow-up":[384,512,[8593],"f062","M214 9"]});'
    assert weight.only(script, {"bars", "arrow-up"}) == script


def test_the_size_of_a_drawing_is_in_pixels(tmp_path):
    drawing = tmp_path / "a.svg"
    drawing.write_text('<?xml version="1.0"?><svg xmlns:xlink="x" width="504pt" height="300pt" viewBox="0 0 504 300">')
    page = '<p><img alt="A line" src="a.svg"/><img alt="A line" src="_images/a.svg"/></p>'
    (tmp_path / "_images").mkdir()
    drawing.rename(tmp_path / "_images" / "a.svg")
    lazy = '<img loading="lazy" width="672" height="400" alt="A line" src="_images/a.svg"/>'
    assert weight.light(page, tmp_path) == f'<p><img alt="A line" src="a.svg"/>{lazy}</p>'


def test_a_drawing_has_its_places_to_a_hundredth_and_everything_else_as_it_was():
    drawing = (
        '<path id="a" d="M 184.74524 -550.375 \nQ 427.004123 16 3 4 \nz\n" style="stroke-width: 0.8125"/>'
        '<use xlink:href="#a" x="1.00049" y="-0.0001" transform="translate(2.34567 3) scale(0.015625)"/>'
    )
    assert weight.shorter(drawing) == (
        '<path id="a" d="M184.75 -550.38Q427 16 3 4z" style="stroke-width: 0.8125"/>'
        '<use xlink:href="#a" x="1" y="-0" transform="translate(2.35 3) scale(0.015625)"/>'
    )
