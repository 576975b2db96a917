"""The front page's answers: a sentence a paper, from stored results alone."""

import pytest

from ol2r import papers
from ol2r.errors import ExperimentError


@pytest.mark.parametrize("name", papers.PAPERS)
def test_every_paper_has_one_sentence_of_answer_with_its_numbers(name):
    told = papers.answer(name, "paper")
    assert told.endswith(".") and told.count(". ") == 0 and len(told.split()) <= 60
    assert sum(any(letter.isdigit() for letter in word) for word in told.split()) >= 3


def test_without_results_there_is_no_answer_and_the_comparison_has_none(monkeypatch, tmp_path):
    monkeypatch.setenv("OL2R_RESULTS", str(tmp_path))
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    assert papers.answer("nsgd", "paper") == ""
    with pytest.raises(ExperimentError):
        papers.answer("comparison")
