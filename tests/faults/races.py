"""Several processes at once that write, read and damage the same file of a store.

No reader may get another table than the right one, and none may end otherwise than by finding the table or none.
"""

import random
import tempfile
import warnings
from pathlib import Path

from faults import work
from faults.flips import flipped
from faults.processes import answer, ended, forked
from faults.tally import Tally

from ol2r.experiments.blocks import file_name
from ol2r.experiments.store import Store

RACERS = 4
READ_WRONG = 7
"""Exit code of a racer that read another table than the right one."""


def race(store: Store, seed: str) -> int:
    """Write, read and damage in an order drawn at random."""
    warnings.simplefilter("ignore")
    draw = random.Random(seed)
    cell, rows = work.jobs()[1]
    path = store.scratch / cell.key / file_name(rows)
    frame, right = work.table(cell, rows), work.values(cell, rows)
    record = work.record(cell, rows)
    for _ in range(6):
        what = draw.choice(("write", "write", "read", "read", "damage"))
        if what == "write":
            store.write(cell, rows, frame, record)
        elif what == "read":
            found = store.read(cell, rows).frame
            if found is not None and found["value"].tolist() != right:
                return READ_WRONG
        elif path.exists():
            try:
                content = path.read_bytes()
                damaged = path.with_name(f"damage-{seed}")
                cut = content[: draw.randrange(len(content))]
                damaged.write_bytes(draw.choice((cut, flipped(content, draw))) if content else content)
                damaged.replace(path)
            except FileNotFoundError:
                pass  # another racer was first
    return 0


def _end(store: Store) -> list:
    """What is left of a race: the right table after one more write, and nothing that is not the store's."""
    cell, rows = work.jobs()[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store.read(cell, rows)
        store.write(cell, rows, work.table(cell, rows), work.record(cell, rows))
        frame = store.read(cell, rows).frame
    if frame is None:
        return ["lost", "the table is missing though it was written"]
    if frame["value"].tolist() != work.values(cell, rows):
        return ["wrong", "another table was stored"]
    strange = [each.name for each in store.scratch.glob("*/*") if each.name.startswith(".writing-")]
    return ["lost", f"{strange} was left behind"] if strange else ["harmless", ""]


def races(n: int, seed: int) -> list[Tally]:
    """Run n races."""
    work.warm()
    tally = Tally("races", seed)
    for number in range(n):
        with tempfile.TemporaryDirectory() as folder:
            store = Store(None, Path(folder, "store"))
            pids = [forked(lambda i=i: race(store, f"{seed}-{number}-{i}")) for i in range(RACERS)]  # noqa: B023
            codes = {ended(pid) for pid in pids}
            if READ_WRONG in codes:
                tally.add("wrong", "a racer read another table")
            elif codes != {0}:
                tally.add("unclear", f"racers ended with {codes}")
            else:
                tally.add(*answer(lambda: _end(store)))  # noqa: B023
    return [tally]
