"""Networks: scores, gradients and tangents by hand against torch.func, which knows nothing of how they are made."""

import math

import numpy as np
import pytest
import torch

from ol2r.networks import Network
from ol2r.random import Streams, generator

KEYS = np.array([3, 1 << 40, 7], dtype=np.uint64)
D, V = 5, 6
NETWORKS = [
    Network(D, width, depth, init) for init in ("he", "symmetric") for depth in (1, 2, 3, 4) for width in (2, 8)
]
NETWORKS += [Network(D, 1, depth) for depth in (1, 2, 3)]
NETWORKS += [Network(D, 4, depth, "torch", biases=True, output="plain") for depth in (1, 2, 3, 4)]
either_network = pytest.mark.parametrize("network", NETWORKS, ids=lambda n: f"{n.init}-{n.depth}-{n.width}")


def plain(network, theta, x):
    """f(x; θ) of one replica and one document, from the paper's formula, or with biases and without √m."""
    start = 0
    for layer, (outputs, inputs) in enumerate(network.shapes):
        w = theta[start : start + outputs * inputs].reshape(outputs, inputs)
        start += outputs * inputs
        x = torch.relu(x) if layer else x
        n = len(x)
        x = w[:, :n] @ x + (w[:, n] if n < inputs else 0.0)
    return (math.sqrt(network.width) if network.output == "scaled" else 1.0) * x[0]


class Setting:
    """Some replicas of a network, no longer at θ₀, and some documents, in double precision."""

    def __init__(self, network, seed=0):
        rng = generator("a network's documents", seed)
        self.network = network
        start = network.initial(Streams(KEYS)).double()
        self.theta = start + torch.from_numpy(0.3 * rng.standard_normal(start.shape) * start.std().item())
        self.x = network.inputs(torch.from_numpy(rng.uniform(0, 1, (len(KEYS), V, D))))
        self.documents = self.x[..., :D] if network.biases else self.x
        self.scores, self.activations = network.forward(self.theta, self.x)

    def gradients(self):
        """∂f/∂θ of every document, by torch.func: Float64[R, V, p]."""
        of_one = torch.func.grad(lambda theta, x: plain(self.network, theta, x))
        return torch.func.vmap(torch.func.vmap(of_one, in_dims=(None, 0)))(self.theta, self.documents)


@either_network
def test_scores_are_those_of_the_formula(network):
    setting = Setting(network)
    for r in range(len(KEYS)):
        wanted = [plain(network, setting.theta[r], setting.documents[r, v]) for v in range(V)]
        torch.testing.assert_close(setting.scores[r], torch.stack(wanted), rtol=1e-12, atol=1e-12)


@either_network
def test_the_gradient_of_a_loss_is_that_of_torch_func(network):
    setting = Setting(network)
    target = torch.from_numpy(generator("targets", 0).standard_normal((len(KEYS), V)))

    def loss(theta, x, wanted):
        scores = torch.func.vmap(lambda each: plain(network, theta, each))(x)
        return ((scores - wanted) ** 2).sum()

    wanted = torch.func.vmap(torch.func.grad(loss))(setting.theta, setting.documents, target)
    got = network.gradient(setting.theta, setting.activations, 2 * (setting.scores - target))
    torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-11 * float(wanted.abs().max()))


@either_network
def test_tangents_are_the_gradients_of_torch_func(network):
    setting, scale = Setting(network), network.scale
    wanted = setting.gradients() / scale
    tangent = network.tangent(setting.theta, setting.activations)
    torch.testing.assert_close(tangent.explicit(), wanted, rtol=1e-12, atol=1e-12)

    other = Setting(network, seed=1)
    kernel = tangent.kernel(network.tangent(other.theta, other.activations))
    products = wanted @ (other.gradients() / scale).mT
    torch.testing.assert_close(kernel, products, rtol=1e-11, atol=1e-11 * float(products.abs().max()))


def test_the_tangent_of_some_documents_is_a_part_of_the_whole():
    setting = Setting(Network(D, 4, 3))
    tangent = setting.network.tangent(setting.theta, setting.activations)
    chosen = torch.tensor([[0, 5, 5], [1, 2, 3], [4, 4, 0]])
    wanted = torch.stack([tangent.explicit()[r, rows] for r, rows in enumerate(chosen)])
    assert torch.equal(tangent.of(chosen).explicit(), wanted)


def test_one_document_and_none_are_scored():
    network = Network(D, 4, 3)
    theta = network.initial(Streams(KEYS))
    for n in (0, 1):
        scores, activations = network.forward(theta, torch.ones(3, n, D))
        assert scores.shape == (3, n)
        assert network.gradient(theta, activations, scores).shape == theta.shape
        assert network.tangent(theta, activations).explicit().shape == (3, n, network.n_parameters)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_symmetric_network_scores_nothing_at_first_and_has_a_tangent_all_the_same(depth):
    network = Network(D, 8, depth, "symmetric")
    theta = network.initial(Streams(KEYS)).double()
    x = network.inputs(torch.from_numpy(generator("documents", 0).uniform(0, 1, (3, V, D))))
    torch.testing.assert_close(x.norm(dim=2), torch.ones(3, V, dtype=torch.float64))
    scores, activations = network.forward(theta, x)
    assert scores.abs().max() < 1e-12
    assert network.tangent(theta, activations).kernel(network.tangent(theta, activations)).abs().min() > 0


