from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from ol2r.bandits import simulate_bandit
from ol2r.clicks import ItemClicks
from ol2r.experiments.claims import StandIn
from ol2r.experiments.effects import Effect, Nearness
from ol2r.papers.bubblerank import figures, tables
from ol2r.papers.bubblerank import grid as bubblerank
from ol2r.random import replica_key

PRINTED = pd.DataFrame(
    {"item": "first-100", "dataset": "log", "users": "CM", "learner": ["TopRank", "BubbleRank"], "mean": [80.0, 0.0],
     "deviation": [1.0, np.nan]}
)  # fmt: skip
STAND_INS = (StandIn("log", "one"),)


def runs(values, *, rounds=(10, 100, 1000), **columns):
    """Two queries of two runs a bandit; `values` gives the growth a step of violations and of regret by bandit."""
    lines = []
    for name, (unsafe, lost) in values.items():
        for fold in (1, 2):
            for seed in (0, 1):
                for n in rounds:
                    lines.append((name, fold, seed, n, unsafe * n, (lost + 0.1 * fold + 0.01 * seed) * n))
    frame = pd.DataFrame(lines, columns=["learner", "fold", "seed", "round", "violations", "regret"])
    return frame.assign(cell=frame["learner"], dataset="one", users="CM", initial_inversions=3, excess=2, **columns)


def test_a_random_list_violates_as_often_as_counting_all_orders_says():
    orders = list(permutations(range(5)))
    wrong = np.array([sum(order[a] > order[b] for a in range(5) for b in range(a + 1, 5)) for order in orders])
    for v in range(11):
        assert tables.random_list_violates(np.array([v]), 5) == pytest.approx((wrong > v + 2.5).mean())
    assert tables.random_list_violates(np.array([0, 45]), 10)[1] == 0


def test_early_violations_stand_beside_the_printed_ones():
    frame = runs({"TopRank": (0.9, 1), "BubbleRank": (0, 1), "Baseline": (0, 1)})
    table = tables.early_violations(frame, PRINTED, STAND_INS, 10).set_index("learner")
    assert table.loc["TopRank", ["mean", "published_mean", "published_error"]].tolist() == [90, 80, 1]
    assert table.loc["TopRank", "random"] == pytest.approx(100 * tables.random_list_violates(np.array([3]), 10)[0])
    assert np.isnan(table.loc["Baseline", "published_mean"])
    text = tables.early_violations_told(table.reset_index(), ("gone",), name="t", caption="c")
    assert "| model, data | BubbleRank | TopRank | Baseline | random lists |" in text
    assert "| CM, printed | 0.00 | 80.00 ± 1.00 | – |  |" in text
    random = f"{table.loc['TopRank', 'random']:.1f}"
    assert f"| CM, one | 0.00 ± 0.00 (0.00) | 90.00 ± 0.00 (0.00) | 0.00 ± 0.00 (0.00) | {random} |" in text
    assert "gone: *data not at hand*" in text


def test_nothing_printed_leaves_out_the_printed_line():
    table = tables.early_violations(runs({"Baseline": (0, 1)}), PRINTED, STAND_INS, 10)
    assert "printed" not in tables.early_violations_told(table, name="t", caption="c")


QUERIES = pd.DataFrame(
    {"dataset": "one", "users": "CM", "ranked": ["listed", "all"], "queries": 2, "items": [10.0, 11.5],
     "most_items": [10, 13], "inversions": [12.5, 20.0], "tied": 1, "optimum": 0.75, "unsorted": [2, 0],
     "sorted_loss": [0.01, 0.0]}
)  # fmt: skip


def test_final_regret_marks_the_lowest_of_its_line_beside_what_sorting_loses():
    table = tables.final_regret(runs({"BubbleRank": (0, 2), "TopRank": (0, 1)}))
    text = tables.final_regret_told(table, tables.sought(QUERIES, 1000), name="t", caption="c")
    assert "| model, data | BubbleRank | TopRank | list by attraction |" in text
    assert "| CM, one | 2,155 ± 50 | **1,155 ± 50** | 10.0 |" in text


def test_queries_are_told_with_how_many_items_there_are():
    text = tables.queries_told(QUERIES, 10, name="t", caption="c")
    assert "| CM, one | 2 | 12.5 | 0.750 | 1 | 2 | 0.0100 |" in text
    assert "| CM, one, L up to 13 | 2 | 20.0 | 0.750 | 1 | 0 | 0 |" in text


