"""Refits of a network to its whole history: a fixed number of passes, by Adam or by L-BFGS with a memory that stays.

Neither reaches the optimum; `NetworkFit.expand` says how far a fit has come. A replica whose numbers are no longer
finite keeps the last ones that were, and is marked.
"""

import math
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, NamedTuple

import torch
from torch.nn.functional import softplus

from ol2r.networks.history import History
from ol2r.networks.memory import Memory, memory_of
from ol2r.networks.network import Network

METHODS = ("adam", "lbfgs")
LOSSES = ("sum", "mean")
_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8
"""β₁, β₂ and ε of Adam."""
_ARMIJO = 1e-4
_NOISE = 1e-7
"""A step may raise the objective by so much for each label, which is what rounding does to it in single precision."""
_SHORTEST, _LONGEST = 0.1, 0.5
"""A step that is refused is cut to between these shares of it."""
_FLAT = 1e-5
"""A replica with no entry of the mean loss's gradient above this moves no further."""


class Expansion(NamedTuple):
    """The objective and its gradient.

    Args:
        value: Float64[R].
        gradient: Float[R, p].
    """

    value: torch.Tensor
    gradient: torch.Tensor


class NetworkFit:
    """θ_t of R networks, refitted to all labelled pairs so far (olRankNet, Eq. 3.2 and Algorithm 1, line 11):

        Σ −log σ(±(f(x_i; θ) − f(x_j; θ))) + (mλ/2) ‖θ − θ₀‖²        over all labels, with − where j was preferred.

    Args:
        network: the architecture.
        theta: the parameters to start from, Float[R, p]; their precision is that of the fit.
        anchor: θ₀, to which the parameters are pulled, Float[R, p], or None for 0.
        regularization: λ ≥ 0, Float64[R]. The public code has no factor m: for its reading give λ/m.
        loss: `"sum"`, as above, or `"mean"`: the mean of the losses in place of their sum, so that against the sum the
            pull grows with the labels.
        method: `"adam"`: steps of Adam (Kingma and Ba, 2015) on the objective divided by the number of labels, with
            moments that begin at zero in every refit. `"lbfgs"`: L-BFGS in its compact form (Byrd et al., 1994); its
            memory stays from refit to refit, although the objective grows.
        rate: learning rate of Adam, Float64[R]; L-BFGS has none.
        passes: J, how often a refit forms the gradient; of L-BFGS at most, since on the CPU it stops when no replica
            moves.

    Attributes:
        theta: Float[R, p].
        alive: Bool[R], false for a replica that diverged; its `theta` is the last that was finite, for ever.

    Raises:
        ValueError: no such loss or method, or fewer passes than it needs.
    """

    def __init__(
        self,
        network: Network,
        theta: torch.Tensor,
        anchor: torch.Tensor | None,
        regularization: torch.Tensor,
        *,
        loss: str = "sum",
        method: str = "adam",
        rate: torch.Tensor | None = None,
        passes: int = 20,
    ):
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, not {loss!r}")
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        if method == "adam" and rate is None:
            raise ValueError("Adam needs a rate")
        least = 1 if method == "adam" else 2
        if passes < least:
            raise ValueError(f"passes of {method} must be at least {least}, not {passes}")
        self.network = network
        self.theta = theta.clone()
        self.anchor = anchor
        self.loss, self.method, self.passes = loss, method, passes
        self._pull = network.width * regularization
        self._rate = None if rate is None else rate.to(theta.dtype)[:, None]
        self.alive = torch.ones(len(theta), dtype=torch.bool, device=theta.device)
        self._memory = memory_of(theta) if method == "lbfgs" else None

    def refit(self, history: History, changed: torch.Tensor, start: torch.Tensor | None = None) -> None:
        """Go on from θ, or begin somewhere else, with the history as it is now.

        Args:
            history: all labelled pairs.
            changed: Bool[R], which replicas to refit; the others, and those without a label, stay as they are.
            start: where to begin, Float[R, p]; None for where the last refit ended.
        """
        moving = changed & self.alive & (history.n_labels > 0)
        if not history.pairs.shape[1] or (moving.device.type == "cpu" and not bool(moving.any())):
            return
        problem = self._problem(history, mean=self._memory is None)
        begin = self.theta if start is None else start.to(self.theta.dtype)
        if self._memory is None:
            reached, finite = self._adam(problem, begin)
        else:
            reached, finite = self._lbfgs(problem, begin, moving, history.n_labels, self._memory)
        self.theta = torch.where((moving & finite)[:, None], reached, self.theta)
        self.alive = self.alive & (finite | ~moving)

    def expand(self, history: History) -> Expansion:
        """The objective, with the losses summed whatever `loss` is, and its gradient at θ."""
        return self._problem(history, mean=False).expand(self.theta)

    def _problem(self, history: History, *, mean: bool) -> "_Problem":
        """The objective, or the objective divided by the number of labels."""
        weight = 1.0 / history.n_labels.clamp_min(1.0) if mean else torch.ones_like(history.n_labels)
        pull = self._pull * history.n_labels if self.loss == "mean" else self._pull
        return _Problem(self.network, history, self.anchor, weight * pull, weight, self.theta.dtype)

    def _adam(self, problem: "_Problem", theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert self._rate is not None
        theta = theta.clone()
        mean, square = torch.zeros_like(theta), torch.zeros_like(theta)
        for step in range(1, self.passes + 1):
            gradient = problem.gradient(theta)
            mean.lerp_(gradient, 1 - _FIRST)
            square.mul_(_SECOND).addcmul_(gradient, gradient, value=1 - _SECOND)
            # both moments start at zero; their corrections are drawn out of the quotient
            root = math.sqrt(1 - _SECOND**step)
            size = self._rate * (root / (1 - _FIRST**step))
            theta.addcdiv_(mean * size, square.sqrt().add_(_EPSILON * root), value=-1.0)
        return theta, theta.abs().amax(dim=1) < torch.inf

    def _lbfgs(
        self, problem: "_Problem", theta: torch.Tensor, moving: torch.Tensor, n_labels: torch.Tensor, memory: Memory
    ) -> tuple[torch.Tensor, torch.Tensor]:
        value, gradient = problem.expand(theta)
        finite = (value.abs() < torch.inf) & (gradient.abs().amax(dim=1) < torch.inf)
        moving = moving & finite
        tolerance, flat = _NOISE * n_labels, _FLAT * n_labels
        gradient = torch.where(finite[:, None], gradient, 0.0)
        along = memory.products(gradient)
        direction, slope = memory.direction(gradient, along)
        length = torch.ones_like(value)
        for _ in range(self.passes - 1):
            moving = moving & (gradient.abs().amax(dim=1) > flat)
            if moving.device.type == "cpu" and not bool(moving.any()):
                break
            step = length.to(theta.dtype)[:, None] * direction
            trial = theta + step
            there = problem.expand(trial)
            promised = length * slope
            risen = there.value - value
            taken = moving & (risen <= _ARMIJO * promised + tolerance)  # of a NaN the comparison is false
            along = memory.add(step, there.gradient - gradient, taken, gradient, along)
            theta = torch.where(taken[:, None], trial, theta)
            value = torch.where(taken, there.value, value)
            gradient = torch.where(taken[:, None], there.gradient, gradient)
            direction, slope = memory.direction(gradient, along)  # after a step that was refused, the same again
            # the parabola through both values and the slope has its minimum at this share of the step
            share = -promised / (2 * (risen - promised))
            share = torch.where(share > _SHORTEST, share, _SHORTEST).clamp_max(_LONGEST)
            length = torch.where(taken, 1.0, length * share)
        return theta, finite

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        """Where the tensors stand that a refit replaces: pairs of an owner and a name."""
        yield from ((vars(self), name) for name in ("theta", "alive"))
        if self._memory is not None:
            yield from ((vars(self._memory), name) for name in vars(self._memory))

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that the next refit depends on, besides the arguments, in tensors that it may write to."""
        kept = {"theta": self.theta, "alive": self.alive}
        return kept if self._memory is None else kept | {f"memory.{k}": v for k, v in vars(self._memory).items()}

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        """Go on from what another fit of the same arguments kept; it keeps the tensors themselves."""
        self.theta, self.alive = saved["theta"], saved["alive"]
        if self._memory is not None:
            for name in vars(self._memory):
                setattr(self._memory, name, saved[f"memory.{name}"])


class _Problem:
    """One refit's objective, with a weight; what is the same in all its passes is made once."""

    def __init__(
        self,
        network: Network,
        history: History,
        anchor: torch.Tensor | None,
        pull: torch.Tensor,
        weight: torch.Tensor,
        dtype: torch.dtype,
    ):
        self.network, self.anchor = network, anchor
        self.inputs = history.documents.to(dtype)
        self.rows = history.pairs.mT.flatten(1)  # of all first documents, then of all second ones
        outcomes = history.outcomes * weight[:, None, None]
        self.won, self.met = outcomes[..., 0].to(dtype), outcomes.sum(dim=2).to(dtype)
        self.pull = pull[:, None].to(dtype)
        self.none = self.inputs.new_zeros(self.inputs.shape[:2])

    def expand(self, theta: torch.Tensor) -> Expansion:
        gap, activations, away = self._at(theta)
        losses = self.met * softplus(gap, threshold=80.0) - self.won * gap
        pulled = 0.5 * self.pull[:, 0] * (away * away).sum(dim=1)
        return Expansion(losses.sum(dim=1, dtype=torch.float64) + pulled, self._gradient(theta, gap, activations, away))

    def gradient(self, theta: torch.Tensor) -> torch.Tensor:
        return self._gradient(theta, *self._at(theta))

    def _at(self, theta):
        """f(x_i) − f(x_j) of each pair, what the pass left behind, and θ − θ₀."""
        scores, activations = self.network.forward(theta, self.inputs)
        both = scores.gather(1, self.rows)
        n = self.won.shape[1]
        return both[:, :n] - both[:, n:], activations, theta if self.anchor is None else theta - self.anchor

    def _gradient(self, theta, gap, activations, away):
        push = torch.sigmoid(gap).mul_(self.met).sub_(self.won)
        coefficients = self.none.scatter_add(1, self.rows, torch.cat([push, -push], dim=1))
        return self.network.gradient(theta, activations, coefficients).addcmul_(away, self.pull)
