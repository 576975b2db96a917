"""The suite of faults: it finds what is planted, finds nothing else, and its record names no place."""

import json
import re

import pytest
from faults import readers, run
from faults.planted import PLANTED
from faults.tally import BAD, Tally

from ol2r.report import faults as report

PUBLISHERS = ("publishers", "publishers-on-bad-disks", "publishers-on-full-disks")
FORKING = ("kills", "disks", "full", "races", "crowds", "builders", *PUBLISHERS)
"""Kinds whose processes are forks, which a process that has read tables cannot have."""
SLOW = ("signals", "shared-memory", "chapters")
"""What starts commands, Dask and kernels, some seconds to minutes each; `tests/test_cli_process.py`, `tests/book` and
others ask the same of one each."""
FEW = {"cache": 12, "pages": 60, "tables": 24, "commands": 14, "letor": 150, "table-of-clicks": 60}
"""Faults that are enough to meet what is planted; 100 elsewhere."""
HERE = [name for name in run.FAULTS if name not in (*FORKING, *SLOW)]


@pytest.mark.parametrize("name", HERE)
def test_a_hundredth_of_the_faults_finds_nothing(name):
    for tally in run.run_here(name, FEW.get(name, 100), 1):
        assert tally.injected > 0 and tally.bad == 0, tally.examples


@pytest.mark.parametrize(("name", "planted"), [(name, planted) for name in HERE for planted in PLANTED[name]])
def test_what_is_planted_is_found(name, planted, monkeypatch):
    run.module_of(name)
    PLANTED[name][planted](monkeypatch.setattr)
    assert sum(tally.bad for tally in run.run_here(name, 1 if name == "commands" else FEW.get(name, 100), 1)) > 0


def test_what_is_planted_where_processes_fork_is_found():
    """Not of what is slow, which takes some seconds for each command: `run.py --only signals --planted …` asks it."""
    planted = {name: f"{name}={next(iter(PLANTED[name]))}" for name in FORKING}
    together = ("kills", "disks", "full", "races")
    found = run.run_apart(dict.fromkeys(together, 3) | {"races": 12}, 1, planted=[planted[name] for name in together])
    for few in ({"builders": 6, "crowds": 12}, dict.fromkeys(PUBLISHERS, 12)):
        found |= run.run_apart(few, 1, planted=[planted[name] for name in few])
    assert found.keys() == set(FORKING)
    for name, by_fault in found.items():
        assert sum(counts[each] for counts in by_fault.values() for each in BAD) > 0, name


def test_every_kind_of_fault_has_one_that_is_planted_and_a_name_on_the_page():
    assert PLANTED.keys() == run.FAULTS.keys()
    stored = json.loads(run.STORED.read_text())
    assert stored.keys() == report.NAMES.keys()


@pytest.mark.parametrize("name", readers.READERS)
def test_inputs_that_once_led_to_something_new_are_read_as_the_obvious_reader_reads_them(name, tmp_path):
    reader = readers.READERS[name]
    kept = readers.read_corpus(name)
    assert len(kept) >= 5
    for content in kept:
        outcome, told = readers.compared(reader, content, tmp_path / "input")
        assert outcome not in BAD, (content, told)


def test_the_record_adds_up_and_names_no_place():
    text = run.STORED.read_text()
    assert not re.search(r"[\"' ]/(?:home|root|tmp|work|Users)", text)
    for fault, counts in json.loads(text).items():
        parts = [counts[each] for each in ("detected", "harmless", *BAD)]
        assert counts["injected"] == sum(parts) > 0, fault
        assert not any(counts[each] for each in BAD), fault


def test_bad_outcomes_are_counted_and_have_examples_that_no_record_keeps():
    tally = Tally("some", 1)
    for outcome in ("harmless", "wrong", "lost", "detected"):
        tally.add(outcome, "what was seen")
    assert (tally.injected, tally.bad) == (4, 2)
    assert len(tally.examples) == 2 and "examples" not in tally.as_json()


# The page

COUNTS = {"injected": 10, "detected": 6, "harmless": 3, "lost": 1, "wrong": 0, "unclear": 0}


def test_the_page_counts_named_faults_first():
    table = report.counts({"new": COUNTS, "races": COUNTS})
    assert table["fault"].tolist() == [report.NAMES["races"], "new"]
    assert table["lost"].tolist() == [1, 1]
