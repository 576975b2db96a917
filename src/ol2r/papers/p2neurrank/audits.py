"""Audits of P²LinRank's lemmas and regret in worlds whose true weights are known.

Worlds are those of PairRank's audits: documents with ‖x‖ ≤ u, weights ‖θ*‖ = Q, users who click each document of a list
independently with probability σ(x·θ* + b) and see all of it; pairs are matched. So labels are as the theorems assume.
Users who stop break the assumption: they read a random list from the top, leave after a click with probability ½, and
the learner infers what they saw.
Rankers are refitted exactly, by Newton's method, to labels under fresh noise: nothing here assumes a linear response,
and everything is plain numpy in double precision, apart from the learners of the library.

Each table is tidy: world, round, quantity, value. A *ratio* is what was observed over what theory allows, at its
largest over the looks, so a bound scaled by f holds in a world exactly when its ratio is at most f.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import special

from ol2r.papers.olranknet.audits import inferred
from ol2r.papers.pairrank.audits import Realizable, checkpoints, draw, until_left, whole_pairs
from ol2r.random import Streams, generator, replica_key
from ol2r.theory import confidence, perturbed

RATIOS = ("martingale", "interval", "interval, pseudo-pairs", "interval as printed")
"""Quantities that Lemma 4.2 keeps at or below one with probability 1 − δ: the martingale bound; the corrected interval
for P²LinRank's estimate and for that of Eq. 4.2, which has the penalty twice; and the printed interval, for the latter.
"""
STOPPED = "coverage, users who stop"
"""The audit of Lemma 4.2 where its assumption on labels is violated."""
RANKERS = (2, 5, 10)
"""N of the experiments."""
MOST = 500
"""The most rankers that an audit draws for a world; a lemma that asks for more is not simulated."""


def fits(
    x: np.ndarray, counts: np.ndarray, target: np.ndarray, regularization: float, start: np.ndarray | None = None
) -> np.ndarray:
    """The θ with Σ counts σ(x·θ) x + λθ = target, by Newton's method with halved steps.

    At target Σ wins x it is `confidence.fitted`; perturbed labels add Σ γ x to it.

    Args:
        x: distinct pairs, Float64[R, E, d].
        counts: labels of each, Float64[R, E].
        target: Float64[R, M, d].
        regularization: λ > 0.
        start: where to begin, Float64[R, M, d]; by default 0.

    Returns:
        Float64[R, M, d].
    """
    n, _, d = x.shape
    outer = (x[..., :, None] * x[..., None, :]).reshape(n, -1, d * d)
    transposed, weight = x.transpose(0, 2, 1), counts[:, None]
    theta = np.zeros_like(target) if start is None else start

    def objective(point: np.ndarray) -> np.ndarray:
        loss = (weight * np.logaddexp(0, point @ transposed)).sum(axis=2)
        return loss + (point * (regularization / 2 * point - target)).sum(axis=2)

    value = objective(theta)
    for _ in range(100):
        chance = special.expit(theta @ transposed)
        gradient = (weight * chance) @ x + regularization * theta - target
        hessian = ((weight * chance * (1 - chance)) @ outer).reshape(*theta.shape, d) + regularization * np.eye(d)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        size = np.ones(value.shape)
        for _ in range(30):
            fresh = theta - size[..., None] * step
            reached = objective(fresh)
            worse = reached > value + 1e-10 * (1 + np.abs(value))
            if not worse.any():
                break
            size[worse] /= 2
        theta, value = fresh, reached
        if (np.abs(step) <= 1e-8 * (1 + np.abs(theta))).all():
            break
    return theta


def topological_sort(certain: np.ndarray, coins: np.ndarray) -> np.ndarray:
    """Random topological sorts: each slot goes to one of the documents that have no certain superior left.

    Args:
        certain: whether the first document is certainly above the second, Bool[R, V, V], without cycles.
        coins: Float[R, V, V], uniform; those of a slot choose its document.

    Returns:
        Int64[R, V], the document of each slot.
    """
    n, v, _ = certain.shape
    left, every = np.ones((n, v), dtype=bool), np.arange(n)
    shown = np.empty((n, v), dtype=np.int64)
    for slot in range(v):
        free = left & ~(certain & left[:, :, None]).any(axis=1)
        shown[:, slot] = np.where(free, coins[:, slot], -1.0).argmax(axis=1)
        left[every, shown[:, slot]] = False
    return shown


class Run:
    """Drawn worlds and what has been labelled in them; `step` is one round.

    Attributes:
        x: all pairs of the pool, Float64[R, E, d].
        preference: σ(x·θ*) of each, Float64[R, E].
        wins, losses: labels of each, Float64[R, E].
        rows: the pairs of all labels, one after another, 0 where a round brought none, Float64[R, labels, d].
        stops: whether users stop.
        steepness: s, where the link is σ(s z) and scores are in a unit 1/s times as large. Everything that is called θ
            here is s times the learner's; labels, orders and rankers stay, and its λ is s times as large as that of
            `fits`.
    """

    def __init__(
        self,
        world: Realizable,
        worlds: int,
        regularization: float,
        seed: int,
        stops: bool = False,
        steepness: float = 1.0,
    ):
        self.world, self.regularization, self.stops, self.steepness = world, regularization, stops, steepness
        keys = [replica_key(f"users who stop {seed} {world}", 1, number) for number in range(worlds)]
        self.streams = Streams(np.array(keys, dtype=np.uint64))
        drawn = draw(world, worlds, seed)
        self.drawn, self.every = drawn, np.arange(worlds)
        self.rng = generator("rounds of perturbed rankers", seed)
        self.x = drawn.x.reshape(worlds, -1, world.dimension)
        self.preference = drawn.preference.reshape(worlds, -1)
        self.gaps = np.abs(self.preference - 0.5)
        self.per = len(drawn.upper)
        self.pair_of = np.zeros((world.documents, world.documents), dtype=np.int64)
        self.pair_of[drawn.upper, drawn.lower] = np.arange(self.per)
        self.wins, self.losses = np.zeros(self.preference.shape), np.zeros(self.preference.shape)
        self.parts: list[np.ndarray] = []

    @property
    def counts(self) -> np.ndarray:
        return self.wins + self.losses

    @property
    def rows(self) -> np.ndarray:
        return np.concatenate(self.parts, axis=1)

    def step(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw a query, clicks on all its documents, and labels of matched pairs; the list has no part in it.

        Returns:
            The query, Int64[R]; and the round's pairs as numbers in the pool, Int64[R, P], with whether each is there.
        """
        n, v, every = len(self.every), self.world.documents, self.every
        query = self.rng.integers(self.world.queries, size=n)
        chance = self.drawn.click[every, query]
        if self.stops:
            slots, first = self._stopped(chance)
        else:
            slots, first = whole_pairs(self.rng.random((n, v)) < chance, "matched", self.rng.random((n, v)))
        there = slots[..., 0] >= 0
        within = self.pair_of[np.maximum(slots[..., 0], 0), np.maximum(slots[..., 1], 0)]
        number = np.where(there, query[:, None] * self.per + within, 0)
        self._add(number, there, first)
        return query, number, there

    def _stopped(self, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs and labels as `inferred` from users who may leave after a click."""
        shown = self.rng.permuted(np.tile(np.arange(chance.shape[1]), (len(chance), 1)), axis=1)
        clicks = self.rng.random(chance.shape) < np.take_along_axis(chance, shown, axis=1)
        clicks, _ = until_left(clicks, self.rng.random(chance.shape) < self.world.stop)
        return inferred(shown, clicks, self.streams, len(self.parts) + 1)

    def _add(self, number: np.ndarray, there: np.ndarray, first: np.ndarray) -> None:
        every = self.every[:, None]
        np.add.at(self.wins, (every, number), (there & first).astype(float))
        np.add.at(self.losses, (every, number), (there & ~first).astype(float))
        self.parts.append(np.where(there[..., None], self.x[every, number], 0.0))

    def label(self, times: int) -> None:
        """Label every pair of the pool so many times more; `rows` does not know of these labels."""
        wins = self.rng.binomial(times, self.preference).astype(float)
        self.wins, self.losses = self.wins + wins, self.losses + times - wins

    @property
    def gram(self) -> np.ndarray:
        """A: Float64[R, d, d]."""
        data = np.einsum("re,red,ref->rdf", self.counts, self.x, self.x)
        return data + self.regularization * np.eye(self.world.dimension)

    @property
    def log_det(self) -> np.ndarray:
        """log(det A/det λI): Float64[R]."""
        return np.linalg.slogdet(self.gram)[1] - self.world.dimension * np.log(self.regularization)

    def norms(self) -> np.ndarray:
        """‖x‖ in the norm of A⁻¹ of all pairs of the pool: Float64[R, E]."""
        return np.sqrt(np.einsum("red,rde->re", self.x, np.linalg.solve(self.gram, self.x.transpose(0, 2, 1))))

    def target(self) -> np.ndarray:
        """Σ y x: Float64[R, 1, d]."""
        return np.einsum("re,red->rd", self.wins, self.x)[:, None]

    def estimate(self) -> np.ndarray:
        """θ̄, the fit without noise: Float64[R, 1, d]."""
        return fits(self.x, self.counts, self.target(), self.regularization / self.steepness)

    def slopes(self, theta: np.ndarray) -> np.ndarray:
        """The least slope between some θ and any θ* in the ball over the pairs seen; Float64[R] for Float64[R, M, d].

        It takes the place of c_μ, as in `neural.reached_slope`, for any θ, projected or not.
        """
        margins = np.abs(theta @ self.x.transpose(0, 2, 1)).max(axis=1)
        margins = np.maximum(margins, self.world.bound * np.linalg.norm(self.x, axis=2))
        return confidence.slope(np.where(self.counts > 0, margins, 0.0).max(axis=1))

    def noises(self, draws: int, variance: np.ndarray, pseudo_pairs: bool) -> np.ndarray:
        """b of some rankers, from N(0, ν² A) or from N(0, ν² (A − λI)): Float64[R, M, d].

        It is Σ γ x over all labels, as one draw of d normals (p2neurrank-lem-one-draw).
        """
        gram = self.gram if pseudo_pairs else self.gram - self.regularization * np.eye(self.world.dimension)
        values, vectors = np.linalg.eigh(gram)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None]
        normals = self.rng.standard_normal((len(self.every), draws, self.world.dimension))
        return np.sqrt(variance)[:, None, None] * normals @ root.transpose(0, 2, 1)

    def rankers(
        self, draws: int, variance: np.ndarray, pseudo_pairs: bool, start: np.ndarray | None = None
    ) -> np.ndarray:
        """Refitted rankers, each under noise of its own: Float64[R, M, d].

        Args:
            draws: M.
            variance: ν², Float64[R].
            pseudo_pairs: whether the pairs that stand for the penalty are perturbed as well.
            start: where refits begin, Float64[R, M, d].
        """
        target = self.target() + self.noises(draws, variance, pseudo_pairs)
        return fits(self.x, self.counts, target, self.regularization / self.steepness, start)


def _table(parts: Sequence[tuple[int, str, np.ndarray]]) -> pd.DataFrame:
    frames = [
        pd.DataFrame({"world": np.arange(len(value)), "round": round_, "quantity": name, "value": value})
        for round_, name, value in parts
    ]
    return pd.concat(frames, ignore_index=True)


def coverage(
    world: Realizable,
    worlds: int,
    rounds: int,
    regularization: float = 1.0,
    delta: float = 0.1,
    every: int = 5,
    seed: int = 0,
    scale: float = 1.0,
    stops: bool = False,
) -> pd.DataFrame:
    """How near the errors of fits without noise come to Lemma 4.2.

    Per world, at the last round: each of `RATIOS`; "width" and "width as printed", α_t of both; "width needed" and
    "width needed, pseudo-pairs", the least constants that would have covered at all looks; "moved", by how much the
    pseudo-pairs change a preference at most; "labels", their number.

    Args:
        rounds: T.
        regularization: λ.
        delta: δ.
        every: rounds between two looks.
        seed: of the worlds and of all that happens in them.
        scale: multiplies every bound, to see that a smaller one is found out.
        stops: whether users stop, which the lemma does not allow.
    """
    run, d = Run(world, worlds, regularization, seed, stops), world.dimension
    names = (*RATIOS, "width needed", "width needed, pseudo-pairs", "moved")
    largest = {name: np.zeros(worlds) for name in names}
    alpha = printed = np.zeros(worlds)
    pseudo = np.broadcast_to(np.sqrt(regularization) * np.eye(d), (worlds, d, d))
    for t in range(1, rounds + 1):
        run.step()
        if t % every and t != rounds:
            continue
        theta = run.estimate()
        # Eq. 4.2 has λθ and, with label 0, the pairs √λ e_i
        counts = np.concatenate([run.counts, np.ones((worlds, d))], axis=1)
        twice = fits(np.concatenate([run.x, pseudo], axis=1), counts, run.target(), regularization)
        norm, log_det = run.norms(), run.log_det
        own, other = (special.expit((run.x @ each.transpose(0, 2, 1))[..., 0]) for each in (theta, twice))
        setting = (log_det, regularization, world.bound, delta)
        alpha = perturbed.width(*setting, run.slopes(theta))
        wider = perturbed.width(*setting, run.slopes(twice), pseudo_pairs=d)
        printed = perturbed.printed_width(log_det, d, delta, world.least)
        noise = np.einsum("re,red->rd", run.wins - run.counts * run.preference, run.x)
        squared = np.einsum("rd,rd->r", noise, np.linalg.solve(run.gram, noise[..., None])[..., 0])
        needed, needed_twice = ((np.abs(each - run.preference) / norm).max(axis=1) for each in (own, other))
        news = {
            "martingale": np.sqrt(squared) / (scale * confidence.martingale_radius(log_det, delta)),
            "interval": needed / (scale * alpha),
            "interval, pseudo-pairs": needed_twice / (scale * wider),
            "interval as printed": needed_twice / (scale * printed),
            "width needed": needed,
            "width needed, pseudo-pairs": needed_twice,
            "moved": np.abs(own - other).max(axis=1),
        }
        for name, value in news.items():
            largest[name] = np.maximum(largest[name], value)
    ends = {"width": alpha, "width as printed": printed, "labels": run.counts.sum(axis=1)}
    return _table([(rounds, name, value) for name, value in {**largest, **ends}.items()])


def variance(
    world: Realizable,
    worlds: int,
    looks: Sequence[int],
    regularization: float = 1.0,
    noise: float = 0.1,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Var[x·A⁻¹ Σ γ x] over ν² ‖x‖²_{A⁻¹}, which A.2 says is one; γ is drawn label by label.

    Per world, at each look (as "round"), the mean over pairs of the pool: "all perturbed", with noise on the
    pseudo-pairs, as in the analysis; "labels perturbed", without, as in Eq. 3.3 and Algorithm 1, and "labels perturbed,
    predicted" by `perturbed.response_variance`; "refits", the variance of x·θ^(n) of refitted rankers over the same,
    with noise on the pseudo-pairs, which is one only if σ is replaced by a line of slope one, and "refits, labels
    perturbed" without.

    Args: as in `coverage`, and
        looks: rounds, increasing.
        noise: ν².
        draws: of the noise; a quarter as many rankers are refitted.
    """
    run, parts = Run(world, worlds, regularization, seed), []
    spread = np.full(worlds, noise)
    for t in range(1, looks[-1] + 1):
        run.step()
        if t not in looks:
            continue
        rows, gram = run.rows, run.gram
        labels = run.rng.standard_normal((worlds, draws, rows.shape[1])) @ rows
        others = np.sqrt(regularization) * run.rng.standard_normal(labels.shape)
        allowed = noise * run.norms() ** 2
        solved = np.linalg.solve(gram, run.x.transpose(0, 2, 1))
        predicted = [
            perturbed.response_variance(run.x[r], rows[r], regularization, noise, pseudo_pairs=False)
            for r in range(worlds)
        ]
        found = {
            "all perturbed": noise * ((labels + others) @ solved).var(axis=1),
            "labels perturbed": noise * (labels @ solved).var(axis=1),
            "labels perturbed, predicted": np.array(predicted),
        }
        for name, pseudo_pairs in (("refits", True), ("refits, labels perturbed", False)):
            found[name] = (run.rankers(draws // 4, spread, pseudo_pairs) @ run.x.transpose(0, 2, 1)).var(axis=1)
        parts += [(t, name, (value / allowed).mean(axis=1)) for name, value in found.items()]
    return _table(parts)


def asked(beta: np.ndarray, delta: float, printed: bool = False) -> np.ndarray:
    """N of `perturbed.rankers_needed`, a whole number of at least one: Float64[...]."""
    return np.maximum(np.ceil(perturbed.rankers_needed(beta, delta, printed=printed)), 1.0)


def optimism(
    world: Realizable,
    worlds: int,
    rounds: int,
    regularization: float = 1.0,
    delta: float = 0.1,
    noise: float = 0.0,
    beta: float = 0.0,
    pseudo_pairs: bool = True,
    draws: int = 400,
    seed: int = 0,
) -> pd.DataFrame:
    """How often one of N rankers is optimistic, after some rounds.

    In each world one pair is asked about, at the worst truth that Lemma 4.2 allows: θ̄ says −(α_t/k_μ) ‖x‖ of it and
    the true order is the other, so that the best ranker must deviate by as much. A ratio is what it must over what it
    did, infinite where it went the wrong way; it is at most one where some ranker was optimistic.

    Per world: "N = 2", "N = 5", "N = 10", ratios; "N of the lemma" and "N corrected", ratios with as many rankers as
    Lemma 4.4 asks for (its proof's β and its tail), and as `optimism_threshold` and the true tail do, missing if that
    is more than `MOST`; "β" and "β corrected"; "log N" and "log N corrected" (natural); "deviation", the standard
    deviation of x·θ^(n) over ν ‖x‖.
    And of all pairs of the pool: "wrong", the share that θ̄ puts in the wrong order; "wrong and certain, N = 2" and so
    on, the share on whose wrong order N rankers agree, in expectation; "wrong and certain, α" and "wrong and certain,
    α = 0.1", the same for PairRank's interval with Lemma 4.2's width and with a constant one.

    Args: as in `coverage`, and
        noise: ν², or 0 for the one that makes the proof's β = k_μ α_t/(c_μ ν) what `beta` says.
        pseudo_pairs: whether they are perturbed.
        draws: rankers that are fitted to see in how many a pair is in the wrong order.
    """
    run, every = Run(world, worlds, regularization, seed), np.arange(worlds)
    for _ in range(rounds):
        run.step()
    theta = run.estimate()
    least = run.slopes(theta)
    alpha = perturbed.width(run.log_det, regularization, world.bound, delta, least)
    spread = np.full(worlds, noise) if noise else (confidence.STEEPEST * alpha / (least * beta)) ** 2
    printed = perturbed.printed_threshold(alpha, spread, least, proof=True)
    own = perturbed.optimism_threshold(alpha, spread)
    n_printed, n_own = asked(printed, delta, printed=True), asked(own, delta)
    rankers = {f"N = {n}": np.full(worlds, float(n)) for n in RANKERS}
    rankers |= {"N of the lemma": n_printed, "N corrected": n_own}
    at = run.rng.integers(run.x.shape[1], size=worlds)
    x, norm = run.x[every, at], run.norms()[every, at]
    parts = []
    most = int(min(max(n[n <= MOST].max(initial=1.0) for n in rankers.values()), MOST))
    moved = run.rankers(most, spread, pseudo_pairs) - theta
    reached = np.einsum("rmd,rd->rm", moved, x)
    for name, n in rankers.items():
        best = np.array([row[: int(m)].max() if m <= MOST else np.nan for row, m in zip(reached, n, strict=True)])
        with np.errstate(invalid="ignore"):
            ratio = np.where(best > 0, alpha / confidence.STEEPEST * norm / best, np.inf)
        ratio = np.where(np.isnan(best), np.nan, ratio)
        if not np.isnan(ratio).all():
            parts.append((name, ratio))
    many = run.rankers(draws, spread, pseudo_pairs)
    parts += [
        ("β", printed),
        ("β corrected", own),
        ("log N", perturbed.log_rankers_needed(printed, delta, printed=True)),
        ("log N corrected", perturbed.log_rankers_needed(own, delta)),
        ("deviation", np.einsum("rmd,rd->rm", many, x).std(axis=1) / (np.sqrt(spread) * norm)),
    ]
    better = run.preference > 0.5
    said = (run.x @ theta.transpose(0, 2, 1))[..., 0]
    wrong = (said > 0) != better
    margins = many @ run.x.transpose(0, 2, 1)
    agree = np.where(better[:, None], margins < 0, margins > 0).mean(axis=1)
    parts.append(("wrong", wrong.mean(axis=1)))
    parts += [(f"wrong and certain, N = {n}", (agree**n).mean(axis=1)) for n in RANKERS]
    far = np.abs(special.expit(said) - 0.5)
    for name, width in (("α", alpha[:, None]), ("α = 0.1", 0.1)):
        parts.append((f"wrong and certain, {name}", (wrong & (far > width * run.norms())).mean(axis=1)))
    return _table([(rounds, name, value) for name, value in parts])


UNCERTAIN = {
    "bound": "linear response",
    "bound, curved": "every response",
    "bound of the proof": "Lemma 4.4, proof",
    "bound as printed": "Lemma 4.4, statement",
}
"""Bounds on the probability that an order is not unanimously right."""


def uncertain(
    world: Realizable,
    worlds: int,
    labels: Sequence[int],
    regularization: float = 1.0,
    delta: float = 0.1,
    noise: float = 0.0,
    beta: float = 0.0,
    rankers: int = 2,
    pseudo_pairs: bool = True,
    draws: int = 1000,
    seed: int = 0,
    scale: float = 1.0,
    steepness: float = 1.0,
) -> pd.DataFrame:
    """The probability that N rankers do not agree on the right order of a pair, against Lemma 4.4.

    Every pair of the pool is labelled equally often, and the corrected width counts as α_t. Per world, after each
    number of labels of each pair (as "round"), means over the pairs: "probability" and each of `UNCERTAIN`. After the
    last: "ratio" with each of these names, the probability over the bound at its largest over looks; and "holds", 1
    where Lemma 4.2 held at all looks. c of the printed bounds is what Lemma 4.2's radius leaves of Δ_min, at each pair
    (0 where that is all), and their c_μ is the one of the ball, or the least slope that the drawn rankers reached where
    that is less.

    Args: as in `optimism`, and
        labels: of each pair, increasing.
        rankers: N.
        scale: multiplies every bound.
        steepness: of the link, see `Run`. k_μ and c_μ are s times as large, and Q is as much smaller; so their ratio
            and all bounds but the printed one stay.
    """
    run, parts = Run(world, worlds, regularization, seed, steepness=steepness), []
    largest = dict.fromkeys(UNCERTAIN, np.zeros(worlds))
    holds, before = np.ones(worlds), 0
    gap = run.gaps.min(axis=1)[:, None]
    better = run.preference > 0.5
    for n in labels:
        run.label(n - before)
        before = n
        theta, norm = run.estimate(), run.norms()
        least = run.slopes(theta)
        alpha = perturbed.width(run.log_det, regularization, world.bound / steepness, delta, least)
        spread = np.full(worlds, noise) if noise else (confidence.STEEPEST * alpha / (least * beta)) ** 2
        margins = (run.x @ theta.transpose(0, 2, 1))[..., 0]
        error = np.abs(special.expit(margins) - run.preference)
        holds *= (error <= alpha[:, None] * norm).all(axis=1)
        many = run.rankers(draws, spread, pseudo_pairs)
        shown = many @ run.x.transpose(0, 2, 1)
        right = np.where(better[:, None], shown > 0, shown < 0).mean(axis=1)
        probability = 1 - right**rankers
        own = np.minimum(run.slopes(many), least)[:, None]
        wide, noisy = alpha[:, None], spread[:, None]
        left = run.gaps - wide * norm
        way = perturbed.way_slope(margins, norm, norm, left)
        kept = np.maximum(gap - wide * norm, 0.0) / gap
        with np.errstate(divide="ignore"):
            bounds = {
                "bound": perturbed.uncertain_probability(norm**2, run.gaps, wide, rankers, noisy, own),
                "bound, curved": perturbed.curved_uncertain_probability(
                    norm**2, run.gaps, wide, rankers, noisy, way, world.dimension
                ),
                "bound of the proof": perturbed.printed_uncertain_probability(
                    norm**2, gap, rankers, noisy, own, kept
                ),
                "bound as printed": perturbed.printed_uncertain_probability(
                    norm**2, gap, rankers, noisy, own, kept, alpha=steepness * wide
                ),
            }  # fmt: skip
        mean = probability.mean(axis=1)
        parts.append((n, "probability", mean))
        for name, bound in bounds.items():
            allowed = scale * bound.mean(axis=1)
            parts.append((n, name, allowed))
            with np.errstate(divide="ignore", invalid="ignore"):
                largest[name] = np.maximum(largest[name], np.where(mean > 0, mean / allowed, 0.0))
    parts += [(labels[-1], f"ratio, {name}", value) for name, value in largest.items()]
    return _table([*parts, (labels[-1], "holds", holds)])


def regret(
    world: Realizable,
    worlds: int,
    rounds: int,
    regularization: float = 1.0,
    delta: float = 0.1,
    noise: float = 0.1,
    rankers: int = 2,
    pseudo_pairs: bool = False,
    seed: int = 0,
) -> pd.DataFrame:
    """P²LinRank's regret and uncertain orders, along runs of Algorithm 1.

    Per world, at checkpoints, cumulative: "regret", mis-ordered pairs of the lists; "open", pairs on whose order the
    rankers do not agree; "wrong", pairs on whose wrong order they do; "shown", all pairs. At the last round: "bound"
    and "bound, curved", `perturbed.regret_bound` at the ball's c_μ for linear response and for every one; "gap", Δ_min.

    Args: as in `optimism`, and
        rankers: N.
    """
    run, n, v = Run(world, worlds, regularization, seed), worlds, world.documents
    spread, every = np.full(n, noise), np.arange(n)[:, None]
    upper, lower = run.drawn.upper, run.drawn.lower
    theta = np.zeros((n, rankers, world.dimension))
    sums = {name: np.zeros(n) for name in ("regret", "open", "wrong", "shown")}
    look, parts = set(checkpoints(rounds, 1)) | {rounds}, []
    for t in range(1, rounds + 1):
        query, _, _ = run.step()
        # labels do not depend on the list, so the round's own may be drawn before it; the rankers have not seen them
        rows = query[:, None] * run.per + np.arange(run.per)
        margins = theta @ run.x[every, rows].transpose(0, 2, 1)
        ahead, behind = (margins > 0).all(axis=1), (margins < 0).all(axis=1)
        certain = np.zeros((n, v, v), dtype=bool)
        certain[:, upper, lower], certain[:, lower, upper] = ahead, behind
        place = np.argsort(topological_sort(certain, run.rng.random((n, v, v))), axis=1)
        better = run.preference[every, rows] > 0.5
        sums["regret"] += ((place[:, upper] < place[:, lower]) != better).sum(axis=1)
        sums["open"] += (~ahead & ~behind).sum(axis=1)
        sums["wrong"] += np.where(better, behind, ahead).sum(axis=1)
        sums["shown"] += run.per
        theta = run.rankers(rankers, spread, pseudo_pairs, theta)
        if t in look:
            parts += [(t, name, value.copy()) for name, value in sums.items()]
    gaps = run.gaps.min(axis=1)
    setting = (world.norm, world.bound, regularization, delta, world.least, world.compared, rankers, noise)
    for name, curved in (("bound", False), ("bound, curved", True)):
        values = [perturbed.regret_bound(rounds, v, world.dimension, gap, *setting, curved=curved) for gap in gaps]
        parts.append((rounds, name, np.array(values)))
    return _table([*parts, (rounds, "gap", gaps)])


def blind_spot(
    labels: Sequence[int],
    bound: float = 1.0,
    share: float = 0.6,
    regularization: float = 0.1,
    delta: float = 0.1,
    noise: float = 0.1,
    draws: int = 400,
    worlds: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """A pair with a direction of which no label was ever seen, on which all rankers agree, wrongly.

    Only a = (1, 0) is labelled. The pair x = (1, 1) has a true margin below 0, because the second weight outweighs the
    first: θ* = Q (share, −√(1 − share²)). Without noise on the pseudo-pairs the second weight of every ranker is 0.

    Per world, after each number of labels (as "round"): the probability that two rankers agree on the wrong order of x
    with noise on the labels alone ("labels perturbed") and on the pseudo-pairs as well ("all perturbed"); 1 where the
    wrong order is certain by PairRank's interval with Lemma 4.2's width ("α") and with a constant one ("α = 0.1").
    """
    rng = generator("blind spot of perturbed rankers", seed)
    truth = bound * np.array([share, -np.sqrt(1 - share**2)])
    a, x = np.tile([1.0, 0.0], (worlds, 1, 1)), np.array([1.0, 1.0])
    parts = []
    for n in labels:
        counts = np.full((worlds, 1), float(n))
        target = np.zeros((worlds, 1, 2))
        target[:, 0, 0] = rng.binomial(n, special.expit(truth[0]), size=worlds)
        for name, pseudo_pairs in (("labels perturbed", False), ("all perturbed", True)):
            scale = np.sqrt(noise * np.array([n + regularization * pseudo_pairs, regularization * pseudo_pairs]))
            many = fits(a, counts, target + scale * rng.standard_normal((worlds, draws, 2)), regularization)
            parts.append((n, name, ((many @ x) > 0).mean(axis=1) ** 2))
        theta = fits(a, counts, target, regularization)[:, 0]
        far, norm = special.expit(theta @ x) - 0.5, np.sqrt(1 / (n + regularization) + 1 / regularization)
        least = confidence.slope(np.maximum(np.abs(theta[:, 0]), bound))
        log_det = float(np.log1p(n / regularization))
        alpha = perturbed.width(np.full(worlds, log_det), regularization, bound, delta, least)
        for name, width in (("α", alpha), ("α = 0.1", 0.1)):
            parts.append((n, name, (far > width * norm).astype(float)))
    return _table(parts)
