from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import special

from ol2r.papers.olranknet import audits
from ol2r.papers.olranknet.audits import RATIOS, Run, Wide, look
from ol2r.theory import confidence, neural

WORLD = Wide(features=3, queries=3, documents=4, width=32)
SMALL = Wide(features=2, queries=2, documents=2, width=64, gap=0.1)
PROVED = ("martingale", "linear", "network", "current")
ALWAYS = ("radius", "log det")


def after(world, rounds, worlds=3):
    run = Run(world, worlds, regularization=0.7, delta=0.1, seed=1)
    for _ in range(rounds):
        run.step()
    return run


def last(table):
    """Quantities of the last round: DataFrame, a row for each world."""
    return table[table["round"] == table["round"].max()].pivot(index="world", columns="quantity", values="value")


@pytest.mark.parametrize("world", [WORLD, replace(WORLD, truth="network", depth=3), replace(WORLD, init="he"), SMALL])
def test_worlds_are_as_declared(world):
    drawn = audits.draw(world, 3, seed=2)
    np.testing.assert_allclose(drawn.features.norm(dim=2), 1.0, atol=1e-6)
    gradients = drawn.tangent.explicit().numpy()
    np.testing.assert_allclose(drawn.kernel, gradients @ gradients.swapaxes(1, 2), atol=1e-9)
    np.testing.assert_allclose(drawn.x @ drawn.x.swapaxes(1, 2), drawn.kernel, atol=1e-6)
    for r in range(3):
        assert neural.least_norm(drawn.scores[r], drawn.kernel[r]) == pytest.approx(world.bound, rel=1e-4)
    pairs = audits.pairs_of(world.queries, world.documents)
    assert (pairs // world.documents)[:, 0].tolist() == (pairs // world.documents)[:, 1].tolist()
    assert len(pairs) == world.queries * world.documents * (world.documents - 1) / 2
    apart = special.expit(drawn.scores[:, pairs[:, 0]] - drawn.scores[:, pairs[:, 1]]) - 0.5
    assert np.abs(apart).min() >= world.gap


def test_worlds_differ_and_the_same_seed_draws_the_same():
    first, again, other = (audits.draw(WORLD, 2, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.scores, again.scores)
    assert not np.allclose(first.scores[0], first.scores[1])
    assert not np.allclose(first.scores, other.scores)


def test_worlds_that_cannot_be_are_errors():
    with pytest.raises(ValueError, match="apart"):
        audits.draw(replace(WORLD, gap=0.45, bound=0.1), 1, seed=0)
    with pytest.raises(ValueError, match="even"):
        replace(WORLD, documents=3)
    with pytest.raises(ValueError, match="truth"):
        replace(WORLD, truth="linear")


def test_what_the_audit_counts_is_what_the_network_was_given():
    run = after(WORLD, 12)
    counts = run.wins + run.losses
    assert counts.sum(axis=1).tolist() == [24.0] * 3  # two pairs a round
    np.testing.assert_array_equal(run.seen.sum(axis=1), 12 * 4)
    np.testing.assert_allclose(run.gram, np.einsum("re,rek,rel->rkl", counts, run.x, run.x) + 0.7 * np.eye(12))
    np.testing.assert_allclose(run.history.n_labels, counts.sum(axis=1))
    # labels, seen through Σ y x, are those of the history; documents by what the network reads
    for r in range(3):
        rows = run.history.documents[r].double()
        number = torch.cdist(rows, run.drawn.inputs[r]).argmin(dim=1).numpy()
        said = np.zeros((12, 12))
        for (i, j), (won, lost) in zip(run.history.pairs[r].tolist(), run.history.outcomes[r].tolist(), strict=True):
            said[number[i], number[j]] += won
            said[number[j], number[i]] += lost
        i, j = run.pairs.T
        np.testing.assert_array_equal(said[i, j], run.wins[r])
        np.testing.assert_array_equal(said[j, i], run.losses[r])
    noise = run.wins - counts * run.preference
    np.testing.assert_allclose(run.martingale, np.einsum("re,rek->rk", noise, run.x), atol=1e-12)


def test_users_who_stop_give_labels_that_favour_the_list_and_what_is_counted_is_what_was_seen():
    run = Run(WORLD, 3, regularization=0.7, delta=0.1, seed=1, users="cascade")
    for _ in range(30):
        run.step()
    counts = run.wins + run.losses
    labels = counts.sum(axis=1)
    assert (labels > 0).all() and (labels < 60).all()  # two pairs a round where all is seen
    np.testing.assert_allclose(run.gram, np.einsum("re,rek,rel->rkl", counts, run.x, run.x) + 0.7 * np.eye(12))
    np.testing.assert_allclose(run.history.n_labels, labels)
    noise = run.wins - counts * run.preference
    np.testing.assert_allclose(run.martingale, np.einsum("re,rek->rk", noise, run.x), atol=1e-12)


def test_of_two_documents_in_one_list_cascade_users_prefer_the_upper_one_more_often_than_they_should():
    world = Wide(features=2, queries=1, documents=2, width=64, bound=0.05)  # nearly equal documents
    run = Run(world, 200, regularization=1e4, delta=0.1, seed=0, users="cascade")  # a network that stays at θ₀
    for _ in range(20):
        run.step()
    labels = (run.wins + run.losses).sum()
    assert abs(run.preference - 0.5).max() < 0.06
    # clicks (1, 0) and (0, 1) are as likely; the first is also seen of (1, 1) where the user left: 3/8 against 1/4
    scores = run.network.forward(run.fit.theta, run.drawn.inputs).scores.numpy()
    above = scores[:, 0] >= scores[:, 1]
    upper = np.where(above, run.wins[:, 0], run.losses[:, 0]).sum() / labels
    assert upper == pytest.approx(0.6, abs=0.06)


def test_before_any_label_nothing_has_drifted():
    run = Run(WORLD, 2, regularization=0.7, delta=0.1, seed=1)
    assert run.drift().tolist() == [0.0, 0.0]


def test_unknown_users_are_an_error():
    with pytest.raises(ValueError, match="users must be one of matched, cascade"):
        Run(WORLD, 1, 1.0, 0.1, 0, users="casscade")


def test_drift_and_intervals_are_those_of_all_parameters_written_out():
    run = after(WORLD, 6)
    at = look(run)
    now = audits.later(run, at)
    world, lam, p = run.world, 0.7, run.network.n_parameters
    i, j = run.pairs.T
    start = run.drawn.tangent.explicit().numpy()
    tangent = run.network.tangent(run.fit.theta, run.network.forward(run.fit.theta, run.drawn.inputs).activations)
    moved = tangent.explicit().numpy()
    kept = torch.cat(list(run.current.gradients()), dim=1).numpy()
    for r in range(3):
        counts = (run.wins + run.losses)[r]
        w, v = start[r, i] - start[r, j], moved[r, i] - moved[r, j]
        first = w.T @ (counts[:, None] * w) + lam * np.eye(p)
        later = kept[r].T @ kept[r] + lam * np.eye(p)
        z = np.linalg.lstsq(start[r], run.drawn.x[r] @ at.theta[r], rcond=1e-8)[0]
        drift = np.linalg.norm(later - first, 2)
        np.testing.assert_allclose(run.drift()[r], drift, rtol=1e-6)
        np.testing.assert_allclose(at.linear[r], w @ z, atol=1e-6)
        np.testing.assert_allclose(at.norm[r] ** 2, (w * np.linalg.solve(first, w.T).T).sum(axis=1), atol=1e-7)
        np.testing.assert_allclose(now.full[r] ** 2, (v * np.linalg.solve(later, v.T).T).sum(axis=1), atol=1e-7)
        np.testing.assert_allclose(now.diagonal[r] ** 2, (v**2 / np.diag(later)).sum(axis=1), atol=1e-7)
        turned = np.linalg.norm(v - w, axis=1)
        wanted = 0.25 * (np.abs(at.scores[r] - v @ z) + turned * world.bound)
        np.testing.assert_allclose(now.error[r], wanted, atol=1e-5)
        assert now.alpha[r] == pytest.approx(at.alpha[r] * np.sqrt(1 + drift / lam), rel=1e-5)


def test_the_linear_fit_solves_the_equation_of_lemma_b8():
    run = after(WORLD, 8)
    theta = run.linear()
    for r in range(3):
        counts = run.wins[r] + run.losses[r]
        reached = confidence.estimating_function(theta[r], run.x[r], counts, 0.7)
        np.testing.assert_allclose(reached, run.wins[r] @ run.x[r], atol=1e-8)


def test_a_wider_network_stays_nearer_to_its_linear_model():
    errors = [last(audits.coverage(replace(WORLD, width=m), 2, 5))["error"].mean() for m in (16, 512)]
    assert errors[1] < 0.4 * errors[0]


@pytest.fixture(scope="module")
def covered():
    return last(audits.coverage(replace(WORLD, bound=1.0), worlds=20, rounds=30, every=6))


def test_bounds_hold_where_their_assumptions_do(covered):
    assert np.isfinite(covered.to_numpy()).all()
    for name in PROVED:
        assert (covered[name] <= 1).mean() >= 0.9, covered[name]
    for name in ALWAYS:
        assert (covered[name] <= 1).all(), covered[name]
    assert (covered["log det by rounds"] <= covered["log det by documents"]).all()
    assert (covered["log det by rounds"] < covered["log det as printed"]).all()  # H ⪯ H̃
    assert (covered["labels"] == 60).all() and covered["bias"].abs().max() < 0.3


def test_bounds_that_were_too_small_would_be_found_out(covered):
    # a radius scaled by f covers exactly the worlds with a ratio of at most f
    for name, factor in (("martingale", 0.5), ("linear", 0.05), ("network", 0.05), ("current", 0.01), ("radius", 0.3)):
        assert (covered[name] <= factor).mean() < 0.9, covered[name]
    assert (covered["log det"] > 0.1).all()
    scaled = last(audits.coverage(replace(WORLD, bound=1.0), worlds=2, rounds=12, every=6, scale=0.01))
    whole = last(audits.coverage(replace(WORLD, bound=1.0), worlds=2, rounds=12, every=6))
    for name in PROVED:
        np.testing.assert_allclose(scaled[name], 100 * whole[name])
    assert (scaled["network"] > 1).all()


def test_bounds_hold_for_a_truth_that_is_another_networks_function():
    table = last(audits.coverage(replace(WORLD, truth="network", depth=3, width=16), worlds=8, rounds=12, every=6))
    assert set(RATIOS) < set(table.columns)
    for name in (*PROVED, *ALWAYS):
        assert (table[name] <= 1).all(), table[name]


def test_the_diagonal_form_is_narrower_than_the_full_one_within_the_pool(covered):
    assert (covered["narrowing"] > 1).all()


def test_the_diagonal_interval_fails_on_a_pair_of_which_nothing_was_learned_and_the_full_one_does_not():
    table = audits.blind_spot((0, 10**4, 10**6, 10**10), worlds=12)
    table = table.groupby(["round", "quantity"])["value"].agg(["min", "max"])
    for n in (0, 10**4, 10**6, 10**10):
        assert table.loc[(n, "full"), "max"] < 1
    assert table.loc[(0, "diagonal"), "max"] < 1 < table.loc[(10**10, "diagonal"), "min"]
    assert table.loc[(0, "narrower"), "min"] == pytest.approx(1.0)
    smallest = [table.loc[(n, "narrower"), "max"] for n in (10**4, 10**6, 10**10)]
    assert smallest[0] > 5 * smallest[1] > 25 * smallest[2]


def test_in_the_linear_case_the_blind_spot_is_the_closed_form():
    table = audits.blind_spot((0, 100), depth=1, regularization=0.5, worlds=3)
    narrower = table[table["quantity"] == "narrower"].groupby("round")["value"].first()
    # inputs are doubled: of ±a each of four entries differs by 1, and so it is for ±b
    assert narrower[100] ** 2 == pytest.approx(0.5 / (0.5 + 100))


@pytest.mark.parametrize("scale", [0.15, 1.0])
def test_regret_open_orders_and_wide_pairs_are_as_few_as_theory_allows(scale):
    table = audits.regret(SMALL, worlds=5, rounds=40, scale=scale, every=20)
    by = table.pivot_table(index=["world", "round"], columns="quantity", values="value")
    assert (by["regret"] <= by["open"]).all()
    assert (by["open"] <= by["allowed"]).all() and (by["allowed"] <= by["shown"]).all()
    assert (by["wide"] <= by["most"]).all()
    ends = last(table)
    # with two documents a query's pair is always labelled: q = 1, and what is allowed is wide
    assert (ends["q"] == 1).all() and (ends["allowed"] <= ends["wide"]).all()
    if scale < 1:
        assert (ends["open"] < ends["shown"]).any()  # some orders became certain
    else:
        assert (ends["regret"] <= ends["bound"]).all()


def test_intervals_far_too_narrow_break_the_chain_of_the_regret_bound():
    table = last(audits.regret(SMALL, worlds=5, rounds=25, scale=0.005, every=25))
    assert (table["open"] > table["allowed"]).any() and (table["regret"] > table["open"]).any()


def test_the_kernel_nears_its_limit_as_one_over_the_root_of_the_width_and_not_the_printed_one():
    limits = {"all": ("from H̃", "from H"), "own blocks": ("from H", "from H̃")}
    for parameters, (limit, other) in limits.items():
        table = audits.kernel_convergence((64, 1024, 8192), parameters, draws=12)
        means = table.groupby(["quantity", "round"])["value"].mean()
        assert means[limit, 8192] < 0.05 and means[other, 8192] > 0.2
        assert means[limit, 64] / means[limit, 1024] == pytest.approx(4, rel=0.4)


def test_parameters_that_no_network_has_are_an_error():
    for audit, widths in ((audits.kernel_convergence, (64,)), (audits.every_pair, 64)):
        with pytest.raises(ValueError, match="parameters must be one of all, own blocks"):
            audit(widths, "some")
    with pytest.raises(ValueError, match="delta must be between 0 and 1"):
        audits.every_pair(64, delta=1.0)


@pytest.mark.parametrize("parameters", audits.PARAMETERS)
def test_with_every_pair_labelled_the_printed_bound_holds_with_the_limit_of_the_kernel_alone(parameters):
    table = audits.every_pair(4096, parameters, worlds=8)
    held = (table.set_index("quantity")["value"] <= 1).groupby(level=0).mean()
    assert held["log det"] == held["log det by rounds"] == 1
    assert held["log det as printed"] == (0 if parameters == "all" else 1)
    # half of the bound would be found out
    assert table["value"].min() > 0.5


def test_log_determinants_of_every_pair_are_those_of_the_pairs_written_out():
    table = audits.every_pair(6, documents=4, features=3, regularization=2.0, worlds=1, seed=3)
    x = audits.generator("every pair", 3).standard_normal((1, 4, 3))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    network = audits.Network(3, 6, 2, "symmetric")
    inputs = network.inputs(torch.from_numpy(x[0]))
    key = np.array([audits.replica_key("every pair 3", 1, 0)], dtype=np.uint64)
    theta = network.initial(audits.Streams(key)).double()
    g = network.tangent(theta, network.forward(theta, inputs[None]).activations).explicit()[0].numpy()
    i, j = np.triu_indices(4, 1)
    w = g[i] - g[j]
    log_det = np.linalg.slogdet(np.eye(w.shape[1]) + w.T @ w / 2.0)[1]
    limit = neural.tangent_kernel(inputs.numpy(), 2)
    found = table.set_index("quantity")["value"]
    for name, kernel in (("log det by rounds", limit.tangent), ("log det as printed", limit.printed)):
        assert found[name] == pytest.approx(log_det / neural.printed_log_det_bound(kernel, 2.0))


@pytest.mark.parametrize("truth", audits.TRUTHS)
def test_orders_are_open_as_long_as_theory_allows_and_longer_where_intervals_are_too_narrow(truth):
    world = replace(SMALL, truth=truth)
    labels = (1, 10**3, 10**5, 10**7)
    table = audits.open_orders(world, 12, labels)
    by = table.pivot_table(index=["world", "round"], columns="quantity", values="value")
    assert (by["open"] <= by["allowed"]).all() and (by["wrong"] == 0).all()
    assert (by.xs(1, level="round")["open"] == 1).all() and (by.xs(10**7, level="round")["open"] == 0).all()
    assert (by["printed"] <= 1).all() and by.xs(10**7, level="round")["printed"].max() < 0.1
    assert (by["allowed"] < 1).any()  # so that more could be open than that
    narrow = audits.open_orders(world, 12, (1, 3, 10, 30, 100), scale=1 / 64)
    by = narrow.pivot_table(index=["world", "round"], columns="quantity", values="value")
    assert (by["open"] > by["allowed"]).any() and (by["wrong"] > 0).any()


def test_the_numbers_of_the_pair_of_inputs_that_the_chapter_quotes():
    # two inputs at cosine .75: H̃ and H at L = 2, and a network of 8192 units
    x = np.array([[1.0, 0.0], [0.75, np.sqrt(1 - 0.75**2)]])
    kernels = neural.tangent_kernel(x, 2)
    angle = np.arccos(0.75)
    derivative = 0.75 * (np.pi - angle) / np.pi
    assert kernels.activations[0, 1] == pytest.approx(np.sin(angle) / np.pi + derivative)
    assert kernels.tangent[0, 1] == pytest.approx(np.sin(angle) / np.pi + 2 * derivative)
    assert kernels.printed[0, 1] == pytest.approx(np.sin(angle) / np.pi + 1.5 * derivative)


def test_the_diagonal_width_of_a_typical_pair_is_first_too_narrow_and_then_too_wide():
    small = {"features": 12, "width": 24, "documents": 80, "regularization": 1e-3, "worlds": 2}
    table = audits.typical_widths((0, 20, 600), **small).groupby(["round", "quantity"])["value"].mean()
    assert table[0, "full"] == pytest.approx(1.0) == table[0, "diagonal"]
    assert table[0, "narrower"] == 0
    assert table[20, "narrower"] > 0.9 and table[600, "narrower"] < 0.1
    assert table[20, "diagonal"] < table[20, "full"] and table[600, "diagonal"] > table[600, "full"]
    assert table[600, "prior"] > table[600, "alike"]  # it knows a gradient's length better than what was seen


def test_typical_widths_are_those_of_the_matrix_written_out():
    table = audits.typical_widths((5, 110), features=3, width=4, documents=30, regularization=0.5, worlds=1)
    network = audits.Network(3, 4, 2)
    rng = audits.generator("typical widths", 0)
    key = np.array([audits.replica_key("typical widths 0", 1, 0)], dtype=np.uint64)
    there = rng.random((1, 30, 3)) < 0.6
    there[:, :, 0] = True
    x = torch.from_numpy(rng.random(there.shape) * there)
    theta = network.initial(audits.Streams(key)).double()
    g = network.tangent(theta, network.forward(theta, x).activations).explicit()[0].numpy()
    first = rng.integers(0, 30, 300)
    asked = g[first] - g[(first + rng.integers(1, 30, 300)) % 30]
    matrix = 0.5 * np.eye(network.n_parameters)
    for n, parts in ((5, (5,)), (110, (100, 5))):
        for number in parts:
            one = rng.integers(0, 30, (1, number))
            other = (one + rng.integers(1, 30, (1, number))) % 30
            w = g[one[0]] - g[other[0]]
            matrix += w.T @ w
        prior = np.linalg.norm(asked, axis=1) / np.sqrt(0.5)
        norm = np.sqrt((asked * np.linalg.solve(matrix, asked.T).T).sum(axis=1))
        narrow = np.sqrt((asked**2 / np.diag(matrix)).sum(axis=1))
        got = table[table["round"] == n].set_index("quantity")["value"]
        assert got["full"] == pytest.approx(np.median(norm / prior), rel=1e-6)
        assert got["diagonal"] == pytest.approx(np.median(narrow / prior), rel=1e-6)
        assert got["narrower"] == pytest.approx((narrow < norm).mean())
