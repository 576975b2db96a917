import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.cells import Context, Job, Row
from ol2r.papers.nsgd import audits
from ol2r.papers.nsgd.audits import Audit, dueling_audits
from ol2r.theory import dueling, sphere

CELLS = dueling_audits("paper")
ONE_OF_EACH = {cell.name: cell for cell in reversed(CELLS)}


def run(cell: Audit, *seeds: int) -> pd.DataFrame:
    job = Job(cell, cell.rows(None, seeds))
    return Audit.run_group([job], Context())[0]


@pytest.mark.parametrize("cell", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_theory_holds_in_its_own_model_and_a_named_mistake_would_not(cell):
    table = run(cell, 0)
    assert audits.holds(table), table.to_string()
    assert audits.has_power(table), table.to_string()


@pytest.mark.parametrize(
    ("name", "constant", "wrong"),
    [
        ("duel", "win_constant", lambda d: sphere.mean_absolute_cosine(d)),  # c for c/2
        ("duel", "linked_win_constant", lambda d, link, sharpness: dueling.win_constant(d)),  # no noise
        ("error", "spread", lambda d, m, orthogonal=False: (d - 1) / m * 0.9),
        ("error", "squared_error", lambda energy, d, m, orthogonal: dueling.spread(d, m, orthogonal)),  # no bias
        ("losers", "energy_odds", lambda b, d, k: k * b),  # as if stored directions were orthogonal
        ("losers by a margin", "loser_alignment", lambda d, margin=0.0: 1 / (d - 3)),
        ("best of", "expected_progress", lambda d, m: (m + 1) * dueling.win_constant(d)),
        ("null space", "smoothing_gap", lambda third, basis, delta: np.zeros(len(third))),
        ("preselection", "preselected_energy", lambda d, n, m: m / n),
        ("smoothing", "one_point_excess", lambda d, value, delta: (d * value / (delta / 2)) ** 2),  # half the radius
    ],
)
def test_an_audit_reports_wrong_theory(monkeypatch, name, constant, wrong):
    monkeypatch.setattr(dueling, constant, wrong)
    assert not audits.holds(run(ONE_OF_EACH[name], 0))


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_an_audit_reports_a_biased_sampler(monkeypatch, name):
    unbiased = sphere.unit_vectors

    def uneven(rng, *shape):  # the first coordinate is three times as large as it should be
        u = unbiased(rng, *shape)
        u[..., 0] *= 3
        return u / np.linalg.norm(u, axis=-1, keepdims=True)

    monkeypatch.setattr(sphere, "unit_vectors", uneven)
    assert not audits.holds(run(ONE_OF_EACH[name], 0))


def test_rows_carry_their_fold_and_seed_and_differ_by_seed():
    table = run(ONE_OF_EACH["best of"], 0, 1)
    assert list(zip(table["fold"], table["seed"], strict=True)) == [(1, 0), (1, 1)]
    assert table["measured"].nunique() == 2


def test_a_row_is_the_same_alone_and_in_company():
    cell = ONE_OF_EACH["best of"]
    together = run(cell, 0, 1)
    pd.testing.assert_frame_equal(together[together["seed"] == 1].reset_index(drop=True), run(cell, 1))


def test_cells_are_distinct_hashable_and_named_by_their_labels():
    assert len({cell.key for cell in CELLS}) == len(CELLS) == len(set(CELLS))
    assert all(cell.labels()["audit"] == cell.name and cell.rows(None, [0]) == (Row(1, 0),) for cell in CELLS)


def test_the_smoke_tier_has_the_same_lines():
    assert [c.parameters for c in dueling_audits("smoke")] == [c.parameters for c in CELLS]


def test_the_bar_grows_with_the_number_of_lines():
    one, many = (pd.DataFrame({"z": [3.5] + [0.0] * n}) for n in (0, 99))
    assert not audits.holds(one) and audits.holds(many)


def labelled(*cells: Audit) -> pd.DataFrame:
    return pd.concat([run(cell, 0).assign(**cell.labels()) for cell in cells], ignore_index=True)


def test_the_error_figure_crosses_the_whole_space_at_its_threshold():
    drawn = audits.error_figure(labelled(*(c for c in dueling_audits("smoke") if c.name in ("error", "best of"))))
    assert len(drawn) == 5 * len(audits.ENERGIES)
    assert drawn["orthogonal"].dtype == bool  # although other audits have no such label
    below = drawn["energy"] < drawn["threshold"]
    assert ((drawn["expected"] < drawn["whole"]) == below).all() and below.any() and not below.all()


def test_the_advance_figure_has_every_size_and_number_of_candidates():
    drawn = audits.advance_figure(labelled(*(c for c in dueling_audits("smoke") if c.name == "best of")))
    assert set(zip(drawn["null_dimension"], drawn["candidates"], strict=True)) == {
        (size, m) for size in (6, 21, 46) for m in audits.CANDIDATES
    }


def test_the_loser_figure_is_above_one_where_losers_are_behind_by_something():
    drawn = audits.loser_figure(labelled(*(c for c in dueling_audits("smoke") if c.name == "losers by a margin")))
    assert ((drawn["expected"] > 1) == (drawn["margin"] < 0)).all()
    assert ((drawn["measured"] > 1) == (drawn["margin"] < 0)).all()
