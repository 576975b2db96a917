"""Audits of olRankNet's tangent kernel, confidence intervals, log-determinant and regret bounds, on real networks.

A world is *realizable*: a network with its own θ₀, documents, and h(x) = ⟨g(x; θ₀), θ* − θ₀⟩ for all of them with
√m ‖θ* − θ₀‖ = S exactly (Lemma B.3), either for a random θ* or so that h is a multiple of another network's scores. In
each round one query's documents are matched at random, and each pair is labelled 1 with probability σ(h_i − h_j): this
is what the theorems assume of users. Users who stop break the assumption: they read the list of the network's scores
from the top, click a document with probability σ(h_i), leave after a click with probability ½, and the learner infers
what they saw. The network is refitted to all labels (Eq. 3.2), and its gradients at θ_{t−1} are added to A, as the
proofs have it. Many worlds run side by side, each a replica.

Each table is tidy: world, round, quantity, value. A *ratio* is what was observed over what theory allows, at its
largest over the rounds that were looked at, so a radius scaled by f covers a world exactly when its ratio is at most f.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy import special

from ol2r.networks import Dual, Explicit, History, Network, NetworkFit, Tangent
from ol2r.papers.pairrank.audits import until_left
from ol2r.random import Stream, Streams, generator, replica_key
from ol2r.ranking import Candidates, engine
from ol2r.theory import confidence, neural
from ol2r.theory.confidence import LABEL_NOISE

TRUTHS = ("tangent", "network")
USERS = ("matched", "cascade")
STOP = 0.5
"""The probability that a cascade user leaves after a click."""
RATIOS = ("martingale", "linear", "network", "current", "diagonal", "radius", "log det", "log det by rounds")
"""Quantities that theory keeps at or below one.

