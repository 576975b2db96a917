"""What the stored results were expected to take, against what they took.

    python benchmarks/costs.py [--since COMMIT_TIME] [--by dataset]

A shard's record has the wall time of its rows side by side. Newer ones have the seconds of cores that its process had
as well, which do not count what others took of the machine. Older ones ran in a worker with one thread, whose wall time
is at least its seconds of one core; a timing, which runs alone on all cores, is counted with each of them. The ratio is
actual by expected (`Cell.cost`, compiling apart): its median, and the tenth and ninetieth percentile over shards.
Shards of a machine that did other work beside are above 1, those that compiled first as well. Nothing is asserted.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from ol2r import papers
from ol2r.cost import together
from ol2r.experiments.cells import TIERS, Cell, Row, with_needs
from ol2r.experiments.store import Store, read_file


def declared() -> dict[str, Cell]:
    """Every cell of every paper by its key."""
    items = [item for name in papers.NAMES for item in papers.paper(name).items.values()]
    return {job.cell.key: job.cell for item in items for tier in TIERS for job in with_needs(item.jobs(tier))}


def shards(folder: Path) -> pd.DataFrame:
    """A line for every shard of which a file is stored: what it was, and its actual and expected seconds."""
    cells, records = declared(), [read_file(path)[1] for path in sorted(folder.glob("*/*.parquet"))]
    of_shard: dict[tuple, list[dict]] = {}
    for record in records:
        if record["key"] in cells:  # not of a grid that has gone
            named = (record["commit"], record["cell"]["type"], record["shard_seconds"], record["shard_rows"])
            of_shard.setdefault((*named, record["time"][:13]), []).append(record)
    return pd.DataFrame([_line(parts, cells) for parts in of_shard.values()])


def _line(parts: list[dict], cells: dict[str, Cell]) -> dict[str, object]:
    first, cell = parts[0], cells[parts[0]["key"]]
    cost = together(cells[part["key"]].cost([Row(*row) for row in part["rows"]], first["device"]) for part in parts)
    # rows of a shard that were computed again since are in other files: the rest stands for them
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
    arguments = parser.parse_args()
    folder = Store.open().published
    if folder is None:
        sys.exit("no results/ folder found: run inside the repository or set OL2R_RESULTS")
    lines = shards(folder)
    print(report(lines[lines["time"] >= arguments.since], arguments.by).to_string())


if __name__ == "__main__":
    main()
