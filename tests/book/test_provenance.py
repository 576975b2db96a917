"""The strip under a figure: everything it is given is on the page, and a strip with a gap does not build."""

import re
from pathlib import Path

import provenance
import pytest
import yaml

STRIP = {
    "anchor": "sample-fig-1", "tier": "paper", "data": "none", "rounds": 1, "seeds": 1, "device": "cpu",
    "code": "0.1.0", "csv": "sample-fig-1.csv", "command": "ol2r run sample", "bibtex": "@misc{s}", "keys": ["abc"],
}  # fmt: skip


@pytest.mark.parametrize("key", sorted(STRIP))
def test_a_strip_that_lacks_a_key_is_an_error_that_names_it(key):
    with pytest.raises(ValueError, match=rf"missing \['{key}'\], unknown \[\]"):
        provenance.read(yaml.safe_dump({name: value for name, value in STRIP.items() if name != key}))


@pytest.mark.parametrize("text", ["", "just words", "- a list"])
def test_a_block_that_is_no_mapping_lacks_every_key(text):
    with pytest.raises(ValueError, match=r"missing .*'anchor'.*'tier'"):
        provenance.read(text)


def test_a_key_the_strip_does_not_know_is_an_error():
    with pytest.raises(ValueError, match=r"missing \[\], unknown \['colour'\]"):
        provenance.read(yaml.safe_dump({**STRIP, "colour": "red"}))


def test_what_is_not_yaml_is_an_error():
    with pytest.raises(ValueError, match="not YAML"):
        provenance.read("tier: [paper")


def test_the_page_shows_every_fact_the_command_and_the_citation(sample_html: Path):
    page = re.sub(r"<[^>]+>", "", (sample_html / "index.html").read_text())
    for fact in ("tier paper", "rounds 1", "device cpu", "code 0.1.0", "run sample --item sample-fig-1", "@misc{"):
        assert fact in page


def test_the_data_of_a_strip_can_be_downloaded(sample_html: Path):
    page = (sample_html / "index.html").read_text()
    (first, *others) = re.findall(r'href="(_downloads/[^"]+\.csv)"', page)
    assert others == [first]
    assert (sample_html / first).read_text() == "x,y\n0,0\n1,1\n"
