"""What every learner is: state with the replicas first, two acts a round, and a scorer to evaluate."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch

from ol2r import ranking
from ol2r.cost import DEVICE_CORES, LAUNCH_SECONDS, Cost, Shape
from ol2r.parameters import Number, Parameter, Value, check_all
from ol2r.random import Streams
from ol2r.rankers import LinearRanker, Ranker
from ol2r.ranking import Candidates

LEARNERS: dict[str, type["Learner"]] = {}

ALPHA = Number(least=0, most=math.inf)
STEP = {"alpha": ALPHA, "decay": Number(above=0, most=1)}


class Learner(ABC):
    """A batch of replicas of one online learner.

    Args:
        n_features: width of a document's features.
        hyperparameters: every name in `numeric` and `structural`, none missing and none more, each with a value that it
            may have. Numeric ones may be a number or one number a replica (Float[R]); structural ones are the same
            across the batch.
        streams: the replicas' randomness, R keys.
        engine: `"numba"` or `"torch"`, or None for the device's own.

    Raises:
        ValueError: unknown or missing hyper-parameters, an unknown word, a number out of its range.
    """

    name: ClassVar[str]
    revision: ClassVar[int]  # raised by a change that alters a trajectory; part of every stored result's key
    numeric: ClassVar[Mapping[str, Number]]
    structural: ClassVar[Mapping[str, Parameter]] = {}
    round_seconds: ClassVar[float] = 5e-6  # of one core for a replica's round, apart from what `round_cost` adds
    batch_seconds: ClassVar[float] = 5e-4  # of one core for a round of a batch, however many replicas stand in it
    launches: ClassVar[int] = 400  # operations that a round asks of a GPU
    exact_diagnostics: ClassVar[tuple[str, ...]] = ()  # diagnostics that repeat bit for bit, as the state does
    keeps_queries: ClassVar[bool] = False  # whether it replays earlier queries, so that all must be known at once

    repeats: ClassVar[Literal["bits", "means"]] = "bits"
    """How a second run on the same machine repeats the first: `"bits"`, the same trajectory whichever replicas stand
    beside it; or `"means"`, where sums are added up in an order that nobody fixes (a network's), so that trajectories
    part and only means over replicas agree."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
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
        self.number = {
            name: torch.as_tensor(hyperparameters[name], dtype=torch.float32, device=self.device)
            .expand(len(streams))
            .contiguous()
            for name in self.numeric
        }
        self.choice: dict[str, Any] = {name: hyperparameters[name] for name in self.structural}
        self.state = self.initial()

    def initial(self) -> dict[str, torch.Tensor]:
        """The learner's state before the first round, by name: tensors with the replicas first."""
        return {}

    def memories(self) -> dict[str, object]:
        """Objects that remember beside `state`, by name: all that they remember is in their tensors and arrays."""
        return {}

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that the learner's future depends on, between two rounds: copies of its tensors and numbers, as tensors.

        What the learner was made with is not in it, but for its replicas' keys and its number of features.
        """
        kept = {"keys": self.streams.keys_torch, "n_features": self.n_features, "round": self.round}
        kept |= {"alive": self.alive} | self.state
        for memory, it in self.memories().items():
            kept |= {f"{memory}.{name}": value for name, value in _remembered(it).items()}
        return {name: _tensor(value).clone() for name, value in kept.items()}

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        """Go on from where a learner stood that was made as this one was.

        Args:
            saved: what `state_dict` of the other one gave.

        Raises:
            ValueError: it is of another kind of learner, of other replicas, or of another number of features.
        """
        own = self.state_dict()
        if own.keys() != saved.keys():
            other = ", ".join(sorted(own.keys() ^ saved.keys()))
            raise ValueError(f"{self.name}: a state of another learner or engine, which differs in {other}")
        for name, what in (("keys", "other replicas"), ("n_features", "another number of features")):
            if not torch.equal(own[name].cpu(), saved[name].cpu()):
                raise ValueError(f"{self.name}: a state of {what}")
        self.round = int(saved["round"])
        self.alive = saved["alive"].to(self.device, copy=True)
        self.state = {name: saved[name].to(self.device, copy=True) for name in self.state}
        for memory, it in self.memories().items():
            for name, value in _remembered(it).items():
                copy = saved[f"{memory}.{name}"].to(self.device, copy=True)
                setattr(it, name, copy if isinstance(value, torch.Tensor) else copy.numpy())

    @classmethod
    def batch(
        cls, n_features: int, settings: Sequence[Mapping[str, Value]], streams: Streams, engine: str | None = None
    ) -> Self:
        """Replicas side by side, each with its own hyper-parameters; structural ones are the first's."""
        structural = {name: settings[0][name] for name in cls.structural}
        numeric = {
            name: torch.tensor([float(setting[name]) for setting in settings], dtype=torch.float64)
            for name in cls.numeric
        }
        return cls(n_features, structural | numeric, streams, engine)

    @classmethod
    def check(cls, hyperparameters: Mapping[str, object]) -> None:
        """Raise ValueError unless exactly the learner's hyper-parameters are given, with values that they may have."""
        check_all(cls.name, {**cls.numeric, **cls.structural}, hyperparameters)

    @classmethod
    def cost(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int, device: str = "cpu") -> Cost:
        """What a replica takes in so many rounds, roughly; `once` is what all replicas of its batch share.

        Args:
            hyperparameters: all of them.
            shape: of the queries that it meets.
            rounds: how many.
            device: "cpu" or "cuda".
        """
        seconds = rounds * cls.round_cost(hyperparameters, shape, rounds)
        memory = cls.memory(hyperparameters, shape, rounds)
        if device == "cpu":
            return Cost(seconds, memory, rounds * cls.batch_seconds)
        # the longest query of a round is several times the mean, and several copies of its features pass
        passing = round(64 * shape.documents * (shape.features + 32))
        return Cost(seconds / DEVICE_CORES, memory + passing, rounds * cls.launches * LAUNCH_SECONDS)

    @classmethod
    def round_cost(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> float:
        """Seconds of one core for a replica's round, in the mean over so many."""
        return cls.round_seconds + linear_seconds(shape)

    @classmethod
    def memory(cls, hyperparameters: Mapping[str, Value], shape: Shape, rounds: int) -> int:
        """Bytes that a replica remembers at the end of so many rounds."""
        return 1 << 16

    @abstractmethod
    def rank(self, candidates: Candidates, depth: int) -> torch.Tensor:
        """The lists to display: Int64[R, depth], padded with −1."""

    @abstractmethod
    def update(self, candidates: Candidates, ranking: torch.Tensor, clicks: torch.Tensor) -> None:
        """Learn from the clicks (Bool[R, depth]) on the lists that `rank` gave for these candidates."""

    @abstractmethod
    def evaluated(self) -> Ranker:
        """The scorer that offline evaluation uses."""

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Further quantities to record at a checkpoint, each [R]."""
        return {}

    @property
    def status(self) -> list[str]:
        """ "ok", or "diverged" for a replica whose weights left the finite numbers and is frozen since."""
        return ["ok" if alive else "diverged" for alive in self.alive.tolist()]


def _tensor(value: torch.Tensor | np.ndarray | float) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.from_numpy(np.asarray(value))


def _remembered(memory: object) -> dict[str, Any]:
    """The tensors and arrays of an object, by name; flags, text and devices are settings.

    Raises:
        TypeError: it holds anything else, which may be memory too.
    """
    kept = {name: value for name, value in vars(memory).items() if not isinstance(value, bool | str | torch.device)}
    for name, value in kept.items():
        if not isinstance(value, torch.Tensor | np.ndarray):
            raise TypeError(f"{type(memory).__name__}.{name} is neither a tensor nor an array")
    return kept


def linear_seconds(shape: Shape, rankers: int = 1, directions: int = 0) -> float:
    """Seconds of one core to rank a query's documents by some linear rankers, and to draw some random directions."""
    return rankers * shape.documents * (2.2e-10 * shape.features + 6e-9) + directions * shape.features * 3e-8


class SteppingLearner(Learner):
    """A linear learner that moves its weights, 0 at first, by a step a round.

    Hyper-parameters of all: `alpha` (learning rate α), `decay` (α is multiplied by it after every step taken).
    """

    def initial(self) -> dict[str, torch.Tensor]:
        weights = torch.zeros(len(self.streams), self.n_features, device=self.device)
        return super().initial() | {"weights": weights, "alpha": self.number["alpha"].clone()}

    def step(self, proposed: torch.Tensor, taken: torch.Tensor) -> None:
        """Move to the proposed weights, and let α decay where a step was taken.

        A replica whose ‖w‖² would leave the finite numbers dies, and keeps the weights that it had.

        Args:
            proposed: Float32[R, features]; taken: Bool[R].
        """
        weights, alpha = self.state["weights"], self.state["alpha"]
        self.state["weights"] = self.ops.step(weights, proposed, self.alive, taken, self.number["decay"], alpha)

    def evaluated(self) -> LinearRanker:
        return LinearRanker(self.state["weights"])
