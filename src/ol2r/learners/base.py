"""What every learner is: state with the replicas first, two acts a round, and a scorer to evaluate."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, cast

import torch

from ol2r import ranking
from ol2r.cost import DEVICE_CORES, LAUNCH_SECONDS, Cost, Shape
from ol2r.random import Streams
from ol2r.rankers import LinearRanker, Ranker
from ol2r.ranking import Candidates

LEARNERS: dict[str, type["Learner"]] = {}

Value = float | int | str | bool


class Range(NamedTuple):
    """What holds of a hyper-parameter, false for NaN, and in words."""

    holds: Callable[[torch.Tensor], torch.Tensor]
    said: str


def at_least(least: float) -> Range:
    return Range(lambda values: values >= least, f"at least {least:g}")


ABOVE_0 = Range(lambda values: values > 0, "above 0")
PROBABILITY = Range(lambda values: (values >= 0) & (values <= 1), "from 0 to 1")
SHARED_RANGES: dict[str, Range] = {
    "alpha": at_least(0),
    "decay": Range(lambda values: (values > 0) & (values <= 1), "above 0 and at most 1"),
    "delta": ABOVE_0,
}


class Learner(ABC):
    """A batch of replicas of one online learner.

    Args:
        n_features: width of a document's features.
        hyperparameters: every name in `numeric` and `structural`, none missing and none more. Numeric ones may be a
            number or one number a replica (Float[R]); structural ones are the same across the batch.
        streams: the replicas' randomness, R keys.
        engine: `"numba"` or `"torch"`, or None for the device's own.

    Raises:
        ValueError: unknown or missing hyper-parameters, an unknown word, a number out of its range.
    """

    name: ClassVar[str]
    revision: ClassVar[int]  # raised by a change that alters a trajectory; part of every stored result's key
    numeric: ClassVar[frozenset[str]]
    structural: ClassVar[frozenset[str]]
    words: ClassVar[dict[str, tuple[str, ...]]] = {}  # by structural hyper-parameter with text values: these values
    ranges: ClassVar[dict[str, Range]] = SHARED_RANGES  # by hyper-parameter with number values: what they must be
    round_seconds: ClassVar[float] = 5e-6  # of one core for a replica's round, apart from what `round_cost` adds
    batch_seconds: ClassVar[float] = 5e-4  # of one core for a round of a batch, however many replicas stand in it
    launches: ClassVar[int] = 400  # operations that a round asks of a GPU
    exact_diagnostics: ClassVar[tuple[str, ...]] = ()  # diagnostics that repeat bit for bit, as the state does
    keeps_queries: ClassVar[bool] = False  # whether it replays earlier queries, so that all must be known at once

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
            name: torch.as_tensor(hyperparameters[name], dtype=torch.float32, device=self.device).expand(len(streams))
            for name in self.numeric
        }
        self.choice: dict[str, Any] = {name: hyperparameters[name] for name in self.structural}

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
        """Raise ValueError unless exactly the learner's hyper-parameters are given, as words it knows and in range."""
        wanted, given = cls.numeric | cls.structural, set(hyperparameters)
        if wanted != given:
            raise ValueError(
                f"{cls.name} takes {', '.join(sorted(wanted))}; "
                f"missing: {', '.join(sorted(wanted - given)) or 'none'}; "
                f"unknown: {', '.join(sorted(given - wanted)) or 'none'}"
            )
        for name, known in cls.words.items():
            if hyperparameters[name] not in known:
                raise ValueError(f"{cls.name}: {name} must be one of {', '.join(known)}, not {hyperparameters[name]!r}")
        for name in sorted(wanted & set(cls.ranges)):
            values = torch.as_tensor(cast(float, hyperparameters[name]), dtype=torch.float64)
            if not bool(cls.ranges[name].holds(values).all()):
                raise ValueError(f"{cls.name}: {name} must be {cls.ranges[name].said}, not {hyperparameters[name]}")

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

    def unless_diverged(self, weights: torch.Tensor, proposed: torch.Tensor) -> torch.Tensor:
        """The proposed weights; but a replica whose ‖w‖² would leave the finite numbers dies, and keeps what it had.

        Args:
            weights: Float32[R, features], in force; proposed: Float32[R, features], after this round's step.

        Returns:
            Float32[R, features], the weights in force from now on.
        """
        self.alive &= (proposed * proposed).sum(dim=1) < torch.inf  # false for NaN as well
        return torch.where(self.alive[:, None], proposed, weights)

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


def linear_seconds(shape: Shape, rankers: int = 1, directions: int = 0) -> float:
    """Seconds of one core to rank a query's documents by some linear rankers, and to draw some random directions."""
    return rankers * shape.documents * (2.2e-10 * shape.features + 6e-9) + directions * shape.features * 3e-8


class SteppingLearner(Learner):
    """A linear learner that moves its weights, 0 at first, by a step a round.

    Hyper-parameters of all: `alpha` (learning rate α), `decay` (α is multiplied by it after every step taken).
    """

    def __init__(
        self,
        n_features: int,
        hyperparameters: Mapping[str, Value | torch.Tensor],
        streams: Streams,
        engine: str | None = None,
    ):
        super().__init__(n_features, hyperparameters, streams, engine)
        self.state = {
            "weights": torch.zeros(len(streams), n_features, device=self.device),
            "alpha": self.number["alpha"].clone(),
        }

    def step(self, proposed: torch.Tensor, taken: torch.Tensor) -> None:
        """Move to the proposed weights unless they diverge, and let α decay where a step was taken.

        Args:
            proposed: Float32[R, features]; taken: Bool[R].
        """
        self.state["weights"] = self.unless_diverged(self.state["weights"], proposed)
        self.state["alpha"] *= torch.where(taken, self.number["decay"], 1.0)

    def evaluated(self) -> LinearRanker:
        return LinearRanker(self.state["weights"])
