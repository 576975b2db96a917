"""Dueling-bandit gradient descent and its descendants: propose directions, compare by interleaving, step to the winner.

DBGD (Yue and Joachims, 2009), CPS (Hofmann et al., 2013), DP-DBGD (Zhao and King, 2016), MGD (Schuth et al., 2016) and
NSGD (Wang et al., 2018). All are linear and share one round; a learner says which directions it proposes, how the
rankers meet, and whom it follows.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, cast

import torch

from ol2r.cost import Shape
from ol2r.learners.base import ABOVE_0, SHARED_RANGES, SteppingLearner, Value, at_least, linear_seconds
from ol2r.learners.comparison import ProbabilisticInterleaving, TeamDraft
from ol2r.random import Stream, Streams
from ol2r.ranking import Candidates

_SHARED_NUMERIC = frozenset({"alpha", "delta", "decay"})


def _one_of(mask: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """One true entry of each row, chosen by a number in [0, 1): Bool like `mask`; a row without any stays empty."""
    nth = (uniform * mask.sum(dim=1)).long()
    return mask & (mask.cumsum(dim=1) - 1 == nth[:, None])


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp_min(1e-30)


class DuelingBandit(SteppingLearner):
    """The round that the family shares (NSGD paper, Algorithm 1).

    w⁰ is the current ranker and w^i = w⁰ + δ g^i the candidates; after the comparison w⁰ ← w⁰ + α Σ_i share_i g^i,
    where the shares of the winners sum to one, or all are zero and w⁰ stays.

    Hyper-parameters of all: `alpha` (learning rate α), `delta` (exploration step δ), `decay` (α is multiplied by it
    after every step taken; 1 in the papers' text), `start` (`"unit"`: w₁ a random unit vector; `"zero"`).
    """

    words: ClassVar = {"start": ("unit", "zero")}
    round_seconds = 2e-6
    batch_seconds = 6e-4

    def __init__(
        self,
        n_features: int,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
    ):
        super().__init__(n_features, hyperparameters, streams, engine)
        if self.choice["start"] == "unit":
            self.state["weights"] = self.ops.unit_vectors(streams, Stream.INITIAL, 0, 1, n_features)[:, 0]

    @classmethod
    def round_cost(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> float:
        """Directions are drawn, and as many contenders as m and the current ranker rank the query."""
        m = cast(int, hyperparameters.get("m", 1))
        return cls.round_seconds + linear_seconds(shape, m + 1, m)

    @abstractmethod
    def _propose(self, candidates: Candidates) -> torch.Tensor:
        """Unit directions to explore: Float32[R, m, features]."""

    @abstractmethod
    def _interleave(self, candidates: Candidates, depth: int) -> torch.Tensor:
        """The list in which `self.contenders` meet: Int64[R, depth]."""

    @abstractmethod
    def _shares(self, candidates: Candidates, ranking: torch.Tensor, clicks: torch.Tensor) -> torch.Tensor:
        """Whom to follow, after remembering what is to be remembered: Float32[R, m]."""

    def rank(self, candidates: Candidates, depth: int) -> torch.Tensor:
        self.directions = self._propose(candidates)
        current = self.state["weights"][:, None]
        self.contenders = torch.cat([current, current + self.number["delta"][:, None, None] * self.directions], dim=1)
        return self._interleave(candidates, depth)

    def update(self, candidates: Candidates, ranking: torch.Tensor, clicks: torch.Tensor) -> None:
        shares = self._shares(candidates, ranking, clicks)
        proposed = self.ops.follow(self.state["weights"], self.directions, shares, self.state["alpha"])
        self.step(proposed, shares.any(dim=1))
        self.round += 1


class _Multileaved(DuelingBandit):
    """Candidates meet the current ranker in one team draft. Further hyper-parameter: `prefix_credit`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.comparison = TeamDraft(self.ops, self.streams, bool(self.choice["prefix_credit"]))
        self.nobody = torch.full((len(self.streams),), -1, dtype=torch.int64, device=self.device)

    def _drafts_first(self) -> torch.Tensor:
        return self.nobody

    def _interleave(self, candidates: Candidates, depth: int) -> torch.Tensor:
        return self.comparison.interleave(candidates, self.contenders, depth, self.round, self._drafts_first())

    def _winners(self, credit: torch.Tensor) -> torch.Tensor:
        """Candidates with the largest credit, provided it exceeds the current ranker's: Bool[R, m]."""
        return (credit[:, 1:] == credit.amax(dim=1, keepdim=True)) & (credit[:, 1:] > credit[:, :1])

    @staticmethod
    def _mean(winners: torch.Tensor) -> torch.Tensor:
        return winners / winners.sum(dim=1, keepdim=True).clamp_min(1)


class DBGD(_Multileaved):
    """Dueling bandit gradient descent: one uniform direction, followed when it has more clicks (Algorithm 1)."""

    name = "DBGD"
    revision = 1
    launches = 500
    numeric = _SHARED_NUMERIC
    structural = frozenset({"start", "prefix_credit"})

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        return self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, 1, self.n_features)

    def _shares(self, candidates, ranking, clicks):
        return self._mean(self._winners(self.comparison.credit(clicks, 2)))


