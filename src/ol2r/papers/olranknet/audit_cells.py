"""The audits of olRankNet's theory as cells: which worlds are drawn, how many, and what they take.

What an audit measures is in `audits`; this module declares the settings. A row of a cell is one block of worlds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import pandas as pd

from ol2r.cost import Cost
from ol2r.experiments.cells import Item, Level, OneByOne, Row
from ol2r.experiments.kinds.on_dataset import compiling
from ol2r.learners import LEARNERS
from ol2r.papers.olranknet import audits
from ol2r.papers.olranknet.audits import Wide

Setting = tuple[str, str | int | float | tuple[int, ...]]

OF_WORLDS = ("coverage", "regret", "open orders")
"""Audits that run in realizable worlds; the others look at gradients alone."""

AUDITS_BY_NAME: dict[str, Callable[..., pd.DataFrame]] = {
    "coverage": audits.coverage,
    "regret": audits.regret,
    "open orders": audits.open_orders,
    "every pair": audits.every_pair,
    "kernel": lambda worlds, **settings: audits.kernel_convergence(draws=worlds, **settings),
    "typical widths": audits.typical_widths,
    "blind spot": audits.blind_spot,
}


@dataclass(frozen=True)
class NetworkAudit(OneByOne):
    """One audit at one setting. Each row draws a block of other worlds.

    Its table: fold, seed, world, round (or what the audit has in its place), quantity, value.

    Args:
        audit: a key of `AUDITS_BY_NAME`.
        settings: (name, value) pairs of the audit's arguments.
        worlds: worlds of a block.
        world: the kind of world, for the audits of `OF_WORLDS`.
        revision: of the trajectories of olRankNet, whose network, fit and covariances run in the audits.
    """

    audit: str
    settings: tuple[Setting, ...]
    worlds: int
    world: Wide | None = None
    revision: int = LEARNERS["olRankNet"].revision

    kind: ClassVar[str] = "network audit"
    repeats: ClassVar[Level] = "means"
    undefined: ClassVar[tuple[str, ...]] = ("value",)
    """A bound may be infinite."""
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.ranking",
        "ol2r.networks",
        "ol2r.theory",
        "ol2r.papers.olranknet.audits",
    )

    def __post_init__(self):
        if self.audit not in AUDITS_BY_NAME:
            raise ValueError(f"audit must be one of {', '.join(AUDITS_BY_NAME)}, not {self.audit!r}")
        if (self.world is not None) != (self.audit in OF_WORLDS):
            raise ValueError(f"only audits of {', '.join(OF_WORLDS)} have a kind of world")

    @property
    def assumed(self) -> bool:
        """Whether labels are as the theorems assume."""
        return dict(self.settings).get("users", "matched") == "matched"

    def labels(self) -> dict[str, str | float | int]:
        """The audit, its settings but for lists, whether labels are as assumed, worlds of a block, kind of world."""
        found: dict[str, str | float | int] = {"audit": self.audit, "assumed": int(self.assumed)}
        found |= {name: value for name, value in self.settings if not isinstance(value, tuple)}
        if self.world is not None:
            world = self.world
            found |= {"truth": world.truth, "width": world.width, "bound": world.bound, "least_gap": world.gap}
            found |= {"features": world.features, "documents": world.documents, "queries": world.queries}
            found |= {"depth": world.depth, "init": world.init}
        return found | {"worlds": self.worlds}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """A cost for every world and round, which grows with the width of the network."""
        settings: dict[str, Any] = dict(self.settings)
        if self.audit in ("open orders", "every pair"):
            seconds = 0.02 * self.worlds
        elif self.world is not None:
            a_round = 1e-3 if self.audit == "coverage" else 1.5e-3
            seconds = settings["rounds"] * self.worlds * (a_round + 4e-5 * self.world.width)
        elif self.audit == "typical widths":
            seconds = self.worlds * (0.5 + 1e-7 * max(settings["labels"]) * settings.get("documents", 400) * 30)
        else:
            seconds = 0.02 * self.worlds
        return Cost(seconds).of(len(rows))

    def compiling(self, device: str = "cpu") -> Mapping[str, float]:
        """Compiling what olRankNet needs of the engine."""
        return compiling("olRankNet", "cpu")

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The audit's quantities, simulated anew for every row."""
        run = AUDITS_BY_NAME[self.audit]
        if self.world is not None:
            run = partial(run, self.world)
        parts = [
            run(worlds=self.worlds, seed=row.seed, **dict(self.settings)).assign(fold=row.fold, seed=row.seed)
            for row in rows
        ]
        return pd.concat(parts, ignore_index=True)[["fold", "seed", "world", "round", "quantity", "value"]]


