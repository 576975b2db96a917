"""What runs would take elsewhere: the learners' own estimates at the size of the data."""

import pytest

from ol2r import cli
from ol2r.cost import Shape
from ol2r.experiments import projected
from ol2r.experiments.projected import Elsewhere
from ol2r.learners import LEARNERS

ROUNDS = 100_000


def estimate():
    return LEARNERS["PDGD"].cost({"alpha": 0.1, "decay": 1.0}, Shape(46, 20.0), ROUNDS)


def test_a_run_is_the_learners_estimate():
    there = Elsewhere(10, 200, 46)
    settings = {"mine": ("PDGD", {"alpha": 0.1, "decay": 1.0})}
    (line,) = projected.table(settings, {"small": (there, ROUNDS)}).to_dict("records")
    assert (line["variant"], line["seconds"], line["bytes"]) == ("mine", estimate().whole, estimate().bytes)
    assert line["features"] == 4 * 200 * 46


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


def test_cost_says_what_runs_take_on_other_data(capsys):
    assert cli.main(["cost"]) == 0
    out = capsys.readouterr().out
    assert "MSLR-WEB30K: 31,531 queries, 3,771,125 documents, 136 features (1.9 GiB); a run of 5,000 rounds" in out
    assert out.count("PairRank ") == 3
    assert cli.main(["cost", "--queries", "10", "--documents", "200", "--features", "46", "--rounds", "70"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("your data: 10 queries, 200 documents, 46 features (under 1 MiB); a run of 70 rounds")
    assert cli.main(["cost", "--queries", "10"]) == 2
    assert "give all of --queries, --documents and --features" in capsys.readouterr().err
