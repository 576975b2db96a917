"""What the stored results were expected to take, against what they took.

    python benchmarks/costs.py --store

fits what learners are expected to take on the CPU (`Learner.cost`) to all runs that were timed, and keeps it in
src/ol2r/learners/measured.toml: the timings that are stored among the results, and the speeds that the other benchmarks
stored. A test compares the two.

    python benchmarks/costs.py [--since COMMIT_TIME] [--by dataset]

compares the model with all other stored runs.

A shard's record has the wall time of its rows side by side. Newer ones have the seconds of cores that its process had
as well, which do not count what others took of the machine. Older ones ran in a worker with one thread, whose wall time
is at least its seconds of one core; a timing, which runs alone on all cores, is counted with each of them. The ratio is
actual by expected (`Cell.cost`, compiling apart): its median, and the tenth and ninetieth percentile over shards.
Shards of a machine that did other work beside are above 1, those that compiled first as well. Nothing is asserted.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import networks
import numpy as np
import pandas as pd
from families import LEARNER, SETTINGS
from scipy.optimize import lsq_linear

from ol2r import data, papers
from ol2r.cost import Shape, together
from ol2r.experiments.cells import TIERS, Cell, Row, with_needs
from ol2r.experiments.kinds.on_dataset import labels_of
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.publication import Publication
from ol2r.experiments.store import Store
from ol2r.learners import LEARNERS
from ol2r.papers.olranknet.grid import SETTINGS as OF_NETWORKS
from ol2r.papers.olranknet.grid import tuned
from ol2r.parameters import Value

MEASURED = Path(__file__).parents[1] / "src" / "ol2r" / "learners" / "measured.toml"
LOOP = 1.2e-5
"""Seconds that a round of a batch takes besides ranking and learning, which a timing does not count: drawing queries,
clicks. As the memory timings have it: the seconds of their shards over those that they count."""

LEAST = 0.05
"""The least that is fitted: of a term's seconds by operations alone, or in microseconds of a round."""


class Timed(NamedTuple):
    """Runs of a learner side by side that were timed on a machine that did nothing else.

    Args:
        what: the setting in words.
        shape: of the data, with the labels that the users give.
        cores: of the machine.
        seconds: by the clock.
    """

    what: str
    learner: str
    hyperparameters: Mapping[str, Value]
    shape: Shape
    replicas: int
    rounds: int
    cores: int
    seconds: float

    @property
    def used(self) -> int:
        """The cores that can work: a loop has no more threads than replicas."""
        return min(self.cores, self.replicas)

    @property
    def expected(self) -> float:
        """The seconds by the cost model: what a batch takes once runs on one core, and its replicas on all."""
        cost = LEARNERS[self.learner].cost(self.hyperparameters, self.shape, self.rounds).of(self.replicas)
        return cost.once + cost.seconds / self.used


def timed(published: Publication) -> Iterator[Timed]:
    """All runs that were timed: published timings, and the speeds that benchmarks stored."""
    for cell in declared().values():
        if isinstance(cell, Timing):
            for block in published.blocks(cell.key):
                frame, record = block.read()
                if record["device"] == "cpu":
                    yield _of_cell(cell, frame.iloc[-1], record["cores"])
    yield from _of_benchmarks()


def _of_cell(cell: Timing, last: pd.Series, cores: int) -> Timed:
    rounds = int(last["round"])
    seconds = last["rank_seconds"] + last["update_seconds"] + LOOP * rounds
    shape = cell.size.shape._replace(labels=labels_of(cell.users.click[0]))
    what = f"{cell.describe()}, {rounds} rounds"
    return Timed(what, cell.learner, dict(cell.hyperparameters), shape, cell.replicas, rounds, cores, float(seconds))


def _of_benchmarks() -> Iterator[Timed]:
    scaling, speed = (json.loads(Path(__file__).with_name(f"{name}.json").read_text()) for name in ("scaling", "speed"))
    large = Shape(scaling["dataset"]["features"], scaling["dataset"]["documents"])
    for learner, measured in scaling["learners"].items():
        for cores, by_replicas in measured["rounds_per_s"].items():
            for replicas, rate in by_replicas.items():
                n, rounds = int(replicas), measured["rounds"]
                what = f"{learner}, {n} replicas on {cores} cores"
                yield Timed(what, learner, SETTINGS[learner], large, n, rounds, int(cores), n * rounds / rate)
    for family, replicas, rounds in (("mgd", 64, 500), ("egreedy", 64, 500), ("sgdranknet", 64, 500), ("mgd", 1, 500)):
        changed = {"m": 9} if (family, replicas) == ("mgd", 1) else {}
        figure = speed[f"{family}.rounds_per_s" + ("_1" if replicas == 1 else "")]
        setting, seconds = SETTINGS[LEARNER[family]] | changed, replicas * rounds / figure["ours"]
        what = f"{family}, {replicas} replicas", LEARNER[family], setting
        yield Timed(*what, large, replicas, rounds, figure["cores"], seconds)
    for family, replicas, rankers in (("pairrank", 16, {}), ("p2linrank", 8, {}), ("p2linrank", 8, {"rankers": 5})):
        figure = speed[f"{family}.rounds_per_s" + ("_of_5" if rankers else "")]
        setting, rounds = SETTINGS[LEARNER[family]] | rankers, 5000
        what = f"{family}, a whole run {rankers or ''}", LEARNER[family], setting
        yield Timed(*what, large, replicas, rounds, figure["cores"], replicas * rounds / figure["ours"])
    for family, (variant, dataset) in networks.MEASURED.items():
        learner, setting = OF_NETWORKS[variant]
        setting = setting | tuned(dataset, variant)
        features, documents = data.entry(dataset).list_shape
        figure = speed[f"{family}.rounds_per_s"]
        rates = {name: each["rounds_per_s"] for name, each in figure.get("refits", {"adam": {}}).items() if each}
        for refit, rate in (rates or {"adam": figure["ours"]}).items():
            own = setting | (networks.LBFGS if refit == "lbfgs" else {})
            what = f"{family}, {refit}", learner, own
            seconds = networks.ROUNDS * figure["cores"] / rate  # each core has a run of its own
            yield Timed(*what, Shape(features, float(documents)), 1, networks.ROUNDS, 1, seconds)


