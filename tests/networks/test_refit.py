"""Refits of a network: objective and gradient against torch.func, Adam and L-BFGS against their plain versions."""

import numpy as np
import pytest
import torch
from labelled import DATASET, rounds
from scipy.optimize import minimize
from small import candidates_of

from ol2r.networks import History, Network, NetworkFit
from ol2r.random import Streams, generator
from ol2r.ranking import engine

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
D = DATASET.n_features
KEYS = np.arange(3, dtype=np.uint64)
REGULARIZATION = (0.1, 0.01, 1.0)
either_method = pytest.mark.parametrize("method", ["adam", "lbfgs"])


class Past:
    """A network, its history, and rounds of labelled pairs that are told to it."""

    def __init__(self, network, n_rounds=30, device="cpu", replicas=3, seed=0):
        self.network, self.device, self.replicas = network, device, replicas
        self.history = History(replicas, network.shapes[0][1], device)
        self.told = rounds(n_rounds, replicas, seed=seed)
        self.start = network.initial(Streams(KEYS[:replicas])).to(device)
        self.regularization = torch.tensor(REGULARIZATION[:replicas], dtype=torch.float64, device=device)

    def round(self, fit=None, start=None):
        query, pairs, labels = next(self.told)
        candidates = candidates_of(DATASET, query, self.device)
        inputs = self.network.inputs(candidates.padded()[0])
        changed = self.history.add(candidates, inputs, *(torch.from_numpy(a).to(self.device) for a in (pairs, labels)))
        if fit is not None:
            fit.refit(self.history, changed, start)
        return changed

    def all(self, fit=None, n=None):
        for _ in range(n or 30):
            self.round(fit)
        return self

    def fit(self, dtype=torch.float32, anchored=True, **choices):
        choices = {"method": "adam", "rate": torch.full((self.replicas,), 0.01, device=self.device)} | choices
        start = self.start.to(dtype)
        return NetworkFit(self.network, start, start if anchored else None, self.regularization, **choices)

    def objective(self, theta, r, anchor, loss="sum"):
        """Σ losses + (mλ/2)‖θ − anchor‖² of one replica, from the formula, in any way that torch can differentiate."""
        x = self.history.documents[r].double()
        scores = self.network.forward(theta[None], x[None])[0][0]
        first, second = scores[self.history.pairs[r]].unbind(dim=1)
        won, lost = self.history.outcomes[r].double().unbind(dim=1)
        log = torch.nn.functional.logsigmoid
        losses = -(won * log(first - second) + lost * log(second - first)).sum()
        pull = self.network.width * self.regularization[r] * (self.history.n_labels[r] if loss == "mean" else 1.0)
        return losses + 0.5 * pull * ((theta - anchor) ** 2).sum()


CODE = {"init": "torch", "biases": True, "output": "plain"}
NETWORKS = [Network(D, 6), Network(D, 4, 3, "symmetric"), Network(D, 3, 1)]
NETWORKS += [Network(D, 4, depth, **CODE) for depth in (2, 3)]


@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize("loss", ["sum", "mean"])
@pytest.mark.parametrize("anchored", [True, False], ids=["to the start", "to zero"])
def test_objective_and_gradient_are_those_of_the_formula(network, loss, anchored):
    past = Past(network).all()
    fit = past.fit(torch.float64, anchored, loss=loss)
    fit.theta += torch.from_numpy(0.1 * generator("somewhere", 0).standard_normal(fit.theta.shape))
    value, gradient = fit.expand(past.history)
    for r in range(3):
        theta = fit.theta[r].clone().requires_grad_()
        wanted = past.objective(theta, r, past.start[r].double() if anchored else 0.0, loss)
        wanted.backward()
        torch.testing.assert_close(value[r], wanted.detach(), rtol=1e-12, atol=0)
        torch.testing.assert_close(gradient[r], theta.grad, rtol=0, atol=1e-11 * float(theta.grad.abs().max()))


