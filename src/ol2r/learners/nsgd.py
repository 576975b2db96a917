"""Null space gradient descent (Wang et al., 2018): dueling bandit gradient descent that explores where it has not lost.

The file follows Algorithm 2 line by line. The rest is shared with other learners: `DuelingBandit` has the candidates
and the step (lines 14-15 and 27-31), `Multileaved` has the multileaving (lines 16-18).
"""

from collections.abc import Mapping
from functools import cached_property
from typing import cast

import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from ol2r.cost import Shape
from ol2r.learners.base import linear_seconds
from ol2r.learners.dueling import Multileaved, no_interactions, one_of
from ol2r.parameters import Choice, Number, Value
from ol2r.random import Stream
from ol2r.ranking import Candidates
from ol2r.ranking.constants import discounts_on, ideal_on, numbers


class NSGD(Multileaved):
    """Null space gradient descent (Wang et al., 2018, Algorithm 2).

    Candidates come from the null space of directions that lost recently, the `k_g` worst of a queue. Of `n` drawn
    directions, the `m` with the largest |x̄ᵀg| are compared with the current ranker. A tie is broken by NDCG on the
    `k_h` worst of the last `T_h` queries with a click, with the clicked documents as the relevant ones.

    Further hyper-parameters: `m`, `n` (n = m: no preselection), `k_g`, `T_g`, `k_h`, `T_h`; `lag` and `epsilon` of the
    hybrid sampling; and choices where the paper is open to several readings or the authors' public code ("code")
    differs from it:

    - `queue`: what the length `T_g` of Q_g counts: losing `"directions"` (section 3.2; code), or `"rounds"` that had
      any;
    - `losers`: which directions enter Q_g: all with less credit than the current ranker, `"below_current"`, or of these
      only those with at most the `"fourth_smallest"` credit (code);
    - `sampling`: how directions are drawn: from an `"orthonormal"` basis of the null space, or `"row_echelon"` (code),
      as Gaussian combinations of the unit vectors along the basis that Gaussian elimination gives;
    - `hybrid`: how long basis vectors are drawn: `"cosine"`, until cos(w_t, w_{t−lag}) > 1 − ε; `"literal"`, until
      ‖w_t − w_{t−lag}‖ < 1 − ε, as printed; `"never"` (code);
    - `winners`: who wins: those with the `"best"` credit, the current ranker included (line 20), or all `"better"` than
      the current ranker (code);
    - `tie_break`: which winner is followed. `"history"`: the best on the hardest queries of Q_h (lines 22-23).
      `"mean"`: the mean of the winners, as in MGD. `"early"` (code): while fewer than k_h queries are recorded, with
      this round's, the winner with the largest sum of reciprocal ranks of their clicked documents, and later the mean.
      `"mean"` and `"early"` take no step if the current ranker is among the winners;
    - `click_free`: whether rounds without a click count (`"literal"`) or not (`"skip"`);
    - `n_uniform`: how many of the m candidates are drawn uniformly from the whole space instead (Figure 5b).
    """

    name = "NSGD"
    revision = 2
    keeps_queries = True
    round_seconds = 45e-6
    launches = 800
    exact_diagnostics = ("null_proposed", "null_won", "uniform_proposed", "uniform_won")
    numeric = Multileaved.numeric | {
        "k_g": Number(least=0, whole=True),
        "k_h": Number(least=0, whole=True),
        "epsilon": Number(least=0),
    }
    structural = (
        Multileaved.structural
        | dict.fromkeys(("m", "n", "T_g", "T_h", "lag"), Number(least=1, whole=True))
        | {
            "n_uniform": Number(least=0, whole=True),
            "queue": Choice("directions", "rounds"),
            "losers": Choice("below_current", "fourth_smallest"),
            "sampling": Choice("orthonormal", "row_echelon"),
            "hybrid": Choice("cosine", "literal", "never"),
            "winners": Choice("best", "better"),
            "tie_break": Choice("history", "mean", "early"),
            "click_free": Choice("skip", "literal"),
        }
    )

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """The family's cost, and further: making a basis of the k_g stored directions, reflecting (or solving for) n
        directions, and breaking ties on k_h queries."""
        m, n, k_g, k_h = (cast(int, hyperparameters[name]) for name in ("m", "n", "k_g", "k_h"))
        solved = 8.0 if hyperparameters["sampling"] == "row_echelon" else 1.0
        basis = solved * shape.features * k_g * (k_g + n) * 1.8e-9
        history = linear_seconds(shape, m + 1) * k_h * 0.1 if hyperparameters["tie_break"] == "history" else 0.0
        return {"lists": linear_seconds(shape, m + 1, n), "basis": basis, "history": history}

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of the queues: Q_g and the past weights hold vectors, Q_h holds lists."""
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

    def initial(self) -> dict[str, torch.Tensor]:
        """Lines 2-3: the first weights, and the empty queues Q_g and Q_h."""
        state = super().initial()

        def full(*shape, value, dtype):
            return torch.full((len(self.streams), *shape), value, dtype=dtype, device=self.device)

        losers = {
            "g": full(self.places, self.n_features, value=0.0, dtype=torch.float32),
            "q": full(self.places, value=0.0, dtype=torch.float32),
            "lost_in": full(self.places, value=0, dtype=torch.int64),  # number of the round among those with a loser
            "n_g": full(value=0, dtype=torch.int64),  # directions stored so far
            "n_lost": full(value=0, dtype=torch.int64),  # rounds that had a loser so far
        }
        queries = no_interactions(len(self.streams), self.choice["T_h"], 0, self.device) | {
            "quality": full(self.choice["T_h"], value=torch.inf, dtype=torch.float64),
            "n_h": full(value=0, dtype=torch.int64),  # queries recorded so far
        }
        further = {
            "n_rounds": full(value=0, dtype=torch.int64),  # rounds so far
            "past_weights": self._past(state["weights"]),
            "null_won": full(value=0.0, dtype=torch.float32),
            "uniform_won": full(value=0.0, dtype=torch.float32),
        }
        return state | losers | queries | further

    def _begin_from(self, weights: Float64[Tensor, "R d"]) -> None:
        super()._begin_from(weights)
        self.state["past_weights"] = self._past(self.state["weights"])

    def _past(self, weights: Float32[Tensor, "R d"]) -> Float32[Tensor, "R lag d"]:
        """The weights of the rounds before the first, which are those of the first."""
        return weights[:, None].repeat(1, self.choice["lag"], 1)

    @cached_property
    def places(self) -> int:
        """Number of directions for which Q_g has room."""
        return self.choice["T_g"] * (1 if self.choice["queue"] == "directions" else self.choice["m"])

    @cached_property
    def width_g(self) -> int:
        """The largest k_g of any replica."""
        return int(self.number["k_g"].max())

    @cached_property
    def width_h(self) -> int:
        """The largest k_h of any replica."""
        return int(self.number["k_h"].max())

    # The round: before the list is shown, and after the clicks

    def _propose(self, candidates: Candidates) -> torch.Tensor:
        """Lines 7-13: draw n directions in the null space of the worst losers; keep the m that move the query most."""
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

    def _shares(self, candidates, ranking, clicks):
        """Lines 19-26 and 32-38: credits, the winner, and what goes into the queues."""
        if self.state["lists"].shape[2] != ranking.shape[1]:  # before the first list, its length is not known
            replicas, places = self.state["queries"].shape
            self.state |= no_interactions(replicas, places, ranking.shape[1], self.device)
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
        self.state["past_weights"][self.everyone, self._lag_place()] = self.state["weights"]
        self.state["n_rounds"] += 1
        return shares

    # Lines 8-12: null space gradient exploration

    def _worst_directions(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Line 8: the k_g worst directions of Q_g, the newest first among equals, Float32[R, K, features]; and which of
        these rows hold a direction, Bool[R, K]."""
        age = (self.state["n_g"][:, None] - 1 - numbers(self.places, self.device)) % self.places
        stored = self.state["q"] < 0
        if self.choice["queue"] == "rounds":
            stored &= self.state["lost_in"] > (self.state["n_lost"] - self.choice["T_g"])[:, None]
        order_key = torch.where(stored, self.state["q"] * self.places + age, torch.inf)
        order_key, order = order_key.sort(dim=1, stable=True)
        width = min(self.width_g, self.places)
        order, order_key = order[:, :width], order_key[:, :width]
        chosen = self.state["g"][self.everyone[:, None], order]
        return chosen, order_key.isfinite() & (numbers(width, self.device) < self.number["k_g"][:, None])

    def _null_space(self, n: int) -> torch.Tensor:
        """Lines 9-12: n unit vectors in the null space of the worst directions, or in the whole space if it is zero."""
        worst, used = self._worst_directions()
        if self.choice["sampling"] == "row_echelon":
            z = self.streams.gaussians(Stream.DIRECTION, self.round, n * self.n_features)
            return _unit(_echelon(worst, used, z.view(-1, n, self.n_features)))
        v, rank = self.ops.reflectors(worst, used)
        spanned = rank == self.n_features
        v, rank = torch.where(spanned[:, None, None], 0.0, v), torch.where(spanned, 0, rank)
        return _unit(self.ops.reflect(v, self._coordinates(rank, n)))

    def _coordinates(self, rank: torch.Tensor, n: int) -> torch.Tensor:
        """Coordinates of n candidates in a basis whose last d − rank vectors span the null space: [R, n, d]."""
        d = self.n_features
        free = numbers(d, self.device) >= rank[:, None]
        z = self.streams.gaussians(Stream.DIRECTION, self.round, n * d).view(-1, n, d)
        z = torch.where(free[:, None], z, 0.0)
        if self.choice["hybrid"] == "never" or not self._worthwhile(moving := self._moving()):
            return z
        words = self.streams.uniforms(Stream.BASIS, self.round, d + n)
        shuffled = torch.where(free, words[:, :d], 2.0).argsort(dim=1)[:, :n]
        signs = torch.where(words[:, d : d + shuffled.shape[1]] < 0.5, -1.0, 1.0)
        basis = torch.zeros_like(z)
        basis[:, : shuffled.shape[1]].scatter_(2, shuffled[..., None], signs[..., None])
        # without replacement: candidates beyond the number of basis vectors stay random unit vectors
        of_basis = moving[:, None] & (numbers(n, self.device) < (d - rank)[:, None])
        return torch.where(of_basis[..., None], basis, z)

    def _lag_place(self) -> torch.Tensor:
        """Where the weights of `lag` rounds ago stand among the past ones, and this round's will: Int64[R]."""
        return self.state["n_rounds"] % self.choice["lag"]

    def _moving(self) -> torch.Tensor:
        """Whether the ranker still moves by the `hybrid` rule, so that basis vectors are drawn: Bool[R]."""
        now, then = self.state["weights"], self.state["past_weights"][self.everyone, self._lag_place()]
        if self.choice["hybrid"] == "never":
            return torch.zeros_like(self.alive)
        if self.choice["hybrid"] == "literal":
            return (now - then).norm(dim=1) >= 1 - self.number["epsilon"]
        cosine = (_unit(now) * _unit(then)).sum(dim=1)
        return (cosine <= 1 - self.number["epsilon"]) | (self.state["n_rounds"] < self.choice["lag"])

    # Lines 20-26: the winner set, and history-dependent tie breaking

    def _winner_set(self, credit: torch.Tensor) -> torch.Tensor:
        """Line 20: B_t, the current ranker first: Bool[R, m + 1]."""
        if self.choice["winners"] == "better":
            return credit > credit[:, :1]
        return credit == credit.amax(dim=1, keepdim=True)

    @staticmethod
    def _unless_current(winners: torch.Tensor) -> torch.Tensor:
        """The winners, or none if the current ranker is one of them."""
        return winners & ~winners[:, :1]

    def _follow(self, candidates: Candidates, winners: torch.Tensor) -> torch.Tensor:
        """Lines 21-26: each candidate's share of the step. Ties go to the mean, or to the winner that is best on the
        history, chosen at random if several are."""
        if self.choice["tie_break"] == "mean":
            return self._mean(self._unless_current(winners)[:, 1:])
        if self.width_h and self._worthwhile(winners.sum(dim=1) > 1):
            winners = self._best_on_history(candidates, winners, winners, "ndcg")
        one = one_of(winners, self.streams.uniforms(Stream.WINNER, self.round, 1)[:, 0])
        return one[:, 1:].to(torch.float32)

    def _best_early(self, candidates: Candidates, winners: torch.Tensor) -> torch.Tensor:
        """Public code's tie-break while Q_h is short: the best winner, and of equal ones the first preselected."""
        early = winners & (self.state["n_h"] < self.number["k_h"])[:, None]
        if not self._worthwhile(early.sum(dim=1) > 1):
            return winners
        best = self._best_on_history(candidates, winners, early, "reciprocal_rank")
        return torch.where(early.any(dim=1, keepdim=True), best & (best.cumsum(dim=1) == 1), winners)

    def _hard_queries(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Line 22: queries, lists and clicks of the k_h worst queries of Q_h, newest first among equals: [R, H, …]."""
        slots = self.choice["T_h"]
        age = (self.state["n_h"][:, None] - 1 - numbers(slots, self.device)) % slots
        order = (torch.round(self.state["quality"] * 1e6) * slots + age).sort(dim=1, stable=True).indices
        order = order[:, : self.width_h]
        rows = self.everyone[:, None]
        wanted = numbers(order.shape[1], self.device) < self.number["k_h"][:, None]
        queries = torch.where(wanted, self.state["queries"][rows, order], -1)
        return queries, self.state["lists"][rows, order], self.state["clicks"][rows, order]

    def _best_on_history(
        self, candidates: Candidates, winners: torch.Tensor, tied: torch.Tensor, measure: str
    ) -> torch.Tensor:
        """Line 23: the winners that are best on the hardest queries, or all if fewer than two are tied."""
        score = self.ops.clicks_score(candidates, *self._hard_queries(), self.contenders, tied, measure)
        # rounded to 1e-9, so that the order in which equal gains are summed breaks no tie
        score = torch.where(winners, (score * 1e9).round(), -1.0)
        return winners & (score == score.amax(dim=1, keepdim=True))

    # Lines 32-38: what goes into Q_g and Q_h

    def _remember_losers(self, credit: torch.Tensor) -> None:
        """Lines 32-37: append the losers to Q_g one by one; once it is full, each replaces the oldest entry."""
        quality = credit[:, 1:] - credit[:, :1]
        losers = quality < 0
        if self.choice["losers"] == "fourth_smallest":
            losers &= credit[:, 1:] <= credit.sort(dim=1).values[:, min(3, credit.shape[1] - 1), None]
        nth, total = losers.cumsum(dim=1) - 1, losers.sum(dim=1)
        stored = losers & (nth >= (total - self.places)[:, None])
        place = (self.state["n_g"][:, None] + nth) % self.places
        self.state["n_g"] += total
        self.state["n_lost"] += total > 0
        lands = stored[..., None] & (place[..., None] == numbers(self.places, self.device))
        filled, loser = lands.max(dim=1)  # of each place of Q_g
        self._store("g", filled, self.directions.gather(1, loser[..., None].expand(-1, -1, self.n_features)))
        self._store("q", filled, quality.gather(1, loser))
        self._store("lost_in", filled, self.state["n_lost"][:, None])

    def _remember_query(self, candidates, ranking, clicks, counted) -> None:
        """Line 38: append the query to Q_h, with the quality of its list according to the clicks."""
        slots, depth = self.choice["T_h"], clicks.shape[1]
        gained = (clicks * discounts_on(depth, self.device)).sum(dim=1)
        ideal = ideal_on(depth, self.device)[clicks.sum(dim=1)].clamp_min(1.0)  # 0 only without a click
        filled = counted[:, None] & ((self.state["n_h"] % slots)[:, None] == numbers(slots, self.device))
        self._store("queries", filled, candidates.query[:, None])
        self._store("lists", filled, ranking[:, None])
        self._store("clicks", filled, clicks[:, None])
        self._store("quality", filled, (gained / ideal)[:, None])
        self.state["n_h"] += counted

    def _store(self, name: str, filled: torch.Tensor, values: torch.Tensor) -> None:
        """Overwrite the places of a queue that are filled anew, Bool[R, places], with values [R, places or 1, …]."""
        queue = self.state[name]
        torch.where(filled.view(*filled.shape, *[1] * (queue.dim() - 2)), values, queue, out=queue)

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


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp_min(1e-30)


def _echelon(worst: torch.Tensor, used: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Combinations of the null-space basis that Gauss-Jordan elimination gives, with each basis vector scaled to length
    one: z gives the free coordinates, and the pivot coordinates solve G x = 0. If no column is free, the vectors are in
    the whole space. The elimination goes feature by feature, on a device with about twenty launches for each.

    Args:
        worst: Float32[R, K, d], rows of G; used: Bool[R, K], which rows hold a direction.
        z: Float32[R, n, d], coefficients; only those of free columns count.
    """
    if not worst.shape[1]:
        return z
    everyone = torch.arange(len(z), device=z.device)
    rows = torch.where(used[..., None], worst, 0.0)
    taken, column = torch.zeros_like(used), torch.zeros_like(used, dtype=torch.int64)
    free = torch.ones_like(z[:, 0], dtype=torch.bool)
    for c in range(z.shape[2]):
        largest, row = torch.where(taken, 0.0, rows[..., c].abs()).max(dim=1)
        new = largest > 1e-4  # float32 leaves less than this of a dependent direction
        own = rows[everyone, row]
        pivot = torch.where(new[:, None], own / torch.where(new, own[:, c], 1.0)[:, None], 0.0)
        rows = rows - rows[..., c, None] * pivot[:, None]
        rows[everyone, row] = torch.where(new[:, None], pivot, own)
        taken[everyone, row] |= new
        column[everyone, row] = torch.where(new, c, column[everyone, row])
        free[:, c] = ~new
    pivots = torch.where(taken[..., None], rows, 0.0)
    length = torch.cat([torch.ones_like(pivots[:, :1]), pivots], dim=1).norm(dim=1)  # of a free column's vector
    drawn = torch.where(free[:, None], z / length[:, None], 0.0)
    solved = torch.where(taken[:, None], -(rows[:, None] * drawn[:, :, None]).sum(dim=3), 0.0)
    solution = drawn.scatter_add(2, column[:, None].expand(-1, z.shape[1], -1), solved)
    return torch.where(free.any(dim=1)[:, None, None], solution, z)
