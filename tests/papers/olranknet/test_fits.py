import numpy as np
import pandas as pd
import pytest
import torch
from scipy import special

from ol2r import data
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Row
from ol2r.networks import Network, NetworkFit
from ol2r.papers.olranknet import fits
from ol2r.papers.olranknet.fits import Known, World
from ol2r.papers.olranknet.tuning import FRESH, TUNED
from ol2r.random import Streams, generator

SETTING = {
    "alpha": 0.1, "regularization": 0.1, "rate": 1e-2, "width": 8, "depth": 2, "init": "symmetric",
    "covariance": "full", "gradients": "refitted", "refit": "adam", "passes": 5, "start": "warm",
    "penalty": "theta0", "pairs": "matched",
}  # fmt: skip
DATASET = "synthetic-tiny"


def world(rounds, **changed):
    run = World(data.load(DATASET), Row(1, 0), SETTING | changed, labels_a_round=2, spread=1.0)
    for _ in range(rounds):
        run.step()
    return run


def test_the_truth_is_a_random_network_with_the_asked_deviation_within_queries():
    dataset = data.load(DATASET)
    h = fits.truth(dataset, 1, 0, width=8, spread=1.5)
    means = [h[dataset.documents(q)].mean() for q in range(dataset.n_queries)]
    np.testing.assert_allclose(means, 0, atol=1e-9)
    assert h.std() == pytest.approx(1.5)
    assert np.abs(fits.truth(dataset, 2, 0, 8, 1.5) - h).max() > 0.1
    np.testing.assert_allclose(fits.truth(dataset, 1, 0, 8, 3.0), 2 * h)


def test_labels_follow_the_truth():
    """Of pairs that the truth tells apart most labels say so: as many as σ(h_i − h_j) says, to three deviations."""
    run = world(0)
    expected, variance, right, n = 0.0, 0.0, 0.0, 0
    observe = run.learner.observe

    def watched(candidates, pairs, labels):
        nonlocal expected, variance, right, n
        real = pairs[0, :, 0].numpy() >= 0  # a list of a single document has no pair
        both = pairs[0].numpy()[real]
        assert len(np.unique(both)) == both.size  # no document is in two pairs
        there = run.h[int(candidates.starts[0]) + both]
        chance = special.expit(np.abs(there[:, 0] - there[:, 1]))
        right += float((labels[0].numpy()[real] == (there[:, 0] > there[:, 1])).sum())
        expected, variance, n = expected + chance.sum(), variance + (chance * (1 - chance)).sum(), n + len(chance)
        observe(candidates, pairs, labels)

    run.learner.observe = watched
    for _ in range(60):
        run.step()
    assert n == float(run.learner.history.n_labels[0]) > 80
    assert abs(right - expected) < 3 * variance**0.5


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_widths_are_those_of_a_and_of_its_diagonal_from_the_same_gradients(covariance):
    """With the gradients as displayed at a network that never moves, A is a sum that can be formed anew."""
    run = world(0, covariance=covariance, rate=1e-12)
    network, theta, seen = run.learner.network, run.learner.theta0.double(), []
    observe = run.learner.observe

    def gradients(rows):
        inputs = network.inputs(torch.from_numpy(run.dataset.features[rows])[None]).double()
        return network.tangent(theta, network.forward(theta, inputs).activations).explicit()[0].numpy()

    def watched(candidates, pairs, labels):
        rows = int(candidates.starts[0]) + pairs[0].numpy()[pairs[0, :, 0].numpy() >= 0]
        seen.extend(gradients(first)[0] - gradients(first)[1] for first in rows)
        observe(candidates, pairs, labels)

    run.learner.observe = watched
    for _ in range(8):
        run.step()
    query = int(run.dataset.fold(1).test[0])
    known, g = run.known([query]), gradients(run.dataset.documents(query))
    i, j = np.triu_indices(len(g), 1)
    a = 0.1 * np.eye(network.n_parameters) + sum(np.outer(x, x) for x in seen)
    inverses = {"full": np.linalg.inv(a), "diagonal": np.diag(1 / np.diag(a))}
    for name, inverse in inverses.items():
        expected = np.sqrt(np.einsum("np,pq,nq->n", g[i] - g[j], inverse, g[i] - g[j]))
        np.testing.assert_allclose(known.widths[name], expected, rtol=1e-4, atol=1e-7)
    h = run.h[run.dataset.documents(query)]
    np.testing.assert_allclose(known.truth, special.expit(h[i] - h[j]) - 0.5)


def test_shares_of_invented_pairs():
    """Errors .1, .2, .3, .4 with widths 1, 2, 1, 2; the third order is wrong."""
    estimate, truth = np.array([0.3, 0.4, 0.2, 0.05]), np.array([0.2, 0.2, -0.1, 0.45])
    known = Known(estimate, truth, {"full": np.array([1.0, 2.0, 1.0, 2.0])})
    lines = fits.measured(known, 0.15, ladder=(0.25,))
    told = {(quantity, at): value for _, quantity, at, value in lines}
    assert told["inside", 0.15] == 0.5 and told["inside", 0.25] == 0.75
    assert told["certain", 0.15] == 0.75 and told["wrong", 0.15] == 0.25  # .3, .2, .2 and .025 of a width
    assert told["certain", 0.25] == 0.25 and told["wrong", 0.25] == 0
    needed = np.quantile([0.1, 0.1, 0.3, 0.2], 0.95)
    assert told["needed", 0.15] == pytest.approx(needed)
    assert [value for _, quantity, _, value in lines if quantity == "inside where needed"] == [0.75]
    assert told["wrong in the narrower half", 0.15] == 0.5 and told["wrong of all", 0.15] == 0.25


