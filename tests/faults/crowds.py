"""Several runners that compute the same cells, while `ol2r publish` and `ol2r prune` look after the same folders,
others read what is published, and files are damaged.

Every runner and command must end well, what is stored must stay, and in the end every result must be published.
"""

import contextlib
import os
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

from faults import work
from faults.flips import flipped
from faults.processes import answer, ended, forked
from faults.tally import Tally, in_one_line

from ol2r import cli, papers
from ol2r.experiments import publication
from ol2r.experiments.cells import TIERS, Item
from ol2r.experiments.paper import Paper
from ol2r.experiments.provenance import Origin
from ol2r.experiments.publication import publish
from ol2r.experiments.runner import lacking
from ol2r.experiments.store import Store

READ_WRONG, REFUSED, TOLD = 7, 8, 9
"""Exit codes of a process that read what was not published whole, of one whose command did not end well, and of a
runner that told in one line why it ended, such as that a result which it needs was damaged after it had been found."""
TENDED = (["prune", "--yes"], ["publish"])


def only_paper() -> Paper:
    """A paper of the disturbed work alone."""
    return Paper("nsgd", {"fig-1": Item("cells", lambda tier: list(work.CELLS), dict.fromkeys(TIERS, range(5)))})


def tend(done: Path, seed: str) -> int:
    """Publish and prune until there is a file that says that the others have ended."""
    papers.NAMES = ("nsgd",)
    publication.origin = Origin  # uncommitted changes of the library do not count
    sys.modules["ol2r.papers.nsgd.grid"] = SimpleNamespace(PAPER=only_paper())
    draw = random.Random(seed)
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damage
        while not done.exists():
            if cli.main(draw.choice(TENDED)) != 0:
                return REFUSED
    return 0


def is_whole(results: Path) -> bool:
    """Whether all that is published is read without a warning and has the values that it must have."""
    published = Store(results, results / "nowhere")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [(published.read(cell, rows).frame, work.values(cell, rows)) for cell, rows in work.jobs()]
    return all(frame is None or frame["value"].tolist() == right for frame, right in found)


def litter(store: Store, done: Path, seed: str, damages: bool) -> int:
    """Leave behind what killed runs leave, damage stored results, and read what is published."""
    draw, results = random.Random(seed), Path(os.environ["OL2R_RESULTS"])
    while not done.exists():
        if not is_whole(results):
            return READ_WRONG
        for cell, _ in work.jobs():
            folder = store.scratch / cell.key
            with contextlib.suppress(FileNotFoundError, FileExistsError):  # pruned meanwhile
                if draw.random() < 0.3:
                    folder.mkdir(parents=True, exist_ok=True)
                    left = folder / f".writing-{draw.random()}"
                    left.touch()
                    os.utime(left, (0, 0))
                for path in folder.glob("folds*.parquet") if damages and draw.random() < 0.05 else ():
                    beside = folder / f"damage-{seed}"
                    beside.write_bytes(flipped(path.read_bytes(), draw))
                    beside.replace(path)
        time.sleep(0.005)
    return 0


def compute(store: Store) -> int:
    """Compute all, in this process."""
    warnings.simplefilter("ignore")
    try:
        work.compute(store)
    except Exception as error:
        if in_one_line(error):
            return TOLD
        raise
    return 0


def crowds(n: int, seed: int) -> list[Tally]:
    """Let n crowds work, every second one with damage to what is stored."""
    work.warm()
    tallies = [Tally(f"crowds: {what}", seed) for what in ("runners and publishers", "with damage")]
    for number in range(n):
        damages = number % 2 == 1
        with tempfile.TemporaryDirectory() as there:
            folder = Path(there)
            done = folder / "done"
            scratch, results = folder / "store", folder / "results"
            results.mkdir()
            store, both = Store(None, scratch), Store(results, scratch)
            os.environ |= {"OL2R_STORE": str(scratch), "OL2R_RESULTS": str(results)}
            try:
                others = [
                    forked(lambda: tend(done, f"{seed}-{number}")),  # noqa: B023 - they run at once
                    forked(lambda: litter(store, done, f"{seed}-{number}", damages)),  # noqa: B023
                ]
                runners = [forked(lambda each=each: compute(each)) for each in (store, store, both)]
                codes = [ended(pid) for pid in runners]
                done.touch()
                codes += [ended(pid) for pid in others]
            finally:
                del os.environ["OL2R_STORE"], os.environ["OL2R_RESULTS"]
            if READ_WRONG in codes:
                tallies[damages].add("wrong", "what was not published whole was read")
            elif set(codes) - ({0, TOLD} if damages else {0}):
                tallies[damages].add("unclear", f"runners and commands ended with {codes}")
            else:
                outcome, told = answer(lambda: _end(store, both, damages))  # noqa: B023
                tallies[damages].add("detected" if outcome == "harmless" and TOLD in codes else outcome, told)
    return tallies


def _end(scratch: Store, both: Store, damages: bool) -> list:
    """What is left of a crowd: every result, after one more run if there was damage, and all of them published."""
    if not damages and lacking(work.jobs(), scratch):
        return ["lost", "what was computed is not stored"]
    outcome = list(work.after(scratch, {}))
    publish(both, work.jobs(), accepts=work.any_code)
    if lacking(work.jobs(), Store(both.published, scratch.scratch / "nowhere")):
        return ["lost", "what was computed cannot be published"]
    return outcome if is_whole(both.published) else ["wrong", "something else was published"]
