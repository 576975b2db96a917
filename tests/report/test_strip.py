from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from ol2r.report import figures
from ol2r.report.strip import Strip, strip


def block(text):
    first, *body, last, end = text.split("\n")
    assert (first, last, end) == (":::{provenance}", ":::", "")
    return yaml.safe_load("\n".join(body))


@pytest.fixture
def written(tmp_path, grid, invented_results):
    def write(*others, drawn=None, **changes):
        own = replace(invented_results(grid), **changes)
        table = figures.learning_curves(grid).table
        made = strip([own, *others] if others else own, table, anchor="nsgd-fig-2", command="c", drawn=drawn)
        told = block(made.block)
        made.write(tmp_path / told["csv"])
        return told

    return write


def test_a_strip_has_what_the_books_directive_reads(written):
    provenance = pytest.importorskip("provenance")
    assert set(written()) == provenance.KEYS


def test_a_strip_tells_where_its_numbers_came_from(written):
    told = written()
    assert (told["anchor"], told["tier"], told["rounds"], told["seeds"]) == (
        "nsgd-fig-2",
        "paper",
        "1000",
        "15 × 5 folds",
    )
    assert told["data"] == "MQ2008; TD2003 (data not at hand)"
    assert (told["device"], told["code"], told["command"]) == ("cpu", "ol2r 0.1.0, c0dec0dec0de", "c")
    assert len(told["keys"]) == 15


def test_data_that_nobody_here_can_confirm_is_marked(written, grid):
    told = written(frame=grid.assign(dataset="MQ2007"))
    assert told["data"].startswith("MQ2007 (checksum unconfirmed)")


def test_results_of_changed_code_say_so(written):
    changed = {"key": "MQ2008/perfect/NSGD", "device": "cpu", "ol2r": "0.1.0", "code": "ab" * 32, "dirty": True}
    assert written(provenance=(changed,))["code"].endswith("with local changes")


def test_a_strip_tells_only_of_the_rows_that_were_drawn(written, grid, invented_results):
    partial = grid.assign(dataset="MQ2007_partial85", cell="partial/" + grid["cell"])
    both = pd.concat([grid, partial])
    records = invented_results(grid).provenance + tuple(
        record | {"device": "cuda", "dirty": True} for record in invented_results(partial).provenance
    )
    nsgd = "learner == 'NSGD' and users == 'perfect' and seed < 3 and fold == 2 and round <= 500"
    told = written(frame=both, provenance=records, drawn=grid.query(nsgd))
    assert (told["data"], told["keys"], told["rounds"], told["seeds"]) == (
        "MQ2008", ["MQ2008/perfect/NSGD"], "500", "3 × 1 fold",
    )  # fmt: skip
    assert told["device"] == "cpu" and "local changes" not in told["code"]
    other = written(frame=both, provenance=records, drawn=partial.query(nsgd))
    assert other["data"] == "MQ2007, 85 % of documents"
    assert other["device"] == "cuda" and other["code"].endswith("with local changes")


def test_a_figure_of_two_items_tells_of_both(written, grid, invented_results):
    screen = grid.query("learner == 'NSGD' and users == 'perfect'").assign(cell="screen", switch="w = 0")
    record = invented_results(screen).provenance[0] | {"code": "ab" * 32}
    other = replace(invented_results(screen), title="Screen", provenance=(record,), not_at_hand=("NP2003",))
    told = written(other)
    assert told["data"] == "MQ2008; TD2003 (data not at hand); NP2003 (data not at hand)"
    assert len(told["keys"]) == 16 and told["code"] == "ol2r 0.1.0, c0dec0dec0de, abababababab"
    assert told["title"] == "Offline NDCG@10"
    cps = grid.query("learner == 'CPS' and users == 'perfect'")
    assert written(other, drawn=pd.concat([cps, screen]))["keys"] == ["MQ2008/perfect/CPS", "screen"]
    assert written(other, drawn=screen)["code"] == "ol2r 0.1.0, abababababab"


def test_the_file_holds_the_drawn_aggregate(written, grid, tmp_path):
    told = written()
    stored = pd.read_csv(tmp_path / told["csv"])
    drawn = figures.learning_curves(grid).table
    assert list(stored) == [*drawn, "key"] and len(stored) == len(drawn)
    of_mgd = stored["users"].eq("perfect") & stored["learner"].eq("MGD")
    assert set(stored["key"][of_mgd]) == {"MQ2008/perfe"}
    assert stored["mean"].to_numpy() == pytest.approx(drawn["mean"].to_numpy(), abs=1e-5)


def test_hostile_texts_reach_the_directive_in_one_line_without_signs_that_cannot_be_seen(tmp_path):
    hostile = "a\u202eb\x85c\x00 d\r\n😀: #x"
    facts = {"title": hostile, "keys": [hostile], "rounds": None, "command": "a\nb"}
    made = Strip(facts, pd.DataFrame({"x\r": [hostile, ""]}))
    right = r"a\u202eb c\x00 d" + "\n😀: #x"
    assert block(made.block) == {"title": right, "keys": [right], "rounds": None, "command": "a\nb"}
    made.write(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().split("\n") == ["x", "a\u202eb c\x00 d 😀: #x", '""', ""]


@pytest.mark.parametrize("column", ["seed", "query_id", "document"])
def test_values_of_single_runs_queries_or_documents_are_refused(grid, invented_results, column):
    table = pd.DataFrame({column: [1], "ndcg": [0.5]})
    with pytest.raises(ValueError, match=column):
        strip(invented_results(grid), table, anchor="a", command="c")


def test_other_numbers_of_runs_and_rounds_are_told_apart_on_the_same_data_too(written, grid):
    shorter = grid.query("seed < 3 and fold == 1 and round <= 500").assign(cell="shorter/" + grid["cell"])
    told = written(frame=pd.concat([grid, shorter]))
    assert (told["seeds"], told["rounds"]) == ("15 × 5 folds or 3 × 1 fold", "1000 or 500")
    without = written(frame=pd.concat([grid, shorter.assign(round=None)]))
    assert (without["seeds"], without["rounds"]) == (told["seeds"], "1000")


def test_a_bandits_rounds_seeds_and_folds_are_steps_runs_and_queries(written, grid):
    bandit = grid.query("fold == 1").assign(cell="bandit")
    cells = (SimpleNamespace(key="bandit", kind="play"),)
    own = written(frame=bandit, cells=cells)
    assert (own["rounds"], own["seeds"], own["steps"], own["runs"]) == (None, None, "1000", "15 × 1 query")
    both = written(frame=pd.concat([bandit, grid]), cells=cells)
    assert (both["seeds"], both["runs"]) == ("15 × 5 folds", "15 × 1 query")
    assert (written()["steps"], written()["runs"]) == (None, None)