def fitted(runs: list[Timed]) -> dict[str, float]:
    """What makes the expected seconds of one learner's runs nearest to those that they took, in relative terms.

    Returns:
        As `Learner.measured`, no entry below `LEAST`.
    """
    terms = [LEARNERS[run.learner].round_terms(run.hyperparameters, run.shape, run.rounds) for run in runs]
    names = [name for name in terms[0] if any(each[name] for each in terms)]
    rounds = np.array([run.rounds / run.seconds for run in runs])
    each = np.array([run.replicas / run.used for run in runs]) * rounds
    columns = [rounds * 1e-6, each * 1e-6, *(each * np.array([term[name] for term in terms]) for name in names)]
    # what few runs cannot tell is little, but not nothing: longer lists, for instance, take longer
    found = lsq_linear(np.stack(columns, axis=1), np.ones(len(runs)), (LEAST, np.inf)).x
    scale = {"batch": 1e-6, "replica": 1e-6}
    return {name: float(x) * scale.get(name, 1.0) for name, x in zip(["batch", "replica", *names], found, strict=True)}


def keep(runs: list[Timed]) -> None:
    """Fit every learner that was timed, and keep it in `MEASURED`."""
    lines = [
        "# What runs of learners took on the CPU, as `Learner.measured` has it, fitted to all runs that were timed on",
        "# machines that did nothing else: python benchmarks/costs.py --store",
    ]
    for learner in sorted({run.learner for run in runs}):
        own = fitted([run for run in runs if run.learner == learner])
        lines += ["", f'["{learner}"]', *(f"{name} = {value:.3g}" for name, value in own.items())]
    MEASURED.write_text("\n".join(lines) + "\n")


def declared() -> dict[str, Cell]:
    """Every cell of every paper by its key."""
    items = [item for name in papers.NAMES for item in papers.paper(name).items.values()]
    return {job.cell.key: job.cell for item in items for tier in TIERS for job in with_needs(item.jobs(tier))}


def shards(published: Publication) -> pd.DataFrame:
    """A line for every shard of which a block is published: what it was, and its actual and expected seconds."""
    cells, of_shard = declared(), {}
    for record in published.records():
        if record["key"] in cells:  # not of a grid that has gone
            named = (record["commit"], record["cell"]["type"], record["shard_seconds"], record["shard_rows"])
            of_shard.setdefault((*named, record["time"][:13]), []).append(record)
    return pd.DataFrame([_line(parts, cells) for parts in of_shard.values()])


def _line(parts: list[dict], cells: dict[str, Cell]) -> dict[str, object]:
    first, cell = parts[0], cells[parts[0]["key"]]
    cost = together(cells[part["key"]].cost([Row(*row) for row in part["rows"]], first["device"]) for part in parts)
    # rows of a shard that were computed again since are in other blocks: the whole shard's cost follows from the rest
    share = sum(len(part["rows"]) for part in parts) / first["shard_rows"]
    alone = first["cores"] if first["device"] == "cpu" and not cell.verifiable else 1
    actual = first["shard_seconds"] * alone
    if first["device"] == "cpu":
        actual = first.get("shard_core_seconds") or actual
    labels = cell.labels()
    return {
        "kind": cell.kind,
        "learner": labels.get("learner") or labels.get("audit") or labels.get("users") or "",
        "dataset": labels.get("dataset", ""),
        "device": first["device"],
        "time": first["time"],
        "actual": actual,
        "expected": cost.once + cost.seconds / share,
    }


def report(lines: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """By kind, learner and what else is named: shards, hours, the ratio in the middle and at both ends, and of all."""
    lines = lines.assign(ratio=lines["actual"] / lines["expected"])
    grouped = lines.groupby(["device", "kind", "learner", *by])
    told = grouped.agg(
        shards=("ratio", "size"),
        low=("ratio", lambda ratio: ratio.quantile(0.1)),
        median=("ratio", "median"),
        high=("ratio", lambda ratio: ratio.quantile(0.9)),
        hours=("actual", lambda seconds: seconds.sum() / 3600),
    )
    sums = grouped[["actual", "expected"]].sum()
    return told.assign(of_all=sums["actual"] / sums["expected"]).round(2)


def main() -> None:
    """Read the published results, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", default="", help="leave out what was computed before, such as 2026-11-22T04")
    parser.add_argument("--by", action="append", default=[], choices=["dataset"], help="a further column to group by")
    parser.add_argument("--store", action="store_true", help="fit the model to timed runs, and keep it")
    arguments = parser.parse_args()
    published = Store.open().publication
    if published is None:
        sys.exit("no results/ folder found: run inside the repository or set OL2R_RESULTS")
    if arguments.store:
        keep(list(timed(published)))
        return
    lines = shards(published)
    print(report(lines[lines["time"] >= arguments.since], arguments.by).to_string())


if __name__ == "__main__":
    main()