def _audit(audit: str, worlds: int, world: Wide | None = None, **settings: Any) -> NetworkAudit:
    return NetworkAudit(audit, tuple(settings.items()), worlds, world)


BLOCK = 10
"""Worlds of a block of the audits of `OF_WORLDS`."""
BLOCKS = {"smoke": (1, 1, 1), "laptop": (2, 1, 4), "paper": (10, 4, 4)}
"""Blocks of each of them."""
ROUNDS = {"smoke": (10, 20), "laptop": (80, 400), "paper": (80, 400)}
"""T of the audits of coverage and of regret."""

DELTA = 0.1
WIDTH = 100
"""m of the paper's experiments."""
BOUNDS = (1.0, 2.0)
"""S: preferences up to .88 and .98 for pairs of unit length."""
LAMBDAS = (1.0, 0.1)
"""λ: what Lemma C.3 asks for, and the largest that the experiments try."""
WIDTHS = (32, 256)
"""m of two more kinds of world, below and above the experiments' own."""
SCALES = (1.0, 1 / 8, 1 / 64)
"""Multiples of α_t in the audits of regret."""
CLOSE = Wide(features=5, queries=4, documents=4, width=WIDTH)
"""Few documents, so that each is seen often within few rounds."""
APART = Wide(features=3, queries=3, documents=2, width=64, gap=0.15)
"""Queries of two documents, far apart, whose orders an interval narrower than the theorem's settles."""
OPEN = Wide(features=3, queries=3, documents=2, width=WIDTH, gap=0.15)
"""The same with as many units as in the experiments."""
OPEN_SCALES = SCALES[::2]
OPEN_LABELS = (1, 3, 10, 30, 10**2, 10**3, 3 * 10**3, 10**4, 3 * 10**4, 10**5, 10**6)
"""Labels of every pair: with the theorem's α an order stays open for very many."""
EVERY_PAIR = 16
"""V of the worlds in which every pair is labelled."""
EVERY_WIDTHS = (WIDTH, 8192)
"""m of these worlds: the experiments', and one at which the kernel is near to its limit."""

KERNEL_WIDTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
LABELLED = (0, 30, 100, 200, 400, 800, 1600)
"""Numbers of pairs after which widths are compared, of 400 documents."""
NEW = (0, 100, 400, 1000)
"""The same, of 3,000 documents, most of which no pair has."""
BLIND = (0, 10**2, 10**4, 10**6, 10**8)


