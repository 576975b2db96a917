"""What a refit minimises: the losses of all labelled pairs and a pull; in torch, and compiled for the CPU."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import softplus

from ol2r.compiling import kernel, part
from ol2r.networks.history import History
from ol2r.networks.network import Network


class Expansion(NamedTuple):
    """The objective and its gradient.

    Args:
        value: Float64[R].
        gradient: Float[R, p].
    """

    value: torch.Tensor
    gradient: torch.Tensor


class Room:
    """Memory that problems of one refit after another use again; fresh memory costs as much as a pass over it."""

    def __init__(self):
        self._kept: dict[tuple[str, torch.dtype], torch.Tensor] = {}

    def empty(self, name: str, *shape: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor of this shape with whatever is in it; what had the same name and type before is written over."""
        n, kept = math.prod(shape), self._kept.get((name, dtype))
        if kept is None or kept.numel() < n:
            kept = self._kept[name, dtype] = torch.empty(n + n // 4, dtype=dtype)
        return kept[:n].view(shape)


def problem_of(
    network: Network,
    history: History,
    anchor: torch.Tensor | None,
    pull: torch.Tensor,
    weight: torch.Tensor,
    dtype: torch.dtype,
    room: Room,
) -> "Problem | CompiledProblem":
    """The objective of a history: the compiled one on the CPU, the batched one elsewhere; see `Problem`.

    Args:
        room: of which a compiled one takes its memory, so that the one before it is no more.
    """
    told = network, history, anchor, pull, weight, dtype
    compiled = pull.device.type == "cpu" and network.depth > 1 and not (network.biases and network.depth > 2)
    return CompiledProblem(*told, room) if compiled else Problem(*told)


class Problem:
    """weight · Σ −log σ(±(f(x_i; θ) − f(x_j; θ))) + (pull/2) ‖θ − anchor‖², for all θ of one refit.

    What is the same in all its passes is made once.

    Args:
        anchor: Float[R, p], or None for 0.
        pull, weight: Float64[R].
        dtype: precision of θ.
    """

    def __init__(
        self,
        network: Network,
        history: History,
        anchor: torch.Tensor | None,
        pull: torch.Tensor,
        weight: torch.Tensor,
        dtype: torch.dtype,
    ):
        self.network, self.history, self.anchor, self.weight = network, history, anchor, weight
        self.inputs = history.documents.to(dtype)
        self.pairs = history.pairs
        self.rows = self.pairs.mT.flatten(1)  # of all first documents, then of all second ones
        self._count(history.outcomes, dtype)
        self.pull = pull.to(dtype)

    def _count(self, outcomes: torch.Tensor, dtype: torch.dtype) -> None:
        outcomes = outcomes * self.weight[:, None, None]
        self.won, self.met = outcomes[..., 0].to(dtype), outcomes.sum(dim=2).to(dtype)

    def expand(self, theta: torch.Tensor, reweigh: bool = False) -> Expansion:
        """The objective and its gradient at θ, Float[R, p].

        Args:
            reweigh: from now on labels count for what the ranking at this θ says, where the history follows it.
        """
        gap, activations, away = self._at(theta, reweigh)
        losses = self.met * softplus(gap, threshold=80.0) - self.won * gap
        value = losses.sum(dim=1, dtype=torch.float64) + 0.5 * self.pull * (away * away).sum(dim=1)
        return Expansion(value, self._gradient(theta, gap, activations, away))

    def gradient(self, theta: torch.Tensor, reweigh: bool = False) -> torch.Tensor:
        """The gradient alone."""
        return self._gradient(theta, *self._at(theta, reweigh))

    def _at(self, theta, reweigh):
        """f(x_i) − f(x_j) of each pair, what the pass left behind, and θ − anchor."""
        scores, activations = self.network.forward(theta, self.inputs)
        if reweigh and self.history.follows_ranking:
            self._count(self.history.outcomes_at(scores), theta.dtype)
        first, second = scores.gather(1, self.rows).unflatten(1, (2, -1)).unbind(dim=1)
        return first - second, activations, theta if self.anchor is None else theta - self.anchor

    def _gradient(self, theta, gap, activations, away):
        push = torch.sigmoid(gap).mul_(self.met).sub_(self.won)
        none = push.new_zeros(self.inputs.shape[:2])
        coefficients = none.scatter_add_(1, self.rows, torch.cat([push, -push], dim=1))
        return self.network.gradient(theta, activations, coefficients).addcmul_(away, self.pull[:, None])


class CompiledProblem:
    """A `Problem` of a network with hidden layers, compiled but for the products of matrices, replica after replica.

    A symmetric network reads each feature twice. Its products read it once, with the sum of both weights, so that they
    are half as large. Documents that networks of an ensemble share are there once.

    Attributes:
        n_documents: how many the history of the replica with the most of them has.
    """

    def __init__(
        self,
        network: Network,
        history: History,
        anchor: torch.Tensor | None,
        pull: torch.Tensor,
        weight: torch.Tensor,
        dtype: torch.dtype,
        room: Room | None = None,
    ):
        room, self._history = room or Room(), history
        self._read = network.n_read
        # all of it unless the network is symmetric, whose halves are the same
        x = history.documents[..., : self._read]
        shared = len(x) > 1 and x.stride(0) == 0
        once = x[:1] if shared else x
        x = room.empty("documents", *once.shape, dtype=dtype).copy_(once).expand(len(x), -1, -1)
        self.n_documents = x.shape[1]
        self._theta = x.new_empty(len(x), network.n_parameters)
        self._layers = network.layers(self._theta)
        # of each hidden layer: what goes in, the units that come out, and the product that makes its gradient
        units, self._deltas = (
            [
                room.empty(f"{what} {layer}", *x.shape[:2], outputs, dtype=dtype)
                for layer, (outputs, _) in enumerate(network.shapes[:-last])
            ]
            for what, last in (("units", 1), ("deltas", 2))  # the loss's derivative by units that are not the highest
        )
        self._inputs, self._units = [x, *units[:-1]], units
        self._products = [
            x.new_empty(len(x), below.shape[2], outputs)
            for below, (outputs, _) in zip(self._inputs, network.shapes, strict=False)
        ]
        self._starts = np.cumsum([0, *(outputs * inputs for outputs, inputs in network.shapes)])
        # what labels count for may be written anew in a pass, so it is copied: of a single replica it would be a look
        # at the history's own
        pairs, self._outcomes = np.ascontiguousarray(history.pairs.numpy()), np.array(history.outcomes.numpy())
        anchor = torch.zeros_like(self._theta) if anchor is None else anchor
        # what compiled code reads and writes in every pass
        self._parameters = self._theta.numpy(), anchor.numpy(), pull.numpy()
        self._scale, self._weight, self._pairs = network.scale, weight.numpy(), pairs
        self._gap, self._small = np.empty(pairs.shape[:2]), np.empty(pairs.shape[:2])
        self._made = [product.numpy() for product in self._products]

    def expand(self, theta: torch.Tensor, reweigh: bool = False) -> Expansion:
        """See `Problem.expand`."""
        self._forward(theta, reweigh)
        value = np.empty(len(theta))
        _losses(self._gap, np.log1p(self._small), self._outcomes, self._weight, value)
        gradient = self._gradient(value)
        return Expansion(torch.from_numpy(value), gradient)

    def gradient(self, theta: torch.Tensor, reweigh: bool = False) -> torch.Tensor:
        """See `Problem.gradient`."""
        self._forward(theta, reweigh)
        return self._gradient(np.zeros(len(theta)))

    def _forward(self, theta: torch.Tensor, reweigh: bool) -> None:
        """The units, the gaps f(x_i) − f(x_j) of all pairs, and exp(−|gap|)."""
        *hidden, last = self._layers
        self._theta.copy_(theta)  # the layers look at this
        for w, below, units in zip(hidden, self._inputs, self._units, strict=True):
            once = w if w.shape[2] == below.shape[2] else w[..., : self._read] + w[..., self._read :]
            torch.bmm(below, once.mT, out=units).relu_()
        if reweigh and self._history.follows_ranking:
            self._outcomes[:] = self._history.outcomes_at(torch.bmm(self._units[-1], last.mT)[..., 0])
        _gaps(self._scale, self._units[-1].numpy(), self._theta.numpy(), self._pairs, self._gap)
        np.exp(np.negative(np.abs(self._gap, out=self._small), out=self._small), out=self._small)

    def _gradient(self, value: np.ndarray) -> torch.Tensor:
        """The gradient; what the pull adds to the objective is added to its value, Float64[R]."""
        *hidden, last = self._layers
        gradient = torch.empty_like(self._theta)
        parameters = *self._parameters, gradient.numpy(), value
        _last_layer(
            self._scale, self._units[-1].numpy(), self._pairs, self._outcomes, self._weight, self._gap, self._small,
            *parameters,
        )  # fmt: skip
        delta, top = self._units[-1], len(hidden) - 1
        for layer in range(top, -1, -1):
            below = self._inputs[layer]
            torch.bmm(below.mT, delta, out=self._products[layer])  # a third faster than the transposed product
            inputs = hidden[layer].shape[2]
            _hidden_layer(self._made[layer], inputs, self._starts[layer], layer == top, *parameters)
            if layer:
                w = last.mT * hidden[layer] if layer == top else hidden[layer]
                delta = torch.bmm(delta, w, out=self._deltas[layer - 1])
                _switch_off(delta.numpy().ravel(), below.numpy().ravel())
        return gradient


@part(fastmath={"reassoc", "contract", "nsz"})
def _dot(a, b):
    total = a[0] * b[0]
    for i in range(1, a.shape[0]):
        total += a[i] * b[i]
    return total


@part(fastmath={"contract"})
def _switch(units, weight, total):
    """Add weight · units to the total, and set units that are on to the weight."""
    none = units.dtype.type(0.0)
    for i in range(units.shape[0]):
        total[i] += weight * units[i]
        units[i] = none if units[i] == none else weight


@part(fastmath={"reassoc", "contract", "nsz"})
def _pull(theta, anchor, pull, gradient):
    """Add pull · (θ − anchor) to the gradient; return ‖θ − anchor‖²."""
    square = 0.0
    for i in range(theta.shape[0]):
        away = theta[i] - anchor[i]
        gradient[i] += pull * away
        square += float(away) * float(away)
    return square


@kernel
def _switch_off(delta, units):
    """Set δ of units that are off to 0."""
    none = units.dtype.type(0.0)
    for i in range(units.shape[0]):
        delta[i] = none if units[i] == none else delta[i]


@kernel
def _gaps(scale, units, theta, pairs, gap):
    """f(x_i) − f(x_j) of each pair, Float64[R, N], from the units of the highest hidden layer."""
    scores = np.empty(units.shape[1])
    for r in range(units.shape[0]):
        w = theta[r, theta.shape[1] - units.shape[2] :]
        for v in range(units.shape[1]):
            scores[v] = scale * _dot(units[r, v], w)
        for i in range(pairs.shape[1]):
            gap[r, i] = scores[pairs[r, i, 0]] - scores[pairs[r, i, 1]]


@kernel(fastmath={"contract"})
def _losses(gap, log, outcomes, weight, value):
    """The losses' sum, Float64[R], where `log` is log(1 + exp(−|gap|))."""
    for r in range(gap.shape[0]):
        total = 0.0
        for i in range(gap.shape[1]):
            won, lost = float(outcomes[r, i, 0]), float(outcomes[r, i, 1])
            total += (won + lost) * (max(gap[r, i], 0.0) + log[r, i]) - won * gap[r, i]
        value[r] = weight[r] * total


@kernel(error_model="numpy")
def _last_layer(scale, units, pairs, outcomes, weight, gap, small, theta, anchor, pull, gradient, value):
    """The gradient by W_L. A unit of the highest hidden layer, Float[R, V, m], becomes what the losses' derivative by
    it is, but for W_L as a factor."""
    number = units.dtype.type
    push = np.empty(units.shape[1])
    for r in range(units.shape[0]):
        push[:] = 0.0
        start = theta.shape[1] - units.shape[2]
        w, of_w = theta[r, start:], gradient[r, start:]
        for i in range(pairs.shape[1]):
            won, lost = float(outcomes[r, i, 0]), float(outcomes[r, i, 1])
            probability = (1.0 if gap[r, i] >= 0.0 else small[r, i]) / (1.0 + small[r, i])
            share = weight[r] * ((won + lost) * probability - won)
            push[pairs[r, i, 0]] += share
            push[pairs[r, i, 1]] -= share
        of_w[:] = number(0.0)
        for v in range(units.shape[1]):
            _switch(units[r, v], number(scale * push[v]), of_w)
        value[r] += 0.5 * pull[r] * _pull(w, anchor[r, start:], number(pull[r]), of_w)


@kernel(error_model="numpy")
def _hidden_layer(product, inputs, start, top, theta, anchor, pull, gradient, value):
    """The gradient by the W_l that starts at some place of θ, from its transpose, Float[R, inputs, outputs], which in
    the highest hidden layer lacks W_L as a factor. If it has half the inputs, both halves of W_l have that gradient."""
    number = product.dtype.type
    read, outputs = product.shape[1:]
    stop = start + inputs * outputs
    for r in range(theta.shape[0]):
        head = theta[r, theta.shape[1] - outputs :]
        for o in range(outputs):
            scale = head[o] if top else number(1.0)
            row = start + o * inputs
            for i in range(read):
                gradient[r, row + i] = scale * product[r, i, o]
            for i in range(read, inputs):
                gradient[r, row + i] = gradient[r, row + i - read]
        square = _pull(theta[r, start:stop], anchor[r, start:stop], number(pull[r]), gradient[r, start:stop])
        value[r] += 0.5 * pull[r] * square
