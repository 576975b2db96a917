"""What the covariance costs in its dual and in its primal form, and where the one becomes cheaper than the other.

The paper finds a complete A computationally expensive to store and operate on, and uses its diagonal. The dual form
keeps a Cholesky factor over the n pairs, the primal one the inverse of A, p × p. Their numbers are the same, so only
their times differ, and these are measured here: shown with machine and date, repeated by no second run.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import torch

from ol2r import data, frames
from ol2r.cost import Cost
from ol2r.experiments.cells import OneByOne, Row
from ol2r.learners.network import CORE_OPERATIONS
from ol2r.networks import Covariance, Dual, Explicit, Network, Tangent
from ol2r.networks.covariance import BLOCK
from ol2r.random import Streams, generator, replica_key

FORMS = ("dual", "primal")
PAIRS_A_ROUND = 2


@dataclass(frozen=True)
class Forms(OneByOne):
    """Seconds of a round with each form: the widths of all pairs of V documents, then two more pairs added to A.

    Its table: fold, seed (1 and 0), form, pairs (n), milliseconds (the median of some rounds). The primal form takes
    the same time with any n, and is measured once, with few pairs.

    Args:
        shape: name of the data set whose shape it is; nothing of the data is read.
        features: d.
        documents: V.
        width: m, of depth 2 with He's start.
        pairs: n of the dual form, ascending.
        rounds: of which the median is taken.
    """

    shape: str
    features: int
    documents: int
    width: int
    pairs: tuple[int, ...]
    rounds: int = 7

    kind: ClassVar[str] = "forms"
    revision: ClassVar[int] = 1
    verifiable: ClassVar[bool] = False
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.networks",
        "ol2r.papers.olranknet.forms",
    )

    @property
    def network(self) -> Network:
        """The architecture."""
        return Network(self.features, self.width)

    def labels(self) -> dict[str, str | float | int]:
        """Shape, d, V, m and p."""
        return {
            "shape": self.shape,
            "features": self.features,
            "documents": self.documents,
            "width": self.width,
            "parameters": self.network.n_parameters,
        }

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """A factor over the most pairs, and some rounds with each form."""
        p, n, v = self.network.n_parameters, self.pairs[-1], self.documents
        # the kernel of all pairs, their factor, and the rounds, in double precision at half the speed
        built = n**2 * (self.features + self.width) * 4 + n**3 / 3
        spent = built + (self.rounds + 1) * (len(self.pairs) * n**2 + 4 * p**2) * v
        kept = 8 * max(n**2 // 2, p**2)
        return Cost(2 * spent / CORE_OPERATIONS + 0.2, kept).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The measurement of each row."""
        return pd.concat([self._measure().assign(fold=r.fold, seed=r.seed) for r in rows], ignore_index=True)[
            ["fold", "seed", "form", "pairs", "milliseconds"]
        ]

    def _measure(self) -> pd.DataFrame:
        lam = torch.full((1,), 0.1, dtype=torch.float64)
        draws = _Draws(self.network)
        dual, lines, rows = Dual(self.network, lam), [], 0
        for n in self.pairs:
            while rows < n:  # by whole blocks, as rows that a block has no room for would stay empty
                number = min(BLOCK - rows % BLOCK, n - rows)
                dual.add(*draws.pairs(number))
                rows += number
            spent = self._timed(dual, draws)
            lines.append(("dual", n, spent))
            rows = dual.n_rows
        del dual
        primal = Explicit(self.network, lam, full=True)
        lines.append(("primal", 1, self._timed(primal, draws)))
        return pd.DataFrame(lines, columns=["form", "pairs", "milliseconds"])

    def _timed(self, covariance: Covariance, draws: "_Draws") -> float:
        """Median milliseconds of a round; the first one, which may still open a block, does not count."""
        spent = []
        for _ in range(self.rounds + 1):
            shown, new = draws.documents(self.documents), draws.pairs(PAIRS_A_ROUND)
            start = time.perf_counter()
            covariance.gram(shown)
            covariance.add(*new)
            spent.append(time.perf_counter() - start)
        return 1e3 * float(np.median(spent[1:]))


class _Draws:
    """Random documents of a network at its start: the time of a round does not depend on which they are."""

    def __init__(self, network: Network):
        self.network, self.rng = network, generator("forms", 0)
        self.theta = network.initial(Streams(np.array([replica_key("forms", 1, 0)], dtype=np.uint64))).double()

    def documents(self, n: int) -> Tangent:
        """The tangent of n documents."""
        inputs = self.network.inputs(torch.from_numpy(self.rng.random((1, n, self.network.n_features))))
        return self.network.tangent(self.theta, self.network.forward(self.theta, inputs).activations)

    def pairs(self, n: int) -> tuple[Tangent, torch.Tensor]:
        """2n documents, and their n pairs."""
        return self.documents(2 * n), torch.arange(2 * n).view(1, n, 2)


def crossover(frame: pd.DataFrame) -> pd.DataFrame:
    """From how many pairs on the primal form is cheaper.

    Between two measured n, log time is taken as linear in log n.

    Args:
        frame: of `Forms` cells, with their labels.

    Returns:
        shape, width, parameters (p), primal (milliseconds), fewest and most (n of the dual form), pairs (the n at which
        both take the same time; 0 if the primal form was cheaper with the fewest pairs already, infinite if the dual
        form was so with the most), ratio (n/p). Without the cells whose primal form was not measured.
    """
    lines = []
    for key, own in frames.groups(frame, ["shape", "width", "parameters"]):
        dual, primal = own[own["form"] == "dual"].sort_values("pairs"), own[own["form"] == "primal"]
        level = float(primal["milliseconds"].mean())
        n, spent = dual["pairs"].to_numpy(), dual["milliseconds"].to_numpy()
        above = np.flatnonzero(spent >= level)
        if not len(above):
            met = np.inf
        elif k := int(above[0]):
            part = np.log(level / spent[k - 1]) / np.log(spent[k] / spent[k - 1])
            met = float(n[k - 1] * (n[k] / n[k - 1]) ** part)
        else:
            met = 0.0
        lines.append((*key, level, int(n[0]), int(n[-1]), met, met / key[2]))
    columns = ["shape", "width", "parameters", "primal", "fewest", "most", "pairs", "ratio"]
    return pd.DataFrame(lines, columns=columns)


SHAPES = ("MQ2008", "MSLR-WEB10K")
WIDTHS = (8, 16, 32, 100)
SHARES = (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""n of the dual form, in parts of p."""
_MOST_PAIRS = 18_000


def form_cells(tier: str) -> list[Forms]:
    """Both forms at the shapes of MQ2008 and MSLR-WEB10K, for several m.

    The dual form has at most 18,000 pairs, with which it takes 1.3 GB. The second shape, of which each form takes
    minutes, is left to the paper tier.
    """
    cells = []
    for shape in SHAPES if tier == "paper" else SHAPES[:1]:
        features, documents = data.entry(shape).list_shape
        for width in (4,) if tier == "smoke" else WIDTHS:
            p = Network(features, width).n_parameters
            numbers = tuple(n for n in (round(share * p) for share in SHARES) if n <= _MOST_PAIRS)
            cells.append(Forms(shape, features, round(documents), width, numbers))
    return cells
