"""Fits of click models as cells: a log written by hand, sessions of known users, and the Yandex data."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from ol2r.clicks import ItemClicks, fitting, likelihood
from ol2r.data.sessions import read_sessions
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds import click_fit as click_fit_cell
from ol2r.experiments.kinds.click_fit import (
    CLICK_FIT_SEEDS,
    PUBLISHED,
    RATES,
    WAYS,
    ClickFit,
    Collection,
    Log,
    Simulated,
    click_fit_cells,
    fit,
    identified,
    known_users,
)
from ol2r.experiments.origins import AtHand

ML = "maximum likelihood"
PYCLICK = "PyClick"
USUAL = Log("", "ignore", "keep", 1e-6)
# e is new in what is held out; x and y are clicked and not shown
TRAIN = "q\ta,b,d : a , x\nq\ta,b,d : b\nq\tb,a,d : \nq\tb,a,d : b , a\nr\tc,f : c\nr\tc,f : f"
HELD_OUT = "q\ta,b,d : b\nq\ta,e,b : e , y\nq\tb,a,d : a , b\nr\tf,c : c\nr\tf,c : "


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The raw log is the one above."""
    paths = tmp_path / "train", tmp_path / "test"
    for path, text in zip(paths, (TRAIN, HELD_OUT), strict=True):
        path.write_text(text)
    monkeypatch.setattr(click_fit_cell, "load_sessions", lambda unshown: read_sessions(*paths, unshown=unshown))
    click_fit_cell._logs.cache_clear()
    yield lambda unshown="ignore", unseen="keep", floor=0.0: Log("checksum", unshown, unseen, floor)
    click_fit_cell._logs.cache_clear()


def run(*cells: ClickFit, seeds=(0,)) -> list[pd.DataFrame]:
    jobs = [Job(cell, cell.rows(None, seeds)) for cell in cells]
    seen = []
    tables = ClickFit.run_group(jobs, Context(progress=seen.append))
    assert seen == sorted(seen) and seen[-1] == 1.0
    for job, table in zip(jobs, tables, strict=True):
        check_table(job.cell, job.rows, table)
    return tables


def told(cell: ClickFit) -> dict:
    (table,) = run(cell)
    return {line[:3]: line[3] for line in table.drop(columns=["fold", "seed"]).itertuples(index=False, name=None)}


def test_a_log_is_told_with_all_that_is_odd_in_it(log):
    found = told(ClickFit("CM", PYCLICK, log()))
    for part, sessions, new, unshown in (("train", 6, 0, 1), ("held out", 5, 1, 1)):
        counts = {"queries": 2, "sessions": sessions, "sessions with new items": new, "sessions left out": 0}
        for quantity, count in (counts | {"clicks on items not shown": unshown}).items():
            assert found[quantity, part, 0] == count
    # two clicks: one session of each file
    assert found["sessions ruled out", "train", 0] == found["sessions ruled out", "held out", 0] == 1


def test_sessions_are_dropped_as_the_cell_declares(log):
    unshown = told(ClickFit("PBM", PYCLICK, log(unshown="drop")))
    assert [unshown["sessions", part, 0] for part in ("train", "held out")] == [5, 4]
    assert unshown["clicks on items not shown", "held out", 0] == 1  # they are counted all the same
    unseen = told(ClickFit("PBM", PYCLICK, log(unseen="drop")))
    assert [unseen["sessions", part, 0] for part in ("train", "held out")] == [6, 4]
    assert [unseen["sessions left out", part, 0] for part in ("train", "held out")] == [0, 1]


def test_a_held_out_query_that_nothing_was_fitted_to_is_left_out(tmp_path, monkeypatch, log):
    paths = tmp_path / "more", tmp_path / "less"
    paths[0].write_text("q\ta,b : a\nr\tc : c")
    paths[1].write_text("s\tg : g\nq\tb,a : a\ns\tg :")
    monkeypatch.setattr(click_fit_cell, "load_sessions", lambda unshown: read_sessions(*paths, unshown=unshown))
    found = told(ClickFit("CM", PYCLICK, log()))
    assert (found["queries", "held out", 0], found["sessions", "held out", 0]) == (1, 1)
    assert found["sessions left out", "held out", 0] == 2


