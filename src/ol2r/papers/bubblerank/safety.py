"""BubbleRank's safety constraint asked of the feature-based learners: which cells, in which settings, how many runs.

The paper has no features and no such comparison. The learners keep the settings of their own chapters.
"""

from collections.abc import Mapping, Sequence
from itertools import product

from ol2r import data
from ol2r.bandits import BANDITS, logarithmic_checkpoints
from ol2r.clicks import users
from ol2r.clicks.cascade import USERS
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell
from ol2r.experiments.kinds.safety import ProductionFit, Safety
from ol2r.learners import LEARNERS
from ol2r.papers.nsgd import grid as nsgd
from ol2r.papers.pairrank import grid as pairrank
from ol2r.parameters import Value

ROUNDS = 5000
POSITIONS = 10
DATASETS = ("MQ2008", "synthetic-mslr")

CHANCE = "random lists"
STILL: tuple[str, Mapping[str, Value]] = ("PDGD", {"alpha": 0.0, "decay": 1.0})
"""Who shows random lists: its w stays 0, so all lists are equally likely for ever."""
FEATURE_BASED = ("DBGD", "NSGD", "PDGD", "PairRank_R", "PairRank_C")
BANDIT = "BubbleRank"

FEW, MANY = "few labels", "many labels"
LABELLED = {FEW: 10, MANY: 100}
SMOKE_LABELLED = {FEW: 2, MANY: 6}
"""Queries whose labels a production ranker was fitted to: one that learners can beat, and a better one."""

CHOICES = (("listed", FEW), ("listed", MANY), ("all", FEW))
"""(what is ranked, production ranker); the first is the main one."""


def since(rounds: int) -> int:
    """The rounds after this one are what happens at the end."""
    return rounds * 4 // 5


def _players(dataset: str, bubblerank: Mapping[str, Value]) -> dict[str, tuple[str, Mapping[str, Value]]]:
    """By name: a learner or bandit with its hyper-parameters, which are its own chapter's."""
    variants = {each: pairrank.SETTINGS[each] for each in FEATURE_BASED if each in pairrank.SETTINGS}
    tuned = {each: (name, {**own, **pairrank.tuned(dataset, each)}) for each, (name, own) in variants.items()}
    return {**tuned, "NSGD": ("NSGD", nsgd.SETTINGS["NSGD"]), CHANCE: STILL, BANDIT: (BANDIT, bubblerank)}


def production(tier: str, dataset: str, labels: str) -> ProductionFit:
    """The production ranker of a data set: RankNet as the PairRank chapter's reference, fitted to fewer queries."""
    return ProductionFit(
        dataset=dataset,
        checksum=grid.checksum(dataset),
        k=POSITIONS,
        labelled=(SMOKE_LABELLED if tier == "smoke" else LABELLED)[labels],
        regularization=pairrank.REGULARIZATION,
    )


def safety_cell(
    tier: str,
    dataset: str,
    kind: str,
    learner: str,
    setting: Mapping[str, Value],
    *,
    items: str = CHOICES[0][0],
    labels: str = CHOICES[0][1],
    rounds: int = ROUNDS,
) -> Safety:
    """One cell of the comparison.

    Args:
        tier: "smoke", "laptop" or "paper"; the smoke tier has its own rounds and production rankers.
        kind: the kind of users.
        learner: a learner or a bandit, with all its hyper-parameters in `setting`.
        items: what is ranked; labels: which production ranker starts: see `CHOICES`.
        rounds: the last round.
    """
    last = grid.SMOKE_ROUNDS if tier == "smoke" else rounds
    return Safety(
        dataset=dataset,
        checksum=grid.checksum(dataset),
        learner=learner,
        revision=(LEARNERS.get(learner) or BANDITS[learner]).revision,
        hyperparameters=tuple(sorted(setting.items())),
        users=users(kind, data.entry(dataset).n_grades),
        production=production(tier, dataset, labels),
        reference=pairrank.reference(dataset),
        positions=POSITIONS,
        items=items,
        checkpoints=tuple(sorted({*logarithmic_checkpoints(last, 5), since(last)})),
    )


def safety_cells(tier: str, bubblerank: Mapping[str, Value]) -> Sequence[Cell]:
    """Every cell of the comparison.

    BubbleRank meets perfect users only: they alone have a model by item.

    Args:
        tier: "smoke", "laptop" or "paper".
        bubblerank: BubbleRank's parameters.
    """
    return [
        safety_cell(tier, dataset, kind, learner, setting, items=items, labels=labels)
        for dataset, (items, labels) in product(grid.on(*DATASETS, own=False)(tier), CHOICES)
        for learner, setting in _players(dataset, bubblerank).values()
        for kind in (USERS if learner in LEARNERS else ("perfect",))
    ]


def safety_names(cell: Cell) -> dict[str, str]:
    """What figures call a cell's learner, and its production ranker."""
    labels = cell.labels()
    named = CHANCE if labels["learner"] == "PDGD" and labels["alpha"] == 0.0 else pairrank.variant(cell)["variant"]
    few = labels["labelled"] in (LABELLED[FEW], SMOKE_LABELLED[FEW])
    return {"variant": named, "production": FEW if few else MANY}


def safety_seeds(tier: str, cell: Cell) -> Sequence[int]:
    """At the paper tier ten runs on a data set of five folds, five on one fold; fewer at smaller ones."""
    several = len(cell.folds) > 1
    return range({"smoke": 2, "laptop": 1 if several else 2, "paper": 2 if several else 5}[tier])
