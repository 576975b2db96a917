import hashlib
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from fakes import Fake, Learner
from hypothesis import given
from hypothesis import strategies as st

from ol2r.data import CATALOGUE
from ol2r.errors import ExperimentError, one_of
from ol2r.experiments.cells import Item, Job, Row, canonical, merged, with_needs
from ol2r.papers import PAPERS, paper


@dataclass(frozen=True)
class Point:
    revision: ClassVar[int] = 3
    x: float
    names: tuple[str, ...]


@dataclass(frozen=True)
class Holder:
    value: float


def test_canonical_form_is_type_revision_and_fields():
    expected = {"type": "Point", "revision": 3, "fields": {"x": 0.1, "names": ["a", "b"]}}
    assert canonical(Point(0.1, ("a", "b"))) == expected


def test_key_is_the_hash_of_sorted_compact_json():
    learner = '{"fields":{"candidates":4,"rate":0.1},"revision":1,"type":"Learner"}'
    text = (
        '{"fields":{"data":null,"fails":false,"learner":' + learner + ',"n_folds":5,"name":"a","needed":null,'
        '"offset":0,"per_document":false,"seconds_a_row":0.01,"secret":false,"sleep":0},"type":"fake"}'
    )
    assert Fake().key == hashlib.sha256(text.encode()).hexdigest()
    assert Fake().key == "150c842785d7ce945bd5d2fecccba3fa5bb7e3a064cd524460277ca658975078"


def test_key_does_not_depend_on_the_process():
    code = "from fakes import Fake; print(Fake(name='é', offset=1e-7).key)"
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == Fake(name="é", offset=1e-7).key


@pytest.mark.parametrize("changed", [{"name": "b"}, {"offset": 0.5}, {"learner": Learner(rate=0.2)}, {"data": "x"}])
def test_every_field_enters_the_key(changed):
    assert replace(Fake(), **changed).key != Fake().key


def test_a_new_revision_of_the_learner_is_another_key(monkeypatch):
    before = Fake().key
    monkeypatch.setattr(Learner, "revision", 2)
    assert Fake().key != before


@given(st.integers(-(2**53), 2**53))
def test_numbers_that_compare_equal_have_one_form(number):
    assert json.dumps(canonical(float(number))) == json.dumps(canonical(number)) == str(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_two_floats_share_a_form(value):
    assert json.loads(json.dumps(canonical(value))) == value


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_float_that_is_not_finite_cannot_be_part_of_a_cell(value):
    with pytest.raises(ValueError, match="finite"):
        canonical(Holder(value))


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}, object()])
def test_only_plain_immutable_values_can_be_part_of_a_cell(value):
    with pytest.raises(TypeError, match="cannot be part of a cell"):
        canonical(value)


def test_rows_are_folds_times_seeds_and_default_to_all_folds():
    assert Fake(n_folds=2).rows(None, range(2)) == (Row(1, 0), Row(1, 1), Row(2, 0), Row(2, 1))
    assert Fake().rows([3], [7]) == (Row(3, 7),)


def test_a_fold_that_is_not_there_is_an_error():
    with pytest.raises(ExperimentError, match="no fold 6: this cell has folds 1, 2, 3, 4, 5"):
        Fake().rows([6], [0])


def test_needs_come_first_and_once_with_the_union_of_their_rows():
    root = Fake(name="root")
    first, second = Fake(name="first", needed=root), Fake(name="second", needed=root)
    ordered = with_needs([Job(first, first.rows([1], [0])), Job(second, second.rows([2], [0]))])
    assert ordered == [
        Job(root, (Row(1, 0), Row(2, 0))),
        Job(first, (Row(1, 0),)),
        Job(second, (Row(2, 0),)),
    ]


def test_merging_keeps_the_order_of_first_appearance():
    a, b = Fake(name="a"), Fake(name="b")
    jobs = [Job(b, (Row(1, 1),)), Job(a, (Row(1, 0),)), Job(b, (Row(1, 0),))]
    assert merged(jobs) == [Job(b, (Row(1, 0), Row(1, 1))), Job(a, (Row(1, 0),))]


def test_an_item_counts_seeds_from_its_first_and_keeps_asked_data_sets():
    cells = [Fake(data="MQ2008"), Fake(data="MQ2007")]
    item = Item("tuning", lambda tier: cells, {"laptop": range(1000, 1002)}, folds=(1,))
    assert item.jobs("laptop") == [Job(cell, (Row(1, 1000), Row(1, 1001))) for cell in cells]
    assert item.jobs("laptop", n_seeds=3, datasets=["MQ2007"]) == [
        Job(cells[1], (Row(1, 1000), Row(1, 1001), Row(1, 1002)))
    ]


def test_seeds_that_are_the_same_at_every_tier_are_kept_however_many_are_asked_for():
    tuning = Item("tuning", lambda tier: [Fake()], dict.fromkeys(("laptop", "paper"), (1000, 1001)), folds=(1,))
    assert tuning.jobs("paper", n_seeds=5) == tuning.jobs("paper") == [Job(Fake(), (Row(1, 1000), Row(1, 1001)))]


def test_an_item_may_choose_seeds_and_folds_by_cell():
    cells = [Fake(data="MQ2008"), Fake(data="MSLR", n_folds=1)]
    item = Item(
        "mixed",
        lambda tier: cells,
        lambda tier, cell: range(2 if cell.n_folds > 1 else 4),
        lambda cell: (1, 2) if cell.n_folds > 1 else None,
    )
    several, single = item.jobs("paper")
    assert several.rows == (Row(1, 0), Row(1, 1), Row(2, 0), Row(2, 1))
    assert single.rows == tuple(Row(1, seed) for seed in range(4))
    assert {len(job.rows) for job in item.jobs("paper", n_seeds=1)} == {1, 2}


def test_a_cell_that_an_item_names_twice_is_one_job():
    item = Item("sweep", lambda tier: [Fake(), Fake(name="b"), Fake()], {"laptop": range(1)}, folds=(1,))
    assert [job.cell.name for job in item.jobs("laptop")] == ["a", "b"]


def test_a_misspelt_name_is_answered_with_the_nearest():
    with pytest.raises(ExperimentError, match="no item 'fig2': did you mean 'fig-2'"):
        one_of("fig2", ["fig-1", "fig-2"], "item")


def test_a_choice_of_data_sets_keeps_cells_that_rest_on_none():
    class Free(Fake):
        def labels(self):
            return {"name": "free"}

    cells = [Fake(name="kept"), Fake(name="left", data="TD2003"), Free()]
    item = Item("mixed", lambda tier: cells, {"smoke": range(1)})
    dataset = Fake(name="kept").labels()["dataset"]
    assert {job.cell.labels().get("dataset") for job in item.jobs("smoke", datasets=[dataset])} == {dataset, None}


@pytest.mark.parametrize("name", PAPERS)
def test_a_cell_on_data_has_the_restrictions_of_its_licence(name):
    """A kind of cell that reads data must say so itself: one that does not is taken as free of them."""
    jobs = [job for item in paper(name).items.values() for job in item.jobs("paper", None, None)]
    names = {job.cell: job.cell.labels().get("dataset") for job in jobs}
    wanted = {cell: CATALOGUE[name].restricted for cell, name in names.items() if name in CATALOGUE}
    assert {cell: cell.restricted for cell in wanted} == wanted and any(wanted.values())
