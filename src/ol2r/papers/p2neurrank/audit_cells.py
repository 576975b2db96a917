"""The audits of P²NeurRank's theory as cells: which worlds are drawn, how many, and what they take.

What an audit measures is in `audits`; this module declares the settings. A row of a cell is one block of worlds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ol2r.cost import Cost
from ol2r.experiments.cells import Item, Level, Row
from ol2r.papers.audits import Audit
from ol2r.papers.p2neurrank import audits
from ol2r.papers.p2neurrank.audits import STOPPED
from ol2r.papers.pairrank.audits import GENTLE, SMALL, STEEP, Realizable

UNITS = "uncertain, other units"
"""The audit of uncertain orders where scores are in another unit."""
Setting = tuple[str, str | int | float | tuple[int, ...]]

AUDITS_BY_NAME: dict[str, Callable[..., pd.DataFrame]] = {
    "coverage": audits.coverage,
    STOPPED: partial(audits.coverage, stops=True),
    "variance": audits.variance,
    "optimism": audits.optimism,
    "uncertain": audits.uncertain,
    UNITS: audits.uncertain,
    "regret": audits.regret,
    "blind spot": audits.blind_spot,
}


@dataclass(frozen=True)
class PerturbedAudit(Audit):
    """One audit at one setting. Each row draws a block of other worlds.

    Args:
        audit: a key of `AUDITS_BY_NAME`.
        settings: (name, value) pairs of the audit's arguments.
        worlds: worlds of a block.
        world: the kind of world; None for the blind spot, which has its own.
        revision: of what the audits compute.
    """

    audit: str
    settings: tuple[Setting, ...]
    worlds: int
    world: Realizable | None = None
    revision: int = 1

    kind: ClassVar[str] = "perturbed audit"
    repeats: ClassVar[Level] = "means"
    undefined: ClassVar[tuple[str, ...]] = ("value",)
    """A ratio is infinite where no ranker was optimistic, and missing where too many were asked for."""
    code: ClassVar[tuple[str, ...]] = (
        "ol2r.arrays",
        "ol2r.random",
        "ol2r.theory",
        "ol2r.papers.audits",
        "ol2r.papers.pairrank.audits",
        "ol2r.papers.p2neurrank.audits",
    )

    def __post_init__(self):
        if self.audit not in AUDITS_BY_NAME:
            raise ValueError(f"audit must be one of {', '.join(AUDITS_BY_NAME)}, not {self.audit!r}")
        if (self.world is None) != (self.audit == "blind spot"):
            raise ValueError("every audit but the blind spot has a kind of world")

    def labels(self) -> dict[str, str | float | int]:
        """The audit, its settings but for lists, the worlds of a block, and the kind of world."""
        found: dict[str, str | float | int] = {"audit": self.audit, "worlds": self.worlds}
        found |= {name: value for name, value in self.settings if not isinstance(value, tuple)}
        if self.world is not None:
            found |= {f"least_{f.name}" if f.name == "gap" else f.name: getattr(self.world, f.name)
                      for f in fields(self.world) if f.name != "stop"}  # fmt: skip
        return found

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """A cost for every round of the audits of runs, and for every ranker that is fitted in the others."""
        settings: dict[str, Any] = dict(self.settings)
        strong = settings.get("noise", 0.0) >= 1 or settings.get("beta", 0.0) > 0  # refits take many steps
        if self.audit == "regret":
            fits = self.worlds * settings.get("rankers", 2)
            seconds = settings["rounds"] * (8e-4 + 1.2e-5 * fits * (1 + 4 * strong))
        elif self.audit in ("coverage", STOPPED):
            seconds = self.worlds * settings["rounds"] * 3e-5
        elif self.audit == "blind spot":
            seconds = self.worlds * len(settings["labels"]) * 1e-3
        else:
            times = len(settings.get("looks", settings.get("labels", (1,))))
            a_world = {"variance": 0.02, "optimism": 0.01, "uncertain": 0.006, UNITS: 0.006}[self.audit]
            seconds = self.worlds * times * a_world * (1 + 3 * strong)
        return Cost(0.1 + seconds).of(len(rows))

    def simulated(self, seed: int) -> pd.DataFrame:
        """The audit's quantities."""
        given = () if self.world is None else (self.world,)
        return AUDITS_BY_NAME[self.audit](*given, worlds=self.worlds, seed=seed, **dict(self.settings))


