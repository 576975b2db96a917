"""A round of a neural learner on a device that is not there: what it asks for, and that it computes as on the CPU."""

import numpy as np
import pytest
import torch
from labelled import DATASET
from pretend import DEVICE, Pretend
from small import candidates_of

from ol2r.networks import Dual, Explicit, Full, History, Network, NetworkFit
from ol2r.random import Streams, generator
from ol2r.ranking import Candidates, interval_orders

D, P, REPLICAS = DATASET.n_features, 5, 3
WIDE = np.flatnonzero(DATASET.sizes >= 2 * P)
FORMS = {
    "full": Full,
    "dual": Dual,
    "primal": lambda network, lambda_: Explicit(network, lambda_, full=True),
    "diagonal": lambda network, lambda_: Explicit(network, lambda_, full=False),
}
LAUNCHES = {"adam": 400, "lbfgs": 850}
"""Most operations that a round may ask of a device, with 4 passes a refit."""


class Loop:
    """Rounds as a learner would have them: scores, tangent, Gram matrix, orders; history, refit, and new pairs."""

    def __init__(self, form, method, device, network):
        self.network, self.device, self.rng = network, device, generator("a neural learner's rounds", 0)
        keys = np.arange(REPLICAS, dtype=np.uint64)
        self.start = network.initial(Streams(keys)).to(device)
        self.regularization, self.width = (
            torch.tensor([value] * REPLICAS, dtype=torch.float64, device=device) for value in (0.1, 0.2)
        )
        self.covariance = FORMS[form](network, self.regularization)
        rate = torch.full((REPLICAS,), 0.01, device=device)
        self.fit = NetworkFit(network, self.start, self.start, self.regularization, method=method, rate=rate, passes=4)
        self.history = History(REPLICAS, network.shapes[0][1], device)
        self.round = 0
        some = candidates_of(DATASET, WIDE[:REPLICAS], device)
        self.shared = some.features, some.offsets, some.totals
        self.longest = int(DATASET.sizes.max())

    def draw(self):
        """What comes from outside in a round: queries, pairs and labels, on the device."""
        query = self.rng.choice(WIDE, REPLICAS)
        pairs = np.stack([self.rng.permutation(DATASET.sizes[q])[: 2 * P].reshape(P, 2) for q in query])
        pairs[self.rng.random((REPLICAS, P)) < 0.6] = -1
        labels = self.rng.random((REPLICAS, P)) < 0.5
        return [torch.from_numpy(each).to(self.device) for each in (query, pairs, labels)]

    def play(self, query, pairs, labels):
        """One round; returns the certain orders."""
        self.round += 1
        candidates = Candidates(*self.shared, query, longest=self.longest)
        inputs = self.network.inputs(candidates.padded()[0])
        scores, activations = self.network.forward(self.fit.theta.double(), inputs.double())
        tangent = self.network.tangent(self.fit.theta.double(), activations)
        certain = interval_orders(scores, self.covariance.gram(tangent), self.width)
        changed = self.history.add(candidates, inputs, pairs, labels, most=self.round * P)
        self.fit.refit(self.history, changed)
        theta = self.fit.theta.double()
        tangent = self.network.tangent(theta, self.network.forward(theta, inputs.double()).activations)
        self.covariance.add(tangent, pairs)
        return certain


NETWORKS = [Network(D, 8), Network(D, 4, 3, "symmetric")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("method", "network"), list(zip(LAUNCHES, NETWORKS, strict=True)), ids=LAUNCHES)
def test_a_round_asks_a_device_for_no_value_and_for_the_same_shapes_as_the_one_before(form, method, network):
    with Pretend() as seen:
        loop = Loop(form, method, DEVICE, network)
        marks, loop.round = [], 100  # the history gets room for as many rounds, and for half as many more in the next
        for _ in range(4):
            outside = loop.draw()
            marks.append((len(seen.tape), seen.reads, seen.sends))
            loop.play(*outside)
            marks.append((len(seen.tape), seen.reads, seen.sends))
    rounds = list(zip(marks[::2], marks[1::2], strict=True))
    assert all(after[1:] == before[1:] for before, after in rounds[1:])  # constants are sent in the first
    first, second = (seen.tape[before[0] : after[0]] for before, after in rounds[-2:])
    assert first == second
    assert 0 < len(first) <= LAUNCHES[method]


@pytest.mark.parametrize(("form", "method"), [("dual", "adam"), ("primal", "lbfgs"), ("diagonal", "adam")])
def test_a_device_comes_to_the_parameters_and_widths_of_the_cpu(form, method):
    cpu = Loop(form, method, "cpu", NETWORKS[0])
    with Pretend():
        there = Loop(form, method, DEVICE, NETWORKS[0])
        same = 0.0
        for _ in range(4):
            one, other = cpu.play(*cpu.draw()), there.play(*there.draw()).cpu()
            same += float((one == other).float().mean()) / 4
        torch.testing.assert_close(there.fit.theta.cpu(), cpu.fit.theta, rtol=0, atol=1e-2)
        torch.testing.assert_close(there.covariance.log_det.cpu(), cpu.covariance.log_det, rtol=1e-3, atol=0)
        assert torch.equal(there.history.n_pairs.cpu(), cpu.history.n_pairs)
    assert same > 0.999


def test_rows_of_rounds_on_a_device_do_not_depend_on_how_many_pairs_there_were():
    with Pretend():
        full, empty = (Loop("dual", "adam", DEVICE, NETWORKS[0]) for _ in range(2))
        for _ in range(5):
            query, pairs, labels = full.draw()
            full.play(query, pairs, labels)
            empty.play(query, torch.full_like(pairs, -1), labels)
        assert full.covariance.n_rows == empty.covariance.n_rows
        assert full.covariance.nbytes == empty.covariance.nbytes
        assert not empty.covariance.log_det.any() and full.covariance.log_det.all()
