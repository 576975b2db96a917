"""What data larger than memory takes beside a small set, from the figures that a benchmark stored.

It writes `larger.json`: of a large set and of a small one of the same shape, their size, the memory and the seconds
that they took, and the speeds of learners. This module shows the stored figures; it must not measure.
"""

from collections.abc import Mapping
from typing import Any

from ol2r.experiments.projected import duration, size
from ol2r.report.tables import rounded

Stored = Mapping[str, Any]


def gigabytes(of: Mapping[str, Any]) -> str:
    """How large the features of a set are, with two digits."""
    return f"{rounded(of['bytes'] / 1e9, 2)} GB"


def rows(stored: Stored) -> tuple[list[str], list[list[str]]]:
    """Header and lines of a table: what is measured, on the small set and on the large one."""
    both = stored["small"], stored["large"]
    lines = [
        ["queries", *(f"{of['queries']:,}" for of in both)],
        ["documents", *(f"{of['documents']:,}" for of in both)],
        ["to generate and store it", *(duration(of["store_s"]) for of in both)],
        ["to open it again, with its checksum", *(duration(of["load_s"]) for of in both)],
    ]
    for name in stored["runs"]:
        found = [of["learners"][name] for of in both]
        lines += [
            [f"{name}, until its first rounds", *(duration(each["start_s"]) for each in found)],
            [f"{name}, rounds a second", *(rounded(each["rounds_per_s"], 3) for each in found)],
        ]
    lines += [
        ["private memory, asked for at most", *(size(of["data_bytes"]) for of in both)],
        ["private memory, used at most", *(size(of["private_bytes"]) for of in both)],
    ]
    return ["what", *map(gigabytes, both)], lines
