"""Rounds per second by replicas and cores: what is stored is drawn and told beside its limit, and nothing else."""

import json
import math
import re
from pathlib import Path

import jupytext
import pytest

from ol2r.report import scaling
from ol2r.report.page import Audience, shown_to

ROOT = Path(__file__).parents[2]
FILE = ROOT / "benchmarks" / "scaling.json"
PAGE = ROOT / "book" / "scaling.md"

# 125 documents of 2 features of 4 bytes are 1000 bytes a list: memory allows 20,000 and 30,000 rounds per second
STORED = {
    "dataset": {"name": "invented", "documents": 125.0, "features": 2, "bytes": 100_000_000},
    "cache": 25_000_000,
    "bandwidth": {"2": 3e7, "1": 2e7},
    "learners": {
        "PairRank": {
            "rounds": 200,
            "public": {"public code": 10.0, "public code, bounds vectorised": 50.0},
            "rounds_per_s": {"2": {"1": 100.0, "8": 500.0, "64": 600.0}, "1": {"1": 100.0, "8": 250.0, "64": 300.0}},
        },
        "DBGD": {
            "rounds": 500,
            "public": {"public code": 500.0},
            "rounds_per_s": {"2": {"1": 1e3, "8": 7e3, "64": 15e3}, "1": {"1": 1e3, "8": 6e3, "64": 1e4}},
        },
    },
    "processor": "a processor", "cores": 2, "load": 0.5, "commit": "0123456789abcdef",
}  # fmt: skip
TABLE = scaling.speeds(STORED)


def changed(**parts):
    return scaling.speeds(STORED | parts)


def one_core():
    learners = {
        name: own | {"rounds_per_s": {"1": own["rounds_per_s"]["1"]}} for name, own in STORED["learners"].items()
    }
    return changed(learners=learners, bandwidth={"1": 2e7})


def test_each_speed_stands_with_its_cores_and_replicas_and_limits_and_public_code_without():
    own = TABLE[TABLE["learner"] == "DBGD"]
    found = own[own["what"] == scaling.MEASURED][["cores", "replicas", "speed"]].to_numpy().tolist()
    assert found == [[1, 1, 1e3], [1, 8, 6e3], [1, 64, 1e4], [2, 1, 1e3], [2, 8, 7e3], [2, 64, 15e3]]
    limits = own[own["what"] == scaling.MEMORY]
    assert limits[["cores", "speed"]].to_numpy().tolist() == [[1, 2e4], [2, 3e4]] and limits["replicas"].isna().all()
    (public,) = own[own["what"] == "public code"][["cores", "replicas", "speed"]].to_numpy().tolist()
    assert public[2] == 500.0 and all(math.isnan(number) for number in public[:2])
    assert list(dict.fromkeys(TABLE["learner"])) == ["DBGD", "PairRank"]  # as in the style
    assert scaling.speeds({}).empty


def test_what_cores_and_replicas_give_is_told_beside_memory_and_the_faster_public_code():
    gains = scaling.gains(TABLE)
    assert gains.loc["DBGD"].to_dict() == {"replicas": 15, "half": 64, "memory": 0.5, "public": 2}
    assert gains.loc["PairRank"].to_dict() == {"replicas": 6, "half": 8, "memory": 600 / 30_000, "public": 2}
    assert scaling.in_range(100 * gains["memory"], "%") == "2% (PairRank) to 50% (DBGD)"
    assert scaling.in_range(gains["public"]) == "2"
    assert scaling.by_cores(TABLE)["DBGD"].to_dict() == {1: 1, 8: pytest.approx(7 / 6), 64: 1.5}


def test_one_core_is_as_fast_as_itself():
    table = one_core()
    assert (scaling.by_cores(table) == 1).all()
    assert len(scaling.speed_rows(table)[0]) == 5
    assert len(scaling.figure(table).axes[0].lines) == 3  # public code, the limit, the speeds


def test_a_row_has_the_ends_of_the_lines_the_limit_and_the_faster_public_code():
    header, rows = scaling.speed_rows(TABLE)
    assert header[1:5] == ["1 replica, 1 core", "1 replica, 2 cores", "64 replicas, 1 core", "64 replicas, 2 cores"]
    assert rows == [
        ["DBGD", "1,000", "1,000", "10,000", "15,000", "30,000", "500"],
        ["PairRank", "100", "100", "300", "600", "30,000", "50"],
    ]


def test_a_panel_has_one_core_hollow_all_cores_solid_limits_dotted_and_public_code_level():
    fig = scaling.figure(TABLE)
    assert [ax.get_title() for ax in fig.axes] == ["DBGD", "PairRank"]
    assert {ax.get_xscale() + ax.get_yscale() for ax in fig.axes} == {"loglog"}
    public, one_limit, one, all_limit, all_ = fig.axes[0].lines
    assert [line.get_linestyle() for line in (one, all_)] == ["--", "-"]
    assert one.get_markerfacecolor() == "white" and all_.get_markerfacecolor() != "white"
    assert list(all_.get_ydata()) == [1e3, 7e3, 15e3]
    assert [line.get_ydata()[0] for line in (one_limit, all_limit, public)] == [2e4, 3e4, 500.0]
    assert one_limit.get_color() == all_limit.get_color() and one_limit.is_dashed() and all_limit.is_dashed()
    assert one_limit.get_linestyle() != all_limit.get_linestyle() == ":"
    assert len(fig.axes[1].lines) == 6
    (legend,) = fig.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert sorted(names) == sorted(
        ["1 core", "2 cores", "memory, 1 core", "memory, 2 cores", "public code", "public code, bounds vectorised"]
    )
    assert "from 1,000 to 15,000 for 2 cores" in fig.alt
    assert "Memory allows 20,000 with 1 core and 30,000 with 2 cores" in fig.alt
    assert fig.alt.endswith("Public code makes DBGD 500 and PairRank 50.")


class Listening(Audience):
    """Keeps the texts of a page."""

    def __init__(self):
        self.shown = []

    def texts(self, *texts):
        self.shown += texts


@pytest.mark.parametrize("stored", [STORED, None], ids=["stored", "absent"])
def test_the_page_runs_with_and_without_stored_speeds(stored, tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_RESULTS", str(tmp_path / "results"))
    if stored:
        (tmp_path / "benchmarks").mkdir()
        (tmp_path / "benchmarks" / FILE.name).write_text(json.dumps(stored))
    listening, names = Listening(), {"__name__": "__main__"}
    with shown_to(listening):
        for cell in jupytext.read(PAGE).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, PAGE.name, "exec"), names)
    text = "\n".join(listening.shown)
    assert not re.search(r"\bnan\b", text)
    if stored:
        assert text.startswith("With 64 replicas, 2 cores") and "| PairRank | 100 |" in text
    else:
        assert text == "No speed is stored."


def test_what_is_stored_is_of_all_learners_and_has_sense():
    stored = json.loads(FILE.read_text())
    table = scaling.speeds(stored)
    assert set(stored["learners"]) == {"DBGD", "NSGD", "PDGD", "PairRank"} and (table["speed"] > 0).all()
    assert len(stored["commit"]) == 40 and stored["processor"]
    by_cores = table[table["what"] == scaling.MEASURED].groupby(["learner", "cores"])["replicas"]
    assert (by_cores.max() == 128).all() and (by_cores.count() == 8).all()
    assert scaling.figure(table).alt