@pytest.mark.parametrize("device", DEVICES)
def test_adam_takes_the_steps_of_torch_on_the_mean_objective(device):
    past = Past(Network(D, 6), device=device).all()
    rates = (0.01, 0.1, 0.001)
    fit = past.fit(torch.float64, rate=torch.tensor(rates, device=device), passes=15)
    fit.refit(past.history, torch.ones(3, dtype=torch.bool, device=device))
    for r, rate in enumerate(rates):
        theta = past.start[r].double().clone().requires_grad_()
        plain = torch.optim.Adam([theta], lr=float(np.float32(rate)))
        for _ in range(15):
            plain.zero_grad()
            (past.objective(theta, r, past.start[r].double()) / past.history.n_labels[r]).backward()
            plain.step()
        torch.testing.assert_close(fit.theta[r], theta.detach(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_batches_that_hold_all_labels_are_whole_passes(loss):
    past = Past(Network(D, 6)).all()
    whole, batched = (past.fit(torch.float64, loss=loss, passes=5, batch=batch) for batch in (0, 100))
    every = torch.tensor([True, False, True])
    whole.refit(past.history, every)
    batched.refit(past.history, every, words=lambda n: torch.arange(3 * n).view(3, n).flip(1))
    torch.testing.assert_close(batched.theta, whole.theta, rtol=1e-9, atol=1e-12)
    assert torch.equal(batched.theta[1], past.start[1].double())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_without_a_hidden_layer_lbfgs_finds_the_optimum_of_a_linear_learner(loss, device):
    past = Past(Network(D, 9, depth=1), device=device).all()
    # with w = √m W the pull is (λ/2)‖w‖²; the linear mean loss has λ‖w‖² in place of (λ/2)‖w‖²
    fit = past.fit(anchored=False, method="lbfgs", loss=loss, passes=80)
    fit.refit(past.history, torch.ones(3, dtype=torch.bool, device=device))
    linear = engine("torch").LogisticEstimate(past.regularization.cpu() / (2 if loss == "mean" else 1), loss, D)
    counts, again = engine("torch").PairCounts(3, D), Past(Network(D, 9, depth=1))
    for query, pairs, labels in again.told:
        told = counts.add(candidates_of(DATASET, query), torch.from_numpy(pairs), torch.from_numpy(labels))
        linear.refit(counts, *told)
    value = fit.expand(past.history).value.cpu()
    torch.testing.assert_close(value, linear.value, rtol=1e-5, atol=0)
    torch.testing.assert_close(3 * fit.theta.cpu().double(), linear.theta, rtol=0, atol=2e-2)


def test_a_memory_that_stays_takes_lbfgs_at_least_twice_as_near_to_the_optimum():
    past = Past(Network(D, 8))
    kept = past.fit(method="lbfgs", passes=10)
    changed = [past.round(kept) for _ in range(30)]
    fresh = past.fit(method="lbfgs", passes=10)
    fresh.refit(past.history, torch.stack(changed).any(dim=0))
    for r in range(3):
        anchor = past.start[r].double()

        def plain(at, r=r, anchor=anchor):
            theta = torch.from_numpy(at).requires_grad_()
            value = past.objective(theta, r, anchor)
            value.backward()
            return float(value.detach()), theta.grad.numpy()

        start = kept.theta[r].double().numpy()
        best = minimize(plain, start, jac=True, method="L-BFGS-B", options={"maxiter": 3000, "maxfun": 5000}).fun
        reached = [float(fit.expand(past.history).value[r]) for fit in (kept, fresh)]
        first = float(past.objective(anchor, r, anchor))
        assert 2 * (reached[0] - best) < reached[1] - best < first - best


@either_method
def test_a_refit_begins_where_it_is_told(method):
    past = Past(Network(D, 6)).all()
    ones = torch.ones(3, dtype=torch.bool)
    warm, told = (past.fit(method=method, passes=6) for _ in range(2))
    warm.refit(past.history, ones)
    told.theta = torch.full_like(told.theta, 0.3)
    told.refit(past.history, ones, start=past.start)
    assert torch.equal(warm.theta, told.theta)


@either_method
def test_replicas_without_labels_or_change_keep_their_parameters(method):
    past = Past(Network(D, 6))
    fit = past.fit(method=method)
    fit.refit(past.history, torch.ones(3, dtype=torch.bool))  # no history at all
    assert torch.equal(fit.theta, past.start)
    past.all()
    past.history.n_labels[1] = 0.0
    fit.refit(past.history, torch.tensor([True, True, False]))
    assert (fit.theta != past.start).any(dim=1).tolist() == [True, False, False]
    assert fit.alive.all()


@either_method
def test_a_replica_that_diverges_keeps_its_last_finite_parameters_and_is_marked(method):
    past, calm = Past(Network(D, 6)), Past(Network(D, 6))
    rates = torch.tensor([0.01, 1e38, 0.01])
    fit, other = past.fit(method=method, rate=rates), calm.fit(method=method)
    if method == "lbfgs":
        fit.theta[1] = 1e30
    before = fit.theta[1].clone()
    for _ in range(10):
        past.round(fit)
        calm.round(other)
    assert fit.alive.tolist() == [True, False, True]
    assert torch.equal(fit.theta[1], before)
    assert torch.equal(fit.theta[[0, 2]], other.theta[[0, 2]])
    assert fit.theta[[0, 2]].isfinite().all()


@either_method
def test_replicas_of_a_batch_do_not_touch_each_other(method):
    past = Past(Network(D, 6))
    fit = past.fit(torch.float64, method=method, passes=5)
    rate = None if method == "lbfgs" else torch.tensor([0.01])
    start, lambda_ = past.start[1:2].double(), past.regularization[1:2]
    alone = NetworkFit(past.network, start, start, lambda_, method=method, rate=rate, passes=5)
    history = History(1, D)
    for query, pairs, labels in rounds(15, 3):
        changed = past.round(fit)
        candidates = candidates_of(DATASET, query[1:2])
        told = torch.from_numpy(pairs[1:2]), torch.from_numpy(labels[1:2])
        assert torch.equal(history.add(candidates, candidates.padded()[0], *told), changed[1:2])
        alone.refit(history, changed[1:2])
    torch.testing.assert_close(fit.theta[1:2], alone.theta, rtol=0, atol=1e-6)


@either_method
@pytest.mark.parametrize("network", [Network(D, 1), Network(D, 1, 1), Network(D, 2, 4)], ids=str)
def test_the_narrowest_and_deepest_networks_are_fitted(network, method):
    past = Past(network)
    fit = past.fit(method=method)
    for _ in range(10):
        past.round(fit)
    before = past.fit(method=method).expand(past.history).value
    assert fit.alive.all() and (fit.expand(past.history).value <= before + 1e-4).all()


@either_method
def test_without_regularization_a_separable_history_is_no_reason_to_diverge(method):
    past = Past(Network(D, 6))
    past.regularization = torch.zeros(3, dtype=torch.float64)
    fit = past.fit(method=method)
    for _ in range(15):
        past.round(fit)
    assert fit.alive.all() and fit.theta.isfinite().all()


@either_method
def test_it_goes_on_from_what_another_one_kept(method):
    past = Past(Network(D, 6))
    one, other = (past.fit(method=method, passes=5) for _ in range(2))
    for _ in range(8):
        past.round(one)
    other.load_state_dict({name: value.clone() for name, value in one.state_dict().items()})
    for _ in range(8):
        changed = past.round(one)
        other.refit(past.history, changed)
    assert torch.equal(one.theta, other.theta) and torch.equal(one.alive, other.alive)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"loss": "median"}, "loss must be one of sum, mean"),
        ({"method": "newton"}, "method must be one of adam, lbfgs"),
        ({"rate": None}, "Adam needs a rate"),
        ({"passes": 0}, "passes of adam must be at least 1"),
        ({"method": "lbfgs", "passes": 1}, "passes of lbfgs must be at least 2"),
    ],
)
def test_choices_that_do_not_exist_are_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        Past(Network(D, 6)).fit(**choices)
