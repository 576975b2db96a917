"""What runs of a learner would take on data that is not at hand: its own estimate, corrected by what stored runs took.

A learner's estimate (`Learner.cost`) knows the features, the length of lists, the rounds and the hyper-parameters, with
a network's width or the number of rankers. How far it lies off is measured: each shard of stored runs has a record of
the time that it took. The correction of a learner is the mean over data sets, in logarithms, so that a data set with
many shards counts once. To see how good predictions are, each data set is predicted by the others.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.cost import Cost, Shape
from ol2r.data import entry
from ol2r.experiments.kinds.on_dataset import labels_of
from ol2r.learners import LEARNERS
from ol2r.parameters import Value

LEAST = 20.0
"""Expected seconds below which a shard is left out: compiling and starting take a good part of it."""
FIRST_OF_TUNING = 1000
"""The first seed of tuning; its grids have settings that take many times as long as usual ones."""
COLUMNS = ["learner", "dataset", "actual", "expected"]


class Elsewhere(NamedTuple):
    """Data that is not at hand: how many queries, documents and features it has."""

    queries: int
    documents: int
    features: int

    @classmethod
    def catalogued(cls, name: str) -> "Elsewhere":
        """A data set of the catalogue.

        Raises:
            ValueError: the catalogue has no such data set.
        """
        known = entry(name)
        queries, documents = cast(tuple[int, int], (known.n_queries, known.n_documents))  # None only in click logs
        return cls(queries, documents, known.n_features)

    @property
    def shape(self) -> Shape:
        return Shape(self.features, self.documents / self.queries)

    @property
    def bytes(self) -> int:
        """Of all features, in single precision."""
        return 4 * self.documents * self.features


def shards(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Every shard of reported runs on the CPU that is long enough to tell something.

    Args:
        records: the provenance of stored files.

    Returns:
        learner, dataset, actual and expected seconds of one core, a line for each shard.
    """
    found: dict[tuple, dict[str, Any]] = {}
    for record in records:
        cell, rows = record["cell"], record["rows"]
        if cell["type"] != "simulate" or record["device"] != "cpu" or "data" not in record:
            continue
        if min(seed for _, seed in rows) >= FIRST_OF_TUNING:
            continue
        fields, counts = cell["fields"], record["data"]["counts"]
        rounds = fields["evaluation"]["fields"]["checkpoints"][-1]
        clicks = fields["users"]["fields"]["click"]
        shape = Shape(counts["features"], counts["documents"] / counts["queries"], labels_of(clicks[0]))
        cost = LEARNERS[fields["learner"]].cost(dict(fields["hyperparameters"]), shape, rounds)
        named = record["commit"], fields["learner"], fields["dataset"], rounds, record["time"][:13]
        shard = found.setdefault(
            (*named, record["shard_seconds"], record["shard_rows"]),
            {
                "learner": fields["learner"],
                "dataset": fields["dataset"],
                "actual": record.get("shard_core_seconds") or record["shard_seconds"],
                "seconds": 0.0,
                "once": cost.once,
                "stored": 0,
                "rows": record["shard_rows"],
            },
        )
        shard["seconds"] += len(rows) * cost.seconds
        shard["stored"] += len(rows)
    # rows of a shard that were computed again since are in other files: the rest stands for them
    lines = [
        each | {"expected": each["seconds"] * each["rows"] / each["stored"] + each["once"]} for each in found.values()
    ]
    table = pd.DataFrame(lines, columns=COLUMNS)
    return table[table["expected"] >= LEAST].reset_index(drop=True)


def _logs(values: pd.Series) -> pd.Series:
    """The logarithm of each value; numpy's annotations tell of an array where it gives a series."""
    return cast(pd.Series, np.log(values))


def off(table: pd.DataFrame) -> pd.DataFrame:
    """How many times as long as expected shards took, in the median, and how a prediction by other data sets does.

    Args:
        table: from `shards`.

    Returns:
        learner, dataset, shards, times (actual by expected), predicted (the same as other data sets of that learner
        have it; missing where there is none).
    """
    lines = []
    for (learner,), own in frames.groups(table, ["learner"]):
        by = _logs(own["actual"] / own["expected"]).groupby(own["dataset"])
        logs = cast(pd.DataFrame, by.agg(median="median", shards="size"))
        for line in frames.rows(logs):
            others = logs["median"].drop(line.Index)
            predicted = float(np.exp(others.mean())) if len(others) else np.nan
            lines.append((learner, line.Index, line.shards, float(np.exp(line.median)), predicted))
    return pd.DataFrame(lines, columns=["learner", "dataset", "shards", "times", "predicted"])


