"""Audits of PairRank's confidence intervals and regret bounds, in worlds where their assumptions hold and where not.

A world is *realizable*: documents with ‖x‖ ≤ u, weights ‖θ*‖ = Q, and users who click each document independently with
probability σ(x·θ* + b), so that of two documents of which one was clicked it was i with probability σ(x_ij·θ*). Many
worlds run side by side through the learner's own `rank` and `observe`. Examination says what becomes of the clicks:

    "whole"     the user sees the whole list and the learner knows it: the theorems' assumption;
    "inferred"  the user sees the whole list, the learner infers examination from the last click;
    "cascade"   the user stops after a click with probability `stop`, the learner infers.

Tables and ratios are those of `ol2r.papers.audits`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy import special

from ol2r.cost import Cost
from ol2r.experiments.cells import Row
from ol2r.experiments.kinds.on_dataset import compiling
from ol2r.learners import LEARNERS
from ol2r.papers.audits import Audit
from ol2r.random import Stream, Streams, generator, replica_key
from ol2r.ranking import Candidates
from ol2r.theory import confidence

EXAMINATIONS = ("whole", "inferred", "cascade")
RATIOS = ("martingale", "interval", "interval inside", "interval unprojected", "potential")
"""Quantities that theory keeps at or below one: the first two and the fourth with probability 1 − δ (the fourth without
proof), "interval inside" for the width without the factor 2 where ‖θ̃‖ ≤ Q, "potential" always."""

SCALES = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128)
CONSTANT = 0.1
"""The constant width of the experiments."""


@dataclass(frozen=True)
class Realizable:
    """A kind of world; each is drawn anew: θ* uniform on the sphere of radius Q, documents in the ball of radius u.

    Args:
        dimension: d.
        queries: queries of a world's pool.
        documents: V, documents of each.
        norm: u.
        bound: Q = ‖θ*‖.
        gap: documents of a query are drawn again until all |σ(x_ij·θ*) − ½| reach it.
        base: b, how readily users click.
        stop: probability that a cascade user leaves after a click.
    """

    dimension: int
    queries: int
    documents: int
    norm: float
    bound: float
    gap: float
    base: float = 0.0
    stop: float = 0.5

    @property
    def least(self) -> float:
        """c_μ."""
        return confidence.least_slope(self.norm, self.bound)

    @property
    def compared(self) -> float:
        """q of the corrected Theorem 8 under wholly examined lists and matched pairs."""
        ends = special.expit(np.array([-1, 1]) * self.norm * self.bound + self.base)
        return confidence.comparison_probability(self.documents, *(float(p) for p in ends))


class Worlds(NamedTuple):
    """Some drawn worlds, R of them.

    Args:
        truth: θ*, Float64[R, d].
        documents: Float64[R, queries, V, d].
        upper, lower: positions of the two documents of each of a query's E pairs, Int64[E].
        x: their differences, Float64[R, queries, E, d].
        preference: σ(x·θ*), Float64[R, queries, E].
        click: Float64[R, queries, V].
        better: whether x·θ* > 0, Bool[R, queries, E].
    """

    truth: np.ndarray
    documents: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    x: np.ndarray
    preference: np.ndarray
    click: np.ndarray
    better: np.ndarray


def draw(world: Realizable, n: int, seed: int) -> Worlds:
    """Draw n worlds of a kind."""
    rng = generator(f"realizable worlds {sorted(asdict(world).items())}", seed)
    d, v = world.dimension, world.documents
    truth = rng.standard_normal((n, d))
    truth *= world.bound / np.linalg.norm(truth, axis=1, keepdims=True)
    upper, lower = np.triu_indices(v, 1)
    documents = np.empty((n, world.queries, v, d))
    poor = np.ones((n, world.queries), dtype=bool)
    for _ in range(10_000):
        fresh = rng.standard_normal((int(poor.sum()), v, d))
        fresh *= (
            world.norm * rng.random((*fresh.shape[:2], 1)) ** (1 / d) / np.linalg.norm(fresh, axis=2, keepdims=True)
        )
        documents[poor] = fresh.astype(np.float32)  # as the learner will see them
        scores = np.einsum("rqvd,rd->rqv", documents, truth)
        margin = scores[..., upper] - scores[..., lower]
        poor = (np.abs(special.expit(margin) - 0.5) < world.gap).any(axis=2)
        if not poor.any():
            break
    else:
        raise ValueError(
            f"{v} documents cannot be {world.gap} apart in a world of margins up to {world.norm * world.bound}"
        )
    x = documents[:, :, upper] - documents[:, :, lower]
    return Worlds(
        truth, documents, upper, lower, x, special.expit(margin), special.expit(scores + world.base), margin > 0
    )


def whole_pairs(clicks: np.ndarray, rule: str, coins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slots of the pairs of wholly examined lists, the upper one first, and whether the upper one was clicked.

    Args:
        clicks: Bool[R, V].
        rule: "adjacent" (slots 1 and 2, 3 and 4, …), "matched" (clicked and others zipped in random order) or "all".
        coins: Float[R, V], the random order.

    Returns:
        Int64[R, P, 2], −1 where there is no pair, and Bool[R, P].
    """
    n, v = clicks.shape
    if rule == "all":
        first, second = np.triu_indices(v, 1)
        slots = np.broadcast_to(np.stack([first, second], axis=1), (n, len(first), 2))
        there = clicks[:, first] != clicks[:, second]
    elif rule == "adjacent":
        first = np.arange(0, v - 1, 2)
        slots = np.broadcast_to(np.stack([first, first + 1], axis=1), (n, v // 2, 2))
        there = clicks[:, first] != clicks[:, first + 1]
    else:
        chosen, others = (np.argsort(np.where(side, coins, 2.0), axis=1)[:, : v // 2] for side in (clicks, ~clicks))
        slots = np.sort(np.stack([chosen, others], axis=2), axis=2)
        fewest = np.minimum(clicks.sum(axis=1), v - clicks.sum(axis=1))
        there = np.arange(v // 2) < fewest[:, None]
    labels = np.take_along_axis(clicks, slots[..., 0], axis=1)
    return np.where(there[..., None], slots, -1), labels & there


class Run:
    """Worlds, the learner that meets them, and the sums that theory speaks of; `step` is one round.

    Attributes:
        theta, log_det, alpha: the learner's θ̃, log(det M/det λI) and Lemma 2's α_t, before the round.
        martingale: S, Float64[R, d].
        potential: Σ over rounds of min(1, Σ over the round's pairs of ‖x‖²_{M⁻¹}), Float64[R].
        counts: how often each pair was labelled, Float64[R, queries, E].
        bias, labels: Σ (y − σ(x·θ*)) with the upper document first, and how many; Float64[R] each.
        regret, open, allowed, printed, shown: sums over rounds of mis-ordered pairs; of pairs in uncertain order; of
            pairs wide enough to be, where the intervals hold (Δ/(2α_t) each); of Lemma 7's printed probabilities, at
            most 1; of pairs.
        compared: uncertain pairs that were labelled; examined: lists wholly examined.
    """

    def __init__(self, cell: "Confidence", seed: int):
        self.cell, self.world = cell, cell.world
        self.worlds = draw(cell.world, cell.worlds, seed)
        n, d = cell.worlds, cell.world.dimension
        keys = np.array([replica_key(f"realizable {seed}", 1, i) for i in range(n)], dtype=np.uint64)
        self.streams = Streams(keys)
        kind, numeric = "PairRank", {"alpha": cell.alpha, "regularization": cell.regularization}
        if cell.width == "Lemma 2":
            kind = "PairRank-Lemma2"
            numeric |= {"delta": cell.delta, "bound": cell.world.bound, "slope": cell.world.least}
        structural = {"loss": "sum", "pairs": cell.pairs, "shuffle": cell.shuffle, "covariance": "full"}
        self.learner: Any = LEARNERS[kind](d, numeric | structural, self.streams)
        queries, v = cell.world.queries, cell.world.documents
        features = torch.from_numpy(self.worlds.documents.reshape(-1, d).astype(np.float32))
        self.features = features
        self.offsets = torch.arange(0, n * queries * v + 1, v)
        self.totals = features.reshape(-1, v, d).sum(dim=1)
        self.first = torch.arange(n) * queries
        self.every = np.arange(n)
        self.pair_of = np.zeros((v, v), dtype=np.int64)  # number of a pair of documents, either first
        self.pair_of[self.worlds.upper, self.worlds.lower] = np.arange(len(self.worlds.upper))
        self.pair_of += self.pair_of.T
        self.gaps = np.abs(self.worlds.preference - 0.5)
        self.martingale = np.zeros((n, d))
        self.counts = np.zeros(self.worlds.preference.shape)
        sums = ("potential", "bias", "labels", "regret", "open", "allowed", "printed", "shown", "compared", "examined")
        self.sums = {name: np.zeros(n) for name in sums}
        self.read()

    def read(self) -> None:
        """Take over the learner's state, and Lemma 2's width at it."""
        self.theta = self.learner.theta.numpy()
        self.log_det = self.learner.covariance.log_det.numpy()
        cell, world = self.cell, self.world
        self.alpha = confidence.width(self.log_det, cell.regularization, world.bound, cell.delta, world.least)

    def widths(self, x: np.ndarray) -> np.ndarray:
        """‖x‖_{M⁻¹}: Float64[R, n] for Float64[R, n, d]."""
        return self.learner.covariance.widths(torch.from_numpy(x)).numpy()

    @property
    def least_eigenvalue(self) -> np.ndarray:
        """λ_min(M): Float64[R]."""
        return 1 / np.linalg.eigvalsh(self.learner.covariance.inverse.numpy())[:, -1]

    def step(self) -> None:
        """Run one round."""
        cell, worlds, every = self.cell, self.worlds, self.every
        learner, v = self.learner, self.world.documents
        round_ = learner.round
        drawn = self.streams.integers_below(Stream.QUERY, round_, torch.full((cell.worlds,), self.world.queries))
        query = drawn.numpy()
        candidates = Candidates(self.features, self.offsets, self.totals, self.first + drawn)

        x, preference = worlds.x[every, query], worlds.preference[every, query]
        width = self.widths(x)
        uncertain = np.abs(special.expit((x * self.theta[:, None]).sum(axis=-1)) - 0.5)
        uncertain = uncertain <= learner.width.numpy()[:, None] * width
        gaps = self.gaps[every, query]
        self.sums["shown"] += len(worlds.upper)
        self.sums["open"] += uncertain.sum(axis=1)
        self.sums["allowed"] += (width >= confidence.open_width(gaps, self.alpha[:, None])).sum(axis=1)
        least = self.gaps.min(axis=(1, 2))[:, None]
        printed = confidence.printed_uncertain_probability(width**2, least, cell.delta, 0.25, self.world.least)
        self.sums["printed"] += np.minimum(1.0, printed).sum(axis=1)

        ranking = learner.rank(candidates, v)
        shown = ranking.numpy()
        place = np.argsort(shown, axis=1)
        above = place[:, worlds.upper] < place[:, worlds.lower]
        self.sums["regret"] += (above != worlds.better[every, query]).sum(axis=1)

        clicks, seen = self._clicks(round_, np.take_along_axis(worlds.click[every, query], shown, axis=1))
        self.sums["examined"] += seen
        if cell.examination == "whole":
            coins = self.streams.uniforms(Stream.PAIRS, round_, v).numpy()
            slots, labels = whole_pairs(clicks, cell.pairs, coins)
            pairs = np.where(
                slots >= 0, np.take_along_axis(shown, slots.reshape(len(shown), -1), 1).reshape(slots.shape), -1
            )
        else:
            inferred = learner.pairs_from_clicks(ranking, torch.from_numpy(clicks))
            pairs, labels = (each.numpy() for each in inferred)
        learner.observe(candidates, torch.from_numpy(pairs), torch.from_numpy(labels))
        learner.round += 1
        self._account(query, pairs, labels, width, uncertain, preference)
        self.read()

    def _clicks(self, round_: int, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        clicks = self.streams.uniforms(Stream.CLICK, round_, chance.shape[1]).numpy() < chance
        if self.cell.examination != "cascade":
            return clicks, np.ones(len(clicks), dtype=bool)
        return until_left(clicks, self.streams.uniforms(Stream.STOP, round_, chance.shape[1]).numpy() < self.world.stop)

    def _account(self, query, pairs, labels, width, uncertain, preference) -> None:
        there = pairs[..., 0] >= 0
        a, b = np.where(there[..., None], pairs, 0).transpose(2, 0, 1)
        number = self.pair_of[a, b]
        sign = np.where(a < b, 1.0, -1.0)
        x = self.worlds.x[self.every[:, None], query[:, None], number] * sign[..., None]
        up = np.take_along_axis(preference, number, axis=1)
        noise = np.where(there, labels - np.where(a < b, up, 1 - up), 0.0)
        self.martingale += (noise[..., None] * x).sum(axis=1)
        squares = np.where(there, np.take_along_axis(width, number, axis=1) ** 2, 0.0)
        self.sums["potential"] += np.minimum(1.0, squares.sum(axis=1))
        self.sums["bias"] += noise.sum(axis=1)
        self.sums["labels"] += there.sum(axis=1)
        self.sums["compared"] += (there & np.take_along_axis(uncertain, number, axis=1)).sum(axis=1)
        np.add.at(self.counts, (self.every[:, None], query[:, None], number), there.astype(float))

    def projected(self, outside: np.ndarray) -> np.ndarray:
        """θ̂ of Eq. (4) of the worlds in `outside`: Float64[n, d]."""
        counts = self.counts.reshape(len(self.every), -1)[outside]
        x = self.worlds.x.reshape(len(self.every), -1, self.world.dimension)[outside]
        return confidence.project(self.theta[outside], x, counts, self.cell.regularization, self.world.bound)


def until_left(clicks: np.ndarray, leaving: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The clicks of users who may leave after each, up to the one after which they do.

    Args:
        clicks: Bool[R, k], what a user who never leaves would click; leaving: Bool[R, k], whether he leaves after that.

    Returns:
        Bool[R, k], and Bool[R], whether the user saw the last slot.
    """
    left = clicks & leaving
    before = np.cumsum(left, axis=1) - left  # times the user had left before this slot
    return clicks & (before == 0), before[:, -1] == 0


def checkpoints(rounds: int, per_doubling: int) -> list[int]:
    """Rounds at which to look, from 1 to the last, evenly spaced on a logarithmic axis."""
    n = int(np.ceil(per_doubling * np.log2(max(rounds, 2)))) + 1
    return sorted({int(t) for t in np.geomspace(1, rounds, n).round()})


class _Table:
    """Lines of a tidy table: one quantity of all worlds, or one number, at a time."""

    def __init__(self):
        self.parts = []

    def add(self, round_: int, quantity: str, value: np.ndarray | float) -> None:
        world = np.array([-1]) if np.ndim(value) == 0 else np.arange(np.size(value))
        self.parts.append(pd.DataFrame({"world": world, "round": round_, "quantity": quantity, "value": value}))

    def frame(self) -> pd.DataFrame:
        return pd.concat(self.parts, ignore_index=True)


def coverage(cell: "Confidence", seed: int) -> pd.DataFrame:
    """How near observed errors come to their bounds.

    Per world, at the last round: each of `RATIOS`; "width needed", the largest |σ̂ − σ*|/‖x‖_{M⁻¹} of θ̃ over all rounds
    and pairs, which is the smallest constant α that would have covered; "outside", the share of rounds with ‖θ̃‖ > Q;
    "bias" and "labels", the mean of y − σ(x·θ*) with the upper document first and the number of pairs it is over;
    "examined", the share of lists seen to their end. Over worlds, at checkpoints: "theoretical width", the mean α_t;
    the 1 − δ quantile of the width needed at that round ("width needed now") and up to it ("width needed").

    Every round is checked, but projections are computed at checkpoints only, eight to a doubling of rounds.
    """
    run, world = Run(cell, seed), cell.world
    n = cell.worlds
    x = run.worlds.x.reshape(n, -1, world.dimension)
    preference = run.worlds.preference.reshape(n, -1)
    largest = {name: np.zeros(n) for name in RATIOS}
    needed, outside = np.zeros(n), np.zeros(n)
    look, table = set(checkpoints(cell.rounds, 8)), _Table()
    for t in range(1, cell.rounds + 1):
        run.step()
        radius = confidence.martingale_radius(run.log_det, cell.delta)
        norm = run.widths(run.martingale[:, None])[:, 0]
        width = run.widths(x)

        def error(theta: np.ndarray, chosen: np.ndarray | slice = slice(None), width=width) -> np.ndarray:
            margin = np.einsum("rnd,rd->rn", x[chosen], theta)
            return (np.abs(special.expit(margin) - preference[chosen]) / width[chosen]).max(axis=1)

        raw = error(run.theta)
        far = np.linalg.norm(run.theta, axis=1) > world.bound
        projected = np.where(far, 0.0, raw)
        if t in look and far.any():
            projected[far] = error(run.projected(far), far)
        news = {
            "martingale": norm / radius,
            "interval": projected / run.alpha,
            "interval inside": np.where(far, 0.0, raw / (run.alpha / 2)),
            "interval unprojected": raw / run.alpha,
        }
        for name, ratio in news.items():
            largest[name] = np.maximum(largest[name], ratio)
        needed, outside = np.maximum(needed, raw), outside + far
        if t in look:
            table.add(t, "theoretical width", float(run.alpha.mean()))
            table.add(t, "width needed now", float(np.quantile(raw, 1 - cell.delta)))
            table.add(t, "width needed", float(np.quantile(needed, 1 - cell.delta)))
    with np.errstate(invalid="ignore"):
        largest["potential"] = np.nan_to_num(run.sums["potential"] / confidence.potential_bound(run.log_det))
        bias = np.nan_to_num(run.sums["bias"] / run.sums["labels"])
    for name in RATIOS:
        table.add(cell.rounds, name, largest[name])
    table.add(cell.rounds, "width needed", needed)
    table.add(cell.rounds, "outside", outside / cell.rounds)
    table.add(cell.rounds, "bias", bias)
    table.add(cell.rounds, "labels", run.sums["labels"])
    table.add(cell.rounds, "examined", run.sums["examined"] / cell.rounds)
    return table.frame()


def regret(cell: "Confidence", seed: int) -> pd.DataFrame:
    """The regret from uncertain orders, and what theory allows.

    Per world, at checkpoints, the cumulative sums of `Run`: "regret", "open", "allowed", "printed", "shown", "labels",
    "compared", "examined"; and at the last round "gap", the world's Δ_min. Over worlds, at checkpoints: "eigenvalue",
    the mean λ_min(M_t); "eigenvalue needed", the mean of what makes every order certain (β = ½), each at its Δ_min.
    """
    run, world = Run(cell, seed), cell.world
    look, table = set(checkpoints(cell.rounds, 1)) | {cell.rounds}, _Table()
    gap = run.gaps.reshape(cell.worlds, -1).min(axis=1)
    for t in range(1, cell.rounds + 1):
        run.step()
        if t not in look:
            continue
        for name in ("regret", "open", "allowed", "printed", "shown", "labels", "compared", "examined"):
            table.add(t, name, run.sums[name].copy())
        table.add(t, "eigenvalue", float(run.least_eigenvalue.mean()))
        settings = (world.norm, world.bound, cell.regularization, cell.delta, 0.5, world.least)
        needed = [
            confidence.least_eigenvalue_needed(float(a), float(b), *settings)
            for a, b in zip(run.log_det, gap, strict=True)
        ]
        table.add(t, "eigenvalue needed", float(np.mean(needed)))
    table.add(cell.rounds, "gap", gap)
    return table.frame()


PANELS: dict[str, Callable[["Confidence", int], pd.DataFrame]] = {"coverage": coverage, "regret": regret}


@dataclass(frozen=True)
class Confidence(Audit):
    """Worlds of one kind side by side through PairRank; each row (seed) draws other worlds.

    Args:
        panel: a key of `PANELS`.
        pairs: PairRank's rule, "matched", "adjacent" or "all".
        examination: one of `EXAMINATIONS`.
        shuffle: "random" (PairRank_R) or "conservative" (PairRank_C).
        width: "constant", or "Lemma 2".
        alpha: the constant, or the multiple of Lemma 2's width.
        rounds: T.
        delta: δ₁.
        regularization: λ.
        revision: of the trajectories of both learners that may run, one number which a new revision of either changes.
    """

    panel: str
    world: Realizable
    pairs: str
    examination: str
    shuffle: str
    width: str
    alpha: float
    worlds: int
    rounds: int
    delta: float = 0.1
    regularization: float = 1.0
    revision: int = LEARNERS["PairRank"].revision + LEARNERS["PairRank-Lemma2"].revision

    kind: ClassVar[str] = "confidence"
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.theory",
        "ol2r.rankers",
        "ol2r.learners",
        "ol2r.papers.audits",
        "ol2r.papers.pairrank.audits",
    )

    def __post_init__(self):
        for name, known in (
            ("panel", tuple(PANELS)),
            ("examination", EXAMINATIONS),
            ("width", ("constant", "Lemma 2")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}")

    @property
    def assumed(self) -> bool:
        """Whether the theorems' assumption on labels holds: disjoint pairs of lists that are known to be wholly seen.

        Adjacent pairs with clicks that differ are all inferred to be examined, so for them inference adds nothing.
        """
        disjoint = self.pairs in ("matched", "adjacent")
        return (self.examination == "whole" and disjoint) or (self.examination, self.pairs) == ("inferred", "adjacent")

    def labels(self) -> dict[str, str | float | int]:
        """Panel (`audit`), examination, pairs, shuffle, width, alpha, whether all is as assumed, and the world."""
        return {
            "audit": self.panel,
            "examination": self.examination,
            "pairs": self.pairs,
            "shuffle": self.shuffle,
            "width": self.width,
            "alpha": self.alpha,
            "assumed": int(self.assumed),
            "dimension": self.world.dimension,
            "documents": self.world.documents,
            "queries": self.world.queries,
            "norm": self.world.norm,
            "bound": self.world.bound,
            "least_gap": self.world.gap,
            "base": self.world.base,
            "worlds": self.worlds,
            "rounds": self.rounds,
            "delta": self.delta,
            "regularization": self.regularization,
        }

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """A cost per round and one per round and world, which checks every pair of the pool in a coverage audit."""
        world = 25e-6 if self.panel == "coverage" else 5e-6
        return Cost(self.rounds * (5e-4 + self.worlds * world)).of(len(rows))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling what PairRank needs of the engine."""
        return compiling("PairRank", "cpu")

    def simulated(self, seed: int) -> pd.DataFrame:
        """The panel's quantities."""
        return PANELS[self.panel](self, seed)


GENTLE = Realizable(dimension=5, queries=8, documents=5, norm=1.0, bound=0.5, gap=0.01)
"""Preferences between .27 and .73: c_μ = .197, labels nearly as noisy as labels can be."""

STEEP = Realizable(dimension=5, queries=8, documents=5, norm=1.0, bound=2.0, gap=0.01)
"""Preferences between .02 and .98: c_μ = .018, so Lemma 2 multiplies by 28."""

SMALL = Realizable(dimension=2, queries=6, documents=3, norm=1.0, bound=0.5, gap=0.1)
"""Few documents, far apart, whose orders Lemma 2's width can settle within a hundred thousand rounds."""

SIZES = {  # worlds and rounds of the coverage audits, and of the regret audits
    "smoke": (24, 40, 4, 64),
    "laptop": (200, 500, 12, 10_000),
    "paper": (500, 2_000, 16, 100_000),
}


def confidence_audits(tier: str) -> list[Confidence]:
    """The audits of the PairRank chapter; one seed of each is enough. Sizes by tier, the lines are the same.

    Coverage at δ₁ = 0.1, of runs with the experiments' constant width: two kinds of world in which the assumptions
    hold, and the same users and rules of pairing where they do not. Regret at δ₁ = 1/T, as Theorem 8 takes it, in small
    worlds with V ≤ k and whole lists shown: Lemma 2's width, half of it, and the constant; and at Lemma 2's width the
    same with users who stop, where the theorem's assumption on examination fails.
    """
    worlds, rounds, few, long = SIZES[tier]
    settings = [(GENTLE, examination, pairs) for examination in EXAMINATIONS for pairs in ("matched", "adjacent")]
    settings += [(GENTLE, "whole", "all"), (STEEP, "whole", "matched"), (STEEP, "whole", "adjacent")]
    settings += [(STEEP, "cascade", "matched")]
    cells = [
        Confidence("coverage", world, pairs, examination, "random", "constant", CONSTANT, worlds, rounds)
        for world, examination, pairs in settings
    ]
    variants = [("whole", "Lemma 2", 1.0), ("whole", "Lemma 2", 0.5), ("whole", "constant", CONSTANT)]
    variants += [("cascade", "Lemma 2", 1.0)]
    cells += [
        Confidence("regret", SMALL, "matched", examination, shuffle, width, alpha, few, long, delta=1 / long)
        for examination, width, alpha in variants
        for shuffle in ("random", "conservative")
    ]
    return cells
