"""The two steps of tuning on invented scores: who is on a shortlist, who is chosen of it, and what an edge gains."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.grid import first_step
from ol2r.experiments.tuning import Tuned, TuningGrid, by_users, edges, grid_scores, marked

NAMES = ("alpha", "epsilon")


def runs(scores, seeds, variants=("one", "two")):
    """Runs of a grid: the score of each alpha, a little more for later seeds and for perfect users."""
    lines = [
        {"dataset": "own", "grid": "both", "users": users, "variant": variant, "alpha": alpha, "epsilon": np.nan,
         "fold": 1, "seed": seed, "round": 10, "status": "ok",
         "ndcg": score(variant) + 0.001 * seed + 0.01 * (users == "perfect")}
        for (alpha, score), users, variant, seed in product(scores.items(), ("perfect", "noisy"), variants, seeds)
    ]  # fmt: skip
    return pd.DataFrame(lines)


def level(value):
    return lambda variant: value


def tuned(size, never=(), **best_of):
    """A grid of alphas with shortlists of this size, of which some alphas never may be chosen.

    Args:
        best_of: alphas that its file has listed before, each with for whom it was chosen: by "a" and the alpha.
    """
    tried = {"alpha": (0.0, 0.1, 1.0, 10.0), "epsilon": ()}
    grids = {name: TuningGrid(("one", "two"), tried, never={"alpha": tuple(never)}) for name in ("both", "long")}
    own = Tuned("nowhere", grids, ("own",), lambda *which: size)
    vars(own)["lines"] = [  # as if its file had them
        {"dataset": "own", "grid": "both", "alpha": name.removeprefix("a"), "epsilon": "", "best_of": of}
        for name, of in best_of.items()
    ]
    return own


FIRST = runs({0.0: level(0.9), 0.1: level(0.5), 1.0: level(0.7), 10.0: level(0.6)}, (0, 1))
LONGER = runs({1.0: lambda variant: {"one": 0.8, "two": 0.4}[variant], 10.0: level(0.65)}, (2, 3, 4))


def test_the_best_of_the_first_step_are_listed_and_the_best_of_the_second_is_chosen():
    table = tuned(2, never=[0.0]).table(FIRST, LONGER)
    assert table["alpha"].tolist() == [1.0, 10.0]
    assert table["best_of"].tolist() == ["one", "all + two"]
    scores = marked(grid_scores(FIRST, NAMES, "grid"), table, NAMES)
    assert scores.loc[scores["best"], "alpha"].tolist() == [10.0] and len(scores) == 4
    assert table["longer"].tolist() == pytest.approx([0.6 + 0.003 + 0.005, 0.65 + 0.003 + 0.005])


def test_without_a_second_step_there_is_a_list_and_no_choice():
    table = tuned(3).table(FIRST, pd.DataFrame())
    assert table["alpha"].tolist() == [0.0, 1.0, 10.0]
    assert table["longer"].isna().all() and (table["best_of"] == "").all()


def test_without_a_second_step_what_was_chosen_before_stays():
    table = tuned(1, a10="all + one", a1="two").table(FIRST, FIRST[:0])
    assert table["alpha"].tolist() == [0.0, 1.0, 10.0] and table["best_of"].tolist() == ["", "two", "all + one"]


def test_a_run_that_stands_for_several_kinds_of_users_counts_once():
    once = FIRST[FIRST["users"] == "noisy"].assign(cell=lambda own: own["alpha"].astype(str) + own["variant"])
    thrice = pd.concat([once.assign(users=users) for users in ("perfect", "noisy", "informational")])
    one, three = (grid_scores(frame, NAMES, "grid") for frame in (once, thrice))
    pd.testing.assert_frame_equal(one, three)
    best = one.assign(best=one["alpha"] == 10.0)
    pd.testing.assert_frame_equal(edges(once, best, NAMES, "grid"), edges(thrice, best, NAMES, "grid"))


def test_a_listed_setting_stays_when_a_grid_is_extended_unless_a_run_of_it_diverged():
    extended = tuned(1, a10="", a1e9="")
    table = extended.table(FIRST, LONGER)
    assert table["alpha"].tolist() == [0.0, 10.0]
    lost = FIRST.assign(status=np.where(FIRST["alpha"] == 10.0, "diverged", "ok"))
    assert extended.table(lost, LONGER)["alpha"].tolist() == [0.0]


@pytest.mark.parametrize(("gains", "chosen"), [((0.0, 0.03), 10.0), ((0.02, 0.03), 1.0)])
def test_a_chosen_setting_stays_unless_another_gains_more_than_a_standard_error(gains, chosen):
    """A mean gain of 0.015 or 0.025, with a standard error of 0.015 or 0.005 of two runs."""
    added = LONGER[(LONGER["variant"] == "one") & (LONGER["users"] == "noisy") & (LONGER["seed"] < 4)]
    added = added.assign(ndcg=np.where(added["alpha"] == 1.0, added["seed"].map({2: gains[0], 3: gains[1]}), 0.0))
    for grids, expected in ((tuned(4), 1.0), (tuned(4, a10="all"), chosen)):
        table = grids.table(FIRST, added)
        assert table.loc[table["best_of"].str.startswith("all"), "alpha"].tolist() == [expected]


def test_where_nothing_was_tuned_nothing_is_listed():
    nothing = pd.DataFrame({"dataset": []})
    table = tuned(3).table(nothing, nothing)
    assert table.empty and marked(grid_scores(nothing, NAMES, "grid"), table, NAMES).empty
    assert edges(nothing, grid_scores(nothing, NAMES, "grid"), NAMES, "grid").empty


def test_an_edge_is_told_with_its_gain_over_the_value_inside():
    scores = grid_scores(FIRST, NAMES, "grid")
    assert edges(FIRST, scores.assign(best=scores["alpha"] == 1.0), NAMES, "grid").empty
    (edge,) = edges(FIRST, scores.assign(best=scores["alpha"] == 10.0), NAMES, "grid").to_dict("records")
    assert (edge["name"], edge["value"], edge["inside"]) == ("alpha", 10.0, 1.0)
    assert (edge["gain"], edge["error"]) == (pytest.approx(-0.1), pytest.approx(0.0, abs=1e-12))


def test_the_smoke_tier_tries_the_ends_of_every_hyper_parameter_and_the_others_all():
    grid = TuningGrid(("one",), {"alpha": (0.1, 1.0, 10.0), "epsilon": (0.5,)})
    assert grid.at("smoke") == [{"alpha": 0.1, "epsilon": 0.5}, {"alpha": 10.0, "epsilon": 0.5}]
    assert [setting["alpha"] for setting in grid.at("laptop")] == [0.1, 1.0, 10.0]


def test_grids_whose_runs_end_at_other_rounds_are_scored_at_their_own_end():
    long = runs({0.1: level(0.5), 1.0: level(0.7)}, (0, 1), ("long",)).assign(grid="long", round=50)
    table = tuned(1).table(pd.concat([FIRST, long]), FIRST.iloc[:0])
    assert dict(zip(table["grid"], table["alpha"], strict=True)) == {"both": 0.0, "long": 1.0}


def test_a_grid_for_each_kind_of_users_is_run_under_these_users_alone():
    own = Tuned("nowhere", by_users({"one": TuningGrid(("one",), {"alpha": (0.1, 1.0)})}), ("MQ2008",))
    met = {(run.grid, run.users) for run in first_step(own, "paper", lambda dataset: False)}
    assert met == {(f"one, {kind} users", kind) for kind in ("perfect", "navigational", "informational")}


def test_a_grid_is_widened_past_an_edge_of_the_best_or_the_next_best_that_gains():
    """Of 0.1, 1 and 10 in this order: the next best lies at 10, which gains over 1 as soon as runs do not differ."""
    scores = {0.1: level(0.5), 1.0: level(0.7), 10.0: level(0.69)}
    assert tuned(3).open_edges(runs(scores, (0, 1)), FIRST[:0]).empty  # the edge is no better than the value inside
    scores = {0.1: level(0.7), 1.0: level(0.5), 10.0: level(0.69)}
    found = tuned(3).open_edges(runs(scores, (0, 1)), FIRST[:0])
    assert sorted(found["value"]) == [0.1, 10.0] and found["gain"].tolist() == pytest.approx([0.2, 0.19])
    longer = runs({1.0: level(0.8), 10.0: level(0.9), 0.1: level(0.1)}, (2, 3))
    assert tuned(3).open_edges(runs(scores, (0, 1)), longer)["value"].tolist() == [10.0]


def test_an_edge_at_0_is_closed():
    found = tuned(2).open_edges(runs({0.0: level(0.9), 0.1: level(0.5), 1.0: level(0.6)}, (0, 1)), FIRST[:0])
    assert found["value"].tolist() == [1.0]