def test_a_symmetric_network_reads_documents_as_they_are_where_it_is_told_to():
    documents = torch.from_numpy(generator("documents", 0).uniform(0, 2, (3, V, D)))
    network, of_unit_norm = Network(D, 8, 2, "symmetric-raw"), Network(D, 8, 2, "symmetric")
    theta, x = network.initial(Streams(KEYS)), network.inputs(documents)
    torch.testing.assert_close(x, torch.cat([documents, documents], dim=2) / math.sqrt(2))
    assert torch.equal(theta, of_unit_norm.initial(Streams(KEYS)))
    assert network.forward(theta.double(), x).scores.abs().max() < 1e-12


def test_a_document_without_features_stays_zero():
    assert not Network(D, 8, 2, "symmetric").inputs(torch.zeros(3, V, D)).any()


def test_layers_of_a_symmetric_network_are_two_equal_blocks():
    network = Network(D, 8, 3, "symmetric")
    first, second, last = network.layers(network.initial(Streams(KEYS)))
    for w in (first, second):
        half, other = w.shape[1] // 2, w.shape[2] // 2
        assert torch.equal(w[:, :half, :other], w[:, half:, other:]) and w[:, :half, :other].all()
        assert not w[:, :half, other:].any() and not w[:, half:, :other].any()
    assert torch.equal(last[..., :4], -last[..., 4:]) and last.all()


@pytest.mark.parametrize(
    ("init", "deviations"),
    [
        ("he", (math.sqrt(2 / 40), math.sqrt(2 / 200), math.sqrt(2 / 200))),
        ("symmetric", (0.1 * 2**0.5, 0.1 * 2**0.5, 0.1)),
    ],
)
def test_starting_weights_are_normal_with_the_deviations_of_the_paper(init, deviations):
    network = Network(40, 200, 3, init)
    for w, deviation in zip(network.layers(network.initial(Streams(KEYS))), deviations, strict=True):
        drawn = w[w != 0]
        assert abs(float(drawn.mean())) < 5 * deviation / math.sqrt(len(drawn) / 2)
        assert float(drawn.std()) == pytest.approx(deviation, rel=5 / math.sqrt(len(drawn)))


def test_a_start_of_torch_is_uniform_over_one_by_the_root_of_the_inputs():
    network = Network(40, 200, 3, "torch", biases=True)
    for w, inputs in zip(network.layers(network.initial(Streams(KEYS))), (40, 200, 200), strict=True):
        of_torch = torch.nn.Linear(inputs, w.shape[1])
        most = 1 / math.sqrt(inputs)
        assert w.abs().max() <= most and of_torch.weight.abs().max() <= most and of_torch.bias.abs().max() <= most
        for part in (w[..., :inputs], w[..., inputs:]):
            if part.numel():
                assert float(part.std()) == pytest.approx(most / math.sqrt(3), rel=5 / math.sqrt(part.numel()))
    he = Network(40, 200, 3, biases=True)
    first, second, _ = he.layers(he.initial(Streams(KEYS)))
    assert first[..., :40].all() and not first[..., 40:].any() and not second[..., 200:].any()


@pytest.mark.parametrize("init", ["he", "symmetric"])
def test_no_two_weights_of_a_start_come_from_the_same_number(init):
    network = Network(D, 6, 3, init)
    theta = network.initial(Streams(KEYS))
    drawn = torch.cat([(w / w.abs().amax(dim=(1, 2), keepdim=True)).flatten(1) for w in network.layers(theta)], dim=1)
    copies = 1 if init == "he" else 2
    distinct = [len({round(abs(float(w)), 9) for w in row if w}) for row in theta]
    assert distinct == [int((drawn[0] != 0).sum()) // copies] * len(KEYS)
    assert len(torch.unique(theta[:, 0])) == len(KEYS)
    assert not torch.equal(theta, network.initial(Streams(KEYS), round_=1))
    assert torch.equal(theta[1:2], network.initial(Streams(KEYS[1:2])))


def test_the_doubling_of_a_symmetric_network_folds_into_one_plain_layer():
    setting = Setting(Network(D, 8, 2, "symmetric"))
    first, last = setting.network.layers(setting.theta)
    folded = Network(D, 8)
    theta = torch.cat([((first[..., :D] + first[..., D:]) / math.sqrt(2)).flatten(1), last.flatten(1)], dim=1)
    x = setting.x[..., :D] * math.sqrt(2)
    scores, activations = folded.forward(theta, x)
    torch.testing.assert_close(scores, setting.scores)
    tangent = setting.network.tangent(setting.theta, setting.activations)
    again = folded.tangent(theta, activations)
    torch.testing.assert_close(again.kernel(again), tangent.kernel(tangent))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 3), "n_features of a network must be at least 1"),
        ((3, 0), "width of a network must be at least 1"),
        ((3, 3, 0), "depth of a network must be at least 1"),
        ((3, 3, 2, "xavier"), "init must be one of he, symmetric"),
        ((3, 3, 2, "symmetric"), "its width cannot be 3"),
    ],
)
def test_a_network_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Network(*arguments)
