"""How good olRankNet's refits and intervals are: the kinds of cell "gap" and "coverage", and what long runs refit by.

*Gap*: users click as in the main results while one olRankNet chooses the lists, so that there is one history. Several
ways of refitting follow this history side by side, each from where it stood itself, and at some rounds each is
compared with the local optimum of the objective below it.

*Coverage*: the documents are those of the data set, but preferences come from a truth that a wide network could learn:
h is a multiple of the scores of a random network with He's start, which is not the learner's own start. In each round
the learner shows its list, shown documents are matched at random, and of some pairs a label says with probability
σ(h_i − h_j) that i is preferred. So everything is as the theorems assume, but for the width of the network and the
passes of a refit. A and its diagonal are kept of the same gradients; the lists follow one of the two.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import pandas as pd
import torch
from scipy import special

from ol2r import data
from ol2r.clicks import users_of_grades
from ol2r.cost import Cost
from ol2r.data import RankingDataset
from ol2r.experiments.cells import Cell, OneByOne, Row
from ol2r.experiments.effects import effect_over_runs
from ol2r.experiments.grid import SMOKE_ROUNDS, checksum, on
from ol2r.experiments.kinds.on_dataset import OnDataset, compiling
from ol2r.learners import LEARNERS
from ol2r.learners.olranknet import OlRankNet
from ol2r.networks import Covariance, Explicit, Full, History, Network, NetworkFit, Tangent
from ol2r.parameters import Value
from ol2r.random import Stream, Streams, replica_key
from ol2r.ranking import Candidates
from ol2r.simulation import Evaluation, Replica, make_streams, simulate

K = 10
_CODE = (
    "ol2r.arrays",
    "ol2r.random",
    "ol2r.ranking",
    "ol2r.networks",
    "ol2r.data",
    "ol2r.rankers",
    "ol2r.learners",
    "ol2r.papers.olranknet.fits",
)


@dataclass(frozen=True)
class OfOlRankNet(OnDataset, OneByOne):
    """A cell on runs of olRankNet, one for each fold and seed.

    Args:
        hyperparameters: of the learner that chooses the lists, all, in the order of their names.
        rounds: after which to look, ascending.
        revision: of olRankNet's trajectories.
    """

    hyperparameters: tuple[tuple[str, Value], ...]
    rounds: tuple[int, ...]
    revision: int = LEARNERS["olRankNet"].revision

    repeats = "means"

    def __post_init__(self):
        OlRankNet.check(dict(self.hyperparameters))
        if not self.rounds or list(self.rounds) != sorted(set(self.rounds)) or self.rounds[0] < 1:
            raise ValueError("rounds must be ascending and at least 1")

    @property
    def setting(self) -> dict[str, Value]:
        """The learner's hyper-parameters by name."""
        return dict(self.hyperparameters)

    def labels(self) -> dict[str, str | float | int]:
        """Data set, and of the learner that chooses the lists: tuned α, covariance, start and width of the network."""
        own = self.setting
        told = {"tuned_alpha": own["alpha"], "ranked_by": own["covariance"], "init": own["init"], "width": own["width"]}
        return {"dataset": self.dataset} | told

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling what olRankNet needs of the engine."""
        return compiling("olRankNet", "cpu")


class Way(NamedTuple):
    """A way of refitting.

    Args:
        changed: hyper-parameters that differ from those of the learner that chooses the lists.
        kept: whether one fit goes on from refit to refit; else each refit has a new one, with an empty memory.
    """

    changed: Mapping[str, Value]
    kept: bool = True


WAYS: dict[str, Way] = {
    "Adam, 20 passes": Way({"refit": "adam", "passes": 20, "start": "warm"}),
    "Adam, 20 passes, fresh start and decay": Way(
        {"refit": "adam", "passes": 20, "start": "fresh", "penalty": "decay"}
    ),
    "Adam, 20 passes, fresh start and decay, larger rate": Way(
        {"refit": "adam", "passes": 20, "start": "fresh", "penalty": "decay", "rate": 1e-2}
    ),
    "L-BFGS, 20 passes, memory emptied": Way({"refit": "lbfgs", "passes": 20, "start": "warm"}, kept=False),
    "L-BFGS, 10 passes, memory kept": Way({"refit": "lbfgs", "passes": 10, "start": "warm"}),
}
"""The ways of refitting that are compared. The larger rate is the one that was tuned for fresh starts with decay."""

SMALL_REGULARIZATION = 1e-3
MOST_PASSES = 200
"""Passes to the optimum that gaps are measured from, unless it is reached before."""


class Follower:
    """One way of refitting, which follows the history of another run.

    Args:
        features: d.
        streams: of one replica.
        way: the way of refitting.
    """

    def __init__(self, features: int, setting: Mapping[str, Value], streams: Streams, way: Way):
        self._new: Callable[[], OlRankNet] = lambda: OlRankNet(features, {**setting, **way.changed}, streams)
        self._way, self._streams = way, streams
        self.learner = self._new()
        self.fit = self.learner.fit

    def refit(self, history: History, round_: int) -> None:
        """Refit to the history as it is after a round."""
        start = None
        if self._way.changed["start"] == "fresh":
            start = self.learner.network.initial(self._streams, round_)
        if not self._way.kept:
            start, self.fit = self.fit.theta, self._new().fit
        self.fit.refit(history, torch.ones(1, dtype=torch.bool), start)

    def quantities(self, history: History, most: int) -> dict[str, float]:
        """What the last refit has won, of what so many passes to the optimum win."""
        return quantities(self.fit, self.learner.theta0, history, most)


def quantities(fit: NetworkFit, theta0: torch.Tensor, history: History, most: int) -> dict[str, float]:
    """The objective for each label at θ₀, where a fit stands, and at the local optimum below that, and the gap.

    Args:
        fit, history, most: see `optimum`.
        theta0: of one replica.

    Returns:
        "start", "value", "optimum", and "gap", (value − optimum)/(start − optimum): of all that a fit could win over
        θ₀, the share that it has not won.
    """
    n = float(history.n_labels[0])
    start, value = (_value(fit, theta, history) for theta in (theta0, fit.theta))
    least = optimum(fit, history, most)
    return {"start": start / n, "value": value / n, "optimum": least / n, "gap": (value - least) / (start - least)}


def _value(fit: NetworkFit, theta: torch.Tensor, history: History) -> float:
    """The objective at θ in double precision."""
    return float(_precise(fit, theta).expand(history).value[0])


def _precise(fit: NetworkFit, theta: torch.Tensor) -> NetworkFit:
    """The same objective in double precision, at θ."""
    other = copy.copy(fit)
    other.theta = theta.double()
    other.anchor = None if fit.anchor is None else fit.anchor.double()
    return other


def optimum(fit: NetworkFit, history: History, most: int) -> float:
    """The objective's local minimum below the place where a fit stands, by L-BFGS in double precision.

    It ends when no entry of the gradient exceeds 1e-7 for each label, or after `most` passes, when what is left to win
    is a thousandth or so of what was won since θ₀: the kinks of the units make the last steps short. It never ends
    higher than it began.

    Args:
        fit: of one replica.
        history: what it was fitted to.
        most: passes.
    """
    from scipy import optimize  # here, because it takes long to load, and every command declares these cells

    here = _precise(fit, fit.theta)

    def expand(theta: np.ndarray) -> tuple[float, np.ndarray]:
        here.theta = torch.from_numpy(theta)[None]
        value, gradient = here.expand(history)
        return float(value[0]), gradient[0].numpy()

    begin = here.theta[0].numpy().copy()
    options = {"maxcor": 40, "maxiter": most, "maxfun": most, "ftol": 0.0, "gtol": 1e-7 * float(history.n_labels[0])}
    found = optimize.minimize(expand, begin, jac=True, method="L-BFGS-B", options=options)
    return min(float(found.fun), expand(begin)[0])


@dataclass(frozen=True)
class Gap(OfOlRankNet):
    """How far refits are from the local optimum of olRankNet's objective (Eq. 3.2), on a history of clicks.

    Its table: fold, seed, round, refit (a key of `WAYS`), regularization (λ of the refit), pairs (distinct ones so
    far), quantity (see `quantities`), value.

    Args:
        regularizations: λ of the refits.
        most: passes to the optimum.
        ways: the ways of refitting.
    """

    users: str = "informational"
    regularizations: tuple[float, ...] = ()
    most: int = MOST_PASSES
    ways: tuple[str, ...] = tuple(WAYS)

    kind: ClassVar[str] = "gap"
    code: ClassVar[tuple[str, ...]] = (*_CODE, "ol2r.clicks", "ol2r.replay", "ol2r.simulation")

    def labels(self) -> dict[str, str | float | int]:
        """Those of all such cells, users and the λ that was tuned."""
        return super().labels() | {"users": self.users, "tuned_regularization": float(self.setting["regularization"])}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """Passes over a growing history, and the optima."""
        fits = 1 + len(self.ways) * len(self.regularizations)
        learning = LEARNERS["olRankNet"].cost(self.setting, self.size.shape, self.rounds[-1], "cpu").seconds
        return Cost(learning * fits + 2.0 * (fits - 1) * len(self.rounds), alone=True).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The quantities of each row's run."""
        return pd.concat([self._run(row) for row in rows], ignore_index=True)

    def _run(self, row: Row) -> pd.DataFrame:
        dataset = data.load(self.dataset, self.checksum)
        replicas = [Replica(row.fold, row.seed, users_of_grades(self.users, dataset.n_grades))]
        streams = make_streams(dataset, replicas)
        learner = OlRankNet(dataset.n_features, self.setting, streams)
        followers = {
            (name, penalty): Follower(
                dataset.n_features, self.setting | {"regularization": penalty}, streams, WAYS[name]
            )
            for name in self.ways
            for penalty in self.regularizations
        }
        lines, labels = [], 0.0

        def follow(round_: int, *shown: Any) -> None:
            """Before a round's update: what is to be done after the update of the round before."""
            nonlocal labels
            n = float(learner.history.n_labels[0])
            if n > labels:
                for follower in followers.values():
                    follower.refit(learner.history, round_ - 1)
                labels = n
            if round_ - 1 in self.rounds and n:
                pairs = int(learner.history.n_pairs[0])
                for (name, penalty), follower in followers.items():
                    there = follower.quantities(learner.history, self.most).items()
                    lines.extend((*row, round_ - 1, name, penalty, pairs, *each) for each in there)

        evaluation = Evaluation(
            k=K, split="test", gain="exponential", empty="zero", ties="expected", gamma=1.0,
            checkpoints=(self.rounds[-1] + 1,),
        )  # fmt: skip
        simulate(dataset, replicas, learner, evaluation, observe=follow)
        names = ["fold", "seed", "round", "refit", "regularization", "pairs", "quantity", "value"]
        return pd.DataFrame(lines, columns=names)


