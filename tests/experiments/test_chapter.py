from dataclasses import replace

import pandas as pd
import pytest
from declared import declare
from fakes import Fake, ran

import ol2r
from ol2r.errors import ExperimentError, MissingRows
from ol2r.experiments.cells import ANY, Item, Job
from ol2r.experiments.chapter import (
    PARAMETERS,
    Results,
    check_parameters,
    largest_differences,
    stored_results,
)
from ol2r.experiments.paper import Paper
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store

SEEDS = {"smoke": range(1), "laptop": range(2), "paper": range(5)}


def cells(tier):
    if tier == "smoke":
        return [Fake()]
    return [Fake(name="x"), Fake(name="y", offset=0.5), Fake(name="z", data="TD2003")]


PAPER = Paper(
    "nsgd",
    {
        "fig-1": Item("The first", cells, SEEDS),
        "fig-1b": Item("Named", cells, SEEDS, names=lambda cell: {"variant": cell.name.upper()}),
        "fig-2": Item("Too long", lambda tier: [Fake(name="long", seconds_a_row=3600.0)], SEEDS),
    },
)


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    declare(monkeypatch, PAPER)
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    monkeypatch.setenv("OL2R_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.delenv("OL2R_COMPUTE", raising=False)
    return tmp_path


NOTEBOOK = {"__name__": "__main__", "_i1": "text", "In": ["x"], "Out": {}, "pd": pd, "quit": quit, "ol2r": ol2r}


def test_a_chapter_without_parameters_has_the_defaults():
    opened = ol2r.chapter("nsgd", NOTEBOOK)
    assert (opened.tier, opened.seeds, opened.device) == ("laptop", None, "cpu")


def test_given_values_replace_defaults():
    opened = ol2r.chapter("nsgd", NOTEBOOK | {"tier": "paper", "seeds": 3, "max_minutes": 5})
    assert (opened.tier, opened.seeds, opened.max_minutes) == ("paper", 3, 5.0)


def test_data_sets_may_be_given_as_papermill_gives_text():
    assert ol2r.chapter("nsgd", {"datasets": "synthetic, TD2003"}).datasets == ["synthetic", "TD2003"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sedes": 3}, "no parameter 'sedes': did you mean 'seeds'?"),
        ({"zzz": 3}, "no parameter 'zzz': there are tier, seeds, datasets"),
        ({"tier": "huge"}, "parameter tier must be one of smoke, laptop, paper, not 'huge'"),
        ({"tier": None}, "parameter tier must be one of smoke, laptop, paper, not None"),
        ({"seeds": 0}, "parameter seeds must be a whole number of at least 1, not 0"),
        ({"seeds": "3"}, "parameter seeds must be a whole number of at least 1, not '3'"),
        ({"seeds": True}, "parameter seeds must be a whole number of at least 1, not True"),
        ({"seeds": 1.5}, "parameter seeds must be a whole number of at least 1, not 1.5"),
        ({"fresh": 1}, "parameter fresh must be one of True, False, not 1"),
        ({"max_minutes": 0}, "parameter max_minutes must be a number above 0, not 0"),
        ({"datasets": []}, "parameter datasets must be a list of data set names or paths, at least one, not []"),
        ({"datasets": [3]}, "parameter datasets must be a list of data set names or paths, at least one, not [3]"),
        ({"datasets": "None"}, "no data set 'None' in nsgd"),
        ({"datasets": ["TD2004"]}, "no data set 'TD2004' in nsgd at tier 'laptop': did you mean 'TD2003'?"),
        ({"engine": "jax"}, "parameter engine must be one of numba, torch, not 'jax'"),
        ({"device": "gpu"}, "parameter device must be one of cpu, cuda, not 'gpu'"),
        ({"device": "cuda"}, "torch finds no GPU"),
    ],
)
def test_wrong_parameters_are_errors_that_say_what_was_expected(given, message, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ExperimentError) as caught:
        ol2r.chapter("nsgd", NOTEBOOK | given)
    assert message in str(caught.value)


def test_an_unknown_chapter_is_an_error():
    with pytest.raises(ExperimentError, match="no paper 'nsdg': did you mean 'nsgd'"):
        ol2r.chapter("nsdg", {})


