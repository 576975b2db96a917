"""Single bits flipped in stored results, kept states, the cache of a data set and compressed text.

Each must be noticed, or change nothing.
"""

import dataclasses
import gzip
import lzma
import os
import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from faults import work
from faults.tally import Tally, in_one_line

from ol2r.data import RankingDataset, load
from ol2r.data.cache import cached
from ol2r.data.letor import read_bytes
from ol2r.experiments.cells import Job, Kept
from ol2r.experiments.provenance import circumstances
from ol2r.experiments.store import Store


def flipped(content: bytes, draw: random.Random) -> bytes:
    """The content with one bit flipped."""
    at = draw.randrange(8 * len(content))
    return content[: at // 8] + bytes([content[at // 8] ^ 1 << at % 8]) + content[at // 8 + 1 :]


def results(n: int, seed: int) -> list[Tally]:
    """Flip a bit of a stored result and read it: its rows must count as missing, with a warning."""
    tally, draw = Tally("flips: stored results", seed), random.Random(f"results {seed}")
    cell, rows = work.jobs()[1]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(None, Path(folder))
        path = store.write(cell, rows, work.table(cell, rows), work.record(cell, rows))
        whole, right = path.read_bytes(), store.read(cell, rows).frame
        aside = path.with_name(path.name + ".damaged")
        for _ in range(n):
            path.write_bytes(flipped(whole, draw))
            tally.add(*_read(lambda: store.read(cell, rows).frame, lambda found: found.equals(right)))
            aside.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    return [tally]


def states(n: int, seed: int) -> list[Tally]:
    """Flip a bit of the state of a shard: the shard must begin anew, with a warning."""
    tally, draw = Tally("flips: states of long runs", seed), random.Random(f"states {seed}")
    these = [Job(*work.jobs()[3])]
    needed = circumstances(these[0].cell, "cpu", "numba")
    kept = Kept({"total": np.linspace(0, 1, 10), "step": np.array(2)}, pd.DataFrame({"value": np.linspace(1, 2, 20)}))

    def same(found: tuple[Kept, dict]) -> bool:
        state, recorded = found[0].state, found[0].recorded
        same_names = state.keys() == kept.state.keys() and recorded.equals(kept.recorded)
        return same_names and all(np.array_equal(state[name], kept.state[name]) for name in state)

    with tempfile.TemporaryDirectory() as folder:
        store = Store(None, Path(folder))
        store.keep(these, kept, needed)
        (path,) = Path(folder).glob("*/unfinished-*")
        whole = path.read_bytes()
        assert same(store.kept(these, needed))
        for _ in range(n):
            path.write_bytes(flipped(whole, draw))
            tally.add(*_read(lambda: store.kept(these, needed), same))
            path.with_name(path.name + ".damaged").unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    return [tally]


def _read(read: Callable[[], object], same: Callable[..., bool]) -> tuple[str, str]:
    """The outcome of reading a file with a flipped bit; None means that it does not count."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = read()
        except Exception as error:
            return "unclear", repr(error)
    if found is not None:
        return ("harmless", "") if same(found) else ("wrong", "other values were read")
    return ("detected", "") if told else ("lost", "it counts as missing without a warning")


def of_cache(n: int, seed: int) -> list[Tally]:
    """Flip a bit of the cache of a data set, in its record every second time, and open it: it must be rebuilt."""
    arrays, record = (Tally(f"flips: cache, {part}", seed) for part in ("arrays", "record"))
    draw, tiny = random.Random(f"cache {seed}"), load("synthetic-tiny")
    before = os.environ.get("OL2R_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OL2R_CACHE"] = folder
        try:
            source = Path(folder, "source.txt")
            source.write_text("the text")
            right = dataclasses.replace(tiny, folds=tiny.folds[:1])
            built = []

            def opened() -> RankingDataset:
                return cached("toy", "1", {"source.txt": source}, lambda: built.append(1) or right)

            opened()
            whole = {path: path.read_bytes() for path in Path(folder, "toy").iterdir()}
            listed = Path(folder, "toy", "record.json")
            for number in range(n):
                path = listed if number % 2 else draw.choice(sorted(set(whole) - {listed}))
                for each, content in whole.items():
                    each.write_bytes(content)
                path.write_bytes(flipped(whole[path], draw))
                built.clear()
                what = path.name
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    try:
                        outcome = "harmless" if same_dataset(opened(), right) else "wrong"
                    except Exception as error:
                        outcome, what = "detected" if in_one_line(error) else "unclear", f"{path.name}: {error!r}"
                outcome = "detected" if outcome == "harmless" and (told or built) else outcome
                (record if path == listed else arrays).add(outcome, what)
        finally:
            os.environ.pop("OL2R_CACHE") if before is None else os.environ.update(OL2R_CACHE=before)
    return [arrays, record]


def same_dataset(one: RankingDataset, other: RankingDataset) -> bool:
    """Whether two data sets are equal in every field."""
    for field in dataclasses.fields(RankingDataset):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "folds":
            pairs = [(getattr(x, s), getattr(y, s)) for x, y in zip(a, b, strict=True) for s in vars(x)]
            if not all(np.array_equal(x, y) for x, y in pairs):
                return False
        elif not (np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b):
            return False
    return True


def compressed(n: int, seed: int) -> list[Tally]:
    """Flip a bit of a .gz or .xz file of text: the same text, or an error."""
    tally, draw = Tally("flips: compressed text", seed), random.Random(f"compressed {seed}")
    text = b"".join(b"%d qid:%d 1:%d\n" % (i % 3, i // 4, i * i) for i in range(40))
    whole = {".gz": gzip.compress(text, mtime=0), ".xz": lzma.compress(text)}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(n):
            suffix = (".gz", ".xz")[number % 2]
            path = Path(folder, f"a.txt{suffix}")
            path.write_bytes(flipped(whole[suffix], draw))
            try:
                tally.add("harmless" if read_bytes(path).tobytes() == text else "wrong", suffix)
            except Exception as error:
                tally.add("detected" if in_one_line(error) else "unclear", repr(error))
    return [tally]
