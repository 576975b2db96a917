"""Certain orders of ensembles and of confidence intervals on the same histories of clicks: cells of kind "histories".

One learner with confidence intervals, the chooser, explores by itself, and users click on its lists. Ensembles follow:
in every round they learn from the labelled pairs of the chooser, under fresh noise, as their algorithm does. At some
rounds all pairs of documents of the test queries are looked at: which orders are certain to the chooser, which to the
ensembles, and which of them the grades contradict.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, cast

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from ol2r import data
from ol2r.clicks import users_of_grades
from ol2r.clicks.cascade import USERS
from ol2r.cost import Cost
from ol2r.data import RankingDataset
from ol2r.experiments.cells import Level, OneByOne, Row
from ol2r.experiments.kinds.on_dataset import OnDataset, compiling
from ol2r.learners import OlRankNet, P2LinRank, P2NeurRank, PairRank
from ol2r.learners.pairwise import PairwiseLearner
from ol2r.papers.p2neurrank.claims import NUMBERS_OF_RANKERS, OLRANKNET, PAIRRANK, linear, neural
from ol2r.parameters import Choice, Value, require
from ol2r.random import Streams
from ol2r.ranking import Candidates, interval_orders, unanimous_orders
from ol2r.ranking.covariance import gram
from ol2r.ranking.orders import DECIMALS
from ol2r.simulation import Evaluation, Replica, make_streams, simulate


class Chooser(PairwiseLearner):
    """A learner with confidence intervals that passes on the labelled pairs of every round.

    Attributes:
        heard: called after each update with the round's candidates, labelled pairs and labels (see
            `PairwiseLearner.pairs_from_clicks`).
    """

    heard: Callable[[Candidates, Tensor, Tensor], None]

    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        labelled = self.pairs_from_clicks(ranking, clicks)
        super().update(candidates, ranking, clicks)
        self.heard(candidates, *labelled)

    @abstractmethod
    def certain(self, candidates: Candidates) -> Bool[Tensor, "R V V"]:
        """The orders of these candidates that are certain to it now, as when it makes a list."""


class ChoosingPairRank(Chooser, PairRank):
    """PairRank, which chooses the lists."""

    def certain(self, candidates: Candidates) -> Bool[Tensor, "R V V"]:
        x = candidates.padded()[0].double()
        scores = torch.einsum("rvd,rd->rv", x, self.theta)
        return interval_orders(scores, gram(x, self.covariance.inverse), self.width)


class ChoosingOlRankNet(Chooser, OlRankNet):
    """olRankNet, which chooses the lists."""

    def certain(self, candidates: Candidates) -> Bool[Tensor, "R V V"]:
        scores, tangent = self._at_theta(self.inputs(candidates))
        return interval_orders(scores, self.covariance.gram(tangent), self.precise["alpha"])


class FollowingP2LinRank(P2LinRank):
    """P²LinRank, which follows the pairs of another learner."""

    def scores(self, candidates: Candidates) -> Float64[Tensor, "R N V"]:
        """Scores of these candidates by all rankers, as when it makes a list."""
        x = candidates.padded()[0].double()
        return torch.einsum("rvd,rnd->rnv", x, self.estimate.rankers).round(decimals=DECIMALS)


class FollowingP2NeurRank(P2NeurRank):
    """P²NeurRank, which follows the pairs of another learner."""

    def scores(self, candidates: Candidates) -> Float64[Tensor, "R N V"]:
        """Scores of these candidates by all rankers, as when it makes a list."""
        inputs = self.inputs(candidates).repeat_interleave(self.n, dim=0)
        scores = self.forward(self.fit.theta.double(), inputs).scores.round(decimals=DECIMALS)
        return scores.unflatten(0, (-1, self.n))


class Family(NamedTuple):
    """A learner with confidence intervals, the ensemble that is compared with it, and what claims and figures call
    them."""

    chooser: type[ChoosingPairRank] | type[ChoosingOlRankNet]
    ensemble: type[FollowingP2LinRank] | type[FollowingP2NeurRank]
    chooser_variant: str
    variant: Callable[[int], str]


FAMILIES = {
    "linear": Family(ChoosingPairRank, FollowingP2LinRank, PAIRRANK, linear),
    "neural": Family(ChoosingOlRankNet, FollowingP2NeurRank, OLRANKNET, neural),
}

NOTHING_CERTAIN = {"certain": 0.0, "false certain": 0.0, "agree": 1.0, "contained": 1.0, "before ten": 1.0}
"""The quantities, and the value of each where there is nothing to take a share of: an order that does not exist is not
wrong, and two sets without an order do not differ."""
_OF_ONE = ("certain", "false certain", "before ten")


class Pairs(NamedTuple):
    """Pairs i < j of a query's documents with different features.

    Args:
        i, j: positions in the query's own list, Int64[pairs].
        better: 1 where the grade of i is higher, −1 where that of j is, 0 where both are the same, Int8[pairs].
        n_documents: V of the query.
    """

    i: np.ndarray
    j: np.ndarray
    better: np.ndarray
    n_documents: int

    def directions(self, certain: Tensor) -> np.ndarray:
        """1 where i is certainly better than j, −1 where j is, 0 where neither: Int8[pairs] of Bool[V, V]."""
        above = certain.numpy()
        return above[self.i, self.j].astype(np.int8) - above[self.j, self.i]


def pairs_of(dataset: RankingDataset, query: int) -> Pairs:
    """All pairs of a query's documents that a ranker of features can tell apart."""
    rows = dataset.documents(query)
    alike = np.unique(dataset.features[rows], axis=0, return_inverse=True)[1].ravel()
    i, j = np.triu_indices(len(alike), 1)
    differ = alike[i] != alike[j]
    i, j = i[differ], j[differ]
    grades = dataset.relevance[rows].astype(np.int64)
    return Pairs(i, j, np.sign(grades[i] - grades[j]).astype(np.int8), len(grades))