class MGD(_Multileaved):
    """Multileave gradient descent: m uniform directions in one multileaving.

    Further hyper-parameters: `m`; `winners`: `"best"` (the largest credit, if above the current ranker's) or `"better"`
    (all above the current ranker's, as the public code); `follow`: `"mean"` of the winners or `"one"` at random.
    """

    name = "MGD"
    revision = 1
    launches = 600
    numeric = _SHARED_NUMERIC
    structural = frozenset({"start", "prefix_credit", "m", "winners", "follow"})
    words: ClassVar = DuelingBandit.words | {"winners": ("best", "better"), "follow": ("mean", "one")}
    ranges = SHARED_RANGES | {"m": at_least(1)}

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        return self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, self.choice["m"], self.n_features)

    def _shares(self, candidates, ranking, clicks):
        credit = self.comparison.credit(clicks, self.choice["m"] + 1)
        better = credit[:, 1:] > credit[:, :1]
        winners = better if self.choice["winners"] == "better" else self._winners(credit)
        if self.choice["follow"] == "one":
            return _one_of(winners, self.streams.uniforms(Stream.WINNER, self.round, 1)[:, 0]).to(torch.float32)
        return self._mean(winners)


class DPDBGD(_Multileaved):
    """Dual-point dueling bandit: ±u in one team draft with the current ranker, followed by contextual interleaving.

    The paper cites Zhao and King (2016) without details and no public code is known. Ours: of the two new directions,
    the one with a positive inner product with the direction that won the round before drafts first in every turn;
    after a round that no direction won, the draft order is random.
    """

    name = "DP-DBGD"
    revision = 1
    launches = 500
    numeric = _SHARED_NUMERIC
    structural = frozenset({"start", "prefix_credit"})

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.state["last_winner"] = torch.zeros_like(self.state["weights"])

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        u = self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, 1, self.n_features)
        return torch.cat([u, -u], dim=1)

    def _drafts_first(self) -> torch.Tensor:
        along = (self.directions[:, 0] * self.state["last_winner"]).sum(dim=1)
        return torch.where(along > 0, 1, torch.where(along < 0, 2, self.nobody))

    def _shares(self, candidates, ranking, clicks):
        winners = self._winners(self.comparison.credit(clicks, 3))
        shares = torch.where(winners.all(dim=1, keepdim=True), False, winners).to(torch.float32)
        self.state["last_winner"] = (shares[..., None] * self.directions).sum(dim=1)
        return shares


