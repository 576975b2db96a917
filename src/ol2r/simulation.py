"""The loop for feature-based learners: a query, a list, clicks, an update; and what is recorded at checkpoints.

This is the one place where a learner, its users and the labels meet. It knows no particular learner and no paper.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
import torch
from numba import get_num_threads, set_num_threads

from ol2r.clicks import GradedUser, UserBatch
from ol2r.clicks.cascade import click_list
from ol2r.compiling import kernel
from ol2r.data import RankingDataset
from ol2r.learners import Learner
from ol2r.parameters import Choice, Number, Parameter, require
from ol2r.random import MOST_ROUNDS, Stream, Streams, replica_key
from ol2r.ranking import Candidates, metrics
from ol2r.ranking.constants import discounts, gain_of_grades
from ol2r.replay import ReplayedRounds

_CONVENTIONS: dict[str, Parameter] = {
    "k": Number(least=1, whole=True),
    "split": Choice("test", "validation"),
    "gain": Choice(*metrics.GAINS),
    "empty": Choice("zero", "skip"),
    "ties": Choice(*metrics.TIES),
    "gamma": Number(above=0, most=1),
}
_AHEAD = 16  # rounds whose documents are read from disk at once
_MOST_COPIED = 1 << 30  # bytes of held-out features that are copied; beyond, each evaluation gathers them again


@dataclass(frozen=True)
class Evaluation:
    """The conventions of a measurement. No field has a default, because each changes published numbers.

    Args:
        k: length of displayed lists and cut of NDCG.
        split: held-out queries of the offline score, `"test"` or `"validation"`.
        gain: gain of a grade in both scores, `"exponential"` (2^grade − 1) or `"linear"`.
        empty: whether queries without relevant documents count `"zero"` in the offline mean or are left out (`"skip"`).
        ties: how offline NDCG orders documents of equal score: `"expected"` takes the expectation over random orders,
            `"listed"` takes the data set's order.
        gamma: discount of the cumulative online NDCG, Σ_t γ^(t−1) NDCG_t.
        checkpoints: rounds after which to record, ascending; 0 is before the first round.
    """

    k: int
    split: str
    gain: str
    empty: str
    ties: str
    gamma: float
    checkpoints: tuple[int, ...]

    def __post_init__(self):
        for name, parameter in _CONVENTIONS.items():
            require(name, parameter, getattr(self, name))
        if not self.checkpoints or list(self.checkpoints) != sorted(set(self.checkpoints)) or self.checkpoints[0] < 0:
            raise ValueError("checkpoints must be rounds in ascending order, at least one")


@dataclass(frozen=True)
class Replica:
    """One simulated run: a fold of a data set, a seed, and a user model."""

    fold: int
    seed: int
    users: GradedUser


Observer = Callable[[int, Candidates, torch.Tensor, torch.Tensor, torch.Tensor], None]
"""Called in each round with its number, the candidates, the ranking Int64[R, k], and for each slot the grade and
whether a document is shown there."""


Keeper = Callable[[dict[str, torch.Tensor], pd.DataFrame], None]
"""Called with the state of a run, from which `simulate` can resume it, and the rows recorded so far."""


class Clock(Protocol):
    """Measures the cost of a learner's `rank` and `update`."""

    def timed(self, act: str, call: Callable) -> Callable:
        """Wrap the call of an act, `"rank"` or `"update"`, so that each call is measured."""
        ...

    def read(self) -> Mapping[str, float]:
        """The measurements so far, by column name."""
        ...


