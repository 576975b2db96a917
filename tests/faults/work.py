"""The work that faults disturb: cells of known values, some with states, and what must hold of a store of them."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from fakes import Fake, Stepping

from ol2r.experiments.blocks import rows_of
from ol2r.experiments.cells import Cell, Job
from ol2r.experiments.provenance import circumstances, provenance
from ol2r.experiments.runner import lacking, run
from ol2r.experiments.store import Store, read_file

SLOW = {"seconds_a_row": 20.0, "n_folds": 2}  # each cell is a shard of its own
CELLS: tuple[Fake, ...] = (
    *(Fake(name=f"plain{i}", offset=1000.0 * i, **SLOW) for i in range(3)),
    *(Stepping(name=f"stepping{i}", offset=1000.0 * i, steps=3, by_clock=False, **SLOW) for i in range(2)),
    Fake(name="last", needed=Fake(name="plain0", **SLOW), **SLOW),
)


def jobs() -> list[Job]:
    """Ten rows of each cell."""
    return [Job(cell, cell.rows(None, range(5))) for cell in CELLS]


def any_code(cell: Cell, record: Mapping) -> bool:
    """Let everything be published, also where the library has uncommitted changes."""
    return True


def compute(store: Store, wanted: Sequence[Job] | None = None) -> None:
    """Compute and store what is missing, in this process."""
    run(jobs() if wanted is None else wanted, store, n_jobs=1, progress=False)


def values(cell: Cell, rows) -> list[float]:
    """The column `value` of a cell's table, worked out without the runner."""
    assert isinstance(cell, Fake)
    base = np.array([100.0 * row.fold + row.seed + cell.offset for row in rows])
    if isinstance(cell, Stepping):
        steps = np.cumsum([base / step for step in range(1, cell.steps + 1)], axis=0)
        return steps.T.ravel().astype(np.float32).tolist()
    if cell.needed is not None:
        base = base + [100.0 * row.fold + cell.needed.offset for row in rows]
    return np.repeat(base, 2).astype(np.float32).tolist()


def table(cell: Cell, rows) -> pd.DataFrame:
    """A cell's table as the runner would make it, of cells that need nothing and take no steps."""
    twice = [row for row in rows for _ in range(2)]
    frame = pd.DataFrame(twice, columns=["fold", "seed"]).assign(round=np.tile([5, 10], len(rows)))
    return frame.assign(value=np.float32(values(cell, rows)), status="ok")


def record(cell: Cell, rows) -> dict:
    """A provenance record of it."""
    made = {"seconds": 1.0, "core_seconds": 0.9, "shard_rows": len(rows)}
    return provenance(cell, rows, device="cpu", engine="numba", **made)


def whole_files(store: Store) -> dict[Path, bytes]:
    """The files of results in a store's scratch folder, with their content."""
    return {path: path.read_bytes() for cell in CELLS for path in (store.scratch / cell.key).glob("folds*.parquet")}


def is_right(path: Path) -> bool:
    """Whether a stored file has the values that it must have.

    Raises:
        ValueError: it is damaged.
    """
    frame, told = read_file(path)
    by_key = {each.key: each for each in CELLS}
    return frame["value"].tolist() == values(by_key[told["key"]], rows_of(path.name))


def after(store: Store, before: dict[Path, bytes], *, again: bool = True) -> tuple[str, str]:
    """The outcome of a disturbed run: what was stored must still be there, what was not must come when run again.

    Args:
        store: where it stored.
        before: the files that were whole when the run was disturbed.
        again: whether to run again first.

    Returns:
        An outcome of `tally.OUTCOMES` and what to tell of it.
    """
    try:
        for path in before:
            if not is_right(path):
                return "wrong", f"{path.name} had other values"
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            if again:
                compute(store)
            gone = [path.name for path, content in before.items() if not path.exists() or path.read_bytes() != content]
            if gone:
                return "lost", f"{gone[0]} has changed"
            if lacking(jobs(), store):
                return "lost", "rows are missing though they were computed again"
            for cell, rows in jobs():
                if store.read(cell, rows).frame["value"].tolist() != values(cell, rows):
                    return "wrong", f"{cell.describe()} has other values"
    except Exception as error:
        return "unclear", repr(error)
    return ("detected", str(told[0].message)) if told else ("harmless", "")


def warm() -> None:
    """Let this process load and know all that a run needs, so that forked ones need not."""
    for cell in CELLS:
        record(cell, cell.rows(None, range(1)))
        circumstances(cell, "cpu", "numba")