class CPS(DuelingBandit):
    """Candidate preselection (Hofmann et al., 2013), in its public form: of `n_candidates` uniform directions the one
    left after a knock-out on recorded interactions meets the current ranker in probabilistic interleaving.

    A match between two candidates replays every stored interaction (the latest `history`): the outcome, expected click
    credit of one less the other's per click, is weighted by P(list | the two) / P(list | the pair that it was shown
    under); the loser leaves, a drawn match is decided by a coin. Credit is marginalised over assignments.

    Further hyper-parameters: `n_candidates`, `history` (interactions kept), `tau` (τ of the softened rankings).
    """

    name = "CPS"
    revision = 1
    keeps_queries = True
    batch_seconds = 3e-3
    launches = 1500
    numeric = _SHARED_NUMERIC
    structural = frozenset({"start", "n_candidates", "history", "tau"})
    ranges = SHARED_RANGES | {"n_candidates": at_least(1), "history": at_least(1), "tau": ABOVE_0}

    @classmethod
    def round_cost(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> float:
        """All n candidates rank, and soften, the query of each recorded interaction."""
        n, history = (cast(int, hyperparameters[name]) for name in ("n_candidates", "history"))
        replayed = n * min(history, rounds)
        return cls.round_seconds + 2 * linear_seconds(shape, replayed, n)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.comparison = ProbabilisticInterleaving(self.ops, self.streams, float(self.choice["tau"]))
        self.state["queries"] = torch.full(
            (len(self.streams), self.choice["history"]), -1, dtype=torch.int64, device=self.device
        )

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        n = self.choice["n_candidates"]
        proposed = self.ops.unit_vectors(self.streams, Stream.DIRECTION, self.round, n, self.n_features)
        remaining = torch.ones(len(self.streams), n, dtype=torch.bool, device=self.device)
        words = self.streams.uniforms(Stream.MATCH, self.round, 3 * (n - 1))
        replayed = self._replay(candidates, proposed) if self.round > 1 else None
        for match in range(n - 1):
            one = _one_of(remaining, words[:, 3 * match])
            other = _one_of(remaining & ~one, words[:, 3 * match + 1])
            heads = words[:, 3 * match + 2] < 0.5
            lead = self._lead(replayed, one, other) if replayed is not None else torch.zeros_like(words[:, 0])
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
        """Weighted outcome of a match, positive when `one` is ahead: Float64[R]."""
        replicas = torch.arange(len(one), device=self.device)
        p, q = replayed[replicas, one.long().argmax(dim=1)], replayed[replicas, other.long().argmax(dim=1)]
        shown = self.state["lists"] >= 0
        mixture = 0.5 * (p + q)
        log_ratio = torch.where(shown, mixture.log(), 0.0).sum(dim=2) - self.state["log_probability"]
        clicks = self.state["clicks"]
        lead = (clicks * (p - q) / (p + q)).sum(dim=2) / clicks.sum(dim=2).clamp_min(1)
        return torch.where(self.state["queries"] >= 0, lead * log_ratio.exp(), 0.0).sum(dim=1)

    def _interleave(self, candidates: Candidates, depth: int) -> torch.Tensor:
        return self.comparison.interleave(candidates, self.contenders, depth, self.round)

    def _shares(self, candidates, ranking, clicks):
        self._remember(candidates, ranking, clicks)
        credit = self.comparison.credit(clicks)
        return (credit[:, 1:] > credit[:, :1]).to(torch.float32)

    def _remember(self, candidates: Candidates, ranking: torch.Tensor, clicks: torch.Tensor) -> None:
        if self.round == 1:
            places = (*self.state["queries"].shape, ranking.shape[1])
            self.state["lists"] = torch.full(places, -1, dtype=torch.int64, device=self.device)
            self.state["clicks"] = torch.zeros(places, dtype=torch.bool, device=self.device)
            self.state["log_probability"] = torch.zeros(places[:2], dtype=torch.float64, device=self.device)
        place = (self.round - 1) % self.choice["history"]
        self.state["queries"][:, place] = candidates.query
        self.state["lists"][:, place] = ranking
        self.state["clicks"][:, place] = clicks
        self.state["log_probability"][:, place] = self.comparison.log_probability


class NSGD(_Multileaved):
    """Null space gradient descent (Wang et al., 2018, Algorithm 2).

    Candidates come from the null space of directions that lost recently, the `k_g` worst of a queue; of `n` drawn, the
    `m` with the largest |x̄ᵀg| meet the current ranker; a tie is broken by NDCG on the `k_h` worst of the last `T_h`
    queries with a click, their clicked documents being the relevant ones.

    Further hyper-parameters: `m`, `n` (n = m: no preselection), `k_g`, `T_g`, `k_h`, `T_h`; `lag` and `epsilon` of the
    hybrid sampling; and the readings of what the paper leaves open, with those of the authors' public code where they
    differ ("code"):

    - `queue`: what the length `T_g` of Q_g counts, losing `"directions"` (section 3.2; code), or `"rounds"` with any;
    - `losers`: what enters Q_g, all `"below_current"` or of these the `"fourth_smallest"` credit and less (code);
    - `sampling`: from an `"orthonormal"` basis of the null space, or `"echelon"` (code): Gaussian combinations of the
      unit vectors along the basis that Gaussian elimination gives;
    - `hybrid`: basis vectors until cos(w_t, w_{t−lag}) > 1 − ε, `"cosine"`; until ‖w_t − w_{t−lag}‖ < 1 − ε, as
      printed, `"literal"`; `"never"` (code);
    - `winners`: those with the `"best"` credit, the current ranker included (line 20), or all `"better"` than the
      current ranker (code);
    - `tie_break`: which winner is followed. `"history"`: the best on the hardest queries of Q_h (lines 22-23); `"mean"`
      of the winners, as MGD; `"early"` (code): while fewer than k_h queries are recorded, this round's included, the
      one with the largest sum of reciprocal ranks of their clicked documents, from then on the mean. The latter two
      take no step where the current ranker is among the winners;
    - `click_free`: whether rounds without a click count, `"literal"`, or `"skip"`;
    - `n_uniform`: how many of the m candidates come uniformly from the whole space instead (Figure 5b).
    """

    name = "NSGD"
    revision = 2
    keeps_queries = True
    round_seconds = 45e-6
    batch_seconds = 2e-3
    launches = 1500
    exact_diagnostics = ("null_proposed", "null_won", "uniform_proposed", "uniform_won")
    numeric = _SHARED_NUMERIC | {"k_g", "k_h", "epsilon"}
    structural = frozenset(
        "start prefix_credit m n n_uniform T_g T_h lag "
        "queue losers sampling hybrid winners tie_break click_free".split()
    )
    words: ClassVar = DuelingBandit.words | {
        "queue": ("directions", "rounds"),
        "losers": ("below_current", "fourth_smallest"),
        "sampling": ("orthonormal", "echelon"),
        "hybrid": ("cosine", "literal", "never"),
        "winners": ("best", "better"),
        "tie_break": ("history", "mean", "early"),
        "click_free": ("skip", "literal"),
    }
    ranges = (
        SHARED_RANGES
        | dict.fromkeys(("m", "n", "T_g", "T_h", "lag"), at_least(1))
        | dict.fromkeys(("n_uniform", "k_g", "k_h", "epsilon"), at_least(0))
    )

    @classmethod
    def round_cost(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> float:
        """Besides the contenders: n directions are reflected at (or solved for) the k_g stored ones, which come first
        into a basis; ties are broken on k_h queries."""
        m, n, k_g, k_h = (cast(float, hyperparameters[name]) for name in ("m", "n", "k_g", "k_h"))
        solved = 8.0 if hyperparameters["sampling"] == "echelon" else 1.0
        basis = solved * shape.features * k_g * (k_g + n) * 1.8e-9
        history = linear_seconds(shape, m + 1) * k_h * 0.1 if hyperparameters["tie_break"] == "history" else 0.0
        return cls.round_seconds + linear_seconds(shape, m + 1, n) + basis + history

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """The queues: Q_g and the past weights are vectors, Q_h is lists."""
        m, lag, of_g, of_h = (cast(int, hyperparameters[name]) for name in ("m", "lag", "T_g", "T_h"))
        places = of_g * (1 if hyperparameters["queue"] == "directions" else m)
        return super().memory(hyperparameters, shape, rounds) + 4 * shape.features * (places + lag) + 128 * of_h

    @classmethod
    def check(cls, hyperparameters: Mapping[str, object]) -> None:
        super().check(hyperparameters)
        m, n, n_uniform = (cast(int, hyperparameters[name]) for name in ("m", "n", "n_uniform"))
        if n_uniform > m:
            raise ValueError(f"{cls.name}: n_uniform must be at most m = {m}, not {n_uniform}")
        if n < m - n_uniform:
            raise ValueError(f"{cls.name}: n must be at least m - n_uniform = {m - n_uniform}, not {n}")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        replicas, d = len(self.streams), self.n_features
        self.width_g, self.width_h = int(self.number["k_g"].max()), int(self.number["k_h"].max())
        self.places = self.choice["T_g"] * (1 if self.choice["queue"] == "directions" else self.choice["m"])

        def full(*shape, value, dtype):
            return torch.full((replicas, *shape), value, dtype=dtype, device=self.device)

        self.state |= {
            "g": full(self.places, d, value=0.0, dtype=torch.float32),
            "q": full(self.places, value=0.0, dtype=torch.float32),
            "lost_in": full(self.places, value=0, dtype=torch.int64),  # which of the rounds that had a loser
            "n_g": full(value=0, dtype=torch.int64),  # directions stored so far
            "n_lost": full(value=0, dtype=torch.int64),  # rounds that had a loser so far
            "past_weights": self.state["weights"][:, None].repeat(1, self.choice["lag"], 1),
            "queries": full(self.choice["T_h"], value=-1, dtype=torch.int64),
            "quality": full(self.choice["T_h"], value=torch.inf, dtype=torch.float64),
            "n_h": full(value=0, dtype=torch.int64),
            "null_won": full(value=0.0, dtype=torch.float32),
            "uniform_won": full(value=0.0, dtype=torch.float32),
        }
        self.everyone = torch.arange(replicas, device=self.device)

    # 1. Null space gradient exploration (lines 8-12)

    def _worst_directions(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The k_g worst directions of Q_g, the newest first among equals: Float32[R, K, features] and Bool[R, K]."""
        age = (self.state["n_g"][:, None] - 1 - torch.arange(self.places, device=self.device)) % self.places
        stored = self.state["q"] < 0
        if self.choice["queue"] == "rounds":
            stored &= self.state["lost_in"] > (self.state["n_lost"] - self.choice["T_g"])[:, None]
        order_key = torch.where(stored, self.state["q"] * self.places + age, torch.inf)
        order_key, order = order_key.sort(dim=1, stable=True)
        width = min(self.width_g, self.places)
        order, order_key = order[:, :width], order_key[:, :width]
        chosen = self.state["g"][self.everyone[:, None], order]
        ranks = torch.arange(width, device=self.device)
        return chosen, order_key.isfinite() & (ranks < self.number["k_g"][:, None])

    def _moving(self) -> torch.Tensor:
        """Whether the ranker still moves, so that basis vectors are drawn: Bool[R]."""
        now, then = self.state["weights"], self.state["past_weights"][:, (self.round - 1) % self.choice["lag"]]
        if self.choice["hybrid"] == "never":
            return torch.zeros_like(self.alive)
        if self.choice["hybrid"] == "literal":
            return (now - then).norm(dim=1) >= 1 - self.number["epsilon"]
        cosine = (_unit(now) * _unit(then)).sum(dim=1)
        return (cosine <= 1 - self.number["epsilon"]) | (self.round <= self.choice["lag"])

    def _coordinates(self, rank: torch.Tensor, n: int) -> torch.Tensor:
        """Coordinates of n candidates where the last d − rank vectors of the basis span the null space: [R, n, d]."""
        d = self.n_features
        axis = torch.arange(d, device=self.device)
        free = axis >= rank[:, None]
        z = self.streams.gaussians(Stream.DIRECTION, self.round, n * d).view(-1, n, d)
        z = torch.where(free[:, None], z, 0.0)
        if self.choice["hybrid"] == "never" or not bool((moving := self._moving()).any()):
            return z
        words = self.streams.uniforms(Stream.BASIS, self.round, d + n)
        shuffled = torch.where(free, words[:, :d], 2.0).argsort(dim=1)[:, :n]
        signs = torch.where(words[:, d : d + shuffled.shape[1]] < 0.5, -1.0, 1.0)
        basis = torch.zeros_like(z)
        basis[:, : shuffled.shape[1]].scatter_(2, shuffled[..., None], signs[..., None])
        # without replacement: candidates beyond the number of basis vectors stay random unit vectors
        of_basis = moving[:, None] & (torch.arange(n, device=self.device) < (d - rank)[:, None])
        return torch.where(of_basis[..., None], basis, z)

    def _null_space(self, n: int) -> torch.Tensor:
        """n unit vectors in the null space of the worst directions; in the whole space when none is left."""
        worst, used = self._worst_directions()
        if self.choice["sampling"] == "echelon":
            return _unit(self._echelon(worst, used, n))
        v, rank = self.ops.reflectors(worst, used)
        spanned = rank == self.n_features
        v, rank = torch.where(spanned[:, None, None], 0.0, v), torch.where(spanned, 0, rank)
        return _unit(self.ops.reflect(v, self._coordinates(rank, n)))

    def _echelon(self, worst: torch.Tensor, used: torch.Tensor, n: int) -> torch.Tensor:
        """Gaussian combinations of the null-space basis that Gauss-Jordan elimination gives, each vector scaled to
        length one: free coordinates are drawn, the pivots' solve G x = 0; the whole space once no column is free."""
        d = self.n_features
        z = self.streams.gaussians(Stream.DIRECTION, self.round, n * d).view(-1, n, d)
        if not worst.shape[1]:
            return z
        rows = torch.where(used[..., None], worst, 0.0)
        taken, column = torch.zeros_like(used), torch.zeros_like(used, dtype=torch.int64)
        free = torch.ones_like(z[:, 0], dtype=torch.bool)
        for c in range(d):
            largest, row = torch.where(taken, 0.0, rows[..., c].abs()).max(dim=1)
            new = largest > 1e-4  # what float32 leaves of a dependent direction is below
            own = rows[self.everyone, row]
            pivot = torch.where(new[:, None], own / torch.where(new, own[:, c], 1.0)[:, None], 0.0)
            rows = rows - rows[..., c, None] * pivot[:, None]
            rows[self.everyone, row] = torch.where(new[:, None], pivot, own)
            taken[self.everyone, row] |= new
            column[self.everyone, row] = torch.where(new, c, column[self.everyone, row])
            free[:, c] = ~new
        length = (1.0 + torch.where(taken[..., None], rows * rows, 0.0).sum(dim=1)).sqrt()  # of a free column's vector
        drawn = torch.where(free[:, None], z / length[:, None], 0.0)
        solved = torch.where(taken[:, None], -(rows[:, None] * drawn[:, :, None]).sum(dim=3), 0.0)
        solution = drawn.scatter_add(2, column[:, None].expand(-1, n, -1), solved)
        return torch.where(free.any(dim=1)[:, None, None], solution, z)

    # 2. Context-dependent preselection (line 13)

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        n, n_uniform = self.choice["n"], self.choice["n_uniform"]
        kept = self.choice["m"] - n_uniform
        uniform = self.ops.unit_vectors(self.streams, Stream.MIX, self.round, n_uniform, self.n_features)
        if not kept:
            return uniform
        drawn = self._null_space(n)
        if n > kept:
            along = (drawn * candidates.totals[candidates.query][:, None]).sum(dim=2).abs()
            drawn = drawn[self.everyone[:, None], along.topk(kept, dim=1).indices]
        return torch.cat([drawn, uniform], dim=1)

    # 3. Whom to follow: credits, and history-dependent tie breaking (lines 19-31)

    def _shares(self, candidates, ranking, clicks):
        if self.round == 1:
            places = (*self.state["queries"].shape, ranking.shape[1])
            self.state["lists"] = torch.full(places, -1, dtype=torch.int64, device=self.device)
            self.state["clicks"] = torch.zeros(places, dtype=torch.bool, device=self.device)
        credit = self.comparison.credit(clicks, self.choice["m"] + 1)
        counted = clicks.any(dim=1) | (self.choice["click_free"] == "literal")
        winners = self._winner_set(credit) & counted[:, None]
        if self.choice["tie_break"] == "early":
            self._remember_query(candidates, ranking, clicks, counted)
            shares = self._mean(self._best_early(candidates, self._unless_current(winners))[:, 1:])
        else:
            shares = self._follow(candidates, winners)
            self._remember_query(candidates, ranking, clicks, counted)
        self._remember_losers(credit)
        kept = self.choice["m"] - self.choice["n_uniform"]
        self.state["null_won"] += (shares[:, :kept] > 0).sum(dim=1)
        self.state["uniform_won"] += (shares[:, kept:] > 0).sum(dim=1)
        self.state["past_weights"][:, (self.round - 1) % self.choice["lag"]] = self.state["weights"]
        return shares

    def _winner_set(self, credit: torch.Tensor) -> torch.Tensor:
        """B_t of line 20, the current ranker first: Bool[R, m + 1]."""
        if self.choice["winners"] == "better":
            return credit > credit[:, :1]
        return credit == credit.amax(dim=1, keepdim=True)

    @staticmethod
    def _unless_current(winners: torch.Tensor) -> torch.Tensor:
        """The winners, nobody where the current ranker is one of them."""
        return winners & ~winners[:, :1]

    def _follow(self, candidates: Candidates, winners: torch.Tensor) -> torch.Tensor:
        """Shares of the candidates where ties go to the mean, or by history to one, last of all at random."""
        if self.choice["tie_break"] == "mean":
            return self._mean(self._unless_current(winners)[:, 1:])
        if self.width_h and bool((winners.sum(dim=1) > 1).any()):
            winners = self._best_on_history(candidates, winners, winners, "ndcg")
        one = _one_of(winners, self.streams.uniforms(Stream.WINNER, self.round, 1)[:, 0])
        return one[:, 1:].to(torch.float32)

    def _best_early(self, candidates: Candidates, winners: torch.Tensor) -> torch.Tensor:
        """Public code's tie-break: one winner while Q_h is short, and of equals the one that was preselected first."""
        early = winners & (self.state["n_h"] < self.number["k_h"])[:, None]
        if not bool((early.sum(dim=1) > 1).any()):
            return winners
        best = self._best_on_history(candidates, winners, early, "reciprocal_rank")
        return torch.where(early.any(dim=1, keepdim=True), best & (best.cumsum(dim=1) == 1), winners)

    def _best_on_history(
        self, candidates: Candidates, winners: torch.Tensor, tied: torch.Tensor, measure: str
    ) -> torch.Tensor:
        """Of the winners those that are best on the hardest recorded queries; all, where fewer than two are tied."""
        score = self.ops.clicks_score(candidates, *self._hard_queries(), self.contenders, tied, measure)
        # in units of 1e-9, so that the order in which equal gains are summed breaks no tie
        score = torch.where(winners, (score * 1e9).round(), -1.0)
        return winners & (score == score.amax(dim=1, keepdim=True))

    def _hard_queries(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The k_h worst queries of Q_h, the newest first among equals: queries, lists and clicks, [R, H, …]."""
        slots = self.choice["T_h"]
        age = (self.state["n_h"][:, None] - 1 - torch.arange(slots, device=self.device)) % slots
        order = (torch.round(self.state["quality"] * 1e6) * slots + age).sort(dim=1, stable=True).indices
        order = order[:, : self.width_h]
        rows = self.everyone[:, None]
        wanted = torch.arange(order.shape[1], device=self.device) < self.number["k_h"][:, None]
        queries = torch.where(wanted, self.state["queries"][rows, order], -1)
        return queries, self.state["lists"][rows, order], self.state["clicks"][rows, order]

    # 4. Memory: Q_g, Q_h (lines 32-38)

    def _remember_losers(self, credit: torch.Tensor) -> None:
        """Append to Q_g, candidate after candidate, which drops the oldest for each."""
        quality = credit[:, 1:] - credit[:, :1]
        losers = quality < 0
        if self.choice["losers"] == "fourth_smallest":
            losers &= credit[:, 1:] <= credit.sort(dim=1).values[:, min(3, credit.shape[1] - 1), None]
        nth, total = losers.cumsum(dim=1) - 1, losers.sum(dim=1)
        rows, i = (losers & (nth >= (total - self.places)[:, None])).nonzero(as_tuple=True)
        place = (self.state["n_g"][rows] + nth[rows, i]) % self.places
        self.state["n_g"] += total
        self.state["n_lost"] += total > 0
        self.state["g"][rows, place] = self.directions[rows, i]
        self.state["q"][rows, place] = quality[rows, i]
        self.state["lost_in"][rows, place] = self.state["n_lost"][rows]

    def _remember_query(self, candidates, ranking, clicks, counted) -> None:
        rows = counted.nonzero()[:, 0]
        place = self.state["n_h"][rows] % self.choice["T_h"]
        discount = 1.0 / torch.log2(torch.arange(2, clicks.shape[1] + 2, device=self.device, dtype=torch.float64))
        ideal = torch.cat([discount.new_ones(1), discount.cumsum(0)])[clicks.sum(dim=1)]
        self.state["queries"][rows, place] = candidates.query[rows]
        self.state["lists"][rows, place] = ranking[rows]
        self.state["clicks"][rows, place] = clicks[rows]
        self.state["quality"][rows, place] = ((clicks * discount).sum(dim=1) / ideal)[rows]
        self.state["n_h"][rows] += 1

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Candidates proposed and followed so far, by where they came from (Figure 5b)."""
        rounds = torch.full_like(self.state["null_won"], self.round - 1)
        n_uniform = self.choice["n_uniform"]
        return {
            "null_proposed": rounds * (self.choice["m"] - n_uniform),
            "null_won": self.state["null_won"],
            "uniform_proposed": rounds * n_uniform,
            "uniform_won": self.state["uniform_won"],
        }
