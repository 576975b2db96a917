"""olRankNet by the switches of its public code, against an obvious version of that code.

The version is written from mathatter997/MTRO at bfb9d70 (`olRankNet.py`, `olLambdaRank.py`, `PairRank.py`,
`mlpmodel.py`): PyTorch's own modules, a gradient for each document by autograd, the whole inverse by Sherman and
Morrison, blocks as components of a graph. Random numbers alone are ours.
"""

import itertools
import math

import numpy as np
import pytest
import torch
from labelled import DATASET, LARGE
from small import SETTINGS, K, candidates_of, make_learner, replicas_of

from ol2r.random import Stream, generator
from ol2r.ranking import engine

D, WIDTH = DATASET.n_features, 6
CODE = {"init": "torch", "biases": True, "output": "plain", "start": "fresh", "penalty": "decay", "pairs": "all"}
CODE |= {"gradients": "displayed", "covariance": "full", "shuffle": "random", "refit": "adam", "passes": 4, "batch": 3}
CODE |= {"width": WIDTH, "rate": 0.01, "alpha": 0.02, "regularization": 0.3}
ONE = replicas_of("informational", folds=(1,), seeds=(0,))


def learner_of(name="olRankNet", **changed):
    learner = make_learner(name, DATASET, ONE, **CODE | changed)
    # Adam divides by the root of squares, which makes much of the rounding of a small gradient
    learner.fit.theta, learner.fit._rate = learner.fit.theta.double(), learner.precise["rate"]
    return learner


def model_of(learner, round_):
    """`MLPModel` with the start that the learner draws in a round; its output's bias, which we leave out, is 0."""
    model = torch.nn.Sequential(torch.nn.Linear(D, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1)).double()
    first, last = learner.network.layers(learner.first_theta(round_).double())
    with torch.no_grad():
        model[0].weight.copy_(first[0, :, :D])
        model[0].bias.copy_(first[0, :, D])
        model[2].weight.copy_(last[0])
        model[2].bias.zero_()
    return model


def gradients(model, x):
    """A row for each document, the entries in the order of `model.parameters()`."""
    return torch.stack(
        [torch.cat([g.flatten() for g in torch.autograd.grad(model(each).sum(), model.parameters())]) for each in x]
    )


def blocks_of(certain):
    """`get_partitions`: components of the uncertain orders, merged while certain orders between them form a cycle, in
    topological order."""
    blocks = [{i} for i in range(len(certain))]
    changed = True
    while changed:
        changed = False
        for one, two in itertools.combinations(blocks, 2):
            uncertain = any(not (certain[i, j] or certain[j, i]) for i in one for j in two)
            both_ways = any(certain[i, j] for i in one for j in two) and any(certain[j, i] for i in one for j in two)
            if uncertain or both_ways:
                blocks = [each for each in blocks if each is not one and each is not two] + [one | two]
                changed = True
                break
    return sorted(blocks, key=lambda block: -sum(certain[next(iter(block))]))


