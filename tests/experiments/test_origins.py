import dataclasses

import pytest
from fakes import Fake

from ol2r import data, papers
from ol2r.data import CATALOGUE, NOT_AT_HAND
from ol2r.errors import DataError, ExperimentError
from ol2r.experiments import origins, runner
from ol2r.experiments.cells import Item, Job, Row
from ol2r.experiments.kinds.fit import Fit
from ol2r.experiments.origins import AtHand
from ol2r.experiments.store import Store

PUBLISHED = Store.open().publication
LINES = [f"{i % 3} qid:{i} 1:{i} 46:3\n0 qid:{i} 1:{i + 1}\n" for i in range(1, 6)]


@pytest.fixture
def mq2007(tmp_path, monkeypatch):
    """MQ2007 of two documents a query, where the catalogue says so; `write` puts it in place."""
    small = dataclasses.replace(CATALOGUE["MQ2007"], n_queries=5, n_documents=10)
    monkeypatch.setitem(CATALOGUE, "MQ2007", small)
    monkeypatch.setenv("OL2R_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OL2R_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OL2R_CONFIG", str(tmp_path / "config"))

    def write(last: str = "3", more: str = "") -> None:
        parts = [line.replace("46:3", f"46:{last}") for line in LINES]
        for fold in range(1, 6):
            for split, text in (("train", "".join(parts[:3])), ("vali", parts[3]), ("test", parts[4] + more)):
                path = tmp_path / "data" / "MQ2007" / f"Fold{fold}" / f"{split}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    return write


def fit() -> Fit:
    return Fit(dataset="MQ2007", checksum=data.checksum("MQ2007"), k=10)


ROW = (Row(1, 0),)


def test_old_rows_are_not_served_for_data_that_changed(mq2007, tmp_path):
    store = Store(None, tmp_path / "store")
    assert (fit().checksum, AtHand().missing(fit())) == (NOT_AT_HAND, "MQ2007")
    mq2007()
    first = fit()
    assert AtHand().missing(first) is None
    runner.run([Job(first, ROW)], store, progress=False)
    assert store.missing(fit(), ROW) == ()
    mq2007(last="4")
    assert fit().key != first.key
    assert store.missing(fit(), ROW) == ROW
    mq2007()
    assert store.missing(fit(), ROW) == ()


def test_results_that_only_absent_data_could_identify_are_not_undeclared(mq2007, tmp_path, monkeypatch):
    mq2007()
    store = Store(None, tmp_path / "store")
    runner.run([Job(fit(), ROW)], store, progress=False)
    (path,) = store.scratch.glob("*/*.parquet")
    assert not origins.awaits_data(path)
    (tmp_path / "data" / "MQ2007").rename(tmp_path / "data" / "elsewhere")
    assert origins.awaits_data(path)
    path.write_bytes(b"PAR1")
    assert not origins.awaits_data(path)


def test_a_cell_is_not_computed_from_data_it_was_not_declared_with(mq2007, tmp_path):
    mq2007()
    declared = fit()
    mq2007(last="4")
    store = Store(None, tmp_path / "store")
    with pytest.raises(runner.JobsFailed, match="MQ2007 has changed: expected the checksum"):
        runner.run([Job(declared, ROW)], store, progress=False)
    assert store.missing(declared, ROW) == ROW


def test_nothing_is_found_under_a_checksum_that_nobody_knows(mq2007, tmp_path):
    store = Store(None, tmp_path / "store")
    absent = fit()
    mq2007()
    with pytest.raises(runner.JobsFailed, match="expected the checksum not at hand"):
        runner.run([Job(absent, ROW)], store, progress=False)


def test_a_set_of_the_wrong_size_can_neither_be_declared_nor_run(mq2007):
    mq2007(more="0 qid:5 1:9\n")
    with pytest.raises(DataError, match=r"expected 5 queries, 10 documents.* found 5 queries, 11"):
        fit()
    with pytest.raises(DataError, match=r"expected 5 queries, 10 documents.* found 5 queries, 11"):
        origins.check_data([Job(Fit("MQ2007", "any", 10), ROW)])


def test_provenance_tells_what_was_read(mq2007, tmp_path):
    mq2007()
    store = Store(None, tmp_path / "store")
    runner.run([Job(fit(), ROW)], store, progress=False)
    (record,) = store.read(fit(), ROW).provenance
    counts = {"queries": 5, "documents": 10, "features": 46}
    assert record["data"] == {
        "name": "MQ2007",
        "checksum": fit().checksum,
        "confirmed": False,
        "counts": counts,
    }


def test_a_cell_without_data_has_none_in_its_provenance():
    assert origins.read_for(Fake()) is None


def stored_checksums(declaration) -> set[tuple[str | None, str]]:
    """(data set, checksum) of all that a stored declaration rests on."""
    if isinstance(declaration, list):
        return set().union(*map(stored_checksums, declaration))
    if not isinstance(declaration, dict):
        return set()
    found = set().union(*map(stored_checksums, declaration.values()))
    if isinstance(checksum := declaration.get("checksum"), str):
        found.add((declaration.get("dataset"), checksum))
    return found


@pytest.mark.skipif(PUBLISHED is None, reason="results/ is not part of the package")
def test_stored_results_are_of_sets_whose_checksum_the_catalogue_knows(monkeypatch, tmp_path):
    """So they are found again with nothing at hand."""
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    monkeypatch.setenv("OL2R_CONFIG", str(tmp_path))
    known = {(name, data.checksum(name)) for name in CATALOGUE}
    known |= {(None, it.checksum) for it in CATALOGUE.values() if it.kind == "clicks"}
    found = stored_checksums([record["cell"] for record in PUBLISHED.records()])
    assert found and found <= known
    assert NOT_AT_HAND not in {checksum for _, checksum in found}


@pytest.mark.skipif(PUBLISHED is None, reason="results/ is not part of the package")
def test_declared_cells_are_found_in_results_with_nothing_at_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    monkeypatch.setenv("OL2R_CONFIG", str(tmp_path))
    stored = PUBLISHED.keys()
    jobs = [job for name in papers.NAMES for item in papers.paper(name).items.values() for job in item.jobs("paper")]
    found = {origins.dataset_of(job.cell) for job in jobs if job.cell.key in stored}
    assert {"MQ2008", "MQ2007_partial85", "Yandex_60Q_click_models", "synthetic-mslr"} <= found
    at_hand = AtHand()
    absent = [job.cell for job in jobs if origins.dataset_of(job.cell) == "MQ2007"]
    assert absent and all(cell.key not in stored and at_hand.missing(cell) for cell in absent)


def named(*datasets: str | None) -> Item:
    cells = [Fake(name=str(name), data=name) for name in datasets]
    return Item("one", lambda tier: cells, {"laptop": range(1)})


def test_only_names_that_are_declared_may_be_chosen(monkeypatch):
    both = ["MQ2008", "TD2003"]
    assert origins.names_of(both, [named("MQ2008"), named("TD2003")], "laptop", "nsgd") == both
    with pytest.raises(ExperimentError, match="no data set 'MQ2080' in nsgd at tier 'laptop': did you mean 'MQ2008'"):
        origins.names_of(["MQ2080"], [named("MQ2008")], "laptop", "nsgd")
    monkeypatch.setattr(Fake, "labels", lambda self: {"name": self.name})
    for name in ("None", "nosuch", ""):
        with pytest.raises(ExperimentError, match=f"no data set '{name}'"):
            origins.names_of([name], [named(None)], "laptop", "nsgd")
