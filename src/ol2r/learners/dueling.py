"""Dueling-bandit gradient descent and its descendants: propose directions, compare by interleaving, step to the winner.

DBGD (Yue and Joachims, 2009), CPS (Hofmann et al., 2013), DP-DBGD (Zhao and King, 2016) and MGD (Schuth et al., 2016);
NSGD has a file of its own. All are linear and share the steps of a round; a learner defines which directions it
proposes, how the rankers are compared, and which winners it follows.
"""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, cast

import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.base import STEP, SteppingLearner, linear_seconds
from ol2r.learners.comparison import ProbabilisticInterleaving, TeamDraft
from ol2r.parameters import FLAG, Choice, Number, Value
from ol2r.random import Stream
from ol2r.ranking import Candidates


def one_of(mask: Bool[Tensor, "R n"], uniform: Float32[Tensor, " R"]) -> Bool[Tensor, "R n"]:
    """Keep one true entry of each row, chosen by a number in [0, 1): Bool like `mask`; rows without one stay empty."""
    nth = (uniform * mask.sum(dim=1)).long()
    return mask & (mask.cumsum(dim=1) - 1 == nth[:, None])


def no_interactions(replicas: int, places: int, depth: int, device: torch.device) -> dict[str, torch.Tensor]:
    """Empty storage for each replica's interactions: `queries` Int64[R, places] and `lists` Int64[R, places, depth],
    both filled with −1, and `clicks` Bool[R, places, depth]."""
    shape = replicas, places, depth
    return {
        "queries": torch.full(shape[:2], -1, dtype=torch.int64, device=device),
        "lists": torch.full(shape, -1, dtype=torch.int64, device=device),
        "clicks": torch.zeros(shape, dtype=torch.bool, device=device),
    }


class DuelingBandit(SteppingLearner):
    """Base class of dueling-bandit learners: the round that all of them share (NSGD paper, Algorithm 1).

    w⁰ is the current ranker and w^i = w⁰ + δ g^i are the candidates. After the comparison w⁰ ← w⁰ + α Σ_i share_i g^i,
    where the winners' shares sum to one, or all shares are zero and w⁰ stays.

    Hyper-parameters of all: `alpha` (learning rate α), `delta` (exploration step δ), `decay` (factor on α after every
    step taken; 1 in the papers' text), `start` (first weights w₁: `"unit"`, a random unit vector, or `"zero"`).

    Late clicks: a comparison is between the rankers that the list was made of, and the step that its winner earns is
    added to weights that have moved on since. The papers prove nothing of this; DBGD's regret bound supposes that each
    comparison is known before the next.
    """

    round_seconds = 2e-6
    timed_as = "DBGD"
    batch_seconds = 6e-4
    numeric: ClassVar = STEP | {"delta": Number(above=0)}
    structural: ClassVar = {"start": Choice("unit", "zero")}

    @cached_property
    def everyone(self) -> torch.Tensor:
        """The numbers of the replicas: Int64[R]."""
        return torch.arange(len(self.streams), device=self.device)

    def _worthwhile(self, needed: torch.Tensor) -> bool:
        """Whether to do work that only counts where `needed` is true. On a device it is done in any case: the host
        would have to wait for the answer, and rounds would differ in what they ask for."""
        return self.device.type != "cpu" or bool(needed.any())

    def initial(self) -> dict[str, torch.Tensor]:
        state = super().initial()
        if self.choice["start"] == "unit":
            state["weights"] = self.ops.unit_vectors(self.streams, Stream.INITIAL, 0, 1, self.n_features)[:, 0]
        return state

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """The cost of drawing m directions, and of ranking the query by the m candidates and the current ranker."""
        m = cast(int, hyperparameters.get("m", 1))
        return {"lists": linear_seconds(shape, m + 1, m)}

    @abstractmethod
    def _propose(self, candidates: Candidates) -> Float32[Tensor, "R m d"]:
        """Unit directions to explore: Float32[R, m, features]."""

    @abstractmethod
    def _interleave(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        """The list that compares `self.contenders`: Int64[R, depth]."""

    @abstractmethod
    def _shares(
        self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]
    ) -> Float32[Tensor, "R m"]:
        """The share of each direction in the step, Float32[R, m]; also updates what the learner remembers."""

    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        self.directions = self._propose(candidates)
        self.contenders = self.ops.contenders(self.state["weights"], self.directions, self.number["delta"])
        return self._interleave(candidates, depth)

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        shares = self._shares(candidates, ranking, clicks)
        self.follow(self.directions, shares)
        self.round += 1


