"""Covariance of a network: each form against A written out in numpy, and the forms against each other."""

import numpy as np
import pytest
import torch

from ol2r.networks import Dual, Explicit, Full, Inverted, Network
from ol2r.networks import covariance as module
from ol2r.networks.network import INITIALS
from ol2r.random import Streams, generator
from ol2r.ranking import Candidates, engine, interval_orders
from ol2r.ranking.batched import covariance as batched_covariance
from ol2r.ranking.covariance import gram

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
KEYS = np.arange(3, dtype=np.uint64)
REGULARIZATION = (1.0, 0.1, 1e-3)
D, V, P = 5, 7, 3
FORMS = {
    "dual": Dual,
    "primal": lambda network, lambda_: Explicit(network, lambda_, full=True),
    "full": Full,
    "diagonal": lambda network, lambda_: Explicit(network, lambda_, full=False),
    "inverted": Inverted,
}
NETWORKS = [Network(D, 8), Network(D, 6, 3, "symmetric"), Network(D, 3, 1), Network(D, 1)]
every_form = pytest.mark.parametrize("form", FORMS)
every_network = pytest.mark.parametrize("network", NETWORKS, ids=lambda n: f"{n.init}-{n.depth}-{n.width}")


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks and strips of a few rows, so that short runs open many blocks and small inverses have many strips."""
    monkeypatch.setattr(module, "BLOCK", 8)
    monkeypatch.setattr(batched_covariance, "ROWS", 8)


class Run:
    """A network that moves a little every round, and pairs of its documents, in some rounds of some replicas none."""

    def __init__(self, network, seed=0, share=0.4, device="cpu", regularization=REGULARIZATION):
        self.network, self.device, self.share = network, device, share
        self.rng = generator("a covariance's rounds", seed)
        self.theta = network.initial(Streams(KEYS[: len(regularization)])).double()
        self.regularization = torch.tensor(regularization, dtype=torch.float64)
        self.a = [lambda_ * np.eye(network.n_parameters) for lambda_ in regularization]

    def form(self, name):
        return FORMS[name](self.network, self.regularization.to(self.device))

    def tangent(self):
        n = len(self.regularization)
        x = self.network.inputs(torch.from_numpy(self.rng.uniform(0, 1, (n, V, D))))
        return self.network.tangent(self.theta, self.network.forward(self.theta, x).activations)

    def round(self, *covariances, absent=None):
        n = len(self.regularization)
        tangent = self.tangent()
        pairs = np.stack([self.rng.permutation(V)[: 2 * P].reshape(P, 2) for _ in range(n)])
        pairs[self.rng.random((n, P)) < self.share] = -1
        if absent is not None:
            pairs[absent] = -1
        explicit = tangent.explicit().numpy()
        for r in range(n):
            for i, j in pairs[r][pairs[r, :, 0] >= 0]:
                g = explicit[r, i] - explicit[r, j]
                self.a[r] += np.outer(g, g)
        for covariance in covariances:
            there = tangent.map(lambda factor: factor.to(self.device))
            covariance.add(there, torch.from_numpy(pairs).to(self.device))
        self.theta = self.theta + torch.from_numpy(0.02 * self.rng.standard_normal(self.theta.shape))

    def matrix(self, r, form):
        return np.diag(np.diag(self.a[r])) if form == "diagonal" else self.a[r]

    def check(self, covariance, form, tolerance):
        tangent = self.tangent()
        g = tangent.explicit().numpy()
        got = covariance.gram(tangent.map(lambda factor: factor.to(self.device))).cpu().numpy()
        for r, lambda_ in enumerate(self.regularization.tolist()):
            a = self.matrix(r, form)
            wanted = g[r] @ np.linalg.solve(a, g[r].T)
            np.testing.assert_allclose(got[r], wanted, rtol=0, atol=tolerance * np.abs(wanted).max())
            grown = np.linalg.slogdet(a)[1] - len(a) * np.log(lambda_)
            np.testing.assert_allclose(float(covariance.log_det[r]), grown, rtol=tolerance, atol=tolerance)
        assert covariance.sound.all()


@every_form
@every_network
@pytest.mark.parametrize("device", DEVICES)
def test_gram_and_log_determinant_are_what_the_matrix_says(network, form, device, small_blocks):
    run = Run(network, device=device)
    covariance = run.form(form)
    run.check(covariance, form, 1e-11)  # before any pair
    for round_ in range(40):
        run.round(covariance)
        if round_ in (0, 7, 39):
            run.check(covariance, form, 1e-8)


@every_network
def test_dual_and_primal_agree(network):
    run = Run(network)
    dual, primal = (run.form(form) for form in ("dual", "primal"))
    for _ in range(120):
        run.round(dual, primal)
    tangent = run.tangent()
    one, other = dual.gram(tangent), primal.gram(tangent)
    torch.testing.assert_close(one, other, rtol=0, atol=1e-8 * float(other.abs().max()))
    torch.testing.assert_close(dual.log_det, primal.log_det, rtol=1e-8, atol=0)


def test_a_factor_that_has_grown_long_is_as_good_as_a_fresh_one():
    run = Run(Network(D, 30), share=0.0)
    grown = run.form("dual")
    for _ in range(300):
        run.round(grown)
    assert len(grown._steps) > 3
    rows = torch.cat(list(grown.gradients()), dim=1)
    kernel = rows @ rows.mT / run.regularization[:, None, None] + torch.eye(rows.shape[1], dtype=torch.float64)
    fresh = torch.linalg.cholesky(kernel)
    wanted = 2 * fresh.diagonal(dim1=1, dim2=2).log().sum(dim=1)
    torch.testing.assert_close(grown.log_det, wanted, rtol=1e-11, atol=0)
    g = run.tangent()
    own = (g.explicit() @ rows.mT) / run.regularization[:, None, None]
    u = torch.linalg.solve_triangular(fresh, own.mT, upper=False)
    wanted = g.kernel(g) / run.regularization[:, None, None] - u.mT @ u
    torch.testing.assert_close(grown.gram(g), wanted, rtol=0, atol=1e-9 * float(wanted.abs().max()))


@every_form
def test_a_replica_without_pairs_keeps_its_digits_beside_others_that_have_some(form, small_blocks):
    run = Run(Network(D, 8))
    covariance, alone = run.form(form), run.form(form)
    tangent = run.tangent()
    before = alone.gram(tangent)
    for _ in range(20):
        run.round(covariance, absent=1)
    after = covariance.gram(tangent)
    if form == "full":
        assert covariance.is_dual
    torch.testing.assert_close(after[1], before[1], rtol=1e-15, atol=0)
    assert float(covariance.log_det[1]) == 0.0
    assert (after[0].diagonal() < before[0].diagonal()).all() and covariance.log_det[0] > 0


@every_form
def test_rounds_without_any_pair_for_ever_change_nothing_and_take_no_room(form):
    run = Run(Network(D, 8))
    covariance = run.form(form)
    before, room = covariance.gram(run.tangent()), covariance.nbytes
    for _ in range(5):
        covariance.add(run.tangent(), torch.full((3, P, 2), -1))
        covariance.add(run.tangent(), torch.full((3, 0, 2), -1))
    run.rng = generator("a covariance's rounds", 0)
    assert torch.equal(covariance.gram(run.tangent()), before)
    assert covariance.nbytes == room and not covariance.log_det.any()


@every_form
def test_replicas_of_a_batch_do_not_touch_each_other(form, small_blocks):
    together, apart = Run(Network(D, 8)), Run(Network(D, 8))
    covariance = together.form(form)
    alone = FORMS[form](apart.network, apart.regularization[1:2])
    told = []
    add = covariance.add

    def also_alone(tangent, pairs):
        add(tangent, pairs)
        told.append(pairs)
        alone.add(tangent.map(lambda factor: factor[1:2]), pairs[1:2])

    covariance.add = also_alone
    for _ in range(25):
        together.round(covariance)
    tangent = together.tangent()
    one = alone.gram(tangent.map(lambda factor: factor[1:2]))
    torch.testing.assert_close(covariance.gram(tangent)[1:2], one, rtol=0, atol=1e-11 * float(one.abs().max()))
    assert any((pairs[1, :, 0] < 0).all() and (pairs[0, :, 0] >= 0).any() for pairs in told)


def test_gradients_are_those_of_the_round_in_which_a_pair_was_seen():
    run = Run(Network(D, 8))
    covariance = run.form("dual")
    tangent = run.tangent()
    covariance.add(tangent, torch.tensor([[[0, 1]]] * 3))
    factors = [factor.zero_() for factor in tangent.factors]
    assert not any(factor.any() for factor in factors)
    (rows,) = covariance.gradients()
    assert rows[:, 0].any() and not rows[:, 1:].any()


def lists_of(scores, certain, sizes, depth, engine_name):
    """What `arrange` makes of orders, in queries of these sizes."""
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)])
    features = torch.zeros(int(offsets[-1]), 1)
    query = torch.arange(len(sizes))
    candidates = Candidates(features, offsets, torch.zeros(len(sizes), 1), query, longest=scores.shape[1])
    return engine(engine_name).arrange(candidates, scores, certain, True, depth, (), Streams(KEYS), 5)[0]


@every_form
@every_network
@pytest.mark.parametrize("alpha", [0.0, 0.03, 0.3, 3.0, float("inf")])
def test_orders_that_a_list_depends_on_are_those_of_all_widths(network, form, alpha):
    run = Run(network)
    covariance, width = run.form(form), torch.full((3,), alpha, dtype=torch.float64)
    sizes = torch.tensor([V, 4, 1])
    present = torch.arange(V) < sizes[:, None]
    for round_ in range(12):
        tangent, depth = run.tangent(), (1, 3, 10)[round_ % 3]
        scores = torch.from_numpy(run.rng.normal(0, 0.3, (3, V)).round(1))  # with ties
        wanted = interval_orders(scores, covariance.gram(tangent), width) & present[:, :, None] & present[:, None]
        got = covariance.orders(scores, tangent, width, present, depth) & present[:, :, None] & present[:, None]
        assert not (got & ~wanted).any()
        shown = wanted.sum(dim=1) < depth
        assert torch.equal(got & shown[:, None], wanted & shown[:, None])
        for engine_name in ("numba", "torch"):
            listed = [lists_of(scores, orders, sizes, depth, engine_name) for orders in (got, wanted)]
            assert torch.equal(*listed)
        run.round(covariance)


def test_only_documents_of_orders_that_depend_on_the_pairs_have_their_widths_computed(monkeypatch):
    run = Run(Network(D, 8), regularization=(1.0,))
    covariance, asked = run.form("dual"), []
    run.round(covariance)
    gram = covariance.gram
    monkeypatch.setattr(covariance, "gram", lambda some: asked.append(some.inputs[0].shape[1]) or gram(some))
    width, present = torch.tensor([1e-3], dtype=torch.float64), torch.ones(1, V, dtype=torch.bool)
    apart = torch.arange(V, dtype=torch.float64)[None]
    assert covariance.orders(apart, run.tangent(), width, present, 10).sum() == V * (V - 1) / 2 and not asked
    apart[0, 2] = apart[0, 1] + 1e-9
    covariance.orders(apart, run.tangent(), width, present, 10)
    assert asked == [2]
    covariance.orders(apart, run.tangent(), width, present, 3)  # both are below others that fill the list
    assert asked == [2]


@pytest.mark.parametrize("form", ["dual", "primal", "full"])
def test_one_document_has_a_width_of_its_own(form):
    network = Network(D, 4)
    theta = network.initial(Streams(KEYS)).double()
    tangent = network.tangent(theta, network.forward(theta, torch.ones(3, 1, D, dtype=torch.float64)).activations)
    covariance = FORMS[form](network, torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(covariance.gram(tangent), tangent.kernel(tangent))


@every_form
def test_duplicates_add_up_and_teach_nothing_when_they_are_the_two_of_a_pair(form):
    network = Network(D, 8)
    theta = network.initial(Streams(KEYS[:1])).double()
    x = torch.from_numpy(generator("duplicates", 0).uniform(0, 1, (1, 3, D)))[:, [0, 0, 1, 1]]
    tangent = network.tangent(theta, network.forward(theta, x).activations)
    lambda_ = torch.tensor([0.1], dtype=torch.float64)
    covariance = FORMS[form](network, lambda_)
    covariance.add(tangent, torch.tensor([[[0, 1]]]))
    assert float(covariance.log_det) == 0.0
    for _ in range(50):
        covariance.add(tangent, torch.tensor([[[0, 2], [3, 1]]]))
    g = tangent.explicit()[0].numpy()
    seen = 100 * np.outer(g[0] - g[2], g[0] - g[2])
    a = 0.1 * np.eye(network.n_parameters) + (np.diag(np.diag(seen)) if form == "diagonal" else seen)
    wanted = g @ np.linalg.solve(a, g.T)
    np.testing.assert_allclose(covariance.gram(tangent)[0].numpy(), wanted, atol=1e-9 * np.abs(wanted).max())
    assert covariance.sound.all()


@every_form
@pytest.mark.parametrize("tiny", [1e-14, 1e-200, 1e-320, 0.0])
def test_a_regularization_too_tiny_for_the_pairs_is_marked_and_never_reaches_another_replica(form, tiny):
    network = Network(D, 8)
    run, healthy = (Run(network, regularization=(0.1, each), share=0.0) for each in (tiny, 1.0))
    covariance, other = run.form(form), healthy.form(form)
    for _ in range(60):  # more pairs than parameters, so that gradients are in the span of earlier ones
        run.round(covariance)
        healthy.round(other)
    assert other.sound.all()
    assert covariance.sound.tolist() == [True, form == "diagonal" and tiny > 1e-300]
    assert covariance.log_det.isfinite().all()
    tangent = run.tangent()
    one, beside = covariance.gram(tangent), other.gram(tangent)
    assert one.isfinite().all()
    torch.testing.assert_close(one[0], beside[0], rtol=0, atol=1e-12 * float(beside[0].abs().max()))


@every_form
def test_gradients_that_are_not_finite_are_left_out_and_marked(form):
    run = Run(Network(D, 8))
    covariance = run.form(form)
    run.round(covariance)
    tangent, before = run.tangent(), covariance.log_det.clone()
    bad = tangent.map(lambda factor: factor.clone())
    bad.inputs[-1][1] = torch.nan
    covariance.add(bad, torch.tensor([[[0, 1], [2, 3]]] * 3))
    assert covariance.sound.tolist() == [True, False, True]
    assert ((covariance.log_det > before) == covariance.sound).all()
    assert covariance.gram(tangent).isfinite().all()
    run.round(covariance)
    assert covariance.gram(tangent).isfinite().all() and covariance.sound.tolist() == [True, False, True]


@pytest.mark.parametrize("init", INITIALS)
def test_the_form_changes_with_the_number_of_pairs_and_nothing_else_does(init):
    network = Network(D, 4, init=init)
    run = Run(network, share=0.0)
    covariance, dual = run.form("full"), run.form("dual")
    forms = []
    for _ in range(20):
        run.round(covariance, dual)
        forms.append(covariance.is_dual)
        tangent = run.tangent()
        wanted = dual.gram(tangent)
        torch.testing.assert_close(covariance.gram(tangent), wanted, rtol=0, atol=1e-8 * float(wanted.abs().max()))
        torch.testing.assert_close(covariance.log_det, dual.log_det, rtol=1e-8, atol=0)
    entries = 4 * D + 4  # of a symmetric network too, whose doubled inputs say everything twice
    assert forms.index(False) == int(module.SWITCH * entries) // P
    assert covariance.nbytes == 3 * entries**2 * 8


def test_single_precision_keeps_some_digits_and_half_the_memory():
    run = Run(Network(D, 8), regularization=(1.0, 0.3))
    single = Dual(run.network, run.regularization, torch.float32)
    double = run.form("dual")
    for _ in range(30):
        run.round(single, double)
    tangent = run.tangent()
    one, other = single.gram(tangent), double.gram(tangent)
    assert one.dtype == torch.float32 and single.sound.all() and 2 * single.nbytes == double.nbytes
    torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-4 * float(other.abs().max()))
    torch.testing.assert_close(single.log_det, double.log_det, rtol=1e-4, atol=0)


def test_memory_is_half_a_square_of_the_pairs_and_the_factors_of_their_documents():
    run = Run(Network(D, 8), share=0.0, regularization=(0.1,))
    covariance = run.form("dual")
    for _ in range(200):
        run.round(covariance)
    blocks = -(-covariance.n_rows // module.BLOCK)
    rows = module.BLOCK * blocks
    assert blocks == 3
    assert covariance.nbytes == 8 * (rows * (rows + module.BLOCK) // 2 + 2 * rows * (D + 2 * 8))


@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_without_a_hidden_layer_it_is_the_covariance_of_a_linear_learner(kind):
    run = Run(Network(D, 9, depth=1))
    covariance = run.form(kind)
    linear = engine("torch").Covariance(run.regularization, D, kind == "full")
    for _ in range(30):
        tangent = run.tangent()
        pairs = torch.from_numpy(np.stack([run.rng.permutation(V)[: 2 * P].reshape(P, 2) for _ in range(3)]))
        covariance.add(tangent, pairs)
        x = tangent.inputs[0].gather(1, pairs.flatten(1)[..., None].expand(-1, -1, D)).unflatten(1, (P, 2))
        linear.add(x[:, :, 0] - x[:, :, 1], torch.ones(3, P, dtype=torch.bool))
    tangent = run.tangent()
    wanted = gram(tangent.inputs[0], linear.inverse)
    torch.testing.assert_close(covariance.gram(tangent), wanted, rtol=0, atol=1e-10 * float(wanted.abs().max()))
    torch.testing.assert_close(covariance.log_det, linear.log_det, rtol=1e-9, atol=0)


@every_form
def test_it_goes_on_from_what_another_one_kept(form, small_blocks):
    run = Run(Network(D, 3))
    one, other = run.form(form), run.form(form)
    for _ in range(15):
        run.round(one)
    other.load_state_dict({name: value.clone() for name, value in one.state_dict().items()})
    for _ in range(15):
        run.round(one, other)
    tangent = run.tangent()
    assert torch.equal(one.gram(tangent), other.gram(tangent))
    assert torch.equal(one.log_det, other.log_det) and torch.equal(one.sound, other.sound)