def test_scores_are_those_of_the_fit_by_hand(log):
    # first clicks in q: a, b, nothing, b, so that α(a) = 1/3, α(b) = 2/3, α(d) = 0; in r c, f: α(c) = 1/2, α(f) = 1
    found = told(ClickFit("CM", ML, log(floor=1e-6)))
    a, b, c = 1 / 3, 2 / 3, 1 / 2
    by_hand = [a, (1 - a) * b, (1 - b) * (1 - a), b * 1e-6, c, (1 - c) * 1.0]
    assert math.isclose(found["log-likelihood", "train", 0], sum(map(math.log, by_hand)) / 6, abs_tol=1e-6)
    first = [a, 1 - a, 1 - b, b, c, 1 - c]
    perplexity = math.exp(-sum(map(math.log, first)) / 6)
    assert math.isclose(found["perplexity", "train", 1], perplexity, abs_tol=1e-6)
    positions = [found["perplexity", "train", k] for k in range(1, 4)]
    assert math.isclose(found["perplexity", "train", 0], sum(positions) / 3)
    assert ("perplexity", "train", 4) not in found  # no list of the log is so long


def test_what_a_model_rules_out_is_impossible_unless_a_floor_is_put_under_it(log):
    without, with_floor = (told(ClickFit("CM", PYCLICK, log(floor=floor))) for floor in (0.0, 1e-3))
    assert without["log-likelihood", "held out", 0] == -math.inf
    assert math.isfinite(with_floor["log-likelihood", "held out", 0])
    assert without["sessions ruled out", "held out", 0] == with_floor["sessions ruled out", "held out", 0] == 1


def test_the_rates_look_at_positions_and_nothing_else(log):
    found = told(ClickFit(RATES, ML, log()))
    # clicks of all sessions at 1: a, b (q), c (r); at 2: b, a (q), f (r); at 3 of four: none
    rates = [3 / 6, 3 / 6, 0.0]
    assert [found["position parameter", "", k] for k in range(1, 4)] == pytest.approx(rates)
    per_session = [math.log(0.5) * 2] * 6
    assert math.isclose(found["log-likelihood", "train", 0], sum(per_session) / 6, abs_tol=1e-6)


def test_what_the_sessions_say_nothing_of_is_as_likely_as_not(log):
    log()
    queries = tuple(click_fit_cell._logs("ignore")[0].queries.values())
    assert queries[0].items == ("a", "b", "d", "e")
    for model in ("CM", "DCM"):
        attraction = fit(model, ML, queries)[0].attraction
        assert attraction[3] == 0.5
        assert attraction[2] == 0.0  # examined once, never clicked: ruled out


@pytest.mark.parametrize(("model", "way"), [key for key in WAYS if key[1] == ML and key[0] != RATES])
def test_vanishing_counts_are_maximum_likelihood(model, way):
    queries = Simulated(known_users(model), 500).drawn(3)
    plain = {
        "CM": fitting.fit_cascade,
        "DCM": lambda queries: fitting.fit_dependent(queries, leaving="hidden"),
        "PBM": fitting.fit_position,
    }[model](queries)
    for ours, exact in zip(fit(model, way, queries), plain, strict=True):
        np.testing.assert_allclose(ours.attraction, exact.attraction, atol=2e-6)
        np.testing.assert_allclose(ours.position, exact.position, atol=2e-6)


def test_identified_users_click_alike():
    users = ItemClicks("position", (0.8, 0.4), (0.5, 0.25))
    assert identified(users) == ItemClicks("position", (0.4, 0.2), (1.0, 0.5))
    lists = np.array([[0, 1], [1, 0]])
    assert np.array_equal(*(likelihood.click_probabilities(it, lists) for it in (users, identified(users))))
    for same in (ItemClicks("position", (0.8,), (0.0,)), ItemClicks("dependent", (0.8,), (0.5,))):
        assert identified(same) == same


def errors(model, way, sessions, seeds=range(4)):
    (table,) = run(ClickFit(model, way, Simulated(known_users(model), sessions)), seeds=seeds)
    return table.groupby(["quantity", "position"])["value"].mean()


@pytest.mark.parametrize(("model", "symbol"), [("CM", None), ("DCM", "v"), ("PBM", "χ")])
def test_errors_of_a_maximum_likelihood_fit_halve_when_sessions_quadruple(model, symbol):
    few, many = (errors(model, ML, n) for n in (100, 1600))
    for quantity in ["mean error of α"] + ([f"mean error of {symbol}"] if symbol else []):
        assert 2.5 < few[quantity, 0] / many[quantity, 0] < 6.5
        assert few[quantity, 0] < few[quantity.replace("mean", "largest"), 0]


def test_errors_are_distances_to_the_truth(monkeypatch):
    truth = known_users("PBM")
    wrong = tuple(dataclasses.replace(it, attraction=tuple(a / 2 for a in it.attraction)) for it in truth)
    monkeypatch.setitem(WAYS, ("PBM", ML), lambda queries: wrong)
    found = errors("PBM", ML, 10, seeds=[0])
    attraction = np.array([it.attraction for it in truth])
    assert found["mean error of α", 0] == pytest.approx(attraction.mean() / 2)
    assert found["largest error of α", 0] == pytest.approx(attraction.max() / 2)
    assert found["largest error of χ", 0] == 0


