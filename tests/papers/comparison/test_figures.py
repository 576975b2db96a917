"""Figures of the comparison: their tables have the numbers, and their marks stand where these are."""

import pandas as pd
import pytest

from ol2r.papers.comparison import figures, grid, measures, ranks
from ol2r.report.style import MOST_PANELS


@pytest.fixture
def runs(frame):
    return measures.of_runs(frame)


def test_what_users_lost_is_taken_from_the_best_lists_under_the_same_users(runs, timed):
    runs.loc[(runs["users"] == "perfect") & (runs["variant"] == "PDGD"), "lists"] += 0.3
    table = figures.traded(runs, measures.costs(timed)).set_index(["users", "variant"])
    assert table.loc[("navigational", "PDGD"), "lost"] == pytest.approx(0.15)
    assert table.loc[("perfect", "PDGD"), "lost"] == 0
    assert table.loc[("perfect", "olRankNet"), "lost"] == pytest.approx(0.15)
    assert table.loc[("perfect", "PairRank"), "mean"] == pytest.approx(0.515)
    assert table.loc[("perfect", "PairRank"), "number"] == grid.COMPARED.index("PairRank") + 1
    assert table.loc[("perfect", "DBGD"), "milliseconds"] != table.loc[("perfect", "DBGD"), "milliseconds"]


def test_each_learner_has_a_numbered_mark_in_each_panel(runs, timed):
    fig = figures.trade_off(figures.traded(runs, measures.costs(timed)))
    assert [ax.get_title() for ax in fig.axes] == ["perfect", "navigational", "informational"]
    numbers = {int(text.get_text()): text.xy for text in fig.axes[0].texts}  # pyright: ignore[reportAttributeAccessIssue]
    assert set(numbers) == {grid.COMPARED.index(name) + 1 for name in set(runs["variant"])}
    assert numbers[1] == pytest.approx((0.1, 0.515))
    areas = [mark.get_sizes()[0] for mark in fig.axes[0].collections if hasattr(mark, "get_sizes")]
    assert min(areas) == figures.AREAS[0] and max(areas) == figures.AREAS[1]
    assert "under perfect users the best ranker is olRankNet's (0.615)" in fig.alt
    assert figures.trade_off(figures.traded(runs, measures.costs(timed[:0]))).alt == fig.alt


def test_curves_of_each_kind_of_learner_are_behind_a_tab_on_one_scale(frame):
    choice = figures.curves(frame)
    assert list(choice.drawings) == ["linear rankers", "dueling bandits", "networks"]
    axes = [ax for each in choice.drawings.values() for ax in each.axes]
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert all(len(each.panels()) <= MOST_PANELS for each in choice.drawings.values())
    assert {name for names in figures.GROUPS.values() for name in names} == set(grid.COMPARED)


def test_bars_of_ranks_that_do_not_meet_are_apart(runs):
    found = ranks.ranks(runs, "offline")
    fig = figures.rank_bars({"offline": found, "lists": ranks.ranks(runs, "lists")})
    assert len(fig.axes) == 2 and fig.axes[0].get_yticklabels()[0].get_text() == "olRankNet"
    own = fig.table[fig.table["panel"] == "offline"].set_index("variant")
    assert (
        own.loc["olRankNet", "high"] < own.loc["PDGD", "low"]
        and own.loc["olRankNet", "high"] > own.loc["PairRank", "low"]
    )
    assert "offline: olRankNet 1.0, PairRank 2.0" in fig.alt


def test_violations_are_listed_from_the_fewest(judged):
    table = figures.unsafe_dots(measures.unsafe(judged))
    assert list(dict.fromkeys(table["row"])) == ["BubbleRank", "DBGD", "PairRank", "random lists"]
    assert table.loc[0, "mean"] == 0 and list(table.columns[:2]) == ["row", "users"]
    assert isinstance(table, pd.DataFrame) and set(table["panel"]) == {"violations"}


def test_starts_have_a_panel_for_each_learner_and_a_line_for_each_start(begun):
    runs = begun(**{"wrong": -0.1})
    drawing = figures.start_curves(runs[runs["users"] == "perfect"])
    assert [ax.get_title() for ax in drawing.axes] == ["PairRank", "DBGD"]
    for ax in drawing.axes:
        assert {line.get_label() for line in ax.get_lines()} == {grid.UNTRAINED, *grid.STARTS}
    assert drawing.table["round"].min() > 0 and "lowest for wrong (0.415)" in drawing.alt
    assert list(figures.STARTED) == [grid.UNTRAINED, *grid.STARTS]
