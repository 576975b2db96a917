"""Data larger than memory: what is stored is shown, and nothing else."""

import json
from pathlib import Path

from ol2r.report import larger

FILE = Path(__file__).parents[2] / "benchmarks" / "larger.json"


def one(size: float, rate: float) -> dict:
    return {
        "bytes": size,
        "queries": 1500,
        "documents": 187_500,
        "features": 136,
        "store_s": 2.0,
        "load_s": 300.0,
        "learners": {name: {"rounds_per_s": rate, "start_s": 0.5} for name in ("PDGD", "PairRank")},
        "data_bytes": 2 * 2**30,
        "private_bytes": 2**30,
    }


STORED = {
    "load": 0.1, "limit_bytes": 4 * 2**30,
    "runs": {"PDGD": {"replicas": 64, "rounds": 2000}, "PairRank": {"replicas": 16, "rounds": 1000}},
    "small": one(1e8, 40_000.0),
    "large": one(2e10, 10_000.0),
    "processor": "a processor",
    "cores": 2,
}


def test_the_table_has_both_sets_side_by_side():
    header, lines = larger.rows(STORED)
    assert header == ["what", "0.1 GB", "20 GB"]
    assert ["to open it again, with its checksum", "5 min", "5 min"] in lines
    assert ["PDGD, rounds a second", "40,000", "10,000"] in lines
    assert ["private memory, used at most", "1 GiB", "1 GiB"] in lines


def test_the_stored_figures_have_what_the_page_shows():
    stored = json.loads(FILE.read_text())
    header, lines = larger.rows(stored)
    assert all(len(line) == len(header) for line in lines) and "–" not in str(lines)
    assert len(stored["commit"]) == 40
    assert stored["large"]["data_bytes"] < stored["limit_bytes"] < stored["large"]["bytes"] / 4


def test_a_text_was_read_within_its_limit_although_its_features_exceed_it():
    stored = json.loads(FILE.with_name("importing.json").read_text())
    assert len(stored["commit"]) == 40
    for way in ("catalogue", "own"):
        large = stored["large"][way]
        assert max(large["private_bytes"], large["data_bytes"]) < stored["limit_bytes"] < large["bytes"]
