"""The base class of learners: a state for each replica, `rank` and `update` in each round, and a ranker to evaluate."""

import math
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from ol2r import ranking
from ol2r.cost import DEVICE_CORES, REPLAY_SECONDS, Cost, Shape
from ol2r.parameters import Number, Parameter, Value, check_all, completed
from ol2r.random import Streams
from ol2r.rankers import LinearRanker, Ranker
from ol2r.ranking import Candidates

LEARNERS: dict[str, type["Learner"]] = {}

ALPHA = Number(least=0, most=math.inf)
STEP = {"alpha": ALPHA, "decay": Number(above=0, most=1)}


@runtime_checkable
class Stateful(Protocol):
    """A part of a learner's state that saves and restores itself."""

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that is kept, by name."""
        ...

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        """Restore what `state_dict` of another one returned, and keep these tensors."""
        ...

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        """See `Learner.state_places`."""
        ...


class Learner(ABC):
    """A batch of replicas of one online learner.

    Args:
        n_features: width of a document's features.
        hyperparameters: an allowed value for exactly the names in `numeric` and `structural`, of which those with a
            default may be left out. A numeric hyper-parameter is one number, or one for each replica (Float[R]); a
            structural one is the same for the whole batch.
        streams: random streams of the replicas, with R keys.
        engine: `"numba"` or `"torch"`, or None for the default on the device.

    Raises:
        ValueError: unknown or missing hyper-parameters, or a value that is not allowed.
    """

    name: ClassVar[str]
    revision: ClassVar[int]  # raised by a change that alters a trajectory; part of every stored result's key
    numeric: ClassVar[dict[str, Number]]
    structural: ClassVar[dict[str, Parameter]] = {}
    round_seconds: ClassVar[float] = 5e-6  # of one core for a replica's round, besides `round_terms`, if not measured
    batch_seconds: ClassVar[float] = 5e-4  # of one core for a round of a batch of any size, if not measured
    timed_as: ClassVar[str] = ""  # the learner whose measured speed it has, if it was not timed itself
    launches: ClassVar[int] = 400  # most GPU operations in a round, all that `simulate` does included
    exact_diagnostics: ClassVar[tuple[str, ...]] = ()  # diagnostics that repeat bit for bit, as the state does
    side_by_side: ClassVar[bool] = True  # whether the CPU computes replicas of one batch faster than batches of one
    keeps_queries: ClassVar[bool] = False  # whether it replays earlier queries, so all queries must be known in advance
    starts_from_order: ClassVar[bool] = False  # whether its first lists are in the order in which candidates come
    starts_from_weights: ClassVar[bool] = False  # whether `begin_from` can give it the weights of a linear ranker

    repeats: ClassVar[Literal["bits", "means"]] = "bits"
    """How far a second run on the same machine repeats the first. With `"bits"`, trajectories are the same bit for bit,
    whichever replicas share the batch. With `"means"`, the order of summation is not fixed (in a network), so
    trajectories drift apart and only means over replicas agree."""

    def __init_subclass__(cls, registered: bool = True, **kwargs):
        super().__init_subclass__(**kwargs)
        if registered and "name" in cls.__dict__:
            if cls.name in LEARNERS:
                raise ValueError(f"two learners are named {cls.name!r}")
            LEARNERS[cls.name] = cls

    def __init__(
        self,
        n_features: int,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
    ):
        self.check(hyperparameters)
        self.n_features = n_features
        self.streams = streams
        self.device = streams.device
        self.ops = ranking.engine(engine or ranking.default_engine(self.device.type))
        self.round = 1
        self.alive = torch.ones(len(streams), dtype=torch.bool, device=self.device)
        # first in double precision, so that a λ of 0.1 is not rounded to single precision where that matters
        self.precise = {
            name: torch.as_tensor(hyperparameters[name], dtype=torch.float64, device=self.device)
            .expand(len(streams))
            .contiguous()
            for name in self.numeric
        }
        self.number = {name: value.to(torch.float32) for name, value in self.precise.items()}
        self.choice: dict[str, Any] = completed(self.structural, hyperparameters)
        self.build()
        self.state = self.initial()

    def build(self) -> None:  # noqa: B027 (most learners have nothing to make)
        """Make what the learner keeps besides `state`; part of its construction, and called by nothing else."""

    def initial(self) -> dict[str, torch.Tensor]:
        """The learner's state before the first round, by name: tensors with the replicas first."""
        return {}

    def begin_from(self, weights: Float64[Tensor, "R d"]) -> None:
        """Begin from the weights of linear rankers that were fitted before, in the place of the learner's own start.

        Args:
            weights: Float64[R, features], one ranker for each replica.

        Raises:
            ValueError: the learner does not start from weights, is no longer fresh, or has another shape.
        """
        if not self.starts_from_weights:
            raise ValueError(f"{self.name} cannot begin from given weights")
        if self.round != 1:
            raise ValueError(f"{self.name} is in round {self.round}: only a fresh learner begins from given weights")
        if weights.shape != (own := (len(self.streams), self.n_features)):
            raise ValueError(f"{self.name}: weights to begin from must be of shape {own}, not {tuple(weights.shape)}")
        self._begin_from(weights.to(self.device, torch.float64))

    def _begin_from(self, weights: Float64[Tensor, "R d"]) -> None:
        """What `begin_from` changes; learners with `starts_from_weights` define it."""
        raise NotImplementedError

    def memories(self) -> dict[str, object]:
        """Further objects that hold part of the learner's state, by name: each `Stateful`, or one whose tensors and
        arrays are all that it keeps."""
        return {}

    def _memories(self) -> dict[str, Stateful]:
        return {name: it if isinstance(it, Stateful) else _Attributes(it) for name, it in self.memories().items()}

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        """Where the tensors stand that a round may replace: pairs of an owner and a name, so that owner[name] is it."""
        yield from ((self.state, name) for name in self.state)
        yield vars(self), "alive"
        for memory in self._memories().values():
            yield from memory.state_places()

    def form(self) -> Hashable:
        """What the operations and shapes of the next round on a device depend on, apart from what stays the same in a
        run; a recorded round serves as long as this stays equal."""
        return None

    def count_round(self) -> None:
        """Count a round that a device replayed; what the host keeps count of in `rank` and `update` moves on here."""
        self.round += 1

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The learner's state between two rounds, from which it can resume: copies on the CPU, numbers as tensors.

        Of the constructor's arguments it holds only the replicas' keys and the number of features.
        """
        kept = {"keys": self.streams.keys_torch, "n_features": self.n_features, "round": self.round}
        kept |= {"alive": self.alive} | self.state
        for memory, it in self._memories().items():
            kept |= {f"{memory}.{name}": value for name, value in it.state_dict().items()}
        return {name: _tensor(value).to("cpu", copy=True) for name, value in kept.items()}

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        """Resume from the state of another learner that was constructed with the same arguments.

        Args:
            saved: what `state_dict` of the other learner returned.

        Raises:
            ValueError: the state is of another learner or engine, of other replicas, or of another number of features.
        """
        own, memories = self.state_dict(), self._memories()
        # what a memory that saves itself has kept depends on its past
        growing = tuple(f"{name}." for name, it in memories.items() if not isinstance(it, _Attributes))
        differing = sorted(name for name in own.keys() ^ saved.keys() if not name.startswith(growing))
        if differing:
            other = ", ".join(differing)
            raise ValueError(f"{self.name}: a state of another learner or engine, which differs in {other}")
        for name, what in (("keys", "other replicas"), ("n_features", "another number of features")):
            if not torch.equal(own[name], saved[name].cpu()):
                raise ValueError(f"{self.name}: a state of {what}")
        self.round = int(saved["round"])
        self.alive = saved["alive"].to(self.device, copy=True)
        self.state = {name: saved[name].to(self.device, copy=True) for name in self.state}
        for name, it in memories.items():
            parts = {part.removeprefix(f"{name}."): part for part in saved if part.startswith(f"{name}.")}
            it.load_state_dict({part: saved[whole].to(self.device, copy=True) for part, whole in parts.items()})

    @classmethod
    def together(cls, settings: Sequence[Mapping[str, Value]]) -> dict[str, Value | torch.Tensor]:
        """The hyper-parameters of a batch of replicas with these settings: numeric ones of each, Float64[R], and the
        structural ones of the first."""
        structural = {name: settings[0][name] for name in cls.structural if name in settings[0]}
        numeric = {
            name: torch.tensor([float(setting[name]) for setting in settings], dtype=torch.float64)
            for name in cls.numeric
        }
        return structural | numeric

    @classmethod
    def batch(
        cls, n_features: int, settings: Sequence[Mapping[str, Value]], streams: Streams, engine: str | None = None
    ) -> "Learner":
        """A batch of replicas, one for each of these settings; see `together`."""
        return cls(n_features, cls.together(settings), streams, engine)

    @classmethod
    def check(cls, hyperparameters: Mapping[str, object]) -> None:
        """Raise ValueError unless exactly the learner's hyper-parameters are given, with allowed values."""
        check_all(cls.name, {**cls.numeric, **cls.structural}, hyperparameters)

    @classmethod
    def cost(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int, device: str = "cpu") -> Cost:
        """Rough cost of one replica in a run; `once` is the part that all replicas of its batch share.

        Args:
            hyperparameters: all hyper-parameters of the learner.
            shape: size of the data set's queries.
            rounds: number of rounds of the run.
            device: "cpu" or "cuda".
        """
        terms, memory = cls.round_terms(hyperparameters, shape, rounds), cls.memory(hyperparameters, shape, rounds)
        if device == "cpu":
            timed = cls.measured()
            one = timed.get("replica", cls.round_seconds)
            one += sum(timed.get(name, 1.0) * seconds for name, seconds in terms.items())
            return Cost(rounds * one, memory, rounds * timed.get("batch", cls.batch_seconds), not cls.side_by_side)
        seconds = rounds * (cls.round_seconds + sum(terms.values()))
        # the longest query of a round is several times longer than the mean, and its features are copied several times
        passing = round(64 * shape.documents * (shape.features + 32))
        return Cost(seconds / DEVICE_CORES, memory + passing, rounds * cls.launches * REPLAY_SECONDS)

    @classmethod
    def round_terms(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> dict[str, float]:
        """What a replica's round does, by name, in the mean over a run's rounds: seconds of one core by operations
        alone, which `measured` corrects."""
        return {"lists": linear_seconds(shape)}

    @classmethod
    def measured(cls) -> Mapping[str, float]:
        """How long runs of the learner took, or of the one that it is `timed_as`, from measured.toml.

        Returns:
            batch and replica: seconds of one core that a round takes once, and more for each replica; and by name of a
            term how many times as long it takes as `round_terms` has it. Empty where no run was timed.
        """
        timed = _timed()
        return timed.get(cls.name) or timed.get(cls.timed_as) or {}

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes of a replica's state after this number of rounds."""
        return 1 << 16

    @abstractmethod
    def rank(self, candidates: Candidates, depth: int) -> Int64[Tensor, "R {depth}"]:
        """The lists to display: Int64[R, depth], padded with −1."""

    @abstractmethod
    def update(self, candidates: Candidates, ranking: Int64[Tensor, "R k"], clicks: Bool[Tensor, "R k"]) -> None:
        """Learn from the clicks (Bool[R, depth]) on the lists that `rank` gave for these candidates."""

    @abstractmethod
    def evaluated(self) -> Ranker:
        """The ranker that offline evaluation scores."""

    def shown(self) -> dict[str, torch.Tensor]:
        """What `rank` left for `update` with the clicks on the same lists, by name, besides `state`."""
        return {}

    def recall(self, candidates: Candidates, round_: int, shown: Mapping[str, torch.Tensor]) -> None:
        """Go back to lists that `rank` gave earlier, so that `update` can learn from the clicks on them.

        Rounds are then no order in time: the number of a round says which random numbers it draws.

        Args:
            candidates: of these lists.
            round_: the round in which `rank` gave them.
            shown: what `shown` returned then.
        """
        self.round = round_

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Further quantities to record at a checkpoint, each [R]."""
        return {}

    @property
    def status(self) -> list[str]:
        """ "ok", or "diverged" for a replica that is frozen because its weights would no longer be finite."""
        return ["ok" if alive else "diverged" for alive in self.alive.tolist()]


def _tensor(value: torch.Tensor | np.ndarray | float) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.from_numpy(np.asarray(value))


class _Attributes:
    """The memory of an object whose tensors and arrays are all that it keeps; flags, text and devices are settings."""

    def __init__(self, owner: object):
        self._owner = owner

    def _kept(self) -> dict[str, Any]:
        """The tensors and arrays, by name.

        Raises:
            TypeError: the object holds anything else, which might be part of its state.
        """
        settings = bool | str | torch.device
        kept = {name: value for name, value in vars(self._owner).items() if not isinstance(value, settings)}
        for name, value in kept.items():
            if not isinstance(value, torch.Tensor | np.ndarray):
                raise TypeError(f"{type(self._owner).__name__}.{name} is neither a tensor nor an array")
        return kept

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {name: _tensor(value) for name, value in self._kept().items()}

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        for name, value in self._kept().items():
            setattr(self._owner, name, saved[name] if isinstance(value, torch.Tensor) else saved[name].cpu().numpy())

    def state_places(self) -> Iterator[tuple[MutableMapping[str, Any], str]]:
        kept = self._kept().items()
        return ((vars(self._owner), name) for name, value in kept if isinstance(value, torch.Tensor))


def linear_seconds(shape: Shape, rankers: int = 1, directions: int = 0) -> float:
    """Seconds of one core to rank a query's documents by some linear rankers and to draw some random directions."""
    return rankers * shape.documents * (2.2e-10 * shape.features + 6e-9) + directions * shape.features * 3e-8


@cache
def _timed() -> Mapping[str, Mapping[str, float]]:
    return tomllib.loads(files("ol2r.learners").joinpath("measured.toml").read_text(encoding="utf-8"))


class SteppingLearner(Learner):
    """A linear learner that moves its weights by at most one step in each round; they start at 0 unless overridden.

    Hyper-parameters of all such learners: `alpha` (learning rate α), `decay` (factor on α after every step taken).
    """

    starts_from_weights = True

    def initial(self) -> dict[str, torch.Tensor]:
        weights = torch.zeros(len(self.streams), self.n_features, device=self.device)
        return super().initial() | {"weights": weights, "alpha": self.number["alpha"].clone()}

    def _begin_from(self, weights: Float64[Tensor, "R d"]) -> None:
        self.state["weights"] = weights.to(torch.float32)

    def step(self, proposed: Float32[Tensor, "R d"], taken: Bool[Tensor, " R"]) -> None:
        """Move to the proposed weights, and let α decay where a step was taken.

        A replica whose ‖w‖² would no longer be finite dies, and keeps its last weights.

        Args:
            proposed: Float32[R, features]; taken: Bool[R].
        """
        weights, alpha = self.state["weights"], self.state["alpha"]
        self.state["weights"] = self.ops.step(weights, proposed, self.alive, taken, self.number["decay"], alpha)

    def climb(self, gradient: Float32[Tensor, "R d"], taken: Bool[Tensor, " R"]) -> None:
        """`step` to w + α g.

        Args:
            gradient: g, Float32[R, features]; taken: Bool[R].
        """
        weights, alpha = self.state["weights"], self.state["alpha"]
        self.state["weights"] = self.ops.climb(weights, gradient, self.alive, taken, self.number["decay"], alpha)

    def follow(self, directions: Float32[Tensor, "R m d"], shares: Float32[Tensor, "R m"]) -> None:
        """`step` to w + α Σ_i share_i g^i, taken where any share is not zero.

        Args:
            directions: g^i, Float32[R, m, features]; shares: Float32[R, m].
        """
        weights, alpha, decay = self.state["weights"], self.state["alpha"], self.number["decay"]
        self.state["weights"] = self.ops.follow(weights, directions, shares, self.alive, decay, alpha)

    def evaluated(self) -> LinearRanker:
        return LinearRanker(self.state["weights"])
