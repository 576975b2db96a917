"""The `play` kind of cell: one bandit with one setting, on every query of a population.

A fold is a query (numbered from 1), and a seed is a run. This module connects a declaration with queries and bandits;
which cells a paper needs is declared elsewhere.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import pandas as pd
import torch

from ol2r.bandits import BANDITS, random_list, simulate_bandit
from ol2r.cost import Cost
from ol2r.experiments.cells import Cell, Context, Job, Row
from ol2r.experiments.kinds.populations import Counted, Declared, Logged, Published
from ol2r.parameters import Value
from ol2r.random import replica_key
from ol2r.ranking import engine as hot_operations

_SIDE_BY_SIDE = 64  # replicas in one call; limited so that progress is reported now and then


@dataclass(frozen=True)
class Play(Cell):
    """One bandit, one setting, one kind of click model.

    Its table has a line for each checkpoint: `round` (the step n), `regret` (cumulative), `violations` (V(n)), `excess`
    (the largest |V(R_t)| − |V(R₀)| so far), `ndcg_total` (Σ NDCG of the shown lists), `initial_inversions` (|V(R₀)|),
    `optimum` (expected reward of the best list) and the bandit's diagnostics; see `bandits.Trace`.

    Args:
        users: the queries; each is a fold.
        bandit: name in `BANDITS`; revision: of its trajectories.
        parameters: all parameters, as (name, value) pairs in the order of their names.
        initial: `"own"` for the production ranker's lists, `"random"` for a random list for every replica.
        cut: number of positions that reward and NDCG count.
        checkpoints: steps, ascending; the last is the horizon n that the bandit is told.
    """

    users: Published | Logged | Counted | Declared
    bandit: str
    revision: int
    parameters: tuple[tuple[str, Value], ...]
    initial: str
    cut: int
    checkpoints: tuple[int, ...]

    kind: ClassVar[str] = "play"
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.data.counts",
        "ol2r.data.sessions",
        "ol2r.clicks",
        "ol2r.theory.bandits",
        "ol2r.bandits",
        "ol2r.experiments.kinds.populations",
        "ol2r.experiments.kinds.play",
    )

    def __post_init__(self):
        if self.bandit not in BANDITS:
            raise ValueError(f"bandit must be one of {', '.join(sorted(BANDITS))}, not {self.bandit!r}")
        BANDITS[self.bandit].check(dict(self.parameters))
        if self.initial not in ("own", "random"):
            raise ValueError(f'initial must be "own" or "random", not {self.initial!r}')

    @property
    def folds(self) -> tuple[int, ...]:
        """One fold for each query."""
        return tuple(range(1, self.users.n_queries + 1))

    @property
    def exact(self) -> tuple[str, ...]:
        """All columns: a trajectory is made of counts."""
        return ("regret", "violations", "excess", "ndcg_total", *_diagnostics(self.bandit).values())

    @property
    def restricted(self) -> bool:
        """Whether the population is restricted."""
        return self.users.restricted

    @property
    def group(self) -> Hashable:
        """Replicas of one batch share everything but their queries."""
        return self.bandit, self.revision, self.parameters, self.initial, self.cut, self.checkpoints

    def labels(self) -> dict[str, str | float | int]:
        """Data set, click model (`users`), bandit (`learner`), every parameter, and which items are ranked."""
        named = {"dataset": self.users.dataset, "users": self.users.model, "learner": self.bandit}
        ranked = {"initial": self.initial, "items": self.users.ranked, "cut": self.cut}
        return named | ranked | dict(self.parameters)

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The bandit's own estimate, on the CPU whatever the device."""
        one = BANDITS[self.bandit].cost(dict(self.parameters), self.users.n_items, self.checkpoints[-1])
        return one.of(len(rows))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling the bandit."""
        return {self.bandit: 6.0}

    @classmethod
    def run_group(cls, jobs: Sequence[Job], context: Context) -> list[pd.DataFrame]:
        """Run all rows of all jobs as replicas side by side, one batch at a time, on the CPU whatever the device."""
        hot_operations("numba").use_threads(torch.get_num_threads())
        first = cast(Play, jobs[0].cell)
        queries = {job.cell: cast(Play, job.cell).users.queries() for job in jobs}
        replicas = [(number, cast(Play, job.cell), row) for number, job in enumerate(jobs) for row in job.rows]
        tables = []
        for start in range(0, len(replicas), _SIDE_BY_SIDE):
            part = replicas[start : start + _SIDE_BY_SIDE]
            tables.append(_play(first, part, [queries[cell][row.fold - 1] for _, cell, row in part]))
            context.progress(min(1.0, (start + _SIDE_BY_SIDE) / len(replicas)))
        whole = pd.concat(tables, ignore_index=True).sort_values(["fold", "seed", "round"], kind="stable")
        by_job = dict(list(whole.groupby("job")))
        return [by_job[number].drop(columns="job").reset_index(drop=True) for number in range(len(jobs))]


def _diagnostics(bandit: str) -> dict[str, str]:
    """The columns of a bandit's diagnostics."""
    return {name: "active" if name == "items" else name for name in BANDITS[bandit].diagnostics}


def _play(setting: Play, part: Sequence[tuple[int, Play, Row]], queries: Sequence) -> pd.DataFrame:
    keys = [replica_key(cell.users.dataset, row.fold, row.seed) for _, cell, row in part]
    initial = [query.initial for query in queries]
    if setting.initial == "random":
        initial = [
            random_list(key, 0, query.users.n_items, len(query.initial)).tolist()
            for key, query in zip(keys, queries, strict=True)
        ]
    trace = simulate_bandit(
        setting.bandit,
        dict(setting.parameters),
        [query.users for query in queries],
        initial,
        keys,
        setting.checkpoints[-1],
        setting.checkpoints,
        setting.cut,
    )
    n_checkpoints = len(trace.checkpoints)
    steps = np.diff(trace.checkpoints, prepend=0)

    def by_replica(values: Sequence | np.ndarray, kind: type = np.int32) -> np.ndarray:
        return np.repeat(np.asarray(values, dtype=kind), n_checkpoints)

    columns = {
        "job": by_replica([number for number, _, _ in part]),
        "fold": by_replica([row.fold for _, _, row in part]),
        "seed": by_replica([row.seed for _, _, row in part]),
        "round": np.tile(trace.checkpoints.astype(np.int32), len(part)),
        "regret": trace.regret.ravel(),
        "violations": trace.violations.astype(np.int32).ravel(),
        "excess": trace.excess.astype(np.int32).ravel(),
        "ndcg_total": np.cumsum(trace.ndcg * steps, axis=1).ravel(),
        "initial_inversions": by_replica(trace.initial_inversions),
        "optimum": by_replica(trace.optimum, np.float64),
    }
    own = _diagnostics(setting.bandit)
    columns |= {own[name]: values.astype(np.int32).ravel() for name, values in trace.diagnostics.items()}
    return pd.DataFrame(columns)
