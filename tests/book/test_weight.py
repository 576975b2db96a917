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
