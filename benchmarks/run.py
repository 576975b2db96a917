"""Speed of what the chapters call, against the field's public code and the project's own targets.

    python benchmarks/run.py --quick --json [--only PREFIX]

prints one flat JSON object. Every figure comes from `simulate()` as chapters call it, with sampling, clicks, update and
streams all on. A rate tells as little as possible of what else the machine does: the same run is repeated for some
seconds, and each hundredth of its rounds counts with its smallest time; the start and the last evaluation do not count.
`*.compile_s` is the warm-up, `*.vs_public` the ratio to public code, `*.vs_target` the ratio to the project's target.
Nothing is asserted: times depend on the machine.
`launches.*` and `reads.*` are operations and host reads that a round asks of a GPU, counted without one, and `*.bytes`
is the memory that a run keeps; these targets are limits.

    python benchmarks/run.py --quick --store

keeps what has a peer in benchmarks/speed.json for the page "Machines and timings", with the processor and its load.

    python benchmarks/run.py --device cuda --store

measures rounds per second on a GPU, repeats stored runs of the CPU there (`--only repeated` does this alone), and keeps
both in benchmarks/device.json for the page "On a GPU".
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import bandits
import device
import networks
import numpy as np
from data import measure as measure_data
from families import DATASET, LEARNER, SETTINGS, evaluation

from ol2r import data
from ol2r.clicks import users
from ol2r.cores import count
from ol2r.experiments.provenance import cpu
from ol2r.learners import LEARNERS
from ol2r.simulation import Replica, make_streams, simulate

STORED = Path(__file__).with_name("speed.json")
REPLICAS = 64

# rounds per second of public code (one process of a two-core machine, perfect users, evaluation excluded, MSLR shape):
# NSGD with a numpy null space, MGD with 9 candidates (ours has the paper's 4 where 64 replicas are measured, and 9 as
# well where one is, `*.rounds_per_s_1`); evaluation of 2000 queries in 40 ms; LETOR text by scikit-learn
PUBLIC = {
    "dbgd.rounds_per_s": 5200.0,
    "mgd.rounds_per_s": 3850.0,
    "nsgd.rounds_per_s": 189.0,
    "pdgd.rounds_per_s": 1750.0,
    "pairrank.rounds_per_s": 9.0,  # 37 with its bound vectorised
    "dbgd.rounds_per_s_1": 5200.0,
    "mgd.rounds_per_s_1": 3850.0,
    "pdgd.rounds_per_s_1": 1750.0,
    "evaluate.queries_per_s": 2000 / 0.040,
    "letor.mb_per_s": 200 / 17.9,
    **bandits.PUBLIC,
    **networks.PUBLIC,
}
TARGET = {
    "dbgd.rounds_per_s": 80_000.0,
    "mgd.rounds_per_s": 30_000.0,
    "nsgd.rounds_per_s": 5_000.0,
    "pdgd.rounds_per_s": 80_000.0,
    "pairrank.rounds_per_s": 1_000.0,
    "p2linrank.rounds_per_s": 1_000.0,
    "p2linrank.rounds_per_s_of_5": 400.0,
    "p2neurrank.share_of_olranknet": 0.5,
    "p2neurrank.share_of_olranknet_of_10": 0.1,
    "egreedy.rounds_per_s": 80_000.0,
    "sgdranknet.rounds_per_s": 80_000.0,
    "dbgd.rounds_per_s_1": 2 * 5200.0,
    "mgd.rounds_per_s_1": 2 * 3850.0,
    "pdgd.rounds_per_s_1": 2 * 1750.0,
    "evaluate.queries_per_s": 10 * 2000 / 0.040,
    "letor.mb_per_s": 200 / 2.0,
    **{f"launches.{family}": float(LEARNERS[name].launches) for family, name in LEARNER.items()},
    **bandits.TARGET,
    **networks.TARGET,
}
ROUNDS = {
    "dbgd": 500,
    "mgd": 500,
    "nsgd": 150,
    "cps": 60,
    "dp-dbgd": 500,
    "pdgd": 500,
    "egreedy": 500,
    "sgdranknet": 500,
}
"""How many rounds measure each family of figures."""
ALONE: dict[str, dict[str, float | str]] = {"dbgd": {}, "mgd": {"m": 9}, "pdgd": {}}
"""Families measured with one replica as well, as public code runs them, with these hyper-parameters changed."""


def seconds(
    learner: str,
    n_replicas: int,
    checkpoints: tuple[int, ...],
    progress: Callable[[float], None] = lambda fraction: None,
    **changed: float | str,
) -> float:
    """Seconds of one call of `simulate()`, with some hyper-parameters changed."""
    dataset = data.load(DATASET)
    replicas = [Replica(1, seed, users("perfect", dataset.n_grades)) for seed in range(n_replicas)]
    batch = LEARNERS[learner](dataset.n_features, SETTINGS[learner] | changed, make_streams(dataset, replicas))
    start = time.perf_counter()
    simulate(dataset, replicas, batch, evaluation(*checkpoints), progress=progress)
    return time.perf_counter() - start


def round_seconds(
    learner: str, n_replicas: int, checkpoints: tuple[int, ...], budget: float, **changed: float | str
) -> float:
    """Seconds of a round in the mean over a run, with the evaluations at its checkpoints but without the last.

    The run is repeated, at least three times, until the budget is spent. Each block of rounds, a hundredth of the run
    or a single round, counts with its smallest time, so that what else the machine does hardly counts.

    Args:
        budget: in seconds.
    """
    runs: list[np.ndarray] = []  # of each run, the time of each block, divided by the rounds in all blocks
    end = time.perf_counter() + budget
    while len(runs) < 3 or time.perf_counter() < end:
        ends: list[tuple[float, float]] = []  # of each block: the fraction of the rounds done by then, and the time

        def ended(fraction: float, ends=ends) -> None:
            ends.append((fraction, time.perf_counter()))

        seconds(learner, n_replicas, checkpoints, ended, **changed)
        done, at = np.array(ends[:-1]).T  # the last block holds the last evaluation
        runs.append(np.diff(at) / (checkpoints[-1] * (done[-1] - done[0])))
    return float(np.min(runs, axis=0).sum())


def queries_per_s(budget: float) -> float:
    """Held-out queries × replicas evaluated per second: rounds with an evaluation each, against rounds without."""
    rounds = 20
    every = round_seconds("DBGD", REPLICAS, tuple(range(1, rounds + 1)), 0.9 * budget)
    spent = every - round_seconds("DBGD", REPLICAS, (rounds,), 0.1 * budget)
    return REPLICAS * len(data.load(DATASET).folds[0].test) / spent


def learner_family(name: str, budget: float) -> dict[str, float]:
    """Replicas × rounds per second of a family's learner; each figure may take as many seconds as the budget says."""
    start = time.perf_counter()
    seconds(LEARNER[name], REPLICAS, (3,))
    found = {f"{name}.compile_s": time.perf_counter() - start}
    found[f"{name}.rounds_per_s"] = REPLICAS / round_seconds(LEARNER[name], REPLICAS, (ROUNDS[name],), budget)
    if name in ALONE:
        found[f"{name}.rounds_per_s_1"] = 1 / round_seconds(LEARNER[name], 1, (ROUNDS[name],), budget, **ALONE[name])
    return found