class _Queries:
    """A data set on a device, and the query that each replica meets in each round: uniform with replacement."""

    def __init__(self, dataset: RankingDataset, replicas: Sequence[Replica], streams: Streams, evaluation: Evaluation):
        device = streams.device
        self.streams, self.read_ahead = streams, dataset.read_ahead
        with warnings.catch_warnings():  # nothing here writes to features, which a read-only file map may hold
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            self.features = torch.as_tensor(dataset.features).to(device)
        self.longest = int(np.diff(dataset.offsets).max())
        self.offsets = torch.as_tensor(dataset.offsets).to(device)
        self.relevance = torch.as_tensor(dataset.relevance).to(device, torch.int64)
        self.gain = metrics.gains(self.relevance, evaluation.gain)
        ideal = metrics.ideal_dcg(dataset.relevance, dataset.offsets, evaluation.k, evaluation.gain)
        self.ideal = torch.from_numpy(ideal).to(device)
        self.totals = torch.from_numpy(dataset.totals).to(device)
        folds = [dataset.fold(replica.fold).train for replica in replicas]
        self.n_train = torch.tensor([len(train) for train in folds], device=device)
        start = np.cumsum([0, *(len(fold.train) for fold in dataset.folds)])
        self.train = torch.from_numpy(np.concatenate([fold.train for fold in dataset.folds])).to(device)
        self.train_start = torch.tensor([int(start[replica.fold - 1]) for replica in replicas], device=device)
        self.drawn = range(0)  # the rounds whose queries are drawn
        self.here = device.type == "cpu"
        self.there = torch.zeros(MOST_ROUNDS, len(replicas), dtype=torch.int64, device=device)

    def seek(self, round_: int) -> None:
        """Make ready the queries of this round and of those that share its block."""
        if not self.here:
            self.streams.seek(round_)
        if round_ in self.drawn:
            return
        first = round_ - round_ % MOST_ROUNDS
        self.drawn = range(first, first + MOST_ROUNDS)
        nth = self.streams.integers_of_rounds(Stream.QUERY, first, MOST_ROUNDS, self.n_train)
        drawn = self.train[self.train_start + nth]
        if self.here:
            self.by_round, self.drawn_here = drawn.unbind(), drawn.numpy()
        else:
            self.there.copy_(drawn)

    def draw(self, round_: int) -> Candidates:
        self.seek(round_)
        if self.here:
            nth = round_ - self.drawn.start
            if nth % _AHEAD == 0:
                self.read_ahead(self.drawn_here[nth : nth + _AHEAD].ravel())
            return Candidates(self.features, self.offsets, self.totals, self.by_round[nth])
        # a replayed round finds its queries by a place that stands on the device, and pads them as any other round does
        query = self.there.index_select(0, self.streams.place(round_, MOST_ROUNDS))[0]
        return Candidates(self.features, self.offsets, self.totals, query, longest=self.longest)

    def grades(self, candidates: Candidates, ranking: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Grade in each slot (0 where nothing is shown) and whether a document is shown there."""
        shown = ranking >= 0
        documents = candidates.starts[:, None] + ranking.clamp_min(0)
        return torch.where(shown, self.relevance[documents], 0), shown


@kernel
def _show(
    query,
    ranking,
    offsets,
    relevance,
    ideal,
    gain,
    discount,
    click_probability,
    leave_or_look,
    rule,
    keys,
    round_,
    gamma,
    grades,
    shown,
    clicks,
    cumulative,
    since,
    misordered,
    round_weight,
):
    # one call does all of a round's work with labels, because with few replicas calls cost more than their work
    for r in range(ranking.shape[0]):
        first = offsets[query[r]]
        size = offsets[query[r] + 1] - first
        for i in range(ranking.shape[1]):
            document = ranking[r, i]
            if document >= size:
                raise ValueError("a list shows a document that its query does not have")
            shown[r, i] = document >= 0
            grades[r, i] = relevance[first + document] if document >= 0 else 0
        chances = click_probability[r], leave_or_look[r]
        click_list(grades[r], shown[r], *chances, rule, keys[r], round_, clicks[r])
        ndcg = metrics.list_ndcg(grades[r], shown[r], ideal[query[r]], gain, discount)
        cumulative[r] += round_weight[()] * ndcg
        since[r] += ndcg
        misordered[r] += metrics.list_misordered_pairs(grades[r], shown[r])
    round_weight[()] *= gamma


class _Display:
    """Shows lists to the users: looks up grades, simulates clicks, and adds to the online scores."""

    _KEPT = ("cumulative", "since", "misordered", "round_weight")

    def __init__(self, queries: _Queries, replicas: Sequence[Replica], evaluation: Evaluation):
        self.queries, self.gain, self.gamma = queries, evaluation.gain, evaluation.gamma
        self.users = UserBatch([replica.users for replica in replicas], queries.streams)
        self.users.check_length(evaluation.k)
        self.shape = (len(replicas), evaluation.k)
        device = queries.features.device
        self.cumulative = torch.zeros(len(replicas), dtype=torch.float64, device=device)
        self.since = torch.zeros_like(self.cumulative)
        self.misordered = torch.zeros(len(replicas), dtype=torch.int64, device=device)
        self.round_weight = torch.ones((), dtype=torch.float64, device=device)
        self.compiled = device.type == "cpu"
        if self.compiled:
            labels = queries.offsets, queries.relevance, queries.ideal
            chances = self.users.click_probability, self.users.leave_or_look
            scores = tuple(getattr(self, name) for name in self._KEPT)
            self.labels, self.chances, self.scores = (
                [tensor.numpy() for tensor in tensors] for tensors in (labels, chances, scores)
            )
            self.gains, self.discounts = gain_of_grades(evaluation.gain), discounts(evaluation.k)

    def show(self, round_: int, candidates: Candidates, ranking: torch.Tensor) -> torch.Tensor:
        """The clicks on the lists: Bool[R, k]."""
        if ranking.shape != self.shape:
            raise ValueError(f"lists to show must be of shape {list(self.shape)}, not {list(ranking.shape)}")
        return (self._compiled if self.compiled else self._batched)(round_, candidates, ranking)

    def seen(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Of the lists shown last: the grade in each slot (0 where nothing is shown), Int64[R, k], and whether a
        document is shown there, Bool[R, k]."""
        grades, shown = self._last
        return torch.as_tensor(grades), torch.as_tensor(shown)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The online scores so far, and the weight of the next round: copies on the CPU."""
        return {name: getattr(self, name).to("cpu", copy=True) for name in self._KEPT}

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Restore what `state_dict` returned."""
        for name in self._KEPT:
            getattr(self, name).copy_(state[name])

    def _compiled(self, round_, candidates, ranking):
        (offsets, relevance, ideal), (click, leave_or_look) = self.labels, self.chances
        cumulative, since, misordered, round_weight = self.scores
        grades = np.empty(self.shape, dtype=np.int64)
        shown, clicks = np.empty(self.shape, dtype=np.bool_), np.empty(self.shape, dtype=np.bool_)
        _show(
            candidates.query.numpy(),
            np.ascontiguousarray(ranking.numpy(), dtype=np.int64),
            offsets,
            relevance,
            ideal,
            self.gains,
            self.discounts,
            click,
            leave_or_look,
            self.users.rule,
            self.queries.streams.keys,
            round_,
            self.gamma,
            grades,
            shown,
            clicks,
            cumulative,
            since,
            misordered,
            round_weight,
        )
        self._last = grades, shown  # tensors only when asked for: making them takes a twentieth of a short round
        return torch.from_numpy(clicks)

    def _batched(self, round_, candidates, ranking):
        grades, shown = self.queries.grades(candidates, ranking)
        clicks = self.users.click(grades, shown, round_)
        ndcg = metrics.shown_ndcg(grades, shown, self.queries.ideal[candidates.query], self.gain)
        self.cumulative.addcmul_(self.round_weight, ndcg)
        self.since += ndcg
        self.misordered += metrics.misordered_pairs(grades, shown)
        self.round_weight *= self.gamma
        self._last = grades, shown
        return clicks


class _Gathered:
    """Some documents' features, gathered when a slice of them is asked for."""

    def __init__(self, features: torch.Tensor, documents: torch.Tensor):
        self.features, self.documents = features, documents

    def __getitem__(self, part: slice) -> torch.Tensor:
        return self.features[self.documents[part]]


class _HeldOut:
    """The held-out queries of each fold among the replicas, and the mean NDCG on them for all replicas at once."""

    def __init__(self, queries: _Queries, dataset: RankingDataset, replicas: Sequence[Replica], evaluation: Evaluation):
        self.k, self.ties, self.n_replicas = evaluation.k, evaluation.ties, len(replicas)
        folds = np.array([replica.fold for replica in replicas])
        self.parts = []
        for fold in np.unique(folds):
            held_out = getattr(dataset.fold(fold), evaluation.split)
            ideal = queries.ideal[torch.as_tensor(held_out).to(queries.ideal.device)]
            if evaluation.empty == "skip":
                held_out = held_out[(ideal > 0).cpu().numpy()]
                ideal = ideal[ideal > 0]
            if len(held_out) == 0:
                raise ValueError(f"{dataset.label} has no {evaluation.split} queries to score in fold {fold}")
            sizes = dataset.offsets[held_out + 1] - dataset.offsets[held_out]
            rows = np.concatenate([np.r_[dataset.documents(q)] for q in held_out])
            offsets = torch.from_numpy(np.concatenate([[0], np.cumsum(sizes)]))
            device = queries.features.device
            documents = torch.from_numpy(rows).to(device)
            members = torch.from_numpy(np.flatnonzero(folds == fold)).to(device)
            few = len(rows) * dataset.features[0].nbytes <= _MOST_COPIED
            features = queries.features[documents] if few else _Gathered(queries.features, documents)
            self.parts.append((members, features, queries.gain[documents], offsets, ideal))

    def ndcg(self, learner: Learner) -> np.ndarray:
        """Mean NDCG@k over the held-out queries of each replica's fold: Float64[R]."""
        scorer = learner.evaluated()
        out = np.empty(self.n_replicas)
        for members, features, gain, offsets, ideal in self.parts:
            total = np.zeros(len(members))
            for a, b in _chunks(offsets):
                documents = slice(int(offsets[a]), int(offsets[b]))
                scores = scorer.scores(features[documents], members)
                chunk = offsets[a : b + 1].to(scores.device)
                ndcg = metrics.query_ndcg(scores, gain[documents], chunk, ideal[a:b], self.k, self.ties)
                total += ndcg.sum(dim=0).cpu().numpy()
            out[members.cpu().numpy()] = total / len(ideal)
        return out


def _chunks(offsets: torch.Tensor, documents: int = 16384):
    """Ranges of queries with about `documents` documents each, so that the scores of one range stay small."""
    start, n_queries = 0, len(offsets) - 1
    while start < n_queries:
        stop = int(torch.searchsorted(offsets, offsets[start] + documents, right=True)) - 1
        stop = min(max(stop, start + 1), n_queries)
        yield start, stop
        start = stop


@contextmanager
def _threads(n: int) -> Iterator[None]:
    """Run compiled loops on n threads within this context."""
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)


