"""What tests of the runner share: a store of its own for each test, and a log of the rows that fakes ran."""

import pytest
from joblib.externals.loky import get_reusable_executor

from ol2r.experiments import publication
from ol2r.experiments.provenance import Origin
from ol2r.experiments.store import Store


@pytest.fixture(autouse=True)
def _as_if_committed(monkeypatch):
    """Results of these tests can be published while the library has uncommitted changes."""
    monkeypatch.setattr(publication, "origin", lambda: Origin("c0de", False))


@pytest.fixture
def store(tmp_path):
    return Store(None, tmp_path / "scratch")


@pytest.fixture
def log(tmp_path, monkeypatch):
    get_reusable_executor().shutdown(wait=True)  # workers of an earlier test do not see this environment
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"