With probability 1 − δ at once: the martingale bound, and Lemma 3.3 for the linear fit ("linear"), for the network
with the gradients at θ₀ ("network") and with those of now ("current"). Always: ‖ẑ‖ over `neural.fit_radius` ("radius")
and log det Ā over `neural.log_det_bound` ("log det"). Without proof: Lemma 3.3 with the diagonal of A ("diagonal"), and
log det Ā over the printed bound, which is for wide networks ("log det by rounds").
"""


@dataclass(frozen=True)
class Wide:
    """A kind of world; each is drawn anew, with documents uniform on the unit sphere.

    Args:
        features: d.
        queries: queries of a world's pool.
        documents: V, documents of each; even, so that a matching leaves none out.
        width: m of the network.
        depth: L of the network.
        bound: S.
        truth: one of `TRUTHS`.
        gap: worlds are drawn again until |σ(h_i − h_j) − ½| reaches it for all pairs of a query.
        init: of the network; a network that does not start at f = 0 has that added to the error that is measured.
    """

    features: int
    queries: int
    documents: int
    width: int
    depth: int = 2
    bound: float = 1.0
    truth: str = "tangent"
    gap: float = 0.0
    init: str = "symmetric"

    def __post_init__(self):
        if self.truth not in TRUTHS:
            raise ValueError(f"truth must be one of {', '.join(TRUTHS)}, not {self.truth!r}")
        if self.documents % 2:
            raise ValueError(f"documents must be even, not {self.documents}")

    @property
    def network(self) -> Network:
        return Network(self.features, self.width, self.depth, self.init)

    @property
    def gain(self) -> float:
        """What `neural.tangent_kernel` calls so."""
        return 1.0 if self.init == "symmetric" else self.width / self.features


class Worlds(NamedTuple):
    """Some drawn worlds, R of them, with D documents each, those of a query one after another.

    Args:
        features: Float32[R, D, d].
        inputs: of the network, Float64[R, D, inputs].
        theta: θ₀, Float64[R, p].
        tangent: of all documents at θ₀.
        kernel: ⟨v, v′⟩ of all documents at θ₀, Float64[R, D, D].
        x: `neural.coordinates` of all documents, padded with zeros, Float64[R, D, D].
        scores: h, Float64[R, D].
    """

    features: torch.Tensor
    inputs: torch.Tensor
    theta: torch.Tensor
    tangent: Tangent
    kernel: np.ndarray
    x: np.ndarray
    scores: np.ndarray


def pairs_of(queries: int, documents: int) -> np.ndarray:
    """All pairs of documents of the same query, by their numbers: Int64[queries · V(V−1)/2, 2]."""
    upper, lower = np.triu_indices(documents, 1)
    within = np.stack([upper, lower], axis=1)
    return (np.arange(queries)[:, None, None] * documents + within).reshape(-1, 2)


def draw(world: Wide, n: int, seed: int) -> Worlds:
    """Draw n worlds of a kind.

    Raises:
        ValueError: no world has such gaps.
    """
    rng = generator(f"wide worlds {sorted(asdict(world).items())}", seed)
    size = world.queries * world.documents
    pairs = pairs_of(world.queries, world.documents)
    features = np.empty((n, size, world.features), dtype=np.float32)
    scores, kernel, x = np.empty((n, size)), np.empty((n, size, size)), np.zeros((n, size, size))
    network, other = world.network, Network(world.features, world.width, world.depth)
    theta = network.initial(Streams(_keys(world, n, seed))).double()
    poor = np.arange(n)
    for _ in range(500):
        fresh = rng.standard_normal((len(poor), size, world.features))
        features[poor] = fresh / np.linalg.norm(fresh, axis=2, keepdims=True)
        inputs = network.inputs(torch.from_numpy(features[poor])).double()
        tangent = _tangent(network, theta[poor], inputs)
        kernel[poor] = tangent.kernel(tangent).numpy()
        for r in poor:
            own = neural.coordinates(kernel[r])
            x[r] = 0.0
            x[r, :, : own.shape[1]] = own
            if world.truth == "tangent":
                direction = rng.standard_normal(own.shape[1])
                scores[r] = own @ direction * (world.bound / np.linalg.norm(direction))
            else:
                key = rng.integers(1 << 62, size=1).astype(np.uint64)
                documents = torch.from_numpy(features[[r]]).double()
                wanted = other.forward(other.initial(Streams(key)).double(), documents).scores[0].numpy()
                near = own @ np.linalg.lstsq(own, wanted, rcond=None)[0]
                scores[r] = near * (world.bound / neural.least_norm(near, kernel[r]))
        gaps = np.abs(special.expit(scores[poor][:, pairs[:, 0]] - scores[poor][:, pairs[:, 1]]) - 0.5)
        poor = poor[(gaps < world.gap).any(axis=1)]
        if not len(poor):
            break
    else:
        raise ValueError(f"documents of {world} cannot be {world.gap} apart")
    inputs = network.inputs(torch.from_numpy(features)).double()
    return Worlds(torch.from_numpy(features), inputs, theta, _tangent(network, theta, inputs), kernel, x, scores)


def _keys(world: Wide, n: int, seed: int) -> np.ndarray:
    return np.array([replica_key(f"wide {seed} {world}", 1, i) for i in range(n)], dtype=np.uint64)


def _tangent(network: Network, theta: torch.Tensor, inputs: torch.Tensor) -> Tangent:
    return network.tangent(theta, network.forward(theta, inputs).activations)


def _squared(gram: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """C_ii + C_jj − 2 C_ij of some pairs: Float64[R, pairs]."""
    i, j = pairs.T
    return np.maximum(gram[:, i, i] + gram[:, j, j] - 2 * gram[:, i, j], 0.0)


class Run:
    """Worlds, their networks, and the sums that theory speaks of; `step` is one round.

    Attributes:
        pairs: all pairs of the pool, Int64[E, 2].
        preference: σ(h_i − h_j) of each, Float64[R, E].
        wins, losses: labels of each, Float64[R, E].
        seen: rounds in which each document was a candidate, Float64[R, D].
        gram: Ā in the coordinates of the pool, Float64[R, D, D].
        martingale: Σ (y − σ(h_i − h_j)) (x_i − x_j), Float64[R, D].
    """

    def __init__(
        self,
        world: Wide,
        worlds: int,
        regularization: float,
        delta: float,
        seed: int,
        passes: int = 20,
        users: str = "matched",
    ):
        if users not in USERS:
            raise ValueError(f"users must be one of {', '.join(USERS)}, not {users!r}")
        self.world, self.regularization, self.delta, self.users = world, regularization, delta, users
        self.network = world.network
        self.drawn = draw(world, worlds, seed)
        self.streams = Streams(_keys(world, worlds, seed))
        self.round = 0
        size = world.queries * world.documents
        self.pairs = pairs_of(world.queries, world.documents)
        self.x = self.drawn.x[:, self.pairs[:, 0]] - self.drawn.x[:, self.pairs[:, 1]]
        self.preference = special.expit(np.subtract(*self.drawn.scores[:, self.pairs].transpose(2, 0, 1)))
        self.number = np.zeros((size, size), dtype=np.int64)
        self.number[self.pairs[:, 0], self.pairs[:, 1]] = np.arange(len(self.pairs))
        self.number += self.number.T
        self.wins, self.losses = np.zeros(self.preference.shape), np.zeros(self.preference.shape)
        self.seen = np.zeros((worlds, size))
        self.gram = np.broadcast_to(regularization * np.eye(size), (worlds, size, size)).copy()
        self.martingale = np.zeros((worlds, size))

        features = self.drawn.features.reshape(-1, world.features)
        v = world.documents
        self._pool = (features, torch.arange(0, len(features) + 1, v), features.reshape(-1, v, world.features).sum(1))
        lam = torch.full((worlds,), regularization, dtype=torch.float64)
        theta = self.drawn.theta
        self.history = History(worlds, self.drawn.inputs.shape[2])
        self.fit = NetworkFit(self.network, theta, theta, lam, method="lbfgs", passes=passes)
        self.current = Dual(self.network, lam)
        self.diagonal = Explicit(self.network, lam, full=False)

    @property
    def log_det(self) -> np.ndarray:
        """log(det Ā/det λI): Float64[R]."""
        return np.linalg.slogdet(self.gram)[1] - self.gram.shape[1] * np.log(self.regularization)

    def query(self) -> torch.Tensor:
        """The round's query: Int64[R]."""
        return self.streams.integers_below(
            Stream.QUERY, self.round, torch.full((len(self.streams),), self.world.queries)
        )

    def candidates(self, query: torch.Tensor) -> Candidates:
        return Candidates(*self._pool, torch.arange(len(query)) * self.world.queries + query)

    def step(self) -> None:
        """Show a query, see labels of its pairs, add to A and refit."""
        world, every = self.world, np.arange(len(self.streams))[:, None]
        v, drawn = world.documents, self.query()
        documents = drawn.numpy()[:, None] * v + np.arange(v)  # numbers in the pool
        inputs = self.drawn.inputs[torch.from_numpy(every), torch.from_numpy(documents)]
        slots, labels = self._matched(documents) if self.users == "matched" else self._clicked(documents, inputs)
        there = slots[..., 0] >= 0
        first, second = (np.take_along_axis(documents, np.maximum(slots[..., k], 0), axis=1) for k in (0, 1))
        number = np.where(there, self.number[first, second], 0)
        chance = self.preference[every, number]
        np.add.at(self.wins, (every, number), (labels & there).astype(float))
        np.add.at(self.losses, (every, number), (~labels & there).astype(float))
        self.seen[every, documents] += 1
        x = np.where(there[..., None], self.x[every, number], 0.0)
        self.gram += np.einsum("rpk,rpl->rkl", x, x)
        self.martingale += ((labels - chance)[..., None] * x).sum(axis=1)

        tangent = _tangent(self.network, self.fit.theta, inputs)
        pairs = torch.from_numpy(slots)
        self.current.add(tangent, pairs)
        self.diagonal.add(tangent, pairs)
        changed = self.history.add(self.candidates(drawn), inputs.float(), pairs, torch.from_numpy(labels))
        self.fit.refit(self.history, changed)
        self.round += 1

    def _matched(self, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a random matching and their labels, as the theorems' model has them.

        Args:
            documents: of the query, by their numbers in the pool, Int64[R, V].

        Returns:
            Int64[R, V/2, 2], positions of two documents, the first of which comes first in the query, and Bool[R, V/2],
            whether it is preferred.
        """
        v = documents.shape[1]
        order = np.argsort(self.streams.uniforms(Stream.PAIRS, self.round, v).numpy(), axis=1)
        slots = np.sort(order.reshape(len(order), v // 2, 2), axis=2)
        first, second = (np.take_along_axis(documents, slots[..., k], axis=1) for k in (0, 1))
        chance = self.preference[np.arange(len(documents))[:, None], self.number[first, second]]
        return slots, self.streams.uniforms(Stream.CLICK, self.round, v // 2).numpy() < chance

    def _clicked(self, documents: np.ndarray, inputs: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Pairs that the learner infers from the clicks of users who stop; as `_matched`, padded with −1."""
        v = documents.shape[1]
        scores = self.network.forward(self.fit.theta, inputs).scores.numpy()
        shown = np.argsort(-scores, axis=1, kind="stable")
        h = self.drawn.scores[np.arange(len(documents))[:, None], np.take_along_axis(documents, shown, axis=1)]
        clicks = self.streams.uniforms(Stream.CLICK, self.round, v).numpy() < special.expit(h)
        clicks, _ = until_left(clicks, self.streams.uniforms(Stream.STOP, self.round, v).numpy() < STOP)
        return inferred(shown, clicks, self.streams, self.round)

    def linear(self) -> np.ndarray:
        """ẑ, the fit of the linear model, in the coordinates of the pool: Float64[R, D]."""
        return np.stack(
            [confidence.fitted(x, self.wins[r], self.losses[r], self.regularization) for r, x in enumerate(self.x)]
        )

    def slopes(self, theta: np.ndarray) -> np.ndarray:
        """c_t of each world: Float64[R]."""
        there = self.wins + self.losses > 0
        every = zip(self.x, there, theta, strict=True)
        return np.array([neural.reached_slope(x[rows], z, self.world.bound) for x, rows, z in every])

    def drift(self) -> np.ndarray:
        """‖A − Ā‖ of each world, Float64[R], from the gradients of all pairs at both θ."""
        parts = list(self.current.gradients())
        if not parts:
            return np.zeros(len(self.wins))
        moved = torch.cat(parts, dim=1).numpy()
        anchored = self.drawn.tangent.explicit().numpy()
        counts = self.wins + self.losses
        norms = []
        for r in range(len(moved)):
            seen = counts[r] > 0
            start = anchored[r, self.pairs[seen, 0]] - anchored[r, self.pairs[seen, 1]]
            start *= np.sqrt(counts[r, seen])[:, None]
            there = moved[r][moved[r].any(axis=1)]
            both = np.concatenate([there, start])
            sign = np.repeat([1.0, -1.0], [len(there), len(start)])
            # the eigenvalues of G S Gᵀ that are not zero are those of S Gᵀ G
            norms.append(float(np.abs(np.linalg.eigvals((both @ both.T) * sign)).max(initial=0.0)))
        return np.array(norms)


def inferred(
    shown: np.ndarray, clicks: np.ndarray, streams: Streams, round_: int
) -> tuple[np.ndarray, np.ndarray]:
    """Matched pairs that a learner infers from clicks on lists.

    Args:
        shown: the lists, Int64[R, V]; clicks: Bool[R, V].

    Returns:
        Int64[R, P, 2], positions of two documents, the first of which comes first in the query, padded with −1; and
        Bool[R, P], whether it is preferred.
    """
    pairs, labels = engine("torch").pairs_from_clicks(
        torch.from_numpy(shown), torch.from_numpy(clicks), "matched", streams, round_
    )
    slots = pairs.numpy()
    turned, there = slots[..., 0] > slots[..., 1], slots[..., 0] >= 0
    return np.sort(slots, axis=2), (labels.numpy() ^ turned) & there


class Look(NamedTuple):
    """Lemma 3.3 for all pairs of the pool at one moment, with the gradients at θ₀.

    Args:
        theta: ẑ in the coordinates of the pool, Float64[R, D].
        slope: c_t, Float64[R].
        alpha: α_t, Float64[R].
        linear: w·ẑ, Float64[R, E].
        scores: f_ij(θ_t), Float64[R, E].
        norm: ‖w_ij‖ by Ā⁻¹, Float64[R, E].
        error: ε_ij, Float64[R, E].
    """

    theta: np.ndarray
    slope: np.ndarray
    alpha: np.ndarray
    linear: np.ndarray
    scores: np.ndarray
    norm: np.ndarray
    error: np.ndarray


def look(run: Run) -> Look:
    """Form the intervals as they are now."""
    theta = run.linear()
    slope = run.slopes(theta)
    alpha = neural.width(run.log_det, run.regularization, run.world.bound, run.delta, slope)
    linear = np.einsum("rek,rk->re", run.x, theta)
    scores = run.network.forward(run.fit.theta, run.drawn.inputs).scores.numpy()
    f = scores[:, run.pairs[:, 0]] - scores[:, run.pairs[:, 1]]
    norm = np.sqrt(np.einsum("rek,rek->re", run.x, np.linalg.solve(run.gram, run.x.swapaxes(1, 2)).swapaxes(1, 2)))
    return Look(theta, slope, alpha, linear, f, norm, neural.measured_error(f, linear))


class Later(NamedTuple):
    """Lemma 3.3 for all pairs of the pool, with the gradients as they are now and A as the learner keeps it.

    Args:
        alpha: α_t, stretched by the drift, Float64[R].
        full, diagonal: ‖w_ij‖ by A⁻¹ and by diag(A)⁻¹, Float64[R, E].
        error: ε_ij, Float64[R, E].
        excess: κ of the pool's gradients, Float64[R].
    """

    alpha: np.ndarray
    full: np.ndarray
    diagonal: np.ndarray
    error: np.ndarray
    excess: np.ndarray


def later(run: Run, at: Look) -> Later:
    """The same intervals by the learner's own gradients and covariances."""
    world, (i, j) = run.world, run.pairs.T
    alpha = neural.width(run.log_det, run.regularization, world.bound, run.delta, at.slope, drift=run.drift())
    tangent = _tangent(run.network, run.fit.theta, run.drawn.inputs)
    # v′(x)·ẑ, with ẑ = Σ_k a_k v(x_k)
    weights = np.stack([np.linalg.pinv(x, rcond=1e-6).T @ z for x, z in zip(run.drawn.x, at.theta, strict=True)])
    mixed = tangent.kernel(run.drawn.tangent).numpy()
    now = np.einsum("rvk,rk->rv", mixed, weights)
    # ‖w′ − w‖² = ‖w′‖² + ‖w‖² − 2 w′·w
    cross = mixed[:, i, i] + mixed[:, j, j] - mixed[:, i, j] - mixed[:, j, i]
    turned = _squared(tangent.kernel(tangent).numpy(), run.pairs) + _squared(run.drawn.kernel, run.pairs) - 2 * cross
    error = neural.measured_error(at.scores, now[:, i] - now[:, j], np.sqrt(np.maximum(turned, 0.0)), world.bound)
    full, diagonal = (covariance.gram(tangent).numpy() for covariance in (run.current, run.diagonal))
    excess = np.array([neural.excess(*each) for each in zip(full, diagonal, strict=True)])
    norm, narrow = (np.sqrt(_squared(gram, run.pairs)) for gram in (full, diagonal))
    return Later(alpha, norm, narrow, error, excess)


def _table(parts: Sequence[tuple[int, str, np.ndarray]]) -> pd.DataFrame:
    frames = [
        pd.DataFrame({"world": np.arange(len(value)), "round": round_, "quantity": name, "value": value})
        for round_, name, value in parts
    ]
    return pd.concat(frames, ignore_index=True)


def coverage(
    world: Wide,
    worlds: int,
    rounds: int,
    regularization: float = 1.0,
    delta: float = 0.1,
    every: int = 5,
    seed: int = 0,
    scale: float = 1.0,
    users: str = "matched",
) -> pd.DataFrame:
    """How near observed errors and log-determinants come to their bounds, along runs of random matchings.

    Per world, at the last round: each of `RATIOS`; "log det as printed", log det Ā over the printed bound with H as
    printed in place of its limit H̃, and "log det by documents", with H̃ and each document counted once; "bias", the mean
    of y − σ(h_ij) with the document of the higher h first; "labels", their number; "width needed" and "diagonal width
    needed", the least constants α that would have covered |σ(f_ij) − σ(h_ij)| at all looks; "width", α_t; "error", the
    largest ε_ij; "narrowing", the largest κ of `neural.excess`: how much narrower than the full interval, squared, a
    diagonal one can be within the pool.

    Args:
        rounds: T.
        regularization: λ; the printed bound on log det asks for at least 1.
        delta: δ₁.
        every: rounds between two looks.
        scale: multiplies α_t, to see that a smaller one is found out.
        users: one of `USERS`; "cascade" breaks the assumption on labels.
    """
    run = Run(world, worlds, regularization, delta, seed, users=users)
    printed = ("log det as printed", "log det by documents")
    names = (*RATIOS, *printed, "width needed", "diagonal width needed", "error", "narrowing")
    largest = {name: np.zeros(worlds) for name in names}
    inputs = run.drawn.inputs.numpy()
    kernels = neural.tangent_kernel(inputs, world.depth, world.gain)
    alpha = np.zeros(worlds)
    for t in range(1, rounds + 1):
        run.step()
        if t % every and t != rounds:
            continue
        start = look(run)
        now = later(run, start)
        alpha = scale * start.alpha
        log_det = run.log_det
        inverse = np.linalg.inv(run.gram)
        norm = np.sqrt(np.einsum("rk,rkl,rl->r", run.martingale, inverse, run.martingale))
        linear = np.abs(special.expit(start.linear) - run.preference)
        error = np.abs(special.expit(start.scores) - run.preference)
        labels = (run.wins + run.losses).sum(axis=1)
        near, far = alpha[:, None] * start.norm, scale * now.alpha[:, None]
        news = {
            "martingale": norm / (scale * confidence.martingale_radius(log_det, delta)),
            "linear": (linear / near).max(axis=1),
            "network": ((error - start.error) / near).max(axis=1),
            "current": ((error - now.error) / (far * now.full)).max(axis=1),
            "diagonal": ((error - now.error) / (far * now.diagonal)).max(axis=1),
            "radius": np.linalg.norm(start.theta, axis=1) / neural.fit_radius(np.maximum(labels, 1.0), regularization),
            "width needed": (error / now.full).max(axis=1),
            "diagonal width needed": (error / now.diagonal).max(axis=1),
            "error": start.error.max(axis=1),
            "narrowing": now.excess,
        }
        bounds: dict[str, list[float]] = {"log det": [], "log det by rounds": [], **{name: [] for name in printed}}
        for r in range(worlds):
            here = np.ix_(run.seen[r] > 0, run.seen[r] > 0)
            kernel, limit, below = run.drawn.kernel[r][here], kernels.tangent[r][here], kernels.printed[r][here]
            counts = run.seen[r, run.seen[r] > 0]
            bounds["log det"].append(neural.log_det_bound(kernel, limit, regularization, counts))
            bounds["log det by rounds"].append(neural.printed_log_det_bound(limit, regularization, counts))
            bounds["log det as printed"].append(neural.printed_log_det_bound(below, regularization, counts))
            bounds["log det by documents"].append(neural.printed_log_det_bound(limit, regularization))
        news |= {name: log_det / np.array(values) for name, values in bounds.items()}
        for name, value in news.items():
            largest[name] = np.maximum(largest[name], value)
    parts = [(rounds, name, largest[name]) for name in names]
    counts = run.wins + run.losses
    better = np.where(run.preference > 0.5, run.wins, run.losses).sum(axis=1)
    expected = (counts * np.maximum(run.preference, 1 - run.preference)).sum(axis=1)
    labelled = counts.sum(axis=1)
    bias = (better - expected) / np.maximum(labelled, 1)
    return _table([*parts, (rounds, "width", alpha), (rounds, "bias", bias), (rounds, "labels", labelled)])


def _above(run: Run, query: torch.Tensor, settled: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """List a query's documents by a random topological sort of the orders that are certain.

    Args:
        query: Int64[R].
        settled: whether the order of each of the query's pairs is certain, Bool[R, V(V−1)/2].
        ahead: whether the first of each pair scores higher, Bool[R, V(V−1)/2].

    Returns:
        Whether the first of each pair is listed above the second, Bool[R, V(V−1)/2].
    """
    v, replicas = run.world.documents, np.arange(len(ahead))[:, None]
    upper, lower = np.triu_indices(v, 1)
    certain = np.zeros((len(ahead), v, v), dtype=bool)
    certain[:, upper, lower], certain[:, lower, upper] = settled & ahead, settled & ~ahead
    documents = query[:, None] * v + torch.arange(v)
    inputs = run.drawn.inputs[torch.from_numpy(replicas), documents]
    scores = run.network.forward(run.fit.theta, inputs).scores.float()
    ranking, _, _ = engine("torch").arrange(
        run.candidates(query), scores, torch.from_numpy(certain), True, v, (), run.streams, run.round
    )
    place = np.argsort(ranking.numpy(), axis=1)
    return place[:, upper] < place[:, lower]


def regret(
    world: Wide,
    worlds: int,
    rounds: int,
    regularization: float = 1.0,
    delta: float = 0.1,
    scale: float = 1.0,
    every: int = 10,
    seed: int = 0,
) -> pd.DataFrame:
    """The regret of ranking by Lemma 3.3's intervals around the network's scores, and what theory allows.

    An order is certain if |σ(f_ij) − ½| exceeds f α_t ‖w_ij‖ + ε_ij, with f = `scale`, the gradients at θ₀ and the
    measured error; the list is a random topological sort of the certain orders; what is labelled does not depend on it.

    Per world, at each look, cumulative: "regret", mis-ordered pairs; "open", uncertain pairs; "allowed", pairs wide
    enough to be uncertain where the intervals hold, ‖w_ij‖ ≥ (Δ_ij − 2ε_ij)/(2f α_t); "wide", labelled pairs with
    ‖w_ij‖ ≥ η, the least of these numbers over all pairs and rounds so far; "most", what log det allows of them
    (`confidence.wide_pairs`); "shown", all pairs. At the last round: "bound", `neural.regret_bound` with the largest ε
    that was measured, which is for f = 1, and "q", the chance of a pair to be labelled.

    Args: as in `coverage`.
    """
    run = Run(world, worlds, regularization, delta, seed)
    v = world.documents
    per = v * (v - 1) // 2
    gaps = np.abs(run.preference - 0.5)
    names = ("regret", "open", "allowed", "shown")
    sums = {name: np.zeros(worlds) for name in names}
    least, worst = np.full(worlds, np.inf), np.zeros(worlds)
    labelled: list[np.ndarray] = []
    parts: list[tuple[int, str, np.ndarray]] = []
    replica = np.arange(worlds)[:, None]
    for t in range(1, rounds + 1):
        query = run.query()
        rows = query.numpy()[:, None] * per + np.arange(per)  # the query's pairs, in the order of triu_indices
        seen = look(run)
        alpha, norm, error = scale * seen.alpha[:, None], seen.norm, seen.error
        threshold = (gaps - 2 * error) / (2 * alpha)
        least, worst = np.minimum(least, threshold.min(axis=1)), np.maximum(worst, error.max(axis=1))
        settled = (np.abs(special.expit(seen.scores) - 0.5) > alpha * norm + error)[replica, rows]
        above = _above(run, query, settled, seen.scores[replica, rows] > 0)
        sums["regret"] += (above != (run.preference[replica, rows] > 0.5)).sum(axis=1)
        sums["open"] += (~settled).sum(axis=1)
        sums["allowed"] += (norm >= threshold)[replica, rows].sum(axis=1)
        sums["shown"] += per
        before = run.wins + run.losses
        run.step()
        labelled.append(np.where(run.wins + run.losses > before, norm, -np.inf))
        if t % every == 0 or t == rounds:
            wide = sum((each >= least[:, None]).sum(axis=1) for each in labelled)
            most = np.full(worlds, np.inf)
            most[least > 0] = confidence.wide_pairs(run.log_det[least > 0], least[least > 0], v // 2)
            parts += [(t, name, sums[name].copy()) for name in names]
            parts += [(t, "wide", np.asarray(wide, dtype=float)), (t, "most", most)]
    q = 1 / (v - 1)
    bounds = [
        neural.regret_bound(
            rounds,
            v,
            neural.coordinates(run.drawn.kernel[r]).shape[1],
            float(gaps[r].min()),
            float(worst[r]),
            float(np.sqrt(np.diagonal(run.drawn.kernel[r])).max()),
            world.bound,
            regularization,
            delta,
            q,
        )
        for r in range(worlds)
    ]
    return _table([*parts, (rounds, "bound", np.array(bounds)), (rounds, "q", np.full(worlds, q))])


def open_orders(
    world: Wide,
    worlds: int,
    labels: Sequence[int],
    regularization: float = 1.0,
    delta: float = 0.1,
    scale: float = 1.0,
    seed: int = 0,
) -> pd.DataFrame:
    """How long orders stay open as labels of all pairs come in, and what Lemma 4.2 allows.

    All is at θ₀ and with the linear model's ẑ, where Lemma 3.3 has no ε, so that labels may be as many as it takes. All
    pairs of the pool are labelled equally often, whatever the learner would show.

    Per world, after each number of labels of every pair (as "round"), shares of the pairs: "open", those that are
    uncertain, |σ(w·ẑ) − ½| ≤ f α_t ‖w‖ with f = `scale`; "allowed", those that may be where the intervals hold,
    ‖w‖ ≥ Δ_ij/(2f α_t); "wrong", certain ones in the wrong order. And "printed", the mean over pairs of the probability
    that Lemma 4.2 prints, at most 1, with c_t for c_μ and Δ_min of the world; it is for f = 1.

    Args:
        labels: of every pair, increasing.
        regularization: λ.
        delta: δ₁.
        scale: multiplies α_t, to see that a smaller one is found out.
    """
    drawn = draw(world, worlds, seed)
    pairs = pairs_of(world.queries, world.documents)
    x = drawn.x[:, pairs[:, 0]] - drawn.x[:, pairs[:, 1]]
    preference = special.expit(np.subtract(*drawn.scores[:, pairs].transpose(2, 0, 1)))
    gaps = np.abs(preference - 0.5)
    rng = generator("open orders", seed)
    parts = []
    for n in labels:
        wins = rng.binomial(n, preference)
        news: dict[str, list[float]] = {"open": [], "allowed": [], "wrong": [], "printed": []}
        for r, own in enumerate(x):
            gram = n * own.T @ own + regularization * np.eye(own.shape[1])
            log_det = float(np.linalg.slogdet(gram)[1] - own.shape[1] * np.log(regularization))
            theta = confidence.fitted(own, wins[r].astype(float), (n - wins[r]).astype(float), regularization)
            slope = neural.reached_slope(own, theta, world.bound)
            alpha = scale * neural.width(log_det, regularization, world.bound, delta, slope)
            square = (own * np.linalg.solve(gram, own.T).T).sum(axis=1)
            norm = np.sqrt(np.maximum(square, 0.0))
            estimate = special.expit(own @ theta) - 0.5
            certain = np.abs(estimate) > alpha * norm
            printed = confidence.printed_uncertain_probability(square, gaps[r].min(), delta, 0.0, slope, LABEL_NOISE)
            news["open"].append(float((~certain).mean()))
            news["allowed"].append(float((norm >= gaps[r] / (2 * alpha)).mean()))
            news["wrong"].append(float((certain & (estimate * (preference[r] - 0.5) < 0)).mean()))
            news["printed"].append(float(np.minimum(printed, 1.0).mean()))
        parts += [(n, name, np.array(values)) for name, values in news.items()]
    return _table(parts)


def own_blocks(tangent: Tangent) -> torch.Tensor:
    """⟨g, g′⟩/m of a symmetric network in which only the blocks on the diagonal of W_1 … W_{L−1} are parameters.

    Args:
        tangent: with inputs (x, x)/√2.

    Returns:
        Float[R, V, V].
    """
    total = tangent.inputs[-1] @ tangent.inputs[-1].mT
    for a, delta in zip(tangent.inputs, tangent.deltas, strict=False):
        for half, other in zip(a.chunk(2, dim=2), delta.chunk(2, dim=2), strict=True):
            total += (half @ half.mT) * (other @ other.mT)
    return total


PARAMETERS = ("all", "own blocks")
"""Which entries of the symmetric network's W_1 … W_{L−1} are parameters: all, or only the blocks on the diagonal."""


def _check_parameters(parameters: str) -> None:
    if parameters not in PARAMETERS:
        raise ValueError(f"parameters must be one of {', '.join(PARAMETERS)}, not {parameters!r}")


def _kernel(network: Network, key: np.uint64, inputs: torch.Tensor, parameters: str) -> np.ndarray:
    """⟨g, g′⟩/m of some documents' inputs at a draw of θ₀, Float64[V, V]."""
    tangent = _tangent(network, network.initial(Streams(np.array([key]))).double(), inputs[None])
    return (tangent.kernel(tangent) if parameters == "all" else own_blocks(tangent))[0].numpy()


def every_pair(
    width: int,
    parameters: str = "all",
    features: int = 8,
    documents: int = 16,
    depth: int = 2,
    regularization: float = 1.0,
    delta: float = 0.1,
    worlds: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """The log-determinant where every pair of a query has been labelled once, as many as a bound on it counts.

    A learner takes pairs that share no document, which are far fewer: there the bounds are slack. Per world, which has
    its own documents on the unit sphere and its own θ₀, in one round: log det Ā over its bounds, "log det", "log det by
    rounds" and "log det as printed" as in `coverage`.

    Args:
        width: m.
        parameters: one of `PARAMETERS`.
        features: d.
        documents: V.
        depth: L.
        regularization: λ; the printed bound asks for at least 1.
        delta: δ of the lemma, the share of worlds in which it may fail; it changes nothing that is measured.
    """
    _check_parameters(parameters)
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, not {delta:g}")
    network = Network(features, width, depth, "symmetric")
    x = generator("every pair", seed).standard_normal((worlds, documents, features))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    seen, squares = np.ones(documents), documents * np.eye(documents) - 1  # Σ (e_i − e_j)(e_i − e_j)ᵀ over all pairs
    found: dict[str, list[float]] = {"log det": [], "log det by rounds": [], "log det as printed": []}
    for i, own in enumerate(x):
        inputs = network.inputs(torch.from_numpy(own))
        kernel = _kernel(network, np.uint64(replica_key(f"every pair {seed}", 1, i)), inputs, parameters)
        limit = neural.tangent_kernel(inputs.numpy(), depth)
        log_det = float(np.linalg.slogdet(np.eye(documents) + kernel @ squares / regularization)[1])
        bounds = {
            "log det": neural.log_det_bound(kernel, limit.tangent, regularization, seen),
            "log det by rounds": neural.printed_log_det_bound(limit.tangent, regularization, seen),
            "log det as printed": neural.printed_log_det_bound(limit.printed, regularization, seen),
        }
        for name, bound in bounds.items():
            found[name].append(log_det / bound)
    return _table([(1, name, np.array(values)) for name, values in found.items()])


def kernel_convergence(
    widths: Sequence[int],
    parameters: str = "all",
    features: int = 5,
    documents: int = 6,
    depth: int = 2,
    draws: int = 16,
    seed: int = 0,
) -> pd.DataFrame:
    """How the tangent kernel of the paper's initialisation nears its limit as m grows.

    Per draw of θ₀, at each width (as "round"), the relative distance of ⟨g, g′⟩/m in Frobenius norm: "from H", which
    Lemma D.1 says is small, and "from H̃". With all parameters H̃ is the limit, with own blocks H (olranknet-thm-kernel).

    Args:
        widths: m, each even.
        parameters: one of `PARAMETERS`.
        features: d.
        documents: of the kernel, with normal features.
        depth: L.
        draws: of θ₀.
    """
    _check_parameters(parameters)
    rng = generator("kernel convergence", seed)
    x = torch.from_numpy(rng.standard_normal((documents, features)))
    keys = np.array([replica_key(f"kernel {seed}", 1, i) for i in range(draws)], dtype=np.uint64)
    parts = []
    for width in widths:
        network = Network(features, width, depth, "symmetric")
        inputs = network.inputs(x)
        limit = neural.tangent_kernel(inputs.numpy(), depth)
        found: dict[str, list[float]] = {"from H": [], "from H̃": []}
        for key in keys:
            kernel = _kernel(network, key, inputs, parameters)
            for name, wanted in zip(found, (limit.printed, limit.tangent), strict=True):
                found[name].append(float(np.linalg.norm(kernel - wanted) / np.linalg.norm(wanted)))
        parts += [(width, name, np.array(values)) for name, values in found.items()]
    return _table(parts)


def blind_spot(
    labels: Sequence[int],
    width: int = 8,
    depth: int = 2,
    bound: float = 1.0,
    regularization: float = 0.1,
    delta: float = 0.1,
    worlds: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """A pair that the diagonal of A takes for known although nothing was ever learned of it.

    Documents ±a and ±b with a = (1, 1)/√2 and b = (1, −1)/√2. Only ±a is ever labelled; ±b has h of its own. The
    gradients of the two pairs have about the same squares in every entry of W_1 and are nearly orthogonal, so diag(A)
    grows for b as it does for a. All is at θ₀ and with the linear model's ẑ, where Lemma 3.3 has no ε.

    Per world, after each number of labels (as "round"), of ±b: "error", |σ(w·ẑ) − σ(w·z*)|; "full" and "diagonal", the
    error over α_t ‖w‖, with A⁻¹ and with diag(A)⁻¹; "narrower", the diagonal norm over the full one.
    """
    network = Network(2, width, depth, "symmetric")
    keys = np.array([replica_key(f"blind spot {seed}", 1, i) for i in range(worlds)], dtype=np.uint64)
    theta = network.initial(Streams(keys)).double()
    points = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], dtype=torch.float64)
    inputs = network.inputs(points)[None].expand(worlds, -1, -1)
    gradients = _tangent(network, theta, inputs).explicit().numpy()
    a, b = gradients[:, 0] - gradients[:, 1], gradients[:, 2] - gradients[:, 3]
    rng = generator("blind spot", seed)
    parts = []
    for n in labels:
        news: dict[str, list[float]] = {"error": [], "full": [], "diagonal": [], "narrower": []}
        for seen, unseen in zip(a, b, strict=True):
            # z* has length S and is for ±b what it can be
            truth = unseen * (bound / np.linalg.norm(unseen))
            wins = float(rng.binomial(n, special.expit(seen @ truth)))
            length = np.array([[np.linalg.norm(seen)]])
            along = confidence.fitted(length, np.array([wins]), np.array([n - wins]), regularization)
            estimate = seen * (along[0] / length[0, 0])
            square = float(seen @ seen)
            log_det = float(np.log1p(n * square / regularization))
            slope = neural.reached_slope(length, along, bound)
            alpha = neural.width(log_det, regularization, bound, delta, slope)
            inside = (unseen @ seen) ** 2 * n / (regularization + n * square)
            full = np.sqrt((unseen @ unseen - inside) / regularization)
            diagonal = np.sqrt((unseen**2 / (regularization + n * seen**2)).sum())
            error = abs(float(special.expit(unseen @ estimate) - special.expit(unseen @ truth)))
            values = (error, error / (alpha * full), error / (alpha * diagonal), diagonal / full)
            for name, value in zip(news, values, strict=True):
                news[name].append(float(value))
        parts += [(n, name, np.array(values)) for name, values in news.items()]
    return _table(parts)


def typical_widths(
    labels: Sequence[int],
    features: int = 46,
    width: int = 100,
    depth: int = 2,
    init: str = "he",
    documents: int = 400,
    regularization: float = 0.1,
    worlds: int = 4,
    seed: int = 0,
) -> pd.DataFrame:
    """How the widths by A⁻¹ and by diag(A)⁻¹ shrink as random pairs of some documents are added to A.

    Gradients are at θ₀; documents have non-negative features, about two fifths of them zero. Per world, after each
    number of pairs (as "round"), over 300 other pairs: "full" and "diagonal", the median of ‖w‖ over ‖w‖ before any
    pair; "narrower", the share of pairs whose diagonal norm is below the full one; "alike" and "prior", the rank
    correlation of the diagonal norm with the full one, and with ‖w‖ before any pair, which knows nothing of the pairs.

    Args:
        labels: numbers of pairs, increasing.
        features: d.
        width: m.
        depth: L.
        regularization: λ.
    """
    rng = generator("typical widths", seed)
    network = Network(features, width, depth, init)
    keys = np.array([replica_key(f"typical widths {seed}", 1, i) for i in range(worlds)], dtype=np.uint64)
    there = rng.random((worlds, documents, features)) < 0.6
    there[:, :, 0] = True  # no document without features
    inputs = network.inputs(torch.from_numpy(rng.random(there.shape) * there))
    tangent = _tangent(network, network.initial(Streams(keys)).double(), inputs)
    lam = torch.full((worlds,), regularization, dtype=torch.float64)
    full, diagonal = Dual(network, lam), Explicit(network, lam, full=False)
    first = rng.integers(0, documents, 300)
    asked = np.stack([first, (first + rng.integers(1, documents, 300)) % documents], axis=1)
    prior = np.sqrt(_squared(tangent.kernel(tangent).numpy(), asked) / regularization)
    parts, seen = [], 0
    for n in labels:
        for number in np.diff(np.r_[np.arange(seen, n, 100), n]):
            first = rng.integers(0, documents, (worlds, number))
            second = (first + rng.integers(1, documents, (worlds, number))) % documents
            pairs = torch.from_numpy(np.stack([first, second], axis=2))
            full.add(tangent, pairs)
            diagonal.add(tangent, pairs)
        seen = n
        norm, narrow = (np.sqrt(_squared(each.gram(tangent).numpy(), asked)) for each in (full, diagonal))
        ranked = [np.argsort(np.argsort(each, axis=1), axis=1) for each in (narrow, norm, prior)]
        both = [[float(np.corrcoef(ranked[0][r], other[r])[0, 1]) for r in range(worlds)] for other in ranked[1:]]
        parts += [
            (n, "full", np.median(norm / prior, axis=1)),
            (n, "diagonal", np.median(narrow / prior, axis=1)),
            (n, "narrower", (narrow < norm * (1 - 1e-9)).mean(axis=1)),
            (n, "alike", np.array(both[0])),
            (n, "prior", np.array(both[1])),
        ]
    return _table(parts)