def pairrank_family(quick: bool) -> dict[str, float]:
    """PairRank_C with a refit every round, averaged over a whole run of 5000 rounds, its one evaluation included; the
    quick form has 16 replicas, which cost as much each as 32 do. With the mean loss beside: how many times as fast."""
    start = time.perf_counter()
    seconds("PairRank", 2, (3,))
    found = {"pairrank.compile_s": time.perf_counter() - start}
    replicas = 16 if quick else 32
    summed = seconds("PairRank", replicas, (5000,))
    mean = seconds("PairRank", replicas, (5000,), loss="mean", regularization=0.01)
    return found | {"pairrank.rounds_per_s": replicas * 5000 / summed, "pairrank.mean_loss_vs_sum": summed / mean}


def p2linrank_family(quick: bool) -> dict[str, float]:
    """P²LinRank as `pairrank_family` measures PairRank, with two rankers and with five; with PairRank in the same run,
    how many times as fast it is."""
    start = time.perf_counter()
    seconds("P2LinRank", 2, (3,))
    found = {"p2linrank.compile_s": time.perf_counter() - start}
    seconds("PairRank", 2, (3,))
    replicas = 8 if quick else 32
    spent = seconds("P2LinRank", replicas, (5000,))
    found["p2linrank.rounds_per_s"] = replicas * 5000 / spent
    found["p2linrank.rounds_per_s_of_5"] = replicas * 5000 / seconds("P2LinRank", replicas, (5000,), rankers=5)
    return found | {"p2linrank.times_as_fast_as_pairrank": seconds("PairRank", replicas, (5000,)) / spent}