def reached(certain: np.ndarray, k: int) -> int:
    """How many documents stand in blocks that begin within the first k places, so that a list of k may show them.

    A block ends after p documents if each of some p documents is certainly better than every other one.

    Args:
        certain: Bool[V, V].
        k: at least 1.
    """
    v = len(certain)
    order = np.argsort(-certain.sum(axis=1), kind="stable")
    above = np.cumsum(np.cumsum(certain[np.ix_(order, order)], axis=0), axis=1)  # certain pairs within the first i × j
    ends = np.arange(min(k, v), v)
    crossing = above[ends - 1, -1] - above[ends - 1, ends - 1]
    return int(np.append(ends[crossing == ends * (v - ends)], v)[0])


def counted(orders: np.ndarray, intervals: np.ndarray, better: np.ndarray) -> np.ndarray:
    """Of each quantity of pairs in `NOTHING_CERTAIN`, in that order, how many and of how many: Int64[4, 2].

    Args:
        orders: directions of the certain orders of one set, Int8[pairs] (see `Pairs.directions`).
        intervals: those of the confidence intervals.
        better: see `Pairs`.
    """
    sure, theirs = orders != 0, intervals != 0
    judged, same = sure & (better != 0), sure & (orders == intervals)
    parts = (sure, np.ones_like(sure)), (judged & (orders != better), judged), (same, sure | theirs), (same, theirs)
    return np.array([[part.sum(), whole.sum()] for part, whole in parts])


def shares(counts: np.ndarray) -> dict[str, float]:
    """The first quantities, or all, from their counts, Int64[n, 2], which may be added over queries."""
    named = zip(NOTHING_CERTAIN.items(), counts.tolist(), strict=False)
    return {name: part / whole if whole else empty for (name, empty), (part, whole) in named}


