"""What a round asks of a GPU and took there: tables, words and figure say what the benchmark stored."""

import json
from pathlib import Path

import pandas as pd
import pytest
from shown import rows

from ol2r.cost import BANDWIDTH, LAUNCH_SECONDS, REPLAY_SECONDS
from ol2r.learners import LEARNERS
from ol2r.report import gpu
from ol2r.report.tables import columns

FILE = Path(__file__).parents[2] / "benchmarks" / "device.json"


def invented(**speeds):
    """DBGD alone: 200 launches and 1 MB a round."""
    own = {"learners": {"dbgd": "DBGD"}, "launches.dbgd": 200.0, "bytes.dbgd": 1e6, "reads.dbgd": 0.0}
    own["settings"] = {"DBGD": json.loads(FILE.read_text(encoding="utf-8"))["counted"]["settings"]["DBGD"]}
    return gpu.Stored(own, "a GPU", {f"cuda.dbgd.{key}": value for key, value in speeds.items()})


def run(learner, cpu, device, error, *, rows=10, same=0, until=-1, covariance=None):
    named = {"learner": learner, "covariance": covariance, "rounds": 1000, "rows": rows, "cpu": cpu, "device": device}
    return named | {"errors_apart": error, "same_rows": same, "same_until": until, "seconds": 1.0}


def test_a_prediction_waits_for_launches_or_for_memory():
    stored = invented()
    assert stored.predicted("DBGD", 1, gpu.SINGLE) == pytest.approx(1 / (200 * LAUNCH_SECONDS))
    assert stored.predicted("DBGD", 1, gpu.REPLAYED) == pytest.approx(1 / (200 * REPLAY_SECONDS))
    assert stored.predicted("DBGD", 1 << 20, gpu.REPLAYED) == pytest.approx(BANDWIDTH / 1e6)
    turn = stored.turn("DBGD")
    assert stored.predicted("DBGD", turn, gpu.SINGLE) == pytest.approx(BANDWIDTH / 1e6)


def test_two_cores_are_twice_as_fast_as_one_by_the_cost_model():
    settings = invented().hyperparameters("DBGD")
    one = [LEARNERS["DBGD"].cost(settings, gpu.MSLR, rounds).of(64).whole for rounds in gpu.ROUNDS]
    per_core = 64 * (gpu.ROUNDS[1] - gpu.ROUNDS[0]) / (one[1] - one[0])
    assert gpu.two_cores("DBGD", settings, 64) == pytest.approx(2 * per_core)


def test_a_gpu_is_compared_with_two_cores_as_measured():
    stored = gpu.Stored.of(FILE)
    speed = json.loads(FILE.with_name("speed.json").read_text(encoding="utf-8"))
    scaling = json.loads(FILE.with_name("scaling.json").read_text(encoding="utf-8"))
    assert stored.of_cores("MGD", 64) == speed["mgd.rounds_per_s"]["ours"]
    for learner in ("PDGD", "DBGD", "NSGD", "PairRank"):
        at_once = scaling["learners"][learner]["rounds_per_s"]["2"]["64"]
        assert stored.of_cores(learner, 64) == at_once
        told = gpu.faster_in_words(stored, (learner,), 64)
        assert told.endswith(f" {stored.speed(learner, 64, gpu.REPLAYED) / at_once:,.1f}")
        assert 1 / 1.5 < stored.predicted(learner, 64, gpu.CORES) / at_once < 1.5
    assert stored.of_cores("olRankNet", 64) == stored.predicted("olRankNet", 64, gpu.CORES)  # it was not measured


def test_figures_of_a_clock_that_was_off_are_left_out():
    speeds = {"eager.rounds_per_s_64": 100.0, "graph.rounds_per_s_64": 400.0, "eager.rounds_per_s_512": 900.0}
    stored = invented(**speeds, **{"graph.rounds_per_s_512": 300.0})
    assert stored.replicas() == [64, 512]
    assert (stored.speed("DBGD", 64, gpu.SINGLE), stored.speed("DBGD", 64, gpu.REPLAYED)) == (100.0, 400.0)
    assert stored.speed("DBGD", 512, gpu.SINGLE) is stored.speed("DBGD", 512, gpu.REPLAYED) is None
    header, ((name, *shown, _),) = gpu.speed_rows(stored)
    assert name == "DBGD" and len(header) == 6
    assert shown == ["0.1", "—", "0.4", "—"]


def test_rows_of_repeated_runs_name_the_covariance_and_the_round():
    runs = pd.DataFrame([run("PairRank", 0.4, 0.41, 0.2, covariance="full", until=500), run("CPS", 0.4, 0.4, 0.1)])
    lines = rows(columns(runs, gpu.REPEATED, name="t", caption=""))
    assert lines[0][0] == "PairRank, full" and lines[0][7] == "500"
    assert lines[1][0] == "CPS" and lines[1][7] == "none"


def test_words_leave_out_what_was_not_measured():
    stored = invented(**{"eager.rounds_per_s_64": 100.0, "graph.rounds_per_s_64": 400.0})
    times = 400.0 / stored.predicted("DBGD", 64, gpu.CORES)
    assert gpu.faster_in_words(stored, ("DBGD",), 64) == f"DBGD {times:,.1f} (cores by the cost model)"
    with pytest.raises(ValueError):
        gpu.faster_in_words(stored, ("DBGD",), 512)


def test_what_is_stored_covers_every_learner_and_every_repeated_mean_agrees():
    stored = gpu.Stored.of(FILE)
    assert set(stored.learners) <= set(LEARNERS)
    runs = stored.repeated()
    again = {"olLambdaRank-ranked"}  # its stored runs are younger: the repeat showed a fault of the CPU's code
    assert set(stored.learners) - again == set(runs["learner"]) - {"PairRank-Lemma2"}
    assert (runs["errors_apart"] <= gpu.NEAR).all()
    fig = gpu.figure(stored, ("PDGD", "DBGD"))
    marks = [line for ax in fig.axes for line in ax.lines if line.get_marker() in ("o", "D")]
    assert len(marks) == 4 and all(len(line.get_xdata()) == 3 for line in marks)