def make_streams(dataset: RankingDataset, replicas: Sequence[Replica], device: str = "cpu") -> Streams:
    """The random streams of the replicas, with keys from (data set, fold, seed)."""
    return Streams(np.array([replica_key(dataset.name, r.fold, r.seed) for r in replicas], dtype=np.uint64), device)


def simulate(
    dataset: RankingDataset,
    replicas: Sequence[Replica],
    learner: Learner,
    evaluation: Evaluation,
    *,
    reference: np.ndarray | None = None,
    observe: Observer | None = None,
    clock: Clock | None = None,
    keep: Keeper = lambda state, recorded: None,
    keep_after: Callable[[int], bool] = lambda round_: False,
    resume: Mapping[str, torch.Tensor] | None = None,
    graph: bool = False,
    progress: Callable[[float], None] = lambda fraction: None,
) -> pd.DataFrame:
    """Run a batch of replicas to the last checkpoint.

    Args:
        dataset: documents, labels and folds.
        replicas: R runs; the learner was made with `make_streams(dataset, replicas)`.
        learner: a batch of R fresh replicas.
        evaluation: the conventions of the measurement, and when to record.
        reference: Float[R, features], weights w* whose cosine to the learner's is recorded.
        observe: called in every round with what was shown, before the learner's update; it must change nothing.
        clock: measures the learner's `rank` and `update` in this call; its columns come last.
        keep: called with a state from which to resume the run, and the rows recorded in this call.
        keep_after: says after every round but the last, given its number, whether `keep` is called now.
        resume: a state that `keep` was given; only rows recorded after it are returned.
        graph: whether a device that can record rounds replays them (a CUDA graph; see `ol2r.replay`). It changes no
            decision. Elsewhere rounds run as without it.
        progress: called about a hundred times with the fraction of rounds done.

    Raises:
        ValueError: the learner is not fresh or of other replicas, the users know other grades than the data set, the
            state is not one to resume from, or `graph` is asked for with an observer or a clock, which a replayed
            round would not call.

    Returns:
        A row per replica and checkpoint: `replica` (its place in the batch), `fold`, `seed`, `round`, `ndcg` (mean
        held-out NDCG@k), `cndcg` (Σ γ^(t−1) NDCG_t of the lists shown up to here), `online_ndcg` (mean NDCG of the
        lists shown since the last checkpoint), `misordered` (Kendall-tau pair regret up to here: pairs of shown
        documents in which a lower grade stood above a higher one), `cosine` (to w*; NaN without one), `status`, and the
        learner's diagnostics.
    """
    if learner.round != 1 or not np.array_equal(learner.streams.keys, make_streams(dataset, replicas).keys):
        raise ValueError("simulate() takes a fresh learner with the streams of these replicas")
    if graph and (observe is not None or clock is not None):
        raise ValueError("a replayed round calls no observer and no clock: leave them out, or graph=True")
    if dataset.n_grades != len(replicas[0].users.click):
        raise ValueError(
            f"{dataset.label} has {dataset.n_grades} grades, the users {replicas[0].users.name!r} know "
            f"{len(replicas[0].users.click)}"
        )
    queries = _Queries(dataset, replicas, learner.streams, evaluation)
    held_out = _HeldOut(queries, dataset, replicas, evaluation)
    display = _Display(queries, replicas, evaluation)
    last, tables, all_threads = 0, [], get_num_threads()

    def record(round_: int) -> None:
        online = display.since / (round_ - last) if round_ > last else torch.full_like(display.since, torch.nan)
        with _threads(all_threads):
            ndcg = held_out.ndcg(learner)
        columns = {
            "replica": np.arange(len(replicas), dtype=np.int32),
            "fold": np.array([r.fold for r in replicas], dtype=np.int32),
            "seed": np.array([r.seed for r in replicas], dtype=np.int32),
            "round": np.full(len(replicas), round_, dtype=np.int32),
            "ndcg": ndcg.astype(np.float32),
            "cndcg": display.cumulative.cpu().numpy().astype(np.float32),
            "online_ndcg": online.cpu().numpy().astype(np.float32),
            "misordered": display.misordered.cpu().numpy(),
            "cosine": _cosine(learner, reference),
            "status": np.array(learner.status, dtype=object),
        }
        columns |= {name: values.cpu().numpy() for name, values in learner.diagnostics().items()}
        tables.append(pd.DataFrame(columns if clock is None else columns | dict(clock.read())))

    rank, update = learner.rank, learner.update
    if clock is not None:
        rank, update = clock.timed("rank", rank), clock.timed("update", update)

    def round_of(round_: int) -> None:
        candidates = queries.draw(round_)
        ranking = rank(candidates, evaluation.k)
        clicks = display.show(round_, candidates, ranking)
        if observe is not None:
            observe(round_, candidates, ranking, *display.seen())
        update(candidates, ranking, clicks)

    run = ReplayedRounds(round_of, queries.seek, learner).run if graph else round_of

    def standing() -> dict[str, torch.Tensor]:
        parts = {"learner": learner.state_dict(), "display": display.state_dict(), "run": {"last": torch.tensor(last)}}
        return {f"{part}.{name}": value for part, state in parts.items() for name, value in state.items()}

    checkpoints, n_rounds = set(evaluation.checkpoints), evaluation.checkpoints[-1]
    if resume is not None:
        if "run.last" not in resume or int(resume["learner.round"]) > n_rounds:
            raise ValueError(f"a run of {n_rounds} rounds goes on from a state that `keep` was given before its end")
        for part, owner in {"learner": learner, "display": display}.items():
            named = {name.removeprefix(f"{part}."): name for name in resume if name.startswith(f"{part}.")}
            owner.load_state_dict({name: resume[whole] for name, whole in named.items()})
        last = int(resume["run.last"])
    elif 0 in checkpoints:
        record(0)
    with _threads(min(all_threads, len(replicas))):  # a thread without a replica only waits and slows the others down
        for round_ in range(learner.round, n_rounds + 1):
            run(round_)
            if round_ in checkpoints:
                record(round_)
                last = round_
                display.since.zero_()
            if round_ < n_rounds and keep_after(round_):
                keep(standing(), pd.concat(tables, ignore_index=True) if tables else pd.DataFrame())
            if round_ % max(1, n_rounds // 100) == 0:
                progress(round_ / n_rounds)
    return pd.concat(tables, ignore_index=True)


def _cosine(learner: Learner, reference: np.ndarray | None) -> np.ndarray:
    if reference is None:
        return np.full(len(learner.streams), np.nan, dtype=np.float32)
    return learner.evaluated().cosine(reference).astype(np.float32)
