from dataclasses import replace

import pandas as pd
import pytest
import yaml

from ol2r.report import figures
from ol2r.report.strip import strip


def block(text):
    first, *body, last, end = text.split("\n")
    assert (first, last, end) == (":::{provenance}", ":::", "")
    return yaml.safe_load("\n".join(body))


@pytest.fixture
def written(tmp_path, monkeypatch, grid, invented_results):
    monkeypatch.chdir(tmp_path)

    def write(**changes):
        results = replace(invented_results(grid), **changes)
        table = figures.learning_curves(grid).table
        return block(strip(results, table, anchor="nsgd-fig-2", command="ol2r run nsgd", csv="data/nsgd-fig-2.csv"))

    return write


def test_a_strip_has_what_the_books_directive_reads(written):
    provenance = pytest.importorskip("provenance")
    assert set(written()) == provenance.KEYS


def test_a_strip_tells_where_its_numbers_came_from(written):
    told = written()
    assert (told["anchor"], told["tier"], told["rounds"], told["seeds"]) == (
        "nsgd-fig-2",
        "paper",
        1000,
        "15 × 5 folds",
    )
    assert told["data"] == "MQ2008; TD2003 (data not at hand)"
    assert (told["device"], told["code"], told["command"]) == ("cpu", "ol2r 0.1.0, c0dec0dec0de", "ol2r run nsgd")
    assert len(told["keys"]) == 15


def test_results_of_changed_code_say_so(written):
    changed = ({"device": "cpu", "ol2r": "0.1.0", "code": "ab" * 32, "dirty": True},)
    assert written(provenance=changed)["code"].endswith("with local changes")


def test_the_entry_to_cite_names_anchor_version_and_data(written):
    entry = written()["bibtex"]
    assert entry.startswith("@misc{ol2r-nsgd-fig-2,") and entry.endswith("}")
    for part in ("nsgd.html\\#nsgd-fig-2", "ol2r 0.1.0", "MQ2008", "paper tier", "title = {Offline NDCG@10}"):
        assert part in entry


def test_the_file_holds_the_drawn_aggregate(written, grid, tmp_path):
    told = written()
    stored = pd.read_csv(tmp_path / told["csv"])
    drawn = figures.learning_curves(grid).table
    assert list(stored) == list(drawn) and len(stored) == len(drawn)
    assert stored["mean"].to_numpy() == pytest.approx(drawn["mean"].to_numpy(), abs=1e-5)


@pytest.mark.parametrize("column", ["seed", "query_id", "document"])
def test_values_of_single_runs_queries_or_documents_are_refused(tmp_path, grid, invented_results, column):
    table = pd.DataFrame({column: [1], "ndcg": [0.5]})
    with pytest.raises(ValueError, match=column):
        strip(invented_results(grid), table, anchor="a", command="c", csv=str(tmp_path / "x.csv"))
    assert not (tmp_path / "x.csv").exists()
