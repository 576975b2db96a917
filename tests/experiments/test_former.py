"""The record of changed rules is made from two judgements, and reads back what they said."""

import json
import subprocess
import sys

import pytest

from ol2r import papers
from ol2r.experiments import former


def judged(id_, rule, verdict, **more):
    return {"paper": "nsgd", "id": id_, "rule": rule, "verdict": verdict} | more


PLACE = {"verdict": "mixed", "as_claimed": 1, "open": 0, "against": 1}
BEFORE = [
    judged("NS1", "old, with a comma", "consistent", elsewhere=[PLACE | {"dataset": "c"}]),
    judged("NS2", "same", "reproduced"),
]
AFTER = [
    judged("NS1", "new", "not testable", elsewhere=[PLACE | {"dataset": "a"}, PLACE | {"dataset": "b"}]),
    judged("NS2", "same", "reproduced", elsewhere=[]),
    judged("NS3", "of a claim that was added", "undecided", elsewhere=[]),
]  # fmt: skip


def test_only_claims_whose_rule_or_verdict_changed_are_recorded():
    (line,) = former.record(BEFORE, "c0de", AFTER)
    assert line == {
        "id": "NS1", "old_rule": "old, with a comma", "old_verdict": "consistent", "old_elsewhere": "c: mixed",
        "rule": "new", "verdict": "not testable", "elsewhere": "a: mixed; b: mixed", "commit": "c0de",
    }  # fmt: skip
    assert former.places(line["elsewhere"]) == [("a", "mixed"), ("b", "mixed")]
    assert former.places("") == []


def test_a_file_reads_back_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(former, "files", lambda package: tmp_path)
    assert former.changes("a.paper").empty
    for name, own in (("before", BEFORE), ("after", AFTER)):
        (tmp_path / name).write_text(json.dumps(own))
    command = [sys.executable, "-m", "ol2r.experiments.former", tmp_path / "before", "c0de", tmp_path / "after"]
    (tmp_path / "former.csv").write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    assert former.changes("a.paper").to_dict("records") == former.record(BEFORE, "c0de", AFTER)


def test_older_files_do_not_say_what_old_rules_said_of_other_data(tmp_path, monkeypatch):
    monkeypatch.setattr(former, "files", lambda package: tmp_path)
    (tmp_path / "former.csv").write_text("id,old_rule,old_verdict,rule,verdict,elsewhere,commit\nNS1,a,b,c,d,x: e,f\n")
    (line,) = former.changes("a.paper").to_dict("records")
    assert (line["old_verdict"], line["old_elsewhere"], line["elsewhere"]) == ("b", "", "x: e")


@pytest.mark.parametrize("name", papers.NAMES)
def test_every_recorded_claim_is_one_of_the_papers(name):
    paper = papers.paper(name)
    assert set(paper.former_rules()["id"]) <= {claim.id for claim in paper.claims}
