"""Refits of a network to its whole history: a fixed number of passes, by Adam or by L-BFGS with a memory that stays.

Neither reaches the optimum; `NetworkFit.expand` says how far a fit has come. A replica whose numbers are no longer
finite keeps the last ones that were, and is marked.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

import torch

from ol2r.networks.descent import descent_of
from ol2r.networks.history import History
from ol2r.networks.memory import Memory, memory_of
from ol2r.networks.moments import moments_of
from ol2r.networks.network import Network
from ol2r.networks.problem import CompiledProblem, Expansion, Problem, Room, problem_of

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
        batch: 0, or how many labels a step of Adam reads at most. Each pass then shuffles the labels and takes a step
            for each batch of them, on the mean of its losses and the pull divided by the number of all labels
            (olRankNet's public code); J passes are J epochs. On the CPU alone.

    Where what labels count for follows the ranking (`History.follows_ranking`), Adam asks for it in every pass, and
    L-BFGS, which compares objectives, once in a refit.

    Attributes:
        theta: Float[R, p].
        alive: Bool[R], false for a replica that diverged; its `theta` is the last that was finite, for ever.

    Raises:
        ValueError: no such loss or method, fewer passes than it needs, or batches of another method than Adam or on a
            device.
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
        batch: int = 0,
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
        if batch and (method != "adam" or theta.device.type != "cpu"):
            raise ValueError("batches of labels are for Adam on the CPU alone")
        self.network = network
        self.theta = theta.clone()
        self.anchor = anchor
        self.loss, self.method, self.passes, self.batch = loss, method, passes, batch
        self._pull = network.width * regularization
        self._rate = None if rate is None else rate.to(theta.dtype)
        self.alive = torch.ones(len(theta), dtype=torch.bool, device=theta.device)
        self._memory = memory_of(theta, passes) if method == "lbfgs" else None
        self._room = Room()

    def refit(
        self,
        history: History,
        changed: torch.Tensor,
        start: torch.Tensor | None = None,
        words: Callable[[int], torch.Tensor] | None = None,
    ) -> None:
        """Go on from θ, or begin somewhere else, with the history as it is now.

        Args:
            history: all labelled pairs.
            changed: Bool[R], which replicas to refit; the others, and those without a label, stay as they are.
            start: where to begin, Float[R, p]; None for where the last refit ended.
            words: gives n random words of each replica, Int64[R, n]; needed with batches alone.
        """
        moving = changed & self.alive & (history.n_labels > 0)
        if not history.pairs.shape[1] or (moving.device.type == "cpu" and not bool(moving.any())):
            return
        begin = self.theta if start is None else start.to(self.theta.dtype)
        if self.batch:
            assert words is not None
            reached, finite = self._adam_in_batches(history, begin, moving, words)
        elif self._memory is None:
            reached, finite = self._adam(self._problem(history, mean=True), begin)
        else:
            problem = self._problem(history, mean=False)
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
        return problem_of(self.network, history, self.anchor, weight * pull, weight, self.theta.dtype, self._room)

    def _adam(self, problem: Problem | CompiledProblem, begin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert self._rate is not None
        theta, moments = begin.clone(), moments_of(begin)
        for _ in range(self.passes):
            moments.step(theta, problem.gradient(theta, reweigh=True), self._rate)
        return theta, theta.abs().amax(dim=1) < torch.inf

    def _adam_in_batches(
        self, history: History, begin: torch.Tensor, moving: torch.Tensor, words: Callable[[int], torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Replica by replica, for they have different numbers of batches."""
        assert self._rate is not None
        reached, most = begin.clone(), int(history.n_labels.max())
        orders = words(self.passes * most).unflatten(1, (self.passes, most))
        for r in moving.nonzero()[:, 0].tolist():
            own, labels = slice(r, r + 1), history.labels(r)
            theta, moments = reached[own], moments_of(reached[own])
            anchor = None if self.anchor is None else self.anchor[own]
            pull = self._pull[own] / (len(labels) if self.loss == "sum" else 1)
            for order in orders[r, :, : len(labels)].argsort(dim=1, stable=True):
                for some in labels[order].split(self.batch):
                    part = history.part(r, some)
                    problem = problem_of(
                        self.network, part, anchor, pull, 1.0 / part.n_labels, theta.dtype, self._room
                    )
                    moments.step(theta, problem.gradient(theta, reweigh=True), self._rate[own])
        return reached, reached.abs().amax(dim=1) < torch.inf

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
