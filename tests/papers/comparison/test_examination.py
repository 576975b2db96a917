"""What learners take users to have examined: expectations that can fail, and differences paired by run."""

import pandas as pd
import pytest

from ol2r.papers.comparison import examination, expected, grid
from ol2r.papers.comparison.examination import ABOVE, PAPERS, SHOWN
from ol2r.papers.comparison.expected import AGAINST, AS_EXPECTED, OPEN, outcome


@pytest.mark.parametrize(
    ("side", "low", "high", "found"),
    [
        ("lower", -0.02, -0.01, AS_EXPECTED),
        ("lower", -0.02, 0.0, OPEN),
        ("lower", -0.004, 0.0, AGAINST),
        ("higher", 0.01, 0.02, AS_EXPECTED),
        ("higher", 0.0, 0.02, OPEN),
        ("higher", -0.01, 0.004, AGAINST),
        ("near", -0.004, 0.004, AS_EXPECTED),
        ("near", -0.01, 0.004, OPEN),
        ("near", -0.02, -0.01, AGAINST),
        ("near", 0.006, 0.01, AGAINST),
    ],
)
def test_an_interval_is_as_expected_against_or_open(side, low, high, found):
    assert outcome(side, low, high) == found


def test_differences_are_paired_by_run_and_judged_by_what_was_expected(believed):
    table = examination.differences(believed()).set_index(["seen", "users"])
    assert len(table) == 2 * 4 and set(table["variant"]) == {"PairRank"}
    assert table.loc[SHOWN, "mean"].tolist() == pytest.approx([-0.1] * 4)
    assert table.loc[ABOVE, "mean"].tolist() == pytest.approx([0.0] * 4)
    assert (table["high"] - table["low"]).max() < 1e-9  # the runs' own spread is in no difference
    assert table.loc[(SHOWN, "perfect"), "outcome"] == AGAINST
    assert table.loc[(SHOWN, grid.BY_POSITION), "outcome"] == AS_EXPECTED
    assert set(table.loc[ABOVE, "outcome"]) == {AS_EXPECTED}
    wide = expected.across(table.reset_index(), ["variant", "users", "papers"], "seen")
    assert wide["users"].tolist() == list(examination.KINDS) and list(wide)[-2:] == [ABOVE, SHOWN]
    assert wide.loc[0, SHOWN] == "−0.100 [−0.100, −0.100] ✘"


def test_without_runs_there_is_nothing_to_tell(believed):
    assert examination.differences(pd.DataFrame()).empty
    few = examination.differences(believed(shown=0.0, kinds=("perfect",)))
    assert set(few["users"]) == {"perfect"}


def test_every_belief_meets_all_users_of_an_expectation_and_the_papers_belief_is_their_own_run():
    jobs = grid.ITEMS["examination"].jobs("paper")
    met = {(*grid.belief(job.cell).values(), job.cell.users.name) for job in jobs}
    assert met == {(who, seen, kind) for who in grid.BELIEVERS for seen in (PAPERS, ABOVE, SHOWN)
                   for kind in examination.KINDS}  # fmt: skip
    known = {job.cell.key for item in ("quality", "other-users") for job in grid.ITEMS[item].jobs("paper")}
    own = {job.cell.key for job in jobs if grid.belief(job.cell)["seen"] == PAPERS}
    assert own <= known and len(own) == 4 * len(grid.BELIEVERS)
    assert {seen for each in expected.EXPECTED["examination"] for seen in each.of["seen"]} == {ABOVE, SHOWN}


def test_each_expectation_stands_in_a_table_with_what_was_found(believed):
    table = examination.differences(believed())
    told = expected.told("examination", {"found": table, "nothing": table[:0]}, name="n", caption="c").splitlines()
    assert told[3] == "| belief | users | expected | because | found | nothing |"
    assert told[6].startswith("| all shown | navigational; informational; by position | \\< −0.005 | they")
    assert told[6].endswith(" | 3\N{NO-BREAK SPACE}✔ 0\N{NO-BREAK SPACE}○ 0\N{NO-BREAK SPACE}✘, −0.100 | – |")
    assert told[7].startswith("| to the last click | all | ± 0.005 | it")
