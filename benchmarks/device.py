"""What rounds ask of a GPU. Without one, launches, reads and bytes are counted on a pretended device. On CUDA, rounds
per second are measured, as they are asked for and replayed from a CUDA graph, and stored runs of the CPU are repeated.

`store` keeps all of it in benchmarks/device.json, from which the book's page "On a GPU" is drawn.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from families import DATASET, LEARNER, SETTINGS, evaluation
from pretend import DEVICE, rounds_counted

from ol2r import data
from ol2r.clicks import users
from ol2r.experiments.cells import Job, Row
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.runner import in_memory, read_inputs
from ol2r.experiments.store import Store
from ol2r.experiments.verify import FEWEST, TOLERANCE, compare_means
from ol2r.learners import LEARNERS, Learner
from ol2r.papers import NAMES, paper
from ol2r.random import MOST_ROUNDS
from ol2r.simulation import Replica, make_streams, simulate

STORED = Path(__file__).with_name("device.json")
COUNTED = 8
"""Replicas of the counts; the number of launches hardly depends on it, and bytes are given for each replica."""
BEFORE, MEASURED = 20, (200, 20)
"""Rounds before the measured ones, and how many are measured: the first number that is expected to take no longer than
`LONGEST`, else the last."""
LONGEST = 4.0
"""In seconds."""
REPEATED_ON = {"dataset": "MQ2008", "users": "informational", "features": "all"}
"""Which stored runs are repeated on a device."""
SETTLED = 160
"""A round from which on a refit's history is long, so that its number of steps stays the same."""


def _asked(dataset: str, learner: str, rounds: int):
    """Counts before each round of a learner as the chapters set it."""
    loaded = data.load(dataset)
    replicas = [Replica(1, seed, users("informational", loaded.n_grades)) for seed in range(COUNTED)]

    def make() -> Learner:
        streams = make_streams(loaded, replicas, str(DEVICE))
        return LEARNERS[learner](loaded.n_features, SETTINGS[learner], streams)

    return rounds_counted(loaded, replicas, make, evaluation(rounds))[0]


def counts(family: str) -> dict[str, float]:
    """Launches and host reads a round in the mean of as many rounds as random numbers are drawn for at once, on short
    lists; and bytes moved for each replica in an early round on DATASET."""
    learner = LEARNER[family]
    found = _asked("synthetic-tiny", learner, SETTLED + MOST_ROUNDS + 2)
    first, last = found[SETTLED], found[SETTLED + MOST_ROUNDS]
    wide = _asked(DATASET, learner, 8)
    return {
        f"launches.{family}": (last.launches - first.launches) / MOST_ROUNDS,
        f"reads.{family}": (last.reads - first.reads) / MOST_ROUNDS,
        f"bytes.{family}": (wide[7].bytes - wide[4].bytes) / 3 / COUNTED,
    }


def speeds(family: str, device: str = "cuda", replicas: tuple[int, ...] = (64, 512, 4096)) -> dict[str, float]:
    """Replicas × rounds per second on a device, run as asked for (`eager`) and replayed (`graph`), by replicas.

    Measured are the rounds after the first `BEFORE`; a number of replicas whose rounds would take too long, or that the
    memory does not hold, is left out, and so are all above it.
    """
    learner, loaded = LEARNER[family], data.load(DATASET)
    found: dict[str, float] = {}
    for how, graph in (("eager", False), ("graph", True)):
        fewer, before = 0, 0.0  # of the replicas measured last: their number, and seconds of the first rounds
        for n in replicas:
            if before * n > LONGEST * max(1, fewer):
                break
            runs = [Replica(1, seed, users("perfect", loaded.n_grades)) for seed in range(n)]

            def seconds(rounds: int, graph: bool = graph, runs=runs) -> float:
                batch = LEARNERS[learner](loaded.n_features, SETTINGS[learner], make_streams(loaded, runs, device))
                start = time.perf_counter()
                simulate(loaded, runs, batch, evaluation(rounds), graph=graph)
                return time.perf_counter() - start

            try:
                seconds(8)
                fewer, before = n, seconds(BEFORE)
                each = (before - seconds(8)) / (BEFORE - 8)
                rounds = next((rounds for rounds in MEASURED if each * rounds < LONGEST), MEASURED[-1])
                spent = min(seconds(BEFORE + rounds) for _ in range(2)) - min(before, seconds(BEFORE))
            except torch.OutOfMemoryError:
                break
            finally:
                torch.cuda.empty_cache()
            if spent > 0:
                found[f"{device}.{family}.{how}.rounds_per_s_{n}"] = n * rounds / spent
                found[f"{device}.{family}.{how}.rounds_{n}"] = rounds
    return found


