import numpy as np
import pandas as pd
import pytest
import torch

from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Row
from ol2r.networks import Dual, Explicit, Network
from ol2r.networks.covariance import SWITCH
from ol2r.papers.olranknet import forms

LABELS = {"shape": "MQ2008", "width": 8, "parameters": 100}


def frame(spent, level, **labels):
    lines = [*(("dual", n, t) for n, t in spent.items()), ("primal", 1, level)]
    return pd.DataFrame(lines, columns=["form", "pairs", "milliseconds"]).assign(**{**LABELS, **labels})


def test_the_crossover_is_where_a_quadratic_cost_meets_the_level():
    """t = n² · 1e-4 reaches 2 at n = √20000."""
    found = forms.crossover(frame({n: n * n * 1e-4 for n in (200, 50, 100)}, 2.0)).iloc[0]
    assert found["pairs"] == pytest.approx(20000**0.5) and found["ratio"] == pytest.approx(200**0.5 / 10)
    assert (found["fewest"], found["most"], found["primal"]) == (50, 200, 2.0)


def test_a_crossover_beyond_what_was_measured_is_told_as_that():
    beyond, before = frame({50: 1.0, 100: 2.0}, 3.0), frame({50: 4.0, 100: 5.0}, 3.0, width=16)
    within = frame({50: 1.0, 200: 16.0}, 4.0, width=32)
    met = forms.crossover(pd.concat([beyond, before, within]))
    assert met["pairs"].tolist() == pytest.approx([np.inf, 0, 100])


def test_both_forms_have_the_same_widths_of_the_documents_that_are_timed():
    network, lam = Network(5, 4), torch.full((1,), 0.1, dtype=torch.float64)
    draws, dual, primal = forms._Draws(network), Dual(network, lam), Explicit(network, lam, full=True)
    for _ in range(3):
        new = draws.pairs(4)
        dual.add(*new)
        primal.add(*new)
    shown = draws.documents(6)
    np.testing.assert_allclose(dual.gram(shown), primal.gram(shown), rtol=1e-9)


def test_a_cell_measures_every_number_of_pairs_and_the_primal_form_once():
    cell = forms.Forms("MQ2008", 6, 8, 4, (10, 300), rounds=1)
    table = cell.table([Row(1, 0)])
    check_table(cell, [Row(1, 0)], table)
    assert table[["form", "pairs"]].to_numpy().tolist() == [["dual", 10], ["dual", 300], ["primal", 1]]
    assert (table["milliseconds"] > 0).all() and not cell.verifiable
    assert set(cell.labels()) >= {"shape", "width", "parameters"}


@pytest.mark.parametrize("tier", ["smoke", "laptop", "paper"])
def test_declared_cells_pass_the_crossover_where_they_can(tier):
    cells = forms.form_cells(tier)
    assert len(set(cells)) == len(cells)
    for cell in cells:
        p = cell.network.n_parameters
        assert cell.pairs[-1] <= 18_000 and list(cell.pairs) == sorted(set(cell.pairs))
        assert cell.pairs[-1] > SWITCH * p
    assert sum(cell.cost([Row(1, 0)]).whole for cell in cells) < 1200
