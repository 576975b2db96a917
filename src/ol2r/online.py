"""Learners that live on a site: they rank for real users, learn from their clicks, and outlive the process.

What is kept is the learner's state and the lists that wait for clicks; nothing refers to the process that runs them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch

from ol2r.clicks.real import Serving, different
from ol2r.data.dataset import RankingDataset
from ol2r.data.own import finite, scaled
from ol2r.errors import DataError, ExperimentError, one_of
from ol2r.face import setting
from ol2r.learners import LEARNERS, Learner
from ol2r.parameters import AT_LEAST_ONE, WHOLE, Value, require
from ol2r.random import Streams, replica_key
from ol2r.ranking import Candidates


@dataclass(frozen=True, eq=False)
class Ranges:
    """The least and the largest value of each feature, by which `candidates` scales documents of any list alike.

    Args:
        low, high: Float64[features], finite.

    Raises:
        DataError: there is not one low and one high value for each feature, or a low one is above the high one.
    """

    low: np.ndarray
    high: np.ndarray

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, finite(getattr(self, name), f"ranges, {name}"))
        shapes = self.low.shape, self.high.shape
        if len(shapes[0]) != 1 or not self.low.size or shapes[0] != shapes[1]:
            raise DataError(f"ranges: expected a low and a high value for each feature, found the shapes {shapes}")
        wrong = np.flatnonzero(self.low > self.high)
        if len(wrong):
            raise DataError(f"ranges: the low value of feature {wrong[0] + 1} is above the high one")

    @classmethod
    def of(cls, data: RankingDataset | np.ndarray) -> Self:
        """The ranges of all documents of a data set.

        Args:
            data: features as they are, before any scaling: Float[documents, features], or a data set that was read with
                `normalize=False`.

        Raises:
            DataError: no table of finite numbers, or the features of the data set were scaled in each query.
        """
        if isinstance(data, RankingDataset):
            if data.normalization != "none":
                raise DataError(f"{data.label}: its features were scaled in each query; read it with normalize=False")
            data = data.features
        table = _table(data, "ranges")
        return cls(table.min(axis=0), table.max(axis=0))

    def scale(self, features: np.ndarray) -> np.ndarray:
        """Each feature from its range to [0, 1]; a value beyond goes to the nearer end, a feature without a range to 0.

        Args:
            features: Float[documents, features], finite.

        Raises:
            DataError: it is no such table, or has other features than the ranges.
        """
        table = _table(features, "candidates")
        if table.shape[1] != len(self.low):
            raise DataError(f"expected {len(self.low)} features, which the ranges have, found {table.shape[1]}")
        spread = self.high - self.low
        parts = (np.clip(table, self.low, self.high) - self.low) / np.where(spread > 0, spread, 1.0)
        return np.ascontiguousarray(parts, dtype=np.float32)


def candidates(
    features: np.ndarray,
    *,
    ids: Sequence[str | int] | None = None,
    ranges: Ranges | None = None,
    normalize: bool = True,
) -> Candidates:
    """The documents that a query has to rank, for `Online.rank`.

    Each feature is scaled to [0, 1] among these documents, as in the papers: the least value of the list becomes 0 and
    the largest 1. So the score of a document depends on which others are in the list, and a document alone becomes all
    zeros. With `ranges`, every list is scaled alike, by ranges that were learned from data.

    A learner that counts labels of pairs recognises a document that it has met, in any list, object and process, by its
    identifier and its scaled features. With other features it is another document, since its labels were given on
    those. Without identifiers, features alone tell.

    Args:
        features: Float[documents, features], finite.
        ids: the site's own identifiers of the documents, all different: text or whole numbers.
        ranges: by which features are scaled, in the place of the list's own least and largest values.
        normalize: whether to scale; False, without `ranges`, for features that are scaled already.

    Raises:
        DataError: `features` is not a table of finite numbers, has other features than the ranges, or there is not one
            identifier for each document, each only once.
    """
    if ranges is not None:
        rows = ranges.scale(features)
    else:
        table = _table(features, "candidates")
        rows = scaled(table, np.array([0, len(table)], dtype=np.int64), normalize)
    return _candidates(torch.from_numpy(rows), torch.from_numpy(_numbers(rows, _named(ids, rows))))


def _table(features: np.ndarray, name: str) -> np.ndarray:
    table = finite(features, name)
    if table.ndim != 2 or not table.size:
        raise DataError(f"{name}: expected features [documents, features], found the shape {table.shape}")
    return table


def _candidates(rows: torch.Tensor, numbers: torch.Tensor) -> Candidates:
    offsets, query = torch.tensor([0, len(rows)]), torch.zeros(1, dtype=torch.int64)
    return Candidates(rows, offsets, rows.sum(dim=0, keepdim=True), query, numbers=numbers)


def _named(ids: Sequence[str | int] | None, rows: np.ndarray) -> list[str]:
    """What tells apart documents that have the same features."""
    if ids is None:
        met: Counter[bytes] = Counter()
        names = []
        for row in rows:
            names.append(f"{met[row.tobytes()]}")
            met[row.tobytes()] += 1
        return names
    names = different(ids, "identifiers")
    if len(names) != len(rows):
        raise DataError(f"expected an identifier for each of {len(rows)} documents, found {len(names)}")
    for each in names:
        if type(each) not in (str, int):
            raise DataError(f"expected text or whole numbers as identifiers, found {each!r}")
    return [f"={each!r}" for each in names]


def _numbers(rows: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Numbers of 62 bits that depend on nothing but a document's name and features: Int64[documents]."""
    told = (f"{name}\x00".encode(errors="surrogatepass") + row.tobytes() for name, row in zip(names, rows, strict=True))
    digests = (blake2b(each, digest_size=8).digest() for each in told)
    return np.array([int.from_bytes(digest, "little") >> 2 for digest in digests], dtype=np.int64)


