"""Papers that a test declares in the place of the project's own."""

import sys
from types import SimpleNamespace

import pytest

from ol2r import papers
from ol2r.experiments.paper import Paper


def declare(monkeypatch: pytest.MonkeyPatch, *declared: Paper) -> None:
    """Make these the only papers there are."""
    monkeypatch.setattr(papers, "NAMES", tuple(paper.name for paper in declared))
    for paper in declared:
        monkeypatch.setitem(sys.modules, f"ol2r.papers.{paper.name}.grid", SimpleNamespace(PAPER=paper))
