"""What a first use costs: seconds of CPU with empty caches, and in the next process, beside a commit before.

    python benchmarks/first_use.py [--before COMMIT] [--repeats 2] [--store]

A process with empty caches loads MQ2008 and compares with PDGD and PairRank for 200 rounds; a second process does the
same with what the first one kept. `--before` measures the same of another commit of this clone, in turns with this one,
so that both meet the same machine; the least of the repeats counts. MQ2008 must be at hand.

`more` has what each other learner adds to a process that loads the data: seconds of CPU with the caches that PDGD
and PairRank left, and again with its own.

`--store` keeps the figures in benchmarks/first_use.json for the page "Use it as a library".
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from families import LEARNER
from larger import store

from ol2r.learners import LEARNERS as KNOWN

STORED = Path(__file__).with_name("first_use.json")
ROOT = Path(__file__).parents[1]
LEARNERS = ("PDGD", "PairRank")
OTHERS = [learner for learner in LEARNER.values() if learner in KNOWN and learner not in LEARNERS]
ROUNDS = 200
USE = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import ol2r
data = ol2r.load("MQ2008")
for learner in sys.argv[3:]:
    ol2r.compare(data, learner, rounds=int(sys.argv[2]), seeds=1, progress=False)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_utime + each.ru_stime for each in used))
"""


def seconds(source: Path, cache: Path, learners: tuple[str, ...] = LEARNERS) -> float:
    """Seconds of CPU that one process takes, with its caches in a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    environment = kept | {"XDG_CACHE_HOME": str(cache), "OL2R_CACHE": str(cache / "data")}
    command = [sys.executable, "-c", USE, str(source), str(ROUNDS), *learners]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure(source: Path) -> dict[str, float]:
    """The two figures of the library in a folder."""
    with tempfile.TemporaryDirectory() as cache:
        first, following = (seconds(source, Path(cache)) for _ in range(2))
    return {"first_use.seconds_cpu": round(first, 1), "first_use.next_process_s": round(following, 2)}


def more(source: Path) -> dict[str, list[float]]:
    """By learner, what its first use and its next one add to a process that loads the data."""
    added = {}
    with tempfile.TemporaryDirectory() as folder:
        seconds(source, Path(folder) / "both")
        loads = seconds(source, Path(folder) / "both", ())
        for learner in OTHERS:
            cache = shutil.copytree(Path(folder) / "both", Path(folder) / learner)
            added[learner] = [round(seconds(source, cache, (learner,)) - loads, 1) for _ in range(2)]
    return added


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="a commit to measure in turns with this one")
    parser.add_argument("--repeats", type=int, default=2, help="how often each is measured")
    parser.add_argument("--store", action="store_true", help="keep the figures in benchmarks/first_use.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = {"": ROOT / "src"}
        if arguments.before:
            command = ["git", "archive", arguments.before, "src"]
            archive = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
            subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
            sources["before."] = Path(folder) / "src"
        runs = [{n: measure(source) for n, source in sources.items()} for _ in range(arguments.repeats)]
    found: dict = {
        prefix + figure: min(run[prefix][figure] for run in runs) for prefix in sources for figure in runs[0][prefix]
    }
    if arguments.before:
        found["before"] = arguments.before
    found["more"] = more(ROOT / "src")
    print(json.dumps(found, indent=1))
    if arguments.store:
        store(found, STORED)


if __name__ == "__main__":
    main()
