"""Recomputes stored results drawn at random and reports whether they agree with what is stored, and by which standard.

With the same library versions, compiled target and engine, the columns that a cell declares `exact` must be equal bit
for bit, and other numbers to 1e-5. Otherwise, or for a cell that repeats only in its means, trajectories diverge, and
means must agree within three combined standard errors, or more where runs are few or columns or blocks many. The margin
is chosen so that a verification of a store without errors fails with the probability at which a normal variable lies
more than three standard deviations from its mean. Verification writes nothing.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import numpy as np
import pandas as pd

from ol2r import target
from ol2r.errors import ExperimentError
from ol2r.experiments.blocks import Block, select
from ol2r.experiments.cells import Cell, Job, Level, Row
from ol2r.experiments.origins import AtHand
from ol2r.experiments.provenance import versions
from ol2r.experiments.publication import Publication
from ol2r.experiments.runner import check_device, in_memory, read_inputs, resolve_engine
from ol2r.experiments.store import Store
from ol2r.random import generator

ROWS_DRAWN = 5
"""Number of a block's rows that are recomputed where bits are compared. A few are enough to recompute alone, because a
trajectory does not depend on the replicas beside it."""

LARGEST_SHARE = 0.25
"""The share of the time to spend that one block may take, unless it was asked for."""

FALSE_ALARM = 0.0027
"""The probability that a verification calls means of honest, independent repetitions different: what the normal
distribution leaves beyond three standard errors. The k-th block that is compared by means spends its 1 / k(k + 1),
which over any number of blocks adds up to less than one."""

FEWEST = 5
"""Number of rows from which means are compared. The spread of fewer says too little about their error."""

TOLERANCE = 1e-5
"""Allowed difference, relative to the larger of 1 and the stored value, in columns that are not `exact`."""


@dataclass(frozen=True)
class Check:
    """The outcome for one stored block: `passed` is True, False, or None where it could not be compared."""

    block: Block
    cell: Cell
    n_rows: int
    level: Level | None
    passed: bool | None
    detail: str
    numbers: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    """By column, the means over the compared rows, `stored` and `recomputed`; None where nothing was recomputed."""

    def __str__(self) -> str:
        verdict = {True: "same", False: "DIFFERENT", None: "skipped"}[self.passed]
        return _told(verdict, self.cell, self.n_rows, self.level, self.detail)


@dataclass(frozen=True)
class Plan:
    """What is to be recomputed of one stored block.

    Args:
        tries: the standards by which the rows may pass, each with the rows that are recomputed for it; the next one is
            tried when one fails. Empty where nothing is recomputed.
        machine: device and engine to recompute with.
        detail: why nothing is recomputed, or no other standard tried.
        damaged: whether the block cannot be read.
    """

    block: Block
    cell: Cell
    tries: tuple[tuple[Level, tuple[Row, ...]], ...] = ()
    machine: tuple[str, str] = ("cpu", "numba")
    stored: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    detail: str = ""
    damaged: bool = False

    @property
    def seconds(self) -> float:
        """The time that the first standard's rows are expected to take."""
        return self.cell.cost(self.tries[0][1], self.machine[0]).whole if self.tries else 0.0

    def __str__(self) -> str:
        if not self.tries:
            return _told("skip", self.cell, 0, None, self.detail)
        level, rows = self.tries[0]
        return _told("recompute", self.cell, len(rows), level, f"about {self.seconds:.0f} s")


def _told(verdict: str, cell: Cell, n_rows: int, level: Level | None, detail: str) -> str:
    standard = {"bits": "bit for bit", "means": "means", None: ""}[level]
    rows = f"{n_rows} row{'s' if n_rows > 1 else ''}"
    compared = f" {rows}, {standard}:" if level else ""
    return f"{verdict:9} {cell.key[:12]} {cell.describe()}:{compared} {detail}"


