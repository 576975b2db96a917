"""Data larger than memory: what is stored is told and shown, and nothing else."""

import json
from pathlib import Path

from ol2r.report import larger, tables

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


def test_the_sentence_has_the_size_the_limit_the_peak_and_the_share_of_speed():
    told = larger.in_words(STORED)
    assert told.startswith("A set of 20 GB (1,500 queries, 187,500 documents, 136 features)")
    assert "limited to 4 GiB. It asked for at most 2 GiB of it" in told
    assert told.endswith("on 0.1 GB of the same shape in memory: PDGD 25% and PairRank 25%.")


def test_the_table_has_both_sets_side_by_side():
    header, lines = larger.rows(STORED)
    assert header == ["what", "0.1 GB", "20 GB"]
    assert ["to open it again, with its checksum", "5 min", "5 min"] in lines
    assert ["PDGD, rounds a second", "40,000", "10,000"] in lines
    assert ["private memory, used at most", "1 GiB", "1 GiB"] in lines
    assert "64 runs of PDGD for 2,000 rounds and 16 runs of PairRank for 1,000" in larger.caption(STORED)


def test_the_stored_figures_have_what_the_page_shows():
    stored = json.loads(FILE.read_text())
    header, lines = larger.rows(stored)
    assert all(len(line) == len(header) for line in lines) and "–" not in str(lines)
    assert tables.myst(header, lines, name="larger-sets", caption=larger.caption(stored))
    assert larger.in_words(stored) and len(stored["commit"]) == 40
    assert stored["large"]["data_bytes"] < stored["limit_bytes"] < stored["large"]["bytes"] / 4
