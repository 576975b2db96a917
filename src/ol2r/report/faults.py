"""What became of faults that were injected on purpose, from the counts that the suite of faults stored.

The suite writes `record.json`: by fault, how many were injected, what became of them, when, and with which code. This
module shows the stored counts; it must not inject any.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

Stored = Mapping[str, Mapping[str, Any]]

NAMES: dict[str, str] = {
    "kills": "runners killed at a random point, two on one store",
    "SIGTERM: processes": "commands terminated while processes of their own compute",
    "SIGTERM: Dask": "commands terminated while Dask's workers compute",
    "flips: stored results": "bits flipped in stored results",
    "flips: published results": "bits flipped in published results",
    "flips: states of long runs": "bits flipped in what is kept of a run that is not finished",
    "flips: cache, arrays": "bits flipped in the arrays of a data set's cache",
    "flips: cache, record": "bits flipped in the record of a data set's cache",
    "flips: compressed text": "bits flipped in compressed data files",
    "disk: an operation fails": "runs on a disk that is full or broken at one moment",
    "disk: read-only": "runs whose disk becomes read-only",
    "disk: files cannot grow": "runs whose files cannot grow",
    "full: store": "runs on a tmpfs that is full",
    "full: cache": "caches of a data set made on a tmpfs that is full",
    "full: shared memory": "commands whose processes have little shared memory",
    "races": "races of four processes that write, read and damage one result",
    "crowds: runners and publishers": "crowds of three runners, while results are published and files pruned",
    "crowds: with damage": "such crowds while results are damaged",
    "kills: publishers": "publishers of results killed at a random point, two at once",
    "publishers: an operation fails": "publishers on a disk that is full or broken at one moment",
    "publishers: read-only": "publishers whose disk fails from one moment on",
    "publishers: files cannot grow": "publishers whose files cannot grow",
    "publishers: full": "publishers on a tmpfs that is full",
    "cache: builders at once": "races of four processes that make the cache of one data set while its source changes",
    "cache: a builder is killed": "such races in which one process is killed",
    "names: commands": "commands with hostile names",
    "names: tables": "tables with hostile names",
    "names: pages": "tables, tabs, folds, strips and charts of a page with hostile names",
    "names: chapters": "chapters on own data whose file or folder has a hostile name",
    "input: letor": "changed LETOR files",
    "input: letor-of-known-width": "changed LETOR files of a known number of features",
    "input: session-log": "changed session logs",
    "input: session-log-of-four-positions": "changed session logs of at most four positions",
    "input: table-of-clicks": "changed tables of clicks",
    "input: fitted-models": "changed files of fitted click models",
}
"""What each fault of the record is called."""

BAD = ("lost", "wrong", "unclear")


def counts(stored: Stored) -> pd.DataFrame:
    """The stored counts.

    Returns:
        fault (its name), injected, detected, harmless, lost, wrong, unclear; lines are in the order of `NAMES`, and
        faults without a name there come last.
    """
    order = [*(name for name in NAMES if name in stored), *sorted(set(stored) - set(NAMES))]
    columns = ["injected", "detected", "harmless", *BAD]
    lines = [(NAMES.get(name, name), *(stored[name][each] for each in columns)) for name in order]
    return pd.DataFrame(lines, columns=["fault", *columns])