def _audit(audit: str, worlds: int, world: Realizable | None = None, **settings: Any) -> PerturbedAudit:
    return PerturbedAudit(audit, tuple(settings.items()), worlds, world)


BLOCK = 20
"""Worlds of a block."""
SMALL_BLOCK = 10
"""The same where each world draws many rankers, label by label, and where it runs long."""
BLOCKS: dict[str, dict[str, int]] = {
    "smoke": {},
    "laptop": {"coverage": 3, STOPPED: 3, "optimism": 3, "uncertain": 2, UNITS: 2, "variance": 3, "regret": 2},
    "paper": {"coverage": 10, STOPPED: 10, "optimism": 10, "uncertain": 5, UNITS: 5, "variance": 10, "regret": 5},
}
"""Blocks by tier and audit; elsewhere one."""
ROUNDS = {"smoke": (20, 63), "laptop": (100, 2_000), "paper": (200, 10_000)}
"""T of the audits of coverage, and of those of regret."""
LOOKS = {"smoke": (1, 10), "laptop": (1, 10, 100), "paper": (1, 10, 100, 300)}
"""Rounds at which the variance is measured."""
OPTIMISM_ROUNDS = {"smoke": 20, "laptop": 100, "paper": 100}

DELTA = 0.1
NOISES = (0.1, 0.01)
"""ν² of the experiments."""
LABEL_VARIANCE = 0.25
"""ν² at which the noise added is as large as that of a label whose documents are equally good."""
LAMBDAS = (1.0, 0.1)
"""λ, the second of which is the largest that the experiments try."""
BETAS = (0.15, 0.2, 0.5, 1.0, 1.5)
"""β of Lemma 4.4's proof, at ν of the order that it asks for; on both sides of `perturbed.printed_tail_from`."""
HEAVY = Realizable(dimension=1, queries=4, documents=3, norm=0.5, bound=1.0, gap=0.0)
"""One feature, for a penalty so large that the term √λ Q that Lemma 4.2 forgets is more than all others."""
HEAVY_LAMBDA = 1000.0
OF_RANKERS = (2, 5)
LABELLED = (10, 100, 1000, 10**4, 10**5)
"""Labels of each pair in the audit of uncertain orders."""
STEEPNESS = 0.03
"""s of a link σ(s z), which makes k_μ α_t about s times what it is in the other worlds."""
BLIND = (1, 10, 100, 1000, 10**4)
REGRETS = ((0.1, 2, 0), (0.1, 5, 0), (0.01, 2, 0), (0.1, 2, 1), (0.0, 1, 0))
"""ν², N and whether pseudo-pairs are perturbed: the experiments' own settings, and a ranker that never explores."""
STRONG = 100.0
"""ν² of the order that Lemma 4.4 asks for."""


