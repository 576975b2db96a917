"""Runs the faults and counts what became of them.

    python tests/faults/run.py [--share 0.1] [--only NAME …] [--store] [--keep]

prints a line for each kind of fault, and ends with 1 if anything was lost, silently wrong or not told in one line.
`--share` injects only this share of the faults; `--store` keeps the counts in tests/faults/record.json for the page
"What happens when things go wrong"; `--keep` adds inputs that led to something new to tests/faults/corpus.
`--planted KIND=NAME` breaks the library first, as planted.py says, to see that the suite finds it.
"""

import argparse
import functools
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ON_PATH = (HERE.parent, HERE.parent / "experiments", HERE.parents[1] / "book" / "_ext")
sys.path[:0] = [str(each) for each in ON_PATH if str(each) not in sys.path]

from faults.tally import BAD, OUTCOMES, Tally  # noqa: E402

STORED = HERE / "record.json"
SEED = 16
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # inputs and tables are small


class Fault(NamedTuple):
    """A kind of fault.

    Args:
        module: its module here; function: of that module, called with a number of faults and a seed.
        n: how many faults a whole run injects.
        least: how many a run of any share injects at least.
    """

    module: str
    function: str
    n: int
    least: int = 1


FAULTS: dict[str, Fault] = {
    "kills": Fault("kills", "kills", 100, 4),
    "signals": Fault("signals", "signals", 5),
    "results": Fault("flips", "results", 6_000),
    "states": Fault("flips", "states", 2_000),
    "cache": Fault("flips", "of_cache", 1_000, 6),
    "compressed": Fault("flips", "compressed", 1_000),
    "disks": Fault("disks", "disks", 150, 6),
    "full": Fault("full", "full", 100, 6),
    "shared-memory": Fault("full", "shared_memory", 6),
    "races": Fault("races", "races", 100, 3),
    "crowds": Fault("crowds", "crowds", 40, 2),
    "publishers": Fault("publishers", "kills", 100, 4),
    "publishers-on-bad-disks": Fault("publishers", "disks", 150, 6),
    "publishers-on-full-disks": Fault("publishers", "full", 50, 4),
    "published": Fault("publishers", "flips", 2_000),
    "builders": Fault("builders", "builders", 100, 4),
    "commands": Fault("names", "commands", 300, 14),
    "tables": Fault("names", "in_tables", 2_000),
    "pages": Fault("pages", "pages", 1_200, 60),
    "chapters": Fault("pages", "chapters", 4),
    **{
        name: Fault("readers", f"mutations:{name}", 100_000)
        for name in (
            "letor", "letor-of-known-width", "session-log", "session-log-of-four-positions", "fitted-models",
        )
    },
    "table-of-clicks": Fault("readers", "mutations:table-of-clicks", 100_000),
}  # fmt: skip


def module_of(name: str) -> ModuleType:
    """The module of a kind of fault."""
    return importlib.import_module(f"faults.{FAULTS[name].module}")


def run_here(name: str, n: int, seed: int, keep: bool = False) -> list[Tally]:
    """Inject n faults of a kind in this process."""
    function, _, of = FAULTS[name].function.partition(":")
    call: Callable = getattr(module_of(name), function)
    if of:
        return [functools.partial(call, of, keep=keep)(n, seed)]
    return call(n, seed)


def run_apart(
    numbers: Mapping[str, int], seed: int, *, planted: Sequence[str] = (), keep: bool = False
) -> dict[str, dict[str, dict]]:
    """Inject faults of some kinds in a process of its own, which has done nothing before.

    Args:
        numbers: by kind, how many.
        planted: what to break before, each as KIND=NAME of `planted.PLANTED`.
        keep: whether to keep new inputs.

    Returns:
        By kind and fault, the counts, and `examples` of bad outcomes.
    """
    command = [sys.executable, str(HERE / "run.py"), "--seed", str(seed)]
    command += ["--here", *(f"{name}={n}" for name, n in numbers.items())]
    command += ["--planted", *planted] if planted else []
    command += ["--keep"] if keep else []
    env = os.environ | ONE_THREAD
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def plant(planted: Sequence[str]) -> None:
    """Break the library in this process."""
    from faults.planted import PLANTED

    for each in planted:
        kind, _, name = each.partition("=")
        PLANTED[kind][name](setattr)


def told(tally: Tally) -> dict[str, object]:
    """What one process tells another of a tally."""
    return tally.as_json() | {"examples": tally.examples}


def number_of(fault: Fault, share: float) -> int:
    """How many faults a run of this share injects."""
    return max(fault.least, round(share * fault.n))


def about() -> dict[str, object]:
    """When and with which code and versions faults are injected; nothing that names a place or a machine."""
    from ol2r.experiments.provenance import origin, versions

    today = datetime.now(UTC).strftime("%Y-%m-%d")
    return {"date": today, "commit": origin().commit, "dirty": origin().dirty, "versions": versions()}


def store(found: dict[str, dict], share: float) -> None:
    """Keep counts in `STORED`, in the place of earlier ones of the same faults."""
    kept = json.loads(STORED.read_text()) if STORED.is_file() else {}
    made = about()
    for name, counts in found.items():
        kept[name] = {key: value for key, value in counts.items() if key != "examples"} | made | {"share": share}
    STORED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def main() -> int:
    """Inject, print, and tell by the exit code whether anything is bad."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="share of the faults to inject (all)")
    parser.add_argument("--only", nargs="+", choices=FAULTS, default=list(FAULTS), help="kinds of faults (all)")
    parser.add_argument("--seed", type=int, default=SEED, help="which faults there are")
    parser.add_argument("--store", action="store_true", help="keep the counts in tests/faults/record.json")
    parser.add_argument("--keep", action="store_true", help="keep inputs that led to something new")
    parser.add_argument("--planted", nargs="+", default=[], metavar="KIND=NAME", help="break the library first")
    parser.add_argument("--here", nargs="+", metavar="KIND=N", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        numbers = {name: int(n) for name, _, n in (each.partition("=") for each in arguments.here)}
        for name in numbers:
            module_of(name)  # before anything is broken, so that what it expects is not
        plant(arguments.planted)
        found = {name: run_here(name, n, arguments.seed, arguments.keep) for name, n in numbers.items()}
        print(json.dumps({name: {each.fault: told(each) for each in tallies} for name, tallies in found.items()}))
        return 0
    n_bad = 0
    for name in arguments.only:
        start = time.perf_counter()
        n = number_of(FAULTS[name], arguments.share)
        found = run_apart({name: n}, arguments.seed, planted=arguments.planted, keep=arguments.keep)[name]
        for fault, counts in found.items():
            ended = ", ".join(f"{counts[each]} {each}" for each in OUTCOMES if counts[each] or each in BAD)
            line = f"{fault}: {counts['injected']} injected: {ended}"
            print(line, *counts["examples"], sep="\n    ", flush=True)
            n_bad += sum(counts[each] for each in BAD)
        print(f"    {time.perf_counter() - start:.0f} s", flush=True)
        if arguments.store:
            store(found, arguments.share)
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