def truth(dataset: RankingDataset, fold: int, seed: int, width: int, spread: float) -> np.ndarray:
    """h of all documents: scores of a random network of depth 2 with He's start, scaled.

    Args:
        fold, seed: of the run; each has its own network.
        width: m of the network.
        spread: the deviation of h within queries, over all documents.

    Returns:
        Float64[documents], with a mean of 0 in each query.
    """
    network = Network(dataset.n_features, width)
    key = np.array([replica_key(f"truth for {dataset.name}", fold, seed)], dtype=np.uint64)
    theta = network.initial(Streams(key)).double()
    features = torch.from_numpy(dataset.features).double()
    scores = torch.cat([network.forward(theta, part[None]).scores[0] for part in features.split(1 << 14)]).numpy()
    means = np.add.reduceat(scores, dataset.offsets[:-1]) / dataset.sizes
    scores = scores - np.repeat(means, dataset.sizes)
    return scores * (spread / scores.std())


class Beside:
    """Two covariances that are given the same gradients; whoever asks for widths gets those of the first."""

    def __init__(self, asked: Covariance, other: Covariance):
        self.asked, self.other = asked, other

    def add(self, tangent: Tangent, pairs: torch.Tensor) -> None:
        """See `Covariance.add`."""
        self.asked.add(tangent, pairs)
        self.other.add(tangent, pairs)

    def orders(self, *arguments: Any) -> torch.Tensor:
        """See `Covariance.orders`."""
        return self.asked.orders(*arguments)