def coverage_audits(tier: str) -> list[PerturbedAudit]:
    """Lemma 4.2 in two kinds of world at both λ, and in one with a very large λ; in the first two also with users who
    stop."""
    rounds = ROUNDS[tier][0]
    settings = [(world, regularization) for world in (GENTLE, STEEP) for regularization in LAMBDAS]
    cells = [("coverage", *setting) for setting in [*settings, (HEAVY, HEAVY_LAMBDA)]]
    cells += [(STOPPED, *setting) for setting in settings]
    return [
        _audit(audit, BLOCK, world, rounds=rounds, regularization=regularization, delta=DELTA, every=rounds // 10)
        for audit, world, regularization in cells
    ]


def variance_audits(tier: str) -> list[PerturbedAudit]:
    """The variance of the noise in gentle worlds, at both λ."""
    return [
        _audit("variance", SMALL_BLOCK, GENTLE, looks=LOOKS[tier], regularization=regularization, noise=NOISES[0])
        for regularization in LAMBDAS
    ]


def optimism_audits(tier: str) -> list[PerturbedAudit]:
    """Optimism at the experiments' ν and at that of labels, with and without noise on the pseudo-pairs; and at ν of the
    lemma's order."""
    common = {"rounds": OPTIMISM_ROUNDS[tier], "delta": DELTA}
    cells = [
        _audit(
            "optimism", BLOCK, GENTLE, **common, regularization=regularization, noise=noise, beta=0.0,
            pseudo_pairs=pseudo_pairs,
        )
        for regularization in LAMBDAS
        for noise in (LABEL_VARIANCE, *NOISES)
        for pseudo_pairs in (1, 0)
    ]  # fmt: skip
    lemma = common | {"regularization": 1.0, "noise": 0.0, "pseudo_pairs": 1}
    return [*cells, *(_audit("optimism", BLOCK, GENTLE, **lemma, beta=beta) for beta in BETAS)]


def uncertain_audits(tier: str) -> list[PerturbedAudit]:
    """Uncertain orders in small worlds, at the experiments' ν and at one of the lemma's order."""
    labels = LABELLED[:3] if tier == "smoke" else LABELLED
    return [
        _audit(
            "uncertain", BLOCK, SMALL, labels=labels, regularization=1.0, delta=DELTA, noise=noise, beta=beta,
            rankers=rankers, pseudo_pairs=1,
        )
        for noise, beta in ((NOISES[0], 0.0), (0.0, 0.5))
        for rankers in OF_RANKERS
    ]  # fmt: skip


def units_audits(tier: str) -> list[PerturbedAudit]:
    """The same at a ν of the lemma's order where scores are in other units, and the penalty with them, which tells
    Lemma 4.4's statement from its proof: the two differ by the factor (k_μ α_t)², which is about one in the other
    worlds. At s of 0.1 and 10 and λ = 1, which were run first, it was 0.05 or more, and both held."""
    labels = LABELLED[:3] if tier == "smoke" else LABELLED
    return [
        _audit(
            UNITS, BLOCK, SMALL, labels=labels, regularization=STEEPNESS**2, delta=DELTA, noise=0.0, beta=0.5,
            rankers=OF_RANKERS[0], pseudo_pairs=1, steepness=STEEPNESS,
        )
    ]  # fmt: skip


def regret_audits(tier: str) -> list[PerturbedAudit]:
    """Regret in small worlds.

    The last is a shorter run at a ν of the order that Lemma 4.4 asks for, with the fewest rankers that can be
    optimistic with probability 1 − 1/T at any ν: log T/log 2.
    """
    rounds = ROUNDS[tier][1]
    short = rounds // 5
    settings = [(rounds, *setting) for setting in REGRETS] + [(short, STRONG, int(np.ceil(np.log2(short))), 1)]
    return [
        _audit(
            "regret", SMALL_BLOCK, SMALL, rounds=t, regularization=1.0, delta=1 / t, noise=noise, rankers=rankers,
            pseudo_pairs=pseudo_pairs,
        )
        for t, noise, rankers, pseudo_pairs in settings
    ]  # fmt: skip


def audit_cells(tier: str) -> list[PerturbedAudit]:
    """All audits of the chapter."""
    few = BLIND[:3] if tier == "smoke" else BLIND
    blind = [
        _audit("blind spot", BLOCK, labels=few, regularization=LAMBDAS[1], delta=DELTA, noise=noise)
        for noise in NOISES
    ]
    of_runs = (
        coverage_audits,
        variance_audits,
        optimism_audits,
        uncertain_audits,
        units_audits,
        regret_audits,
    )
    return [*(cell for audits_of in of_runs for cell in audits_of(tier)), *blind]


def _blocks(tier: str, cell: Any) -> Sequence[int]:
    return range(BLOCKS[tier].get(cell.audit, 1))


AUDITS = Item("What P²NeurRank's theory says, against simulation", audit_cells, _blocks)
ITEMS = {"audits": AUDITS}
"""The items of the audits."""
