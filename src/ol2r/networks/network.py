"""Fully connected networks: scores, the gradient of any loss of the scores, and tangents, by hand.

A batch of networks is one tensor of parameters with the replicas first. Networks of an ensemble are further replicas.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch

from ol2r.networks.tangent import Tangent
from ol2r.random import Stream, Streams

INITIALS = ("he", "symmetric", "symmetric-raw", "torch")
OUTPUTS = ("scaled", "plain")


class Pass(NamedTuple):
    """What a pass over some documents leaves behind.

    Args:
        scores: f(x; θ), Float[R, V].
        activations: what goes into each layer, from x itself on: L tensors, Float[R, V, inputs of the layer].
    """

    scores: torch.Tensor
    activations: tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Network:
    """f(x; θ) = √m W_L φ(W_{L−1} … φ(W_1 x)) with φ(z) = max(z, 0) (olRankNet, section 3.2).

    A batch of R networks is θ = (vec W_1, …, vec W_L), Float[R, p]. Scores, gradients and tangents have the precision
    of the θ and the inputs that they are asked with. With depth 1 there is no hidden layer and f(x; θ) = √m W_1 x. The
    bias of a unit is the last entry of its row of W_l, and its layer reads a 1 after the other inputs.

    Args:
        n_features: d.
        width: m ≥ 1, the units of each hidden layer; with depth 1 it only scales f.
        depth: L ≥ 1.
        init: how θ₀ is drawn. `"he"`: W_l ~ N(0, 2/n) for a layer of n inputs (He et al., 2015), so that f(·; θ₀) is
            random and of the order √(2m/d) ‖x‖. `"symmetric"` (olRankNet, Algorithm 1, line 2): f(·; θ₀) = 0, because
            both halves of the network are the same but for the sign of W_L; inputs are scaled to unit norm, as its
            appendix B.2 assumes, and doubled, x ← (x, x)/√2; W_l = blockdiag(W, W) with W ~ N(0, 4/m), and
            W_L = (w, −w) with w ~ N(0, 2/m). `"symmetric-raw"`: the same start, with inputs that are doubled and not
            scaled to unit norm, as Algorithm 1 stands without that assumption. `"torch"`: weights and biases of a layer
            of n inputs are uniform between −1/√n and 1/√n, as those of PyTorch's `nn.Linear`.
        biases: whether the units of hidden layers have biases, 0 at first except with `"torch"`. The output has none:
            no difference of two scores depends on it.
        output: `"scaled"`, f as above, or `"plain"`, f without the factor √m (olRankNet's public code). Tangents are
            those of f/√m, or of the plain f.

    Raises:
        ValueError: an argument has a value that is not allowed, or a symmetric network has biases or hidden layers with
            an odd number of units.
    """

    n_features: int
    width: int
    depth: int = 2
    init: str = "he"
    biases: bool = False
    output: str = "scaled"

    def __post_init__(self):
        for name in ("n_features", "width", "depth"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} of a network must be at least 1, not {getattr(self, name)}")
        if self.init not in INITIALS:
            raise ValueError(f"init must be one of {', '.join(INITIALS)}, not {self.init!r}")
        if self.output not in OUTPUTS:
            raise ValueError(f"output must be one of {', '.join(OUTPUTS)}, not {self.output!r}")
        if self.symmetric and self.biases:
            raise ValueError("a symmetric network has no biases")
        if self.symmetric and self.depth > 1 and self.width % 2:
            raise ValueError(f"a symmetric network has two equal halves, so its width cannot be {self.width}")

    @property
    def symmetric(self) -> bool:
        """Whether θ₀ has two halves that cancel, and inputs are doubled."""
        return self.init in ("symmetric", "symmetric-raw")

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Outputs and inputs of each layer, from the first; the 1 of biases counts as an input."""
        inputs = self.n_features * (2 if self.symmetric else 1)
        units = [inputs, *[self.width] * (self.depth - 1), 1]
        ones = [int(self.biases)] * (self.depth - 1) + [0]
        return tuple((units[layer + 1], units[layer] + ones[layer]) for layer in range(self.depth))

    @cached_property
    def n_read(self) -> int:
        """Entries of the first layer's inputs that are no copies of others."""
        return self.shapes[0][1] // (2 if self.symmetric else 1)

    @cached_property
    def n_parameters(self) -> int:
        """p."""
        return sum(outputs * inputs for outputs, inputs in self.shapes)

    @cached_property
    def n_folded(self) -> int:
        """Entries of a gradient once it is `folded`."""
        outputs, inputs = self.shapes[0]
        return self.n_parameters - (outputs * inputs // 2 if self.symmetric else 0)

    @cached_property
    def scale(self) -> float:
        """√m, or 1 of a plain output."""
        return math.sqrt(self.width) if self.output == "scaled" else 1.0

    def layers(self, theta: torch.Tensor) -> list[torch.Tensor]:
        """W_1 … W_L as views of θ: Float[R, outputs, inputs] each."""
        views, start = [], 0
        for outputs, inputs in self.shapes:
            views.append(theta[:, start : start + outputs * inputs].view(-1, outputs, inputs))
            start += outputs * inputs
        return views

    def initial(self, streams: Streams, round_: int = 0) -> torch.Tensor:
        """θ₀, a function of the replicas' keys and the round alone.

        Returns:
            Float32[R, p], from the first words of the stream of starting weights, layer by layer.
        """
        if not self.symmetric:
            return self._independent(streams, round_)
        halves = [(max(outputs // 2, 1), inputs // 2) for outputs, inputs in self.shapes]
        sizes = [outputs * inputs for outputs, inputs in halves]
        parts = streams.gaussians(Stream.INITIAL, round_, sum(sizes)).split(sizes, dim=1)
        *hidden, last = (part.unflatten(1, half) for part, half in zip(parts, halves, strict=True))
        zero = [torch.zeros_like(w) for w in hidden]
        both = [
            math.sqrt(4.0 / self.width) * torch.cat([torch.cat([w, o], dim=2), torch.cat([o, w], dim=2)], dim=1)
            for w, o in zip(hidden, zero, strict=True)
        ]
        both.append(math.sqrt(2.0 / self.width) * torch.cat([last, -last], dim=2))
        return torch.cat([w.flatten(1) for w in both], dim=1)

    def _independent(self, streams: Streams, round_: int) -> torch.Tensor:
        """θ₀ of independent weights, with the inputs that biases are read from not counted among n."""
        if self.init == "he":
            drawn, biased = streams.gaussians(Stream.INITIAL, round_, self.n_parameters), 0.0
        else:
            drawn, biased = 2.0 * streams.uniforms(Stream.INITIAL, round_, self.n_parameters) - 1.0, 1.0
        theta = drawn.clone()
        for layer, w in enumerate(self.layers(theta)):
            ones = int(self.biases and layer + 1 < self.depth)
            n = w.shape[2] - ones
            w *= math.sqrt((2.0 if self.init == "he" else 1.0) / n)
            w[..., n:] *= biased
        return theta

    def inputs(self, features: torch.Tensor) -> torch.Tensor:
        """What the first layer reads: the features, or for a symmetric network (x, x)/√2, of unit norm or as they are;
        with biases a 1 after them.

        Args:
            features: Float[..., d]. A document without any feature stays zero.
        """
        if not self.symmetric:
            return _with_one(features) if self.biases and self.depth > 1 else features
        half = features / math.sqrt(2.0)
        if self.init == "symmetric":
            norm = features.norm(dim=-1, keepdim=True)
            half = half / torch.where(norm > 0, norm, 1.0)
        return torch.cat([half, half], dim=-1)

    def forward(self, theta: torch.Tensor, inputs: torch.Tensor) -> Pass:
        """Score documents.

        Args:
            theta: Float[R, p].
            inputs: Float[R, V, inputs of the first layer], from `inputs`.
        """
        *hidden, last = self.layers(theta)
        activations = [inputs]
        for layer, w in enumerate(hidden, 1):
            units = torch.bmm(activations[-1], w.mT).relu_()
            activations.append(_with_one(units) if self.biases and layer < len(hidden) else units)
        scores = torch.bmm(activations[-1], (self.scale * last).mT)[..., 0]
        return Pass(scores, tuple(activations))

    def gradient(
        self, theta: torch.Tensor, activations: Sequence[torch.Tensor], coefficients: torch.Tensor
    ) -> torch.Tensor:
        """Σ_v c_v ∂f(x_v)/∂θ: with c the derivative of a loss by each score, the loss's gradient.

        Its part in W_l is √m Σ_v δ_l(v) (c_v a_{l−1}(v))ᵀ, with a the activations and δ the deltas of `tangent`.

        Args:
            theta: Float[R, p].
            activations: what `forward` left at this θ.
            coefficients: c, Float[R, V].

        Returns:
            Float[R, p].
        """
        weights = (self.scale * coefficients)[..., None]  # [R, V, 1]
        of_last = torch.bmm(weights.mT, activations[-1]).flatten(1)
        if self.depth == 1:
            return of_last
        on = weights * activations[-1].sign()
        return torch.cat([*self.backward(theta, activations[:-1], on), of_last], dim=1)

    def backward(
        self, theta: torch.Tensor, activations: Sequence[torch.Tensor], on: torch.Tensor
    ) -> list[torch.Tensor]:
        """The parts of `gradient` in W_1 … W_{L−1}, Float[R, outputs · inputs] each.

        Args:
            theta: Float[R, p].
            activations: what goes into these layers.
            on: √m c_v where a unit of the highest hidden layer is on and 0 where it is off, Float[R, V, m].
        """
        *hidden, last = self.layers(theta)
        parts, delta, head = [], on, last.mT  # in the highest hidden layer δ is W_L times whether a unit is on
        for layer in range(self.depth - 2, -1, -1):
            part = torch.bmm(activations[layer].mT, delta).mT  # a third faster than the transposed product
            parts.insert(0, (part if head is None else head * part).flatten(1))
            if layer:
                w = hidden[layer][..., : self.width]  # nothing goes on below a bias
                delta = torch.bmm(delta, w if head is None else head * w)
                delta.mul_(activations[layer][..., : self.width].sign())
            head = None  # W_L is in δ from here on
        return parts

    def tangent(self, theta: torch.Tensor, activations: Sequence[torch.Tensor]) -> Tangent:
        """The gradients g(x; θ)/√m of the scores, as factors.

        Args:
            theta: Float[R, p].
            activations: what `forward` left at this θ.
        """
        *hidden, last = self.layers(theta)
        deltas: list[torch.Tensor] = []
        for layer in range(self.depth - 2, -1, -1):
            delta = deltas[0] @ hidden[layer + 1][..., : self.width] if deltas else last
            deltas.insert(0, delta * activations[layer + 1][..., : self.width].sign())
        return Tangent(tuple(activations), tuple(deltas))

    def folded(self, tangent: Tangent) -> Tangent:
        """The same gradients without what a symmetric network has twice.

        Both halves of its inputs are the same, (x, x)/√2, and so are those of a gradient in W_1. One half times √2 in
        place of both leaves every ⟨g, g′⟩ as it is, and so all that a whole A says of intervals.
        """
        if not self.symmetric:
            return tangent
        first, *others = tangent.inputs
        half = math.sqrt(2.0) * first[..., : first.shape[-1] // 2]
        return Tangent((half, *others), tangent.deltas)

    def unfolded(self, tangent: Tangent) -> Tangent:
        """The gradients with all their entries, of what `folded` left."""
        if not self.symmetric:
            return tangent
        first, *others = tangent.inputs
        half = first / math.sqrt(2.0)
        return Tangent((torch.cat([half, half], dim=-1), *others), tangent.deltas)


def _with_one(inputs: torch.Tensor) -> torch.Tensor:
    """Inputs of a layer, Float[..., n], with a 1 after them."""
    return torch.cat([inputs, inputs.new_ones(*inputs.shape[:-1], 1)], dim=-1)