class Multileaved(DuelingBandit):
    """Base class of learners that compare all candidates and the current ranker in one team draft.

    Further hyper-parameter: `prefix_credit` (see `TeamDraft`).
    """

    structural = DuelingBandit.structural | {"prefix_credit": FLAG}

    @cached_property
    def comparison(self) -> TeamDraft:
        return TeamDraft(self.ops, self.streams, bool(self.choice["prefix_credit"]))

    @cached_property
    def nobody(self) -> torch.Tensor:
        return torch.full((len(self.streams),), -1, dtype=torch.int64, device=self.device)

    def _drafts_first(self) -> torch.Tensor:
        return self.nobody

    def _interleave(self, candidates: Candidates, depth: int) -> torch.Tensor:
        return self.comparison.interleave(candidates, self.contenders, depth, self.round, self._drafts_first())

    def shown(self) -> dict[str, torch.Tensor]:
        return {"directions": self.directions, "team": self.comparison.team}

    def recall(self, candidates: Candidates, round_: int, shown: Mapping[str, torch.Tensor]) -> None:
        super().recall(candidates, round_, shown)
        self.directions, self.comparison.team = shown["directions"], shown["team"]

    def _mean(self, winners: torch.Tensor) -> torch.Tensor:
        return self.ops.equal_shares(winners)


class DBGD(Multileaved):
    """Dueling bandit gradient descent: one uniform direction, followed when it has more clicks (Algorithm 1).

    Of late clicks see `DuelingBandit`.
    """

    name = "DBGD"
    revision = 1
    launches = 250

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        return self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, 1, self.n_features)

    def _shares(self, candidates, ranking, clicks):
        return self._mean(self.comparison.winners(clicks, 1))


class MGD(Multileaved):
    """Multileave gradient descent: m uniform directions, compared in one multileaving.

    Further hyper-parameters: `m`; `winners`: `"best"` (those with the largest credit, if it is above the current
    ranker's) or `"better"` (all with more credit than the current ranker, as in the public code); `follow`: the
    `"mean"` of the winners' directions or that of `"one"` random winner. Of late clicks see `DuelingBandit`.
    """

    name = "MGD"
    revision = 1
    launches = 250
    structural = Multileaved.structural | {
        "m": Number(least=1, whole=True),
        "winners": Choice("best", "better"),
        "follow": Choice("mean", "one"),
    }

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        return self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, self.choice["m"], self.n_features)

    def _shares(self, candidates, ranking, clicks):
        if self.choice["winners"] == "better":
            credit = self.comparison.credit(clicks, self.choice["m"] + 1)
            winners = credit[:, 1:] > credit[:, :1]
        else:
            winners = self.comparison.winners(clicks, self.choice["m"])
        if self.choice["follow"] == "one":
            return one_of(winners, self.streams.uniforms(Stream.WINNER, self.round, 1)[:, 0]).to(torch.float32)
        return self._mean(winners)


class DPDBGD(Multileaved):
    """Dual-point dueling bandit: compares w ± δu with the current ranker in one team draft, by contextual interleaving.

    The paper cites Zhao and King (2016) without details, and no public code is known. Our reading of contextual
    interleaving: if a direction won the previous round, the new direction with a positive inner product with that
    winner drafts first in every turn; otherwise the draft order is random.

    Late clicks: the winner that goes before is that of the clicks that came last. For the rest see `DuelingBandit`.
    """

    name = "DP-DBGD"
    revision = 1
    launches = 250

    def initial(self) -> dict[str, torch.Tensor]:
        state = super().initial()
        return state | {"last_winner": torch.zeros_like(state["weights"])}

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        u = self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, 1, self.n_features)
        return torch.cat([u, -u], dim=1)

    def _drafts_first(self) -> torch.Tensor:
        along = (self.directions[:, 0] * self.state["last_winner"]).sum(dim=1)
        return torch.where(along > 0, 1, torch.where(along < 0, 2, self.nobody))

    def _shares(self, candidates, ranking, clicks):
        winners = self.comparison.winners(clicks, 2)
        shares = torch.where(winners.all(dim=1, keepdim=True), False, winners).to(torch.float32)
        self.state["last_winner"] = (shares[..., None] * self.directions).sum(dim=1)
        return shares