def test_overtaken_from_the_step_on_which_it_stays_behind():
    frame = runs({"BubbleRank": (0, 2), "TopRank": (0, 1), "Baseline": (0, 9)})
    early = (frame["learner"] == "TopRank") & (frame["round"] < 100)
    frame.loc[early, "regret"] += 1000
    found = tables.overtaken(frame).set_index("learner")["step"]
    assert found["TopRank"] == 100 and np.isnan(found["Baseline"])
    text = tables.overtaken_told(tables.overtaken(frame), name="t", caption="c")
    assert "| CM, one | 100 | never |" in text


def test_rates_of_violation_are_per_hundred_steps_of_each_tenfold():
    frame = runs({"TopRank": (0.5, 1), "BubbleRank": (0, 1)}, rounds=(1, 10, 100, 158, 1000, 5000))
    frame.loc[frame["round"] == 5000, "violations"] = frame.loc[frame["round"] == 1000, "violations"].to_numpy()
    table = tables.violation_rates(frame)
    own = table[table["learner"] == "TopRank"].sort_values("round")
    assert own[["since", "round"]].to_numpy().tolist() == [[0, 100], [100, 1000], [1000, 5000]]
    assert own["mean"].tolist() == [50, 50, 0] and own["safe"].tolist() == [0, 0, 0]
    text = tables.violation_rates_told(table, name="t", caption="c")
    assert "| bandit | to 100 | to 1,000 | to 5,000 | safe runs | largest excess |" in text
    assert (
        "| **CM, one** |  |  |  |  |  |\n| BubbleRank | 0 | 0 | 0 | 100 % | 2 |\n| TopRank | 50 | 50 | 0 | 0 %" in text
    )


def test_excess_tells_unsafe_runs_and_base_lists_that_never_got_worse():
    frame = runs({"BubbleRank": (0, 1), "TopRank": (0.01, 1)})
    frame["base_inversions"] = np.where(
        frame["learner"] == "BubbleRank", np.where(frame["fold"] == 1, 3.0, 4.0), np.nan
    )
    table = tables.excess_of_more_items(frame).set_index("learner")
    assert table["unsafe"].to_dict() == {"BubbleRank": 0, "TopRank": 1}
    assert table.loc["BubbleRank", "improved"] == 0.5 and np.isnan(table.loc["TopRank", "improved"])
    text = tables.excess_told(table.reset_index(), name="t", caption="c")
    assert "| **CM, one** |" in text and "| BubbleRank | 0 | 0 % | 2 | 50 % |" in text
    assert "| TopRank | 10.0 | 100 % | 2 | – |" in text


def test_another_choice_is_worth_its_paired_difference_over_queries():
    main = runs({"BubbleRank": (0, 2)}, freeze=False, parity="algorithm")
    other = runs({"BubbleRank": (0.1, 3)}, freeze=True, parity="algorithm").assign(cell="other")
    setting = {"freeze": False, "parity": "algorithm"}
    table = tables.choices(
        {"freeze": pd.concat([main, other])},
        [("freeze", "BubbleRank", "kept", {"freeze": True})],
        {"BubbleRank": setting},
    )
    (found,) = table.itertuples()
    assert found.difference == pytest.approx(1000) and found.regret == pytest.approx(2155)
    assert (found.low, found.high) == pytest.approx((1000, 1000))
    assert (found.early, found.early_other, found.late, found.late_other) == pytest.approx((0, 10, 0, 100))
    text = tables.choices_told(table, name="t", caption="c")
    assert "| **BubbleRank: kept** |" in text
    assert "| CM, one | 2,155 | 3,155 | +1,000 [+1,000, +1,000] | 0 → 10.0 | 0 → 100 |" in text


def test_every_declared_choice_is_one_of_its_items_settings():
    for item, bandit, _, changed in bubblerank.OTHER_CHOICES:
        settings = [dict(cell.parameters) for cell in bubblerank.ITEMS[item].cells("paper")]
        main = bubblerank.SETTINGS[bandit]
        assert main in settings and {**main, **changed} in settings


def test_the_predicted_regret_of_a_rising_item_is_near_what_bubblerank_does():
    users = ItemClicks("position", (0.9, *(0.5,) * 5), (0.9,) * 4 + (0.25, 0.25))
    steps, exponent, cut = 100_000, 4.0, 3
    keys = [replica_key("rising item", 1, seed) for seed in range(20)]
    trace = simulate_bandit(
        "BubbleRank",
        bubblerank.SETTINGS["BubbleRank"],
        [users] * 20,
        [(1, 2, 3, 4, 5, 0)] * 20,
        keys,
        steps,
        [steps],
        cut,
    )
    assert trace.regret.mean() == pytest.approx(tables.predicted_regret(users, steps, exponent, cut), rel=0.1)
    assert tables.predicted_regret(users, 10, exponent, cut) == pytest.approx(10 * 0.9 * 0.4)


