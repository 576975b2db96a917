"""Starts from an offline ranker: expectations that can fail, differences paired by run, and when one is forgotten."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from ol2r.papers.comparison import grid, starts
from ol2r.papers.comparison.expected import AGAINST, AS_EXPECTED, EXPECTED, OPEN
from ol2r.papers.comparison.grid import STARTS, UNTRAINED
from ol2r.papers.comparison.starts import MEASURES, RIGHT, RIGHT_TENTH, WRONG, WRONG_TENTH


def test_differences_are_paired_by_run_and_judged_by_what_was_expected(begun):
    table = starts.differences(begun(**{WRONG: -0.1, RIGHT: 0.1})).set_index(["variant", "users", "began", "measure"])
    assert len(table) == 2 * 3 * 4 * 3
    end = table.xs("offline", level="measure")
    for kind in grid.USERS:
        assert end.loc[("PairRank", kind, WRONG), "mean"] == pytest.approx(-0.1)
        assert end.loc[("PairRank", kind, WRONG_TENTH), "outcome"] == AS_EXPECTED
        assert end.loc[("DBGD", kind, WRONG), "outcome"] == AS_EXPECTED
        assert end.loc[("DBGD", kind, WRONG_TENTH), "outcome"] == AGAINST
        assert end.loc[("DBGD", kind, RIGHT), "outcome"] == ""
        assert table.loc[("DBGD", kind, RIGHT, "lists"), "mean"] == pytest.approx(0.1, abs=1e-3)
        assert table.loc[("DBGD", kind, RIGHT, "early"), "mean"] == pytest.approx(0.1 * 10 / 100)
    assert end.loc[("PairRank", "perfect", WRONG), "outcome"] == AGAINST
    assert end.loc[("PairRank", "informational", WRONG), "outcome"] == AS_EXPECTED
    assert (table["high"] - table["low"]).max() < 1e-9  # the runs' own spread is in no difference
    assert (table["cold"] > 0).all()


def test_a_difference_of_either_sign_among_runs_is_open(begun):
    frame = begun()
    frame.loc[(frame["began"] == WRONG) & (frame["seed"] == 1), "ndcg"] -= 0.1
    table = starts.differences(frame).query("measure == 'offline' and began == @WRONG and variant == 'DBGD'")
    assert set(table["outcome"]) == {OPEN}


def test_a_start_is_forgotten_from_the_round_on_from_which_no_checkpoint_is_apart(begun):
    frame = begun()
    apart = frame["began"].map({RIGHT: 0.2, WRONG_TENTH: -0.2}).fillna(0.0) * (frame["round"] < 50)
    apart += frame["began"].map({WRONG: -0.2}).fillna(0.0) * (1 - 0.5 * frame["round"] / 100)
    apart += frame["began"].map({RIGHT_TENTH: 0.2}).fillna(0.0) * (frame["round"] == 50)
    table = starts.forgotten(frame.assign(ndcg=frame["ndcg"] + apart)).query("users == 'perfect' and variant == 'DBGD'")
    found = table.set_index("began")
    # of the right tenth only the last checkpoint is near, and one is not enough
    assert found["round"].to_dict() == {RIGHT: 50, RIGHT_TENTH: np.inf, WRONG_TENTH: 50, WRONG: np.inf}
    assert found["at_first"].to_dict() == pytest.approx({RIGHT: 0.2, RIGHT_TENTH: 0, WRONG_TENTH: -0.2, WRONG: -0.2})
    always = starts.forgotten(begun()).set_index("began")
    assert set(always["round"]) == {0}
    spread = begun()
    uneven = spread["seed"].map({0: -0.02, 1: 0.02}).where(spread["began"] == RIGHT, 0.0)
    open_ = starts.forgotten(spread.assign(ndcg=spread["ndcg"] + uneven)).set_index("began")
    assert set(open_.loc[RIGHT, "round"]) == {np.inf}  # equal in the mean, but for all that the runs say


def test_what_is_told_is_what_was_found(begun):
    frame = begun(**{WRONG: -0.1, RIGHT: 0.1})
    table, lasting = starts.differences(frame), starts.forgotten(frame)
    assert starts.over_users(table, "MQ2008", WRONG, "offline")["DBGD"] == pytest.approx(-0.1)
    assert starts.over_users(table, "MQ2007", WRONG, "offline").isna().all()
    first, last = starts.levels(frame, "MQ2008")
    assert first.loc[[RIGHT, WRONG]].tolist() == [0, 0] and last["PairRank"] == pytest.approx(0.615)
    text = starts.told(table, "offline", lasting, name="n", caption="c")
    assert "| PairRank | untrained | 0.515 | 0.515 | 0.515 | – |\n| PairRank | right | +0.100 [" in text
    assert "| PairRank | wrong | −0.100 [−0.100, −0.100] ✘ | −0.100 [−0.100, −0.100] ✔ |" in text
    assert text.count("| – / – / – |") == 4 and text.count("| 0 / 0 / 0 |") == 4


def test_without_runs_there_is_nothing_to_tell():
    nothing = starts.differences(pd.DataFrame())
    assert nothing.empty and starts.forgotten(pd.DataFrame()).empty
    assert starts.over_users(nothing, "MQ2008", WRONG, "offline").isna().all()
    assert all(each.isna().all() for each in starts.levels(pd.DataFrame(), "MQ2008"))


def test_nothing_is_expected_twice_and_each_expectation_is_of_a_start_that_is_run():
    asked = [
        case
        for each in EXPECTED["starts"]
        for case in product(each.of["variant"], each.of["began"], each.of["users"] or grid.USERS, each.of["measure"])
    ]  # fmt: skip
    assert len(asked) == len(set(asked)) and {measure for *_, measure in asked} == set(MEASURES)
    assert {who for who, *_ in asked} == set(grid.STARTERS)
    jobs = grid.ITEMS["starts"].jobs("paper")
    met = {(*grid.start(job.cell).values(), job.cell.users.name) for job in jobs}
    assert met == {(who, began, kind) for who in grid.STARTERS for began in (UNTRAINED, *STARTS) for kind in grid.USERS}
    assert {(who, start, kind) for who, start, kind, _ in asked} <= met


def test_an_untrained_learner_is_the_comparison_s_own_run_and_each_start_has_its_folds_and_seeds():
    jobs = [job for job in grid.ITEMS["starts"].jobs("paper") if job.cell.dataset in grid.DATASETS]
    known = {job.cell.key for job in grid.ITEMS["quality"].jobs("paper")}
    cold = {job.cell.key for job in jobs if grid.start(job.cell)["began"] == UNTRAINED}
    assert cold <= known and len(cold) == len(grid.STARTERS) * len(grid.USERS)
    assert len({job.rows for job in jobs}) == 1 and {row.seed for row in jobs[0].rows} == set(range(grid.MORE_SEEDS))