@dataclass(frozen=True)
class Histories(OnDataset, OneByOne):
    """Certain orders of ensembles and of confidence intervals on the same histories.

    A learner with confidence intervals, PairRank or olRankNet, chooses the lists with its own setting, and users click.
    For each ν² an ensemble, of P²LinRank or of P²NeurRank, learns from the same labelled pairs in every round, with
    fresh noise in each. It shows nothing. The ensembles of all ν² are drawn alike: they begin with the same rankers,
    and the noise of one is that of another in another unit. The key of a ranker's noise and start does not depend on
    how many rankers there are, nor does its refit; so an ensemble of N rankers is the first N of the largest, and every
    order that is certain to more rankers is so to fewer.

    At the checkpoints the orders of all documents of the fold's test queries are looked at, as each learner finds them
    certain when it makes a list. Pairs of documents with the same features are left out; those of all queries count
    alike. Its table: fold, seed, round, variant, rankers (N), noise (ν²), quantity, value. For the intervals N and ν²
    are 0. Quantities:

    - "certain": the share of the pairs whose order is certain;
    - "false certain": of the certain orders of documents with different grades, the share in which the lower grade
      stands above; 0 if there are none, as no order is wrong;
    - "agree", of ensembles: of the pairs that are certain to the ensemble or to the intervals, the share that is
      certain to both and in the same direction; 1 if there are none, as both say the same;
    - "contained", of ensembles: of the pairs that are certain to the intervals, the share that is certain to the
      ensemble in the same direction; 1 if there are none;
    - "before ten": the share of documents in blocks that begin within the first k places, so that a list may show them,
      of queries with more than k documents; 1 if there are none.

    A learner whose numbers are no longer finite keeps the last rankers that were.

    Args:
        family: a key of `FAMILIES`, "linear" or "neural".
        chooser: hyper-parameters of PairRank or olRankNet, all, in the order of their names.
        ensemble: those of P²LinRank or P²NeurRank, all but `noise` and `rankers`, in the order of their names.
        noises: ν², ascending.
        rounds: after which to look, ascending. A rule that looks after a tenth of the rounds needs that one as well.
        rankers: N of the ensembles, ascending; so many as the last says are fitted.
        queries: test queries to look at, at most, the fold's first; None for all.
        k: length of the lists.
        revisions: of the trajectories of PairRank, olRankNet, P²LinRank and P²NeurRank.
    """

    family: str
    users: str
    chooser: tuple[tuple[str, Value], ...]
    ensemble: tuple[tuple[str, Value], ...]
    noises: tuple[float, ...]
    rounds: tuple[int, ...]
    rankers: tuple[int, ...] = NUMBERS_OF_RANKERS
    queries: int | None = None
    k: int = 10
    revisions: tuple[int, ...] = tuple(each.revision for each in (PairRank, OlRankNet, P2LinRank, P2NeurRank))

    kind: ClassVar[str] = "histories"
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.networks",
        "ol2r.theory.confidence",
        "ol2r.data",
        "ol2r.clicks",
        "ol2r.rankers",
        "ol2r.learners",
        "ol2r.replay",
        "ol2r.simulation",
        "ol2r.papers.p2neurrank.histories",
    )

    def __post_init__(self):
        require("family", Choice(*FAMILIES), self.family)
        require("users", Choice(*USERS), self.users)
        for name, least in (("noises", 0.0), ("rounds", 1), ("rankers", 1)):
            values = getattr(self, name)
            if not values or list(values) != sorted(set(values)) or values[0] < least:
                raise ValueError(f"{name} must be ascending and at least {least:g}")
        if self.queries is not None and self.queries < 1:
            raise ValueError(f"queries must be at least 1, or None for all, not {self.queries}")
        given = sorted({"noise", "rankers"} & dict(self.ensemble).keys())
        if given:
            raise ValueError(f"the ensemble's setting must not name {' and '.join(given)}: the cell does")
        self.learners.chooser.check(dict(self.chooser))
        for noise in self.noises:
            self.learners.ensemble.check(self.followed(noise))
        if dict(self.chooser)["pairs"] != dict(self.ensemble)["pairs"]:
            raise ValueError("the ensemble learns from the chooser's pairs: `pairs` must be the same of both")

    @property
    def learners(self) -> Family:
        """Both learners."""
        return FAMILIES[self.family]

    def followed(self, noise: float | Tensor) -> dict[str, Value | Tensor]:
        """All hyper-parameters of the ensemble with this ν², or of a batch with several."""
        return {**dict(self.ensemble), "noise": noise, "rankers": self.rankers[-1]}

    @property
    def repeats(self) -> Level:
        """As both learners do."""
        return self.learners.ensemble.repeats

    def labels(self) -> dict[str, str | float | int]:
        """Data set, users, family; α, λ and covariance of the chooser, and λ of the ensemble."""
        chooser, ensemble = dict(self.chooser), dict(self.ensemble)
        told = {f"chooser_{name}": chooser[name] for name in ("alpha", "regularization", "covariance")}
        told |= {"ensemble_regularization": ensemble["regularization"]}
        return {"dataset": self.dataset, "users": self.users, "family": self.family} | told

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """Both learners' own estimates at the data set's mean list length, and the looks; one row is kept at a time."""
        shape, last = self.size.shape, self.rounds[-1]
        choosing = self.learners.chooser.cost(dict(self.chooser), shape, last)
        of_one = cast(dict[str, Value], self.followed(self.noises[0]))
        following = self.learners.ensemble.cost(of_one, shape, last).of(len(self.noises))
        looked = min(self.queries or self.size.held_out, self.size.held_out)
        sets = len(self.noises) * self.rankers[-1]
        looks = len(self.rounds) * looked * (1.5e-3 + sets * shape.documents**2 * 2e-9)
        seconds = choosing.whole + following.whole + looks
        return Cost(seconds * len(rows), choosing.bytes + following.bytes, alone=True)

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling what both learners need of the engine."""
        return {**compiling(self.learners.chooser.name, "cpu"), **compiling(self.learners.ensemble.name, "cpu")}

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The quantities of each row's run."""
        names = ["fold", "seed", "round", "variant", "rankers", "noise", "quantity", "value"]
        return pd.DataFrame([(*row, *line) for row in rows for line in self.run(row).lines], columns=names)

    def run(self, row: Row) -> "Shared":
        """The history of one fold and seed, as it stands after the last round."""
        dataset = data.load(self.dataset, self.checksum)
        replicas = [Replica(row.fold, row.seed, users_of_grades(self.users, dataset.n_grades))]
        shared = Shared(self, dataset, make_streams(dataset, replicas), dataset.fold(row.fold).test[: self.queries])
        evaluation = Evaluation(
            k=self.k, split="test", gain="exponential", empty="zero", ties="expected", gamma=1.0,
            checkpoints=self.rounds[-1:],
        )  # fmt: skip
        simulate(dataset, replicas, shared.chooser, evaluation)
        return shared


