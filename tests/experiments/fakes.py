"""Cells that compute nothing of interest, for tests of what surrounds them."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from ol2r.cost import Cost
from ol2r.experiments.cells import Cell, Job, Kept


@dataclass(frozen=True)
class Learner:
    revision: ClassVar[int] = 1
    rate: float = 0.1
    candidates: int = 4


@dataclass(frozen=True)
class Fake(Cell):
    """Value = 100 fold + seed + offset + the value it needs; each row it runs is noted in the file FAKE_LOG names."""

    kind: ClassVar[str] = "fake"
    code: ClassVar[tuple[str, ...]] = ("fakes",)
    exact: ClassVar[tuple[str, ...]] = ("value",)
    on_device = True

    name: str = "a"
    offset: float = 0.0
    learner: Learner = Learner()
    seconds_a_row: float = 0.01
    sleep: float = 0.0
    needed: "Fake | None" = None
    fails: bool = False
    per_document: bool = False
    secret: bool = False
    data: str | None = None
    n_folds: int = 5

    @property
    def folds(self):
        return tuple(range(1, self.n_folds + 1))

    @property
    def restricted(self):
        return self.secret

    @property
    def group(self):
        return self.learner.candidates

    def labels(self):
        return {"dataset": self.data or "synthetic", "name": self.name}

    def cost(self, rows, device="cpu"):
        return Cost(self.seconds_a_row).of(len(rows))

    def needs(self, rows):
        if self.needed is None:
            return ()
        return (Job(self.needed, self.needed.rows(sorted({row.fold for row in rows}), [0])),)

    @classmethod
    def run_group(cls, jobs, context):
        assert len({job.cell.group for job in jobs}) == 1
        frames = []
        for number, (cell, rows) in enumerate(jobs):
            if cell.name == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if cell.fails:
                raise ValueError(f"{cell.name} diverged")
            while cell.name in os.environ.get("FAKE_HELD", "").split():
                time.sleep(0.02)
            time.sleep(cell.sleep)
            note("".join(f"{cell.name} {row.fold} {row.seed} {os.getpid()}\n" for row in rows))
            frame = pd.DataFrame(rows, columns=["fold", "seed"])
            frame = frame.loc[frame.index.repeat(2)].reset_index(drop=True)
            frame["round"] = np.tile([5, 10], len(rows))
            base = 0.0
            if cell.needed is not None:  # of the row's own fold, because a row does not depend on those beside it
                base = context.inputs[cell.needed].groupby("fold")["value"].last().loc[frame.fold].to_numpy()
            frame["value"] = (100.0 * frame.fold + frame.seed + cell.offset + base).astype(np.float32)
            frame["threads"] = int(os.environ.get("NUMBA_NUM_THREADS", 0))
            frame["status"] = "ok"
            if cell.per_document:
                frame["document_id"] = "d1"
            frames.append(frame)
            context.progress((number + 1) / len(jobs))
        return frames


@dataclass(frozen=True)
class Stepping(Fake):
    """Fakes that add up their values in steps, with a line after each, and can go on after each step.

    The step that the file FAKE_KILLED names, if it is there, is the last of its process; the file is deleted.
    """

    kind: ClassVar[str] = "stepping"

    steps: int = 6
    by_clock: bool = True

    @classmethod
    def run_group(cls, jobs, context):
        rows = [(number, job.cell, row) for number, job in enumerate(jobs) for row in job.rows]
        base = np.array([100.0 * row.fold + row.seed + cell.offset for _, cell, row in rows])
        total, done, recorded = np.zeros(len(rows)), 0, pd.DataFrame()
        if context.kept is not None:
            total, done, recorded = context.kept.state["total"], int(context.kept.state["step"]), context.kept.recorded
            if len(total) != len(rows):
                raise ValueError("a state of other rows")
        for step in range(done + 1, jobs[0].cell.steps + 1):
            note("".join(f"{cell.name}@{step} {row.fold} {row.seed} {os.getpid()}\n" for _, cell, row in rows))
            total = total + base / step
            lines = pd.DataFrame([row for _, _, row in rows], columns=["fold", "seed"])
            lines = lines.assign(step=step, value=total.astype(np.float32), job=[number for number, _, _ in rows])
            recorded = pd.concat([recorded, lines], ignore_index=True) if step > 1 else lines
            if context.due() or not jobs[0].cell.by_clock:
                context.keep(Kept({"total": total, "step": np.array(step)}, recorded))
            last = Path(os.environ.get("FAKE_KILLED", "none"))
            if last.exists() and last.read_text() == f"{jobs[0].cell.name}@{step}":
                last.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            context.progress(step / jobs[0].cell.steps)
        whole = recorded.sort_values(["fold", "seed", "step"], kind="stable")
        return [whole[whole.job == i].drop(columns="job").reset_index(drop=True) for i in range(len(jobs))]


@dataclass(frozen=True)
class Waiting(Fake):
    """A fake that notes that it has begun, and ends when the file that it names is there."""

    kind: ClassVar[str] = "waiting"

    until: str = ""

    @classmethod
    def run_group(cls, jobs, context):
        note("".join(f"{cell.name}@begun {row.fold} {row.seed} {os.getpid()}\n" for cell, rows in jobs for row in rows))
        while not all(Path(job.cell.until).exists() for job in jobs):
            time.sleep(0.02)
        return super().run_group(jobs, context)


@dataclass(frozen=True)
class Timing(Fake):
    """A cell that no second run repeats."""

    kind: ClassVar[str] = "timing"
    verifiable: ClassVar[bool] = False


@dataclass(frozen=True)
class Loose(Fake):
    """A cell that repeats in its means only."""

    kind: ClassVar[str] = "loose"
    repeats: ClassVar[str] = "means"


def job(cell: Cell, n_seeds: int = 5) -> Job:
    """The cell with its first seeds on all its folds."""
    return Job(cell, cell.rows(None, range(n_seeds)))


def note(text: str) -> None:
    log = os.environ.get("FAKE_LOG")
    if log:
        with Path(log).open("a") as file:
            file.write(text)


def ran(log: Path) -> list[tuple[str, int, int]]:
    """(name, fold, seed) of every row that ran, in order."""
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    return [(name, int(fold), int(seed)) for name, fold, seed, _ in map(str.split, lines)]


def heeding():
    """Heed what this process may have inherited to ignore: a shell's background jobs ignore SIGINT, nohup's SIGHUP."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
