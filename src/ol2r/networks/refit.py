"""Refits of a network to its whole history: a fixed number of passes, by Adam or by L-BFGS with a memory that stays.

Neither reaches the optimum; `NetworkFit.expand` says how far a fit has come. A replica whose numbers are no longer
finite keeps the last ones that were, and is marked.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import torch

from ol2r.networks.descent import descent_of
from ol2r.networks.history import History
from ol2r.networks.memory import Memory, memory_of
from ol2r.networks.moments import moments_of
from ol2r.networks.network import Network
from ol2r.networks.problem import CompiledProblem, Expansion, Problem, problem_of

METHODS = ("adam", "lbfgs")
LOSSES = ("sum", "mean")


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
            memory stays from refit to refit, although the objective grows: it has the steps of six refits, and no more
            than sixty.
        rate: learning rate of Adam, Float64[R]; L-BFGS has none.
        passes: J, how often a refit forms the gradient; of L-BFGS at most, since on the CPU it stops when no replica
            moves.

    Where what labels count for follows the ranking (`History.follows_ranking`), Adam asks for it in every pass, and
    L-BFGS, which compares objectives, once in a refit.

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
        self._rate = None if rate is None else rate.to(theta.dtype)
        self.alive = torch.ones(len(theta), dtype=torch.bool, device=theta.device)
        self._memory = memory_of(theta, passes) if method == "lbfgs" else None

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
        return self._problem(history, mean=False).expand(self.theta, reweigh=True)

    def _problem(self, history: History, *, mean: bool) -> Problem | CompiledProblem:
        """The objective, or the objective divided by the number of labels."""
        weight = 1.0 / history.n_labels.clamp_min(1.0) if mean else torch.ones_like(history.n_labels)
        pull = self._pull * history.n_labels if self.loss == "mean" else self._pull
        return problem_of(self.network, history, self.anchor, weight * pull, weight, self.theta.dtype)

    def _adam(self, problem: Problem | CompiledProblem, begin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert self._rate is not None
        theta, moments = begin.clone(), moments_of(begin)
        for _ in range(self.passes):
            moments.step(theta, problem.gradient(theta, reweigh=True), self._rate)
        return theta, theta.abs().amax(dim=1) < torch.inf

    def _lbfgs(
        self,
        problem: Problem | CompiledProblem,
        begin: torch.Tensor,
        moving: torch.Tensor,
        n_labels: torch.Tensor,
        memory: Memory,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        descent = descent_of(memory, begin, problem.expand(begin, reweigh=True), moving, n_labels)
        for left in reversed(range(self.passes - 1)):
            if moving.device.type == "cpu" and not bool(descent.moving.any()):
                break
            trial = descent.trial()
            descent.settle(trial, problem.expand(trial), last=not left)
        return descent.theta, descent.finite

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
