"""The transcription of the paper's numbers, checked by counting and by sums written from the printed page."""

import pytest

from ol2r.experiments.published import printed_numbers

NUMBERS = printed_numbers("ol2r.papers.nsgd")
TABLES = NUMBERS[NUMBERS["item"].isin(["table-2", "table-3"])]


def select(item, users, dataset):
    return TABLES.query("item == @item and users == @users and dataset == @dataset")


def test_both_tables_are_complete_with_every_cell_once():
    assert len(TABLES) == 2 * 5 * 3 * 5
    assert not TABLES.duplicated(["item", "dataset", "users", "learner"]).any()
    assert TABLES[["mean", "deviation", "significant", "bold"]].notna().all(axis=None)


def test_the_tables_are_over_fifteen_repeats_of_five_folds_and_prose_does_not_say():
    assert (TABLES["runs"] == 15 * 5).all()
    assert NUMBERS.drop(TABLES.index)["runs"].isna().all()


@pytest.mark.parametrize(
    ("item", "users", "dataset", "means", "deviations"),
    [
        ("table-2", "perfect", "MQ2008", 81.327 + 77.694 + 76.192 + 77.543 + 88.811,
         6.224 + 6.137 + 6.452 + 4.827 + 6.022),
        ("table-2", "navigational", "HP2003", 95.775 + 95.925 + 88.773 + 82.244 + 109.783,
         14.394 + 12.628 + 11.518 + 26.944 + 5.634),
        ("table-2", "informational", "TD2003", 23.021 + 23.826 + 24.948 + 28.482 + 39.386,
         8.675 + 7.964 + 6.848 + 5.299 + 7.148),
        ("table-3", "perfect", "HP2003", 0.760 + 0.764 + 0.762 + 0.771 + 0.752, 0.067 + 0.068 + 0.062 + 0.062 + 0.752),
        ("table-3", "navigational", "MQ2008", 0.459 + 0.456 + 0.445 + 0.477 + 0.478,
         0.038 + 0.037 + 0.045 + 0.036 + 0.037),
        ("table-3", "informational", "MQ2007", 0.319 + 0.325 + 0.325 + 0.355 + 0.383,
         0.047 + 0.049 + 0.037 + 0.036 + 0.020),
    ],
)  # fmt: skip
def test_rows_sum_to_what_the_page_prints(item, users, dataset, means, deviations):
    row = select(item, users, dataset)
    assert row["mean"].sum() == pytest.approx(means)
    assert row["deviation"].sum() == pytest.approx(deviations)


def test_columns_sum_to_what_the_page_prints():
    nsgd = TABLES.query("item == 'table-2' and learner == 'NSGD' and users == 'perfect'")
    assert nsgd["mean"].sum() == pytest.approx(68.639 + 88.811 + 113.890 + 115.145 + 42.402)
    cps = TABLES.query("item == 'table-3' and learner == 'CPS' and users == 'informational'")
    assert cps["mean"].sum() == pytest.approx(0.325 + 0.434 + 0.463 + 0.443 + 0.178)


def test_significance_stands_at_every_online_score_of_nsgd_and_at_two_offline_ones():
    marked = TABLES[TABLES["significant"] == 1]
    assert set(marked["learner"]) == {"NSGD"}
    assert (marked["item"] == "table-2").sum() == 15
    offline = marked[marked["item"] == "table-3"]
    assert sorted(offline["dataset"]) == ["MQ2007", "NP2003"] and set(offline["users"]) == {"informational"}


def test_bold_is_the_largest_mean_of_every_row():
    for _, row in TABLES.groupby(["item", "users", "dataset"]):
        assert row.loc[row["mean"].idxmax(), "bold"] == 1 and row["bold"].sum() == 1


def test_the_copied_deviation_is_printed_and_noted():
    cell = select("table-3", "perfect", "HP2003").query("learner == 'NSGD'").iloc[0]
    assert cell["deviation"] == cell["mean"] == 0.752 and "copying error" in cell["note"]


def test_prose_numbers_are_there():
    prose = NUMBERS[~NUMBERS.index.isin(TABLES.index)].set_index(["item", "learner"])["mean"]
    assert prose["reference", "LambdaRank"] == 0.437
    assert (prose["fig-2", "NSGD"], prose["fig-2", "MGD"]) == (200, 800)
    assert (prose["fig-5c", "NSGD w/o CDP & TB"], prose["fig-5c", "MGD"]) == (200, 800)