def test_predictions_are_for_every_halving_and_approach_doubling():
    predicted = tables.predictions(1_000_000)
    ratios = (predicted / predicted.shift()).dropna()
    assert list(predicted.index) == [1, 2, 3, 4, 5]
    assert ratios.is_monotonic_increasing and 1.5 < ratios.iloc[0] < ratios.iloc[-1] < 2


def test_halvings_stand_beside_their_prediction():
    frame = pd.DataFrame(
        {"fold": [1, 1, 2, 2], "seed": [0, 1, 0, 1], "round": 10, "regret": [90.0, 110.0, 180.0, 200.0]}
    )  # fmt: skip
    table = tables.halvings(frame, pd.Series({1: 100.0, 2: 200.0}))
    text = tables.halvings_told(table, name="t", caption="c")
    assert "| $0.5^1$ | 100 ± 10 | – | 100 | – |" in text and "| $0.5^2$ | 190 ± 10 | 1.90 | 200 | 2.00 |" in text


def test_lines_are_told_with_their_straightness():
    table = pd.DataFrame(
        {"dataset": ["one"], "users": ["CM"], "slope": [1234.5], "intercept": [-3.0], "explained": [0.98],
         "explained_lists": [0.4], "values": [20], "lists": [500], "own": [1200.0], "low": [1100.0], "high": [1300.0]}
    )  # fmt: skip
    told = tables.inversions_told(table, name="t", caption="c")
    assert "| CM, one | 1,234 | −3.00 | 0.980 | 0.400 | 20 | 500 | 1,200 [1,100, 1,300] |" in told


@pytest.fixture
def compared(invented_results):
    """BubbleRank beside two others; that the list by falling attraction earns less counts nowhere."""
    frame = runs({"BubbleRank": (0, 2), "TopRank": (0.5, 0.85), "Baseline": (0, 99)}, rounds=(100, 1000, 2000))
    frame = frame.assign(optimum=9.0)
    rewards = pd.DataFrame({"cell": "q", "dataset": "one", "users": "CM", "fold": [1, 2], "seed": 0, "optimum": 9.0})
    results = {"fig-1": frame, "first-100": frame, "query-rewards": rewards.assign(sorted_reward=8.5)}
    return tables.compared({item: invented_results(own) for item, own in results.items()})


def test_one_bandit_is_compared_in_the_quantities_of_the_claims(compared):
    assert list(dict.fromkeys(compared["panel"])) == ["1,000 steps", "2,000 steps", "first 100 steps"]  # no 10,000
    assert list(dict.fromkeys(compared["row"])) == ["TopRank", "Baseline"] and set(compared["users"]) == {"CM"}
    lines = compared.set_index(["row", "panel"])["mean"]
    for panel in ("1,000 steps", "2,000 steps"):
        assert lines["TopRank", panel] == pytest.approx(2.155 / 1.005)
        assert lines["Baseline", panel] == pytest.approx(2.155 / 99.155)
    assert lines["TopRank", "first 100 steps"] == pytest.approx(-50) and lines["Baseline", "first 100 steps"] == 0
    assert (compared["low"] <= compared["mean"]).all() and (compared["mean"] <= compared["high"]).all()


def test_without_runs_nothing_is_compared(compared, invented_results):
    none = runs({"BubbleRank": (0, 2)})[:0]
    empty = tables.compared({item: invented_results(none) for item in ("fig-1", "first-100", "query-rewards")})
    assert empty.empty and list(empty) == list(compared)


def test_without_a_column_of_rounds_what_pages_read_is_empty():
    nothing = pd.DataFrame(columns=["cell", "dataset", "users", "learner", "fold", "seed"])
    read = tables.final_regret(nothing)["mean"], tables.violated(nothing), tables.sought(nothing, 10)
    read += tables.growth(nothing, "TopRank"), figures.regret_ratios(nothing, "TopRank")["low"]
    assert {len(each) for each in read} == {0}


def test_violations_are_those_of_one_bandit_after_the_last_step():
    assert tables.violated(runs({"BubbleRank": (0.5, 1), "TopRank": (0.9, 1)})).tolist() == [500.0] * 4


def test_growth_is_that_of_the_last_tenfold_also_less_what_each_step_loses():
    frame = runs({"CascadeKL-UCB": (0, 1), "TopRank": (0, 9)})
    late = (frame["learner"] == "CascadeKL-UCB") & (frame["round"] == 1000)
    frame.loc[late, "regret"] = 600.0  # after 115.5 in the mean
    assert tables.growth(frame, "CascadeKL-UCB")["one", "CM"] == pytest.approx(600 / 115.5)
    less = tables.sought(QUERIES.assign(sorted_loss=0.5), 1)
    assert tables.growth(frame, "CascadeKL-UCB", less)["one", "CM"] == pytest.approx(100 / 65.5)


