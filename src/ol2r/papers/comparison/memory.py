"""PairRank with bounded memory: which forms are run, and on which runs.

PairRank keeps every label and refits to all of them in every round. Its forms here keep some labels, or none. They have
PairRank's tuned values and meet the same users.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from ol2r import data
from ol2r.clicks import users
from ol2r.clicks.cascade import USERS
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell
from ol2r.experiments.grid import SMOKE_CURVE, on
from ol2r.experiments.kinds.timing import Timing
from ol2r.learners import LEARNERS
from ol2r.papers.comparison.footprint import Footprint
from ol2r.papers.pairrank import grid as pairrank
from ol2r.parameters import Value

PARENT = "PairRank_C"
DATASETS = ("MQ2008", "synthetic-mslr")
SMALL, LARGE = 250, 1000
"""Labels that are kept."""
SEEDS = 10
"""Of each fold at the paper tier."""
LONG = 20_000
"""Rounds of a timing, beyond T, so that what grows with the rounds can be seen."""


def named(history: str, room: int, intervals: str = "kept") -> str:
    """What a form is called that keeps so many labels."""
    what = f"the last {room}" if history == "window" else f"a sample of {room}"
    return what if intervals == "kept" else f"{what}, intervals of all"


FULL, RECURSIVE = "all labels", "one step a label"
_KEPT = (
    *product(("window", "reservoir"), (SMALL, LARGE), ("kept",)),
    *product(("window", "reservoir"), (LARGE,), ("all",)),
)
FORMS: dict[str, tuple[str, Mapping[str, Value]]] = {
    FULL: ("PairRank", {}),
    **{
        named(*each): ("BoundedPairRank", dict(zip(("history", "room", "intervals"), each, strict=True)))
        for each in _KEPT
    },
    RECURSIVE: ("RecursivePairRank", {}),
}
"""Every form's learner, and the hyper-parameters that its parent does not have."""


def _setting(dataset: str, learner: str, own: Mapping[str, Value]) -> dict[str, Value]:
    """All hyper-parameters: the tuned ones of the parent that the learner has, and its own."""
    family = LEARNERS[learner]
    every = pairrank.SETTINGS[PARENT][1] | pairrank.tuned(dataset, PARENT) | dict(own)
    return {name: value for name, value in every.items() if name in family.numeric or name in family.structural}


def cells(tier: str) -> Sequence[Cell]:
    """Learning curves of all forms, in the conventions of the PairRank chapter, whose runs are those of all labels."""
    made = []
    datasets = DATASETS[:1] if tier == "laptop" else DATASETS
    for dataset, kind, (form, (learner, own)) in product(on(*datasets)(tier), USERS, FORMS.items()):
        one = replace(pairrank.GRID, settings={form: (learner, _setting(dataset, learner, own))})
        made.append(one.cell(tier, dataset, kind, form, curve=True))
    return made


def timing_cells(tier: str) -> Sequence[Cell]:
    """One replica of each form: its times as rounds go on, and the memory that it keeps at the end."""
    made: list[Cell] = []
    rounds = SMOKE_CURVE[1:] if tier == "smoke" else tuple(range(LONG // 20, LONG + 1, LONG // 20))
    for dataset, kind, (learner, own) in product(on(*DATASETS[:1], own=False)(tier), USERS, FORMS.values()):
        declared = {
            "dataset": dataset,
            "checksum": grid.checksum(dataset),
            "learner": learner,
            "revision": LEARNERS[learner].revision,
            "hyperparameters": tuple(sorted(_setting(dataset, learner, own).items())),
            "users": users(kind, data.entry(dataset).n_grades),
        }
        made += [Timing(**declared, replicas=1, checkpoints=rounds), Footprint(**declared, rounds=rounds[-1])]
    return made


def form(cell: Cell) -> dict[str, str]:
    """The name of a cell's form."""
    labels = cell.labels()
    for name, (learner, own) in FORMS.items():
        if labels["learner"] == learner and all(labels[each] == value for each, value in own.items()):
            return {"form": name}
    raise KeyError(f"{cell.describe()} is no form of PairRank")


def seeds(tier: str, cell: Cell) -> Sequence[int]:
    """`SEEDS` of each fold at the paper tier."""
    return range({"smoke": 2, "laptop": 1, "paper": SEEDS}[tier])