class Known(NamedTuple):
    """Pairs of documents of the same query, with what is estimated, what is true and how wide the intervals are.

    Args:
        estimate: σ̂_ij − ½, Float64[pairs].
        truth: σ(h_i − h_j) − ½, Float64[pairs].
        widths: ‖g_ij/√m‖_{A⁻¹} by covariance, Float64[pairs]; "constant" is 1 for each pair.
    """

    estimate: np.ndarray
    truth: np.ndarray
    widths: Mapping[str, np.ndarray]


LADDER = tuple(float(10.0**e) for e in np.arange(-4.0, 1.01, 0.5))
"""α, from narrow to wide."""
COVERED = 0.95


def measured(known: Known, alpha: float, ladder: Sequence[float] = LADDER) -> list[tuple[str, str, float, float]]:
    """What intervals of several widths cover: covariance, quantity, at (the α), value; see `Coverage`."""
    from scipy import stats  # here, as above

    error, wrong = np.abs(known.estimate - known.truth), known.estimate * known.truth <= 0
    lines: list[tuple[str, str, float, float]] = []
    for name, width in known.widths.items():
        width = np.maximum(width, 1e-12)
        sureness = np.abs(known.estimate) / width
        needed = float(np.quantile(error / width, COVERED))
        tested = [("", at) for at in sorted({*ladder, alpha})] + [(" where needed", needed)]
        for suffix, at in tested:
            certain = sureness > at
            shares = {"inside": error <= at * width, "certain": certain, "wrong": certain & wrong}
            lines += [(name, quantity + suffix, at, float(share.mean())) for quantity, share in shares.items()]
        lines.append((name, "needed", alpha, needed))
        for half, order in (("narrower", width), ("surer", -sureness)):
            first = np.argsort(order, kind="stable")[: (len(order) + 1) // 2]
            lines.append((name, f"wrong in the {half} half", alpha, float(wrong[first].mean())))
        lines.append((name, "wrong of all", alpha, float(wrong.mean())))
        alike = cast(float, stats.spearmanr(width, error)[0]) if np.ptp(width) > 0 and np.ptp(error) > 0 else 0.0
        lines.append((name, "width and error", alpha, float(alike)))
    return lines


@dataclass(frozen=True)
class Coverage(OfOlRankNet):
    """How often olRankNet's intervals hold what they should, in a world that a network could learn.

    Its table: fold, seed, round, part ("train" or "test" queries), covariance ("full", "diagonal", or "constant", which
    gives each pair the width 1), quantity, at (the α of the interval), value. Pairs are all of some queries' documents
    with different h. Shares of pairs: "inside", |σ̂ − σ| ≤ α ‖g_ij/√m‖; "certain", |σ̂ − ½| > α ‖g_ij/√m‖; "wrong",
    certain and in the wrong order. They are given at the tuned α, at those of `LADDER`, and " where needed": at the α
    with which 95 % of the pairs are inside, which is the value of "needed". Of all pairs, and of the half with the
    narrower intervals, and of the half with the largest |σ̂ − ½| for their width ("surer"), "wrong …" is the share in
    the wrong order. "width and error" is the rank correlation of the width and |σ̂ − σ|. The part "history" has the
    covariance "none" and what the refits have won (see `quantities`).

    Args:
        labels_a_round: pairs of a list that are labelled, at most.
        spread: deviation of h within queries.
        queries: of each part, at most.
        most: passes to the optimum.
    """

    labels_a_round: int = 2
    spread: float = 1.0
    queries: int = 40
    most: int = MOST_PASSES

    kind: ClassVar[str] = "coverage"
    code: ClassVar[tuple[str, ...]] = _CODE

    def labels(self) -> dict[str, str | float | int]:
        """Those of all such cells, users, λ, how it is refitted, and the deviation of h."""
        own = {"users": "realizable", "regularization": float(self.setting["regularization"]), "spread": self.spread}
        return super().labels() | own | {"refit": self.setting["refit"]}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """A run with the full covariance, and the widths of the looks."""
        full = self.setting | {"covariance": "full"}
        learning = LEARNERS["olRankNet"].cost(full, self.size.shape, self.rounds[-1], "cpu").seconds
        return Cost(1.5 * learning + 1.0 * len(self.rounds), alone=True).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The quantities of each row's run."""
        return pd.concat([self._run(row) for row in rows], ignore_index=True)

    def _run(self, row: Row) -> pd.DataFrame:
        dataset = data.load(self.dataset, self.checksum)
        run = World(dataset, row, self.setting, self.labels_a_round, self.spread)
        fold, alpha, lines = dataset.fold(row.fold), float(self.setting["alpha"]), []
        for round_ in range(1, self.rounds[-1] + 1):
            run.step()
            if round_ in self.rounds:
                for part in ("train", "test"):
                    told = measured(run.known(getattr(fold, part)[: self.queries]), alpha)
                    lines += [(*row, round_, part, *each) for each in told]
                won = quantities(run.learner.fit, run.learner.theta0, run.learner.history, self.most)
                lines += [(*row, round_, "history", "none", name, alpha, value) for name, value in won.items()]
        names = ["fold", "seed", "round", "part", "covariance", "quantity", "at", "value"]
        return pd.DataFrame(lines, columns=names)


class World:
    """A data set's documents with a true h, and the olRankNet that learns from labels of pairs in the lists it shows.

    Args:
        row: fold and seed.
        labels_a_round: pairs that are labelled, at most.
        spread: deviation of h within queries.

    Attributes:
        h: Float64[documents].
        learner: olRankNet.
        covariances: A and its diagonal, by name.
    """

    def __init__(
        self, dataset: RankingDataset, row: Row, setting: Mapping[str, Value], labels_a_round: int, spread: float
    ):
        self.dataset, self.labels_a_round = dataset, labels_a_round
        self.streams = Streams(np.array([replica_key(dataset.name, *row)], dtype=np.uint64))
        self.learner = OlRankNet(dataset.n_features, setting, self.streams)
        self.h = truth(dataset, row.fold, row.seed, self.learner.network.width, spread)
        own, lam = self.learner.covariance, self.learner.precise["regularization"]
        network = self.learner.network
        if setting["covariance"] == "full":
            self.covariances = {"full": own, "diagonal": Explicit(network, lam, full=False)}
            other = self.covariances["diagonal"]
        else:
            self.covariances = {"full": Full(network, lam), "diagonal": own}
            other = self.covariances["full"]
        learner: Any = self.learner
        learner.covariance = Beside(own, other)
        features = torch.from_numpy(dataset.features)
        totals = torch.from_numpy(np.add.reduceat(dataset.features, dataset.offsets[:-1], axis=0))
        self._pool = features, torch.from_numpy(dataset.offsets), totals
        self._train = torch.from_numpy(dataset.fold(row.fold).train)

    def step(self) -> None:
        """One round: a list, some labels, a refit."""
        learner, round_ = self.learner, self.learner.round
        number = self.streams.integers_below(Stream.QUERY, round_, torch.tensor([len(self._train)]))
        candidates = Candidates(*self._pool, self._train[number])
        shown = learner.rank(candidates, K)[0]
        shown = shown[shown >= 0].numpy()
        order = np.argsort(self.streams.uniforms(Stream.PAIRS, round_, K)[0, : len(shown)].numpy(), kind="stable")
        matched = shown[order[: 2 * (len(shown) // 2)]].reshape(-1, 2)[: self.labels_a_round]
        pairs = np.full((self.labels_a_round, 2), -1)
        pairs[: len(matched)] = matched
        there = self.h[int(candidates.starts[0]) + np.maximum(pairs, 0)]
        coins = self.streams.uniforms(Stream.CLICK, round_, self.labels_a_round)[0].numpy()
        labels = coins < special.expit(there[:, 0] - there[:, 1])
        learner.observe(candidates, torch.from_numpy(pairs)[None], torch.from_numpy(labels)[None])
        learner.round += 1

    def known(self, queries: Iterable[int]) -> Known:
        """The pairs of some queries, as the learner judges them now."""
        network, theta = self.learner.network, self.learner.fit.theta.double()
        parts: dict[str, list[np.ndarray]] = {name: [] for name in ("estimate", "truth", *self.covariances)}
        for query in queries:
            rows = self.dataset.documents(int(query))
            i, j = np.triu_indices(rows.stop - rows.start, 1)
            gap = self.h[rows][i] - self.h[rows][j]
            differ = np.abs(gap) > 1e-9  # documents with the same features have no order
            i, j, gap = i[differ], j[differ], gap[differ]
            if not len(gap):
                continue
            inputs = network.inputs(torch.from_numpy(self.dataset.features[rows])[None]).double()
            scores, activations = network.forward(theta, inputs)
            tangent = network.tangent(theta, activations)
            f = scores[0].numpy()
            parts["estimate"].append(special.expit(f[i] - f[j]) - 0.5)
            parts["truth"].append(special.expit(gap) - 0.5)
            for name, covariance in self.covariances.items():
                gram = covariance.gram(tangent)[0].numpy()
                parts[name].append(np.sqrt(np.maximum(gram[i, i] + gram[j, j] - 2 * gram[i, j], 0.0)))
        whole = {name: np.concatenate(each) if each else np.empty(0) for name, each in parts.items()}
        estimate, true = whole.pop("estimate"), whole.pop("truth")
        return Known(estimate, true, whole | {"constant": np.ones(len(estimate))})


_LOOKS = {"smoke": (20, SMOKE_ROUNDS), "laptop": (50, 150, 500), "paper": (50, 150, 500)}
_ROUNDS = {"smoke": (20, SMOKE_ROUNDS), "laptop": (100, 300, 1000), "paper": (100, 300, 1000)}
_DATASETS = on("MQ2008", own=False)


def gap_cells(tier: str, setting: Mapping[str, Value]) -> list[Gap]:
    """The gap of refits at the tuned λ and at a small one, on MQ2008 with informational users."""
    penalties = tuple(dict.fromkeys((float(setting["regularization"]), SMALL_REGULARIZATION)))
    own = tuple(sorted(setting.items()))
    return [Gap(name, checksum(name), own, _LOOKS[tier], regularizations=penalties) for name in _DATASETS(tier)]


def coverage_cells(tier: str, setting: Mapping[str, Value]) -> list[Coverage]:
    """Coverage on MQ2008's documents with a truth that a network could learn."""
    own = tuple(sorted(setting.items()))
    return [Coverage(name, checksum(name), own, _ROUNDS[tier]) for name in _DATASETS(tier)]


PULLED = 0.1
"""The largest λ that the paper tries."""


def pulled_cells(tier: str, setting: Mapping[str, Value]) -> list[Coverage]:
    """Coverage at the largest λ that the paper tries, for the tuned one is a thousand times as large."""
    return coverage_cells(tier, {**setting, "regularization": PULLED})


_FRESH = "Adam, 20 passes, fresh start and decay"
REFITS: dict[str, Mapping[str, Value]] = {
    "Adam": {"refit": "adam"},
    "L-BFGS": {"refit": "lbfgs"},
    "Adam, fresh start and decay": WAYS[_FRESH].changed,
    "Adam, fresh start and decay, larger rate": WAYS[f"{_FRESH}, larger rate"].changed,
}
"""Refits of which coverage is compared, by name: what each changes in the tuned setting. Fresh starts with decay leave
wide gaps, of an objective of their own."""


def refit_cells(tier: str, setting: Mapping[str, Value]) -> list[Coverage]:
    """Coverage with a small λ, at which refits differ in the gap that they leave; three of `REFITS` on a laptop."""
    refits = list(REFITS.values())[: 3 if tier == "laptop" else None]
    small = [{**setting, "regularization": SMALL_REGULARIZATION, **changed} for changed in refits]
    return [cell for each in small for cell in coverage_cells(tier, each)]


def way(cell: Cell) -> dict[str, str]:
    """Which of `REFITS` a cell of `refit_cells` has."""
    own = cast(Coverage, cell).setting
    fits = [name for name, changed in REFITS.items() if all(own[each] == value for each, value in changed.items())]
    return {"way": max(fits, key=lambda name: len(REFITS[name]))}


def by_refit(frame: pd.DataFrame) -> pd.DataFrame:
    """What refits leave undone and what intervals cover, of test queries after the last round, means over runs.

    Args:
        frame: of the cells of `refit_cells`, of one data set.

    Returns:
        way (of `REFITS`), gap, and by covariance: "inside …" (share of covered pairs at the tuned α), "needed …" (the α
        with which 95 % are covered). No line without runs.
    """
    names = ["way", "gap", *(f"{what} {form}" for what in ("inside", "needed") for form in ("full", "diagonal"))]
    if frame.empty:
        return pd.DataFrame(columns=names)
    last = frame[(frame["round"] == frame["round"].max()) & np.isclose(frame["at"], frame["tuned_alpha"])]
    asked = last[((last["part"] == "test") & (last["covariance"] != "constant")) | (last["quantity"] == "gap")]
    column = asked["quantity"] + (" " + asked["covariance"]).where(asked["quantity"] != "gap", "")
    table = asked.assign(column=column).pivot_table(index="way", columns="column", values="value", sort=False)
    return table.reset_index()[names].rename_axis(columns=None)


FEW_PASSES = "L-BFGS, 4 passes"
RATES_TRIED = (1e-4, 1e-3, 1e-2)
"""Of Adam in `AS_TEXT`: the rate that networks are tuned to on most data sets, and ten times as much to either side."""
AS_TEXT: dict[str, Mapping[str, Value]] = {
    FEW_PASSES: {"refit": "lbfgs", "passes": 4, "rate": RATES_TRIED[1]},
    **{f"Adam, rate {rate:g}": {"refit": "adam", "passes": 20, "rate": rate} for rate in RATES_TRIED},
}
"""Ways to refit that are compared for long runs, by name: what each changes in olRankNet. The theory fits to the
optimum, to which L-BFGS comes nearer in fewer passes; Adam that stops early regularises besides."""
PULL_OF_USERS = {"perfect": 1.0, "informational": 100.0}
"""λ of the runs that compare `AS_TEXT`, by users: one for few mistakes in the clicks, and one for many. With α they are
fixed here and do not follow a later tuning."""
ALPHA_OF_WAYS = 0.1
WORSE = 0.01
"""By how much NDCG@10 L-BFGS may fall short of Adam over all data and users before it is called worse."""


def way_as_text(cell: Cell) -> dict[str, str]:
    """Which of `AS_TEXT` a cell of a learning curve has."""
    labels = cell.labels()
    return {"way": next(name for name, own in AS_TEXT.items() if all(labels[each] == own[each] for each in own))}


def few_passes(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """L-BFGS with few passes minus Adam at its best after the last round, paired by run, with 95 % intervals.

    Adam's best rate is, for each data set and kind of users, the one with the highest mean of the first score on the
    very runs that are compared, which favours Adam.

    Args:
        scores: by what a score is called, the last line of each run with dataset, users, fold, seed, way and `score`.

    Returns:
        dataset, users (both "all" in the last line of each score: the mean over all of them), panel (the score),
        adam (the rate that L-BFGS is compared with; empty for all), mean, low, high, n. No line without runs; a run
        that lacks its pair does not count.
    """
    first = next(iter(scores.values()))
    names = ["dataset", "users", "panel", "adam", "mean", "low", "high", "n"]
    if first.empty:
        return pd.DataFrame(columns=names)
    adam = first[first["way"] != FEW_PASSES]
    means = adam.groupby(["dataset", "users", "way"], sort=False)["score"].mean()
    best = {place: means[place].idxmax() for place in dict.fromkeys(zip(adam["dataset"], adam["users"], strict=True))}
    lines = []
    for panel, frame in scores.items():
        runs = frame.set_index(["dataset", "users", "way", "fold", "seed"])["score"].sort_index()
        done = [place for place in best if (*place, FEW_PASSES) in runs.index]
        differences = {place: (runs[(*place, FEW_PASSES)] - runs[(*place, best[place])]).dropna() for place in done}
        if not differences:
            continue
        whole = pd.concat(list(differences.values()), axis=1).dropna().mean(axis=1)
        for (dataset, users), values in [*differences.items(), (("all", "all"), whole)]:
            effect = effect_over_runs(values)
            low, high = effect.interval() if effect else (np.nan, np.nan)
            way = str(best.get((dataset, users), ""))
            lines.append((dataset, users, panel, way, float(values.mean()), low, high, len(values)))
    return pd.DataFrame(lines, columns=names)


def taken_for_long_runs(table: pd.DataFrame) -> bool:
    """The rule by which runs of the paper's length take L-BFGS with few passes in place of Adam.

    It is the faster one. It is taken if it is not worse: no interval on one data set under one kind of users lies below
    0, and over all of them no interval reaches below −`WORSE`.
    """
    whole = table["dataset"] == "all"
    return bool(whole.any() and (table["high"][~whole] >= 0).all() and (table["low"][whole] > -WORSE).all())