def test_the_slope_is_read_from_how_near_it_is_to_one():
    def read(effect):
        return tables.slope(SimpleNamespace(tested=[SimpleNamespace(effect=effect and Nearness(effect, 0.2))]))

    slope = read(Effect(-0.2, 0.01, 99, 5, 100))
    assert slope.mean == pytest.approx(0.8) and slope.low < 0.8 < slope.high < 0.83
    assert np.isnan(read(None)).all()


def test_the_audit_of_the_event_is_told_with_what_is_promised():
    line = {"users": "CM", "positions": 4, "exponent": 0.5, "runs": 2000, "held": 1900, "share": 0.95, "low": 0.94}
    line |= {"high": 0.96, "promised": 0.5, "proved": 0.9, "unsafe": 0.01, "unsafe_held": 3, "pairs_ratio": 0.8}
    line |= {"pairs_over": 1, "pairs_over_broken": 5, "worse": 7, "worse_held": 2}
    text = tables.event_told(pd.DataFrame([line, line | {"exponent": 1.0}]), name="t", caption="c")
    told = "0.950 [0.940, 0.960] | 0.500 | 0.900 | 3 / 17 | 0.80 | 1 / 5 | 2 / 5 |"
    assert text.count("| **CM, K = 4, 2,000 runs** |") == 1
    assert f"| $n^{{-0.5}}$ | {told}" in text and f"| $n^{{-1}}$ | {told}" in text


def test_bounds_are_told_after_the_last_step_and_marked_where_they_say_nothing():
    line = {"dataset": "worlds", "users": "PBM", "positions": 3, "inversions": 2, "cut": 2, "error": 1.5}
    early = line | {"round": 1, "regret": 1.0, "bound": 2.0, "everything": 3.0, "loose": 2.0, "proved": 1.5,
                    "proved_loose": 1.5, "best": 2.0}  # fmt: skip
    late = early | {"round": 10, "regret": 10.0, "bound": 30.0, "everything": 30.0, "loose": 3.0, "proved": 15.0}
    text = tables.bounds_told(pd.DataFrame([early, late]), name="t", caption="c")
    assert r"| PBM, K = 3, \|V₀\| = 2 | 2 | 10.0 ± 1.5 | 30.0 (K n) | 3.00 | 15.0 | 1.50 | 2.00 |" in text
    assert text.count("PBM, K = 3") == 1


def test_the_factors_of_looseness_are_told_in_order():
    line = {"users": "CM", "positions": 3, "inversions": 0, "ratio": 64.0, "lists": 2.0, "pairs": 4.0, "evidence": 1.0}
    line |= {"gaps": 2.0, "left": 4.0, "confidence": 4.2}
    text = tables.looseness_told(pd.DataFrame([line]), name="t", caption="c")
    assert r"| CM, K = 3, \|V₀\| = 0 | 64.0 | 2.00 | 4.00 | 1.00 | 2.00 | 4.00 | 4.20 |" in text


def test_what_the_theorem_says_of_queries_is_told_with_powers_of_ten():
    line = {"dataset": "one", "users": "DCM", "queries": 60, "differ": 58, "falls": 0, "assumed": 0, "says": 0}
    line |= {"says_apart": 1, "says_examined": 2, "says_both": 13, "proved_says": 4, "gap": 0.00093, "even_gap": 0.045}
    line |= {"first_step": 1.8e8, "half_step": np.inf}
    text = tables.query_bounds_told(pd.DataFrame([line]), name="t", caption="c")
    counted = "60 | 58 / 0 / 0 | 0 / 1 / 2 / 13 | 4 | 0.00093 / 0.045"
    assert f"| DCM, one | {counted} | 1.8·10⁸ / never |" in text


def settings_beside():
    main = runs({"BubbleRank": (0, 1), "BatchRank": (0, 5), "TopRank": (0, 2), "Baseline": (0, 9)})
    late = (main["learner"] == "BubbleRank") & (main["round"] == 1000)
    main.loc[late, "regret"] *= 3
    other = runs({"BubbleRank": (0, 1), "BatchRank": (0, 2)})
    return tables.beside(main, {"BatchRank of public code, last click": other}, "BatchRank", "BubbleRank", "TopRank")


def test_a_bandit_in_another_setting_stands_beside_itself_under_its_own_name():
    frame = settings_beside()
    assert set(frame["learner"]) == {"BubbleRank", "BatchRank", "TopRank", "BatchRank of public code, last click"}
    told = tables.beside_told(frame, (10,), name="t", caption="c")
    assert "| **after 10 steps** |" in told and "| **after 1,000 steps** |" in told
    assert "| CM, one | 11.6 | 51.5 | 21.5 | 21.5 |" in told  # BubbleRank, BatchRank, last click, TopRank
