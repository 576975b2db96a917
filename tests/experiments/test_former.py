"""The record of changed rules is made from two judgements, and reads back what they said."""

import json
import runpy

import pytest

from ol2r.experiments import former
from ol2r.experiments.claims import Claim


def judged(id_, rule, verdict, **more):
    return {"paper": "nsgd", "id": id_, "rule": rule, "verdict": verdict} | more


PLACE = {"verdict": "mixed", "as_claimed": 1, "open": 0, "against": 1}
BEFORE = [judged("NS1", "old, with a comma", "consistent"), judged("NS2", "same", "reproduced")]
AFTER = [
    judged("NS1", "new", "not testable", elsewhere=[PLACE | {"dataset": "a"}, PLACE | {"dataset": "b"}]),
    judged("NS2", "same", "reproduced", elsewhere=[]),
    judged("NS3", "of a claim that was added", "undecided", elsewhere=[]),
]  # fmt: skip


def test_only_claims_whose_rule_or_verdict_changed_are_recorded():
    (line,) = former.record(BEFORE, "c0de", AFTER)
    assert line == {
        "id": "NS1", "old_rule": "old, with a comma", "old_verdict": "consistent", "rule": "new",
        "verdict": "not testable", "elsewhere": "a: mixed; b: mixed", "commit": "c0de",
    }  # fmt: skip
    assert former.places(line["elsewhere"]) == [("a", "mixed"), ("b", "mixed")]
    assert former.places("") == []


def test_a_file_reads_back_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(former, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(former, "files", lambda name: tmp_path)
    assert former.changes("nsgd").empty
    for name, own in (("before", BEFORE), ("after", AFTER)):
        (tmp_path / name).write_text(json.dumps([*own, judged("X1", "of another paper", "") | {"paper": "x"}]))
    monkeypatch.setattr("sys.argv", ["former", "nsgd", str(tmp_path / "before"), "c0de", str(tmp_path / "after")])
    runpy.run_module("ol2r.experiments.former", run_name="__main__")
    assert former.changes("nsgd").to_dict("records") == former.record(BEFORE, "c0de", AFTER)


@pytest.mark.parametrize("paper", ["nsgd", "pairrank", "bubblerank"])
def test_every_recorded_claim_is_one_of_the_papers(paper):
    from ol2r import experiments

    claims: tuple[Claim, ...] = experiments.papers()[paper].CLAIMS
    assert set(former.changes(paper)["id"]) <= {claim.id for claim in claims}