def test_counting_to_the_last_click_never_gets_v_right():
    few, many = (errors("DCM", "PyClick", n) for n in (400, 6400))
    assert abs(few["mean error of v", 0] - many["mean error of v", 0]) < 0.02
    signed = [many["error of v", k] for k in range(1, 10)]
    assert all(error > 0 for error in signed) and signed == sorted(signed)
    assert many["largest error of v", 0] == pytest.approx(signed[-1])  # v of the last position does not count


def test_fewer_sessions_are_the_first_of_more_and_seeds_have_their_own():
    few, many = (Simulated(known_users("PBM"), n).drawn(1) for n in (20, 50))
    for a, b in zip(few, many, strict=True):
        assert np.array_equal(a.lists, b.lists[:20]) and np.array_equal(a.clicks, b.clicks[:20])
    assert not np.array_equal(few[0].lists, few[1].lists)
    assert not np.array_equal(few[0].lists, Simulated(known_users("PBM"), 20).drawn(2)[0].lists)


def test_a_row_is_the_same_alone_and_in_company():
    cells = [ClickFit(model, ML, Simulated(known_users(model), 50)) for model in ("CM", "PBM")]
    together = run(*cells, seeds=(0, 1))[1]
    alone = run(cells[1], seeds=(1,))[0]
    pd.testing.assert_frame_equal(together[together["seed"] == 1].reset_index(drop=True), alone)


def test_only_simulated_sessions_have_a_row_for_each_seed(log):
    assert ClickFit("CM", ML, log()).rows(None, range(5)) == (Row(1, 0),)
    assert ClickFit("CM", ML, Simulated(known_users("CM"), 5)).rows(None, (1, 2)) == (Row(1, 1), Row(1, 2))


def test_cells_are_distinct_and_the_smoke_tier_needs_no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    cells = click_fit_cells("paper")
    assert len({cell.key for cell in cells}) == len(cells) == len({cell.describe() for cell in cells})
    assert click_fit_cells("laptop") == cells
    at_hand = AtHand()
    missing = {at_hand.missing(cell) for cell in cells}
    assert missing == {None, "Yandex_WSCD_sample", "Yandex_60Q_click_models"}
    assert all(cell.restricted == (at_hand.missing(cell) is not None) for cell in cells)
    smoke = click_fit_cells("smoke")
    assert {at_hand.missing(cell) for cell in smoke} == {None} and set(smoke) < set(cells)
    assert len(CLICK_FIT_SEEDS["smoke"]) >= 2  # an interval needs two


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClickFit("UBM", ML, USUAL), "UBM is fitted by nothing, not by 'maximum likelihood'"),
        (
            lambda: ClickFit("CM", "last click", USUAL),
            "CM is fitted by maximum likelihood, PyClick, not by 'last click'",
        ),
        (lambda: ClickFit("PBM", PUBLISHED, USUAL), "Yandex_WSCD_sample: PBM is fitted by .* not by 'published'"),
        (lambda: ClickFit("PBM", ML, Collection("")), "Yandex_60Q_click_models: PBM is fitted by published, not by"),
        (lambda: ClickFit("CM", ML, Simulated(known_users("DCM"), 5)), "CM is fitted by nothing"),
        (lambda: Log("", "ignore", "skip", 0.0), 'unseen must be "keep" or "drop", not \'skip\''),
        (lambda: Log("", "ignore", "keep", 1.0), r"floor must lie in \[0, 1\), not 1.0"),
        (lambda: Simulated((), 10), "of one kind and do the same at every position"),
        (lambda: Simulated((*known_users("PBM"), *known_users("DCM")), 10), "of one kind"),
    ],
)
def test_what_cannot_be_fitted_is_an_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.real_data("Yandex_60Q_click_models")
def test_published_parameters_are_those_of_the_collection():
    for model, kind in (("DCM", "dependent"), ("PBM", "position")):
        found = told(ClickFit(model, PUBLISHED, Collection("")))
        users = next(iter(fitting.published_models(kind).values()))
        assert [found["position parameter", "", k] for k in range(1, 11)] == list(users.position)
        assert found["queries", "", 0] == 60


@pytest.mark.real_data("Yandex_WSCD_sample")
def test_a_model_of_the_yandex_log_foretells_more_than_rates_of_positions():
    rates, position = (told(ClickFit(*way, USUAL)) for way in ((RATES, ML), ("PBM", PYCLICK)))
    assert position["sessions", "held out", 0] == 21_413
    assert position["log-likelihood", "held out", 0] > rates["log-likelihood", "held out", 0]
    assert position["perplexity", "held out", 0] < rates["perplexity", "held out", 0]
