"""The `start` kind of cell: a simulation whose learner begins from a ranker that was fitted offline to few labels.

This module connects the simulation with the production ranker of the `safety` kind; it knows no paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, cast

import numpy as np
import pandas as pd
import torch

from ol2r.experiments.cells import Cell, Job, Row
from ol2r.experiments.kinds.on_dataset import fitted_weights
from ol2r.experiments.kinds.safety import ProductionFit
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.learners import Learner


@dataclass(frozen=True, kw_only=True)
class Start(Simulate):
    """One learner that begins from `factor` times the weights of its fold's production ranker (`Learner.begin_from`).

    A positive factor keeps the order of every list and changes only how far scores are apart. A negative one turns all
    lists round. Its table is that of `Simulate`; the checkpoint 0 has the score of the start itself.

    Args:
        production: the production ranker. factor: what its weights are multiplied by.
    """

    production: ProductionFit
    factor: float

    kind: ClassVar[str] = "start"
    code: ClassVar[tuple[str, ...]] = (*Simulate.code, "ol2r.experiments.kinds.start")

    def __post_init__(self):
        super().__post_init__()
        if not self.family.starts_from_weights:
            raise ValueError(f"{self.learner} cannot begin from given weights")
        if self.features != "all":
            raise ValueError("a ranker of all features is no start for a learner of some of them")
        if (self.production.dataset, self.production.checksum) != (self.dataset, self.checksum):
            raise ValueError(f"a ranker fitted to {self.production.dataset} is no start on {self.dataset}")

    @classmethod
    def of(cls, cold: Simulate, production: ProductionFit, factor: float) -> "Start":
        """The cell that differs from a simulation in its start alone."""
        own = {each.name: getattr(cold, each.name) for each in fields(Simulate)}
        return cls(**own, production=production, factor=factor)

    def labels(self) -> dict[str, str | float | int]:
        """Those of a simulation, the number of queries that the start was fitted to, and the factor."""
        return super().labels() | {"labelled": self.production.labelled, "factor": self.factor}

    def needs(self, rows: Sequence[Row]) -> tuple[Job, ...]:
        """Those of a simulation, and the production ranker of each fold (seed 0)."""
        once = tuple(Row(fold, 0) for fold in sorted({row.fold for row in rows}))
        return (*super().needs(rows), Job(self.production, once))

    @classmethod
    def begin(
        cls, learner: Learner, replicas: Sequence[tuple[Simulate, Row]], inputs: Mapping[Cell, pd.DataFrame]
    ) -> None:
        """Begin every replica from its own cell's start; so different factors may stand side by side."""
        cells = [(cast(Start, cell), row) for cell, row in replicas]
        fitted = {cell.production: fitted_weights(inputs[cell.production]) for cell, _ in cells}
        weights = np.stack([cell.factor * fitted[cell.production][row.fold] for cell, row in cells])
        learner.begin_from(torch.from_numpy(weights))