class Shared:
    """One history: the learner that chooses the lists, the ensembles that follow it, and what was seen of both.

    Args:
        cell: says what both are, and when to look.
        streams: of one replica.
        queries: those to look at.

    Attributes:
        chooser: the learner with confidence intervals.
        ensembles: one replica for each ν².
        lines: the columns of `Histories` from the round on, of all looks so far.
    """

    def __init__(self, cell: Histories, dataset: RankingDataset, streams: Streams, queries: np.ndarray):
        self.cell, self.dataset, self.queries = cell, dataset, queries
        self.chooser = cell.learners.chooser(dataset.n_features, dict(cell.chooser), streams)
        self.chooser.heard = self.follow
        noises = torch.tensor(cell.noises, dtype=torch.float64)
        repeated = Streams(np.repeat(streams.keys, len(noises)))
        self.ensembles = cell.learners.ensemble(dataset.n_features, cell.followed(noises), repeated)
        self.lines: list[tuple[int, str, int, float, str, float]] = []

    def follow(self, candidates: Candidates, pairs: Int64[Tensor, "1 P 2"], labels: Bool[Tensor, "1 P"]) -> None:
        """Let the ensembles learn from a round's pairs, and look if it is time to."""
        n, round_ = len(self.cell.noises), self.ensembles.round
        every = replace(candidates, query=candidates.query.repeat(n))
        self.ensembles.observe(every, pairs.repeat(n, 1, 1), labels.repeat(n, 1))
        self.ensembles.round += 1
        if round_ in self.cell.rounds:
            self.lines += [(round_, *line) for line in self.look(candidates)]

    def look(self, candidates: Candidates) -> list[tuple[str, int, float, str, float]]:
        """Variant, N, ν², quantity and value as they are now.

        Args:
            candidates: of any query of the data set.
        """
        cell = self.cell
        sets = [(0, 0.0), *((n, noise) for noise in cell.noises for n in cell.rankers)]
        counts = np.zeros((len(sets), len(NOTHING_CERTAIN), 2), dtype=np.int64)
        for query in self.queries:
            pairs = pairs_of(self.dataset, int(query))
            here = replace(candidates, query=torch.tensor([int(query)]))
            own = self.chooser.certain(here)[0]
            scores = self.ensembles.scores(replace(here, query=here.query.repeat(len(cell.noises))))
            unanimous = {n: unanimous_orders(scores[:, :n]) for n in cell.rankers}
            found = [own, *(unanimous[n][r] for r in range(len(cell.noises)) for n in cell.rankers)]
            intervals, v = pairs.directions(own), pairs.n_documents
            for number, certain in enumerate(found):
                counts[number, :-1] += counted(pairs.directions(certain), intervals, pairs.better)
                if v > cell.k:
                    counts[number, -1] += reached(certain[:v, :v].numpy(), cell.k), v
        lines = []
        for (n, noise), own in zip(sets, counts, strict=True):
            variant = cell.learners.variant(n) if n else cell.learners.chooser_variant
            told = shares(own).items()
            lines += [(variant, n, noise, *each) for each in told if n or each[0] in _OF_ONE]
        return lines
