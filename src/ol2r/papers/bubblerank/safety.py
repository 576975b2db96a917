"""BubbleRank's safety constraint asked of the feature-based learners: which cells, in which settings, how many runs.

The paper has no features and no such comparison. The learners keep the settings of their own chapters. SafePairRank
has no chapter and keeps those of its parent PairRank_C; how wide its intervals should be is asked in cells of its own.
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
from ol2r.papers.bubblerank.claims import (
    BANDIT,
    FEATURE_ROUNDS,
    FEW,
    PARENT,
    RERANKED,
    SAFE_RANKER,
    WITH_FEATURES,
    since,
)
from ol2r.papers.nsgd import grid as nsgd
from ol2r.papers.pairrank import grid as pairrank
from ol2r.parameters import Value

ROUNDS = FEATURE_ROUNDS
POSITIONS = 10
DATASETS = WITH_FEATURES

CHANCE = "random lists"
STILL: tuple[str, Mapping[str, Value]] = ("PDGD", {"alpha": 0.0, "decay": 1.0})
"""Who shows random lists: its w stays 0, so all lists are equally likely for ever."""
FEATURE_BASED = ("DBGD", "NSGD", "PDGD", "PairRank_R", "PairRank_C")
CAUTIONS = (1.0, 10.0, 30.0, 100.0)
"""What multiplies the α of SafePairRank's parent; the first is the main one. The third was added after the results of
the others had been seen."""

MANY = "many labels"
LABELLED = {FEW: 10, MANY: 100}
SMOKE_LABELLED = {FEW: 2, MANY: 6}
"""Queries whose labels a production ranker was fitted to: one that learners can beat, and a better one."""

CHOICES = ((RERANKED, FEW), (RERANKED, MANY), ("all", FEW))
"""(what is ranked, production ranker); the first is the main one."""


def _players(dataset: str, bubblerank: Mapping[str, Value]) -> dict[str, tuple[str, Mapping[str, Value]]]:
    """By name: a learner or bandit with its hyper-parameters, which are its own chapter's."""
    variants = {each: pairrank.SETTINGS[each] for each in FEATURE_BASED if each in pairrank.SETTINGS}
    tuned = {each: (name, {**own, **pairrank.tuned(dataset, each)}) for each, (name, own) in variants.items()}
    others = {"NSGD": ("NSGD", nsgd.SETTINGS["NSGD"]), CHANCE: STILL, BANDIT: (BANDIT, bubblerank)}
    return {**tuned, SAFE_RANKER: (SAFE_RANKER, safe_setting(dataset)), **others}


def safe_setting(dataset: str, caution: float = CAUTIONS[0]) -> dict[str, Value]:
    """SafePairRank's hyper-parameters: its parent's, with α times `caution`."""
    parent = pairrank.SETTINGS[PARENT][1] | pairrank.tuned(dataset, PARENT)
    kept = {name: value for name, value in parent.items() if name != "shuffle"}
    return kept | {"alpha": float(f"{float(kept['alpha']) * caution:.12g}")}


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
        learner: a learner or a bandit, with all its hyper-parameters in `setting`.
        items: what is ranked; labels: which production ranker starts: see `CHOICES`.
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

    BubbleRank meets perfect users only: they alone have a model by item. On a laptop SafePairRank is in the main
    comparison only.
    """
    return [
        safety_cell(tier, dataset, kind, learner, setting, items=items, labels=labels)
        for dataset, (items, labels) in product(grid.on(*DATASETS, own=False)(tier), CHOICES)
        for learner, setting in _players(dataset, bubblerank).values()
        for kind in (USERS if learner in LEARNERS else ("perfect",))
        if tier != "laptop" or learner != SAFE_RANKER or (items, labels) == CHOICES[0]
    ]


def caution_cells(tier: str) -> Sequence[Cell]:
    """SafePairRank in the main comparison, with intervals of different widths; on a laptop the least and the largest,
    on the first data set."""
    datasets, cautions = (DATASETS[:1], (CAUTIONS[0], CAUTIONS[-1])) if tier == "laptop" else (DATASETS, CAUTIONS)
    return [
        safety_cell(tier, dataset, kind, SAFE_RANKER, safe_setting(dataset, caution))
        for dataset, caution, kind in product(grid.on(*datasets, own=False)(tier), cautions, USERS)
    ]


def caution_names(cell: Cell) -> dict[str, str | float]:
    """What `safety_names` says, and by what the parent's α was multiplied."""
    labels = cell.labels()
    alphas = {safe_setting(str(labels["dataset"]), each)["alpha"]: each for each in CAUTIONS}
    return safety_names(cell) | {"caution": alphas[labels["alpha"]]}


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
