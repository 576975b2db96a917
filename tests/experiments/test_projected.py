"""What runs would take elsewhere: shards put together again, estimates corrected, predictions by other data sets."""

import math

import pandas as pd
import pytest

from ol2r import cli
from ol2r.cost import Shape
from ol2r.experiments import projected
from ol2r.experiments.projected import Elsewhere
from ol2r.experiments.store import Store
from ol2r.learners import LEARNERS

ROUNDS = 100_000


def estimate():
    return LEARNERS["PDGD"].cost({"rate": 0.1, "decay": 1.0}, Shape(46, 20.0), ROUNDS)


def record(times, rows, *, of=None, dataset="here", kind="simulate", device="cpu", core=True, hour="10"):
    """A file of a shard of `of` runs that took `times` as long as expected."""
    cost, of = estimate(), of or len(rows)
    seconds = times * (of * cost.seconds + cost.once)
    found = {
        "cell": {
            "type": kind,
            "fields": {
                "learner": "PDGD", "dataset": dataset, "hyperparameters": [["rate", 0.1], ["decay", 1.0]],
                "evaluation": {"fields": {"checkpoints": [0, ROUNDS]}}, "users": {"fields": {"click": [0, 0.5, 1]}},
            },
        },
        "data": {"counts": {"features": 46, "documents": 200, "queries": 10}},
        "device": device, "rows": rows, "commit": "c", "time": f"2026-01-01T{hour}:00:00+00:00",
        "shard_rows": of, "shard_seconds": 3 * seconds if core else seconds,
    }  # fmt: skip
    return found | ({"shard_core_seconds": seconds} if core else {})


MANY = [[1, seed] for seed in range(300)]


def test_files_of_one_shard_count_once_and_lost_rows_are_stood_for():
    half = record(2.0, MANY[:100], of=300), record(2.0, MANY[100:200], of=300)  # a third was computed again since
    table = projected.shards([*half, record(0.5, MANY, dataset="there", core=False)])
    assert table["dataset"].tolist() == ["here", "there"]
    assert (table["actual"] / table["expected"]).tolist() == pytest.approx([2.0, 0.5])


def test_short_shards_tuning_other_kinds_and_devices_are_left_out(monkeypatch):
    tuning = [[1, 1000 + seed] for seed in range(300)]
    others = record(1.0, tuning), record(1.0, MANY, kind="timing"), record(1.0, MANY, device="cuda")
    assert projected.shards(others).empty and len(projected.shards([*others, record(1.0, MANY)])) == 1
    monkeypatch.setattr(projected, "LEAST", 2 * (300 * estimate().seconds + estimate().once))
    assert projected.shards([record(1.0, MANY)]).empty
    assert list(projected.shards([]).columns) == projected.COLUMNS


def test_each_data_set_is_predicted_by_the_others_and_counts_once():
    records = [record(2.0, MANY, hour=f"{hour:02}") for hour in range(5)]
    records += [record(8.0, MANY, dataset="there"), record(2.0, MANY, dataset="far")]
    found = projected.off(projected.shards(records)).set_index("dataset")
    assert found["shards"].to_dict() == {"here": 5, "there": 1, "far": 1}
    assert found["predicted"].to_dict() == pytest.approx({"here": 4.0, "there": 2.0, "far": 4.0})
    assert sorted(projected.errors(found)) == pytest.approx([2.0, 2.0, 4.0])
    assert projected.corrections(found.reset_index()) == pytest.approx({"": 32 ** (1 / 3), "PDGD": 32 ** (1 / 3)})
    told = projected.in_words(found)
    assert told.startswith("Predicted from a learner's other data sets, half of 3 times lie within a factor of 2 of")
    alone = projected.off(projected.shards([record(2.0, MANY)]))
    assert math.isnan(alone["predicted"].item()) and "nothing says how good" in projected.in_words(alone)


def test_a_run_is_the_learners_estimate_times_its_correction():
    there = Elsewhere(10, 200, 46)
    settings = {name: ("PDGD", {"rate": rate, "decay": 1.0}) for name, rate in (("PDGD", 0.1), ("other", 0.2))}
    line, other = projected.table(settings, {"": 3.0, "PDGD": 2.0}, {"small": (there, ROUNDS)}).to_dict("records")
    assert line["seconds"] == other["seconds"] == pytest.approx(2.0 * estimate().whole)
    assert line["features"] == 4 * 200 * 46 and line["bytes"] == estimate().bytes
    without = projected.table(settings, {"": 3.0}, {"small": (there, ROUNDS)})
    assert without["seconds"].iloc[0] == pytest.approx(3.0 * estimate().whole)


def test_what_is_told_of_by_default_is_as_large_as_the_catalogue_says():
    mslr, rounds = projected.ELSEWHERE["MSLR-WEB30K"]
    assert (mslr.queries, mslr.documents, mslr.features, rounds) == (31_531, 3_771_125, 136, 5000)
    assert mslr.shape.documents == pytest.approx(119.6, abs=0.05)
    with pytest.raises(ValueError, match="MSLR"):
        Elsewhere.catalogued("MSLR-WEB30")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0123, "0.012 s"), (119, "120 s"), (600, "10 min"), (7200, "2 h"), (3e5, "3.5 days"), (4e10, "1,300 years")],
)
def test_times_have_the_unit_that_suits_them(seconds, told):
    assert projected.duration(seconds) == told


def test_sizes_have_the_unit_that_suits_them():
    assert [projected.size(each) for each in (10, 3 * 2**20, 1.5 * 2**30)] == ["under 1 MiB", "3 MiB", "1.5 GiB"]
    assert isinstance(projected.off(pd.DataFrame(columns=projected.COLUMNS)), pd.DataFrame)


def test_cost_says_what_runs_take_on_other_data_by_the_stored_runs_or_without_any(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Store, "open", lambda: Store(None, tmp_path))
    assert cli.main(["cost"]) == 0
    out = capsys.readouterr().out
    assert "MSLR-WEB30K: 31,531 queries, 3,771,125 documents, 136 features (1.9 GiB); a run of 5,000 rounds" in out
    assert out.count("PairRank ") == 3 and "nothing says how good this is" in out
    assert cli.main(["cost", "--queries", "10", "--documents", "200", "--features", "46", "--rounds", "70"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("your data: 10 queries, 200 documents, 46 features (under 1 MiB); a run of 70 rounds")
    assert cli.main(["cost", "--queries", "10"]) == 2
    assert "give all of --queries, --documents and --features" in capsys.readouterr().err