def test_only_plain_public_values_count_as_parameters():
    values = check_parameters(NOTEBOOK, PARAMETERS)
    assert values == {name: default.value for name, default in PARAMETERS.items()}


def test_results_carry_labels_rows_and_provenance():
    results = ol2r.chapter("nsgd", {"seeds": 3}).results("fig-1")
    assert list(results.frame.columns[:6]) == ["cell", "dataset", "name", "fold", "seed", "round"]
    assert set(results.frame["name"]) == {"x", "y"}
    assert len(results.frame) == 2 * 5 * 3 * 2  # cells, folds, seeds, checkpoints
    assert set(results.frame["cell"]) == {cell.key for cell in results.cells}
    assert (set(results.frame["seed"]), set(results.frame["fold"]), results.rounds) == ({0, 1, 2}, {1, 2, 3, 4, 5}, 10)
    assert [record["key"] for record in results.provenance] == [cell.key for cell in results.cells]
    assert (results.paper, results.item, results.title, results.tier) == ("nsgd", "fig-1", "The first", "laptop")


def test_an_item_may_name_its_cells():
    frame = ol2r.chapter("nsgd", {}).results("fig-1b").frame
    assert set(zip(frame["name"], frame["variant"], strict=True)) == {("x", "X"), ("y", "Y")}


def test_an_item_is_the_tables_of_its_cells_one_below_the_other_with_their_labels():
    def names(cell):
        return {"variant": cell.name.upper()} | ({"step": 1} if cell.name == "z" else {"size": "large"})

    uneven = [Fake(name="x"), Fake(name="y", per_document=True), Fake(name="z")]
    item = Item("Uneven", lambda tier: uneven, SEEDS, names=names)
    jobs, store = item.jobs("laptop"), Store.open()
    run(jobs, store)
    found = stored_results(Paper("nsgd", {"uneven": item}), "laptop")["uneven"].frame
    parts = []
    for cell, rows in jobs:
        stored = store.read(cell, rows).frame
        labels = pd.DataFrame({"cell": cell.key, **cell.labels(), **names(cell)}, index=stored.index)
        parts.append(pd.concat([labels, stored], axis=1))
    pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))


def test_a_label_that_is_a_column_as_well_is_refused():
    item = Item("Twice", lambda tier: [Fake()], SEEDS, names=lambda cell: {"value": "one"})
    run(item.jobs("smoke"), Store.open())
    with pytest.raises(ValueError, match="'value' is both a label and a column"):
        stored_results(Paper("nsgd", {"twice": item}), "smoke")


def test_a_label_that_is_a_column_of_another_cells_table_is_called_set():
    cells = [Fake(name="x"), Fake(name="y", per_document=True)]
    (extra,) = {*run_of(cells[1])} - {*run_of(cells[0])}
    item = Item("Named", lambda tier: cells, SEEDS, names=lambda cell: {extra: 7} if cell is cells[0] else {})
    run(item.jobs("laptop"), Store.open())
    found = stored_results(Paper("nsgd", {"named": item}), "laptop")["named"].frame
    own = found.set_index("name")
    assert (own.loc["x", f"{extra}_set"] == 7).all() and own.loc["y", f"{extra}_set"].isna().all()
    assert own.loc["x", extra].isna().all() and own.loc["y", extra].notna().all()


def test_a_label_that_changes_nothing_has_each_value_that_the_other_cells_have():
    users = {"x": "perfect", "z": "informational", "y": ANY}
    cells = [Fake(name="y"), Fake(name="x"), Fake(name="z")]
    item = Item("For all", lambda tier: cells, SEEDS, names=lambda cell: {"users": users[cell.name]})
    run(item.jobs("laptop"), Store.open())
    found = stored_results(Paper("nsgd", {"all": item}), "laptop")["all"].frame
    assert list(dict.fromkeys(zip(found["name"], found["users"], strict=True))) == [
        ("x", "perfect"), ("z", "informational"), ("y", "perfect"), ("y", "informational"),
    ]  # fmt: skip
    lines = found[found["name"] == "y"].groupby("users")
    once, again = (own.drop(columns="users").reset_index(drop=True) for _, own in lines)
    pd.testing.assert_frame_equal(once, again)
    alone = Item("Alone", lambda tier: cells[:1], SEEDS, names=item.names)
    assert {*stored_results(Paper("nsgd", {"alone": alone}), "laptop")["alone"].frame["users"]} == {ANY}


