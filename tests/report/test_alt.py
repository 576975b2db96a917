"""Alternative texts tell the result of a table: who ends where, and what an interval shows."""

import pandas as pd

from ol2r.report import alt


def test_the_lines_that_end_highest_and_lowest_are_named_with_their_means_in_each_panel():
    table = pd.DataFrame(
        [("perfect", "P2LinRank", 1, 9.0), ("perfect", "P2LinRank", 10, 0.5), ("perfect", "DBGD", 10, 0.25),
         ("perfect", "MGD", 10, 0.3), ("informational", "DBGD", 10, 0.1), ("informational", "level", None, 7.0)],
        columns=["users", "learner", "round", "mean"],
    )  # fmt: skip
    told = alt.ends(table, "learner", "NDCG", ["users"])
    assert told == (
        "At the end, NDCG: highest for P²LinRank (0.5), lowest for DBGD (0.25) under perfect users; "
        "DBGD (0.1) under informational users."
    )


def test_panels_are_told_by_data_set_and_then_in_the_order_of_users():
    cases = [("b", "informational"), ("b", "perfect"), ("a", "perfect")]
    table = pd.DataFrame(cases, columns=["dataset", "users"]).assign(learner="MGD", round=1, mean=1.0)
    told = alt.ends(table, "learner", "NDCG", ["dataset", "users"]).split(": ")[1].split("; ")
    assert [each.removeprefix("MGD (1) on ") for each in told] == [
        "b, under perfect users", "b, under informational users", "a, under perfect users."
    ]  # fmt: skip


def test_a_figure_of_one_panel_names_no_place():
    table = pd.DataFrame({"learner": ["a", "b"], "round": 10, "mean": [1.0, 12345.6]})
    assert alt.ends(table, "learner", "Regret", []) == "At the end, Regret: highest for b (12,346), lowest for a (1)."


def test_the_last_x_is_called_as_it_is_asked_for():
    table = pd.DataFrame({"learner": ["a", "b"], "round": 10, "mean": [1.0, 2.0]})
    told = alt.ends(table, "learner", "NDCG", [], when="With most rankers")
    assert told.startswith("With most rankers, NDCG: highest for b (2)")


def test_each_quantity_that_is_drawn_has_a_sentence_of_its_own():
    drawn = (("NDCG", "a", 1.0), ("NDCG", "b", 2.0), ("loss", "a", 3.0))
    lines = [(what, name, users, mean) for what, name, mean in drawn for users in ("perfect", "informational")]
    table = pd.DataFrame(lines, columns=["panel", "learner", "users", "mean"]).assign(round=10)
    assert alt.ends_of_each(table, "learner", "panel", ["users"]) == (
        "At the end, NDCG: highest for b (2), lowest for a (1) under perfect users; highest for b (2), lowest for a "
        "(1) under informational users. At the end, loss: a (3) under perfect users; a (3) under informational users."
    )


def test_numbers_have_three_digits_a_true_minus_and_powers_of_ten_where_they_are_small():
    told = [alt.number(value) for value in (0.12345, -1234.5, 999.4, -2.8e-5, 0.0)]
    assert told == ["0.123", "−1,234", "999", "−2.8 · 10⁻⁵", "0"]


COURSES = pd.DataFrame(
    [("perfect", "P2LinRank", 10, 0.5), ("perfect", "P2LinRank", 1, 0.25), ("perfect", "DBGD", 1, 0.5),
     ("perfect", "DBGD", 10, 0.75), ("perfect", "MGD", 1, 0.3), ("perfect", "MGD", 10, 0.3),
     ("informational", "DBGD", 1, 0.1), ("informational", "DBGD", 4, 0.9), ("informational", "DBGD", 10, 0.2),
     ("informational", "level", None, 7.0)],
    columns=["users", "learner", "n", "mean"],
)  # fmt: skip


