"""The covariance: rank-one updates against an inversion, and answers against the formula, for both bodies."""

import numpy as np
import pytest
import torch

from ol2r.random import generator
from ol2r.ranking import engine
from ol2r.ranking.covariance import gram

BODIES = [("numba", "cpu"), ("torch", "cpu"), *([("torch", "cuda")] if torch.cuda.is_available() else [])]
both_bodies = pytest.mark.parametrize(("name", "device"), BODIES)
either_form = pytest.mark.parametrize("full", [True, False])
REGULARIZATION = (0.1, 1.0, 0.01)
D = 12


class Told:
    """A covariance told random rows round by round, some of them absent, and the rows in plain lists."""

    def __init__(self, name, device="cpu", full=True, rounds=200, precision=np.float32):
        lambda_ = torch.tensor(REGULARIZATION, dtype=torch.float64, device=device)
        self.covariance = engine(name).Covariance(lambda_, D, full, device)
        self.x = [[] for _ in REGULARIZATION]
        rng = generator("rows of a covariance", 0)
        for _ in range(rounds):
            x, present = rng.uniform(-1, 1, (3, 4, D)).astype(precision), rng.random((3, 4)) < 0.6
            self.covariance.add(*(torch.from_numpy(a).to(device) for a in (x, present)))
            for rows, own, there in zip(self.x, x.astype(np.float64), present, strict=True):
                rows += list(own[there])

    def matrix(self, r, full):
        m = REGULARIZATION[r] * np.eye(D) + np.array(self.x[r]).T @ np.array(self.x[r])
        return m if full else np.diag(np.diag(m))


@both_bodies
@either_form
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_it_is_the_inverse_of_what_was_added(name, device, full, precision):
    told = Told(name, device, full, precision=precision)
    for r, regularization in enumerate(REGULARIZATION):
        m = told.matrix(r, full)
        inverse = np.linalg.inv(m) if full else 1 / np.diag(m)[None]
        np.testing.assert_allclose(told.covariance.inverse[r].cpu().numpy(), inverse, rtol=1e-6, atol=1e-8)
        grown = np.linalg.slogdet(m)[1] - D * np.log(regularization)
        np.testing.assert_allclose(float(told.covariance.log_det[r]), grown, rtol=1e-8)


@both_bodies
@either_form
def test_what_is_taken_away_was_never_there(name, device, full):
    """Also where nothing but λ is left along many directions, and after many comings and goings."""
    told = Told(name, device, full, rounds=5)
    kept = told.covariance.inverse.clone(), told.covariance.log_det.clone()
    rng = generator("rows that come and go", 0)
    for _ in range(300):
        x, present = rng.uniform(-1, 1, (3, 4, D)).astype(np.float32), rng.random((3, 4)) < 0.6
        passing = [torch.from_numpy(each).to(device) for each in (x, present)]
        told.covariance.add(*passing)
        assert not torch.allclose(told.covariance.log_det, kept[1])
        told.covariance.remove(*passing)
    for mine, before in zip((told.covariance.inverse, told.covariance.log_det), kept, strict=True):
        np.testing.assert_allclose(mine.cpu().numpy(), before.cpu().numpy(), rtol=1e-8, atol=1e-9)


@both_bodies
@either_form
def test_gram_and_widths_are_what_the_matrix_says(name, device, full):
    told = Told(name, device, full, rounds=30)
    x = generator("directions to ask of", 0).standard_normal((3, 6, D))
    asked = torch.from_numpy(x).to(device)
    products = gram(asked, told.covariance.inverse).cpu().numpy()
    widths = told.covariance.widths(asked).cpu().numpy()
    for r in range(3):
        wanted = x[r] @ np.linalg.inv(told.matrix(r, full)) @ x[r].T
        np.testing.assert_allclose(products[r], wanted, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(widths[r], np.sqrt(np.diag(wanted)), rtol=1e-7)


@both_bodies
@either_form
def test_absent_rows_and_rows_of_zeros_change_no_bit(name, device, full):
    covariance = Told(name, device, full, rounds=20).covariance
    kept = covariance.inverse.clone(), covariance.log_det.clone()
    whatever = torch.full((3, 2, D), torch.nan, dtype=torch.float32, device=device)
    covariance.add(whatever, torch.zeros(3, 2, dtype=torch.bool, device=device))
    covariance.add(torch.zeros_like(whatever), torch.ones(3, 2, dtype=torch.bool, device=device))
    assert torch.equal(covariance.inverse, kept[0])
    assert torch.equal(covariance.log_det, kept[1])


def test_both_ways_round_of_a_pair_are_the_same_bit_for_bit():
    one, other = (Told("numba", rounds=20).covariance for _ in range(2))
    x, present = torch.rand(3, 2, D, generator=torch.Generator().manual_seed(0)), torch.ones(3, 2, dtype=torch.bool)
    one.add(x, present)
    other.add(-x, present)
    assert torch.equal(one.inverse, other.inverse)
    assert torch.equal(one.log_det, other.log_det)


@either_form
def test_a_replica_is_the_same_bit_for_bit_in_any_company(full):
    whole = engine("numba").Covariance(torch.tensor(REGULARIZATION, dtype=torch.float64), D, full)
    alone = engine("numba").Covariance(torch.tensor(REGULARIZATION[1:2], dtype=torch.float64), D, full)
    x = torch.from_numpy(generator("company", 0).standard_normal((3, 40, D)).astype(np.float32))
    present = torch.ones(3, 40, dtype=torch.bool)
    whole.add(x, present)
    alone.add(x[1:2].clone(), present[1:2].clone())
    assert torch.equal(whole.inverse[1], alone.inverse[0])
    assert torch.equal(whole.log_det[1], alone.log_det[0])
