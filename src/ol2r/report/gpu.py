"""What a round asks of a GPU, what it was predicted and measured to take there, and how stored runs came out there.

The benchmark writes `device.json`: what it counted without a device, and by device what it measured there. This module
shows the stored figures; it must not measure.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ol2r.cost import BANDWIDTH, LAUNCH_SECONDS, Shape, device_round_seconds
from ol2r.learners import LEARNERS
from ol2r.parameters import Value
from ol2r.report import alt
from ol2r.report.leads import joined
from ol2r.report.style import BLUE, INK, RED, Drawing, legend, panels, spelled, styled
from ol2r.report.tables import Column, rounded

MSLR = Shape(136, 125.0)
ROUNDS = (20, 220)
"""The rounds that were measured: those after the first number, up to the second."""
SINGLE, REPLAYED, CORES = "single rounds", "replayed rounds", "two CPU cores"
LOOKS = {SINGLE: ("--", BLUE, "o"), REPLAYED: ("-", RED, "D"), CORES: (":", INK, "s")}
_HOW = {SINGLE: "eager", REPLAYED: "graph"}
AT_ONCE, REPLICAS_AT_ONCE = ("dbgd", "mgd", "nsgd", "pdgd", "egreedy", "sgdranknet"), 64
"""The families of which the benchmark of speeds measures first rounds at the same shape, and their replicas."""
NEAR = 3.0
"""Combined standard errors within which means of runs on different machines must agree."""
TOO_FAST = 1.25
"""Single rounds do all that replayed ones do, and ask Python besides. Where they came out this many times as fast or
faster, the clock was off, and neither figure is shown."""


class Stored(NamedTuple):
    """What the benchmark stored.

    Args:
        on_cores: rounds a second of all replicas together that two CPU cores were measured at, by learner and number of
            replicas.
    """

    counted: Mapping[str, Any]
    name: str
    measured: Mapping[str, Any]
    on_cores: Mapping[tuple[str, int], float] = {}

    @classmethod
    def of(cls, path: Path) -> "Stored":
        """From the benchmark's file, and those of the speeds on CPUs beside it."""
        devices, speed, scaling = (
            json.loads(path.with_name(name).read_text(encoding="utf-8"))
            for name in (path.name, "speed.json", "scaling.json")
        )
        counted = devices.pop("counted")
        name, measured = next(iter(devices.items()), ("", {}))
        measured_at_once = {family: speed.get(f"{family}.rounds_per_s", {}) for family in AT_ONCE}
        on_cores = {
            (counted["learners"][family], REPLICAS_AT_ONCE): figure["ours"]
            for family, figure in measured_at_once.items()
            if figure.get("cores") == 2
        }
        for learner, of_learner in scaling["learners"].items():
            on_cores |= {(learner, int(n)): rate for n, rate in of_learner["rounds_per_s"].get("2", {}).items()}
        return cls(counted, name, measured, on_cores)

    @property
    def learners(self) -> dict[str, str]:
        """By learner, the name of its family of figures."""
        return {learner: family for family, learner in self.counted["learners"].items()}

    def launches(self, learner: str) -> float:
        """Operations of a round."""
        return self.counted[f"launches.{self.learners[learner]}"]

    def bytes(self, learner: str) -> float:
        """Bytes that a round moves for each replica."""
        return self.counted[f"bytes.{self.learners[learner]}"]

    def hyperparameters(self, learner: str) -> Mapping[str, Value]:
        """Those that were counted and measured."""
        return self.counted["settings"][learner]

    def turn(self, learner: str) -> float:
        """The number of replicas from which on a single round is expected to wait for memory."""
        return self.launches(learner) * LAUNCH_SECONDS * BANDWIDTH / self.bytes(learner)

    def predicted(self, learner: str, replicas: int, way: str) -> float:
        """Rounds a second of all replicas together, on a GPU in one of its two ways, or on two CPU cores by the cost
        model."""
        if way == CORES:
            return two_cores(learner, self.hyperparameters(learner), replicas)
        spent = device_round_seconds(self.launches(learner), self.bytes(learner), replicas, way == REPLAYED)
        return replicas / spent

    def speed(self, learner: str, replicas: int, way: str) -> float | None:
        """Rounds a second of all replicas together as measured; None where it was not, or where the clock was off."""
        if way == CORES:
            return self.on_cores.get((learner, replicas))
        at = {each: self._speed(learner, replicas, each) for each in _HOW}
        single, replayed = at[SINGLE], at[REPLAYED]
        if single is not None and replayed is not None and single > TOO_FAST * replayed:
            return None
        return at[way]

    def of_cores(self, learner: str, replicas: int) -> float:
        """Rounds a second of all replicas together on two CPU cores: as measured, or else by the cost model."""
        return self.speed(learner, replicas, CORES) or self.predicted(learner, replicas, CORES)

    def _speed(self, learner: str, replicas: int, way: str) -> float | None:
        return self.measured.get(f"cuda.{self.learners[learner]}.{_HOW[way]}.rounds_per_s_{replicas}")

    def replicas(self) -> list[int]:
        """The numbers of replicas that were measured, ascending."""
        ends = {key.rpartition("_")[2] for key in self.measured if ".rounds_per_s_" in key}
        return sorted(map(int, ends))

    def repeated(self) -> pd.DataFrame:
        """The stored runs that were repeated: a line for each."""
        return pd.DataFrame(self.measured.get("repeated", []))