class Code:
    """The authors' olRankNet (or olLambdaRank), which is told our lists and our random words."""

    def __init__(self, learner, weighs=False):
        self.learner, self.weighs = learner, weighs
        self.model = model_of(learner, 0)
        self.total = sum(p.numel() for p in self.model.parameters())
        self.inverse = torch.eye(self.total, dtype=torch.float64) / CODE["regularization"]
        self.pairs, self.lists = [], []  # of features: (clicked, unclicked), and for a list (documents, clicks)

    def bound(self, x):
        """The matrix of lower bounds less ½, where σ̂ and widths do not cancel, and the gradients."""
        grad, score = gradients(self.model, x), self.model(x)[:, 0]
        difference = grad[:, None] - grad
        width = torch.einsum("ijp,pq,ijq->ij", difference, self.inverse, difference).clamp_min(0.0).sqrt()
        estimate = 1.0 / (1.0 + torch.exp(-(score[:, None] - score)))
        return (estimate - 0.5 - CODE["alpha"] * width).detach(), grad

    def update(self, x, grad, ranking, clicks, round_):
        clicks = np.asarray(clicks)
        included = np.ones(len(clicks), dtype=int)
        if not clicks[-1]:
            included[1:] = np.cumsum(clicks[::-1])[:0:-1]
        negative, positive = np.flatnonzero(np.logical_xor(clicks, included)), np.flatnonzero(clicks)
        pairs = list(itertools.product(positive, negative))
        if not pairs:
            return
        for above, below in pairs:
            g = (grad[ranking[above]] - grad[ranking[below]])[:, None]
            self.inverse -= self.inverse @ g @ g.T @ self.inverse / (1 + g.T @ self.inverse @ g)
        seen = int((included > 0).sum())
        self.lists.append((x[ranking[:seen]], clicks[:seen]))
        self.pairs += [(len(self.lists) - 1, above, below) for above, below in pairs]
        self.train(round_)

    def train(self, round_):
        n, self.model = len(self.pairs), model_of(self.learner, round_)
        optimizer = torch.optim.Adam(self.model.parameters(), lr=CODE["rate"], weight_decay=CODE["regularization"] / n)
        words = self.learner.streams.words(Stream.BATCH, round_, CODE["passes"] * n).view(CODE["passes"], n)
        own = self.as_numbered()
        for epoch in words:
            order = [own[i] for i in epoch.argsort(stable=True)]
            for start in range(0, n, CODE["batch"]):
                self.step([self.pairs[i] for i in order[start : start + CODE["batch"]]], optimizer)

    def as_numbered(self):
        """The pairs in the order in which our history numbers its labels."""
        history = self.learner.history
        labels = history.labels(0)
        if self.weighs:
            known = {(s, frozenset(both)): i for i, (s, *both) in enumerate(self.pairs)}
            slots, each = history._slots[0].flatten(0, 1), history._slots.shape[2]
            return [known[int(f) // each, frozenset(slots[f].tolist())] for f in -1 - labels]
        documents = history.documents[0][:, :D]
        wanted = []
        for place in labels.tolist():
            first, second = history.pairs[0, place // 2]
            won, lost = (first, second) if place % 2 == 0 else (second, first)
            wanted.append((documents[won].tolist(), documents[lost].tolist()))
        left = [
            (self.lists[s][0][above].float().tolist(), self.lists[s][0][below].float().tolist())
            for s, above, below in self.pairs
        ]
        numbered = []
        for each in wanted:
            at = left.index(each)
            numbered.append(at)
            left[at] = None
        return numbered

    def step(self, batch, optimizer):
        weight = None
        if self.weighs:
            weight = torch.tensor([self.delta_ndcg(*pair) for pair in batch])
        both = [torch.stack([self.lists[s][0][i] for s, i in ((p[0], p[side]) for p in batch)]) for side in (1, 2)]
        gap = self.model(both[0])[:, 0] - self.model(both[1])[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            gap, torch.ones_like(gap), weight=weight, reduction="none"
        ).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def delta_ndcg(self, s, above, below):
        x, clicks = self.lists[s]
        scores = self.model(x)[:, 0].detach().float().round(decimals=6)
        place = np.empty(len(x), dtype=int)
        place[np.argsort(-scores.numpy(), kind="stable")] = np.arange(len(x))
        ideal = sum(1 / math.log2(rank + 2) for rank in range(int(clicks.sum())))
        return abs(1 / math.log2(place[above] + 2) - 1 / math.log2(place[below] + 2)) / ideal


def rounds(n, seed=0):
    """Queries, and lists with clicks of a rule that no learner has a part in."""
    rng = generator("rounds of the public code", seed)
    for _ in range(n):
        query = int(rng.choice(LARGE[:6]))
        yield query, rng.random(K) < 0.4


@pytest.mark.parametrize("name", ["olRankNet", "olLambdaRank-ranked"])
def test_bounds_blocks_and_networks_are_those_of_the_public_code(name):
    learner = learner_of(name)
    code, several = Code(learner, weighs=name != "olRankNet"), 0
    for round_, (query, coins) in enumerate(rounds(15), 1):
        candidates = candidates_of(DATASET, [query])
        x = torch.from_numpy(DATASET.query(query)[0]).double()
        bound, grad = code.bound(x)
        orders = []
        learner.ops = Spy(engine("numba"), orders)
        ranking = learner.rank(candidates, max(len(x), K))
        certain = orders[0][0, : len(x), : len(x)]
        clear = (bound.abs() > 1e-5).numpy() | np.eye(len(x), dtype=bool)
        assert (certain.numpy() == (bound > 0).numpy())[clear].all()
        places, start = ranking[0].tolist(), 0
        for block in blocks_of(certain.numpy()):
            assert set(places[start : start + len(block)]) == block
            start, several = start + len(block), several + (1 < len(block) < len(x))
        shown = ranking[:, :K]
        clicks = torch.from_numpy(coins)[None] & (shown >= 0)
        learner.update(candidates, shown, clicks)
        listed = shown[0, : min(len(x), K)].tolist()
        code.update(x, grad, listed, clicks[0, : len(listed)].numpy(), round_)
        first, last = learner.network.layers(learner.fit.theta)
        wanted = torch.cat([code.model[0].weight, code.model[0].bias[:, None]], dim=1)
        torch.testing.assert_close(first[0], wanted.detach(), rtol=0, atol=1e-6)
        torch.testing.assert_close(last[0], code.model[2].weight.detach(), rtol=0, atol=1e-6)
    assert several > 3


class Spy:
    """An engine that remembers the certain orders that lists are made of."""

    def __init__(self, ops, orders):
        self._ops, self._orders = ops, orders

    def __getattr__(self, name):
        return getattr(self._ops, name)

    def arrange(self, candidates, scores, certain, *others):
        self._orders.append(certain)
        return self._ops.arrange(candidates, scores, certain, *others)


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("olRankNet", {"init": "symmetric"}, "a symmetric network has no biases"),
        ("olRankNet", {"refit": "lbfgs"}, "batches are for Adam alone"),
        ("olLambdaRank", {}, "takes no batches"),
    ],
)
def test_switches_that_do_not_go_together_are_refused(name, changed, said):
    with pytest.raises(ValueError, match=said):
        learner_of(name, **changed)


def test_without_the_switches_a_learner_is_what_it_was():
    plain = make_learner("olRankNet", DATASET, ONE)
    told = {"biases": False, "output": "scaled", "shuffle": "conservative", "batch": 0}
    assert not told.keys() & SETTINGS["olRankNet"].keys()
    assert make_learner("olRankNet", DATASET, ONE, **told).choice == plain.choice