def test_intervals_of_infinite_width_hold_everything_and_call_nothing_certain():
    known = world(20).known(data.load(DATASET).fold(1).test)
    told = {(name, quantity): value for name, quantity, at, value in fits.measured(known, 1e9, ()) if at == 1e9}
    for name in ("full", "diagonal", "constant"):
        assert told[name, "inside"] == 1 and told[name, "certain"] == 0 and told[name, "wrong"] == 0


def test_the_optimum_of_a_linear_ranker_is_that_of_newtons_method():
    """Depth 1 makes the objective convex."""
    run = world(12, depth=1, init="he")
    history, fit = run.learner.history, run.learner.fit
    x = history.documents[0].double().numpy()[history.pairs[0].numpy()]
    x, won = x[:, 0] - x[:, 1], history.outcomes[0].double().numpy()
    anchor, m = fit.anchor[0].double().numpy(), SETTING["width"]
    w = anchor.copy()

    def value(w):
        gap = np.sqrt(m) * x @ w
        losses = won[:, 0] * np.logaddexp(0, -gap) + won[:, 1] * np.logaddexp(0, gap)
        return losses.sum() + m * 0.1 / 2 * ((w - anchor) ** 2).sum()

    for _ in range(30):
        p, n = special.expit(np.sqrt(m) * x @ w), won.sum(axis=1)
        gradient = np.sqrt(m) * x.T @ (n * p - won[:, 0]) + m * 0.1 * (w - anchor)
        w -= np.linalg.solve(m * (x.T * (n * p * (1 - p))) @ x + m * 0.1 * np.eye(len(w)), gradient)
    before = fit.theta.clone()
    assert fits.optimum(fit, history, fits.MOST_PASSES) == pytest.approx(value(w), rel=1e-7)
    assert fits.optimum(fit, history, fits.MOST_PASSES) < value(before[0].double().numpy())
    torch.testing.assert_close(fit.theta, before)  # the fit itself stays where it was


def test_the_larger_rate_is_what_was_tuned_for_the_public_code():
    way = fits.WAYS["Adam, 20 passes, fresh start and decay, larger rate"]
    assert way.changed["rate"] == TUNED.chosen("MQ2008", "olRankNet" + FRESH)["rate"]


def test_a_kept_memory_is_kept_and_an_emptied_one_is_not():
    run = world(6)
    streams = Streams(np.array([7], dtype=np.uint64))
    own = SETTING | {"rate": 1e-2}
    followers = {name: fits.Follower(run.dataset.n_features, own, streams, way) for name, way in fits.WAYS.items()}
    for _ in range(2):
        for follower in followers.values():
            before = follower.fit
            follower.refit(run.learner.history, 6)
            assert (follower.fit is before) == follower._way.kept
    network = Network(run.dataset.n_features, 8, 2, "symmetric")
    theta = network.initial(streams)
    direct = NetworkFit(
        network, theta, theta, torch.tensor([0.1], dtype=torch.float64), rate=torch.tensor([1e-2]), passes=20
    )
    for _ in range(2):
        direct.refit(run.learner.history, torch.ones(1, dtype=torch.bool))
    torch.testing.assert_close(followers["Adam, 20 passes"].fit.theta, direct.theta)
    told = followers["L-BFGS, 10 passes, memory kept"].quantities(run.learner.history, 200)
    assert told["optimum"] <= told["value"] < told["start"]
    assert told["gap"] == pytest.approx((told["value"] - told["optimum"]) / (told["start"] - told["optimum"]))


@pytest.mark.parametrize("init", ["symmetric", "he"])
def test_cells_have_their_tables(init):
    own = tuple(sorted((SETTING | {"init": init}).items()))
    gap = fits.Gap(DATASET, data.checksum(DATASET), own, (4, 8), regularizations=(0.1,))
    coverage = fits.Coverage(DATASET, data.checksum(DATASET), own, (4, 8), queries=3)
    tables = {cell: cell.table([Row(2, 1)]) for cell in (gap, coverage)}
    for cell, table in tables.items():
        check_table(cell, [Row(2, 1)], table)
        assert set(table["round"]) == {4, 8} and not set(cell.labels()) & set(table.columns)
        assert np.isfinite(table["value"]).all()
    gaps = tables[gap]
    assert set(gaps["refit"]) == set(fits.WAYS) and set(gaps["regularization"]) == {0.1}
    assert (gaps.loc[gaps["quantity"] == "gap", "value"] >= 0).all()
    own = tables[coverage].query("part == 'history' and `round` == 8").set_index("quantity")["value"]
    assert own["gap"] == pytest.approx((own["value"] - own["optimum"]) / (own["start"] - own["optimum"]))
    assert own["gap"] >= 0