def verify(
    jobs: Iterable[Job], store: Store, *, minutes: float, seed: str, asked: bool = False, progress: bool = True
) -> Iterator[Check]:
    """Recompute stored blocks in an order drawn from `seed` until the time is up, and compare.

    Args:
        jobs: all declared jobs; blocks of other cells are ignored.
        store: the store whose results are read; nothing is written.
        minutes: time to spend; at least one row is recomputed however long it takes.
        seed: any text, such as a commit id.
        asked: whether these very cells were asked for: their blocks in the scratch store count too, and the first
            one is compared however long it takes.
    """
    deadline = time.monotonic() + 60 * minutes
    started, by_means = False, 0
    for drawn in _drawn(jobs, store, seed, asked):
        left = deadline - time.monotonic()
        if started and left <= 0:
            return
        plan = _planned(*drawn, _allowed(left, minutes, asked), first=not started, asked=asked)
        check = _carried_out(plan, store, progress, FALSE_ALARM / ((by_means + 1) * (by_means + 2)))
        started |= check.level is not None
        by_means += check.level == "means"
        yield check


def plans(jobs: Iterable[Job], store: Store, *, minutes: float, seed: str, asked: bool = False) -> Iterator[Plan]:
    """What `verify` with the same arguments is expected to recompute; nothing is recomputed."""
    left = 60 * minutes
    started = False
    for drawn in _drawn(jobs, store, seed, asked):
        if started and left <= 0:
            return
        plan = _planned(*drawn, _allowed(left, minutes, asked), first=not started, asked=asked)
        started |= bool(plan.tries)
        left -= plan.seconds
        yield plan


def _allowed(left: float, minutes: float, asked: bool) -> float:
    """Seconds that one block may take: no more than a share of all, so that a short verification compares several."""
    return left if asked else min(left, LARGEST_SHARE * 60 * minutes)


def _drawn(jobs: Iterable[Job], store: Store, seed: str, asked: bool) -> Iterator[tuple[Block, Cell, list[Row]]]:
    """The stored blocks of some jobs in an order drawn from `seed`, each with its rows in such an order."""
    published = Publication(store.results())
    found = store.blocks if asked else lambda cell: published.blocks(cell.key)
    blocks = [(block, job.cell) for job in jobs for block in found(job.cell)]
    order = generator(f"verify {seed}", 0)
    for number in order.permutation(len(blocks)):
        block, cell = blocks[number]
        yield block, cell, [block.rows[i] for i in order.permutation(len(block.rows))]


def comparable(cell: Cell, store: Store) -> bool:
    """Whether a second run of a cell can be compared with what is stored of it; no table is read."""
    if cell.repeats == "bits" or not cell.verifiable:
        return cell.verifiable
    return any(len(block.rows) >= FEWEST for block in store.blocks(cell))


def inspect(jobs: Iterable[Job], store: Store) -> Iterator[tuple[str, str | None]]:
    """Check digest, key, rows and numbers of every published block without recomputing; yields each block, and each
    file that is damaged or does not belong there, with its error or None.

    Args:
        store: the store whose published folder is read.

    Raises:
        ExperimentError: there is no published folder.
    """
    undefined = {type(job.cell).kind: type(job.cell).undefined for job in jobs}
    yield from Publication(store.results()).inspected(partial(_damage, undefined=undefined))


def _damage(frame: pd.DataFrame, record: dict, undefined: Mapping[str, Sequence[str]]) -> str | None:
    if list(frame.columns[:2]) != ["fold", "seed"] or not frame.columns.is_unique:
        return "its columns are not fold, seed and others, each once"
    if record["cell"]["type"] not in undefined:
        return None  # nothing declares this kind of cell any more
    for column in frame.columns.difference(list(undefined[record["cell"]["type"]])):
        values = frame[column]
        if values.isna().any() or (values.dtype.kind == "f" and not np.isfinite(values.to_numpy()).all()):
            return f"{column} holds what is not a finite number"
    return None