def run_of(cell):
    """The columns of a cell's table."""
    item = Item("Alone", lambda tier: [cell], SEEDS)
    run(item.jobs("laptop"), Store.open())
    return stored_results(Paper("nsgd", {"alone": item}), "laptop")["alone"].frame


def test_data_that_is_not_at_hand_is_listed_not_replaced():
    results = ol2r.chapter("nsgd", {}).results("fig-1")
    assert results.not_at_hand == ("TD2003",)
    assert set(results.frame["dataset"]) == {"synthetic"}


def test_stored_rows_are_shown_without_the_data(surroundings):
    cell = Fake(name="z", data="TD2003")
    run([Job(cell, cell.rows(None, range(5)))], Store.open())
    results = ol2r.chapter("nsgd", {}).results("fig-1")
    assert results.not_at_hand == ()
    assert set(results.frame["name"]) == {"x", "y", "z"}


def test_half_a_cell_whose_data_is_not_at_hand_is_an_error():
    cell = Fake(name="z", data="TD2003")
    run([Job(cell, cell.rows(None, range(5)))], Store.open())
    with pytest.raises(MissingRows, match=r"5 of 30 rows .* not stored, and TD2003 is not at hand"):
        ol2r.chapter("nsgd", {"seeds": 6}).results("fig-1")


def test_chosen_data_sets_limit_the_results():
    results = ol2r.chapter("nsgd", {"datasets": ["TD2003"]}).results("fig-1")
    assert len(results.frame) == 0 and results.not_at_hand == ("TD2003",)
    assert (len(results.frame), results.rounds) == (0, None)


def test_what_is_stored_is_not_computed_again(surroundings):
    ol2r.chapter("nsgd", {}).results("fig-1")
    before = len(ran(surroundings / "log"))
    ol2r.chapter("nsgd", {"seeds": 1}).results("fig-1")
    assert len(ran(surroundings / "log")) == before
    ol2r.chapter("nsgd", {"seeds": 3}).results("fig-1")
    assert len(ran(surroundings / "log")) == before + 2 * 5  # seed 2 of both cells in five folds


def test_results_reach_the_scratch_store_only(surroundings):
    ol2r.chapter("nsgd", {}).results("fig-1")
    assert not (surroundings / "results").exists()


def test_computing_forbidden_names_cells_and_command(monkeypatch):
    monkeypatch.setenv("OL2R_COMPUTE", "never")
    with pytest.raises(MissingRows) as caught:
        ol2r.chapter("nsgd", {}).results("fig-1")
    assert "20 rows of 2 cells" in str(caught.value)
    assert "name=x; fake dataset=synthetic name=y" in str(caught.value)
    assert str(caught.value).endswith("ol2r run nsgd --tier laptop --item fig-1")


def test_more_than_max_minutes_stops_before_computing(surroundings, capsys):
    with pytest.raises(MissingRows, match="more than max_minutes = 30"):
        ol2r.chapter("nsgd", {}).results("fig-2")
    assert "nsgd fig-2 (laptop): 10 rows of 1 cells" in capsys.readouterr().out
    assert ran(surroundings / "log") == []


def test_fresh_ignores_what_is_stored_and_reports_the_difference(surroundings, capsys):
    opened = ol2r.chapter("nsgd", {})
    opened.results("fig-1")
    run_before = len(ran(surroundings / "log"))
    results = ol2r.chapter("nsgd", {"fresh": True}).results("fig-1")
    assert len(ran(surroundings / "log")) == 2 * run_before
    assert results.difference["value"] == 0.0
    assert "fresh: 2 cells recomputed, 2 of them stored; largest difference: " in capsys.readouterr().out