def coverage_audits(tier: str) -> list[NetworkAudit]:
    """Intervals and log-determinants: both truths at both S and both λ, at three widths, and with users who stop."""
    rounds = ROUNDS[tier][0]
    common = {"rounds": rounds, "delta": DELTA, "every": max(1, rounds // 10)}
    cells = []
    for truth in audits.TRUTHS:
        settings = [(bound, WIDTH, 1.0, "matched") for bound in BOUNDS]
        settings += [(1.0, WIDTH, 0.1, "matched"), (1.0, WIDTH, 1.0, "cascade")]
        if truth == "tangent":
            settings += [(1.0, width, 1.0, "matched") for width in WIDTHS]
        for bound, width, regularization, users in settings:
            world = Wide(CLOSE.features, CLOSE.queries, CLOSE.documents, width, bound=bound, truth=truth)
            cells.append(_audit("coverage", BLOCK, world, regularization=regularization, users=users, **common))
    return cells


def regret_audits(tier: str) -> list[NetworkAudit]:
    """Regret in small worlds of both truths, by the theorem's width and by parts of it."""
    rounds = ROUNDS[tier][1]
    common = {"rounds": rounds, "regularization": 1.0, "delta": DELTA, "every": rounds // 20}
    kinds = [(replace(APART, truth=truth), scale) for truth in audits.TRUTHS for scale in SCALES]
    return [_audit("regret", BLOCK, world, scale=scale, **common) for world, scale in kinds]


def open_audits(tier: str) -> list[NetworkAudit]:
    """How long orders stay open in small worlds of both truths, by the theorem's width and by a part of it."""
    common = {"labels": OPEN_LABELS[::4] if tier == "smoke" else OPEN_LABELS, "regularization": 1.0, "delta": DELTA}
    kinds = [(replace(OPEN, truth=truth), scale) for truth in audits.TRUTHS for scale in OPEN_SCALES]
    return [_audit("open orders", BLOCK, world, scale=scale, **common) for world, scale in kinds]


def gradient_audits(tier: str, parameters: str) -> list[NetworkAudit]:
    """The kernel against its limit, the log-determinant of every pair, and what the diagonal makes of pairs."""
    small = tier == "smoke"
    draws = 4 if small else 32
    cells = [
        _audit("kernel", draws, widths=KERNEL_WIDTHS[: 8 if depth == 2 else 5], parameters=parameters, depth=depth)
        for depth in (2, 3)
    ]
    every = {"parameters": parameters, "documents": EVERY_PAIR, "regularization": 1.0, "delta": DELTA}
    cells += [_audit("every pair", 4 if small else 100, width=width, **every) for width in EVERY_WIDTHS]
    for init, regularization in (("he", 0.1), ("he", 1e-3), ("symmetric", 0.1), ("symmetric", 1e-3)):
        common = {"features": 46, "width": WIDTH, "init": init, "regularization": regularization}
        few = common | {"labels": LABELLED[:3] if small else LABELLED, "documents": 60 if small else 400}
        cells.append(_audit("typical widths", 2 if small else 4, **few))
        if init == "he" and not small:
            cells.append(_audit("typical widths", 1, **common, labels=NEW, documents=3000))
    return [*cells, _audit("blind spot", 4 if small else 50, labels=BLIND, regularization=0.1, delta=DELTA)]


def audit_cells(tier: str, parameters: str = "all") -> list[NetworkAudit]:
    """All audits of the chapter; the kernel's with all entries of the layers for parameters, or with own blocks."""
    return [*coverage_audits(tier), *regret_audits(tier), *open_audits(tier), *gradient_audits(tier, parameters)]


def _blocks(tier: str, cell: Any) -> Sequence[int]:
    """One block of the audits that look at gradients alone; two where a block is one world."""
    if cell.audit in OF_WORLDS:
        return range(BLOCKS[tier][OF_WORLDS.index(cell.audit)])
    return range(2 if cell.worlds == 1 else 1)


TITLE = "What olRankNet's theory says, against simulation"
AUDITS = Item(TITLE, audit_cells, _blocks)
AUDITS_OWN_BLOCKS = Item(
    f"{TITLE}, with the blocks that start at zero for no parameters",
    partial(audit_cells, parameters="own blocks"),
    _blocks,
)
ITEMS = {"audits": AUDITS, "audits-own-blocks": AUDITS_OWN_BLOCKS}
"""The items of the audits; `READINGS` names which of them takes the place of which."""
READINGS = {"zero blocks are no parameters": {"audits": "audits-own-blocks"}}