def _planned(block: Block, cell: Cell, rows: list[Row], seconds: float, *, first: bool, asked: bool) -> Plan:
    """What to recompute of a block within the given seconds, which are exceeded only for the first block."""
    if not cell.verifiable:
        return Plan(block, cell, detail="a timing, which no second run repeats")
    data = AtHand().missing(cell)
    if data is not None:
        return Plan(block, cell, detail=f"{data} is not at hand")
    try:
        stored, record = block.read()
    except FileNotFoundError:
        return Plan(block, cell, detail="it is not stored any more")
    except ValueError as damage:
        return Plan(block, cell, detail=f"damaged: {damage}", damaged=True)
    device, engine = _machine(record)
    tries, detail = [], ""
    for level in _standards(cell, record, device, engine):
        fewest, most = (1, ROWS_DRAWN) if level == "bits" else (FEWEST, len(rows))
        if len(rows) < fewest:
            detail = f"{len(rows)} rows are too few to compare means"
            break
        few = _few(cell, rows[:most], fewest, seconds, device)
        expected = cell.cost(few, device).whole
        if expected > seconds and not (first and (asked or level == "bits")):
            detail = f"{len(few)} rows take about {expected:.0f} s, {max(0.0, seconds):.0f} are left for them"
            break
        tries.append((level, tuple(sorted(few))))
    return Plan(block, cell, tuple(tries), (device, engine), stored, detail)


def _carried_out(plan: Plan, store: Store, progress: bool, false_alarm: float) -> Check:
    """Recompute what a plan says and compare."""
    cell, (device, engine) = plan.cell, plan.machine
    check = Check(plan.block, cell, 0, None, False if plan.damaged else None, plan.detail)
    for level, rows in plan.tries:
        job = Job(cell, rows)
        try:
            inputs = read_inputs([job], store)
            (fresh,), _ = in_memory([job], inputs, device=device, engine=engine, progress=progress)
        except ExperimentError as error:
            return Check(plan.block, cell, len(rows), level, False, f"cannot be recomputed: {error}")
        old = select(cast(pd.DataFrame, plan.stored), rows)
        if level == "bits":
            passed, detail = compare_bits(old, fresh, cell.exact)
        else:
            passed, detail = compare_means(old, fresh, false_alarm)
        numbers = pd.DataFrame({"stored": means(old), "recomputed": means(fresh)})
        check = Check(plan.block, cell, len(rows), level, passed, detail, numbers)
        if passed:
            return check
    return replace(check, level=None, passed=None, detail=plan.detail) if plan.tries and plan.detail else check


def _few(cell: Cell, rows: list[Row], fewest: int, seconds: float, device: str) -> list[Row]:
    """As many of the rows as the seconds allow, but at least the fewest."""
    few = len(rows)
    while few > fewest and cell.cost(rows[:few], device).whole > seconds:
        few -= 1
    return rows[:few]


def _machine(record: dict) -> tuple[str, str]:
    """The device and engine to recompute with: the recorded ones where this machine has them."""
    try:
        device = check_device(record["device"])
    except ExperimentError:
        return "cpu", resolve_engine(None, "cpu")
    return device, record["engine"]


def _standards(cell: Cell, record: dict, device: str, engine: str) -> tuple[Level, ...]:
    """The standards by which rows may pass; one of them is enough.

    The standard is bits where the cell repeats bit for bit and library versions, engine and target agree; else means. A
    record without a target comes from code that was compiled for its host. Its bits come out on any target if no
    reordered sum fed back into state; otherwise only the means agree.
    """
    recorded = (record["versions"], record["device"], record["engine"])
    if cell.repeats == "means" or recorded != (versions(), "cpu", engine) or device != "cpu":
        return ("means",)
    if record.get("target") is None:
        return ("bits", "means")
    return ("bits",) if record["target"] == target.in_force() else ("means",)


def compare_bits(stored: pd.DataFrame, fresh: pd.DataFrame, exact: Sequence[str]) -> tuple[bool, str]:
    """Compare line by line: columns in `exact`, integers and text must be equal, other numbers agree to 1e-5.

    NaN equals NaN.

    Returns:
        Whether all agree, and the column that differs most or the largest difference.
    """
    if list(stored.columns) != list(fresh.columns) or len(stored) != len(fresh):
        return False, "other columns or another number of lines"
    worst = 0.0
    for column in stored.columns:
        a, b = stored[column].to_numpy(), fresh[column].to_numpy()
        if column in exact or not pd.api.types.is_float_dtype(stored[column]):
            unequal = int((~((a == b) | (pd.isna(a) & pd.isna(b)))).sum())
            if unequal:
                return False, f"{column} differs in {unequal} of {len(a)} lines"
            continue
        gap = _gap(a.astype(float), b.astype(float))
        if gap > TOLERANCE:
            return False, f"{column} differs by {gap:.3g}"
        worst = max(worst, gap)
    return True, f"largest difference {worst:.3g}"


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    """max |a − b| / max(1, |a|); infinite where only one is finite."""
    both = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~both], b[~both], equal_nan=True):
        return np.inf
    return float((np.abs(a - b) / np.maximum(1.0, np.abs(a)))[both].max(initial=0.0))


