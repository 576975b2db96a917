"""What data larger than memory takes beside a small set, from the figures that two benchmarks stored.

One writes `larger.json`: of a large set and of a small one of the same shape, their size, the memory and the seconds
that they took, and the speeds of learners. The other writes `importing.json`: of a large text and of a small one, the
memory and the seconds that reading took. This module shows the stored figures; it must not measure.
"""

from collections.abc import Mapping
from typing import Any

from ol2r.experiments.projected import duration, size
from ol2r.report.leads import joined
from ol2r.report.tables import rounded

Stored = Mapping[str, Any]


def _gigabytes(of: Mapping[str, Any]) -> str:
    return f"{rounded(of['bytes'] / 1e9, 2)} GB"


def in_words(stored: Stored) -> str:
    """How large the set was, within which memory it ran, and which share of the small set's speed was left."""
    small, large = stored["small"], stored["large"]
    shares = [
        f"{name} {large['learners'][name]['rounds_per_s'] / of['rounds_per_s']:.0%}"
        for name, of in small["learners"].items()
    ]
    return (
        f"A set of {_gigabytes(large)} ({large['queries']:,} queries, {large['documents']:,} documents, "
        f"{large['features']} features) was generated, stored, opened and ranked by {joined(list(large['learners']))} "
        f"in a process whose private memory was limited to {size(stored['limit_bytes'])}. It asked for at most "
        f"{size(large['data_bytes'])} of it. With features that come from the disk, a learner had this share of the "
        f"speed that it has on {_gigabytes(small)} of the same shape in memory: {joined(shares)}."
    )


def reading_in_words(stored: Stored) -> str:
    """How large a LETOR text was read within which memory, as a set of the catalogue and as a reader's own file."""
    small, large = stored["small"], stored["large"]
    ways = (("catalogue", "as a set of the catalogue"), ("own", "as a file of one's own"))
    used = [
        f"{size(large[way]['private_bytes'])} {called} (in {duration(large[way]['read_s'])})" for way, called in ways
    ]
    before = [size(small[way]["private_bytes"]) for way, _ in ways]
    documents = large["catalogue"]["documents"]
    return (
        f"Text of {rounded(large['text_bytes'] / 1e9, 2)} GB ({documents:,} documents, "
        f"{large['catalogue']['bytes'] // (4 * documents)} features) was read in processes whose private memory was "
        f"limited to {size(stored['limit_bytes'])}. They used at most {joined(used)}; with "
        f"{rounded(small['text_bytes'] / 1e9, 2)} GB of text they used {joined(before)}."
    )


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
    return ["what", *map(_gigabytes, both)], lines


def caption(stored: Stored) -> str:
    """What the numbers of the table are, and where they were measured."""
    runs = [f"{of['replicas']} runs of {name} for {of['rounds']:,} rounds" for name, of in stored["runs"].items()]
    busy = ", while other programs used them too" if stored["load"] > 1.5 else ""
    return (
        f"A set in memory and a larger one of the same shape on disk: {joined(runs)}, all runs together, perfect "
        f"users, without evaluation, the fastest of three times. What the system held of the large file was dropped "
        f"before rounds were measured, but not before the set was opened. Private memory is all but pages of the file, "
        f"which the system takes back when it needs them. Measured on {stored['processor']}, {stored['cores']} cores"
        f"{busy}."
    )