def test_declared_cells_take_the_setting_and_name_their_rounds():
    for make, rounds in ((fits.gap_cells, 500), (fits.coverage_cells, 1000)):
        (smoke,), (paper,) = make("smoke", SETTING), make("paper", SETTING)
        assert (smoke.dataset, paper.dataset) == (DATASET, "MQ2008")
        assert paper.rounds[-1] == rounds and paper.setting == SETTING
    assert fits.gap_cells("paper", SETTING)[0].regularizations == (0.1, fits.SMALL_REGULARIZATION)
    tuned = SETTING | {"rate": 1e-3}
    cells = fits.refit_cells("paper", tuned)
    assert [fits.way(cell)["way"] for cell in cells] == list(fits.REFITS) and len(set(cells)) == len(cells)
    for cell, changed in zip(cells, fits.REFITS.values(), strict=True):
        assert cell.setting == tuned | {"regularization": fits.SMALL_REGULARIZATION} | changed
    assert set(fits.refit_cells("laptop", tuned)) < set(cells)
    (pulled,) = fits.pulled_cells("paper", tuned | {"regularization": 100.0})
    assert pulled.setting == tuned | {"regularization": 0.1}
    with pytest.raises(ValueError, match="ascending"):
        fits.Coverage(DATASET, "x", tuple(sorted(SETTING.items())), (5, 3))


def test_half_of_the_pairs_by_width_are_the_narrower_ones():
    rng = generator("halves", 0)
    width, truth = rng.random(101), rng.random(101) - 0.5
    estimate = np.where(width < np.median(width), truth, -truth)  # the narrower are right, the wider wrong
    lines = fits.measured(Known(estimate, truth, {"full": width}), 1.0, ())
    told = {quantity: value for _, quantity, _, value in lines}
    assert told["wrong in the narrower half"] == pytest.approx(1 / 51)
    assert told["wrong of all"] == pytest.approx(51 / 101)
    assert told["width and error"] > 0.3


def runs_of_ways(leads, spread=1e-3):
    """Invented runs, two folds by three seeds: Adam's second rate is its best and scores .5, and L-BFGS is above that
    by a lead for each data set and kind of users."""
    rng, lines = generator("invented ways of refitting", 0), []
    for (dataset, users), lead in leads.items():
        levels = [0.5 + lead, 0.4, 0.5, 0.3]
        for way, level in zip(fits.AS_TEXT, levels, strict=True):
            for fold in (1, 2):
                scores = level + spread * rng.standard_normal(3)
                lines += [(dataset, users, fold, seed, way, score) for seed, score in enumerate(scores)]
    return pd.DataFrame(lines, columns=["dataset", "users", "fold", "seed", "way", "score"])


def test_few_passes_are_compared_with_adam_at_its_best_and_paired_by_run():
    runs = runs_of_ways({("A", "perfect"): 0.02, ("A", "informational"): -0.01}, spread=0.01)
    table = fits.few_passes({"offline": runs, "lists": runs.assign(score=runs["score"] / 2)})
    assert table["panel"].tolist() == 3 * ["offline"] + 3 * ["lists"] and (table["n"] == 6).all()
    first = table.iloc[0]
    assert first["adam"] == list(fits.AS_TEXT)[2]
    own = runs[(runs["dataset"] == "A") & (runs["users"] == "perfect")].set_index(["way", "fold", "seed"])["score"]
    differences = own[fits.FEW_PASSES] - own[first["adam"]]
    assert first["mean"] == pytest.approx(differences.mean())
    whole = table[table["dataset"] == "all"]
    assert whole["mean"].iloc[0] == pytest.approx(table["mean"].iloc[:2].mean())
    assert whole["mean"].iloc[1] == pytest.approx(whole["mean"].iloc[0] / 2)
    assert fits.few_passes({"offline": runs.iloc[:0]}).empty
    assert fits.few_passes({"offline": runs[runs["way"] != fits.FEW_PASSES]}).empty
    lacking = runs.drop(runs.index[(runs["way"] == fits.FEW_PASSES) & (runs["seed"] == 2) & (runs["fold"] == 1)])
    assert (fits.few_passes({"offline": lacking})["n"] == 5).all()


@pytest.mark.parametrize(
    ("one", "other", "spread", "taken"),
    [(0.0, 0.0, 1e-4, True), (0.02, 0.0, 1e-4, True), (0.02, -0.005, 1e-4, False), (0.0, 0.0, 0.05, False)],
    ids=["alike", "better", "worse in one place", "too few runs to say"],
)
def test_long_runs_take_few_passes_where_they_are_not_worse(one, other, spread, taken):
    runs = runs_of_ways({("A", "perfect"): one, ("B", "perfect"): other}, spread)
    assert fits.taken_for_long_runs(fits.few_passes({"offline": runs})) == taken
    assert not fits.taken_for_long_runs(fits.few_passes({"offline": runs.iloc[:0]}))