class Shown(np.ndarray):
    """Positions of documents among the candidates, in the order in which they are to be shown: Int64[slots].

    Attributes:
        ticket: by which `update` and `forget` know the list.
    """

    ticket: int


class _List(NamedTuple):
    """A list that waits: its candidates, the ranking Int64[1, depth], and what the learner left for `update`."""

    candidates: Candidates
    ranking: torch.Tensor
    shown: dict[str, torch.Tensor]


class Online(Serving[_List]):
    """A learner that serves real users: it ranks the candidates of a query and learns from the clicks on its list.

    By default it serves one list at a time, as in the papers: call `update` with the clicks on a list, or with False
    for each slot if there were none, before asking for the next list. With `most_waiting`, that many lists may wait for
    their clicks, which come in any order with the list's ticket. The docstring of a learner's class says what its
    theory says of late clicks. Where the clicks on each list come before the next, tickets change nothing. Of a list
    of which only the first slots were `seen`, it learns as if the list had ended there. Use a learner from one thread
    at a time.

    A file of `save` holds the features of the documents that wait or were learned from, and no identifiers. Copies and
    pickles go on as a loaded file does; but a pickle can run anything when it is loaded, and a file cannot.

    Args:
        name: name of a learner or of a paper's variant, as in `compare`.
        n_features: number of features of a document.
        seed: seed of the learner's random draws.
        conventions: the paper whose settings are used, if it has this learner.
        most_waiting: how many lists may wait for their clicks; one more is refused, so that no click is lost silently.
        ranges: kept and saved with the learner, for use in `candidates`.
        changed: hyper-parameters that differ from the paper's settings.

    Attributes:
        ranges: as given, or as loaded.
        n_lists: how many lists were given so far; the ticket of a list is its number.
        n_updates: how many of them had their clicks.

    Raises:
        ExperimentError: an unknown name, or a learner that replays earlier queries and needs all of them at once.
        ValueError: hyper-parameters that the learner does not have.
    """

    _kind: ClassVar = "Online"

    def __init__(
        self,
        name: str,
        n_features: int,
        *,
        seed: int = 0,
        conventions: str = "pairrank",
        most_waiting: int = 1,
        ranges: Ranges | None = None,
        **changed: Value,
    ):
        require("n_features", AT_LEAST_ONE, n_features)
        require("seed", WHOLE, seed)
        chosen = setting(name, "", conventions, changed)
        if LEARNERS[chosen.learner].keeps_queries:
            raise ExperimentError(f"{name} replays earlier queries, which only a simulation knows: use `compare`")
        key = replica_key("online", 1, seed)
        self._begin(chosen.learner, n_features, chosen.hyperparameters, key, most_waiting, ranges)

    def _begin(
        self,
        learner: str,
        n_features: int,
        hyperparameters: Mapping[str, Value],
        key: np.uint64,
        most_waiting: int,
        ranges: Ranges | None,
    ) -> None:
        self.learner: Learner = LEARNERS[learner](n_features, hyperparameters, Streams(np.array([key])))
        super().__init__(most_waiting)
        self.ranges = ranges
        self.n_lists = self.n_updates = 0
        self._hyperparameters = dict(hyperparameters)
        if ranges is not None and len(ranges.low) != n_features:
            raise ValueError(f"expected ranges of {n_features} features, found {len(ranges.low)}")

    def rank(self, candidates: Candidates, depth: int = 10) -> Shown:
        """The list to show: positions of documents among the candidates, best first, at most `depth` of them.

        Raises:
            ValueError: the candidates have another number of features than the learner, the depth is not at least 1,
                or `most_waiting` lists wait for their clicks.
        """
        self._check(candidates)
        require("depth", AT_LEAST_ONE, depth)
        self._make_sure_of_room()
        self.learner.round = self.n_lists + 1
        ranking = self.learner.rank(candidates, min(depth, len(candidates.features)))
        self.n_lists += 1
        self._lists[self.n_lists] = _List(candidates, ranking, self.learner.shown())
        shown = ranking[0, ranking[0] >= 0].numpy().view(Shown)
        shown.ticket = self.n_lists
        return shown

    def _slots(self, shown: _List) -> int:
        return int((shown.ranking >= 0).sum())

    def _learn(self, ticket: int, shown: _List, clicked: np.ndarray, seen: int | None) -> None:
        of, ranking, left = shown
        whole = torch.zeros(ranking.shape, dtype=torch.bool)
        whole[0, : len(clicked)] = torch.from_numpy(clicked)
        if seen is not None:
            ranking = ranking.clone()
            ranking[0, seen:] = -1
        self.learner.recall(of, ticket, left)
        self.learner.update(of, ranking, whole)
        self.n_updates += 1

    def scores(self, candidates: Candidates) -> np.ndarray:
        """Scores of the candidates by what has been learned, without exploration: Float64[documents]."""
        self._check(candidates)
        first = torch.zeros(1, dtype=torch.int64)
        return self.learner.evaluated().scores(candidates.features, first)[:, 0].to(torch.float64).numpy()

    def __reduce__(self) -> tuple:
        return self._made, self._kept()

    def _kept(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        learner = self.learner
        tensors = {f"learner.{name}": value for name, value in learner.state_dict().items()}
        for ticket, (shown, ranking, left) in self._lists.items():
            of_list = {"features": shown.features, "numbers": shown.numbers, "ranking": ranking}
            of_list |= {f"shown.{name}": value for name, value in left.items()}
            tensors |= {f"list.{ticket}.{name}": value for name, value in of_list.items() if value is not None}
        arrays = {name: value.numpy() for name, value in tensors.items()}
        if self.ranges is not None:
            arrays |= {"ranges.low": self.ranges.low, "ranges.high": self.ranges.high}
        header = {
            "learner": learner.name,
            "revision": learner.revision,
            "hyperparameters": self._hyperparameters,
            "n_lists": self.n_lists,
            "n_updates": self.n_updates,
            "most_waiting": self.most_waiting,
            "waiting": self.waiting,
        }
        return header, arrays

    @classmethod
    def _made(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        try:
            learner = LEARNERS[one_of(header["learner"], LEARNERS, "learner")]
        except ExperimentError as error:
            raise ValueError(str(error)) from error
        if learner.keeps_queries or header["revision"] != learner.revision:
            raise ValueError(
                f"revision {header['revision']} of {learner.name} was saved, this one is {learner.revision}"
            )
        ranges = Ranges(arrays["ranges.low"], arrays["ranges.high"]) if "ranges.low" in arrays else None
        made = cls.__new__(cls)
        n_features, key = int(arrays["learner.n_features"]), arrays["learner.keys"].view(np.uint64)[0]
        made._begin(learner.name, n_features, header["hyperparameters"], key, header["most_waiting"], ranges)
        made.learner.load_state_dict(_part(arrays, "learner."))
        made.n_lists, made.n_updates = header["n_lists"], header["n_updates"]
        for ticket in header["waiting"]:
            of_list = _part(arrays, f"list.{ticket}.")
            shown = {name.removeprefix("shown."): it for name, it in of_list.items() if name.startswith("shown.")}
            own = _candidates(of_list["features"], of_list["numbers"])
            made._check(own)
            made._lists[ticket] = _List(own, of_list["ranking"], shown)
        return made

    def _check(self, candidates: Candidates) -> None:
        if not isinstance(candidates, Candidates) or candidates.numbers is None:
            raise ValueError(
                f"expected the documents of one query, from ol2r.candidates, found {type(candidates).__name__}"
            )
        width = candidates.features.shape[1]
        if width != self.learner.n_features:
            raise ValueError(f"expected {self.learner.n_features} features, found {width}")


def _part(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, torch.Tensor]:
    """The arrays whose names begin so, as tensors of their own, by the rest of the name."""
    return {
        name.removeprefix(prefix): torch.from_numpy(array.copy())
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
