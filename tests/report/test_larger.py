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


def test_the_sentence_on_reading_has_both_ways_and_both_sizes():
    def way(documents: int, private: float, seconds: float) -> dict:
        return {"bytes": documents * 400, "documents": documents, "private_bytes": private * 2**30, "read_s": seconds}

    stored = {
        "limit_bytes": 2**31,
        "small": {"text_bytes": 1e8, "catalogue": way(1000, 0.5, 1.0), "own": way(1000, 0.25, 2.0)},
        "large": {"text_bytes": 6e9, "catalogue": way(60_000, 1, 120.0), "own": way(60_000, 1.5, 300.0)},
    }
    assert larger.reading_in_words(stored) == (
        "Text of 6 GB (60,000 documents, 100 features) was read in processes whose private memory was limited to 2 "
        "GiB. They used at most 1 GiB as a set of the catalogue (in 2 min) and 1.5 GiB as a file of one's own (in 5 "
        "min); with 0.1 GB of text they used 510 MiB and 260 MiB."
    )


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


def test_the_stored_figures_of_reading_are_told():
    stored = json.loads(FILE.with_name("importing.json").read_text())
    assert larger.reading_in_words(stored) and len(stored["commit"]) == 40
    for way in ("catalogue", "own"):
        large = stored["large"][way]
        assert max(large["private_bytes"], large["data_bytes"]) < stored["limit_bytes"] < large["bytes"]
