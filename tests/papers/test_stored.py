"""What the front page reads: stored results alone."""

import pytest

from ol2r import papers
from ol2r.errors import ExperimentError


def test_results_are_read_and_never_computed(monkeypatch, tmp_path):
    monkeypatch.setenv("OL2R_RESULTS", str(tmp_path))
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    assert papers.stored("nsgd", ["table-2"], "paper") == {}
    with pytest.raises(ExperimentError):
        papers.stored("nothing", [])