def compare_means(
    stored: pd.DataFrame, fresh: pd.DataFrame, false_alarm: float = FALSE_ALARM
) -> tuple[bool | None, str]:
    """Compare the means of every column over all rows, at the last round where there are rounds.

    |mean − mean'| <= t √(se² + se'²) + 1e-5 max(1, |mean|)

    t is the quantile of Student's distribution with Welch's degrees of freedom at which all columns together differ by
    chance with probability `false_alarm`; by default, for one column and many rows, it is 3.

    Of a column with numbers that are not finite, the finite ones are compared, and the shares of infinite and of
    missing ones.

    Returns:
        Whether all agree (None for fewer than `FEWEST` rows), and the column that differs most.
    """
    from scipy import stats  # here, because it takes longer to load than most commands take

    if list(stored.columns) != list(fresh.columns):
        return False, "other columns"
    numbers = stored.select_dtypes("number").columns
    broken = [name for name in numbers if not all(np.isfinite(frame[name]).all() for frame in (stored, fresh))]
    a, b = (_last(_with_shares(frame, broken)) for frame in (stored, fresh))
    if set(a.columns) != set(b.columns):
        return False, "other quantities"
    if len(a) < FEWEST:
        return None, f"{len(a)} rows are too few to compare means"
    compared = [name for name in a.columns if min(a[name].count(), b[name].count()) >= FEWEST]
    found = []
    for column in compared:
        x, y = (values[column].dropna().to_numpy(dtype=float) for values in (a, b))
        squares = np.array([x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)])
        error, gap = np.sqrt(squares.sum()), abs(x.mean() - y.mean())
        freedom = error**4 / (squares**2 / (len(x) - 1, len(y) - 1)).sum() if error else np.inf
        allowed = stats.t.isf(false_alarm / 2 / len(compared), freedom) * error + TOLERANCE * max(1.0, abs(x.mean()))
        apart = float(np.nan_to_num(gap / allowed, nan=np.inf))
        told = f"{gap / error:.2f} standard errors" if error else "no spread"
        found.append((apart, f"{column} {x.mean():.6g} stored, {y.mean():.6g} now: {told}"))
    if not found:
        return None, "no column with enough numbers"
    apart, detail = max(found)
    return apart <= 1, detail


def _with_shares(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The table with NaN for infinity in these columns, and beside each two of where it was infinite, and missing."""
    tests = {"infinite": np.isinf, "missing": np.isnan}
    shares = {f"{kind} {name}": test(frame[name]).astype(float) for name in columns for kind, test in tests.items()}
    return frame.assign(**{name: frame[name].replace([np.inf, -np.inf], np.nan) for name in columns}, **shares)


def means(frame: pd.DataFrame) -> pd.Series:
    """The mean of every measured column over the rows of a cell's table, at the last round where there are rounds."""
    return _last(frame).mean()


def _last(frame: pd.DataFrame) -> pd.DataFrame:
    """One line for each row of the cell: its numbers at the last round, or their mean over the row's lines.

    Where a column `quantity` says what a line measures, each quantity has its own columns.
    """
    if "round" in frame:
        last = frame.groupby(["fold", "seed"])["round"].transform("max")
        frame = frame.iloc[np.flatnonzero(frame["round"] == last)].drop(columns="round")
    by = ["fold", "seed"]
    if "quantity" not in frame:
        return pd.DataFrame(frame.groupby(by).mean(numeric_only=True))
    values = list(frame.select_dtypes("number").columns.difference(by, sort=False))
    wide = frame.pivot_table(values, by, "quantity", dropna=False)
    wide.columns = [f"{name} of {quantity}" for name, quantity in wide.columns]
    return wide
