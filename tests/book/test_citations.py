"""No two works are cited alike."""

import re
from pathlib import Path

import citations
import edition
from pybtex.database import parse_file

REFERENCES = edition.ROOT / "book" / "references.bib"


def entries():
    return parse_file(str(REFERENCES)).entries


def test_works_that_read_alike_get_letters_in_the_order_of_their_titles():
    found = entries()
    citations.letter(found)
    years = {key: entry.fields["year"] for key, entry in found.items()}
    assert (years["jia2022olranknet"], years["jia2022p2neurrank"]) == ("2022a", "2022b")
    same = ("hofmann2013balancing", "hofmann2013fidelity", "hofmann2013reusing")
    assert [years[key] for key in same] == ["2013a", "2013b", "2013c"] and years["jia2021pairrank"] == "2021"


def test_no_two_works_are_cited_alike():
    found = entries()
    citations.letter(found)
    cited = [(citations.names(entry), entry.fields["year"]) for entry in found.values()]
    assert len(set(cited)) == len(cited)


def test_a_work_has_at_most_one_doi_and_it_reads_as_one():
    dois = [entry.fields["doi"] for entry in entries().values() if "doi" in entry.fields]
    assert len(set(dois)) == len(dois) > 25
    assert all(re.fullmatch(r"10\.\d{4}/\S+", doi) for doi in dois)


def test_labels_in_the_book_have_their_letters(published_html: Path):
    text = (published_html / "cite.html").read_text()
    assert "2022a" in text and "2022b" in text
