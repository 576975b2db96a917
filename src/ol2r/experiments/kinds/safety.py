"""The `safety` kind of cell: how often a learner shows a list that is much worse than the production ranker's.

The measure is BubbleRank's safety constraint with grades in place of attraction, applied to any learner on the queries
of a data set. This module connects a declaration with data, users, learners and bandits; it knows no paper.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, cast

import numpy as np
import pandas as pd
import torch

from ol2r import data
from ol2r.bandits import BANDITS, simulate_bandit
from ol2r.clicks import GradedCascade, ItemClicks
from ol2r.cost import Cost, batch_size, in_turn
from ol2r.experiments.cells import Context, Job, Level, Row
from ol2r.experiments.kinds.fit import OfflineFit, ranknet_seconds
from ol2r.experiments.kinds.on_dataset import OnDataset, compiling, fitted_weights
from ol2r.learners import LEARNERS
from ol2r.offline import fit_ranknet
from ol2r.parameters import Value
from ol2r.random import Stream, integer_below, replica_key
from ol2r.ranking import engine as hot_operations
from ol2r.ranking import metrics
from ol2r.simulation import Evaluation, Replica, make_streams, simulate

ITEMS = ("listed", "all")


@dataclass(frozen=True)
class ProductionFit(OfflineFit):
    """A production ranker: RankNet (`fit_ranknet`), fitted to a few labelled queries.

    These are the fold's first validation queries, so no round serves a query that the ranker has seen. In its table
    queries without relevant documents count zero.

    Args:
        labelled: number of queries it is fitted to; only queries that have documents of different grades are taken.
        regularization: λ.
    """

    labelled: int
    regularization: float

    kind: ClassVar[str] = "production"
    revision: ClassVar[int] = 1
    learner: ClassVar[str] = "RankNet"
    code: ClassVar[tuple[str, ...]] = (*OfflineFit.code, "ol2r.experiments.kinds.safety")

    @property
    def counted(self) -> str:
        """Queries without relevant documents count as zero."""
        return "zero"

    def labels(self) -> dict[str, str | float | int]:
        """Data set, learner, cut, number of labelled queries, λ."""
        return super().labels() | {"labelled": self.labelled, "regularization": self.regularization}

    def fold_seconds(self) -> float:
        """Seconds of a fit to so few queries; most of the time is spent on finding them."""
        return 0.2 + ranknet_seconds(self.labelled, self.size.shape)

    def fit(self, dataset: data.RankingDataset, fold: int) -> np.ndarray:
        """The weights: float64[features].

        Raises:
            ValueError: the fold has fewer than `labelled` such queries.
        """
        validation = dataset.fold(fold).validation
        telling = validation[[np.ptp(dataset.query(query)[1]) > 0 for query in validation]]
        if len(telling) < self.labelled:
            raise ValueError(
                f"{dataset.label}, fold {fold}: {len(telling)} validation queries have documents of different grades, "
                f"not {self.labelled}"
            )
        few = data.Fold(telling[: self.labelled], validation[:0], validation[:0])
        return fit_ranknet(replace(dataset, folds=(few,)), 1, regularization=self.regularization)


@dataclass(frozen=True)
class Safety(OnDataset):
    """One learner or bandit, one kind of user, one data set, one production ranker.

    The production ranker gives every training query its list R₀ of the K documents with the highest scores. In round t
    a learner shows R_t for the query that it meets, and violates the constraint when |V(R_t)| > |V(R₀)| + K/2 (see
    `inversions`; K is the query's number of documents where it has fewer than `positions`). A learner starts untrained,
    and is told the order of R₀ only if it starts from the order in which candidates come. A bandit starts from R₀;
    every query has its own instance, which is told the number of all rounds.

    Its table has a line for each checkpoint, about the rounds up to it: `violations` (V(n)), `possible` (rounds whose
    query has a list that would violate), `reference_violations` (rounds in which the reference's list would), `excess`
    (the largest |V(R_t)| − |V(R₀)|, at least 0), `inversions` (Σ |V(R_t)|), `initial_inversions` (Σ |V(R₀)|),
    `ndcg_total` (Σ NDCG@K of the shown lists; 0 for a query without relevant documents), `production_ndcg_total` (the
    same of R₀), `queries` (how many different ones were met); and `status` at the end.

    Args:
        dataset: name in the catalogue; checksum: of its content (`data.checksum`).
        learner: name in `LEARNERS` or `BANDITS`; revision: of its trajectories.
        hyperparameters: all of them, as (name, value) pairs in the order of their names.
        reference: a ranker fitted to the grades of the learners' own queries; its lists are judged beside theirs.
        positions: K.
        items: which documents are ranked: `"listed"`, those of R₀ (K = L), or `"all"` documents of the query.
        checkpoints: rounds, ascending.
    """

    learner: str
    revision: int
    hyperparameters: tuple[tuple[str, Value], ...]
    users: GradedCascade
    production: ProductionFit
    reference: OfflineFit
    positions: int
    items: str
    checkpoints: tuple[int, ...]

    kind: ClassVar[str] = "safety"
    exact: ClassVar[tuple[str, ...]] = (
        "violations",
        "possible",
        "reference_violations",
        "excess",
        "inversions",
        "initial_inversions",
        "ndcg_total",
        "production_ndcg_total",
        "queries",
        "status",
    )
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.networks",
        "ol2r.theory.bandits",
        "ol2r.theory.confidence",
        "ol2r.data",
        "ol2r.clicks",
        "ol2r.rankers",
        "ol2r.learners",
        "ol2r.bandits",
        "ol2r.replay",
        "ol2r.simulation",
        "ol2r.experiments.kinds.safety",
    )

    def __post_init__(self):
        (BANDITS if self.is_bandit else LEARNERS)[self.learner].check(dict(self.hyperparameters))
        if self.items not in ITEMS:
            raise ValueError(f"items must be one of {', '.join(ITEMS)}, not {self.items!r}")
        for fit in (self.production, self.reference):
            if (fit.dataset, fit.checksum) != (self.dataset, self.checksum):
                raise ValueError(f"a ranker fitted to {fit.dataset} does not rank {self.dataset}")
        ends = list(self.checkpoints)
        if not ends or ends != sorted(set(ends)) or ends[0] < 1 or self.positions < 1:
            raise ValueError("checkpoints are rounds from 1 in ascending order, and a list has at least one position")
        if self.is_bandit and any(self.users.stop):
            raise ValueError(
                f"{self.learner} knows users by item, which users who stop by grade ({self.users.name}) are not"
            )

    @property
    def is_bandit(self) -> bool:
        """Whether the learner is a bandit: one instance for each query, which sees document names, not features."""
        return self.learner in BANDITS

    @property
    def repeats(self) -> Level:
        """How exactly the learner repeats its trajectories; a bandit repeats them bit for bit."""
        return "bits" if self.is_bandit else LEARNERS[self.learner].repeats

    @property
    def on_device(self) -> bool:
        """Whether the rows run on the device asked for: a learner's do, but a bandit is compiled for the CPU."""
        return not self.is_bandit

    @property
    def group(self) -> Hashable:
        """Replicas of one batch share everything but numeric hyper-parameters and their users' probabilities."""
        free = frozenset() if self.is_bandit else LEARNERS[self.learner].numeric
        structural = tuple(pair for pair in self.hyperparameters if pair[0] not in free)
        shared = (self.dataset, self.checksum, self.learner, self.revision, structural, self.users.stop_rule)
        return (*shared, self.production, self.reference, self.positions, self.items, self.checkpoints)

    def labels(self) -> dict[str, str | float | int]:
        """Data set, users, learner, which documents are ranked, the production ranker's labels, K, hyper-parameters."""
        named = {"dataset": self.dataset, "users": self.users.name, "learner": self.learner}
        ranked = {"items": self.items, "labelled": self.production.labelled, "positions": self.positions}
        return named | ranked | dict(self.hyperparameters)

    def needs(self, rows: Sequence[Row]) -> tuple[Job, ...]:
        """The production ranker and the reference of each fold (seed 0)."""
        once = tuple(Row(fold, 0) for fold in sorted({row.fold for row in rows}))
        return Job(self.production, once), Job(self.reference, once)

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The learner's own estimate for lists of the ranked length, or the cost of setting up the bandits."""
        shape, rounds = self.size.shape, self.checkpoints[-1]
        if self.items == "listed":
            shape = shape._replace(documents=min(shape.documents, self.positions))
        judging = Cost(rounds * 5e-6, once=3e-4 * (self.size.trained + self.size.held_out))
        if self.is_bandit:
            return in_turn([judging, Cost(rounds * (1.5e-5 + 1e-8 * shape.documents**2))]).of(len(rows))
        learning = LEARNERS[self.learner].cost(dict(self.hyperparameters), shape, rounds, device)
        return in_turn([judging, learning]).of(len(rows))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling the bandit, or what the learner needs of the engine."""
        return {self.learner: 6.0} if self.is_bandit else compiling(self.learner, device)

    @classmethod
    def run_group(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        """Run all rows of all jobs as replicas side by side, one batch at a time."""
        hot_operations(context.engine).use_threads(torch.get_num_threads())
        replicas = [(number, cast(Safety, job.cell), row) for number, job in enumerate(jobs) for row in job.rows]
        first = replicas[0][1]
        dataset = data.load(first.dataset, first.checksum)
        folds = sorted({row.fold for _, _, row in replicas})
        fits = [fitted_weights(context.inputs[fit]) for fit in (first.production, first.reference)]
        production, reference = ({fold: fit[fold] for fold in folds} for fit in fits)
        ordered = not first.is_bandit and LEARNERS[first.learner].starts_from_order
        world = production_world(dataset, production, reference, first.positions, first.items, ordered)
        most = batch_size(first.cost([replicas[0][2]], context.device), len(replicas), context.device)
        tables: list[list[pd.DataFrame]] = [[] for _ in jobs]
        for start in range(0, len(replicas), most):
            part = replicas[start : start + most]

            def follow(fraction: float, start: int = start, size: int = len(part)) -> None:
                context.progress((start + fraction * size) / len(replicas))

            if first.is_bandit:
                shown = _played(world, part, follow)
            else:
                shown = _simulated(world, part, context.device, context.engine, follow)
            for (number, cell, row), lists in zip(part, shown, strict=True):
                tables[number].append(_table(row, judged(world.judges[row.fold], lists, cell.checkpoints)))
        return [
            pd.concat(own, ignore_index=True).sort_values(["fold", "seed"], kind="stable", ignore_index=True)
            for own in tables
        ]


def _table(row: Row, columns: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """The table's lines for one replica."""
    same = np.ones_like(columns["round"])
    return pd.DataFrame({"fold": row.fold * same, "seed": row.seed * same, **columns})


def _list(features: np.ndarray, weights: np.ndarray, positions: int | None) -> np.ndarray:
    """A linear ranker's list: the documents with the highest scores, or all with None; equal ones in the data set's
    order."""
    return np.argsort(-(features.astype(np.float64) @ weights), kind="stable")[:positions]


def _lists(dataset: data.RankingDataset, queries: np.ndarray, weights: np.ndarray, positions: int) -> np.ndarray:
    """A linear ranker's lists, as places in the queries' own lists: Int64[queries, positions], padded with −1."""
    lists = np.full((len(queries), positions), -1)
    for i, query in enumerate(queries):
        ranking = _list(dataset.query(query)[0], weights, positions)
        lists[i, : len(ranking)] = ranking
    return lists


def inversions(grades: np.ndarray, better: np.ndarray) -> np.ndarray:
    """|V(R)| of displayed lists: pairs of a query's documents of which the one of higher grade is not above the other.

    A document that is not displayed stands below all that are; of two that are not, neither is above the other, and
    documents of equal grade have no wrong order. This is the bandits' `inversions` with grade in place of attraction.

    Args:
        grades: Int[n, K], the grade in each slot, −1 where nothing is shown.
        better: Int64[n, grades], how many documents of the list's query have a grade above each.

    Returns:
        Int64[n].
    """
    shown = grades >= 0
    wrong = np.where(shown, np.take_along_axis(better, np.maximum(grades, 0).astype(np.int64), axis=1), 0).sum(axis=1)
    right = np.triu((grades[:, :, None] > grades[:, None, :]) & shown[:, None, :])
    return wrong - right.sum(axis=(1, 2))


class Judge(NamedTuple):
    """What judges the lists shown for a fold's training queries, in their order; R₀ is the production list."""

    initial: np.ndarray  # Int64[queries, K], R₀ as places in the query's own list, −1 where that is shorter
    better: np.ndarray  # Int64[queries, grades], documents of a grade above each
    ideal: np.ndarray  # Float64[queries], DCG@K of the best list
    base: np.ndarray  # Int64[queries], |V(R₀)|
    worst: np.ndarray  # Int64[queries], the largest |V(R)| of any list
    reference: np.ndarray  # Int64[queries], |V(R)| of the reference's list
    ndcg: np.ndarray  # Float64[queries], NDCG@K of R₀


class World(NamedTuple):
    """The queries to learn from, and for each fold what judges the lists shown for its queries."""

    dataset: data.RankingDataset
    judges: dict[int, Judge]


class Lists(NamedTuple):
    """What one replica showed, round after round."""

    place: np.ndarray  # Int64[rounds], of the query among the fold's training queries
    grades: np.ndarray  # Int8[rounds, K], −1 where nothing is shown
    status: str  # at the end


def production_world(
    dataset: data.RankingDataset,
    production: Mapping[int, np.ndarray],
    reference: Mapping[int, np.ndarray],
    positions: int,
    items: str,
    ordered: bool = False,
) -> World:
    """The data set that learners meet, and what judges the lists they show.

    With items `"listed"`, the queries are replaced by copies, one set for each fold, that hold only the documents of
    R₀, in the data set's order, so that a learner is told the members of R₀ but not their order. The random numbers of
    a replica stay those of the data set.

    Args:
        production, reference: by fold, Float64[features], weights of linear rankers.
        positions: K; items: one of `ITEMS`.
        ordered: whether a query's documents come in production's order instead.
    """
    if items == "listed" or ordered:
        dataset = _as_production(dataset, production, positions if items == "listed" else None, ordered)
    judges = {fold: _judge(dataset, fold, own, reference[fold], positions) for fold, own in production.items()}
    return World(dataset, judges)


def _as_production(
    dataset: data.RankingDataset, weights: Mapping[int, np.ndarray], positions: int | None, ordered: bool
) -> data.RankingDataset:
    """Copies of the training and test queries of some folds, with the documents of R₀ alone, or all with None; in
    production's order, or in the data set's."""
    kept, copied, folds, none = [], [], [], np.empty(0, dtype=np.int64)
    for number, fold in enumerate(dataset.folds, start=1):
        parts = [none, none]
        for part, queries in enumerate((fold.train, fold.test) if number in weights else ()):
            parts[part] = len(copied) + np.arange(len(queries))
            for query in queries:
                listed = _list(dataset.query(query)[0], weights[number], positions)
                kept.append(dataset.offsets[query] + (listed if ordered else np.sort(listed)))
            copied.extend(queries)
        folds.append(data.Fold(parts[0], none, parts[1]))
    documents = np.concatenate(kept)
    names = dataset.document_ids
    return replace(
        dataset,
        features=np.ascontiguousarray(dataset.features[documents]),
        relevance=dataset.relevance[documents],
        offsets=np.concatenate([[0], np.cumsum([len(rows) for rows in kept])]),
        query_ids=tuple(dataset.query_ids[query] for query in copied),
        document_ids=None if names is None else tuple(names[row] for row in documents),
        folds=tuple(folds),
        normalization=f"{dataset.normalization}; then as production shows them",
    )


def _shown_grades(dataset: data.RankingDataset, queries: np.ndarray, lists: np.ndarray) -> np.ndarray:
    """Grades of lists of places in their queries' lists: Int8[n, K], −1 where nothing is shown."""
    grades = dataset.relevance[dataset.offsets[queries][:, None] + np.maximum(lists, 0)]
    return np.where(lists >= 0, grades, -1).astype(np.int8)


def _judge(
    dataset: data.RankingDataset, fold: int, production: np.ndarray, reference: np.ndarray, positions: int
) -> Judge:
    queries = dataset.fold(fold).train
    better = np.empty((len(queries), dataset.n_grades), dtype=np.int64)
    backwards = np.full((len(queries), positions), -1, dtype=np.int8)
    for i, query in enumerate(queries):
        grades = np.sort(dataset.query(query)[1])
        better[i] = len(grades) - np.searchsorted(grades, np.arange(dataset.n_grades), side="right")
        backwards[i, : len(grades)] = grades[:positions]
    ideal = metrics.ideal_dcg(dataset.relevance, dataset.offsets, positions)[queries]
    initial = _lists(dataset, queries, production, positions)
    shown = _shown_grades(dataset, queries, initial)
    other = _shown_grades(dataset, queries, _lists(dataset, queries, reference, positions))
    return Judge(
        initial,
        better,
        ideal,
        inversions(shown, better),
        inversions(backwards, better),
        inversions(other, better),
        _ndcg(shown, ideal),
    )


def _ndcg(grades: np.ndarray, ideal: np.ndarray) -> np.ndarray:
    """NDCG@K of lists: Float64[n]."""
    shown = torch.from_numpy(np.ascontiguousarray(grades))
    return metrics.shown_ndcg(shown.clamp_min(0).to(torch.int64), shown >= 0, torch.from_numpy(ideal)).numpy()


def judged(judge: Judge, lists: Lists, checkpoints: Sequence[int]) -> dict[str, np.ndarray]:
    """The columns of a replica's table without fold and seed, with a line for each checkpoint."""
    at, grades = lists.place, lists.grades
    own, base, n_shown = inversions(grades, judge.better[at]), judge.base[at], (grades >= 0).sum(axis=1)
    first = np.zeros(len(at), dtype=np.int32)
    first[np.unique(at, return_index=True)[1]] = 1
    ends = np.asarray(checkpoints, dtype=np.int32)

    def until(values: np.ndarray, kind: type = np.int32) -> np.ndarray:
        return np.cumsum(values)[ends - 1].astype(kind)

    def unsafe(wrong: np.ndarray) -> np.ndarray:
        return until(2 * (wrong - base) > n_shown)

    return {
        "round": ends,
        "violations": unsafe(own),
        "possible": unsafe(judge.worst[at]),
        "reference_violations": unsafe(judge.reference[at]),
        "excess": np.maximum.accumulate(np.maximum(own - base, 0))[ends - 1].astype(np.int32),
        "inversions": until(own, np.int64),
        "initial_inversions": until(base, np.int64),
        "ndcg_total": until(_ndcg(grades, judge.ideal[at]), np.float64),
        "production_ndcg_total": until(judge.ndcg[at], np.float64),
        "queries": until(first),
        "status": np.full(len(ends), lists.status, dtype=object),
    }


Part = Sequence[tuple[int, Safety, Row]]


def _simulated(world: World, part: Part, device: str, engine: str, progress: Callable[[float], None]) -> list[Lists]:
    """The lists that the replicas of a feature-based learner show."""
    first = part[0][1]
    rounds = first.checkpoints[-1]
    replicas = [Replica(row.fold, row.seed, cell.users) for _, cell, row in part]
    kind = LEARNERS[first.learner]
    settings = [dict(cell.hyperparameters) for _, cell, _ in part]
    learner = kind.batch(world.dataset.n_features, settings, make_streams(world.dataset, replicas, device), engine)
    query = np.empty((rounds, len(part)), dtype=np.int64)
    grades = np.empty((rounds, len(part), first.positions), dtype=np.int8)

    def observe(round_, candidates, ranking, shown_grades, shown) -> None:
        query[round_ - 1] = candidates.query.cpu().numpy()
        grades[round_ - 1] = torch.where(shown, shown_grades, -1).cpu().numpy()

    evaluation = Evaluation(
        k=first.positions,
        split="test",
        gain="exponential",
        empty="zero",
        ties="expected",
        gamma=1.0,
        checkpoints=(rounds,),
    )
    table = simulate(world.dataset, replicas, learner, evaluation, observe=observe, progress=progress)
    status = table.sort_values("replica")["status"]
    shown_lists = []
    for r, (replica, own) in enumerate(zip(replicas, status, strict=True)):
        train = world.dataset.fold(replica.fold).train
        place = np.empty(world.dataset.n_queries, dtype=np.int64)
        place[train] = np.arange(len(train))
        shown_lists.append(Lists(place[query[:, r]], grades[:, r], own))
    return shown_lists


def _played(world: World, part: Part, progress: Callable[[float], None]) -> list[Lists]:
    """The lists that a bandit shows: one replica after another, with all instances of a replica side by side."""
    shown = []
    for done, (_, cell, row) in enumerate(part, start=1):
        shown.append(_played_alone(world, cell, row))
        progress(done / len(part))
    return shown


def _played_alone(world: World, cell: Safety, row: Row) -> Lists:
    dataset, judge, rounds = world.dataset, world.judges[row.fold], cell.checkpoints[-1]
    train = dataset.fold(row.fold).train
    key = replica_key(dataset.name, *row)
    drawn = [integer_below(key, int(Stream.QUERY), round_, 0, len(train)) for round_ in range(1, rounds + 1)]
    place = np.array(drawn)
    met, instance, times = np.unique(place, return_inverse=True, return_counts=True)
    initial = [judge.initial[at][judge.initial[at] >= 0].tolist() for at in met]
    attractions = [np.array(cell.users.click)[dataset.query(query)[1]] for query in train[met]]
    trace = simulate_bandit(
        cell.learner,
        dict(cell.hyperparameters),
        [
            ItemClicks("position", tuple(attraction), (1.0,) * len(ranking))
            for attraction, ranking in zip(attractions, initial, strict=True)
        ],
        initial,
        [replica_key(f"{dataset.name}/{dataset.query_ids[query]}", *row) for query in train[met]],
        rounds,
        range(1, times.max() + 1),
        cell.positions,
    )
    step = pd.Series(place).groupby(place).cumcount().to_numpy()
    shown = np.full((rounds, cell.positions), -1)
    shown[:, : trace.shown.shape[2]] = trace.shown[instance, step]
    return Lists(place, _shown_grades(dataset, train[place], shown), "ok")