class CPS(DuelingBandit):
    """Candidate preselection (Hofmann et al., 2013), as in the public code: `n_candidates` uniform directions play a
    knock-out tournament on recorded interactions, and probabilistic interleaving compares the winner with the current
    ranker.

    A match between two candidates replays every stored interaction (the latest `history`). Its outcome is the expected
    click credit of one candidate less that of the other, per click, weighted by P(list | these two) / P(list | the pair
    that it was shown for). The loser leaves; a coin decides a drawn match. Credit is marginalised over assignments.

    Further hyper-parameters: `n_candidates`, `history` (interactions kept), `tau` (τ of the softened rankings).
    """

    name = "CPS"
    revision = 2
    keeps_queries = True
    batch_seconds = 3e-3
    timed_as = ""  # a round replays earlier ones
    launches = 600
    structural = DuelingBandit.structural | {
        "n_candidates": Number(least=1, whole=True),
        "history": Number(least=1, whole=True),
        "tau": Number(above=0),
    }

    def initial(self) -> dict[str, torch.Tensor]:
        n_rounds = torch.zeros_like(self.everyone)  # rounds so far
        return super().initial() | {"n_rounds": n_rounds} | self._no_memory(depth=0)

    def _no_memory(self, depth: int) -> dict[str, torch.Tensor]:
        memory = no_interactions(len(self.streams), self.choice["history"], depth, self.device)
        return memory | {"probability": torch.ones_like(memory["lists"], dtype=torch.float64)}

    @cached_property
    def comparison(self) -> ProbabilisticInterleaving:
        return ProbabilisticInterleaving(self.ops, self.streams, float(self.choice["tau"]))

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """The cost of ranking the query of each recorded interaction by all n candidates, with softened rankings."""
        n, history = (cast(int, hyperparameters[name]) for name in ("n_candidates", "history"))
        replayed = n * min(history, rounds)
        return {"lists": 2 * linear_seconds(shape, replayed, n)}

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        n = self.choice["n_candidates"]
        proposed = self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, n, self.n_features)
        remaining = torch.ones(len(self.streams), n, dtype=torch.bool, device=self.device)
        words = self.streams.uniforms(Stream.MATCH, self.round, 3 * (n - 1))
        replayed = self._replay(candidates, proposed)
        for match in range(n - 1):
            one = one_of(remaining, words[:, 3 * match])
            other = one_of(remaining & ~one, words[:, 3 * match + 1])
            heads = words[:, 3 * match + 2] < 0.5
            lead = self._lead(replayed, one, other)
            one_leaves = torch.where(lead == 0, heads, lead < 0)
            remaining &= ~torch.where(one_leaves[:, None], one, other)
        return proposed.gather(1, remaining.long().argmax(dim=1)[:, None, None].expand(-1, 1, self.n_features))

    def _replay(self, candidates: Candidates, proposed: torch.Tensor) -> torch.Tensor:
        """Probability of every recorded slot under every candidate: Float64[R, n, H, k]."""
        rankers = self.state["weights"][:, None] + self.number["delta"][:, None, None] * proposed
        return self.ops.replayed_probabilities(
            candidates,
            self.state["queries"],
            self.state["lists"],
            rankers,
            float(self.choice["tau"]),
            self.streams,
            self.round,
        )

    def _lead(self, replayed: torch.Tensor, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """Weighted outcome of a match, positive when the candidate `one` is ahead: Float64[R]."""
        p, q = (replayed[self.everyone, each.long().argmax(dim=1)] for each in (one, other))
        weight = (0.5 * (p + q) / self.state["probability"]).prod(dim=2)
        clicks = self.state["clicks"]
        lead = (clicks * (p - q) / (p + q)).sum(dim=2) / clicks.sum(dim=2).clamp_min(1)
        return (lead * weight).sum(dim=1)

    def _interleave(self, candidates: Candidates, depth: int) -> torch.Tensor:
        return self.comparison.interleave(candidates, self.contenders, depth, self.round)

    def _shares(self, candidates, ranking, clicks):
        self._remember(candidates, ranking, clicks)
        credit = self.comparison.credit(clicks)
        return (credit[:, 1:] > credit[:, :1]).to(torch.float32)

    def _remember(self, candidates: Candidates, ranking: torch.Tensor, clicks: torch.Tensor) -> None:
        if self.state["lists"].shape[2] != ranking.shape[1]:  # before the first list, its length is not known
            self.state |= self._no_memory(ranking.shape[1])
        new = {"queries": candidates.query, "lists": ranking, "clicks": clicks}
        place = self.state["n_rounds"] % self.choice["history"]
        for name, value in (new | {"probability": self.comparison.probability}).items():
            self.state[name][self.everyone, place] = value
        self.state["n_rounds"] += 1
