import numpy as np
import pandas as pd
import pytest
from shown import line

from ol2r.papers.bubblerank import safety_figures as figures
from ol2r.papers.bubblerank.safety import CHANCE
from ol2r.report.style import USERS
from ol2r.theory.bandits import bubblerank_certain

ROUNDS = [1, 10, 100, 400, 500]
LEARNERS = {"NSGD": 4, "BubbleRank": 0, CHANCE: 2}
"""Every so many rounds one violates; BubbleRank never does."""


@pytest.fixture(scope="module")
def runs():
    """Production scores .5 a round; NSGD .1 less up to round 100 and .1 more from then on, the others as much."""
    t = np.array(ROUNDS)
    frames = []
    for dataset, users, (variant, every), seed in (
        (d, u, each, s) for d in ("one", "two") for u in USERS for each in LEARNERS.items() for s in (0, 1)
    ):
        if variant == "BubbleRank" and users != "perfect":
            continue
        gained = np.where(t <= 100, -0.1 * t, -10 + 0.1 * (t - 100)) if variant == "NSGD" else 0.0 * t
        columns = {"dataset": dataset, "users": users, "variant": variant, "cell": f"{dataset}{users}{variant}"}
        columns |= {"items": "listed", "production": "few labels", "fold": 1, "seed": seed, "round": t}
        columns |= {
            "violations": (t // every if every else 0 * t) + seed,
            "reference_violations": t // 50,
            "excess": 7 + seed,
            "inversions": 3 * t,
            "initial_inversions": 5 * t,
            "production_ndcg_total": 0.5 * t,
            "ndcg_total": 0.5 * t + gained,
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def test_the_reference_stands_beside_the_learners_it_was_judged_with(runs):
    table = figures.violations_table(runs).query("dataset == 'one' and users == 'informational'")
    assert set(table["variant"]) == {"NSGD", CHANCE, figures.REFERENCE}
    own = table[table["variant"] == figures.REFERENCE].sort_values("round")
    assert own["mean"].tolist() == pytest.approx([0, 0, 100 * 2 / 90, 100 * 6 / 300, 100 * 2 / 100])
    own = table[table["variant"] == "NSGD"].sort_values("round")
    assert own["mean"].tolist() == pytest.approx([50, 100 * 2 / 9, 100 * 23 / 90, 25, 25]) and (own["n"] == 2).all()


def test_violations_have_a_row_a_data_set_and_a_column_a_kind_of_user_with_zero_on_the_axis(runs):
    fig = figures.violations(runs, first=10)
    assert [ax.get_title() for ax in fig.axes] == [*USERS, "", "", ""]
    assert {(ax.get_xscale(), ax.get_ylim()[0]) for ax in fig.axes} == {("log", 0.0)}
    assert list(line(fig.axes[3], "NSGD").get_xdata()) == [55.5, 250.5, 450.5]
    assert list(line(fig.axes[3], "NSGD").get_ydata()) == pytest.approx([100 * 23 / 90, 25, 25])
    for ax in fig.axes:
        assert ("BubbleRank" in ax.get_legend_handles_labels()[1]) == (ax in (fig.axes[0], fig.axes[3]))
        for band in ax.collections:
            assert band.get_paths()[0].vertices[:, 1].min() >= 0.0
    assert "95 % interval over runs" in fig.get_supylabel()
    assert "seed" not in fig.table


def test_gains_are_of_the_rounds_of_each_window(runs):
    table = figures.gains_table(runs).query("dataset == 'two' and users == 'perfect' and variant == 'NSGD'")
    assert table.sort_values("round")[["since", "round"]].to_numpy().tolist() == [
        [0, 1], [1, 10], [10, 100], [100, 400], [400, 500],
    ]  # fmt: skip
    np.testing.assert_allclose(table.sort_values("round")["mean"], [-0.1, -0.1, -0.1, 0.1, 0.1])
    close = runs[runs["round"] == 400].assign(round=380, ndcg_total=0.0)
    pd.testing.assert_frame_equal(figures.gains_table(pd.concat([runs, close])), figures.gains_table(runs))
    fig = figures.gains(runs, first=10)
    assert line(fig.axes[0], "NSGD").get_xdata().tolist() == [55.5, 250.5, 450.5]
    assert line(fig.axes[0], "production").get_ydata() == [0.0, 0.0]
    np.testing.assert_allclose(line(fig.axes[0], "BubbleRank").get_ydata(), 0.0)


def test_the_table_tells_early_and_late_violations_with_what_they_bought(runs):
    table = figures.safety_table(runs, early=(100, 1000))
    assert table[["dataset", "users", "variant"]].to_numpy().tolist()[:4] == [
        ["one", "perfect", "NSGD"],
        ["one", "perfect", "BubbleRank"],
        ["one", "perfect", CHANCE],
        ["one", "navigational", "NSGD"],
    ]
    own = table.iloc[0]
    assert "v_1000" not in table and (own["v_100"], own["v"], own["late"]) == (25.5, 125.5, 25.0)
    assert (own["late_reference"], own["excess"], own["wrong"], own["wrong_production"]) == (2.0, 7.5, 3.0, 5.0)
    assert own["ndcg"] - own["ndcg_production"] == pytest.approx(0.1)
    assert own["half"] == pytest.approx(12.7062 * 0.5, rel=1e-4)  # t at one degree of freedom; seeds differ by 1
    assert table.iloc[1]["late"] == 0.0
    text = figures.safety_told(table, name="t", caption="c")
    lines = text.splitlines()
    found = lines[next(i for i, each in enumerate(lines) if each.startswith("| **one, perfect** |")) + 1]
    assert [cell.strip() for cell in found.split("|")[1:-1]] == [
        "NSGD",
        "25.5", "126 ± 6", "25.00", "2.00", "8", "3.00 (5.00)", "+0.100",
    ]  # fmt: skip


def test_settings_are_not_mixed(runs):
    mixed = pd.concat([runs, runs.assign(items="all")])
    for draw in (figures.violations, figures.gains, figures.safety_table):
        with pytest.raises(ValueError, match="choose what is ranked"):
            draw(mixed)


def test_patience_is_what_the_threshold_takes(runs):
    runs = runs.assign(queries=np.minimum(runs["round"], 50), exponent=4.0)
    assert figures.met(runs).to_dict() == {"one": 10.0, "two": 10.0}
    needed, log_inverse_delta = figures.clicks_needed(runs), 4.0 * np.log(500)
    assert bubblerank_certain(needed, needed, log_inverse_delta)
    assert not bubblerank_certain(needed - 1, needed - 1, log_inverse_delta)


def test_choices_stand_side_by_side(runs):
    table = figures.choices_table(pd.concat([runs, runs.assign(items="all", violations=runs["round"])]))
    assert set(table["items"]) == {"listed", "all"}
    text = figures.choices_told(table, {"listed": "re-ranked", "all": "all"}, name="t", caption="c")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert lines[0] == ["data", "learner", "re-ranked, few labels", "all, few labels"]
    assert ["one", "NSGD", "25.0 / 25.0 / 25.0", "100.0 / 100.0 / 100.0"] in lines
    assert ["two", "BubbleRank", "0.0", "100.0"] in lines


def test_production_is_told_from_the_rounds_of_random_lists(runs):
    table = figures.production_table(runs.assign(labelled=10, possible=runs["round"] // 4))
    assert table[["dataset", "items", "labelled"]].to_numpy().tolist() == [["one", "listed", 10], ["two", "listed", 10]]
    np.testing.assert_allclose(table[["wrong", "ndcg", "possible", "chance"]], [[5, 0.5, 0.25, 0.501]] * 2)
    text = figures.production_told(table, {"listed": "re-ranked"}, name="t", caption="c")
    assert "| one | re-ranked | 10 | 5.00 | 0.500 | 25.0 | 50.1 |" in text


@pytest.fixture(scope="module")
def cautious():
    """SafePairRank at two widths: violations in 20 and in 2 of a hundred rounds, gains of .1 and .05."""
    t = np.array(ROUNDS)
    frames = []
    for (caution, every, gain), users, seed in (
        (each, u, s) for each in ((1.0, 5, 0.1), (10.0, 50, 0.05)) for u in USERS for s in (0, 1)
    ):
        columns = {"dataset": "one", "users": users, "variant": "SafePairRank", "caution": caution, "cell": "x"}
        columns |= {"items": "listed", "production": "few labels", "fold": 1, "seed": seed, "round": t}
        columns |= {"violations": t // every, "reference_violations": 0 * t, "excess": 5, "inversions": 3 * t}
        columns |= {"initial_inversions": 5 * t, "production_ndcg_total": 0.5 * t, "ndcg_total": (0.5 + gain) * t}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def test_each_width_has_a_mark_for_each_kind_of_users_and_parents_stand_beside(runs, cautious):
    beside = runs[runs["dataset"] == "one"].replace({"variant": {"NSGD": "PairRank_C"}})
    both = figures.with_parents(cautious, beside)
    table = figures.caution_table(both)
    own = table[table["variant"] == "SafePairRank"].set_index(["caution", "users"])
    assert own.loc[1.0, "in_100"].tolist() == [20.0] * 3 and own.loc[10.0, "in_100"].tolist() == [2.0] * 3
    assert own.loc[1.0, "gain"].tolist() == pytest.approx([0.1] * 3)
    parent = table[table["variant"] == "PairRank_C"]
    assert parent["in_100"].tolist() == pytest.approx([100 * 125.5 / 500] * 3) and parent["caution"].isna().all()
    assert set(table["variant"]) == {"SafePairRank", "PairRank_C", "BubbleRank"}

    fig = figures.cautions(both)
    (ax,) = fig.axes
    joined = [each for each in ax.lines if each.get_marker() == "H"]
    assert [list(each.get_xdata()) for each in joined] == [[20.0, 2.0]] * 3
    assert len([each for each in ax.lines if each.get_marker() == "*" and len(each.get_xdata())]) == 3
    assert "SafePairRank at PairRank's α, violations in a hundred rounds: highest for" in fig.alt
    assert "SafePairRank at its widest intervals, NDCG@10 less production's: highest for" in fig.alt
    assert figures.with_parents(cautious, beside[:0]).empty and figures.with_parents(cautious[:0], beside).empty
    text = figures.widths_told(table, name="t", caption="c")
    assert "| **one, perfect** |" in text and "| SafePairRank | 10 | 2.00 | 2.00 | +0.050 |" in text
    assert "| PairRank_C | – | 25.10 | 25.00 |" in text or r"| PairRank\_C | – | 25.10 | 25.00 |" in text


def test_a_width_is_as_safe_as_its_worst_users_and_rounds(cautious):
    table = figures.caution_table(cautious)
    assert figures.most_violations(table).to_dict() == pytest.approx({("one", 1.0): 20.0, ("one", 10.0): 2.0})
    late = table.assign(late=table["late"].mask(table["users"] == "navigational", 30.0))
    assert figures.most_violations(late)["one", 10.0] == 30.0
