"""The strip under a figure: everything it is given is on the page, and a strip with a gap does not build."""

import html
import re
from pathlib import Path
from urllib.parse import unquote

import provenance
import pytest
import yaml
from docutils import nodes
from pybtex.database import parse_string

STRIP = {
    "anchor": "sample-fig-1", "tier": "paper", "data": "none", "rounds": 1, "seeds": 1, "steps": 2, "runs": 3,
    "device": "cpu", "code": "0.1.0", "csv": "sample-fig-1.csv", "command": "ol2r run sample", "title": "A sample",
    "keys": ["abc"], "source": "",
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
    facts = ("tier paper", "rounds 1", "steps 2", "runs 3", "device cpu", "code 0.1.0")
    for fact in (*facts, "run sample --item sample-fig-1", "@misc{"):
        assert fact in page


def test_the_data_of_a_strip_can_be_downloaded(sample_html: Path):
    page = (sample_html / "index.html").read_text()
    (first, *others) = re.findall(r'href="(_downloads/[^"]+\.csv)"', page)
    assert others == [first]
    assert (sample_html / first).read_text() == "x,y\n0,0\n1,1\n"


def test_the_strip_of_a_figure_links_the_source_of_the_function_that_drew_it(sample_html: Path):
    page = (sample_html / "index.html").read_text()
    (address,) = re.findall(r'href="(_sources/src/[^"]+)"', page)
    path, _, wanted = html.unescape(address).partition("#:~:text=")
    assert unquote(wanted) in (sample_html / path).read_text()
    assert (sample_html / path).read_text() == (provenance.edition.ROOT / "src/ol2r/report/figures.py").read_text()


@pytest.mark.parametrize(
    ("caption", "title"),
    [
        ("Offline score, mean over runs.", "Offline score, mean over runs"),
        ("(The paper's Figure 2.) Offline score. Mean over runs.", "(The paper's Figure 2.) Offline score"),
        ("As Fig. 1.2, for NSGD. Mean\nover runs.", "As Fig. 1.2, for NSGD"),
        ("No full stop", "No full stop"),
    ],
)
def test_a_title_is_the_first_sentence_of_the_caption(caption, title):
    assert provenance.first_sentence(caption) == title


def test_a_caption_in_bibtex_keeps_its_formulae_and_escapes_its_signs():
    caption = nodes.caption("", "", nodes.Text("85 % of "), nodes.math("", "k_g"), nodes.emphasis("", " A_B & {C}"))
    assert provenance.plain(caption) == r"85 \% of $k_g$ A\_B \& C"
    signs = nodes.Text(r"$\input{x}~^")
    assert provenance.plain(signs) == r"\$\textbackslash{}inputx\textasciitilde{}\textasciicircum{}"


def test_characters_that_pdflatex_does_not_set_become_commands():
    signs = nodes.Text("α = 10⁻⁴, λ, P²LinRank, w₀ – “✔” ▲ 3 × 5")
    told = provenance.plain(signs)
    assert told == (
        r"$\alpha$ = 10$^{-}$$^{4}$, $\lambda$, P$^{2}$LinRank, w$_{0}$ -- ``$\surd$'' $\triangle$ 3 $\times$ 5"
    )
    entry = provenance.bibtex(STRIP, "t", "https://example.org/")
    assert "  url = {https://example.org/sample.html#sample-fig-1},\n" in entry
    assert "url" not in provenance.bibtex(STRIP, "t", "")


def entries(page: Path) -> list[str]:
    text = html.unescape(re.sub(r"<[^>]+>", "", page.read_text()))
    return re.findall(r"^@misc\{.*?^\}", text, re.MULTILINE | re.DOTALL)


def test_an_entry_has_the_figure_s_number_and_caption(sample_html: Path):
    figure, *_ = entries(sample_html / "index.html")
    assert figure.startswith("@misc{ol2r-sample-fig-1,\n  title = {Figure 1: ")
    assert "sample.html\\#sample-fig-1" in figure and "CC BY 4.0" in figure


def test_all_entries_of_the_book_parse_and_no_two_have_the_same_title(published_html: Path):
    texts = [entry for page in sorted(published_html.glob("*.html")) for entry in entries(page) if "{ol2r-" in entry]
    parsed = parse_string("\n".join(texts), "bibtex")
    assert len(parsed.entries) == len(texts) > 100
    set_by_tex = re.compile(r"[\x20-\x7e\n\u00c0-\u017e]*")  # and Latin letters with accents
    assert [text for text in texts if not set_by_tex.fullmatch(text)] == []
    fields = [entry.fields for entry in parsed.entries.values()]
    assert all({"title", "howpublished", "note"} <= each.keys() for each in fields)
    assert len({each["title"] for each in fields}) == len(fields)
    assert len({each["howpublished"] for each in fields}) == len(fields)


def test_a_strip_prints_the_first_keys_and_says_how_many_more_the_csv_has():
    keys = [f"key-{number}" for number in range(2024)]
    assert provenance.listed(keys[:24]) == "\n".join(keys[:24])
    assert provenance.listed(keys).splitlines() == [*keys[:24], "and 2,000 more: the column key of the CSV"]