def test_fresh_finds_a_difference_and_leaves_the_store_alone(surroundings, monkeypatch):
    before = ol2r.chapter("nsgd", {}).results("fig-1").frame
    really = Fake.run_group.__func__

    def drifted(cls, jobs, context):
        return [frame.assign(value=frame["value"] + 1.5) for frame in really(cls, jobs, context)]

    monkeypatch.setattr(Fake, "run_group", classmethod(drifted))
    results = ol2r.chapter("nsgd", {"fresh": True}).results("fig-1")
    assert results.difference["value"] == 1.5
    assert results.frame["value"].tolist() == (before["value"] + 1.5).tolist()
    pd.testing.assert_frame_equal(ol2r.chapter("nsgd", {}).results("fig-1").frame, before)


def test_an_unknown_item_is_an_error():
    with pytest.raises(ExperimentError, match="no item 'fig-3' in nsgd: did you mean"):
        ol2r.chapter("nsgd", {}).results("fig-3")


def test_stored_results_take_the_largest_tier_that_is_whole():
    assert stored_results(PAPER) == {}
    ol2r.chapter("nsgd", {"tier": "smoke"}).results("fig-1")
    tiers = {item: results.tier for item, results in stored_results(PAPER).items()}
    assert tiers == {"fig-1": "smoke", "fig-1b": "smoke"}
    ol2r.chapter("nsgd", {"tier": "laptop"}).results("fig-1")
    assert stored_results(PAPER)["fig-1"].tier == "laptop"
    assert stored_results(PAPER, "smoke")["fig-1"].tier == "smoke"
    assert stored_results(PAPER, "paper") == {}
    assert stored_results(PAPER, items=()) == {} and set(stored_results(PAPER, items=("fig-1",))) == {"fig-1"}


FRAME = pd.DataFrame({"fold": 1, "seed": [0, 1], "value": [1.0, None], "status": "ok"})


def test_differences_are_of_common_rows_and_by_column():
    fresh = pd.DataFrame({"fold": 1, "seed": [1, 2], "value": [None, 7.0], "status": "ok"})
    assert largest_differences(FRAME, fresh) == {"value": 0.0, "status": 0.0}
    assert largest_differences(FRAME, FRAME.assign(value=[1.25, None])) == {"value": 0.25, "status": 0.0}
    assert largest_differences(FRAME, FRAME.assign(value=[None, None]))["value"] == float("inf")
    assert largest_differences(FRAME, FRAME.assign(status=["ok", "no"]))["status"] == float("inf")
    assert largest_differences(FRAME, pd.concat([FRAME, FRAME])) == {"fold": float("inf")}


def test_a_whole_chapter_is_refused_before_anything_of_it_is_computed(surroundings):
    with pytest.raises(MissingRows, match="nsgd as a whole"):
        ol2r.chapter("nsgd", {}).all_results()  # fig-2 alone takes too long
    assert ran(surroundings / "log") == []


def test_a_whole_chapter_has_the_results_of_its_items():
    opened = ol2r.chapter("nsgd", {"max_minutes": 1000})
    whole = opened.all_results()
    assert list(whole) == ["fig-1", "fig-1b", "fig-2"]
    pd.testing.assert_frame_equal(whole["fig-1"].frame, opened.results("fig-1").frame)


def test_items_whose_runs_wait_are_read_by_nobody_who_does_not_name_them(monkeypatch):
    declare(monkeypatch, replace(PAPER, waiting=("fig-2",)))
    assert list(ol2r.chapter("nsgd", {}).all_results()) == ["fig-1", "fig-1b"]  # fig-2 would be refused
    with pytest.raises(MissingRows):
        ol2r.chapter("nsgd", {}).all_results(["fig-2"])


def test_a_page_may_read_some_of_a_chapter_s_items_alone(surroundings):
    assert list(ol2r.chapter("nsgd", {}).all_results(["fig-1"])) == ["fig-1"]  # fig-2 would be refused
    with pytest.raises(ExperimentError, match="fig-9"):
        ol2r.chapter("nsgd", {}).all_results(["fig-9"])


def test_rows_without_rounds_beside_others_do_not_hide_the_last_round():
    frame = pd.DataFrame({"cell": ["a", "a", "b"], "fold": 1, "seed": 0, "round": [1.0, 20.0, None]})
    assert Results("fake", "item", "", "paper", frame, (), ()).rounds == 20