def p2neurrank_family(quick: bool) -> dict[str, float]:
    """P²NeurRank with two rankers and with ten, and its share of the speed of olRankNet with a diagonal covariance in
    the same run; one replica."""
    start = time.perf_counter()
    seconds("P2NeurRank", 1, (3,))
    found = {"p2neurrank.compile_s": time.perf_counter() - start}
    rounds = (200 if quick else 1000,)
    single = round_seconds("olRankNet", 1, rounds, 0.0, covariance="diagonal")
    for rankers, of in ((2, ""), (10, "_of_10")):
        spent = round_seconds("P2NeurRank", 1, rounds, 0.0, rankers=rankers)
        found[f"p2neurrank.rounds_per_s{of}"] = 1 / spent
        found[f"p2neurrank.share_of_olranknet{of}"] = single / spent
    return found


def evaluation_family(budget: float) -> dict[str, float]:
    start = time.perf_counter()
    seconds("DBGD", REPLICAS, (1,))
    return {"evaluate.compile_s": time.perf_counter() - start, "evaluate.queries_per_s": queries_per_s(budget)}


FAMILIES: dict[str, Callable[[bool], dict[str, float]]] = {
    **{name: lambda quick, name=name: learner_family(name, 25.0 if quick else 100.0) for name in ROUNDS},
    "pairrank": pairrank_family,
    "p2linrank": p2linrank_family,
    "p2neurrank": p2neurrank_family,
    "evaluate": lambda quick: evaluation_family(50.0 if quick else 200.0),
    "letor": measure_data,
    **bandits.FAMILIES,
    **networks.FAMILIES,
}


def about() -> dict[str, object]:
    """How something was measured: the processor, its cores, how many programs waited for each, and the code."""
    cores, (*_, load) = count(), os.getloadavg()
    return {"processor": cpu(), "cores": cores, "load": round(load / cores, 1), "commit": device.commit()}


def store(found: dict[str, float]) -> None:
    """Keep the figures that have a peer or a target in `STORED`, each beside these and with how it was measured; what
    another processor had before stays in its `elsewhere`."""
    kept = json.loads(STORED.read_text()) if STORED.is_file() else {}
    how = about()
    for key in found.keys() & (PUBLIC.keys() | TARGET.keys()):
        beside = {name: known[key] for name, known in (("public", PUBLIC), ("target", TARGET)) if key in known}
        if (bound := key.replace(".rounds_per_s", ".bound")) in found and bound != key:
            beside["bound"] = float(f"{found[bound]:.4g}")
        if refits := networks.refits(found, key):
            beside["refits"] = refits
        before = kept.get(key, {})
        elsewhere = before.get("elsewhere", {}) | ({before["processor"]: before["ours"]} if before else {})
        if others := {processor: ours for processor, ours in elsewhere.items() if processor != how["processor"]}:
            beside["elsewhere"] = others
        kept[key] = {"ours": float(f"{found[key]:.4g}")} | beside | how
    STORED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="at most a minute a family after its warm-up")
    parser.add_argument("--json", action="store_true", help="one flat JSON object instead of lines")
    parser.add_argument("--only", default="", metavar="PREFIX", help="only figures whose name begins so")
    parser.add_argument("--device", default="cpu", help="measure the learners' rounds on this device instead: cuda")
    kept = "keep speeds in benchmarks/speed.json, and what concerns GPUs in benchmarks/device.json"
    parser.add_argument("--store", action="store_true", help=kept)
    arguments = parser.parse_args()

    found: dict[str, float] = {}
    there: dict[str, float] = {}
    first = arguments.only.split(".")[0]
    alone = "." in arguments.only and arguments.only in FAMILIES  # a figure with a family of its own
    families = {arguments.only: FAMILIES[arguments.only]} if alone else FAMILIES
    for prefix, measure in (families if arguments.device == "cpu" else {}).items():
        if alone or prefix.startswith(first) or (prefix == "letor" and first.startswith("cache")):
            found |= measure(arguments.quick)
    for family, measure in device.families(arguments.device).items():
        names = [f"{what}.{family}" for what in ("launches", "reads", "bytes", arguments.device)]
        if any(name.startswith(arguments.only) for name in names):
            measured = measure(arguments.quick)
            there |= measured
            if arguments.store:
                device.store(measured, arguments.device)
    if arguments.device != "cpu" and "repeated".startswith(arguments.only):
        repeated = device.repeated(arguments.device)
        if arguments.store:
            device.store({}, arguments.device, repeated)
    if arguments.store and found:
        store(found)
    found |= there
    found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found |= {f"{key}.vs_public": found[key] / peer for key, peer in PUBLIC.items() if key in found}
    found |= {f"{key}.vs_target": found[key] / target for key, target in TARGET.items() if key in found}
    found = {key: value for key, value in found.items() if key.startswith(arguments.only)}
    if arguments.json:
        print(json.dumps({key: round(value, 4) for key, value in found.items()}, indent=1))
    else:
        for key, value in found.items():
            print(f"{key:40} {value:14,.2f}")


if __name__ == "__main__":
    main()