def test_a_course_is_told_by_the_first_and_the_last_value_of_each_line():
    assert alt.courses(COURSES, "learner", "the score", ["users"], "n", "the round") == (
        "As the round goes from 1 to 10, the score under perfect users goes from 0.25 to 0.5 for P²LinRank, from 0.5 "
        "to 0.75 for DBGD, stays at 0.3 for MGD; that under informational users goes from 0.1 to 0.2 for DBGD."
    )
    one = COURSES[COURSES["learner"] == "DBGD"]
    assert "from 0.5 to 0.75 for perfect, from 0.1 to 0.2" in alt.courses(one, "users", "it", [], "n", "n")


def test_lines_over_different_rounds_are_told_with_their_own():
    table = pd.DataFrame({"learner": [*"aabbc"], "n": [1, 10, 1, 5000, 7], "mean": [1.0, 2.0, 3.0, 3.0, 4.0]})
    assert alt.courses(table, "learner", "the score", [], "n", "the round") == (
        "Along the round, the score goes from 1 to 2 for a (1 to 10), stays at 3 for b (1 to 5,000), is 4 for c (7)."
    )
    assert alt.courses(table[:0], "learner", "The score", [], "n", "the round") == "The score: nothing was measured."


def test_a_level_is_reached_between_the_first_line_and_the_last_and_never_by_some():
    told = alt.reaches(COURSES, "learner", "The score", ["users"], "n", "round", 0.5)
    assert told == (
        "The score reaches 0.5 at round 1 (DBGD) to 10 (P²LinRank), never for MGD under perfect users; "
        "at round 4 (DBGD) under informational users."
    )
    low = alt.reaches(COURSES, "learner", "It", ["users"], "n", "round", 0.1)
    assert low.startswith("It reaches 0.1 at round 1 under perfect users")
    assert "reaches 0.9 never for P²LinRank" in alt.reaches(COURSES, "learner", "It", ["users"], "n", "round", 0.9)
    assert alt.reaches(COURSES[:0], "learner", "It", [], "n", "round", 0.9) == "It: nothing was measured."


def test_a_difference_is_clear_where_its_interval_leaves_out_the_line():
    rows = [("a", "x", 1, 2), ("a", "y", 0.5, 2), ("b", "x", -2, -1), ("b", "y", -1, 1)]
    table = pd.DataFrame(rows, columns=["row", "users", "low", "high"]).assign(mean=0.0)
    told = "Lead: above 0 a (2 of 2); below 0 b (1 of 2); undecided b (1 of 2)."
    assert alt.sides(table, "Lead") == told
    assert alt.sides(table, "Lead", zero=1.0) == "Lead: below 1 b (1 of 2); undecided a (2 of 2), b (1 of 2)."
    assert alt.sides(table[:0], "Lead") == "Lead: nothing was measured."


def test_an_interval_that_is_missing_shows_nothing():
    table = pd.DataFrame({"row": ["a"], "users": "x", "mean": 5.0, "low": float("nan"), "high": float("nan")})
    assert alt.sides(table, "Lead") == "Lead: undecided a (1 of 1)."


def test_an_axis_is_called_without_its_interval():
    assert alt.plain("offline NDCG@10\n(mean, 95 % interval over runs)") == "offline NDCG@10"
    assert alt.plain("violations,\nours − other") == "violations, ours − other"


def test_beside_printed_means_it_tells_how_often_ours_are_apart_and_where_most():
    rows = [("MGD", "perfect", 1.0, 0.1, 2.0, 0.1), ("MGD", "navigational", 1.0, 0.1, 0.9, 0.1),
            ("NSGD", "perfect", 1.0, None, 0.5, 0.1), ("NSGD", "navigational", None, None, 0.5, 0.1)]  # fmt: skip
    columns = ["learner", "users", "published_mean", "published_error", "mean", "error"]
    table = pd.DataFrame(rows, columns=columns).assign(data="MQ2008")
    assert alt.beside(table, "NDCG") == (
        "NDCG: of 3 means ours is clearly above the printed one in 1 and clearly below in 1. "
        "Farthest apart: MGD, perfect, on MQ2008: 1 printed, 2 ours."
    )
    assert alt.beside(table[3:], "NDCG") == "NDCG: nothing is printed."