def ceilings(device: str = "cuda") -> dict[str, float]:
    """What the predictions of `ol2r.cost` suppose, as measured: seconds from one small operation to the next, asked for
    from Python and replayed, and bytes a second of a copy, read and written."""
    small, large = torch.ones(1024, device=device), torch.ones(1 << 30, dtype=torch.uint8, device=device)
    graph, copy, launches = torch.cuda.CUDAGraph(), torch.empty_like(large), 1000

    def body() -> None:
        for _ in range(launches):
            small.mul_(1.0)

    body()
    with torch.cuda.graph(graph):
        body()

    def seconds(act: Callable[[], object]) -> float:
        spent = []
        for _ in range(10):
            torch.cuda.synchronize()
            start = time.perf_counter()
            act()
            torch.cuda.synchronize()
            spent.append(time.perf_counter() - start)
        return statistics.median(spent)

    return {
        f"{device}.launch_us": seconds(body) / launches * 1e6,
        f"{device}.replay_us": seconds(graph.replay) / launches * 1e6,
        f"{device}.bytes_per_s": 2 * large.numel() / seconds(lambda: copy.copy_(large)),
    }


def repeated(device: str = "cuda") -> list[dict[str, object]]:
    """Stored runs of the CPU repeated on a device: offline NDCG after the last round in the mean over rows, how far the
    means are apart, and how long rows went the same way."""
    store, found = Store.open(), []
    for cell, rows in stored_runs(store).items():
        job = Job(cell, rows)
        stored = store.read(cell, rows).frame
        start = time.perf_counter()
        (fresh,), _ = in_memory([job], read_inputs([job], store), device=device, progress=False)
        spent = time.perf_counter() - start
        passed, detail = compare_means(stored, fresh)
        here, there = ends(stored), ends(fresh)
        found.append(
            {
                **{name: cell.labels().get(name) for name in ("learner", "covariance", *REPEATED_ON)},
                "cell": cell.key,
                "rounds": int(stored["round"].max()),
                "rows": len(rows),
                "cpu": round(float(here.mean()), 5),
                "device": round(float(there.mean()), 5),
                "errors_apart": round(float(abs(here.mean() - there.mean()) / np.hypot(here.sem(), there.sem())), 2),
                "same_rows": int(((here - there).abs() <= TOLERANCE).sum()),
                "same_until": same_until(stored, fresh),
                "agree": passed,
                "detail": detail,
                "seconds": round(spent, 1),
            }
        )
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


def stored_runs(store: Store) -> dict[Simulate, tuple[Row, ...]]:
    """The stored cells that are repeated on a device, with their rows: of each learner, and of each form of its
    covariance, the cell of `REPEATED_ON` with the most rows, of several such ones the shortest."""
    best: dict[object, tuple[tuple[int, int], Simulate]] = {}
    for name in NAMES:
        for item in paper(name).items.values():
            for cell in item.cells("paper"):
                if not isinstance(cell, Simulate) or cell.evaluation.split != "test":
                    continue
                labels = cell.labels()
                if REPEATED_ON.items() - labels.items():
                    continue
                rank = (len(store.listed(cell)), -cell.evaluation.checkpoints[-1])
                of = labels["learner"], labels.get("covariance")
                if rank[0] >= FEWEST and (of not in best or rank > best[of][0]):
                    best[of] = rank, cell
    return {cell: tuple(sorted(store.listed(cell))) for _, cell in best.values()}


def ends(frame: pd.DataFrame) -> pd.Series:
    """Offline NDCG after the last round, by row."""
    return frame[frame["round"] == frame["round"].max()].set_index(["fold", "seed"])["ndcg"].sort_index()


def same_until(stored: pd.DataFrame, fresh: pd.DataFrame) -> int:
    """The last checkpoint up to which every row has the same offline NDCG, to `TOLERANCE`; -1 where none is."""
    gaps = stored.set_index(["fold", "seed", "round"])["ndcg"] - fresh.set_index(["fold", "seed", "round"])["ndcg"]
    largest = gaps.abs().groupby("round").max().sort_index()
    same = (largest <= TOLERANCE).cumprod()
    return int(same.index[same == 1].max()) if same.any() else -1


def families(device: str) -> dict[str, Callable[[bool], dict[str, float]]]:
    """The families of figures of a device: counts without one, or speeds on it."""
    if device == "cpu":
        return {family: lambda quick, family=family: counts(family) for family in LEARNER}
    return {"": lambda quick: ceilings(device)} | {
        family: lambda quick, family=family: speeds(family, device) for family in LEARNER
    }


def commit() -> str:
    """The commit of the code that is measured."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=STORED.parent, check=True)
    return asked.stdout.strip()


def store(found: dict[str, float], device: str, repeated: list[dict[str, object]] | None = None) -> None:
    """Keep figures in `STORED`: counts by their names, speeds and repeated runs under the name of the device that gave
    them."""
    kept = json.loads(STORED.read_text()) if STORED.is_file() else {}
    about = {"commit": commit(), "torch": torch.__version__, "numpy": np.__version__}
    name = "counted" if device == "cpu" else torch.cuda.get_device_name()
    about |= {"learners": LEARNER, "settings": SETTINGS}
    kept[name] = kept.get(name, {}) | about | {key: round(value, 2) for key, value in found.items()}
    if repeated is not None:
        kept[name]["repeated"] = repeated
    STORED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
