"""The keys beside a number are those of the cells that it came from."""

import pandas as pd
import pytest

from ol2r.experiments.effects import summarize
from ol2r.report import figures, tables
from ol2r.report.keys import with_keys


def drawn(*cells: dict, seeds: int = 2) -> pd.DataFrame:
    """Rows of cells with these labels, each cell called by the values of its labels."""
    return pd.concat(
        [
            pd.DataFrame({"cell": "/".join(map(str, own.values())), **own, "seed": range(seeds), "ndcg": 0.5})
            for own in cells
        ],
        ignore_index=True,
    )


def keys_of(table: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    return list(with_keys(table, rows)["key"])


def test_a_line_of_a_mean_has_the_key_of_the_cell_whose_rows_are_averaged(grid):
    rows = grid.assign(cell=grid["users"].str[:4] + "/" + grid["learner"])
    table = figures.learning_curves(rows).table
    assert keys_of(table, rows) == [f"{line.users[:4]}/{line.learner}"[:12] for line in table.itertuples()]


def test_a_line_over_several_cells_has_the_keys_of_all_in_the_order_of_the_rows(grid):
    rows = grid.assign(cell=grid["users"].str[:4] + "/" + grid["learner"])
    table = summarize(rows[rows["round"] == 1000], "ndcg", ["users"])
    expected = [f"{users[:4]}/{name}"[:12] for users in table["users"] for name in rows["learner"].unique()]
    assert " ".join(keys_of(table, rows)).split() == expected


def test_a_line_of_printed_numbers_alone_has_no_key():
    rows = drawn({"dataset": "MQ2008", "learner": "MGD"})
    table = pd.DataFrame({"dataset": ["MQ2008", "TD2003"], "learner": "MGD", "mean": [0.4, 0.3]})
    assert keys_of(table, rows) == ["MQ2008/MGD", ""]


def test_our_rows_beside_printed_ones_are_found_by_the_data_they_were_made_on(grid):
    from ol2r.experiments.published import printed_numbers

    printed = printed_numbers("ol2r.papers.nsgd").query("item == 'table-3'")
    rows = grid.assign(dataset="MQ2007_partial85", cell=grid["users"].str[:4] + "/" + grid["learner"])
    table = tables.compare(rows, printed, "ndcg", {"MQ2007": "MQ2007_partial85"})
    found = with_keys(table, rows)
    assert set(found.loc[found["key"] != "", "dataset"]) == {"MQ2007"} and (found["key"] != "").sum() == 15


def test_whole_numbers_match_though_one_table_has_them_as_floats():
    rows = drawn({"candidates": 4}, {"candidates": 9})
    assert keys_of(pd.DataFrame({"candidates": [9.0, 4.0]}), rows) == ["9", "4"]


def test_measured_columns_and_labels_called_otherwise_tell_no_cells_apart():
    rows = drawn({"learner": "MGD"}, {"learner": "NSGD"})
    rows["ndcg"] = [0.1, 0.2, 0.3, 0.4]
    assert keys_of(pd.DataFrame({"told": ["MGD"], "ndcg": [0.15]}), rows) == ["MGD NSGD"]


def test_a_lead_has_the_key_of_the_learner_that_its_line_names():
    rows = drawn(*({"dataset": data, "learner": name} for data in ("a", "b") for name in ("MGD", "NSGD", "DBGD")))
    table = pd.DataFrame({"dataset": ["a", "b", "a"], "row": ["MGD", "MGD", "DBGD"], "mean": 0.1})
    assert keys_of(table, rows) == ["a/MGD", "b/MGD", "a/DBGD"]
    all_of = " ".join(f"a/{name}" for name in ("MGD", "NSGD", "DBGD"))
    assert keys_of(table.assign(row=["MGD", "MGD", "none of them"]), rows)[0] == all_of


def test_words_within_a_cell_count_where_they_leave_a_cell():
    rows = pd.DataFrame({"cell": ["a", "a", "b"], "quantity": ["bias", "width", "bias"], "seed": 0})
    table = pd.DataFrame({"quantity": ["bias", "width", "ratio"]})
    assert keys_of(table, rows) == ["a b", "a", "a b"]


def test_a_number_that_the_rows_do_not_have_is_left_out():
    rows = drawn({"shuffle": "random", "alpha": 1.0}, {"shuffle": "random", "alpha": 2.0})
    assert keys_of(pd.DataFrame({"shuffle": "random", "alpha": [2.0, 0.5]}), rows) == [
        "random/2.0",
        "random/1.0 random/2.0",
    ]


@pytest.mark.parametrize("length", [12, 64])
def test_a_table_that_names_its_cells_keeps_them_as_keys(length):
    found = with_keys(pd.DataFrame({"cell": ["5c8f" * (length // 4)], "gap": [0.1]}), drawn({"learner": "MGD"}))
    assert list(found) == ["gap", "key"] and list(found["key"]) == ["5c8f" * 3]