def errors(found: pd.DataFrame) -> pd.Series:
    """By which factor, at least 1, each prediction by other data sets lies off.

    Args:
        found: from `off`.
    """
    held_out = found.dropna()
    return cast(pd.Series, np.exp(np.abs(_logs(held_out["times"] / held_out["predicted"]))))


def corrections(found: pd.DataFrame) -> dict[str, float]:
    """By how much each learner's estimate has to be multiplied; under "", for a learner without long shards, the mean
    of all.

    Args:
        found: from `off`.
    """
    logs = _logs(found["times"]).groupby(found["learner"]).mean()
    return {"": float(np.exp(logs.mean()))} | {str(name): float(np.exp(value)) for name, value in logs.items()}


def of_a_run(
    learner: str, hyperparameters: Mapping[str, Value], there: Elsewhere, rounds: int, correction: float = 1.0
) -> Cost:
    """What one run takes on a core, and the memory of its state; features are counted apart (`Elsewhere.bytes`).

    Args:
        correction: from `corrections`.
    """
    cost = LEARNERS[learner].cost(dict(hyperparameters), there.shape, rounds)
    return cost._replace(seconds=correction * cost.seconds, once=correction * cost.once)


WEB = "a search engine's log"
ELSEWHERE: dict[str, tuple[Elsewhere, int]] = {
    "MSLR-WEB30K": (Elsewhere.catalogued("MSLR-WEB30K"), 5000),
    "Yahoo-LTRC-1": (Elsewhere.catalogued("Yahoo-LTRC-1"), 5000),
    WEB: (Elsewhere(1_000_000, 100_000_000, 136), 1_000_000),
}
"""Data that is told about by default, and rounds of a run: those of the papers, and a million on a million queries."""


def table(
    settings: Mapping[str, tuple[str, Mapping[str, Value]]],
    corrected: Mapping[str, float],
    elsewhere: Mapping[str, tuple[Elsewhere, int]],
) -> pd.DataFrame:
    """What one run of each variant takes on each data set, without scoring held-out queries.

    Args:
        settings: {variant: (learner, hyper-parameters)}.
        corrected: from `corrections`.
        elsewhere: {name: (data, rounds)}.

    Returns:
        variant, data, rounds, seconds of a core, bytes of its state, and bytes of the features beside.
    """
    lines = []
    for variant, (learner, hyperparameters) in settings.items():
        for name, (there, rounds) in elsewhere.items():
            cost = of_a_run(learner, hyperparameters, there, rounds, corrected.get(learner, corrected[""]))
            lines.append((variant, name, rounds, cost.whole, cost.bytes, there.bytes))
    return pd.DataFrame(lines, columns=["variant", "data", "rounds", "seconds", "bytes", "features"])


def duration(seconds: float) -> str:
    """A time in the unit that suits it, with two digits."""
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{float(f'{seconds / size:.2g}'):,g} {unit}"
    return f"{float(f'{seconds:.2g}'):g} s"


def size(memory: float) -> str:
    """A number of bytes in the unit that suits it, with two digits."""
    for unit, power in (("GiB", 30), ("MiB", 20)):
        if memory >= 2**power:
            return f"{float(f'{memory / 2**power:.2g}'):,g} {unit}"
    return "under 1 MiB"


def in_words(found: pd.DataFrame) -> str:
    """How good the predictions are.

    Args:
        found: from `off`.
    """
    errors_ = errors(found)
    if errors_.empty:
        return "No learner has long runs on two data sets, so nothing says how good this is."
    return (
        f"Predicted from a learner's other data sets, half of {len(errors_)} times lie within a factor of "
        f"{errors_.median():.2g} of what was measured, and nine in ten within {errors_.quantile(0.9):.2g}."
    )
