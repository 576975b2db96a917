"""What exploring is worth and what length changes: controls differ in exploring alone, differences are paired."""

import pandas as pd
import pytest

from ol2r.papers.comparison import exploring, grid, length
from ol2r.papers.comparison.expected import AGAINST, AS_EXPECTED, EXPECTED

from .conftest import made


def test_a_control_differs_from_its_learner_in_what_it_explores_with():
    for item in ("controls", "controls-networks"):
        cells = {}
        for job in grid.ITEMS[item].jobs("paper"):
            named = grid.control(job.cell)
            key = (job.cell.dataset, job.cell.users.name, named["variant"])
            cells.setdefault(key, {})[named["way"]] = job.cell
        assert cells
        for (*_, variant), ways in cells.items():
            expected = {way for way, changed in grid.CONTROLS.items() if variant in changed}
            assert set(ways) == {grid.AS_TUNED, *expected}
            main = dict(ways[grid.AS_TUNED].hyperparameters)
            for way, cell in ways.items():
                differs = {name for name, value in cell.hyperparameters if main[name] != value}
                assert differs == set(grid.CONTROLS.get(way, {}).get(variant, ())), (variant, way)


def test_only_learners_with_a_switch_have_a_control():
    with_one = {name for changed in grid.CONTROLS.values() for name in changed}
    assert with_one == set(grid.COMPARED) - {"PDGD", "neural PDGD", "DBGD", "NSGD", "olRankNet, full"}


def test_what_exploring_changes_is_paired_by_run_and_judged_over_all_users():
    tuned, still = made({"PairRank": 0.52, "epsilon-greedy": 0.40}), made({"PairRank": 0.52, "epsilon-greedy": 0.45})
    both = pd.concat([tuned.assign(way=grid.AS_TUNED), still.assign(way=grid.WITHOUT)])
    table = exploring.worth(both).set_index(["measure", "variant", "users"])
    assert table.loc[("offline", "epsilon-greedy", "all"), "mean"] == pytest.approx(-0.05)
    assert table.loc[("offline", "epsilon-greedy", "all"), "outcome"] == AGAINST
    assert table.loc[("lists", "epsilon-greedy", "all"), "outcome"] == AS_EXPECTED
    assert table.loc[("lists", "PairRank", "all"), "outcome"] == AS_EXPECTED
    assert table.loc[("lists", "PairRank", "perfect"), "outcome"] == ""
    assert exploring.worth(pd.DataFrame()).empty
    assert exploring.worth(tuned.assign(way=grid.AS_TUNED)).empty


def test_long_runs_are_held_against_pairrank():
    table = length.differences(made({"PairRank": 0.50, "PDGD": 0.45, "olRankNet": 0.50})).set_index(
        ["variant", "measure"]
    )
    assert table.loc[("PDGD", "offline"), "mean"] == pytest.approx(-0.05)
    assert table.loc[("PDGD", "offline"), "outcome"] == AGAINST
    assert table.loc[("olRankNet", "offline"), "outcome"] == AS_EXPECTED
    assert length.differences(pd.DataFrame()).empty


def test_something_is_expected_of_every_long_run_of_the_papers_own_learners():
    for item in ("length", "length-networks"):
        for job in grid.ITEMS[item].jobs("paper"):
            assert job.cell.evaluation.checkpoints[-1] == 5000
            name = grid.variant(job.cell)["variant"]
            known = any(
                name in each.of["variant"] and job.cell.dataset in each.of["dataset"] for each in EXPECTED["length"]
            )
            assert known or name in ("PairRank", "neural PDGD", grid.NEURAL_GREEDY)
            assert name != grid.LAMBDARANK or job.cell.labels()["learner"] == "olLambdaRank-ranked"