def two_cores(learner: str, hyperparameters: Mapping[str, Value], replicas: int) -> float:
    """Rounds a second of all replicas together on two cores by the cost model, of the rounds that were measured."""
    until = [LEARNERS[learner].cost(hyperparameters, MSLR, rounds).of(replicas).whole for rounds in ROUNDS]
    return 2 * replicas * (ROUNDS[1] - ROUNDS[0]) / (until[1] - until[0])


def _short(speed: float | None) -> str:
    return "—" if speed is None else rounded(speed / 1e3, 3)


def speed_rows(stored: Stored) -> tuple[list[str], list[list[str]]]:
    """Thousands of rounds a second as measured: header, and a row for each learner."""
    counts = stored.replicas()
    header = ["learner", *(f"{way}, {n:,}" for way in _HOW for n in counts), f"two CPU cores, {counts[0]}"]
    rows = [
        [
            spelled(learner),
            *(_short(stored.speed(learner, n, way)) for way in _HOW for n in counts),
            _short(stored.of_cores(learner, counts[0])),
        ]
        for learner in stored.learners
    ]
    return header, rows


def asked_rows(stored: Stored) -> tuple[list[str], list[list[str]]]:
    """What a round asks of a device as counted: header, and a row for each learner."""
    header = ["learner", "launches a round", "limit", "host reads", "MB a replica", "memory-bound from replicas"]
    rows = [
        [
            spelled(learner),
            f"{stored.launches(learner):.0f}",
            f"{LEARNERS[learner].launches}",
            f"{stored.counted[f'reads.{family}']:.0f}",
            f"{stored.bytes(learner) / 1e6:.1f}",
            f"{stored.turn(learner):,.0f}",
        ]
        for learner, family in stored.learners.items()
    ]
    return header, rows


REPEATED: dict[str, Column] = {
    "learner": lambda run: spelled(run.learner) + (f", {run.covariance}" if isinstance(run.covariance, str) else ""),
    "rounds": "{rounds:,}",
    "runs": "{rows}",
    "NDCG, CPU": "{cpu:.3f}",
    "NDCG, GPU": "{device:.3f}",
    "standard errors apart": "{errors_apart:.2f}",
    "runs that end alike": "{same_rows}",
    "all alike until round": lambda run: f"{run.same_until:,}" if run.same_until >= 0 else "none",
    "seconds": "{seconds:.1f}",
}
"""The columns of a table of `Stored.repeated`."""


def faster_in_words(stored: Stored, learners: Sequence[str], replicas: int) -> str:
    """How many times as fast as two CPU cores replayed rounds are, learner by learner; those not measured are left
    out, and where the speed of the cores is the cost model's, that is said."""
    told = []
    for learner in learners:
        if (speed := stored.speed(learner, replicas, REPLAYED)) is not None:
            predicted = "" if stored.speed(learner, replicas, CORES) else " (cores by the cost model)"
            told.append(f"{spelled(learner)} {speed / stored.of_cores(learner, replicas):,.1f}{predicted}")
    return joined(told)


@styled
def figure(stored: Stored, shown: Sequence[str]) -> Drawing:
    """Rounds per second of all replicas together against the number of replicas: predicted lines, measured marks."""
    ways = (*_HOW, CORES)
    table = pd.DataFrame(
        [
            (learner, n, way, "predicted", stored.predicted(learner, n, way))
            for learner in shown
            for n in (2**i for i in range(13))
            for way in ways
        ]
        + [
            (learner, n, way, "measured", speed)
            for learner in shown
            for n in stored.replicas()
            for way in ways
            if (speed := stored.speed(learner, n, way)) is not None
        ],
        columns=["learner", "replicas", "way", "how", "speed"],
    )
    fig, axes = panels(shown, table)
    for ax, learner in zip(axes, shown, strict=True):
        own = table[table["learner"] == learner]
        for way, (line, color, mark) in LOOKS.items():
            at = own[own["way"] == way]
            told, seen = (at[at["how"] == how] for how in ("predicted", "measured"))
            ax.loglog(told["replicas"], told["speed"], line, color=color, label=way)
            if len(seen):
                ax.loglog(seen["replicas"], seen["speed"], mark, color=color, label=f"{way}, measured")
        ax.set_xlabel("replicas")
    axes[0].set_ylabel("rounds per second")
    legend(fig, axes, ncols=3)
    spoken = table.assign(way=table["way"] + ", " + table["how"], learner="of " + table["learner"])
    what = "the number of rounds per second"
    fig.alt = alt.courses(spoken, "way", what, ["learner"], "replicas", "the number of replicas", y="speed")
    return fig
