"""What it takes to read a LETOR text that is larger than memory, beside a small one.

    python benchmarks/importing.py [--gb 6] [--limit-gib 1] [--folder FOLDER] [--store]

A process whose private memory is limited reads a text with MSLR's mix of numbers as a set of the catalogue, which goes
to the cache, and another one reads it as a reader's own file. Two more do the same with 0.1 GB of text. FOLDER must
have room for two and a half times the text; what is written there is removed in the end.

`--store` keeps the figures in benchmarks/importing.json for the page "Run on a cluster".
"""

import argparse
import dataclasses
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from data import FEATURES, feature_texts
from larger import alone, short, store

from ol2r.data import CATALOGUE, catalogue, entry, load
from ol2r.data.own import from_letor

STORED = Path(__file__).with_name("importing.json")
SMALL = 0.1
"""Gigabytes of the text that fits into memory."""
SIZE = 120
"""Documents of a query."""


def write(folder: Path, gigabytes: float) -> int:
    """Write the training and test queries of one fold into a folder; return the number of queries."""
    rows, n_queries = feature_texts(), 0
    with (folder / "train.txt").open("w") as train, (folder / "test.txt").open("w") as test:
        while train.tell() < gigabytes * 1e9:
            file = test if not n_queries else train
            first = n_queries * SIZE
            file.writelines(f"{i % 5} qid:{n_queries} {rows[i % len(rows)]}\n" for i in range(first, first + SIZE))
            n_queries += 1
    return n_queries


def measure(way: str, folder: Path, n_queries: int, limit: int, to: Connection) -> None:
    """Read a text within a limit of private memory in bytes, and send the figures."""
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    os.environ |= {"OL2R_CACHE": str(folder / "cache"), "OL2R_DATA": str(folder)}
    CATALOGUE["importing"] = dataclasses.replace(
        entry("MQ2008"),
        name="importing",
        folders=("text",),
        splits=(catalogue.Split("train", None, "test"),),
        checksum=None,
        n_queries=n_queries,
        n_documents=n_queries * SIZE,
        n_features=FEATURES,
        n_grades=5,
        n_folds=1,
    )
    start = time.perf_counter()
    dataset = load("importing") if way == "catalogue" else from_letor(folder / "text")
    seconds = short(time.perf_counter() - start)
    to.send({"bytes": dataset.features.nbytes, "documents": dataset.n_documents, "read_s": seconds})


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, default=6.0, help="gigabytes of text")
    parser.add_argument("--limit-gib", type=float, default=1.0, help="the most private memory, in GiB")
    parser.add_argument("--folder", type=Path, help="where text and sets are written")
    parser.add_argument("--store", action="store_true", help="keep the figures in benchmarks/importing.json")
    arguments = parser.parse_args()
    limit = round(arguments.limit_gib * 2**30)
    found: dict = {"limit_bytes": limit}
    for name, gigabytes in (("small", SMALL), ("large", arguments.gb)):
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=arguments.folder))
        try:
            (folder / "text").mkdir()
            n_queries = write(folder / "text", gigabytes)
            text_bytes = sum(path.stat().st_size for path in (folder / "text").iterdir())
            found[name] = {"text_bytes": text_bytes}
            for way in ("catalogue", "own"):
                found[name][way] = alone(measure, way, folder, n_queries, limit)
                shutil.rmtree(folder / "cache", ignore_errors=True)
        finally:
            shutil.rmtree(folder)
    print(json.dumps(found, indent=1))
    if arguments.store:
        store(found, STORED)


if __name__ == "__main__":
    main()
